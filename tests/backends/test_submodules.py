"""What generated text imports of a package whose parts are modules of their own."""

import runpy

import numpy as np
import pytest
import scipy
import scipy.constants
import scipy.special

import srcjax

NO_NAME = """
import srcjax

def ratio(a, b):
    return a / b

found = srcjax.jit(ratio)(1.0, 4.0)
"""
TRANSFORMS = [srcjax.grad, srcjax.vmap, srcjax.jit]


def radiated(x):
    sigma = scipy.constants.Stefan_Boltzmann * 1e8
    return sigma * x**4


def with_two_of_them(x):
    return scipy.constants.pi * scipy.special.gamma(x) + scipy.special.erf(x)


@pytest.mark.parametrize("function", [radiated, with_two_of_them])
def test_every_part_is_imported(function, tmp_path):
    x, h = 0.7, 1e-6
    expected = (function(x + h) - function(x - h)) / (2 * h)
    gradient = srcjax.grad(function)
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-7)
    np.testing.assert_allclose(srcjax.jvp(function, (x,), (1.0,))[1], expected)
    xs = np.array([x, 1.2])
    np.testing.assert_allclose(srcjax.vmap(function)(xs), [function(v) for v in xs])
    assert "import scipy.constants\n" in srcjax.source(gradient, x)
    assert "import scipy\n" not in srcjax.source(gradient, x)


def test_modules_of_which_no_text_can_import(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(NO_NAME)
    assert runpy.run_path(str(file))["found"] == 0.25  # in the module `<run_path>`
