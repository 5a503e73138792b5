"""Lists that only gather tuples or dicts, as a list for each of their parts.

Before:                              After:

    ys = []                              ys_0 = []
    for x in xs:                         ys_1 = []
        ...                              for x in xs:
        y = (h, c)                           ...
        ys.append(y)                         ys_0.append(h)
    values = []                              ys_1.append(c)
    for j in range(len(ys)):             cs = np.stack(ys_1)
        each = ys[j]
        v = each[1]
        values.append(v)
    cs = np.stack(values)

So a scan that stacks two things in each step has a list for each of them, as a person
would write it. Only lists that are not the user's are split, where all that is done
with them is to append containers to them, and to read parts of their items.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import UNKNOWN, List, Type, ageless_buffers
from srcjax.frontend.joined_tapes import emptied, pushed
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op
from srcjax.transforms.split import in_place_of, keys_of, parts_made, place_of


def split_lists(program: Program, unit: Unit) -> bool:
    """Split such lists of a unit; whether there were any."""
    types = program.types_of(unit)
    own = (unit.temps | unit.inlined) - set(unit.parameters)
    written = program.facts.written()
    keys = {n: k for n in own & types.keys() if (k := _item_keys(types[n], written))}
    if not keys:
        return False
    uses = Counter(n.id for n in syntax.names_in(unit.node))
    bound = syntax.binding_counts(unit.node)
    lists = {name: _Gathered(name, keys[name]) for name in sorted(keys)}
    for stmt in syntax.all_statements(unit.node.body):
        _note(stmt, lists, unit, bound)
    split = [
        found
        for found in lists.values()
        if found.made == 1 and found.appended and found.mentions == uses[found.name]
    ]
    for found in split:
        found.find_reads(unit, types)
    split = [found for found in split if found.reads_parts]
    for found in split:
        _Splitting(unit, found).run()
    return bool(split)


@dataclass
class _Gathered:
    """What is done with a list, in the statements that need no containers for it."""

    name: str
    keys: list[Any]
    made: int = 0
    appended: list[gast.Expr] = field(default_factory=list)
    #: Names of items that are read from it, bound once.
    items: set[str] = field(default_factory=set)
    mentions: int = 0
    reads_parts: bool = True

    def find_reads(self, unit: Unit, types: dict[str, Type]) -> None:
        """Look whether all that is done with its items is to read parts of them."""
        if any(keys_of(types.get(n, UNKNOWN)) != self.keys for n in self.items):
            self.reads_parts = False  # a part of the list, which an index made
            return
        uses: Counter[str] = Counter()
        parts: Counter[str] = Counter()
        for node in syntax.walk(unit.node.body):
            if isinstance(node, gast.Name) and node.id in self.items:
                uses[node.id] += 1
            elif isinstance(node, gast.Subscript):
                item = getattr(node.value, "id", "")
                if item in self.items and place_of(node.slice, self.keys) is not None:
                    parts[item] += 1
        self.reads_parts = all(uses[n] == parts[n] + 1 for n in self.items)


def _item_keys(t: Type, written: frozenset) -> list[Any]:
    """The keys of what the list holds, if all its items are containers with them.

    A dict that is written to may be in the list when it is.
    """
    if not isinstance(t, List) or t.cls is not list or t.elem is None:
        return []
    return [] if ageless_buffers(t.elem.buffers) & written else keys_of(t.elem)


def _note(
    stmt: Any, lists: dict[str, _Gathered], unit: Unit, bound: Counter[str]
) -> None:
    """Note down what a statement does with one of the lists."""
    found = lists.get(emptied(stmt))
    if found is not None:
        found.made += 1
        found.mentions += 1
    found = lists.get(pushed(stmt))
    if found is not None and _parts(stmt, found.keys) is not None:
        found.appended.append(stmt)
        found.mentions += 1
    item = _read(stmt)
    found = lists.get(item and stmt.value.value.id)
    if found is not None and bound[item] == 1 and item in unit.temps | unit.inlined:
        found.items.add(item)
        found.mentions += 1
    for call in syntax.walk(syntax.head(stmt)):
        size = syntax.size_asked(call) if isinstance(call, gast.Call) else None
        if size is not None and size[0] in lists:
            lists[size[0]].mentions += 1


def _parts(stmt: gast.Expr, keys: list[Any]) -> dict[Any, gast.expr] | None:
    """The parts of what is appended, by their keys."""
    value = stmt.value.args[0]
    if isinstance(value, gast.Name):
        read = {k: gast.Subscript(value, syntax.const(k), syntax.LOAD) for k in keys}
        return {k: syntax.clone(node) for k, node in read.items()}
    made = parts_made(value)
    return made if made is not None and list(made) == keys else None


def _read(stmt: Any) -> str:
    """`each` of `each = ys[j]`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return ""
    value = stmt.value
    plain = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
    if not plain or len(stmt.targets) != 1 or isinstance(value.slice, gast.Slice):
        return ""
    return stmt.targets[0].id


