"""Array functions, methods and attributes, as they stand in numerical code."""

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from .registry import normal, positive, program


@program(normal(3, 4))
def methods_of_arrays(x):
    y = x.T.reshape(2, 6).sum(axis=0)
    z = x.ravel()[:6].copy()
    return y.dot(z) + x.mean() * x.size + len(x) * x.max()


@program(normal(3, 4))
def attributes_of_arrays(x):
    rows, columns = x.shape
    y = x.T @ x / rows
    return y.sum() / (columns * x.ndim) + x.nbytes * 0.0


@program(normal(3, 4))
def reductions_with_axes(x):
    a = x.sum(axis=0)
    b = x.mean(axis=1, keepdims=True)
    c = np.sum(x, axis=(0, 1))
    d = np.mean(x**2, axis=-1)
    return np.sum(a**2) + np.sum((x - b) ** 2) * c + d @ d


@program(positive(2, 3))
def products(x):
    return np.prod(x) + np.prod(x, axis=1) @ x.prod(axis=0)[:2]


@program(np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]))
def product_with_zeros(x):
    return np.prod(x + 0.0, axis=1).sum() + x.sum()


@program(normal(3, 4))
def largest_and_smallest(x):
    return np.max(x) * x.min(axis=0).sum() + np.amax(x, axis=1) @ np.ptp(x, axis=1)


@program(normal(3, 4))
def picked_by_argmax(x):
    best = np.argmax(x, axis=1)
    return x[np.arange(3), best] @ x[:, 0] + x.ravel()[x.argmin()]


@program(normal(3, 4))
def spread(x):
    return (
        np.var(x) + x.std() * np.std(x, axis=0, ddof=1).sum() + x.var(axis=1) @ x[:, 0]
    )


@program(normal(5))
def standard_score(x):
    return (x - x.mean()) / x.std()


@program(normal(4))
def cumulated(x):
    return np.cumsum(x) @ np.cumprod(x) + x.cumsum()[-2]


@program(normal(3, 4))
def cumulated_along_axis(x):
    return np.cumsum(x, axis=1) * np.cumsum(x**2, axis=0)


@program(normal(3), normal(4, seed=1))
def broadcast_column_and_row(x, y):
    return np.sum(np.tanh(x[:, None] * y[None, :]))


@program(normal(3, 1), normal(1, 4, seed=1), 0.7, normal(4, seed=2))
def broadcast_of_size_one(x, y, scale, shift):
    return np.sum((x + y) ** 2 * scale - shift * x)


@program(normal(4), normal(2, 3, 4, seed=1))
def broadcast_of_lower_rank(weights, x):
    return np.sum(weights * x, axis=-1) - weights[0] / (x[..., 1] + 5)


@program(0.7, normal(3))
def scalar_with_array(scale, x):
    return scale * x - x / scale + scale**x - scale


@program(normal(2, 3), normal(3, seed=1))
def affine(x, bias):
    return (x + bias) * 2 - bias


@program(normal(3, 4), normal(4, 2, seed=1), normal(2, seed=2))
def matrix_products(a, b, c):
    return a @ b @ c + np.dot(a, b).sum(axis=1) + np.matmul(a, b)[:, 0]


@program(normal(4), normal(4, seed=1))
def products_of_vectors(x, y):
    outer = np.outer(x, y)
    return np.inner(x, y) * np.vdot(x, y) + np.trace(outer) + x @ outer @ y


@program(normal(2, 3, 4), normal(2, 4, 2, seed=1))
def batched_matmul(a, b):
    return a @ b


@program(normal(2, 3, 4), normal(4, 3, seed=1))
def tensordots(a, b):
    c = np.tensordot(a, b, axes=([2, 1], [0, 1]))
    d = np.tensordot(a, b, axes=1)
    return c.sum() + np.sum(d**2)


@program(normal(3, 4), normal(4, 5, seed=1), normal(5, seed=2))
def einsums(a, b, c):
    first = np.einsum("ij,jk,k->i", a, b, c)
    second = np.einsum("ij,ij->j", a, a)
    return np.einsum("i,i", first, first) + np.einsum("j->", second)


@program(normal(2, 3, 3))
def einsum_of_diagonals(a):
    return np.einsum("bii->bi", a) * np.einsum("bij,bjk->bi", a, a)


@program(normal(2, 2), normal(2, 3, seed=1))
def kronecker(a, b):
    return np.kron(a, b)


@program(normal(2, 3, 4))
def shapes_changed(x):
    a = x.transpose(2, 0, 1).reshape(4, -1)
    b = np.swapaxes(x, 0, 2)
    c = np.moveaxis(x, -1, 0)
    d = np.expand_dims(x[0], 1).squeeze()
    return a.sum(axis=1) @ b[:, 0, 0] + np.sum(c * b.transpose(0, 2, 1)) + d[0] @ d[1]


@program(normal(2, 3))
def broadcast_and_squeezed(x):
    y = np.broadcast_to(x[:, None, :], (2, 4, 3))
    return y.sum(axis=1) * np.squeeze(x[None])


