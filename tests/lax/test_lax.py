"""`srcjax.lax`: JAX's values and gradients, under each transform, as readable loops."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import lax
from tests.corpus.harness import assert_close, differences

W = 0.5 * np.eye(3) + 0.1
XS = 0.1 * np.arange(12.0).reshape(4, 3)


def polynomial(x):
    return lax.fori_loop(0, 5, lambda i, v: v * x + i, x)


def until(x):
    return lax.while_loop(
        lambda c: c[0] < 10, lambda c: (c[0] * x, c[1] + c[0]), (x, 1.0)
    )[1]


def either(x):
    return lax.cond(x > 1, lambda v: v**2, lambda v: np.sin(v), x)


def one_of(x):
    branches = [lambda v: v**2, np.sin, lambda v: 3 * v]
    below, inside = lax.switch(-3, branches, x), lax.switch(1, branches, x)
    return below + inside + lax.switch(7, branches, x)


def recurrent(W):
    def step(h, x):
        h = np.tanh(W @ h + x)
        return h, h.sum()

    h, ys = lax.scan(step, np.zeros(3), XS)
    return np.sum(h**2) + np.sum(ys * np.arange(4))


def with_containers(W):
    def step(carry, x):
        h, count = carry
        a, b = x["a"], x["b"][0]
        h = np.tanh(W @ h + a * b)
        return (h, count + 1), (h, (2 * h,))

    xs = {"a": XS, "b": (XS + 1, XS)}
    (h, count), (ys, zs) = lax.scan(step, (np.zeros(3), 0), xs, reverse=True)
    return np.sum(h**2) * count + np.sum(ys * zs[0] * XS)


def of_dicts(W):
    def step(carry, x):
        h = np.tanh(W @ carry["h"] + x)
        return {"h": h, "total": carry["total"] + h}, {"h": h, "sum": (h.sum(),)}

    last, ys = lax.scan(step, {"h": np.zeros(3), "total": np.ones(3)}, XS)
    return np.sum(last["total"] ** 2) + np.sum(ys["h"] * XS) + np.sum(ys["sum"][0] ** 2)


def chosen_in_a_loop(x):
    for k in range(3):
        x = lax.switch(k, [lambda v: v**2, lambda v, w=x: np.sin(v) * w, np.cos], x)
    return x


def without_items(W):
    h, none = lax.scan(lambda h, _: (np.tanh(W @ h), None), XS[3], length=3)
    assert none is None
    return np.sum(h)


def mapped(w):
    return np.sum(lax.map(lambda x: np.tanh(x * w), XS))


def products(x):
    ahead = lax.associative_scan(np.multiply, x)
    back = lax.associative_scan(lambda a, b: a + b, x[:, None], reverse=True)
    along = lax.associative_scan(np.add, np.stack([x, x**2]), axis=1)
    return np.sum(ahead**2) + np.sum(back[:, 0] * x) + np.sum(along**2)


def parts(x):
    part = lax.dynamic_slice(x, (4,), (3,))
    wider = lax.dynamic_update_slice(x**2, part, (-9,))
    first = lax.dynamic_index_in_dim(x, 1, keepdims=False)
    return np.sum(lax.select(x > 0.7, wider, x)) + part[0] * first


X = np.linspace(0.5, 1.5, 5)
CASES = [
    (polynomial, 1.5),
    (until, 1.5),
    (either, 1.5),
    (one_of, 0.7),
    (recurrent, W),
    (with_containers, W),
    (of_dicts, W),
    (chosen_in_a_loop, 0.7),
    (without_items, W),
    (mapped, 2.0),
    (products, X),
    (parts, X),
]
every_case = pytest.mark.parametrize(
    "f, x", CASES, ids=lambda c: getattr(c, "__name__", "")
)


@every_case
def test_gradients(f, x):
    expected = differences(f, (x,), (0,))[0]
    assert_close(srcjax.grad(f)(x), expected)
    direction = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    direction = direction if np.ndim(x) else float(direction)
    y, dy = srcjax.jvp(f, (x,), (direction,))
    assert_close(y, f(x))
    assert_close(dy, np.sum(expected * direction))


@every_case
def test_batches(f, x):
    if f in (with_containers, of_dicts, chosen_in_a_loop):
        pytest.skip("runs in a loop over the examples, and says so")
    batch = np.stack([x, 0.9 * np.asarray(x)])
    assert_close(srcjax.vmap(f)(batch), np.array([f(each) for each in batch]))


@pytest.mark.parametrize("f, x", [CASES[0], (mapped, 2.0)])
def test_second_order_and_kernels(f, x):
    def along(v):
        return np.sum(srcjax.grad(f)(v) * np.cos(v))

    direction = np.ones_like(x) if np.ndim(x) else 1.0
    _, found = srcjax.jvp(along, (x,), (direction,))
    assert_close(found, np.sum(differences(along, (x,), (0,))[0]), rtol=1e-4)
    assert_close(srcjax.jit(srcjax.grad(f))(x), srcjax.grad(f)(x))


def test_a_scan_is_the_loop_that_it_is():
    def loss(W, xs):
        h, ys = lax.scan(lambda h, x: (np.tanh(W @ h + x), h.sum()), xs[0], xs)
        return np.sum(h**2) + np.sum(ys)

    text = srcjax.source(srcjax.grad(loss), W, XS)
    assert "for x in xs:" in text and "in reversed(tape):" in text
    code = [line for line in text.splitlines() if "#" not in line]
    assert "scan(" not in "".join(code) and "unbroadcast" not in text


def test_what_a_loop_carries_is_named_by_itself():
    def loss(W):
        def step(carry, x):
            h, c = carry
            h = np.tanh(W @ h + x)
            return (h, c + h), h.sum()

        (h, c), ys = lax.scan(step, (np.zeros(3), np.zeros(3)), XS)
        return np.sum(h * c) + np.sum(ys)

    for transform in (srcjax.grad, srcjax.vmap):
        given = W if transform is srcjax.grad else np.stack([W, W])
        code = srcjax.source(transform(loss), given)
        assert "carry =" not in code and "for x in XS:" in code
        assert re.search(r" h\d? = np.tanh", code) and "scan" not in code


def test_values_are_those_of_jax():
    def step(carry, x):
        carry = carry * 0.9 + x
        return carry, (carry, x - carry)

    for reverse in (False, True):
        ours = lax.scan(step, np.zeros(3), XS, reverse=reverse)
        theirs = jax.lax.scan(step, jnp.zeros(3), jnp.asarray(XS), reverse=reverse)
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
    for i in (-3, 0, 1, 2, 5):
        branches = [lambda v: v, lambda v: v * 2, lambda v: v * 3]
        assert lax.switch(i, branches, 1.5) == jax.lax.switch(i, branches, 1.5)
    grid = np.arange(12).reshape(3, 4)
    for starts in [(0, 0), (2, 3), (-1, -2), (7, 1)]:
        np.testing.assert_array_equal(
            lax.dynamic_slice(grid, starts, (2, 2)),
            jax.lax.dynamic_slice(grid, starts, (2, 2)),
        )
        np.testing.assert_array_equal(
            lax.dynamic_update_slice(grid, -grid[:2, :3], starts),
            jax.lax.dynamic_update_slice(grid, -grid[:2, :3], starts),
        )
    for i in (-1, 0, 2, 9):
        np.testing.assert_array_equal(
            lax.dynamic_index_in_dim(grid, i, 1),
            jax.lax.dynamic_index_in_dim(grid, i, 1),
        )


def test_what_does_not_fit_is_refused():
    def step(carry, x):
        return carry, x

    with pytest.raises(ValueError, match="3 steps along 4 items"):
        lax.scan(step, 0.0, XS, length=3)
    with pytest.raises(ValueError, match=r"lengths \[4, 2\]"):
        lax.scan(step, 0.0, (XS, XS[:2]))
    with pytest.raises(TypeError, match="not along a float"):
        lax.scan(step, 0.0, 1.0)
    with pytest.raises(ValueError, match="a part of length 5"):
        lax.dynamic_slice(XS, (0, 0), (5, 1))


def test_what_carries_no_derivative_is_exported(tmp_path):
    def f(x):
        i = lax.dynamic_slice(np.arange(5), (1,), (2,))
        return np.sum(x[i] ** 2)

    path = tmp_path / "grad_f.py"
    srcjax.export(srcjax.grad(f), path, np.ones(4))
    assert "srcjax" not in path.read_text().split('"""')[2]
    scope: dict = {}
    exec(path.read_text(), scope)
    assert_close(scope["grad_f"](np.ones(4)), np.array([0.0, 2.0, 2.0, 0.0]))


