"""Every operation with a kernel, compiled, beside NumPy at special numbers.

Zeros with their signs, infinities, NaN, denormals, ties, the largest and smallest ints,
in all pairs of dtypes: as arrays, as an array with a number, and as numbers of NumPy.
What comes back has the same dtype, floats within four units in the last place.
"""

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.special

import srcjax
from srcjax.ops.record import TABLE

pytest.importorskip("numba")

nan, inf = math.nan, math.inf
AROUND = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -2.5, 0.1, 0.49999997]
AROUND += [inf, -inf, nan, 30.0, -30.0, 8388607.5, -3.5, math.pi]
WHOLES = [0, 1, -1, 2, -2, 3, -5, 63, 64, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
VALUES = {
    "float64": [*AROUND, 5e-324, -1e-310, 1e300, 1.7976931348623157e308, 710.0, -746.0],
    "float32": [*AROUND, 1e-45, -1e-40, 1e38, 3.4028235e38, 89.0, -104.0],
    "int64": WHOLES,
    "bool": [True, False],
}
#: What is computed with more digits than NumPy's: how far NumPy's is from it.
ROUNDED = {scipy.special.cosm1: 1e-12, scipy.special.expit: 1e-37}
#: In NumPy the sign of zero depends on the length of the array.
SIGNS = (np.fmax, np.fmin)


def operations():
    """The functions of NumPy and SciPy that kernels compute, with their arguments."""
    found = []
    for op in {id(op): op for op in TABLE.values()}.values():
        if not op.elementwise or op.kernel is None:
            continue
        for function in op.functions:
            # `np.sinc` of single precision is computed in double.
            if isinstance(function, np.ufunc) or function is np.where:
                found.append((function, min(2, len(op.signature.parameters))))
    return sorted(found, key=lambda each: each[0].__name__)


def name_of(value):
    return getattr(value, "__name__", str(value))


def function_of(operation, count):
    """A function that calls it."""
    if count == 1:
        return lambda x: operation(x)
    if operation is np.where:
        return lambda a, b: np.where(a, b, a)
    return lambda a, b: operation(a, b)


def compare(found, wanted, operation):
    """The same numbers, dtypes, and signs of zeros."""
    assert type(found) is type(wanted)
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    rtol = 4 * np.finfo(wanted.dtype).eps
    atol = ROUNDED.get(operation, 4 * np.finfo(wanted.dtype).smallest_subnormal)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)
    if operation not in SIGNS:
        zeros = (wanted == 0) & (found == 0)
        signs = np.signbit(found) == np.signbit(wanted)
        np.testing.assert_array_equal(signs | ~zeros, True)


def quiet(function, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args)


@pytest.mark.parametrize(("operation", "count"), operations(), ids=name_of)
def test_special_values(operation, count):
    function, tried = function_of(operation, count), 0
    for dtypes in itertools.product(VALUES, repeat=count):
        grid = np.meshgrid(*(np.array(VALUES[d], d) for d in dtypes))
        arrays = [values.ravel() for values in grid]
        try:
            wanted = quiet(function, *arrays)
        except (TypeError, ValueError):  # of these dtypes, or of negative powers
            continue
        tried += 1
        compare(quiet(srcjax.jit(function), *arrays), wanted, operation)
        numbers = srcjax.jit(function)
        for one in list(zip(*arrays, strict=True))[:: 1 if count == 1 else 11]:
            compare(quiet(numbers, *one), quiet(function, *one), operation)
        if count == 2:
            beside = srcjax.jit(function)
            for value in arrays[1][:: len(VALUES[dtypes[0]])]:
                given = np.array(VALUES[dtypes[0]], dtypes[0]), value
                compare(quiet(beside, *given), quiet(function, *given), operation)
    assert tried


POWERS = {
    "root": lambda x: x**0.5,
    "root in a loop": lambda x: np.array([v**0.5 for v in x]),
    "cube": lambda x: x**3,
    "one over": lambda x: x**-1,
    "modulo": lambda x: x % -1,
    "quotient": lambda x: x // -1,
    "quotient of numbers": lambda x: np.array([v // -1 for v in x]),
    "rectified": lambda x: np.maximum(x, 0) + np.maximum(0, -x),
    "wide": lambda x: np.exp(x.astype(float)) + np.float64(x[0]) ** 0.3,
}


@pytest.mark.parametrize("dtype", list(VALUES))
@pytest.mark.parametrize("name", list(POWERS))
def test_with_constants(name, dtype):
    function, x = POWERS[name], np.array(VALUES[dtype], dtype)
    try:
        wanted = quiet(function, x)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            quiet(srcjax.jit(function), x)
        return
    compare(quiet(srcjax.jit(function), x), wanted, np.power)
