"""A physics-informed network: gradients of second derivatives, through layers."""

import numpy as np

import srcjax
from srcjax import grad, vmap
from srcjax.testing import check_grads


def network(params, x, t):
    a = np.array([x, t])
    for w, b in params[:-1]:
        a = np.tanh(a @ w + b)
    w, b = params[-1]
    return (a @ w + b)[0]


def residual(params, x, t):
    def u(x, t):
        return network(params, x, t)

    u_x, u_t = grad(u, 0)(x, t), grad(u, 1)(x, t)
    return u_t + u(x, t) * u_x - 0.01 * grad(grad(u, 0), 0)(x, t)


def loss(params, xs, ts):
    return np.mean(vmap(residual, (None, 0, 0))(params, xs, ts) ** 2)


def test_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    sizes = ((2, 3), (3, 3), (3, 1))
    params = [(rng.normal(size=s), 0.1 * rng.normal(size=s[1])) for s in sizes]
    xs, ts = np.linspace(-1.0, 1.0, 4), np.linspace(0.1, 1.0, 4)
    check_grads(lambda p: residual(p, 0.3, 0.5), (params,), order=1)
    value, found = srcjax.value_and_grad(loss)(params, xs, ts)
    np.testing.assert_allclose(value, loss(params, xs, ts))
    assert [type(layer) for layer in found] == [tuple] * 3
