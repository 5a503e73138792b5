"""Kernels that read where nobody wrote, or outside of an array, are found out."""

import copy
import os
import random
import time
import warnings
import zlib

import numpy as np
import pytest

import srcjax
from tests.corpus import PROGRAMS
from tests.plain_kernels import kernels_as_python
from tests.programs.judging import arguments, load
from tests.programs.running import GRAMMARS
from tests.sweeps.sweep_jit import check

#: Sizes of one random program; the seconds for it, and the seed of the first one.
SIZES = (3, 4, 1, 5)
SECONDS = 20
SEED = os.environ.get("SRCJAX_SWEEP_SEED", "0")
FIRST = 9_000_000 + 1000 * (zlib.crc32(SEED.encode()) % 1000)
MODES = ["jit", "grad", "vmap"]


@pytest.fixture(autouse=True)
def plain():
    with kernels_as_python():
        yield


def transformed(f, mode):
    if "grad" in mode:
        f = srcjax.value_and_grad(f)
    return srcjax.vmap(f) if "vmap" in mode else f


def outcome(f, args):
    """The result, or the class of what is raised; and the arguments afterwards."""
    args = copy.deepcopy(args)
    try:
        return f(*args), None, args
    except ArithmeticError as error:  # Python divides by zero otherwise than NumPy
        pytest.skip(f"{type(error).__name__} in Python")
    except Exception as error:
        return None, type(error), args


def compare(f, compiled, args, single=False):
    wanted, raised, after = outcome(f, args)
    got, raised_too, mine = outcome(compiled, args)
    assert raised_too is raised
    # Python's numbers are not those that Numba gives back.
    check(got, wanted, True, single)
    check(mine, after, True)


@pytest.mark.parametrize("mode", ["jit", "grad", "vmap", "vmap of grad"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_corpus(program, mode):
    f = transformed(program.function, mode)
    args = program.args()
    if "vmap" in mode:
        if not all(isinstance(a, (float, np.ndarray)) for a in args):
            pytest.skip("arguments that are no arrays")
        args = [np.stack([a, np.multiply(a, 1.1)]) for a in args]
    single = any(getattr(a, "dtype", None) == np.float32 for a in args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        compare(f, srcjax.jit(f), args, single)


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("number", range(20))
def test_random_programs(number, grammar, tmp_path):
    seed = FIRST + number
    writer, head = GRAMMARS[grammar]
    text = f"{head}\n{writer(seed, 3).write()}"
    f = load(text, tmp_path, f"poisoned_{grammar}_{seed}").f
    mode = random.Random(seed).choice(MODES)
    f = transformed(f, mode)
    compiled = srcjax.jit(f)
    ends = time.process_time() + SECONDS
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, size in enumerate(SIZES):
            if time.process_time() > ends:
                break
            args = arguments(seed + k, size)
            if mode == "vmap":
                args = tuple(np.stack([a, np.multiply(a, 1.3)]) for a in args)
            wanted, raised, after = outcome(f, args)
            got, raised_too, mine = outcome(compiled, args)
            # Which of several errors comes first may be another one.
            assert (raised_too is None) == (raised is None)
            check(got, wanted, True)
            if raised is None:
                check(mine, after, True)
