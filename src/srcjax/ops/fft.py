"""Fourier transforms: np.fft.

All are linear, so the tangent is the transform of the tangent, and the adjoint that of
the cotangent: the matrix of a Fourier transform is symmetric, and JAX's convention for
complex cotangents has no conjugation.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Shape,
    Type,
    dtype_of,
    shape_of,
)
from srcjax.ops.expand import expands
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import adjoint, operation

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

LAST = Const(value=-1)
LAST_TWO = Const(value=(-2, -1))
NONE = Const(value=None)

# -- types --------------------------------------------------------------------------


def spectrum_dtype(t: Type) -> np.dtype | None:
    """Complex, of single precision where the argument is."""
    dtype = dtype_of(t)
    if dtype is None:
        return None
    single = dtype.char in "efF"
    return np.dtype(np.complex64 if single else np.complex128)


def signal_dtype(t: Type) -> np.dtype | None:
    """Real, of single precision where the argument is."""
    dtype = spectrum_dtype(t)
    return None if dtype is None else np.dtype(dtype.char.lower())


def with_sizes(a: Type, s: Type, axes: Type, last: Any = None) -> Shape | None:
    """The shape of `a` with the sizes `s` along `axes`; `last` maps the last size."""
    shape, sizes, along = shape_of(a), known(s, None), known(axes, None)
    if shape is None:
        return None
    if sizes is MISSING or along is MISSING:
        return (None,) * len(shape)
    if along is None:
        count = len(shape) if sizes is None else len(sizes)  # type: ignore[arg-type]
        along = tuple(range(-count, 0))
    new: list[Any] = list(shape)
    chosen: Any = along
    given: Any = (-1,) * len(chosen) if sizes is None else sizes
    for axis, n in zip(chosen, given, strict=False):
        if n != -1:
            new[axis] = n
    if last is not None:
        axis, n = chosen[-1], given[-1]
        size = new[axis]
        known_size = isinstance(size, int) or n != -1
        new[axis] = last(size, n) if known_size else None
    return tuple(new)


def one(t: Type) -> Type:
    """A size or axis as a tuple of one."""
    value = known(t, None)
    if value is MISSING or value is None:
        return NONE if value is None else t
    return Const(value=(value,))


def half(size: int, n: int) -> int:
    """The size of the spectrum of a real signal."""
    return size // 2 + 1


def doubled(size: int, n: int) -> int:
    """The size of the signal of half a spectrum."""
    return 2 * (size - 1) if n == -1 else n


def infer_fft(a: Type, n: Type = NONE, axis: Type = LAST, **_: Type) -> Type:
    return Array(dtype=spectrum_dtype(a), shape=with_sizes(a, one(n), one(axis)))


def infer_rfft(a: Type, n: Type = NONE, axis: Type = LAST, **_: Type) -> Type:
    return Array(dtype=spectrum_dtype(a), shape=with_sizes(a, one(n), one(axis), half))


def infer_irfft(a: Type, n: Type = NONE, axis: Type = LAST, **_: Type) -> Type:
    return Array(dtype=signal_dtype(a), shape=with_sizes(a, one(n), one(axis), doubled))


def infer_fftn(a: Type, s: Type = NONE, axes: Type = NONE, **_: Type) -> Type:
    return Array(dtype=spectrum_dtype(a), shape=with_sizes(a, s, axes))


def infer_fft2(a: Type, s: Type = NONE, axes: Type = LAST_TWO, **_: Type) -> Type:
    return infer_fftn(a, s, axes)


def infer_rfftn(a: Type, s: Type = NONE, axes: Type = NONE, **_: Type) -> Type:
    return Array(dtype=spectrum_dtype(a), shape=with_sizes(a, s, axes, half))


def infer_rfft2(a: Type, s: Type = NONE, axes: Type = LAST_TWO, **_: Type) -> Type:
    return infer_rfftn(a, s, axes)


def infer_irfftn(a: Type, s: Type = NONE, axes: Type = NONE, **_: Type) -> Type:
    return Array(dtype=signal_dtype(a), shape=with_sizes(a, s, axes, doubled))


def infer_irfft2(a: Type, s: Type = NONE, axes: Type = LAST_TWO, **_: Type) -> Type:
    return infer_irfftn(a, s, axes)


def infer_shift(x: Type, **_: Type) -> Type:
    return Array(dtype=dtype_of(x), shape=shape_of(x))


def infer_frequencies(n: Type, d: Type = NONE, device: Type = NONE) -> Type:
    size = known(n)
    return Array(
        dtype=np.dtype(float), shape=(size if isinstance(size, int) else None,)
    )


def infer_half_frequencies(n: Type, d: Type = NONE, device: Type = NONE) -> Type:
    size = known(n)
    size = size // 2 + 1 if isinstance(size, int) else None
    return Array(dtype=np.dtype(float), shape=(size,))


# -- helpers where the types are known ----------------------------------------------


@expands(runtime.fitted)
def _fitted(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    have, wanted = shape_of(types[0]), shape_of(types[1])
    dtype = dtype_of(types[1])
    if have is None or wanted is None or dtype is None:
        return None
    index = []
    for size, other in zip(have, wanted, strict=True):
        if size is not None and size == other:
            index.append(":")
        elif isinstance(size, int) and isinstance(other, int) and size > other:
            index.append(f":{other}")
        else:
            return None
    while index and index[-1] == ":":
        index.pop()
    form = f"d[{', '.join(index)}]" if index else "d"
    return syntax.expression(form if dtype.kind == "c" else f"{form}.real", d=args[0])


def plain_axes(x: Type, s: Type, axes: Type) -> bool:
    """Whether NumPy's own reading of `s` and `axes` holds for the adjoint too."""
    rank, along = shape_of(x), known(axes)
    if rank is None or known(s) is not None or along is MISSING:
        return False
    if along is None:
        return True
    places = [int(a) % len(rank) for a in along]  # type: ignore[attr-defined]
    return len(set(places)) == len(places)


