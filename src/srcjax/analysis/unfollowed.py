"""Functions that are executed abstractly, and calls that are not looked into.

A call in which nothing is differentiated stays as it is; but it may write to what it
is given, which the backward sweep has to know.
"""

from __future__ import annotations

import types as pytypes
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.applied import Applied
from srcjax.analysis.binding import Env, bind_types, signature_of
from srcjax.analysis.computing import core_form
from srcjax.analysis.counts import uncounted
from srcjax.analysis.effects import Missed, Unreachable
from srcjax.analysis.known_values import truth
from srcjax.analysis.left import Left, Outcome
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Const,
    Object,
    Other,
    Scalar,
    Type,
    Unknown,
    Varies,
    ageless_buffers,
    all_buffers,
    is_active,
    join,
    join_shapes,
    map_parts,
    parts,
    replace,
    returned_by,
    varies,
)
from srcjax.errors import SrcjaxError, UnsupportedError
from srcjax.frontend.helper_names import make_way
from srcjax.frontend.read import read
from srcjax.frontend.unit import Unit
from srcjax.ops.helpers import helper_of
from srcjax.ops.library_writes import place_of_out, written_places
from srcjax.ops.patched import is_users
from srcjax.ops.random_numbers import drawn, generator_class
from srcjax.ops.record import lookup

#: From so many calls in each other on, a function that calls itself is executed for
#: arrays of any size.
DEEP = 2
#: The core form of helpers, which is the same for all programs.
_HELPERS: dict[pytypes.FunctionType, Unit | None] = {}


