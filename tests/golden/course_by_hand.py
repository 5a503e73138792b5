"""Gradients of the functions of `course.py` as a good textbook prints them."""

import math

import numpy as np


def gradient_logistic(w, X, y, lam):
    z = X @ w
    dz = -y / (1 + np.exp(y * z)) / len(y)
    return X.T @ dz + lam * w


def rnn_loop(W, U, b, xs, target):
    h = np.zeros(len(b))
    hs = [h]
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
        hs.append(h)
    dW = np.zeros_like(W)
    dU = np.zeros_like(U)
    db = np.zeros_like(b)
    dh = 2 * (h - target)
    for t in reversed(range(len(xs))):
        da = dh * (1 - hs[t + 1] ** 2)
        dW += np.outer(da, hs[t])
        dU += np.outer(da, xs[t])
        db += da
        dh = W.T @ da
    return dW, dU, db


def kalman_step(x, P, z, F, H, Q, R):
    x_pred = F @ x
    P_pred = F @ P @ F.T + Q
    innovation = z - H @ x_pred
    S_inv = np.linalg.inv(H @ P_pred @ H.T + R)
    PHt = P_pred @ H.T
    K = PHt @ S_inv
    x_new = x_pred + K @ innovation
    dx_new = 2 * x_new
    dK = np.outer(dx_new, innovation)
    dx_pred = dx_new - H.T @ (K.T @ dx_new)
    dPHt = dK @ S_inv.T
    dS = -K.T @ dPHt
    dP_pred = H.T @ dS @ H + dPHt @ H
    return F.T @ dx_pred, F.T @ dP_pred @ F


def cross_entropy(W, X, labels):
    scores = X @ W
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    dscores = e / e.sum(axis=1, keepdims=True)
    n = len(labels)
    dscores[np.arange(n), labels] -= 1
    return X.T @ dscores / n


def batch_norm(x, gamma, beta, target):
    std = np.sqrt(x.var(axis=0) + 1e-5)
    x_hat = (x - x.mean(axis=0)) / std
    out = gamma * x_hat + beta
    dout = 2 * (out - target) / out.size
    dgamma = (dout * x_hat).sum(axis=0)
    dbeta = dout.sum(axis=0)
    dx_hat = dout * gamma
    dx = (dx_hat - dx_hat.mean(axis=0) - x_hat * (dx_hat * x_hat).mean(axis=0)) / std
    return dx, dgamma, dbeta


def conv1d(signal, kernel, target):
    n, k = len(signal), len(kernel)
    out = np.zeros(n - k + 1)
    for i in range(n - k + 1):
        for j in range(k):
            out[i] += signal[i + j] * kernel[j]
    dout = 2 * (out - target)
    dsignal = np.zeros_like(signal)
    dkernel = np.zeros_like(kernel)
    for i in range(n - k + 1):
        for j in range(k):
            dsignal[i + j] += dout[i] * kernel[j]
            dkernel[j] += dout[i] * signal[i + j]
    return dsignal, dkernel


def verlet(x, v, k, dt, steps):
    a = -k * x
    xs = [x]
    for _ in range(steps):
        x = x + v * dt + 0.5 * a * dt**2
        a_new = -k * x
        v = v + 0.5 * (a + a_new) * dt
        a = a_new
        xs.append(x)
    dv = v
    dx = k * x
    dk = 0.5 * x**2
    da = 0.0
    for x in reversed(xs[1:]):
        da += 0.5 * dv * dt
        dk -= da * x
        dx -= da * k
        da = 0.5 * dv * dt + 0.5 * dx * dt**2
        dv += dx * dt
    dk -= da * xs[0]
    dx -= da * k
    return dx, dv, dk


def horner_poly(coeffs, x):
    result = 0.0
    results = []
    for c in coeffs:
        results.append(result)
        result = result * x + c
    dcoeffs = np.zeros_like(coeffs)
    dx = 0.0
    dresult = 1.0
    for i in reversed(range(len(coeffs))):
        dcoeffs[i] = dresult
        dx += dresult * results[i]
        dresult *= x
    return dcoeffs, dx


def newton_cube_root(a):
    x = a
    xs = []
    for _ in range(10):
        xs.append(x)
        x = x - (x**3 - a) / (3 * x**2)
    da = 0.0
    dx = 1.0
    for x in reversed(xs):
        da += dx / (3 * x**2)
        dx *= 2 * (x**3 - a) / (3 * x**3)
    return da + dx


def bilinear_sample(image, u, v):
    i = int(math.floor(u))
    j = int(math.floor(v))
    s = u - i
    t = v - j
    top = (1 - t) * image[i, j] + t * image[i, j + 1]
    bottom = (1 - t) * image[i + 1, j] + t * image[i + 1, j + 1]
    dimage = np.zeros_like(image)
    dimage[i, j] = (1 - s) * (1 - t)
    dimage[i, j + 1] = (1 - s) * t
    dimage[i + 1, j] = s * (1 - t)
    dimage[i + 1, j + 1] = s * t
    du = bottom - top
    dv = (1 - s) * (image[i, j + 1] - image[i, j]) + s * (
        image[i + 1, j + 1] - image[i + 1, j]
    )
    return dimage, du, dv


