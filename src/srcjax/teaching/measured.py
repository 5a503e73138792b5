"""Adjoints compared with differences of the very values that they belong to.

The user's function is run and watched (`watching`). In a second run, one value is moved
just after the statement that assigned it, in the same execution of it, and the change
of the result is what the adjoint of that value says.

Which execution a line of the backward sweep belongs to is told by counting: a line that
runs as often as the user's statement behind it belongs to the last execution first. One
that runs less often (what needs no derivative is left out) is told by the lines around
it, and nothing is called wrong on the strength of that.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import Any

import numpy as np

from srcjax.backends.load import generated_module
from srcjax.checks.differences import RTOL, STEP, quotient_of
from srcjax.checks.leaves import is_real_leaf, leaves, product, put, walk
from srcjax.checks.outcomes import quiet, run
from srcjax.checks.world import World, leads_outside
from srcjax.teaching.showing import kept
from srcjax.teaching.statements import Function, Statement, users
from srcjax.teaching.watching import Call, Watcher

#: So many values are measured, the first ones that the backward sweep reads.
MOST_MEASURED = 200
#: Arrays of at most so many elements are measured element by element.
MOST_APART = 4
#: So many executions are tried where it is not clear which one is meant.
MOST_TRIED = 4
UNCLEAR = "it is not clear which execution of the user's line it belongs to"
#: How far rounding of the result is off, by the bytes of its numbers.
UNIT = {8: 1e-15, 4: 1e-6, 2: 1e-2}
#: Steps, relative to the size of a value, by the bytes of its numbers.
STEPS = {8: STEP, 4: 1e-2, 2: 1e-1}


@dataclass(eq=False)
class Measured:
    """What a difference says of one adjoint."""

    #: The adjoint, and the user's value that it belongs to.
    name: str
    of: str
    #: What the text computed: of large arrays shape, dtype and norm.
    value: Any
    #: What was compared: numbers or small arrays. Of larger arrays (`along`) both are
    #: derivatives along one random direction.
    computed: Any = None
    measured: Any = None
    #: "agrees", "differs" or "not measured"; `reason` says why it was not.
    verdict: str = "not measured"
    reason: str = ""
    along: bool = False
    #: The line of the text that computed it.
    number: int = 0


@dataclass(eq=False)
class Step:
    """One execution of a line."""

    #: The order in which they began.
    index: int
    statement: Statement
    #: The call of the function that it belongs to, counted from 0.
    call: int
    #: Which iteration it is, of each loop around the line, counted from 0.
    iterations: tuple[int, ...]
    #: What names and items are after it.
    values: dict[str, Any]
    #: The adjoints that it reads, with the step that computed each.
    read: dict[str, tuple[Any, Step | None]] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    #: Copies of what names are after it, where they were asked for.
    whole: dict[str, Any] = field(default_factory=dict)
    #: The order in which they ended.
    ended: int = 0


@dataclass(eq=False)
class Instance:
    """One execution of a statement of the user's, or the beginning of a call."""

    index: int
    statement: Statement | None
    #: Which execution of the statement it is; of a call, its number.
    count: int
    call: int
    values: dict[str, Any] = field(default_factory=dict)
    #: Names that share memory with a value.
    shares: dict[str, str] = field(default_factory=dict)
    #: Of a `return`: the call and the statement that the value goes to.
    goes_to: tuple[int, Statement] | None = None


