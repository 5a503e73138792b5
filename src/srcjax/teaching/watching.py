"""What a run executes, statement by statement.

It is told by Python itself (`sys.settrace`), as a debugger is: the code that runs is
the code that always runs. Statements are told when they are over, with the frame as it
is then, so that names have the values that the statement gave them; and before they
begin.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from srcjax.teaching.statements import Function, Statement

#: Which function a code object is of, if it is one that is watched.
Find = Callable[[CodeType, dict[str, Any]], Function | None]


@dataclass(eq=False)
class Call:
    """One call of a watched function."""

    function: Function
    number: int
    frame: FrameType | None
    caller: Call | None = None
    pending: Statement | None = None
    #: How often the body of each loop began, of those that are being run.
    trips: dict[Statement, int] = field(default_factory=dict)
    started: bool = False


class Watcher:
    """Subclasses say what is to be done before and after each statement."""

    def __init__(self, find: Find) -> None:
        self.find = find
        self.known: dict[CodeType, Function | None] = {}
        self.calls = 0
        self.stack: list[Call] = []

    def entered(self, call: Call, frame: FrameType) -> None:
        """The function has its arguments, and nothing ran yet."""

    def before(self, call: Call, statement: Statement, frame: FrameType) -> None:
        """The statement is about to run."""

    def after(self, call: Call, statement: Statement, frame: FrameType) -> None:
        """The statement is over."""

    def left(self, call: Call, frame: FrameType, value: Any) -> None:
        """The function returns."""

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what runs inside; a debugger has its place back afterwards."""
        earlier = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(earlier)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code not in self.known:
            self.known[code] = self.find(code, frame.f_globals)
        function = self.known[code]
        if function is None:
            return None
        caller = self.stack[-1] if self.stack else None
        call = Call(function, self.calls, frame, caller)
        self.calls += 1
        self.stack.append(call)

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            self._happened(call, frame, event, arg)
            return local

        return local

    def _happened(self, call: Call, frame: FrameType, event: str, arg: Any) -> None:
        if event == "line":
            self._line(call, frame)
        elif event == "exception":
            call.pending = None  # it did not come to its end
        elif event == "return":
            if call.pending is not None:
                if not _is_loop(call.pending):
                    self.after(call, call.pending, frame)
                call.pending = None
                self.left(call, frame, arg)
            call.frame = None
            if call in self.stack:
                del self.stack[self.stack.index(call) :]

    def _line(self, call: Call, frame: FrameType) -> None:
        statement = call.function.by_line.get(frame.f_lineno)
        if not call.started:
            call.started = True
            self.entered(call, frame)
        if statement is None or statement is call.pending:
            return
        if call.pending is not None:
            self._over(call, call.pending, statement, frame)
        for loop in list(call.trips):
            if loop is not statement and loop not in statement.loops:
                del call.trips[loop]
        call.pending = statement
        self.before(call, statement, frame)

    def _over(
        self, call: Call, done: Statement, now: Statement, frame: FrameType
    ) -> None:
        """A statement is over; the head of a loop is, if its body begins."""
        if _is_loop(done):
            if done not in now.loops:
                return
            call.trips[done] = call.trips.get(done, -1) + 1
        self.after(call, done, frame)


def _is_loop(statement: Statement) -> bool:
    return isinstance(statement.node, (ast.For, ast.While))


def watched_call(watcher: Watcher, call: Callable[[], Any]) -> Any:
    """What the call gives, watched."""
    with watcher.on():
        return call()
