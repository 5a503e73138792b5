"""Checks one operation's rules by themselves, without the passes that paste them.

`check_adjoint(np.sum, x, axis=0)` runs the text of the rule on values and compares
with finite differences; it also checks

- the same rule with each runtime helper replaced by its expansion, under types that
  tell everything and under types that tell less and less,
- the tangent rule (`tangents.check_tangent`),
- the inferred type of the result against the result, under the same types,
- that float32 arguments have float32 adjoints.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Other,
    Range,
    Scalar,
    Sym,
    Tuple,
    Type,
    Unknown,
    map_parts,
    type_of,
)
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import METHODS, Op, Template, lookup
from srcjax.transforms.specialise import Typer

Weakening = Callable[[Type], Type]


# -- the whole check -----------------------------------------------------------------


def check_adjoint(
    function: Any,
    *args: Any,
    wrt: tuple[str, ...] | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-7,
    float32: bool = True,
    numeric: bool = True,
    **kwargs: Any,
) -> dict[str, Any]:
    """Check every rule of the operation behind `function` at these arguments.

    `wrt` names the parameters to differentiate; by default all that the rule knows and
    that hold real numbers. `numeric=False` leaves out finite differences (at kinks) and
    only runs the rule. Returns the adjoints by parameter name, for a cotangent that is
    `cotangent(result)`.
    """
    from .tangents import check_tangent

    op = lookup(function)
    assert op is not None, f"no record of {function}"
    check_infer(function, *args, **kwargs)
    bound = op.bind(list(args), kwargs)
    wanted = wrt if wrt is not None else real_parameters(op, bound)
    assert wanted, f"{op.name}: nothing to differentiate"
    result = function(*args, **kwargs)
    seed = cotangent(result)
    found = run_adjoint(op, bound, result, seed, wanted)
    for name in wanted:
        assert_same_shape(found[name], bound[name], f"{op.name}: d[{name}]")
    if numeric:
        for name in wanted:
            expected = differences(function, op, bound, name, seed)
            assert_close(
                found[name], expected, f"{op.name}: d[{name}]", rtol=rtol, atol=atol
            )
    for weaken in weakenings(bound):
        expanded = run_adjoint(op, bound, result, seed, wanted, weaken)
        for name in wanted:
            value = spread(expanded[name], bound[name])
            label = f"{op.name}: d[{name}] expanded under {weaken.__name__}"
            assert_close(value, found[name], label, rtol=1e-9, atol=1e-12)
    how = {"rtol": rtol, "atol": atol, "float32": float32, "numeric": numeric}
    check_tangent(function, *args, wrt=wanted, **how, **kwargs)
    if float32:
        check_float32(function, *args, wrt=wanted, **kwargs)
    return found


def check_float32(
    function: Any, *args: Any, wrt: tuple[str, ...], **kwargs: Any
) -> None:
    """With float32 arguments and a float32 result, the adjoints are float32 too."""
    op = lookup(function)
    assert op is not None
    bound = op.bind(list(args), kwargs)
    bound = {n: as_float32(v) if n not in CONTROL else v for n, v in bound.items()}
    if not any(isinstance(bound[n], (np.ndarray, np.generic)) for n in wrt):
        return
    result = call(function, op, bound)
    if not leaves_are(np.float32, result):
        return
    seed = cotangent(result)
    for weaken in (None, *weakenings(bound)):
        found = run_adjoint(op, bound, result, seed, wrt, weaken)
        for name in wrt:
            if isinstance(bound[name], (np.ndarray, np.generic)):
                dtype = np.asarray(found[name]).dtype
                shown = weaken.__name__ if weaken else "the helper"
                assert dtype == np.float32, f"{op.name}: d[{name}] {dtype} by {shown}"


def check_infer(function: Any, *args: Any, **kwargs: Any) -> Type | None:
    """The inferred type covers the result, however much the arguments' types tell."""
    op = lookup(function)
    assert op is not None, f"no record of {function}"
    bound = op.bind(list(args), kwargs)
    result = function(*args, **kwargs)
    exact = None
    for weaken in weakenings(bound):
        inferred = infer_result(op, function, bound, weaken)
        if inferred is None:
            return None
        exact = exact or inferred
        label = f"{op.name}: inferred {inferred} under {weaken.__name__}"
        assert covers(inferred, result), f"{label}, is {describe(result)}"
    return exact


def infer_result(
    op: Op, function: Any, bound: dict[str, Any], weaken: Weakening
) -> Type | None:
    """The type that the operation's infer rule gives, None without a rule."""
    types = {name: weaken(constant_type(value)) for name, value in bound.items()}
    if op.infer is None:
        if not op.elementwise:
            return None
        return infer_elementwise(function, *types.values())
    return op.infer(**types)


