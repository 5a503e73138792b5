"""The `__init__` that `dataclass` makes of the fields, as one would write it.

    @dataclass                            def __init__(self, w, seen=DEFAULT):
    class Net:                                self.w = w
        w: np.ndarray                         if seen is DEFAULT:
        seen: list = field(                       seen = make_seen()
            default_factory=list              self.seen = seen
        )                                     self.__post_init__()

Its text is nowhere to be read. `describe_init` writes it from the fields, so that it is
like any `__init__` for all that follows.
"""

from __future__ import annotations

import dataclasses
import inspect
from types import CellType, FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.read import LIFTED, FunctionSource

_GENERATED = "<string>"


def describe_init(cls: type) -> None:
    """Let `read` find the source of `cls.__init__`, if `dataclass` made it."""
    init = vars(cls).get("__init__")
    if not isinstance(init, FunctionType) or init.__code__.co_filename != _GENERATED:
        return
    if init in LIFTED or not is_writable(cls):
        return
    signature = inspect.signature(init)
    everything = getattr(cls, "__dataclass_fields__", {})
    cells: dict[str, Any] = {}
    lines = []
    owner = next(iter(signature.parameters))
    for name, each in everything.items():
        if _kind(each) == "_FIELD_CLASSVAR":
            continue
        factory = each.default_factory
        if factory is not dataclasses.MISSING:
            cells[f"make_{name}"] = factory
            new = f"make_{name}()"
            if factory in (list, dict):
                new = "[]" if factory is list else "{}"
            if each.init:
                cells["DEFAULT"] = signature.parameters[name].default
                lines.append(f"if {name} is DEFAULT: {name} = {new}")
                lines.append(f"{owner}.{name} = {name}")
            else:
                lines.append(f"{owner}.{name} = {new}")
        elif each.init and _kind(each) == "_FIELD":
            lines.append(f"{owner}.{name} = {name}")
        elif _kind(each) == "_FIELD" and each.default is not dataclasses.MISSING:
            shown = repr(each.default)
            if type(each.default) not in (int, bool, str, type(None)):
                shown = f"default_{name}"
                cells[shown] = each.default
            lines.append(f"{owner}.{name} = {shown}")
    if hasattr(cls, "__post_init__"):
        passed = [n for n, f in everything.items() if _kind(f) == "_FIELD_INITVAR"]
        lines.append(f"{owner}.__post_init__({', '.join(passed)})")
    node = syntax.statements(f"def __init__{_shown(signature)}:\n pass")[0]
    node.body = syntax.statements("\n".join([*lines, "return None"]))
    try:
        text, first = inspect.getsourcelines(cls)
        filename = inspect.getsourcefile(cls) or _GENERATED
    except (OSError, TypeError):
        text, first, filename = [f"class {cls.__name__}:\n"], 1, _GENERATED
    for part in syntax.walk(node):
        if isinstance(part, (gast.stmt, gast.expr)):
            part.lineno = part.end_lineno = first
            part.col_offset, part.end_col_offset = 0, len(text[0].rstrip())
    LIFTED[init] = FunctionSource(
        func=init,
        name="__init__",
        node=node,
        docstring=None,
        filename=filename,
        globals=init.__globals__,
        closure={name: CellType(value) for name, value in cells.items()},
        defaults={
            n: p.default
            for n, p in signature.parameters.items()
            if p.default is not p.empty
        },
        bound={},
        lines=[*["\n"] * (first - 1), *text],
    )


def is_writable(cls: type) -> bool:
    """Whether the attributes may be set one by one, and are all in the instance."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and not parameters.frozen


def _kind(field: Any) -> str:
    return str(field._field_type)


def _shown(signature: inspect.Signature) -> str:
    """The parameters, their defaults by presence alone."""
    plain = [
        p.replace(
            annotation=p.empty, default=p.default if p.default is p.empty else None
        )
        for p in signature.parameters.values()
    ]
    return str(inspect.Signature(plain))


__all__ = ["describe_init", "is_writable"]
