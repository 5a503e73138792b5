"""Each transform's pass list, top to bottom.

read -> check/normalise -> infer -> settle -> webs -> reverse -> simplify -> emit
"""

from __future__ import annotations

import functools
import math
import sys
import types as pytypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.effects import Missed, Unreachable
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.program import Facts, Guard, Program
from srcjax.analysis.types import (
    ACTIVE,
    NONE,
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Scalar,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_active,
    is_differentiable,
    is_number,
    shape_of,
    with_active,
)
from srcjax.backends.listing import listing
from srcjax.backends.load import load
from srcjax.backends.python_text import emit
from srcjax.errors import ArgumentError, UnsupportedError, error_at
from srcjax.frontend.check import violations
from srcjax.frontend.read import read
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops import registry  # noqa: F401  (fills the table of operations)
from srcjax.transforms.aliases import merge_aliases
from srcjax.transforms.finish import finish
from srcjax.transforms.reverse.entry import Reverse, Written
from srcjax.transforms.reverse.pairs import Pairs
from srcjax.transforms.reverse.views import joined_types
from srcjax.transforms.settle import settle
from srcjax.transforms.webs import split_webs

#: The text after each stage, printed when it is asked for.
Stages = dict[str, Callable[[], str]]
ROUNDS = 24
#: Check the core form after every pass (the tests do).
VALIDATE = False


@dataclass
class Module:
    """Generated functions, ready to be printed or loaded."""

    name: str
    functions: list[gast.FunctionDef]
    #: Live values of the free names of the functions.
    values: dict[str, Any]
    guards: list[Guard] = field(default_factory=list)
    stages: Stages = field(default_factory=dict)
    entry: str = ""
    text: str = ""
    line_map: dict[int, tuple[str, int, str]] = field(default_factory=dict)
    #: Whether a backward function uses up what the forward function saved.
    consumes: bool = False

    def load(self) -> pytypes.ModuleType:
        """The module, executed."""
        shown = set(self.imports())
        values = {k: v for k, v in self.values.items() if k not in shown}
        return load(self.text, self.name, values, self.line_map)

    def imports(self) -> dict[str, str]:
        """Import statements by the name they bind."""
        found: dict[str, str] = {}
        for name, value in self.values.items():
            if isinstance(value, pytypes.ModuleType):
                path = value.__name__
                if path == name:
                    found[name] = f"import {path}"
                elif "." not in path or path.startswith("srcjax") is False:
                    found[name] = f"import {path} as {name}"
            elif name == "vjp" and getattr(value, "__module__", "") == "srcjax.api":
                found[name] = "from srcjax import vjp"
            elif getattr(runtime, name, None) is value:
                found[name] = f"from srcjax.runtime import {name}"
            elif callable(value):
                home = importable_from(value)
                if home is not None:
                    alias = "" if home[1] == name else f" as {name}"
                    found[name] = f"from {home[0]} import {home[1]}{alias}"
        return found

    def print(self) -> None:
        """Fill in `text` and `line_map`."""
        body: list[gast.stmt] = []
        imports = self.imports()
        for line in sorted(imports.values(), key=_import_order):
            if line.startswith("from srcjax.runtime"):
                continue
            body.extend(syntax.statements(line))
        helpers = sorted(n for n, s in imports.items() if s.startswith("from srcjax.r"))
        if helpers:
            body.extend(
                syntax.statements(f"from srcjax.runtime import {', '.join(helpers)}")
            )
        submodules = {
            "scipy": ("scipy.special", "scipy.linalg"),
        }
        for name in imports:
            for path in submodules.get(name, ()):
                if any(_uses(f, path) for f in self.functions):
                    body.extend(syntax.statements(f"import {path}"))
        if any(_uses(f, "scipy.") for f in self.functions):
            body = [b for b in body if syntax.text(b) != "import scipy"]
            body.sort(key=lambda b: _import_order(syntax.text(b)))
        body.append(
            syntax.assign("__all__", gast.List([syntax.const(self.entry)], syntax.LOAD))
        )
        for name, value in self.values.items():
            if name not in imports and is_literal(value):
                body.append(syntax.assign(name, syntax.expression(repr(value))))
        module = gast.Module([*body, *self.functions], [])
        self.text = emit(module)
        self.line_map = map_lines(self.text, module)


