"""Moving elements without changing them: reshape, transpose, join, split, tile, pad."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.ops.record import adjoint, tangent
from srcjax.ops.shaping_types import (
    columns,
    infer_append,
    infer_at_least,
    infer_block,
    infer_broadcast_arrays,
    infer_broadcast_to,
    infer_concatenate,
    infer_expand_dims,
    infer_lifted,
    infer_meshgrid,
    infer_moveaxis,
    infer_mT,
    infer_pad,
    infer_ravel,
    infer_repeat,
    infer_reshape,
    infer_reshape_method,
    infer_rollaxis,
    infer_rot90,
    infer_same,
    infer_split,
    infer_squeeze,
    infer_stack,
    infer_swapaxes,
    infer_tile,
    infer_transpose,
    infer_transpose_method,
    infer_unstack,
    layers,
    rows,
)

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

# -- reshape ------------------------------------------------------------------------


@adjoint(
    np.reshape,
    signature="x, shape, order='C', *, copy=None",
    infer=infer_reshape,
    alias="maybe",
    cheap=True,
    linear="x",
)
def _(y, x, shape, order="C", *, copy=None):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x, order)


@adjoint(
    np.ndarray.reshape,
    signature="x, *shape, order='C', copy=None",
    methods=["reshape"],
    infer=infer_reshape_method,
    alias="maybe",
    cheap=True,
    linear="x",
)
def _(y, x, *shape, order="C", copy=None):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x, order)


@adjoint(
    np.ravel,
    methods=["ravel"],
    infer=infer_ravel,
    alias="maybe",
    cheap=True,
    linear="x",
)
def _(y, x, order="C"):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x, order)


@adjoint(np.ndarray.flatten, methods=["flatten"], infer=infer_ravel, linear="x")
def _(y, x, order="C"):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x, order)


@adjoint(np.expand_dims, infer=infer_expand_dims, alias="view", cheap=True, linear="x")
def _(y, x, axis):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = np.squeeze(d[y], axis)


@adjoint(
    np.squeeze,
    methods=["squeeze"],
    infer=infer_squeeze,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x, axis=None):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x)


@adjoint(np.atleast_1d, infer=infer_at_least(1), alias="view", cheap=True, linear="x")
def _(y, x):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x)


@adjoint(np.atleast_2d, infer=infer_at_least(2), alias="view", cheap=True, linear="x")
def _(y, x):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x)


@adjoint(np.atleast_3d, infer=infer_at_least(3), alias="view", cheap=True, linear="x")
def _(y, x):
    """Only the shape changed: the adjoint takes the old shape back."""
    d[x] = unreshape(d[y], x)


@adjoint(
    np.broadcast_to, infer=infer_broadcast_to, alias="read-only", cheap=True, linear="x"
)
def _(y, x, shape, subok=False):
    """Broadcast forward, sum backward."""
    d[x] = unbroadcast(d[y], x)


# -- order of axes ------------------------------------------------------------------


@adjoint(
    np.transpose,
    np.permute_dims,
    infer=infer_transpose,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x, axes=None):
    """The axes changed places: those of the adjoint change back."""
    d[x] = untranspose(d[y], axes)


@adjoint(
    np.ndarray.transpose,
    signature="x, *axes",
    methods=["transpose"],
    infer=infer_transpose_method,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x, *axes):
    """The axes changed places: those of the adjoint change back."""
    d[x] = untranspose(d[y], axes)


@adjoint(
    np.ndarray.T,
    name="ndarray.T",
    attributes=["T"],
    infer=infer_transpose,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x):
    """The axes changed places: those of the adjoint change back."""
    d[x] = d[y].T


@adjoint(
    np.matrix_transpose,
    np.linalg.matrix_transpose,
    np.ndarray.mT,
    attributes=["mT"],
    infer=infer_mT,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x):
    """The axes changed places: those of the adjoint change back."""
    d[x] = transposed(d[y])


@adjoint(
    np.swapaxes,
    methods=["swapaxes"],
    infer=infer_swapaxes,
    alias="view",
    cheap=True,
    linear="x",
)
def _(y, x, axis1, axis2):
    """The axes changed places: those of the adjoint change back."""
    d[x] = np.swapaxes(d[y], axis1, axis2)


@adjoint(np.moveaxis, infer=infer_moveaxis, alias="view", cheap=True, linear="x")
def _(y, x, source, destination):
    """The axes changed places: those of the adjoint change back."""
    d[x] = np.moveaxis(d[y], destination, source)


@adjoint(np.rollaxis, infer=infer_rollaxis, alias="view", cheap=True, linear="x")
def _(y, x, axis, start=0):
    """The axes changed places: those of the adjoint change back."""
    d[x] = unrollaxis(d[y], axis, start)


# -- order of elements --------------------------------------------------------------


@adjoint(np.flip, infer=infer_same, alias="view", cheap=True, linear="x")
def _(y, x, axis=None):
    """The order was reversed: that of the adjoint is reversed back."""
    d[x] = np.flip(d[y], axis)


@adjoint(np.fliplr, infer=infer_same, alias="view", cheap=True, linear="x")
def _(y, x):
    """The order was reversed: that of the adjoint is reversed back."""
    d[x] = np.fliplr(d[y])


@adjoint(np.flipud, infer=infer_same, alias="view", cheap=True, linear="x")
def _(y, x):
    """The order was reversed: that of the adjoint is reversed back."""
    d[x] = np.flipud(d[y])


@adjoint(np.roll, infer=infer_same, linear="x")
def _(y, x, shift, axis=None):
    """The elements were shifted round: the adjoint is shifted back."""
    d[x] = unroll(d[y], shift, axis)


@adjoint(np.rot90, infer=infer_rot90, alias="view", cheap=True, linear="x")
def _(y, x, k=1, axes=(0, 1)):
    """The matrix was turned: the adjoint is turned back."""
    d[x] = np.rot90(d[y], -k, axes)


# -- join ---------------------------------------------------------------------------


@adjoint(
    np.concatenate,
    np.concat,
    signature="arrays, axis=0, *, dtype=None, casting='same_kind'",
    infer=infer_concatenate,
    linear="arrays",
)
def _(y, arrays, axis=0, *, dtype=None, casting="same_kind"):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = undo_dtypes(unconcatenate(d[y], arrays, axis), dtype, arrays)


@adjoint(
    np.stack,
    signature="arrays, axis=0, *, dtype=None, casting='same_kind'",
    infer=infer_stack,
    linear="arrays",
)
def _(y, arrays, axis=0, *, dtype=None, casting="same_kind"):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = undo_dtypes(unstack(d[y], arrays, axis), dtype, arrays)


@adjoint(
    np.vstack,
    signature="arrays, *, dtype=None, casting='same_kind'",
    infer=infer_lifted(rows, lambda _: 0),
    linear="arrays",
)
def _(y, arrays, *, dtype=None, casting="same_kind"):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = undo_dtypes(unvstack(d[y], arrays), dtype, arrays)


@adjoint(
    np.hstack,
    signature="arrays, *, dtype=None, casting='same_kind'",
    infer=infer_lifted(lambda s: s or (1,), lambda shapes: int(len(shapes[0]) > 1)),
    linear="arrays",
)
def _(y, arrays, *, dtype=None, casting="same_kind"):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = undo_dtypes(unhstack(d[y], arrays), dtype, arrays)


@adjoint(np.dstack, infer=infer_lifted(layers, lambda _: 2), linear="arrays")
def _(y, arrays):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = undstack(d[y], arrays)


@adjoint(np.column_stack, infer=infer_lifted(columns, lambda _: 1), linear="arrays")
def _(y, arrays):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = uncolumn_stack(d[y], arrays)


@adjoint(np.block, infer=infer_block, linear="arrays")
def _(y, arrays):
    """Joined arrays take their own pieces of the adjoint."""
    d[arrays] = unblock(d[y], arrays)


@adjoint(np.append, infer=infer_append, linear=[("x", "values")])
def _(y, x, values, axis=None):
    """Joined arrays take their own pieces of the adjoint."""
    d[x] = unappend_left(d[y], x, axis)
    d[values] = unappend_right(d[y], x, values, axis)


# -- split --------------------------------------------------------------------------


@adjoint(np.split, infer=infer_split(), alias="view", linear="x")
def _(y, x, indices_or_sections, axis=0):
    """The pieces of the adjoint are joined again."""
    d[x] = np.concatenate(d[y], axis=axis)


@adjoint(np.array_split, infer=infer_split(exact=False), alias="view", linear="x")
def _(y, x, indices_or_sections, axis=0):
    """The pieces of the adjoint are joined again."""
    d[x] = np.concatenate(d[y], axis=axis)


@adjoint(np.hsplit, infer=infer_split(along=1), alias="view", linear="x")
def _(y, x, indices_or_sections):
    """The pieces of the adjoint are joined again."""
    d[x] = np.hstack(d[y])


@adjoint(np.vsplit, infer=infer_split(along=0), alias="view", linear="x")
def _(y, x, indices_or_sections):
    """The pieces of the adjoint are joined again."""
    d[x] = np.concatenate(d[y])


@adjoint(np.dsplit, infer=infer_split(along=2), alias="view", linear="x")
def _(y, x, indices_or_sections):
    """The pieces of the adjoint are joined again."""
    d[x] = np.concatenate(d[y], axis=2)


if hasattr(np, "unstack"):  # NumPy 2.1

    @adjoint(
        np.unstack,
        signature="x, *, axis=0",
        infer=infer_unstack,
        alias="view",
        linear="x",
    )
    def unstack_rule(y, x, *, axis=0):
        d[x] = np.stack(d[y], axis)


# -- repetition and borders ---------------------------------------------------------


@adjoint(np.tile, infer=infer_tile, linear="x")
def _(y, x, reps):
    """What was repeated gets the sum of the adjoints of its copies."""
    d[x] = untile(d[y], x, reps)


@adjoint(np.repeat, methods=["repeat"], infer=infer_repeat, linear="x")
def _(y, x, repeats, axis=None):
    """What was repeated gets the sum of the adjoints of its copies."""
    d[x] = unrepeat(d[y], x, repeats, axis)


@adjoint(
    np.pad,
    signature="x, pad_width, mode='constant', constant_values=0, reflect_type='even'",
    infer=infer_pad,
)
def _(y, x, pad_width, mode="constant", constant_values=0, reflect_type="even"):
    """The border is cut off; what was copied there adds to where it came from."""
    d[x] = unpad(d[y], x, pad_width, mode, reflect_type)
    d[constant_values] = unpad_border(d[y], x, pad_width, mode, constant_values)


@tangent(np.pad)
def _(y, x, pad_width, mode="constant", constant_values=0, reflect_type="even"):
    d[y] = pad_tangent(d[x], pad_width, mode, d[constant_values], reflect_type)


# -- several results ----------------------------------------------------------------


@adjoint(
    np.broadcast_arrays,
    signature="*arrays, subok=False",
    infer=infer_broadcast_arrays,
    alias="read-only",
    linear="arrays",
)
def _(y, *arrays, subok=False):
    """Broadcast forward, sum backward."""
    d[arrays] = unbroadcast_each(d[y], arrays)


@adjoint(
    np.meshgrid,
    signature="*arrays, copy=True, sparse=False, indexing='xy'",
    infer=infer_meshgrid,
    linear="arrays",
)
def _(y, *arrays, copy=True, sparse=False, indexing="xy"):
    """Broadcast forward, sum backward."""
    d[arrays] = unmeshgrid(d[y], arrays, indexing)
