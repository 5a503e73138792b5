"""`trace`: the table of values of a run of what a transform wrote."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np

from srcjax.api.options import boundary
from srcjax.backends.marks import transform_of
from srcjax.checks.first_call import unchecked
from srcjax.checks.leaves import leaves
from srcjax.checks.outcomes import copied
from srcjax.process import tree_of
from srcjax.teaching.exercises import called_in
from srcjax.teaching.measured import Measured, Step, measure
from srcjax.teaching.showing import Text, kept
from srcjax.teaching.statements import Function, Statement, generated
from srcjax.teaching.tangents import measure_tangents
from srcjax.teaching.watching import Call, Watcher

#: So many executed lines are kept.
MOST_STEPS = 5000
#: Kernels run as Python for arguments of so many elements.
MOST_LOOPED = 1000


@dataclass(eq=False)
class Line:
    """A line of the text that was executed: each execution is a step."""

    #: Its number in the text, and the function that it stands in.
    number: int
    function: str
    #: The line with its indentation; of a statement on several lines, all of them.
    text: str
    #: File, line and text of the user's statement behind it; None without one.
    place: tuple[str, int, str] | None
    backward: bool
    steps: list[Step] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names and items that it gives values to, in the order of the text."""
        found = dict.fromkeys(n for s in self.steps for n in s.values)
        return list(found)


@dataclass(eq=False)
class Trace:
    """The table of values of one run; `print` it, or let a notebook show it.

    - `name`: the function that was called, `arguments`: with what, by name.
    - `lines`: the executed lines in the order of the text, each with its `steps`:
      one for each time it was executed, with `values` by name (a copy; of arrays of
      more than six elements shape, dtype and norm) and, with `check=True`, `measured`.
    - `steps`: all of them in the order in which they were executed.
    - `result`: what the call gave.
    - `checked`: whether adjoints were measured; `measured`: all that was said of them.
    - `dropped`: executed lines beyond the first 5000, which are not kept.
    """

    name: str
    arguments: dict[str, Any]
    lines: list[Line]
    steps: list[Step]
    result: Any
    text: str
    checked: bool = False
    dropped: int = 0
    #: Whether derivatives in it were given by the user: they may differ by intent.
    opinions: bool = False
    measured: list[Measured] = field(default_factory=list)
    #: What is measured: adjoints, or tangents.
    what: str = "adjoint"
    #: Why nothing at all could be measured.
    reason: str = ""

    @property
    def wrong(self) -> list[Measured]:
        """What differs from what was measured."""
        return [m for m in self.measured if m.verdict == "differs"]

    @property
    def right(self) -> list[Measured]:
        """What was measured and is the same."""
        return [m for m in self.measured if m.verdict == "agrees"]

    @property
    def unknown(self) -> list[Measured]:
        """What could not be measured; `reason` says why."""
        return [m for m in self.measured if m.verdict == "not measured"]

    def __str__(self) -> str:
        from srcjax.teaching.trace_text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        from srcjax.beside.terminal import for_prompt

        return for_prompt(str(self))

    def html(self) -> str:
        """The table as HTML that needs no script and no other file."""
        from srcjax.teaching.trace_html import as_html

        return as_html(self)

    def _repr_html_(self) -> str:
        return self.html()


