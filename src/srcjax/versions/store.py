"""Entries on disk, in the user's cache folder: what is kept of a text, by its key.

An entry is read only if it is the user's alone, whole (a digest stands before it) and
says that it is for the key. What is broken, foreign or half gone is no entry.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator
from typing import Any

from srcjax.backends.cache_folder import (
    cache_folder,
    is_of_user_alone,
    write_at_once,
)

#: Turns entries off where it is "0" when srcjax is imported.
VARIABLE = "SRCJAX_KEEP_TEXTS"
SUFFIX = ".text"
#: So many entries are kept; then the oldest half goes.
MOST = 2000
#: Larger ones are not kept.
MOST_BYTES = 4_000_000
#: Libraries that a text may depend on, and the file of each that has its version.
_LIBRARIES = {
    "numpy": "version.py",
    "scipy": "version.py",
    "numba": "_version.py",
    "gast": "ast3.py",
}


class Setting:
    """Whether texts are kept for other processes."""

    on = os.environ.get(VARIABLE, "1") != "0"


def read(key: str) -> Any:
    """The entry for the key; None without one."""
    path = path_of(key)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            if not is_of_user_alone(os.fstat(file.fileno())):
                return None
            content = file.read()
        size = hashlib.sha256().digest_size
        if hashlib.sha256(content[size:]).digest() != content[:size]:
            return None
        known, entry = marshal.loads(content[size:])
        os.utime(path)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return entry if known == key else None


def write(key: str, entry: Any) -> None:
    """Keep an entry, which consists of plain values. What cannot be kept is not."""
    path = path_of(key)
    if path is None:
        return
    with contextlib.suppress(OSError, ValueError):
        content = marshal.dumps((key, entry))
        if len(content) <= MOST_BYTES:
            write_at_once(path, hashlib.sha256(content).digest() + content)
            forget_old(os.path.dirname(path))


def path_of(key: str) -> str | None:
    """The file of an entry; None where there is no folder."""
    folder = cache_folder()
    return None if folder is None else os.path.join(folder, key + SUFFIX)


def forget_old(folder: str) -> None:
    """Remove the older half of the entries if there are too many."""
    with os.scandir(folder) as found:
        entries = [each for each in found if each.name.endswith(SUFFIX)]
    if len(entries) <= MOST:
        return
    ages = []
    for each in entries:
        with contextlib.suppress(OSError):  # another process was faster
            ages.append((each.stat().st_mtime_ns, each.path))
    for _, path in sorted(ages)[: len(ages) - MOST // 2]:
        with contextlib.suppress(OSError):
            os.unlink(path)


@functools.cache
def environment() -> str:
    """What all texts depend on, as it was when this was first asked."""
    return environment_now()


def environment_now() -> str:
    """Versions, and the files of srcjax as they are: some may be edited meanwhile."""
    found: list[Any] = [sys.version, sys.platform, sys.flags.optimize]
    for name, file in _LIBRARIES.items():
        found.append((name, version_of(name, file)))
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found.append((root, sorted(files_in(root))))
    return hashlib.sha256(repr(found).encode()).hexdigest()


def version_of(name: str, file: str) -> Any:
    """What a library's version is known by, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return None
    path = os.path.join(os.path.dirname(spec.origin), file)
    try:
        found = os.stat(path)
        with open(path, "rb") as content:
            return path, found.st_mtime_ns, hashlib.sha256(content.read()).hexdigest()
    except OSError:
        return path, str(getattr(sys.modules.get(name), "__version__", ""))


def files_in(folder: str) -> Iterator[tuple[str, int, int]]:
    """The Python files of a folder, with their sizes and times."""
    with os.scandir(folder) as found:
        for each in found:
            if each.is_dir():
                if each.name != "__pycache__":
                    yield from files_in(each.path)
            elif each.name.endswith(".py"):
                about = each.stat()
                yield each.path, about.st_size, about.st_mtime_ns
