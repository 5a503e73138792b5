"""What JAX's programs call beside the transforms."""

import numpy as np
import pytest

import srcjax
from srcjax import ShapeDtypeStruct, debug, named_scope, random
from srcjax.errors import ArgumentError, PerformanceWarning
from tests.corpus.harness import assert_close

X = np.array([0.3, 1.2])
BATCH = np.stack([X, X[::-1] * 2])


def test_what_with_enters_is_entered_where_its_body_is_not_needed():
    entered = []

    class Counted:
        def __enter__(self):
            entered.append("in")

        def __exit__(self, *error):
            entered.append("out")

    def f(x):
        y = np.sin(x)
        with Counted():
            y = y * y
        return y.sum()

    assert_close(srcjax.grad(f)(X), np.sin(2 * X))
    assert entered == ["in", "out"]


def test_scopes_are_labels():
    @srcjax.named_call
    @named_scope("square")
    def squared(y):
        return y * y

    def f(x):
        with named_scope("outer"), srcjax.ensure_compile_time_eval():
            y = np.sin(x)
            with named_scope("inner"):
                y = squared(y)
        return y.sum()

    expected = np.sin(2 * X)
    assert_close(srcjax.grad(f)(X), expected)
    assert 'with named_scope("inner"):' in srcjax.source(srcjax.grad(f), X)
    assert_close(srcjax.vmap(srcjax.grad(f))(BATCH), np.sin(2 * BATCH))
    assert_close(srcjax.jit(f)(X), f(X))
    with pytest.raises(TypeError, match="needs a string"):
        named_scope(3)


def test_print(capsys):
    def f(x):
        y = 2.0 * x
        debug.print("y is {y}, not {:.1f}", 3.14159, y=y)
        return (y * y).sum()

    line = f"y is {2.0 * X}, not 3.1\n"
    assert_close(srcjax.grad(f)(X), 8 * X)
    assert capsys.readouterr().out == line
    text = srcjax.source(srcjax.grad(f), X)
    assert 'print("y is {y}, not {:.1f}".format(3.14159, y=y))' in text
    srcjax.jvp(f, (X,), (X,))
    srcjax.jit(f)(X)
    assert capsys.readouterr().out == 2 * line
    with pytest.warns(PerformanceWarning, match="makes text of a mapped value"):
        srcjax.vmap(f)(BATCH)
    assert capsys.readouterr().out == "".join(
        f"y is {2.0 * x}, not 3.1\n" for x in BATCH
    )


SEEN = []


def look(y, name):
    SEEN.append((name, float(str(y[0])), y.copy()))


def called_back(x):
    y = np.sin(x)
    debug.callback(look, y, name="y")
    return (y * y).sum()


def test_callbacks_see_values():
    SEEN.clear()
    assert_close(srcjax.grad(called_back)(X), np.sin(2 * X))
    assert_close(srcjax.jit(called_back)(X), np.sum(np.sin(X) ** 2))
    assert [name for name, *_ in SEEN] == ["y", "y"]
    assert_close(SEEN[0][2], np.sin(X))
    SEEN.clear()
    with pytest.warns(PerformanceWarning, match="callback"):
        srcjax.vmap(called_back)(BATCH)
    assert_close(np.array([y for _, _, y in SEEN]), np.sin(BATCH))


def test_shapes():
    def f(x, p, n=2):
        y = np.dot(x, p["w"]) + p["b"]
        return {"y": np.tanh(y), "more": (y.sum(), [x.shape[0], 2.0 * n])}

    p = {"w": ShapeDtypeStruct((4, 2), np.float32), "b": np.ones(2, np.float32)}
    found = srcjax.eval_shape(f, ShapeDtypeStruct((3, 4), "float32"), p)
    assert found == {
        "y": ShapeDtypeStruct((3, 2), np.float32),
        "more": (
            ShapeDtypeStruct((), np.float32),
            [ShapeDtypeStruct((), int), ShapeDtypeStruct((), float)],
        ),
    }
    assert repr(found["y"]) == "ShapeDtypeStruct(shape=(3, 2), dtype=float32)"
    assert (found["y"].ndim, found["y"].size, len(found["y"])) == (2, 6, 3)
    key = random.key(0)
    drawn = srcjax.eval_shape(lambda k: random.normal(k, (5,)), key)
    assert drawn == ShapeDtypeStruct((5,), np.float32)
    square = ShapeDtypeStruct((3,), float)
    assert srcjax.eval_shape(srcjax.grad(lambda x: (x**2).sum()), square) == square
    # What is not known beforehand, and is the same for all values.
    assert srcjax.eval_shape(lambda x: np.fromiter(x, float), square) == square
    with pytest.raises(ArgumentError, match="depends on values"):
        srcjax.eval_shape(lambda x: x[x > 0.5], square)


