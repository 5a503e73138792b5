"""`srcjax.lax`'s operations: JAX's values and dtypes, and derivatives."""

import jax
import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.testing import check_grads
from tests.corpus.harness import assert_close, differences

A = np.linspace(-1.5, 2.5, 12, dtype=np.float32).reshape(3, 4)
B = np.cos(A)
N = np.arange(-4, 8, dtype=np.int32).reshape(3, 4)
T = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
IMAGE = np.sin(np.arange(2 * 4 * 6 * 5, dtype=np.float32)).reshape(2, 4, 6, 5)
KERNEL = np.cos(np.arange(3 * 4 * 3 * 2, dtype=np.float32)).reshape(3, 4, 3, 2)
GROUPED = np.cos(np.arange(6 * 2 * 3 * 2, dtype=np.float32)).reshape(6, 2, 3, 2)
NHWC = ("NHWC", "HWIO", "NHWC")


def arithmetic(lax, np):
    return [
        lax.add(A, B),
        lax.sub(A, 1.0),
        lax.mul(2, N),
        lax.div(A, B),
        lax.div(N, np.full_like(N, 3)),
        lax.rem(N, np.full_like(N, 3)),
        lax.rem(A, np.full_like(A, 0.7)),
        lax.max(A, B),
        lax.min(A, B),
        lax.pow(np.abs(A), B),
        lax.atan2(A, B),
        lax.integer_pow(A, 3),
        lax.rsqrt(B + 2),
        lax.logistic(40 * A),
        lax.round(2 * A),
        lax.erf(A),
        lax.clamp(-1.0, A, 1.0),
        lax.select(A > 0, A, B),
        lax.select_n(A > 0, A, B),
        lax.select_n(N % 3, N, N + 1, N + 2),
        lax.convert_element_type(A, np.int32),
        lax.bitcast_convert_type(A, np.int32),
        lax.eq(N, 3),
        lax.lt(A, B),
        lax.complex(A, B),
    ]


def shapes(lax, np):
    return [
        lax.iota(np.int32, 5),
        lax.broadcasted_iota(np.float32, (2, 3), 1),
        lax.full((2,), 3.0, np.float32),
        lax.full_like(A, 7),
        lax.broadcast(A, (2,)),
        lax.broadcast_in_dim(A, (3, 2, 4), (0, 2)),
        lax.transpose(A, (1, 0)),
        lax.reshape(A, (4, 3)),
        lax.reshape(A, (12,), (1, 0)),
        lax.collapse(T, 1, 3),
        lax.expand_dims(A, (0, 2)),
        lax.squeeze(A[:1], (0,)),
        lax.concatenate([A, B], 1),
        lax.rev(A, (0, 1)),
        lax.slice(A, (0, 1), (3, 4), (2, 1)),
        lax.slice_in_dim(A, 1, 4, 2, axis=1),
        lax.index_in_dim(A, 1, 1, keepdims=False),
        lax.pad(A, np.float32(9), ((1, 2, 1), (-1, 0, 0))),
        lax.pad(A, np.float32(9), ((0, -1, 2), (2, -3, 1))),
        lax.dynamic_slice_in_dim(A, 2, 2, axis=1),
        lax.dynamic_update_slice_in_dim(A, B[:1], 1, 0),
        lax.dynamic_update_index_in_dim(A, B[:, 0], 2, 1),
        lax.sort(B),
        *lax.sort((N % 3, A), dimension=0),
        *lax.sort_key_val(B, A),
        *lax.top_k(B, 2),
        *lax.split(A, (1, 3), axis=1),
    ]


def reductions(lax, np):
    found = [
        lax.reduce_sum(N, (0,)),
        lax.reduce_max(A, (0, 1)),
        lax.reduce_min(A, (1,)),
        lax.reduce_prod(N, (1,)),
        lax.reduce_and(A > 0, (0,)),
        lax.reduce_or(A > 0, (0,)),
        lax.reduce(A, np.float32(0), lax.max, (0,)),
        lax.argmax(A, 1, np.int32),
    ]
    for reverse in (False, True):
        found += [
            lax.cumsum(N, 1, reverse=reverse),
            lax.cumprod(A, 0, reverse=reverse),
            lax.cummax(B, 1, reverse=reverse),
            lax.cummin(B, 0, reverse=reverse),
            lax.cumlogsumexp(B, 0, reverse=reverse),
        ]
    return found


def products(lax, np):
    return [
        lax.dot(A, B.T),
        lax.batch_matmul(T, T.transpose(0, 2, 1)),
        lax.dot_general(T, T, (((2,), (2,)), ((), ()))),
        lax.dot_general(T, T, (((2, 1), (2, 1)), ((0,), (0,)))),
        lax.dot_general(T, T, (((1,), (1,)), ((0, 2), (0, 2)))),
        lax.conv(IMAGE, KERNEL, (1, 2), "SAME"),
        lax.conv_general_dilated(
            IMAGE, KERNEL, (2, 1), [(1, 0), (2, 1)], (2, 1), (1, 2)
        ),
        lax.conv_general_dilated(
            IMAGE.transpose(0, 2, 3, 1),
            KERNEL.transpose(2, 3, 1, 0),
            (1, 1),
            "VALID",
            dimension_numbers=NHWC,
        ),
        lax.conv_general_dilated(IMAGE, GROUPED, (1, 1), "SAME", feature_group_count=2),
        lax.conv_transpose(
            IMAGE.transpose(0, 2, 3, 1), KERNEL.transpose(2, 3, 1, 0), (2, 3), "SAME"
        ),
        lax.conv_transpose(
            IMAGE.transpose(0, 2, 3, 1),
            KERNEL.transpose(2, 3, 0, 1),
            (1, 2),
            "VALID",
            transpose_kernel=True,
        ),
        lax.reduce_window(A, -np.inf, lax.max, (2, 2), (1, 2), "SAME"),
        lax.reduce_window(A, np.float32(0), lax.add, (2, 2), None, "VALID", (2, 1)),
        lax.reduce_window(A, np.float32(1), lax.mul, (1, 3), window_dilation=(1, 1)),
    ]


