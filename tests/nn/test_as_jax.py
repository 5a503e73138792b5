"""Values and derivatives of `srcjax.nn` are those of `jax.nn`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import nn, random

X = np.array([-30.0, -3.0, -1.0, -0.5, 0.25, 1.0, 4.0, 7.0, 40.0], np.float32)
ACTIVATIONS = """
    celu elu gelu hard_sigmoid hard_silu hard_tanh identity leaky_relu log_sigmoid mish
    relu relu6 selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid
    squareplus tanh
    """.split()  # noqa: SIM905
#: Where JAX's functions have no derivative, and ours give what JAX's give.
KINKS = {
    "celu": 0.0,
    "elu": 0.0,
    "hard_tanh": 1.0,
    "leaky_relu": 0.0,
    "relu": 0.0,
    "relu6": 6.0,
    "selu": 0.0,
    "soft_sign": 0.0,
    "sparse_plus": -1.0,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    ours, theirs = getattr(nn, name), getattr(jax.nn, name)
    x = np.append(X, np.float32(KINKS.get(name, 0.5)))
    expected, pullback = jax.vjp(theirs, jnp.asarray(x))
    found = ours(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)
    slopes = srcjax.grad(lambda x: np.sum(ours(x)))(x)
    assert slopes.dtype == np.float32
    np.testing.assert_allclose(
        slopes, pullback(jnp.ones_like(x))[0], rtol=1e-5, atol=1e-6
    )
    forward = srcjax.jvp(ours, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(forward, slopes, rtol=1e-5, atol=1e-6)


def test_nan_goes_through():
    with np.errstate(invalid="ignore"):
        for name in ACTIVATIONS:
            assert np.isnan(getattr(nn, name)(np.float32([np.nan]))[0]), name


def test_exact_gelu_and_its_like():
    pytest.importorskip("scipy")
    x = X.astype(np.float64) / 4
    np.testing.assert_allclose(
        nn.gelu(x, approximate=False), jax.nn.gelu(x, approximate=False), rtol=1e-4
    )
    slope = srcjax.grad(lambda x: nn.gelu(x, approximate=False))(0.5)
    density = np.exp(-0.125) / np.sqrt(2 * np.pi)
    assert slope == pytest.approx(nn.gelu(0.5, False) / 0.5 + 0.5 * density)
    with np.errstate(all="raise"):
        found = nn.log1mexp(np.array([1e-20, 0.5, 1.0, 50.0]))
    middle = np.log(1 - np.exp([-0.5, -1.0]))
    expected = [np.log(1e-20), *middle, -np.exp(-50)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


ROWS = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32) * 3
SEEN = ROWS > -2.0
WEIGHTS = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
FUNCTIONS = {
    "softmax, where": {"where": SEEN},
    "log_softmax": {},
    "logsumexp, keepdims": {"axis": 0, "keepdims": True, "b": np.abs(WEIGHTS)},
    "logsumexp, where": {"axis": 1, "where": SEEN},
    "logmeanexp": {"axis": 1},
    "standardize, where": {"where": SEEN},
    "glu, axis": {"axis": 0},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    short, options = name.partition(",")[0], FUNCTIONS[name]
    ours, theirs = getattr(nn, short), getattr(jax.nn, short)
    expected, pullback = jax.vjp(lambda x: theirs(x, **options), jnp.asarray(ROWS))
    found, ours_back = srcjax.vjp(lambda x: ours(x, **options), ROWS)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)
    assert np.asarray(found).dtype == np.float32
    seed = np.cos(np.arange(np.size(found), dtype=np.float32)).reshape(np.shape(found))
    (slopes,) = ours_back(seed[()])
    np.testing.assert_allclose(
        slopes, pullback(jnp.asarray(seed))[0], rtol=1e-4, atol=1e-5
    )


def test_large_numbers():
    x = np.array([1000.0, 0.0, -1000.0])
    with np.errstate(all="raise", under="ignore"):
        assert nn.logsumexp(x) == 1000.0
        np.testing.assert_array_equal(nn.softmax(x), [1.0, 0.0, 0.0])
        np.testing.assert_array_equal(nn.log_softmax(x), [0.0, -1000.0, -2000.0])
        np.testing.assert_array_equal(nn.sigmoid(x), [1.0, 0.5, 0.0])
    size, sign = nn.logsumexp(np.zeros(2), b=np.array([1.0, -3.0]), return_sign=True)
    assert size == pytest.approx(np.log(2.0)) and sign == -1.0


def test_one_hot():
    index = np.array([[0, 2], [3, -1]])
    for axis in (-1, 0):
        found = nn.one_hot(index, 3, axis=axis)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, jax.nn.one_hot(index, 3, axis=axis))


def heads(count, length, seed):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(2, length, count, 3)).astype(np.float32)


BIAS = heads(5, 5, 8)[:, None, :, :, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"is_causal": True, "scale": 0.5},
        {"local_window_size": (1, 0), "key_value_seq_lengths": np.array([5, 3])},
        {"query_seq_lengths": np.array([2, 5]), "mask": BIAS > 0, "bias": BIAS},
    ],
    ids="-".join,
)
def test_attention(options):
    query, key, value = heads(4, 5, 0), heads(2, 5, 1), heads(2, 5, 2)
    found = nn.dot_product_attention(query, key, value, **options)
    given = map(jnp.asarray, (query, key, value))
    expected = jax.nn.dot_product_attention(*given, **options)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def test_gradient_of_attention():
    query, key, value = (heads(2, 3, k).astype(np.float64)[0] for k in range(3))

    def total(q, k, v):
        return np.sum(nn.dot_product_attention(q, k, v, is_causal=True) ** 2)

    found = srcjax.grad(total, argnums=(0, 1, 2))(query, key, value)
    for which, slopes in enumerate(found):
        args = [query, key, value]
        direction = np.cos(np.arange(slopes.size)).reshape(slopes.shape)
        high, low = (
            total(*(a + s * direction if k == which else a for k, a in enumerate(args)))
            for s in (1e-6, -1e-6)
        )
        along = np.sum(slopes * direction)
        assert along == pytest.approx((high - low) / 2e-6, rel=1e-6)
    with pytest.raises(ValueError, match="multiple"):
        nn.dot_product_attention(heads(3, 2, 0), heads(2, 2, 0), heads(2, 2, 0))


INITIALIZERS = {
    "glorot_uniform": lambda i: i.glorot_uniform(),
    "scaled": lambda i: i.variance_scaling(2.0, "fan_out", "normal", 0, 1),
    "orthogonal": lambda i: i.orthogonal(2.0),
    "constant": lambda i: i.constant(3.0),
    "ones": lambda i: i.ones,
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers_draw_what_jax_draws(name):
    make, shape = INITIALIZERS[name], (3, 4, 5)
    found = make(nn.initializers)(random.PRNGKey(7), shape)
    expected = make(jax.nn.initializers)(jax.random.PRNGKey(7), shape)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_variances_of_initializers():
    shape, draws = (200, 100), {}
    for name in ("normal", "uniform", "truncated_normal"):
        draws[name] = getattr(nn.initializers, name)(0.5)(random.PRNGKey(1), shape)
    assert draws["normal"].std() == pytest.approx(0.5, rel=0.05)
    assert draws["uniform"].max() <= 0.5 and draws["uniform"].min() >= 0
    assert np.abs(draws["truncated_normal"]).max() <= 1.0
    fans = {"lecun": 1 / 200, "glorot": 2 / 300, "he": 2 / 200}
    for name, variance in fans.items():
        for kind in ("uniform", "normal"):
            init = getattr(nn.initializers, f"{name}_{kind}")()
            drawn = init(random.PRNGKey(2), shape)
            assert drawn.var() == pytest.approx(variance, rel=0.05)


def test_names_are_those_of_jax():
    """All of `jax.nn` is there but what is for its own hardware."""
    special = {"get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"}
    names = {n for n in dir(jax.nn) if n[0] != "_"}
    assert names - special <= set(nn.__all__)
    names = {n for n in dir(jax.nn.initializers) if n[0] != "_"}
    assert names - {"delta_orthogonal"} <= set(dir(nn.initializers))
