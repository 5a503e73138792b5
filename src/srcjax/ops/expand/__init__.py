"""What a runtime helper stands for once the types are known.

An expansion takes the helper's arguments as trees and as types, and returns the plain
expression a person would write, or None where the types do not tell enough (then the
call to the helper stays). An expansion may return an expression that only broadcasts
to the wanted shape: the caller compares types and spreads it where it matters.
"""

from srcjax.ops.expand import (  # noqa: F401  (they fill the table)
    linalg,
    products,
    reductions,
    selection,
    shaping,
    tangents,
)
from srcjax.ops.expand.asking import has_shape_of, is_real
from srcjax.ops.expand.table import EXPANSIONS, Expansion, expands

__all__ = [
    "EXPANSIONS",
    "Expansion",
    "expands",
    "has_shape_of",
    "is_real",
]
