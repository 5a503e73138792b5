"""`python -m tests.programs --count 2000 --seconds 600`: as many as there is time for.

Of each program a mode and a nesting are judged, which its seed picks (`--every-mode`:
all of them). Prints the seeds, the count and the tally of each mode; failures are
shrunk. A program that takes longer than `SRCJAX_RANDOM_SECONDS` is a failure too.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.programs.running import GRAMMARS, Run, in_time, report, run, run_some


def block(
    grammar: str, first: int, count: int, every: bool
) -> tuple[dict[str, Counter], list[str], list[str]]:
    """The tally, the failures and the refusals of `count` seeds."""
    attempt = run if every else run_some
    tally: dict[str, Counter] = {}
    failures, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            done = in_time(attempt, grammar, seed, Path(folder))
            for mode, (verdict, _) in done.verdicts.items():
                tally.setdefault(mode, Counter())[verdict] += 1
            refused += refusals(done)
            if done.failures:
                failures.append(report(done, Path(folder)))
    return tally, failures, refused


def refusals(done: Run) -> list[str]:
    """A line for each mode that refused the program."""
    lines = [
        f"{done.grammar} seed {done.seed}, {mode}: {' '.join(words.split())}"
        for mode, (verdict, words) in done.verdicts.items()
        if verdict == "refused"
    ]
    return lines


def main() -> int:
    """Run the programs, and print what was seen; 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("--grammar", choices=[*GRAMMARS, "all"], default="all")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--every-mode", action="store_true", help="of each program, not two of them"
    )
    parser.add_argument("--refused", action="store_true", help="tell what is refused")
    options = parser.parse_args()
    grammars = list(GRAMMARS) if options.grammar == "all" else [options.grammar]
    end = time.monotonic() + options.seconds
    size, totals, failures, programs = 10, {}, [], 0
    starts = range(options.first, options.first + options.count, size)
    todo = iter([(grammar, start) for start in starts for grammar in grammars])
    with ProcessPoolExecutor(options.processes) as pool:
        running = set()
        while True:
            while len(running) < options.processes and time.monotonic() < end:
                following = next(todo, None)
                if following is None:
                    break
                running.add(pool.submit(block, *following, size, options.every_mode))
            if not running:
                break
            done = next(as_completed(running))
            running.remove(done)
            tally, found, refused = done.result()
            programs += size
            for mode, counts in tally.items():
                totals.setdefault(mode, Counter()).update(counts)
            for text in found:
                print(text, end="\n\n", flush=True)
            failures += found
            if options.refused:
                print(*refused, sep="\n", end="\n" * bool(refused), flush=True)
    print(f"{programs} programs from seed {options.first} of {', '.join(grammars)}")
    for mode, counts in totals.items():
        print(f"{mode:22}", *(f"{v} {c}" for v, c in sorted(counts.items())), sep="  ")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
