"""A whole function as one kernel, and the function that calls it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    dtype_of,
)
from srcjax.frontend.unit import Unit, passed_on
from srcjax.transforms.kernels.accepted import (
    LeavesLate,
    NotCompiled,
    array_of,
    is_kernel_array,
    is_kernel_number,
)
from srcjax.transforms.kernels.around import (
    Around,
    ask_given,
    nested_once,
    unpacked,
)
from srcjax.transforms.kernels.given import Given
from srcjax.transforms.kernels.regions import Regions, Stays
from srcjax.transforms.kernels.statements import KernelWriter
from srcjax.transforms.kernels.wrapping import bound_in, bound_results, kernel_of


@dataclass
class Compiled:
    """Kernels, and the function that calls them."""

    kernels: list[gast.FunctionDef]
    driver: gast.FunctionDef
    #: What stays Python, and why.
    stays: list[Stays]
    #: Whether there is Python between them.
    divided: bool = False


def divided(
    program: Program, unit: Unit, entry: str, reason: NotCompiled, on_cpu: bool
) -> Compiled:
    """Kernels and the Python between them. Raises `reason` where there is no kernel."""
    found = Regions(program, unit, on_cpu).partition()
    if not found.kernels:
        raise reason
    driver = gast.FunctionDef(
        entry, plain_arguments(unit), found.body, [], None, None, []
    )
    return Compiled(found.kernels, driver, found.stays, divided=True)


def plain_arguments(unit: Unit) -> gast.arguments:
    """The parameters, without their defaults: all of them are given."""
    return without_defaults(unit.node.args)


def without_defaults(given: gast.arguments) -> gast.arguments:
    """Parameters without defaults and annotations."""
    arguments: gast.arguments = syntax.clone(given)
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    for parameter in syntax.walk(arguments):
        if isinstance(parameter, gast.Name):
            parameter.annotation = None  # it may name what only a type checker sees
    return arguments


def compiled(
    program: Program, unit: Unit, entry: str, own: str, on_cpu: bool
) -> Compiled:
    """The function as one kernel. Raises NotCompiled.

    Args:
        entry: the name of the function that calls the kernel.
        own: the name of the function itself, that runs where the kernel is left.
        on_cpu: whether kernels are Python, which may raise what the function does.
    """
    try:
        return whole(program, unit, entry, own, on_cpu, undoes=False)
    except LeavesLate:
        loops = (gast.For, gast.While)
        if not on_cpu or not any(isinstance(s, loops) for s in syntax.walk(unit.node)):
            raise  # a copy of what is written to may take longer than the rest
    return whole(program, unit, entry, own, on_cpu, undoes=True)


def whole(
    program: Program, unit: Unit, entry: str, own: str, on_cpu: bool, undoes: bool
) -> Compiled:
    """The function as one kernel. Raises NotCompiled.

    Args:
        undoes: whether what is given is put back as it was where the kernel is left
            after it wrote to it.
    """
    arguments = plain_arguments(unit)
    if arguments.vararg or arguments.kwarg:
        raise NotCompiled(unit.node, "`*args` or `**kwargs`")
    writer = KernelWriter(program, unit)
    writer.numbers.may_raise = writer.on_cpu = on_cpu
    writer.numbers.may_leave = undoes or not writes_given(program)
    around = Around(writer)
    writer.take_as_numbers(set(around.results))
    given = [*unit.parameters, *around.loaded]
    for name in given:
        t = writer.types.get(name, UNKNOWN)
        used = name in syntax.all_names(around.body)
        if used and not (is_kernel_number(t) or is_kernel_array(t)):
            raise NotCompiled(unit.node, f"`{name}` is no number or array")
    bound = bound_in(around.body, writer.types)
    outputs = [n for n in around.results if n in bound or n not in given]
    for name in outputs:
        if writer.is_description(writer.types.get(name, UNKNOWN)):
            raise NotCompiled(around.last, f"`{name}` is no number or array")
        check_result(writer.types.get(name, UNKNOWN), around.last, unit)
    ask_given(writer, around.body, [n for n in given if n not in bound])
    stmts = writer.block(around.body)
    if not outputs and not stmts:
        raise NotCompiled(around.last, "there is nothing to compile")
    value: gast.expr = gast.Tuple([syntax.name(n) for n in outputs], syntax.LOAD)
    if len(outputs) < 2:
        value = syntax.name(outputs[0]) if outputs else syntax.const(None)
    kernel = kernel_of(writer, [*stmts, gast.Return(value)], given)
    called = bound_results(kernel.call, outputs, writer.types)
    loads = unpacked(around.loads, writer.types)
    body = nested_once([*called, *around.builds, around.last])
    written = written_arrays(writer, given) if undoes else []
    driver = driver_of(writer, entry, own, loads, body, written)
    return Compiled([kernel.node], driver, [])


def written_arrays(writer: KernelWriter, given: list[str]) -> list[str]:
    """The arrays, of those that are given, that are written to. Raises NotCompiled."""
    found = Given(writer.program)
    if found.around:
        raise NotCompiled(writer.unit.node, "an array from around it is written to")
    types = {n: writer.types.get(n, UNKNOWN) for n in given}
    return [
        name
        for name, t in types.items()
        if is_kernel_array(t) and found.written & ageless_buffers(all_buffers(t))
    ]


def driver_of(
    writer: KernelWriter,
    entry: str,
    own: str,
    loads: list[gast.stmt],
    body: list[gast.stmt],
    written: list[str],
    checked: bool = False,
) -> gast.FunctionDef:
    """The function that calls a kernel, or the function itself where that leaves.

    Args:
        loads: what takes the kernel's arguments out of containers.
        written: the arrays that are as they were when the function itself runs.
        checked: whether the kernel is left where an index is out of bounds, too.
    """
    arguments = plain_arguments(writer.unit)
    words: dict[str, str] = {}

    def word(name: str) -> str:
        found = writer.unit.names.fresh(name)
        words[found] = name
        return found

    errors = [word("Differs")] * writer.numbers.leaves + ["IndexError"] * checked
    if errors:
        leave = syntax.statements(f"return {own}({', '.join(passed_on(arguments))})")
        copies: list[gast.stmt] = []
        if written:
            before = writer.fresh("before")
            made = ", ".join(f"{name}.copy()" for name in written)
            copies = syntax.statements(f"{before} = [{made}]")
            put = f"{word('put_back')}([{', '.join(written)}], {before})"
            leave = [*syntax.statements(put), *leave]
            errors = [*errors, "IndexError", "ValueError"]
        caught = errors[0] if len(errors) == 1 else f"({', '.join(errors)})"
        handler = gast.ExceptHandler(syntax.expression(caught), None, leave)
        whole = [*loads, *body] if not written else body
        body = [gast.Try(whole, [handler], [], [])]
        loads = [*loads, *copies] if written else []
    driver = gast.FunctionDef(entry, arguments, [*loads, *body], [], None, None, [])
    #: What it has from `backends.kernels`, by the names that it has for them.
    driver.words = words
    return driver


@dataclass
class Example:
    """What a kernel for many examples is given: an argument, and its type for one."""

    name: str
    type: Type
    #: Whether the examples stand along its first axis; else it is the same for all.
    mapped: bool


def for_examples(
    program: Program, unit: Unit, entry: str, own: str, given: list[Example]
) -> Compiled:
    """A loop over the examples of a batch, each with control flow of its own.

    Raises:
        NotCompiled: a result is no number, products of matrices are better made at
            once, or all goes straight on, so that nothing is won.
    """
    writer = KernelWriter(program, unit)
    if writes_given(program):
        raise NotCompiled(unit.node, "what is given is written to")
    if not any(isinstance(s, _FLOW) for s in syntax.walk(unit.node.body)):
        raise NotCompiled(unit.node, "all examples go the same way")
    *body, last = unit.node.body
    result = program.facts.results.get(id(unit.source.func), UNKNOWN)
    parts = result.items if isinstance(result, Tuple) else (result,)
    if not parts or not all(map(is_kernel_number, parts)):
        raise NotCompiled(last, "the result of an example is no number")
    for each in given:
        if not (is_kernel_number(each.type) or is_kernel_array(each.type)):
            raise NotCompiled(unit.node, f"`{each.name}` is no number or array")
    stmts = writer.block(body)
    if any(syntax.dotted(n) == "np.dot" for n in syntax.walk(stmts)):
        raise NotCompiled(unit.node, "products of matrices are made at once")
    out: list[gast.stmt] = []
    writer.numbers.emit = out.append
    value = returned(writer, last.value, result)
    values = value.elts if isinstance(value, gast.Tuple) else [value]
    if isinstance(result, Tuple) and isinstance(value, gast.Name):
        values = [
            gast.Subscript(syntax.name(value.id), syntax.const(k), syntax.LOAD)
            for k in range(len(parts))
        ]
    lane, many = writer.fresh("lane"), [e for e in given if e.mapped]
    size = syntax.call("len", syntax.name(many[0].name))
    results = [writer.fresh("result") for _ in parts]
    before = [
        syntax.assign(name, array_of("empty", syntax.clone(size), dtype_of(t)))
        for name, t in zip(results, parts, strict=True)
    ]
    inner = [*stmts, *out]
    bound = syntax.names_written(inner)
    ones = {
        e.name: writer.fresh(f"{e.name}_lane")
        for e in given
        if e.mapped or e.name in bound  # for each example, what was given
    }
    for name, each in zip(results, values, strict=True):
        place = gast.Subscript(syntax.name(name), syntax.name(lane), syntax.STORE)
        inner.append(gast.Assign([place], each, None))
    syntax.rename(inner, ones)
    writer.numbers.indexed |= {ones[n] for n in writer.numbers.indexed & set(ones)}
    loads = [
        syntax.assign(
            ones[e.name],
            syntax.expression(f"{e.name}[{lane}]" if e.mapped else e.name),
        )
        for e in given
        if e.name in ones
    ]
    over = syntax.call("range", syntax.clone(size))
    loop = gast.For(syntax.name(lane, store=True), over, [*loads, *inner], [], None)
    back: gast.expr = syntax.name(results[0])
    if isinstance(result, Tuple):
        back = gast.Tuple([syntax.name(n) for n in results], syntax.LOAD)
    whole = [*before, loop, gast.Return(back)]
    batches = frozenset(e.name for e in many)
    kernel = kernel_of(writer, whole, [e.name for e in given], batches)
    # What nobody asks for is not computed by the function for all examples.
    checked = isinstance(kernel.node.decorator_list[0], gast.Call)
    driver = driver_of(writer, entry, own, [], [gast.Return(kernel.call)], [], checked)
    return Compiled([kernel.node], driver, [])


#: Where examples go their own ways.
_FLOW = (gast.For, gast.While, gast.If)


def writes_given(program: Program) -> bool:
    """Whether the function writes to what it is given, or finds around it."""
    made = {id(n) for u in program.units.values() for n in syntax.walk(u.node)}
    return not all(b in made for b in ageless_buffers(program.facts.written()))


def check_result(t: Type, stmt: Any, unit: Unit) -> None:
    """Raise NotCompiled unless a kernel can give what the function gives."""
    if isinstance(t, Const) and t.value is None:
        return
    if is_kernel_number(t):
        return
    made = {id(n) for n in syntax.walk(unit.node)}
    if is_kernel_array(t):
        if not all(b in made for b in ageless_buffers(all_buffers(t))):
            raise NotCompiled(stmt, "the result is, or may be, an argument")
        return
    raise NotCompiled(stmt, "the result is no number or array, or has no known parts")


def returned(writer: KernelWriter, node: Any, t: Type) -> gast.expr:
    """What the kernel returns."""
    if node is None or (isinstance(t, Const) and t.value is None):
        return syntax.const(None)
    if isinstance(node, gast.Tuple):
        assert isinstance(t, Tuple)
        parts = [
            returned(writer, e, i) for e, i in zip(node.elts, t.items, strict=True)
        ]
        return gast.Tuple(parts, syntax.LOAD)
    if isinstance(t, (Array, Tuple)) and isinstance(node, gast.Name):
        return node
    return writer.numbers.number(node)
