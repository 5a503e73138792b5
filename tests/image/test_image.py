"""`srcjax.image`: what is said elsewhere of the same operations, and derivatives."""

import colorsys

import jax
import numpy as np
import pytest

import srcjax
from srcjax import image, random
from tests.corpus.harness import assert_close, differences

X = np.random.default_rng(0).uniform(0.05, 0.95, (5, 6, 3))
BATCH = np.stack([X, X[::-1] ** 2])


def by_pixel(function):
    return np.array([[function(*pixel) for pixel in row] for row in X])


@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0, 1.6, 9.0])
def test_saturation_is_that_of_hsv(factor):
    def expected(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb(h, min(factor * s, 1.0), v)

    assert_close(image.adjust_saturation(X, factor), by_pixel(expected))
    gray = np.full((1, 1, 3), 0.3)
    assert_close(image.adjust_saturation(gray, factor), gray)


@pytest.mark.parametrize("delta", [0.0, 0.1, -0.4, 1.3])
def test_hue_is_that_of_hsv(delta):
    def expected(r, g, b):
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb((h + delta) % 1.0, s, v)

    assert_close(image.adjust_hue(X, delta), by_pixel(expected))


def test_resize_is_that_of_jax():
    x = X.astype(np.float32)
    with jax.enable_x64(False):
        for method in ("nearest", "bilinear", "cubic", "lanczos3", "lanczos5"):
            for shape, antialias in (((9, 4, 3), True), ((3, 4, 3), False)):
                ours = image.resize(x, shape, method, antialias)
                theirs = jax.image.resize(x, shape, method, antialias)
                assert ours.dtype == np.float32
                assert_close(ours, np.asarray(theirs), rtol=1e-4, atol=1e-5)
        scale, moved = np.array([1.4, 0.7]), np.array([0.3, -1.2])
        ours = image.scale_and_translate(x, (6, 5, 3), (0, 1), scale, moved, "linear")
        theirs = jax.image.scale_and_translate(
            x, (6, 5, 3), (0, 1), scale, moved, "linear"
        )
        assert_close(ours, np.asarray(theirs), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="method 'best'"):
        image.resize(x, (4, 4, 3), "best")


def test_places():
    np.testing.assert_array_equal(image.flip_left_right(BATCH), BATCH[:, :, ::-1])
    np.testing.assert_array_equal(image.flip_up_down(X), X[::-1])
    np.testing.assert_array_equal(image.rot90(X, 3), np.rot90(X, 3))
    np.testing.assert_array_equal(image.center_crop(BATCH, 3, 2), BATCH[:, 1:4, 2:4])
    np.testing.assert_array_equal(image.center_crop(X, 3, 99), X[1:4])
    padded = image.pad_to_size(X, 8, 7, pad_value=0.5)
    assert padded.shape == (8, 7, 3) and padded[0, 0, 0] == 0.5
    np.testing.assert_array_equal(padded[1:6, :6], X)
    mixed = image.resize_with_crop_or_pad(BATCH, 9, 2, pad_mode="edge")
    np.testing.assert_array_equal(mixed[:, 2:7], BATCH[:, :, 2:4])
    np.testing.assert_array_equal(mixed[:, 0], mixed[:, 2])


def test_colors_and_blur():
    assert_close(image.adjust_contrast(X, 0.0), np.ones_like(X) * X.mean(axis=(0, 1)))
    assert_close(image.adjust_gamma(2 * X - 0.5, 2.0), np.clip(2 * X - 0.5, 0, 1) ** 2)
    gray = image.rgb_to_grayscale(X, keep_dims=True)
    assert_close(gray[..., 1], X @ [0.2989, 0.5870, 0.1140])
    assert_close(image.solarize(X, 0.5), np.where(X < 0.5, X, 1 - X))
    assert_close(image.invert(X), 1 - X)
    point = np.zeros((7, 7, 1))
    point[3, 3] = 1.0
    weights = np.exp(-(np.arange(-2, 3) ** 2) / (2 * 0.8**2))
    weights /= weights.sum()
    blurred = image.gaussian_blur(point, 0.8, 5)
    assert_close(blurred[1:6, 1:6, 0], np.outer(weights, weights))
    assert image.gaussian_blur(BATCH, 0.8, 5, padding="VALID").shape == (2, 1, 2, 3)


def test_draws():
    key = random.key(3)
    first = image.random_brightness(key, X, 0.3) - X
    assert np.ptp(first) < 1e-12 and 0 < abs(first[0, 0, 0]) <= 0.3
    flips = [image.random_flip_left_right(k, X)[0, 0, 0] for k in random.split(key, 20)]
    assert {X[0, 0, 0], X[0, -1, 0]} == set(flips)
    part = image.random_crop(key, X, (2, 3, 3))
    assert part.shape == (2, 3, 3) and np.isin(part, X).all()
    for change in (image.random_contrast, image.random_saturation, image.random_gamma):
        assert change(key, X.astype(np.float32), 0.8, 1.2).dtype == np.float32
    assert (
        image.random_hue(key, X, 0.1).shape == image.random_flip_up_down(key, X).shape
    )


PROGRAMS = {
    "colors": lambda x, v: image.adjust_hue(
        image.adjust_saturation(image.adjust_contrast(x, v), v), 0.1 * v
    ),
    "gamma": lambda x, v: image.adjust_gamma(image.flip_left_right(x), v, gain=v),
    "blur": lambda x, v: image.gaussian_blur(image.rot90(x), v, 3),
    "resize": lambda x, v: image.resize(v * x, (4, 9, 3), "cubic"),
    "moved": lambda x, v: image.scale_and_translate(
        x, (4, 6, 3), (0, 1), (v, 1.0), (0.0, v), "linear"
    ),
    "cut": lambda x, v: image.resize_with_crop_or_pad(v * x, 7, 3),
}


@pytest.mark.parametrize("change", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives_and_batches(change):
    weights = np.cos(np.arange(7 * 9 * 3)).reshape(7, 9, 3)

    def loss(x, v):
        y = change(x, v)
        return np.sum(y**2 * weights[: y.shape[0], : y.shape[1]])

    v = 0.83
    found = srcjax.grad(loss, (0, 1))(X, v)
    assert_close(found, differences(loss, (X, v), (0, 1)), rtol=1e-5, atol=1e-7)
    if change not in (PROGRAMS["colors"], PROGRAMS["gamma"]):
        return  # `vmap` runs the others in a loop, but they take batches as they are
    found = srcjax.vmap(change, (0, None))(BATCH, v)
    assert_close(found, np.stack([change(each, v) for each in BATCH]))
