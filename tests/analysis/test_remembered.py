"""What inference keeps is what it would find again: ends of loops, facts, mentions."""

import contextlib
import warnings

import pytest

import srcjax
from srcjax import syntax
from srcjax.analysis import infer
from srcjax.analysis.flow.mentions import mentions
from srcjax.analysis.sizes import sizes_of
from srcjax.analysis.types import (
    Array,
    List,
    all_buffers,
    all_sites,
    dims_of,
    parts,
    replace,
    resolved,
    sites_of,
)
from srcjax.transforms.simplify import nest
from tests.corpus import PROGRAMS
from tests.transforms.inferred_facts import MODES, same_array_twice, transformed

SAMPLE = {
    "test_loops_and_statements_are_as_remembered": 6,
    "test_mentions_are_as_known": 20,
    "test_a_loop_that_goes_on_ends_as_from_its_start": 6,
}
LOOPED = [
    p for p in PROGRAMS if p.module in ("loops", "whiles", "containers", "models")
]


def counted(facts):
    """How much is recorded, in each of the tables."""
    return {
        "variants": {key: set(each) for key, each in facts.variants.items()},
        "callees": {key: len(each) for key, each in facts.callees.items()},
        "held": {key: dict(each) for key, each in facts.held.items()},
        "changed": {key: dict(each) for key, each in facts.changed.items()},
        "writes": dict(facts.writes),
        "tests": {key: set(each) for key, each in facts.tests.items()},
        "results": dict(facts.results),
        "sets": [set(s) for s in (facts.lists, facts.unclear, facts.unsure)],
    }


def of_known_sizes(env):
    """The types with sizes as they are once all that was supposed of them is known.

    What is supposed in a round is written into the arguments of the next one.
    """
    sizes = None if env is None else sizes_of(dims_of(env.values()))
    return env if sizes is None else {n: resolved(t, sizes) for n, t in env.items()}


@contextlib.contextmanager
def remembered_compared(wrong):
    """What is not executed again is: loops, statements. Nothing new may be found."""

    def compare(interpreter, again, end):
        watching = list(infer.REMEMBERED)
        infer.REMEMBERED.clear()
        loops, interpreter.loops = interpreter.loops, {}
        before = counted(interpreter.facts)
        try:
            found = again()
        finally:
            interpreter.loops = loops
            infer.REMEMBERED.extend(watching)
        if of_known_sizes(found) != of_known_sizes(end):
            wrong.append(("end", found, end))
        after = counted(interpreter.facts)
        wrong.extend((key, after[key]) for key in before if after[key] != before[key])
        compared.append(again)

    compared = []
    infer.REMEMBERED.append(compare)
    try:
        yield compared
    finally:
        infer.REMEMBERED.remove(compare)


def generate(program, mode):
    if same_array_twice(program):
        pytest.skip("two arguments are one array")
    if mode in ("grad", "hvp") and not program.is_scalar:
        pytest.skip("not one real number")
    if mode == "vjp" and len(program.argnums) < len(program.args()):
        pytest.skip("not all arguments are differentiated")
    with (
        warnings.catch_warnings(),
        contextlib.suppress(srcjax.errors.SrcjaxError),
    ):
        warnings.simplefilter("ignore")
        transformed(program, mode)()


EACH = [
    pytest.param(program, mode, id=f"{program.name}-{mode}")
    for program in LOOPED
    for mode in MODES
]


@pytest.mark.parametrize(("program", "mode"), EACH)
def test_loops_and_statements_are_as_remembered(program, mode):
    wrong = []
    with remembered_compared(wrong):
        generate(program, mode)
    assert not wrong, wrong[0]


@pytest.mark.parametrize(("program", "mode"), EACH)
def test_mentions_are_as_known(program, mode, monkeypatch):
    run = nest.Nesting.run

    def checked(self):
        moved = run(self)
        for stmt in syntax.all_statements(self.node.body):
            for known in (self.known.simple, self.known.compound):
                found = known.get(stmt)
                if found is not None and found != mentions(stmt):
                    wrong.append((syntax.text(stmt), found))
        return moved

    wrong = []
    monkeypatch.setattr(nest.Nesting, "run", checked)
    generate(program, mode)
    assert not wrong, wrong[0]


@contextlib.contextmanager
def ends_compared(monkeypatch, wrong):
    """Each loop that went on where it ended before is executed from its start, too."""
    run, covers = infer.Interpreter.fixed_point, infer.covers
    compared, state = [], {"on": True, "continued": 0}

    def noted(env, before):
        found = covers(env, before)
        state["continued"] += found
        return found

    def checked(self, once, env, head):
        before = state["continued"]
        start = dict(env)
        place = id(head), id(self.unit), self.classes
        known = [e for e in self.ends.get(place, []) if covers(start, e[1])]
        end = run(self, once, env, head)
        if not state["on"] or not known or state["continued"] == before:
            return end
        state["on"] = False
        ends, self.ends = self.ends, {}
        recording, self.recording = self.recording, False
        try:
            found = run(self, once, env, head)
        finally:
            self.ends, self.recording, state["on"] = ends, recording, True
        compared.append(head)
        if found != end:
            wrong.append((syntax.text(head), found, end))
        return end

    with monkeypatch.context() as patch:
        patch.setattr(infer.Interpreter, "fixed_point", checked)
        patch.setattr(infer, "covers", noted)
        yield compared


@pytest.mark.parametrize(("program", "mode"), EACH)
def test_a_loop_that_goes_on_ends_as_from_its_start(program, mode, monkeypatch):
    wrong = []
    with ends_compared(monkeypatch, wrong):
        generate(program, mode)
    assert not wrong, wrong[0]


def tapes_in_loops(x, n):
    total = x * 0.0
    for i in range(n):
        v = x * 0.5
        while v < 2.0:
            for k in range(i):
                v = v * 1.5 + x * k
            v = v + x * x
        total = total + v
    return total


def test_a_loop_of_what_was_written_is_remembered():
    wrong = []
    with remembered_compared(wrong) as compared:
        srcjax.grad(tapes_in_loops)(0.7, 3)
    assert compared
    assert not wrong, wrong[0]


def test_statements_in_a_loop_are_remembered(monkeypatch):
    executed = infer.Interpreter.executed_on
    again, wrong = [], []

    def noted(self, stmt, env):
        again.append(stmt)
        return executed(self, stmt, env)

    monkeypatch.setattr(infer.Interpreter, "executed_on", noted)
    with remembered_compared(wrong):
        srcjax.grad(tapes_in_loops)(0.7, 3)
    assert again
    assert not wrong, wrong[0]


def test_a_loop_in_a_loop_goes_on_where_it_ended(monkeypatch):
    wrong = []
    with ends_compared(monkeypatch, wrong) as compared:
        srcjax.grad(tapes_in_loops)(0.7, 3)
    assert compared
    assert not wrong, wrong[0]


def test_a_changed_type_forgets_what_was_found_of_it():
    inner = Array(buffers=frozenset([1]))
    held = List(buffers=frozenset([2]), items=(inner,))
    assert all_buffers(held) == {1, 2} == all_sites(held)
    other = replace(held, items=(replace(inner, buffers=frozenset([3])),))
    assert all_buffers(other) == {2, 3} == all_sites(other) == sites_of({2, 3})
    assert parts(held) == (inner,)
    assert other != held
    assert held == replace(other, items=(inner,))
