"""Local algebra: what becomes of an expression, and that its value stays."""

from __future__ import annotations

import random

import gast
import numpy as np
import pytest

from srcjax import syntax
from srcjax.backends.python_text import emit
from srcjax.transforms.algebra import tidy
from srcjax.transforms.simplify.plain import item_of_display

# x, y, z, dy and np.sin(...) are floating; nothing is known of n, m and f(...).
CASES = """
x * 1 -> x
1 * x -> x
1.0 * x -> x
x * 1.0 -> x
x / 1 -> x
x / 1.0 -> x
x ** 1 -> x
x ** 1.0 -> x
x ** (2 - 1) -> x
dy / (1 + x) * x -> dy * (x / (1 + x))
-dy / (1 + x) * x * y -> -dy * (x / (1 + x)) * y
dy / (1 + x) * y -> dy / (1 + x) * y
dy / (1 + n) * n -> dy / (1 + n) * n
dy / (y + x) * x -> dy / (y + x) * x
2 * x**1 -> 2 * x
x + 0 -> x
0.0 + x -> x
x - 0 -> x
n * 1 -> n * 1
n + 0 -> n + 0
n / 1 -> n / 1
n ** 1 -> n
2 * (1.0 * n) -> 2.0 * n
2 * (n * 0.5) -> 2 * (n * 0.5)
n * 0.5 * 2 -> n * 0.5 * 2
2 * (3 * n) -> 2 * (3 * n)
0.1 * (0.1 * n) -> 0.01 * n
1.0 * n / m -> 1.0 * n / m
1.0 * n * m / 2 -> 1.0 * n * m / 2
1 * (n / m) -> n / m
0 + n / m -> n / m
n / m * 1 + n * 1 -> n / m + n * 1
0 - x -> -x
0 - n -> 0 - n
--x -> x
--n -> --n
x * -1 -> -x
-1.0 * x -> -x
x / -1 -> -x
n * -1 -> n * -1
x + -y -> x - y
n + -x -> n - x
x + -n -> x + -n
x - -y -> x + y
-x + y -> y - x
-x - y -> -x - y
x + -2 -> x - 2
x - -2 -> x + 2
n + -1 -> n - 1
-(x - y) -> y - x
-(x + y) -> -(x + y)
-(n - m) -> -(n - m)
-x @ y -> -(x @ y)
x @ -y -> -(x @ y)
-x @ -y -> x @ y
-n @ x -> -n @ x
2 * x + 3 * x -> 5 * x
x * y + y * x -> 2 * x * y
n * m + m * n -> n * m + m * n
x + y + x -> 2 * x + y
x - y + x -> 2 * x - y
x * y - x * z -> x * (y - z)
x * z + y * z -> (x + y) * z
n * x + n * y -> n * (x + y)
n * m + n * k -> n * m + n * k
2 * x * y - 2 * z -> 2 * (x * y - z)
dy * x * y + dy * x * z -> dy * x * (y + z)
x * y - x -> x * y - x
x / z - y / z -> (x - y) / z
n / z - m / z -> n / z - m / z
x * y / z - np.sin(x) / z -> (x * y - np.sin(x)) / z
n - y + n -> n - y + n
0.5 * x - 1.5 * x -> -x
2 * n + 3 * n -> 2 * n + 3 * n
2 * x + 3 * y -> 2 * x + 3 * y
-x * y -> -x * y
x * -y -> -x * y
-x * -y -> x * y
-(x * y) -> -x * y
-(n * x) -> -(n * x)
x / -y -> -x / y
-x / -y -> x / y
-(-x * y) -> x * y
x - -y * z -> x + y * z
x + -y * z -> x - y * z
x + y * -z -> x - y * z
-x * y + z -> z - x * y
x * -y * z -> -x * y * z
-(x * y) * -z -> x * y * z
-(x ** 2) -> -(x**2)
-(x ** 2 * y) -> -(x**2 * y)
-(2 * x) -> -2 * x
-(-2 * x) -> 2 * x
-(2 / x) -> -2 / x
2 * -x -> -2 * x
-x * 2 -> -2 * x
x * -2 -> -2 * x
x / -2 -> -x / 2
y + -2 * x -> y - 2 * x
y - -2 * x -> y + 2 * x
-2 * x + y -> y - 2 * x
y + -(2 / x) -> y - 2 / x
-2 / x + y -> y - 2 / x
-2 * x - y -> -2 * x - y
-2 * n -> -2 * n
2 * 0.5 -> 1.0
2 * 3 -> 6
2.0 * 3 -> 6.0
6 / 2 -> 3.0
7 // 2 -> 3
2 ** 3 -> 8
2 ** -1 -> 0.5
1 / 0 -> 1 / 0
1 / 3 -> 1 / 3
0.1 + 0.2 -> 0.1 + 0.2
10 ** 400 -> 10**400
2 - 3 -> -1
2 * (3 * x) -> 6 * x
2 * (x * 3) -> 6 * x
2 * x * 3 -> 6 * x
x * 2 * 3 -> 6 * x
2 * (0.5 * x) -> x
0.5 * (2 * x) -> x
2 * x / 2 -> x
x * 2 / 2 -> x
2 * (x / 2) -> x
x / 2 * 2 -> x
3 * x / 2 -> 1.5 * x
2 * x / 3 -> 2 * x / 3
4 * x / 2 -> 2 * x
2 * (1 / x) -> 2 / x
2 * (3 / x) -> 6 / x
x / 2 / 4 -> x / 8
x / 3 / 5 -> x / 3 / 5
0.1 * (0.2 * x) -> 0.02 * x
3 * (0.1 * x) -> 0.3 * x
3 * x**2 * 0.1 -> 0.3 * x**2
0.333333 * (0.777777 * x) -> 0.333333 * (0.777777 * x)
2 * (3 * n) -> 2 * (3 * n)
2.0 * x -> 2 * x
x * 2.0 -> 2 * x
x * y * 2 -> 2 * x * y
n * 2 -> n * 2
x / 2.0 -> x / 2
1.0 / x -> 1 / x
x ** 2.0 -> x**2
x + 1.0 -> x + 1.0
2.5 * x -> 2.5 * x
0.0 * x -> 0.0 * x
2.0 * n -> 2.0 * n
x + x -> 2 * x
x * y + x * y -> 2 * (x * y)
n + n -> n + n
x * x -> x * x
x ** 0 -> x**0
x ** 2 -> x**2
x * (1 / y) -> x / y
1 / x * y -> y / x
x * (1 / n) -> x * (1 / n)
n * (1 / m) -> n * (1 / m)
x * y / 1 -> x * y
np.sin(x * 1) * 1 -> np.sin(x)
f(x * 1) * 1 -> f(x) * 1
f(1.0 * x, k=x + 0) -> f(x, k=x)
a[n + -1] -> a[n - 1]
(x * 1, [x + 0]) -> (x, [x])
x * 1 if x - 0 > 0 else --y -> x if x > 0 else y
lambda x: x * 1 -> lambda x: x * 1
True * x -> True * x
x * 1j -> x * 1j
dy * 1.0 + -(2 * (0.5 * x)) -> dy - x
2 * x ** (2 - 1) * dy -> 2 * x * dy
-1 * (dy * -np.sin(x)) -> dy * np.sin(x)
dy * (1.0 * (1 - y * y)) -> dy * (1 - y * y)
dy * -1.0 / x ** 2 -> -dy / x**2
dy * -x / (x * x) -> -dy * x / (x * x)
x * 4 * y * 3 -> 12 * x * y
x * (y * 2) * (3 * z) -> 6 * x * y * z
x * 2 * y * 0.5 -> x * y
-2 * x * y * 3 -> -6 * x * y
n * 4 * m * 3 -> n * 4 * m * 3
0.1 * x * y * 0.1 -> 0.01 * x * y
(2 * x)[:, None] -> (2 * x)[:, None]
y * (2 * x)[:, None] -> y * (2 * x)[:, None]
y * (2 * x)[:, None] * 3 -> 6 * y * x[:, None]
3 * (2 * x * y)[:, :, None] -> 6 * (x * y)[:, :, None]
dy * (-x)[None] -> -dy * x[None]
(2 * n)[:, None] -> (2 * n)[:, None]
(2 * x)[1:, None] -> (2 * x)[1:, None]
(2 * x)[0] -> (2 * x)[0]
"""
POPS = """
t.pop() + t.pop() -> t.pop() + t.pop()
2 * t.pop() + 3 * t.pop() -> 2 * t.pop() + 3 * t.pop()
x + t.pop() + t.pop() -> x + t.pop() + t.pop()
-t.pop() + t.pop() -> -t.pop() + t.pop()
-(t.pop() - t.pop()) -> -(t.pop() - t.pop())
1 / t.pop() * t.pop() -> 1 / t.pop() * t.pop()
t.pop() + -t.pop() -> t.pop() - t.pop()
t.pop() * 1 + t.pop() * 1 -> t.pop() + t.pop()
"""
FLOATS = {"x", "y", "z", "dy"}


