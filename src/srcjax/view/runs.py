"""The run of the example arguments: the text step by step, and the user's function."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from srcjax.api.batch import Batched, common_size, example_value
from srcjax.api.forward import Pushforward
from srcjax.checks.outcomes import copied, quiet, run
from srcjax.checks.world import World, leads_outside
from srcjax.teaching.measured import Step
from srcjax.teaching.showing import kept, shown
from srcjax.teaching.statements import Function, Statement
from srcjax.teaching.watching import Call, Watcher
from srcjax.view.shown import Family, Finder, Sides, is_lambda, root_of

#: So many steps can be gone through.
MOST_STEPS = 400
#: So many examples of a batch are run.
MOST_EXAMPLES = 8
#: Values are not longer than this.
MOST_CELLS = 36


@dataclass(eq=False)
class Values:
    """What a line gave: by name, a text for each time that it ran."""

    count: int = 0
    names: dict[str, list[str]] = field(default_factory=dict)
    #: Lines that ran equally often, in the same loops, have one number.
    group: int = 0

    def add(self, given: dict[str, Any]) -> None:
        for name, value in given.items():
            texts = self.names.setdefault(name, [])
            texts += [""] * (self.count - len(texts))
            texts.append(told(value))
        self.count += 1

    def filled(self) -> dict[str, list[str]]:
        """The same, with an empty text wherever the name was given nothing."""
        return {
            name: texts + [""] * (self.count - len(texts))
            for name, texts in self.names.items()
        }


@dataclass(frozen=True)
class Moment:
    """One step: the line of the text, and which execution of it."""

    line: int
    execution: int
    #: The user's line, and which execution of it; None where that cannot be told.
    family: Family | None
    users: int | None
    #: At which step it is over, counted from 1: later, if it calls what is shown.
    done: int
    #: In words: the sweep, and the iteration of each loop.
    told: str


@dataclass(eq=False)
class Played:
    """A run, on both sides."""

    arguments: dict[str, Any]
    result: str
    moments: list[Moment]
    #: Steps that were executed; more than can be gone through, perhaps.
    count: int
    #: What lines of the text gave, and what the user's lines gave.
    text: dict[int, Values]
    users: dict[Family, Values]
    #: What the columns on the left are, if they are no iterations.
    columns: str = ""


def told(value: Any) -> str:
    """A value that was kept in few words: of large arrays `[3,4] |2.441|`."""
    text = _LARGE.sub(r"[\1] |\2|", shown(value))
    return text if len(text) <= MOST_CELLS else f"{text[: MOST_CELLS - 3]}..."


#: A large array of numbers that are usual, as tables show it.
_LARGE = re.compile(r"\bfloat64\[([\d,]+)\] norm (\S+?)(?=[,)\]}]|$)")


def played(
    sides: Sides,
    steps: list[Step],
    arguments: dict[str, Any],
    result: Any,
    users: Users | None,
    dropped: int = 0,
) -> Played:
    """What a view shows of a run of the text, and one of the user's function."""
    text: dict[int, Values] = {}
    groups: dict[Any, int] = {}
    executed: dict[Statement, int] = {}
    total: dict[Statement, int] = {}
    for step in steps:
        total[step.statement] = total.get(step.statement, 0) + 1
    moments = []
    for k, step in enumerate(steps[:MOST_STEPS]):
        s = step.statement
        row = sides.rows[s.first - 1]
        values = text.setdefault(s.first, Values())
        execution = executed[s] = executed.get(s, -1) + 1
        values.add(step.values)
        key = (s.function, _loops(s), total[s])
        values.group = groups.setdefault(key, len(groups))
        of_users = _execution(users, row.family, execution, total[s], row.sweep)
        moments.append(
            Moment(
                s.first, execution, row.family, of_users, _end(steps, k), _told(step)
            )
        )
    return Played(
        arguments,
        told(kept(result)),
        moments,
        len(steps) + dropped,
        text,
        {} if users is None else users.values,
        "" if users is None else users.columns,
    )


def _execution(
    users: Users | None, family: Family | None, k: int, count: int, sweep: str
) -> int | None:
    """Which execution of the user's line a step belongs to: told by counting."""
    if users is None or users.columns or family not in users.values:
        return None
    if users.values[family].count != count:
        return None
    return count - 1 - k if sweep == "backward" else k


