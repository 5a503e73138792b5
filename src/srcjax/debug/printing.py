"""`srcjax.debug.print`, by a name that leaves Python's own alone."""

from __future__ import annotations

from typing import Any


def print_formatted(
    fmt: str,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Print `fmt.format(*args, **kwargs)`.

    Args:
        fmt: a text with places such as `{}` or `{x}`.
        ordered: accepted; what is printed comes in the order of the program.
        partitioned: accepted, and of no effect.
    """
    print(fmt.format(*args, **kwargs))
