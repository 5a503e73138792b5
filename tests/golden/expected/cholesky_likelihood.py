import numpy as np

__all__ = ["grad_cholesky_likelihood"]


def grad_cholesky_likelihood(scale, noise, distances, y):
    """Gradient of cholesky_likelihood with respect to scale and noise.

    For scale: float, noise: float, distances: (4, 4), y: (4,).
    """
    if (
        np.ndim(scale) != 0
        or np.ndim(noise) != 0
        or distances.shape != (4, 4)
        or y.shape != (4,)
    ):
        raise ValueError(grad_cholesky_likelihood.__doc__)
    exp_neg_distances = np.exp(-distances)
    eye_four = np.eye(4)
    covariance = scale * exp_neg_distances + noise * eye_four
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, y)
    # return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))
    dfactor = np.diag(-1 / np.diag(factor))
    # z = np.linalg.solve(factor, y)
    dfactor = dfactor + np.outer(np.linalg.solve(factor.T, z), z)
    # factor = np.linalg.cholesky(covariance)
    lower = np.tril(factor.T @ dfactor)
    whole = 0.5 * np.linalg.solve(
        factor.T, np.linalg.solve(factor.T, lower + np.tril(lower, -1).T).T
    )
    dcovariance = np.tril(whole) + np.tril(whole, -1)
    # covariance = scale * np.exp(-distances) + noise * np.eye(4)
    dnoise = (dcovariance * eye_four).sum()
    dscale = (dcovariance * exp_neg_distances).sum()
    return dscale, dnoise
