"""What transforms made, called in other processes."""

import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

import srcjax

MODEL = """
import numpy as np
import srcjax


def loss(w):
    return np.sum(w**3)


@srcjax.grad
def force(x):
    return 0.5 * x * x


slope = srcjax.grad(loss)
"""

MAIN = """
import concurrent.futures
import multiprocessing

import numpy as np
import srcjax

import model


def here(x):
    return x * x * x


grad_here = srcjax.grad(here)


@srcjax.grad
def decorated(x):
    return x**4


def local():
    factor = 5.0

    def inner(x):
        return factor * np.sin(x) + here(x)

    return srcjax.grad(inner)


def by_name(run):
    print(run(grad_here, 2.0), run(srcjax.grad(srcjax.grad(here)), 2.0))
    print(run(model.force, 3.0), run(decorated, 2.0))
    print(run(model.slope, np.ones(2)), run(srcjax.vmap(model.force), np.ones(2)))


def spawned():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        by_name(lambda d, x: pool.map(d, [x])[0])


def futures():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        by_name(lambda d, x: pool.submit(d, x).result())


def forked():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        by_name(lambda d, x: pool.map(d, [x])[0])


def by_joblib():
    from joblib import Parallel, delayed

    def run(d, x):
        return Parallel(n_jobs=2)([delayed(d)(x)] * 2)[1]

    by_name(run)
    assert np.isclose(run(local(), 2.0), 5 * np.cos(2.0) + 12)
    assert run(srcjax.grad(lambda x: x * x), 2.0) == 4.0
    assert run(srcjax.jit(here), 2.0) == 8.0


if __name__ == "__main__":
    {way}()
"""


@pytest.mark.parametrize("way", ["spawned", "futures", "forked", "by_joblib"])
def test_they_are_carried(tmp_path, way):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "main.py").write_text(MAIN.replace("{way}", way))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "main.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "12.0 12.0\n3.0 32.0\n[3. 3.] [1. 1.]\n"


def test_by_value():
    """As joblib does with what is local, or stands in `__main__`."""
    factor = 3.0

    def inner(x):
        return factor * np.sin(x)

    def outer(x):
        return inner(x) + x**2

    d = srcjax.grad(outer)
    want = d(0.5)
    for made, args, value in [
        (d, (0.5,), want),
        (srcjax.grad(lambda x: x * x), (3.0,), 6.0),
        (srcjax.jvp(outer), ((0.5,), (1.0,)), (outer(0.5), want)),
        (srcjax.vmap(d), (np.full(2, 0.5),), np.full(2, want)),
        (srcjax.grad(srcjax.jit(outer)), (0.5,), want),
        (srcjax.jit(lambda x: x[:2] @ x[1:]), (np.ones(3),), 2.0),
    ]:
        made(*args)
        other = cloudpickle.loads(cloudpickle.dumps(made))
        assert other is not made
        for _ in range(3):
            np.testing.assert_allclose(other(*args), value)
