"""The dtypes of batches: all the examples of a name are in one array.

    b = 0                           int64 for one example,
    if x > 0:
        b = b + np.sqrt(x)          float64 for another one: float64 for all

What a name has been given is asked at each statement that gives it something. Where one
reads names of several dtypes, it is asked again with the dtypes that they have in a
batch, until nothing changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    NONE,
    Array,
    NumberOrArray,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    dtype_of,
    is_number,
    same_dtype,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.batch_kinds import is_weak
from srcjax.transforms.specialise import Env, Typer

#: Attributes of an array that tell its dtype.
_OF_DTYPES = ("dtype", "itemsize", "nbytes", "strides", "data")

#: So often values are asked again: int, float, complex, and whether that is all.
_ROUNDS = 6


class Held(NamedTuple):
    """The dtype of an array for all examples; `weak` where all are Python's numbers."""

    dtype: np.dtype
    weak: bool


#: Of a number or an array, None where it is not known; of a tuple, those of its items.
Dtypes = Held | list["Dtypes"] | None


class Given(NamedTuple):
    """What a statement gives a name: its type, and where it is told by one, the value.

    `around` are the types of what the value reads.
    """

    type: Type
    value: gast.expr | None = None
    around: Env | None = None


def promoted_dtypes(
    given: dict[str, list[Given]], unit: Unit, typer: Typer
) -> dict[str, Dtypes]:
    """The dtypes that hold every value a name has: int, then float, is float."""
    found = {name: promoted([g.type for g in each]) for name, each in given.items()}
    mixed = {name for name, each in given.items() if is_mixed(each)}
    if not mixed:
        return found
    reads = what_is_read(given)
    whole = read_as_whole(unit)
    for name in mixed & (whole | reached(whole_numbers(whole, found), reads)):
        found[name] = None  # it is what it is where it is read
        mixed.remove(name)
    made = reached(mixed, turned_round(reads))
    asked = [name for name in given if name in made]
    for name in asked:
        found[name] = None
    # First what they have as far as it is known, then whether that is all.
    for of_known in (True, False):
        for _ in range(_ROUNDS):
            before = {n: found[n] for n in asked}
            for n in asked:
                types = asked_again(given[n], found, made, typer)
                found[n] = promoted(types, of_known)
            if all(found[n] == before[n] for n in asked):
                break
        else:
            return found | dict.fromkeys(asked)
    return found


def where_several_dtypes_show(
    given: dict[str, list[Given]],
    program: Program,
    unit: Unit,
    dtypes: dict[str, np.dtype],
    mapped: Callable[[str], bool],
) -> tuple[str, gast.stmt] | None:
    """A name of arrays of several dtypes, and a statement in which the dtype shows.

    What is written to whole numbers is cut off, and a dtype may be asked for: both are
    for each example as its own array is, not as the one that holds them all.
    `dtypes` are those of the batches.
    """
    held = {n: dtypes_of(each) for n, each in given.items()}
    for name in dtypes.keys() & held.keys():
        held[name] = held[name] and held[name] | {dtypes[name]}
    several = {name for name, each in held.items() if len(each) > 1}
    if not several:
        return None
    mixed = {name for name, each in given.items() if is_mixed(each)}
    shown = mixed & reached(several, turned_round(what_is_read(given)))
    memory = {
        name: NONE.union(*(all_buffers(g.type) for g in given[name]))
        for name in shown
        if mapped(name)
    }
    for stmt in syntax.all_statements(unit.node.body):
        written = program.facts.writes.get(id(stmt), NONE)
        asked = {
            getattr(node.value, "id", "")
            for node in syntax.walk(syntax.head(stmt))
            if isinstance(node, gast.Attribute) and node.attr in _OF_DTYPES
        }
        for name in sorted(memory):
            if name in asked or memory[name] & written:
                return name, stmt
    return None


def dtypes_of(given: list[Given]) -> set[np.dtype]:
    """The dtypes that arrays under a name are known to have."""
    arrays = (g.type for g in given if isinstance(g.type, Array))
    return {t.dtype for t in arrays if t.dtype is not None}


def is_mixed(given: list[Given]) -> bool:
    """Whether a name is given values of several dtypes, or of one that is not known."""
    each = [promoted([g.type]) for g in given]
    return not all(map(is_known, each)) or any(d != each[0] for d in each)


def read_as_whole(unit: Unit) -> set[str]:
    """Names that are read where numbers have to be whole: as an index, bit by bit."""
    bits = (gast.BitAnd, gast.BitOr, gast.BitXor, gast.LShift, gast.RShift, gast.Invert)
    found: set[str] = set()
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.Subscript):
            found |= syntax.names_read(node.slice)
        elif isinstance(getattr(node, "op", None), bits):
            found |= syntax.names_read(node)
    return found


