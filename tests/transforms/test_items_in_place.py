"""Arrays in containers that are written in place: one adjoint for each, or refused."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from tests.corpus.harness import differences

X = np.array([0.7, 1.3, 0.4])


@dataclass
class Body:
    pos: Any
    vel: Any


class Pair(NamedTuple):
    first: Any
    second: Any


def bodies_in_a_list(x):
    bodies = [Body(x * 1.0, x**2), Body(x + 1.0, x**3)]
    for _ in range(2):
        for b in bodies:
            b.vel += b.pos * x
        for i in range(2):
            bodies[i].pos += 0.1 * bodies[i].vel
    return sum(b.pos @ b.vel for b in bodies)


def dicts_in_a_list(x):
    bodies = [{"p": x * 1.0, "v": x**2}, {"p": x * 2.0, "v": x**3}]
    for b in bodies:
        b["v"] += b["p"] * x
        b["p"] += b["v"]
    return sum(b["v"] @ b["p"] for b in bodies)


def lists_in_a_list(x):
    rows = [[x * 1.0, 1], [x**2, 2]]
    for r in rows:
        r[0][1:] = x[1:] * x[0]
    return sum(np.sum(r[0] ** 2) for r in rows)


@pytest.mark.parametrize("f", [bodies_in_a_list, dicts_in_a_list, lists_in_a_list])
def test_gradient(f):
    np.testing.assert_allclose(
        srcjax.grad(f)(X), differences(f, (X,), (0,))[0], rtol=1e-5
    )


def one_array_appended_again_and_again(x):
    v = x * 1.0
    rows = []
    for _ in range(len(x)):
        rows.append(v)
    for r in rows:
        r += x * x
    return sum(np.sum(r**2) for r in rows)


def one_array_in_two_fields(x):
    v = x * 1.0
    bodies = [Body(v, v)]
    for b in bodies:
        b.vel += x
    return bodies[0].pos @ x


def item_replaced_before_it_is_written(x):
    rows = [x * 1.0, x * 2]
    r = rows[0]
    rows[0] = x**2
    r *= x
    return np.sum(rows[0] * rows[1] * r)


def index_changed_before_the_item_is_written(x):
    rows = [x * 1.0, x * 2, x**3]
    i = 0
    while i < 2:
        r = rows[i]
        i += 1
        r *= x
    return np.sum(rows[0] * rows[1])


def row_chosen_in_an_earlier_iteration(x):
    a = np.outer(x, x)
    for i in range(3):
        if x[i] > 1.0:
            best = a[i]
    best *= x
    return np.sum(a * a)


@pytest.mark.parametrize(
    "f, reason",
    [
        (one_array_appended_again_and_again, "`rows` may hold .* more than once"),
        (index_changed_before_the_item_is_written, "`i` changes before `r` is used"),
    ],
)
def test_refused(f, reason):
    with pytest.raises(UnsupportedError, match=reason):
        srcjax.grad(f)(X)


@pytest.mark.parametrize(
    "f",
    [
        one_array_in_two_fields,
        item_replaced_before_it_is_written,
        row_chosen_in_an_earlier_iteration,
    ],
    ids=lambda f: f.__name__,
)
def test_adjoints_of_views_that_changed_since(f):
    np.testing.assert_allclose(
        srcjax.grad(f)(X), differences(f, (X,), (0,))[0], rtol=1e-5
    )


def read_after_the_index_has_changed(x):
    a = np.outer(x, x)
    a[0] = x * x[0]
    i, total = 0, 0.0
    while i < 2:
        row = a[i]
        i += 1
        total = total + row @ x
    return total


def test_a_view_that_is_only_read_has_an_adjoint_of_its_own():
    f = read_after_the_index_has_changed
    np.testing.assert_allclose(
        srcjax.grad(f)(X), differences(f, (X,), (0,))[0], rtol=1e-5
    )


def array_in_a_repeated_list(x):
    rows = [x * 1.0] * 3
    rows[0] *= x
    rows[1] += x**2
    return np.sum(rows[2])


def array_in_a_joined_list(x):
    rows = [x * 1.0] + [x + 2.0]
    rows[0] *= x
    return np.sum(rows[0] * x * rows[1])


def array_in_a_named_tuple(x):
    pair = Pair(x * 1.0, 2.0)
    first = pair.first
    first *= x
    return np.sum(pair.first * x)


@pytest.mark.parametrize(
    "f",
    [array_in_a_repeated_list, array_in_a_joined_list, array_in_a_named_tuple],
)
def test_tangents_are_shared_as_the_values_are(f):
    x, x_dot = X.copy(), np.array([0.3, -1.0, 0.6])
    _, found = srcjax.jvp(f, (x,), (x_dot,))
    expected = differences(f, (X,), (0,))[0] @ np.array([0.3, -1.0, 0.6])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_array_equal(x_dot, [0.3, -1.0, 0.6])
