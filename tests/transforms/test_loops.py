"""What the first and the last iteration of a backward loop leave out."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.transforms.simplify.last_iteration import guard_last
from srcjax.transforms.simplify.rotate import rotate
from tests.corpus.harness import assert_close, differences

SAMPLE = {"test_numbers": 2}


def has_product(value):
    return any(
        isinstance(n, gast.BinOp) and isinstance(n.op, gast.MatMult)
        for n in syntax.walk(value)
    )


def transformed(transform, before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.stmt):
            stmt.backward = True
        if isinstance(stmt, gast.For):
            stmt.full_at_head = frozenset({"dz"})
    transform(node)
    return syntax.text(node).splitlines()[1:]


def guarded(before):
    return transformed(lambda node: guard_last(node, has_product), before)


def rotated(before):
    return transformed(rotate, before)


def lines(text):
    return textwrap.indent(textwrap.dedent(text).strip(), "    ").splitlines()


GUARDED = [
    (
        """
        def f(W, dh, dW, n):
            for i in reversed(range(n)):
                dW[i] = dh * 2
                dh = dh @ W[i]
            return dW
        """,
        """
        for i in reversed(range(n)):
            dW[i] = dh * 2
            if i > 0:
                dh = dh @ W[i]
        return dW
        """,
    ),
    (  # a start that is not zero, a step that is not one
        """
        def f(W, dh, dW, n):
            for i in reversed(range(3, n, 2)):
                dW[i] = dh
                dh = dh @ W[i]
            return dW
        """,
        """
        for i in reversed(range(3, n, 2)):
            dW[i] = dh
            if i != 3:
                dh = dh @ W[i]
        return dW
        """,
    ),
    (  # what reads a dropped product is dropped with it
        """
        def f(W, dh, dW, n):
            for i in reversed(range(n)):
                dW[i] = dh
                t = dh @ W[i]
                dh = t * 2
            return dW
        """,
        """
        for i in reversed(range(n)):
            dW[i] = dh
            if i > 0:
                t = dh @ W[i]
                dh = t * 2
        return dW
        """,
    ),
]
UNTOUCHED = [
    # read after the loop
    """
    def f(W, dh, dW, n):
        for i in reversed(range(n)):
            dW[i] = dh
            dh = dh @ W[i]
        return (dW, dh)
    """,
    # cheap
    """
    def f(W, dh, dW, n):
        for i in reversed(range(n)):
            dW[i] = dh
            dh = dh * W[i]
        return dW
    """,
    # read later in the same iteration, by code that would see another shape
    """
    def f(W, dh, dy, dW, n):
        for i in reversed(range(n)):
            dW[i] = dy
            dh = dh @ W[i]
            print(i)
            dy = dh * 2
        return dW
    """,
    # the start of the range changes in the loop
    """
    def f(W, dh, dW, k, n):
        for i in reversed(range(k, n)):
            dW[i] = dh * k
            k = k + 1
            dh = dh @ W[i]
        return dW
    """,
    # the second of two nested loops runs again
    """
    def f(W, dh, dW, n):
        for _ in range(n):
            for i in reversed(range(n)):
                dW[i] += dh
                dh = dh @ W[i]
        return dW
    """,
]


@pytest.mark.parametrize(("before", "after"), GUARDED)
def test_dropped_products_are_guarded(before, after):
    assert guarded(before) == lines(after)


@pytest.mark.parametrize("before", UNTOUCHED)
def test_needed_products_are_not_guarded(before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    assert guarded(before) == syntax.text(node).splitlines()[1:]


ROTATED = """
    def f(h, W, dz, dW, n):
        dh = np.zeros_like(h)
        for i in reversed(range(n)):
            dz = dz + dh * (1 - h ** 2)
            dW[i] = dz * h
            dh = dz @ W[i]
            dz = 0.0
        return dW
    """


def test_a_loop_is_rotated():
    assert rotated(ROTATED)[1:] == lines(
        """
        for i in reversed(range(n)):
            dW[i] = dz * h
            if i > 0:
                dh = dz @ W[i]
                dz = dh * (1 - h ** 2)
        return dW
        """
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dh = np.zeros_like(h)", "dh = np.ones_like(h)"),  # something at first
        ("dz = 0.0", "dz = 1.0"),  # something from the iteration before
        ("return dW", "return dW, dz"),  # read after the loop
        ("dh * (1 - h ** 2)", "dh + (1 - h ** 2)"),  # not zero with dh
        ("dh * (1 - h ** 2)", "dh * i"),  # reads the index of its own iteration
        ("dW[i] = dz * h", "dW[i] = dz * h\n  h = dz"),  # fine: written after it
        ("for i in reversed(range(n)):", "for i in reversed(range(n)):\n  dh += 1"),
        ("for i in reversed(range(n)):", "for i in reversed(range(n)):\n  h = dW[i]"),
        ("for i in reversed(range(n)):", "for i in reversed(range(n)):\n  dW[i] = dz"),
    ],
)
def test_a_loop_is_not_rotated(old, new):
    text = textwrap.dedent(ROTATED).replace(old, new.replace("\n", "\n      "))
    assert text != textwrap.dedent(ROTATED)
    found = "\n".join(rotated(text))
    assert ("if i > 0" in found) == ("h = dz" in new)


# --- the numbers, for every number of iterations ---------------------------------


def last_layer_is_linear(params, inputs):
    outputs = inputs
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return np.sum(outputs**2)


def every_layer_is_bent(params, inputs):
    for W, b in params:
        inputs = np.tanh(inputs @ W + b)
    return np.sum(inputs**2)


def sum_of_outputs(params, inputs):
    outputs = inputs * 2
    for W, b in params:
        outputs = inputs @ W + b
        inputs = np.maximum(outputs, 0)
    return np.sum(outputs)


def product_of_both(params, inputs):
    outputs = inputs
    for W, b in params:
        outputs = inputs @ W + b
        inputs = np.sin(outputs) * 2
    return np.sum(outputs * inputs)


def two_states(params, inputs):
    memory = inputs
    outputs = inputs
    for W, b in params:
        outputs = inputs @ W + memory + b
        memory = np.tanh(outputs) * memory
        inputs = np.tanh(outputs)
    return np.sum(outputs**2)


def index_in_the_value(params, inputs):
    outputs = inputs
    for k, (W, b) in enumerate(params):
        outputs = inputs @ W + b
        inputs = np.tanh(outputs) * (k + 1)
    return np.sum(outputs**2)


def loop_in_a_loop(params, inputs):
    outputs = inputs
    for k in range(2):
        for W, b in params:
            outputs = inputs @ W + b
            inputs = np.tanh(outputs) + k
    return np.sum(outputs**2)


def until_it_is_large(params, inputs):
    outputs = inputs
    for W, b in params:
        if np.sum(outputs**2) > 30:
            break
        outputs = inputs @ W + b
        inputs = np.tanh(outputs)
    return np.sum(outputs**2)


@pytest.mark.parametrize("layers", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "function",
    [
        last_layer_is_linear,
        every_layer_is_bent,
        sum_of_outputs,
        product_of_both,
        two_states,
        index_in_the_value,
        loop_in_a_loop,
        until_it_is_large,
    ],
)
@pytest.mark.parametrize("argnums", [(0,), (0, 1)])
def test_numbers(function, layers, argnums):
    random = np.random.default_rng(layers)
    params = [
        (random.normal(size=(3, 3)), random.normal(size=3)) for _ in range(layers)
    ]
    args = (params, random.normal(size=(4, 3)))
    expected = differences(lambda *a: float(function(*a)), args, argnums)
    derivative = srcjax.grad(function, argnums=argnums)
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)
    world: dict = {}
    exec(str(srcjax.source(derivative)), world)  # the text without types
    untyped = world[f"grad_{function.__name__}"](*args)
    assert_close(untyped, expected, rtol=1e-6, atol=1e-7)


def last_layer_apart(params, x):
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return np.sum((x @ W + b) ** 2)


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_gradients_of_a_part_of_a_list(layers):
    """The items of the part are tuples, which have no method `copy`."""
    random = np.random.default_rng(layers)
    params = [
        (random.normal(size=(3, 3)), random.normal(size=3)) for _ in range(layers)
    ]
    args = (params, random.normal(size=3))
    expected = differences(lambda *a: float(last_layer_apart(*a)), args, (0,))
    assert_close(srcjax.grad(last_layer_apart)(*args), expected[0])


def stopped_early(x):
    for _ in range(9):
        x = np.sin(x)
        if x < 0.5:
            break
    return x


def index_in_use(x):
    for i in range(9):
        x = x * (i + 1)
        if x > 5:
            break
    return x


def test_a_loop_that_reads_no_index_runs_forwards():
    text = str(srcjax.source(srcjax.grad(stopped_early), 1.0))
    assert "for x in reversed(x_tape):" in text
    text = str(srcjax.source(srcjax.grad(index_in_use), 1.0))
    assert "reversed(range(9)[:trips])" in text
    assert srcjax.grad(index_in_use)(1.0) == 6.0
