"""Statements that can be computed for some of the first axis at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Shape,
    Type,
    ageless_buffers,
    all_buffers,
    dtype_of,
    is_number,
    same_size,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.operations import Operation, constant
from srcjax.transforms.kernels.writing import Writing

#: The functions behind operators on arrays, as they are called with `out=`.
_BINARY = {
    gast.Add: "add",
    gast.Sub: "subtract",
    gast.Mult: "multiply",
    gast.Div: "divide",
    gast.FloorDiv: "floor_divide",
    gast.Mod: "remainder",
    gast.BitAnd: "bitwise_and",
    gast.BitOr: "bitwise_or",
    gast.BitXor: "bitwise_xor",
    gast.LShift: "left_shift",
    gast.RShift: "right_shift",
}
_UNARY = {gast.USub: "negative", gast.UAdd: "positive", gast.Invert: "invert"}
_COMPARE = {
    gast.Lt: "less",
    gast.LtE: "less_equal",
    gast.Gt: "greater",
    gast.GtE: "greater_equal",
    gast.Eq: "equal",
    gast.NotEq: "not_equal",
}
#: What `x**n` is for floats and some `n`: NumPy's operator says so, its function not.
_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal"}
#: Exponents that the operator treats in other ways.
_OTHER_POWERS = (0, 1)
#: Functions of an array that give another one like it.
_LIKE = (np.zeros_like, np.ones_like)
_CONVERSIONS = ("astype", "numpy.astype")
#: What a part of a reduction is put together from, and with.
FOLDS = {
    "numpy.sum": "np.sum",
    "numpy.mean": "np.sum",
    "numpy.prod": "np.prod",
    "numpy.max": "np.max",
    "numpy.min": "np.min",
    "numpy.any": "np.any",
    "numpy.all": "np.all",
}
#: Numbers whose sums and products are the same, whatever is put together first.
_FOLDED = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.bool_)))


class Known(Array):
    """The type of an array with a dtype and a shape."""

    dtype: np.dtype
    shape: Shape


@dataclass
class Member:
    """A statement that gives some rows of its result for the same rows of arrays."""

    stmt: Any
    name: str
    #: The shape that it goes through; its first axis is cut into blocks.
    shape: Shape
    dtype: np.dtype
    #: What is computed of the rows.
    value: gast.expr
    #: The arrays of which it reads rows, and the names that it reads as they are.
    along: set[str]
    whole: set[str]
    #: Whether the result has the shape that it goes through, so that it may be kept in
    #: a buffer; it has fewer columns where rows were reduced.
    full: bool = True
    #: Whether `out=` says where the result goes.
    takes_out: bool = False
    #: Whether it is `np.where(c, a, b)`, which is `b`, and `a` where `c`.
    chooses: bool = False
    #: Of a reduction along the first axis: what puts parts together, along which axis.
    fold: str = ""
    axis: int | None = None
    keepdims: bool = False
    #: Of a mean: whether the sum is divided by how many there are.
    divides: bool = False


class Members(Writing):
    """Says which statements of a unit in core form are members."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        counts = syntax.binding_counts(unit.node.body)
        #: What is bound once, by name.
        self.made_by: dict[str, Any] = {
            s.targets[0].id: s.value
            for s in syntax.all_statements(unit.node.body)
            if isinstance(s, gast.Assign)
            and isinstance(s.targets[0], gast.Name)
            and counts[s.targets[0].id] == 1
        }

    def member(self, stmt: Any) -> Member | None:
        """The member that a statement is; None for all others."""
        if not isinstance(stmt, gast.Assign) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            return None
        name, value = stmt.targets[0].id, stmt.value
        operation = self.operations.of(value)
        if operation is None or name in syntax.names_read(value):
            return None
        if operation.op.fold is not None:
            return self.reduction(stmt, name, operation)
        t = self.types.get(name)
        if not is_known(t) or not t.shape:
            return None
        if operation.op.alias != "fresh" or not self.is_elementwise(operation):
            return None
        read = self.operands(value, t.shape)
        if read is None:
            return None
        spelled = self.with_out(value, operation)
        chooses = self.chooses(value, operation)
        return Member(
            stmt,
            name,
            t.shape,
            t.dtype,
            value if spelled is None else spelled,
            *read,
            takes_out=spelled is not None or chooses,
            chooses=chooses,
        )

    def chooses(self, value: gast.expr, operation: Operation) -> bool:
        """Whether it is `np.where(c, a, b)` of truth values `c`."""
        if operation.function is not np.where or len(getattr(value, "args", ())) != 3:
            return False
        condition = dtype_of(self.type_of(value.args[0]))
        return condition is not None and condition.kind == "b"

    def is_elementwise(self, operation: Operation) -> bool:
        """Whether the rows of the result are computed of those of the operands."""
        given = operation.operands
        if operation.op.elementwise:
            return True
        if operation.function in _LIKE:
            return len(given) == 1
        if operation.op.name in _CONVERSIONS and len(given) == 2:
            return isinstance(self.type_of(given.get("dtype")), Const)
        return False

    def operands(self, value: gast.expr, shape: Shape) -> tuple[set, set] | None:
        """The arrays read row by row, and what is read whole; None: it is not known."""
        along: set[str] = set()
        whole: set[str] = set()
        for node in self.atoms(value):
            t = self.type_of(node)
            if not isinstance(t, Array) or t.shape == ():
                if not (is_number(t) or isinstance(t, (Array, Const))):
                    return None
                whole |= syntax.names_read(node)
                continue
            if not isinstance(node, gast.Name) or not is_known(t):
                return None
            if len(t.shape) < len(shape) or is_one(t.shape[0]):
                whole.add(node.id)
            elif same_size(t.shape[0], shape[0]) and self.lies_in_rows(node):
                along.add(node.id)
            else:
                return None
        if not along or along & whole:
            return None
        return along, whole

    def atoms(self, value: gast.expr) -> list[gast.expr]:
        """The operands of an operation, as core form has them."""
        if isinstance(value, gast.BinOp):
            return [value.left, value.right]
        if isinstance(value, gast.UnaryOp):
            return [value.operand]
        if isinstance(value, gast.Compare):
            return [value.left, *value.comparators]
        operation = self.operations.of(value)
        assert operation is not None
        return list(operation.operands.values())

    def lies_in_rows(self, node: gast.Name) -> bool:
        """Whether rows that follow each other do so in memory, if parameters do."""
        t = self.type_of(node)
        if len(shape_of(t) or ()) == 1 or node.id in self.unit.parameters:
            return True
        made = self.made_by.get(node.id)
        if isinstance(made, gast.Subscript) and isinstance(made.value, gast.Name):
            base = self.type_of(made.value)
            return isinstance(base, Array) and self.lies_in_rows(made.value)
        operation = self.operations.of(made)
        return operation is not None and operation.op.alias == "fresh"

    def asked_of(self, names: set[str]) -> set[str]:
        """The parameters that lie in rows if these arrays do."""
        found = set()
        for name in names:
            t = self.types.get(name, UNKNOWN)
            if len(shape_of(t) or ()) > 1:
                found |= set(self.parameters_of(t))
        return found

    def parameters_of(self, t: Type) -> list[str]:
        """The parameters whose memory an array may be in."""
        shown = ageless_buffers(all_buffers(t))
        return [
            p
            for p in self.unit.parameters
            if isinstance(self.types.get(p), Array)
            and ageless_buffers(all_buffers(self.types[p])) & shown
        ]

    # -- spelling --------------------------------------------------------------------

    def with_out(self, value: gast.expr, operation: Operation) -> gast.expr | None:
        """The same as a call that takes `out=`; None where there is none."""
        name = None
        if isinstance(value, gast.BinOp):
            name = self.of_operator(value)
        elif isinstance(value, gast.UnaryOp):
            name = _UNARY.get(type(value.op))
        elif isinstance(value, gast.Compare):
            name = _COMPARE.get(type(value.ops[0]))
        elif isinstance(operation.function, np.ufunc) and not value.keywords:
            return value if operation.function.nout == 1 else None
        if name is None:
            return None
        atoms = self.atoms(value)
        if name in _POWERS.values() and isinstance(value, gast.BinOp):
            atoms = atoms[:1]
        return syntax.call(syntax.expression(f"np.{name}"), *atoms)

    def of_operator(self, value: gast.BinOp) -> str | None:
        """The function that an operator calls, `x**n` aside where `n` is not known."""
        if not isinstance(value.op, gast.Pow):
            return _BINARY.get(type(value.op))
        exponent = constant(self.type_of(value.right))
        dtype = dtype_of(self.type_of(value.left))
        if type(exponent) not in (int, float) or dtype is None or dtype.kind != "f":
            return None
        if exponent in _OTHER_POWERS:
            return None
        return _POWERS.get(exponent, "power")

    # -- reductions ------------------------------------------------------------------

    def reduction(self, stmt: Any, name: str, operation: Operation) -> Member | None:
        """`np.sum(x, axis)`: of each row, or of parts that are put together."""
        given = dict(operation.operands)
        array = given.pop("a", None)
        axis = self.option(given.pop("axis", None), None)
        keepdims = self.option(given.pop("keepdims", None), False)
        fold = operation.op.fold
        if given or not isinstance(array, gast.Name) or fold is None:
            return None
        of, t = self.type_of(array), self.types.get(name)
        if not is_known(of) or t is None or not isinstance(keepdims, bool):
            return None
        shape, dtype = of.shape, dtype_of(t)
        if not shape or dtype is None or not self.is_folded(of, dtype, operation):
            return None
        axes = axes_of(axis, len(shape))
        if axes is None or not self.lies_in_rows(array):
            return None
        found = Member(
            stmt, name, shape, dtype, stmt.value, {array.id}, set(), full=False
        )
        if 0 not in axes:
            return found if isinstance(t, Array) and is_known(t) else None
        found.fold = FOLDS[operation.op.name]
        found.divides = operation.op.name == "numpy.mean"
        if found.divides:
            found.value = syntax.expression("np.sum(a)", a=array)
        if axes == tuple(range(len(shape))):
            return None if keepdims else found
        if axes != (0,) or len(shape) != 2:
            return None
        if found.divides:
            found.value = syntax.expression("np.sum(a, axis=0)", a=array)
        elif keepdims:
            text = f"{found.fold}(a, axis=0)"
            found.value = syntax.expression(text, a=array)
        found.axis, found.keepdims = 0, keepdims
        return found

    def is_folded(self, of: Type, dtype: np.dtype, operation: Operation) -> bool:
        """Whether parts of such numbers may be put together."""
        own = dtype_of(of)
        kinds = operation.op.fold.kinds if operation.op.fold else ""
        known = {own, dtype} <= set(_FOLDED) and operation.op.name in FOLDS
        return known and own is not None and own.kind in kinds


def is_known(t: Any) -> TypeGuard[Known]:
    """Whether it is an array of numbers with a shape of which all sizes have names."""
    if not isinstance(t, Array) or t.dtype is None or t.shape is None:
        return False
    return t.dtype.kind in "fciub" and all(same_size(d, d) for d in t.shape)


def is_one(dim: Any) -> bool:
    """Whether a size is known to be 1: the rows of an array are the same."""
    return isinstance(dim, int) and dim == 1


def axes_of(axis: Any, rank: int) -> tuple[int, ...] | None:
    """The axes that a reduction goes along; None: they are not known."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not axes or any(type(a) is not int or not -rank <= a < rank for a in axes):
        return None
    return tuple(sorted(a % rank for a in axes))
