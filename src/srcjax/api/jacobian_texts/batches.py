"""Jacobians in one batch: all columns, or all rows, at once.

    def jacfwd_f(x, W):
        # Each column: the derivative along one element of x.
        x_dot = np.eye(x.size)
        ...
        return y_dot.T

The pushforward of a batch of tangents stands in place of its call. Values that do not
depend on a tangent are no batch, and are computed once. What has no batch rule is left
to `loops`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import pipeline, syntax
from srcjax.analysis.types import (
    FLOAT,
    Array,
    Const,
    Scalar,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_number,
    map_parts,
    mapping,
    rank_of,
    same_shape,
    shape_of,
    with_active,
)
from srcjax.api.jacobian_texts.loops import Columns, Rows
from srcjax.api.jacobian_texts.text import (
    Unwritable,
    identifier,
    is_container,
    leaves_of,
)
from srcjax.api.jacobian_texts.units import without_units
from srcjax.backends.joining import with_forward
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError, UnsupportedError
from srcjax.pipeline import Request
from srcjax.versions.facts import own_memory

#: Where operations over a named batch axis are.
COLLECTIVES = "srcjax.ops.collectives"
#: The longest line of a result that has no name, in characters.
_LINE = 80
#: A leaf: the expression for it and its type.
Leaf = tuple[str, Type]


def columns_at_once(
    transform: Any, module: Module, types: list[Type]
) -> BatchedColumns | None:
    """What writes `jacfwd` in one batch; None where that is not possible."""
    named = dict(zip(transform.parameters, types, strict=True))
    value = transform.value(module)
    try:
        inputs = [leaf for n in transform.wrt for leaf in leaves_of(named[n], n)]
        if not can_stand_together(inputs) or not leaves_of(value, ""):
            return None
        found = pushforward(transform, module, named)
    except (Unwritable, UnsupportedError, ArgumentError):
        return None
    return BatchedColumns(transform, found, types)


def rows_at_once(
    transform: Any, module: Module, types: list[Type]
) -> BatchedRows | None:
    """What writes `jacrev` in one batch; None where that is not possible."""
    value = transform.value(module)
    try:
        # What is saved may be an array and its views: that is not known of arguments.
        if module.restores or not can_stand_together(leaves_of(value, "")):
            return None
        found = pullback(transform, module, types)
    except (Unwritable, UnsupportedError, ArgumentError):
        return None
    return BatchedRows(transform, found, types)


def can_stand_together(leaves: list[Leaf]) -> bool:
    """Whether one basis serves the leaves: there is an array, and none is empty.

    A Python number takes on the dtype of what it meets, and an item of a batch does
    not: it stands beside float64 only.
    """
    shapes = [() if is_number(t) else shape_of(t) for _, t in leaves]
    known = [s for s in shapes if s is not None]
    if all(s == () for s in shapes) or any(0 in s for s in known):
        return False
    return not any(is_weak(t) for _, t in leaves) or all(plain(t) for _, t in leaves)


def is_weak(t: Type) -> bool:
    """Whether the value is a Python number."""
    return isinstance(t, Const) or (isinstance(t, Scalar) and t.python is True)


def plain(t: Type) -> bool:
    """Whether the dtype is that of `np.eye`, or that of a Python float."""
    dtype = dtype_of(t)
    if is_weak(t):
        return dtype is None or dtype.kind != "c"
    return dtype is not None and dtype == np.dtype(float)


# -- the batched linear part -----------------------------------------------------------


def pushforward(transform: Any, module: Module, named: dict[str, Type]) -> Module:
    """The module with `pushforward_f(x, x_dot) -> y_dot`, of a batch of tangents."""
    node = syntax.clone(module.functions[-1])
    last = node.body[-1]
    moved = item(last.value, 1)
    if transform.has_aux:
        aux = item(item(last.value, 0), 1)
        moved = gast.Tuple([item(moved, 0), aux], syntax.LOAD)
    last.value = moved
    taken = set(module.values) | syntax.all_names(node)
    taken |= {f.name for f in module.functions}
    entry = syntax.Names(taken).fresh(f"pushforward_{transform.source.name}")
    linear = replace(module, functions=[*module.functions[:-1], node])
    linear.print()
    arguments = node.args
    plain = arguments.args if not arguments.kwonlyargs else arguments.kwonlyargs
    count = len(transform.wrt)
    dots = [a.id for a in plain[-count:]]
    types = {n: with_active(t, False) for n, t in named.items()}
    for name, dot in zip(transform.wrt, dots, strict=True):
        types[dot] = own_memory(moved_type(named[name]), ("param", dot))
    function = getattr(linear.load(), module.entry)
    return batched(module, function, types, dots, entry, transform.has_aux)


def pullback(transform: Any, module: Module, types: list[Type]) -> Module:
    """The module with `f_forward`, and `f_backward` for a batch of adjoints."""
    loaded = module.load()
    forward = getattr(loaded, module.entry)
    named = dict(zip(transform.parameters, types, strict=True))
    quiet = {n: with_active(t, False) for n, t in named.items()}
    with mapping(False):
        both = pipeline.result_type(Request(forward, quiet, []))
    if not isinstance(both, Tuple) or len(both.items) != 2:
        raise Unwritable
    value, saved = both.items
    backward = module.functions[-1]
    first, second = (a.id for a in backward.args.args)
    if transform.has_aux:
        if not isinstance(value, Tuple) or len(value.items) != 2:
            raise Unwritable
        parts = moved_type(value.items[0]), zero_type(value.items[1])
        seed: Type = Tuple(items=parts)
    else:
        seed = moved_type(value)
    given = {
        first: own_memory(saved, ("param", first)),
        second: own_memory(seed, ("param", second)),
    }
    function = getattr(loaded, backward.name)
    found = batched(module, function, given, [second], backward.name, False)
    give_away(found.functions[-1], first)
    in_dtype_of_rows(found.functions[-1], [named[n] for n in transform.wrt])
    return with_forward(module, found)


def in_dtype_of_rows(backward: gast.FunctionDef, given: list[Type]) -> None:
    """Leave derivatives with respect to Python numbers in the dtype of the rows.

    The gradient of one is a float; but a float next to a float32 is no float64.
    """
    result = backward.body[-1].value
    several = isinstance(result, gast.Tuple)
    parts = result.elts if several else [result]
    if len(parts) != len(given):
        return
    for k, (part, t) in enumerate(zip(parts, given, strict=True)):
        converted = (
            isinstance(part, gast.Call)
            and isinstance(part.func, gast.Attribute)
            and part.func.attr == "astype"
            and syntax.is_name(part.args[0], "float")
        )
        if converted and is_weak(t):
            parts[k] = part.func.value
    if not several:
        backward.body[-1].value = parts[0]


def give_away(backward: gast.FunctionDef, saved: str) -> None:
    """Let the function use up what is saved: nobody else has it.

    A function of the user's would have to copy what it takes from an argument.
    """
    backward.body = [
        s
        for s in backward.body
        if not (
            isinstance(s, gast.Assign)
            and syntax.is_name(s.targets[0], saved)
            and isinstance(s.value, gast.Call)
            and saved in syntax.names_read(s.value)
        )
    ]


def batched(
    module: Module,
    function: Callable,
    types: dict[str, Type],
    mapped: list[str],
    entry: str,
    has_aux: bool,
) -> Module:
    """The module with the batched form of a function of another module."""
    if any(getattr(v, "__module__", "") == COLLECTIVES for v in module.values.values()):
        raise UnsupportedError(
            "a collective is about another batch than that of columns"
        )
    axes = dict.fromkeys(mapped, 0)
    request = Request(function, types, mapped)
    out_axes = (0, None) if has_aux else 0
    found = pipeline.batch(request, axes, out_axes, entry, may_loop=False)
    found.guards = [*module.guards, *found.guards]
    found.opinions |= module.opinions
    found.stages = module.stages.and_those_of(found.stages, "batch")
    found.result = module.result
    return found


def item(node: Any, k: int) -> Any:
    """An item of a tuple, itself if the tuple is written out."""
    if isinstance(node, gast.Tuple):
        return syntax.clone(node.elts[k])
    return gast.Subscript(syntax.clone(node), syntax.const(k), syntax.LOAD)


def moved_type(t: Type) -> Type:
    """The type of one tangent or adjoint of a value, as an item of a batch of them.

    Raises Unwritable.
    """
    if isinstance(t, Unknown):
        raise Unwritable  # it may have items
    if is_container(t):
        return map_parts(t, moved_type)
    if is_number(t) or (isinstance(t, Array) and shape_of(t) == ()):
        dtype = dtype_of(t)
        real = dtype is None or dtype.kind not in "fc"
        return Scalar(True, dtype=np.dtype(float) if real else dtype)
    if isinstance(t, Array):
        return with_active(t, True)
    return Const(value=None)


def zero_type(t: Type) -> Type:
    """The type of the zero adjoint of what goes along."""
    if is_container(t):
        return map_parts(t, zero_type)
    if is_number(t):
        return FLOAT
    return with_active(t, False) if isinstance(t, Array) else Const(value=None)


# -- the text --------------------------------------------------------------------------


class Basis:
    """The unit vectors of some leaves taken together, written in lines of text."""

    def __init__(self, writer: Columns | Rows, leaves: list[Leaf]) -> None:
        self.writer = writer
        self.leaves = leaves
        #: Where the part of each leaf ends, but for the last one.
        self.ends: list[str] = []
        total: list[str] = []
        for path, t in leaves:
            if total:
                self.ends.append(self.end(total))
            total.append("1" if is_number(t) else f"{path}.size")
        self.size = self.end(total)

    @staticmethod
    def end(sizes: list[str]) -> str:
        """A sum of sizes; ones are counted."""
        ones = sizes.count("1")
        shown = [s for s in sizes if s != "1"]
        return " + ".join([*shown, str(ones)] if ones else shown)

    def moves(self) -> dict[str, str]:
        """For each leaf, its batch of unit vectors: 1 in one place, 0 elsewhere."""
        dtypes = {dtype_of(t) for _, t in self.leaves}
        same = len(dtypes) == 1
        path, t = self.leaves[0]
        given = "" if not same or plain(t) else f", dtype={path}.dtype"
        eye = f"np.eye({self.size}{given})"
        if len(self.leaves) == 1:
            if rank_of(t) == 1:
                return {path: eye}
            return {path: f"{eye}.reshape({path}.size, *{path}.shape)"}
        basis = self.writer.names.fresh("basis")
        self.writer.line(f"{basis} = {eye}")
        found = {}
        for k, (path, t) in enumerate(self.leaves):
            place = self.start(k) if rank_of(t) == 0 else self.span(k)
            part = f"{basis}[:, {place}]"
            if rank_of(t) not in (0, 1):
                part = f"{part}.reshape(len({basis}), *{path}.shape)"
            if not same and not plain(t):
                part = f"{part}.astype({path}.dtype)"
            found[path] = part
        return found

    def start(self, k: int) -> str:
        """The place where the part of a leaf begins."""
        return self.ends[k - 1] if k else "0"

    def span(self, k: int) -> str:
        """The slice of the part of a leaf."""
        start = self.ends[k - 1] if k else ""
        return f"{start}:{self.ends[k] if k < len(self.ends) else ''}"

    def part(self, whole: str, k: int) -> str:
        """The columns, or rows, of one leaf."""
        if len(self.leaves) == 1:
            return whole
        if rank_of(self.leaves[k][1]) == 0:
            return f"{whole}[{self.start(k)}]"
        return f"{whole}[{self.span(k)}]"


class BatchedColumns(Columns):
    """`jacfwd`: the pushforward of all unit tangents, which stands in its place."""

    #: What the result of the pushforward is called where it gets a name in the end.
    columns = ""

    def clear(self) -> None:
        super().clear()
        self.names.taken |= syntax.all_names(self.module.functions[-1])

    def together(self, node: gast.FunctionDef) -> list[gast.FunctionDef]:
        """The one call of the pushforward is what that does."""
        *others, pushed = self.module.functions
        *body, last = pushed.body
        calls = [
            (k, call)
            for k, stmt in enumerate(node.body)
            for call in syntax.walk(stmt)
            if isinstance(call, gast.Call) and syntax.is_name(call.func, pushed.name)
        ]
        again = any(isinstance(s, gast.Return) for s in syntax.walk(body))
        called = pushed.name in syntax.all_names([*others, *pushed.body])
        if len(calls) != 1 or again or called or not isinstance(last, gast.Return):
            return super().together(node)
        ((at, call),) = calls
        count = len(self.transform.wrt)
        given = pushed.args.args if self.by_position else pushed.args.kwonlyargs
        values = call.args if self.by_position else [k.value for k in call.keywords]
        dots = [
            syntax.assign(name.id, value)
            for name, value in zip(given[-count:], values[-count:], strict=True)
        ]
        result: Any = last.value
        stmt, rest = node.body[at], node.body[at + 1 :]
        for key, mark in vars(last).items():  # the user's line, and why it is there
            if not hasattr(stmt, key):
                setattr(stmt, key, mark)
        if isinstance(stmt, gast.Assign) and stmt.value is call:
            stmt.value = result
            if isinstance(result, gast.Name) and isinstance(stmt.targets[0], gast.Name):
                rest = syntax.substitute(rest, {stmt.targets[0].id: result})
                stmt = None
        else:
            stmt, named = with_result(stmt, call, result, self.columns)
            body = [*body, *named]
        end = [*([] if stmt is None else [stmt]), *rest]
        node.body = [*node.body[:at], *dots, *body, *end]
        for name, dot in zip(self.transform.wrt, given[-count:], strict=True):
            if rank_of(self.types[name]) == 1 and plain(self.types[name]):
                node.body = without_units(node.body, dot.id, self.is_matrix)
        self.module.kept = {
            self.entry if name == pushed.name else name: kept
            for name, kept in self.module.kept.items()
        }
        return [*others, node]

    def is_matrix(self, name: str) -> bool:
        """Whether an argument is a matrix of the dtype of `np.eye`."""
        t = self.types.get(name)
        return isinstance(t, Array) and rank_of(t) == 2 and plain(t)

    def known(self) -> str:
        transform = self.transform
        wrt = {n: self.types[n] for n in transform.wrt}
        leaves = [leaf for n in wrt for leaf in leaves_of(wrt[n], n)]
        basis = Basis(self, leaves)
        self.comment(f"Each column: the derivative along one element of {listed(wrt)}.")
        moves = basis.moves()
        dots = {n: self.rebuilt(wrt[n], moves, n) for n in wrt}
        columns = self.names.fresh("columns")
        target, aux = columns, ""
        if transform.has_aux:
            aux = self.names.fresh("aux")
            target = f"{columns}, {aux}"
        call = self.pushed(dots)
        outputs = leaves_of(self.value, columns)
        bare = len(outputs) == len(leaves) == 1 and outputs[0][0] == columns
        if bare and leaves[0][0] in wrt and not aux and transform.single:
            (u,), (t,) = ([v for _, v in each] for each in (outputs, leaves))
            if rank_of(t) == 1 and rank_of(u) in (0, 1):
                return call if rank_of(u) == 0 else f"{call}.T"
            (path, _), self.columns = leaves[0], columns
            if rank_of(u) != 0 and same_shape(shape_of(u), shape_of(t)):
                shape = f"{path}.shape + {path}.shape"
                return f"np.moveaxis({call}, 0, -1).reshape({shape})"
        self.line(f"{target} = {call}")
        blocks = [
            {
                path: self.block(basis.part(out, k), path, t, u)
                for k, (path, t) in enumerate(leaves)
            }
            for out, u in outputs
        ]
        jacobian = self.assembled(outputs, blocks, wrt, columns)
        return f"{jacobian}, {aux}" if aux else jacobian

    def block(self, part: str, path: str, t: Type, u: Type) -> str:
        """The block of an output and an input: the batch axis goes to the end."""
        rank, own = rank_of(u), rank_of(t)
        if own == 0:
            return part
        if rank != 0 and own != 1 and not part.isidentifier():
            name = self.names.fresh(f"columns_{identifier(path)}")
            self.line(f"{name} = {part}")
            part = name
        whole = part
        if rank != 0:
            whole = f"{part}.T" if rank == 1 else f"np.moveaxis({part}, 0, -1)"
        if own == 1:
            return whole
        if rank == 0:
            return f"{whole}.reshape({path}.shape)"
        return f"{whole}.reshape({part}.shape[1:] + {path}.shape)"

    def unknown(self) -> str:
        raise AssertionError("the structure is known where there is a batch")


def with_result(
    stmt: Any, call: gast.expr, result: gast.expr, columns: str
) -> tuple[Any, list[gast.stmt]]:
    """The statement with the result for the call: its name, if the line gets too long.

    It has none where `columns` is empty. What gives the name is the other thing.
    """
    whole = syntax.replaced(stmt, {id(call): result})
    if not columns or syntax.is_name(result) or len(syntax.text(whole)) <= _LINE:
        return whole, []
    named = syntax.assign(columns, result)
    for key, mark in vars(stmt).items():
        if not hasattr(named, key):
            setattr(named, key, mark)
    return syntax.replaced(stmt, {id(call): syntax.name(columns)}), [named]


class BatchedRows(Rows):
    """`jacrev`: the pullback of all unit adjoints."""

    def known(self) -> str:
        transform, wrt = self.transform, self.transform.wrt
        backward = self.module.functions[-1].name
        y, saved = self.names.fresh("y"), self.names.fresh("saved")
        aux = self.names.fresh("aux") if transform.has_aux else ""
        self.forward(f"({y}, {aux})" if aux else y, saved)
        outputs = leaves_of(self.value, y)
        basis = Basis(self, outputs)
        self.comment(f"Each row: the derivative of one element of {y}.")
        seed = self.rebuilt(self.value, basis.moves(), y)
        if aux:
            result: Any = self.module.result
            seed = f"({seed}, {self.zero(aux, result.items[1])})"
        rows = self.names.fresh("rows")
        call = f"{backward}({saved}, {seed})"
        arrays = not any(is_container(self.types[n]) for n in wrt)
        arrays &= transform.single or len(wrt) > 1
        bare = len(outputs) == 1 and outputs[0][0] == y
        if arrays and bare and rank_of(outputs[0][1]) == 1:
            jacobian = call
        else:
            self.line(f"{rows} = {call}")
            found = {
                path: self.structured(rows, basis, k)
                for k, (path, _) in enumerate(outputs)
            }
            jacobian = self.rebuilt(self.value, found, y)
        return f"{jacobian}, {aux}" if aux else jacobian

    def structured(self, rows: str, basis: Basis, k: int) -> str:
        """What stands for an output: its blocks in the structure of the inputs."""
        wrt = self.transform.wrt
        path, u = basis.leaves[k]
        parts = []
        for i, name in enumerate(wrt):
            block = {}
            for leaf, t in leaves_of(self.types[name], name):
                step = (f"[{i}]" if len(wrt) > 1 else "") + leaf[len(name) :]
                part = basis.part(f"{rows}{step}", k)
                if rank_of(u) not in (0, 1):
                    shape = "" if rank_of(t) == 0 else f" + {leaf}.shape"
                    part = f"{part}.reshape({path}.shape{shape})"
                block[leaf] = part
            parts.append(self.rebuilt(self.types[name], block, name))
        return parts[0] if self.transform.single else self.display(Tuple(), parts)

    def unknown(self) -> str:
        raise AssertionError("the structure is known where there is a batch")


def listed(names: Any) -> str:
    """`a`, `a or b`, `a, b or c`."""
    names = list(names)
    if len(names) == 1:
        return str(names[0])
    return f"{', '.join(names[:-1])} or {names[-1]}"


__all__ = ["columns_at_once", "rows_at_once"]
