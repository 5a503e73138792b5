"""The examples in docstrings of the interface run."""

import doctest

import numpy as np
import pytest

import srcjax

#: Those for which an example shows how to call them: the others are for kernels of
#: rules and programs of many devices.
SHOWN = [
    "checkpoint",
    "compare_modes",
    "custom_jvp",
    "custom_vjp",
    "exercise",
    "explain",
    "export",
    "grad",
    "graph",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "source",
    "stages",
    "stop_gradient",
    "trace",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]


@pytest.mark.parametrize("name", srcjax.__all__)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = getattr(srcjax, name)
    if value is srcjax.Array:
        return  # NumPy's
    around = {"srcjax": srcjax, "np": np, name: value}
    found = doctest.DocTestFinder(recurse=False).find(value, name, globs=around)
    runner = doctest.DocTestRunner()
    for test in found:
        runner.run(test)
    assert runner.failures == 0
    assert runner.tries or name not in SHOWN
