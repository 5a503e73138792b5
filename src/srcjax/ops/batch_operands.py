"""Operands of batch rules: lists of arrays, flattened and repeated examples."""

from __future__ import annotations

from typing import Any, TypeAlias

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Dim,
    List,
    Shape,
    Tuple,
    Type,
    is_active,
    parts,
    shape_of,
)
from srcjax.ops.batching import MappedCall, Rule, array_type, lift, literal, shifted
from srcjax.ops.known import MISSING, types_in

#: A node and the type of what it stands for, for one example.
Item: TypeAlias = "tuple[gast.expr, Type]"


def expr(value: Any) -> gast.expr:
    """The literal of a number or container of numbers (NumPy's own included)."""
    if isinstance(value, dict):
        return gast.Dict([expr(k) for k in value], [expr(v) for v in value.values()])
    if isinstance(value, tuple):
        return gast.Tuple([expr(v) for v in value], syntax.LOAD)
    if isinstance(value, list):
        return gast.List([expr(v) for v in value], syntax.LOAD)
    return syntax.expression(repr(value.item() if hasattr(value, "item") else value))


def has_ints(shape: Shape | None) -> bool:
    """Whether all dimensions are known numbers."""
    return shape is not None and all(isinstance(n, int) for n in shape)


def count_of(shape: Shape) -> Dim:
    """The number of elements; None if it is not known."""
    return int(np.prod(shape)) if has_ints(shape) else None  # type: ignore[arg-type]


def tuple_of(first: gast.expr, rest: Any) -> gast.Tuple:
    """`(first, *rest)` as a display; `rest` are nodes or ints."""
    nodes = [r if isinstance(r, gast.AST) else expr(r) for r in rest]
    return gast.Tuple([syntax.clone(first), *nodes], syntax.LOAD)


def only(call: MappedCall, *parameters: str) -> bool:
    """Whether no other arguments are mapped, and the rank of these is known."""
    return all(
        not call.is_mapped(p) or (p in parameters and call.rank(p) is not None)
        for p in call.bound
    )


def axis_of(call: MappedCall, parameter: str = "axis", default: Any = None) -> Any:
    """The value of an axis argument as ints and tuples of them, None, or MISSING."""
    value = call.const(parameter, default)
    if value is None or value is MISSING:
        return value
    if isinstance(value, (tuple, list)):
        ints = all(isinstance(v, (int, np.integer)) for v in value)
        return tuple(map(int, value)) if ints else MISSING
    return int(value) if isinstance(value, (int, np.integer)) else MISSING


# -- one operand ----------------------------------------------------------------------


def spread(call: MappedCall, node: gast.expr, t: Type, rank: int) -> gast.expr | None:
    """A batch of examples of that rank: repeated, if it is the same for all."""
    if is_active(t):
        return lift(node, t, rank)
    shape = shape_of(array_type(t))
    if shape is None or parts(t) and not has_ints(shape):
        return None
    ones = [1] * (rank - len(shape))
    value: gast.expr = syntax.clone(node)
    if not shape:
        sizes = tuple_of(call.size, ones) if ones else syntax.clone(call.size)
        given = literal(value)
        if type(given) is float and repr(given) in ("0.0", "1.0"):
            return syntax.call("np.ones" if given else "np.zeros", sizes)
        return syntax.call("np.full", sizes, value)
    own = list(shape) if has_ints(shape) else [_shape_of(value)]
    return syntax.call("np.broadcast_to", value, tuple_of(call.size, [*ones, *own]))


def _shape_of(value: gast.expr) -> gast.expr:
    """`*v.shape` for a display."""
    shape = gast.Attribute(syntax.clone(value), "shape", syntax.LOAD)
    return gast.Starred(shape, syntax.LOAD)


def flat(call: MappedCall, node: gast.expr, t: Type) -> gast.expr | None:
    """A batch of flattened examples."""
    t = t if is_active(t) else array_type(t)
    shape = shape_of(t)
    if shape is None:
        return None
    if not is_active(t):
        one = node if len(shape) < 2 else syntax.call("np.ravel", node)
        return spread(call, one, _flat_type(t, shape), 1)
    if len(shape) < 2:
        return lift(node, t, 1)
    size = count_of(shape)
    sizes = [syntax.clone(call.size), expr(-1 if size is None else size)]
    return syntax.call(gast.Attribute(node, "reshape", syntax.LOAD), *sizes)


def _flat_type(t: Type, shape: Shape) -> Type:
    if len(shape) < 2:
        return t
    return Array(False, dtype=getattr(t, "dtype", None), shape=(count_of(shape),))


