"""Importing this module fills the table of operations.

The records of SciPy's functions, of those of others with rules that call SciPy, and of
`srcjax.random` are made when one of them is looked up.
"""

import math

import numpy as np

from srcjax.ops import (
    arithmetic,
    batch_collectives,
    batch_composites,
    batch_constructors,
    batch_helpers,
    batch_linalg,
    batch_numbers,
    batch_products,
    batch_reductions,
    batch_selection,
    batch_shaping,
    callbacks,
    collectives,
    complex_parts,
    composites,
    constructors,
    eigen,
    examples,
    expand,
    fft,
    helper_tangents,
    inert,
    linalg,
    products,
    random_numbers,
    reductions,
    segments,
    selection,
    shaping,
    sums,
    windows,
    written_out,
)
from srcjax.ops.record import register_lazily
from srcjax.runtime import normal_hazard

__all__ = [
    "arithmetic",
    "batch_collectives",
    "batch_composites",
    "batch_constructors",
    "batch_helpers",
    "batch_linalg",
    "batch_numbers",
    "batch_products",
    "batch_reductions",
    "batch_selection",
    "batch_shaping",
    "callbacks",
    "collectives",
    "complex_parts",
    "composites",
    "constructors",
    "eigen",
    "examples",
    "expand",
    "fft",
    "helper_tangents",
    "inert",
    "linalg",
    "products",
    "random_numbers",
    "reductions",
    "segments",
    "selection",
    "shaping",
    "sums",
    "windows",
    "written_out",
]

register_lazily(
    "scipy.linalg",
    "srcjax.ops.scipy_linalg",
    "srcjax.ops.batch_scipy_linalg",
    "srcjax.ops.composites.scipy_linalg",
)
register_lazily("scipy.sparse.linalg", "srcjax.ops.scipy_sparse_linalg")
register_lazily(
    "scipy.special",
    "srcjax.ops.special",
    "srcjax.ops.scipy_special",
    "srcjax.ops.composites.scipy_special",
)
register_lazily(
    "srcjax.random",
    "srcjax.ops.random_draws",
    "srcjax.ops.composites.random_draws",
    "srcjax.ops.composites.random_distributions",
)
for _function in (
    math.erf,
    math.erfc,
    math.gamma,
    math.lgamma,
    np.i0,
    normal_hazard,
):
    register_lazily(_function, "srcjax.ops.special")
