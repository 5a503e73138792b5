"""`vmap` of transformed functions where loops end at a time of their own for each.

The tapes of `grad(f)` have a length for each example; the gradient of the batch has one
entry for all examples that take an iteration. The examples of a batch of batches are
those of one batch. Warnings are errors: nothing here runs in a loop over the examples.
"""

import numpy as np
import optree
import pytest

import srcjax


def root(a):
    x = 1.0
    while abs(x * x - a) > 1e-10:
        x = x - (x * x - a) / (2 * x)
    return x


def damped(p, limit):
    total = 0.0
    for i in range(8):
        total = total + np.exp(-p["rate"] * i) * np.sum(p["weights"])
        if total > limit:
            break
        total = total * p["rate"]
    return total**2


XS = np.array([2.0, 3.0, 400.0])


def test_while():
    slopes = srcjax.vmap(srcjax.grad(root))
    np.testing.assert_allclose(slopes(XS), 0.5 / np.sqrt(XS))
    np.testing.assert_allclose(slopes(XS[:1]), 0.5 / np.sqrt(XS[:1]))
    text = srcjax.source(slopes, XS)
    assert text.count("def ") == 1 and "def vmap_grad_root(a):" in text


def test_second_order():
    second = srcjax.vmap(srcjax.grad(srcjax.grad(root)))(XS)
    np.testing.assert_allclose(second, -0.25 * XS**-1.5, rtol=1e-6)


def test_break_and_containers():
    rng = np.random.default_rng(0)
    batch = {"rate": rng.uniform(0.2, 0.9, 4), "weights": rng.uniform(0.5, 1, (4, 3))}
    gradient = srcjax.grad(damped)
    found = srcjax.vmap(gradient, in_axes=(0, None))(batch, 1.5)
    for k in range(4):
        alone = gradient({name: value[k] for name, value in batch.items()}, 1.5)
        np.testing.assert_allclose(found["rate"][k], alone["rate"])
        np.testing.assert_allclose(found["weights"][k], alone["weights"])


def test_one_argument_of_two():
    def f(scale, a):
        return scale * root(a) ** 3

    scales = np.array([1.0, -2.0, 0.5])
    found = srcjax.vmap(srcjax.grad(f, argnums=1))(scales, XS)
    np.testing.assert_allclose(found, scales * 1.5 * np.sqrt(XS))


def with_aux(p, a):
    y = root(a * p["w"])
    return y * np.sum(p["b"]), {"root": y}


@pytest.mark.parametrize("has_aux", [False, True])
@pytest.mark.parametrize("make", [srcjax.grad, srcjax.value_and_grad])
def test_an_argument_that_is_not_mapped_has_a_gradient_for_each_example(make, has_aux):
    """As many numbers in it as examples."""
    given = {"w": 1.5, "b": np.array([2.0, 0.5, 1.0])}

    def value(p, a):
        return with_aux(p, a)[0]

    gradient = make(with_aux, has_aux=True) if has_aux else make(value)
    found = srcjax.vmap(gradient, in_axes=(None, 0))(given, XS)
    each = [gradient(given, a) for a in XS]
    assert optree.tree_structure(found) == optree.tree_structure(each[0])
    stacked = optree.tree_map(lambda *parts: np.stack(parts), *each)
    optree.tree_map(np.testing.assert_allclose, found, stacked)


def test_examples_along_another_axis():
    def f(x, a):
        return np.sum(x * x) * root(a)

    x = np.cos(np.arange(9.0)).reshape(3, 3)
    found = srcjax.vmap(srcjax.value_and_grad(f), in_axes=(1, 0))(x, XS)
    np.testing.assert_allclose(found[0], np.sum(x * x, axis=0) * np.sqrt(XS))
    np.testing.assert_allclose(found[1], (2 * x * np.sqrt(XS)).T)


@pytest.mark.parametrize("outer", [0, 1, -1])
def test_batches_of_batches(outer):
    x = np.stack([XS, XS[::-1] * 2, XS + 1])
    twice = srcjax.vmap(srcjax.vmap(root), in_axes=outer)
    np.testing.assert_allclose(twice(x), np.sqrt(x if outer == 0 else x.T))
    twice = srcjax.vmap(srcjax.vmap(srcjax.grad(root)), in_axes=outer)
    np.testing.assert_allclose(twice(x), 0.5 / np.sqrt(x if outer == 0 else x.T))


