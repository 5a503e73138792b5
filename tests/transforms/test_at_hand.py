"""Values that have names are read, and only where the names hold them."""

import ast
import textwrap

import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.transforms.simplify.at_hand import read_at_hand


def run(before, shared=()):
    node = syntax.gast_of(before).body[0]
    read_at_hand(node, {"t", "e"}.__contains__, lambda name: set(shared) - {name})
    return ast.unparse(ast.parse(syntax.text(node)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "c = np.cos(x)\nreturn d * np.cos(x)",
            "c = np.cos(x)\nreturn d * c",
            id="below",
        ),
        pytest.param(
            "y = d * np.exp(x)\ne = np.exp(x)\nreturn y + e * d",
            "e = np.exp(x)\ny = d * e\nreturn y + e * d",
            id="above",
        ),
        pytest.param(
            "e = A @ x\nfor i in r:\n    s += (A @ x) * i\nreturn s * e",
            "e = A @ x\nfor i in r:\n    s += e * i\nreturn s * e",
            id="in a loop",
        ),
    ],
)
def test_read(before, after):
    head = "def f(x, A, d, r, s):\n"
    after = head + textwrap.indent(after, "    ")
    assert run(head + textwrap.indent(before, "    ")) == after


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("e = np.exp(x)\nx = x + 1\nreturn e + np.exp(x)", id="bound"),
        pytest.param("e = np.exp(x)\nx[0] = 1\nreturn e + np.exp(x)", id="written"),
        pytest.param("e = np.exp(x)\ne[0] = 1\nreturn e + np.exp(x)", id="spoilt"),
        pytest.param("e = np.exp(x)\ny = np.exp(x)\nreturn y, e", id="another array"),
        pytest.param("y = np.exp(x)[:]\ne = np.exp(x)\nreturn y, e", id="a view"),
        pytest.param("c = np.exp(x) * d\nu = np.exp(x)\nreturn c + u", id="theirs"),
        pytest.param(
            "y = np.exp(x) * 2 if d else x\ne = np.exp(x)\nreturn y + e", id="at times"
        ),
        pytest.param(
            "for i in r:\n    s += math.sqrt(x) * i\ne = math.sqrt(x)\nreturn s * e",
            id="perhaps never",
        ),
        pytest.param(
            "e = np.exp(x)\nreturn [np.exp(x) * x for x in r], e", id="own scope"
        ),
        pytest.param(
            "y = e + np.exp(x) * 2\ne = np.exp(x)\nreturn y * e", id="read before"
        ),
    ],
)
def test_left_alone(body):
    text = "def f(x, d, r, s):\n" + textwrap.indent(body, "    ")
    assert run(text) == ast.unparse(ast.parse(text))


def test_memory_that_is_shared():
    text = "def f(x, v):\n    e = np.exp(x)\n    v[0] = 1\n    return e + np.exp(x)"
    assert run(text, ("x", "v")) == text


def test_cosine_of_the_users():
    def range_to(yaw, d):
        c = np.cos(yaw)
        s = np.sin(yaw)
        return np.sum(c * d * s)

    text = str(srcjax.source(srcjax.grad(range_to), np.ones(3), np.ones(3)))
    assert "    dyaw = ds * c\n    # c = np.cos(yaw)\n    return dyaw - dc * s" in text
