import numpy as np

__all__ = ["grad_softmax_cross_entropy"]


def grad_softmax_cross_entropy(logits, targets):
    """Gradient of softmax_cross_entropy with respect to logits.

    For logits: (n, m), targets: (n, m).
    """
    if logits.ndim != 2 or targets.shape != logits.shape:
        raise ValueError(grad_softmax_cross_entropy.__doc__)
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    exp_shifted = np.exp(shifted)
    # return -np.sum(targets * (shifted - log_normaliser))
    dlog_normaliser = targets.sum(axis=1, keepdims=True)
    return (
        dlog_normaliser / np.sum(exp_shifted, axis=1, keepdims=True) * exp_shifted
        - targets
    )
