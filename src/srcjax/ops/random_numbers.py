"""Types of random numbers: what a generator's methods and `np.random` give.

Random numbers carry no derivative; but what is computed with them does, and its text
is plain only where their shape is known (`keep = rng.random(h.shape) < 0.8`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    FLOAT,
    UNKNOWN,
    Array,
    Const,
    Other,
    Scalar,
    Type,
    broadcast_shapes,
    is_number,
    shape_of,
)
from srcjax.ops.infer_rules import NONE, dims_of
from srcjax.ops.record import inert, parse_signature

#: The parameters of distributions before `size`, by the name of the method.
_REAL = {
    "random": "", "random_sample": "", "standard_normal": "",
    "standard_exponential": "", "normal": "loc=0, scale=1", "uniform": "low=0, high=1",
    "laplace": "loc=0, scale=1", "logistic": "loc=0, scale=1",
    "gumbel": "loc=0, scale=1", "lognormal": "mean=0, sigma=1",
    "exponential": "scale=1", "beta": "a, b", "gamma": "shape, scale=1",
    "standard_gamma": "shape", "standard_t": "df", "chisquare": "df",
}  # fmt: skip
_WHOLE = {
    "integers": "low, high=None", "randint": "low, high=None", "poisson": "lam=1",
    "binomial": "n, p", "geometric": "p",
}  # fmt: skip
#: Functions of `np.random` that take the sizes one by one.
_BY_SIZES = ("rand", "randn")
#: Classes whose methods draw numbers.
GENERATORS = (np.random.Generator, np.random.RandomState)


def drawn(name: str, args: list[Type], kwargs: dict[str, Type]) -> Type | None:
    """What the method of a generator gives; None where that is not known."""
    if name in _BY_SIZES:
        return of_size(args, kwargs)
    before = _REAL.get(name, _WHOLE.get(name))
    if before is None or set(kwargs) & {"dtype", "endpoint", "out", "method"}:
        return None
    given = f"{before}, size=None" if before else "size=None"
    try:
        bound: dict[str, Any] = _bind(given, args, kwargs)
    except TypeError:
        return None
    size = bound.pop("size", NONE)
    whole = name in _WHOLE
    dtype = np.dtype(np.int64) if whole else np.dtype(float)
    shape = dims_of(size)
    if size == NONE:
        shape = broadcast_shapes(*map(shape_of, bound.values()))
        if shape == () and all(map(is_number, bound.values())):
            return Scalar(dtype=dtype, python=True) if not whole else None
    elif isinstance(size, Array):
        shape = None
    return None if shape is None else Array(dtype=dtype, shape=shape)


def _bind(signature: str, args: list[Type], kwargs: dict[str, Type]) -> dict[str, Any]:
    found: inspect.Signature = parse_signature(signature)
    return dict(found.bind(*args, **kwargs).arguments)


def of_size(args: list[Type], kwargs: dict[str, Type]) -> Type | None:
    """`np.random.rand(3, 4)`."""
    if kwargs or not all(map(is_number, args)):
        return None
    if not args:
        return FLOAT
    shape = tuple(dims_of(t)[0] for t in args)  # type: ignore[index]
    return Array(dtype=np.dtype(float), shape=shape)


def _infer(name: str) -> Callable[..., Type]:
    def infer(args: Any = (), **kwargs: Type) -> Type:
        found = drawn(name, list(getattr(args, "items", args)), kwargs)
        return UNKNOWN if found is None else found

    return infer


# Those with parameters are left out: a number that is drawn around a differentiated
# mean depends on it, and is refused as what has no rule.
for _name in ("rand", "randn", "random", "random_sample", "randint", "standard_normal"):
    inert(
        getattr(np.random, _name),
        signature="*args, **kwargs",
        name=f"numpy.random.{_name}",
        infer=_infer(_name),
    )
inert(
    np.random.default_rng,
    signature="*args, **kwargs",
    name="numpy.random.default_rng",
    infer=lambda *_, **__: Other(cls=np.random.Generator),
)
inert(
    np.random.RandomState,
    signature="*args, **kwargs",
    name="numpy.random.RandomState",
    infer=lambda *_, **__: Other(cls=np.random.RandomState),
)


def generator_class(base: Type) -> bool:
    """Whether the value is a generator of random numbers."""
    if isinstance(base, Const):
        return isinstance(base.value, GENERATORS)
    return isinstance(base, Other) and base.cls in GENERATORS


__all__ = ["drawn", "generator_class"]
