"""Functions of trees inside transformed functions: written out, where they stand."""

import inspect
import json
import textwrap

import numpy as np
import pytest

import srcjax
from srcjax import tree
from srcjax.errors import ArgumentError, UnsupportedError

PARAMS = {"w": np.array([1.0, 2.0, 3.0]), "b": np.array([4.0, 5.0])}
LAYERS = [(np.eye(2), np.ones(2)), (2 * np.eye(2), np.ones(2))]


def body(transformed, *args):
    """The lines of the entry point after its tests."""
    text = srcjax.source(transformed, *args)
    return textwrap.dedent(text[text.rindex("raise ValueError") :].split("\n", 1)[1])


def penalty(params):
    return sum(np.sum(leaf**2) for leaf in tree.leaves(params))


def descend(params, grads, rate):
    return tree.map(lambda p, g: p - rate * g, params, grads)


def assert_trees(found, expected):
    assert tree.structure(found) == tree.structure(expected)
    for a, b in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_penalty():
    gradient = srcjax.grad(penalty)
    assert_trees(gradient(PARAMS), {"w": 2 * PARAMS["w"], "b": 2 * PARAMS["b"]})
    assert body(gradient, PARAMS) == (
        'return {"w": 2 * params["w"], "b": 2 * params["b"]}\n'
    )


def test_step_forward():
    step = srcjax.jvp(descend, (PARAMS, PARAMS, 0.5), (PARAMS, PARAMS, 0.0))
    half = {k: v / 2 for k, v in PARAMS.items()}
    assert_trees(step, (half, half))


def test_step_batched_and_compiled():
    rates = np.array([0.0, 0.5, 1.0])
    found = srcjax.vmap(descend, in_axes=(None, None, 0))(PARAMS, PARAMS, rates)
    expected = {k: (1 - rates)[:, None] * v for k, v in PARAMS.items()}
    assert_trees(found, expected)
    half = {k: v / 2 for k, v in PARAMS.items()}
    assert_trees(srcjax.jit(descend)(PARAMS, PARAMS, 0.5), half)


def reduced(params):
    return tree.reduce(lambda total, leaf: total + np.sum(leaf**2), params, 0.0)


def flattened(params):
    leaves, structure = tree.flatten(params)
    squares = tree.unflatten(structure, [leaf**2 for leaf in leaves])
    return np.sum(squares["w"]) + np.sum(squares["b"])


def with_paths(params):
    weights = tree.map_with_path(
        lambda path, leaf: leaf * leaf if path[0].key == "w" else leaf**2, params
    )
    return sum(np.sum(leaf) for _, leaf in tree.leaves_with_path(weights))


def of_itself(params):
    return tree.reduce(
        lambda a, b: a + b, tree.map(lambda a, b: np.sum(a * b), params, params)
    )


def transposed(params):
    both = [params, params]
    outer, inner = tree.structure([0, 0]), tree.structure({"w": 0, "b": 0})
    pairs = tree.transpose(outer, inner, both)
    return np.sum(pairs["w"][0] * pairs["w"][1]) + np.sum(pairs["b"][0] * params["b"])


@pytest.mark.parametrize(
    "f",
    [reduced, flattened, with_paths, of_itself, transposed],
    ids=lambda f: f.__name__,
)
def test_same_gradient(f):
    assert_trees(srcjax.grad(f)(PARAMS), {k: 2 * v for k, v in PARAMS.items()})


def after_a_step(params, rate):
    return penalty(descend(params, srcjax.grad(penalty)(params), rate))


def test_gradient_inside():
    found = srcjax.grad(after_a_step, argnums=1)(PARAMS, 0.1)
    assert found == pytest.approx(-4 * 0.8 * penalty(PARAMS))


def of_pairs(layers):
    mixed = tree.map(
        lambda pair: np.sum(pair[0]) * 2 + np.sum(pair[1]),
        layers,
        is_leaf=lambda value: isinstance(value, tuple),
    )
    return sum(mixed)


def test_leaves_by_a_test():
    expected = [(np.full((2, 2), 2.0), np.ones(2))] * 2
    assert_trees(srcjax.grad(of_pairs)(LAYERS), expected)


def from_around(x):
    scaled = tree.map(lambda a: a * x, LAYERS)
    y = np.ones(2)
    for w, b in scaled:
        y = w @ y + b
    return np.sum(y) + sum(np.sum(leaf * x) for leaf in tree.leaves(LAYERS))


def grown(x, n):
    items = []
    for i in range(n):
        items.append((x * i, x))
    squares = tree.map(lambda a: a * a, {"items": items, "x": x})
    total = squares["x"]
    for a, b in squares["items"]:
        total = total + a + b
    return total + sum(leaf for leaf in tree.leaves(items))


def test_lists_of_any_length():
    def slope(f, x):
        return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6

    assert srcjax.grad(from_around)(2.0) == pytest.approx(slope(from_around, 2.0))
    expected = slope(lambda x: grown(x, 3), 2.0)
    assert srcjax.grad(grown)(2.0, 3) == pytest.approx(expected)
    assert srcjax.jvp(lambda x: grown(x, 3), (2.0,), (1.0,))[1] == pytest.approx(
        expected
    )


def with_nothing(x):
    a, nothing, empty = tree.map(lambda leaf: leaf * x, (x, None, {}))
    return a if nothing is None and empty == {} else x


def test_none_is_no_leaf():
    assert srcjax.grad(with_nothing)(3.0) == 6.0


def of_constants(x):
    zeros = tree.map(np.zeros_like, {"a": 1.0})
    return x**2 + zeros["a"] + len(tree.leaves(zeros))


def test_what_carries_nothing_stays():
    assert srcjax.grad(of_constants)(3.0) == 6.0


def misfit(x):
    return tree.map(lambda a, b: a * b, PARAMS, {"w": x})


def unknown(text, x):
    return tree.map(lambda leaf: leaf * x, json.loads(text))["a"]


@pytest.mark.parametrize(
    ("f", "args", "error", "words"),
    [
        (misfit, (1.0,), ArgumentError, "missing key"),
        (unknown, ('{"a": 1.0}', 1.0), UnsupportedError, "not known here"),
    ],
)
def test_refused_at_the_line(f, args, error, words):
    with pytest.raises(error, match=words) as caught:
        srcjax.grad(f, argnums=len(args) - 1)(*args)
    lines, first = inspect.getsourcelines(f)
    assert f"line {first + 1}" in str(caught.value)


def made(scale):
    def run(text):
        found = json.loads(text)
        return tree.map(lambda leaf: leaf * scale, found)["a"]

    return run


def by_what_is_made(x):
    run = made(x + 1.0)
    return run("[1]")


def test_refused_at_the_line_of_what_is_put_in_place():
    with pytest.raises(UnsupportedError, match="not known here") as caught:
        srcjax.grad(by_what_is_made)(1.0)
    shown = str(caught.value)
    _, first = inspect.getsourcelines(made)
    assert f"line {first + 3}\n    return tree.map(lambda" in shown
    _, first = inspect.getsourcelines(by_what_is_made)
    assert f"line {first + 2}, in by_what_is_made" in shown