@boundary
def trace(df: Callable, *args: Any, check: bool = False, **kwargs: Any) -> Trace:
    """The table of values of a run of what a transform wrote.

    The text is run with the arguments (on copies of them), and each line that is
    executed is noted with the names that it gives values to: loop iterations side by
    side, arrays of at most six elements whole, of others shape, dtype and norm.

    With `check=True` (for `grad`, `value_and_grad` and `vjp`), each adjoint is compared
    with a difference of *that intermediate value*: the function itself is run again,
    the value is moved a little where it was assigned, and the change of the result is
    measured. `dh 0.42, measured 0.42`. An adjoint is compared where the backward sweep
    first reads it, because before it is a part of a sum. Arrays of more than four
    elements are moved along one random direction, and what is compared is the
    derivative along it. What cannot be measured is said with the reason, and counts as
    neither right nor wrong: values that are no real numbers, that share memory with
    what is written later, at kinks and ties, and what has no name in the function.
    A tangent of `jvp(f)` is compared with how its value moves with the arguments.

    **Arguments**

    - `df`: what a transform gave, such as `srcjax.grad(f)` or `srcjax.vmap(f)`. Of
        `srcjax.vjp(f)` the pullback is run too, with ones for the adjoint of the value.
    - `args`, `kwargs`: what to call it with; `jvp(f)` takes primals and tangents.
    - `check`: measure the adjoints. It runs the function some times for each of them.

    **Returns**

    A `Trace`: text (`print`), HTML (`html()`, and in notebooks), and data (`lines`,
    `steps`, `measured`).

    **Raises**

    - `ArgumentError`: `df` was not made by srcjax, or the arguments do not fit.

    >>> def square(x):
    ...     y = x * x
    ...     return np.sin(y)
    >>> print(srcjax.trace(srcjax.grad(square), 0.5, check=True))
    grad_square(x=0.5)
    <BLANKLINE>
    forward:
       8  y = x * x          (2)  y         0.25
    <BLANKLINE>
    backward:
      10  dy = np.cos(y)     (3)  dy        0.9689
                                  measured  0.9689
      12  return 2 * dy * x  (2)  result    0.9689
                                  measured  0.9689
    <BLANKLINE>
    2 adjoints were measured, and agree
    """
    transform = transform_of(df, "trace(srcjax.grad(f), x)")
    with unchecked():
        return traced(transform, args, kwargs, check)


def traced(transform: Any, args: tuple, kwargs: dict[str, Any], check: bool) -> Trace:
    """The table of a transform's text at these arguments."""
    given = copied((args, kwargs))
    own, named = copied((args, kwargs))
    tangents = check and transform.name == "jvp"
    result, steps, run = run_noted(transform, own, named, whole=tangents)
    found = Trace(
        run.module.entry,
        run.arguments,
        _lines(run.module.text, steps, bool(run.module.adjoints)),
        steps,
        result,
        run.module.text,
        check,
        run.dropped,
        run.module.opinions,
    )
    if tangents:
        found.what = "tangent"
        measure_tangents(found, transform, transform.told_apart(*given))
    elif check:
        measure(found, transform, *given)
    return found


@dataclass(frozen=True)
class Run:
    """What was run."""

    module: Any
    arguments: dict[str, Any]
    dropped: int


def run_noted(
    transform: Any, args: tuple, kwargs: dict[str, Any], whole: bool = False
) -> tuple[Any, list[Step], Run]:
    """What a transform's text gives, its steps in the order in which they began.

    With `whole`, steps have copies of all values, however large.
    """
    module, values, keywords = transform.recorded(args, kwargs)
    loaded = module.load()
    functions = generated(module)
    watcher = _Noting(str(loaded.__file__), functions, whole)
    entry = module.untested(loaded)
    if _is_small((values, keywords)):  # else it is long in Python
        entry = without_compiler(module, loaded) or entry
    with watcher.on():
        result = entry(*values, **keywords)
        if transform.name == "vjp" and callable(result[-1]):
            result = result[0], result[1](ones_like(result[0]))
    watcher.steps.sort(key=lambda step: step.index)  # a call began before what it runs
    named = dict(zip(_names(entry), values, strict=False)) | keywords
    arguments = {name: kept(value) for name, value in named.items()}
    return result, watcher.steps, Run(module, arguments, watcher.dropped)


def without_compiler(module: Any, loaded: ModuleType) -> Callable | None:
    """The entry point whose kernels run as Python; None where there are none."""
    tree = copy.deepcopy(tree_of(module.text))
    kernels = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    if not kernels:
        return None
    for node in kernels:  # they begin on the line of their decorator
        node.decorator_list = [
            ast.copy_location(ast.Name("staticmethod", ast.Load()), each)
            for each in node.decorator_list[:1]
        ]
    names = dict(vars(loaded))
    exec(compile(tree, str(loaded.__file__), "exec"), names)
    found: Callable = names[module.entry]
    return found


