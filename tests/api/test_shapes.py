"""Texts for arguments that are told by their shapes, by hints or by the last call."""

from typing import Annotated

import numpy as np
import pytest

import srcjax
from srcjax.beside import terminal
from srcjax.errors import ArgumentError, SrcjaxError


def loss(W, x, y):
    return np.sum((np.tanh(x @ W) - y) ** 2)


def hinted(W: Annotated[np.ndarray, "n h"], x: Annotated[np.ndarray, "n"], k: int = 2):
    return np.sum(W.T @ x) ** k


def chosen(x, mode="sum"):
    return np.sum(x) if mode == "sum" else np.sum(x**2)


def apart(x, y):
    return np.sum(x**2) * np.sum(y)


class OfJaxtyping:
    dim_str = "m n"


def of_jaxtyping(x: OfJaxtyping):
    return np.sum(x * x)


def test_shapes_by_name():
    d = srcjax.grad(loss)
    text = srcjax.source(d, W="n h", x="m n", y="m, h")
    assert "for W: (n, h), x: (m, n), y: (m, h)." in text
    assert "unbroadcast" not in text and "srcjax" not in text
    space = {}
    exec(text, space)
    rng = np.random.default_rng(0)
    args = rng.normal(size=(3, 2)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    np.testing.assert_array_equal(space["grad_loss"](*args), d(*args))
    with pytest.raises(ValueError, match=r"W: \(n, h\), x: \(m, n\), y: \(m, h\)"):
        space["grad_loss"](args[0], args[1], args[2][0])
    assert "y: (h,)" in srcjax.source(d, W="n h", x="m n", y="h")


def test_sizes_of_one_name_are_the_same():
    d = srcjax.grad(apart)
    assert "y.shape != x.shape" in srcjax.source(d, x="n", y="n")
    assert "y.shape != x.shape" not in srcjax.source(d, x="n", y="k")
    assert "x: (n,), y: (k,)" in srcjax.source(d, x="n", y="k")
    assert "x: (rows, 3)" in srcjax.source(d, x="rows 3", y="")


@pytest.mark.parametrize("transform", [srcjax.vmap, srcjax.jit, srcjax.jvp])
def test_shapes_for_other_transforms(transform):
    assert "x: (b, n), y: (b, k)" in srcjax.source(transform(apart), x="b n", y="b k")


def test_strings_that_are_no_shapes():
    d = srcjax.grad(chosen)
    assert "2 * x" in srcjax.source(d, x="n", mode="squares")
    assert "2 * x" in srcjax.source(d, x=np.ones(3), mode="squares")
    with pytest.raises(ArgumentError, match="'n-1' is no size"):
        srcjax.source(d, x="n-1")
    with pytest.raises(SrcjaxError, match="tried with n = 5, h = 7, m = 11"):
        srcjax.source(srcjax.grad(loss), W="n h", x="n m", y="m h")


def test_shapes_of_hints():
    assert "for W: (n, h), x: (n,), k: int." in srcjax.source(srcjax.grad(hinted))
    assert "x: (m, n)" in srcjax.source(srcjax.grad(of_jaxtyping))


def test_without_arguments_it_is_the_text_of_the_last_call():
    d = srcjax.grad(apart)
    untyped = srcjax.source(d)
    for x in (2.0, np.ones(3), 2.0, 2.0, 2.0, np.ones((2, 3)), 2.0):
        d(x, 3.0)
        assert srcjax.source(d) == srcjax.source(d, x, 3.0)
    assert srcjax.source(srcjax.grad(apart)) == untyped
    batched = srcjax.vmap(apart)
    for n in (2, 3, 2):
        batched(np.ones((n, n)), np.ones(n))
        assert srcjax.source(batched) == srcjax.source(
            batched, np.ones((n, n)), np.ones(n)
        )
    along = srcjax.jvp(apart)
    along((2.0, 3.0), (1.0, None))
    assert "def jvp_apart(x, y, x_dot):" in srcjax.source(along)


def test_a_prompt_shows_the_text(monkeypatch):
    text = srcjax.source(srcjax.grad(apart), x="n", y="n")
    assert repr(text) == str(text)  # not a line with `\n` in it
    monkeypatch.setattr(terminal.sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(terminal, "has_colours", lambda: True)
    shown = repr(text)
    assert "\x1b[" in shown and "\x1b[" not in str(text)
    import re

    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == text


def test_colours_are_for_terminals(monkeypatch, capsys):
    assert not terminal.has_colours()
    monkeypatch.setattr(terminal.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.has_colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.has_colours()
