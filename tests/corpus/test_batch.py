"""The corpus under `vmap`, alone and together with the other transforms.

The oracle is a Python loop over the examples. They are the program's own arguments,
times factors that lead some of them other ways through its branches and loops.
"""

import copy
import os
import warnings
import zlib
from contextlib import contextmanager

import numpy as np
import optree
import pytest

import srcjax

from . import PROGRAMS, scalar_programs
from .directions import leaves, tree_map
from .harness import unchanged

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def sample(share):
    """One program in `share`, the same ones in each run; all if SRCJAX_CORPUS=all."""
    if os.environ.get("SRCJAX_CORPUS") == "all":
        return scalar_programs()
    return [p for p in scalar_programs() if zlib.crc32(p.name.encode()) % share == 0]


scalars = pytest.mark.parametrize("program", sample(8), ids=lambda p: p.name)

FACTORS = (1.0, 1.3, 0.6)
# Programs with a structure that differs between examples, or that take long.
LEFT_OUT = {
    "attempts.retried_until_it_works",  # NumPy's numbers warn where Python's raise
    "functions.recursion_over_a_tree",  # a tree of several shapes has no stack
    "inactive.regular_expression",
}


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
    """The arguments of each example, the batch, and its axes; skips what has none."""
    args = program.args()
    for position in program.argnums:
        found = leaves(args[position])
        if not found or not all(map(is_real, found)):
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
    """The results of a loop over the examples; skips where they cannot be stacked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return stacked([function(*copy.deepcopy(e)) for e in examples])
    except Exception as error:
        pytest.skip(f"the loop over the examples fails: {type(error).__name__}")


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


@contextmanager
def refusals_skip():
    """A transform may refuse (what runs in a loop, say); it may not be wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        try:
            yield
        except srcjax.errors.SrcjaxError as error:
            pytest.skip(f"refused: {str(error).splitlines()[0]}")


def mapped(function, axes, batch):
    """The result under `vmap`; warnings about loops are no failure here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        return srcjax.vmap(function, in_axes=axes)(*copy.deepcopy(batch))


@every_program
def test_vmap(program):
    if program.name in LEFT_OUT:
        pytest.skip("left out")
    examples, batch, axes = examples_of(program)
    expected = looped(program.function, examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        transformed = srcjax.vmap(program.function, in_axes=axes)
        with unchanged(program, *batch):
            got = transformed(*batch)
    assert_same(got, expected)


@scalars
def test_vmap_of_grad(program):
    if program.name in LEFT_OUT:
        pytest.skip("left out")
    examples, batch, axes = examples_of(program)
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    expected = looped(gradient, examples)
    assert_same(mapped(gradient, axes, batch), expected)


@scalars
def test_grad_of_vmap(program):
    if program.name in LEFT_OUT:
        pytest.skip("left out")
    examples, batch, axes = examples_of(program)
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    expected = looped(gradient, examples)
    batched = srcjax.vmap(program.function, in_axes=axes)

    def total(*args):
        return np.sum(batched(*args))

    with refusals_skip():
        got = srcjax.grad(total, argnums=program.argnums)(*batch)
    assert_same(got, expected)


@scalars
def test_vmap_of_vmap(program):
    if program.name in LEFT_OUT:
        pytest.skip("left out")
    examples, batch, axes = examples_of(program)
    once = looped(program.function, examples)
    twice = [
        tree_map(lambda leaf: np.stack([leaf, leaf[::-1]]), b) if a == 0 else b
        for a, b in zip(axes, batch, strict=True)
    ]
    inner = srcjax.vmap(program.function, in_axes=axes)
    with refusals_skip():
        got = mapped(inner, axes, twice)
    assert_same(got, optree.tree_map(lambda leaf: np.stack([leaf, leaf[::-1]]), once))


@scalars
def test_jvp_of_vmap(program):
    if program.name in LEFT_OUT:
        pytest.skip("left out")
    examples, batch, axes = examples_of(program)
    directions = [
        tree_map(lambda leaf: np.ones_like(leaf), e) if a == 0 else None
        for a, e in zip(axes, batch, strict=True)
    ]

    def tangent(*args):
        dots = [
            tree_map(lambda leaf: np.ones_like(leaf)[()], a) if x == 0 else None
            for x, a in zip(axes, args, strict=True)
        ]
        return srcjax.jvp(program.function, args, dots)[1]

    expected = looped(tangent, examples)
    batched = srcjax.vmap(program.function, in_axes=axes)
    with refusals_skip():
        _, got = srcjax.jvp(batched, tuple(batch), tuple(directions))
    assert_same(got, expected)
