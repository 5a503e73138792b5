"""Run the core form on types instead of values.

The interpreter executes a unit abstractly: branches join, loops run to a fixed point
(or once per item where the items of a list are known, so that layers of different
shapes keep their exact types), calls of other functions are executed in their own
unit. What each statement saw is recorded in `Facts`.
"""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis import containers
from srcjax.analysis.applied import is_object_dtype
from srcjax.analysis.binding import Env
from srcjax.analysis.counts import counted, forget, uncounted
from srcjax.analysis.effects import UNROLLED, Missed, Unreachable
from srcjax.analysis.expressions import Expressions
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.control import Way, control, runs
from srcjax.analysis.foreign import own_class, own_method
from srcjax.analysis.keys import keys_of
from srcjax.analysis.known_values import OPERATORS, in_place_method, truth, where
from srcjax.analysis.left import Left, left_in
from srcjax.analysis.managers import set_by_manager
from srcjax.analysis.program import Variant
from srcjax.analysis.swaps import trade_contents
from srcjax.analysis.types import (
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
    Varies,
    ageless,
    ageless_buffers,
    all_buffers,
    count_type,
    is_active,
    is_differentiable,
    is_iterator,
    join,
    replace,
    varies,
    with_active,
)
from srcjax.analysis.wider import covers
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.attempts import caught_flag
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops.record import lookup

#: Called where a loop, or a statement in one, is not executed again, with what executes
#: it again after all, and with what it was found to end with (by tests, which compare
#: the two).
REMEMBERED: list[Callable[[Any, Callable[[], Env | None], Env | None], None]] = []

#: Statements without blocks, as most are, and those that are looked at one by one.
_PLAIN = (gast.Assign, gast.Expr, gast.AugAssign, gast.If, gast.For, gast.While)

#: Statements that bind names and do nothing else, unless they write to memory or call
#: what is executed.
_BINDING = (gast.Assign, gast.Expr, gast.AugAssign)

#: What gives its items once, and takes those of what it is given by and by.
_LAZY = (enumerate, filter, iter, map, reversed, zip)

#: Of how many executions of a loop it is kept what they ended with.
KEPT = 8


