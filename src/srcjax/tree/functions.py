"""What `srcjax.tree` and `srcjax.tree_util` have: optree's functions by JAX's names.

None is an empty node, dicts go by their sorted keys, an `OrderedDict` by its own order;
lists, tuples, namedtuples, `deque`, `defaultdict` and registered classes are nodes, and
all else is a leaf: a dataclass that is not registered too.

Inside transformed functions a call is written out where the structure is known:
`tree.map(f, {"w": w, "b": b})` is `{"w": f(w), "b": f(b)}` there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import optree

from srcjax.analysis.registered import NAMESPACE
from srcjax.analysis.structural import structural
from srcjax.tree.paths import key_of

PyTreeDef = optree.PyTreeSpec
IsLeaf = Callable[[Any], bool] | None
_UNSET: Any = object()


@structural("append", calls=True)
def tree_map(f: Callable, tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree of `f(leaf, *others)`: the others are what the other trees have there.

    Args:
        f: a function of as many values as there are trees.
        tree: its structure is that of the result.
        *rest: trees of the same structure, or with a tree where `tree` has a leaf.
        is_leaf: what it is true of is a leaf, whatever it is.

    Raises:
        ValueError: the structures differ.
    """
    return optree.tree_map(f, tree, *rest, is_leaf=is_leaf, namespace=NAMESPACE)


@structural("extend")
def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list:
    """The leaves, in order."""
    return optree.tree_leaves(tree, is_leaf=is_leaf, namespace=NAMESPACE)


@structural()
def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The tree without its leaves: it can be compared, and given leaves again."""
    return optree.tree_structure(tree, is_leaf=is_leaf, namespace=NAMESPACE)


@structural()
def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list, PyTreeDef]:
    """The leaves, and the structure."""
    leaves, structure = optree.tree_flatten(tree, is_leaf=is_leaf, namespace=NAMESPACE)
    return leaves, structure


@structural()
def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of the structure with these leaves.

    Raises:
        ValueError: there are more leaves than places for them, or fewer.
    """
    return optree.tree_unflatten(treedef, leaves)


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _UNSET,
    is_leaf: IsLeaf = None,
) -> Any:
    """The leaves folded from the left: `function(function(a, b), c)`.

    Raises:
        TypeError: there is no leaf, and no initializer.
    """
    if initializer is _UNSET:
        return functools.reduce(function, tree_leaves(tree, is_leaf))
    return functools.reduce(function, tree_leaves(tree, is_leaf), initializer)


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


@structural()
def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """A tree of trees with the two structures swapped: a list of dicts as a dict of
    lists. Without an inner structure it is that of the first of the inner trees.

    Raises:
        ValueError: the tree has not these structures.
    """
    if inner_treedef is None:
        inner_treedef = tree_structure(
            outer_treedef.flatten_up_to(pytree_to_transpose)[0]
        )
    return optree.tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose)


@structural()
def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None
) -> tuple[list[tuple[tuple, Any]], PyTreeDef]:
    """Pairs of a path and the leaf there, and the structure. A path is a tuple of keys
    (`DictKey`, `SequenceKey`, `GetAttrKey`, `FlattenedIndexKey`); see `keystr`.
    """
    accessors, leaves, structure = optree.tree_flatten_with_accessor(
        tree, is_leaf=is_leaf, namespace=NAMESPACE
    )
    paths = [tuple(key_of(entry) for entry in accessor) for accessor in accessors]
    return list(zip(paths, leaves, strict=True)), structure


@structural()
def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[tuple, Any]]:
    """Pairs of a path and the leaf there."""
    return tree_flatten_with_path(tree, is_leaf)[0]


@structural(calls=True)
def tree_map_with_path(
    f: Callable, tree: Any, *rest: Any, is_leaf: IsLeaf = None
) -> Any:
    """As `tree_map`, of `f(path, leaf, *others)`."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    others = [structure.flatten_up_to(other) for other in rest]
    made = [f(*pair, *more) for pair, *more in zip(pairs, *others, strict=True)]
    return tree_unflatten(structure, made)


@structural()
def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """The leaves of a prefix of the tree, each at all the leaves of its part of it."""
    return optree.tree_broadcast_prefix(
        prefix_tree, full_tree, is_leaf=is_leaf, namespace=NAMESPACE
    )


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether all items are leaves."""
    return optree.all_leaves(iterable, is_leaf=is_leaf, namespace=NAMESPACE)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is that of one leaf."""
    return treedef.is_leaf(strict=True)


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees."""
    return optree.treespec_tuple(treedefs, namespace=NAMESPACE)
