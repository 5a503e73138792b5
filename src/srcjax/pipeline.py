"""Each transform's pass list, top to bottom.

read -> check -> normalise -> infer -> settle (and webs) -> reverse, forward or batch
-> simplify -> emit -> load

`ROUND` are the passes on the way to settled core form; `REVERSE`, `FORWARD` and `BATCH`
those that simplify what the transform wrote. `srcjax.stages` shows what each changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.effects import Missed, Unreachable
from srcjax.analysis.guards import Whole
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.mapped import MappedInterpreter
from srcjax.analysis.mismatch import check_shapes
from srcjax.analysis.program import Facts, Program, SetAround
from srcjax.analysis.request import Request
from srcjax.analysis.returned import refuse_functions, refuse_iterators
from srcjax.analysis.sizes import sizes_of
from srcjax.analysis.types import (
    UNKNOWN,
    Buffers,
    Const,
    Dict,
    List,
    NumberOrArray,
    Object,
    Other,
    Range,
    Tuple,
    Type,
    Unknown,
    Varies,
    dims_of,
    dtype_of,
    is_mapping,
    mapping,
    resolved,
    shape_of,
    tells_dtypes,
    varies,
    varying,
    with_active,
)
from srcjax.backends import stage_listings
from srcjax.backends.assembling import assemble
from srcjax.backends.load import REFUSING
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError, SrcjaxError, UnsupportedError, error_at
from srcjax.frontend.check import violations
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.missing import Needed, Needs
from srcjax.frontend.read import FunctionSource, apart, read
from srcjax.frontend.stage_texts import StageTexts, is_recording
from srcjax.frontend.unit import Unit, passed_on
from srcjax.ops import (
    collectives,
    registry,  # noqa: F401  (fills the table of operations)
)
from srcjax.ops.effects import effect_of_function
from srcjax.ops.record import tangents
from srcjax.transforms.aliases import merge_aliases, merge_handed_on
from srcjax.transforms.batch.copies import read_at_once
from srcjax.transforms.batch.entry import Batch, batched
from srcjax.transforms.batch.masked import reduce_masked
from srcjax.transforms.batch.polish import drop_unused_parameters
from srcjax.transforms.batch.starts import fill_starts
from srcjax.transforms.call_effects import mark_effects
from srcjax.transforms.callees import Callees, recursive_functions
from srcjax.transforms.cancelling import mark_cancelling
from srcjax.transforms.common import share_common
from srcjax.transforms.copies import spare_copies
from srcjax.transforms.dissolve import dissolve
from srcjax.transforms.finish import Finisher
from srcjax.transforms.forward.calls import TangentCallees
from srcjax.transforms.forward.entry import Forward, drop_value
from srcjax.transforms.inferred import (
    WrittenProgram,
    check_written,
    infer_written,
)
from srcjax.transforms.itself import name_objects
from srcjax.transforms.kernels.containers import name_parts
from srcjax.transforms.kernels.entry import writes_given
from srcjax.transforms.layouts import settle_layouts
from srcjax.transforms.loop_tests import join_tests
from srcjax.transforms.nested import keep_tapes, write_nested
from srcjax.transforms.own_names import name_new_arrays
from srcjax.transforms.passes import Pass, Simplify, UnitPass, WholePass
from srcjax.transforms.plain import written_plain
from srcjax.transforms.reverse.entry import Reverse, pairs_of
from srcjax.transforms.reverse.pairs import Pairs
from srcjax.transforms.settle import settle
from srcjax.transforms.signatures import copies_of_written
from srcjax.transforms.simplify.carried import carry_comments
from srcjax.transforms.split import split_containers
from srcjax.transforms.split_lists import read_lists, split_lists
from srcjax.transforms.webs import split_webs
from srcjax.transforms.written import Written

ROUNDS = 48
HELPERS.update(runtime.HELPERS)
REFUSING.update(runtime.HELPERS)
HELPERS.update({name: getattr(collectives, name) for name in collectives.__all__})
#: Check the core form after every pass (the tests do).
VALIDATE = False
#: Called with what inference finds in written functions, then too (by tests).
WATCHING: list[Callable[[WrittenProgram], None]] = []


# -- the passes ------------------------------------------------------------------------


def _in_every_unit(
    change: Callable[[Program, Unit], bool],
) -> Callable[[Program], bool]:
    """A pass over the units that are reached, which says whether it changed one."""

    def run(program: Program) -> bool:
        return any([change(program, unit) for unit in program.reached()])

    return run


def _split_webs(program: Program) -> bool:
    """After it types are inferred anew: they know that each name has one value."""
    for unit in program.reached():
        split_webs(unit)
    return True


def _in_each(
    change: Callable[[gast.FunctionDef], None],
) -> Callable[[list[gast.FunctionDef], Callees], None]:
    """A pass that looks at one function after the other."""

    def run(functions: list[gast.FunctionDef], _: Callees) -> None:
        for function in functions:
            change(function)

    return run


#: What is done once all else is settled, and again where that changed.
_LATER = (
    "copies",
    "common",
    "aliases",
    "loop_tests",
    "handed_on",
    "layouts",
    "cancelling",
)
_ONCE = ("webs", "own_names", *_LATER)
#: After inference, until nothing changes.
ROUND = (
    UnitPass("settle", lambda program: settle(program, recursive_functions(program))),
    UnitPass("dissolve", dissolve, undoes=_ONCE),
    UnitPass("split", _in_every_unit(split_containers), undoes=_ONCE),
    UnitPass("split_lists", _in_every_unit(split_lists), undoes=_ONCE),
    UnitPass("read_lists", _in_every_unit(read_lists), undoes=_ONCE),
    UnitPass("nested", write_nested, undoes=_ONCE),
    UnitPass("webs", _split_webs, once=True),
    UnitPass(
        "own_names",
        _in_every_unit(name_new_arrays),
        once=True,
        undoes=("webs", *_LATER),
    ),
    UnitPass("itself", _in_every_unit(name_objects), undoes=_ONCE),
    UnitPass("copies", _in_every_unit(spare_copies), once=True),
    UnitPass("common", _in_every_unit(share_common), once=True, keeps_types=True),
    UnitPass("aliases", _in_every_unit(merge_aliases), once=True, keeps_types=True),
    UnitPass("loop_tests", _in_every_unit(join_tests), once=True),
    UnitPass("handed_on", _in_every_unit(merge_handed_on), once=True),
    UnitPass("layouts", _in_every_unit(settle_layouts), once=True),
    UnitPass("cancelling", _in_every_unit(mark_cancelling), once=True),
    UnitPass(
        "masked",
        lambda program: is_mapping() and reduce_masked(program),
        undoes=_ONCE,
    ),
    UnitPass(
        "starts",
        lambda program: is_mapping() and fill_starts(program),
        undoes=_ONCE,
    ),
    UnitPass(
        "containers",
        lambda program: varies() is Varies.RUN_TIME and name_parts(program),
        once=True,
        undoes=_ONCE,
    ),
)

_LOOPS = (gast.For, gast.While)

_NESTED = (
    Pass("dead", Finisher.remove_dead),
    Pass("sizes_of_operands", Finisher.sizes_of_operands),
    Pass("delay", Finisher.delay),
    Pass("nest", Finisher.nest),
    Pass("spell_out", Finisher.spell_out),
)
_UPDATED = (
    Pass("join_updates", Finisher.join_updates),
    Pass("read_starts", Finisher.read_starts, of=(gast.If,)),
    Pass("merge_branches", Finisher.merge_branches, of=(gast.If,)),
    Pass("sink_updates", Finisher.sink_updates, of=(gast.If,)),
    Pass("algebra", Finisher.algebra),
)
_FOLD = Pass("fold_starts", Finisher.fold_starts)
_QUOTIENTS = Pass("use_quotients", Finisher.use_quotients)

#: Dead code, nesting and algebra until nothing changes: three times do. At first a name
#: may still stand for a number, of which no quotient is read, and it is not known
#: which statements will be left of a line of the user's.
TIDY = (
    *_NESTED,
    Pass("fold_in_lines", Finisher.fold_in_lines),
    *_UPDATED,
    *(2 * (*_NESTED, _FOLD, *_UPDATED, _QUOTIENTS)),
    Pass("without_stores_of_zero", Finisher.without_stores_of_zero),
    Pass("dead", Finisher.remove_dead),
    Pass("rotate", Finisher.rotate, of=_LOOPS),
    Pass("set_items", Finisher.set_items),
)

REVERSE = Simplify(
    as_written=(Pass("drop_sums", Finisher.drop_sums),),
    before_link=TIDY,
    passes=(
        Pass("mark_backward", Finisher.mark_backward),
        *TIDY,
        Pass("read_at_hand", Finisher.read_at_hand),
        Pass("one_loop", Finisher.one_loop, of=_LOOPS),
        Pass("one_sum", Finisher.one_sum),
        Pass("signs_in_names", Finisher.signs_in_names),
        Pass("drop_spent", Finisher.drop_spent, of=_LOOPS),
        Pass("write_again", Finisher.write_again),
        Pass("factor_sums", Finisher.factor_sums),
        Pass("put_in_place", Finisher.put_in_place, of=_LOOPS),
        Pass("join_copies", Finisher.join_copies),
        Pass("spread_items", Finisher.spread_items),
        Pass("collect", Finisher.collect, of=_LOOPS),
        Pass("sugar", Finisher.sugar),
        Pass("guard_last", Finisher.guard_last, of=_LOOPS),
    ),
    owning=(
        Pass("own_written", Finisher.own_written),
        Pass("own_restored", Finisher.own_restored, Finisher.may_own_restored),
        Pass("own_results", Finisher.own_results, Finisher.may_own_results),
    ),
    last=(
        Pass("keep_dtypes", Finisher.keep_dtypes),
        Pass("floats_of_counts", Finisher.floats_of_counts),
        Pass("name_results", Finisher.name_results),
        Pass("coalesce", Finisher.coalesce),
        Pass("drop_broken_trips", Finisher.drop_broken_trips, of=_LOOPS),
        Pass("join_tapes", Finisher.join_tapes),
        Pass("walk_tapes", Finisher.walk_tapes),
        Pass("go_through_once", Finisher.go_through_once, of=_LOOPS),
        Pass("bind_together", Finisher.bind_together),
        Pass("renumber", Finisher.renumber),
        Pass("share_names", Finisher.share_names, of=(gast.If,)),
        Pass("restore_augmented", Finisher.restore_augmented),
        Pass("tests_first", Finisher.tests_first, of=(gast.If,)),
        Pass("else_of_loops", Finisher.else_of_loops, of=_LOOPS),
        Pass("return_directly", Finisher.return_directly),
        Pass("add_comments", Finisher.add_comments),
    ),
)

#: Linear maps: the lines that their statements differentiate are no text to quote.
LINEAR = replace(
    REVERSE,
    as_written=(Pass("quote_no_lines", Finisher.quote_no_lines), *REVERSE.as_written),
)

#: Where what a transform adds stands beside the user's statements: no second sweep.
_SIDE_BY_SIDE = (
    Pass("mark_backward", Finisher.mark_backward),
    *TIDY,
    Pass("read_at_hand", Finisher.read_at_hand),
    Pass("write_again", Finisher.write_again),
    Pass("join_copies", Finisher.join_copies),
    Pass("spread_items", Finisher.spread_items),
    Pass("sugar", Finisher.sugar),
    Pass("guard_last", Finisher.guard_last, of=_LOOPS),
    Pass("coalesce", Finisher.coalesce),
    Pass("join_tapes", Finisher.join_tapes),
    Pass("walk_tapes", Finisher.walk_tapes),
    Pass("go_through_once", Finisher.go_through_once, of=_LOOPS),
    Pass("bind_together", Finisher.bind_together),
    Pass("renumber", Finisher.renumber),
    Pass("share_names", Finisher.share_names, of=(gast.If,)),
    Pass("tests_first", Finisher.tests_first, of=(gast.If,)),
    Pass("else_of_loops", Finisher.else_of_loops, of=_LOOPS),
    Pass("return_directly", Finisher.return_directly),
)

#: The last one: comments stand above statements as these are by then.
_CARRIED = WholePass("carry_comments", _in_each(carry_comments))

FORWARD = Simplify(
    before_link=(),
    passes=(
        *_SIDE_BY_SIDE,
        Pass("restore_augmented", Finisher.restore_augmented),
    ),
    whole=(_CARRIED,),
)

BATCH = Simplify(
    before_link=(),
    passes=(
        Pass("dead", Finisher.remove_dead),
        Pass("zeros_of_batches", Finisher.zeros_of_batches),
        *_SIDE_BY_SIDE,
        Pass("update_places", Finisher.update_places),
    ),
    whole=(
        WholePass("unused_parameters", drop_unused_parameters),
        WholePass("read_at_once", _in_each(read_at_once)),
        _CARRIED,
    ),
)


# -- the front half: up to core form with types ----------------------------------------


def _written_out_if_refused(build: Callable[..., Module]) -> Callable[..., Module]:
    """Write loops over few objects out, where they are refused as loops.

    An object that a list holds has its adjoints in a list, which is of one shape for
    all and holds nothing twice. One that a name stands for has them in names.
    """

    @functools.wraps(build)
    def built(request: Request, *args: Any, **options: Any) -> Module:
        try:
            return build(request, *args, **options)
        except UnsupportedError as error:
            if request.writes_out or not request.holds_objects:
                raise
            request.writes_out = True
            try:
                return build(request, *args, **options)
            except SrcjaxError:
                raise error from None
            finally:
                request.writes_out = False

    return built


def analyse(
    request: Request,
    stages: StageTexts,
    needed: Needed | None = None,
    forward: bool = False,
) -> tuple[Program, Unit]:
    """Read, normalise, infer and settle, until nothing changes.

    Args:
        needed: that the function gives a value on every path, and why.
        forward: whether tangents are what will be written.
    """
    variables: set[tuple[int, str]] = set()
    with tangents(forward):
        while True:
            try:
                return settled(request, stages, needed, frozenset(variables))
            except SetAround as found:
                if found.key in variables:
                    raise found.refusal from None
                variables.add(found.key)


def settled(
    request: Request,
    stages: StageTexts,
    needed: Needed | None,
    variables: frozenset[tuple[int, str]],
) -> tuple[Program, Unit]:
    """The program and its entry, for the operations as they are looked up by now.

    Args:
        variables: those of modules that are read where they are.
    """
    program = Program(effect_of_function)
    program.variables = variables
    program.needed = needed
    program.request = request
    program.axis_name = request.axis_name
    program.keeps_rules = request.keeps_rules
    program.knows_dtypes = all(map(tells_dtypes, request.types.values()))
    source = read(request.function)
    # With arguments bound it has other parameters than where it calls itself.
    function = apart(source.func) if source.bound else source.func
    program.entry = id(function)
    program.bound = source.bound
    unit = program.unit(function, request.wrt)
    bind_constants(unit, source)
    validate(program, "normalise")
    done: set[str] = set()
    inferred = False
    for _ in range(ROUNDS):
        program.facts = Facts()
        interpreter = (MappedInterpreter if is_mapping() else Interpreter)(program)
        interpreter.settled = "webs" in done
        try:
            interpreter.run(unit, dict(request.types))
        except Missed as missed:
            interpreter.miss(missed.unit, missed.names)
        except Unreachable:
            if not (interpreter.widened or interpreter.missing):
                raise without_result(source, needed is not None) from None
        except SrcjaxError:  # it may be of what is normalised again
            if not (interpreter.widened or interpreter.missing):
                raise
        if interpreter.missing:
            for missing, names in interpreter.missing.values():
                program.widen(missing, names)
            interpreter.widened = True
            new = program.units[program.entry]
            if new is not unit:
                bind_constants(new, source)
                unit = new
        if interpreter.widened:
            supposed_of_sizes(request)  # what is supposed stays so
            done.clear()
            inferred = False
            continue
        if program.learn_changes() or supposed_of_sizes(request):
            continue
        if not inferred:
            refuse_iterators(program, unit)
            stages.keep("read", lambda: stage_listings.read_units(program))
            stages.keep("check", lambda: stage_listings.accepted_units(program))
            stages.keep("normalise", lambda: stage_listings.normal_units(program))
            stages.keep("infer", lambda: stage_listings.typed_units(program))
        inferred = True
        if "webs" in done:
            mark_effects(program)
        if not run_round(program, done, stages):
            check_shapes(unit, program.facts)
            refuse_functions(program, unit)
            stages.keep("settle", lambda: stage_listings.typed_units(program))
            program.is_settled = True
            return program, unit
    raise error_at(
        UnsupportedError,
        source,
        source.node,
        "the types in this function do not settle",
        "a simpler structure, or fewer changes of type in loops",
    )


def at_run_time(request: Request) -> tuple[Program, Unit]:
    """All of a function in core form, with types, memory and effects.

    What carries no derivative too, as in a function that srcjax wrote:

        scale = 1.0 / (len(x) * k)        product = len_x * k  # float64
                                          scale = 1.0 / product  # float64
    """
    with varying(Varies.RUN_TIME):
        request.types = {n: with_active(t, False) for n, t in request.types.items()}
        return analyse(request, StageTexts())


def run_round(program: Program, done: set[str], stages: StageTexts) -> bool:
    """Run passes of `ROUND` until types have to be inferred anew; False: none did."""
    stale = False
    for each in ROUND:
        if each.once and each.name in done:
            continue
        before = stage_listings.unit_texts(program) if is_recording() else ""
        widenings = program.widenings
        changed = each.run(program)
        if changed and not each.keeps_types:
            for unit in program.reached():
                syntax.set_apart(unit.node)
        validate(program, each.name)
        after = stage_listings.unit_texts(program) if is_recording() else ""
        stages.keep_pass(f"settle: {each.name}", before, after)
        if each.once:
            done.add(each.name)
        if changed:
            done.difference_update(each.undoes)
            stale = True
        if program.widenings != widenings:  # a function is as it was at first
            done.clear()
            return True
        if stale and not each.keeps_types:
            return True
    return stale


def without_result(source: FunctionSource, valued: bool) -> UnsupportedError:
    """The error that a function returns nowhere: at its `raise`, if it has one."""
    raised = [s for s in syntax.walk(source.node) if isinstance(s, gast.Raise)]
    calls = any(
        syntax.dotted(n.func) == source.name
        for n in syntax.walk(source.node)
        if isinstance(n, gast.Call)
    )
    if raised and not calls:
        reason = "the function raises this error, whatever it is given of these types"
        instead = "a call that gives a value: the function itself fails as well"
        return error_at(UnsupportedError, source, raised[-1], reason, instead)
    reason = "no path through the function returns" + (" a value" if valued else "")
    instead = "a base case for the recursion, or a value in place of None"
    return error_at(UnsupportedError, source, source.node, reason, instead)


def supposed_of_sizes(request: Request) -> bool:
    """Write sizes that are supposed to be the same as one, in place; whether any is."""
    sizes = sizes_of(dims_of(request.types.values()))
    if sizes is None:
        return False
    types = {n: resolved(t, sizes) for n, t in request.types.items()}
    supposed = len(sizes.cut) + len(sizes.made)
    changed = types != request.types or supposed != request.supposed
    request.types, request.supposed = types, supposed
    return changed


def validate(program: Program, stage: str) -> None:
    """Raise AssertionError if a unit is not in core form (when `VALIDATE` is on)."""
    if not VALIDATE:
        return
    for unit in program.units.values():
        found = violations(unit, written=varies() is Varies.RUN_TIME)
        if found:
            raise AssertionError(f"after {stage} of {unit.name}: {found[0]}")
        check_apart(unit.node, stage)


def check_apart(function: gast.FunctionDef, stage: str) -> None:
    """Raise AssertionError if a node of the function stands at two places of it."""
    shared = syntax.shared_nodes(function)
    if shared:
        shown = syntax.text(shared[0])
        raise AssertionError(
            f"after {stage} of {function.name}: `{shown}` stands twice"
        )


def _look(inputs: tuple, values: dict[str, Any] | None) -> None:
    """Check written functions, and tell the tests what is found in them."""
    program, callees, groups, arguments = inputs
    for written in (each for group in groups for each in group):
        check_apart(written.node, "writing")
    if values is not None and not WATCHING:
        return
    found = infer_written(program, callees, groups, arguments, values)
    if values is None:
        check_written(found)
    for each in WATCHING:
        each(found)


def _assemble(
    program: Program,
    callees: Callees,
    first: list[Any],
    entry: str,
    stages: StageTexts,
    write: Callable[[int], Any],
    simplify: Simplify,
    stage: str,
    arguments: dict[str, Type],
) -> Module:
    """`assemble`, with a look at what was written (when `VALIDATE` is on)."""
    look = _look if VALIDATE else None
    return assemble(
        program, callees, first, entry, stages, write, simplify, stage, arguments, look
    )


def names_around(program: Program, *more: str) -> syntax.Names:
    """Names for what a module adds: none that a function of the program uses.

    A callee's globals count too: one may be called what a new function would be, as
    where a generated gradient, which has a `g_backward`, is differentiated again.
    """
    used = (unit.names.taken for unit in program.units.values())
    return syntax.Names(set(more).union(*used))


def entry_name(program: Program, name: str) -> str:
    """The name of what is made: none that the user's functions are called here."""
    return names_around(program).fresh(name)