def _is_small(given: Any) -> bool:
    """Whether loops over all elements of arrays are soon over."""
    return sum(np.size(leaf) for leaf in leaves(given)) <= MOST_LOOPED


def ones_like(value: Any) -> Any:
    """Ones for the leaves of a value: the adjoint that a pullback is given."""
    if isinstance(value, (list, tuple)):
        parts = map(ones_like, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {k: ones_like(v) for k, v in value.items()}
    ones = np.ones_like(value)
    return ones if isinstance(value, np.ndarray) else ones[()]


def _names(entry: Callable) -> tuple[str, ...]:
    code = entry.__code__
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return found


class _Noting(Watcher):
    """Notes each statement of generated text, with the values that it gave."""

    def __init__(
        self, file: str, functions: dict[tuple[str, int], Function], whole: bool
    ) -> None:
        def find(code: CodeType, around: dict[str, Any]) -> Function | None:
            if code.co_filename != file:
                return None
            return functions.get((code.co_name, code.co_firstlineno))

        super().__init__(find)
        self.steps: list[Step] = []
        self.dropped = 0
        self.begun = 0
        self.whole = whole
        #: Of the step that a call is at: when it began, and the adjoints that it reads.
        self.reading: dict[Call, tuple[int, dict[str, Any]]] = {}
        #: The last step of each call that gave a value to a name.
        self.given: dict[tuple[Call, str], Step] = {}

    def before(self, call: Call, statement: Statement, frame: FrameType) -> None:
        derivatives = call.function.derivatives
        names = [n for n in statement.reads() if n in derivatives]
        here = frame.f_locals
        read = {n: here[n] for n in names if n in here}
        for name, value in read.items():
            if isinstance(value, np.ndarray):
                read[name] = value.copy()
        self.reading[call] = self.begun, read
        self.begun += 1

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        if len(self.steps) >= MOST_STEPS:
            self.dropped += 1
            return
        here = frame.f_locals
        values = {}
        for target in statement.targets:
            if target in statement.items:
                value = _item(statement.items[target], frame)
            else:
                value = here.get(target, _MISSING)
            if value is not _MISSING:
                values[target] = kept(value)
        if _is_unfilled(statement, frame):
            values = dict.fromkeys(values, Text("not filled yet"))
        trips = tuple(call.trips.get(loop, 0) for loop in statement.loops)
        begun, read = self.reading.pop(call)
        step = Step(begun, statement, call.number, trips, values)
        for name, value in read.items():
            step.read[name] = (value, self.given.get((call, name)))
        for name in statement.names:
            self.given[call, name] = step
            step.ended = len(self.steps)
            if self.whole and name in here:
                step.whole[name] = copied(here[name])
        self.steps.append(step)

    def left(self, call: Call, frame: FrameType, value: Any) -> None:
        if self.steps and self.steps[-1].call == call.number:
            last = self.steps[-1]  # a `return` is over before it is left
            if type(last.statement.node).__name__ == "Return":
                last.values["result"] = kept(value)


_MISSING = object()


def _is_unfilled(statement: Statement, frame: FrameType) -> bool:
    """Whether it makes arrays of whatever was in memory, which tells nothing."""
    value = getattr(statement.node, "value", None)
    if not isinstance(value, ast.Call):
        return False
    called = called_in(statement, frame.f_globals)
    return any(each is np.empty or each is np.empty_like for each in called)


def _item(code: Any, frame: FrameType) -> Any:
    try:
        return eval(code, frame.f_globals, dict(frame.f_locals))
    except Exception:
        return _MISSING


def _lines(text: str, steps: list[Step], reverse: bool) -> list[Line]:
    """The lines that were executed, in the order of the text."""
    all_lines = text.splitlines()
    found: dict[int, Line] = {}
    for step in steps:
        s = step.statement
        if s.first not in found:
            shown = "\n".join(all_lines[s.first - 1 : s.last])
            backward = reverse and s.backward
            found[s.first] = Line(
                s.first, s.function.name, shown, s.place, backward, []
            )
        found[s.first].steps.append(step)
    return [found[number] for number in sorted(found)]
