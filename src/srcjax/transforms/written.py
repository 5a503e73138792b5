"""What a transform hands to the passes that make its code read well."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.frontend.helper_names import HELPERS
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
    #: What is known of it and of the other functions of its module (an `Inference`).
    inference: Any = None


def value_of(written: Written, program: Program, name: str) -> tuple[Any] | None:
    """What a free name of generated code stands for."""
    if name in written.rules.needs:
        return (written.rules.needs[name],)
    unit = written.unit
    users = name in unit.extra or name in syntax.all_names(unit.source.node)
    if name in HELPERS and not users:
        return (HELPERS[name],)  # the user's own has another name by now
    try:
        return (program.look(written.unit, name),)
    except KeyError:
        pass
    if name == "np":
        return (np,)
    if name == "math":
        return (math,)
    if name == "scipy":
        import scipy

        return (scipy,)
    return (HELPERS[name],) if name in HELPERS else None