# -- several operands -----------------------------------------------------------------


def items_in(call: MappedCall, parameter: str) -> list[Item] | None:
    """The items of a list argument or of `*args` as arrays; None if they are not known.

    Items that are lists of mapped values become the arrays that they stand for.
    """
    node = call.bound.get(parameter)
    if isinstance(node, tuple):
        items: list[Item] | None = [(n, call.type_of(n)) for n in node]
    else:
        items = None if node is None else display(call, node, call.type_of(node))
    found = []
    for one, t in items or ():
        whole = array_type(t)
        array: gast.expr | None = one
        if parts(t) and is_active(t):
            array = stacked(call, one, t)
        elif whole is not t and not has_ints(shape_of(whole)):
            array = syntax.call("np.array", one)
        if array is None:
            return None
        found.append((array, whole))
    return None if items is None else found


def display(call: MappedCall, node: gast.expr, t: Type) -> list[Item] | None:
    """The items of a list or tuple of known length."""
    types = types_in(t)
    if types is None or not isinstance(t, (List, Tuple)):
        return None
    if isinstance(node, gast.Name):
        node = call.displays.get(node.id, node)
    if isinstance(node, (gast.List, gast.Tuple)):
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return None
        return list(zip(node.elts, types, strict=True))
    return [
        (gast.Subscript(syntax.clone(node), expr(i), syntax.LOAD), item)
        for i, item in enumerate(types)
    ]


def ranks_of(items: list[Item]) -> list[int] | None:
    """The ranks of the examples; None if one is not known."""
    shapes = [shape_of(t) for _, t in items]
    return None if None in shapes else [len(s) for s in shapes if s is not None]


def batches(call: MappedCall, parameter: str, rank: int) -> gast.expr | None:
    """A list argument with every item a batch of examples of that rank."""
    node, t = call.bound[parameter], call.type(parameter)
    if isinstance(t, List) and t.items is None and t.elem is not None:
        shape = shape_of(t.elem)
        same = is_active(t.elem) and shape is not None and len(shape) == rank
        return syntax.clone(node) if same else None
    items = items_in(call, parameter)
    if not items:
        return None
    as_it_is = all(is_active(i) and not parts(i) for i in types_in(t) or ())
    if as_it_is and ranks_of(items) == [rank] * len(items):
        return syntax.clone(node)
    return listed([spread(call, n, i, rank) for n, i in items])


def listed(items: list[gast.expr | None]) -> gast.expr | None:
    """The display of the items; None if there is none for one of them."""
    if any(item is None for item in items):
        return None
    return gast.List([item for item in items if item is not None], syntax.LOAD)


def stacked(call: MappedCall, node: gast.expr, t: Type) -> gast.expr | None:
    """The batch of arrays that nested lists make, such as `np.array([a, b])`."""
    if not isinstance(t, (List, Tuple)):
        shape = shape_of(t)
        return None if shape is None else spread(call, node, t, len(shape))
    if isinstance(t, List) and t.items is None:
        elem = t.elem
        if elem is None or not is_active(elem) or shape_of(elem) is None:
            return None
        return syntax.expression("np.stack(a, axis=1)", a=node)
    if not is_active(t):
        return _same_for_all(call, node, t)
    items = display(call, node, t)
    if not items:
        return None
    if all(is_active(i) and shape_of(i) is not None for _, i in items):
        return syntax.expression("np.stack(a, axis=1)", a=node)
    array = listed([stacked(call, n, i) for n, i in items])
    return array and syntax.expression("np.stack(a, axis=1)", a=array)


def _same_for_all(call: MappedCall, node: gast.expr, t: Type) -> gast.expr | None:
    """Lists of values that are the same for all examples, as a batch of arrays."""
    t = array_type(t)
    shape = shape_of(t)
    if shape is None or not has_ints(shape):
        return None
    return syntax.call("np.broadcast_to", node, tuple_of(call.size, shape))


def with_arrays(call: MappedCall, lists: tuple[str, ...] = ()) -> MappedCall:
    """The call with mapped lists of numbers or arrays as the arrays they stand for.

    `lists` are the parameters that are lists by themselves (`arrays` of concatenate).
    """
    nodes: dict[int, gast.expr] = {}
    types: dict[int, Type] = {}
    bound = dict(call.bound)
    for p, node in call.bound.items():
        t = call.type(p)
        if p in lists or isinstance(node, tuple) or not isinstance(t, (List, Tuple)):
            continue
        new = stacked(call, node, t) if is_active(t) else None
        if new is not None:
            nodes[id(node)] = bound[p] = new
            types[id(new)] = array_type(t)
    if not nodes:
        return call

    def type_of(node: Any) -> Type:
        return types[id(node)] if id(node) in types else call.type_of(node)

    value = _placed(call.value, nodes)
    return MappedCall(
        call.op, value, bound, type_of, call.result, call.size, call.displays
    )


