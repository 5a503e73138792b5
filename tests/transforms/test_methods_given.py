"""Methods of objects, and functions made here, given to functions as arguments."""

import functools

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import srcjax
from srcjax import grad, jit, jvp, testing


class Model:
    def __init__(self, k):
        self.k = k

    def scaled(self, x, by=1.0):
        return x * self.k * by

    def residual(self, x):
        return x * x - self.k

    def __call__(self, x):
        return x * self.k**2

    def integral(self):
        return scipy.integrate.quad(self.scaled, 0.0, 1.0)[0] * self.k


def doubled(f, x):
    return f(x) * 2.0


def squared(f, x):
    return f(x) ** 2


def called_in_place(k):
    return doubled(Model(k).scaled, 3.0) + squared(Model(k), 2.0)


def root(k):
    return scipy.optimize.brentq(Model(k).residual, 0.0, 5.0)


def integral(k):
    return Model(k).integral()


def vectorized(k):
    return np.sum(np.vectorize(Model(k).scaled)(np.ones(3)))


def kept(k):
    f = Model(k).scaled
    return f(2.0) + f(x=3.0, by=k)


def of_several(k):
    methods = [Model(k).scaled, Model(2.0 * k).scaled, Model(k)]
    return sum(f(2.0) for f in methods)


def in_a_dict(k):
    table = {"a": Model(k).scaled, "b": Model(k)}
    return sum(f(2.0) for f in table.values())


def mapped(k):
    return sum(map(Model(k).scaled, [1.0, k]))


PROGRAMS = [
    called_in_place,
    root,
    integral,
    vectorized,
    kept,
    of_several,
    in_a_dict,
    mapped,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    testing.check_grads(f, (2.0,))
    assert jit(f)(2.0) == pytest.approx(f(2.0))


TABLE = [doubled, squared]
UNKNOWN = {
    "lambda": lambda k, i: TABLE[i](lambda x: x * k, 3.0),
    "method": lambda k, i: TABLE[i](Model(k).scaled, 3.0),
    "object": lambda k, i: TABLE[i](Model(k), 3.0),
    "partial": lambda k, i: TABLE[i](functools.partial(np.multiply, k), 3.0),
    "of_several": lambda k, i: TABLE[i]([lambda x: x * k, Model(k)][i], 3.0),
    "one_of_several": lambda k, i: TABLE[i]([lambda x: x * k, lambda x: x + k][i], 3.0),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_functions_that_are_not_known_get_nothing_that_hides_a_derivative(name):
    f = UNKNOWN[name]
    with pytest.raises(srcjax.errors.UnsupportedError, match="when the program runs"):
        grad(f)(2.0, 0)
    with pytest.raises(srcjax.errors.SrcjaxError):
        jvp(f, (2.0, 0), (1.0, None))


def test_functions_that_hold_no_derivative_are_given():
    def f(k, i):
        return TABLE[i](lambda x: x * 2.0, k)

    assert grad(f)(2.0, 0) == 4.0
    assert jvp(f, (2.0, 1), (1.0, None)) == (16.0, 16.0)


@srcjax.checkpoint
def saved(f, x, model=None):
    return f(x) * (x if model is None else model.k)


@srcjax.custom_jvp
def with_rule(f, x):
    return f(x)


@with_rule.defjvp
def _with_rule_tangent(primals, tangents):
    return with_rule(*primals), 2.0 * tangents[1]


def test_checkpoints_are_given_functions_and_objects():
    assert grad(lambda k: saved(lambda x: x * k, 3.0))(2.0) == 9.0
    assert grad(lambda k: saved(Model(k).scaled, 3.0))(2.0) == 9.0
    assert grad(lambda k: saved(np.sqrt, 4.0, model=Model(k)))(2.0) == 2.0


def test_rules_have_nothing_of_what_a_function_holds():
    with pytest.raises(srcjax.errors.UnsupportedError, match="whose rule has nothing"):
        grad(lambda k: with_rule(lambda x: x * k, 3.0))(2.0)
