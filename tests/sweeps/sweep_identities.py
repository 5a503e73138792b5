"""What needs no differences: forward and reverse mode are transposes of each other."""

import numpy as np
import pytest

import srcjax
from tests.corpus import PROGRAMS
from tests.corpus.directions import direction, inner, size
from tests.corpus.harness import cotangent, tolerance

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


@every_program
def test_vjp_is_the_transpose_of_jvp(program, record_property):
    """`<w, J v> = <J^T w, v>`: near to the last digit, at kinks and ties too."""
    args = program.args()
    tangents = direction(program, args)
    chosen = [tangents[i] for i in program.argnums]
    try:
        value, moved = srcjax.jvp(program.function, program.args(), tangents)
        pull = srcjax.vjp(only(program, args), *[args[i] for i in program.argnums])[1]
        weights = cotangent(program, value)
        gradients = list(pull(weights))
    except srcjax.errors.SrcjaxError as error:
        pytest.skip(f"refused: {str(error).splitlines()[0]}")
    single = tolerance(program)["rtol"] > 1e-5
    scale = max(size(gradients, chosen), size(weights, moved), 1e-12)
    np.testing.assert_allclose(
        inner(gradients, chosen),
        inner(weights, moved),
        rtol=0,
        atol=(1e-4 if single else 1e-9) * scale,
    )
    record_property("products", 1)


def only(program, args):
    """The program as a function of its differentiated arguments."""
    if len(program.argnums) == len(args):
        return program.function

    def of_chosen(*values):
        full = list(args)
        for position, each in zip(program.argnums, values, strict=True):
            full[position] = each
        return program.function(*full)

    return of_chosen
