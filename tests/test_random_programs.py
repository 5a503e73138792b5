"""Random small programs: the right number or a loud refusal, never a wrong number.

`tests.programs` writes and judges them; `python -m tests.programs` runs more.
`SRCJAX_RANDOM_PROGRAMS=2000` runs more of them here.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.programs.running import report, run, run_some
from tests.programs.shrinking import shrink

COUNT = int(os.environ.get("SRCJAX_RANDOM_PROGRAMS", "16"))
FIRST = int(os.environ.get("SRCJAX_RANDOM_FIRST", "0"))
BLOCK = 4
FEW = 2  # of the grammars whose programs take long; the second stage runs more
REFUSED = 0.15  # the share of programs that may be refused

TALLY: dict[str, Counter[str]] = {}


@pytest.mark.parametrize("grammar", ["plain"])
@pytest.mark.parametrize("block", range(FIRST // BLOCK, (FIRST + COUNT) // BLOCK))
def test_random_programs(block: int, grammar: str, tmp_path: Path) -> None:
    bad = []
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        done = run(grammar, seed, tmp_path)
        for mode, (verdict, _) in done.verdicts.items():
            TALLY.setdefault(mode, Counter())[verdict] += 1
        if done.failures:
            bad.append(report(done, tmp_path))
    assert not bad, "\n\n".join(bad)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + FEW))
@pytest.mark.parametrize("grammar", ["effects", "objects"])
def test_programs_with_effects(seed: int, grammar: str, tmp_path: Path) -> None:
    done = run(grammar, seed, tmp_path)
    assert not done.failures, report(done, tmp_path)


@pytest.mark.parametrize("grammar", ["order", "boxes"])
def test_programs_in_some_modes(grammar: str, tmp_path: Path) -> None:
    for seed in range(FIRST, FIRST + 2 * FEW):
        done = run_some(grammar, seed, tmp_path)
        assert not done.failures, report(done, tmp_path)


def test_few_programs_are_refused() -> None:
    for mode, tally in TALLY.items():
        judged = sum(n for verdict, n in tally.items() if verdict != "skip")
        assert tally["refused"] <= 1 + REFUSED * judged, (mode, tally)


def test_shrinking_keeps_what_fails() -> None:
    text = (
        "def f(x, A, s):\n"
        "    y = s * 2\n"
        "    if s > 0:\n"
        "        z = np.sin(x) + A[0] * y\n"
        "    return np.sum(z) + np.cos(y)\n"
    )

    def fails(candidate: str) -> bool:
        return "sin" in candidate and "return" in candidate

    short = shrink(text, fails)
    assert fails(short)
    ast.parse(short)
    assert len(short) < 60


def test_shrinking_texts_with_fields() -> None:
    """What is left of an f-string is one still."""
    text = 'def f(x, s):\n    return g(f"{x + 1:{s}.{2 * s}f} and {x!r}", s)\n'
    short = shrink(text, lambda candidate: "{" in candidate)
    assert "{x" in short
