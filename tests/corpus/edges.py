"""Corners: empty, zero-dimensional, tied, unused, constant, shared, float32."""

import numpy as np

from .registry import normal, program


@program(np.zeros((0,)))
def sum_of_nothing(x):
    return np.sum(x**2)


@program(np.zeros((0, 3)), normal(3))
def empty_batch(x, w):
    return np.sum(np.tanh(x @ w)) + w @ w


@program(np.array(0.7))
def zero_dimensional_array(x):
    return x * np.sin(x)


@program(np.array(0.7), normal(3))
def zero_dimensional_broadcast(scale, x):
    return scale[()] * x + scale


@program(np.float64(0.7))
def numpy_number(x):
    return x**2 + 1


@program(0.7, 0)
def loop_with_no_trips(x, n):
    y = x
    for _ in range(n):
        y = y * 2 + x
    return y * y


@program(-0.7)
def while_with_no_trips(x):
    y = x
    while y > 0:
        y = y - 1
    return y * x


@program([], argnums=0)
def loop_over_empty_list(values):
    total = 1.0
    for value in values:
        total = total * value
    return total


@program(normal(3), [], argnums=0)
def network_without_layers(x, layers):
    for weights, bias in layers:
        x = np.tanh(x @ weights + bias)
    return np.sum(x**2)


@program(1.0, 1.0, smooth=False, expected=(0.5, 0.5), jax=lambda x, y: x / 2 + y / 2)
def tie_of_maximum(x, y):
    return np.maximum(x, y)


@program(
    np.array([2.0, 1.0, 2.0]),
    smooth=False,
    expected=(np.array([0.5, 0.0, 0.5]),),
)
def tie_of_max(x):
    return np.max(x)


# JAX gives 1.0 here, as at every x >= 0.
@program(0.0, smooth=False, expected=(0.0,), jax=False)
def absolute_value_at_zero(x):
    return np.abs(x) + x**2


@program(np.zeros(3), smooth=False, expected=(np.zeros(3),), jax=False)
def norm_at_zero(x):
    return np.linalg.norm(x)


@program(0.0, smooth=False, expected=(1.0,))
def branch_at_its_boundary(x):
    """The derivative is that of the branch taken."""
    if x >= 0:
        return x
    return 0.0 * x


@program(0.0)
def power_at_zero(x):
    return x**2 + (x + 1) ** 0 + x**1


@program(0.7, 2.0)
def unused_argument(x, y):
    return x * x


@program(normal(3), normal(2), {"a": 1.0, "b": normal(2)})
def unused_parts(x, y, params):
    return x[0] * params["a"]


@program(0.7)
def output_is_the_input(x):
    return x


@program(normal(3), jax=True)
def output_array_is_the_input(x):
    return x


@program(0.7)
def output_is_constant(x):
    return 3.0


@program(0.7)
def output_is_constant_in_a_branch(x):
    if x > 0.5:
        return 1.5
    return x


@program(0.7)
def argument_returned_twice(x):
    return x, x


@program(normal(3))
def parts_of_the_input_returned(x):
    return x[0], x, x[1:]


@program(0.7, 1.7)
def container_of_arguments_returned(x, y):
    return [x, (y, x), {"z": y}]


def _twice_the_same():
    x = normal(3)
    return x, x


@program(make=_twice_the_same)
def same_array_for_two_parameters(x, y):
    return x @ np.sin(y)


@program(make=_twice_the_same, jax=False)
def same_array_twice_changed_in_one(x, y):
    z = x * 1.0
    z[0] = y[1]
    return z @ y


def _same_array_inside():
    w = normal(2, 2)
    return ([w, w], normal(2, seed=1))


@program(make=_same_array_inside)
def same_array_twice_in_a_list(weights, x):
    for w in weights:
        x = np.tanh(w @ x)
    return x.sum()


@program(0.7)
def branch_never_taken(x):
    if x > 100:
        y = np.frobnicate(x)  # only an error if it is run
        return y
    return x**3


@program(0.7, 0)
def recursion_of_depth_zero(x, n):
    if n == 0:
        return x * x
    return x * recursion_of_depth_zero(x, n - 1)


@program(normal(3).astype(np.float32), np.float32(0.5))
def single_precision(x, scale):
    y = np.tanh(x * scale) * 2
    return y.sum()


@program(normal(2, 3).astype(np.float32), normal(3))
def mixed_precision(x, w):
    return np.sum((x @ w) ** 2) + x.mean()


@program(normal(4).astype(np.float32), jax=False)
def single_precision_in_place(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1] * x[1:]
    y += 0.5
    return y @ x


@program(3, argnums=0)
def python_integer(x):
    return x**2 + 1.5 * x


@program([1, 2.5], argnums=0)
def python_integers_in_a_list(values):
    return values[0] * values[1] ** 2


@program(0.7)
def integer_output_of_a_branch(x):
    y = 0
    if x > 0:
        y = y + x
    return y * x


@program(normal(1))
def array_of_one_element(x):
    return x[0] ** 2 + x


@program(normal(3, 1), normal(3, seed=1))
def column_times_flat(x, y):
    """(3, 1) times (3,) is (3, 3), which may or may not be what was meant."""
    return x * y


@program(0.7)
def assigned_to_itself(x):
    x = x
    y = x
    y = y
    return y + 0 + 1 * y


@program(0.7, True, None, "name", argnums=0)
def many_inactive_arguments(x, flag, nothing, name, *rest, scale=2.0):
    return x * scale if flag and nothing is None and not rest else x * len(name)


@program(0.7)
def nothing_but_pass(x):
    def nothing():
        pass

    nothing()
    return x * x


@program(1e-8)
def large_and_small_numbers(x):
    return 1e8 * x * (x + 1e8) * 1e-8


@program(0.7)
def very_long_expression(x):
    return (
        x * x * x + x * x - x * np.sin(x * np.cos(x * np.exp(-x * x))) / (1 + x * x)
    ) * ((x + 1) * (x + 2) * (x + 3) / ((x + 4) * (x + 5) * (x + 6))) - np.log(
        1 + np.exp(x * (x - 1) * (x + 1))
    ) ** 2


@program(normal(3), np.array([True, False, True]), np.array([2, 1, 0]))
def boolean_and_integer_arrays_beside(x, mask, order):
    return np.sum(x[mask]) * x[order][0] + mask @ x
