"""`stax` and `optimizers` beside JAX's: shapes, parameters, values and gradients."""

import jax
import jax.example_libraries.optimizers
import jax.example_libraries.stax
import numpy as np
import pytest

import srcjax
import srcjax.example_libraries.optimizers
import srcjax.example_libraries.stax


@pytest.fixture(autouse=True)
def single_precision():
    """JAX draws other numbers where another test has asked for double precision."""
    with jax.enable_x64(False):
        yield


X = np.sin(np.arange(4 * 8 * 8 * 3.0)).reshape(4, 8, 8, 3).astype(np.float32)

NETWORKS = {
    "dense": "serial(Flatten, Dense(16), Relu, Dense(10), LogSoftmax)",
    "convolutions": (
        "serial(Conv(4, (3, 3), padding='SAME'), Relu, MaxPool((2, 2), strides=(2, 2)),"
        " Conv(5, (2, 2), (2, 2)), BatchNorm(), Relu, AvgPool((2, 2)), Flatten,"
        " Dense(3), Softmax)"
    ),
    "residual": (
        "serial(Conv(3, (3, 3), padding='SAME'), FanOut(2), parallel(serial(Conv(3,"
        " (3, 3), padding='SAME'), BatchNorm(), Elu), Identity), FanInSum, Relu,"
        " SumPool((2, 2)), Flatten, Dense(2))"
    ),
    "joined": (
        "serial(FanOut(2), parallel(Tanh, Gelu), FanInConcat(), Flatten, Dense(2))"
    ),
    "transposed": (
        "serial(ConvTranspose(2, (3, 3), strides=(2, 2)), Sigmoid,"
        " ConvTranspose(2, (3, 3), padding='SAME'), Flatten, Dense(1))"
    ),
    "of_shapes": "serial(shape_dependent(twice), Softplus)",
    "dropout": "serial(Flatten, Dense(16), LeakyRelu, Dropout(0.5), Dense(3), Selu)",
}
OPTIMIZERS = [
    "sgd(0.1)",
    "momentum(0.1, 0.9)",
    "nesterov(0.1, 0.9)",
    "adagrad(0.1)",
    "rmsprop(0.1)",
    "rmsprop_momentum(0.1)",
    "adam(0.1)",
    "adamax(0.1)",
    "sm3(0.1)",
    "sgd(exponential_decay(0.1, 3, 0.5))",
    "sgd(inverse_time_decay(0.1, 3, 0.5))",
    "sgd(inverse_time_decay(0.1, 3, 0.5, staircase=True))",
    "sgd(polynomial_decay(0.1, 3, 0.5))",
    "sgd(piecewise_constant([1, 3], [0.1, 0.2, 0.3]))",
]


def loss_of(apply, inputs, key):
    def loss(params):
        return (apply(params, inputs, rng=key) ** 2).sum()

    return loss


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name):
    drawn, results = [], []
    # In double precision what is 0 but for rounding is compared, too; but for dropout,
    # of which JAX draws other numbers then.
    kind = np.float32 if name == "dropout" else np.float64
    close = (2e-4, 2e-5) if name == "dropout" else (1e-9, 1e-9)
    for library in (jax, srcjax):
        stax = library.example_libraries.stax

        def twice(shape, stax=stax):
            return stax.Dense(shape[-1] * 2)

        init, apply = eval(NETWORKS[name], {**vars(stax), "twice": twice})
        key = library.random.PRNGKey(3)
        shape, params = init(key, X.shape)
        drawn.append(library.tree.leaves(params))
        with jax.enable_x64(kind is np.float64):
            drawn_by_jax = iter(drawn[0])
            params = library.tree.map(
                lambda p, values=drawn_by_jax: np.asarray(next(values), kind), params
            )
            inputs = X.astype(kind)
            loss = loss_of(apply, inputs, key)
            value = apply(params, inputs, rng=key)
            assert tuple(map(int, shape)) == np.shape(value)
            gradient = library.grad(loss)(params)
            compiled = library.jit(loss)(params)
            results.append(library.tree.leaves((value, gradient, compiled)))
    for wanted, found in zip(*drawn, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)
    for wanted, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, *close)


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_optimizers(text):
    results = []
    for library in (jax, srcjax):
        key = library.random.PRNGKey(3)
        draw = library.random.normal
        params = {"w": 0.2 * np.asarray(draw(key, (4, 3))), "b": [np.ones(3, "f")]}

        def loss(p):
            return ((np.ones((2, 4), "f") @ p["w"] + p["b"][0]) ** 4).sum()

        optimizers = library.example_libraries.optimizers
        init, update, get = eval(text, vars(optimizers).copy())
        state = init(params)
        for i in range(4):
            gradient = library.grad(loss)(get(state))
            state = update(i, optimizers.clip_grads(gradient, 1.0), state)
        again = optimizers.unpack_optimizer_state(state)
        state = optimizers.pack_optimizer_state(again)
        results.append(library.tree.leaves(get(state)))
    for wanted, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_gradients_of_another_structure():
    start, update, _ = srcjax.example_libraries.optimizers.adam(0.1)
    with pytest.raises(TypeError, match="structure"):
        update(0, {"b": np.ones(2)}, start({"a": np.ones(2)}))
