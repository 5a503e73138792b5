"""Calls that `vmap` makes once for each example, whatever they give."""

import warnings

import numpy as np
import pytest

import srcjax
from srcjax.errors import PerformanceWarning

numba = pytest.importorskip("numba")


@numba.njit
def elements(t, d):
    return 286.13, t * d, 84.0 + 14.0 * d


@numba.njit
def squared(t):
    return t * t


def several(t, d):
    return elements(t, d)


def twice_over(t, d):
    return 2 * elements(t, d)


def among_others(t, d):
    return {"all": elements(t, d), "sine": np.sin(t)}


def one_of_them(t, d):
    return elements(t, d)[1] * d + squared(t)


def with_a_matrix(t, d):
    return np.asmatrix(np.array([[t, d], [d, 1.0]])), t * d


def flat(result):
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result)]
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in flat(item)]
    return [np.asarray(result)]


@pytest.mark.parametrize(
    "function", [several, twice_over, among_others, one_of_them, with_a_matrix]
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_calls_whose_result_is_not_known(function):
    ts, ds = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7, 0.9])
    columns = zip(
        *[flat(function(t, d)) for t, d in zip(ts, ds, strict=True)], strict=True
    )
    expected = [np.stack(column) for column in columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        found = flat(srcjax.vmap(function)(ts, ds))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other)
