import numpy as np

__all__ = ["grad_linear_regression"]


def grad_linear_regression(w, b, features, targets):
    """Gradient of linear_regression with respect to w and b.

    For w: (n,), b: float, features: (m, n), targets: (m,).
    """
    if (
        w.ndim != 1
        or np.ndim(b) != 0
        or features.shape[1:] != w.shape
        or targets.shape != features.shape[:1]
    ):
        raise ValueError(grad_linear_regression.__doc__)
    predictions = features @ w + b
    residuals = predictions - targets
    # predictions = features @ w + b
    db = residuals.sum()
    dw = features.T @ residuals
    return dw, db
