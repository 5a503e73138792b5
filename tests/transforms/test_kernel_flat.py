"""`a.flat[i] = v` writes to `a` however it lies in memory, under `jit` too."""

import numpy as np
import pytest

import srcjax
from srcjax.versions.trials import at_once

pytest.importorskip("numba")

LAYOUTS = {
    "C": lambda: np.arange(6.0).reshape(2, 3),
    "F": lambda: np.arange(6.0).reshape(2, 3).T,
    "strided": lambda: np.arange(16.0).reshape(4, 4)[::2, ::-2],
}


def written(a, b):
    """Items and slices of two arrays and of a new one."""
    a.flat[2] += 5
    places = b.flat
    places[1:3] = 7.0
    c = a * 2
    c.flat[::2] = b.flat[::2]
    return c + 1, places[0]


def seen_through_a_view(a, b):
    """What is written is read by the other names of the memory."""
    c = a * 2
    t = a.T
    t.flat[1] = 5.0
    return b * 1 + c, np.sum(t), a.ravel()


@pytest.mark.parametrize("f", [written, seen_through_a_view])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("again", [False, True])
def test_flat(f, layout, again):
    compiled = srcjax.jit(f)
    made = LAYOUTS[layout]
    with at_once():
        compiled(LAYOUTS["C"](), LAYOUTS["C"]())
        a = made()
        b = a if again else made()
        found = compiled(a, b)
    c = made()
    d = c if again else made()
    expected = f(c, d)
    for x, y in zip([*found, a, b], [*expected, c, d], strict=True):
        np.testing.assert_array_equal(x, y)