def bind_constants(unit: Unit, source: Any) -> None:
    """Arguments that are bound already (self, partial) become constants."""
    if not source.bound:
        return
    arguments = unit.node.args
    for key in ("posonlyargs", "args", "kwonlyargs"):
        kept = [a for a in getattr(arguments, key) if a.id not in source.bound]
        if key == "kwonlyargs":
            pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            arguments.kw_defaults = [d for a, d in pairs if a.id not in source.bound]
        if key == "args":
            bound_after = [a for a in arguments.args if a.id in source.bound]
            count = len(arguments.defaults)
            defaulted = arguments.args[len(arguments.args) - count :] if count else []
            arguments.defaults = [
                d
                for a, d in zip(defaulted, arguments.defaults, strict=True)
                if a not in bound_after
            ]
        setattr(arguments, key, kept)
    local = syntax.names_written(unit.node.body)
    first: list[gast.stmt] = []
    for name, value in source.bound.items():
        held = unit.names.fresh(name) if name in local else name
        unit.extra[held] = value
        unit.from_around.add(held)
        if Whole.is_one(value):
            unit.whole.add(held)
        if held != name:  # the function binds it again
            first.append(syntax.assign(name, syntax.name(held)))
    unit.node.body[:0] = first


def result_type(request: Request) -> Type:
    """The type of what a function returns, in memory of the arguments or its own."""
    program, _ = analyse(request, StageTexts())
    return program.facts.results.get(program.entry, UNKNOWN)