def measure(trace: Any, transform: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Compare the adjoints in a table with differences, in place."""
    trace.reason = _reason(trace, transform, args, kwargs)
    if trace.reason:
        return
    with quiet():
        try:
            runs = Runs(transform, args, kwargs, trace.steps)
        except NotMeasurable as why:
            trace.reason = str(why)
            return
        for step, name, value, given, instances, sure in pairs(trace.steps, runs):
            holder = given or step
            of = step.statement.function.derivatives[name]
            found = Measured(name, of, kept(value))
            found.number = holder.statement.first
            if len(trace.measured) >= MOST_MEASURED:
                found.reason = f"{MOST_MEASURED} others were"
            else:
                runs.compare_any(found, value, instances, sure)
            trace.measured.append(found)
            holder.measured[name] = found
        measure_results(trace, transform, runs)


def _reason(trace: Any, transform: Any, args: tuple, kwargs: dict[str, Any]) -> str:
    """Why nothing can be measured; empty if something can."""
    if transform.name not in ("grad", "value_and_grad", "vjp"):
        kinds = "grad, value_and_grad and vjp (and tangents of jvp)"
        return f"adjoints of {kinds} are, and this is {transform.name}"
    if getattr(transform, "holomorphic", False):
        return "the result is a complex number"
    if trace.dropped:
        return "the run is too long"
    if leads_outside([transform.function, *args, *kwargs.values()]):
        return "the function may read or write what cannot be put back, such as files"
    return ""


class NotMeasurable(Exception):
    """Nothing can be measured; the message says why."""


# -- which execution an adjoint belongs to ---------------------------------------------


def pairs(
    steps: list[Step], runs: Runs
) -> Iterator[tuple[Step, str, Any, Step | None, list[Instance], bool]]:
    """The adjoints that steps read, each once, with the value that it belongs to.

    It is one of several where it cannot be told; last comes whether that is sure.
    """
    aligned = Alignment(steps, runs)
    seen: set[tuple[int, str]] = set()
    for step in steps:
        for name, (value, given) in step.read.items():
            of = step.statement.function.derivatives[name]
            found, sure = aligned.executions(step, name, of)
            found = [i for i in found if (i.index, of) not in seen]
            if found:
                if len(found) == 1:
                    seen.add((found[0].index, of))
                yield step, name, value, given, found, sure


class Alignment:
    """Tells which execution of the user's statement a backward step belongs to."""

    def __init__(self, steps: list[Step], runs: Runs) -> None:
        self.runs = runs
        self.calls = {step.index: step.call for step in steps}
        self.by_statement: dict[Statement, list[Step]] = {}
        for step in steps:
            self.by_statement.setdefault(step.statement, []).append(step)
        #: Steps that counting alone tells of, by the user's statement.
        self.anchors: dict[Statement, list[Step]] = {}
        self.direct: dict[int, Instance] = {}
        for statement, executed in self.by_statement.items():
            user = runs.statement_of(statement)
            instances = runs.of_statement.get(user, []) if user is not None else []
            known = statement.function.derivatives
            if not statement.backward or not statement.reads() & known.keys():
                continue  # such as what takes an old value from a tape
            if len(executed) != len(instances):
                continue
            for step, instance in zip(executed, reversed(instances), strict=True):
                self.direct[step.index] = instance
                self.anchors.setdefault(user, []).append(step)  # type: ignore[arg-type]
        for anchors in self.anchors.values():
            anchors.sort(key=lambda s: s.index)

    def executions(self, step: Step, name: str, of: str) -> tuple[list[Instance], bool]:
        """The executions that gave the value of an adjoint; whether that is sure."""
        user = self.runs.statement_of(step.statement)
        if user is not None and step.statement.backward:
            one, sure = self.instance(step, user)
            every = self.runs.of_statement.get(user, [])
            found = [
                given
                for instance in ([one] if one is not None else reversed(every))
                if (given := self.runs.given_by(instance, of)) is not None
            ]
            if found:
                return found, sure or (one is None and len(found) == 1)
        one = self.entered(step) if returns(step.statement, name) else None
        return ([one] if one is not None and of in one.values else []), False

    def instance(self, step: Step, user: Statement) -> tuple[Instance | None, bool]:
        """The execution, and whether it is told by counting alone."""
        found = self.direct.get(step.index)
        if found is not None:
            return found, True
        same = self.anchors.get(user, [])
        at = bisect.bisect_right([s.index for s in same], step.index) - 1
        if at >= 0:  # the same statement ran for it a moment ago
            return self.direct[same[at].index], False
        return self.between(step, user), False

    def between(self, step: Step, user: Statement) -> Instance | None:
        """The only execution between those of another statement around the step."""
        for loop in reversed(step.statement.loops):
            for statement, executed in self.by_statement.items():
                if loop not in statement.loops or executed[0].index not in self.direct:
                    continue
                before = [s for s in executed if s.index < step.index]
                after = [s for s in executed if s.index > step.index]
                high = self.direct[before[-1].index].index if before else None
                low = self.direct[after[0].index].index if after else -1
                found = [
                    i
                    for i in self.runs.of_statement.get(user, [])
                    if high is not None and low < i.index <= high
                ]
                if len(found) == 1:
                    return found[0]
        return None

    def entered(self, step: Step) -> Instance | None:
        """The call whose arguments the adjoints belong to that a step returns."""
        executed = [s for s in self.direct if self.call_of(s) == step.call]
        calls = {self.direct[s].call for s in executed}
        if len(calls) != 1:
            return None
        return self.runs.entries.get(calls.pop())

    def call_of(self, index: int) -> int:
        return self.calls[index]


def returns(statement: Statement, name: str) -> bool:
    """Whether a name is what is returned, or an item of it."""
    value = getattr(statement.node, "value", None)
    if not isinstance(statement.node, ast.Return):
        return False
    items = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(isinstance(item, ast.Name) and item.id == name for item in items)


# -- runs of the user's function -----------------------------------------------------


class Runs:
    """Runs the user's function, as it is or with one value moved."""

    def __init__(
        self, transform: Any, args: tuple, kwargs: dict[str, Any], steps: list[Step]
    ) -> None:
        self.transform = transform
        self.values = transform.bind(args, kwargs)
        self.files = {s.statement.place[0] for s in steps if s.statement.place}
        self.functions: dict[str, dict[Any, Function]] = {}
        self.around: dict[str, dict[str, Any]] = {}
        self.function = function_of(transform, self.files)
        self.world = World([transform.function, *self.values])
        self.entries: dict[int, Instance] = {}
        self.of_statement: dict[Statement, list[Instance]] = {}
        noting = _Noting(self)
        result = self.run(noting)
        self.instances, self.path = noting.instances, noting.path
        noting.leave_unwritten()
        if not any(map(is_real_leaf, leaves(result))):
            raise NotMeasurable("the result is no real number")
        self.weights = put(result, map(_ones, leaves(result)))
        self.here = product(self.weights, result)
        if product(self.weights, self.run(None)) != self.here:
            raise NotMeasurable("the function does not give the same twice")
        self.bytes = min(
            (np.asarray(r).dtype.itemsize for r in leaves(result) if is_real_leaf(r)),
            default=8,
        )

    def find(self, code: CodeType, around: dict[str, Any]) -> Function | None:
        if code.co_filename not in self.files:
            return None
        if code.co_filename not in self.functions:
            self.functions[code.co_filename] = users(code.co_filename, around)
            self.around[code.co_filename] = around
        known = self.functions[code.co_filename]
        return known.get((code.co_name, code.co_firstlineno))

    def statement_of(self, statement: Statement) -> Statement | None:
        """The user's statement behind one of the text, if it ran."""
        if statement.place is None:
            return None
        file, line, _ = statement.place
        for function in self.functions.get(file, {}).values():
            if line in function.by_line:
                return function.by_line[line]
        return None

    def given_by(self, returned: Instance, of: str) -> Instance | None:
        """An execution that gives a value to a name.

        What a `return` gives, the statement with the call gives a name to.
        """
        if of in returned.values:
            return returned
        if returned.goes_to is None:
            return None
        call, statement = returned.goes_to
        for found in self.of_statement.get(statement, []):
            if found.index > returned.index and found.call == call:
                return found if of in found.values else None
        return None

    def run(self, watcher: Watcher | None, values: list[Any] | None = None) -> Any:
        """What the function gives; the world is put back after it."""
        given = self.values if values is None else values

        def call() -> Any:
            if watcher is None:
                return self.function(given)
            with watcher.on():
                return self.function(given)

        found = run(call, self.world, False)
        if found.error is not None:
            raise NotMeasurable(f"the function raises {type(found.error).__name__}")
        return found.result

    def compare_any(
        self, found: Measured, adjoint: Any, instances: list[Instance], sure: bool
    ) -> None:
        """Measure the value of one of some executions, where only one can be meant."""
        tried = [replace(found) for _ in instances[:MOST_TRIED]]
        for each, instance in zip(tried, instances, strict=False):
            self.compare(each, adjoint, instance, sure)
        same = [each for each in tried if each.verdict == "agrees"]
        chosen = same if len(same) in (1, len(instances)) else tried
        vars(found).update(vars(chosen[0]))
        if len(instances) > 1 and chosen is tried:
            vars(found).update(verdict="not measured", reason=UNCLEAR)

    def compare(
        self,
        found: Measured,
        adjoint: Any,
        instance: Instance,
        sure: bool,
        apart: int = MOST_APART,
    ) -> None:
        """Measure the value that an adjoint belongs to.

        Arrays of at most `apart` elements are measured element by element.
        """
        primal = instance.values[found.of]
        adjoint = spread(adjoint, primal)
        found.reason = refused(found, adjoint, primal, instance.statement)
        if found.reason:
            return
        moving = _Moving(self, instance, found.of)
        compare(
            found, adjoint, primal, lambda moved: self.at(moving, moved), self, apart
        )
        if found.verdict != "differs":
            return
        other = instance.shares.get(found.of)
        if other is not None:
            found.verdict = "not measured"
            found.reason = f"`{found.of}` shares memory with {other}"
        elif not sure:
            found.verdict = "not measured"
            found.reason = UNCLEAR

    def at(self, moving: _Moving, moved: Any) -> float:
        """The result with a value moved, if the same statements run."""
        moving.restart(moved)
        result = self.run(moving)
        if not moving.done or moving.path != self.path:
            raise NotMeasurable("a little beside it, other lines run")
        return product(self.weights, result)

    def given(self, values: list[Any]) -> float:
        """The result for other arguments, if the same statements run."""
        passing = Passing(self)
        result = self.run(passing, values)
        if passing.path != self.path:
            raise NotMeasurable("a little beside it, other lines run")
        return product(self.weights, result)


def refused(
    found: Measured, adjoint: Any, primal: Any, statement: Statement | None = None
) -> str:
    """Why a value cannot be moved; empty if it can."""
    of, name = found.of, found.name
    if statement is not None and statement.shared:
        return "several statements stand on the user's line"
    if isinstance(primal, (int, np.integer, np.bool_)):
        return f"`{of}` is an int there"
    if isinstance(primal, np.ndarray) and primal.dtype.kind not in "fc":
        return f"`{of}` holds {primal.dtype.name}, not real numbers"
    if not is_real_leaf(primal):
        return f"`{of}` is a {type(primal).__name__}"
    if not is_real_leaf(adjoint) and not isinstance(adjoint, int):
        return f"{name} is a {type(adjoint).__name__}"
    if np.shape(primal) != np.shape(adjoint):
        shapes = f"{np.shape(adjoint)}, `{of}` has {np.shape(primal)}"
        return f"{name} has shape {shapes}"
    return "" if np.size(primal) else "it has no elements"


def function_of(transform: Any, files: set[str]) -> Callable[[list[Any]], Any]:
    """What is run for the values of the parameters: the text that was differentiated.

    Of a derivative that is the generated text that lines are of, not what a call of it
    would find.
    """
    if transform.inner is None:
        return transform.plain_value
    names = {transform.inner.made_name}
    found = [m for m in map(generated_module, files) if m is not None]
    texts = [m for m in found if len(found) == 1 or names & set(m.__all__)]
    if len(texts) != 1:
        raise NotMeasurable("which text was differentiated cannot be told")
    entry = getattr(texts[0], texts[0].__all__[0])

    def call(values: list[Any]) -> Any:
        args, kwargs = transform.arguments(values)
        result = entry(*args, **kwargs)
        return result[0] if transform.has_aux else result

    return call


def spread(adjoint: Any, primal: Any) -> Any:
    """The adjoint in the shape of its value: a number may stand for a whole array."""
    if not is_real_leaf(adjoint) or not is_real_leaf(primal):
        return adjoint
    if np.shape(adjoint) == np.shape(primal):
        return adjoint
    try:
        return np.broadcast_to(adjoint, np.shape(primal))
    except ValueError:
        return adjoint


class Passing(Watcher):
    """Notes which statements run, one after the other."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs.find)
        self.path: list[Statement] = []

    def before(self, call: Call, statement: Statement, frame: FrameType) -> None:
        self.path.append(statement)


class _Noting(Passing):
    """Notes which statements of the user's run, and what values they give."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs)
        self.runs = runs
        self.instances: list[Instance] = []
        self.held: list[tuple[Instance, str, np.ndarray]] = []

    def entered(self, call: Call, frame: FrameType) -> None:
        found = Instance(-1 - call.number, None, call.number, call.number)
        self.note(found, call, call.function.parameters, frame)
        self.runs.entries[call.number] = found

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        executed = self.runs.of_statement.setdefault(statement, [])
        found = Instance(len(self.instances), statement, len(executed), call.number)
        self.note(found, call, statement.names, frame)
        caller = call.caller
        returned = isinstance(statement.node, ast.Return)
        if returned and caller is not None and caller.pending is not None:
            found.goes_to = caller.number, caller.pending
        executed.append(found)
        self.instances.append(found)

    def note(
        self, found: Instance, call: Call, names: tuple[str, ...], frame: FrameType
    ) -> None:
        here = frame.f_locals
        for name in names:
            if name not in here:
                continue
            value = here[name]
            found.values[name] = value
            if isinstance(value, np.ndarray):
                found.values[name] = value.copy()
                self.held.append((found, name, value))
                other = self.sharing(call, name, value)
                if other is not None:
                    found.shares[name] = other

    def sharing(self, call: Call, name: str, value: np.ndarray) -> str | None:
        """A name whose value shares memory with that of another."""
        for each in [c for c in self.stack if c.frame is not None]:
            own = each is call
            for other, held in list(each.frame.f_locals.items()):  # type: ignore[union-attr]
                if own and other == name:
                    continue
                if any(np.may_share_memory(value, a) for a in _arrays(held)):
                    return f"`{other}`"
        return None

    def leave_unwritten(self) -> None:
        """Arguments share memory with the caller's: forget it if nobody writes."""
        for found, name, value in self.held:
            same = np.array_equal(value, found.values[name], equal_nan=True)
            if found.statement is None and same:
                found.shares.pop(name, None)


def _arrays(value: Any, depth: int = 3) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)) and depth:
        for each in value[:100]:
            yield from _arrays(each, depth - 1)
    elif isinstance(value, dict) and depth:
        for each in list(value.values())[:100]:
            yield from _arrays(each, depth - 1)


