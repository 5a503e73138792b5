"""Functions that are called as they are, though they say `x.at[i].set(v)`."""

import numpy as np

import srcjax
from srcjax.frontend.runnable import runnable

SIZE = 4.0


def adds_at(x):
    out = np.zeros(3)
    np.add.at(out, [0, 0], x)
    return out


def sets_at(x):
    return x.at[0].set(5.0)


def swapped(x):
    y = x.copy()
    y[0], y[3] = y[3], y[0]
    y[[1, 2]] = y[[2, 1]]
    return y @ np.arange(SIZE) + y[0] * y[1]


def test_only_what_arrays_have_not_is_asked_for_in_another_way():
    assert runnable(adds_at) is adds_at
    assert runnable(np.sin) is np.sin
    np.testing.assert_array_equal(runnable(sets_at)(np.ones(2)), [5.0, 1.0])


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
