"""Checks a function under `vmap` against a loop over the examples.

A case is the text of an expression; its names say what the arguments are (`SHAPES`).
Every subset of the arguments is mapped, along the first, second and last axis, with a
batch of several examples and of one; the warning that an operation has no batch rule is
an error (warnings are errors in tests).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np
import optree

import srcjax
from srcjax import syntax
from srcjax.backends.load import load
from srcjax.errors import PerformanceWarning

#: The shape of one example by the name of the argument.
SHAPES: dict[str, tuple[int, ...]] = {
    "s": (),
    "t": (),
    "u": (3,),
    "v": (3,),
    "w": (4,),
    "a": (2, 3),
    "b": (2, 3),
    "c": (3, 2),
    "o": (1, 3, 1),
    "x": (2, 3, 4),
    "m": (3, 3),
    "i": (),
    "j": (2,),
    "k": (2, 3),
}
INTEGERS = "ijk"
SIZE = 5


def function_of(text: str, name: str = "f") -> Callable:
    """A function of the names in the expression, in alphabetic order."""
    names = sorted(syntax.names_read(gast.parse(text)) & SHAPES.keys())
    body = f"def {name}({', '.join(names)}):\n    return {text}\n"
    found: Callable = getattr(load(f"import numpy as np\n\n{body}", name, {}), name)
    return found


def value_of(name: str, axis: int | None, size: int, rng: np.random.Generator) -> Any:
    """An argument: a batch along the axis, or one example."""
    shape = list(SHAPES[name])
    if axis is not None:
        place = axis if axis >= 0 else len(shape)
        shape.insert(min(place, len(shape)), size)
    if name in INTEGERS:
        return rng.integers(0, 2, shape)
    found = rng.normal(size=shape)
    return found if shape else float(found)


def check(
    text: str | Callable, only: str | None = None, axes: Iterable[int] = (0, 1, -1)
) -> None:
    """Compare `vmap` of the expression with a loop, for every choice of mapped names.

    `only` names the arguments that may be mapped (all by default).
    """
    f = function_of(text) if isinstance(text, str) else text
    names = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    may = [n for n in names if only is None or n in only]
    for count in range(1, len(may) + 1):
        for mapped in itertools.combinations(may, count):
            for axis in axes if count == len(may) else (0,):
                in_axes = tuple(
                    None if n not in mapped else fitting(axis, n) for n in names
                )
                for size in (SIZE, 1) if axis == 0 else (SIZE,):
                    compare(f, names, in_axes, size)


def fitting(axis: int, name: str) -> int:
    """The axis, or 0 where the batch has too few axes for it."""
    return axis if axis <= len(SHAPES[name]) else 0


def compare(f: Callable, names: list[str], in_axes: tuple, size: int) -> None:
    args = batch_of(names, in_axes, size)
    got = srcjax.vmap(f, in_axes=in_axes)(*args)
    agree(got, looped(f, args, in_axes, size))


def batch_of(names: list[str], in_axes: tuple, size: int) -> list[Any]:
    """The arguments of those names, batches where they have an axis."""
    rng = np.random.default_rng(7)
    return [value_of(n, a, size, rng) for n, a in zip(names, in_axes, strict=True)]


def looped(f: Callable, args: list[Any], in_axes: tuple, size: int) -> Any:
    """The results for the examples, one by one, stacked."""
    results = []
    for k in range(size):
        one = [
            v if a is None else np.moveaxis(v, a, 0)[k]
            for v, a in zip(args, in_axes, strict=True)
        ]
        results.append(f(*one))
    return optree.tree_map(lambda *parts: np.stack(parts), *results)


def agree(got: Any, want: Any) -> None:
    """The same structure, shapes, dtypes and (to rounding) numbers."""
    assert optree.tree_structure(got) == optree.tree_structure(want)
    for g, w in zip(optree.tree_leaves(got), optree.tree_leaves(want), strict=True):
        assert np.shape(g) == np.shape(w)
        assert np.asarray(g).dtype == np.asarray(w).dtype
        np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-12)


def has_no_rule(text: str, mapped: str) -> None:
    """The expression runs in a loop, says so, and gives what the loop gives."""
    f = function_of(text)
    names = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    in_axes = tuple(0 if n in mapped else None for n in names)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compare(f, names, in_axes, SIZE)
    assert any(issubclass(w.category, PerformanceWarning) for w in seen)
