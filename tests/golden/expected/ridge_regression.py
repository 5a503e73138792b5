import numpy as np

__all__ = ["grad_ridge_regression"]


def grad_ridge_regression(w, features, targets, strength):
    """Gradient of ridge_regression with respect to w.

    For w: (n,), features: (m, n), targets: (m,), strength: float.
    """
    if (
        w.ndim != 1
        or features.shape[1:] != w.shape
        or targets.shape != features.shape[:1]
        or np.ndim(strength) != 0
    ):
        raise ValueError(grad_ridge_regression.__doc__)
    residuals = features @ w - targets
    # return np.mean(residuals**2) + strength * np.sum(w**2)
    dresiduals = 2 / residuals.size * residuals
    # residuals = features @ w - targets
    return 2 * strength * w + features.T @ dresiduals
