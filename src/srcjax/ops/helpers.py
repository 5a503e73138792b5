"""The record of a helper of the runtime: what follows from its own text.

A helper that rules call is an operation too: its result may share memory with an
argument, it may write to one. Nobody notes that down beside it; it is read off the
helper's source, once, when it is first asked for:

    def unroll(d, shift, axis):                     writes nothing, shares nothing
        return np.roll(d, np.negative(shift), axis)

    def untranspose(d, axes):                       the result may share `d`
        ...
        return np.transpose(d, np.argsort(...))

What the text does not tell counts as shared.
"""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import textwrap
import threading
import types as pytypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Scalar,
    Type,
    dtype_of,
    replace,
)
from srcjax.ops.record import MAPPED, METHODS, key_of, lookup

#: Where helpers live. (Nothing of this file needs them imported.)
_HOME = "srcjax.runtime"


@dataclass(frozen=True)
class Helper:
    """What srcjax knows about a helper, besides its text."""

    function: pytypes.FunctionType
    #: The parsed definition; not to be changed.
    node: gast.FunctionDef
    #: Parameters whose memory the result may share, or hold.
    shares: tuple[str, ...]
    #: Parameters that the call may write to.
    writes: tuple[str, ...]
    #: Whether a call only computes its value. One that gives none is called for what
    #: it does, such as to raise.
    pure: bool

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters in their order."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def alias(self) -> str:
        """As `Op.alias`: "fresh", or "maybe" memory of the arguments it `shares`."""
        return "maybe" if self.shares else "fresh"


def helper_of(function: Any) -> Helper | None:
    """The record of a helper of the runtime, None for another object."""
    if not isinstance(function, pytypes.FunctionType):
        return None
    home = function.__module__ or ""
    return _known(function) if f"{home}.".startswith(f"{_HOME}.") else None


def result_like(function: Any, args: list[Type], kwargs: dict[str, Type]) -> Type:
    """The type of what a helper gives, where its batch record tells it.

    The adjoint of `x` has its shapes (`adjoint_type`), whatever the text of the helper
    does to get there; its dtype is told where all arrays agree.
    """
    op = MAPPED.get(key_of(function))
    if op is None or op.infer is None:
        return UNKNOWN
    try:
        found = op.infer(**op.signature.bind(*args, **kwargs).arguments)
    except (TypeError, KeyError):
        return UNKNOWN
    given = (*args, *kwargs.values())
    dtypes = {dtype_of(t) for t in given if isinstance(t, (Array, Scalar, Const))}
    alike = len(dtypes - {None}) == 1 or not isinstance(found, Array)
    return found if alike else replace(found, dtype=None)


_RECORDS: dict[pytypes.FunctionType, Helper] = {}
#: What is known so far of helpers that call each other, while one of them is read.
_UNFINISHED: dict[pytypes.FunctionType, Helper] = {}
_READING = threading.RLock()


def _known(function: pytypes.FunctionType) -> Helper:
    """The record, read until it rests on the final ones of what the helper calls."""
    if function in _RECORDS:
        return _RECORDS[function]
    with _READING:
        outermost = not _UNFINISHED
        if function not in _UNFINISHED:
            node = definition_of(function)
            _UNFINISHED[function] = Helper(function, node, (), (), True)
            _UNFINISHED[function] = _record(function)
        found = _UNFINISHED[function]
        if outermost:
            before: dict = {}
            while before != _UNFINISHED:
                before = dict(_UNFINISHED)
                for each in before:
                    _UNFINISHED[each] = _record(each)
            _RECORDS.update(_UNFINISHED)
            _UNFINISHED.clear()
            found = _RECORDS[function]
        return found


@functools.cache
def definition_of(function: pytypes.FunctionType) -> gast.FunctionDef:
    """The parsed definition of a helper, without its docstring; not to be changed."""
    node = syntax.gast_of(textwrap.dedent(inspect.getsource(function))).body[0]
    first = node.body[0]
    if isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant):
        node.body = node.body[1:]
    return node


def _record(function: pytypes.FunctionType) -> Helper:
    node = definition_of(function)
    memory = _Memory(function, node)
    writes = memory.written()
    useful = any(
        isinstance(s, gast.Return) and s.value is not None
        for s in syntax.walk(node.body)
    )
    return Helper(
        function,
        node,
        tuple(p for p in memory.parameters if p in memory.shared),
        tuple(p for p in memory.parameters if p in writes),
        useful and not writes,
    )


