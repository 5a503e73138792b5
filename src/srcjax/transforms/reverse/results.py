"""Results that are saved in place of what they are made of.

    difference = x1**3 - x1              f1 = x1**3 - x1 - c
    f1 = difference - c           is
    difference_tape.append(difference)   f1_tape.append(f1)

where backward code reads `f1`, and `difference` only to make `f1` again. So it is with
the quotient `q = a / b`: backward code may say `-dq * q / b` for `-dq * a / b**2`, and
`a` need not be had if nothing else reads it. A quotient with a name of the user's goes
on a tape that is there anyway where two operations or more need not be done again.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import is_number
from srcjax.errors import UnsupportedError
from srcjax.transforms.quotients import quotient_of, with_quotient
from srcjax.transforms.reverse.plan import Read
from srcjax.transforms.reverse.recomputing import Recomputing
from srcjax.transforms.reverse.sweep import Group


class Results(Recomputing):
    """Decides which results are saved and read; a part of `Planner`."""

    def prefer_results(self) -> None:
        """Save and read results, as long as that takes less."""
        for nodes in list(self.blocks.values()):
            for node in nodes:
                if isinstance(node, Group) and self.where[id(node.stmt)].loops:
                    self.read_quotient(node)
        while any(self.save_result(stmt) for stmt in self.made_again()):
            pass

    def made_again(self) -> list[gast.stmt]:
        """What backward code computes again in loops."""
        heads = [s for stmts in self.plan.again.values() for s in stmts]
        return [
            s
            for s in [*heads, *self.plan.late.values()]
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
            if self.where[id(s)].loops
        ]

    def cost(self) -> tuple[int, int]:
        """How many values are saved, and how many are computed again."""
        heads = sum(map(len, self.plan.again.values()))
        return self.plan.saves(), heads + len(self.plan.late)

    # -- results in place of operands -------------------------------------------------

    def save_result(self, stmt: Any, anyhow: bool = False) -> bool:
        """Save what is computed again, if that costs no more saves.

        `anyhow`: though backward code has to wait for what else it takes.
        """
        name = stmt.targets[0].id
        where = self.where[id(stmt)]
        if len(self.defs[name]) != 1 or not self.may_be_saved(name):
            return False
        block = where.blocks[-1]
        if any(block not in r.where.blocks for r in self.reads.get(name, [])):
            return False
        kept, before = self.remember(), self.cost()
        self.plan.late.pop(name, None)
        self.leave_out(block, stmt)
        self.plan.local.setdefault(block, []).append(name)
        dropped = self.drop_reads_of(stmt)
        after = self.cost()
        better = after < before or anyhow
        spared = _spares_much(before, after) and name not in self.unit.temps
        better = better and self.reads_better(name, dropped)
        if better or spared and self.has_tape(where, kept):
            try:
                if self.late_are_right():
                    return True
            except UnsupportedError:
                pass
        self.restore(kept)
        return False

    def reads_better(self, name: str, dropped: set[str]) -> bool:
        """Whether no name of the user's gives way to one that srcjax has to make."""
        return name not in self.unit.temps or dropped <= self.unit.temps

    def may_be_saved(self, name: str) -> bool:
        """Whether what the name holds stays what it is: a number, or never written."""
        return is_number(self.rules.type_of_name(name)) or self.never_changes(name)

    def leave_out(self, block: int, stmt: gast.stmt) -> None:
        """Do not compute it again at the head of the block."""
        again = self.plan.again.get(block, [])
        self.plan.again[block] = [s for s in again if s is not stmt]

    def drop_reads_of(self, stmt: gast.stmt) -> set[str]:
        """Plan nothing for what it reads; the names that need not be saved then."""
        saved = self.saved()
        todo = [stmt]
        while todo:
            gone = todo.pop()
            for name in sorted(self.reads_of(gone) & self.reads.keys()):
                reads = [r for r in self.reads[name] if r.again is not gone]
                todo += self.without(name, reads)
        return saved - self.saved()

    def without(self, name: str, reads: list[Read]) -> list[gast.stmt]:
        """Plan the name for these reads; what then is not computed again."""
        self.reads[name] = reads
        plan = self.plan
        for block, names in plan.local.items():
            if not any(block in r.where.blocks for r in reads):
                plan.local[block] = [n for n in names if n != name]
        for at, stmt in self.overwriting(name):
            names = plan.overwritten.get(id(stmt), [])
            if name in names and not self.old_is_read(name, at):
                plan.overwritten[id(stmt)] = [n for n in names if n != name]
        if reads:
            return []
        gone = [s for _, s in self.defs[name] if plan.late.get(name) is s]
        plan.late.pop(name, None)
        for block, stmts in plan.again.items():
            mine = [s for s in stmts if name in self.bound_by(s)]
            if all(self.bound_by(s) == {name} for s in mine):
                gone += mine
                plan.again[block] = [s for s in stmts if s not in mine]
        return gone

    def saved(self) -> set[str]:
        """The names that are saved, at the end of a block or before they change."""
        kept = [*self.plan.local.values(), *self.plan.overwritten.values()]
        return {name for names in kept for name in names}

    def has_tape(self, where: Position, kept: tuple) -> bool:
        """Whether those plans save something of the same trips, and so have a tape."""
        _, local, overwritten, *_ = kept
        if not where.loops or where.blocks[-1] != id(self.loops[where.loops[-1]].body):
            return False
        changed = [self.where[key] for key, names in overwritten.items() if names]
        return bool(local.get(where.blocks[-1])) or any(
            at.blocks == where.blocks for at in changed
        )

    # -- quotients --------------------------------------------------------------------

    def read_quotient(self, node: Group) -> None:
        """Let the backward code of a quotient read it, if that takes no more."""
        stmt: Any = node.stmt
        quotient = quotient_of(stmt)
        if quotient is None or len(self.defs[quotient.name]) != 1:
            return
        name, old_code = quotient.name, node.code
        top = quotient.factors[0]
        if not isinstance(top, gast.Name) or top.id not in self.reads:
            return
        if not self.may_be_saved(name) or not self.may_be_saved(top.id):
            return
        code = [
            syntax.map_expressions(s, lambda e: with_quotient(e, quotient) or e)
            for s in syntax.clone(old_code)
        ]
        if top.id in syntax.names_read(code):
            return
        where = self.where[id(stmt)]
        kept, before, saved = self.remember(), self.cost(), self.saved()
        mine = [r for r in self.reads[top.id] if r.where is where and r.again is None]
        node.code = code
        self.reads.setdefault(name, []).append(Read(where, True))
        while self.plan_name(name):
            pass
        rest = [r for r in self.reads[top.id] if r not in mine]
        for gone in self.without(top.id, rest):
            self.drop_reads_of(gone)
        if any(s is stmt for s in self.made_again()):
            self.save_result(stmt, anyhow=True)
        after = self.cost()
        stands = not any(s is stmt for s in self.made_again())
        as_good = stands and self.reads_better(name, saved - self.saved())
        reads_well = after < before or after == before and as_good
        spared = _spares_much(before, after) and name not in self.unit.temps
        if not (reads_well or spared and self.has_tape(where, kept)) or (
            not self.late_are_right()
        ):
            node.code = old_code
            self.restore(kept)


def _spares_much(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether one more value is saved in place of two or more that were made again."""
    return after[0] == before[0] + 1 and after[1] <= before[1] - 2


__all__ = ["Results"]
