"""Variational inference: what a few measurements tell about a line, and what not.

    python examples/variational.py --plot line.png

A Gaussian with a full covariance is fitted to the posterior of the intercept, the slope
and the noise. Draws with explicit keys are differentiated through (Kingma and Welling,
"Auto-Encoding Variational Bayes", 2013, https://arxiv.org/abs/1312.6114); `vmap` takes
the log density of one draw to many.
"""

import argparse

import numpy as np
from tqdm import tqdm

import srcjax
from srcjax import optim, random, value_and_grad, vmap

NAMES = ("intercept", "slope", "log noise")


def log_density(z, x, y):
    """The logarithm of the density of z (3,) and of y (n,), measured at x (n,)."""
    intercept, slope, log_noise = z
    errors = (y - intercept - slope * x) / np.exp(log_noise)
    prior = -0.5 * np.sum(z**2)
    return prior - 0.5 * np.sum(errors**2) - len(x) * log_noise


def draws(params, key, count):
    """Draws of the Gaussian: (count, 3)."""
    normal = random.normal(key, (count, len(params["mean"])), float)
    return params["mean"] + normal @ root(params).T


def root(params):
    """The Cholesky factor of the covariance, with a positive diagonal: (3, 3)."""
    return np.tril(params["root"], -1) + np.diag(np.exp(np.diag(params["root"])))


def loss(params, key, x, y, count=16):
    """Minus the evidence lower bound, up to a constant, from so many draws."""
    z = draws(params, key, count)
    fits = vmap(log_density, in_axes=(0, None, None))(z, x, y)
    entropy = np.sum(np.diag(params["root"]))
    return -np.mean(fits) - entropy


def measure(key, count):
    """Where a line is measured, and what is measured there: (count,) each."""
    of_x, of_noise = random.split(key)
    x = random.uniform(of_x, (count,), float, 0.0, 2.0)
    return x, 0.5 - 1.2 * x + 0.3 * random.normal(of_noise, (count,), float)


def fit(x, y, steps):
    """The Gaussian after some steps, and the loss of each."""
    optimizer = optim.adam(optim.cosine_decay_schedule(0.05, steps))
    params = {"mean": np.zeros(3), "root": np.zeros((3, 3))}
    state, losses = optimizer.init(params), []
    bar = tqdm(random.split(random.key(1), steps), unit="step")
    for key in bar:
        value, grads = value_and_grad(loss)(params, key, x, y)
        updates, state = optimizer.update(grads, state, params)
        params = optim.apply_updates(params, updates)
        losses.append(value)
        bar.set_postfix(loss=f"{value:.2f}")
    return params, losses


def plot(params, x, y, losses, path):
    """Write a picture of the bound, and of lines that may be the true one."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.5))
    left.plot(losses)
    left.set(xlabel="step", ylabel="minus the bound")
    at = np.array([0.0, 2.0])
    for intercept, slope, _ in draws(params, random.key(2), 40):
        right.plot(at, intercept + slope * at, color="C0", alpha=0.15)
    right.plot(x, y, "k.", label="measured")
    right.plot(at, 0.5 - 1.2 * at, "C1--", label="the line")
    right.legend()
    figure.tight_layout()
    figure.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--small", action="store_true", help="a few steps, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    x, y = measure(random.key(0), 12)
    params, losses = fit(x, y, 100 if options.small else options.steps)
    deviations = np.sqrt(np.diag(root(params) @ root(params).T))
    for name, mean, deviation in zip(NAMES, params["mean"], deviations, strict=True):
        print(f"{name}: {mean:.2f} +- {deviation:.2f}")
    if options.plot:
        plot(params, x, y, losses, options.plot)
    if options.source:
        print(srcjax.source(srcjax.grad(loss), params, random.key(3), x, y))
    return losses


if __name__ == "__main__":
    main()
