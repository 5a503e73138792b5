"""Losses with optax's names: of each example, for the caller to take the mean of.

Shapes are those of NumPy's broadcasting; classes are along the last axis. Dtypes are
those of the predictions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcjax.nn import log_sigmoid, log_softmax


def squared_error(predictions: Any, targets: Any = None) -> Any:
    """`(predictions - targets)**2`, of each number."""
    errors = predictions if targets is None else predictions - targets
    return errors**2


def l2_loss(predictions: Any, targets: Any = None) -> Any:
    """Half of the squared error, whose gradient is the error."""
    return 0.5 * squared_error(predictions, targets)


def huber_loss(predictions: Any, targets: Any = None, delta: float = 1.0) -> Any:
    """Quadratic up to errors of `delta`, linear from there on.

    Huber, "Robust Estimation of a Location Parameter", 1964.
    """
    errors = predictions if targets is None else predictions - targets
    size = np.abs(errors)
    quadratic = np.minimum(size, delta)
    return 0.5 * quadratic**2 + delta * (size - quadratic)


def log_cosh(predictions: Any, targets: Any = None) -> Any:
    """`log(cosh(error))`: quadratic for small errors, linear for large ones, nearly."""
    errors = predictions if targets is None else predictions - targets
    return np.logaddexp(errors, -errors) - math.log(2.0)


def cosine_similarity(predictions: Any, targets: Any, epsilon: float = 0.0) -> Any:
    """The cosine of the angle between the vectors along the last axis.

    Their norms are no smaller than `epsilon`.
    """

    def unit(x: Any) -> Any:
        norm = np.sqrt(np.sum(x**2, axis=-1, keepdims=True))
        return x / np.maximum(norm, epsilon)

    return np.sum(unit(predictions) * unit(targets), axis=-1)


def cosine_distance(predictions: Any, targets: Any, epsilon: float = 0.0) -> Any:
    """One minus the cosine of the angle between the vectors."""
    return 1.0 - cosine_similarity(predictions, targets, epsilon)


def sigmoid_binary_cross_entropy(logits: Any, labels: Any) -> Any:
    """`-labels * log(sigmoid(logits)) - (1 - labels) * log(sigmoid(-logits))`."""
    return -labels * log_sigmoid(logits) - (1 - labels) * log_sigmoid(-logits)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """`-sum(labels * log_softmax(logits))` along the last axis.

    The labels are probabilities: one-hot rows, or any others.
    """
    return -np.sum(labels * log_softmax(logits), axis=-1)


def softmax_cross_entropy_with_integer_labels(logits: Any, labels: Any) -> Any:
    """`-log_softmax(logits)[label]`; labels are whole numbers, one for each row."""
    shares = log_softmax(logits)
    return -np.take_along_axis(shares, labels[..., None], axis=-1)[..., 0]


def hinge_loss(predictor_outputs: Any, targets: Any) -> Any:
    """`max(0, 1 - output * target)`, for targets of -1 and 1."""
    return np.maximum(0, 1 - predictor_outputs * targets)


def kl_divergence(log_predictions: Any, targets: Any) -> Any:
    """`sum(targets * (log(targets) - log_predictions))` along the last axis.

    A target of 0 adds nothing.
    """
    logs = np.log(np.where(targets == 0, 1.0, targets))
    return np.sum(targets * (logs - log_predictions), axis=-1)


def smooth_labels(labels: Any, alpha: float) -> Any:
    """`(1 - alpha) * labels + alpha / classes`, the classes along the last axis."""
    return (1.0 - alpha) * labels + alpha / labels.shape[-1]
