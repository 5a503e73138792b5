"""Likelihoods and estimates."""

import numpy as np
from gallery.entries import Entry

RNG = np.random.default_rng(0)


def normal_likelihood(mean, log_sigma, x):
    sigma = np.exp(log_sigma)
    z = (x - mean) / sigma
    return np.sum(-0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi))


def logistic_loss(w, x, labels):
    scores = x @ w
    return np.mean(np.log(1 + np.exp(-labels * scores)))


def ridge(w, x, y, strength):
    residual = x @ w - y
    return residual @ residual + strength * w @ w


def poisson_likelihood(w, x, counts):
    log_rate = x @ w
    return np.sum(counts * log_rate - np.exp(log_rate))


def correlation(x, y):
    x_centered = x - np.mean(x)
    y_centered = y - np.mean(y)
    covariance = np.sum(x_centered * y_centered)
    return covariance / np.sqrt(np.sum(x_centered**2) * np.sum(y_centered**2))


def huber_loss(w, x, y, width):
    error = x @ w - y
    size = np.abs(error)
    return np.sum(np.where(size < width, error**2 / 2, width * (size - width / 2)))


def mixture_likelihood(logits, means, x):
    log_weights = logits - np.log(np.sum(np.exp(logits)))
    scores = log_weights - 0.5 * (x[:, None] - means) ** 2
    return np.sum(np.log(np.sum(np.exp(scores), axis=1)))


def autoregression(phi, sigma, x):
    total = 0.0
    for t in range(1, len(x)):
        error = (x[t] - phi * x[t - 1]) / sigma
        total += -0.5 * error**2 - np.log(sigma)
    return total


X = RNG.normal(size=(6, 3))
W = RNG.normal(size=3)
Y = RNG.normal(size=6)

ENTRIES = [
    Entry(
        "The likelihood of a normal sample",
        "Setting `dmean` to zero gives the sample mean: the text shows why.",
        normal_likelihood,
        (0.3, -0.1, Y),
        (0, 1),
    ),
    Entry(
        "Logistic regression",
        "The text finds the sigmoid that every book derives.",
        logistic_loss,
        (W, X, np.sign(Y)),
    ),
    Entry(
        "Ridge regression",
        "A quadratic form: its gradient is linear in `w`.",
        ridge,
        (W, X, Y, 0.1),
    ),
    Entry(
        "Poisson regression",
        "Counts minus expected counts, times the inputs.",
        poisson_likelihood,
        (W, X, np.array([0.0, 2.0, 1.0, 3.0, 0.0, 1.0])),
    ),
    Entry(
        "The correlation of two samples",
        "Subtracting the mean in the function is subtracting the mean in the gradient.",
        correlation,
        (Y, X[:, 0]),
    ),
    Entry(
        "Huber's robust loss",
        "Small errors count by their square, large ones by their size.",
        huber_loss,
        (W, X, Y, 0.8),
    ),
    Entry(
        "A mixture of normal distributions",
        "Each observation is shared among the components, by a softmax.",
        mixture_likelihood,
        (np.array([0.1, -0.2, 0.3]), np.array([-1.0, 0.0, 1.5]), Y),
        (0, 1),
    ),
    Entry(
        "A series that depends on its past",
        "A loop over time which remembers nothing but its data.",
        autoregression,
        (0.5, 0.9, Y),
        (0, 1),
    ),
]
