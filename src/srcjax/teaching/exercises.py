"""`exercise`: generated text with gaps to fill in."""

from __future__ import annotations

import ast
import builtins
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from srcjax.api.options import boundary
from srcjax.api.reverse import Source
from srcjax.backends.marks import transform_of
from srcjax.errors import ArgumentError
from srcjax.frontend.stage_texts import recording
from srcjax.ops.record import METHODS, Op, lookup
from srcjax.teaching.statements import Place, Statement, generated, users
from srcjax.versions.functions import underlying

#: What operators of Python's call.
_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.USub: operator.neg,
}


class Exercise(Source):
    """Text with gaps: a `str`, with the `solution` and what is `hidden`, by line."""

    solution: Source
    hidden: dict[int, str]


@boundary
def exercise(
    df: Callable, *args: Any, hide: Any = "backward", **kwargs: Any
) -> Exercise:
    """The text of a derivative with gaps: chosen right-hand sides are `...`.

    **Arguments**

    - `df`: what a transform gave, such as `srcjax.grad(f)`.
    - `args`, `kwargs`: example arguments, or shapes by name, as for `srcjax.source`.
    - `hide`: what is left out. `"backward"`: all that the backward sweep computes; a
        number or several: these lines of `srcjax.source(df, *args)`; a function such as
        `np.tanh` or `operator.matmul`, or several: what differentiates the lines of
        yours that call it.

    **Returns**

    The text, a `str`, which a notebook shows highlighted. `.solution` is the text
    without gaps, and `.hidden` has what was left out, by line.

    **Raises**

    - `ArgumentError`: nothing would be left out, or a line has nothing to be left out.

    Put the text in a cell, fill it in, and let `srcjax.testing.compare` look at it.

    >>> def square(x):
    ...     y = x * x
    ...     return np.sin(y)
    >>> print(srcjax.exercise(srcjax.grad(square), 0.5, hide=np.sin))
    import numpy as np
    <BLANKLINE>
    __all__ = ["grad_square"]
    <BLANKLINE>
    <BLANKLINE>
    def grad_square(x):
        \"\"\"Gradient of square with respect to x.\"\"\"
        y = x * x
        # return np.sin(y)
        dy = ...
        # y = x * x
        return 2 * dy * x
    <BLANKLINE>
    """
    transform = transform_of(df, "exercise(srcjax.grad(f), x)")
    with recording():
        module = transform.module_to_read(args, kwargs)
    functions = generated(module)
    statements = sorted(
        {s for f in functions.values() for s in f.by_line.values()},
        key=lambda s: s.first,
    )
    chosen = _chosen(statements, hide, transform, module.text)
    text, hidden = with_gaps(module.text, chosen)
    found = Exercise(text, transform.source.text)
    found.solution = Source(module.text, transform.source.text)
    found.hidden = hidden
    return found


def with_gaps(text: str, chosen: list[Statement]) -> tuple[str, dict[int, str]]:
    """The text without the right-hand sides of statements, and these by line."""
    lines = text.splitlines()
    hidden = {}
    for statement in sorted(chosen, key=lambda s: -s.first):
        old = "\n".join(lines[statement.first - 1 : statement.last])
        indent = old[: len(old) - len(old.lstrip())]
        value: Any = statement.node.value  # type: ignore[attr-defined]
        hidden[statement.first] = ast.unparse(value)
        new = ast.unparse(_with_gap(statement.node))
        lines[statement.first - 1 : statement.last] = [indent + new]
    return "\n".join(lines) + "\n", dict(sorted(hidden.items()))


def _with_gap(node: Any) -> ast.stmt:
    fields = {name: value for name, value in ast.iter_fields(node) if name != "value"}
    gap: ast.stmt = type(node)(**fields, value=ast.Constant(...))
    return ast.copy_location(gap, node)


def _has_value(statement: Statement) -> bool:
    """Whether there is a right-hand side to be left out."""
    kinds = (ast.Assign, ast.AugAssign, ast.Return)
    return isinstance(statement.node, kinds) and statement.node.value is not None


def _computes(statement: Statement) -> bool:
    """Whether it computes something of the backward sweep, and takes it off no tape."""
    own = statement.backward and _has_value(statement) and bool(statement.place)
    value = getattr(statement.node, "value", None)
    taken = isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "pop"
    return own and not taken


