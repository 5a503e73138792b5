"""Whether `x.T.reshape(-1)` is a view or a copy, where something is written to it.

Before:                          After:

    v = y.reshape(-1)                v = y.reshape(-1, copy=False)
    w = y.T.reshape(-1)              reshape = y.T.reshape(-1)
                                     w = apart(reshape, y.T)

NumPy decides it by how the array lies in memory, when the program runs. Here NumPy is
asked about arrays of the sizes at hand, with arguments that lie as NumPy makes arrays;
where they lie otherwise, the code says so when it runs: no write is lost, and none is
seen that should not be.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.flow.positions import Positions
from srcjax.analysis.program import Program
from srcjax.analysis.sizes import Sym, size_of
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Buffers,
    Const,
    List,
    Scalar,
    Tuple,
    Type,
    Varies,
    all_buffers,
    is_active,
    varies,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import is_pure

APART = "apart"
_RESHAPE = (np.reshape, np.ndarray.reshape)
#: What gives the array itself or a copy of it, by how the array lies.
_BY_LAYOUT = (*_RESHAPE, np.ravel, np.ascontiguousarray, np.asfortranarray)
#: Arrays of more items are not made to look at them.
_LARGEST = 1_000_000


def settle_layouts(program: Program, unit: Unit) -> bool:
    """Write for calls that may give a view what they give; whether there are any."""
    if varies() is Varies.RUN_TIME:
        return False
    written = program.facts.written()
    if not written:
        return False
    layouts = _Layouts(program, unit, written)
    changed = False
    for block in syntax.blocks(unit.node.body):
        new: list[gast.stmt] = []
        for stmt in block:
            made = layouts.settled(stmt)
            changed |= made is not None
            new += made or [stmt]
        block[:] = new
    return changed


class _Layouts:
    """Arrays that lie in memory as those of the unit do."""

    def __init__(self, program: Program, unit: Unit, written: Buffers) -> None:
        self.program = program
        self.written = written
        self.facts = program.facts
        self.unit = unit
        self.types = program.types_of(unit)
        self.bound = syntax.binding_counts(unit.node)
        #: What names are bound to, by plain assignments.
        self.values: dict[str, list[gast.expr]] = {}
        #: How often they are updated, which leaves an array where it is.
        self.updates: dict[str, int] = {}
        for stmt in syntax.walk(unit.node.body):
            if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
                if isinstance(stmt.targets[0], gast.Name):
                    self.values.setdefault(stmt.targets[0].id, []).append(stmt.value)
            elif isinstance(stmt, gast.AugAssign):
                name = getattr(stmt.target, "id", "")
                self.updates[name] = self.updates.get(name, 0) + 1
        self.known: dict[str, Any] = {}

    def settled(self, stmt: Any) -> list[gast.stmt] | None:
        """The statements instead of `v = y.reshape(...)`; None to leave it."""
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return None
        target, value = stmt.targets[0], stmt.value
        callees = self.facts.callees.get(id(value), [])
        op = callees[0] if len(callees) == 1 else None
        if not isinstance(op, Op) or op.alias != "maybe":
            return None
        if is_told(op, value):
            return None
        if not isinstance(target, gast.Name):
            return None
        t = self.types.get(target.id, UNKNOWN)
        if not is_active(t) or not all_buffers(t) & self.written:
            return None
        if not written_later(self.program, self.unit, stmt, all_buffers(t)):
            return None
        base = shared_operand(value, self.types)
        if base is None or not isinstance(self.types.get(base.id), Array):
            return None
        try:
            array = self.of(base.id)
            made = self.value(value)
        except _Unclear:
            return None
        if not isinstance(made, np.ndarray):
            return None
        if made is array:
            return self.itself(stmt, op, base)
        if np.may_share_memory(made, array):
            return self.viewed(stmt, op, base)
        if array.size == 0:
            return None
        return self.parted(stmt, base)

    def itself(self, stmt: gast.Assign, op: Op, base: gast.Name) -> Any:
        """`v = np.asarray(y)` of an array is `v = y`, however it lies in memory."""
        value: Any = stmt.value
        if is_one_of(op, _BY_LAYOUT) or any(k.arg == "order" for k in value.keywords):
            return None
        return [self.instead(stmt, syntax.clone(base))]

    def viewed(self, stmt: gast.Assign, op: Op, base: gast.Name) -> Any:
        """`y.reshape(-1, copy=False)`, which NumPy refuses where it is no view."""
        value: Any = stmt.value
        if not is_one_of(op, (*_RESHAPE, np.ravel)) or value.keywords:
            return None
        method = isinstance(value.func, gast.Attribute) and syntax.is_name(
            value.func.value, base.id
        )
        shape = list(value.args if method else value.args[1:])
        if is_one_of(op, (np.ravel,)):
            if shape:
                return None
            shape = [syntax.expression("-1")]
        function = gast.Attribute(syntax.clone(base), "reshape", syntax.LOAD)
        told = gast.keyword("copy", syntax.const(False))
        return [self.instead(stmt, gast.Call(function, shape, [told]))]

    def parted(self, stmt: gast.Assign, base: gast.Name) -> list[gast.stmt]:
        """A copy, of which it is checked that it is none of the array's memory."""
        self.unit.extra[APART] = runtime.apart
        self.unit.names.taken.add(APART)
        name = self.unit.names.fresh(f"{getattr(stmt.targets[0], 'id', '')}_copy")
        self.unit.temps.add(name)
        self.unit.varying.add(name)
        first = syntax.assign(name, stmt.value)
        stmt.value.parted = True
        call = syntax.call(APART, syntax.name(name), syntax.clone(base))
        for made in (first, new := self.instead(stmt, call)):
            made.user_line = getattr(stmt, "user_line", None)
        gast.copy_location(first, stmt)
        return [first, new]

    def instead(self, stmt: gast.Assign, value: gast.expr) -> gast.Assign:
        """The statement with another value."""
        new = syntax.clone_shallow(stmt)
        new.value = gast.copy_location(value, stmt.value)
        for node in syntax.walk(new.value):
            if not hasattr(node, "lineno"):
                gast.copy_location(node, stmt.value)
        return new

    # -- arrays to ask NumPy about -----------------------------------------------------

    def of(self, name: str) -> Any:
        """An array that lies as the one that the name holds, or a list of such.

        Raises `_Unclear`.
        """
        if name not in self.known:
            self.known[name] = None  # a loop of definitions tells nothing
            with suppress(_Unclear):
                self.known[name] = self.made(name)
        found = self.known[name]
        if found is None:
            raise _Unclear
        return found

    def made(self, name: str) -> Any:
        t = self.types.get(name, UNKNOWN)
        values = self.values.get(name, [])
        count = self.bound[name] - self.updates.get(name, 0)
        if name in self.unit.parameters:
            if values or not isinstance(t, Array):
                raise _Unclear
            return self.plain(t)
        if not values or count > len(values):
            raise _Unclear
        found = [self.value(v) for v in values]
        first = found[0]
        if isinstance(t, (List, Tuple)) and len(found) == 1:
            if all_buffers(t) & self.written:
                raise _Unclear  # it may hold others where it is read
            return first
        for other in found:
            if not isinstance(other, np.ndarray):
                raise _Unclear
            if (other.shape, other.strides) != (first.shape, first.strides):
                raise _Unclear
        return first

    def plain(self, t: Array) -> np.ndarray:
        """An array as NumPy makes them."""
        shape = []
        for dim in t.shape or ((None,) if t.shape is None else ()):
            size = dim if isinstance(dim, int) else None
            if isinstance(dim, Sym) and dim.sizes is not None:
                size = size_of(dim, dim.sizes.example)
            if size is None:
                raise _Unclear
            shape.append(size)
        if np.prod(shape, initial=1) > _LARGEST:
            raise _Unclear
        return np.ones(shape, t.dtype or float)

    def value(self, node: gast.expr) -> Any:
        """What an expression of arrays gives. Raises `_Unclear`."""
        if isinstance(node, gast.Name):
            return self.operand(node.id)
        if isinstance(node, gast.Constant):
            return node.value
        for call in syntax.walk(node):
            if isinstance(call, gast.Call):
                callees = self.facts.callees.get(id(call), [])
                if len(callees) != 1 or not isinstance(callees[0], Op):
                    raise _Unclear
        if not is_pure(node) or isinstance(node, gast.Lambda):
            raise _Unclear
        values = {n: self.operand(n) for n in sorted(syntax.names_read(node))}
        total = sum(v.size for v in values.values() if isinstance(v, np.ndarray))
        if total > _LARGEST:
            raise _Unclear
        try:
            with np.errstate(all="ignore"):
                return eval(syntax.text(node), {"__builtins__": {}}, values)
        except Exception:
            raise _Unclear from None

    def operand(self, name: str) -> Any:
        t: Type | None = self.types.get(name)
        if name in self.values or name in self.unit.parameters:
            if isinstance(t, Const):
                return t.value
            if isinstance(t, Scalar):
                return self.number(t)
            return self.of(name)
        if self.bound[name]:
            raise _Unclear
        try:
            return self.program.resolve(self.unit, name)
        except KeyError:
            raise _Unclear from None

    def number(self, t: Scalar) -> Any:
        """A number of the type: what is no size matters to no layout."""
        if t.dtype is None or t.dtype.kind not in "fc":
            size = t.size
            if isinstance(size, Sym) and size.sizes is not None:
                size = size_of(size, size.sizes.example)
            if not isinstance(size, int):
                raise _Unclear
            return size
        return 1.0 if t.python else t.dtype.type(1)


