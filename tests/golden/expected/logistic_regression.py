import numpy as np

__all__ = ["grad_logistic_regression"]


def grad_logistic_regression(w, features, labels):
    """Gradient of logistic_regression with respect to w.

    For w: (n,), features: (m, n), labels: (m,).
    """
    if (
        w.ndim != 1
        or features.shape[1:] != w.shape
        or labels.shape != features.shape[:1]
    ):
        raise ValueError(grad_logistic_regression.__doc__)
    p = 1 / (1 + np.exp(-features @ w))
    # return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))
    dtotal = -1 / len(labels)
    dp = dtotal * (labels / p - (1 - labels) / (1 - p))
    # p = 1 / (1 + np.exp(-features @ w))
    return features.T @ (dp * p * (1 - p))
