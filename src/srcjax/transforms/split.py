"""Tuples and dicts that only carry values on, as a variable for each of the values.

Before:                              After:

    carry = (h, c)                       h3 = h
    for x in xs:                         c3 = c
        h2, c2 = carry                   for x in xs:
        ...                                  h2 = h3
        carry = (h4, c4)                     c2 = c3
                                             ...
                                             h3 = h4
                                             c3 = c4

So what is carried through a loop is followed part by part, by each transform, and no
container is left for a reader to open. Only names that are not the user's are split,
where all that is done with them is to make them, to hand them on, and to read parts of
them by constant places: nothing tells then whether there was a container.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Dict, Tuple, Type, ageless_buffers
from srcjax.frontend.unit import Unit


def split_containers(program: Program, unit: Unit) -> bool:
    """Split such names of a unit; whether there were any."""
    types = program.types_of(unit)
    splitting = _Splitting(unit, types, program.facts.written())
    found = False
    while splitting.once():
        found = True
    return found


class _Splitting:
    def __init__(self, unit: Unit, types: dict[str, Type], written: frozenset) -> None:
        self.unit = unit
        self.types = types
        #: Memory that is written to in place.
        self.written = written
        #: The keys of what is split, and the variables for them, by the name.
        self.parts: dict[str, dict[Any, str]] = {}
        #: Statements that hand on what a name holds, before anything is split.
        self.handed: dict[str, list[gast.Assign]] = {}

    def once(self) -> bool:
        """Split all names that can be; what they hold may be split after that."""
        body = self.unit.node.body
        own = (self.unit.temps | self.unit.inlined) - set(self.unit.parameters)
        keys = {n: keys_of(self.types[n]) for n in own & self.types.keys()}
        keys = {n: found for n, found in keys.items() if found}
        if not keys:
            return False
        names = set(keys)
        bound = syntax.binding_counts(self.unit.node)
        names = {n for n in names if bound[n]}
        uses = Counter(n.id for n in syntax.names_in(self.unit.node))
        names -= self.refused(names, keys, uses)
        if not names:
            return False
        self.handed = self.handed_on()
        self.parts = {n: self.variables(n, keys[n]) for n in sorted(names)}
        self.unit.node.body = in_place_of(body, self.statement)
        return True

    def refused(
        self, names: set[str], keys: dict[str, Any], uses: Counter[str]
    ) -> set[str]:
        """Names of which something is done that asks for the container.

        Of one that is handed on to another, what is done with the other counts too: its
        statements are looked at again, without it.
        """
        fine: Counter[str] = Counter()
        accepted: dict[gast.Assign, list[str]] = {}
        mentions: dict[str, list[gast.Assign]] = {}
        for stmt in syntax.all_statements(self.unit.node.body):
            if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
                mentioned = names & syntax.all_names(stmt)
                for name in mentioned:
                    mentions.setdefault(name, []).append(stmt)
                if mentioned:
                    accepted[stmt] = self.accepted(stmt, names, keys)
                    fine.update(accepted[stmt])
        kept = set(names)
        while refused := {n for n in kept if uses[n] != fine[n]}:
            kept -= refused
            for stmt in {s for n in refused for s in mentions.get(n, ())}:
                fine.subtract(accepted[stmt])
                accepted[stmt] = self.accepted(stmt, kept, keys)
                fine.update(accepted[stmt])
        return names - kept

    def handed_on(self) -> dict[str, list[gast.Assign]]:
        """The statements that give another name, or several, what a name holds."""
        found: dict[str, list[gast.Assign]] = {}
        for stmt in syntax.all_statements(self.unit.node.body):
            if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Name):
                found.setdefault(stmt.value.id, []).append(stmt)
        return found

    def accepted(
        self, stmt: gast.Assign, names: set[str], keys: dict[str, Any]
    ) -> list[str]:
        """The names in a statement that need no container there."""
        target, value = stmt.targets[0], stmt.value
        found: list[str] = []
        if isinstance(target, gast.Name) and target.id in names:
            made = parts_made(value)
            if made is not None and list(made) == keys[target.id]:
                found.append(target.id)
            elif (
                isinstance(value, gast.Name)
                and value.id in names
                and keys[value.id] == keys[target.id]
            ):
                found += [target.id, value.id]
        elif (
            isinstance(target, gast.Name)
            and getattr(value, "id", "") in names
            and not ageless_buffers(self.types[value.id].buffers) & self.written
        ):
            found.append(value.id)  # a container is made there
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Name):
            plain = all(isinstance(e, gast.Name) for e in target.elts)
            places = list(range(len(target.elts)))
            if plain and value.id in names and keys[value.id] == places:
                found.append(value.id)
        for node in syntax.walk(value):
            if (
                isinstance(node, gast.Subscript)
                and isinstance(node.value, gast.Name)
                and node.value.id in names
                and place_of(node.slice, keys[node.value.id]) is not None
            ):
                found.append(node.value.id)
        return found

    def variables(self, name: str, keys: list[Any]) -> dict[Any, str]:
        """A variable for each part, of the type of the part."""
        found = {}
        shown = self.shown(name, keys)
        for key, t in zip(keys, items_of(self.types[name]), strict=True):
            part = self.unit.names.fresh(shown[key])
            self.unit.temps.add(part)
            if name in self.unit.varying:
                self.unit.varying.add(part)
            if name in self.unit.inlined:
                self.unit.inlined.add(part)
            self.types[part] = t
            found[key] = part
        return found

    def shown(self, name: str, keys: list[Any]) -> dict[Any, str]:
        """Names for the parts: those that the program takes them out to, if it does."""
        names = [name]
        for each in names:  # and those that it is handed on to
            for stmt in self.handed.get(each, ()):
                target = stmt.targets[0]
                if isinstance(target, gast.Tuple) and len(target.elts) == len(keys):
                    numbered = self.unit.names.numbered
                    taken = [numbered.get(e.id, e.id) for e in target.elts]
                    return {
                        k: n if n.strip("_") else f"{name}_{k}"
                        for k, n in enumerate(taken)
                    }
                if isinstance(target, gast.Name) and target.id not in names:
                    names.append(target.id)
        texts = [str(key) for key in keys]
        return {
            key: text if text.isidentifier() else f"{name}_{text}"
            for key, text in zip(keys, texts, strict=True)
        }

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        """What stands for a statement, with the variables."""
        if not isinstance(stmt, gast.Assign):
            return [stmt]
        target, value = stmt.targets[0], stmt.value
        parts = self.parts.get(getattr(target, "id", ""))
        if parts is not None:
            given = parts_made(value)
            if given is None:
                other = self.parts[value.id]
                given = {key: syntax.name(other[key]) for key in other}
            given = {key: self.read(node) for key, node in given.items()}
            return [syntax.assign(parts[key], node) for key, node in given.items()]
        held = self.parts.get(getattr(value, "id", ""))
        if held is not None and isinstance(target, gast.Tuple):
            return [
                syntax.assign(e.id, syntax.name(held[k]))
                for k, e in enumerate(target.elts)
            ]
        if held is not None:
            names = {key: syntax.name(part) for key, part in held.items()}
            stmt.value = gast.copy_location(_display(names), value)
            return [stmt]
        stmt.value = self.read(value)
        return [stmt]

    def read(self, value: gast.expr) -> gast.expr:
        """An expression with the variables for what is read of the containers."""

        def part(node: Any) -> Any:
            if not isinstance(node, gast.Subscript):
                return node
            held = self.parts.get(getattr(node.value, "id", ""))
            if held is None:
                return node
            return syntax.name(held[place_of(node.slice, list(held))])

        return syntax.map_expressions(value, part)


def in_place_of(
    stmts: list[gast.stmt], statement: Callable[[Any], list[gast.stmt]]
) -> list[gast.stmt]:
    """A block with what stands for each of its statements, and of those in them."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, lambda block: in_place_of(block, statement))
        new = statement(stmt)
        for each in new:
            if each is not stmt:
                gast.copy_location(each, stmt)
                each.user_line = getattr(stmt, "user_line", None)
        out += new
    return out


