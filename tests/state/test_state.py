"""A gradient of each program; `tests/sweeps/sweep_state.py` runs the other modes."""

import pytest

from tests.state.judge import verdict
from tests.state.programs import PROGRAMS

#: A loud refusal is all there is of these, in some mode.
REFUSED = {
    "attr",
    "copied_o",
    "dview",
    "objidx2",
}
#: And of these in a second sweep over the first.
REFUSED_TWICE = {
    "app",
    "bar2",
    "cal",
    "dd",
    "dq",
    "hq",
    "od",
    "partial_state",
    "popitem",
    "rows",
    "setat",
    "sets",
    "tab2",
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(program):
    found = verdict(program, "grad")
    if program.__name__ in REFUSED:
        assert found.startswith("refused"), found
    else:
        assert found == "right"
