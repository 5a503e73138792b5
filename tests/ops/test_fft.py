"""Fourier transforms: both modes to second order, complex values, and JAX."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load
from srcjax.testing import check_grads

from .helpers import check_infer

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 8

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4, 6))
CUBE = RNG.normal(size=(2, 4, 5))
MODES = ("rev", "fwd")


def complex_like(shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


ONE_AXIS = [
    (transform, kwargs)
    for transform in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for kwargs in (
        {},
        {"n": 4},
        {"n": 9},
        {"axis": 0},
        {"n": 3, "axis": 0, "norm": "ortho"},
        {"n": 7, "norm": "forward"},
        {"norm": "backward"},
    )
]

MORE_AXES = [
    (transform, kwargs)
    for transform in [
        "fft2",
        "ifft2",
        "rfft2",
        "irfft2",
        "fftn",
        "ifftn",
        "rfftn",
        "irfftn",
    ]
    for kwargs in (
        {},
        {"s": (3, 7), "axes": (0, 1)},
        {"s": (5, 4), "axes": (-1, 0), "norm": "ortho"},
        {"axes": (1, 2), "norm": "forward"},
    )
]


def losses(transform, weights, **kwargs):
    """A real function of a transform of real, then one of complex values."""
    given = "".join(f", {key}={value!r}" for key, value in kwargs.items())
    text = f"""
def real(x):
    return np.real(weights * np.fft.{transform}(x{given}))

def mixed(x):
    z = (x + 0.3j * np.sin(x)) * (1 + 0.5j)
    y = np.fft.{transform}(z{given})
    return np.real(weights * y) + np.imag(y) ** 2
"""
    module = load(text, "losses", {"np": np, "weights": weights})
    return module.real, module.mixed


def check(transform, x, kwargs):
    size = np.shape(getattr(np.fft, transform)(x, **kwargs))
    real, mixed = losses(transform, complex_like(size), **kwargs)
    check_grads(real, (x,), order=2, modes=MODES)
    if not transform.startswith(("rfft", "ihfft")):  # those take real values only
        check_grads(mixed, (x,), order=2, modes=MODES)


def ids(value):
    return str(value).replace(" ", "")


@pytest.mark.parametrize(("transform", "kwargs"), ONE_AXIS, ids=ids)
def test_along_one_axis(transform, kwargs):
    check(transform, X, kwargs)


@pytest.mark.parametrize(("transform", "kwargs"), MORE_AXES, ids=ids)
def test_along_more_axes(transform, kwargs):
    check(transform, CUBE, kwargs)


@pytest.mark.parametrize("transform", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, (0, 1)])
def test_shifts(transform, axes):
    function = getattr(np.fft, transform)
    weights = RNG.normal(size=X.shape)
    check_grads(lambda x: weights * function(x, axes) ** 2, (X,), 2, MODES)


@pytest.mark.parametrize(("transform", "kwargs"), [*ONE_AXIS, *MORE_AXES], ids=ids)
def test_types(transform, kwargs):
    x = X if (transform, kwargs) in ONE_AXIS else CUBE
    if transform not in ("hfft", "ihfft"):
        check_infer(getattr(np.fft, transform), x, **kwargs)


@pytest.mark.parametrize(
    "transform", ["fft", "ifft", "rfft", "irfft", "fft2", "irfft2"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(transform, dtype):
    function = getattr(np.fft, transform)

    def loss(x):
        return np.sum(np.abs(function(x)) ** 2)

    assert srcjax.grad(loss)(X.astype(dtype)).dtype == dtype


def test_the_text_is_plain():
    def loss(x, w):
        return np.sum(np.real(w * np.fft.fft(x)))

    text = srcjax.source(srcjax.grad(loss), X, complex_like(X.shape))
    assert "fitted" not in text
    assert ".real" in text


def test_twice_along_one_axis_is_refused():
    def loss(x):
        return np.sum(np.real(np.fft.fftn(x, axes=(0, 0))))

    with pytest.raises(NotImplementedError, match="twice along one axis"):
        srcjax.grad(loss)(X)


def test_against_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    weights = complex_like((4, 4))

    def loss(x, np):
        y = np.fft.rfft(x, norm="ortho")
        z = np.fft.irfft(y * weights, n=5)
        return np.sum(np.abs(np.fft.fft2(z * z)) ** 2) + np.sum(np.angle(y))

    mine = srcjax.grad(lambda x: loss(x, np))(X)
    theirs = jax.grad(lambda x: loss(x, jnp))(X)
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
