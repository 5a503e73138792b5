"""What the functions that fill a Jacobian have in common."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Other,
    Scalar,
    Tuple,
    Type,
    dtype_of,
    is_number,
    map_parts,
    rank_of,
    same_dtype,
    shape_of,
)
from srcjax.backends.module import Module
from srcjax.errors import UnsupportedError
from srcjax.frontend.unit import passed_on


class Unwritable(Exception):
    """The structure of a value is not known: helpers that look at it are called."""


def leaves_of(t: Type, path: str) -> list[tuple[str, Type]]:
    """The numbers and arrays in a value, as expressions. Raises Unwritable."""
    if isinstance(t, Const) and t.value is None:
        return []
    if is_number(t) or isinstance(t, Array):
        return [(path, t)]
    return [
        leaf for step, part in steps_of(t) for leaf in leaves_of(part, f"{path}{step}")
    ]


def steps_of(t: Type) -> list[tuple[str, Type]]:
    """The parts of a container, with what selects each."""
    if isinstance(t, (Tuple, List)) and t.items is not None:
        return [(f"[{i}]", part) for i, part in enumerate(t.items)]
    if isinstance(t, Dict) and t.items is not None:
        return [(f"[{key!r}]", part) for key, part in t.items]
    if isinstance(t, Object):
        return [(f".{key}", part) for key, part in t.items]
    raise Unwritable


def jacobian_type(value: Type, x: Type) -> Type:
    """The structure of a value, with that of an argument in place of each leaf.

    Raises Unwritable.
    """
    for t in (value, x):
        if isinstance(t, Const) and t.value is None:
            return t
    if is_container(value) and steps_of(value):
        return map_parts(value, lambda part: jacobian_type(part, x))
    if is_container(x) and steps_of(x):
        return map_parts(x, lambda part: jacobian_type(value, part))
    shapes = shape_of(value), shape_of(x)
    if shapes[0] is None or shapes[1] is None:
        raise Unwritable
    dtypes = dtype_of(value), dtype_of(x)
    dtype = dtypes[0] if same_dtype(*dtypes) else None
    shape = (*shapes[0], *shapes[1])
    return Array(dtype=dtype, shape=shape) if shape else Scalar(dtype=dtype)


class Writer:
    """Writes the function that calls the derivative once for each element."""

    def __init__(self, transform: Any, module: Module, types: list[Type]) -> None:
        self.transform = transform
        self.module = module
        self.types = dict(zip(transform.parameters, types, strict=True))
        self.value = transform.value(module)
        self.entry = f"{transform.name}_{transform.source.name}"
        self.clear()

    def clear(self) -> None:
        """Start with no text."""
        functions = {f.name for f in self.module.functions}
        taken = functions | set(self.types) | set(self.module.values)
        self.names = syntax.Names(taken | {"np", self.entry})
        self.lines: list[str] = []

    def write(self) -> None:
        """Add the function to the module."""
        module = self.module
        try:
            result = self.known()
        except Unwritable:
            self.clear()
            result = self.unknown()
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {result}"])
        text = f"def {self.entry}():\n{body}\n"
        node: Any = syntax.statements(text)[0]
        node.args = self.parameters()
        for i, stmt in enumerate(node.body):
            value = getattr(stmt, "value", None)
            if isinstance(value, gast.Constant) and isinstance(value.value, str):
                node.body[i] = syntax.comment(value.value[2:])
        for helper in ("unit_tangents", "stack_columns", "stack_rows"):
            if helper in syntax.names_read(node):
                module.values[helper] = getattr(runtime, helper)
        module.functions = self.together(node)
        if "np" in syntax.names_read(module.functions):
            module.values["np"] = np
        module.name = module.entry = self.entry

    def together(self, node: gast.FunctionDef) -> list[gast.FunctionDef]:
        """The functions of the module, with that which was written."""
        return [*self.module.functions, node]

    def known(self) -> str:
        raise NotImplementedError

    def unknown(self) -> str:
        raise NotImplementedError

    def line(self, text: str) -> None:
        self.lines.append(text)

    def comment(self, text: str) -> None:
        self.line(repr(f"# {text}"))

    # -- calls ----------------------------------------------------------------------

    def parameters(self) -> gast.arguments:
        """The user's parameters."""
        raise NotImplementedError

    def user_arguments(self) -> list[str]:
        """The user's parameters, passed on."""
        return passed_on(self.parameters())

    # -- values ---------------------------------------------------------------------

    def basis(self, path: str, t: Type) -> str:
        """Arrays like `path` with a one in one place each."""
        dtype = dtype_of(t)
        known = dtype is not None and dtype == np.dtype(float)
        given = "" if known else f", dtype={path}.dtype"
        rows = f"np.eye({path}.size{given})"
        if rank_of(t) == 1:
            return rows
        return f"{rows}.reshape({path}.size, *{path}.shape)"

    def zero(self, path: str, t: Type) -> str:
        """The zero tangent of a value. Raises Unwritable."""
        if is_number(t):
            return "0.0"
        if isinstance(t, (Const, Other)):
            return "None"
        if isinstance(t, Array):
            return f"np.zeros_like({path})"
        if not is_container(t):
            raise Unwritable
        return self.rebuilt(t, {}, path)

    def rebuilt(self, t: Type, given: dict[str, str], path: str) -> str:
        """The value at `path` made of expressions by path, zeros elsewhere."""
        if path in given:
            return given[path]
        if not is_container(t):
            return self.zero(path, t)
        items = [self.rebuilt(p, given, f"{path}{step}") for step, p in steps_of(t)]
        return self.display(t, items)

    def display(self, t: Type, items: list[str]) -> str:
        """A container like `t` with these items."""
        joined = ", ".join(items)
        if isinstance(t, List):
            return f"({joined},)" if t.cls is tuple else f"[{joined}]"
        if isinstance(t, Dict):
            keys = [repr(k) for k, _ in t.items or ()]
            shown = ", ".join(map(": ".join, zip(keys, items, strict=True)))
            if t.cls is dict:
                return f"{{{shown}}}"
            if t.cls is defaultdict:  # its type does not tell what it makes
                raise Unwritable
            self.module.values[t.cls.__name__] = t.cls
            return f"{t.cls.__name__}({{{shown}}})"
        cls = t.cls  # type: ignore[attr-defined]
        if cls is not None:
            name = cls.__name__
            self.module.values[name] = cls
            if isinstance(t, Object):
                keys = [k for k, _ in t.items]
                joined = ", ".join(map("=".join, zip(keys, items, strict=True)))
            return f"{name}({joined})"
        return f"({joined},)" if len(items) == 1 else f"({joined})"


def identifier(path: str) -> str:
    """A part of a name for `params["w"]`."""
    base = "".join(c if c.isalnum() else "_" for c in path).strip("_")
    while "__" in base:
        base = base.replace("__", "_")
    return base


def shape_text(path: str, t: Type) -> str:
    return f"{path}.shape" if isinstance(t, Array) else f"np.shape({path})"


def is_container(t: Type) -> bool:
    return isinstance(t, (Tuple, List, Dict, Object))


def needs_examples(transform: Any) -> Exception:
    return UnsupportedError(
        f"the types of the arguments of {transform.source.name} do not tell the "
        f"structure that {transform.name} needs",
        instead="arguments with a known number of items",
    )
