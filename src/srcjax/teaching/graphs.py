"""`graph`: the lines of a run as a picture, with values and adjoints on the edges."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import srcjax.api.reverse as api
from srcjax.api.options import boundary
from srcjax.checks.first_call import unchecked
from srcjax.checks.leaves import is_real_leaf, leaves
from srcjax.checks.outcomes import copied, quiet
from srcjax.errors import ArgumentError
from srcjax.teaching.measured import Instance, Measured, NotMeasurable, Runs, pairs
from srcjax.teaching.showing import kept, shown
from srcjax.teaching.trace import run_noted
from srcjax.versions.functions import with_source

#: More lines than these fit on no slide.
MOST_NODES = 40
#: Arrays of at most so many elements are measured where an adjoint has no name.
MOST_MEASURED = 64


@dataclass(eq=False)
class Output:
    """A value that a node gives: its name, what it is, and its adjoint if known."""

    name: str
    value: str
    adjoint: str = ""


@dataclass(eq=False)
class Node:
    """An argument, or an execution of a line."""

    text: str
    #: The number of the line in the user's file; 0 of an argument.
    line: int = 0
    outputs: list[Output] = field(default_factory=list)


@dataclass(eq=False)
class Edge:
    """A value that one node gives and another one reads."""

    source: Node
    output: Output
    target: Node


class Graph:
    """The computation as a picture: a notebook shows it, `save` writes an SVG file.

    `nodes` and `edges` are what is drawn; `str(graph)` is the SVG.
    """

    def __init__(self, name: str, nodes: list[Node], edges: list[Edge]) -> None:
        self.name, self.nodes, self.edges = name, nodes, edges

    def __str__(self) -> str:
        from srcjax.teaching.graph_svg import as_svg

        return as_svg(self)

    def __repr__(self) -> str:
        return (
            f"<graph of {self.name}: {len(self.nodes)} nodes, save it as an SVG file>"
        )

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self}</div>'

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file, which needs no other one."""
        Path(path).write_text(str(self), encoding="utf-8")


@boundary
def graph(f: Callable, *args: Any, **kwargs: Any) -> Graph:
    """The computation of a function as a picture: what flows forward, and back.

    A node is an executed line of the function (loop iterations one after the other,
    functions that it calls within the line that calls them), an edge a value that one
    gives and another reads: the value above the edge, its adjoint below. Adjoints are
    those of the generated gradient where it has a name for them, and measured by
    differences elsewhere; where neither can be told, there is none.

    **Arguments**

    - `f`: a function that returns one real number, or `srcjax.grad` of one.
    - `args`, `kwargs`: what to call it with.

    **Returns**

    A `Graph`: notebooks show it, `str` of it is a self-contained SVG for light and dark
    pages, and `save(path)` writes it.

    **Raises**

    - `ArgumentError`: the result is not one real number, there is no argument to be
        differentiated, or more than 40 lines are executed.

    >>> def energy(x, k):
    ...     stretch = x * x
    ...     return k * stretch
    >>> picture = srcjax.graph(energy, 3.0, 0.5)
    >>> [(n.text, o.value, o.adjoint) for n in picture.nodes for o in n.outputs]
    [('x', '3.0', '3.0'), ('k', '0.5', '9.0'), ('stretch = x * x', '9.0', '0.5'), \
('return k * stretch', '4.5', '1.0')]
    """
    transform = _gradient(f, args, kwargs)
    with unchecked(), quiet():
        _, steps, run = run_noted(transform, *copied((args, kwargs)))
        if run.dropped:
            raise _too_long(len(steps) + run.dropped)
        try:
            runs = Runs(transform, args, kwargs, steps)
        except NotMeasurable as why:
            raise ArgumentError(
                f"{transform.shown_name} cannot be drawn: {why}",
                instead="a function that gives the same twice",
            ) from None
        own = [i for i in runs.instances if i.call == _first_call(runs)]
        if len(own) > MOST_NODES:
            raise _too_long(len(own))
        return drawn(transform, runs, own, adjoints_of(steps, runs, own))


