"""Items of lists of numbers at places that differ between the examples of a batch."""

import warnings

import numpy as np
import pytest

import srcjax

X = np.array([[0.47, 1.0, 0.2, -0.3], [-0.3, 2.0, 0.9, 0.1], [1.3, -0.2, 0.05, 2.0]])


def between_knots(x):
    knots, values = [-1.0, 0.0, 0.5, 1.0, 3.0], (0, 1.0, -1.0, 2.0, 5.0)
    i = 0
    while i < len(knots) - 2 and x[0] > knots[i + 1]:
        i += 1
    t = (x[0] - knots[i]) / (knots[i + 1] - knots[i])
    return values[i] * (1 - t) + values[i + 1] * t


def followed(x):
    after = [2, 0, 3, 1]
    i = int(np.argmax(x))
    total = 0.0
    for _ in range(3):
        i = after[i]
        total = total + x[i] ** 2
    return total


def from_the_end(x):
    return (1.0, 2.0, 4.0)[-1 if x[0] > 0.2 else 0] * x[1]


def grown(x):
    table = []
    for i in range(4):
        table.append(i * 0.5)
    k = int(np.argmax(x))
    return table[k] * x[k]


def of_rows(x):
    rows = [np.ones(4), np.arange(4.0), np.array([0.0, 1.0, 0.0, 2.0])]
    return rows[int(x[0] > 0.3) + int(x[1] > 0.5)] @ x


def rows_written(x):
    rows = [np.ones(4), np.full(4, 2.0)]
    row = rows[int(x[0] > 0.3)]
    row[0] = x[1]
    return rows[0] @ x + rows[1] @ x


def numbers_of_the_example(x):
    table = [x[0], x[1] * 2, 1.0]
    return table[int(x[0] > 0.3) + int(x[1] > 0.5)] * x[2]


LOOPS = [rows_written, numbers_of_the_example]
TABLES = [between_knots, followed, from_the_end, grown, of_rows]


@pytest.mark.parametrize("f", [*TABLES, *LOOPS], ids=lambda f: f.__name__)
def test_items(f):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = srcjax.vmap(f)(X)
        gradients = srcjax.vmap(srcjax.grad(f))(X)
    np.testing.assert_allclose(found, [f(x) for x in X])
    steps = 1e-6 * np.eye(4)
    slopes = [[(f(x + d) - f(x - d)) / 2e-6 for d in steps] for x in X]
    np.testing.assert_allclose(gradients, slopes, rtol=1e-6, atol=1e-9)
    assert any("in a loop" in str(w.message) for w in caught) == (f in LOOPS)


def test_out_of_range():
    def f(x):
        return [1.0, 2.0][int(x[0] > 0.3) + int(x[1] > 0.5)] * x[1]

    with pytest.raises(IndexError):
        srcjax.vmap(f)(X)


def test_the_text():
    text = srcjax.source(srcjax.vmap(followed), X)
    assert "i = np.array(after)[i]" in text
