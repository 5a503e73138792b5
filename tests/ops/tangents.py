"""Checks one operation's tangent rule by itself, without the pass that pastes it.

`check_tangent(np.sum, x, axis=0)` runs the text of the rule on values (or, of an
operation that is linear, calls it with the tangents in place of the arguments, as the
slot `linear` says) and compares with

- finite differences along a random direction,
- the adjoint rule: the adjoint of a cotangent, dotted with the direction, is the
  cotangent dotted with the tangent. That holds at kinks and ties too;
- the same rule with each runtime helper replaced by its expansion;
- the shapes of the result, and its dtype where everything is float32.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops.record import Op, Template, lookup

from .helpers import (
    CONTROL,
    Weakening,
    adjoint_keys_read,
    as_float32,
    assert_close,
    call,
    contribution_to,
    cotangent,
    leaves_are,
    like,
    real_parameters,
    run_adjoint,
    run_template,
    spread,
    taken,
    weakenings,
)


def check_tangent(
    function: Any,
    *args: Any,
    wrt: tuple[str, ...] | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-7,
    numeric: bool = True,
    float32: bool = True,
    seed: Any = None,
    **kwargs: Any,
) -> Any:
    """Check the tangent of the operation behind `function` at these arguments.

    `seed` replaces the cotangent of the comparison with the adjoint. Returns the
    tangent along the direction.
    """
    op = lookup(function)
    assert op is not None, f"no record of {function}"
    assert op.tangent is not None or op.linear, f"{op.name} has no tangent"
    bound = op.bind(list(args), kwargs)
    wanted = wrt if wrt is not None else real_parameters(op, bound)
    along = {name: direction(bound[name]) for name in wanted}
    result = function(*args, **kwargs)
    found = run_tangent(function, op, bound, result, along)
    if op.elementwise:  # it may only broadcast to the result
        found = spread(found, result)
    assert_structure(found, result, f"{op.name}: tangent")
    seed = cotangent(result) if seed is None else seed
    adjoints = run_adjoint(op, bound, result, seed, wanted)
    assert_pairing(seed, found, adjoints, along, f"{op.name}: tangent and adjoint")
    if numeric:
        expected = differences_along(function, op, bound, along)
        compare(found, expected, f"{op.name}: tangent", rtol=rtol, atol=atol)
    if calls_helpers(op):
        for weaken in weakenings(bound):
            expanded = run_tangent(function, op, bound, result, along, weaken)
            label = f"{op.name}: tangent expanded under {weaken.__name__}"
            compare(expanded, found, label, rtol=1e-9, atol=1e-12)
    if len(wanted) > 1:  # one at a time: those left out are not active
        check_sum_of_parts(function, op, bound, result, along, found)
    if float32:
        check_float32(function, op, bound, wanted)
    return found


def check_sum_of_parts(
    function: Any, op: Op, bound: dict, result: Any, along: dict, found: Any
) -> None:
    """The tangent is the sum of those along one argument at a time."""
    parts = [
        run_tangent(function, op, bound, result, {name: v}) for name, v in along.items()
    ]
    total = parts[0]
    for part in parts[1:]:
        total = plus(total, part)
    compare(found, total, f"{op.name}: sum of parts", rtol=1e-9, atol=1e-9)


def check_float32(function: Any, op: Op, bound: dict, wanted: tuple[str, ...]) -> None:
    """Of float32 arguments and a float32 result the tangent is float32 too."""
    bound = {n: as_float32(v) if n not in CONTROL else v for n, v in bound.items()}
    if not all(leaves_are(np.float32, bound[n]) for n in wanted):
        return
    result = call(function, op, bound)
    if not leaves_are(np.float32, result):
        return
    along = {name: direction(bound[name]) for name in wanted}
    ways = (None, *weakenings(bound)) if calls_helpers(op) else (None,)
    for weaken in ways:
        found = run_tangent(function, op, bound, result, along, weaken)
        shown = weaken.__name__ if weaken else "the helper"
        assert leaves_are(np.float32, found), f"{op.name}: not float32 by {shown}"


def calls_helpers(op: Op) -> bool:
    """Whether the tangent rule has calls that expand where types are known."""
    return op.tangent is not None and any(
        isinstance(n, gast.Call) and getattr(n.func, "id", None) in HELPERS
        for n in syntax.walk(op.tangent.body)
    )


# -- running a rule ------------------------------------------------------------------


def run_tangent(
    function: Any,
    op: Op,
    bound: dict[str, Any],
    result: Any,
    along: dict[str, Any],
    weaken: Weakening | None = None,
) -> Any:
    """The tangent along `along`, zero along the arguments that are not in it."""
    terms = []
    for group in op.linear:
        terms += linear_terms(function, op, bound, along, group)
    if op.tangent is not None:
        terms += template_terms(op, op.tangent, bound, result, along, weaken)
    assert terms, f"{op.name}: no term along {sorted(along)}"
    if isinstance(result, (tuple, list)):  # its parts would have to be added
        assert len(terms) == 1, f"{op.name}: terms of a result with parts"
    total = terms[0]
    for term in terms[1:]:
        total = plus(total, term)
    return total


def linear_terms(
    function: Any, op: Op, bound: dict, along: dict, group: tuple[str, ...]
) -> list[Any]:
    """The calls with tangents in place of the arguments of the group."""
    if group[0].startswith("*"):
        name = group[0][1:]
        if name not in along:
            return []
        places = range(len(bound[name]))
        return [
            call(function, op, {**bound, name: with_item(bound[name], k, along[name])})
            for k in places
        ]
    if not set(group) & set(along):
        return []
    given = [n for n in group if n in bound]
    changed = {n: along.get(n, zeros(bound[n])) for n in given}
    return [call(function, op, {**bound, **changed})]


def with_item(items: Any, k: int, tangents: Any) -> Any:
    """The items with the tangent of item k in its place."""
    return type(items)([*items[:k], tangents[k], *items[k + 1 :]])


def template_terms(
    op: Op,
    template: Template,
    bound: dict,
    result: Any,
    along: dict,
    weaken: Weakening | None,
) -> list[Any]:
    """What each statement adds; zeros stand for the tangents that are not there."""
    name = template.parameters[0]
    defaults = {
        k: p.default
        for k, p in op.signature.parameters.items()
        if p.default is not p.empty
    }
    scope = {**HELPERS, **template.globals, **defaults, **bound, name: result}
    statements = list(taken(template.body, scope))
    locals_ = [s for s in statements if contribution_to(s) is None]
    terms = []
    for statement in statements:
        keys = adjoint_keys_read(statement)
        if contribution_to(statement) is None or not keys & set(along):
            continue
        missing = {k: zeros({**defaults, **bound}[k]) for k in keys - set(along)}
        body = [*locals_, statement]
        part = Template(lambda body=body: body, template.parameters, template.globals)
        seeds = {**along, **missing}
        found = run_template(op, part, bound, result, seeds, (name,), weaken)
        terms.append(found[name])
    return terms


# -- values --------------------------------------------------------------------------


def direction(value: Any) -> Any:
    """Random numbers in the structure, shapes and dtypes of the value."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(direction, value))
    if np.asarray(value).dtype.kind != "f":
        return zeros(value)
    rng = np.random.default_rng(5 + np.size(value))
    return like(rng.normal(size=np.shape(value)), value)


