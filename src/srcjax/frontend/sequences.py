"""Calls that order, pair or pick the items of a sequence, as plain loops.

No derivative flows through an order: `sorted(xs, key=f)` is

    order = sorted(range(len(items)), key=lambda i: f(items[i]))
    values = [items[i] for i in order]

with `items = list(xs)`; the first line is left as it stands. What an iterator would
give (`zip`, `map`, a generator ...) is put in a list at once, which is the same as long
as it is used once and nothing that it reads is changed before.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.iterators import (
    acted_on_between,
    asked_for_next,
    changed_meanwhile,
    most_reads,
)
from srcjax.frontend.lift import free_names, read_names
from srcjax.frontend.unit import parameter_names
from srcjax.frontend.used_once import UsedOnce

_VIEWS = ("values", "items", "keys")
_COMPREHENSIONS = (gast.GeneratorExp, gast.ListComp)


class SequenceCalls(UsedOnce):
    """Lowers `sorted`, `max(..., key=)`, `zip(*rows)`, `dict(zip(...))`."""

    def held_iterators(self, node: gast.Call) -> list[gast.expr]:
        """The arguments; iterators that another iterator uses up are lists."""
        if not self.is_lazy(node):
            return list(node.args)
        return [
            _at(syntax.call("list", a), a)
            if self.is_lazy(a) and self.varying.carries(a)
            else a
            for a in node.args
        ]

    def is_view(self, node: gast.expr) -> bool:
        """`d.items()`, `d.values()`, `d.keys()`."""
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr in _VIEWS
            and not node.args
        )

    def held_items(self, node: gast.expr) -> gast.expr:
        """A name of a list of what the expression gives."""
        if isinstance(node, _COMPREHENSIONS):
            return self.atom(gast.ListComp(node.elt, node.generators))
        if isinstance(node, (gast.List, gast.Tuple)):
            return self.atom(node)
        return self.atom(_at(syntax.call("list", node), node))

    def by_index(self, items: gast.expr, key: Any) -> gast.Lambda:
        """`lambda i: key(items[i])`: what an order goes by."""
        index = self.names.fresh("i")
        item = gast.Subscript(items, syntax.name(index), syntax.LOAD)
        value: gast.expr = item
        if isinstance(key, gast.Lambda) and len(key.args.args) == 1:
            value = syntax.substitute(key.body, {key.args.args[0].id: item})
        elif key is not None and not (
            isinstance(key, gast.Constant) and key.value is None
        ):
            if not isinstance(key, (gast.Name, gast.Attribute)):
                key = self.temp(key, "key")
            value = gast.Call(key, [item], [])
        parameter = gast.Name(index, gast.Param(), None, None)
        arguments = gast.arguments([parameter], [], None, [], [], None, [])
        return gast.Lambda(arguments, value)

    def indices(self, items: gast.expr) -> gast.expr:
        return syntax.expression("range(len(v))", v=items)

    def sorted_call(self, node: gast.Call) -> gast.expr:
        """`sorted(xs, key=f, reverse=r)`."""
        options = {k.arg: k.value for k in node.keywords}
        items = self.held_items(node.args[0])
        order = self.order_of(items, options)
        index = "j" if syntax.is_name(items, "k") else "k"  # it is renamed apart
        item = gast.Subscript(items, syntax.name(index), syntax.LOAD)
        target = syntax.name(index, store=True)
        over = gast.comprehension(target, order, [], 0)
        return self.operation(_at(gast.ListComp(item, [over]), node))

    def order_of(self, items: gast.expr, options: dict[Any, gast.expr]) -> gast.Name:
        """The positions of the items in their order."""
        key = self.by_index(items, options.get("key"))
        call = syntax.call("sorted", self.indices(items), key=key)
        if "reverse" in options:
            call.keywords.append(gast.keyword("reverse", options["reverse"]))
        return self.temp(_at(call, self.at), "order")

    def picked_by_key(self, node: gast.Call) -> gast.expr | None:
        """`max(xs, key=f)`, `max(xs, default=v)`, `min(zip(a, b))`."""
        options = {k.arg: k.value for k in node.keywords}
        if any(isinstance(a, gast.Starred) for a in node.args):
            return None
        source = node.args[0]
        if len(node.args) > 1:
            if "key" not in options:
                return None
            source = gast.List(list(node.args), syntax.LOAD)
        pairs = (
            self.is_lazy(source) and not isinstance(source, gast.GeneratorExp)
        ) or (
            self.is_view(source)
            or isinstance(source, _COMPREHENSIONS)
            and isinstance(source.elt, gast.Tuple)
        )
        if not options and not pairs:
            return None
        items = self.held_items(_at(source, node))
        key = self.by_index(items, options.get("key"))
        pick = _at(gast.Call(node.func, [self.indices(items)], []), node)
        pick.keywords.append(gast.keyword("key", key))
        best = gast.Subscript(items, pick, syntax.LOAD)
        if "default" not in options:
            index = self.temp(pick, "best")
            return gast.Subscript(items, index, syntax.LOAD)
        some = syntax.expression("len(v) > 0", v=items)
        return self.operation(_at(gast.IfExp(some, best, options["default"]), node))

    def dict_call(self, node: gast.Call) -> gast.expr | None:
        """`dict(zip(keys, values))` as a comprehension, `dict([("a", x)])` as shown.

        `dict(a=x)` is shown too: `{"a": x}`.
        """
        if node.keywords and not node.args:
            keys = [
                None if k.arg is None else syntax.const(k.arg) for k in node.keywords
            ]
            shown = gast.Dict(keys, [k.value for k in node.keywords])
            return self.operation(_at(shown, node))
        if len(node.args) != 1 or node.keywords:
            return None
        source = node.args[0]
        if isinstance(source, _COMPREHENSIONS):
            pair = source.elt
            if isinstance(pair, gast.Tuple) and len(pair.elts) == 2:
                made = gast.DictComp(*pair.elts, source.generators)
                return self.operation(_at(made, node))
        elif _is_pairs(source):
            pairs = [e.elts for e in source.elts]
            shown = gast.Dict([k for k, _ in pairs], [v for _, v in pairs])
            return self.operation(_at(shown, node))
        elif (shown := self.zipped(source)) is not None:
            return self.operation(_at(shown, node))
        elif not self.is_lazy(source) and not self.is_view(source):
            return None
        key, value = self.names.fresh("key"), self.names.fresh("value")
        target = gast.Tuple(
            [syntax.name(key, store=True), syntax.name(value, store=True)], syntax.STORE
        )
        over = gast.comprehension(target, source, [], 0)
        made = gast.DictComp(syntax.name(key), syntax.name(value), [over])
        return self.operation(_at(made, node))

    def ordered_call(self, node: gast.Call) -> gast.expr | None:
        """`OrderedDict([("a", x), ("b", y)])` as `OrderedDict(a=x, b=y)`."""
        if len(node.args) != 1:
            return None
        held = self.dict_call(_at(gast.Call(syntax.name("dict"), node.args, []), node))
        if held is None:
            return None
        items = self.temp(held, "items")
        return self.operation(_at(gast.Call(node.func, [items], node.keywords), node))

    def zipped(self, source: Any) -> gast.Dict | None:
        """`{"a": x, "b": y}` for the pairs of `zip("ab", [x, y])`."""
        if not self.varying.is_builtin(getattr(source, "func", source), "zip"):
            return None
        if len(source.args) != 2 or any(k.arg != "strict" for k in source.keywords):
            return None
        keys, values = _as_row(source.args[0]), source.args[1]
        if keys is None or not isinstance(values, (gast.List, gast.Tuple)):
            return None
        if any(isinstance(e, gast.Starred) for e in values.elts):
            return None
        each = [e.value for e in keys.elts]
        if len(set(each)) != len(each) or len(each) != len(values.elts):
            return None
        return gast.Dict(list(keys.elts), list(values.elts))

    def from_keys(self, node: Any) -> gast.expr | None:
        """`dict.fromkeys(keys, v)` as `{key: v for key in keys}`; None for other calls.

        All keys have the same `v`.
        """
        if not isinstance(node, gast.Call) or node.keywords:
            return None
        if self.varying.value(node.func) != dict.fromkeys or len(node.args) > 2:
            return None
        keys, *given = node.args
        if any(isinstance(a, gast.Starred) for a in node.args):
            return None
        row = _as_row(keys)
        shown = row is not None
        keys = keys if row is None else row
        if given and not syntax.is_atom(keys) and not shown:
            keys = self.temp(self.operation(keys), "keys")  # they come first
        value = self.atom(given[0]) if given else syntax.const(None)
        if shown:
            each = {e.value: e for e in keys.elts}
            made: gast.expr = gast.Dict(list(each.values()), [value] * len(each))
        else:
            key = self.names.fresh("key")
            over = gast.comprehension(syntax.name(key, store=True), keys, [], 0)
            made = gast.DictComp(syntax.name(key), value, [over])
        return _at(made, node)

    # -- columns ----------------------------------------------------------------------

    def rows_of(self, node: Any) -> gast.expr | None:
        """The rows of `zip(*rows)`, also inside `list(...)`; None for anything else."""
        if not isinstance(node, gast.Call) or not node.args:
            return None
        if self.varying.is_builtin(node.func, "list", "tuple"):
            return self.rows_of(node.args[0]) if len(node.args) == 1 else None
        if not self.varying.is_builtin(node.func, "zip") or len(node.args) != 1:
            return None
        starred = node.args[0]
        return starred.value if isinstance(starred, gast.Starred) else None

    def column(self, rows: gast.expr, index: gast.expr) -> gast.expr:
        """`tuple([row[index] for row in rows])`."""
        row = self.names.fresh("row")
        item = gast.Subscript(syntax.name(row), index, syntax.LOAD)
        over = gast.comprehension(syntax.name(row, store=True), rows, [], 0)
        values = _at(gast.ListComp(item, [over]), self.at)
        return _at(syntax.call("tuple", values), self.at)

    def columns(self, node: gast.Call) -> gast.expr:
        """`list(zip(*rows))`: a list of columns, as many as the shortest row has."""
        rows = self.held_items(self.rows_of(node))
        index = self.names.fresh("j")
        over = syntax.expression(
            "range(min((len(row) for row in rows), default=0))", rows=rows
        )
        target = gast.comprehension(syntax.name(index, store=True), over, [], 0)
        column = self.column(rows, syntax.name(index))
        return self.operation(_at(gast.ListComp(column, [target]), node))

    # -- iterators kept in a variable -------------------------------------------------

    def kept_iterator(self, name: str, value: Any) -> gast.expr:
        """The list that stands for an iterator which a variable holds."""
        body = self.scope
        reason = None
        if most_reads(body, name) > 1 or syntax.count_bindings(body, name) != 1:
            reason = f"the iterator `{name}` may be used more than once"
        for loop in syntax.walk(body):
            if isinstance(loop, (gast.For, gast.While)) and reason is None:
                inside = loop.body if isinstance(loop, gast.For) else [loop]
                used = syntax.count_reads(inside, name)
                if used and name not in syntax.names_written(loop.body):
                    reason = f"the iterator `{name}` is made outside of this loop"
        given = parameter_names(self.source.node.args)
        generator = self.generator_of(value)
        inside = set() if generator is None else free_names(generator)
        changed = changed_meanwhile(value, body, self.varying, given, inside)
        changed |= {
            n
            for n in acted_on_between(name, value, body)
            if not isinstance(self.varying.value(syntax.name(n)), ModuleType)
        }
        if changed:
            shown = sorted(changed)[0]
            reason = f"`{shown}` may change before the iterator `{name}` is used"
        if reason is not None:
            raise self.refuse(value, reason, f"a list: `{name} = list(...)`")
        self.check_handed_on(name, value)
        if asked_for_next(body, name, self.varying):
            raise self.refuse(
                value,
                f"`next` of the iterator `{name}`, which is not followed",
                "a loop",
            )
        plain = isinstance(value, gast.Call) and len(value.args) == 1
        if plain and self.varying.is_builtin(value.func, "iter"):
            value = value.args[0]
        return _at(syntax.call("list", value), value)

    def check_bound_once(self, value: gast.GeneratorExp) -> None:
        """Raise where a generator reads a name that may hold something else by then."""
        late = [value.elt, *(g.ifs for g in value.generators), value.generators[1:]]
        given = parameter_names(self.source.node.args)
        for n in sorted(read_names(late) - syntax.names_written(value)):
            if syntax.count_bindings(self.scope, n) + (n in given) > 1:
                reason = f"`{n}` may change before the iterator that reads it is used"
                raise self.refuse(value, reason, "a list: `list(...)` of it")

    def groups(self, node: Any) -> gast.expr | None:
        """`zip(*[iter(xs)] * 2)` as `zip(xs[0::2], xs[1::2])`; None for anything else.

        The one iterator gives its items to the two by turns.
        """
        if len(node.args) != 1 or node.keywords:
            return None
        starred = node.args[0]
        if self.varying.is_builtin(node.func, "list", "tuple"):
            given = self.groups(starred) if isinstance(starred, gast.Call) else None
            return given and _at(gast.Call(node.func, [given], []), node)
        rows = starred.value if isinstance(starred, gast.Starred) else None
        if not isinstance(rows, gast.BinOp) or not isinstance(rows.op, gast.Mult):
            return None
        held, count = rows.left, getattr(rows.right, "value", None)
        if not isinstance(held, (gast.List, gast.Tuple)) or not isinstance(count, int):
            return None
        made = held.elts[0] if len(held.elts) == 1 else None
        if not self.varying.is_builtin(node.func, "zip") or count < 1:
            return None
        if not isinstance(made, gast.Call) or len(made.args) != 1:
            return None
        if not self.varying.is_builtin(made.func, "iter"):
            return None
        items = self.held_items(made.args[0])
        parts = [
            syntax.expression(f"v[{k}::{count}]", v=syntax.clone(items))
            for k in range(count)
        ]
        return _at(gast.Call(node.func, parts, []), node)


def _at(new: Any, old: Any) -> Any:
    return gast.copy_location(new, old) if hasattr(old, "lineno") else new


def _is_pairs(source: Any) -> bool:
    """Whether the expression shows a list or tuple of pairs."""
    return isinstance(source, (gast.List, gast.Tuple)) and all(
        isinstance(e, (gast.List, gast.Tuple))
        and len(e.elts) == 2
        and not any(isinstance(part, gast.Starred) for part in e.elts)
        for e in source.elts
    )


def _as_row(keys: Any) -> gast.List | gast.Tuple | None:
    """A display of constants; those of a text are its letters. None for the rest."""
    if isinstance(keys, gast.Constant) and isinstance(keys.value, str):
        return gast.List([syntax.const(c) for c in keys.value], syntax.LOAD)
    if isinstance(keys, (gast.List, gast.Tuple)) and all(
        isinstance(e, gast.Constant) for e in keys.elts
    ):
        return keys
    return None
