"""`check=True` raises for no program of the corpus: their derivatives are right."""

import contextlib
import warnings

import numpy as np
import pytest

import srcjax
from tests.corpus import PROGRAMS, scalar_programs, second_order_programs
from tests.corpus.directions import direction
from tests.corpus.test_batch import examples_of

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
scalar = pytest.mark.parametrize("program", scalar_programs(), ids=lambda p: p.name)
second_order = pytest.mark.parametrize(
    "program", second_order_programs(), ids=lambda p: p.name
)


@contextlib.contextmanager
def checking():
    """First calls are checked; what is refused is no matter of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        srcjax.config.check = True
        try:
            yield
        except srcjax.DerivativeMismatch:
            raise
        except srcjax.errors.SrcjaxError as error:
            pytest.skip(f"refused: {str(error).splitlines()[0]}")
        finally:
            srcjax.config.check = False


@scalar
def test_grad(program):
    with checking():
        srcjax.grad(program.function, argnums=program.argnums)(*program.args())


@every_program
def test_vjp(program):
    args = program.args()
    if len(program.argnums) < len(args):
        pytest.skip("not all arguments are differentiated")
    with checking():
        srcjax.vjp(program.function, *args)


@every_program
def test_jvp(program):
    args = program.args()
    with checking():
        srcjax.jvp(program.function, args, direction(program, args))


@every_program
def test_vmap(program):
    _, batch, axes = examples_of(program)
    with checking():
        srcjax.vmap(program.function, in_axes=axes)(*batch)


@second_order
def test_hvp(program):
    args = program.args()
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    with checking():
        srcjax.jvp(gradient, args, direction(program, args))
