"""The text after each stage, written down while a function is transformed.

Passes change trees in place, so a stage that was passed cannot be printed later.
Usually nobody asks, and nothing is kept; `srcjax.stages` transforms once more, inside
of `recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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


class StageTexts(dict[str, str]):
    """Texts by the name of the stage, in order."""

    def keep(self, stage: str, text: Callable[[], str]) -> None:
        """Write the text of a stage, if texts are kept at all."""
        if is_recording():
            self[stage] = text()

    def followed_by(self, stage: str, later: StageTexts, name: str = "") -> StageTexts:
        """These, and one stage of what was made of the result, renamed."""
        found = StageTexts(self)
        if stage in later:
            found[name or stage] = later[stage]
        return found
