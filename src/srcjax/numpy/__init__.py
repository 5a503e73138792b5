"""NumPy's namespace, for programs whose first line was `import jax.numpy as jnp`.

    import srcjax.numpy as jnp

Nearly all names are NumPy's own, with NumPy's semantics: `float64` stays `float64`,
arrays may be written to, an index out of bounds raises. Generated text calls it `np`.
Functions give arrays of the class `srcjax.Array`: NumPy's, with `x.at[i]` besides.
Those with arguments that JAX has and NumPy has not are in `extras`.
"""

from typing import Any

import numpy as _np

from srcjax.numpy import extras as extras
from srcjax.numpy import fft as fft
from srcjax.numpy import linalg as linalg
from srcjax.numpy.standing import getting as _getting

#: NumPy's functions under this module's name are NumPy's (`frontend.numpy_names`).
__srcjax_stands_for__ = _np
__srcjax_gives_arrays__ = True

#: Dtypes by the names that JAX has for them.
float_ = _np.float64
complex_ = _np.complex128

__all__ = sorted({"vectorize", *extras.__all__, *_np.__all__})

_of_numpy = _getting(_np, globals())
_of_extras = _getting(extras, globals())


def __getattr__(name: str) -> Any:
    """What the name stands for, at its first use."""
    if name == "vectorize":
        from srcjax.api import vectorized

        return vectorized.vectorize
    return _of_extras(name) if name in extras.__all__ else _of_numpy(name)


def __dir__() -> list[str]:
    return sorted({*dir(_np), *__all__, *globals()})
