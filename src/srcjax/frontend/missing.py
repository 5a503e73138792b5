"""Raise where a function gives None although it gives a value elsewhere.

And where it computes with None: a derivative may not compute that value, and be silent.

Before:                    After:

    if x > 0:                  if x > 0:
        return 2 * x               return 2 * x
                               raise TypeError("f returned None; grad needs ...")

    y = None                   if x > 0:
    if x > 0:                      y = 2 * x
        y = 2 * x              else:
    return y                       raise TypeError("f returned None; grad needs ...")
                               return y

What a name may hold at a `return` is found by following the paths to it. Where a branch
decides, the branch raises; after a loop, the name is asked, or a flag beside it where
nothing else reads the name: a gradient does not compute what only `return` reads.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import free_reads, stored_names
from srcjax.analysis.flow.control import Way, control, has_break, leaves
from srcjax.analysis.standard import is_standard
from srcjax.errors import SrcjaxError
from srcjax.frontend.lift import bound_here
from srcjax.frontend.read import FunctionSource, read
from srcjax.frontend.unit import parameter_names

#: What a name may hold: no value at all yet, None, something else, either of these; or
#: what a caller gave, which is as it was given.
UNBOUND, NONE, VALUE, EITHER, GIVEN = "unbound", "none", "value", "either", "given"
_THERE = frozenset({VALUE, GIVEN})

_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)

State = dict[str, frozenset[str]]
#: The live object that a name stands for, or a name with attributes; None: not known.
Look = Callable[[gast.expr], Any]


class Needs(enum.Enum):
    """Which part of a result has to be a value."""

    WHOLE = enum.auto()
    #: The first one of a tuple: what follows is handed on.
    FIRST = enum.auto()
    #: Each part of a tuple, list or dict.
    EACH = enum.auto()


@dataclass(frozen=True)
class Needed:
    """That a result has to be a value on every path, and why, for the message."""

    why: str
    part: Needs = Needs.WHOLE


def with_values(
    source: FunctionSource, needed: Needed | None, bound: dict[str, Any]
) -> gast.FunctionDef:
    """The function, raising where there is None in the place of a value.

    Args:
        needed: that it has to give a value, where it does not always give None.
        bound: the values that a method or `partial` gives to parameters.
    """
    node = source.node
    own = own_statements(node.body)
    returns = [s for s in own if isinstance(s, gast.Return)]
    if all(map(_returns_none, returns)) or syntax.names_read(node.body) & {node.name}:
        needed = None  # one that calls itself may want None of itself
    if any(isinstance(s, (gast.Yield, gast.YieldFrom)) for s in syntax.walk(node.body)):
        return node
    node = syntax.clone(node)
    Results(node, needed, looking(source, bound)).write()
    return node


def looking(source: FunctionSource, bound: dict[str, Any] | None = None) -> Look:
    """What tells the objects that names in a function stand for; runs none of it."""
    bound = bound or {}
    own = bound_here(source.node) - bound.keys()

    def look(node: gast.expr) -> Any:
        first, *rest = (syntax.dotted(node) or "").split(".")
        if first in own:
            return None
        try:
            value = bound[first] if first in bound else source.resolve(first)
            for attribute in rest:  # properties stay what they are
                value = inspect.getattr_static(value, attribute)
                value = getattr(value, "__func__", value)  # of static methods
        except (KeyError, AttributeError):
            return None
        return value

    return look


def gives_both(function: Any) -> bool:
    """Whether a function gives None on some of its paths, and a value on others."""
    if not isinstance(function, FunctionType) or is_standard(function):
        return False
    try:
        source = read(function)
    except SrcjaxError:
        return False
    paths = Paths(source.node, looking(source), through_calls=False)
    kinds: set[str] = set()
    for stmt, state in paths.returns:
        kinds |= {NONE} if stmt.value is None else paths.kinds(stmt.value, state)
    if paths.falls_off:
        kinds.add(NONE)
    return NONE in kinds and bool(kinds - {NONE, UNBOUND})


def own_statements(stmts: list[Any]) -> list[Any]:
    """Every statement of the function itself, at any depth."""
    found: list[Any] = []
    for stmt in stmts:
        found.append(stmt)
        for block in syntax.inner_blocks(stmt):
            found += own_statements(block)
    return found


@dataclass
class _Loop:
    """The states in which a loop is left by `break`, or begins again."""

    left: list[State] = field(default_factory=list)
    again: list[State] = field(default_factory=list)


class Paths:
    """What the names of a function may hold at each of its statements.

    Args:
        through_calls: whether what calls of other functions give is looked at.
    """

    def __init__(
        self, node: gast.FunctionDef, look: Look, through_calls: bool = True
    ) -> None:
        self.look = look
        self.through_calls = through_calls
        self.before: dict[int, State] = {}
        self.loops: list[_Loop] = []
        given = set(parameter_names(node.args))
        start: State = {n: frozenset({UNBOUND}) for n in bound_here(node) - given}
        start |= {n: frozenset({GIVEN}) for n in given}
        self.falls_off = self.block(node.body, start) is not None
        self.returns = [
            (s, self.before[id(s)])
            for s in own_statements(node.body)
            if isinstance(s, gast.Return) and id(s) in self.before
        ]

    def block(self, stmts: list[Any], state: State | None) -> State | None:
        """The state after the statements, None where control does not get there."""
        for stmt in stmts:
            if state is None:
                return None
            self.before[id(stmt)] = state
            state = self.statement(stmt, state)
        return state

    def statement(self, stmt: Any, state: State) -> State | None:
        if isinstance(stmt, (gast.Return, gast.Raise)):
            return None
        if isinstance(stmt, (gast.Break, gast.Continue)):
            loop = self.loops[-1]
            (loop.left if isinstance(stmt, gast.Break) else loop.again).append(state)
            return None
        if isinstance(stmt, gast.If):
            state = _with_values(state, syntax.names_written(stmt.test))
            return _met(
                self.block(stmt.body, self.refined(stmt.test, state, True)),
                self.block(stmt.orelse, self.refined(stmt.test, state, False)),
            )
        run = control(stmt)
        if run is None:
            return self.bound(stmt, state)
        state = _with_values(state, syntax.names_written(run.head))
        if run.way is Way.LOOP:
            return self.loop(stmt, run, state)
        if run.way is Way.ONCE:
            after: State | None = state
            for block in run.blocks:
                after = self.block(block, after)
            return after
        if run.way is Way.ATTEMPT:
            done = self.block(run.blocks[0], state)
            anywhere = self.anywhere(run.blocks[0], state)
            found = [done, *(self.block(b, anywhere) for b in run.blocks[1:])]
        else:
            found = [self.block(b, state) for b in run.blocks]
        return self.block(run.last, _met(*found))

    def bound(self, stmt: Any, state: State) -> State:
        """The state after a statement without blocks."""
        value = getattr(stmt, "value", None)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            kinds = self.kinds(value, state)
            state = _with_values(state, syntax.names_written(stmt))
            names = [t.id for t in stmt.targets if isinstance(t, gast.Name)]
            return state | dict.fromkeys(names, kinds)
        if isinstance(stmt, gast.AnnAssign) and value is None:
            return state
        if isinstance(stmt, gast.Delete):
            gone = [t.id for t in stmt.targets if isinstance(t, gast.Name)]
            return state | dict.fromkeys(gone, frozenset({UNBOUND}))
        return _with_values(state, syntax.names_written(stmt))

    def anywhere(self, stmts: list[Any], state: State) -> State:
        """What holds somewhere in an attempt's body, where it may be left."""
        inside = [self.before.get(id(s)) for s in own_statements(stmts)]
        written = _with_values(state, syntax.names_written(stmts))
        return _met(state, written, *inside) or state

    def loop(self, stmt: Any, run: Any, state: State) -> State | None:
        """The state after a loop."""
        head: State = state
        while True:
            self.loops.append(_Loop())
            inside: State | None = head
            if run.target is not None:
                inside = _with_values(head, syntax.names_written(run.target))
            elif isinstance(stmt, gast.While):
                inside = self.refined(stmt.test, head, True)
            end = self.block(run.blocks[0], inside)
            loop = self.loops.pop()
            again = _met(end, *loop.again)
            new = _met(head, again)
            assert new is not None
            if new == head:
                break
            head = new
        over: State | None = again if self.runs_for_sure(stmt) else head
        if isinstance(stmt, gast.While):
            over = self.refined(stmt.test, head, False)
        return _met(self.block(run.last, over), *loop.left)

    def kinds(self, value: Any, state: State) -> frozenset[str]:
        """What the value of an expression may be."""
        if isinstance(value, gast.Constant):
            return frozenset({NONE if value.value is None else VALUE})
        if isinstance(value, gast.Name):
            return state.get(value.id, frozenset({VALUE})) - {UNBOUND}
        if isinstance(value, gast.IfExp):
            sides = ((value.body, True), (value.orelse, False))
            found = [(e, self.refined(value.test, state, t)) for e, t in sides]
            return frozenset().union(*(self.kinds(e, s) for e, s in found if s))
        return frozenset({EITHER if self.gives_none(value) else VALUE})

    def gives_none(self, value: Any) -> bool:
        """Whether the value is a call that gives None on some paths only."""
        if not isinstance(value, gast.Call) or not self.through_calls:
            return False
        return gives_both(self.look(value.func))

    def runs_for_sure(self, loop: Any) -> bool:
        """Whether the loop goes over a display or a range of numbers, with items."""
        over = getattr(loop, "iter", None)
        if isinstance(over, (gast.Tuple, gast.List)):
            return any(not isinstance(e, gast.Starred) for e in over.elts)
        if not isinstance(over, gast.Call) or self.look(over.func) is not range:
            return False
        given = [getattr(a, "value", None) for a in over.args]
        numbers = [n for n in given if isinstance(n, int)]
        if over.keywords or not given or len(numbers) < len(given):
            return False
        return 0 not in numbers[2:] and len(numbers) < 4 and len(range(*numbers)) > 0

    def refined(self, test: Any, state: State | None, outcome: bool) -> State | None:
        """The state where the test came out so; None where it cannot."""
        return self.either(test, state)[0 if outcome else 1]

    def either(
        self, test: Any, state: State | None
    ) -> tuple[State | None, State | None]:
        """The states where the test is true and where it is not, as `refined` says."""
        if state is None:
            return None, None
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            true, false = self.either(test.operand, state)
            return false, true
        if isinstance(test, gast.BoolOp):
            left: list[State | None] = []  # where a value ends it
            together = isinstance(test.op, gast.And)
            for value in test.values:
                true, false = self.either(value, state)
                left.append(false if together else true)
                state = true if together else false
            return (state, _met(*left)) if together else (_met(*left), state)
        return self.alone(test, state, True), self.alone(test, state, False)

    def alone(self, test: Any, state: State, outcome: bool) -> State | None:
        """The same of a test without others in it."""
        if isinstance(test, gast.Constant):
            return state if bool(test.value) is outcome else None
        name = asked_for_none(test)
        if name is not None:
            gone = VALUE if isinstance(test.ops[0], gast.Is) is outcome else NONE
        elif isinstance(test, gast.Name) and outcome:
            name, gone = test.id, NONE
        if name not in state or GIVEN in state[name]:
            return state
        left = state[name] - {gone, UNBOUND, EITHER}
        if EITHER in state[name]:
            left |= {NONE if gone is VALUE else VALUE}
        return {**state, name: left} if left else None