class Unfollowed(Applied):
    """Executes functions of the user's, and notes what other calls may write to."""

    def call_unit(self, unit: Unit, arguments: Env) -> Type:
        """The result type of a call, by executing the callee (memoised)."""
        self.beyond += 1
        function = unit.source.func
        arguments = {k: uncounted(t) for k, t in arguments.items()}
        if any(f is function for f, _ in self.stack):
            arguments = {k: _widen(t) for k, t in arguments.items()}
            around = [dict(key[1]) for f, key in self.stack if f is function]
            # The sizes of halves of halves have no end, nor texts that change places.
            if len(around) > DEEP:
                last = around[-1]
                arguments = {
                    k: _as_in_both(t, last.get(k, t)) for k, t in arguments.items()
                }
            arguments = self.made_before(unit.node, arguments)
            if len(around) > DEEP:  # nor have all ways in which memory comes together
                arguments = {
                    k: join(t, last[k]) if k in last and hides_memory(t) else t
                    for k, t in arguments.items()
                }
        if self.recording:
            active = self.program.entry_active.setdefault(id(function), set())
            active.update(n for n, t in arguments.items() if is_active(t))
        key = (id(unit), tuple(arguments.items()), self.recording)
        if key in self.outcomes:
            if any(key == k for _, k in self.stack):
                self.provisional.append(key)
            return self.with_effects(self.outcomes[key], arguments)
        if len(self.stack) > 40:
            self.latest = Left()
            return Unknown(any(is_active(t) for t in arguments.values()))
        self.outcomes[key] = Outcome()
        self.stack.append((function, key))
        outer, self.provisional = self.provisional, []
        filled, self.filled = self.filled, NONE
        try:
            for attempt in range(8):
                before = self.outcomes[key]
                learned = self.learned()
                found = before | self.outcome_of(unit, arguments)
                if attempt == 6 and found != before:
                    found = found.blurred()
                self.outcomes[key] = found
                # Sure, if nothing rests on what was supposed of the call.
                sure = key not in self.provisional and self.learned() == learned
                if sure or found == before:
                    break
        finally:
            self.stack.pop()
            self.filled = filled
            unfinished = [k for k in self.provisional if k != key]
            self.provisional = outer + unfinished
        found = self.outcomes[key]
        if self.recording:
            self.enters(unit, arguments, found.filled)
        if found.result is None or unfinished:
            # It rests on a call further out that is not finished: not to be kept.
            del self.outcomes[key]
        return self.with_effects(found, arguments)

    def outcome_of(self, unit: Unit, arguments: Env) -> Outcome:
        """The outcome of a call, as far as it is known of the calls in it."""
        try:
            result = self.body_of(unit, dict(arguments))
        except Unreachable:
            return Outcome(None, self.filled)
        return Outcome(result, self.filled, self.latest)

    def with_effects(self, outcome: Outcome, arguments: Env) -> Type:
        """What a call gives, after it has done to its arguments what it does."""
        self.hand_over(arguments, outcome.filled)
        self.latest = outcome.left
        if outcome.result is None:
            raise Unreachable
        return outcome.result

    def hand_over(self, arguments: Env, filled: Buffers) -> None:
        """What a call was given and has filled with values that vary."""
        if not filled:
            return
        filled = ageless_buffers(filled)
        given = NONE.union(*map(all_buffers, arguments.values()))
        # A recursive call has aged what it was given.
        memory = given | ageless_buffers(given)
        self.handed |= {b for b in memory if ageless_buffers(frozenset([b])) <= filled}

    def enters(self, unit: Unit, arguments: Env, filled: Buffers) -> None:
        """What is filled with values that vary is given with what they are made of."""
        filled = ageless_buffers(filled)
        active = self.program.entry_active[id(unit.source.func)]
        for name, t in arguments.items():
            if not ageless_buffers(all_buffers(t)).isdisjoint(filled):
                active.add(name)

    def learned(self) -> tuple:
        """What was found out that another execution of the same code goes by."""
        return len(self.counting), self.told, self.must_stay

    def active_unit(self, function: Any, args: list[Type], kwargs: dict) -> Unit | None:
        """The callee's unit, normalised for the parameters that are active."""
        try:
            new = id(function) not in self.program.units and not self.tentative
            given = _active_parameters(function, args, kwargs) if new else set()
            unit = self.program.unit(function, given)
        except SrcjaxError as error:
            if isinstance(error, UnsupportedError):
                self.program.refusals[id(function)] = error.with_traceback(None)
                self.program._alive.append(function)
            return None
        arguments = bind_types(unit, args, kwargs)
        wanted = {n for n, t in arguments.items() if is_active(t)}
        if wanted <= unit.varying:
            return unit
        running = any(function is other for other, _ in self.stack)
        if running or self.tentative:
            raise Missed(unit, wanted)
        self.widened = True
        return self.program.widen(unit, wanted)

    def typing_unit(self, function: Any) -> Unit | None:
        """The callee's core form for inference alone; None if it is not readable."""
        units = self.program.typing_units
        if helper_of(function) is not None:
            if function not in _HELPERS:
                _HELPERS[function] = core_form(function)
            return _HELPERS[function]
        if id(function) not in units:
            units[id(function)] = unit = core_form(function)
            if unit is not None:
                self.program.rests_on_defaults(unit)
                self.program.sets_around(unit.source)
            self.program._alive.append(function)
        return units[id(function)]

    def only_computes(self, function: Any, asked: frozenset[int]) -> bool:
        """Whether nothing in a function's text may change what is around it.

        `asked` are the functions that it is called by, a recursion among them.
        """
        record = lookup(function) if is_hashable(function) else None
        if record is not None:
            return not record.writes
        if is_harmless(function) or id(function) in asked:
            return True
        if not isinstance(function, pytypes.FunctionType) or not is_users(function):
            return False
        unit = self.typing_unit(function)
        if unit is None or unit.source.rebound:
            return False
        body = list(syntax.walk(unit.node.body))
        own = syntax.names_written(unit.node.body) | set(unit.parameters)
        shared = set(unit.parameters)
        for node in body:
            if isinstance(node, gast.Assign) and not isinstance(node.value, _MAKE_NEW):
                shared |= syntax.names_written(node)
        return not any(
            isinstance(node, (gast.FunctionDef, gast.Delete))
            or (
                isinstance(node, (gast.Subscript, gast.Attribute))
                and not isinstance(node.ctx, gast.Load)
            )
            or (
                isinstance(node, gast.AugAssign)
                and syntax.root_of(node.target) in shared
            )
            or (
                isinstance(node, gast.Call)
                and not self.called_only_computes(unit, node, own, asked)
            )
            for node in body
        )

    def called_only_computes(
        self, unit: Unit, call: gast.Call, own: set[str], asked: frozenset[int]
    ) -> bool:
        """The same of what a call in the unit calls, by a name from around."""
        first, *rest = (syntax.dotted(call.func) or "").split(".")
        if not first or first in own:
            return False
        try:
            value = self.program.resolve(unit, first)
            for attribute in rest:
                value = getattr(value, attribute)
        except (KeyError, AttributeError):
            return False
        return self.only_computes(value, asked | {id(unit.source.func)})

    def is_of_varying(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> bool:
        """Whether a call is of what carries a derivative at other times, and followed.

        It writes to it, or it is a method of such an object, which is its attributes.
        """
        if not isinstance(node, (gast.Call, gast.Attribute)) or not self.recording:
            return False
        if varies() is Varies.RUN_TIME:
            return False
        if not syntax.names_read(node) & self.unit.varying:
            return False
        unit = self.typing_unit(function)
        if unit is None:
            return False
        if args and is_method(function, args[0]):
            return True
        recording, self.recording = self.recording, False
        results, self.facts.results = self.facts.results, {}
        try:
            with self.trying():
                self.call_unit(unit, bind_types(unit, args, kwargs))
        except (Missed, TypeError, Unreachable):
            return False
        finally:
            self.recording, self.facts.results = recording, results
        return bool(self.written_in(unit, [*args, *kwargs.values()]))

    def written_in(self, unit: Unit, given: list[Type]) -> Buffers:
        """The memory of what a function was given that it writes to."""
        if not self.facts.writes:
            return NONE
        if id(unit.node) not in self.trees:
            self.facts.nodes.append(unit.node)
            self.trees[id(unit.node)] = frozenset(map(id, syntax.walk(unit.node)))
        inside = self.trees[id(unit.node)]
        places = [b for key, b in self.facts.writes.items() if key in inside]
        written = ageless_buffers(NONE.union(*places))
        memory = NONE.union(*map(all_buffers, given))
        return frozenset(b for b in memory if ageless_buffers(frozenset([b])) & written)

    def handed_back(
        self, result: Type, given: list[Type], written: Buffers, node: Any
    ) -> Type:
        """What a call in its own unit gives, with what it left where it has written."""
        passed = NONE.union(*map(all_buffers, given))
        if written:
            left = self.latest.seen_from(id(node), passed)
            if self.attempts:  # it may have been left by an exception on the way
                left = Left({}, left.memory, written)
            self.left |= left
        return returned_by(result, id(node), passed)

    def wrote_in(
        self, unit: Unit, given: list[Type], node: Any, seen: bool = False
    ) -> None:
        """Remember what a call that is not followed writes to."""
        self.wrote_parts(self.written_in(unit, given), node, seen)

    def opaque_call(self, function: Any, given: list[Type], node: Any) -> Type:
        """A call of what is not looked into, for no differentiated value.

        It may change what it is given, and give a part of it.
        """
        memory = NONE.union(*map(all_buffers, given))
        if not is_harmless(function):
            self.wrote_parts(memory, node)
        return Unknown(False, memory)

    def note_out(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> None:
        """`out=` of a call that is left as it is, or the argument in its place."""
        given = [kwargs["out"]] if "out" in kwargs else []
        if len(args) > 1 and callable(function) and is_hashable(function):
            given += args[place_of_out(function)]
        if given:
            self.wrote_parts(NONE.union(*map(all_buffers, given)), node)

    def note_library(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> None:
        """What a function of NumPy's or SciPy's without a record writes to."""
        written = self.written_to(function, args, kwargs)
        self.wrote_parts(NONE.union(*map(all_buffers, written)), node)

    def written_to(
        self, function: Any, args: list[Type], kwargs: dict[str, Type]
    ) -> list[Type]:
        """The arguments that the function of a library may write to."""
        overwrites = any(
            name.startswith("overwrite") and truth(t) is not False
            for name, t in kwargs.items()
        )
        if overwrites:
            return [*args, *kwargs.values()]
        places = written_places(function, len(args)) if is_hashable(function) else ()
        given = [t for place, t in enumerate(args) if place in places]
        return given + [t for name, t in kwargs.items() if name in places]

    def wrote_parts(self, memory: Buffers, node: Any, seen: bool = False) -> None:
        """Remember that a call may have written anywhere in the memory.

        `seen`: what it left there is told otherwise.
        """
        if memory and isinstance(node, gast.expr):
            self.wrote(node, Unknown(False, memory))
            self.facts.unclear.add(id(node))
            hidden = ageless_buffers(memory) | memory
            self.hidden |= hidden
            self.left |= Left({}, memory, NONE if seen else hidden)

    def drawn(
        self,
        base: Type,
        name: str,
        args: list[Type],
        kwargs: dict[str, Type],
        node: gast.Call,
    ) -> Type | None:
        """What a generator of random numbers gives; None if it is none."""
        if not generator_class(base):
            return None
        found = drawn(name, args, kwargs)
        if isinstance(found, Array):
            self.facts.nodes.append(node)
            return replace(found, buffers=frozenset([id(node)]))
        if found is None and name == "shuffle":
            return self.opaque_call(None, args, node)
        return found or self.library_call(None, args, kwargs, node)

    def library_call(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A function of NumPy's or SciPy's without a record, such as `rng.normal`."""
        changed = self.written_to(function, args, kwargs)
        self.opaque_call(None, changed, node)
        self.facts.nodes.append(node)
        # A view of what it is given, for all that is known: `np.frombuffer(v)`.
        given = NONE.union(*map(all_buffers, [*args, *kwargs.values()]))
        return Unknown(False, given | {id(node)})


def _active_parameters(
    function: Any, args: list[Type], kwargs: dict[str, Type]
) -> set[str]:
    """The parameters that a call passes a differentiated value for.

    Raises TypeError as Python would.
    """
    source = make_way(read(function))
    bound = signature_of(source.node.args, source).bind(*args, **kwargs).arguments
    found = set()
    for name, value in bound.items():
        several = value.values() if isinstance(value, dict) else value
        given = several if isinstance(value, (dict, tuple)) else (value,)
        if any(map(is_active, given)):
            found.add(name)
    return found


def _widen(t: Type) -> Type:
    """A number in a recursive call: known as a number only."""
    if isinstance(t, Const) and type(t.value) in (int, float):
        return Scalar(dtype=np.dtype(type(t.value)), python=True)
    if isinstance(t, Scalar) and (t.size is not None or t.span is not None):
        return replace(t, size=None, span=None)
    return map_parts(t, _widen)


def hides_memory(t: Type) -> bool:
    """Whether it is not known what the value is, or what is in it."""
    return isinstance(t, Unknown) or any(map(hides_memory, parts(t)))


def _as_in_both(t: Type, other: Type) -> Type:
    """The type with those sizes alone that are the same in both, and texts for `jit`.

    Of a text a derivative may depend: which way is gone, what item is read.
    """
    text = isinstance(t, Const) and type(t.value) is str
    if text and t != other and varies() is Varies.RUN_TIME:
        return Other(cls=str)
    if isinstance(t, Array) and isinstance(other, Array):
        return replace(t, shape=join_shapes(t.shape, other.shape))
    inner, given = parts(t), parts(other)
    if type(t) is not type(other) or len(inner) != len(given):
        return t
    left = iter(given)
    return map_parts(t, lambda part: _as_in_both(part, next(left)))


def is_hashable(function: Any) -> bool:
    """Whether the object has a hash: those of `ctypes` look so, and have none."""
    try:
        hash(function)
    except TypeError:
        return False
    return True


#: Expressions that give what is shared with nothing.
_MAKE_NEW = (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare)


def is_harmless(function: Any) -> bool:
    """Whether a function of Python's own only looks at what it is given."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if module == "builtins":
        return name not in ("setattr", "delattr", "exec", "eval")
    if module == "random":
        return name != "shuffle"
    return module.partition(".")[0] in _LOOKING


#: Modules whose functions change nothing that they are given.
_LOOKING = frozenset(
    """
    collections contextlib copy dataclasses decimal fractions functools inspect io
    itertools json logging math numbers os pprint re statistics string sys textwrap
    time typing warnings
    """.split()  # noqa: SIM905
)


def is_method(function: Any, owner: Type) -> bool:
    """Whether a function is a method of the object that it is given first."""
    name = getattr(function, "__name__", "")
    return isinstance(owner, Object) and hasattr(owner.cls, name)
