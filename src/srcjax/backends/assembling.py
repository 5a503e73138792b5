"""From written functions to a module: callees, simplification, and what names mean."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.custom import CustomRule, CustomTangent
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Type,
)
from srcjax.backends import stage_listings
from srcjax.backends.module import Module
from srcjax.backends.named_objects import name_objects
from srcjax.frontend.helper_names import HELPERS, refuse_hidden
from srcjax.frontend.lift import free_names
from srcjax.frontend.stage_texts import (
    Runnable,
    Snapshot,
    StageTexts,
    is_recording,
)
from srcjax.frontend.unit import parameter_names
from srcjax.ops import (
    registry,  # noqa: F401  (fills the table of operations)
)
from srcjax.ops.patched import refuse_patched
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.callees import Callees
from srcjax.transforms.finish import (
    Finisher,
    link_saved,
    mark_backward,
    own_memory,
    simplify_groups,
)
from srcjax.transforms.inferred import Inference
from srcjax.transforms.passes import Simplify
from srcjax.transforms.webs import name_comprehensions_as_written
from srcjax.transforms.written import Written, value_of

#: Told of all functions twice: as they were written, and when they are done (then with
#: what their free names stand for).
Look = Callable[[tuple, "dict[str, Any] | None"], object]


def assemble(
    program: Program,
    callees: Callees,
    first: list[Any],
    entry: str,
    stages: StageTexts,
    write: Callable[[int], Any],
    simplify: Simplify,
    stage: str,
    arguments: dict[str, Type],
    look: Look | None = None,
) -> Module:
    """Write the callees, simplify, and collect what the names mean.

    `callees.wanted` grows while functions are written; `write` gives the function (or
    forward/backward pair) of one of its keys. The passes are those of `simplify`, and
    `arguments` are the types of the parameters of the entry.
    """
    transformed: list[str] = []

    def note(group: Any) -> Any:
        if is_recording():
            transformed.append(stage_listings.listings(w.node for w in _members(group)))
        return group

    for group in first:
        note(group)
    done: set[int] = {callees.entry}
    called: list[Any] = []
    while True:
        todo = [key for key in callees.wanted if key not in done]
        if not todo:
            break
        for key in todo:
            done.add(key)
            called.append(note(write(key)))
    stages.keep(stage, lambda: "\n\n".join(transformed))
    members = [_members(group) for group in (*called, *first)]
    for written in (w for group in members for w in group):
        syntax.set_apart(written.node)
    inference = Inference(program, callees, members, arguments)
    for group in members:
        for w in group:
            w.inference = inference
    if look is not None:
        look(inference.inputs, None)
    watcher = None
    if is_recording():
        watcher = PassTexts(
            stages, stage, members, program, callees, simplify, arguments
        )
    watch = _unseen if watcher is None else watcher.passed

    def infer() -> Inference:
        return Inference(program, callees, members, arguments, linked=True)

    simplify_groups(members, simplify, watch, infer)
    groups = [_finished(group, program) for group in members]
    functions = [f for group in groups for f in group[0]]
    refuse_hidden(functions, program)
    values = merged(groups, functions)
    values |= callees.live_values()
    values |= name_objects(functions, values)
    own = {f.name for f in functions}
    free = set().union(*(free_names(f) for f in functions)) - own
    free = {name for name in free if not is_builtin(name, values.get(name))}
    values = {k: v for k, v in sorted(values.items()) if k in free}
    refuse_patched(functions, values)
    module = Module(entry, functions, values, entry=entry, stages=stages)
    module.guards = program.all_guards()
    module.made = names_new(functions, program)
    if not any(w.forward for group in members for w in group):
        module.adjoints = module.made & adjoint_names(functions)
    module.kept = {f.name: kept_names(g) for g, _ in groups for f in g}
    module.opinions = has_opinions(program)
    module.asks_for_ints = program.asks_for_ints
    module.result = program.facts.results.get(program.entry, UNKNOWN)
    module.writes_arguments = any(map(is_given, program.facts.written()))
    backward = [group[0][1] for group in groups if len(group[0]) == 2]
    module.backward = frozenset(f.name for f in backward)
    if len(members[-1]) == 2:  # nobody else is handed what was saved
        module.restores = any(
            written_bases(w.node.body) and w.inference.changes_given(w)
            for w in (group[1] for group in members if len(group) == 2)
        )
        module.consumes = module.restores or any(
            isinstance(n, gast.Attribute) and n.attr == "pop"
            for f in functions
            for n in syntax.walk(f)
        )
    for each in simplify.whole:
        each.run(functions, callees)
        if watcher is not None:
            watcher.passed_whole(each.name, functions, values)
    if look is not None:
        look(inference.inputs, values)
    module.print()
    return module


def is_given(buffer: Any) -> bool:
    """Whether memory is that of an argument, or of a part of one."""
    while isinstance(buffer, tuple) and buffer[:1] != ("param",):
        buffer = buffer[0]
    return isinstance(buffer, tuple)


class PassTexts:
    """Writes down what each pass changed, and the functions as they can be run.

    A backward function reads what the forward function saves for it only once the two
    are linked, and adjoints are copied where they have to be by late passes: text from
    before is kept as if these came just then.
    """

    def __init__(
        self,
        stages: StageTexts,
        stage: str,
        groups: list[list[Written]],
        program: Program,
        callees: Callees,
        simplify: Simplify,
        arguments: dict[str, Type],
    ) -> None:
        self.stages, self.stage = stages, stage
        self.owning = simplify.owning
        self.arguments = arguments
        #: The passes that a function has behind it, by the function.
        self.behind: dict[int, set[str]] = {}
        self.program, self.callees = program, callees
        self.groups = groups
        self.group_of = {id(w): k for k, group in enumerate(groups) for w in group}
        self.linked = [len(group) < 2 for group in groups]
        self.texts = {
            id(w): stage_listings.listings([w.node]) for group in groups for w in group
        }
        self.runnable = self.runnables()
        self.entry = tuple(w.node.name for w in groups[-1])
        self.snap(stage)

    def runnables(self) -> list[list[Runnable]]:
        """The functions of each group, with what their names stand for."""
        groups = [
            [replace(w, node=syntax.clone(w.node)) for w in group]
            for group in self.groups
        ]
        for k, group in enumerate(groups):
            if not self.linked[k]:
                link_saved(*group)
        self.own(groups)
        found: list[list[Runnable]] = []
        for group in groups:
            found.append([])
            for w in group:
                values = {**names_of(w, self.program), **self.callees.live_values()}
                found[-1].append(runnable(w.node, values))
        return found

    def own(self, groups: list[list[Written]]) -> None:
        """Run the owning passes that are still to come, on text that is not tidy yet.

        A name may stand for a number there, and for an array in the next line.
        """
        olds = [w for group in self.groups for w in group]
        written = [w for group in groups for w in group]
        todo = [Finisher(w) for w in written]
        before = []
        for finisher in todo:
            mark_backward(finisher.node.body)
            before += [
                (stmt, stmt.value)
                for stmt in syntax.walk(finisher.node.body)
                if isinstance(stmt, gast.Assign)
            ]

        def infer() -> Inference:
            return Inference(
                self.program, self.callees, groups, self.arguments, linked=True
            )

        for each in self.owning:
            left = [
                finisher
                for finisher, old in zip(todo, olds, strict=True)
                if each.name not in self.behind.get(id(old), set())
            ]
            own_memory(left, [each], _unseen, infer)
        for stmt, value in before:
            if stmt.value is not value and isinstance(stmt.value.func, gast.Attribute):
                stmt.value = syntax.call("copied", value)

    def snap(self, name: str) -> None:
        """Keep all functions as they stand."""
        functions = tuple(r for group in self.runnable for r in group)
        snapshot = Snapshot(self.stage, name, functions, self.entry)
        self.stages.snapshots.append(snapshot)

    def passed(self, name: str, written: Sequence[Written]) -> None:
        """After a pass that may have changed these functions."""
        before = [self.texts[id(w)] for w in written]
        after = [stage_listings.listings([w.node]) for w in written]
        changed = [k for k, text in enumerate(after) if text != before[k]]
        group = self.group_of[id(written[0])]
        for w in written:
            self.behind.setdefault(id(w), set()).add(name)
        if name == "link":
            self.linked[group] = True
        elif not changed:
            return
        for k in changed:
            self.texts[id(written[k])] = after[k]
        key = self.stages.keep_pass(
            f"simplify: {name}",
            "\n\n".join(before[k] for k in changed),
            "\n\n".join(after[k] for k in changed),
        )
        self.runnable = self.runnables()
        self.snap(key)

    def passed_whole(
        self, name: str, functions: list[gast.FunctionDef], values: dict[str, Any]
    ) -> None:
        """After a pass on all functions of the module."""
        now = [runnable(f, values) for f in functions]
        before = [r for group in self.runnable for r in group]
        self.runnable = [now]
        if [r.text for r in now] == [r.text for r in before]:
            return
        texts = ("\n\n".join(r.text for r in each) for each in (before, now))
        self.snap(self.stages.keep_pass(f"simplify: {name}", *texts))


def runnable(function: gast.FunctionDef, values: dict[str, Any]) -> Runnable:
    """A function that can be run."""
    text = stage_listings.listings([function])
    return Runnable(function.name, text, values)


def _unseen(name: str, written: Sequence[Written]) -> None:
    """What `finish` tells of its passes when nobody asked."""


def adjoint_names(functions: list[gast.FunctionDef]) -> frozenset[str]:
    """Names that backward code of the functions binds, and no other code."""
    bound: dict[bool, set[str]] = {False: set(), True: set()}
    for stmt in syntax.walk(functions):
        if isinstance(stmt, (gast.Assign, gast.AugAssign, gast.For)):
            backward = bool(getattr(stmt, "backward", False))
            own = stmt.targets if isinstance(stmt, gast.Assign) else stmt.target
            bound[backward] |= syntax.names_written(own)
    return frozenset(bound[True] - bound[False])


def kept_names(
    group: Sequence[gast.FunctionDef],
) -> tuple[frozenset[str], frozenset[str]]:
    """What functions of one sweep keep for its end (`transforms.reverse.kept`).

    Names of what forward functions save, and tapes of other values. A name that any
    other statement binds, or a tape that it changes, is left out.
    """
    found: dict[str, set[str]] = {"saved": set(), "tape": set()}
    others = []
    for stmt in syntax.walk([f.body for f in group]):
        how = getattr(stmt, "keeps", None)
        if how is None:
            others += [stmt] if isinstance(stmt, gast.stmt) else []
        elif isinstance(stmt, gast.Expr):  # `tape.append(value)`
            found[how] |= written_bases(stmt)
        else:  # `y, saved = f_forward(x)`
            (target,) = stmt.targets
            found[how] |= syntax.names_written(getattr(target, "elts", [target])[-1])
    saved, tapes = found["saved"], found["tape"] - found["saved"]
    given = {a.id for f in group for a in f.args.args}
    for stmt in others:
        changed = syntax.names_written(syntax.head(stmt))
        value = getattr(stmt, "value", None)
        if isinstance(stmt, gast.Expr):
            changed = written_bases(stmt)
        elif isinstance(value, (gast.List, gast.Constant)):
            changed = set()  # `tape = []`
        elif isinstance(value, gast.Name) and value.id in given:
            changed = set()  # `x, tape = saved` of what the backward function is given
        elif isinstance(value, gast.Call) and syntax.root_of(value.func) in saved:
            changed = changed - saved  # `saved = tape.pop()`
        saved, tapes = saved - changed, tapes - changed
    return frozenset(saved), frozenset(tapes)


#: Where operations are from that carry no derivative because they have none.
_LIBRARIES = ("numpy", "scipy", "builtins", "math", "operator", "copy")


def has_opinions(program: Program) -> bool:
    """Whether a derivative need not be the slope of the function.

    It was given by the user, is zero by the user's wish, or is right on average.
    """

    def is_opinion(callee: Any) -> bool:
        if isinstance(callee, (CustomRule, CustomTangent)):
            return True
        if not isinstance(callee, Op):
            return False
        if callee.on_average:
            return True
        return callee.inert and any(map(_of_user, callee.functions))

    found = itertools.chain.from_iterable(program.facts.callees.values())
    return any(map(is_opinion, found))


def _of_user(function: Any) -> bool:
    """Whether a function is no library's; `stop_gradient` is called for its effect."""
    home = getattr(function, "__module__", None) or "builtins"
    draws = f"{home}.".startswith("srcjax.random.")
    return not draws and home.split(".")[0] not in _LIBRARIES


