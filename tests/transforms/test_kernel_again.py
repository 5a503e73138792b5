"""Sums of a kernel that go on in the memory that they have."""

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.backends.kernels import has_numba
from srcjax.transforms.kernels.again import with_memory_again

RNG = np.random.default_rng(7)
X, W = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))


def recurrent(W, x):
    h = np.zeros(4)
    for t in range(3):
        h = np.tanh(x[t] @ W + h)
    return np.sum(h**2)


def kernel(text):
    (node,) = syntax.statements(text)
    before = syntax.text(node)
    with_memory_again(node)
    return before, syntax.text(node)


HEAD = """@checked_kernel("x", "b")
def f(x):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i] * 2.0
"""
MAKE = "    b = np.empty(len(x))\n"
LOOP = "    for i in range(len(x)):\n"
SUM = "        b[i] = a[i] + x[i]\n"


@pytest.mark.parametrize(
    "rest",
    [
        MAKE + LOOP + SUM + "    return b",
        MAKE
        + LOOP
        + "        b_i = a[i] + x[i]\n        b[i] = b_i\n    return b, b[0]",
        "    d = np.dot(a, x)\n" + MAKE + LOOP + SUM + "    return b, d, len(a)",
    ],
)
def test_sums_that_go_on(rest):
    _, text = kernel(HEAD + rest)
    assert "a[i] = " in text.split("return")[0] and "b[" not in text
    assert "checked_kernel('x', 'a')" in text.replace('"', "'")
    names = {"np": np, "checked_kernel": lambda *names: lambda f: f}
    results = []
    for each in (HEAD + rest, text):
        exec(each, names)
        results.append(repr(names["f"](X[0])))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "rest",
    [
        MAKE + LOOP + SUM + "    return a, b",
        MAKE + LOOP + "        b[i] = a[i] * x[i]\n    return b",
        MAKE + LOOP + "        b[i] = x[i] + a[i]\n    return b",
        MAKE + LOOP + "        b[i] = a[i - 1] + x[i]\n    return b",
        MAKE + LOOP + SUM + "        x[i] = a[i]\n    return b",
        MAKE + LOOP + "        for j in range(3):\n            b[i] = a[i] + x[j]\n"
        "    return b",
        "    c = a[1:]\n" + MAKE + LOOP + SUM + "    return b, c",
        "    c = a\n" + MAKE + LOOP + SUM + "    return b, c",
        "    c = [a]\n" + MAKE + LOOP + SUM + "    return b, c[0]",
        "    b = np.zeros(len(x))\n" + LOOP + SUM + "    return b",
        "    b = np.empty(len(x), np.float32)\n" + LOOP + SUM + "    return b",
        "    b = np.empty(3)\n    for i in range(3):\n" + SUM + "    return b",
        "    x = x[1:]\n" + MAKE + LOOP + SUM + "    return b",
        "    for k in range(2):\n    " + MAKE + "    " + LOOP + "    " + SUM
        + "    return b",
    ],
)  # fmt: skip
def test_what_keeps_its_memory(rest):
    before, text = kernel(HEAD + rest)
    assert before == text


def test_in_loops():
    body = (MAKE + LOOP + SUM).replace("\n    ", "\n        ")
    made = HEAD.split("\n", 2)[2].replace("\n    ", "\n        ")
    ends = "        t = t + b[0]\n"
    rest = f"    t = 0.0\n    for k in range(2):\n    {made}    {body}{ends}"
    text = f"@kernel\ndef f(x):\n{rest.rstrip()}\n    return t"
    _, found = kernel(text)
    assert "b = np.empty" not in found and "t = t + a[0]" in found
    carried = text.replace("t = 0.0", "b = x").replace("x[i] * 2.0", "b[i] * 2.0")
    before, found = kernel(carried)
    assert before == found


@pytest.mark.skipif(not has_numba(), reason="compiles kernels")
def test_gradients_of_loops_that_are_written_out():
    gradient = srcjax.grad(recurrent, (0, 1))
    compiled = srcjax.jit(gradient)
    given = W.copy(), X.copy()
    for found, wanted in zip(compiled(*given), gradient(W, X), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_array_equal(given[0], W)
    assert isinstance(gast.parse(str(srcjax.source(compiled, W, X))), gast.Module)
