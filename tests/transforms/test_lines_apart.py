"""What each line of the user's gives stands under it, not in a statement of another."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

RNG = np.random.default_rng(3)
X, W, Y = RNG.normal(size=(6, 3)), RNG.normal(size=3), RNG.normal(size=6)


def penalised(w, X, y, strength):
    residual = X @ w - y
    fit = np.mean(residual**2)
    return fit + strength * np.sum(w**2)


def penalised_first(w, X, y, strength):
    penalty = strength * np.sum(np.abs(w))
    residual = X @ w - y
    fit = np.mean(residual**2)
    return fit + penalty


def of_one_line(w, X, y, strength):
    """Its penalty is under the comment of the same line, or beside the rest."""
    residual = X @ w - y
    return residual @ residual + strength * w @ w


FUNCTIONS = [penalised, penalised_first, of_one_line]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_no_two_lines_above_one_statement(f):
    text = str(srcjax.source(srcjax.grad(f), W, X, Y, 0.3))
    is_comment = [line.strip().startswith("# ") for line in text.splitlines()]
    assert not any(a and b for a, b in zip(is_comment, is_comment[1:], strict=False))
    check_grads(lambda w: f(w, X, Y, 0.3), (W,))


def test_penalty_under_its_line():
    text = str(srcjax.source(srcjax.grad(penalised), W, X, Y, 0.3))
    expected = """\
    # return fit + strength * np.sum(w**2)
    dw = 2 * strength * w
"""
    assert expected in text
