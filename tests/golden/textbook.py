"""The gradient a good textbook would write for each function of `functions.py`.

Written by hand, one function of the same name and arguments for each; what one calls
(`predict_backward`) counts as a part of it. They are checked against finite
differences, and the generated gradients are measured against them.
"""

import math

import numpy as np

# --- scalars -------------------------------------------------------------------


def square(x):
    return 2 * x


def square_plus_sine(x):
    return 2 * x + 3 * math.cos(x)


def product(x, y):
    dx = math.sin(y)
    dy = x * math.cos(y)
    return dx, dy


def quotient(x):
    bottom = x * x + 1
    return 1 / bottom - (x + 1) * 2 * x / bottom**2


def chain(x):
    inner = math.sin(x**2)
    dinner = math.exp(inner)
    return dinner * math.cos(x**2) * 2 * x


def damped_wave(t, frequency, damping):
    envelope = math.exp(-damping * t)
    phase = frequency * t
    denvelope = math.cos(phase)
    dphase = -envelope * math.sin(phase)
    dt = dphase * frequency - denvelope * envelope * damping
    dfrequency = dphase * t
    ddamping = -denvelope * envelope * t
    return dt, dfrequency, ddamping


def horner(coefficients, x):
    totals = [0.0]
    for c in coefficients:
        totals.append(totals[-1] * x + c)
    dcoefficients = np.zeros_like(coefficients)
    dx = 0.0
    dtotal = 1.0
    for i in reversed(range(len(coefficients))):
        dcoefficients[i] = dtotal
        dx += dtotal * totals[i]
        dtotal = dtotal * x
    return dcoefficients, dx


def power(x, n):
    results = [1.0]
    for i in range(n):
        results.append(results[i] * x)
    dx = 0.0
    dresult = 1.0
    for i in reversed(range(n)):
        dx += dresult * results[i]
        dresult = dresult * x
    return dx


def recursive_power(x, n):
    _, saved = recursive_power_forward(x, n)
    return recursive_power_backward(saved, 1.0)


def recursive_power_forward(x, n):
    if n == 0:
        return 1.0, None
    rest, saved = recursive_power_forward(x, n - 1)
    return x * rest, (x, rest, saved)


def recursive_power_backward(saved, dy):
    if saved is None:
        return 0.0
    x, rest, saved_rest = saved
    return dy * rest + recursive_power_backward(saved_rest, dy * x)


def piecewise(x):
    dy = 2.0
    if x < 0:
        dx = dy * 2 * x
    elif x < 1:
        dx = dy * math.cos(x)
    else:
        dx = dy / x
    return dx


def early_return(x):
    if x > 2:
        return 2 * x
    return math.exp(x)


def newton_sqrt(a):
    xs = []
    x = a
    while abs(x * x - a) > 1e-10:
        xs.append(x)
        x = (x + a / x) / 2
    da = 0.0
    dx = 1.0
    while xs:
        x = xs.pop()
        da += dx / (2 * x)
        dx = dx * (1 - a / x**2) / 2
    return da + dx


def lotka_volterra(prey, predators, dt):
    saved = []
    for _ in range(20):
        saved.append((prey, predators))
        births = prey * (1.1 - 0.4 * predators)
        deaths = predators * (0.1 * prey - 0.4)
        prey = prey + dt * births
        predators = predators + dt * deaths
    dprey = 1.0
    dpredators = 1.0
    for prey, predators in reversed(saved):
        dbirths = dprey * dt
        ddeaths = dpredators * dt
        dprey += dbirths * (1.1 - 0.4 * predators) + ddeaths * 0.1 * predators
        dpredators += ddeaths * (0.1 * prey - 0.4) - dbirths * 0.4 * prey
    return dprey, dpredators


# --- regression and classification -----------------------------------------------


def ridge_regression(w, features, targets, strength):
    residuals = features @ w - targets
    return 2 / len(residuals) * features.T @ residuals + 2 * strength * w


def linear_regression(w, b, features, targets):
    residuals = features @ w + b - targets
    dw = features.T @ residuals
    db = np.sum(residuals)
    return dw, db


def logistic_regression(w, features, labels):
    p = 1 / (1 + np.exp(-features @ w))
    dp = -(labels / p - (1 - labels) / (1 - p)) / len(labels)
    dscores = dp * p * (1 - p)
    return features.T @ dscores


def softmax_cross_entropy(logits, targets):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    normaliser = np.sum(exponentials, axis=1, keepdims=True)
    dshifted = -targets
    dlog_normaliser = np.sum(targets, axis=1, keepdims=True)
    return dshifted + dlog_normaliser * exponentials / normaliser


