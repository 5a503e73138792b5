"""Keep the garbage collector from looking at everything while code is generated.

Generating code makes many small objects, and that sets off Python's collector. A full
collection visits all objects of the process: with scikit-learn or SciPy imported it
takes longer than the generation itself, and finds nothing of ours to free.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Young objects are collected less often meanwhile, the oldest generation not at all.
YOUNG = 20_000
NEVER = 2**31 - 1

_LOCK = threading.Lock()
#: How many blocks are being executed, in all threads, and what the first one found.
_inside = 0
_found: tuple[int, int, int] | None = None
_set: tuple[int, int, int] | None = None


@contextmanager
def full_collections_put_off() -> Iterator[None]:
    """No full garbage collection inside; after the last block all is as it was.

    Blocks may lie in each other and run in several threads. A collector that is off
    (`gc.disable()`, or a threshold of 0) stays off, and thresholds that someone else
    sets meanwhile stay as they are.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _found, _set
    with _LOCK:
        _inside += 1
        young, middle, _ = found = gc.get_threshold()
        if _inside == 1 and young > 0:
            gc.set_threshold(max(young, YOUNG), middle, NEVER)
            _found, _set = found, gc.get_threshold()


def _leave() -> None:
    global _inside, _found, _set
    with _LOCK:
        _inside -= 1
        if _inside == 0 and _found is not None:
            if gc.get_threshold() == _set:
                gc.set_threshold(*_found)
            _found = _set = None
