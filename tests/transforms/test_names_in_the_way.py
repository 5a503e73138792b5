"""Names of the user's that generated code needs, and methods of global arrays."""

import numpy as np

import srcjax
from srcjax.testing import check_grads

WEIGHTS = np.array([0.3, -0.7, 1.1])


def changes_a_list(values, x):
    copy = x * 2
    values[0] = values[0] * copy
    return sum(values[0]) + copy


def test_a_variable_named_copy():
    args = ([np.ones(2), 1.0], 3.0)
    assert srcjax.grad(changes_a_list, 1)(*args) == 6.0
    assert srcjax.jvp(changes_a_list, args, (None, 1.0))[1] == 6.0
    np.testing.assert_array_equal(args[0][0], [1.0, 1.0])


def from_a_global_array(x):
    total = WEIGHTS.copy()
    total += x
    return np.sum(total**2)


def test_methods_of_global_arrays():
    x, v = np.ones(3), np.array([1.0, 2.0, 3.0])
    _, tangent = srcjax.jvp(from_a_global_array, (x,), (v,))
    np.testing.assert_allclose(tangent, 2 * (WEIGHTS + x) @ v)
    _, second = srcjax.jvp(srcjax.grad(from_a_global_array), (x,), (v,))
    np.testing.assert_allclose(second, 2 * v)
    np.testing.assert_array_equal(WEIGHTS, [0.3, -0.7, 1.1])


MATRIX = np.outer(WEIGHTS, [1.0, 0.5, -0.2]) + np.eye(3)


class Model:
    matrix = MATRIX * 2.0


def products_with_global_arrays(x):
    total = WEIGHTS.dot(np.sin(x))
    rows = MATRIX.dot(x * x) + Model.matrix.dot(np.cos(x))
    return total + np.sum(rows * MATRIX.T.dot(x))


def test_products_that_are_methods_of_global_arrays():
    x, f = np.array([0.3, 0.8, 1.1]), products_with_global_arrays
    check_grads(f, (x,), order=2, modes=("rev", "fwd"))


def power(x, n):
    """x**n, in a loop, so that it gets derivative functions of its own."""
    total = 1.0
    for _ in range(n):
        if total > 1e6:
            return total
        total = total * x
    return total


def power_backward(x, scale):
    while scale > 100.0:
        scale = scale / 2.0
    y = x * scale
    return y


power_forward = power_jvp = power_batch = power_backward


def calls_their_names(x, n):
    total = 0.0
    for i in range(n):
        if total > 1e6:
            return total
        total = total + power(x, i) * power_backward(i, 2.0) * power_forward(i, 3.0)
        total = total * power_jvp(i + 1, 0.5) / power_batch(i + 2, 1.0)
    return total


def test_globals_of_a_callee_named_like_derivative_functions():
    """Calls without a differentiated argument stay calls of the user's functions."""

    def f(x):
        return calls_their_names(x, 3)

    # total = (x * 6 * (2 / 2) / 3 + x**2 * 24) * (3 / 2) / 4
    for x in (0.5, 1.5):
        assert np.isclose(srcjax.grad(f)(x), (2 + 48 * x) * 3 / 8, rtol=1e-14)
        tangent = srcjax.jvp(f, (x,), (1.0,))[1]
        assert np.isclose(tangent, (2 + 48 * x) * 3 / 8, rtol=1e-14)
        assert np.isclose(srcjax.grad(srcjax.grad(f))(x), 18, rtol=1e-14)
    xs = np.array([0.5, 1.5])
    np.testing.assert_allclose(srcjax.vmap(f)(xs), [f(0.5), f(1.5)])


def scaled_by(b):
    def update(params):
        return {"b": params["b"] * b, "b two": params["b two"] * b}

    return update


scaled = scaled_by(0.5)


def with_keys_like_names(params):
    b = params["b"] + 1
    for part in scaled({"b": b, "b two": params["b two"]}).values():
        b = b + np.sum(part)
    return np.sum(b)


def test_keys_that_are_no_names_and_names_from_around():
    params = {"b": np.ones(3), "b two": np.ones(2)}
    check_grads(with_keys_like_names, (params,), modes=("rev", "fwd"))
    assert srcjax.jit(with_keys_like_names)(params) == with_keys_like_names(params)


def reads_words(params, texts):
    def read(state, words):
        x = srcjax.nn.embedding(params["words"], words)
        return srcjax.nn.rnn_cell(params["cell"], state, x)

    start = np.zeros((len(texts), len(params["out"])))
    _, states = srcjax.lax.scan(read, start, texts.T)
    return np.sum(states @ params["out"])


def test_the_argument_of_a_function_inside_and_a_key():
    given = (np.array([[0, 1], [2, 1], [0, 0]]),)
    cell = {"w": np.eye(2), "u": np.ones((2, 2)), "b": np.zeros(2)}
    table = {"table": np.linspace(-1.0, 1.0, 6).reshape(3, 2)}
    params = {"words": table, "cell": cell, "out": np.array([1.0, -0.5])}
    check_grads(lambda *args: reads_words(*args, *given), (params,))
