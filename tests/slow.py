"""Which tests are left to the second stage: those that take more than a second.

The first stage is what one runs after each change, so it has to be done in minutes. Of
some ten thousand tests these are one in fourteen, and took two thirds of the time. The
list is in `slow.txt`; to measure again, on a machine that does nothing else:

    python -m pytest -q -n 2 -m "slow or not slow" --junitxml=report.xml
    python -m tests.slow report.xml
"""

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
LISTED = Path(__file__).with_suffix(".txt")
#: A test that takes longer, in seconds, is slow.
LIMIT = 1.0


def slow_tests() -> frozenset[str]:
    """Node ids, of functions without parameters where all of their cases are slow."""
    return frozenset(LISTED.read_text().splitlines())


def is_slow(nodeid: str, listed: frozenset[str]) -> bool:
    """Whether a test is on the list."""
    return nodeid in listed or nodeid.partition("[")[0] in listed


def measured(report: Path) -> list[str]:
    """The slow tests of a report in JUnit's format."""
    cases: dict[str, dict[str, float]] = defaultdict(dict)
    for case in ElementTree.parse(report).iter("testcase"):
        module, classes = case.get("classname", "").split("."), []
        while not (ROOT / "/".join(module)).with_suffix(".py").is_file():
            classes.insert(0, module.pop())
        name = "::".join(["/".join(module) + ".py", *classes, case.get("name", "")])
        cases[name.partition("[")[0]][name] = float(case.get("time", 0))
    found = []
    for function, times in cases.items():
        slow = [name for name, seconds in times.items() if seconds > LIMIT]
        found += [function] if len(slow) == len(times) else slow
    return sorted(found)


if __name__ == "__main__":
    LISTED.write_text("\n".join(measured(Path(sys.argv[1]))) + "\n")
