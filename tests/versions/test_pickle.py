"""What transforms made, carried to another process: by its name, or by value."""

import importlib
import linecache
import pickle
import sys

import cloudpickle
import numpy as np
import pytest

import srcjax

SPRINGS = """
import numpy as np
import srcjax


def loss(w, x=2.0):
    return np.sum((w * x) ** 2)


@srcjax.grad
def force(x):
    return 0.5 * x * x


@srcjax.jit
@srcjax.grad
def fast_force(x):
    return 0.5 * x * x


class Spring:
    def energy(self, x):
        return x * x * x

    @srcjax.grad(argnums=1)
    def pull(self, x):
        return x * x * x


slope = srcjax.grad(loss)
grad_loss = srcjax.grad(loss)
"""


@pytest.fixture
def springs(tmp_path, monkeypatch):
    (tmp_path / "springs_to_pickle.py").write_text(SPRINGS)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("springs_to_pickle")
    sys.modules.pop("springs_to_pickle", None)


def again(made):
    return pickle.loads(pickle.dumps(made))


def test_by_reference(springs):
    assert again(springs.force) is springs.force
    assert again(springs.fast_force) is springs.fast_force
    assert again(springs.Spring.pull) is springs.Spring.pull
    assert pickle.dumps(springs.force).count(b"force") == 1


MAKING = {
    "grad('springs_to_pickle:loss')": lambda m: srcjax.grad(m.loss),
    "grad('springs_to_pickle:loss', argnums=(0, 1))": lambda m: srcjax.grad(
        m.loss, (0, 1)
    ),
    "value_and_grad(grad('springs_to_pickle:loss'))": lambda m: srcjax.value_and_grad(
        srcjax.grad(m.loss)
    ),
    "hessian('springs_to_pickle:loss', argnums='x')": lambda m: srcjax.hessian(
        m.loss, "x"
    ),
    "vmap(grad('springs_to_pickle:loss'), in_axes=(0, None))": lambda m: srcjax.vmap(
        srcjax.grad(m.loss), (0, None)
    ),
    "vmap('springs_to_pickle:loss', in_axes=None, axis_size=2)": lambda m: srcjax.vmap(
        m.loss, None, axis_size=2
    ),
    "jit('springs_to_pickle:loss', static_argnums=(1,))": lambda m: srcjax.jit(
        m.loss, static_argnums=1
    ),
    "jvp('springs_to_pickle:loss')": lambda m: srcjax.jvp(m.loss),
    "vjp('springs_to_pickle:loss')": lambda m: srcjax.vjp(m.loss),
    "vectorize('springs_to_pickle:loss', excluded={1})": lambda m: srcjax.vectorize(
        m.loss, excluded={1}
    ),
    "jacfwd('springs_to_pickle:force')": lambda m: srcjax.jacfwd(m.force),
    "grad('springs_to_pickle:Spring.energy', argnums=1)": lambda m: srcjax.grad(
        m.Spring.energy, 1
    ),
    "grad('numpy:sin', check=True)": lambda m: srcjax.grad(np.sin, check=True),
}


@pytest.mark.parametrize("recipe", MAKING)
def test_by_recipe(springs, recipe):
    made = MAKING[recipe](springs)
    name = made.__module__.removeprefix("srcjax.made.").partition("#")[0]
    assert name.replace("%2E", ".") == recipe
    assert made.__qualname__ == made.__name__
    for protocol in range(2, 6):
        assert pickle.loads(pickle.dumps(made, protocol)) is made
    # As in a process that has none of them yet.
    stored = pickle.dumps(made)
    options = made.__srcjax_transform__.options()
    del made
    other = pickle.loads(stored)
    assert other.__srcjax_transform__.options() == options
    assert other.__name__.startswith(recipe.partition("(")[0])


def test_each_has_its_own_name(springs):
    names = {springs.slope.__module__, springs.grad_loss.__module__}
    assert len(names) == 2
    assert again(springs.slope) is springs.slope
    assert again(springs.grad_loss) is springs.grad_loss
    assert pickle.loads(pickle.dumps([springs.slope, springs.loss]))[1] is springs.loss


def test_what_has_another_meaning_by_now_is_not_carried(springs):
    """`loss = grad(loss)`: in another process the name would be the gradient."""
    springs.loss = srcjax.grad(springs.loss)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(springs.loss)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(springs.grad_loss)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(srcjax.grad(lambda x: x * x))


def test_names_that_are_no_recipes():
    for name in ("nothing", "print('os:getcwd')", "grad(grad)", "grad('a:b')"):
        module = importlib.import_module(f"srcjax.made.{name}")
        with pytest.raises(AttributeError):
            module.grad_b  # noqa: B018
    module = importlib.import_module("srcjax.made.grad('numpy:sin')")
    assert module.grad_sin(0.0) == 1.0
    with pytest.raises(AttributeError):
        module.grad_cos  # noqa: B018


def test_it_is_called_by_its_own_name(springs):
    with pytest.raises(TypeError, match=r"^grad_loss\(\) missing 1 required"):
        springs.slope()
    with pytest.raises(TypeError, match=r"^test.*grad_inner\(\) missing|^grad_inner"):

        @srcjax.grad
        def inner(x):
            return x * x

        inner()


def test_texts_of_cells_are_carried_along():
    cell = "def cubed(x):\n    return x**3\n\n\ndef of_cell(x):\n    return cubed(x)\n"
    linecache.cache["cell-1"] = len(cell), None, cell.splitlines(True), "cell-1"
    space = {"__name__": "__main__"}
    exec(compile(cell, "cell-1", "exec"), space)
    stored = cloudpickle.dumps(srcjax.grad(space["of_cell"]))
    del linecache.cache["cell-1"]
    try:
        assert cloudpickle.loads(stored)(2.0) == 12.0
    finally:
        linecache.cache.pop("cell-1", None)
