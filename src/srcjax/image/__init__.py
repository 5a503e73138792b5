"""Operations on images, as plain NumPy: the names of `dm_pix` and of `jax.image`.

    from srcjax import image

    x = image.adjust_contrast(image.flip_left_right(x), 1.2)

An image is an array (..., height, width, channels), with anything in front: one image,
or a batch of them. Colors are red, green and blue between 0 and 1. All of them have
derivatives, with respect to what they are set by too.
"""

from srcjax.analysis.arrays import as_given, stand_for
from srcjax.image.colors import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    invert,
    rgb_to_grayscale,
    solarize,
)
from srcjax.image.draws import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_gamma,
    random_hue,
    random_saturation,
)
from srcjax.image.places import (
    center_crop,
    flip_left_right,
    flip_up_down,
    pad_to_size,
    resize_with_crop_or_pad,
    rot90,
)
from srcjax.image.sampling import gaussian_blur, resize, scale_and_translate

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "center_crop",
    "flip_left_right",
    "flip_up_down",
    "gaussian_blur",
    "invert",
    "pad_to_size",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_gamma",
    "random_hue",
    "random_saturation",
    "resize",
    "resize_with_crop_or_pad",
    "rgb_to_grayscale",
    "rot90",
    "scale_and_translate",
    "solarize",
]

stand_for(globals(), as_given)
