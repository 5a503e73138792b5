"""Arguments that a text is written for where nothing tells any: what a reader supposes.

    def loss(w, X, y):                        w: (n,), X: (m, n), y: (m,)
        return np.mean((X @ w - y) ** 2)

Where a parameter is called, has attributes or is compared with text, nothing is
supposed: the text is one for arguments of all kinds. Others are numbers, vectors or
matrices, of as few axes as the function can do with: inference is asked which it runs
with, and what a reader would find odd there (the mean of one number) counts against it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gast
import numpy as np

from srcjax import pipeline, syntax
from srcjax.analysis import types as ty
from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.program import Program
from srcjax.ops.record import Op
from srcjax.versions import tree
from srcjax.versions.parameter_uses import Uses, parameters_of, uses_of
from srcjax.versions.shapes import plain_hint

#: The size of axes where the text makes no array of a number of items: all may be one.
SIZE = 5
#: What makes arrays of a size.
_MAKERS = ("np.zeros", "np.ones", "np.empty", "np.eye", "np.arange")
#: So many items has a list of tuples.
LAYERS = 2
#: How odd it is that a name has so many axes.
ODD = {0: 0.0, 1: 1.0, 2: 3.5}
ODD_IN_CAPITALS = {0: 2.0, 1: 1.0, 2: 0.0}
#: So odd that nothing is supposed.
TOO_ODD = 11.0
#: Less odd than this is no reason to look at arguments of other forms.
ODD_ENOUGH = 6.0
#: Arguments that are so much odder than the best are looked beyond.
SLACK = 1.6
#: Inference is asked so often at most, of longer functions less often. No clock
#: decides: a function has the same text on a machine that is busy.
MOST_TRIES, OF_STATEMENTS = 100, 20
#: Names in one argument that are told apart at most.
MOST_PARTS = 8

#: A way to read an argument: how odd it is, and an example.
Way = tuple[float, Any]


def arguments(transform: Any) -> Iterator[dict[str, Any]]:
    """Arguments by name, the least odd first; none where a parameter is not numbers."""
    forms = _forms(transform)
    if forms is None:
        return
    base = transform
    while base.inner is not None:
        base = base.inner
    if base.parameters != transform.parameters:
        return
    search = _Search(base)
    for chosen in itertools.product(*forms.values()):
        search.over(dict(zip(forms, chosen, strict=True)))
        if search.found and search.found[0][0] < ODD_ENOUGH:
            break
    while search.found:
        yield heapq.heappop(search.found)[-1]


# -- what each argument may be ---------------------------------------------------------


@dataclass
class Form:
    """How an argument is made of numbers and arrays."""

    #: The ways to read each of these, the least odd first.
    parts: list[list[Way]]
    made: Callable[[list[Any]], Any]
    odd: float = 0.0


def _forms(transform: Any) -> dict[str, list[Form]] | None:
    """The forms of each argument that has to be given, the least odd first."""
    source = transform.source
    if list(transform.parameters) != parameters_of(source.node):
        return None
    uses, size = uses_of(source), _size_in(source.node)
    hints = getattr(source.func, "__annotations__", {})
    found = {}
    for name, parameter in transform.signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        if parameter.default is not parameter.empty:
            continue
        hint = hints.get(name)
        make = _Forms(name, size)
        found[name] = make.forms(uses[name], hint, name in transform.wrt)
    return found


def _size_in(node: Any) -> int:
    """`4`, where the function makes `np.zeros(4)`."""
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Call) and syntax.dotted(sub.func) in _MAKERS:
            size = sub.args[0] if sub.args else None
            value = getattr(size, "value", None)
            if type(value) is int and value > 1:
                return value
    return SIZE


@dataclass
class _Forms:
    """Makes the forms of one argument, whose axes have that size."""

    name: str
    size: int

    def forms(self, uses: Uses, hint: Any, differentiated: bool) -> list[Form]:
        """The forms that it may have, none where it is no number."""
        kind = plain_hint(hint)
        if uses.other or kind in (str, bool):
            return []
        if kind is float:
            return [_plain([(0.0, 1.0)])]
        if kind is int:
            return [_plain([(0.0, 1.0 if differentiated else 3)])]
        if uses.keys:
            return self.of_parts(uses.keys, partial(_dict_of, uses.keys))
        least = uses.least_rank
        if kind in ARRAYS:
            least = max(least, 1)
        if uses.whole and not differentiated:
            ones = [np.ones((self.size,) * r, int) for r in range(max(least, 1), 3)]
            number = [] if least else [(0.0, 3)]
            return [_plain([*number, *((float(one.ndim), one) for one in ones)])]
        if uses.parts:
            vector = _plain([(0.0, np.ones(len(uses.parts)))])
            parts = self.of_parts(uses.parts, tuple, 0.1)
            return [vector, *parts] if least <= 1 else parts
        if uses.parts_of_items:
            return self.of_parts(uses.parts_of_items, _layers)
        return [_plain(self.arrays(self.name, least))]

    def of_parts(
        self, names: list[str], made: Callable[[list[Any]], Any], odd: float = 0.0
    ) -> list[Form]:
        """The form that is made of one number or array for each name."""
        if len(names) > MOST_PARTS:
            return []
        return [Form([self.arrays(name, 0) for name in names], made, odd)]

    def arrays(self, name: str, least: int) -> list[Way]:
        """A number, a vector and a matrix. Textbooks write matrices in capitals."""
        odd = ODD_IN_CAPITALS if name[:1].isupper() else ODD
        ranks = [r for r in odd if r >= least] or [least]
        sizes = {r: (self.size,) * r for r in ranks}
        ways = [(odd.get(r, 0.0), np.ones(sizes[r]) if r else 1.0) for r in ranks]
        return sorted(ways, key=lambda way: way[0])


def _plain(ways: list[Way]) -> Form:
    return Form([ways], lambda parts: parts[0])


def _dict_of(keys: list[str], parts: list[Any]) -> dict[str, Any]:
    return dict(zip(keys, parts, strict=True))


def _layers(parts: list[Any]) -> list[tuple]:
    return [tuple(parts)] * LAYERS


class _Search:
    """Goes from the plainest arguments to others, where the function asks for them."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform
        #: Arguments that the function runs with, and how odd that is.
        self.found: list[tuple[float, int, dict[str, Any]]] = []
        self.tries = 0
        #: How many statements inference may be asked about.
        self.left = MOST_TRIES * OF_STATEMENTS
        self.length = sum(1 for _ in syntax.all_statements(transform.source.node.body))

    def over(self, forms: dict[str, Form]) -> None:
        """Look at the arguments of these forms, as long as they get less odd."""
        # Of two that are as odd, one with later arguments of more axes: those are data.
        count = len(forms)
        ways = [
            [(odd + 0.01 * (count - at) * np.ndim(value), value) for odd, value in part]
            for at, form in enumerate(forms.values())
            for part in form.parts
        ]
        seen: set[tuple[int, ...]] = set()
        queue: list[tuple[float, tuple[int, ...]]] = []

        def look_at(chosen: tuple[int, ...]) -> None:
            seen.add(chosen)
            pairs = list(zip(ways, chosen, strict=True))
            odd = sum(options[k][0] for options, k in pairs)
            odd += sum(form.odd for form in forms.values())
            values = iter([options[k][1] for options, k in pairs])
            given = {
                name: form.made(list(itertools.islice(values, len(form.parts))))
                for name, form in forms.items()
            }
            self.tries += 1
            more, looked_at = _oddness(self.transform, given)
            self.left -= max(looked_at, self.length, OF_STATEMENTS)
            if more is not None:
                heapq.heappush(self.found, (odd + more, self.tries, given))
            heapq.heappush(queue, (odd + (TOO_ODD if more is None else more), chosen))

        look_at((0,) * len(ways))
        while queue:
            _, chosen = heapq.heappop(queue)
            for at, options in enumerate(ways):
                more = (*chosen[:at], chosen[at] + 1, *chosen[at + 1 :])
                if more[at] == len(options) or more in seen:
                    continue
                if self.left <= 0:
                    return
                look_at(more)
            if self.found and (not queue or queue[0][0] > self.found[0][0] + SLACK):
                return  # none beside it is less odd


