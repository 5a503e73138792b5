"""`np.array(v, dtype=t)` where the dtype is known only when the program runs.

Before:                             After:

    y = np.array(v, dtype=t)            refuse_whole_numbers(t)
                                        y = np.array(v, dtype=t)

What makes whole numbers of differentiated values has no derivative. Where types do not
tell, the code looks when it runs. So it does for what is stored in an array of a dtype
that is not known: `a[i] = v`.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Array, Const, Type, Varies, is_active, varies
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op, inert

CHECK = "refuse_whole_numbers"
inert(runtime.refuse_whole_numbers, signature="dtype", infer=lambda dtype: Const())


def dtype_of_run_time(
    callees: list[Any], call: gast.Call, given: list[gast.expr]
) -> gast.Name | None:
    """The name of the dtype that the call converts what it is given to."""
    if getattr(call, "dtype_is_checked", False) or len(callees) != 1:
        return None
    (op,) = callees
    if not isinstance(op, Op) or not op.linear or op.signature is None:
        return None
    bare = not any(isinstance(a, gast.Starred) for a in given)
    if not bare or any(k.arg is None for k in call.keywords):
        return None
    try:
        bound = op.signature.bind(*given, **{k.arg: k.value for k in call.keywords})
    except TypeError:
        return None
    dtype = bound.arguments.get("dtype")
    return dtype if isinstance(dtype, gast.Name) else None


def checks_of_dtype(settling: Any, stmt: gast.Assign) -> list[gast.stmt]:
    """The checks that a conversion or a store needs, once."""
    if varies() is not Varies.DERIVATIVES:
        return []
    if is_own(settling.unit.source.func):  # it looks at dtypes itself
        return []
    if isinstance(stmt.value, gast.Call):
        return of_conversion(settling, stmt)
    if isinstance(stmt.targets[0], gast.Subscript):
        return of_store(settling, stmt)
    return []


def is_own(function: Any) -> bool:
    """Whether a function is one of srcjax's own."""
    return (function.__module__ or "").partition(".")[0] == "srcjax"


def of_conversion(settling: Any, stmt: gast.Assign) -> list[gast.stmt]:
    """The check that `np.array(v, dtype=t)` needs."""
    call = stmt.value
    callees = settling.facts.callees.get(id(call), [])
    owner = getattr(call.func, "value", None)  # of `x.astype(t)`
    method = owner is not None and settling.atom_type(stmt, owner) is not None
    given = [owner, *call.args] if method else call.args
    name = dtype_of_run_time(callees, call, given)
    if name is None:
        return []
    t: Type | None = settling.type_before(stmt, name.id)
    if t is None:  # of no variable of the function: `float`
        t = settling.typer.type_of(name, {})
    types = [settling.atom_type(stmt, a) for a in given]
    if isinstance(t, Const) or not any(a is not None and is_active(a) for a in types):
        return []
    if settling.waits_for(t):
        return []
    call.dtype_is_checked = True
    return [refusal(settling.unit, name.id)]


def of_store(settling: Any, stmt: gast.Assign) -> list[gast.stmt]:
    """The check that `a[i] = v` needs."""
    target = stmt.targets[0]
    if getattr(stmt, "dtype_is_checked", False):
        return []
    held = settling.atom_type(stmt, target.value)
    value = settling.atom_type(stmt, stmt.value)
    if not isinstance(held, Array) or held.dtype is not None or value is None:
        return []
    if not is_active(value) or settling.waits_for(None):
        return []
    stmt.dtype_is_checked = True
    dtype = settling.fresh("dtype", varying=False)
    asked = gast.Attribute(syntax.name(target.value.id), "dtype", syntax.LOAD)
    return [syntax.assign(dtype, asked), refusal(settling.unit, dtype)]


def refusal(unit: Unit, name: str) -> gast.stmt:
    """`refuse_whole_numbers(name)`."""
    unit.extra[CHECK] = runtime.refuse_whole_numbers
    unit.names.taken.add(CHECK)
    return gast.Expr(syntax.call(CHECK, syntax.name(name)))
