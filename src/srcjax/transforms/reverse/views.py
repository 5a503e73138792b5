"""Which names are views, and which arrays and containers are written in part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.liveness import is_defined_of, is_defined_while
from srcjax.analysis.repeats import made_in_loops, repeats
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Buffers,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    all_buffers,
    is_active,
    is_number,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.effects import OWNER
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import effect_of
from srcjax.transforms.reads_writes import (
    binds_alone,
    hands_over_new,
    is_handed_over,
)
from srcjax.transforms.reverse.shadows import Shadows, Unfollowed
from srcjax.transforms.reverse.steady import Steadiness
from srcjax.transforms.writer import DerivativeWriter


def operand_names(unit: Unit) -> set[str]:
    """Names that are operands of arithmetic, and what such a result is bound to."""
    found: set[str] = set()
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, gast.UnaryOp):
            operands = [node.operand]
        elif isinstance(node, gast.Assign) and isinstance(
            node.value, (gast.BinOp, gast.UnaryOp, gast.Constant)
        ):
            operands = list(node.targets)
        else:
            continue
        found |= {n.id for n in operands if isinstance(n, gast.Name)}
    return {n for name in found for n in (name, unit.base_names.get(name, name))}


def index_reads(unit: Unit, types: dict[str, Type]) -> tuple[set[str], set[str]]:
    """Arrays of which items are read, and containers read at unknown keys."""
    indexed: set[str] = set()
    dynamic: set[str] = set()
    for node in syntax.walk(unit.node.body):
        if not isinstance(node, gast.Subscript) or not isinstance(
            node.value, gast.Name
        ):
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
        elif not (isinstance(t, Array) and new_axes(node.slice)):
            indexed.add(node.value.id)
    return indexed, dynamic


def new_axes(index: gast.expr) -> list[str] | None:
    """What takes the new axes off again: `[":", "0"]` for `x[:, None]`.

    None if the index is of another kind: one with new axes and whole axes alone.
    """
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    found = []
    for part in parts:
        constant = isinstance(part, gast.Constant)
        whole = isinstance(part, gast.Slice)
        if constant and part.value is ...:
            found.append("...")
        elif whole and part.lower is part.upper is part.step is None:
            found.append(":")
        elif constant and part.value is None or _is_newaxis(part):
            found.append("0")
        else:
            return None
    return found if "0" in found else None


def _is_newaxis(part: gast.expr) -> bool:
    return (syntax.dotted(part) or "") in ("np.newaxis", "numpy.newaxis")


Views = dict[str, tuple[str, gast.expr]]


def find_views(
    rules: DerivativeWriter, fault: Unfollowed | None
) -> tuple[Views, set[str], Shadows]:
    """Views, containers of what is written, and arrays with adjoints made forward.

    `fault` is what was found of memory that has to be among the latter.
    """
    shadows = Shadows(rules)
    if fault is not None:
        shadows.add(fault, view_base)
    while True:
        try:
            views, holding = fixed_views(rules, shadows)
        except Unfollowed as more:
            shadows.add(more, view_base)
        else:
            own = {n: (n, syntax.name(d)) for n, d in shadows.names.items()}
            return {**views, **own}, holding, shadows


def fixed_views(rules: DerivativeWriter, shadows: Shadows) -> tuple[Views, set[str]]:
    """Names for (parts of) what is written in place: name -> (root, view of `__root`).

    A view of a written array has the same view of its adjoint; an item of a container
    that holds written arrays or lists has that item of the container's adjoint. Such
    containers come second.
    """
    views: dict[str, tuple[str, gast.expr]] = {}
    holding: set[str] = set()
    #: Views of a name that is bound to several arrays, one after the other.
    shared: list[tuple[gast.Assign, Buffers]] = []
    made: dict[str, Any] = {}
    through = written_through(rules.unit, rules.types)
    bound = bindings(rules.unit)
    steady = Steadiness(
        rules.unit.node.body,
        lambda s: rules.facts.written_by([s, getattr(s, "value", s)]),
    )
    for stmt in syntax.walk(rules.unit.node.body):
        if not isinstance(stmt, gast.Assign):
            continue
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name):
            continue
        t = rules.types.get(target.id, UNKNOWN)
        if not isinstance(t, (Array, List, Dict, Object, Tuple)):
            continue
        if not all_buffers(t) & rules.written or not is_active(t):
            continue
        rules.stmt = stmt
        if target.id in shadows.names:
            continue
        if hands_over_new(rules.unit, rules.facts, stmt):
            continue
        if is_maybe_view(rules, value) and target.id not in through:
            continue  # `saving.check_aliases` sees to it that nothing is missed
        base = view_base(rules, value, views)
        if base is None:
            continue
        name, view = base
        if is_number(rules.types.get(name, UNKNOWN)):
            continue  # an array that is made of a number
        if isinstance(value, gast.Subscript) and not shares(rules, stmt, name):
            continue  # gathered by an index array: memory of its own
        if name in views:
            root, outer = views[name]
            view = syntax.substitute(view, {"__root": outer})
            name = root
        defined = bound[target.id]
        source = rules.types.get(name, UNKNOWN)
        read_only = target.id not in through
        # `Sharing.check_repeats` sees to it that a container holds each array once.
        several = isinstance(t, Array) and len(t.buffers) > 1
        several = several and not isinstance(source, (List, Dict, Tuple, Object))
        certain = repeats(source, certain=True)
        if certain:
            certain -= made_in_loops(rules.unit)
        if certain and not read_only:
            several = True
        rebound = (
            name != target.id
            and bound[name] > 1
            and (
                is_defined_while(rules.unit.node, name, target.id)
                or is_defined_of(rules.unit.node, name, target.id)
            )
        )
        if rebound and not read_only:
            error = rules.refuse(
                f"`{target.id}` shares memory with `{name}`, which is assigned again",
                "copy it first: `.copy()`",
            )
            raise Unfollowed(error, all_buffers(t))
        if read_only and (
            rebound
            or defined > 1
            or several
            or not is_part_of(t, source)
            or not all_buffers(source) & t.buffers
        ):
            continue  # `saving.check_aliases` sees to it that nothing is missed
        if several and isinstance(source, Array) and not certain:
            shared.append((stmt, t.buffers))
            several = False
        if defined > 1 or several or not all_buffers(source) & t.buffers:
            raise Unfollowed(rules.refuse(*_of_several(target.id)), all_buffers(t))
        moved = unsteady(rules, steady, stmt, made)
        if moved is not None and read_only:
            continue
        if moved is not None:
            raise Unfollowed(rules.refuse(*moved), all_buffers(t))
        views[target.id] = (name, view)
        made[target.id] = stmt
        if isinstance(source, (List, Dict, Tuple, Object)):
            holding.add(name)
    for stmt, buffers in shared:
        root = views[stmt.targets[0].id][0]
        holders = {n for n, t in rules.types.items() if all_buffers(t) & buffers}
        if any(n != root and views.get(n, ("",))[0] != root for n in holders):
            rules.stmt = stmt
            error = rules.refuse(*_of_several(stmt.targets[0].id))
            raise Unfollowed(error, buffers)
    return views, holding


def is_part_of(t: Type, source: Type) -> bool:
    """Whether what is only read of an array or list has its part of the adjoint."""
    if isinstance(source, Array):
        return isinstance(t, Array)
    return isinstance(source, List) and isinstance(t, (Array, List, Dict))


def _of_several(name: str) -> tuple[str, str]:
    return (
        f"`{name}` may share memory with several arrays, and is written in place",
        "copy it first: `.copy()`; or, of two branches that choose, the write in each",
    )


def unsteady(
    rules: DerivativeWriter, steady: Steadiness, stmt: Any, made: dict[str, Any]
) -> tuple[str, str] | None:
    """Why a view is not the same view any more where it is used, and what to write."""
    view, link = stmt.targets[0].id, stmt
    while link is not None:
        base = link.value
        taken = isinstance(base, (gast.Subscript, gast.Attribute))
        index = getattr(base, "slice", None)
        base = getattr(base, "value", None) if taken else base
        name = steady.moves(view, link, syntax.names_read(index))
        if name is not None:
            return (
                f"`{view}` shares memory with `{syntax.text(link.value)}`, and "
                f"`{name}` changes before `{view}` is used",
                f"another name for the index: `k = {name}`",
            )
        t = rules.types.get(getattr(base, "id", ""), UNKNOWN)
        container = taken and isinstance(t, (List, Dict, Object))
        if container and steady.replaced(view, link, t.buffers) is not None:
            return (
                f"`{view}` is `{syntax.text(link.value)}`, which is replaced before it "
                "is used",
                "copy it first: `.copy()`",
            )
        link = made.get(getattr(base, "id", ""))
    return None


def shares(rules: DerivativeWriter, stmt: gast.Assign, name: str) -> bool:
    """Whether what the statement binds may share memory with what `name` holds."""
    held = rules.facts.held
    target = stmt.targets[0].id
    after = held.get((id(stmt), True), {}).get(target)
    before = held.get((id(stmt), False), {}).get(name)
    if after is None or before is None:
        after, before = (
            all_buffers(rules.types.get(n, UNKNOWN)) for n in (target, name)
        )
    return bool(after & before)


def certain_view(
    rules: DerivativeWriter, value: gast.Call
) -> tuple[str, gast.expr] | None:
    """`a.reshape(n, m)`, `a.ravel()` as a view: NumPy raises if it had to copy.

    The adjoint's own view is asked for in the same way, so that nothing is written to
    a copy of it without a word.
    """
    callee = rules.facts.callees[id(value)][0]
    names = {getattr(f, "__name__", "") for f in callee.functions}
    method = isinstance(value.func, gast.Attribute) and rules.is_value(value.func.value)
    base = value.func.value if method else (value.args or [None])[0]
    shape = list(value.args) if method else list(value.args[1:])
    certain = [k.arg for k in value.keywords] == ["copy"]
    if not isinstance(base, gast.Name) or value.keywords and not certain:
        base = None
    if "ravel" in names:
        shape = [] if shape else [syntax.expression("-1")]
    if base is None or not shape or not names & {"ravel", "reshape"}:
        raise rules.refuse(
            f"`{syntax.text(value)}` may or may not share memory with an array that is "
            "written in place",
            "copy it first: `.copy()`",
        )

    def reshaped(array: gast.expr) -> gast.Call:
        function = gast.Attribute(array, "reshape", syntax.LOAD)
        return gast.Call(function, shape, [gast.keyword("copy", syntax.const(False))])

    if not certain:
        new = gast.copy_location(reshaped(base), value)
        rules.facts.callees[id(new)] = rules.facts.callees[id(value)]
        rules.facts.nodes.append(new)
        rules.stmt.value = new
    return base.id, reshaped(syntax.name("__root"))


def bindings(unit: Unit) -> Counter[str]:
    """How often names are bound; swapped ones keep their buffers (analysis.swaps)."""
    found = syntax.binding_counts(unit.node)
    for stmt in syntax.walk(unit.node.body):
        if swap_pairs(stmt):
            found.subtract(syntax.names_written(stmt))
    return found


def is_maybe_view(rules: DerivativeWriter, value: gast.expr) -> bool:
    """Whether the value is a call such as `x.reshape(...)`: a view, or a copy."""
    callees = rules.facts.callees.get(id(value), [])
    converts = any(
        isinstance(c, Op) and np.ndarray.astype in c.functions for c in callees
    )
    if is_told_to_be_a_view(value) and not converts:
        return False
    return any(isinstance(c, Op) and c.alias == "maybe" for c in callees)


def is_told_to_be_a_view(value: gast.expr) -> bool:
    """Whether it is `a.reshape(n, m, copy=False)`: NumPy raises if it had to copy."""
    return isinstance(value, gast.Call) and any(
        k.arg == "copy" and syntax.text(k.value) == "False" for k in value.keywords
    )


def written_through(unit: Unit, types: dict[str, Type]) -> set[str]:
    """Names through which the unit writes in place, or into what a container holds."""
    found: set[str] = set()
    taken: list[tuple[str, str]] = []
    for node in syntax.walk(unit.node.body):
        changed: Any = None
        if isinstance(node, gast.AugAssign):
            changed = node.target
        elif isinstance(node, (gast.Subscript, gast.Attribute)):
            changed = node.value if isinstance(node.ctx, gast.Store) else None
        elif isinstance(node, gast.Call) and OWNER in effect_of(node).writes:
            changed = getattr(node.func, "value", None)
        elif isinstance(node, gast.Assign):
            target, value = node.targets[0], node.value
            if isinstance(value, (gast.Subscript, gast.Attribute)):
                owner = getattr(value.value, "id", "")
                if isinstance(types.get(owner), (List, Dict, Tuple, Object)):
                    taken += [(n, owner) for n in syntax.names_written(target)]
            elif binds_alone(node, {getattr(target, "id", "")}) and is_handed_over(
                unit, node
            ):
                taken.append((target.id, value.id))
        if isinstance(changed, gast.Name):
            found.add(changed.id)
    size = -1
    while size != len(found):
        size = len(found)
        found |= {owner for part, owner in taken if part in found}
    return found


def view_base(
    rules: DerivativeWriter, value: gast.expr, views: Container[str]
) -> tuple[str, gast.expr] | None:
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
        owner = rules.types.get(value.value.id)
        if isinstance(owner, Tuple) and value.attr in getattr(owner.cls, "_fields", ()):
            position = owner.cls._fields.index(value.attr)  # type: ignore[union-attr]
            item = gast.Subscript(root, syntax.const(position), syntax.LOAD)
            return value.value.id, item
        # The adjoint of `x.imag` is minus that part of the adjoint.
        if (
            isinstance(owner, Array)
            and value.attr != "imag"
            or (isinstance(owner, Object) and value.value.id in views)
        ):
            return value.value.id, gast.Attribute(root, value.attr, syntax.LOAD)
        return None
    if isinstance(value, gast.Call):
        callees = rules.facts.callees.get(id(value), [])
        op = callees[0] if len(callees) == 1 else None
        if isinstance(op, Op) and op.alias in ("view", "maybe", "same"):
            if op.alias == "maybe":
                return certain_view(rules, value)
            if isinstance(value.func, gast.Attribute) and rules.is_value(
                value.func.value
            ):
                function = gast.Attribute(root, value.func.attr, syntax.LOAD)
                new = gast.Call(function, value.args, value.keywords)
                return value.func.value.id, new
            if value.args and isinstance(value.args[0], gast.Name):
                new = gast.Call(value.func, [root, *value.args[1:]], value.keywords)
                return value.args[0].id, new
    return None


def single_pass_lists(unit: Unit, rules: DerivativeWriter) -> set[str]:
    """Lists read only as `item = xs[i]` in one loop `for i in range(len(xs))`.

    Their length may be asked for anywhere.
    """
    reads: dict[str, int] = {}
    lengths: dict[str, int] = {}
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            reads[node.id] = reads.get(node.id, 0) + 1
        measured = _measured(node)
        if measured is not None:
            lengths[measured] = lengths.get(measured, 0) + 1
    counts = _counts(unit)
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
            length = _measured(counted) or counts.get(getattr(counted, "id", ""))
            if (
                length == name
                and reads.get(name) == 1 + lengths[name]
                and isinstance(rules.types.get(name), (List, Tuple))
            ):
                found.add(name)
    return found - {n for n in found if rules.types[n].buffers & rules.written}


def _measured(node: Any) -> str | None:
    """`xs` of `len(xs)`."""
    call = isinstance(node, gast.Call) and syntax.is_name(node.func, "len")
    if not call or len(node.args) != 1 or not isinstance(node.args[0], gast.Name):
        return None
    found: str = node.args[0].id
    return found


def _counts(unit: Unit) -> dict[str, str]:
    """Names that are bound once, to the length of a list, and the list's name."""
    found = {}
    for stmt in unit.node.body:
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        measured = _measured(getattr(stmt, "value", None))
        if not isinstance(target, gast.Name) or measured is None:
            continue
        if syntax.count_bindings(unit.node, target.id) == 1:
            found[target.id] = measured
    return found
