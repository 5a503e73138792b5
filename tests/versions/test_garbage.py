"""Full garbage collections wait until code has been generated."""

import gc
import threading

import pytest

import srcjax
from srcjax import pipeline
from srcjax.versions.garbage import NEVER, full_collections_put_off


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
    with full_collections_put_off():
        assert collected() == {0, 1}
    assert gc.get_threshold() == (700, 10, 10)


def test_blocks_in_each_other(collector):
    with full_collections_put_off():
        inside = gc.get_threshold()
        with full_collections_put_off():
            assert gc.get_threshold() == inside
        assert gc.get_threshold() == inside != (700, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_exceptions(collector):
    with pytest.raises(KeyError), full_collections_put_off():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


def test_threads_whose_blocks_overlap(collector):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with full_collections_put_off():
            entered.set()
            leave.wait(10)

    with full_collections_put_off():
        inside = gc.get_threshold()
        thread = threading.Thread(target=other)
        thread.start()
        assert entered.wait(10)
    assert gc.get_threshold() == inside  # the other one is at work
    leave.set()
    thread.join()
    assert gc.get_threshold() == (700, 10, 10)


def test_settings_of_others_stay(collector):
    with full_collections_put_off():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)
    gc.set_threshold(0)
    with full_collections_put_off():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0
    gc.disable()
    with full_collections_put_off():
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
