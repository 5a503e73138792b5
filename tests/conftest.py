"""The core form is checked after every pass, in a share of the tests; large modules
run a sample, and a run of all tests leaves the slow ones to the second stage."""

import gc
import os
import zlib

import pytest

os.environ["SRCJAX_KEEP_TEXTS"] = "0"  # here, and in processes that tests start
os.environ.setdefault("SRCJAX_JIT_AT_ONCE", "1")  # kernels are what is tested

from srcjax import pipeline
from srcjax.backends import tracebacks
from srcjax.versions import relatives, store
from tests.slow import is_slow, slow_tests

store.Setting.on = False
tracebacks.Setting.full = True  # a failing test shows where
pipeline.VALIDATE = True
#: Of each sample (`SAMPLE` of a module) so many tenths run: what there is time for.
TENTHS = 2


def pytest_configure(config):
    """A run of all tests, with no choice of them, leaves the slow ones out."""
    if hasattr(config, "workerinput"):
        return  # of pytest-xdist: it has the environment of the process that starts it
    chosen = config.option.markexpr or config.option.keyword
    whole = config.args_source is not config.ArgsSource.ARGS and not chosen
    os.environ["SRCJAX_LEAVE_SLOW"] = str(int(whole))


@pytest.fixture(autouse=True)
def nothing_from_other_tests(request):
    """What was written for the same function in another test is written again.

    What passes leave is checked in one test of four, always in modules that say so: it
    takes a tenth of the time of generating, and the second stage does it everywhere.
    """
    relatives.forget()
    chosen = zlib.crc32(request.node.nodeid.encode()) % 4 == 0
    whole = os.environ.get("SRCJAX_TESTS") == "all"
    pipeline.VALIDATE = whole or chosen or getattr(request.module, "VALIDATED", False)


@pytest.fixture(autouse=True, scope="session")
def kernel_folder(tmp_path_factory):
    """Kernels that tests compile are kept apart from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("kernels")
        folder.chmod(0o700)
        patch.setenv("SRCJAX_CACHE_DIR", str(folder))
        yield folder


def pytest_collection_finish():
    """Modules and tests are there to the end: collections need not visit them.

    What tests make is collected less often than by default: that took a tenth of the
    time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_collection_modifyitems(config, items):
    """Modules with `SAMPLE = n` run about one test in n, the same in each run.

    `SAMPLE = {"test_name": n}` says so for some of their tests. The suite has to be
    done in minutes; `SRCJAX_TESTS=all` runs every test. The second stage asks for the
    slow ones with `-m slow`.
    """
    listed = slow_tests()
    for item in items:
        if is_slow(item.nodeid, listed):
            item.add_marker(pytest.mark.slow)
    if os.environ.get("SRCJAX_TESTS") == "all":
        return
    leave_slow = os.environ.get("SRCJAX_LEAVE_SLOW") == "1"
    kept, left_out = [], []
    for item in items:
        share = getattr(item.module, "SAMPLE", 1)
        if isinstance(share, dict):
            share = share.get(item.originalname, 1)
        number = zlib.crc32(item.name.encode())
        chosen = number % share == 0 and (share == 1 or number // share % 10 < TENTHS)
        chosen = chosen and not (leave_slow and item.get_closest_marker("slow"))
        (kept if chosen else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
