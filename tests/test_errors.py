"""Errors: what they show, and that the carets stand where they should."""

import ast
import pickle
import types

import pytest

from srcjax.errors import (
    ArgumentError,
    NoRuleError,
    PerformanceWarning,
    SourceNotFoundError,
    SrcjaxError,
    UnsupportedError,
    error_at,
)


def source_of(text, name="loss"):
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    return types.SimpleNamespace(
        name=name,
        filename="model.py",
        node=tree.body[0],
        raw_line=lambda n: lines[n - 1],
    )


def find(source, kind):
    return next(n for n in ast.walk(source.node) if isinstance(n, kind))


def test_whole_message():
    source = source_of("def loss(x):\n    y = 1 + foo(x)\n    return y\n")
    error = error_at(
        NoRuleError, source, find(source, ast.Call), "No rule for `foo`.", "add a rule."
    )
    assert type(error) is NoRuleError
    assert str(error) == (
        "No rule for `foo`.\n"
        '  File "model.py", line 2, in loss\n'
        "    y = 1 + foo(x)\n"
        "            ^^^^^^\n"
        "Instead: add a rule."
    )
    assert (error.filename, error.lineno) == ("model.py", 2)
    assert (error.reason, error.instead) == ("No rule for `foo`.", "add a rule.")


def marked(text, kind):
    """What the carets point at, by display column of single-width text."""
    source = source_of(text)
    _, _, shown, carets = str(
        error_at(SrcjaxError, source, find(source, kind), "why")
    ).split("\n")
    start = carets.index("^")
    assert carets.strip() == "^" * (len(carets) - start)
    return shown[start : len(carets)]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("def f(x):\n        return a * foo(x) + 1\n", ast.Call, "foo(x)"),
        ("f = lambda x: x @ x\n", ast.BinOp, "x @ x"),
        ("def f(x):\n    β = λ * g(θ) + 1\n", ast.Call, "g(θ)"),
        ("def f(x):\n    y = g(\n        x,\n    )\n", ast.Call, "g("),
        ("def f(x):\n\treturn g(x)\n", ast.Call, "g(x)"),
        ("if a:\n  if b:\n    del x\n", ast.Delete, "del x"),
    ],
)
def test_carets_stand_under_the_node(text, kind, expected):
    assert marked(text, kind) == expected


def test_carets_are_as_wide_as_wide_characters():
    source = source_of("def f(x):\n    return g('日本') + h(x)\n")
    node = source.node.body[0].value.right
    last = str(error_at(SrcjaxError, source, node, "why")).split("\n")[-1]
    assert last == "    " + " " * len("return g('____') + ") + "^^^^"
    assert "Instead" not in last


def test_a_tab_in_the_line_stays_a_tab():
    source = source_of("def f(x):\n    y =\tg(x)\n")
    message = str(error_at(SrcjaxError, source, find(source, ast.Call), "why"))
    assert message.endswith("    y =\tg(x)\n       \t^^^^")


def test_node_without_position_shows_the_function():
    source = source_of("\n\ndef f(x):\n    return x\n")
    error = error_at(UnsupportedError, source, ast.Name("t"), "why", "that")
    assert error.lineno == 3
    assert "def f(x):" in str(error)
    assert "^" not in str(error)


def test_without_a_location():
    error = ArgumentError("argnums is out of range.", instead="use 0.")
    assert str(error) == "argnums is out of range.\nInstead: use 0."
    assert error.filename is None
    assert error.lineno is None
    assert str(SrcjaxError("plain")) == "plain"


def test_hierarchy():
    for cls in (UnsupportedError, NoRuleError, SourceNotFoundError, ArgumentError):
        assert issubclass(cls, SrcjaxError)
    assert issubclass(ArgumentError, TypeError)
    assert issubclass(PerformanceWarning, UserWarning)


def test_pickles():
    source = source_of("def loss(x):\n    return foo(x)\n")
    error = error_at(ArgumentError, source, find(source, ast.Call), "why", "that")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)
