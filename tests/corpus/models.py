"""Models and algorithms as people write them: the programs srcjax is for."""

import math

import numpy as np
from scipy.special import expit, logsumexp

from .registry import normal, positive, program, spd

LABELS = np.array([0, 2, 1, 2])


def _layers(*sizes):
    pairs = enumerate(zip(sizes[:-1], sizes[1:], strict=True))
    return [(normal(m, n, seed=k), normal(n, seed=10 + k)) for k, (m, n) in pairs]


# --- regression and classification -------------------------------------------


@program(normal(3), 0.2, normal(6, 3, seed=1), normal(6, seed=2))
def linear_regression(w, b, features, target):
    prediction = features @ w + b
    return np.mean((prediction - target) ** 2)


@program(normal(3), normal(6, 3, seed=1), normal(6, seed=2), 0.1)
def ridge_regression(w, features, target, strength):
    residual = features @ w - target
    return residual @ residual + strength * np.sum(w**2)


@program(normal(3), normal(6, 3, seed=1), np.array([0, 1, 1, 0, 1, 0]))
def logistic_regression(w, features, labels):
    p = 1 / (1 + np.exp(-features @ w))
    return -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))


@program(normal(3), normal(6, 3, seed=1), np.array([-1, 1, 1, -1, 1, -1]))
def logistic_regression_by_logaddexp(w, features, signs):
    margins = signs * (features @ w)
    return np.sum(np.logaddexp(0.0, -margins))


@program(normal(4, 3), normal(3, 3, seed=1), normal(3, seed=2))
def softmax_cross_entropy(features, weights, bias):
    logits = features @ weights + bias
    log_probabilities = logits - logsumexp(logits, axis=1, keepdims=True)
    return -log_probabilities[np.arange(len(LABELS)), LABELS].mean()


@program(normal(4, 3), np.eye(3)[LABELS], argnums=0)
def cross_entropy_of_one_hot(logits, targets):
    largest = np.max(logits, axis=1, keepdims=True)
    normaliser = np.log(np.sum(np.exp(logits - largest), axis=1, keepdims=True))
    return -np.sum(targets * (logits - largest - normaliser))


@program(normal(3), normal(6, 3, seed=1), np.array([-1, 1, 1, -1, 1, -1]))
def hinge_loss(w, features, signs):
    margins = signs * (features @ w)
    return np.maximum(0, 1 - margins).mean() + 0.01 * np.linalg.norm(w) ** 2


@program(normal(3), positive(6, 3, seed=1), np.array([0, 1, 3, 2, 0, 5]))
def poisson_regression(w, features, counts):
    rates = np.exp(features @ w)
    return np.sum(rates - counts * np.log(rates))


# --- networks -----------------------------------------------------------------


@program(
    normal(4, 8),
    normal(8, seed=1),
    normal(8, 2, seed=2),
    normal(2, seed=3),
    normal(5, 4),
)
def mlp_unrolled(w1, b1, w2, b2, x):
    hidden = np.tanh(x @ w1 + b1)
    output = hidden @ w2 + b2
    return np.mean(output**2)


@program(_layers(4, 6, 3), normal(5, 4, seed=20))
def mlp_predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs - logsumexp(outputs, axis=1, keepdims=True)


def _predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs


@program(_layers(4, 6, 3), normal(4, 4, seed=20), np.eye(3)[LABELS], argnums=0)
def mlp_loss(params, inputs, targets):
    outputs = _predict(params, inputs)
    log_probabilities = outputs - logsumexp(outputs, axis=1, keepdims=True)
    return -np.mean(np.sum(log_probabilities * targets, axis=1))


@program(_layers(3, 5, 5, 1), normal(6, 3, seed=20))
def mlp_with_relu_and_last_layer(params, x):
    *hidden, last = params
    for W, b in hidden:
        x = np.maximum(x @ W + b, 0)
    W, b = last
    return (x @ W + b)[:, 0]


@program(
    {"wx": normal(3, 4), "wh": normal(4, 4, seed=1) / 2, "b": normal(4, seed=2)},
    normal(5, 3, seed=3),
)
def rnn(params, sequence):
    h = np.zeros(4)
    for x in sequence:
        h = np.tanh(x @ params["wx"] + h @ params["wh"] + params["b"])
    return h @ h


