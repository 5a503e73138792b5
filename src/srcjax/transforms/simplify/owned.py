"""Results that share no memory with arguments, or with each other.

Before:                          After:

    return w                         return w.copy()
    return dz, dz                    return dz, dz.copy()
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.liveness import After
from srcjax.analysis.types import Array, Buffers, Type, is_number
from srcjax.transforms.call_effects import called
from srcjax.transforms.fresh import copy_of, is_new_array, shared_argument

#: What gives a value that is there already.
_READS = (gast.Name, gast.Subscript, gast.Attribute, gast.IfExp, gast.BoolOp)


@dataclass(frozen=True)
class Held:
    """What inference found out about the memory of one function's values."""

    #: The memory of an expression in a statement.
    of: Callable[[Any, gast.expr], Buffers]
    #: The memory that a name holds anywhere in the function.
    names: Mapping[str, Buffers]
    #: What was there before the function was called.
    given: Buffers

    def is_own(self, buffers: Buffers) -> bool:
        """Whether the function made the memory itself."""
        return not buffers & self.given and not any(map(_is_global, buffers))


def _is_global(buffer: Any) -> bool:
    """Whether memory is that of a global, or of a part of one."""
    while isinstance(buffer, tuple) and buffer and isinstance(buffer[0], tuple):
        buffer = buffer[0]
    return isinstance(buffer, tuple) and buffer[:1] == ("global",)


def own_results(
    node: gast.FunctionDef,
    held: Callable[[], Held],
    is_immutable: Callable[[gast.expr], bool],
    at: int,
    may_be_other: Callable[[gast.expr], bool] = lambda value: False,
    types: Sequence[Type] = (),
    only_ask: bool = False,
) -> bool:
    """Copy returned arrays that are not the function's own, in place.

    The gradient is item `at` of the returned tuple, or all of it if `at` is -1. What
    may be no array is copied with its parts; `types` are those of the gradient's parts.
    Returns whether anything was copied, or with `only_ask` would be.
    """
    last: Any = node.body[-1]
    if not isinstance(last, gast.Return) or last.value is None:
        return False
    if _all_new(node, last.value if at < 0 else last.value.elts[at]):
        return False
    returned: Buffers = frozenset()

    def fresh(value: Any, t: Type | None = None) -> Any:
        nonlocal returned
        if isinstance(value, (gast.Tuple, gast.List)):
            return type(value)([fresh(e) for e in value.elts], syntax.LOAD)
        if isinstance(value, gast.Dict):
            return gast.Dict(value.keys, [fresh(v) for v in value.values])
        if isinstance(value, gast.Starred):
            return gast.Starred(fresh(value.value), syntax.LOAD)
        if not isinstance(value, (*_READS, gast.Call)):
            return value
        if is_immutable(value) or (t is not None and is_number(t)):
            return value
        buffers = held().of(last, value)
        mine = held().is_own(buffers) and not buffers & returned
        returned |= buffers
        if mine:
            return value
        if may_be_other(value) and not isinstance(t, Array):
            return syntax.call("copied", value)
        return syntax.expression("v.copy()", v=value)

    def gradient(value: Any) -> Any:
        shown = isinstance(value, gast.Tuple)
        if shown and len(value.elts) == len(types) > 1:
            pairs = zip(value.elts, types, strict=True)
            return gast.Tuple([fresh(e, t) for e, t in pairs], syntax.LOAD)
        return fresh(value, types[0] if len(types) == 1 and not shown else None)

    before = last.value if at < 0 else last.value.elts[at]
    after = gradient(before)
    if not only_ask and at < 0:
        last.value = after
    elif not only_ask:
        last.value.elts[at] = after
    return not syntax.equal(before, after)


def _all_new(node: gast.FunctionDef, value: Any) -> bool:
    """Whether the text alone tells that results are new, and none is there twice."""
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    names = [part.id for part in parts if isinstance(part, gast.Name)]
    others = [part for part in parts if not isinstance(part, gast.Name)]
    if len(set(names)) < len(names) or not all(map(_is_new, others)):
        return False
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    bound: set[str] = set()
    for stmt in syntax.all_statements(node.body):
        mine = syntax.names_written(syntax.head(stmt)) & set(names)
        if mine and not _makes(stmt):
            return False
        bound |= mine
    return bound == set(names) and not bound & parameters


