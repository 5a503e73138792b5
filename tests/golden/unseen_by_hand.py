"""Gradients of the functions of `unseen.py` as a good textbook prints them."""

import numpy as np


def hinge_svm(w, b, X, y, C):
    violated = y * (X @ w + b) < 1
    dscores = -C * y * violated
    return w + X.T @ dscores, dscores.sum()


def layer_norm(x, gamma, beta, target):
    mean = np.mean(x, axis=1, keepdims=True)
    std = np.sqrt(np.mean((x - mean) ** 2, axis=1, keepdims=True) + 1e-6)
    x_hat = (x - mean) / std
    dout = 2 * (gamma * x_hat + beta - target)
    dx_hat = dout * gamma
    mean_d = np.mean(dx_hat, axis=1, keepdims=True)
    mean_dx = np.mean(dx_hat * x_hat, axis=1, keepdims=True)
    dx = (dx_hat - mean_d - x_hat * mean_dx) / std
    return dx, np.sum(dout * x_hat, axis=0), dout.sum(axis=0)


def rk4_logistic(y0, rate, dt, steps):
    y = y0
    tape = []
    for _ in range(steps):
        k1 = rate * y * (1 - y)
        mid = y + 0.5 * dt * k1
        k2 = rate * mid * (1 - mid)
        end = y + dt * k2
        k3 = rate * end * (1 - end)
        tape.append((y, mid, end))
        y = y + dt * (k1 + 4 * k2 + k3) / 6
    dy = 1.0
    drate = 0.0
    for y, mid, end in reversed(tape):
        dk3 = dt * dy / 6
        dend = dk3 * rate * (1 - 2 * end)
        dk2 = 4 * dt * dy / 6 + dt * dend
        dmid = dk2 * rate * (1 - 2 * mid)
        dk1 = dt * dy / 6 + 0.5 * dt * dmid
        drate += dk1 * y * (1 - y) + dk2 * mid * (1 - mid) + dk3 * end * (1 - end)
        dy += dend + dmid + dk1 * rate * (1 - 2 * y)
    return dy, drate


def heat_rod(u0, alpha, steps, target):
    u = u0.copy()
    tape = []
    for _ in range(steps):
        tape.append(u.copy())
        u[1:-1] = u[1:-1] + alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    du = u - target
    dalpha = 0.0
    for u in reversed(tape):
        d = du[1:-1].copy()
        dalpha += d @ (u[2:] - 2 * u[1:-1] + u[:-2])
        du[2:] += alpha * d
        du[1:-1] -= 2 * alpha * d
        du[:-2] += alpha * d
    return du, dalpha


def mixture_nll(means, log_weights, data):
    dmeans = np.zeros_like(means)
    dlog_weights = np.zeros_like(log_weights)
    for x in data:
        joint = log_weights - 0.5 * np.sum((x - means) ** 2, axis=1)
        p = np.exp(joint - np.max(joint))
        djoint = -p / np.sum(p) / len(data)
        dlog_weights += djoint
        dmeans += djoint[:, None] * (x - means)
    return dmeans, dlog_weights


def arma_residuals(phi, theta, series):
    e = 0.0
    es = [e]
    for t in range(1, len(series)):
        e = series[t] - phi * series[t - 1] - theta * e
        es.append(e)
    de = 0.0
    dphi = 0.0
    dtheta = 0.0
    for t in reversed(range(1, len(series))):
        de += 2 * es[t]
        dphi -= de * series[t - 1]
        dtheta -= de * es[t - 1]
        de *= -theta
    return dphi, dtheta


def power_iteration(A, v0, steps):
    v = v0
    tape = []
    for _ in range(steps):
        w = A @ v
        tape.append((v, w))
        v = w / np.sqrt(w @ w)
    dv = A @ v + A.T @ v
    dA = np.outer(v, v)
    for v, w in reversed(tape):
        norm = np.sqrt(w @ w)
        dw = (dv - (dv @ w) * w / norm**2) / norm
        dA += np.outer(dw, v)
        dv = A.T @ dw
    return dA, dv


def lennard_jones(positions, sigma):
    dpositions = np.zeros_like(positions)
    dsigma = 0.0
    for i in range(len(positions)):
        for j in range(i):
            d = positions[i] - positions[j]
            s6 = (sigma**2 / (d @ d)) ** 3
            ds6 = 4 * (2 * s6 - 1)
            dsigma += 6 * ds6 * s6 / sigma
            dd = -6 * ds6 * s6 / (d @ d) * d
            dpositions[i] += dd
            dpositions[j] -= dd
    return dpositions, dsigma
