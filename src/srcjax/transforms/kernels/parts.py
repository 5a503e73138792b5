"""Containers as `containers` knows them: their parts by key, and who they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import gast

from srcjax import syntax


class Stays(Exception):
    """A container is not known in all its parts; `site` made it (None: all stay)."""

    def __init__(self, site: Any = None) -> None:
        super().__init__()
        self.site = site


@dataclass(eq=False)
class Parts:
    """A container with known parts: the same object is the same container."""

    #: tuple, list or dict, or the class of a namedtuple.
    cls: type
    #: Each part by its index or key: an atom, or a container.
    items: dict[Any, Any]
    #: The statement or parameter that made it.
    site: Any
    #: Whether it may not be written to: it is the caller's, or one of each iteration.
    fixed: bool = False
    #: What the caller's container is called.
    given: gast.expr | None = None
    #: Whether it stands for different containers, or none, where paths have met.
    lost: bool = False
    #: The call that made a namedtuple.
    maker: gast.Call | None = None

    @property
    def kind(self) -> type:
        """tuple, list or dict."""
        return tuple if issubclass(self.cls, tuple) else self.cls


Known: TypeAlias = "gast.expr | Parts"


def is_small(known: Any) -> bool:
    """Whether it is a constant that stands where a name stood: no float."""
    kinds = (int, str, type(None))
    return isinstance(known, gast.Constant) and isinstance(known.value, kinds)


def is_namedtuple(cls: Any) -> bool:
    """Whether it is a class of tuples whose items have names, and nothing more."""
    if not isinstance(cls, type) or cls.__bases__ != (tuple,):
        return False
    fields = isinstance(getattr(cls, "_fields", None), tuple)
    return fields and not {"__iter__", "__getitem__"} & set(vars(cls))


def lost(held: Parts) -> Parts:
    """What stands for a container that is not known any more."""
    return Parts(held.cls, {}, held.site, lost=True)


def copied(env: dict[str, Known]) -> dict[str, Known]:
    """The same names, with containers of their own; the caller's stay."""
    made: dict[int, Parts] = {}

    def copy(known: Known) -> Known:
        if not isinstance(known, Parts) or known.given is not None or known.lost:
            return known
        if id(known) not in made:
            made[id(known)] = new = replace(known, items={})
            new.items = {k: copy(v) for k, v in known.items.items()}
        return made[id(known)]

    return {name: copy(known) for name, known in env.items()}


def reachable(env: dict[str, Known]) -> list[Parts]:
    """All containers that names hold."""
    found: dict[int, Parts] = {}
    todo = [v for v in env.values() if isinstance(v, Parts)]
    while todo:
        each = todo.pop()
        if id(each) not in found:
            found[id(each)] = each
            todo += [v for v in each.items.values() if isinstance(v, Parts)]
    return list(found.values())


class Join:
    """What is known where the two sides of a branch meet."""

    def __init__(
        self, fresh: Callable[[str], str], body: list[Any], orelse: list[Any]
    ) -> None:
        self.fresh = fresh
        self.body = body
        self.orelse = orelse
        self.pairs: dict[tuple[int, int], Known] = {}
        self.twins: dict[int, Parts] = {}

    def of(self, then: dict[str, Known], other: dict[str, Known]) -> dict[str, Known]:
        """The values of names after both sides."""
        if raises(self.body):
            return other
        if raises(self.orelse):
            return then
        found: dict[str, Known] = {}
        for name in dict.fromkeys([*then, *other]):
            a, b = then.get(name), other.get(name)
            held = next((p for p in (a, b) if isinstance(p, Parts)), None)
            if held is not None:
                apart = a is None or b is None or getattr(a, "lost", False)
                if apart or getattr(b, "lost", False):
                    found[name] = lost(held)
                else:
                    found[name] = self.met(a, b, name)
            elif a is not None and b is not None and syntax.equal(a, b):
                found[name] = a  # else the name itself holds it
        return found

    def met(self, a: Known, b: Known, base: str) -> Known:
        """What one place of a container holds after both sides."""
        if not (isinstance(a, Parts) and isinstance(b, Parts)):
            if isinstance(a, Parts) or isinstance(b, Parts):
                raise Stays(a.site if isinstance(a, Parts) else b.site)
            if syntax.equal(a, b):
                return a
            name = self.fresh(base)
            self.body.append(syntax.assign(name, syntax.clone(a)))
            self.orelse.append(syntax.assign(name, syntax.clone(b)))
            return syntax.name(name)
        if (id(a), id(b)) in self.pairs:
            return self.pairs[id(a), id(b)]
        alike = a.cls is b.cls and list(a.items) == list(b.items)
        twins = self.twins.get(id(a), b) is b and self.twins.get(id(b), a) is a
        if not alike or not twins:
            raise Stays(a.site)
        self.twins[id(a)], self.twins[id(b)] = b, a
        if a is b:
            return a
        found = replace(a, items={}, fixed=a.fixed or b.fixed, given=None)
        found.maker = a.maker or b.maker
        self.pairs[id(a), id(b)] = found
        for key, part in a.items.items():
            found.items[key] = self.met(part, b.items[key], f"{base}_{key}")
        return found


def raises(block: list[Any]) -> bool:
    """Whether nothing comes after a block."""
    return bool(block) and isinstance(block[-1], gast.Raise)
