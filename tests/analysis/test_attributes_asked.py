"""`hasattr` and `type` of what is differentiated or mapped."""

import numpy as np
import pytest

import srcjax


class Body:
    def __init__(self, x):
        self.x = x
        self.energy = x * x


class Plain:
    def __init__(self, x):
        self.x = x


class Perhaps:
    def __init__(self, x):
        self.x = x
        if x > 0:
            self.energy = x * 5


def energy_of(state):
    return state.energy if hasattr(state, "energy") else state.x * 3


def one_of_two(x):
    states = [Plain(x), Plain(2 * x)]
    states[0].energy = x * x
    return sum(energy_of(s) for s in states)


def later(x):
    state, total = Plain(x), 0.0
    for i in range(3):
        if hasattr(state, "cache"):
            total = total + state.cache
        state.cache = x * (i + 1)
    return total


def default(x):
    return getattr(Plain(x), "energy", x * 7)


def made_of_its_class(x):
    return type(Plain(x))(type(x)(x) * 2).x


FUNCTIONS = [
    lambda x: energy_of(Body(x)),
    lambda x: energy_of(Plain(x)),
    lambda x: energy_of(Perhaps(x)),
    *(one_of_two, later, default, made_of_its_class),
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("x", [1.5, -2.0])
def test_attributes_that_are_there_sometimes(f, x):
    value, slope = srcjax.value_and_grad(f)(x)
    assert value == f(x)
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)


@pytest.mark.parametrize("f", [*FUNCTIONS[:2], default, made_of_its_class])
def test_no_loop_is_needed_where_it_is_known(f):
    xs = np.array([1.5, -2.0])
    np.testing.assert_array_equal(srcjax.vmap(f)(xs), [f(x) for x in xs])
