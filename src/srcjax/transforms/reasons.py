"""Why a statement was written: the rules of calculus that it is made of.

Writers put a mark on what they write; passes that put one statement into another join
the marks, the rule that comes first on the way from the result in front. They decide
nothing: `source(df, explain=True)` says them (`backends.explained`). A statement
without one is not explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srcjax.ops.record import Op
from srcjax.ops.words import words_of


@dataclass(frozen=True, eq=False)
class Reason:
    """A rule of an operation, for one of its arguments; or words of a writer."""

    op: Op | None = None
    #: `"adjoint"`, `"tangent"`, or `"batch"`.
    slot: str = "adjoint"
    parameter: str = ""
    said: str = ""

    @property
    def words(self) -> str:
        """What there is to say, as `ops.words` has it; empty for nothing."""
        if self.op is None:
            return self.said
        return words_of(self.op, self.slot, self.parameter)


#: What was broadcast forward is summed backward.
BROADCAST = Reason(said="broadcast forward, sum backward")
RECOMPUTED = Reason(said="computed again, which is cheaper than keeping it")
RESTORED = Reason(said="the value from before that line")
SPREAD = Reason(said="the one number stands for all elements")
OWN = Reason(said="a copy, as it is written to in place")
FILLED = Reason(said="a place for the adjoint of each item")
#: A value has several uses.
AGAIN = Reason(said="the parts add up: used more than once")
#: What adjoints that are added to start from.
ZERO = Reason(said="starts at zero: what follows adds to it")
#: Those of a branch that the value does not come from, and of a new iteration.
ELSEWHERE = Reason(said="zero: nothing of it comes this way")
ANEW = Reason(said="zero again: each iteration has its own")
SEED = Reason(said="the derivative of the result with respect to itself")
#: What only hands an adjoint or tangent on.
ITEM = Reason(said="the part that was read gets the adjoint, in its place")
PARTS = Reason(said="each part gets the adjoint of its place")
RENAMED = Reason(said="another name: the adjoint is that of the value")
MOVES = Reason(slot="tangent", said="the tangent goes where the value goes")


def why(stmt: Any) -> tuple[Reason, ...]:
    """The reasons of a statement."""
    return getattr(stmt, "why", ())


def because(stmt: Any, *reasons: Reason) -> None:
    """Give reasons for a statement, behind those that it has."""
    if reasons:
        known = why(stmt)
        told = set(map(id, known))
        stmt.why = (*known, *(r for r in reasons if id(r) not in told))


def take_over(new: Any, *old: Any) -> None:
    """A statement has taken in others: their reasons come first."""
    own = why(new)
    new.why = ()
    for stmt in old:
        because(new, *why(stmt))
    because(new, *own)


__all__ = [
    "AGAIN",
    "ANEW",
    "BROADCAST",
    "ELSEWHERE",
    "FILLED",
    "ITEM",
    "MOVES",
    "OWN",
    "PARTS",
    "RECOMPUTED",
    "RENAMED",
    "RESTORED",
    "SEED",
    "SPREAD",
    "ZERO",
    "Reason",
    "because",
    "take_over",
    "why",
]
