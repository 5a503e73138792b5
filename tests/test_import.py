"""`import srcjax` imports little, and gives every name at its first use."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcjax


def fresh(code):
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_little_is_imported():
    found = fresh(
        "import numpy, sys; before = set(sys.modules)\n"
        "import srcjax; print(*sorted(set(sys.modules) - before))"
    )
    assert [n for n in found.split() if n.startswith("srcjax")] == ["srcjax"]
    assert not {"scipy", "gast", "optree", "beniget"} & set(found.split())


def test_what_writes_derivatives_is_imported_when_one_is_asked_for(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import sys\nimport numpy as np\nfrom srcjax import grad\n\n\n"
        "def f(x):\n    return np.sin(x)\n\n\n"
        "late = {'scipy', 'srcjax.pipeline', 'srcjax.runtime', 'srcjax.ops.registry'}\n"
        "print(sorted(late & set(sys.modules)))\n"
        "print(grad(f)(0.0))\n"
    )
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "[]\n1.0\n", done.stderr


def test_scipy_is_imported_by_functions_that_use_it(tmp_path):
    """What SciPy takes to import is half of a first gradient."""
    (tmp_path / "mine.py").write_text(
        "import math, sys\nimport numpy as np\nfrom srcjax import grad, vmap\n\n\n"
        "def f(x):\n    return np.sum(np.linalg.inv(x) @ np.exp(x))\n\n\n"
        "def g(x):\n    return math.erf(x) * x\n\n\n"
        "slow = {'scipy.linalg', 'scipy.special', 'scipy.stats'}\n"
        "vmap(grad(f))(np.stack([np.eye(2), np.eye(2)]))\n"
        "print(sorted(slow & set(sys.modules)))\n"
        "print(grad(g)(0.0), *vmap(g)(np.zeros(2)))\n"
        "from scipy.special import gammaln\n\n\n"
        "def h(x):\n    return gammaln(x)\n\n\n"
        "print(round(grad(h)(1.0), 4))\n"
    )
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "[]\n0.0 0.0 0.0\n-0.5772\n", done.stderr


def test_rules_of_users_come_after_those_of_scipy(tmp_path):
    """Though these are made when a function of SciPy is first looked up."""
    (tmp_path / "mine.py").write_text(
        "import scipy.special\nimport srcjax\n\n"
        "srcjax.elementwise(scipy.special.expit, 'd * 7 * y')\n\n\n"
        "def f(x):\n    return scipy.special.expit(x)\n\n\n"
        "print(srcjax.grad(f)(0.0))\n"
    )
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "3.5\n", done.stderr


def test_names_of_the_interface():
    """Those that type checkers see are those that are there."""
    text = Path(srcjax.__file__).read_text(encoding="utf-8")
    homes = {
        alias.name: node.module.removeprefix("srcjax.")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("srcjax.")
        for alias in node.names
    }
    assert homes == srcjax._HOMES
    assert sorted(homes) == sorted(srcjax.__all__)
    for name in srcjax.__all__:
        home = importlib.import_module(f"srcjax.{homes[name]}")
        assert getattr(srcjax, name) is getattr(home, name)
        assert name in dir(srcjax)


def test_modules_and_unknown_names():
    assert fresh("import srcjax; print(srcjax.testing.__name__)") == "srcjax.testing\n"
    with pytest.raises(AttributeError, match="no attribute 'gard'"):
        srcjax.gard  # noqa: B018


def test_rules_of_users_stand_in_a_new_process(tmp_path):
    """The tables of the library are filled before a user adds to them."""
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nimport srcjax\n\n\n"
        "@srcjax.adjoint(np.tanh)\ndef rule(y, x):\n    d[x] = d[y] * 7.0\n\n\n"
        "print(srcjax.grad(lambda x: np.tanh(x))(0.5))\n"
    )
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "7.0\n", done.stderr


def test_names_of_jax_that_do_little():
    x = np.ones(2)
    assert isinstance(x, srcjax.Array)
    if srcjax.devices() == ["cpu"]:
        put = srcjax.device_put({"x": x})["x"]
        assert type(put) is srcjax.Array and np.shares_memory(put, x)
        assert type(srcjax.device_get(put)) is np.ndarray
    assert srcjax.block_until_ready({"x": x})["x"] is x


def test_scipy_is_scipy_itself():
    import scipy.special
    from srcjax.scipy.stats.norm import logpdf

    import srcjax.scipy as jsp
    from srcjax.scipy.stats import norm

    assert jsp.special is scipy.special
    assert logpdf(0.5) == norm.logpdf(0.5)
    text = srcjax.source(srcjax.grad(lambda x: jsp.special.logsumexp(x)), np.ones(3))
    assert "logsumexp" in text
    assert abs(srcjax.grad(lambda x: norm.logpdf(x))(0.5) + 0.5) < 1e-12
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jsp.nothing  # noqa: B018
