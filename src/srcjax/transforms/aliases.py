"""One name for one object.

Before:                          After:

    b = a
    b[0] = 1.0                       a[0] = 1.0

Only for objects that are changed in place, where the two names must have one adjoint;
both names must be assigned once (or `a` a parameter), so that they stay one object. And
a temporary that is only handed over, as an argument of an inlined function is, has the
name that it is handed to: `total = x + y; b = total` is `b = x + y`. What is compiled
has one name for all values that are the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.control import is_compound
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Array,
    Dict,
    List,
    Object,
    Varies,
    all_buffers,
    dtype_of,
    is_mapping,
    varies,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.uses import Uses, within


def merge_aliases(program: Program, unit: Unit) -> bool:
    """Replace the second name of an object by its first; whether there is any."""
    merged = _merge(program, unit)
    while merged and varies() is Varies.RUN_TIME and _merge(program, unit):
        pass
    return merged


def _merge(program: Program, unit: Unit) -> bool:
    """Go through the statements once."""
    written = program.facts.written()
    merged: set[int] = set()
    bound = syntax.binding_counts(unit.node)
    uses = Uses(unit.node)
    for stmt in list(syntax.all_statements(unit.node.body)):
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Name):
            continue
        target = stmt.targets[0]
        if not isinstance(target, gast.Name):
            continue
        first, second = stmt.value.id, target.id
        if bound[second] != 1:
            continue
        # What carries no derivative may be several operations, unlike what does.
        alike = (first in unit.varying) == (second in unit.varying)
        if bound[first] != 1:
            ours = unit.inlined | (unit.temps if first in unit.temps else set())
            given = alike and second in ours
            given = given and len(_dtypes(program, uses, first)) < 2
            if given and _stays_until_read(uses, stmt, first, second):
                uses.rename(second, first)
                del bound[second]
                merged.add(id(stmt))
            elif (
                alike
                and first in unit.temps
                and second not in unit.temps
                and second.strip("_")
                and _is_renamed(uses, stmt, first, second)
            ):  # a loop has made it
                uses.rename(first, second)
                bound[second] = bound.pop(first)
                merged.add(id(stmt))
            continue
        if (
            alike
            and first in unit.temps
            and _is_handed_over(uses, stmt, first)
            and _unread_before(uses, stmt, first, second)
        ):
            uses.rename(first, second)
            del bound[first]  # the alias goes, what makes the object stays
            merged.add(id(stmt))
            continue
        types = [v.after[second] for v in program.facts.of(stmt) if second in v.after]
        kinds = (Array, List, Dict, Object)
        updated = (
            bool(types)
            and all(isinstance(t, kinds) for t in types)
            and any(all_buffers(t) & written for t in types)
        )
        # A parameter of a function that was written out is what it was given. In a
        # batch its own name may have been looked at for what it is.
        own = first in unit.inlined or not is_mapping()
        fits = alike or first not in unit.varying
        passed = fits and second in unit.inlined | unit.temps and own
        one = passed or varies() is Varies.RUN_TIME
        if updated or (one and _stays(uses, stmt, first, second)):
            ranks = {n: (n in unit.temps, n in unit.inlined) for n in (first, second)}
            if alike and ranks[first] > ranks[second]:
                first, second = second, first
            uses.rename(second, first)
            del bound[second]
            merged.add(id(stmt))
    if merged:
        unit.node.body = _without(unit.node.body, merged)
    return bool(merged)


def merge_handed_on(program: Program, unit: Unit) -> bool:
    """One name for an object that names hand on to each other; whether there is any.

        p = Pair(s, s)                   p = Pair(s, s)
        for x in xs:                     for x in xs:
            q = p                            p.a = p.a * x
            q.a = q.a * x
            p = q

    So it is where one statement makes it, or the call gives it, and all others that
    bind the names hand it on: it is the same object whichever of them is read.
    """
    copies: dict[int, tuple[str, str]] = {}
    for stmt in syntax.all_statements(unit.node.body):
        if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
            target = stmt.targets[0]
            if isinstance(target, gast.Name) and isinstance(stmt.value, gast.Name):
                copies[id(stmt)] = target.id, stmt.value.id
    merged: set[int] = set()
    bound = syntax.binding_counts(unit.node)
    for names in _handed_on(copies):
        here = {key: pair for key, pair in copies.items() if set(pair) <= names}
        if not _is_one_object(program, unit, names, here, bound):
            continue
        given = names & set(unit.parameters)
        first = min(
            given or names, key=lambda n: (n in unit.temps, n in unit.inlined, n)
        )
        syntax.rename(unit.node.body, dict.fromkeys(names - {first}, first))
        merged |= set(here)
    if merged:
        unit.node.body = _without(unit.node.body, merged)
    return bool(merged)


def _handed_on(copies: dict[int, tuple[str, str]]) -> list[set[str]]:
    """The names that copies go between, in sets that have nothing to do with others."""
    found: list[set[str]] = []
    for pair in copies.values():
        joined = set(pair).union(*(names for names in found if names & set(pair)))
        found = [names for names in found if not names & set(pair)] + [joined]
    return found


def _is_one_object(
    program: Program,
    unit: Unit,
    names: set[str],
    copies: dict[int, tuple[str, str]],
    bound: Counter[str],
) -> bool:
    """Whether the names hold one object that is changed, wherever they are read."""
    again = {target for target, _ in copies.values() if bound[target] > 1}
    given = names & set(unit.parameters)
    if not again or sum(bound[n] for n in names) != len(copies) + 1:
        return False
    for stmt in syntax.walk(unit.node.body):
        if isinstance(stmt, gast.FunctionDef) and names & syntax.all_names(stmt):
            return False
    types = program.types_of(unit)
    written = program.facts.written()
    if not all(isinstance(types.get(n), (Array, List, Dict, Object)) for n in names):
        return False
    if not any(all_buffers(types[n]) & written for n in names):
        return False
    if given:
        return not (names - given) & exposed(unit.node.body)
    return _made_before_all(unit, names, copies)


def _made_before_all(
    unit: Unit, names: set[str], copies: dict[int, tuple[str, str]]
) -> bool:
    """Whether each time the object is made, no name of it is read that holds another.

    The others are only used after it, in the same block and what is in it.
    """
    for block in syntax.blocks(unit.node.body):
        for k, stmt in enumerate(block):
            if id(stmt) in copies or is_compound(stmt):
                continue
            made = names & syntax.names_written(stmt)
            if not made or not isinstance(stmt, gast.Assign):
                continue
            others, after = names - made, block[k + 1 :]
            if any(
                syntax.count_uses(after, n) != syntax.count_uses(unit.node.body, n)
                for n in others
            ):
                return False
            return not others & exposed(after)
    return False


def _is_handed_over(uses: Uses, alias: gast.stmt, first: str) -> bool:
    """Whether `second = first` is all that becomes of what its block made."""
    span = uses.spans.get(id(alias))
    if span is None or within(uses.kept.get(first), span.firsts[0], span.first - 1):
        return False
    made, read = uses.bindings.get(first, []), uses.reads.get(first, [])
    made_above = within(made, span.firsts[0], span.first - 1) == len(made)
    return made_above and within(read, span.firsts[0], span.first) == len(read)


def _is_renamed(uses: Uses, alias: gast.stmt, first: str, second: str) -> bool:
    """Whether the first name is not used after `second = first`, the second not before.

    That is in no loop, which may be left, or gone through again, in between.
    """
    span = uses.spans.get(id(alias))
    if span is None or span.firsts[0] or {first, second} & uses.elsewhere:
        return False
    used = [*uses.writes.get(first, ()), *uses.reads.get(first, ())]
    return max(used) <= span.first and not within(uses.reads.get(second), 0, span.first)


def _unread_before(uses: Uses, alias: gast.stmt, first: str, second: str) -> bool:
    """Whether the second name is not read from where the first is made to the alias."""
    span = uses.spans[id(alias)]
    made = max(p for p in uses.writes[first] if span.firsts[0] <= p < span.first)
    start = span.from_statement_of(made)
    return not within(uses.reads.get(second), start, span.first - 1)


def _stays(uses: Uses, alias: gast.stmt, first: str, second: str) -> bool:
    """Whether the second name is only read while the first still holds the same."""
    span = uses.spans.get(id(alias))
    if span is None or within(uses.writes.get(first), span.last + 1, span.end):
        return False
    read = uses.reads.get(second, [])
    return within(read, span.last + 1, span.end) == len(read)


def _stays_until_read(uses: Uses, alias: gast.stmt, first: str, second: str) -> bool:
    """Whether the first name is bound anew, if at all, after what reads the second."""
    span = uses.spans.get(id(alias))
    read = uses.reads.get(second, [])
    if span is None or {first, second} & uses.elsewhere:
        return False
    if within(read, span.last + 1, span.end) != len(read):
        return False
    after = bisect_right(span.firsts, max(read, default=span.first))
    end = span.firsts[after] - 1 if after < len(span.firsts) else span.end
    return not within(uses.writes.get(first), span.last + 1, end)


def _dtypes(program: Program, uses: Uses, name: str) -> set[Any]:
    """The dtypes of what a name is bound to."""
    stmts = (uses.stmts[place] for place in uses.writes.get(name, ()) if place >= 0)
    return {
        dtype_of(state.after[name])
        for stmt in stmts
        if isinstance(stmt, (gast.Assign, gast.AugAssign))
        for state in program.facts.of(stmt)
        if name in state.after
    }


def _without(block: list[gast.stmt], merged: set[int]) -> list[gast.stmt]:
    """The statements that are still needed, in blocks that may not be empty."""
    kept = [stmt for stmt in block if id(stmt) not in merged]
    for stmt in kept:
        syntax.rewrite_blocks(stmt, lambda block: _without(block, merged))
    return kept or [gast.Pass()]
