"""What is known of the values in a function: containers, their parts, constants."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Const
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.parts import Known, Parts, Stays, is_namedtuple, is_small

#: No function gets longer than this by loops that are written out: where containers
#: hold containers, and where kernels could keep lists of numbers and arrays.
LONGEST = 400
LONGEST_FLAT = 160
#: Builtins that give the same for the same constants.
_FOLDED = ("abs", "int", "len", "max", "min", "str", "bool", "round")


class Knowledge:
    """What names hold where a unit is executed."""

    def __init__(self, program: Program, unit: Unit, left: set[Any]) -> None:
        self.program = program
        self.unit = unit
        #: What is not followed: statements and parameters that make containers.
        self.left = left
        self.env: dict[str, Known] = {}
        self.types = program.types_of(unit)
        self.bindings = syntax.binding_counts(unit.node.body)
        loops = (gast.For, gast.While)
        found = [s for s in syntax.walk(unit.node.body) if isinstance(s, loops)]
        #: Names that may get another value in the same run.
        self.often = syntax.names_written(found)
        #: Whether there is a container at all.
        self.found = False

    def fresh(self, base: str) -> str:
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        self.unit.varying.add(name)
        return name

    def visits(self, over: gast.expr) -> list[Known] | None:
        """What a loop visits, if it is known."""
        if isinstance(over, gast.Call) and len(over.args) == 1:
            if self.is_builtin(over.func, "reversed"):
                inner = self.visits(over.args[0])
                return None if inner is None else inner[::-1]
            if self.is_builtin(over.func, "list"):
                return self.visits(over.args[0])
        known = self.known(over)
        if isinstance(known, Parts):
            if known.kind is dict:
                return [syntax.const(k) for k in known.items]
            return list(known.items.values())
        if isinstance(over, gast.Call) and self.is_builtin(over.func, "range"):
            bounds = [self.constant(a) for a in over.args]
            if all(type(b) is int for b in bounds):
                visited = range(*bounds)
                return [syntax.const(k) for k in visited[: LONGEST + 1]]
        return None

    def known(
        self, node: gast.expr, stmt: Any = None, out: list[Any] | None = None
    ) -> Known | None:
        """What an expression is: a container, a constant, a part; None if it computes.

        Args:
            stmt: the statement that binds it, which may make a container.
            out: takes the statements that are needed before.
        """
        if isinstance(node, gast.Name):
            found = self.env.get(node.id)
            if isinstance(found, Parts) and found.lost:
                raise Stays(found.site)
            return found
        if isinstance(node, gast.Constant):
            return node if is_small(node) else None
        if isinstance(node, gast.Subscript):
            return self.part(node)
        if isinstance(node, gast.Attribute):
            return self.field(node)
        if stmt is not None and out is not None and id(stmt) not in self.left:
            made = self.made(node, stmt, out)
            if made is not None:
                return made
        return self.folded(node)

    def part(self, node: gast.Subscript) -> Known | None:
        """`layers[0]`, `layers[:-1]`."""
        owner = self.known(node.value)
        if not isinstance(owner, Parts):
            return None
        self.found = True
        if isinstance(node.slice, gast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            found = [None if e is None else self.constant(e) for e in ends]
            if owner.kind not in (tuple, list) or ... in found:
                raise Stays(owner.site)
            chosen = list(owner.items.values())[slice(*found)]
            return Parts(owner.kind, dict(enumerate(chosen)), owner.site)
        place = self.place(owner, self.constant(node.slice))
        if place not in owner.items:
            raise Stays(owner.site)
        found_part: Known = owner.items[place]
        return found_part

    def field(self, node: gast.Attribute) -> Known | None:
        """`state.count` of a namedtuple."""
        if not isinstance(node.value, (gast.Name, gast.Subscript, gast.Attribute)):
            return None
        owner = self.known(node.value)
        if not isinstance(owner, Parts) or not is_namedtuple(owner.cls):
            return None
        fields = owner.cls._fields  # type: ignore[attr-defined]
        if node.attr not in fields:
            raise Stays(owner.site)
        self.found = True
        found: Known = owner.items[fields.index(node.attr)]
        return found

    def place(self, owner: Parts, key: Any) -> Any:
        """The key of a part. Raises Stays where it is not known."""
        if key is ...:
            raise Stays(owner.site)
        if owner.kind in (tuple, list) and type(key) is int and key < 0:
            return key + len(owner.items)
        return key

    def store(self, owner: Parts, key: Any, value: Known) -> None:
        """`items[0] = value`, `items.append(value)`."""
        place = self.place(owner, key)
        if owner.fixed or owner.kind is tuple:
            raise Stays(owner.site)
        if owner.cls is list and place not in owner.items and place != len(owner.items):
            raise Stays(owner.site)
        owner.items[place] = value

    def made(self, node: gast.expr, stmt: Any, out: list[Any]) -> Parts | None:
        """The container that an expression makes."""
        site = id(stmt)
        if isinstance(node, (gast.Tuple, gast.List)):
            if any(isinstance(e, gast.Starred) for e in node.elts):
                raise Stays
            parts = [self.kept(e, out) for e in node.elts]
            cls: type = tuple if isinstance(node, gast.Tuple) else list
            return self.make(cls, dict(enumerate(parts)), site)
        if isinstance(node, gast.Dict):
            if any(not isinstance(k, gast.expr) for k in node.keys):
                raise Stays
            keys = [self.constant(k) for k in node.keys]
            if ... in keys:
                return None
            held = [self.kept(v, out) for v in node.values]
            return self.make(dict, dict(zip(keys, held, strict=True)), site)
        if isinstance(node, gast.BinOp):
            return self.combined(node, site, out)
        if not isinstance(node, gast.Call):
            return None
        record = self.record(node, site, out)
        if record is not None or node.keywords:
            return record
        if isinstance(node.func, gast.Attribute):
            owner = self.known(node.func.value)
            return self.read(owner, node, site) if isinstance(owner, Parts) else None
        makers: tuple[type, ...] = (list, tuple, dict)
        for maker in makers:
            if self.is_builtin(node.func, maker.__name__) and len(node.args) <= 1:
                return self.copy(maker, node.args, site)
        return None

    def record(self, node: gast.Call, site: Any, out: list[Any]) -> Parts | None:
        """The namedtuple that a call of its class makes."""
        called = self.program.facts.callees.get(id(node), ())
        cls: Any = next(iter(called)) if len(called) == 1 else None
        if not is_namedtuple(cls):
            return None
        given: dict[Any, gast.expr] = dict(zip(cls._fields, node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords}
        several = any(isinstance(a, gast.Starred) for a in node.args)
        if several or set(given) != set(cls._fields):
            return None  # a default, or what is known when it runs
        held = {n: self.kept(v, out) for n, v in given.items()}
        found = self.make(cls, {k: held[n] for k, n in enumerate(cls._fields)}, site)
        found.maker = node
        return found

    def make(self, cls: type, items: dict[Any, Known], site: Any) -> Parts:
        self.found = True
        return Parts(cls, items, site)

    def copy(self, cls: type, args: list[gast.expr], site: Any) -> Parts | None:
        """`list(items)`."""
        if not args:
            return self.make(cls, {}, site)
        visits = self.visits(args[0])
        of = self.known(args[0])
        if cls is dict and isinstance(of, Parts) and of.cls is dict:
            return self.make(dict, dict(of.items), site)
        if cls is dict or visits is None or len(visits) > LONGEST:
            if isinstance(of, Parts):
                raise Stays(of.site)
            return None
        return self.make(cls, dict(enumerate(visits)), site)

    def combined(self, node: gast.BinOp, site: Any, out: list[Any]) -> Parts | None:
        """`a + b` of lists, `[None] * n`."""
        sides = []
        for side in (node.left, node.right):
            if isinstance(side, (gast.List, gast.Tuple)):
                sides.append(self.made(side, site, out))
            else:
                sides.append(self.known(side))
        known = [s for s in sides if isinstance(s, Parts)]
        if not known:
            return None
        cls = known[0].kind
        items: list[Known] = []
        if isinstance(node.op, gast.Add) and [s.kind for s in known] == [cls, cls]:
            items = [i for s in known for i in s.items.values()]
        elif isinstance(node.op, gast.Mult):
            (times,) = (getattr(s, "value", None) for s in sides if s is not known[0])
            if type(times) is not int or len(known[0].items) * times > LONGEST:
                raise Stays(known[0].site)
            items = list(known[0].items.values()) * times
        else:
            raise Stays(known[0].site)
        if cls is dict:
            raise Stays(known[0].site)
        return self.make(cls, dict(enumerate(items)), site)

    def read(self, owner: Parts, call: gast.Call, site: Any) -> Any:
        """A method that gives something: `tape.pop()`, `d.items()`, `d.get(k)`."""
        name = call.func.attr
        if owner.cls is dict and not call.args and name in ("keys", "values", "items"):
            found: list[Known] = [syntax.const(k) for k in owner.items]
            if name == "values":
                found = list(owner.items.values())
            if name == "items":
                found = [
                    Parts(tuple, {0: syntax.const(k), 1: v}, site)
                    for k, v in owner.items.items()
                ]
            owner.fixed = True  # a view shows what becomes of the dict
            return self.make(tuple, dict(enumerate(found)), site)
        if name == "copy" and not call.args and owner.kind is not tuple:
            return self.make(owner.cls, dict(owner.items), site)
        is_tape = owner.cls is list and not owner.fixed and bool(owner.items)
        if name == "pop" and is_tape and not call.args:
            return owner.items.pop(len(owner.items) - 1)
        if name == "get" and owner.cls is dict and call.args:
            key = self.constant(call.args[0])
            if key is not ... and key in owner.items:
                return owner.items[key]
        raise Stays(owner.site)

    def method(self, owner: Parts, call: gast.Call, out: list[Any]) -> None:
        """A method that is called for what it does: `tape.append(v)`."""
        name = call.func.attr
        plain = len(call.args) == 1 and not call.keywords
        if owner.cls is list and name == "append" and plain:
            self.store(owner, len(owner.items), self.kept(call.args[0], out))
            return
        if owner.cls is list and name == "extend" and plain:
            self.extend(owner, self.visits(call.args[0]))
            return
        raise Stays(owner.site)

    def extend(self, owner: Parts, visits: list[Known] | None) -> None:
        """`items += others`."""
        if visits is None or owner.cls is not list:
            raise Stays(owner.site)
        for each in visits:
            self.store(owner, len(owner.items), each)

    def kept(self, node: gast.expr, out: list[Any], always: bool = False) -> Known:
        """What is put into a container: it stays when the name gets another value."""
        known = self.known(node)
        if known is not None:
            return known
        if not isinstance(node, gast.Name):
            if isinstance(node, gast.Constant):
                return node
            raise Stays
        once = self.bindings[node.id] <= 1 and node.id not in self.often
        if node.id in self.unit.parameters:
            once = not self.bindings[node.id]
        if once and not always:
            return node
        name = self.fresh(node.id)
        out.append(syntax.assign(name, syntax.clone(node)))
        return syntax.name(name)

    # -- constants -------------------------------------------------------------------

    def constant(self, node: Any) -> Any:
        """The value of a constant; ... if it is none."""
        if isinstance(node, gast.UnaryOp):
            node = self.folded(node)
        known = self.known(node) if isinstance(node, gast.expr) else None
        if isinstance(known, gast.Constant):
            return known.value
        t = self.types.get(getattr(node, "id", ""))
        value = t.value if isinstance(t, Const) else ...
        literal = isinstance(value, (int, str)) and syntax.is_literal(value)
        return value if literal else ...

    def folded(self, node: Any) -> gast.Constant | None:
        """An expression of constants, as what it gives."""
        if isinstance(node, gast.Call):
            return self.folded_call(node)
        kinds = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.JoinedStr)
        if not isinstance(node, kinds):
            return None
        names = syntax.names_read(node)
        if not names <= set(self.env) or any(
            isinstance(n, (gast.Call, gast.Attribute, gast.Subscript))
            for n in syntax.walk(node)
        ):
            return None
        values = {}
        for name in names:
            found = self.env[name]
            if not isinstance(found, gast.Constant):
                return None
            values[name] = found.value
        return self.evaluated(node, values)

    def folded_call(self, node: gast.Call) -> gast.Constant | None:
        """`len(items)`, `min(2, n)`."""
        if node.keywords or not isinstance(node.func, gast.Name):
            return None
        if node.func.id not in _FOLDED or not self.is_builtin(node.func, node.func.id):
            return None
        if node.func.id == "len" and len(node.args) == 1:
            of = self.known(node.args[0])
            if isinstance(of, Parts):
                self.found = True
                return syntax.const(len(of.items))
            return None
        known = [self.known(a) for a in node.args]
        if not known or not all(isinstance(k, gast.Constant) for k in known):
            return None
        return self.evaluated(syntax.call(node.func.id, *known))

    def evaluated(self, node: gast.expr, values: Any = None) -> gast.Constant | None:
        try:
            value = eval(
                syntax.text(node), {"__builtins__": vars(builtins)}, values or {}
            )
        except Exception:
            return None
        found = syntax.const(value) if syntax.is_literal(value) else None
        return found if is_small(found) else None

    def is_builtin(self, node: Any, name: str) -> bool:
        """Whether an expression is this builtin."""
        if not syntax.is_name(node, name) or self.bindings[name]:
            return False
        try:
            return self.program.look(self.unit, name) is getattr(builtins, name)
        except KeyError:
            return True