# -- running a rule ------------------------------------------------------------------

#: Parameters that say how, not what: never differentiated, never cast.
CONTROL = {"axis", "axes", "ord", "ddof", "keepdims", "dtype", "shape", "num"}


class Contributions(dict):
    """What `d` is while a rule runs: seeds to read, contributions to add up."""

    def add(self, name: str, value: Any) -> None:
        self[name] = plus(self[name], value) if name in self else value


def run_adjoint(
    op: Op,
    bound: dict[str, Any],
    result: Any,
    seed: Any,
    wanted: tuple[str, ...],
    weaken: Weakening | None = None,
) -> dict[str, Any]:
    """Run the adjoint rule's own text; with `weaken`, helpers are expanded first."""
    template = op.adjoint
    assert template is not None, f"{op.name} has no adjoint"
    seeds = {template.parameters[0]: seed}
    found = run_template(op, template, bound, result, seeds, wanted, weaken)
    return {name: found[name] for name in wanted}


def run_template(
    op: Op,
    template: Template,
    bound: dict[str, Any],
    result: Any,
    seeds: dict[str, Any],
    wanted: tuple[str, ...],
    weaken: Weakening | None,
) -> Contributions:
    """Execute the statements that are wanted, or that are no contribution at all."""
    values = {
        name: parameter.default
        for name, parameter in op.signature.parameters.items()
        if parameter.default is not parameter.empty
    }
    values.update(bound)
    values[template.parameters[0]] = result
    d, found = Contributions(seeds), Contributions()
    scope = {**HELPERS, **template.globals, **values, "d": d, "found": found}
    for statement in taken(template.body, scope):
        target = contribution_to(statement)
        if target is not None and target not in wanted:
            continue
        tree = keys_as_text(syntax.clone(statement))
        if weaken is not None:
            tree = expand_helpers(tree, scope, weaken)
        execute(tree, scope, statement)
    return found


def taken(body: list[Any], scope: dict[str, Any]) -> Iterator[Any]:
    """The statements of a rule that run, one by one: `scope` has the earlier values."""
    for statement in body:
        if isinstance(statement, gast.If):
            test = evaluate(keys_as_text(syntax.clone(statement.test)), scope)
            yield from taken(statement.body if test else statement.orelse, scope)
        else:
            yield statement


def contribution_to(statement: Any) -> str | None:
    """`x` for `d[x] = ...`, None for any other statement."""
    if isinstance(statement, gast.Assign):
        target = statement.targets[0]
        if isinstance(target, gast.Subscript) and syntax.is_name(target.value, "d"):
            return target.slice.id
    return None


def adjoint_keys_read(statement: Any) -> set[str]:
    """The `x` of every `d[x]` that is read."""
    return {
        node.slice.id
        for node in syntax.walk(statement)
        if isinstance(node, gast.Subscript)
        and syntax.is_name(node.value, "d")
        and isinstance(node.ctx, gast.Load)
    }


def keys_as_text(statement: Any) -> Any:
    """`d[x] = e` as `found.add("x", e)`, `d[y]` as `d["y"]`."""
    target = contribution_to(statement)
    for node in syntax.walk(statement):
        is_d = isinstance(node, gast.Subscript) and syntax.is_name(node.value, "d")
        if is_d and isinstance(node.slice, gast.Name):
            node.slice = syntax.const(node.slice.id)
    if target is None:
        return statement
    call = syntax.call("found.add", syntax.const(target), statement.value)
    return gast.Expr(call)


#: Tells what a call of a helper stands for, of arguments of given types.
TYPER = Typer(Program(), None)


def expand_helpers(tree: Any, scope: dict[str, Any], weaken: Weakening) -> Any:
    """Replace calls to runtime helpers, innermost first, as far as types tell.

    The type of each argument is that of its value, weakened.
    """

    def expand(node: Any) -> Any:
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return node
        if node.func.id not in HELPERS or node.keywords:
            return node
        types = [weaken(constant_type(evaluate(a, scope), a)) for a in node.args]
        expanded = TYPER.stands_for(node.func.id, node.args, types)
        if expanded is None:
            return node
        return syntax.map_expressions(expanded, expand)

    return syntax.map_expressions(tree, expand)


def evaluate(tree: Any, scope: dict[str, Any]) -> Any:
    if isinstance(tree, gast.Constant):
        return tree.value
    if isinstance(tree, gast.Name) and tree.id in scope:
        return scope[tree.id]
    return eval(syntax.text(tree), {"np": np, "math": math, **scope})


#: By statement of a rule: the statement, and what it became, with its code. To print
#: and compile takes longer than to run, and a rule runs some twenty times in a test.
_CODES: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}


