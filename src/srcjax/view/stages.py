"""The stages of the translation: each text, and what a pass changed in it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from srcjax.backends.module import Module
from srcjax.frontend.stage_texts import StageTexts

#: What the stages give, as `srcjax.stages` says it.
SAID = {
    "read": "the functions as they were written",
    "check": "what may carry a derivative, and what becomes of each construct",
    "normalise": "core form: one operation a statement",
    "infer": "the type of each name (~ where it carries a derivative)",
    "settle": "callees written out, a name for each value of another type",
    "reverse": "the two sweeps, as the rules wrote them",
    "forward": "the tangents, as the rules wrote them",
    "batch": "the batch, as the rules wrote it",
    "simplify": "without dead code, copies and identities, nested again",
    "emit": "the text, as it is printed",
}


@dataclass(frozen=True)
class Stage:
    """One stage or pass: lines with a mark, "+" or "-" where a pass changed them."""

    name: str
    said: str
    lines: tuple[tuple[str, str], ...]


def stages_of(module: Module) -> list[Stage]:
    """The stages of a text that was written just now, without how it is loaded."""
    texts = module.stage_texts()
    return [
        Stage(name, _said(name), tuple(_lines(texts, name)))
        for name in texts
        if name not in ("load", "emit")
    ]


def _said(name: str) -> str:
    if ": " in name:
        return "a pass, and what it changed"
    return SAID.get(name.partition(" (")[0], "")


def _lines(texts: StageTexts, name: str) -> list[tuple[str, str]]:
    now = texts[name].rstrip("\n").splitlines()
    if name not in texts.before:
        return [(" ", line) for line in now]
    before = texts.before[name].rstrip("\n").splitlines()
    found = difflib.ndiff(before, now)
    return [(line[0], line[2:]) for line in found if line[0] != "?"]
