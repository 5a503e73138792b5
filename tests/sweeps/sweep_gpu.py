"""The corpus on a GPU: kernels give what the function gives, and so does plain code.

python -m pytest -m gpu -o 'python_files=sweep_*.py' tests/sweeps/sweep_gpu.py
"""

import copy

import numpy as np
import optree
import pytest

import srcjax
from tests.sweeps.sweep_cuda import (
    arguments,
    check_not_compiled,
    check_with,
    every_program,
    gradient_of,
)

if srcjax.devices()[0].platform == "cpu":  # thousands of tests that would all say so
    pytest.skip("there is no GPU, or no CuPy", allow_module_level=True)
import cupy

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore")]


@every_program
def test_values(program):
    check_with(cupy, program.function, arguments(program))


@every_program
def test_gradients(program):
    args = arguments(program)
    check_with(cupy, gradient_of(program, args), args)


@every_program
def test_gradients_that_are_not_compiled(program):
    check_not_compiled(cupy, program)


@every_program
@pytest.mark.parametrize("of", ["values", "gradients"])
def test_batches(program, of):
    """Three examples that differ, as one call."""
    args = arguments(program)
    function = program.function
    if of == "gradients":
        function = gradient_of(program, args)
    batch = optree.tree_map(examples, args, none_is_leaf=True)
    axes = optree.tree_map(
        lambda x: 0 if is_batch(x) else None, args, none_is_leaf=True
    )
    batched = srcjax.vmap(function, in_axes=axes)
    try:
        batched(*copy.deepcopy(batch))
    except Exception as error:
        pytest.skip(f"no batch: {error}")
    check_with(cupy, batched, batch)


def is_batch(x):
    return isinstance(x, (float, np.ndarray)) and np.asarray(x).dtype.kind == "f"


def examples(x):
    if not is_batch(x):
        return x
    factors = np.array([1.0, 1.01, 0.98]).reshape(3, *[1] * np.ndim(x))
    return (np.asarray(x) * factors).astype(np.asarray(x).dtype)
