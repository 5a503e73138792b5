"""`srcjax.config`: what holds for all transforms that do not say otherwise."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from srcjax.backends.tracebacks import Setting as Traces
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.parallel.counting import set_cpu_devices
from srcjax.versions import modes
from srcjax.versions.store import Setting as Kept
from srcjax.versions.trials import Setting as Trying

if TYPE_CHECKING:
    from srcjax.backends import threads as shared
else:
    shared = late("srcjax.backends.threads")


class Config:
    """Settings of the process.

    - `check`: whether the first call of each version of a derivative is compared with
      differences and with the other mode, and of each `vmap` with a loop: what
      `check=True` does for one transform.
    - `threads`: how many threads what `jit` made may use for large arrays: None, one
      for each core that the process may run on; 1, none but the caller's. The numbers
      are the same.
    - `keep_texts`: whether what is generated is kept in the user's cache folder, for
      other processes that call the same function with the same around it. The variable
      `SRCJAX_KEEP_TEXTS=0` of the environment turns it off.

    - `jit_at_once`: whether what `jit` made compiles in its first call. Else the first
      calls run the function itself, until they have taken so long that compiling it is
      worth it. With it, functions are compiled too that take no longer than a call of
      a kernel. The variable `SRCJAX_JIT_AT_ONCE=1` of the environment turns it on.

    - `full_tracebacks`: whether tracebacks of errors show the lines of srcjax too, not
      only those of the user's code and of generated text. The variable
      `SRCJAX_FULL_TRACEBACKS=1` of the environment turns it on.
    """

    __slots__ = ("_check",)

    def __init__(self) -> None:
        self._check = False

    @property
    def check(self) -> bool:
        return self._check

    @check.setter
    def check(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise ArgumentError(
                f"config.check must be True or False, not {on!r}",
                instead="`srcjax.config.check = True`",
            )
        self._check = on

    @property
    def threads(self) -> int | None:
        return shared.Setting.limit

    @threads.setter
    def threads(self, count: int | None) -> None:
        whole = isinstance(count, int) and not isinstance(count, bool)
        if count is not None and not (whole and count > 0):
            raise ArgumentError(
                f"config.threads must be None or a number from 1 on, not {count!r}",
                instead="`srcjax.config.threads = 1`",
            )
        shared.Setting.limit = count

    @property
    def keep_texts(self) -> bool:
        return Kept.on

    @keep_texts.setter
    def keep_texts(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise ArgumentError(
                f"config.keep_texts must be True or False, not {on!r}",
                instead="`srcjax.config.keep_texts = False`",
            )
        Kept.on = on

    @property
    def full_tracebacks(self) -> bool:
        return Traces.full

    @full_tracebacks.setter
    def full_tracebacks(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise ArgumentError(
                f"config.full_tracebacks must be True or False, not {on!r}",
                instead="`srcjax.config.full_tracebacks = True`",
            )
        Traces.full = on

    @property
    def jit_at_once(self) -> bool:
        return Trying.at_once

    @jit_at_once.setter
    def jit_at_once(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise ArgumentError(
                f"config.jit_at_once must be True or False, not {on!r}",
                instead="`srcjax.config.jit_at_once = True`",
            )
        Trying.at_once = on

    def update(self, name: str, value: object) -> None:
        """Set what JAX's programs set by JAX's name, or a setting above by its own.

        `update("jax_num_cpu_devices", 4)`: there are four devices on the CPU, for
        `pmap`. `update("jax_debug_nans", True)` and `update("jax_disable_jit", True)`:
        what `srcjax.debug_nans` and `srcjax.disable_jit` do, from now on.
        `update("jax_enable_x64", True)`: draws are of 64 bits, as `srcjax.enable_x64`
        says; nothing else has a narrow default.

        Raises:
            ArgumentError: there is no such setting, or it has not such a value.
        """
        if name in _OF_JAX:
            _OF_JAX[name](value)
            return
        if name not in _OWN:
            known = ", ".join(map(repr, [*_OWN, *_OF_JAX]))
            raise ArgumentError(
                f"config.update: there is no setting {name!r}",
                instead=f"one of {known}",
            )
        setattr(self, name, value)

    def __repr__(self) -> str:
        return f"<srcjax config: check={self.check}, threads={self.threads}>"


def draw_wide(on: object) -> None:
    """`jax_enable_x64`: nothing has a narrow default here but draws."""
    from srcjax.random.widths import set_wide

    try:
        set_wide(on)
    except TypeError as error:
        raise ArgumentError(
            str(error), instead='`config.update("jax_enable_x64", True)`'
        ) from None


_OWN = ("check", "threads", "keep_texts", "full_tracebacks", "jit_at_once")
#: Settings by JAX's names, and what sets them.
_OF_JAX: dict[str, Callable[[object], None]] = {
    "jax_debug_nans": functools.partial(modes.turn, "debug_nans"),
    "jax_disable_jit": functools.partial(modes.turn, "disable_jit"),
    "jax_enable_x64": draw_wide,
    "jax_num_cpu_devices": set_cpu_devices,
}

config = Config()
