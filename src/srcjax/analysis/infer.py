"""Run the core form on types instead of values.

The interpreter executes a unit abstractly: branches join, loops run to a fixed point
(or once per item where the items of a list are known, so that layers of different
shapes keep their exact types), calls of other functions are executed in their own
unit. What each statement saw is recorded in `Facts`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
import types as pytypes
from dataclasses import is_dataclass, replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis import containers
from srcjax.analysis.program import Program, Variant
from srcjax.analysis.types import (
    ACTIVE,
    BOOL,
    INT,
    NONE,
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Other,
    Range,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    broadcast_shapes,
    dtype_of,
    is_active,
    is_differentiable,
    is_number,
    join,
    join_all,
    map_parts,
    parts,
    shape_of,
    shift,
    type_of,
    with_active,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.normalise import Unit, parameter_names
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import ATTRIBUTES, METHODS, Op, lookup
from srcjax.custom import Checkpointed, CustomRule

OPERATORS = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.Mod: operator.mod,
    gast.FloorDiv: operator.floordiv,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Not: operator.not_,
    gast.Invert: operator.invert,
}
COMPARISONS = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}
UNROLLED = 64
Env = dict[str, Type]


class Unreachable(Exception):
    """The abstract execution cannot go on here (a recursion not yet returned)."""


class Missed(Exception):
    """Names that normalisation took for inactive carry a derivative."""

    def __init__(self, unit: Unit, names: set[str]) -> None:
        super().__init__(f"{sorted(names)} vary in {unit.name}")
        self.unit = unit
        self.names = names


class Interpreter:
    """Abstract execution of the units of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = program.facts
        self.recording = False
        self.memo: dict[tuple, Type | None] = {}
        self.stack: list[tuple[Any, tuple]] = []
        self.unit: Unit = None  # type: ignore[assignment]

    # -- units ------------------------------------------------------------------------

    def run(self, unit: Unit, arguments: Env) -> Type:
        """Execute the unit and record the facts of it and of all it calls."""
        self.recording = True
        active = {n for n, t in arguments.items() if is_active(t)}
        self.program.entry_active[id(unit.source.func)] = active
        key = (id(unit), tuple(arguments.items()))
        self.stack.append((unit.source.func, key))
        try:
            return self.body_of(unit, dict(arguments))
        finally:
            self.stack.pop()

    def body_of(self, unit: Unit, env: Env) -> Type:
        outer, self.unit = self.unit, unit
        try:
            end = self.block(unit.node.body[:-1], env)
            if end is None:
                raise Unreachable
            last = unit.node.body[-1]
            assert isinstance(last, gast.Return)
            result = self.eval(last.value, end)
            self.note(last, end, end)
            known = self.facts.results.get(unit.name)
            self.facts.results[unit.name] = join(known, result) if known else result
            return result
        finally:
            self.unit = outer

    def call_unit(self, unit: Unit, arguments: Env) -> Type:
        """The result type of a call, by executing the callee (memoised)."""
        function = unit.source.func
        if any(f is function for f, _ in self.stack):
            arguments = {k: _widen(t) for k, t in arguments.items()}
        if self.recording:
            known_active = self.program.entry_active.setdefault(id(function), set())
            known_active |= {n for n, t in arguments.items() if is_active(t)}
        key = (id(unit), tuple(arguments.items()), self.recording)
        if key in self.memo:
            known = self.memo[key]
            if known is None:
                raise Unreachable
            return known
        if len(self.stack) > 40:
            return UNKNOWN
        self.memo[key] = None
        self.stack.append((function, key))
        try:
            for _ in range(8):
                before = self.memo[key]
                try:
                    result = self.body_of(unit, dict(arguments))
                except Unreachable:
                    result = None  # type: ignore[assignment]
                if before is not None and result is not None:
                    result = join(before, result)
                self.memo[key] = result
                if result == before:
                    break
        finally:
            self.stack.pop()
        if self.memo[key] is None:
            del self.memo[key]
            raise Unreachable
        return self.memo[key]  # type: ignore[return-value]

    # -- statements -------------------------------------------------------------------

    def note(self, stmt: gast.AST, before: Env, after: Env) -> None:
        """Record what the statement saw."""
        if not self.recording:
            return
        if isinstance(stmt, (gast.If, gast.While)):
            reads, writes = syntax.names_read(stmt.test), set()
        elif isinstance(stmt, gast.For):
            reads, writes = (
                syntax.names_read(stmt.iter),
                syntax.names_written(stmt.target),
            )
        elif isinstance(stmt, (gast.With, gast.Try)):
            return
        else:
            reads, writes = syntax.names_read(stmt), syntax.names_written(stmt)
            if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
                reads.add(stmt.target.id)
        first = {n: before[n] for n in sorted(reads) if n in before}
        second = {n: after[n] for n in sorted(writes | reads) if n in after}
        self.facts.record(stmt, Variant(first, second))

    def block(self, stmts: list[gast.stmt], env: Env | None) -> Env | None:
        """Execute statements; None where control cannot reach the end."""
        for stmt in stmts:
            if env is None:
                return None
            try:
                env = self.statement(stmt, env)
            except Unreachable:
                return None
        return env

    def statement(self, stmt: gast.stmt, env: Env) -> Env | None:
        """Execute one statement."""
        if isinstance(stmt, gast.If):
            return self.branch(stmt, env)
        if isinstance(stmt, gast.For):
            return self.for_loop(stmt, env)
        if isinstance(stmt, gast.While):
            return self.while_loop(stmt, env)
        if isinstance(stmt, gast.With):
            for item in stmt.items:
                self.eval(item.context_expr, env)
                if item.optional_vars is not None:
                    for n in syntax.names_written(item.optional_vars):
                        env[n] = UNKNOWN
            return self.block(stmt.body, env)
        if isinstance(stmt, gast.Try) and not stmt.handlers:
            end = self.block(stmt.body, env)
            return None if end is None else self.block(stmt.finalbody, end)
        if isinstance(stmt, (gast.Break, gast.Raise)):
            if isinstance(stmt, gast.Break):
                self.breaks[-1].append(dict(env))
            return None
        before = dict(env) if self.recording else env
        self.simple(stmt, env)
        self.note(stmt, before, env)
        return env

    breaks: list[list[Env]] = []

    def simple(self, stmt: gast.stmt, env: Env) -> None:
        """Execute a statement without control flow, updating the environment."""
        if isinstance(stmt, gast.Assign):
            value = self.eval(stmt.value, env)
            for target in stmt.targets:
                self.assign(stmt, target, value, env)
        elif isinstance(stmt, gast.AugAssign):
            self.augmented(stmt, env)
        elif isinstance(stmt, gast.AnnAssign):
            if stmt.value is not None:
                value = self.eval(stmt.value, env)
                self.assign(stmt, stmt.target, value, env)
        elif isinstance(stmt, gast.Expr):
            self.current = stmt
            self.eval(stmt.value, env)
        elif isinstance(stmt, gast.FunctionDef):
            free = syntax.names_read(stmt) - set(parameter_names(stmt.args))
            active = any(is_active(env[n]) for n in sorted(free) if n in env)
            env[stmt.name] = Closure(active, definition=stmt, scope=self.unit)
        elif isinstance(stmt, (gast.Assert, gast.Pass)):
            pass
        else:
            self.opaque(stmt, env)

    def opaque(self, stmt: gast.stmt, env: Env) -> None:
        """A statement that was left as written: it touches nothing active."""
        active = {n for n in syntax.names_read(stmt) if is_active(env.get(n, UNKNOWN))}
        if active and not isinstance(stmt, gast.Delete):
            raise Missed(self.unit, active)
        for n in syntax.names_written(stmt):
            env[n] = UNKNOWN

    def assign(self, stmt: gast.stmt, target: Any, value: Type, env: Env) -> None:
        """Bind a target."""
        if isinstance(target, gast.Name):
            if is_active(value):
                self.require(target.id)
            env[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            items = self.items(value, len(target.elts))
            star = any(isinstance(e, gast.Starred) for e in target.elts)
            for element, item in zip(target.elts, items, strict=True):
                if isinstance(element, gast.Starred) or star:
                    element = getattr(element, "value", element)
                    item = Unknown(is_active(value), all_buffers(value))
                self.assign(stmt, element, item, env)
        elif isinstance(target, gast.Subscript):
            base = self.eval(target.value, env)
            self.store(stmt, target, base, value, env)
        elif isinstance(target, gast.Attribute):
            base = self.eval(target.value, env)
            self.store_attribute(stmt, target, base, value, env)

    def require(self, name: str) -> None:
        """An active value was bound to a name: it must be known to vary."""
        if name not in self.unit.varying:
            raise Missed(self.unit, {name})

    def store(
        self, stmt: gast.stmt, target: gast.Subscript, base: Type, value: Type, env: Env
    ) -> None:
        """`base[index] = value`: every alias of the buffer sees it."""
        self.wrote(stmt, base)
        self.keep_global(stmt, base, value)
        if isinstance(base, (Other, Const)) and is_active(value):
            raise self.refuse(
                stmt,
                f"a differentiated value is stored in a "
                f"{getattr(getattr(base, 'cls', None), '__name__', 'constant object')}",
                "a list, a dict or an array made in the function",
            )
        if isinstance(base, (List, Dict)):
            key = self.eval(target.slice, env)
            self.update(base, env, lambda t: containers.store_item(t, key, value))
        elif is_active(value) and is_differentiable(base):
            self.update(base, env, lambda t: with_active(t, True))

    def refuse(self, node: gast.AST, reason: str, instead: str) -> Exception:
        """An error about the user's source."""
        where = node if hasattr(node, "lineno") else self.unit.source.node
        return error_at(UnsupportedError, self.unit.source, where, reason, instead)

    def keep_global(self, node: gast.AST, base: Type, value: Type) -> None:
        """A differentiated value must not be kept outside of the function."""
        outside = any(_is_global(b) for b in base.buffers)
        if outside and is_active(value):
            raise self.refuse(
                node,
                "a differentiated value is stored in a global or closure object",
                "return the value, or keep it in an object made in the function",
            )

    def store_attribute(
        self, stmt: gast.stmt, target: gast.Attribute, base: Type, value: Type, env: Env
    ) -> None:
        self.wrote(stmt, base)
        if isinstance(base, Object):

            def change(t: Type) -> Type:
                if not isinstance(t, Object):
                    return t
                items = dict(t.items)
                items[target.attr] = value
                return replace(t, items=tuple(items.items()))

            self.update(base, env, change)
        elif is_active(value):
            raise Missed(self.unit, syntax.names_read(target.value) - self.unit.varying)

    def wrote(self, stmt: gast.AST, base: Type) -> None:
        """Remember which buffers the statement writes."""
        known = self.facts.writes.get(id(stmt), NONE)
        self.facts.writes[id(stmt)] = known | base.buffers
        self.facts.nodes.append(stmt)

    def update(self, base: Type, env: Env, change: Any) -> None:
        """Change the type of everything that may be the written object."""
        must = len(base.buffers) <= 1

        def visit(t: Type) -> Type:
            t = map_parts(t, visit)
            if t.buffers & base.buffers and type(t) is type(base):
                return change(t) if must else join(t, change(t))
            return t

        for name, t in env.items():
            if all_buffers(t) & base.buffers:
                new = visit(t)
                if is_active(new) and not is_active(t):
                    self.require(name)
                env[name] = new

    def augmented(self, stmt: gast.AugAssign, env: Env) -> None:
        value = self.eval(stmt.value, env)
        target = stmt.target
        function = OPERATORS[type(stmt.op)]
        if isinstance(target, gast.Name):
            old = self.eval(syntax.name(target.id), env)
            if isinstance(old, Array) and old.shape != ():
                self.wrote(stmt, old)
                if is_active(value) and is_differentiable(old):
                    self.update(old, env, lambda t: with_active(t, True))
            elif isinstance(old, List) and old.cls is list:
                self.wrote(stmt, old)
                extended = containers.extend(old, value)
                self.update(old, env, lambda t: extended)
            else:
                new = self.apply(lookup(function), function, [old, value], {}, stmt)
                self.assign(stmt, target, new, env)
            return
        base = self.eval(target.value, env)
        item = self.subscript(base, self.eval(target.slice, env), target.slice)
        new = self.apply(lookup(function), function, [item, value], {}, stmt)
        self.store(stmt, target, base, new, env)

    def branch(self, stmt: gast.If, env: Env) -> Env | None:
        test = self.eval(stmt.test, env)
        self.note(stmt, env, env)
        outcome = truth(test)
        if self.recording:
            self.facts.tests.setdefault(id(stmt), set()).add(outcome)
            self.facts.nodes.append(stmt)
        ends = []
        if outcome is not False:
            ends.append(self.block(stmt.body, dict(env)))
        if outcome is not True:
            ends.append(self.block(stmt.orelse, dict(env)))
        return join_envs(ends)

    def for_loop(self, stmt: gast.For, env: Env) -> Env | None:
        over = self.eval(stmt.iter, env)
        items = self.iteration(over)
        self.breaks.append([])
        try:
            if items is not None and len(items) <= UNROLLED:
                end: Env | None = env
                for item in items:
                    if end is None:
                        break
                    end = self.iterate(stmt, item, end)
                if not items:
                    self.note(stmt, env, env)
                return join_envs([end, *self.breaks[-1]])
            item = self.element(over)

            def once(state: Env) -> Env | None:
                return self.iterate(stmt, item, dict(state))

            return self.fixed_point(once, env)
        finally:
            self.breaks.pop()

    def iterate(self, stmt: gast.For, item: Type, env: Env) -> Env | None:
        before = dict(env)
        self.assign(stmt, stmt.target, item, env)
        self.note(stmt, before, env)
        return self.block(stmt.body, env)

    def while_loop(self, stmt: gast.While, env: Env) -> Env | None:
        self.breaks.append([])
        forever = isinstance(stmt.test, gast.Constant) and stmt.test.value

        def once(state: Env) -> Env | None:
            state = dict(state)
            self.eval(stmt.test, state)
            self.note(stmt, state, state)
            return self.block(stmt.body, state)

        try:
            end = self.fixed_point(once, env)
            if forever:
                return join_envs(self.breaks[-1])
            return end
        finally:
            self.breaks.pop()

    def fixed_point(self, once: Any, env: Env) -> Env | None:
        """Iterate a loop body until the types at its head no longer change."""
        recording, self.recording = self.recording, False
        state = dict(env)
        for attempt in range(12):
            self.breaks[-1].clear()
            after = once(state)
            new = join_envs([state, after]) or state
            if attempt > 6:
                for key in new:
                    if new[key] != state.get(key):
                        new[key] = Unknown(is_active(new[key]), all_buffers(new[key]))
            if new == state:
                break
            state = new
        self.recording = recording
        if recording:
            self.breaks[-1].clear()
            once(state)
        return join_envs([state, *self.breaks[-1]])

    def iteration(self, over: Type) -> list[Type] | None:
        """The items that a loop visits, one by one, where they are known."""
        if isinstance(over, Tuple):
            return list(over.items)
        if isinstance(over, List) and over.items is not None:
            return list(over.items)
        if isinstance(over, Dict) and over.items is not None:
            return [type_of(key) for key, _ in over.items]
        if isinstance(over, Const) and isinstance(over.value, (tuple, range)):
            return [type_of(v) for v in over.value][: UNROLLED + 1]
        if isinstance(over, Range) and over.length is not None and over.length <= 16:
            if over.values is None:
                return [INT] * over.length
            return [Const(value=i) for i in over.values]
        return None

    def element(self, over: Type) -> Type:
        """What a loop over the value visits."""
        if isinstance(over, List):
            return over.elem or join_all(over.items or ()) or UNKNOWN
        if isinstance(over, (Tuple, Dict)):
            items = self.iteration(over)
            return (join_all(items) if items else None) or UNKNOWN
        if isinstance(over, Range):
            return INT
        if isinstance(over, Array):
            return self.subscript(over, INT, None)
        if isinstance(over, Const) and isinstance(over.value, (str, range, tuple)):
            return join_all(type_of(v) for v in list(over.value)[:UNROLLED]) or UNKNOWN
        return Unknown(is_active(over), all_buffers(over))

    def items(self, value: Type, count: int) -> list[Type]:
        """The types that unpacking into `count` names gives."""
        known = self.iteration(value) if not isinstance(value, Dict) else None
        if known is not None and len(known) == count:
            return known
        if isinstance(value, Array) and value.shape:
            return [self.subscript(value, INT, None)] * count
        return [self.element(value)] * count

    # -- expressions ------------------------------------------------------------------

    def eval(self, node: Any, env: Env) -> Type:
        """The type of an expression."""
        handler = getattr(self, f"of_{type(node).__name__}", None)
        if handler is not None:
            result: Type = handler(node, env)
            return result
        active = any(
            is_active(env.get(n, UNKNOWN)) for n in syntax.names_read(node)
        )
        if active:
            raise Missed(self.unit, syntax.names_read(node) & set(env))
        for sub in syntax.walk(node):
            if isinstance(sub, gast.NamedExpr):
                env[sub.target.id] = UNKNOWN
        return UNKNOWN

    def of_Constant(self, node: gast.Constant, env: Env) -> Type:
        return Const(value=node.value)

    def of_Name(self, node: gast.Name, env: Env) -> Type:
        found = env.get(node.id)
        if found is not None:
            return found
        try:
            value = self.program.resolve(self.unit, node.id)
        except KeyError:
            return UNKNOWN
        return global_type(value, node.id)

    def of_Slice(self, node: gast.Slice, env: Env) -> Type:
        parts_ = [
            Const(value=None) if p is None else self.eval(p, env)
            for p in (node.lower, node.upper, node.step)
        ]
        return Tuple(items=tuple(parts_), cls=slice)

    def of_Tuple(self, node: gast.Tuple, env: Env) -> Type:
        items = self.display(node.elts, env)
        if items is None:
            elems = [self.eval(getattr(e, "value", e), env) for e in node.elts]
            elem = join_all(
                self.element(t) if isinstance(e, gast.Starred) else t
                for e, t in zip(node.elts, elems, strict=True)
            )
            return List(elem=elem, cls=tuple)
        return Tuple(items=tuple(items))

    def of_List(self, node: gast.List, env: Env) -> Type:
        as_tuple = self.of_Tuple(node, env)
        buffers = frozenset([id(node)])
        self.facts.nodes.append(node)
        if isinstance(as_tuple, Tuple):
            return List(False, buffers, as_tuple.items)
        return List(False, buffers, None, getattr(as_tuple, "elem", None))

    def display(self, nodes: list, env: Env) -> list[Type] | None:
        """Types of the items of a display or argument list; None if not known."""
        items: list[Type] = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                inner = self.iteration(self.eval(node.value, env))
                if inner is None:
                    return None
                items.extend(inner)
            else:
                items.append(self.eval(node, env))
        return items

    def of_Dict(self, node: gast.Dict, env: Env) -> Type:
        self.facts.nodes.append(node)
        buffers = frozenset([id(node)])
        pairs: dict[Any, Type] = {}
        loose: list[Type] = []
        for key, value in zip(node.keys, node.values, strict=True):
            t = self.eval(value, env)
            if key is None:
                if isinstance(t, Dict) and t.items is not None:
                    pairs.update(t.items)
                else:
                    loose.append(self.element(t))
                continue
            k = self.eval(key, env)
            if isinstance(k, Const):
                pairs[k.value] = t
            else:
                loose.append(t)
        if loose:
            return Dict(False, buffers, None, join_all([*loose, *pairs.values()]))
        return Dict(False, buffers, tuple(pairs.items()))

    def of_IfExp(self, node: gast.IfExp, env: Env) -> Type:
        outcome = truth(self.eval(node.test, env))
        if outcome is True:
            return self.eval(node.body, env)
        if outcome is False:
            return self.eval(node.orelse, env)
        return join(self.eval(node.body, env), self.eval(node.orelse, env))

    def of_BoolOp(self, node: gast.BoolOp, env: Env) -> Type:
        values = []
        for part in node.values:
            t = self.eval(part, env)
            outcome = truth(t)
            if outcome is isinstance(node.op, gast.Or):
                values.append(t)
                break
            if outcome is None or part is node.values[-1]:
                values.append(t)
        return join_all(values) or UNKNOWN

    def of_Compare(self, node: gast.Compare, env: Env) -> Type:
        operands = [self.eval(n, env) for n in (node.left, *node.comparators)]
        results = []
        for op, a, b in zip(node.ops, operands, operands[1:], strict=False):
            results.append(compare(op, a, b))
        if len(results) == 1:
            return results[0]
        outcomes = [truth(r) for r in results]
        if any(o is False for o in outcomes):
            return Const(value=False)
        return Const(value=True) if all(outcomes) else BOOL

    def of_UnaryOp(self, node: gast.UnaryOp, env: Env) -> Type:
        operand = self.eval(node.operand, env)
        function = UNARY[type(node.op)]
        if isinstance(node.op, gast.Not):
            outcome = truth(operand)
            return BOOL if outcome is None else Const(value=not outcome)
        return self.apply(lookup(function), function, [operand], {}, node)

    def of_BinOp(self, node: gast.BinOp, env: Env) -> Type:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        function = OPERATORS[type(node.op)]
        for owner, other, prefix in ((left, right, ""), (right, left, "r")):
            name = f"__{prefix}{function.__name__.strip('_')}__"
            method = getattr(getattr(owner, "cls", None), name, None)
            if isinstance(owner, (Object, Tuple)) and isinstance(
                method, pytypes.FunctionType
            ):
                self.callee(node, BoundTo(method, owner))
                return self.call_function(method, [owner, other], {}, node)
        return self.apply(lookup(function), function, [left, right], {}, node)

    def of_NamedExpr(self, node: gast.NamedExpr, env: Env) -> Type:
        value = self.eval(node.value, env)
        env[node.target.id] = value
        return value

    def of_JoinedStr(self, node: gast.JoinedStr, env: Env) -> Type:
        return Other(cls=str)

    def of_Lambda(self, node: gast.Lambda, env: Env) -> Type:
        self.facts.nodes.append(node)
        free = syntax.names_read(node.body) - set(parameter_names(node.args))
        active = {n for n in free if is_active(env.get(n, UNKNOWN))}
        if active:
            raise Missed(self.unit, active - self.unit.varying)
        return Closure(definition=node, scope=self.unit)

    def of_Starred(self, node: gast.Starred, env: Env) -> Type:
        return self.eval(node.value, env)

    def of_ListComp(self, node: Any, env: Env) -> Type:
        inner = dict(env)
        known: list[Type] | None = None
        for generator in node.generators:
            over = self.eval(generator.iter, inner)
            known = self.iteration(over)
            self.assign_quiet(generator.target, self.element(over), inner)
        single = len(node.generators) == 1 and not node.generators[0].ifs
        if single and known is not None and len(known) <= UNROLLED:
            items = []
            for item in known:
                self.assign_quiet(node.generators[0].target, item, inner)
                items.append(self.eval(node.elt, inner))
            return List(False, frozenset([id(node)]), tuple(items))
        elem = self.eval(node.elt, inner)
        return List(False, frozenset([id(node)]), None, elem)

    def of_GeneratorExp(self, node: Any, env: Env) -> Type:
        return replace(self.of_ListComp(node, env), cls=tuple)  # type: ignore[call-arg]

    def assign_quiet(self, target: Any, value: Type, env: Env) -> None:
        """Bind a comprehension's target: nothing is required of its names."""
        if isinstance(target, gast.Name):
            env[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            for e, t in zip(
                target.elts, self.items(value, len(target.elts)), strict=True
            ):
                self.assign_quiet(e, t, env)

    def of_Attribute(self, node: gast.Attribute, env: Env) -> Type:
        base = self.eval(node.value, env)
        return self.attribute(base, node.attr, node)

    def attribute(self, base: Type, name: str, node: gast.AST | None) -> Type:
        """The type of `base.name`."""
        if isinstance(base, Object):
            for key, t in base.items:
                if key == name:
                    return t
            return self.class_attribute(base, name, node)
        if isinstance(base, Tuple) and base.cls is not None:
            fields = getattr(base.cls, "_fields", ())
            if name in fields:
                return base.items[fields.index(name)]
            return self.class_attribute(base, name, node)
        if isinstance(base, Const) and not isinstance(base.value, (int, float)):
            try:
                value = getattr(base.value, name)
            except AttributeError:
                return UNKNOWN
            return global_type(value, name)
        op = ATTRIBUTES.get(name)
        if op is not None and not isinstance(base, (Closure, Other)):
            return self.apply(op, None, [base], {}, node)
        return Unknown(is_active(base), all_buffers(base))

    def class_attribute(self, base: Type, name: str, node: Any) -> Type:
        """A property (executed) or class constant of a known class."""
        cls: Any = base.cls  # type: ignore[attr-defined]
        static = inspect.getattr_static(cls, name, None)
        if isinstance(static, property) and static.fget is not None:
            self.callee(node, static.fget)
            return self.call_function(static.fget, [base], {}, node)
        if isinstance(static, pytypes.FunctionType):
            return Const(value=BoundTo(static, base))
        if isinstance(static, (staticmethod, classmethod)):
            return Const(value=getattr(cls, name))
        if static is not None:
            return global_type(getattr(cls, name), name)
        return Unknown(is_active(base), all_buffers(base))

    def of_Subscript(self, node: gast.Subscript, env: Env) -> Type:
        base = self.eval(node.value, env)
        index = self.eval(node.slice, env)
        method = getattr(getattr(base, "cls", None), "__getitem__", None)
        if isinstance(base, Object) and isinstance(method, pytypes.FunctionType):
            self.callee(node, BoundTo(method, base))
            return self.call_function(method, [base, index], {}, node)
        return self.subscript(base, index, node.slice)

    def subscript(self, base: Type, index: Type, node: Any) -> Type:
        """The type of `base[index]`."""
        if isinstance(base, (Tuple, List, Dict)):
            return containers.load_item(base, index)
        if isinstance(base, Array):
            return index_array(base, index)
        if isinstance(base, Const) and isinstance(index, Const):
            try:
                return type_of(base.value[index.value])
            except Exception:
                return UNKNOWN
        return Unknown(is_active(base), all_buffers(base))

    # -- calls ------------------------------------------------------------------------

    def callee(self, node: Any, target: Any) -> None:
        """Remember what a call (or property read) was found to call."""
        if self.recording and node is not None:
            known = self.facts.callees.setdefault(id(node), [])
            self.facts.nodes.append(node)
            if not any(target is k or target == k for k in known):
                known.append(target)

    def of_Call(self, node: gast.Call, env: Env) -> Type:
        args = self.display(node.args, env)
        kwargs: dict[str, Type] = {}
        loose = args is None
        for keyword in node.keywords:
            t = self.eval(keyword.value, env)
            if keyword.arg is not None:
                kwargs[keyword.arg] = t
            elif isinstance(t, Dict) and t.items is not None:
                kwargs.update(t.items)
            else:
                loose = True
        if loose:
            reads = [env[n] for n in syntax.names_read(node) if n in env]
            self.callee(node, None)
            return Unknown(
                any(map(is_active, reads)),
                frozenset().union(*map(all_buffers, reads)) if reads else NONE,
            )
        assert args is not None
        if isinstance(node.func, gast.Attribute):
            base = self.eval(node.func.value, env)
            found = self.method(base, node.func.attr, args, kwargs, node, env)
            if found is not None:
                return found
            function = self.attribute(base, node.func.attr, None)
        else:
            function = self.eval(node.func, env)
        return self.call(function, args, kwargs, node, env)

    def method(
        self,
        base: Type,
        name: str,
        args: list[Type],
        kwargs: dict[str, Type],
        node: gast.Call,
        env: Env,
    ) -> Type | None:
        """A method of a container or array; None if it is something else."""
        if isinstance(base, (List, Dict)) and hasattr(containers, f"method_{name}"):
            self.callee(node, f"{type(base).__name__.lower()}.{name}")
            result, changed = getattr(containers, f"method_{name}")(base, *args, **kwargs)
            if changed is not None:
                for argument in [*args, *kwargs.values()]:
                    self.keep_global(node, base, argument)
                stmt = getattr(self, "current", node)
                self.wrote(stmt, base)
                self.wrote(node, base)
                self.update(base, env, lambda t: changed)
            return result
        if isinstance(base, (Array, Scalar, Unknown)):
            op = METHODS.get(name)
            if op is not None:
                self.callee(node, op)
                return self.apply(op, None, [base, *args], kwargs, node)
            if name == "fill" and isinstance(base, Array):
                self.wrote(node, base)
                if is_active(args[0]):
                    self.update(base, env, lambda t: with_active(t, True))
                return Const(value=None)
        if name == "_replace" and isinstance(base, Tuple) and base.cls is not None:
            return self.replaced(base, kwargs, node)
        if isinstance(base, Other) and any(map(is_active, [*args, *kwargs.values()])):
            shown = getattr(base.cls, "__name__", "object")
            raise self.refuse(
                node,
                f"a differentiated value is given to a method of a {shown}",
                "a list, a dict or an array made in the function",
            )
        return None

    def call(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        """Call a function value."""
        active = any(map(is_active, [*args, *kwargs.values()]))
        if isinstance(function, Closure) and function.scope is not self.unit:
            self.callee(node, None)
            return Unknown(active or function.active)
        if isinstance(function, Closure):
            self.callee(node, function)
            return self.call_closure(function, args, kwargs, env)
        method = getattr(getattr(function, "cls", None), "__call__", None)
        if isinstance(function, (Object, Tuple)) and isinstance(
            method, pytypes.FunctionType
        ):
            bound = BoundTo(method, function)
            self.callee(node, bound)
            return self.call_function(method, [function, *args], kwargs, node)
        if not isinstance(function, Const):
            self.callee(node, None)
            return Unknown(active or is_active(function))
        value = function.value
        if value is object.__new__ and isinstance(args[0], Const):
            self.facts.nodes.append(node)
            return Object(False, frozenset([id(node)]), args[0].value)
        if isinstance(value, functools.partial):
            return self.call(
                Const(value=value.func),
                [*(global_type(a, "") for a in value.args), *args],
                {**{k: global_type(v, k) for k, v in value.keywords.items()}, **kwargs},
                node,
                env,
            )
        if isinstance(value, BoundTo):
            self.callee(node, value)
            return self.call_function(value.function, [value.owner, *args], kwargs, node)
        special = self.special(value, args, kwargs, node, env)
        if special is not None:
            return special
        if isinstance(value, (CustomRule, Checkpointed)):
            self.callee(node, value)
            quiet = [with_active(t, False) for t in args]
            named = {k: with_active(t, False) for k, t in kwargs.items()}
            result = self.call_function(value.function, quiet, named, None)
            return with_active(result, active)
        library = str(getattr(value, "__module__", "") or type(value).__module__)
        if library.split(".")[0] in ("numpy", "scipy") and lookup(value) is None:
            if not isinstance(value, type):
                self.callee(node, value)
                return Unknown(active)
        if getattr(value, "__srcjax_opaque__", False) and active:
            raise self.refuse(
                node,
                f"`{value.__name__}` inside differentiated code: the function it gets "
                "is only known when the program runs",
                "call each function in a branch of its own",
            )
        if getattr(value, "__srcjax_maker__", False):
            made = self.program.transformed(value, args, kwargs)
            if made is not None:
                return Const(value=made)
        transform = getattr(value, "__srcjax_transform__", None)
        if transform is not None and not kwargs:
            function_ = transform.function_for(args)
            self.callee(node, function_)
            return self.call_function(function_, args, kwargs, node)
        if isinstance(getattr(value, "__self__", None), np.ufunc) and (
            getattr(value, "__name__", "") == "at"
        ):
            self.callee(node, value)
            self.wrote(node, args[0])
            if active and is_differentiable(args[0]):
                self.update(args[0], env, lambda t: with_active(t, True))
            return Const(value=None)
        op = lookup(value)
        if op is not None:
            self.callee(node, op)
            written = [kwargs[w] for w in op.writes if w in kwargs]
            written += [t for t, _ in zip(args, op.writes, strict=False)]
            for base in written:
                self.wrote(getattr(self, "current", node), base)
                if active and is_differentiable(base):
                    self.update(base, env, lambda t: with_active(t, True))
            return self.apply(op, value, args, kwargs, node)
        if isinstance(value, pytypes.FunctionType):
            self.callee(node, value)
            return self.call_function(value, args, kwargs, node)
        if isinstance(value, pytypes.MethodType):
            self.callee(node, value)
            owner = global_type(value.__self__, "self")
            return self.call_function(value.__func__, [owner, *args], kwargs, node)
        if isinstance(value, type):
            return self.construct(value, args, kwargs, node)
        self.callee(node, value)
        call_method = getattr(type(value), "__call__", None)
        if isinstance(call_method, pytypes.FunctionType):
            owner = Const(value=value)
            return self.call_function(call_method, [owner, *args], kwargs, node)
        return Unknown(active)

    def special(
        self, value: Any, args: list[Type], kwargs: dict, node: Any, env: Env
    ) -> Type | None:
        """Builtins that the type domain itself understands."""
        if value is len and len(args) == 1:
            return length(args[0])
        if value is range:
            numbers = [a.value if isinstance(a, Const) else None for a in args]
            if all(isinstance(n, int) for n in numbers):
                values = range(*numbers)  # type: ignore[arg-type]
                return Range(length=len(values), values=values)
            return Range()
        if value is isinstance and len(args) == 2:
            return is_instance(args[0], args[1])
        if value in (list, tuple) and len(args) == 1:
            return self.convert(value, args[0], node)
        if value is dict and not args:
            self.facts.nodes.append(node)
            return Dict(False, frozenset([id(node)]), tuple(kwargs.items()))
        if value is zip and not kwargs:
            known = [self.iteration(a) for a in args]
            if all(k is not None for k in known) and known:
                rows = zip(*known, strict=False)  # type: ignore[arg-type]
                return Tuple(items=tuple(Tuple(items=r) for r in rows))
            return List(elem=Tuple(items=tuple(map(self.element, args))), cls=tuple)
        if value is enumerate and args:
            known_items = self.iteration(args[0])
            if known_items is not None:
                rows_ = [Tuple(items=(INT, t)) for t in known_items]
                return Tuple(items=tuple(rows_))
            return List(elem=Tuple(items=(INT, self.element(args[0]))), cls=tuple)
        if value is reversed and args:
            known_items = self.iteration(args[0])
            if known_items is not None:
                return Tuple(items=tuple(reversed(known_items)))
            if isinstance(args[0], Range):
                return args[0]
            return List(elem=self.element(args[0]), cls=tuple)
        if value is sorted and args:
            self.callee(node, value)
            self.facts.nodes.append(node)
            elem = self.element(args[0])
            return List(False, frozenset([id(node)]), None, elem)
        if value in (min, max) and len(args) == 1 and not kwargs:
            return self.element(args[0])
        if value is getattr and len(args) == 2 and isinstance(args[1], Const):
            return self.attribute(args[0], str(args[1].value), node)
        if value is dataclasses.replace and isinstance(args[0], Object):
            return self.replaced(args[0], kwargs, node)
        if value in (np.copyto, np.fill_diagonal, np.put) and args:
            self.callee(node, value)
            self.wrote(node, args[0])
            if is_active(args[-1]) and is_differentiable(args[0]):
                self.update(args[0], env, lambda t: with_active(t, True))
            return Const(value=None)
        return None

    def replaced(self, old: Any, changes: dict[str, Type], node: Any) -> Type:
        """`dataclasses.replace(p, x=v)`, `p._replace(x=v)`."""
        if isinstance(old, Tuple):
            names = old.cls._fields  # type: ignore[union-attr]
            new = tuple(
                changes.get(n, t) for n, t in zip(names, old.items, strict=True)
            )
            return Tuple(items=new, cls=old.cls)
        self.facts.nodes.append(node)
        items = tuple((n, changes.get(n, t)) for n, t in old.items)
        return Object(False, frozenset([id(node)]), old.cls, items)

    def convert(self, cls: Any, value: Type, node: Any) -> Type:
        """`list(x)`, `tuple(x)`."""
        buffers = frozenset([id(node)]) if cls is list else NONE
        self.facts.nodes.append(node)
        known = self.iteration(value)
        if known is not None and cls is tuple:
            return Tuple(items=tuple(known))
        if known is not None:
            return List(False, buffers, tuple(known), None, cls)
        if isinstance(value, Array) and value.shape and isinstance(value.shape[0], int):
            if value.shape[0] <= UNROLLED:
                items = (self.element(value),) * value.shape[0]
                if cls is tuple:
                    return Tuple(items=items)
                return List(False, buffers, items)
        return List(False, buffers, None, self.element(value), cls)

    def construct(
        self, cls: type, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """An instance of a class: namedtuples and dataclasses keep their parts."""
        self.callee(node, cls)
        fields = getattr(cls, "_fields", None)
        active = any(map(is_active, [*args, *kwargs.values()]))
        try:
            if issubclass(cls, tuple) and fields is not None:
                bound = inspect.signature(cls).bind(*args, **kwargs)
                bound_types = dict(bound.arguments)
                defaults = getattr(cls, "_field_defaults", {})
                items = tuple(
                    bound_types[f] if f in bound_types else type_of(defaults[f])
                    for f in fields
                )
                return Tuple(items=items, cls=cls)
            if is_dataclass(cls) and not hasattr(cls, "__post_init__"):
                signature = inspect.signature(cls)
                bound = signature.bind(*args, **kwargs)
                types = {
                    n: bound.arguments[n]
                    if n in bound.arguments
                    else global_type(p.default, n)
                    for n, p in signature.parameters.items()
                }
                self.facts.nodes.append(node)
                return Object(False, frozenset([id(node)]), cls, tuple(types.items()))
        except (TypeError, KeyError):
            pass
        init = getattr(cls, "__init__", None)
        if active and isinstance(init, pytypes.FunctionType):
            self.facts.nodes.append(node)
            made = Object(False, frozenset([id(node)]), cls)
            self.active_unit(init, [made, *args], kwargs)
            return replace(made, active=True)
        return Unknown(active) if active else Other(cls=cls)

    def call_closure(
        self, closure: Closure, args: list[Type], kwargs: dict, env: Env
    ) -> Type:
        """A function defined inside the program, before it is inlined."""
        definition = closure.definition
        names = parameter_names(definition.args)
        free = syntax.names_read(definition) - set(names)
        active = any(map(is_active, [*args, *kwargs.values()])) or any(
            is_active(env.get(n, UNKNOWN)) for n in free
        )
        return Unknown(active)

    def call_function(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A call of a user's function: executed in its own unit."""
        active = any(map(is_active, [*args, *kwargs.values()]))
        try:
            if active:
                unit = self.active_unit(function, args, kwargs)
            else:
                unit = self.typing_unit(function)
            if unit is None:
                return Unknown(active)
            arguments = bind_types(unit, args, kwargs)
        except TypeError:
            return Unknown(active)
        if not active:
            recording, self.recording = self.recording, False
            results, self.facts.results = self.facts.results, {}
            try:
                return with_active(self.call_unit(unit, arguments), False)
            except Missed:
                return UNKNOWN
            finally:
                self.recording, self.facts.results = recording, results
        return self.call_unit(unit, arguments)

    def active_unit(self, function: Any, args: list[Type], kwargs: dict) -> Unit | None:
        """The callee's unit, normalised for the parameters that are active."""
        from srcjax.errors import SrcjaxError

        try:
            unit = self.program.unit(function, ())
        except SrcjaxError as error:
            self.program.unreadable = error  # type: ignore[attr-defined]
            return None
        arguments = bind_types(unit, args, kwargs)
        wanted = {n for n, t in arguments.items() if is_active(t)}
        if not wanted <= unit.varying:
            raise Missed(unit, wanted)
        return unit

    def typing_unit(self, function: Any) -> Unit | None:
        """The callee's core form for inference alone; None if it is not readable."""
        units = self.program.typing_units
        if id(function) not in units:
            from srcjax.errors import SrcjaxError
            from srcjax.frontend.normalise import normalise
            from srcjax.frontend.read import read

            try:
                source = read(function)
                units[id(function)] = normalise(
                    source, parameter_names(source.node.args)
                )
            except SrcjaxError:
                units[id(function)] = None
            self.program._alive.append(function)
        return units[id(function)]

    def apply(
        self, op: Op | None, function: Any, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        """The result of an operation."""
        everything = [*args, *kwargs.values()]
        active = any(map(is_active, everything))
        if function is not None and all(_plain(t) for t in everything) and not kwargs:
            folded = fold_constants(function, everything)
            if folded is not None:
                return folded
        if function is operator.or_ and isinstance(args[0], Dict):
            merged = containers.method_update(args[0], args[1])[1]
            self.facts.nodes.append(node)
            return replace(merged, buffers=frozenset([id(node)]))
        if function is operator.add and isinstance(args[0], (Tuple, List)):
            return containers.concatenate(args[0], args[1], id(node))
        if function is operator.mul and any(
            isinstance(a, (List, Tuple)) for a in args
        ):
            found = containers.repeat(args[0], args[1], id(node))
            self.facts.nodes.append(node)
            return found
        if any(isinstance(a, Other) for a in args) and op is None:
            return Other(cls=getattr(args[0], "cls", None))
        if op is None:
            return Unknown(active, frozenset().union(*map(all_buffers, everything)))
        result: Type = UNKNOWN
        try:
            bound = op.bind(args, kwargs)
        except TypeError:
            return Unknown(active)
        try:
            if op.infer is not None:
                result = op.infer(**_flatten_bound(op, bound))
            elif op.elementwise:
                result = infer_elementwise(
                    function or op.functions[0], *bound.values()
                )
        except Exception:
            result = UNKNOWN
        active = not op.inert and any(
            is_active(t)
            for n, t in _flatten_bound(op, bound).items()
            if n in op.differentiable
        )
        return self.finish(result, op, active, everything, node)

    def finish(
        self, result: Type, op: Op, active: bool, operands: list[Type], node: Any
    ) -> Type:
        """Add activity and buffers to what an infer rule said."""
        if op.alias == "same" and operands:
            return replace(with_active(result, active), buffers=operands[0].buffers)
        result = with_active(result, active) if not op.inert else result
        if isinstance(result, (Array, Unknown, List)):
            if op.alias == "fresh":
                self.facts.nodes.append(node)
                buffers = frozenset([id(node)])
            else:
                buffers = frozenset().union(*map(all_buffers, operands))
                if op.alias == "maybe":
                    self.facts.nodes.append(node)
            result = replace(result, buffers=buffers)
        if isinstance(result, (List, Tuple)) and op.alias != "fresh":
            buffers = frozenset().union(*map(all_buffers, operands))
            result = map_parts(
                result, lambda t: replace(t, buffers=t.buffers | buffers)
            )
        elif isinstance(result, (List, Tuple)):
            result = map_parts(
                result, lambda t: replace(t, buffers=t.buffers | frozenset([id(node)]))
            )
        return result


def _is_global(buffer: Any) -> bool:
    while isinstance(buffer, tuple):
        if buffer[0] == "global":
            return True
        buffer = buffer[0]
    return False


class BoundTo:
    """A method together with the type of the object it belongs to."""

    def __init__(self, function: Any, owner: Type) -> None:
        self.function = function
        self.owner = owner

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundTo) and self.function is other.function

    def __hash__(self) -> int:
        return id(self.function)


def global_type(value: Any, name: str) -> Type:
    """The type of a live value that the program refers to."""
    found = type_of(value, ("global", name))
    if isinstance(found, Other):
        return Const(value=value)
    if isinstance(found, List):
        return List(False, found.buffers, None, join_all(found.items or ()))
    return found


def bind_types(unit: Unit, args: list[Type], kwargs: dict[str, Type]) -> Env:
    """Types of a unit's parameters for a call. Raises TypeError as Python would."""
    arguments = unit.node.args
    signature = signature_of(arguments, unit.source)
    bound = signature.bind(*args, **kwargs)
    env: Env = {}
    for name, parameter in signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                env[name] = Tuple(items=tuple(value))
            elif parameter.kind is parameter.VAR_KEYWORD:
                env[name] = Dict(False, frozenset([name]), tuple(value.items()))
            else:
                env[name] = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            env[name] = Tuple()
        elif parameter.kind is parameter.VAR_KEYWORD:
            env[name] = Dict(False, frozenset([name]), ())
        else:
            default = unit.source.defaults[name]
            env[name] = default_type(default, name)
    return env


def default_type(value: Any, name: str) -> Type:
    """The type of a default: numbers count as known constants."""
    if type(value) in (int, float):
        return Const(value=value)
    return global_type(value, name)


def signature_of(arguments: gast.arguments, source: Any) -> inspect.Signature:
    """The call signature of a definition (defaults by presence)."""
    kinds = inspect.Parameter
    found = []

    def add(name: str, kind: Any) -> None:
        default = source.defaults.get(name, kinds.empty) if source else kinds.empty
        if kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
            default = kinds.empty
        found.append(kinds(name, kind, default=default))

    for a in arguments.posonlyargs:
        add(a.id, kinds.POSITIONAL_ONLY)
    for a in arguments.args:
        add(a.id, kinds.POSITIONAL_OR_KEYWORD)
    if arguments.vararg is not None:
        add(arguments.vararg.id, kinds.VAR_POSITIONAL)
    for a in arguments.kwonlyargs:
        add(a.id, kinds.KEYWORD_ONLY)
    if arguments.kwarg is not None:
        add(arguments.kwarg.id, kinds.VAR_KEYWORD)
    return inspect.Signature(found)


def _flatten_bound(op: Op, bound: dict[str, Any]) -> dict[str, Any]:
    """`*shape` arguments arrive as a Python tuple of types: make it a Tuple type."""
    return {
        n: Tuple(items=v) if isinstance(v, tuple) else v
        for n, v in bound.items()
        if not isinstance(v, dict)
    } | {k: v for d in bound.values() if isinstance(d, dict) for k, v in d.items()}


def _widen(t: Type) -> Type:
    """A number in a recursive call: known as a number only."""
    if isinstance(t, Const) and type(t.value) in (int, float):
        return Scalar(dtype=np.dtype(type(t.value)), python=True)
    return map_parts(t, _widen)


def _plain(t: Type) -> bool:
    return isinstance(t, Const) and type(t.value) in (int, float, bool)


def fold_constants(function: Any, operands: list[Type]) -> Type | None:
    """Arithmetic on known numbers."""
    if not operands or getattr(function, "__module__", "") not in (
        "_operator",
        "math",
    ):
        return None
    try:
        value = function(*(t.value for t in operands))  # type: ignore[attr-defined]
    except Exception:
        return None
    if type(value) not in (int, float, bool) or abs(value) > 1e15:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return Const(value=value)


def truth(t: Type) -> bool | None:
    """Whether a condition is known to hold."""
    if isinstance(t, Const):
        try:
            return bool(t.value)
        except Exception:
            return None
    if isinstance(t, (Tuple, List, Dict)) and getattr(t, "items", None) is not None:
        return bool(t.items)  # type: ignore[attr-defined]
    if isinstance(t, (Closure, Object)):
        return True
    return None


def compare(op: Any, a: Type, b: Type) -> Type:
    """The type of one comparison; identity with None and equality of constants."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        same: bool | None = None
        if isinstance(a, Const) and isinstance(b, Const):
            same = a.value is b.value
        elif Const(value=None) in (a, b):
            other = b if a == Const(value=None) else a
            if not isinstance(other, (Unknown, Other)):
                same = False
        if same is None:
            return BOOL
        return Const(value=same == isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        keys: Any = None
        if isinstance(b, Dict) and b.items is not None:
            keys = [k for k, _ in b.items]
        elif isinstance(b, Tuple) and all(isinstance(i, Const) for i in b.items):
            keys = [i.value for i in b.items]  # type: ignore[attr-defined]
        if isinstance(a, Const) and keys is not None:
            return Const(value=(a.value in keys) == isinstance(op, gast.In))
        return BOOL
    function = COMPARISONS[type(op)]
    if isinstance(a, Const) and isinstance(b, Const):
        try:
            return Const(value=bool(function(a.value, b.value)))
        except Exception:
            return BOOL
    if is_number(a) and is_number(b):
        return BOOL
    shapes = broadcast_shapes(shape_of(a), shape_of(b))
    if isinstance(a, Array) or isinstance(b, Array):
        return Array(dtype=np.dtype(bool), shape=shapes)
    return UNKNOWN


def length(t: Type) -> Type:
    """`len(x)`."""
    if isinstance(t, (Tuple, List, Dict)) and getattr(t, "items", None) is not None:
        return Const(value=len(t.items))  # type: ignore[attr-defined]
    if isinstance(t, Array) and t.shape and isinstance(t.shape[0], int):
        return Const(value=t.shape[0])
    if isinstance(t, Range) and t.length is not None:
        return Const(value=t.length)
    return INT


_PYTHON_TYPES = {Tuple: tuple, Dict: dict, Array: np.ndarray}


def is_instance(value: Type, cls: Type) -> Type:
    """`isinstance(x, C)` where the types tell."""
    wanted: Any = getattr(cls, "value", None)
    if isinstance(cls, Tuple):
        wanted = tuple(getattr(i, "value", None) for i in cls.items)
        if None in wanted:
            return BOOL
    if wanted is None:
        return BOOL
    actual: Any = _PYTHON_TYPES.get(type(value))
    if isinstance(value, Tuple) and value.cls is not None:
        actual = value.cls
    elif isinstance(value, (List, Object, Other)):
        actual = value.cls
    elif isinstance(value, Const):
        actual = type(value.value)
    elif isinstance(value, Scalar) and value.dtype is not None:
        actual = value.dtype.type
        if value.python:
            actual = {"f": float, "i": int, "b": bool, "c": complex}[value.dtype.kind]
    if actual is None:
        return BOOL
    try:
        return Const(value=issubclass(actual, wanted))
    except TypeError:
        return BOOL


def index_array(base: Array, index: Type) -> Type:
    """The type of `array[index]` by NumPy's indexing rules."""
    if base.shape is None:
        return Unknown(base.active, base.buffers)
    entries = (
        list(index.items)
        if isinstance(index, Tuple) and index.cls is not slice
        else [index]
    )
    consumed = sum(
        0
        if isinstance(e, Const) and e.value in (None, ...)
        else (shape_rank(e) if _is_mask(e) else 1)
        for e in entries
    )
    shape: list[Any] = []
    axis = 0
    advanced: list[Any] = []
    advanced_at: int | None = None
    separated = False
    missing = len(base.shape) - consumed
    if not any(isinstance(e, Const) and e.value is ... for e in entries):
        entries.append(Const(value=...))
    if missing < 0:
        return Unknown(base.active, base.buffers)
    for e in entries:
        if isinstance(e, Const) and e.value is ...:
            shape.extend(base.shape[axis : axis + missing])
            axis += missing
            if advanced_at is not None and missing:
                separated = True
        elif isinstance(e, Const) and e.value is None:
            shape.append(1)
        elif isinstance(e, Tuple) and e.cls is slice:
            shape.append(_slice_dim(base.shape[axis], e.items))
            axis += 1
        elif is_number(e) and dtype_of(e) is not None and dtype_of(e).kind in "iu":  # type: ignore[union-attr]
            axis += 1
        elif isinstance(e, (Array, List, Tuple)):
            if advanced_at is None:
                advanced_at = len(shape)
            elif separated or len(shape) != advanced_at:
                return Unknown(base.active)
            if _is_mask(e):
                advanced.append((None,))
                axis += shape_rank(e)
            else:
                advanced.append(
                    shape_of(e) if isinstance(e, Array) else (len(parts(e)) or None,)
                )
                axis += 1
        else:
            return Unknown(base.active, base.buffers)
    if advanced_at is None:
        if not shape:
            return Scalar(base.active, NONE, base.dtype)
        return Array(base.active, base.buffers, base.dtype, tuple(shape))
    if any(a is None for a in advanced):
        return Unknown(base.active)
    merged = broadcast_shapes(*advanced) or ()
    numbers = any(is_number(e) for e in entries)
    if numbers and len(entries) > 2:
        return Array(base.active, NONE, base.dtype, None)
    shape[advanced_at:advanced_at] = merged
    return Array(base.active, NONE, base.dtype, tuple(shape))


def _is_mask(e: Type) -> bool:
    return isinstance(e, Array) and e.dtype is not None and e.dtype.kind == "b"


def shape_rank(e: Type) -> int:
    """The rank of an index array (1 when not known)."""
    shape = shape_of(e)
    return len(shape) if shape is not None else 1


def _slice_dim(dim: Any, items: tuple[Type, ...]) -> Any:
    """The size of `axis[lower:upper:step]`."""
    values = [i.value if isinstance(i, Const) else ... for i in items]
    lower, upper, step = values
    if values == [None, None, None] or (lower, upper, step) == (None, None, -1):
        return dim
    if ... in values or not all(v is None or isinstance(v, int) for v in values):
        return None
    if isinstance(dim, int):
        return len(range(*slice(lower, upper, step).indices(dim)))
    if step in (None, 1) and dim is not None:
        start = lower or 0
        stop = upper if upper is not None else 0
        if start >= 0 and (upper is None or stop < 0):
            return shift(dim, stop - start)
    return None


def join_envs(envs: list[Env | None]) -> Env | None:
    """What is known where several paths meet."""
    reached = [e for e in envs if e is not None]
    if not reached:
        return None
    result = dict(reached[0])
    for env in reached[1:]:
        for name, t in env.items():
            result[name] = join(result[name], t) if name in result else t
    return result


__all__ = ["ACTIVE", "Interpreter", "Missed", "bind_types", "signature_of"]
