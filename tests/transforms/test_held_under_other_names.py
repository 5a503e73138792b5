"""What a container holds has names of its own, through which it is written to.

Where any item of a container may be read, all items hold batches, whoever wrote them.
"""

import numpy as np
import pytest

import srcjax

GRID = np.array([[1.0, 2.0], [3.0, 4.0]])
EXAMPLES = np.array([[0.3, 0.4], [1.0, 2.0]])


class Layer:
    def __init__(self, w):
        self.w, self.x = w, None


def objects(p):
    layers = [Layer(p[0]), Layer(p[1])]
    first = layers[0]
    first.x = GRID
    second = layers[1]
    second.x = GRID * p[0]
    some = layers[len(layers) - 2]
    return np.sum(some.x[0]) * some.w


def objects_with_names(p):
    a, b = Layer(1.0), Layer(2.0)
    layers = [a, b]
    b.x = GRID * p[0]
    a.x = GRID + 1
    total = 0.0
    for k in range(2):
        total = total + np.sum(layers[-1 - k].x[0]) * layers[k].w
    return total * p[1]


def dicts(p):
    a, b = {"x": GRID}, {"x": GRID}
    rows = [a, b]
    b["x"] = GRID * p[0]
    a["x"] = GRID + 1
    row = rows[len(rows) - 2]
    return np.sum(row["x"][0]) * p[0]


def lists_in_a_dict(p):
    a, b = [GRID], [GRID]
    rows = {0: a, 1: b}
    b[0] = GRID * p[0]
    a[0] = GRID + 1
    row = rows[len(rows) - 2]
    return np.sum(row[0][0]) * p[0]


@pytest.mark.parametrize(
    "program", [objects, objects_with_names, dicts, lists_in_a_dict]
)
def test_batches(program):
    found = srcjax.vmap(program)(EXAMPLES)
    np.testing.assert_allclose(found, [program(p) for p in EXAMPLES])
