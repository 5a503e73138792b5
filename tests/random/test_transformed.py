"""Draws inside functions that are differentiated, mapped and compiled."""

import re
import subprocess
import sys

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, jvp, random, vmap
from srcjax import random as draws
from srcjax.checks import first_call
from srcjax.errors import NoRuleError
from srcjax.random import gamma as sample
from srcjax.random import normal
from srcjax.testing import check_grads
from tests.random.draws_of_jax import GRADIENTS, RECORDED, SEED

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
        (lambda k, a: random.gamma(k, a), (KEYS, ROWS + 1)),
        (lambda a: random.loggamma(KEY, a, (3,)), (LOW + 2,)),
        (lambda k, a: random.beta(k, a, 2.0), (KEYS, ROWS + 1)),
        (lambda k: random.dirichlet(k, ROWS[1] + 1), (KEYS,)),
        (lambda k, a: random.t(k, a, (2,)), (KEYS, LOW + 3)),
        (lambda k, a: random.poisson(k, a), (KEYS, ROWS)),
        (lambda k: random.poisson(k, 50.0, (6,)), (KEYS,)),
        (lambda k, n: random.binomial(k, n, 0.4, (6,)), (KEYS, np.arange(5) * 40)),
        (lambda k, a: random.triangular(k, a, 0.5, 1.0), (KEYS, LOW)),
        (lambda k, a: random.weibull_min(k, a, 2.0, (3,)), (KEYS, LOW + 2)),
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


WANTED = dict(np.load(RECORDED))


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_jax(name):
    """And of a batch of keys and parameters, they are those of each."""
    f, args = GRADIENTS[name]
    argnums = tuple(range(len(args)))
    key = random.key(SEED)
    found = grad(lambda *a: f(random, key, *a), argnums)(*args)
    for k in argnums:
        wanted = WANTED[f"d: {name}, {k}"]
        np.testing.assert_allclose(found[k], wanted, rtol=2e-5, atol=1e-5)
        assert found[k].dtype == np.float32


@pytest.mark.parametrize("name", [n for n in GRADIENTS if ", open" not in n])
def test_transforms_draw_what_is_drawn_where_the_width_is_set(name):
    f, args = GRADIENTS[name]
    args = tuple(np.float64(a) for a in args)

    def drawn(*given):
        return f(random, KEY, *given)

    transformed = jvp(drawn), vmap(drawn)
    for wide in (False, True):
        with srcjax.enable_x64(wide):
            wanted = drawn(*args)
            value, _ = transformed[0](args, args)
            found = value, transformed[1](*(a[None] for a in args))[0]
        for each in found:
            np.testing.assert_allclose(each, wanted, rtol=1e-12 if wide else 1e-5)
            assert each.dtype == wanted.dtype


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
    y, y_dot = jvp(f, (0.0, 2.0), (1.0, 0.0))
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


def test_a_second_derivative_that_is_not_known_is_refused():
    with pytest.raises(NoRuleError, match="gamma_derivative"):
        grad(grad(lambda a: random.gamma(KEY, a)))(2.0)


def test_a_rule_calls_the_module_by_the_name_that_it_has():
    """Where `random` is something else, or nothing."""

    def f(random, a):
        return draws.gamma(KEY, a) * random

    def g(a):
        return sample(KEY, a)

    assert grad(f, 1)(2.0, 3.0) == 2 * random.gamma_derivative(3.0, sample(KEY, 3.0))
    assert grad(g)(3.0) == random.gamma_derivative(3.0, sample(KEY, 3.0))
    assert "draws.gamma_derivative" in srcjax.source(grad(f, 1), 2.0, 3.0)


def test_what_is_compared_with_differences():
    """All but the implicit derivatives, which are no slopes of one key's numbers."""

    def slope(a):
        return np.sum(random.normal(KEY, (3,), np.float64) * a**2)

    def implicit(a):
        return random.gamma(KEY, a, (), np.float64)

    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            first_call, "prove", lambda f, values, opinions: seen.append(opinions)
        )
        grad(slope, check=True)(2.0)
        grad(implicit, check=True)(2.0)
    assert seen == [False, True]
    assert grad(implicit, check=True)(2.0) == random.gamma_derivative(
        2.0, implicit(2.0)
    )
