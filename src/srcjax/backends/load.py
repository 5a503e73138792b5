"""load: generated text -> a real module, with source, tracebacks and pickling.

What Python's tools need of a module that is not on disk: an entry in `sys.modules`
with a `__spec__`, whose loader has `get_source`, and a file name not in `<>`. Then
`linecache`, on which `inspect`, `traceback` and `pdb` rest, asks the loader again
whenever its own copy is dropped.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import linecache
import os
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import srcjax._generated as package
from srcjax.backends import tracebacks
from srcjax.errors import (
    DividedByZero,
    NotWritten,
    RefusedValueError,
    SrcjaxError,
)
from srcjax.process import tree_of

__all__ = ["LineMap", "annotate", "line_map_of", "load", "report", "unload"]

# A line of generated text -> the user's file, line, and its text.
LineMap = Mapping[int, tuple[str, int, str]]

LINES = "__srcjax_lines__"

# Names that make a module a module: a namespace must not replace them.
RESERVED = {
    "__builtins__",
    "__cached__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    LINES,
}

MISSING = object()

#: Helpers of generated code, by name; the pipeline fills it.
REFUSING: dict[str, Any] = {}

# Never held while a text runs: it may import a module whose import waits for this.
_lock = threading.Lock()
_loaded: dict[tuple[str, str], list[ModuleType]] = {}
_counts: dict[str, int] = {}


class GeneratedLoader:
    """Holds the text of one module and answers the questions of Python's tools."""

    def __init__(self, name: str, text: str, filename: str) -> None:
        self.name = name
        self.text = text
        self.filename = filename
        self.namespace: dict[str, Any] = {}

    def create_module(self, spec: Any) -> None:
        """A module as all others."""

    def get_source(self, fullname: str) -> str:
        self._check(fullname)
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        self._check(fullname)
        return compile(self.text, self.filename, "exec", dont_inherit=True)

    def get_filename(self, fullname: str) -> str:
        self._check(fullname)
        return self.filename

    def is_package(self, fullname: str) -> bool:
        self._check(fullname)
        return False

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.namespace)
        exec(self.get_code(module.__name__), vars(module))

    def write(self) -> None:
        """Let the text be in its file, for what reads nothing else."""
        tracebacks.write(self.filename, self.text)

    def _check(self, fullname: str) -> None:
        if fullname != self.name:
            raise ImportError(f"this loader has no module {fullname!r}", name=fullname)


def load(
    text: str,
    name: str,
    namespace: Mapping[str, Any] | None = None,
    line_map: LineMap | None = None,
    shared: bool = True,
) -> ModuleType:
    """Makes a module `srcjax._generated.<name>` of `text` and runs it.

    **Arguments**

    - `text`: the whole source of the module.
    - `name`: usually that of the entry point. A second text of the same name goes
        to `<name>_2`, and so on. The same text with the same values gives the module
        that is there already.
    - `namespace`: live values that the text refers to; they are in the module before
        it runs. Raises `ValueError` for names that belong to the module itself.
    - `line_map`: where in the user's code each line comes from, for `annotate`.
    - `shared`: whether it may be the module that is there, and later be given again.
    """
    values = dict(namespace or {})
    lines = dict(line_map or {})
    if clash := sorted(RESERVED & values.keys()):
        raise ValueError(f"a module needs these names itself: {', '.join(clash)}")
    base = re.sub(r"\W", "_", name) or "module"
    with _lock:
        known = _known(base, text, values, lines) if shared else None
        full_name = "" if known else _free_name(base)
    if known:
        return known
    module = _make(text, full_name, values, lines)
    if not shared:
        return module
    with _lock:
        known = _known(base, text, values, lines)  # another thread was faster
        if known is None:
            _loaded.setdefault((base, text), []).append(module)
            return module
        _remove(module)
    return known


def unload(module: ModuleType) -> None:
    """Forgets a module that `load` made. Functions that it gave keep working."""
    with _lock:
        for key, modules in list(_loaded.items()):
            if module in modules:
                modules.remove(module)
                if not modules:
                    del _loaded[key]
        _remove(module)


