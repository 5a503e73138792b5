"""Words that a person would use: means, counts, axes that come back."""

import numpy as np
import pytest

import srcjax

X = np.linspace(-1.0, 1.5, 6).reshape(3, 2)


def centred(x):
    return np.sum((x - x.mean(axis=0)) ** 3)


def centred_as_a_whole(x):
    return np.sum((x - np.mean(x)) ** 3)


def by_another_size(x):
    return np.sum((x - np.sum(x, axis=0) / 2) ** 3)


def nearest(x):
    total = 0.0
    for p in (0.2, 1.3):
        distances = np.sum((x - p) ** 2, axis=1)
        total += np.min(distances)
    return total


def along_the_last(x):
    return np.sum(np.sum((x[:, None, :] - x[None] ** 2) ** 2, axis=2) ** 2)


@pytest.mark.parametrize(
    "f, there, gone",
    [
        (centred, ".mean(axis=0)\n", "ddifference.sum("),
        (centred_as_a_whole, ".mean()\n", "ddifference.sum("),
        (by_another_size, ".sum(axis=0) / 2", ".mean("),
        (nearest, "(distances == min_distances) / np.sum(", "1.0 *"),
        (along_the_last, "[:, :, None]", "expand_dims"),
    ],
)
def test_words(f, there, gone):
    text = str(srcjax.source(srcjax.grad(f), X))
    assert there in text and gone not in text, text
    steps = 1e-6 * np.eye(6).reshape(6, 3, 2)
    differences = [(f(X + s) - f(X - s)) / 2e-6 for s in steps]
    gradient = srcjax.grad(f)(X).ravel()
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)


def test_counts_are_added_as_they_are():
    def total(a, n):
        t = 0.0
        for i in range(n):
            t += a * i
        return t

    text = str(srcjax.source(srcjax.grad(total), 1.0, 4))
    assert "da += i\n" in text
    assert type(srcjax.grad(total)(1.0, 4)) is float
