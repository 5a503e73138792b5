"""What inference finds in the functions that a transform wrote.

A written function is a unit as the user's are: inference executes it on types, and
finds the types of adjoints and tangents, which memory names may share, what statements
write to, and what calls call. Nothing is differentiated any more: no type is active.

    def jvp_f(x, x_dot):                  x: float64[3], x_dot: float64[3]
        v = x[1:]                         v: float64[2], in the memory of x
        v_dot = x_dot[1:]                 v_dot: float64[2], in the memory of x_dot
        return g_jvp(v, v_dot)            g_jvp: what was written for it, executed too

The backward function of a pair reads names that the forward function binds, before it
is known which (`finish.link_saved`): the two are executed as if they were linked.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import Env, bind_types
from srcjax.analysis.effects import Unreachable
from srcjax.analysis.flow.bindings import ordered_names, read_from_around
from srcjax.analysis.flow.liveness import LastReads
from srcjax.analysis.guards import Whole, is_data
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.program import Program
from srcjax.analysis.references import resolved
from srcjax.analysis.sizes import Sym
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Const,
    Dim,
    List,
    Range,
    Scalar,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    join_all,
    map_parts,
    mapping,
    parts,
    returned_by,
    with_active,
    without_buffers,
)
from srcjax.analysis.types import replace as replace_in
from srcjax.errors import SrcjaxError
from srcjax.frontend.check import violations
from srcjax.frontend.unit import Unit
from srcjax.ops.helpers import helper_of
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.callees import Callees
from srcjax.transforms.simplify.owned import starts_of
from srcjax.transforms.written import Written, value_of

#: The memory of what nothing is known of.
ANYWHERE: Buffers = frozenset(["?"])
#: Held by what is a view that cannot be written to.
READ_ONLY: Buffers = frozenset(["read-only"])


class Generated:
    """A written function as a value: what its name stands for in the others."""

    def __init__(self, written: Written) -> None:
        self.written = written
        node, names = written.node, written.unit.names
        known = written.unit.source.defaults
        defaults = {n: known[n] for n in with_default(node.args) if n in known}
        source: Any = replace(written.unit.source, func=self, defaults=defaults)
        users = syntax.all_names(written.unit.node) - written.unit.varying
        varying = syntax.all_names(node) - users
        self.unit = Unit(source, node.name, node, names, varying)
        self.unit.extra = written.unit.extra
        self.unit.from_around = written.unit.from_around
        self.unit.whole = written.unit.whole
        #: Names that the forward function of a pair that is not linked saves.
        self.saves: list[str] = []
        #: The names that its backward function gets in this way.
        self.given: list[str] = []


def with_default(arguments: gast.arguments) -> list[str]:
    """The parameters that a call may leave out."""
    plain = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = [a.id for a, default in pairs if default is not None]
    return plain[len(plain) - len(arguments.defaults) :] + named


class WrittenProgram(Program):
    """The functions that a transform wrote for a program, and their facts."""

    #: What executed them.
    interpreter: WrittenInterpreter

    def __init__(
        self,
        program: Program,
        callees: Callees,
        values: dict[str, Any] | None,
        linked: bool,
    ) -> None:
        super().__init__()
        self.values = values
        #: Whether forward functions return already what backward functions read.
        self.linked = linked
        self.of = program
        self.callees = callees
        self.typing_units = program.typing_units
        self.axis_name = program.axis_name
        #: Statements that give adjoints what they are added to: memory of their own, as
        #: `own_written` sees to in the end.
        self.starts: set[int] = set()
        self.functions: dict[str, Generated] = {}
        self.by_unit: dict[int, Generated] = {}
        self.known: dict[tuple[int, str], Any] = {}

    def add_group(self, group: Sequence[Written]) -> None:
        """Take in a function, or a pair whose functions are not linked yet."""
        made = []
        for written in group:
            generated = Generated(written)
            if not (self.linked or written.forward):
                found = starts_of(written.node, written.rules.types)
                self.starts |= set(map(id, found))
            self.functions[written.node.name] = generated
            self.by_unit[id(generated.unit)] = generated
            self.units[id(generated)] = generated.unit
            made.append(generated)
        if len(made) == 2 and not self.linked:
            names = saved_names(*(g.written.node for g in made))
            made[0].saves = made[1].given = names

    def resolve(self, unit: Unit, name: str) -> Any:
        """What a free name of a written function stands for. Raises KeyError."""
        value = self.look(unit, name)
        if is_data(value) and id(unit) in self.by_unit:
            self.of.looked_into.append(value)
        return value if id(unit) in self.by_unit else super().resolve(unit, name)

    def look(self, unit: Unit, name: str) -> Any:
        """The same for a caller that only goes by its type, where it is data."""
        generated = self.by_unit.get(id(unit))
        if generated is None:
            return super().look(unit, name)
        key = id(unit), name
        if key not in self.known:
            self.known[key] = self.value(generated.written, name)
        found: Any = self.known[key][0]
        return found

    def is_whole(self, unit: Unit, name: str) -> bool:
        """Whether the function that it was written of goes by the value."""
        if id(unit) not in self.by_unit:
            return False
        if name in unit.extra:
            return super().is_whole(unit, name)
        value = self.look(unit, name)
        guards = [g for g in self.of.guards.values() if g.key == name]
        return bool(guards) and all(
            isinstance(g, Whole) and g.value is value for g in guards
        )

    def value(self, written: Written, name: str) -> tuple[Any]:
        if name in self.functions:
            return (self.functions[name],)
        if self.values is not None and name in self.values:
            return (self.values[name],)
        if name in self.callees.values:
            return (resolved(self.callees.values[name]),)
        found = value_of(written, self.of, name)
        if found is None:
            raise KeyError(name)
        return found


#: Types of numbers, arrays and tuples: nothing is put into them. What a tuple holds has
#: other names where it is still read.
_SINGLE = frozenset([Array, Scalar, Const, Tuple])


class WrittenInterpreter(Interpreter):
    """Abstract execution of written functions."""

    program: WrittenProgram
    records_attempts = True

    def __init__(self, program: WrittenProgram) -> None:
        super().__init__(program)
        #: What helpers give for arguments of these types.
        self.of_helpers: dict[tuple, Type] = {}
        #: The calls of written functions, whose writes are their own.
        self.calls_of_written: list[Any] = []
        #: The memory that parameters of a unit hold when it is called.
        self.given: dict[int, Buffers] = {}
        #: What statements of a unit write to; taking an item off a list does not count.
        self.changed: dict[int, Buffers] = {}
        #: The list that an item is just taken off.
        self.taken_from: Type | None = None
        #: The units that were executed to their end.
        self.ended: set[int] = set()
        #: Where names of a unit are read for the last time.
        self.reads: dict[int, LastReads] = {}

    def body_of(self, unit: Unit, env: Env) -> Type:
        generated = self.program.by_unit.get(id(unit))
        if generated is not None and generated.given:
            saved = env[unit.node.args.args[0].id]
            items = self.items(saved, len(generated.given))
            env |= dict(zip(generated.given, items, strict=True))
        if id(unit) not in self.reads:
            saves = () if generated is None else generated.saves
            read = frozenset(
                [*saves, *unit.parameters]
            )  # a caller sees what is in them
            self.reads[id(unit)] = LastReads(unit.node.body, read)
        if self.recording:
            held = NONE.union(*map(all_buffers, env.values()))
            self.given[id(unit)] = self.given.get(id(unit), NONE) | held
            for name, t in env.items():  # where nothing reads them, too
                self.facts.note_change(unit.node, name, t)
        return super().body_of(unit, env)

    def block(self, stmts: list[gast.stmt], env: Env | None) -> Env | None:
        """Execute statements on what they and later ones read.

        What is written has a name for each value: most are read once, and what is
        written to is looked for in all that is there. Of a container another name may
        ask later what was put into it: it stays.
        """
        if stmts and env is not None:
            live = self.reads[id(self.unit)].before[id(stmts[0])]
            ended = [n for n, t in env.items() if type(t) in _SINGLE and n not in live]
            for name in ended:
                del env[name]
        return super().block(stmts, env)

    def statement(self, stmt: gast.stmt, env: Env) -> Env | None:
        end = super().statement(stmt, env)
        if end is not None:
            for name in self.reads[id(self.unit)].ended(stmt):
                if type(end.get(name)) in _SINGLE:
                    del end[name]
        return end

    def finish(
        self, result: Type, op: Op, active: bool, operands: list[Type], node: Any
    ) -> Type:
        """An array that is spread out cannot be written to."""
        found = super().finish(result, op, active, operands, node)
        if op.alias == "read-only" and isinstance(found, (Array, Unknown)):
            return replace_in(found, buffers=found.buffers | READ_ONLY)
        return found

    def method(
        self,
        base: Type,
        name: str,
        args: list[Type],
        kwargs: dict[str, Type],
        node: gast.Call,
        env: Env,
    ) -> Type | None:
        self.taken_from = base if name == "pop" and isinstance(base, List) else None
        found = super().method(base, name, args, kwargs, node, env)
        self.taken_from = None
        return found

    def wrote(self, stmt: gast.AST, base: Type) -> None:
        super().wrote(stmt, base)
        called = stmt in self.calls_of_written
        if self.recording and not called and base is not self.taken_from:
            key = id(self.unit)
            self.changed[key] = self.changed.get(key, NONE) | base.buffers

    def type_of(self, unit: Unit, value: gast.expr, env: Env) -> Type:
        """The type of an expression at a place of a unit that was executed."""
        outer, self.unit = self.unit, unit
        recording, self.recording = self.recording, False
        try:
            return self.eval(value, dict(env))
        except (Unreachable, SrcjaxError):
            return Unknown(buffers=ANYWHERE)
        finally:
            self.unit, self.recording = outer, recording

    def returned(self, last: gast.Return, end: Env) -> Type:
        found = super().returned(last, end)
        self.ended.add(id(self.unit))
        self.forget_hidden(end)
        generated = self.program.by_unit.get(id(self.unit))
        if generated is not None and generated.saves:
            saved = tuple(end.get(n, Const(value=None)) for n in generated.saves)
            return Tuple(items=(found, Tuple(items=saved)))
        return found

    def call(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        value = getattr(function, "value", None)
        if isinstance(value, Generated):
            return self.call_generated(value, args, kwargs, node)
        return super().call(function, args, kwargs, node, env)

    def assign(self, stmt: gast.stmt, target: Any, value: Type, env: Env) -> None:
        if id(stmt) in self.program.starts:
            value = in_memory(value, frozenset([id(stmt)]))
        super().assign(stmt, target, value, env)

    def swap(self, stmt: gast.Assign, pairs: list[tuple[str, str]], env: Env) -> None:
        """`a, b = b, a`: each name gets the other's memory, as a view of it shows."""
        before = {old: env.get(old, Unknown()) for _, old in pairs}
        for new, old in pairs:
            self.assign(stmt, syntax.name(new, store=True), before[old], env)

    def update(self, base: Type, env: Env, change: Any) -> list[str]:
        """Remember what names that no statement mentions became as well."""
        changed = super().update(base, env, change)
        self.note_changes(changed, env)
        return changed

    def forget_hidden(self, env: Env) -> list[str]:
        changed = super().forget_hidden(env)
        self.note_changes(changed, env)
        return changed

    def store(
        self, stmt: gast.stmt, target: gast.Subscript, base: Type, value: Type, env: Env
    ) -> None:
        """What is not known may be a list, which holds what is put into it."""
        super().store(stmt, target, base, value, env)
        held = all_buffers(value)
        if isinstance(base, Unknown) and held - base.buffers:
            self.update(base, env, lambda t: replace_in(t, buffers=t.buffers | held))

    def note_changes(self, names: list[str], env: Env) -> None:
        if self.recording:
            for name in names:
                self.facts.note_change(self.unit.node, name, env[name])

    def takes_each(self, over: Type, items: list[Type]) -> bool:
        """Loops are executed item by item where the items differ, as layers do."""
        alike = isinstance(over, Range) or len(set(items)) == 1
        return len(items) < 3 or (not alike and super().takes_each(over, items))

    def call_function(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A function that stays as it is; each call of it makes memory of its own."""
        helper = helper_of(function)
        given = [*args, *kwargs.values()]
        memory = NONE.union(*map(all_buffers, given))
        if helper is None or kwargs or node is None:
            found = super().call_function(function, args, kwargs, node)
            return found if node is None else returned_by(found, id(node), memory)
        self.facts.nodes.append(node)
        plain = tuple(map(without_buffers, args))
        key = (function, plain)
        if key not in self.of_helpers:
            try:
                self.of_helpers[key] = super().call_function(
                    function, list(plain), {}, None
                )
            except Unreachable:
                self.of_helpers[key] = Unknown()
        held = dict(zip(helper.parameters, args, strict=False))
        written = [held[n] for n in helper.writes if n in held]
        self.wrote_parts(NONE.union(*map(all_buffers, written)), node)
        shared = [held.get(n) or Unknown(buffers=memory) for n in helper.shares]
        return in_memory(
            self.of_helpers[key],
            NONE.union([id(node)], *map(all_buffers, shared)),
        )

    def call_generated(
        self, callee: Generated, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        """A call of another written function, executed in its own unit."""
        self.callee(node, callee)
        arguments = bind_types(callee.unit, args, kwargs)
        result = self.call_unit(callee.unit, arguments)
        given = [*args, *kwargs.values()]
        written = self.written_in(callee.unit, given)
        self.hidden |= written
        self.calls_of_written.append(node)
        self.wrote_in(callee.unit, given, node, seen=True)
        self.calls_of_written.pop()
        self.facts.nodes.append(node)
        return self.handed_back(result, given, written, node)

    def nested(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type | None:
        """What a transform makes when the program runs may be, and do, anything."""
        value = getattr(function, "value", None)
        marks = ("__srcjax_maker__", "__srcjax_nested__", "__srcjax_transform__")
        if value is None or not any(hasattr(value, mark) for mark in marks):
            return None
        self.callee(node, value)
        found = self.opaque_call(None, [*args, *kwargs.values()], node)
        return found


def saved_names(forward: gast.FunctionDef, backward: gast.FunctionDef) -> list[str]:
    """The names of the forward function that the backward function reads."""
    reads = read_from_around(backward)
    return [n for n in ordered_names(forward) if n in reads]


def infer_written(
    program: Program,
    callees: Callees,
    groups: Sequence[Sequence[Written]],
    arguments: Env,
    values: dict[str, Any] | None = None,
    linked: bool = False,
) -> WrittenProgram:
    """Execute what was written, from the entry (the last group) on.

    `arguments` are the types of the parameters of the entry; they need not be all.
    `values` are given if the functions are done: what their free names stand for.
    `linked`: forward functions return what backward functions read (if done, they do).
    """
    found = WrittenProgram(program, callees, values, linked or values is not None)
    for group in groups:
        found.add_group(group)
    entry = [found.functions[w.node.name].unit for w in groups[-1]]
    with mapping(False):
        interpreter = found.interpreter = WrittenInterpreter(found)
        result = run(interpreter, entry[0], arguments)
        if len(entry) == 2:
            value, saved = interpreter.items(result, 2)
            first, second = entry[1].parameters
            seed = given_as(value, ("param", second))
            run(interpreter, entry[1], {first: saved, second: seed})
    return found


def held_in(program: WrittenProgram, unit: Unit) -> dict[str, Buffers]:
    """The memory that the names of a function may hold a part of."""
    found: dict[str, Buffers] = {}
    facts = program.facts
    tables = [
        facts.held.get((id(stmt), after), {})
        for stmt in (unit.node, *syntax.all_statements(unit.node.body))
        for after in (False, True)
    ]
    changed = facts.changed.get(id(unit.node), {})
    tables.append({name: all_buffers(t) for name, t in changed.items()})
    for table in tables:
        for name, buffers in table.items():
            known = found.get(name)
            if known is None:
                found[name] = buffers
            elif known is not buffers and not buffers <= known:
                found[name] = known | buffers
    return {
        name: ageless_buffers(buffers) - READ_ONLY for name, buffers in found.items()
    }


def written_through(
    program: WrittenProgram, unit: Unit, held: dict[str, Buffers]
) -> dict[str, Buffers]:
    """The memory that a function writes to through each name."""
    found: dict[str, Buffers] = {}
    for stmt in syntax.all_statements(unit.node.body):
        head = syntax.head(stmt)
        names = written_bases(head)
        if not names:
            continue
        # `xs.append(v)` and `p.x = v` change no item; a new statement may.
        written = program.facts.written_by(syntax.walk(head))
        for name in names:
            mine = held.get(name, NONE)
            found[name] = found.get(name, NONE) | (mine & written or mine)
    return found


class Inference:
    """What is known of the functions of a module; inferred when it is asked for.

    Where inference fails, nothing is known: a value may be in any memory. What names
    hold is that of the text as it stood when it was executed, whoever asks later.
    """

    def __init__(
        self,
        program: Program,
        callees: Callees,
        groups: Sequence[Sequence[Written]],
        arguments: Env,
        linked: bool = False,
    ) -> None:
        self.inputs = program, callees, groups, arguments
        self.linked = linked
        #: The memory that the names of each function hold, and write to.
        self.held: dict[str, dict[str, Buffers]] = {}
        self.written: dict[str, dict[str, Buffers]] = {}

    @functools.cached_property
    def found(self) -> WrittenProgram | None:
        try:
            found = infer_written(*self.inputs, linked=self.linked)
        except Exception:
            return None
        for name, generated in found.functions.items():
            unit = generated.unit
            if id(unit) in found.interpreter.ended:
                self.held[name] = held = held_in(found, unit)
                self.written[name] = written_through(found, unit, held)
        return found

    def unit(self, written: Written) -> Unit | None:
        """The unit of a function that was executed to its end."""
        if self.found is None:
            return None
        unit = self.found.functions[written.node.name].unit
        return unit if id(unit) in self.found.interpreter.ended else None

    def memory(self, written: Written) -> dict[str, Buffers]:
        """The memory that the names of a function may hold a part of."""
        if self.unit(written) is None:
            return dict.fromkeys(syntax.all_names(written.node), ANYWHERE)
        return self.held[written.node.name]

    def changed(self, written: Written) -> dict[str, Buffers]:
        """The memory that a function writes to through each name."""
        if self.unit(written) is None:
            heads = map(syntax.head, syntax.all_statements(written.node.body))
            return dict.fromkeys(set().union(*map(written_bases, heads)), ANYWHERE)
        return self.written[written.node.name]

    def given(self, written: Written) -> Buffers:
        """The memory that is not the function's own: of its parameters, of globals."""
        unit = self.unit(written)
        if unit is None or self.found is None:
            return ANYWHERE
        held = self.found.interpreter.given.get(id(unit), NONE)
        return ageless_buffers(held) | READ_ONLY | ANYWHERE

    def type_of(self, written: Written, stmt: gast.stmt, value: gast.expr) -> Type:
        """The type of an expression in a statement, over all executions."""
        unit = self.unit(written)
        if unit is None or self.found is None:
            return Unknown(buffers=ANYWHERE)
        interpreter = self.found.interpreter
        with mapping(False):
            types = [
                interpreter.type_of(unit, value, variant.before)
                for variant in self.found.facts.of(stmt)
            ]
        return join_all(types) or Unknown(buffers=ANYWHERE)

    def memory_of(self, written: Written, stmt: gast.stmt, value: gast.expr) -> Buffers:
        """The memory that an expression in a statement may give."""
        return ageless_buffers(all_buffers(self.type_of(written, stmt, value)))

    def changes_given(self, written: Written) -> bool:
        """Whether a function writes to memory that it is given, tapes apart."""
        unit = self.unit(written)
        if unit is None or self.found is None:
            return True
        interpreter = self.found.interpreter
        changed = interpreter.changed.get(id(unit), NONE)
        given = interpreter.given.get(id(unit), NONE)
        return bool(ageless_buffers(changed) & ageless_buffers(given))


def check_written(found: WrittenProgram) -> None:
    """Raise AssertionError if a function is not in core form."""
    for generated in found.functions.values():
        wrong = violations(generated.unit, written=True)
        if wrong:
            raise AssertionError(f"as written, {generated.unit.name}: {wrong[0]}")


def run(interpreter: WrittenInterpreter, unit: Unit, arguments: Env) -> Type:
    """Execute a written function that is called from outside."""
    env = {}
    for name in unit.parameters:
        known = arguments.get(name)
        buffer = frozenset([("param", name)])
        env[name] = Unknown(buffers=buffer) if known is None else quiet(known)
    return interpreter.run(unit, env)


def quiet(t: Type) -> Type:
    """The type of a value that nothing is differentiated by.

    What the text supposes of sizes is settled by now: nothing more is noted down.
    """
    return of_any_size(with_active(t, False))


def of_any_size(t: Type) -> Type:
    """The type with sizes of which nothing can be supposed."""
    t = map_parts(t, of_any_size)
    if isinstance(t, Array) and t.shape is not None:
        return replace_in(t, shape=tuple(map(unsupposed, t.shape)))
    size = t.size if isinstance(t, Scalar) else None
    return t if size is None else replace_in(t, size=unsupposed(size))


def unsupposed(dim: Dim) -> Dim:
    """The size, which may be any: 1 too."""
    if isinstance(dim, Sym) and dim.sizes is not None:
        return Sym(dim.name, dim.offset, True)
    return dim


def given_as(t: Type, buffer: Any) -> Type:
    """The type of another value like that, which is given: in memory of its own."""
    inner = iter(range(len(parts(t))))
    t = map_parts(t, lambda part: given_as(part, (buffer, next(inner))))
    if isinstance(t, (Const, Scalar, Tuple)):
        return replace_in(t, buffers=NONE)
    return replace_in(t, buffers=frozenset([buffer]))


def in_memory(t: Type, buffers: Buffers) -> Type:
    """The type of a value all parts of which may be in that memory."""
    t = map_parts(t, lambda part: in_memory(part, buffers))
    if isinstance(t, (Const, Scalar, Tuple)):
        return t
    return replace_in(t, buffers=buffers)
