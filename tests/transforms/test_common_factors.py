"""What all terms of a sum are multiplied by is taken out of it."""

import linecache

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.common_factors import factored


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("d - d * x", "d * (1 - x)"),
        ("3 * d * x ** 2 - d", "d * (3 * x ** 2 - 1)"),
        ("d * y / p - d * (1 - y) / (1 - p)", "d * (y / p - (1 - y) / (1 - p))"),
        ("-d * x - d * y", "-d * (x + y)"),
        ("-d * x + d * y", "d * (y - x)"),
        ("2 * d * x - 2 * d * y", "2 * d * (x - y)"),
        ("e * r - d * (r * x)", "r * (e - d * x)"),
        ("d * r * x + d * r * y", "d * r * (x + y)"),
        ("d / x + d", "d * (1 / x + 1)"),
        ("np.sum(d * x + d * y) + c", "np.sum(d * (x + y)) + c"),
        ("d * x + d * y + c", "d * x + d * y + c"),  # not all of them have it
        ("d + 2 * d", "d + 2 * d"),
        ("d ** 2 + d * x", "d ** 2 + d * x"),
        ("d @ x + d @ y", "d @ x + d @ y"),
        ("x / d + y / d", "x / d + y / d"),
        ("d * x + d * 0", "d * x + d * 0"),
    ],
)
def test_sums(before, after):
    value = gast.parse(before).body[0].value
    found = factored(value, lambda part, whole: True)
    assert syntax.text(found) == after
    assert (found is value) == (before == after)


def test_only_what_has_the_dtype_of_the_whole():
    value = gast.parse("d * (x > 0) + d * (x == 0)").body[0].value
    assert factored(value, lambda part, whole: False) is value


def entropy(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def kepler(e, m):
    E = m
    for _ in range(5):
        E = E - (E - e * np.sin(E) - m) / (1 - e * np.cos(E))
    return E


def ties(x):
    return np.sum(np.maximum(x, 0) * x + np.clip(x, -0.5, 0.5) * x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (entropy, (np.array([0.3, -0.2]), np.eye(3, 2), np.array([1.0, 0.0, 1.0]))),
        (kepler, (0.3, 0.8)),
        (ties, (np.array([-1.0, 0.2, 0.7]),)),
    ],
    ids=["entropy", "kepler", "ties"],
)
def test_derivatives(f, args):
    check_grads(f, args, order=2)


def test_texts():
    args = (np.array([0.3, -0.2]), np.eye(3, 2), np.array([1.0, 0.0, 1.0]))
    text = str(srcjax.source(srcjax.grad(entropy), *args))
    assert "dtotal * (y / p - (1 - y) / (1 - p))" in text
    whole = (*args[:2], np.array([1, 0, 1]))
    assert "(1 - y)" in str(srcjax.source(srcjax.grad(entropy), *whole))
    np.testing.assert_allclose(
        srcjax.grad(entropy)(*whole), srcjax.grad(entropy)(*args)
    )


def test_single_precision_is_kept():
    args = (
        np.array([0.3, -0.2], np.float32),
        np.eye(3, 2, dtype=np.float32),
        np.array([1.0, 0.0, 1.0], np.float32),
    )
    assert srcjax.grad(entropy)(*args).dtype == np.float32


def test_lines_of_a_gradient_stay_lines():
    """Each derivative is read once: no line becomes the whole sweep."""
    steps = "\n".join(
        f"    x{i + 1} = np.sin(x{i}) * {i % 7}.5 + x{i}" for i in range(30)
    )
    scope = {"np": np}
    code = f"def f(x0):\n{steps}\n    return x30\n"
    linecache.cache["<chain>"] = (len(code), None, code.splitlines(True), "<chain>")
    exec(compile(code, "<chain>", "exec"), scope)
    text = str(srcjax.source(srcjax.vmap(srcjax.grad(scope["f"])), np.ones(3)))
    returned = text[text.rindex("    return") :]
    assert returned.count("np.cos") <= 8
