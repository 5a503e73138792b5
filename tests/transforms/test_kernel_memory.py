"""What is written to may have two names, or a dtype that NumPy does not store in."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

pytest.importorskip("numba")

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

around = np.arange(4.0)


def shifted(x, y):
    y[1:] = x[:-1] * 2
    return y * 1.0


def through_a_view(x, y):
    row = x[::2]
    for i in range(2):
        row[i] += y[i]
    return np.sum(y)


def of_a_list(x, rows):
    for row in rows:
        row[0] += x[0]
    return np.sum(x * rows[1])


def of_a_dict(x, d):
    d["a"][1:] = x[:-1] + 1
    return np.sum(d["b"] * 2)


def from_around(x):
    around[0] = 5.0
    return np.sum(x * around)


def at():
    return np.arange(1.0, 5.0)


CALLS = [
    (shifted, lambda x, y: (x, y)),
    (shifted, lambda x, y: (np.resize(x, 8)[:-1], np.resize(x, 8)[1:])),
    (shifted, lambda x, y: (x[::-1], y)),
    (through_a_view, lambda x, y: (x, y)),
    (of_a_list, lambda x, y: (x.copy(), [x, y])),
    (of_a_list, lambda x, y: (x, [x.copy(), y])),
    (of_a_dict, lambda x, y: (x, {"a": x.copy(), "b": x.copy()})),
    (of_a_dict, lambda x, y: (x.copy(), {"a": x, "b": y})),
    (from_around, lambda x, y: (x,)),
    (from_around, lambda x, y: (around,)),
]


@pytest.mark.parametrize("names", ["one", "two"])
@pytest.mark.parametrize("k", range(len(CALLS)))
def test_arrays_that_overlap(k, names):
    function, make = CALLS[k]
    compiled = srcjax.jit(function)
    for _ in range(3):
        results = []
        for each in (function, compiled):
            x = at()
            args = make(x, x if names == "two" else at())
            around[:] = np.arange(4.0)
            results.append((each(*args), copy.deepcopy(args), around.copy()))
        assert repr(results[0]) == repr(results[1])


def halves(x, y):
    long = np.concatenate([x, y])
    return shifted(long[:-1], long[1:])


def test_arrays_that_a_caller_passes_on():
    x, y = at(), at() / 2
    np.testing.assert_array_equal(srcjax.jit(halves)(x, y), halves(x, y))


def test_nothing_is_asked_where_nothing_is_written_to():
    def product(x, y):
        return np.sum(x * y)

    assert "overlap" not in srcjax.source(srcjax.jit(product), at(), at())


def test_an_array_that_is_read_only():
    compiled = srcjax.jit(shifted)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(at(), at()), shifted(at(), at()))
    fixed = at()
    fixed.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            compiled(at(), fixed)
    np.testing.assert_array_equal(compiled(at(), at()), shifted(at(), at()))


# -- dtypes --------------------------------------------------------------------------


def adds(x, y):
    x += y
    return np.sum(x)


def divides(x, y):
    x /= 2
    return np.sum(x)


def halves_whole(x, y):
    x //= y
    return np.sum(x)


def powers(x, y):
    x **= y
    return np.sum(x)


def of_a_part(x, y):
    part = x[1:]
    part += y[1:]
    return np.sum(x)


def of_chosen(x, y):
    x[x > 1] *= 1.5
    return np.sum(x)


def of_places(x, y):
    x[[0, 1]] += y[:2]
    return np.sum(x)


def into_out(x, y):
    np.multiply(x, y, out=x)
    return np.sum(x)


def where_out(x, y):
    np.add(x, y, out=x, where=y > 1)
    return np.sum(x)


def copied(x, y):
    np.copyto(x, y)
    return np.sum(x)


def of_one_item(x, y):
    """NumPy cuts off what is stored in one item."""
    for i in range(2):
        x[i] += y[i]
    return np.sum(x)


def product(x, y):
    x @= y
    return np.sum(x)


UPDATES = [adds, divides, halves_whole, powers, of_a_part, of_chosen, of_places]
UPDATES += [into_out, where_out, copied, of_one_item, product]
ARRAYS = {
    "float64": np.array([0.5, 1.5, 2.5]),
    "int64": np.array([3, 1, 2]),
    "bool": np.array([True, False, True]),
}


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("second", ["float64", "bool"])
@pytest.mark.parametrize("first", ARRAYS)
@pytest.mark.parametrize("f", UPDATES)
def test_what_numpy_does_not_store_in_place(f, first, second):
    def outcome(g, error, *args):
        try:
            return np.asarray(g(*args)).tolist()
        except error:
            return "error"

    x, y = ARRAYS[first], ARRAYS[second]
    errors = (TypeError, ValueError, FloatingPointError)
    with np.errstate(all="ignore"):
        expected = outcome(f, errors, x.copy(), y.copy())
        compiled = srcjax.jit(f)
        for _ in range(2):
            assert outcome(compiled, errors, x.copy(), y.copy()) == expected
        mapped = outcome(
            srcjax.vmap(f), (*errors, SrcjaxError), x[None].copy(), y[None].copy()
        )
    assert mapped in ("error", [expected])
    assert mapped == "error" or expected != "error"


# -- names that are filled anew from what they held ----------------------------------


def chosen_again(x):
    for i in range(3):
        x = x[x > i]
    return np.sum(x)


def summed_again(x):
    for _ in range(3):
        x = np.cumsum(x)
    return x * 1.0


def padded_again(x):
    for _ in range(2):
        x = np.pad(x, 1)
    return x * 1.0


def joined_again(x):
    for _ in range(2):
        x = np.concatenate([x[1:], x[:1]])
    return x * 1.0


def listed_again(x):
    for _ in range(3):
        x = np.array([x[1], -x[0], x[3], x[2]])
    return x * 1.0


def kept_and_chosen(x):
    tape, lanes = [], np.arange(len(x))
    for i in range(3):
        tape.append(lanes)
        lanes = lanes[x[lanes] > i]
    total = 0.0
    for each in tape:
        total = total + each.sum()
    return total


AGAIN = [chosen_again, summed_again, padded_again, joined_again, listed_again]
AGAIN += [kept_and_chosen]


@pytest.mark.parametrize("f", AGAIN)
def test_what_is_made_of_what_its_name_held(f):
    x = np.array([0.5, 2.5, 1.5, 3.5])
    compiled = srcjax.jit(f)
    for scale in (1.0, 1.0, 2.0):
        np.testing.assert_allclose(compiled(scale * x), f(scale * x))


def leaves_early(x, n):
    for i in range(5):
        if i == n % 3:
            continue
        if n & 1:
            break
        x = x * 2
    return x


def test_examples_that_leave_a_loop():
    x, n = np.array([1.0, 2.0, 3.0, -4.0]), np.array([0, 1, 0, 2])
    compiled = srcjax.jit(srcjax.vmap(srcjax.grad(leaves_early)))
    for _ in range(2):
        np.testing.assert_allclose(compiled(x, n), [16.0, 1.0, 16.0, 16.0])


def test_a_view_made_in_a_kernel_is_updated_behind_it():
    def f(A, v):
        B = A.copy()
        B[0] *= B[0]
        last = B[:, -1]
        last *= sum([1.0 for _ in v])
        return B

    A = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(srcjax.jit(f)(A, np.ones(2)), f(A, np.ones(2)))
