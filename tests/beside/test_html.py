"""html: the notebook's view."""

import re
import sys
from html.parser import HTMLParser

import srcjax
from srcjax.beside.html import background, side_by_side

ORIGINAL = "def f(x):\n    y = x < 3 and '<b>'\n    return y * x\n"
GENERATED = "def grad_f(x):\n    # return y * x\n    dx = y\n\n    return dx\n"


class Reader(HTMLParser):
    """Checks that tags nest, and collects the lines of each `pre`."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.panes = []
        self.colours = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "pre":
            self.panes.append([])
        elif tag == "span" and self.open[-2] == "pre":
            self.panes[-1].append("")
            self.colours.append(dict(attrs).get("style", "").partition(":")[2])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "pre" in self.open:
            self.panes[-1][-1] += data


def read(html):
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_shows_both_texts_exactly():
    panes = read(side_by_side(ORIGINAL, GENERATED)).panes
    assert panes == [ORIGINAL.splitlines(), GENERATED.splitlines()]


def test_lines_that_belong_together_have_one_colour():
    colours = read(side_by_side(ORIGINAL, GENERATED)).colours
    one = background(0)
    assert colours == ["", "", one, "", one, one, "", ""]


def test_is_highlighted_and_self_contained():
    html = side_by_side(ORIGINAL, GENERATED)
    assert '<span class="k">def</span>' in html
    assert "<link" not in html and "http" not in html and "<script" not in html
    # every class that is coloured is coloured within this view only
    rules = re.findall(r"([^{}]+){[^{}]*}", html.partition("</style>")[0])
    assert all(".srcjax-view" in r or r.lstrip().startswith("@") for r in rules)


def test_multi_line_strings_do_not_break_the_lines():
    text = 'def f(x):\n    """One.\n\n    Two.\n    """\n    return x\n'
    assert read(side_by_side(text, text)).panes == [text.splitlines()] * 2


def test_leading_blank_lines_are_kept():
    text = "\n\nx = 1\n"
    assert read(side_by_side(text, text)).panes == [["", "", "x = 1"]] * 2


def test_without_pygments(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments", None)
    html = side_by_side(ORIGINAL, GENERATED)
    assert 'class="k"' not in html
    assert read(html).panes == [ORIGINAL.splitlines(), GENERATED.splitlines()]


def test_without_an_original():
    assert read(side_by_side("", GENERATED)).panes == [GENERATED.splitlines()]


def test_neighbouring_colours_differ():
    hues = [int(re.search(r"\d+", background(i))[0]) for i in range(8)]
    assert all(abs(a - b) > 60 for a, b in zip(hues, hues[1:], strict=False))


def test_source_is_shown_in_a_notebook():
    def cube(x):
        return x * x * x

    html = srcjax.source(srcjax.grad(cube), 2.0)._repr_html_()
    assert "written by srcjax" in html and "cube" in html
