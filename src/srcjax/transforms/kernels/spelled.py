"""What functions of NumPy are in terms of others, for kernels that loop over them.

trace_A = np.trace(A)         ->      diagonal = np.diag(A)
                                      trace_A = np.sum(diagonal)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import rank_of
from srcjax.transforms.kernels.accepted import is_kernel_array, kind
from srcjax.transforms.kernels.operations import Operation
from srcjax.transforms.kernels.writing import Writing


@dataclass
class Spelling:
    """The statements that a call stands for; the last one binds the result."""

    text: str
    #: The arguments that are served, with what stands for those that are not given.
    given: dict[str, Any]
    #: The rank of the arrays, where it has to be a certain one.
    rank: int | None = None
    #: The kinds of numbers that it is for.
    kinds: str = "fib"


_ABOUT_MEAN = """\
mean = np.mean(a, axis=axis, keepdims=True)
centred = a - mean
squares = centred * centred
"""
_ALONG = {"a": ..., "axis": None, "keepdims": False}
SPELLINGS = {
    "numpy.trace": Spelling(
        "diagonal = np.diag(a)\nresult = np.sum(diagonal)", {"a": ...}, 2
    ),
    "numpy.diff": Spelling(
        "later = x[1:]\nearlier = x[:-1]\nresult = later - earlier", {"x": ...}, 1
    ),
    "numpy.var": Spelling(
        _ABOUT_MEAN + "result = np.mean(squares, axis=axis, keepdims=keepdims)", _ALONG
    ),
    "numpy.std": Spelling(
        _ABOUT_MEAN
        + "variance = np.mean(squares, axis=axis, keepdims=keepdims)\n"
        + "result = np.sqrt(variance)",
        _ALONG,
    ),
    "numpy.linalg.norm": Spelling(
        "squares = x * x\n"
        "total = np.sum(squares, axis=axis, keepdims=keepdims)\n"
        "result = np.sqrt(total)",
        {"x": ..., "axis": None, "keepdims": False},
        kinds="f",
    ),
    "numpy.flip": Spelling("result = x[::-1]", {"x": ..., "axis": None}, 1),
    "numpy.inner": Spelling("result = np.dot(a, b)", {"a": ..., "b": ...}, 1),
    "numpy.vdot": Spelling("result = np.dot(a, b)", {"a": ..., "b": ...}, 1),
    "numpy.count_nonzero": Spelling("result = np.sum(a)", {"a": ...}, kinds="b"),
}


def spelled(writing: Writing, stmt: Any) -> list[Any]:
    """The statements that one stands for: itself, where it is none of these."""
    key = getattr(stmt, "origin", id(stmt))
    if key not in writing.spelled:
        writing.spelled[key] = stmt, _spelled(writing, stmt)
    found: list[Any] | None = writing.spelled[key][1]
    return [stmt] if found is None else found


def _spelled(writing: Writing, stmt: Any) -> list[Any] | None:
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Call):
        return None
    (target,) = stmt.targets
    operation = writing.operations.of(value)
    if operation is None or not isinstance(target, gast.Name):
        return None
    spelling = SPELLINGS.get(operation.op.name)
    if spelling is None or not serves(writing, spelling, operation):
        return None
    holes = {
        name: syntax.clone(operation.operands.get(name, syntax.const(default)))
        for name, default in spelling.given.items()
    }
    stmts: list[Any] = syntax.statements(spelling.text, **holes)
    names = {"result": target.id}
    for each in stmts[:-1]:
        name = each.targets[0].id
        names[name] = writing.fresh(name)
    writing.uses.subtract(syntax.use_counts(stmt))
    for each in stmts:
        syntax.rename(each, names)
        each.origin = getattr(stmt, "origin", id(stmt))
        each.user_line = getattr(stmt, "user_line", None)
        writing.uses.update(syntax.use_counts(each))
        if each is not stmts[-1]:
            own = each.targets[0].id
            writing.types[own] = writing.typer.type_of(each.value, writing.types)
    return stmts


def serves(writing: Writing, spelling: Spelling, operation: Operation) -> bool:
    """Whether a call has only arguments that the spelling is for."""
    given = operation.operands
    needed = {n for n, default in spelling.given.items() if default is ...}
    if not needed <= set(given) <= set(spelling.given):
        return False
    for name in needed:
        t = writing.type_of(given[name])
        if not isinstance(given[name], gast.Name) or not is_kernel_array(t):
            return False
        if kind(t) not in spelling.kinds or spelling.rank not in (None, rank_of(t)):
            return False
    return True
