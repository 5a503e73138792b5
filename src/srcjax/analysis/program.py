"""The functions that take part in a transform, and what was found out about them."""

from __future__ import annotations

import types as pytypes
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax.analysis.types import Buffers, Const, Type
from srcjax.frontend.normalise import normalise
from srcjax.frontend.read import read
from srcjax.frontend.unit import Unit


@dataclass(frozen=True)
class Variant:
    """The types around one abstract execution of a statement."""

    before: dict[str, Type]
    after: dict[str, Type]

    def key(self) -> tuple:
        """Hashable form, to keep each variant once."""
        return (tuple(self.before.items()), tuple(self.after.items()))


@dataclass
class Facts:
    """Side tables of inference; statements and calls are keyed by node identity."""

    variants: dict[int, dict[tuple, Variant]] = field(default_factory=dict)
    #: Resolved callees by call node: values as in `Const.value`, or Closure types.
    callees: dict[int, list[Any]] = field(default_factory=dict)
    #: Buffers that a statement writes in place.
    writes: dict[int, Buffers] = field(default_factory=dict)
    #: What a test was found to be: {True}, {False} or both (also {None}: unknown).
    tests: dict[int, set] = field(default_factory=dict)
    #: Result type by unit name.
    results: dict[str, Type] = field(default_factory=dict)
    #: Keeps keyed nodes alive.
    nodes: list[Any] = field(default_factory=list)

    def of(self, node: gast.AST) -> list[Variant]:
        """The variants in which the statement was executed."""
        return list(self.variants.get(id(node), {}).values())

    def record(self, node: gast.AST, variant: Variant) -> None:
        """Add one abstract execution of the statement."""
        self.nodes.append(node)
        self.variants.setdefault(id(node), {})[variant.key()] = variant

    def written(self) -> Buffers:
        """Every buffer that is written in place somewhere."""
        found: Buffers = frozenset()
        for buffers in self.writes.values():
            found |= buffers
        return found


@dataclass
class Guard:
    """A name that was resolved: the generated code holds while it stays the same."""

    holder: Any
    key: str
    value: Any

    def holds(self) -> bool:
        """Whether the name still means the same object."""
        try:
            if isinstance(self.holder, dict):
                return self.holder[self.key] is self.value
            if isinstance(self.holder, pytypes.CellType):
                return self.holder.cell_contents is self.value
            return getattr(self.holder, self.key) is self.value
        except (KeyError, ValueError, AttributeError):
            return False


class Program:
    """Units by function, and the names they resolved."""

    def __init__(self) -> None:
        self.units: dict[int, Unit] = {}
        self.typing_units: dict[int, Unit | None] = {}
        self.guards: dict[tuple[int, str], Guard] = {}
        self.facts = Facts()
        #: Parameters that some call passes a differentiated value for, by function.
        self.entry_active: dict[int, set[str]] = {}
        self._alive: list[Any] = []
        self._made: dict[Any, Any] = {}

    def unit(self, function: Any, varying: Iterable[str]) -> Unit:
        """The function's core form, with at least these parameters varying."""
        unit = self.units.get(id(function))
        wanted = set(varying)
        if unit is not None and wanted <= unit.varying:
            return unit
        source = read(function)
        if unit is not None:
            wanted |= unit.varying & set(unit.parameters)
        unit = normalise(source, wanted)
        self.units[id(function)] = unit
        self._alive.append(function)
        return unit

    def transformed(self, maker: Any, args: list[Type], kwargs: dict) -> Any:
        """The result of `grad(f, ...)` written inside a function; None if not known."""
        everything = [*args, *kwargs.values()]
        if not everything or not all(isinstance(t, Const) for t in everything):
            return None
        values = [t.value for t in args]  # type: ignore[attr-defined]
        named = {k: t.value for k, t in kwargs.items()}
        key = (id(maker), id(values[0]) if values else 0, repr((values[1:], named)))
        if key not in self._made:
            self._made[key] = maker(*values, **named)
        return self._made[key]

    def widen(self, unit: Unit, names: Iterable[str]) -> Unit:
        """Normalise again: these names carry a derivative after all."""
        start = (unit.varying - unit.temps) | set(names)
        new = normalise(unit.source, start)
        for key, value in list(self.units.items()):
            if value is unit:
                self.units[key] = new
        return new

    def resolve(self, unit: Unit, name: str) -> Any:
        """The live value of a free name, remembered as a guard. Raises KeyError."""
        source = unit.source
        if name in unit.extra:
            return unit.extra[name]
        value = source.resolve(name)
        holder: Any = source.closure.get(name)
        if holder is None and name in source.globals:
            holder = source.globals
        if holder is not None and not isinstance(value, pytypes.ModuleType):
            self.guards[(id(holder), name)] = Guard(holder, name, value)
        return value
