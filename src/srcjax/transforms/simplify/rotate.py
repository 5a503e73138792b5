"""Start a backward loop with the code that its first iteration needs.

Before:                                      After:

    dh = np.zeros_like(h)                        for i in reversed(range(n)):
    for i in reversed(range(n)):                     dW[i] = dz @ h[i].T
        dz = dz + dh * (1 - h**2)                    if i > 0:
        dW[i] = dz @ h[i].T                              dh = W[i].T @ dz
        dh = W[i].T @ dz                                 dz = dh * (1 - h**2)
        dz = 0.0

Such loops come from `z = W @ h; h = np.tanh(z)` where z is what is used in the end: the
last `h` has no adjoint, and the adjoint of `z` comes from behind the loop in the first
iteration and from `h` in all others. The code of the first line then does nothing in
the first iteration. It is moved to the end of the iteration before, under the condition
that another one follows, together with what only it needs.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, is_pure, written_bases
from srcjax.transforms.reasons import take_over
from srcjax.transforms.simplify.dead import DeadCode, Shares, given_away
from srcjax.transforms.simplify.last_iteration import goes_on, is_read


def rotate(
    node: gast.FunctionDef,
    shares: Shares = lambda name: set(),
) -> bool:
    """Rotate the backward loops of the function, in place; True if one was."""
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    local = syntax.names_written(node.body) - parameters
    rotation = _Rotation(shares, local, given_away(node.body, local | parameters))
    rotation.zeros = _zeros_before_loops(node.body)
    if not any(rotation.zeros.values()):
        return False
    new = rotation.block(syntax.clone(node.body), set())
    if rotation.done:
        node.body = new
    return rotation.done


def _zeros_before_loops(body: list[gast.stmt]) -> dict[int, set[str]]:
    """The names that are zero where each loop of the function starts."""
    found: dict[int, set[str]] = {}
    zeros: set[str] = set()
    for stmt in body:
        if isinstance(stmt, gast.For):
            stmt.key = id(stmt)
            found[id(stmt)] = set(zeros)
        zeros -= syntax.names_written(stmt) | written_bases(stmt)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            if _is_zero(stmt.value):
                zeros.add(stmt.targets[0].id)
            else:
                zeros -= syntax.names_read(stmt.value)  # may have another name now
    return found


def _is_zero(value: gast.expr) -> bool:
    if isinstance(value, gast.Constant):
        return type(value.value) is float and value.value == 0
    chain = called(value)
    return chain in ("np.zeros_like", "np.zeros")


class _Rotation(DeadCode):
    """Rotates loops at the top of the function; tells what is live after them."""

    zeros: dict[int, set[str]]
    done = False

    def loop(self, stmt: Any, live: set[str]) -> Any:
        after = set(live)
        kept = super().loop(stmt, live)
        if self.looking:
            return kept
        zeros = self.zeros.get(getattr(stmt, "key", 0))
        if kept is not None and zeros and hasattr(kept, "full_at_head"):
            self.rotate(kept, zeros, after)
        return kept

    def rotate(self, loop: Any, zeros: set[str], after: set[str]) -> None:
        test = goes_on(loop)
        if test is None:
            return
        for name in sorted(loop.full_at_head - after):
            group = self.idle_at_first(loop, name, zeros)
            if group:
                self.move(loop, name, group, test, after)
                self.done = True
                return

    def idle_at_first(
        self, loop: Any, name: str, zeros: set[str]
    ) -> list[gast.stmt] | None:
        """The code that adds to an adjoint what is zero in the first iteration.

        None if there is no such code, or if it cannot be moved to the end of the
        iteration before.
        """
        resets = [s for s in loop.body if _resets(s, name)]
        if len(resets) != 1:
            return None
        behind = loop.body[loop.body.index(resets[0]) + 1 :]
        if name in syntax.all_names(behind):
            return None
        zero = set(zeros)
        group: list[gast.stmt] = []
        passed: list[gast.stmt] = []
        for stmt in loop.body:
            value = _added(stmt, name)
            if value is not None:
                stays = _vanishes(value, zero) and is_pure(value)
                group.append(stmt)
                fits = stays and self.may_move(loop, name, group, passed)
                return group if fits else None
            if name in syntax.all_names(stmt):
                return None
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if (
                isinstance(target, gast.Name)
                and _vanishes(stmt.value, zero)
                and is_pure(stmt.value)
            ):
                zero.add(target.id)
                group.append(stmt)
                continue
            zero -= syntax.names_written(stmt) | written_bases(stmt)
            passed.append(stmt)
        return None

    def may_move(
        self, loop: Any, name: str, group: list[gast.stmt], passed: list[gast.stmt]
    ) -> bool:
        """Whether the group may run before what precedes it in its iteration."""
        reads, writes = syntax.names_read(group), syntax.names_written(group)
        if reads & syntax.names_written(loop.target):
            return False
        shared = set(reads)
        for read in reads:
            shared |= self.shares(read)
        if (reads | writes) & syntax.names_written(passed):
            return False
        if shared & set().union(*map(written_bases, passed)):
            return False
        others = [s for s in loop.body if not any(s is g for g in group)]
        return not any(is_read(others, n) for n in writes - {name})

    def move(
        self,
        loop: Any,
        name: str,
        group: list[gast.stmt],
        test: gast.expr,
        after: set[str],
    ) -> None:
        """Put the group at the end of the body, under the condition."""
        body = [
            s
            for s in loop.body
            if not _resets(s, name) and not any(s is g for g in group)
        ]
        last: Any = group[-1]
        value = _added(last, name)
        assert value is not None
        new = syntax.assign(name, value)
        new.backward, new.user_line = True, getattr(last, "user_line", None)
        take_over(new, last)
        guard = gast.If(test, [*group[:-1], new], [])
        guard.backward = guard.last_iteration = True
        guard.user_line = getattr(group[0], "user_line", None)
        loop.body = [*body, guard]
        while self.sink(loop, guard, after):
            pass
        loop.full_at_head = frozenset(loop.full_at_head - {name})

    def sink(self, loop: Any, guard: gast.If, after: set[str]) -> bool:
        """Move a statement that only the guarded code needs under the condition."""
        rest = loop.body[:-1]
        needed = self.needed_without(loop, rest, after)
        for position in reversed(range(len(rest))):
            stmt: Any = rest[position]
            plain = isinstance(stmt, gast.Assign) and isinstance(
                stmt.targets[0], gast.Name
            )
            if position in needed or not plain:
                continue
            between = rest[position + 1 :]
            reads = syntax.names_read(stmt.value)
            target = stmt.targets[0].id
            shared = set(reads)
            for read in reads:
                shared |= self.shares(read)
            if (reads | {target}) & syntax.names_written(between):
                continue
            if shared & set().union(*map(written_bases, between)):
                continue
            if is_read(between, target):
                continue
            guard.body.insert(0, stmt)
            guard.user_line = getattr(stmt, "user_line", None)
            loop.body = [s for s in loop.body if s is not stmt]
            return True
        return False

    def needed_without(
        self, loop: Any, rest: list[gast.stmt], after: set[str]
    ) -> set[int]:
        """Positions of the statements that are needed if the guard is not there."""
        for position, stmt in enumerate(rest):
            stmt.position = position
        again = gast.For(loop.target, loop.iter, syntax.clone(rest), [], None)
        plain = DeadCode(self.shares, self.local, self.given)
        kept = plain.loop(again, set(after))
        body = [] if kept is None else kept.body
        return {s.position for s in body if hasattr(s, "position")}


def _resets(stmt: Any, name: str) -> bool:
    """`name = 0.0`"""
    return (
        isinstance(stmt, gast.Assign)
        and syntax.is_name(stmt.targets[0], name)
        and _is_zero(stmt.value)
        and isinstance(stmt.value, gast.Constant)
    )


def _added(stmt: Any, name: str) -> gast.expr | None:
    """`e` of `name = name + e` or `name += e`, where `e` does not read the name."""
    value: gast.expr | None = None
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.op, gast.Add):
        value = stmt.value if syntax.is_name(stmt.target, name) else None
    elif isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name):
        total = stmt.value
        if isinstance(total, gast.BinOp) and isinstance(total.op, gast.Add):
            value = total.right if syntax.is_name(total.left, name) else None
    if value is None or name in syntax.names_read(value):
        return None
    return value


def _vanishes(value: gast.expr, zeros: set[str]) -> bool:
    """Whether the expression is zero when these names are."""
    if isinstance(value, gast.Name):
        return value.id in zeros
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return _vanishes(value.operand, zeros)
    if isinstance(value, gast.BinOp):
        left, right = _vanishes(value.left, zeros), _vanishes(value.right, zeros)
        if isinstance(value.op, (gast.Mult, gast.MatMult)):
            return left or right
        if isinstance(value.op, gast.Div):
            return left
        return isinstance(value.op, (gast.Add, gast.Sub)) and left and right
    if isinstance(value, gast.Call):
        chain = called(value)
        if chain == "np.where" and len(value.args) == 3:
            return all(
                _is_zero_number(a) or _vanishes(a, zeros) for a in value.args[1:]
            )
        if isinstance(value.func, gast.Attribute) and value.func.attr == "sum":
            return _vanishes(value.func.value, zeros)
    if isinstance(value, gast.Attribute) and value.attr == "T":
        return _vanishes(value.value, zeros)
    return False


def _is_zero_number(value: gast.expr) -> bool:
    return isinstance(value, gast.Constant) and value.value == 0
