"""Names of the user's that generated code needs, and methods of global arrays."""

import numpy as np

import srcjax

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
