"""The second stage of tests: all of the corpus in all modes, as far as is asked for.

Files here are called `sweep_*.py`, which a plain `pytest` does not collect:

    python -m pytest -q -n 2 -o 'python_files=sweep_*.py' tests/sweeps

Tests run in an order that mixes files and programs, the same in each run.
`SRCJAX_SWEEP_COUNT` says how many are run (0: all of them); what is not begun when the
minutes of `SRCJAX_SWEEP_MINUTES` are over is skipped, and the summary tells how much of
each test was run. `SRCJAX_SWEEP_SEED` gives another order, so that what one run leaves
out is run by another. Modules that say `ALWAYS = True` are run whole, and first.
"""

import os
import time
import zlib
from collections import Counter

import pytest

# Tests draw the same numbers, whichever ran before.
from tests.ops.conftest import same_draws  # noqa: F401

MINUTES = float(os.environ.get("SRCJAX_SWEEP_MINUTES", "10"))
COUNT = int(os.environ.get("SRCJAX_SWEEP_COUNT", "6000"))
SEED = os.environ.get("SRCJAX_SWEEP_SEED", "0")
# For the files of the corpus that sample their programs when they are imported.
os.environ["SRCJAX_CORPUS"] = os.environ["SRCJAX_TESTS"] = "all"
# Workers of pytest-xdist get the environment of the process that starts them.
STARTED = float(os.environ.setdefault("SRCJAX_SWEEP_STARTED", str(time.time())))
OVER = "the time is over"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: zlib.crc32(f"{SEED}{item.nodeid}".encode()))
    always = [i for i in items if getattr(i.module, "ALWAYS", False)]
    others = [i for i in items if not getattr(i.module, "ALWAYS", False)]
    items[:] = always + others[: COUNT or len(others)]


def pytest_runtest_setup(item):
    if time.time() - STARTED > 60 * MINUTES:
        pytest.skip(OVER)


def pytest_terminal_summary(terminalreporter):
    """How many of each test were run, and what they compared."""
    run, begun, compared = Counter(), Counter(), Counter()
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if getattr(report, "when", "") != "call" and outcome != "skipped":
                continue
            test = report.nodeid.split("/")[-1].split("[")[0].replace(".py", "")
            run[test] += 1
            begun[test] += OVER not in str(report.longrepr)
            # A module that was skipped as a whole has none.
            for name, value in getattr(report, "user_properties", ()):
                compared[test, name] += value
    terminalreporter.section("what the sweeps covered")
    for test in sorted(run):
        more = "".join(
            f", {count} {name}" for (of, name), count in compared.items() if of == test
        )
        terminalreporter.write_line(f"{test}: {begun[test]} of {run[test]}{more}")
    terminalreporter.write_line(
        f"seed {SEED}, {(time.time() - STARTED) / 60:.1f} of {MINUTES:g} minutes"
    )