def test_batches_that_share_arguments():
    def f(scale, a):
        return {"value": scale * root(a), "root": [root(a)]}

    scales = np.array([1.0, -2.0, 0.5])
    found = srcjax.vmap(srcjax.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(
        scales, XS
    )
    np.testing.assert_allclose(found["value"], np.outer(scales, np.sqrt(XS)))
    np.testing.assert_allclose(found["root"][0], np.tile(np.sqrt(XS), (3, 1)))
    found = srcjax.vmap(srcjax.vmap(f, in_axes=(0, None)))(scales * np.eye(3), XS)
    np.testing.assert_allclose(
        found["value"], scales * np.eye(3) * np.sqrt(XS)[:, None]
    )


def test_gradient_of_batches_of_batches():
    def total(x):
        return np.sum(srcjax.vmap(srcjax.vmap(root))(x))

    x = np.stack([XS, XS[::-1] * 2])
    np.testing.assert_allclose(srcjax.grad(total)(x), 0.5 / np.sqrt(x))


def until_large(p, limit):
    total = 0.0
    for i in range(8):
        total = total + np.exp(-p["rate"] * i) * np.sum(p["weights"])
        if total > limit - p["rate"]:
            break
        total = total * p["rate"]
    return total**2


@pytest.mark.parametrize("limit", [1.5, 8.0, 20.0])
def test_a_container_of_mapped_and_other_arrays(limit):
    """As many weights as examples: examples that are done take none of them away."""
    rates, weights = np.array([0.05, 0.4, 0.8]), np.array([0.6, 0.9, 0.7])
    axes = ({"rate": 0, "weights": None}, None)
    found = srcjax.vmap(until_large, axes)({"rate": rates, "weights": weights}, limit)
    alone = [until_large({"rate": r, "weights": weights}, limit) for r in rates]
    np.testing.assert_allclose(found, alone)


def by_sides(x):
    if x[0] > 2.5:
        return {"slope": np.sqrt(x[0]) * x, "rest": [x[1]]}
    return {"slope": x * 3, "rest": [0.0]}


def test_containers_from_branches_in_batches_of_batches():
    x = np.stack([np.stack([XS, XS[::-1], XS + 1]), np.ones((3, 3)), np.eye(3)])
    found = srcjax.vmap(srcjax.vmap(by_sides))(x)
    each = [[by_sides(row) for row in rows] for rows in x]
    slopes = [[one["slope"] for one in rows] for rows in each]
    np.testing.assert_allclose(found["slope"], slopes)
    rests = [[one["rest"][0] for one in rows] for rows in each]
    np.testing.assert_allclose(found["rest"][0], rests)


def test_axes_of_results():
    def f(x, w):
        s = x[0]
        while s < 5.0:
            s = s * 1.5 + w * x[1]
        return s * x[1]

    batch = np.array([[1.0, 2.0], [0.5, 0.3], [4.0, 1.0]])
    both = srcjax.value_and_grad(f, argnums=(0, 1))
    alone = [both(x, 0.7) for x in batch]
    named = srcjax.vmap(both, (0, None), out_axes=(0, (1, 0)), axis_name="i")
    value, (dx, dw) = named(batch, 0.7)
    np.testing.assert_allclose(value, [v for v, _ in alone])
    np.testing.assert_allclose(dx, np.stack([d[0] for _, d in alone], axis=1))
    np.testing.assert_allclose(dw, [d[1] for _, d in alone])
    batches = np.stack([batch, 2 * batch])
    twice = srcjax.vmap(srcjax.vmap(f, (0, None)), (0, None), out_axes=1)
    expected = [[f(x, 0.7) for x in each] for each in batches]
    np.testing.assert_allclose(twice(batches, 0.7), np.transpose(expected))


def rough(r):
    a = 0.0012 * r
    b = np.log(r) - 0.78
    c = a + b - 0.2
    d = 1.0 + c
    k = (np.log(c) - 0.2) / d
    f = b - (d + 0.5 * k) * k * c / (d + k * (1.0 + k / 3.0))
    return 1.3 / (f - (np.log(a + f) + f - b) / (1.0 + a + f)) ** 2


def factor(r, method=None):
    if r < 20.0 or method == "laminar":
        return 64.0 / r
    if method is None:
        return rough(r)
    raise ValueError(method)


def drop(m):
    flat = factor(100 * m)
    other = factor(130 * m)
    if m > 1.2:
        return flat * m**2
    return (np.sqrt(flat) + other) * m + flat


def loss(m):
    return drop(m)


def test_what_only_some_examples_save():
    m = np.array([0.1, 0.6, 2.0])
    mapped = srcjax.vmap(srcjax.grad(loss))
    found = [(drop(v * (1 + 1e-6)) - drop(v * (1 - 1e-6))) / (2e-6 * v) for v in m]
    np.testing.assert_allclose(mapped(m), found, rtol=1e-6)
    text = str(srcjax.source(mapped, m))
    assert text.count("drop_forward_batch(") == 2  # it is called once
