"""Which calls are read in place, and calls with stars."""

from __future__ import annotations

import functools
import inspect
import types as pytypes
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import BoundTo, made_as_method, signature_inside
from srcjax.analysis.flow.trips import is_of_this_trip, stands_in_a_loop
from srcjax.analysis.indexing import row_count
from srcjax.analysis.program import Variant
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    Varies,
    is_active,
    is_local,
    is_lowered,
    parts,
    site_of,
    varies,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.generators import is_generator
from srcjax.frontend.unit import Unit
from srcjax.ops.record import WRITTEN_OUT
from srcjax.transforms.inline import SMALL
from srcjax.transforms.settle.base import is_function
from srcjax.transforms.settle.containers import ContainerSettling

#: How many calls of methods that call themselves are put in place.
UNFOLDED = 128


class CallSettling(ContainerSettling):
    """Inlines calls of the user's functions."""

    def inline(
        self, stmt: gast.stmt, call: gast.Call, target: str | None
    ) -> list[gast.stmt] | None:
        callees = self.facts.callees.get(id(call), [])
        if len(callees) != 1:
            return None
        callee = callees[0]
        whole: Any = stmt
        first = call.args[0] if call.args else None
        if hasattr(callee, "__srcjax_keeps__") and getattr(whole, "value", 0) is call:
            held = self.atom_type(stmt, first)
            if is_local(held):  # what its own code saves is saved
                self.changed = True
                whole.value = first
                return [stmt]
        if isinstance(callee, functools.partial):
            self.changed = True
            return [*self.with_bound(call, callee), stmt]
        made = made_as_method(callee)
        if made is not None:
            self.changed = True
            by_attribute = isinstance(call.func, gast.Attribute)
            own = gast.Attribute(call.func, "__self__", syntax.LOAD)
            call.args = [call.func.value if by_attribute else own, *call.args]
            name = self.inliner.constant(made, getattr(made, "__name__", "method"))
            call.func = syntax.name(name)
            return [stmt]
        if not self.should_inline(stmt, call, callee, target):
            return self.written_out(stmt, call)
        if self.passes_on_its_stars(call) or self.waits_for_owner(call, callee):
            return None
        unfolds = self.unfolds(stmt, call, callee)
        before = self.expand_stars(stmt, call)
        if isinstance(callee, Closure) and self.is_recursive(callee):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` is a recursive function defined inside "
                "another function",
                "define it at module level and pass what it needs as arguments",
            )
        if isinstance(callee, Closure) and is_generator(callee.definition):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` is a generator function that works with "
                "what varies, and is no `for` loop's own",
                "`list(...)` of it, or a `for` loop over it",
            )
        if isinstance(callee, Closure) and self.made_in_a_loop(stmt, call, callee):
            if self.changed:
                return None  # the loop may just have been written out
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` was made in a loop: which iteration's "
                "function it is, is only known when the program runs",
                "call it where it is made, or pass what it needs as arguments",
            )
        if isinstance(callee, Closure) and getattr(callee.definition, "once", False):
            self.use_once(call, callee)
        call.user_line = getattr(stmt, "user_line", None)
        found = self.inliner.expand(call, callee, target, unfolds is not None)
        if found is None:
            return None
        self.changed = True
        if unfolds is not None:
            self.program.unfoldings += 1
            for inner in syntax.all_statements(found):
                inner.unfolded = unfolds
        return [*before, *found]

    def with_bound(self, call: gast.Call, callee: functools.partial) -> list[gast.stmt]:
        """`p(x)` of `p = partial(f, 2, k=v)` as `p.func(2, x, k=v)`, in place."""
        before: list[gast.stmt] = []

        def bound(where: str, key: Any, value: Any) -> gast.expr:
            if syntax.is_literal(value) and type(value).__module__ == "builtins":
                return syntax.expression(repr(value))
            held = gast.Attribute(syntax.clone(call.func), where, syntax.LOAD)
            return self.held_item(before, held, key)

        args = [bound("args", k, v) for k, v in enumerate(callee.args)]
        given = {k.arg for k in call.keywords}
        keywords = [
            gast.keyword(k, bound("keywords", k, v))
            for k, v in callee.keywords.items()
            if k not in given
        ]
        call.func = gast.Attribute(call.func, "func", syntax.LOAD)
        call.args = [*args, *call.args]
        call.keywords = [*call.keywords, *keywords]
        return before

    def passes_on_its_stars(self, call: gast.Call) -> bool:
        """Whether `f(*args, **kwargs)` waits until this function is put in its place.

        A function of `*args` is put in the place of each of its calls, where it shows
        what they are: a decorator's wrapper, for example.
        """
        starred = [a.value for a in call.args if isinstance(a, gast.Starred)]
        starred += [k.value for k in call.keywords if k.arg is None]
        definition = self.unit.node.args
        own = {a.id for a in (definition.vararg, definition.kwarg) if a is not None}
        function = id(self.unit.source.func)
        return (
            any(getattr(s, "id", "") in own for s in starred)
            and function != self.program.entry
            and function not in self.recursive
        )

    def waits_for_owner(self, call: gast.Call, callee: Any) -> bool:
        """Whether `self.step(x)` in a method waits until it stands in its caller.

        What `self` is there is known; here it is what it was in the calls seen so far.
        So does `f(x)` of a method that the function is given.
        """
        if not isinstance(callee, BoundTo) or varies() is Varies.RUN_TIME:
            return False
        function, parameters = id(self.unit.source.func), self.unit.parameters
        owner = call.func if callee.itself else getattr(call.func, "value", None)
        if function == self.program.entry or not parameters:
            return False
        if owner is None:
            return getattr(call.func, "id", "") in parameters
        own = syntax.is_name(owner, parameters[0])
        return own and self.is_method(function)

    def is_method(self, function: int) -> bool:
        """Whether a function is called as a method of objects alone."""
        called = [
            c
            for found in self.facts.callees.values()
            for c in found
            if id(getattr(c, "function", c)) == function
        ]
        return bool(called) and all(isinstance(c, BoundTo) for c in called)

    def unfolds(self, stmt: gast.stmt, call: gast.Call, callee: Any) -> Any:
        """What was unfolded by then, if a method that calls itself stands in its place.

        So it does where the object is one that the text makes, and none for which it
        stands there already: a network of networks, a tree of few nodes. None: not so.
        """
        function = getattr(callee, "function", None)
        whole = id(self.unit.source.func) == self.program.entry
        if not isinstance(callee, BoundTo) or id(function) not in self.recursive:
            return None
        if not whole or self.program.entry in self.recursive:
            return None
        owner = callee.owner
        if not isinstance(owner, Object) or not owner.buffers:
            return None
        if self.program.unfoldings >= UNFOLDED or varies() is Varies.RUN_TIME:
            return None
        kinds = (self.atom_type(stmt, a) for a in call.args)
        held = (Object, List, Tuple, Dict)
        named = (
            getattr(t, "cls", None) or type(t) if isinstance(t, held) else None
            for t in kinds
        )
        key = (id(function), owner.buffers, tuple(named))
        known: frozenset = getattr(stmt, "unfolded", frozenset())
        return None if key in known else known | {key}

    def original(self, node: gast.expr) -> str:
        """The name that a name stands for, by way of single assignments."""
        name = getattr(node, "id", "")
        for _ in range(5):
            values = self.given_values.get(name, [])
            single = self.bindings[name] == 1 and len(values) == 1
            if not (single and isinstance(values[0], gast.Name)):
                break
            name = values[0].id
        return name

    def made_in_a_loop(
        self, stmt: gast.stmt, call: gast.Call, closure: Closure
    ) -> bool:
        """Whether a function of some other iteration may be called by another name."""
        definition = closure.definition
        if self.original(call.func) == getattr(definition, "name", ""):
            return False
        body = self.unit.node.body
        return stands_in_a_loop(body, definition) and not is_of_this_trip(
            body, stmt, call.func, definition
        )

    def use_once(self, call: gast.Call, closure: Closure) -> None:
        """The pullback of a function that writes in place uses up what was saved."""
        definition = closure.definition
        used, definition.used = getattr(definition, "used", False), True
        loops = [
            loop
            for loop in syntax.walk(self.unit.node.body)
            if isinstance(loop, (gast.For, gast.While))
        ]
        apart = any(
            any(node is call for node in syntax.walk(loop.body))
            and not any(node is definition for node in syntax.walk(loop.body))
            for loop in loops
        )
        if used or apart:
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                "a pullback of a function that writes to its arrays is called more "
                "than once inside a transformed function",
                "`vjp` again for each call",
            )

    def is_recursive(self, closure: Closure) -> bool:
        definition = closure.definition
        name = getattr(definition, "name", None)
        return name is not None and name in syntax.names_read(definition.body)

    def written_out(self, stmt: gast.stmt, call: gast.Call) -> list[gast.stmt] | None:
        """The call without `*args` and `**kwargs`, if differentiated values go into it.

        Rules, and functions with derivative functions of their own, are told which
        argument is which. None if there is nothing to write out.
        """

        def starred() -> list[gast.expr]:
            args = [a.value for a in call.args if isinstance(a, gast.Starred)]
            return [*args, *(k.value for k in call.keywords if k.arg is None)]

        found = starred()
        plain = [a for a in call.args if not isinstance(a, gast.Starred)]
        given = [*found, *plain, *(k.value for k in call.keywords if k.arg)]
        if isinstance(call.func, gast.Attribute):
            given.append(call.func.value)
        if not found or not any(
            is_lowered(self.atom_type(stmt, a) or UNKNOWN) for a in given
        ):
            return None
        before = self.expand_stars(stmt, call)
        if len(starred()) == len(found):
            return None
        self.changed = True
        return [*before, stmt]

    def expand_stars(self, stmt: gast.stmt, call: gast.Call) -> list[gast.stmt]:
        """`f(*xs)` with a known number of items is `f(xs[0], xs[1])`."""
        before: list[gast.stmt] = []
        args: list[gast.expr] = []
        for a in call.args:
            if isinstance(a, gast.Starred) and isinstance(a.value, gast.Name):
                t = self.type_here(stmt, a.value.id)
                items = getattr(t, "items", None)
                count = row_count(t)
                if isinstance(t, (Tuple, List)) and items is not None:
                    count = len(items)
                if count is not None:
                    for i in range(count):
                        args.append(self.held_item(before, a.value, i))
                    continue
                taken = (
                    self.taken_by_star(stmt, call)
                    if isinstance(t, (List, Array))
                    else None
                )
                if taken is not None:  # any other number is an error
                    names = [self.fresh(f"{a.value.id}_{i}") for i in range(taken)]
                    places = [syntax.name(n, store=True) for n in names]
                    target = gast.Tuple(places, syntax.STORE)
                    before.append(gast.Assign([target], a.value, None))
                    args += map(syntax.name, names)
                    continue
            args.append(a)
        call.args = args
        keywords: list[gast.keyword] = []
        for k in call.keywords:
            if k.arg is None and isinstance(k.value, gast.Name):
                t = self.type_here(stmt, k.value.id)
                if isinstance(t, Dict) and t.items is not None:
                    for key, _ in t.items:
                        item = self.held_item(before, k.value, key)
                        keywords.append(gast.keyword(key, item))
                    continue
            keywords.append(k)
        call.keywords = keywords
        return before

    def taken_by_star(self, stmt: gast.stmt, call: gast.Call) -> int | None:
        """How many items `f(*xs)` takes of a function with so many parameters.

        None where there may be more or fewer of them.
        """
        names = {n: self.type_here(stmt, n) for n in syntax.names_read(call.func)}
        known = {n: t for n, t in names.items() if t is not None}
        t = self.typer.type_of(call.func, known)
        callee = t.value if isinstance(t, Const) else t
        bound = int(isinstance(callee, (BoundTo, pytypes.MethodType)))
        function = getattr(callee, "function", getattr(callee, "__func__", callee))
        stars = [a for a in call.args if isinstance(a, gast.Starred)]
        if len(stars) != 1 or call.keywords:
            return None
        if isinstance(callee, Closure):
            signature = signature_inside(callee.definition.args)
        elif isinstance(function, pytypes.FunctionType):
            signature = inspect.signature(function)
        else:
            return None
        parameters = list(signature.parameters.values())[bound:]
        places = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        fixed = all(p.kind in places and p.default is p.empty for p in parameters)
        count = len(parameters) - len(call.args) + 1
        return count if fixed and count > 0 else None

    def type_here(self, stmt: gast.stmt, name: str) -> Type | None:
        """What a name is, also one from around the function."""
        found = self.type_before(stmt, name)
        if found is not None or not self.facts.of(stmt):
            return found
        try:
            return self.program.type_around(self.program.look(self.unit, name), name)
        except KeyError:
            return None

    def should_inline(
        self, stmt: gast.stmt, call: gast.Call, callee: Any, target: str | None
    ) -> bool:
        if isinstance(callee, Closure):
            # One that calls itself has no end in place, and one that yields would make
            # a generator of this one; they may stay if they are inactive.
            stays = self.is_recursive(callee) or is_generator(callee.definition)
            return not stays or self.carries(stmt, call, callee)
        function = callee
        if isinstance(callee, BoundTo):
            function = callee.function
        function = getattr(function, "__func__", function)
        unit = self.program.units.get(id(function))
        if unit is None:
            return False
        if id(function) in self.recursive:
            return self.unfolds(stmt, call, callee) is not None
        if isinstance(callee, BoundTo) or function is not callee:
            return True
        if id(function) in WRITTEN_OUT:
            return True
        if varies() is Varies.RUN_TIME:  # one text is one kernel
            return True
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if not any(
            is_lowered(t) for v in self.facts.of(stmt) for t in v.before.values()
        ):
            # What it writes to may carry a derivative later.
            filled = syntax.names_read(arguments) & self.active_names()
            if id(call) in self.facts.makers:
                return True
            return bool(filled) and self.writes_arguments(unit)
        definition = unit.node.args
        if definition.vararg is not None or definition.kwarg is not None:
            return True
        if any(isinstance(a, gast.Starred) for a in arguments) or any(
            k.arg is None for k in call.keywords
        ):
            return True
        for variant in self.facts.of(stmt):
            for a in arguments:
                if isinstance(a, gast.Name) and self.is_function(variant, a.id):
                    return True
        if self.writes_arguments(unit) or target is None:
            return True
        if self.gives_function(self.program.result_of(function)):
            return True
        if self.is_called_once(function, unit):
            return True
        surface = unit.source.node.body
        simple = (gast.Return, gast.Assign, gast.Expr, gast.AugAssign)
        lines = [s for s in surface if not isinstance(s, gast.Expr)]
        return len(lines) <= SMALL and all(isinstance(s, simple) for s in surface)

    def is_called_once(self, function: Any, unit: Any) -> bool:
        """Whether this is the one call of a function generated for it.

        In place, its parameters are the constants that it is called with, and what is
        not read of its result need not be computed. One with loops or branches, or that
        writes to arrays, stays a call.
        """
        calls = self.facts.callees.values()
        return (
            id(function) in self.program.generated
            and sum(c is function for found in calls for c in found) == 1
            and all(isinstance(s, (gast.Assign, gast.Return)) for s in unit.node.body)
            and not any(
                isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
                for n in syntax.walk(unit.node.body)
            )
        )

    def unpacked_functions(self, stmt: gast.Assign) -> list[gast.stmt] | None:
        """`y, g = pair` for `pair = (a, h)`, h a function, is `y = a; g = h`."""
        target, whole = stmt.targets[0], stmt.value
        targets: dict[Any, gast.expr]
        if isinstance(whole, gast.Subscript) and isinstance(target, gast.Name):
            position = getattr(whole.slice, "value", None)
            targets, whole = {position: target}, whole.value
        elif isinstance(target, gast.Tuple):
            targets = dict(enumerate(target.elts))
        else:
            return None
        t = self.atom_type(stmt, whole)
        if not isinstance(t, Tuple) or not self.gives_function(t):
            return None
        name = self.original(whole)
        made = [
            s.value
            for s in syntax.walk(self.unit.node.body)
            if isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], name)
        ]
        if len(made) != 1 or not isinstance(made[0], gast.Tuple):
            return None
        items = dict(enumerate(made[0].elts))
        once = {name, whole.id, *syntax.names_read(made[0])}
        if any(syntax.count_bindings(self.unit.node, n) > 1 for n in once) or not all(
            syntax.is_atom(items.get(k)) for k in targets
        ):
            return None
        return [syntax.assign(v, syntax.clone(items[k])) for k, v in targets.items()]

    def gives_function(self, t: Type | None) -> bool:
        """Whether a function defined inside the callee is a part of its result."""
        if t is None:
            return False
        return is_local(t) or any(map(self.gives_function, parts(t)))

    def carries(self, stmt: gast.stmt, call: gast.Call, callee: Closure) -> bool:
        """Whether a differentiated value goes into the call."""
        names = syntax.names_read([call.args, call.keywords])
        return callee.active or any(
            is_lowered(v.before[n])
            for v in self.facts.of(stmt)
            for n in names
            if n in v.before
        )

    def is_function(self, variant: Variant, name: str) -> bool:
        t = variant.before.get(name)
        if isinstance(t, Object):
            return True
        if isinstance(t, (Tuple, List)):
            return any(map(is_function, t.items or ()))
        if is_local(t):
            return True
        if isinstance(t, Const) and callable(t.value):
            return not isinstance(t.value, type)
        if t is None and name not in self.written:
            try:
                return callable(self.program.look(self.unit, name))
            except KeyError:
                return False
        return False

    def active_names(self) -> set[str]:
        """Names that carry a derivative somewhere in the unit."""
        return {
            name
            for stmt in syntax.all_statements(self.unit.node.body)
            for variant in self.facts.of(stmt)
            for name, t in variant.after.items()
            if is_active(t)
        }

    def writes_arguments(self, unit: Unit) -> bool:
        """Whether the callee changes an array or container that it was given."""
        if not self.facts.writes:
            return False
        local = set(map(id, syntax.walk(unit.node)))
        written = self.facts.written_by(syntax.walk(unit.node))
        return any(site_of(b) not in local for b in written)
