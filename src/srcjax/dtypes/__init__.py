"""JAX's `dtypes`: NumPy's own questions about dtypes.

Dtypes are not narrowed here: `canonicalize_dtype` gives the one that it is given.
"""

from typing import Any

import numpy as np
from numpy import finfo, iinfo, issubdtype, result_type

#: The dtype of tangents of whole numbers in JAX: one without any numbers.
float0 = np.dtype([("float0", np.void, 0)])


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """The dtype itself; JAX's is narrower without 64 bits."""
    return np.dtype(dtype)


__all__ = [
    "canonicalize_dtype",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "result_type",
]