# -- how odd the function is for them --------------------------------------------------


def _oddness(transform: Any, given: dict[str, Any]) -> tuple[float | None, int]:
    """How odd it is to give the function these; None where it cannot do with them.

    And how many statements were looked at, with those of functions that are called.
    """
    try:
        values = transform.bind((), given)
        types = [
            tree.argument_type(value, name, False)
            for name, value in zip(transform.parameters, values, strict=True)
        ]
        program, _ = pipeline.at_run_time(transform.request(types))
    except Exception:  # the function itself fails for arguments of such shapes
        return None, 0
    bodies = [unit.node for unit in program.units.values()]
    count = sum(1 for node in bodies for _ in syntax.all_statements(node.body))
    if transform.of_number and not _is_number(program.facts.results[program.entry]):
        return None, count
    odd = sum(_odd_function(node, program) for node in bodies)
    return (odd if odd < TOO_ODD else None), count


def _is_number(t: ty.Type) -> bool:
    return ty.shape_of(t) in ((), None)


def _odd_function(node: Any, program: Program) -> float:
    """How odd the statements of a function in core form are for the types in them."""
    odd = 0.0
    linear: set[str] = set()
    for stmt in syntax.all_statements(node.body):
        variants = program.facts.of(stmt)
        if not variants:
            continue
        before = variants[0].before
        if isinstance(stmt, (gast.If, gast.While)) and _rank(before, stmt.test):
            odd += TOO_ODD  # the truth of an array
        if not isinstance(stmt, gast.Assign):
            continue
        if any(type(t) is ty.Unknown for t in variants[0].after.values()):
            odd += 4.0  # nothing is known of what comes of it
        if isinstance(stmt.value, gast.BinOp):
            odd += _odd_operands(stmt.value, before, linear)
            if _is_linear(stmt.value, linear):
                linear |= syntax.names_written(stmt)
        elif isinstance(stmt.value, gast.Call):
            odd += _odd_call(stmt.value, before, program)
            if any(map(_is_product, program.facts.callees.get(id(stmt.value), []))):
                linear |= syntax.names_written(stmt)
    return odd


