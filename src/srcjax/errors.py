"""The exceptions and warnings that srcjax raises.

Every error about the user's code is made by `error_at`, so that all of them read
alike: the reason, the file and line, the source with a caret, what to write instead.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Protocol, Self, TypeVar

__all__ = [
    "ArgumentError",
    "DerivativeMismatch",
    "DeviceError",
    "DividedByZero",
    "NoRuleError",
    "NotWritten",
    "PerformanceWarning",
    "RefusedValueError",
    "SourceNotFoundError",
    "SrcjaxError",
    "UnsupportedError",
    "error_at",
]


class SourceText(Protocol):
    """What `error_at` needs to know of a `FunctionSource`."""

    @property
    def name(self) -> str: ...

    @property
    def filename(self) -> str: ...

    @property
    def node(self) -> Any: ...

    def raw_line(self, n: int) -> str: ...


class SrcjaxError(Exception):
    """Base of every exception that srcjax raises itself.

    Args:
        reason: what is wrong, in one sentence.
        instead: what to write instead, if there is something to suggest.
        filename, lineno: where in the user's code, if it is about a place there.
        excerpt: the rendered lines that show that place.
    """

    filename: str | None
    lineno: int | None
    reason: str
    instead: str | None
    #: Whether a loop over the examples in place of an operation would do.
    asks_for_loop = False

    def __init__(
        self,
        reason: str = "",
        *,
        instead: str | None = None,
        filename: str | None = None,
        lineno: int | None = None,
        excerpt: str | None = None,
    ) -> None:
        parts = [reason]
        if excerpt:
            parts.append(excerpt)
        if instead:
            parts.append(f"Instead: {instead}")
        self.message = "\n".join(parts)
        self.reason = reason
        self.instead = instead
        self.filename = filename
        self.lineno = lineno
        # `args` holds what the constructor takes, so that the error can be pickled;
        # pickle restores the other attributes from `__dict__`.
        super().__init__(reason)

    def __str__(self) -> str:
        return self.message


class UnsupportedError(SrcjaxError):
    """The code uses a construct that is not in the language srcjax accepts."""


class NoRuleError(SrcjaxError):
    """An operation without a rule is applied to a differentiated value."""


class SourceNotFoundError(SrcjaxError):
    """The Python source of a function cannot be found, or is no longer its source."""


class DerivativeMismatch(SrcjaxError):
    """With `check=True`: a derivative is not that of what the function computes."""


class ArgumentError(SrcjaxError, TypeError):
    """A transform, or what it returned, was called with wrong arguments."""


class DeviceError(SrcjaxError, RuntimeError):
    """The devices of a `pmap`, or the processes, do not run the same program."""


class _AtRunTime(UnsupportedError):
    """What generated code met when it ran."""

    why = "{}"
    remedy: str | None = None

    @classmethod
    def like(cls, error: BaseException) -> Self:
        """What the error says, with the user's place below it."""
        notes = "\n".join(getattr(error, "__notes__", ()))
        reason = cls.why.format(error)
        return cls(reason, instead=cls.remedy, excerpt=notes or None)


class RefusedValueError(_AtRunTime, TypeError, ValueError):
    """What generated code met when it ran is not supported."""


class NotWritten(_AtRunTime, NotImplementedError):
    """The derivative of this order, or for these arguments, is not written."""


class DividedByZero(_AtRunTime, ZeroDivisionError):
    """A Python number is divided by zero: a derivative may be infinite there."""

    why = "{}: in the function, or in its derivative where that is infinite"
    remedy = "`np.sqrt` and its kind, or NumPy's numbers, which give inf"


class PerformanceWarning(UserWarning):
    """The result is right, but something is computed in a slow way."""

    #: How many there were.
    given = 0

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        PerformanceWarning.given += 1


ErrorT = TypeVar("ErrorT", bound=SrcjaxError)


def error_at(
    cls: type[ErrorT],
    source: SourceText,
    node: Any,
    reason: str,
    instead: str | None = None,
    inside: tuple[str, int, str] | None = None,
) -> ErrorT:
    """Returns (does not raise) a `cls` that shows where `node` is in the user's code.

    **Arguments**

    - `source`: the function that `node` is a part of.
    - `node`: an `ast` or `gast` node with true file positions. Carets mark its span,
        as far as the end of its first line. A node without a position, made by a
        pass, shows the first line of the function, without carets.
    - `reason`: what is wrong. `instead`: what to write instead.
    - `inside`: the file, line and text that the statement comes from; it is shown
        first where that is another function, which is written out at `node`. That
        which a statement knows of itself is taken where none is given.
    """
    if inside is None:
        inside = getattr(node, "user_line", None)
    lineno = getattr(node, "lineno", None)
    located = lineno is not None
    if lineno is None:
        lineno = source.node.lineno
    raw = source.raw_line(lineno).rstrip()
    excerpt = []
    filename, line = source.filename, lineno
    if inside is not None and is_elsewhere(inside, source):
        filename, line, text = inside
        excerpt = [f'  File "{filename}", line {line}', f"    {text}", "  called here:"]
    excerpt += [
        f'  File "{source.filename}", line {lineno}, in {source.name}',
        f"    {raw.lstrip()}",
    ]
    if located and raw:
        excerpt.append(f"    {_carets(raw, node)}")
    return cls(
        reason,
        instead=instead,
        filename=filename,
        lineno=line,
        excerpt="\n".join(excerpt),
    )


def is_elsewhere(inside: tuple[str, int, str], source: SourceText) -> bool:
    """Whether the line is none of the function's own."""
    first = getattr(source.node, "lineno", 0)
    last = getattr(source.node, "end_lineno", None) or first
    own = inside[0] == source.filename and first <= inside[1] <= last
    return bool(inside[1]) and not own


def _carets(raw: str, node: Any) -> str:
    """The line of carets that belongs under `raw.lstrip()`."""
    # Columns of Python's syntax tree count bytes of UTF-8, not characters.
    encoded = raw.encode()
    start, end = node.col_offset, getattr(node, "end_col_offset", None)
    if end is None or getattr(node, "end_lineno", node.lineno) != node.lineno:
        end = len(encoded)
    before = encoded[:start].decode(errors="replace").lstrip()
    marked = encoded[start:end].decode(errors="replace").rstrip()
    # A tab is kept as a tab, so that it is as wide as the one above it.
    pad = "".join(c if c == "\t" else " " * _cells(c) for c in before)
    return pad + "^" * max(1, sum(map(_cells, marked)))


def _cells(char: str) -> int:
    """How many terminal cells `char` takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "FW" else 1
