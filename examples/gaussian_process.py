"""Gaussian-process regression: how long, how high and how noisy waves are.

    python examples/gaussian_process.py --plot process.png

The logarithms of the kernel's length, height and noise are found by Newton's method:
the gradient and the Hessian of the likelihood go through a Cholesky factor. Rasmussen
and Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1.
"""

import argparse

import numpy as np
from scipy.linalg import cho_solve, cholesky
from tqdm import tqdm

import srcjax
from srcjax import grad, hessian, random


def kernel(params, a, b):
    """The covariances of points a (n,) and b (m,): (n, m)."""
    length, height, _ = np.exp(params)
    return height**2 * np.exp(-0.5 * ((a[:, None] - b) / length) ** 2)


def factor(params, x):
    """The Cholesky factor of the covariances of what is measured at x (n,): (n, n)."""
    noise = np.exp(params[2])
    return cholesky(kernel(params, x, x) + noise**2 * np.eye(len(x)), lower=True)


def loss(params, x, y):
    """Minus the logarithm of the likelihood of y (n,), measured at x (n,)."""
    L = factor(params, x)
    fit = 0.5 * y @ cho_solve((L, True), y)
    return fit + np.sum(np.log(np.diag(L))) + 0.5 * len(x) * np.log(2 * np.pi)


def predict(params, x, y, at):
    """Means and standard deviations of the function at points `at`."""
    L = factor(params, x)
    across = kernel(params, at, x)
    mean = across @ cho_solve((L, True), y)
    explained = np.sum(across * cho_solve((L, True), across.T).T, axis=1)
    return mean, np.sqrt(np.exp(params[1]) ** 2 - explained)


def draw(key, count):
    """Where a wave is measured, and what is measured there, with noise."""
    of_x, of_noise = random.split(key)
    x = np.sort(random.uniform(of_x, (count,), float, -3.0, 3.0))
    return x, np.sin(2 * x) + 0.2 * random.normal(of_noise, (count,), float)


def fit(params, x, y, steps):
    """The parameters after some steps, and the loss before each and after the last.

    A step is Newton's with curvatures made positive, and half as long until it helps.
    """
    losses = [loss(params, x, y)]
    for _ in tqdm(range(steps), unit="step"):
        curvatures, directions = np.linalg.eigh(hessian(loss)(params, x, y))
        slope = directions.T @ grad(loss)(params, x, y)
        step = -directions @ (slope / np.maximum(np.abs(curvatures), 1e-3))
        while loss(params + step, x, y) > losses[-1] and np.abs(step).max() > 1e-9:
            step = step / 2
        params = params + step
        losses.append(loss(params, x, y))
    return params, losses


def plot(params, x, y, path):
    """Write a picture of what was measured, and of the function with its doubt."""
    import matplotlib.pyplot as plt

    at = np.linspace(-4, 4, 200)
    mean, deviation = predict(params, x, y, at)
    _, axes = plt.subplots()
    axes.fill_between(at, mean - 2 * deviation, mean + 2 * deviation, alpha=0.2)
    axes.plot(at, mean, label="mean, and two standard deviations")
    axes.plot(at, np.sin(2 * at), "--", label="the wave")
    axes.plot(x, y, ".", label="measured")
    axes.legend()
    plt.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="few points, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    x, y = draw(random.key(0), 15 if options.small else 80)
    params, losses = fit(np.zeros(3), x, y, options.steps)
    length, height, noise = np.exp(params)
    print(f"length {length:.2f}, height {height:.2f}, noise {noise:.2f}")
    if options.plot:
        plot(params, x, y, options.plot)
    if options.source:
        print(srcjax.source(grad(loss), params, x, y))
    return losses


if __name__ == "__main__":
    main()
