"""Every function of NumPy with a rule, with keywords drawn from its signature.

`python -m tests.ops.test_keyword_calls 40` compares 40 draws of each; the tests here
are a few of them.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError
from tests.coverage_table import names as every_name
from tests.coverage_table import row_of

from .keyword_calls import Call, arguments, draw_calls, leaves
from .linalg_calls import CALLS, linalg_calls

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_drawn_calls": 12, "test_calls_of_scipy": 8}

NAMES = [
    name.removeprefix("numpy.")
    for name in every_name()
    if name.startswith("numpy.") and row_of(name).kind in ("rule", "composite")
]


def check(call: Call) -> None:
    """Value, dtype, tangent and gradient against those of the plain function.

    A draw at a jump or a kink, where differences of two steps disagree, tests nothing.
    """
    f = call.function()
    x, y = arguments(call)
    rng = np.random.default_rng(3)
    x_dot, y_dot = rng.normal(size=x.shape), 0.7
    expected = leaves(f(x.copy(), y))
    single = any(v.dtype.itemsize == 4 and v.dtype.kind == "f" for v in expected)
    step, rtol = (5e-3, 2e-3) if single or "float32" in call.body else (1e-4, 1e-6)

    def at(h: float) -> list[np.ndarray]:
        return leaves(f(x + h * x_dot, y + h * y_dot))

    numeric: list[Any] = []
    for a, b, c, d in zip(
        at(step), at(-step), at(2 * step), at(-2 * step), strict=True
    ):
        found = a.dtype.kind in "fc"
        near, far = ((a - b) / (2 * step), (c - d) / (4 * step)) if found else (0, 0)
        if not np.allclose(
            near, far, rtol=0.03, atol=0.03 * np.max(np.abs(near), initial=1)
        ):
            return
        numeric.append((4 * near - far) / 3 if found else None)
    value, moved = srcjax.jvp(f, (x, y), (x_dot, y_dot))
    got, tangents = leaves(value), leaves(moved)
    assert len(got) == len(expected)
    for each, wanted in zip(got, expected, strict=True):
        assert each.dtype == wanted.dtype and each.shape == wanted.shape, (
            f"value {each.dtype} {each.shape}, not {wanted.dtype} {wanted.shape}"
        )
        np.testing.assert_allclose(
            each, wanted, rtol=1e-6 if single else 1e-12, atol=1e-12
        )
    for tangent, difference, primal in zip(tangents, numeric, expected, strict=True):
        if difference is None:
            continue
        size = np.abs(difference).max(initial=1.0)
        np.testing.assert_allclose(
            tangent, difference, rtol=rtol, atol=rtol * size, err_msg="jvp"
        )
        assert tangent.dtype == primal.dtype, f"tangent {tangent.dtype}"

    value, pullback = srcjax.vjp(f, x, y)
    for each, wanted in zip(leaves(value), expected, strict=True):
        assert each.dtype == wanted.dtype and each.shape == wanted.shape, "vjp value"
        np.testing.assert_allclose(
            each, wanted, rtol=1e-6 if single else 1e-12, atol=1e-12
        )
    weights = seeds(value, rng)
    dx, dy = pullback(weights)
    assert np.shape(dx) == x.shape and np.asarray(dx).dtype == x.dtype
    along = np.sum(dx * x_dot) + dy * y_dot
    wanted = sum(
        np.sum(np.real(w * t))
        for w, t in zip(leaves(weights), numeric, strict=True)
        if t is not None
    )
    np.testing.assert_allclose(
        along, wanted, rtol=10 * rtol, atol=10 * rtol, err_msg="vjp"
    )


def seeds(value: Any, rng: np.random.Generator) -> Any:
    """A cotangent of the structure and dtype of a value."""
    if isinstance(value, (tuple, list)):
        return (
            type(value)(*(seeds(v, rng) for v in value))
            if hasattr(value, "_fields")
            else type(value)(seeds(v, rng) for v in value)
        )
    value = np.asarray(value)
    drawn = rng.normal(size=value.shape)
    if value.dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=value.shape)
    return drawn.astype(value.dtype)[()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_drawn_calls(name):
    for call in draw_calls(name, 2):
        try:
            check(call)
        except (SrcjaxError, NotImplementedError):  # refused, with a reason
            continue


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", range(len(CALLS)), ids=lambda row: CALLS[row][0])
def test_calls_of_scipy(row):
    for call in linalg_calls(row):
        try:
            check(call)
        except (SrcjaxError, NotImplementedError):  # refused, with a reason
            continue


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("return np.nanmax(np.where(M, x, np.nan), initial=2.0, where=True)", (4,)),
        ("return np.nanmin(np.where(M, x, np.nan), axis=0, initial=0.5)", (3, 4)),
        ("return np.max(x, where=True)", (4,)),
        ("return np.polyval(x, y)", (3, 4)),
        ("return np.diff(x.T, n=0, prepend=y)", (3, 4)),
        ("return np.stack([x, x * y], axis=0, dtype=np.float32)", (2, 3)),
        ("return np.real(np.mean(x + 1.0, dtype=complex))", (3, 3)),
        ("return np.array(x * y, dtype=float, order='F', copy=True, ndmin=3)", (3, 4)),
        ("return np.clip(x + 1.0, min=None, max=y)", (3, 4)),
        ("return np.average(x, axis=1, weights=x * y, returned=True)", (3, 4)),
        ("return np.cumulative_sum(x, dtype=np.float32, include_initial=True)", (4,)),
        ("return np.nanstd(np.where(M, x, np.nan), mean=y, correction=1)", (3, 4)),
        ("return np.cov(x * y, dtype=np.float32)", (3, 4)),
        ("return np.convolve(x[0], [y, 0.3])", (4,)),
    ],
)
def test_calls_that_were_wrong_or_refused(body, shape):
    check(Call(body, shape))


def test_seeds_are_not_written_to():
    """The adjoint of a number that is a part of the seed is added to."""

    def f(x, y):
        return np.ediff1d(x * y, to_end=y)

    seed = np.arange(1.0, 5.0)
    _, pullback = srcjax.vjp(f, np.arange(1.0, 5.0), 0.3)
    _, dy = pullback(seed)
    np.testing.assert_array_equal(seed, np.arange(1.0, 5.0))
    assert np.ndim(dy) == 0 and dy == 10.0


def report(count: int, names: list[str]) -> None:
    """Compare `count` draws of each function, and print what is wrong or refused."""
    wrong = refused = done = 0
    for name in names:
        for call in draw_calls(name, count):
            done += 1
            try:
                check(call)
            except (SrcjaxError, NotImplementedError) as error:
                refused += 1
                print("REFUSED", call, str(error).splitlines()[0])
            except Exception as error:
                wrong += 1
                lines = [s for s in str(error).splitlines() if s.strip()]
                print("WRONG", call, type(error).__name__, *lines[:3], sep=" | ")
        print(name, flush=True)
    print(f"{done} calls: {wrong} wrong, {refused} refused")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    report(int(sys.argv[1]), sys.argv[2:] or NAMES)
