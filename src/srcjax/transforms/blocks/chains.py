"""Which members share a loop over blocks.

A member joins the last loop of its rows that nothing which it needs comes after. What
it needs of that loop itself must be there row by row: what is put together of all rows
is there when the loop is done. Statements that only bind names stand before a loop
where they can; all others are in the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Array, Const, is_number, same_size
from srcjax.transforms.blocks.members import Member, Members, is_one

#: Attributes of arrays that tell a size.
_SIZES = ("shape", "size", "ndim", "dtype")


@dataclass
class Chain:
    """Members that share a loop."""

    members: list[Member] = field(default_factory=list)

    @property
    def shape(self) -> Any:
        """The shape of what is widest: that of buffers."""
        return max((m.shape for m in self.members), key=_width)

    @property
    def names(self) -> set[str]:
        return {m.name for m in self.members}

    @property
    def reads(self) -> set[str]:
        return set().union(*(m.along | m.whole for m in self.members))

    @property
    def inputs(self) -> set[str]:
        """The arrays that are there before, of which rows are read."""
        return set().union(*(m.along for m in self.members)) - self.names

    def made_by(self, name: str) -> Member:
        return next(m for m in self.members if m.name == name)


@dataclass
class Plain:
    """A statement that stays as it is."""

    stmt: Any
    #: Whether it only binds a name to what nobody changes meanwhile.
    moves: bool


def chained(members: Members, stmts: list[Any]) -> list[Chain | Plain]:
    """The statements of a block in an order in which members share loops."""
    found: list[Chain | Plain] = []
    for stmt in stmts:
        if syntax.is_comment(stmt):
            continue
        member = members.member(stmt)
        if member is None:
            plain = Plain(stmt, only_binds(members, stmt))
            found.insert(_place(found, plain), plain)
            continue
        chain = _chain_for(found, member)
        if chain is None:
            found.append(Chain([member]))
        else:
            chain.members.append(member)
    return found


def only_binds(members: Members, stmt: Any) -> bool:
    """Whether a statement binds a name to a number, a size or a part of an array."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return False
    value = stmt.value
    if isinstance(value, (gast.Constant, gast.Name)):
        return True
    if isinstance(value, gast.Attribute):
        known = isinstance(members.type_of(value.value), Const)  # `math.pi`
        return known or value.attr in _SIZES
    if isinstance(value, gast.Subscript):
        base = value.value
        size = isinstance(base, gast.Attribute) and base.attr == "shape"
        return size or isinstance(members.type_of(base), Array)
    if members.is_call(value, len):
        return True
    operation = members.operations.of(value)
    known = operation is not None and operation.op.elementwise
    return known and is_number(members.type_of(stmt.targets[0]))


def _place(found: list[Chain | Plain], plain: Plain) -> int:
    """Where a statement that stays may stand, so that loops stay near."""
    at = len(found)
    reads, writes = syntax.names_read(plain.stmt), syntax.names_written(plain.stmt)
    while plain.moves and at and not _in_the_way(found[at - 1], reads, writes):
        at -= 1
    return at if any(isinstance(e, Chain) for e in found[at:]) else len(found)


def _in_the_way(each: Chain | Plain, reads: set[str], writes: set[str]) -> bool:
    """Whether a statement that reads and binds these cannot stand before this."""
    if isinstance(each, Plain):
        if not each.moves:
            return True
        bound, used = syntax.names_written(each.stmt), syntax.names_read(each.stmt)
    else:
        bound, used = each.names, each.reads
    return bool(bound & reads or (bound | used) & writes)


def _chain_for(found: list[Chain | Plain], member: Member) -> Chain | None:
    """The loop that a member joins."""
    for each in reversed(found):
        if isinstance(each, Chain) and _goes_along(each, member):
            return each
        if _in_the_way(each, member.along | member.whole, {member.name}):
            return None
    return None


def _goes_along(chain: Chain, member: Member) -> bool:
    """Whether the rows of a member can be computed with those of a chain."""
    wide, own = chain.shape, member.shape
    if not same_size(wide[0], own[0]) or not (fits(wide, own) or fits(own, wide)):
        return False
    late = {m.name for m in chain.members if m.fold}
    if member.name in chain.names | chain.reads or member.along & late:
        return False
    return not member.whole & chain.names


def fits(wide: Any, narrow: Any) -> bool:
    """Whether rows of one shape have as many columns as those of another, or one."""
    if len(narrow) < len(wide):
        return len(narrow) == 1
    return len(narrow) == len(wide) and all(
        same_size(m, n) or is_one(n) for m, n in zip(wide, narrow, strict=True)
    )


def _width(shape: Any) -> tuple[int, int]:
    return len(shape), sum(not is_one(dim) for dim in shape)
