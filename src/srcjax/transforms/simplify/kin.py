"""Which names can share memory, by the text alone: cheap, and never too few.

    dproduct = da9              one family: da9, dproduct
    da8 += dproduct * 0.2       another one: da8
    da8 += dsin * np.cos(a8)

What may stand where is mostly asked of values that have nothing to do with each other.
That shows in the text: arithmetic of arrays and numbers makes new ones. Only where two
names are of one family is it inferred which memory they hold (`transforms.inferred`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Array, Type, all_buffers, dtype_of, is_number
from srcjax.transforms.call_effects import called, effect_of
from srcjax.transforms.fresh import is_new_array

#: Statements that say all that they do with names.
_PLAIN = (
    gast.Assign, gast.AugAssign, gast.Break, gast.Continue, gast.Expr, gast.For,
    gast.If, gast.Pass, gast.Raise, gast.Return, gast.While,
)  # fmt: skip
#: Expressions that only compute with what their parts are.
_ARITHMETIC = (gast.BinOp, gast.Compare, gast.UnaryOp)


class Kin:
    """The families of names of one function, as it stands."""

    def __init__(
        self,
        node: gast.FunctionDef,
        type_of_name: Callable[[str], Type],
        types: dict[str, Type],
    ) -> None:
        self.type_of_name = type_of_name
        #: The names of each family, by each of its names.
        self.families: dict[str, set[str]] = {}
        self.plain: dict[str, bool] = {}
        given = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
        own = syntax.names_written(node) | given | types.keys()
        self.modules = {"np", "math", "scipy"} - own
        #: Whether all statements are such that this is known.
        self.known = True
        self.parameters(given, types)
        for stmt in syntax.all_statements(node.body):
            if not isinstance(stmt, _PLAIN) or not self.statement(stmt):
                self.known = False
                break

    def of(self, name: str) -> set[str] | None:
        """The names that may share memory with one, and it; None: any may."""
        return self.families.get(name, {name}) if self.known else None

    def parameters(self, given: set[str], types: dict[str, Type]) -> None:
        """Join what types say is one, and of what has no type all that there is."""
        by_buffer: dict[Any, list[str]] = {}
        for name, t in types.items():
            for buffer in all_buffers(t):
                by_buffer.setdefault(buffer, []).append(name)
        for names in by_buffer.values():
            self.join(names)
        if not given <= types.keys():  # what was saved, adjoints and tangents
            self.join(given.union(*by_buffer.values()))

    def join(self, names: Iterable[str]) -> None:
        """The names may share memory."""
        names = set(names) - self.modules
        found = [self.families.setdefault(name, {name}) for name in names]
        whole = max(found, key=len, default=set())
        for family in found:
            if family is not whole:
                whole |= family
                self.families.update(dict.fromkeys(family, whole))

    def statement(self, stmt: Any) -> bool:
        """Join what the statement itself lets share; whether all of that is known."""
        head = syntax.head(stmt)
        for sub in syntax.walk(head):
            if isinstance(sub, _ELSEWHERE):
                return False
            effect = effect_of(sub)
            if effect.to_all or effect.names or not effect.contained:
                return False
            if effect.writes:  # a list holds what it is given
                self.join(syntax.all_names(head))
        if isinstance(stmt, gast.Assign):
            bound = syntax.names_written(stmt)
            plain = all(isinstance(t, gast.Name) for t in stmt.targets)
            if not plain or not self.is_new(stmt.value, bound):
                self.join(syntax.all_names(stmt))
        elif isinstance(stmt, gast.AugAssign):
            names = syntax.all_names(stmt)
            if not all(map(self.is_plain, names - self.modules)):
                self.join(names)
        elif isinstance(stmt, gast.For) and not _counts(stmt):
            self.join(syntax.all_names(head))
        return True

    def is_new(self, value: Any, bound: set[str]) -> bool:
        """Whether what names are bound to is in memory of nothing that is there."""
        if isinstance(value, gast.Constant):
            return True
        made = isinstance(value, gast.Call) and is_new_array(value)
        if not made and not isinstance(value, _ARITHMETIC):
            return False
        names = syntax.names_read(value) - self.modules
        return all(map(self.is_plain, names | bound))

    def is_plain(self, name: str) -> bool:
        """Whether it is an array or a number: arithmetic with it makes a new one."""
        found = self.plain.get(name)
        if found is None:
            t = self.type_of_name(name)
            dtype = dtype_of(t)
            found = is_number(t) or (
                isinstance(t, Array) and dtype is not None and dtype.kind in "biufc"
            )
            self.plain[name] = found
        return found


def _counts(loop: gast.For) -> bool:
    """Whether it is a loop over a range, which holds nothing."""
    over = loop.iter
    while called(over) == "reversed" and len(over.args) == 1:
        over = over.args[0]
    return called(over) == "range" and isinstance(loop.target, gast.Name)


_ELSEWHERE = (
    gast.Await, gast.DictComp, gast.GeneratorExp, gast.Lambda, gast.ListComp,
    gast.NamedExpr, gast.SetComp, gast.Starred, gast.Yield, gast.YieldFrom,
)  # fmt: skip


class Sharing:
    """Names that see what is written through a name, and the other way round."""

    def __init__(
        self, inferred: Callable[[str], set[str]], kin: Callable[[], Kin]
    ) -> None:
        self.inferred = inferred
        self.make_kin = kin

    @functools.cached_property
    def kin(self) -> Kin:
        return self.make_kin()

    def __call__(self, name: str) -> set[str]:
        return self.inferred(name)


class Near:
    """Names, and those that may share memory with them: asked often, found once."""

    def __init__(
        self, shares: Callable[[str], set[str]], names: Collection[str]
    ) -> None:
        self.shares = shares
        self.names = names

    @functools.cached_property
    def family(self) -> set[str] | None:
        """What the text tells of it; None: any name may be one of them."""
        if not isinstance(self.shares, Sharing) or not self.shares.kin.known:
            return None
        kin = self.shares.kin
        return set(self.names).union(*(kin.of(name) or () for name in self.names))

    @functools.cached_property
    def inferred(self) -> set[str]:
        return set(self.names).union(*map(self.shares, self.names))

    def meets(self, others: AbstractSet[str]) -> bool:
        """Whether one of the names is, or may share memory with, one of the others."""
        if not others or (self.family is not None and self.family.isdisjoint(others)):
            return False
        return not self.inferred.isdisjoint(others)


def may_be_one_of(
    shares: Callable[[str], set[str]], names: Collection[str], others: AbstractSet[str]
) -> bool:
    """Whether one of the names is, or may share memory with, one of the others."""
    return not others.isdisjoint(names) or Near(shares, names).meets(others)
