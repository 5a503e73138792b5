"""Imports in the body of a function, as if they stood at the top of the file.

Before:                                  After:

    def f(x):                                def f(x):
        from scipy.special import ndtr           return ndtr(x)
        return ndtr(x)

What the name is, is known then, and the text imports it where modules import.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections import Counter
from typing import Any

import gast

from srcjax import syntax


def hoist_imports(node: gast.FunctionDef, package: str | None) -> dict[str, Any]:
    """Take imports out of the body; their values by the names that they bind.

    Left where it is: an import in a branch or a `try`, of a name that is bound
    elsewhere too, and one that fails. It says from which package, for the text is in
    another one.
    """
    found: dict[str, Any] = {}
    _make_absolute(node, package)
    if not any(isinstance(s, (gast.Import, gast.ImportFrom)) for s in node.body):
        return found
    bound = _bindings(node)
    kept: list[gast.stmt] = []
    for stmt in node.body:
        values = _values(stmt, package)
        if values is None or any(bound[name] != 1 for name in values):
            kept.append(stmt)
        else:
            found |= values
    node.body = kept or [gast.Pass()]
    return found


def _make_absolute(node: gast.FunctionDef, package: str | None) -> None:
    """Write `from .util import scaled` with the package that it is of."""
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.ImportFrom) and stmt.level and package:
            path = "." * stmt.level + (stmt.module or "")
            with contextlib.suppress(ImportError):  # above the package: it says so
                stmt.module = importlib.util.resolve_name(path, package)
                stmt.level = 0


def _values(stmt: gast.stmt, package: str | None) -> dict[str, Any] | None:
    """What the statement imports, by name; None if it is no import, or fails."""
    values: dict[str, Any] = {}
    try:
        if isinstance(stmt, gast.Import):
            for alias in stmt.names:
                module = importlib.import_module(alias.name)
                if alias.asname is None:
                    name = alias.name.split(".")[0]
                    values[name] = importlib.import_module(name)
                else:
                    values[alias.asname] = module
        elif isinstance(stmt, gast.ImportFrom):
            path = "." * (stmt.level or 0) + (stmt.module or "")
            module = importlib.import_module(path, package)
            for alias in stmt.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{module.__name__}.{alias.name}")
                values[alias.asname or alias.name] = getattr(module, alias.name)
        else:
            return None
    except Exception:  # the function itself says so when it runs
        return None
    return values


def _bindings(node: gast.FunctionDef) -> Counter[str]:
    """How often each name is bound, in inner scopes too."""
    count: Counter[str] = Counter()
    for sub in syntax.walk([node.args, *node.body]):
        if isinstance(sub, gast.Name) and not isinstance(sub.ctx, gast.Load):
            count[sub.id] += 1
        elif isinstance(sub, (gast.Global, gast.Nonlocal)):
            count.update(sub.names * 2)
        elif isinstance(sub, (gast.FunctionDef, gast.ClassDef)):
            count[sub.name] += 1
        elif isinstance(sub, gast.alias):
            count.update(syntax.names_written(sub))
    return count


__all__ = ["hoist_imports"]
