"""Numbers of NumPy have the methods of arrays; those of Python have not."""

import numpy as np
import pytest

import srcjax


def in_words(x):
    v = np.log(x) * 2
    total = v.sum() + v.mean() + v.reshape(1)[0] + v.ravel()[0] + v[()] + v[None][0]
    return total + v.cumsum()[0] + v.item() + v.squeeze() * v.size


def shaped(x):
    return x + np.log(x) * len((2 * np.log(x)).shape)


def squeezed(x):
    axes = []
    if np.isscalar(x):
        axes.append(0)
    axes.append(1)
    return (np.atleast_1d(x)[None, :] * 2).squeeze(axis=tuple(axes))


@pytest.mark.parametrize("f", [in_words, shaped, squeezed])
def test_derivatives(f):
    expected = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(0.7), expected, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jvp(f, (0.7,), (1.0,))[1], expected, rtol=1e-6)


def test_single_precision():
    x = np.float32(0.7)
    _, tangent = srcjax.jvp(lambda x: np.log(x).sum(), (x,), (np.float32(1.0),))
    assert tangent.dtype == np.float32
