"""What stands around a kernel: its parameters, and what it gives to NumPy."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import stored_names
from srcjax.analysis.flow.looking import MAKERS
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    List,
    Type,
    dtype_of,
    is_number,
    shape_of,
    type_of,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.accepted import (
    NotCompiled,
    is_kernel_array,
    is_kernel_number,
    is_pythons,
)
from srcjax.transforms.kernels.buffers import with_given_sizes
from srcjax.transforms.kernels.rows import without_unread
from srcjax.transforms.kernels.statements import KernelWriter
from srcjax.transforms.kernels.tidy import tidied, without_dead

#: What every kernel knows: names of modules, builtins and `backends.kernels`.
KNOWN = {"np", "math", "len", "range", "abs", "float", "int"}
KNOWN |= {"added", "Differs", "ValueError", "ZeroDivisionError", "OverflowError"}
#: Those of `backends.kernels`, which the user's functions may have for their own.
WORDS = {"added", "Differs"}


@dataclass
class Kernel:
    """A kernel, and how it is called."""

    node: gast.FunctionDef
    call: gast.expr
    #: Values from around that it is given, by name.
    outside: dict[str, Any]


def kernel_of(
    writer: KernelWriter,
    stmts: list[Any],
    parameters: list[str],
    batches: frozenset[str] = frozenset(),
) -> Kernel:
    """The kernel of written statements. Raises NotCompiled.

    Args:
        parameters: what it may be given; it is given what it mentions.
        batches: those that have another axis in front, of examples.
    """
    unit = writer.unit
    indexed = looked_at(stmts, writer.numbers.indexed)
    body = tidied(without_unread(with_given_sizes(stmts)), unit)
    body = without_dead(body, unit, bool(indexed))
    inputs = [n for n in parameters if syntax.count_uses(body, n)]
    outside = values_from_around(body, writer.program, unit, set(inputs))
    inputs += sorted(outside)
    name = unit.names.fresh(f"{unit.name}_kernel")
    node = function(name, inputs, body)
    apart = syntax.with_words_apart(node, WORDS | set(vars(builtins)), unit.names)
    node.decorator_list = [decorator(body, {apart.get(n, n) for n in indexed})]
    types = {n: writer.types.get(n, UNKNOWN) for n in inputs}
    types |= {n: type_of(value) for n, value in outside.items()}
    #: What it is given, in order, for those who write it in another language: its
    #: parameters may get other names.
    node.given = [
        (dtype_of(types[n]), len(shape_of(types[n]) or ()) + (n in batches))
        for n in inputs
    ]
    node.outside = frozenset(apart.get(n, n) for n in outside)
    #: What is kept in its lists of numbers.
    node.kept = {
        apart.get(n, n): dtype_of(t.elem)
        for n, t in writer.types.items()
        if isinstance(t, List) and t.elem is not None and is_kernel_number(t.elem)
    }
    return Kernel(node, syntax.call(name, *map(syntax.name, inputs)), outside)


def looked_at(stmts: list[Any], arrays: set[str]) -> set[str]:
    """The arrays, and those that they may be views of."""
    found, more = set(), set(arrays)
    assigned = [s for s in syntax.walk(stmts) if isinstance(s, gast.Assign)]
    while more:
        found |= more
        more = {
            name
            for s in assigned
            if isinstance(s.targets[0], gast.Name) and s.targets[0].id in found
            for name in views_of(s.value)
        } - found
    return found


def views_of(value: gast.expr) -> set[str]:
    """The arrays that a value may be a part of."""
    made = isinstance(value, gast.Call) and syntax.dotted(value.func) in MAKERS
    return set() if made else syntax.names_read(value)


def decorator(stmts: list[Any], indexed: set[str]) -> gast.expr:
    """`@kernel`, or `@checked_kernel(x)` where indices of `x` may be out of bounds."""
    places = [syntax.root_of(n) for n in syntax.walk(stmts) if is_place(n)]
    checked = [name for name in dict.fromkeys(places) if name in indexed]
    if not checked:
        return syntax.name("kernel")
    return syntax.call("checked_kernel", *map(syntax.name, checked))


def is_place(node: Any) -> bool:
    """Whether it is an element, or a part, of an array that has a name."""
    if not isinstance(node, gast.Subscript):
        return False
    inner = node.value
    while isinstance(inner, gast.Subscript) or getattr(inner, "attr", "") == "T":
        inner = inner.value
    return isinstance(inner, gast.Name)


def with_checks_by_name(kernel: gast.FunctionDef) -> None:
    """`@checked_kernel("x")`: the names as Python has them, in place."""
    for each in kernel.decorator_list:
        if isinstance(each, gast.Call):
            each.args = [syntax.const(n.id) for n in each.args]


def values_from_around(
    stmts: list[gast.stmt], program: Program, unit: Unit, given: set[str]
) -> dict[str, Any]:
    """The arrays and numbers that a kernel reads and nobody gives it, by name.

    They may change, so that they are arguments of the kernel.
    """
    found = {}
    known = KNOWN - {n.id for n in syntax.beside_calls(stmts, WORDS)}
    for name in syntax.names_read(stmts) - syntax.names_written(stmts) - given - known:
        try:
            value = program.look(unit, name)
        except KeyError:
            raise NotCompiled(unit.node, f"`{name}` is not known") from None
        t = type_of(value)
        if not (is_kernel_array(t) or is_kernel_number(t)):
            raise NotCompiled(unit.node, f"`{name}` is no array or number")
        found[name] = value
    return found


def function(name: str, parameters: list[str], body: list[gast.stmt]) -> Any:
    """A function of plain parameters."""
    names = [gast.Name(p, gast.Param(), None, None) for p in parameters]
    arguments = gast.arguments(names, [], None, [], [], None, [])
    return gast.FunctionDef(name, arguments, body, [], None, None, [])


def with_kept_types(kernel: gast.FunctionDef) -> None:
    """Say what the lists of a kernel keep: `tape: list[float] = []`, in place."""
    names = {"f8": "float", "f4": "np.float32", "i8": "int", "b1": "bool"}

    def block(stmts: list[Any]) -> list[Any]:
        out = []
        for stmt in stmts:
            syntax.rewrite_blocks(stmt, block)
            dtype = kernel.kept.get(list_made(stmt))
            if dtype is not None:
                of = syntax.expression(f"list[{names[dtype.str[1:]]}]")
                (target,) = stmt.targets
                stmt = gast.AnnAssign(target, of, stmt.value, 1)
            out.append(stmt)
        return out

    kernel.body = block(kernel.body)


def list_made(stmt: Any) -> str | None:
    """The name of what `tape = []` makes."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.List):
        return None
    return None if stmt.value.elts else getattr(stmt.targets[0], "id", None)


