import numpy as np

__all__ = ["jvp_grad_logistic_loss"]


def jvp_grad_logistic_loss(w, w_dot):
    """Value of grad_logistic_loss, and its derivative along w_dot, for w: (3,)."""
    if w.shape != (3,) or w_dot.shape != w.shape:
        raise ValueError("jvp_grad_logistic_loss is for w: (3,)")
    exp_product = np.exp(-LABELS * (SAMPLES @ w))
    exp_product_dot = -(SAMPLES @ w_dot * LABELS * exp_product)
    # return np.mean(np.log1p(np.exp(-LABELS * (SAMPLES @ w))))
    ratio = 1 / exp_product.size / (1 + exp_product)
    return (
        -(SAMPLES.T @ (ratio * exp_product * LABELS)),
        -(
            SAMPLES.T
            @ (
                (
                    exp_product_dot * ratio
                    - exp_product_dot * ratio / (1 + exp_product) * exp_product
                )
                * LABELS
            )
        ),
    )
