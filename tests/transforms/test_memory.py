"""Arrays that a loop makes anew, and what earlier iterations made."""

import json

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from tests.corpus.harness import differences

X = np.array([0.5, 0.8, 1.1, 0.7])


def made_in_the_first_iteration(x):
    total = 0.0
    for k in range(3):
        if k == 0:
            y = x * 2.0
        y[k] = y[k] ** 2 + y[k + 1]
        total = total + np.sum(y**3)
    return total


def made_in_both_branches(x):
    total = 0.0
    for k in range(3):
        y = x * 2.0 if k == 1 else np.sin(x)
        total = total + np.sum(y**3)
        y[k] = x[0] * y[1]
        total = total + np.sum(y**3)
        x = y
    return total


def older_in_a_tuple(x):
    state = (x * 1.0, x * 2.0)
    for k in range(3):
        new = state[0] * state[1]
        new[k] = state[0][k] ** 2 * state[1][0]
        state = (state[1], new)
    return np.sum(state[0] * state[1])


def older_in_a_dict(x):
    state = {"a": x * 1.0, "b": x * 2.0}
    total = 0.0
    for k in range(3):
        new = state["a"] * state["b"]
        new[k] = state["a"][k] ** 2 * state["b"][0]
        total = total + np.sum(state["a"] ** 2 * new)
        state["a"] = state["b"]
        state["b"] = new
    return total + np.sum(state["a"] * state["b"])


def older_that_was_gathered(x):
    total = 0.0
    for _ in range(3):
        new = x[[3, 2, 0, 1]]
        new[0] = x[0] * x[1]
        total = total + np.sum(x**3 * new)
        x = new
    return total


def popped_and_written(x):
    arrays = []
    for k in range(3):
        arrays.append(x * float(k + 1))
    total = 0.0
    for k in range(3):
        y = arrays.pop()
        y[k] = y[1] * x[0]
        total = total + np.sum(y**3)
    return total


def given_to_itself(x, n):
    y = x * 1.5
    total = np.sum(x**3)
    y[0] = x[1] * x[0]
    if n > 0:
        total = total + given_to_itself(y, n - 1)
    y[1] = total * x[2]
    return total + np.sum(y**2)


def in_a_recursion(x):
    return given_to_itself(x, 2)


def held_in_a_list(x):
    y = x * 1.0
    kept = [y]
    total = 0.0
    for k in range(3):
        total = total + np.sum(kept[0] ** 2)
        y[k] = x[k] * y[1]
    return total


@pytest.mark.parametrize(
    "f",
    [
        held_in_a_list,
        made_in_the_first_iteration,
        made_in_both_branches,
        older_in_a_tuple,
        older_in_a_dict,
        older_that_was_gathered,
        popped_and_written,
        in_a_recursion,
    ],
)
def test_gradient(f):
    np.testing.assert_allclose(
        srcjax.grad(f)(X), differences(f, (X,), (0,))[0], rtol=1e-5
    )


def swapped_under_another_name(x):
    a = x * 1.0
    b = x * 2.0
    c = b
    total = 0.0
    for k in range(3):
        total = total + np.sum(c * a)
        a[k] = b[1] * a[0]
        a, b = b, a
    return total


def popped_twice(x):
    y = x * 1.0
    arrays = [y, y]
    total = 0.0
    for k in range(2):
        z = arrays.pop()
        total = total + np.sum(z**2)
        z[k] = z[1] * x[0]
    return total


@pytest.mark.parametrize(
    "f, reason",
    [
        (popped_twice, "both `y` and `arrays` hold"),
        (swapped_under_another_name, "`c` holds one of the arrays that are swapped"),
    ],
)
def test_seen_by_the_next_iteration_under_another_name(f, reason):
    with pytest.raises(UnsupportedError, match=reason):
        srcjax.grad(f)(X)


def moved_out_and_cleared(x):
    """The tangent of `z` is one of a view, which is written to."""
    y = 2 * x
    z = json.loads("[1.0, 2.0, 3.0]") + y[1:]
    y[1:] = 0.0
    return np.sum(z**2) + np.sum(y)


def test_tangents_in_the_shape_of_their_values_are_no_views():
    x = np.arange(1.0, 5.0)
    got = srcjax.jvp(moved_out_and_cleared, (x,), (np.ones(4),))[1]
    step = 1e-6
    wanted = moved_out_and_cleared(x + step) - moved_out_and_cleared(x - step)
    np.testing.assert_allclose(got, wanted / (2 * step), rtol=1e-6)


class Pair:
    def __init__(self, v, w):
        self.v, self.w = v, w

    def grow(self, k):
        self.v *= k
        return self.w

    def both(self):
        return [self.v, self.w]


def filled_and_bound_again(x, s):
    """The adjoint of the zeros has two names, one of which a loop binds again."""
    pair = Pair(np.zeros(3), x)
    pair.w[...] = pair.grow(x)
    pair.both()[0].fill(s)
    for _ in range(1):
        pair.v = np.tanh(pair.v)
    return pair.v.sum()


def test_adjoints_that_share_memory_are_added_to_in_place():
    found = srcjax.grad(filled_and_bound_again, (0, 1))(np.ones(3), 0.5)
    np.testing.assert_allclose(found[0], 0.0)
    np.testing.assert_allclose(found[1], 3 * (1 - np.tanh(0.5) ** 2))