@pytest.mark.parametrize("group", [arithmetic, shapes, reductions, products])
def test_values_are_those_of_jax(group):
    ours = group(lax, np)
    with jax.enable_x64(False):
        theirs = jax.jit(lambda: group(jax.lax, jax.numpy))()
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert np.shape(a) == np.shape(b), k
        assert np.asarray(a).dtype == b.dtype, k
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5, err_msg=str(k))


def test_what_jax_refuses_is_refused():
    for x, y in ((A, N), (A, A[0])):
        with pytest.raises(TypeError):
            jax.lax.add(jax.numpy.asarray(x), jax.numpy.asarray(y))
        with pytest.raises(TypeError, match=r"lax\.add of"):
            lax.add(x, y)
    with pytest.raises(TypeError, match="differ in size"):
        lax.bitcast_convert_type(A, np.int64)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lax.nothing  # noqa: B018


X = np.linspace(0.3, 1.7, 12).reshape(3, 4)
PROGRAMS = {
    "arithmetic": lambda x: np.sum(
        lax.select(
            x > 1, lax.mul(lax.exp(x), lax.max(x, 1.2)), lax.rsqrt(lax.add(x, 1.0))
        )
    ),
    "shapes": lambda x: np.sum(
        lax.pad(lax.rev(x, (0,)), 0.5, ((1, 2, 0), (0, 2, 0)))[:, :4] ** 2
        * lax.broadcast_in_dim(lax.slice(x, (0, 1), (1, 2)), (6, 4), (0, 1))
    ),
    "order": lambda x: np.sum(lax.top_k(lax.mul(x, lax.cos(5 * x)), 2)[0] ** 2),
    "products": lambda x: np.sum(
        lax.dot_general(x, lax.sin(x), (((1,), (1,)), ((0,), (0,)))) ** 2
    ),
    "convolution": lambda x: np.sum(
        lax.conv(x[None, None], KERNEL[:1, :1].astype(float), (1, 1), "SAME") ** 2
    ),
    "windows": lambda x: np.sum(
        lax.reduce_window(x**2, -np.inf, lax.max, (2, 2)) * lax.cumsum(x, 1)[:2, :3]
    ),
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives(f):
    expected = differences(f, (X,), (0,))[0]
    assert_close(srcjax.grad(f)(X), expected)


def test_tangents_and_batches():
    f = PROGRAMS["arithmetic"]
    expected = differences(f, (X,), (0,))[0]
    assert_close(srcjax.jvp(f, (X,), (X,))[1], np.sum(expected * X))
    batch = np.stack([X, 0.9 * X])
    assert_close(srcjax.vmap(f)(batch), np.array([f(each) for each in batch]))


def test_text_has_plain_operations():
    def loss(x, y):
        return lax.reduce_sum(lax.mul(lax.tanh(lax.add(x, y)), x), (0,))

    text = srcjax.source(srcjax.grad(loss), np.ones(3), np.ones(3))
    assert "np.tanh(x + y)" in text and "lax" not in text.split('"""')[2]


def larger(a, b):
    """Of two pairs of a number and its place that with the larger number."""
    (x, i), (y, j) = a, b
    return np.where(x >= y, x, y), np.where(x >= y, i, j)


def test_reductions_of_several_arrays():
    places = np.tile(np.arange(A.shape[1], dtype=np.int32), (A.shape[0], 1))
    start = np.float32(-np.inf), np.int32(-1)

    def of_jax(a, b):
        (x, i), (y, j) = a, b
        return jax.numpy.where(x >= y, x, y), jax.numpy.where(x >= y, i, j)

    windows = ((2, 2), (1, 2), "SAME")
    pairs = [
        (
            lax.reduce((A, places), start, larger, axes),
            jax.lax.reduce((A, places), start, of_jax, axes),
        )
        for axes in ((0,), (1,), (1, 0))
    ] + [
        (
            lax.reduce_window((A, places), start, larger, *windows),
            jax.lax.reduce_window((A, places), start, of_jax, *windows),
        )
    ]
    for ours, theirs in pairs:
        for mine, other in zip(ours, theirs, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)


def test_gradients_of_reductions_of_several_arrays():
    def both(a, b):
        return a[0] + b[0], a[1] + b[1]

    def spread(x):
        sums, squares = lax.reduce((x, x**2), (0.0, 0.0), both, (1,))
        near = lax.reduce_window((x, x**2), (0.0, 0.0), both, (2, 1))
        return np.sum(squares - sums**2 / 3) + np.sum(near[1] * near[0])

    check_grads(spread, (A.astype(float),), modes=("rev", "fwd"))
