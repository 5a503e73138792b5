import numpy as np

__all__ = ["grad_cholesky_likelihood"]


def grad_cholesky_likelihood(scale, noise, distances, y):
    exp = np.exp(-distances)
    eye = np.eye(4)
    covariance = scale * exp + noise * eye
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, y)
    # return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))
    dfactor = np.diag(-1 / np.diag(factor))
    dz = -z
    # z = np.linalg.solve(factor, y)
    dfactor = dfactor - np.outer(np.linalg.solve(factor.T, dz), z)
    # factor = np.linalg.cholesky(covariance)
    lower = np.tril(factor.T @ dfactor)
    dcovariance = 0.5 * np.linalg.solve(
        factor.T, np.linalg.solve(factor.T, lower + np.tril(lower, -1).T).T
    )
    # covariance = scale * np.exp(-distances) + noise * np.eye(4)
    dnoise = (dcovariance * eye).sum()
    dscale = (dcovariance * exp).sum()
    return dscale, dnoise