def _uses(function: gast.FunctionDef, path: str) -> bool:
    return any(
        (syntax.dotted(n) or "").startswith(path)
        for n in syntax.walk(function)
        if isinstance(n, gast.Attribute)
    )


def _import_order(line: str) -> tuple:
    standard = line.split()[1].split(".")[0] in (
        "math",
        "copy",
        "functools",
        "operator",
    )
    return (not standard, line.startswith("from"), line)


def importable_from(value: Any) -> tuple[str, str] | None:
    """The public module and name under which a function or class can be imported."""
    path = getattr(value, "__module__", None)
    name = getattr(value, "__name__", None)
    if not path or not name or not name.isidentifier() or path.startswith("srcjax"):
        return None
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        if any(p.startswith("_") for p in parts[:end]):
            continue
        module = sys.modules.get(".".join(parts[:end]))
        if getattr(module, name, None) is value and parts[0] != "builtins":
            return ".".join(parts[:end]), name
    return None


def is_literal(value: Any) -> bool:
    """Whether the value can be written in the text as it is."""
    if type(value) is tuple:
        return all(map(is_literal, value)) and len(value) <= 20
    if isinstance(value, float):
        return math.isfinite(value)
    return type(value) in (int, bool, str, type(None))


def map_lines(text: str, module: gast.Module) -> dict[int, tuple[str, int, str]]:
    """The user's line behind each generated line."""
    import ast

    lines: dict[int, tuple[str, int, str]] = {}

    def pair(ours: list, theirs: list) -> None:
        mine = [s for s in ours if not syntax.is_comment(s)]
        for a, b in zip(mine, theirs, strict=False):
            where = getattr(a, "user_line", None)
            if where is not None:
                lines[b.lineno] = where
            for key in ("body", "orelse", "finalbody"):
                if (
                    getattr(a, key, None)
                    and getattr(b, key, None)
                    and isinstance(getattr(a, key), list)
                ):
                    pair(getattr(a, key), getattr(b, key))

    pair(module.body, ast.parse(text).body)
    return lines


# -- the front half: up to core form with types ----------------------------------------


@dataclass
class Request:
    """What is asked of a function: which arguments, of which types."""

    function: Any
    #: parameter name -> type (active where differentiated); None: nothing known
    types: dict[str, Type]
    wrt: list[str]


def analyse(request: Request, stages: Stages) -> tuple[Program, Unit]:
    """Read, normalise, infer and settle, until nothing changes."""
    program = Program()
    source = read(request.function)
    stages["read"] = lambda: source.text
    unit = program.unit(source.func, request.wrt)
    bind_constants(unit, source)
    core = syntax.clone(unit.node)
    stages["normalise"] = lambda: listing(core)
    validate(program, "normalise")
    split = merged = False
    for _ in range(ROUNDS):
        program.facts = Facts()
        interpreter = Interpreter(program)
        try:
            interpreter.run(unit, dict(request.types))
        except Missed as missed:
            new = program.widen(missed.unit, missed.names)
            if missed.unit is unit:
                bind_constants(new, source)
                unit = new
            split = merged = False
            continue
        except Unreachable:
            raise error_at(
                UnsupportedError,
                source,
                source.node,
                "no path through the function returns",
                "a base case for the recursion",
            ) from None
        recursive = recursive_functions(program)
        changed = False
        for each in list(program.units.values()):
            changed |= settle(program, each, recursive)
        validate(program, "settle")
        if changed:
            continue
        if split and not merged:
            for each in list(program.units.values()):
                merge_aliases(program, each)
            merged = True
            continue
        if split:
            typed = syntax.clone(unit.node)
            types = joined_types(program, unit)
            stages["infer"] = functools.partial(describe_types, typed, types)
            return program, unit
        for each in list(program.units.values()):
            split_webs(each)
        validate(program, "webs")
        split = True
    raise error_at(
        UnsupportedError,
        source,
        source.node,
        "the types in this function do not settle",
        "a simpler structure, or fewer changes of type in loops",
    )


def validate(program: Program, stage: str) -> None:
    """Raise AssertionError if a unit is not in core form (when `VALIDATE` is on)."""
    if not VALIDATE:
        return
    for unit in program.units.values():
        found = violations(unit)
        if found:
            raise AssertionError(f"after {stage} of {unit.name}: {found[0]}")


