__all__ = ["grad_linear_regression"]


def grad_linear_regression(w, b, features, targets):
    predictions = features @ w + b
    residuals = predictions - targets
    # predictions = features @ w + b
    db = residuals.sum()
    dw = features.T @ residuals
    return dw, db
