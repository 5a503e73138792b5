"""The trips of a loop that is written out, in which functions are made.

Before:                               After:

    for k in range(2):                    k = 0
        default = k                       default_1 = k
        def g(v, k=default):              def g_1(v, k=default_1):
            return v * x[k]                   return v * x[k]
        fs.append(g)                      fs.append(g_1)
                                          k = 1
                                          default_2 = k
                                          ...

Each trip makes a function of its own. What it takes from around, it takes when it is
called: of the names of the function that has the loop there is one for all trips, as in
Python. Those of functions that stand in place of their calls are others in each.
"""

from __future__ import annotations

from collections import Counter

import gast

from srcjax import syntax
from srcjax.frontend.lift import free_names
from srcjax.frontend.unit import Unit


def names_of_one_trip(unit: Unit, loop: gast.For) -> set[str] | None:
    """The names that each trip of a loop over a range has for itself.

    None if functions made in it would share what they must not.
    """
    made = [n for n in syntax.walk(loop.body) if isinstance(n, gast.FunctionDef)]
    if not made:
        return set()
    inside, everywhere = _occurrences(loop.body), _occurrences(unit.node.body)
    bound = syntax.names_written(loop.body) | {d.name for d in made}
    functions = {d.name for d in made}
    given = syntax.all_names(unit.source.node) - unit.temps - functions
    own = {name for name in bound - given if inside[name] == everywhere[name]}
    taken: set[str] = set().union(*map(free_names, made))
    shares = any(isinstance(n, gast.Nonlocal) for n in syntax.walk(made))
    shares = shares or not functions <= own or not taken & bound <= own | given
    index = loop.target.id
    if index not in taken | bound and _occurrences([loop])[index] == everywhere[index]:
        own.add(index)
    return None if shares else own


def one_trip(unit: Unit, loop: gast.For, number: int, own: set[str]) -> list[gast.stmt]:
    """A copy of the body of a loop over a range for one of its trips."""
    names = {name: unit.names.fresh(name) for name in sorted(own)}
    bind = syntax.assign(loop.target.id, syntax.const(number))
    copied: list[gast.stmt] = [bind, *syntax.clone(loop.body)]
    made = [n for n in syntax.walk(copied) if isinstance(n, gast.FunctionDef)]
    if loop.target.id in own and loop.target.id not in syntax.all_names(made):
        known = {loop.target.id: syntax.const(number)}
        copied[1:] = [syntax.substitute(stmt, known) for stmt in copied[1:]]
    for name, fresh in names.items():
        if name in unit.temps:
            unit.temps.add(fresh)
        if name in unit.varying:
            unit.varying.add(fresh)
    syntax.rename(copied, names)
    return copied


def _occurrences(body: list[gast.stmt]) -> Counter[str]:
    names, bound = syntax.occurrences(body)
    return Counter([*(n.id for n in names), *bound])


__all__ = ["names_of_one_trip", "one_trip"]
