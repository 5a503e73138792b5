"""What a function that users get looks like: as the one it is of, with its own text.

Python's tools ask a function for `__doc__`, `__annotations__` and `__signature__`, and
follow `__wrapped__` to what they show. Users mean by that the function that they wrote,
`inspect.getsource`, `help` and a notebook's `??` the derivative. So `df.__wrapped__` is
called like the user's function, and stands where the derivative stands: in the module
of the version that was looked up last, and before the first call in a text that is
written when it is asked for.
"""

from __future__ import annotations

import functools
import importlib.machinery
import inspect
import itertools
import linecache
import os
import sys
import textwrap
import types as pytypes
import weakref
from collections.abc import Callable
from typing import Any

from srcjax.backends.tracebacks import Texts
from srcjax.errors import SrcjaxError
from srcjax.versions.recipes import Recipe, name_it

#: What a function has for `srcjax` alone, or has of its own.
_NOT_TAKEN_OVER = ("__wrapped__", "__signature__")
_numbers = itertools.count(1)

#: The module of what has no text yet. It has a loader, so that tools look into
#: `linecache`, where the texts are.
UNWRITTEN = "srcjax._generated.unwritten"


class NoText:
    """The loader of that module."""

    def get_source(self, name: str) -> str:
        raise ImportError(f"the text of {name} is written for each function", name=name)


def _unwritten() -> pytypes.ModuleType:
    module = pytypes.ModuleType(UNWRITTEN)
    loader: Any = NoText()
    module.__spec__ = importlib.machinery.ModuleSpec(UNWRITTEN, loader)
    module.__loader__ = loader
    return module


sys.modules[UNWRITTEN] = _unwritten()


class Dress:
    """How one such function looks, kept up to date."""

    def __init__(self, made: Any, transform: Any) -> None:
        self.transform = transform
        self.version: Any = None
        self.doc = documentation(transform, made.__name__)
        made.__doc__ = self.doc
        self.made = weakref.ref(made)
        self.shown = _shown(transform.of, made.__name__, transform)

    def note(self, version: Any) -> None:
        """Show the text of this version."""
        made = self.made()
        if version is None or version is self.version or made is None:
            return
        self.version = version
        code = version.function.__code__
        self.shown.__code__ = self.shown.__code__.replace(
            co_filename=code.co_filename,
            co_firstlineno=code.co_firstlineno,
            co_name=code.co_name,  # pdb stops in functions of this name
        )
        self.shown.__module__ = version.loaded.__name__
        if made.__doc__ is self.doc:  # a user may have given it another one
            self.doc = _with_text(documentation(self.transform, made.__name__), version)
            made.__doc__ = self.doc

    def __reduce__(self) -> tuple:
        """In another process nobody asks how it looks."""
        return NotNoted, ()


class NotNoted:
    """Stands for it there."""

    version: Any = None

    def note(self, version: Any) -> None:
        """Nothing."""


def dress(
    made: Any, transform: Any, recipe: Recipe | None = None, signature: bool = True
) -> Dress:
    """Let a function that calls the transform look like that which it is of.

    With a `recipe` it can be made again by its name. With `signature`, it is called as
    that function is; else it has one already.
    """
    function = transform.of
    made.__name__ = transform.made_name
    name_it(made, recipe, function)
    _take_over(made, innermost(transform).function)
    if signature:
        _sign(made, transform)
    made.__srcjax_transform__ = transform
    found = Dress(made, transform)
    made.__wrapped__ = found.shown
    return found


def innermost(transform: Any) -> Any:
    """The transform of the user's function, of those that stand one in another."""
    while transform.inner is not None:
        transform = transform.inner
    return transform


def _take_over(made: Any, function: Any) -> None:
    """Give it the attributes of the user's function."""
    if isinstance(function, (pytypes.FunctionType, pytypes.MethodType)):
        for key, value in vars(function).items():
            if key not in _NOT_TAKEN_OVER and not key.startswith("__srcjax_"):
                made.__dict__.setdefault(key, value)


def _sign(made: Any, transform: Any) -> None:
    """Give it annotations and a signature."""
    function = transform.function
    annotations = dict(getattr(function, "__annotations__", None) or {})
    made.__annotations__ = transform.annotations(annotations)
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):  # NumPy's do not tell
        found = inspect.signature(made)
    if not annotations and found.return_annotation is found.empty:
        made.__signature__ = found
        return
    kept = [
        p.replace(annotation=made.__annotations__.get(p.name, p.empty))
        for p in found.parameters.values()
    ]
    returned = made.__annotations__.get("return", found.empty)
    made.__signature__ = inspect.Signature(kept, return_annotation=returned)


def documentation(transform: Any, name: str) -> str:
    """What it gives, where its text is found, and what its user says of it."""
    try:
        first = transform.summary()
    except SrcjaxError:  # what it is about is told by a call
        first = f"The {transform.name} of a function"
    function = innermost(transform).function
    written = isinstance(function, (pytypes.FunctionType, pytypes.MethodType))
    own = (function.__doc__ or "") if written else ""  # else that of its class
    rest = f"\n\n{inspect.cleandoc(own)}" if own else ""
    return f"{first}. `srcjax.source({name}, ...)` is its text.{rest}"


def _with_text(documentation: str, version: Any) -> str:
    """The same with the functions of a version below."""
    module = version.module
    _, _, text = module.text.partition("__all__ = ")
    functions = text.partition("\n")[2].strip("\n")
    if not functions or ">>>" in functions:  # examples are not to be run twice
        return documentation
    block = textwrap.indent(functions, "    ")
    return f"{documentation}\n\nIts text, for what it was called with::\n\n{block}\n"


def _shown(function: Any, name: str, transform: Any) -> pytypes.FunctionType:
    """What `__wrapped__` is: it calls the function, and stands where a text stands."""
    filename = os.path.join(Texts.folder, f"{name}-{next(_numbers)}.py")
    around = getattr(function, "__globals__", None)
    found = _calling(function, around if isinstance(around, dict) else globals())
    found.__code__ = found.__code__.replace(co_filename=filename, co_firstlineno=1)
    found.__name__ = found.__qualname__ = getattr(function, "__name__", name)
    found.__module__ = UNWRITTEN  # not the user's: tools look for a text in it
    found.__srcjax_function__ = function  # type: ignore[attr-defined]
    found.__srcjax_inside__ = function  # type: ignore[attr-defined]
    if hasattr(function, "__srcjax_transform__"):
        found.__srcjax_transform__ = function.__srcjax_transform__  # type: ignore[attr-defined]
    linecache.cache[filename] = (functools.partial(_text_of, weakref.ref(transform)),)
    weakref.finalize(transform, linecache.cache.pop, filename, None).atexit = False
    return found


def _calling(function: Callable, around: dict[str, Any]) -> pytypes.FunctionType:
    """A function that passes its arguments on, with the globals of another one."""

    def passed_on(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return pytypes.FunctionType(
        passed_on.__code__, around, closure=passed_on.__closure__
    )


def _text_of(transform: weakref.ref) -> str | None:
    """The entry point of the text to read; None where there is none."""
    found = transform()
    if found is None:
        return None
    try:
        module = found.module_to_read()
    except SrcjaxError:
        return None
    lines = module.text.splitlines(keepends=True)
    start = next(
        (k for k, line in enumerate(lines) if line.startswith(f"def {module.entry}(")),
        0,
    )
    return "".join(lines[start:])