def bind_constants(unit: Unit, source: Any) -> None:
    """Arguments that are bound already (self, partial) become constants."""
    if not source.bound:
        return
    arguments = unit.node.args
    for key in ("posonlyargs", "args", "kwonlyargs"):
        kept = [a for a in getattr(arguments, key) if a.id not in source.bound]
        if key == "kwonlyargs":
            pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            arguments.kw_defaults = [d for a, d in pairs if a.id not in source.bound]
        if key == "args":
            bound_after = [a for a in arguments.args if a.id in source.bound]
            count = len(arguments.defaults)
            defaulted = arguments.args[len(arguments.args) - count :] if count else []
            arguments.defaults = [
                d
                for a, d in zip(defaulted, arguments.defaults, strict=True)
                if a not in bound_after
            ]
        setattr(arguments, key, kept)
    for name, value in source.bound.items():
        unit.extra[name] = value


def recursive_functions(program: Program) -> set[int]:
    """Functions that call themselves, directly or by way of others."""
    calls: dict[int, set[int]] = {}
    for key, unit in program.units.items():
        found = set()
        for node in syntax.walk(unit.node):
            for callee in program.facts.callees.get(id(node), ()):
                function = getattr(callee, "function", callee)
                function = getattr(function, "__func__", function)
                found.add(id(function))
        calls[key] = found
    recursive = set()
    for key in calls:
        seen: set[int] = set()
        todo = list(calls[key])
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo.extend(calls.get(other, ()))
        if key in seen:
            recursive.add(key)
    return recursive


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
    return f"{mark}unknown"


# -- reverse mode --------------------------------------------------------------------


def gradient(
    request: Request, single: bool, with_value: bool, has_aux: bool, typed: bool
) -> Module:
    """The module of `grad` (or `value_and_grad`)."""
    stages: Stages = {}
    program, unit = analyse(request, stages)
    check_result(program, unit, has_aux, typed)
    prefix = "value_and_grad" if with_value else "grad"
    entry = f"{prefix}_{unit.name}"
    names = syntax.Names(unit.names.taken | {entry})
    pairs = Pairs(program, names)
    written = Reverse(program, unit, pairs, request.types).gradient(
        entry, request.wrt, single, with_value, has_aux
    )
    return assemble(program, pairs, [written], entry, stages)


def vjp(request: Request) -> Module:
    """The module with `f_forward` and `f_backward`."""
    stages: Stages = {}
    program, unit = analyse(request, stages)
    names = syntax.Names(unit.names.taken)
    pairs = Pairs(program, names)
    forward, backward = (
        names.fresh(f"{unit.name}_forward"),
        names.fresh(f"{unit.name}_backward"),
    )
    key = id(unit.source.func)
    if key in recursive_functions(program):
        pairs.wanted[key] = (unit, forward, backward)
        pairs.entry = key  # type: ignore[attr-defined]
    first, second = Reverse(program, unit, pairs, request.types).pair(
        forward, backward, request.wrt, top=True
    )
    module = assemble(program, pairs, [(first, second)], forward, stages)
    return module


def check_result(program: Program, unit: Unit, has_aux: bool, typed: bool) -> None:
    """`grad` needs a real scalar. Raises ArgumentError."""
    result = program.facts.results.get(unit.name, UNKNOWN)
    node = unit.source.node

    def refuse(reason: str, instead: str) -> Exception:
        return error_at(ArgumentError, unit.source, node, reason, instead)

    if has_aux:
        if isinstance(result, Tuple) and len(result.items) == 2:
            result = result.items[0]
        elif not isinstance(result, Unknown):
            raise refuse(
                "with has_aux=True the function must return (value, aux)",
                "`return value, aux`",
            )
    shape = shape_of(result)
    if isinstance(result, (Tuple, List, Dict)):
        raise refuse(
            "the function returns a container; grad needs one real number",
            "`srcjax.vjp`, or has_aux=True for (value, aux)",
        )
    if shape is not None and shape != ():
        raise refuse(
            f"the function returns an array of shape {shape}; grad needs one real "
            "number",
            "`np.sum(...)` of the result, or `srcjax.vjp`",
        )
    dtype = dtype_of(result)
    if dtype is not None and dtype.kind not in "f" and typed:
        if is_number(result) and dtype.kind in "iub" and not is_active(result):
            return
        raise refuse(
            f"the function returns {dtype.name}; grad needs a real floating number",
            "a float result",
        )
    if isinstance(result, Const) and not isinstance(result.value, (int, float)):
        raise refuse(
            f"the function returns {result.value!r}; grad needs one real number",
            "`return` the number on every path",
        )


