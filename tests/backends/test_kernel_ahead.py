"""Elementary functions that are computed ahead of loops, and tapes with room."""

import copy
import math

import numpy as np
import pytest

import srcjax
from srcjax.backends.kernel_elementary import may_compute
from srcjax.backends.kernel_text import file_text

pytest.importorskip("numba")

#: One test in so many runs, unless SRCJAX_TESTS=all.
SAMPLE = {"test_values": 2}

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(2, 40))
PLACES = RNG.integers(-40, 40, 40).astype(float)


def recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + np.tanh(x[i])
    return y


def backwards(x, start, stop):
    total = 1.0
    for i in range(start, stop, -1):
        total = total * 0.3 + np.log1p(np.exp(-x[i])) * i
    return total


def with_steps_between(x, c):
    total = 0.0
    for i in range(len(x)):
        z = (x[i] - c[0]) / c[1]
        w = z * z
        total = total * 0.9 + (0.5 * w + math.log(1.0 + math.exp(-z)) + np.tanh(w))
    return total


def bound_anew(x, n):
    total = 0.0
    for i in range(3, n):
        n = n + i
        total = total / 2 + np.cosh(x[i]) + np.exp(n / 1000)
    return total, n


def for_some(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total = total * 0.5 + np.log(x[i])
        total = total + (np.log(x[i]) if x[i] > 1.0 else 0.1 * total)
    return total


def carried(x):
    total, last = 0.0, 1.0
    for i in range(len(x)):
        total = total * 0.5 + np.exp(last) + np.exp(x[i])
        last = x[i] * 0.1
    return total


def of_what_it_writes(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.tanh(y[i - 1]) + np.tanh(x[i]) + np.tanh(y[len(x) - i])
    return y


def of_what_it_is_given(x, y):
    for i in range(1, len(x)):
        x[i] = 0.1 * x[i - 1] + np.tanh(y[i])
    return x[-1]


def of_a_part(x):
    y = np.zeros(len(x))
    part = y[1:]
    for i in range(1, len(x)):
        part[i - 1] = np.tanh(y[i - 1]) + np.tanh(x[i])
    return y


def left_early(x):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + np.exp(x[i])
        if total > 4.0:
            break
    return total


def looked_up(x, places):
    total = 0.0
    for i in range(len(places)):
        k = int(places[i])
        total = total * 0.5 + np.exp(x[k]) + np.arctan(x[int(places[i])])
    return total


def in_rows(A):
    found = np.zeros(len(A))
    for i in range(len(A)):
        total = 0.0
        for j in range(A.shape[1]):
            total = total * 0.5 + np.exp(A[i, j]) * (i + 1)
        found[i] = total
    return found


def powers(x):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + abs(x[i]) ** 1.7 + x[i] ** 3 + x[i] ** -2
    return total


A = RNG.normal(size=(20, 30))
CASES = [
    (recurrence, (X,), True),
    (backwards, (X, 39, -1), True),
    (backwards, (X, 30, 40), True),
    (with_steps_between, (X, np.array([0.3, 1.2])), True),
    (bound_anew, (X, 40), True),
    (for_some, (X,), False),
    (carried, (X,), True),
    (of_what_it_writes, (X,), True),
    (of_what_it_is_given, (X, Y), False),
    (of_a_part, (X,), False),
    (left_early, (X,), False),
    (looked_up, (X, PLACES), True),
    (in_rows, (A,), True),
    (powers, (X,), True),
]


def outcome(f, args):
    """What a call gives or raises, and what it leaves of the arguments."""
    args = copy.deepcopy(args)
    try:
        return f(*args), args
    except Exception as error:
        return (type(error), str(error)), args


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        if not isinstance(a, tuple):
            a, b = (a,), (b,)
        for x, y in zip(a, b, strict=True):
            assert type(x) is type(y) or isinstance(x, float) and isinstance(y, float)
            if isinstance(x, (np.ndarray, np.generic)):
                y = np.asarray(y)
                assert getattr(x, "dtype", None) == getattr(y, "dtype", None)
                np.testing.assert_allclose(x, y, rtol=1e-12)
            else:
                assert x == y


def numbas_text(compiled, args):
    text = srcjax.source(compiled, *args)
    at = text.index("@")
    kernel = text[at : text.index("\n\n\n", at)]
    checked = kernel.split("\n")[0].partition("(")[2].strip(")")
    names = [n.strip('" ') for n in checked.split(",")] if checked else []
    return file_text(kernel, names, [np.ndim(a) or None for a in args])


@pytest.mark.parametrize(("f", "args", "is_ahead"), CASES)
def test_what_is_computed_ahead(f, args, is_ahead):
    assert ("ahead" in numbas_text(srcjax.jit(f), args)) is is_ahead


@pytest.mark.parametrize(("f", "args", "is_ahead"), CASES)
def test_values(f, args, is_ahead):
    compiled = srcjax.jit(f)
    assert_same(outcome(compiled, args), outcome(f, args))
    # Shorter, none at all, read backwards, and in single precision.
    for change in (
        lambda x: x[:7],
        lambda x: x[:1],
        lambda x: x[:0],
        lambda x: x.copy()[::-1],
        lambda x: x.astype("float32"),
    ):
        given = tuple(change(a) if isinstance(a, np.ndarray) else a for a in args)
        found, expected = outcome(compiled, given), outcome(f, given)
        if given[0].dtype == np.float32:
            assert np.asarray(found[0]).dtype == np.asarray(expected[0]).dtype
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
        else:
            assert_same(found, expected)


def test_gradients():
    d = srcjax.grad(lambda x: np.sum(recurrence(x) ** 2))
    compiled = srcjax.jit(d)
    for given in (X, X[:9], X[:1]):
        np.testing.assert_allclose(compiled(given), d(given), rtol=1e-11)


def too_far(x, y, z):
    for i in range(len(y)):
        z[i] = i
        y[i] = 0.5 * y[i - 1] + np.exp(x[i])
    return y.sum()


def test_indices_are_wrong_where_they_were():
    def f(x, z, n):
        return too_far(x, np.zeros(n), z)

    compiled = srcjax.jit(f)
    for sizes in ((9, 30, 40), (30, 30, 20), (0, 3, 3), (0, 0, 0)):
        args = (X[: sizes[0]], np.zeros(sizes[2]), sizes[1])
        assert_same(outcome(compiled, args), outcome(f, args))


def test_what_takes_no_less_stays():
    text = "@kernel\ndef k(x):\n    s = 0.0\n    for i in range(len(x)):\n"
    text += "        s = s * 0.5 + np.{}(x[i])\n    return s\n"
    assert "ahead" in file_text(text.format("tanh"), ranks=(1,))
    for name in ("sin", "sqrt", "abs"):
        assert not may_compute(text.format(name))
        assert "ahead" not in file_text(text.format(name), ranks=(1,))
    few = text.replace("range(len(x))", "range(5)").format("tanh")
    assert "ahead" not in file_text(few, ranks=(1,))
    several = text.format("tanh").replace("(x):", "(x, w):")
    assert "ahead" not in file_text(several, ranks=(2, 1))  # rows


ROOM = """
@kernel
def f_kernel(x, n):
    a_tape: list[float] = []
    b_tape: list[float] = []
    c_tape: list[int] = []
    for i in range(1, n):
        a_tape.append(x[i])
        c_tape.append(i)
        a_tape.append(2.0)
        for j in range(i):
            b_tape.append(x[j])
        if i > 3:
            c_tape.append(0)
    a = a_tape.pop()
    b = b_tape.pop()
    c = c_tape.pop()
    return a + b + c
"""


def test_room_is_made_before_loops():
    text = file_text(ROOM)
    assert "if depth + 2 * len(range(1, n)) > len(a_tape):" in text
    assert text.count("a_tape = with_room(") == 1
    assert "longer(a_tape)" not in text and "longer(b_tape)" not in text
    assert "if depth2 + len(range(i)) > len(b_tape):" in text
    assert text.count("longer(c_tape)") == 2  # not in each trip as many
    for leave in ("break", "return 1.0"):
        left = file_text(ROOM.replace("c_tape.append(0)", leave))
        assert text.count("with_room(a_tape") == 1 and "with_room(a_tape" not in left


def test_tapes_of_nested_loops():
    def f(x, n):
        total = 0.0
        for i in range(n):
            total = np.sin(total) + x[i]
            for j in range(i):
                total = np.sin(total * x[j]) + total * total * 0.1
                if total > 2.0:
                    total = total * 0.3
        return total

    d = srcjax.grad(f)
    compiled = srcjax.jit(d)
    for n in (3, 40, 17, 0):
        np.testing.assert_allclose(compiled(X, n), d(X, n), rtol=1e-10)


def with_whole_numbers(x, k, places):
    total = 0.0
    product = np.dot(k, k)
    for i in range(len(x)):
        total = total * 0.5 + np.exp(x[i]) + np.log(k[places[i]])
    return total, np.dot(places, k), product


def test_whole_numbers_stay_whole():
    args = (X, np.arange(1, 41), np.arange(40)[::-1])
    compiled = srcjax.jit(with_whole_numbers)
    assert_same(outcome(compiled, args), outcome(with_whole_numbers, args))
    assert compiled(*args)[1].dtype == np.int64
