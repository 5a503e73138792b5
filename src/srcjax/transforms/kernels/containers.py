"""Containers of which all parts are known, as names: `jit` has arrays and numbers only.

    for W, b in layers:                 W, b = layers[0]    (read when it starts)
        h = np.tanh(h @ W + b)    ->    h = np.tanh(h @ W + b)
                                        W2, b2 = layers[1]
                                        h = np.tanh(h @ W2 + b2)

The function is executed with its containers, as far as they are known: what is put into
a list, taken from a dict or unpacked is a name, and a loop that goes through containers
is written out. What computes stays, with these names. A container is built where it is
returned, or given to a function that only reads it.

One that is not known (a tape in a loop of many iterations, an index that is computed)
stays what it is: then all is executed again without it. Containers of the caller stay
too where the function may write to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.control import has_break
from srcjax.analysis.program import Program
from srcjax.analysis.types import UNKNOWN, Const, Dict, List, Tuple, Type
from srcjax.transforms.call_effects import effect_of
from srcjax.transforms.kernels.known import (
    LONGEST,
    LONGEST_FLAT,
    Knowledge,
)
from srcjax.transforms.kernels.parts import (
    Join,
    Known,
    Parts,
    Stays,
    copied,
    is_namedtuple,
    is_small,
    lost,
    reachable,
)
from srcjax.transforms.specialise import Typer


def name_parts(program: Program) -> bool:
    """Write the containers of the entry as names; whether anything changed."""
    unit = program.units[program.entry]
    left: set[Any] = set()
    for _ in range(20):
        try:
            body = Containers(program, unit, left).run()
        except Stays as stays:
            if stays.site is None:
                return False
            left.add(stays.site)
            continue
        if body is None:
            return False
        unit.node.body = body
        return True
    return False


class Containers(Knowledge):
    """Executes a unit with its containers."""

    def run(self) -> list[gast.stmt] | None:
        """The body with names for parts; None if there is no container."""
        self.loads: dict[str, gast.stmt] = {}
        self.length = 0
        #: Whether a container that is given has others in it.
        self.deep = False
        self.typer = Typer(self.program, self.unit)
        for name in self.unit.parameters:
            if name not in self.left and not self.bindings[name]:
                made = self.given(syntax.name(name), self.types.get(name, UNKNOWN))
                if isinstance(made, Parts):
                    self.env[name] = made
        body = self.block(self.unit.node.body)
        if not self.found:
            return None
        body = self.without_unread(body)
        reads = syntax.names_read(body)
        loads: list[gast.stmt] = []
        for name, stmt in reversed(self.loads.items()):
            if name in reads:
                loads.insert(0, stmt)
                reads |= syntax.names_read(stmt)
        return [*loads, *body]

    # -- names -----------------------------------------------------------------------

    def given(self, path: gast.expr, t: Type) -> Known | None:
        """What the caller gives: names for its parts, which are read at the start."""
        root = syntax.root_of(path)
        items: Sequence[tuple[Any, Type]]
        if isinstance(t, (Tuple, List)) and t.view is None and t.items is not None:
            cls = t.cls or tuple
            items = [*enumerate(t.items)]
            if cls not in (tuple, list) and not is_namedtuple(cls):
                return None
        elif isinstance(t, Dict) and t.items is not None:
            cls, items = dict, t.items
        else:
            return None
        parts: dict[Any, Known] = {}
        found = Parts(cls, parts, root, True, path)
        if not isinstance(path, gast.Name):
            found.given = self.load(path)
        fields = getattr(cls, "_fields", None)
        for key, part in items:
            if not syntax.is_literal(key):
                return None
            place = gast.Subscript(found.given, syntax.const(key), syntax.LOAD)
            inner = self.given(place, part)
            self.deep = self.deep or isinstance(inner, Parts)
            if inner is None:
                inner = self.load(place, fields and fields[key])
            parts[key] = inner
        return found

    def load(self, place: gast.Subscript, field: str | None = None) -> gast.expr:
        """The name of a part of what the caller gives."""
        key = field or place.slice.value
        named = isinstance(key, str) and key.isidentifier()
        name = self.fresh(key if named else f"{place.value.id}_{key}")
        self.loads[name] = syntax.assign(name, place)
        return syntax.name(name)

    # -- statements ------------------------------------------------------------------

    def block(self, stmts: list[Any]) -> list[Any]:
        """The statements that stay, with names for parts."""
        out: list[Any] = []
        for stmt in stmts:
            writer = getattr(self, f"of_{type(stmt).__name__}", None)
            if writer is None:
                raise Stays
            first, before = len(out), self.length
            writer(stmt, out)
            for each in out[first:]:
                if getattr(each, "user_line", None) is None:
                    each.user_line = getattr(stmt, "user_line", None)
                if getattr(each, "lineno", None) is None:
                    gast.copy_location(each, stmt)
            # What blocks inside have counted may stand here, written out.
            self.length = max(self.length, before + len(out) - first)
            if self.length > (LONGEST if self.deep else LONGEST_FLAT):
                raise Stays
        return out

    def of_Pass(self, stmt: gast.Pass, out: list[Any]) -> None:
        out.append(syntax.clone(stmt))

    of_Break = of_Pass

    def of_Return(self, stmt: gast.Return, out: list[Any]) -> None:
        if stmt.value is None:
            out.append(syntax.clone(stmt))
            return
        known = self.known(stmt.value)
        value = self.built(known, out, {}) if isinstance(known, Parts) else known
        out.append(gast.Return(value or self.residual(stmt.value, out)))

    def of_Raise(self, stmt: gast.Raise, out: list[Any]) -> None:
        out.append(self.residual(stmt, out))

    of_Assert = of_Raise

    def of_Expr(self, stmt: gast.Expr, out: list[Any]) -> None:
        if syntax.is_comment(stmt):
            out.append(stmt)
            return
        call = stmt.value
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute):
            owner = self.known(call.func.value)
            if isinstance(owner, Parts):
                self.method(owner, call, out)
                return
        out.append(self.residual(stmt, out))

    def of_Assign(self, stmt: gast.Assign, out: list[Any]) -> None:
        if len(stmt.targets) != 1:
            raise Stays
        (target,) = stmt.targets
        if isinstance(target, gast.Name):
            self.bind(target.id, self.known(stmt.value, stmt, out), stmt, out)
        elif isinstance(target, gast.Tuple):
            self.unpack(target, stmt, out)
        else:
            owner = self.known(target.value)
            if not isinstance(owner, Parts):
                out.append(self.residual(stmt, out))
                return
            key = self.constant(getattr(target, "slice", None))
            self.store(owner, key, self.kept(stmt.value, out))

    def bind(self, name: str, known: Known | None, stmt: Any, out: list[Any]) -> None:
        """`name = value`, where the value may be known."""
        if known is None:
            out.append(self.residual(stmt, out))
            return
        self.env.pop(name, None)
        if isinstance(known, Parts):
            self.env[name] = known
            return
        if is_small(known):
            self.env[name] = known
        if not syntax.is_name(known, name):
            out.append(syntax.assign(name, syntax.clone(known)))

    def unpack(self, target: gast.Tuple, stmt: gast.Assign, out: list[Any]) -> None:
        """`W, b = layer`."""
        names = target.elts
        values: list[Known]
        if isinstance(stmt.value, gast.Tuple):
            held = any(getattr(e, "id", "") in self.env for e in stmt.value.elts)
            if not held:
                out.append(self.residual(stmt, out))
                return
            values = [self.kept(e, out, always=True) for e in stmt.value.elts]
        else:
            known = self.known(stmt.value, stmt, out)
            if not isinstance(known, Parts):
                out.append(self.residual(stmt, out))
                return
            if known.kind not in (tuple, list):
                raise Stays(known.site)
            values = list(known.items.values())
        plain = all(isinstance(n, gast.Name) for n in names)
        if not plain or len(values) != len(names):
            raise Stays
        for name, value in zip(names, values, strict=True):
            self.bind(name.id, value, stmt, out)

    def of_AugAssign(self, stmt: gast.AugAssign, out: list[Any]) -> None:
        target = stmt.target
        if isinstance(target, gast.Name):
            held = self.env.get(target.id)
            if isinstance(held, Parts):
                self.extend(held, self.visits(stmt.value))
                return
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            folded = None if held is None else self.folded(value)
            if folded is not None:
                self.bind(target.id, folded, stmt, out)
            else:
                out.append(self.residual(stmt, out))
            return
        owner = self.known(target.value)
        if not isinstance(owner, Parts):
            out.append(self.residual(stmt, out))
            return
        key = self.constant(getattr(target, "slice", None))
        part = owner.items.get(self.place(owner, key))
        if not isinstance(part, gast.expr):
            raise Stays(owner.site)
        name = self.fresh("part")
        out.append(syntax.assign(name, syntax.clone(part)))
        value = self.substituted(stmt.value, out)
        update = gast.AugAssign(syntax.name(name, store=True), stmt.op, value)
        out.append(update)
        self.store(owner, key, syntax.name(name))

    def of_If(self, stmt: gast.If, out: list[Any]) -> None:
        test = self.known(stmt.test)
        if isinstance(test, gast.Constant):
            out += self.block(stmt.body if test.value else stmt.orelse)
            return
        if isinstance(test, Parts):
            raise Stays(test.site)
        head = self.substituted(stmt.test, out)
        before = self.env
        self.env = copied(before)
        body = self.block(stmt.body)
        then, self.env = self.env, before
        orelse = self.block(stmt.orelse)
        self.env = Join(self.fresh, body, orelse).of(then, self.env)
        done = gast.If(head, body or [gast.Pass()], orelse)
        out.append(done)

    # -- loops -----------------------------------------------------------------------

    def of_For(self, stmt: gast.For, out: list[Any]) -> None:
        if stmt.orelse:
            raise Stays
        visits = self.visits(stmt.iter)
        if visits is not None and self.is_written_out(stmt, visits):
            for each in visits:
                self.bind(stmt.target.id, each, None, out)
                out += self.block(stmt.body)
            return
        over = self.known(stmt.iter)
        if isinstance(over, Parts):
            raise Stays(over.site)
        self.looped(stmt, out)

    def of_While(self, stmt: gast.While, out: list[Any]) -> None:
        if stmt.orelse:
            raise Stays
        self.looped(stmt, out)

    def is_written_out(self, stmt: gast.For, visits: list[Known]) -> bool:
        """Whether the loop goes through containers, and is short."""
        if not isinstance(stmt.target, gast.Name) or has_break(stmt):
            return False
        held = {n for n, v in self.env.items() if isinstance(v, Parts)}
        used = bool(syntax.all_names(stmt) & held) or isinstance(
            self.known(stmt.iter), Parts
        )
        inside = sum(1 for s in syntax.walk(stmt.body) if isinstance(s, gast.stmt))
        return used and len(visits) * inside <= LONGEST

    def looped(self, stmt: Any, out: list[Any]) -> None:
        """A loop that stays: what it binds has its parts in names of their own."""
        bound = syntax.names_written(stmt)
        needed = exposed([stmt])
        carried: dict[str, Parts] = {}
        for name in sorted(bound & set(self.env)):
            held = self.env.pop(name)
            if not isinstance(held, Parts):
                continue
            if name not in needed:
                self.env[name] = lost(held)
                continue
            if held.lost or has_break(stmt):
                raise Stays(held.site)
            carried[name] = self.own(held, name, out)
        outer = dict(self.env)
        around = [(p, p.fixed) for p in reachable(outer)]
        for p, _ in around:
            p.fixed = True
        self.env |= carried
        new = syntax.clone_shallow(stmt)
        if isinstance(stmt, gast.While):
            new.test = self.substituted(stmt.test, out)
        else:
            new.target = syntax.clone(stmt.target)
            new.iter = self.substituted(stmt.iter, out)
        new.body = self.block(stmt.body)
        self.carry(carried, new.body)
        new.body = new.body or [gast.Pass()]
        for p, fixed in around:
            p.fixed = fixed
        inner, self.env = self.env, outer | carried
        for name in bound - set(carried):
            held = inner.get(name)
            if isinstance(held, Parts):
                if name in needed:  # the next iteration reads it, and so may the test
                    raise Stays(held.site)
                self.env[name] = lost(held)
        out.append(new)

    def own(self, held: Parts, base: str, out: list[Any]) -> Parts:
        """The container with parts that a loop binds again."""
        items: dict[Any, Known] = {}
        for key, part in held.items.items():
            if isinstance(part, Parts):
                items[key] = self.own(part, f"{base}_{key}", out)
                continue
            name = self.fresh(f"{base}_{key}")
            out.append(syntax.assign(name, syntax.clone(part)))
            items[key] = syntax.name(name)
        return Parts(held.cls, items, held.site, True, maker=held.maker)

    def carry(self, carried: dict[str, Parts], body: list[Any]) -> None:
        """Bind the parts that the next iteration reads."""
        names: list[str] = []
        values: list[gast.expr] = []

        def visit(old: Parts, new: Known | None) -> None:
            if not isinstance(new, Parts) or new.lost or new.cls is not old.cls:
                raise Stays(old.site)
            if list(new.items) != list(old.items):
                raise Stays(old.site)
            for key, part in old.items.items():
                if isinstance(part, Parts):
                    visit(part, new.items[key])
                elif isinstance(new.items[key], Parts):
                    raise Stays(old.site)
                elif not syntax.equal(part, new.items[key]):
                    names.append(part.id)
                    values.append(syntax.clone(new.items[key]))

        for name, old in carried.items():
            visit(old, self.env.get(name))
        if set(names) & syntax.names_read(values):
            held = [self.fresh(f"next_{n}") for n in names]
            body += map(syntax.assign, held, values)
            values = [syntax.name(h) for h in held]
        body += map(syntax.assign, names, values)

    # -- what stays ------------------------------------------------------------------

    def residual(self, node: Any, out: list[Any]) -> Any:
        """A statement that stays, with names for what it reads."""
        new = self.substituted(node, out)
        for name in syntax.names_written(node):
            self.env.pop(name, None)
        return new

    def substituted(self, node: Any, out: list[Any], built: bool = False) -> Any:
        """The tree with constants and parts, and with containers built for it.

        Args:
            built: whether it stands where a container is only read.
        """
        if isinstance(node, list):
            return [self.substituted(n, out) for n in node]
        if not isinstance(node, gast.AST):
            return node
        if isinstance(node, (gast.Name, gast.Subscript, gast.Attribute)) and isinstance(
            node.ctx, gast.Load
        ):
            known = self.known(node)
            if isinstance(known, Parts):
                if not built:
                    raise Stays(known.site)
                return self.built(known, out, {})
            if known is not None:
                return syntax.clone(known)
        if isinstance(node, gast.expr):
            effect = effect_of(node)
            if effect.to_all or effect.names:
                raise Stays  # it may write to what the caller gives
            reads = isinstance(node, gast.Call) and not effect.writes
        inner = isinstance(node, (gast.Lambda, gast.FunctionDef, gast.ClassDef))
        if inner and syntax.all_names(node) & set(self.env):
            raise Stays
        new = syntax.clone_shallow(node)
        for key, value in node.__dict__.items():
            if isinstance(value, gast.AST):
                new.__dict__[key] = self.substituted(value, out)
            elif isinstance(value, list):
                given = key == "args" and isinstance(node, gast.Call) and reads
                new.__dict__[key] = [self.substituted(v, out, given) for v in value]
        return new

    def built(self, known: Known, out: list[Any], made: dict[int, str]) -> gast.expr:
        """A container, made of its parts; the same one is made once."""
        if not isinstance(known, Parts):
            return syntax.clone(known)
        if known.given is not None:
            self.found = True
            return syntax.clone(known.given)
        if id(known) in made:
            return syntax.name(made[id(known)])
        parts = [self.built(p, out, made) for p in known.items.values()]
        value: gast.expr
        if is_namedtuple(known.cls):
            if known.maker is None:
                raise Stays(known.site)
            value = syntax.clone(known.maker)
            value.args, value.keywords = parts, []
        elif known.cls is dict:
            keys = [syntax.const(k) for k in known.items]
            value = gast.Dict(keys, parts)
        else:
            made_of = gast.Tuple if known.cls is tuple else gast.List
            value = made_of(parts, syntax.LOAD)
        name = made[id(known)] = self.fresh("value")
        out.append(syntax.assign(name, value))
        return syntax.name(name)

    def without_unread(self, body: list[Any]) -> list[Any]:
        """The statements without names that nobody reads, of what only holds things."""
        reads = syntax.use_counts(body)

        def block(stmts: list[Any]) -> list[Any]:
            kept: list[Any] = []
            for stmt in reversed(stmts):
                name = getattr(stmt.targets[0], "id", None) if is_plain(stmt) else None
                if name is not None and not reads[name] and self.is_idle(stmt.value):
                    reads.subtract(syntax.read_counts(stmt.value))
                    continue
                syntax.rewrite_blocks(stmt, lambda inner: block(inner) or [gast.Pass()])
                kept.insert(0, stmt)
            return kept

        return block(body)

    def is_idle(self, value: gast.expr) -> bool:
        """Whether an expression does nothing, and raises nothing, for sure."""
        if syntax.is_atom(value) or isinstance(value, gast.Lambda):
            return True
        if isinstance(value, gast.Call):
            makes = any(self.is_builtin(value.func, n) for n in ("list", "tuple"))
            plain = len(value.args) == 1 and isinstance(value.args[0], gast.Name)
            return makes and plain and self.length_of(value.args[0]) is not None
        if not isinstance(value, gast.Subscript):
            return False
        at, length = getattr(value.slice, "value", None), self.length_of(value.value)
        return type(at) is int and length is not None and -length <= at < length

    def length_of(self, node: gast.expr) -> int | None:
        """How many items a tuple or list has, if it is known to be one."""
        t = self.typer.type_of(node, self.types)
        if isinstance(t, Const) and type(t.value) in (tuple, list):
            return len(t.value)
        items = t.items if isinstance(t, (Tuple, List)) else None
        return None if items is None else len(items)


def is_plain(stmt: Any) -> bool:
    """Whether a statement binds one target."""
    return isinstance(stmt, gast.Assign) and len(stmt.targets) == 1
