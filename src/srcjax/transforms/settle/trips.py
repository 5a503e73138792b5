"""The trips of a loop that is written out.

In a loop that is left by `break`, the trips after it are in the other branch:

    for f in [g, h]:                      y = g(x)
        y = f(x)                          if y <= 0:
        if y > 0:                             y = h(x)
            break

Where functions are made in it, each trip makes one of its own.

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


def ends_plainly(body: list[gast.stmt]) -> bool:
    """Whether trips are left by `break` alone, at the end of one branch of an `if`."""
    for stmt in body[:-1]:
        if isinstance(stmt, (gast.Break, gast.Continue)):
            return False
    for stmt in body:
        if isinstance(stmt, gast.If):
            branches = stmt.body, stmt.orelse
            left = sum(map(_is_left, branches))
            if leaves_early([stmt]) and not (
                left == 1 and all(map(ends_plainly, branches))
            ):
                return False
        elif not isinstance(stmt, gast.Break) and leaves_early([stmt]):
            return False
    return True


def _is_left(block: list[gast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], gast.Break)


def leaves_early(block: list[gast.stmt]) -> bool:
    """Whether a `break` or `continue` is in it."""
    return any(isinstance(n, (gast.Break, gast.Continue)) for n in syntax.walk(block))


def in_a_row(trips: list[list[gast.stmt]]) -> list[gast.stmt]:
    """The trips of a loop one after the other, up to a `break` (`ends_plainly`)."""
    rest: list[gast.stmt] = []
    for trip in reversed(trips):
        rest = _followed(trip, rest)
    return rest


def _followed(block: list[gast.stmt], rest: list[gast.stmt]) -> list[gast.stmt]:
    """The statements, then others where no `break` is met."""
    for k, stmt in enumerate(block):
        if isinstance(stmt, gast.Break):
            return block[:k]
        if isinstance(stmt, gast.If) and leaves_early([stmt]):
            after = _followed(block[k + 1 :], rest)
            if _is_left(stmt.body):
                stmt.body, stmt.orelse = stmt.body[:-1], _followed(stmt.orelse, after)
            else:
                stmt.body, stmt.orelse = _followed(stmt.body, after), stmt.orelse[:-1]
            stmt.body = stmt.body or [gast.Pass()]
            return block[: k + 1]
    return [*block, *rest]


def _occurrences(body: list[gast.stmt]) -> Counter[str]:
    names, bound = syntax.occurrences(body)
    return Counter([*(n.id for n in names), *bound])


__all__ = ["ends_plainly", "in_a_row", "leaves_early", "names_of_one_trip", "one_trip"]