class Interpreter(Expressions):
    """Abstract execution of the units of a program."""

    #: What `if isinstance(...)` around the statement at hand said (see `asks_class`).
    classes: frozenset[tuple] = frozenset()
    #: Whether facts are kept of what a loop is executed with before its types settle.
    records_attempts = False
    #: Whether a loop that is executed again as it was gives what it gave.
    remembers = True

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
        self.facts.reached.add(id(unit))
        outer, self.unit = self.unit, unit
        around = self.current
        hidden, self.hidden = self.hidden, NONE
        left, self.left = self.left, Left()
        handed, self.handed = self.handed, NONE
        if id(unit.node) in self.counting:  # of a call around this one
            env = dict(env)
            forget(env, {id(unit.node)})
        try:
            end = self.block(unit.node.body[:-1], env)
            if end is None:
                raise Unreachable
            last = unit.node.body[-1]
            assert isinstance(last, gast.Return)
            self.current = last
            result = self.returned(last, end)
            self.note(last, end, end)
            key = id(unit.source.func)
            known = self.facts.results.get(key)
            plain = ageless(result)
            self.facts.results[key] = join(known, plain) if known else plain
            self.latest = left_in(end[n] for n in unit.parameters if n in end)
            return result
        finally:
            self.unit, self.current = outer, around
            self.hidden, self.handed, self.left = hidden, handed, left

    def returned(self, last: gast.Return, end: Env) -> Type:
        """What the last statement of a unit returns."""
        return uncounted(self.eval(last.value, end))

    # -- statements -------------------------------------------------------------------

    def note(self, stmt: gast.AST, before: Env, after: Env) -> None:
        """Record what the statement saw."""
        if not self.recording:
            return
        if type(stmt) not in _PLAIN and runs(stmt, Way.ONCE, Way.ATTEMPT):
            return
        reads, names = self.names_of(stmt)
        types = [*map(before.get, reads), *map(after.get, names)]
        key = (id(stmt), *map(id, types))
        if key in self.facts.noted:
            return
        self.facts.noted[key] = types
        first = {n: ageless(before[n]) for n in reads if n in before}
        second = {n: ageless(after[n]) for n in names if n in after}
        self.facts.record(stmt, Variant(first, second))
        for is_after, seen, env in ((False, first, before), (True, second, after)):
            held = self.facts.held.setdefault((id(stmt), is_after), {})
            for n in seen:
                known, memory = held.get(n), all_buffers(env[n])
                if known is None:
                    held[n] = memory
                elif known is not memory and not memory <= known:
                    held[n] = known | memory

    def names_of(self, stmt: gast.AST) -> tuple[list[str], list[str]]:
        """The names that the statement itself reads, and those it reads or binds."""
        known = self.mentioned.get(id(stmt))
        if known is None:
            reads, binds = syntax.names_of_both_kinds(syntax.head(stmt))
            if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
                reads.add(stmt.target.id)
            known = self.mentioned[id(stmt)] = sorted(reads), sorted(reads | binds)
        return known

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
        self.current = stmt
        if isinstance(stmt, gast.If):
            return self.branch(stmt, env)
        if isinstance(stmt, (gast.For, gast.While)):
            return self.loop(stmt, env)
        run = None if type(stmt) in _PLAIN else control(stmt)
        if run is not None and run.way is Way.ONCE:
            self.bind_managers(run.head, env)
            end: Env | None = env
            for block in run.blocks:
                end = self.block(block, end)
            return end
        if run is not None and caught_flag(stmt) is not None:
            return self.attempt(stmt, env)
        if isinstance(stmt, (gast.Break, gast.Raise)):
            if isinstance(stmt, gast.Break):
                self.breaks[-1].append(dict(env))
            else:
                self.refusal = not_implemented(stmt) or self.refusal
            return None
        if self.breaks and self.remembers and type(stmt) in _BINDING:
            self.once_more(stmt, env)
        else:
            self.execute(stmt, env)
        return env

    def execute(self, stmt: gast.stmt, env: Env) -> None:
        """Execute a statement without blocks, and record it."""
        before = env
        if self.recording:
            before = {n: env[n] for n in self.names_of(stmt)[0] if n in env}
        self.simple(stmt, env)
        self.forget_hidden(env)
        self.note(stmt, before, env)

    def executed_on(self, stmt: gast.stmt, env: Env) -> Env:
        self.execute(stmt, env)
        return env

    def once_more(self, stmt: gast.stmt, env: Env) -> None:
        """Execute a statement in a loop, as before where it reads the same types.

        One that does no more than bind names does the same again.
        """
        reads, names = self.names_of(stmt)
        key = (id(stmt), self.recording, *map(env.get, reads))
        known = self.bound.get(key)
        if known is not None:
            before = dict(env) if REMEMBERED else {}
            env.update(known[1])
            for watch in REMEMBERED:
                watch(self, lambda: self.executed_on(stmt, before), env)
            return
        beyond, filled = self.beyond, self.filled
        self.execute(stmt, env)
        alone = beyond == self.beyond and filled is self.filled
        if alone and id(stmt) not in self.counting:
            self.bound[key] = stmt, {n: env[n] for n in names if n in env}

    def bind_managers(self, items: list[gast.withitem], env: Env) -> None:
        """What context managers give is not known, but for its memory."""
        for item in items:
            entered = self.eval(item.context_expr, env)
            function = getattr(item.context_expr, "func", None)
            called = None if function is None else self.eval(function, env)
            known = getattr(called, "value", None)
            found = set_by_manager(entered, item.context_expr, known)
            self.program.sets(found.variables, self.unit.source)
            self.facts.set_attributes |= found.attributes
            self.facts.set_around |= {("global", name) for name in found.containers}
            for name in syntax.names_written(item.optional_vars):
                env[name] = Unknown(buffers=all_buffers(entered))

    def attempt(self, stmt: gast.Try, env: Env) -> Env | None:
        """A `try` in core form: an exception comes from somewhere in its body."""
        before = dict(env)
        reads = sorted(syntax.names_read(stmt.body))
        raised = self.tell(BaseException, *(env[n] for n in reads if n in env))
        self.attempts += 1
        end = self.block(stmt.body, env)
        self.attempts -= 1
        ends = [end]
        for handler in stmt.handlers:
            state = dict(join_envs([before, end]) or before)
            for name in syntax.names_written(handler) - syntax.names_written(
                handler.body
            ):
                state[name] = raised
            ends.append(self.block(handler.body, state))
        return join_envs(ends)

    def simple(self, stmt: gast.stmt, env: Env) -> None:
        """Execute a statement without control flow, updating the environment."""
        self.current = stmt
        self.look_inside(stmt)
        if isinstance(stmt, gast.Assign):
            pairs = swap_pairs(stmt)
            if pairs and trade_contents([env.get(n, UNKNOWN) for n, _ in pairs]):
                self.swap(stmt, pairs, env)
                return
            value = self.eval(stmt.value, env)
            if self.gives_iterator(stmt.value, env) and not is_active(value):
                # Not the tuple of its items: they are given once.
                value = self.iterator_over(stmt.value, env)
            if self.settled and getattr(stmt, "holds_leaf", False):
                self.check_leaf(stmt, value)
            for target in stmt.targets:
                self.assign(stmt, target, value, env)
        elif isinstance(stmt, gast.AugAssign):
            self.augmented(stmt, env)
        elif isinstance(stmt, gast.AnnAssign):
            if stmt.value is not None:
                value = self.eval(stmt.value, env)
                self.assign(stmt, stmt.target, value, env)
        elif isinstance(stmt, gast.Expr):
            self.eval(stmt.value, env)
        elif isinstance(stmt, gast.FunctionDef):
            free = syntax.names_read(stmt) - set(parameter_names(stmt.args))
            active = any(is_active(env[n]) for n in sorted(free) if n in env)
            env[stmt.name] = Closure(active, definition=stmt, scope=self.unit)
        elif isinstance(stmt, gast.Assert):
            if any(isinstance(n, gast.Call) for n in syntax.walk(stmt.test)):
                self.eval(stmt.test, env)  # for what it may change
        elif isinstance(stmt, gast.Pass):
            pass
        elif isinstance(stmt, gast.Delete):
            self.delete(stmt, env)
        else:
            self.opaque(stmt, env)

    def check_leaf(self, stmt: gast.Assign, value: Type) -> None:
        """Refuse a container where one leaf of a tree was supposed."""
        if isinstance(value, (Tuple, List, Dict, Object)):
            raise self.refuse(
                stmt,
                "a function gives a container for a leaf of a tree that a loop maps "
                "again",
                "trees of one structure in all rounds of the loop",
            )

    def gives_iterator(self, node: gast.expr, env: Env) -> bool:
        """Whether the value is an iterator, which the types know by its items."""
        if isinstance(node, gast.GeneratorExp):
            return True
        if not isinstance(node, gast.Call) or not syntax.dotted(node.func):
            return False
        function = getattr(self.eval(node.func, env), "value", None)
        home = getattr(function, "__module__", "")
        return home == "itertools" or any(function is lazy for lazy in _LAZY)

    def iterator_over(self, node: gast.expr, env: Env) -> Type:
        """The type of an iterator, which shares memory with all that it reads."""
        self.facts.nodes.append(node)
        read = syntax.names_read(node)
        for name in sorted(read):
            if isinstance(function := env.get(name), Closure):
                read |= syntax.names_read(function.definition)
        held = [all_buffers(env[n]) for n in sorted(read) if n in env]
        return Unknown(False, frozenset([id(node)]).union(*held))

    def swap(self, stmt: gast.Assign, pairs: list[tuple[str, str]], env: Env) -> None:
        """`a, b = b, a` of arrays: each name keeps its buffer, the contents move."""
        before = {name: env[name] for name, _ in pairs}
        for new, old in pairs:
            self.wrote(stmt, before[new])
            value = replace(before[old], buffers=before[new].buffers)
            self.assign(stmt, syntax.name(new, store=True), value, env)

    def delete(self, stmt: gast.Delete, env: Env) -> None:
        """`del xs[a:b]`: the list keeps the other items."""
        for target in stmt.targets:
            if isinstance(target, gast.Subscript):
                base = self.eval(target.value, env)
                self.wrote(stmt, base)
                if is_active(base) and not isinstance(base, List):
                    raise self.refuse(
                        stmt,
                        "`del` of a part of a differentiated value",
                        "a value without the part",
                    )
                if isinstance(base, List):
                    rest = replace(base, items=None, elem=containers.element(base))
                    self.update(base, env, lambda t, rest=rest: rest)
            elif isinstance(target, gast.Name):
                env[target.id] = UNKNOWN

    def opaque(self, stmt: gast.stmt, env: Env) -> None:
        """A statement that was left as written: it touches nothing active."""
        active = {n for n in syntax.names_read(stmt) if is_active(env.get(n, UNKNOWN))}
        if active:
            raise Missed(self.unit, active)
        for n in syntax.names_written(stmt):
            env[n] = UNKNOWN

    def assign(self, stmt: gast.stmt, target: Any, value: Type, env: Env) -> None:
        """Bind a target."""
        if isinstance(target, gast.Name):
            counts = varies() is Varies.DERIVATIVES and target.id in self.unit.counts
            if counts and type(value) is Unknown:
                value = count_type(self.unit.counts[target.id])
            if is_active(value):
                self.require(target.id)
                if target.id in self.global_names():
                    raise self.refuse(
                        stmt,
                        f"a differentiated value is kept in the global `{target.id}`",
                        "return the value",
                    )
            if self.settled:
                value = self.counted(stmt, target.id, value, env)
            env[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            if any(isinstance(e, gast.Starred) for e in target.elts):
                shown = self.items_around_star(stmt, target, value)
                if shown is not None:
                    for element, item in zip(target.elts, shown, strict=True):
                        element = getattr(element, "value", element)
                        self.assign(stmt, element, item, env)
                    return
                for element in target.elts:
                    element = getattr(element, "value", element)
                    rest = Unknown(is_active(value), all_buffers(value))
                    self.assign(stmt, element, rest, env)
                return
            items = self.items(value, len(target.elts))
            for element, item in zip(target.elts, items, strict=True):
                self.assign(stmt, element, item, env)
        elif isinstance(target, gast.Subscript):
            base = self.there(self.eval(target.value, env), target.value, env)
            self.store(stmt, target, base, value, env)
        elif isinstance(target, gast.Attribute):
            base = self.eval(target.value, env)
            self.store_attribute(stmt, target, base, value, env)

    def items_around_star(
        self, stmt: gast.stmt, target: Any, value: Type
    ) -> list[Type] | None:
        """The types in `a, *rest, b = value` of a tuple or list with known items."""
        items = value.items if isinstance(value, (Tuple, List)) else None
        left = len(target.elts) - 1
        if items is None or is_iterator(value) or len(items) < left:
            return None
        star = [isinstance(e, gast.Starred) for e in target.elts].index(True)
        end = len(items) - (left - star)
        rest = items[star:end]
        self.facts.nodes.append(stmt)
        held = List(any(map(is_active, rest)), frozenset([id(stmt)]), rest)
        return [*items[:star], held, *items[end:]]

    def global_names(self) -> set[str]:
        """The names that the unit at hand declares as global."""
        key = id(self.unit.node)
        if key not in self.declared:
            self.declared[key] = {
                name
                for node in syntax.all_statements(self.unit.node.body)
                if isinstance(node, gast.Global)
                for name in node.names
            }
        return self.declared[key]

    def counted(self, stmt: gast.AST, name: str, value: Type, env: Env) -> Type:
        """The value with sizes that are called after this place, if not known."""
        if id(stmt) in self.counting:
            value = uncounted(value, {id(stmt)})
            forget(env, {id(stmt)})
        new = counted(value, stmt, name)
        if new is not value or self.masks().get(name) == id(stmt):
            self.facts.nodes.append(stmt)
            self.counting.add(id(stmt))
        return new

    def meet(self, place: gast.AST, env: Env | None) -> Env | None:
        """The names where paths meet: sizes that differ are called after this place."""
        if env is None or not self.settled:
            return env
        env = dict(env)
        if id(place) in self.counting:
            forget(env, {id(place)})
        return self.named_here(place, env)

    def again(self, head: gast.AST, state: Env, after: Env | None) -> Env:
        """The names at the head of a loop, before it or after an iteration of it."""
        if after is not None and id(head) in self.counting:
            after = dict(after)
            forget(after, {id(head)}, but_own=True)
        new = join_envs([state, after]) or state
        return self.named_here(head, new) if self.settled else new

    def named_here(self, place: gast.AST, env: Env) -> Env:
        for name, t in env.items():
            new = counted(t, place, name) if type(t) is Array else t
            if new is not t:
                env[name] = new
                self.facts.nodes.append(place)
                self.counting.add(id(place))
        return env

    def store(
        self, stmt: gast.stmt, target: gast.Subscript, base: Type, value: Type, env: Env
    ) -> None:
        """`base[index] = value`: every alias of the buffer sees it."""
        self.wrote(stmt, base)
        self.keep_global(stmt, base, value)
        if isinstance(stmt, gast.Assign) and stmt.targets[0] is target:
            value = self.stored_array(stmt.value, base, value)
        if isinstance(base, (Other, Const)) and is_active(value):
            raise self.refuse(
                stmt,
                f"a differentiated value is stored in a "
                f"{getattr(getattr(base, 'cls', None), '__name__', 'constant object')}",
                "a list, a dict or an array made in the function",
            )
        if is_object_dtype(base) and is_active(value):
            raise self.refuse_objects(stmt)
        if isinstance(base, Unknown) and is_active(value) and self.settled:
            for name, t in env.items():
                shared = t.buffers & base.buffers
                if shared and isinstance(t, (Object, Other, List, Dict)):
                    raise self.refuse(
                        stmt,
                        f"a differentiated value is put into `{name}` by another way",
                        f"an assignment to `{name}` itself",
                    )
        if isinstance(base, Object) and (is_active(base) or is_active(value)):
            method = own_method(base.cls, "__setitem__")
            if method is None or self.settled:
                raise self.refuse(
                    stmt,
                    f"`{syntax.text(target)} = ...` calls `__setitem__` of a class",
                    "a method with a name, or the dict or list that the object keeps",
                )
            key = self.eval(target.slice, env)
            self.call_function(method, [base, key, value], {}, stmt)
            self.facts.unseen = True  # `settle` writes the call
            return
        if isinstance(base, (List, Dict)):
            key = self.eval(target.slice, env)
            if isinstance(base, Dict):
                self.check_key(stmt, key)
            self.update(base, env, lambda t: containers.store_item(t, key, value))
        elif is_active(value) and is_differentiable(base):
            opaque = ageless_buffers(base.buffers) <= self.facts.opaque
            hidden = isinstance(base, Unknown) and not base.active and opaque
            if hidden and self.settled:
                raise self.refuse(
                    stmt,
                    f"what `{syntax.text(target.value)}` is, is not known here, and a "
                    "differentiated value is put into it",
                    "an array, a list or a dict made in the function",
                )
            if not getattr(stmt, "dtype_is_checked", False):
                self.check_cut_off(base, stmt)
            self.update(base, env, lambda t: with_active(t, True))

    def store_attribute(
        self, stmt: gast.stmt, target: gast.Attribute, base: Type, value: Type, env: Env
    ) -> None:
        self.wrote(stmt, base)
        if isinstance(base, (Const, Unknown, Other)):
            self.facts.set_attributes.add(target.attr)
        if isinstance(base, (Array, Scalar)) and is_active(base):
            self.check_attribute(base, target.attr, target)
        if isinstance(base, Array) and (is_active(base) or is_active(value)):
            shown = syntax.text(target)
            raise error_at(
                UnsupportedError,
                self.unit.source,
                stmt,
                f"`{shown} = ...` changes a differentiated array through an attribute",
                "a new array: `real + 1j * imag`, `x.reshape(shape)`",
            )
        if isinstance(base, Object):
            setter = inspect.getattr_static(base.cls, target.attr, None)
            if isinstance(setter, property) and (is_active(base) or is_active(value)):
                if setter.fset is None or self.settled:
                    raise self.refuse(
                        stmt,
                        f"`{syntax.text(target)} = ...` calls the setter of a property",
                        "a method that sets the attribute",
                    )
                self.facts.unseen = True  # `settle` writes the call
                return

            self.check_setting(stmt, base, target.attr, value)

            def change(t: Type) -> Type:
                if not isinstance(t, Object):
                    return t
                items = dict(t.items)
                items[target.attr] = value
                return replace(t, items=tuple(items.items()))

            self.update(base, env, change)
        elif is_active(value):
            missed = syntax.names_read(target.value) - self.unit.varying
            if missed:
                raise Missed(self.unit, missed)
            if self.unit.source.sets(target):
                raise self.refuse(
                    stmt,
                    "a variable from around the function is set to a differentiated "
                    "value (`global`, `nonlocal`)",
                    "the value in the result of the function",
                )
            if self.settled:
                raise self.refuse(
                    stmt,
                    f"what object `{syntax.text(target.value)}` is, is not known here, "
                    "and it gets a differentiated value",
                    "an object made in the function, or example arguments",
                )
            # It shows once the calls that made the object are inlined.
            self.facts.unseen = True
            self.update(base, env, lambda t: with_active(t, True))

    def check_setting(
        self, stmt: gast.stmt, base: Object, name: str, value: Type
    ) -> None:
        """An attribute holds what it is set to, unless the class says otherwise."""
        cls: Any = base.cls
        static = inspect.getattr_static(cls, name, None)
        slot = isinstance(static, pytypes.MemberDescriptorType)
        watched = hasattr(type(static), "__set__") and not slot
        frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
        own = own_method(cls, "__setattr__") is not None and not frozen
        if is_active(value) and (watched or own):
            raise self.refuse(
                stmt,
                f"a {cls.__name__} sets attributes by "
                f"{'a descriptor' if watched else '`__setattr__`'}",
                "a method that sets a plain attribute",
            )

    def augmented(self, stmt: gast.AugAssign, env: Env) -> None:
        value = self.there(self.eval(stmt.value, env), stmt.value, env)
        target = stmt.target
        function = OPERATORS[type(stmt.op)]
        if isinstance(target, gast.Name):
            old = self.there(self.eval(syntax.name(target.id), env), target, env)
            if self.update_of_class(stmt, old, value, env):
                return
            extends = isinstance(old, List) and isinstance(stmt.op, gast.Add)
            if not extends:
                types = [old, value]
                nodes = [stmt.target, stmt.value]
                old, value = self.operands(function, types, nodes, stmt)
            if isinstance(old, Array) and id(target) in self.facts.lists:
                new = self.apply(lookup(function), function, [old, value], {}, stmt)
                self.assign(stmt, target, new, env)
            elif isinstance(old, Array):
                self.wrote(stmt, old)
                if is_active(value) and is_differentiable(old):
                    self.update(old, env, lambda t: with_active(t, True))
            elif isinstance(old, List) and old.cls is list:
                self.wrote(stmt, old)
                extended = containers.extend(old, value)
                self.update(old, env, lambda t: extended)
            else:
                method = in_place_method(stmt.op, old)
                if isinstance(method, pytypes.FunctionType):
                    self.wrote(stmt, old)
                    new = self.call_function(method, [old, value], {}, stmt)
                else:
                    new = self.apply(lookup(function), function, [old, value], {}, stmt)
                self.assign(stmt, target, new, env)
            return
        base = self.there(self.eval(target.value, env), target.value, env)
        self.check_meanwhile(stmt, base)
        if isinstance(target, gast.Attribute):
            held = self.attribute(base, target.attr, target)
            types = [held, value]
            held, value = self.operands(function, types, [target, stmt.value], stmt)
            if isinstance(held, Array):
                self.wrote(stmt, held)
                if is_active(value) and is_differentiable(held):
                    self.update(held, env, lambda t: with_active(t, True))
                return
            new = self.apply(lookup(function), function, [held, value], {}, stmt)
            self.store_attribute(stmt, target, base, new, env)
            return
        item = self.subscript(base, self.eval(target.slice, env), target.slice)
        item = self.with_cuts(item, base, target.slice, env)
        types = [item, value]
        item, value = self.operands(function, types, [target, stmt.value], stmt)
        new = self.apply(lookup(function), function, [item, value], {}, stmt)
        self.store(stmt, target, base, new, env)

    def check_meanwhile(self, stmt: gast.AugAssign, base: Type) -> None:
        """`v[0] += update(v)` reads the item before what is added is computed."""
        for node in syntax.walk(getattr(stmt, "meanwhile", [])):
            written = self.facts.writes.get(id(node), NONE)
            if id(node) in self.acting or not ageless_buffers(written).isdisjoint(
                ageless_buffers(base.buffers)
            ):
                self.take_out(stmt)
                return

    def update_of_class(
        self, stmt: gast.AugAssign, old: Type, value: Type, env: Env
    ) -> bool:
        """`obj += v` of a class with `__add__` of its own, without `__iadd__`."""
        if not is_active(old) and not is_active(value):
            return False
        function = OPERATORS[type(stmt.op)]
        plain = function.__name__.strip("_")
        cls = own_class(old)
        if isinstance(in_place_method(stmt.op, old), pytypes.FunctionType):
            return False
        if cls is not None and hasattr(cls, f"__i{plain}__"):
            raise self.refuse(
                stmt,
                f"what `__i{plain}__` of a {cls.__name__} does is not known",
                "a method with a name",
            )
        method = self.operator_method(function, old, value)
        if method is None:
            if cls is not None or own_class(value) is not None:
                self.check_foreign(None, function, [old, value], stmt)
            return False
        other = value if method.owner is old else old
        new = self.call_function(method.function, [method.owner, other], {}, stmt)
        self.facts.unseen = True  # `settle` makes it an assignment
        self.assign(stmt, stmt.target, new, env)
        return True

    def branch(self, stmt: gast.If, env: Env) -> Env | None:
        self.look_inside(stmt)
        test = self.eval(stmt.test, env)
        self.forget_hidden(env)
        self.note(stmt, env, env)
        outcome = truth(test)
        asked = self.asks_class(stmt, env) if outcome is None else None
        if asked in self.classes:
            outcome, asked = True, None
        self.note_outcome(stmt, outcome)
        ends = []
        if outcome is not False:
            outer = self.classes
            self.classes = outer if asked is None else outer | {asked}
            try:
                ends.append(self.block(stmt.body, where(stmt.test, env, True)))
            finally:
                self.classes = outer
        if outcome is not True:
            ends.append(self.block(stmt.orelse, where(stmt.test, env, False)))
        return self.meet(stmt, join_envs(ends))

    def asks_class(self, stmt: gast.If, env: Env) -> tuple | None:
        """What `if isinstance(name, C):` tells of all of its body; None for others.

        The name, and the call it is of: a callee may have variables of that name.
        """
        test = stmt.test
        if not isinstance(test, gast.Call) or len(test.args) != 2 or test.keywords:
            return None
        value, cls = test.args
        if not isinstance(value, gast.Name) or not isinstance(cls, gast.Name):
            return None
        if value.id in syntax.names_written(stmt.body):
            return None
        function, wanted = self.eval(test.func, env), self.eval(cls, env)
        known = isinstance(function, Const) and function.value is isinstance
        if not known or not isinstance(wanted, Const):
            return None
        return len(self.stack), id(self.unit), value.id, id(wanted.value)

    def loop(self, stmt: gast.For | gast.While, env: Env) -> Env | None:
        """A loop, which in another one starts with the same types again and again."""
        run = self.for_loop if isinstance(stmt, gast.For) else self.while_loop
        if self.tentative or not self.remembers:
            return run(stmt, env)
        around = tuple(id(function) for function, _ in self.stack)
        recording = self.recording  # what is recorded twice is recorded once
        place = id(stmt), id(self.unit), around, self.executed, self.classes, recording
        key = (place, tuple(env.items()))
        if key in self.loops:
            _, end, filled = self.loops[key]
            self.filled |= filled
            for watch in REMEMBERED:
                watch(self, lambda: run(stmt, dict(env)), end)
            return None if end is None else dict(end)
        before = self.progress()
        filled, self.filled = self.filled, NONE
        end = run(stmt, env)
        if self.progress() == before and self.refusal is None:
            kept = None if end is None else dict(end)
            self.loops[key] = (stmt, self.unit), kept, self.filled
        self.filled |= filled
        return end

    def progress(self) -> tuple:
        """What a loop that is executed again might find otherwise than before."""
        return *self.learned(), len(self.provisional), self.hidden

    def for_loop(self, stmt: gast.For, env: Env) -> Env | None:
        self.look_inside(stmt)
        over = self.eval(stmt.iter, env)
        self.forget_hidden(env)
        items = self.iteration(over)
        self.note_trips(stmt, items)
        self.breaks.append([])
        executed = self.executed
        try:
            end = self.through(stmt, env, over, items)
            left = self.breaks[-1]
        finally:
            self.breaks.pop()
            self.executed = executed
        return self.behind(stmt, end, left)

    def through(
        self, stmt: gast.For, env: Env, over: Type, items: list[Type] | None
    ) -> Env | None:
        """Iterate until there are no more items."""
        if items is not None and self.takes_each(over, items):
            end: Env | None = env
            self.executed *= len(items)
            names = syntax.names_written(stmt.target)
            alike = not names & syntax.all_names(stmt.body)
            left = list(items)
            while left and end is not None:
                start, end = end, self.iterate(stmt, left.pop(0), end)
                if alike and end is not None and _same(start, end, names):
                    left, alike = left[-1:], False  # each would find the same
            if not items:
                self.note(stmt, env, env)
            return end
        item = self.element(over)
        if isinstance(item, Unknown) and item.active and self.visits_keys(stmt, env):
            item = replace(item, active=False)  # a key, or a whole number

        def once(state: Env) -> Env | None:
            return self.iterate(stmt, item, state)

        return self.fixed_point(once, env, stmt.iter)

    def behind(
        self, stmt: gast.For | gast.While, end: Env | None, left: list[Env]
    ) -> Env | None:
        """Where a loop is over: at its end, with an `else`, or where it was left."""
        if stmt.orelse:
            end = self.block(stmt.orelse, end)
        return self.meet(stmt, join_envs([end, *left]))

    def note_trips(self, stmt: gast.For, items: list[Type] | None) -> None:
        """Whether the body runs, where that is known: there may be nothing to visit."""
        if self.recording:
            outcome = None if items is None else bool(items)
            self.facts.tests.setdefault(id(stmt), set()).add(outcome)
            self.facts.nodes.append(stmt)

    def visits_keys(self, stmt: gast.For, env: Env) -> bool:
        """Whether what the loop visits surely indexes what it runs over."""
        made = stmt.iter.func if isinstance(stmt.iter, gast.Call) else None
        if made is not None and self.eval(made, env) != Const(value=list):
            return False
        return keys_of(stmt) is not None

    def takes_each(self, over: Type, items: list[Type]) -> bool:
        """Whether the loop body is executed item by item.

        Of counting loops in each other only the outer ones are: their cost would grow
        as the product of the lengths, and what an index tells is little.
        """
        if isinstance(over, Range) and self.executed > 1:
            return self.executed * len(items) <= UNROLLED
        return len(items) <= UNROLLED

    def iterate(self, stmt: gast.For, item: Type, env: Env) -> Env | None:
        env = self.made_before(stmt, env)
        before = dict(env)
        self.assign(stmt, stmt.target, item, env)
        self.note(stmt, before, env)
        return self.block(stmt.body, env)

    def while_loop(self, stmt: gast.While, env: Env) -> Env | None:
        self.look_inside(stmt)
        self.breaks.append([])
        forever = isinstance(stmt.test, gast.Constant) and stmt.test.value

        def once(state: Env) -> Env | None:
            state = self.made_before(stmt, state)
            self.eval(stmt.test, state)
            self.forget_hidden(state)
            self.note(stmt, state, state)
            return self.block(stmt.body, state)

        try:
            end = self.fixed_point(once, env, stmt.test)
            left = self.breaks[-1]
        finally:
            self.breaks.pop()
        return self.behind(stmt, None if forever else end, left)

    def fixed_point(self, once: Any, env: Env, head: gast.AST) -> Env | None:
        """Iterate a loop body until the types at its `head` no longer change.

        Returns these; those where it is left by `break` are the last of `breaks`.
        """
        recording = self.recording
        self.recording = recording and self.records_attempts
        start = state = self.meet(head, dict(env)) or {}
        place = id(head), id(self.unit), self.classes
        known = self.ends.setdefault(place, [])
        for _, earlier, end in reversed(known):
            if covers(start, earlier):  # go on where it ended
                state = self.again(head, start, end)
                break
        for attempt in range(12):
            self.breaks[-1].clear()
            after = once(state)
            new = self.again(head, state, after)
            if attempt > 6:
                for key in new:
                    if new[key] != state.get(key):
                        new[key] = Unknown(is_active(new[key]), all_buffers(new[key]))
            if new == state:
                break
            state = new
        known.append(((head, self.unit), start, dict(state)))
        del known[:-KEPT]
        if recording and not self.records_attempts:
            self.recording = True
            self.breaks[-1].clear()
            once(state)
        return state


def _same(start: Env, end: Env, but: set[str]) -> bool:
    """Whether the names have the same types in both, those of `but` aside."""
    return all(start.get(name) == t for name, t in end.items() if name not in but)


def not_implemented(stmt: gast.Raise) -> str | None:
    """The text of `raise NotImplementedError("text")`."""
    error = stmt.exc
    if (
        isinstance(error, gast.Call)
        and syntax.is_name(error.func, "NotImplementedError")
        and len(error.args) == 1
        and isinstance(error.args[0], gast.Constant)
    ):
        return str(error.args[0].value)
    return None


def join_envs(envs: Sequence[Env | None]) -> Env | None:
    """What is known where several paths meet."""
    reached = [e for e in envs if e is not None]
    if not reached:
        return None
    result = dict(reached[0])
    known_as = result.get
    for env in reached[1:]:
        for name, t in env.items():
            known = known_as(name)
            if known is not t:  # as in most, which no path has changed
                result[name] = t if known is None else join(known, t)
    return result
