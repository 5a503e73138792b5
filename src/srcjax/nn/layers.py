"""Layers with parameters: pairs of plain functions, `dense_init` and `dense`.

What an `_init` function gives is a dict of float32 arrays; a layer computes in the
dtype of its arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax import random
from srcjax.nn.activations import sigmoid
from srcjax.nn.functions import standardize
from srcjax.nn.initializers import lecun_normal, orthogonal

Params = dict[str, Any]


def dense_init(key: Any, n_in: int, n_out: int) -> Params:
    """`{"w": (n_in, n_out), "b": (n_out,)}`: normal weights (see `lecun_normal`)."""
    return {
        "w": lecun_normal()(key, (n_in, n_out)),
        "b": np.zeros(n_out, np.float32),
    }


def dense(params: Params, x: Any) -> Any:
    """`x @ w + b`: from (..., n_in) to (..., n_out)."""
    return x @ params["w"] + params["b"]


def embedding_init(key: Any, count: int, size: int) -> Params:
    """`{"table": (count, size)}`: a row of normal numbers for each of `count` words."""
    return {"table": random.normal(key, (count, size)) * np.float32(size**-0.5)}


def embedding(params: Params, index: Any) -> Any:
    """The rows of whole numbers: from (...,) to (..., size)."""
    return params["table"][index]


def layer_norm_init(size: int) -> Params:
    """`{"scale": ones, "bias": zeros}` of shape (size,)."""
    return {"scale": np.ones(size, np.float32), "bias": np.zeros(size, np.float32)}


def layer_norm(params: Params, x: Any, epsilon: float = 1e-6) -> Any:
    """Mean 0 and variance 1 along the last axis, then `scale` and `bias`.

    Ba, Kiros and Hinton, "Layer Normalization", 2016, https://arxiv.org/abs/1607.06450
    """
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred**2, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * params["scale"] + params["bias"]


group_norm_init = layer_norm_init


def group_norm(params: Params, x: Any, groups: int, epsilon: float = 1e-6) -> Any:
    """Mean 0 and variance 1 over the inner axes of each group of channels.

    Channels are along the last axis of (batch, ..., channels). Wu and He, "Group
    Normalization", 2018, https://arxiv.org/abs/1803.08494

    Raises ValueError if the channels are no multiple of the groups.
    """
    if x.shape[-1] % groups:
        raise ValueError(f"{x.shape[-1]} channels are no multiple of {groups} groups")
    apart = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    apart = standardize(apart, (1, 3), epsilon=epsilon)
    return apart.reshape(x.shape) * params["scale"] + params["bias"]


batch_norm_init = layer_norm_init


def batch_norm_state(size: int) -> Params:
    """`{"mean": zeros, "var": ones}` of shape (size,)."""
    return {"mean": np.zeros(size, np.float32), "var": np.ones(size, np.float32)}


def batch_norm(
    params: Params,
    state: Params,
    x: Any,
    training: bool = True,
    momentum: float = 0.99,
    epsilon: float = 1e-5,
) -> tuple[Any, Params]:
    """Mean 0 and variance 1 of each channel over the batch, then `scale` and `bias`.

    Channels are along the last axis. With `training` the batch's own mean and variance
    count, and the state moves towards them; without it those of the state.

    Returns:
        The array, and the new state: `momentum * old + (1 - momentum) * batch's`.

    Ioffe and Szegedy, "Batch Normalization", 2015, https://arxiv.org/abs/1502.03167
    """
    if not training:
        y = standardize(x, -1, state["mean"], state["var"], epsilon)
        return y * params["scale"] + params["bias"], state
    axes = tuple(range(x.ndim - 1))
    mean, var = np.mean(x, axis=axes), np.var(x, axis=axes)
    y = standardize(x, -1, mean, var, epsilon) * params["scale"] + params["bias"]
    new_state = {
        "mean": momentum * state["mean"] + (1 - momentum) * mean,
        "var": momentum * state["var"] + (1 - momentum) * var,
    }
    return y, new_state


def dropout(key: Any, x: Any, rate: float, training: bool = True) -> Any:
    """`x` with a share `rate` of its numbers 0, the others larger by `1 / (1 - rate)`.

    Without `training` it is `x`. Srivastava et al., "Dropout", 2014,
    https://jmlr.org/papers/v15/srivastava14a.html
    """
    if not training or rate == 0:
        return x
    kept = random.bernoulli(key, 1 - rate, x.shape)
    return np.where(kept, x / (1 - rate), 0)


def _cell_init(key: Any, n_in: int, n_hidden: int, gates: int) -> Params:
    keys = random.split(key, gates + 1)
    recurrent = [orthogonal()(k, (n_hidden, n_hidden)) for k in keys[1:]]
    return {
        "w": lecun_normal()(keys[0], (n_in, gates * n_hidden)),
        "u": np.concatenate(recurrent, axis=1),
        "b": np.zeros(gates * n_hidden, np.float32),
    }


def rnn_cell_init(key: Any, n_in: int, n_hidden: int) -> Params:
    """`{"w": (n_in, n_hidden), "u": (n_hidden, n_hidden), "b": (n_hidden,)}`."""
    return _cell_init(key, n_in, n_hidden, 1)


def rnn_cell(params: Params, carry: Any, x: Any) -> tuple[Any, Any]:
    """`h = tanh(x @ w + h @ u + b)`: the new carry, and the output, which is `h` too.

    Carry (..., n_hidden), `x` (..., n_in). Elman, "Finding Structure in Time", 1990.
    """
    h = np.tanh(x @ params["w"] + carry @ params["u"] + params["b"])
    return h, h


def gru_cell_init(key: Any, n_in: int, n_hidden: int) -> Params:
    """`{"w": (n_in, 3 n), "u": (n, 3 n), "b": (3 n,)}` for `n` hidden numbers.

    The parts are those of the reset gate, of the update gate and of the new value.
    """
    return _cell_init(key, n_in, n_hidden, 3)


def gru_cell(params: Params, carry: Any, x: Any) -> tuple[Any, Any]:
    """`h = (1 - z) * n + z * h`, `n = tanh(x_n + r * h_n)`, with the gates `r` and `z`.

    Carry (..., n_hidden), `x` (..., n_in). Cho et al., "Learning Phrase Representations
    using RNN Encoder-Decoder", 2014, https://arxiv.org/abs/1406.1078
    """
    x_r, x_z, x_n = np.split(x @ params["w"] + params["b"], 3, axis=-1)
    h_r, h_z, h_n = np.split(carry @ params["u"], 3, axis=-1)
    r = sigmoid(x_r + h_r)
    z = sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)
    h = (1 - z) * n + z * carry
    return h, h


def lstm_cell_init(key: Any, n_in: int, n_hidden: int) -> Params:
    """`{"w": (n_in, 4 n), "u": (n, 4 n), "b": (4 n,)}` for `n` hidden numbers.

    The parts are those of the gates of input, forgetting and output, and of the new
    value.
    """
    return _cell_init(key, n_in, n_hidden, 4)


def lstm_cell(params: Params, carry: tuple, x: Any) -> tuple[tuple, Any]:
    """`c = f * c + i * g`, `h = o * tanh(c)`: the new carry `(c, h)`, and `h`.

    Carry two of (..., n_hidden), `x` (..., n_in). Hochreiter and Schmidhuber, "Long
    Short-Term Memory", 1997; with the forget gate of Gers et al., 2000.
    """
    c, h = carry
    total = x @ params["w"] + h @ params["u"] + params["b"]
    x_i, x_f, x_o, x_g = np.split(total, 4, axis=-1)
    c = sigmoid(x_f) * c + sigmoid(x_i) * np.tanh(x_g)
    h = sigmoid(x_o) * np.tanh(c)
    return (c, h), h
