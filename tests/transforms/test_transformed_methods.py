"""Methods that a transform made (`@jit` in a class), inside of other transforms."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax import checkpoint, grad, jit, jvp, vmap

XS = np.array([1.0, 2.0])


class Model:
    def __init__(self, k):
        self.k = k

    @functools.partial(jit, static_argnums=0)
    def step(self, x, v):
        return x * x * v * self.k, v - x

    @jit
    def squared(self, x):
        return x * x * self.k

    @checkpoint
    def saved(self, x):
        return x * x * self.k

    @functools.partial(vmap, in_axes=(None, 0))
    def each(self, x):
        return x * x * self.k

    def both(self, x):
        return self.squared(x) + self.step(x, 1.0)[0]


MODEL = Model(2.0)
GRADIENTS = {
    "static": (lambda x: MODEL.step(x, 2.0)[0], 24.0),
    "method": (MODEL.squared, 12.0),
    "called": (lambda x: MODEL.squared(x), 12.0),
    "by_others": (MODEL.both, 24.0),
    "saved": (lambda x: MODEL.saved(x), 12.0),
    "of_the_class": (lambda x: Model.saved(MODEL, x), 12.0),
    "batched": (lambda x: np.sum(MODEL.each(x * XS)), 60.0),
    "bound": (functools.partial(Model.squared, MODEL), 12.0),
    "of_an_object_made_here": (lambda k: Model(k).squared(3.0), 9.0),
    "saved_of_an_object": (lambda k: Model.saved(Model(k), 3.0), 9.0),
    "batched_of_an_object": (lambda k: np.sum(Model(k).each(XS)), 5.0),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_derivatives(name):
    f, expected = GRADIENTS[name]
    assert grad(f)(3.0) == pytest.approx(expected)
    assert jvp(f, (3.0,), (1.0,)) == pytest.approx((f(3.0), expected))
    assert srcjax.vjp(f, 3.0)[1](1.0)[0] == pytest.approx(expected)
    assert jit(grad(f))(3.0) == pytest.approx(expected)
    assert vmap(grad(f))(np.array([3.0, 3.0])) == pytest.approx(expected)


def test_batches_and_second_derivatives():
    assert vmap(MODEL.squared)(XS) == pytest.approx(2 * XS**2)
    assert vmap(MODEL.both)(XS) == pytest.approx(4 * XS**2)
    assert srcjax.hessian(MODEL.squared)(3.0) == pytest.approx(4.0)


def of_first(model, x):
    return x * x * model.k


def of_second(model, x):
    return x * model.k**2


TABLE = [of_first, of_second]


def looked_up(k, i):
    return TABLE[i](Model(k), 3.0)


def test_objects_are_not_given_to_functions_that_are_not_known():
    for transformed in (
        lambda: grad(looked_up)(2.0, 0),
        lambda: jvp(looked_up, (2.0, 0), (1.0, None)),
    ):
        with pytest.raises(srcjax.errors.UnsupportedError, match="an object made here"):
            transformed()
