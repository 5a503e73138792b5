"""Kernels that read where nobody wrote, or outside of an array, are found out.

Numba does not look at bounds, and new memory mostly holds zeros. Here kernels run as
the Python that they are, on new arrays that are full of NaN: an index out of bounds
raises, and what was not written shows in the result.
"""

import copy
import types
import warnings

import numpy as np
import pytest

import srcjax
from srcjax.backends.kernels import Kernel
from tests.corpus import PROGRAMS
from tests.sweeps.sweep_jit import check


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
