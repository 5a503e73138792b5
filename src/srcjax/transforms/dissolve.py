"""Objects that the function makes and keeps to itself, as their attributes.

Before:                                After:

    ball = object.__new__(Ball)            ball_height = h
    ball.height = h                        ball_speed = 0.0
    ball.speed = 0.0                       for _ in range(10):
    for _ in range(10):                        speed = ball_speed - 0.1 * 9.81
        speed = ball.speed - 0.1 * 9.81        ball_speed = speed
        ball.speed = speed

Arrays and lists that the object holds are local variables then, whose adjoints are
followed where they are written in place. Methods have been inlined before; an object
that is passed on, returned, or kept in a container stays what it is.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from types import SimpleNamespace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Positions
from srcjax.analysis.program import Program
from srcjax.analysis.types import UNKNOWN, Array, Dict, List, Object, Tuple, Type, parts
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import called

_LOOPS = (gast.For, gast.While)


def dissolve(program: Program) -> bool:
    """Replace such objects in every unit; True if there were any (infer again then)."""
    kinds = (_Objects, _Displays)
    units = program.reached()
    return any([kind(program, unit).run() for kind in kinds for unit in units])


def assignments(body: list[Any]) -> list[gast.Assign]:
    """The assignments in the body, as they are now."""
    return [s for s in syntax.all_statements(body) if isinstance(s, gast.Assign)]


class _Objects:
    """The objects of one unit."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.unit = unit
        self.body: list[gast.stmt] = unit.node.body
        self.positions = Positions(self.body)

    def run(self) -> bool:
        """Dissolve what can be; True if something was."""
        found = False
        for stmt in assignments(self.body):
            cls = self.made_here(stmt)
            if cls is None:
                continue
            names = self.aliases(stmt)
            if names is not None and self.replace(stmt, cls, names):
                found = True
        return found

    def made_here(self, stmt: gast.Assign) -> type | None:
        """The class of the object that the statement makes."""
        target, value = stmt.targets[0], stmt.value
        if stmt not in self.positions or not isinstance(target, gast.Name):
            return None
        if target.id not in self.unit.varying or not isinstance(value, gast.Call):
            return None
        if not isinstance(value.func, (gast.Name, gast.Attribute)):
            return None
        types = [v.after.get(target.id) for v in self.program.facts.of(stmt)]
        if not types or not all(isinstance(t, Object) for t in types):
            return None
        classes = {t.cls for t in types if isinstance(t, Object)}
        cls: Any = classes.pop()
        if cls is SimpleNamespace and not classes:
            named = all(k.arg for k in value.keywords) and not value.args
            return cls if named else None
        if classes or cls is None or not _is_plain(cls):
            return None
        if called(value) == "object.__new__":
            return cls if isinstance(value.args[0], gast.Name) else None
        callees = self.program.facts.callees.get(id(value), [])
        if any(c is not cls for c in callees) or not isinstance(value.func, gast.Name):
            return None
        own = "__init__" in vars(cls) and dataclasses.is_dataclass(cls)
        generated = own and not hasattr(cls, "__post_init__")
        return cls if generated and self.arguments(value, cls) is not None else None

    def arguments(self, call: gast.Call, cls: Any) -> dict[str, gast.expr] | None:
        """The value of every field of a dataclass that the call makes."""
        if cls is SimpleNamespace:
            return {k.arg: k.value for k in call.keywords}
        stars = any(isinstance(a, gast.Starred) for a in call.args)
        if stars or any(k.arg is None for k in call.keywords):
            return None
        fields = dataclasses.fields(cls)
        if not all(f.init for f in fields) or cls.__init__.__qualname__ != (
            f"{cls.__qualname__}.__init__"
        ):
            return None
        keywords = {k.arg: k.value for k in call.keywords}
        try:
            bound = inspect.signature(cls).bind(*call.args, **keywords)
        except TypeError:
            return None
        found = dict(bound.arguments)
        for field in fields:
            if field.name not in found:
                if not isinstance(field.default, (int, float, str, type(None))):
                    return None
                found[field.name] = syntax.const(field.default)
        return {field.name: found[field.name] for field in fields}

    def aliases(self, made: gast.Assign) -> set[str] | None:
        """All names of the object; None if something else may hold it too."""
        names = {made.targets[0].id}
        links = [made]
        fine: set[int] = set()
        grows = True
        statements = [s for s in syntax.walk(self.body) if isinstance(s, gast.stmt)]
        while grows:
            grows = False
            for stmt in statements:
                value = getattr(stmt, "value", None)
                linking = (
                    isinstance(stmt, gast.Assign)
                    and isinstance(value, gast.Name)
                    and value.id in names
                    and len(stmt.targets) == 1
                )
                if linking and id(value) not in fine:
                    target = stmt.targets[0]
                    if not isinstance(target, gast.Name) or target.id in names:
                        return None
                    names.add(target.id)
                    links.append(stmt)
                    fine.add(id(value))
                    grows = True
        for stmt in links:
            target = stmt.targets[0]
            if syntax.count_bindings(self.unit.node, target.id) != 1:
                return None
            fine.add(id(target))
            if self.positions[made].loops and not self.comes_first(stmt, target.id):
                return None
        for node in syntax.walk(self.body):
            whole = self.whole_of(node)
            if whole is not None:
                fine.add(id(whole))
            inside = isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef))
            if inside and syntax.all_names(node) & names:
                return None
        used = (n for n in syntax.walk(self.unit.node) if isinstance(n, gast.Name))
        return names if all(n.id not in names or id(n) in fine for n in used) else None

    def comes_first(self, stmt: gast.stmt, name: str) -> bool:
        """Whether all that reads the name follows the statement in its block.

        Else a name may still stand for the object of the iteration before.
        """
        block = self.positions.block_of[id(stmt)]
        at = next(k for k, s in enumerate(block) if s is stmt)
        after = syntax.count_reads(block[at + 1 :], name)
        return after == syntax.count_reads(self.unit.node, name)

    def whole_of(self, node: Any) -> gast.expr | None:
        """What the node reads or stores a part of; None if it does nothing of it."""
        fine = isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Del)
        return node.value if fine else None

    def uses(self, names: set[str]) -> list[Any]:
        """Where a part is read or stored."""
        found = ((node, self.whole_of(node)) for node in syntax.walk(self.body))
        return [n for n, w in found if isinstance(w, gast.Name) and w.id in names]

    def replace(self, made: gast.Assign, cls: Any, names: set[str]) -> bool:
        """Write the object's attributes as variables, if they are plain data."""
        uses = self.uses(names)
        fields: dict[str, gast.expr] = {}
        new = called(made.value) == "object.__new__"
        shown = made.value.args[0] if new else made.value.func
        if not new:
            fields = self.arguments(made.value, cls) or {}
        stored = {n.attr for n in uses if isinstance(n.ctx, gast.Store)} | set(fields)
        shared = {}
        for attribute in sorted({n.attr for n in uses} | stored):
            held = inspect.getattr_static(cls, attribute, None)
            known = any(attribute in vars(c) for c in cls.__mro__)
            if known and not inspect.ismemberdescriptor(held):
                if hasattr(type(held), "__get__"):
                    return False  # a method, a property
                shared[attribute] = gast.Attribute(shown, attribute, syntax.LOAD)
            elif attribute not in stored:
                return False
        plain = cls is SimpleNamespace or cls.__setattr__ is object.__setattr__
        if stored - set(fields) and not plain:
            return False
        variables = self.variables(stored, made.targets[0].id, names)
        start = [
            gast.copy_location(
                syntax.assign(variables[key], fields.get(key, shared.get(key))), made
            )
            for key in stored
            if key in fields or key in shared
        ]
        start.sort(key=lambda s: list(variables.values()).index(s.targets[0].id))
        swaps: dict[int, gast.expr] = {}
        for node in uses:
            if node.attr in stored:
                store = isinstance(node.ctx, gast.Store)
                swaps[id(node)] = syntax.name(variables[node.attr], store)
            else:
                swaps[id(node)] = shared[node.attr]
        self.finish(made, start, names, swaps, list(variables.values()))
        return True

    def finish(
        self,
        made: gast.Assign,
        start: list[gast.stmt],
        names: set[str],
        swaps: dict[int, gast.expr],
        variables: list[str],
    ) -> None:
        """Put the variables into the place of the parts."""
        self.body[:] = self.rewritten(self.body, made, start, names, swaps)
        for name in variables:
            self.pass_on(name)
        self.read_directly(self.body, set(variables))

    def pass_on(self, name: str) -> None:
        """A variable that only ever is another one of the user's may be nested away."""
        for stmt in syntax.walk(self.body):
            if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name):
                value = stmt.value
                named = isinstance(value, gast.Name) and value.id not in self.unit.temps
                if named and syntax.count_bindings(self.unit.node, name) == 1:
                    self.unit.temps.add(name)

    def read_directly(self, block: list[Any], variables: set[str]) -> None:
        """`t = ball_speed` and `f(t)` are `f(ball_speed)` as long as that stays."""
        for stmt in list(block):
            for inner in syntax.inner_blocks(stmt):
                self.read_directly(inner, variables)
            value = getattr(stmt, "value", None)
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if (
                not isinstance(target, gast.Name)
                or not isinstance(value, gast.Name)
                or value.id not in variables
                or target.id not in self.unit.temps
                or syntax.count_bindings(self.unit.node, target.id) != 1
            ):
                continue
            after: list[gast.stmt] = []
            for later in block[block.index(stmt) + 1 :]:
                binds = syntax.count_bindings(later, value.id) > 0
                if not binds or isinstance(later, gast.Assign):
                    after.append(later)
                if binds:
                    break
            reads = syntax.count_reads(self.unit.node, target.id)
            if reads == syntax.count_reads(after, target.id):
                syntax.rename(after, {target.id: value.id})
                block.remove(stmt)

    def variables(self, stored: set[Any], made: str, names: set[str]) -> dict[Any, str]:
        """A name for each attribute: `ball_height` for `ball.height`."""
        own = syntax.all_names(self.unit.source.node)
        base = min((n for n in names if n in own), default=made)
        found = {}
        for attribute in sorted(stored, key=str):
            shown = re.sub(r"\W", "_", str(attribute)).strip("_")
            name = self.unit.names.fresh(f"{base}_{shown}")
            self.unit.varying.add(name)
            found[attribute] = name
        return found

    def rewritten(
        self,
        block: list[Any],
        made: gast.Assign,
        start: list[gast.stmt],
        names: set[str],
        swaps: dict[int, gast.expr],
    ) -> list[gast.stmt]:
        """The block with the variables, without what binds the names."""
        out: list[gast.stmt] = []
        for stmt in block:
            if stmt is made:
                for s in start:
                    s.user_line = getattr(stmt, "user_line", None)
                out += start
                continue
            value = getattr(stmt, "value", None)
            if isinstance(stmt, gast.Assign) and getattr(value, "id", None) in names:
                continue
            syntax.rewrite_blocks(
                stmt, lambda block: self.rewritten(block, made, start, names, swaps)
            )
            _replace_inside(stmt, swaps)
            out.append(stmt)
        return out or [gast.Pass()]


