"""A function that calls itself fills what it is given: in all that is made of it."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

XS = np.array([0.7, 0.3, -0.9])


def fill(a, k, x):
    if k == 0:
        return
    a[k - 1] = x
    fill(a, k - 1, x * 1.5)


def fill_after(a, k, x):
    if k == 0:
        return
    fill_after(a, k - 1, x)
    a[k - 1] = x * k + np.sum(a)


def fill_by_sign(a, k, x):
    if k == 0:
        return
    if x > 0:
        a[k - 1] = 1.0
    fill_by_sign(a, k - 1, x)


def fill_halves(a, low, high, x):
    if high - low <= 1:
        if high > low:
            a[low] = x * low
        return
    middle = (low + high) // 2
    fill_halves(a, low, middle, x)
    fill_halves(a, middle, high, x + 1)


def ping(a, k, x):
    if k == 0:
        return
    a[k - 1] = x
    pong(a, k - 1, x * 2)


def pong(a, k, x):
    if k == 0:
        return
    ping(a, k - 1, x * x)


def grow(xs, k, x):
    if k == 0:
        return
    xs.append(x * k)
    grow(xs, k - 1, x)


def enter(d, k, x):
    if k == 0:
        return
    d["a"][k - 1] = x
    d["n"] = k * x
    enter(d, k - 1, x)


def an_array(x):
    a = np.zeros(3)
    fill(a, 3, x)
    return np.sum(a * a)


def first_deeper(x):
    a = np.zeros(3)
    fill_after(a, 3, x)
    return a[0] * a[2]


def a_view(x):
    a = np.zeros(4)
    b = a[1:]
    fill(b, 2, x)
    fill(a, 2, x * x)
    return np.sum(b * a[1:]) + a[0]


def in_a_loop(x):
    a = np.zeros(4)
    total = 0.0
    for i in range(3):
        fill(a, 3, x + i)
        total = total + np.sum(a * a)
    return total


def in_a_branch(x):
    a = np.zeros(3)
    if x > 0:
        fill(a, 3, 1.0)
    return np.sum(a) * x


def by_a_test(x):
    a = np.zeros(3)
    fill_by_sign(a, 3, x)
    return np.sum(a) * x


def both_halves(x):
    a = np.zeros(5)
    fill_halves(a, 0, 5, x)
    return np.sum(a * a)


def in_turns(x):
    a = np.zeros(5)
    pong(a, 5, x)
    return np.sum(a * a)


def a_list(x):
    xs = []
    grow(xs, 3, x)
    return xs[0] * xs[1] + xs[2]


def a_dict(x):
    d = {"a": np.zeros(3), "n": 0.0}
    enter(d, 3, x)
    return np.sum(d["a"] ** 2) * d["n"]


def an_item(x):
    xs = [np.zeros(3), np.ones(3)]
    fill(xs[1], 2, x)
    return np.sum(xs[1] * xs[1]) + np.sum(xs[0])


PROGRAMS = [
    an_array, first_deeper, a_view, in_a_loop, in_a_branch, by_a_test, both_halves,
    in_turns, a_list, a_dict, an_item,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_each_example_has_its_own(f):
    np.testing.assert_allclose(srcjax.vmap(f)(XS), [f(x) for x in XS])


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_tangent_is_filled(f):
    for x in XS:
        wanted = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        got = srcjax.jvp(f, (x,), (1.0,))[1]
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_reverse_mode_is_right_or_loud(f):
    try:
        got = srcjax.grad(f)(0.7)
    except UnsupportedError:
        return
    assert got == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)


def overwritten(v, k):
    if k == 0:
        return v.sum()
    v[0] = 0.5 * k
    return overwritten(v, k - 1)


def scaled(v, k):
    if k == 0:
        return v.sum()
    v[0] *= v[-1]
    return scaled(v, k - 1)


@pytest.mark.parametrize("recursion", [overwritten, scaled])
def test_what_it_overwrites_is_put_back_for_the_gradient(recursion):
    def f(x):
        v = x * 2
        squares = v * v  # needs what `v` held
        return np.sum(squares) + recursion(v, 2)

    step = 1e-6 * np.eye(3)
    wanted = [(f(XS + e) - f(XS - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.grad(f)(XS), wanted, rtol=1e-6)
