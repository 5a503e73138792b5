"""JAX's `typing`: annotations for what may be given as an array, and as a dtype."""

from numpy.typing import ArrayLike, DTypeLike

__all__ = ["ArrayLike", "DTypeLike"]