def names_new(functions: list[gast.FunctionDef], program: Program) -> frozenset[str]:
    """Names in generated functions that no user wrote."""
    users: set[str] = set()
    for unit in program.units.values():
        users |= syntax.all_names(unit.source.node) - unit.made
    return frozenset().union(*map(syntax.all_names, functions)) - users


def _finished(
    group: list[Written], program: Program
) -> tuple[list[gast.FunctionDef], dict[str, Any]]:
    """The functions of a group, and what their names stand for."""
    functions = [w.node for w in group]
    for w in group:
        name_comprehensions_as_written(w.node, w.unit.base_names)
    # The user's own may have a helper's name in one of them only.
    parts = [([w.node], names_of(w, program)) for w in group]
    return functions, merged(parts, functions)


def names_of(written: Written, program: Program) -> dict[str, Any]:
    """What the free names of a written function stand for, in the user's spelling."""
    function = written.node
    values = respell(written, function) | unhide_helpers(written, function)
    for name in free_names(function) - set(values):
        found = value_of(written, program, name)
        if found is not None:
            values[name] = found[0]
    return values


def _members(group: Any) -> list[Written]:
    """The function, or the forward and backward functions, that are one group."""
    return [group] if isinstance(group, Written) else list(group)


def respell(written: Written, function: gast.FunctionDef) -> dict[str, Any]:
    """Give names that made way for a helper their spelling back, if none is called.

    Returns what the global ones stand for.
    """
    found: dict[str, Any] = {}
    source = written.unit.source
    for new, name in source.renamed.items():
        present = syntax.all_names(function)
        if new not in present:
            continue
        free = new in free_names(function)
        shown = new if name in present else name
        if shown != new:
            syntax.rename(function.body, {new: shown})
        if free:
            found[shown] = source.resolve(new)
    return found


