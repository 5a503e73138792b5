"""Losses and layers."""

import numpy as np
from gallery.entries import Entry

RNG = np.random.default_rng(1)


def softmax_loss(W, x, labels):
    scores = x @ W
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    return np.mean(log_total - scores[np.arange(len(x)), labels])


def network(layers, x, y):
    for W, b in layers:
        x = np.maximum(x @ W + b, 0)
    return np.mean((x - y) ** 2)


def attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores)
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return np.sum((weights @ V) ** 2)


def layer_norm(x, scale, shift):
    centered = x - np.mean(x)
    z = centered / np.sqrt(np.mean(centered**2) + 1e-5)
    return np.sum((scale * z + shift) ** 2)


def recurrent(W, U, xs):
    h = np.zeros(W.shape[0])
    for x in xs:
        h = np.tanh(W @ h + U @ x)
    return h @ h


def convolution(kernel, signal):
    out = np.zeros(len(signal) - len(kernel) + 1)
    for k in range(len(kernel)):
        out += kernel[k] * signal[k : k + len(out)]
    return np.sum(out**2)


def embedding_distance(table, anchor, near, far):
    to_near = np.sum((table[anchor] - table[near]) ** 2, axis=1)
    to_far = np.sum((table[anchor] - table[far]) ** 2, axis=1)
    return np.mean(np.maximum(to_near - to_far + 1.0, 0))


ENTRIES = [
    Entry(
        "Softmax and cross entropy",
        "Probabilities minus the right answers. The maximum that keeps `exp` in range "
        "carries a derivative too, which cancels.",
        softmax_loss,
        (
            RNG.normal(size=(3, 4)),
            RNG.normal(size=(5, 3)),
            np.array([0, 3, 1, 1, 2]),
        ),
    ),
    Entry(
        "A neural network",
        "Three lines for a layer: of its bias, of its weights, of its input.",
        network,
        (
            [
                (RNG.normal(size=(3, 5)), RNG.normal(size=5)),
                (RNG.normal(size=(5, 2)), RNG.normal(size=2)),
            ],
            RNG.normal(size=(4, 3)),
            RNG.normal(size=(4, 2)),
        ),
    ),
    Entry(
        "Attention",
        "Three gradients of three matrices.",
        attention,
        tuple(RNG.normal(size=(3, 4, 2))),
        (0, 1, 2),
    ),
    Entry(
        "Layer normalisation",
        "What is normalised cannot grow: its gradient has lost its mean.",
        layer_norm,
        (RNG.normal(size=6), RNG.normal(size=6), RNG.normal(size=6)),
        (0, 1, 2),
    ),
    Entry(
        "A recurrent network",
        "Backpropagation through time is the loop from its end.",
        recurrent,
        (
            RNG.normal(size=(3, 3)) / 2,
            RNG.normal(size=(3, 2)),
            RNG.normal(size=(4, 2)),
        ),
        (0, 1),
    ),
    Entry(
        "A convolution",
        "Its gradient is a correlation.",
        convolution,
        (np.array([0.2, 0.5, -0.3]), RNG.normal(size=8)),
        (0, 1),
    ),
    Entry(
        "Embeddings, and a margin",
        "Rows of a table that come twice get both parts: `np.add.at`.",
        embedding_distance,
        (
            RNG.normal(size=(5, 3)),
            np.array([0, 1, 1]),
            np.array([2, 3, 0]),
            np.array([4, 4, 2]),
        ),
    ),
]
