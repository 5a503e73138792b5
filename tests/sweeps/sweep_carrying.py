"""Every program of `tests.carrying` in every mode: right, or refused."""

import pytest

from tests.carrying.judge import MODES, answer, may_be_refused
from tests.carrying.test_carrying import PROGRAMS


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [pytest.param(f, id=name) for name, f in PROGRAMS])
def test_right_or_refused(function, mode):
    found = answer(function, mode)
    assert found == "right" or may_be_refused(function, mode), found
