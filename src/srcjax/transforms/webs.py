"""Give each value a name of its own.

A web is what must share a name: the assignments that reach a common use. Before:

    z = x @ W                 After:   z = x @ W
    z = np.tanh(z)                     z2 = np.tanh(z)

Names that a loop carries or that branches assign stay one name. `simplify.coalesce`
joins webs again where that changes nothing, so that the user's names come back. What a
comprehension binds has a name that no variable around has.
"""

from __future__ import annotations

from collections import Counter

import beniget
import gast

from srcjax import syntax
from srcjax.analysis.flow.control import EXITS, Way, is_compound, runs
from srcjax.frontend.unit import Unit


class _QuietChains(beniget.DefUseChains):
    """beniget's chains; an unbound name is no matter for a print here."""

    def warn(self, msg: str, node: gast.AST) -> None:
        """Say nothing: globals and builtins are resolved elsewhere."""

    def unbound_identifier(self, *_: object) -> None:
        """Say nothing."""


def split_webs(unit: Unit) -> None:
    """Rename the unit's local variables, in place, one name a web."""
    for name, old in renamed_webs(unit.node, unit.names).items():
        take_after(unit, name, old)


def take_after(unit: Unit, name: str, old: str) -> None:
    """What is known of a name is known of the one made for one of its values."""
    for names in (
        unit.temps,
        unit.made,
        unit.adjoints,
        unit.saved,
        unit.tapes,
        unit.parted,
        unit.varying,
    ):
        if old in names:
            names.add(name)
    if old in unit.counts:
        unit.counts[name] = unit.counts[old]
    unit.base_names[name] = unit.base_names.get(old, old)


def renamed_webs(node: gast.FunctionDef, names: syntax.Names) -> dict[str, str]:
    """Rename local variables, in place, one name a web: what new names were before."""
    before = _comprehensions_apart(node, names)
    split = _bound_twice(node) - unsplittable(node)
    if not split:
        return before
    chains = _QuietChains()
    chains.visit(gast.Module([_about(node, split)], []))
    parent: dict[int, int] = {}
    nodes: dict[int, gast.Name] = {}

    def find(key: int) -> int:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    order: list[int] = []
    for sub in syntax.names_in(node):
        if sub.id in split:
            parent[id(sub)] = id(sub)
            nodes[id(sub)] = sub
            order.append(id(sub))
    for sub in list(nodes.values()):
        definition = chains.chains.get(sub)
        if definition is None:
            continue
        for user in definition.users():
            if id(user.node) in parent and nodes[id(user.node)].id == sub.id:
                parent[find(id(user.node))] = find(id(sub))
    _keep_unreached(node, nodes, chains, parent, find)
    parameters = {id(a) for a in _parameters(node)}
    first: dict[str, int] = {}
    for key in [*[k for k in order if k in parameters], *order]:
        first.setdefault(nodes[key].id, find(key))
    renamed: dict[int, str] = {}
    for key in order:
        web, id_ = find(key), nodes[key].id
        if web != first[id_] and web not in renamed:
            renamed[web] = names.fresh(id_)
            before[renamed[web]] = id_
    for key in order:
        if find(key) in renamed:
            nodes[key].id = renamed[find(key)]
    return before


def _comprehensions_apart(
    node: gast.FunctionDef, names: syntax.Names
) -> dict[str, str]:
    """Rename what comprehensions bind where the function has such a variable too."""
    inside = [
        sub for sub in syntax.walk(node.body) if isinstance(sub, syntax.COMPREHENSIONS)
    ]
    if not inside:
        return {}
    bound = [syntax.names_written([g.target for g in c.generators]) for c in inside]
    counts = Counter(n.id for n in syntax.names_in(node) if _is_bound(n))
    own = Counter(
        n.id for c in inside for g in c.generators for n in syntax.names_in(g.target)
    )
    before: dict[str, str] = {}
    for each, mine in zip(inside, bound, strict=True):
        new = {n: names.fresh(n) for n in sorted(mine) if counts[n] > own[n]}
        before |= {fresh: name for name, fresh in new.items()}
        syntax.rename_inside(each, new)
    return before


