"""Jacobians, Hessians and Hessian-vector products against JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optree
import pytest

import srcjax
from srcjax import grad, hessian, hvp, jacfwd, jacrev, jvp

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 8

jax.config.update("jax_enable_x64", True)


class Layer(NamedTuple):
    w: object
    b: object


def vector_to_vector(x):
    return np.sin(x) * x.sum()


def matrix_to_matrix(x):
    return x @ x.T + np.outer(x[:, 0], x[0, :2])


def vector_to_scalar(x):
    return np.sum(np.exp(x) * x[::-1])


def scalar_to_vector(x):
    return np.array([1.0, 2.0, 3.0]) * x**3


def scalar_to_scalar(x):
    return x * np.sin(x)


def matrix_to_scalar(x):
    return np.sum(np.tanh(x) ** 2) * x[0, 1]


def of_tree(p):
    return {"y": np.tanh(p["w"] @ p["b"]), "z": (p["b"] * p["k"], np.sum(p["w"]))}


def of_layer(p):
    return [np.tanh(p.w @ p.b), np.sum(p.b)]


def with_loop(x):
    y = x
    for i in range(3):
        y = np.sin(y) * x + i
    return y


def with_while(x):
    y = x
    while np.sum(y) < 20.0:
        y = y * 1.5 + x * x
    return y


def in_place(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


def restoring(x):
    a = x * 1.0
    a[1:] *= x[1:]
    y = np.sum(a**3)
    a[1:] += x[:-1] * a[0]
    return a**2 * y


def rng():
    return np.random.default_rng(0)


CASES = [
    (vector_to_vector, lambda: (rng().standard_normal(4),)),
    (matrix_to_matrix, lambda: (rng().standard_normal((2, 3)),)),
    (vector_to_scalar, lambda: (rng().standard_normal(3),)),
    (scalar_to_vector, lambda: (1.3,)),
    (scalar_to_scalar, lambda: (0.7,)),
    (matrix_to_scalar, lambda: (rng().standard_normal((2, 2)),)),
    (
        of_tree,
        lambda: (
            {
                "w": rng().standard_normal((2, 3)),
                "b": rng().standard_normal(3),
                "k": 0.5,
            },
        ),
    ),
    (
        of_layer,
        lambda: (Layer(rng().standard_normal((2, 3)), rng().standard_normal(3)),),
    ),
    (with_loop, lambda: (rng().standard_normal(3),)),
]


def in_jax(f):
    """The same function of jax.numpy."""
    import types

    return types.FunctionType(f.__code__, {**f.__globals__, "np": jnp}, f.__name__)


def assert_same(got, want):
    first, structure = optree.tree_flatten(got)
    second, other = optree.tree_flatten(want)
    assert str(structure) == str(other)
    for a, b in zip(first, second, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "hessian"])
@pytest.mark.parametrize("f, args", CASES, ids=[f.__name__ for f, _ in CASES])
def test_against_jax(f, args, name):
    got = getattr(srcjax, name)(f)(*args())
    assert_same(got, getattr(jax, name)(in_jax(f))(*args()))


@pytest.mark.parametrize("f", [with_while, in_place, restoring])
@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_loops_and_writes(f, make):
    """Against differences: each column is the change along one element."""
    x = np.array([0.5, 0.8, 1.1])
    got = make(f)(x)
    for k, e in enumerate(np.eye(3)):
        column = (f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6
        np.testing.assert_allclose(got[:, k], column, rtol=1e-6, atol=1e-7)


def two(x, y, n=2):
    return x**n * np.sum(y), y * x


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "hessian"])
@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1,), -1])
def test_argnums(name, argnums):
    def f(x, y):
        return x**2 * np.sum(y), y * x * x

    def in_jnp(x, y):
        return x**2 * jnp.sum(y), y * x * x

    args = 1.5, np.array([0.3, -2.0])
    got = getattr(srcjax, name)(f, argnums=argnums)(*args)
    assert_same(got, getattr(jax, name)(in_jnp, argnums=argnums)(*args))


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_defaults_and_keywords(make):
    y = np.array([1.0, 2.0])
    assert make(two)(3.0, y, n=3)[0] == pytest.approx(27.0 * 3.0)
    assert make(two)(3.0, y)[0] == pytest.approx(6.0 * 3.0)
    by_name = make(two, argnums="y")(3.0, y, n=3)
    np.testing.assert_allclose(by_name[0], [27.0, 27.0])
    np.testing.assert_allclose(by_name[1], 3.0 * np.eye(2))


def starred(*xs, scale=1.0):
    return scale * xs[0] * np.sin(xs[1])


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_starred_arguments(make):
    x = np.array([1.0, 2.0])
    got = make(starred, argnums=1)(x, x, scale=2.0)
    np.testing.assert_allclose(got, np.diag(2.0 * x * np.cos(x)))


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "hessian"])
def test_has_aux(name):
    def f(x):
        y = x * x[::-1] * x
        return y, {"double": 2 * x, "label": "seen", "n": 3}

    def value(x):
        return x * x[::-1] * x

    x = np.array([1.0, 2.0, 3.0])
    got, aux = getattr(srcjax, name)(f, has_aux=True)(x)
    assert_same(got, getattr(jax, name)(value)(x))
    np.testing.assert_array_equal(aux["double"], 2 * x)
    assert aux["label"] == "seen" and aux["n"] == 3


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "hessian"])
def test_scalar_with_aux(name):
    def f(x):
        return np.sum(x**3), x[0]

    x = np.array([1.0, 2.0])
    got, aux = getattr(srcjax, name)(f, has_aux=True)(x)
    want = np.diag(6 * x) if name == "hessian" else 3 * x**2
    np.testing.assert_allclose(got, want)
    assert aux == 1.0


@pytest.mark.parametrize("make", [jacfwd, jacrev])
@pytest.mark.parametrize("shape", [(0,), (1,), (2, 0), (1, 1), ()])
def test_odd_shapes(make, shape):
    x = np.full(shape, 2.0)
    got = make(np_square)(x)
    want = np.asarray(jax.jacfwd(lambda x: x * x)(x))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want)


def np_square(x):
    return x * x


def test_float32():
    x = np.arange(3, dtype=np.float32)
    for make in (jacfwd, jacrev):
        assert make(np_square)(x).dtype == np.float32
    assert hessian(np_square)(x).dtype == np.float32


def test_ints_as_reals():
    assert jacfwd(scalar_to_scalar)(2) == pytest.approx(np.sin(2) + 2 * np.cos(2))
    with pytest.raises(srcjax.errors.ArgumentError):
        jacfwd(np_square)(np.arange(3))


def test_integer_result_is_refused():
    def count(x):
        return np.argmax(x)

    for make in (jacfwd, jacrev):
        with pytest.raises(srcjax.errors.SrcjaxError):
            make(count)(np.ones(3))


@pytest.mark.parametrize("make", [jacfwd, jacrev, hessian])
def test_decorator(make):
    @make
    def first(x):
        return x**3

    @make(argnums=1)
    def second(x, y):
        return x * y**3

    want = 12.0 if make is hessian else 12.0
    assert first(2.0) == pytest.approx(want)
    assert second(1.0, 2.0) == pytest.approx(want)


def test_text():
    x = np.ones(3)
    assert str(srcjax.source(jacfwd(vector_to_vector), x)).endswith(
        """
