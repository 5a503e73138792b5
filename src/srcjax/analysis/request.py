"""What is asked of a transform: a function, and the types that it is written for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from srcjax.analysis.types import Buffers, Type


@dataclass
class Request:
    """What is asked of a function: which arguments, of which types."""

    function: Any
    #: parameter name -> type (active where differentiated); None: nothing known
    types: dict[str, Type]
    wrt: list[str]
    #: The name of the batch axis, and its size where no argument has it (`batch`).
    axis_name: str | None = None
    axis_size: int | None = None
    #: Whether functions with rules of their own are called with them: what is written
    #: is differentiated. Else they are functions like others.
    keeps_rules: bool = True
    #: How many sizes that are made of others are supposed to be something.
    supposed: int = 0
    #: What the function gives for one example and the memory that it writes to, once
    #: that is found out (`batch`).
    found: tuple[Type | None, Buffers] | None = None
    #: Whether loops over few objects are written out, and whether there are any.
    writes_out: bool = False
    holds_objects: bool = False
