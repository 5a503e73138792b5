"""export: a generated module -> a text that runs where srcjax is not installed.

What the generated code still calls is written out beside it: helpers of srcjax, the
user's own functions and classes, constants and arrays. Libraries are imported.
"""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import keyword
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.backends.export_literals import NotLiteral, is_plain, literal
from srcjax.backends.export_scope import GlobalNames, bound_names
from srcjax.backends.marks import transform_of
from srcjax.backends.python_text import emit
from srcjax.errors import ArgumentError, SrcjaxError, UnsupportedError
from srcjax.frontend.read import read
from srcjax.process import tree_of

if TYPE_CHECKING:
    from srcjax.backends.module import Module

__all__ = ["export", "export_text"]

BUILTIN_NAMES = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
CLASS_KEYWORDS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
#: Parts of srcjax that are plain NumPy, and are copied.
PLAIN = (
    "srcjax.ops.composites",
    "srcjax.image",
    "srcjax.lax",
    "srcjax.nn",
    "srcjax.optim",
    "srcjax.random",
)
#: More elements than this are written in lines filled with them, not one a line.
FILLED_FROM = 40


def export(f: Callable, path: Any, *args: Any, **kwargs: Any) -> Path:
    """Write a transformed function as a module that imports only NumPy.

    The module's one public name is the entry point: `grad_loss` for
    `srcjax.grad(loss)`. SciPy, CuPy and other libraries are imported if the function
    uses them; srcjax never is. Constants have the values that they have now.

    Args:
        f: what `grad` or `value_and_grad` returned.
        path: the file to write; one that is there is replaced.
        args, kwargs: example arguments. They make the text cleaner, and the module
            then serves arguments of their types and ranks, of any size; it raises
            ValueError for arguments that it was not written for. Shapes by name do so
            too, as for `source`.

    Returns:
        The path of the file.

    Raises:
        ArgumentError: `f` was not made by srcjax, or it uses a value that has no text.

    >>> path = srcjax.export(srcjax.grad(lambda x: x * x), "grad_square.py", 2.0)
    >>> print(path.read_text().splitlines()[-1].strip())
    return 2 * x
    """
    transform = transform_of(f, "srcjax.export(srcjax.grad(f), path)")
    module = transform.shown_for(args, kwargs)
    origin = _origin(transform.source.func, transform.source.name)
    text = export_text(module, f"Written by srcjax from `{origin}`.")
    target = Path(path)
    target.write_text(text, encoding="utf-8", newline="\n")
    return target


def export_text(module: Module, docstring: str | None = None) -> str:
    """The text of a module that runs where srcjax is not installed.

    Args:
        module: what the pipeline made.
        docstring: of the exported module; by default it names the entry point.

    Raises:
        ArgumentError: something that the code uses has no text.
    """
    exporter = Exporter()
    entry = exporter.add_module(module)
    return exporter.text(entry, docstring or "Written by srcjax.")


def _origin(function: Any, name: str) -> str:
    """`models.loss`: where a function is from, without a path."""
    qualified = function.__qualname__.rpartition("<locals>.")[2]
    if "<" in qualified:
        qualified = name
    module = function.__module__
    return qualified if module in (None, "__main__") else f"{module}.{qualified}"


@dataclass
class Definition:
    """Statements that define one name of the exported module."""

    name: str
    #: Constants, classes, helpers, the user's functions, generated functions.
    rank: int
    body: list[gast.stmt] = field(default_factory=list)
    #: The text, if it stands as it was written.
    verbatim: str | None = None
    #: Names that must be defined before.
    needs: set[str] = field(default_factory=set)
    #: Names that its functions use when they run, in the order in which they occur.
    uses: dict[str, None] = field(default_factory=dict)


CONSTANT, CLASS, HELPER, USER, GENERATED = range(5)
CALLED = (HELPER, USER)


