"""The corpus under `vmap`, alone and together with the other transforms.

The oracle is a Python loop over the examples. They are the program's own arguments,
times factors that lead some of them other ways through its branches and loops. What
does not work yet is listed in `refused.py`, and has to fail as it is listed there.

Of the compositions a sample runs; `SRCJAX_CORPUS=all` runs all programs.
"""

import copy
import os
import warnings
import zlib

import numpy as np
import pytest

import srcjax

from . import PROGRAMS, scalar_programs
from .directions import leaves, tree_map
from .harness import unchanged
from .refused import IN_A_LOOP, LEFT_OUT, NOT_REAL, REFUSED

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {
    "test_vmap": 16,
    "test_what_runs_in_a_loop_is_listed": 8,
    "test_vmap_of_grad": 5,
    "test_grad_of_vmap": 6,
    "test_vmap_of_vmap": 6,
    "test_jvp_of_vmap": 6,
    "test_vmap_of_jvp": 6,
}

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def sample(programs, share=8):
    """One program in `share`, the same ones in each run; all if SRCJAX_CORPUS=all."""
    if os.environ.get("SRCJAX_CORPUS") == "all":
        chosen = programs
    else:
        chosen = [p for p in programs if zlib.crc32(p.name.encode()) % share == 0]
    return pytest.mark.parametrize("program", chosen, ids=lambda p: p.name)


FACTORS = (1.0, 1.3, 0.6)


def is_real(leaf):
    dtype = getattr(leaf, "dtype", None)
    return isinstance(leaf, float) or (dtype is not None and dtype.kind == "f")


def scaled(leaf, factor):
    if isinstance(leaf, np.ndarray):
        return leaf * leaf.dtype.type(factor)
    return (
        type(leaf)(leaf * factor)
        if isinstance(leaf, np.generic)
        else np.float64(leaf * factor)
    )


def examples_of(program):
    """The arguments of each example, the batch, and its axes."""
    if program.name in LEFT_OUT:
        pytest.skip("its examples warn where it raises")
    args = program.args()
    real = all(
        leaves(args[i]) and all(map(is_real, leaves(args[i]))) for i in program.argnums
    )
    assert real != (program.name in NOT_REAL)
    if not real:
        pytest.skip("an argument is not only real numbers")
    examples = [
        [
            tree_map(lambda leaf, f=factor: scaled(leaf, f), a)
            if i in program.argnums
            else copy.deepcopy(a)
            for i, a in enumerate(args)
        ]
        for factor in FACTORS
    ]
    batch = [
        tree_map(lambda *parts: np.stack(parts), *[e[i] for e in examples])
        if i in program.argnums
        else a
        for i, a in enumerate(args)
    ]
    axes = tuple(0 if i in program.argnums else None for i in range(len(args)))
    return examples, batch, axes


def stacked(results):
    def stack(*parts):
        if parts[0] is None or isinstance(parts[0], str):
            return parts[0]
        return np.stack(parts)

    return tree_map(stack, *results)


def looped(function, examples):
    """The results of a loop over the examples, stacked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stacked([function(*copy.deepcopy(e)) for e in examples])


def assert_same(got, expected):
    left, right = leaves(got), leaves(expected)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        if b is None or isinstance(b, str):
            continue
        assert np.shape(a) == np.shape(b)
        single = np.asarray(b).dtype == np.float32
        np.testing.assert_allclose(
            a, b, rtol=1e-4 if single else 1e-8, atol=1e-4 if single else 1e-9
        )


def compare(composition, program, function, examples, transformed):
    """`transformed()` equals the loop, or is refused as listed."""
    refused = REFUSED[composition].get(program.name)
    if refused is not None:
        with pytest.raises(Exception, match=refused), warnings.catch_warnings():
            warnings.simplefilter("ignore", srcjax.PerformanceWarning)
            assert_same(transformed(), looped(function, examples))
        return
    expected = looped(function, examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        got = transformed()
    assert_same(got, expected)


@every_program
def test_vmap(program):
    examples, batch, axes = examples_of(program)

    def transformed():
        with unchanged(program, *batch):
            return srcjax.vmap(program.function, in_axes=axes)(*batch)

    compare("vmap", program, program.function, examples, transformed)


@sample(PROGRAMS, 4)
def test_what_runs_in_a_loop_is_listed(program):
    _, batch, axes = examples_of(program)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = srcjax.source(srcjax.vmap(program.function, in_axes=axes), *batch)
    slow = [w for w in caught if issubclass(w.category, srcjax.PerformanceWarning)]
    if program.name not in IN_A_LOOP:
        assert not slow
        return
    assert len({str(w.message) for w in slow}) == len(slow) > 0
    assert " for " in text
    whole = any(
        "runs in a loop over the batch, because" in str(w.message) for w in slow
    )
    assert ("# A loop over the examples" in text) == whole


@sample(scalar_programs())
def test_vmap_of_grad(program):
    examples, batch, axes = examples_of(program)
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    batched = srcjax.vmap(gradient, in_axes=axes)
    compare("vmap(grad)", program, gradient, examples, lambda: batched(*batch))


@sample(scalar_programs())
def test_grad_of_vmap(program):
    examples, batch, axes = examples_of(program)
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    batched = srcjax.vmap(program.function, in_axes=axes)

    def total(*args):
        return np.sum(batched(*args))

    of_batch = srcjax.grad(total, argnums=program.argnums)
    compare("grad(vmap)", program, gradient, examples, lambda: of_batch(*batch))


@sample(PROGRAMS)
def test_vmap_of_vmap(program):
    examples, batch, axes = examples_of(program)
    inner = srcjax.vmap(program.function, in_axes=axes)
    outer = srcjax.vmap(inner, in_axes=axes)
    twice = [
        tree_map(lambda leaf: np.stack([leaf, leaf[::-1]]), b) if a == 0 else b
        for a, b in zip(axes, batch, strict=True)
    ]

    def first():
        both = outer(*twice)
        assert_same(at(both, 1), at(both, (0, slice(None, None, -1))))
        return at(both, 0)

    compare("vmap(vmap)", program, program.function, examples, first)


def at(tree, index):
    """One row of each array."""
    return tree_map(
        lambda leaf: leaf[index] if isinstance(leaf, np.ndarray) else leaf, tree
    )


def ones_for(axes, args):
    """A tangent of ones for each mapped argument, None for the others."""
    return tuple(
        tree_map(lambda leaf: np.ones_like(leaf)[()], a) if axis == 0 else None
        for axis, a in zip(axes, args, strict=True)
    )


@sample(PROGRAMS)
def test_jvp_of_vmap(program):
    examples, batch, axes = examples_of(program)
    batched = srcjax.vmap(program.function, in_axes=axes)

    def tangent(*args):
        return srcjax.jvp(program.function, args, ones_for(axes, args))[1]

    def transformed():
        return srcjax.jvp(batched, tuple(batch), ones_for(axes, batch))[1]

    compare("jvp(vmap)", program, tangent, examples, transformed)


@sample(PROGRAMS)
def test_vmap_of_jvp(program):
    examples, batch, axes = examples_of(program)
    function = program.function

    def pushed(primals, tangents):
        return srcjax.jvp(function, primals, tangents)[1]

    def tangent(*args):
        return srcjax.jvp(function, args, ones_for(axes, args))[1]

    def transformed():
        batched = srcjax.vmap(pushed, in_axes=(axes, axes))
        return batched(tuple(batch), ones_for(axes, batch))

    compare("vmap(jvp)", program, tangent, examples, transformed)