# -- reverse mode --------------------------------------------------------------------


@_written_out_if_refused
def gradient(
    request: Request,
    single: bool,
    with_value: bool,
    has_aux: bool,
    typed: bool,
    holomorphic: bool = False,
) -> Module:
    """The module of `grad` (or `value_and_grad`)."""
    stages = StageTexts()
    part = Needs.FIRST if has_aux else Needs.WHOLE
    needed = Needed("grad needs one real number", part)
    program, unit = analyse(request, stages, needed)
    check_result(program, unit, has_aux, typed, holomorphic)
    prefix = "value_and_grad" if with_value else "grad"
    entry = entry_name(program, f"{prefix}_{unit.name}")
    names = names_around(program, entry)
    pairs = pairs_of(program, names)
    reverse = Reverse(program, unit, pairs, request.types)
    recursive = id(unit.source.func) in recursive_functions(program)
    if recursive and not has_aux and reverse.may_use_pair(request.wrt):
        written = reverse.gradient_by_pair(entry, request.wrt, single, with_value)
    else:
        written = reverse.gradient(
            entry, request.wrt, single, with_value, has_aux, holomorphic
        )
    return _reverse_module(program, pairs, [written], entry, stages, request, REVERSE)


@_written_out_if_refused
def vjp(request: Request) -> Module:
    """The module with `f_forward` and `f_backward`."""
    stages = StageTexts()
    program, unit = analyse(request, stages)
    names = names_around(program)
    pairs = pairs_of(program, names)
    forward, backward = (
        names.fresh(f"{unit.name}_forward"),
        names.fresh(f"{unit.name}_backward"),
    )
    key = id(unit.source.func)
    if key in recursive_functions(program):
        pairs.wanted[key] = (unit, (forward, backward))
        pairs.entry = key
    first, second = Reverse(program, unit, pairs, request.types).pair(
        forward, backward, request.wrt, top=True
    )
    group = [(first, second)]
    return _reverse_module(program, pairs, group, forward, stages, request, REVERSE)


