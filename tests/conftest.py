"""The core form is checked after every pass; large modules run a sample."""

import os
import zlib

import pytest

os.environ["SRCJAX_KEEP_TEXTS"] = "0"  # here, and in processes that tests start

from srcjax import pipeline
from srcjax.versions import relatives, store

store.Setting.on = False
pipeline.VALIDATE = True


@pytest.fixture(autouse=True)
def nothing_from_other_tests():
    """What was written for the same function in another test is written again."""
    relatives.forget()


@pytest.fixture(autouse=True, scope="session")
def kernel_folder(tmp_path_factory):
    """Kernels that tests compile are kept apart from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("kernels")
        folder.chmod(0o700)
        patch.setenv("SRCJAX_CACHE_DIR", str(folder))
        yield folder


def pytest_collection_modifyitems(config, items):
    """Modules with `SAMPLE = n` run one test in n, the same in each run.

    `SAMPLE = {"test_name": n}` says so for some of their tests. The suite has to be
    done in minutes; `SRCJAX_TESTS=all` runs every test.
    """
    if os.environ.get("SRCJAX_TESTS") == "all":
        return
    kept, left_out = [], []
    for item in items:
        share = getattr(item.module, "SAMPLE", 1)
        if isinstance(share, dict):
            share = share.get(item.originalname, 1)
        chosen = zlib.crc32(item.name.encode()) % share == 0
        (kept if chosen else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
