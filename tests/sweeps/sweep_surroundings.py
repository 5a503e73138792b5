"""Programs of the corpus whose numbers are globals, which change between calls.

What a transform gives after a change is compared with the same transform of a new
function: a text that went by the number itself gives the derivative of before.
"""

import ast
import copy
import inspect
import itertools
import linecache
import random
import sys
import textwrap
import warnings

import numpy as np
import optree
import pytest

import srcjax
from srcjax.versions import relatives
from tests.corpus import PROGRAMS

pytest.importorskip("numba")

CHANGES = 3
serial = itertools.count()

MODES = {
    "grad": lambda f, p: srcjax.value_and_grad(f, p.argnums),
    "vmap": lambda f, p: srcjax.vmap(f),
    "jit": lambda f, p: srcjax.jit(f),
    "jit of grad": lambda f, p: srcjax.jit(srcjax.value_and_grad(f, p.argnums)),
}


class Lift(ast.NodeTransformer):
    """Makes names of the numbers in the bodies of functions."""

    def __init__(self, kind):
        self.kind = kind
        self.numbers = {}

    def visit_Constant(self, node):
        # Zero and one are more often a place or a start than a number.
        if type(node.value) is not self.kind or (self.kind is int and node.value < 2):
            return node
        name = f"number{len(self.numbers)}"
        self.numbers[name] = node.value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_FunctionDef(self, node):
        node.body = [self.visit(stmt) for stmt in node.body]
        return node

    def visit_match_case(self, node):
        node.body = [self.visit(stmt) for stmt in node.body]
        return node

    def visit_JoinedStr(self, node):
        return node


def lifted(function, kind):
    """The text of the function, with names for its numbers; and these."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (TypeError, SyntaxError):
        pytest.skip("no function with a text of its own")
    if not isinstance(tree.body[0], ast.FunctionDef):
        pytest.skip("no function with a text of its own")
    tree.body[0].decorator_list = []
    lift = Lift(kind)
    lift.visit(tree)
    if not lift.numbers:
        pytest.skip("no numbers")
    return ast.unparse(ast.fix_missing_locations(tree)), lift.numbers


def build(text, name, around):
    file = f"<lifted-{next(serial)}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = dict(around)
    exec(compile(text, file, "exec"), space)
    return space[name]


def changed(number, rng):
    if isinstance(number, int):
        return max(2, number + rng.choice([-1, 0, 1]))
    return number * rng.choice([0.9, 1.0, 1.1, 1.25])


def call(f, args):
    """What it gives, or the kind of exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*copy.deepcopy(args))
        except Exception as error:
            return type(error)


def ends(f, args):
    """Whether it comes to an end, in a number of lines that the corpus stays below.

    With other numbers an iteration may go on for ever, and remember all of it.
    """
    lines = itertools.count()

    def trace(frame, event, arg):
        if next(lines) > 100_000:
            raise TimeoutError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return call(f, args) is not TimeoutError
    finally:
        sys.settrace(before)


def check(got, wanted):
    leaves = [optree.tree_leaves(v, none_is_leaf=True) for v in (got, wanted)]
    for a, b in zip(*leaves, strict=True):
        assert type(a) is type(b)
        if isinstance(a, (np.ndarray, np.generic, float, int, complex)):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
            assert np.asarray(a).dtype == np.asarray(b).dtype
        elif isinstance(a, type):
            assert a is b


@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_numbers_around_change(program, mode, kind):
    text, numbers = lifted(program.function, kind)
    args = program.args()
    examples = [args]
    if mode == "vmap":
        if not all(isinstance(a, (float, np.ndarray)) for a in args):
            pytest.skip("arguments that are no arrays")
        args = [np.stack([a, np.multiply(a, 1.1)]) for a in args]
        examples = [[a[k] for a in args] for k in range(2)]
    name, around = program.function.__name__, program.function.__globals__
    function = build(text, name, around | numbers)
    transformed = MODES[mode](function, program)
    if isinstance(call(transformed, args), type):
        pytest.skip("it is refused, or raises")
    rng = random.Random(program.name)
    for change in range(CHANGES + 1):
        if change == CHANGES:
            now = numbers
        else:
            now = {name: changed(number, rng) for name, number in numbers.items()}
        function.__globals__.update(now)
        if not all(ends(function, e) for e in examples):
            continue
        got = call(transformed, args)
        relatives.forget()
        other = build(text, name, around | now)
        check(got, call(MODES[mode](other, program), args))
