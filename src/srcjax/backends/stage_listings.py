"""The texts of a program's units after each stage, entry point first, callees below."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import gast

from srcjax.analysis.program import Program
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
    is_active,
    shape_of,
)
from srcjax.backends.listing import listing
from srcjax.backends.load import line_map_of
from srcjax.backends.python_text import emit
from srcjax.frontend.accepted import accepted


def read_units(program: Program) -> str:
    """The functions as the user wrote them."""
    return "\n\n".join(unit.source.text for unit in program.units.values())


def accepted_units(program: Program) -> str:
    """The functions with comments on what `normalise` makes of them."""
    texts = [emit(accepted(unit, unit.source)) for unit in program.units.values()]
    return "\n\n".join(texts)


def normal_units(program: Program) -> str:
    """The functions in core form, before any pass changed it."""
    return listings(program.normal.values())


def unit_texts(program: Program) -> str:
    """The core form as it stands between two passes."""
    return listings(unit.node for unit in program.units.values())


def listings(nodes: Iterable[gast.FunctionDef]) -> str:
    """The quick print of several functions."""
    return "\n\n".join(map(listing, nodes))


def module_text(functions: list[gast.FunctionDef]) -> str:
    """Functions in the layout of a module."""
    return emit(gast.Module([*functions], []))


def typed_units(program: Program) -> str:
    """The core form of the units, with the type of each name where it is bound."""
    return "\n\n".join(
        describe_types(unit.node, program.types_of(unit))
        for unit in program.units.values()
    )


def loaded(module: ModuleType, entry: str, values: dict[str, Any]) -> str:
    """How the text became a module: its name, its file, whose line each line is."""
    count = len(module.__loader__.get_source(module.__name__).splitlines())  # type: ignore[union-attr]
    file = str(module.__file__)
    lines = [
        f"# {count} lines as the file {os.path.basename(file)}, which is",
        "# on disk once an error went through it: inspect and pdb have linecache.",
    ]
    lines += [f"# given to it: {name} = {_short(v)}" for name, v in values.items()]
    lines.append(f"from {module.__name__} import {entry}")
    places = line_map_of(module)
    if places:
        lines += ["", "# line of the text <- line of yours"]
    for (filename, line, text), group in itertools.groupby(
        sorted(places), key=places.__getitem__
    ):
        first, *more = group
        span = f"{first}-{more[-1]}" if more else str(first)
        lines.append(f"# {span:>9} <- {os.path.basename(filename)}:{line}: {text}")
    return "\n".join(lines) + "\n"


def _short(value: Any) -> str:
    text = repr(value)
    plain = len(text) <= 48 and "\n" not in text
    return text if plain else f"an object of type {type(value).__name__}"


def describe_types(node: gast.FunctionDef, types: dict[str, Type]) -> str:
    """The core form with the type of each defined name beside it."""
    lines = []
    for line in listing(node).splitlines():
        name = line.strip().split(" ", 1)[0]
        if " = " in line and name in types:
            line = f"{line}  # {spell(types[name])}"
        lines.append(line)
    return "\n".join(lines)


def spell(t: Type) -> str:
    """A type in few words."""
    mark = "~" if is_active(t) else ""
    dtype = dtype_of(t)
    if isinstance(t, Const):
        return repr(t.value)
    if isinstance(t, Scalar):
        kind = "" if t.python else "np."
        return f"{mark}{kind}{dtype.name if dtype is not None else 'number'}"
    if isinstance(t, Array):
        return f"{mark}{dtype.name if dtype is not None else 'array'}{shape_of(t)}"
    if isinstance(t, Tuple):
        return "(" + ", ".join(map(spell, t.items)) + ")"
    if isinstance(t, (List, Dict)):
        return f"{mark}{type(t).__name__.lower()}"
    if isinstance(t, (Object, Other)) and t.cls is not None:
        return f"{mark}{t.cls.__name__}"
    return f"{mark}unknown"
