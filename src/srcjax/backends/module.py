"""A module of generated functions: its text, its imports, and how it is loaded."""

from __future__ import annotations

import ast
import keyword
import math
import sys
import types as pytypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.guards import Guard
from srcjax.analysis.types import UNKNOWN, Type
from srcjax.backends import stage_listings
from srcjax.backends.load import LineMap, load, untested
from srcjax.backends.marks import (
    ADJOINTS_MADE,
    COUNTS_MADE,
    JOINED_MADE,
    KEPT_MADE,
    NAMES_MADE,
    RESTS_ON,
    TESTED,
    TREES_OF,
)
from srcjax.backends.python_text import emit
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.joined_tapes import joined_tapes
from srcjax.frontend.stage_texts import StageTexts
from srcjax.process import tree_of

#: Modules whose functions users import from `srcjax` itself.
PUBLIC = (
    "srcjax.analysis.stopped",
    "srcjax.api.reverse",
    "srcjax.api.forward",
    "srcjax.api.jacobians",
    "srcjax.ops.collectives",
)
#: What users import from `srcjax` as a whole, or functions of.
LIBRARY = (
    "srcjax.lax",
    "srcjax.nn",
    "srcjax.optim",
    "srcjax.random",
    "srcjax.tree",
    "srcjax.tree_util",
)
#: The one part of srcjax whose functions generated code may call by import.
COMPOSITES = "srcjax.ops.composites"
#: Where kernels are made, and what is found when it runs is differentiated.
IMPORTED = (
    "srcjax.api.at_run_time",
    "srcjax.backends.kernels",
    "srcjax.backends.cuda.run",
    "srcjax.backends.cuda.elementwise",
    "srcjax.backends.threads",
)
FROM_RUNTIME = "from srcjax.runtime import "


def count_names(function: gast.FunctionDef) -> dict[str, str]:
    """Names that a pass has marked as those of whole numbers and text (`counts`)."""
    marked = {n.id: n.counts for n in syntax.names_in(function) if hasattr(n, "counts")}
    once = syntax.binding_counts(function)
    return {n: kind for n, kind in sorted(marked.items()) if once[n] == 1}


