"""`eval_shape`: what a function gives, without computing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.registered import NAMESPACE
from srcjax.api.compiled import Jit
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.late import late
from srcjax.ops.structs import ShapeDtypeStruct

if TYPE_CHECKING:
    import optree

    from srcjax import pipeline
    from srcjax.analysis import types as ty
    from srcjax.versions import tree
else:
    optree = late("optree")
    pipeline = late("srcjax.pipeline")
    ty = late("srcjax.analysis.types")
    tree = late("srcjax.versions.tree")


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


def eval_shape(fun: Callable, *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what a function gives.

    They are inferred from its text. Where that does not tell, the function runs twice,
    with zeros and with ones in place of what is told by its shape alone.

    Args:
        fun: a Python function of NumPy values, or what a transform made of one.
        *args: its arguments: arrays, numbers, anything with a `shape` and a `dtype`
            (`ShapeDtypeStruct`), or pytrees of these.
        **kwargs: the same, by name.

    Returns:
        What `fun` gives, with a ShapeDtypeStruct in place of each array and number.

    Raises:
        ArgumentError: the shapes depend on the values of the arguments.
    """
    given = structs_given((args, kwargs))
    inferred = inferred_result(fun, *stand_ins(given))
    if inferred is not None:
        try:
            return structs_of_type(inferred)
        except Untold:
            pass
    zeros, ones = (
        structs_of(fun(*some, **more))
        for some, more in (stand_ins(given, 0), stand_ins(given, 1))
    )
    if zeros != ones:
        name = getattr(fun, "__name__", "the function")
        raise ArgumentError(
            f"eval_shape: what {name} gives has a shape that depends on values",
            instead="a function whose shapes follow from those of its arguments",
        )
    return zeros


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


def inferred_result(fun: Callable, args: tuple, kwargs: dict) -> ty.Type | None:
    """The type of what the function gives; None where it cannot be read."""
    transform = Jit(fun)
    try:
        values = transform.bind(args, kwargs)
        types = [
            tree.argument_type(value, name, False)
            for name, value in zip(transform.parameters, values, strict=True)
        ]
        program, _ = pipeline.at_run_time(transform.request(types))
    except ArgumentError:
        raise
    except SrcjaxError:
        return None
    return program.facts.results.get(program.entry)


class Untold(Exception):
    """A type does not tell a shape or a dtype."""


def structs_of_type(t: ty.Type) -> Any:
    """The tree with a ShapeDtypeStruct for each array and number. Raises Untold."""
    if isinstance(t, ty.Const):
        return structs_of(t.value)
    if isinstance(t, (ty.Array, ty.Scalar)):
        shape = ty.shape_of(t)
        if t.dtype is None or shape is None:
            raise Untold
        if not all(isinstance(n, int) for n in shape):
            raise Untold
        return ShapeDtypeStruct(shape, t.dtype)
    items = getattr(t, "items", None)
    if items is None or isinstance(t, ty.Object):
        raise Untold
    if isinstance(t, ty.Dict):
        return {key: structs_of_type(part) for key, part in items}
    found = [structs_of_type(part) for part in items]
    if isinstance(t, ty.Tuple):
        return tuple(found) if t.cls is None else t.cls(*found)
    if isinstance(t, ty.List) and t.cls in (list, tuple):
        return t.cls(found)
    raise Untold


__all__ = ["eval_shape"]
