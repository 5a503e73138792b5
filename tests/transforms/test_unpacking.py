"""`head, rest = rest`: one name for what is taken apart and for a part of it."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import differences

X = np.array([0.7, 1.3, 0.4])


def pairs_down_to_none(x):
    links = None
    for i in range(3):
        links = (x[i], links)
    total = 1.0
    while links is not None:
        head, links = links
        total = total * (head + total)
    return total


def pairs_of_known_depth(x):
    links = (x[0], (x[1], (x[2], 1.5)))
    total = 0.0
    for _ in range(3):
        head, links = links
        total = total * x[0] + head * head
    return total * links


def rest_with_a_star(x):
    head, *rest = x
    total = head
    while len(rest) > 0:
        head, *rest = rest
        total = total * head + head
    return total


@pytest.mark.parametrize(
    "f", [pairs_down_to_none, pairs_of_known_depth, rest_with_a_star]
)
def test_gradient(f):
    np.testing.assert_allclose(
        srcjax.grad(f)(X), differences(f, (X,), (0,))[0], rtol=1e-5
    )