def execute(tree: Any, scope: dict[str, Any], statement: Any) -> None:
    """Run what a statement of a rule became."""
    scope.setdefault("np", np)
    scope.setdefault("math", math)
    _, codes = _CODES.setdefault(id(statement), (statement, []))
    code = next((c for known, c in codes if syntax.equal(known, tree)), None)
    if code is None:
        code = compile(syntax.text(tree), "<rule>", "exec")
        codes.append((tree, code))
    exec(code, scope)


# -- types of arguments --------------------------------------------------------------


def constant_type(value: Any, tree: Any = None) -> Type:
    """The type of a value; ints, strings and tuples of them are known constants."""
    if isinstance(value, (bool, int, str, type(None), type, np.dtype)):
        return Const(value=value)
    if type(value) is tuple:
        return Tuple(items=tuple(constant_type(v) for v in value))
    if isinstance(tree, gast.Constant):
        return Const(value=value)
    return type_of(value)


def weakenings(bound: dict[str, Any]) -> Iterator[Weakening]:
    """Ways in which the types may tell less; the first tells everything."""
    yield exactly
    yield sizes_by_name
    yield sizes_unknown
    yield rank_unknown
    yield dtype_unknown
    yield numbers_unknown
    yield nothing


def exactly(t: Type) -> Type:
    return t


def sizes_by_name(t: Type) -> Type:
    """Sizes other than 0 and 1 are symbols (the same size, the same symbol)."""
    if isinstance(t, Array) and t.shape is not None:
        dims = (n if n in (0, 1) else Sym(f"n{n}") for n in t.shape)
        return Array(dtype=t.dtype, shape=tuple(dims))
    return map_parts(t, sizes_by_name)


def sizes_unknown(t: Type) -> Type:
    if isinstance(t, Array) and t.shape is not None:
        dims = (0 if n == 0 else None for n in t.shape)
        return Array(dtype=t.dtype, shape=tuple(dims))
    return map_parts(t, sizes_unknown)


def rank_unknown(t: Type) -> Type:
    if isinstance(t, Array):
        return Array(dtype=t.dtype)
    return map_parts(t, rank_unknown)


def dtype_unknown(t: Type) -> Type:
    if isinstance(t, Array):
        return Array(shape=t.shape)
    if isinstance(t, Scalar):
        return Scalar(python=t.python)
    return map_parts(t, dtype_unknown)


def numbers_unknown(t: Type) -> Type:
    """Known ints are only known to be ints (flags and None stay known)."""
    if isinstance(t, Const) and type(t.value) is int:
        return Scalar(dtype=np.dtype(int), python=True)
    return map_parts(t, numbers_unknown)


def nothing(t: Type) -> Type:
    """Nothing is known but what is None, a flag, a dtype or a name."""
    if isinstance(t, Const) and type(t.value) is not int:
        return t
    return UNKNOWN


def covers(t: Type, value: Any) -> bool:
    """Whether the value is one that the type allows."""
    if isinstance(t, Unknown):
        return True
    if isinstance(t, Const):
        return type(t.value) is type(value) and bool(t.value == value)
    if isinstance(t, Scalar):
        # python=False says "perhaps a NumPy scalar": two paths may have met
        python = type(value) in (bool, int, float, complex)
        if isinstance(value, np.ndarray) or (t.python and not python):
            return False
        return t.dtype is None or np.asarray(value).dtype == t.dtype
    if isinstance(t, Array):
        perhaps_scalar = t.shape is None and isinstance(value, np.generic)
        if not isinstance(value, np.ndarray) and not perhaps_scalar:
            return False
        if t.dtype is not None and value.dtype != t.dtype:
            return False
        if t.shape is None:
            return True
        return len(t.shape) == value.ndim and all(map(_fits, t.shape, value.shape))
    if isinstance(t, Tuple):
        fits = isinstance(value, tuple) and len(value) == len(t.items)
        return fits and all(map(covers, t.items, value))
    if isinstance(t, List):
        if not isinstance(value, t.cls):
            return False
        if t.items is not None:
            return len(value) == len(t.items) and all(map(covers, t.items, value))
        return all(covers(t.elem or UNKNOWN, v) for v in value)
    if isinstance(t, Other):
        return t.cls is None or isinstance(value, t.cls)
    if isinstance(t, Range):
        return isinstance(value, range)
    return isinstance(t, Dict)


def _fits(dim: Any, size: int) -> bool:
    if isinstance(dim, Sym):
        return size == eval(dim.name.replace("n", "")) + dim.offset  # "n2", "(n2*n3)"
    return dim is None or dim == size


def describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.shape})"
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    return f"{type(value).__name__}({value})"


# -- values --------------------------------------------------------------------------


