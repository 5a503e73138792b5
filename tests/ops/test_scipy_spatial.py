"""Distances between rows: SciPy's values, and derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError
from srcjax.testing import check_grads

distance = pytest.importorskip("scipy.spatial.distance")

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_distances": 6}

_RANDOM = np.random.default_rng(0)
ROWS = _RANDOM.random((4, 3)) + 0.2
OTHERS = _RANDOM.random((5, 3)) + 0.1
WEIGHTS = np.array([1.0, 2.0, 0.5])
INVERSE = np.linalg.inv(np.cov(ROWS.T) + np.eye(3))

METRICS = {
    "euclidean": {},
    "sqeuclidean": {},
    "cityblock": {},
    "chebyshev": {},
    "minkowski": {"p": 3},
    "cosine": {},
    "correlation": {},
    "canberra": {},
    "braycurtis": {},
    "seuclidean": {"V": WEIGHTS},
    "mahalanobis": {"VI": INVERSE},
    "euclidean weighted": {"w": WEIGHTS},
    "sqeuclidean weighted": {"w": WEIGHTS},
    "cityblock weighted": {"w": WEIGHTS},
    "minkowski weighted": {"p": 1.5, "w": WEIGHTS},
    "canberra weighted": {"w": WEIGHTS},
}


def to_others(x, metric, more):
    return np.sin(distance.cdist(x, OTHERS, metric, **more))


def to_themselves(x, metric, more):
    return np.exp(-(distance.cdist(x, x, metric, **more) ** 2))


def pairs(x, metric, more):
    return np.cos(distance.pdist(x, metric, **more))


def in_a_square(x, metric, more):
    return distance.squareform(distance.pdist(x, metric, **more)) ** 2


@pytest.mark.parametrize("f", [to_others, to_themselves, pairs, in_a_square])
@pytest.mark.parametrize("name", METRICS)
def test_distances(name, f):
    metric, more = name.split()[0], METRICS[name]

    def distances(x):
        return f(x, metric, more)

    value = srcjax.vjp(distances, ROWS)[0]
    np.testing.assert_allclose(value, distances(ROWS), atol=1e-12)
    check_grads(distances, (ROWS,), 1, ("rev", "fwd"), rtol=1e-4)


def test_a_kernel_of_rows_and_themselves():
    """A row is at the distance 0 from itself, which has no slope."""

    def kernel(x, length):
        return np.exp(-distance.cdist(x, x) / length)

    check_grads(kernel, (ROWS, 0.7), 2, ("rev", "fwd"), rtol=1e-4)
    batch = np.stack([ROWS, 2 * ROWS])
    mapped = srcjax.vmap(lambda x: kernel(x, 0.7))(batch)
    np.testing.assert_allclose(mapped, [kernel(x, 0.7) for x in batch])


def test_squares_and_rows():
    def there_and_back(x):
        return distance.squareform(distance.squareform(x) ** 2) * x

    x = np.arange(1.0, 7.0)
    np.testing.assert_allclose(srcjax.vjp(there_and_back, x)[0], x**3)
    check_grads(there_and_back, (x,), 1, ("rev", "fwd"), rtol=1e-5)
    with pytest.raises(ValueError, match="pairs of rows"):
        srcjax.vjp(there_and_back, np.arange(1.0, 6.0))


def test_metrics_without_a_formula():
    with pytest.raises(NoRuleError, match="metric without a formula"):
        srcjax.vjp(lambda x: distance.cdist(x, OTHERS, "jensenshannon"), ROWS)
