"""What memory an expression of generated code gives, by the records of what it calls.

`x[1:]` and `x.T` are (views of) what `x` is, `x + y` and `np.exp(x)` are new.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import Array, Type, is_number
from srcjax.ops.helpers import helper_of
from srcjax.ops.record import lookup
from srcjax.transforms.call_effects import called, is_pure


@cache
def alias_of(name: str) -> str:
    """What the result of `np.name`, or of a method `name`, shares: `Op.alias`."""
    first, *rest = name.split(".")
    # NumPy warns where it is asked for names that it had once, such as `str`.
    function: Any = getattr(np, first) if first in dir(np) else None
    for part in rest:
        function = getattr(function, part, None)
    op = None if function is None else lookup(function)
    if op is None:
        return "maybe" if name in ("view", "get") else "fresh"
    return op.alias


@cache
def shares_first(name: str) -> bool:
    """Whether it is a helper whose result may share memory with its first argument."""
    helper = helper_of(runtime.HELPERS.get(name))
    return helper is not None and helper.parameters[0] in helper.shares


def alias_of_call(call: gast.Call) -> tuple[str, gast.expr | None]:
    """What the result of a call shares, and the argument (or owner) that it is of."""
    chain = called(call)
    if chain.startswith("np.") or isinstance(call.func, gast.Name):
        if shares_first(chain):
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


def own(value: gast.expr, t: Type) -> gast.expr:
    """The expression of a new array with the value."""
    return value if is_fresh(value) or is_number(t) else copy_of(value, t)


def copy_of(value: gast.expr, t: Type) -> gast.expr:
    """The expression of a copy."""
    if isinstance(t, Array) and not t.shape:  # it may be a number
        return syntax.expression("np.array(v)", v=value)
    if isinstance(t, Array):
        return syntax.expression("v.copy()", v=value)
    return syntax.call("copied", value)
