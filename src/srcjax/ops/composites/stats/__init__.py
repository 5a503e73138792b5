"""Distributions of scipy.stats: densities, distribution functions and their inverses.

Each is written in its standard form, with the location and the scale on top, and is as
precise in the tails as SciPy's own. Outside of the support, and for parameters that
make no sense, the values are SciPy's too; derivatives there are zero and nan.

Imported when a function of scipy.stats is first looked up.
"""

from srcjax.ops.composites.stats import (
    bounded,
    discrete,
    half_lines,
    kernel_density,
    lines,
    multivariate,
    normal,
    ranks,
)

__all__ = [
    "bounded",
    "discrete",
    "half_lines",
    "kernel_density",
    "lines",
    "multivariate",
    "normal",
    "ranks",
]
