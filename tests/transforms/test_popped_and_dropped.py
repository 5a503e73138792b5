"""What is popped, and not read, is popped from tangents and adjoints too."""

import numpy as np

import srcjax
from srcjax.testing import check_grads
from tests.corpus.harness import assert_close


def popped_and_dropped(s):
    s = np.tanh(s)
    stack = [s for _ in range(6)]
    stack.pop() * 2
    return sum(stack) + stack[0]


class Log:
    def __init__(self, total):
        self.total = total

    @property
    def following(self):
        self.total = self.total * self.total + 1.0
        return self.total


def read_for_its_effect(s):
    log = Log(s)
    log.following  # noqa: B018
    return log.total


def slope(f, s, h=1e-5):
    return (f(s + h) - f(s - h)) / (2 * h)


def test_nested():
    for f in (popped_and_dropped, read_for_its_effect):
        gradient = srcjax.grad(f)
        assert_close(gradient(0.3), slope(f, 0.3))
        assert_close(srcjax.jvp(f, (0.3,), (1.0,))[1], slope(f, 0.3))
        assert_close(srcjax.jvp(gradient, (0.3,), (1.0,))[1], slope(gradient, 0.3))
        assert_close(srcjax.grad(gradient)(0.3), slope(gradient, 0.3))


def popped_before_it_holds_any(x):
    """The list has no differentiated item yet when a test takes one out of it."""
    k = [0.3 for _ in range(5)]
    q = [k, x[2], 2 > k.pop(0) > 0.1]
    k[1], k[-1] = 0.5, q[1]
    return sum(k)


def test_items_move_with_their_tangents():
    x = np.array([1.0, 2.0, 3.0])
    check_grads(popped_before_it_holds_any, (x,), order=2)


def put_twice(s):
    stack = [s for _ in range(4)]
    stack.append(s * 1.5)
    stack.append(s * 1.5)
    return stack[0]


def weighted_batch(s):
    return np.sum(srcjax.vmap(put_twice)(s) * np.array([1.0, -0.7, 0.4]))


def test_two_adjoints_taken_off_are_two():
    s = np.array([0.3, -0.8, 1.1])
    assert_close(srcjax.grad(weighted_batch)(s), np.array([1.0, -0.7, 0.4]))