def _gradient(f: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The transform whose adjoints are drawn. Raises ArgumentError."""
    found = getattr(f, "__srcjax_transform__", None)
    if found is not None:
        if found.name != "grad" or found.has_aux or found.inner is not None:
            raise ArgumentError(
                f"graph draws functions, and this is {found.name} of one",
                instead="`graph(f, x)`",
            )
        return found
    result = f(*copied(args), **copied(kwargs))
    if np.shape(result) != () or not is_real_leaf(result):
        given = shown(kept(result))
        raise ArgumentError(
            f"graph draws functions that return one real number, not {given}",
            instead="a sum of it, or one element",
        )
    f = with_source(f, len(args))
    first: Any = api.grad(f).__srcjax_transform__  # type: ignore[attr-defined]
    values = first.bind(args, kwargs)
    chosen = [
        name
        for name, value in zip(first.parameters, values, strict=True)
        if leaves(value) and all(map(is_real_leaf, leaves(value)))
    ]
    if not chosen:
        raise ArgumentError("no argument is a real number", instead="floats or arrays")
    return api.grad(f, tuple(chosen)).__srcjax_transform__  # type: ignore[attr-defined]


def _too_long(count: int) -> ArgumentError:
    return ArgumentError(
        f"{count} lines are executed, and a picture has at most {MOST_NODES}",
        instead="fewer iterations, or `srcjax.trace` for a table",
    )


def _first_call(runs: Runs) -> int:
    return min(runs.entries, default=0)


def adjoints_of(
    steps: list[Any], runs: Runs, own: list[Instance]
) -> dict[tuple[int, str], str]:
    """The adjoints of values, by the execution that gave them and their name."""
    found: dict[tuple[int, str], str] = {}
    for step, name, value, _, instances, sure in pairs(steps, runs):
        if len(instances) == 1:
            of = step.statement.function.derivatives[name]
            told = Measured(name, of, kept(value))
            runs.compare(told, value, instances[0], sure)
            if told.verdict == "agrees" or (told.verdict == "differs" and sure):
                found[instances[0].index, of] = shown(told.value)
    entries = [runs.entries[_first_call(runs)]] if runs.entries else []
    for instance in (*entries, *own):
        for name, value in instance.values.items():
            if (instance.index, name) not in found and is_real_leaf(value):
                text = _measured(runs, instance, name, value)
                if text:
                    found[instance.index, name] = text
    return found


def _measured(runs: Runs, instance: Instance, name: str, value: Any) -> str:
    """What a difference says of an adjoint that has no name; "" if it says nothing."""
    told = Measured(f"d{name}", name, None)
    runs.compare(told, np.zeros_like(value)[()], instance, True, MOST_MEASURED)
    known = told.verdict != "not measured" and not told.along
    return shown(kept(told.measured)) if known else ""


def drawn(
    transform: Any,
    runs: Runs,
    own: list[Instance],
    adjoints: dict[tuple[int, str], str],
) -> Graph:
    """The nodes and edges of the executed lines of one call."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    given: dict[str, tuple[Node, Output]] = {}
    entry = runs.entries[_first_call(runs)] if runs.entries else None
    for name, value in entry.values.items() if entry is not None else ():
        output = Output(name, shown(kept(value)), adjoints.get((entry.index, name), ""))  # type: ignore[union-attr]
        node = Node(name, 0, [output])
        given[name] = node, output
        nodes.append(node)
    for instance in own:
        statement = instance.statement
        assert statement is not None
        returned = isinstance(statement.node, ast.Return)
        reads = [given[n] for n in sorted(statement.reads()) if n in given]
        real = {
            n: v
            for n, v in instance.values.items()
            if any(map(is_real_leaf, leaves(v)))
        }
        if not real and not returned:
            continue
        node = Node(_text(statement.node), statement.first)
        edges += [Edge(source, output, node) for source, output in reads]
        for name, value in real.items():
            told = adjoints.get((instance.index, name), "")
            output = Output(name, shown(kept(value)), told)
            node.outputs.append(output)
            given[name] = node, output
        if returned:
            node.outputs.append(Output("result", shown(kept(runs.here)), "1.0"))
        nodes.append(node)
    read = {edge.source for edge in edges}
    kept_nodes = [n for n in nodes if n.line or n in read]
    return Graph(transform.shown_name, kept_nodes, edges)


def _text(node: Any) -> str:
    """The statement, or the head of a loop."""
    text = ast.unparse(node)
    return text.partition("\n")[0].removesuffix(":") if hasattr(node, "body") else text


__all__ = ["Edge", "Graph", "Node", "Output", "graph"]
