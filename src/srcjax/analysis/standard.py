"""What belongs to Python's standard library, and to libraries that were installed."""

from __future__ import annotations

import os
from typing import Any


def is_standard(function: Any) -> bool:
    """Whether the function belongs to Python's standard library."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    if file.startswith("<frozen "):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file


def is_installed(path: str) -> bool:
    """Whether the file belongs to a library that was installed, no code of the user."""
    return bool({"site-packages", "dist-packages"} & set(path.split(os.sep)))


_STANDARD = os.path.dirname(os.__file__) + os.sep
