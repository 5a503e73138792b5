"""`odeint`: values of JAX's, derivatives by differences and in closed form."""

import jax
import jax.experimental.ode
import numpy as np
import pytest

import srcjax
from srcjax.experimental.ode import odeint
from tests.corpus.harness import assert_close

Y0, T = np.array([1.0, 2.0]), np.linspace(0.0, 3.0, 5)


def eaten(y, t, a):
    prey, hunters = y[0], y[1]
    return np.stack([a * prey - prey * hunters, prey * hunters - 0.9 * hunters])


def loss(y0, t, a):
    return np.sum(odeint(eaten, y0, t, a) ** 2)


def differences(f, x, step=1e-5):
    return np.array(
        [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))]
    )


def test_values_are_those_of_jax():
    with jax.enable_x64(True):

        def theirs(**options):
            def slope(y, t, a):
                return jax.numpy.stack(
                    [a * y[0] - y[0] * y[1], y[0] * y[1] - 0.9 * y[1]]
                )

            return np.asarray(
                jax.experimental.ode.odeint(
                    slope, Y0, jax.numpy.array(T), 1.1, **options
                )
            )

        for options in ({}, {"rtol": 1e-4, "atol": 1e-5}, {"hmax": 0.05}):
            found = odeint(eaten, Y0, T, 1.1, **options)
            assert_close(found, theirs(**options), rtol=1e-12)
    loose = odeint(lambda y, t: -y, Y0.astype(np.float32), T, rtol=1e-4, atol=1e-4)
    assert loose.dtype == np.float32


def test_gradients_of_start_times_and_arguments():
    dy0, dt, da = srcjax.grad(loss, (0, 1, 2))(Y0, T, 1.1)
    assert_close(dy0, differences(lambda y: loss(y, T, 1.1), Y0), rtol=1e-5)
    assert_close(dt, differences(lambda t: loss(Y0, t, 1.1), T), rtol=1e-5)
    tangent = srcjax.jvp(lambda a: loss(Y0, T, a), (1.1,), (1.0,))[1]
    assert_close(tangent, da)
    text = srcjax.source(srcjax.grad(loss), Y0, T, 1.1)
    assert "runtime" not in text and "np.outer(stages[-1]" in text


def decayed(rate):
    return np.sum(odeint(lambda y, t: -rate * y, 1.0, T))


def test_second_derivatives_of_what_is_read_from_around():
    found, wanted = decayed, lambda r: np.exp(-r * T)
    for order in range(3):
        assert_close(found(0.5), np.sum((-T) ** order * wanted(0.5)), rtol=1e-6)
        found = srcjax.grad(found)


def swung(p):
    def slope(state, t, k):
        return {"x": state["v"], "v": -k * state["x"]}

    return odeint(slope, {"x": p["x"], "v": p["v"]}, T, p["k"])


def test_states_are_trees():
    """Two pendulums: `x'' = -k x`."""
    p = {"k": 2.0, "x": np.array([1.0, 0.5]), "v": np.zeros(2)}
    found = swung(p)
    wanted = np.cos(np.sqrt(2.0) * T)[:, None] * p["x"]
    assert_close(found["x"], wanted, rtol=1e-6, atol=1e-7)
    assert found["v"].shape == (5, 2)
    d = srcjax.grad(lambda p: np.sum(swung(p)["x"]))(p)
    assert_close(d["x"], np.full(2, np.sum(np.cos(np.sqrt(2.0) * T))), rtol=1e-6)
    slower = -np.sin(np.sqrt(2.0) * T) * T / (2 * np.sqrt(2.0)) * np.sum(p["x"])
    assert_close(d["k"], np.sum(slower), rtol=1e-6)


def test_batches_have_steps_of_their_own():
    many = np.stack([Y0, 2 * Y0])
    found = srcjax.vmap(loss, (0, None, None))(many, T, 1.1)
    assert_close(found, np.array([loss(Y0, T, 1.1), loss(2 * Y0, T, 1.1)]))


def test_what_is_not_reached_is_an_error():
    with pytest.raises(RuntimeError, match="3 steps do not reach t = 0.75"):
        odeint(eaten, Y0, T, 1.1, mxstep=3)
    with pytest.raises(RuntimeError, match="do not reach"):
        odeint(lambda y, t: y * np.nan, Y0, T)
    with pytest.raises(TypeError, match="int64"):
        odeint(eaten, Y0, np.arange(3), 1.1)
