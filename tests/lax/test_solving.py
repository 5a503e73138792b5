"""Roots with implicit derivatives."""

import numpy as np
import pytest

import srcjax
from srcjax import lax
from tests.corpus.harness import assert_close, differences

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {
    "test_a_root_has_the_derivatives_of_its_equation": 10**9,
    "test_equations_that_are_solved_by_iteration": 10**9,
}


def bisected(f, guess):
    low, high = guess - 10.0, guess + 10.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def cube_root(a):
    return lax.custom_root(lambda x: x**3 - a, 1.0, bisected, lambda g, y: y / g(1.0))


def test_a_root_has_the_derivatives_of_its_equation():
    a, f = 2.0, cube_root
    expected = a ** (1 / 3)
    assert_close(f(a), expected)
    for power in (1 / 3, -2 / 3):
        expected *= power / a
        f = srcjax.grad(f)
        assert_close(f(a), expected, rtol=1e-6)
    third = srcjax.jvp(f, (a,), (1.0,))[1]
    assert_close(third, 10 / 27 * a ** (-8 / 3), rtol=1e-6)
    slope = a ** (-2 / 3) / 3
    assert_close(srcjax.jvp(cube_root, (a,), (1.0,))[1], slope)
    many = np.array([1.0, 2.0, 8.0])
    assert_close(srcjax.vmap(cube_root)(many), np.cbrt(many))
    assert_close(srcjax.vmap(srcjax.grad(cube_root))(many), np.cbrt(many) / many / 3)
    text = srcjax.source(srcjax.grad(cube_root), a)
    for name in ("low", "high", "middle"):  # no derivative goes through the way there
        assert f"{name}_tape" not in text and f"d{name}" not in text


def rooted(np):
    def f(a):
        def residual(x):
            return x**3 + x - a

        def solve(g, x):
            return lax.fori_loop(0, 30, lambda i, x: x - g(x) / (3 * x**2 + 1), x)

        return lax.custom_root(
            residual, np.float64(1.0), solve, lambda g, y: y / g(1.0)
        )

    return f


def test_a_root_in_a_function_that_is_given_numpy():
    """Functions inside have no cell for what only the one around them names."""
    f = rooted(srcjax.numpy)
    x = f(1.7)
    np.testing.assert_allclose(x**3 + x, 1.7)
    np.testing.assert_allclose(srcjax.grad(f)(1.7), 1 / (3 * x**2 + 1))


def test_roots_of_systems_and_what_goes_along():
    """Newton's way, to a root of two numbers in a dict."""

    def steps(f, x):
        count = 0
        while count < 30:
            r, s = f(x)["a"], f(x)["b"]
            x = {"a": x["a"] - r / 4, "b": x["b"] - s / 4}
            count += 1
        return x, count

    def solve(g, y):
        """Both equations have one unknown each."""
        ones = {"a": 1.0, "b": 1.0}
        slopes = g(ones)
        return {k: y[k] / slopes[k] for k in ("a", "b")}

    def f(p):
        def equations(x):
            return {"a": np.exp(x["a"]) - p, "b": x["b"] * (1 + p) - p}

        x, count = lax.custom_root(
            equations, {"a": 0.0, "b": 0.0}, steps, solve, has_aux=True
        )
        return x["a"] * x["b"] + 0 * count

    assert_close(f(2.0), np.log(2.0) * 2 / 3)
    assert_close(srcjax.grad(f)(2.0), differences(f, (2.0,), (0,))[0], rtol=1e-5)


def conjugate_gradients(matvec, b):
    """A solution that is there at once where there is nothing to solve."""
    x, r = np.zeros_like(b), b
    p, size = r, r @ r
    while size > 1e-28:
        q = matvec(p)
        step = size / (p @ q)
        x, r = x + step * p, r - step * q
        p, size = r + (r @ r) / size * p, r @ r
    return x


def by_root(A, b):
    """The equation reads what is differentiated, where it is defined."""

    def solve(f, guess):
        return conjugate_gradients(lambda v: f(v) - f(0 * v), -f(guess))

    return lax.custom_root(lambda x: A @ x - b, 0 * b, solve, conjugate_gradients)


def by_matvec(A, b):
    return lax.custom_linear_solve(
        lambda x: A @ x, b, conjugate_gradients, symmetric=True
    )


def curved(A):
    return np.sum(np.sin(by_matvec((A + A.T) / 2, np.array([1.0, 2.0, 3.0]))))


def curved_root(A):
    return np.sum(np.sin(by_root((A + A.T) / 2, np.array([1.0, 2.0, 3.0]))))


def curved_plain(A):
    return np.sum(np.sin(np.linalg.solve((A + A.T) / 2, np.array([1.0, 2.0, 3.0]))))


def slope(f):
    return lambda A: np.sum(srcjax.grad(f)(A) ** 2)


@pytest.mark.parametrize("f", [curved, curved_root], ids=["matvec", "root"])
def test_equations_that_are_solved_by_iteration(f):
    """Both modes, second order, and an operator for which one step is enough."""
    generic = np.array([[3.0, 0.4, 0.1], [0.4, 2.0, 0.3], [0.1, 0.3, 4.0]])
    for A in (generic, np.eye(3)):
        wanted = srcjax.grad(curved_plain)(A)
        assert_close(srcjax.grad(f)(A), wanted, rtol=1e-9)
        along = np.arange(9.0).reshape(3, 3)
        found = srcjax.jvp(f, (A,), (along,))[1]
        assert_close(found, np.sum(wanted * along), rtol=1e-9)
        second = srcjax.grad(slope(curved_plain))(A)
        assert_close(srcjax.grad(slope(f))(A), second, rtol=1e-8)


def test_linear_solutions_of_pytrees_and_what_goes_along():
    def f(p):
        def matvec(x):
            return {"a": p * x["a"], "b": np.array([2.0, 4.0]) * x["b"]}

        def solve(linear, y):
            slopes = linear({"a": 1.0, "b": np.ones(2)})
            return {k: y[k] / slopes[k] for k in ("a", "b")}, "done"

        b = {"a": p**3, "b": np.array([p, 8.0])}
        x, aux = lax.custom_linear_solve(matvec, b, solve, has_aux=True)
        assert aux == "done"
        return x["a"] * np.sum(x["b"])

    assert_close(f(3.0), 9.0 * 3.5)
    assert_close(srcjax.grad(f)(3.0), 6.0 * 3.5 + 9.0 / 2)


def test_batches_solve_once():
    """What derivatives need is made for derivatives alone."""
    many = np.array([1.0, 2.0])
    for text in (
        srcjax.source(srcjax.vmap(cube_root), many),
        srcjax.source(srcjax.jit(cube_root), 2.0),
    ):
        assert "middle" in text and "inverse" not in text
    assert_close(srcjax.vmap(cube_root)(many), np.cbrt(many))
    gradient = srcjax.grad(lambda a: np.sum(srcjax.vmap(cube_root)(a)))(many)
    assert_close(gradient, np.cbrt(many) / many / 3)