class _Moving(Passing):
    """Gives one name another value in one execution of a statement."""

    def __init__(self, runs: Runs, instance: Instance, name: str) -> None:
        super().__init__(runs)
        self.instance, self.name = instance, name

    def restart(self, moved: Any) -> None:
        self.moved, self.done, self.count, self.calls = moved, False, 0, 0
        self.stack.clear()
        self.path.clear()

    def entered(self, call: Call, frame: FrameType) -> None:
        if self.instance.statement is None and call.number == self.instance.call:
            self.move(frame)

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        if statement is self.instance.statement:
            if self.count == self.instance.count:
                self.move(frame)
            self.count += 1

    def move(self, frame: FrameType) -> None:
        frame.f_locals[self.name] = self.moved
        self.done = True


# -- one comparison ------------------------------------------------------------------


def compare(
    found: Measured,
    adjoint: Any,
    primal: Any,
    at: Callable[[Any], float],
    runs: Runs,
    apart: int = MOST_APART,
) -> None:
    """Measure along the elements of a value, or along one direction; in place."""
    size = precision(primal)
    if np.size(primal) <= apart:
        directions = list(np.eye(np.size(primal)))
    else:
        rng = np.random.default_rng(20261)
        drawn = rng.uniform(0.5, 1.5, np.size(primal))
        directions = [drawn * rng.choice([-1.0, 1.0], np.size(primal))]
        found.along = True
    if np.iscomplexobj(primal):
        directions = [(1 + 0.7j) * sum(directions)]  # type: ignore[list-item]
        found.along = True
    own, measured, verdicts = [], [], []
    for direction in directions:
        by = direction.reshape(np.shape(primal))
        said = float(np.real(np.sum(np.asarray(adjoint) * by)))
        scale = size_of(np.asarray(primal)[by != 0])

        def beside(t: float, by: Any = by * scale) -> float:
            return at(beside_by(primal, by * t))

        try:
            bytes_ = min(size, runs.bytes)
            slope, verdict = slope_along(beside, said * scale, runs.here, bytes_)
        except NotMeasurable as why:
            found.reason = str(why)
            return
        own.append(said)
        measured.append(slope / scale)
        verdicts.append(verdict)
    if "" in verdicts:
        found.reason = "it bends or jumps there (a kink, a tie), or it is too small"
        return
    found.verdict = "differs" if "differs" in verdicts else "agrees"
    shape = () if found.along else np.shape(primal)
    found.measured = np.reshape(measured, shape)[()]
    found.computed = np.reshape(own, shape)[()]


