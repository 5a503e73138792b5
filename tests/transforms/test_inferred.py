"""Inference of what transforms wrote: it finds what is so when the text is run."""

import zlib

import pytest

import srcjax
from srcjax import pipeline
from srcjax.analysis.types import Unknown
from tests.corpus import PROGRAMS
from tests.transforms.inferred_facts import (
    MODES,
    contradictions,
    same_array_twice,
    transformed,
    watching,
)

SAMPLE = 60
VALIDATED = True
EACH = [
    pytest.param(program, mode, id=f"{program.name}-{mode}")
    for program in PROGRAMS
    for mode in MODES
]


@pytest.mark.parametrize(("program", "mode"), EACH)
def test_types_and_memory_are_as_found(program, mode):
    if same_array_twice(program):
        pytest.skip("two arguments are one array, which nothing tells")
    if mode == "grad" and not program.is_scalar:
        pytest.skip("not one real number")
    if mode == "vjp" and len(program.argnums) < len(program.args()):
        pytest.skip("not all arguments are differentiated")
    try:
        wrong, _ = contradictions(transformed(program, mode))
    except srcjax.errors.SrcjaxError as error:
        pytest.skip(f"refused: {str(error).splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("mode", ["jvp", "grad"])
def test_most_of_what_is_written_has_a_type(mode):
    """Where inference gives up without a word, text is longer than it has to be."""
    known = []

    def count(found):
        for generated in found.functions.values():
            types = found.types_of(generated.unit).values()
            known.extend(not isinstance(t, Unknown) for t in types)

    chosen = [p for p in PROGRAMS if zlib.crc32(p.name.encode()) % 40 == 0]
    with watching(count):
        for program in chosen:
            if program.is_scalar:
                transformed(program, mode)()
    assert sum(known) > 0.9 * len(known)


def test_written_code_is_inferred_in_tests():
    assert pipeline.VALIDATE