def untested(text: str, entry: str, module: ModuleType) -> FunctionType:
    """The entry point without its test, for callers that know the arguments."""
    function: FunctionType = getattr(module, entry)
    tree = tree_of(text)
    (node,) = (
        n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == entry
    )
    del node.body[1]  # after the docstring
    # With its imports: what a call compiles to depends on them, and the lambdas inside
    # are looked up in the text by their code.
    compiled = compile(tree, function.__code__.co_filename, "exec", dont_inherit=True)
    (code,) = (
        c for c in compiled.co_consts if isinstance(c, CodeType) and c.co_name == entry
    )
    fast = FunctionType(code, vars(module), entry)
    fast.__defaults__ = function.__defaults__
    fast.__kwdefaults__ = function.__kwdefaults__
    fast.__doc__ = function.__doc__
    return fast


def is_generated(namespace: Any) -> bool:
    """Whether it is the namespace of a module that `load` made."""
    return type(namespace) is dict and LINES in namespace


def line_map_of(module: ModuleType) -> LineMap:
    """Where in the user's code each line of a module that `load` made comes from."""
    lines: LineMap = vars(module).get(LINES, {})
    return lines


def report(exc: BaseException) -> None:
    """What users are told of an error where it leaves srcjax.

    `annotate`, the lines of generated text in a file, and a traceback without those of
    srcjax. Raises a `SrcjaxError` where srcjax itself is what fails: where a helper
    refuses what it gets, and where a derivative divides by zero. In an exported module
    these are TypeErrors, ValueErrors and so on.
    """
    __tracebackhide__ = True
    annotate(exc)
    frames = list(traceback.walk_tb(exc.__traceback__))
    try:
        _raise_own(exc, frames)
    finally:
        tracebacks.show(exc)


def _raise_own(exc: BaseException, frames: list) -> None:
    """Raise a SrcjaxError for an error that is one of srcjax."""
    __tracebackhide__ = True
    if isinstance(exc, SrcjaxError) or not frames:
        return
    if is_refusal(exc, frames):
        raise RefusedValueError.like(exc) from exc
    generated = frames[-1][0].f_globals.get(LINES) is not None
    if isinstance(exc, ZeroDivisionError) and generated and not _raises(*frames[-1]):
        raise DividedByZero.like(exc) from exc
    if isinstance(exc, NotImplementedError):
        raised = line_of(frames)
        if raised is not None and not raised.startswith("raise "):
            raise NotWritten.like(exc) from exc


def annotate(exc: BaseException) -> None:
    """Adds a note with the user's file and line to an exception from generated code.

    The innermost generated frame that has a line of the user decides. A second call
    adds nothing.
    """
    note_place(exc, list(traceback.walk_tb(exc.__traceback__)))


def is_refusal(exc: BaseException, frames: list) -> bool:
    """Whether a helper in generated code raised it by a `raise` of its own."""
    if not isinstance(exc, (TypeError, ValueError)):
        return False
    frame, lineno = frames[-1]
    helper = REFUSING.get(frame.f_code.co_name)
    generated = frame.f_globals.get(LINES) is not None
    inside = str(frame.f_globals.get("__name__")).startswith("srcjax.runtime.")
    if not inside and (helper is None or not generated):
        return False  # a function in a helper raises for it
    return _raises(frame, lineno)


def _raises(frame: Any, lineno: int) -> bool:
    """Whether the line is a `raise`: the error is none of an operation."""
    line = linecache.getline(frame.f_code.co_filename, lineno, frame.f_globals)
    return line.lstrip().startswith("raise ")


def line_of(frames: list) -> str | None:
    """The user's line of the innermost generated frame; None without such a frame."""
    for frame, lineno in reversed(frames):
        lines = frame.f_globals.get(LINES)
        if lines is not None:
            return str(lines.get(lineno, ("", 0, ""))[2]).strip()
    return None


