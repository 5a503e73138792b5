"""The corpus through forward mode, alone and nested with reverse mode.

The nestings are for a sixth of the programs, and those of depth 3 and 4 for some 25 of
them; `SRCJAX_CORPUS=all` runs the nestings of all programs.
"""

import ast
import functools
import os
import zlib

import numpy as np
import pytest

import srcjax

from . import PROGRAMS, second_order_programs
from .directions import along, direction, inner, size
from .harness import assert_close, cotangent, numeric_gradient, tolerance, unchanged

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {
    "test_jvp": 16,
    "test_forward_over_reverse": 6,
    "test_forward_over_forward": 8,
    "test_reverse_over_forward": 8,
    "test_deep": 12,
    "test_linearize": 3,
}
ALL = os.environ.get("SRCJAX_CORPUS") == "all"


def sample(programs, one_in):
    """The same part of the programs in each run, whatever else is in the corpus."""
    return [p for p in programs if zlib.crc32(p.name.encode()) % one_in == 0]


SECOND = second_order_programs()
second_order = pytest.mark.parametrize(
    "program", SECOND if ALL else sample(SECOND, 6), ids=lambda p: p.name
)

# Programs that srcjax refuses with an error of its own. To be emptied.
REFUSED: set[str] = set()
# Programs that reverse mode refuses. To be emptied.
REFUSED_IN_REVERSE: set[str] = set()
# Programs whose derivative cannot be differentiated in this way yet. To be emptied.
REVERSE_OVER_FORWARD_NOT_YET: set[str] = set()
FORWARD_OVER_REVERSE_NOT_YET = {"functions.lambdas_with_defaults_in_a_comprehension"}
FORWARD_OVER_FORWARD_NOT_YET = {"containers.flows_along_links"}
DEEP_NOT_YET: set[str] = set()
# The value jumps, or its third derivative is too large: differences of gradients, which
# the nestings are compared with, say nothing.
NOT_BY_DIFFERENCES = {
    "attempts.not_inverted",
    "edges.large_and_small_numbers",
    "whiles.bisection_then_newton",
}
# Programs that take minutes at depth 3: their text grows with each derivative.
NOT_DEEP: set[str] = {"functions.ten_calls_deep"}


def expect(program, request, not_yet):
    """A program that is not there yet has to be refused: a wrong number fails."""
    if program.name in REFUSED | REFUSED_IN_REVERSE:
        pytest.skip("refused")
    if program.name in NOT_BY_DIFFERENCES:
        pytest.skip("not by differences")
    if program.name in not_yet:
        mark = pytest.mark.xfail(strict=True, raises=srcjax.errors.SrcjaxError)
        request.applymarker(mark)


def close(program, got, expected, scale):
    limits = tolerance(program)
    atol = limits["atol"] + limits["rtol"] * scale
    np.testing.assert_allclose(got, expected, rtol=10 * limits["rtol"], atol=10 * atol)


@every_program
def test_jvp(program):
    args = program.args()
    tangents = direction(program, args)
    if program.name in REFUSED:
        with pytest.raises(srcjax.errors.SrcjaxError):
            srcjax.jvp(program.function, args, tangents)
        return
    value = program.run()
    with unchanged(program, *args):
        got, tangent = srcjax.jvp(program.function, args, tangents)
    assert_close(got, value, rtol=1e-12, atol=1e-14, message="value")
    gradient = numeric_gradient(program)
    chosen = [tangents[i] for i in program.argnums]
    close(
        program,
        inner(cotangent(program, value), tangent),
        inner(list(gradient), chosen),
        size(list(gradient), chosen),
    )


@pytest.mark.parametrize("program", sample(PROGRAMS, 6), ids=lambda p: p.name)
def test_text(program):
    if program.name in REFUSED:
        pytest.skip("refused")
    derivative = srcjax.jvp(program.function)
    text = srcjax.source(derivative, *program.args())
    assert any(isinstance(n, ast.FunctionDef) for n in ast.walk(ast.parse(text)))