def jacfwd_vector_to_vector(x):
    \"\"\"Jacobian of vector_to_vector with respect to x, for x: (n,).\"\"\"
    if x.ndim != 1:
        raise ValueError("jacfwd_vector_to_vector is for x: (n,)")
    # Each column: the derivative along one element of x.
    x_dot = np.eye(x.size)
    return (x_dot * np.cos(x) * x.sum() + x_dot.sum(axis=1)[:, None] * np.sin(x)).T
"""
    )
    assert str(srcjax.source(jacrev(vector_to_vector), x)).endswith(
        """
def jacrev_vector_to_vector(x):
    \"\"\"Jacobian of vector_to_vector with respect to x, for x: (n,).\"\"\"
    if x.ndim != 1:
        raise ValueError("jacrev_vector_to_vector is for x: (n,)")
    y, saved = vector_to_vector_forward(x)
    # Each row: the derivative of one element of y.
    return vector_to_vector_backward(saved, np.eye(y.size))
"""
    )
    text = str(srcjax.source(jacrev(vector_to_scalar), x))
    assert '__all__ = ["jacrev_vector_to_scalar"]' in text and "np.eye" not in text


def nearest(centers, points):
    total = 0.0
    for p in points:
        total += np.min(np.sum((centers - p) ** 2, axis=1))
    return total


def test_values_that_only_the_gradient_needs_are_left_out():
    """A second derivative keeps what it reads, and computes no gradient beside it."""
    args = np.eye(3)[:, :2], np.arange(8.0).reshape(4, 2)
    text = str(srcjax.source(srcjax.hessian(nearest), *args))
    assert "tape" not in text, text  # each iteration is needed only while it runs
    gradient, step = srcjax.grad(nearest), 1e-6 * np.eye(6).reshape(6, 3, 2)
    found = srcjax.hessian(nearest)(*args).reshape(3, 2, 6)
    for k, s in enumerate(step):
        moved = gradient(args[0] + s, args[1]) - gradient(args[0] - s, args[1])
        np.testing.assert_allclose(found[..., k], moved / 2e-6, atol=1e-8)


def iterated(x):
    for _ in range(3):
        x = x * np.sin(x)
    return x


def test_the_second_derivative_of_a_number_is_all_that_is_computed():
    second = srcjax.hessian(iterated)
    text = str(srcjax.source(second, 0.7))
    assert text.count("def ") == 1 and "[1]" not in text, text
    first = srcjax.grad(iterated)
    moved = (first(0.7 + 1e-5) - first(0.7 - 1e-5)) / 2e-5
    np.testing.assert_allclose(second(0.7), moved, rtol=1e-8)


def test_text_without_examples():
    """Helpers look at the structure; the values are the same."""
    for make in (jacfwd, jacrev):
        text = str(srcjax.source(make(of_tree), general=True))
        space = {}
        exec(text, space)
        (args,) = (a() for f, a in CASES if f is of_tree)
        got = space[f"{make.__name__}_of_tree"](*args)
        assert_same(got, make(of_tree)(*args))


# -- in one batch, or one by one -------------------------------------------------------


def without_batch_rule(x):
    return np.polydiv(x, np.array([1.0, 2.0]))[0] * x[0]


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_loop_where_there_is_no_batch(make):
    """It says nothing: nobody asked for a batch. (Warnings are errors in tests.)"""
    x = np.array([1.0, -0.5, 2.0, 0.3])
    with pytest.warns(srcjax.PerformanceWarning):
        srcjax.vmap(without_batch_rule)(np.stack([x, x]))
    assert " for " in str(srcjax.source(make(without_batch_rule), x))
    got = make(without_batch_rule)(x)
    for k, e in enumerate(np.eye(4)):
        column = jvp(without_batch_rule, (x,), (e,))[1]
        np.testing.assert_allclose(got[:, k], column, rtol=1e-12)


@pytest.mark.parametrize("make", [jacfwd, jacrev])
def test_arrays_of_several_ranks_and_dtypes(make):
    def f(a, b, c, d):
        return {"y": np.outer(a[0], b) * c * d, "z": np.sum(a) * b}

    a = rng().standard_normal((2, 3)).astype(np.float32)
    args = a, np.array([0.5, 2.0], np.float32), 1.5, np.array(0.7, np.float32)
    got = make(f, argnums=(0, 1, 2, 3))(*args)

    def in_jnp(a, b, c, d):
        return {"y": jnp.outer(a[0], b) * c * d, "z": jnp.sum(a) * b}

    wide = [np.asarray(v, np.float64) for v in args]
    want = getattr(jax, make.__name__)(in_jnp, argnums=(0, 1, 2, 3))(*wide)
    first, second = optree.tree_leaves(got), optree.tree_leaves(want)
    for u, v in zip(first, second, strict=True):
        assert np.shape(u) == np.shape(v)
        np.testing.assert_allclose(u, v, rtol=1e-5)
    assert {u.dtype for u in first} == {np.dtype(np.float32)}


@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "hessian"])
def test_holomorphic(name):
    def f(z):
        return np.exp(z) * z[::-1] * z[0]

    def in_jnp(z):
        return jnp.exp(z) * z[::-1] * z[0]

    z = np.array([1 + 2j, 0.5 - 1j, 0.3j])
    got = getattr(srcjax, name)(f, holomorphic=True)(z)
    assert_same(got, getattr(jax, name)(in_jnp, holomorphic=True)(z))
    with pytest.raises(srcjax.errors.ArgumentError, match="complex"):
        getattr(srcjax, name)(f, holomorphic=True)(z.real)


# -- products ------------------------------------------------------------------------


def test_hvp():
    x, v = rng().standard_normal((2, 2, 2))
    want = np.tensordot(hessian(matrix_to_scalar)(x), v, 2)
    np.testing.assert_allclose(hvp(matrix_to_scalar, (x,), (v,)), want)


def test_hvp_of_several():
    def f(x, y):
        return x**2 * np.sum(y**2)

    y = np.array([1.0, 2.0])
    dx, dy = hvp(f, (3.0, y), (1.0, None))
    assert dx == pytest.approx(2 * 5.0)
    np.testing.assert_allclose(dy, 12.0 * y)


# -- inside of other transforms ------------------------------------------------------


def trace_of_hessian(x):
    return np.trace(hessian(vector_to_scalar)(x))


def det_of_jacobian(x):
    return np.linalg.det(jacfwd(vector_to_vector)(x))


def rows_of_jacobian(x):
    return np.sum(jacrev(vector_to_vector)(x) ** 2)


def scaled(x):
    def inner(y):
        return np.sin(y) * x

    return np.sum(jacfwd(inner)(x) * jacrev(inner)(2 * x))


def with_product(x):
    return np.sum(hvp(vector_to_scalar, (x,), (np.sin(x),)))


JAX = {
    "trace_of_hessian": lambda x: jnp.trace(jax.hessian(in_jax(vector_to_scalar))(x)),
    "det_of_jacobian": lambda x: jnp.linalg.det(
        jax.jacfwd(in_jax(vector_to_vector))(x)
    ),
    "rows_of_jacobian": lambda x: jnp.sum(jax.jacrev(in_jax(vector_to_vector))(x) ** 2),
    "with_product": lambda x: jnp.sum(
        jax.jvp(jax.grad(in_jax(vector_to_scalar)), (x,), (jnp.sin(x),))[1]
    ),
}


def scaled_in_jax(x):
    def inner(y):
        return jnp.sin(y) * x

    return jnp.sum(jax.jacfwd(inner)(x) * jax.jacrev(inner)(2 * x))


JAX["scaled"] = scaled_in_jax


@pytest.mark.parametrize(
    "f",
    [trace_of_hessian, det_of_jacobian, rows_of_jacobian, scaled, with_product],
    ids=lambda f: f.__name__,
)
def test_inside(f):
    x = np.array([0.4, -0.9, 1.3])
    v = np.array([1.0, 0.5, -2.0])
    want = jax.grad(JAX[f.__name__])(x)
    np.testing.assert_allclose(f(x), JAX[f.__name__](x), rtol=1e-10)
    np.testing.assert_allclose(grad(f)(x), want, rtol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], want @ v, rtol=1e-9)


def numbers_of_a_number(x, n):
    return np.array([n * x, x**n, np.sin(x)])


def filled_with_a_number(x, v):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x * v[i]
    return out


def identity(x):
    return x


def with_keyword(x, *, k=2):
    return k * x**3


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (numbers_of_a_number, (0.7, 3)),
        (filled_with_a_number, (0.7, np.arange(3.0))),
        (identity, (0.7,)),
        (with_keyword, (0.7,)),
        (iterated, (np.float32(0.7),)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_the_derivative_along_a_number_is_one_function(f, args):
    text = str(srcjax.source(jacfwd(f), *args))
    assert text.count("def ") == 1 and "x_dot = 1.0\n    return" not in text, text
    found, step = jacfwd(f)(*args), 1e-6
    x, *rest = float(args[0]), *args[1:]
    moved = (f(x + step, *rest) - f(x - step, *rest)) / (2 * step)
    np.testing.assert_allclose(found, moved, rtol=1e-5)
    assert np.asarray(found).dtype.kind == "f"


def centred_on_a_number(mu):
    return np.sum(np.tanh(np.linspace(-1.0, 1.0, 4) - mu))


def centred_on_a_row(mu):
    diff = np.linspace(-1.0, 1.0, 6).reshape(3, 2) - mu
    return np.sum(diff.T @ diff @ np.array([1.0, 2.0])) + np.sum(np.sin(diff))


def filled_where_it_is_spread(mu):
    diff = np.ones((3, 2)) - mu
    diff[0] = diff[1] * mu
    return np.sum(diff**3)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (centred_on_a_number, 0.3),
        (centred_on_a_row, np.array([0.3, -0.2])),
        (filled_where_it_is_spread, np.array([0.3, -0.2])),
        (filled_where_it_is_spread, np.float32([0.3, -0.2])),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_tangents_are_spread_in_words_of_numpy(f, x):
    """Nothing of srcjax's is called, and all columns are computed at once."""
    text = str(srcjax.source(hessian(f), x))
    assert "runtime" not in text and "for mu_dot in" not in text, text
    gradient, found = srcjax.grad(f), hessian(f)(x)
    x = np.asarray(x, float)
    step = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    moved = [(gradient(x + s) - gradient(x - s)) / 2e-6 for s in step]
    want = np.stack(moved, -1).reshape(np.shape(found))
    np.testing.assert_allclose(found, want, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
def test_twice(outer, inner):
    x = np.array([0.4, -0.9])
    f = vector_to_vector
    got = getattr(srcjax, outer)(getattr(srcjax, inner)(f))(x)
    want = getattr(jax, outer)(getattr(jax, inner)(in_jax(f)))(x)
    assert_same(got, want)


def test_third_derivatives():
    x = np.array([0.4, -0.9])
    want = jax.jacfwd(jax.hessian(in_jax(vector_to_scalar)))(x)
    assert_same(jacfwd(hessian(vector_to_scalar))(x), want)
    assert_same(jacrev(hessian(vector_to_scalar))(x), want)
    assert_same(hessian(jacrev(vector_to_scalar))(x), want)
