"""Iterators may be used once: where one is written as a list, it has to be.

    pairs = zip(xs, ys)          pairs = list(zip(xs, ys))
    total = dot(pairs)           total = dot(pairs)

`dot` may go through `pairs` once, as any reader may: the list would give its items
again where the iterator has none left. What hands an iterator on, or keeps it, is
refused.
"""

from __future__ import annotations

import itertools
from types import FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.standard import is_of_library
from srcjax.errors import SourceNotFoundError
from srcjax.frontend.generators import Generators
from srcjax.frontend.iterators import LAZY, most_reads
from srcjax.frontend.lift import own_nodes
from srcjax.frontend.read import FunctionSource, read_generator

#: Functions of `itertools` that have plain Python of their own (`ops.composites`).
_ITERATORS = (
    itertools.accumulate,
    itertools.chain,
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.compress,
    itertools.dropwhile,
    itertools.islice,
    itertools.pairwise,
    itertools.permutations,
    itertools.product,
    itertools.repeat,
    itertools.starmap,
    itertools.takewhile,
    itertools.zip_longest,
)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
GIVEN_AGAIN = "the iterator that this gives may be used more than once"
USED_AGAIN = "the function may use the iterator that it gets more than once"


class UsedOnce(Generators):
    """Refuses iterators that could be gone through more than once."""

    def is_lazy(self, node: gast.expr) -> bool:
        """Whether the expression is an iterator, that gives its items once."""
        if not isinstance(node, gast.Call):
            return isinstance(node, gast.GeneratorExp)
        if self.varying.is_builtin(node.func, *LAZY):
            return True
        value = self.varying.value(node.func)
        return any(value is iterator for iterator in _ITERATORS)

    def gives_once(self, node: Any) -> bool:
        """Whether the expression is an iterator, or a call that returns one."""
        if self.is_lazy(node) or self.generator_of(node) is not None:
            return True
        return isinstance(node, gast.Call) and any(
            isinstance(n, gast.Return) and n.value is not None and self.is_lazy(n.value)
            for n in own_nodes(_body(self.called(node)))
        )

    def called(self, node: gast.Call) -> Any:
        """The definition of the user's function that is called; None if not seen."""
        if not isinstance(node.func, (gast.Name, gast.Attribute)):
            return node.func if isinstance(node.func, gast.Lambda) else None
        found = self.definitions().get(getattr(node.func, "id", ""))
        if found is not None:
            return found[0] if len(found) == 1 else None
        function = self.varying.value(node.func)
        if not isinstance(function, FunctionType):
            return None
        if is_of_library(function):
            return None
        try:
            return read_generator(function).node
        except SourceNotFoundError:
            return None

    def note_use(self, name: str, value: Any) -> None:
        """Keep at a call under which name, and where, what it gives is used.

        Types tell later which function it is: of few it matters (`may_use_again`).
        """
        if isinstance(value, gast.Call) and self.called(value) is None:
            value.used_in = self.scope, name

    def check_kept(self, nodes: list[Any]) -> None:
        """Raise where one of what a container or an object gets is an iterator.

        Libraries keep those that they use once, as `np.ndindex` does.
        """
        if is_of_library(self.source.func):
            return
        for node in nodes:
            if (
                node is None
                or not self.varying.carries(node)
                or not self.gives_once(node)
            ):
                continue
            reason = "an iterator is kept, and may be used more than once"
            raise self.refuse(node, reason, "a list: `list(...)` of it")

    def check_given(self, call: gast.Call) -> None:
        """Raise where the user's function may use an iterator more than once."""
        given = [*call.args, *(k.value for k in call.keywords)]
        for node in given:
            if self.varying.carries(node) and self.gives_once(node):
                self.check_argument(call, node)

    def check_argument(self, call: gast.Call, node: Any) -> None:
        """Raise where the function may use this argument more than once.

        Where the function is not seen here, as a method, types tell later which it is.
        """
        definition = self.called(call)
        place = _place(call, node)
        cls = self.varying.value(call.func)
        if definition is None and _is_users_class(cls):
            definition = _constructor(cls)
            place = place + 1 if isinstance(place, int) else place  # after `self`
        elif definition is None:
            call.iterators = (*getattr(call, "iterators", ()), place)
            return
        if not uses_once(definition, place):
            raise self.refuse(node, USED_AGAIN, "a list: `list(...)` of it")

    def check_handed_on(self, name: str, value: Any) -> None:
        """Raise where what a variable holds is kept under another name, or given on."""
        for call in syntax.walk(self.scope):
            if isinstance(call, gast.Call):
                given = [*call.args, *(k.value for k in call.keywords)]
                for node in given:
                    if syntax.is_name(node, name):
                        self.check_argument(call, node)
        if not _is_taken(self.scope, name):
            reason = f"the iterator `{name}` is kept, and may be used more than once"
            raise self.refuse(value, reason, f"a list: `{name} = list(...)`")


