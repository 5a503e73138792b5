"""`jit` of small programs at the edges of numbers and of memory, beside the function.

Ints of Python that are large, ints of NumPy that wrap, quotients of negatives, NaN,
infinities, ties, bools as numbers, single precision throughout; arrays without places,
read-only, strided, backwards; writes that overlap; loops with several ways out. What
comes back has the same types and dtypes, floats within a few units in the last place,
and arguments are left as the function leaves them.
"""

import copy
import math
import warnings

import numpy as np
import pytest

import srcjax

pytest.importorskip("numba")

nan, inf = math.nan, math.inf
FLOATS = np.array([-2.5, -1.0, 0.0, 0.5, 3.0, 7.25])
ODD = np.array([nan, -inf, inf, 0.0, 1.0, -1.0, 1e308, 5e-324])
SINGLE = FLOATS.astype(np.float32)
ODD_SINGLE = np.array([nan, -inf, inf, 0.0, 1.0, -1.0, 3e38, 1e-45], np.float32)
INTS = np.array([-7, -3, -1, 0, 1, 3, 7])
SMALL = INTS.astype(np.int8)
BYTES = np.array([0, 1, 3, 7, 200, 255, 128], np.uint8)
BOOLS = np.array([True, False, True, True, False])
MATRIX = np.arange(12.0).reshape(3, 4) - 5
LOCKED = FLOATS.copy()
LOCKED.flags.writeable = False
EMPTY = np.zeros(0)
VECTORS = [FLOATS, FLOATS[::-1], np.repeat(FLOATS, 2)[::2], LOCKED, EMPTY, SINGLE]
VECTORS += [ODD, ODD_SINGLE]
WHOLES = [INTS, INTS[::-1], INTS.astype(np.int32), SMALL, BYTES, np.zeros(0, int)]
MATRICES = [MATRIX, MATRIX.T, MATRIX[::-1, ::2], MATRIX.astype(np.float32)]
LARGE = [3, 0, -2, 2**31, 2**40, 2**62, 2**63, -(2**63), 2**63 + 1, -(2**40), 2**2000]

CASES = []


def given(*arguments):
    """Run the program on each of these: an argument, or a tuple of all of them."""

    def add(function):
        for k, args in enumerate(arguments):
            args = args if isinstance(args, tuple) else (args,)
            CASES.append(pytest.param(function, args, id=f"{function.__name__}-{k}"))
        return function

    return add


# -- numbers of Python -----------------------------------------------------------------


@given(*LARGE)
def grown(n):
    return n * n, n + 1, n - 1, -n, abs(n), (n + 1) * (n - 1), n * 3 // 2, n % 10


@given(*LARGE)
def doubled(n):
    for _ in range(3):
        n = n * 2
    return n


@given(*LARGE)
def counted_from(n):
    s = 0
    for k in range(n, n + 3):
        s += k * k % 7
    return s


@given((2**30, 2**30, 2**30), (2, 3, 4), (-(2**30), 2**30, 2**31), (2**31, 2**31, 2))
def products(a, b, c):
    return a * b * c, a * b + c, a * b * (c + 1), a * b // c


@given((3, 5), (3, 70), (1, 63), (-3, 64), (5, -1), (2**62, 1), (2**62, 63), (0, 2**40))
def shifts(a, n):
    return (a << n if n < 100 else a), a >> n, a & n, a | n, a ^ n, ~a


@given((7, -2), (-7, 2), (7.5, -2.0), (-7.5, 2.0), (5, 0), (5.0, 0.0), (True, 2))
def quotients(a, b):
    s = 0
    for _ in range(2):
        s += a // b + a % b
    return s, divmod(a, b)


@given((2, 3), (2, -3), (2, 63), (2, 64), (-2, 63), (0, -1), (1e200, 2), (-8.0, 1 / 3))
def powers(a, n):
    s = 0
    for _ in range(2):
        s += a**n
    return s


@given([1, 2], [2**40, 3], [2**62] * 4, [2**70, 1], [], [1.5, 2])
def of_items(values):
    s = 0
    for v in values:
        s += v * v
    return s, sum(values)


@given((True, 3), (False, 3), (5, 3))
def bools_added(a, n):
    s = 0
    for _ in range(n):
        s += a
    return s, a + a, a * 2, -a


@given(1.5, nan, inf, -2.5, 2.5, 1e20, np.float64(2.5))
def to_ints(x):
    return int(x) + math.floor(x) + math.ceil(x) + round(x), bool(x)


