"""`jit` of functions whose names are those that modules of kernels have from srcjax."""

import numpy as np
import pytest

import srcjax
from srcjax import compiling
from srcjax.backends.kernels import has_numba
from srcjax.transforms.blocks import entry, loops

SAMPLE = {"test_names_of_kernels": 6, "test_names_of_blocks": 2}

TEXT = """
import numpy as np

def walked(x, name):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * name[i % 3]
    return total

def windows(x, name):
    n = len(x) - 2
    y = np.zeros(n)
    for i in range(n):
        y[i] = np.sum(x[i : i + 3] * name)
    return np.sum(y**2)

def chained(x, name):
    e = np.exp(x) * np.sin(x) * name[0]
    return np.sum(e + x * np.sum(name))

def written(x, name):
    x *= name[0]
    x += np.sum(name)
    return np.sum(x * np.exp(x))

def local(x, w):
    name = np.sum(np.exp(x) * w[0])
    return name * np.sum(np.sin(x) * name)
"""
AROUND = """
import numpy as np

name = np.array([0.5, -1.5, 2.5])

def around(x, w):
    return np.sum(np.exp(x) * np.sum(name)) + np.sum(x * name[0] * w[1])
"""
#: What modules import for `jit`, what texts of kernels do, and builtins in them.
NAMES = ("kernel", "checked_kernel", "in_threads", "overlap", "Differs", "added")
NAMES += ("cleared", "exp_", "elementary", "larger", "abs", "float")
X, W = np.linspace(0.1, 1, 9), np.array([1.0, 2.0, 3.0])


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """Makes a module of the functions, with another name."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text, name):
        home = f"named_{name}_{len(text)}"
        text = text.replace("name", name)
        (tmp_path / f"{home}.py").write_text(text)
        found = vars(__import__(home))
        return {k: f for k, f in found.items() if getattr(f, "__module__", 0) == home}

    return make


def compare(made, plain):
    for key, function in made.items():
        wanted = plain[key](X.copy(), W)
        np.testing.assert_allclose(srcjax.jit(function)(X.copy(), W), wanted)
        if key == "written":
            continue
        both = srcjax.jit(srcjax.grad(function, argnums=(0, 1)))(X, W)
        pairs = srcjax.grad(plain[key], argnums=(0, 1))(X, W)
        for a, b in zip(both, pairs, strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("text", [TEXT, AROUND], ids=["within", "around"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(not has_numba(), reason="kernels need Numba")
def test_names_of_kernels(functions, name, text):
    compare(functions(text, name), functions(text, "own"))
    if name not in ("abs", "float") and text is TEXT:
        compiled = srcjax.jit(functions(text, name)["chained"])
        assert "runs as it is" not in srcjax.explain(compiled, X, W)


@pytest.mark.parametrize("text", [TEXT, AROUND], ids=["within", "around"])
@pytest.mark.parametrize("name", NAMES[:6])
def test_names_of_blocks(functions, name, text, monkeypatch):
    monkeypatch.setattr(compiling, "has_numba", lambda: False)
    monkeypatch.setattr(entry, "LARGE", 64)
    monkeypatch.setattr(loops, "LARGEST_BLOCK", 32)
    compare(functions(text, name), functions(text, "own"))