@pytest.mark.parametrize(
    "program", PROGRAMS if ALL else sample(PROGRAMS, 16), ids=lambda p: p.name
)
def test_linearize(program):
    """The linear map, which keeps values, is that of `jvp`; it may be called again."""
    if program.name in REFUSED:
        pytest.skip("refused")
    tangents = direction(program, program.args())
    value, expected = srcjax.jvp(program.function, program.args(), tangents)
    got, linear = srcjax.linearize(program.function, *program.args())
    assert_close(got, value, rtol=1e-12, atol=1e-14, message="value")
    limits = tolerance(program)
    for _ in range(2):
        assert_close(linear(*tangents), expected, **limits)


def scalar_tangent(program, args, tangents):
    """The derivative along the tangents, as a function of the arguments."""
    tangents = tuple(tangents)

    def tangent(*args):
        return srcjax.jvp(program.function, args, tangents)[1]

    return tangent


@second_order
def test_forward_over_reverse(program, request):
    """The tangent of the gradient is the Hessian times the tangent."""
    expect(program, request, FORWARD_OVER_REVERSE_NOT_YET)
    args = program.args()
    tangents = direction(program, args)
    derivative = srcjax.grad(program.function, argnums=program.argnums)
    _, found = srcjax.jvp(derivative, args, tangents)
    weights = [tangents[i] for i in program.argnums]

    def projected(*args):
        return inner(list(derivative(*args)), weights)

    expected = along(projected, args, tangents)
    close(program, inner(list(found), weights), expected, abs(expected))


@second_order
def test_forward_over_forward(program, request):
    expect(program, request, FORWARD_OVER_FORWARD_NOT_YET)
    args = program.args()
    tangents = direction(program, args)
    tangent = scalar_tangent(program, args, tangents)
    _, found = srcjax.jvp(tangent, args, tangents)
    expected = along(tangent, args, tangents)
    close(program, found, expected, abs(expected))


@second_order
def test_reverse_over_forward(program, request):
    expect(program, request, REVERSE_OVER_FORWARD_NOT_YET)
    args = program.args()
    tangents = direction(program, args)
    tangent = scalar_tangent(program, args, tangents)
    gradient = srcjax.grad(tangent, argnums=program.argnums)(*args)
    expected = along(tangent, args, tangents)
    weights = [tangents[i] for i in program.argnums]
    found = inner(list(gradient), weights)
    close(program, found, expected, size(list(gradient), weights))


# --- depth 3 and 4 -----------------------------------------------------------------


@functools.cache
def deep_programs():
    """Programs of one number or a small array that are smooth to any order."""
    chosen = [p for p in SECOND if len(p.argnums) == 1 and p.name not in NOT_DEEP]
    return sample(chosen, 13)


def along_by_reverse(program, function, tangents):
    """The derivative along the tangents by reverse mode, as a function."""
    (position,) = program.argnums
    weights = tangents[position]
    gradient = srcjax.grad(function, argnums=position)

    def tangent(*args):
        return np.sum(weights * gradient(*args))

    return tangent


def along_by_forward(function, tangents):
    tangents = tuple(tangents)

    def tangent(*args):
        return srcjax.jvp(function, args, tangents)[1]

    return tangent


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("program", deep_programs(), ids=lambda p: p.name)
def test_deep(program, depth, request):
    """Nested forward mode agrees with forward mode over a reverse sweep."""
    expect(program, request, DEEP_NOT_YET)
    args = program.args()
    tangents = direction(program, args)
    forward = program.function
    mixed = along_by_reverse(program, program.function, tangents)
    for _ in range(depth):
        forward = along_by_forward(forward, tangents)
    for _ in range(depth - 1):
        mixed = along_by_forward(mixed, tangents)
    np.testing.assert_allclose(forward(*args), mixed(*args), rtol=1e-6, atol=1e-9)