def unhide_helpers(written: Written, function: gast.FunctionDef) -> dict[str, Any]:
    """Other names for helpers that a parameter of the user's has the name of."""
    own = syntax.names_written(function.body) | set(parameter_names(function.args))
    theirs = _called_names(written.unit.source.node)
    hidden = sorted(_called_names(function) & own & set(HELPERS) - theirs)
    found: dict[str, Any] = {}
    names = syntax.Names(syntax.all_names(function) | set(written.unit.names.taken))
    for name in hidden:
        alias = names.fresh(name)
        for node in syntax.walk(function.body):
            if isinstance(node, gast.Call) and syntax.is_name(node.func, name):
                node.func = syntax.name(alias)
        found[alias] = HELPERS[name]
    return found


def _called_names(node: Any) -> set[str]:
    return {
        n.func.id
        for n in syntax.walk(node)
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)
    }


def merged(
    parts: list[tuple[list[gast.FunctionDef], dict[str, Any]]],
    functions: list[gast.FunctionDef],
) -> dict[str, Any]:
    """The globals of functions that stand in one module.

    A name that means something else in one part than in another is renamed; builtins
    keep theirs.
    """
    found = {
        name: value
        for _, values in parts
        for name, value in values.items()
        if is_builtin(name, value)
    }
    for own, values in parts:
        for name, value in values.items():
            if found.setdefault(name, value) is value:
                continue
            taken = set(found).union(*(syntax.all_names(f) for f in functions))
            fresh = syntax.Names(taken).fresh(name)
            for f in own:
                syntax.rename(f.body, {name: fresh})
            found[fresh] = value
    return found


def is_builtin(name: str, value: Any) -> bool:
    """Whether a value is what Python has under the name."""
    return getattr(builtins, name, _MISSING) is value


_MISSING = object()
