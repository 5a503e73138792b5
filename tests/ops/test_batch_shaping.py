"""Batch rules of shaping, selection and constructors, against loops over examples."""

from __future__ import annotations

import pytest

import srcjax

from .batches import INTEGERS, agree, batch_of, check, function_of, has_no_rule, looped

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 10

RESHAPES = [
    "np.reshape(a, 6)", "np.reshape(a, (3, 2))", "np.reshape(a, (-1, 2))",
    "a.reshape(6)", "a.reshape(3, 2)", "a.reshape(-1)", "a.reshape((3, -1))",
    "a.reshape(a.shape[1], -1)", "c.reshape(a.shape)", "s.reshape(1)",
    "np.reshape(x, (len(x), -1))", "x.reshape(x.shape[0] * x.shape[1], x.shape[2])",
    "np.ravel(a)", "a.ravel()", "v.ravel()", "np.ravel(s)", "a.flatten()",
    "v.flatten()", "np.ravel(v, order='K')",
    "np.expand_dims(v, 0)", "np.expand_dims(v, 1)", "np.expand_dims(v, -1)",
    "np.expand_dims(a, (0, -1))", "np.expand_dims(s, 0)", "np.expand_dims(s, -1)",
    "np.squeeze(o)", "np.squeeze(o, 0)", "np.squeeze(o, axis=-1)", "o.squeeze((0, 2))",
    "v.squeeze()", "o.squeeze(axis=0)",
    "np.atleast_1d(s)", "np.atleast_1d(v)", "np.atleast_2d(s)", "np.atleast_2d(v)",
    "np.atleast_2d(a)", "np.atleast_3d(s)", "np.atleast_3d(v)", "np.atleast_3d(a)",
    "np.atleast_3d(x)",
    "np.broadcast_to(v, (2, 3))", "np.broadcast_to(s, (2, 3))", "np.broadcast_to(s, 4)",
    "np.broadcast_to(v, a.shape)", "np.broadcast_to(a, (4, 2, 3))",
]  # fmt: skip

AXES = [
    "np.transpose(a)", "a.T", "v.T", "x.T", "np.transpose(x, (1, 0, 2))",
    "np.transpose(x, (-1, 0, 1))", "x.transpose(2, 0, 1)", "x.transpose((0, 2, 1))",
    "a.transpose()", "a.mT", "x.mT", "np.matrix_transpose(x)", "np.swapaxes(x, 0, 2)",
    "x.swapaxes(-1, 0)", "np.moveaxis(x, 0, -1)", "np.moveaxis(x, (0, 1), (2, 0))",
    "np.moveaxis(x, [2, 1], [0, -1])", "np.rollaxis(x, 2)", "np.rollaxis(x, 0, 2)",
]  # fmt: skip

ORDER = [
    "np.flip(a)", "np.flip(a, 0)", "np.flip(a, axis=-1)", "np.flip(x, (0, 2))",
    "np.flip(v)", "np.flipud(a)", "np.flipud(v)", "np.fliplr(a)",
    "np.roll(v, 1)", "np.roll(a, 1)", "np.roll(a, 1, axis=0)",
    "np.roll(a, -2, axis=-1)",
    "np.roll(x, (1, 2), axis=(0, 1))", "np.roll(a * 2, 1)",
    "np.rot90(a)", "np.rot90(a, 2)", "np.rot90(x, 1, (1, 2))",
    "np.rot90(x, axes=(0, -1))",
]  # fmt: skip

