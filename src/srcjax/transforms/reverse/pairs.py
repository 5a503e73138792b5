"""Calls of other functions: each becomes a forward and a backward function.

y = g(a, b)          forward:   y, saved = g_forward(a, b)
                     backward:  da, db = g_backward(saved, dy)
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Collection
from copy import deepcopy
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import signature_of, spread_of
from srcjax.analysis.custom import Checkpointed, CustomRule, CustomTangent
from srcjax.analysis.program import Program
from srcjax.analysis.references import (
    VJP,
    VJP_AT_RUN_TIME,
    VJP_CHECKPOINTED,
    VJP_CUSTOM,
    Reference,
)
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Closure,
    Const,
    Dict,
    List,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    is_active,
    parts,
    replace,
)
from srcjax.frontend.unit import Unit
from srcjax.runtime import zeros_like
from srcjax.transforms.call_effects import made_from, written_operands
from srcjax.transforms.callees import Callees, recursive_functions
from srcjax.transforms.reasons import Reason
from srcjax.transforms.writer import OLD

#: What explained text says of calls of functions that have their own text.
CHAIN = "chain rule: the function passes the adjoint back through its own lines"


#: How the adjoint of a table is kept: it is one object, which can be added to.
_FILLED = ("dict", "list", "buffer", "view")


class Pairs(Callees):
    """The callees of one transform and the names of their functions."""

    def __init__(self, program: Program, names: syntax.Names) -> None:
        super().__init__(program, names, ("forward", "backward"))
        #: By function, those of its parameters `unread` that are thought to be so.
        self.unread: dict[int, set[str]] | None = None
        #: The memory that the backward code of a function reads.
        self.read_back: Callable[[Unit], Buffers] = _everything

    def left_unread(self, unit: Unit) -> set[str]:
        """Tables whose items the backward function does not read: it has them by name.

            y = memo[n - 1]                dmemo[n - 1] += dy * x
            memo[n] = y * x                dx = dy * y

        Then nothing has to be put back into the table, however often it is filled. All
        are supposed to be such: the backward code that is written on that says which
        are not.
        """
        if self.unread is None:
            units = {k: u for k, u in self.program.units.items() if self.carried(u)}
            self.unread = {key: set(self.carried(u)) for key, u in units.items()}
            while self.withdrawn(units):
                pass
        return self.unread.get(id(unit.source.func), set())

    def withdrawn(self, units: dict[int, Unit]) -> bool:
        """Give up what is not so of what was supposed; whether that was anything."""
        assert self.unread is not None
        before = {key: set(found) for key, found in self.unread.items()}
        for key, unit in units.items():
            if self.unread[key]:
                types = self.program.types_of(unit)
                read = self.tried(unit)
                self.unread[key] = {
                    p for p in self.unread[key] if types[p].buffers.isdisjoint(read)
                }
        return before != self.unread

    def tried(self, unit: Unit) -> Buffers:
        """What backward code of the function reads, which is written to no avail."""
        wanted, values = dict(self.wanted), dict(self.values)
        names = self.names, unit.names
        temps, saved = set(unit.temps), set(unit.saved)
        self.names, unit.names = map(deepcopy, names)
        try:
            return self.read_back(unit)
        finally:
            self.names, unit.names = names
            self.wanted, self.values = wanted, values
            unit.temps, unit.saved = temps, saved

    def call(
        self, rules: Any, name: str, value: gast.Call, callee: Any, count: int
    ) -> bool:
        """Differentiate `name = g(...)`; False if the callee is not known."""
        rules.reasons = (Reason(said=CHAIN),)
        if isinstance(callee, CustomRule):
            return self.custom_call(rules, name, value, callee)
        if isinstance(callee, CustomTangent):
            rules.check_tangent_rule(callee)
        if isinstance(callee, (Checkpointed, CustomTangent)):
            value = rules.positional(value, callee.function)
            if isinstance(callee, CustomTangent) and self.transposed_call(
                rules, name, value, callee
            ):
                return True
            custom = isinstance(callee, CustomTangent)
            vjp = VJP_CUSTOM if custom else VJP_CHECKPOINTED
            return self.unknown_call(rules, name, value, vjp)
        if isinstance(callee, (pytypes.FunctionType, pytypes.MethodType)):
            function = getattr(callee, "__func__", callee)
            unit = self.program.units.get(id(function))
            if unit is not None and function is callee:
                self.pair_call(rules, name, value, unit)
                return True
        if isinstance(callee, Closure):
            return False
        transformed = getattr(callee, "__srcjax_transform__", None)
        if count and (callee is None or transformed is not None):
            numbers = all(map(rules.is_real_number, value.args))
            vjp = VJP if numbers else VJP_AT_RUN_TIME
            return self.unknown_call(rules, name, value, vjp)
        return False

    def filling(self, rules: Any, value: Any) -> Unit | None:
        """The function that a call executes to fill what is read after it."""
        callees = rules.facts.callees.get(id(value), ())
        unit = self.program.units.get(id(callees[0])) if len(callees) == 1 else None
        if not isinstance(value, gast.Call) or unit is None:
            return None
        filled = set().union(*map(syntax.names_read, written_operands(value)))
        if any(rules.active(syntax.name(n)) and rules.has_adjoint(n) for n in filled):
            return unit
        return None

    def pair_call(self, rules: Any, name: str, value: gast.Call, unit: Unit) -> None:
        forward, backward = self.names_of(unit)
        signature = signature_of(unit.node.args, unit.source)
        keywords = {k.arg: k.value for k in value.keywords}
        bound = signature.bind(*value.args, **keywords).arguments
        carried = self.carried_in(rules, unit, bound)
        self.check_read_after(rules, value, unit, bound, carried)
        saved = rules.unit.names.fresh("saved")
        rules.unit.temps.add(saved)
        call = gast.Call(syntax.name(forward), value.args, value.keywords)
        unread = {bound[p].id for p in self.left_unread(unit)}
        self.replace_call(rules, name, saved, made_from(call, value), unread)
        rules.saved.add(saved)
        rules.forward[id(rules.stmt)][0].keeps = "saved"
        result_type = self.type_of_result(unit)
        d: gast.expr = syntax.const(None)
        if rules.has_adjoint(name) or is_active(result_type):
            d = rules.adjoint_for(name, result_type)
        begun = [rules.adjoint_in_place(bound[p].id) for p in carried]
        result = gast.Call(syntax.name(backward), [syntax.name(saved), d, *begun], [])
        result = made_from(result, value)
        wanted = self.active(unit)
        targets = [bound.get(n) for n in wanted]
        stars = any(isinstance(a, gast.Starred) for a in value.args)
        if stars or any(isinstance(t, (tuple, dict)) for t in targets):
            self.receive_several(rules, result, value, unit, carried)
            return
        names = {t.id for t in targets if t is not None and rules.active(t)}
        first = {n for n in names if not rules.has_adjoint(n)}
        self.receive(rules, result, targets, {bound[p].id for p in carried})
        rules.left_out.after_callee(unit.source.func, value.args, first)

    def receive_several(
        self, rules: Any, result: gast.expr, value: gast.Call, unit: Unit, carried: Any
    ) -> None:
        """Contribute adjoints where `*rest` takes arguments, or `*xs` gives them.

        y = f(a, *xs, k=c)  da, dfirst, drest, doptions = f_backward(saved, dy)
                            dxs += [dfirst, *drest]
                            dc += doptions["k"]  # def f(x, first, *rest, **options)
        """
        arguments = unit.node.args
        named = [p.id for p in (*arguments.posonlyargs, *arguments.args)]
        rest, options = (p and p.id for p in (arguments.vararg, arguments.kwarg))
        given, whole, left, unclear = spread_of(arguments, value)
        if carried or unclear:
            raise self.refuse_stars(rules, value, unit)
        adjoints: dict[str, gast.expr] = {}
        for p in self.active(unit):
            fresh = rules.unit.names.fresh(rules.derivative_name(p))
            rules.unit.temps.add(fresh)
            adjoints[p] = syntax.name(fresh)
        names = [syntax.as_store(d) for d in adjoints.values()]
        if names:
            target = gast.Tuple(names, syntax.STORE) if names[1:] else names[0]
            rules.emit(gast.Assign([target], result, None))

        def pass_on(argument: Any, d: gast.expr | None) -> None:
            if not rules.active(argument):
                return
            if d is None:
                raise self.refuse_stars(rules, value, unit)
            rules.contribute(argument.id, d)

        def part(whole: gast.expr | None, key: Any) -> gast.expr | None:
            return whole and gast.Subscript(whole, key, syntax.LOAD)

        more, by_key = adjoints.get(rest), adjoints.get(options)
        for k, argument in enumerate(given):
            beyond = k - len(named)
            item = part(more, syntax.const(beyond)) if beyond >= 0 else None
            pass_on(argument, adjoints.get(named[k]) if beyond < 0 else item)
        for keyword in value.keywords:
            key = keyword.arg
            own = key in named or key in {p.id for p in arguments.kwonlyargs}
            if key is None:
                pass_on(keyword.value, by_key if len(value.keywords) == 1 else None)
            else:
                item = part(by_key, syntax.const(key))
                pass_on(keyword.value, adjoints.get(key) if own else item)
        if whole is not None:
            firsts = [adjoints.get(p) for p in left]
            beyond = len(given) - len(named)
            if more is not None and beyond > 0:
                tail = gast.Slice(syntax.const(beyond), None, None)
                more = part(more, tail)
            known = more is not None and None not in firsts
            if known and firsts:
                more = gast.List(
                    [*firsts, gast.Starred(more, syntax.LOAD)], syntax.LOAD
                )
            pass_on(whole, more if known else None)

    def refuse_stars(self, rules: Any, value: gast.Call, unit: Unit) -> Any:
        """The error that adjoints do not find their way back to arguments."""
        return rules.refuse(
            f"`{syntax.text(value)}` gives arguments by stars, or more than have "
            f"names, to `{unit.name}`, which calls itself",
            "a list, tuple or dict as one argument",
        )

    def type_of_result(self, unit: Unit) -> Type:
        """What the function gives in one of its calls or another."""
        result = getattr(unit.node.body[-1], "value", None)
        if isinstance(result, gast.Constant):
            return Const(value=result.value)
        if not isinstance(result, gast.Name):
            return UNKNOWN
        return self.program.types_of(unit).get(result.id, UNKNOWN)

    def check_read_after(
        self,
        rules: Any,
        value: gast.Call,
        unit: Unit,
        bound: dict[str, Any],
        carried: list[str],
    ) -> None:
        """What the call writes to must not be read after it.

        The backward function starts the adjoint of an argument anew, unless it is one
        of those that it carries on.
        """
        intact = [
            v for p, v in bound.items() if p in carried or not self.writes_to(unit, p)
        ]
        for operand in written_operands(value):
            if any(operand is v for v in intact):
                continue
            for name in sorted(syntax.names_read(operand)):
                if rules.active(syntax.name(name)) and rules.has_adjoint(name):
                    raise rules.refuse(
                        f"`{rules.base(name)}` is read after "
                        f"`{syntax.text(value.func)}`, which writes to it",
                        "what it returns in place of what it changed, or a copy for "
                        "the call: `.copy()`",
                    )

    def carried(self, unit: Unit) -> list[str]:
        """Parameters whose adjoints the backward function is given, and goes on with.

            memo[n] = fib(n - 1, memo) + memo[n - 2]

        A table that a recursion fills is read before and after each of its calls: there
        is one adjoint of it, in which each call finds what the later ones put there.
        """
        types = self.program.types_of(unit)
        filled = [
            p
            for p in self.active(unit)
            if self.is_table(unit, p, types.get(p))
            and self.writes_to(unit, p)
            and syntax.count_bindings(unit.node, p) == 1
        ]
        if not filled or id(unit.source.func) not in recursive_functions(self.program):
            return []
        result = getattr(unit.node.body[-1].value, "id", "")
        given_back = all_buffers(types.get(result, UNKNOWN))
        return [p for p in filled if types[p].buffers.isdisjoint(given_back)]

    def is_table(self, unit: Unit, parameter: str, t: Type | None) -> bool:
        """Whether the calls of a function in itself may all fill the same object.

        A dict; or an array or list that each of these calls is given as it is.
        """
        if isinstance(t, Dict):
            return True
        if not isinstance(t, (Array, List)):
            return False
        given = []
        for call in syntax.walk(unit.node):
            if unit.source.func in self.program.facts.callees.get(id(call), ()):
                signature = signature_of(unit.node.args, unit.source)
                keywords = {k.arg: k.value for k in call.keywords}
                bound = signature.bind(*call.args, **keywords).arguments
                given.append(bound.get(parameter))
        return bool(given) and all(syntax.is_name(g, parameter) for g in given)

    def carried_in(self, rules: Any, unit: Unit, bound: dict[str, Any]) -> list[str]:
        """Those of them in a call: each argument is a name of its own."""
        carried = self.carried(unit)
        names = [getattr(bound.get(p), "id", None) for p in carried]
        for p, name in zip(carried, names, strict=True):
            alone = name is not None and names.count(name) == 1
            if (
                not alone
                or rules.kind(name) not in _FILLED
                or not rules.active(bound[p])
            ):
                raise rules.refuse(
                    f"`{p}`, which `{unit.name}` fills while it calls itself",
                    "a name for the dict, which is filled by nothing else",
                )
            items = NONE.union(*map(all_buffers, parts(rules.type_of_name(name))))
            if items & rules.written:  # what a call gave has an adjoint of its own
                raise rules.refuse(
                    f"an array in `{p}` is changed in place, which `{unit.name}` fills "
                    "while it calls itself",
                    "a new array: `y = 2 * y` for `y *= 2`",
                )
        return carried

    def writes_to(self, unit: Unit, parameter: str) -> bool:
        """Whether the function may write to what it is given for the parameter.

        One that calls itself makes arrays where those were made that it is given, but
        the given ones are older (`types.Earlier`).
        """
        facts = self.program.facts
        nodes = [id(node) for node in syntax.walk(unit.node)]
        held = NONE.union(
            *(
                facts.held.get((n, after), {}).get(parameter, NONE)
                for n in nodes
                for after in (False, True)
            )
        )
        written = NONE.union(*(facts.writes.get(n, NONE) for n in nodes))
        return not held or bool(held & written)

    def replace_call(
        self,
        rules: Any,
        name: str,
        other: str,
        call: gast.expr,
        unread: Collection[str] = (),
    ) -> None:
        """Let the forward sweep compute `name, other = call` in place of the call.

        The items of what is `unread` are not read again by way of `other`.
        """
        both = [syntax.name(name, store=True), syntax.name(other, store=True)]
        stmt = gast.Assign([gast.Tuple(both, syntax.STORE)], call, None)
        stmt.user_line = getattr(rules.stmt, "user_line", None)
        rules.forward[id(rules.stmt)] = [_now(stmt)]
        rules.extra_defs.setdefault(id(rules.stmt), []).append(other)
        # What was saved refers to the arguments and the result, which must hold what
        # they held after the call when it is read.
        shared = sorted(syntax.names_read(call) | {name})
        types = {n: rules.type_of_name(n) for n in shared}
        held = [t for n, t in types.items() if n not in unread]
        held += [part for n in unread for part in parts(types[n])]
        rules.types[other] = Unknown(buffers=NONE.union(*map(all_buffers, held)))

    def receive(
        self,
        rules: Any,
        result: gast.expr,
        targets: list[Any],
        carried: Collection[str] = (),
    ) -> None:
        """Contribute the adjoints that a backward function returns.

        Those of the names in `carried` it was given, and has written to.
        """
        targets = [t for t in targets if getattr(t, "id", None) not in carried]
        if not targets:
            rules.emit(gast.Expr(result))
            return
        active = [t if rules.active(t) else None for t in targets]
        if len(targets) == 1:
            if active[0] is not None:
                rules.contribute(active[0].id, result)
            elif carried:
                rules.emit(gast.Expr(result))
            return
        names: list[gast.expr] = []
        held: list[tuple[Any, str]] = []
        for target in active:
            if target is None:
                names.append(syntax.name("_", store=True))
                continue
            fresh = rules.unit.names.fresh(rules.derivative_name(rules.base(target.id)))
            rules.unit.temps.add(fresh)
            names.append(syntax.name(fresh, store=True))
            held.append((target, fresh))
        rules.emit(gast.Assign([gast.Tuple(names, syntax.STORE)], result, None))
        for target, fresh in held:
            for env in rules.envs:
                t = env.get(target.id, rules.type_of_name(target.id))
                if rules.program.may_be_complex() and isinstance(t, (Array, Scalar)):
                    t = replace(t, dtype=None)  # the callee may leave it complex
                env[fresh] = t
            rules.contribute(target.id, syntax.name(fresh))

    def custom_call(
        self, rules: Any, name: str, value: gast.Call, callee: CustomRule
    ) -> bool:
        """A function with its own forward and backward functions."""
        if callee.fwd is None or callee.bwd is None:
            raise rules.refuse(
                f"`{callee.__name__}` was made by custom_vjp but has no rule",
                f"`{callee.__name__}.defvjp(forward, backward)`",
            )
        value = rules.positional(value, callee.function)
        base = callee.__name__
        forward = self.constant(f"{base}_fwd", callee.fwd)
        backward = self.constant(f"{base}_bwd", callee.bwd)
        saved = rules.unit.names.fresh("saved")
        rules.unit.temps.add(saved)
        call = gast.Call(syntax.name(forward), value.args, value.keywords)
        self.replace_call(rules, name, saved, call)
        static = [syntax.clone(value.args[i]) for i in callee.nondiff_argnums]
        d = rules.adjoint_for(name)
        result = gast.Call(syntax.name(backward), [*static, syntax.name(saved), d], [])
        targets = [
            a for i, a in enumerate(value.args) if i not in callee.nondiff_argnums
        ]
        if len(targets) == 1:
            result = gast.Subscript(result, syntax.const(0), syntax.LOAD)
        self.receive(rules, result, targets)
        return True

    def transposed_call(
        self, rules: Any, name: str, value: gast.Call, callee: CustomTangent
    ) -> bool:
        """A function with its own tangent rule: the transpose of the rule.

            y = f(x)        forward:   _, saved = f_tangent_forward((x,), (zeros,))
                                       y = f(x)
                            backward:  (dx,) = f_tangent_backward(saved, dy)

        The rule is linear in the tangents: at zero its derivative is its transpose. It
        is written for the types of the arguments; False where they are not known.
        """
        static = callee.nondiff_argnums
        types = [rules.type_of(a) for a in value.args]
        moving = [i for i in range(len(types)) if i not in static]
        if not all(is_known_number(types[i]) for i in moving) or any(
            isinstance(t, Unknown) for t in types
        ):
            return False
        primals = Tuple(items=tuple(types[i] for i in moving))
        transform = callee.pair_of(callee.tangent(len(static)), (len(static) + 1,), 0)
        version = transform.version_of([*(types[i] for i in static), primals, primals])
        for guard in version.guards:
            self.program.rest_on(guard)
        base = f"{callee.__name__}_tangent"
        forward = self.constant(f"{base}_forward", version.function)
        last = version.module.functions[-1].name
        backward = self.constant(f"{base}_backward", getattr(version.loaded, last))
        zeros = self.constant("zeros_like", zeros_like)

        saved = rules.unit.names.fresh("saved")
        rules.unit.temps.add(saved)
        args = [syntax.clone(value.args[i]) for i in moving]
        none = [syntax.call(zeros, syntax.clone(a)) for a in args]
        at = [gast.Tuple(args, syntax.LOAD), gast.Tuple(none, syntax.LOAD)]
        fixed = [syntax.clone(value.args[i]) for i in static]
        call = gast.Call(syntax.name(forward), [*fixed, *at], [])
        self.replace_call(rules, "_", saved, call)
        kept = syntax.clone(rules.stmt)
        kept.user_line = getattr(rules.stmt, "user_line", None)
        rules.forward[id(rules.stmt)].append(_now(kept))  # it may rebind an argument
        result: gast.expr = syntax.call(
            backward, syntax.name(saved), rules.adjoint_for(name)
        )
        if len(moving) == 1:
            result = gast.Subscript(result, syntax.const(0), syntax.LOAD)
        self.receive(rules, result, [value.args[i] for i in moving])
        return True

    def asked_call(self, rules: Any, name: str, value: gast.Call) -> None:
        """A call found when the program runs, of which the result has no adjoint.

        It may keep what it gets in an object, which would be a derivative lost: it is
        called by way of `vjp`, which refuses that.
        """
        if value.keywords or any(isinstance(a, gast.Starred) for a in value.args):
            raise rules.not_followed(value)
        self.pullback_when_run(rules, name, value, VJP_AT_RUN_TIME)

    def unknown_call(
        self, rules: Any, name: str, value: gast.Call, vjp: Reference
    ) -> bool:
        """A callee known only when the program runs: ask `vjp` for its pullback."""
        if value.keywords or any(isinstance(a, gast.Starred) for a in value.args):
            return False
        pullback = self.pullback_when_run(rules, name, value, vjp)
        d = rules.adjoint_for(name)
        result: gast.expr = gast.Call(syntax.name(pullback), [d], [])
        if len(value.args) == 1:
            result = gast.Subscript(result, syntax.const(0), syntax.LOAD)
        self.receive(rules, result, list(value.args))
        return True

    def pullback_when_run(
        self, rules: Any, name: str, value: gast.Call, vjp: Reference
    ) -> str:
        """Let the forward sweep ask for the pullback; the name that it gets."""
        rules.check_closed(value.func)
        rules.check_given(value)
        function = self.constant(vjp.name, vjp)
        pullback: str = rules.unit.names.fresh("pullback")
        rules.unit.temps.add(pullback)
        args = [value.func, *value.args]
        call = gast.Call(syntax.name(function), args, [])
        self.replace_call(rules, name, pullback, call)
        return pullback


def _everything(unit: Unit) -> Buffers:
    """What backward code may read where nothing is known of it."""
    raise NotImplementedError


def is_known_number(t: Type) -> bool:
    """Whether the type is that of a number or array of a known dtype."""
    return isinstance(t, (Array, Scalar)) and t.dtype is not None


def _now(stmt: gast.stmt) -> gast.stmt:
    """A forward statement with the names as they are when it is executed."""
    olds = {n for n in syntax.names_read(stmt) if n.endswith(OLD)}
    holes = {n: syntax.name(n.removesuffix(OLD)) for n in olds}
    new: gast.stmt = syntax.substitute(stmt, holes)
    new.user_line = getattr(stmt, "user_line", None)
    return new
