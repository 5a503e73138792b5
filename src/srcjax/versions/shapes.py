"""Arguments told by their shapes: `source(df, W="n h", x="m n")`.

A shape is the sizes of the axes, names or numbers, with spaces or commas between them,
and before them a dtype if it is not float64: `"float32 m n"`. Axes of the same name
have the same size. No sizes at all are a number.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.late import late

if typing.TYPE_CHECKING:
    from srcjax.versions import tree
else:
    tree = late("srcjax.versions.tree")

#: Sizes of examples: each name has its own.
SIZES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
DTYPES = frozenset(
    ("float16", "float32", "float64", "complex64", "complex128", "bool")
    + ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
)


class Examples:
    """Makes example arguments of shapes, and remembers what sizes are called."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        #: What the size at a place such as `x.shape[0]` is called.
        self.called: dict[str, str] = {}

    def argument(self, name: str, shape: str) -> Any:
        """An array, or a number, for the parameter. Raises ArgumentError."""
        words = re.split(r"[\s,]+", shape.strip(" ,()[]"))
        words = [w for w in words if w]
        dtype = np.dtype(words.pop(0)) if words and words[0] in DTYPES else None
        dims = []
        for axis, word in enumerate(words):
            if not word.isdecimal() and not word.isidentifier():
                raise ArgumentError(
                    f"the shape of `{name}` is {shape!r}, and {word!r} is no size",
                    instead=f'names or numbers, such as `{name}="m n"`',
                )
            self.called[f"{name}.shape[{axis}]"] = word
            dims.append(int(word) if word.isdecimal() else self.size(word))
        if not dims and dtype is None:
            return 1.0
        value = np.ones(dims, dtype or float)
        return value if dims else value[()]

    def size(self, name: str) -> int:
        """The size of that name in the examples."""
        if name not in self.sizes:
            count = len(self.sizes)
            more = SIZES[-1] + 2 * (count - len(SIZES) + 1)
            self.sizes[name] = SIZES[count] if count < len(SIZES) else more
        return self.sizes[name]

    @contextmanager
    def called_so(self) -> Iterator[None]:
        """Inside, sizes of arguments have the names that they were given."""
        token = tree.sizes_called.set(self.called)
        try:
            yield
        except SrcjaxError as error:
            told = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
            error.message += f"\nThe text is tried with {told}."
            raise
        finally:
            tree.sizes_called.reset(token)


def examples_of(transform: Any, args: tuple, kwargs: dict) -> tuple[Examples, dict]:
    """Arguments by name, made of the shapes among `kwargs`, or of what hints tell.

    They are those that were given where nothing is a shape: where an array is given,
    strings are strings, and so they are where the parameter has one by default.
    """
    found = Examples()
    hints = hinted_shapes(transform)
    if not args and not kwargs:
        return found, _from_hints(transform, hints, found)
    plain = (str, int, float, complex, bool, type(None), tuple)
    if args or not all(isinstance(v, plain) for v in kwargs.values()):
        return found, kwargs
    given = {
        name: found.argument(name, value)
        if isinstance(value, str) and _may_have_a_shape(transform, name)
        else value
        for name, value in kwargs.items()
    }
    if found.called or any(given[n] is not kwargs[n] for n in given):
        for name in transform.parameters:
            if name not in given and name in hints:
                given[name] = found.argument(name, hints[name])
    return found, given


def _from_hints(transform: Any, hints: dict[str, str], found: Examples) -> dict:
    """Arguments where hints tell the shape of every one that has no default."""
    needed = [
        n for n, p in transform.signature.parameters.items() if p.default is p.empty
    ]
    if not any(hints.values()) or not all(n in hints for n in needed):
        return {}
    return {n: found.argument(n, hints[n]) for n in transform.parameters if n in hints}


def _may_have_a_shape(transform: Any, name: str) -> bool:
    parameter = transform.signature.parameters.get(name)
    if parameter is None or isinstance(parameter.default, str):
        return False
    return parameter.annotation not in (str, "str", "str | None")


def hinted_shapes(transform: Any) -> dict[str, str]:
    """The shapes that hints tell, by parameter: `Annotated[np.ndarray, "n h"]`.

    Strings of shapes are those of jaxtyping too: `Float[np.ndarray, "n h"]`.
    """
    function = transform
    while function.inner is not None:
        function = function.inner
    hints = _hints(function.function)
    told = {name: _shape_of(hint) for name, hint in hints.items()}
    return {n: s for n, s in told.items() if s is not None and n != "return"}


def _hints(function: Callable) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # names that are there for type checkers only
        return dict(getattr(function, "__annotations__", None) or {})


_PLAIN = {"float": float, "int": int, "str": str, "bool": bool}
_PLAIN |= dict.fromkeys(("np.ndarray", "numpy.ndarray"), np.ndarray)


def plain_hint(hint: Any) -> type | None:
    """The kind of argument that a hint tells, written as a string or not."""
    if isinstance(hint, str):
        return _PLAIN.get(hint)
    return next((kind for kind in _PLAIN.values() if kind is hint), None)


def _shape_of(hint: Any) -> str | None:
    """The shape that a hint tells, "" for a number; None if it tells none."""
    if plain_hint(hint) is float:
        return ""
    shape = getattr(hint, "dim_str", None)  # jaxtyping's
    for said in getattr(hint, "__metadata__", ()):
        shape = said if isinstance(said, str) else shape
    if not isinstance(shape, str) or not re.fullmatch(r"[\w\s,()\[\]]*", shape):
        return None
    return shape
