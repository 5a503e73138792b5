"""What inference keeps while it runs: facts about names, buffers and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis import containers
from srcjax.analysis.binding import Env
from srcjax.analysis.counts import fixed_masks, fixed_numbers
from srcjax.analysis.foreign import own_method
from srcjax.analysis.indexing import index_array
from srcjax.analysis.left import Left, Outcome
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    INT,
    LEAVES,
    MEMORY,
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Const,
    Dict,
    Earlier,
    List,
    Object,
    OrNone,
    Other,
    Range,
    Stale,
    Told,
    Tuple,
    Type,
    Unknown,
    View,
    aged,
    ageless_buffers,
    all_buffers,
    all_sites,
    is_active,
    is_around,
    is_mapping,
    is_number,
    join,
    join_all,
    map_parts,
    present,
    replace,
    supposed_same,
    type_of,
    with_active,
)
from srcjax.errors import SrcjaxError, UnsupportedError, error_at, is_elsewhere
from srcjax.frontend.unit import Unit, acting

UNROLLED = 64
#: Statements of one operation, in core form.
_OF_A_VALUE = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Expr)
#: Types of what has memory, or may have been made of it.
_FILLED = frozenset([Array, List, Dict, Unknown, Other])


class Unreachable(Exception):
    """The abstract execution cannot go on here (a recursion not yet returned)."""


class Missed(Exception):
    """Names that normalisation took for inactive carry a derivative."""

    def __init__(self, unit: Unit, names: set[str]) -> None:
        super().__init__(f"{sorted(names)} vary in {unit.name}")
        self.unit = unit
        self.names = names


class Effects:
    """Notes writes and effects; the ground that inference of code stands on."""

    #: Whether each name stands for one value (webs are split).
    settled = False
    #: Whether a callee was normalised anew on the way: calls of it that came before
    #: are not in the facts.
    widened = False
    #: Whether a `Missed` does not reach `analyse`.
    tentative = False
    #: Whether the expression at hand is a part of another that may not be evaluated.
    in_doubt = False

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = program.facts
        self.recording = False
        #: What is known of calls in their own unit, by function and arguments.
        self.outcomes: dict[tuple, Outcome] = {}
        #: Unfinished calls that a result rests on.
        self.provisional: list[tuple] = []
        self.stack: list[tuple[Any, tuple]] = []
        #: What holds where each loop around the code at hand is left by `break`.
        self.breaks: list[list[Env]] = []
        #: How many `try` with handlers are around the statement, or around its call.
        self.attempts = 0
        #: Lambdas of comprehensions that differ from item to item.
        self.of_items: set[int] = set()
        #: The names that statements read, and that they read or bind.
        self.mentioned: dict[int, tuple[list[str], list[str]]] = {}
        #: The places inside loops and functions that may make memory.
        self.places: dict[int, frozenset[int]] = {}
        #: The nodes of functions.
        self.trees: dict[int, frozenset[int]] = {}
        #: Memory that calls have written which are not looked into, in this statement.
        self.hidden: Buffers = NONE
        #: What the calls of this statement left in that memory, and the latest of all.
        self.left = Left()
        self.latest = Left()
        #: Memory from outside of the function at hand that got a value which varies.
        self.filled: Buffers = NONE
        #: The same of calls in this statement that are followed in their own unit.
        self.handed: Buffers = NONE
        #: Names, by function, that calls got which gave back what they hold.
        self.given_back: set[tuple[int, str]] = set()
        #: Calls that are followed in some visit, by node and function, and what the
        #: visits that are not pass to the callee.
        self.followed: set[tuple[int, int]] = set()
        self.unfollowed: dict[tuple[int, int], list[Any]] = {}
        #: What a composite said that it does not serve (see `ops.record`).
        self.refusal: str | None = None
        #: Functions made in other functions that were called, and not looked into.
        self.called_apart: list[Any] = []
        #: Memory of objects that keep what they computed from it once.
        self.must_stay: Buffers = NONE
        #: How often the code at hand is executed because of loops around it that are
        #: taken item by item.
        self.executed = 1
        #: Places after which sizes are called (see `analysis.counts`).
        self.counting: set[int] = set()
        #: The names that each unit declares as global.
        self.declared: dict[int, set[str]] = {}
        self.fixed_masks: dict[int, dict[str, int]] = {}
        self.fixed_numbers: dict[int, dict[str, Any]] = {}
        #: What holds after loops that were executed without being recorded, by what
        #: held before, and what they filled; with what the keys know by its identity.
        self.loops: dict[tuple, tuple[Any, Env | None, Buffers]] = {}
        #: The names at the head of a loop, when it was executed: before it, and when
        #: they had settled; with what the key knows by its identity.
        self.ends: dict[tuple, list[tuple[Any, Env, Env]]] = {}
        #: What statements in loops bound, by the types of what they read.
        self.bound: dict[tuple, tuple[gast.stmt, Env]] = {}
        #: How often more was done than to bind names: memory written, code executed.
        self.beyond = 0
        #: What evaluates each kind of expression (see `eval`).
        self.handlers: dict[type, Any] = {}
        #: What operations give, by types of operands and place (see `Applied.apply`).
        self.known: dict[tuple, Type] = {}
        #: Names that carry a derivative after all, by unit; they are all normalised
        #: again when the execution is over.
        self.missing: dict[int, tuple[Unit, set[str]]] = {}
        #: Calls and attributes that are parts of an expression, not one that stands in
        #: a statement of its own; and the statements that were looked at for these.
        self.inside: set[int] = set()
        self.looked_inside: set[int] = set()
        #: Calls of functions made here that may change what they find around them.
        self.acting: set[int] = set()
        self.unit: Unit = None  # type: ignore[assignment]
        #: The statement of the unit that is executed.
        self.current: Any = None

    def look_inside(self, stmt: Any) -> None:
        """Remember which calls are parts of the statement's expressions."""
        if id(stmt) in self.looked_inside or isinstance(stmt, gast.FunctionDef):
            return
        self.looked_inside.add(id(stmt))
        self.facts.nodes.append(stmt)
        whole = stmt.value if isinstance(stmt, _OF_A_VALUE) else None
        if isinstance(stmt, gast.Expr) and not isinstance(whole, gast.Call):
            whole = None
        apart = {id(whole), id(getattr(whole, "func", None))}
        for node in syntax.walk(syntax.head(stmt)):
            if isinstance(node, (gast.Call, gast.Attribute)) and id(node) not in apart:
                self.inside.add(id(node))

    def check_inside(self, node: Any, env: Env) -> None:
        """Have a call that changes differentiated values stand in its own statement.

        No rule says what becomes of `if update(x) < tol`: the call has to be taken out.
        """
        written = self.facts.writes.get(id(node), NONE)
        if id(node) in self.facts.unclear:
            written = NONE  # it may, for all that is known of a function without a text
        filled = ageless_buffers(self.handed) & ageless_buffers(written)
        acts = (
            filled
            or id(node) in self.acting
            or any(
                self.may_hold_active(name, t) and not all_buffers(t).isdisjoint(written)
                for name, t in (env.items() if written else ())
            )
        )
        if acts and not self.tentative:
            self.take_out(node)

    def may_hold_active(self, name: str, t: Type) -> bool:
        """Whether a name holds differentiated values, or its container will later on.

        What takes an item out of a list moves the tangents of those that come later.
        """
        container = isinstance(t, (List, Dict)) and name in self.unit.varying
        return is_active(t) or container

    def take_out(self, node: Any) -> None:
        """Have the expression in parts when the unit is normalised again.

        A unit that is there for its types alone stays: nothing is written of it.
        """
        if not any(self.unit is unit for unit in self.program.units.values()):
            return
        place = acting(node)
        if not place or place in self.unit.varying:
            raise self.refuse(
                node,
                "an effect on differentiated values inside of an expression",
                "a statement of its own",
            )
        self.miss(self.unit, {place})

    def stand_apart(self, node: Any) -> None:
        """Have a method of an object made here read in place: `while s.size() > 0`.

        That takes a statement of its own. Where it cannot have one, it stays a call.
        """
        if id(node) not in self.inside or self.tentative or not self.recording:
            return
        known = any(self.unit is unit for unit in self.program.units.values())
        place, varying = acting(node), self.unit.varying
        varies = not varying.isdisjoint(syntax.names_read(node))
        if known and varies and place and place not in varying:
            self.miss(self.unit, {place})

    def miss(self, unit: Unit, names: Iterable[str]) -> None:
        """Remember that names of a unit vary; what follows is executed all the same."""
        self.missing.setdefault(id(unit), (unit, set()))[1].update(names)

    def masks(self) -> dict[str, int]:
        """The names of masks that stay as they are, and the place that made each."""
        key = id(self.unit.node)
        if key not in self.fixed_masks:
            self.fixed_masks[key] = fixed_masks(self.unit.node)
        return self.fixed_masks[key]

    def numbers(self) -> dict[str, Any]:
        """The names with one value at a time, and the place that gives it to each."""
        key = id(self.unit.node)
        if key not in self.fixed_numbers:
            self.fixed_numbers[key] = fixed_numbers(self.unit.node)
        return self.fixed_numbers[key]

    @contextmanager
    def trying(self) -> Iterator[None]:
        """What is missed inside is caught around it, and changes no unit."""
        outer, self.tentative = self.tentative, True
        try:
            yield
        finally:
            self.tentative = outer

    def require(self, name: str) -> None:
        """An active value was bound to a name: it must be known to vary."""
        if name not in self.unit.varying:
            raise Missed(self.unit, {name})

    def refuse(
        self,
        node: gast.AST,
        reason: str,
        instead: str,
        cls: type[SrcjaxError] = UnsupportedError,
    ) -> SrcjaxError:
        """An error about the user's source."""
        source = self.unit.source
        where = node if hasattr(node, "lineno") else source.node
        inside = getattr(self.current, "user_line", None)
        if inside is not None and is_elsewhere(inside, source):
            # It is written out here: what is in it has lines of another text.
            where = self.current
        return error_at(cls, source, where, reason, instead, inside)

    def check_key(self, node: gast.AST, key: Type) -> None:
        """A differentiated value must not be the key of a dict, which gives it back."""
        if isinstance(key, Unknown) and not self.settled:
            return  # it may be that of a branch that types rule out
        if is_active(key):
            raise self.refuse(
                node,
                "a differentiated value is the key of a dict",
                "the value in a list, or `srcjax.stop_gradient(...)` of it as the key",
            )

    def keep_global(self, node: gast.AST, base: Type, value: Type) -> None:
        """A differentiated value must not be kept outside of the function."""
        outside = any(is_around(b) for b in base.buffers)
        if outside and is_active(value):
            raise self.refuse(
                node,
                "a differentiated value is stored in a global or closure object",
                "return the value, or keep it in an object made in the function",
            )

    def wrote(self, stmt: gast.AST, base: Type) -> None:
        """Remember which buffers the statement writes."""
        if self.recording and self.must_stay & ageless_buffers(base.buffers):
            raise self.refuse(
                stmt,
                "an object is changed after a `cached_property` of it was read",
                "a `property`, which is computed anew each time",
            )
        self.beyond += 1
        known = self.facts.writes.get(id(stmt), NONE)
        self.facts.writes[id(stmt)] = known | base.buffers
        self.facts.set_around |= set(filter(is_around, ageless_buffers(base.buffers)))
        self.facts.nodes.append(stmt)

    def made_before(self, node: Any, env: Env) -> Env:
        """The names when an iteration of a loop, or a recursive call, starts.

        What the body makes from here on is other memory than what it has made so far.
        """
        if id(node) not in self.places:
            self.facts.nodes.append(node)
            again = node.body if isinstance(node, gast.For) else node
            self.places[id(node)] = frozenset(map(id, syntax.walk(again)))
        here = self.places[id(node)]
        after = dict(env)
        for name, t in env.items():
            if type(t) in LEAVES and not t.buffers:
                continue  # as numbers
            if not here.isdisjoint(all_sites(t)):
                after[name] = aged(t, here)
        return after

    def update(self, base: Type, env: Env, change: Any) -> list[str]:
        """Change the type of everything that may be the written object.

        Returns the names of which the types are others now.
        """
        self.beyond += 1
        must = len(base.buffers) <= 1 and not any(
            isinstance(b, Earlier) for b in base.buffers
        )

        def visit(t: Type) -> Type:
            kind = type(t)
            if kind in LEAVES:
                changes = active or kind is of
                return new_of(t) if changes and not t.buffers.isdisjoint(written) else t
            if all_buffers(t).isdisjoint(written):
                return t
            t = map_parts(t, visit)
            return t if t.buffers.isdisjoint(written) else new_of(t)

        def new_of(t: Type) -> Type:
            if type(t) is of:
                new = change(t)
                if not must:
                    return join(t, new)
                return t if new is t or new == t else new
            if isinstance(base, Unknown):  # what is in it may be anything now
                return Left().in_place_of(change(t) if active else t, written, False)
            if active and (isinstance(t, Unknown) or type(t) is Other):
                # Of an object that was made of the memory, nothing is known any more.
                known = isinstance(t, Unknown) or is_mapping()
                return with_active(t if known else Unknown(False, t.buffers), True)
            return t

        written, of = base.buffers, type(base)
        active = bool(written) and is_active(change(base))
        if active:
            self.filled |= written
        changed: list[str] = []
        if not written:
            return changed
        of_dict = isinstance(base, Dict)
        for name, t in env.items():
            kind = type(t)
            if kind in LEAVES:
                if not (active or kind is of) or t.buffers.isdisjoint(written):
                    continue  # as most are
            else:
                view: View | None = getattr(t, "view", None) if of_dict else None
                if view and (view.memory or NONE) & written:
                    seen = change(base) if view.kind == "keys" else None
                    if seen is None or containers.method_keys(seen)[0] != t:
                        env[name] = Stale()
                        changed.append(name)
                        continue
                memory = t.__dict__.get(MEMORY)
                if memory is None:
                    memory = all_buffers(t)
                if memory.isdisjoint(written):
                    continue
            new = visit(t)
            if new is t:
                continue
            self.renew(name, t, new, env)
            changed.append(name)
        return changed

    def renew(self, name: str, t: Type, new: Type, env: Env) -> None:
        """Let a name have another type, as what it holds was written to."""
        if is_active(new) and not is_active(t):
            self.require(name)
            self.note_filled(name)
            if self.recording:
                self.facts.note_change(self.unit.node, name, new)
        env[name] = new

    def note_filled(self, name: str) -> None:
        """What a name holds varies from here on: a call may have given it back before.

        Then it is executed again, and varies in there, too.
        """
        key = (id(self.unit.source.func), name)
        if key not in self.program.filled_later:
            self.program.filled_later.add(key)
            if key in self.given_back:
                raise Missed(self.unit, {name})

    def vary(self, written: Buffers, env: Env) -> list[str]:
        """All in this memory varies from now on; as `update` of each buffer and type.

        Returns the names of which the types are others now.
        """

        def visit(t: Type) -> Type:
            t = map_parts(t, visit)
            if t.buffers.isdisjoint(written) or type(t) not in _FILLED:
                return t
            return with_active(t, True)

        self.filled |= written
        changed = []
        for name, t in env.items():
            if all_buffers(t).isdisjoint(written):
                continue
            new = visit(t)
            if new is t or new == t:
                continue
            self.renew(name, t, new, env)
            changed.append(name)
        return changed

    def forget_hidden(self, env: Env) -> list[str]:
        """Nothing is known any more of what calls wrote that are not looked into.

        Returns the names of which the types are others now.
        """
        self.fill_handed(env)
        hidden, self.hidden = self.hidden, NONE
        left, self.left = self.left, Left()
        if not hidden:
            return []
        self.beyond += 1

        def visit(t: Type) -> Type:
            t = map_parts(t, visit)
            if t.buffers.isdisjoint(hidden):
                return t
            return left.in_place_of(t, hidden, self.settled and is_active(t))

        changed = []
        for name, t in env.items():
            if type(t) not in LEAVES and not hidden.isdisjoint(all_buffers(t)):
                env[name] = visit(t)
                changed.append(name)
        return changed

    def fill_handed(self, env: Env) -> None:
        """What calls in their own unit filled with what varies, varies after it."""
        filled, self.handed = self.handed, NONE
        if not filled:
            return
        self.beyond += 1
        self.filled |= filled

        def visit(t: Type) -> Type:
            t = map_parts(t, visit)
            if t.buffers.isdisjoint(filled):
                return t
            return self.left.in_place_of(with_active(t, True), filled, True)

        for name, t in env.items():
            if filled.isdisjoint(all_buffers(t)):
                continue
            env[name] = new = visit(t)
            if is_active(new) and not is_active(t):
                self.require(name)
                self.note_filled(name)
                if self.recording:
                    self.facts.note_change(self.unit.node, name, new)

    def iteration(self, over: Type) -> list[Type] | None:
        """The items that a loop visits, one by one, where they are known."""
        follows = not self.settled and own_method(
            getattr(over, "cls", None), "__iter__"
        )
        if isinstance(over, Object) and is_active(over) and not follows:
            raise self.refuse(
                self.current or self.unit.source.node,
                f"the items of a {getattr(over.cls, '__name__', 'object')} are what "
                "its class says",
                "a list or a tuple, or a method that gives one",
            )
        if isinstance(over, Tuple):
            return list(over.items)
        if isinstance(over, List) and over.items is not None:
            return list(over.items)
        if isinstance(over, Dict) and over.items is not None:
            return [type_of(key) for key, _ in over.items]
        if isinstance(over, Const) and isinstance(over.value, (tuple, range, str)):
            return [type_of(v) for v in over.value][: UNROLLED + 1]
        if isinstance(over, Range) and over.length is not None and over.length <= 16:
            if over.values is None:
                return [INT] * over.length
            return [Const(value=i) for i in over.values]
        return None

    def element(self, over: Type) -> Type:
        """What a loop over the value visits."""
        if isinstance(over, Told):
            return over
        if isinstance(over, List):
            return over.elem or join_all(over.items or ()) or UNKNOWN
        if isinstance(over, (Tuple, Dict)):
            items = self.iteration(over)
            return (join_all(items) if items else None) or UNKNOWN
        if isinstance(over, Range):
            return INT if over.span is None else replace(INT, span=over.span)
        if isinstance(over, Array):
            return self.subscript(over, INT, None)
        if isinstance(over, Const) and isinstance(over.value, (str, range, tuple)):
            return join_all(map(type_of, islice(over.value, UNROLLED))) or UNKNOWN
        return Unknown(is_active(over), all_buffers(over))

    def items(self, value: Type, count: int) -> list[Type]:
        """The types that unpacking into `count` names gives."""
        value = present(value)
        known = self.iteration(value) if not isinstance(value, Dict) else None
        if known is not None and len(known) == count:
            return known
        if isinstance(value, Array) and value.shape:
            supposed_same(value.shape[0], count)
            return [self.subscript(value, INT, None)] * count
        return [self.element(value)] * count

    # -- expressions ------------------------------------------------------------------

    def there(self, t: Type, node: Any, env: Env) -> Type:
        """The type of an operand, which is no None where it is computed with.

        Nor is it later, where it has a name and the text goes on.
        """
        if type(t) is not OrNone:
            return t
        named = isinstance(node, gast.Name) and env.get(node.id) is t
        if named and not self.in_doubt:
            env[node.id] = t.value
        return t.value

    def owner(self, node: Any, env: Env) -> Type:
        """The type of `v` in `v.name`; None has a few attributes, too."""
        t = self.eval(node.value, env)
        return t if hasattr(None, node.attr) else self.there(t, node.value, env)

    def maybe(self, node: Any, env: Env) -> Type:
        """The type of a part that may not be evaluated."""
        outer, self.in_doubt = self.in_doubt, True
        try:
            return self.eval(node, env)
        finally:
            self.in_doubt = outer

    def eval(self, node: Any, env: Env) -> Type:
        """The type of an expression."""
        kind = type(node)
        if kind in self.handlers:
            handler = self.handlers[kind]
        else:
            handler = getattr(self, f"of_{kind.__name__}", None)
            self.handlers[kind] = handler
        if handler is not None:
            result: Type = handler(node, env)
            return result
        active = any(is_active(env.get(n, UNKNOWN)) for n in syntax.names_read(node))
        if active:
            raise Missed(self.unit, syntax.names_read(node) & set(env))
        for sub in syntax.walk(node):
            if isinstance(sub, gast.NamedExpr):
                env[sub.target.id] = UNKNOWN
        return UNKNOWN

    def subscript(self, base: Type, index: Type, node: Any) -> Type:
        """The type of `base[index]`."""
        if isinstance(base, Told):
            return base
        base = present(base)
        if isinstance(base, (Tuple, List, Dict)):
            found = containers.load_item(base, index)
            if isinstance(base, List) and isinstance(node, gast.Slice):
                self.facts.nodes.append(node)
                found = replace(found, buffers=frozenset([id(node)]))  # a new list
            return found
        if isinstance(base, Array):
            found = index_array(base, index)
            if isinstance(found, (Array, Unknown)) and not found.buffers:
                self.facts.nodes.append(node)  # gathered: memory of its own
                found = replace(found, buffers=frozenset([id(node)]))
            return found
        if isinstance(base, Range):
            return _item_of_range(base, index)
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

    def body_of(self, unit: Unit, env: Env) -> Type:
        """What the body returns (statements are inferred in `infer`)."""
        raise NotImplementedError


def _item_of_range(base: Range, index: Type) -> Type:
    """`range(n)[k]`, and `range(n)[a:b]`, which is a range."""
    if is_number(index):
        return INT
    bounds = containers.bounds_of(index)
    if bounds is None:
        return UNKNOWN
    if base.values is None or ... in bounds:
        return Range()
    values = base.values[slice(*bounds)]
    return Range(length=len(values), values=values)
