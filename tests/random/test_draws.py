"""Draws of `srcjax.random`, by themselves: batches of keys, bounds, errors."""

import subprocess
import sys

import numpy as np
import pytest

from srcjax import random
from srcjax.random import threefry
from srcjax.random.uniforms import multiply_add

KEY = random.key(0)


def test_known_answers_of_threefry():
    """Those of the authors' own tests (Random123, `kat_vectors`)."""
    for key, counter, wanted in [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]:
        high, low = (np.array(word, np.uint32) for word in counter)
        found = threefry.hashed(np.array(key, np.uint32), high, low)
        assert tuple(map(int, found)) == wanted


@pytest.mark.parametrize(
    "draw",
    [
        lambda k: random.bits(k, (3,), np.uint64),
        lambda k: random.uniform(k, (3,), minval=-1, maxval=np.ones(3)),
        lambda k: random.normal(k),
        lambda k: random.normal(k, (2,), np.complex64),
        lambda k: random.truncated_normal(k, -1.0, 1.0),
        lambda k: random.randint(k, (3,), 0, 10),
        lambda k: random.bernoulli(k, 0.5),
        lambda k: random.bernoulli(k, 0.3, (4,), mode="high"),
        lambda k: random.gumbel(k, (4,), mode="high"),
        lambda k: random.permutation(k, 5),
        lambda k: random.permutation(k, np.arange(6).reshape(2, 3), axis=1),
        lambda k: random.permutation(k, np.arange(6).reshape(2, 3), 1, True),
        lambda k: random.choice(k, np.arange(6.0).reshape(2, 3), (2,), axis=1),
        lambda k: random.choice(k, 4, (2,), replace=False, p=np.full(4, 0.25)),
        lambda k: random.orthogonal(k, 3),
        lambda k: random.gamma(k, np.array([0.5, 2.0]), (4, 2)),
        lambda k: random.beta(k, 0.5, 2.0),
        lambda k: random.dirichlet(k, np.ones(3), (2,)),
        lambda k: random.t(k, 3.0, (2,)),
        lambda k: random.poisson(k, np.array([3.0, 30.0]), (5, 2)),
        lambda k: random.binomial(k, 100, np.array([0.01, 0.4]), (5, 2)),
        lambda k: random.ball(k, 3, shape=(2,)),
        lambda k: random.f(k, 3.0, 2.0),
        lambda k: random.split(k, 3),
        lambda k: random.fold_in(k, 9),
        lambda k: random.multivariate_normal(k, np.ones(2), np.eye(2), (3,)),
    ],
)
def test_a_batch_of_keys_gives_what_each_key_gives(draw):
    keys = random.split(KEY, (2, 3))
    wanted = [[draw(key) for key in row] for row in keys]
    np.testing.assert_array_equal(draw(keys), wanted)


def test_many_keys_and_many_numbers_are_hashed_in_blocks():
    keys = random.split(KEY, 3)
    size = threefry.BLOCK + 5
    wanted = [random.bits(key, (size,)) for key in keys]
    np.testing.assert_array_equal(random.bits(keys, (size,)), wanted)
    many = random.split(KEY, threefry.BLOCK // 3)
    found = random.bits(many, (7,))
    for k in (0, len(many) // 2, len(many) - 1):
        np.testing.assert_array_equal(found[k], random.bits(many[k], (7,)))


def test_a_product_and_sum_is_rounded_once():
    """Also where float64 rounds to the middle of two float32 numbers."""
    x = np.array([1, 1, -1, 2], np.float32) * np.float32(2.0**-60)
    factor, term = np.float32(1), np.float32(1 + 2.0**-23)
    np.testing.assert_array_equal(multiply_add(x.copy(), factor, term), [term] * 4)
    # 1 + 2**-24, the middle between 1 and the next one, and 2**-60 beside it.
    x = np.array([2.0**-24, -(2.0**-25)], np.float32)
    factor = np.float32(1 + 2.0**-23)
    found = multiply_add(x.copy(), factor, np.float32(1))
    np.testing.assert_array_equal(found, [1 + 2.0**-23, 1 - 2.0**-24])
    for sign in (1, -1):
        x = np.array([2.0**-24 * (1 + sign * 2.0**-22)], np.float32)
        found = multiply_add(x, np.float32(1 + sign * 2.0**-22), np.float32(1))
        assert found[0] == (1 + 2.0**-23 if sign > 0 else 1)


def test_numbers_below_their_bounds():
    x = random.uniform(KEY, (1000,), minval=2.0, maxval=3.0)
    assert x.min() >= 2 and x.max() < 3
    x = random.truncated_normal(KEY, 0.5, 0.75, (1000,))
    assert x.min() > 0.5 and x.max() < 0.75
    x = random.randint(KEY, (1000,), -2, 3)
    assert set(x.tolist()) == {-2, -1, 0, 1, 2}
    q = random.orthogonal(KEY, 3)
    np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-6)


def test_a_draw_of_one_number_is_a_number():
    assert isinstance(random.normal(KEY), np.float32)
    assert isinstance(random.randint(KEY, (), 0, 3), np.int32)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: random.normal(np.zeros(2), (3,)), TypeError, "two uint32 numbers"),
        (lambda: random.normal(0, (3,)), TypeError, "two uint32 numbers"),
        (lambda: random.normal(KEY, 3), TypeError, r"tuple of ints such as \(3,\)"),
        (lambda: random.normal(KEY, (-1,)), ValueError, "not negative"),
        (lambda: random.normal(KEY, (3,), np.int32), ValueError, "float or complex"),
        (lambda: random.uniform(KEY, (3,), np.longdouble), ValueError, "no draws of"),
        (lambda: random.bits(KEY, (3,), np.int32), ValueError, "unsigned int"),
        (lambda: random.uniform(KEY, (3,), minval=np.ones(2)), ValueError, "broadcast"),
        (lambda: random.bernoulli(KEY, 1), TypeError, "p must be a float"),
        (lambda: random.bernoulli(KEY, 0.5, mode="x"), ValueError, "mode"),
        (lambda: random.fold_in(KEY, np.arange(3)), TypeError, "data is one integer"),
        (lambda: random.fold_in(KEY, 1.0), TypeError, "data must be an integer"),
        (lambda: random.key(1.5), TypeError, "integer"),
        (lambda: random.key(0, impl="rbg"), ValueError, "the only generator"),
        (lambda: random.permutation(KEY, 1.5), TypeError, "or an integer"),
        (lambda: random.permutation(KEY, np.ones(3), 1), ValueError, "no axis 1"),
        (lambda: random.choice(KEY, 3, (4,), replace=False), ValueError, "4 draws"),
        (lambda: random.choice(KEY, 3, (4,), p=np.ones(2)), ValueError, "p has shape"),
        (lambda: random.choice(KEY, 0, (4,)), ValueError, "no items"),
        (
            lambda: random.bernoulli(random.split(KEY, 2), np.full(3, 0.5)),
            ValueError,
            "need `shape=`",
        ),
        (
            lambda: random.multivariate_normal(KEY, np.ones(2), np.eye(3)),
            ValueError,
            r"cov \(..., n, n\)",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_module_is_imported_when_it_is_asked_for():
    code = (
        "import sys, srcjax\n"
        "print('srcjax.random' in sys.modules)\n"
        "print(srcjax.random.key(1), 'scipy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n[0 1] False\n"