def _odd_call(call: Any, before: dict[str, ty.Type], program: Program) -> float:
    """The sum of one number, its cumulative sum, and its product as a matrix."""
    for op in program.facts.callees.get(id(call), []):
        along = isinstance(op, Op) and "axis" in op.signature.parameters
        if along and call.args and _rank(before, call.args[0]) == 0:
            return 5.5
        if _is_product(op) and any(_rank(before, a) == 0 for a in call.args):
            return 4.0
    return 0.0


def _is_product(op: Any) -> bool:
    return isinstance(op, Op) and op.name in ("numpy.dot", "numpy.matmul")


def _is_linear(value: Any, linear: set[str]) -> bool:
    """Whether it is a product of matrices, or one to which something is added."""
    if isinstance(value.op, (gast.Add, gast.Sub)):
        return any(getattr(x, "id", "") in linear for x in (value.left, value.right))
    return isinstance(value.op, gast.MatMult)


def _odd_operands(value: Any, before: dict[str, ty.Type], linear: set[str]) -> float:
    left, right = _rank(before, value.left), _rank(before, value.right)
    if left is None or right is None or left == right:
        return 0.0
    if left and right:
        return 0.0 if isinstance(value.op, gast.MatMult) else 0.2  # broadcast
    if not _is_linear(value, linear):
        return 0.0
    # One number added to the outputs of a layer is a bias that lacks its axes; one
    # output, of which an array is taken, is a layer that lacks them.
    number = value.left if left == 0 else value.right
    return 3.0 if getattr(number, "id", "") in linear else 1.5


def _rank(before: dict[str, ty.Type], node: Any) -> int | None:
    if isinstance(node, gast.Constant):
        return 0
    t = before.get(node.id) if isinstance(node, gast.Name) else None
    shape = None if t is None else ty.shape_of(t)
    return None if shape is None else len(shape)


__all__ = ["arguments"]