@_written_out_if_refused
def transposed(request: Request, name: str) -> Module:
    """The module with `f_residuals` and `f_linear`, of a function that is linear.

    `f_residuals(saved, dy)` gives what the linear map reads, and `f_linear` maps in the
    other direction: it is the backward function of `request`, whose forward function
    keeps no value. What it keeps does not depend on `dy`, the argument that the
    function is linear in.
    """
    stages = StageTexts()
    program, unit = analyse(request, stages)
    names = names_around(program)
    pairs = pairs_of(program, names)
    forward, backward = names.fresh(f"{name}_residuals"), names.fresh(f"{name}_linear")
    key = id(unit.source.func)
    recursive = key in recursive_functions(program)
    if recursive:
        pairs.wanted[key] = (unit, (forward, backward))
        pairs.entry = key
    first, second = Reverse(program, unit, pairs, request.types).pair(
        forward, backward, request.wrt, top=True, given_away=True
    )
    if not recursive:
        first.node.body[-1].value = syntax.const(None)
    group = [(first, second)]
    return _reverse_module(program, pairs, group, forward, stages, request, LINEAR)


def keep_saved(module: Module) -> None:
    """Let the backward function of `vjp` leave tapes that were saved as they are.

    One that puts contents back into what was saved is given a copy of all of it, or
    what another forward sweep saved: a copy of one container would be another one than
    that which others hold.
    """
    if module.consumes and not module.restores:
        keep_tapes([f for f in module.functions if f.name in module.backward])
        module.consumes = False
        module.print()


