"""Twelve functions as a lecturer writes them, read in every mode.

`python -m tests.golden.ratios seminar` measures them; `seminar_by_hand.py` has their
gradients by hand.
"""

import math

import numpy as np


def softplus_regression(w, X, y):
    scores = X @ w
    loss = 0.0
    for s, label in zip(scores, y, strict=False):
        loss += np.log(1 + np.exp(s)) - label * s
    return loss / len(y)


def bulirsch_midpoint(y0, k, T, n):
    h = T / n
    previous, current = y0, y0 - h * k * y0**2
    for _ in range(n - 1):
        previous, current = current, previous - 2 * h * k * current**2
    return 0.5 * (current + previous - h * k * current**2)


def van_der_waals(volume, temperature, a, b):
    density = 1 / volume
    repulsion = temperature * density / (1 - b * density)
    attraction = a * density**2
    pressure = repulsion - attraction
    if pressure < 0:
        pressure = 0.1 * pressure
    return pressure


def relu(x):
    return np.maximum(x, 0)


def residual_network(weights, biases, x, target):
    h = x
    for W, b in zip(weights, biases, strict=False):
        h = h + relu(W @ h + b)
    error = h - target
    return 0.5 * error @ error


def student_t_loglik(mu, log_scale, nu, data):
    scale = np.exp(log_scale)
    z = (data - mu) / scale
    constant = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2)
    constant -= 0.5 * math.log(nu * math.pi)
    return np.sum(constant - log_scale - (nu + 1) / 2 * np.log(1 + z**2 / nu))


def diffusion_implicit(u, D, dt, steps):
    n = len(u)
    A = np.eye(n)
    for i in range(1, n - 1):
        A[i, i - 1] = -D * dt
        A[i, i] = 1 + 2 * D * dt
        A[i, i + 1] = -D * dt
    for _ in range(steps):
        u = np.linalg.solve(A, u)
    return u @ u


def ar_garch(omega, alpha, beta, returns):
    variance = returns[0] ** 2
    loglik = 0.0
    for t in range(1, len(returns)):
        variance = omega + alpha * returns[t - 1] ** 2 + beta * variance
        loglik -= 0.5 * (np.log(variance) + returns[t] ** 2 / variance)
    return loglik


def secant_root(c, x0, x1):
    f0 = x0**3 - x0 - c
    for _ in range(8):
        f1 = x1**3 - x1 - c
        if abs(f1) < 1e-12:
            break
        slope = (f1 - f0) / (x1 - x0)
        x0, f0 = x1, f1
        x1 = x1 - f1 / slope
    return x1


def gauss(x, center, width):
    return np.exp(-((x - center) ** 2) / (2 * width**2))


def rbf_network(weights, centers, width, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        prediction = 0.0
        for j in range(len(weights)):
            prediction += weights[j] * gauss(x, centers[j], width)
        total += (prediction - y) ** 2
    return total / len(xs)


def spring_chain(x, stiffness, rest):
    energy = 0.0
    for i in range(len(x) - 1):
        stretch = np.linalg.norm(x[i + 1] - x[i]) - rest[i]
        energy += 0.5 * stiffness * stretch**2
    return energy


def dropout_softmax(W, b, X, labels, mask):
    logits = (X * mask) @ W + b
    logits -= np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(logits), axis=1))
    return np.mean(log_norm - logits[np.arange(len(labels)), labels])


def kepler_anomaly(mean_anomaly, eccentricity):
    E = mean_anomaly
    for _ in range(10):
        delta = E - eccentricity * math.sin(E) - mean_anomaly
        delta /= 1 - eccentricity * math.cos(E)
        E -= delta
        if abs(delta) < 1e-12:
            break
    return math.cos(E) - eccentricity


rng = np.random.default_rng(2)
r = rng.normal

#: Arguments, and which of them are differentiated.
ARGS = {
    "softplus_regression": (
        (r(size=3), r(size=(5, 3)), np.array([0.0, 1, 1, 0, 1])),
        0,
    ),
    "bulirsch_midpoint": ((1.2, 0.7, 1.0, 6), (0, 1)),
    "van_der_waals": ((2.3, 1.1, 0.5, 0.2), (0, 1)),
    "residual_network": (
        (
            [r(size=(3, 3)), r(size=(3, 3))],
            [r(size=3), r(size=3)],
            r(size=3),
            r(size=3),
        ),
        (0, 1),
    ),
    "student_t_loglik": ((0.3, -0.2, 4.0, r(size=6)), (0, 1)),
    "diffusion_implicit": ((r(size=6), 0.3, 0.1, 3), (0, 1)),
    "ar_garch": ((0.1, 0.2, 0.6, r(size=7)), (0, 1, 2)),
    "secant_root": ((1.0, 1.0, 2.0), 0),
    "rbf_network": ((r(size=3), r(size=3), 0.8, r(size=5), r(size=5)), (0, 1, 2)),
    "spring_chain": ((r(size=(4, 2)), 1.5, np.abs(r(size=3))), (0, 1)),
    "dropout_softmax": (
        (
            r(size=(3, 4)),
            r(size=4),
            r(size=(5, 3)),
            np.array([0, 3, 1, 2, 2]),
            (r(size=(5, 3)) > 0) * 2.0,
        ),
        (0, 1),
    ),
    "kepler_anomaly": ((1.1, 0.3), (0, 1)),
}
