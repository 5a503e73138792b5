"""The types of the names of a kernel, as C++ has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.looking import MAKERS

DOUBLE, FLOAT, LONG, BOOL = "double", "float", "long long", "bool"
#: C++'s types by those of NumPy.
OF_DTYPE = {"<f8": DOUBLE, "<f4": FLOAT, "<i8": LONG, "|b1": BOOL}
#: NumPy's names by C++'s types.
NAMES = {DOUBLE: "float64", FLOAT: "float32", LONG: "int64", BOOL: "bool_"}
_BY_NAME = {name: of for of, name in NAMES.items()}
_BY_NAME |= {"float": DOUBLE, "int": LONG, "bool": BOOL}


class NotCuda(Exception):
    """Why a kernel has no CUDA."""


@dataclass(frozen=True)
class Elements:
    """An array of numbers."""

    of: str
    rank: int


@dataclass(frozen=True)
class Tape:
    """A list that numbers are appended to and popped from; `of` is known late."""

    of: str


#: C++'s name of a number's type, or one of the above.
Kind = str | Elements | Tape
UNSURE = Tape("")


def kind_of(dtype: Any, rank: int) -> Kind:
    """The kind of what a kernel is given. Raises NotCuda."""
    of = OF_DTYPE.get(getattr(dtype, "str", ""))
    if of is None:
        raise NotCuda("a number that is none of float64, float32, int64 and bool")
    return Elements(of, rank) if rank else of


def wider(a: str, b: str) -> str:
    """The type of two numbers that meet."""
    if a == b:
        return a
    pair = {a, b}
    if BOOL in pair:
        return (pair - {BOOL}).pop()
    return DOUBLE


def number(kind: Kind) -> str:
    """The type of a number. Raises NotCuda where it is none."""
    if isinstance(kind, str):
        return kind
    raise NotCuda("an array or a list where a number is meant")


#: What gives a truth value.
TESTS = {"np.isinf", "np.isfinite", "np.isnan", "np.logical_not"}
#: What gives the type of its arguments, whole numbers too.
KEEPS = {"abs", "added", "np.sign", "min", "max"}
CASTS = {"float": DOUBLE, "int": LONG, "bool": BOOL}
CASTS |= {f"np.{name}": of for of, name in NAMES.items()}
VALUES = {"np.pi", "math.pi", "np.e", "math.e", "np.inf", "np.nan"}


class Kinds:
    """Finds the kind of every name of a kernel, from those of its parameters."""

    def __init__(self, function: gast.FunctionDef, given: dict[str, Kind]) -> None:
        self.function = function
        self.given = given
        self.of: dict[str, Kind] = dict(given)
        self.names = syntax.Names(syntax.all_names(function))
        self.changed = True
        while self.changed:
            self.changed = False
            self.block(function.body, False)

    def block(self, stmts: list[Any], repeated: bool) -> None:
        seen: dict[str, Kind] = {}
        for at, stmt in enumerate(stmts):
            if isinstance(stmt, gast.Assign):
                for name, kind in self.bound(stmt):
                    self.bind(name, kind, seen, stmts, at, repeated)
            elif isinstance(stmt, gast.For):
                self.meet(stmt.target.id, LONG)
                self.block(stmt.body, True)
            elif isinstance(stmt, gast.While):
                self.block(stmt.body, True)
            elif isinstance(stmt, gast.If):
                self.block(stmt.body, repeated)
                self.block(stmt.orelse, repeated)
            elif isinstance(stmt, gast.Expr):
                self.appended(stmt.value)

    def bound(self, stmt: gast.Assign) -> list[tuple[str, Kind]]:
        """The names that an assignment binds, with their kinds."""
        (target,) = stmt.targets
        if isinstance(target, gast.Name):
            return [(target.id, self.kind(stmt.value))]
        if isinstance(target, gast.Tuple) and isinstance(stmt.value, gast.Tuple):
            pairs = zip(target.elts, stmt.value.elts, strict=True)
            return [(name.id, self.kind(value)) for name, value in pairs]
        return []

    def bind(
        self,
        name: str,
        kind: Kind,
        seen: dict[str, Kind],
        stmts: list[Any],
        at: int,
        repeated: bool,
    ) -> None:
        """A name is bound; where it gets another type, it gets another name too."""
        before = seen.get(name, self.given.get(name))
        if before is not None and before != kind and kind is not UNSURE:
            rest = stmts[at + 1 :]
            inside = syntax.count_uses(stmts[at:], name)
            outside = syntax.count_uses(self.function, name) - inside
            free = outside == syntax.count_uses(stmts[:at], name)
            carried = repeated and name in exposed(stmts)
            if free and not carried and isinstance(stmts[at].targets[0], gast.Name):
                new = self.names.fresh(name)
                stmts[at].targets[0].id = new
                syntax.rename(rest, {name: new})
                self.changed = True
                name = new
        seen[name] = kind
        self.meet(name, kind)

    def meet(self, name: str, kind: Kind) -> None:
        before = self.of.get(name)
        if before is None:
            self.of[name] = kind
        elif before == kind or kind is UNSURE:
            return
        elif isinstance(before, str) and isinstance(kind, str):
            self.of[name] = wider(before, kind)
        elif isinstance(before, Tape) and not before.of:
            self.of[name] = kind
        elif not isinstance(before, Tape):
            raise NotCuda(f"`{name}` stands for things of two kinds")
        if self.of[name] != before:
            self.changed = True

    def appended(self, call: Any) -> None:
        """`tape.append(v)` tells what is on the tape."""
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return
        if not isinstance(call.func.value, gast.Name):
            raise NotCuda(f"`{syntax.text(call)}` in a kernel")
        name = call.func.value.id
        kind = self.kind(call.args[0])
        if kind is UNSURE:
            return
        of = self.of.get(name)
        if not isinstance(of, Tape):
            raise NotCuda(f"`{name}` is no list that the kernel made")
        of_item = wider(of.of, number(kind)) if of.of else number(kind)
        if of_item != of.of:
            self.of[name] = Tape(of_item)
            self.changed = True

    # -- expressions -----------------------------------------------------------------

    def kind(self, node: Any) -> Kind:
        """The kind of an expression; UNSURE where it hangs on what is not yet known."""
        if isinstance(node, gast.Constant):
            types = {bool: BOOL, int: LONG, float: DOUBLE}
            if type(node.value) not in types:
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            return types[type(node.value)]
        if isinstance(node, gast.Name):
            return self.of.get(node.id, UNSURE)
        if isinstance(node, gast.BinOp):
            return self.of_operator(node)
        if isinstance(node, gast.UnaryOp):
            if isinstance(node.op, gast.Not):
                return BOOL
            kind = self.kind(node.operand)
            return LONG if kind == BOOL else kind
        if isinstance(node, (gast.Compare, gast.BoolOp)):
            return BOOL
        if isinstance(node, gast.IfExp):
            return self.together(node.body, node.orelse)
        if isinstance(node, gast.Subscript):
            return self.of_item(node)
        if isinstance(node, gast.Attribute):
            return self.of_attribute(node)
        if isinstance(node, gast.Call):
            return self.of_call(node)
        if isinstance(node, gast.List) and not node.elts:
            return UNSURE
        raise NotCuda(f"`{syntax.text(node)}` in a kernel")

    def together(self, *nodes: Any) -> Kind:
        kinds = [self.kind(n) for n in nodes]
        if UNSURE in kinds:
            return UNSURE
        found = number(kinds[0])
        for kind in kinds[1:]:
            found = wider(found, number(kind))
        return found

    def of_operator(self, node: gast.BinOp) -> Kind:
        kind = self.together(node.left, node.right)
        if not isinstance(kind, str):
            return kind
        if isinstance(node.op, gast.Div):
            return FLOAT if kind == FLOAT else DOUBLE
        if isinstance(node.op, (gast.BitAnd, gast.BitOr, gast.BitXor)):
            return kind
        return LONG if kind == BOOL else kind

    def of_attribute(self, node: gast.Attribute) -> Kind:
        if syntax.dotted(node) in VALUES:
            return DOUBLE
        if node.attr in ("size", "ndim"):
            return LONG
        if node.attr == "T":
            return self.kind(node.value)
        raise NotCuda(f"`{syntax.text(node)}` in a kernel")

    def of_item(self, node: gast.Subscript) -> Kind:
        """`x.shape[0]`, `x[i, j]`, `x[i]` of a matrix, `x[1:]`."""
        base = node.value
        if isinstance(base, gast.Attribute) and base.attr == "shape":
            return LONG
        kind = self.kind(base)
        if kind is UNSURE:
            return UNSURE
        if not isinstance(kind, Elements):
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        rank = kind.rank
        for item in items_of(node):
            if isinstance(item, gast.Slice):
                continue
            if isinstance(item, gast.Constant) and item.value is ...:
                continue
            rank += 1 if is_new_axis(item) else -1
        return Elements(kind.of, rank) if rank else kind.of

    def of_call(self, node: gast.Call) -> Kind:
        path = syntax.dotted(node.func) or ""
        if isinstance(node.func, gast.Attribute) and node.func.attr == "pop":
            kind = self.kind(node.func.value)
            if kind is UNSURE:
                return UNSURE
            if not isinstance(kind, Tape):
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            return kind.of
        if path == "len":
            return LONG
        if path in CASTS:
            return CASTS[path]
        if path in MAKERS:
            return self.made(node, path)
        if path == "np.dot":
            a, b = (self.kind(n) for n in node.args)
            if UNSURE in (a, b):
                return UNSURE
            if not (isinstance(a, Elements) and isinstance(b, Elements)):
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            rank = a.rank + b.rank - 2
            return Elements(a.of, rank) if rank else a.of
        if path in TESTS:
            return BOOL
        kind = self.together(*node.args)
        if not isinstance(kind, str) or path in KEEPS:
            return kind
        return FLOAT if kind == FLOAT else DOUBLE

    def made(self, node: gast.Call, path: str) -> Kind:
        """`np.zeros((n, m), np.float32)`."""
        shape, *more = node.args
        of = DOUBLE
        dtypes = more[1:] if path == "np.full" else more
        if dtypes:
            name = (syntax.dotted(dtypes[0]) or "").removeprefix("np.")
            of = _BY_NAME.get(name, "")
        if not of:
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        if isinstance(shape, gast.Tuple):
            return Elements(of, len(shape.elts))
        if isinstance(shape, gast.Attribute) and shape.attr == "shape":
            kind = self.kind(shape.value)
            if kind is UNSURE:
                return UNSURE
            if not isinstance(kind, Elements):
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            return Elements(of, kind.rank)
        return Elements(of, 1)


def items_of(node: gast.Subscript) -> list[Any]:
    """The parts of an index."""
    return list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]


def is_new_axis(item: Any) -> bool:
    if isinstance(item, gast.Constant):
        return item.value is None
    return syntax.dotted(item) == "np.newaxis"