def return_pullback(module: Module, name: str, count: int) -> None:
    """Add `vjp_f(x) -> (y, pullback)` to the module of `vjp`, in place.

    Args:
        count: how many arguments are differentiated. The pullback gives a tuple.
    """
    forward, backward = module.functions[-2:]
    names = syntax.Names(syntax.all_names(forward.args) | set(module.values))
    for function in module.functions:
        names.fresh(function.name)
    entry, y, saved = map(names.fresh, (f"vjp_{name}", "y", "saved"))
    given = ", ".join(passed_on(forward.args))
    kept = saved
    if module.restores:
        kept = f"copied_together({saved})"
        module.values["copied_together"] = HELPERS["copied_together"]
    pulled = f"{backward.name}({kept}, d{y})" + (",)" if count == 1 else "")
    (node,) = syntax.statements(
        f"def {entry}():\n"
        f"    {y}, {saved} = {forward.name}({given})\n"
        f"    return {y}, lambda d{y}: {'(' if count == 1 else ''}{pulled}\n"
    )
    node.args = syntax.clone(forward.args)
    module.functions.append(node)
    module.name = module.entry = entry
    module.print()


def _pair_writer(program: Program, pairs: Pairs) -> Callable[[int], Any]:
    """Writes the forward and the backward function of a callee."""

    def write(key: int) -> Any:
        unit, (forward, backward) = pairs.wanted[key]
        wrt = pairs.active(unit)
        return Reverse(program, unit, pairs).pair(forward, backward, wrt)

    return write


