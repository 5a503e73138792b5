"""A local variable that has no value yet: Python tells, and so do kernels."""

import numpy as np
import pytest

import srcjax


def in_a_branch(x):
    if x < 1:
        y = x**2
    return y


def after_a_loop(xs):
    for v in xs:
        y = 2 * v
    return y


def in_a_loop(xs, k):
    total = 0.0
    for i in range(len(xs)):
        if i == k:
            y = xs[i]
        total += y
    return total


def after_a_write(xs, k):
    for i in range(len(xs)):
        xs[i] *= 2.0
        if i == k:
            y = xs[i]
    return y


def the_variable_of_a_loop(xs):
    for i in range(len(xs)):
        xs[i] *= 2.0
    return i * 1.0


def helper(xs, k):
    return in_a_loop(xs, k) + 1.0


def deleted(x):
    y = x * 2
    if x < 1:
        del y
    return y


X = np.array([1.5, 2.5, 3.5])
CASES = [
    (in_a_branch, (0.5,), (5.5,)),
    (after_a_loop, (X,), (X[:0],)),
    (in_a_loop, (X, 0), (X, 1)),
    (after_a_write, (X, 2), (X, 7)),
    (the_variable_of_a_loop, (X,), (X[:0],)),
    (helper, (X, 0), (X, 2)),
    (deleted, (1.5,), (0.5,)),
]


@pytest.mark.parametrize(("f", "bound", "unbound"), CASES, ids=lambda v: str(v)[:20])
def test_what_has_no_value(f, bound, unbound):
    def outcome(function, given):
        given = [np.copy(v) if isinstance(v, np.ndarray) else v for v in given]
        try:
            return function(*given), given
        except UnboundLocalError as error:
            return str(error), given

    compiled = srcjax.jit(f)
    for given in (bound, unbound, bound):
        (result, written), (expected, after) = (
            outcome(compiled, given),
            outcome(f, given),
        )
        assert result == expected
        for one, other in zip(written, after, strict=True):
            np.testing.assert_array_equal(one, other)


def surely_bound(xs, n):
    """What a loop that surely runs binds needs no flag."""
    for k in range(1, 4):
        scaled = xs * k
    factor = 2.0 if n > 2 else 3.0
    names = [v for v in range(n)]
    return np.sum(scaled) * factor + len(names)


def test_no_flag_without_need():
    text = srcjax.source(srcjax.jit(surely_bound), X, 3)
    assert "has_" not in text
    assert srcjax.jit(surely_bound)(X, 3) == surely_bound(X, 3)