class _Splitting:
    """Puts the lists of the parts for a list of containers."""

    def __init__(self, unit: Unit, found: _Gathered) -> None:
        self.unit = unit
        self.found = found
        #: The list of each part.
        self.lists = {key: self.variable(found.name, key) for key in found.keys}
        #: The names for the parts of each item of the list, as far as they are read.
        self.items: dict[str, dict[Any, str]] = {item: {} for item in found.items}

    def variable(self, name: str, key: Any) -> str:
        """A name for a part of what a name holds."""
        text = str(key)
        part = self.unit.names.fresh(text if text.isidentifier() else f"{name}_{text}")
        self.unit.temps.add(part)
        for names in (self.unit.varying, self.unit.inlined):
            if name in names:
                names.add(part)
        return part

    def run(self) -> None:
        body = syntax.map_expressions(self.unit.node.body, self.read)
        for stmt in syntax.all_statements(body):
            self.ask_size(stmt)
        self.unit.node.body = in_place_of(body, self.statement)

    def read(self, node: Any) -> Any:
        """A name for the part of an item that is read."""
        item = getattr(getattr(node, "value", None), "id", "")
        if isinstance(node, gast.Subscript) and item in self.items:
            key = place_of(node.slice, self.found.keys)
            parts = self.items[item]
            if key not in parts:
                parts[key] = self.variable(item, key)
            return syntax.name(parts[key])
        return node

    def ask_size(self, stmt: Any) -> None:
        """Ask one of the lists for the size of all: one of which a loop reads items."""
        items = syntax.all_names(stmt) & self.items.keys()
        read = [key for item in sorted(items) for key in self.items[item]]
        name = self.lists[read[0] if read else self.found.keys[0]]
        for node in syntax.walk(syntax.head(stmt)):
            size = syntax.size_asked(node) if isinstance(node, gast.Call) else None
            if size == (self.found.name, 0):
                node.args = [syntax.name(name)]

    def statement(self, stmt: Any) -> list[gast.stmt]:
        """What stands for a statement."""
        name = self.found.name
        if emptied(stmt) == name:
            empty = [(part, gast.List([], syntax.LOAD)) for part in self.lists.values()]
            return [syntax.assign(part, value) for part, value in empty]
        if pushed(stmt) == name:
            parts = _parts(stmt, self.found.keys)
            assert parts is not None
            return [s for key in parts for s in self.append(key, parts[key])]
        item = _read(stmt)
        if item in self.items and stmt.value.value.id == name:
            return [
                syntax.assign(part, self.item(self.lists[key], stmt.value.slice))
                for key, part in self.items[item].items()
            ]
        return [stmt]

    def append(self, key: Any, value: gast.expr) -> list[gast.stmt]:
        """Append a part of a container to its list."""
        before: list[gast.stmt] = []
        if not syntax.is_atom(value):
            name = self.variable(self.found.name, key)
            before = [syntax.assign(name, value)]
            value = syntax.name(name)
        call = syntax.expression("xs.append(v)", xs=syntax.name(self.lists[key]))
        call.args = [value]
        return [*before, gast.Expr(call)]

    def item(self, name: str, index: gast.expr) -> gast.expr:
        return gast.Subscript(syntax.name(name), syntax.clone(index), syntax.LOAD)


def read_lists(program: Program, unit: Unit) -> bool:
    """Read a list where one is made of its items, for a call that makes an array of it.

    Before:                              After:

        values = []                          y = np.stack(hs)
        for j in range(len(hs)):
            v = hs[j]
            values.append(v)
        y = np.stack(values)
    """
    types = program.types_of(unit)
    uses = Counter(n.id for n in syntax.names_in(unit.node))
    found = False
    for block in syntax.blocks(unit.node.body):
        for k in range(len(block) - 3, -1, -1):
            made, loop, call = block[k : k + 3]
            copy = emptied(made)
            if copy not in unit.temps or uses[copy] != 3:
                continue
            whole = _copied(loop, copy, uses)
            held = types.get(whole)
            plain = isinstance(held, List) and held.cls is list
            once = plain and syntax.count_uses(call, copy) == 1
            if once and _reads(program, call):
                syntax.rename(call, {copy: whole})
                del block[k : k + 2]
                found = True
    return found


def _copied(loop: Any, copy: str, uses: Counter[str]) -> str:
    """The list that a loop appends all items of to the list `copy`."""
    if not isinstance(loop, gast.For) or loop.orelse or len(loop.body) != 2:
        return ""
    item = _read(loop.body[0])
    over = syntax.dotted(getattr(loop.iter, "func", None))
    if not item or uses[item] != 2 or over != "range" or len(loop.iter.args) != 1:
        return ""
    size = syntax.size_asked(loop.iter.args[0])
    value, index = loop.body[0].value, getattr(loop.target, "id", "")
    if size != (value.value.id, 0) or not syntax.is_name(value.slice, index):
        return ""
    added = pushed(loop.body[1]) == copy and loop.body[1].value.args[0]
    return value.value.id if added and syntax.is_name(added, item) else ""


def _reads(program: Program, stmt: Any) -> bool:
    """Whether a statement makes something new of what it calls a function with."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
        return False
    callees = program.facts.callees.get(id(stmt.value), [])
    return bool(callees) and all(
        isinstance(op, Op) and op.alias == "fresh" and not op.writes for op in callees
    )
