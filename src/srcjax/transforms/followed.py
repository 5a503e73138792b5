"""What a call of a runtime helper stands for where types are known: its own text.

    def average_adjoint(d, weights, axis, x):           d / x.size
        if weights is None:
            return d / size_along(x, axis)              (weights None, axis None)
        weights = weights_over(weights, axis, x)
        return d * weights / np.sum(weights, axis=axis, keepdims=True)

The helper is evaluated partially: conditions that the types of the arguments decide are
folded, and the one expression that is left stands for the call. Where a condition is
open, a loop is left, or a value would be computed twice, the call stays. A helper whose
words are nicer by hand has an expansion (`srcjax.ops.expand`), also inside of others.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.known_values import truth
from srcjax.analysis.sizes import sizes_of
from srcjax.analysis.types import (
    Array,
    Const,
    Type,
    broadcast_shapes,
    dims_of,
    dtype_of,
    is_number,
    rank_of,
    replace,
    same_shape,
    shape_of,
    varies,
)
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops.expand import EXPANSIONS
from srcjax.ops.helpers import Helper, helper_of
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.record import lookup
from srcjax.transforms.plain_calls import plain_call, plain_product

Env = dict[str, Type]
TypeOf = Callable[[gast.expr, Env], Type]
#: Helpers that give a value of the shape of their last argument, of which the
#: expression may be smaller.
_SPREADING = ("unbroadcast", "unreduce")


#: The longest text, in characters without keywords, that reads better than the name of
#: a helper.
LONGEST = 60
#: Calls in a text that ask what the types should have told.
ASKING = {
    *("np.shape", "np.ndim", "np.size", "np.result_type", "np.iscomplexobj"),
    *("np.asarray", "np.ravel", "np.reshape", "isinstance", "hasattr", "type"),
}


class Open(Exception):
    """The types do not tell which expression the call stands for."""


@dataclass
class Found:
    """An expression on the parameters; `real` is its type if it stands for more.

    Then the expression broadcasts to the shape that it should have.
    """

    value: gast.expr
    real: Type | None = None


#: What helpers stand for, by helper and types of arguments: the same in all functions.
_KNOWN: dict[tuple, Found | None] = {}


class Followed:
    """Evaluates helpers partially, with the types that `type_of` gives."""

    def __init__(self, type_of: TypeOf) -> None:
        self.type_of = type_of

    def expand(
        self, name: str, args: list[gast.expr], types: list[Type]
    ) -> gast.expr | None:
        """The expression that a call of a helper stands for, None where it is open."""
        found = self.found(name, args, types)
        return None if found is None else found.value

    def found(
        self, name: str, args: list[gast.expr], types: list[Type]
    ) -> Found | None:
        helper = helper_of(HELPERS.get(name))
        if helper is None or not helper.pure:
            return None
        parameters = list(inspect.signature(helper.function).parameters.values())
        # What is supposed of sizes is noted down where they belong, once for each.
        sizes = id(sizes_of(dims_of(types)))
        key = (helper.function, varies(), sizes, *types)
        found: Any = _KNOWN.get(key, MISSING)
        if found is MISSING:
            found = self.follow(helper, parameters, types)
            if len(_KNOWN) > 10_000:
                _KNOWN.clear()
            _KNOWN[key] = found
        if found is None:
            return None
        holes = {
            p.name: args[k] if k < len(args) else syntax.const(p.default)
            for k, p in enumerate(parameters)
        }
        counts = syntax.read_counts(found.value)
        if any(counts[n] > 1 and not is_cheap(a) for n, a in holes.items()):
            return None
        return Found(syntax.substitute(found.value, holes), found.real)

    def follow(
        self, helper: Helper, parameters: list[inspect.Parameter], types: list[Type]
    ) -> Found | None:
        """The text of the helper for arguments of these types."""
        if any(p.default is p.empty for p in parameters[len(types) :]):
            return None
        env = {
            p.name: types[k] if k < len(types) else Const(value=p.default)
            for k, p in enumerate(parameters)
        }
        try:
            found = _Body(self, helper, env).result()
        except Open:
            return None
        asks = any(
            syntax.dotted(getattr(n, "func", None)) in ASKING
            or getattr(n, "attr", "") == "astype"
            or getattr(n, "arg", "") == "dtype"
            for n in syntax.walk(found.value)
        )
        long = len(syntax.text(_without_keywords(found.value))) > LONGEST
        return None if asks or long else found


def is_cheap(node: gast.expr) -> bool:
    """Whether an expression may be written out more than once."""
    if isinstance(node, gast.UnaryOp):
        return is_cheap(node.operand)
    if isinstance(node, gast.Attribute):
        return is_cheap(node.value)
    if isinstance(node, gast.Subscript):  # a view
        index = node.slice
        entries = index.elts if isinstance(index, gast.Tuple) else [index]
        plain = all(isinstance(e, (gast.Slice, gast.Constant)) for e in entries)
        return plain and is_cheap(node.value)
    return syntax.is_atom(node)


def _without_keywords(node: gast.expr) -> gast.expr:
    def visit(sub: gast.expr) -> gast.expr:
        return gast.Call(sub.func, sub.args, []) if isinstance(sub, gast.Call) else sub

    bare: gast.expr = syntax.map_expressions(node, visit)
    return bare


def _defaults_after(helper: Any, count: int) -> list[gast.expr]:
    """The defaults of the parameters after the first ones, as far as there are."""
    rest = list(inspect.signature(helper).parameters.values())[count:]
    return [syntax.const(p.default) for p in rest if p.default is not p.empty]


def _literal(value: Any) -> gast.expr | None:
    """The text of a value that helpers compute about axes; None for others."""
    if value is None or isinstance(value, (bool, int, str)):
        return syntax.expression(repr(value))
    if isinstance(value, np.integer):
        return syntax.expression(repr(int(value)))
    if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.ndim == 1:
        value = tuple(value)
    if isinstance(value, (tuple, list)):
        items = [_literal(v) for v in value]
        if None not in items:
            kind = gast.Tuple if isinstance(value, tuple) else gast.List
            return kind(items, syntax.LOAD)
    return None


class _Body:
    """The statements of a helper while they are executed on trees and types.

    A name that is bound to more than a name stands for itself until the end
    (`here@1`), so that it is seen how often it is read.
    """

    def __init__(self, followed: Followed, helper: Helper, env: Env) -> None:
        self.followed = followed
        self.helper = helper
        self.env = dict(env)
        self.names = {name: Found(syntax.name(name)) for name in env}
        #: Values that are known: of constants, and of what is computed from them.
        self.static: dict[str, Any] = {}
        for name, t in env.items():
            value = known_value(t)
            if value is not MISSING:
                self.static[name] = value
                if value is None or isinstance(value, bool):
                    self.names[name] = Found(syntax.const(value))
        self.late: dict[str, gast.expr] = {}

    # -- statements ----------------------------------------------------------------

    def result(self) -> Found:
        found = self.run(self.helper.node.body)
        if found is None:
            raise Open
        value = found.value
        for name, held in reversed(self.late.items()):
            count = syntax.count_reads(value, name)
            if count > 1 and not is_cheap(held):
                raise Open
            if count:
                value = syntax.substitute(value, {name: held})
        return Found(value, found.real)

    def run(self, body: list[gast.stmt]) -> Found | None:
        """What is returned; None if the statements return nothing."""
        for stmt in body:
            if isinstance(stmt, gast.Return) and stmt.value is not None:
                return self.visit(stmt.value)
            if isinstance(stmt, gast.If):
                found = self.run(stmt.body if self.holds(stmt.test) else stmt.orelse)
                if found is not None:
                    return found
            elif isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
                self.bind(stmt.targets[0], stmt.value)
            else:
                raise Open
        return None

    def holds(self, test: gast.expr) -> bool:
        value = self.evaluated(test)
        if value is not MISSING:
            return bool(value)
        same = self.same_shapes(test)
        if same is not None:
            return same
        outcome = truth(self.type_of(self.visit(test).value))
        if outcome is None:
            raise Open
        return outcome

    def evaluated(self, node: gast.expr) -> Any:
        """The value of an expression of constants and ranks, else `MISSING`."""

        def rank(sub: gast.expr) -> gast.expr:
            if isinstance(sub, gast.Call) and syntax.dotted(sub.func) == "np.ndim":
                (x,) = sub.args
                if isinstance(x, gast.Name) and x.id in self.names:
                    known_rank = rank_of(self.real(self.names[x.id]))
                    if known_rank is not None:
                        return syntax.const(known_rank)
            return sub

        node = syntax.map_expressions(syntax.clone(node), rank)
        scope = {**self.helper.function.__globals__, **self.static}
        bound = syntax.names_written(node)
        for name in syntax.names_read(node) - bound:
            mine = name in self.names and name not in self.static
            if mine or not (name in scope or hasattr(builtins, name)):
                return MISSING
        try:
            return eval(syntax.text(node), scope)
        except Exception:
            return MISSING

    def bind(self, target: Any, value: Any) -> None:
        known_result = self.evaluated(value)
        if known_result is not MISSING:
            targets = target.elts if isinstance(target, gast.Tuple) else [target]
            several = isinstance(target, gast.Tuple)
            values = known_result if several else [known_result]
            for name, v in zip(targets, values, strict=True):
                self.keep_static(name, v)
            return
        if not isinstance(target, gast.Tuple):
            self.keep(target, self.visit(value))
            return
        if not isinstance(value, gast.Tuple) or len(target.elts) != len(value.elts):
            raise Open
        values = [self.visit(v) for v in value.elts]
        for name, found in zip(target.elts, values, strict=True):
            self.keep(name, found)

    def keep_static(self, target: Any, value: Any) -> None:
        """The name gets a value that is known."""
        if not isinstance(target, gast.Name):
            raise Open
        self.static[target.id] = value
        self.names[target.id] = Found(_literal(value) or syntax.name("?"))

    def keep(self, target: Any, found: Found) -> None:
        if not isinstance(target, gast.Name):
            raise Open
        if not is_cheap(found.value):
            key = f"{target.id}@{len(self.late)}"
            self.env[key] = self.type_of(found.value)
            self.late[key] = found.value
            found = Found(syntax.name(key), found.real)
        self.names[target.id] = found
        self.static.pop(target.id, None)

    # -- expressions ---------------------------------------------------------------

    def type_of(self, node: gast.expr) -> Type:
        return self.followed.type_of(node, self.env)

    def real(self, found: Found) -> Type:
        """The type of what the expression stands for."""
        return self.type_of(found.value) if found.real is None else found.real

    def plain(self, node: gast.expr) -> gast.expr:
        """The expression of a part that must have the shape it stands for."""
        found = self.visit(node)
        if found.real is not None:
            raise Open
        return found.value

    def visit(self, node: Any) -> Found:
        if isinstance(node, gast.Constant):
            return Found(node)
        if isinstance(node, gast.Name):
            if node.id in self.names:
                found = self.names[node.id]
                if syntax.is_name(found.value, "?"):
                    raise Open
                return found
            if node.id in ("np", "scipy") or hasattr(builtins, node.id):
                return Found(node)
            raise Open
        if isinstance(node, gast.IfExp):
            return self.choice(node)
        if not isinstance(node, (gast.BinOp, gast.UnaryOp)):  # of the user's numbers
            value = _literal(self.evaluated(node))
            if value is not None:
                return Found(value)
        if isinstance(node, gast.Call):
            return self.call(node)
        if isinstance(node, (gast.BinOp, gast.Compare, gast.UnaryOp)) and not (
            isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult)
        ):
            return self.elementwise(node)
        if isinstance(
            node,
            (
                gast.Attribute,
                gast.Subscript,
                gast.BinOp,
                gast.Tuple,
                gast.List,
                gast.Slice,
                gast.BoolOp,
                gast.Starred,
            ),
        ):
            return Found(self.rebuilt(node, self.plain))
        raise Open

    def rebuilt(self, node: Any, part: Callable[[gast.expr], gast.expr]) -> gast.expr:
        new = syntax.clone_shallow(node)
        for key, value in node.__dict__.items():
            if isinstance(value, gast.expr):
                new.__dict__[key] = part(value)
            elif isinstance(value, list) and value and isinstance(value[0], gast.expr):
                new.__dict__[key] = [part(v) for v in value]
        return new

    def choice(self, node: gast.IfExp) -> Found:
        value = self.evaluated(node.test)
        if value is not MISSING:
            return self.visit(node.body if value else node.orelse)
        test = self.visit(node.test).value
        outcome = truth(self.type_of(test))
        if outcome is not None:
            return self.visit(node.body if outcome else node.orelse)
        return Found(gast.IfExp(test, self.plain(node.body), self.plain(node.orelse)))

    def elementwise(self, node: Any) -> Found:
        """Operands may be smaller than what they stand for, if the result is not."""
        operands: list[Found] = []

        def part(child: gast.expr) -> gast.expr:
            operands.append(self.visit(child))
            return operands[-1].value

        new = self.rebuilt(node, part)
        if all(found.real is None for found in operands):
            return Found(plain_product(new, self.type_of))
        t = self.type_of(new)
        shape = broadcast_shapes(*(shape_of(self.real(found)) for found in operands))
        if same_shape(shape, shape_of(t)):
            return Found(new)
        return Found(new, Array(dtype=getattr(t, "dtype", None), shape=shape))

    def call(self, node: gast.Call) -> Found:
        if isinstance(node.func, gast.Name) and node.func.id not in self.names:
            if node.func.id in HELPERS:
                return self.helped(node)
            if not hasattr(builtins, node.func.id):
                raise Open
        function = self.resolve(node.func)
        if function is np.broadcast_to and len(node.args) == 2:
            return self.spread(node)
        if function is np.expand_dims:
            number = self.added_axis(node)
            if number is not None:
                return number
        op = lookup(function) if function is not None else None
        if op is not None and op.elementwise and not node.keywords:
            found = self.elementwise(node)
            return Found(plain_call(found.value, function, self.type_of), found.real)
        new: Any = gast.Call(
            node.func if function is not None else self.rebuilt(node.func, self.plain),
            [self.plain(a) for a in node.args],
            [gast.keyword(k.arg, self.plain(k.value)) for k in node.keywords],
        )
        return Found(plain_call(new, function, self.type_of))

    def same_shapes(self, test: gast.expr) -> bool | None:
        """The outcome of `np.shape(a) == np.shape(b)`, None if it is open."""
        if not isinstance(test, gast.Compare) or not isinstance(test.ops[0], gast.Eq):
            return None
        sides = [self.visit(s).value for s in (test.left, test.comparators[0])]
        if not all(isinstance(s, gast.Attribute) and s.attr == "shape" for s in sides):
            return None
        a, b = (shape_of(self.type_of(s.value)) for s in sides)
        if same_shape(a, b):
            return True
        return False if a is not None and b is not None and len(a) != len(b) else None

    def added_axis(self, node: gast.Call) -> Found | None:
        """`np.expand_dims(v, -1)` of a number: the number, which broadcasts."""
        value = self.visit(node.args[0])
        t = self.type_of(value.value)
        if not is_number(t):
            return None
        return Found(value.value, Array(dtype=dtype_of(t), shape=(1,)))

    def spread(self, node: gast.Call) -> Found:
        """`np.broadcast_to(v, shape)`: `v`, of which that is known."""
        value, shape = self.visit(node.args[0]), self.type_of(self.plain(node.args[1]))
        sizes = getattr(shape, "items", None)
        made = self.type_of(
            syntax.call("np.broadcast_to", value.value, self.plain(node.args[1]))
        )
        if sizes is None and not isinstance(made, Array):
            raise Open
        if same_shape(shape_of(made), shape_of(self.type_of(value.value))):
            return Found(value.value)
        return Found(value.value, made)

    def helped(self, node: gast.Call) -> Found:
        """A call of another helper."""
        name = node.func.id
        if node.keywords:
            raise Open
        given = [*node.args, *_defaults_after(HELPERS[name], len(node.args))]
        args = [self.plain(a) for a in given]
        types = [self.type_of(a) for a in args]
        expansion = EXPANSIONS.get(name)
        value = None if expansion is None else expansion(args, types)
        if value is not None:
            found = Found(value)
            if name in _SPREADING:
                have, want = self.type_of(value), types[-1]
                if not same_shape(shape_of(have), shape_of(want)):
                    if not isinstance(want, Array):
                        raise Open
                    found.real = replace(want, dtype=getattr(have, "dtype", None))
            return found
        followed = self.followed.found(name, args, types)
        if followed is None:
            raise Open
        return followed

    def resolve(self, node: Any) -> Any:
        """The function of a module, None for a method."""
        first, *rest = (syntax.dotted(node) or "").split(".")
        if not first or first in self.names:
            return None
        value = self.helper.function.__globals__.get(
            first, getattr(builtins, first, None)
        )
        for part in rest:
            value = getattr(value, part, None)
        return value
