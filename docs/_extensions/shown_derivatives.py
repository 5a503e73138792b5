"""The directives `{derivatives}` and `{view}`: the gallery, with what srcjax writes.

The argument of `{derivatives}` is a topic of `gallery/topics.py`. Each function of it
is a section: what it computes, its text, and beside it the text of its derivative. That
of `{view}` is the title of one function, whose derivative can be stepped through.
"""

from __future__ import annotations

import inspect
import textwrap

from docutils import nodes
from gallery.entries import Entry
from gallery.topics import TOPICS
from shown_programs import code
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import srcjax


class Derivatives(SphinxDirective):
    """One section for each function of a topic."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for entry in TOPICS[self.arguments[0]]:
            section = nodes.section(ids=[nodes.make_id(entry.title)])
            section += nodes.title(entry.title, entry.title)
            about, messages = self.parse_inline(entry.about)
            section += [nodes.paragraph("", "", *about), *messages]
            section += _beside(entry)
            found.append(section)
        return found


class View(SphinxDirective):
    """One function with its derivative, as `srcjax.show` has them."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        (entry,) = (
            entry
            for topic in TOPICS.values()
            for entry in topic
            if entry.title == self.arguments[0]
        )
        view = srcjax.show(entry.gradient, *entry.args)
        return [nodes.raw("", view.html(), format="html")]


def _beside(entry: Entry) -> nodes.container:
    """The function and its derivative in two columns, one below the other on phones."""
    both = nodes.container(classes=["side-by-side"])
    both += code(textwrap.dedent(inspect.getsource(entry.function)))
    both += code(entry.text)
    return both


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("derivatives", Derivatives)
    app.add_directive("view", View)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