def is_numpys(t: Type) -> bool:
    """Whether a value is a NumPy scalar, which a kernel gives as Python's."""
    return is_number(t) and not is_pythons(t)


def numpys(value: gast.expr, t: Type) -> gast.expr:
    """The value as the NumPy scalar that the function gives."""
    if is_numpys(t):
        dtype = dtype_of(t)
        assert dtype is not None
        return syntax.expression(f"np.{dtype.type.__name__}(v)", v=value)
    return value


def bound_results(
    call: gast.expr, names: list[str], types: dict[str, Type]
) -> list[gast.stmt]:
    """`dW, db = f_kernel(W, b)`, with NumPy's scalars where the function has them."""
    if not names:
        return [gast.Expr(call)]
    if len(names) == 1:
        return [syntax.assign(names[0], numpys(call, types.get(names[0], UNKNOWN)))]
    target = gast.Tuple([syntax.name(n, store=True) for n in names], syntax.STORE)
    out: list[gast.stmt] = [gast.Assign([target], call, None)]
    for name in names:
        t = types.get(name, UNKNOWN)
        if is_numpys(t):
            out.append(syntax.assign(name, numpys(syntax.name(name), t)))
    return out


def bound_in(stmts: Any, types: dict[str, Type]) -> set[str]:
    """The names that statements bind; an array that is updated stays what it is."""
    found: set[str] = set()
    for stmt in syntax.walk(stmts):
        if isinstance(stmt, gast.AugAssign):
            names = stored_names(stmt.target)
            found |= {n for n in names if not isinstance(types.get(n), Array)}
        elif isinstance(stmt, gast.Assign):
            found |= stored_names(stmt.targets)
        elif isinstance(stmt, gast.For):
            found |= stored_names(stmt.target)
    return found
