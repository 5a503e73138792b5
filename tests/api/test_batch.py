"""`vmap`'s axes: what fits is as in JAX, what does not is an error that says where."""

import warnings
from collections import OrderedDict, defaultdict
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import vmap
from srcjax.errors import ArgumentError

jax.config.update("jax_enable_x64", True)

X = np.arange(12.0).reshape(4, 3)
FIVE = np.arange(5.0)
NESTED = {"a": X, "b": [X[:, 0], X]}


def weighted(x, y):
    return np.sum(x * 2) + y


def of_parts(p, x):
    return p["a"] * x + p["b"][0]


def parts_of(x):
    return {"a": x, "b": [np.sum(x), 2.0]}


def parts_of_in_jax(x):
    return {"a": x, "b": [jnp.sum(x), 2.0]}


def both(x, w):
    return x * w[0], w * 2


def same(ours, theirs):
    """Whether two results have the same structure, shapes and values."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b)


# -- what fits -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "args"),
    [
        ((-1, None), (X, 2.0)),
        ([0, 0], (X, X[:, 0])),
        ((1, 0), (X, X[0])),
    ],
)
def test_axes_of_arguments(axes, args):
    def in_jax(x, y):
        return jnp.sum(x * 2) + y

    same(vmap(weighted, axes)(*args), jax.vmap(in_jax, axes)(*args))


@pytest.mark.parametrize(
    "axes", [({"a": 0, "b": 0}, 0), ({"a": 0, "b": [0, None]}, 0), (0, 0)]
)
def test_axes_of_containers(axes):
    same(vmap(of_parts, axes)(NESTED, X), jax.vmap(of_parts, axes)(NESTED, X))


@pytest.mark.parametrize("axes", [0, {"a": 1, "b": 0}, {"a": -1, "b": [0, None]}])
def test_axes_of_results(axes):
    ours = vmap(parts_of, out_axes=axes)(X)
    same(ours, jax.vmap(parts_of_in_jax, out_axes=axes)(X))


def test_what_is_the_same_for_all_is_computed_once():
    axes = {"in_axes": (0, None), "out_axes": (0, None)}
    same(vmap(both, **axes)(X, FIVE), jax.vmap(both, **axes)(X, FIVE))
    assert "return x * w[0], 2 * w" in srcjax.source(vmap(both, **axes), X, FIVE)


def test_arguments_by_name_are_mapped_along_axis_0():
    def product(x, y=2.0):
        return x * y

    same(vmap(product, (1,))(X.T, y=X), X * X)
    same(vmap(product)(X), X * 2)


def test_nothing_mapped():
    same(vmap(weighted, None, axis_size=3)(X[0], 2.0), np.full(3, 8.0))
    assert vmap(weighted, None, out_axes=None, axis_size=3)(X[0], 2.0) == 8.0


def half_until_small(x):
    n = 0
    while np.sum(x) > 1:
        x = x / 2
        n += 1
    return x, n


def signed_log(x):
    if x[0] > 4:
        return np.log(x)
    return -x


@pytest.mark.parametrize("f", [half_until_small, signed_log, parts_of])
@pytest.mark.parametrize("count", [0, 1])
def test_small_batches(f, count):
    found = vmap(f)(X[3 : 3 + count])
    one = f(X[3])
    assert jax.tree.structure(found) == jax.tree.structure(one)
    for part, each in zip(jax.tree.leaves(found), jax.tree.leaves(one), strict=True):
        assert np.shape(part) == (count, *np.shape(each))
        np.testing.assert_allclose(part, np.array([each] * count).reshape(part.shape))


def test_the_text_of_moved_axes():
    def doubled(x):
        return 2 * x

    text = srcjax.source(vmap(doubled, in_axes=1, out_axes=1), X)
    assert text.endswith("    x = x.T\n    return (2 * x).T\n")


# -- inside of transformed functions ---------------------------------------------------


def by_its_total(x):
    def scaled(t):
        return t * np.sum(x)

    return vmap(scaled)(x)


def weighted_sum(t, weight, scale=2.0):
    return t * weight * scale


def with_keyword(x, w):
    return vmap(weighted_sum, in_axes=(0,))(x, weight=w)


def test_what_an_inner_function_takes_from_around_is_not_mapped():
    expected = X * X.sum(axis=1)[:, None]
    same(vmap(by_its_total)(X), expected)
    same(srcjax.grad(lambda x: np.sum(by_its_total(x)))(X[1]), np.full(3, 24.0))


def test_keywords_are_mapped_and_defaults_are_not():
    same(vmap(with_keyword)(X, X), 2 * X * X)
    gradient = srcjax.grad(lambda x: np.sum(with_keyword(x, X[0])))(X[1])
    same(gradient, 2 * X[0])


# -- what does not ---------------------------------------------------------------------

ARGUMENTS = [
    (weighted, 0, (X, FIVE), r"`y` of shape \(5,\) has 5 .* `x` of .*3\) has 4"),
    (weighted, (1, 0), (X, FIVE), r"has 5 .* `x` of .*\) has 3 along axis 1"),
    (weighted, 0, (X, 2.0), r"`y` is a number \(2.0, shape \(\)\)"),
    (weighted, (2, None), (X, 2.0), r"`x` .* along axis 2, and has the shape \(4, 3\)"),
    (weighted, (-3, None), (X, 2.0), r"`x` .* axis -3, and has the shape \(4, 3\)"),
    (weighted, (0,), (X, X), "in_axes has 1 entries, and the call has 2 arguments"),
    (weighted, None, (X, X), "no argument is mapped"),
    (of_parts, ({"a": 0, "c": 0}, 0), (NESTED, X), r"`p` is .*'c'.* keys \['a', 'b'\]"),
    (of_parts, ({"a": 0, "b": [0]}, 0), (NESTED, X), r"`p\['b'\]` is \[0\], .* of 2"),
    (of_parts, ((0, 0), 0), (NESTED, X), r"`p` is \(0, 0\), and that is a dict"),
    (of_parts, (0, (0, 0)), (NESTED, X), r"`x` is \(0, 0\), .* of shape \(4, 3\)"),
    (of_parts, 0, ({"a": X, "b": [1.0]}, X), r"`p\['b'\]\[0\]` is a number \(1.0"),
    (of_parts, 0, ({"a": X, "b": [FIVE]}, X), r"`p\['b'\]\[0\]` of shape \(5,\)"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "axes", "args", "message"), ARGUMENTS)
def test_axes_that_do_not_fit_an_argument(f, axes, args, message):
    with pytest.raises(ArgumentError, match=message):
        vmap(f, in_axes=axes)(*args)


RESULTS = [
    (2, r"out_axes is 2 for the result\['a'\], a batch of shape \(batch, 3\)"),
    (-3, r"out_axes is -3 for the result\['a'\], a batch of shape \(batch, 3\)"),
    (1, r"out_axes is 1 for the result\['b'\]\[0\], a batch of shape \(batch,\)"),
    (None, "out_axes is None for the result, which is different for each"),
    ({"a": None, "b": 0}, r"out_axes is None for the result\['a'\]"),
    ({"a": 0, "c": 0}, r"'c'.* for the result, .* keys \['a', 'b'\]"),
    ({"a": 0, "b": [0]}, r"\[0\] for the result\['b'\], which is a list of 2"),
    ((0, 0), r"\(0, 0\) for the result, which is a dict"),
]


@pytest.mark.parametrize(("axes", "message"), RESULTS)
def test_axes_that_do_not_fit_the_result(axes, message):
    with pytest.raises(ArgumentError, match=message) as error:
        vmap(parts_of, out_axes=axes)(X)
    assert error.value.lineno == parts_of.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"in_axes": "a"}, "in_axes must be an int or None, not 'a'"),
        ({"in_axes": (0, True)}, r"in_axes\[1\] must be an int or None, not True"),
        ({"out_axes": 0.0}, "out_axes must be an int or None, not 0.0"),
        ({"axis_size": "a"}, "axis_size must be a count"),
        ({"axis_size": -1}, "axis_size must be a count"),
    ],
)
def test_what_is_no_axis(options, message):
    with pytest.raises(ArgumentError, match=message):
        vmap(weighted, **options)


def test_a_size_that_is_not_that_of_the_arguments():
    with pytest.raises(ArgumentError, match=r"`x` .* 4 .* and axis_size is 3"):
        vmap(parts_of, axis_size=3)(X)


# -- the text without arguments --------------------------------------------------------


def scaled_sum(x: np.ndarray, s: float, w):
    y = np.sin(x) * s + w
    return y.sum() + len(x)


def run(text, name, **values):
    """The function of the text, which gets what is not imported in it."""
    exec(str(text), values)
    return values[name]


@pytest.mark.parametrize("shape", [(4,), (4, 5), (2, 3, 5)])
def test_hinted_text_is_right_for_every_rank(shape):
    rng = np.random.default_rng(0)
    x, s, w = rng.normal(size=(3, *shape)), rng.normal(size=3), rng.normal(size=shape)
    text = srcjax.source(vmap(scaled_sum, in_axes=(0, 0, None)), general=True)
    assert "for " not in text
    found = run(text, "vmap_scaled_sum")(x, s, w)
    np.testing.assert_allclose(
        found, [scaled_sum(a, b, w) for a, b in zip(x, s, strict=True)]
    )


def test_text_of_unknown_ranks_is_a_loop():
    text = srcjax.source(vmap(weighted, in_axes=(1, None)), general=True)
    assert "# A loop over the examples: the ranks" in text
    found = run(text, "vmap_weighted", weighted=weighted)
    same(found(X, 2.0), np.array([weighted(x, 2.0) for x in X.T]))
    text = srcjax.source(vmap(parts_of), general=True)
    parts = run(text, "vmap_parts_of", parts_of=parts_of)
    same(parts(X), vmap(parts_of)(X))


def test_text_of_a_gradient_of_unknown_ranks():
    gradient = srcjax.grad(weighted)
    text = srcjax.source(vmap(gradient, in_axes=(0, None)), general=True)
    found = run(text, "vmap_grad_weighted", grad_weighted=gradient)
    same(found(X, 2.0), vmap(gradient, in_axes=(0, None))(X, 2.0))


# -- a loop over the examples ----------------------------------------------------------


def tried(x):
    try:
        found = [x[0], {"inverse": 1.0 / float(x[1]), "kind": "tried"}]
    except ZeroDivisionError:
        found = [x[0] * x[2], {"inverse": 0.0, "kind": "tried"}]
    return found


def test_loop_over_examples_is_seen_and_has_a_derivative():
    batched = vmap(tried)
    with pytest.warns(srcjax.PerformanceWarning, match=r"tried runs in a loop"):
        text = srcjax.source(batched, X)
    assert "examples = [tried(x[k]) for k in range(len(x))]" in text
    found = batched(X)
    assert found[1]["kind"] == "tried"
    np.testing.assert_array_equal(found[0], X[:, 0])

    def total(x):
        return np.sum(batched(x)[0] ** 2)

    expected = np.zeros_like(X)
    expected[:, 0] = 2 * X[:, 0]
    with pytest.warns(srcjax.PerformanceWarning):
        np.testing.assert_array_equal(srcjax.grad(total)(X), expected)


def test_loop_over_examples_that_write_to_what_they_share():
    """Each example has a copy of its own, and the caller's stays as it is."""

    def scaled(v, x):
        try:
            v *= x[0]
        except FloatingPointError:
            v[0] = 1.0
        return v

    v = np.ones(2)
    with pytest.warns(srcjax.PerformanceWarning, match="in a loop"):
        found = vmap(scaled, in_axes=(None, 0))(v, X)
    np.testing.assert_array_equal(found, np.repeat(X[:, :1], 2, axis=1))
    np.testing.assert_array_equal(v, np.ones(2))


