"""From the two sweeps to a function that reads well."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Scalar,
    Type,
    all_buffers,
    dtype_of,
    is_number,
    same_shape,
    shape_of,
)
from srcjax.ops.expand import has_shape_of
from srcjax.transforms.algebra import tidy
from srcjax.transforms.reverse.entry import Written
from srcjax.transforms.reverse.reads_writes import exposed, surely
from srcjax.transforms.reverse.rules import Rules
from srcjax.transforms.simplify.coalesce import coalesce, renumber
from srcjax.transforms.simplify.dead import remove_dead
from srcjax.transforms.simplify.nest import nest
from srcjax.transforms.simplify.owned import own_results, own_written
from srcjax.transforms.simplify.sugar import sugar
from srcjax.transforms.simplify.updates import join_updates, merge_branches


def finish(written: list[Written]) -> list[gast.FunctionDef]:
    """Simplify a function, or a forward/backward pair, and add the comments."""
    if len(written) == 2:
        link_saved(*written)
    for w in written:
        Finisher(w).run()
    return [w.node for w in written]


def link_saved(forward: Written, backward: Written) -> None:
    """Return from the forward function what the backward function reads."""
    own = {a.id for a in syntax.walk(forward.node.args) if isinstance(a, gast.Name)}
    own |= syntax.names_written(forward.node.body)
    simplified = Finisher(backward)
    simplified.tidy_up()
    reads = _reads_first(backward.node)
    names = [n for n in ordered_names(forward.node) if n in reads and n in own]
    items = [syntax.name(n) for n in names]
    sure: set[str] = {
        a.id for a in syntax.walk(forward.node.args) if isinstance(a, gast.Name)
    }
    for stmt in forward.node.body:
        sure |= surely(stmt)
        if isinstance(stmt, (gast.Assign, gast.Return)):
            sure |= syntax.names_read(stmt)  # not bound here, it would raise
    unsure = [n for n in names if n not in sure]
    forward.node.body[:0] = [syntax.assign(n, syntax.const(None)) for n in unsure]
    last = forward.node.body[-1]
    assert isinstance(last, gast.Return)
    last.value = gast.Tuple([last.value, gast.Tuple(items, syntax.LOAD)], syntax.LOAD)
    saved = backward.node.args.args[0].id
    if names:
        target = gast.Tuple([syntax.name(n, store=True) for n in names], syntax.STORE)
        unpack = gast.Assign([target], syntax.name(saved), None)
        backward.node.body.insert(0, unpack)


def ordered_names(node: gast.FunctionDef) -> list[str]:
    """Names of a function in the order in which they are bound."""
    found: dict[str, None] = {}
    for sub in syntax.walk(node.args):
        if isinstance(sub, gast.Name):
            found[sub.id] = None
    for sub in syntax.walk(node.body):
        if isinstance(sub, gast.Name) and isinstance(sub.ctx, gast.Store):
            found[sub.id] = None
    return list(found)


def _reads_first(node: gast.FunctionDef) -> set[str]:
    """Names that the function reads before it binds them."""
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    return exposed(node.body) - parameters


class Finisher:
    """Simplifies one written function."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.node = written.node
        self.rules: Rules = written.rules
        self.unit = written.unit
        self.buffers = {name: all_buffers(t) for name, t in self.rules.types.items()}
        self.adjoints = {
            variable: place for place, variable in self.rules.places.variables.items()
        }
        self.pure: frozenset[str] = frozenset()
        self.atoms: set[str] = set()

    def run(self) -> None:
        mark_backward(self.node.body)
        self.tidy_up()
        sugar(self.node, self.unit.temps)
        own_written(self.node, self.is_immutable, self.rules.types)
        if self.written.gradient_at is not None:
            own_results(self.node, self.is_immutable, self.written.gradient_at)
        coalesce(self.node, self.wanted_names())
        names = self.unit.names
        renumber(self.node, names.numbered, names.reserved)
        add_comments(self.node)

    def tidy_up(self) -> None:
        """Dead code, nesting and algebra until nothing changes (three rounds do)."""
        for _ in range(3):
            remove_dead(self.node, self.pure, self.shares)
            self.atoms = self.atomic_adjoints()
            nest(self.node, self.may_nest, self.pure, self.shares)
            self.node.body = merge_branches(join_updates(self.node.body))
            self.algebra()
        remove_dead(self.node, self.pure, self.shares)

    def shares(self, name: str) -> set[str]:
        """Names whose values may share memory with the name's."""
        mine = self.buffers.get(name)
        if not mine:
            return set()
        return {n for n, b in self.buffers.items() if b & mine and n != name}

    def may_nest(self, name: str) -> bool:
        """Names that srcjax made; the user's own stay, and so do their adjoints."""
        if name in self.unit.temps or name in self.unit.inlined:
            return True
        place = self.adjoints.get(name)
        if place is not None and (
            place[0] in self.unit.temps or place[0] in self.unit.inlined
        ):
            return True
        return name in self.atoms

    def atomic_adjoints(self) -> set[str]:
        """Adjoint variables whose value is an atom or seed."""
        return {
            stmt.targets[0].id
            for stmt in syntax.walk(self.node.body)
            if isinstance(stmt, gast.Assign)
            and isinstance(stmt.targets[0], gast.Name)
            and syntax.is_atom(stmt.value)
            and getattr(stmt, "backward", False)
        }

    def algebra(self) -> None:
        """Local algebra in every backward expression."""
        for stmt in _statements(self.node.body):
            if not getattr(stmt, "backward", False):
                continue
            if isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Return)):
                if stmt.value is not None:
                    stmt.value = self.tidy(stmt.value)
                    self.fold_updates(stmt)
            elif isinstance(stmt, gast.Expr):
                stmt.value = self.tidy(stmt.value)
        last = self.node.body[-1]
        if isinstance(last, gast.Return) and last.value is not None:
            last.value = self.tidy(last.value)

    def fold_updates(self, stmt: Any) -> None:
        """`x += -e` is `x -= e`."""
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.op, gast.Add):
            value = stmt.value
            if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
                stmt.op, stmt.value = gast.Sub(), value.operand
            elif (
                isinstance(value, gast.BinOp)
                and isinstance(value.op, (gast.Mult, gast.Div))
                and isinstance(value.left, gast.UnaryOp)
                and isinstance(value.left.op, gast.USub)
            ):
                stmt.op = gast.Sub()
                stmt.value = gast.BinOp(value.left.operand, value.op, value.right)

    def tidy(self, value: gast.expr) -> gast.expr:
        value = syntax.map_expressions(value, self.without_zero)
        value = syntax.map_expressions(value, self.plain_size)
        value = syntax.map_expressions(value, without_copies)
        value = syntax.map_expressions(value, plain_unbroadcast)
        return tidy(value, self.is_number, self.is_float)

    def plain_size(self, node: gast.expr) -> gast.expr:
        """`(x**2).size` is `x.size`."""
        if not isinstance(node, gast.Attribute) or node.attr not in ("size", "shape"):
            return node
        inner = node.value
        operands: list[gast.expr] = []
        if isinstance(inner, gast.BinOp) and not isinstance(inner.op, gast.MatMult):
            operands = [inner.left, inner.right]
        elif isinstance(inner, gast.UnaryOp):
            operands = [inner.operand]
        if node.attr == "size" and isinstance(inner, gast.Call):
            return self.size_of_reduction(node, inner)
        whole = shape_of(self.type_of(inner)) if operands else None
        for operand in operands:
            if isinstance(operand, gast.Constant):
                continue
            if same_shape(shape_of(self.type_of(operand)), whole):
                return self.plain_size(gast.Attribute(operand, node.attr, syntax.LOAD))
        return node

    def size_of_reduction(self, node: gast.Attribute, inner: gast.Call) -> gast.expr:
        """`np.sum(x * y, axis=1).size` is `x.shape[0]`."""
        reduces = syntax.dotted(inner.func) in ("np.sum", "np.mean", "np.max", "np.var")
        axis = next((k.value for k in inner.keywords if k.arg == "axis"), None)
        plain = len(inner.keywords) == 1 and len(inner.args) == 1
        if not (reduces and plain and isinstance(axis, gast.Constant)):
            return node
        shape = shape_of(self.type_of(inner.args[0]))
        if shape is None or len(shape) != 2 or axis.value not in (0, 1, -1):
            return node
        whole = gast.Attribute(inner.args[0], "shape", syntax.LOAD)
        kept = 1 - axis.value % 2
        return gast.Subscript(self.plain_size(whole), syntax.const(kept), syntax.LOAD)

    def without_zero(self, node: gast.expr) -> gast.expr:
        """`n - 0` is `n` for a count n."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            zero = isinstance(node.right, gast.Constant) and node.right.value == 0
            if (
                zero
                and isinstance(node.right.value, int)
                and is_number(self.type_of(node.left))
            ):
                return node.left
        return node

    def type_of(self, node: gast.expr) -> Type:
        env = {}
        for name in syntax.names_read(node):
            if name in self.adjoints or name in self.rules.types:
                env[name] = self.type_of_name(name)
        return self.rules.typer.type_of(node, env)

    def type_of_name(self, name: str) -> Type:
        place = self.adjoints.get(name)
        if place is not None:
            from srcjax.transforms.reverse.places import part_of

            t = self.rules.type_of_name(place[0])
            try:
                return part_of(t, place[1]) if place[1] else t
            except KeyError:
                return UNKNOWN
        return self.rules.types.get(name, UNKNOWN)

    def is_number(self, node: gast.expr) -> bool:
        return is_number(self.type_of(node))

    def is_float(self, node: gast.expr) -> bool:
        if isinstance(node, gast.Call) and syntax.dotted(node.func) in _ALWAYS_FLOAT:
            return True
        t = self.type_of(node)
        dtype = dtype_of(t)
        return (
            isinstance(t, (Array, Scalar)) and dtype is not None and dtype.kind in "fc"
        )

    def is_immutable(self, node: gast.expr) -> bool:
        """Whether the value is a number: nothing can be written to it."""
        return is_number(self.type_of(node))

    def wanted_names(self) -> dict[str, str]:
        """Names that webs and inlining made, and the names a reader expects."""
        wanted = dict(self.unit.base_names)
        for name in self.unit.names.taken:
            place = self.adjoints.get(name)
            if place is not None and not place[1]:
                base = self.unit.base_names.get(place[0], place[0])
                if name != "d" + base:
                    wanted[name] = "d" + base
        return {k: v for k, v in wanted.items() if k != v}


#: Functions whose result is floating whatever they are given.
_ALWAYS_FLOAT = frozenset(
    f"{module}.{name}"
    for module in ("np", "math")
    for name in [
        "sin",
        "cos",
        "tan",
        "exp",
        "log",
        "sqrt",
        "tanh",
        "sinh",
        "cosh",
        "arctan",
        "log1p",
        "expm1",
        "cbrt",
    ]
)


def without_copies(node: gast.expr) -> gast.expr:
    """`a.copy() * 2` is `a * 2`: arithmetic makes a new array anyway."""

    def bare(operand: gast.expr) -> gast.expr:
        is_copy = (
            isinstance(operand, gast.Call)
            and isinstance(operand.func, gast.Attribute)
            and operand.func.attr == "copy"
            and not operand.args
        )
        return operand.func.value if is_copy else operand

    if isinstance(node, gast.BinOp):
        return gast.BinOp(bare(node.left), node.op, bare(node.right))
    if isinstance(node, gast.UnaryOp):
        return gast.UnaryOp(node.op, bare(node.operand))
    return node


def plain_unbroadcast(node: gast.expr) -> gast.expr:
    """`unbroadcast(2 * x, x)` is `2 * x`."""
    if syntax.dotted(getattr(node, "func", None)) == "unbroadcast":
        value, like = node.args
        if has_shape_of(value, like):
            return value
    return node


def mark_backward(body: list[gast.stmt], inside: bool = False) -> None:
    """Statements inside backward statements are backward as well."""
    for stmt in body:
        mine = inside or getattr(stmt, "backward", False)
        stmt.backward = mine
        for key in ("body", "orelse", "finalbody"):
            inner = getattr(stmt, key, None)
            if isinstance(inner, list):
                mark_backward(inner, mine)


def _statements(body: list[gast.stmt]) -> list[Any]:
    return [s for s in syntax.walk(body) if isinstance(s, gast.stmt)]


def add_comments(node: gast.FunctionDef) -> None:
    """Quote the user's line above each group of backward statements."""
    node.body = _commented(node.body)


def _commented(body: list[gast.stmt]) -> list[gast.stmt]:
    out: list[gast.stmt] = []
    current: Any = None
    for stmt in body:
        compound = isinstance(stmt, (gast.If, gast.For, gast.While, gast.With))
        if compound:
            for key in ("body", "orelse"):
                if getattr(stmt, key, None):
                    setattr(stmt, key, _commented(getattr(stmt, key)))
            current = None
        elif getattr(stmt, "backward", False) and not isinstance(stmt, gast.Return):
            where = getattr(stmt, "user_line", None)
            if where is not None and where != current and where[2]:
                out.append(syntax.comment(where[2]))
            current = where
        out.append(stmt)
    return out
