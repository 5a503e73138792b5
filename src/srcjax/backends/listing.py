"""A tree between two stages as plain Python, printed by astor.

What users get is laid out by `python_text`; this is the quick print of core form.
"""

from __future__ import annotations

import ast
from typing import Any

import astor
import gast

from srcjax import syntax


def listing(node: Any) -> str:
    """The text of a gast tree, one statement a line where it fits."""
    tree = ast.fix_missing_locations(gast.gast_to_ast(syntax.clone(node)))
    return str(astor.to_source(tree)).rstrip("\n")
