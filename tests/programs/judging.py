"""Is a derivative right? Differences are the judge, and the modes judge each other."""

from __future__ import annotations

import copy
import importlib.util
import math
import sys
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

import srcjax
from srcjax.errors import SrcjaxError


def arguments(seed: int, n: int = 3) -> tuple[np.ndarray, np.ndarray, float]:
    """A vector, a matrix and a number: what every program takes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=(n, n)) * 0.6, float(rng.normal())


def load(text: str, path: Path, name: str) -> ModuleType:
    file = path / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def call(f, flat: np.ndarray) -> float:
    """The value for the arguments, one after the other in one array."""
    n = round(math.sqrt(len(flat) - 0.75) - 0.5)  # n + n * n + 1 numbers
    x, A, s = flat[:n], flat[n:-1].reshape(n, n), flat[-1]
    return float(f(x.copy(), A.copy(), float(s)))


def differences(f, flat: np.ndarray, step: float) -> np.ndarray:
    out = np.empty(len(flat))
    for k in range(len(flat)):
        up, down = flat.copy(), flat.copy()
        up[k] += step
        down[k] -= step
        out[k] = (call(f, up) - call(f, down)) / (2 * step)
    return out


def judge(f, seed: int, n: int = 3) -> tuple[str, str]:
    """One of skip, right, refused, wrong, crash; and what was seen."""
    x, A, s = arguments(seed, n)
    flat = np.concatenate([x, A.ravel(), [s]])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = call(f, flat)
            coarse = differences(f, flat, 1e-4)
            fine = differences(f, flat, 1e-5)
        except (
            IndexError,
            ValueError,
            OverflowError,
            UnboundLocalError,
            TypeError,
        ) as e:
            return "skip", f"the program itself: {e!r}"
        scale = 1 + np.abs(fine).max()
        if not math.isfinite(value) or not np.isfinite(fine).all() or scale > 1e6:
            return "skip", "large"
        if np.abs(coarse - fine).max() > 1e-5 * scale or abs(value) > 1e7:
            return "skip", "not smooth here"
        try:
            got = srcjax.value_and_grad(f, (0, 1, 2))(x.copy(), A.copy(), s)
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    y, (dx, dA, ds) = got
    flat_got = np.concatenate([np.ravel(dx), np.ravel(dA), np.ravel(ds)])
    if flat_got.shape != fine.shape:
        return "wrong", f"shapes {np.shape(dx)} {np.shape(dA)} {np.shape(ds)}"
    if not np.isclose(y, value, rtol=1e-9, atol=1e-9):
        return "wrong", f"value {y}, not {value}"
    # A comparison of the error with the size of what was summed, as cancellation hurts
    # the differences and not the derivative.
    error = np.abs(flat_got - fine).max() / (scale + abs(value))
    if not error < 2e-5:
        return "wrong", f"{flat_got}\n   not {fine}"
    return "right", ""


# Forward mode, and second derivatives -----------------------------------------


def tangent_along(f, direction):
    """The derivative of `f` along the direction, as a function of its arguments."""

    def tangent(x, A, s):
        return srcjax.jvp(f, (x, A, s), direction)[1]

    return tangent


def projected_gradient(f, direction):
    """The same by reverse mode."""
    gradient = srcjax.grad(f, (0, 1, 2))
    x_dot, A_dot, s_dot = direction

    def projected(x, A, s):
        dx, dA, ds = gradient(x, A, s)
        return np.sum(dx * x_dot) + np.sum(dA * A_dot) + ds * s_dot

    return projected


def project(gradients, direction) -> float:
    return float(sum(np.sum(g * d) for g, d in zip(gradients, direction, strict=True)))


def reverse_over_reverse(f, args, v):
    return project(srcjax.grad(projected_gradient(f, v), (0, 1, 2))(*args), v)


def forward_over_reverse(f, args, v):
    gradient = srcjax.grad(f, (0, 1, 2))
    return project(srcjax.jvp(gradient, args, v)[1], v)


def reverse_over_forward(f, args, v):
    return project(srcjax.grad(tangent_along(f, v), (0, 1, 2))(*args), v)


def forward_over_forward(f, args, v):
    return float(srcjax.jvp(tangent_along(f, v), args, v)[1])


SECOND = {
    each.__name__: each
    for each in (
        forward_over_forward,
        forward_over_reverse,
        reverse_over_forward,
        reverse_over_reverse,
    )
}


def judge_modes(f, seed: int, nested: bool, n: int = 3) -> dict[str, tuple[str, str]]:
    """A verdict for the tangent and, if `nested`, each nesting of two derivatives.

    For a program whose gradient was judged right. The tangent is that gradient along a
    direction, to rounding; and all the second derivatives along it are the same number.
    """
    args = arguments(seed, n)
    rng = np.random.default_rng(seed + 1)
    v = (rng.normal(size=n), rng.normal(size=(n, n)), float(rng.normal()))
    verdicts: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gradients = srcjax.grad(f, (0, 1, 2))(*args)
        first = project(gradients, v)
        scale = 1 + sum(float(np.sum(np.abs(g))) for g in gradients)
        verdict, seen, found = attempt(lambda: srcjax.jvp(f, args, v)[1])
        if found is not None and not abs(found - first) <= 1e-9 * scale:
            verdict, seen = "wrong", f"{found}, not {first}"
        verdicts["jvp"] = verdict, seen
        numbers = {}
        for name, derivative in SECOND.items() if nested else ():
            verdict, seen, found = attempt(lambda d=derivative: d(f, args, v))
            verdicts[name] = verdict, seen
            if found is not None:
                numbers[name] = found
        if not numbers:
            return verdicts
        expected, trusted = second_difference(f, args, v)
    if not trusted:  # a kink or a pole is near; but the modes have to agree
        expected = sorted(numbers.values())[len(numbers) // 2]
    size = max(map(abs, [expected, first, scale]))
    agreed = sorted(numbers.values())[(len(numbers) - 1) // 2]
    for name, found in numbers.items():
        if trusted and not abs(found - expected) <= 1e-4 * size:
            verdicts[name] = "wrong", f"{found}, by differences {expected}"
        elif math.isfinite(agreed) and not abs(found - agreed) <= 1e-8 * size:
            verdicts[name] = "wrong", f"{found}, but others {agreed}"
    return verdicts


def attempt(derivative) -> tuple[str, str, float | None]:
    try:
        return "right", "", float(derivative())
    except SrcjaxError as error:
        return "refused", str(error), None
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}", None


def second_difference(f, args, v) -> tuple[float, bool]:
    """The second derivative along `v` by differences; and whether to trust it."""
    gradient = srcjax.grad(f, (0, 1, 2))

    def slope(step: float) -> float:
        up = project(gradient(*(a + step * b for a, b in zip(args, v, strict=True))), v)
        down = project(
            gradient(*(a - step * b for a, b in zip(args, v, strict=True))), v
        )
        return (up - down) / (2 * step)

    try:
        coarse, fine = slope(1e-4), slope(1e-5)
    except Exception:  # another path through the program
        return math.nan, False
    return fine, abs(coarse - fine) <= 1e-5 * (1 + abs(fine))


def judge_vmap(f, seed: int, n: int = 3) -> tuple[str, str]:
    """A verdict for a batch of three: the values of a loop over the examples."""
    args = arguments(seed, n)
    examples = [[a * np.float64(factor) for a in args] for factor in (1.0, 1.3, 0.6)]
    batch = [np.stack(parts) for parts in zip(*examples, strict=True)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = np.array([float(f(*copy.deepcopy(e))) for e in examples])
        except Exception as error:
            return "skip", f"the loop over the examples: {error!r}"
        if not np.isfinite(expected).all() or np.abs(expected).max() > 1e7:
            return "skip", "large"
        try:
            got = srcjax.vmap(f)(*batch)
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    if np.shape(got) != (3,) or not np.allclose(got, expected, rtol=1e-8, atol=1e-9):
        return "wrong", f"{got}, not {expected}"
    return "right", ""


def judge_float32(f, seed: int, n: int = 3) -> tuple[str, str]:
    """A verdict for single precision: its dtype, and roughly the same numbers."""
    x, A, s = arguments(seed, n)
    single = x.astype(np.float32), A.astype(np.float32), s
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        double = srcjax.grad(f, (0, 1, 2))(x.copy(), A.copy(), s)
        try:
            value = float(f(*copy.deepcopy(single)))
        except Exception as error:
            return "skip", f"the program itself: {error!r}"
        exact = float(f(x.copy(), A.copy(), s))
        if not abs(value - exact) <= 1e-4 * (1 + abs(exact)):
            return "skip", "single precision takes another path"
        try:
            got = srcjax.grad(f, (0, 1, 2))(*copy.deepcopy(single))
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    dtypes = [np.asarray(d).dtype for d in got[:2]]
    if dtypes != [np.dtype(np.float32)] * 2:
        return "wrong", f"dtypes {dtypes}"
    scale = 1 + max(float(np.abs(d).max(initial=0)) for d in double)
    pairs = zip(got, double, strict=True)
    error = max(float(np.abs(a - b).max(initial=0)) for a, b in pairs)
    if not error <= 2e-2 * scale:
        return "wrong", f"{got}, in double precision {double}"
    return "right", ""
