"""Conversions to a dtype that is known only when the program runs."""

import json

import numpy as np
import pytest

import srcjax

ALWAYS = True
X = np.array([0.3, 0.5, 0.8])
ALONG = np.array([1.0, 2.0, -1.0])


def vector_of(v, dtype=np.float64):
    """That of spatialmath: symbols keep their own dtype."""
    wanted = dtype
    if isinstance(v, (list, tuple)):
        if json.loads("false"):
            wanted = None
        return np.array(v, dtype=wanted)
    if json.loads("true"):
        wanted = None
    return np.asarray(v, dtype=wanted)


def of_a_list(x):
    a = vector_of([x[0], x[1] * 2, 1.0])
    return np.sum(a**2 * np.arange(3))


def of_an_array(x):
    a = vector_of(x)
    a = a * a
    return np.sum(a**2 * np.arange(3))


def converted(x, name="float64"):
    dtype = np.dtype(json.loads(json.dumps(name)))
    return np.sum(x.astype(dtype) * x)


def in_a_common_type(x):
    dtype = np.common_type(x, X[:1])
    return np.sum(np.array(x, dtype) ** 3)


def in_a_loop(x):
    kinds = json.loads('["float64", "float64"]')
    for kind in kinds:
        x = np.sin(np.asarray(x, kind)) * x
    return np.sum(x)


def stored(x, name="float64"):
    if json.loads("true"):
        table = np.zeros((2, 3), np.dtype(json.loads(json.dumps(name))))
    else:
        table = np.zeros((2, 3))
    table[0] = x
    table[-1, :2] = x[1:] * x[0]
    return np.sum(table * table)


@pytest.mark.parametrize(
    "f", [of_a_list, of_an_array, converted, in_a_common_type, in_a_loop, stored]
)
def test_derivatives(f):
    df = srcjax.grad(f)
    slope = (f(X + 1e-6 * ALONG) - f(X - 1e-6 * ALONG)) / 2e-6
    np.testing.assert_allclose(df(X) @ ALONG, slope, rtol=1e-7)
    np.testing.assert_allclose(srcjax.jvp(f, (X,), (ALONG,))[1], slope, rtol=1e-7)
    curved = (df(X + 1e-6 * ALONG) - df(X - 1e-6 * ALONG)) / 2e-6
    np.testing.assert_allclose(srcjax.hvp(f, (X,), (ALONG,)), curved, rtol=1e-6)


@pytest.mark.parametrize("f", [of_a_list, of_an_array, converted])
def test_batches(f):
    df = srcjax.grad(f)
    rows = np.stack([df(X), df(2 * X)])
    got = srcjax.vmap(df)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(got, rows, rtol=1e-12)


@pytest.mark.parametrize("f", [converted, stored])
@pytest.mark.parametrize("name", ["int64", "bool", "uint8"])
def test_whole_numbers_are_refused_when_it_runs(f, name):
    for derive in (
        lambda: srcjax.grad(f)(X, name),
        lambda: srcjax.jvp(lambda x: f(x, name), (X,), (ALONG,)),
    ):
        with pytest.raises(TypeError, match=f"of the dtype {name}"):
            derive()


def test_a_dtype_that_types_tell_needs_no_check():
    def told(x, dtype):
        return np.sum(np.asarray(x, dtype) ** 2)

    assert "refuse" not in srcjax.source(srcjax.grad(told), X, np.float64)