def _makes(stmt: Any) -> bool:
    """Whether a statement gives a name a new value, or adds to it."""
    if isinstance(stmt, gast.Assign):
        single = len(stmt.targets) == 1 and isinstance(stmt.targets[0], gast.Name)
        return single and _is_new(stmt.value)
    return isinstance(stmt, gast.AugAssign)


def _is_new(value: gast.expr) -> bool:
    """Whether it is a number or a new array: what is stored there is held by others."""
    displays = (gast.List, gast.Tuple, gast.Dict)
    if any(isinstance(node, displays) for node in syntax.walk(value)):
        return False
    return isinstance(value, gast.Constant) or is_new_array(value)


def own_written(
    node: gast.FunctionDef,
    held: Callable[[], Held],
    is_immutable: Callable[[gast.expr], bool],
    primal: Container[str] = (),
    type_of: Callable[[gast.expr], Type] = lambda value: Array(shape=(None,)),
) -> bool:
    """Copy what an adjoint that is added to in place starts from, in place.

    Before: `dx = x; dx += y`. After: `dx = x.copy(); dx += y`. Where nothing else needs
    the value of before, and the function made it, it is taken over. Returns whether
    anything was copied.
    """
    changed = False
    after: After | None = None
    for stmt in starts_of(node, primal):
        name, value = stmt.targets[0].id, stmt.value
        if is_immutable(syntax.name(name)) or is_immutable(value):
            continue  # a number is spread over an array before that is written to
        buffers = held().of(stmt, value) - {id(value)}
        after = after or After(node.body)
        others = after.live(stmt) - {name}
        names = held().names
        if held().is_own(buffers) and not any(
            names.get(n, frozenset()) & buffers for n in others
        ):
            continue
        changed = True
        if isinstance(value, gast.Call) and _is_copy(value):
            value = value.func.value  # it may be a container: copied with its items
        stmt.value = copy_of(value, type_of(value))
    return changed


def _is_copy(call: gast.Call) -> bool:
    """Whether the call is `v.copy()`, of an array or container."""
    return is_new_array(call) and getattr(call.func, "attr", "") == "copy"


def starts_of(node: gast.FunctionDef, primal: Container[str]) -> list[Any]:
    """The statements that give adjoints values to add to which may be there already."""
    written = _written_names(node.body)
    statements = syntax.all_statements(node.body)
    return [s for s in statements if _starts(s, written, primal)]


def _starts(stmt: Any, written: set[str], primal: Container[str]) -> bool:
    """Whether an adjoint that is written to takes a value that may be there already."""
    if not isinstance(stmt, gast.Assign) or not getattr(stmt, "backward", False):
        return False
    name = getattr(stmt.targets[0], "id", None)
    # A view in `primal` is one whose overwritten part is put back.
    if name not in written or name in primal or syntax.is_name(stmt.value, name):
        return False
    if isinstance(stmt.value, gast.Call):
        # What is taken out of a container is held by nothing else.
        return getattr(stmt.value.func, "attr", "") != "pop"
    return isinstance(stmt.value, _READS)


def _written_names(body: list[gast.stmt]) -> set[str]:
    """The names that backward statements write to in place."""
    written: set[str] = set()
    for stmt in syntax.all_statements(body):
        if getattr(stmt, "backward", False):
            if isinstance(stmt, gast.AugAssign):
                written.add(_root(stmt.target))
            elif isinstance(stmt, gast.Assign) and isinstance(
                stmt.targets[0], gast.Subscript
            ):
                written.add(_root(stmt.targets[0]))
            elif (
                isinstance(stmt, gast.Expr)
                and isinstance(stmt.value, gast.Call)
                and called(stmt.value) == "np.add.at"
            ):
                written.add(_root(stmt.value.args[0]))
    for stmt in syntax.all_statements(body):
        swapped = {new for new, _ in swap_pairs(stmt)}
        if swapped & written:
            written |= swapped
    return written


def _root(node: Any) -> str:
    return syntax.root_of(node, lambda call: shared_argument(call) or call.func)
