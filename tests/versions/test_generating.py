"""One thread generates code at a time; full garbage collections wait meanwhile."""

import gc
import threading

import pytest

import srcjax
from srcjax import pipeline
from srcjax.versions.generating import NEVER, generating


@pytest.fixture
def collector():
    """The collector as Python starts it, and as it was afterwards."""
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    gc.enable()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


def collected():
    """The generations that are collected while many objects are made."""
    found = []

    def note(phase, info):
        found.append(info["generation"])

    gc.callbacks.append(note)
    try:
        kept = [[] for _ in range(500_000)]
    finally:
        gc.callbacks.remove(note)
    assert kept
    return set(found)


def test_old_objects_wait_and_young_ones_do_not(collector):
    gc.collect()
    with generating():
        assert collected() == {0, 1}
    assert gc.get_threshold() == (700, 10, 10)


def test_blocks_in_each_other(collector):
    with generating():
        inside = gc.get_threshold()
        with generating():
            assert gc.get_threshold() == inside
        assert gc.get_threshold() == inside != (700, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_exceptions(collector):
    with pytest.raises(KeyError), generating():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


def test_one_thread_at_a_time(collector):
    order = []

    def other():
        with generating():
            order.append("other")

    with generating():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "other"]
    assert gc.get_threshold() == (700, 10, 10)


def test_threads_make_a_version_once(collector, monkeypatch):
    made = []
    gradient = pipeline.gradient

    def counted(*args):
        made.append(1)
        return gradient(*args)

    monkeypatch.setattr(pipeline, "gradient", counted)
    df = srcjax.grad(lambda x: x**3)
    found = []
    threads = [threading.Thread(target=lambda: found.append(df(2.0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [12.0] * 4 and len(made) == 1


def test_settings_of_others_stay(collector):
    with generating():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)
    gc.set_threshold(0)
    with generating():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0
    gc.disable()
    with generating():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_code_is_generated_inside(collector, monkeypatch):
    seen = []
    gradient = pipeline.gradient

    def spied(*args):
        seen.append(gc.get_threshold())
        return gradient(*args)

    monkeypatch.setattr(pipeline, "gradient", spied)
    assert srcjax.grad(lambda x: x * x)(3.0) == 6.0
    assert len(seen) == 1 and seen[0][2] == NEVER
    assert gc.get_threshold() == (700, 10, 10)