def slope_along(
    at: Callable[[float], float], said: float, here: float, size: int
) -> tuple[float, str]:
    """The slope, and "agrees", "differs" or, where it cannot be told, ""."""
    unit, h = UNIT[size], STEPS[size]
    quotient = quotient_of(at, here, max(abs(here), unit), h, unit)
    if not np.isfinite(quotient.value) or not np.isfinite(quotient.error):
        return quotient.value, ""
    largest = max(abs(quotient.value), abs(said) if np.isfinite(said) else 0.0)
    error = 20 * quotient.error
    if error > 0.1 * largest and error > 1e3 * quotient.noise + 1e-9 * abs(here):
        return quotient.value, ""
    if not np.isfinite(said):
        return quotient.value, "differs"
    apart = abs(said - quotient.value)
    if apart <= RTOL[size] * largest + error:
        # What is below the noise of the difference was not measured.
        lost = largest > 0 and error > 0.5 * largest and abs(said) > 0
        return quotient.value, "" if lost else "agrees"
    return quotient.value, "differs"


def size_of(values: np.ndarray) -> float:
    size = float(np.sqrt(np.mean(np.abs(values) ** 2))) if values.size else 0.0
    return size if np.isfinite(size) and size > 0 else 1.0


def precision(value: Any) -> int:
    """The bytes of a real number of the value."""
    dtype = np.asarray(value).dtype
    bytes_ = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return min(8, bytes_)


