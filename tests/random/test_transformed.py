"""Draws inside functions that are differentiated, mapped and compiled."""

import re
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import random as theirs

import srcjax
from srcjax import grad, jit, jvp, random, vmap
from srcjax.random import normal
from srcjax.testing import check_grads

KEY = random.key(0)
KEYS = random.split(KEY, 5)


def noisy(w, x):
    key, other = random.split(KEY)
    noise = random.normal(key, x.shape)
    keep = random.bernoulli(other, 0.8, x.shape)
    return np.sum(((x + noise) * keep) @ w) + normal(other) * w[0]


def test_a_draw_stays_a_call_and_is_imported():
    w, x = np.ones(3), np.ones((2, 3))
    text = srcjax.source(grad(noisy), w, x)
    assert "from srcjax import random\n" in text
    assert "from srcjax.random import normal\n" in text
    assert "noise = random.normal(key, x.shape)\n" in text
    check_grads(noisy, (w, x), order=2)


def test_a_draw_within_jit():
    f = jit(lambda w: random.normal(KEY, (4, 3)) @ w)
    w = np.ones(3)
    np.testing.assert_array_equal(f(w), random.normal(KEY, (4, 3)) @ w)


def test_the_key_may_be_an_argument():
    def loss(w, key):
        return np.sum(w * random.normal(key, (3,)))

    np.testing.assert_array_equal(grad(loss)(np.ones(3), KEY), random.normal(KEY, (3,)))


def assert_as_each(f, *args, in_axes=0):
    """A batch has what each example has, and no loop is written for it."""
    mapped = vmap(f, in_axes=in_axes)
    assert not re.search(r"\bfor \w+ in ", srcjax.source(mapped, *args))
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    given = [
        [a if axis is None else a[k] for a, axis in zip(args, axes, strict=True)]
        for k in range(5)
    ]
    found, wanted = mapped(*args), np.stack([f(*each) for each in given])
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


LOW = np.linspace(-1, 0, 5)
ROWS = np.arange(20.0).reshape(5, 4)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda k: random.normal(k, (3,)), (KEYS,)),
        (lambda k: random.normal(random.split(k, 3)[1]), (KEYS,)),
        (lambda k: random.uniform(random.fold_in(k, 3), (2,)), (KEYS,)),
        (lambda k, i: random.fold_in(k, i), (KEYS, np.arange(5))),
        (lambda s: random.key(s), (np.arange(5),)),
        (lambda i: random.fold_in(KEY, i), (np.arange(5),)),
        (lambda k, a: random.uniform(k, (3,), minval=a), (KEYS, LOW)),
        (lambda k, a: random.truncated_normal(k, a, np.ones(3)), (KEYS, LOW)),
        (lambda a: random.truncated_normal(KEY, a, 1.0), (LOW,)),
        (lambda k, p: random.bernoulli(k, p), (KEYS, ROWS / 20)),
        (lambda k: random.bernoulli(k, np.full(3, 0.4)), (KEYS,)),
        (lambda n: random.randint(KEY, (3,), 0, n), (np.arange(1, 6),)),
        (lambda k: random.permutation(k, 6), (KEYS,)),
        (lambda k, x: random.permutation(k, x), (KEYS, ROWS)),
        (lambda x: random.choice(KEY, x, (3,)), (ROWS,)),
        (lambda k: random.choice(k, ROWS, (2,), axis=1), (KEYS,)),
        (lambda k, a: random.categorical(k, a, axis=0), (KEYS, ROWS)),
        (lambda k: random.categorical(k, ROWS, axis=0), (KEYS,)),
        (lambda k, m: random.multivariate_normal(k, m, np.eye(4)), (KEYS, ROWS)),
        (lambda k: random.multivariate_normal(k, np.ones(2), np.eye(2)), (KEYS,)),
        (lambda k: random.orthogonal(k, 2), (KEYS,)),
    ],
)  # fmt: skip
def test_a_batch_is_drawn_at_once(f, args):
    assert_as_each(f, *args)


