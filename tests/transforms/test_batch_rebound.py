"""vmap: a parameter that is no batch, and is bound to one further down."""

import numpy as np
import pytest

import srcjax

X = np.array([1.0, 2.0, 3.0])


def asked_before(x, a, k):
    b = a * 2
    y = 1.0
    if b > 5:
        y = 2.0
    if k > 1:
        a = x
    return a + y


def among_items(x, a, k):
    y = 0.0
    for i in (a, 1.0):
        if i > 2:
            y += i
    if k > 1:
        a = x
    return a + y


def made_an_array(x, a, k):
    v = np.array([a, 1.0]) * np.arange(2.0)
    if k > 1:
        a = x
    return a + v.sum()


def none_among_items(x, a, b):
    pairs = [(a, b), (None, b)]
    if not any(pair for pair in pairs if None not in pair):
        a = 2 * x
    elif a and b:
        a = x * b
    return a + b


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (asked_before, (3.0, 2)),
        (asked_before, (1.0, 0)),
        (among_items, (3.0, 2)),
        (made_an_array, (3.0, 2)),
        (none_among_items, (130, 15)),
        (none_among_items, (None, 1.5)),
    ],
)
@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_bound_again(f, rest):
    found = srcjax.vmap(f, in_axes=(0, None, None))(X, *rest)
    np.testing.assert_array_equal(found, [f(x, *rest) for x in X])


def counted(x):
    items = [x, 2.0, x * x]
    return x * items.count(2.0)


def found_at(x):
    items = (x, 2.0, x * x)
    return x + items.index(2.0)


def taken_out(x):
    items = [x, 2.0, x * x]
    items.remove(2.0)
    return items[0]


def the_same_list(x):
    items = [x, 2.0]
    return 3.0 if items == [2.0, 2.0] else x


def a_smaller_tuple(x):
    return 3.0 * x if (x, 2.0) < (1.5, 1.0) else x


def without_none(x, y=None):
    items = [x, y]
    return x * items.count(None)


@pytest.mark.parametrize(
    "f",
    [counted, found_at, taken_out, the_same_list, a_smaller_tuple, without_none],
)
@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_items_looked_for(f):
    """A list or tuple compares its items, which are numbers for each example."""
    np.testing.assert_array_equal(srcjax.vmap(f)(X), [f(x) for x in X])
