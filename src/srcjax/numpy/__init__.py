"""NumPy's namespace, for programs whose first line was `import jax.numpy as jnp`.

    import srcjax.numpy as jnp

Nearly all names are NumPy's own, on NumPy's arrays, with NumPy's semantics: `float64`
stays `float64`, arrays may be written to, an index out of bounds raises. Generated text
calls it `np`. Functions with arguments that JAX has and NumPy has not are in `extras`.
"""

from typing import Any

import numpy as _np
from numpy import *  # noqa: F403
from numpy import fft as fft
from numpy import linalg as linalg

from srcjax.numpy import extras as extras

#: NumPy's functions under this module's name are NumPy's (`frontend.numpy_names`).
__srcjax_stands_for__ = _np

#: Dtypes by the names that JAX has for them.
float_ = _np.float64
complex_ = _np.complex128

__all__ = sorted({"fft", "linalg", "vectorize", *extras.__all__, *_np.__all__})

globals().update({name: getattr(extras, name) for name in extras.__all__})
globals().pop("vectorize")  # NumPy's; that of srcjax is imported at its first use


def __getattr__(name: str) -> Any:
    """A name that NumPy does not export with `*`, such as `testing`."""
    if name == "vectorize":
        from srcjax.api import vectorized

        return vectorized.vectorize
    return getattr(_np, name)


def __dir__() -> list[str]:
    return sorted({*dir(_np), *globals()})