class _Displays(_Objects):
    """Containers of arrays that are written in place, as what they hold.

    Before:                     After:

        box = [a, b]                box_0 = a
        item = box[1]               box_1 = b
        item *= s                   item = box_1
                                    item *= s

    An array has one adjoint then, whatever holds it. Of a container all items are
    known by number or key, as long as nothing else is done with it.
    """

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.types: dict[str, Type] | None = None
        #: Memory that is written in place, as long as no statement is changed.
        self.written: frozenset | None = None

    def run(self) -> bool:
        """Dissolve what can be; True if something was."""
        found = taken = False
        for stmt in assignments(self.body):
            held = self.items(stmt)
            if held is None:
                continue
            taken |= self.take_apart(stmt.targets[0].id)
            if taken:
                continue  # what was written has no types yet
            names = self.aliases(stmt)
            if names is None:
                continue
            row = not isinstance(stmt.value, gast.Dict)
            uses = self.uses(names)
            if any(not isinstance(n, gast.Subscript) or _part(n) for n in uses):
                keys = self.keys_there(uses)
            else:
                keys = {id(n): _key(n.slice, held, row) for n in uses}
            stored = any(_is_store(n) for n in uses)
            fixed = stored and isinstance(stmt.value, gast.Tuple)
            if None in keys.values() or fixed or self.updated(names):
                continue
            variables = self.variables(set(held), stmt.targets[0].id, names)
            start = [
                gast.copy_location(syntax.assign(variables[key], value), stmt)
                for key, value in held.items()
            ]
            swaps: dict[int, gast.expr] = {
                id(n): keys[id(n)].value
                if isinstance(keys[id(n)], _Otherwise)
                else keys[id(n)].display(variables)
                if isinstance(keys[id(n)], _Copied)
                else syntax.name(variables[keys[id(n)]], _is_store(n))
                for n in uses
            }
            self.finish(stmt, start, names, swaps, list(variables.values()))
            self.positions = Positions(self.body)
            self.written = None
            found = True
        return found or taken

    def items(self, stmt: gast.Assign) -> dict[Any, Any] | None:
        """What a display of arrays that are written in place holds, by its keys."""
        target, value = stmt.targets[0], stmt.value
        if stmt not in self.positions or not isinstance(target, gast.Name):
            return None
        if target.id not in self.unit.varying or len(stmt.targets) > 1:
            return None
        if isinstance(value, gast.Dict):
            if not all(isinstance(k, gast.Constant) for k in value.keys):
                return None
            found = {k.value: v for k, v in zip(value.keys, value.values, strict=True)}
            if len(found) != len(value.keys):
                return None
        elif isinstance(value, (gast.List, gast.Tuple)):
            found = dict(enumerate(value.elts))
        else:
            return None
        if not all(isinstance(v, (gast.Name, gast.Constant)) for v in found.values()):
            return None
        if self.written is None:
            self.written = self.program.writes_of(self.unit)
        written = self.written
        for variant in self.program.facts.of(stmt):
            for held in parts(variant.after.get(target.id, UNKNOWN)):
                if _holds_array(held, written):
                    return found
        return None

    def take_apart(self, name: str) -> bool:
        """Write `a, b = xs` as `a = xs[0]` and `b = xs[1]`; whether there was any."""

        def apart(stmt: Any) -> list[gast.stmt]:
            syntax.rewrite_blocks(stmt, rewritten)
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if not isinstance(target, gast.Tuple) or len(stmt.targets) > 1:
                return [stmt]
            if getattr(stmt.value, "id", "") not in names:
                return [stmt]
            if not all(syntax.is_name(e) and e.id not in names for e in target.elts):
                return [stmt]
            types = [v.before.get(stmt.value.id) for v in self.program.facts.of(stmt)]
            known = (getattr(t, "items", None) for t in types)
            if not types or any(k is None or len(k) != len(target.elts) for k in known):
                return [stmt]
            if any(isinstance(t, Dict) for t in types):
                return [stmt]
            new = []
            for k, e in enumerate(target.elts):
                item = gast.Subscript(
                    syntax.name(stmt.value.id), syntax.const(k), syntax.LOAD
                )
                new.append(gast.copy_location(syntax.assign(e.id, item), stmt))
                new[-1].user_line = getattr(stmt, "user_line", None)
            return new

        def rewritten(block: list[Any]) -> list[gast.stmt]:
            return [new for stmt in block for new in apart(stmt)]

        names = {name}
        for stmt in assignments(self.body):
            if getattr(stmt.value, "id", "") in names:
                names |= {t.id for t in stmt.targets if syntax.is_name(t)}
        before = len(list(syntax.all_statements(self.body)))
        self.body[:] = rewritten(self.body)
        return len(list(syntax.all_statements(self.body))) != before

    def whole_of(self, node: Any) -> gast.expr | None:
        """`d` of `d[k]`, `d.pop(k)`, `d.get(k, e)` and of copies, as `list(d)`."""
        if isinstance(node, gast.Subscript):
            return None if isinstance(node.ctx, gast.Del) else node.value
        if not isinstance(node, gast.Call) or node.keywords:
            return None
        takes = isinstance(node.func, gast.Attribute)
        if takes and node.func.attr in ("pop", "get"):
            whole: gast.expr = node.func.value
            return whole
        if takes and node.func.attr == "copy" and not node.args:
            return self.known_container(node.func.value)
        if len(node.args) == 1 and self.copies(node.func):
            return self.known_container(node.args[0])
        return None

    def known_container(self, node: gast.expr) -> gast.expr | None:
        """The expression, if it names a container."""
        if self.types is None:
            self.types = self.program.types_of(self.unit)
        t = self.types.get(getattr(node, "id", ""))
        return node if isinstance(t, (Dict, List, Tuple)) else None

    def copies(self, function: gast.expr) -> bool:
        """Whether it is the builtin `list` or `tuple`."""
        if not isinstance(function, gast.Name) or function.id not in ("list", "tuple"):
            return False
        try:
            return self.program.resolve(self.unit, function.id) in (list, tuple)
        except KeyError:
            return False

    def keys_there(self, uses: list[Any]) -> dict[int, Any]:
        """Which item each use is of, where some are taken out: types know what is left.

        An `_Otherwise` is what a dict gives in the place of what it does not have.
        """
        facts, found = self.program.facts, {}
        used = {id(n): n for n in uses}
        for stmt in syntax.all_statements(self.body):
            for node in syntax.walk(syntax.head(stmt)):
                if id(node) in used:
                    whole: Any = self.whole_of(node)
                    types = (v.before.get(whole.id) for v in facts.of(stmt))
                    there = {self.key_there(node, t) for t in types}
                    found[id(node)] = there.pop() if len(there) == 1 else None
        return {id(n): found.get(id(n)) for n in uses}

    def key_there(self, node: Any, t: Any) -> Any:
        """The item that a use is of, where the container is of this type."""
        if isinstance(t, Dict) and t.items is not None:
            held = dict(t.items)
        elif isinstance(t, (List, Tuple)) and t.items is not None:
            held = dict(enumerate(t.items))
        else:
            return None
        row = not isinstance(t, Dict)
        copied = _copied(node, list(held), type(t))
        if copied is not None or isinstance(getattr(node, "func", None), gast.Name):
            return copied
        if isinstance(node, gast.Subscript):
            return _key(node.slice, held, row)
        if isinstance(t, List):
            last = node.func.attr == "pop" and not node.args and len(held) > 0
            return len(held) - 1 if last else None
        key = _key(node.args[0], held, False) if node.args else None
        instead = _Otherwise(node)
        return instead if key is None and instead.is_at_hand else key

    def updated(self, names: set[str]) -> bool:
        """Whether an item is updated by a statement that `settle` writes otherwise."""
        return any(
            isinstance(s, gast.AugAssign) and syntax.root_of(s.target) in names
            for s in syntax.walk(self.body)
        )


