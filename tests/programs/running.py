"""One seed from its text to the verdicts of all modes."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.programs.boxes import BOXES_HEAD, BoxesWriter
from tests.programs.effects import EFFECTS_HEAD, EffectsWriter
from tests.programs.grammar import HEAD, Writer
from tests.programs.judging import (
    arguments,
    judge,
    judge_float32,
    judge_modes,
    judge_vmap,
    load,
)
from tests.programs.limits import TooLong, at_most
from tests.programs.modes import some_modes
from tests.programs.modes import verdict as verdict_of
from tests.programs.names import NAMES_HEAD, NamesWriter
from tests.programs.objects import OBJECTS_HEAD, ObjectsWriter
from tests.programs.order import ORDER_HEAD, OrderWriter
from tests.programs.shapes import SHAPES_HEAD, ShapesWriter
from tests.programs.shrinking import shrink

#: The nestings and `vmap` are for programs of so many lines, as they take long.
LINES = int(os.environ.get("SRCJAX_RANDOM_LINES", "12"))
#: Seconds for all modes of a program together: most take less than one.
SECONDS = float(os.environ.get("SRCJAX_RANDOM_SECONDS", "120"))

GRAMMARS: dict[str, tuple[type[Writer], str]] = {
    "plain": (Writer, HEAD),
    "effects": (EffectsWriter, EFFECTS_HEAD),
    "objects": (ObjectsWriter, OBJECTS_HEAD),
    "order": (OrderWriter, ORDER_HEAD),
    "boxes": (BoxesWriter, BOXES_HEAD),
    "shapes": (ShapesWriter, SHAPES_HEAD),
    "names": (NamesWriter, NAMES_HEAD),
}
#: Seconds for the program itself.
SECONDS_OF_PLAIN = 5.0
Verdicts = dict[str, tuple[str, str]]


@dataclass
class Run:
    """A program, and what each mode made of it."""

    grammar: str
    seed: int
    n: int
    text: str
    verdicts: Verdicts = field(default_factory=dict)
    #: Whether `run_some` has judged it.
    some: bool = False

    @property
    def failures(self) -> Verdicts:
        """The modes that gave a wrong number, or no number without an error of ours."""
        bad = ("wrong", "crash", "hang")
        return {m: v for m, v in self.verdicts.items() if v[0] in bad}


def size_of(seed: int) -> int:
    """Mostly three; one and none for some seeds, where broadcasting is another."""
    return random.Random(seed + 7919).choices([3, 1, 0], [85, 11, 4])[0]


def run(
    grammar: str,
    seed: int,
    path: Path,
    n: int | None = None,
    text: str | None = None,
    only: str | None = None,
) -> Run:
    """The verdicts of a seed (of `text` in its place; of one mode, with `only`)."""
    writer, head = GRAMMARS[grammar]
    n = size_of(seed) if n is None else n
    if text is None:
        text = writer(seed, n).write()
    done = Run(grammar, seed, n, text)
    name = f"random_{grammar}_{seed}"
    try:
        f = load(head + "\n" + text, path, name).f
        done.verdicts["grad"] = judge(f, seed, n)
        if done.verdicts["grad"][0] != "right" or only == "grad":
            return done
        short = text.count("\n") <= LINES
        second = short if only is None else only not in ("jvp", "vmap", "float32")
        if only not in ("vmap", "float32"):
            done.verdicts |= judge_modes(f, seed, second, n)
        if short and only in (None, "vmap"):
            done.verdicts["vmap"] = judge_vmap(f, seed, n)
        if short and only in (None, "float32"):
            done.verdicts["float32"] = judge_float32(f, seed, n)
        return done
    finally:
        sys.modules.pop(name, None)


def run_some(
    grammar: str,
    seed: int,
    path: Path,
    n: int | None = None,
    text: str | None = None,
    only: str | None = None,
) -> Run:
    """The verdicts of one mode and one nesting, which the seed picks."""
    writer, head = GRAMMARS[grammar]
    n = size_of(seed) if n is None else n
    if text is None:
        text = writer(seed, n).write()
    done = Run(grammar, seed, n, text, some=True)
    name = f"random_{grammar}_{seed}"
    try:
        f = load(head + "\n" + text, path, name).f
        short = text.count("\n") <= LINES
        for mode in some_modes(seed, short) if only is None else [only]:
            done.verdicts[mode] = verdict_of(f, seed, n, mode)
        return done
    finally:
        sys.modules.pop(name, None)


def in_time(attempt: Callable[..., Run], grammar: str, seed: int, path: Path) -> Run:
    """`attempt`, or a program that takes too long as one that fails.

    One that has no end itself (`for v in k: k.append(v)`) is skipped.
    """
    writer, head = GRAMMARS[grammar]
    n = size_of(seed)
    text = writer(seed, n).write()
    try:
        with at_most(SECONDS_OF_PLAIN), contextlib.suppress(Exception):
            f = load(head + "\n" + text, path, f"random_{grammar}_{seed}").f
            f(*arguments(seed, n))
    except TooLong:
        return Run(grammar, seed, n, text, {"all": ("skip", "has no end itself")})
    try:
        with at_most(SECONDS):
            return attempt(grammar, seed, path)
    except TooLong as error:
        return Run(grammar, seed, n, text, {"some mode": ("hang", str(error))})


def shrunk(failed: Run, mode: str, path: Path) -> str:
    """The shortest program that fails in the same way in that mode."""
    verdict, seen = failed.verdicts[mode]
    if verdict == "hang":
        return failed.text
    kind = seen.split(":")[0] if verdict == "crash" else ""
    attempt = run_some if failed.some else run

    def fails(text: str) -> bool:
        try:
            again = attempt(failed.grammar, failed.seed, path, failed.n, text, mode)
        except Exception:  # no program any more
            return False
        found, words = again.verdicts.get(mode, ("", ""))
        return found == verdict and words.startswith(kind)

    return shrink(failed.text, fails)


def report(failed: Run, path: Path, shrinking: Callable = shrunk) -> str:
    """What failed, with the shortest program for each mode."""
    found = []
    for mode, (verdict, seen) in failed.failures.items():
        found.append(
            f"{failed.grammar} seed {failed.seed} (n = {failed.n}), {mode}: {verdict}: "
            f"{seen}\n{shrinking(failed, mode, path)}"
        )
    return "\n\n".join(found)
