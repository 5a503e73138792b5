"""Importing this module fills the table of operations."""

from srcjax.ops import (
    arithmetic,
    constructors,
    linalg,
    products,
    reductions,
    selection,
    shaping,
    special,
)

__all__ = [
    "arithmetic",
    "constructors",
    "linalg",
    "products",
    "reductions",
    "selection",
    "shaping",
    "special",
]
