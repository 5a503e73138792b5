"""Second derivatives of every rule: the tangent of the gradient, at one call of each.

`test_rules` and `test_tangents` check each rule by itself, to first order. Here a
function calls the operation, and the tangent of its gradient is compared with the
difference of the gradient: so the text of a rule can be differentiated, and is right.
Composites are checked in their own files, in all nestings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load
from srcjax.ops.record import Op, lookup

from .helpers import real_parameters
from .test_numpy_composites import plain
from .test_rules import (
    DOMAIN,
    INTEGER_FIRST,
    JUMPS,
    WRT,
    draw,
    elementwise_rows,
    is_of_numbers,
)
from .test_scipy_special import ROWS
from .test_tangents import CASES, LOOSE

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 12

special = pytest.importorskip("scipy.special")

#: Keywords of the checks, which are none of the functions.
OF_CHECKS = {*LOOSE, "parts", "loose", "wrt", "numeric", "float32", "seed"}
#: Not differentiable twice at a call of the table, or not by a difference, and why.
FIRST_ORDER_ONLY: dict[str, str] = {
    "numpy.block": "its adjoint takes the pieces from an iterator",
    "numpy.longdouble": "its rule looks at the argument's dtype when it runs",
}


def calls() -> dict[str, tuple[Op, Any, tuple, dict]]:
    """One call of each operation with a rule of its own, by the operation's name."""
    found: dict[str, tuple[Op, Any, tuple, dict]] = {}
    for function, arity in elementwise_rows():
        op = lookup(function)
        name = function.__name__
        args = [float(v) for v in draw((arity,), *DOMAIN.get(name, (0.2, 0.9)))]
        if name in JUMPS:
            args[1] += 3
        if name in INTEGER_FIRST:
            args[0] = 2
        numbers = is_of_numbers(function)
        given = args if numbers else [args[0], *map(np.float64, args[1:])]
        wrt = WRT.get(name)
        found.setdefault(op.name, (op, function, tuple(given), {"wrt": wrt}))
    for name, rows in ROWS.items():
        function = getattr(special, name, None)
        if function is None:
            continue
        op = lookup(function)
        args, positions = rows[0]
        names = ("x",) if len(args) == 1 else ("a", "b", "c", "e")
        wrt = tuple(names[i] for i in positions)
        found.setdefault(op.name, (op, function, args, {"wrt": wrt}))
    for parameters in CASES:
        function, args, kwargs = parameters.values
        op = lookup(function)
        if kwargs.get("numeric", True):
            found.setdefault(op.name, (op, function, args, dict(kwargs)))
    return found


CALLS = calls()


def written_out(
    op: Op, function: Any, args: tuple, kwargs: dict
) -> tuple[Any, tuple[Any, ...]]:
    """`def loss(a0): return weighted_sum(w, function(a0, a1, axis=0))`, and `a0`."""
    given = {k: v for k, v in kwargs.items() if k not in OF_CHECKS}
    bound = op.bind(list(args), given)
    wrt = kwargs.get("wrt") or real_parameters(op, bound)
    scope: dict[str, Any] = {"np": np, "function": function}
    names, moved, values = [], [], []
    positional = [p for p in op.signature.parameters]
    for i, value in enumerate(args):
        name = f"a{i}"
        names.append(name)
        parameter = positional[min(i, len(positional) - 1)]
        if parameter in wrt:
            moved.append(name)
            values.append(value)
        else:
            scope[name] = value
    for key, value in given.items():
        if key in wrt:
            moved.append(f"{key}_")
            values.append(value)
        else:
            scope[f"{key}_"] = value
        constant = plain(value) and key not in wrt
        names.append(f"{key}={value!r}" if constant else f"{key}={key}_")
    result = function(*args, **given)
    lines = [f"y = function({', '.join(names)})"]
    if isinstance(result, (tuple, list)):
        parts = kwargs.get("parts") or range(len(result))
        terms = []
        for k in parts:
            if np.asarray(result[k]).dtype.kind == "f":
                scope[f"w{k}"] = weights(result[k])
                terms.append(f"np.sum(np.sin(w{k} * y[{k}]))")
        lines.append(f"return {' + '.join(terms)}")
    else:
        scope["w"] = weights(result)
        lines.append("return np.sum(np.sin(w * y))")
    text = f"def loss({', '.join(moved)}):\n    " + "\n    ".join(lines) + "\n"
    return load(text, "loss", scope).loss, tuple(values)


def weights(value: Any) -> Any:
    return np.random.default_rng(1).uniform(0.5, 1.5, np.shape(value))


def shifted(value: Any, tangent: Any, step: float) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(
            shifted(v, t, step) for v, t in zip(value, tangent, strict=True)
        )
    return value + step * tangent


def direction(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(direction(v, rng) for v in value)
    drawn = rng.normal(size=np.shape(value))
    return drawn if isinstance(value, np.ndarray) else float(drawn)


def flat(value: Any) -> np.ndarray:
    if isinstance(value, (list, tuple)):
        return np.concatenate([flat(v) for v in value])
    return np.ravel(np.asarray(value, float))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_tangent_of_the_gradient(name):
    if name in FIRST_ORDER_ONLY:
        pytest.skip(FIRST_ORDER_ONLY[name])
    op, function, args, kwargs = CALLS[name]
    loss, values = written_out(op, function, args, kwargs)
    rng = np.random.default_rng(0)
    tangents = tuple(direction(v, rng) for v in values)
    gradient = srcjax.grad(loss, tuple(range(len(values))))
    _, found = srcjax.jvp(gradient, values, tangents)

    def at(step):
        moved = [shifted(v, t, step) for v, t in zip(values, tangents, strict=True)]
        return flat(gradient(*moved))

    h = 1e-4
    expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    size = 1 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(flat(found), expected, rtol=1e-5, atol=1e-6 * size)


@pytest.mark.parametrize("transform", [srcjax.jacfwd, srcjax.jacrev])
def test_exponents_that_are_zero(transform):
    """The derivative of `y * x**(y - 1)` to `y`, where that is 0."""
    x, y = np.array([1.3, 2.0, 0.0]), np.array([0.0, 1.0, 2.0])
    slope = srcjax.grad(lambda x, y: np.sum(x**y))
    mixed = np.diag(transform(slope, argnums=1)(x, y))
    np.testing.assert_allclose(mixed, [1 / 1.3, 1 + np.log(2.0), 0.0])
    np.testing.assert_array_equal(slope(np.zeros(2), np.zeros(2)), 0)
    assert transform(srcjax.grad(lambda x, y: x**y), argnums=1)(1.3, 0.0) == 1 / 1.3
