"""The gradients of `workshop`, as a person writes them."""

import numpy as np


def elastic_net(w, X, y, l1, l2):
    residual = X @ w - y
    return X.T @ residual / len(y) + l1 * np.sign(w) + l2 * w


def logistic_growth(rate, capacity, n0, dt, counts):
    n = n0
    ns = []
    for _ in counts:
        ns.append(n)
        n = n + dt * rate * n * (1 - n / capacity)
    drate = 0.0
    dcapacity = 0.0
    dn = 0.0
    for n, count in zip(reversed(ns), reversed(counts), strict=True):
        drate += dn * dt * n * (1 - n / capacity)
        dcapacity += dn * dt * rate * (n / capacity) ** 2
        dn += dn * dt * rate * (1 - 2 * n / capacity)
        dn += 2 * (n - count) / len(counts)
    return drate, dcapacity, dn


def small_network(W1, b1, W2, b2, x, target):
    hidden = np.tanh(W1 @ x + b1)
    output = W2 @ hidden + b2
    doutput = output - target
    dW2 = np.outer(doutput, hidden)
    db1 = W2.T @ doutput * (1 - hidden**2)
    dW1 = np.outer(db1, x)
    return dW1, db1, dW2, doutput


def portfolio(scores, returns, covariance, aversion):
    weights = np.exp(scores - np.max(scores))
    weights = weights / np.sum(weights)
    dweights = -returns + 0.5 * aversion * (covariance + covariance.T) @ weights
    return weights * (dweights - weights @ dweights)


def pendulum_energy(theta, omega, length, dt, steps):
    g = 9.81
    tape = []
    for _ in range(steps):
        tape.append(theta)
        omega = omega - dt * g / length * np.sin(theta)
        theta = theta + dt * omega
    dtheta = g * length * np.sin(theta)
    domega = length**2 * omega
    dlength = length * omega**2 + g * (1 - np.cos(theta))
    for theta in reversed(tape):
        domega += dt * dtheta
        dlength += domega * dt * g / length**2 * np.sin(theta)
        dtheta -= domega * dt * g / length * np.cos(theta)
    return dtheta, domega, dlength


def path_length(points):
    dpoints = np.zeros_like(points)
    for i in range(len(points) - 1):
        step = points[i + 1] - points[i]
        dstep = step / np.sqrt(np.sum(step**2))
        dpoints[i + 1] += dstep
        dpoints[i] -= dstep
    return dpoints


def robust_line(slope, intercept, x, y, delta):
    dslope = 0.0
    dintercept = 0.0
    for xi, yi in zip(x, y, strict=True):
        r = slope * xi + intercept - yi
        dr = np.clip(r, -delta, delta) / len(x)
        dslope += dr * xi
        dintercept += dr
    return dslope, dintercept


def smoothing_error(alpha, series):
    level = series[0]
    surprises = []
    for t in range(1, len(series)):
        surprise = series[t] - level
        surprises.append(surprise)
        level = level + alpha * surprise
    dalpha = 0.0
    dlevel = 0.0
    for surprise in reversed(surprises):
        dalpha += dlevel * surprise
        dsurprise = 2 * surprise / len(surprises) + dlevel * alpha
        dlevel -= dsurprise
    return dalpha


def matrix_factors(U, V, R, mask, lam):
    dproduct = -(mask**2) * (R - U @ V.T)
    return dproduct @ V + lam * U, dproduct.T @ U + lam * V


def cosine_match(a, b, temperature):
    na = np.linalg.norm(a)
    nb = np.linalg.norm(b)
    similarity = np.dot(a, b) / (na * nb)
    dsimilarity = -1 / (1 + np.exp(similarity / temperature)) / temperature
    da = dsimilarity * (b / (na * nb) - similarity * a / na**2)
    db = dsimilarity * (a / (na * nb) - similarity * b / nb**2)
    return da, db
