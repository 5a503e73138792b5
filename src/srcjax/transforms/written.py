"""What a transform hands to the passes that make its code read well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from srcjax.analysis.types import Type
from srcjax.frontend.unit import Unit
from srcjax.transforms.specialise import Typer


class Derivatives(Protocol):
    """What the passes ask about the names of generated code."""

    #: Types of the primal names, over the whole unit.
    types: dict[str, Type]
    typer: Typer
    #: Values that the generated code refers to, by name.
    needs: dict[str, Any]
    #: Where adjoints (or tangents) live: `places.variables` names them.
    places: Any

    def type_of_name(self, name: str) -> Type:
        """The type of a primal name, unknown if there is none."""
        ...

    def derivative_buffers(self) -> dict[str, frozenset]:
        """Memory that variables of derivatives may share, as that of primals."""
        ...

    def derivative_name(self, base: str) -> str:
        """`dx` or `x_dot`, as a reader expects it."""
        ...


@dataclass
class Written:
    """One generated function before it is simplified."""

    node: gast.FunctionDef
    unit: Unit
    rules: Derivatives
    #: Which item of the returned tuple is the derivative (-1: all of it; None: none).
    gradient_at: int | None = None
    wrt: list[str] = field(default_factory=list)
    #: Tangents stand beside what they belong to (no comments), and alias as it does.
    forward: bool = False
    #: Names of gathered examples of a batch, which are not to be gathered twice.
    gathers: set[str] = field(default_factory=set)