def test_a_batch_of_batches():
    keys = random.split(KEY, (2, 5))
    f = vmap(vmap(lambda k, a: random.uniform(k, (3,), maxval=a)), in_axes=(0, None))
    wanted = [
        [random.uniform(k, (3,), maxval=a) for k, a in zip(row, LOW, strict=True)]
        for row in keys
    ]
    np.testing.assert_array_equal(f(keys, LOW), wanted)


# -- reparameterised gradients ---------------------------------------------------------


def between(r, key, low, high):
    return (r.uniform(key, (4,), minval=low, maxval=high) ** 2).sum()


def truncated(r, key, low, high):
    return (r.truncated_normal(key, low, high) ** 2).sum()


def vectors(r, key, mean, cov):
    return (r.multivariate_normal(key, mean, cov, (3,)) ** 3).sum()


def reordered(r, key, x):
    items = r.permutation(key, x) * np.arange(4, dtype=np.float32)
    return (items**2).sum() + (r.choice(key, x, (3,)) ** 2).sum()


F = np.float32
CASES = [
    (between, (np.linspace(-1, 0, 4, dtype=F), F(2.0))),
    (truncated, (np.linspace(-1, 0, 4, dtype=F), F(2.0))),
    (truncated, (F(-np.inf), np.array([1.0, 2.0], F))),
    (vectors, (np.array([1.0, 2.0], F), np.array([[2.0, 0.5], [0.5, 1.0]], F))),
    (reordered, (np.linspace(-1, 1, 4, dtype=F),)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_gradients_are_those_of_jax(f, args):
    argnums = tuple(range(len(args)))
    key = theirs.PRNGKey(0)
    compiled = jax.jit(jax.grad(lambda *a: f(theirs, key, *a), argnums))
    for found, wanted in zip(
        grad(lambda *a: f(random, KEY, *a), argnums)(*args),
        compiled(*args),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)
        assert found.dtype == np.float32


def test_gradients_of_float64_draws_are_those_of_differences():
    f64 = np.float64

    def f(low, high, mean, cov):
        x = random.uniform(KEY, (4,), f64, low, high)
        x = x + random.truncated_normal(KEY, low, high, dtype=f64)
        y = random.multivariate_normal(KEY, mean, cov, (3,), f64)
        return np.sum(x**2) + np.sum(y**3)

    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    check_grads(f, (np.linspace(-1, 0, 4), 2.0, np.ones(2), cov), order=1)


def test_a_gradient_of_a_batch_of_keys():
    def f(low):
        return np.sum(vmap(lambda k: random.truncated_normal(k, low, 1.0))(KEYS))

    def each(low):
        total = 0.0
        for k in range(5):
            total += random.truncated_normal(KEYS[k], low, 1.0)
        return total

    np.testing.assert_allclose(grad(f)(-0.5), grad(each)(-0.5), rtol=1e-6)


def test_tangents():
    def f(low, high):
        return random.uniform(KEY, (4,), minval=low, maxval=high)

    u = random.uniform(KEY, (4,))
    y, y_dot = jvp(f, (F(0.0), F(2.0)), (F(1.0), F(0.0)))
    np.testing.assert_allclose(y, 2 * u, rtol=1e-6)
    np.testing.assert_allclose(y_dot, 1 - u, rtol=1e-6)


def test_an_export_brings_its_draws_along(tmp_path):
    def loss(w, key):
        return np.sum(random.normal(key, (3,)) * w)

    path = tmp_path / "exported.py"
    srcjax.export(grad(loss), path, np.ones(3), KEY)
    code = (
        "import sys, numpy as np, exported\n"
        "key = np.array([0, 0], np.uint32)\n"
        "print(*exported.grad_loss(np.ones(3), key), 'srcjax' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    wanted = grad(loss)(np.ones(3), KEY)
    assert done.stdout.split() == [*map(str, wanted), "False"], done.stderr
