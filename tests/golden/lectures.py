"""Sixteen functions of lectures, whose gradients by hand were written first.

`python -m tests.golden.ratios lectures` measures them; `lectures_by_hand.py` has their
gradients by hand.
"""

import math

import numpy as np
from scipy.special import erf, logsumexp


def mlp_softmax(W1, b1, W2, b2, X, labels):
    hidden = np.maximum(0, X @ W1 + b1)
    logits = hidden @ W2 + b2
    logits = logits - logits.max(axis=1, keepdims=True)
    probs = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    return -np.mean(np.log(probs[np.arange(len(labels)), labels]))


def sigmoid(u):
    return 1 / (1 + np.exp(-u))


def lstm_cell(Wx, Wh, b, x, h, c):
    n = len(h)
    gates = Wx @ x + Wh @ h + b
    i = sigmoid(gates[:n])
    f = sigmoid(gates[n : 2 * n])
    o = sigmoid(gates[2 * n : 3 * n])
    g = np.tanh(gates[3 * n :])
    c_new = f * c + i * g
    h_new = o * np.tanh(c_new)
    return np.sum(h_new**2)


def self_attention(X, Wq, Wk, Wv):
    Q = X @ Wq
    K = X @ Wk
    V = X @ Wv
    scores = Q @ K.T / np.sqrt(K.shape[1])
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    out = weights @ V
    return np.sum(out**2)


def ising_energy(spins, J, field):
    n, m = spins.shape
    energy = 0.0
    for i in range(n):
        for j in range(m):
            neighbours = spins[(i + 1) % n, j] + spins[i, (j + 1) % m]
            energy -= J * spins[i, j] * neighbours
            energy -= field * spins[i, j]
    return energy


def gmm_log_likelihood(logits, means, log_sigmas, data):
    log_pi = logits - logsumexp(logits)
    z = (data[:, None] - means) / np.exp(log_sigmas)
    log_prob = log_pi - 0.5 * z**2 - log_sigmas - 0.5 * np.log(2 * np.pi)
    return np.sum(logsumexp(log_prob, axis=1))


def gp_marginal(length, noise, x, y):
    d2 = (x[:, None] - x[None, :]) ** 2
    K = np.exp(-0.5 * d2 / length**2) + noise**2 * np.eye(len(x))
    alpha = np.linalg.solve(K, y)
    sign, logdet = np.linalg.slogdet(K)
    return 0.5 * y @ alpha + 0.5 * logdet


def black_scholes(S, K, r, sigma, T):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    cdf1 = 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
    cdf2 = 0.5 * (1 + math.erf(d2 / math.sqrt(2)))
    return S * cdf1 - K * math.exp(-r * T) * cdf2


def n_body_energy(positions, masses, softening):
    n = len(masses)
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            r = positions[j] - positions[i]
            distance = np.sqrt(np.sum(r**2) + softening**2)
            energy -= masses[i] * masses[j] / distance
    return energy


def pca_loss(W, X):
    centred = X - X.mean(axis=0)
    codes = centred @ W
    error = centred - codes @ W.T
    return np.mean(np.sum(error**2, axis=1))


def gauss_seidel(A, b, x0, sweeps):
    x = x0.copy()
    n = len(b)
    for _ in range(sweeps):
        for i in range(n):
            s = A[i] @ x - A[i, i] * x[i]
            x[i] = (b[i] - s) / A[i, i]
    return np.sum(x**2)


def hmm_forward(initial, transition, emission, observations):
    alpha = initial * emission[:, observations[0]]
    log_likelihood = 0.0
    for o in observations[1:]:
        scale = np.sum(alpha)
        log_likelihood += np.log(scale)
        alpha = (alpha / scale) @ transition * emission[:, o]
    return log_likelihood + np.log(np.sum(alpha))


def sir_euler(beta, gamma, s0, i0, dt, observed):
    s, i = s0, i0
    loss = 0.0
    for y in observed:
        new_cases = beta * s * i * dt
        recovered = gamma * i * dt
        s = s - new_cases
        i = i + new_cases - recovered
        loss += (i - y) ** 2
    return loss


def binary_cross_entropy(w, b, X, y):
    p = sigmoid(X @ w + b)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def arm_distance(angles, lengths, target):
    theta = 0.0
    x = 0.0
    y = 0.0
    for angle, length in zip(angles, lengths, strict=False):
        theta += angle
        x += length * np.cos(theta)
        y += length * np.sin(theta)
    return (x - target[0]) ** 2 + (y - target[1]) ** 2


def leapfrog(q, p, mass, stiffness, dt, steps):
    p = p - 0.5 * dt * stiffness * q
    for _ in range(steps):
        q = q + dt * p / mass
        p = p - dt * stiffness * np.sin(q)
    return 0.5 * np.sum(p**2) / mass + stiffness * np.sum(1 - np.cos(q))


def poisson_gelu(w, X, counts, lam):
    u = X @ w
    rate = 0.5 * u * (1 + erf(u / np.sqrt(2))) + 1.0
    nll = np.sum(rate - counts * np.log(rate))
    return nll + lam * np.sqrt(np.sum(w**2))


rng = np.random.default_rng(2)
r = rng.normal

#: Arguments, and which of them are differentiated.
ARGS = {
    "mlp_softmax": (
        (
            r(size=(3, 4)),
            r(size=4),
            r(size=(4, 2)),
            r(size=2),
            r(size=(5, 3)),
            np.array([0, 1, 1, 0, 1]),
        ),
        (0, 1, 2, 3),
    ),
    "lstm_cell": (
        (
            r(size=(12, 2)),
            r(size=(12, 3)),
            r(size=12),
            r(size=2),
            r(size=3),
            r(size=3),
        ),
        (0, 1, 2),
    ),
    "self_attention": (
        (r(size=(4, 3)), r(size=(3, 2)), r(size=(3, 2)), r(size=(3, 2))),
        (1, 2, 3),
    ),
    "ising_energy": ((r(size=(3, 4)), 0.7, 0.2), (0, 1, 2)),
    "gmm_log_likelihood": ((r(size=2), r(size=2), r(size=2), r(size=7)), (0, 1, 2)),
    "gp_marginal": ((0.8, 0.3, r(size=5), r(size=5)), (0, 1)),
    "black_scholes": ((100.0, 95.0, 0.03, 0.2, 1.5), (0, 3)),
    "n_body_energy": ((r(size=(4, 3)), np.exp(r(size=4)), 0.1), (0, 1)),
    "pca_loss": ((r(size=(3, 2)), r(size=(6, 3))), 0),
    "gauss_seidel": ((r(size=(3, 3)) + 4 * np.eye(3), r(size=3), r(size=3), 4), (0, 1)),
    "hmm_forward": (
        (
            np.array([0.6, 0.4]),
            np.array([[0.7, 0.3], [0.2, 0.8]]),
            np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
            np.array([0, 2, 1, 1, 0]),
        ),
        (0, 1, 2),
    ),
    "sir_euler": ((0.4, 0.1, 0.9, 0.1, 0.5, np.exp(r(size=6)) / 10), (0, 1)),
    "binary_cross_entropy": (
        (r(size=3), 0.1, r(size=(6, 3)), np.array([0.0, 1, 1, 0, 1, 0])),
        (0, 1),
    ),
    "arm_distance": ((r(size=4), np.exp(r(size=4)), r(size=2)), (0, 1)),
    "leapfrog": ((r(size=3), r(size=3), 1.3, 0.7, 0.1, 5), (0, 1, 3)),
    "poisson_gelu": ((r(size=3), r(size=(6, 3)), np.arange(6.0), 0.4), 0),
}
