"""NumPy's namespace, for programs whose first line was `import jax.numpy as jnp`.

    import srcjax.numpy as jnp

All names are NumPy's own, on NumPy's arrays, with NumPy's semantics: `float64` stays
`float64`, arrays may be written to, an index out of bounds raises. Generated text calls
it `np`.
"""

from typing import Any

import numpy as _np
from numpy import *  # noqa: F403
from numpy import fft, linalg

#: NumPy's functions under this module's name are NumPy's (`frontend.numpy_names`).
__srcjax_stands_for__ = _np

__all__ = ["fft", "linalg", *_np.__all__]


def __getattr__(name: str) -> Any:
    """A name that NumPy does not export with `*`, such as `testing`."""
    return getattr(_np, name)


def __dir__() -> list[str]:
    return dir(_np)