def name_comprehensions_as_written(
    node: gast.FunctionDef, base_names: dict[str, str]
) -> None:
    """Give what comprehensions bind the user's names again, in the finished text."""
    for each in syntax.walk(node.body):
        if isinstance(each, syntax.COMPREHENSIONS):
            bound = syntax.names_written([g.target for g in each.generators])
            taken = syntax.all_names(each)
            old = {n: base_names[n] for n in sorted(bound) if n in base_names}
            if len({*old.values()}) == len(old) and taken.isdisjoint(old.values()):
                syntax.rename_inside(each, old)


def _is_bound(name: gast.Name) -> bool:
    return not isinstance(name.ctx, gast.Load)


def _bound_twice(node: gast.FunctionDef) -> set[str]:
    """The names that are bound at several places: all others are one web each."""
    bound = (n.id for n in syntax.names_in(node) if _is_bound(n))
    return {name for name, count in Counter(bound).items() if count > 1}


def _about(node: gast.FunctionDef, names: set[str]) -> gast.FunctionDef:
    """The function with those statements alone that read or bind one of the names.

    What each branch may have bound is asked of all names that there are before it: of
    the most names in a long function it need not be asked at all.
    """

    def block(stmts: list[gast.stmt]) -> list[gast.stmt]:
        kept = []
        for stmt in stmts:
            if is_compound(stmt):
                stmt = syntax.rebuilt(stmt, block)
                inner = [s for part in syntax.inner_blocks(stmt) for s in part]
                needed = not all(isinstance(s, gast.Pass) for s in inner)
            else:
                needed = isinstance(stmt, EXITS)
            if needed or not names.isdisjoint(syntax.all_names(syntax.head(stmt))):
                kept.append(stmt)
        return kept

    about = syntax.clone_shallow(node)
    about.body = block(node.body) or [gast.Pass()]
    return about


def _keep_unreached(node, nodes, chains, parent, find) -> None:
    """Loads that no definition reaches stay with their name's other loads."""
    reached: set[int] = set()
    for definition in chains.chains.values():
        reached.update(id(u.node) for u in definition.users())
    lone: dict[str, int] = {}
    for key, sub in nodes.items():
        if isinstance(sub.ctx, gast.Load) and key not in reached:
            other = lone.setdefault(sub.id, key)
            parent[find(key)] = find(other)


def _parameters(node: gast.FunctionDef) -> list[gast.Name]:
    arguments = node.args
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def unsplittable(node: gast.FunctionDef) -> set[str]:
    """Names that are bound otherwise than by a Name, or used in an inner scope."""
    found: set[str] = set()
    bound = {n.id for n in _parameters(node)}
    everywhere: Counter[str] | None = None
    for sub in syntax.walk(node.body):
        if isinstance(sub, (gast.FunctionDef, gast.ClassDef, gast.Lambda)):
            found |= syntax.all_names(sub)
        elif isinstance(sub, gast.Assign) and isinstance(sub.value, gast.GeneratorExp):
            found |= syntax.names_read(sub.value)  # when it is asked for its items
        elif isinstance(
            sub, (gast.Global, gast.Nonlocal, gast.alias, gast.ExceptHandler)
        ):
            found |= syntax.names_written(sub) | set(getattr(sub, "names", ()))
        elif runs(sub, Way.ATTEMPT):
            # An exception may leave the body anywhere: its names keep their values.
            if everywhere is None:
                everywhere = syntax.read_counts(node)
            inside = syntax.read_counts(sub)
            found |= {
                name
                for name in syntax.names_written(sub)
                if everywhere[name] > inside[name]
            }
        elif isinstance(sub, gast.comprehension):
            found |= syntax.names_written(sub.target)
        elif isinstance(sub, gast.Delete):
            found |= syntax.names_written(sub)
        elif isinstance(sub, gast.Name) and isinstance(sub.ctx, gast.Store):
            bound.add(sub.id)
    free = {sub.id for sub in syntax.names_in(node.body) if sub.id not in bound}
    return found | free
