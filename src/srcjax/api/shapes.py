"""`eval_shape`: what a function gives, without computing it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srcjax.api.compiled import Jit
from srcjax.api.structures import stand_ins, structs_given, structs_of
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.late import late
from srcjax.ops.structs import ShapeDtypeStruct

if TYPE_CHECKING:
    from srcjax import pipeline
    from srcjax.analysis import types as ty
    from srcjax.versions import tree
else:
    pipeline = late("srcjax.pipeline")
    ty = late("srcjax.analysis.types")
    tree = late("srcjax.versions.tree")


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
        if t.cls is defaultdict:  # its type does not tell what it makes
            raise Untold
        made_of: Any = t.cls
        return made_of((key, structs_of_type(part)) for key, part in items)
    found = [structs_of_type(part) for part in items]
    if isinstance(t, ty.Tuple):
        return tuple(found) if t.cls is None else t.cls(*found)
    if isinstance(t, ty.List) and t.cls in (list, tuple):
        return t.cls(found)
    raise Untold


__all__ = ["eval_shape"]
