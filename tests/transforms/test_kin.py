"""Names that can share memory by the text alone: all that inference finds, and more."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax import config, syntax
from srcjax.analysis.types import UNKNOWN, Array
from srcjax.transforms import finish
from srcjax.transforms.simplify.kin import Kin, Sharing, may_be_one_of

ARRAY = Array(dtype=np.dtype(float), shape=(3,))


def kin(text, **types):
    (node,) = syntax.statements(f"def f({', '.join(types)}):\n{text}")
    return Kin(node, lambda name: types.get(name, ARRAY), types)


def families(text, **types):
    found = kin(text, **types)
    return {frozenset(found.of(n)) for n in types} if found.known else None


@pytest.mark.parametrize(
    ("line", "shares"),
    [
        ("z = x + y", False),
        ("z = np.exp(x)", False),
        ("z = x.sum()", False),
        ("z = 1.0", False),
        ("z = x", True),
        ("z = x[1:]", True),
        ("z = x.T", True),
        ("z = np.ravel(x)", True),
        ("z = np.asarray(x)", True),
        ("z = (x, y)", True),
        ("z = x if n else y", True),
        ("z = helper(x)", None),
        ("z = [v for v in x]", None),
        ("z[0] = x", True),
        ("z += x", False),
        ("z.append(x)", True),
        ("for z in x:\n        pass", True),
        ("for i in range(z):\n        pass", False),
        ("with x as z:\n        pass", None),
    ],
)
def test_what_a_statement_lets_share(line, shares):
    found = kin(f"    {line}\n    return z", n=UNKNOWN)
    assert (("x" in found.of("z")) if found.known else None) == shares


def test_arithmetic_of_what_is_not_known_may_give_what_it_is_given():
    assert families("    z = x + y", x=UNKNOWN, y=ARRAY, z=ARRAY) == {
        frozenset("xyz"),
    }


def test_sharing_goes_on():
    found = kin("    a = x\n    b = a[1:]\n    c = b\n    d = y\n    e = c + d")
    assert found.of("c") == {"a", "b", "c", "x"}
    assert found.of("d") == {"d", "y"}
    assert found.of("e") == {"e"}


def test_inference_is_asked_for_families_alone():
    asked = []

    def inferred(name):
        asked.append(name)
        return {"b"}

    (node,) = syntax.statements("def f(x):\n    b = x\n    c = x + 1\n    return c")
    shares = Sharing(inferred, lambda: Kin(node, lambda name: ARRAY, {"x": ARRAY}))
    assert not may_be_one_of(shares, ("x",), {"c"})
    assert asked == []
    assert may_be_one_of(shares, ("x",), {"b"})
    assert asked == ["x"]


def views(x):
    y = x.copy()
    row = y[1:]
    row *= x[0]
    turned = row[::-1]
    y[0] = np.sum(turned) * x[1]
    return np.sum(y * turned[0])


def loop(x):
    total = np.zeros(3)
    for i in range(3):
        part = total
        part += x[i] * x
        total = np.tanh(part)
    return np.sum(total)


def parts(x):
    pair = [x, 2 * x]
    first = pair[0]
    pair[1] = first * x
    s = pair[1]
    return np.sum(s) + np.sum(first) * x[0]


def straight(x):
    a = np.sin(x) * x
    b = a - x
    c = a * b + b
    return np.sum(c * a)


@pytest.mark.parametrize(
    ("function", "mode"),
    [
        (views, "grad"),
        (views, "jvp"),
        (views, "vmap"),
        (loop, "hvp"),
        (loop, "vmap"),
        (parts, "jvp"),
        (straight, "grad"),
    ],
)
def test_all_that_inference_finds(function, mode, monkeypatch):
    monkeypatch.setattr(config, "keep_texts", False)
    looked = []
    make = Sharing.kin.func

    def compared(self):
        found = make(self)
        finisher = self.inferred.__self__
        names = syntax.all_names(finisher.node)
        for name in names if found.known and finisher.writes else ():
            looked.append(name)
            assert finisher.sharing(name) & names <= found.of(name)
        return found

    watched = functools.cached_property(compared)
    watched.__set_name__(Sharing, "kin")
    monkeypatch.setattr(Sharing, "kin", watched)
    run = finish.run_passes

    def asking(todo, finisher, watch, written):
        _ = finisher.shares.kin
        run(todo, finisher, watch, written)

    monkeypatch.setattr(finish, "run_passes", asking)
    x = np.array([0.3, 0.5, 0.7])
    if mode == "vmap":
        srcjax.source(srcjax.vmap(function), np.stack([x, x]))
    elif mode == "hvp":
        srcjax.source(srcjax.jvp(srcjax.grad(function)), x)
    else:
        srcjax.source(getattr(srcjax, mode)(function), x)
    assert looked
