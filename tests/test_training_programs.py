"""Second derivatives as they come in training: through steps that use gradients."""

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_gradient": 2}
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=5)


def quartic(w, x, y):
    return np.mean((x @ w - y) ** 4)


def learned_rates(rates):
    w, m = np.zeros(3), np.zeros(3)
    for t in range(3):
        _, g = srcjax.value_and_grad(quartic)(w, X, Y)
        m = 0.9 * m + g
        w = w - 0.01 * np.exp(rates[t]) * m
    return quartic(w, X, Y)


step = srcjax.value_and_grad(quartic)


def losses_along_the_way(rates):
    w = np.zeros(3)
    losses = []
    for t in range(3):
        value, g = step(w, X, Y)
        losses.append(value)
        w = w - 0.01 * rates[t] * g
    return quartic(w, X, Y) + sum(losses)


def tilted(x, a):
    return np.sum(np.exp(x) - a * x) + 0.5 * np.sum(x) ** 2


def newton(a):
    x = np.array([0.1, 0.2, -0.1])
    for _ in range(4):
        x = x - np.linalg.solve(srcjax.hessian(tilted)(x, a), srcjax.grad(tilted)(x, a))
    return np.sum(x**2)


def newton_by_rows(a):
    x = 0.1 * a
    for _ in range(3):
        g = srcjax.grad(tilted)(x, a)
        H = srcjax.jacrev(srcjax.grad(tilted))(x, a)
        x = x - np.linalg.solve(H, g)
    return np.sum(x**2)


def conjugate_gradients(b):
    def f(x):
        return np.cosh(0.3 * x) @ np.arange(3.0) + 0.5 * np.sum(x * x) - b @ x

    x = np.zeros(3)
    r = -srcjax.grad(f)(x)
    p = r
    for _ in range(2):
        q = srcjax.hvp(f, (x,), (p,))
        new = r - (r @ r) / (p @ q) * q
        x = x + (r @ r) / (p @ q) * p
        p = new + (new @ new) / (r @ r) * p
        r = new
    return f(x)


def parts_of_a_jacobian(x):
    def polar(p):
        return {"x": p["r"] * np.cos(p["t"]), "y": p["r"] * np.sin(p["t"])}

    p = {"r": x[0], "t": x[1:]}
    for _ in range(2):
        J = srcjax.jacfwd(polar)(p)
        p = {"r": p["r"] - 0.1 * np.sum(J["x"]["t"]), "t": p["t"] + 0.1 * J["y"]["r"]}
    return p["r"] * np.sum(p["t"] ** 2)


@pytest.mark.parametrize(
    "function",
    [
        learned_rates,
        losses_along_the_way,
        newton,
        newton_by_rows,
        conjugate_gradients,
        parts_of_a_jacobian,
    ],
)
def test_gradient(function):
    x = np.array([0.8, 1.1, 0.6])
    step = 1e-5
    near = [(function(x + step * d), function(x - step * d)) for d in np.eye(3)]
    wanted = np.array([(a - b) / (2 * step) for a, b in near])
    np.testing.assert_allclose(srcjax.grad(function)(x), wanted, rtol=1e-6, atol=1e-8)


def test_a_call_of_constants_first():
    """What starts as a constant carries a derivative after the first step."""
    text = srcjax.source(srcjax.grad(learned_rates), np.ones(3))
    assert "srcjax" not in text.replace("srcjax.value_and_grad(quartic)", "")
