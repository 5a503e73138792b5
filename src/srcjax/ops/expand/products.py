"""What helpers of products stand for."""

from __future__ import annotations

import string
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.foreign import is_sparse
from srcjax.analysis.types import (
    Dim,
    Shape,
    Type,
    broadcast_shapes,
    dtype_of,
    rank_of,
    same_shape,
    same_size,
    shape_of,
)
from srcjax.ops.expand.asking import indexed, items_of, permuted
from srcjax.ops.expand.reductions import summed
from srcjax.ops.expand.table import expands
from srcjax.ops.known import MISSING, known_value, types_in
from srcjax.ops.products import shape_of_dot, shape_of_matmul
from srcjax.runtime import contracted_axes, einsum_labels


@expands(runtime.transposed)
def _transposed(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[0])
    if rank is None:
        return None
    form = "x.T" if rank == 2 else "x.swapaxes(-1, -2)"
    return syntax.expression(form, x=args[0])


def contraction(
    d: gast.expr, a: gast.expr, b: gast.expr, ranks: Any, axes: Any, side: int
) -> gast.expr:
    """The adjoint of `a` (side 0) or `b` (side 1) when `axes` of both are summed."""
    (m, n), (left, right) = ranks, axes
    if m <= 2 and n <= 2 and len(left) == 1:
        found = _MATRIX_FORMS[m, n, left[0], right[0]][side]
        return syntax.expression(found, d=d, a=a, b=b)
    kept = [i for i in range(m) if i not in left]
    free = [i for i in range(n) if i not in right]
    rank = len(kept) + len(free)
    if side == 0:
        pair = tuple(range(len(kept), rank)), tuple(free)
        order = kept + [i for _, i in sorted(zip(right, left, strict=True))]
        operands = "d, b"
    else:
        pair = tuple(kept), tuple(range(len(kept)))
        order = [i for _, i in sorted(zip(left, right, strict=True))] + free
        operands = "a, d"
    if not pair[0] and rank == 0:
        form = "d * b" if side == 0 else "a * d"
        value = syntax.expression(form, d=d, a=a, b=b)
    elif not pair[0]:
        value = syntax.expression(f"np.multiply.outer({operands})", d=d, a=a, b=b)
    else:
        shown = (pair[0][0], pair[1][0]) if len(pair[0]) == 1 else pair
        form = f"np.tensordot({operands}, axes={shown})"
        value = syntax.expression(form, d=d, a=a, b=b)
    return permuted(value, sorted(range(len(order)), key=order.__getitem__))


#: By the ranks and the summed axes of `a` and `b`: the adjoints of `a` and of `b`.
_MATRIX_FORMS = {
    (1, 1, 0, 0): ("d * b", "d * a"),
    (1, 2, 0, 0): ("b @ d", "np.outer(a, d)"),
    (1, 2, 0, 1): ("d @ b", "np.outer(d, a)"),
    (2, 1, 1, 0): ("np.outer(d, b)", "a.T @ d"),
    (2, 1, 0, 0): ("np.outer(b, d)", "a @ d"),
    (2, 2, 1, 0): ("d @ b.T", "a.T @ d"),
    (2, 2, 1, 1): ("d @ b", "d.T @ a"),
    (2, 2, 0, 0): ("b @ d.T", "a @ d"),
    (2, 2, 0, 1): ("b.T @ d.T", "d.T @ a.T"),
}


def _is_of_dot(d: Type, a: Type, b: Type) -> bool:
    """Whether `d` has the shape of `np.dot(a, b)`; one of a larger shape is summed."""
    m, n = shape_of(a), shape_of(b)
    return m is not None and n is not None and _is_of_shape(d, shape_of_dot(m, n))


def _is_of_matmul(d: Type, a: Type, b: Type) -> bool:
    """The same of `a @ b`."""
    shape = shape_of_matmul(shape_of(a) or (), shape_of(b) or ())
    return shape is not None and _is_of_shape(d, shape)


def _is_of_shape(d: Type, shape: Shape) -> bool:
    """Whether an adjoint has this shape, as far as sizes are known."""
    have = shape_of(d)
    if have is None or len(have) != len(shape):
        return False
    pairs = zip(have, shape, strict=True)
    return all(None in pair or same_size(*pair) for pair in pairs)