def log_sum_exp(x):
    largest = np.max(x)
    exponentials = np.exp(x - largest)
    return exponentials / np.sum(exponentials)


def dict_params(params, features, targets):
    residuals = features @ params["w"] + params["b"] - targets
    dpredictions = 2 / len(residuals) * residuals
    dw = features.T @ dpredictions
    db = np.sum(dpredictions)
    return {"w": dw, "b": db}


# --- networks ----------------------------------------------------------------------


def mlp_unrolled(w1, b1, w2, b2, inputs, targets):
    hidden = np.tanh(inputs @ w1 + b1)
    outputs = hidden @ w2 + b2
    doutputs = 2 / outputs.size * (outputs - targets)
    dw2 = hidden.T @ doutputs
    db2 = np.sum(doutputs, axis=0)
    dhidden = doutputs @ w2.T
    dz = dhidden * (1 - hidden**2)
    dw1 = inputs.T @ dz
    db1 = np.sum(dz, axis=0)
    return dw1, db1, dw2, db2


def mlp_looped(params, inputs, targets):
    activations = []
    for W, b in params:
        activations.append(inputs)
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    dparams = []
    doutputs = 2 / outputs.size * (outputs - targets)
    for (W, _), inputs in zip(reversed(params), reversed(activations), strict=True):
        dW = inputs.T @ doutputs
        db = np.sum(doutputs, axis=0)
        dparams.append((dW, db))
        dinputs = doutputs @ W.T
        doutputs = dinputs * (1 - inputs**2)
    dparams.reverse()
    return dparams


def two_function_model(params, inputs, targets):
    _, saved = predict_forward(params, inputs)
    dlog_probabilities = -targets / len(targets)
    return predict_backward(saved, dlog_probabilities)


