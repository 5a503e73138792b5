"""`isinstance` of a list is decided beside functions that are left as they are."""

import numpy as np
import pytest

import srcjax


class Solver:
    def start(self, state):
        if isinstance(state, (float, int)):
            self.size, state = 1, float(state)
        else:
            state = np.asarray(state)
            self.size = state.size
        self.state = state

    def solve(self, steps, stop=None):
        if stop is None:
            stop = lambda k: False  # noqa: E731
        for k in range(steps):
            self.state = self.state * 1.5
            if stop(k):
                break
        return self.state


def solved(a, b):
    solver = Solver()
    solver.start([a, b])
    return np.sum(solver.solve(3) ** 2) * solver.size


def test_gradient():
    gradient = srcjax.grad(solved, (0, 1))(0.3, 0.9)
    assert gradient == pytest.approx((1.2 * 1.5**6, 3.6 * 1.5**6))


def each(function, values):
    return [function(v) for v in values]


def doubled(tree):
    if isinstance(tree, list):
        return each(lambda part: doubled(part), tree)
    return tree * 2.0


def of_a_tree(x, y):
    tree = doubled([x, [y, x * y]])
    return tree[0] * tree[1][0] + tree[1][1]


def test_what_a_recursion_gives_itself_may_be_of_another_class():
    """The first call is with a list; those with numbers are in a lambda."""
    value, slope = srcjax.jvp(of_a_tree, (0.7, 1.3), (1.0, 0.0))
    assert (value, slope) == pytest.approx((6 * 0.7 * 1.3, 6 * 1.3))
    assert srcjax.grad(of_a_tree, (0, 1))(0.7, 1.3) == pytest.approx((7.8, 4.2))