@pytest.mark.parametrize("keyword", [False, True])
def test_each_of_the_starred_arguments_has_its_axis(keyword):
    """As many examples as entries: a mistaken axis would go unseen."""

    def starred(*pair):
        return pair[0] @ pair[1]

    def scaled(*pair, scale=1.0):
        return pair[0] @ pair[1] * scale

    f = scaled if keyword else starred
    x, y = X[:3], np.cos(X[:3])
    expected = np.sum(x * x + y * y, axis=1)
    np.testing.assert_allclose(srcjax.jvp(vmap(f), (x, y), (y, x))[1], expected)
    np.testing.assert_allclose(srcjax.vjp(vmap(f), x, y)[1](np.ones(3))[1], x)
    second = srcjax.jvp(srcjax.grad(starred, 1), (x[0], y[0]), (y[1], x[0]))[1]
    np.testing.assert_allclose(second, y[1])


def tanh_chain(x, w):
    for _ in range(3):
        x = np.tanh(x @ w)
    return {"x": x, "sum": np.sum(w, axis=0)}


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_vmap_of_a_pullback():
    x, w = np.array([0.5, 1.2, -0.7]), np.arange(9.0).reshape(3, 3) / 9
    _, pullback = srcjax.vjp(tanh_chain, x, w)
    seeds = {"x": np.eye(3), "sum": np.ones((3, 3))}
    for _ in range(2):
        dx, dw = srcjax.vmap(pullback)(seeds)
        for i in range(3):
            one = pullback({name: seed[i] for name, seed in seeds.items()})
            np.testing.assert_allclose(dx[i], one[0])
            np.testing.assert_allclose(dw[i], one[1])


