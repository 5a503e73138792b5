"""The backward code of one statement of the core form."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.infer import OPERATORS, UNARY, BoundTo
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    dtype_of,
    is_active,
    is_number,
    join_all,
    shape_of,
    with_active,
    without_buffers,
)
from srcjax.errors import NoRuleError, UnsupportedError, error_at
from srcjax.frontend.normalise import Unit
from srcjax.ops.record import ATTRIBUTES, Op, Template, lookup
from srcjax.transforms.reverse.places import (
    Adjoint,
    Path,
    Places,
    is_lazy,
    is_static,
    keyed_parts,
    part_of,
    read_part,
    rebuild,
    zero_of,
)
from srcjax.transforms.specialise import Env, Typer, environments, join_environments

#: Calls whose result depends on the structure of an argument only.
_LOOKING = {"len", "range", "isinstance", "np.shape", "np.ndim", "np.size"}
#: Methods that change a list, dict or array.
_CHANGING = frozenset(
    "append extend insert pop reverse sort clear update setdefault fill".split()
)
#: Operations that make an array from a list of lists of numbers.
_ARRAY_MAKERS = {"numpy.array", "numpy.asarray", "numpy.ascontiguousarray"}
#: Suffix of the name under which an overwritten value is read by backward code.
OLD = "__before"


class Rules:
    """Writes backward code; `code` is the group of the statement at hand."""

    def __init__(self, program: Program, unit: Unit, pairs: Any) -> None:
        self.program = program
        self.facts = program.facts
        self.unit = unit
        self.pairs = pairs
        self.places = Places(unit.names)
        self.typer = Typer(program, unit)
        self.code: list[gast.stmt] = []
        #: Names with contributions of another (or unknown) dtype.
        self.mixed: set[str] = set()
        #: Places whose adjoint was passed on since their value's definition.
        self.consumed: set[tuple[str, Path]] = set()
        #: How many branches and loops are around the statement.
        self.depth = 0
        self.stmt: gast.stmt = unit.node
        self.envs: list[Env] = []
        self.types = joined_types(program, unit)
        self.written = active_writes(program, unit)
        self.indexed, self.dynamic = index_reads(unit, self.types)
        #: Containers that hold arrays or lists that are written in place.
        self.nested: set[str] = set()
        self.views = find_views(self)
        #: Forward statements that replace a statement (calls of forward functions).
        self.forward: dict[int, list[gast.stmt]] = {}
        #: Imports and values the backward code needs, by name.
        self.needs: dict[str, Any] = {}
        #: Lists of which every item is read once, by one loop over all of them.
        self.single_pass = single_pass_lists(unit, self)

    # -- what a name is ---------------------------------------------------------------

    def active(self, node: Any) -> bool:
        """Whether the atom is a name that a derivative flows through."""
        return isinstance(node, gast.Name) and is_active(
            self.types.get(node.id, UNKNOWN)
        )

    def type(self, name: str) -> Type:
        return self.types.get(name, UNKNOWN)

    def kind(self, name: str) -> str:
        """How the adjoint is kept: value, buffer, split, list, dict or view."""
        if name in self.views:
            return "view"
        t = self.type(name)
        if isinstance(t, (Tuple, List, Dict, Object)):
            whole = name in self.dynamic or bool(t.buffers & self.written)
            if isinstance(t, Object):
                return "split"
            if is_static(t) and not whole:
                return "split"
            if isinstance(t, Dict):
                return "dict"
            return "list" if isinstance(t, List) or whole else "split"
        if isinstance(t, Array) and t.shape == () and not t.buffers & self.written:
            return "value"
        if isinstance(t, (Array, Unknown)):
            if t.buffers & self.written or name in self.indexed:
                return "buffer"
        return "value"

    def refuse(self, reason: str, instead: str, cls: type = UnsupportedError) -> Any:
        return error_at(cls, self.unit.source, self.stmt, reason, instead)

    # -- adjoints ---------------------------------------------------------------------

    def emit(self, *stmts: gast.stmt) -> None:
        self.code.extend(stmts)

    def has_adjoint(self, name: str) -> bool:
        """Whether anything was contributed to the value's adjoint so far."""
        if name in self.views:
            return self.has_adjoint(self.views[name][0])
        return bool(self.places.of(name))

    def base(self, name: str) -> str:
        return self.unit.base_names.get(name, name)

    def adjoint(self, name: str, full: bool = True) -> gast.expr:
        """An expression of the value's adjoint, of the value's shape if `full`."""
        if name in self.views:
            root, view = self.views[name]
            self.ensure_buffer(root)
            return syntax.substitute(view, {"__root": self.adjoint(root)})
        return self.adjoint_at(name, (), self.type(name), full)

    def adjoint_at(self, name: str, path: Path, t: Type, full: bool) -> gast.expr:
        self.consumed.add((name, path))
        place = self.places.present.get((name, path))
        if place is not None:
            if place.lazy is not None and full:
                place = self.materialise(name, path, t, place)
            return syntax.name(place.variable)
        prefixes = [path[:k] for k in range(len(path))]
        above = next((p for p in prefixes if (name, p) in self.places.present), None)
        if above is not None:
            whole = self.places.present[(name, above)]
            value: gast.expr = syntax.name(whole.variable)
            inner = part_of(self.type(name), above)
            for key in path[len(above) :]:
                value = read_part(inner, value, key)
                inner = part_of(inner, (key,))
            return value
        below = [p for p in self.places.of(name) if p[1][: len(path)] == path]
        if not below:
            return self.zero(t, self.primal(name, path))
        parts = [
            self.adjoint_at(name, (*path, key), part, full)
            if is_active(part)
            else syntax.const(None)
            for key, part in keyed_parts(t)
        ]
        return self.rebuild(t, parts)

    def rebuild(self, t: Type, parts: list[gast.expr]) -> gast.expr:
        cls = getattr(t, "cls", None)
        if cls is not None and cls not in (tuple, list):
            self.needs[cls.__name__] = cls
        return rebuild(t, parts)

    def primal(self, name: str, path: Path) -> gast.expr:
        """An expression of a part of a primal value."""
        value: gast.expr = syntax.name(name)
        t = self.type(name)
        for key in path:
            value = read_part(t, value, key)
            t = dict(keyed_parts(t))[key]
        return value

    def zero(self, t: Type, like: gast.expr) -> gast.expr:
        zero = zero_of(t, like)
        if isinstance(t, Array) and isinstance(like, gast.Name):
            return zero
        return zero

    def materialise(self, name: str, path: Path, t: Type, place: Adjoint) -> Adjoint:
        """Spread a lazy adjoint over the shape of its value."""
        assert place.lazy is not None
        scalar = shape_of(place.lazy) == ()
        text = "np.full_like(x, d)" if scalar else "np.broadcast_to(d, np.shape(x))"
        value = syntax.expression(
            text, x=self.primal(name, path), d=syntax.name(place.variable)
        )
        self.emit(syntax.assign(place.variable, value))
        full = Adjoint(place.variable, None, scalar)
        self.places.present[(name, path)] = full
        return full

    def ensure_buffer(self, name: str) -> None:
        """Make the adjoint of an array or list an object that can be written to."""
        if name in self.views:
            self.ensure_buffer(self.views[name][0])
            return
        place = self.places.present.get((name, ()))
        t = self.type(name)
        variable = self.places.variable(name, (), self.base(name))
        if place is None:
            zero = self.initial(name, t)
            self.emit(syntax.assign(variable, zero))
        elif place.lazy is not None:
            self.materialise(name, (), t, place)
            if not self.places.present[(name, ())].owned:
                self.own(variable)
        elif not place.owned:
            self.own(variable)
        self.places.present[(name, ())] = Adjoint(variable, None, True)

    def own(self, variable: str) -> None:
        d = syntax.name(variable)
        self.emit(syntax.assign(variable, syntax.expression("d.copy()", d=d)))

    def initial(self, name: str, t: Type) -> gast.expr:
        """The zero with which a buffer or list adjoint starts."""
        kind = self.kind(name)
        value = syntax.name(name)
        if name in self.nested:
            zero = syntax.call("zeros_like", value)
            return syntax.call("list", zero) if isinstance(t, Tuple) else zero
        if kind == "list" and isinstance(t, Tuple) and name not in self.single_pass:
            if all(isinstance(p, Scalar) for p in t.items):
                return syntax.expression("[0.0] * len(v)", v=value)
            return syntax.expression("list(zeros_like(v))", v=value)
        if kind == "list" and name in self.single_pass:
            return syntax.expression("[None] * len(v)", v=value)
        if kind == "dict":
            return gast.Dict([], [])
        return self.zero(t, value)

    def contribute(self, name: str, value: gast.expr, path: Path = ()) -> None:
        """Add `value` to the adjoint of (a part of) a value."""
        if name in self.views:
            self.contribute_view(name, value)
            return
        whole = self.type(name)
        t = part_of(whole, path) if path else whole
        if not is_active(t):
            return
        if self.kind(name) == "split" and is_static(t):
            self.contribute_parts(name, value, path, t)
            return
        if path:
            self.explode(name)
        value = self.typer.agree(value, self.envs)
        place = self.places.present.get((name, path))
        variable = self.places.variable(name, path, self.base(name))
        have = self.type_of(value)
        if isinstance(t, Array) and t.dtype is not None and t.dtype.char != "d":
            exact = dtype_of(have)
            if not isinstance(have, Scalar) and (exact is None or exact != t.dtype):
                self.mixed.add(name)
        lazy = have if self.may_be_lazy(have, t) else None
        if isinstance(have, Unknown) and self.reads_partial_zero(value):
            lazy = UNKNOWN
        if lazy is None and is_lazy(have, t):
            text = (
                "np.full_like(x, v)"
                if shape_of(have) == ()
                else "np.broadcast_to(v, np.shape(x))"
            )
            value = syntax.expression(text, x=self.primal(name, path), v=value)
        if place is None:
            self.emit(syntax.assign(variable, value))
            owned = is_fresh(value) and lazy is None
            self.places.present[(name, path)] = Adjoint(variable, lazy, owned)
            return
        if place.lazy is not None and lazy is not None and place.lazy != lazy:
            place = self.materialise(name, path, t, place)
        if self.joins_last(variable, value):
            return
        old = syntax.name(variable)
        if isinstance(t, (List, Dict, Tuple, Object)) or (
            isinstance(t, Unknown) and self.kind(name) in ("list", "dict")
        ):
            self.emit(syntax.assign(variable, syntax.call("add", old, value)))
            self.places.present[(name, path)] = Adjoint(variable, None, True)
            return
        both_lazy = place.lazy if lazy is not None else None
        if self.kind(name) == "buffer" and not path:
            self.ensure_buffer(name)
        place = self.places.present[(name, path)]
        scalar = is_number(t)
        if scalar or (place.owned and place.lazy is None and isinstance(t, Array)):
            target = syntax.name(variable, store=True)
            self.emit(gast.AugAssign(target, gast.Add(), value))
            return
        total = gast.BinOp(old, gast.Add(), value)
        self.emit(syntax.assign(variable, total))
        self.places.present[(name, path)] = Adjoint(variable, both_lazy, True)

    def joins_last(self, variable: str, value: gast.expr) -> bool:
        """`dx = a` just before: make it `dx = a + value`."""
        last = self.code[-1] if self.code else None
        if not isinstance(last, gast.Assign) or not syntax.is_name(
            last.targets[0], variable
        ):
            return False
        known = self.type_of(last.value)
        numeric = isinstance(known, (Array, Scalar)) and isinstance(
            self.type_of(value), (Array, Scalar)
        )
        if not numeric or shape_of(known) != shape_of(self.type_of(value)):
            return False
        last.value = gast.BinOp(last.value, gast.Add(), value)
        return True

    def reads_partial_zero(self, value: gast.expr) -> bool:
        """Whether an adjoint that may be a plain zero goes into the value."""
        partial = {
            p.variable for p in self.places.present.values() if p.lazy == UNKNOWN
        }
        return bool(partial & syntax.names_read(value))

    def may_be_lazy(self, have: Type, want: Type) -> bool:
        return len(self.envs) <= 1 and is_lazy(have, want)

    def contribute_view(self, name: str, value: gast.expr) -> None:
        target = self.adjoint(name)
        value = self.typer.agree(value, self.envs)
        if isinstance(target, gast.Name):
            stmt: gast.stmt = gast.AugAssign(
                syntax.as_store(target), gast.Add(), value
            )
        elif isinstance(target, gast.Subscript):
            stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), value)
        else:
            whole = gast.Subscript(target, syntax.const(...), syntax.STORE)
            stmt = gast.AugAssign(whole, gast.Add(), value)
        self.emit(stmt)

    def contribute_parts(
        self, name: str, value: gast.expr, path: Path, t: Type
    ) -> None:
        """A contribution to a whole container, part by part."""
        parts = keyed_parts(t)
        if isinstance(value, (gast.Name, gast.Call, gast.Subscript)):
            taken = any(
                p[1][: len(path)] == path or path[: len(p[1])] == p[1]
                for p in self.places.of(name)
            )
            if not self.depth and not taken:
                value = self.typer.agree(value, self.envs)
                variable = self.places.variable(name, path, self.base(name))
                self.emit(syntax.assign(variable, value))
                self.places.present[(name, path)] = Adjoint(variable)
                return
        self.explode(name)
        displayed = getattr(value, "elts", None)
        if displayed is None and isinstance(value, gast.Dict):
            displayed = value.values
        if displayed is None and not isinstance(value, gast.Name):
            active = sum(is_active(part) for _, part in parts)
            if active > 1:
                held = self.unit.names.fresh("d" + self.base(name))
                self.unit.temps.add(held)
                value = self.typer.agree(value, self.envs)
                self.emit(syntax.assign(held, value))
                value = syntax.name(held)
        for position, (key, part) in enumerate(parts):
            if not is_active(part):
                continue
            if displayed is not None and len(displayed) == len(parts):
                item = displayed[position]
            else:
                item = read_part(t, value, key)
            self.contribute(name, item, (*path, key))

    def type_of(self, value: gast.expr) -> Type:
        """The type of backward code at this point, joined over the variants."""
        found = [self.typer.type_of(value, env) for env in self.envs or [{}]]
        return join_all(found) or UNKNOWN

    def explode(self, name: str) -> None:
        """Take the adjoint of a container that is held as a whole into its parts."""
        if self.kind(name) != "split" or not is_static(self.type(name)):
            return
        for place in self.places.of(name):
            if is_static(part_of(self.type(name), place[1])):
                self.explode_place(name, place[1])

    def explode_place(self, name: str, start: Path) -> None:
        """Take one whole adjoint into its parts."""
        whole = self.places.present.pop((name, start))
        t = part_of(self.type(name), start)

        def visit(value: gast.expr, path: Path, t: Type) -> None:
            for key, part in keyed_parts(t):
                if not is_active(part):
                    continue
                inner = read_part(t, value, key)
                if is_static(part):
                    visit(inner, (*path, key), part)
                    continue
                variable = self.places.variable(name, (*path, key), self.base(name))
                self.emit(syntax.assign(variable, inner))
                self.places.present[(name, (*path, key))] = Adjoint(variable)

        visit(syntax.name(whole.variable), start, t)

    # -- statements -------------------------------------------------------------------

    def differentiate(self, stmt: gast.stmt) -> list[gast.stmt]:
        """The backward code of a statement without control flow."""
        self.stmt, self.code = stmt, []
        self.forward.pop(id(stmt), None)
        self.envs = self.environments(stmt)
        handler = getattr(self, f"on_{type(stmt).__name__}", None)
        if handler is not None:
            handler(stmt)
        done, self.code = self.code, []
        return done

    def environments(self, stmt: gast.stmt) -> list[Env]:
        """Types of primal and adjoint names around the statement, per variant."""
        targets = syntax.names_written(stmt)
        found = environments(self.facts.of(stmt), targets)
        clean: list[Env] = []
        for env in found or [{}]:
            full = {
                n: without_buffers(with_active(t, False))
                for n, t in {**self.types, **env}.items()
            }
            for (name, path), place in self.places.present.items():
                if place.lazy is not None:
                    full[place.variable] = place.lazy
                    continue
                t = full.get(name, UNKNOWN)
                try:
                    full[place.variable] = part_of(t, path) if path else t
                except KeyError:
                    full[place.variable] = UNKNOWN
            if full not in clean:
                clean.append(full)
        return clean

    def refresh(self) -> None:
        """Adjoint types changed while a statement is being differentiated."""
        self.envs = self.environments(self.stmt)

    def on_Assign(self, stmt: gast.Assign) -> None:
        target = stmt.targets[0]
        if isinstance(target, gast.Name):
            self.define(target.id, stmt.value)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, stmt.value)
        elif isinstance(target, gast.Subscript):
            self.store(target, stmt.value)
        elif isinstance(target, gast.Attribute):
            self.store_attribute(target, stmt.value)

    def define(self, name: str, value: gast.expr) -> None:
        """`name = operation`: pass the adjoint of `name` on to the operands."""
        if name in self.views:
            return
        if isinstance(value, gast.Call):
            callees = self.facts.callees.get(id(value), [])
            if len(callees) == 1 and isinstance(callees[0], str):
                self.container_call(name, value, callees[0])
                self.places.kill(name)
                return
        if not self.active(syntax.name(name)) or not self.has_adjoint(name):
            self.places.kill(name)
            return
        if not self.hides_active(value):
            self.places.kill(name)
            return
        self.check_core(value)
        self.explode(name)
        handler = getattr(self, f"of_{type(value).__name__}", None)
        if handler is None:
            raise self.refuse(
                f"`{syntax.text(value)}` cannot be differentiated",
                "`srcjax.stop_gradient` if it is a constant here",
            )
        if name in syntax.names_read(value):
            self.define_in_terms_of_itself(name, value, handler)
            return
        self.consumed.clear()
        handler(name, value)
        self.check_consumed(name, value)
        self.places.kill(name)

    def check_consumed(self, name: str, value: gast.expr) -> None:
        """No part of an adjoint may be lost on its way (never a silent zero)."""
        if isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            return
        callees = self.facts.callees.get(id(value), [])
        if any(isinstance(c, (Op, type)) for c in callees):
            return
        for place in self.places.of(name):
            if not any(
                place[1][: len(path)] == path for n, path in self.consumed if n == name
            ):
                raise self.refuse(
                    f"the derivative of a part of `{self.base(name)}` is not passed on",
                    "simpler containers",
                )

    def check_core(self, value: gast.expr) -> None:
        """One operation on atoms: nothing active is hidden deeper (core form)."""
        operands: list[Any] = []
        if isinstance(value, gast.BinOp):
            operands = [value.left, value.right]
        elif isinstance(value, (gast.UnaryOp, gast.Starred)):
            operands = [getattr(value, "operand", None) or value.value]
        elif isinstance(value, (gast.Subscript, gast.Attribute)):
            operands = [value.value]
        elif isinstance(value, (gast.Tuple, gast.List)):
            operands = list(value.elts)
        elif isinstance(value, gast.Dict):
            operands = list(value.values)
        elif isinstance(value, gast.Call):
            operands = [*value.args, *(k.value for k in value.keywords)]
        operands = [e.value if isinstance(e, gast.Starred) else e for e in operands]
        for operand in operands:
            if isinstance(operand, (gast.Tuple, gast.List)):
                self.check_core(operand)
            elif not isinstance(operand, gast.Name) and self.hides_active(operand):
                raise AssertionError(f"not core form: {syntax.text(value)}")

    def hides_active(self, node: Any) -> bool:
        """Whether the value of an operand depends on an active name inside it."""
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return False
        if isinstance(node, gast.Call):
            function = syntax.dotted(node.func) or ""
            if function in _LOOKING:
                return False
        if isinstance(node, gast.Attribute) and ATTRIBUTES.get(node.attr) is not None:
            if ATTRIBUTES[node.attr].inert:
                return False
        if isinstance(node, gast.Subscript):
            return self.hides_active(node.value)
        if isinstance(node, gast.Name):
            return self.active(node)
        children: list[Any] = []
        for child in node.__dict__.values():
            children += child if isinstance(child, list) else [child]
        return any(self.hides_active(c) for c in children if isinstance(c, gast.AST))

    def define_in_terms_of_itself(self, name: str, value: Any, handler: Any) -> None:
        """`x = f(x)`: the old x and the new x have one adjoint variable, in turn."""
        old = name + OLD
        operand = syntax.substitute(value, {name: syntax.name(old)})
        self.types[old] = self.type(name)
        for env in self.envs:
            env[old] = env.get(name, UNKNOWN)
        variants = self.facts.of(self.stmt)
        for env, variant in zip(self.envs, variants, strict=False):
            if name in variant.before:
                env[old] = without_buffers(with_active(variant.before[name], False))
        self.types[old] = join_all(
            v.before[name] for v in variants if name in v.before
        ) or self.type(name)
        if name in self.indexed:
            self.indexed.add(old)
        if name in self.dynamic:
            self.dynamic.add(old)
        for place, variable in list(self.places.variables.items()):
            if place[0] == name:
                self.places.variables[(old, place[1])] = variable + OLD
        before = len(self.code)
        if not any(p[0] == old for p in self.places.variables):
            self.places.variables[(old, ())] = (
                self.places.variable(name, (), self.base(name)) + OLD
            )
        handler(name, operand)
        self.places.kill(name)
        moved = self.places.of(old)
        code = self.code[before:]
        for place in moved:
            state = self.places.present.pop(place)
            variable = self.places.variable(name, place[1], self.base(name))
            self.emit(syntax.assign(variable, syntax.name(state.variable)))
            self.places.present[(name, place[1])] = replace(state, variable=variable)
        _merge_old(self.code, before, len(code))

    # -- operations -------------------------------------------------------------------

    def of_Name(self, name: str, value: gast.Name) -> None:
        if not self.active(value):
            return
        if self.kind(name) == "split" and self.kind(value.id) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(value.id, syntax.name(state.variable), place[1])
            return
        self.contribute(value.id, self.adjoint(name, full=False))
        self.places.drop_ownership(value.id)

    def of_Constant(self, name: str, value: gast.Constant) -> None:
        """A constant has no adjoint."""

    def of_BinOp(self, name: str, value: gast.BinOp) -> None:
        function = OPERATORS[type(value.op)]
        types = [self.types.get(getattr(a, "id", ""), UNKNOWN) for a in
                 (value.left, value.right)]
        if isinstance(value.op, gast.Add) and any(
            isinstance(t, (List, Tuple)) for t in types
        ):
            self.concatenated(name, value.left, value.right)
            return
        if isinstance(value.op, gast.Mult) and any(
            isinstance(t, (List, Tuple)) for t in types
        ):
            self.repeated(name, *(
                (value.left, value.right)
                if isinstance(types[0], (List, Tuple))
                else (value.right, value.left)
            ))
            return
        op = lookup(function)
        assert op is not None
        self.apply(name, op, [value.left, value.right], {}, "np")

    def repeated(self, name: str, items: Any, count: gast.expr) -> None:
        """`[x] * n`: each item gets the sum of its copies."""
        d = self.adjoint(name)
        if not isinstance(d, gast.Name):
            held = self.unit.names.fresh("d" + self.base(name))
            self.unit.temps.add(held)
            self.emit(syntax.assign(held, d))
            d = syntax.name(held)
        length = syntax.call("len", items)
        total = syntax.expression(
            "[sum(d[k::n]) for k in range(n)]", d=d, n=length
        )
        self.contribute(items.id, total)

    def of_UnaryOp(self, name: str, value: gast.UnaryOp) -> None:
        op = lookup(UNARY[type(value.op)])
        if op is not None:
            self.apply(name, op, [value.operand], {}, "np")

    def concatenated(self, name: str, left: gast.expr, right: gast.expr) -> None:
        """`a + b` of sequences."""
        d = self.adjoint(name)
        n = syntax.call("len", left)
        if self.active(left):
            part = syntax.expression("d[:n]", d=d, n=n)
            self.contribute(left.id, part)  # type: ignore[attr-defined]
        if self.active(right):
            part = syntax.expression("d[n:]", d=d, n=n)
            self.contribute(right.id, part)  # type: ignore[attr-defined]

    def of_Tuple(self, name: str, value: Any) -> None:
        elements = value.elts
        if any(isinstance(e, gast.Starred) for e in elements):
            self.starred_display(name, elements)
            return
        kind = self.kind(name)
        t = self.type(name)
        for position, element in enumerate(elements):
            if not self.active(element):
                continue
            if kind == "split":
                if any(p[1][:1] == (position,) for p in self.places.of(name)):
                    part = dict(keyed_parts(t))[position]
                    self.pass_part(element.id, name, (position,), part)
                continue
            d = gast.Subscript(self.adjoint(name), syntax.const(position), syntax.LOAD)
            self.contribute(element.id, d)

    of_List = of_Tuple

    def pass_part(self, to: str, name: str, path: Path, t: Type) -> None:
        """Contribute a part of a split adjoint to the value it was made from."""
        if is_static(t) and self.kind(to) == "split":
            for place in self.places.of(name):
                if place[1][: len(path)] == path:
                    state = self.places.present[place]
                    self.consumed.add(place)
                    rest = place[1][len(path) :]
                    self.contribute(to, syntax.name(state.variable), rest)
            return
        self.contribute(to, self.adjoint_at(name, path, t, full=False))
        self.places.drop_ownership(to)

    def starred_display(self, name: str, elements: list) -> None:
        start: gast.expr = syntax.const(0)
        d = self.adjoint(name)
        for element in elements:
            inner = getattr(element, "value", element)
            one = not isinstance(element, gast.Starred)
            if self.active(inner):
                if one:
                    part: gast.expr = gast.Subscript(d, start, syntax.LOAD)
                else:
                    stop = gast.BinOp(start, gast.Add(), syntax.call("len", inner))
                    part = gast.Subscript(
                        d, gast.Slice(start, stop, None), syntax.LOAD
                    )
                self.contribute(inner.id, part)
            step = syntax.const(1) if one else syntax.call("len", inner)
            start = gast.BinOp(start, gast.Add(), step)

    def of_Dict(self, name: str, value: gast.Dict) -> None:
        t = self.type(name)
        for key, element in zip(value.keys, value.values, strict=True):
            if not self.active(element):
                continue
            if key is None:
                raise self.refuse(
                    "`**` in a dict display of differentiated values",
                    "assign the items one by one",
                )
            if self.kind(name) == "split" and isinstance(key, gast.Constant):
                if any(p[1][:1] == (key.value,) for p in self.places.of(name)):
                    part = dict(keyed_parts(t))[key.value]
                    self.pass_part(element.id, name, (key.value,), part)
                continue
            zero = self.zero(self.type(element.id), element)
            d = syntax.expression(
                "d.pop(k, z)", d=self.adjoint(name), k=key, z=zero
            )
            self.contribute(element.id, d)

    def of_Attribute(self, name: str, value: gast.Attribute) -> None:
        base = value.value
        if not self.active(base):
            return
        t = self.type(base.id)
        if isinstance(t, Object) or (isinstance(t, Tuple) and t.cls is not None):
            key: Any = value.attr
            if isinstance(t, Tuple):
                key = t.cls._fields.index(value.attr)  # type: ignore[union-attr]
            self.pass_to_part(name, base.id, (key,))
            return
        op = ATTRIBUTES.get(value.attr)
        if op is None:
            raise self.refuse(
                f"attribute `{value.attr}` of a differentiated value is not known",
                "an operation that srcjax has a rule for, or a rule of your own",
                NoRuleError,
            )
        self.apply(name, op, [base], {}, "np")

    def pass_to_part(self, name: str, base: str, path: Path) -> None:
        """`name = base[key]` with a known key of a split container."""
        t = part_of(self.type(base), path)
        if not is_active(t):
            return
        if is_static(t) and self.kind(name) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(
                    base, syntax.name(state.variable), (*path, *place[1])
                )
            return
        self.prefer_name(base, path, name)
        self.contribute(base, self.adjoint(name, full=False), path)
        for place in self.places.of(base):
            if place[1] == path:
                state = self.places.present[place]
                self.places.present[place] = replace(state, owned=False)

    def prefer_name(self, base: str, path: Path, name: str) -> None:
        """The adjoint of `params["w"]` is `dw`, not `dparams_w`."""
        if (base, path) not in self.places.variables:
            key = str(path[-1])
            if not key.isidentifier() and name in self.unit.temps:
                return
            shown = key if key.isidentifier() else self.base(name)
            self.places.variables[(base, path)] = self.unit.names.fresh("d" + shown)

    def of_Subscript(self, name: str, value: gast.Subscript) -> None:
        base, index = value.value, value.slice
        if not self.active(base):
            return
        t = self.type(base.id)
        kind = self.kind(base.id)
        if kind == "split":
            key = self.static_key(t, index)
            if key is not None:
                self.pass_to_part(name, base.id, (key,))
                return
            if isinstance(index, gast.Slice):
                self.split_slice(name, base.id, t, index)
                return
            raise self.refuse("an index that is not known", "a constant index")
        if kind == "list" or isinstance(t, (List, Tuple)):
            self.list_item(name, base.id, index)
        elif kind == "dict" or isinstance(t, Dict):
            self.dict_item(name, base.id, index)
        else:
            self.array_item(name, base.id, index)

    def static_key(self, t: Type, index: gast.expr) -> Any:
        """The known key of a static container."""
        found = [self.typer.type_of(index, env) for env in self.envs]
        known = join_all(found)
        if not isinstance(known, Const):
            return None
        keys = [key for key, _ in keyed_parts(t)]
        value = known.value
        if isinstance(t, (Tuple, List)) and isinstance(value, int) and value < 0:
            value += len(keys)
        return value if value in keys else None

    def split_slice(self, name: str, base: str, t: Type, index: gast.Slice) -> None:
        keys = [key for key, _ in keyed_parts(t)]
        bounds = [
            None if b is None else getattr(self.typer.type_of(b, self.envs[0]),
                                           "value", None)
            for b in (index.lower, index.upper, index.step)
        ]
        for position, key in enumerate(keys[slice(*bounds)]):
            if self.kind(name) != "split":
                d = gast.Subscript(
                    self.adjoint(name), syntax.const(position), syntax.LOAD
                )
                self.contribute(base, d, (key,))
            elif any(p[1][:1] == (position,) for p in self.places.of(name)):
                part = part_of(t, (key,))
                d = self.adjoint_at(name, (position,), part, full=False)
                self.contribute(base, d, (key,))

    def list_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = xs[i]`, `name = xs[a:b]`."""
        d = self.adjoint(name)
        self.ensure_buffer(base)
        variable = self.adjoint(base)
        target = gast.Subscript(variable, index, syntax.LOAD)
        if isinstance(index, gast.Slice):
            total = syntax.call("add", target, d)
        elif base in self.single_pass:
            total = d
        elif is_number(self.type(name)):
            stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), d)
            self.emit(stmt)
            return
        elif isinstance(self.type(name), Array):
            total = gast.BinOp(target, gast.Add(), d)
        else:
            total = syntax.call("add", target, d)
        self.emit(syntax.assign(syntax.as_store(target), total))

    def dict_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = d[key]`."""
        d = self.adjoint(name)
        self.ensure_buffer(base)
        variable = self.adjoint(base)
        old = syntax.expression("d.get(k, 0.0)", d=variable, k=index)
        if is_number(self.type(name)) or isinstance(self.type(name), Array):
            total: gast.expr = gast.BinOp(old, gast.Add(), d)
        else:
            total = syntax.call("add", old, d)
        target = gast.Subscript(variable, index, syntax.STORE)
        self.emit(syntax.assign(target, total))

    def array_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = x[i]`."""
        d = self.adjoint(name, full=False)
        if shape_of(self.type(base)) == () and self.kind(base) == "value":
            self.contribute(base, d)
            return
        self.ensure_buffer(base)
        target = gast.Subscript(self.adjoint(base), index, syntax.LOAD)
        if isinstance(self.type(base), Unknown):
            add = syntax.call("add_at", target.value, as_value(index), d)
            if isinstance(target.value, gast.Name):
                self.emit(syntax.assign(target.value.id, add))
            else:
                self.emit(gast.Expr(add))
            return
        if self.index_kind(index) == "repeats":
            add = syntax.expression(
                "np.add.at(d, i, v)", d=target.value, i=as_value(index), v=d
            )
            self.emit(gast.Expr(add))
            return
        stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), d)
        self.emit(stmt)

    def index_kind(self, index: gast.expr) -> str:
        """`basic` (a view), `mask`, or `repeats` (index arrays)."""
        entries = index.elts if isinstance(index, gast.Tuple) else [index]
        kind = "basic"
        for entry in entries:
            if isinstance(entry, gast.Slice):
                continue
            for env in self.envs:
                t = self.typer.type_of(entry, env)
                if isinstance(t, Array) and t.dtype is not None and t.dtype.kind == "b":
                    kind = "mask" if kind != "repeats" else kind
                elif is_number(t) or isinstance(t, Const):
                    continue
                elif isinstance(t, Tuple) and t.cls is slice:
                    continue
                else:
                    return "repeats"
        return kind

    def of_Call(self, name: str, value: gast.Call) -> None:
        callees = self.facts.callees.get(id(self.original_call(value)), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(callee, str):
            self.container_call(name, value, callee)
            return
        if isinstance(callee, Op):
            args = list(value.args)
            method = isinstance(value.func, gast.Attribute) and self.active_or_local(
                value.func.value
            )
            if method:
                args = [value.func.value, *args]
            if any(isinstance(a, gast.Starred) for a in args):
                raise self.refuse("`*args` in this call", "write the arguments out")
            keywords = {k.arg: k.value for k in value.keywords}
            chain = syntax.dotted(value.func) or ""
            family = "math" if chain.startswith("math.") else "np"
            self.apply(name, callee, args, keywords, family)
            return
        if isinstance(callee, type):
            self.constructor(name, value, callee)
            return
        function = syntax.dotted(value.func)
        if function in ("list", "tuple") and len(value.args) == 1:
            self.sequence_copy(name, value)
            return
        if function == "dict" and not value.args:
            keys: list = [syntax.const(k.arg) for k in value.keywords]
            self.of_Dict(name, gast.Dict(keys, [k.value for k in value.keywords]))
            return
        if self.pairs.call(self, name, value, callee, len(callees)):
            return
        if not any(self.active(n) for n in syntax.walk(value)):
            return
        shown = syntax.text(value.func)
        raise self.refuse(
            f"`{shown}` has no derivative rule",
            f"give it one with `@srcjax.adjoint({shown})`, or wrap what needs no "
            "derivative in `srcjax.stop_gradient`",
            NoRuleError,
        )

    def original_call(self, value: gast.Call) -> gast.expr:
        """The call node that inference saw (a copy may be at hand)."""
        return getattr(self.stmt, "value", value)

    def active_or_local(self, node: gast.expr) -> bool:
        """Whether the base of an attribute is a value, not a module."""
        return isinstance(node, gast.Name) and node.id in self.types

    def constructor(self, name: str, value: gast.Call, cls: type) -> None:
        """A namedtuple or dataclass made from differentiated parts."""
        t = self.type(name)
        fields = getattr(cls, "_fields", None)
        if fields is None and is_dataclass(cls):
            fields = [key for key, _ in keyed_parts(t)]
        if fields is None or not is_static(t):
            raise self.refuse(
                f"`{cls.__name__}(...)` made from a differentiated value",
                "a dataclass, a namedtuple, a tuple or a dict",
            )
        given = dict(zip(fields, value.args, strict=False))
        given.update({k.arg: k.value for k in value.keywords})
        for position, field in enumerate(fields):
            key = position if isinstance(t, Tuple) else field
            element = given.get(field)
            if self.active(element) and any(
                p[1][:1] == (key,) for p in self.places.of(name)
            ):
                part = dict(keyed_parts(t))[key]
                self.pass_part(element.id, name, (key,), part)

    def sequence_copy(self, name: str, value: gast.Call) -> None:
        """`list(xs)`, `tuple(xs)`."""
        source = value.args[0]
        if not self.active(source):
            return
        if self.kind(name) == "split" and self.kind(source.id) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(source.id, syntax.name(state.variable), place[1])
            return
        d = self.adjoint(name)
        t = self.type(source.id)
        if isinstance(t, (Array, Unknown)) and not isinstance(t, (List, Tuple)):
            d = syntax.call("np.array", d)
        elif isinstance(d, gast.Name):
            d = syntax.call("list", d)
        self.contribute(source.id, d)

    def container_call(self, name: str | None, value: gast.Call, callee: str) -> None:
        """Methods of lists and dicts; `name` is the result, if it is used."""
        base = value.func.value.id  # type: ignore[attr-defined]
        method = callee.split(".")[1]
        handler = getattr(self, f"list_{method}", None)
        if callee.startswith("dict."):
            handler = getattr(self, f"dict_{method}", None)
        if handler is None:
            if not self.has_adjoint(base) and (
                name is None or not self.has_adjoint(name)
            ):
                return
            raise self.refuse(
                f"`{callee}` on differentiated values",
                "build a new list or dict instead",
            )
        handler(name, base, value.args)

    def list_append(self, name: str | None, base: str, args: list) -> None:
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        d = syntax.expression("d.pop()", d=self.adjoint(base))
        if self.active(args[0]):
            self.contribute(args[0].id, d)
        else:
            self.emit(gast.Expr(d))

    def list_extend(self, name: str | None, base: str, args: list) -> None:
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        d = self.adjoint(base)
        start = syntax.expression("len(d) - len(v)", d=d, v=args[0])
        tail = syntax.expression("d[s:]", d=d, s=start)
        if self.active(args[0]):
            self.contribute(args[0].id, tail)
        self.emit(gast.Delete([gast.Subscript(d, tail.slice, gast.Del())]))

    def list_insert(self, name: str | None, base: str, args: list) -> None:
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        d = syntax.expression("d.pop(i)", d=self.adjoint(base), i=args[0])
        if self.active(args[1]):
            self.contribute(args[1].id, d)
        else:
            self.emit(gast.Expr(d))

    def list_pop(self, name: str | None, base: str, args: list) -> None:
        present = name is not None and self.has_adjoint(name)
        if not present and not self.has_adjoint(base):
            return
        d: gast.expr
        if present:
            assert name is not None
            d = self.adjoint(name)
        else:
            elem = join_all(p for _, p in keyed_parts(self.type(base))) or getattr(
                self.type(base), "elem", None
            )
            if not is_number(elem or UNKNOWN):
                raise self.refuse(
                    "`pop` of an item that is not used", "slice the list instead"
                )
            d = syntax.const(0.0)
        self.ensure_buffer(base)
        target = self.adjoint(base)
        if args:
            call = syntax.expression("t.insert(i, d)", t=target, i=args[0], d=d)
            if isinstance(args[0], gast.UnaryOp):
                raise self.refuse("`pop` at a negative index", "a positive index")
        else:
            call = syntax.expression("t.append(d)", t=target, d=d)
        self.emit(gast.Expr(call))

    def list_reverse(self, name: str | None, base: str, args: list) -> None:
        if self.has_adjoint(base):
            self.ensure_buffer(base)
            call = syntax.expression("d.reverse()", d=self.adjoint(base))
            self.emit(gast.Expr(call))

    def list_copy(self, name: str | None, base: str, args: list) -> None:
        if name is not None and self.has_adjoint(name) and self.active(
            syntax.name(base)
        ):
            self.contribute(base, syntax.call("list", self.adjoint(name)))

    def dict_get(self, name: str | None, base: str, args: list) -> None:
        if name is None or not self.has_adjoint(name):
            return
        key = self.static_key(self.type(base), args[0])
        if self.kind(base) == "split":
            if key is not None:
                self.pass_to_part(name, base, (key,))
            elif len(args) > 1 and self.active(args[1]):
                self.contribute(args[1].id, self.adjoint(name, full=False))
            return
        if len(args) > 1 and self.active(args[1]):
            raise self.refuse(
                "`get` with a differentiated default", "`d[k] if k in d else default`"
            )
        d = self.adjoint(name)
        self.ensure_buffer(base)
        adjoint = self.adjoint(base)
        total = syntax.expression("t.get(k, 0.0) + d", t=adjoint, k=args[0], d=d)
        store = gast.Subscript(adjoint, args[0], syntax.STORE)
        test = syntax.expression("k in v", k=args[0], v=syntax.name(base))
        self.emit(gast.If(test, [syntax.assign(store, total)], []))

    dict_copy = list_copy

    def list_index(self, name: str | None, base: str, args: list) -> None:
        """Positions and keys carry no derivative."""

    list_count = dict_keys = list_index

    # -- rules ------------------------------------------------------------------------

    def apply(
        self,
        name: str,
        op: Op,
        args: list[gast.expr],
        keywords: dict[str, gast.expr],
        family: str,
    ) -> None:
        """Paste the operation's adjoint rule."""
        try:
            bound = op.bind(args, keywords)
        except TypeError as error:
            raise self.refuse(
                f"`{op.name}` with these arguments has no derivative rule ({error})",
                f"only the arguments `{op.signature}`",
                NoRuleError,
            ) from None
        flat = _flatten(bound)
        if op.inert or not any(self.any_active(v) for v in flat.values()):
            return
        first = args[0] if args else None
        if op.name in _ARRAY_MAKERS and isinstance(first, gast.Name):
            t = self.type(first.id)
            if isinstance(t, (List, Tuple)):
                d = self.adjoint(name)
                if not (self.kind(first.id) == "split" and is_static(t)):
                    d = syntax.call("unarray", d, first)
                self.contribute(first.id, d)
                return
        active = [n for n, v in flat.items() if self.any_active(v)]
        unsupported = [n for n in active if n not in op.differentiable]
        if op.adjoint is None or (unsupported and not op.differentiable):
            raise self.refuse(
                f"`{op.name}` has no derivative rule",
                f"give it one with `@srcjax.adjoint({op.name})`, or wrap what needs no "
                "derivative in `srcjax.stop_gradient`",
                NoRuleError,
            )
        holes = self.holes(op, op.adjoint, bound)
        self.paste(name, op, op.adjoint, holes, family)

    def any_active(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(map(self.any_active, value))
        if isinstance(value, (gast.Tuple, gast.List)):
            return any(map(self.any_active, value.elts))
        return self.active(value)

    def holes(self, op: Op, template: Template, bound: dict) -> dict[str, gast.expr]:
        """What stands for each parameter of the rule."""
        holes: dict[str, gast.expr] = {}
        for parameter in op.signature.parameters.values():
            if parameter.name in bound:
                value = bound[parameter.name]
                if isinstance(value, tuple):
                    value = gast.Tuple(list(value), syntax.LOAD)
                if isinstance(value, dict):
                    continue
                holes[parameter.name] = value
            elif parameter.default is not parameter.empty:
                holes[parameter.name] = syntax.const(parameter.default)
        return holes

    def paste(
        self,
        name: str,
        op: Op,
        template: Template,
        holes: dict[str, gast.expr],
        family: str,
    ) -> None:
        result = template.parameters[0]
        holes = {**holes, result: syntax.name(name)}
        lazy = any(
            self.places.present[p].lazy is not None for p in self.places.of(name)
        )
        if lazy and not self.may_stay_lazy(name, op, holes):
            self.adjoint(name, full=True)
            self.refresh_adjoint_types()
        seed = self.adjoint(name, full=False)
        if not isinstance(seed, gast.Name) and _seed_reads(template, result) > 1:
            held = self.unit.names.fresh("d" + self.base(name))
            self.unit.temps.add(held)
            self.emit(syntax.assign(held, seed))
            for env in self.envs:
                env[held] = env.get(name, UNKNOWN)
            seed = syntax.name(held)
        self.paste_block(template.body, holes, result, seed, family)

    def may_stay_lazy(self, name: str, op: Op, holes: dict[str, gast.expr]) -> bool:
        """Elementwise rules broadcast: a smaller seed does unless axes are summed."""
        if op.spreads:
            return all(
                place.lazy is not None and shape_of(place.lazy) == ()
                for key, place in self.places.present.items()
                if key[0] == name
            )
        if not op.elementwise:
            return False
        want = shape_of(self.type(name))
        for parameter in op.differentiable:
            node = holes.get(parameter)
            if self.active(node):
                have = shape_of(self.type(node.id))  # type: ignore[union-attr]
                if have is None or have != want:
                    return False
        return True

    def refresh_adjoint_types(self) -> None:
        for env in self.envs:
            for (name, path), place in self.places.present.items():
                if place.lazy is None and not path:
                    env[place.variable] = env.get(name, UNKNOWN)

    def paste_block(
        self,
        body: list[gast.stmt],
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> None:
        for stmt in body:
            if isinstance(stmt, gast.If):
                test = self.fill(stmt.test, holes, result, seed, family)
                outcome = self.decide(test)
                if outcome is None:
                    raise self.refuse(
                        f"`{syntax.text(test)}` must be known before the program runs",
                        "a constant argument",
                    )
                chosen = stmt.body if outcome else stmt.orelse
                self.paste_block(chosen, holes, result, seed, family)
                continue
            if not isinstance(stmt, gast.Assign):
                continue
            target = stmt.targets[0]
            if isinstance(target, gast.Name):
                value = self.fill(stmt.value, holes, result, seed, family)
                local = self.unit.names.fresh(target.id)
                self.unit.temps.add(local)
                value = self.typer.agree(value, self.envs)
                self.emit(syntax.assign(local, value))
                for env in self.envs:
                    env[local] = self.typer.type_of(value, env)
                holes = {**holes, target.id: syntax.name(local)}
                continue
            self.paste_contribution(stmt, target, holes, result, seed, family)

    def paste_contribution(
        self,
        stmt: gast.Assign,
        target: Any,
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> None:
        """`d[x] = e`, `d[a], d[b] = e`."""
        if isinstance(target, gast.Tuple):
            wanted = [self.any_active(holes.get(e.slice.id)) for e in target.elts]
            if not any(wanted):
                return
            value = self.fill(stmt.value, holes, result, seed, family)
            if isinstance(value, gast.Tuple):
                items: list[gast.expr] = value.elts
            else:
                held = self.unit.names.fresh("contribution")
                self.unit.temps.add(held)
                value = self.typer.agree(value, self.envs)
                self.emit(syntax.assign(held, value))
                items = [
                    gast.Subscript(syntax.name(held), syntax.const(k), syntax.LOAD)
                    for k in range(len(target.elts))
                ]
            for element, item, want in zip(target.elts, items, wanted, strict=True):
                if want:
                    self.contribute_to(holes[element.slice.id], item)
            return
        node = holes.get(target.slice.id)
        if node is None or not self.any_active(node):
            return
        value = self.fill(stmt.value, holes, result, seed, family)
        self.contribute_to(node, value)

    def contribute_to(self, node: Any, value: gast.expr) -> None:
        """Contribute to an atom, or to the parts of a display."""
        if isinstance(node, gast.Name):
            self.contribute(node.id, value)
            return
        value = self.typer.agree(value, self.envs)
        if isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(
            node.elts
        ):
            for element, item in zip(node.elts, value.elts, strict=True):
                if self.active(element):
                    self.contribute(element.id, item)
            return
        held = self.unit.names.fresh("parts")
        self.unit.temps.add(held)
        self.emit(syntax.assign(held, value))
        for position, element in enumerate(node.elts):
            if self.active(element):
                item = gast.Subscript(
                    syntax.name(held), syntax.const(position), syntax.LOAD
                )
                self.contribute(element.id, item)

    def decide(self, test: gast.expr) -> bool | None:
        """The outcome of a condition of a rule, where the types tell."""
        from srcjax.analysis.infer import truth

        outcomes = {
            truth(self.typer.type_of(self.typer.specialise(test, env), env))
            for env in self.envs
        }
        return outcomes.pop() if len(outcomes) == 1 else None

    def fill(
        self,
        node: gast.expr,
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> gast.expr:
        """A rule's expression with the user's names in place of its parameters."""

        def visit(sub: Any) -> Any:
            if isinstance(sub, gast.Subscript) and syntax.is_name(sub.value, "d"):
                return syntax.clone(seed)
            if isinstance(sub, gast.Name):
                if sub.id in holes:
                    return syntax.clone(holes[sub.id])
                return syntax.name(sub.id)
            if isinstance(sub, gast.AST):
                cls = type(sub)
                new = cls.__new__(cls)
                for key, value in sub.__dict__.items():
                    if isinstance(value, gast.AST):
                        value = visit(value)
                    elif isinstance(value, list):
                        value = [visit(v) for v in value]
                    new.__dict__[key] = value
                if family == "math" and syntax.dotted(new) is not None:
                    return _as_math(new)
                return new
            return sub

        filled: gast.expr = visit(node)
        return filled

    # -- in-place ---------------------------------------------------------------------

    def store(self, target: gast.Subscript, value: gast.expr) -> None:
        """`base[index] = value`."""
        base = target.value
        if not self.active(base):
            return
        assert isinstance(base, gast.Name)
        if not self.has_adjoint(base.id):
            return
        t = self.type(base.id)
        index = target.slice
        if isinstance(t, Dict):
            self.ensure_buffer(base.id)
            zero = (
                self.zero(self.type(value.id), value)
                if isinstance(value, gast.Name)
                else syntax.const(0.0)
            )
            d = syntax.expression(
                "d.pop(k, z)", d=self.adjoint(base.id), k=index, z=zero
            )
            if self.active(value):
                self.contribute(value.id, d)  # type: ignore[attr-defined]
            else:
                self.emit(gast.Expr(d))
            return
        if base.id not in self.views:
            self.ensure_buffer(base.id)
        item = gast.Subscript(self.adjoint(base.id), index, syntax.LOAD)
        if isinstance(t, (List, Tuple)):
            if self.active(value):
                self.contribute(value.id, item)  # type: ignore[attr-defined]
                self.places.drop_ownership(value.id)  # type: ignore[attr-defined]
            elem = join_all(p for _, p in keyed_parts(t)) or getattr(t, "elem", None)
            old = gast.Subscript(base, index, syntax.LOAD)
            zero = self.zero(elem or UNKNOWN, old)
            self.emit(syntax.assign(syntax.as_store(item), zero))
            return
        repeats = self.index_kind(index) == "repeats"
        if self.active(value):
            if repeats:
                where = as_value(index)
                d: gast.expr = syntax.call("last_written", item.value, where)
            else:
                d = self.copied(item)
            d = syntax.call("unbroadcast", d, value)
            self.contribute(value.id, d)  # type: ignore[attr-defined]
        self.emit(syntax.assign(syntax.as_store(item), syntax.const(0.0)))

    def copied(self, item: gast.expr) -> gast.expr:
        """The value of a part of an adjoint that is about to be overwritten."""
        if is_number(self.type_of(item)):
            return item
        return syntax.expression("v.copy()", v=item)

    def store_attribute(self, target: gast.Attribute, value: gast.expr) -> None:
        """`p.x = value` for an object the program made."""
        base = target.value
        if not self.active(base):
            return
        assert isinstance(base, gast.Name)
        self.explode(base.id)
        path = (target.attr,)
        places = [p for p in self.places.of(base.id) if p[1][:1] == path]
        if places and self.active(value):
            part = part_of(self.type(base.id), path)
            self.pass_part(value.id, base.id, path, part)  # type: ignore[attr-defined]
        for place in places:
            self.places.present.pop(place, None)

    def on_AugAssign(self, stmt: gast.AugAssign) -> None:
        """`x += v`, `x[i] *= v` on an array, in place."""
        target = stmt.target
        base = target.value if isinstance(target, gast.Subscript) else target
        if not isinstance(base, gast.Name) or not self.active(base):
            return
        if not self.has_adjoint(base.id):
            return
        if base.id not in self.views:
            self.ensure_buffer(base.id)
        value = stmt.value
        item: gast.expr = self.adjoint(base.id)
        old: gast.expr = syntax.name(base.id + OLD)
        if isinstance(target, gast.Subscript):
            item = gast.Subscript(item, target.slice, syntax.LOAD)
            old = gast.Subscript(old, target.slice, syntax.LOAD)
        for env in self.envs:
            env[base.id + OLD] = env.get(base.id, UNKNOWN)
        active = self.active(value)
        op = stmt.op
        if isinstance(op, (gast.Add, gast.Sub)):
            if active:
                d: gast.expr = self.copied(item)
                if isinstance(op, gast.Sub):
                    d = gast.UnaryOp(gast.USub(), item)
                d = syntax.call("unbroadcast", d, value)
                self.contribute(value.id, d)  # type: ignore[attr-defined]
            return
        if active:
            text = "d * x" if isinstance(op, gast.Mult) else "-d * x / v**2"
            d = syntax.expression(text, d=item, x=old, v=value)
            d = syntax.call("unbroadcast", d, value)
            self.contribute(value.id, d)  # type: ignore[attr-defined]
        store = item
        if not isinstance(item, (gast.Name, gast.Subscript)):
            store = gast.Subscript(item, syntax.const(...), syntax.LOAD)
        self.emit(gast.AugAssign(syntax.as_store(store), op, value))

    def on_Expr(self, stmt: gast.Expr) -> None:
        """A call for its effect."""
        value = stmt.value
        if not isinstance(value, gast.Call):
            return
        callees = self.facts.callees.get(id(value), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(callee, str):
            if self.active(value.func.value):  # type: ignore[attr-defined]
                self.container_call(None, value, callee)
            return
        if isinstance(value.func, gast.Attribute) and value.func.attr == "fill":
            whole = gast.Subscript(value.func.value, syntax.const(...), syntax.STORE)
            self.store(whole, value.args[0])
            return
        reads = [n for n in syntax.walk(value) if self.active(n)]
        if reads and getattr(callee, "__name__", "") == "at":
            self.update_at(value, callee)
            return
        if isinstance(callee, Op) and callee.writes and reads:
            self.writing_call(value, callee)
            return
        if reads and not (
            isinstance(callee, Op) or self.is_harmless(value, callee)
        ):
            raise self.refuse(
                f"`{syntax.text(value.func)}` may change a differentiated value",
                "return the new value instead",
            )

    def update_at(self, value: gast.Call, callee: Any) -> None:
        """`np.add.at(x, i, v)`: repeated indices count each time."""
        base, index, *rest = value.args
        if not self.active(base) or not self.has_adjoint(base.id):
            return
        name = callee.__self__.__name__
        if name not in ("add", "subtract"):
            raise self.refuse(
                f"`np.{name}.at` on a differentiated array",
                "a loop over the indices, or `np.add.at`",
            )
        self.ensure_buffer(base.id)
        if rest and self.active(rest[0]):
            d: gast.expr = gast.Subscript(self.adjoint(base.id), index, syntax.LOAD)
            d = self.copied(d)
            if name == "subtract":
                d = gast.UnaryOp(gast.USub(), d)
            self.contribute(rest[0].id, syntax.call("unbroadcast", d, rest[0]))

    def is_harmless(self, value: gast.Call, callee: Any) -> bool:
        """Whether a call for its effect leaves differentiated values alone."""
        return callee is print or isinstance(callee, type)

    def writing_call(self, value: gast.Call, op: Op) -> None:
        """`np.add.at(x, i, v)` and the like: an update of the first argument."""
        function = getattr(op, "update", None)
        raise self.refuse(
            f"`{op.name}` on a differentiated array{'' if function else ''}",
            "an assignment to the array",
        )

    # -- unpacking --------------------------------------------------------------------

    def unpack(self, target: Any, value: gast.expr) -> None:
        """`a, b = value`."""
        if not isinstance(value, gast.Name):
            for element in target.elts:
                self.places.kill(element.id)
            return
        t = self.type(value.id)
        active = self.active(value)
        kind = self.kind(value.id)
        if active and isinstance(t, Unknown) and value.id not in self.views:
            self.unpack_unknown(target, value)
            return
        for position, element in enumerate(target.elts):
            name = element.id
            if active and self.has_adjoint(name) and name not in self.views:
                self.explode(name)
                if kind == "split" and is_static(t) and len(keyed_parts(t)) == len(
                    target.elts
                ):
                    key = keyed_parts(t)[position][0]
                    if (value.id, (key,)) not in self.places.variables and not (
                        is_static(self.type(name))
                    ):
                        self.share_variable(value.id, key, name)
                    self.pass_to_part(name, value.id, (key,))
                else:
                    index = syntax.const(position)
                    item = gast.Subscript(value, index, syntax.LOAD)
                    self.of_Subscript(name, item)
            self.places.kill(name)

    def unpack_unknown(self, target: Any, value: gast.Name) -> None:
        """`a, b = value` of what may be a tuple, a list or an array."""
        names = [e.id for e in target.elts]
        if any(self.has_adjoint(n) for n in names):
            parts = [
                self.adjoint(n) if self.has_adjoint(n) else syntax.const(None)
                for n in names
            ]
            shown = gast.List(parts, syntax.LOAD)
            packed = syntax.call("packed", value, shown)
            place = self.places.present.get((value.id, ()))
            variable = self.places.variable(value.id, (), self.base(value.id))
            if place is not None:
                packed = syntax.call("add", syntax.name(variable), packed)
            self.emit(syntax.assign(variable, packed))
            self.places.present[(value.id, ())] = Adjoint(variable)
        for n in names:
            self.places.kill(n)

    def share_variable(self, base: str, key: Any, name: str) -> None:
        """`W, b = params`: the adjoint of params[0] is the variable dW itself."""
        state = self.places.present.get((name, ()))
        if state is not None:
            self.places.variables[(base, (key,))] = self.unit.names.fresh(
                "d" + self.base(name)
            )


def as_value(index: gast.expr) -> gast.expr:
    """An index as an argument: slices need `np.s_`."""
    if any(isinstance(n, gast.Slice) for n in syntax.walk(index)):
        return gast.Subscript(syntax.expression("np.s_"), index, syntax.LOAD)
    return index


def _seed_reads(template: Template, result: str) -> int:
    return sum(
        isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load)
        and syntax.is_name(n.value, "d")
        for n in syntax.walk(template.body)
    )


def _as_math(node: gast.expr) -> gast.expr:
    """`np.cos` as `math.cos` in the rule of a math function."""
    import math

    chain = syntax.dotted(node)
    if chain and chain.startswith("np.") and hasattr(math, chain[3:]):
        return syntax.expression("math." + chain[3:])
    return node


def _flatten(bound: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in bound.items():
        if isinstance(value, dict):
            flat.update(value)
        else:
            flat[name] = value
    return flat


def _merge_old(code: list[gast.stmt], start: int, count: int) -> None:
    """Join `dx__before = e; dx = dx__before` when nothing stands between."""
    tail = code[start:]
    if len(tail) < 2:
        return
    last = tail[-1]
    if not (isinstance(last, gast.Assign) and isinstance(last.value, gast.Name)):
        return
    old = last.value.id
    writers = [
        s for s in tail[:-1] if old in syntax.names_written(s)
    ]
    readers = [s for s in tail[:-1] if old in syntax.names_read(s)]
    if len(writers) == 1 and not readers:
        position = tail.index(writers[0])
        new = last.targets[0].id
        between = tail[position + 1 : -1]
        if not any(new in syntax.names_read(s) for s in between):
            writers[0].targets[0].id = new  # type: ignore[attr-defined]
            code.pop()
        else:
            moved = tail.pop(position)
            moved.targets[0].id = new  # type: ignore[attr-defined]
            reads = syntax.names_read(moved)
            rewritten = set().union(*(syntax.names_written(s) for s in between))
            if not reads & rewritten:
                tail[-1] = moved
                code[start:] = tail
            else:
                moved.targets[0].id = old  # type: ignore[attr-defined]


def is_fresh(value: gast.expr) -> bool:
    """Whether an expression certainly makes a new array."""
    if isinstance(value, (gast.BinOp, gast.UnaryOp)):
        return True
    if isinstance(value, gast.Call):
        chain = syntax.dotted(value.func) or ""
        shares = ("np.broadcast_to", "np.expand_dims", "np.reshape", "np.transpose")
        if chain in shares or chain in ("unreduce", "unbroadcast"):
            return False
        return chain.startswith("np.") or getattr(value.func, "attr", "") in (
            "sum",
            "copy",
            "mean",
        )
    return False


def joined_types(program: Program, unit: Unit) -> dict[str, Type]:
    """What each name of the unit is, over the whole unit."""
    found: dict[str, list[Type]] = {}
    for stmt in syntax.walk(unit.node):
        if isinstance(stmt, gast.stmt):
            for variant in program.facts.of(stmt):
                for env in (variant.before, variant.after):
                    for name, t in env.items():
                        known = found.setdefault(name, [])
                        if t not in known:
                            known.append(t)
    return {name: join_all(ts) or UNKNOWN for name, ts in found.items()}


def active_writes(program: Program, unit: Unit) -> frozenset:
    """Buffers written in place by the unit itself."""
    found: frozenset = frozenset()
    for stmt in syntax.walk(unit.node):
        found |= program.facts.writes.get(id(stmt), frozenset())
    return found


def index_reads(unit: Unit, types: dict[str, Type]) -> tuple[set[str], set[str]]:
    """Arrays of which items are read, and containers read at unknown keys."""
    indexed: set[str] = set()
    dynamic: set[str] = set()
    for node in syntax.walk(unit.node.body):
        if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name):
            continue
        t = types.get(node.value.id, UNKNOWN)
        if isinstance(t, (Tuple, List, Dict)):
            key = node.slice
            if isinstance(key, gast.UnaryOp):
                key = key.operand
            constant = isinstance(key, gast.Constant) or (
                isinstance(key, gast.Slice)
                and all(
                    b is None or isinstance(getattr(b, "operand", b), gast.Constant)
                    for b in (key.lower, key.upper, key.step)
                )
            )
            if isinstance(node.ctx, gast.Store) or not constant:
                dynamic.add(node.value.id)
        else:
            indexed.add(node.value.id)
    return indexed, dynamic


def find_views(rules: Rules) -> dict[str, tuple[str, gast.expr]]:
    """Names for (parts of) what is written in place: name -> (root, view of `__root`).

    A view of a written array has the same view of its adjoint; an item of a container
    that holds written arrays or lists has that item of the container's adjoint.
    """
    views: dict[str, tuple[str, gast.expr]] = {}
    for stmt in syntax.walk(rules.unit.node.body):
        if not isinstance(stmt, gast.Assign):
            continue
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name):
            continue
        t = rules.types.get(target.id, UNKNOWN)
        if not isinstance(t, (Array, List, Dict, Object)):
            continue
        if not t.buffers & rules.written or not is_active(t):
            continue
        rules.stmt = stmt
        if is_maybe_view(rules, value) and not writes_through(rules.unit, target.id):
            continue  # `saving.check_aliases` sees to it that nothing is missed
        base = view_base(rules, value)
        if base is None:
            continue
        name, view = base
        if name in views:
            root, outer = views[name]
            view = syntax.substitute(view, {"__root": outer})
            name = root
        defined = syntax.count_bindings(rules.unit.node, target.id)
        source = rules.types.get(name, UNKNOWN)
        several = isinstance(t, Array) and len(t.buffers) > 1
        read_only = not writes_through(rules.unit, target.id)
        if read_only and (defined > 1 or several or not isinstance(source, Array)):
            continue  # `saving.check_aliases` sees to it that nothing is missed
        if defined > 1 or several or not all_buffers(source) & t.buffers:
            raise rules.refuse(
                f"`{target.id}` may share memory with several arrays, and is written "
                "in place",
                "copy it first: `.copy()`",
            )
        views[target.id] = (name, view)
        if isinstance(source, (List, Dict, Tuple)):
            rules.dynamic.add(name)
            rules.nested.add(name)
    return views


def is_maybe_view(rules: Rules, value: gast.expr) -> bool:
    """Whether the value is a call such as `x.reshape(...)`: a view, or a copy."""
    callees = rules.facts.callees.get(id(value), [])
    return any(isinstance(c, Op) and c.alias == "maybe" for c in callees)


def writes_through(unit: Unit, name: str) -> bool:
    """Whether the unit writes in place through the name."""
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.AugAssign) and syntax.is_name(node.target, name):
            return True
        if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(
            node.ctx, gast.Store
        ):
            if syntax.is_name(node.value, name):
                return True
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            if syntax.is_name(node.func.value, name) and node.func.attr in _CHANGING:
                return True
    return False


def view_base(rules: Rules, value: gast.expr) -> tuple[str, gast.expr] | None:
    """The array that the expression is a view of, and the view."""
    root = syntax.name("__root")
    if isinstance(value, gast.Name):
        return value.id, root
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        t = rules.types.get(value.value.id, UNKNOWN)
        if isinstance(t, (Array, List, Dict, Tuple)):
            if isinstance(t, List) and isinstance(value.slice, gast.Slice):
                return None
            return value.value.id, gast.Subscript(root, value.slice, syntax.LOAD)
        return None
    if isinstance(value, gast.Attribute) and isinstance(value.value, gast.Name):
        if isinstance(rules.types.get(value.value.id), Array):
            return value.value.id, gast.Attribute(root, value.attr, syntax.LOAD)
    if isinstance(value, gast.Call):
        callees = rules.facts.callees.get(id(value), [])
        op = callees[0] if len(callees) == 1 else None
        if isinstance(op, Op) and op.alias in ("view", "maybe", "same"):
            if op.alias == "maybe":
                raise rules.refuse(
                    f"`{syntax.text(value)}` may or may not share memory with an array "
                    "that is written in place",
                    "copy it first: `.copy()`",
                )
            if isinstance(value.func, gast.Attribute) and rules.active_or_local(
                value.func.value
            ):
                function = gast.Attribute(root, value.func.attr, syntax.LOAD)
                new = gast.Call(function, value.args, value.keywords)
                return value.func.value.id, new
            if value.args and isinstance(value.args[0], gast.Name):
                new = gast.Call(value.func, [root, *value.args[1:]], value.keywords)
                return value.args[0].id, new
    return None


def single_pass_lists(unit: Unit, rules: Rules) -> set[str]:
    """Lists read only as `item = xs[i]` in one loop `for i in range(len(xs))`."""
    reads: dict[str, int] = {}
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            reads[node.id] = reads.get(node.id, 0) + 1
    found: set[str] = set()
    top = {id(s) for s in unit.node.body}
    for loop in unit.node.body:
        if not isinstance(loop, gast.For) or id(loop) not in top:
            continue
        if any(isinstance(n, gast.Break) for n in syntax.walk(loop.body)):
            continue
        if not isinstance(loop.iter, gast.Call) or len(loop.iter.args) != 1:
            continue
        counted = loop.iter.args[0]
        for stmt in loop.body:
            if not isinstance(stmt, gast.Assign):
                continue
            item = stmt.value
            if not (
                isinstance(item, gast.Subscript)
                and isinstance(item.value, gast.Name)
                and syntax.is_name(item.slice, getattr(loop.target, "id", ""))
            ):
                continue
            name = item.value.id
            direct = syntax.equal(counted, syntax.call("len", syntax.name(name)))
            own = sum(
                isinstance(n, gast.Name) and n.id == name
                for n in syntax.walk([loop.iter])
            )
            if direct and reads.get(name) == 1 + own:
                if isinstance(rules.types.get(name), (List, Tuple)):
                    found.add(name)
    return found - {
        n for n in found if rules.types[n].buffers & rules.written
    }


__all__ = ["OLD", "BoundTo", "Rules", "Scalar", "dtype_of", "join_environments"]
