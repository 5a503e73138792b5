"""Products and quotients in lowest terms."""

import gast
import numpy as np
import pytest

from srcjax import syntax
from srcjax.transforms.simplify.factors import cancelled

# s and t are numbers, x and y arrays of one shape; of n nothing is known.
VALUES = {"s": 1.7, "t": -0.6, "x": np.array([1.5, -2.0]), "y": np.array([0.4, 3.0])}
CASES = """
2 * (x * y) -> 2 * x * y
2 * (x / (2 * s)) -> x / s
2 * (x / s ** 2 / (2 * s) * y) -> x / s ** 3 * y
x / y ** 2 / (2 * y) -> x / y ** 2 / (2 * y)
x / y ** 2 * y -> x / y
s * x * t / s -> x * t
-0.5 / s * s * x -> -0.5 * x
-(x / s) * s -> -x
x / s * s * -1 -> -x
s / x * x -> s / x * x
s / s -> s / s
2 / (2 * s) -> 1 / s
x / 3 * 2 -> x / 3 * 2
0.1 * x * 3 -> 0.1 * x * 3
n / m * m -> n / m * m
f.pop() * x / f.pop() -> f.pop() * x / f.pop()
x * y / s -> x * y / s
"""


def kind(node: gast.expr):
    """The shape of an expression of known names, None if unknown."""
    if not syntax.names_read(node) <= set(VALUES):
        return None
    return np.shape(eval(syntax.text(node), {}, dict(VALUES)))


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_cancelled(case):
    before, after = case.split(" -> ")
    node = syntax.expression(before)
    new = cancelled(
        node,
        lambda a, b: kind(a) is not None and kind(a) == kind(b),
        lambda e: kind(e) is not None,
        lambda e: kind(e) == (),
    )
    assert syntax.text(new) == after
    if kind(node) is not None:
        old = eval(before, {}, dict(VALUES))
        np.testing.assert_allclose(eval(after, {}, dict(VALUES)), old, rtol=1e-14)