def _body(definition: Any) -> list[Any]:
    """The statements of a function, or of a lambda; none where it is not seen."""
    body: Any = getattr(definition, "body", [])
    return body if isinstance(body, list) else [gast.Return(body)]


def _is_users_class(value: Any) -> bool:
    return isinstance(value, type) and not is_of_library(value)


def _constructor(cls: Any) -> Any:
    """The definition of the `__init__` that a call of a class runs, if it is all."""
    made = cls.__init__
    own = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    if not own or not isinstance(made, FunctionType) or is_of_library(made):
        return None
    try:
        return read_generator(made).node
    except SourceNotFoundError:
        return None


def may_use_again(call: Any) -> bool:
    """Whether what a call gives may be gone through more than once (`note_use`)."""
    used_in = getattr(call, "used_in", None)
    return used_in is not None and not goes_through_once(*used_in)


def gives_iterator(source: FunctionSource) -> bool:
    """Whether the user's function returns what gives its items once."""
    around = {*source.globals, *source.closure}
    for node in own_nodes(source.node.body):
        if isinstance(node, (gast.Yield, gast.YieldFrom)):
            return True
        value = node.value if isinstance(node, gast.Return) else None
        if isinstance(value, gast.GeneratorExp):
            return True
        function = getattr(value, "func", None)
        if isinstance(function, gast.Name) and function.id in LAZY:
            return function.id not in around
    return False


def used_once(body: list[Any], name: str) -> bool:
    """Whether a function's statements go through what the name holds at most once."""
    return not syntax.count_bindings(body, name) and goes_through_once(body, name)


def goes_through_once(body: list[Any], name: str) -> bool:
    """Whether the statements go through what the name holds at most once."""
    if most_reads(body, name) > 1 or syntax.count_bindings(body, name) > 1:
        return False
    for node in syntax.walk(body):
        inside: list[Any] = []
        if isinstance(node, (gast.For, gast.While)):
            inside = node.body if isinstance(node, gast.For) else [node]
        elif isinstance(node, _FUNCTIONS):
            inside = [node]
        if inside and syntax.count_reads(inside, name):
            return False
    return _is_taken(body, name)


def _is_taken(body: list[Any], name: str) -> bool:
    """Whether all that is done with the name is to go through what it holds."""
    taken = 0
    for node in syntax.walk(body):
        places: list[Any] = []
        if isinstance(node, (gast.For, gast.comprehension)):
            places = [node.iter]
        elif isinstance(node, gast.Call):
            places = [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, gast.Starred):
            places = [node.value]
        elif isinstance(node, gast.Compare):
            places = node.comparators
        elif isinstance(node, gast.Assign):
            unpacked = isinstance(node.targets[0], (gast.Tuple, gast.List))
            places = [node.value] if unpacked else []
        elif isinstance(node, gast.YieldFrom):
            places = [node.value]
        taken += sum(syntax.is_name(place, name) for place in places)
    return taken == syntax.count_reads(body, name)


def _place(call: gast.Call, node: Any) -> int | str | None:
    """Which argument it is, by number or by name; None if that is not seen."""
    for keyword in call.keywords:
        if keyword.value is node:
            return keyword.arg
    place = next(k for k, a in enumerate(call.args) if a is node)
    starred = any(isinstance(a, gast.Starred) for a in call.args[:place])
    return None if starred else place


def uses_once(definition: Any, place: int | str | None) -> bool:
    """Whether a function goes through the argument at that place at most once."""
    if definition is None:
        return False
    name = place
    if isinstance(place, int):
        arguments = definition.args
        names = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
        name = names[place] if place < len(names) else None
    return isinstance(name, str) and used_once(_body(definition), name)


__all__ = [
    "GIVEN_AGAIN",
    "USED_AGAIN",
    "UsedOnce",
    "gives_iterator",
    "may_use_again",
    "uses_once",
]
