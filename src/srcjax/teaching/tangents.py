"""Tangents compared with how the very values that they belong to move.

The user's function is run beside its arguments, along their tangents, and every value
that a line gives is noted: how it moves is what its tangent says.
"""

from __future__ import annotations

from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from srcjax.checks.leaves import is_real_leaf, leaves, put
from srcjax.checks.outcomes import quiet
from srcjax.teaching.exercises import called_in
from srcjax.teaching.measured import (
    MOST_APART,
    MOST_MEASURED,
    MOST_TRIED,
    UNCLEAR,
    Measured,
    NotMeasurable,
    Passing,
    Runs,
    Step,
    beside_by,
    precision,
    size_of,
    slope_along,
)
from srcjax.teaching.showing import kept
from srcjax.teaching.statements import Statement
from srcjax.teaching.watching import Call


def measure_tangents(trace: Any, transform: Any, args: tuple) -> None:
    """Compare the tangents in a table with differences, in place."""
    primals, tangents = args
    with quiet():
        try:
            runs = Runs(transform, tuple(primals), {}, trace.steps)
            beside = Beside(runs, _by_parameter(transform, primals, tangents))
        except NotMeasurable as why:
            trace.reason = str(why)
            return
        for step, name, of, instances in _pairs(trace.steps, beside.runs):
            found = Measured(name, of, kept(step.whole[name]))
            found.number = step.statement.first
            if len(trace.measured) >= MOST_MEASURED:
                found.reason = f"{MOST_MEASURED} others were"
            else:
                beside.compare_any(found, step.whole[name], instances)
            trace.measured.append(found)
            step.measured[name] = found
        _result(trace, beside)


def _by_parameter(transform: Any, primals: Any, tangents: Any) -> list[Any]:
    """The tangent of each parameter, None for what is not moved."""
    filled = [
        np.zeros_like(x)[()] if t is None and is_real_leaf(x) else t
        for x, t in zip(primals, tangents, strict=True)
    ]
    found = []
    for name, parameter in transform.signature.parameters.items():
        variadic = parameter.kind is parameter.VAR_POSITIONAL
        bound = transform.signature.bind(*(filled if variadic else tangents))
        found.append(bound.arguments.get(name))
    return found


def _pairs(steps: list[Step], runs: Runs) -> list[tuple[Step, str, str, list[int]]]:
    """The tangents, where they are complete, and the executions of their values.

    One is complete at the end of what a line of the user's became.
    """
    executed: dict[Statement, list[Step]] = {}
    steps = sorted(steps, key=lambda step: step.ended)
    for step in steps:
        executed.setdefault(step.statement, []).append(step)
    last: dict[tuple[Any, str], tuple[Step, str, str, list[int]]] = {}
    for step in steps:
        user = runs.statement_of(step.statement)
        if user is None:
            continue
        same = executed[step.statement]
        instances = runs.of_statement.get(user, [])
        for name in step.statement.names:
            of = step.statement.function.derivatives.get(name)
            if of not in user.names or name not in step.whole:
                continue
            if len(same) == len(instances):
                index = instances[same.index(step)].index
                last[index, of] = step, name, of, [index]
            elif instances:
                last[step, of] = step, name, of, [i.index for i in instances]
    return list(last.values())


