"""What Python's tools show of what a transform made: the user's function, its text."""

import doctest
import gc
import inspect
import linecache
import pydoc
import sys
import types
import typing

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError


def loss(w: np.ndarray, x: np.ndarray, *, scale: float = 2.0) -> float:
    """The loss of a model."""
    return scale * np.sum((x * w) ** 2)


def wave(x: float, t: float = 0.1) -> float:
    """A wave that fades."""
    return np.exp(-x) * np.sin(x - t)


wave.unit = "metre"


def deep(x, *rest, depth):
    return x * depth


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        """Half the stiffness times the square."""
        return 0.5 * self.stiffness * x * x

    @srcjax.grad(argnums=1)
    def force(self, x):
        """What pulls."""
        return 0.5 * self.stiffness * x * x


WRITTEN = {
    "grad_wave": srcjax.grad,
    "value_and_grad_wave": srcjax.value_and_grad,
    "jacfwd_wave": srcjax.jacfwd,
    "hessian_wave": srcjax.hessian,
    "vmap_wave": srcjax.vmap,
    "jit_wave": srcjax.jit,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_its_source_is_the_text(name):
    d = WRITTEN[name](wave)
    assert inspect.getsource(d).startswith(f"def {name}(")
    x = np.full(3, 0.5) if name == "vmap_wave" else 0.5
    d(x, x)
    text = inspect.getsource(d)
    assert text.startswith(f"def {name}(x, t")
    assert text.strip() in srcjax.source(d, x, x)
    linecache.clearcache()
    assert inspect.getsource(d) == text
    assert d.__name__ == name


@pytest.mark.parametrize("transform", [srcjax.vjp, srcjax.jvp])
def test_its_source_before_it_is_called(transform):
    d = transform(wave)
    assert inspect.getsource(d).startswith(f"def {d.__name__}(")
    assert inspect.getsource(d).strip() in srcjax.source(d)


def test_its_source_follows_the_types():
    d = srcjax.grad(lambda x: np.sum(x * x) if np.ndim(x) else x * x * x)
    d(2.0)
    scalar = inspect.getsource(d)
    d(np.ones(3))
    assert scalar != inspect.getsource(d)
    d(2.0)
    assert scalar == inspect.getsource(d)


def test_texts_that_nobody_can_ask_for_are_forgotten():
    def one(x):
        return x * x

    d = srcjax.grad(one)
    file = d.__wrapped__.__code__.co_filename
    assert inspect.getsource(d) and file in linecache.cache
    del d
    gc.collect()
    assert file not in linecache.cache


@pytest.mark.parametrize("name", WRITTEN)
def test_it_looks_like_the_function(name):
    d = WRITTEN[name](wave)
    assert d.unit == "metre"
    assert list(inspect.signature(d).parameters) == ["x", "t"]
    assert d.__signature__.parameters["t"].default == 0.1
    first, second = d.__doc__.split("\n\n")
    assert first.endswith(f". `srcjax.source({name}, ...)` is its text.")
    assert second == "A wave that fades."
    assert d.__wrapped__(0.5, t=0.2) == wave(0.5, 0.2)


def test_annotations_are_true():
    assert typing.get_type_hints(srcjax.grad(wave)) == {
        "x": float,
        "t": float,
        "return": float,
    }
    assert srcjax.grad(loss).__annotations__["return"] is np.ndarray
    assert "return" not in srcjax.hessian(wave).__annotations__
    assert "return" not in srcjax.value_and_grad(wave).__annotations__
    assert not srcjax.vmap(wave).__annotations__  # examples are floats, batches arrays
    assert srcjax.jit(wave).__annotations__ == wave.__annotations__


def test_signatures_with_parameters_by_name():
    d = srcjax.grad(loss)
    assert str(inspect.signature(d)) == str(inspect.signature(loss)).replace(
        "-> float", "-> numpy.ndarray"
    )
    assert inspect.getsource(d).startswith("def grad_loss(w, x, *, scale=2.0):")
    assert str(inspect.signature(srcjax.grad(deep))) == "(x, *rest, depth)"
    assert srcjax.grad(deep)(3.0, depth=5.0) == 5.0
    spring = Spring(2.0)
    assert str(inspect.signature(spring.force)) == "(x)" and spring.force(3.0) == 6.0
    assert str(inspect.signature(srcjax.grad(spring.energy))) == "(x)"


def test_help_shows_text_and_docstring():
    d = srcjax.grad(wave)
    before = pydoc.plain(pydoc.render_doc(d))
    assert "Gradient of wave with respect to x." in before
    assert "A wave that fades." in before and "def grad_wave" not in before
    d(0.5)
    shown = pydoc.plain(pydoc.render_doc(d))
    assert "A wave that fades." in shown and "def grad_wave(x, t" in shown
    d.__doc__ = "Mine."
    d(np.float32(0.5))
    assert d.__doc__ == "Mine."


def test_what_it_wraps_is_differentiated_as_the_function():
    """Though its source is another text."""
    d = srcjax.grad(wave)
    inside = d.__wrapped__
    np.testing.assert_allclose(srcjax.grad(inside)(0.5), d(0.5))

    def twice(x):
        return 2.0 * inside(x, 0.1)

    np.testing.assert_allclose(srcjax.grad(twice)(0.5), 2 * d(0.5))
    second = srcjax.grad(srcjax.grad(wave)).__wrapped__
    np.testing.assert_allclose(second(0.5), d(0.5))
    np.testing.assert_allclose(srcjax.grad(second)(0.5), srcjax.grad(d)(0.5))

    def of_second(x):
        return 2.0 * second(x, 0.1)

    np.testing.assert_allclose(srcjax.grad(of_second)(0.5), 2 * srcjax.grad(d)(0.5))


DOCTESTS = '''
import srcjax

@srcjax.grad
def force(x, k=2.0):
    """The force of a spring.

    >>> force(3.0)
    6.0
    """
    return 0.5 * k * x**2
'''


def test_doctests_run(tmp_path, monkeypatch):
    (tmp_path / "springs.py").write_text(DOCTESTS)
    monkeypatch.syspath_prepend(tmp_path)
    import springs

    try:
        assert doctest.testmod(springs) == (0, 1)
        springs.force(2.0)  # what the docstring gets is run no second time
        assert doctest.testmod(springs) == (0, 1)
    finally:
        del sys.modules["springs"]


def test_options_that_are_none():
    for call, name, meant in [
        (lambda: srcjax.grad(wave, argnum=1), "argnum", "argnums"),
        (lambda: srcjax.value_and_grad(hasaux=True), "hasaux", "has_aux"),
        (lambda: srcjax.vmap(wave, in_axis=0), "in_axis", "in_axes"),
        (lambda: srcjax.jit(wave, static_argnum=1), "static_argnum", "static_argnums"),
        (lambda: srcjax.jvp(wave, (1.0,), tangent=(1.0,)), "tangent", "tangents"),
        (lambda: srcjax.hessian(wave, argnum=1), "argnum", "argnums"),
    ]:
        with pytest.raises(ArgumentError, match=f"no option `{name}`") as caught:
            call()
        assert f"Instead: `{meant}`" in str(caught.value)
    with pytest.raises(ArgumentError, match="one of `argnums`, `has_aux`"):
        srcjax.grad(wave, zzz=1)


@pytest.mark.parametrize(
    "transform",
    [srcjax.grad, srcjax.value_and_grad, srcjax.jacfwd, srcjax.jacrev, srcjax.hessian],
)
def test_argnums_that_do_not_fit_are_found_early(transform):
    with pytest.raises(ArgumentError, match="argnums=5, but wave has 2 parameters"):
        transform(wave, argnums=5)
    with pytest.raises(ArgumentError, match="names `y`, but wave has .* x, t"):
        transform(wave, argnums="y")
    with pytest.raises(ArgumentError, match="twice"):
        transform(wave, argnums=(0, "x"))
    with pytest.raises(ArgumentError, match="names `z`, but loss has .* w, x, scale"):
        transform(loss, argnums="z")
    with pytest.raises(ArgumentError, match="argnums=1, but sin has 1 parameter"):
        transform(np.sin, argnums=1)
    with pytest.raises(ArgumentError, match="at least one argument"):
        transform(lambda: 1.0)
    assert transform(deep, argnums=3)  # one of `*rest`


def test_jvp_is_called_as_its_text():
    d, x, t = srcjax.jvp(wave), 0.5, 0.1
    want = srcjax.jvp(wave, (x, t), (1.0, 0.5))
    for got in (
        d((x, t), (1.0, 0.5)),
        d(primals=(x, t), tangents=(1.0, 0.5)),
        d(x, t, 1.0, 0.5),
        d(x, t, x_dot=1.0, t_dot=0.5),
    ):
        assert got == want
    only = srcjax.jvp(wave, (x, t), (1.0, None))
    assert d(x, t, x_dot=1.0) == only

    def power(x, n):
        return x**n

    def product(pair):
        return pair[0] * pair[1]

    assert srcjax.jvp(power)(2.0, np.int64(3), 1.0) == (8.0, 12.0)
    assert srcjax.jvp(product)((2.0, 3.0), (1.0, 0.0)) == (6.0, 3.0)
    assert srcjax.jvp(product)(((2.0, 3.0),), ((1.0, 0.0),)) == (6.0, 3.0)
    for args in ((x,), (x, t, 1.0), (x, 1.0)):
        with pytest.raises(ArgumentError, match=r"jvp_wave\(x, t, x_dot, t_dot\)"):
            d(*args)


def test_names_that_a_tab_shows():
    shown = [n for n in dir(srcjax) if not n.startswith("_")]
    assert set(srcjax.__all__) <= set(shown)
    others = set(shown) - set(srcjax.__all__)
    assert all(isinstance(getattr(srcjax, n), types.ModuleType) for n in others)
    assert "testing" in others and not {"ops", "api", "importlib", "Any"} & set(shown)
    assert srcjax.__version__[0].isdigit()
    with pytest.raises(AttributeError) as caught:
        srcjax.gard  # noqa: B018
    assert caught.value.name == "gard" and caught.value.obj is srcjax
