"""SciPy's namespace, for programs whose first lines were `import jax.scipy as jsp`.

    import srcjax.scipy as jsp
    from srcjax.scipy.special import logsumexp

Modules are SciPy's own: generated text says `scipy.special.logsumexp`. The solvers of
`sparse.linalg` take functions too, as in JAX.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """A module of SciPy's, at its first use."""
    if not name.startswith("_"):
        for home in (__name__, "scipy"):
            try:
                return importlib.import_module(f"{home}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{home}.{name}":
                    raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
