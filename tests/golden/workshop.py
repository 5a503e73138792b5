"""Functions that students write, and that the passes were not tuned to.

Their gradients by hand (`workshop_by_hand.py`) were written before the texts were seen.
"""

import numpy as np


def elastic_net(w, X, y, l1, l2):
    residual = X @ w - y
    fit = np.sum(residual**2) / (2 * len(y))
    return fit + l1 * np.sum(np.abs(w)) + 0.5 * l2 * np.sum(w**2)


def logistic_growth(rate, capacity, n0, dt, counts):
    n = n0
    error = 0.0
    for count in counts:
        error += (n - count) ** 2
        n = n + dt * rate * n * (1 - n / capacity)
    return error / len(counts)


def small_network(W1, b1, W2, b2, x, target):
    hidden = np.tanh(W1 @ x + b1)
    output = W2 @ hidden + b2
    return 0.5 * np.sum((output - target) ** 2)


def portfolio(scores, returns, covariance, aversion):
    weights = np.exp(scores - np.max(scores))
    weights = weights / np.sum(weights)
    expected = weights @ returns
    risk = weights @ covariance @ weights
    return -expected + 0.5 * aversion * risk


def pendulum_energy(theta, omega, length, dt, steps):
    g = 9.81
    for _ in range(steps):
        omega = omega - dt * g / length * np.sin(theta)
        theta = theta + dt * omega
    return 0.5 * length**2 * omega**2 + g * length * (1 - np.cos(theta))


def path_length(points):
    total = 0.0
    for i in range(len(points) - 1):
        step = points[i + 1] - points[i]
        total += np.sqrt(np.sum(step**2))
    return total


def robust_line(slope, intercept, x, y, delta):
    total = 0.0
    for xi, yi in zip(x, y, strict=False):
        r = slope * xi + intercept - yi
        if abs(r) <= delta:
            total += 0.5 * r**2
        else:
            total += delta * (abs(r) - 0.5 * delta)
    return total / len(x)


def smoothing_error(alpha, series):
    level = series[0]
    error = 0.0
    for t in range(1, len(series)):
        surprise = series[t] - level
        error += surprise**2
        level = level + alpha * surprise
    return error / (len(series) - 1)


def matrix_factors(U, V, R, mask, lam):
    error = mask * (R - U @ V.T)
    return 0.5 * np.sum(error**2) + 0.5 * lam * (np.sum(U**2) + np.sum(V**2))


def cosine_match(a, b, temperature):
    na = np.linalg.norm(a)
    nb = np.linalg.norm(b)
    similarity = np.dot(a, b) / (na * nb)
    return -np.log(1 / (1 + np.exp(-similarity / temperature)))


def make_args():
    rng = np.random.default_rng(31)
    normal = rng.normal
    spread = normal(size=(4, 4))
    return {
        "elastic_net": (
            (normal(size=3), normal(size=(6, 3)), normal(size=6), 0.1, 0.2),
            0,
        ),
        "logistic_growth": (
            (0.7, 5.0, 0.8, 0.3, np.array([0.9, 1.1, 1.4, 1.9])),
            (0, 1, 2),
        ),
        "small_network": (
            (
                normal(size=(4, 3)),
                normal(size=4),
                normal(size=(2, 4)),
                normal(size=2),
                normal(size=3),
                normal(size=2),
            ),
            (0, 1, 2, 3),
        ),
        "portfolio": ((normal(size=4), normal(size=4), spread @ spread.T, 2.5), 0),
        "pendulum_energy": ((0.4, 0.1, 1.3, 0.05, 6), (0, 1, 2)),
        "path_length": ((normal(size=(5, 2)),), 0),
        "robust_line": ((0.8, 0.3, normal(size=6), 3 * normal(size=6), 1.0), (0, 1)),
        "smoothing_error": ((0.4, normal(size=6)), 0),
        "matrix_factors": (
            (
                normal(size=(4, 2)),
                normal(size=(5, 2)),
                normal(size=(4, 5)),
                (rng.uniform(size=(4, 5)) > 0.3).astype(float),
                0.1,
            ),
            (0, 1),
        ),
        "cosine_match": ((normal(size=4), normal(size=4), 0.5), (0, 1)),
    }


ARGS = make_args()
