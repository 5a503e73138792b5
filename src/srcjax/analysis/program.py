"""The functions that take part in a transform, and what was found out about them."""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import global_type, loosened
from srcjax.analysis.by_types import NotByTypes, asked
from srcjax.analysis.computing import Anything, Computing, EffectOf
from srcjax.analysis.guards import (
    Asked,
    Data,
    Fixed,
    Guard,
    Seen,
    Whole,
    Written,
    attribute_guard,
    goes_without_saying,
    has_items,
    is_data,
)
from srcjax.analysis.kept import Kept
from srcjax.analysis.request import Request
from srcjax.analysis.standard import is_of_library, is_standard
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Told,
    Type,
    Unknown,
    Varies,
    ageless,
    ageless_buffers,
    dtype_of,
    has_complex,
    is_active,
    join,
    join_all,
    name_around,
    varies,
    with_active,
)
from srcjax.backends.marks import ADJOINTS_MADE, RESTS_ON
from srcjax.errors import SrcjaxError, UnsupportedError, error_at
from srcjax.frontend.inherited import methods_above
from srcjax.frontend.missing import Needed, with_bound, with_values
from srcjax.frontend.normalise import normalise
from srcjax.frontend.read import read
from srcjax.frontend.rebound_globals import read_globals
from srcjax.frontend.stage_texts import is_recording
from srcjax.frontend.unit import Unit


@dataclass(frozen=True)
class Variant:
    """The types around one abstract execution of a statement."""

    before: dict[str, Type]
    after: dict[str, Type]

    def key(self) -> tuple:
        """Hashable form, to keep each variant once."""
        return (tuple(self.before.items()), tuple(self.after.items()))


@dataclass
class Facts:
    """Side tables of inference; statements and calls are keyed by node identity."""

    variants: dict[int, dict[tuple, Variant]] = field(default_factory=dict)
    #: The types that statements were noted to see, by the identity of all of these.
    noted: dict[tuple[int, ...], list[Type | None]] = field(default_factory=dict)
    #: Resolved callees by call node: values as in `Const.value`, or Closure types.
    callees: dict[int, list[Any]] = field(default_factory=dict)
    #: Calls of what a transform made, where nothing that they get is differentiated:
    #: what they call and, as `analysis.nested` has it, how it would be written out.
    plain_calls: dict[int, list[tuple[Any, Any]]] = field(default_factory=dict)
    #: Arguments (nodes) that are lists where NumPy takes an array.
    lists: set[int] = field(default_factory=set)
    #: Buffers that a statement writes in place, the latest and `Earlier` ones.
    writes: dict[int, Buffers] = field(default_factory=dict)
    #: Calls that were not looked into, or not followed: they write to any part of that.
    unclear: set[int] = field(default_factory=set)
    #: The same for what names hold, by statement: before it (False) and after it.
    held: dict[tuple[int, bool], dict[str, Buffers]] = field(default_factory=dict)
    #: What names became when memory that they hold was written through another name,
    #: by the unit's node: no statement at which it happens mentions them.
    changed: dict[int, dict[str, Type]] = field(default_factory=dict)
    #: What names of units are, by the unit's node, for the statements that it had and
    #: what had `changed`: until more is recorded (see `Program.types_of`).
    types: dict[int, tuple[list[int], dict[str, Type], dict[str, Type]]] = field(
        default_factory=dict
    )
    #: What a test was found to be: {True}, {False} or both (also {None}: unknown).
    tests: dict[int, set] = field(default_factory=dict)
    #: Result type by the identity of the unit's function.
    results: dict[int, Type] = field(default_factory=dict)
    #: Whether a function made in another one was called: what its body calls, and with
    #: what types, is not known before it stands in the place of the call.
    unseen: bool = False
    #: Calls of functions that are put in place for the functions that they make.
    makers: set[int] = field(default_factory=set)
    #: Whether there are calls of functions of structure, which `settle` writes out.
    structural: bool = False
    #: Attributes that are set of objects from around, and memory from there that is
    #: written.
    set_attributes: set[str] = field(default_factory=set)
    set_around: set[Any] = field(default_factory=set)
    #: Attributes that what has them in the text has not: an error, which is caught.
    lacking: set[int] = field(default_factory=set)
    #: Units that were executed, by identity: all others are called by nothing any more.
    reached: set[int] = field(default_factory=set)
    #: Keeps keyed nodes alive.
    nodes: list[Any] = field(default_factory=list)
    #: Calls of a method that arrays have, of what is not known to be an array.
    unsure: set[int] = field(default_factory=set)
    #: Calls that made memory of which it is not known what it holds.
    opaque: set[int] = field(default_factory=set)
    #: Calls of classes whose `__init__` sets attributes that the type has not.
    constructed: set[int] = field(default_factory=set)
    #: By a call of a class, of which nothing varies: its unit, and its place there.
    objects: dict[int, tuple[Unit, str]] = field(default_factory=dict)
    #: Whether complex numbers take part; None: not looked at yet.
    complex: bool | None = None
    #: The same, unknown values included.
    hidden: bool | None = None

    def of(self, node: gast.AST) -> list[Variant]:
        """The variants in which the statement was executed."""
        return list(self.variants.get(id(node), {}).values())

    def type_after(self, stmt: gast.AST, name: str) -> Type | None:
        """The join of what the name was when the statement had been executed."""
        return join_all(v.after[name] for v in self.of(stmt) if name in v.after)

    def record(self, node: gast.AST, variant: Variant) -> None:
        """Add one abstract execution of the statement."""
        self.nodes.append(node)
        self.types.clear()
        self.variants.setdefault(id(node), {})[variant.key()] = variant

    def note_change(self, node: gast.AST, name: str, t: Type) -> None:
        """A write through another name changed what the name holds."""
        self.nodes.append(node)
        known = self.changed.setdefault(id(node), {})
        known[name] = join(known[name], ageless(t)) if name in known else ageless(t)

    def written_by(self, nodes: Iterable[gast.AST]) -> Buffers:
        """The buffers that the nodes write in place, by the place that made them."""
        if not self.writes:
            return NONE
        found = (self.writes.get(id(node), NONE) for node in nodes)
        return ageless_buffers(NONE.union(*found))

    def written(self) -> Buffers:
        """Every buffer that is written in place somewhere."""
        return ageless_buffers(NONE.union(*self.writes.values()))


