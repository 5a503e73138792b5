"""`jit`: from typed core form to modules of kernels."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gast

from srcjax import pipeline, syntax
from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.program import Program
from srcjax.analysis.request import Request
from srcjax.analysis.types import UNKNOWN, Type, Varies, varying
from srcjax.backends import kernels
from srcjax.backends.cuda import elementwise, run
from srcjax.backends.cuda.elements import for_device
from srcjax.backends.cuda.host import with_launches
from srcjax.backends.cuda.kinds import NotCuda
from srcjax.backends.kernel_calls import takes_little
from srcjax.backends.kernels import checked_kernel, has_numba, kernel
from srcjax.backends.module import Module
from srcjax.backends.threads import in_threads
from srcjax.errors import SrcjaxError
from srcjax.frontend.helper_names import refuse_hidden
from srcjax.frontend.lift import read_names
from srcjax.frontend.read import read
from srcjax.frontend.runnable import runnable
from srcjax.frontend.unit import Unit, parameter_names, passed_on
from srcjax.ops.patched import refuse_patched
from srcjax.pipeline import at_run_time, entry_name, names_around
from srcjax.transforms.blocks.entry import blocked
from srcjax.transforms.kernels.accepted import NotCompiled
from srcjax.transforms.kernels.again import with_memory_again
from srcjax.transforms.kernels.attributes import with_attributes_first
from srcjax.transforms.kernels.buffers import with_rows_alone
from srcjax.transforms.kernels.decided import without_decided
from srcjax.transforms.kernels.entry import (
    Compiled,
    Example,
    compiled,
    divided,
    for_examples,
    without_defaults,
    writes_given,
)
from srcjax.transforms.kernels.given import Given
from srcjax.transforms.kernels.naming import renumber
from srcjax.transforms.kernels.renewed import renew
from srcjax.transforms.kernels.stopped import without_stops
from srcjax.transforms.kernels.wrapping import (
    WORDS,
    with_checks_by_name,
    with_kept_types,
)
from srcjax.transforms.writer import Writer
from srcjax.transforms.written import Written, value_of

#: Why a function stays as it is of which a kernel takes longer.
LITTLE = "to call a kernel takes longer than what it would do"


def jitted(request: Request, device: str = "cpu", always: bool = True) -> Module:
    """The module with `jit_f`: one kernel, or else the function as it is.

    Args:
        always: whether to compile what takes less time than to call a kernel, too.
    """
    name = getattr(request.function, "__name__", "f")
    compiles = device == "gpu" or has_numba()
    try:
        with varying(Varies.RUN_TIME):
            program, unit = at_run_time(request)
            if compiles:
                module = kernel_module(program, unit, request, device)
                if device == "cpu" and not always and is_little(module):
                    raise NotCompiled(unit.node, LITTLE)
                return module
            return blocked_module(program, unit, request)
    except NotCompiled as stays:
        reason = stays.reason
    except SrcjaxError as stays:
        reason = stays.reason
    except Exception as error:  # a function that runs is not refused
        if pipeline.VALIDATE:
            raise
        reason = f"srcjax fails: {type(error).__name__}: {error}"
    if not compiles:
        reason = f"there is no compiler (Numba is not installed), and {reason}"
    return plain_module(request, name, reason)


def is_little(module: Module) -> bool:
    """Whether a kernel that is all of a function takes longer than the function."""
    kernels_ = [f for f in module.functions if f.decorator_list]
    return module.whole is not None and all(map(takes_little, kernels_))


def on_device(request: Request) -> Module:
    """The module with `pmap_f`: the function written out, or else as it is."""
    name = getattr(request.function, "__name__", "f")
    try:
        return pipeline.on_device(request)
    except SrcjaxError as stays:
        reason = stays.reason
    except Exception as error:  # a function that runs is not refused
        if pipeline.VALIDATE:
            raise
        reason = f"srcjax fails: {type(error).__name__}: {error}"
    return plain_module(request, name, reason, "pmap")


def jitted_examples(
    request: Request,
    mapped: dict[str, bool],
    batched: Callable,
    device: str = "cpu",
) -> Module | None:
    """One kernel that loops over the examples of a `vmap`; None where it is no better.

    Args:
        request: the function of one example.
        mapped: which arguments have examples along their first axis.
        batched: what runs where the kernel is left.
    """
    if device == "cpu" and not has_numba():
        return None
    given = [Example(n, t, mapped[n]) for n, t in request.types.items()]
    try:
        with varying(Varies.RUN_TIME):
            program, unit = at_run_time(request)
            if sorted(unit.parameters) != sorted(mapped):
                return None
            without_decided(program, unit)
            without_stops(program, unit)
            with_attributes_first(program, unit)
            entry = entry_name(program, f"jit_vmap_{unit.name}")
            own = names_around(program, entry).fresh(f"vmap_{unit.name}")
            unit.names.taken.add(own)
            found = for_examples(program, unit, entry, own, given)
            return module_of_kernels(program, unit, found, own, batched, device)
    except (NotCompiled, SrcjaxError):
        return None


def blocked_module(program: Program, unit: Unit, request: Request) -> Module:
    """The module of a function in plain NumPy, block by block. Raises NotCompiled."""
    entry = entry_name(program, f"jit_{unit.name}")
    own = unit.name
    if own in syntax.all_names(unit.node.body) | set(unit.parameters):
        own = names_around(program, entry).fresh(own)
    unit.names.taken.add(own)
    without_stops(program, unit)
    renew(program, unit)
    found = blocked(program, unit, entry, own)
    module = Module(entry, found.functions, {}, entry=entry)
    module.blocks = tuple(found.loops)
    known = {own: runnable(request.function)}
    module.values = values_of_kernels(program, unit, module.functions, known)
    finished(module, program)
    test_of_memory(module, program, request.types, {own: runnable(request.function)})
    return module


def kernel_module(
    program: Program, unit: Unit, request: Request, device: str
) -> Module:
    """The module of a function in kernels. Raises NotCompiled."""
    entry = entry_name(program, f"jit_{unit.name}")
    own = names_around(program, entry).fresh(unit.name)
    unit.names.taken.add(own)  # none of what is made inside
    without_decided(program, unit)
    without_stops(program, unit)
    with_attributes_first(program, unit)
    renew(program, unit)
    on_cpu = device == "cpu"
    try:
        found = compiled(program, unit, entry, own, on_cpu)
    except NotCompiled as reason:
        found = divided(program, unit, entry, reason, on_cpu)
    function = runnable(request.function)
    module = module_of_kernels(program, unit, found, own, function, device)
    test_of_memory(module, program, request.types, {own: function})
    return module


def module_of_kernels(
    program: Program, unit: Unit, found: Compiled, own: str, function: Any, device: str
) -> Module:
    """The module of kernels and of what calls them; `own` is `function`'s name."""
    entry = found.driver.name
    functions = [*found.kernels, found.driver]
    if device == "cpu":
        for each in found.kernels:
            with_kept_types(each)
    renumber(functions, unit)
    for each in found.kernels:
        with_checks_by_name(each)
    known: dict[str, Any] = {own: function}
    if device == "cpu":  # where rows are computed one after the other
        for each in found.kernels:
            each.body = with_rows_alone(each.body)
            with_memory_again(each)
    if device == "gpu":
        try:
            launches, driver, uses = with_launches(
                found.kernels,
                found.driver,
                lambda name: value_of(
                    Written(found.driver, unit, Writer(program, unit)), program, name
                ),
            )
        except NotCuda as stays:
            raise NotCompiled(unit.node, str(stays)) from None
        functions = [*launches, driver]
        words = vars(run) | vars(elementwise)
        known |= {name: words[name] for name in uses}
        known |= {"cupy": run.the_cupy() if run.has_cupy() else ModuleType("cupy")}
    module = Module(entry, functions, {}, entry=entry)
    module.python = tuple((stay.stmt, stay.reason) for stay in found.stays)
    module.whole = function if device == "cpu" and not found.divided else None
    module.values = values_of_kernels(program, unit, functions, known)
    if device == "gpu":
        for_device(module)
    return finished(module, program)


