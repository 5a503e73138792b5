"""A graph as SVG: layers from left to right, the values above and adjoints below."""

from __future__ import annotations

import html
from typing import Any

# Sizes in pixels; letters are those of a monospaced font of 12 pixels.
_LETTER, _ROW, _MARGIN, _BOX = 7.3, 46, 18, 30
_MOST_LETTERS = 44

_STYLE = """<style>
.srcjax-graph{--t:#1c2026;--box:#f3f5f8;--e:#8a93a0;--v:#0b5cad;--d:#c02f28;
font:12px ui-monospace,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){.srcjax-graph{--t:#e6e9ee;--box:#262b33;--e:#7d8794;
--v:#8cc4ff;--d:#ff958c}}
[data-jp-theme-light="true"] .srcjax-graph,.vscode-light .srcjax-graph{--t:#1c2026;
--box:#f3f5f8;--e:#8a93a0;--v:#0b5cad;--d:#c02f28}
[data-jp-theme-light="false"] .srcjax-graph,.vscode-dark .srcjax-graph{--t:#e6e9ee;
--box:#262b33;--e:#7d8794;--v:#8cc4ff;--d:#ff958c}
.srcjax-graph rect{fill:var(--box);stroke:var(--e)}
.srcjax-graph path{fill:none;stroke:var(--e);stroke-width:1.2}
.srcjax-graph .n{fill:var(--t)}.srcjax-graph .v{fill:var(--v)}
.srcjax-graph .d{fill:var(--d)}.srcjax-graph .l{fill:var(--e);font-size:10px}
</style>"""


def as_svg(graph: Any) -> str:
    """The picture."""
    layout = _Layout(graph)
    parts = [layout.edge(edge) for edge in graph.edges]
    parts += [layout.node(node) for node in graph.nodes]
    w, h = round(layout.width), round(layout.height)
    title = html.escape(f"{graph.name}: values and adjoints")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="srcjax-graph" width="{w}" '
        f'height="{h}" viewBox="0 0 {w} {h}" role="img"><title>{title}</title>{_STYLE}'
        f"{''.join(parts)}</svg>\n"
    )


