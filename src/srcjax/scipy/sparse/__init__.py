"""`scipy.sparse`, with solvers in `linalg` that take functions too."""

from typing import Any

import scipy.sparse

from srcjax.scipy.sparse import linalg


def __getattr__(name: str) -> Any:
    """What SciPy's module has."""
    return getattr(scipy.sparse, name)


__all__ = ["linalg"]
