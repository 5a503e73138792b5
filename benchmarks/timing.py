"""Times of several functions, measured in turn so that they share the same minutes."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

ROUNDS = 15
ROUND_SECONDS = 0.01
#: What tells the time; `time.process_time` leaves out what other programs take.
CLOCK = {"clock": time.perf_counter}


def interleaved(
    calls: Mapping[str, Callable[[], Any]],
    rounds: int = ROUNDS,
    round_seconds: float = ROUND_SECONDS,
) -> dict[str, float]:
    """Median seconds per call of each function.

    In each round every function is called in turn, as often as fills `round_seconds`;
    a machine that slows down slows all of them down. Each round starts with another
    function, so that none always comes after the same one.
    """
    counts = {name: repetitions(call, round_seconds) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in order:
                count = counts[name]
                calls[name]()  # what the one before left in the caches is gone
                times[name].append(seconds(calls[name], count) / count)
            order.append(order.pop(0))
            gc.collect()
    finally:
        if collecting:
            gc.enable()
    return {name: statistics.median(found) for name, found in times.items()}


def repetitions(call: Callable[[], Any], round_seconds: float) -> int:
    """How many calls take about `round_seconds`; the first call is not counted."""
    call()
    count = 1
    while (taken := seconds(call, count)) < round_seconds / 2:
        count = max(2 * count, int(count * round_seconds / max(taken, 1e-9) / 2))
    return count


def seconds(call: Callable[[], Any], count: int = 1) -> float:
    """The time of `count` calls."""
    again, clock = range(count), CLOCK["clock"]
    start = clock()
    for _ in again:
        call()
    return clock() - start


def spell(duration: float | None) -> str:
    """A time in few characters: `1.23 ms`."""
    if duration is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"


def ratio(duration: float | None, reference: float | None) -> str:
    """How many times the reference, `-` where one is missing."""
    if duration is None or not reference:
        return "-"
    return f"{duration / reference:.2f}x"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, with its columns aligned."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]

    def line(cells: list[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        cell, width = first
        padded = [cell.ljust(width), *(c.rjust(w) for c, w in rest)]
        return f"| {' | '.join(padded)} |"

    return "\n".join(map(line, lines))
