"""`check=True`: the first call of each version is compared with what else is known.

Along one random direction `v`, with weights `w` of the value, three numbers have to be
the same: what the derivative says, `<w, J v>`; what the other mode says (`<J^T w, v>`);
and the difference quotient of the function itself. A quotient is only believed as far
as it bears: where the function has a kink, a jump or noise, it says nothing. What does
not agree is looked at again beside the point, where kinks and ties are gone, and only
what is wrong there as well is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.checks.differences import RTOL, STEP, Quotient, quotient_of
from srcjax.checks.leaves import (
    is_real_leaf,
    leaves,
    product,
    put,
    size_of_product,
    walk,
)
from srcjax.checks.outcomes import quiet, run
from srcjax.checks.passes import changes_of
from srcjax.checks.world import World, leads_outside
from srcjax.errors import DerivativeMismatch, error_at

#: How far beside the point a mismatch has to be there too, relative to each leaf.
BESIDE = (3e-2, 7e-3)
#: Arrays beyond this many bytes that a run may write to are not kept for it.
MOST_BYTES = 2**30

_CHECKING: ContextVar[bool] = ContextVar("checking", default=False)


@contextmanager
def unchecked() -> Iterator[None]:
    """Inside, no call is checked: it is a part of a check."""
    token = _CHECKING.set(True)
    try:
        yield
    finally:
        _CHECKING.reset(token)


def is_checking() -> bool:
    """Whether a check is being made."""
    return _CHECKING.get()


def prove(transform: Any, values: list[Any], opinions: bool = False) -> None:
    """Compare a derivative at these arguments. Raises DerivativeMismatch.

    `opinions` tells that derivatives were given by the user (`custom_vjp`,
    `stop_gradient`): they need not be those of the function.
    """
    if opinions:
        return
    with unchecked(), quiet():
        try:
            found = _Comparison(transform, values).verdict()
        except Exception:
            return  # the function cannot be run again, or not beside the point
        if found is None:
            return
        error = mismatch(transform, values, *found)
    raise error


class NotComparable(Exception):
    """Nothing can be said: the function must not be run again, or says no numbers."""


@dataclass(frozen=True)
class Numbers:
    """What each way gives along one direction."""

    own: float
    size: float
    quotient: Quotient
    other: float | None = None

    def is_wrong(self, rtol: float) -> bool:
        """Whether the derivative surely is not what the function does."""
        quotient = self.quotient
        if not np.isfinite(quotient.value) or not np.isfinite(quotient.error):
            return False
        if not np.isfinite(self.own):
            return quotient.error <= rtol * (abs(quotient.value) + 1e-300)
        size = max(self.size, abs(quotient.value))
        apart = abs(self.own - quotient.value)
        if apart > rtol * size + 20 * quotient.error:
            return True
        if self.other is None or not np.isfinite(self.other):
            return False
        # The modes differ by more than rounding, and the quotient can tell which of
        # them is wrong.
        return (
            abs(self.own - self.other) > 1e-2 * rtol * size
            and apart > 20 * quotient.error
            and abs(self.other - quotient.value) < 0.1 * apart
        )


class _Comparison:
    """Compares one derivative at one point."""

    def __init__(self, transform: Any, values: list[Any]) -> None:
        self.transform = transform
        self.values = values
        roots = [transform.function, *values]
        if leads_outside(roots):
            raise NotComparable
        self.world = World(roots)
        if self.world.bytes() > MOST_BYTES:
            raise NotComparable
        names = dict(zip(transform.parameters, values, strict=True))
        self.chosen = [names[n] for n in transform.wrt]
        self.rng = np.random.default_rng(20261)
        self.rtol = max(
            (RTOL.get(precision(v), 1.0) for v in leaves(self.chosen) if real(v)),
            default=0.0,
        )
        if not self.rtol:
            raise NotComparable
        self.opposite: Any = None
        self.asked = False

    def verdict(self) -> tuple[Numbers, list[Any]] | None:
        """What is wrong, and along which direction; None if nothing is."""
        direction = self.direction()
        first = self.numbers(self.chosen, direction)
        if not first.is_wrong(self.rtol):
            return None
        if not self.is_settled() or not self.converges(direction):
            return None
        for scale in BESIDE:
            beside = self.moved(self.chosen, self.direction(), scale)
            if not self.numbers(beside, self.direction()).is_wrong(self.rtol):
                return None
        return first, self.chosen

    def is_settled(self) -> bool:
        """Whether the function gives the same twice, from the same world."""
        one, two = self.value(self.chosen), self.value(self.chosen)
        weights = self.weights(one)
        return abs(product(weights, one) - product(weights, two)) <= 1e-12 * (
            size_of_product(weights, one)
        )

    def converges(self, direction: list[Any]) -> bool:
        """Whether quotients of smaller steps are the same: not those of a chaos."""
        found, limits = [], []
        for step in (STEP, STEP / 10, STEP / 100):
            quotient, _ = self.quotient(self.chosen, direction, step)
            found.append(quotient.value)
            limits.append(100 * quotient.noise)
        largest = max(map(abs, found))
        return all(
            abs(value - found[0]) <= 0.05 * largest + limit
            for value, limit in zip(found, limits, strict=True)
        )

    def direction(self, only: int | None = None) -> list[Any]:
        """A random direction, in the size of each leaf; along one leaf, if named."""
        count = 0

        def of(leaf: Any) -> Any:
            nonlocal count
            count += 1
            if not real(leaf) or (only is not None and only != count - 1):
                return np.zeros(np.shape(leaf))[()]
            return self.drawn(leaf) * size_of(leaf)

        return put(self.chosen, map(of, leaves(self.chosen)))

    def drawn(self, leaf: Any) -> Any:
        """Random numbers that are neither small nor alike."""
        shape = np.shape(leaf)
        signs = self.rng.choice([-1.0, 1.0], size=shape)
        drawn = signs * self.rng.uniform(0.5, 1.5, size=shape)
        if np.iscomplexobj(leaf):
            drawn = drawn + 1j * self.rng.uniform(0.5, 1.5, size=shape)
        return drawn

    def moved(self, chosen: Any, direction: Any, step: float) -> Any:
        """The arguments a step along a direction, of the types that they have."""

        def one(pair: tuple[Any, Any]) -> Any:
            leaf, by = pair
            if not real(leaf):
                return leaf
            moved = np.asarray(leaf) + step * np.asarray(by)
            if not hasattr(leaf, "dtype"):
                return type(leaf)(moved)
            moved = np.asarray(moved, leaf.dtype)
            return moved if isinstance(leaf, np.ndarray) else moved[()]

        pairs = zip(leaves(chosen), leaves(direction), strict=True)
        return put(chosen, map(one, pairs))

    def all_values(self, chosen: Any) -> list[Any]:
        """The value of every parameter."""
        named = dict(zip(self.transform.wrt, chosen, strict=True))
        pairs = zip(self.transform.parameters, self.values, strict=True)
        return [named.get(name, value) for name, value in pairs]

    def value(self, chosen: Any) -> Any:
        """What the function gives, from the same world each time."""
        values = self.all_values(put(chosen, map(copied_leaf, leaves(chosen))))
        found = run(lambda: self.transform.plain_value(values), self.world, False)
        if found.error is not None:
            raise NotComparable
        return found.result

    def weights(self, value: Any) -> Any:
        """Random weights of the value: 1 for one number."""
        parts = leaves(value)
        if not any(map(is_real_leaf, parts)):
            raise NotComparable
        if len(parts) == 1 and np.shape(parts[0]) == ():
            return put(value, iter([1.0]))
        rng = np.random.default_rng(7)
        return put(
            value,
            (
                np.asarray(rng.uniform(0.5, 1.5, np.shape(p)), p.dtype)[()]
                if real(p) and hasattr(p, "dtype")
                else rng.uniform(0.5, 1.5)
                if real(p)
                else np.zeros(np.shape(p))[()]
                for p in parts
            ),
        )

    def quotient(
        self, chosen: Any, direction: Any, h: float = STEP
    ) -> tuple[Quotient, Any]:
        """The change of the weighted value, from five points, and the weights."""
        wide = put(chosen, map(widened, leaves(chosen)))
        middle = self.value(wide)
        weights = self.weights(middle)

        def at(step: float) -> float:
            return product(weights, self.value(self.moved(wide, direction, step)))

        here, size = product(weights, middle), size_of_product(weights, middle)
        return quotient_of(at, here, size, h), weights

    def numbers(self, chosen: Any, direction: Any) -> Numbers:
        """All ways at one point."""
        quotient, weights = self.quotient(chosen, direction)
        values = self.all_values(chosen)
        own, size = self.asked_of(self.transform, values, direction, weights)
        # The derivative itself is rounded, to the precision of its arguments.
        rounding = 1e-3 * self.rtol * size if self.rtol > 1e-3 else 1e-12 * size
        quotient = Quotient(quotient.value, quotient.error + rounding)
        other = None
        opposite = self.other_mode()
        if opposite is not None:
            try:
                other, _ = self.asked_of(opposite, values, direction, weights)
            except Exception:
                self.opposite = None
        return Numbers(own, abs(own), quotient, other)

    def asked_of(
        self, transform: Any, values: list[Any], direction: Any, weights: Any
    ) -> tuple[float, float]:
        """What a transform gives along a direction, and the size of its terms."""
        tangents = put(self.chosen, map(like, leaves(self.chosen), leaves(direction)))

        def ask() -> tuple[float, float]:
            pair = transform.along(values, tangents, weights)
            if pair is None:
                raise NotComparable
            return product(*pair), size_of_product(*pair)

        found = run(ask, self.world, False)
        if found.error is not None:
            raise found.error
        answer: tuple[float, float] = found.result
        return answer

    def other_mode(self) -> Any:
        """The transform of the other mode, made once."""
        if not self.asked:
            self.asked = True
            self.opposite = self.transform.opposite()
        return self.opposite


def real(leaf: Any) -> bool:
    return is_real_leaf(leaf)


def precision(leaf: Any) -> int:
    """The bytes of a floating number: of a complex one, those of its parts."""
    dtype = np.asarray(leaf).dtype
    return min(8, dtype.itemsize // (2 if dtype.kind == "c" else 1))


def size_of(leaf: Any) -> float:
    """The typical size of the numbers of a leaf: 1 where they are zero."""
    array = np.abs(np.asarray(leaf))
    finite = array[np.isfinite(array)]
    size = float(np.sqrt(np.mean(np.square(finite, dtype=float)))) if finite.size else 0
    return size or 1.0


def widened(leaf: Any) -> Any:
    """The leaf in double precision: differences of single precision say little."""
    if not real(leaf) or precision(leaf) == 8:
        return leaf
    wide = np.asarray(leaf, complex if np.iscomplexobj(leaf) else float)
    return wide if isinstance(leaf, np.ndarray) else wide[()]


def copied_leaf(leaf: Any) -> Any:
    """An array of its own: the function may write to it."""
    return leaf.copy() if type(leaf) in ARRAYS else leaf


def like(leaf: Any, by: Any) -> Any:
    """A tangent in the dtype of its primal."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return complex(by) if isinstance(leaf, complex) else float(by)
    tangent = np.asarray(by, dtype)
    return tangent if isinstance(leaf, np.ndarray) else tangent[()]


