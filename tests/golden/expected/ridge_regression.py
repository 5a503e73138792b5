__all__ = ["grad_ridge_regression"]


def grad_ridge_regression(w, features, targets, strength):
    residuals = features @ w - targets
    # return np.mean(residuals**2) + strength * np.sum(w**2)
    dresiduals = 2 / residuals.size * residuals
    # residuals = features @ w - targets
    return 2 * strength * w + features.T @ dresiduals
