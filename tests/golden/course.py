"""Twenty functions of textbooks and courses that the passes were not tuned to.

Their gradients by hand are in `course_by_hand.py`; `python -m tests.golden.ratios
course` measures the texts beside these.
"""

import math

import numpy as np


def gradient_logistic(w, X, y, lam):
    z = X @ w
    loss = np.mean(np.log1p(np.exp(-y * z)))
    return loss + 0.5 * lam * np.dot(w, w)


def rnn_loop(W, U, b, xs, target):
    h = np.zeros(len(b))
    for t in range(len(xs)):
        h = np.tanh(W @ h + U @ xs[t] + b)
    return np.sum((h - target) ** 2)


def kalman_step(x, P, z, F, H, Q, R):
    x_pred = F @ x
    P_pred = F @ P @ F.T + Q
    innovation = z - H @ x_pred
    S = H @ P_pred @ H.T + R
    K = P_pred @ H.T @ np.linalg.inv(S)
    x_new = x_pred + K @ innovation
    return np.sum(x_new**2)


def cross_entropy(W, X, labels):
    scores = X @ W
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_probs[np.arange(len(labels)), labels])


def batch_norm(x, gamma, beta, target):
    mu = x.mean(axis=0)
    var = x.var(axis=0)
    x_hat = (x - mu) / np.sqrt(var + 1e-5)
    out = gamma * x_hat + beta
    return np.mean((out - target) ** 2)


def conv1d(signal, kernel, target):
    n, k = len(signal), len(kernel)
    out = np.zeros(n - k + 1)
    for i in range(n - k + 1):
        for j in range(k):
            out[i] += signal[i + j] * kernel[j]
    return np.sum((out - target) ** 2)


def verlet(x, v, k, dt, steps):
    a = -k * x
    for _ in range(steps):
        x = x + v * dt + 0.5 * a * dt**2
        a_new = -k * x
        v = v + 0.5 * (a + a_new) * dt
        a = a_new
    return 0.5 * v**2 + 0.5 * k * x**2


def horner_poly(coeffs, x):
    result = 0.0
    for c in coeffs:
        result = result * x + c
    return result


def newton_cube_root(a):
    x = a
    for _ in range(10):
        x = x - (x**3 - a) / (3 * x**2)
    return x


def bilinear_sample(image, u, v):
    i = int(math.floor(u))
    j = int(math.floor(v))
    s = u - i
    t = v - j
    top = (1 - t) * image[i, j] + t * image[i, j + 1]
    bottom = (1 - t) * image[i + 1, j] + t * image[i + 1, j + 1]
    return (1 - s) * top + s * bottom


def self_attention(X, Wq, Wk, Wv):
    Q = X @ Wq
    K = X @ Wk
    V = X @ Wv
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = e / e.sum(axis=1, keepdims=True)
    return np.sum((A @ V) ** 2)


def gru_cell(x, h, Wz, Wr, Wh):
    xh = np.concatenate([x, h])
    z = 1 / (1 + np.exp(-Wz @ xh))
    r = 1 / (1 + np.exp(-Wr @ xh))
    candidate = np.tanh(Wh @ np.concatenate([x, r * h]))
    h_new = (1 - z) * h + z * candidate
    return np.sum(h_new**2)


def triplet_loss(anchor, positive, negative, margin):
    d_pos = np.sum((anchor - positive) ** 2, axis=1)
    d_neg = np.sum((anchor - negative) ** 2, axis=1)
    return np.mean(np.maximum(d_pos - d_neg + margin, 0))


def huber(w, X, y, delta):
    r = X @ w - y
    small = np.abs(r) <= delta
    return np.sum(np.where(small, 0.5 * r**2, delta * (np.abs(r) - 0.5 * delta)))


def kmeans_loss(centers, points):
    total = 0.0
    for p in points:
        distances = np.sum((centers - p) ** 2, axis=1)
        total += np.min(distances)
    return total


def trapezoid_decay(rate, y0, dt, steps):
    y = y0
    for _ in range(steps):
        y = y * (1 - 0.5 * dt * rate) / (1 + 0.5 * dt * rate)
    return y**2


def simpson(a, b, n):
    h = (b - a) / n
    total = np.exp(-(a**2)) + np.exp(-(b**2))
    for i in range(1, n):
        weight = 4 if i % 2 == 1 else 2
        total += weight * np.exp(-((a + i * h) ** 2))
    return total * h / 3


def dtw(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def cholesky_solve(A, b):
    n = len(b)
    L = np.linalg.cholesky(A)
    y = np.zeros(n)
    for i in range(n):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
    return y @ y


def gaussian_nll(mu, Sigma, data):
    n, d = data.shape
    diff = data - mu
    solved = np.linalg.solve(Sigma, diff.T)
    quad = np.sum(diff.T * solved)
    sign, logdet = np.linalg.slogdet(Sigma)
    return 0.5 * (quad + n * logdet + n * d * np.log(2 * np.pi))


rng = np.random.default_rng(0)
r = rng.normal


def spd(n):
    a = r(size=(n, n))
    return a @ a.T + n * np.eye(n)


#: Arguments, and which of them are differentiated.
ARGS = {
    "gradient_logistic": ((r(size=3), r(size=(5, 3)), np.sign(r(size=5)), 0.1), 0),
    "rnn_loop": (
        (r(size=(3, 3)), r(size=(3, 2)), r(size=3), r(size=(4, 2)), r(size=3)),
        (0, 1, 2),
    ),
    "kalman_step": (
        (r(size=2), spd(2), r(size=1), r(size=(2, 2)), r(size=(1, 2)), spd(2), spd(1)),
        (0, 1),
    ),
    "cross_entropy": ((r(size=(3, 4)), r(size=(5, 3)), np.array([0, 3, 1, 2, 2])), 0),
    "batch_norm": ((r(size=(5, 3)), r(size=3), r(size=3), r(size=(5, 3))), (0, 1, 2)),
    "conv1d": ((r(size=7), r(size=3), r(size=5)), (0, 1)),
    "verlet": ((1.0, 0.3, 2.0, 0.1, 5), (0, 1, 2)),
    "horner_poly": ((r(size=4), 1.5), (0, 1)),
    "newton_cube_root": ((2.0,), 0),
    "bilinear_sample": ((r(size=(4, 5)), 1.3, 2.6), (0, 1, 2)),
    "self_attention": (
        (r(size=(4, 3)), r(size=(3, 2)), r(size=(3, 2)), r(size=(3, 2))),
        (1, 2, 3),
    ),
    "gru_cell": (
        (r(size=2), r(size=3), r(size=(3, 5)), r(size=(3, 5)), r(size=(3, 5))),
        (1, 2, 3, 4),
    ),
    "triplet_loss": ((r(size=(4, 3)), r(size=(4, 3)), r(size=(4, 3)), 0.5), (0, 1, 2)),
    "huber": ((r(size=3), r(size=(5, 3)), r(size=5), 0.7), 0),
    "kmeans_loss": ((r(size=(3, 2)), r(size=(6, 2))), 0),
    "trapezoid_decay": ((0.7, 1.5, 0.1, 6), (0, 1)),
    "simpson": ((0.1, 1.3, 6), (0, 1)),
    "dtw": ((r(size=4), r(size=5)), (0, 1)),
    "cholesky_solve": ((spd(3), r(size=3)), (0, 1)),
    "gaussian_nll": ((r(size=2), spd(2), r(size=(5, 2))), (0, 1)),
}
