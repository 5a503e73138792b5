"""Whether a derivative comes out right, or is refused: nothing in between.

A program takes an array of three numbers and gives a number or an array. Most must be
served; those with the mark `refused` may be refused instead, by a `SrcjaxError`. What
no program may give is another number than finite differences do, or an error that is
not srcjax's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import srcjax
from srcjax.errors import SrcjaxError

X = np.array([0.7, 1.3, 0.4])
V = np.array([0.3, -0.8, 0.5])
MODES = ("grad", "jvp", "vmap")
_STEP = 1e-5
_REFUSED: dict[Any, tuple[str, ...]] = {}


def refused(*modes: str) -> Callable[[Any], Any]:
    """The program may be refused, in these modes or (without any) in all."""

    def mark(function: Any) -> Any:
        _REFUSED[function] = modes or MODES
        return function

    return mark


def may_be_refused(function: Any, mode: str) -> bool:
    """Whether a `SrcjaxError` is an answer to the program."""
    return mode in _REFUSED.get(function, ())


def programs(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The programs of a module: its functions whose names have no underscore first."""
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not isinstance(value, type)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }


def answer(function: Callable[..., Any], mode: str) -> str:
    """The word "right", or the text of the refusal. A wrong number raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            _ANSWERS[mode](function)
        except SrcjaxError as error:
            return str(error)
    return "right"


def _total(value: Any) -> float:
    return float(np.sum(np.asarray(value, dtype=float)))


def _slope(function: Callable[..., Any], direction: np.ndarray) -> float:
    above = _total(function(X + _STEP * direction))
    return (above - _total(function(X - _STEP * direction))) / (2 * _STEP)


def _check_grad(function: Callable[..., Any]) -> None:
    slopes = [_slope(function, unit) for unit in np.eye(X.size)]
    gradient = srcjax.grad(function)(X.copy())
    assert isinstance(gradient, np.ndarray)
    assert gradient.shape == X.shape
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-6)


def _check_jvp(function: Callable[..., Any]) -> None:
    value, tangent = srcjax.jvp(function, (X.copy(),), (V,))
    np.testing.assert_allclose(_total(value), _total(function(X.copy())))
    slope = _slope(function, V)
    np.testing.assert_allclose(_total(tangent), slope, rtol=1e-4, atol=1e-6)


def _check_vmap(function: Callable[..., Any]) -> None:
    examples = np.stack([X, X + 0.1 * V, X - 0.2 * V])
    expected = [np.asarray(function(x.copy()), dtype=float) for x in examples]
    found = np.asarray(srcjax.vmap(function)(examples), dtype=float)
    np.testing.assert_allclose(found, expected)


_ANSWERS = {"grad": _check_grad, "jvp": _check_jvp, "vmap": _check_vmap}