def self_attention(X, Wq, Wk, Wv):
    Q = X @ Wq
    K = X @ Wk
    V = X @ Wv
    scale = np.sqrt(Q.shape[1])
    scores = Q @ K.T / scale
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = e / e.sum(axis=1, keepdims=True)
    dout = 2 * A @ V
    dV = A.T @ dout
    dA = dout @ V.T
    dscores = A * (dA - np.sum(dA * A, axis=1, keepdims=True)) / scale
    return X.T @ (dscores @ K), X.T @ (dscores.T @ Q), X.T @ dV


def gru_cell(x, h, Wz, Wr, Wh):
    n = len(x)
    xh = np.concatenate([x, h])
    z = 1 / (1 + np.exp(-Wz @ xh))
    r = 1 / (1 + np.exp(-Wr @ xh))
    xrh = np.concatenate([x, r * h])
    candidate = np.tanh(Wh @ xrh)
    h_new = (1 - z) * h + z * candidate
    dh_new = 2 * h_new
    dcandidate = dh_new * z * (1 - candidate**2)
    drh = (Wh.T @ dcandidate)[n:]
    dz = dh_new * (candidate - h) * z * (1 - z)
    dr = drh * h * r * (1 - r)
    dh = dh_new * (1 - z) + drh * r + (Wz.T @ dz + Wr.T @ dr)[n:]
    return dh, np.outer(dz, xh), np.outer(dr, xh), np.outer(dcandidate, xrh)


def triplet_loss(anchor, positive, negative, margin):
    d_pos = np.sum((anchor - positive) ** 2, axis=1)
    d_neg = np.sum((anchor - negative) ** 2, axis=1)
    active = (d_pos - d_neg + margin > 0)[:, None] / len(anchor)
    danchor = 2 * active * (negative - positive)
    dpositive = -2 * active * (anchor - positive)
    dnegative = 2 * active * (anchor - negative)
    return danchor, dpositive, dnegative


def huber(w, X, y, delta):
    r = X @ w - y
    dr = np.where(np.abs(r) <= delta, r, delta * np.sign(r))
    return X.T @ dr


def kmeans_loss(centers, points):
    dcenters = np.zeros_like(centers)
    for p in points:
        distances = np.sum((centers - p) ** 2, axis=1)
        nearest = np.argmin(distances)
        dcenters[nearest] += 2 * (centers[nearest] - p)
    return dcenters


def trapezoid_decay(rate, y0, dt, steps):
    y = y0
    ys = []
    for _ in range(steps):
        ys.append(y)
        y = y * (1 - 0.5 * dt * rate) / (1 + 0.5 * dt * rate)
    dy = 2 * y
    drate = 0.0
    for y in reversed(ys):
        drate -= dy * y * dt / (1 + 0.5 * dt * rate) ** 2
        dy *= (1 - 0.5 * dt * rate) / (1 + 0.5 * dt * rate)
    return drate, dy


def simpson(a, b, n):
    h = (b - a) / n
    total = np.exp(-(a**2)) + np.exp(-(b**2))
    dtotal = h / 3
    dh = 0.0
    da = -2 * a * np.exp(-(a**2)) * dtotal
    db = -2 * b * np.exp(-(b**2)) * dtotal
    for i in range(1, n):
        weight = 4 if i % 2 == 1 else 2
        x = a + i * h
        total += weight * np.exp(-(x**2))
        dx = -2 * x * weight * np.exp(-(x**2)) * dtotal
        da += dx
        dh += i * dx
    dh += total / 3
    return da - dh / n, db + dh / n


def dtw(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    dx = np.zeros_like(x)
    dy = np.zeros_like(y)
    i, j = n, m
    while i > 0:
        d = 2 * (x[i - 1] - y[j - 1])
        dx[i - 1] += d
        dy[j - 1] -= d
        i, j = min([(i - 1, j), (i, j - 1), (i - 1, j - 1)], key=lambda p: D[p])
    return dx, dy


def cholesky_solve(A, b):
    n = len(b)
    L = np.linalg.cholesky(A)
    y = np.zeros(n)
    for i in range(n):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
    dL = np.zeros_like(L)
    db = np.zeros_like(b)
    dy = 2 * y
    for i in reversed(range(n)):
        d = dy[i] / L[i, i]
        db[i] = d
        dL[i, :i] = -d * y[:i]
        dy[:i] -= d * L[i, :i]
        dL[i, i] = -d * y[i]
    P = np.tril(L.T @ dL)
    P -= np.diag(np.diag(P)) / 2
    S = np.linalg.solve(L.T, np.linalg.solve(L.T, P.T).T)
    return (S + S.T) / 2, db


def gaussian_nll(mu, Sigma, data):
    diff = data - mu
    solved = np.linalg.solve(Sigma, diff.T)
    dmu = -solved.sum(axis=1)
    dSigma = 0.5 * (len(data) * np.linalg.inv(Sigma).T - solved @ solved.T)
    return dmu, dSigma
