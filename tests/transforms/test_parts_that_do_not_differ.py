"""A part of a container that is the same for all examples, beside one that differs."""

import numpy as np
import pytest

import srcjax


def both(x):
    return np.array([2.0, 3.0, 5.0]), x * 2


def an_array(x):
    w = both(x)[0]
    total = w[1] * w[2]
    for i in range(3):
        total = total + w[0] * w[1]
        if x[i] < 0:
            w = np.cumsum(x)
            break
    return total + w[0]


def a_number(x):
    first = (1.5, x)[0]
    for i in range(3):
        if x[i] < 0:
            break
        first = first * x[i]
    return first


X = np.array([[0.5, -1.0, 2.0], [-0.3, 0.2, -0.1], [1.0, 0.4, 0.7]])


@pytest.mark.parametrize("f", [an_array, a_number])
def test_the_part_becomes_a_batch(f):
    np.testing.assert_allclose(srcjax.vmap(f)(X), [f(x) for x in X])


def of_the_size_of_an_example(x):
    return (np.broadcast_to(LEVELS[:, None], x.shape).copy(),)


def placed_in_containers(x):
    return {"shape": [np.ones(x.shape) * 2.0, x], "size": len(x) * 1.5}


LEVELS = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("f", [of_the_size_of_an_example, placed_in_containers])
def test_results_that_ask_an_example_for_its_size(f):
    batch = np.random.default_rng(0).uniform(size=(4, 3, 2))
    found, expected = srcjax.vmap(f)(batch), [f(x) for x in batch]
    if isinstance(found, tuple):
        np.testing.assert_array_equal(found[0], np.stack([e[0] for e in expected]))
        return
    for k in range(2):
        parts = np.stack([e["shape"][k] for e in expected])
        np.testing.assert_array_equal(found["shape"][k], parts)
    np.testing.assert_array_equal(found["size"], np.full(4, 4.5))


def levels(x):
    return np.sum(LEVELS * np.sum(x, axis=1))


def test_a_gradient_that_is_the_same_for_all_examples():
    batch = np.ones((4, 3, 2))
    (found,) = srcjax.vmap(srcjax.grad(lambda x: levels(x), argnums=(0,)))(batch)
    expected = np.broadcast_to(LEVELS[:, None], (4, 3, 2))
    np.testing.assert_array_equal(found, expected)
