"""Imports inside a function are known values, imported where modules import."""

import importlib
import textwrap

import numpy as np
import pytest

import srcjax
from srcjax import pipeline


def weight(x):
    import numpy.linalg as la
    from scipy.special import ndtr

    return ndtr(x[0]) * la.norm(x)


def test_what_a_function_imports_is_imported_at_the_top(tmp_path):
    x = np.array([0.3, 0.4])
    text = srcjax.source(srcjax.grad(weight), x)
    assert "\nfrom scipy.special import ndtr\n" in text
    assert "    import" not in text
    names: dict = {}
    exec(srcjax.export(srcjax.grad(weight), tmp_path / "m.py", x).read_text(), names)
    np.testing.assert_array_equal(names["grad_weight"](x), srcjax.grad(weight)(x))


def either(x, exactly):
    if exactly:
        from math import exp
    else:

        def exp(t):
            return 1.0 + t

    return exp(x)


def test_imports_in_branches_stay():
    assert srcjax.grad(lambda x: either(2.0 * x, False) * x)(1.0) == 5.0


def backend_of(backend):
    if backend is None:
        try:
            import math as backend
        except ImportError:
            backend = None
    return backend


def through_a_backend(x):
    backend = None
    return backend_of(backend).exp(x) * x


def test_imports_bind_the_name_that_the_function_has_in_place_of_its_call():
    value, derivative = through_a_backend(0.5), 1.5 * np.exp(0.5)
    assert srcjax.jit(through_a_backend)(0.5) == value
    np.testing.assert_allclose(srcjax.grad(through_a_backend)(0.5), derivative)
    compiled = srcjax.jit(srcjax.grad(through_a_backend))
    np.testing.assert_allclose(compiled(0.5), derivative)


softmax = "of the module"


def through_a_wrapper(x):
    from scipy.special import softmax

    return np.sum(softmax(x) * x)


@pytest.mark.parametrize("transform", [srcjax.grad, srcjax.jit, srcjax.vmap])
def test_a_name_of_the_module_is_another_one_than_what_is_imported(
    transform, monkeypatch
):
    analysed = []
    analyse = pipeline.analyse
    monkeypatch.setattr(
        pipeline,
        "analyse",
        lambda *given, **k: analysed.append(0) or analyse(*given, **k),
    )
    changed = transform(through_a_wrapper)
    x = np.array([0.3, 0.4]) if transform is not srcjax.vmap else np.ones((2, 2))
    changed(x)
    written = len(analysed)
    changed(x)
    assert len(analysed) == written  # what it was written for holds


def test_a_relative_import_in_a_branch(tmp_path, monkeypatch):
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "util.py").write_text("def scaled(x):\n    return x * 2.0\n")
    rows = """
        def scale(x, keep=False):
            if not keep:
                from .util import scaled

                x = scaled(x)
            return x * x
    """
    (package / "main.py").write_text(textwrap.dedent(rows))
    monkeypatch.syspath_prepend(tmp_path)
    scale = importlib.import_module("some_package.main").scale
    assert srcjax.grad(scale)(3.0) == 24.0
    assert srcjax.jvp(scale, (3.0,), (1.0,)) == (36.0, 24.0)
    assert srcjax.jit(lambda x: scale(x))(3.0) == 36.0
