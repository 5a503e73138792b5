"""Values of which only a run tells whether they are numbers, arrays or containers.

The functions that make arrays are shaped after those of colour-science.
"""

import json
from collections.abc import KeysView, ValuesView

import numpy as np
import pytest

import srcjax

ALWAYS = True
FLOAT = np.float64


def optional(value, default):
    if value is None:
        return default
    return value


def as_array(a, dtype=None):
    if isinstance(a, (KeysView, ValuesView)):
        a = list(a)
    return np.asarray(a, dtype)


def as_float_array(a, dtype=None):
    dtype = optional(dtype, FLOAT)
    return as_array(a, dtype)


def as_float(a, dtype=None):
    dtype = optional(dtype, FLOAT)
    if isinstance(a, np.ndarray) and a.size == 1 and a.ndim != 0:
        return as_float_array(a, dtype)
    return dtype(a)


def power_of(a, p):
    a = as_float_array(a)
    p = as_float_array(p)
    power = np.sign(a) * np.abs(a) ** p
    return as_float(0 if power.ndim == 0 and np.isnan(power) else power)


def adapted(factor, q):
    factor = as_float_array(factor)
    q = as_float_array(q)
    scaled = factor * q / 100
    return 45.0 * factor * power_of(scaled, -0.58) / (27 + power_of(scaled, 0.42)) ** 2


def curve(a):
    a = as_float_array(a).copy()
    raised = power_of(a / 2.0, 1 / 2.4) - 0.1
    return as_float(as_float_array(raised))


def curve_back(a):
    a = as_float_array(a).copy()
    low = a < 0.02
    found = np.where(low, a / 4.5, power_of((a + 0.099) / 1.099, 1 / 0.45))
    return as_float(as_float_array(found))


def there_and_back(a):
    a = as_float_array(a)
    return curve_back(curve(a / 10)) / 59


@pytest.mark.parametrize("f, args", [(adapted, (0.9, 0.8)), (there_and_back, (0.9,))])
def test_second_derivatives_of_what_may_be_a_container(f, args):
    df = srcjax.grad(f, argnums=tuple(range(len(args))))
    ones = (1.0,) * len(args)
    near = [np.array(df(*(a + h for a in args))) for h in (1e-5, -1e-5)]
    want = (near[0] - near[1]) / 2e-5
    np.testing.assert_allclose(srcjax.jvp(df, args, ones)[1], want, rtol=1e-6)
    back = srcjax.vjp(df, *args)[1](ones)
    np.testing.assert_allclose(np.sum(back), np.sum(want), rtol=1e-6)


def alone(x, shape):
    a = np.sin(np.reshape(x, json.loads(shape)))
    b = 2.0 * a
    a += b * x
    b *= a
    return np.sum(np.exp(a) * a * b)


def in_a_loop(x, shape):
    a = np.sin(np.reshape(x, json.loads(shape)))
    c = 0.5 * a
    for _ in range(2):
        a += c * a
        c *= a + 0.5
    return np.sum(a * c)


def held_twice(x, shape):
    a = np.sin(np.reshape(x, json.loads(shape)))
    held = {"a": a}
    a += a * x
    return np.sum(np.exp(a) * a * held["a"])


def difference(f, x, shape):
    return np.sum(f(x + 1e-6, shape) - f(x - 1e-6, shape)) / 2e-6


@pytest.mark.parametrize("f", [alone, in_a_loop, held_twice])
def test_update_of_an_array_of_which_no_axes_are_known(f):
    x = np.array([0.7, 0.4])
    want = difference(f, x, "[2]")
    np.testing.assert_allclose(np.sum(srcjax.grad(f)(x, "[2]")), want, rtol=1e-7)
    along = srcjax.jvp(lambda x: f(x, "[2]"), (x,), (np.ones(2),))[1]
    np.testing.assert_allclose(along, want, rtol=1e-7)


@pytest.mark.parametrize("f", [alone, in_a_loop])
def test_update_of_a_number_that_may_have_been_an_array(f):
    want = difference(f, 0.7, "[]")
    np.testing.assert_allclose(srcjax.grad(f)(0.7, "[]"), want, rtol=1e-7)


def test_update_of_a_number_that_something_holds():
    """`np.sin` of an array without axes is a number: the dict keeps the old one."""
    for derive in (srcjax.grad, srcjax.value_and_grad):
        with pytest.raises(TypeError, match="changes a float64 in place"):
            derive(held_twice)(0.7, "[]")
    with pytest.raises(TypeError, match="changes a float64 in place"):
        srcjax.jvp(lambda x: held_twice(x, "[]"), (0.7,), (1.0,))
