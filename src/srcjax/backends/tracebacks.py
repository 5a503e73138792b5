"""What users see of an error: their lines, the lines of the derivative, the message.

The interpreter prints an error that nobody catches itself (until 3.12), and reads files
for it: one that is not there is looked for by its base name along `sys.path`, where
another `grad_loss.py` may be. So the text is written to a file, in a folder that only
the user may read, when an error passes through it.

The frames of srcjax itself are cut out of tracebacks. `srcjax.config.full_tracebacks`
brings them back; so does an error that is not about the user's code.
"""

from __future__ import annotations

import atexit
import os
import types as pytypes
from typing import Any

import numpy as np

from srcjax.errors import SrcjaxError


def _temporary() -> str:
    """Where temporary files are; what `tempfile` says takes long to import."""
    given = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    folder = next((f for f in given if f and os.path.isdir(f)), None)
    if folder is None and os.path.isdir("/tmp"):
        folder = "/tmp"
    return os.path.abspath(folder or os.getcwd())


_OUTER = os.path.join(_temporary(), f"srcjax-{os.urandom(6).hex()}")
_INNER = "srcjax-generated"


class Texts:
    """Where texts are written to; nothing is there before the first error."""

    folder = os.path.join(_OUTER, _INNER)


def _after_fork() -> None:
    """Let a forked process, which gives the same names to other texts, have its own."""
    Texts.folder = os.path.join(_OUTER, os.urandom(6).hex(), _INNER)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_in_folder(filename: str) -> bool:
    """Whether it is the name of a text of this process, or of what it was forked of."""
    folder = os.path.dirname(filename)
    return os.path.basename(folder) == _INNER and filename.startswith(_OUTER)


#: Turns full tracebacks on for a process.
VARIABLE = "SRCJAX_FULL_TRACEBACKS"
#: Where srcjax is, and its rooms in which an error says nothing to users.
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ROOMS = ("analysis", "api", "backends", "checks", "frontend", "ops", "transforms")
_INSIDE = (
    *(os.path.join(_ROOT, room) + os.sep for room in (*_ROOMS, "versions")),
    *(os.path.join(_ROOT, f"{n}.py") for n in ("compiling", "late", "pipeline")),
    *(os.path.join(_ROOT, f"{n}.py") for n in ("process", "syntax", "__init__")),
)
#: Where Python's library and others are.
_LIBRARIES = tuple(
    os.path.dirname(os.path.abspath(str(place))) + os.sep
    for place in (os.__file__, os.path.dirname(str(np.__file__)))
)
#: A module of generated text that only passes calls on has this name.
PASSES_ON = "__srcjax_passes_on__"


class Setting:
    """Whether tracebacks show the frames of srcjax."""

    full = os.environ.get(VARIABLE, "0") not in ("", "0")


def write(filename: str, text: str) -> None:
    """Write a text to its file in the folder, if it is not there; no error is raised.

    Only this process, and what it forks, knows the folder, which nobody else may read.
    """
    try:
        folder = os.path.dirname(filename)
        for each in (_OUTER, os.path.dirname(folder), folder):
            if not os.path.isdir(each):
                os.mkdir(each, 0o700)
        if not os.path.exists(filename):
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)
    except OSError:
        pass


def _remove(process: int) -> None:
    """Remove the folder; not in a process that was forked from this one."""
    if os.getpid() == process and os.path.isdir(_OUTER):
        import shutil

        shutil.rmtree(_OUTER, ignore_errors=True)


atexit.register(_remove, os.getpid())


def show(error: BaseException) -> None:
    """Let texts in a traceback be in files, and leave frames of srcjax out of it."""
    frames = _frames(error.__traceback__)
    for each in frames:
        loader: Any = each.tb_frame.f_globals.get("__loader__")
        if each.tb_frame.f_code.co_filename == getattr(loader, "filename", None):
            loader.write()
    if Setting.full or not _is_about_users(error, frames):
        return
    error.__traceback__ = _without_inside(frames, isinstance(error, SrcjaxError))
    context = error.__context__
    if isinstance(error, SrcjaxError) and context is not None:
        # What srcjax tried before it gave up says nothing.
        seen = _frames(context.__traceback__)
        if all(map(_is_inside, seen)) and error.__cause__ is None:
            error.__suppress_context__ = True


def _frames(trace: pytypes.TracebackType | None) -> list[pytypes.TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _without_inside(frames: list[pytypes.TracebackType], own: bool) -> Any:
    """A traceback of those frames that are not srcjax's, nor of what it called.

    What it called raised the error itself, unless the error is srcjax's `own`.
    """
    found, called = None, own
    for each in reversed(frames):
        inside, library = _is_inside(each), _is_library(each)
        called = inside or (called and library)
        if not called:
            found = pytypes.TracebackType(
                found, each.tb_frame, each.tb_lasti, each.tb_lineno
            )
    return found


def _is_inside(each: pytypes.TracebackType) -> bool:
    frame = each.tb_frame
    inside = frame.f_code.co_filename.startswith(_INSIDE)
    return inside or PASSES_ON in frame.f_globals


def _is_library(each: pytypes.TracebackType) -> bool:
    return each.tb_frame.f_code.co_filename.startswith(_LIBRARIES)


def _is_about_users(error: BaseException, frames: list) -> bool:
    """Whether the error tells of code of users, or of generated text.

    Any other one, raised in srcjax or in a library that it called, is one of srcjax.
    """
    if isinstance(error, SrcjaxError) or not isinstance(error, Exception):
        return True
    for each in reversed(frames):
        if _is_inside(each):
            return False
        if not _is_library(each):
            return True
    return False
