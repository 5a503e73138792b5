"""Pytrees of arrays that are not there, and what is known of those that are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.registered import NAMESPACE
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.ops.structs import ShapeDtypeStruct

if TYPE_CHECKING:
    import optree
else:
    optree = late("optree")


def stand_ins(values: Any, fill: int = 0) -> Any:
    """The tree with an array in place of each ShapeDtypeStruct: of one item's memory.

    Args:
        fill: what all its items are.
    """

    def stand_in(leaf: Any) -> Any:
        if not isinstance(leaf, ShapeDtypeStruct):
            return leaf
        item = np.array(fill).astype(leaf.dtype)
        return np.broadcast_to(item, leaf.shape)

    return optree.tree_map(stand_in, values, none_is_leaf=True, namespace=NAMESPACE)


def structs_given(values: Any) -> Any:
    """The tree with a ShapeDtypeStruct in place of each array, or what is like one."""
    return optree.tree_map(struct_of, values, none_is_leaf=True, namespace=NAMESPACE)


def struct_of(leaf: Any) -> Any:
    """What is known of an array or of anything like one; other values themselves."""
    like = hasattr(leaf, "shape") and hasattr(leaf, "dtype")
    return ShapeDtypeStruct(leaf.shape, leaf.dtype) if like else leaf


def structs_of(value: Any) -> Any:
    """The tree with a ShapeDtypeStruct in place of each array and number."""

    def visit(leaf: Any) -> Any:
        if leaf is None:
            return None
        if is_on_device(leaf) or hasattr(leaf, "dtype"):
            return struct_of(leaf)
        if isinstance(leaf, (bool, int, float, complex)):
            return ShapeDtypeStruct((), np.result_type(leaf))
        raise ArgumentError(
            f"eval_shape: the function gives a {type(leaf).__name__}",
            instead="arrays, numbers, or pytrees of these",
        )

    return optree.tree_map(visit, value, none_is_leaf=True, namespace=NAMESPACE)