@dataclass
class Module:
    """Generated functions, ready to be printed or loaded."""

    name: str
    functions: list[gast.FunctionDef]
    #: Live values of the free names of the functions.
    values: dict[str, Any]
    guards: list[Guard] = field(default_factory=list)
    stages: StageTexts = field(default_factory=StageTexts)
    entry: str = ""
    #: Whether a backward function uses up what the forward function saved.
    consumes: bool = False
    #: Whether the function writes to what it is given (it is given copies).
    writes_arguments: bool = False
    #: Whether it puts contents back into arrays that the forward function saved.
    restores: bool = False
    #: Whether derivatives in it were given by the user (`custom_vjp`,
    #: `stop_gradient`): they need not be those of the function.
    opinions: bool = False
    #: Whether the function asks of what is differentiated whether it is an int.
    asks_for_ints: bool = False
    #: The names of the backward functions.
    backward: frozenset[str] = frozenset()
    #: What the function that was transformed returns.
    result: Type = UNKNOWN
    #: What a function that was mapped gives for one example.
    example: Type = UNKNOWN
    #: Names that srcjax made: a transform of the module may do without them.
    made: frozenset[str] = frozenset()
    #: Whether the entry point begins with a test of its arguments.
    tested: bool = False
    #: Tells whether the text serves arguments, where lists may have any length.
    accepts: Callable[..., bool] | None = None
    #: Of `jit`: why the function runs as it is; else, the statements that stay Python
    #: with the reasons, and the function where all of it is one kernel.
    stays: str = ""
    python: tuple[tuple[Any, str], ...] = ()
    whole: Callable | None = None
    #: Of `jit` without a compiler: what goes through arrays in blocks.
    blocks: tuple[str, ...] = ()
    #: Whether what it is given may be written to.
    changes_given: bool = True
    #: The adjoints among them.
    adjoints: frozenset[str] = frozenset()
    #: The text that was loaded, and what it gave.
    loaded: tuple[str, pytypes.ModuleType] | None = field(default=None, init=False)
    #: By function, what it keeps for a backward sweep, and its tapes.
    kept: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    #: The text, and the user's line behind each of its lines; None: to be printed.
    _printed: tuple[str, LineMap] | None = field(default=("", {}), init=False)

    def print(self) -> None:
        """The text is to be that of the functions as they are by now.

        It is printed when it is asked for: most functions change once more before.
        """
        self._printed = None

    @property
    def text(self) -> str:
        """The source of the module."""
        return self._as_printed()[0]

    @text.setter
    def text(self, text: str) -> None:
        self._printed = text, {}

    @property
    def line_map(self) -> LineMap:
        """The user's line behind each line of the text."""
        return self._as_printed()[1]

    def load(self) -> pytypes.ModuleType:
        """The module, executed.

        What rests on something around the function is not shared with others of the
        same text: these may rest on something else.
        """
        if self.loaded is not None and self.loaded[0] == self.text:
            return self.loaded[1]
        self.rest_on_what_is_called()
        module = load(
            self.text, self.name, self.live_values(), self.line_map, not self.guards
        )
        # What the text writes out is the very object: others may take its place.
        vars(module).update(self.live_values())
        if self.functions:
            TREES_OF[module] = self.functions, self.backward
        for function in self.functions:
            NAMES_MADE[getattr(module, function.name)] = self.made
            ADJOINTS_MADE[getattr(module, function.name)] = self.adjoints
            counts = count_names(function)
            if counts:
                COUNTS_MADE[getattr(module, function.name)] = counts
            if self.guards:
                RESTS_ON[getattr(module, function.name)] = self.guards
            if function.name in self.kept:
                KEPT_MADE[getattr(module, function.name)] = self.kept[function.name]
            joined = joined_tapes(function)
            if joined:
                JOINED_MADE[getattr(module, function.name)] = joined
        if self.tested:
            TESTED.add(getattr(module, self.entry))
        self.loaded = self.text, module
        return module

    def rest_on_what_is_called(self) -> None:
        """Take over the guards of generated functions among the values."""
        known = set(map(id, self.guards))
        for value in self.values.values():
            if isinstance(value, pytypes.FunctionType):
                for guard in RESTS_ON.get(value, ()):
                    if id(guard) not in known:
                        known.add(id(guard))
                        self.guards.append(guard)

    def untested(self, loaded: pytypes.ModuleType) -> Callable:
        """The entry point without its test, for callers that know the arguments."""
        function: Callable = getattr(loaded, self.entry)
        if not self.tested:
            return function
        return untested(self.text, self.entry, loaded)

    def live_values(self) -> dict[str, Any]:
        """Values that no line of the text gives a name to."""
        shown = set(self.imports())
        return {k: v for k, v in self.values.items() if k not in shown}

    def stage_texts(self) -> StageTexts:
        """The texts that were kept, and those of the stages that follow."""
        found = self.stages.and_those_of(StageTexts())
        found["simplify"] = stage_listings.module_text(self.functions)
        found["emit"] = self.text
        found["load"] = stage_listings.loaded(
            self.load(), self.entry, self.live_values()
        )
        return found

    def imports(self) -> dict[str, str]:
        """Import statements by the name they bind."""
        found: dict[str, str] = {}
        for name, value in self.values.items():
            if isinstance(value, pytypes.ModuleType):
                path = value.__name__
                if not all(map(is_name, path.split("."))):
                    continue
                if path == name:
                    found[name] = f"import {path}"
                elif path in LIBRARY:
                    alias = "" if path == f"srcjax.{name}" else f" as {name}"
                    found[name] = f"from srcjax import {path[7:]}{alias}"
                elif "." not in path or path.startswith("srcjax") is False:
                    found[name] = f"import {path} as {name}"
            elif getattr(value, "__module__", "") in PUBLIC and (
                "." not in value.__qualname__  # not what such a function made
            ):
                alias = "" if value.__name__ == name else f" as {name}"
                found[name] = f"from srcjax import {value.__name__}{alias}"
            elif getattr(value, "__module__", "") in IMPORTED:
                alias = "" if value.__name__ == name else f" as {name}"
                line = f"from {value.__module__} import {value.__name__}"
                found[name] = f"{line}{alias}"
            elif value is not None and getattr(runtime, name, None) is value:
                found[name] = f"from srcjax.runtime import {name}"
            elif helper_name(value) is not None:
                found[name] = f"{FROM_RUNTIME}{helper_name(value)} as {name}"
            elif callable(value):
                home = importable_from(value)
                if home is not None:
                    alias = "" if home[1] == name else f" as {name}"
                    found[name] = f"from {home[0]} import {home[1]}{alias}"
        return found

    def submodules(self) -> set[str]:
        """What has to be imported for `scipy.special.erf` besides `scipy`."""
        found = set()
        for node in syntax.walk(self.functions):
            path = syntax.dotted(node) if isinstance(node, gast.Attribute) else None
            name = (path or "").partition(".")[0]
            root = self.values.get(name)
            if path and isinstance(root, pytypes.ModuleType) and root.__name__ == name:
                found.add(_inner_module(root, path))
        return {path for path in found if "." in path}

    def shown(self) -> Module:
        """The module with the values there are now, where the text has others."""
        if text_of_now(self.text, self.values) != self.text:
            self.print()
        return self

    def _as_printed(self) -> tuple[str, LineMap]:
        if self._printed is None:
            module = self.tree()
            text = emit(module)
            self._printed = text, map_lines(text, module)
        return self._printed

    def tree(self) -> gast.Module:
        """Imports, literals and functions."""
        body: list[gast.stmt] = []
        imports = self.imports()
        for line in sorted(imports.values(), key=_import_order):
            if line.startswith("from srcjax.runtime"):
                continue
            body.extend(syntax.statements(line))
        helpers = sorted(
            s.removeprefix(FROM_RUNTIME)
            for s in imports.values()
            if s.startswith(FROM_RUNTIME)
        )
        if helpers:
            body.extend(syntax.statements(FROM_RUNTIME + ", ".join(helpers)))
        for path in sorted(self.submodules()):
            body.extend(syntax.statements(f"import {path}"))
            whole = f"import {path.partition('.')[0]}"
            body = [b for b in body if syntax.text(b) != whole]
        body.sort(key=lambda b: _import_order(syntax.text(b)))
        body.append(
            syntax.assign("__all__", gast.List([syntax.const(self.entry)], syntax.LOAD))
        )
        for name, value in self.values.items():
            if name not in imports and is_literal(value):
                body.append(syntax.assign(name, syntax.expression(repr(value))))
        return gast.Module([*body, *self.functions], [])


