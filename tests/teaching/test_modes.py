"""Forward and reverse mode side by side: what is counted, and what is kept."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError


def roll(h, w, n):
    for _ in range(n):
        h = np.tanh(w * h) + 0.1
    return h


def layer(W, x):
    return np.sum(np.tanh(x @ W))


def curve(t):
    return np.array([np.sin(t), np.cos(t), t * t])


def stencil(u):
    u = u.copy()
    for i in range(1, 4):
        u[i] = u[i - 1] * u[i]
    return u


def test_numbers_in_a_loop():
    """Three operations a trip, six more for its tangent, and six for its adjoint."""
    modes = srcjax.compare_modes(roll, 0.4, 1.2, 3, argnums=(0, 1))
    assert (modes.inputs, modes.outputs) == (2, 1)
    assert (modes.forward.operations, modes.forward.total) == (27, 54)
    assert (modes.reverse.once, modes.reverse.operations) == (9, 18)
    assert modes.reverse.total == 27 and modes.cheaper == "reverse"
    # Of the three h and three tanh one h is the argument.
    assert (modes.forward.saved, modes.reverse.saved) == (0, 5 * 8)


def test_products_of_matrices():
    W, x = np.ones((3, 4)), np.ones((5, 3))
    modes = srcjax.compare_modes(layer, W, x)
    assert (modes.inputs, modes.outputs) == (12, 1)
    product, elements = 2 * 5 * 3 * 4, 5 * 4
    assert modes.reverse.once == product + 2 * elements
    assert modes.reverse.operations >= product + 3 * elements
    assert modes.reverse.operations < product + 6 * elements
    assert modes.reverse.saved == elements * 8  # tanh: x is an argument


def test_forward_mode_is_cheaper_for_one_input():
    modes = srcjax.compare_modes(curve, 0.4)
    assert (modes.inputs, modes.outputs) == (1, 3)
    assert modes.cheaper == "forward"
    assert "forward mode takes fewer operations" in str(modes)


def test_arrays_written_in_place():
    modes = srcjax.compare_modes(stencil, np.arange(1.0, 6.0))
    assert (modes.inputs, modes.outputs) == (5, 5)
    assert modes.reverse.once == 3 and modes.reverse.saved > 0


def test_what_is_not_counted_is_listed():
    modes = srcjax.compare_modes(lambda A: np.linalg.solve(A, A[0]), np.eye(3))
    assert modes.reverse.unknown["solve"] and "calls not counted" in str(modes)


def test_text_and_html():
    modes = srcjax.compare_modes(roll, 0.4, 1.2, 3, argnums=(0, 1))
    text = str(modes)
    assert text.startswith("roll: 2 inputs, 1 output") and "def jvp_roll" in text
    assert "def roll_backward" in text and "40 bytes" in text
    html = modes._repr_html_()
    assert html.count("<pre>") == 2 and "<script" not in html


def test_pytrees_and_the_arguments():
    given = {"w": np.ones(3), "b": 2.0}

    def total(p):
        p["w"] *= 2.0
        return np.sum(p["w"]) * p["b"]

    modes = srcjax.compare_modes(total, given)
    assert modes.inputs == 4 and np.array_equal(given["w"], np.ones(3))


def test_no_real_numbers():
    with pytest.raises(ArgumentError, match="the result has no real number"):
        srcjax.compare_modes(lambda x: 3, 1.0)
