"""What was made of a function, kept while that function is in use."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

#: So many are kept of a kind; then all are forgotten. They would be made again.
MOST = 512


class Kept:
    """Values by key, each with the objects whose ids its key has.

    Threads may ask at the same time: then each may make one, and all get the same.
    """

    def __init__(self) -> None:
        self.values: dict[Any, tuple[Any, Any]] = {}

    def get(self, key: Hashable, alive: Any, make: Callable[[], Any]) -> Any:
        """The value for the key, from `make` if there is none.

        `alive` is kept with it, so that no other object gets one of the ids in the key.
        """
        found = self.values.get(key)
        if found is None:
            made = make()
            if len(self.values) >= MOST:
                self.values.clear()
            found = self.values.setdefault(key, (alive, made))
        return found[1]