def _reverse_module(
    program: Program,
    pairs: Pairs,
    group: list[Any],
    entry: str,
    stages: StageTexts,
    request: Request,
    simplify: Simplify,
) -> Module:
    """The module of what reverse mode wrote, with the pairs of its callees."""
    write = _pair_writer(program, pairs)
    return _assemble(
        program, pairs, group, entry, stages, write, simplify, "reverse", request.types
    )


# -- forward mode --------------------------------------------------------------------


@_written_out_if_refused
def jvp(request: Request, pushforward: str = "", along_one: bool = False) -> Module:
    """The module with `jvp_f(x, x_dot) -> (y, y_dot)`.

    Args:
        pushforward: the name of a function that gives `y_dot` alone, in place of it.
        along_one: whether the function is given no tangents: they are 1.0.
    """
    stages = StageTexts()
    program, unit = analyse(request, stages, forward=True)
    entry = entry_name(program, pushforward or f"jvp_{unit.name}")
    names = names_around(program, entry)
    callees = TangentCallees(program, names)

    def write(key: int) -> Written:
        callee, (name,) = callees.wanted[key]
        wrt = callees.active(callee)
        return Forward(program, callee, callees).write(name, wrt, top=False)

    forward = Forward(program, unit, callees)
    key = id(unit.source.func)
    if (
        key in recursive_functions(program)
        and not pushforward
        and callees.active(unit) == request.wrt
        and not copies_of_written(forward.rules)
    ):
        callees.wanted[key] = (unit, (entry,))  # it calls itself
        callees.entry = key
    written = forward.write(entry, request.wrt, top=True)
    if pushforward:
        drop_value(written)
    types = forward.arguments(request.types)
    if along_one:
        types = forward.along_one(written, types)
    return _assemble(
        program,
        callees,
        [written],
        entry,
        stages,
        write,
        FORWARD,
        "forward",
        types,
    )


