"""The site's pages name all that is public."""

import re
from pathlib import Path

import pytest

import srcjax

API = Path(__file__).parent.parent / "docs/api"


@pytest.mark.parametrize("name", srcjax.__all__)
def test_the_api_has_every_name(name):
    pages = "\n".join(page.read_text() for page in API.glob("*.md"))
    assert re.search(rf"^\.\. \w+:: (srcjax\.)?{name}$", pages, re.M)