class SetAround(Exception):  # noqa: N818  (no error: all is read once more)
    """A variable is set that was looked up: it is to be read where it is.

    `refusal`: the error, if that does not help.
    """

    def __init__(self, key: tuple[int, str], refusal: SrcjaxError) -> None:
        super().__init__(key)
        self.key, self.refusal = key, refusal


class Program:
    """Units by function, and the names they resolved."""

    def __init__(self, effect_of: EffectOf = lambda _: Anything()) -> None:
        self.units: dict[int, Unit] = {}
        #: The identity of the function that is transformed.
        self.entry = 0
        #: What a method or `partial` gives to its parameters.
        self.bound: dict[str, Any] = {}
        #: That it gives a value on every path, where something needs that.
        self.needed: Needed | None = None
        #: Whether the dtypes of all arguments are known.
        self.knows_dtypes = False
        #: The name of the batch axis, for collectives.
        self.axis_name: str | None = None
        #: Whether rules of the user's are kept for a derivative of what is written.
        self.keeps_rules = True
        #: How many calls of methods that call themselves were put in place.
        self.unfoldings = 0
        #: What is asked for; None where nothing is to be written.
        self.request: Request | None = None
        self.typing_units: dict[int, Unit | None] = {}
        #: Functions that were generated for calls of transforms, by id.
        self.generated: set[int] = set()
        self.guards: dict[tuple[int, str], Guard] = {}
        #: Values without a name from around that were looked into.
        self.looked_into: list[Any] = []
        self.facts = Facts()
        #: Parameters that some call passes a differentiated value for, by function.
        self.entry_active: dict[int, set[str]] = {}
        #: Names of functions that hold what varies only since it was written to.
        self.filled_later: set[tuple[int, str]] = set()
        #: Attributes that are not what arrays call so (`unit.own_attribute`).
        self.own_attributes: set[str] = set()
        #: Normal forms as they were before passes changed them, for `stages`.
        self.normal: dict[int, gast.FunctionDef] = {}
        #: Functions inside of others, by their definition, that are called with
        #: differentiated values: what makes them is put in place.
        self.made: dict[int, Any] = {}
        #: How often a function was normalised again.
        self.widenings = 0
        #: Whether it asks of a differentiated Python number whether it is an int.
        self.asks_for_ints = False
        #: Functions that were asked what they give for types (`analysis.by_types`).
        self.asked_functions: dict[tuple, Asked | None] = {}
        self._alive: list[Any] = []
        #: Why functions are not followed, by identity: what their text has.
        self.refusals: dict[int, SrcjaxError] = {}
        #: Variables that functions of the program set from inside, by what holds them:
        #: the namespace of a module, or a cell.
        self.rebound: set[tuple[int, str]] = set()
        #: Whether types and effects are found: nothing is read anew from then on.
        self.is_settled = False
        #: Those of modules that are read where they are.
        self.variables: frozenset[tuple[int, str]] = frozenset()
        #: Names from around functions of which the program changes the contents, and
        #: attributes that it sets of objects from around.
        self.changed_names: set[str] = set()
        self.changed_attributes: set[str] = set()
        #: Which functions of the user's only compute what they give.
        self.computing = Computing(effect_of)

    def unit(self, function: Any, varying: Iterable[str]) -> Unit:
        """The function's core form, with at least these parameters varying."""
        unit = self.units.get(id(function))
        wanted = set(varying)
        if unit is not None and wanted <= unit.varying:
            return unit
        source = self.with_variables(read(function))
        for guard in RESTS_ON.get(source.func, ()):
            self.rest_on(guard)
        if source.func not in RESTS_ON and not is_standard(source.func):
            self.rest_on(Written(source.func))
        for holder, method in methods_above(source):
            self.rests_on_method(holder, method)
        entry, made = id(function) == self.entry, source.func in ADJOINTS_MADE
        if self.needed is not None and (entry or not made):
            needed, bound = (self.needed, self.bound) if entry else (None, {})
            source = replace(source, node=with_values(source, needed, bound))
        elif varies() is Varies.RUN_TIME and not made:
            source = replace(source, node=with_bound(source))
        wanted |= self.own_attributes
        if unit is not None:
            wanted |= unit.varying & set(unit.parameters)
        self.sets_around(source)
        unit = normalise(source, wanted)
        for name in unit.looked_up:
            self.resolve(unit, name)
        self.rests_on_defaults(unit)
        self.add(id(function), unit)
        self._alive.append(function)
        return unit

    def reached(self) -> list[Unit]:
        """The units that are executed, each once: the entry and all that it calls.

        What stands in the place of all its calls is a unit as well, but no pass has to
        look at it any more.
        """
        reached = self.facts.reached
        return list(
            {id(u): u for u in self.units.values() if id(u) in reached}.values()
        )

    def sets_around(self, source: Any) -> None:
        """A function sets variables from around it, which no other one goes by then."""
        keys = {
            (id(source.closure.get(name, source.globals)), name)
            for name in source.rebound
        }
        self.sets(keys, source)

    def with_variables(self, source: Any) -> Any:
        """The function, which reads variables that others set where they are."""
        names = {name for space, name in self.variables if space == id(source.globals)}
        if names:
            held = read_globals(source.node, source.globals, names, source.imported)
            source.imported.update(held)
        return source

    def sets(self, keys: set[tuple[int, str]], source: Any) -> None:
        """Variables are set, which no function goes by then."""
        self.rebound |= keys
        for key in self.rebound & self.guards.keys():
            raise self.is_rebound(source, key)

    def type_around(self, value: Any, name: str) -> Type:
        """The type of a live value; of one that the program changes, what it stays."""
        found = global_type(value, name)
        return loosened(found) if name in self.changed_names else found

    def learn_changes(self) -> bool:
        """Whether inference found more that the program changes around it.

        What was read of it before is not what it is then: types have to be found anew.
        """
        names = set(map(name_around, self.facts.set_around)) - self.changed_names
        attributes = self.facts.set_attributes - self.changed_attributes
        self.changed_names |= names
        self.changed_attributes |= attributes
        return bool(names or attributes)

    def is_rebound(self, source: Any, key: tuple[int, str]) -> Exception:
        """The error that a function reads what another one sets."""
        refusal = error_at(
            UnsupportedError,
            source,
            source.node,
            f"a function sets the variable `{key[1]}` from around it, and another one "
            "that is called with it reads it by its name",
            "an argument, or an attribute of an object",
        )
        known = self.is_settled or key in self.variables
        return refusal if known else SetAround(key, refusal)

    def add(self, key: int, unit: Unit) -> None:
        """Take in a unit that was just normalised."""
        self.units[key] = unit
        if is_recording():
            self.normal[key] = syntax.clone(unit.node)

    def made_of(
        self,
        maker: Any,
        function: Any,
        options: list[Any],
        named: dict[str, Any],
        count: int | None = None,
    ) -> Any:
        """`maker(function, ...)`, the same for the same function.

        With `count`, the function's own parameters are that many, and argnums from the
        end are counted from the last of them.
        """
        if count is not None:
            bound = inspect.signature(maker).bind(function, *options, **named)
            argnums = bound.arguments.get("argnums")
            if argnums is not None:
                bound.arguments["argnums"] = _from_start(argnums, count)
            options, named = list(bound.args[1:]), bound.kwargs
        try:
            key = (maker, function, repr((options, named)))
            return _MADE.get(key, None, lambda: maker(function, *options, **named))
        except TypeError:  # a callable object that has no hash
            return maker(function, *options, **named)

    def may_be_complex(self) -> bool:
        """Whether complex numbers may take part: then unknown dtypes may be complex."""
        if self.facts.complex is None:
            self.facts.complex = self._finds_complex()
        return self.facts.complex

    def hides_complex(self) -> bool:
        """Whether a value that is not differentiated may be complex unseen.

        What is given by functions that srcjax knows nothing of, for example.
        """
        if self.facts.hidden is None:
            self.facts.hidden = self.may_be_complex() or any(
                isinstance(t, (Array, Unknown)) and dtype_of(t) is None and not t.active
                for variants in self.facts.variants.values()
                for variant in variants.values()
                for t in variant.after.values()
            )
        return self.facts.hidden

    def _finds_complex(self) -> bool:
        for callees in self.facts.callees.values():
            if any(getattr(c, "may_be_complex", False) is True for c in callees):
                return True
        for unit in self.units.values():
            for node in syntax.walk(unit.node):
                if isinstance(node, gast.Constant) and isinstance(node.value, complex):
                    return True
        return any(
            has_complex(t)
            for variants in self.facts.variants.values()
            for variant in variants.values()
            for env in (variant.before, variant.after)
            for t in env.values()
        )

    def result_of(self, function: Any) -> Type | None:
        """What calls of a function give; None where that is not known.

        It is noted down at the function whose text it is, which may be another one.
        """
        unit = self.units.get(id(function))
        key = id(function) if unit is None else id(unit.source.func)
        return self.facts.results.get(key)

    def types_of(self, unit: Unit) -> dict[str, Type]:
        """What each name of the unit is, over the whole unit."""
        statements = [unit.node, *syntax.all_statements(unit.node.body)]
        places = list(map(id, statements))  # of what facts are known of is kept alive
        changed = self.facts.changed.get(id(unit.node), {})
        known = self.facts.types.get(id(unit.node))
        if known is None or known[:2] != (places, changed):
            self.facts.nodes.append(unit.node)
            found = {n: {t: None} for n, t in changed.items()}
            for stmt in statements:
                for variant in self.facts.of(stmt):
                    for env in (variant.before, variant.after):
                        for name, t in env.items():
                            found.setdefault(name, {})[t] = None
            types = {
                name: join_all(apart_from_told(list(ts))) or UNKNOWN
                for name, ts in found.items()
            }
            known = self.facts.types[id(unit.node)] = places, dict(changed), types
        return dict(known[2])

    def types_where_used(self, unit: Unit) -> dict[str, Type]:
        """What each name of the unit is where statements bind or read it.

        The size that it has in one iteration is another one when the next begins, where
        nobody asks for it any more.
        """
        found: dict[str, list[Type]] = {}
        for stmt in syntax.walk(unit.node):
            if not isinstance(stmt, gast.stmt):
                continue
            names = syntax.all_names(syntax.head(stmt))
            for variant in self.facts.of(stmt):
                for env in (variant.before, variant.after):
                    for name in names & env.keys():
                        known = found.setdefault(name, [])
                        if env[name] not in known:
                            known.append(env[name])
        return {name: join_all(ts) or UNKNOWN for name, ts in found.items()}

    def writes_of(self, unit: Unit) -> Buffers:
        """Buffers that the unit itself writes in place."""
        return self.facts.written_by(syntax.walk(unit.node))

    def widen(self, unit: Unit, names: Iterable[str]) -> Unit:
        """Normalise again: these names carry a derivative after all.

        What attributes of the user's objects are called is so for all units, and where
        an expression changes what carries a derivative too: one may be put in another.
        """
        own = {n for n in names if n.startswith((".", "@"))} - self.own_attributes
        self.own_attributes |= own
        others = {id(u): u for u in self.units.values() if own and u is not unit}
        for other in others.values():
            self.widen(other, own)
        asked = unit.asked | (unit.temps & set(names))
        start = (unit.varying - unit.temps) | asked | set(names)
        new = normalise(unit.source, start)
        new.asked = asked
        self.widenings += 1
        for key, value in list(self.units.items()):
            if value is unit:
                self.add(key, new)
        return new

    def resolve(self, unit: Unit, name: str) -> Any:
        """The live value of a free name, remembered as a guard. Raises KeyError."""
        return self._value(unit, name, Guard)

    def look(self, unit: Unit, name: str) -> Any:
        """The same for a caller that only goes by the type, where it is a number,
        an array or a container of these."""
        return self._value(unit, name, Data)

    def is_whole(self, unit: Unit, name: str) -> bool:
        """Whether the text goes by the value of a free name: of whole numbers.

        It is remembered as a guard then.
        """
        if name in unit.extra:
            return name in unit.whole
        source = unit.source
        holder = source.holder(name)
        if holder is None:
            return False
        value, code = source.resolve(name), source.func.__code__
        name = source.renamed.get(name, name)
        if not Whole.may_guard(value, name, code):
            return False
        self.rest_on(Whole(holder, name, value, code))
        return True

    def _value(self, unit: Unit, name: str, kind: type[Guard]) -> Any:
        source = unit.source
        if name in unit.extra:
            value = unit.extra[name]
            if kind is Guard and is_data(value):
                self.looked_into.append(value)
            self.rests_on(value)
            return value
        value, holder = source.resolve(name), source.holder(name)
        name = source.renamed.get(name, name)
        if holder is not None and (id(holder), name) in self.rebound:
            raise self.is_rebound(source, (id(holder), name))
        if holder is not None and not goes_without_saying(name, value):
            kind = kind if is_data(value) else Guard
            self.rest_on(kind(holder, name, value))
        self.rests_on(value)
        return value

    def rest_on(self, guard: Guard) -> None:
        """Remember a guard; what was looked into stays so."""
        key = id(guard.holder), guard.key
        known = self.guards.get(key)
        if known is None or type(guard) is not Data or known.value is not guard.value:
            self.guards[key] = guard

    def all_guards(self) -> list[Guard]:
        """What the text rests on, in the end."""
        named = (
            value
            for unit in self.units.values()
            for name, value in unit.extra.items()
            if name not in unit.from_around and is_data(value)
        )
        return [*self.guards.values(), *map(Fixed, [*self.looked_into, *named])]

    def ask(self, function: Any, args: list[Type], kwargs: dict[str, Type]) -> Any:
        """What a function gives that looks at the types of its arguments alone.

        Raises NotByTypes.
        """
        quiet = [ageless(with_active(t, False)) for t in args]
        named = {k: ageless(with_active(t, False)) for k, t in kwargs.items()}
        key = id(function), tuple(quiet), tuple(named.items())
        if key not in self.asked_functions:
            self._alive.append(function)
            try:
                found, ask = asked(function, quiet, named)
            except NotByTypes:
                self.asked_functions[key] = None
            else:
                self.asked_functions[key] = Asked(function, found, ask)
        guard = self.asked_functions[key]
        if guard is None:
            raise NotByTypes
        self.guards[id(guard), ""] = guard
        return guard.value

    def rests_on(self, value: Any) -> None:
        """Remember what is in an object whose items are looked at."""
        key = id(value), ""
        if key not in self.guards and has_items(value):
            self.guards[key] = Seen(value, "", value)

    def rests_on_defaults(self, unit: Unit) -> None:
        """Remember what is in the defaults of a function that is called."""
        for default in unit.source.defaults.values():
            self.rests_on(default)

    def read(self, holder: Any, name: str, value: Any) -> None:
        """Remember what an attribute was."""
        key = id(holder), name
        if key not in self.guards:
            guard = attribute_guard(holder, name, value)
            if guard is not None:
                self.guards[key] = guard
            elif not isinstance(holder, (type, pytypes.ModuleType)):
                self.rests_on_method(type(holder), name)

    def rests_on_method(self, cls: Any, name: str) -> None:
        """Remember what a class of the user's calls by this name."""
        value = getattr(cls, name, None)
        lasting = isinstance(value, (pytypes.FunctionType, property))
        if lasting and not is_of_library(cls):
            self.rest_on(Guard(cls, name, value))


#: What transforms made of functions, while they are in use.
_MADE = Kept()


def _from_start(argnums: Any, count: int) -> Any:
    """Argnums with positions from the end counted from the start."""
    if isinstance(argnums, (tuple, list)):
        return tuple(_from_start(n, count) for n in argnums)
    return argnums + count if isinstance(argnums, int) and argnums < 0 else argnums


def apart_from_told(types: list[Type]) -> list[Type]:
    """What a name holds in turn, without what only tells of differentiated values.

    It carries no derivative, and what else the name holds before or after may.
    """
    others = [t for t in types if not isinstance(t, Told)]
    if len(others) == len(types) or not any(map(is_active, others)):
        return types
    return [*others, UNKNOWN]
