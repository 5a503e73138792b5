"""Products of arrays: dot, matmul, einsum, tensordot, outer, kron, trace ...

For complex arrays the adjoints are those of JAX: transposed, not conjugated.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dim,
    Shape,
    Type,
    broadcast_dims,
    broadcast_shapes,
    rank_of,
    shape_of,
    suppose_contracted,
    suppose_fit,
    supposed_same,
)
from srcjax.ops.infer_rules import NONE, dims_product, sample, value_of_shape
from srcjax.ops.known import MISSING, known_value, types_in
from srcjax.ops.record import adjoint, inert, operation, tangent
from srcjax.runtime import contracted_axes, einsum_labels

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

ZERO, ONE, TWO, LAST = (Const(value=i) for i in (0, 1, 2, -1))
FULL, VALID = Const(value="full"), Const(value="valid")

# -- types --------------------------------------------------------------------------


def product_dtype(*types: Type, weak: bool = False) -> np.dtype | None:
    """The dtype that a product of values of these types has.

    Python's numbers count as arrays, unless they are `weak`, as in `np.select`.
    """
    samples = [sample(t) for t in types]
    if not samples or any(s is None for s in samples):
        return None
    return np.result_type(*(samples if weak else map(np.asarray, samples)))


def number_or_array(dtype: np.dtype | None, shape: Shape | None) -> Type:
    """What NumPy returns; without the rank it may be a number as well as an array."""
    return UNKNOWN if shape is None else value_of_shape(dtype, shape)


def shape_of_dot(m: Shape, n: Shape) -> Shape:
    """The shape of `np.dot` of arrays of these shapes."""
    if not m or not n:
        return m or n
    return m[:-1] + n[:-2] + n[-1:] * (len(n) > 1)


def shape_of_matmul(m: Shape, n: Shape) -> Shape | None:
    """The shape of `a @ b`; None where their stacks do not fit, as far as is known."""
    batch = broadcast_shapes(m[:-2], n[:-2])
    return None if batch is None else batch + m[-2:-1] + n[-1:] * (len(n) > 1)


def infer_dot(a: Type, b: Type, **_: Type) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    if m is None or n is None:
        return number_or_array(dtype, None)
    if m and n:
        suppose_contracted(m, n)
    return number_or_array(dtype, shape_of_dot(m, n))


def infer_matmul(a: Type, b: Type, **_: Type) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    if not m or not n:
        return number_or_array(dtype, None)
    suppose_contracted(m, n)
    return number_or_array(dtype, shape_of_matmul(m, n))


def infer_vdot(a: Type, b: Type) -> Type:
    m, n = shape_of(a), shape_of(b)
    if m is not None and n is not None and len(m) == len(n) == 1:
        suppose_fit(m[0], n[0])
    return number_or_array(product_dtype(a, b), ())


def infer_inner(a: Type, b: Type) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    if m is None or n is None:
        return number_or_array(dtype, None)
    if not m or not n:
        return number_or_array(dtype, m or n)
    suppose_fit(m[-1], n[-1])
    return number_or_array(dtype, m[:-1] + n[:-1])


def infer_outer(a: Type, b: Type, **_: Type) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    rows = None if m is None else dims_product(m)
    columns = None if n is None else dims_product(n)
    return Array(dtype=dtype, shape=(rows, columns))


def infer_tensordot(a: Type, b: Type, axes: Type = TWO) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    along = known_value(axes)
    if m is None or n is None or along is MISSING:
        return Array(dtype=dtype)
    left, right = contracted_axes(along, len(m), len(n))
    for p, q in zip(left, right, strict=True):
        suppose_fit(m[p], n[q])
    shape = [dim for i, dim in enumerate(m) if i not in left]
    shape += [dim for i, dim in enumerate(n) if i not in right]
    return Array(dtype=dtype, shape=tuple(shape))


def infer_einsum(subscripts: Type, operands: Any = (), **_: Type) -> Type:
    items = types_in(operands)
    if items is None or not isinstance(known_value(subscripts), str):
        return UNKNOWN
    dtype = product_dtype(*items)
    shapes = [shape_of(t) for t in items]
    if any(shape is None for shape in shapes):
        return number_or_array(dtype, None)
    ranks = [len(shape) for shape in shapes if shape is not None]
    inputs, output = einsum_labels(known_value(subscripts), ranks)
    sizes: dict[str, Dim] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, dim in zip(labels, shape or (), strict=True):
            sizes[label] = broadcast_dims(sizes.get(label, 1), dim)
    return number_or_array(dtype, tuple(sizes[label] for label in output))


def is_new_einsum(subscripts: Type, operands: Any = (), **_: Type) -> bool:
    """Whether `np.einsum` gives no view, as it may of one array without a sum."""
    items = types_in(operands)
    if items is None:
        return False
    if len(items) != 1:
        return True
    shape = shape_of(items[0])
    if shape is None or not isinstance(known_value(subscripts), str):
        return False
    inputs, output = einsum_labels(known_value(subscripts), [len(shape)])
    return not set(inputs[0]) <= set(output)


def infer_kron(a: Type, b: Type) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    if m is None or n is None:
        return number_or_array(dtype, None)
    rank = max(len(m), len(n))
    m, n = (1,) * (rank - len(m)) + m, (1,) * (rank - len(n)) + n
    shape: list[Dim] = []
    for p, q in zip(m, n, strict=True):
        if p == 1 or q == 1:
            shape.append(q if p == 1 else p)
        else:
            shape.append(dims_product((p, q)))
    return Array(dtype=dtype, shape=tuple(shape))


def infer_trace(
    a: Type,
    offset: Type = ZERO,
    axis1: Type = ZERO,
    axis2: Type = ONE,
    **_: Type,
) -> Type:
    dtype = product_dtype(a)
    if dtype is not None and dtype.kind == "b":
        dtype = np.dtype(int)
    shape, axes = shape_of(a), (known_value(axis1), known_value(axis2))
    if shape is None or MISSING in axes:
        rank = rank_of(a)
        unknown = None if rank is None else (None,) * (rank - 2)
        return number_or_array(dtype, unknown)
    gone = {axis % len(shape) for axis in axes}
    kept = tuple(dim for i, dim in enumerate(shape) if i not in gone)
    return number_or_array(dtype, kept)


def infer_cross(
    a: Type,
    b: Type,
    axisa: Type = LAST,
    axisb: Type = LAST,
    axisc: Type = LAST,
    axis: Type = NONE,
) -> Type:
    dtype, m, n = product_dtype(a, b), shape_of(a), shape_of(b)
    positions = [known_value(t) for t in (axisa, axisb, axisc, axis)]
    if not m or not n or MISSING in positions:
        return number_or_array(dtype, None)
    first, second, third, common = positions
    if common is not None:
        first = second = third = common
    threes = [supposed_same(m[first], 3), supposed_same(n[second], 3)]
    if threes == [None, None]:  # vectors of planes: their products are numbers
        return number_or_array(dtype, None)
    rest = broadcast_shapes(_without(m, first), _without(n, second))
    assert rest is not None
    place = third % (len(rest) + 1)
    return Array(dtype=dtype, shape=rest[:place] + (3,) + rest[place:])


def _without(shape: Shape, axis: int) -> Shape:
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def infer_multi_dot(arrays: Any, **_: Type) -> Type:
    items = types_in(arrays)
    if not items:
        return UNKNOWN
    dtype, first, last = product_dtype(*items), shape_of(items[0]), shape_of(items[-1])
    if not first or not last:
        return number_or_array(dtype, None)
    shape = first[:-1] + (last[-1:] if len(last) > 1 else ())
    return number_or_array(dtype, shape)


def infer_vecdot(a: Type, b: Type, axis: Type = LAST, **_: Type) -> Type:
    dtype, along = product_dtype(a, b), known_value(axis)
    m, n = shape_of(a), shape_of(b)
    if not m or not n or along is MISSING:
        return number_or_array(dtype, None)
    shape = broadcast_shapes(_without(m, along), _without(n, along))
    return number_or_array(dtype, shape)


def infer_power(a: Type, n: Type) -> Type:
    dtype, exponent = product_dtype(a), known_value(n)
    if dtype is not None and dtype.kind not in "fc":
        if not isinstance(exponent, int):
            dtype = None
        elif exponent < 0:
            dtype = np.dtype(float)
    return Array(dtype=dtype, shape=shape_of(a))


def infer_convolve(a: Type, v: Type, mode: Type = FULL) -> Type:
    dtype, m, n = product_dtype(a, v), shape_of(a), shape_of(v)
    size = None
    if m and n and isinstance(m[0], int) and isinstance(n[0], int):
        long, short = max(m[0], n[0]), min(m[0], n[0])
        sizes = {"full": long + short - 1, "same": long, "valid": long - short + 1}
        size = sizes.get(known_value(mode))
    return Array(dtype=dtype, shape=(size,))


def infer_correlate(a: Type, v: Type, mode: Type = VALID) -> Type:
    return infer_convolve(a, v, mode)


# -- dot and matmul -----------------------------------------------------------------


@adjoint(
    np.dot,
    methods=["dot"],
    infer=infer_dot,
    linear=("a", "b"),
    says={
        "a": "matrix product: `C = A @ B` gives `d[A] = d[C] @ B.T`",
        "b": "matrix product: `C = A @ B` gives `d[B] = A.T @ d[C]`",
        "y": "product rule: `d(A @ B) = d(A) @ B + A @ d(B)`",
    },
)
def _(y, a, b):
    d[a] = undot_left(d[y], a, b)
    d[b] = undot_right(d[y], a, b)


@adjoint(
    np.matmul,
    operator.matmul,
    np.linalg.matmul,
    infer=infer_matmul,
    linear=("a", "b"),
    says={
        "a": "matrix product: `C = A @ B` gives `d[A] = d[C] @ B.T`",
        "b": "matrix product: `C = A @ B` gives `d[B] = A.T @ d[C]`",
        "y": "product rule: `d(A @ B) = d(A) @ B + A @ d(B)`",
    },
)
def _(y, a, b):
    d[a] = unmatmul_left(d[y], a, b)
    d[b] = unmatmul_right(d[y], a, b)


@adjoint(np.vdot, infer=infer_vdot, linear=("a", "b"))
def _(y, a, b):
    """Inner product: each factor gets the adjoint times the other."""
    d[a] = unvdot_left(d[y], a, b)
    d[b] = unvdot_right(d[y], a, b)


@adjoint(np.inner, infer=infer_inner, linear=("a", "b"))
def _(y, a, b):
    """Inner product: each factor gets the adjoint times the other."""
    d[a] = uninner_left(d[y], a, b)
    d[b] = uninner_right(d[y], a, b)


@adjoint(np.outer, np.linalg.outer, infer=infer_outer, linear=("a", "b"))
def _(y, a, b):
    """Outer product: each factor gets the adjoint, summed along the other."""
    d[a] = unouter_left(d[y], a, b)
    d[b] = unouter_right(d[y], a, b)


@adjoint(np.vecdot, np.linalg.vecdot, infer=infer_vecdot, linear=("a", "b"))
def _(y, a, b, *, axis=-1):
    """Inner product: each factor gets the adjoint times the other."""
    d[a] = unvecdot_left(d[y], a, b, axis)
    d[b] = unvecdot_right(d[y], a, b, axis)


# -- contractions -------------------------------------------------------------------


@adjoint(np.tensordot, np.linalg.tensordot, infer=infer_tensordot, linear=("a", "b"))
def _(y, a, b, axes=2):
    """Contraction: each factor gets the adjoint contracted with the other."""
    d[a] = untensordot_left(d[y], a, b, axes)
    d[b] = untensordot_right(d[y], a, b, axes)


operation(
    np.einsum,
    signature="subscripts, *operands, optimize=False",
    infer=infer_einsum,
    alias="maybe",
    new_for=is_new_einsum,
)


@adjoint(np.einsum, linear="*operands")
def _(y, subscripts, *operands, optimize=False):
    """Contraction: each factor gets the adjoint contracted with the others."""
    d[operands] = einsum_adjoints(d[y], subscripts, operands)


inert(np.einsum_path)


@adjoint(np.kron, infer=infer_kron, linear=("a", "b"))
def _(y, a, b):
    """Kronecker product: each factor gets the adjoint, summed along the other."""
    d[a] = unkron_left(d[y], a, b)
    d[b] = unkron_right(d[y], a, b)


@adjoint(np.trace, methods=["trace"], infer=infer_trace, linear="a")
def _(y, a, offset=0, axis1=0, axis2=1):
    """The trace spreads its adjoint over the diagonal."""
    d[a] = untrace(d[y], a, offset, axis1, axis2)


@adjoint(np.cross, np.linalg.cross, infer=infer_cross, linear=("a", "b"))
def _(y, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    d[a] = uncross_left(d[y], a, b, axisa, axisb, axisc, axis)
    d[b] = uncross_right(d[y], a, b, axisa, axisb, axisc, axis)


# -- chains of products -------------------------------------------------------------


@adjoint(
    np.linalg.multi_dot,
    infer=infer_multi_dot,
    says="product rule: each matrix gets those before and behind it, transposed",
)
def _(y, arrays):
    d[arrays] = multi_dot_adjoints(d[y], arrays)


@tangent(np.linalg.multi_dot)
def _(y, arrays):
    d[y] = multi_dot_tangent(d[arrays], arrays)


@adjoint(
    np.linalg.matrix_power,
    infer=infer_power,
    alias="maybe",
    new_for=lambda a, n: isinstance(n, Const) and n.value != 1,
    says="product rule, for each of the equal factors",
)
def _(y, a, n):
    d[a] = matrix_power_adjoint(d[y], a, n)


@tangent(np.linalg.matrix_power)
def _(y, a, n):
    # The sum of a**i D a**j over i + j = n - 1: that of the adjoint, not transposed.
    d[y] = matrix_power_adjoint(d[a], transposed(a), n)


# -- convolutions -------------------------------------------------------------------


@adjoint(np.convolve, infer=infer_convolve, linear=("a", "v"))
def _(y, a, v, mode="full"):
    """Convolution: its adjoint is a correlation with the other factor."""
    d[a] = unconvolve_left(d[y], a, v, mode)
    d[v] = unconvolve_right(d[y], a, v, mode)


@adjoint(np.correlate, infer=infer_correlate, linear=("a", "v"))
def _(y, a, v, mode="valid"):
    """Correlation: its adjoint is a convolution with the other factor."""
    d[a] = uncorrelate_left(d[y], a, v, mode)
    d[v] = uncorrelate_right(d[y], a, v, mode)