def _placed(node: Any, nodes: dict[int, gast.expr]) -> Any:
    """The tree with some of its nodes, by identity, replaced; the new ones as given."""
    if id(node) in nodes:
        return nodes[id(node)]
    if isinstance(node, list):
        return [_placed(n, nodes) for n in node]
    if not isinstance(node, gast.AST) or not any(
        id(sub) in nodes for sub in syntax.walk(node)
    ):
        return node  # the same object: arguments are found by identity
    new = syntax.clone_shallow(node)
    for key, value in node.__dict__.items():
        if (
            isinstance(value, list)
            or isinstance(value, gast.AST)
            and any(id(s) in nodes for s in syntax.walk(value))
        ):
            new.__dict__[key] = _placed(value, nodes)
    return new


def displays_of(node: Any, temps: set[str]) -> dict[str, gast.expr]:
    """The lists and tuples behind names that stand for nothing else, by name.

    That is a temporary that is read once; and a name that is bound once outside of
    loops to names and literals that never change, and is only read as a whole.
    """
    stores: dict[str, int] = {}
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Name) and not isinstance(sub.ctx, gast.Load):
            stores[sub.id] = stores.get(sub.id, 0) + 1
    found: dict[str, gast.expr] = {}
    for sub in syntax.walk(node):
        name = getattr((getattr(sub, "targets", None) or [None])[0], "id", None)
        value = getattr(sub, "value", None)
        if not isinstance(sub, gast.Assign) or stores.get(name or "") != 1:
            continue
        if not isinstance(value, (gast.List, gast.Tuple)) or name is None:
            continue
        at_once = name in temps and syntax.count_reads(node, name) == 1
        lasting = sub in node.body and _lasts(value, stores) and _is_read(node, name)
        if at_once or lasting:
            found[name] = value
    return found


def _lasts(value: Any, stores: dict[str, int]) -> bool:
    """Whether the items are the same however late they are read."""
    return all(
        isinstance(n, (gast.List, gast.Tuple, gast.Constant))
        or (isinstance(n, gast.Name) and stores.get(n.id, 1) == 1)
        for n in syntax.walk(value)
    )


def _is_read(node: Any, name: str) -> bool:
    """Whether the name is given to functions and indexed, and nothing else."""
    allowed = 0
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Call):
            given = [*sub.args, *(k.value for k in sub.keywords)]
            allowed += sum(syntax.is_name(a, name) for a in given)
        elif isinstance(sub, gast.Subscript) and isinstance(sub.ctx, gast.Load):
            allowed += syntax.is_name(sub.value, name)
    return allowed == syntax.count_reads(node, name)


# -- kinds of rules -------------------------------------------------------------------


def as_it_is(*parameters: str) -> Rule:
    """The rule of an operation that works on batches of these arguments unchanged."""

    def rule(call: MappedCall) -> gast.expr | None:
        ok = all(not call.is_mapped(p) or p in parameters for p in call.bound)
        arrays = all(not parts(call.type(p)) for p in parameters)
        return call.rebuild() if ok and arrays else None

    return rule


def shifted_axes(**defaults: Any) -> Rule:
    """The rule of an operation on `x` whose axis arguments count from behind the batch.

    `defaults` are the axis arguments; the value is what an absent one stands for.
    """

    def rule(call: MappedCall) -> gast.expr | None:
        if not only(call, "x"):
            return None
        changes = {}
        for name, default in defaults.items():
            axis = axis_of(call, name, default)
            if axis is None or axis is MISSING:
                return None
            if call.has(name) or shifted(axis, 0) != default:
                changes[name] = expr(shifted(axis, 0))
        return call.rebuild(**changes)

    return rule


__all__ = [
    "Item",
    "as_it_is",
    "axis_of",
    "batches",
    "count_of",
    "display",
    "displays_of",
    "expr",
    "flat",
    "has_ints",
    "items_in",
    "listed",
    "only",
    "ranks_of",
    "shifted_axes",
    "spread",
    "stacked",
    "tuple_of",
    "with_arrays",
]
