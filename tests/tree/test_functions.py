"""`srcjax.tree` and `srcjax.tree_util` do to trees what JAX's functions do."""

import subprocess
import sys
from collections import OrderedDict, defaultdict, namedtuple

import jax
import pytest

from srcjax import tree, tree_util

Point = namedtuple("Point", "x y")
MIXED = {
    "b": [1, (2, None), ()],
    "a": Point(3, OrderedDict(z=4, c=5)),
    "d": defaultdict(list, {"q": 7, "e": 8}),
}


def test_leaves_and_structure():
    assert tree.leaves(MIXED) == jax.tree.leaves(MIXED)
    leaves, structure = tree.flatten(MIXED)
    assert structure == tree.structure(MIXED)
    assert structure.num_leaves == jax.tree.structure(MIXED).num_leaves
    assert tree.unflatten(structure, leaves) == MIXED
    with pytest.raises(ValueError):
        tree.unflatten(structure, leaves[:-1])


def test_map():
    def f(x, y):
        return x - 2 * y

    ours, theirs = (t.map(f, MIXED, MIXED) for t in (tree, jax.tree))
    assert ours == theirs
    assert type(ours["a"]) is Point and type(ours["d"]) is defaultdict
    pairs = [(1, 2), (3, 4)]
    assert tree.map(sum, pairs, is_leaf=lambda x: isinstance(x, tuple)) == [3, 7]
    assert tree.map(lambda x, y: (x, y), 1, [2]) == (1, [2])
    with pytest.raises(ValueError):
        tree.map(f, {"a": 1}, {"b": 1})


def test_reduce_all_and_broadcast():
    assert tree.reduce(lambda a, b: a - b, [1, (2, 3)]) == -4
    assert tree.reduce(lambda a, b: a - b, [1, (2, 3)], 10) == 4
    with pytest.raises(TypeError):
        tree.reduce(max, [])
    assert tree.all([True, {"a": True}]) and not tree.all([1, (0,)])
    full = {"a": [0, 0], "b": (0,)}
    prefix = {"a": 1, "b": 2}
    assert tree.broadcast(prefix, full) == jax.tree.broadcast(prefix, full)


def test_transpose():
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": 0})
    for given in (inner, None):
        assert tree.transpose(outer, given, rows) == {"a": [1, 3], "b": [2, 4]}


def test_paths():
    ours, theirs = tree_util, jax.tree_util
    for text in ({}, {"simple": True, "separator": "/"}):
        found, expected = (
            [t.keystr(path, **text) for path, _ in t.tree_leaves_with_path(MIXED)]
            for t in (ours, theirs)
        )
        assert found == expected
    pairs, structure = tree.flatten_with_path(MIXED)
    assert structure == tree.structure(MIXED)
    assert [leaf for _, leaf in pairs] == tree.leaves(MIXED)
    assert pairs[0][0] == (tree_util.DictKey("a"), tree_util.GetAttrKey("x"))
    shown = tree.map_with_path(lambda p, x, y: (len(p), x + y), [1, (2,)], [3, (4,)])
    assert shown == [(1, 4), ((2, 6),)]


def test_structures():
    structure = tree.structure((1, [2]))
    children = tree_util.treedef_children(structure)
    assert children == [tree.structure(0), tree.structure([0])]
    assert tree_util.treedef_tuple(children) == structure
    assert tree_util.treedef_is_leaf(children[0])
    assert not tree_util.treedef_is_leaf(children[1])
    assert tree_util.all_leaves([1, 2]) and not tree_util.all_leaves([1, []])


def test_partial():
    add = tree_util.Partial(lambda a, b, c: a + b + c, 1, c=3)
    assert add(2) == 6 and tree.leaves(add) == [1, 3]
    assert tree.map(lambda x: 10 * x, add)(2) == 42


def test_names_are_those_of_jax():
    assert not set(tree.__all__) - set(dir(jax.tree))
    assert not set(tree_util.__all__) - set(dir(jax.tree_util)) - {"tree_broadcast"}


def test_importing_srcjax_leaves_trees_alone():
    text = "import sys, srcjax; assert not {'optree', 'srcjax.tree'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
