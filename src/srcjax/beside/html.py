"""The notebook's view of generated source: beside the original, in matching colours."""

from __future__ import annotations

import html

from srcjax.beside.match import matched

_LIGHT = "--k:#8a2bb0;--s:#0b6e3b;--n:#0b5cad;--c:#6a6f76;--f:#9a4a00;--edge:#d0d4da"
_DARK = "--k:#d6a3f0;--s:#8fd6a4;--n:#8cc4ff;--c:#9aa2ad;--f:#f0b680;--edge:#4a5058"

# Colours of the page are kept, so that the text is readable on any theme. Jupyter and
# VS Code say their theme in the page; elsewhere the system's setting decides.
STYLE = f"""<style>
.srcjax-view{{{_LIGHT}}}
@media (prefers-color-scheme:dark){{.srcjax-view{{{_DARK}}}}}
[data-jp-theme-light="true"] .srcjax-view,.vscode-light .srcjax-view{{{_LIGHT}}}
[data-jp-theme-light="false"] .srcjax-view,.vscode-dark .srcjax-view{{{_DARK}}}
.srcjax-view{{display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start;
color:inherit}}
.srcjax-view>div{{flex:1 1 24em;min-width:0;border:1px solid var(--edge);
border-radius:6px;overflow-x:auto}}
.srcjax-view .title{{padding:4px 10px;font:600 12px sans-serif;opacity:.75;
border-bottom:1px solid var(--edge)}}
.srcjax-view pre{{margin:0;padding:6px 0;background:transparent;color:inherit;
font:12px/1.45 ui-monospace,Menlo,Consolas,monospace;width:max-content;min-width:100%}}
.srcjax-view pre>span{{display:block;padding:0 10px;min-height:1.45em}}
.srcjax-view .k,.srcjax-view .kn,.srcjax-view .kc,.srcjax-view .ow{{color:var(--k)}}
.srcjax-view .s,.srcjax-view .s1,.srcjax-view .s2,.srcjax-view .sd{{color:var(--s)}}
.srcjax-view .mi,.srcjax-view .mf{{color:var(--n)}}
.srcjax-view .c1{{color:var(--c);font-style:italic}}
.srcjax-view .nf,.srcjax-view .nb{{color:var(--f)}}
</style>"""


def page(title: str, body: str) -> str:
    """A whole page around a view, light or dark as the system is set."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>"
        ":root{color-scheme:light dark}"
        "body{margin:16px;background:#fff;color:#1c2026}"
        "@media (prefers-color-scheme:dark){body{background:#14171c;color:#e6e9ee}}"
        f"</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def side_by_side(original: str, generated: str) -> str:
    """HTML with the user's function and the generated source, highlighted.

    Lines that belong together have one background colour. The HTML is self-contained.
    Without Pygments the text is shown without highlighting. If `original` is empty
    only the generated source is shown.
    """
    left, right = matched(original, generated)
    panes = [pane("your function", original, left)] if original.strip() else []
    panes.append(pane("written by srcjax", generated, right))
    return f'{STYLE}\n<div class="srcjax-view">{"".join(panes)}</div>'


def background(group: int) -> str:
    """The colour of a group: transparent, so that it suits light and dark pages."""
    hue = round(210 + group * 137.508) % 360  # the golden angle: neighbours differ
    return f"hsla({hue},75%,50%,0.17)"


def pane(title: str, text: str, groups: list[int | None]) -> str:
    """One text with its title; lines of one group have one colour."""
    rows = []
    for line, group in zip(highlighted_lines(text), groups, strict=True):
        style = "" if group is None else f' style="background:{background(group)}"'
        rows.append(f"<span{style}>{line}</span>")
    return f'<div><div class="title">{title}</div><pre>{"".join(rows)}</pre></div>'


def highlighted_lines(text: str) -> list[str]:
    """Each line of the text as HTML."""
    plain = [html.escape(line) for line in text.splitlines()]
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return plain
    lexer = PythonLexer(stripnl=False, ensurenl=True)
    lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).split("\n")
    # A trailing line end makes one more, empty, line.
    lines = lines[: len(plain)]
    return lines if len(lines) == len(plain) else plain