def finished(module: Module, program: Program) -> Module:
    """The module with what is known of the function it is of."""
    refuse_hidden(module.functions, program)
    refuse_patched(module.functions, module.values)
    module.changes_given = writes_given(program)
    module.guards = program.all_guards()
    module.result = program.facts.results.get(program.entry, UNKNOWN)
    module.print()
    return module


def test_of_memory(
    module: Module, program: Program, given: dict[str, Type], own: dict[str, Any]
) -> None:
    """Let the function itself run where what kernels write to has two names.

    They go by each array having memory of its own, which one that is given twice,
    or with a part of itself, has not.
    """
    (driver,) = (f for f in module.functions if f.name == module.entry)
    read = syntax.names_read(driver.body)
    around = [n for n in read if type(module.values.get(n)) in ARRAYS]
    parts = Given(program).listed(given, sorted(around))
    if not parts:
        return
    (name,) = own
    again = f"{name}({', '.join(passed_on(driver.args))})"
    word = syntax.Names(syntax.all_names(driver) | set(module.values)).fresh("overlap")
    text = f"if {word}({', '.join(parts)}):\n    return {again}\n"
    driver.body[:0] = syntax.statements(text)
    module.values |= own | {word: kernels.overlap}
    module.print()


def values_of_kernels(
    program: Program, unit: Unit, functions: list[Any], own: dict[str, Any]
) -> dict[str, Any]:
    """What the free names of kernels, and of what calls them, stand for."""
    bound = {f.name for f in functions}
    found: dict[str, Any] = {}
    for function in functions:
        known = own | words_of(function)
        local = syntax.names_written(function) | set(parameter_names(function.args))
        others = [d for d in function.decorator_list if not decorator_of(d)]
        read = read_names([function.args, *others, *function.body])
        for name in read - local - bound:
            if name in known:
                value: Any = (known[name],)
            else:
                value = value_of(
                    Written(function, unit, Writer(program, unit)), program, name
                )
            if value is not None:
                if found.get(name, value[0]) is not value[0]:
                    raise NotCompiled(unit.node, f"kernels have another `{name}`")
                found[name] = value[0]
            elif not hasattr(builtins, name):
                raise NotCompiled(unit.node, f"`{name}` is not known")
    return found | with_decorators(functions, set(found) | bound)