class Exporter:
    """Collects definitions, each after what it needs has been named."""

    def __init__(self) -> None:
        self.definitions: dict[str, Definition] = {}
        self.imports: set[tuple[str, str, str]] = set()  # module, name or "", alias
        self.submodules: set[str] = set()
        self.taken: set[str] = set(BUILTIN_NAMES)
        #: What was given a name, by what it is; the value is kept, so is its id.
        self.known: dict[Any, list[tuple[str, Any]]] = {}

    # -- names ----------------------------------------------------------------------

    def fresh(self, hint: str, avoid: frozenset[str]) -> str:
        """A name that nothing has, in the module or in the code that will use it."""
        name = syntax.Names(self.taken | avoid).fresh(hint)
        self.taken.add(name)
        return name

    def reference(
        self, value: Any, hint: str, avoid: frozenset[str] = frozenset()
    ) -> str:
        """The module's name for a value, which is defined if it is not yet.

        Raises ArgumentError if the value has no text.
        """
        key = self.identity(value, hint)
        names = self.known.setdefault(key, [])
        for name, _ in names:
            if name not in avoid:
                return name
        # A user's name for it that is free is the best one.
        name = self.fresh(hint, avoid)
        names.append((name, value))
        if len(names) > 1 and not isinstance(value, types.ModuleType):
            same = syntax.assign(name, syntax.name(names[0][0]))
            self.definitions[name] = Definition(
                name, CONSTANT, [same], needs={names[0][0]}
            )
            return name
        self.define(name, value, hint)
        return name

    def identity(self, value: Any, hint: str) -> Any:
        """What makes a value the same one: it itself, or its text if it is plain."""
        if is_plain(value):
            return (hint, type(value), repr(value))
        if isinstance(value, types.ModuleType):
            return (hint, id(value))
        return id(value)

    # -- definitions ------------------------------------------------------------------

    def define(self, name: str, value: Any, hint: str) -> None:
        """Write or import what `name` stands for. Raises ArgumentError."""
        if isinstance(value, types.ModuleType):
            self.import_module(name, value)
            return
        if callable(value) and self.define_callable(name, value, hint):
            return
        needs: set[str] = set()

        def reference(part: Any, part_name: str) -> gast.expr:
            known = self.reference(part, part_name)
            needs.add(known)
            return syntax.name(known)

        try:
            expression = literal(value, reference)
        except NotLiteral as reason:
            raise ArgumentError(
                f"`{hint}` cannot be exported: {reason}",
                instead=f"pass `{hint}` to the function as an argument",
            ) from None
        body: list[gast.stmt] = [syntax.assign(name, expression)]
        definition = Definition(name, CONSTANT, body, needs=needs)
        if isinstance(value, np.ndarray) and value.size > FILLED_FROM:
            definition.verbatim = _filled(body, value)
        self.definitions[name] = definition

    def define_callable(self, name: str, value: Any, hint: str) -> bool:
        """Write or import a function, class or other callable; False: another way."""
        transform = getattr(value, "__srcjax_transform__", None)
        if transform is not None:
            self.add_transformed(name, transform)
            return True
        if getattr(value, "__module__", None) == "srcjax.analysis.custom" or (
            type(value).__module__ == "srcjax.analysis.custom"
        ):
            inner = getattr(value, "function", None)
            if inner is None:
                raise _needs_srcjax(hint)
            return self.define_callable(name, inner, hint)
        found = importable(value)
        if found is not None:
            module, attribute = found
            self.imports.add((module, attribute, name))
            return True
        if isinstance(value, types.FunctionType):
            self.add_function(name, value, hint)
            return True
        if isinstance(value, type):
            self.add_class(name, value, hint)
            return True
        if isinstance(value, types.MethodType):
            owner = self.reference(
                value.__self__, _snake(type(value.__self__).__name__)
            )
            method = gast.Attribute(syntax.name(owner), value.__name__, syntax.LOAD)
            body = [syntax.assign(name, method)]
            self.definitions[name] = Definition(name, CONSTANT, body, needs={owner})
            return True
        inner = getattr(value, "__wrapped__", None)
        if inner is not None and hasattr(value, "cache_parameters"):
            function = self.reference(inner, f"{hint}_uncached")
            cache = self.reference(functools.lru_cache, "lru_cache")
            named = {k: syntax.const(v) for k, v in value.cache_parameters().items()}
            cached = syntax.call(syntax.call(cache, **named), syntax.name(function))
            self.definitions[name] = Definition(
                name, USER, [syntax.assign(name, cached)], needs={function}
            )
            return True
        return False

    def add_module(self, module: Module, entry: str | None = None) -> str:
        """Add generated functions; returns the name of the entry point."""
        own: dict[str, str] = {}
        for function in module.functions:
            if entry is not None and function.name == module.entry:
                own[function.name] = entry
            else:
                own[function.name] = self.fresh(function.name, frozenset())
        for function in module.functions:
            node = syntax.clone(function)
            node.name = own[function.name]
            node.decorator_list = [
                d for d in node.decorator_list if not is_optional(module, d)
            ]

            def lookup(name: str) -> Any:
                return module.values[name]

            self.rewrite(node, lookup, GENERATED, own)
        return own[module.entry]

    def add_transformed(self, name: str, transform: Any) -> None:
        """Add what `srcjax.grad` made, for arguments of any type."""
        types_ = transform.hinted_types()
        self.add_module(transform.build(types_, False), name)

    def add_function(self, name: str, function: types.FunctionType, hint: str) -> None:
        """Add a Python function as plain source."""
        module = function.__module__ or ""
        if f"{module}.".startswith(f"{runtime.__name__}."):
            self.add_helper(name, function)
            return
        if module.partition(".")[0] == "srcjax" and not (
            module.startswith("srcjax._generated")
            or module.startswith(PLAIN)
            or function.__name__ == "stop_gradient"  # the identity, when it runs
        ):
            raise _needs_srcjax(hint)
        if module.startswith(PLAIN):  # what threads share, one does as well
            function = inspect.unwrap(function)
        node = _function_node(function, hint)
        node.name = name
        lookup = function_lookup(function)
        self.live_defaults(node, function, name)
        self.rewrite(node, lookup, USER)

    def add_helper(self, name: str, function: types.FunctionType) -> None:
        """Add a helper of the runtime, as it is written where no name differs."""
        text = inspect.getsource(function)
        node = syntax.gast_of(text).body[0]
        before = syntax.text(node)
        node.name = name
        definition = self.rewrite(node, function_lookup(function), HELPER)
        if syntax.text(node) == before:
            definition.verbatim = text

    def live_defaults(self, node: Any, function: Any, hint: str) -> None:
        """Defaults have the values that they had when the function was made."""
        args = node.args

        def current(value: Any, parameter: Any) -> gast.expr:
            if is_plain(value):
                return literal(value, lambda v, n: syntax.name(self.reference(v, n)))
            return syntax.name(self.reference(value, f"{hint}_{parameter.id}"))

        positional = [*args.posonlyargs, *args.args]
        values = function.__defaults__ or ()
        chosen = positional[len(positional) - len(values) :]
        args.defaults = [current(v, p) for v, p in zip(values, chosen, strict=True)]
        named = function.__kwdefaults__ or {}
        args.kw_defaults = [
            current(named[p.id], p) if p.id in named else None for p in args.kwonlyargs
        ]

    def add_class(self, name: str, cls: type, hint: str) -> None:
        """Add a class of the user's."""
        if cls.__module__.partition(".")[0] == "srcjax":
            raise _needs_srcjax(hint)
        # `typing.NamedTuple` leaves annotations, `collections.namedtuple` does not.
        is_tuple = hasattr(cls, "_fields") and cls.__bases__ == (tuple,)
        if is_tuple and not inspect.get_annotations(cls):
            self.add_namedtuple(name, cls)
            return
        try:
            text = textwrap.dedent(inspect.getsource(cls))
            node = syntax.gast_of(text).body[0]
        except (OSError, TypeError, SyntaxError):
            raise ArgumentError(
                f"the class `{cls.__qualname__}` cannot be exported: its source is not "
                "found",
                instead="define it with a class statement in a file",
            ) from None
        node.name = name
        lookup = class_lookup(cls)
        self.keep_annotations(node, lookup, cls)
        self.rewrite(node, lookup, CLASS, {cls.__name__: name})

    def add_namedtuple(self, name: str, cls: Any) -> None:
        """Add a class that `collections.namedtuple` made."""
        maker = self.reference(collections.namedtuple, "namedtuple")
        fields = gast.List([syntax.const(f) for f in cls._fields], syntax.LOAD)
        named = {}
        if cls._field_defaults:
            values = tuple(cls._field_defaults.values())
            named["defaults"] = syntax.name(self.reference(values, f"{name}_defaults"))
        made = syntax.call(maker, syntax.const(name), fields, **named)
        self.definitions[name] = Definition(
            name, CLASS, [syntax.assign(name, made)], needs=syntax.names_read(made)
        )

    def keep_annotations(self, node: Any, lookup: Callable, cls: type) -> None:
        """Fields keep their annotations where all names in them can be exported."""
        for statement in node.body:
            if not isinstance(statement, gast.AnnAssign):
                continue
            annotation = statement.annotation
            if isinstance(annotation, gast.Constant) and isinstance(
                annotation.value, str
            ):
                try:
                    annotation = syntax.expression(annotation.value)
                except SyntaxError:
                    annotation = syntax.name("object")
            names = syntax.names_read(annotation)
            keep = cls.__name__ not in names
            keep = keep and all(_is_library(n, lookup) for n in names)
            statement.annotation = annotation if keep else syntax.name("object")

    def rewrite(
        self,
        node: Any,
        lookup: Callable[[str], Any],
        rank: int,
        own: dict[str, str] | None = None,
    ) -> Definition:
        """Add a function or class, its global names replaced by the module's."""
        own = own or {}
        # There before its parts: what it needs may need it.
        definition = self.definitions[node.name] = Definition(node.name, rank, [node])

        def resolve(
            name: str, attributes: tuple[str, ...], bound: frozenset[str]
        ) -> tuple[gast.expr, int]:
            if name in own:
                return syntax.name(own[name]), 0
            try:
                value = lookup(name)
            except KeyError:
                if hasattr(builtins, name):
                    return syntax.name(name), 0
                raise ArgumentError(
                    f"`{name}`, which `{node.name}` uses, has no value",
                    instead=f"define `{name}` before the export",
                ) from None
            if getattr(builtins, name, None) is value and hasattr(builtins, name):
                return syntax.name(name), 0
            used = 0
            # A part of the user's own module is exported, and of srcjax refused.
            while isinstance(value, types.ModuleType) and not is_installed(value):
                if used == len(attributes):
                    raise ArgumentError(
                        f"the module `{name}` cannot be exported as a value",
                        instead=f"use its functions by name: `{name}.f(x)`",
                    )
                value = getattr(value, attributes[used])
                name = attributes[used]
                used += 1
            found = self.reference(value, name, bound)
            definition.uses[found] = None
            if isinstance(value, types.ModuleType):
                self.note_submodules(found, value, attributes[used:])
            return syntax.name(found), used

        def on_write(name: str) -> None:
            raise _assigns(node.name, name)

        GlobalNames(resolve, on_write).visit(node, frozenset())
        if rank == CLASS:
            definition.needs = _evaluated_names(node)
        else:
            named = [d for d in node.args.kw_defaults if d is not None]
            definition.needs = syntax.names_read([*node.args.defaults, *named])
        definition.needs.discard(node.name)
        return definition

    # -- imports -----------------------------------------------------------------------

    def import_module(self, name: str, module: types.ModuleType) -> None:
        """Import a library. Raises ArgumentError for what is not one."""
        if not is_installed(module):
            raise ArgumentError(
                f"the module `{module.__name__}` cannot be exported as a value",
                instead="use its functions by name",
            )
        path = module.__name__
        if path == name:
            self.imports.add((path, "", ""))
        elif "." in path and path.rpartition(".")[2] == name:
            parent, _, last = path.rpartition(".")
            self.imports.add((parent, last, last))
        else:
            self.imports.add((path, "", name))

    def note_submodules(
        self, name: str, module: types.ModuleType, attributes: tuple[str, ...]
    ) -> None:
        """`scipy.special.erf` needs `import scipy.special`."""
        path = module.__name__
        if path != name or path == "numpy":
            return
        for attribute in attributes:
            inner = sys.modules.get(f"{path}.{attribute}")
            if (
                inner is None
                or getattr(sys.modules[path], attribute, None) is not inner
            ):
                break
            path = f"{path}.{attribute}"
        if path != module.__name__:
            self.submodules.add(path)

    def import_lines(self) -> list[str]:
        """Import statements in the order that isort gives them."""
        plain = {(m, a) for m, n, a in self.imports if not n}
        for path in self.submodules:
            plain.discard((path.partition(".")[0], ""))
            plain.add((path, ""))
        members: dict[str, set[tuple[str, str]]] = {}
        for module, attribute, alias in self.imports:
            if attribute:
                members.setdefault(module, set()).add((attribute, alias))
        lines: list[str] = []
        for standard in (True, False):
            section: list[str] = []
            for path, alias in sorted(plain):
                if _is_standard(path) == standard:
                    section.append(f"import {path}" + (f" as {alias}" if alias else ""))
            for path in sorted(members):
                if _is_standard(path) != standard:
                    continue
                together = sorted(
                    (n for n, a in members[path] if n == a), key=_member_order
                )
                if together:
                    section.append(f"from {path} import {', '.join(together)}")
                for attribute, alias in sorted(members[path]):
                    if attribute != alias:
                        section.append(f"from {path} import {attribute} as {alias}")
            if section:
                lines += ["", *section] if lines else section
        return lines

    # -- the text ----------------------------------------------------------------------

    def text(self, entry: str, docstring: str) -> str:
        """The whole module."""
        ordered = self.ordered(entry)
        head: list[gast.stmt] = [gast.Expr(syntax.const(docstring))]
        parts = [emit(gast.Module(head, [])).rstrip("\n")]
        lines = [
            "" if not line else emit(syntax.statements(line)).rstrip("\n")
            for line in self.import_lines()
        ]
        if lines:
            parts.append("\n".join(lines))
        names = gast.List([syntax.const(entry)], syntax.LOAD)
        constants = [d for d in ordered if d.rank == CONSTANT]
        rows = [emit([syntax.assign("__all__", names)]).rstrip("\n")]
        first = [d for d in constants if not d.needs - self.imported()]
        parts.append("\n".join(rows))
        if first:
            parts.append("\n".join(_text(d) for d in first))
        text = "\n\n".join(parts)
        previous = CONSTANT
        for definition in ordered:
            if definition in first:
                continue
            block = definition.body and isinstance(definition.body[0], CLASS_KEYWORDS)
            tight = previous == CONSTANT and not block
            text += ("\n" if tight else "\n\n\n") + _text(definition)
            previous = GENERATED if block else CONSTANT
        text += "\n"
        self.check(text)
        return text

    def imported(self) -> set[str]:
        """Names that imports bind."""
        found = {
            (alias or module).partition(".")[0] for module, _, alias in self.imports
        }
        return found | {path.partition(".")[0] for path in self.submodules}

    def ordered(self, entry: str) -> list[Definition]:
        """Definitions by rank, each after those that it needs; the entry is last."""
        found = [d for d in self.definitions.values() if d.name != entry]
        found.sort(key=lambda d: d.rank)
        # Callees first reads best; generated functions have that order already.
        called = self._sorted(found, lambda d: d.uses if d.rank in CALLED else ())
        called.sort(key=lambda d: d.rank)
        return self._sorted([*called, self.definitions[entry]], lambda d: d.needs)

    def _sorted(self, found: list[Definition], before: Callable) -> list[Definition]:
        """The definitions, in order but for those that go before others."""
        chosen = {d.name: d for d in found}
        done: dict[str, Definition] = {}
        begun: set[str] = set()

        def add(definition: Definition) -> None:
            if definition.name in begun:
                return
            begun.add(definition.name)
            names = before(definition)
            for name in sorted(names) if isinstance(names, set) else names:
                if name in chosen:
                    add(chosen[name])
            done[definition.name] = definition

        for definition in found:
            add(definition)
        return list(done.values())

    def check(self, text: str) -> None:
        """The module is whole: it parses, and no name in it is undefined."""
        tree = syntax.gast_of(text)
        defined = bound_names(tree.body)

        def resolve(
            name: str, attributes: tuple[str, ...], bound: frozenset[str]
        ) -> tuple[gast.expr, int]:
            if name not in defined and not hasattr(builtins, name):
                raise ArgumentError(
                    f"`{name}` cannot be exported: no value is known for it",
                    instead="pass it to the function as an argument",
                )
            return syntax.name(name), 0

        GlobalNames(resolve, lambda name: None).visit(tree.body, frozenset())
        tree_of(text)


