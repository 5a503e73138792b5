"""Exported texts for sizes, ranks and containers that they were not written for.

    python -m pytest -q -n 2 -o 'python_files=sweep_*.py' tests/sweeps/sweep_sizes.py
    python -m tests.sweeps.sweep_sizes loops arrays     # the themes of the corpus

Every corpus program is exported as grad, jvp and vmap for its example arguments, and is
called with arguments of other sizes: all axes of one size made longer, 1 or 0, then one
argument at a time with a rank more or less, an axis of size 1, an item more or less.
A text has to give what a text gives that is written for just these arguments, with
their sizes as numbers, or raise.
"""

from __future__ import annotations

import copy
import dataclasses
import signal
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import optree
import pytest

import srcjax
import tests.corpus.test_programs  # noqa: F401  (fills the register)
from srcjax.backends.export import export_text
from srcjax.versions import tree
from tests.corpus.registry import PROGRAMS, Program

#: Seconds for one call: what is called with other arguments may not end.
PATIENCE = 10


def resized(value: Any, size: int, new: int) -> Any:
    """The value with every axis of one size, and lists of that length, of another."""

    def array(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        for axis, n in enumerate(leaf.shape):
            if n == size:
                leaf = np.take(leaf, np.arange(new) % size, axis=axis)
        return leaf * 1

    return optree.tree_map(array, value)


def sizes_in(value: Any) -> set[int]:
    """Sizes of axes of arrays in the value."""
    leaves = optree.tree_leaves(value)
    return {n for x in leaves if isinstance(x, np.ndarray) for n in x.shape if n}


def other_arguments(args: tuple) -> Iterator[tuple]:
    """Arguments that differ in sizes, ranks or lengths."""
    for size in sorted(sizes_in(args)):
        for new in (size + 1, size + 3, 1, 0):
            if new != size:
                yield tuple(resized(a, size, new) for a in args)
    for i, value in enumerate(args):
        for other in others(value):
            yield (*args[:i], other, *args[i + 1 :])


def others(value: Any) -> Iterator[Any]:
    """One value in other sizes, ranks and lengths."""
    if isinstance(value, np.ndarray):
        if value.ndim and value.shape[0]:
            yield value[:1]
            yield value[0]
            yield value[:, None]
            yield value[:-1]
        if value.ndim > 1 and value.shape[1]:
            yield value[:, :1]
    elif isinstance(value, float):
        yield np.array([value, value + 0.25])
    elif isinstance(value, (list, tuple)) and type(value) in (list, tuple) and value:
        yield value[:-1]
        yield type(value)([*value, value[-1]])
        yield type(value)([*value, value[-1], value[0]])
    elif isinstance(value, dict) and value:
        yield dict(list(value.items())[:-1])


def loaded(transformed: Any, args: tuple) -> Callable:
    """The entry point of the exported text, run by itself."""
    module = transformed.__srcjax_transform__.module_for(args, {})
    found = types.ModuleType("exported")
    exec(compile(export_text(module), "<exported>", "exec"), vars(found))
    (entry,) = found.__all__
    return getattr(found, entry)


def for_these(transformed: Any, args: tuple) -> Callable:
    """The function that is written for just these arguments, sizes as numbers."""
    transform = transformed.__srcjax_transform__
    if transform.name == "vmap":
        values, axes = transform.prepared(args, {})
        from srcjax.analysis.types import mapping, type_of

        with mapping():
            names = transform.parameters
            batches = [
                type_of(v, ("param", n)) for n, v in zip(names, values, strict=True)
            ]
        return transform.built_for(batches, axes, None, None, True).function
    pairs = zip(transform.parameters, args, strict=True)
    exact = [tree.argument_type(v, n, n in transform.wrt) for n, v in pairs]
    return transform.built(exact).function


class Late(Exception):
    """A call took too long."""


def attempt(f: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether a call gives a value, and the value or the exception."""

    def late(*_: Any) -> None:
        raise Late

    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return True, f()
    except Exception as error:
        return False, error
    finally:
        signal.alarm(0)


def same(a: Any, b: Any) -> bool:
    """Whether two results are the same numbers in the same containers."""
    if isinstance(a, (list, tuple, dict)) or dataclasses.is_dataclass(a):
        if dataclasses.is_dataclass(a):
            return same(vars(a), vars(b))
        if isinstance(a, dict):
            return (
                isinstance(b, dict)
                and [*a] == [*b]
                and same([*a.values()], [*b.values()])
            )
        return (
            isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same, a, b))
        )
    try:
        if np.shape(a) != np.shape(b):
            return False
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    except (TypeError, ValueError):
        return True


def transforms(program: Program) -> Iterator[tuple[str, Any, tuple, Callable]]:
    """Names, transforms, their example arguments, and how arguments are called with."""
    f, args = program.function, program.args()
    if program.is_scalar:
        yield (
            "grad",
            srcjax.grad(f, argnums=program.argnums),
            args,
            tuple,
        )
    if all(isinstance(args[i], (float, np.ndarray)) for i in program.argnums):

        def with_tangents(values: tuple) -> tuple:
            return (*values, *(np.ones_like(values[i]) * 0.5 for i in program.argnums))

        tangent = srcjax.jvp(f)
        tangent.__srcjax_transform__.argnums = program.argnums
        tangent.__srcjax_transform__.chosen = True
        yield "jvp", tangent, args, with_tangents
        axes = tuple(0 if i in program.argnums else None for i in range(len(args)))

        def in_batches(values: tuple) -> tuple:
            return tuple(
                np.stack([v, v * 0.75]) if i in program.argnums else v
                for i, v in enumerate(values)
            )

        yield (
            "vmap",
            srcjax.vmap(program.function, in_axes=axes),
            in_batches(args),
            tuple,
        )


def wrong(program: Program, counts: Counter) -> list[str]:
    """What exported texts of the program give that is another number."""
    found = []
    ok, ways = attempt(lambda: list(transforms(program)))
    for name, transformed, example, given in ways if ok else ():
        ok, entry = attempt(lambda t=transformed, a=example: loaded(t, a))
        if not ok:
            counts["not exported"] += 1
            continue
        for args in other_arguments(example):

            def call(function: Callable, values: tuple = args, g: Any = given) -> Any:
                return function(*copy.deepcopy(g(values)))

            ran, value = attempt(lambda c=call, e=entry: c(e))
            if not ran:
                counts["refused"] += 1
                continue
            plain, _ = attempt(lambda a=args: program.function(*copy.deepcopy(a)))
            if name != "vmap" and not plain:
                counts["the function itself raises"] += 1
                continue
            right, expected = attempt(
                lambda c=call, t=transformed, a=args: c(for_these(t, a))
            )
            if not right:
                counts["number where there is none"] += 1
            elif same(expected, value):
                counts["equal"] += 1
            else:
                counts["WRONG"] += 1
                shapes = [getattr(a, "shape", a) for a in args]
                was = [getattr(a, "shape", a) for a in example]
                found.append(
                    f"{program.name} {name}: for {was}, called with {shapes}: "
                    f"{value!r:.200} is not {expected!r:.200}"
                )
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_other_sizes(program: Program) -> None:
    assert not wrong(program, Counter())


if __name__ == "__main__":
    total: Counter = Counter()
    for each in PROGRAMS:
        if each.module in sys.argv[1:] or not sys.argv[1:]:
            for line in wrong(each, total):
                print(line, flush=True)
    print(dict(total))
