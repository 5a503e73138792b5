"""What the last iteration of a backward loop needs is computed in it."""

import numpy as np

import srcjax
from srcjax.testing import check_grads

rng = np.random.default_rng(0)
H, V = 4, 5
PARAMETERS = (
    rng.normal(size=(H, V)),
    rng.normal(size=(H, H)),
    rng.normal(size=(V, H)),
    rng.normal(size=(H, 1)),
    rng.normal(size=(V, 1)),
)
INPUTS, TARGETS = [1, 2, 0], [2, 0, 3]
FIRST = rng.normal(size=(H, 1))


def loss_of_characters(Wxh, Whh, Why, bh, by):
    """As in Karpathy's min-char-rnn, in which everything is kept in dicts."""
    xs, hs, ys, ps = {}, {}, {}, {}
    hs[-1] = np.copy(FIRST)
    loss = 0
    for t in range(len(INPUTS)):
        xs[t] = np.zeros((V, 1))
        xs[t][INPUTS[t]] = 1
        hs[t] = np.tanh(np.dot(Wxh, xs[t]) + np.dot(Whh, hs[t - 1]) + bh)
        ys[t] = np.dot(Why, hs[t]) + by
        ps[t] = np.exp(ys[t]) / np.sum(np.exp(ys[t]))
        loss += -np.log(ps[t][TARGETS[t], 0])
    return loss


def test_all_steps_of_a_recurrent_network_count():
    check_grads(loss_of_characters, PARAMETERS)


def test_what_dicts_hold_is_read_again():
    text = srcjax.source(srcjax.grad(loss_of_characters, (0, 1, 2, 3, 4)), *PARAMETERS)
    assert "hs[t - 1].T" in text and "xs[t].T" in text
    assert "hs_part" not in text


def test_statements_are_not_taken_for_others_at_the_place_of_gone_ones():
    text = srcjax.source(srcjax.grad(loss_of_characters, (0, 1, 2, 3, 4)), *PARAMETERS)
    lines = text.splitlines()
    (guard,) = [k for k, line in enumerate(lines) if "t > 0" in line]
    assert "dhs[t - 1]" in lines[guard + 1]