def _text(definition: Definition) -> str:
    text = definition.verbatim
    return (emit(definition.body) if text is None else text).rstrip("\n")


def _filled(body: list[gast.stmt], value: np.ndarray) -> str | None:
    """An array's text in filled lines; None if the usual layout is short enough."""
    if value.dtype.kind in "SU" or len(emit(body).splitlines()) <= FILLED_FROM:
        return None
    lines = textwrap.wrap(
        syntax.text(body),
        88,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(["# fmt: off", *lines, "# fmt: on"])


def _member_order(name: str) -> tuple:
    """Constants, then classes, then the rest, as isort has them."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return (kind, name)


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def _needs_srcjax(name: str) -> ArgumentError:
    return ArgumentError(
        f"`{name}` cannot be exported: it needs srcjax when it runs",
        instead="call functions by their own names, so that which one runs is known, "
        "and do without `srcjax.checkpoint` in what is exported",
    )


def is_optional(module: Module, decorator: gast.expr) -> bool:
    """Whether a function gives the same without a decorator."""
    value = module.values.get(getattr(decorator, "id", ""))
    return getattr(value, "__srcjax_optional__", False)


def _assigns(function: str, name: str) -> ArgumentError:
    return ArgumentError(
        f"`{function}` assigns to `{name}`, a variable outside of it",
        instead="return the value instead",
    )


def _function_node(function: types.FunctionType, hint: str) -> Any:
    """A function as a definition without decorators. Raises ArgumentError."""
    try:
        source = read(function)
    except UnsupportedError:  # a generator is fine where it only runs
        node = syntax.gast_of(textwrap.dedent(inspect.getsource(function))).body[0]
        node.decorator_list = []
        return node
    except SrcjaxError as error:
        raise ArgumentError(
            f"`{hint}` cannot be exported: {error.reason}",
            instead="define it with a def statement in a file",
        ) from error
    node = source.node
    for name in sorted(source.rebound & source.closure.keys()):
        raise _assigns(hint, name)
    if source.docstring is not None:
        text = gast.Expr(syntax.const(source.docstring))
        kept = [s for s in node.body if not isinstance(s, gast.Pass)]
        node.body = [text, *kept]
    return node


def function_lookup(function: types.FunctionType) -> Callable[[str], Any]:
    """What a function's global names and closure mean now; KeyError if nothing."""
    cells = dict(
        zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )

    def lookup(name: str) -> Any:
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return function.__globals__[name]

    return lookup


def class_lookup(cls: type) -> Callable[[str], Any]:
    """What names in a class mean now; KeyError if nothing."""
    functions = [f for f in map(_plain_function, vars(cls).values()) if f is not None]
    scope = getattr(sys.modules.get(cls.__module__), "__dict__", {})

    def lookup(name: str) -> Any:
        for function in functions:
            if name in function.__code__.co_freevars and name != "__class__":
                return function_lookup(function)(name)
        for function in functions:
            if name in function.__globals__ and function.__module__ == cls.__module__:
                return function.__globals__[name]
        return scope[name]

    return lookup


def _plain_function(value: Any) -> types.FunctionType | None:
    value = getattr(value, "fget", value)
    value = getattr(value, "__func__", value)
    return value if isinstance(value, types.FunctionType) else None


def _evaluated_names(cls: gast.ClassDef) -> set[str]:
    """Names that are read when a class statement runs, not when its methods do."""
    found = syntax.names_read([cls.decorator_list, cls.bases, cls.keywords])
    for statement in cls.body:
        if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef)):
            args = statement.args
            found |= syntax.names_read([statement.decorator_list, args.defaults])
            found |= syntax.names_read([d for d in args.kw_defaults if d is not None])
        else:
            found |= syntax.names_read(statement)
    return found