def test_vmap_of_a_pullback_inside_a_function_is_refused():
    def f(x):
        _, pullback = srcjax.vjp(np.sin, x)
        return np.sum(srcjax.vmap(pullback)(np.eye(2))[0])

    with pytest.raises(srcjax.errors.UnsupportedError, match="given to a transform"):
        srcjax.grad(f)(np.ones(2))


def as_floats(a):
    return np.asarray(a, dtype=float)


def parts(a):
    a = as_floats(a)
    return np.array([a[..., i] for i in range(a.shape[-1])])


def joined(a):
    a = as_floats(a)
    return np.concatenate([v[..., np.newaxis] for v in a], axis=-1)


def scaled_parts(x, k):
    r, g, b = parts(x)
    return joined([r * k, g * k, b * k])


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_a_helper_that_gets_an_array_and_a_list_of_arrays():
    x = np.arange(6.0).reshape(2, 3) + 1
    expected = np.stack([scaled_parts(a, 2 * a) for a in x])
    np.testing.assert_allclose(vmap(scaled_parts)(x, 2 * x), expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.pad(v, (len(v), 1)),
        lambda v: np.pad(v, ((v.shape[0] - 1, 1),)),
        lambda v: np.pad(v, (1, 2), constant_values=(np.size(v), v.ndim)),
        lambda v: np.tile(v, (len(v), 1)),
    ],
)
def test_sizes_of_examples_in_a_tuple(f):
    batch = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(srcjax.vmap(f)(batch), [f(v) for v in batch])


