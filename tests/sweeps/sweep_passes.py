"""No pass changes what a corpus program's derivative does, in any transform."""

import contextlib
import warnings

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_passes
from tests.corpus import PROGRAMS, scalar_programs, second_order_programs
from tests.corpus.directions import direction
from tests.corpus.test_batch import examples_of

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
scalar = pytest.mark.parametrize("program", scalar_programs(), ids=lambda p: p.name)
second_order = pytest.mark.parametrize(
    "program", second_order_programs(), ids=lambda p: p.name
)

# What a pass changes today, by test and program. To be emptied.
CHANGED: dict[tuple[str, str], str] = {}


@pytest.fixture
def checked(request, program, record_property):
    """Checks the passes of a derivative; what is refused is no matter of passes."""
    mode = request.node.originalname.removeprefix("test_")
    known = CHANGED.get((mode, program.name))

    def check(df, *args):
        wrong = contextlib.nullcontext()
        if known is not None:
            wrong = pytest.raises(AssertionError, match=known)
        with warnings.catch_warnings(), wrong:
            warnings.simplefilter("ignore")
            try:
                record_property("texts", check_passes(df, *args))
            except srcjax.errors.SrcjaxError as error:
                pytest.skip(f"refused: {str(error).splitlines()[0]}")

    return check


@scalar
def test_grad(program, checked):
    checked(srcjax.grad(program.function, argnums=program.argnums), *program.args())


@every_program
def test_vjp(program, checked):
    pullback = srcjax.vjp(program.function)
    pullback.__srcjax_transform__.argnums = program.argnums
    checked(pullback, *program.args())


@every_program
def test_jvp(program, checked):
    args = program.args()
    checked(srcjax.jvp(program.function), args, direction(program, args))


@every_program
def test_vmap(program, checked):
    _, batch, axes = examples_of(program)
    checked(srcjax.vmap(program.function, in_axes=axes), *batch)


@second_order
def test_hvp(program, checked):
    """Forward over reverse."""
    args = program.args()
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    checked(srcjax.jvp(gradient), args, direction(program, args))


@second_order
def test_grad_of_jvp(program, checked):
    """Reverse over forward."""
    args = program.args()
    tangents = tuple(direction(program, args))

    def tangent(*args):
        return srcjax.jvp(program.function, args, tangents)[1]

    checked(srcjax.grad(tangent, argnums=program.argnums), *args)


@second_order
def test_grad_of_grad(program, checked):
    """Reverse over reverse."""
    args = program.args()
    weights = [direction(program, args)[i] for i in program.argnums]
    gradient = srcjax.grad(program.function, argnums=program.argnums)

    def projected(*args):
        return sum_of_products(weights, gradient(*args))

    checked(srcjax.grad(projected, argnums=program.argnums), *args)


def sum_of_products(weights, gradients):
    total = 0.0
    for weight, gradient in zip(weights, gradients, strict=True):
        total = total + np.sum(weight * gradient)
    return total


@scalar
def test_vmap_of_grad(program, checked):
    _, batch, axes = examples_of(program)
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    checked(srcjax.vmap(gradient, in_axes=axes), *batch)
