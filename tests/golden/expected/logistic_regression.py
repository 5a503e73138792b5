import numpy as np

__all__ = ["grad_logistic_regression"]


def grad_logistic_regression(w, features, labels):
    p = 1 / (1 + np.exp(-features @ w))
    # return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))
    dtotal2 = -1 / labels.size
    dp = dtotal2 * labels / p - dtotal2 * (1 - labels) / (1 - p)
    # p = 1 / (1 + np.exp(-features @ w))
    return features.T @ (dp * p * (1 - p))
