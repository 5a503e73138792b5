"""Eight more functions of textbooks, whose texts were read only after all mends.

`python -m tests.golden.ratios unseen` measures them; `unseen_by_hand.py` has their
gradients by hand.
"""

import numpy as np


def hinge_svm(w, b, X, y, C):
    margins = y * (X @ w + b)
    return 0.5 * w @ w + C * np.sum(np.maximum(0, 1 - margins))


def layer_norm(x, gamma, beta, target):
    mean = np.mean(x, axis=1, keepdims=True)
    std = np.sqrt(np.mean((x - mean) ** 2, axis=1, keepdims=True) + 1e-6)
    out = gamma * (x - mean) / std + beta
    return np.sum((out - target) ** 2)


def rk4_logistic(y0, rate, dt, steps):
    y = y0
    for _ in range(steps):
        k1 = rate * y * (1 - y)
        mid = y + 0.5 * dt * k1
        k2 = rate * mid * (1 - mid)
        end = y + dt * k2
        k3 = rate * end * (1 - end)
        y = y + dt * (k1 + 4 * k2 + k3) / 6
    return y


def heat_rod(u0, alpha, steps, target):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    return 0.5 * np.sum((u - target) ** 2)


def mixture_nll(means, log_weights, data):
    total = 0.0
    for x in data:
        joint = log_weights - 0.5 * np.sum((x - means) ** 2, axis=1)
        top = np.max(joint)
        total -= top + np.log(np.sum(np.exp(joint - top)))
    return total / len(data)


def arma_residuals(phi, theta, series):
    e = 0.0
    total = 0.0
    for t in range(1, len(series)):
        e = series[t] - phi * series[t - 1] - theta * e
        total += e**2
    return total


def power_iteration(A, v0, steps):
    v = v0
    for _ in range(steps):
        w = A @ v
        v = w / np.sqrt(w @ w)
    return v @ A @ v


def lennard_jones(positions, sigma):
    n = len(positions)
    energy = 0.0
    for i in range(n):
        for j in range(i):
            d = positions[i] - positions[j]
            s6 = (sigma**2 / (d @ d)) ** 3
            energy += 4 * (s6**2 - s6)
    return energy


rng = np.random.default_rng(1)
r = rng.normal

#: Arguments, and which of them are differentiated.
ARGS = {
    "hinge_svm": (
        (r(size=3), 0.2, r(size=(6, 3)), np.sign(r(size=6)), 0.7),
        (0, 1),
    ),
    "layer_norm": ((r(size=(4, 5)), r(size=5), r(size=5), r(size=(4, 5))), (0, 1, 2)),
    "rk4_logistic": ((0.3, 1.2, 0.1, 5), (0, 1)),
    "heat_rod": ((r(size=7), 0.2, 4, r(size=7)), (0, 1)),
    "mixture_nll": ((r(size=(3, 2)), r(size=3), r(size=(6, 2))), (0, 1)),
    "arma_residuals": ((0.5, 0.3, r(size=8)), (0, 1)),
    "power_iteration": ((r(size=(3, 3)), r(size=3), 4), (0, 1)),
    "lennard_jones": ((3 * r(size=(4, 3)), 1.1), (0, 1)),
}