@program(normal(6))
def flips_and_rolls(x):
    grid = x.reshape(2, 3)
    return x[::-1] @ np.roll(x, 2) + np.sum(np.flip(grid, 1) * np.rot90(grid, 2))


@program(normal(2, 3), normal(2, 3, seed=1), normal(3, seed=2))
def joined(x, y, z):
    rows = np.concatenate([x, y, z[None]])
    columns = np.concatenate((x, y), axis=1)
    stacked = np.stack([x, y], axis=-1)
    return rows.sum(axis=1) @ rows[:, 0] + columns[0] @ columns[1] + stacked.prod()


@program(normal(3), normal(3, seed=1), 0.4)
def stacks_of_numbers(x, y, z):
    a = np.vstack([x, y])
    b = np.hstack([x, y, z])
    c = np.column_stack([x, y])
    d = np.array([z, x[0], y[1] * z])
    return a @ c @ a[:, 0] @ a[:, 1] + b @ b + d @ d


@program(normal(2), 0.4)
def array_from_nested_lists(x, angle):
    rotation = np.array(
        [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    )
    return rotation @ x


@program(normal(6, 2))
def splits(x):
    first, second, third = np.split(x, 3)
    left, right = np.hsplit(x, 2)
    parts = np.array_split(x[:, 0], 4)
    return np.sum(first * second - third) + left.T @ right + parts[0] @ parts[1]


@program(normal(2, 3))
def tiles_and_repeats(x):
    a = np.tile(x, (2, 2))
    b = np.repeat(x, 2, axis=1)
    c = np.repeat(x, [1, 3], axis=0)
    return np.sum(a**3) + np.sum(b * b[:, ::-1]) + c[1:] @ x[0]


@program(normal(2, 3))
def padded(x):
    zeros = np.pad(x, 1)
    sides = np.pad(x, ((0, 1), (2, 0)), constant_values=2.0)
    edges = np.pad(x, 1, mode="edge")
    return np.sum(zeros[1:] * zeros[:-1]) + np.sum(sides**2) + np.sum(edges**3)


@program(normal(3, 4), normal(3, 4, seed=1))
def selected(x, y):
    a = np.where(x > y, x * y, x - y)
    b = np.where(x > 0, x, 0.1 * x)
    return a * b


@program(np.array([-1.0, 0.5, 2.0]))
def where_with_a_bad_side(x):
    """The side not taken is not finite unless its argument is made safe first."""
    safe = np.where(x > 0, x, 1.0)
    return np.where(x > 0, np.log(safe), 0.0).sum()


@program(normal(6))
def clipped(x):
    y = np.clip(x, -0.5, 0.5)
    z = x.clip(0.0, None)
    return y @ x + z @ z


@program(normal(6), normal(6, seed=1))
def maxima(x, y):
    return np.maximum(x, y) * np.minimum(x, 0.3) + np.fmax(y, 0.0)


@program(normal(6))
def sorted_values(x):
    y = np.sort(x)
    order = np.argsort(-x)
    return y @ np.arange(6.0) + x[order][0] * x[order[1]]


@program(normal(3, 4))
def sorted_along_axis(x):
    weights = np.arange(12.0).reshape(3, 4)
    return np.sort(x, axis=0) * weights + np.sort(x) * x


@program(normal(5))
def taken(x):
    return x.take([0, 0, 3]) @ np.take(x, np.array([1, 2, 4])) + x[[1, 1]] @ x[-2:]


@program(normal(3, 4))
def taken_along_axis(x):
    order = np.argsort(x, axis=1)
    ordered = np.take_along_axis(x, order, axis=1)
    rows = np.take(x, [2, 0], axis=0)
    return ordered[:, 1:].sum() * rows.prod()


@program(normal(3, 3))
def triangles_and_diagonals(x):
    lower = np.tril(x)
    upper = np.triu(x, 1)
    diagonal = np.diag(x)
    return lower @ diagonal + np.diag(upper, 1)[0] + np.diag(diagonal**2).sum(axis=0)


@program(normal(6))
def differences(x):
    return np.diff(x) @ np.diff(x, n=2)[[0, 1, 2, 3, 0]] + np.ediff1d(x)[0]


@program(normal(3, 4))
def differences_along_axis(x):
    return np.diff(x, axis=0)


@program(normal(4, 3))
def differences_by_slices(x):
    return np.sum((x[1:] - x[:-1]) ** 2) + np.sum(np.abs(x[:, 1:] - x[:, :-1]))


@program(normal(4, 3))
def index_arrays(x):
    rows = np.array([0, 2, 2])
    columns = np.array([1, 0, 2])
    return (
        x[rows] @ x[rows, columns]
        + x[:, columns].sum() * x[rows[:, None], columns].sum()
    )


@program(normal(4, 3))
def masks(x):
    return np.sum(x[x > 0] ** 2) * np.mean(x[x[:, 0] < 0.5])


@program(normal(2, 3, 4))
def mixed_subscripts(x):
    return x[1, :, ::2].sum() * x[..., -1].sum() + np.sum(x[:, [0, 2], 1:] ** 2)


@program(positive(4))
def elementary_functions(x):
    y = np.exp(-x) + np.log(x) * np.sqrt(x) - np.square(x) + np.cbrt(x)
    return (
        y + np.expm1(x) * np.log1p(x) / np.reciprocal(x) + np.exp2(x) - np.negative(x)
    )


@program(normal(4) / 4)
def trigonometric_functions(x):
    y = np.sin(x) * np.cos(x) - np.tan(x) + np.arcsin(x)
    return y + np.sinh(x) * np.cosh(x) + np.arctan(x) + np.arctanh(x) + np.sinc(x + 0.1)


@program(positive(4), positive(4, seed=1))
def functions_of_two_arrays(x, y):
    z = np.power(x, y) + np.arctan2(x, y) + np.hypot(x, y) + np.logaddexp(x, y)
    return z * np.divide(x, y) - np.subtract(x, y) * np.add(x, 1) + np.float_power(x, 2)


@program(normal(4))
def signs_and_rounding(x):
    steps = np.floor(x) + np.sign(x) + np.round(x, 1) + np.heaviside(x, 0.5)
    return np.abs(x) * steps + np.fabs(x) * np.ceil(x) + np.trunc(x)


@program(normal(3, 4))
def norms(x):
    flat = x.ravel()
    return np.linalg.norm(x) + np.linalg.norm(flat, 1) * np.linalg.norm(x, axis=0).sum()


@program(normal(3, 4))
def log_sum_exp(x):
    largest = x.max(axis=1, keepdims=True)
    by_hand = np.log(np.exp(x - largest).sum(axis=1)) + largest[:, 0]
    return by_hand @ logsumexp(x, axis=1)


@program(normal(3, 4))
def softmaxes(x):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    by_hand = shifted / shifted.sum(axis=1, keepdims=True)
    return by_hand * softmax(x, axis=0)


@program(positive(4) / positive(4).sum(), positive(4, seed=1))
def relative_entropy(p, q):
    q = q / q.sum()
    return np.sum(xlogy(p, p) - p * np.log(q))


@program(normal(5))
def weighted_average(x):
    weights = np.exp(x)
    return (
        np.average(x, weights=np.arange(1.0, 6.0)) + np.sum(weights * x) / weights.sum()
    )


@program(normal(4), normal(3, 4, seed=1))
def vector_and_matrix_products(x, matrix):
    return matrix @ x, x @ matrix.T, matrix.dot(x), np.sum(matrix * matrix, axis=1)


@program(normal(5))
def constructors(x):
    grid = np.linspace(0.0, 1.0, 5)
    a = np.zeros_like(x) + np.ones(5) * x - np.full(5, 0.5)
    b = np.eye(5) @ x + np.arange(5) * x + np.full_like(x, 2.0)
    return a @ b + grid @ x + np.identity(5)[0] @ x


@program(normal(4))
def converted(x):
    y = np.asarray(x, dtype=np.float64).astype(float)
    z = np.atleast_2d(y) @ np.array(x.tolist())
    return float(z[0]) * np.float64(2.0) + y.item(2) if x is None else z[0] * 2 + y[2]


@program(normal(4))
def from_array_to_numbers(x):
    """The loop is over Python numbers, as in code that leaves NumPy."""
    total = 0.0
    for i in range(x.shape[0]):
        total += float(x[i]) ** 2 * x[i].item()
    return total


@program(normal(3))
def polynomial(x):
    return np.polyval([1.0, -2.0, 3.0], x) + np.polyval(x, 0.5)


@program(normal(5))
def convolution_by_einsum(x):
    windows = np.stack([x[i : i + 3] for i in range(3)])
    return np.einsum("ij,j->i", windows, np.array([0.25, 0.5, 0.25]))


@program(normal(2, 3, 4))
def keepdims_chain(x):
    centred = x - x.mean(axis=(0, 2), keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=(0, 2), keepdims=True) + 1e-5)
    return centred / scale


@program(normal(4, 2), normal(3, 2, seed=1))
def pairwise_distances(x, y):
    differences = x[:, None, :] - y[None, :, :]
    return np.sqrt((differences**2).sum(axis=-1))


@program(normal(3, 3))
def symmetric_part(x):
    s = (x + x.T) / 2
    return np.sum(s**2) - np.trace(x) ** 2 / 3


@program(normal(4))
def ufunc_methods(x):
    table = np.multiply.outer(x, x)
    return np.add.reduce(table, axis=0) @ np.add.accumulate(x) + np.multiply.reduce(x)


@program(normal(4), 0.3)
def numpy_scalars(x, rate):
    first = x[0]
    total = np.float64(0.0)
    for value in x:
        total = total + value.clip(-1, 1) * rate
    return first * total + np.sum(rate) + np.mean(first)