def asked_for_none(test: Any) -> str | None:
    """The name in `name is None` or `name is not None`."""
    if (
        isinstance(test, gast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], (gast.Is, gast.IsNot))
        and isinstance(test.left, gast.Name)
        and isinstance(test.comparators[0], gast.Constant)
        and test.comparators[0].value is None
    ):
        return str(test.left.id)
    return None


class Results:
    """Writes what raises into a function, in place.

    Without `needed`, only where the function computes with None, as Python does: a
    derivative may not need that value.
    """

    def __init__(
        self, node: gast.FunctionDef, needed: Needed | None, look: Look
    ) -> None:
        self.node = node
        self.text = f"{node.name} returned None; {needed.why}" if needed else ""
        self.part = needed.part if needed else None
        self.names = syntax.Names(syntax.all_names(node))
        #: The flag beside a name that is None on some paths.
        self.flags: dict[str, str] = {}
        self.paths = Paths(node, look)
        self.moved = False
        if needed is not None:
            node.body = self.apart(node.body)
        if self.moved:
            self.paths = Paths(node, look)

    def write(self) -> None:
        """Rewrite the function's body."""
        node = self.node
        node.body = self.block(node.body)
        node.body = marked(node.body, self.flag_set)
        falls = self.paths.falls_off and not _runs_forever(node.body[-1])
        if self.part is not None and falls and not leaves(node.body):
            node.body.append(self.raised(node.body[-1]))

    def raised(self, at: gast.AST) -> Any:
        value = syntax.call("TypeError", syntax.const(self.text))
        return _at(gast.Raise(value, None), at)

    def apart(self, stmts: list[Any]) -> list[Any]:
        """Results that a test or a call decides stand in branches and have names."""
        out: list[Any] = []
        for stmt in stmts:
            if not isinstance(stmt, _SCOPES):
                syntax.rewrite_blocks(stmt, self.apart)
            value = getattr(stmt, "value", None)
            if not isinstance(stmt, gast.Return):
                out.append(stmt)
            elif isinstance(value, gast.IfExp) and any(map(_is_none, _ends(value))):
                sides = [_at(gast.Return(v), stmt) for v in (value.body, value.orelse)]
                one, other = (self.apart([side]) for side in sides)
                self.moved = True
                out += [_at(gast.If(value.test, one, []), stmt), *other]
            elif self.paths.gives_none(value):
                name = self.names.fresh("result")
                self.moved = True
                out.append(_at(syntax.assign(name, value), stmt))
                out.append(_at(gast.Return(syntax.name(name)), stmt))
            else:
                out.append(stmt)
        return out

    def block(self, stmts: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in stmts:
            state = self.paths.before.get(id(stmt))
            if state is not None and isinstance(stmt, gast.Return):
                if self.part is not None and _returns_none(stmt):
                    out.append(self.raised(stmt))
                    continue
                for name in self.wanted(stmt.value, state):
                    out = self.checked(out, name, stmt)
            if state is not None:
                for name in operands(syntax.head(stmt)):
                    out = self.computed_with(out, name, stmt, state)
            if not isinstance(stmt, _SCOPES):
                syntax.rewrite_blocks(stmt, self.block)
            out.append(stmt)
        return out

    def computed_with(
        self, stmts: list[Any], name: str, at: Any, state: State
    ) -> list[Any]:
        """The statements before one that computes with the name."""
        kinds = state.get(name, frozenset({VALUE}))
        if not kinds & {NONE, EITHER, UNBOUND} or len(kinds) + (EITHER in kinds) == 1:
            return stmts
        text, self.text = self.text, f"`{name}` is None where it is computed with"
        decided = self.decided(stmts, name)
        if decided is None and EITHER in kinds:
            test = syntax.expression("v is None", v=syntax.name(name))
            decided = [*stmts, _at(gast.If(test, [self.raised(at)], []), at)]
        self.text = text
        return stmts if decided is None else decided

    def wanted(self, value: Any, state: State) -> list[str]:
        """The names in a result that may hold no value."""
        if self.part is None or value is None:
            return []
        parts = [value]
        if self.part is Needs.FIRST and isinstance(value, gast.Tuple):
            parts = value.elts[:1]
        elif self.part is Needs.EACH:
            parts = list(_parts(value))
        names = [p.id for p in parts if isinstance(p, gast.Name) and p.id in state]
        alone = len(self.paths.returns) == 1 or parts != [value]
        return [
            name
            for name in dict.fromkeys(names)
            if not state[name] <= _THERE and not (alone and state[name] == {NONE})
        ]

    def checked(self, stmts: list[Any], name: str, at: Any) -> list[Any]:
        """The statements before a `return` of the name, with what raises."""
        decided = self.decided(stmts, name)
        if decided is not None:
            return decided
        kinds = self.paths.before[id(at)][name]
        if not kinds & {NONE, EITHER}:
            return stmts  # it may be unbound after a loop, which Python tells
        test = syntax.expression("v is None", v=syntax.name(name))
        if EITHER not in kinds and self.is_flagged(name):
            if name not in self.flags:
                self.flags[name] = self.names.fresh(f"no_{name}")
            test = syntax.name(self.flags[name])
        return [*stmts, _at(gast.If(test, [self.raised(at)], []), at)]

    def decided(self, stmts: list[Any], name: str) -> list[Any] | None:
        """The statements with what raises in the branches that decide; None if none do.

        They end with the statement that gives the name its last value.
        """
        last: Any = stmts[-1] if stmts else None
        state = self.paths.before.get(id(last))
        if state is None:
            return None
        if name not in syntax.names_written(last):
            return self.known(stmts, name, state[name])
        if isinstance(last, gast.Assign):
            after = self.paths.bound(last, state)[name]
            if EITHER in after:
                return None
            return [*stmts, self.raised(last)] if NONE in after else stmts
        if not isinstance(last, gast.If):
            return None
        sides = [
            self.decided_side(block, name, self.paths.refined(last.test, state, way))
            for block, way in ((last.body, True), (last.orelse, False))
        ]
        if sides[0] is None or sides[1] is None:
            return None
        test = last.test
        return [*stmts[:-1], _at(gast.If(test, sides[0], sides[1]), last)]

    def decided_side(
        self, block: list[Any], name: str, entry: State | None
    ) -> list[Any] | None:
        """The same for a branch, which may leave the name as it is."""
        if entry is None or leaves(block):
            return block
        if name in syntax.names_written(block):
            return self.decided(block, name)
        return self.known(block, name, entry[name])

    def known(
        self, block: list[Any], name: str, kinds: frozenset[str]
    ) -> list[Any] | None:
        """The statements with what raises, where the name can be one thing alone."""
        at = block[-1] if block else self.node
        if kinds <= _THERE:
            return block
        if kinds == {NONE}:
            return [*block, self.raised(at)]
        if kinds == {UNBOUND}:
            return [*block, unbound(name, at)]
        return None

    def is_flagged(self, name: str) -> bool:
        """Whether nothing but results reads the name, and plain assignments bind it."""
        for stmt in own_statements(self.node.body):
            head = syntax.head(stmt)
            if name in syntax.names_written(head):
                targets = getattr(stmt, "targets", [None])
                if not isinstance(stmt, gast.Assign) or not any(
                    isinstance(t, gast.Name) and t.id == name for t in targets
                ):
                    return False
                if len(targets) > 1:
                    return False
            if name in syntax.names_read(head) and not isinstance(stmt, gast.Return):
                return False
        inner = (n for n in syntax.walk(self.node.body) if isinstance(n, _SCOPES))
        return not any(name in syntax.all_names(n) for n in inner)

    def flag_set(self, stmt: Any) -> list[Any]:
        """The flags set beside the name that the statement binds."""
        state = self.paths.before.get(id(stmt))
        if not isinstance(stmt, gast.Assign) or state is None:
            return []
        set_here = []
        for name in sorted(stored_names(stmt.targets) & self.flags.keys()):
            kinds = self.paths.bound(stmt, state)[name]
            value: Any = syntax.expression("v is None", v=syntax.name(name))
            if kinds in ({NONE}, {VALUE}):
                value = syntax.const(kinds == {NONE})
            set_here.append(_at(syntax.assign(self.flags[name], value), stmt))
        return set_here


def marked(stmts: list[Any], marks: Callable[[Any], list[Any]]) -> list[Any]:
    """The statements, each with its `marks` behind it.

    Those of a `for`, which binds its target, come first in the body.
    """
    out: list[Any] = []
    for stmt in stmts:
        out.append(stmt)
        if isinstance(stmt, _SCOPES):
            continue
        syntax.rewrite_blocks(stmt, lambda block: marked(block, marks))
        if isinstance(stmt, gast.For):
            stmt.body[:0] = marks(stmt)
        else:
            out += marks(stmt)
    return out


def unbound(name: str, at: gast.AST) -> Any:
    """What Python raises where a local variable has no value yet."""
    text = (
        f"cannot access local variable {name!r} where it is not associated with a value"
    )
    value = syntax.call("UnboundLocalError", syntax.const(text))
    return _at(gast.Raise(value, None), at)


def with_bound(source: FunctionSource) -> gast.FunctionDef:
    """The function, raising by itself where it reads what has no value yet.

    Before:                    After:

        for v in x:                has_y = False
            y = 2 * v              for v in x:
        return y                       y = 2 * v
                                       has_y = True
                                   if not has_y:
                                       raise UnboundLocalError("cannot access ...")
                                   return y

    Python tells by itself; a compiler takes what is in the memory.
    """
    node = syntax.clone(source.node)
    paths = Paths(node, looking(source), through_calls=False)
    names = syntax.Names(syntax.all_names(node))
    flags: dict[str, str] = {}
    plain = _plainly_bound(node)

    def checked(stmts: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in stmts:
            if not isinstance(stmt, _SCOPES):
                heads = map(_listed, syntax.head(stmt))
                reads = set().union(*(free_reads(h, later=False) for h in heads))
                state = paths.before.get(id(stmt), {})
                for name in sorted(reads & plain):
                    if UNBOUND in state.get(name, ()):
                        flag = flags.setdefault(name, "") or names.fresh(f"has_{name}")
                        flags[name] = flag
                        test = gast.UnaryOp(gast.Not(), syntax.name(flag))
                        out.append(_at(gast.If(test, [unbound(name, stmt)], []), stmt))
                syntax.rewrite_blocks(stmt, checked)
            out.append(stmt)
        return out

    def flag_set(stmt: Any) -> list[Any]:
        there = not isinstance(stmt, gast.Delete)
        if isinstance(stmt, gast.For):
            bound = stored_names([stmt.target])
        elif control(stmt) is not None:
            bound = set()
        else:
            bound = stored_names([stmt]) if there else syntax.names_written(stmt)
        return [
            _at(syntax.assign(flags[name], syntax.const(there)), stmt)
            for name in sorted(bound & flags.keys())
        ]

    node.body = checked(node.body)
    if flags:
        node.body = marked(node.body, flag_set)
        false = syntax.const(False)
        starts = [syntax.assign(flag, false) for flag in sorted(flags.values())]
        node.body = [*starts, *node.body]
    return node


def _plainly_bound(node: gast.FunctionDef) -> set[str]:
    """The variables that assignments and `for` bind, and nothing else does."""
    other: set[str] = set()
    for stmt in own_statements(node.body):
        if isinstance(stmt, (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Delete)):
            continue
        head = syntax.names_written(syntax.head(stmt))
        if isinstance(stmt, gast.For):
            head -= stored_names([stmt.target])
        other |= head
    return bound_here(node) - set(parameter_names(node.args)) - other


def _listed(part: Any) -> Any:
    return gast.Module(part, []) if isinstance(part, list) else part


def operands(nodes: list[Any]) -> list[str]:
    """The names that the nodes surely compute with: `a` and `b` in `f(-a * b)`."""
    found: dict[str, None] = {}
    for node in nodes:
        if isinstance(
            node, (gast.BoolOp, gast.IfExp, *_SCOPES, *syntax.COMPREHENSIONS)
        ):
            continue
        if isinstance(node, list):
            found |= dict.fromkeys(operands(node))
            continue
        if not isinstance(node, gast.AST):
            continue
        inside = list(gast.iter_child_nodes(node))
        if isinstance(node, (gast.BinOp, gast.UnaryOp)) and not isinstance(
            getattr(node, "op", None), (gast.Not, gast.Mod)
        ):
            found |= {n.id: None for n in inside if isinstance(n, gast.Name)}
        found |= dict.fromkeys(operands(inside))
    return list(found)


def _met(*states: State | None) -> State | None:
    """What holds where paths meet."""
    found = [s for s in states if s is not None]
    if not found:
        return None
    names: Iterable[str] = set().union(*found)
    none: frozenset[str] = frozenset()
    return {n: none.union(*(s.get(n, none) for s in found)) for n in names}


def _with_values(state: State, names: set[str]) -> State:
    return state | dict.fromkeys(names, frozenset({VALUE})) if names else state


def _returns_none(stmt: gast.stmt) -> bool:
    value = getattr(stmt, "value", None)
    return isinstance(stmt, gast.Return) and (value is None or _is_none(value))


def _is_none(value: Any) -> bool:
    return isinstance(value, gast.Constant) and value.value is None


def _ends(value: Any) -> list[Any]:
    """The values that `a if c else b` may give."""
    if isinstance(value, gast.IfExp):
        return [*_ends(value.body), *_ends(value.orelse)]
    return [value]


def _parts(value: Any) -> Iterable[Any]:
    """The parts of a display of displays, or the value itself."""
    if not isinstance(value, _DISPLAYS):
        yield value
        return
    for part in value.values if isinstance(value, gast.Dict) else value.elts:
        yield from _parts(part)


def _runs_forever(stmt: gast.stmt) -> bool:
    """Whether the statement is `while True` without a `break`."""
    endless = isinstance(stmt, gast.While) and isinstance(stmt.test, gast.Constant)
    return endless and bool(stmt.test.value) and not has_break(stmt)


def _at(new: Any, old: gast.AST) -> Any:
    return gast.copy_location(new, old)
