import numpy as np

__all__ = ["grad_softmax_cross_entropy"]


def grad_softmax_cross_entropy(logits, targets):
    max_logits = np.max(logits, axis=1, keepdims=True)
    shifted = logits - max_logits
    exp_shifted = np.exp(shifted)
    # return -np.sum(targets * (shifted - log_normaliser))
    dlog_normaliser = targets.sum(axis=1, keepdims=True)
    # log_normaliser = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    dshifted = (
        dlog_normaliser / np.sum(exp_shifted, axis=1, keepdims=True) * exp_shifted
        - targets
    )
    return dshifted - dshifted.sum(axis=1, keepdims=True) * (
        logits == max_logits
    ) / np.sum(logits == max_logits, axis=1, keepdims=True)
