"""The text after each stage and each pass, kept while a function is transformed.

Passes change trees in place, so a stage that was passed cannot be printed later.
Usually nobody asks, and nothing is kept; `srcjax.stages` transforms once more, inside
of `recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_RECORDING: ContextVar[bool] = ContextVar("recording", default=False)


@contextmanager
def recording(on: bool = True) -> Iterator[None]:
    """Inside, transforms start anew and keep the text of every stage (off: do not)."""
    token = _RECORDING.set(on)
    try:
        yield
    finally:
        _RECORDING.reset(token)


def is_recording() -> bool:
    """Whether the text of every stage is to be kept."""
    return _RECORDING.get()


@dataclass(frozen=True)
class Runnable:
    """The text of one generated function, and what its global names stand for."""

    name: str
    text: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """All functions of a module as they stand after a pass: they can be run."""

    #: `reverse`, `forward` or `batch`: what wrote the functions.
    transform: str
    #: The pass; that of the transform itself is its name.
    name: str
    functions: tuple[Runnable, ...]
    #: The function to call, and the backward function of a pair.
    entry: tuple[str, ...]

    def text(self, unlike: Snapshot | None = None) -> str:
        """The text of the functions, or of those that are not as they were."""
        known = {f.name: f.text for f in unlike.functions} if unlike else {}
        return "\n\n".join(
            f.text for f in self.functions if known.get(f.name) != f.text
        )


class StageTexts(dict[str, str]):
    """Texts by the name of the stage or pass, in order."""

    def __init__(self) -> None:
        super().__init__()
        #: For a pass, the text of the same functions before it.
        self.before: dict[str, str] = {}
        #: What can be run, from the transform on.
        self.snapshots: list[Snapshot] = []

    def keep(self, stage: str, text: Callable[[], str]) -> None:
        """Write the text of a stage, if texts are kept at all."""
        if is_recording():
            self[stage] = text()

    def keep_pass(self, name: str, before: str, after: str) -> str:
        """Write the text after a pass, if it changed anything, and give its name.

        A pass that changes something again is `nest (2)`.
        """
        if before == after:
            return name
        key, count = name, 1
        while key in self:
            count += 1
            key = f"{name} ({count})"
        self[key], self.before[key] = after, before
        return key

    def changes(self, stage: str) -> str:
        """What a pass changed, as a unified diff; of a stage, its text."""
        if stage not in self.before:
            return self[stage]
        before, after = self.before[stage].splitlines(), self[stage].splitlines()
        import difflib

        lines = difflib.unified_diff(before, after, "before", stage, lineterm="")
        return "\n".join(lines)

    def and_those_of(
        self, later: StageTexts, stage: str = "", name: str = ""
    ) -> StageTexts:
        """These, and what was made of the result: a stage, renamed, and its passes."""
        found = StageTexts()
        found.snapshots = [*self.snapshots, *later.snapshots]
        for texts in (self, later):
            for key, text in texts.items():
                is_pass = key in texts.before
                if texts is later and key != stage and not key.startswith("simplify: "):
                    continue
                if is_pass:
                    found.keep_pass(key, texts.before[key], text)
                else:
                    found[name if name and texts is later else key] = text
        return found
