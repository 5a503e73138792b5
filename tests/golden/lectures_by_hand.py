"""Gradients of the functions of `lectures.py` as a good textbook prints them."""

import math

import numpy as np
from scipy.special import erf, softmax


def mlp_softmax(W1, b1, W2, b2, X, labels):
    a = X @ W1 + b1
    hidden = np.maximum(0, a)
    n = len(labels)
    dlogits = softmax(hidden @ W2 + b2, axis=1)
    dlogits[np.arange(n), labels] -= 1
    dlogits = dlogits / n
    da = dlogits @ W2.T * (a > 0)
    return X.T @ da, da.sum(axis=0), hidden.T @ dlogits, dlogits.sum(axis=0)


def lstm_cell(Wx, Wh, b, x, h, c):
    n = len(h)
    gates = Wx @ x + Wh @ h + b
    i = sigmoid(gates[:n])
    f = sigmoid(gates[n : 2 * n])
    o = sigmoid(gates[2 * n : 3 * n])
    g = np.tanh(gates[3 * n :])
    tanh_c = np.tanh(f * c + i * g)
    dh_new = 2 * o * tanh_c
    dc_new = dh_new * o * (1 - tanh_c**2)
    di = dc_new * g * i * (1 - i)
    df = dc_new * c * f * (1 - f)
    do = dh_new * tanh_c * o * (1 - o)
    dg = dc_new * i * (1 - g**2)
    dgates = np.concatenate([di, df, do, dg])
    return np.outer(dgates, x), np.outer(dgates, h), dgates


def sigmoid(u):
    return 1 / (1 + np.exp(-u))


def self_attention(X, Wq, Wk, Wv):
    Q = X @ Wq
    K = X @ Wk
    V = X @ Wv
    scale = np.sqrt(K.shape[1])
    weights = softmax(Q @ K.T / scale, axis=-1)
    dout = 2 * weights @ V
    dweights = dout @ V.T
    mean = np.sum(dweights * weights, axis=-1, keepdims=True)
    dscores = weights * (dweights - mean) / scale
    return X.T @ (dscores @ K), X.T @ (dscores.T @ Q), X.T @ (weights.T @ dout)


def ising_energy(spins, J, field):
    n, m = spins.shape
    dspins = np.zeros_like(spins)
    dJ = 0.0
    dfield = 0.0
    for i in range(n):
        for j in range(m):
            neighbours = spins[(i + 1) % n, j] + spins[i, (j + 1) % m]
            dspins[i, j] -= J * neighbours + field
            dspins[(i + 1) % n, j] -= J * spins[i, j]
            dspins[i, (j + 1) % m] -= J * spins[i, j]
            dJ -= spins[i, j] * neighbours
            dfield -= spins[i, j]
    return dspins, dJ, dfield


def gmm_log_likelihood(logits, means, log_sigmas, data):
    sigmas = np.exp(log_sigmas)
    z = (data[:, None] - means) / sigmas
    p = softmax(logits - 0.5 * z**2 - log_sigmas, axis=1)
    dlogits = p.sum(axis=0) - len(data) * softmax(logits)
    dmeans = np.sum(p * z, axis=0) / sigmas
    return dlogits, dmeans, np.sum(p * (z**2 - 1), axis=0)


def gp_marginal(length, noise, x, y):
    d2 = (x[:, None] - x[None, :]) ** 2
    rbf = np.exp(-0.5 * d2 / length**2)
    K = rbf + noise**2 * np.eye(len(x))
    alpha = np.linalg.solve(K, y)
    dK = 0.5 * (np.linalg.inv(K) - np.outer(alpha, alpha))
    return np.sum(dK * rbf * d2) / length**3, 2 * noise * np.trace(dK)


def black_scholes(S, K, r, sigma, T):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    delta = 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
    vega = S * math.sqrt(T) * math.exp(-(d1**2) / 2) / math.sqrt(2 * math.pi)
    return delta, vega


def n_body_energy(positions, masses, softening):
    n = len(masses)
    dpositions = np.zeros_like(positions)
    dmasses = np.zeros_like(masses)
    for i in range(n):
        for j in range(i + 1, n):
            r = positions[j] - positions[i]
            distance = np.sqrt(np.sum(r**2) + softening**2)
            dr = masses[i] * masses[j] * r / distance**3
            dpositions[j] += dr
            dpositions[i] -= dr
            dmasses[i] -= masses[j] / distance
            dmasses[j] -= masses[i] / distance
    return dpositions, dmasses


