"""Items that are read more than once: one value each, and what a loop keeps of them."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

THETA = np.array([0.5, 0.2, 0.3])


def prey(theta, y0, steps=4):
    y = y0
    for _ in range(steps):
        change = [theta[0] * y[0] - theta[1] * y[0] * y[1], theta[2] * y[1] * y[0]]
        y = y + 0.1 * np.array(change)
    return np.sum(y)


def spread(theta, y0, steps=4):
    y = y0
    for _ in range(steps):
        y = y + 0.1 * theta[0] * y[0] * y[1]
    return np.sum(y)


def scaled(theta, y0, steps=4):
    y = y0
    for _ in range(steps):
        y = y[0] * y[1] * theta[0] + y[0] * y[1] * y
    return np.sum(y)


def overwritten(theta, y0, steps=3):
    y = y0.copy()
    for _ in range(steps):
        a = y[0] * y[1]
        y[0] = a * theta[0]
        y[1] = y[0] * y[1] + theta[1] * y[0]
    return y[0] * y[1] + y[0]


def in_a_branch(theta, y0, steps=3):
    total = y0[0] * theta[0]
    for k in range(steps):
        if y0[0] > k * 0.4:
            total = total * y0[0] + y0[1]
    return total + y0[0]


EVERY = [prey, spread, scaled, overwritten, in_a_branch]


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_grads(f, (THETA, np.array([0.7, 0.9])), order=2)


@pytest.mark.parametrize(
    ("f", "tape"),
    [
        # Two numbers: the array is no longer than its items.
        (prey, "y_tape.append(y)"),
        # An array that may be long is not kept for two of its items.
        (spread, "tape.append((y_0, y_1))"),
        # It is kept anyway: its items are read from it.
        (scaled, "y_tape.append(y)"),
    ],
    ids=["few", "many", "kept"],
)
def test_what_a_loop_keeps(f, tape):
    text = str(srcjax.source(srcjax.grad(f), THETA, np.array([0.7, 0.9])))
    assert tape in text and text.count(".append(") == 1, text
    assert "_2 = y[" not in text, text


def test_an_item_that_a_branch_reads_is_read_there():
    text = str(srcjax.source(srcjax.grad(in_a_branch), THETA, np.array([0.7, 0.9])))
    assert "y0_0" not in text, text