@program(normal(5, 12) / 2, normal(12, seed=1), normal(4, 2, seed=2))
def lstm(weights, bias, sequence):
    h = np.zeros(3)
    c = np.zeros(3)
    for x in sequence:
        gates = np.concatenate([x, h]) @ weights + bias
        i, f, o, g = np.split(gates, 4)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
    return np.sum(h)


@program(normal(3), normal(2, seed=1), normal(2, 3, seed=2), normal(2, 3, seed=3))
def gru_step(x, h, w_update, w_new):
    z = expit(w_update @ x + h)
    new = np.tanh(w_new @ x + z * h)
    return (1 - z) * h + z * new


@program(normal(4, 6), positive(6), normal(6, seed=1))
def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + 1e-5) + bias


@program(normal(5, 4), normal(5, 4, seed=1), normal(5, 3, seed=2))
def attention(queries, keys, values):
    scores = queries @ keys.T / np.sqrt(queries.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ values


@program(normal(4, 6), normal(6, 18, seed=1) / 2, normal(6, 6, seed=2))
def multi_head_causal_attention(x, w_in, w_out):
    length, width = x.shape
    heads = 2
    qkv = (x @ w_in).reshape(length, 3, heads, width // heads)
    q, k, v = qkv.transpose(1, 2, 0, 3)
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(width // heads)
    scores = np.where(np.tril(np.ones((length, length))) > 0, scores, -1e9)
    weights = np.exp(scores - logsumexp(scores, axis=-1, keepdims=True))
    mixed = (weights @ v).transpose(1, 0, 2).reshape(length, width)
    return x + mixed @ w_out


@program(normal(5, 5), normal(2, 2, seed=1))
def convolution_by_loops(image, kernel):
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    output = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            output[i, j] = np.sum(image[i : i + 2, j : j + 2] * kernel)
    return np.sum(output**2)


@program(normal(2, 6, 6), normal(3, 2, 3, 3, seed=1))
def convolution_by_shifts(images, kernels):
    output = np.zeros((3, 4, 4))
    for a in range(3):
        for b in range(3):
            patch = images[:, a : a + 4, b : b + 4]
            output += np.tensordot(kernels[:, :, a, b], patch, axes=1)
    return np.maximum(output, 0).sum()


@program(normal(4, 4))
def max_pooling(image):
    blocks = image.reshape(2, 2, 2, 2)
    return blocks.max(axis=(1, 3))


@program(normal(5, 3), np.array([3, 0, 3, 1]))
def word_embeddings(table, words):
    vectors = table[words]
    centre = vectors.mean(axis=0)
    return np.sum(np.tanh(vectors @ centre))


@program(normal(2, 3, 2), normal(3, seed=1), normal(2, seed=2))
def bilinear(tensor, x, y):
    return np.einsum("kij,i,j->k", tensor, x, y) + x @ tensor[0] @ y


@program(normal(6, 4), normal(4, 2, seed=1))
def autoencoder(data, basis):
    """PCA as the reconstruction error of a linear code."""
    centred = data - data.mean(axis=0)
    code = centred @ basis
    return np.mean((centred - code @ basis.T) ** 2)


@program(normal(3), normal(3, seed=1), normal(3, seed=2), normal(3, seed=3))
def adam_step(w, gradient, m, v):
    m = 0.9 * m + 0.1 * gradient
    v = 0.999 * v**2 + 0.001 * gradient**2
    return w - 0.01 * (m / 0.1) / (np.sqrt(v / 0.001) + 1e-8)


@program(0.05, normal(3), normal(5, 3, seed=1), normal(5, seed=2))
def unrolled_gradient_descent(rate, w, features, target):
    for _ in range(4):
        residual = features @ w - target
        w = w - rate * (features.T @ residual)
    return np.sum((features @ w - target) ** 2)


# --- probability --------------------------------------------------------------


@program(normal(3), normal(3, seed=1), normal(3, seed=2), normal(5, seed=3))
def gaussian_mixture(logits, means, log_scales, data):
    log_weights = logits - logsumexp(logits)
    z = (data[:, None] - means) / np.exp(log_scales)
    log_density = -0.5 * z**2 - log_scales - 0.5 * np.log(2 * np.pi)
    return np.sum(logsumexp(log_weights + log_density, axis=1))


@program(normal(3, 2), normal(6, 2, seed=1))
def k_means_loss(centres, points):
    distances = np.sum((points[:, None] - centres[None]) ** 2, axis=2)
    return np.sum(np.min(distances, axis=1))


@program(normal(2), spd(2), 0.7, 0.3, 0.5)
def kalman_step(mean, covariance, observation, process_noise, observation_noise):
    transition = np.array([[1.0, 0.1], [0.0, 1.0]])
    observe = np.array([[1.0, 0.0]])
    mean = transition @ mean
    covariance = transition @ covariance @ transition.T + process_noise * np.eye(2)
    innovation = observation - observe @ mean
    spread = observe @ covariance @ observe.T + observation_noise
    gain = covariance @ observe.T @ np.linalg.inv(spread)
    mean = mean + gain @ innovation
    covariance = (np.eye(2) - gain @ observe) @ covariance
    return mean, covariance


@program(0.7, 0.4, normal(6))
def kalman_likelihood(decay, noise, observations):
    mean, variance = 0.0, 1.0
    log_likelihood = 0.0
    for y in observations:
        mean = decay * mean
        variance = decay**2 * variance + 0.1
        total = variance + noise
        error = y - mean
        log_likelihood -= 0.5 * (np.log(2 * np.pi * total) + error**2 / total)
        gain = variance / total
        mean += gain * error
        variance *= 1 - gain
    return log_likelihood


@program(0.8, 1.2, 0.3, normal(5), normal(5, seed=1))
def gaussian_process_likelihood(length, amplitude, noise, x, y):
    distance = (x[:, None] - x[None, :]) / length
    kernel = amplitude**2 * np.exp(-0.5 * distance**2) + noise**2 * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    z = np.linalg.solve(factor, y)
    return -0.5 * z @ z - np.log(np.diag(factor)).sum() - len(x) / 2 * np.log(2 * np.pi)


@program(normal(3, 3), normal(3, seed=1), normal(5, 3, seed=2))
def hidden_markov_forward(transition_logits, start_logits, emissions):
    transition = transition_logits - logsumexp(transition_logits, axis=1, keepdims=True)
    alpha = start_logits - logsumexp(start_logits) + emissions[0]
    for emission in emissions[1:]:
        alpha = logsumexp(alpha[:, None] + transition, axis=0) + emission
    return logsumexp(alpha)


@program(np.array([0.3, -0.2]), normal(2, seed=1))
def variational_bound(parameters, noise):
    mean, log_scale = parameters
    samples = mean + np.exp(log_scale) * noise
    log_joint = -0.5 * samples**2 - np.log1p(np.exp(-samples))
    return np.mean(log_joint) + log_scale


# --- numerical methods --------------------------------------------------------


@program(2.0)
def newton_square_root_unrolled(a):
    x = 1.0
    for _ in range(6):
        x = (x + a / x) / 2
    return x


@program(0.3, 3.0)
def newton_for_kepler(eccentricity, mean_anomaly):
    e = mean_anomaly
    for _ in range(50):
        step = (e - eccentricity * math.sin(e) - mean_anomaly) / (
            1 - eccentricity * math.cos(e)
        )
        e = e - step
        if abs(step) < 1e-9:
            break
    return e


@program(0.8)
def sine_by_taylor(x):
    term = x
    total = 0.0
    k = 1
    while abs(term) > 1e-14:
        total += term
        term *= -x * x / ((k + 1) * (k + 2))
        k += 2
    return total


@program(normal(2, 2) / 2, 5)
def matrix_power_by_squaring(matrix, n):
    result = np.eye(2)
    while n > 0:
        if n % 2 == 1:
            result = result @ matrix
        matrix = matrix @ matrix
        n //= 2
    return result


@program(normal(3, 3) / 3)
def matrix_exponential_by_series(matrix):
    term = np.eye(3)
    total = np.eye(3)
    for k in range(1, 12):
        term = term @ matrix / k
        total += term
    return np.trace(total)


@program(0.3, 0.1, 9.81)
def pendulum(angle, velocity, gravity):
    dt = 0.05
    for _ in range(10):
        velocity = velocity - dt * gravity * np.sin(angle)
        angle = angle + dt * velocity
    energy = velocity**2 / 2 + gravity * (1 - np.cos(angle))
    return angle, energy


@program(1.0, 0.5, np.array([0.7, 0.5, 0.4, 0.6]))
def lotka_volterra(prey, predators, rates):
    growth, hunting, death, feeding = rates
    history = []
    for _ in range(8):
        d_prey = growth * prey - hunting * prey * predators
        d_predators = feeding * prey * predators - death * predators
        prey += 0.1 * d_prey
        predators += 0.1 * d_predators
        history.append((prey, predators))
    return sum(x**2 + y for x, y in history)


def _runge_kutta_step(slope, t, y, dt):
    k1 = slope(t, y)
    k2 = slope(t + dt / 2, y + dt / 2 * k1)
    k3 = slope(t + dt / 2, y + dt / 2 * k2)
    k4 = slope(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(np.array([1.0, 0.0]), 0.3, 1.5)
def damped_oscillator_by_runge_kutta(state, damping, stiffness):
    def slope(t, y):
        force = math.sin(t) - stiffness * y[0] - damping * y[1]
        return np.array([y[1], force])

    t = 0.0
    for _ in range(5):
        state = _runge_kutta_step(slope, t, state, 0.1)
        t += 0.1
    return state


@program(normal(3, 2), normal(3, 2, seed=1), positive(3))
def three_bodies(positions, velocities, masses):
    positions = positions.copy()
    velocities = velocities.copy()
    for _ in range(3):
        forces = np.zeros((3, 2))
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = positions[j] - positions[i]
                    forces[i] += masses[j] * d / (d @ d + 0.1) ** 1.5
        velocities += 0.05 * forces
        positions += 0.05 * velocities
    return positions


@program(normal(8), 0.2)
def heat_equation_in_place(u, rate):
    u = u.copy()
    for _ in range(5):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return np.sum(u**2)


@program(normal(8), 0.2)
def burgers_with_roll(u, viscosity):
    for _ in range(3):
        left = np.roll(u, 1)
        right = np.roll(u, -1)
        u = u - 0.1 * u * (right - left) / 2 + 0.1 * viscosity * (right - 2 * u + left)
    return u


@program(normal(4, seed=5), positive(4) + 3, normal(4, seed=1), normal(4, seed=2))
def thomas_tridiagonal_solver(lower, diagonal, upper, right):
    n = len(diagonal)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


@program(np.tril(normal(4, 4)) + 3 * np.eye(4), normal(4, seed=1))
def forward_substitution(lower, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


@program(np.triu(normal(4, 4)) + 3 * np.eye(4), normal(4, seed=1))
def back_substitution(upper, b):
    x = b.copy()
    for i in reversed(range(len(b))):
        x[i] /= upper[i, i]
        x[:i] -= x[i] * upper[:i, i]
    return x @ x


@program(spd(3))
def cholesky_by_loops(matrix):
    n = matrix.shape[0]
    factor = np.zeros((n, n))
    for j in range(n):
        factor[j, j] = np.sqrt(matrix[j, j] - factor[j, :j] @ factor[j, :j])
        for i in range(j + 1, n):
            inner = factor[i, :j] @ factor[j, :j]
            factor[i, j] = (matrix[i, j] - inner) / factor[j, j]
    return factor


@program(normal(4, 3))
def gram_schmidt(vectors):
    basis = []
    for v in vectors.T:
        for b in basis:
            v = v - (v @ b) * b
        basis.append(v / np.sqrt(v @ v))
    return np.array(basis)


@program(spd(3), normal(3))
def jacobi_iteration(matrix, b):
    diagonal = np.diag(matrix)
    rest = matrix - np.diag(diagonal)
    x = np.zeros(3)
    for _ in range(6):
        x = (b - rest @ x) / diagonal
    return x


@program(spd(3), normal(3))
def conjugate_gradient(matrix, b):
    x = np.zeros(3)
    r = b - matrix @ x
    p = r
    for _ in range(2):
        ap = matrix @ p
        alpha = (r @ r) / (p @ ap)
        x = x + alpha * p
        new = r - alpha * ap
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


@program(normal(6))
def fourier_transform_by_loops(signal):
    n = len(signal)
    power = np.zeros(n)
    for k in range(n):
        real = 0.0
        imaginary = 0.0
        for t in range(n):
            angle = 2 * np.pi * k * t / n
            real += signal[t] * np.cos(angle)
            imaginary -= signal[t] * np.sin(angle)
        power[k] = real**2 + imaginary**2
    return power @ np.arange(n)


@program(normal(4), normal(3, seed=1), 0.5)
def soft_dynamic_time_warping(x, y, softness):
    cost = np.full((len(x) + 1, len(y) + 1), 1e3)
    cost[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            before = np.array([cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1]])
            softest = -softness * logsumexp(-before / softness)
            cost[i, j] = (x[i - 1] - y[j - 1]) ** 2 + softest
    return cost[len(x), len(y)]


@program(normal(5, 3), normal(3, 3, seed=1))
def viterbi_score(emissions, transitions):
    """The best path by dynamic programming: the derivative counts its parts."""
    score = emissions[0]
    for emission in emissions[1:]:
        score = np.max(score[:, None] + transitions, axis=0) + emission
    return np.max(score)


@program([1.2, 0.4, 0.9, 2.0], [2, 1, 3, 2], argnums=0)
def knapsack_by_table(values, sizes):
    capacity = 5
    best = [0.0] * (capacity + 1)
    for value, size in zip(values, sizes, strict=True):
        for room in range(capacity, size - 1, -1):
            with_it = best[room - size] + value
            if with_it > best[room]:
                best[room] = with_it
    return best[capacity] ** 2


@program(0.2, 1.3, normal(2))
def simpson_rule(low, high, w):
    n = 8
    h = (high - low) / n
    total = 0.0
    for i in range(n + 1):
        x = low + i * h
        weight = 1 if i in (0, n) else 4 if i % 2 else 2
        total += weight * np.exp(w[0] * x) * np.cos(w[1] * x)
    return total * h / 3


@program(normal(5), 0.37)
def linear_interpolation(table, x):
    position = x * (len(table) - 1)
    i = int(position)
    t = position - i
    return (1 - t) * table[i] + t * table[i + 1]


@program(normal(4, 2), 0.3)
def bezier_by_de_casteljau(points, t):
    points = points.copy()
    n = len(points)
    for k in range(1, n):
        for i in range(n - k):
            points[i] = (1 - t) * points[i] + t * points[i + 1]
    return points[0]


@program(0.4, 1.2, 0.9)
def robot_arm(shoulder, elbow, wrist):
    x = y = angle = 0.0
    for joint, length in ((shoulder, 1.0), (elbow, 0.8), (wrist, 0.3)):
        angle += joint
        x += length * math.cos(angle)
        y += length * math.sin(angle)
    return (x - 0.5) ** 2 + (y - 1.0) ** 2


@program(np.array([0.1, -0.2, 0.3]), normal(4, 3, seed=1))
def rotated_points(rotation, points):
    """The rotation vector by Rodrigues' formula."""
    angle = np.sqrt(rotation @ rotation)
    x, y, z = rotation / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return points @ matrix.T


@program(np.array([0.5, 0.8, 0.3]))
def neuron_that_fires(current):
    """Leaky integration with a reset: branches on the carried value."""
    voltage = 0.0
    spikes = 0
    for t in range(12):
        voltage = 0.9 * voltage + current[t % 3]
        if voltage > 1:
            voltage = voltage - 1.0
            spikes += 1
    return voltage * spikes + current @ current


@program(np.array([0.2, 0.5, 0.3]), 0.85)
def page_rank(start, damping):
    links = {0: [1, 2], 1: [2], 2: [0]}
    rank = start
    for _ in range(4):
        new = np.full(3, (1 - damping) / 3)
        for node, targets in links.items():
            for target in targets:
                new[target] += damping * rank[node] / len(targets)
        rank = new
    return rank


@program(normal(3), positive(3, seed=1), 0.8)
def option_on_simulated_paths(noise, spots, volatility):
    payoffs = []
    for spot in spots:
        price = spot
        for z in noise:
            price = price * np.exp(volatility * 0.1 * z - 0.005 * volatility**2)
        payoffs.append(max(price - 0.9, 0.0))
    return sum(payoffs) / len(payoffs)


@program({"w": normal(3), "b": 0.1}, normal(4, 3, seed=1), normal(4, seed=2))
def two_steps_of_training(params, features, target):
    """The gradient by hand inside, and a derivative of all of it outside."""
    for _ in range(2):
        residual = features @ params["w"] + params["b"] - target
        gradients = {"w": features.T @ residual, "b": residual.sum()}
        params = {k: v - 0.05 * gradients[k] for k, v in params.items()}
    return np.mean((features @ params["w"] + params["b"] - target) ** 2)
