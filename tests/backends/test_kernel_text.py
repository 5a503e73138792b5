"""What Numba is given for a kernel."""

import numpy as np
import pytest

pytest.importorskip("numba")

from srcjax.backends.kernel_text import file_text  # noqa: E402

KERNEL = """
@kernel
def f_kernel(x):
    m = -np.inf
    for i in range(len(x)):
        x_i = x[i]
        m = x_i if x_i > m or x_i != x_i else m
    y = np.empty(len(x))
    z = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        y[i] = np.exp(x[i]) + m
    return y, z
"""


def test_words():
    text = file_text(KERNEL)
    assert "y = on_large_pages(np.empty(len(x)))" in text
    assert "z = cleared(np.empty(len(x), np.float32))" in text
    assert "m = larger(m, x_i)" in text
    assert "y[i] = exp_(x[i]) + m" in text


def test_large_pages_are_those_of_new_arrays():
    from srcjax.backends.kernel_words import LARGE, cleared, on_large_pages

    for size in (3, LARGE // 8 - 1, LARGE // 8, LARGE):
        array = np.full(size, np.nan)
        assert on_large_pages(array) is not None and np.isnan(array).all()
        np.testing.assert_array_equal(cleared(array), np.zeros(size))
