"""`max` and `min` of tuples and lists, which Python compares as wholes."""

import numpy as np
import pytest

import srcjax
from srcjax import testing

V = np.array([0.3, 1.2, 0.7, 1.1])


def of_pairs(v):
    pairs = [(x * x, k) for k, x in enumerate(v)]
    return max(pairs)[0]


def of_lists(v):
    rows = [[v[0], v[1]], [v[2], v[3]], [v[0] * v[3], 1.0]]
    return min(rows)[1]


def best_so_far(v):
    best = (-1.0, None)
    for k in range(4):
        best = max(best, (v[k] ** 2, k))
    return best[0]


def behind(v):
    best = (v[0], v[1])
    for k in range(3):
        best = min((v[k] + 0.1, v[k + 1]), best, (0.5, v[0]))
    return best[0] * best[1]


def generated(v):
    return max((x * 2, x**2) for x in v)[1] * min([x, x**3] for x in v)[1]


@pytest.mark.parametrize("f", [of_pairs, of_lists, best_so_far, behind, generated])
def test_the_one_picked_has_the_adjoint(f):
    testing.check_grads(f, (V,), order=2)
    assert srcjax.jit(f)(V) == pytest.approx(f(V))


def test_the_text_picks_as_python_does():
    text = srcjax.source(srcjax.grad(best_so_far), V)
    assert "if condition:\n            best = " in text