def _is_library(name: str, lookup: Callable[[str], Any]) -> bool:
    """Whether a name stands for a library, a part of one, or a builtin."""
    try:
        value = lookup(name)
    except KeyError:
        return hasattr(builtins, name)
    if isinstance(value, types.ModuleType):
        return is_installed(value)
    return getattr(builtins, name, None) is value or importable(value) is not None


def _is_standard(path: str) -> bool:
    return path.partition(".")[0] in sys.stdlib_module_names


def is_installed(module: Any) -> bool:
    """Whether a module is a library: Python's own, or in a folder of installed ones."""
    path = module.__name__
    top = path.partition(".")[0]
    if top in ("__main__", "srcjax"):
        return False
    if top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(top, module), "__file__", None) or ""
    parts = Path(file).parts
    return "site-packages" in parts or "dist-packages" in parts


def importable(value: Any) -> tuple[str, str] | None:
    """The library module and the name in it by which a function or class is found."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    path = getattr(value, "__module__", None)
    if isinstance(value, np.ufunc):
        # They do not say where they are from.
        places = ["numpy", "scipy.special"]
    elif isinstance(path, str):
        pieces = path.split(".")
        places = [".".join(pieces[: i + 1]) for i in range(len(pieces))]
        places = [path.removeprefix("_"), *places]  # `_operator` is `operator`
    else:
        places = ["numpy"]
    for place in places:
        module = sys.modules.get(place)
        if module is None or not is_installed(module):
            continue
        if getattr(module, name, None) is value:
            return place, name
    # Types of the interpreter are found under other names than their own.
    found = (n for n, v in vars(types).items() if v is value)
    return next((("types", n) for n in found if isinstance(value, type)), None)
