"""What a jaxpr is made of, and how it is printed.

The notation is JAX's: `{ lambda constants ; arguments. let equations in (results,) }`.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Lines are broken where they are longer.
WIDTH = 80


@dataclass(frozen=True)
class ShapedArray:
    """The shape and dtype of a value."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def __str__(self) -> str:
        kind, bits = self.dtype.kind, 8 * self.dtype.itemsize
        name = f"{kind}{bits}" if kind in "fiuc" else self.dtype.name
        return f"{name}[{','.join(map(str, self.shape))}]"

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Primitive:
    """An operation, known by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Var:
    """A value that has a name when it is printed."""

    aval: ShapedArray


@dataclass(eq=False)
class Literal:
    """A number that stands where it is used."""

    val: Any
    aval: ShapedArray

    def __str__(self) -> str:
        return f"{np.asarray(self.val, self.aval.dtype).item()}:{self.aval}"


Atom = Var | Literal


@dataclass(eq=False)
class JaxprEqn:
    """One equation: `outvars = primitive[params] invars`."""

    primitive: Primitive
    invars: list[Atom]
    outvars: list[Var]
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Jaxpr:
    """Equations, with names for what they are given and what they give."""

    constvars: list[Var]
    invars: list[Var]
    eqns: list[JaxprEqn]
    outvars: list[Atom]

    def __str__(self) -> str:
        return "\n".join(lines_of(self, Names(used_in(self)), WIDTH))

    __repr__ = __str__


@dataclass(eq=False)
class ClosedJaxpr:
    """A jaxpr with the values of its constants.

    `jaxpr.eqns` are the equations, each with its `primitive.name`, `invars`, `outvars`
    and `params`.
    """

    jaxpr: Jaxpr
    consts: list[Any]

    @property
    def eqns(self) -> list[JaxprEqn]:
        return self.jaxpr.eqns

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.jaxpr.outvars]

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def inner_jaxprs(value: Any) -> Iterator[Jaxpr]:
    """The jaxprs in the parameter of an equation."""
    if isinstance(value, ClosedJaxpr):
        yield value.jaxpr
    elif isinstance(value, Jaxpr):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from inner_jaxprs(each)


def used_in(jaxpr: Jaxpr) -> set[int]:
    """The identities of the values that something reads."""
    found = {id(v) for v in jaxpr.outvars}
    for eqn in jaxpr.eqns:
        found |= {id(v) for v in eqn.invars}
        for value in eqn.params.values():
            for inner in inner_jaxprs(value):
                found |= used_in(inner)
    return found


class Names:
    """Letters for values, in the order in which they come: a, b, ..., z, ba, bb."""

    def __init__(self, used: set[int]) -> None:
        self.used = used
        self.names: dict[int, str] = {}

    def of(self, value: Atom) -> str:
        """How a value is read."""
        if isinstance(value, Literal):
            return str(value)
        if id(value) not in self.names:
            self.names[id(value)] = letters(len(self.names))
        return self.names[id(value)]

    def bound(self, values: Sequence[Var], results: bool = False) -> str:
        """How values are named: `a:f32[3] b:f32[]`; `_` for a result nobody reads."""
        return " ".join(
            f"{'_' if results and id(v) not in self.used else self.of(v)}:{v.aval}"
            for v in values
        )


def letters(number: int) -> str:
    """The name with a number."""
    name = ""
    while True:
        number, last = divmod(number, 26)
        name = string.ascii_lowercase[last] + name
        if number == 0:
            return name


def lines_of(jaxpr: Jaxpr, names: Names, width: int) -> list[str]:
    """The lines of a jaxpr; one, if it fits."""
    constants = names.bound(jaxpr.constvars)
    arguments = names.bound(jaxpr.invars)
    head = f"{{ lambda {constants}; {arguments}. let"
    body = [lines_of_eqn(eqn, names, width - 4) for eqn in jaxpr.eqns]
    results = ", ".join(map(names.of, jaxpr.outvars))
    last = f"in ({results}{',' if len(jaxpr.outvars) == 1 else ''}) }}"
    if all(len(lines) == 1 for lines in body):
        flat = "; ".join(line for (line,) in body)
        whole = " ".join(part for part in (head, flat, last) if part)
        if len(whole) <= width:
            return [whole]
    inner = [f"    {line}" for lines in body for line in lines]
    return [head, *inner, f"  {last}"]


def lines_of_eqn(eqn: JaxprEqn, names: Names, width: int) -> list[str]:
    """The lines of an equation; one, if it fits."""
    start = f"{names.bound(eqn.outvars, True)} = {eqn.primitive}".lstrip()
    given = " ".join(map(names.of, eqn.invars))
    params = [
        lines_of_param(key, value, names, width - 2)
        for key, value in eqn.params.items()
    ]
    given = f" {given}" if given else ""
    if not params:
        return [f"{start}{given}"]
    if all(len(lines) == 1 for lines in params):
        whole = f"{start}[{' '.join(line for (line,) in params)}]{given}"
        if len(whole) <= width:
            return [whole]
    inner = [f"  {line}" for lines in params for line in lines]
    return [f"{start}[", *inner, f"]{given}"]


def lines_of_param(key: str, value: Any, names: Names, width: int) -> list[str]:
    """The lines of `key=value`, where the value may hold jaxprs."""
    if isinstance(value, ClosedJaxpr):
        value = value.jaxpr
    if isinstance(value, Jaxpr):
        first, *rest = lines_of(value, names, width - len(key) - 1)
        return [f"{key}={first}", *rest]
    if isinstance(value, tuple) and any(True for _ in inner_jaxprs(value)):
        found = [
            f"  {line}"
            for each in value
            for inner in inner_jaxprs(each)
            for line in lines_of(inner, names, width - 2)
        ]
        return [f"{key}=(", *found, ")"]
    return [f"{key}={shown(value)}"]


def shown(value: Any) -> str:
    """How a parameter is printed."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        items = ", ".join(map(shown, value))
        return f"({items}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return str(value)