def assemble(
    program: Program,
    pairs: Pairs,
    first: list[Any],
    entry: str,
    stages: Stages,
) -> Module:
    """Write the callees' pairs, simplify, and collect what the names mean."""
    written: list[Written] = []
    for item in first:
        written += [item] if isinstance(item, Written) else list(item)
    swept = [syntax.clone(w.node) for w in written]
    stages["reverse"] = lambda: "\n\n".join(map(listing, swept))
    finished = [_finish_group(item, program) for item in first]
    done: set[int] = {getattr(pairs, "entry", 0)}
    callees: list[Any] = []
    while True:
        todo = [key for key in pairs.wanted if key not in done]
        if not todo:
            break
        for key in todo:
            done.add(key)
            unit, forward, backward = pairs.wanted[key]
            group = Reverse(program, unit, pairs).pair(
                forward, backward, pairs.differentiated(unit)
            )
            callees.append(_finish_group(group, program))
    groups = [*callees, *finished]
    functions = [f for group in groups for f in group[0]]
    values: dict[str, Any] = {}
    for group in groups:
        merge_values(values, group[1], functions, group[0])
    for name, value in pairs.values.items():
        values[name] = value
    own = {f.name for f in functions}
    free = set().union(*(free_names(f) for f in functions)) - own
    values = {k: v for k, v in sorted(values.items()) if k in free}
    module = Module(entry, functions, values, entry=entry, stages=stages)
    module.guards = list(program.guards.values())
    module.consumes = any(
        isinstance(n, gast.Attribute) and n.attr == "pop"
        for f in functions
        for n in syntax.walk(f)
    )
    module.print()
    stages["emit"] = lambda: module.text
    return module


def _finish_group(
    group: Any, program: Program
) -> tuple[list[gast.FunctionDef], dict[str, Any]]:
    written = [group] if isinstance(group, Written) else list(group)
    functions = finish(written)
    values: dict[str, Any] = {}
    for w, function in zip(written, functions, strict=True):
        for name in free_names(function):
            found = value_of(w, program, name)
            if found is not None:
                values[name] = found[0]
    return functions, values


def value_of(written: Written, program: Program, name: str) -> tuple[Any] | None:
    """What a free name of generated code stands for."""
    if name in written.rules.needs:
        return (written.rules.needs[name],)
    try:
        return (program.resolve(written.unit, name),)
    except KeyError:
        pass
    if name == "np":
        return (np,)
    if name == "math":
        return (math,)
    if name == "scipy":
        import scipy

        return (scipy,)
    helper = getattr(runtime, name, None)
    return None if helper is None else (helper,)


def merge_values(
    values: dict[str, Any],
    more: dict[str, Any],
    functions: list[gast.FunctionDef],
    own: list[gast.FunctionDef],
) -> None:
    """Add a function's globals; a name that means something else is renamed."""
    import builtins

    for name, value in more.items():
        if getattr(builtins, name, _MISSING) is value:
            continue
        if name in values and values[name] is not value:
            taken = set(values).union(*(syntax.all_names(f) for f in functions))
            fresh = syntax.Names(taken).fresh(name)
            for f in own:
                syntax.rename(f.body, {name: fresh})
            values[fresh] = value
        else:
            values[name] = value


_MISSING = object()


def free_names(function: gast.FunctionDef) -> set[str]:
    """Names that the function reads and does not bind."""
    bound = syntax.names_written(function.body) | set(parameter_names(function.args))
    defaults = syntax.names_read([*function.args.defaults, *function.args.kw_defaults])
    return (syntax.names_read(function.body) - bound) | defaults


__all__ = [
    "ACTIVE",
    "NONE",
    "Module",
    "Request",
    "analyse",
    "gradient",
    "is_differentiable",
    "vjp",
    "with_active",
]
