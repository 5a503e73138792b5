"""A Kalman filter, fitted by gradient: how fast a swing swings, and how noisy it is.

    python examples/kalman_filter.py --plot swing.png

Only the position of a damped swing is measured, with noise. The filter gives the
likelihood of all that was measured, and its gradient, through the recursion, finds the
frequency, the damping and the two sizes of noise. Kalman, "A New Approach to Linear
Filtering and Prediction Problems", 1960.
"""

import argparse

import numpy as np
from tqdm import tqdm

import srcjax
from srcjax import lax, optim, random, value_and_grad

STEP = 0.1  # seconds between measurements


def motion(params):
    """What a step does to position and velocity: (2, 2)."""
    frequency, damping = np.exp(params["frequency"]), np.exp(params["damping"])
    angle, left = frequency * STEP, np.exp(-damping * STEP)
    turned = [
        [np.cos(angle), np.sin(angle) / frequency],
        [-frequency * np.sin(angle), np.cos(angle)],
    ]
    return left * np.array(turned)


def filtered(params, measured):
    """The states (n, 2) of a swing measured n times, and the loss of each measurement.

    The loss is minus the logarithm of its density, given those before it.
    """
    A = motion(params)
    pushes = np.exp(2 * params["pushes"]) * np.diag([0.0, 1.0])
    noise = np.exp(2 * params["noise"])

    def step(state, y):
        mean, covariance = state
        mean, covariance = A @ mean, A @ covariance @ A.T + pushes
        variance = covariance[0, 0] + noise
        error = y - mean[0]
        gain = covariance[:, 0] / variance
        mean = mean + gain * error
        covariance = covariance - np.outer(gain, covariance[0])
        loss = 0.5 * (error**2 / variance + np.log(2 * np.pi * variance))
        return (mean, covariance), (mean, loss)

    _, (means, losses) = lax.scan(step, (np.zeros(2), np.eye(2)), measured)
    return means, losses


def loss(params, measured):
    """The mean loss of the measurements: (n,)."""
    _, losses = filtered(params, measured)
    return losses.mean()


def draw(key, params, count):
    """The positions of a swing, and what is measured of them: (count,) each."""
    of_pushes, of_noise = random.split(key)
    A, state, positions = motion(params), np.array([1.0, 0.0]), []
    for push in np.exp(params["pushes"]) * random.normal(of_pushes, (count,), float):
        state = A @ state + np.array([0.0, push])
        positions.append(state[0])
    noise = np.exp(params["noise"]) * random.normal(of_noise, (count,), float)
    return np.array(positions), np.array(positions) + noise


def fit(params, measured, steps):
    """The parameters after some steps, and the loss of each."""
    optimizer = optim.adam(0.05)
    state, losses = optimizer.init(params), []
    bar = tqdm(range(steps), unit="step")
    for _ in bar:
        value, grads = value_and_grad(loss)(params, measured)
        updates, state = optimizer.update(grads, state, params)
        params = optim.apply_updates(params, updates)
        losses.append(value)
        bar.set_postfix(loss=f"{value:.4f}")
    return params, losses


def plot(params, positions, measured, path):
    """Write a picture of the swing, of what was measured, and of what was found."""
    import matplotlib.pyplot as plt

    times, (means, _) = STEP * np.arange(len(measured)), filtered(params, measured)
    _, axes = plt.subplots(figsize=(9, 3.5))
    axes.plot(times, measured, ".", alpha=0.4, label="measured")
    axes.plot(times, positions, "--", label="the swing")
    axes.plot(times, means[:, 0], label="filtered")
    axes.set(xlabel="seconds")
    axes.legend()
    plt.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--small", action="store_true", help="a short time, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    count, steps = (60, 30) if options.small else (400, options.steps)
    sizes = {"frequency": 2.0, "damping": 0.05, "pushes": 0.1, "noise": 0.3}
    true = {name: np.log(size) for name, size in sizes.items()}
    positions, measured = draw(random.key(0), true, count)
    start = {"frequency": np.log(1.5), "damping": -2.0, "pushes": -1.0, "noise": -1.0}
    params, losses = fit(start, measured, steps)
    for name, size in sizes.items():
        print(f"{name}: {np.exp(params[name]):.3f} (true: {size})")
    if options.plot:
        plot(params, positions, measured, options.plot)
    if options.source:
        print(srcjax.source(srcjax.grad(loss), params, measured))
    return losses


if __name__ == "__main__":
    main()
