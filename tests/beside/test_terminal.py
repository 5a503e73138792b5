"""terminal: two columns, or one below the other."""

import re

import pytest

from srcjax.beside.terminal import broken, side_by_side

ORIGINAL = "def f(x):\n    y = x * x\n    return y\n"
GENERATED = "def grad_f(x):\n    # y = x * x\n    dx = 2 * x\n    return dx\n"

LONG = "    total = first_name + second_name + third_name + fourth_name + fifth_name\n"


def test_columns():
    assert side_by_side(ORIGINAL, GENERATED, 80) == (
        "your function | written by srcjax\n"
        "------------- | -----------------\n"
        "def f(x):     | def grad_f(x):\n"
        "    y = x * x |     # y = x * x\n"
        "    return y  |     dx = 2 * x\n"
        "              |     return dx\n"
    )


def test_stacked_when_narrow():
    assert side_by_side(ORIGINAL, GENERATED, 30) == (
        "your function\n-------------\n"
        f"{ORIGINAL}\n"
        "written by srcjax\n-----------------\n"
        f"{GENERATED}"
    )


@pytest.mark.parametrize("width", [91, 100, 120, 150])
def test_long_lines_are_broken_to_fit(width):
    text = "def f():\n" + LONG
    shown = side_by_side(text, text + LONG, width)
    assert max(map(len, shown.splitlines())) <= width
    assert " | " in shown.splitlines()[0]
    words = re.findall(r"\w+_name", shown)
    assert words.count("first_name") == 3 and words.count("fifth_name") == 3


def test_colour_marks_lines_that_belong_together():
    lines = side_by_side(ORIGINAL, GENERATED, 80, colour=True).splitlines()
    bar = "\x1b[34m\u258c\x1b[0m"
    assert [line.count(bar) for line in lines] == [0, 0, 0, 2, 1, 0]
    plain = re.sub(r"\x1b\[\d+m", "", "\n".join(lines))
    assert len(plain.splitlines()[2].partition("|")[0]) == len(
        plain.splitlines()[3].partition("|")[0]
    )


def test_broken():
    assert broken("    a = bb + cc", 20) == ["    a = bb + cc"]
    assert broken("    a = bb + cc + dd", 16) == ["    a = bb + cc", "        + dd"]
    assert broken("x" * 9, 4) == ["xxxx", "  xx", "  xx", "  x"]
