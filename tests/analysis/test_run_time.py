"""All of a function in core form: what derivatives do not need too."""

import inspect
from dataclasses import dataclass

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.analysis.types import Unknown, Varies, varying
from srcjax.backends.stage_listings import listings
from srcjax.frontend.check import violations
from srcjax.frontend.helper_names import HELPERS
from srcjax.pipeline import Request, at_run_time
from srcjax.versions.tree import argument_type

WEIGHTS = np.arange(6.0).reshape(2, 3)
RNG = np.random.default_rng(11)
X = RNG.normal(size=3)


def layers(params, x, y):
    h = x
    for W, b in params:
        h = np.tanh(h @ W + b)
    return np.mean((h - y) ** 2)


def in_place(x):
    u = np.zeros_like(x)
    u[0] = x[0]
    for i in range(1, len(x)):
        u[i] = 0.5 * u[i - 1] + np.sin(x[i])
        u[i - 1] *= x[i]
    return u.sum()


def root(x):
    y, n = x, 0
    while y * y > 2.0 and n < 50:
        y = y - (y * y - 2.0 * x) / (2 * y)
        n += 1
    return y * y


@dataclass
class Body:
    m: float
    v: np.ndarray

    def energy(self):
        return 0.5 * self.m * (self.v**2).sum()


def bodies(m, v):
    return Body(m, v).energy() + Body(2.0 * m, np.sin(v)).energy()


def step(p, v):
    f = np.zeros_like(p)
    f += p
    v += 0.1 * f
    p += 0.1 * v


def steps(x, v):
    x, v = x.copy(), v.copy()
    for _ in range(2):
        step(x, v)
    return (v**2).sum() + x[0]


def scaled(x):
    scale = 1.0 / (len(x) * np.abs(x).max())
    mask = np.abs(x).sum() > 0.5 and len(x) > 2
    if mask:
        return np.sum(x * x) * scale
    return np.sum(x) + 3 * (2.0 + x[0]) * (x[1] + x[2] ** 2)


def of_globals(x):
    k = np.zeros(3) * 2.0 + WEIGHTS.sum(axis=0)[0]
    for _ in range(2):
        k = k * x * np.pi
    return (WEIGHTS @ k).sum() * (2.0 * np.pi)


def branches(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += v * v
        elif v < -1:
            break
        else:
            total += np.exp(v)
    return total


PARAMS = [
    (RNG.normal(size=(3, 4)), RNG.normal(size=4)),
    (RNG.normal(size=(4, 2)), RNG.normal(size=2)),
]
CASES = [
    (layers, (PARAMS, RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2)))),
    (in_place, (X,)),
    (root, (1.7,)),
    (bodies, (1.5, X)),
    (steps, (X, X + 1.0)),
    (scaled, (X,)),
    (of_globals, (X,)),
    (branches, (X,)),
]


def written(transform, args):
    """The function that a transform wrote for these arguments."""
    transform(*args)
    versions = transform.__srcjax_transform__.versions
    return next(reversed(versions.values())).function


def derivatives(f, args):
    yield f, args
    yield written(srcjax.grad(f), args), args
    several = [np.stack([a, 2 * a]) if a is X else a for a in args]
    if any(a is X for a in args):
        axes = tuple(0 if a is X else None for a in args)
        mapped = srcjax.vmap(srcjax.grad(f), in_axes=axes)
        yield written(mapped, several), several


def core_of(function, args):
    names = list(inspect.signature(function).parameters)
    types = {n: argument_type(a, n, False) for n, a in zip(names, args, strict=True)}
    return at_run_time(Request(function, types, names))


def operations(node):
    """The operations in an expression that a place or test is not made of."""
    counted = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.Call)
    return [n for n in syntax.walk(node) if isinstance(n, counted)]


@pytest.mark.parametrize(("f", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_all_is_core_form_with_types_and_effects(f, args):
    for function, given in derivatives(f, args):
        program, unit = core_of(function, given)
        with varying(Varies.RUN_TIME):
            assert violations(unit) == []
        types = program.types_of(unit)
        unknown = {n for n, t in types.items() if isinstance(t, Unknown)}
        assert unknown <= given_by_helpers(unit), listings([unit.node])
        for stmt in syntax.walk(unit.node.body):
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                inner = [n for n in operations(stmt.value) if n is not stmt.value]
                shapes = {id(n) for n in inner if is_plain(n)}
                assert {id(n) for n in inner} == shapes, listings([stmt])
            if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Call):
                assert hasattr(stmt.value, "effect")
        if len(program.units) == 1:  # else it calls them by the names that they have
            check_value(function, given, unit)


def given_by_helpers(unit):
    """Names of what helpers give that are called where types do not tell which way."""
    return {
        stmt.targets[0].id
        for stmt in syntax.walk(unit.node.body)
        if isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Call)
        and getattr(stmt.value.func, "id", None) in HELPERS
    }


def check_value(function, args, unit):
    """The core form gives what the function gives."""
    names = dict(function.__globals__) | unit.extra
    exec(listings([unit.node]), names)
    wanted, found = function(*args), names[unit.node.name](*args)
    for a, b in zip(leaves(wanted), leaves(found), strict=True):
        np.testing.assert_array_equal(a, b)


def is_plain(node):
    """Indices, shapes and negative numbers stand where they are used."""
    arrays = (gast.MatMult, gast.Pow, gast.Div)
    if isinstance(node, gast.BinOp):
        return not isinstance(node.op, arrays)
    named = isinstance(node, gast.Call) and getattr(node.func, "id", "") in (
        "len",
        "range",
        "list",
        "tuple",
    )
    return named or isinstance(node, gast.UnaryOp)


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def opaque(x):
    names = {f"a{i}" for i in range(3)}
    total = 0.0
    for i in reversed(range(len(x))):  # one over containers would be written out
        total = total + x[i] * len(names)
    return total


def test_what_has_no_core_form_stays():
    _, unit = core_of(opaque, (X,))
    text = listings([unit.node])
    assert "for i2 in range(3)}" in text  # `i` is a variable of the function too
    assert "for i in reversed(range(len" in text


def test_a_gradient_inside_is_followed():
    def slope(x):
        return srcjax.grad(in_place)(x) * 2.0

    program, unit = core_of(slope, (X,))
    assert "np.cos(" in listings(u.node for u in program.units.values())
    assert violations(unit) == []
