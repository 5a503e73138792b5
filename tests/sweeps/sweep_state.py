"""Every program of `tests.state` in every mode: right, or refused where it is known."""

import pytest

from tests.state.judge import MODES, verdict
from tests.state.programs import PROGRAMS
from tests.state.test_state import REFUSED, REFUSED_TWICE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_state(program, mode):
    found = verdict(program, mode)
    refused = REFUSED | (REFUSED_TWICE if mode == "grad(grad)" else set())
    if program.__name__ in refused:
        assert found.partition(":")[0] in ("right", "refused"), found
    else:
        assert found == "right"
