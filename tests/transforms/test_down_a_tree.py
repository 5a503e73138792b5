"""Trees that are gone through: gradients are trees like them, tuples where these are.

A name may go down one by keys that are given: `t = t[key]` in a loop.
"""

import numpy as np
import optree
import pytest

import srcjax

DICTS = {
    "a": {"b": {"x": 2.0, "y": 3.0}, "c": {"x": 1.0, "y": 5.0}},
    "d": {"b": {"x": 7.0, "y": 8.0}, "c": {"x": 1.0, "y": 5.0}},
}
LISTS = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
TUPLES = tuple(tuple(map(tuple, part)) for part in LISTS)


def leaf(tree, path):
    t = tree
    for key in path:
        t = t[key]
    return t**2


def of_the_argument(tree, path):
    for key in path:
        tree = tree[key]
    return tree**2


def part(tree, path):
    t = tree
    for key in path:
        t = t[key]
    return t[0] * t[1] ** 2


def several(tree, paths):
    total = 0.0
    for path in paths:
        t = tree
        for key in path:
            t = t[key]
        total = total + t**2
    return total


def all_but_the_last(tree, path):
    t = tree
    for key in path[:-1]:
        t = t[key]
    return t[path[-1]] ** 2


def by_known_keys(tree):
    t = tree
    for key in ("a", "c", "y"):
        t = t[key]
    return t**2


def as_long_as(tree, path):
    t, i = tree, 0
    while i < len(path):
        t = t[path[i]]
        i += 1
    return t**2


def by_recursion(tree, path):
    def at(t, path):
        return at(t[path[0]], path[1:]) if path else t

    return at(tree, path) ** 2


def rows_together(rows):
    return sum(a * b for a, b in zip(rows[0], rows[1], strict=True))


def taken_off(t):
    items, total = list(t), 0.0
    while items:
        total = total + items.pop() ** 2
    return total


def of_rows(rows):
    doubled = []
    for row in rows:
        doubled.append([x * 2 for x in row])  # noqa: PERF401
    return sum(sum(row) ** 2 for row in doubled)


def of_columns(rows):
    return sum(a * b for a, b in list(zip(*rows, strict=True)))


def bound_again(t):
    h = t["h"]
    for _ in range(3):
        h = tuple(x * 1.5 for x in h)
    return h[0] * h[1]


CASES = [
    *[
        (f, rows, None)
        for f in (rows_together, of_rows, of_columns)
        for rows in (((1.0, 2.0), (3.0, 4.0)), [(1.0, 2.0), (3.0, 4.0)], LISTS[1])
    ],
    (rows_together, ((1.0, 2.0), [3.0, 4.0]), None),
    (taken_off, (1.0, 2.0), None),
    (bound_again, {"h": [1.0, 2.0], "z": 1.0}, None),
    (bound_again, {"h": (1.0, 2.0), "z": 1.0}, None),
    *[
        (f, tree, path)
        for f in (leaf, of_the_argument, all_but_the_last, as_long_as, by_recursion)
        for tree, path in (
            (DICTS, ("a", "c", "y")),
            (LISTS, [1, 0, 1]),
            (TUPLES, (0, 1, 0)),
            ({"a": (1.0, 2.0), "b": [3.0]}, ("a", 1)),
        )
    ],
    (leaf, DICTS["a"]["b"], ("y",)),
    (part, LISTS, (0, 1)),
    (part, TUPLES, (1, 0)),
    (several, DICTS, (("a", "b", "x"), ("d", "c", "y"), ("a", "b", "x"))),
    (several, LISTS, [(0, 0, 1), (1, 1, 0)]),
    (by_known_keys, DICTS, None),
]


@pytest.mark.parametrize(("f", "tree", "path"), CASES)
def test_the_gradient_is_a_tree_like_it(f, tree, path):
    given = () if path is None else (path,)
    leaves, structure = optree.tree_flatten(tree)
    found = srcjax.grad(f)(tree, *given)
    assert optree.tree_structure(found) == structure

    def moved(k, by):
        changed = [x + by * (i == k) for i, x in enumerate(leaves)]
        return f(optree.tree_unflatten(structure, changed), *given)

    expected = [(moved(k, 1e-6) - moved(k, -1e-6)) / 2e-6 for k in range(len(leaves))]
    np.testing.assert_allclose(
        optree.tree_leaves(found), expected, rtol=1e-6, atol=1e-8
    )
    ones = optree.tree_unflatten(structure, [1.0] * len(leaves))
    along = srcjax.jvp(lambda t: f(t, *given), (tree,), (ones,))[1]
    assert along == pytest.approx(sum(expected))
