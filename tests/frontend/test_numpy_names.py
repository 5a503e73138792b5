"""NumPy is called `np` in a text, whatever the user calls it; modules that change."""

import inspect
import subprocess
import sys
import types

import numpy as np
import numpy as xp
import pytest

import srcjax
import srcjax.numpy as jnp
from srcjax.testing import check_grads
from tests.frontend import named_as_numpy


def mixed(x):
    return xp.sum(jnp.tanh(x) ** 2) + jnp.linalg.norm(np.stack([x, x]))


def taken(x):
    np = 3.0
    return xp.sum(xp.sin(x)) * np


def as_a_value(x, library=xp):
    f = getattr(xp, "sin")  # noqa: B009
    return library.sum(f(x))


X = np.array([0.3, 0.7])


def text_of(f):
    return srcjax.source(srcjax.grad(f), X)


def test_one_name_for_one_library():
    text = text_of(mixed)
    code = "\n".join(s for s in text.splitlines() if "# " not in s)
    assert "xp" not in code and "jnp" not in code
    assert "import numpy as np" in text
    # The quoted lines are the user's.
    assert "# return xp.sum(jnp.tanh(x) ** 2)" in text
    expected = 2 * np.tanh(X) * (1 - np.tanh(X) ** 2) + np.sqrt(2) * X / np.hypot(*X)
    np.testing.assert_allclose(srcjax.grad(mixed)(X), expected)


@pytest.mark.parametrize("f, scale", [(taken, 3.0), (as_a_value, 1.0)])
def test_a_name_that_is_taken_or_a_module_that_is_a_value(f, scale):
    np.testing.assert_allclose(srcjax.grad(f)(X), scale * np.cos(X))


def test_all_names_are_those_of_numpy():
    assert jnp.sin is np.sin and jnp.pi == np.pi
    assert inspect.unwrap(jnp.asarray) is np.asarray
    assert jnp.testing is np.testing
    assert set(np.__all__) <= set(dir(jnp))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = jnp.no_such_name


def test_importing_srcjax_imports_no_namespace():
    code = "import srcjax, sys; assert 'srcjax.numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


library = types.ModuleType("first")
library.f = lambda x: 2 * x


def through_a_module(x):
    return library.f(x) * backend.sin(x)


backend = np


def test_another_module_under_the_name_is_noticed(monkeypatch):
    df = srcjax.grad(through_a_module)
    assert df(0.0) == 0.0 and df(1.0) == pytest.approx(2 * np.sin(1) + 2 * np.cos(1))
    other = types.ModuleType("second")
    other.f = lambda x: 3 * x
    monkeypatch.setitem(globals(), "library", other)
    assert df(1.0) == pytest.approx(3 * np.sin(1) + 3 * np.cos(1))
    other.sin = lambda x: x
    monkeypatch.setitem(globals(), "backend", other)
    assert df(1.0) == pytest.approx(6.0)


@pytest.mark.parametrize(
    "name", ["greatest_of_waves", "of_a_module", "smallest", "greatest"]
)
def test_a_module_that_stands_for_numpy_under_its_name(name, tmp_path):
    f = getattr(named_as_numpy, name)
    x = np.array([0.3, 0.1, 0.7])
    check_grads(f, (x,), order=1)
    np.testing.assert_allclose(srcjax.vmap(f)(np.stack([x, x])), [f(x)] * 2)
    df = srcjax.grad(f)
    path = tmp_path / "exported.py"
    srcjax.export(df, path, x)
    text = path.read_text()
    assert "import numpy as np" in text and "srcjax" not in text.split('"""')[-1]
    assert "np2" not in text
    scope: dict = {}
    exec(text, scope)
    np.testing.assert_allclose(scope[df.__name__](x), df(x))
