"""`jit` of views inside of expressions, sums of products, and filled arrays."""

import numpy as np
import pytest

import srcjax

SAMPLE = {"test_places": 2}

pytest.importorskip("numba")

RNG = np.random.default_rng(6)
A = RNG.normal(size=(3, 4))
S = A @ A.T
V = RNG.normal(size=4)
B = RNG.normal(size=(5, 3, 4))
C = RNG.normal(size=(5, 4, 2))


def rows(a):
    return np.einsum("ij,ij->i", a, a * 2.0)


def matrix_times_vector(a, v):
    return np.einsum("ij,j->i", a, v)


def batched_product(b, c):
    return np.einsum("bij,bjk->bik", b, c)


def turned(b, v):
    return np.einsum("bij,j->ib", b, v)


def all_summed(b, a):
    return np.einsum("bij,ij->", b, a)


def outer_sum(v, a):
    return np.einsum("j,ij->ji", v, a)


def counted(a):
    return np.sum(a > 0, axis=1), np.sum(a > 0), np.mean(a > 0), np.sum(a > 0, axis=0)


def whole_numbers(a):
    n = (a * 10).astype(int)
    return np.sum(n), np.sum(n, axis=0), np.prod(n[0]), np.mean(n, axis=1)


def with_its_transpose(s):
    return s + s.T


def of_its_own_transpose(s):
    e = np.exp(s)
    return e * e.T + np.sum(e)


def added_to_itself_turned(s):
    s = s.copy()
    s += s.T
    return s


def new_axes(v):
    return np.expand_dims(v, 0) * np.expand_dims(v, 1) + v[:, None]


def outer(v, w):
    m = np.outer(v, w)
    return m - np.sum(m)


def outer_of_matrices(a):
    return np.outer(a, a)


def distances(a):
    d = a[:, None, :] - a[None, :, :]
    return np.sum(d * d, axis=2)


def differences(a):
    return a[:, 0:1].T - a[:, 0:1]


def filled(v):
    return np.full((len(v), 2), 3.0) * 2, np.full(3, v[0]), np.ones_like(v) - v


def filled_and_written(v):
    w = np.ones_like(v)
    u = w * 2
    w[0] = v[1]
    return w, u


def single(v):
    return np.ones_like(v) * v, np.zeros_like(v)


def sized_by_a_tuple(v):
    shape = (len(v), 3)
    out = np.zeros(shape)
    for i in range(len(v)):
        out[i, 1] = v[i]
    return out


def parts(z):
    n = len(z) // 2
    i, f = np.tanh(z[:n]), np.exp(z[n:])
    c = i * f
    return c * 2 - f


def window(x, k):
    out = np.zeros(len(x))
    for i in range(len(x) - 1):
        out[i : i + 2] += x[i : i + 2] * k
    return out


def too_wide(x, y):
    out = np.zeros(len(x))
    for i in range(2):
        out[i:] += y
    return out


CASES = [
    (rows, (A,)), (matrix_times_vector, (A, V)), (batched_product, (B, C)),
    (turned, (B, V)), (all_summed, (B, A)), (outer_sum, (V, A)), (counted, (A,)),
    (whole_numbers, (A,)), (with_its_transpose, (S,)), (of_its_own_transpose, (S,)),
    (added_to_itself_turned, (S,)), (new_axes, (V,)), (outer, (V, V * 2)),
    (outer_of_matrices, (A,)), (distances, (A,)), (differences, (A,)), (filled, (V,)),
    (filled_and_written, (V,)), (single, (V.astype(np.float32),)),
    (sized_by_a_tuple, (V,)), (parts, (np.arange(6.0),)), (parts, (np.arange(8.0),)),
    (window, (V, 2.0)), (too_wide, (V, V)), (too_wide, (V, 1.0)),
    (too_wide, (V, V[:1])),
]  # fmt: skip
IDS = [f"{f.__name__}{k}" for k, (f, _) in enumerate(CASES)]


def outcome(f, args):
    """What a call gives, or raises."""
    try:
        found = f(*args)
    except Exception as error:
        return [repr(error)]
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize(("f", "args"), CASES, ids=IDS)
def test_places(f, args):
    found, wanted = outcome(srcjax.jit(f), args), outcome(f, args)
    for a, b in zip(found, wanted, strict=True):
        assert type(a) is type(b)
        if isinstance(b, str):
            assert a == b
            continue
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("f", [distances, batched_product, of_its_own_transpose, parts])
def test_gradients(f):
    args = next(a for g, a in CASES if g is f)

    def loss(*args):
        return np.sum(f(*args) ** 2)

    wanted = srcjax.grad(loss)(*args)
    np.testing.assert_allclose(srcjax.jit(srcjax.grad(loss))(*args), wanted, rtol=1e-11)


def test_many_sizes_become_one_version():
    compiled = srcjax.jit(parts)
    for n in (*range(2, 26, 2), 2, 4):
        z = RNG.normal(size=n)
        np.testing.assert_allclose(compiled(z), parts(z), rtol=1e-12)


def test_forward_and_backward_sweep_share_a_loop():
    def loss(weights, x):
        for w in weights:
            x = np.tanh(w * x)
        return np.sum(x)

    text = srcjax.source(srcjax.jit(srcjax.grad(loss)), [V, V + 1, V * 2], V)
    assert text.count("for i in range(") == 1
