"""Lists of numbers that only grow and shrink at their end, as arrays for a compiler.

    tape: list[float] = []            tape = of_call(SHORTEST, np.float64)
    while ...:                        depth = 0
        tape.append(x)                while ...:
    ...                         ->        if depth == len(tape):
    x2 = tape.pop()                           tape = longer(tape)
                                          tape[depth] = x
                                          depth = depth + 1
                                      ...
                                      if depth == 0: raise IndexError
                                      depth = depth - 1
                                      x2 = tape[depth]

Lists that grow and shrink together have one depth. The arrays are made once: what one
example of a batch has left is used by the next. Where each trip of a loop adds as much,
there is room for all trips before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax

#: So many numbers an array has at first.
SHORTEST = 64
#: So many of them are on the stack before they grow (`kernel_words.of_call`).
MOST_OF_CALL = 32
_DTYPES = {"float": "np.float64", "int": "np.int64", "bool": "np.bool_"}
_LEAVE = (gast.Break, gast.Continue, gast.Return)
#: What is put before the statements of blocks, by the number of the block.
Added = dict[int, dict[int, list[Any]]]


@dataclass
class Event:
    """A statement that makes a list, puts something on it or takes it from there."""

    kind: str
    name: str
    #: The block that it stands in, which of its events it is, and its place there.
    block: int
    turn: int
    at: int


def tapes_as_arrays(node: gast.FunctionDef) -> set[str]:
    """Write the lists of a function as arrays, in place; the words that this takes."""
    dtypes = {
        s.target.id: dtype
        for s in syntax.walk(node.body)
        if isinstance(s, gast.AnnAssign) and (dtype := dtype_of(s)) is not None
    }
    blocks = [node.body]
    for stmt in syntax.all_statements(node.body):
        blocks += syntax.inner_blocks(stmt)
    events: dict[str, list[Event]] = {name: [] for name in dtypes}
    for number, block in enumerate(blocks):
        turns: dict[str, int] = {}
        for at, stmt in enumerate(block):
            found = event_of(stmt, dtypes)
            if found is not None:
                kind, name = found
                turn = turns[name] = turns.get(name, -1) + 1
                events[name].append(Event(kind, name, number, turn, at))
    counted = Counted(blocks)
    uses = syntax.use_counts(node)
    bound = syntax.binding_counts(node.body)
    known = {n: e for n, e in events.items() if uses[n] + bound[n] == len(e)}
    names = syntax.Names(syntax.all_names(node))
    before: Added = {}
    start: list[Any] = []
    for group in together(known, blocks):
        depth = names.fresh("depth")
        for name in group:
            make = "of_call" if len(start) < MOST_OF_CALL else "np.empty"
            start += syntax.statements(f"{name} = {make}({SHORTEST}, {dtypes[name]})")
        start.append(syntax.assign(depth, syntax.const(0)))
        write(group, known, depth, blocks, before, counted)
    for number, added in before.items():
        for at in sorted(added, reverse=True):
            blocks[number][at:at] = added[at]
    for block in blocks:
        block[:] = [s for s in block if not isinstance(s, Gone)]
    node.body[:0] = start
    return syntax.names_read(node.body) & {"longer", "with_room", "of_call"}


class Counted:
    """The loops that tell before they begin how many trips they go."""

    def __init__(self, blocks: list[list[Any]]) -> None:
        numbers = {id(block): number for number, block in enumerate(blocks)}
        #: Where a loop stands, how many trips it goes, and the blocks inside of it, by
        #: the number of its own block.
        self.known: dict[int, tuple[int, int, gast.expr, set[int]]] = {}
        for number, block in enumerate(blocks):
            for at, stmt in enumerate(block):
                trips = trips_of(stmt)
                if trips is not None:
                    inside = [
                        numbers[id(b)]
                        for s in syntax.all_statements(stmt.body)
                        for b in syntax.inner_blocks(s)
                    ]
                    own = numbers[id(stmt.body)]
                    self.known[own] = number, at, trips, set(inside)

    def before(self, block: int, events: list[Event]) -> tuple[int, int, Any] | None:
        """Where there may be room made for what a loop adds, and for how much.

        None where that is not known, or not all of it stands in the block itself.
        """
        found = self.known.get(block)
        if found is None:
            return None
        number, at, trips, inside = found
        adding = [e.block for e in events if e.kind == "append"]
        if any(b in inside for b in adding):
            return None
        return number, at, times(adding.count(block), trips)


def trips_of(stmt: Any) -> gast.expr | None:
    """How many trips a loop goes, all of them; None if that is not known before it."""
    over = getattr(stmt, "iter", None)
    if not isinstance(over, gast.Call) or not syntax.is_name(over.func, "range"):
        return None
    plain = (gast.Name, gast.Attribute, gast.Constant, gast.BinOp, gast.UnaryOp)
    for node in syntax.walk(over.args):
        if syntax.size_asked(node) is None and not isinstance(node, plain):
            return None
    if any(isinstance(s, _LEAVE) for s in syntax.walk(stmt.body)):
        return None  # there may be far fewer
    return syntax.call("len", syntax.clone(over))


def times(count: int, trips: gast.expr) -> gast.expr:
    return trips if count == 1 else syntax.expression(f"{count} * n", n=trips)


class Gone(gast.Pass):
    """What is left of a statement for which nothing stands."""


def dtype_of(stmt: gast.AnnAssign) -> str | None:
    """What `tape: list[float] = []` keeps, as NumPy calls it."""
    of = stmt.annotation
    listed = isinstance(of, gast.Subscript) and syntax.is_name(of.value, "list")
    if not listed or not isinstance(stmt.target, gast.Name):
        return None
    return _DTYPES.get(syntax.text(of.slice), syntax.text(of.slice))


def event_of(stmt: Any, names: Any) -> tuple[str, str] | None:
    """What a statement does with one of the lists, as a whole."""
    kind: str = ""
    call: Any = None
    if isinstance(stmt, gast.AnnAssign) and stmt.target.id in names:
        return "new", stmt.target.id
    if isinstance(stmt, gast.Expr):
        kind, call = "append", stmt.value
    elif isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
        kind, call = "pop", stmt.value
    function = call.func if isinstance(call, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr != kind:
        return None
    name = getattr(function.value, "id", "")
    counted = len(call.args) == (kind == "append") and not call.keywords
    return (kind, name) if name in names and counted else None


def together(
    known: dict[str, list[Event]], blocks: list[list[Any]]
) -> Iterator[list[str]]:
    """The lists that grow and shrink together."""
    alike: dict[Any, list[str]] = {}
    for name, events in known.items():
        key = tuple((e.kind, e.block, e.turn) for e in events)
        alike.setdefault(key, []).append(name)
    for group in alike.values():
        if len(group) == 1 or is_in_step(group, known, blocks):
            yield group
        else:
            yield from ([name] for name in group)


def is_in_step(
    group: list[str], known: dict[str, list[Event]], blocks: list[list[Any]]
) -> bool:
    """Whether between two events of a turn nothing is left and no other one stands."""
    for events in zip(*(known[n] for n in group), strict=True):
        places = [e.at for e in events]
        between = blocks[events[0].block][min(places) : max(places) + 1]
        mine = {id(between[p - min(places)]) for p in places}
        for stmt in between:
            if id(stmt) in mine:
                continue
            if any(isinstance(s, _LEAVE) for s in syntax.walk(stmt)):
                return False
            if any(syntax.count_uses(stmt, name) for name in group):
                return False
    return True


def write(
    group: list[str],
    known: dict[str, list[Event]],
    depth: str,
    blocks: list[list[Any]],
    before: Added,
    counted: Counted,
) -> None:
    """Write the events of lists with one depth; `before` takes what is put between."""
    for events in zip(*(known[n] for n in group), strict=True):
        places = [e.at for e in events]
        first, last = min(places), max(places)
        kind, number = events[0].kind, events[0].block
        block, added = blocks[number], before.setdefault(number, {})
        if kind == "new":
            for at in places:
                block[at] = Gone()
            added.setdefault(first, []).extend(syntax.statements(f"{depth} = 0"))
        elif kind == "append":
            room = counted.before(number, known[group[0]])
            if room is None:
                text = f"if {depth} == len({group[0]}):\n"
                text += "".join(f"    {n} = longer({n})\n" for n in group)
                added.setdefault(first, []).extend(syntax.statements(text))
            elif events[0].turn == first_turn(known[group[0]], number):
                outer, at, trips = room
                size = syntax.expression(f"{depth} + trips", trips=trips)
                text = f"if size > len({group[0]}):\n"
                text += "".join(f"    {n} = with_room({n}, size)\n" for n in group)
                there = before.setdefault(outer, {}).setdefault(at, [])
                there.extend(syntax.statements(text, size=size))
            for event in events:
                value = block[event.at].value.args[0]
                text = f"{event.name}[{depth}] = value"
                (block[event.at],) = syntax.statements(text, value=value)
            more = syntax.statements(f"{depth} = {depth} + 1")
            added.setdefault(last + 1, []).extend(more)
        else:
            text = f"if {depth} == 0:\n    raise IndexError('pop from empty list')\n"
            text += f"{depth} = {depth} - 1"
            added.setdefault(first, []).extend(syntax.statements(text))
            for event in events:
                block[event.at].value = syntax.expression(f"{event.name}[{depth}]")


def first_turn(events: list[Event], block: int) -> int:
    """The turn in which a block adds to a list first."""
    return min(e.turn for e in events if e.block == block and e.kind == "append")
