"""Whole numbers among the arguments of `vjp` and `jvp`."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError


def power(x, n):
    y = x
    for _ in range(n - 1):
        y = y * x
    return y if isinstance(n, int) else -y


def picked(x, at):
    return x[at].sum()


def test_an_int_stays_an_int_in_vjp():
    y, pullback = srcjax.vjp(power, 2.0, 3)
    assert (y, pullback(1.0)) == (8.0, (12.0, 0.0))


def test_an_int_stays_an_int_in_jvp():
    assert srcjax.jvp(power, (2.0, 3), (1.0, 0)) == (8.0, 12.0)


@pytest.mark.parametrize("at", [[0, 0, 1], [True, False, True]])
def test_arrays_of_whole_numbers_and_flags_are_held(at):
    x, at = np.arange(3.0), np.array(at)
    y, pullback = srcjax.vjp(picked, x, at, check=True)
    assert y == picked(x, at)
    dx, zero = pullback(1.0)
    np.testing.assert_array_equal(dx, srcjax.grad(picked)(x, at))
    assert zero.shape == at.shape and not zero.any()
    tangents = np.ones(3), np.zeros(3)
    assert srcjax.jvp(picked, (x, at), tangents) == (y, dx.sum())


def test_ints_in_containers_stay_ints():
    p = {"x": 2.0, "n": 3, "at": np.arange(2)}
    f = lambda p: power(p["x"], p["n"]) + p["at"].sum() * p["x"]  # noqa: E731
    y, pullback = srcjax.vjp(f, p)
    assert y == f(p)
    (dp,) = pullback(1.0)
    assert (dp["x"], dp["n"]) == (13.0, 0.0)
    assert not dp["at"].any()


def test_ints_stay_ints_inside_of_transforms():
    def both(x):
        y, pullback = srcjax.vjp(power, x, 3)
        return y + pullback(1.0)[0]

    xs = np.array([2.0, 3.0])
    np.testing.assert_array_equal(srcjax.vmap(both)(xs), [20.0, 54.0])
    assert srcjax.grad(both)(2.0) == 24.0


def test_the_pullback_beside_ints_can_be_transformed():
    _, pullback = srcjax.vjp(lambda n, x: n * x * x, 3, 2.0)
    np.testing.assert_array_equal(srcjax.vmap(pullback)(np.arange(2.0))[1], [0, 12])


def test_ints_alone_are_real_numbers():
    assert srcjax.vjp(lambda n: n * n, 3)[1](1.0) == (6.0,)
    assert srcjax.value_and_grad(lambda x, n: x * n, argnums=1)(2.0, 3) == (6.0, 2.0)


def test_a_real_number_that_is_asked_whether_it_is_an_int_is_refused():
    f = lambda n: n * 2 if isinstance(n, int) else n * 3  # noqa: E731
    assert srcjax.value_and_grad(f)(3.0) == (9.0, 3.0)
    for taken in (
        lambda: srcjax.value_and_grad(f)(3),
        lambda: srcjax.vmap(lambda x: x * srcjax.grad(f)(3))(np.ones(2)),
        lambda: srcjax.grad(lambda n: n * (type(n) is int))(3),
    ):
        with pytest.raises(ArgumentError, match="asks whether a number is an int"):
            taken()


def test_what_is_the_same_of_ints_and_floats_may_be_asked():
    f = lambda n: n * 2 if isinstance(n, (int, float)) else n.sum()  # noqa: E731
    assert srcjax.grad(f)(3) == 2.0
