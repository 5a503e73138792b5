"""Write cheap temporaries out where they are read, more than once if need be.

Before:                              After:

    x_t = x[t]                           x[t + 1] = x[t] * (1 - x[t])
    x[t + 1] = x_t * (1 - x_t)           ...
    positive = x > 0                     y = np.where(x > 0, x, 0.1 * x)
    y = np.where(positive, x, 0.1 * x)   dx = np.where(x > 0, dy, 0.1 * dy)
    dx = np.where(positive, dy, 0.1 * dy)

The user's line then is the user's line again, and what the backward code reads says
what it is. Only names that srcjax made, only what costs about as much as a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure
from srcjax.transforms.simplify.nest import Nesting

_SCOPES = (gast.Lambda, *syntax.COMPREHENSIONS)
#: Parts of an expression in backward code beyond which a line is hard to read.
LIMIT = 48


@dataclass(frozen=True)
class Leave:
    """How often a value may be written out."""

    reads: int
    #: All reads must be in one statement: what is read may be written by the next.
    together: bool = False
    #: Also where it would be evaluated once in every iteration.
    in_loops: bool = False
    #: Only between the brackets of `x[...]`, where nothing can be written to it.
    in_brackets: bool = False
    #: Also in what is put on a tape, or given away.
    held: bool = True


def spell_out(
    node: gast.FunctionDef,
    may_nest: Callable[[str], bool],
    leave: Callable[[gast.expr], Leave | None],
    shares: Callable[[str], set[str]] = lambda name: set(),
) -> bool:
    """Write out cheap temporaries of the function, in place; whether there were any."""
    spelling = _Spelling(node, may_nest, leave, shares)
    while spelling.run():
        pass
    return spelling.changed


class _Spelling:
    """Walks over the function, and writes out the names that may be."""

    def __init__(self, node: Any, may_nest: Any, leave: Any, shares: Any) -> None:
        self.node = node
        self.may_nest = may_nest
        self.leave = leave
        self.shares = shares
        self.changed = False
        #: Whether a statement that was passed by may be written out now.
        self.again = False
        #: The names of the values that were passed by, and those that they read.
        self.passed: set[str] = set()
        self.passed_reads: set[str] = set()
        #: Knows what statements mention.
        self.nesting = Nesting(node, may_nest, shares)
        #: Statements with a value that stays in its name, until they change.
        self.left: dict[int, Any] = {}
        self.bindings: dict[str, int] = {}
        self.reads: dict[str, int] = {}
        for sub in syntax.names_in(node):
            load = isinstance(sub.ctx, gast.Load)
            counts = self.reads if load else self.bindings
            counts[sub.id] = counts.get(sub.id, 0) + 1

    def run(self) -> bool:
        """Write out values from the top on; whether to begin there again."""
        self.again = False
        self.passed.clear()
        self.passed_reads.clear()
        self.nesting.known.compound.clear()
        self.node.body = self.block(self.node.body)
        return self.again

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        position = 0
        while position < len(stmts):
            syntax.rewrite_blocks(stmts[position], self.block)
            if not self.again and self.written_out(stmts, position):
                self.changed = True
                del stmts[position]  # in place: the index of the block still holds
                self.nesting.known.compound.clear()
            else:
                position += 1
            if self.again:
                break
        return stmts or [gast.Pass()]

    def written_out(self, stmts: list[gast.stmt], position: int) -> bool:
        """Put the value of one assignment wherever the name is read."""
        stmt: Any = stmts[position]
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return False
        if id(stmt) in self.left:
            return False
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name) or not self.may_nest(target.id):
            return False
        leave = self.leave(value)
        if leave is None:
            self.left[id(stmt)] = stmt
            return False
        name, reads = target.id, syntax.names_read(value)
        if name in reads or not is_pure(value):
            self.left[id(stmt)] = stmt
            return False
        found = self.uses(stmts, position, name, leave)
        if found is None or not self.replaced(stmts, position, leave, *found):
            self.passed.add(name)
            self.passed_reads |= reads
            return False
        self.again = name in self.passed_reads or not self.passed.isdisjoint(
            {name, *reads}
        )
        return True

    def uses(
        self, stmts: list[gast.stmt], position: int, name: str, leave: Leave
    ) -> tuple[list[gast.stmt], int] | None:
        """The statements that read the value, and how often; None if others may."""
        nesting = self.nesting
        if self.bindings.get(name) != 1:
            uses, count, _ = nesting.until_redefined(stmts, position, name)
            once = 0 < count <= leave.reads and nesting.stays_in_blocks(name)
            return (uses, count) if once else None
        total = self.reads.get(name, 0)
        if not 0 < total <= leave.reads:
            return None
        uses, count = nesting.all_uses(stmts, position, name, total)
        return (uses, count) if count == total else None

    def replaced(
        self,
        stmts: list[gast.stmt],
        position: int,
        leave: Leave,
        uses: list[gast.stmt],
        count: int,
    ) -> bool:
        """Put the value in place of the name in all uses, where it may stand there."""
        nesting, stmt = self.nesting, stmts[position]
        name, value = stmt.targets[0].id, stmt.value
        if leave.together and (len(uses) != 1 or syntax.has_blocks(uses[0])):
            return False
        if not self.stays(value, stmts, position, uses[-1]):
            return False
        if not all(self.fits(use, name, value, leave) for use in uses):
            return False
        for use in uses:
            for sub in syntax.walk(use):
                nesting.changed_in(sub)
                self.left.pop(id(sub), None)
            _replace(use, name, value)
        self.bindings[name] -= 1
        self.reads[name] -= count
        for read, times in syntax.read_counts(value).items():
            self.reads[read] += times * (count - 1)
        nesting.now_read(syntax.names_read(value), stmt, uses)
        self.left[id(stmt)] = stmt  # it is gone: none other may be known by its id
        return True

    def stays(
        self, value: gast.expr, stmts: list[gast.stmt], position: int, use: gast.stmt
    ) -> bool:
        """Whether the value is the same up to its last use."""
        reads, nesting = syntax.names_read(value), self.nesting
        last = stmts.index(use, position + 1)
        plain = isinstance(use, (gast.Assign, gast.AugAssign))
        if plain and not syntax.has_blocks(use):
            last -= 1  # it reads before it writes
        return not nesting.touched(
            stmts, position, last, reads
        ) and not nesting.changed_between(stmts, position, last, reads)

    def fits(self, use: Any, name: str, value: gast.expr, leave: Leave) -> bool:
        """Whether the value may stand in the statement, and reads well there."""
        reads = syntax.count_reads(use, name)
        if leave.in_brackets and _reads_in_brackets(use, name) < reads:
            return False
        if not leave.held and _is_kept(use, name):
            return False
        for sub in syntax.walk(use):
            scope = isinstance(sub, (*_SCOPES, gast.FunctionDef))
            if scope and syntax.count_reads(sub, name):
                return False
            inner = getattr(sub, "body", None)
            if isinstance(sub, (gast.For, gast.While)) and not leave.in_loops:
                header = getattr(sub, "test", None)
                if syntax.count_reads([inner, header], name):
                    return False
            if isinstance(sub, gast.AugAssign) and syntax.is_name(sub.target, name):
                return False
            # What is written to is read afterwards, but for a view (`x.T[0] += 1`).
            stays = isinstance(value, gast.Attribute) or not isinstance(sub, gast.stmt)
            if not stays and name in self.nesting.written(sub):
                return False
        if syntax.has_blocks(use) or not getattr(use, "backward", False):
            return True
        room = sum(isinstance(n, gast.expr) for n in syntax.walk(use))
        size = sum(isinstance(n, gast.expr) for n in syntax.walk(value)) - 1
        return room + size * reads <= LIMIT


def _is_kept(use: Any, name: str) -> bool:
    """Whether the name is put on a list, or is an item of what is made or given."""
    for sub in syntax.walk(use):
        if isinstance(sub, gast.Expr) and syntax.count_reads(sub, name):
            return True
        items = sub.elts if isinstance(sub, (gast.Tuple, gast.List)) else []
        if any(syntax.is_name(item, name) for item in items):
            return True
    return False


def _reads_in_brackets(stmt: Any, name: str) -> int:
    """How often a name is an index, or one of several."""
    found = 0
    for sub in syntax.walk(stmt):
        if isinstance(sub, gast.Subscript):
            index = sub.slice
            entries = index.elts if isinstance(index, gast.Tuple) else [index]
            found += sum(syntax.is_name(entry, name) for entry in entries)
    return found


def _replace(stmt: Any, name: str, value: gast.expr) -> None:
    """Put the value in place of the name, in place."""
    for sub in syntax.walk(stmt):
        for key, child in list(sub.__dict__.items()):
            if syntax.is_name(child, name) and isinstance(child.ctx, gast.Load):
                setattr(sub, key, syntax.clone(value))
            elif isinstance(child, list):
                for i, item in enumerate(child):
                    if syntax.is_name(item, name) and isinstance(item.ctx, gast.Load):
                        child[i] = syntax.clone(value)
