"""`compare_modes`: forward and reverse mode of one function, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.api.forward import pushforward_of
from srcjax.api.options import boundary
from srcjax.checks.leaves import is_real_leaf, leaves, put
from srcjax.checks.outcomes import copied
from srcjax.errors import ArgumentError
from srcjax.teaching.counting import Counted, bytes_kept, counting
from srcjax.versions.functions import with_source
from srcjax.versions.reverse_mode import pullback_of


@dataclass(frozen=True)
class Cost:
    """What one mode takes for one pass, and for the whole Jacobian."""

    mode: str
    text: str
    #: Operations before the pass, which are done once: the forward sweep of reverse.
    once: int
    #: Operations of a pass: a column of the Jacobian in forward mode, a row in reverse.
    operations: int
    passes: int
    #: Bytes that are kept from the one sweep to the other.
    saved: int
    #: Calls that are not among the operations, such as `solve`, by name.
    unknown: Counter[str]
    #: The user's line behind each line of the text.
    places: dict[int, int]

    @property
    def total(self) -> int:
        """The operations for the whole Jacobian."""
        return self.once + self.passes * self.operations


@dataclass(frozen=True)
class Modes:
    """Both modes of a function at some arguments; `print` it, or show it in a notebook.

    `inputs` and `outputs` count the real numbers that go in and come out; `forward` and
    `reverse` have `text`, `operations`, `passes`, `total`, `saved`.
    """

    name: str
    inputs: int
    outputs: int
    forward: Cost
    reverse: Cost

    @property
    def cheaper(self) -> str:
        """The mode that takes fewer operations for the whole Jacobian."""
        modes = (self.reverse, self.forward)
        return min(modes, key=lambda cost: cost.total).mode

    def rows(self) -> list[tuple[str, str, str]]:
        """The table: what is counted, in forward and in reverse mode."""
        f, r = self.forward, self.reverse
        rows = [
            ("a pass gives", "a column: J @ x_dot", "a row: dy @ J"),
            ("operations done once", _count(f.once), _count(r.once)),
            ("operations of a pass", _count(f.operations), _count(r.operations)),
            ("passes for the Jacobian", _count(f.passes), _count(r.passes)),
            ("operations for the Jacobian", _count(f.total), _count(r.total)),
            ("kept for later", _bytes(f.saved), _bytes(r.saved)),
        ]
        if f.unknown or r.unknown:
            rows.append(("calls not counted", _calls(f), _calls(r)))
        return rows

    def __str__(self) -> str:
        rows = [("", "forward", "reverse"), *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            "  ".join(
                cell.ljust(w) for cell, w in zip(row, widths, strict=True)
            ).rstrip()
            for row in rows
        ]
        texts = [f"# {c.mode}\n{c.text}" for c in (self.forward, self.reverse)]
        return "\n".join([self.title, "", *table, "", self.verdict, "", *texts])

    __repr__ = __str__

    @property
    def title(self) -> str:
        """What it is of."""
        return f"{self.name}: {_number(self.inputs, 'input')}, " + _number(
            self.outputs, "output"
        )

    @property
    def verdict(self) -> str:
        """Which mode is cheaper, in a sentence."""
        few, many = sorted((self.forward.total, self.reverse.total))
        if few == many:
            return "both modes take as many operations for the whole Jacobian"
        times = f", {many / few:.3g} times fewer" if few else ""
        left_out = self.forward.unknown or self.reverse.unknown
        but = ", but for the calls not counted" if left_out else ""
        return (
            f"{self.cheaper} mode takes fewer operations for the Jacobian{times}{but}"
        )

    def html(self) -> str:
        """The table and both texts, as HTML that needs no other file."""
        from srcjax.teaching.modes_html import as_html

        return as_html(self)

    def _repr_html_(self) -> str:
        return self.html()


def _count(value: int) -> str:
    return f"{value:,}"


def _bytes(value: int) -> str:
    return "nothing" if not value else f"{value:,} bytes"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"


def _calls(cost: Cost) -> str:
    found = [f"{count} of {name}" for name, count in sorted(cost.unknown.items())]
    return ", ".join(found) or "none"


@boundary
def compare_modes(f: Callable, *args: Any, argnums: Any = 0) -> Modes:
    """Forward and reverse mode of a function, side by side, with what they take.

    Both are run at the arguments, and the real numbers that they compute are counted:
    a product of matrices of `(m, k)` and `(k, n)` counts `2 m k n`, a reduction one for
    each number that goes in, all else one for each number that comes out. Calls of
    which that is not known (`np.linalg.solve`, say) are listed, and not counted.

    For `n` inputs and `m` outputs the Jacobian takes `n` passes forward and `m` in
    reverse, where a first sweep, done once, keeps values for them.

    **Arguments**

    - `f`: the function: of numbers, arrays and pytrees, with such a result.
    - `args`: what to call it with.
    - `argnums`: the arguments that are inputs, as in `srcjax.grad`.

    **Returns**

    A `Modes`: the table and both texts (`print`, `html()`), and the numbers.

    **Raises**

    - `ArgumentError`: no real number goes in, or none comes out.

    >>> def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> modes = srcjax.compare_modes(norm, np.ones(100))
    >>> modes.inputs, modes.outputs, modes.cheaper
    (100, 1, 'reverse')
    """
    f = with_source(f, len(args))
    reverse: Any = pullback_of(f, _tuple(argnums), False)
    values = reverse.bind(args, {})
    named = dict(zip(reverse.parameters, values, strict=True))
    chosen = [named[n] for n in reverse.wrt]
    result = f(*copied(args))
    inputs, outputs = _reals(chosen), _reals(result)
    if not inputs or not outputs:
        raise ArgumentError(
            f"{'the result' if inputs else 'what goes in'} has no real number",
            instead="floats, or arrays of them, in and out",
        )
    return Modes(
        reverse.shown_name,
        inputs,
        outputs,
        _forward(f, reverse, args, inputs),
        _reverse(reverse, args, outputs),
    )


def _tuple(argnums: Any) -> tuple:
    return tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)


def _reals(value: Any) -> int:
    return sum(int(np.size(v)) for v in leaves(value) if is_real_leaf(v))


def _forward(f: Callable, reverse: Any, args: tuple, passes: int) -> Cost:
    """What a pass of forward mode takes."""
    transform = pushforward_of(f, tuple(reverse.wrt), False)
    tangents = tuple(
        _like(v, 1.0) if n in reverse.wrt else None
        for n, v in zip(reverse.parameters, args, strict=False)
    )
    module, values, keywords = transform.recorded((copied(args), tangents), {})
    counted = Counted()
    counting(module, counted)[module.entry](*values, **keywords)
    return Cost(
        "forward",
        module.text,
        0,
        counted.operations,
        passes,
        0,
        counted.unknown,
        _places(module),
    )


def _reverse(transform: Any, args: tuple, passes: int) -> Cost:
    """What the forward sweep takes, which is done once, and a backward sweep."""
    module, values, keywords = transform.recorded(copied(args), {})
    counted = Counted()
    around = counting(module, counted)
    y, saved = around[module.functions[-2].name](*values, **keywords)
    once = counted.operations
    kept = bytes_kept(saved, list(values))
    around[module.functions[-1].name](saved, _like(y, 1.0))
    return Cost(
        "reverse",
        module.text,
        once,
        counted.operations - once,
        passes,
        kept,
        counted.unknown,
        _places(module),
    )


def _like(value: Any, number: float) -> Any:
    """The value with a number in the place of its real numbers."""

    def of(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return np.full(leaf.shape, number if is_real_leaf(leaf) else 0.0)
        return number if is_real_leaf(leaf) else 0.0

    return put(value, map(of, leaves(value)))


def _places(module: Any) -> dict[int, int]:
    return {line: place[1] for line, place in module.line_map.items()}


__all__ = ["Cost", "Modes", "compare_modes"]
