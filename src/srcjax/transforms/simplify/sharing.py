"""What the results of generated backward functions may share memory with.

    def add_backward(saved, dresult):
        return dresult, dresult

gives one array twice, and the caller's. What comes from `saved` is the user's.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable

import gast
import numpy as np

from srcjax import syntax
from srcjax.frontend.helper_names import HELPERS
from srcjax.transforms.simplify.owned import Owner

#: The memory of the argument `dresult`, of another result, and what is not known.
_SEED, _RESULT, _UNKNOWN = "dresult", "result", "?"


class Sharing:
    """By name of a backward function, the roots of each of its results."""

    def __init__(self, functions: Iterable[gast.FunctionDef]) -> None:
        self.nodes = {f.name: f for f in functions}
        self.found: dict[str, list[set[str]]] = {n: [] for n in self.nodes}
        while True:  # functions that call themselves: what they share only grows
            before = {n: [set(s) for s in found] for n, found in self.found.items()}
            self.found = {n: self.results(f) for n, f in self.nodes.items()}
            if self.found == before:
                return

    def results(self, node: gast.FunctionDef) -> list[set[str]]:
        """For each result: the seed, what is not known, and what other results have."""
        saved, seed = (a.id for a in node.args.args)
        owner = Owner(node, lambda v: False, lambda v: False, self.calls, self.is_known)
        last = node.body[-1]
        value = last.value if isinstance(last, gast.Return) else None
        if isinstance(value, gast.Tuple):
            parts = [owner.roots(e) for e in value.elts]
        else:
            inner = owner.parts(value) if isinstance(value, gast.Call) else None
            parts = inner if inner is not None else [owner.roots(value)]
        own = syntax.names_written(node.body)
        kept = {n.id for s in node.body[:1] for n in _unpacked(s, saved)} | {saved}
        found: list[set[str]] = []
        for k, part in enumerate(parts):
            others = set().union(*(p for j, p in enumerate(parts) if j != k))
            roots = {_SEED} if seed in part else set()
            if any(r in own or "@" in r for r in part & others):
                roots.add(_RESULT)
            if _UNKNOWN in part or part & kept:
                roots.add(_UNKNOWN)
            found.append(roots)
        return found

    def is_known(self, call: gast.Call) -> bool:
        """Whether it is told by name that no function of the user is called."""
        chain = (syntax.dotted(call.func) or "").split(".")
        known = chain[0] in ("", "np") or chain[0] in HELPERS or chain[0] in self.nodes
        if len(chain) == 1:
            return known or hasattr(builtins, chain[0])
        return known or hasattr(np.ndarray, chain[-1])

    def calls(
        self, call: gast.Call, roots: Callable[[gast.expr], set[str]]
    ) -> list[set[str]] | None:
        """The roots of each result of a call; None if the function is another."""
        name = syntax.dotted(call.func) or ""
        if name not in self.nodes or len(call.args) != 2:
            return None
        given: list[set[str]] = []
        for part in self.found[name]:
            mine = {f"{r}@{id(call)}" for r in part - {_UNKNOWN}} | part & {_UNKNOWN}
            if _SEED in part:
                mine |= roots(call.args[1])
            given.append(mine)
        return given


def _unpacked(stmt: gast.stmt, saved: str) -> list[gast.Name]:
    """The names of `x, y = saved`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.value, saved):
        return []
    return [n for n in syntax.walk(stmt.targets[0]) if isinstance(n, gast.Name)]


__all__ = ["Sharing"]