class _Layout:
    """Where nodes and edges are."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.layers = _layers(graph)
        self.order = _ordered(graph, self.layers)
        self.x: dict[Any, float] = {}
        self.y: dict[Any, float] = {}
        left = float(_MARGIN)
        rows = max(sum(_rows(n) for n in nodes) for nodes in self.order)
        self.height = rows * _ROW + 2 * _MARGIN
        #: Where the labels right of each layer end.
        self.ends: list[float] = []
        for nodes in self.order:
            count = sum(map(_rows, nodes))
            top = _MARGIN + (rows - count) * _ROW / 2
            for node in nodes:
                self.x[node], self.y[node] = left, top
                top += _rows(node) * _ROW
            left += max(map(_width, nodes))
            left += max((_label_width(o) for n in nodes for o in n.outputs), default=0)
            self.ends.append(left + 10)
            left += 44
        self.width = left - 24 + _MARGIN

    def port(self, node: Any, output: Any) -> tuple[float, float]:
        """Where a value leaves its node."""
        k = node.outputs.index(output)
        return self.x[node] + _width(node), self.y[node] + (k + 0.5) * _ROW

    def edge(self, edge: Any) -> str:
        """A line that carries the label, and a curve to the node that reads it.

        What goes past layers does so between their rows.
        """
        x, y = self.port(edge.source, edge.output)
        at = self.layers[edge.source]
        end = self.ends[at]
        path = [f"M{x:.0f} {y:.0f}H{end:.0f}"]
        goal_x = self.x[edge.target]
        goal_y = self.y[edge.target] + _rows(edge.target) * _ROW / 2
        for layer in range(at + 1, self.layers[edge.target]):
            past = self._past(layer, y)
            start = min(self.x[n] for n in self.order[layer])
            path.append(_curve(end, y, start - 6, past))
            end, y = self.ends[layer], past
            path.append(f"H{end:.0f}")
        path.append(_curve(end, y, goal_x, goal_y))
        return f'<path d="{"".join(path)}"/>'

    def _past(self, layer: int, y: float) -> float:
        """The height nearest to `y` at which a layer has no box and no label."""
        taken = [
            (self.y[n] + 2, self.y[n] + _rows(n) * _ROW - 2) for n in self.order[layer]
        ]
        free = [y, *(top - 2 for top, _ in taken), *(low + 2 for _, low in taken)]
        open_ = [h for h in free if not any(top < h < low for top, low in taken)]
        return min(open_, key=lambda h: abs(h - y))

    def node(self, node: Any) -> str:
        """The box of a line, or the name of an argument, and its labels."""
        x, y, w = self.x[node], self.y[node], _width(node)
        middle = y + _rows(node) * _ROW / 2
        text = html.escape(_cut(node.text))
        corner = 4 if node.line else 15
        line = f'<text class="l" x="{x}" y="{middle - 19:.0f}">{node.line}</text>'
        found = (
            f'<rect x="{x:.0f}" y="{middle - _BOX / 2:.0f}" width="{w:.0f}" '
            f'height="{_BOX}" rx="{corner}"><title>{html.escape(node.text)}</title>'
            "</rect>"
            f'<text class="n" x="{x + 10:.0f}" y="{middle + 4:.0f}">{text}</text>'
            f"{line if node.line else ''}"
        )
        last = self.layers[node]
        for output in node.outputs:
            found += self._label(node, output, last)
        return found

    def _label(self, node: Any, output: Any, layer: int) -> str:
        x, y = self.port(node, output)
        value, adjoint = map(html.escape, _label(output))
        stub = ""
        if not any(e.output is output for e in self.graph.edges):
            stub = f'<path d="M{x:.0f} {y:.0f}H{self.ends[layer]:.0f}"/>'
        return (
            f'{stub}<text class="v" x="{x + 8:.0f}" y="{y - 5:.0f}">{value}</text>'
            f'<text class="d" x="{x + 8:.0f}" y="{y + 15:.0f}">{adjoint}</text>'
        )


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"C{middle:.0f} {y:.0f} {middle:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 3]}..."


def _width(node: Any) -> float:
    return len(_cut(node.text)) * _LETTER + 20


def _rows(node: Any) -> int:
    return max(1, len(node.outputs))


def _label(output: Any) -> tuple[str, str]:
    name = "" if output.name == "result" else f"{output.name} "
    below = f"d{name}{output.adjoint}" if name else output.adjoint
    return f"{name}{_cut(output.value)}", _cut(below) if output.adjoint else ""


def _label_width(output: Any) -> float:
    return max(map(len, _label(output))) * _LETTER + 8


def _layers(graph: Any) -> dict[Any, int]:
    """The layer of each node: arguments just before what reads them first."""
    found = {node: 0 for node in graph.nodes}
    for node in graph.nodes:  # in the order of execution
        before = [found[e.source] + 1 for e in graph.edges if e.target is node]
        found[node] = max(before, default=0)
    for node in graph.nodes:
        after = [found[e.target] - 1 for e in graph.edges if e.source is node]
        if not node.line and after:
            found[node] = min(after)
    return found


def _ordered(graph: Any, layers: dict[Any, int]) -> list[list[Any]]:
    """The nodes of each layer from top to bottom, with few crossings."""
    rows: list[list[Any]] = [[] for _ in range(max(layers.values(), default=0) + 1)]
    for node in graph.nodes:
        rows[layers[node]].append(node)
    rows = [row for row in rows if row]
    for _ in range(4):
        place = {n: k - len(row) / 2 for row in rows for k, n in enumerate(row)}
        for row in rows:
            row.sort(key=lambda n: _centre(graph, n, place))
    return rows


def _centre(graph: Any, node: Any, place: dict[Any, float]) -> float:
    near = [place[e.source] for e in graph.edges if e.target is node]
    near += [place[e.target] for e in graph.edges if e.source is node]
    return sum(near) / len(near) if near else place[node]


__all__ = ["as_svg"]
