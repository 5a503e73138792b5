"""`vectorize` beside NumPy's own, which runs a loop."""

import jax
import numpy as np
import pytest

import srcjax
from srcjax import grad, vectorize, vmap
from srcjax.api.vectorized import parse_signature
from srcjax.errors import ArgumentError
from tests.corpus.harness import assert_close, differences


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


def dot(x, y):
    return np.sum(x * y)


def transformed(A, x, scale=2.0):
    return A @ x * scale


def both_ends(x):
    return x[0] * x, x[-1]


def piece(x, y):
    if x > 0:
        return x * y
    return np.exp(x) + y


A, B = normal(4, 1, 3), normal(5, 3)
CASES = [
    (dot, "(n),(n)->()", (A, B)),
    (dot, "(n),(n)->()", (B, B[0])),
    (dot, "(n),(n)->()", (B[0], B[1])),
    (transformed, "(n,m),(m)->(n)", (normal(5, 1, 2, 3), normal(4, 3))),
    (both_ends, "(n)->(n),()", (normal(2, 3, 4),)),
    (piece, None, (normal(4, 1), normal(3))),
    (piece, None, (normal(4), 2.0)),
    (piece, None, (1.0, 2.0)),
]


@pytest.mark.parametrize(("f", "signature", "args"), CASES)
def test_values_are_those_of_numpy(f, signature, args):
    expected = np.vectorize(f, signature=signature)(*args)
    found = vectorize(f, signature=signature)(*args)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, two in pairs:
        assert np.shape(one) == np.shape(two)
        np.testing.assert_allclose(one, two)


def test_excluded_arguments_are_given_as_they_are():
    def power(x, n):
        return np.sum(x) ** n

    for excluded in [(1,), {"n"}]:
        found = vectorize(power, excluded=excluded, signature="(k)->()")(B, 2)
        np.testing.assert_allclose(found, B.sum(axis=1) ** 2)


def test_the_text():
    v = vectorize(dot, signature="(n),(n)->()")
    assert srcjax.source(v, B, B[0]).endswith(
        "def vectorize_dot(x, y):\n    return np.sum(x * y, axis=1)\n"
    )
    assert "    x = x[:, 0]\n" in srcjax.source(v, A, B)
    assert srcjax.source(v, B[0], B[0]).startswith("def dot(x, y):")


def test_derivatives():
    v = vectorize(dot, signature="(n),(n)->()")

    def loss(a, b):
        return np.sum(v(a, b) ** 2)

    def inside(a, b):
        w = vectorize(lambda p, q: np.sum(p * q) * b[0, 0], signature="(n),(n)->()")
        return np.sum(w(a, b))

    for f in (loss, inside):
        expected = differences(f, (A, B), (0, 1))
        assert_close(grad(f, argnums=(0, 1))(A, B), tuple(expected))
    np.testing.assert_allclose(grad(v)(B[0], B[1]), B[1])
    np.testing.assert_allclose(vmap(lambda a: v(a, B))(A), np.sum(A * B, axis=2))


ERRORS = [
    ((A, normal(4)), r"`y` of shape \(4,\) has n=4, and `x` of shape .* has n=3"),
    ((A, 2.0), r"`y` of shape \(\) has 0 dimensions, and \(n\) .* wants 1"),
    ((B, B[:4]), r"do not broadcast \(`x`: \(5,\), `y`: \(4,\)\)"),
    ((A,), "missing a required argument"),
]


@pytest.mark.parametrize(("args", "message"), ERRORS)
def test_dimensions_that_do_not_fit(args, message):
    v = vectorize(dot, signature="(n),(n)->()")
    with pytest.raises(ArgumentError, match=message):
        v(*args)


def test_signatures_that_do_not_fit():
    with pytest.raises(ArgumentError, match="no signature of core dimensions"):
        vectorize(dot, signature="(n,(n)->()")
    with pytest.raises(ArgumentError, match="has 1 arguments, and the call has 2"):
        vectorize(dot, signature="(n)->()")(A, B)
    with pytest.raises(ArgumentError, match=r"core shape \(\), and .* has \(n\)"):
        vectorize(dot, signature="(n),(n)->(n)")(A, B)
    with pytest.raises(ArgumentError, match="has 2 results"):
        vectorize(dot, signature="(n),(n)->(),()")(A, B)


def test_parsing():
    assert parse_signature("(n, m),(m)->(n),()") == ([("n", "m"), ("m",)], [("n",), ()])
    assert parse_signature("(),()->()") == ([(), ()], [()])