def _loops(statement: Statement) -> tuple[Statement, ...]:
    """The loops that a line runs in, its own if it is the head of one."""
    loop = isinstance(statement.node, (ast.For, ast.While))
    return (*statement.loops, statement) if loop else statement.loops


def _end(steps: list[Step], k: int) -> int:
    """At which step one is over: calls are numbered in the order they begin in."""
    end = k + 1
    while end < len(steps) and steps[end].call > steps[k].call:
        end += 1
    return end


def _told(step: Step) -> str:
    loops = step.statement.loops
    if len(loops) == len(step.iterations) and loops:
        return ", ".join(f"trip {k + 1}" for k in step.iterations)
    return ""


# -- the user's function ---------------------------------------------------------------


class Users(Watcher):
    """Notes what the user's lines give."""

    def __init__(self, sides: Sides, finder: Finder) -> None:
        self.files = finder.files

        def find(code: CodeType, around: dict[str, Any]) -> Function | None:
            file = self.files.get(code.co_filename)
            if file is None:
                return None
            found = file.functions.get((code.co_name, code.co_firstlineno))
            lines = () if found is None else found.by_line
            here = any(s.has(file.name, n) for n in lines for s in sides.shown)
            return found if here else None

        super().__init__(find)
        self.values: dict[Family, Values] = {}
        self.columns = ""
        self.groups: dict[Any, int] = {}
        self.last: dict[Call, Statement] = {}

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        here = frame.f_locals
        given = {n: kept(here[n]) for n in statement.names if n in here}
        family = frame.f_code.co_filename, statement.first
        values = self.values.setdefault(family, Values())
        values.add(given)
        key = (statement.function, _loops(statement), values.count)
        values.group = self.groups.setdefault(key, -1 - len(self.groups))
        self.last[call] = statement

    def left(self, call: Call, frame: FrameType, value: Any) -> None:
        last = self.last.pop(call, None)
        if last is None or not isinstance(last.node, ast.Return):
            return
        values = self.values[frame.f_code.co_filename, last.first]
        texts = values.names.setdefault("result", [])
        texts += [""] * (values.count - 1 - len(texts))
        texts.append(told(kept(value)))


def users_run(
    transform: Any, sides: Sides, finder: Finder, args: tuple, kwargs: dict[str, Any]
) -> Users | None:
    """A run of the user's own function, watched; None where there can be none.

    Of a batch some examples are run, one after the other. What the run writes to is
    put back, and what it prints is not shown.
    """
    root = root_of(transform)
    calls = _calls(transform, root, args, kwargs)
    if calls is None or leads_outside([root.function, *args, *kwargs.values()]):
        return None
    found = Users(sides, finder)
    for values in calls.values:

        def call(values: list[Any] = values) -> Any:
            with found.on():
                return root.plain_value(values)

        with quiet():
            outcome = run(call, World([root.function, *values]), False)
        if outcome.error is not None:
            return None
        if is_lambda(root):  # no statement, and a result
            place = sides.shown[0].file.name, root.source.node.lineno
            found.values.setdefault(place, Values()).add(
                {"result": kept(outcome.result)}
            )
    found.columns = calls.columns
    return found if found.values else None


@dataclass
class _Calls:
    values: list[list[Any]]
    columns: str = ""


def _calls(
    transform: Any, root: Any, args: tuple, kwargs: dict[str, Any]
) -> _Calls | None:
    """The arguments of the user's function in a run of what was made of it."""
    own = copied((args, kwargs))
    if isinstance(transform, Pushforward):
        own = tuple(transform.told_apart(*own)[0]), {}
    maps = [t for t in _chain(transform) if t.maps]
    if not maps:
        if transform.parameters != root.parameters:
            return None
        return _Calls([root.bind(*own)])
    if not isinstance(transform, Batched) or len(maps) > 1:
        return None
    if transform.parameters != root.parameters:
        return None
    values, axes = transform.prepared(*own)
    size = common_size(transform.parameters, values, axes, transform.axis_size)
    count = min(size, MOST_EXAMPLES)
    examples = [
        [example_value(v, a, k) for v, a in zip(values, axes, strict=True)]
        for k in range(count)
    ]
    if count < size:
        return _Calls(examples, f"Columns are the first {count} of {size} examples.")
    return _Calls(examples, "Columns are the examples of the batch.")


def _chain(transform: Any) -> list[Any]:
    found = []
    while transform is not None:
        found.append(transform)
        transform = transform.inner
    return found
