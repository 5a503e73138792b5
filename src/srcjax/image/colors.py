"""Brightness, contrast and colors."""

from __future__ import annotations

from typing import Any

import numpy as np


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Lighter by `delta`."""
    return image + delta


def adjust_contrast(image: Any, factor: Any) -> Any:
    """`factor` times as far from the mean of each channel."""
    mean = np.mean(image, axis=(-3, -2), keepdims=True)
    return factor * (image - mean) + mean


def adjust_gamma(
    image: Any, gamma: Any, *, gain: Any = 1.0, assume_in_bounds: bool = False
) -> Any:
    """`gain * image**gamma`, of numbers that are moved between 0 and 1 before.

    They are not moved if `assume_in_bounds` says that they are there.
    """
    if not assume_in_bounds:
        image = np.clip(image, 0.0, 1.0)
    return gain * image**gamma


def adjust_saturation(image: Any, factor: Any) -> Any:
    """Colors `factor` times as saturated, at most fully; hue and value stay."""
    value = np.max(image, axis=-1, keepdims=True)
    chroma = value - np.min(image, axis=-1, keepdims=True)
    # Colors go away from the value, up to where the least of them is 0.
    most = value / np.where(chroma > 0, chroma, 1.0)
    scale = np.where(chroma > 0, np.clip(factor, 0.0, most), 0.0)
    return value - (value - image) * scale


def adjust_hue(image: Any, delta: Any) -> Any:
    """Colors turned by `delta` of a circle."""
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    value = np.max(image, axis=-1)
    chroma = value - np.min(image, axis=-1)
    share = np.where(chroma > 0, chroma, 1.0)
    sixth = np.where(
        value == red,
        (green - blue) / share,
        np.where(value == green, 2 + (blue - red) / share, 4 + (red - green) / share),
    )
    turned = sixth + 6 * delta
    channels = []
    for start in (5, 3, 1):
        k = (start + turned) % 6
        channels.append(value - chroma * np.clip(np.minimum(k, 4 - k), 0.0, 1.0))
    return np.stack(channels, axis=-1)


def rgb_to_grayscale(
    image: Any, *, keep_dims: bool = False, luma_standard: str = "rec601"
) -> Any:
    """How bright colors look: one channel, or three that are equal (`keep_dims`).

    Args:
        image: red, green and blue.
        keep_dims: whether there are three channels still.
        luma_standard: "rec601", "rec709" or "bt2001".

    Raises:
        ValueError: there is no such standard.
    """
    known = {
        "rec601": (0.2989, 0.5870, 0.1140),
        "rec709": (0.2126, 0.7152, 0.0722),
        "bt2001": (0.2627, 0.6780, 0.0593),
    }
    if luma_standard not in known:
        raise ValueError(f"luma_standard {luma_standard!r} is none of {list(known)}")
    red, green, blue = known[luma_standard]
    gray = red * image[..., 0:1] + green * image[..., 1:2] + blue * image[..., 2:3]
    return np.concatenate([gray, gray, gray], axis=-1) if keep_dims else gray


def solarize(image: Any, threshold: Any = 0.5) -> Any:
    """What is as bright as `threshold`, the other way round."""
    return np.where(image < threshold, image, 1.0 - image)


def invert(image: Any) -> Any:
    """All the other way round."""
    return 1.0 - image
