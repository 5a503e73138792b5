"""Kernels that read where nobody wrote, or outside of an array, are found out.

Numba does not look at bounds, and new memory mostly holds zeros. Here kernels run as
the Python that they are, on new arrays that are full of NaN: an index out of bounds
raises, and what was not written shows in the result.
"""

import copy
import random
import types
import warnings

import numpy as np
import pytest

import srcjax
from srcjax.backends.kernels import Kernel
from tests.corpus import PROGRAMS
from tests.programs.judging import arguments, load
from tests.programs.running import GRAMMARS
from tests.sweeps.sweep_jit import OF_BOTH, check

#: Sizes of one program, and the seeds of what it is given.
SIZES = (3, 4, 1, 5)


def poisoned(shape, dtype=float, **options):
    """`np.empty`, with what no program makes."""
    made = np.empty(shape, dtype, **options)
    made.fill(np.nan if made.dtype.kind in "fc" else 77)
    return made


NUMPY = types.SimpleNamespace(**{name: getattr(np, name) for name in dir(np)})
NUMPY.empty = poisoned


def as_python(kernel, *args):
    """The first call of a kernel: nothing is compiled."""
    plain = kernel.function
    kernel.function = types.FunctionType(
        plain.__code__, {**plain.__globals__, "np": NUMPY}, plain.__name__
    )
    kernel.call = kernel.function
    return kernel.function(*args)


@pytest.fixture(autouse=True)
def kernels_as_python(monkeypatch):
    monkeypatch.setattr(Kernel, "first", as_python)


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


def compare(f, compiled, args, loose, single):
    wanted, raised, after = outcome(f, args)
    got, raised_too, mine = outcome(compiled, args)
    assert raised_too is raised
    check(got, wanted, loose, single)
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
        compare(f, srcjax.jit(f), args, program.name in OF_BOTH, single)


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("block", range(40))
def test_random_programs(block, grammar, tmp_path):
    seed = 9_000_000 + block
    writer, head = GRAMMARS[grammar]
    text = f"{head}\n{writer(seed, 3).write()}"
    f = load(text, tmp_path, f"poisoned_{grammar}_{block}").f
    f = transformed(f, random.Random(seed).choice(["jit", "grad", "vmap"]))
    compiled = srcjax.jit(f)
    batch = getattr(f, "__name__", "").startswith("vmap")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, size in enumerate(SIZES):
            args = arguments(seed + k, size)
            if batch:
                args = tuple(np.stack([a, np.multiply(a, 1.3)]) for a in args)
            compare(f, compiled, args, True, False)
