"""Filters and transforms of SciPy: the value is SciPy's, and so are all derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

pytest.importorskip("scipy")

from .scipy_calls import CALLS  # noqa: E402

#: Those of all calls run where SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_value_and_derivatives": 10**9, "test_batch": 10**9}


def loss_of(function, fixed):
    """The function as a sum of squares of all that it gives, with the rest fixed."""

    def loss(*varying):
        y = function(*varying, **fixed)
        if isinstance(y, tuple):
            return np.sum(y[0] ** 2) + np.sum(y[1] ** 3)
        return np.sum(y**2)

    return loss


@pytest.mark.parametrize(
    "name", ["lfilter", "convolve1d", "dct_2_forward", "idst_3_None"]
)
def test_some(name):
    function, varying, fixed = CALLS[name]
    loss = loss_of(function, fixed)
    value, _ = srcjax.value_and_grad(loss)(*varying)
    np.testing.assert_allclose(value, loss(*varying), rtol=1e-10)
    check_grads(loss, varying, 1, ("rev", "fwd"))


@pytest.mark.parametrize("name", CALLS)
def test_value_and_derivatives(name):
    function, varying, fixed = CALLS[name]
    loss = loss_of(function, fixed)
    value, _ = srcjax.value_and_grad(loss)(*varying)
    np.testing.assert_allclose(value, loss(*varying), rtol=1e-10)
    check_grads(loss, varying, 2, ("rev", "fwd"), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_batch(name):
    """Of what is filtered, and of all that varies."""
    function, varying, fixed = CALLS[name]

    def call(*varying):
        return function(*varying, **fixed)

    batch = [np.stack([v, 1.1 * v, 0.9 * v]) for v in varying]
    expected = [call(*(b[i] for b in batch)) for i in range(3)]
    found = srcjax.vmap(call)(*batch)
    if isinstance(found, tuple):
        found, expected = found[0], [each[0] for each in expected]
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["lfilter", "correlate1d_wrap", "dct_2_None", "savgol"]
)
def test_single_precision_stays(name):
    function, varying, fixed = CALLS[name]
    single = [v.astype(np.float32) for v in varying]
    gradient = srcjax.grad(loss_of(function, fixed))(*single)
    assert gradient.dtype == np.float32


@pytest.mark.parametrize(
    "name", ["gaussian_gradient_magnitude", "gaussian_laplace", "laplace"]
)
def test_no_axis(name):
    ndimage = pytest.importorskip("scipy.ndimage")
    rest = () if name == "laplace" else (0.4,)
    function = getattr(ndimage, name)
    value, slope = srcjax.value_and_grad(lambda x: function(x, *rest) * 1.0)(0.7)
    assert value == function(0.7, *rest) and slope == 1.0
