"""Items of objects and of generators that types tell of: methods, `__iter__`.

Before:                               After:

    steps = walk.steps(3)                 def each(item):
    for v in steps:                           nonlocal v, total
        total = total + v                     v = item
                                              total = total + v
                                          (the body of `Walk.steps`, with `each(v)`
                                           in place of `yield v`)

This is the order in which Python executes them. Loops over generator functions that are
known by their names are lowered before (`frontend.generators`).

    for p in path:                        items = path.__iter__()
        total = total + p                 for p in items:
                                              total = total + p
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcjax import syntax
from srcjax.analysis.binding import BoundTo
from srcjax.analysis.flow.control import is_compound
from srcjax.analysis.foreign import own_method
from srcjax.analysis.types import Array, List, Object, Tuple, is_iterator
from srcjax.frontend.generators import is_eager, loops_for_yield_from, plain_yields
from srcjax.frontend.lift import own_nodes
from srcjax.frontend.read import LIFTED, apart, read_generator
from srcjax.ops.record import Op
from srcjax.transforms.settle.base import SettlingBase

#: What takes all items of an iterator at once.
_TAKE_ALL = ("list", "tuple", "sum", "sorted", "max", "min", "set")
#: The functions that hand the items of generator functions on; None where none can.
_HANDING: WeakKeyDictionary[FunctionType, FunctionType | None] = WeakKeyDictionary()


@dataclass
class Each:
    """What is done before all items, for each of them, and after them."""

    before: list[gast.stmt]
    body: list[gast.stmt]
    after: list[gast.stmt]


class YieldSettling(SettlingBase):
    """Rewrites what takes items from objects, and from generators among methods."""

    def with_items_asked_for(self, stmt: gast.stmt) -> list[gast.stmt] | None:
        """`for p in path`, `list(path)`, `a, b = path` with `path.__iter__()`."""
        for holder, key in self.places_of_items(stmt):
            owner = holder[key]
            method = self.iter_method(stmt, owner)
            if method is None:
                continue
            listed = self.is_zipped(stmt) and inspect.isgeneratorfunction(method)
            if listed and not self.may_be_taken_before(stmt, method):
                continue
            items = self.fresh(f"{owner.id}_items")
            asked = gast.Attribute(syntax.clone(owner), "__iter__", syntax.LOAD)
            call = gast.copy_location(gast.Call(asked, [], []), owner)
            out = [syntax.assign(items, call)]
            if listed:  # of several that are gone through together
                before, items = items, self.fresh(f"{owner.id}_items")
                out += [syntax.assign(items, syntax.call("list", syntax.name(before)))]
            holder[key] = gast.copy_location(syntax.name(items), owner)
            self.changed = True
            return [*out, stmt]
        return None

    def places_of_items(self, stmt: gast.stmt) -> list[tuple[Any, Any]]:
        """Where in its tree a statement has that of which it takes the items."""
        places: list[tuple[Any, Any]] = []
        taken = getattr(stmt, "iter" if isinstance(stmt, gast.For) else "value", None)
        if isinstance(stmt, gast.For):
            places.append((vars(stmt), "iter"))
        elif isinstance(stmt, gast.Assign) and _unpacks(stmt):
            places.append((vars(stmt), "value"))
        if isinstance(taken, gast.Call) and self.is_builtin(
            taken.func, *_TAKE_ALL, "enumerate", "zip"
        ):
            places += [(taken.args, k) for k in range(len(taken.args))]
        return places

    def iter_method(self, stmt: gast.stmt, node: gast.expr) -> FunctionType | None:
        """`__iter__` of an object, if that gives its items anew each time."""
        t: Any = self.atom_type(stmt, node)
        if not isinstance(t, Object) or hasattr(t.cls, "__next__"):
            return None
        method: FunctionType | None = own_method(t.cls, "__iter__")
        return method

    def is_zipped(self, stmt: gast.stmt) -> bool:
        """Whether a loop goes through several things together."""
        over = getattr(stmt, "iter", None)
        return isinstance(over, gast.Call) and self.is_builtin(over.func, "zip")

    def may_be_taken_before(self, loop: Any, method: FunctionType) -> bool:
        """Whether the items of an object may be listed before a loop begins."""
        if inspect.isgeneratorfunction(method) and not is_eager(
            read_generator(method).node
        ):
            return False
        for node in syntax.walk(loop.body):
            if isinstance(node, gast.Expr) and self.puts_aside(node):
                continue
            if isinstance(node, (gast.AugAssign, gast.Expr)):
                return False
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(
                node.ctx, gast.Load
            ):
                return False
            if isinstance(node, gast.Call):
                found = self.facts.callees.get(id(node), [None])
                plain = (isinstance(c, Op) or c == "list.append" for c in found)
                if not all(plain):
                    return False
        return True

    def puts_aside(self, stmt: gast.Expr) -> bool:
        """Whether it puts a value into the list that a comprehension makes."""
        call = stmt.value
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return False
        made = getattr(call.func.value, "id", "")
        return made in self.unit.temps and self.facts.callees.get(id(call)) == [
            "list.append"
        ]

    def of_an_iterator(self, stmt: gast.stmt) -> bool:
        """Let `items = iter(xs)` be `xs`, in place, where the items are taken once."""
        value = getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Call):
            return False
        target = stmt.targets[0]
        if not isinstance(target, gast.Name) or len(value.args) != 1:
            return False
        held = self.atom_type(stmt, value.args[0])
        plain = isinstance(held, (Array, List, Tuple)) and not is_iterator(held)
        if not plain or not self.is_builtin(value.func, "iter"):
            return False
        if not self.is_taken_once(stmt, target.id):
            return False
        stmt.value = value.args[0]
        return True

    def is_taken_once(self, made: gast.stmt, name: str) -> bool:
        """Whether all that is done with an iterator is to take its items, once.

        In another round of a loop, or of a function, it would have none left.
        """
        body = self.unit.node.body
        around = _around(made, body)
        while True:
            if syntax.count_bindings(body, name) != 1:
                return False
            users = [
                stmt
                for stmt in syntax.all_statements(body)
                if name in syntax.names_read(_own_part(stmt))
            ]
            once = len(users) == 1 and syntax.count_reads(body, name) == 1
            if not once or _around(users[0], body) != around:
                return False
            user = users[0]
            value = getattr(user, "iter", getattr(user, "value", None))
            if isinstance(value, gast.Call) and self.is_builtin(
                value.func, *_TAKE_ALL, "enumerate", "zip"
            ):
                lazy = self.is_builtin(value.func, "enumerate", "zip")
                return isinstance(user, gast.For) or not lazy
            if not syntax.is_name(value, name):
                return False
            if isinstance(user, gast.For) or _unpacks(user):
                return True
            target = user.targets[0] if isinstance(user, gast.Assign) else None
            if not isinstance(target, gast.Name):
                return False
            name = target.id

    def handed(self, stmts: list[gast.stmt], at: int) -> list[gast.stmt] | None:
        """What stands for a generator that is made, and for the statement behind it,
        which takes its items.
        """
        stmt = stmts[at]
        following = stmts[at + 1] if at + 1 < len(stmts) else None
        function = self.generator_called(stmt)
        if function is None or following is None:
            return None
        call: Any = stmt.value
        name = stmt.targets[0].id
        each, item = self.fresh("each", varying=False), self.fresh("item")
        handing = items_handed(function)
        taken = self.body_for_each(following, name, item) if handing else None
        if taken is None or handing is None:
            return None
        if isinstance(following, gast.For):  # there may be generators in it
            following.body = self.block(following.body)
            taken = self.body_for_each(following, name, item) or taken
        body = taken.body
        written = syntax.names_written(body)
        if written:
            body.insert(0, gast.Nonlocal(sorted(written)))
        body.append(gast.Return(gast.Constant(None, None)))
        parameters = gast.arguments(
            [gast.Name(item, gast.Param(), None, None)], [], None, [], [], None, []
        )
        definition = gast.FunctionDef(each, parameters, body, [], None, None, [])
        source = LIFTED[handing]
        self.program.unit(handing, syntax.all_names(source.node.args))
        owner = [call.func.value] if isinstance(call.func, gast.Attribute) else []
        known = self.inliner.constant(handing, function.__name__)
        run = gast.Call(
            syntax.name(known), [syntax.name(each), *owner, *call.args], call.keywords
        )
        gast.copy_location(run, call)
        run.user_line = getattr(stmt, "user_line", None)
        pasted = self.inliner.expand(run, handing, None)
        if pasted is None:
            return None
        self.changed = True
        out = [*taken.before, definition, *pasted, *taken.after]
        for made in syntax.all_statements(out):
            if getattr(made, "lineno", None) is None:
                gast.copy_location(made, stmt)
            if getattr(made, "user_line", None) is None:
                made.user_line = getattr(following, "user_line", None)
        return out

    def generator_called(self, stmt: gast.stmt) -> FunctionType | None:
        """The generator function, of which a statement makes a generator."""
        if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
            return None
        if not isinstance(stmt.targets[0], gast.Name):
            return None
        found = self.facts.callees.get(id(stmt.value), [])
        callee = found[0] if len(found) == 1 else None
        function: Any = callee.function if isinstance(callee, BoundTo) else callee
        if not inspect.isgeneratorfunction(function):
            return None
        bound = isinstance(callee, BoundTo) and not callee.itself
        plain = bound == isinstance(stmt.value.func, gast.Attribute)
        once = syntax.count_reads(self.unit.node, stmt.targets[0].id) == 1
        starred = any(isinstance(a, gast.Starred) for a in stmt.value.args)
        return function if plain and once and not starred else None

    def body_for_each(self, stmt: gast.stmt, name: str, item: str) -> Each | None:
        """What the statement that takes the items does with each of them."""
        if isinstance(stmt, gast.For):
            return self.of_loop(stmt, name, item)
        call, items = getattr(stmt, "value", None), self.fresh("items")
        if isinstance(call, gast.Call) and self.is_builtin(call.func, *_TAKE_ALL):
            if len(call.args) != 1 or not syntax.is_name(call.args[0], name):
                return None
            call.args[0] = syntax.name(items)
        elif _unpacks(stmt) and syntax.is_name(call, name):
            vars(stmt)["value"] = syntax.name(items)
        else:
            return None
        text = "xs.append(v)"
        put = syntax.expression(text, xs=syntax.name(items), v=syntax.name(item))
        empty = syntax.assign(items, gast.List([], syntax.LOAD))
        return Each([empty], [gast.Expr(put)], [stmt])

    def of_loop(self, loop: gast.For, name: str, item: str) -> Each | None:
        """The body of a loop over the items, counted or not."""
        body = None if loop.orelse else _ended_by_return(loop.body)
        if body is None:
            return None
        if syntax.is_name(loop.iter, name):
            return Each([], [_bind(loop.target, item), *body], [])
        over = loop.iter
        counted = isinstance(over, gast.Call) and self.is_builtin(
            over.func, "enumerate"
        )
        if not counted or len(over.args) != 1 or over.keywords:
            return None
        if not syntax.is_name(over.args[0], name) or not _unpacks(loop):
            return None
        number = self.fresh("count")
        index, target = loop.target.elts
        binds = [
            _bind(index, number),
            _bind(target, item),
            *syntax.statements(f"{number} = {number} + 1"),
        ]
        return Each([syntax.assign(number, syntax.const(0))], [*binds, *body], [])


def _bind(target: gast.expr, name: str) -> gast.Assign:
    return gast.Assign([syntax.clone(target)], syntax.name(name), None)


def _unpacks(stmt: gast.stmt) -> bool:
    """Whether it binds several names to the parts of a value."""
    targets = getattr(stmt, "targets", [getattr(stmt, "target", None)])
    return isinstance(targets[0], (gast.Tuple, gast.List))


def _around(stmt: gast.stmt, body: list[gast.stmt]) -> set[int]:
    """The loops and functions in which a statement stands."""
    again = (gast.For, gast.While, gast.FunctionDef)
    return {
        id(outer)
        for outer in syntax.all_statements(body)
        if isinstance(outer, again) and outer is not stmt
        if any(inner is stmt for inner in syntax.all_statements(outer.body))
    }


def _own_part(stmt: gast.stmt) -> Any:
    """A statement without the blocks in it."""
    parts = ("iter", "test", "items", "subject")
    compound = [getattr(stmt, part) for part in parts if hasattr(stmt, part)]
    return compound if is_compound(stmt) else stmt


def _ended_by_return(stmts: list[gast.stmt]) -> list[gast.stmt] | None:
    """A loop's body with `return` for `continue`; None if it may leave the loop."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, (gast.Break, gast.Return)):
            return None
        if isinstance(stmt, gast.Continue):
            returned = gast.Return(gast.Constant(None, None))
            out.append(gast.copy_location(returned, stmt))
            continue
        if isinstance(stmt, (gast.For, gast.While)):
            if any(isinstance(n, gast.Return) for n in own_nodes(stmt.body)):
                return None
        elif not isinstance(stmt, gast.FunctionDef):
            stmt = syntax.clone(stmt)
            for block in syntax.inner_blocks(stmt):
                inner = _ended_by_return(block)
                if inner is None:
                    return None
                block[:] = inner
        out.append(stmt)
    return out


