"""The user's functions that are given shapes and dtypes of differentiated arrays."""

import numpy as np
import pytest

from srcjax.testing import check_grads


def cleared(shape, dtype=None):
    dtype = np.float64 if dtype is None else dtype
    return np.zeros(shape, dtype)


def wide(dtype):
    kinds = {"f": np.float64, "i": np.float64}
    return kinds[np.dtype(dtype).kind]


def moved(x, which):
    for k in range(3):
        if k == which:
            x = x * 1.0
        elif k > 7:
            x = [x]
    return x


def into_what_a_helper_made(x):
    h = cleared(x.shape)
    h[0] = x[0]
    return np.sum(h * x)


def of_values_without_a_type(x):
    r = moved(x, 1)
    h, g = cleared(len(r)), cleared(np.shape(r), wide(r.dtype))
    h[1], g[0] = r[0], r[2]
    return np.sum(h * r + g * g)


@pytest.mark.parametrize("f", [into_what_a_helper_made, of_values_without_a_type])
def test_what_a_helper_makes_is_written_to(f):
    check_grads(f, (np.array([0.3, 0.8, 1.1]),), order=2, modes=("rev", "fwd"))