def _chosen(
    statements: list[Statement], hide: Any, transform: Any, text: str
) -> list[Statement]:
    """The statements in which a gap is wanted. Raises ArgumentError for none."""
    wanted = list(hide) if isinstance(hide, (list, tuple, set, frozenset)) else [hide]
    found: dict[Statement, None] = {}
    for each in wanted:
        some = list(_of(statements, each, transform))
        if not some:
            raise _nothing(each, statements, text)
        found |= dict.fromkeys(some)
    if not found:
        raise ArgumentError("hide is empty", instead='`hide="backward"`')
    return list(found)


def _of(statements: list[Statement], hide: Any, transform: Any) -> Iterable[Statement]:
    if isinstance(hide, str) and hide == "backward":
        return filter(_computes, statements)
    if isinstance(hide, int) and not isinstance(hide, bool):
        at = [s for s in statements if s.first <= hide <= s.last]
        return filter(_has_value, at)
    if callable(hide):
        calling = Calling(hide, transform)
        return (s for s in statements if _computes(s) and calling.stands_in(s.place))
    raise ArgumentError(
        f"hide has {hide!r}, which is no line, no function and not 'backward'",
        instead='`hide=12`, `hide=np.tanh` or `hide="backward"`',
    )


def _nothing(hide: Any, statements: list[Statement], text: str) -> ArgumentError:
    if isinstance(hide, int):
        lines = [s.first for s in statements if _computes(s)]
        shown = ", ".join(map(str, lines))
        line = text.splitlines()[hide - 1 : hide] if hide > 0 else []
        what = f" (`{line[0].strip()}`)" if line and line[0].strip() else ""
        return ArgumentError(
            f"line {hide}{what} has no right-hand side to be left out",
            instead=f"one of the lines {shown}" if shown else "a line that computes",
        )
    if callable(hide):
        name = getattr(hide, "__name__", repr(hide))
        return ArgumentError(
            f"no line of the backward sweep differentiates a call of `{name}`",
            instead='a function that your function calls, or `hide="backward"`',
        )
    return ArgumentError(
        "there is no backward sweep", instead="lines, such as `hide=12`"
    )


class Calling:
    """Tells whether lines of the user's call a function."""

    def __init__(self, function: Callable, transform: Any) -> None:
        self.function, self.operation = function, lookup(function)
        innermost = transform
        while innermost.inner is not None:
            innermost = innermost.inner
        own: Any = underlying(innermost.function)
        self.around = {own.__code__.co_filename: dict(vars(builtins))}
        self.around[own.__code__.co_filename] |= own.__globals__
        for name, cell in zip(
            own.__code__.co_freevars, own.__closure__ or (), strict=True
        ):
            self.around[own.__code__.co_filename][name] = cell.cell_contents

    def stands_in(self, place: Place | None) -> bool:
        """Whether the line calls it."""
        if place is None:
            return False
        file, line, _ = place
        around = self.around_of(file)
        for function in users(file, around).values():
            if line in function.by_line:
                called = called_in(function.by_line[line], around)
                return any(map(self.is_meant, called))
        return False

    def around_of(self, file: str) -> dict[str, Any]:
        """The globals of the functions in a file."""
        if file not in self.around:
            modules = list(sys.modules.values())
            named = (m for m in modules if getattr(m, "__file__", None) == file)
            self.around[file] = vars(next(named, builtins))
        return self.around[file]

    def is_meant(self, function: Any) -> bool:
        """Whether it is the function, or the same operation."""
        if function is self.function:
            return True
        if isinstance(function, Op):
            return function is self.operation
        try:
            return self.operation is not None and lookup(function) is self.operation
        except TypeError:  # not hashable
            return False


def called_in(statement: Statement, around: dict[str, Any]) -> Iterator[Any]:
    """The functions that a statement calls, as far as names tell."""
    for sub in statement.nodes():
        if isinstance(sub, (ast.BinOp, ast.UnaryOp, ast.AugAssign)):
            yield _OPERATORS.get(type(sub.op))
        if not isinstance(sub, ast.Call):
            continue
        path = ast.unparse(sub.func)
        value: Any = around.get(path.partition(".")[0])
        for name in path.split(".")[1:] if _is_dotted(sub.func) else ():
            value = getattr(value, name, None)
        if value is None and isinstance(sub.func, ast.Attribute):
            value = METHODS.get(sub.func.attr)  # the operation that it is of an array
        yield value


def _is_dotted(node: ast.expr) -> bool:
    """Whether it is names with dots between them."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


__all__ = ["Exercise", "exercise"]