@given(-1.0, 0.0, 2.0, inf, nan)
def of_math(x):
    s = 0.0
    for _ in range(2):
        s += math.log(x) + math.sqrt(x)
    return s


@given((1.0, nan), (nan, 1.0), (0.0, -0.0), (1, 2.0), (True, 1))
def in_order(a, b):
    return min(a, b), max(a, b), a < b, a == b, a and b, a or b, not a


@given(10, 100, 0)
def factorial(n):
    f = 1
    for k in range(1, n + 1):
        f *= k
    return f


# -- numbers of NumPy ------------------------------------------------------------------


@given(np.int64(2**62), np.int32(2**31 - 1), np.int8(127), np.uint8(255))
def wraps(x):
    return x + x, x * x, x + np.int8(1), -x


@given(*WHOLES)
def sums_of_ints(x):
    y = x * x
    s = 0
    for v in x:
        s += v * v
    return s, (y * 100).sum(), np.cumsum(y), x / 2, x.astype(np.int8), x + 1


@given((INTS, 3), (INTS, 70), (INTS, -1), (INTS, 64), (SMALL, 2), (BYTES, 7))
def shifted(x, n):
    s = 0
    for k in range(len(x)):
        s += (x[k] << n) ^ (x[k] >> n)
    return s, x << n, x >> n, x & 3, ~x


@given(*[(x, d) for x in (INTS, SMALL) for d in (-3, 2, 0)], (FLOATS, -0.7), (ODD, 2.0))
def quotients_of_items(x, d):
    out = np.zeros(x.shape)
    for k in range(len(x)):
        out[k] = x[k] // d + x[k] % d
    return out, x // d, x % d


@given((INTS, 2), (INTS, 63), (SMALL, 3), (FLOATS, 3), (FLOATS, -1), (ODD, 2), (ODD, 0))
def powers_of_items(x, n):
    s = 0.0
    for k in range(len(x)):
        s += x[k] ** n
    return s, x**n


@given(BOOLS, BOOLS[::-1], BOOLS[:0])
def of_bools(b):
    return b + b, b * b, b & ~b, b ^ True, b.sum(), b.astype(int) - 1, np.any(b)


@given(*VECTORS)
def compared(x):
    return x < 0, x == x, x != x, np.sign(x), np.isnan(x), np.fmax(x, 1), x[x > 0].sum()


@given(*VECTORS, *WHOLES)
def chosen(x):
    y = x.copy()
    y[y < 0] = 0
    y[y > 3] *= 2
    return y, np.where(x > 1, x * 2, np.where(x < 0, -x, 0)), np.clip(x, 1, 2)


@given(*VECTORS)
def cast(x):
    a = np.where(np.isfinite(x) & (np.abs(x) < 100), x, 0)
    return a.astype(np.int32), a.astype(np.float32) * 2, a.astype(bool), a.astype(int)


@given(np.array([1.0, 3, 3, 1]), np.array([nan, 1, nan]), np.array([2, 2, 1]), BOOLS)
def ties(x):
    return np.argmin(x), np.argmax(x), x.max(), x.min()


@given(*MATRICES, np.zeros((0, 3)), np.zeros((3, 0)), MATRIX.astype(int))
def reduced(m):
    rows = m.sum(axis=1, keepdims=True), np.prod(m, axis=0, keepdims=True)
    return rows, m.sum(), np.cumsum(m, axis=0), np.any(m > 0, axis=1), m - m.sum(axis=0)


@given(*MATRICES, MATRIX.astype(int))
def extremes(m):
    least = m.min(axis=1), np.argmin(m, axis=1), m.argmax(axis=0)
    return least, m.max(axis=0, keepdims=True), m.var(axis=1, keepdims=True), m.mean()


@given(SINGLE, SINGLE[::-1], FLOATS, np.float32(1.1), np.float64(1.1), 1.1)
def in_its_precision(x):
    a = np.sqrt(np.abs(x)) * 2.0
    return a, a + np.float32(1), a * math.pi, a / 3, x * x - 0.5


@given(SINGLE, FLOATS, SMALL)
def accumulated(x):
    s = np.float32(0)
    t = 1
    for k in range(x.shape[0]):
        s = (s + x[k] * np.float32(0.1)) * 1.1
        t = t * 2 if x[k] > 0 else t / 2
    return s, t


# -- memory ----------------------------------------------------------------------------


@given(FLOATS, FLOATS[::-1], SINGLE, INTS, SMALL)
def overlapping(x):
    x[1:] = x[:-1]
    x[:-1] += x[1:]
    v = x[::-1]
    v[0] = 5
    for k in range(1, len(x)):
        x[k] = x[k - 1] + x[k]
    return x


