"""Where a function has Python between kernels, each has to win back its compilation."""

import numpy as np
import pytest

import srcjax
from srcjax.versions.trials import at_once

pytest.importorskip("numba")


def smoothed(x):
    """A chain, and what stays Python."""
    y = np.exp(-x * x) * x + 1
    return np.abs(np.fft.fft(y)) / 2


def many_smoothed(x, w):
    """The same chain beside eigenvalues, which take most of the time."""
    w = np.linalg.eigvalsh(w @ w @ w.T)
    return smoothed(x), w


def kernels_of(f, *args):
    module = srcjax.jit(f).__srcjax_transform__.module_for(args, {})
    return sum(bool(node.decorator_list) for node in module.functions)


def test_a_chain_that_is_most_of_a_short_function_is_a_kernel():
    assert kernels_of(smoothed, np.arange(10.0)) == 1


def test_a_chain_of_few_elements_beside_much_else_is_none():
    w = np.eye(300)
    assert kernels_of(many_smoothed, np.arange(10.0), w) == 0
    assert kernels_of(many_smoothed, np.linspace(0, 1, 100000), w) == 1


def norms(xs):
    """A chain in a loop over what stays Python."""
    total = 0.0
    for x in xs:
        y = np.exp(-x * x) * x + 1
        total += np.abs(np.fft.fft(y)[0])
    return total


def test_chains_in_loops_count_as_often_as_they_run():
    x = np.arange(20.0).reshape(4, 5)
    assert kernels_of(norms, x) == 1


@pytest.mark.parametrize("size", [10, 100000])
def test_results_are_those_of_the_function(size):
    x, w = np.linspace(-1, 1, size), np.eye(3) + 0.1
    with at_once():
        found = srcjax.jit(many_smoothed)(x, w)
    for a, b in zip(found, many_smoothed(x, w), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12 * size)
