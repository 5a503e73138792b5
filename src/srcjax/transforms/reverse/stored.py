"""Values that backward code finds in the array that the forward sweep puts them into.

    y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]

The quotient is read as `y[i]`: that needs no tape. So it is with numbers that the same
block puts into an item, if no other write meets that item (`Intact`), nothing is put
back into the array, and the item is of the number's own type. Where the trips have a
tape anyway, the number is on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import Array, all_buffers, dtype_of, is_number
from srcjax.errors import UnsupportedError
from srcjax.transforms.reverse.results import Results
from srcjax.transforms.reverse.sweep import Group


class Stored(Results):
    """Decides what is read from arrays; a part of `Planner`."""

    def read_stored(self) -> None:
        """Read saved numbers from where they were put, where no tape is left then."""
        for block, names in list(self.plan.local.items()):
            kept = self.remember()
            found = [
                name
                for name in list(names)
                if is_number(self.rules.type_of_name(name))
                and self.read_item(name, block)
            ]
            if found and self.has_tape(self.defs[found[0]][0][0], self.remember()):
                self.restore(kept)

    def read_item(self, name: str, block: int) -> bool:
        """Read the name's value from an item of an array, in place of its tape."""
        defs = self.defs[name]
        if len(defs) != 1 or any(block not in r.where.blocks for r in self.reads[name]):
            return False
        where, _ = defs[0]
        for node in self.blocks[block]:
            at = self.where[id(node.stmt)]
            place = node.stmt.targets[0] if self.stores(node, name) else None
            if place is None or at.order <= where.order:
                continue
            again: Any = syntax.assign(name, syntax.as_load(place))
            # As if it stood behind the statement that puts it there.
            behind = replace(at, order=at.order + 1)
            if self.is_found(again, where, behind) and self.in_place_of_tape(
                name, block, again, behind
            ):
                return True
        return False

    def stores(self, node: Any, name: str) -> bool:
        """Whether it is `x[i] = name`."""
        stmt = node.stmt
        if not isinstance(node, Group) or not isinstance(stmt, gast.Assign):
            return False
        place = stmt.targets[0]
        return (
            len(stmt.targets) == 1
            and syntax.is_name(stmt.value, name)
            and isinstance(place, gast.Subscript)
            and isinstance(place.value, gast.Name)
        )

    def is_found(self, again: Any, where: Position, behind: Position) -> bool:
        """Whether the item is what was put there when the backward sweep comes back."""
        item = again.value
        base, held = (
            self.rules.type_of_name(n) for n in (item.value.id, again.targets[0].id)
        )
        if not isinstance(base, Array) or dtype_of(base) != dtype_of(held):
            return False
        written = all_buffers(base)
        if len(self.defs[item.value.id]) != 1 or any(
            self.written_buffers(s) & written
            for _, s in self.writes
            if id(s) in self.plan.contents
        ):
            return False
        # What says where it is stands when the first backward code reads it.
        for name in syntax.names_read(item):
            if len(self.defs.get(name, ())) > 1 or any(
                at.order >= where.order or name in self.saved()
                for at, _ in self.defs.get(name, ())
            ):
                return False
        return self.item_is_intact(behind, again)

    def in_place_of_tape(
        self, name: str, block: int, again: Any, behind: Position
    ) -> bool:
        """Plan to read the item; whether that saves one value less."""
        kept, before = self.remember(), self.plan.saves()
        self.plan.local[block] = [n for n in self.plan.local[block] if n != name]
        self.plan.late[name] = again
        self.where[id(again)] = behind
        try:
            if self.late_are_right() and self.plan.saves() == before - 1:
                return True
        except UnsupportedError:
            pass
        self.restore(kept)
        del self.where[id(again)]
        return False


__all__ = ["Stored"]
