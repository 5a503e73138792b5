"""Backward sweeps that run again, after they wrote to what was saved for them."""

import importlib.util

import numpy as np
import pytest

import srcjax

X = np.array([1.1, 0.7, 0.3])


def restored_array(x):
    y = x.copy()
    s = x * 0.0
    for i in range(1, 3):
        y[i] = y[i] * y[i - 1] ** 2
        s = s + np.sin(y) * y[0]
    return s


def restored_dict(x):
    table = {"a": x[0], "b": x[1]}
    s = x * 0.0
    for k in ["a", "b"]:
        for j in ["a", "b"]:
            s = s + np.sin(x * table[j]) * table[k]
        table[k] = table[k] * table["a"]
    return s


@pytest.mark.parametrize("f", [restored_array, restored_dict], ids=["array", "dict"])
def test_an_exported_pullback(f, tmp_path):
    srcjax.export(srcjax.vjp(f), tmp_path / "written.py", X)
    spec = importlib.util.spec_from_file_location("written", tmp_path / "written.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, pullback = getattr(module, f"vjp_{f.__name__}")(X)
    rows = [pullback(row)[0] for row in np.eye(3)]
    np.testing.assert_allclose(rows, srcjax.jacfwd(f)(X), rtol=1e-12)


def total(table, keys):
    result = 0.0
    for key in keys:
        result = result + table[key] ** 2
    return result


def table_that_calls_have_read(x):
    table = {"a": x[0] * x[1], "b": x[1]}
    t = total(table, ["a"])
    for k in range(2):
        t = t * total(table, ["a"])
        table["ab"[k]] = x[k] * t
    return t


def test_rows_of_a_hessian():
    gradient, step = srcjax.grad(table_that_calls_have_read), 1e-6 * np.eye(2)
    x = X[:2]
    expected = [(gradient(x + e) - gradient(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.jacrev(gradient)(x), expected, rtol=1e-6)