def pca_loss(W, X):
    centred = X - X.mean(axis=0)
    codes = centred @ W
    derror = 2 * (centred - codes @ W.T) / len(X)
    return -derror.T @ codes - centred.T @ (derror @ W)


def gauss_seidel(A, b, x0, sweeps):
    x = x0.copy()
    n = len(b)
    tape = []
    for _ in range(sweeps):
        for i in range(n):
            tape.append(x.copy())
            s = A[i] @ x - A[i, i] * x[i]
            x[i] = (b[i] - s) / A[i, i]
    dA = np.zeros_like(A)
    db = np.zeros_like(b)
    dx = 2 * x
    for _ in range(sweeps):
        for i in reversed(range(n)):
            new = x[i]
            x = tape.pop()
            d = dx[i] / A[i, i]
            db[i] += d
            dA[i] -= d * x
            dA[i, i] += d * (x[i] - new)
            dx[i] = 0.0
            dx -= d * A[i]
            dx[i] += d * A[i, i]
    return dA, db


def hmm_forward(initial, transition, emission, observations):
    alpha = initial * emission[:, observations[0]]
    alphas = [alpha]
    for o in observations[1:]:
        alpha = alpha / np.sum(alpha) @ transition * emission[:, o]
        alphas.append(alpha)
    dtransition = np.zeros_like(transition)
    demission = np.zeros_like(emission)
    dalpha = 1 / np.sum(alpha) * np.ones_like(alpha)
    for t in reversed(range(1, len(observations))):
        o = observations[t]
        scale = np.sum(alphas[t - 1])
        normed = alphas[t - 1] / scale
        demission[:, o] += dalpha * (normed @ transition)
        dpredicted = dalpha * emission[:, o]
        dtransition += np.outer(normed, dpredicted)
        dnormed = transition @ dpredicted
        dalpha = (dnormed - dnormed @ normed + 1) / scale
    o = observations[0]
    demission[:, o] += dalpha * initial
    return dalpha * emission[:, o], dtransition, demission


def sir_euler(beta, gamma, s0, i0, dt, observed):
    s, i = s0, i0
    tape = []
    for _ in observed:
        tape.append((s, i))
        new_cases = beta * s * i * dt
        recovered = gamma * i * dt
        s = s - new_cases
        i = i + new_cases - recovered
    ds = 0.0
    di = 0.0
    dbeta = 0.0
    dgamma = 0.0
    for y in reversed(observed):
        di += 2 * (i - y)
        s, i = tape.pop()
        dnew_cases = di - ds
        dbeta += dnew_cases * s * i * dt
        dgamma -= di * i * dt
        ds += dnew_cases * beta * i * dt
        di += dnew_cases * beta * s * dt - di * gamma * dt
    return dbeta, dgamma


def binary_cross_entropy(w, b, X, y):
    du = (sigmoid(X @ w + b) - y) / len(y)
    return X.T @ du, du.sum()


def arm_distance(angles, lengths, target):
    theta = np.cumsum(angles)
    c, s = np.cos(theta), np.sin(theta)
    dx = 2 * (np.sum(lengths * c) - target[0])
    dy = 2 * (np.sum(lengths * s) - target[1])
    dtheta = lengths * (dy * c - dx * s)
    return np.cumsum(dtheta[::-1])[::-1], dx * c + dy * s


def leapfrog(q, p, mass, stiffness, dt, steps):
    q0 = q
    p = p - 0.5 * dt * stiffness * q
    qs = []
    for _ in range(steps):
        q = q + dt * p / mass
        qs.append(q)
        p = p - dt * stiffness * np.sin(q)
    dp = p / mass
    dq = stiffness * np.sin(q)
    dstiffness = np.sum(1 - np.cos(q))
    for q in reversed(qs):
        dq -= dp * dt * stiffness * np.cos(q)
        dstiffness -= dt * dp @ np.sin(q)
        dp += dt * dq / mass
    dstiffness -= 0.5 * dt * dp @ q0
    return dq - 0.5 * dt * stiffness * dp, dp, dstiffness


def poisson_gelu(w, X, counts, lam):
    u = X @ w
    cdf = 0.5 * (1 + erf(u / np.sqrt(2)))
    rate = u * cdf + 1
    density = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    du = (1 - counts / rate) * (cdf + u * density)
    return X.T @ du + lam * w / np.sqrt(w @ w)
