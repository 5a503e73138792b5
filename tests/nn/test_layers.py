"""Layers, cells, convolution and pooling: values by plain loops, derivatives by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import nn, optim, random, tree

KEY = random.PRNGKey(0)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def check_slopes(f, *args):
    """The gradient along a direction, by differences."""
    found = srcjax.grad(f, argnums=tuple(range(len(args))))(*args)
    directions = tree.map(lambda a: np.cos(np.arange(a.size)).reshape(a.shape), args)
    step = 1e-6
    high, low = (
        f(*tree.map(lambda a, d, s=s: a + s * d, args, directions))
        for s in (step, -step)
    )
    along = sum(tree.leaves(tree.map(lambda g, d: np.sum(g * d), found, directions)))
    assert along == pytest.approx((high - low) / (2 * step), rel=1e-5)


def wide(params):
    return tree.map(lambda p: p.astype(float), params)


def test_dense_and_embedding():
    params = nn.dense_init(KEY, 3, 2)
    assert params["w"].shape == (3, 2) and params["w"].dtype == np.float32
    x = normal(5, 3)
    np.testing.assert_allclose(nn.dense(params, x), x @ params["w"] + params["b"])
    table = nn.embedding_init(KEY, 7, 4)
    assert nn.embedding(table, np.array([[1, 2], [0, 6]])).shape == (2, 2, 4)
    found = srcjax.grad(lambda t: np.sum(nn.embedding(t, np.array([1, 1, 3]))))(table)
    np.testing.assert_array_equal(found["table"].sum(axis=1), [0, 8, 0, 4, 0, 0, 0])


def test_norms():
    x = 3 * normal(2, 4, 6) + 1
    params = wide(nn.layer_norm_init(6))
    y = nn.layer_norm(params, x)
    np.testing.assert_allclose(y.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=-1), 1, rtol=1e-5)
    groups = nn.group_norm(params, x, 2).reshape(2, 4, 2, 3)
    np.testing.assert_allclose(groups.mean(axis=(1, 3)), 0, atol=1e-12)
    np.testing.assert_allclose(groups.var(axis=(1, 3)), 1, rtol=1e-5)
    with pytest.raises(ValueError, match="groups"):
        nn.group_norm(params, x, 4)
    state = wide(nn.batch_norm_state(6))
    y, new = nn.batch_norm(params, state, x, momentum=0.9)
    np.testing.assert_allclose(y.var(axis=(0, 1)), 1, rtol=1e-5)
    np.testing.assert_allclose(new["mean"], 0.1 * x.mean(axis=(0, 1)))
    still, same = nn.batch_norm(params, new, x, training=False)
    np.testing.assert_allclose(still, (x - new["mean"]) / np.sqrt(new["var"] + 1e-5))
    assert same is new
    weights = normal(2, 4, 6, seed=3)
    check_slopes(lambda p, x: np.sum(weights * nn.layer_norm(p, x)), params, x)
    check_slopes(lambda x: np.sum(weights * nn.group_norm(params, x, 3)), x)
    check_slopes(lambda x: np.sum(weights * nn.batch_norm(params, state, x)[0]), x)


def test_dropout():
    x = np.ones((100, 10))
    y = nn.dropout(KEY, x, 0.25)
    assert set(np.unique(y)) == {0.0, 1 / 0.75} and abs(y.mean() - 1) < 0.1
    assert nn.dropout(KEY, x, 0.25, training=False) is x
    np.testing.assert_array_equal(
        srcjax.grad(lambda x: np.sum(nn.dropout(KEY, x, 0.25)))(x), y
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_cells():
    n_in, n = 3, 2
    x, c, h = normal(4, n_in), normal(4, n, seed=1), normal(4, n, seed=2)
    params = wide(nn.rnn_cell_init(KEY, n_in, n))
    carry, y = nn.rnn_cell(params, h, x)
    np.testing.assert_allclose(y, np.tanh(x @ params["w"] + h @ params["u"]))
    params = wide(nn.gru_cell_init(KEY, n_in, n))
    a, b = x @ params["w"], h @ params["u"]
    r, z = (sigmoid(a[:, k : k + n] + b[:, k : k + n]) for k in (0, n))
    new = np.tanh(a[:, 2 * n :] + r * b[:, 2 * n :])
    np.testing.assert_allclose(nn.gru_cell(params, h, x)[1], (1 - z) * new + z * h)
    params = wide(nn.lstm_cell_init(KEY, n_in, n))
    i, f, o, g = np.split(x @ params["w"] + h @ params["u"], 4, axis=1)
    new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    (c_new, h_new), y = nn.lstm_cell(params, (c, h), x)
    np.testing.assert_allclose(c_new, new)
    np.testing.assert_allclose(y, sigmoid(o) * np.tanh(new))
    assert h_new is y


def run_lstm(params, xs):
    carry = (np.zeros(2), np.zeros(2))
    total = 0.0
    for x in xs:
        carry, y = nn.lstm_cell(params, carry, x)
        total = total + np.sum(y**2)
    return total


def test_a_recurrent_network():
    params = wide(nn.lstm_cell_init(KEY, 3, 2))
    check_slopes(run_lstm, params, normal(4, 3))


@pytest.mark.parametrize(
    ("strides", "padding", "dilation"),
    [
        (2, "SAME", 1),
        ((2, 1), ((1, 0), (2, 1)), 2),
    ],
    ids=str,
)
def test_conv(strides, padding, dilation):
    params = {"w": normal(3, 2, 2, 4).astype(np.float32), "b": np.float32([0, 1, 2, 3])}
    x = normal(2, 7, 6, 2, seed=1).astype(np.float32)
    both = [(s, s) if isinstance(s, int) else s for s in (strides, dilation)]

    def theirs(params, x):
        y = jax.lax.conv_general_dilated(
            x,
            params["w"],
            both[0],
            padding,
            rhs_dilation=both[1],
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        return y + params["b"]

    def ours(params, x):
        return nn.conv(params, x, strides, padding, dilation)

    expected, pullback = jax.vjp(theirs, params, jnp.asarray(x))
    found, ours_back = srcjax.vjp(ours, params, x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    seed = np.cos(np.arange(found.size, dtype=np.float32)).reshape(found.shape)
    for a, b in zip(
        tree.leaves(ours_back(seed)), jax.tree.leaves(pullback(seed)), strict=True
    ):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


def test_pooling():
    x = normal(2, 5, 6, 3)
    found = nn.max_pool(x, (2, 3))
    assert found.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(found[1, 0, 1], x[1, 0:2, 3:6].max(axis=(0, 1)))
    found = nn.max_pool(x, 3, 2, "SAME")
    assert found.shape == (2, 3, 3, 3)
    np.testing.assert_array_equal(found[0, 0, 0], x[0, :2, :2].max(axis=(0, 1)))
    np.testing.assert_array_equal(nn.max_pool(x, 1), x)
    found = nn.avg_pool(x, 2)
    np.testing.assert_allclose(found[1, 1, 2], x[1, 2:4, 4:6].mean(axis=(0, 1)))
    check_slopes(lambda x: np.sum(nn.max_pool(x, 2) ** 2), x)
    check_slopes(lambda x: np.sum(nn.avg_pool(x, 3, 2) ** 2), x)
    with pytest.raises(ValueError, match="SAME"):
        nn.max_pool(x, padding="FULL")


def loss(params, x, labels):
    hidden = nn.relu(nn.dense(params["hidden"], x))
    logits = nn.dense(params["out"], hidden)
    return np.mean(optim.softmax_cross_entropy_with_integer_labels(logits, labels))


def test_training():
    """A small network learns; all stays float32."""
    first, second = random.split(KEY)
    params = {
        "hidden": nn.dense_init(first, 2, 16),
        "out": nn.dense_init(second, 16, 2),
    }
    x = normal(64, 2).astype(np.float32)
    labels = (x[:, 0] * x[:, 1] > 0).astype(int)
    optimizer = optim.adam(0.05)
    state = optimizer.init(params)
    step = srcjax.value_and_grad(loss)
    before = loss(params, x, labels)
    for _ in range(60):
        value, grads = step(params, x, labels)
        updates, state = optimizer.update(grads, state, params)
        params = optim.apply_updates(params, updates)
    assert value < 0.4 * before
    assert {p.dtype for p in tree.leaves(params)} == {np.dtype(np.float32)}


def test_batched_and_compiled():
    params = {"hidden": nn.dense_init(KEY, 3, 4), "out": nn.dense_init(KEY, 4, 2)}
    x, labels = normal(5, 3).astype(np.float32), np.array([0, 1, 1, 0, 1])
    each = srcjax.vmap(loss, in_axes=(None, 0, 0))(params, x[:, None], labels[:, None])
    assert np.mean(each) == pytest.approx(loss(params, x, labels), rel=1e-5)
    np.testing.assert_allclose(
        srcjax.jit(nn.softmax)(x), nn.softmax(x), rtol=1e-5, atol=1e-7
    )
