"""The tests of which the first stage runs a sample (`SAMPLE = n`), here all of them."""

import importlib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
#: These sample their programs too; `sweep_corpus` has them.
ELSEWHERE = TESTS / "corpus"


def sampled(module):
    """The tests of a module of which it runs a sample, by name."""
    sample = getattr(module, "SAMPLE", {})
    return {
        name: test
        for name, test in vars(module).items()
        if name.startswith("test_")
        and getattr(test, "__module__", "") == module.__name__
        and (isinstance(sample, int) or name in sample)
    }


def fixtures(module):
    """The fixtures that a module has, by name."""
    kind = type(pytest.fixture(lambda: None, name="any"))
    return {n: value for n, value in vars(module).items() if isinstance(value, kind)}


for _path in sorted(TESTS.rglob("test_*.py")):
    if ELSEWHERE in _path.parents or "\nSAMPLE = " not in _path.read_text():
        continue
    _dotted = ".".join(_path.relative_to(TESTS.parent).with_suffix("").parts)
    try:
        _module = importlib.import_module(_dotted)
    except pytest.skip.Exception:  # what it needs is not there
        continue
    for _name, _fixture in fixtures(_module).items():
        assert _name not in globals(), f"two fixtures are called {_name}"
        globals()[_name] = _fixture
    for _name, _test in sampled(_module).items():
        for _mark in getattr(_module, "pytestmark", ()):
            _test = _mark(_test)
        globals()[f"{_path.stem}_{_name.removeprefix('test_')}"] = _test
