"""What the text of a function says of its parameters: `x[i, j]` has two axes.

It is a guess for readers (`versions.supposed`): nothing that is computed rests on it.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.errors import SrcjaxError
from srcjax.frontend.read import FunctionSource, read
from srcjax.ops.record import PROPERTIES

#: Functions that are called, and those that they call, are looked into so deep.
DEPTH = 3


@dataclass
class Uses:
    """What the text of a function says of one of its parameters."""

    least_rank: int = 0
    whole: bool = False
    #: The names that it is unpacked into, and those that each of its items is.
    parts: list[str] = field(default_factory=list)
    parts_of_items: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    #: Names that are each of its items, or keys, in turn.
    items: set[str] = field(default_factory=set)
    #: It is something else than numbers.
    other: bool = False

    def take(self, other: Uses) -> None:
        """What another function does with it that it is handed to."""
        self.least_rank = max(self.least_rank, other.least_rank)
        self.whole |= other.whole
        self.other |= other.other
        self.parts = self.parts or other.parts
        self.parts_of_items = self.parts_of_items or other.parts_of_items
        self.keys += [key for key in other.keys if key not in self.keys]


def parameters_of(node: Any) -> list[str]:
    """The names of the parameters, but for `*args` and `**kwargs`."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.id for a in named]


def uses_of(source: FunctionSource, depth: int = DEPTH) -> dict[str, Uses]:
    """What the function does with each parameter, as far as its text says."""
    uses = {name: Uses() for name in parameters_of(source.node)}
    for sub in syntax.walk(source.node):
        use = _USES.get(type(sub))
        if use is not None:
            use(sub, uses)
        if isinstance(sub, gast.Call) and isinstance(sub.func, gast.Name) and depth:
            _handed_over(sub, uses, source, depth)
    return uses


def _handed_over(
    call: Any, uses: dict[str, Uses], source: FunctionSource, depth: int
) -> None:
    """What a function of the user's does with the parameters that it is called with."""
    given = {k: a for k, a in enumerate(call.args) if _known(a, uses)}
    if not given or call.func.id in uses:
        return
    try:
        function = source.resolve(call.func.id)
        if not isinstance(function, pytypes.FunctionType):
            return
        inner = read(function)
    except (KeyError, SrcjaxError):
        return
    names = parameters_of(inner.node)
    theirs = uses_of(inner, depth - 1)
    for k, argument in given.items():
        if k < len(names):
            _of(argument, uses).take(theirs[names[k]])


def _of(node: Any, uses: dict[str, Uses]) -> Uses:
    """The uses of the parameter, or of none."""
    return uses.get(node.id, Uses()) if isinstance(node, gast.Name) else Uses()


def _known(node: Any, uses: dict[str, Uses]) -> bool:
    return isinstance(node, gast.Name) and node.id in uses


def _at_least(node: Any, rank: int, uses: dict[str, Uses]) -> None:
    found = _of(node, uses)
    found.least_rank = max(found.least_rank, rank)


def _subscript(node: Any, uses: dict[str, Uses]) -> None:
    place = node.slice
    base = node.value.value if _is_property(node.value) else node.value  # `x.at[i]`
    of = _of(base, uses)
    if isinstance(place, gast.Constant) and isinstance(place.value, str):
        if place.value not in of.keys:
            of.keys.append(place.value)
        return
    if getattr(place, "id", "") in of.items:
        of.other = True  # a dict, of which those are the keys
        return
    indices = place.elts if isinstance(place, gast.Tuple) else [place]
    plain = [k for k in indices if not _is_new_axis(k)]
    _at_least(base, len(plain), uses)
    for index in indices:
        bounds = [index]
        if isinstance(index, gast.Slice):
            bounds = [index.lower, index.upper, index.step]
        for bound in bounds:
            _counts(bound, uses)
    shape = node.value if isinstance(node.value, gast.Attribute) else None
    axis = getattr(place, "value", None)
    if shape is not None and shape.attr == "shape" and type(axis) is int:
        _at_least(shape.value, max(axis + 1, -axis), uses)


