"""What generated code may call where the types do not tell enough.

Each helper is plain NumPy, short, and pasted as source into exported modules. Where the
types are known the generated text has none of them: what is left of the helper's own
text stands there (`srcjax.transforms.followed`, `srcjax.ops.expand`). A rule names a
helper and needs no import; a new helper is a function in one of these files.
"""

from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcjax.runtime import (
    basics,
    batches,
    checks,
    complex_parts,
    containers,
    eigen,
    fourier,
    heaps,
    jacobians,
    linalg,
    linalg_tangents,
    products,
    reductions,
    scipy_fft,
    scipy_linalg,
    scipy_signal,
    scipy_special,
    segments,
    selection,
    series,
    shapes,
    shaping,
    tangents,
    windows,
)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def _functions_of(module: Any) -> dict[str, Any]:
    """The functions that a file of helpers defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }


#: All helpers by name.
HELPERS: dict[str, Any] = {}
for _file in (
    basics,
    batches,
    checks,
    complex_parts,
    containers,
    eigen,
    fourier,
    heaps,
    jacobians,
    linalg,
    linalg_tangents,
    products,
    reductions,
    scipy_fft,
    scipy_linalg,
    scipy_signal,
    scipy_special,
    segments,
    selection,
    series,
    shapes,
    shaping,
    tangents,
    windows,
):
    HELPERS.update(_functions_of(_file))
globals().update(HELPERS)
