"""How the site is built: `sphinx-build -W docs build/site`.

Notebooks are not executed here: the site shows the outputs that they are stored with,
which `python -m tests.run_notebooks --store docs/course` brings up to date.
"""

import sys
from pathlib import Path

import srcjax

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE)]

project = "srcjax"
author = copyright = "The srcjax authors"
release = srcjax.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "plain_docstrings",
    "shown_derivatives",
    "shown_programs",
]
exclude_patterns = ["_*", "**.ipynb_checkpoints"]

# What is in single backticks in a docstring is code.
default_role = "code"
autodoc_typehints = "none"  # docstrings say it, and `overload`s would be listed
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_render_markdown_format = "myst"  # formulas in outputs
nb_merge_streams = True
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "srcjax"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#8cc4ff"},
}
pygments_style = "default"
pygments_dark_style = "github-dark"