def written_later(program: Program, unit: Unit, stmt: Any, memory: Buffers) -> bool:
    """Whether something may write to the memory after the statement has run."""
    facts = program.facts
    if not memory & facts.written():
        return False
    positions = Positions(unit.node.body)
    if stmt not in positions:
        return True
    here, elsewhere = positions[stmt], []
    for each in program.reached():
        if each is not unit:
            elsewhere.append(each.node)
    if memory & facts.written_by(n for node in elsewhere for n in syntax.walk(node)):
        return True
    for other in positions.stmts:
        there = positions.head(other)
        if not there.may_follow(here) or there.never_with(here):
            continue
        nodes = [other, *syntax.walk(syntax.head(other))]
        if memory & facts.written_by(nodes):
            return True
    return False


class _Unclear(Exception):
    """How an array lies in memory is not known here."""


def is_one_of(op: Op, functions: tuple) -> bool:
    """Whether it is the operation of one of these functions."""
    return any(f is function for f in op.functions for function in functions)


def is_told(op: Op, value: gast.expr) -> bool:
    """Whether a call says if it is a view: `y.reshape(n, m, copy=False)`."""
    return (
        is_one_of(op, _RESHAPE)
        and isinstance(value, gast.Call)
        and any(k.arg == "copy" for k in value.keywords)
    )


def shared_operand(call: gast.Call, types: dict[str, Type]) -> gast.Name | None:
    """The array that the result of a call may be a view of."""
    owner = getattr(call.func, "value", None)
    if isinstance(owner, gast.Name) and owner.id in types:
        return owner
    first = call.args[0] if call.args else None
    return first if isinstance(first, gast.Name) else None


__all__ = ["is_told", "settle_layouts", "written_later"]
