"""Functions that are called as they are, though they say `x.at[i].set(v)`."""

import inspect

import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.frontend.runnable import runnable

SIZE = 4.0


def adds_at(x):
    out = np.zeros(3)
    np.add.at(out, [0, 0], x)
    return out


def sets_at(x):
    return x.at[0].set(5.0)


def set_by_another(x):
    while x[0] < 5:
        x = sets_at(x * 2)
    return x


def left_alone(x):
    inspect.signature(sets_at)  # what no kernel has
    return lax.fori_loop(0, 2, lambda i, v: sets_at(v), x)


def swapped(x):
    y = x.copy()
    y[0], y[3] = y[3], y[0]
    y[[1, 2]] = y[[2, 1]]
    return y @ np.arange(SIZE) + y[0] * y[1]


def test_only_what_arrays_have_not_is_asked_for_in_another_way():
    assert runnable(adds_at) is adds_at
    assert runnable(np.sin) is np.sin
    np.testing.assert_array_equal(runnable(sets_at)(np.ones(2)), [5.0, 1.0])


def test_functions_called_by_one_that_is_left_alone_are_given_arrays():
    x = np.ones((2, 2))
    np.testing.assert_array_equal(srcjax.jit(left_alone)(x[0]), [5.0, 1.0])
    with pytest.warns(srcjax.errors.PerformanceWarning):
        found = srcjax.vmap(set_by_another)(x)
    np.testing.assert_array_equal(found, [[5.0, 2.0]] * 2)


def test_what_was_written_rests_on_what_is_around(monkeypatch):
    compiled = srcjax.jit(srcjax.grad(swapped))
    x = np.array([0.1, -0.1, 0.6, 1.1])
    compiled(x)
    monkeypatch.setitem(globals(), "SIZE", 5.0)
    try:
        found = compiled(x)
    except ValueError:
        return
    raise AssertionError(f"{found} for sizes that do not fit")
