"""Scans along several arrays that give several, and associative scans of trees."""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.testing import check_grads
from tests.corpus.harness import assert_close, differences

RNG = np.random.default_rng(7)
A = 0.4 * RNG.normal(size=(5, 2, 2))
B = RNG.normal(size=(5, 2))


def compose(first, second):
    (A1, b1), (A2, b2) = first, second
    return A2 @ A1, np.einsum("nij,nj->ni", A2, b1) + b2


@partial(srcjax.vmap, in_axes=(0, 0))
def compose_each(first, second):
    (A1, b1), (A2, b2) = first, second
    return A2 @ A1, A2 @ b1 + b2


def of_dicts(first, second):
    keys = ("A", "b")
    found = compose([first[k] for k in keys], [second[k] for k in keys])
    return dict(zip(keys, found, strict=True))


def of_all(A, b, reverse=False):
    return np.sum(np.sin(lax.associative_scan(compose, (A, b), reverse)[1]))


def of_each(A, b, reverse=False):
    return np.sum(np.sin(lax.associative_scan(compose_each, (A, b), reverse)[1]))


def of_named(A, b, reverse=False):
    found = lax.associative_scan(of_dicts, {"A": A, "b": b}, reverse)
    return np.sum(np.sin(found["b"]))


def with_jax(A, b, reverse=False):
    def put_together(first, second):
        (A1, b1), (A2, b2) = first, second
        return A2 @ A1, jnp.einsum("nij,nj->ni", A2, b1) + b2

    found = jax.lax.associative_scan(put_together, (A, b), reverse=reverse)
    return jnp.sum(jnp.sin(found[1]))


@pytest.mark.parametrize(
    ("f", "reverse"), [(of_all, False), (of_each, False), (of_named, True)]
)
def test_associative_scans_of_trees(f, reverse):
    f, expected = partial(f, reverse=reverse), partial(with_jax, reverse=reverse)
    assert_close(f(A, B), expected(A, B))
    for found, wanted in zip(
        srcjax.grad(f, (0, 1))(A, B), jax.grad(expected, (0, 1))(A, B), strict=True
    ):
        assert_close(found, wanted)
    assert_close(srcjax.jit(f)(A, B), expected(A, B))


def test_an_associative_scan_along_another_axis():
    def f(x):
        a, b = lax.associative_scan(
            lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x, np.cos(x)), axis=1
        )
        return np.sum(a * b)

    x = RNG.normal(size=(2, 5))
    assert_close(srcjax.grad(f)(x), differences(f, (x,), (0,))[0], rtol=1e-5)
    wanted = jax.lax.associative_scan(
        lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x, jnp.cos(x)), axis=1
    )
    assert_close(f(x), np.sum(np.asarray(wanted[0]) * np.asarray(wanted[1])))


def filtered(A, b):
    def step(state, given):
        state = given["A"] @ state + given["b"]
        return state, (state, state[0])

    state, (path, first) = lax.scan(step, np.ones(2), {"A": A, "b": b}, reverse=True)
    return np.sum(state**2) + np.sum(path * 2) + first[0] * first[2]


def last_alone(A, b):
    return np.sum(lax.scan(lambda c, x: (x[0] @ c + x[1], c), np.ones(2), (A, b))[0])


@pytest.mark.parametrize("f", [filtered, last_alone])
def test_scans_along_several_arrays(f):
    for found, wanted in zip(
        srcjax.grad(f, (0, 1))(A, B), differences(f, (A, B), (0, 1)), strict=True
    ):
        assert_close(found, wanted, rtol=1e-5)
    _, tangent = srcjax.jvp(f, (A, B), (A, B))
    gradient = srcjax.grad(f, (0, 1))(A, B)
    assert_close(tangent, np.sum(gradient[0] * A) + np.sum(gradient[1] * B))
    batch = np.stack([A, 2 * A]), np.stack([B, B + 1])
    for k, found in enumerate(srcjax.vmap(f)(*batch)):
        assert_close(found, f(batch[0][k], batch[1][k]))
    assert_close(srcjax.jit(srcjax.grad(f))(A, B), gradient[0])


def test_what_a_scan_gives_is_a_list_for_each():
    lines = str(srcjax.source(srcjax.grad(filtered), A, B)).splitlines()
    text = "\n".join(line for line in lines if not line.strip().startswith("#"))
    assert "length_of" not in text and "leaves" not in text
    lists = re.findall(r"(\w+) = \[\]", text)
    assert len(lists) == 3, text  # two of what is stacked, and the tape
    assert "dA[i] +=" in text and "add(" not in text


def test_what_is_gathered_for_nobody_is_not_gathered():
    text = str(srcjax.source(srcjax.grad(last_alone), A, B))
    assert text.count(".append(") == 1, text

    def history(x):
        seen = []
        for _ in range(4):
            x = np.sin(x)
            seen.append(x)
        return x

    assert "seen" not in str(srcjax.source(srcjax.jvp(history), 0.3))
    assert "seen" not in str(srcjax.source(srcjax.grad(history), 0.3))


def test_arrays_of_several_lengths_are_refused():
    with pytest.raises(ValueError, match=r"5 steps along lengths \[5, 4\]"):
        srcjax.grad(last_alone)(A, B[:4])


def test_a_length_is_not_compared_with_itself():
    def told(w, xs):
        def step(h, x):
            return np.tanh(w * h + x), h

        length = len(xs)
        return np.sum(lax.scan(step, 0.0, xs, length=length)[1])

    xs = np.linspace(0.0, 1.0, 5)
    text = str(srcjax.source(srcjax.grad(told), 0.3, xs))
    assert "scan of" not in text and "length" not in text, text
    check_grads(told, (0.3, xs), order=2)

    def four(w, xs):
        return lax.scan(lambda h, x: (w * h + x, h), w, xs, length=4)[0]

    check_grads(four, (0.3, xs[:4]))
    with pytest.raises(ValueError, match="4 steps along 5"):
        srcjax.grad(four)(0.3, xs)