JOINS = [
    "np.concatenate([u, v])", "np.concatenate((a, b), axis=1)",
    "np.concatenate([a, b], -1)", "np.concatenate([a, v], axis=None)",
    "np.concatenate([u, np.array([1.0, 2.0])])", "np.concatenate([u, [1.0]])",
    "np.concatenate([a, np.zeros((1, 3))])", "np.concatenate([a[:1], b * 2, a])",
    "np.concatenate([u, v], dtype=np.float32)",
    "np.stack([u, v])", "np.stack([u, v], axis=1)", "np.stack((a, b), axis=-1)",
    "np.stack([s, t])", "np.stack([s, 1.0])", "np.stack([v, np.arange(3)], 1)",
    "np.vstack([u, v])", "np.vstack([a, v])", "np.vstack([a, b])", "np.vstack([s, t])",
    "np.vstack([v, [1.0, 2.0, 3.0]])",
    "np.hstack([u, v])", "np.hstack([a, b])", "np.hstack([s, t])", "np.hstack([s, v])",
    "np.hstack([v, 0.0])", "np.dstack([u, v])", "np.dstack([a, b])",
    "np.dstack([x, x])",
    "np.dstack([s, t])", "np.dstack([x, x[:, :, 0]])",
    "np.column_stack([u, v])", "np.column_stack([c, v])", "np.column_stack([m, m])",
    "np.column_stack([s, t])",
    "np.block([u, v])", "np.block([[a, b], [b, a]])", "np.block([[a], [v]])",
    "np.block([[m, c], [a, np.eye(2)]])", "np.block([s, v])", "np.block([[x], [x]])",
    "np.append(u, v)", "np.append(a, v)", "np.append(a, b, axis=0)",
    "np.append(a, b, axis=-1)", "np.append(v, s)", "np.append(v, [1.0, 2.0])",
    "np.append(s, t)",
]  # fmt: skip

SPLITS = [
    "np.split(w, 2)", "np.split(x, 2, axis=2)", "np.split(a, [1], axis=-1)",
    "np.split(w, [1, 3])", "np.array_split(w, 3)", "np.array_split(x, 2, 1)",
    "np.hsplit(w, 2)", "np.hsplit(x, 3)", "np.vsplit(a, 2)", "np.dsplit(x, [1])",
    "np.split(w, 2)[0] * np.split(w, 2)[1]", "np.unstack(a)", "np.unstack(a, axis=1)",
]  # fmt: skip

COPIES = [
    "np.tile(v, 2)", "np.tile(v, (2, 1))", "np.tile(a, 2)", "np.tile(a, (2, 1))",
    "np.tile(s, 3)", "np.tile(s, (2, 2))", "np.tile(a, (2, 1, 1))",
    "np.tile(x, (2, 1))",
    "np.repeat(v, 2)", "np.repeat(a, 2)", "np.repeat(a, 2, axis=0)", "a.repeat(2, -1)",
    "np.repeat(v, [1, 0, 2])", "np.repeat(s, 3)", "np.repeat(a, [2, 1], axis=0)",
    "v.repeat(3)",
    "np.pad(v, 1)", "np.pad(v, (1, 2))", "np.pad(a, 1)", "np.pad(a, (1, 2))",
    "np.pad(a, ((1, 0), (0, 2)))", "np.pad(a, [(1, 0), (0, 2)], mode='edge')",
    "np.pad(v, 2, mode='reflect')", "np.pad(a, 1, 'wrap')", "np.pad(v, 1, 'symmetric')",
    "np.pad(v, 1, constant_values=2.0)", "np.pad(v, 1, constant_values=(1.0, 2.0))",
    "np.pad(a, 1, constant_values=((1.0, 2.0), (3.0, 4.0)))",
    "np.pad(a, {0: 1})", "np.pad(a, {-1: (1, 2)})", "np.pad(v, (len(v), 1))",
    "np.pad(v, len(v))", "np.pad(a, ((len(a), 0), (0, len(a))))",
]  # fmt: skip

GRIDS = [
    "np.broadcast_arrays(a, v)", "np.broadcast_arrays(s, v)",
    "np.broadcast_arrays(u, v)",
    "np.meshgrid(v, w)", "np.meshgrid(v, w, indexing='ij')", "np.meshgrid(v)",
    "np.meshgrid(u, v, w)", "np.meshgrid(u, w, v, indexing='ij')",
]  # fmt: skip