@given(MATRIX, MATRIX.T, MATRIX.astype(int), MATRIX.astype(np.float32))
def views(m):
    row, column = m[1], m[:, 0]
    row[0] = 100
    column[2] = -7
    m.T[0, 0] = 3
    flat = m.reshape(-1)
    flat[5] = 9
    return m, row.sum(), column.sum(), m[::-1], m[1:1], m[-1]


@given(LOCKED, (FLOATS.copy(),), EMPTY)
def written(x):
    x[0] = 1
    return x


@given((MATRIX, np.array([0, 0, 2])), (MATRIX, np.array([1, -1], np.int32)))
def scattered(m, i):
    m[i] += 1
    np.add.at(m, i, 2)
    m[i, 0] = 9
    return m, m[i].sum(axis=0), m[i, 1]


@given((FLOATS, 3), (FLOATS, 5), (FLOATS, -6), (FLOATS, 6), (FLOATS, -7), (EMPTY, 0))
def item(x, k):
    y = np.zeros(4)
    y[k] = x[k] + 1
    return y


@given((FLOATS, 3), (FLOATS, 100), (FLOATS, -2))
def parts(x, k):
    return x[k:].sum(), x[:k], x[::k], x[k::-1], x[-k:], x[1:k:2]


@given(5, 0, 1)
def made(n):
    a = np.arange(n)
    return np.zeros(n) + a, np.ones((n, 2), np.float32), a * 2, np.full(n, 3) / 2


@given(np.array(3.0), np.array(3), np.array(3, np.float32))
def without_axes(x):
    return x * 2, np.sum(x), x.item(), x[()], x.reshape(1)


# -- control ---------------------------------------------------------------------------


@given(5, -1, 0, 100)
def early(n):
    if n < 0:
        return "negative"
    s = 0
    for k in range(n):
        if k * k > 50:
            return s
        s += k
    return s, "done"


@given(10.0, 0.5, nan, 1e9)
def exits(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
        if n > 20:
            break
    else:
        return x, n, "else"
    return x, n


@given(np.array([1.0, -2, 3]), np.array([1.0, 2]), EMPTY)
def attempts(x):
    s = 0.0
    try:
        for v in x:
            if v < 0:
                raise ValueError("negative")
            s += v
    except ValueError as error:
        return str(error), s
    return s


@given(FLOATS, EMPTY)
def unbound(x):
    for k in range(len(x)):
        if x[k] > 5:
            y = k
    return y


@given(MATRIX, MATRIX.astype(np.float32), np.zeros((0, 2)))
def rows(m):
    s, t = np.zeros(m.shape[1], m.dtype), 0
    for i, row in enumerate(m):
        if row[0] < -4:
            continue
        s += row
        for j, v in enumerate(row):
            t += (i + 1) * (j - 1) * v
    return s, t


# -- the comparison --------------------------------------------------------------------


def outcome(function, args):
    """What it gives or raises, and what it leaves of its arguments."""
    args = again(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = "value", function(*args)
        except Exception as error:
            found = "error", (type(error).__name__, str(error))
    return *found, args


def again(value):
    """A copy, of which arrays are as writable and as contiguous, and as backwards."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(again, value))
    if not isinstance(value, np.ndarray) or not value.ndim:
        return copy.deepcopy(value)
    ways = tuple(slice(None, None, -1 if s < 0 else 1) for s in value.strides)
    turned = value[ways]
    if turned.flags.forc:
        found = np.copy(turned, order="K")[ways]
    else:
        found = np.repeat(turned, 2, axis=-1)[..., ::2][ways]
    found.flags.writeable = value.flags.writeable
    return found


def check_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check_same(a, b)
    elif isinstance(wanted, (np.ndarray, np.generic, float)):
        a, b = np.asarray(found), np.asarray(wanted)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_array_max_ulp(*map(of_size_one, (a, b)), maxulp=8)
    else:
        assert found == wanted


def of_size_one(x):
    """NaN and infinities as numbers, which are counted in units of the last place."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(x, nan=12.0, posinf=13.0, neginf=-13.0)


@pytest.mark.parametrize(("function", "args"), CASES)
def test_unusual_arguments(function, args):
    compiled = compiled_once(function)
    wanted = outcome(function, args)
    for _ in range(3):  # what serves a first call, a second one and those after
        check_same(outcome(compiled, args), wanted)


def compiled_once(function):
    if function not in COMPILED:
        COMPILED[function] = srcjax.jit(function)
    return COMPILED[function]


COMPILED = {}
