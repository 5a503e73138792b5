"""What a run gave, and how two runs differ.

Two texts of one function may round differently (`a * b + a * c` and `a * (b + c)`), and
a number may be Python's in one and NumPy's in the other; whatever else a caller can see
is compared: containers, dtypes, shapes, values, what was written to arguments and to
other objects, what was printed, the exception.
"""

from __future__ import annotations

import contextlib
import copy
import io
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.checks.world import World

#: How far two results may be from each other, relative to the largest number of both.
RTOL = {8: 1e-7, 4: 2e-3, 2: 5e-2}


@dataclass(frozen=True)
class Outcome:
    """What one run gave."""

    result: Any
    #: What the objects hold that it changed, in the order in which they were found.
    changed: Any
    printed: str
    error: BaseException | None


def run(call: Callable[[], Any], world: World, tell: bool = True) -> Outcome:
    """Run, tell what came out of it (and what it wrote to), and put the world back."""
    printed, result, error = io.StringIO(), None, None
    try:
        with quiet(), contextlib.redirect_stdout(printed):
            result = call()
    except Exception as raised:
        error = raised
    try:
        result, changed = copied((result, world.changed() if tell else None))
    finally:
        world.restore()
    return Outcome(result, changed, printed.getvalue(), error)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings: what is run may divide by zero in one text and not in another."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def copied(value: Any) -> Any:
    """A deep copy, or the value itself where it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def unlike(left: Outcome, right: Outcome) -> str | None:
    """How two outcomes differ, in one line; None if they do not."""
    if left.error is not None or right.error is not None:
        if type(left.error) is type(right.error):
            return None
        return f"{_raised(left.error)}, then {_raised(right.error)}"
    return (
        difference(left.result, right.result, "the result")
        or difference(left.changed, right.changed, "what is written to")
        or difference(left.printed, right.printed, "what is printed")
    )


def _raised(error: BaseException | None) -> str:
    if error is None:
        return "nothing is raised"
    return f"{type(error).__name__} is raised ({error})"


def difference(left: Any, right: Any, where: str) -> str | None:
    """How two values differ, in one line; None if they do not."""
    found = _Difference(largest(left), largest(right)).between(left, right, where, ())
    return found


def largest(value: Any, depth: int = 0) -> float:
    """The size of the largest finite number in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) and depth < 16:
        return max((largest(v, depth + 1) for v in value), default=0.0)
    if is_number(value) or isinstance(value, np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind in "fciu":
            sizes = np.abs(array[np.isfinite(array)])
            return float(sizes.max()) if sizes.size else 0.0
    return 0.0


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


class _Difference:
    """Looks for the first difference between two values."""

    def __init__(self, left: float, right: float) -> None:
        self.scale = max(left, right)

    def between(self, a: Any, b: Any, where: str, above: tuple) -> str | None:
        if a is b or id(a) in above:
            return None
        above = (*above, id(a))
        if is_number(a) and is_number(b):
            return self.numbers(a, b, where)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return self.arrays(a, b, where)
        if type(a) is not type(b):
            return f"{where}: {_kind(a)}, then {_kind(b)}"
        if isinstance(a, dict):
            if list(a) != list(b):
                return f"{where} has the keys {list(a)}, then {list(b)}"
            return self.items(a, b, [(k, f"{where}[{k!r}]") for k in a], above)
        if isinstance(a, (list, tuple)):
            if len(a) != len(b):
                return f"{where} has {len(a)} items, then {len(b)}"
            keys = [(k, f"{where}[{k}]") for k in range(len(a))]
            return self.items(a, b, keys, above)
        if isinstance(a, (types.FunctionType, types.MethodType, type)):
            return None
        if hasattr(a, "__dict__"):
            return self.between(vars(a), vars(b), where, above)
        try:
            equal = bool(a == b)
        except Exception:
            return None
        plain = isinstance(a, (str, bytes, set, frozenset, type(None)))
        return None if equal or not plain else f"{where}: {a!r}, then {b!r}"

    def items(self, a: Any, b: Any, keys: list, above: tuple) -> str | None:
        for key, where in keys:
            found = self.between(a[key], b[key], where, above)
            if found:
                return found
        return None

    def numbers(self, a: Any, b: Any, where: str) -> str | None:
        left, right = np.asarray(a), np.asarray(b)
        if left.dtype != right.dtype:
            return f"{where}: {_kind(a)}, then {_kind(b)}"
        return self.values(left, right, where)

    def arrays(self, a: np.ndarray, b: np.ndarray, where: str) -> str | None:
        if a.dtype != b.dtype:
            return f"{where}: {_kind(a)}, then {_kind(b)}"
        if a.shape != b.shape:
            return f"{where} has the shape {a.shape}, then {b.shape}"
        if a.dtype == object:
            pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
            each = (self.between(x, y, where, ()) for x, y in pairs)
            return next(filter(None, each), None)
        return self.values(a, b, where)

    def values(self, a: np.ndarray, b: np.ndarray, where: str) -> str | None:
        if a.dtype.kind not in "fc":
            return None if np.array_equal(a, b) else f"{where}: {a}, then {b}"
        rtol = RTOL.get(a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1), 1e-7)
        # A sum that cancels leaves rounding errors of its terms, which no longer show.
        atol = rtol * max(self.scale, 1e-3)
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return None
        return f"{where}: {a}, then {b}"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name}"
    if is_number(value):
        return f"a number of {np.asarray(value).dtype.name}"
    return f"{type(value).__name__}"
