"""What a number of an example decides, where its type is not known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax

scale = 1.5


def corner(y):
    value = float(1 + np.mean(np.tanh(y)))
    if value == 0:
        return float("inf")
    return value ** (-len(y) - 1)


def scaled(y):
    return scale * corner(y)


def one_sided(y):
    value = float(np.mean(y))
    if value <= 0:
        return 2.0 * value
    return value ** (-len(y) - 1)


def scaled_one_sided(y):
    return scale * one_sided(y)


def counted(x, n):
    y = x
    while n:
        y = y * 2
        n = n - 1
    return y


@pytest.mark.parametrize("f", [corner, scaled])
def test_powers_that_differ(f):
    y = np.array([[0.4, 0.5, 0.6], [0.8, 1.0, 1.2]])
    expected = [srcjax.grad(f)(each) for each in y]
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(f))(y), expected)


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
def test_a_count_of_one_side_is_there_for_some(signs):
    """What the other side saves is None: a count differs between examples."""
    y = np.array([[0.4, 0.5, 0.6], [0.8, 1.0, 1.2]]) * np.reshape(signs, (2, 1))
    gradient = srcjax.grad(scaled_one_sided)
    np.testing.assert_allclose(srcjax.vmap(gradient)(y), [gradient(v) for v in y])


@pytest.mark.parametrize("kind", [bool, int, float, np.uint8])
def test_a_number_is_a_mask_and_no_place(kind):
    x, n = np.array([1.0, 2.0, 3.0, -4.0]), np.array([0, 1, 0, 1]).astype(kind)
    expected = [counted(a, b) for a, b in zip(x, n.astype(float), strict=True)]
    np.testing.assert_allclose(srcjax.vmap(counted)(x, n), expected)
    slopes = srcjax.vmap(srcjax.grad(counted))(x, n)
    np.testing.assert_allclose(slopes, 2.0 ** n.astype(float))


def doubled(t, v):
    while t < 10:
        t = t * 2
        v = v + 1
    return v * t


def one_of_two(t, v):
    return v * np.sum(t) if t >= 3.0 else v / 2


@pytest.mark.parametrize("f", [doubled, one_of_two])
@pytest.mark.parametrize("shape", [(3, 1), (3, 1, 1)])
def test_an_array_of_one_item_is_a_test(f, shape):
    t, v = np.array([2.0, 4.0, 5.0]).reshape(shape), np.arange(9.0).reshape(3, 3)
    expected = [f(a, b) for a, b in zip(t, v, strict=True)]
    np.testing.assert_array_equal(srcjax.vmap(f)(t, v), expected)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
def test_a_list_from_around_that_has_changed():
    """Its type is what all lists that it was have in common: nothing is known of it."""
    seen = [1.0]

    def both(x):
        if seen and x[0] > 0:
            return x[0] * len(seen)
        return x[1] ** 2

    def first(x):
        n = seen and x[0]
        return n * 2 if n else x[1]

    batch = np.array([[0.5, 1.0], [-0.3, 2.0], [0.1, 0.4]])
    for f in (both, first):
        batched, gradients = srcjax.vmap(f), srcjax.vmap(srcjax.grad(f))
        for change in (lambda: None, lambda: seen.append(2.0), seen.clear):
            change()
            if f is first and not seen:  # the list itself where an example has numbers
                continue
            np.testing.assert_allclose(batched(batch), [f(x) for x in batch])
            expected = [srcjax.grad(f)(x) for x in batch]
            np.testing.assert_allclose(gradients(batch), expected)
        seen.append(1.0)