@expands(runtime.unfftn)
def _unfftn(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    x, s, axes = types[1:4]
    if not plain_axes(x, s, axes):
        return None
    name = "np.fft.ifftn" if len(args) > 5 else "np.fft.fftn"
    return spelled(name, args, types, x)


@expands(runtime.unrfftn)
def _unrfftn(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    x, s, axes = types[1:4]
    shape = shape_of(x)
    if not plain_axes(x, s, axes) or shape is None:
        return None
    along: Any = known(axes)
    sizes = shape if along is None else tuple(shape[a] for a in along)
    if not all(isinstance(n, int) for n in sizes):
        return None
    return spelled("np.fft.fftn", args, types, x, sizes)


def spelled(
    name: str, args: list[gast.expr], types: list[Type], x: Type, sizes: Any = None
) -> gast.expr:
    """A transform of the cotangent with the arguments that are not at their default."""
    keywords: dict[str, gast.expr] = {}
    if sizes is not None:
        keywords["s"] = syntax.expression(repr(sizes))
    if known(types[3]) is not None:
        keywords["axes"] = args[3]
    elif sizes is not None:  # NumPy asks for both or none
        keywords["axes"] = syntax.expression(repr(tuple(range(len(sizes)))))
    if known(types[4]) is not None:
        keywords["norm"] = args[4]
    transform = syntax.call(syntax.expression(name), args[0], **keywords)
    return syntax.call("fitted", transform, args[1])


# -- rules --------------------------------------------------------------------------


@adjoint(np.fft.fft, infer=infer_fft, linear="a")
def _(y, a, n=None, axis=-1, norm=None):
    d[a] = fitted(np.fft.fft(d[y], axis=axis, norm=norm), a)


@adjoint(np.fft.ifft, infer=infer_fft, linear="a")
def _(y, a, n=None, axis=-1, norm=None):
    d[a] = fitted(np.fft.ifft(d[y], axis=axis, norm=norm), a)


@adjoint(np.fft.rfft, infer=infer_rfft, linear="a")
def _(y, a, n=None, axis=-1, norm=None):
    d[a] = fitted(
        np.fft.fft(d[y], np.shape(a)[axis] if n is None else n, axis, norm), a
    )


@adjoint(np.fft.irfft, infer=infer_irfft, linear="a")
def _(y, a, n=None, axis=-1, norm=None):
    d[a] = half_spectrum(np.fft.ifft(d[y], axis=axis, norm=norm), a, axis)


@adjoint(np.fft.fftn, infer=infer_fftn, linear="a")
def _(y, a, s=None, axes=None, norm=None):
    d[a] = unfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.ifftn, infer=infer_fftn, linear="a")
def _(y, a, s=None, axes=None, norm=None):
    d[a] = unfftn(d[y], a, s, axes, norm, True)


@adjoint(np.fft.fft2, infer=infer_fft2, linear="a")
def _(y, a, s=None, axes=(-2, -1), norm=None):
    d[a] = unfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.ifft2, infer=infer_fft2, linear="a")
def _(y, a, s=None, axes=(-2, -1), norm=None):
    d[a] = unfftn(d[y], a, s, axes, norm, True)


@adjoint(np.fft.rfftn, infer=infer_rfftn, linear="a")
def _(y, a, s=None, axes=None, norm=None):
    d[a] = unrfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.rfft2, infer=infer_rfft2, linear="a")
def _(y, a, s=None, axes=(-2, -1), norm=None):
    d[a] = unrfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.irfftn, infer=infer_irfftn, linear="a")
def _(y, a, s=None, axes=None, norm=None):
    d[a] = unirfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.irfft2, infer=infer_irfft2, linear="a")
def _(y, a, s=None, axes=(-2, -1), norm=None):
    d[a] = unirfftn(d[y], a, s, axes, norm)


@adjoint(np.fft.fftshift, infer=infer_shift, linear="x")
def _(y, x, axes=None):
    d[x] = np.fft.ifftshift(d[y], axes)


@adjoint(np.fft.ifftshift, infer=infer_shift, linear="x")
def _(y, x, axes=None):
    d[x] = np.fft.fftshift(d[y], axes)


# The spacing is differentiated in `ops.composites`.
operation(np.fft.fftfreq, infer=infer_frequencies)
operation(np.fft.rfftfreq, infer=infer_half_frequencies)
