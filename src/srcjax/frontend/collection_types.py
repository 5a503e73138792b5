"""`deque`, `defaultdict`, `OrderedDict` of differentiated values, as list and dict.

Before:                               After:

    totals = defaultdict(float)           totals = {}
    totals[k] += x                        if k not in totals:
                                              totals[k] = 0.0
                                          totals[k] += x

    window = deque(maxlen=2)              window = []
    window.append(x)                      window.append(x)
                                          if len(window) > 2:
                                              del window[0]

Only for a name that stays in its function and is used in the ways that are known here:
a list or dict that leaves the function would not be what the user made.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import control
from srcjax.frontend.varying import Varying

Refuse = Callable[[gast.AST, str, str], Exception]
_NESTED = (
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
    gast.IfExp,
    gast.BoolOp,
)
#: Functions that look at the items alone.
_LOOKS = frozenset(
    ["len", "list", "tuple", "sum", "min", "max", "sorted", "zip", "enumerate", "any"]
    + ["reversed", "all", "bool", "dict", "iter", "map", "filter", "print", "repr"]
    + ["str"]
)
_GROWING = frozenset(
    ["append", "appendleft", "extend", "extendleft", "rotate", "insert", "clear"]
)
_DEQUE = _GROWING | {"pop", "popleft", "reverse", "count", "index", "remove", "copy"}
_DICT = frozenset(
    ["items", "values", "keys", "get", "pop", "update", "clear", "setdefault", "copy"]
)


_KINDS = (collections.deque, collections.defaultdict, collections.OrderedDict)


@dataclass
class _Kept:
    """A name that holds a deque, a defaultdict or an OrderedDict."""

    #: The function that makes a missing item; None for a deque.
    missing: gast.expr | None = None
    longest: gast.expr | None = None
    ordered: bool = False

    @property
    def kind(self) -> str:
        """What it is called."""
        if self.ordered:
            return "OrderedDict"
        return "deque" if self.missing is None else "defaultdict"


def lower_collections(
    body: list[gast.stmt], names: syntax.Names, varying: Varying, refuse: Refuse
) -> list[gast.stmt]:
    """The body with deques as lists and defaultdicts as dicts, where they vary."""
    kept: dict[str, _Kept] = {}
    for node in syntax.walk(body):
        if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Call):
            continue
        made = varying.value(node.value.func)
        target = node.targets[0]
        if made not in _KINDS:
            continue
        if not isinstance(target, gast.Name) or target.id not in varying.names:
            continue
        if len(node.targets) != 1 or syntax.count_bindings(body, target.id) != 1:
            continue
        known = _described(node.value, made, varying)
        if known is not None:
            kept[target.id] = known
    if not kept:
        return body
    work = _Collections(kept, names, refuse)
    for name in list(kept):
        if kept[name].ordered and not work.is_used_as_dict(name, body):
            del kept[name]
            continue
        work.check_uses(name, body)
    return work.block(body)


def _described(call: gast.Call, made: Any, varying: Varying) -> _Kept | None:
    """What the constructor call says; None if it is not understood."""
    options = {k.arg: k.value for k in call.keywords}
    if made is collections.OrderedDict:
        return _Kept(ordered=True)
    if made is collections.deque:
        if len(call.args) > 2 or options.keys() - {"maxlen"}:
            return None
        longest = options.get("maxlen", call.args[1] if len(call.args) == 2 else None)
        if longest is not None and not syntax.is_atom(longest):
            return None
        if isinstance(longest, gast.Constant) and longest.value is None:
            longest = None
        return _Kept(longest=longest)
    if len(call.args) != 1 or options:
        return None
    factory = call.args[0]
    plain = {float: "0.0", int: "0", list: "[]", dict: "{}"}
    value = varying.value(factory)
    if value in plain:
        return _Kept(missing=syntax.expression(plain[value]))
    if isinstance(factory, gast.Lambda) and not syntax.names_read(factory.body):
        return _Kept(missing=factory.body)
    if isinstance(factory, (gast.Name, gast.Attribute)):
        return _Kept(missing=gast.Call(factory, [], []))
    if isinstance(factory, gast.Lambda) and not any(
        isinstance(n, gast.Call) for n in syntax.walk(factory)
    ):
        return _Kept(missing=factory.body)
    return None


class _Collections:
    """Rewrites one function."""

    def __init__(
        self, kept: dict[str, _Kept], names: syntax.Names, refuse: Refuse
    ) -> None:
        self.kept = kept
        self.names = names
        self.refuse = refuse

    # -- what is known of it ----------------------------------------------------------

    def is_used_as_dict(self, name: str, body: list[gast.stmt]) -> bool:
        """Whether no use would tell it from a list or dict."""
        return next(self.other_uses(name, body), None) is None

    def check_uses(self, name: str, body: list[gast.stmt]) -> None:
        """Raises UnsupportedError for a use that would tell it from a list or dict."""
        kind = self.kept[name].kind
        for node in self.other_uses(name, body):
            plain = "list" if kind == "deque" else "dict"
            raise self.refuse(
                node,
                f"the {kind} `{name}` of differentiated values is used in a way "
                "that is not followed",
                f"a {plain}, or `{plain}({name})` here",
            )

    def other_uses(self, name: str, body: list[gast.stmt]) -> Iterator[Any]:
        """Where it is used in a way that is not known here."""
        kind = self.kept[name].kind
        parents: dict[int, gast.AST] = {}
        for node in syntax.walk(body):
            for child in gast.iter_child_nodes(node):
                parents[id(child)] = node
        for node in syntax.walk(body):
            if not syntax.is_name(node, name) or not isinstance(node.ctx, gast.Load):
                continue
            parent = parents.get(id(node))
            if not self.is_known(node, parent, parents, kind):
                yield node if hasattr(node, "lineno") else (parent or node)

    def is_known(self, node: Any, parent: Any, parents: dict, kind: str) -> bool:
        if isinstance(parent, gast.Subscript):
            if kind == "deque":
                return not isinstance(parent.slice, gast.Slice)
            if kind == "OrderedDict":
                return True
            above = parents.get(id(parent))
            while above is not None and not isinstance(above, gast.stmt):
                nested = isinstance(above, _NESTED)
                if nested and isinstance(parent.ctx, gast.Load):
                    return False
                above = parents.get(id(above))
            return not (
                isinstance(above, gast.While) and isinstance(parent.ctx, gast.Load)
            )
        if isinstance(parent, gast.Attribute):
            methods = _DEQUE if kind == "deque" else _DICT
            called = parents.get(id(parent))
            if not isinstance(called, gast.Call) or called.func is not parent:
                return False
            alone = isinstance(parents.get(id(called)), gast.Expr)
            changes = parent.attr in _GROWING
            return parent.attr in methods and (alone or not changes)
        if isinstance(parent, gast.Call):
            chain = syntax.dotted(parent.func) or ""
            first = chain.split(".")[0]
            return chain in _LOOKS or first in ("np", "numpy", "math")
        if isinstance(parent, gast.Starred):
            return True
        return isinstance(
            parent,
            (
                gast.For,
                gast.comprehension,
                gast.If,
                gast.While,
                gast.UnaryOp,
                gast.BoolOp,
                gast.Compare,
                gast.IfExp,
                gast.Delete,
            ),
        )

    # -- statements -------------------------------------------------------------------

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for stmt in stmts:
            new = self.statement(stmt)
            for each in new:
                for node in syntax.walk(each):
                    if isinstance(node, (gast.stmt, gast.expr)) and not hasattr(
                        node, "lineno"
                    ):
                        gast.copy_location(node, stmt)
            out += new
        return out

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        syntax.rewrite_blocks(stmt, self.block)
        if (
            isinstance(stmt, gast.Assign)
            and syntax.dotted(stmt.targets[0]) in self.kept
        ):
            return [self.made(stmt)]
        if isinstance(stmt, gast.Expr):
            changed = self.changed(stmt)
            if changed is not None:
                return changed
        before = self.missing(stmt)
        for node in syntax.walk(stmt):
            if self.is_method(node, "popleft"):
                node.func.attr = "pop"
                node.args = [syntax.const(0)]
        return [*before, stmt]

    def is_method(self, node: Any, name: str) -> bool:
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr == name
            and syntax.dotted(node.func.value) in self.kept
        )

    def made(self, stmt: gast.Assign) -> gast.stmt:
        """`window = []`, `window = list(xs)[-2:]`, `totals = {}`."""
        call: Any = stmt.value
        value: gast.expr
        known = self.kept[stmt.targets[0].id]
        if known.ordered and (call.args or call.keywords):
            value = gast.Call(syntax.name("dict"), call.args, call.keywords)
            return gast.copy_location(gast.Assign(stmt.targets, value, None), stmt)
        if known.ordered:
            known = _Kept(missing=syntax.const(None))
        if known.missing is not None:
            value = gast.Dict([], [])
        elif not call.args:
            value = gast.List([], syntax.LOAD)
        else:
            value = syntax.call("list", call.args[0])
            if known.longest is not None:
                value = syntax.expression("v[-n:]", v=value, n=known.longest)
        return gast.copy_location(gast.Assign(stmt.targets, value, None), stmt)

    def missing(self, stmt: Any) -> list[gast.stmt]:
        """Items that the statement reads and that are not there yet."""
        before: list[gast.stmt] = []
        run = control(stmt)
        if isinstance(stmt, gast.FunctionDef) or (run and run.repeated):
            return []
        for node in list(syntax.walk(run.head if run else stmt)):
            if not isinstance(node, gast.Subscript):
                continue
            name = syntax.dotted(node.value) or ""
            updated = isinstance(stmt, gast.AugAssign) and node is stmt.target
            if name not in self.kept or self.kept[name].missing is None:
                continue
            if not isinstance(node.ctx, gast.Load) and not updated:
                continue
            if not syntax.is_atom(node.slice):
                key = self.names.fresh("key")
                before.append(syntax.assign(key, node.slice))
                node.slice = syntax.name(key)
            test = syntax.expression("k not in d", k=node.slice, d=syntax.name(name))
            item = gast.Subscript(syntax.name(name), node.slice, None)
            value = syntax.clone(self.kept[name].missing)
            before.append(gast.If(test, [syntax.assign(item, value)], []))
        return before

    def changed(self, stmt: gast.Expr) -> list[gast.stmt] | None:
        """`window.append(x)` and its like as changes of a list."""
        call: Any = stmt.value
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return None
        name = syntax.dotted(call.func.value) or ""
        if name not in self.kept or self.kept[name].kind != "deque":
            return None
        method, longest = call.func.attr, self.kept[name].longest
        base = syntax.name(name)
        if method == "rotate":
            raise self.refuse(
                stmt, "`rotate` of differentiated values", "pop and append"
            )
        if method in ("append", "appendleft"):
            return self.added(base, call.args[0], method == "appendleft", longest)
        if method in ("extend", "extendleft"):
            if method == "extend" and longest is None:
                return None
            item = self.names.fresh("item")
            added = self.added(base, syntax.name(item), method != "extend", longest)
            target = syntax.name(item, store=True)
            return [gast.For(target, call.args[0], added, [], None)]
        if method == "popleft":
            return [gast.Expr(syntax.expression("v.pop(0)", v=base))]
        return None

    def added(
        self, base: gast.Name, value: gast.expr, left: bool, longest: Any
    ) -> list[gast.stmt]:
        text = "b.insert(0, v)" if left else "b.append(v)"
        out: list[gast.stmt] = [gast.Expr(syntax.expression(text, b=base, v=value))]
        if longest is not None:
            test = syntax.expression("len(b) > n", b=base, n=longest)
            last = syntax.expression("b[-1]" if left else "b[0]", b=base)
            last.ctx = gast.Del()
            out.append(gast.If(test, [gast.Delete([last])], []))
        return out
