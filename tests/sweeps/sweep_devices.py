"""`pmap` beside JAX's, in processes that `mpiexec` starts, and the examples."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "devices"
EXAMPLES = ROOT / "examples"
MPIEXEC = Path(sys.executable).with_name("mpiexec")
#: These are few, and nothing else starts them: they are run whatever is left out.
ALWAYS = True

mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or not MPIEXEC.exists(),
    reason="mpi4py and mpich are not installed",
)


def started(script, *args, processes=1, env=None):
    """What a script does that is started, in so many processes: it ends in time."""
    command = [sys.executable, str(script), *map(str, args)]
    if processes > 1:
        command = [str(MPIEXEC), "-n", str(processes), *command]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | (env or {}),
    )


def test_beside_jax():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    done = started(SCRIPTS / "beside_jax.py", env=flags)
    assert done.stdout == "all the same\n", done.stderr


@mpi
@pytest.mark.parametrize(("processes", "local"), [(2, 1), (2, 2), (4, 1)])
def test_collectives_of_processes(processes, local):
    done = started(SCRIPTS / "ranks.py", "values", local, processes=processes)
    assert done.returncode == 0, done.stderr
    for k in range(processes):  # `mpiexec` may join their lines
        assert f"process {k} is done" in done.stdout


DEATHS = {
    "raises": "process {last} failed: ValueError: a bad batch",
    "raises inside": "process {last} failed: LinAlgError: Singular matrix",
    "ends": "process {last} came to its end while process 0 waits for all in psum over",
    "differs": "process 0 is in psum over 'i', float64[3], and process {last} in pmax",
    "is killed": "KILLED BY SIGNAL|Killed (signal 9)",
}


@mpi
@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("how", DEATHS)
def test_a_process_that_dies_stops_the_others(how, processes):
    done = started(SCRIPTS / "ranks.py", how, processes=processes)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    expected = DEATHS[how].format(last=processes - 1).split("|")
    assert any(each in said for each in expected), said
    if how != "is killed":  # each of the others says so
        counted = said.count("srcjax.errors.DeviceError: process")
        assert counted >= processes - 1, said


# -- the digits, data-parallel ---------------------------------------------------------

TRAIN = EXAMPLES / "data_parallel.py"


def learned(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process with one device learns in two epochs."""
    path = tmp_path_factory.mktemp("alone") / "digits.npz"
    done = started(TRAIN, "--epochs", 2, "--checkpoint", path)
    assert "1 devices, accuracy 0." in done.stdout, done.stderr
    return learned(path)


def test_threads_learn_the_same(alone, tmp_path):
    path = tmp_path / "digits.npz"
    done = started(TRAIN, "--epochs", 2, "--devices", 4, "--checkpoint", path)
    assert "4 devices, accuracy 0." in done.stdout, done.stderr
    assert_same(learned(path), alone)


@mpi
@pytest.mark.parametrize("processes", [2, 4])
def test_processes_learn_the_same_and_resume(alone, tmp_path, processes):
    path = tmp_path / "digits.npz"
    for epochs in (1, 2):  # the second start goes on from the file of the first
        done = started(
            TRAIN, "--epochs", epochs, "--checkpoint", path, processes=processes
        )
        assert f"{processes} devices, accuracy 0." in done.stdout, done.stderr
        assert "6/6" in done.stderr  # steps of one epoch
        assert learned(path)["epoch"] == epochs
    assert_same(learned(path), alone)


# -- examples --------------------------------------------------------------------------

#: Arguments that make each of them short, and what it says at the end.
SHORT = {
    "data_parallel.py": (["--epochs", 1, "--devices", 2, "--source"], "2 devices, acc"),
}


@pytest.mark.parametrize("name", SHORT)
def test_an_example_runs(name, tmp_path):
    args, said = SHORT[name]
    done = started(EXAMPLES / name, *args)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
