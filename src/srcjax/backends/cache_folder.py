"""The folder of what srcjax keeps for other processes: kernels, and texts.

Only the user may write to it. What is in it is named by its content.
"""

from __future__ import annotations

import os
import stat

#: Where it is instead of in the user's cache folder.
CACHE_VARIABLE = "SRCJAX_CACHE_DIR"


def cache_folder() -> str | None:
    """The path of the folder; None where only the user's will not do."""
    folder = os.environ.get(CACHE_VARIABLE)
    if not folder:
        home = os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(
            os.environ.get("XDG_CACHE_HOME") or home, "srcjax", "kernels"
        )
        if not os.path.isabs(folder):  # there is no home
            return None
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
    except OSError:
        return None
    return folder if is_of_user_alone(found) else None


def is_of_user_alone(found: os.stat_result) -> bool:
    """Whether a file or folder is the user's, and nobody else may write to it."""
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        return False
    return not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def write_at_once(path: str, content: bytes) -> None:
    """Write a file that others never see half of, and only the user may read."""
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
