"""Objects of the user's are asked as often, and in the order, as the function asks."""

import numpy as np
import pytest

import srcjax

X = np.array([1.3, 0.7, 0.9])


class Asked:
    """Notes what it is asked."""

    def __init__(self):
        self.log = []

    def __index__(self):
        self.log.append("index")
        return 1

    def __len__(self):
        self.log.append("len")
        return 2

    def __iter__(self):
        self.log.append("iter")
        for k in (1, 2):
            self.log.append("next")
            yield k

    def __getitem__(self, k):
        self.log.append("item")
        return float(k)

    def __bool__(self):
        self.log.append("bool")
        return True


def item(x, q):
    return x[q] * x[0]


def items(x, q):
    return np.sum(x[q:] * x[0])


def stored(x, q):
    x = x * 1.0
    x[q] = x[0] * 2
    return x.sum()


def item_of_a_list(x, q):
    held = [x[0], x[1], x[2]]
    held[q] = x[0] * x[2]
    return held.pop(q) * x[0]


def visited(x, q):
    s = 0.0
    for k in q:
        s = s + x[0] * k
    return s


def visited_together(x, q):
    s = 0.0
    for a, k in zip(x, q):  # noqa: B905 (it is asked for a length otherwise)
        s = s + a * k * a
    return s


def taken(x, q):
    return x[0] * x[1] if q else x[0]


@pytest.mark.parametrize(
    "function",
    [item, items, stored, item_of_a_list, visited, visited_together, taken],
)
def test_asked_once(function):
    plain, q = Asked(), Asked()
    value = function(X, plain)
    gradient = srcjax.value_and_grad(function)
    gradient(X, q)
    q.log.clear()
    assert gradient(X, q)[0] == value
    assert q.log == plain.log

    def of_x(x):
        return function(x, q)

    srcjax.jvp(of_x, (X,), (X,))
    q.log.clear()
    assert srcjax.jvp(of_x, (X,), (X,))[0] == value
    assert q.log == plain.log


def test_an_update_at_an_index_that_is_asked_twice():
    def updated(x, q):
        x = x * 1.0
        x[q] *= x[0]
        return x.sum()

    with pytest.raises(srcjax.errors.UnsupportedError, match="__index__"):
        srcjax.grad(updated)(X, Asked())
