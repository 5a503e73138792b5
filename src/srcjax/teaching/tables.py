"""The rows of a table of values: what text and HTML print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from srcjax.teaching.measured import Measured, Step
from srcjax.teaching.showing import shown

#: So many executions of a line are shown: the first ones, and the last two.
MOST_COLUMNS = 8
_LAST = 2


@dataclass(frozen=True)
class Cell:
    """One value of one execution."""

    text: str
    #: What was measured of it, if it was to be.
    measured: Measured | None = None


@dataclass(frozen=True)
class Row:
    """What a name was in each execution of a line."""

    name: str
    cells: list[Cell]


@dataclass(frozen=True)
class Group:
    """A line of the text with its rows; `columns` are the executions shown."""

    line: Any
    rows: list[Row]
    columns: list[int]


def shown_columns(count: int) -> list[int]:
    """The executions that are shown, -1 for those left out."""
    if count <= MOST_COLUMNS:
        return list(range(count))
    first = MOST_COLUMNS - _LAST - 1
    return [*range(first), -1, *range(count - _LAST, count)]


def group_of(line: Any) -> Group:
    """The rows of a line."""
    columns = shown_columns(len(line.steps))
    names = dict.fromkeys(n for s in line.steps for n in (*s.values, *s.measured))
    rows = [Row(name, [_cell(line.steps, k, name) for k in columns]) for name in names]
    return Group(line, rows, columns)


def _cell(steps: Sequence[Step], k: int, name: str) -> Cell:
    if k < 0:
        return Cell("...")
    step = steps[k]
    found = step.measured.get(name)
    if name in step.values:
        return Cell(shown(step.values[name]), found)
    return Cell("" if found is None else shown(found.value), found)


def parts_of(
    lines: list[Any], groups: list[Group]
) -> Iterator[tuple[str, bool, list[Group]]]:
    """The functions, and the two sweeps of one, each with a title if there are more.

    The second item tells whether it is a backward sweep.
    """
    known: dict[tuple[str, bool], list[Group]] = {}
    swept = {line.function for line in lines if line.place and not line.backward}
    turned = {line.function for line in lines if line.backward} - swept
    for line, group in zip(lines, groups, strict=True):
        if line.backward:
            turned.add(line.function)
        known.setdefault((line.function, line.function in turned), []).append(group)
    functions = dict.fromkeys(line.function for line in lines)
    for (function, backward), part in known.items():
        words = [function] if len(functions) > 1 else []
        if (function, not backward) in known:
            words.append("backward" if backward else "forward")
        yield ", ".join(words), backward, part


def said_of(found: Measured | None) -> str:
    """What stands below a value that was to be measured."""
    if found is None:
        return ""
    if found.verdict == "not measured":
        return "-"
    text = shown(found.measured)
    if found.along:
        text = f"{shown(found.computed)} ~ {text}"
    return text if found.verdict == "agrees" else f"{text} !"


def summary(trace: Any) -> list[str]:
    """What was measured, in sentences: nothing of it where nothing was asked."""
    found = []
    if trace.dropped:
        count = len(trace.steps)
        found.append(
            f"only the first {count} executed lines are kept; {trace.dropped} are not"
        )
    if not trace.checked:
        return found
    if trace.reason:
        return [*found, f"no {trace.what} was measured: {trace.reason}"]
    right, wrong, unknown = trace.right, trace.wrong, trace.unknown
    measured = len(right) + len(wrong)
    if wrong:
        differ = "differs" if len(wrong) == 1 else "differ"
        found.append(f"{len(wrong)} of {measured} measured {trace.what}s {differ}:")
        found += [f"  line {m.number}: {_against(m)}" for m in wrong]
    else:
        found.append(f"{counted(measured, trace.what)} measured" + agreed(measured))
    if any(m.along for m in (*right, *wrong)):
        found.append("a ~ b: along one random direction, computed and measured")
    if unknown:
        found.append(f"not measured (-): {len(unknown)}")
        reasons: dict[str, list[Measured]] = {}
        for m in unknown:
            reasons.setdefault(m.reason, []).append(m)
        found += [f"  {_listed(ms)}: {reason}" for reason, ms in reasons.items()]
    if trace.opinions and wrong:
        found.append(
            "derivatives were given by hand (custom_vjp, stop_gradient ...): they need "
            "not be those of the function"
        )
    return found


def agreed(count: int) -> str:
    """The end of the sentence on so many that are right."""
    return "" if not count else (", and agrees" if count == 1 else ", and agree")


def counted(count: int, what: str) -> str:
    """`1 adjoint was`, `2 adjoints were`, `no adjoint was`."""
    if count == 1:
        return f"1 {what} was"
    return f"{count} {what}s were" if count else f"no {what} was"


def _against(m: Measured) -> str:
    along = " (along one random direction)" if m.along else ""
    return f"{m.name} is {shown(m.computed)}, measured {shown(m.measured)}{along}"


def _listed(found: list[Measured]) -> str:
    names = dict.fromkeys(f"{m.name} (line {m.number})" for m in found)
    few = list(names)[:4]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(few) + more