TAKES = [
    "np.take(v, [0, 2])", "np.take(a, [0, 5])", "np.take(a, [1, 0], axis=0)",
    "np.take(a, 1, axis=1)", "np.take(a, j)", "np.take(a, j, axis=1)", "np.take(v, i)",
    "np.take(a, i, axis=0)", "np.take(a, i, axis=-1)", "np.take(v, k)",
    "np.take(x, k, axis=1)", "np.take(x, j, axis=2)", "np.take(x, i, axis=1)",
    "v.take([0, 1])", "np.take(v, [0, 4], mode='wrap')",
    "np.take_along_axis(a, k, axis=0)", "np.take_along_axis(a, k, 1)",
    "np.take_along_axis(v, j, axis=0)", "np.take_along_axis(v, j, axis=None)",
    "np.take_along_axis(a, j, axis=None)", "np.take_along_axis(a, k, axis=-1)",
]  # fmt: skip

CHOICES = [
    "np.compress([True, False, True], a, axis=1)", "np.compress([True, False], a, 0)",
    "np.compress([False, True], v)", "np.compress([False, True], a)",
    "np.extract([True, False, True], v)",
    "np.extract(np.eye(2, 3) > 0, a)",
    "np.where(v > 0, v, 0.0)", "np.where(v > u, v, u)", "np.where(s > 0, a, v)",
    "np.where(a > 0, s, v)", "np.where(np.arange(3) > 1, v, s)",
    "np.clip(v, -0.5, 0.5)", "np.clip(v, None, 0.5)", "np.clip(a, u, None)",
    "v.clip(0.0)", "v.clip(min=s)", "np.clip(v, s, s + 1)",
    "np.select([v > 0, v > -1], [v, u], 3.0)", "np.select([s > 0, t > 0], [v, u])",
    "np.select([v > 0], [s], t)",
    "np.delete(v, 1)", "np.delete(a, 0, axis=1)", "np.delete(a, [0, 3])",
    "np.delete(a, [0], axis=-1)", "np.insert(v, 1, 5.0)", "np.insert(v, 1, s)",
    "np.insert(v, [0, 2], j * 1.0)", "np.insert(a, 1, 2.0, axis=1)",
]  # fmt: skip

DIAGONALS = [
    "np.diag(v)", "np.diag(v, 1)", "np.diag(v, k=-2)", "np.diag(a)", "np.diag(a, 1)",
    "np.diag(m, k=-1)", "np.diagflat(v)", "np.diagflat(a, 1)", "np.diagflat(s)",
    "np.diagonal(a)", "np.diagonal(x, 1, 1, 2)", "np.diagonal(x, axis1=0, axis2=2)",
    "m.diagonal()", "x.diagonal(0, -1, 0)", "np.diag(np.array([1.0, np.inf]) * s)",
    "np.tril(a)", "np.triu(m, 1)", "np.tril(x, -1)", "np.triu(m, k=1)",
]  # fmt: skip

NEIGHBOURS = [
    "np.diff(v)", "np.diff(a)", "np.diff(a, axis=0)", "np.diff(v, 2)",
    "np.diff(x, axis=1)",
    "np.diff(v, prepend=0.0)", "np.diff(v, append=u)", "np.diff(v, prepend=s)",
    "np.diff(a, prepend=1.0, append=b)", "np.diff(v, prepend=[1.0])",
    "np.ediff1d(v)", "np.ediff1d(a)", "np.ediff1d(v, to_end=s)",
    "np.ediff1d(v, to_begin=[1.0, 2.0], to_end=u)",
    "np.gradient(v)", "np.gradient(a, axis=1)", "np.gradient(v, 0.5)", "np.gradient(a)",
    "np.gradient(x, axis=(0, 2))", "np.gradient(v, edge_order=2)",
    "np.gradient(v, np.array([0.0, 1.0, 3.0]))", "np.gradient(a, axis=-1)",
    "np.trapezoid(v)", "np.trapezoid(v, u)", "np.trapezoid(v, dx=s)", "np.trapezoid(a)",
    "np.trapezoid(a, v)", "np.trapezoid(a, b)", "np.trapezoid(a, axis=0)",
    "np.trapezoid(a, dx=s, axis=0)", "np.trapezoid(a, b, axis=0)",
    "np.trapezoid(v, dx=0.5)",
]  # fmt: skip