def beside_by(primal: Any, by: np.ndarray) -> Any:
    """The value a little beside it, of the type that it has."""
    if isinstance(primal, np.ndarray):
        return np.asarray(primal + by, primal.dtype)
    moved = primal + by[()]
    return (
        np.asarray(moved, primal.dtype)[()]
        if hasattr(primal, "dtype")
        else (complex(moved) if isinstance(primal, complex) else float(moved))
    )


def _ones(leaf: Any) -> Any:
    if not is_real_leaf(leaf):
        return np.zeros(np.shape(leaf))[()]
    return np.ones_like(leaf) if isinstance(leaf, np.ndarray) else 1.0


# -- the result ----------------------------------------------------------------------


def measure_results(trace: Any, transform: Any, runs: Runs) -> None:
    """Compare what the call gave with differences of the arguments."""
    result = trace.result
    if transform.name == "vjp" or getattr(transform, "with_value", False):
        result = result[1]
    elif transform.has_aux:
        result = result[0]
    many = transform.name == "vjp" or not transform.single
    gradients = list(result) if many else [result]
    last = trace.steps[-1]
    for name, gradient in zip(transform.wrt, gradients, strict=True):
        at = transform.parameters.index(name)
        primal = runs.values[at]
        named = list(walk(primal, name))
        for k, ((where, leaf), own) in enumerate(
            zip(named, leaves(gradient), strict=True)
        ):
            plain = len(gradients) == 1 and len(named) == 1
            if isinstance(leaf, int) and not isinstance(leaf, bool):
                leaf = float(leaf)
            found = Measured("result" if plain else f"d {where}", where, kept(own))
            found.number = last.statement.first
            found.reason = refused(found, own, leaf)

            def moved(
                value: Any, at: int = at, k: int = k, primal: Any = primal
            ) -> float:
                values = list(runs.values)
                parts = leaves(primal)
                parts[k] = value
                values[at] = put(primal, iter(parts))
                return runs.given(values)

            if not found.reason:
                compare(found, own, leaf, moved, runs)
            trace.measured.append(found)
            last.measured[found.name] = found
