"""How often types are inferred before a program is settled."""

import numpy as np
import pytest

import srcjax
from srcjax import config, pipeline
from srcjax.pipeline import Request, at_run_time
from srcjax.versions.tree import argument_type


def square(x):
    return x * x


def cube(x):
    return x * square(x)


def wave(x):
    return np.sin(cube(x)) + square(x)


def one_of_many(x, kind):
    if kind > 2:
        return wave(x) * cube(x)
    return square(x) - wave(cube(x))


@pytest.fixture
def runs(monkeypatch):
    """Counts the runs of inference."""
    counted = []
    run = pipeline.Interpreter.run

    def counting(self, unit, arguments):
        counted.append(unit.name)
        return run(self, unit, arguments)

    monkeypatch.setattr(pipeline.Interpreter, "run", counting)
    return counted


def test_a_callee_that_varies_does_not_start_inference_anew(runs):
    assert np.isclose(srcjax.grad(one_of_many)(0.5, 3), gradient_by_hand(0.5))
    # One to find what varies, one of it, and those of the passes after it.
    assert len(runs) <= 7


def test_functions_that_stand_in_the_place_of_their_calls_are_left_alone():
    types = {"x": argument_type(0.5, "x", False)}
    program, unit = at_run_time(Request(sum_of_several, types, ["x"]))
    names = {u.name for u in program.units.values()}
    assert names == {"sum_of_several", "wave", "cube", "square"}
    assert program.reached() == [unit]


def sum_of_several(x):
    return wave(x) * cube(x) + square(x)


def gradient_by_hand(x):
    wave_, slope = np.sin(x**3) + x**2, np.cos(x**3) * 3 * x**2 + 2 * x
    return slope * x**3 + wave_ * 3 * x**2


def first(x, n):
    return x if n == 0 else second(x * 1.5, n - 1)


def second(x, n):
    return first(np.sin(x), n)


def test_functions_that_call_each_other():
    assert np.isclose(
        srcjax.grad(lambda x: second(x, 2))(0.3), differences(lambda x: second(x, 2))
    )


def differences(f, x=0.3, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


def nested_loops(x):
    total = x * 0.0
    for _ in range(n_times(x)):
        slow = x * 0.5
        while slow < 2.0:
            fast = slow
            while fast < 2.0:
                step = fast * 0.5
                while step < 2.0:
                    step = step * 1.5 + x * x
                fast = fast + step
            slow = slow + fast
        total = total + slow
    return total


def n_times(x):
    return 3 if x > 0 else 2


def test_a_loop_in_a_loop_is_not_executed_anew_with_the_same_types(monkeypatch):
    executed = []
    simple = pipeline.Interpreter.simple

    def counting(self, stmt, env):
        if type(self) is pipeline.Interpreter:  # not of what is written
            executed.append(stmt)
        return simple(self, stmt, env)

    monkeypatch.setattr(pipeline.Interpreter, "simple", counting)
    found = srcjax.grad(nested_loops)(0.3)
    assert np.isclose(found, differences(nested_loops))
    often = max(sum(s is each for s in executed) for each in executed)
    assert often < 20


def decided(x):
    first, second, third, trips = 0, 0, 0, 0
    if x > 0.5:
        first = 1
    if first > 0:
        second = 1
    if second > 0:
        third = 1
    while trips < third + 3:
        trips += 1
        x = x * 1.5
    return x * trips


def test_all_that_differs_between_examples_is_found_in_one_go(runs):
    x = np.array([0.2, 0.7, 1.9])
    wanted = [decided(v) for v in x]
    assert np.allclose(srcjax.vmap(decided)(x), wanted)
    # The flags and the counter, but not one after the other.
    assert len(runs) <= 8


def of_a_set(x):
    seen = set()
    seen.add(float(x))
    y = x * 1.0
    while y > 0.5:
        y = y * 0.5
        seen.add(y)
    return y * len(seen)


def test_what_has_no_batched_form_is_not_looked_at_twice(monkeypatch):
    requests = []
    analyse = pipeline.analyse

    def counting(request, *more):
        requests.append(list(request.types.values()))
        return analyse(request, *more)

    monkeypatch.setattr(pipeline, "analyse", counting)
    with pytest.warns(srcjax.errors.PerformanceWarning):
        srcjax.vmap(of_a_set)(np.array([0.2, 1.9]))
    # For any number of examples, for this one, and for the loop over the examples.
    assert len(requests) <= 3


def layer(w, b, x):
    return np.tanh(x @ w + b)


def layers(params, x):
    for w, b in params:
        x = layer(w, b, x)
    return np.sum(x)


def test_what_is_supposed_of_sizes_takes_no_round_of_its_own(runs, monkeypatch):
    rewritten, run_round = [], pipeline.run_round
    monkeypatch.setattr(config, "keep_texts", False)
    monkeypatch.setattr(
        pipeline, "run_round", lambda *given: rewritten.append(1) or run_round(*given)
    )
    params = [(np.ones((3, 3)), np.ones(3))] * 2
    srcjax.grad(layers)(params, np.ones((2, 3)))
    # One finds the callee, one that the loop is written out: two more sizes meet there.
    assert runs.count("layers") - len(rewritten) == 2


def one_pair(x):
    held = x * 1.0, x + 1.0
    a, b = held
    a *= b
    return np.sum(held[0])


def four_pairs(x):
    held = x * 1.0, x + 1.0
    a, b = held
    a *= b
    held_2 = x * 2.0, x + 2.0
    c, d = held_2
    c *= d
    held_3 = x * 3.0, x + 3.0
    e, f = held_3
    e *= f
    held_4 = x * 4.0, x + 4.0
    g, h = held_4
    g *= h
    return np.sum(held[0] + held_2[0] + held_3[0] + held_4[0])


def test_containers_are_taken_apart_in_one_round(runs, monkeypatch):
    monkeypatch.setattr(config, "keep_texts", False)
    x = np.array([0.3, 0.5])
    assert np.allclose(srcjax.grad(one_pair)(x), 2.0 * x + 1.0)
    assert np.allclose(srcjax.grad(four_pairs)(x), 20.0 * x + 30.0)
    assert runs.count("four_pairs") == runs.count("one_pair")