def _dot_like(
    args: list[gast.expr], types: list[Type], side: int, inner: bool
) -> gast.expr | None:
    d, a, b = args
    m, n = rank_of(types[1]), rank_of(types[2])
    if m is None or n is None:
        return None
    if not inner and not _is_of_dot(*types):
        return None
    if m == 0 or n == 0:
        other, own = (b, 1) if side == 0 else (a, 2)
        value = syntax.expression("d * x", d=d, x=other)
        have = shape_of(types[1]) or shape_of(types[2])
        return summed(value, have, shape_of(types[own]), args[own])
    axes = ((m - 1,), (n - 1 if inner else max(n - 2, 0),))
    return contraction(d, a, b, (m, n), axes, side)


@expands(runtime.undot_left)
def _undot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 0, inner=False)


@expands(runtime.undot_right)
def _undot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 1, inner=False)


@expands(runtime.uninner_left)
def _uninner_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 0, inner=True)


@expands(runtime.uninner_right)
def _uninner_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 1, inner=True)


def _matmul(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, a, b = args
    if is_sparse(types[2 - side]):
        form = "a.T @ d" if side else "d @ b.T"
        return syntax.expression(form, d=d, a=a, b=b)
    m, n = shape_of(types[1]), shape_of(types[2])
    pair: Any
    if not m or not n or not _is_of_matmul(*types):
        return None
    if len(m) <= 2 and len(n) <= 2:
        axes = ((len(m) - 1,), (max(len(n) - 2, 0),))
        return contraction(d, a, b, (len(m), len(n)), axes, side)
    if len(n) == 1:
        if side == 0:
            return syntax.expression("d[..., None] * b", d=d, b=b)
        return syntax.expression(f"np.tensordot(d, a, axes={len(m) - 1})", d=d, a=a)
    if len(m) == 1:
        if side == 1:
            return syntax.expression("a[:, None] * d[..., None, :]", d=d, a=a)
        batch = tuple(range(len(n) - 2))
        pair = (*batch, len(n) - 1), (*batch, len(n) - 2)
        return syntax.expression(f"np.tensordot(b, d, axes={pair})", d=d, b=b)
    if side == 0 and len(m) == 2:
        pair = tuple(i for i in range(len(n)) if i != len(n) - 2)
        form = f"np.tensordot(d, b, axes=({pair}, {pair}))"
        return syntax.expression(form, d=d, b=b)
    if side == 1 and len(n) == 2:
        pair = tuple(range(len(m) - 1))
        return syntax.expression(f"np.tensordot(a, d, axes=({pair}, {pair}))", d=d, a=a)
    both = broadcast_shapes(m[:-2], n[:-2])
    if both is None:
        return None
    if side == 0:
        form = "d @ b.T" if len(n) == 2 else "d @ b.swapaxes(-1, -2)"
        value, have = syntax.expression(form, d=d, b=b), (*both, *m[-2:])
        return summed(value, have, m, a)
    form = "a.T @ d" if len(m) == 2 else "a.swapaxes(-1, -2) @ d"
    value, have = syntax.expression(form, d=d, a=a), (*both, *n[-2:])
    return summed(value, have, n, b)


@expands(runtime.unmatmul_left)
def _unmatmul_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _matmul(args, types, 0)


@expands(runtime.unmatmul_right)
def _unmatmul_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _matmul(args, types, 1)


def _tensordot(args: list[gast.expr], types: list[Type], side: int) -> Any:
    d, a, b = args[:3]
    m, n, along = rank_of(types[1]), rank_of(types[2]), known_value(types[3])
    if m is None or n is None or along is MISSING:
        return None
    axes = contracted_axes(along, m, n)
    return contraction(d, a, b, (m, n), axes, side)


@expands(runtime.untensordot_left)
def _untensordot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _tensordot(args, types, 0)


@expands(runtime.untensordot_right)
def _untensordot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _tensordot(args, types, 1)


@expands(runtime.einsum_adjoints)
def _einsum_adjoints(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    """A display with one einsum for each operand, if no operand needs more."""
    d, subscripts, items = args[0], known_value(types[1]), types_in(types[2])
    if not isinstance(subscripts, str) or items is None:
        return None
    shapes = [shape_of(t) for t in items]
    if any(shape is None for shape in shapes):
        return None
    inputs, output = einsum_labels(subscripts, [len(s or ()) for s in shapes])
    sizes: dict[str, Dim] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, dim in zip(labels, shape or (), strict=True):
            if label not in sizes:
                sizes[label] = dim
            elif not same_shape((sizes[label],), (dim,)):
                return None  # perhaps a size of 1 that was broadcast
    operands = items_of(args[2], len(items))
    found = []
    for i, axes in enumerate(inputs):
        labels = "".join(dict.fromkeys(axes))
        others = operands[:i] + operands[i + 1 :]
        terms = [output, *inputs[:i], *inputs[i + 1 :]]
        have = "".join(label for label in labels if label in "".join(terms))
        if not others and have == output:
            value = d
        elif not others and have == output[::-1] and len(have) == 2:
            value = syntax.expression("d.T", d=d)
        else:
            formula = syntax.const(f"{','.join(terms)}->{have}")
            value = syntax.call("np.einsum", formula, d, *others)
        index = [":" if label in have else "None" for label in labels]
        while index and index[0] == "None":  # comes back by broadcasting
            index = index[1:]
        if labels != axes:
            if any(c not in have and axes.count(c) == 1 for c in labels):
                return None  # a size that has to be written out
            value = _on_diagonal(value, have, axes, operands[i], items[i])
        elif "None" in index:
            value = indexed(value, index)
        found.append(value)
    return gast.List(found, syntax.LOAD)


def _on_diagonal(
    value: gast.expr, have: str, axes: str, operand: gast.expr, t: Type
) -> gast.expr:
    """`np.einsum("i,iz->iz", value, np.eye(len(x)))`: not zero where indices are equal.

    `have` are the axes of the value, `axes` those of the operand `x`.
    """
    terms, ones, result = [have], [], ""
    spare = [c for c in string.ascii_lowercase if c not in axes]
    for place, label in enumerate(axes):
        if label in result:
            again = spare.pop()
            terms.append(label + again)
            text = f"np.eye(x.shape[{place}])"
            if dtype_of(t) != np.dtype(float):
                text = f"np.eye(x.shape[{place}], dtype=x.dtype)"
            ones.append(syntax.expression(text, x=operand))
            label = again
        result += label
    formula = syntax.const(f"{','.join(terms)}->{result}")
    return syntax.call("np.einsum", formula, value, *ones)


def _kron(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, a, b = args
    if rank_of(types[1]) != 2 or rank_of(types[2]) != 2:
        return None
    form = (
        "np.einsum('ikjl,kl->ij', d.reshape(len(a), len(b), a.shape[1], b.shape[1]), b)"
        if side == 0
        else "np.einsum('ikjl,ij->kl', d.reshape(len(a), len(b), a.shape[1], "
        "b.shape[1]), a)"
    )
    return syntax.expression(form, d=d, a=a, b=b)


@expands(runtime.unkron_left)
def _unkron_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _kron(args, types, 0)


@expands(runtime.unkron_right)
def _unkron_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _kron(args, types, 1)


@expands(runtime.untrace)
def _untrace(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x = args[:2]
    shape, dtype = shape_of(types[1]), dtype_of(types[1])
    if shape is None or len(shape) != 2 or dtype is None or dtype.kind != "f":
        return None
    if [known_value(t) for t in types[2:5]] not in ([0, 0, 1], [0, 1, 0]):
        return None
    sizes = "len(x)" if same_shape(shape[:1], shape[1:]) else "*x.shape"
    kind = "" if dtype == np.dtype(float) else ", dtype=x.dtype"
    return syntax.expression(f"d * np.eye({sizes}{kind})", d=d, x=x)


@expands(runtime.unconvolve_left)
def _unconvolve_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if known_value(types[3]) != "full":
        return None
    return syntax.expression("np.convolve(d, v[::-1], 'valid')", d=args[0], v=args[2])


@expands(runtime.unconvolve_right)
def _unconvolve_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if known_value(types[3]) != "full":
        return None
    return syntax.expression("np.convolve(d, a[::-1], 'valid')", d=args[0], a=args[1])