def predict_forward(params, inputs):
    activations = []
    for W, b in params:
        activations.append(inputs)
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    shifted = outputs - np.max(outputs, axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    normaliser = np.sum(exponentials, axis=1, keepdims=True)
    log_probabilities = shifted - np.log(normaliser)
    return log_probabilities, (params, activations, exponentials, normaliser)


def predict_backward(saved, dlog_probabilities):
    params, activations, exponentials, normaliser = saved
    dlog_normaliser = -np.sum(dlog_probabilities, axis=1, keepdims=True)
    doutputs = dlog_probabilities + dlog_normaliser * exponentials / normaliser
    dparams = []
    for (W, _), inputs in zip(reversed(params), reversed(activations), strict=True):
        dW = inputs.T @ doutputs
        db = np.sum(doutputs, axis=0)
        dparams.append((dW, db))
        dinputs = doutputs @ W.T
        doutputs = dinputs * (1 - inputs**2)
    dparams.reverse()
    return dparams


def rnn(w_in, w_hidden, b, sequence):
    hs = [np.zeros(4)]
    for x in sequence:
        hs.append(np.tanh(x @ w_in + hs[-1] @ w_hidden + b))
    dw_in = np.zeros_like(w_in)
    dw_hidden = np.zeros_like(w_hidden)
    db = np.zeros_like(b)
    dh = 2 * hs[-1]
    for t in reversed(range(len(sequence))):
        dz = dh * (1 - hs[t + 1] ** 2)
        dw_in += np.outer(sequence[t], dz)
        dw_hidden += np.outer(hs[t], dz)
        db += dz
        dh = w_hidden @ dz
    return dw_in, dw_hidden, db


def layer_norm(x, gain, bias, targets):
    mean = np.mean(x, axis=1, keepdims=True)
    centred = x - mean
    variance = np.mean(centred**2, axis=1, keepdims=True)
    scale = 1 / np.sqrt(variance + 1e-5)
    normalised = centred * scale
    dgain = np.sum(targets * normalised, axis=0)
    dbias = np.sum(targets, axis=0)
    dnormalised = targets * gain
    dscale = np.sum(dnormalised * centred, axis=1, keepdims=True)
    dvariance = -0.5 * dscale * scale**3
    dcentred = dnormalised * scale + dvariance * 2 * centred / x.shape[1]
    dx = dcentred - np.mean(dcentred, axis=1, keepdims=True)
    return dx, dgain, dbias


def attention(queries, keys, values, targets):
    root = np.sqrt(queries.shape[1])
    scores = queries @ keys.T / root
    exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    dvalues = weights.T @ targets
    dweights = targets @ values.T
    dmean = np.sum(dweights * weights, axis=1, keepdims=True)
    dscores = weights * (dweights - dmean)
    dqueries = dscores @ keys / root
    dkeys = dscores.T @ queries / root
    return dqueries, dkeys, dvalues


# --- arrays, loops and assignment in place -------------------------------------------


def trajectory(start, rate, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    for t in range(steps):
        x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
    dx = 2 * x
    drate = 0.0
    for t in reversed(range(steps)):
        drate += dx[t + 1] * 0.1 * x[t] * (1 - x[t])
        dx[t] += dx[t + 1] * (1 + 0.1 * rate * (1 - 2 * x[t]))
    return dx[0], drate


def stencil_1d(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    dv = 2 * v
    for _ in range(steps):
        dnew = dv[1:-1].copy()
        dv[1:-1] = 0.8 * dnew
        dv[2:] += 0.1 * dnew
        dv[:-2] += 0.1 * dnew
    return dv


def stencil_2d(u):
    v = u.copy()
    for i in range(1, v.shape[0] - 1):
        for j in range(1, v.shape[1] - 1):
            v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
    dv = 2 * v
    for i in reversed(range(1, v.shape[0] - 1)):
        for j in reversed(range(1, v.shape[1] - 1)):
            dnew = 0.25 * dv[i, j]
            dv[i, j] = 0
            dv[i - 1, j] += dnew
            dv[i + 1, j] += dnew
            dv[i, j - 1] += dnew
            dv[i, j + 1] += dnew
    return dv


def cumulative_sum(x, weights):
    positions = np.cumsum(x)
    dpositions = 2 * weights * positions
    return np.cumsum(dpositions[::-1])[::-1]


def clipped(x):
    y = np.clip(x, -1.0, 1.0)
    inside = (x >= -1.0) & (x <= 1.0)
    return 2 * y * inside


def leaky_relu(x):
    y = np.where(x > 0, x, 0.1 * x)
    return 2 * y * np.where(x > 0, 1.0, 0.1)


def bilinear(A, x, y):
    dA = np.outer(x, y)
    dx = A @ y
    dy = x @ A
    return dA, dx, dy


def cosine_similarity(a, b):
    length_a = np.linalg.norm(a)
    length_b = np.linalg.norm(b)
    cosine = a @ b / (length_a * length_b)
    da = b / (length_a * length_b) - cosine * a / length_a**2
    db = a / (length_a * length_b) - cosine * b / length_b**2
    return da, db


# --- probability --------------------------------------------------------------------


def gaussian_log_density(mean, log_sigma, data):
    sigma = np.exp(log_sigma)
    z = (data - mean) / sigma
    dmean = np.sum(z) / sigma
    dlog_sigma = np.sum(z**2 - 1)
    return dmean, dlog_sigma


def cholesky_likelihood(scale, noise, distances, y):
    correlation = np.exp(-distances)
    covariance = scale * correlation + noise * np.eye(4)
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)
    a = inverse.T @ (inverse @ y)
    dcovariance = 0.5 * (np.outer(a, a) - inverse.T @ inverse)
    dscale = np.sum(dcovariance * correlation)
    dnoise = np.trace(dcovariance)
    return dscale, dnoise


# --- closures ------------------------------------------------------------------------


def smooth_hinge(margin):
    width = 0.5
    scaled = (1 - margin) / width
    return -1 / (1 + np.exp(-scaled))


def relaxation(u, f, sweeps):
    for _ in range(sweeps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] - f[1:-1, 1:-1])
        u = new
    du = 2 * u
    for _ in range(sweeps):
        change = 0.25 * du[1:-1, 1:-1]
        du[1:-1, 1:-1] = 0.0
        du[:-2, 1:-1] += change
        du[2:, 1:-1] += change
    return du


def mixture_likelihood(centers, widths, weights, data):
    density = 0.0
    parts, scores = [], []
    for k in range(len(centers)):
        z = (data - centers[k]) / widths[k]
        part = weights[k] * np.exp(-0.5 * z**2) / widths[k]
        density = density + part
        parts.append(part)
        scores.append(z)
    dcenters = np.zeros_like(centers)
    for k in range(len(centers)):
        dz = parts[k] * scores[k] / density
        dcenters[k] = -(dz / widths[k]).sum()
    return dcenters


def kalman_likelihood(noise, data):
    x, p = 0.0, 1.0
    saved = []
    for z in data:
        p = p + noise
        gain = p / (p + 0.5)
        r = z - x
        saved.append((p, r))
        x = x + gain * r
        p = (1 - gain) * p
    dx = 0.0
    dp = 0.0
    dnoise = 0.0
    for p, r in reversed(saved):
        s = p + 0.5
        gain = p / s
        dgain = dx * r - dp * p
        dr = dx * gain - r / s
        ds = 0.5 * r * r / s**2 - 0.5 / s - dgain * gain / s
        dp = dp * (1 - gain) + dgain / s + ds
        dx = dx - dr
        dnoise += dp
    return dnoise