# -- batch -----------------------------------------------------------------------------


@_written_out_if_refused
def batch(
    request: Request,
    in_axes: dict[str, Any],
    out_axes: Any,
    entry: str = "",
    may_loop: bool = True,
) -> Module:
    """The module with `vmap_f`; types are those of one example.

    Args:
        entry: another name for `vmap_f`.
        may_loop: whether an operation without a batch rule becomes a loop over the
            examples, with a warning. Else UnsupportedError is raised.
    """
    with mapping():
        stages = StageTexts()
        needed = Needed("vmap needs a result of each example", Needs.EACH)
        program, unit = analyse(request, stages, needed)
        request.found = found_of_examples(program, unit)
        entry = entry or entry_name(program, f"vmap_{unit.name}")
        names = names_around(program, entry)
        callees = Callees(program, names, ("batch",))
        callees.may_loop = may_loop

        def write(key: int) -> Written:
            callee, (name,) = callees.wanted[key]
            wrt = callees.active(callee)
            return Batch(program, callee, callees).callee(name, wrt)

        top = Batch(program, unit, callees)
        top.give_axes(out_axes)
        form = None
        arguments = unit.node.args
        again = id(unit.source.func) in recursive_functions(program)
        if again and not (arguments.vararg or arguments.kwarg):
            (form,) = callees.names_of(unit)
        written = top.write(
            entry, request.wrt, in_axes, out_axes, request.axis_size, form
        )
        types = batched(request.types, in_axes)
        module = _assemble(
            program,
            callees,
            [written],
            entry,
            stages,
            write,
            BATCH,
            "batch",
            types,
        )
        module.example = top.result
        return module


