"""What a transform hands to the passes that make its code read well."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcjax.frontend.unit import Unit
from srcjax.transforms.writer import Writer


@dataclass
class Written:
    """One generated function before it is simplified."""

    node: gast.FunctionDef
    unit: Unit
    rules: Writer
    #: Which item of the returned tuple is the derivative (-1: all of it; None: none).
    gradient_at: int | None = None
    wrt: list[str] = field(default_factory=list)
    #: Tangents stand beside what they belong to (no comments), and alias as it does.
    forward: bool = False
    #: Names of gathered examples of a batch, which are not to be gathered twice.
    gathers: set[str] = field(default_factory=set)