def whole_numbers(names: set[str], dtypes: dict[str, Dtypes]) -> set[str]:
    """Those of the names that hold whole numbers."""
    held = ((n, dtypes.get(n)) for n in names)
    return {n for n, h in held if isinstance(h, Held) and h.dtype.kind in "iu"}


def what_is_read(given: dict[str, list[Given]]) -> dict[str, set[str]]:
    """By name, what is read for the values that it is given."""
    found: dict[str, set[str]] = {}
    for name, each in given.items():
        values = {id(g.value): g.value for g in each if g.value}
        found[name] = set().union(*map(syntax.names_read, values.values()))
    return found


def turned_round(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """By name, those that it is an edge from."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, others in edges.items():
        for other in others:
            found[other].add(name)
    return found


def reached(names: set[str], edges: dict[str, set[str]]) -> set[str]:
    """The names, and all that edges lead to from them."""
    found, todo = set(names), [*names]
    while todo:
        more = edges.get(todo.pop(), set()) - found
        found |= more
        todo += more
    return found


def is_known(dtypes: Dtypes) -> bool:
    return all(map(is_known, dtypes)) if isinstance(dtypes, list) else bool(dtypes)


def what_names_are_given(program: Program, unit: Unit) -> dict[str, list[Given]]:
    """All that each name is given, but for what is surely no number and no array."""
    found: dict[str, list[Given]] = defaultdict(list)
    for stmt in (unit.node, *syntax.all_statements(unit.node.body)):
        own, value = value_for(stmt)
        bound = syntax.names_written(syntax.head(stmt))
        for variant in program.facts.of(stmt):
            for name, t in variant.after.items():
                if not may_be_number(t):
                    continue
                if name == own:
                    found[name].append(Given(t, value, variant.before))
                elif stmt is unit.node or name in bound:
                    found[name].append(Given(t))
    for name, t in program.types_of(unit).items():
        if may_be_number(t) and name not in found:
            found[name].append(Given(t))
    return found


def value_for(stmt: gast.stmt) -> tuple[str, gast.expr | None]:
    """The one name that a statement gives an expression."""
    if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
        return stmt.targets[0].id, stmt.value
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
        name = stmt.target.id
        return name, gast.BinOp(syntax.name(name), stmt.op, stmt.value)
    return "", None


def asked_again(
    given: list[Given], dtypes: dict[str, Dtypes], others: set[str], typer: Typer
) -> list[Type]:
    """The types of the values, with the `others` in the dtypes that they have now."""
    types = []
    for t, value, around in given:
        if value is not None and around is not None:
            reads = syntax.names_read(value)
            if not reads.isdisjoint(others) or not is_known(promoted([t])):
                env = {n: around[n] for n in reads if n in around}
                for n in env.keys() & others:
                    env[n] = in_dtypes(env[n], dtypes[n])
                t = typer.type_of(value, env)
        types.append(t)
    return types


def in_dtypes(t: Type, dtypes: Dtypes) -> Type:
    """The type of a number, an array or a tuple, of these dtypes as far as known."""
    if isinstance(dtypes, list):
        if not isinstance(t, Tuple) or len(t.items) != len(dtypes):
            return t
        return replace(t, items=tuple(map(in_dtypes, t.items, dtypes)))
    if dtypes is None:
        return t
    if isinstance(t, (Array, NumberOrArray)):
        return replace(t, dtype=dtypes.dtype)
    if same_dtype(dtypes.dtype, dtype_of(t)) and is_weak(t) is dtypes.weak:
        return t
    if is_number(t):
        return Scalar(t.active, t.buffers, dtypes.dtype, dtypes.weak)
    return t


def may_be_number(t: Type) -> bool:
    """Whether the value may be a number, an array, or a tuple of them."""
    return is_number(t) or isinstance(t, (Array, Tuple, Unknown))


def promoted(types: list[Type], of_known: bool = False) -> Dtypes:
    """The dtypes of arrays of such values. Python's numbers do not widen float32.

    With `of_known`, those that are not known are left out.
    """
    tuples = [t for t in types if isinstance(t, Tuple)]
    if tuples and len(tuples) == len(types):
        if len({len(t.items) for t in tuples}) > 1:
            return None
        columns = zip(*(t.items for t in tuples), strict=True)
        return [promoted(list(column), of_known) for column in columns]
    known = [(t, d) for t in types if (d := dtype_of(t)) is not None]
    if not known or (len(known) < len(types) and not of_known):
        return None
    strong = [d for t, d in known if not is_weak(t)]
    if not strong or np.result_type(*strong).kind not in "fc":
        return Held(np.result_type(*(d for _, d in known)), not strong)
    weak = [d.type(0).item() for t, d in known if is_weak(t)]
    return Held(np.result_type(*strong, *weak), False)


__all__ = [
    "Held",
    "in_dtypes",
    "promoted_dtypes",
    "what_names_are_given",
    "where_several_dtypes_show",
]
