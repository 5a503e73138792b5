"""Prints how long each generated gradient is beside the one a textbook writes.

`python -m tests.golden.ratios` measures the texts as they are generated now.
"""

import srcjax

from . import textbook
from .functions import GOLDEN, Golden
from .inspect_text import LIMIT, generated_statements, textbook_statements


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


if __name__ == "__main__":
    print(table())
