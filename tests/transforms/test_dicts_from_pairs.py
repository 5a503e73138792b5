"""Dicts made of pairs, in functions that are called: each pair is put in."""

import numpy as np
import pytest

import srcjax


def by_zip(x):
    d = dict(zip("abc", x, strict=False))
    return d["a"] * d["c"] ** 2


def by_names(x):
    d = dict(zip(["a", "b", "c"], x, strict=False))
    return sum(v**2 for v in d.values())


def by_loop(x):
    d = {}
    for key, value in zip("abc", x, strict=False):
        d[key] = value
    return sum(d.values()) * d["a"]


def by_numbers(x):
    d = dict(enumerate(x))
    return d[0] * d[2] ** 2


def in_place_of_the_item(x):
    d = {}
    for d["last"] in x:  # noqa: B007
        pass
    return d["last"] ** 2


FUNCTIONS = [by_zip, by_names, by_loop, by_numbers, in_place_of_the_item]


@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), np.arange(1.0, 4.0)])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_called_and_as_they_are(f, x):
    def called(x):
        return f(x)

    steps = 1e-6 * np.eye(3)
    at = np.arange(1.0, 4.0)
    expected = [(f(list(at + e)) - f(list(at - e))) / 2e-6 for e in steps]
    for g in (f, called):
        np.testing.assert_allclose(srcjax.grad(g)(x), expected, rtol=1e-6)
        for k, e in enumerate(np.eye(3)):
            dot = e if isinstance(x, np.ndarray) else type(x)(e.tolist())
            value, derivative = srcjax.jvp(g, (x,), (dot,))
            assert value == pytest.approx(f(x))
            assert derivative == pytest.approx(expected[k])
        assert srcjax.jit(g)(x) == pytest.approx(f(x))
