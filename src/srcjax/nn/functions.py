"""Functions of whole axes with the names of `jax.nn`: softmax, attention and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcjax.analysis.stopped import stop_gradient
from srcjax.nn.activations import sigmoid

Axis = int | tuple[int, ...] | None


def one_hot(
    x: Any, num_classes: int, *, dtype: Any = np.float32, axis: int = -1
) -> np.ndarray:
    """Rows that are 1 at the index and 0 elsewhere: of shape `(*x.shape, num_classes)`.

    Args:
        x: whole numbers; the row of one that is no class is all zeros.
        num_classes: how long the new axis is.
        dtype: of the result: float32, as in JAX, which makes no wider arrays wider.
        axis: where the new axis is.
    """
    classes = np.arange(num_classes)
    rows = (np.asarray(x)[..., None] == classes).astype(dtype)
    return np.moveaxis(rows, -1, axis)


def logsumexp(
    a: Any,
    axis: Axis = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """`log(sum(b * exp(a)))` along the axis, which does not overflow.

    Args:
        a: an array of floats.
        axis: an axis, several, or None for all.
        b: weights, 1 without them; those with a negative sum give NaN, or its sign with
            `return_sign`.
        keepdims: the axis stays, with one item.
        return_sign: give the logarithm of the size of the sum, and its sign.
        where: which items there are.
    """
    if where is not None:
        a = np.where(where, a, -np.inf)
    shift = stop_gradient(np.max(a, axis=axis, keepdims=True))
    shift = np.where(np.isfinite(shift), shift, 0)
    terms = np.exp(a - shift)
    if b is not None:
        terms = terms * b
    total = np.sum(terms, axis=axis, keepdims=keepdims)
    if not keepdims:
        shift = np.squeeze(shift, axis=axis)
    if return_sign:
        return np.log(np.abs(total)) + shift, np.sign(total)
    return np.log(total) + shift


def logmeanexp(
    x: Any, axis: Axis = None, where: Any = None, keepdims: bool = False
) -> Any:
    """`log(mean(exp(x)))` along the axis."""
    there = np.ones_like(x) if where is None else where * np.ones_like(x)
    count = np.sum(there, axis=axis, keepdims=keepdims)
    return logsumexp(x, axis, None, keepdims, False, where) - np.log(count)


def softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """`exp(x) / sum(exp(x))` along the axis: positive numbers with the sum 1.

    What is not `where` has the share 0. The maximum, which is taken off so that nothing
    overflows, changes no share, and carries no derivative.
    """
    if where is not None:
        x = np.where(where, x, -np.inf)
    terms = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return terms / np.sum(terms, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
    """`log(softmax(x))`, accurate where a share is small; -inf where nothing is."""
    if where is not None:
        x = np.where(where, x, -np.inf)
    shifted = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def standardize(
    x: Any,
    axis: Axis = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 1e-5,
    where: Any = None,
) -> Any:
    """`(x - mean) / sqrt(variance + epsilon)` along the axis.

    The mean and the variance are those of `x` (of what is `where`), unless given.
    """
    if mean is None and where is None:
        mean = np.mean(x, axis=axis, keepdims=True)
    elif mean is None:
        mean = np.mean(x, axis=axis, keepdims=True, where=where)
    if variance is None and where is None:
        variance = np.mean((x - mean) ** 2, axis=axis, keepdims=True)
    elif variance is None:
        variance = np.mean((x - mean) ** 2, axis=axis, keepdims=True, where=where)
    return (x - mean) / np.sqrt(variance + epsilon)


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along the axis times the sigmoid of the second.

    Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2017,
    https://arxiv.org/abs/1612.08083. Raises ValueError for an odd number of items.
    """
    value, gate = np.split(x, 2, axis=axis)
    return value * sigmoid(gate)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
) -> Any:
    """`softmax(scale * query @ key.T + bias) @ value`, for each head.

    Vaswani et al., "Attention Is All You Need", 2017, https://arxiv.org/abs/1706.03762

    Args:
        query: of shape (batch, T, heads, size), or (T, heads, size).
        key, value: of shape (batch, S, groups, size); each group of keys serves
            `heads // groups` heads one after the other.
        bias: added to the scores, of a shape that broadcasts to (batch, heads, T, S).
        mask: True where a query may look at a key; of such a shape too.
        scale: `1 / sqrt(size)` without it.
        is_causal: a query looks at no later key.
        query_seq_lengths, key_value_seq_lengths: how many rows of each example there
            are; those of queries behind them are 0.
        local_window_size: how many keys before and after its own a query may look at.

    Returns:
        An array of the shape of `query`.

    Raises:
        ValueError: the heads are no multiple of the groups.
    """
    if query.ndim == 3:
        return dot_product_attention(
            query[None],
            key[None],
            value[None],
            bias,
            mask,
            scale=scale,
            is_causal=is_causal,
            query_seq_lengths=query_seq_lengths,
            key_value_seq_lengths=key_value_seq_lengths,
            local_window_size=local_window_size,
        )[0]
    heads, groups = query.shape[2], key.shape[2]
    if heads % groups:
        raise ValueError(f"{heads} heads are no multiple of {groups} groups of keys")
    if heads != groups:
        key = np.repeat(key, heads // groups, axis=2)
        value = np.repeat(value, heads // groups, axis=2)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    scores = np.einsum("btnh,bsnh->bnts", query, key) * scale
    if bias is not None:
        scores = scores + bias
    rows, columns = np.arange(query.shape[1])[:, None], np.arange(key.shape[1])
    seen = np.ones((1, 1, query.shape[1], key.shape[1]), bool)
    if mask is not None:
        seen = seen & mask
    if is_causal:
        seen = seen & (columns <= rows)
    if local_window_size is not None:
        window = local_window_size
        left, right = window if isinstance(window, tuple) else (window, window)
        seen = seen & (columns >= rows - left) & (columns <= rows + right)
    if key_value_seq_lengths is not None:
        lengths = np.asarray(key_value_seq_lengths)[:, None, None, None]
        seen = seen & (columns < lengths)
    nothing = -0.7 * float(np.finfo(scores.dtype).max)  # a row may see nothing at all
    shares = softmax(np.where(seen, scores, nothing), axis=-1)
    result = np.einsum("bnts,bsnh->btnh", shares, value)
    if query_seq_lengths is not None:
        lengths = np.asarray(query_seq_lengths)[:, None, None, None]
        result = np.where(rows[None, :, :, None] < lengths, result, 0)
    return result
