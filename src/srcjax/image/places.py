"""Images turned, cut and put into larger ones."""

from __future__ import annotations

from typing import Any

import numpy as np


def flip_left_right(image: Any) -> Any:
    """The left side on the right."""
    return image[..., ::-1, :]


def flip_up_down(image: Any) -> Any:
    """What is above below."""
    return image[..., ::-1, :, :]


def rot90(image: Any, k: int = 1) -> Any:
    """Turned against the clock by `k` quarters of a circle."""
    return np.rot90(image, k, axes=(-3, -2))


def center_crop(image: Any, height: int, width: int) -> Any:
    """The middle of an image; it stays as high and wide as it is if it is smaller."""
    rows, columns = np.shape(image)[-3:-1]
    height, width = min(height, rows), min(width, columns)
    top, left = (rows - height) // 2, (columns - width) // 2
    return image[..., top : top + height, left : left + width, :]


def pad_to_size(
    image: Any,
    target_height: int,
    target_width: int,
    *,
    mode: str = "constant",
    pad_value: Any = 0.0,
) -> Any:
    """An image in the middle of a larger one.

    Args:
        image: it is not higher and wider than the one that is made.
        target_height: the height of that.
        target_width: the width of that.
        mode: one of NumPy's words for what is around, such as "edge" or "reflect".
        pad_value: what is around with the mode "constant".
    """
    rows, columns = np.shape(image)[-3:-1]
    tall, wide = max(target_height - rows, 0), max(target_width - columns, 0)
    around = [(0, 0)] * (np.ndim(image) - 3)
    around += [(tall // 2, tall - tall // 2), (wide // 2, wide - wide // 2), (0, 0)]
    if mode == "constant":
        return np.pad(image, around, constant_values=pad_value)
    return np.pad(image, around, mode=mode)  # type: ignore[call-overload]


def resize_with_crop_or_pad(
    image: Any,
    target_height: int,
    target_width: int,
    *,
    pad_mode: str = "constant",
    pad_value: Any = 0.0,
) -> Any:
    """Cut where it is too large, padded where it is too small, around the middle."""
    image = center_crop(image, target_height, target_width)
    return pad_to_size(
        image, target_height, target_width, mode=pad_mode, pad_value=pad_value
    )
