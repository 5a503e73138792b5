"""Objects of registered classes as arguments and gradients of transforms."""

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import tree, tree_util


@tree_util.register_dataclass
@dataclass
class Linear:
    w: np.ndarray
    b: np.ndarray
    name: str = field(default="linear", metadata={"static": True})
    power: int = field(default=2, metadata={"static": True})


@tree_util.register_pytree_node_class
@jax.tree_util.register_pytree_node_class
class Layer:
    def __init__(self, w, b, act="tanh"):
        self.w, self.b, self.act = w, b, act

    def tree_flatten(self):
        return (self.w, {"bias": self.b}), self.act

    @classmethod
    def tree_unflatten(cls, act, children):
        return cls(children[0], children[1]["bias"], act)

    def __call__(self, x):
        y = x @ self.w + self.b
        return y**2 if self.act == "square" else y


X = np.array([1.0, 2.0])


def layer(act="square"):
    return Layer(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]), act)


def total(net, x):
    return np.sum(net(x))


def of_map(net, x):
    doubled = tree.map(lambda leaf: 2 * leaf, net)
    return np.sum(doubled(x))


def assert_layers(found, expected):
    assert type(found) is Layer and found.act == expected.act
    np.testing.assert_allclose(found.w, expected.w)
    np.testing.assert_allclose(found.b, expected.b)


@pytest.mark.parametrize("f", [total, of_map])
@pytest.mark.parametrize("act", ["square", "none"])
def test_gradient_is_an_object(f, act):
    net = layer(act)
    k = 2.0 if f is of_map else 1.0
    y = k * net.b + X @ (k * net.w)
    dy = k * (2 * y if act == "square" else np.ones(2))
    expected = Layer(np.outer(X, dy), dy, act)
    assert_layers(srcjax.grad(f)(net, X), expected)
    value, pullback = srcjax.vjp(f, net, X)
    assert value == pytest.approx(f(net, X))
    assert_layers(pullback(1.0)[0], expected)


def test_as_in_jax():
    net = layer()
    expected = jax.grad(lambda n: jnp.sum((jnp.asarray(X) @ n.w + n.b) ** 2))(net)
    assert_layers(srcjax.grad(total)(net, X), expected)


def test_other_transforms():
    net = layer()
    change = srcjax.jvp(total, (net, X), (net, np.zeros(2)))[1]
    step = 1e-6
    moved = total(tree.map(lambda p: (1 + step) * p, net), X)
    assert change == pytest.approx((moved - total(net, X)) / step, rel=1e-4)
    rows = np.stack([X, 2 * X])
    found = srcjax.vmap(total, in_axes=(None, 0))(net, rows)
    np.testing.assert_allclose(found, [total(net, x) for x in rows])
    assert_layers(
        srcjax.jit(lambda n: tree.map(lambda p: 2 * p, n))(net),
        Layer(2 * net.w, 2 * net.b, net.act),
    )


def chain(params, x):
    for net in params["nets"]:
        x = net(x)
    return params["scale"] * np.sum(x)


def test_objects_in_containers():
    params = {"nets": [layer("none"), layer("square")], "scale": 3.0}
    found = srcjax.grad(chain)(params, X)
    assert tree.structure(found) == tree.structure(params)
    for which in range(2):
        step = 1e-6
        moved = layer(params["nets"][which].act)
        moved.b = moved.b + np.array([step, 0.0])
        nets = [*params["nets"]]
        nets[which] = moved
        slope = (chain({**params, "nets": nets}, X) - chain(params, X)) / step
        assert found["nets"][which].b[0] == pytest.approx(slope, rel=1e-4)


def power(line, x):
    return np.sum((line.w * x) ** line.power) + np.sum(line.b)


def test_registered_dataclass():
    line = Linear(np.array([1.0, 2.0]), np.ones(3), "first")
    found = srcjax.grad(power)(line, 3.0)
    assert (found.name, found.power) == ("first", 2)
    np.testing.assert_allclose(found.w, 18 * line.w)
    np.testing.assert_allclose(found.b, np.ones(3))
    doubled = srcjax.jit(lambda n: tree.map(lambda p: 2 * p, n))(line)
    assert doubled.name == "first" and doubled.power == 2
    np.testing.assert_allclose(doubled.w, 2 * line.w)


def test_paths_and_structure():
    line = Linear(1.0, 2.0)
    paths = [tree_util.keystr(path) for path, _ in tree.leaves_with_path(line)]
    assert paths == [".w", ".b"]
    assert tree.structure(line) != tree.structure(Linear(1.0, 2.0, "other"))
    paths = [tree_util.keystr(path) for path, _ in tree.leaves_with_path(layer())]
    assert paths == ["[<flat index 0>]", "[<flat index 1>]['bias']"]


def test_static():
    @tree_util.register_static
    @dataclass(frozen=True)
    class Options:
        size: int

    options = Options(3)
    assert tree.leaves([options, 1]) == [1]
    assert tree.map(lambda x: x + 1, [options, 1]) == [options, 2]


def test_refused():
    with pytest.raises(ValueError):
        tree_util.register_pytree_node_class(Layer)
    with pytest.raises(TypeError):
        tree_util.register_dataclass(Layer, data_fields=["w"])
    with pytest.raises(ValueError, match="fields"):
        tree_util.register_dataclass(Linear, data_fields=["w"], meta_fields=[])


class Asking:
    def __init__(self, w, n):
        self.w, self.n = w, n


tree_util.register_pytree_node(
    Asking,
    lambda a: ((a.w,), a.n) if a.n > 0 else ((), a.n),
    lambda n, children: Asking(*children, n),
)


def test_a_class_that_asks_for_values():
    """Which of its attributes are children, only a run tells: it is not guessed."""
    with pytest.raises(srcjax.errors.SrcjaxError):
        srcjax.grad(lambda a: np.sum(tree.map(lambda p: p * p, a).w))(
            Asking(np.ones(2), 1)
        )


def test_texts_of_another_process_go_by_the_registration(tmp_path):
    """Which fields are children is a part of what a text on disk was written for."""
    text = """
        import dataclasses, sys, numpy as np, srcjax
        from srcjax import tree_util

        @dataclasses.dataclass
        class Pair:
            a: float
            b: float

        data, meta = (["a", "b"], []) if sys.argv[1] == "both" else (["a"], ["b"])
        tree_util.register_dataclass(Pair, data, meta)

        def product(p):
            return p.a * p.b

        print(srcjax.grad(product)(Pair(2.0, 3.0)))
    """
    script = tmp_path / "pair.py"
    script.write_text(textwrap.dedent(text))
    environment = {**os.environ, "SRCJAX_CACHE_DIR": str(tmp_path / "cache")}
    for which, shown in [("both", "a=3.0, b=2.0"), ("a", "a=3.0, b=3.0")]:
        done = subprocess.run(
            [sys.executable, script, which],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stdout.strip() == f"Pair({shown})", done.stderr
