"""Helpers of forward mode, where the types do not tell."""

import copy

import numpy as np


def broadcast_like(t, y):
    """A tangent that is the same along some axes, in the shape of its value."""
    return t if np.shape(t) == np.shape(y) else np.broadcast_to(t, np.shape(y)).copy()


def copied(t):
    """The tangent of a fresh value: an array of its own."""
    return copy.deepcopy(t)


def buffer_of(d):
    """The adjoint `d`, which is written to: a number so far is one of an array."""
    return np.array(d) if isinstance(d, (float, complex, np.generic)) else d
