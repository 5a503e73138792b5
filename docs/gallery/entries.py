"""What the gallery shows: functions by topic, each with arguments to read it for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import srcjax


@dataclass(frozen=True)
class Entry:
    """A function, and with respect to what its gradient is shown.

    `about` says what it computes and what to look for in its gradient.
    """

    title: str
    about: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0

    @property
    def gradient(self) -> Callable[..., Any]:
        return srcjax.grad(self.function, argnums=self.argnums)

    @property
    def text(self) -> str:
        return str(srcjax.source(self.gradient, *self.args))
