"""Names by which Python's `pickle` finds what a transform made, in another process.

`pickle` takes a function by the name of its module and its own name there. So
`@srcjax.grad def force` of a module has the name of `force`, which is where it is
found. What has no such place, `pool.map(srcjax.grad(loss), xs)`, is in a module of
the package `srcjax.made`, whose name tells how it is made: `grad('model:loss')`. Where
the module is imported, it is made.

What only lives in `__main__` or in a function is carried by value by those who can,
such as joblib's and Dask's `cloudpickle`: the transform, the function, and the texts of
a notebook's cells that the function stands in.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import re
import sys
import traceback
import types as pytypes
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from srcjax.process import tree_of

#: The package of such modules.
MADE = "srcjax.made"
#: What may make something by its name.
MAKERS = frozenset(
    ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "vjp", "jvp", "vmap")
    + ("jit", "vectorize")
)

#: What their options are where nothing is said.
DEFAULTS: dict[str, Any] = {
    "argnums": 0,
    "axis_name": None,
    "axis_size": None,
    "check": None,
    "device": None,
    "excluded": set(),
    "has_aux": False,
    "holomorphic": False,
    "in_axes": 0,
    "out_axes": 0,
    "signature": None,
    "static_argnames": (),
    "static_argnums": (),
}

#: What was made, by name, and how many there were.
_counts: dict[str, int] = {}
_made: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class Recipe:
    """How a function was made: `maker(of, **options)`."""

    maker: str
    of: Callable
    options: dict[str, Any]

    def text(self) -> str | None:
        """The call that makes it; None where the function has no name to import."""
        of = address(self.of)
        given = {
            name: value
            for name, value in self.options.items()
            if not (type(value) is type(DEFAULTS[name]) and value == DEFAULTS[name])
        }
        if of is None or not all(map(_is_literal, given.values())):
            return None
        named = "".join(f", {k}={v!r}" for k, v in given.items())
        return f"{self.maker}({of}{named})"


def _is_literal(value: Any) -> bool:
    if value == set():  # it has no text of its own
        return False
    try:
        return bool(ast.literal_eval(_expression(repr(value))) == value)
    except (ValueError, SyntaxError):
        return False


def _expression(text: str) -> ast.expr:
    """The tree of an expression. Raises SyntaxError or ValueError."""
    match tree_of(text).body:
        case [ast.Expr(value)]:
            return value
    raise ValueError(text)


def address(function: Any) -> str | None:
    """The expression for a function that can be imported, or made of one."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if isinstance(module, str) and module.startswith(f"{MADE}."):
        recipe = getattr(function, "__srcjax_recipe__", None)
        return None if recipe is None else recipe.text()
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    try:
        found = importable(f"{module}:{name}")
    except (ImportError, AttributeError):
        return None
    return repr(f"{module}:{name}") if found is function else None


def importable(place: str, load: bool = False) -> Any:
    """What is found at `module:name`. Raises ImportError or AttributeError."""
    module, _, name = place.partition(":")
    found = sys.modules.get(module)
    if found is None:
        if not load:
            raise ImportError(module)
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def name_it(made: Any, recipe: Recipe | None, of: Any) -> None:
    """Give a function the names by which it is found again."""
    made.__srcjax_recipe__ = recipe
    text = recipe and recipe.text()
    made.__qualname__ = made.__name__
    if text:
        made.__module__ = f"{MADE}.{_register(quoted(text), made)}"
        return
    made.__module__ = getattr(of, "__module__", MADE)
    name = getattr(of, "__qualname__", "<unknown>")
    if "<" not in name:  # where a decorator stands, it takes the function's place
        made.__qualname__ = name


def _register(name: str, made: Any) -> str:
    """The name, or that with a number where another function has it."""
    count = _counts[name] = _counts.get(name, 0) + 1
    free = name if count == 1 else f"{name}#{count}"
    _made[free] = made
    return free


def quoted(text: str) -> str:
    """Without dots, at which names of modules are taken apart."""
    return text.replace("%", "%25").replace(".", "%2E")


def found_by(module: str, name: str) -> Any:
    """What is in this module of `srcjax.made`; it is made where it is not there yet.

    Raises AttributeError: there is none, or it is found there no more (the function was
    defined anew, say).
    """
    base = re.sub(r"#\d+$", "", module)
    text = base.replace("%2E", ".").replace("%25", "%")
    if "'__main__:" in text and _carries_main_by_value():
        raise AttributeError(name)
    found = _made.get(module)
    if found is None:
        try:
            found = _built(_expression(text))
        except (SyntaxError, ValueError, ImportError) as error:
            raise AttributeError(f"{text!r} cannot be made: {error}") from None
    elif found.__srcjax_recipe__.text() != text:
        raise AttributeError(f"{text!r} is not what its name stands for now")
    if found.__name__ != name:
        raise AttributeError(name)
    return found


def _built(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() as place):
            return importable(place, load=True)
        case ast.Call(ast.Name(maker), [of], keywords) if maker in MAKERS:
            make = getattr(importlib.import_module("srcjax"), maker)
            options = {str(k.arg): ast.literal_eval(k.value) for k in keywords}
            return make(_built(of), **options)
    raise ValueError(ast.unparse(node))


def _carries_main_by_value() -> bool:
    """Whether it is cloudpickle that asks: where it goes, `__main__` is another."""
    frames = traceback.walk_stack(None)
    names = (str(frame.f_globals.get("__name__")) for frame, _ in frames)
    return any(name.rpartition(".")[2] == "cloudpickle" for name in names)


# -- by value --------------------------------------------------------------------------


#: The file that each function stands in, and the texts of those that are no files.
Places = tuple[list[str], dict[str, list[str]]]


def places_of(function: Any) -> Places:
    """Where the function and what it calls stand: what carries code drops that."""
    files = [f.__code__.co_filename for f in _reached(function, set())]
    missing = {name for name in files if not os.path.exists(name)}
    texts = {name: linecache.getlines(name) for name in missing}
    return files, texts


def put_back(function: Any, places: Places) -> None:
    """Let functions that came by value be found in the texts where they stand."""
    files, texts = places
    for name, lines in texts.items():
        entry = sum(map(len, lines)), None, lines, name
        linecache.cache.setdefault(name, entry)
    for each, name in zip(_reached(function, set()), files, strict=False):
        if each.__code__.co_filename != name:
            each.__code__ = _in_file(each.__code__, name)


def _in_file(code: pytypes.CodeType, name: str) -> pytypes.CodeType:
    inner = tuple(
        _in_file(c, name) if isinstance(c, pytypes.CodeType) else c
        for c in code.co_consts
    )
    return code.replace(co_filename=name, co_consts=inner)


def _reached(value: Any, seen: set[int]) -> Iterator[pytypes.FunctionType]:
    if isinstance(value, pytypes.MethodType):
        value = value.__func__
    value = getattr(value, "__srcjax_function__", value)
    transform = getattr(value, "__srcjax_transform__", None)
    if transform is not None:
        value = transform.function
    if not isinstance(value, pytypes.FunctionType) or id(value) in seen:
        return
    seen.add(id(value))
    yield value
    names = value.__code__.co_names
    for each in [value.__globals__.get(n) for n in names]:
        yield from _reached(each, seen)
    for cell in value.__closure__ or ():
        yield from _reached(cell.cell_contents, seen)


__all__ = ["Recipe", "address", "found_by", "name_it", "places_of", "put_back"]
