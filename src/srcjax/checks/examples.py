"""`check=True` of `vmap`: some examples of the first call are run one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax.checks.first_call import MOST_BYTES, unchecked
from srcjax.checks.leaves import is_real_leaf, leaves, put
from srcjax.checks.outcomes import difference, quiet, run
from srcjax.checks.passes import changes_of
from srcjax.checks.world import World, leads_outside
from srcjax.errors import DerivativeMismatch, error_at

#: So many examples are compared: the first, the last, and one between.
EXAMPLES = 3


def prove_batch(
    transform: Any,
    values: list[Any],
    size: int,
    result: Any,
    example: Callable[[int], list[Any]],
    part: Callable[[Any, int], Any],
) -> None:
    """Compare the results of a batch with those of examples. Raises DerivativeMismatch.

    `example(k)` gives the arguments of one example, `part(result, k)` its result.
    """
    with unchecked(), quiet():
        try:
            found = _differing(transform, values, size, result, example, part)
        except Exception:
            return  # the function cannot be run again
        if found is None:
            return
        k, how = found
        more = _pass_at_fault(transform, values)
    name = transform.source.name
    raise error_at(
        DerivativeMismatch,
        transform.source,
        transform.source.node,
        f"`vmap` of `{name}` gives something else for example {k} than `{name}` does: "
        f"{how} ({name} first){more}",
        "please report it; `check=False` does without the comparison",
    )


def _differing(
    transform: Any,
    values: list[Any],
    size: int,
    result: Any,
    example: Callable[[int], list[Any]],
    part: Callable[[Any, int], Any],
) -> tuple[int, str] | None:
    """The first example that differs, and how."""
    roots = [transform.function, *values]
    if leads_outside(roots):
        return None
    world = World(roots)
    if world.bytes() > MOST_BYTES:
        return None

    def alone(arguments: list[Any]) -> Any:
        found = run(lambda: transform.plain_value(arguments), world, False)
        if found.error is not None:
            raise found.error
        return numbers(found.result)

    for k in sorted({0, size // 2, size - 1})[:EXAMPLES]:
        expected, got = alone(example(k)), numbers(part(result, k))
        how = difference(expected, got, "the result")
        if how is None:
            continue
        # Noise, chaos and ties: what rounding of an argument changes says nothing.
        if difference(expected, alone(example(k)), "") is not None:
            return None
        for sign in (1, -1):
            near = alone(rounded(example(k), sign))
            if difference(expected, near, "") is not None:
                return None
        return k, how
    return None


def numbers(value: Any) -> list[Any]:
    """The leaves as arrays: that of one example may be Python's number."""
    return [
        np.asarray(leaf, np.result_type(leaf) if is_real_leaf(leaf) else None)
        for leaf in leaves(value)
    ]


def rounded(values: list[Any], sign: int) -> list[Any]:
    """The arguments, off by some units in the last place."""

    def of(leaf: Any) -> Any:
        if not is_real_leaf(leaf):
            return leaf
        if not hasattr(leaf, "dtype"):
            return leaf * (1 + 4e-16 * sign)
        array = np.asarray(leaf)
        off = np.asarray(array * (1 + 4 * np.finfo(leaf.dtype).eps * sign), leaf.dtype)
        return off if isinstance(leaf, np.ndarray) else off[()]

    return put(values, map(of, leaves(values)))


def _pass_at_fault(transform: Any, values: list[Any]) -> str:
    try:
        found, _ = changes_of(transform, tuple(values), {})
    except Exception:
        return ""
    return f"\n{found[0]}" if found else ""