def test_linear_transpose():
    def f(x, y):
        return 2.0 * x + np.cumsum(y["a"])

    given = ShapeDtypeStruct((2,), float), {"a": ShapeDtypeStruct((2,), float)}
    dx, dy = srcjax.linear_transpose(f, *given)(X)
    assert_close(dx, 2 * X)
    assert_close(dy["a"], np.cumsum(X[::-1])[::-1])
    with pytest.raises(ArgumentError, match="<lambda> is not linear"):
        srcjax.linear_transpose(lambda x: x * x, X)
    with pytest.raises(ArgumentError, match="is not linear"):
        srcjax.linear_transpose(lambda x: x + 1, X)

    def inside(x):
        return srcjax.linear_transpose(lambda v: 3 * v[::-1], x)(x * x)[0].sum()

    assert_close(srcjax.grad(inside)(X), 6 * X)


@srcjax.custom_gradient
def scaled(x, y):
    def pullback(g):
        return 7 * g * y, g * x

    return np.sin(x) * y, pullback


@srcjax.custom_gradient
def softplus(x):
    e = np.exp(x)
    return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def with_own_gradients(x):
    return scaled(2 * softplus(x), x).sum()


def test_custom_gradient():
    value = np.log1p(np.exp(X))
    assert_close(with_own_gradients(X), np.sum(np.sin(2 * value) * X))

    def expected(x):
        return 14 * x / (1 + np.exp(-x)) + 2 * np.log1p(np.exp(x))

    assert_close(srcjax.grad(with_own_gradients)(X), expected(X))
    assert_close(srcjax.vmap(srcjax.grad(with_own_gradients))(BATCH), expected(BATCH))


def test_custom_vjp_with_arguments_that_are_not_differentiated():
    def clipped(f, x, low):
        return f(np.maximum(x, low))

    rule = srcjax.custom_vjp(clipped, nondiff_argnums=(0, 2))
    rule.defvjp(
        lambda f, x, low: (clipped(f, x, low), x),
        lambda f, low, x, dy: (dy * f(x) * low,),
    )

    def h(x):
        return rule(np.tanh, np.sin(x), 0.5).sum()

    assert_close(srcjax.grad(h)(X), np.tanh(np.sin(X)) * 0.5 * np.cos(X))


def test_callbacks_that_are_pure():
    def sorted_squares(x):
        return np.sort(x) ** 2

    def f(x):
        shape = ShapeDtypeStruct(x.shape, x.dtype)
        return srcjax.pure_callback(sorted_squares, shape, x)[0]

    assert_close(srcjax.grad(f)(X), np.array([2 * X[0], 0.0]))
    assert "ShapeDtypeStruct" not in srcjax.source(srcjax.grad(f), X)
    assert_close(srcjax.vmap(f)(BATCH), BATCH.min(axis=1) ** 2)


def test_other_names():
    @srcjax.remat(policy=None, prevent_cse=False)
    def f(x):
        return np.sin(np.sin(x))

    assert srcjax.remat is srcjax.checkpoint
    assert_close(
        srcjax.jacobian(f)(X), np.diag(np.cos(np.sin(X)) * np.cos(X)), rtol=1e-12
    )


def test_lowered_and_compiled():
    @srcjax.jit
    def f(x, p):
        return {"y": x * p["a"] + 1}

    p = {"a": ShapeDtypeStruct((), float)}
    lowered = f.lower(ShapeDtypeStruct((2,), float), p)
    assert "def jit_f(x, p):" in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.as_text() == lowered.as_text()
    assert_close(compiled(X, {"a": np.float64(2.0)})["y"], 2 * X + 1)
    with pytest.raises(ArgumentError, match="compiled for"):
        compiled(np.ones(3), {"a": np.float64(2.0)})