TABLES = [
    "np.interp(v, [0.0, 1.0], [2.0, 3.0])", "np.interp(s, [0.0, 1.0], [2.0, 3.0])",
    "np.searchsorted([0.0, 0.5, 1.0], a)", "np.digitize(v, [0.0, 0.5], right=True)",
    "np.isin(k, [1, 2])", "np.polyval([1.0, 2.0, 3.0], v)", "np.polyval(u, s)",
    "np.polyval(u, v)", "np.polyval(u, a)", "np.polyval([s, t, 1.0], v)",
    "np.vander(v)", "np.vander(v, 2)", "np.vander(v, 4, increasing=True)",
]  # fmt: skip

MAKERS = [
    "np.zeros_like(a) + a", "np.zeros_like(a)", "np.ones_like(v)", "np.zeros_like(s)",
    "0 * np.empty_like(k) + k", "np.ones_like(a, dtype=np.float32)",
    "np.zeros_like(v, shape=(2, 2))", "np.ones_like(k)",
    "np.full(3, s)", "np.full((2, 3), s)", "np.full((2, 3), v)", "np.full(v.shape, s)",
    "np.full((), s)", "np.full(2, s, dtype=np.float32)", "np.full_like(v, s)",
    "np.full_like(a, 2.0)", "np.full_like(a, v)", "np.full_like(k, 2)",
    "np.full_like(v, s, dtype=np.float32)", "np.full_like(s, t)",
    "np.linspace(s, 1.0, 4)", "np.linspace(s, t, 3)", "np.linspace(0.0, v, 3)",
    "np.linspace(u, v, 4, axis=1)", "np.linspace(u, v, 4, endpoint=False, axis=-1)",
    "np.linspace(s, v, 4)",
    "np.copy(a)", "a.copy()", "np.array(a)", "np.asarray(v)", "np.ascontiguousarray(a)",
    "np.require(a, np.float64)", "np.require(a.T, requirements=['C'])",
    "np.ascontiguousarray(s)", "a.astype(np.float32)", "k.astype(float)",
    "np.astype(a, np.float32)", "np.float32(v)", "np.float64(s)", "np.bool_(v)",
    "np.array([s, t])", "np.array([s, 1.0, 2])", "np.array([v, u])",
    "np.array([[s, t], [1.0, s]])", "np.array([[0.0, 1.0], [s, t]])",
    "np.array((s, t))",
    "np.array([s, t], dtype=np.float32)", "np.array([s, 2], float)",
    "np.asarray([s, i])",
    "np.array([[s, 0.0], [0.0, s]]) @ np.array([1.0, 2.0])", "np.array([v, [1, 2, 3]])",
    "np.array([v * s, v], dtype=np.float32)",
]  # fmt: skip

EVERYTHING = [
    *RESHAPES, *AXES, *ORDER, *JOINS, *SPLITS, *COPIES, *GRIDS, *TAKES, *CHOICES,
    *DIAGONALS, *NEIGHBOURS, *TABLES, *MAKERS,
]  # fmt: skip


@pytest.mark.parametrize("text", EVERYTHING)
def test_as_a_loop_does(text):
    check(text)


@pytest.mark.parametrize(
    ("text", "mapped"),
    [
        ("np.reshape(a, (3, 2), order='F')", "a"),
        ("a.ravel('F')", "a"),
        ("np.interp(s, [0.0, 1.0, 2.0], v)", "v"),
    ],
)
def test_without_a_rule_it_is_a_visible_loop(text, mapped):
    has_no_rule(text, mapped)


