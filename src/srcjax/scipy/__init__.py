"""SciPy's namespace, for programs whose first lines were `import jax.scipy as jsp`.

    import srcjax.scipy as jsp
    from srcjax.scipy.special import logsumexp

All modules are SciPy's own: generated text says `scipy.special.logsumexp`.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """A module of SciPy's, at its first use."""
    if not name.startswith("_"):
        try:
            return importlib.import_module(f"scipy.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"scipy.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