#: Builtins that give new values, or numbers.
_FRESH = (
    *(abs, bool, callable, complex, float, hasattr, id, int, isinstance, issubclass),
    *(len, range, round, slice, type),
)
#: NumPy's functions that write to their first argument.
_WRITERS = frozenset(
    map(id, (np.add.at, np.copyto, np.fill_diagonal, np.put, np.put_along_axis))
)
#: Methods that change the list or dict they are called on; arguments go into it.
_FILLING = {
    *("add", "append", "clear", "extend", "fill", "insert", "pop", "popitem"),
    *("setdefault", "sort", "update"),
}
#: Methods of arrays, strings and containers that give new values.
_FRESH_METHODS = {
    *("any", "astype", "copy", "count", "index", "join", "max", "mean", "min"),
    *("partition", "replace", "sum"),
}
#: Expressions of a list or dict that is new, whatever it holds.
_DISPLAYS = (gast.List, gast.Dict, gast.ListComp, gast.DictComp, gast.BinOp)
#: A table of `_Memory`, a name in it, and what is added there.
_Binding = tuple[dict[str, set[str]], str, set[str]]


class _Memory:
    """Which parameters the names of a definition may share memory with.

    Each name has the union over all of its assignments, whatever their order.
    """

    def __init__(self, function: pytypes.FunctionType, node: gast.FunctionDef) -> None:
        self.function = function
        self.node = node
        # Itself too: a name that only a comprehension reads is not among them.
        self.scope = {
            **inspect.getclosurevars(function).globals,
            function.__name__: function,
        }
        self.parameters = list(inspect.signature(function).parameters)
        self.names: dict[str, set[str]] = {p: {p} for p in self.parameters}
        #: What lists and dicts hold, whose own memory is another.
        self.held: dict[str, set[str]] = {}
        #: What the result shares.
        self.shared: set[str] = set()
        inner = [s for s in syntax.walk(node.body) if isinstance(s, gast.FunctionDef)]
        for definition in inner:  # may get anything
            for p in syntax.walk(definition.args):
                if isinstance(p, gast.Name):
                    self.names[p.id] = set(self.parameters)
        before = -1
        while before != (before := self.count()):
            for table, target, value in self.bindings():
                table.setdefault(target, set()).update(value)
            for sub in syntax.walk(node.body):
                if isinstance(sub, gast.Return):
                    self.shared |= self.of(sub.value)

    def count(self) -> int:
        """How much is known; it only grows."""
        tables = [*self.names.values(), *self.held.values(), self.shared]
        return sum(map(len, tables))

    def bindings(self) -> Iterator[_Binding]:
        """What each name may then share: the table, the name, and the parameters."""
        for sub in syntax.walk(self.node.body):
            if isinstance(sub, gast.Assign):
                shown = isinstance(sub.value, _DISPLAYS)
                for target in sub.targets:
                    yield from self.bound(target, self.of(sub.value), shown)
            elif isinstance(sub, (gast.For, gast.comprehension)):
                yield from self.bound(sub.target, self.of(sub.iter))
            elif isinstance(sub, gast.NamedExpr):
                yield from self.bound(sub.target, self.of(sub.value))
            elif isinstance(sub, gast.Call) and self.fills(sub):
                given = set().union(*map(self.of, _arguments(sub)))
                yield self.held, syntax.root_of(sub.func), given

    def bound(
        self, target: Any, value: set[str], shown: bool = False
    ) -> Iterator[_Binding]:
        if isinstance(target, (gast.Tuple, gast.List)):
            for element in target.elts:
                yield from self.bound(element, value)
        else:
            own = isinstance(target, gast.Name) and not shown
            yield self.names if own else self.held, syntax.root_of(target), value

    def of(self, value: Any) -> set[str]:
        """The parameters whose memory the value of an expression may share or hold."""
        if value is None or isinstance(value, (gast.Constant, gast.JoinedStr)):
            return set()
        if isinstance(value, gast.Name):
            held = self.held.get(value.id, set())
            return self.names.get(value.id, set()) | held
        if isinstance(value, gast.BinOp):
            return self.items(value.left) | self.items(value.right)
        if isinstance(value, (gast.UnaryOp, gast.Compare)):
            return set()
        if isinstance(value, gast.Attribute):
            plain = value.attr in SHAPE_ATTRIBUTES
            return set() if plain else self.of(value.value)
        if isinstance(value, gast.Subscript):
            return self.of(value.value)
        if isinstance(value, gast.Call):
            return self.of_call(value)
        if isinstance(value, gast.IfExp):
            return self.of(value.body) | self.of(value.orelse)
        if isinstance(value, (gast.ListComp, gast.GeneratorExp, gast.SetComp)):
            return self.of(value.elt)
        if isinstance(value, gast.DictComp):
            return self.of(value.value)
        children = list(gast.iter_child_nodes(value))
        return set().union(*(self.of(c) for c in children))

    def items(self, value: Any) -> set[str]:
        """What the value holds if it is a list: `a + b` has the items of both."""
        if isinstance(value, gast.Name):
            return self.held.get(value.id, set())
        return self.of(value) if isinstance(value, (*_DISPLAYS, gast.Tuple)) else set()

    def of_call(self, call: gast.Call) -> set[str]:
        function = self.resolve(call.func)
        if function is self.function:
            return self.passed(call, inspect.signature(function), self.shared)
        other = helper_of(function)
        if other is not None:
            return self.passed(call, inspect.signature(function), other.shares)
        op = None if function is None else lookup(function)
        owner: set[str] = set()
        if function is None and isinstance(call.func, gast.Attribute):
            op = METHODS.get(call.func.attr)
            owner = self.of(call.func.value)
            if op is not None and op.alias != "fresh":
                return owner
        fresh = function is copy.deepcopy or (
            call.func.attr in _FRESH_METHODS
            if function is None and isinstance(call.func, gast.Attribute)
            else any(function is known for known in _FRESH)
        )
        if fresh or (op is not None and op.alias == "fresh"):
            return set()
        if op is not None and op.differentiable:  # the others tell how, not what
            return self.passed(call, op.signature, op.differentiable)
        return owner.union(*map(self.of, _arguments(call)))

    def passed(
        self,
        call: gast.Call,
        signature: Any,
        wanted: Any,
        of: Callable[[Any], set[str]] | None = None,
    ) -> set[str]:
        """What the arguments share that a callee gets as the wanted parameters."""
        of = of or self.of
        if not wanted:
            return set()
        keywords = {k.arg: k.value for k in call.keywords if k.arg}
        try:
            bound = signature.bind(*call.args, **keywords).arguments
        except TypeError:
            return set().union(*map(of, _arguments(call)))
        values = [bound[p] for p in wanted if p in bound]
        flat = [v for x in values for v in (x if isinstance(x, tuple) else [x])]
        return set().union(*map(of, flat))

    def written(self) -> set[str]:
        """The parameters that the helper may write to."""
        found: set[str] = set()
        for sub in syntax.walk(self.node.body):
            if isinstance(sub, gast.AugAssign):
                found |= self.changed(sub.target)
            elif isinstance(sub, (gast.Subscript, gast.Attribute)):
                if isinstance(sub.ctx, (gast.Store, gast.Del)):
                    found |= self.changed(sub.value)
            elif isinstance(sub, gast.Call):
                found |= self.changed_by(sub)
        return found

    def changed(self, owner: Any) -> set[str]:
        """The parameters that an assignment to a part of the owner writes to."""
        if isinstance(owner, gast.Name):
            return self.names.get(owner.id, set())
        return self.of(owner)

    def changed_by(self, call: gast.Call) -> set[str]:
        if self.fills(call):
            return self.changed(call.func.value)
        function = self.resolve(call.func)
        if id(function) in _WRITERS:
            return self.changed(call.args[0])
        other = None if function is self.function else helper_of(function)
        if other is None:
            return set()
        signature = inspect.signature(function)
        return self.passed(call, signature, other.writes, self.changed)

    def fills(self, call: gast.Call) -> bool:
        """Whether the call is of a method that changes the owner."""
        method = isinstance(call.func, gast.Attribute) and call.func.attr in _FILLING
        return method and self.resolve(call.func) is None

    def resolve(self, node: Any) -> Any:
        """The function that a name or a dotted name stands for; None for a method."""
        first, *rest = (syntax.dotted(node) or "").split(".")
        if not first or first in self.names:
            return None
        value = self.scope.get(first, getattr(builtins, first, None))
        for part in rest:
            value = getattr(value, part, None)
        return value


def _arguments(call: gast.Call) -> list[gast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]
