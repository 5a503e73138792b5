"""Prints how long each generated gradient is beside the one a textbook writes.

`python -m tests.golden.ratios` measures the texts as they are generated now, and with
`course`, `lectures`, `unseen`, `seminar` or `workshop` those of functions that the
passes were not tuned to, in several modes; with `tangents`, the texts of `jvp`.
"""

import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np

import srcjax

from . import (
    course,
    course_by_hand,
    lectures,
    lectures_by_hand,
    seminar,
    seminar_by_hand,
    tangents_by_hand,
    textbook,
    unseen,
    unseen_by_hand,
    workshop,
    workshop_by_hand,
)
from .functions import GOLDEN, Golden
from .inspect_text import LIMIT, generated_statements, textbook_statements

#: Sets of functions in several modes, each with its gradients by hand.
SETS = {
    "course": (course, course_by_hand),
    "lectures": (lectures, lectures_by_hand),
    "unseen": (unseen, unseen_by_hand),
    "seminar": (seminar, seminar_by_hand),
    "workshop": (workshop, workshop_by_hand),
}


def generate(golden: Golden) -> str:
    """The text of the gradient, with the example arguments' types known."""
    derivative = srcjax.grad(golden.function, argnums=golden.argnums)
    return str(srcjax.source(derivative, *golden.args()))


def table() -> str:
    """One row per function: statements generated, statements by hand, their ratio."""
    rows = []
    for name, golden in GOLDEN.items():
        by_hand = textbook_statements(textbook, name)
        try:
            ours = generated_statements(generate(golden))
        except Exception as error:
            rows.append(
                (float("inf"), f"{name:24}{type(error).__name__:>9}{by_hand:9}")
            )
            continue
        ratio = ours / by_hand
        mark = "" if ratio <= LIMIT else "  too long"
        rows.append((ratio, f"{name:24}{ours:9}{by_hand:9}{ratio:8.2f}{mark}"))
    rows.sort(key=lambda row: -row[0])
    head = f"{'function':24}{'generated':>9}{'by hand':>9}{'ratio':>8}"
    return "\n".join([head, *(text for _, text in rows)])


def texts_of(functions: ModuleType, name: str) -> Iterator[tuple[str, str]]:
    """The texts of a function of a set: gradients, batches, second derivatives."""
    f, (args, argnums) = getattr(functions, name), functions.ARGS[name]
    first = argnums if isinstance(argnums, int) else argnums[0]
    many = list(args)
    many[first] = np.stack([np.asarray(args[first])] * 3)
    axes = tuple(0 if k == first else None for k in range(len(args)))
    gradient = srcjax.grad(f, argnums=argnums)
    yield "grad", str(srcjax.source(gradient, *args))
    yield "untyped", str(srcjax.source(gradient, general=True))
    batch = srcjax.vmap(srcjax.grad(f, argnums=first), axes)
    yield "vmap(grad)", str(srcjax.source(batch, *many))
    yield "hessian", str(srcjax.source(srcjax.hessian(f, argnums=first), *args))


def ratios_of(functions: ModuleType, hand: ModuleType) -> dict[str, dict[str, float]]:
    """By mode and function, the statements beside those of the gradient by hand."""
    found: dict[str, dict[str, float]] = {}
    for name in functions.ARGS:
        by_hand = textbook_statements(hand, name)
        for mode, text in texts_of(functions, name):
            ratio = generated_statements(text) / by_hand
            found.setdefault(mode, {})[name] = ratio
    return found


def table_of(functions: ModuleType, hand: ModuleType) -> str:
    """One row per function of a set: the ratio in each mode."""
    found = ratios_of(functions, hand)
    rows = [f"{'function':20}" + "".join(f"{mode:>12}" for mode in found)]
    for name in functions.ARGS:
        rows.append(
            f"{name:20}" + "".join(f"{of[name]:12.2f}" for of in found.values())
        )
    means = [np.mean(list(of.values())) for of in found.values()]
    return "\n".join([*rows, f"{'mean':20}" + "".join(f"{m:12.2f}" for m in means)])


def tangents_of() -> Iterator[tuple[str, str]]:
    """The texts of `jvp`, with a tangent for each argument that has one."""
    for name, functions in tangents_by_hand.OF.items():
        args, _ = functions.ARGS[name]
        yield name, str(srcjax.source(srcjax.jvp(getattr(functions, name)), *args))


def table_of_tangents() -> str:
    """One row per function: statements of `jvp`, those by hand, their ratio."""
    rows, ratios = [], []
    for name, text in tangents_of():
        ours = generated_statements(text)
        by_hand = textbook_statements(tangents_by_hand, name)
        ratios.append(ours / by_hand)
        rows.append(f"{name:24}{ours:9}{by_hand:9}{ratios[-1]:8.2f}")
    head = f"{'jvp of':24}{'generated':>9}{'by hand':>9}{'ratio':>8}"
    return "\n".join([head, *rows, f"{'mean':24}{np.mean(ratios):26.2f}"])


if __name__ == "__main__":
    asked = [
        table_of_tangents() if name == "tangents" else table_of(*SETS[name])
        for name in sys.argv[1:]
    ]
    print("\n\n".join(asked or [table()]))
