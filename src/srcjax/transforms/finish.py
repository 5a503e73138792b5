"""From the two sweeps to a function that reads well."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.swaps import swap_pairs
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Scalar,
    Type,
    Unknown,
    all_buffers,
    dtype_of,
    has_complex,
    is_number,
    same_shape,
    shape_of,
)
from srcjax.transforms.algebra import tidy
from srcjax.transforms.reverse.reads_writes import exposed, surely
from srcjax.transforms.simplify.coalesce import coalesce, renumber
from srcjax.transforms.simplify.comments import add_comments
from srcjax.transforms.simplify.dead import remove_dead
from srcjax.transforms.simplify.delay import delay
from srcjax.transforms.simplify.effects import is_pure
from srcjax.transforms.simplify.factors import cancelled
from srcjax.transforms.simplify.last_iteration import guard_last
from srcjax.transforms.simplify.nest import nest
from srcjax.transforms.simplify.owned import (
    is_fresh,
    own,
    own_results,
    own_written,
)
from srcjax.transforms.simplify.plain import (
    item_of_display,
    item_of_sum,
    join_choices,
    join_copies,
    plain_ones,
    plain_unbroadcast,
    plain_where,
    sign_outside,
    store_number,
    transposed,
    without_copies,
    without_zeros,
)
from srcjax.transforms.simplify.restored import own_restored
from srcjax.transforms.simplify.rotate import rotate
from srcjax.transforms.simplify.spell_out import Leave, spell_out
from srcjax.transforms.simplify.sugar import sugar
from srcjax.transforms.simplify.updates import (
    fold_starts,
    join_updates,
    merge_branches,
    return_directly,
)
from srcjax.transforms.writer import Writer
from srcjax.transforms.written import Written


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
    views = {n: v for n, v in views_of_names(forward).items() if n in reads}
    reads = (reads - set(views)) | syntax.names_read(list(views.values()))
    names = [n for n in ordered_names(forward.node) if n in reads and n in own]
    backward.node.body[:0] = [syntax.assign(n, v) for n, v in views.items()]
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


def views_of_names(written: Written) -> dict[str, gast.expr]:
    """Names that are a view of an array with a name, such as `x.T` or `x[:, 1:]`.

    The name of the array stands for one array, so that the view can be taken again.
    """
    node, finisher = written.node, Finisher(written)
    bound: dict[str, int] = {}
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Name) and not isinstance(sub.ctx, gast.Load):
            bound[sub.id] = bound.get(sub.id, 0) + 1
    found = {}
    for stmt in node.body:
        if not isinstance(stmt, gast.Assign):
            continue
        target, value = stmt.targets[0], stmt.value
        base = getattr(value, "value", None)
        if not (isinstance(target, gast.Name) and isinstance(base, gast.Name)):
            continue
        once = bound.get(target.id) == 1 == bound.get(base.id)
        types = [finisher.type_of_name(n.id) for n in (target, base)]
        arrays = all(isinstance(t, Array) for t in types)
        if once and arrays and _is_view(value):
            found[target.id] = syntax.clone(value)
    return {n: v for n, v in found.items() if not syntax.names_read(v) & set(found)}


def _is_view(value: gast.expr) -> bool:
    """Whether the expression is `x.T`, or `x[1:, :, None]` with constant bounds."""
    if isinstance(value, gast.Attribute):
        return value.attr == "T"
    if not isinstance(value, gast.Subscript):
        return False
    index = value.slice
    entries = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(node, (gast.Slice, gast.Constant, gast.UnaryOp))
        for entry in entries
        for node in syntax.walk(entry)
    )


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
        self.rules: Writer = written.rules
        self.unit = written.unit
        self.buffers = {name: all_buffers(t) for name, t in self.rules.types.items()}
        self.buffers |= self.rules.derivative_buffers()
        if written.forward:
            self.buffers = with_trades(self.buffers, self.unit.node.body)
        self.adjoints = {
            variable: place for place, variable in self.rules.places.variables.items()
        }
        self.pure: frozenset[str] = frozenset()
        self.atoms: set[str] = set()

    def run(self) -> None:
        mark_backward(self.node.body)
        self.tidy_up()
        if self.written.forward:
            self.node.body = join_copies(self.node.body)
        sugar(self.node, self.unit.temps)
        guard_last(self.node, self.has_product, self.pure, self.shares)
        if not self.written.forward:
            own_written(self.node, self.is_immutable, self.rules.types)
            own_restored(
                self.node,
                self.rules.types,
                self.shares,
                self.is_immutable,
                lambda value: own(value, self.type_of(value)),
            )
        if self.written.gradient_at is not None:
            own_results(
                self.node,
                self.is_immutable,
                self.written.gradient_at,
                lambda value: isinstance(self.type_of(value), Unknown),
            )
        if not self.written.forward:
            self.name_results()
        coalesce(self.node, self.wanted_names())
        names = self.unit.names
        renumber(self.node, names.numbered, names.reserved)
        if not self.written.forward:
            return_directly(self.node)
            add_comments(self.node)

    def tidy_up(self) -> None:
        """Dead code, nesting and algebra until nothing changes (three rounds do)."""
        for _ in range(3):
            remove_dead(self.node, self.pure, self.shares)
            self.atoms = self.atomic_adjoints()
            delay(self.node.body, self.may_nest, self.shares)
            nest(self.node, self.may_nest, self.pure, self.shares)
            spell_out(self.node, self.may_spell_out, self.leave, self.shares)
            self.node.body = merge_branches(
                join_updates(fold_starts(self.node.body, self.shares))
            )
            self.algebra()
        remove_dead(self.node, self.pure, self.shares)
        if rotate(self.node, self.pure, self.shares):
            remove_dead(self.node, self.pure, self.shares)

    def name_results(self) -> None:
        """`return dx, ddifference` of a function of x and y is `return dx, dy`."""
        last = self.node.body[-1]
        result = last.value if isinstance(last, gast.Return) else None
        at = self.written.gradient_at
        if isinstance(result, gast.Tuple) and at is not None and at >= 0:
            result = result.elts[at]
        wrt = self.written.wrt
        if not isinstance(result, gast.Tuple) or len(result.elts) != len(wrt):
            return
        parameters = {a.id for a in syntax.walk(self.node.args) if syntax.is_name(a)}
        for argument, value in zip(wrt, result.elts, strict=True):
            wanted = self.rules.derivative_name(
                self.unit.base_names.get(argument, argument)
            )
            name = getattr(value, "id", "")
            place = self.adjoints.get(name)
            made = (name if place is None else place[0]) in self.unit.temps
            once = syntax.count_reads(last, name) == 1
            if name in parameters or not made or not once:
                continue
            bound = [s for s in _statements(self.node.body) if _binds(s, name)]
            if not all(getattr(s, "backward", False) for s in bound):
                continue
            if wanted not in syntax.all_names(self.node):
                syntax.rename(self.node.body, {name: wanted})

    def shares(self, name: str) -> set[str]:
        """Names whose values may share memory with the name's."""
        mine = self.buffers.get(name)
        if not mine:
            return set()
        return {n for n, b in self.buffers.items() if b & mine and n != name}

    def may_spell_out(self, name: str) -> bool:
        """Names for what is cheap to write twice: gathered examples are not."""
        return self.may_nest(name) and name not in self.written.gathers

    def may_nest(self, name: str) -> bool:
        """Names that srcjax made; the user's own stay, and so do their adjoints."""
        place = self.adjoints.get(name)
        ours = (self.unit.temps, self.unit.made, self.unit.inlined)
        if any(name in names or (place and place[0] in names) for names in ours):
            return True
        return name in self.atoms

    def leave(self, value: gast.expr) -> Leave | None:
        """How often a value may be written out instead of being held in a name."""
        if isinstance(value, gast.Attribute) and isinstance(value.value, gast.Name):
            view = value.attr in ("T", "shape", "size", "ndim")
            return Leave(4, in_loops=True) if view else None
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            index = value.slice
            if any(isinstance(n, gast.Call) for n in syntax.walk(index)):
                return None
            base = self.type_of(value.value)
            if isinstance(base, Array):
                return Leave(4, together=True)
            held = isinstance(index, gast.Constant) and not isinstance(base, Unknown)
            return Leave(3) if held else None
        if isinstance(value, gast.Compare):
            atoms = [value.left, *value.comparators]
            return Leave(2) if all(map(syntax.is_atom, atoms)) else None
        if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            return Leave(2) if syntax.is_atom(value.operand) else None
        if isinstance(value, gast.BinOp) and not isinstance(value.op, gast.Pow):
            parts = [value.left, value.right]
            constant = any(isinstance(p, gast.Constant) for p in parts)
            plain = all(map(syntax.is_atom, parts)) and self.is_number(value)
            return Leave(2) if constant and plain else None
        return None

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

        def item(node: gast.expr) -> gast.expr:
            return item_of_display(node, self.pure)

        last = self.node.body[-1]
        for stmt in _statements(self.node.body):
            plain = isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Return))
            if not plain and not isinstance(stmt, gast.Expr) or stmt.value is None:
                continue
            before, fresh = stmt.value, getattr(stmt, "fresh", False)
            backward = getattr(stmt, "backward", False)
            settled = getattr(stmt, "settled", None)
            if settled == (fresh, backward) and syntax.equal(before, stmt.settled_as):
                continue
            if plain:
                stmt.value = syntax.map_expressions(before, item)
            if backward or (stmt is last and plain):
                stmt.value = self.tidied(stmt)
            if backward and plain:
                self.fold_updates(stmt)
                store_number(stmt)
            if syntax.equal(before, stmt.value):
                stmt.settled, stmt.settled_as = (fresh, backward), before

    def tidied(self, stmt: Any) -> gast.expr:
        """The tidy value; what has to be a new array stays one: `x * 1` is a copy."""
        value: gast.expr = stmt.value
        if not getattr(stmt, "fresh", False):
            return self.tidy(value)

        def keep(before: Any) -> Any:
            if isinstance(before, (gast.Tuple, gast.List)):
                return type(before)([keep(e) for e in before.elts], syntax.LOAD)
            if isinstance(before, gast.Dict):
                return gast.Dict(before.keys, [keep(v) for v in before.values])
            if isinstance(stmt, gast.Expr) and before is value:
                before.args = [keep(a) for a in before.args]
                return before
            after = self.tidy(before)
            return own(after, self.type_of(after)) if is_fresh(before) else after

        kept: gast.expr = keep(value)
        return kept

    def fold_updates(self, stmt: Any) -> None:
        """`x += -e` is `x -= e`, and `x -= -a * b / c` is `x += a * b / c`."""
        if not isinstance(stmt, gast.AugAssign) or not isinstance(
            stmt.op, (gast.Add, gast.Sub)
        ):
            return
        value = stmt.value
        parts: list[Any] = []
        while isinstance(value, gast.BinOp) and isinstance(
            value.op, (gast.Mult, gast.Div)
        ):
            parts.append(value)
            value = value.left
        if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            product = value.operand
            for part in reversed(parts):
                product = gast.BinOp(product, part.op, part.right)
            stmt.op = gast.Sub() if isinstance(stmt.op, gast.Add) else gast.Add()
            stmt.value = product

    def tidy(self, value: gast.expr) -> gast.expr:
        value = syntax.map_expressions(value, self.plainer)
        value = tidy(value, self.is_number, self.is_float)
        value = syntax.map_expressions(value, self.lowest_terms)
        return syntax.map_expressions(value, self.plain_minus)

    def plainer(self, node: gast.expr) -> gast.expr:
        """The node, whose parts are plain, in the words a person would use."""
        if isinstance(node, (gast.Name, gast.Constant)):
            return node
        node = self.plain_size(self.without_zero(node))
        node = self.plain_transpose(plain_unbroadcast(without_copies(node)))
        node = plain_ones(without_zeros(sign_outside(node), self.alike))
        node = plain_where(join_choices(item_of_sum(node)))
        return self.plain_zeros(self.without_complex_one(node))

    def lowest_terms(self, node: gast.expr) -> gast.expr:
        """`2 * (a / (2 * b))` is `a / b`."""
        return cancelled(node, self.alike, self.is_float, self.is_number)

    def alike(self, new: gast.expr, old: gast.expr) -> bool:
        """Whether both are floating, of one shape and dtype."""
        if not self.is_float(old):
            return False
        types = [self.type_of(e) for e in (new, old)]
        if dtype_of(types[0]) != dtype_of(types[1]):
            return False
        if all(map(is_number, types)):
            return True
        return same_shape(shape_of(types[0]), shape_of(types[1]))

    def plain_minus(self, node: gast.expr) -> gast.expr:
        """`a + -2 * b * c` is `a - 2 * b * c`, and so is `-2 * b * c + a`."""
        if not isinstance(node, gast.BinOp) or not isinstance(
            node.op, (gast.Add, gast.Sub)
        ):
            return node
        plus = isinstance(node.op, gast.Add) and is_pure(node)
        if plus and _is_negative(node.left) and not _is_negative(node.right):
            node = gast.BinOp(node.right, gast.Add(), node.left)
        factors: list[Any] = []
        first: Any = node.right
        while isinstance(first, gast.BinOp) and isinstance(
            first.op, (gast.Mult, gast.Div)
        ):
            factors.append(first)
            first = first.left
        if not (isinstance(first, gast.UnaryOp) and isinstance(first.op, gast.USub)):
            return node
        number = isinstance(first.operand, gast.Constant) and factors
        if not number or not self.is_float(node.right):
            return node
        product = first.operand
        for factor in reversed(factors):
            product = gast.BinOp(product, factor.op, factor.right)
        op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
        return gast.BinOp(node.left, op, product)

    def plain_zeros(self, node: gast.expr) -> gast.expr:
        """`np.broadcast_to(np.zeros_like(x), (n, 3)).copy()` is `np.zeros((n, 3))`."""
        spread: Any = node.func.value if _is_copy(node) else None
        if not _is_call(spread, "np.broadcast_to") or len(spread.args) != 2:
            return node
        zeros, shape = spread.args
        if not _is_call(zeros, "np.zeros_like") or len(zeros.args) != 1:
            return node
        t = self.type_of(zeros.args[0])
        if not isinstance(t, Array) or t.dtype is None or zeros.keywords:
            return node
        if t.dtype == np.dtype(float):
            return syntax.call("np.zeros", shape)
        dtype = gast.Attribute(zeros.args[0], "dtype", syntax.LOAD)
        return syntax.call("np.zeros", shape, dtype=dtype)

    def without_complex_one(self, node: gast.expr) -> gast.expr:
        """`(1 + 0j) * z`, of a holomorphic gradient, is `1.0 * z` for complex `z`."""
        factors, leaf = [], node
        while isinstance(leaf, gast.BinOp) and isinstance(
            leaf.op, (gast.Mult, gast.Div)
        ):
            factors.append(leaf.right)
            leaf = leaf.left
        inner = leaf.operand if isinstance(leaf, gast.UnaryOp) else leaf
        one = isinstance(inner, gast.Constant) and isinstance(inner.value, complex)
        if (
            one
            and inner.value == 1
            and any(has_complex(self.type_of(f)) for f in factors)
        ):
            inner.value = 1.0
        return node

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
        elif isinstance(inner, gast.Call) and len(inner.args) == 1:
            chain = syntax.dotted(inner.func)
            operands = inner.args if chain in _ALWAYS_FLOAT else []
        if node.attr == "size" and isinstance(inner, gast.Call) and not operands:
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

    def plain_transpose(self, node: gast.expr) -> gast.expr:
        """`x.T.T` is `x`, and `(A.T @ B).T` is `B.T @ A`."""
        inner = transposed(node)
        if inner is None:
            return node
        if transposed(inner) is not None:
            return transposed(inner) or node
        if isinstance(inner, gast.BinOp) and isinstance(inner.op, gast.MatMult):
            operands = (inner.left, inner.right)
            ranks = [shape_of(self.type_of(x)) for x in operands]
            some = any(transposed(x) is not None for x in operands)
            if some and all(r is not None and len(r) == 2 for r in ranks):
                left, right = (
                    self.plain_transpose(gast.Attribute(x, "T", syntax.LOAD))
                    for x in operands
                )
                return gast.BinOp(right, gast.MatMult(), left)
        return node

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
            from srcjax.transforms.places import part_of

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
        if isinstance(t, Array) and t.shape == ():
            return False  # `1.0 * x` is a number; to `x` itself may be written
        return (
            isinstance(t, (Array, Scalar)) and dtype is not None and dtype.kind in "fc"
        )

    def is_immutable(self, node: gast.expr) -> bool:
        """Whether the value is a number: nothing can be written to it."""
        return is_number(self.type_of(node))

    def has_product(self, node: gast.expr) -> bool:
        """Whether the expression has a product with a matrix: real work."""
        for sub in syntax.walk(node):
            operands: list[gast.expr] = []
            if isinstance(sub, gast.BinOp) and isinstance(sub.op, gast.MatMult):
                operands = [sub.left, sub.right]
            elif isinstance(sub, gast.Call) and syntax.dotted(sub.func) in _PRODUCTS:
                operands = sub.args
            ranks = [len(shape_of(self.type_of(o)) or ()) for o in operands]
            if max(ranks, default=0) >= 2:
                return True
        return False

    def wanted_names(self) -> dict[str, str]:
        """Names that webs and inlining made, and the names a reader expects."""
        way = {name: new for new, name in self.unit.source.renamed.items()}
        wanted = {k: way.get(v, v) for k, v in self.unit.base_names.items()}
        for name in self.unit.names.taken:
            place = self.adjoints.get(name)
            if place is not None and not place[1]:
                base = self.unit.base_names.get(place[0], place[0])
                wanted[name] = self.rules.derivative_name(base)
        return {k: v for k, v in wanted.items() if k != v}


