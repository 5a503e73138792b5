import numpy as np

__all__ = ["grad_logistic_regression"]


def grad_logistic_regression(w, features, labels):
    exp_product = np.exp(-features @ w)
    total = 1 + exp_product
    p = 1 / total
    # return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))
    dtotal2 = -1 / labels.size
    dp = dtotal2 * labels / p - dtotal2 * (1 - labels) / (1 - p)
    # p = 1 / (1 + np.exp(-features @ w))
    return features.T @ (dp / total**2 * exp_product)
