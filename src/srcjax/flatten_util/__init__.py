"""JAX's `flatten_util`: pytrees as vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers of a pytree as one vector, and the way back.

    Args:
        pytree: numbers and arrays in containers.

    Returns:
        An array of shape (n,), of the dtype that all leaves fit in, and a function that
        gives the pytree of such a vector, with the shapes and dtypes of the leaves.
    """
    if isinstance(pytree, np.ndarray):
        shape, dtype = pytree.shape, pytree.dtype

        def unravel_array(vector: Any) -> Any:
            return np.reshape(vector, shape).astype(dtype)

        return np.ravel(pytree), unravel_array
    leaves, structure = tree.flatten(pytree)
    flat = as_vector(pytree)
    like = tuple(leaves)

    def unravel(vector: Any) -> Any:
        found = []
        start = 0
        for leaf in like:
            end = start + np.size(leaf)
            part = np.reshape(vector[start:end], np.shape(leaf))
            found.append(part.astype(np.asarray(leaf).dtype))
            start = end
        return tree.unflatten(structure, found)

    return flat, unravel


def as_vector(pytree: Any) -> Any:
    """The vector alone."""
    parts = [np.ravel(leaf) for leaf in tree.leaves(pytree)]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


__all__ = ["ravel_pytree"]