def _is_negative(node: Any) -> bool:
    """Whether a product starts with a minus."""
    while isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
        node = node.left
    return isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub)


def _is_call(node: Any, name: str) -> bool:
    return isinstance(node, gast.Call) and syntax.dotted(node.func) == name


def _is_copy(node: Any) -> bool:
    """Whether the expression is `value.copy()`."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == "copy"
        and not node.args
        and not node.keywords
    )


#: Functions whose work grows faster than their arguments.
_PRODUCTS = frozenset(
    f"np.{name}"
    for name in ["dot", "matmul", "einsum", "tensordot", "kron", "linalg.solve"]
)

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


def _binds(stmt: gast.stmt, name: str) -> bool:
    return isinstance(stmt, gast.Assign) and name in syntax.names_written(stmt)


def with_trades(
    buffers: dict[str, frozenset], body: list[gast.stmt]
) -> dict[str, frozenset]:
    """Memory as names may hold it after `a, b = b, a`: either one's.

    Inference sees such names trade contents; a view that was kept does not.
    """
    for stmt in syntax.walk(body):
        pairs = swap_pairs(stmt)
        if not pairs:
            continue
        traded = frozenset().union(*(buffers.get(n, frozenset()) for n, _ in pairs))
        tangents = frozenset(("tangent", b) for b in traded)
        buffers = {
            name: held
            | (traded if held & traded else frozenset())
            | (tangents if held & tangents else frozenset())
            for name, held in buffers.items()
        }
    return buffers