def parsed(text: str) -> gast.expr:
    return gast.parse(text, mode="eval").body


def is_float(node: gast.expr) -> bool:
    if isinstance(node, gast.Call):
        return emit(node.func) == "np.sin"
    return isinstance(node, gast.Name) and node.id in FLOATS


def tidied(text: str) -> str:
    return emit(tidy(parsed(text), is_float, is_float))


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_rewrites(case: str) -> None:
    before, after = case.split(" -> ")
    assert tidied(before) == after


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_second_time_changes_nothing(case: str) -> None:
    once = tidied(case.split(" -> ")[0])
    assert tidied(once) == once


def test_the_argument_is_not_changed() -> None:
    tree = parsed("-(x * 1) * (y + 0)")
    before = gast.dump(tree)
    tidy(tree, is_float, is_float)
    assert gast.dump(tree) == before


@pytest.mark.parametrize("case", POPS.strip().splitlines())
def test_what_is_taken_off_is_taken_as_often_in_its_order(case: str) -> None:
    before, after = case.split(" -> ")
    assert emit(tidy(parsed(before), lambda _: True, lambda _: True)) == after


def test_signs_of_what_may_be_an_integer() -> None:
    """An adjoint is no unsigned integer: signs move, but it may be no float."""

    def is_adjoint(node: gast.expr) -> bool:
        return isinstance(node, gast.Name) and node.id == "dn"

    def written(text: str) -> str:
        return emit(tidy(parsed(text), is_adjoint, lambda _: False))

    assert written("n + -dn * m") == "n - dn * m"
    assert written("dn + dn") == "2 * dn"
    assert written("n + -m") == "n + -m"
    assert written("dn * 1.0") == "dn * 1.0"