def real_parameters(op: Op, bound: dict[str, Any]) -> tuple[str, ...]:
    """The arguments that hold real numbers and that the rule differentiates."""
    names = (n for n in op.differentiable if n in bound and n != "ord")
    return tuple(n for n in names if is_real(bound[n]))


def is_real(value: Any) -> bool:
    if isinstance(value, (bool, int, str, type(None))):
        return False
    if isinstance(value, tuple) and not value:  # no `*args` given
        return False
    try:
        return np.asarray(value).dtype.kind == "f"
    except ValueError:
        return False


def cotangent(result: Any) -> Any:
    """Fixed random weights with the structure, shapes and dtypes of the result."""
    if isinstance(result, (tuple, list)):
        return tuple(cotangent(part) for part in result)
    rng = np.random.default_rng(7)
    return like(rng.normal(size=np.shape(result)) + 0.1, result)


def like(value: Any, model: Any) -> Any:
    """The numbers as an array, NumPy scalar or Python float, as `model` is one."""
    if isinstance(model, np.ndarray):
        dtype = model.dtype if model.dtype.kind == "f" else float
        return np.asarray(value, dtype)
    if isinstance(model, np.floating):
        return model.dtype.type(value)
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def as_float32(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float32)
    if isinstance(value, np.floating):
        return np.float32(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(as_float32, value))
    return value


def leaves_are(dtype: Any, value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(leaves_are(dtype, part) for part in value)
    return getattr(value, "dtype", None) == dtype


def plus(a: Any, b: Any) -> Any:
    if isinstance(a, (tuple, list)):
        return tuple(map(plus, a, b))
    return a + b


def dot(seed: Any, value: Any) -> float:
    """The sum of all products of the parts of a cotangent and a result."""
    if isinstance(seed, tuple):
        return sum(map(dot, seed, value))
    return float(np.sum(np.asarray(seed, float) * np.asarray(value)))


def call(function: Any, op: Op, bound: dict[str, Any]) -> Any:
    """Call with arguments by parameter name."""
    arguments = inspect.BoundArguments(op.signature, bound)  # type: ignore[arg-type]
    return function(*arguments.args, **arguments.kwargs)


def differences(
    function: Any, op: Op, bound: dict[str, Any], name: str, seed: Any
) -> Any:
    """The adjoint of one argument by differences of fourth order."""
    value = bound[name]
    leaves, rebuild = flatten(value)
    found = []
    for number, leaf in enumerate(leaves):
        base = np.array(leaf, float)
        gradient = np.zeros(base.shape)
        for index in np.ndindex(base.shape):
            h = 1e-4 * max(1.0, abs(base[index]))

            def at(offset: float) -> float:
                moved = base.copy()  # noqa: B023
                moved[index] += offset  # noqa: B023
                new = list(leaves)
                new[number] = like(moved, leaves[number])  # noqa: B023
                return dot(seed, call(function, op, {**bound, name: rebuild(new)}))

            near, far = at(h) - at(-h), at(2 * h) - at(-2 * h)
            gradient[index] = (8 * near - far) / (12 * h)
        found.append(gradient)
    return rebuild(found)


def flatten(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The arrays and numbers in a (flat) list or tuple, and the way back."""
    if isinstance(value, (list, tuple)):
        return list(value), type(value)
    return [value], lambda parts: parts[0]


def spread(value: Any, model: Any) -> Any:
    """Broadcast an expansion's value to its argument's shape."""
    if isinstance(model, (list, tuple)):
        return [spread(v, m) for v, m in zip(value, model, strict=True)]
    return np.broadcast_to(value, np.shape(model))


def assert_same_shape(found: Any, value: Any, label: str) -> None:
    if isinstance(value, (list, tuple)):
        for part, item in zip(found, value, strict=True):
            assert_same_shape(part, item, label)
        return
    assert np.shape(found) == np.shape(value), (
        f"{label} has shape {np.shape(found)}, not {np.shape(value)}"
    )


def assert_close(
    found: Any, expected: Any, label: str, rtol: float, atol: float
) -> None:
    if isinstance(expected, (list, tuple)):
        for f, e in zip(found, expected, strict=True):
            assert_close(f, e, label, rtol, atol)
        return
    np.testing.assert_allclose(
        np.asarray(found, float), expected, rtol=rtol, atol=atol, err_msg=label
    )


def rules_missing(*modules: Any) -> list[str]:
    """Names of differentiable operations of the table that have no adjoint."""
    from srcjax.ops.record import TABLE

    ops = {id(op): op for op in (*TABLE.values(), *METHODS.values())}
    return sorted(o.name for o in ops.values() if not o.inert and o.adjoint is None)


def quietly(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call without NumPy's warnings (derivatives that are not finite)."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)
