"""The corpus through reverse mode: right values, right gradients, nothing changed."""

import ast
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import optree
import pytest

import srcjax

from . import PROGRAMS, Program, scalar_programs, second_order_programs
from .harness import (
    NoJax,
    as_scalar,
    assert_close,
    assert_same_dtypes,
    cotangent,
    differences,
    gradient_texts,
    jax_gradient,
    numeric_gradient,
    scalar_gradient,
    tolerance,
    unchanged,
)

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)

HERE = Path(__file__).resolve().parent

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest). The gradients of
#: every program are compared with differences and with JAX in `test_grad`; those left
#: out here are run by `sweep_corpus`.
SAMPLE = {
    "test_differences_agree_with_jax": 20,
    "test_generated_again": 24,
    "test_grad": 16,
    "test_grad_alone_and_called_again": 15,
    "test_grad_of_a_reduction": 10,
    "test_program_changes_nothing": 12,
    "test_program_runs_the_same_twice": 9,
    "test_text": 30,
}

# Programs that srcjax refuses with an error of its own. To be emptied.
REFUSED: set[str] = set()

# Programs whose generated gradient is refused a second time. To be emptied.
SECOND_ORDER_NOT_YET: set[str] = {
    "functions.lambdas_with_defaults_in_a_comprehension",
    "functions.recursion_through_a_lambda",
    "inplace.changed_after_an_unknown_callee",
    "inplace.view_written_before_its_array_is_another",
}
# A jump, a steep curve, or a slope of 1e8 that changes by 2: compared with forward mode
# over the gradient instead.
NOT_BY_DIFFERENCES = {
    "attempts.tapes_of_a_body_left_early",
    "edges.large_and_small_numbers",
    "whiles.bisection_then_newton",
}

# Refused as long as the types are not known (is an item a view, a field an item?).
UNTYPED_REFUSED: set[str] = {
    "arrays.converted",
    "changing.argument_appended_to",
    "containers.namedtuple_argument",
    "containers.rows_of_rows",
    "inplace.adjoints_rotated_that_start_from_an_argument",
    "inplace.alias",
    "inplace.alias_of_argument",
    "inplace.array_sorted_in_place",
    "inplace.arrays_in_a_list_changed",
    "inplace.buffers_in_a_list",
    "inplace.buffers_swapped",
    "inplace.buffers_swapped_sometimes",
    "inplace.callee_changes_and_returns",
    "inplace.containers_copied",
    "inplace.factor_in_a_dict_of_what_is_put_back",
    "inplace.gathered_is_not_a_view",
    "inplace.swap_elements",
    "inplace.three_buffers_rotated",
    "inplace.view_read_after_the_base_changed",
    "inplace.view_written_before_its_array_is_another",
    "inplace.views_of_swapped_buffers",
    "inplace.which_is_changed_depends",
    "models.matrix_power_by_squaring",
    "objects.controller_with_memory",
    "objects.namedtuple_with_methods",
    "objects.objects_in_a_dict_changed",
    "statements.several_targets_share_an_array",
    "objects.planets_that_attract_each_other",
}


@pytest.fixture
def accepted(program):
    """Ends a test of a refused program, once srcjax has said why it refuses it."""
    if program.name not in REFUSED:
        return
    with pytest.raises(srcjax.errors.SrcjaxError):
        gradient_texts(program)
    pytest.skip("refused")


@functools.cache
def numeric(program):
    return numeric_gradient(program)


# --- (a) the programs themselves ----------------------------------------------


def test_the_corpus_is_large():
    assert len(PROGRAMS) >= 200
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


@every_program
def test_program_runs_the_same_twice(program):
    first = program.run()
    assert_close(program.run(), first, rtol=0, atol=0)
    assert all(np.all(np.isfinite(leaf)) for leaf in optree.tree_leaves(first))


@every_program
def test_program_changes_nothing(program):
    args = program.args()
    if "mutates" in program.tags:
        with (
            pytest.raises(AssertionError, match="was changed"),
            unchanged(program, *args),
        ):
            program.function(*args)
    else:
        with unchanged(program, *args):
            program.function(*args)


def test_a_change_of_anything_is_noticed():
    data = {"w": np.ones(2)}

    def adds(x):
        data["w"][0] += x
        return x

    changing = Program("made.adds", adds, lambda: (1.0,), (0,))
    with pytest.raises(AssertionError, match="'data' was changed"), unchanged(changing):
        adds(1.0)


