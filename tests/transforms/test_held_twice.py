"""Lists that hold the same list, dict or array in two places."""

import itertools

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from srcjax.testing import check_grads

X = np.array([0.9, 0.7, 1.2])


def weighed(xs):
    return sum(
        v**2 * (i + 1) * (j + 2) for i, row in enumerate(xs) for j, v in enumerate(row)
    )


def doubled(a, b):
    found = []
    for row in a:
        found.append(row)
    for row in b:
        found.append(row)
    return found


def joined_with_an_item(x):
    xs = [[x[0]], [x[1], x[2]]]
    for _ in range(2):
        xs = xs + [xs[0]]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def joined_with_a_part(x):
    xs = [x[:1] * 1.0, x[1:] * 2.0]
    if x[0] > 0:
        xs.extend(xs[:1])
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def added_to_itself(x):
    xs = [[x[0]], [x[1], x[2]]]
    xs += xs[:1]
    xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def put_in_place_of_a_part(x):
    xs = [[x[0]], [x[1], x[2]]]
    xs[1:] = xs[:1]
    xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def starred_twice(x):
    xs = [[x[0]], [x[1], x[2]]]
    if x[0] > 0:
        xs = [*xs, *xs]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def given_twice(x):
    xs = [[x[0]], [x[1], x[2]]]
    if x[0] > 0:
        xs = doubled(xs, xs)
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def chained_twice(x):
    xs = [x[:1] * 1.0, x[1:] * 2.0]
    if x[0] > 0:
        xs = list(itertools.chain(xs, xs))
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def dicts_twice(x):
    xs = [{"a": x[0]}, {"a": x[1]}]
    for _ in range(2):
        xs = xs + [xs[0]]
        xs[0]["a"] = xs[0]["a"] * x[1]
    return sum(d["a"] ** 2 * (i + 1) for i, d in enumerate(xs))


@pytest.mark.parametrize(
    "f",
    [
        joined_with_an_item,
        joined_with_a_part,
        added_to_itself,
        put_in_place_of_a_part,
        starred_twice,
        given_twice,
        chained_twice,
        dicts_twice,
    ],
)
def test_writes_to_what_a_list_holds_twice_are_refused(f):
    with pytest.raises(UnsupportedError):
        srcjax.source(srcjax.grad(f), X)
    check_grads(f, (X,), modes=("fwd",), order=1)


def written_before(x):
    xs = [[x[0]], [x[1], x[2]]]
    if x[0] > 9:
        xs = [[x[0]], [x[1], x[2]]]
    else:
        row = xs[0]
        row.append(xs[1][0] * x[1])
        xs = [row, xs[1], row]
    return weighed(xs)


def another_is_held_twice(x):
    xs = [[x[0]], [x[1], x[2]]]
    if x[0] > 0:
        xs = [row for row in xs] + xs[1:]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def joined_with_new_ones(x):
    xs = [[x[0]], [x[1], x[2]]]
    for _ in range(2):
        xs = xs + [[x[0] * xs[0][0]]]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def joined_with_copies(x):
    xs = [x[:1] * 1.0, x[1:] * 2.0]
    for _ in range(2):
        xs = xs + [xs[0].copy()]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def turned_round(x):
    xs = [[x[0]], [x[1], x[2]]]
    for _ in range(3):
        xs = xs[1:] + xs[:1]
        xs[0][0] = xs[0][0] * x[1]
    return weighed(xs)


def only_read(x):
    row = [x[0], x[1]]
    xs = [row, [x[2]], row]
    if x[0] > 9:
        xs = [row]
    return weighed(xs)


def extended_by_itself(x):
    xs = [x[0], x[1]]
    for _ in range(2):
        xs.extend(xs)
    return sum(v**2 * (i + 1) for i, v in enumerate(xs))


def dict_of_a_new_dict(x):
    xs = [{"a": x[0]}, {"a": x[1]}]
    if x[0] > 0:
        xs = xs + [dict(xs[0])]
        xs[-1]["a"] = xs[0]["a"] * x[2]
    return sum(d["a"] ** 2 * (i + 1) for i, d in enumerate(xs))


@pytest.mark.parametrize(
    "f",
    [
        written_before,
        another_is_held_twice,
        joined_with_new_ones,
        joined_with_copies,
        turned_round,
        only_read,
        extended_by_itself,
        dict_of_a_new_dict,
    ],
)
def test_what_has_a_place_of_its_own_is_differentiated(f):
    check_grads(f, (X,), order=1)
