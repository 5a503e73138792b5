"""How values are printed in tables: short, and never as if they were all there is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

#: Arrays of at most so many elements are printed; of others, what they are.
MOST_SHOWN = 6
#: Containers of at most so many items are.
MOST_ITEMS = 3


@dataclasses.dataclass(frozen=True)
class Large:
    """What is kept of an array that is too large to be kept and printed."""

    shape: tuple[int, ...]
    dtype: str
    #: The Euclidean norm; None where there is none.
    norm: float | None

    def __str__(self) -> str:
        sizes = ",".join(map(str, self.shape))
        norm = "" if self.norm is None else f" norm {self.norm:.4g}"
        return f"{self.dtype}[{sizes}]{norm}"


def kept(value: Any) -> Any:
    """What a table keeps of a value: a copy, which later writes leave alone."""
    if isinstance(value, np.ndarray):
        if value.size <= MOST_SHOWN and value.dtype != object:
            return np.array(value)
        return _large(value)
    if isinstance(value, (bool, int, float, complex, str, np.generic, type(None))):
        return value
    if type(value) in (list, tuple):
        if len(value) <= MOST_ITEMS:
            return type(value)(map(kept, value))
        return Text(f"{type(value).__name__} of {len(value)}")
    if type(value) is dict:
        if len(value) <= MOST_ITEMS:
            return {k: kept(v) for k, v in value.items()}
        return Text(f"dict of {len(value)}")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple(map(kept, value))
    return Text(f"a {type(value).__name__}")


class Text(str):
    """What is said of a value of which no more is kept."""

    __slots__ = ()


def _large(value: np.ndarray) -> Large:
    norm = None
    if value.dtype.kind in "fciu":
        with np.errstate(all="ignore"):
            norm = float(np.linalg.norm(value.ravel()))
    return Large(value.shape, value.dtype.name, norm)


def shown(value: Any) -> str:
    """A value in one line: four digits of a number, arrays of a few elements whole."""
    if isinstance(value, (Text, Large)):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (complex, np.complexfloating)):
        return f"{value.real:.4g}{value.imag:+.4g}j"
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple):
        inside = ", ".join(map(shown, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shown(v)}" for k, v in value.items()) + "}"
    text = str(value) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _number(value: float) -> str:
    text = f"{value:.4g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def _array(value: np.ndarray) -> str:
    if value.size > MOST_SHOWN:
        return str(_large(value))
    if value.ndim == 0:
        return shown(value[()])
    return f"[{' '.join(map(_array, value))}]"
