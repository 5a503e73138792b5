"""Images of another size, and blurred ones: sums of neighbours, with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def gaussian_blur(
    image: Any, sigma: Any, kernel_size: int, *, padding: str = "SAME"
) -> Any:
    """Means of neighbours, weighted by a normal distribution of their distance.

    Args:
        image: of any number of channels, which are blurred one by one.
        sigma: the standard deviation, in pixels. It has a derivative.
        kernel_size: how many neighbours there are in a row, an odd number.
        padding: "SAME", with zeros around the image, or "VALID".

    Raises:
        ValueError: there is no such padding.
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding {padding!r} is none of 'SAME' and 'VALID'")
    radius = kernel_size // 2
    distances = np.arange(kernel_size) - radius
    weights = np.exp(-(distances**2) / (2.0 * sigma**2))
    weights = (weights / np.sum(weights)).astype(image.dtype)
    if padding == "SAME":
        before, after = radius, kernel_size - 1 - radius
        around = [(0, 0)] * (np.ndim(image) - 3)
        around += [(before, after), (before, after), (0, 0)]
        image = np.pad(image, around)
    rows, columns = np.shape(image)[-3] - kernel_size + 1, np.shape(image)[-2]
    down = sum(weights[k] * image[..., k : k + rows, :, :] for k in range(kernel_size))
    wide = columns - kernel_size + 1
    return sum(weights[k] * down[..., k : k + wide, :] for k in range(kernel_size))


# -- other sizes --------------------------------------------------------------------


def triangle(x: Any) -> Any:
    """The weights of linear interpolation."""
    return np.maximum(0, 1 - x)


def cubic(x: Any) -> Any:
    """The weights of Keys' cubic interpolation (1981), with a = -1/2."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


def lanczos3(x: Any) -> Any:
    """A window of three zeros of the sinc function."""
    return np.where(x > 3, 0.0, np.sinc(x) * np.sinc(x / 3))


def lanczos5(x: Any) -> Any:
    """A window of five zeros of the sinc function."""
    return np.where(x > 5, 0.0, np.sinc(x) * np.sinc(x / 5))


KERNELS = {
    "linear": triangle,
    "bilinear": triangle,
    "trilinear": triangle,
    "triangle": triangle,
    "cubic": cubic,
    "bicubic": cubic,
    "tricubic": cubic,
    "lanczos3": lanczos3,
    "lanczos5": lanczos5,
}


def weights_of(
    size: int, new_size: int, scale: Any, translation: Any, method: str, antialias: bool
) -> Any:
    """How much of each entry is in each of the new ones: (size, new_size)."""
    if method not in KERNELS:
        raise ValueError(f"method {method!r} is none of {['nearest', *KERNELS]}")
    width = np.maximum(1 / scale, 1.0) if antialias else 1.0
    places = (np.arange(new_size) + 0.5 - translation) / scale - 0.5
    distances = np.abs(places[None, :] - np.arange(size)[:, None]) / width
    weights = KERNELS[method](distances)
    total = np.sum(weights, axis=0, keepdims=True)
    weights = weights / np.where(total != 0, total, 1.0)
    inside = (places >= -0.5) & (places <= size - 0.5)
    return np.where(inside[None, :], weights, 0.0)


def along(image: Any, weights: Any, axis: int) -> Any:
    """The sums of entries along an axis, with the weights."""
    summed = np.tensordot(image, weights.astype(image.dtype), axes=((axis,), (0,)))
    return np.moveaxis(summed, -1, axis)


def resize(
    image: Any, shape: Sequence[int], method: str = "linear", antialias: bool = True
) -> Any:
    """An array of another shape, interpolated along each axis that differs.

    Args:
        image: an array; all its axes are in `shape`.
        shape: the new one.
        method: "nearest", "linear" ("bilinear"), "cubic" ("bicubic"), "lanczos3" or
            "lanczos5".
        antialias: whether what is made smaller is blurred as much as it needs.
    """
    for axis, (size, new_size) in enumerate(zip(np.shape(image), shape, strict=True)):
        if size == new_size:
            continue
        if method == "nearest":
            places = np.floor((np.arange(new_size) + 0.5) * size / new_size)
            image = np.take(image, places.astype(int), axis=axis)
        else:
            scale = new_size / size
            weights = weights_of(size, new_size, scale, 0.0, method, antialias)
            image = along(image, weights, axis)
    return image


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str,
    antialias: bool = True,
) -> Any:
    """An array of another shape: its entry `x` is that at `(x - translation) / scale`.

    Args:
        image: an array.
        shape: the new one.
        spatial_dims: the axes that `scale` and `translation` are about. Both have
            derivatives.
        scale: how much larger the image gets, along each of them.
        translation: how far it is moved, after that.
        method: see `resize`.
        antialias: see `resize`.
    """
    for k, axis in enumerate(spatial_dims):
        weights = weights_of(
            np.shape(image)[axis],
            shape[axis],
            scale[k],
            translation[k],
            method,
            antialias,
        )
        image = along(image, weights, axis)
    return image
