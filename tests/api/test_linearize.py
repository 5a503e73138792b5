"""`linearize`: the linear map reads values that were kept, and agrees with `jvp`."""

import numpy as np
import pytest

import srcjax
from srcjax import jvp, linearize

X = np.array([0.3, -0.8, 1.4])


def layer(x, W, b):
    h = np.tanh(x @ W + b)
    return h * np.sum(h)


def looped(x):
    for _ in range(5):
        x = np.sin(x) * x
    return x


def until(x):
    while np.sum(x * x) < 10:
        if x[0] > 1:
            x = x * x
            continue
        x = x + np.exp(x)
    return x


def in_place(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return {"y": y, "sum": np.sum(y)}


def powers(x, n=3):
    return x if n == 0 else np.sin(powers(x, n - 1)) * x


CASES = [
    (layer, (X, np.arange(6.0).reshape(3, 2) / 7, np.array([0.1, 0.2]))),
    (looped, (0.7,)),
    (until, (X,)),
    (in_place, (X,)),
    (powers, (0.7,)),
    (np.sin, (X,)),
    (lambda z: z * np.abs(z), (X + 1j * X[::-1],)),
]


@pytest.mark.parametrize("f, primals", CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_against_jvp(f, primals):
    y, f_jvp = linearize(f, *primals)
    for k in (1.0, 2.0):  # what was kept is not used up
        tangents = tuple(k * np.cos(p) for p in primals)
        value, moved = jvp(f, primals, tangents)
        np.testing.assert_equal(y, value)
        got = f_jvp(*tangents)
        for a, b in zip(leaves(got), leaves(moved), strict=True):
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b, rtol=1e-12)


def leaves(value):
    return list(value.values()) if isinstance(value, dict) else [value]


def test_the_map_computes_no_value_again():
    _, f_jvp = linearize(looped, 0.7)
    text = srcjax.source(f_jvp)
    start = text.index("def looped_linear")
    assert "np." not in text[start : text.index("def linearize_looped")]
    assert "x_dot = x_dot * total_tape.pop()" in text


def branched(x):
    y = x
    if x > 0.5:
        y = np.sin(y) * y
    return y * x


def by_key(x):
    parts = {"a": np.sin(x), "b": x * x}
    return sum(parts[k] * x for k in parts)


@pytest.mark.parametrize("f", [branched, by_key])
def test_values_of_branches_and_dicts_are_kept(f):
    text = str(srcjax.source(linearize(f, 0.7)[1]))
    assert "_linear(" in text and text.count("np.sin(") == 1


def stacked(x, z):
    y = np.hstack([x, z])
    return y @ y


def test_the_variable_of_a_comprehension_is_not_kept():
    """The adjoint of `hstack` has a comprehension beside a loop of the same name."""
    _, f_jvp = linearize(stacked, X, 2.0)
    np.testing.assert_allclose(f_jvp(X, 1.0), 2 * X @ X + 4.0)


def test_text():
    _, f_jvp = linearize(layer, *CASES[0][1])
    assert """
def layer_linear(residuals, x_dot, W_dot, b_dot):
    x, W, h, sum_h, difference = residuals
    h_dot = (b_dot + x @ W_dot + W.T @ x_dot) * difference
    return h_dot.sum() * h + h_dot * sum_h


def linearize_layer(x, W, b):
    \"\"\"Value of layer, and what its linear map reads.

    For x: (n,), W: (n, m), b: (m,).
    \"\"\"
    if x.ndim != 1 or W.ndim != 2 or len(W) != len(x) or b.shape != W.shape[1:]:
        raise ValueError("linearize_layer is for x: (n,), W: (n, m), b: (m,)")
    y, saved = layer_forward(x, W, b)
    return y, layer_residuals(saved)
""" in srcjax.source(f_jvp)


def test_some_primals_are_constant():
    def f(x, n, y):
        return x**n * y

    y, f_jvp = linearize(f, X, 2, 3.0)
    np.testing.assert_allclose(y, 3 * X**2)
    np.testing.assert_allclose(f_jvp(X, None, None), 6 * X**2)
    np.testing.assert_allclose(f_jvp(None, None, 1.0), X**2)
    with pytest.raises(srcjax.errors.ArgumentError, match="shape"):
        f_jvp(X[:2], None, None)


def test_integers_stand_for_reals():
    y, f_jvp = linearize(lambda n: n**3, 2)
    assert (y, f_jvp(1.0)) == (8, 12.0)


def test_where_the_map_cannot_be_written():
    """The tangent of a count is zero, but it has no adjoint: `jvp` is called."""

    def f(x):
        return np.sin(x), len(x)

    y, f_jvp = linearize(f, X)
    np.testing.assert_equal(y, f(X))
    np.testing.assert_equal(f_jvp(X), jvp(f, (X,), (X,))[1])
    with pytest.raises(srcjax.errors.ArgumentError):
        srcjax.source(f_jvp)


def test_it_can_be_transformed():
    _, f_jvp = linearize(looped, 0.7)
    got = srcjax.vmap(f_jvp)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(got, [f_jvp(1.0), f_jvp(2.0)])
    assert srcjax.grad(f_jvp)(1.0) == pytest.approx(f_jvp(1.0))


def transposed_view(matrix):
    a = matrix.copy()
    t = a.T
    t[0] = 1.0
    t[1] *= t[2]
    return np.sum(a**3)


def of_items(params):
    total = 0.0
    for name, value in params.items():
        total = total * value if name == "b" else total + value**2
    return total


def windows(x):
    rows = np.stack([x[i : i + 3] for i in range(3)])
    return np.einsum("ij,j->i", rows, np.array([0.25, 0.5, 0.25]))


def rows_of_views(matrix):
    a = matrix * 1.0
    rows = [a[0], a[1]]
    total = 0.0
    for row in rows:
        total = total + np.sum(row**2 * a[2])
        row[1:] *= row[0]
    return total + np.sum(a**3)


@pytest.mark.parametrize(
    "f, x",
    [
        (rows_of_views, np.arange(1.0, 13.0).reshape(3, 4)),
        (transposed_view, np.arange(1.0, 13.0).reshape(3, 4)),
        (of_items, {"a": 0.4, "b": 1.4, "c": 2.4}),
        (windows, np.arange(1.0, 6.0)),
    ],
)
def test_what_is_kept_is_not_written_to(f, x):
    """Views of what is kept, dicts, lists that grow: values are computed anew."""
    x_dot = {k: v * 2 for k, v in x.items()} if isinstance(x, dict) else np.cos(x)
    _, f_jvp = linearize(f, x)
    for _ in range(2):
        np.testing.assert_allclose(f_jvp(x_dot), jvp(f, (x,), (x_dot,))[1])


def test_the_arguments_are_not_written_to_where_values_are_computed_anew():
    def changes_its_argument(x):
        x[0] = x[1] * x[2]
        x *= 2
        return x @ x

    x, x_dot = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.2, -0.5])
    expected = jvp(changes_its_argument, (x,), (x_dot,))
    y, f_jvp = linearize(changes_its_argument, x)
    np.testing.assert_equal(x, [1.0, 2.0, 3.0])
    x[:] = 0.0  # and it is at the arguments as they were
    assert (y, f_jvp(x_dot)) == pytest.approx(expected)