@every_program
def test_differences_agree_with_jax(program):
    try:
        value, gradients = jax_gradient(program)
    except NoJax as reason:
        pytest.skip(str(reason).splitlines()[0])
    assert_close(
        value, optree.tree_map(np.asarray, program.run()), **tolerance(program)
    )
    assert_close(gradients, numeric(program), **tolerance(program))


# --- (b) gradients -------------------------------------------------------------


@every_program
def test_grad(program, accepted):
    args = program.args()
    value = program.run()
    weights = cotangent(program, value)
    chosen = [args[i] for i in program.argnums]

    def of_chosen(*values):
        full = list(args)
        for position, each in zip(program.argnums, values, strict=True):
            full[position] = each
        return program.function(*full)

    with unchanged(program, *args):
        if program.is_scalar:
            both = srcjax.value_and_grad(program.function, argnums=program.argnums)
            got, gradients = both(*args)
        elif len(chosen) == len(args):
            got, pullback = srcjax.vjp(program.function, *args)
            gradients = pullback(weights)
        else:
            got, pullback = srcjax.vjp(of_chosen, *chosen)
            gradients = pullback(weights)
    assert_close(got, value, rtol=1e-12, atol=1e-14, message="value")
    assert_same_dtypes(gradients, chosen)
    assert_close(gradients, numeric(program), **tolerance(program), message="gradient")
    try:
        _, by_jax = jax_gradient(program)
    except NoJax:
        return
    assert_close(gradients, by_jax, **tolerance(program), message="JAX's gradient")


@pytest.mark.parametrize("program", scalar_programs(), ids=lambda p: p.name)
def test_grad_alone_and_called_again(program, accepted):
    """`grad` without the value, for one argument, from one function called twice."""
    derivative = srcjax.grad(program.function, argnums=program.argnums[0])
    first = derivative(*program.args())
    assert_close(first, numeric(program)[0], **tolerance(program))
    assert_close(derivative(*program.args()), first, rtol=0, atol=0)


# --- (c) the text ---------------------------------------------------------------


@every_program
def test_text(program, accepted):
    if program.name in UNTYPED_REFUSED:
        derivative = scalar_gradient(program)
        with pytest.raises(srcjax.errors.SrcjaxError):
            srcjax.source(derivative, general=True)
        texts = (srcjax.source(derivative, *program.args()),)
    else:
        texts = gradient_texts(program)
    for text in texts:
        tree = ast.parse(text)
        assert any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
        assert not re.search(
            r"/tmp/|\b0x[0-9a-f]{6,}\b|<(function|lambda|module) ", text
        )
        assert str(HERE) not in text and tempfile.gettempdir() + os.sep not in text


# --- (d) the same text in each process --------------------------------------------


def test_deterministic_text():
    root = HERE.parents[__package__.count(".")]
    code = f"from {__package__}.harness import print_text_hashes as p; p()"
    found = []
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        found.append(json.loads(result.stdout))
    first, second = found
    different = [name for name in first if first[name] != second[name]]
    assert not different, f"the text depends on the hash seed: {different}"


# --- (e) the gradient of the gradient ---------------------------------------------


@pytest.mark.parametrize("program", second_order_programs(), ids=lambda p: p.name)
def test_generated_again(program, accepted, request):
    """A generated gradient is plain source: it is differentiated like any other."""
    if program.name in SECOND_ORDER_NOT_YET:
        refused = pytest.mark.xfail(strict=True, raises=srcjax.errors.SrcjaxError)
        request.applymarker(refused)
    derivative = srcjax.grad(program.function, argnums=program.argnums)
    args = program.args()
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=np.shape(args[i])) for i in program.argnums]

    def directional(*args):
        total = 0.0
        for weight, gradient in zip(weights, derivative(*args), strict=True):
            total = total + np.sum(weight * gradient)
        return total

    def by_value(*args):
        return float(directional(*args))

    second = srcjax.grad(directional, argnums=program.argnums)(*args)
    if program.name in NOT_BY_DIFFERENCES:
        (position,) = program.argnums
        direction = [1.0 if i == position else None for i in range(len(args))]
        expected = (np.array(srcjax.jvp(directional, args, direction)[1]),)
    else:
        expected = differences(by_value, program.args(), program.argnums)
    assert_close(second, expected, **tolerance(program))


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if not p.is_scalar], ids=lambda p: p.name
)
def test_grad_of_a_reduction(program, accepted):
    """The same derivative through a function that calls the program."""
    reduced = as_scalar(program)
    gradients = srcjax.grad(reduced, argnums=program.argnums)(*program.args())
    assert_close(gradients, numeric(program), **tolerance(program))
