"""Distributions of vectors, and density estimates, of scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import composite_of
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 3

stats = pytest.importorskip("scipy.stats")

#: "fwd" as soon as there is forward mode.
MODES = ("rev", "fwd") if hasattr(srcjax, "jvp") else ("rev",)

rng = np.random.default_rng(5)
MEAN = rng.normal(size=3)
FACTOR = rng.normal(size=(3, 3))
COVARIANCE = FACTOR @ FACTOR.T + np.eye(3)
POINTS = rng.normal(size=(2, 4, 3))
CHANCES = np.array([0.2, 0.3, 0.5])
ALPHA = np.array([1.5, 2.0, 0.7])


@pytest.mark.parametrize("method", ["logpdf", "pdf"])
@pytest.mark.parametrize("x", [POINTS[0, 0], POINTS[0], POINTS], ids=np.ndim)
def test_multivariate_normal(x, method):
    function = getattr(stats.multivariate_normal, method)
    definition = composite_of(function)
    np.testing.assert_allclose(
        definition(x, MEAN, COVARIANCE), function(x, MEAN, COVARIANCE)
    )

    def f(x, mean, factor):
        return function(x, mean, factor @ factor.T + np.eye(3))

    check_grads(f, (x, MEAN, FACTOR), 2 if x.ndim == 1 else 1, MODES)


def test_multivariate_normal_of_a_diagonal():
    function = stats.multivariate_normal.logpdf
    variances = np.array([1.0, 2.0, 0.5])
    check_grads(lambda x, v: function(x, MEAN, v), (POINTS[0], variances), 1, MODES)
    check_grads(lambda x, v: function(x, MEAN, v), (POINTS[0], 1.7), 1, MODES)
    check_grads(lambda x: function(x), (MEAN,), 1, MODES)  # three numbers
    for x in (np.array([0.3, -0.4]), np.array([[0.3], [-0.4]])):
        np.testing.assert_allclose(composite_of(function)(x), function(x))


def test_multivariate_normal_of_a_covariance_that_may_be_singular():
    function = stats.multivariate_normal.logpdf

    def f(x, covariance):
        return function(x, MEAN, covariance, allow_singular=True)

    check_grads(lambda x: f(x, COVARIANCE), (POINTS[0, 0],), 1, MODES)
    with pytest.raises(ValueError, match="singular"):
        srcjax.grad(f)(MEAN, np.ones((3, 3)))


def test_entropy():
    function = stats.multivariate_normal.entropy
    definition = composite_of(function)
    np.testing.assert_allclose(definition(MEAN, COVARIANCE), function(MEAN, COVARIANCE))
    check_grads(lambda a: function(MEAN, a @ a.T + np.eye(3)), (FACTOR,), 2, MODES)


def test_dirichlet():
    points = rng.dirichlet(ALPHA, size=5).T
    for name in ("logpdf", "pdf"):
        function = getattr(stats.dirichlet, name)
        definition = composite_of(function)
        for x in (CHANCES, points, points[:2]):
            np.testing.assert_allclose(definition(x, ALPHA), function(x, ALPHA))

        def f(z, alpha):
            e = np.exp(z)
            return function(e / np.sum(e, axis=0), alpha)  # noqa: B023

        check_grads(f, (np.log(points), ALPHA), 2, MODES, rtol=1e-5, atol=1e-5)
    for wrong in (np.array([0.2, 0.3, 0.6]), np.array([-0.2, 0.7, 0.5])):
        with pytest.raises(ValueError, match="sum to 1"):
            definition(wrong, ALPHA)


def test_multinomial():
    counts = np.array([[1, 2, 3], [0, 0, 6], [1, 1, 1]])
    for name in ("logpmf", "pmf"):
        function = getattr(stats.multinomial, name)
        np.testing.assert_allclose(
            composite_of(function)(counts, 6, CHANCES), function(counts, 6, CHANCES)
        )

        def f(z):
            e = np.exp(z)
            return function(counts[:2], 6, e / np.sum(e))  # noqa: B023

        check_grads(f, (np.log(CHANCES),), 2, MODES)
    gradient = srcjax.grad(lambda p: stats.multinomial.logpmf(counts[0], 6, p))
    np.testing.assert_allclose(gradient(CHANCES), counts[0] / CHANCES)


@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_kde(dimensions, weighted):
    data = rng.normal(size=20) if dimensions == 1 else rng.normal(size=(2, 20))
    kde = stats.gaussian_kde(data, weights=rng.uniform(size=20) if weighted else None)
    x = rng.normal(size=5) if dimensions == 1 else rng.normal(size=(2, 5))
    for method in (kde.logpdf, kde.pdf, kde.evaluate):
        np.testing.assert_allclose(composite_of(method)(x), method(x))
    check_grads(lambda x: kde.logpdf(x), (x,), 1, MODES)
    check_grads(lambda x: kde.pdf(x), (x,), 1, MODES)
    if dimensions == 2:
        np.testing.assert_allclose(composite_of(kde.pdf)(x[:, 0]), kde.pdf(x[:, 0]))


def test_densities_of_one_point_are_numbers():
    """SciPy leaves out all axes of one item, of points with one coordinate too."""

    def one(a):
        y = np.array([0.4])
        return stats.multivariate_normal.logpdf(y, np.array([a]), np.array([[a]]))

    def row(a):
        y = np.array([[0.4, 0.1]])
        return stats.multivariate_normal.logpdf(y, np.zeros(2), a * np.eye(2))

    def shares(a):
        x = np.array([[0.4], [0.6]])
        return stats.dirichlet.logpdf(x, np.array([a, 2.0]))

    for f in (one, row, shares):
        check_grads(f, (1.3,), 1, MODES)


def test_ranks_carry_no_derivative():
    x = np.array([0.3, -1.0, 2.0, 0.5])
    found = srcjax.grad(lambda x: np.sum(stats.rankdata(x) * x))(x)
    np.testing.assert_array_equal(found, [2, 1, 4, 3])
