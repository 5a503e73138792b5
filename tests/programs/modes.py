"""One verdict for each mode and nesting of two, by few evaluations of the program.

A gradient is compared along two random directions with differences of the function
itself, a second derivative along one: a wrong component shows in almost every one, and
the number of evaluations does not grow with the arguments. No mode judges another.
"""

from __future__ import annotations

import copy
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import srcjax
from srcjax.errors import SrcjaxError
from tests.plain_kernels import kernels_as_python
from tests.programs.judging import arguments, tangent_along
from tests.programs.judging import projected_gradient as projected

srcjax.config.jit_at_once = True  # kernels are what is tested

Arguments = tuple[Any, ...]
#: What the results of a batch are weighted with where one number is needed.
WEIGHTS = np.array([1.0, -0.7, 0.4])
ALL = (0, 1, 2)


class Skipped(Exception):
    """Differences say nothing here."""


class Wrong(Exception):
    """A number, shape or dtype that is not that of the plain function."""


class Case:
    """A program with its arguments and two directions."""

    def __init__(self, f: Callable, seed: int, n: int) -> None:
        rng = np.random.default_rng(seed + 1)
        self.f = f
        self.args = arguments(seed, n)
        self.ways = [
            (rng.normal(size=n), rng.normal(size=(n, n)), float(rng.normal()))
            for _ in range(2)
        ]
        factors = (1.0, 1.3, 0.6)
        self.examples = [tuple(a * np.float64(k) for a in self.args) for k in factors]
        self.batch = tuple(np.stack(p) for p in zip(*self.examples, strict=True))

    def fresh(self) -> Arguments:
        return copy.deepcopy(self.args)

    def value(self, args: Arguments) -> float:
        return float(self.f(*copy.deepcopy(args)))

    def values(self) -> np.ndarray:
        """The values of the examples."""
        found = np.array([self.value(e) for e in self.examples])
        if not np.isfinite(found).all() or np.abs(found).max() > 1e7:
            raise Skipped("large")
        return found

    def along(self, args: Arguments, way: Arguments) -> Callable[[float], float]:
        return lambda t: self.value(
            tuple(a + t * b for a, b in zip(args, way, strict=True))
        )

    def slopes(self, way: Arguments) -> list[tuple[float, float]]:
        return [slope(self.along(e, way)) for e in self.examples]


def slope(phi: Callable[[float], float]) -> tuple[float, float]:
    """The derivative at zero, and the size that errors are compared with."""
    steps = (1e-3, 5e-4, 1e-5)
    a, b, c = ((phi(h) - phi(-h)) / (2 * h) for h in steps)
    best = (4 * b - a) / 3
    size = 1 + abs(phi(0.0)) + abs(best)
    return trusted(best, c, size, 3e-6)


def curve(phi: Callable[[float], float]) -> tuple[float, float]:
    """The second derivative at zero, and the size."""
    middle = phi(0.0)
    steps = (4e-3, 2e-3, 1e-3)
    a, b, c = ((phi(h) - 2 * middle + phi(-h)) / h**2 for h in steps)
    best = (4 * c - b) / 3
    return trusted(best, (4 * b - a) / 3, 1 + abs(middle) + abs(best), 2e-5)


def trusted(
    best: float, other: float, size: float, limit: float
) -> tuple[float, float]:
    if not math.isfinite(best) or size > 1e6:
        raise Skipped("large")
    if abs(best - other) > limit * size:
        raise Skipped("not smooth here")
    return best, size


def near(found: float, expected: float, size: float, limit: float) -> None:
    if not abs(found - expected) <= limit * size:
        raise Wrong(f"{found}, not {expected}")


def project(gradients: Any, way: Arguments) -> float:
    for d, v in zip(gradients, way, strict=True):
        if np.shape(d) != np.shape(v):
            raise Wrong(f"the shape {np.shape(d)}, not {np.shape(v)}")
    return float(sum(np.sum(d * v) for d, v in zip(gradients, way, strict=True)))


def of_batch(found: Any, shape: tuple[int, ...] = (3,)) -> np.ndarray:
    if np.shape(found) != shape:
        raise Wrong(f"the shape {np.shape(found)}, not {shape}")
    return np.asarray(found)


# The modes --------------------------------------------------------------------


def grad(case: Case) -> None:
    expected = [slope(case.along(case.args, way)) for way in case.ways]
    value, found = srcjax.value_and_grad(case.f, ALL)(*case.fresh())
    near(float(value), case.value(case.args), 1 + abs(value), 1e-9)
    for way, (number, size) in zip(case.ways, expected, strict=True):
        near(project(found, way), number, size, 2e-5)


def jvp(case: Case) -> None:
    expected = [slope(case.along(case.args, way)) for way in case.ways]
    for way, (number, size) in zip(case.ways, expected, strict=True):
        value, found = srcjax.jvp(case.f, case.fresh(), way)
        near(float(value), case.value(case.args), 1 + abs(value), 1e-9)
        near(float(found), number, size, 2e-5)


def vmap(case: Case) -> None:
    expected = case.values()
    found = of_batch(srcjax.vmap(case.f)(*case.batch))
    if not np.allclose(found, expected, rtol=1e-8, atol=1e-9):
        raise Wrong(f"{found}, not {expected}")


