"""Work on large arrays that threads share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import srcjax
from srcjax import compiling
from srcjax.backends import threads
from srcjax.errors import ArgumentError
from srcjax.transforms.blocks import entry, loops

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(compiling, "has_numba", lambda: False)
    monkeypatch.setattr(entry, "LARGE", 64)
    monkeypatch.setattr(loops, "LARGEST_BLOCK", 32)
    yield
    srcjax.config.threads = None


def worth(x, y):
    e = np.exp(-((x * y) ** 2))
    return e / (1 + e), np.sum(e * y), np.max(x * y + 1)


def columns(x, b):
    d = (x - b) ** 2 + 1
    return np.sum(d * b, axis=0), np.sum(d, axis=1), np.sqrt(d) * x


@pytest.mark.parametrize("f", [worth, columns])
def test_numbers_are_the_same_for_any_number_of_threads(f):
    x = RNG.normal(size=1001) if f is worth else RNG.normal(size=(333, 3))
    y = RNG.normal(size=x.shape[-1])
    compiled = srcjax.jit(f)
    found = []
    for count in (1, 2, 3, 7):
        srcjax.config.threads = count
        found.append(compiled(x, y))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(found[0], f(x, y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def seen(size, step, limit):
    """The parts that are computed, and by how many threads."""
    srcjax.config.threads = limit
    parts, who = [], set()
    barrier = threading.Barrier(limit) if limit > 1 else None

    def blocks(first, last, step):
        if barrier is not None and threading.get_ident() not in who:
            who.add(threading.get_ident())
            barrier.wait(20)
        parts.append((first, last))

    threads.in_threads(blocks)(0, size, step)
    return sorted(parts), who


@pytest.mark.parametrize("size", [800, 801, 1000, 1234, 40000])
def test_all_rows_once_by_all_threads(size):
    parts, who = seen(size, 10, 3)
    assert len(who) == 3
    assert parts[0][0] == 0 and parts[-1][1] == size
    assert all(a[1] == b[0] for a, b in zip(parts, parts[1:], strict=False))
    assert all(first % 10 == 0 for first, _ in parts)


def test_one_thread_or_few_blocks():
    assert seen(1000, 10, 1)[0] == [(0, 1000)]
    srcjax.config.threads = 8
    found = []
    blocks = threads.in_threads(lambda *part: found.append(part))
    blocks(0, 30, 10)
    blocks(0, 0, 10)
    assert found == [(0, 30, 10), (0, 0, 10)]


def test_one_core_has_one_thread(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert threads.available() == 1
    srcjax.config.threads = 4
    assert threads.available() == 4


def test_the_setting():
    assert srcjax.config.threads is None
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(ArgumentError, match="config.threads"):
            srcjax.config.threads = wrong
    srcjax.config.threads = 2
    assert "threads=2" in repr(srcjax.config)


def test_the_first_error_is_raised_when_all_have_ended():
    srcjax.config.threads = 3
    running = []

    def blocks(first, last, step):
        running.append(1)
        try:
            if first >= 100:
                raise ValueError(first)
        finally:
            running.pop()

    for _ in range(20):
        with pytest.raises(ValueError) as found:
            threads.in_threads(blocks)(0, 1200, 10)
        assert not running
        assert found.value.args[0] == 100


def test_settings_of_numpy_hold_in_threads():
    def f(x):
        return np.sqrt(x * 2) + 1

    srcjax.config.threads = 3
    compiled, x = srcjax.jit(f), np.full(1000, -1.0)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="sqrt"):
        compiled(x)
    with np.errstate(all="ignore"):
        assert np.isnan(compiled(x)).all()
    with pytest.warns(RuntimeWarning, match="sqrt"):
        compiled(x)


def test_many_callers_at_once():
    srcjax.config.threads = 3
    compiled = srcjax.jit(worth)
    args = [RNG.normal(size=(2, 500 + k)) for k in range(8)]
    wanted = [worth(*each) for each in args]
    wrong = []

    def call(k):
        for _ in range(20):
            got = compiled(*args[k])
            same = zip(got, wanted[k], strict=True)
            if not all(np.allclose(a, b, rtol=1e-12) for a, b in same):
                wrong.append(k)

    callers = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join(60)
    assert not wrong and not any(each.is_alive() for each in callers)


def test_work_inside_of_work_is_done_at_once():
    srcjax.config.threads = 2
    found = []

    @threads.in_threads
    def inner(first, last, step):
        found.append((first, last))

    @threads.in_threads
    def outer(first, last, step):
        inner(0, 1000, 10)

    outer(0, 200, 10)
    assert set(found) == {(0, 1000)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_and_the_end():
    text = """
import os, sys
from srcjax.backends import threads
from srcjax.errors import ArgumentError
threads.Setting.limit = 3
found = []
work = threads.in_threads(lambda a, b, step: found.append(b - a))
work(0, 1000, 10)
child = os.fork()
work(0, 1000, 10)
assert sum(found) == 2000
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], timeout=60)
    assert done.returncode == 0
