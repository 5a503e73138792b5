"""Which functions give floats, whatever they are given: found by asking them."""

import numpy as np
import pytest

import srcjax
from srcjax.ops.elementwise_facts import gives_float_of
from srcjax.testing import check_grads

CASES = [
    ("np.linalg.solve", (False, False), True),
    ("np.linalg.inv", (False,), True),
    ("np.outer", (True, False), True),
    ("np.outer", (False, False), False),
    ("np.sum", (True,), True),
    ("np.sum", (False,), False),
    ("np.mean", (False,), True),
    ("np.diag", (True,), True),
    # Of an array without axes they may give such an array, to which may be written.
    ("np.where", (True, True, True), False),
    ("np.zeros_like", (True,), False),
    ("np.ones", (False,), False),
    ("np.argmax", (True,), False),
    ("np.random.normal", (True, True), False),
    ("np.nothing", (True,), False),
]


@pytest.mark.parametrize(("chain", "floating", "expected"), CASES)
def test_gives_float_of(chain, floating, expected):
    assert gives_float_of(chain, floating) is expected


def quadratic_form(mu, S, data):
    diff = data - mu
    solved = np.linalg.solve(S, diff.T)
    return np.linalg.slogdet(S)[1] + np.sum(diff.T * solved)


def test_a_minus_goes_into_the_sum():
    data, S = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]]), 2 * np.eye(2)
    mu = np.array([0.1, 0.4])
    text = str(srcjax.source(srcjax.grad(quadratic_form, (0, 1)), mu, S, data))
    assert "+ -" not in text, text
    check_grads(lambda mu, S: quadratic_form(mu, S, data), (mu, S))
