"""Branches of a batch: items of the examples that take them, and `np.where`."""

import numpy as np
import pytest

import srcjax

X = np.array([[1.0, 2.0, -3.0, 0.5], [-0.5, 0.7, 0.3, 2.0], [3.0, 2.0, 1.0, -1.0]])


def relu(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] if x[i] > 0 else 0.1 * x[i]
    return np.sum(out**2)


def stores(x):
    out = np.zeros_like(x)
    for i in range(len(x) - 1):
        if x[i] > 0.6:
            out[i + 1] = np.exp(x[i])
        elif x[i] < -0.6:
            out[i] += np.log(-x[i])
    return np.sum(out * x)


def bubble_sort(x):
    y = x.copy()
    for i in range(len(y)):
        for j in range(len(y) - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y[0] + 2 * y[1] ** 2


def out_of_reach(x):
    """`x[i + 1]` is there where a branch reads it, and not for the last `i`."""
    total = 0.0
    for i in range(len(x)):
        if i + 1 < len(x) and x[i] > 0:
            total += np.sqrt(x[i]) * x[i + 1]
    return total


def part_that_is_a_view(x):
    y = x.copy()
    if x[0] > 0:
        part = y[1:3]
        y[1] = np.exp(x[0])
        y[0] = part[0] * 2
    return np.sum(y * x)


def part_that_is_read(x):
    if x[0] > 0:
        return np.sum(np.sqrt(np.abs(x[1:3])))
    return x[0] / x[1]


def two_names(x):
    y = x.copy()
    z = y
    if x[0] > 0:
        y[0] = np.exp(x[1])
        z[1] += y[0]
    return np.sum(z * x)


def branches_in_branches(x):
    y = x.copy()
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = np.sqrt(x[i])
            if x[i] > 1:
                y[i] += y[i - 1] / 3
    return np.sum(y)


def own_index(x):
    k = 0
    count = np.zeros(len(x))
    while x[k] > 0 and k < len(x) - 1:
        count[k] = np.log(x[k] + 1)
        k += 1
    return np.sum(count * x)


def rows(x):
    table = np.zeros((len(x), 2))
    for i in range(len(x)):
        if x[i] > 0:
            table[i] = np.array([x[i], np.sqrt(x[i])])
            table[i, 1] *= x[0]
    return np.sum(table[:, 0] * table[:, 1])


def chosen_in_turn(x):
    y = x[0]
    if y > 0:
        y = y * 2
        if y > 3:
            y = y - 1.0
            z = y
        else:
            z = 3.0
    else:
        z = y + 1
    return y * z


def one_of_three(x):
    y = np.sin(x) if x[0] > 2 else x * 2.0 if x[0] < 0 else np.tanh(x)
    return np.sum(y * y)


def pairs(x):
    a, b = (x, x * 2) if x[0] > 0 else (np.sin(x), x)
    return np.sum(a * b)


def read_and_moved_on(x):
    """`x[i]` after `i` has become another number is no item that all have read."""
    i = len(x) - 1
    y = x[i]
    if y > 0:
        i = i + 1 if x[0] > 1.5 else i - 1
        y = x[i % len(x)] * x[i - 1]
    return y


def asked_of_all(x):
    """A test that is one for all examples, in a branch that is not."""
    y, z = 2 * x[0], x[1] - 1
    for k in range(3):
        if y > 0:
            if k < 1:
                y = y * 2
            else:
                z = y * 3
        else:
            y = y + 1
    return y * z


def two_of_two(x):
    y, z = x[0], x[1]
    if y > 0:
        if z > 1:
            y = y * 2
        z = z + y
    elif z > 0:
        y = y - 1
        if y < -1:
            z = -y
    else:
        z = y
    return y * z


FUNCTIONS = [
    relu,
    stores,
    bubble_sort,
    out_of_reach,
    part_that_is_a_view,
    part_that_is_read,
    two_names,
    branches_in_branches,
    own_index,
    rows,
    chosen_in_turn,
    one_of_three,
    pairs,
    read_and_moved_on,
    asked_of_all,
    two_of_two,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_in_a_loop(function):
    np.testing.assert_allclose(srcjax.vmap(function)(X), [function(x) for x in X])
    gradient = srcjax.grad(function)
    expected = [gradient(x) for x in X]
    np.testing.assert_allclose(srcjax.vmap(gradient)(X), expected)

    def total(xs):
        return np.sum(srcjax.vmap(function)(xs))

    np.testing.assert_allclose(srcjax.grad(total)(X), expected)


def text(function):
    return srcjax.source(srcjax.vmap(function), X)


def test_items_are_reached_where_they_are():
    assert "out[taken, i + 1] = np.exp(x_i[taken])" in text(stores)
    assert "y[taken, j] = y[taken, j + 1]" in text(bubble_sort)


def test_short_branches_are_where():
    found = text(relu)
    assert "out[:, i] = np.where(x[:, i] > 0, x[:, i], 0.1 * x[:, i])" in found
    for function in (one_of_three, pairs, chosen_in_turn):
        assert "taken.any()" not in text(function)
        assert "np.where(" in text(function)


def counts_in_a_dict(x):
    state = {"x": x, "t": 0.0}
    while state["t"] < 0.25:
        state["x"] = state["x"] * 2
        state["t"] += 0.1
    return state["x"] * state["t"]


def counts_in_a_list(x):
    state, same = [x, 0], []
    same.append(state)
    while same[0][-1] < 3:
        state[0] = state[0] + state[-1]
        state[-1] += 1
    return state[0] * state[1]


@pytest.mark.parametrize("f", [counts_in_a_dict, counts_in_a_list])
def test_an_item_that_does_not_differ_stays_one(f):
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(srcjax.vmap(f)(x), [f(1.0), f(2.0)])