class Gains:
    def __init__(self, p, i):
        self.p, self.i, self.last = p, i, None

    def step(self, error):
        slope = 0.0 if self.last is None else error - self.last
        self.last = error
        return self.p * error + self.i * slope


def controlled(gains):
    controller = Gains(*gains)
    x = 0.0
    for _ in range(3):
        x = x + controller.step(1.0 - x)
    return x


def test_an_attribute_that_is_none_for_all_at_first():
    gradient = srcjax.grad(controlled)
    gains = np.array([[0.5, 0.1], [0.3, 0.2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = srcjax.vmap(gradient)(gains)
    np.testing.assert_allclose(got, [gradient(g) for g in gains])


class Remembering(Gains):
    def step(self, error):
        slope = 0.0 if self.last is None else error - self.last
        if error > 0.6:
            self.last = error
        return self.p * error + self.i * slope


def remembered(gains):
    controller = Remembering(*gains)
    x = 0.0
    for _ in range(3):
        x = x + controller.step(1.0 - x)
    return x


def test_a_loop_over_examples_whose_sizes_have_to_be_known():
    gradient = srcjax.grad(remembered)
    gains = np.array([[0.5, 0.1], [0.3, 0.2]])
    with pytest.warns(srcjax.PerformanceWarning):
        got = srcjax.vmap(gradient)(gains)
    np.testing.assert_allclose(got, [gradient(g) for g in gains])


@pytest.mark.parametrize("kind", [OrderedDict, partial(defaultdict, float)])
def test_dicts_of_other_classes_stay_what_they_are(kind):
    given = kind(a=np.arange(3.0), b=np.ones((3, 2)))
    got = srcjax.vmap(srcjax.grad(lambda p: np.sum(p["a"] ** 2 * p["b"])))(given)
    assert type(got) is type(given) and list(got) == ["a", "b"]
    np.testing.assert_allclose(got["a"], 4 * given["a"])
    made = srcjax.vmap(lambda a: OrderedDict([("y", a), ("x", a * a)]))(given["a"])
    assert type(made) is OrderedDict and list(made) == ["y", "x"]


def test_a_class_of_dicts_of_ones_own_is_refused():
    class Own(dict):
        pass

    with pytest.raises(ArgumentError, match="`p` is of the container class Own"):
        srcjax.vmap(lambda p: p["a"] ** 2)(Own(a=np.arange(3.0)))


def halvings(x):
    n, half = 0, 0.1
    while x > 1:
        x, n, half = x / 2, n + 1, half / 2
    return n * x, x > half, np.maximum(n, x), np.where(x > 0.5, half, x), n


def test_pythons_numbers_of_each_example_leave_single_precision():
    xs = np.array([0.1, 3.0, 0.7, 100.0], np.float32)
    found = vmap(halvings)(xs)
    wanted = [np.stack(parts) for parts in zip(*map(halvings, xs), strict=True)]
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