def items_handed(function: FunctionType) -> FunctionType | None:
    """The function that calls its first argument with what the generator yields."""
    if function not in _HANDING:
        _HANDING[function] = _handing(function)
    return _HANDING[function]


def _handing(function: FunctionType) -> FunctionType | None:
    source = read_generator(function)
    node = source.node
    names = syntax.Names(syntax.all_names(node) | set(source.closure))
    each = names.fresh("each")
    node.body = loops_for_yield_from(node.body, names)
    yields = sum(isinstance(n, gast.Yield) for n in own_nodes(node.body))
    if yields != plain_yields(node.body):
        return None
    node.body = _calling(node.body, each)
    node.args.args.insert(0, gast.Name(each, gast.Param(), None, None))
    copy = apart(function)
    LIFTED[copy] = replace(source, func=copy, node=node)
    return copy


def _calling(stmts: list[gast.stmt], each: str) -> list[gast.stmt]:
    """The statements with `each(v)` for `yield v`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Yield):
            value = stmt.value.value or gast.Constant(None, None)
            call = gast.Call(syntax.name(each), [value], [])
            stmt.value = gast.copy_location(call, stmt.value)
        elif not isinstance(stmt, gast.FunctionDef):
            for block in syntax.inner_blocks(stmt):
                block[:] = _calling(block, each)
        out.append(stmt)
    return out


__all__ = ["YieldSettling"]
