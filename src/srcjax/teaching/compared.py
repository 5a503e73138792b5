"""`testing.compare`: how a gradient by hand is off, and from which line on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np

import srcjax.api.reverse as api
from srcjax.checks.leaves import leaves, walk
from srcjax.checks.outcomes import copied
from srcjax.errors import ArgumentError
from srcjax.teaching.measured import Step
from srcjax.teaching.showing import shown
from srcjax.teaching.statements import Function, Statement, users
from srcjax.teaching.trace import run_noted
from srcjax.teaching.watching import Call, Watcher

#: How far numbers may be from each other, by the bytes of the smaller ones.
RTOL = {8: 1e-6, 4: 1e-3, 2: 3e-2}
#: So many elements may be wrong for the others to be called right.
MOST_WRONG = 3


@dataclass(frozen=True)
class Off:
    """One argument whose gradient is off; without a name, the call itself."""

    where: str
    how: str


@dataclass
class Comparison:
    """What `compare` found: true if all is right; `print` it, or `assert` it."""

    name: str
    #: What is off, argument by argument.
    off: list[Off] = field(default_factory=list)
    #: The first line of the student's that differs: its number, its text, and how.
    line: int = 0
    text: str = ""
    how: str = ""
    hint: str = ""
    #: Arguments that are right.
    right: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.off

    def __str__(self) -> str:
        if not self.off:
            return f"{self.name} is right"
        rows = [f"{self.name} is not right yet:"]
        rows += [
            f"  the gradient of {each.where}: {each.how}" if each.where else each.how
            for each in self.off
        ]
        if self.right:
            rows.append(f"  right: {', '.join(self.right)}")
        if self.line:
            rows.append(f"the first line that differs is line {self.line}:")
            rows += [f"    {self.text}", f"  {self.how}"]
        if self.hint:
            rows.append(f"hint: {self.hint}")
        return "\n".join(rows)

    __repr__ = __str__


def compare(
    student: Callable, f: Callable, *args: Any, argnums: Any = None, **kwargs: Any
) -> Comparison:
    """How a gradient that somebody wrote differs from the one that is right.

    For each argument that is off it says how: a factor ("0.5 times the gradient
    everywhere"), the sign, transposed, right but at some indices, a sum over an axis
    that is missing. The student's function is run line by line as well, and where it
    has names of the generated text (as in an `exercise`), the first line that gives one
    of them another value is told, with a hint.

    **Arguments**

    - `student`: a function of the arguments that returns the gradient.
    - `f`: the function, or its derivative `srcjax.grad(f, ...)`.
    - `args`, `kwargs`: what to call both with.
    - `argnums`: of a function `f`, as in `srcjax.grad`; 0 if it is left out.

    **Returns**

    A `Comparison`: true if all is right (`assert compare(...)`), and printed it says
    what is off.

    **Raises**

    - `ArgumentError`: `argnums` is given for what is a derivative already, or `f` is
        one that is no gradient.

    >>> def mine(x):
    ...     return x
    >>> print(srcjax.testing.compare(mine, lambda x: np.sum(x * x), np.ones(3)))
    mine is not right yet:
      the gradient of x: 0.5 times the gradient everywhere
    """
    df = f
    if not hasattr(f, "__srcjax_transform__"):
        df = api.grad(f, 0 if argnums is None else argnums)
    elif argnums is not None:
        raise ArgumentError(
            "argnums says nothing of what is a derivative already",
            instead="`compare(student, srcjax.grad(f, argnums), x)`",
        )
    transform: Any = df.__srcjax_transform__  # type: ignore[attr-defined]
    if transform.name != "grad" or transform.has_aux:
        raise ArgumentError(
            f"compare looks at gradients, and this is {transform.name}"
            + (" with has_aux" if transform.name == "grad" else ""),
            instead="`compare(student, srcjax.grad(f), x)`",
        )
    given, named = copied((args, kwargs))
    expected, steps, _ = run_noted(transform, given, named, whole=True)
    found = Comparison(getattr(student, "__name__", "the function"))
    watcher = Student(student)
    try:
        with watcher.on():
            got = student(*copied(args), **copied(kwargs))
    except Exception as error:
        found.off.append(Off("", f"  it raises {type(error).__name__}: {error}"))
        _place_error(found, watcher, error)
        return found
    listed = [expected] if transform.single else list(expected)
    many = list(zip(transform.wrt, listed, strict=True))
    for where, how in _differences(transform, got, many):
        if how:
            found.off.append(Off(where, how))
        else:
            found.right.append(where)
    if found.off:
        _first_line(found, watcher, steps)
    return found


def _differences(
    transform: Any, got: Any, expected: list[tuple[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Each leaf of the gradients, and how it is off; "" if it is right."""
    if transform.single:
        given = [got]
    elif isinstance(got, (tuple, list)) and len(got) == len(expected):
        given = list(got)
    else:
        count = len(got) if isinstance(got, (tuple, list)) else 1
        names = ", ".join(name for name, _ in expected)
        yield names, f"{len(expected)} gradients are to be returned, not {count}"
        return
    for (name, right), own in zip(expected, given, strict=True):
        wanted, have = list(walk(right, name)), leaves(own)
        if len(wanted) != len(have):
            yield name, f"it has {len(have)} parts where {len(wanted)} are right"
            continue
        for (where, leaf), mine in zip(wanted, have, strict=True):
            yield where, how_off(mine, leaf)


# -- how one value is off ------------------------------------------------------------


def how_off(got: Any, right: Any) -> str:
    """How a value differs from what is right, in a few words; "" if it does not."""
    if got is ...:
        return "it is still to be filled in (`...`)"
    own, wanted = np.asarray(got), np.asarray(right)
    if own.dtype.kind not in "fciub":
        return f"it is a {type(got).__name__}, not numbers"
    if own.shape == wanted.shape and _same(own, wanted):
        return ""
    if not np.all(np.isfinite(own)) and np.all(np.isfinite(wanted)):
        return f"it has {_listed_indices(~np.isfinite(own))} not finite"
    for words, changed in _reshaped(own, wanted.shape):
        factor = _factor(changed, wanted)
        if factor is not None:
            words = ", and ".join(filter(None, [words, _times(factor, wanted.ndim)]))
            numbers = f": it is {shown(own[()])}, and {shown(wanted[()])} is right"
            return words + (numbers if own.ndim == 0 else "")
    if own.shape != wanted.shape:
        return f"its shape is {own.shape}, and {wanted.shape} is right"
    if np.iscomplexobj(wanted) and _same(own, np.conj(wanted)):
        return "the complex conjugate"
    return _elements(own, wanted)


def _reshaped(
    own: np.ndarray, shape: tuple[int, ...]
) -> Iterator[tuple[str, np.ndarray]]:
    """What of a value would have the right shape, and what is wrong with it then."""
    if own.shape == shape:
        yield "", own
    if own.ndim > 1 and own.T.shape == shape:
        yield "transposed", own.T
    for axis in range(own.ndim):
        for keepdims in (False, True):
            summed = own.sum(axis, keepdims=keepdims)
            if summed.shape == shape:
                yield f"missing the sum over axis {axis}", summed
    if own.ndim > 1 and own.sum().shape == shape:
        yield "missing the sum over all axes", own.sum()
    if own.shape == shape:
        for axis in range(own.ndim if own.size > 1 else 0):
            yield f"in the opposite order along axis {axis}", np.flip(own, axis)


def _factor(own: np.ndarray, right: np.ndarray) -> float | None:
    """The number that the value is times the right one; None if there is none."""
    if not np.any(right) or own.dtype.kind == "c" or right.dtype.kind == "c":
        return 1.0 if own.shape == right.shape and _same(own, right) else None
    size = float(np.sum(right.astype(float) ** 2))
    factor = float(np.sum(own * right.astype(float))) / size
    return factor if _same(own, factor * right) else None


def _times(factor: float, dimensions: int) -> str:
    everywhere = " everywhere" if dimensions else ""
    if np.isclose(factor, 1.0, rtol=1e-5):
        return ""
    if np.isclose(factor, -1.0, rtol=1e-5):
        return f"the sign is wrong{everywhere}"
    if abs(factor) < 1e-9:
        return f"zero{everywhere}"
    return f"{factor:.4g} times the gradient{everywhere}"


def _elements(own: np.ndarray, right: np.ndarray) -> str:
    """Where values of the same shape differ."""
    wrong = ~np.isclose(own, right, rtol=_rtol(own, right), atol=_atol(right))
    count = int(np.sum(wrong))
    if 0 < count <= min(MOST_WRONG, own.size // 2):
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        values = f"{shown(own[at])}, and {shown(right[at])} is right"
        return f"right except at {_listed_indices(wrong)}: it is {values}"
    apart = np.asarray(own - right)
    if own.size > 1 and _same(apart, np.full(apart.shape, apart.flat[0])):
        return f"{shown(apart.flat[0])} too much everywhere"
    if own.ndim == 0:
        return f"it is {shown(own[()])}, and {shown(right[()])} is right"
    most = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
    index = tuple(int(k) for k in most)
    values = f"{shown(own[index])}, and {shown(right[index])} is right"
    return (
        f"{count} of {own.size} elements are wrong, most of all at "
        f"{_index(index)}: {values}"
    )


def _listed_indices(wrong: np.ndarray) -> str:
    found = [tuple(int(k) for k in at) for at in np.argwhere(wrong)]
    shown_ = " and ".join(_index(at) for at in found[:MOST_WRONG])
    more = f" and {len(found) - MOST_WRONG} more" if len(found) > MOST_WRONG else ""
    return f"index {shown_}{more}" if wrong.ndim else "a number"


def _index(at: tuple[int, ...]) -> str:
    return str(at[0]) if len(at) == 1 else str(at)


def _rtol(*values: np.ndarray) -> float:
    sizes = [v.dtype.itemsize // (2 if v.dtype.kind == "c" else 1) for v in values]
    kinds = [s for s, v in zip(sizes, values, strict=True) if v.dtype.kind in "fc"]
    return RTOL[min([8, *(max(s, 2) for s in kinds)])]


def _atol(right: np.ndarray) -> float:
    return 1e-9 * float(np.max(np.abs(right), initial=0.0))


def _same(own: np.ndarray, right: np.ndarray) -> bool:
    rtol = _rtol(own, right)
    return bool(np.allclose(own, right, rtol, _atol(right), equal_nan=True))


# -- the first line that differs -----------------------------------------------------


class Student(Watcher):
    """Notes what the lines of somebody's function give to names, in order."""

    def __init__(self, student: Callable) -> None:
        code = getattr(student, "__code__", None)
        self.file = code.co_filename if code is not None else ""
        self.functions: dict[Any, Function] | None = None
        super().__init__(self.find_own)
        self.given: list[tuple[Statement, str, Any]] = []

    def find_own(self, code: CodeType, around: dict[str, Any]) -> Function | None:
        if not self.file or code.co_filename != self.file:
            return None
        if self.functions is None:
            self.functions = users(self.file, around)
        return self.functions.get((code.co_name, code.co_firstlineno))

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        here = frame.f_locals
        for name in statement.names:
            if name in here:
                self.given.append((statement, name, copied(here[name])))


def _first_line(found: Comparison, watcher: Student, steps: list[Step]) -> None:
    """Tell the first line that gives a name another value than the generated text."""
    right: dict[str, list[Step]] = {}
    for step in steps:
        for name in step.statement.names:
            right.setdefault(name, []).append(step)
    counts: dict[str, int] = {}
    for _, name, _ in watcher.given:
        counts[name] = counts.get(name, 0) + 1
    seen: dict[str, int] = {}
    for statement, name, value in watcher.given:
        k = seen[name] = seen.get(name, -1) + 1
        executed = right.get(name, [])
        if counts[name] != len(executed):
            continue  # it is another variable, or assigned at other times
        wanted = executed[k].whole.get(name)
        if wanted is None or isinstance(wanted, (list, tuple, dict)):
            continue
        how = how_off(value, wanted)
        if how:
            _tell(found, watcher, statement, f"`{name}`: {how}")
            found.hint = _hint(executed[k])
            return


def _tell(found: Comparison, watcher: Student, statement: Statement, how: str) -> None:
    import linecache

    found.line, found.how = statement.first, how
    found.text = linecache.getline(watcher.file, statement.first).strip()


def _hint(step: Step) -> str:
    """What the line of the generated text is about, but not the line itself."""
    place = step.statement.place
    if place is None:
        return ""
    if step.statement.backward:
        return f"it is the backward sweep of `{place[2]}` (line {place[1]})"
    return f"it is the forward sweep of `{place[2]}` (line {place[1]})"


def _place_error(found: Comparison, watcher: Student, error: BaseException) -> None:
    """Tell the line of the student's in which an error came up."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if frame.filename == watcher.file:
            found.line, found.text = frame.lineno or 0, frame.line or ""
            found.how = f"raises {type(error).__name__}"
            gap = any(value is ... for _, _, value in watcher.given)
            if gap:
                found.hint = "a `...` is still to be filled in"
            return


__all__ = ["Comparison", "compare"]