GRADIENTS = [
    "np.sum(a.reshape(3, 2) @ a)", "np.sum(np.ravel(a)[1:] ** 2)",
    "np.sum(a.T @ a * m)", "np.sum(np.moveaxis(x, 0, -1)[0] ** 2)",
    "np.sum(np.concatenate([u, v ** 2]) ** 2)", "np.sum(np.vstack([a, v]) ** 2)",
    "np.hstack([s, v]).prod()", "np.sum(np.dstack([u, v]) ** 2)",
    "np.sum(np.dstack([x, x[:, :, 0]]) ** 2)", "np.sum(np.column_stack([c, v]) ** 2)",
    "np.sum(np.block([[m, c], [a, np.eye(2)]]) ** 2)", "np.sum(np.append(v, s) ** 2)",
    "np.sum(np.split(w, 2)[0] * np.split(w, 2)[1])", "np.sum(np.tile(v, (2, 1)) * a)",
    "np.sum(np.tile(a, 2) ** 2)", "np.sum(np.repeat(v, [1, 0, 2]) ** 2)",
    "np.sum(np.repeat(a, 2) ** 2)", "np.sum(np.pad(a, 1, mode='edge') ** 2)",
    "np.sum(np.roll(v, 1) * v)", "np.sum(np.flip(a, 0) * a)",
    "np.sum(np.broadcast_to(v, (2, 3)) * a)", "np.sum(np.meshgrid(v, w)[0] ** 2)",
    "np.sum(np.where(v > 0, v ** 2, -v))", "np.sum(np.clip(v, -0.5, s))",
    "np.sum(np.take(v, [0, 2, 2]) ** 2)", "np.sum(np.take(a, j, axis=1) ** 2)",
    "np.sum(np.take(v, k) ** 2)", "np.sum(np.take(a, [0, 4, 4]) ** 2)",
    "np.sum(np.take_along_axis(a, k, axis=0) ** 2)", "np.sum(v[[0, 2, 2]] ** 2)",
    "np.sum(np.compress([True, False, True], v) ** 2)", "np.sum(np.delete(v, 1) ** 2)",
    "np.sum(np.insert(v, 1, s) ** 2)", "np.sum(np.select([v > 0], [v * u], u))",
    "np.sum(np.select([v > 0], [v * u], s))", "np.sum(np.sort(v) * u)",
    "np.sum(np.diag(v) @ m)", "np.sum(np.diag(m, 1) ** 2)", "np.sum(np.tril(m) ** 2)",
    "np.sum(np.diff(v, 2) ** 2)", "np.sum(np.diff(a, axis=0) ** 2)",
    "np.trapezoid(v ** 2, u)", "np.sum(np.trapezoid(a ** 2, v))",
    "np.sum(np.gradient(v) ** 2)", "np.sum(np.gradient(a)[0] ** 2)",
    "np.sum(np.interp(v, [0.0, 1.0], [2.0, 3.0]) ** 2)",
    "np.sum(np.polyval([1.0, 2.0, 3.0], v))", "np.sum(np.array([s, t, s * t]) ** 2)",
    "np.sum(np.array([[s, t], [0.0, s]]) @ np.array([t, 1.0]))",
    "np.sum(np.full((2, 3), s) * a)", "np.sum(np.linspace(s, t, 4) ** 2)",
]  # fmt: skip


@pytest.mark.parametrize("text", GRADIENTS)
def test_vmap_of_a_gradient_is_a_loop_of_gradients(text):
    f = function_of(text)
    names = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    numbers = tuple(k for k, n in enumerate(names) if n not in INTEGERS)
    g = srcjax.grad(f, argnums=numbers)
    for mapped in {tuple(names), tuple(names[:1]), tuple(names[-1:])}:
        in_axes = tuple(0 if n in mapped else None for n in names)
        args = batch_of(names, in_axes, 4)
        agree(srcjax.vmap(g, in_axes=in_axes)(*args), looped(g, args, in_axes, 4))
