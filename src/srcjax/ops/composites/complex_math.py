"""Functions of `cmath`: those of NumPy, of what is complex whatever is given."""

from __future__ import annotations

import cmath
import math

import numpy as np

from srcjax.ops.record import composite


@composite(cmath.log)
def log(z, base=None):
    """The logarithm, to the base e where none is given."""
    value = np.log(complex(z))
    return value if base is None else value / np.log(complex(base))


@composite(cmath.phase)
def phase(z):
    """The angle."""
    return np.angle(complex(z))


@composite(cmath.polar)
def polar(z):
    """The size and the angle."""
    return abs(complex(z)), np.angle(complex(z))


@composite(cmath.rect)
def rect(r, phi):
    """The complex number of a size and an angle."""
    return complex(r * math.cos(phi), r * math.sin(phi))


@composite(cmath.exp)
def exp(z):
    """`np.exp` of a complex number."""
    return np.exp(complex(z))


@composite(cmath.sqrt)
def sqrt(z):
    """`np.sqrt` of a complex number."""
    return np.sqrt(complex(z))


@composite(cmath.log10)
def log10(z):
    """`np.log10` of a complex number."""
    return np.log10(complex(z))


@composite(cmath.sin)
def sin(z):
    """`np.sin` of a complex number."""
    return np.sin(complex(z))


@composite(cmath.cos)
def cos(z):
    """`np.cos` of a complex number."""
    return np.cos(complex(z))


@composite(cmath.tan)
def tan(z):
    """`np.tan` of a complex number."""
    return np.tan(complex(z))


@composite(cmath.asin)
def asin(z):
    """`np.arcsin` of a complex number."""
    return np.arcsin(complex(z))


@composite(cmath.acos)
def acos(z):
    """`np.arccos` of a complex number."""
    return np.arccos(complex(z))


@composite(cmath.atan)
def atan(z):
    """`np.arctan` of a complex number."""
    return np.arctan(complex(z))


@composite(cmath.sinh)
def sinh(z):
    """`np.sinh` of a complex number."""
    return np.sinh(complex(z))


@composite(cmath.cosh)
def cosh(z):
    """`np.cosh` of a complex number."""
    return np.cosh(complex(z))


@composite(cmath.tanh)
def tanh(z):
    """`np.tanh` of a complex number."""
    return np.tanh(complex(z))


@composite(cmath.asinh)
def asinh(z):
    """`np.arcsinh` of a complex number."""
    return np.arcsinh(complex(z))


@composite(cmath.acosh)
def acosh(z):
    """`np.arccosh` of a complex number."""
    return np.arccosh(complex(z))


@composite(cmath.atanh)
def atanh(z):
    """`np.arctanh` of a complex number."""
    return np.arctanh(complex(z))