def _is_property(node: Any) -> bool:
    """Whether it is an attribute that arrays have in transformed functions."""
    return isinstance(node, gast.Attribute) and node.attr in PROPERTIES


def _counts(node: Any, uses: dict[str, Uses]) -> None:
    """What `i + k` is made of are whole numbers."""
    if isinstance(node, gast.BinOp):
        _counts(node.left, uses)
        _counts(node.right, uses)
    elif isinstance(node, gast.UnaryOp):
        _counts(node.operand, uses)
    else:
        _of(node, uses).whole = True


def _is_new_axis(index: Any) -> bool:
    if isinstance(index, gast.Constant):
        return index.value is None or index.value is ...
    return syntax.dotted(index) in ("np.newaxis", "numpy.newaxis")


def _call(node: Any, uses: dict[str, Uses]) -> None:
    _of(node.func, uses).other = True
    name = syntax.dotted(node.func)
    if name in ("isinstance", "callable", "getattr", "hasattr") and node.args:
        _of(node.args[0], uses).other = True
    for argument in node.args:
        if name == "range":
            _counts(argument, uses)
        elif name in ("len", "enumerate", "zip", "reversed", "np.dot", "np.matmul"):
            _at_least(argument, 1, uses)


def _product(node: Any, uses: dict[str, Uses]) -> None:
    if isinstance(node.op, gast.MatMult):
        _at_least(node.left, 1, uses)
        _at_least(node.right, 1, uses)


def _attribute(node: Any, uses: dict[str, Uses]) -> None:
    if not hasattr(np.ndarray, node.attr) and not _is_property(node):
        _of(node.value, uses).other = True
    if node.attr == "T":
        _at_least(node.value, 2, uses)


def _loop(node: Any, uses: dict[str, Uses]) -> None:
    over, target = node.iter, node.target
    if isinstance(over, gast.Call) and syntax.dotted(over.func) == "enumerate":
        over = over.args[0]
        target = target.elts[1] if isinstance(target, gast.Tuple) else target
    if isinstance(over, gast.Subscript) and isinstance(over.slice, gast.Slice):
        over = over.value
    _at_least(over, 1, uses)
    if isinstance(target, (gast.Tuple, gast.List)):
        _of(over, uses).parts_of_items = _names_of_parts(target)
    elif over is node.iter:
        _of(over, uses).items.add(getattr(target, "id", ""))


def _names_of_parts(target: Any) -> list[str]:
    """What the items of a display of targets are called, "" for what is no name."""
    return [getattr(t, "id", "") for t in target.elts]


def _compared(node: Any, uses: dict[str, Uses]) -> None:
    sides = [node.left, *node.comparators]
    for side in sides:
        values = [v for v in getattr(side, "elts", [side]) if type(v) is gast.Constant]
        if any(v.value is None or isinstance(v.value, str) for v in values):
            for other in sides:
                _of(other, uses).other = True


def _assigned(node: Any, uses: dict[str, Uses]) -> None:
    value = node.value
    for target in node.targets:
        if not isinstance(target, (gast.Tuple, gast.List)):
            continue
        _of(value, uses).parts = _names_of_parts(target)
        if isinstance(value, gast.Attribute) and value.attr == "shape":
            _at_least(value.value, len(target.elts), uses)
        if isinstance(value, gast.Subscript) and not _is_part(value):
            _of(value.value, uses).parts_of_items = _names_of_parts(target)


def _is_part(node: Any) -> bool:
    return isinstance(node.slice, (gast.Slice, gast.Tuple))


_USES: dict[type, Callable[[Any, dict[str, Uses]], None]] = {
    gast.Subscript: _subscript,
    gast.BinOp: _product,
    gast.Call: _call,
    gast.Attribute: _attribute,
    gast.For: _loop,
    gast.comprehension: _loop,
    gast.Compare: _compared,
    gast.Assign: _assigned,
}

__all__ = ["Uses", "parameters_of", "uses_of"]
