"""A differentiable simulation: from which heat came the picture that is left of it?

    python examples/heat.py --plot heat.png

Heat spreads on a plate, step by step, in an array that is written in place. Its
gradient runs the steps backwards, in place too; `jit` compiles both. From what is
measured at the end, descent with momentum finds what there was at the beginning.
"""

import argparse

import numpy as np
from tqdm import tqdm

import srcjax
from srcjax import grad, jit, optim

RATE = 0.2  # of what flows to a neighbour in a step


def spread(u, steps):
    """The heat (n, m) after some steps; the edge stays as it is."""
    u = u.copy()
    for _ in range(steps):
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += RATE * (flow - 4 * u[1:-1, 1:-1])
    return u


def loss(u, measured, steps):
    """The mean squared error of what is left after some steps."""
    return np.mean((spread(u, steps) - measured) ** 2)


def picture(n):
    """A ring and a bar of heat: (n, n)."""
    y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
    ring = np.abs(np.hypot(x, y) - 0.6) < 0.12
    bar = (np.abs(x) < 0.3) & (np.abs(y) < 0.08)
    return (ring | bar).astype(float)


def find(measured, steps, count):
    """What there was at the beginning, and the loss of each step of the descent."""
    optimizer = optim.sgd(0.4 * measured.size, momentum=0.9, nesterov=True)
    slope, value = jit(grad(loss)), jit(loss)
    u, losses = np.zeros_like(measured), []
    state = optimizer.init(u)
    bar = tqdm(range(count), unit="step")
    for _ in bar:
        losses.append(value(u, measured, steps))
        updates, state = optimizer.update(slope(u, measured, steps), state, u)
        u = np.clip(optim.apply_updates(u, updates), 0, 1)
        bar.set_postfix(loss=f"{losses[-1]:.2e}")
    return u, losses


def plot(pictures, path):
    """Write the pictures side by side, each under its name."""
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(ncols=len(pictures), figsize=(9, 3.2))
    for place, (name, heat) in zip(places, pictures.items(), strict=True):
        place.imshow(heat, vmin=0, vmax=1, cmap="inferno")
        place.set_title(name)
        place.axis("off")
    figure.tight_layout()
    figure.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="of the heat")
    parser.add_argument("--count", type=int, default=500, help="steps of the descent")
    parser.add_argument("--small", action="store_true", help="a small plate, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    n, steps, count = 96, options.steps, options.count
    if options.small:
        n, steps, count = 24, 4, 40
    true = picture(n)
    measured = spread(true, steps)
    found, losses = find(measured, steps, count)
    off = np.abs(found - true).mean(), np.abs(measured - true).mean()
    print(f"mean error {off[0]:.3f}, that of what was measured: {off[1]:.3f}")
    if options.plot:
        plot({"true": true, "measured": measured, "found": found}, options.plot)
    if options.source:
        print(srcjax.source(grad(loss), found, measured, steps))
    return losses


if __name__ == "__main__":
    main()
