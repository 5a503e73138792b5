"""`check_grads` passes right derivatives and fails wrong ones."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError
from srcjax.testing import check_grads

X = np.array([0.5, -1.2, 2.0])


def tanh_sum(x):
    return np.sum(np.tanh(x) * x)


def square_with(rule):
    """A square whose derivative is `rule(x, dy)`."""

    @srcjax.custom_vjp
    def square(x):
        return x * x

    def forward(x):
        return x * x, x

    def backward(x, dy):
        return (rule(x, dy),)

    square.defvjp(forward, backward)
    return square


# --- what is right passes ---------------------------------------------------------


def test_scalar_function_of_an_array():
    check_grads(tanh_sum, (X,))


def test_scalar_function_of_numbers():
    def f(x, y):
        return x * x * y + y

    check_grads(f, (1.5, 2))


def test_value_is_an_array():
    def f(A, x):
        return np.exp(A @ x)

    check_grads(f, (np.outer(X, X) / 4, X))


def test_values_and_arguments_are_pytrees():
    def f(params, scale):
        y = params["w"] * scale[0] + params["b"]
        return {"y": np.sin(y), "parts": (y * y, scale[1])}

    check_grads(f, ({"w": X, "b": 0.3}, [2.0, np.array([1.0, 2.0])]))


def test_namedtuple():
    Line = namedtuple("Line", "slope offset")

    def f(line, x):
        return line.slope * x + line.offset

    check_grads(f, (Line(2.0, 1.0), X))


@dataclass
class Normal:
    mean: float
    scale: float


def test_dataclass():
    def f(normal, x):
        return np.sum(((x - normal.mean) / normal.scale) ** 2)

    check_grads(f, (Normal(0.5, 2.0), X))


def test_second_order():
    check_grads(tanh_sum, (X,), order=2)


def test_second_order_of_an_array_value():
    def f(x, y):
        return x * np.sin(y)

    check_grads(f, (X, 0.7), order=2)


def test_second_order_of_pytrees():
    def f(params, scale):
        y = params["w"] * scale[0] + params["b"]
        return {"y": np.sin(y), "parts": (y * y, scale[1])}

    check_grads(f, ({"w": X, "b": 0.3}, [2.0, np.array([1.0, 2.0])]), order=2)


def test_third_order_of_a_polynomial():
    def cube(x):
        return x * x * x

    check_grads(cube, (1.3,), order=3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    check_grads(tanh_sum, (X.astype(dtype),))


def test_right_custom_rule():
    check_grads(square_with(lambda x, dy: 2 * x * dy), (X,))


def test_custom_rule_inside_a_function():
    square = square_with(lambda x, dy: 2 * x * dy)

    def f(x):
        return np.sum(square(np.sin(x)))

    check_grads(f, (X,))


def test_arguments_are_not_changed():
    x = X.copy()

    def f(x):
        x[0] = 2.0 * x[1]
        return np.sum(x * x)

    check_grads(f, (x,))
    np.testing.assert_array_equal(x, X)


def test_large_arguments():
    check_grads(lambda x: np.sum(np.log(x)), (np.array([1e6, 2e6]),))


# --- what is wrong fails -----------------------------------------------------------


def test_wrong_custom_rule():
    wrong = square_with(lambda x, dy: x * dy)
    with pytest.raises(AssertionError, match=r"with respect to args\[0\]") as caught:
        check_grads(wrong, (X,))
    text = str(caught.value)
    assert "derivative along" in text and "finite difference" in text
    assert "error" in text and "square" in text


def test_slightly_wrong_custom_rule():
    wrong = square_with(lambda x, dy: 2.0001 * x * dy)
    with pytest.raises(AssertionError, match="is wrong"):
        check_grads(wrong, (X,))
    check_grads(wrong, (X,), rtol=1e-3)


def test_rule_that_is_wrong_in_one_entry():
    wrong = square_with(lambda x, dy: 2 * x * dy * np.array([1.0, 1.0, 0.0]))
    with pytest.raises(AssertionError, match="is wrong"):
        check_grads(wrong, (X,))


def test_wrong_rule_inside_a_function_names_the_leaf():
    wrong = square_with(lambda x, dy: x * dy)

    def f(params):
        return np.sum(wrong(params["a"])) + np.sum(params["b"] ** 2)

    with pytest.raises(AssertionError, match=r"args\[0\]\['a'\]"):
        check_grads(f, ({"b": X, "a": X},))


def test_wrong_second_derivative():
    """A rule whose own derivative is wrong: it hides `x` from the second order."""
    square = square_with(lambda x, dy: 2 * srcjax.stop_gradient(x) * dy)
    check_grads(square, (1.5,))
    with pytest.raises(AssertionError, match=r"vjp of the derivative .* args\[0\]:"):
        check_grads(square, (1.5,), order=2)


def test_wrong_shape():
    wrong = square_with(lambda x, dy: np.sum(2 * x * dy))
    with pytest.raises(AssertionError, match="shape"):
        check_grads(wrong, (X,))


def test_wrong_dtype():
    wrong = square_with(lambda x, dy: (2 * x * dy).astype(np.float64))
    with pytest.raises(AssertionError, match="dtype float64"):
        check_grads(wrong, (X.astype(np.float32),))


def test_wrong_value():
    @srcjax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x + 1, x), lambda x, dy: (2 * x * dy,))
    with pytest.raises(AssertionError, match="another value"):
        check_grads(f, (1.5,))


# --- what cannot be checked is said --------------------------------------------------


@pytest.mark.parametrize("modes", ["fwd", ("fwd", "rev"), ("rev",)])
@pytest.mark.parametrize("order", [1, 2])
def test_modes_and_orders(modes, order):
    def f(x, y):
        return np.sin(x) * y, {"total": np.sum(x * y**2)}

    check_grads(tanh_sum, (X,), order, modes)
    check_grads(f, (X, 0.7), order, modes)


def test_third_order_in_forward_mode():
    check_grads(lambda x: x**4 * np.sin(x), (0.8,), order=3, modes="fwd", rtol=1e-4)


def tangent_with(rule):
    """A square whose tangent is `rule(x, x_dot)`."""

    @srcjax.custom_jvp
    def square(x):
        return x * x

    def tangent(primals, tangents):
        return primals[0] * primals[0], rule(primals[0], tangents[0])

    square.defjvp(tangent)
    return square


@pytest.mark.parametrize("modes", ["fwd", "rev"])
def test_wrong_tangent(modes):
    check_grads(tangent_with(lambda x, t: 2 * x * t), (X,), 1, modes)
    with pytest.raises(AssertionError, match="wrong with respect to args"):
        check_grads(tangent_with(lambda x, t: 3 * x * t), (X,), 1, modes)


def test_forward_mode_of_a_stand_in(monkeypatch):
    """The forward check, with a `jvp` by hand: right and wrong ones."""

    def jvp(f, primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), factor * x * t

    monkeypatch.setattr(srcjax, "jvp", jvp, raising=False)
    factor = 2.0
    check_grads(lambda x: x * x, (1.5,), modes="fwd")
    factor = 3.0
    with pytest.raises(AssertionError, match="jvp"):
        check_grads(lambda x: x * x, (1.5,), modes="fwd")


def test_unknown_mode():
    with pytest.raises(ArgumentError, match="no mode 'reverse'"):
        check_grads(tanh_sum, (X,), modes=("reverse",))


def test_no_mode():
    with pytest.raises(ArgumentError, match="empty"):
        check_grads(tanh_sum, (X,), modes=())


def test_order_zero():
    with pytest.raises(ArgumentError, match="order"):
        check_grads(tanh_sum, (X,), order=0)


@pytest.mark.parametrize("bad", [np.array([1, 2]), "text", True, b"bytes"])
def test_argument_without_a_derivative(bad):
    with pytest.raises(ArgumentError, match=r"args\[1\]\['n'\]"):
        check_grads(lambda x, d: x, (1.0, {"n": bad}))


def test_args_is_not_a_tuple():
    with pytest.raises(ArgumentError, match="tuple"):
        check_grads(tanh_sum, X)
