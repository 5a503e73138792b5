"""Kernels of rows: what is kept for a row, updates as new values, large arrays."""

import numpy as np
import pytest

import srcjax

SAMPLE = {"test_same": 2}

pytest.importorskip("numba")

RNG = np.random.default_rng(8)
A = RNG.normal(size=(5, 7))
B = RNG.normal(size=(5, 7))
V = RNG.normal(size=7)
S = RNG.normal(size=(4, 3, 3))
S = S @ S.transpose(0, 2, 1) + np.eye(3)


def softmax_loss(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.sum(y * np.log(p + 1e-9), axis=1))


def layer_norm(x, g, b):
    mean = np.mean(x, axis=1, keepdims=True)
    var = np.mean((x - mean) ** 2, axis=1, keepdims=True)
    return np.sum(((x - mean) / np.sqrt(var + 1e-5) * g + b) ** 2)


def kept_rows(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e, e / np.sum(e, axis=1, keepdims=True)


def rows_and_columns(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True), axis=0) + np.sum(e, axis=0)


def rows_of_blocks(x):
    d = x[:, None, :] - x[None, :, :]
    e = np.exp(-(d**2))
    return np.sum(e / np.sum(e, axis=2, keepdims=True), axis=(1, 2))


def other_rows(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e * np.sum(e[::-1], axis=1, keepdims=True)


def rows_in_a_loop(x):
    total = np.zeros(x.shape[0])
    for _ in range(3):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        total = total + np.sum(e / np.sum(e, axis=1, keepdims=True) * x, axis=1)
    return total


def conjugate_gradient(matrix, b):
    x = np.zeros(3)
    r = b - matrix @ x
    p = r
    for _ in range(2):
        ap = matrix @ p
        alpha = (r @ r) / (p @ ap)
        x = x + alpha * p
        new = r - alpha * ap
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


def updated(x, y):
    d = x * y
    d += np.sin(x)
    d *= d + y
    return np.exp(d)


def updated_under_another_name(x, y):
    d = x * y
    seen = d
    d += np.sin(x)
    return seen * d


def updated_through_a_view(x, y):
    d = x * y
    part = d[1:]
    d += y
    part *= 2.0
    d -= x
    return d + np.sum(part)


def updated_part_between(x, y):
    d = x * y
    d += y
    d[0] = 3.0
    d += x
    return np.sin(d) * 2


def updated_in_a_branch(x, y):
    d = x * y
    if x[0, 0] > 0:
        d += y
    d += np.cos(d)
    return d * 2.0


def updated_in_a_loop(x, y):
    d = x * y
    for _ in range(3):
        old = d * 2.0
        d += y
        d -= old * 0.25
    return d


def updated_and_kept(x, y):
    d = x * y
    kept = (d, y * 2.0)
    d += x
    return kept[0] * d + kept[1]


def updated_wider(x, y):
    d = x[0] * 2.0
    d += y[0]
    e = d * np.ones(7, np.float32)
    e += d
    f = np.float32(x) * np.float32(y)
    f += y
    return e, f


def updated_argument(x, y):
    x += y
    x *= 2.0
    return np.sum(x * y)


CASES = [
    (kept_rows, (A,)),
    (rows_and_columns, (A,)),
    (rows_of_blocks, (A,)),
    (other_rows, (A,)),
    (rows_in_a_loop, (A,)),
    (srcjax.vmap(conjugate_gradient), (S, A[:4, :3])),  # `p` of old and new rows
    (updated, (A, B)),
    (updated_under_another_name, (A, B)),
    (updated_through_a_view, (A, B)),
    (updated_part_between, (A, B)),
    (updated_in_a_branch, (A, B)),
    (updated_in_a_branch, (-np.abs(A), B)),
    (updated_in_a_loop, (A, B)),
    (updated_and_kept, (A, B)),
    (updated_wider, (A, B)),
    (updated_argument, (A, B)),
    (srcjax.grad(softmax_loss), (A, np.abs(B))),
    (srcjax.grad(softmax_loss), (A[:0], B[:0])),
    (srcjax.grad(layer_norm, (0, 1, 2)), (A, V, V + 1.0)),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args", CASES)
def test_same(function, args):
    given = [a.copy() for a in args]
    try:
        wanted = function(*given)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            srcjax.jit(function)(*args)
        return
    own = [a.copy() for a in args]
    found = srcjax.jit(function)(*own)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else ()
    for mine, other in pairs or [(found, wanted)]:
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-14)
        assert mine.dtype == other.dtype
    for mine, other in zip(own, given, strict=True):
        np.testing.assert_array_equal(mine, other)


def text_of(function, *args):
    return srcjax.source(srcjax.jit(function), *args)


def test_a_row_is_kept_for_a_row():
    text = text_of(srcjax.grad(softmax_loss), A, B)
    assert text.count("np.empty(x.shape[1])") == 3
    assert text.count("np.empty((len(x), x.shape[1]))") == 1


def test_rows_of_layer_norm_are_gone_through_once():
    text = text_of(srcjax.grad(layer_norm), A, V, V)
    assert text.count("for i in range") == 1


def test_what_is_given_back_is_whole():
    text = text_of(kept_rows, A)
    assert text.count("np.empty((len(x), x.shape[1]))") == 2


def test_an_update_is_a_new_value():
    text = text_of(updated, A, B)
    assert text.count("for i in range") == 1 and text.count("np.empty") == 1


def largest_and_smallest(x):
    return np.max(x), np.min(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("worst", [0.0, np.nan, np.inf, -np.inf])
def test_extremes(worst, dtype):
    for at in (0, 7, 99):
        x = RNG.normal(size=100).astype(dtype)
        x[at] = worst
        for mine, other in zip(
            srcjax.jit(largest_and_smallest)(x), largest_and_smallest(x), strict=True
        ):
            np.testing.assert_array_equal(mine, other)
            assert mine.dtype == other.dtype


def on_its_way(x):
    y = np.zeros(x.shape)
    z = x * 2.0 + y
    return z + np.tanh(z), y


def test_large_arrays():
    x = RNG.normal(size=3_000_001)
    for mine, other in zip(srcjax.jit(on_its_way)(x), on_its_way(x), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-14)


def long_chain(x, w):
    y = np.tanh(np.exp(-x) * w)
    z = np.log(1.0 + np.exp(y) * np.sin(w) ** 2)
    return z, np.sum(y), np.max(y * z)


def long_rows(x, w):
    y = np.tanh(np.exp(-x) * np.sum(w, axis=1, keepdims=True))
    return np.sum(np.log(1.0 + np.exp(y)), axis=1), y


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 63, 100])
def test_long_chains(size, dtype):
    rtol = 1e-13 if dtype is np.float64 else 2e-5
    shapes = [(long_chain, (size,)), (long_rows, (3, size)), (long_rows, (size, 3))]
    for function, shape in shapes:
        x, w = RNG.normal(size=(2, *shape)).astype(dtype)
        for mine, other in zip(srcjax.jit(function)(x, w), function(x, w), strict=True):
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol)
            assert mine.dtype == other.dtype


def conversions(x):
    a = (x > 0).astype(np.float32)
    b = x.astype(np.float64) * 2.0
    c = b.astype(np.float32)
    n = (x > 0).astype(int)
    return a * c, b, n, c.astype(bool), x.astype("float32"), n.astype(np.float32) * a


def selu(x):
    return np.sum(1.05 * np.where(x > 0, x, 1.67 * np.exp(np.minimum(x, 0.0)) - 1.67))


def to_whole_numbers(x):
    return (x * 3.0).astype(np.int64)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_conversions(dtype):
    with np.errstate(all="ignore"):
        x = np.array([-1.5, 0.0, -0.0, 2.0, 1e300, np.inf, np.nan]).astype(dtype)
        pairs = zip(srcjax.jit(conversions)(x), conversions(x), strict=True)
    for mine, other in pairs:
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype
    compiled = srcjax.jit(srcjax.grad(selu))
    found, wanted = compiled(x[:4]), srcjax.grad(selu)(x[:4])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == wanted.dtype == dtype
    assert "Python" not in srcjax.explain(compiled, x[:4])
    np.testing.assert_array_equal(
        srcjax.jit(to_whole_numbers)(x[:4]), to_whole_numbers(x[:4])
    )