def text_of_now(text: str, values: dict[str, Any]) -> str:
    """The text of a module, with literals of what its names stand for by now."""
    lines = text.split("\n")
    for stmt in reversed(tree_of(text).body):
        if not isinstance(stmt, ast.Assign):
            continue
        name = syntax.text(stmt.targets[0])
        value = ast.literal_eval(stmt.value)
        if repr(value) != repr(values.get(name, value)):
            now = syntax.assign(name, syntax.expression(repr(values[name])))
            changed = emit(gast.Module([now], [])).rstrip("\n").split("\n")
            lines[stmt.lineno - 1 : stmt.end_lineno] = changed
    return "\n".join(lines)


def _inner_module(module: pytypes.ModuleType, path: str) -> str:
    """`scipy.special` for `scipy.special.erf`: the modules on the way there."""
    found = module.__name__
    for attribute in path.split(".")[1:]:
        module = getattr(module, attribute, None)  # type: ignore[assignment]
        inner = f"{found}.{attribute}"
        if not isinstance(module, pytypes.ModuleType) or module.__name__ != inner:
            break
        found = inner
    return found


def _import_order(line: str) -> tuple:
    standard = line.split()[1].split(".")[0] in sys.stdlib_module_names
    return (not standard, line.startswith("from"), line)


def importable_from(value: Any) -> tuple[str, str] | None:
    """The public module and name under which a function or class can be imported."""
    path = getattr(value, "__module__", None)
    name = getattr(value, "__name__", None)
    if isinstance(value, np.ufunc):
        path = (
            "numpy" if getattr(np, value.__name__, None) is value else "scipy.special"
        )
    if not path or not name or not name.isidentifier():
        return None
    if path.startswith("srcjax") and not path.startswith((COMPOSITES, *LIBRARY)):
        return None
    parts = path.split(".")
    if path.startswith(LIBRARY):
        parts = parts[:2]
    for end in range(len(parts), 0, -1):
        if any(p.startswith("_") or not is_name(p) for p in parts[:end]):
            continue
        module = sys.modules.get(".".join(parts[:end]))
        if getattr(module, name, None) is value and parts[0] != "builtins":
            return ".".join(parts[:end]), name
    return None


def is_name(part: str) -> bool:
    """Whether Python's text can have it for a name: `<run_path>` is none."""
    return part.isidentifier() and not keyword.iskeyword(part)


def is_literal(value: Any) -> bool:
    """Whether the value can be written in the text as it is."""
    if type(value) is tuple:
        return all(map(is_literal, value)) and len(value) <= 20
    if type(value) is float:
        return math.isfinite(value)
    return type(value) in (int, bool, str, type(None))


def map_lines(text: str, module: gast.Module) -> LineMap:
    """The user's line behind each generated line."""
    lines: dict[int, tuple[str, int, str]] = {}

    def pair(ours: list, theirs: list) -> None:
        mine = [s for s in ours if not syntax.is_comment(s)]
        for a, b in zip(mine, theirs, strict=False):
            where = syntax.line_behind(a)
            if where is not None:
                lines[b.lineno] = where
            inside = (syntax.inner_blocks(s, definitions=True) for s in (a, b))
            for inner, printed in zip(*inside, strict=False):
                pair(inner, printed)

    pair(module.body, tree_of(text).body)
    return lines


def helper_name(value: Any) -> str | None:
    """The name of a helper in `srcjax.runtime`; None if the value is none."""
    name = getattr(value, "__name__", None)
    return name if name and HELPERS.get(name) is value else None