def note_place(exc: BaseException, frames: list) -> None:
    """Add the note about the innermost of the frames that has a line of the user."""
    for frame, lineno in reversed(frames):
        place = place_of(frame.f_globals, lineno)
        if place is None:
            continue
        filename, user_line, text = place
        note = f"in the user's code: {filename}:{user_line}: {text}"
        if note not in getattr(exc, "__notes__", ()):
            exc.add_note(note)
        return


def place_of(module_globals: dict[str, Any], lineno: int) -> Any:
    """The user's file, line and its text of a line of a generated module, or None.

    A derivative of a derivative comes from a text whose lines come from the user's.
    """
    lines = module_globals.get(LINES)
    if not lines:
        return None
    place = lines.get(lineno) or lines.get(_statement_line(module_globals, lineno))
    module = None if place is None else generated_module(place[0])
    if module is None:
        return place
    return place_of(vars(module), place[1]) or place


def generated_module(filename: str) -> ModuleType | None:
    """The module whose text has that file name; None of other files."""
    if not tracebacks.is_in_folder(filename):
        return None
    stem = os.path.splitext(os.path.basename(filename))[0]
    module = sys.modules.get(f"{package.__name__}.{stem}")
    return module if module is not None and is_generated(vars(module)) else None


def _known(
    base: str, text: str, values: dict[str, Any], lines: dict[int, tuple[str, int, str]]
) -> ModuleType | None:
    """The module that was made of the same before."""
    for module in _loaded.get((base, text), ()):
        if _has_values(module, values, lines):
            return module
    return None


def _free_name(base: str) -> str:
    """The next name under the package that no module has: `f`, `f_2`, `f_3`."""
    while True:
        count = _counts[base] = _counts.get(base, 0) + 1
        name = base if count == 1 else f"{base}_{count}"
        if f"{package.__name__}.{name}" not in sys.modules:
            return name


def _has_values(
    module: ModuleType, values: dict[str, Any], lines: dict[int, tuple[str, int, str]]
) -> bool:
    """Whether `module` was made from these very objects, and still has them."""
    names = vars(module)
    made_from = names["__loader__"].namespace
    return (
        made_from.keys() == values.keys()
        and all(made_from[k] is v for k, v in values.items())
        and all(names.get(k, MISSING) is made_from[k] for k in made_from)
        and names[LINES] == lines
    )


def _make(
    text: str,
    name: str,
    values: dict[str, Any],
    lines: dict[int, tuple[str, int, str]],
) -> ModuleType:
    full_name = f"{package.__name__}.{name}"
    # An absolute path, because pdb makes the paths of its breakpoints absolute. The
    # loader has the text, and a file is there once an error went through it.
    filename = os.path.join(tracebacks.Texts.folder, f"{name}.py")
    loader = GeneratedLoader(full_name, text, filename)
    loader.namespace = values
    given: Any = loader  # it has what a loader has, and no base class to import
    spec = importlib.machinery.ModuleSpec(full_name, given, origin=filename)
    spec.has_location = True  # sets `__file__`
    module = importlib.util.module_from_spec(spec)
    setattr(module, LINES, lines)
    # Like an import: there before it runs, and not there if it fails.
    sys.modules[full_name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        _remove(module)
        raise
    setattr(package, name, module)
    # pdb looks a line up by file name alone when it sets a breakpoint.
    linecache.lazycache(filename, vars(module))
    return module


def _remove(module: ModuleType) -> None:
    name = module.__name__
    if sys.modules.get(name) is module:
        del sys.modules[name]
    vars(package).pop(name.rpartition(".")[2], None)
    linecache.cache.pop(str(module.__file__), None)


def _statement_line(module_globals: dict[str, Any], lineno: int) -> int | None:
    """The first line of the innermost statement that `lineno` is a part of."""
    loader = module_globals.get("__loader__")
    if not isinstance(loader, GeneratedLoader):
        return None
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree_of(loader.text))
        if isinstance(node, ast.stmt)
    ]
    return max((a for a, b in spans if a <= lineno <= b), default=None)
