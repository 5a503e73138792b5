"""Functions in core form, gone through with values that write down what is done.

What Python can decide it decides: a branch on a shape is the one that is taken. A
branch on a value is `cond`, a loop that a value ends is `while`, and a loop over a
range or over rows is `scan`, or its trips one after the other where it is none: where
it goes over a list of layers, say.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import sys
import types as pytypes
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.arrays import ARRAYS, inside
from srcjax.analysis.custom import Checkpointed, CustomBatch, CustomRule, CustomTangent
from srcjax.analysis.program import Program
from srcjax.analysis.structural import is_structural
from srcjax.analysis.types import Varies, type_of, varying
from srcjax.errors import SrcjaxError
from srcjax.frontend.read import read
from srcjax.frontend.unit import Unit
from srcjax.jaxprs.breaks import STOPPED, WhileLoop, counted, has_break
from srcjax.jaxprs.forms import ClosedJaxpr
from srcjax.jaxprs.loops import Loops, not_settled
from srcjax.jaxprs.operations import converted, traced
from srcjax.jaxprs.traced import (
    LOWERINGS,
    METHODS,
    Trace,
    Traced,
    Unwritable,
    apply,
    by_name,
    flat_traced,
    stand_in,
    trace_of,
)
from srcjax.jaxprs.values import (
    Appended,
    LastRow,
    Made,
    Pending,
    Popped,
    Rows,
    copied_scope,
    has_traced,
    is_method_of_traced,
    leaf_pairs,
    not_bound,
    numbers_of,
    rebuilt,
    refuse_shared_writes,
    replaced,
    same,
    small,
    with_numbers,
)
from srcjax.ops.effects import OWNER, effect_of_function
from srcjax.versions.functions import underlying

#: Loops of more trips are not written out.
MOST_TRIPS = 1000


class Stop(Exception):
    """`break`, where Python decides."""


class Raised(Exception):
    """A `raise` in a branch that a value decides."""


def called(trace: Trace, function: Any, args: tuple, kwargs: dict) -> Any:
    """What a function gives, with equations for what it computes."""
    function = inside(function)
    if isinstance(function, Made):
        return function(*args, **kwargs)
    if function is isinstance:
        return isinstance(small(args[0]), args[1])
    if function is print:
        return None
    if isinstance(function, functools.partial):
        given = {**function.keywords, **kwargs}
        return called(trace, function.func, (*function.args, *args), given)
    if function is reversed and isinstance(args[0], range):
        return args[0][::-1]
    if function is reversed and isinstance(args[0], Traced):
        return args[0][::-1]
    if isinstance(function, (np.ufunc, type(np.sum))) or id(function) in LOWERINGS:
        if function is np.stack and isinstance(args[0], Rows) and not kwargs:
            return args[0].rows if isinstance(args[0].rows, Traced) else function(*args)
        if trace_of((args, kwargs)) is not None:
            return apply(function, args, kwargs)
    owner = getattr(function, "__self__", None)
    holds = isinstance(function, pytypes.MethodType) and has_traced(
        getattr(owner, "__dict__", {})
    )
    if (
        not holds
        and not has_traced((args, kwargs))
        and not is_method_of_traced(function)
    ):
        return called_now(trace, function, args, kwargs)
    transform = getattr(function, "__srcjax_transform__", None)
    if transform is not None:
        return transformed(trace, transform, args, kwargs)
    if isinstance(function, CustomBatch):
        name, inner = "custom_vmap_call", function.function
        return nested(trace, name, inner, args, kwargs, "call")
    if isinstance(function, (CustomRule, CustomTangent, Checkpointed)):
        name = {CustomRule: "custom_vjp_call", CustomTangent: "custom_jvp_call"}.get(
            type(function), "checkpoint"
        )
        return nested(trace, name, function.function, args, kwargs, "call_jaxpr")
    if getattr(function, "__srcjax_switch__", False):
        return switched(trace, *args, **kwargs)
    plain = (pytypes.FunctionType, pytypes.MethodType)
    if is_structural(function):
        return function(*args, **kwargs)
    if not isinstance(function, plain):
        return called_now(trace, function, args, kwargs)
    home = str(getattr(function, "__module__", "")).split(".")
    if home[0] in ("numpy", "scipy") or home[:2] == ["srcjax", "random"]:
        return by_name(function, args, kwargs)
    if isinstance(owner, (Traced, Rows, Popped, Appended, Made)):
        return function(*args, **kwargs)
    return Run(trace, function).call(args, kwargs)


def called_now(trace: Trace, function: Any, args: tuple, kwargs: dict) -> Any:
    """A call that Python makes when the jaxpr is written, and not when it runs.

    In a branch or a trip, which runs as often as values say, it may change nothing:
    a function of the user's is gone through.
    """
    if len(trace.parts) == 1 or changes_nothing(function, len(args)):
        return function(*args, **kwargs)
    if isinstance(function, (pytypes.FunctionType, pytypes.MethodType)):
        return Run(trace, function).call(args, kwargs)
    name = getattr(function, "__name__", type(function).__name__)
    raise Unwritable(
        f"make_jaxpr: `{name}` is called in a branch or loop, and may change something",
        instead="a function of NumPy",
    )


def changes_nothing(function: Any, count: int) -> bool:
    """Whether a call changes nothing but lists and dicts: a part has its own."""
    if isinstance(function, type) and dataclasses.is_dataclass(function):
        return True
    effect = effect_of_function(function, count)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (list, dict, Traced)):
        effect = dataclasses.replace(effect, writes=effect.writes - {OWNER})
    return effect.pure


def switched(
    trace: Trace, index: Any, branches: Any, *operands: Any, operand: Any = ...
) -> Any:
    """`lax.switch`: `cond` with more branches than two."""
    if operand is not ...:
        operands = (operand,)
    if not isinstance(index, Traced):
        index = min(max(index, 0), len(branches) - 1)
        return called(trace, branches[index], operands, {})
    parts = []
    for branch in branches:
        with trace.inside() as eqns:
            result = called(trace, branch, operands, {})
            leaves = [traced(trace, leaf) for leaf in numbers_of(result)]
        parts.append((eqns, leaves, result))
    shapes = [[(v.shape, v.dtype) for v in leaves] for _, leaves, _ in parts]
    if any(s != shapes[0] for s in shapes):
        raise Unwritable(
            "make_jaxpr: the branches give arrays of other shapes or dtypes",
            instead="arrays of one shape and dtype",
        )
    closed = [
        trace.closed(eqns, [], [v.var for v in leaves]) for eqns, leaves, _ in parts
    ]
    around: list[Any] = []
    for _, reads in closed:
        around += [v for v in reads if v not in around]
    for jaxpr, _ in closed:
        jaxpr.invars = list(around)
    last = converted(index, np.dtype(np.int32))
    place = trace.emit(
        "clamp", [np.int32(0), last, np.int32(len(branches) - 1)], (), last.dtype
    )
    outer = trace.emit_all(
        "cond",
        [place, *(Traced(trace, v) for v in around)],
        shapes[0],
        branches=tuple(ClosedJaxpr(j, []) for j, _ in closed),
    )
    return with_numbers(parts[0][2], iter(outer))


def transformed(trace: Trace, transform: Any, args: tuple, kwargs: dict) -> Any:
    """A call of what a transform made: the text that it wrote; `jit` is an equation."""
    from srcjax.api.compiled import Jit

    if isinstance(transform, Jit):
        return nested(trace, "jit", transform.function, args, kwargs, "jaxpr")
    values = transform.bind(args, kwargs)
    types = [
        type_of(stand_in(value), ("param", name))
        for name, value in zip(transform.parameters, values, strict=True)
    ]
    given, named = transform.arguments(values)
    return called(trace, transform.function_for(types), tuple(given), named)


def nested(
    trace: Trace, primitive: str, function: Any, args: tuple, kwargs: dict, key: str
) -> Any:
    """A call as one equation, with the jaxpr of the function."""
    with trace.inside(always=True) as eqns:
        result = called(trace, underlying(function), args, kwargs)
    leaves = list(flat_traced(result))
    jaxpr, around = trace.closed(eqns, [], [leaf.var for leaf in leaves])
    name = getattr(function, "__name__", "function")
    outer = trace.emit_all(
        primitive,
        [Traced(trace, var) for var in around],
        [(leaf.shape, leaf.dtype) for leaf in leaves],
        name=name,
        **{key: ClosedJaxpr(jaxpr, [])},
    )
    return replaced(result, dict(zip(map(id, leaves), outer, strict=True)))


def truth(value: Any) -> Any:
    """What a test asks of a number: whether it is not zero."""
    if not isinstance(value, Traced) or value.dtype == bool or value.ndim:
        return value
    return apply(np.not_equal, (value, 0), {})


def is_written(body: list, name: str) -> bool:
    """Whether statements may write to the array of a name, in place."""
    for node in syntax.walk(body):
        targets = node.targets if isinstance(node, gast.Assign) else []
        if isinstance(node, gast.AugAssign):
            targets = [node.target]
            if syntax.is_name(node.target, name):
                return True
        if any(
            isinstance(t, gast.Subscript) and syntax.is_name(t.value, name)
            for t in targets
        ):
            return True
    return False


def is_held(pair: tuple, held: dict[int, str], name: str) -> bool:
    """Whether a branch gives an array that has another name before it."""
    return any(
        isinstance(v, Traced) and v.ndim and held.get(id(v.var), name) != name
        for v in pair
    )


class Run:
    """One function of the program."""

    def __init__(self, trace: Trace, function: Callable) -> None:
        self.trace = trace
        self.loops = Loops(self)
        #: What the function is given, by identity, once it runs.
        self.given: set[int] = set()
        source = read(function)
        self.program = Program(effect_of_function)
        self.program.entry = id(source.func)
        self.program.bound = source.bound
        with varying(Varies.RUN_TIME):
            parameters = [
                a.id
                for a in (
                    *source.node.args.posonlyargs,
                    *source.node.args.args,
                    *source.node.args.kwonlyargs,
                )
            ]
            self.unit: Unit = self.program.unit(source.func, parameters)
        self.source = source
        self.function = source.func

    def call(self, args: tuple, kwargs: dict) -> Any:
        """What the function gives."""
        bound = inspect.signature(self.function).bind_partial(
            **{k: v for k, v in self.source.bound.items()}
        )
        free = inspect.signature(self.function)
        names = [n for n in free.parameters if n not in self.source.bound]
        given = free.replace(parameters=[free.parameters[n] for n in names]).bind(
            *args, **kwargs
        )
        given.apply_defaults()
        scope = {**bound.arguments, **given.arguments}
        self.given = set(map(id, scope.values()))
        return self.body(self.unit.node.body, scope)

    def refuse_aliases(self, body: list, names: list[str], scope: dict) -> None:
        """Raise Unwritable if an array is written that something else may hold."""
        for name in names:
            old = scope.get(name)
            held = any(v is old for n, v in scope.items() if n != name)
            shared = isinstance(old, Traced) and (held or id(old) in self.given)
            if shared and is_written(body, name):
                raise Unwritable(
                    f"make_jaxpr: `{name}` is written in a branch or loop, and has "
                    "other names",
                    instead="a copy",
                )

    # -- statements --------------------------------------------------------------------

    def body(self, body: list, scope: dict) -> Any:
        """What a function with this body returns."""
        *most, last = body
        self.block(most, scope)
        if isinstance(last, gast.Return):
            return None if last.value is None else self.value(last.value, scope)
        self.block([last], scope)
        return None

    def block(self, body: list, scope: dict) -> None:
        """Statements, one after the other."""
        for stmt in body:
            getattr(self, f"on_{type(stmt).__name__}", self.other)(stmt, scope)

    def other(self, stmt: Any, scope: dict) -> None:
        raise Unwritable(
            f"make_jaxpr: there is no notation for `{type(stmt).__name__.lower()}`",
            instead="assignments, branches and loops",
        )

    def on_Pass(self, stmt: Any, scope: dict) -> None:
        """Nothing."""

    on_Import = on_ImportFrom = on_Pass

    def on_Delete(self, stmt: gast.Delete, scope: dict) -> None:
        for target in stmt.targets:
            if isinstance(target, gast.Name):
                scope.pop(target.id, None)
                continue
            base = self.value(target.value, scope)
            if not isinstance(target, gast.Subscript) or isinstance(base, Traced):
                self.other(stmt, scope)
            del base[self.value(target.slice, scope)]

    def on_Assert(self, stmt: Any, scope: dict) -> None:
        """What is asserted is no equation."""

    def on_Expr(self, stmt: gast.Expr, scope: dict) -> None:
        self.value(stmt.value, scope)

    def on_With(self, stmt: gast.With, scope: dict) -> None:
        for item in stmt.items:
            found = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.store(item.optional_vars, found, scope)
        self.block(stmt.body, scope)

    def on_FunctionDef(self, stmt: gast.FunctionDef, scope: dict) -> None:
        scope[stmt.name] = Made(self, stmt, scope)

    def on_Raise(self, stmt: gast.Raise, scope: dict) -> None:
        if self.deciding:
            raise Raised
        raise self.value(stmt.exc, scope)

    #: Inside of how many branches that values decide.
    deciding = 0

    def on_Break(self, stmt: Any, scope: dict) -> None:
        raise Stop

    def on_Assign(self, stmt: gast.Assign, scope: dict) -> None:
        value = self.value(stmt.value, scope)
        for target in stmt.targets:
            self.store(target, value, scope)

    def on_AnnAssign(self, stmt: gast.AnnAssign, scope: dict) -> None:
        if stmt.value is not None:
            self.store(stmt.target, self.value(stmt.value, scope), scope)

    def on_AugAssign(self, stmt: gast.AugAssign, scope: dict) -> None:
        target = stmt.target
        old = self.value(syntax.as_load(syntax.clone(target)), scope)
        both = {"old": old, "by": self.value(stmt.value, scope)}
        new = self.value(
            gast.BinOp(syntax.name("old"), stmt.op, syntax.name("by")), both
        )
        if isinstance(target, gast.Name) and isinstance(old, Traced) and old.ndim:
            old.write(converted(new, old.dtype))
            return
        self.store(target, new, scope)

    def store(self, target: Any, value: Any, scope: dict) -> None:
        """`target = value`."""
        if isinstance(target, gast.Name):
            scope[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            parts = list(value)
            star = [k for k, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
            if star:
                (k,) = star
                after = len(target.elts) - k - 1
                end = len(parts) - after
                parts = [*parts[:k], parts[k:end], *parts[end:]]
            for t, part in zip(target.elts, parts, strict=True):
                self.store(getattr(t, "value", t), part, scope)
        elif isinstance(target, gast.Subscript):
            base = self.value(target.value, scope)
            index = self.value(target.slice, scope)
            if isinstance(base, np.ndarray):
                base = self.as_traced(base, scope)
            base[index] = value
        else:
            raise Unwritable(
                "make_jaxpr: there is no notation for an attribute that is set",
                instead="a new object",
            )

    def as_traced(self, array: np.ndarray, scope: dict) -> Traced:
        """An array that was made here, under all of its names."""
        new = traced(self.trace, array).renamed()
        table: Any = scope
        found = False
        while table is not None:
            for name, value in list(table.items()):
                if value is array:
                    table[name], found = new, True
            table = getattr(table, "outer", None)
        if not found or array.base is not None or id(array) in self.trace.around:
            raise Unwritable(
                "make_jaxpr: an array is written that is from around the function, "
                "or is a part of another one",
                instead="a copy that is made in the function",
            )
        return new

    # -- expressions -------------------------------------------------------------------

    def name(self, name: str, scope: dict) -> Any:
        """What a name stands for."""
        try:
            found = scope[name]
        except KeyError:
            pass
        else:
            if isinstance(found, (Pending, LastRow)):
                found = scope[name] = found.value()
            return found
        try:
            return self.from_around(self.program.resolve(self.unit, name))
        except (KeyError, SrcjaxError):
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise not_bound(f"`{name}`") from None

    def from_around(self, value: Any) -> Any:
        """A value that the program did not make."""
        if isinstance(value, np.ndarray):
            self.trace.around[id(value)] = value
        return value

    def value(self, node: Any, scope: dict) -> Any:
        """What an expression gives."""
        if isinstance(node, gast.Name):
            return self.name(node.id, scope)
        if isinstance(node, gast.Constant):
            return node.value
        if isinstance(node, gast.Call):
            return self.call_of(node, scope)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            found = self.value(node.operand, scope)
            return np.logical_not(found) if isinstance(found, Traced) else not found
        if isinstance(node, gast.Attribute):
            base = self.value(node.value, scope)
            if isinstance(base, Traced) and node.attr in METHODS:
                return base.__getattr__(node.attr)
            return self.from_around(getattr(base, node.attr))
        if isinstance(node, gast.Lambda):
            return Made(self, node, scope)
        if isinstance(node, gast.Tuple):
            return tuple(self.items(node.elts, scope))
        if isinstance(node, gast.List):
            return self.items(node.elts, scope)
        if isinstance(node, gast.Dict) and None not in node.keys:
            pairs = zip(node.keys, node.values, strict=True)
            return {self.value(k, scope): self.value(v, scope) for k, v in pairs}
        if isinstance(node, gast.Subscript):
            base = self.value(node.value, scope)
            index = self.value(node.slice, scope)
            if isinstance(base, np.ndarray) and has_traced(index):
                base = traced(self.trace, base)
            return base[index]
        if isinstance(node, gast.ListComp):
            part = self.part_of_rows(node, scope)
            if part is not None:
                return part
        bound = {
            n.id
            for n in syntax.walk(node)
            if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param))
        }
        names = {n.id for n in syntax.walk(node) if isinstance(n, gast.Name)} - bound
        found = {name: self.name(name, scope) for name in names}
        tree = ast.Expression(gast.gast_to_ast(syntax.clone(node)))
        return eval(
            compile(ast.fix_missing_locations(tree), "<core form>", "eval"), found
        )  # as globals: comprehensions see them too

    def part_of_rows(self, node: gast.ListComp, scope: dict) -> Rows | None:
        """`[leaf(each, k) for each in ys]`: the part of all rows, as it is kept."""
        loop, called = node.generators[0], node.elt
        if len(node.generators) > 1 or loop.ifs or not syntax.is_name(loop.target):
            return None
        if not isinstance(called, gast.Call) or not isinstance(loop.iter, gast.Name):
            return None
        rows = self.value(loop.iter, scope)
        function = self.value(called.func, scope) if isinstance(rows, Rows) else None
        if not is_structural(function):
            return None
        found = self.value(called, {**scope, loop.target.id: rows.rows})
        same = any(found is each for each in flat_traced(rows.rows))
        return Rows(found) if same else None

    def items(self, nodes: list, scope: dict) -> list:
        """What a display holds."""
        found: list = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                found.extend(self.value(node.value, scope))
            else:
                found.append(self.value(node, scope))
        return found

    def call_of(self, node: gast.Call, scope: dict) -> Any:
        function = self.value(node.func, scope)
        args = tuple(self.items(node.args, scope))
        kwargs: dict[str, Any] = {}
        for k in node.keywords:
            found = self.value(k.value, scope)
            kwargs |= {k.arg: found} if k.arg is not None else found
        found = called(self.trace, function, args, kwargs)
        if type(found) not in ARRAYS or found.dtype.kind not in "fc":
            return found
        if sys.getrefcount(found) > 2:  # an object keeps it, which may write to it
            return self.from_around(found)
        # It may be written to, by any name.
        return traced(self.trace, found) if found.base is None else found

    def read_outside(self, part: list) -> set[str]:
        """The names that the function reads elsewhere than in these statements."""
        own = set(map(id, syntax.names_in(part)))
        names = (n for n in syntax.names_in(self.unit.node) if id(n) not in own)
        return {n.id for n in names if isinstance(n.ctx, gast.Load)}

    # -- branches ----------------------------------------------------------------------

    def on_If(self, stmt: gast.If, scope: dict) -> None:
        test = truth(self.value(stmt.test, scope))
        if not isinstance(test, Traced):
            self.block(stmt.body if test else stmt.orelse, scope)
            return
        self.deciding += 1
        try:
            branches = [self.part(body, scope) for body in (stmt.orelse, stmt.body)]
        finally:
            self.deciding -= 1
        live = [b for b in branches if b is not None]
        if len(live) < 2:  # the other one raises
            self.block(stmt.orelse if branches[0] else stmt.body, scope)
            return
        (eqns0, scope0), (eqns1, scope1) = live
        changed = []
        for name in scope1.keys() | scope0.keys():
            missing = object()
            old = scope.get(name, missing)
            first, second = scope0.get(name, missing), scope1.get(name, missing)
            if first is missing:  # what is not bound is not read
                scope0[name] = first = self.zeros_of(second)
            elif second is missing:
                scope1[name] = second = self.zeros_of(first)
            if not (same(first, old) and same(second, old)):
                changed.append(name)
        changed.sort(key=list({**scope0, **scope1}).index)
        pairs = []
        held = {id(v.var): n for n, each in scope.items() for v in flat_traced(each)}
        aliases = []
        self.refuse_aliases([*stmt.body, *stmt.orelse], changed, scope)
        for name in changed:
            both = leaf_pairs(scope0[name], scope1[name], name)
            aliases += [is_held(pair, held, name) for pair in both]
            pairs += both
        results = []
        with_types = []
        for first, second in pairs:
            dtype = np.result_type(small(first), small(second))
            if np.shape(first) != np.shape(second):
                raise Unwritable(
                    "make_jaxpr: the branches give arrays of other shapes",
                    instead="arrays of one shape",
                )
            with_types.append((np.shape(first), dtype))
            results.append((first, second, dtype))
        jaxprs, around = [], []
        for which, eqns in enumerate((eqns0, eqns1)):
            with self.trace.inside() as more:
                found = [
                    converted(traced(self.trace, r[which]), r[2]).var for r in results
                ]
            jaxpr, reads = self.trace.closed([*eqns, *more], [], found)
            jaxprs.append(jaxpr)
            around += [v for v in reads if v not in around]
        for jaxpr in jaxprs:
            jaxpr.invars = list(around)
        index = converted(test, np.dtype(np.int32))
        outer = self.trace.emit_all(
            "cond",
            [index, *(Traced(self.trace, v) for v in around)],
            with_types,
            branches=tuple(ClosedJaxpr(j, []) for j in jaxprs),
        )
        for new, alias in zip(outer, aliases, strict=True):
            new.shared = alias  # of one of two arrays, which is not known
        for own in (scope0, scope1):
            for made in own.values():
                if isinstance(made, Made) and made.scope is own:
                    made.scope = scope  # names mean what they do when it is called
        leaves = iter(outer)
        for name in changed:
            new = rebuilt(scope1[name], scope0[name], leaves)
            scope[name] = new

    def zeros_of(self, value: Any) -> Any:
        """What stands for a value that a branch does not give."""
        leaves = [
            np.zeros(v.shape, v.dtype) if isinstance(v, Traced) else np.zeros_like(v)
            for v in numbers_of(value)
        ]
        return with_numbers(value, iter(leaves)) if leaves else value

    def part(self, body: list, scope: dict) -> tuple[list, dict] | None:
        """The equations of a branch and the names after it; None if it raises."""
        with self.trace.inside() as eqns:
            own = copied_scope(scope)
            try:
                self.block(body, own)
            except Raised:
                return None
            except Stop:
                raise Unwritable(
                    "make_jaxpr: a value ends a loop that is over no range",
                    instead="a `while` loop",
                ) from None
            refuse_shared_writes(own, scope, self.given)
        return eqns, own

    # -- loops -------------------------------------------------------------------------

    def on_While(self, stmt: gast.While, scope: dict) -> None:
        loop = WhileLoop.of(stmt)
        if loop.stops:
            scope[STOPPED] = False
        own = copied_scope(scope)
        with self.trace.inside():
            test = self.test(loop, own)
        known = not isinstance(test, Traced)
        if known and not test:
            self.test(loop, scope)
            return
        if self.attempt(lambda: self.loops.while_loop(loop, scope), scope, known):
            return
        for _ in range(MOST_TRIPS):
            test = self.test(loop, scope)
            if isinstance(test, Traced):
                raise not_settled()
            if not test:
                return
            self.block(loop.body, scope)
        raise Unwritable(
            f"make_jaxpr: a loop of more than {MOST_TRIPS} trips that no value ends",
            instead="a loop over a range",
        )

    def attempt(self, loop: Callable[[], None], scope: dict, may_fail: bool) -> bool:
        """Whether a loop is an equation; if not, nothing has happened."""
        if not may_fail:
            loop()
            return True
        count = len(self.trace.eqns)
        kept = dict(scope)  # trips go through copies
        try:
            loop()
        except (SrcjaxError, Stop, TypeError, ValueError, KeyError, IndexError):
            del self.trace.eqns[count:]
            scope.clear()
            scope.update(kept)
            return False
        return True

    def test(self, loop: WhileLoop, scope: dict) -> Any:
        """Whether a loop goes on."""
        stopped = scope.get(STOPPED, False) if loop.stops else False
        if stopped is True:
            return False
        self.block(loop.before, scope)
        test = truth(self.value(loop.test, scope))
        if loop.negated:
            test = np.logical_not(test) if isinstance(test, Traced) else not test
        if isinstance(stopped, Traced):
            going = np.logical_not(stopped)
            return going if test is True else np.logical_and(going, test)
        return test

    def on_For(self, stmt: gast.For, scope: dict) -> None:
        items = self.value(stmt.iter, scope)
        if isinstance(items, np.ndarray):
            items = list(items)
        if has_break(stmt.body) and isinstance(items, range):
            self.on_While(counted(stmt, items, scope), scope)
            return
        steady = not has_break(stmt.body) and isinstance(items, (range, Traced, Rows))
        if steady and len(items) > 1:

            def loop() -> None:
                self.loops.scan(stmt, items, scope)

            if self.attempt(loop, scope, True):
                return
        if hasattr(items, "__len__") and len(items) > MOST_TRIPS:
            raise Unwritable(
                f"make_jaxpr: a loop of more than {MOST_TRIPS} trips that is no `scan`",
                instead="a loop that carries arrays",
            )
        for item in items:
            self.store(stmt.target, item, scope)
            try:
                self.block(stmt.body, scope)
            except Stop:
                break
