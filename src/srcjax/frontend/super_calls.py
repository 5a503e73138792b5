"""`super().method(x)` as a call of the function that it finds.

Before:                                  After:

    def area(self):                          def area(self):
        return super().area() + 1                return Rectangle_area(self) + 1

Which class comes next depends on the class of `self`. The call is left as it is, and
refused later where it matters, if subclasses that exist now disagree.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

import gast

from srcjax import syntax

if TYPE_CHECKING:
    from srcjax.frontend.read import FunctionSource


def bind_super(source: FunctionSource) -> dict[str, Any]:
    """Rewrite such calls in place; the functions by the names that stand for them."""
    cell = source.closure.get("__class__")
    parameters = [*source.node.args.posonlyargs, *source.node.args.args]
    if cell is None or not parameters:
        return {}
    cls = cell.cell_contents
    first = parameters[0].id
    own = inspect.getattr_static(cls, source.func.__name__, None)
    bound = syntax.names_written(source.node.body)
    if not isinstance(own, (FunctionType, property)) or {first, "super"} & bound:
        return {}
    for block in syntax.blocks(source.node.body):
        kept = [s for s in block if not _does_nothing(s, cls)]
        block[:] = kept or [gast.Pass()]
    found: dict[str, Any] = {}
    for node in syntax.walk(source.node.body):
        if not isinstance(node, gast.Call) or not _is_super(node.func):
            continue
        method: Any = node.func
        function = _next(cls, method.attr)
        if not isinstance(function, FunctionType):
            continue
        owner = function.__qualname__.split(".")[-2:-1] or ["super"]
        name = f"{owner[0]}_{method.attr.strip('_')}"
        while name in syntax.all_names(source.node) and found.get(name) is not function:
            name += "_"
        found[name] = function
        node.func = gast.copy_location(syntax.name(name), method)
        node.args = [gast.copy_location(syntax.name(first), method), *node.args]
    return found


def _is_super(node: Any) -> bool:
    """Whether it is `super().name`."""
    call = node.value if isinstance(node, gast.Attribute) else None
    return (
        isinstance(call, gast.Call)
        and syntax.is_name(call.func, "super")
        and not call.args
        and not call.keywords
    )


def _does_nothing(stmt: gast.stmt, cls: type) -> bool:
    """Whether it is `super().__init__()` where only `object` is above."""
    call = stmt.value if isinstance(stmt, gast.Expr) else None
    return (
        isinstance(call, gast.Call)
        and _is_super(call.func)
        and call.func.attr == "__init__"
        and not call.args
        and _next(cls, "__init__") is object.__init__
    )


def _next(cls: type, name: str) -> Any:
    """What `super().name` in a method of the class is; None if that depends."""
    afters = [_after(cls, c, name) for c in _subclasses(cls)]
    found = {id(v): v for v in afters if v is not None}
    return next(iter(found.values())) if len(found) == 1 else None


def _subclasses(cls: type) -> list[type]:
    found = [cls]
    below: type
    for below in cls.__subclasses__():
        found += _subclasses(below)
    return found


def _after(cls: type, of: type, name: str) -> Any:
    order = of.__mro__[of.__mro__.index(cls) + 1 :]
    return next((vars(c)[name] for c in order if name in vars(c)), None)


__all__ = ["bind_super"]
