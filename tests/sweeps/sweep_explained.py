"""Explained texts of the corpus: the code is that of the plain text, and almost every
line of a derivative says its rule.
"""

import ast

import srcjax
from srcjax.api.reverse import module_with_reasons
from srcjax.backends.explained import as_markdown, explain_lines, explained_text
from tests.corpus import scalar_programs
from tests.golden.functions import GOLDEN

from .sweep_trace import along

#: One program in so many.
APART = 20
PROGRAMS = scalar_programs()


def counts(module):
    """How many lines of the backward sweep there are, and how many say something."""
    text = explained_text(module)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(module.text))
    ast.parse(explained_text(module, latex=True))
    assert as_markdown(module).count("```") % 2 == 0
    plain = set(module.text.splitlines())
    added = [line for line in text.splitlines() if line not in plain]
    assert all(len(line) <= 88 for line in added)
    backward = [line for line in explain_lines(module) if line.backward]
    return len(backward), sum(bool(line.words) for line in backward)


def share(modules):
    """How much of all backward sweeps says why it is there."""
    lines, said = map(sum, zip(*map(counts, modules), strict=True))
    return said / lines


def test_textbook_functions_are_explained():
    gradients = [
        (srcjax.grad(g.function, g.argnums), g.args()) for g in GOLDEN.values()
    ]
    modules = [module_with_reasons(d.__srcjax_transform__, a) for d, a in gradients]
    assert share(modules) >= 0.98


def test_programs_are_explained():
    gradients = [
        (srcjax.grad(p.function, p.argnums), p.args()) for p in PROGRAMS[1::APART]
    ]
    modules = [module_with_reasons(d.__srcjax_transform__, a) for d, a in gradients]
    assert share(modules) >= 0.96


def test_tangents_are_explained():
    transforms = [
        (srcjax.jvp(p.function).__srcjax_transform__, (p.args(), along(p)))
        for p in PROGRAMS[2::APART]
    ]
    modules = [transform.recorded(given, {})[0] for transform, given in transforms]
    assert share(modules) >= 0.9
