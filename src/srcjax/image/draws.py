"""Images changed at random, by a key: training with them is more robust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcjax import random
from srcjax.image import colors, places


def random_brightness(key: Any, image: Any, max_delta: float) -> Any:
    """Lighter or darker, by up to `max_delta`."""
    delta = random.uniform(key, (), minval=-max_delta, maxval=max_delta)
    return colors.adjust_brightness(image, delta.astype(image.dtype))


def random_contrast(key: Any, image: Any, lower: float, upper: float) -> Any:
    """With a contrast between `lower` and `upper`."""
    factor = random.uniform(key, (), minval=lower, maxval=upper)
    return colors.adjust_contrast(image, factor.astype(image.dtype))


def random_gamma(
    key: Any, image: Any, min_gamma: float, max_gamma: float, *, gain: float = 1.0
) -> Any:
    """With a gamma between two numbers."""
    gamma = random.uniform(key, (), minval=min_gamma, maxval=max_gamma)
    return colors.adjust_gamma(image, gamma.astype(image.dtype), gain=gain)


def random_hue(key: Any, image: Any, max_delta: float) -> Any:
    """With colors turned by up to `max_delta` of a circle."""
    delta = random.uniform(key, (), minval=-max_delta, maxval=max_delta)
    return colors.adjust_hue(image, delta.astype(image.dtype))


def random_saturation(key: Any, image: Any, lower: float, upper: float) -> Any:
    """With a saturation between `lower` and `upper`."""
    factor = random.uniform(key, (), minval=lower, maxval=upper)
    return colors.adjust_saturation(image, factor.astype(image.dtype))


def random_flip_left_right(key: Any, image: Any, probability: float = 0.5) -> Any:
    """Flipped, or not."""
    flipped = random.bernoulli(key, probability)
    return np.where(flipped, places.flip_left_right(image), image)


def random_flip_up_down(key: Any, image: Any, probability: float = 0.5) -> Any:
    """Flipped, or not."""
    flipped = random.bernoulli(key, probability)
    return np.where(flipped, places.flip_up_down(image), image)


def random_crop(key: Any, image: Any, crop_sizes: Sequence[int]) -> Any:
    """A part of these sizes, one for each axis, at a place that is drawn."""
    for axis, (size, kept) in enumerate(zip(np.shape(image), crop_sizes, strict=True)):
        key, own = random.split(key)
        start = random.randint(own, (), 0, size - kept + 1)
        image = np.take(image, start + np.arange(kept), axis=axis)
    return image