def test_unchanged_parts_are_shared() -> None:
    tree = parsed("np.dot(x, y) * 1 + z")
    new = tidy(tree, is_float, is_float)
    assert new is tree
    new = tidy(parsed("z + 0 + np.dot(x, y)"), is_float, is_float)
    assert emit(new) == "z + np.dot(x, y)"


def random_expression(choose: random.Random, depth: int) -> str:
    """Text of random arithmetic, rich in what the rules look for."""
    if depth == 0:
        atoms = [
            "x",
            "y",
            "z",
            "n",
            "1",
            "0",
            "2",
            "-1",
            "1.0",
            "0.5",
            "2.0",
            "-2",
            "3",
        ]
        return choose.choice(atoms)
    left = random_expression(choose, depth - 1)
    right = random_expression(choose, choose.randint(0, depth - 1))
    forms = ["({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "(-{0})"]
    forms += ["({0} + {0})", "({0} * (1 / {1}))", "({0} ** 2)", "({0} ** 1)"]
    return choose.choice(forms).format(left, right)


def random_expressions(count: int) -> list[str]:
    choose = random.Random(7)
    return [random_expression(choose, 1 + index % 5) for index in range(count)]


def values(kind: str) -> dict[str, object]:
    random_ = np.random.default_rng(0)
    x, y, z = random_.uniform(0.5, 2.0, (3, 4))
    if kind == "float32":
        x, y, z = (v.astype(np.float32) for v in (x, y, z))
    if kind == "shapes":
        return {"x": x, "y": float(y[0]), "z": z[:, None], "n": np.arange(1, 5)}
    if kind == "scalars":
        return {"x": float(x[0]), "y": np.float64(y[0]), "z": float(z[0]), "n": 3}
    return {"x": x, "y": y, "z": z, "n": np.arange(1, 5, dtype=np.int16)}


@pytest.mark.parametrize("kind", ["float64", "float32", "shapes", "scalars"])
@pytest.mark.parametrize("part", range(4))
def test_value_dtype_and_shape_stay(kind: str, part: int) -> None:
    names = values(kind)
    compared = 0
    for text in random_expressions(1200)[part::4]:
        new = tidied(text)
        with np.errstate(all="ignore"):
            try:
                before = eval(text, {}, names)
            except ArithmeticError:
                continue
            after = eval(new, {}, names)
        size = np.abs(before)
        if not np.all(np.isfinite(size)) or np.any(size > 1e6) or np.any(size < 1e-3):
            continue  # Where digits cancel, nothing is left to compare.
        compared += 1
        assert np.asarray(after).dtype == np.asarray(before).dtype, (text, new)
        assert np.shape(after) == np.shape(before), (text, new)
        rtol = 1e-3 if kind == "float32" else 1e-12
        np.testing.assert_allclose(after, before, rtol=rtol, err_msg=f"{text}: {new}")
    assert compared > 100


@pytest.mark.parametrize(
    "before, after",
    [
        ("(x,)[0]", "x"),
        ("(x, np.sin(y))[-1]", "np.sin(y)"),
        ("((x, y)[1], z)[0] * 2", "y * 2"),
        ("(x, f(y))[0]", "(x, f(y))[0]"),
        ("(x, *n)[1]", "(x, *n)[1]"),
        ("(x, y)[n]", "(x, y)[n]"),
        ("(x, y)[2]", "(x, y)[2]"),
    ],
)
def test_item_of_a_display(before: str, after: str) -> None:
    found = syntax.map_expressions(parsed(before), item_of_display)
    assert emit(found) == after
