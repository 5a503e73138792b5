"""What srcjax can differentiate, of the functions of `jax.numpy` and `jax.scipy`.

`python -m tests.coverage_table` writes `docs/coverage.md`; a test keeps it current.
"""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srcjax  # noqa: F401  (fills the tables)
from srcjax.ops import registry  # noqa: F401  (fills the table of operations)
from srcjax.ops.record import Op, composite_of, lookup
from srcjax.ops.scipy_linalg import NO_DERIVATIVE

HERE = Path(__file__).parent
FUNCTIONS = HERE / "ops" / "functions.tsv"
PAGE = HERE.parent / "docs" / "coverage.md"

#: Composites whose tests take one derivative only.
ONE_DERIVATIVE = {
    "numpy.histogramdd",
    "scipy.integrate.odeint",
    "scipy.stats.gaussian_kde.logpdf",
    "scipy.stats.gaussian_kde.pdf",
}

HEAD = """\
# Coverage

Each function of NumPy and SciPy that `jax.numpy` and `jax.scipy` have too, and what
srcjax does with it. Written by `python -m tests.coverage_table`.

- **rule**: adjoint and tangent in the table of operations.
- **composite**: a function of plain NumPy with the same value, which is differentiated
  like one of yours, in all modes and to any order.
- **no derivative**: the result is a count, an index, a shape, a truth value or made
  from nothing; it may be used anywhere.
- **refused**: an error says so where a derivative flows in.

The last column is the highest order that the tests compare with finite differences.

"""


@dataclass
class Row:
    """What the table says of one function."""

    name: str
    kind: str
    reverse: bool
    forward: bool
    order: int | None
    reason: str = ""


def names() -> list[str]:
    """The functions of the list, by full name."""
    lines = FUNCTIONS.read_text().splitlines()
    return [line.split("\t")[0] for line in lines if line and line[0] != "#"]


def function_of(name: str) -> Any:
    """The object behind a full name such as `scipy.stats.norm.logpdf`."""
    parts = name.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)


def row_of(name: str) -> Row:
    """Look the function up in the tables."""
    function = function_of(name)
    if composite_of(function) is not None:
        order = 1 if name in ONE_DERIVATIVE else 2
        return Row(name, "composite", True, True, order)
    op = lookup(function)
    reason = NO_DERIVATIVE.get(name.removeprefix("scipy.linalg."))
    if op is None and name.startswith("scipy.linalg.") and reason:
        return Row(name, "refused", False, False, None, reason)
    if op is None:
        return Row(name, "missing", False, False, None)
    if op.inert:
        return Row(name, "no derivative", True, True, None)
    adjoint = op.adjoint is not None
    tangent = op.tangent is not None or bool(op.linear)
    return Row(name, "rule", adjoint, tangent, order_of(name, op))


def order_of(name: str, op: Op) -> int:
    """How many derivatives of a rule the tests take: looked up in their tables."""
    from .ops.test_second_order import CALLS, FIRST_ORDER_ONLY
    from .ops.test_second_order_elsewhere import SECOND

    one_call = op.name in CALLS and op.name not in FIRST_ORDER_ONLY
    return 2 if one_call or name in SECOND else 1


def rows() -> list[Row]:
    """The whole table."""
    return [row_of(name) for name in names()]


def page() -> str:
    """The text of `docs/coverage.md`."""
    found = rows()
    counts = Counter(row.kind for row in found)
    summary = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
    lines = [f"{HEAD}{len(found)} functions: {summary}.", ""]
    lines += ["| function | how | reverse | forward | order |", "|---|---|---|---|---|"]
    for row in found:
        how = row.kind + (f": {row.reason}" if row.reason else "")
        modes = ["yes" if mode else "no" for mode in (row.reverse, row.forward)]
        order = "" if row.order is None else str(row.order)
        lines.append(f"| `{row.name}` | {how} | {' | '.join(modes)} | {order} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
