"""Collectives over a named batch axis, beside JAX's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import (
    all_gather,
    all_to_all,
    axis_index,
    grad,
    pmax,
    pmean,
    pmin,
    psum,
    psum_scatter,
    vmap,
)
from srcjax.errors import ArgumentError, UnsupportedError
from tests.golden.batch_functions import BATCHED

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

X = np.random.default_rng(0).normal(size=(4, 3))
SQUARE = np.random.default_rng(1).normal(size=(4, 4, 4))
NESTED = np.random.default_rng(2).normal(size=(2, 4, 3))


jax.config.update("jax_enable_x64", True)


def same(ours, theirs):
    """Whether the leaves of two results are equal in shape and value."""
    one, two = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert [np.shape(a) for a in one] == [np.shape(b) for b in two]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_parts_are_one_for_each_example():
    for f in (lambda x: psum_scatter(x, "i"), lambda x: all_to_all(x, "i", 0, 0)):
        with pytest.raises(ValueError, match="3"):
            vmap(f, axis_name="i")(X)


def text_of(f, *args):
    """The body of the generated function."""
    return srcjax.source(f, *args).split("]\n", 1)[1].strip()


# -- values ----------------------------------------------------------------------------


def all_of_them(x):
    return (
        psum(x, "i"),
        pmean(x, "i"),
        pmax(x, "i"),
        pmin(x, "i"),
        all_gather(x, "i"),
        all_gather(x, "i", axis=1),
        all_gather(x, "i", axis=-1),
        axis_index("i") * x,
        psum(1, "i"),
        psum(x > 0, "i"),
        pmean(np.arange(3), "i"),
    )


def all_of_them_in_jax(x):
    lax = jax.lax
    return (
        lax.psum(x, "i"),
        lax.pmean(x, "i"),
        lax.pmax(x, "i"),
        lax.pmin(x, "i"),
        lax.all_gather(x, "i"),
        lax.all_gather(x, "i", axis=1),
        lax.all_gather(x, "i", axis=1),
        lax.axis_index("i") * x,
        lax.psum(1, "i"),
        lax.psum(x > 0, "i"),
        lax.pmean(jnp.arange(3), "i"),
    )


def test_values_are_those_of_jax():
    ours = vmap(all_of_them, axis_name="i")(X)
    same(ours, jax.vmap(all_of_them_in_jax, axis_name="i")(X))


def test_what_is_not_mapped_counts_for_each_example():
    def of_weights(x, w):
        return x, psum(w, "i"), pmean(w, "i"), pmax(w, "i"), all_gather(w, "i")

    def of_weights_in_jax(x, w):
        lax = jax.lax
        gathered = lax.all_gather(w, "i")
        return x, lax.psum(w, "i"), lax.pmean(w, "i"), lax.pmax(w, "i"), gathered

    w = np.arange(2.0)
    ours = vmap(of_weights, (0, None), axis_name="i")(X, w)
    same(ours, jax.vmap(of_weights_in_jax, (0, None), axis_name="i")(X, w))


def test_containers():
    def shared(p):
        total = psum(p, "i")
        low, high = pmin((p["a"], 2.0), "i")
        return total["a"] - low, total["b"][0] * high, pmean([p["b"]], "i")

    def shared_in_jax(p):
        total = jax.lax.psum(p, "i")
        low = jax.lax.pmin(p["a"], "i")
        return total["a"] - low, total["b"][0] * 2.0, jax.lax.pmean([p["b"]], "i")

    p = {"a": X, "b": [X[:, 0], X**2]}
    ours = vmap(shared, axis_name="i")(p)
    same(ours, jax.vmap(shared_in_jax, axis_name="i")(p))


def test_batch_norm():
    case = BATCHED["batch_norm"]
    x, scale, shift = case.batch
    expected = scale * (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) + shift
    same(case.transformed()(*case.batch), expected)


def over_two(x):
    both = psum(x * x, ("i", "j")) + pmax(x, ("j", "i")) + psum(1, ("i", "j"))
    return psum(x, "i") * pmean(x, "j") + both + all_gather(x, "j")[1]


def over_two_in_jax(x):
    lax = jax.lax
    both = lax.psum(x * x, ("i", "j")) + lax.pmax(x, ("j", "i"))
    both = both + lax.psum(1, ("i", "j"))
    return lax.psum(x, "i") * lax.pmean(x, "j") + both + lax.all_gather(x, "j")[1]


@pytest.mark.parametrize(("inner", "outer"), [("i", "j"), ("j", "i")])
def test_two_axes(inner, outer):
    ours = vmap(vmap(over_two, axis_name=inner), axis_name=outer)(NESTED)
    theirs = jax.vmap(jax.vmap(over_two_in_jax, axis_name=inner), axis_name=outer)
    same(ours, theirs(NESTED))


def of_several_axes(names):
    def numbered(x):
        return x * axis_index(names)

    def everything(x):
        return x[0] * all_gather(x * x, names, axis=-1).sum(axis=2)

    def joined(x):
        return all_gather(x * x, names, tiled=True, axis=1)

    def own_part(x):
        return psum_scatter(x * x, names)

    def own_piece(x):
        return psum_scatter(x.T * x.T, names, scatter_dimension=1, tiled=True)

    return [numbered, everything, joined, own_part, own_piece]


@pytest.mark.parametrize("k", range(5))
def test_several_axes_are_as_one(k):
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 2))
    one, two = of_several_axes("ij")[k], of_several_axes(("i", "j"))[k]
    flat = vmap(one, axis_name="ij")

    def along(f, swapped):
        inner, outer = ("i", "j") if swapped else ("j", "i")
        return vmap(vmap(f, axis_name=inner), axis_name=outer)

    def weighted(f):
        return srcjax.grad(lambda x: np.sum(np.sin(f(x))))

    expected = flat(x.reshape(6, 6, 2))
    slopes = weighted(flat)(x.reshape(6, 6, 2)).reshape(x.shape)
    for swapped in (False, True):
        order = (1, 0) if swapped else (0, 1)
        own = np.moveaxis(x, (0, 1), order)
        got = np.moveaxis(along(two, swapped)(own), order, (0, 1))
        same(got.reshape(expected.shape), expected)
        got = np.moveaxis(weighted(along(two, swapped))(own), order, (0, 1))
        same(got, slopes)


def test_vmap_inside_a_mapped_function():
    def outer(x):
        def inner(t):
            return t * psum(t, "j") + psum(t, "i")

        return vmap(inner, axis_name="j")(x)

    expected = X * X.sum(axis=1)[:, None] + X.sum(axis=0)
    same(vmap(outer, axis_name="i")(X), expected)


def long_helper(x):
    total = 0.0
    for k in range(3):
        if x[k] > -100:
            total = total + x[k]
    total = psum(total, "i")
    return total * x


def count_of_examples():
    return psum(1, "i")


def own_number():
    return axis_index("i")


def with_helpers(x):
    scale = 1.0 / count_of_examples()
    return long_helper(x) * scale + own_number()


def test_helpers_even_without_mapped_arguments():
    expected = X.sum() * X / 4 + np.arange(4)[:, None]
    same(vmap(with_helpers, axis_name="i")(X), expected)


def test_no_mapped_argument_at_all():
    def numbers():
        return axis_index("i") * 2 + psum(1, "i")

    same(vmap(numbers, axis_size=3, axis_name="i")(), np.array([3, 5, 7]))


def test_a_loop_that_all_examples_leave_together():
    def scaled(x):
        while psum(np.sum(x), "i") > 1.0:
            x = x / 2
        return x

    x = np.abs(X)
    expected = x.copy()
    while expected.sum() > 1.0:
        expected = expected / 2
    same(vmap(scaled, axis_name="i")(x), expected)
    assert "while np.sum(" in text_of(vmap(scaled, axis_name="i"), x)


def test_gathered_values_are_free_to_be_written_to():
    def first_left_out(x):
        everyone = all_gather(x, "i")
        everyone[0] = 0.0
        return np.sum(everyone) + x

    before = X.copy()
    same(vmap(first_left_out, axis_name="i")(X), X[1:].sum() + X)
    same(X, before)


def test_an_inner_batch_that_a_collective_does_not_name():
    def outer(x):
        def inner(t):
            return t * all_gather(x, "i", axis=1)[0, 1] + all_gather(t, "i")[2]

        return vmap(inner)(x)

    same(vmap(outer, axis_name="i")(X), X * X[1, 0] + X[2])


# -- text ------------------------------------------------------------------------------


def test_the_text_is_plain_numpy():
    def normalised(x):
        return (x - pmean(x, "batch")) / psum(1, "batch")

    assert text_of(vmap(normalised, axis_name="batch"), X) == (
        "def vmap_normalised(x):\n"
        '    """What normalised gives for each example of a batch, for x: (n, m)."""\n'
        "    if x.ndim != 2:\n"
        '        raise ValueError("vmap_normalised is for x: (n, m)")\n'
        "    return (x - np.mean(x, axis=0)) / len(x)"
    )


# -- derivatives -----------------------------------------------------------------------


def mixed(x):
    gathered = all_gather(x, "i") ** 3
    return np.sum(np.sin(x) * pmean(x, "i")) + np.sum(gathered * psum(x**2, "i")) * x[0]


def mixed_in_jax(x):
    lax = jax.lax
    gathered = lax.all_gather(x, "i") ** 3
    first = jnp.sum(jnp.sin(x) * lax.pmean(x, "i"))
    return first + jnp.sum(gathered * lax.psum(x**2, "i")) * x[0]


def extremes(x):
    return np.sum(pmax(x, "i") * x) - np.sum(pmin(x, "i") ** 2)


def extremes_in_jax(x):
    """JAX has no derivative of `pmax`; that of a gathered maximum is the same."""
    everyone = jax.lax.all_gather(x, "i")
    return jnp.sum(jnp.max(everyone, 0) * x) - jnp.sum(jnp.min(everyone, 0) ** 2)


PAIRS = [(mixed, mixed_in_jax), (extremes, extremes_in_jax)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_derivatives_of_each_example(ours, theirs):
    """The transpose of a sum over the examples is a sum over the examples."""
    found = vmap(grad(ours), axis_name="i")(X)
    same(found, jax.vmap(jax.grad(theirs), axis_name="i")(X))
    tangents = vmap(lambda x: srcjax.jvp(ours, (x,), (x**2,)), axis_name="i")(X)
    same(
        tangents,
        jax.vmap(lambda x: jax.jvp(theirs, (x,), (x**2,)), axis_name="i")(X),
    )


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_derivatives_of_the_batch(ours, theirs):
    found = grad(lambda x: np.sum(vmap(ours, axis_name="i")(x)))(X)
    expected = jax.grad(lambda x: jnp.sum(jax.vmap(theirs, axis_name="i")(x)))(X)
    same(found, expected)
    found = srcjax.jvp(vmap(ours, axis_name="i"), (X,), (X**2,))
    same(found, jax.jvp(jax.vmap(theirs, axis_name="i"), (X,), (X**2,)))


LAX = jax.lax
TRANSPOSES = [
    (
        lambda x: all_gather(x, "i"),
        lambda x: LAX.all_gather(x, "i"),
    ),
    (
        lambda x: all_gather(x, "i", axis=1),
        lambda x: LAX.all_gather(x, "i", axis=1),
    ),
    (
        lambda x: all_gather(x, "i", axis=1, tiled=True),
        lambda x: LAX.all_gather(x, "i", axis=1, tiled=True),
    ),
    (
        lambda x: psum_scatter(x, "i"),
        lambda x: LAX.psum_scatter(x, "i"),
    ),
    (
        lambda x: psum_scatter(x, "i", scatter_dimension=1),
        lambda x: LAX.psum_scatter(x, "i", scatter_dimension=1),
    ),
    (
        lambda x: psum_scatter(x, "i", scatter_dimension=1, tiled=True),
        lambda x: LAX.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), TRANSPOSES)
def test_gather_and_scatter_are_transposes(ours, theirs):
    def loss(x):
        return np.sum(np.sin(ours(x)) ** 2)

    def loss_in_jax(x):
        return jnp.sum(jnp.sin(theirs(x)) ** 2)

    same(vmap(ours, axis_name="i")(SQUARE), jax.vmap(theirs, axis_name="i")(SQUARE))
    found = vmap(grad(loss), axis_name="i")(SQUARE)
    same(found, jax.vmap(jax.grad(loss_in_jax), axis_name="i")(SQUARE))


def test_hessian_of_each_example():
    found = vmap(srcjax.hessian(mixed), axis_name="i")(X)
    same(found, jax.vmap(jax.hessian(mixed_in_jax), axis_name="i")(X))


# -- errors ----------------------------------------------------------------------------


def centred(x):
    return x - pmean(x, "i")


def test_a_name_that_is_not_in_scope():
    with pytest.raises(ArgumentError, match=r"'i' here; names in scope: 'k'") as error:
        vmap(vmap(centred), axis_name="k")(NESTED)
    assert error.value.lineno == centred.__code__.co_firstlineno + 1
    for call in (vmap(centred), grad(lambda x: np.sum(centred(x))), centred):
        with pytest.raises(ArgumentError, match="names in scope: none"):
            call(X)


def test_a_version_made_in_scope_is_not_taken_outside():
    inner = grad(lambda x: np.sum(centred(x) ** 2))
    vmap(inner, axis_name="i")(X)
    with pytest.raises(ArgumentError, match="names in scope: none"):
        vmap(inner)(X)


def test_names_must_be_known_strings():
    with pytest.raises(ArgumentError, match="axis_name must be a string"):
        vmap(centred, axis_name=3)
    with pytest.raises(ArgumentError, match="has to be a string"):
        vmap(lambda x: psum(x, 0), axis_name="i")(X)


def in_a_branch(x):
    if x[0] > 0:
        return psum(x, "i")
    return x


def in_a_branch_by_helper(x):
    if x[0] > 0:
        return long_helper(x)
    return x


def in_a_loop(x):
    while np.sum(x) < 10:
        x = x + psum(np.abs(x), "i")
    return x


def by_recursion(x):
    total = psum(x, "i")
    if x[0] < 10:
        return by_recursion(x + 5.0) + total
    return x


@pytest.mark.parametrize(
    "f", [in_a_branch, in_a_branch_by_helper, in_a_loop, by_recursion]
)
def test_where_only_some_examples_come_it_is_refused(f):
    with pytest.raises(UnsupportedError, match="needs all the examples"):
        vmap(f, axis_name="i")(X)