def keys_of(t: Type) -> list[Any]:
    """The keys of a container that is known to be one of these; none of others."""
    if isinstance(t, Tuple) and t.cls in (None, tuple):
        return list(range(len(t.items)))
    if isinstance(t, Dict) and t.items:
        return [key for key, _ in t.items]
    return []


def items_of(t: Any) -> list[Type]:
    items: Any = t.items
    return [item for _, item in items] if isinstance(t, Dict) else list(items)


def parts_made(value: gast.expr) -> dict[Any, gast.expr] | None:
    """The parts of a display, by their keys."""
    if isinstance(value, gast.Tuple):
        if any(isinstance(e, gast.Starred) for e in value.elts):
            return None
        return dict(enumerate(value.elts))
    if isinstance(value, gast.Dict) and all(
        isinstance(k, gast.Constant) for k in value.keys
    ):
        found = {k.value: v for k, v in zip(value.keys, value.values, strict=True)}
        return found if len(found) == len(value.keys) else None
    return None


def _display(parts: dict[Any, gast.expr]) -> gast.expr:
    """The expression of a container with these parts."""
    if list(parts) == list(range(len(parts))):
        return gast.Tuple(list(parts.values()), syntax.LOAD)
    return gast.Dict([syntax.const(key) for key in parts], list(parts.values()))


def place_of(index: gast.expr, keys: list[Any]) -> Any:
    """The key that a constant index names; None if it names none."""
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
        back: Any = getattr(index.operand, "value", None)
        row = keys == list(range(len(keys)))
        inside = isinstance(back, int) and 0 < back <= len(keys)
        return len(keys) - back if row and inside else None
    key = getattr(index, "value", None) if isinstance(index, gast.Constant) else None
    return key if key in keys else None
