"""Small programs that every transform of srcjax runs over, one module per theme."""

from . import (
    arrays,
    branches,
    containers,
    edges,
    exits,
    functions,
    inactive,
    inplace,
    linalg,
    loops,
    models,
    objects,
    scalars,
    statements,
    whiles,
)
from .registry import (
    PROGRAMS,
    Program,
    program,
    scalar_programs,
    second_order_programs,
)

__all__ = [
    "PROGRAMS",
    "Program",
    "arrays",
    "branches",
    "containers",
    "edges",
    "exits",
    "functions",
    "inactive",
    "inplace",
    "linalg",
    "loops",
    "models",
    "objects",
    "program",
    "scalar_programs",
    "scalars",
    "second_order_programs",
    "statements",
    "whiles",
]
