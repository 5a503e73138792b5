"""Every function of the list has a derivative in both modes, or a reason."""

import pytest

pytest.importorskip("scipy.stats")

from . import coverage_table  # noqa: E402


def test_the_list_is_whole():
    assert len(coverage_table.names()) == 589


@pytest.mark.parametrize("name", coverage_table.names())
def test_function(name):
    row = coverage_table.row_of(name)
    if row.kind == "refused":
        assert row.reason
    else:
        assert row.kind in ("rule", "composite", "no derivative")
        assert row.reverse and row.forward


def test_the_page_is_current():
    wanted = "run: python -m tests.coverage_table"
    assert coverage_table.PAGE.read_text() == coverage_table.page(), wanted
