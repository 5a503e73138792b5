"""Operations that plain NumPy can say: functions of the same value, no rules.

What is written here is what a reader meets in generated code, and what an exported
module contains: plain, readable NumPy that a derivative can go through and be stable
and right. Where there is a choice of derivatives (a kink, a tie), docs/conventions.md
says which one is taken.

A function here has the signature of what it stands for, as far as it serves it. It
uses NumPy (SciPy, where it stands for a function of SciPy) and other functions of this
package, no other part of srcjax.
"""

from srcjax.ops.composites import (
    borders,
    complex_math,
    complex_numbers,
    construction,
    emath,
    fourier,
    functional,
    heaps,
    histograms,
    in_place,
    iteration,
    keywords,
    linear_algebra,
    numbers,
    places,
    polynomials,
    reductions,
    series,
    sets,
    slopes,
    statistics,
    ufunc_methods,
)
from srcjax.ops.record import register_lazily

__all__ = [
    "borders",
    "construction",
    "fourier",
    "functional",
    "heaps",
    "histograms",
    "iteration",
    "in_place",
    "linear_algebra",
    "numbers",
    "places",
    "polynomials",
    "complex_math",
    "complex_numbers",
    "emath",
    "keywords",
    "reductions",
    "series",
    "sets",
    "slopes",
    "statistics",
    "ufunc_methods",
]

register_lazily(
    "scipy.integrate",
    "srcjax.ops.composites.scipy_integrate",
    "srcjax.ops.composites.scipy_ivp",
    "srcjax.ops.composites.scipy_quadrature",
)
register_lazily(
    "scipy.interpolate",
    "srcjax.ops.composites.scipy_interpolate",
    "srcjax.ops.composites.scipy_splines",
)
register_lazily("scipy.optimize", "srcjax.ops.composites.scipy_optimize")
register_lazily("scipy.fft", "srcjax.ops.scipy_fft", "srcjax.ops.composites.scipy_fft")
register_lazily("scipy.ndimage", "srcjax.ops.composites.scipy_ndimage")
register_lazily("scipy.spatial.distance", "srcjax.ops.composites.scipy_spatial")
register_lazily(
    "scipy.signal", "srcjax.ops.scipy_signal", "srcjax.ops.composites.scipy_signal"
)
register_lazily("scipy.stats", "srcjax.ops.composites.stats")
