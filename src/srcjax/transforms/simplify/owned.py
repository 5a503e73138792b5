"""Results that share no memory with arguments, or with each other.

Before:                          After:

    return w                         return w.copy()
    return dz, dz                    return dz, dz.copy()
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.types import Array, Type, is_number
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops.helpers import helper_of
from srcjax.ops.record import lookup
from srcjax.transforms.call_effects import called, is_pure


def may_share(call: gast.Call) -> bool:
    """Whether the call is of a helper whose result may be (a view of) an argument."""
    helper = helper_of(HELPERS.get(called(call)))
    return helper is not None and helper.alias != "fresh"


@cache
def alias_of(name: str) -> str:
    """What the result of `np.name`, or of a method `name`, shares: `Op.alias`."""
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part, None)
    op = None if function is None else lookup(function)
    if op is None:
        return "maybe" if name in ("view", "get") else "fresh"
    return op.alias


def alias_of_call(call: gast.Call) -> tuple[str, gast.expr | None]:
    """What the result of a call shares, and the argument (or owner) that it is of."""
    chain = called(call)
    if chain.startswith("np.") or isinstance(call.func, gast.Name):
        if chain in ("unbroadcast", "unreduce"):
            return "maybe", call.args[0]
        # A function of NumPy's may have been imported by its name.
        alias = alias_of(chain.removeprefix("np."))
        return alias, call.args[0] if call.args else None
    if isinstance(call.func, gast.Attribute):
        return alias_of(call.func.attr), call.func.value
    return "fresh", None


def shared_argument(call: gast.Call) -> gast.expr | None:
    """The argument (or owner) whose memory the result may share, None if it is new."""
    alias, argument = alias_of_call(call)
    return None if alias == "fresh" else argument


#: What is known of a call of a generated function: the roots of each result, given
#: those of its arguments. None for other calls.
CallRoots = Callable[
    [gast.Call, Callable[[gast.expr], set[str]]], "list[set[str]] | None"
]


def is_fresh(value: gast.expr) -> bool:
    """Whether an expression of operations and helpers gives what nothing else holds."""
    if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Constant)):
        return True
    if not isinstance(value, gast.Call):
        return False
    return shared_argument(value) is None


def is_new_array(value: gast.expr) -> bool:
    """Whether an expression with functions of any kind certainly makes a new array."""
    if isinstance(value, gast.Constant) or not is_fresh(value):
        return False
    if not isinstance(value, gast.Call):
        return True
    if not is_pure(value):
        return False
    made = getattr(value.func, "attr", "") in ("sum", "copy", "mean")
    return made or called(value).startswith("np.")


def shared_roots(value: Any) -> set[str]:
    """Names whose memory the value of an expression may be (a view of)."""
    if isinstance(value, gast.Name):
        return {value.id}
    if isinstance(value, (gast.Subscript, gast.Attribute)):
        return shared_roots(value.value)
    if isinstance(value, gast.IfExp):
        return shared_roots(value.body) | shared_roots(value.orelse)
    if isinstance(value, gast.Call):
        argument = shared_argument(value)
        return set() if argument is None else shared_roots(argument)
    return set()


#: What gives a value that is there already.
_READS = (gast.Name, gast.Subscript, gast.Attribute, gast.IfExp, gast.BoolOp)


def own(value: gast.expr, t: Type) -> gast.expr:
    """The expression of a new array with the value."""
    if is_fresh(value) or is_number(t):
        return value
    if isinstance(t, Array):
        return syntax.expression("v.copy()", v=value)
    return syntax.call("copied", value)


def own_results(
    node: gast.FunctionDef,
    is_immutable: Callable[[gast.expr], bool],
    at: int,
    may_be_number: Callable[[gast.expr], bool] = lambda value: False,
    calls: CallRoots = lambda call, roots: None,
    types: Sequence[Type] = (),
    is_known: Callable[[gast.Call], bool] = lambda call: True,
) -> None:
    """Copy returned arrays that are not the function's own, in place.

    The gradient is item `at` of the returned tuple, or all of it if `at` is -1. What
    may be a number has no method `copy`; `types` are those of the gradient's parts.
    What `calls` of generated functions give may be memory of their arguments, and
    what a call gives that is not known may be anything.
    """
    last = node.body[-1]
    if not isinstance(last, gast.Return) or last.value is None:
        return
    owner = Owner(node, is_immutable, may_be_number, calls, is_known)
    if at < 0:
        last.value = owner.gradient(last.value, types)
    else:
        last.value.elts[at] = owner.gradient(last.value.elts[at], types)


def own_written(
    node: gast.FunctionDef,
    is_immutable: Callable[[gast.expr], bool],
    primal: Container[str] = (),
    is_known: Callable[[gast.Call], bool] = lambda call: True,
    is_array: Callable[[gast.expr], bool] = lambda value: True,
) -> None:
    """Copy what an adjoint that is added to in place starts from, in place.

    Before: `dx = x; dx += y`. After: `dx = x.copy(); dx += y`. What a call gives that
    is not known may be the user's own array.
    """
    written: set[str] = set()
    for stmt in syntax.walk(node.body):
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
    for stmt in syntax.walk(node.body):
        swapped = {new for new, _ in swap_pairs(stmt)}
        if swapped & written:
            written |= swapped
    for stmt in syntax.walk(node.body):
        if not isinstance(stmt, gast.Assign) or not getattr(stmt, "backward", False):
            continue
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name) or target.id not in written:
            continue
        if target.id in primal:  # a view whose overwritten part is put back
            continue
        if is_immutable(syntax.name(target.id)) or syntax.is_name(value, target.id):
            continue
        if is_immutable(value):  # spread over an array before that is written to
            continue
        shares = isinstance(value, _READS)
        if isinstance(value, gast.Call):
            shares = shared_argument(value) is not None
            unknown = not is_known(value)
            shares |= unknown and is_array(value)
            if may_share(value) or (unknown and not shares):
                stmt.value = syntax.call("copied", value)
        if shares:
            stmt.value = syntax.expression("v.copy()", v=value)


def _root(node: Any) -> str:
    return syntax.root_of(node, lambda call: shared_argument(call) or call.func)


class Owner:
    """Knows which memory the values of a function's names may share."""

    def __init__(
        self,
        node: gast.FunctionDef,
        is_immutable: Callable[[gast.expr], bool],
        may_be_number: Callable[[gast.expr], bool],
        calls: CallRoots,
        is_known: Callable[[gast.Call], bool] = lambda call: True,
    ) -> None:
        self.node = node
        self.is_known = is_known
        self.may_be_number = may_be_number
        self.calls = calls
        self.is_immutable = is_immutable
        self.parameters = {
            a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)
        }
        self.bound = self.parameters | syntax.names_written(node.body)
        self.returned: set[str] = set()

    def gradient(self, value: Any, types: Sequence[Type]) -> Any:
        """The parts of the gradient as the function's own."""
        shown = isinstance(value, gast.Tuple)
        if shown and len(value.elts) == len(types) > 1:
            pairs = zip(value.elts, types, strict=True)
            return gast.Tuple([self.fresh(e, t) for e, t in pairs], syntax.LOAD)
        return self.fresh(value, types[0] if len(types) == 1 and not shown else None)

    def fresh(self, value: Any, t: Type | None = None) -> Any:
        """The expression, copied where it is not the function's own."""
        if isinstance(value, (gast.Tuple, gast.List)):
            return type(value)([self.fresh(e) for e in value.elts], syntax.LOAD)
        if isinstance(value, gast.Dict):
            return gast.Dict(value.keys, [self.fresh(v) for v in value.values])
        if not isinstance(value, (*_READS, gast.Call)):
            return value
        roots = self.roots(value)
        if not roots:
            return value
        if self.is_immutable(value) or (t is not None and is_number(t)):
            return value
        own = not (roots & self.parameters) and not (roots & self.returned)
        own = own and not any(r.startswith("?") for r in roots)
        self.returned |= roots
        if own:
            return value
        if isinstance(value, gast.Name) and self.is_container(value.id):
            return value
        if self.may_be_number(value) and not isinstance(t, Array):
            return syntax.call("copied", value)
        return syntax.expression("v.copy()", v=value)

    def is_container(self, name: str) -> bool:
        """Whether the name stands for a display, or for an item that was one."""
        displays = (gast.List, gast.Tuple, gast.Dict)
        items: set[str] = set()
        for sub in syntax.walk(self.node.body):
            if not isinstance(sub, gast.Assign):
                continue
            target, value = sub.targets[0], sub.value
            if syntax.is_name(target, name):
                if isinstance(value, displays):
                    return True
                if isinstance(value, gast.Subscript):
                    items |= shared_roots(value.value)
        return any(
            isinstance(sub, gast.Assign)
            and isinstance(sub.targets[0], gast.Subscript)
            and isinstance(sub.value, displays)
            and shared_roots(sub.targets[0].value) & items
            for sub in syntax.walk(self.node.body)
        )

    def roots(self, value: Any) -> set[str]:
        """Names whose memory the value may share; "?" for one that is not known."""
        return self.reached(self.shared(value))

    def reached(self, names: set[str]) -> set[str]:
        """The names, and all whose memory they may share by way of others."""
        found: set[str] = set()
        todo = sorted(names)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.assigned(name)
        return found

    def assigned(self, name: str) -> set[str]:
        """The names whose memory the name may get in an assignment."""
        if "?" in name or "@" in name:  # not a name, but what stands for memory
            return set()
        found: set[str] = set()
        if name not in self.bound:
            found.add("?")  # the user's: a global array, or one from around
        for sub in syntax.walk(self.node.body):
            if isinstance(sub, gast.Assign):
                found |= self.given(sub, name)
        return found

    def shared(self, value: Any) -> set[str]:
        """The names in the value whose memory it may share."""
        if isinstance(value, gast.Name):
            return {value.id}
        if isinstance(value, (gast.Subscript, gast.Attribute)):
            return self.shared(value.value)
        if isinstance(value, (gast.Tuple, gast.List)):
            return set().union(*map(self.shared, value.elts))
        if isinstance(value, gast.Call):
            parts = self.calls(value, self.shared)
            if parts is not None:
                return set().union(*parts)
            if not self.is_known(value):
                return {"?"}
            argument = shared_argument(value)
            if argument is not None:
                read_only = alias_of_call(value)[0] == "read-only"
                unowned = {"?"} if read_only else set()
                return self.shared(argument) | unowned
        if isinstance(value, gast.IfExp):
            return self.shared(value.body) | self.shared(value.orelse)
        if isinstance(value, gast.BoolOp):
            return set().union(*map(self.shared, value.values))
        return set()

    def given(self, stmt: gast.Assign, name: str) -> set[str]:
        """The names whose memory the assignment gives the name."""
        target = stmt.targets[0]
        if syntax.is_name(target, name):
            return self.shared(stmt.value)
        if not isinstance(target, gast.Tuple) or not isinstance(stmt.value, gast.Call):
            return set()
        parts = self.calls(stmt.value, self.shared)
        if parts is None:
            return set()
        places = [k for k, e in enumerate(target.elts) if syntax.is_name(e, name)]
        if len(parts) != len(target.elts):
            return set().union(*parts) if places else set()
        return set().union(*(parts[k] for k in places))

    def parts(self, call: gast.Call) -> list[set[str]] | None:
        """The roots of each result of a generated function; None for another."""
        parts = self.calls(call, self.shared)
        return None if parts is None else [self.reached(part) for part in parts]
