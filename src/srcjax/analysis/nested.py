"""Transforms that are written inside a function which is transformed itself.

    def f(x):                             def h(y, x):
        def h(y):                             return x * y
            return x * y
        return grad(h)(1.0)               def f(x):
                                              return grad_h(1.0, x)

Inference finds what is called and with which types, and leaves a `NestedCall` at the
call; `transforms.nested` writes it out. A function defined inside gets the variables
that it takes from around as parameters (`analysis.lifted`), so that a derivative inside
a derivative is the derivative of a plain function: each has variables of its own, and
no perturbation can be taken for another.
"""

from __future__ import annotations

import functools
import inspect
import types as pytypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from srcjax import syntax
from srcjax.analysis.binding import BoundTo, Env
from srcjax.analysis.counts import uncounted
from srcjax.analysis.custom import CustomRules
from srcjax.analysis.effects import Effects, Missed, Unreachable
from srcjax.analysis.lifted import Given, Lifted, lift, wrapped
from srcjax.analysis.types import (
    UNKNOWN,
    Closure,
    Const,
    List,
    Scalar,
    Transformed,
    Tuple,
    Type,
    Varies,
    dtype_of,
    has_leaves,
    is_active,
    is_local,
    is_mapping,
    join,
    map_parts,
    parts,
    replace,
    type_of,
    varies,
    with_active,
    with_leaves,
)
from srcjax.errors import SrcjaxError
from srcjax.frontend.lift import free_names


@dataclass(eq=False)
class NestedCall:
    """A call that `transforms.nested` writes out; kept as the callee of its node."""

    #: "call" (of what a transform made), "jvp" or "vjp".
    kind: str
    #: What is called or transformed, with all that it needs as parameters.
    lifted: Lifted
    #: The types of the parameters, joined over the executions of the call.
    types: list[Type]
    #: Positions of the primals that have tangents, and the tangents' types.
    directions: tuple[int, ...] = ()
    tangents: list[Type] = field(default_factory=list)
    has_aux: bool = False
    #: The type of what the function returns along with its value.
    aux: Type = UNKNOWN
    #: The transform of a function for these differentiated positions.
    transform_of: Callable | None = None

    def same(self, other: Any) -> bool:
        """Whether another execution of the call found the same but for types."""
        return (
            isinstance(other, NestedCall)
            and self.kind == other.kind
            and self.lifted == other.lifted
            and self.directions == other.directions
            and self.has_aux == other.has_aux
        )

    def join_to(self, other: NestedCall) -> None:
        """Let another execution of the call stand for this one too."""
        other.types = list(map(join, other.types, self.types))
        other.tangents = list(map(join, other.tangents, self.tangents))


@dataclass(eq=False)
class Unclear:
    """A transform of a function that is not known (yet): an error if it stays so.

    Calls of `vjp` and `jvp` (`kind`) may be left to the time when the program runs.
    """

    error: Exception
    kind: str = ""


