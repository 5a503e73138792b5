"""A program in which `np` is `srcjax.numpy`, as that of JAX was in older programs."""

import srcjax.numpy as np


def greatest_of_waves(x):
    waves = np.sort(np.tanh(x), descending=True)
    return waves[0] + np.linalg.norm(x) + np.sum(np.clip(x, 0.0)) * np.pi


def of_a_module(x):
    module = np
    return module.sum(module.sin(x))


def smallest(x):
    return np.sum(x[np.argsort(x)][:2])


def greatest(x):
    return abs(x).max()
