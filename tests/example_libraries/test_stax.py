"""Networks that are put together from pairs of functions, and their optimisers."""

import numpy as np

import srcjax
from srcjax import random
from srcjax.example_libraries import optimizers, stax
from tests.corpus.harness import assert_close, differences


def test_a_network_with_branches_is_trained():
    init, predict = stax.serial(
        stax.FanOut(2),
        stax.parallel(stax.serial(stax.Dense(3), stax.Relu), stax.Identity),
        stax.FanInSum,
        stax.Dropout(0.9),
        stax.Dense(1),
    )
    key = random.key(1)
    shape, params = init(key, (-1, 3))
    assert shape == (-1, 1)
    params = srcjax.tree.map(lambda p: p.astype(float), params)
    x = np.sin(np.arange(6.0)).reshape(2, 3)

    def loss(params):
        return np.sum(predict(params, x, rng=key) ** 2)

    gradient = srcjax.grad(loss)(params)
    expected = differences(loss, (params,), (0,))[0]
    for found, wanted in zip(
        srcjax.tree.leaves(gradient), srcjax.tree.leaves(expected), strict=True
    ):
        assert_close(found, wanted, rtol=1e-5)
    start, update, params_of = optimizers.momentum(0.1, 0.5)
    state = start(params)
    for i in range(2):
        state = update(i, srcjax.grad(loss)(params_of(state)), state)
    moved = params[-1][0] - 0.1 * gradient[-1][0]
    second = srcjax.grad(loss)(params_of(update(0, gradient, start(params))))
    moved = moved - 0.1 * (0.5 * gradient[-1][0] + second[-1][0])
    assert_close(params_of(state)[-1][0], moved)


def pair(x, **kwargs):
    key = kwargs.pop("key", None)
    keys = (None, None) if key is None else np.arange(2.0)
    for f, w, k in zip(FUNCTIONS, WEIGHTS, keys):  # noqa: B905
        x = f(w, x) if k is None else f(w, x) + k
    return x


FUNCTIONS = (lambda w, x: w * x, lambda w, x: np.tanh(w + x))
WEIGHTS = [0.5, np.array([0.1, 0.2])]


def test_functions_beside_lists_and_arrays():
    x = np.array([0.3, -0.4])
    for options in ({}, {"key": 1}):

        def f(x, options=options):
            return np.sum(pair(x, **options))

        assert_close(srcjax.grad(f)(x), differences(f, (x,), (0,))[0], rtol=1e-6)