def test_a_map_in_batches():
    """Three at a time, and one that is left over."""

    def mapped(xs):
        return lax.map(lambda x: (x @ x, {"s": np.sin(x)}), xs, batch_size=3)

    squares, waves = mapped(XS)
    assert_close(squares, (XS**2).sum(axis=1))
    assert_close(waves["s"], np.sin(XS))
    assert_close(srcjax.grad(lambda xs: np.sum(mapped(xs)[0]))(XS), 2 * XS)


def test_operands_in_other_ways():
    """One by name, as older programs have it, and each branch its own."""

    def by_name(x):
        return lax.cond(x > 1, lambda _: 2 * x, lambda _: 3 * x, operand=None)

    def each_its_own(x):
        return lax.cond(x > 1, x**2, lambda a: 2 * a, x, lambda a: a + 1)

    def switched(x):
        i = int(x > 1)
        return lax.switch(i, [lambda a: a * x, lambda a: a + x], operand=x)

    for f, slopes in (by_name, [2, 3]), (each_its_own, [8, 1]), (switched, [2, 1]):
        assert [srcjax.grad(f)(x) for x in (2.0, 0.5)] == slopes
        assert_close(f(2.0), srcjax.jit(f)(2.0))
    assert "operands" not in srcjax.source(srcjax.grad(by_name), 2.0)
    assert "cond" in str(srcjax.make_jaxpr(by_name)(2.0))


def test_precisions_are_taken():
    product = srcjax.numpy.vdot(XS[0], XS[1], precision=lax.Precision.HIGHEST)
    assert product == np.vdot(XS[0], XS[1])