# -- the function itself ---------------------------------------------------------------


def on_device(request: Request) -> Module:
    """The module with `pmap_f`: the function itself, with what it calls written out."""
    with varying(Varies.RUN_TIME):
        stages = StageTexts()
        request.types = {n: with_active(t, False) for n, t in request.types.items()}
        program, unit = analyse(request, stages)
        entry = entry_name(program, f"pmap_{unit.name}")
        names = names_around(program, entry)
        callees = Callees(program, names, ("on_device",))

        def write(key: int) -> Written:
            callee, (name,) = callees.wanted[key]
            return written_plain(program, callee, name)

        module = _assemble(
            program,
            callees,
            [written_plain(program, unit, entry)],
            entry,
            stages,
            write,
            FORWARD,
            "plain",
            request.types,
        )
        module.changes_given = writes_given(program)
        return module


def result_of_examples(request: Request) -> tuple[Type | None, Buffers]:
    """What the function gives for one example, and the memory that it writes to.

    None for the result where the types do not settle.
    """
    with mapping():
        try:
            return found_of_examples(*analyse(request, StageTexts()))
        except SrcjaxError:
            return None, frozenset(b for t in request.types.values() for b in t.buffers)


def found_of_examples(program: Program, unit: Unit) -> tuple[Type | None, Buffers]:
    """What a function gives, and the memory that it writes to, once it is settled."""
    return program.facts.results.get(id(unit.source.func)), program.facts.written()


def check_result(
    program: Program,
    unit: Unit,
    has_aux: bool,
    typed: bool,
    holomorphic: bool = False,
) -> None:
    """`grad` needs a real scalar, or a complex one. Raises ArgumentError."""
    result = program.facts.results.get(id(unit.source.func), UNKNOWN)
    node = unit.source.node

    def refuse(reason: str, instead: str) -> Exception:
        return error_at(ArgumentError, unit.source, node, reason, instead)

    if has_aux:
        if isinstance(result, Tuple) and len(result.items) == 2:
            result = result.items[0]
        elif not isinstance(result, Unknown):
            raise refuse(
                "with has_aux=True the function must return (value, aux)",
                "`return value, aux`",
            )
    shape = shape_of(result)
    if isinstance(result, NumberOrArray):
        raise refuse(
            f"the function returns a number or an array of shape {result.shape}; grad "
            "needs one real number",
            "`return` a number on every path, as `np.sum(...)` of the array",
        )
    if isinstance(result, Object):
        raise refuse(
            f"the function returns a {getattr(result.cls, '__name__', 'object')}; grad "
            "needs one real number",
            "`return` the number on every path",
        )
    if isinstance(result, (Tuple, List, Dict)):
        raise refuse(
            "the function returns a container; grad needs one real number",
            "`srcjax.vjp`, or has_aux=True for (value, aux)",
        )
    if shape is not None and shape != ():
        raise refuse(
            f"the function returns an array of shape {shape}; grad needs one real "
            "number",
            "`np.sum(...)` of the result, or `srcjax.vjp`",
        )
    dtype = dtype_of(result)
    if holomorphic:
        if dtype is not None and dtype.kind != "c":
            raise refuse(
                f"the function returns {dtype.name}; grad with holomorphic=True needs "
                "a complex number",
                "`srcjax.grad` without holomorphic=True for a real result",
            )
        return
    if dtype is not None and dtype.kind == "c":
        raise refuse(
            f"the function returns {dtype.name}; grad needs a real number",
            "`holomorphic=True` if the function is holomorphic, else `srcjax.vjp`, or "
            "a real result such as `np.real(...)` or `np.abs(...)`",
        )
    if dtype is not None and dtype.kind not in "f" and typed:
        raise refuse(
            f"the function returns {dtype.name}; grad needs a real floating number",
            "a float result",
        )
    if isinstance(result, (Other, Range)):
        named = getattr(getattr(result, "cls", range), "__name__", "object")
        raise refuse(
            f"the function returns a {named}; grad needs one real number",
            "`return` the number on every path",
        )
    if isinstance(result, Const) and not isinstance(result.value, (int, float)):
        raise refuse(
            f"the function returns {result.value!r}; grad needs one real number",
            "`return` the number on every path",
        )
