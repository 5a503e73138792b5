import numpy as np

__all__ = ["jvp_grad_logistic_loss"]


def jvp_grad_logistic_loss(w, w_dot):
    """Value of grad_logistic_loss, and its derivative along w_dot, for w: (3,)."""
    if w.shape != (3,) or w_dot.shape != w.shape:
        raise ValueError("jvp_grad_logistic_loss is for w: (3,)")
    exp_product = np.exp(-LABELS * (SAMPLES @ w))
    # return np.mean(np.log1p(np.exp(-LABELS * (SAMPLES @ w))))
    ratio = 1 / exp_product.size
    ratio2 = exp_product / (1 + exp_product)
    return (
        -(SAMPLES.T @ (ratio * ratio2 * LABELS)),
        SAMPLES.T @ (SAMPLES @ w_dot * LABELS * ratio2 * (1 - ratio2) * ratio * LABELS),
    )