@dataclasses.dataclass(frozen=True)
class _Otherwise:
    """What `d.get(k, value)` gives where `d` has no `k`."""

    call: gast.Call

    @property
    def value(self) -> gast.expr:
        return self.call.args[1] if len(self.call.args) > 1 else syntax.const(None)

    @property
    def is_at_hand(self) -> bool:
        """Whether there is such a value, and no KeyError, and it has a name."""
        known = self.call.args and isinstance(self.call.args[0], gast.Constant)
        given = len(self.call.args) > 1 or self.call.func.attr == "get"
        return bool(known and given and syntax.is_atom(self.value))


@dataclasses.dataclass(frozen=True)
class _Copied:
    """A new container of some of the items."""

    keys: tuple[Any, ...]
    kind: type

    def display(self, variables: dict[Any, str]) -> gast.expr:
        """The container, of the variables."""
        values = [syntax.name(variables[key]) for key in self.keys]
        if self.kind is dict:
            return gast.Dict([syntax.const(key) for key in self.keys], values)
        display = gast.Tuple if self.kind is tuple else gast.List
        return display(values, syntax.LOAD)


def _copied(node: Any, keys: list[Any], kind: type) -> _Copied | None:
    """What `list(xs)`, `xs.copy()` and `xs[1:]` hold of what `xs` holds.

    `kind` is that of the type of `xs`.
    """
    made = {Dict: dict, Tuple: tuple}.get(kind, list)
    if _part(node):
        bounds = [getattr(node.slice, key) for key in ("lower", "upper", "step")]
        try:
            known = [b and ast.literal_eval(syntax.text(b)) for b in bounds]
        except (ValueError, SyntaxError):
            return None
        return None if made is dict else _Copied(tuple(keys[slice(*known)]), made)
    if not isinstance(node, gast.Call):
        return None
    if isinstance(node.func, gast.Attribute):
        return _Copied(tuple(keys), made) if node.func.attr == "copy" else None
    kind = tuple if node.func.id == "tuple" else list
    return None if made is dict else _Copied(tuple(keys), kind)


