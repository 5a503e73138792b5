"""The directive `{derivatives}`: functions of the gallery, with what srcjax writes.

The argument is a topic of `gallery/topics.py`. Each function of it is a section: what
it computes, its text, and beside it the text of its derivative.
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


def _beside(entry: Entry) -> nodes.container:
    """The function and its derivative in two columns, one below the other on phones."""
    both = nodes.container(classes=["side-by-side"])
    both += code(textwrap.dedent(inspect.getsource(entry.function)))
    both += code(entry.text)
    return both


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("derivatives", Derivatives)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
