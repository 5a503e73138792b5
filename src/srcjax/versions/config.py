"""`srcjax.config`: what holds for all transforms that do not say otherwise."""

from __future__ import annotations

from srcjax.errors import ArgumentError


class Config:
    """Settings of the process.

    - `check`: whether the first call of each version of a derivative is compared with
      differences and with the other mode, and of each `vmap` with a loop: what
      `check=True` does for one transform.
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

    def __repr__(self) -> str:
        return f"<srcjax config: check={self.check}>"


config = Config()
