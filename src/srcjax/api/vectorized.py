"""`vectorize`: a function of small arrays as one that broadcasts, as NumPy's do."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax import syntax
from srcjax.analysis.axes import names_in_scope
from srcjax.analysis.sizes import sizes_of
from srcjax.analysis.types import (
    Array,
    Scalar,
    Type,
    dims_of,
    is_number,
    shape_of,
    type_of,
)
from srcjax.api.batch import vmap
from srcjax.api.options import boundary, with_known_options
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError
from srcjax.frontend.stage_texts import recording
from srcjax.versions.callables import Transform, Version
from srcjax.versions.dressed import dress
from srcjax.versions.functions import underlying, with_source
from srcjax.versions.recipes import Recipe
from srcjax.versions.signature import is_of_device, signature_key

Dims = tuple[str, ...]
_GROUP = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*,?)?\s*\)"
_GROUPS = rf"{_GROUP}(?:\s*,\s*{_GROUP})*"


def parse_signature(text: str) -> tuple[list[Dims], list[Dims]]:
    """The core dimensions of arguments and results.

    >>> parse_signature("(n,m),(m)->(n)")
    ([('n', 'm'), ('m',)], [('n',)])
    """
    if not isinstance(text, str) or not re.fullmatch(
        rf"\s*(?:{_GROUPS})?\s*->\s*{_GROUPS}\s*", text
    ):
        raise ArgumentError(
            f"vectorize: {text!r} is no signature of core dimensions",
            instead='a string such as `"(n,m),(m)->(n)"`',
        )
    sides = text.split("->")
    found = [
        [tuple(re.findall(r"\w+", group)) for group in re.findall(_GROUP, side)]
        for side in sides
    ]
    return found[0], found[1]


@dataclass
class AsItIs:
    """What stands for a version where there is nothing to loop over."""

    function: Callable
    types: list[Type]
    guards: tuple = ()


class Vectorized(Transform):
    """`vectorize`: a `vmap` for each dimension that the arguments are looped over."""

    name = "vectorize"
    maps = True

    def __init__(
        self, function: Callable, excluded: Collection[int | str], signature: str | None
    ) -> None:
        super().__init__(function, ())
        self.excluded = frozenset(excluded)
        self.core = None if signature is None else parse_signature(signature)
        #: `vmap`s of the function, by the axes of each level.
        self.made: dict[Any, Any] = {}

    # -- dimensions --------------------------------------------------------------------

    def looped(self, given: list[bool]) -> list[int]:
        """The parameters that take part in the loops. Raises ArgumentError."""
        found = [
            k
            for k, name in enumerate(self.parameters)
            if given[k] and k not in self.excluded and name not in self.excluded
        ]
        if self.core is not None and len(self.core[0]) != len(found):
            raise ArgumentError(
                f"vectorize: the signature {self.spelled()} has {len(self.core[0])} "
                f"arguments, and the call has {len(found)}",
                instead="a group of core dimensions for each argument",
            )
        return found

    def spelled(self) -> str:
        """The signature as it was given."""
        assert self.core is not None
        sides = [
            ",".join(f"({','.join(dims)})" for dims in groups) for groups in self.core
        ]
        return repr("->".join(sides))

    def loops(self, shapes: dict[int, tuple]) -> tuple[tuple[int, ...], dict]:
        """The shape of the loops, and that of each argument's part in them.

        Raises:
            ArgumentError: core dimensions are missing or differ, or loops do not
                broadcast.
        """
        sizes: dict[str, tuple[int, str]] = {}
        own: dict[int, tuple] = {}
        for position, (k, shape) in enumerate(shapes.items()):
            dims = self.core[0][position] if self.core is not None else ()
            shown = f"`{self.parameters[k]}` of shape {shape}"
            if len(shape) < len(dims):
                raise ArgumentError(
                    f"vectorize: {shown} has {len(shape)} dimensions, and "
                    f"({','.join(dims)}) of the signature {self.spelled()} wants "
                    f"{len(dims)}",
                    instead="an argument with the core dimensions last",
                )
            for dim, size in zip(dims, shape[len(shape) - len(dims) :], strict=True):
                known, first = sizes.setdefault(dim, (size, shown))
                if known != size:
                    raise ArgumentError(
                        f"vectorize: {shown} has {dim}={size}, and {first} has "
                        f"{dim}={known}, in the signature {self.spelled()}",
                        instead="arguments whose core dimensions agree",
                    )
            own[k] = shape[: len(shape) - len(dims)]
        try:
            whole = np.broadcast_shapes(*own.values())
        except ValueError:
            each = ", ".join(f"`{self.parameters[k]}`: {s}" for k, s in own.items())
            raise ArgumentError(
                f"vectorize: the dimensions to loop over do not broadcast ({each})",
                instead="sizes that are equal, or 1",
            ) from None
        return whole, own

    def axes(self, whole: tuple, own: dict[int, tuple]) -> tuple[list, dict]:
        """The axes of each `vmap`, outermost first, and the axes of size 1 to drop."""
        levels: list[tuple] = []
        dropped: dict[int, list[int]] = {k: [] for k in own}
        for place, size in enumerate(whole):
            level: list[int | None] = [None] * len(self.parameters)
            for k, shape in own.items():
                at = place - (len(whole) - len(shape))
                if at < 0:
                    continue
                if shape[at] == size:
                    level[k] = 0
                else:
                    dropped[k].append(at)
            levels.append(tuple(level))
        return levels, dropped

    # -- code --------------------------------------------------------------------------

    def batched(self, levels: list) -> Any:
        """`vmap(vmap(f, ...), ...)`, the same for the same axes."""
        key = tuple(levels)
        if key not in self.made:
            made = with_source(self.function, len(self.parameters))
            for level in reversed(levels):
                made = vmap(made, in_axes=level, check=self.check)
            self.made[key] = made
        return self.made[key]

    def shaped(self, module: Module, dropped: dict[int, list[int]]) -> Module:
        """The module with an entry of its own name, which drops axes of size 1."""
        functions = [*module.functions[:-1], syntax.clone(module.functions[-1])]
        entry = functions[-1]
        entry.name = f"vectorize_{self.source.name}"
        head = [
            syntax.assign(
                self.parameters[k],
                syntax.expression(index_text(axes), x=syntax.name(self.parameters[k])),
            )
            for k, axes in dropped.items()
            if axes
        ]
        entry.body = [*head, *entry.body]
        new = copy.copy(module)
        new.name = new.entry = entry.name
        new.functions = functions
        new.print()
        return new

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.bind(args, kwargs)
        given = self.signature.bind(*args, **kwargs).arguments
        values = [
            v if n not in given or not isinstance(v, (list, tuple)) else np.asarray(v)
            for n, v in zip(self.parameters, values, strict=True)
        ]
        present = [n in given for n in self.parameters]
        shapes = {k: np.shape(values[k]) for k in self.looped(present)}
        whole, own = self.loops(shapes)
        key = (whole, tuple(own.items()), tuple(map(signature_key, values)))
        function: Callable = self.function
        if whole:
            found = self.versions.get(key)
            if found is None or not found.holds():
                types = [
                    type_of(v, ("param", n))
                    for n, v in zip(self.parameters, values, strict=True)
                ]
                there = self.on_device if is_of_device(key) else self
                found = self.versions[key] = there.version_of_loops(whole, own, types)
            function = found.function
        arguments, keywords = self.arguments(values)
        result = function(*arguments, **keywords)
        self.check_result(result, whole, shapes)
        return result

    def version_of_loops(self, whole: tuple, own: dict, types: list[Type]) -> Version:
        """The version for arguments of these types with these dimensions to loop."""
        levels, dropped = self.axes(whole, own)
        inner = self.batched(levels).__srcjax_transform__
        small = [without_axes(t, dropped.get(k, [])) for k, t in enumerate(types)]
        module = inner.version_of(small).module
        return Version(self.placed(self.shaped(module, dropped)), types)

    def check_result(self, result: Any, whole: tuple, shapes: dict) -> None:
        """Raises ArgumentError where results have not the core dimensions promised."""
        if self.core is None:
            return
        sizes: dict[str, int] = {}
        for dims, shape in zip(self.core[0], shapes.values(), strict=True):
            if dims:
                sizes |= dict(zip(dims, shape[-len(dims) :], strict=True))
        single = len(self.core[1]) == 1
        results = (result,) if single else result
        if not isinstance(results, tuple) or len(results) != len(self.core[1]):
            raise ArgumentError(
                f"vectorize: {self.source.name} gave {type(result).__name__}, and the "
                f"signature {self.spelled()} has {len(self.core[1])} results",
                instead="a tuple of as many results",
            )
        for dims, value in zip(self.core[1], results, strict=True):
            core = np.shape(value)[len(whole) :]
            fits = len(core) == len(dims) and all(
                sizes.setdefault(dim, size) == size
                for dim, size in zip(dims, core, strict=True)
            )
            if not fits:
                raise ArgumentError(
                    f"vectorize: a result of {self.source.name} has the core shape "
                    f"{core}, and the signature {self.spelled()} has ({','.join(dims)})"
                    + (f" with {sizes}" if sizes else ""),
                    instead="a signature that says what the function returns",
                )

    # -- for the text, and for other transforms ----------------------------------------

    def module_for(self, args: tuple, kwargs: dict) -> Module:
        values = self.bind(args, kwargs)
        given = self.signature.bind(*args, **kwargs).arguments
        present = [n in given for n in self.parameters]
        types = [
            type_of(v, ("param", n))
            for n, v in zip(self.parameters, values, strict=True)
        ]
        shapes = {k: np.shape(values[k]) for k in self.looped(present)}
        whole, own = self.loops(shapes)
        if not whole:  # nothing to loop over: the function as it is
            module = Module(self.source.name, [], {})
            module.text = self.source.text
            return module
        return self.version_of_loops(whole, own, types).module.shown()

    def recorded(self, args: tuple, kwargs: dict) -> tuple[Module, list, dict]:
        """A module written anew, with what passes left, and what it is called with."""
        with recording():
            module = self.anew().module_for(args, kwargs)
        if not module.functions:
            raise ArgumentError(
                "vectorize: these arguments have no dimension to loop over",
                instead="the function itself, or arrays",
            )
        return module, *self.arguments(self.bind(args, kwargs))

    def version_of(self, types: list[Type]) -> Any:
        """The version for arguments of these types, for other transforms."""
        # What is supposed of sizes is noted down where they belong, once for each.
        sizes = sizes_of(dims_of(types))
        key = ("types", names_in_scope(), tuple(types), id(sizes))
        found = self.versions.get(key)
        if found is None or not found.holds():
            given = self.given or ("arg",) * len(types)
            shapes: dict[int, tuple] = {}
            for k in self.looped([g in ("arg", "keyword") for g in given]):
                shape = () if is_number(types[k]) else shape_of(types[k])
                if shape is None or not all(isinstance(n, int) for n in shape):
                    raise ArgumentError(
                        f"vectorize: the shape of `{self.parameters[k]}` is not known "
                        "when the code is written",
                        instead="a transform of it that is called with arrays",
                    )
                shapes[k] = shape
            whole, own = self.loops(shapes)
            if not whole:
                function: Any = underlying(self.function)
                if self.inner is not None:
                    function = self.inner.function_for(types)
                return AsItIs(function, types)
            found = self.versions[key] = self.version_of_loops(whole, own, types)
        return found


def without_axes(t: Type, axes: list[int]) -> Type:
    """The type of an array without some of its axes."""
    if not axes or not isinstance(t, Array) or t.shape is None:
        return t
    shape = tuple(n for k, n in enumerate(t.shape) if k not in axes)
    if not shape:
        return Scalar(dtype=t.dtype)
    return Array(t.active, t.buffers, t.dtype, shape)


def index_text(axes: list[int]) -> str:
    """`x[:, 0]`, which drops axis 1."""
    entries = ["0" if k in axes else ":" for k in range(max(axes) + 1)]
    return f"x[{', '.join(entries)}]"


@with_known_options
def vectorize(
    f: Callable | None = None,
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
    check: bool | None = None,
) -> Any:
    """A function of numbers, or of arrays of core dimensions, that broadcasts.

    Args:
        f: a Python function of core arrays: numbers, if there is no signature.
        excluded: positions or names of arguments that are given as they are.
        signature: core dimensions such as `"(n,m),(m)->(n)"`; what comes before them in
            the arguments' shapes is broadcast and looped over.
        check: compare examples of first calls with `f` itself, as in `vmap`.

    Returns:
        A function whose results have the loops' dimensions first, as NumPy's
        generalised ufuncs. Without `f`, a decorator.

    Raises:
        ArgumentError: core dimensions do not agree, or shapes do not broadcast.

    >>> longest = srcjax.vectorize(lambda x: np.max(x), signature="(n)->()")
    >>> longest(np.array([[1.0, 2.0], [4.0, 3.0]]))
    array([2., 4.])
    """

    def make(g: Callable) -> Callable:
        transform = Vectorized(g, excluded, signature)
        transform.check = check

        @boundary
        def vectorized(*args: Any, **kwargs: Any) -> Any:
            return transform(*args, **kwargs)

        options: dict[str, Any] = {"excluded": set(excluded), "signature": signature}
        options["check"] = check
        dress(vectorized, transform, Recipe("vectorize", g, options))
        return vectorized

    return make if f is None else make(f)


vectorize.__srcjax_maker__ = True  # type: ignore[attr-defined]

__all__ = ["Vectorized", "parse_signature", "vectorize"]
