"""Which names a branch or loop changes for some examples, and what shares memory.

What some examples give a new value is copied before, so that the others keep theirs:
from then on no other name sees what is written to it. What is only written in place is
gathered, and put back into the memory that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed, surely
from srcjax.analysis.known_values import class_of
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    Leaf,
    List,
    NumberOrArray,
    Object,
    OrNone,
    Other,
    Transformed,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    is_active,
    is_number,
)
from srcjax.transforms.batch.rules import Rules
from srcjax.transforms.places import keyed_parts

_CONTAINERS = (Tuple, List, Dict, Object)


class Sharing(Rules):
    """Tells what examples change on their own; refuses where others would see it."""

    #: Names that tell which examples stay in a loop.
    flags: set[str]

    def merged_names(self, stmt: gast.If) -> list[str]:
        """Names that the branch assigns and that are read outside of it."""
        written = self.assigned(stmt.body) | self.assigned(stmt.orelse)
        # Names of functions and comprehensions inside are none of this scope.
        written &= {*self.examples, *functions_in(stmt)}
        inside = syntax.use_counts(stmt)
        everywhere = syntax.use_counts(self.unit.node.body)
        exposed_inside = exposed([stmt])
        return sorted(
            n
            for n in written
            if everywhere[n] > inside[n] or n in exposed_inside or n in self.flags
        )

    def carried(self, stmt: Any) -> list[str]:
        """Mapped names that the loop assigns and that live on after an iteration."""
        written = self.assigned(stmt)
        inside = syntax.use_counts(stmt)
        everywhere = syntax.use_counts(self.unit.node.body)
        again = exposed(stmt.body)
        return sorted(
            n
            for n in written
            if self.is_lane_name(n) and (n in again or everywhere[n] > inside[n])
        )

    def assigned(self, node: Any) -> set[str]:
        """Names that get a new value; `x += v` of an array writes to the old one."""
        updates = {
            id(s.target)
            for s in syntax.walk(node)
            if isinstance(s, gast.AugAssign) and self.is_array(s.target)
        }
        updated = {n.id for n in syntax.walk(node) if id(n) in updates}
        stored = {
            n.id
            for n in syntax.walk(node)
            if isinstance(n, gast.Name)
            and isinstance(n.ctx, gast.Store)
            and id(n) not in updates
        }
        return syntax.names_written(node) - (updated - stored)

    def is_array(self, node: Any) -> bool:
        t = self.examples.get(getattr(node, "id", ""), UNKNOWN)
        return isinstance(t, Array)

    def check_merged(self, stmt: gast.stmt, names: list[str]) -> None:
        """What shares memory must not differ between examples, where it is seen.

        A name must not become another array's memory for some examples only, or stay
        it for the others (those are copied), and that memory be written to.
        """
        self.check_kept(stmt, names)
        self.check_lengths(stmt, names)
        self.check_kinds(stmt, names)
        functions = functions_in(stmt)
        for n in names:
            t = self.examples.get(n, UNKNOWN)
            if isinstance(t, (Closure, Const, Other)) or n in functions:
                raise self.refuse(
                    f"`{n}`, which is no number or array, differs between examples",
                    "a number, an array, or a container of them",
                )
            for variant in self.facts.of(getattr(stmt, "origin", stmt)):
                self.check_object(n, variant.before.get(n))
        for inner in syntax.walk(stmt):
            if not isinstance(inner, gast.Assign):
                continue
            target = inner.targets[0]
            if not isinstance(target, gast.Name) or target.id not in names:
                continue
            t = self.examples.get(target.id, UNKNOWN)
            own = frozenset(id(n) for n in syntax.walk(inner.value))
            made = self.value_type(inner, target.id)
            self.check_object(target.id, made)
            shared = made.buffers - own
            if shared & self.written and t.buffers & self.written:
                raise self.refuse(
                    f"which array `{target.id}` shares memory with differs between "
                    "examples, and it is written to",
                    "a copy",
                )

    def check_kinds(self, stmt: gast.stmt, names: list[str]) -> None:
        """Each example has a value of the same kind under a name.

        A batch has no place for a number of some examples beside None of others. What
        is only ever indexed, unpacked or returned in a tuple is no None where it is.
        """
        given: dict[str, list[Type]] = {n: [] for n in names}
        for inner in syntax.walk(stmt):
            if isinstance(inner, gast.stmt):
                for n in syntax.names_written(syntax.head(inner)) & given.keys():
                    given[n].append(self.value_type(inner, n))
        for n in names:
            joined = self.examples.get(n, UNKNOWN)
            lost = type(joined) is Unknown and Unknown not in map(type, given[n])
            none = isinstance(joined, OrNone) or type(joined) is Unknown
            if none and not self.is_looked_at(n):
                continue
            if lost or differ_in_kind([joined, *given[n]]):
                raise self.refuse(
                    f"of which kind `{n}` is, differs between examples",
                    "a value of the same kind in each branch",
                )

    def is_looked_at(self, name: str) -> bool:
        """Whether the name is read where None is as good as another value.

        It is not where the function that is batched gives it: that asks for a result.
        """
        entry = self.program.units[self.program.entry] is self.unit
        return any(
            isinstance(value, gast.Name) and value.id == name
            for node in syntax.walk(self.unit.node.body)
            if not (entry and isinstance(node, gast.Return))
            for value in _looked_at(node)
        )

    def check_lengths(self, stmt: gast.stmt, names: list[str]) -> None:
        """What some examples define anew has the items that that of the others has.

        Only what is known to differ is refused: the text asks when it runs.
        """
        written = self.facts.written_by(syntax.walk(stmt))
        found: dict[str, set[Any]] = {}

        def add(name: str, t: Type, around: Any = None) -> None:
            keys = around or keys_of(t)
            if keys is not None and not t.buffers & written:  # it keeps them
                found.setdefault(name, set()).add(keys)

        for name, given in assignments(stmt, names):
            add(name, self.value_type(given, name), self.keys_around(given.value))
        before = found.keys() - surely(stmt)
        for name, given in assignments(self.unit.node, before):
            if not any(given is s for s in syntax.walk(stmt)):
                add(name, self.value_type(given, name), self.keys_around(given.value))
        for name, keys in found.items():
            if len(keys) > 1:
                raise self.refuse(
                    f"which items `{name}` has, differs between examples",
                    "the same items for all of them",
                )

    def keys_around(self, node: gast.expr) -> frozenset[Any] | int | None:
        """The same of a list or dict from around the function, as it is now.

        Where it is another one later, the text is right, or says so when it runs.
        """
        if not isinstance(node, gast.Name) or node.id in self.examples:
            return None
        try:
            value = self.program.look(self.unit, node.id)
        except KeyError:
            return None
        if isinstance(value, dict):
            return frozenset(value)
        return len(value) if isinstance(value, (list, tuple)) else None

    def check_object(self, name: str, t: Type | None) -> None:
        """What examples choose among must be numbers, arrays or text."""
        plain = (int, float, complex, str, bytes, type(None), np.generic)
        if isinstance(t, (Closure, Transformed)) or (
            isinstance(t, Const) and not isinstance(t.value, plain)
        ):
            raise self.refuse(
                f"which object `{name}` is, differs between examples",
                "a call of each in its branch",
            )

    def check_kept(self, stmt: gast.stmt, names: list[str]) -> None:
        """No other name sees what is written to the memory the names had before."""
        live, later, again = self.follows(stmt)
        written = self.facts.written_by(syntax.walk(later))
        if not again:
            written = frozenset(b for b in written if not made_in(b, stmt))
        for n in names:
            seen = all_buffers(self.examples.get(n, UNKNOWN)) & written
            for other in sorted(live - {n}):
                if all_buffers(self.examples.get(other, UNKNOWN)) & seen:
                    raise self.refuse(
                        f"`{n}` and `{other}` share memory that is written to, and "
                        f"some examples give `{n}` a new value",
                        "a copy",
                    )

    def follows(self, stmt: Any) -> tuple[set[str], list[gast.stmt], bool]:
        """What comes from the statement on.

        The names whose values are read, the statements, with those around the
        statement in a loop, and whether it is one or is in one.
        """
        stmt = getattr(stmt, "origin", stmt)

        def visit(block: list[Any]) -> tuple[set[str], list[gast.stmt], bool] | None:
            for k, s in enumerate(block):
                loop = isinstance(s, (gast.For, gast.While))
                if s is stmt:
                    return exposed(block[k:]), block[k:], loop
                for inner in syntax.inner_blocks(s):
                    found = visit(inner)
                    if found is None:
                        continue
                    live, later, again = found
                    if loop:
                        return live | exposed(block[k:]), block[k:], True
                    rest = block[k + 1 :]
                    return live | exposed(rest), [*later, *rest], again
            return None

        everything = self.unit.node.body
        return visit(everything) or (set(self.examples), everything, True)

    def is_lane_name(self, name: str) -> bool:
        t = self.examples.get(name, UNKNOWN)
        return is_active(t) and not isinstance(t, Closure)

    def changed_buffers(self, stmts: list[gast.stmt]) -> frozenset:
        """Memory that the statements write in place."""
        found = self.facts.written_by(syntax.walk(stmts))
        own = {id(node) for node in syntax.walk(stmts)}
        return frozenset(b for b in found if b not in own)

    def check_aliases(
        self, reads: list[str], buffers: frozenset, changed: list[str]
    ) -> None:
        """Two gathered names must not share memory that is written."""
        seen: dict[Any, str] = {}
        for n in reads:
            t = self.examples.get(n, UNKNOWN)
            apart = isinstance(t, (*_CONTAINERS, Other)) or not self.is_lane_name(n)
            if apart and not isinstance(t, Array) and all_buffers(t) & buffers:
                raise self.refuse(
                    f"`{n}` is changed in a branch that not every example takes",
                    "an array",
                )
            for b in sorted(t.buffers & buffers, key=repr):
                if b in seen and self.is_lane_name(n):
                    raise self.refuse(
                        f"`{n}` and `{seen[b]}` share memory that a branch changes "
                        "which not every example takes",
                        "copies",
                    )
                seen[b] = n


def functions_in(stmt: gast.stmt) -> set[str]:
    """The names of functions that are defined inside."""
    return {s.name for s in syntax.walk(stmt) if isinstance(s, gast.FunctionDef)}


def assignments(node: Any, names: Any) -> list[tuple[str, gast.Assign]]:
    """Where one of the names is defined by an assignment."""
    given = [s for s in syntax.walk(node) if isinstance(s, gast.Assign)]
    targets = [(str(getattr(s.targets[0], "id", "")), s) for s in given]
    return [(name, s) for name, s in targets if name in names]


def keys_of(t: Type) -> frozenset[Any] | int | None:
    """The keys of a dict, or how many items a sequence has; None if it is not known."""
    if isinstance(t, Dict) and t.items is not None:
        return frozenset(key for key, _ in t.items)
    if isinstance(t, (Tuple, List)) and t.items is not None:
        return len(t.items)
    return None


def made_in(buffer: Any, stmt: gast.stmt) -> bool:
    """Whether the memory is that of a value which the statement computes."""
    key = buffer[0] if isinstance(buffer, tuple) else buffer
    return any(id(node) == key for node in syntax.walk(stmt))


__all__ = ["Sharing"]


def differ_in_kind(types: Sequence[Type]) -> bool:
    """Whether values of the types are surely not all of one kind."""
    if any(isinstance(t, (OrNone, NumberOrArray)) for t in types):
        return True
    types = [t for t in types if type(t) not in (Unknown, Leaf)]
    kinds = set(map(_kind_of, types))
    if len(kinds) != 1:
        return len(kinds) > 1
    keyed = [dict(keyed_parts(t)) for t in types]
    if len({tuple(each) for each in keyed}) > 1:
        return False  # see `check_lengths`
    return any(differ_in_kind([each[key] for each in keyed]) for key in keyed[0])


def _kind_of(t: Type) -> Any:
    """What sets values apart that no array holds beside one another."""
    if is_number(t):
        return "number"
    if isinstance(t, Array):
        return "array"
    return class_of(t) or type(t)


def _looked_at(node: Any) -> list[Any]:
    """What a node tests, compares, hands on or gives another name."""
    if isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [node.test]
    if isinstance(node, gast.BoolOp):
        return list(node.values)
    if isinstance(node, gast.UnaryOp):
        return [node.operand] if isinstance(node.op, gast.Not) else []
    if isinstance(node, gast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, gast.Call):
        return [*node.args, *(k.value for k in node.keywords)]
    named = isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name)
    return [node.value] if named or isinstance(node, gast.Return) else []
