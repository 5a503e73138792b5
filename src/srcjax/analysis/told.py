"""Text, bytes and exceptions that say a differentiated value.

`print(f"{x}")` carries no derivative on, and neither does `raise ValueError(str(x))`.
But `float(f"{x}")` does, and nothing follows it there: it is refused. Between the two,
what is made of such text is such text (`line.split()[0]`).
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from srcjax.analysis.binding import Env
from srcjax.analysis.effects import Effects
from srcjax.analysis.standard import is_standard
from srcjax.analysis.types import (
    BOOL,
    INT,
    NONE,
    Array,
    Buffers,
    Const,
    Other,
    Told,
    Type,
    Unknown,
    all_buffers,
    is_active,
    replace,
    tells,
)

#: Python's own functions that give the text of what they get.
TEXTS = (str, repr, ascii, format, bytes, bytearray)
#: Those that give it in another container.
_CONTAINERS = (
    *(list, tuple, dict, set, frozenset, sorted, reversed, zip, enumerate, iter, next),
    *(slice, memoryview, getattr, max, min),
)
#: Those that only look at what they get.
_LOOKING: dict[Any, Type] = {
    print: Const(value=None),
    len: INT,
    hash: INT,
    id: INT,
    bool: BOOL,
    isinstance: BOOL,
    callable: BOOL,
    hasattr: BOOL,
    any: BOOL,
    all: BOOL,
    open: Other(),
}


class TextOfValues(Effects):
    """Infers what calls give that get, or make, the text of differentiated values."""

    #: Whether there is such text at all.
    told = False

    def tell(self, cls: Any, *given: Type) -> Type:
        """Text (or an exception) made of these values."""
        if any(map(is_active, given)) or any(map(tells, given)):
            self.told = True
            return Told(False, NONE, cls)
        return Other(cls=cls)

    def told_call(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type | None:
        """What a call with such text gives; None if it is to be followed."""
        given = [*args, *kwargs.values()]
        value = function.value if isinstance(function, Const) else None
        self.refuse_hidden_reads(value, args, node, env)
        if value is print and "file" in kwargs:
            if any(map(is_active, args)) or any(map(tells, args)):
                self.keeps_text(kwargs["file"].buffers, env)
            return Const(value=None)
        if value is contextlib.redirect_stdout:
            self.keeps_text(NONE.union(*(t.buffers for t in args)), env)
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.tell(value, *given)
        said = any(map(is_active, given)) or any(map(tells, given))
        if value is bytearray and not said:
            return None  # it can be written to
        if any(value is known for known in TEXTS):
            cls = getattr(given[0], "value", None) if len(given) == 1 else None
            if type(cls) is type and value in (str, repr):
                return Const(value=str(cls))
            return self.tell(str, *given)
        owner = getattr(value, "__self__", None)
        if isinstance(owner, (str, bytes)) and any(map(is_active, given)):
            return self.tell(str, *given)
        if not self.told or not any(map(tells, [function, *given])):
            return None
        if any(value is known for known in _CONTAINERS) or isinstance(
            owner, (str, bytes)
        ):
            return Told(False, NONE.union(*map(all_buffers, given)))
        if isinstance(function, Told):
            if any(map(is_active, given)):
                return Told()
            return Told(False, function.buffers)
        if value is None and isinstance(function, (Unknown, Other)):
            self.keeps_text(function.buffers, env)  # a method: `file.write(text)`
            return Told(False, function.buffers)
        for known, result in _LOOKING.items():
            if value is known:
                return result
        if looks_only(value):
            return Const(value=None)
        if is_followed(value):
            return None
        raise self.read_back(node)

    def keeps_text(self, memory: Buffers, env: Env) -> None:
        """Text of differentiated values was put into what has this memory."""
        self.told = True
        for name, t in env.items():
            if all_buffers(t) & memory and not isinstance(t, (Array, Const)):
                env[name] = Told(False, all_buffers(t), getattr(t, "cls", None))

    def refuse_hidden_reads(
        self, value: Any, args: list[Type], node: Any, env: Env
    ) -> None:
        """`eval` and `locals` read names that are not seen to be read."""
        hidden = (value is eval or value is exec) and len(args) == 1
        hidden |= (value is locals or value is vars) and not args
        if hidden and self.recording and any(map(is_active, env.values())):
            raise self.refuse(
                node,
                f"`{value.__name__}` may read differentiated values by their names",
                "the expression itself",
            )

    def part_of_told(self, base: Told, name: str, node: Any) -> Type:
        """`line.split` is of text; `error.value` is what the exception was made of."""
        raised = isinstance(base.cls, type) and issubclass(base.cls, BaseException)
        if raised and name == "args":
            return replace(base, cls=tuple)  # it has a length
        if raised and not hasattr(BaseException, name):
            raise self.read_back(node)
        return base

    def read_back(self, node: Any) -> Exception:
        """The error that a number is read from such text."""
        return self.refuse(
            node,
            "a differentiated value is read back from text, bytes or an exception",
            "the value itself, or the text of `srcjax.stop_gradient(...)` of it",
        )

    def told_operands(self, function: Any, types: list[Type], node: Any) -> Type | None:
        """What an operator gives with text; None for two values of other kinds."""
        left = types[0]
        text = getattr(left, "value", None), getattr(left, "cls", None)
        formats = function.__name__ == "mod" and (
            isinstance(text[0], (str, bytes)) or text[1] in (str, bytes)
        )
        if formats:
            return self.tell(str, *types)
        if not self.told or not any(map(tells, types)):
            return None
        if any(map(is_active, types)):
            raise self.read_back(node)
        return Told(False, NONE.union(*map(all_buffers, types)))


def looks_only(value: Any) -> bool:
    """Whether it is a function of `logging` or `warnings`."""
    owner = getattr(value, "__self__", None)
    home = getattr(value, "__module__", None)
    notes = home in ("logging", "warnings", "_warnings")
    return notes or isinstance(owner, logging.Logger)


def is_followed(value: Any) -> bool:
    """Whether the call is of Python code, which is looked into."""
    function = getattr(value, "function", getattr(value, "__func__", value))
    return hasattr(function, "__code__") and not is_standard(function)
