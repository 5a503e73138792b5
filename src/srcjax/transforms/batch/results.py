"""Where the examples stand in what a batched function returns: `out_axes`.

out_axes=1                      return np.moveaxis(y, 0, 1)
out_axes=(0, None)              return y, w         (w is the same for all examples)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.sizes import shown
from srcjax.analysis.types import (
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    is_active,
    is_number,
    map_parts,
    parts,
    shape_of,
    with_active,
)
from srcjax.transforms.places import keyed_parts, read_part, rebuild

Refuse = Callable[[str, str], Exception]


def expected(t: Type, axes: Any, where: str, refuse: Refuse) -> Type:
    """The type of the result, mapped in each part that has an axis.

    Raises what `refuse` gives where the axes do not fit the result.
    """
    if axes is None:
        if is_active(t):
            raise refuse(
                f"vmap: out_axes is None for {where}, which is different for each "
                "example",
                "an axis for it in out_axes",
            )
        return t
    if isinstance(axes, (tuple, list, dict)):
        return expected_parts(t, axes, where, refuse)
    if keyed_parts(t):
        each = dict.fromkeys((key for key, _ in keyed_parts(t)), axes)
        return in_each_part(t, each, where, refuse)
    if parts(t):
        return with_active(as_numbers(t), True)
    shape = shape_of(t)
    if (shape is not None or is_number(t)) and not fits(axes, len(shape or ()) + 1):
        rank = len(shape or ())
        raise refuse(
            f"vmap: out_axes is {axes} for {where}, {describe(t)}",
            f"an axis from 0 to {rank}",
        )
    return with_active(t, True)


def fits(axis: int, rank: int) -> bool:
    return -rank <= axis < rank


def spell(shape: tuple) -> str:
    """A shape whose unknown sizes have a name."""
    sizes = ["batch", *(shown(n) for n in shape[1:])]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def as_numbers(t: Type) -> Type:
    """Known numbers as numbers, so that they can be mapped."""
    return map_parts(t, as_numbers)


def expected_parts(t: Type, axes: Any, where: str, refuse: Refuse) -> Type:
    """Axes for each part of a container."""
    keys = axes.keys() if isinstance(axes, dict) else range(len(axes))
    own = [key for key, _ in keyed_parts(t)]
    alike = isinstance(t, Dict) == isinstance(axes, dict)
    known = isinstance(t, (Tuple, List, Dict)) and getattr(t, "items", None) is not None
    if known and alike and set(own) == set(keys):
        each = dict(axes) if isinstance(axes, dict) else dict(enumerate(axes))
        return in_each_part(t, each, where, refuse)
    if not known and not isinstance(t, (Const, Object)) and shape_of(t) is None:
        return with_active(t, True)  # looked at when it runs
    raise refuse(
        f"vmap: out_axes is {axes!r} for {where}, which is {describe(t)}",
        "one int, or axes of the same structure as the result",
    )


def in_each_part(t: Type, axes: dict, where: str, refuse: Refuse) -> Type:
    found = iter(
        [
            expected(part, axes[key], f"{where}{place(t, key)}", refuse)
            for key, part in keyed_parts(t)
        ]
    )
    return map_parts(t, lambda _: next(found))


def place(t: Type, key: Any) -> str:
    return f".{key}" if isinstance(t, Object) else f"[{key!r}]"


def describe(t: Type) -> str:
    """A type in few words, for an error."""
    if isinstance(t, Dict):
        return f"a dict with the keys {[key for key, _ in t.items or ()]!r}"
    if isinstance(t, (Tuple, List)):
        kind = "tuple" if isinstance(t, Tuple) or t.cls is tuple else "list"
        return f"a {kind} of {len(t.items or ())}"
    if isinstance(t, Object):
        return f"a {getattr(t.cls, '__name__', 'object')}"
    shape = shape_of(t)
    return f"a batch of shape {spell((None, *(shape or ())))}"


def with_axes(value: gast.expr, t: Type, axes: Any) -> gast.expr:
    """The result with its examples along `axes`."""
    if all(axis in (0, None) for axis in leaves(axes)):
        return value
    shape = shape_of(t)
    if isinstance(axes, int) and (shape is not None or is_number(t)):
        rank = len(shape or ()) + 1
        if axes % rank == 0:
            return value
        text = "y.T" if rank == 2 else "np.moveaxis(y, 0, a)"
        return syntax.expression(text, y=value, a=literal(axes))
    shown = isinstance(value, (gast.Tuple, gast.List, gast.Dict))
    named = isinstance(value, gast.Name) and not isinstance(t, Object)
    keys = [key for key, _ in keyed_parts(t)]
    if not keys or not (shown or named):
        return syntax.call("move_axes", value, syntax.const(0), literal(axes))
    items = [read_part(t, value, key) for key in keys]
    if shown:
        items = list(value.values if isinstance(value, gast.Dict) else value.elts)
    if not isinstance(axes, (tuple, list, dict)):
        axes = dict.fromkeys(keys, axes)
    made = [
        with_axes(item, part, axes[key])
        for item, (key, part) in zip(items, keyed_parts(t), strict=True)
    ]
    if getattr(t, "cls", None) not in (None, tuple, list, dict):
        return syntax.call("move_axes", value, syntax.const(0), literal(axes))
    return rebuild(t, made)


def leaves(axes: Any) -> list[Any]:
    if isinstance(axes, dict):
        return [leaf for each in axes.values() for leaf in leaves(each)]
    if isinstance(axes, (tuple, list)):
        return [leaf for each in axes for leaf in leaves(each)]
    return [axes]


def literal(value: Any) -> gast.expr:
    return syntax.expression(repr(value))


__all__ = ["expected", "leaves", "with_axes"]
