"""The same key gives the same numbers as JAX: bit for bit, or to the last digits."""

import jax
import numpy as np
import pytest
from jax import random as theirs

import srcjax
from srcjax import random
from srcjax.errors import ArgumentError
from tests.random.draws_of_jax import CLOSE, DOUBLE, EXACT, RECORDED, SEED

KEY = random.key(SEED)
WANTED = dict(np.load(RECORDED))


def assert_same_kind(found, wanted):
    assert np.shape(found) == wanted.shape
    assert np.asarray(found).dtype == wanted.dtype


@pytest.mark.parametrize("name", EXACT)
def test_bit_for_bit(name):
    found = EXACT[name](random, KEY)
    assert_same_kind(found, WANTED[name])
    np.testing.assert_array_equal(found, WANTED[name])


def assert_close(found, wanted, epsilons):
    assert_same_kind(found, wanted)
    eps = epsilons * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, wanted, rtol=eps, atol=eps)


@pytest.mark.parametrize("name", CLOSE)
def test_to_the_last_digits(name):
    epsilons, call = CLOSE[name]
    assert_close(call(random, KEY), WANTED[name], epsilons)


@pytest.mark.parametrize("name", DOUBLE)
def test_float64_is_that_of_jax_with_x64(name):
    epsilons, call = DOUBLE[name]
    assert_close(call(random, KEY), WANTED[f"64: {name}"], epsilons)


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_wide_draws_are_those_of_jax_with_x64(name):
    epsilons, call = CLOSE.get(name) or (0, EXACT.get(name))
    with srcjax.enable_x64():
        found = call(random, KEY)
    if name in EXACT:
        assert_same_kind(found, WANTED[f"wide: {name}"])
        np.testing.assert_array_equal(found, WANTED[f"wide: {name}"])
    else:  # the `log` of JAX is up to 128 epsilons off
        assert_close(found, WANTED[f"wide: {name}"], max(epsilons, 128))


def test_keys_of_seeds_with_x64():
    for seed in (
        0,
        3,
        -1,
        2**33 + 5,
        -(2**40),
        np.int64(-7),
        np.uint8(9),
        np.int32(-3),
    ):
        with jax.enable_x64(True), srcjax.enable_x64():
            wanted, found = np.asarray(theirs.PRNGKey(seed)), random.key(seed)
        np.testing.assert_array_equal(found, wanted)


def test_versions_know_how_wide_draws_are():
    def f(key, x):
        return np.sum(random.normal(key, (3,)) * x), random.randint(key, (2,), 0, 9)

    for g in (f, srcjax.jit(f), srcjax.value_and_grad(f, argnums=1, has_aux=True)):
        x = np.ones(3)
        narrow = g(KEY, x)
        with srcjax.enable_x64():
            wide = g(KEY, x)
            outside = float(np.sum(random.normal(KEY, (3,))))

        def first(found):
            return found[0][0] if isinstance(found[0], tuple) else found[0]

        assert first(wide) == pytest.approx(outside, abs=1e-15)
        assert first(wide) != pytest.approx(first(narrow), abs=1e-3)
        assert first(g(KEY, x)) == first(narrow)


def test_the_setting_of_jax():
    srcjax.config.update("jax_enable_x64", True)
    try:
        assert random.uniform(KEY).dtype == np.float64
    finally:
        srcjax.config.update("jax_enable_x64", False)
    assert random.uniform(KEY).dtype == np.float32
    with pytest.raises(ArgumentError, match="True or False"):
        srcjax.config.update("jax_enable_x64", 2)


def test_keys_of_seeds():
    """Of a seed the lowest 32 bits count."""
    for seed in (0, 3, -1, 2**33 + 5, np.int64(7), np.uint8(9)):
        wanted = np.asarray(theirs.PRNGKey(seed))
        np.testing.assert_array_equal(random.key(seed), wanted)
        np.testing.assert_array_equal(random.PRNGKey(seed), wanted)
        assert random.key(seed).dtype == np.uint32


def test_many_numbers_at_once_are_the_same():
    """More than one block, whose last one is not full; in threads."""
    wanted = np.asarray(theirs.bits(theirs.PRNGKey(1), (600_001,)))
    np.testing.assert_array_equal(random.bits(random.key(1), (600_001,)), wanted)