def words_of(function: gast.FunctionDef) -> dict[str, Any]:
    """What a kernel, or what calls it, has from `backends.kernels`."""
    if function.decorator_list:
        return {word: getattr(kernels, word) for word in sorted(WORDS)}
    words: dict[str, str] = getattr(function, "words", {})
    return {name: getattr(kernels, word) for name, word in words.items()}


def with_decorators(
    functions: list[gast.FunctionDef], taken: set[str]
) -> dict[str, Any]:
    """The decorators, by names that nothing else in the module has, in place."""
    found = {}
    for each in (d for f in functions for d in f.decorator_list):
        value = decorator_of(each)
        if value is not None:
            word = each.func if isinstance(each, gast.Call) else each
            word.id = syntax.Names(taken).fresh(word.id)
            found[word.id] = value
    return found


def decorator_of(node: gast.expr) -> Any:
    """What makes a kernel of a function; None for other decorators."""
    known = {d.__name__: d for d in (kernel, checked_kernel, in_threads)}
    word = node.func if isinstance(node, gast.Call) else node
    return known.get(getattr(word, "id", ""))


def plain_module(request: Request, name: str, reason: str, kind: str = "jit") -> Module:
    """The module of a function that stays as it is."""
    name = name if name.isidentifier() else "fn"
    source = read(request.function)
    node = syntax.clone(source.node)
    for key in ("posonlyargs", "args", "kwonlyargs"):
        kept = [a for a in getattr(node.args, key) if a.id not in source.bound]
        setattr(node.args, key, kept)
    passed = ", ".join(passed_on(node.args))
    node.args = without_defaults(node.args)
    (driver,) = syntax.statements(f"def {kind}_{name}():\n    return {name}({passed})")
    driver.args = node.args
    module = Module(f"{kind}_{name}", [driver], {name: runnable(request.function)})
    module.entry = f"{kind}_{name}"
    module.stays = reason
    module.print()
    return module