# -- the error -------------------------------------------------------------------------


def mismatch(
    transform: Any, values: list[Any], numbers: Numbers, chosen: list[Any]
) -> DerivativeMismatch:
    """The error, with the argument and the pass that are at fault, if that is told."""
    name = transform.source.name
    where = _argument(transform, values)
    ways = [
        f"  {transform.name}: {numbers.own:.10g}",
        f"  differences of `{name}`: {numbers.quotient.value:.10g}",
    ]
    if numbers.other is not None:
        ways.append(f"  the other mode: {numbers.other:.10g}")
    return error_at(
        DerivativeMismatch,
        transform.source,
        transform.source.node,
        f"the derivative of `{name}` that `{transform.name}` gives is wrong{where}. "
        "Along a random direction:\n"
        + "\n".join(ways)
        + _pass_at_fault(transform, values),
        "please report it; `check=False` does without the comparison",
    )


def _argument(transform: Any, values: list[Any]) -> str:
    """Which leaf of the arguments, and which item of it, is wrong."""
    comparison = _Comparison(transform, values)
    names = [
        name
        for parameter, value in zip(transform.wrt, comparison.chosen, strict=True)
        for name, _ in walk(value, parameter)
    ]
    wrong = []
    for k, leaf in enumerate(leaves(comparison.chosen)):
        if not real(leaf):
            continue
        try:
            found = comparison.numbers(comparison.chosen, comparison.direction(only=k))
        except Exception:
            continue
        if found.is_wrong(comparison.rtol):
            wrong.append(f"`{names[k]}`")
    return f" with respect to {', '.join(wrong)}" if wrong else ""


def _pass_at_fault(transform: Any, values: list[Any]) -> str:
    """The pass that changed what the text does, if one did."""
    try:
        found, count = changes_of(transform, tuple(values), {})
    except Exception:
        return ""
    if found:
        return f"\n{found[0]}"
    if count:
        return (
            f"\nNone of the {count} passes after the transform changed what its text "
            "does: the transform wrote it so"
        )
    return ""