def _part(node: Any) -> bool:
    """Whether it is `xs[a:b]`, read."""
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.slice, gast.Slice)
        and isinstance(node.ctx, gast.Load)
    )


def _holds_array(t: Any, written: frozenset) -> bool:
    """Whether it is, or holds, an array that is written in place."""
    if isinstance(t, Array):
        return bool(t.buffers & written)
    return any(_holds_array(held, written) for held in parts(t))


def _is_store(use: Any) -> bool:
    return isinstance(use, gast.Subscript) and isinstance(use.ctx, gast.Store)


def _key(index: Any, held: dict[Any, Any], row: bool) -> Any:
    """Which of the items a constant index names; None if it is none of them."""
    try:
        key = ast.literal_eval(syntax.text(index))
    except (ValueError, SyntaxError):
        return None
    if row and isinstance(key, int) and key < 0:
        key += len(held)
    return key if key in held else None


def _is_plain(cls: Any) -> bool:
    """Whether attributes of the class's objects are nothing but stored values."""
    return (
        cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__getattr__")
        and cls.__new__ is object.__new__
        and type(cls) is type
    )


def _replace_inside(node: Any, swaps: dict[int, gast.expr]) -> None:
    """Put expressions in the place of others, keeping the statements."""
    for key in getattr(node, "_fields", ()):
        child = getattr(node, key, None)
        if isinstance(child, list):
            for k, item in enumerate(child):
                if id(item) in swaps:
                    child[k] = syntax.clone(swaps[id(item)])
                elif isinstance(item, gast.AST) and not isinstance(item, gast.stmt):
                    _replace_inside(item, swaps)
        elif id(child) in swaps:
            setattr(node, key, syntax.clone(swaps[id(child)]))
        elif isinstance(child, gast.AST):
            _replace_inside(child, swaps)


__all__ = ["dissolve"]
