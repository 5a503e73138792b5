"""The text before and after every pass, run on the same arguments.

From the transform on, what is between two passes is Python: `Snapshot` has all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.checks.outcomes import Outcome, copied, run, unlike
from srcjax.checks.world import World
from srcjax.frontend.stage_texts import Runnable, Snapshot


@dataclass(frozen=True)
class Change:
    """That a pass changed what the functions do."""

    name: str
    how: str
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"the pass `{self.name}` changed what the function does. {self.how}\n\n"
            f"Before it:\n\n{self.before}\n\nAfter it:\n\n{self.after}"
        )


def load(snapshot: Snapshot) -> dict[str, Any]:
    """The functions of a snapshot by name, each with the global names it was given."""
    spaces = []
    for function in snapshot.functions:
        space = dict(function.values)
        code = compile(function.text, f"<{snapshot.name}>", "exec", dont_inherit=True)
        exec(code, space)
        spaces.append(space)
    found = {
        f.name: space[f.name]
        for f, space in zip(snapshot.functions, spaces, strict=True)
    }
    for space in spaces:
        space.update(found)
    return found


def caller(
    functions: dict[str, Any],
    entry: Sequence[str],
    args: Sequence[Any],
    keywords: dict[str, Any],
    seed: Callable[[Any], Any],
) -> Callable[[], Any]:
    """A call of the entry; of a pair, of the forward and the backward function."""

    def call() -> Any:
        result = functions[entry[0]](*args, **keywords)
        if len(entry) == 1:
            return result
        y, saved = result
        return y, functions[entry[1]](saved, seed(y))

    return call


def changes_of(
    transform: Any, args: tuple, kwargs: dict[str, Any]
) -> tuple[list[Change], int]:
    """What passes changed in a derivative, and how many were looked at."""
    args, kwargs = copied((args, kwargs))
    module, values, keywords = transform.recorded(args, kwargs)
    snapshots = list(module.stages.snapshots)
    if not snapshots:
        return [], 0
    first = snapshots[0].entry
    phase = [s for s in snapshots if s.entry == first]
    functions = {f.name for f in module.functions}
    if functions >= set(first):
        live = module.live_values()
        emitted = tuple(Runnable(name, module.text, live) for name in first)
        phase.append(Snapshot(phase[0].transform, "emit", emitted, first))
    found = changes(phase, values, keywords, seed_of, [transform.function])
    return found, len(phase) - 1


def changes(
    snapshots: Sequence[Snapshot],
    args: Sequence[Any],
    keywords: dict[str, Any],
    seed: Callable[[Any], Any],
    roots: Sequence[Any] = (),
) -> list[Change]:
    """What each pass changed that a caller can see. One that is random is no change."""
    values = [v for s in snapshots[:1] for f in s.functions for v in f.values.values()]
    world = World([*args, *keywords.values(), *values, *roots])

    def outcome(snapshot: Snapshot) -> Outcome:
        functions = load(snapshot)
        return run(caller(functions, snapshot.entry, args, keywords, seed), world)

    found: list[Change] = []
    before = outcome(snapshots[0])
    if unlike(before, outcome(snapshots[0])) is not None:
        return found
    for previous, snapshot in zip(snapshots, snapshots[1:], strict=False):
        after = outcome(snapshot)
        how = unlike(before, after)
        if how is not None:
            texts = previous.text(snapshot), snapshot.text(previous)
            found.append(Change(snapshot.name, how, *texts))
        before = after
    return found


def seed_of(value: Any) -> Any:
    """An adjoint for a value: random numbers, the same in each run."""
    rng = np.random.default_rng(7)

    def of(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: of(v) for k, v in part.items()}
        if isinstance(part, (list, tuple)):
            items = [of(v) for v in part]
            if hasattr(part, "_fields"):
                return type(part)(*items)
            return type(part)(items)
        if isinstance(part, (np.ndarray, np.generic)) and part.dtype.kind in "fc":
            drawn = np.asarray(rng.uniform(0.5, 1.5, size=np.shape(part)), part.dtype)
            return (
                drawn[()]
                if drawn.shape == () and not isinstance(part, np.ndarray)
                else drawn
            )
        if isinstance(part, (float, complex)):
            return float(rng.uniform(0.5, 1.5))
        if isinstance(part, np.ndarray):
            return np.zeros(part.shape)
        return 0.0 if isinstance(part, (int, np.generic)) else part

    return of(value)