def zeros(value: Any) -> Any:
    """Zeros in the structure and shapes of the value."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(zeros, value))
    if value is None:
        return None
    return like(np.zeros(np.shape(value)), value)


def plus(a: Any, b: Any, factor: float = 1.0) -> Any:
    """`a + factor * b`, part by part."""
    if isinstance(a, (list, tuple)):
        parts = [plus(x, y, factor) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    if np.asarray(a).dtype.kind not in "fc":
        return a
    total = a + b if factor == 1 else a + factor * b
    return np.asarray(total) if isinstance(a, np.ndarray) else total


def difference(a: Any, b: Any) -> Any:
    if isinstance(a, (list, tuple)):
        return [difference(x, y) for x, y in zip(a, b, strict=True)]
    return np.asarray(a, float) - np.asarray(b, float)


def differences_along(function: Any, op: Op, bound: dict, along: dict) -> Any:
    """The tangent by differences of fourth order."""
    h = 1e-4

    def at(t: float) -> Any:
        moved = {n: plus(bound[n], along[n], t) for n in along}
        return call(function, op, {**bound, **moved})

    near, far = difference(at(h), at(-h)), difference(at(2 * h), at(-2 * h))
    return scaled(near, far, 12 * h)


def scaled(near: Any, far: Any, h: float) -> Any:
    if isinstance(near, list):
        return [scaled(m, n, h) for m, n in zip(near, far, strict=True)]
    return (8 * near - far) / h


def pairing(a: Any, b: Any) -> tuple[float, float]:
    """The sum of all products of two structures, and of their sizes."""
    if isinstance(a, (list, tuple)):
        pairs = [pairing(x, y) for x, y in zip(a, b, strict=True)]
        return sum(p[0] for p in pairs), sum(p[1] for p in pairs)
    if a is None or b is None:
        return 0.0, 0.0
    products = np.asarray(a, float) * np.asarray(b, float)
    return float(np.sum(products)), float(np.sum(np.abs(products)))


def assert_pairing(
    seed: Any, found: Any, adjoints: dict, along: dict, label: str
) -> None:
    """The cotangent with the tangent is the adjoint with the direction."""
    forward, size = pairing(seed, found)
    back = 0.0
    for name, value in along.items():
        more, extent = pairing(adjoints[name], value)
        back, size = back + more, size + extent
    if np.isnan(forward) and np.isnan(back):
        return
    assert abs(forward - back) <= 1e-9 * size + 1e-12, f"{label}: {forward}, {back}"


def compare(found: Any, expected: Any, label: str, **tolerance: float) -> None:
    if isinstance(expected, (list, tuple)):
        for f, e in zip(found, expected, strict=True):
            compare(f, e, label, **tolerance)
        return
    found = np.broadcast_to(np.asarray(found, float), np.shape(expected))
    assert_close(found, np.asarray(expected, float), label, **tolerance)


def assert_structure(found: Any, result: Any, label: str) -> None:
    """The parts and shapes of the result."""
    if isinstance(result, (list, tuple)):
        assert len(found) == len(result), label
        for f, r in zip(found, result, strict=True):
            assert_structure(f, r, label)
        return
    shape = np.shape(result)
    assert np.shape(found) == shape, f"{label} has shape {np.shape(found)}, not {shape}"
