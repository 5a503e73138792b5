"""`p = step(p)` in loops, where `step` writes to what it gets and gives it back."""

import numpy as np
import pytest

import srcjax


def step(p, u):
    old = p.copy()
    p[1:-1] = old[2:] * u[1:-1]
    return p


def both(p, u):
    p[1:] += p[:-1] * u[1:]
    u[:-1] -= p[1:]
    return p, u


def of_an_argument(u, p):
    for _ in range(2):
        p = step(p, u)
    return np.sum(p**2)


def two_arguments(u, p):
    for _ in range(2):
        p, u = both(p, u)
    return np.sum(u**2) + p @ u


def augmented(u, p):
    for _ in range(2):
        q = p
        q *= u
        p = q
        u = u * 2 - p
    return np.sum(u**2)


def made_anew(u, p):
    r = p * 2
    for _ in range(3):
        r = step(r, u)
        u = u * 2 - r
        r = r + u
    return np.sum(u**2)


def twice_in_a_trip(u, p):
    r, i = p.copy(), 0
    while i < 3:
        r = step(step(r, u), u)
        u, i = u - r, i + 1
    return np.sum(u**2) + r @ r


def by_a_view(u, p):
    x = p.copy()
    for _ in range(2):
        q = x[1:]
        q[0] = q[1] * u[0]
        x = np.append(q * 2, u[0])
    return np.sum(x**2)


def in_a_branch(u, p):
    x = p.copy()
    for k in range(2):
        q = x
        q[0] = q[1] * u[0]
        x = x + 1.0 if k else q
    return np.sum(x**3)


@pytest.mark.parametrize(
    "f",
    [of_an_argument, two_arguments, augmented, made_anew]
    + [twice_in_a_trip, by_a_view, in_a_branch],
)
def test_what_is_given_back_keeps_its_adjoint(f):
    rng = np.random.default_rng(3)
    u, p, du, dp = rng.normal(size=(4, 5))
    found = srcjax.grad(f, (0, 1))(u, p)
    h = 1e-6
    slope = (f(u + h * du, p + h * dp) - f(u - h * du, p - h * dp)) / (2 * h)
    assert found[0] @ du + found[1] @ dp == pytest.approx(slope, rel=1e-5)