class Beside:
    """The values of all executions, for arguments beside those that are given."""

    def __init__(self, runs: Runs, tangents: list[Any]) -> None:
        self.runs = runs
        self.tangents = tangents
        pairs = zip(runs.values, tangents, strict=True)
        given = [v for v, t in pairs if t is not None]
        sizes = [np.ravel(v) for v in leaves(given) if _is_moved(v)]
        moves = [np.ravel(t) for t in leaves([t for t in tangents if t is not None])]
        if not sizes or not moves:
            raise NotMeasurable("no argument is moved by its tangent")
        self.scale = size_of(np.concatenate(sizes)) / size_of(np.concatenate(moves))
        self.leaves_memory = _leaves_memory(runs)
        self.known: dict[float, tuple[dict[Any, Any], Any]] = {}

    def at(self, t: float) -> tuple[dict[Any, Any], Any]:
        """What lines give at a distance, and the result."""
        if t not in self.known:
            values = [
                v if d is None else _shifted(v, d, t * self.scale)
                for v, d in zip(self.runs.values, self.tangents, strict=True)
            ]
            noting = _Noting(self.runs)
            result = self.runs.run(noting, values)
            if noting.path != self.runs.path:
                raise NotMeasurable("a little beside it, other lines run")
            self.known[t] = noting.values, {"result": result}
        return self.known[t]

    def compare_any(self, found: Measured, tangent: Any, instances: list[int]) -> None:
        """Measure the value of one of some executions, where only one can be meant."""
        tried = [replace(found) for _ in instances[:MOST_TRIED]]
        for each, index in zip(tried, instances, strict=False):
            self.compare(each, tangent, (index, found.of))
        same = [each for each in tried if each.verdict == "agrees"]
        if len(instances) == 1 or len(same) == 1:
            vars(found).update(vars((same or tried)[0]))
        else:
            found.reason = UNCLEAR

    def compare(self, found: Measured, tangent: Any, key: Any) -> None:
        """Measure how a value moves; of large arrays a weighted sum of it."""

        def value_at(t: float) -> Any:
            values, result = self.at(t)
            return result["result"] if key is None else values.get(key)

        try:
            here = value_at(0.0)
            found.reason = _refused(found, tangent, here)
            if not found.reason:
                self.weigh(found, tangent, here, value_at)
        except NotMeasurable as why:
            found.reason = str(why)

    def weigh(self, found: Measured, tangent: Any, here: Any, value_at: Any) -> None:
        """Compare element by element, or along random weights."""
        count = np.size(here)
        weights = list(np.eye(count))
        if count > MOST_APART:
            weights = [np.random.default_rng(20261).uniform(0.5, 1.5, count)]
            found.along = True
        own, measured, verdicts = [], [], []
        for weight in weights:

            def sum_at(t: float, weight: Any = weight) -> float:
                return float(np.sum(weight * np.real(np.ravel(value_at(t)))))

            said = float(np.sum(weight * np.real(np.ravel(tangent))))
            bytes_ = min(precision(here), self.runs.bytes)
            slope, verdict = slope_along(sum_at, said * self.scale, sum_at(0.0), bytes_)
            own.append(said)
            measured.append(slope / self.scale)
            verdicts.append(verdict)
        if "" in verdicts:
            found.reason = "it bends or jumps there (a kink, a tie), or it is too small"
            return
        shape = () if found.along else np.shape(here)
        found.verdict = "differs" if "differs" in verdicts else "agrees"
        if found.verdict == "differs" and np.ndim(here) and self.leaves_memory:
            found.verdict = "not measured"
            found.reason = "np.empty leaves in an array what was in the memory"
            return
        found.measured = np.reshape(measured, shape)[()]
        found.computed = np.reshape(own, shape)[()]


def _shifted(value: Any, tangent: Any, t: float) -> Any:
    """The argument a little along its tangent."""
    pairs = zip(leaves(value), leaves(tangent), strict=True)
    return put(
        value,
        (beside_by(v, t * np.asarray(d)) if _is_moved(v) else v for v, d in pairs),
    )


def _is_moved(leaf: Any) -> bool:
    """Whether it stands for a real number: Python's ints do, where one is meant."""
    return is_real_leaf(leaf) or (isinstance(leaf, int) and not isinstance(leaf, bool))


def _leaves_memory(runs: Runs) -> bool:
    """Whether arrays are made that hold what was in the memory before."""
    made = (np.empty, np.empty_like)
    return any(
        called is each
        for file, functions in runs.functions.items()
        for function in functions.values()
        for statement in set(function.by_line.values())
        for called in called_in(statement, runs.around[file])
        for each in made
    )


def _refused(found: Measured, tangent: Any, value: Any) -> str:
    if isinstance(value, (int, np.integer, np.bool_)):
        return f"`{found.of}` is an int there"
    if not is_real_leaf(value):
        return f"`{found.of}` is a {type(value).__name__}"
    if np.iscomplexobj(value):
        return f"`{found.of}` is complex"
    if not is_real_leaf(tangent) or np.shape(tangent) != np.shape(value):
        return f"{found.name} has shape {np.shape(tangent)}, `{found.of}` has another"
    return "" if np.size(value) else "it has no elements"


class _Noting(Passing):
    """Notes what every execution gives."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs)
        self.count = 0
        self.values: dict[Any, Any] = {}

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        for name in statement.names:
            value = frame.f_locals.get(name)
            held = value.copy() if isinstance(value, np.ndarray) else value
            self.values[self.count, name] = held
        self.count += 1


def _result(trace: Any, beside: Beside) -> None:
    """Compare the tangent of the result."""
    if not isinstance(trace.result, tuple) or len(trace.result) != 2:
        return
    found = Measured("result", "result", kept(trace.result[1]))
    last = trace.steps[-1]
    found.number = last.statement.first
    beside.compare(found, trace.result[1], None)
    trace.measured.append(found)
    last.measured["tangent"] = found