def float32(case: Case) -> None:
    x, A, s = case.args
    single = x.astype(np.float32), A.astype(np.float32), s
    exact = case.value(case.args)
    if not abs(case.value(single) - exact) <= 1e-4 * (1 + abs(exact)):
        raise Skipped("single precision takes another path")
    expected = [slope(case.along(case.args, way)) for way in case.ways]
    found = srcjax.grad(case.f, ALL)(*copy.deepcopy(single))
    for d in found[:2]:
        if np.asarray(d).dtype != np.float32:
            raise Wrong(f"the dtype {np.asarray(d).dtype}")
    summed = sum(float(np.abs(d).sum()) for d in found)
    for way, (number, size) in zip(case.ways, expected, strict=True):
        near(project(found, way), number, size + summed, 2e-2)


def jit(case: Case) -> None:
    expected = case.value(case.args)
    with kernels_as_python():
        value = float(srcjax.jit(case.f)(*case.fresh()))
    near(value, expected, 1 + abs(expected), 1e-9)


def jit_grad(case: Case) -> None:
    expected = [slope(case.along(case.args, way)) for way in case.ways]
    with kernels_as_python():
        derivative = srcjax.jit(srcjax.value_and_grad(case.f, ALL))
        value, found = derivative(*case.fresh())
    near(float(value), case.value(case.args), 1 + abs(value), 1e-9)
    for way, (number, size) in zip(case.ways, expected, strict=True):
        near(project(found, way), number, size, 2e-5)


def jit_vmap(case: Case) -> None:
    expected = case.values()
    with kernels_as_python():
        found = of_batch(srcjax.jit(srcjax.vmap(case.f))(*case.batch))
    if not np.allclose(found, expected, rtol=1e-8, atol=1e-9):
        raise Wrong(f"{found}, not {expected}")


def second(derivative: Callable[[Case, Arguments], float]) -> Callable[[Case], None]:
    def mode(case: Case) -> None:
        way = case.ways[0]
        expected, size = curve(case.along(case.args, way))
        near(derivative(case, way), expected, size, 2e-4)

    return mode


grad_grad = second(
    lambda case, v: project(srcjax.grad(projected(case.f, v), ALL)(*case.fresh()), v)
)
jvp_grad = second(
    lambda case, v: project(srcjax.jvp(srcjax.grad(case.f, ALL), case.fresh(), v)[1], v)
)
grad_jvp = second(
    lambda case, v: project(
        srcjax.grad(tangent_along(case.f, v), ALL)(*case.fresh()), v
    )
)
jvp_jvp = second(
    lambda case, v: float(srcjax.jvp(tangent_along(case.f, v), case.fresh(), v)[1])
)


def vmap_grad(case: Case) -> None:
    way = case.ways[0]
    expected = case.slopes(way)
    found = srcjax.vmap(srcjax.grad(case.f, ALL))(*case.batch)
    for k, (number, size) in enumerate(expected):
        near(project([d[k] for d in found], way), number, size, 2e-5)


def vmap_jvp(case: Case) -> None:
    way = case.ways[0]
    expected = case.slopes(way)
    found = of_batch(srcjax.vmap(tangent_along(case.f, way))(*case.batch))
    for d, (number, size) in zip(found, expected, strict=True):
        near(float(d), number, size, 2e-5)


def grad_vmap(case: Case) -> None:
    way = case.ways[0]
    expected = case.slopes(way)
    mapped = srcjax.vmap(case.f)

    def total(x, A, s):
        return np.sum(mapped(x, A, s) * WEIGHTS)

    found = srcjax.grad(total, ALL)(*case.batch)
    for k, (number, size) in enumerate(expected):
        near(project([d[k] for d in found], way), WEIGHTS[k] * number, size, 2e-5)


def jvp_vmap(case: Case) -> None:
    way = case.ways[0]
    expected = case.slopes(way)
    ways = tuple(np.stack([np.asarray(v)] * 3) for v in way)
    found = of_batch(srcjax.jvp(srcjax.vmap(case.f), case.batch, ways)[1])
    for d, (number, size) in zip(found, expected, strict=True):
        near(float(d), number, size, 2e-5)


def vmap_vmap(case: Case) -> None:
    expected = np.stack([case.values()] * 2)
    batch = [np.stack([part] * 2) for part in case.batch]
    found = of_batch(srcjax.vmap(srcjax.vmap(case.f))(*batch), (2, 3))
    if not np.allclose(found, expected, rtol=1e-8, atol=1e-9):
        raise Wrong(f"{found}, not {expected}")


FIRST = {"grad": grad, "jvp": jvp, "vmap": vmap, "float32": float32, "jit": jit}
NESTED = {
    "grad(grad)": grad_grad,
    "jvp(grad)": jvp_grad,
    "grad(jvp)": grad_jvp,
    "jvp(jvp)": jvp_jvp,
    "vmap(grad)": vmap_grad,
    "vmap(jvp)": vmap_jvp,
    "grad(vmap)": grad_vmap,
    "jvp(vmap)": jvp_vmap,
    "vmap(vmap)": vmap_vmap,
    "jit(grad)": jit_grad,
    "jit(vmap)": jit_vmap,
}
MODES = FIRST | NESTED


def some_modes(seed: int, short: bool) -> list[str]:
    """A mode for the seed and, of a short program, a nesting."""
    r = random.Random(31 * seed + 5)
    first = r.choice(["grad", *FIRST])
    return [first, r.choice(list(NESTED))] if short else [first]


def verdict(f: Callable, seed: int, n: int, mode: str) -> tuple[str, str]:
    """One of skip, right, refused, wrong, crash; and what was seen."""
    case = Case(f, seed, n)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            for args in (case.args, *case.examples):
                case.value(args)
        except Exception as error:
            return "skip", f"the program itself: {error!r}"
        try:
            MODES[mode](case)
        except Skipped as reason:
            return "skip", str(reason)
        except Wrong as reason:
            return "wrong", str(reason)
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    return "right", ""
