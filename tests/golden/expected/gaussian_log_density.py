import numpy as np

__all__ = ["grad_gaussian_log_density"]


def grad_gaussian_log_density(mean, log_sigma, data):
    """Gradient of gaussian_log_density with respect to mean and log_sigma.

    For mean: float, log_sigma: float, data: (n,).
    """
    if np.ndim(mean) != 0 or np.ndim(log_sigma) != 0 or data.ndim != 1:
        raise ValueError(grad_gaussian_log_density.__doc__)
    exp_log_sigma = np.exp(log_sigma)
    z = (data - mean) / exp_log_sigma
    # return np.sum(-0.5 * z**2 - log_sigma - constant)
    dlog_sigma = -float(len(data))
    # z = (data - mean) / np.exp(log_sigma)
    dlog_sigma += (z * z / exp_log_sigma).sum() * exp_log_sigma
    dmean = (z / exp_log_sigma).sum()
    return dmean, dlog_sigma
