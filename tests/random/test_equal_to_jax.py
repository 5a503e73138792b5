"""The same key gives the same numbers as JAX: bit for bit, or to the last digits."""

import numpy as np
import pytest
from jax import random as theirs

from srcjax import random
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