class NestedTransforms(Effects):
    """Infers what transforms and the functions that they make give."""

    def call_function(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A call of a user's function (inferred in `calls`)."""
        raise NotImplementedError

    def nested(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type | None:
        """The result, if a transform or what one made is called; else None."""
        if isinstance(function, Transformed):
            return self.call_made(function, args, kwargs, node, env)
        if not isinstance(function, Const):
            return None
        value = function.value
        if getattr(value, "__srcjax_maker__", False):
            return self.make(value, args, kwargs, node)
        way = getattr(value, "__srcjax_nested__", None)
        if way is not None:
            return self.call_way(value, way, args, kwargs, node, env)
        transform = getattr(value, "__srcjax_transform__", None)
        if transform is None:
            return None
        if isinstance(value, CustomRules):
            if not is_mapping():
                return None  # it has rules
            return self.nested(Const(value=value.batched), args, kwargs, node, env)
        if transform.name == "jit":  # what it gives is what the function gives
            plain = Const(value=transform.function)
            found = self.nested(plain, args, kwargs, node, env)
            if found is None:
                self.callee(node, transform.function)
                found = self.call_function(transform.function, args, kwargs, node)
            return found
        if transform.way is not None:
            made = Const(value=transform.function)
            return self.call_way(value, transform.way, [made, *args], kwargs, node, env)
        return self.call_made(function, args, kwargs, node, env)

    # -- transforms that make functions ---------------------------------------------

    def make(
        self, maker: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """`grad(h, argnums=1)`: a function."""
        self.callee(node, maker)
        args = [self.option(t, node, k) for k, t in enumerate(args)]
        kwargs = {k: self.option(t, node, k) for k, t in kwargs.items()}
        function = args[0] if args else kwargs.get("f")
        self.refuse_bound(node, function)
        options = [*args[1:], *(v for k, v in kwargs.items() if k != "f")]
        known = all(_value_of(t) is not None for t in options)
        if known and function is None:  # used as a decorator
            named = {k: _value_of(t)[0] for k, t in kwargs.items()}  # type: ignore[index]
            return Const(value=functools.partial(maker, **named))
        if known and isinstance(function, Const):
            given = [_value_of(t)[0] for t in args[1:]]  # type: ignore[index]
            named = {
                k: _value_of(t)[0]  # type: ignore[index]
                for k, t in kwargs.items()
                if k != "f"
            }
            made = self.program.made_of(maker, function.value, given, named)
            return Const(value=made)
        local = is_local(function)
        if known and local and hasattr(maker, "__srcjax_keeps__"):
            return function  # type: ignore[return-value]
        if known and local and function is not None and self.is_here(function):
            rest = tuple((k, v) for k, v in kwargs.items() if k != "f")
            active = is_active(function)
            return Transformed(
                active,
                maker=maker,
                function=function,
                args=tuple(args[1:]),
                kwargs=rest,
            )
        active = any(map(is_active, [*args, *kwargs.values()]))
        if active:
            self.later(node, maker)
        return replace(UNKNOWN, active=active)

    def option(self, t: Type, node: Any, key: int | str) -> Type:
        """A transform's argument; a global or closure variable is the value it has."""
        given = dict(enumerate(getattr(node, "args", ()))) | {
            k.arg: k.value for k in getattr(node, "keywords", ())
        }
        name = getattr(given.get(key), "id", None)
        local = syntax.names_written(self.unit.node) | set(self.unit.parameters)
        if name is None or name in local or _value_of(t) is not None:
            return t
        value = self.program.resolve(self.unit, name)
        return Const(value=value) if isinstance(value, (int, str, tuple)) else t

    def is_here(self, function: Type) -> bool:
        """Whether the function was defined in the unit at hand."""
        while isinstance(function, Transformed) and function.maker is not None:
            function = function.function
        return not isinstance(function, Closure) or function.scope is self.unit

    def all_here(
        self, function: Type | None, env: Env, seen: frozenset[str] = frozenset()
    ) -> bool:
        """Whether it was defined in the unit at hand, and what it calls by name too."""
        while isinstance(function, Transformed) and function.maker is not None:
            function = function.function
        if not isinstance(function, Closure):
            return True
        if function.scope is not self.unit:
            return False
        called = free_names(function.definition) - seen
        seen = seen | called
        return all(self.all_here(env.get(name), env, seen) for name in called)

    def refuse_bound(self, node: Any, function: Type | None) -> None:
        if isinstance(getattr(function, "value", None), BoundTo):
            raise self.refuse(
                node,
                "a transform of a method of an object that the function made",
                "a function that calls it: `lambda x: obj.method(x)`",
            )

    def later(self, node: Any, transform: Any, kind: str = "") -> None:
        """The function may be known when what is around is put in place of a call."""
        if self.recording:
            error = self.unclear(node, transform)
            self.facts.callees[id(node)] = [Unclear(error, kind)]
            self.facts.nodes.append(node)

    def unclear(self, node: Any, transform: Any) -> Exception:
        name = getattr(transform, "__name__", "a transform")
        return self.refuse(
            node,
            f"`{name}` inside differentiated code: the function it gets "
            "is only known when the program runs",
            "call each function in a branch of its own",
        )

    # -- calls ----------------------------------------------------------------------

    def call_made(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        """A call of what a transform made."""
        active = any(map(is_active, [function, *args, *kwargs.values()]))
        if isinstance(function, Transformed) and function.maker is None:
            self.callee(node, None)
            return with_active(fresh(function.function, id(node)), active)
        if isinstance(function, Transformed) and not self.all_here(function, env):
            self.later(node, function.maker)
            return replace(UNKNOWN, active=active)
        way = getattr(getattr(function, "maker", None), "__srcjax_nested__", None)
        if isinstance(function, Transformed) and way is not None:
            everything = [function.function, *args]
            return self.call_way(function.maker, way, everything, kwargs, node, env)
        lifted = self.lifted(function, args, kwargs, node, env)
        types = self.parameter_types(lifted, args, kwargs, env)
        call = NestedCall("call", lifted, types)
        if isinstance(function, Transformed) or active or varies() is Varies.RUN_TIME:
            self.nested_call(node, call)
        else:
            self.plain_call(node, getattr(function, "value", None), call)
        result = self.value_type(lifted.function, types)
        result = with_active(fresh(result, id(node)), active)
        return with_leaves(result) if any(map(has_leaves, args)) else result

    def call_way(
        self,
        value: Any,
        way: Any,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        """`jvp(f, primals, tangents)`, `vjp(f, *primals)`."""
        kind, transform_of = way
        active = any(map(is_active, [*args, *kwargs.values()]))
        try:
            bound = inspect.signature(value).bind(*args, **kwargs)
        except (TypeError, ValueError):
            bound = None
        given = dict(bound.arguments) if bound is not None else {}
        if getattr(value, "__srcjax_transform__", None) is not None:
            given = dict(zip(("f", "primals", "tangents"), args, strict=False))
        function = given.get("f")
        self.refuse_bound(node, function)
        has_aux = given.get("has_aux", Const(value=False))
        local = is_local(function)
        if kind == "jvp" and given.keys() == {"f"}:
            self.callee(node, value)
            if isinstance(function, Const):
                return Const(value=value(function.value))
            if local and function is not None:
                return Transformed(active, maker=value, function=function)
        if not active and not local and varies() is not Varies.RUN_TIME:
            self.callee(node, value)
            return UNKNOWN
        if (
            not (local or isinstance(function, Const))
            or function is None
            or not self.all_here(function, env)
            or not isinstance(has_aux, Const)
        ):
            plain = has_aux == Const(value=False) and function is not None
            self.later(node, value, kind if plain else "")
            if kind == "vjp" and plain:
                y = replace(UNKNOWN, active=active)
                return Tuple(items=(y, pullback_to(given.get("primals", ()), active)))
            return replace(UNKNOWN, active=active)
        tangents: list[Type] = []
        if kind == "jvp":
            primals = self.known_items(node, given.get("primals"), "primals")
            tangents = self.known_items(node, given.get("tangents"), "tangents")
            if len(primals) != len(tangents):
                raise self.refuse(
                    node,
                    f"jvp: {len(primals)} primals and {len(tangents)} tangents",
                    "a tangent for each primal, None to hold it constant",
                )
        else:
            primals = list(given.get("primals", ()))
        lifted = self.lifted(function, primals, {}, node, env)
        types = self.parameter_types(lifted, primals, {}, env)
        moving = tuple(
            i
            for i, source in enumerate(lifted.given)
            if source[0] == "arg"
            and not (tangents and _is_held(types[i], tangents[source[1]]))
        )
        if kind == "vjp" and any(may_move(types[i]) for i in moving):
            moving = tuple(i for i in moving if may_move(types[i]))
        dots = [tangents[lifted.given[i][1]] for i in moving] if tangents else []
        call = NestedCall(
            kind,
            lifted,
            types,
            moving,
            dots,
            has_aux=bool(has_aux.value),
            transform_of=transform_of,
        )
        self.nested_call(node, call)
        y = fresh(self.value_type(lifted.function, types), id(node))
        aux: tuple[Type, ...] = ()
        if call.has_aux:
            whole = getattr(y, "items", None)
            if whole is None or len(whole) != 2:
                whole = (UNKNOWN, UNKNOWN)
            y, whole_aux = whole
            call.aux = whole_aux
            aux = (with_active(whole_aux, active),)
        y = with_active(y, active)
        if kind == "jvp":
            return Tuple(items=(y, as_tangent(y), *aux))
        return Tuple(items=(y, pullback_to(primals, active), *aux))

    def known_items(self, node: Any, t: Type | None, name: str) -> list[Type]:
        """The items of the tuple of primals or tangents."""
        items = self.iteration(t) if isinstance(t, (Tuple, List)) else None
        if items is None:
            raise self.refuse(
                node,
                f"jvp: how many `{name}` there are is only known when the program runs",
                f"a tuple: `{name}=(x, y)`",
            )
        return items

    def nested_call(self, node: Any, call: NestedCall) -> None:
        """Leave the call at its node; what executions of it found is joined."""
        if not self.recording or node is None:
            return
        known = self.facts.callees.setdefault(id(node), [])
        self.facts.nodes.append(node)
        for other in known:
            if call.same(other):
                call.join_to(other)
                return
        for value, other in self.facts.plain_calls.get(id(node), []):
            if call.same(other):  # of a value that the first iteration starts with
                other.join_to(call)
                known[:] = [callee for callee in known if callee is not value]
        known.append(call)

    def plain_call(self, node: Any, value: Any, call: NestedCall) -> None:
        """A call of constants alone stays, unless other executions of it carry more."""
        if not self.recording or node is None:
            return
        if any(call.same(other) for other in self.facts.callees.get(id(node), [])):
            self.nested_call(node, call)
            return
        self.callee(node, value)
        self.facts.plain_calls.setdefault(id(node), []).append((value, call))

    # -- functions ------------------------------------------------------------------

    def lifted(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
        mapped: bool = False,
    ) -> Lifted:
        """The function with all that it needs as parameters, by position.

        `mapped`: below a `vmap`, for which what the call gives has a batch axis, and
        defaults and variables from around have none.
        """
        if isinstance(function, Transformed) and function.maker is None:
            raise self.refuse(
                node,
                "a pullback is given to a transform",
                "`vjp` inside of the function that is transformed, as in "
                "`vmap(lambda dy: vjp(f, x)[1](dy))`",
            )
        if isinstance(function, Transformed):
            mapped = mapped or getattr(function.maker, "__name__", "") in (
                "pmap",
                "vmap",
                "vectorize",
            )
            inner = self.lifted(function.function, args, kwargs, node, env, mapped)
            options = [_value_of(t)[0] for t in function.args]  # type: ignore[index]
            named = {k: _value_of(t)[0] for k, t in function.kwargs}  # type: ignore[index]
            made = self.program.made_of(
                function.maker, inner.function, options, named, inner.own
            )
            tell_axes(made, inner.given)
            return replace(inner, function=made)
        if isinstance(function, Closure):
            return lift(self, function, len(args), list(kwargs), node, env)
        assert isinstance(function, Const)
        value = function.value
        transform = getattr(value, "__srcjax_transform__", None)
        if transform is None:
            return wrapped(self, value, len(args), list(kwargs), node, mapped)
        inside = Const(value=transform.function)
        mapped = mapped or transform.maps
        inner = self.lifted(inside, args, kwargs, node, env, mapped)
        if inner.function is transform.function:
            return replace(inner, function=value)
        made = self.program.made_of(transform.rebased, inner.function, [inner.own], {})
        tell_axes(made, inner.given)
        return replace(inner, function=made)

    def parameter_types(
        self, lifted: Lifted, args: list[Type], kwargs: dict[str, Type], env: Env
    ) -> list[Type]:
        """What each parameter gets."""
        types: list[Type] = []
        for kind, what in lifted.given:
            if kind == "arg":
                types.append(args[what])
            elif kind == "keyword":
                types.append(kwargs[what])
            elif kind == "value":
                types.append(type_of(what))
            elif kind == "expression":
                types.append(self.eval(what, env))
            else:
                types.append(env[what])
        return list(map(uncounted, types))

    def value_type(self, function: Any, types: list[Type]) -> Type:
        """What a call gives, by the contract of its transform or by execution."""
        transform = getattr(function, "__srcjax_transform__", None)
        if transform is not None:

            def value(given: list[Type] = types) -> Type:
                return self.value_type(transform.function, given)

            try:
                found: Type = transform.result_type(types, value)
            except SrcjaxError:
                return UNKNOWN
            return found
        if not isinstance(function, pytypes.FunctionType):
            return UNKNOWN
        quiet = [with_active(t, False) for t in types]
        try:
            with self.trying():
                return self.call_function(function, quiet, {}, None)
        except (Unreachable, Missed, TypeError):
            return UNKNOWN


def pullback_to(primals: Iterable[Type], active: bool) -> Transformed:
    """The type of the function that `vjp` gives, before it is written out."""
    gradients = Tuple(items=tuple(as_tangent(p) for p in primals))
    return Transformed(active, function=with_active(gradients, active))


def tell_axes(made: Any, given: list[Given]) -> None:
    """Tell a `vmap` what each parameter of its function gets."""
    transform = made.__srcjax_transform__
    if transform.maps:
        transform.given = tuple(kind for kind, _ in given)


def as_tangent(t: Type) -> Type:
    """The type of a tangent or adjoint of a value: ints in it are floats."""
    if isinstance(t, Const) and type(t.value) in (int, float):
        t = type_of(float(t.value))
    if isinstance(t, Scalar) and t.python and t.dtype is not None:
        return replace(t, dtype=_FLOAT) if t.dtype.kind == "i" else t
    return map_parts(t, as_tangent)


def fresh(t: Type, buffer: Any) -> Type:
    """The type of a new value, whose memory is its own."""
    count = iter(range(1 << 30))

    def visit(part: Type) -> Type:
        part = map_parts(part, visit)
        if part.buffers:
            return replace(part, buffers=frozenset([(buffer, next(count))]))
        return part

    return visit(t)


def may_move(t: Type) -> bool:
    """Whether a real number may be in it: it is not known to be whole numbers."""
    dtype = dtype_of(t)
    if dtype is not None:
        return dtype.kind not in "biu"
    inside = parts(t)
    return any(map(may_move, inside)) if inside else not isinstance(t, Const)


def _is_held(primal: Type, tangent: Type) -> bool:
    """Whether a tangent is None, or zero of what has no real number."""
    value = getattr(tangent, "value", tangent)
    zero = isinstance(value, (int, float)) and not value
    return value is None or (zero and not may_move(primal))


def _value_of(t: Any) -> tuple[Any] | None:
    """The Python value of an option such as argnums, in a tuple; None if unknown."""
    if isinstance(t, Const):
        return (t.value,)
    if isinstance(t, (Tuple, List)) and t.items is not None:
        parts = [_value_of(part) for part in t.items]
        if all(part is not None for part in parts):
            return (tuple(part[0] for part in parts if part is not None),)
    return None


_FLOAT = type_of(0.0).dtype  # type: ignore[attr-defined]

__all__ = ["NestedCall", "NestedTransforms", "as_tangent", "fresh"]
