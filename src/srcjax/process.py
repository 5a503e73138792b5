"""What a process has once for all its threads: filters of warnings, and the parser."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

#: `warnings.catch_warnings` puts back what it found. Where a second thread enters it
#: before the first one has left, the one's filters hold for the other, or stay.
_FILTERS = threading.RLock()

#: CPython 3.11 counts the depth of trees of all threads together, and raises a
#: SystemError where two of them are made at once.
PARSING = threading.Lock()


@contextmanager
def warnings_are(action: Literal["ignore", "error"]) -> Iterator[None]:
    """All warnings are ignored, or raised, inside. No code of users is run there."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter(action)
        yield


def tree_of(text: str) -> ast.Module:
    """`ast.parse`, in one thread at a time."""
    with PARSING:
        return ast.parse(text)
