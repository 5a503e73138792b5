"""Private names as the compiler sees them: `__x` inside `class A` is `_A__x`.

A generated function stands outside of the class, so it has to write them out.
"""

from __future__ import annotations

from typing import Any

import gast

__all__ = ["mangle", "mangle_name"]


def mangle(function: Any, class_name: str) -> None:
    """Writes the private names in the body and parameters of `function` out, in place.

    Before, in `class A`:

        def step(self, x):
            return self.__rate * x

    After:

        def step(self, x):
            return self._A__rate * x

    Names of keyword arguments in calls and patterns are not mangled by Python.
    """
    mangler = _Mangler(class_name)
    for child in [function.args, *function.body]:
        mangler.visit(child)


def mangle_name(name: str, class_name: str) -> str:
    """The name that the compiler makes of `name` inside the class `class_name`."""
    owner = class_name.lstrip("_")
    private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if private and owner else name


class _Mangler(gast.NodeVisitor):
    """Visits every node; the fields below are all that can bind or read a name."""

    NAME_FIELDS = {
        "Name": "id",
        "Attribute": "attr",
        "FunctionDef": "name",
        "AsyncFunctionDef": "name",
        "ClassDef": "name",
        "MatchAs": "name",
        "MatchStar": "name",
        "MatchMapping": "rest",
    }

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name

    def generic_visit(self, node: Any) -> None:
        kind = type(node).__name__
        field = self.NAME_FIELDS.get(kind)
        if field is not None and isinstance(getattr(node, field), str):
            setattr(node, field, self._mangled(getattr(node, field)))
        elif kind in ("Global", "Nonlocal"):
            node.names = [self._mangled(name) for name in node.names]
        elif kind == "alias":
            self._visit_alias(node)
        super().generic_visit(node)

    def visit_ClassDef(self, node: Any) -> None:
        node.name = self._mangled(node.name)
        for child in [*node.bases, *node.keywords, *node.decorator_list]:
            self.visit(child)
        inner = _Mangler(node.name)
        for child in node.body:
            inner.visit(child)

    def _visit_alias(self, node: Any) -> None:
        bound = node.asname or node.name
        if self._mangled(bound) != bound:
            node.asname = self._mangled(bound)

    def _mangled(self, name: str) -> str:
        return mangle_name(name, self.class_name)
