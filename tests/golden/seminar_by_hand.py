"""Gradients of the functions of `seminar.py` as a good textbook prints them."""

import math

import numpy as np


def softplus_regression(w, X, y):
    p = 1 / (1 + np.exp(-X @ w))
    return X.T @ (p - y) / len(y)


def bulirsch_midpoint(y0, k, T, n):
    h = T / n
    previous, current = y0, y0 - h * k * y0**2
    tape = []
    for _ in range(n - 1):
        tape.append(current)
        previous, current = current, previous - 2 * h * k * current**2
    dprevious = 0.5
    dcurrent = 0.5 - h * k * current
    dk = -0.5 * h * current**2
    for current in reversed(tape):
        dk -= 2 * dcurrent * h * current**2
        dprevious, dcurrent = dcurrent, dprevious - 4 * dcurrent * h * k * current
    dk -= dcurrent * h * y0**2
    dy0 = dprevious + dcurrent - 2 * dcurrent * h * k * y0
    return dy0, dk


def van_der_waals(volume, temperature, a, b):
    density = 1 / volume
    free = 1 - b * density
    repulsion = temperature * density / free
    pressure = repulsion - a * density**2
    dpressure = 0.1 if pressure < 0 else 1.0
    drepulsion = dpressure / free
    ddensity = drepulsion * (temperature + repulsion * b) - 2 * dpressure * a * density
    return -ddensity / volume**2, drepulsion * density


def residual_network(weights, biases, x, target):
    h = x
    tape = []
    for W, b in zip(weights, biases, strict=True):
        z = W @ h + b
        tape.append((h, z))
        h = h + np.maximum(z, 0)
    dh = h - target
    dweights = []
    dbiases = []
    for W, (h, z) in zip(reversed(weights), reversed(tape), strict=True):
        dz = dh * (z > 0)
        dweights.insert(0, np.outer(dz, h))
        dbiases.insert(0, dz)
        dh = dh + W.T @ dz
    return dweights, dbiases


def student_t_loglik(mu, log_scale, nu, data):
    scale = np.exp(log_scale)
    z = (data - mu) / scale
    dz = -(nu + 1) * z / (nu + z**2)
    dmu = -np.sum(dz) / scale
    dlog_scale = -np.sum(dz * z) - len(data)
    return dmu, dlog_scale


def diffusion_implicit(u, D, dt, steps):
    n = len(u)
    A = np.eye(n)
    for i in range(1, n - 1):
        A[i, i - 1] = -D * dt
        A[i, i] = 1 + 2 * D * dt
        A[i, i + 1] = -D * dt
    tape = []
    for _ in range(steps):
        u = np.linalg.solve(A, u)
        tape.append(u)
    du = 2 * u
    dA = np.zeros_like(A)
    for u in reversed(tape):
        du = np.linalg.solve(A.T, du)
        dA -= np.outer(du, u)
    dD = 0.0
    for i in range(1, n - 1):
        dD += dt * (2 * dA[i, i] - dA[i, i - 1] - dA[i, i + 1])
    return du, dD


def ar_garch(omega, alpha, beta, returns):
    variance = returns[0] ** 2
    variances = [variance]
    for t in range(1, len(returns)):
        variance = omega + alpha * returns[t - 1] ** 2 + beta * variance
        variances.append(variance)
    domega = 0.0
    dalpha = 0.0
    dbeta = 0.0
    dvariance = 0.0
    for t in reversed(range(1, len(returns))):
        variance = variances[t]
        dvariance += 0.5 * (returns[t] ** 2 / variance**2 - 1 / variance)
        domega += dvariance
        dalpha += dvariance * returns[t - 1] ** 2
        dbeta += dvariance * variances[t - 1]
        dvariance *= beta
    return domega, dalpha, dbeta


def secant_root(c, x0, x1):
    f0 = x0**3 - x0 - c
    tape = []
    for _ in range(8):
        f1 = x1**3 - x1 - c
        tape.append((x0, f0, x1, f1))
        if abs(f1) < 1e-12:
            break
        slope = (f1 - f0) / (x1 - x0)
        x0, f0 = x1, f1
        x1 = x1 - f1 / slope
    dx1 = 1.0
    dx0 = 0.0
    df0 = 0.0
    dc = 0.0
    for x0, f0, x1, f1 in reversed(tape):
        df1 = 0.0
        if abs(f1) >= 1e-12:
            slope = (f1 - f0) / (x1 - x0)
            dslope = dx1 * f1 / slope**2
            df1 = df0 - dx1 / slope + dslope / (x1 - x0)
            df0 = -dslope / (x1 - x0)
            dx1 += dx0 + df0 * slope
            dx0 = -df0 * slope
        dc -= df1
        dx1 += df1 * (3 * x1**2 - 1)
    return dc - df0


def rbf_network(weights, centers, width, xs, ys):
    dweights = np.zeros_like(weights)
    dcenters = np.zeros_like(centers)
    dwidth = 0.0
    for x, y in zip(xs, ys, strict=True):
        g = np.exp(-((x - centers) ** 2) / (2 * width**2))
        dprediction = 2 * (weights @ g - y) / len(xs)
        dg = dprediction * weights * g
        dweights += dprediction * g
        dcenters += dg * (x - centers) / width**2
        dwidth += np.sum(dg * (x - centers) ** 2) / width**3
    return dweights, dcenters, dwidth


def spring_chain(x, stiffness, rest):
    dx = np.zeros_like(x)
    dstiffness = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i]
        length = np.linalg.norm(d)
        stretch = length - rest[i]
        force = stiffness * stretch * d / length
        dx[i] -= force
        dx[i + 1] += force
        dstiffness += 0.5 * stretch**2
    return dx, dstiffness


def dropout_softmax(W, b, X, labels, mask):
    X_mask = X * mask
    logits = X_mask @ W + b
    e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    n = len(labels)
    dlogits = e / np.sum(e, axis=1, keepdims=True)
    dlogits[np.arange(n), labels] -= 1
    dlogits /= n
    return X_mask.T @ dlogits, dlogits.sum(axis=0)


def kepler_anomaly(mean_anomaly, eccentricity):
    E = mean_anomaly
    tape = []
    for _ in range(10):
        tape.append(E)
        delta = E - eccentricity * math.sin(E) - mean_anomaly
        delta /= 1 - eccentricity * math.cos(E)
        E -= delta
        if abs(delta) < 1e-12:
            break
    dE = -math.sin(E)
    dmean_anomaly = 0.0
    deccentricity = -1.0
    for E in reversed(tape):
        slope = 1 - eccentricity * math.cos(E)
        delta = (E - eccentricity * math.sin(E) - mean_anomaly) / slope
        d = dE / slope
        dmean_anomaly += d
        deccentricity += d * (math.sin(E) - delta * math.cos(E))
        dE = d * delta * eccentricity * math.sin(E)
    return dmean_anomaly + dE, deccentricity
