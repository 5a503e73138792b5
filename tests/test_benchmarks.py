"""Each benchmark case once, for its numbers: all peers compute the same gradient."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import optree
import pytest

import srcjax
from benchmarks import __main__ as reports
from benchmarks import batches, compiled, orders
from benchmarks.cases import small_cases
from benchmarks.compiled_cases import families
from benchmarks.peers import BY_HAND, PEERS, available, call_of
from benchmarks.timing import interleaved, ratio, spell, table
from tests.corpus.harness import assert_close, differences

SAMPLE = {"test_peers_agree": 2, "test_what_is_compiled_is_one_kernel": 2}

CASES = small_cases()
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def gradient(case, peer):
    """The gradient as nested lists and tuples of NumPy values."""
    found = call_of(case, peer)()
    return optree.tree_map(np.asarray, found)


def tolerance(case):
    """How near two gradients of one case have to be."""
    single = any(
        getattr(leaf, "dtype", None) == np.float32
        for leaf in optree.tree_leaves(case.args[0])
    )
    return {"rtol": 1e-3, "atol": 1e-6} if single else {"rtol": 1e-9, "atol": 1e-12}


@every_case
def test_gradient_by_hand(case):
    if case.name.endswith("float32") or case.name == "digits MLP":
        pytest.skip("covered by the peers")
    expected = differences(lambda *a: float(case.function(*a)), case.args, (0,))
    assert_close(gradient(case, BY_HAND), expected[0])


@every_case
@pytest.mark.parametrize("peer", [p for p in PEERS if p != BY_HAND])
def test_peers_agree(case, peer):
    if peer in case.without or not available(peer):
        pytest.skip(f"{peer} does not run this")
    assert_close(gradient(case, peer), gradient(case, BY_HAND), **tolerance(case))


COMPILED = {
    work.name: work
    for family, works in families(quick=True).items()
    for work in works
    if "chains" not in family
}


@pytest.mark.parametrize("name", COMPILED)
def test_what_is_compiled_is_one_kernel(name):
    pytest.importorskip("numba")
    work = COMPILED[name]
    plain = compiled.transformed(work, work.function, srcjax)
    text = srcjax.source(srcjax.jit(plain), *work.args)
    assert text.count("@kernel") + text.count("@checked_kernel") == 1


@pytest.mark.parametrize("case", batches.batch_cases(True), ids=lambda case: case.name)
def test_batches_agree(case):
    calls = batches.calls_of(case)
    expected = optree.tree_map(np.asarray, calls.pop(BY_HAND)())
    loop = optree.tree_map(lambda *each: np.stack(each), *calls.pop(batches.LOOP)())
    assert_close(loop, expected)
    for call in calls.values():
        assert_close(optree.tree_map(np.asarray, call()), expected)


def test_times_are_per_call():
    calls = []
    times = interleaved({"a": lambda: calls.append(0)}, rounds=2, round_seconds=1e-4)
    assert 0 < times["a"] < 1
    assert len(calls) > 2


@pytest.mark.parametrize(
    "duration, text", [(2.0, "2 s"), (1.5e-3, "1.5 ms"), (3e-9, "3 ns"), (None, "-")]
)
def test_spelling_of_times(duration, text):
    assert spell(duration) == text


def test_missing_peers_show_as_a_dash():
    assert ratio(None, 1.0) == "-"
    assert reports.cell(None, 1.0) == "-"


def test_table_is_aligned():
    lines = table(["a", "b"], [["long name", "1"], ["x", "200"]]).splitlines()
    assert len({len(line) for line in lines}) == 1


def test_copies_in_loops_are_counted():
    text = "def f(x):\n    y = x.copy()\n    for i in x:\n        y = y.copy()\n"
    assert reports.copies_in_loops(text) == 1


def test_command_line():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--save" in run.stdout


def test_operations_are_counted():
    x = np.linspace(0.0, 1.0, 6).reshape(2, 3).view(orders.Counted)

    def two_operations():
        return np.sin(x) @ np.ones((3, 4))

    assert orders.executed(two_operations) == (2, 6 + 2 * 3 * 4)


def test_derivatives_cost_a_few_times_the_function():
    for function, x in orders.EXECUTED:
        v = np.ones_like(x)
        gradient = orders.standing_alone(srcjax.grad(function), x)
        product = orders.standing_alone(srcjax.jvp(srcjax.grad(function)), x)
        counted = x.view(orders.Counted)
        once, _ = orders.executed(lambda f=function, c=counted: f(c))
        back, _ = orders.executed(lambda g=gradient, c=counted: g(c))
        twice, _ = orders.executed(lambda p=product, c=counted, v=v: p(c, v))
        assert back <= 4 * once
        assert twice <= 6 * once


@pytest.mark.parametrize("function", orders.FUNCTIONS)
def test_the_derivatives_of_the_orders_agree(function):
    reverse = orders.nested(function, orders.reverse, 2)
    forward = orders.nested(function, orders.forward, 2)
    assert reverse(1.3) == pytest.approx(forward(1.3), rel=1e-9)


def test_the_third_derivative_of_a_polynomial_is_algebra():
    reverse = srcjax.source(orders.nested(orders.polynomial, orders.reverse, 3), 1.3)
    assert reverse.endswith("return 12.0 + 180 * x**2\n")
    forward = orders.nested(orders.polynomial, orders.forward, 2)
    text = srcjax.source(srcjax.jvp(forward), 1.3)
    returned = "return 60 * x**3 + 12 * x, 180 * x_dot * x**2 + 12 * x_dot\n"
    assert text.endswith(returned)
