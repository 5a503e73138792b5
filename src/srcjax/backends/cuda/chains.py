"""Plain chains: `cupy.ElementwiseKernel`.

    for i in range(len(x)):              @elementwise_kernel
        for j in range(x.shape[1]):      def f_y(x, w, y):
            t = x[i, j] * w[j]      ->       '''
            y[i, j] = np.tanh(t)             for i, j: double x(i, j), double w(j)
                                             -> double y(i, j)

                                             y = tanh(x * w);
                                             '''

The loops count from 0, nothing branches, and elements stand at the variables of loops.
CuPy broadcasts: `backends.cuda.elementwise` brings arrays to the axes of the loops.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.backends.cuda.expressions import C, Expressions
from srcjax.backends.cuda.kinds import (
    Elements,
    NotCuda,
    items_of,
    number,
)
from srcjax.backends.cuda.launches import Around, Kernel, Launch, mentions
from srcjax.backends.cuda.parallel import Nest, stored_arrays
from srcjax.backends.cuda.statements import bounds

#: Names that CuPy's kernels have themselves.
OF_CUPY = {"i", "n", "a", "b", "out0", "type_in0_raw", "type_out0_raw"}


@dataclass
class OfChain(Expressions):
    """Writes an element as a variable that CuPy gives."""

    targets: list[str] = field(default_factory=list)
    #: The variables, by the array and the loops at which it is asked.
    places: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    #: Sizes that are given as numbers.
    asked: dict[str, Any] = field(default_factory=dict)

    def name(self, name: str) -> str:
        if name not in self.names and name in OF_CUPY:
            self.names[name] = super().name(f"{name}_value")
        return super().name(name)

    def of_Name(self, node: gast.Name) -> C:
        if node.id in self.targets:
            raise NotCuda("the variable of a loop in a plain chain")
        return super().of_Name(node)

    def size_text(self, node: Any, axis: int) -> str:
        if not isinstance(node, gast.Name):
            return super().size_text(node, axis)
        python = f"len({node.id})" if axis == 0 else f"{node.id}.shape[{axis}]"
        name = self.name(f"{node.id}_size{axis or ''}")
        self.asked[name] = syntax.expression(python)
        return name

    def element(self, node: gast.Subscript) -> str:
        items = [item_text(item) for item in items_of(node)]
        array, loops = getattr(node.value, "id", ""), [i for i in items if i != "0"]
        plain = array and set(loops) <= set(self.targets)
        if not plain or len(set(loops)) != len(loops):
            raise NotCuda("an element that is no part of a plain chain")
        place = array, tuple(items)
        if place not in self.places:
            first = all(other != array for other, _ in self.places)
            own = array if first else f"{array}_{''.join(items)}"
            self.places[place] = self.name(own)
        return self.places[place]


def item_text(item: Any) -> str:
    """The variable of a loop, or 0: the one place of an axis that is broadcast."""
    first = isinstance(item, gast.Constant) and type(item.value) is int
    return "0" if first and item.value == 0 else getattr(item, "id", "")


class Chain:
    """Writes a nest of loops as a kernel of CuPy. Raises NotCuda."""

    def __init__(self, launch: Launch, nest: Nest) -> None:
        self.launch, self.nest = launch, nest
        self.around: Around = launch.around
        self.kinds = launch.kinds
        self.stmts = inlined([s for s in nest.stmts if not syntax.is_comment(s)])
        before = launch.writer.expressions
        self.targets = [loop.target.id for loop in nest.loops]
        self.expressions = OfChain(
            before.kinds, before.checked, before.size, targets=self.targets
        )
        launch.writer.expressions = self.expressions
        launch.cxx = self.expressions.name
        self.check()

    def check(self) -> None:
        """Whether it is a plain chain."""
        whole = not self.nest.rest and self.nest.is_sure
        if not whole or not all(isinstance(s, gast.Assign) for s in self.stmts):
            raise NotCuda("no plain chain")
        for loop in self.nest.loops:
            start, _, step = bounds(loop)
            if step != 1 or getattr(start, "value", None) != 0:
                raise NotCuda("a loop that does not count from 0")
        if self.launch.views or len(self.launch.arrays) > 20:
            raise NotCuda("views, or more than CuPy's kernels take")
        for node in syntax.walk(self.stmts):
            if isinstance(node, (gast.IfExp, gast.BoolOp)):
                for part in syntax.walk(node):
                    if isinstance(part, gast.Subscript) and not self.is_sure(part):
                        raise NotCuda("an element that is not always there")

    def is_sure(self, node: gast.Subscript) -> bool:
        """Whether an element is there in all iterations."""
        if not self.around.checked or not isinstance(node.value, gast.Name):
            return True
        loops = {loop.target.id: loop for loop in self.nest.loops}
        for axis, item in enumerate(items_of(node)):
            loop = loops.get(getattr(item, "id", ""))
            known = loop and self.around.sizes.range(*bounds(loop))
            if not known or known.size != self.around.sizes.of(node.value.id, axis):
                return False
        return True

    def elementwise(self) -> Kernel:
        """`cupy.ElementwiseKernel`."""
        stored = stored_arrays(self.stmts)
        if self.nest.folds or not stored:
            raise NotCuda("no plain chain")
        own = self.launch.written - set(self.targets)
        body = self.launch.writer.block(self.stmts, own)
        return self.kernel(body, stored)

    # -- the text --------------------------------------------------------------------

    @property
    def places(self) -> dict[tuple[str, tuple[str, ...]], str]:
        return self.expressions.places

    def kernel(self, body: list[str], stored: set[str]) -> Kernel:
        """The kernel: what it takes, what it gives, and what it does."""
        takes: list[str] = []
        given: list[str] = []
        arguments: dict[str, Any] = {}

        def array(place: tuple[str, tuple[str, ...]]) -> str:
            kind = self.kinds.of[place[0]]
            assert isinstance(kind, Elements)
            given.append(self.places[place])
            arguments[self.places[place]] = syntax.name(place[0])
            return f"{kind.of} {self.places[place]}({', '.join(place[1])})"

        takes += [array(place) for place in self.places if place[0] not in stored]
        shown = "\n".join(body)
        for name in self.launch.numbers:
            own = self.expressions.names.get(name)
            if own and mentions(shown, own):
                takes.append(f"{number(self.kinds.of[name])} {own}")
                given.append(own)
                arguments[own] = syntax.name(name)
        for own, size in self.expressions.asked.items():
            takes.append(f"long long {own}")
            given.append(own)
            arguments[own] = size
        gives = [array(place) for place in self.places if place[0] in stored]
        head = f"for {', '.join(self.targets)}: {kept_whole(takes)}".rstrip()
        lines = [*wrapped(head), *wrapped(f"-> {kept_whole(gives)}")]
        text = "\n".join([*lines, "", *body])
        kernel = Kernel(self.launch.name, text, given, [])
        kernel.decorator, kernel.arguments = "elementwise_kernel", arguments
        return kernel


def inlined(stmts: list[Any]) -> list[Any]:
    """The statements without names of elements that nobody writes to."""
    stored, bound = stored_arrays(stmts), syntax.binding_counts(stmts)
    stmts = list(map(syntax.clone, stmts))
    out: list[Any] = []
    while stmts:
        stmt = stmts.pop(0)
        value = getattr(stmt, "value", None)
        array = getattr(getattr(value, "value", None), "id", "")
        name = getattr(stmt.targets[0], "id", "") if array else ""
        element = isinstance(value, gast.Subscript) and array not in stored
        if name and element and bound[name] == 1:
            stmts = syntax.substitute(stmts, {name: value})
        else:
            out.append(stmt)
    return out


def kept_whole(parts: list[str]) -> str:
    """The parts, with spaces in them that no line is broken at."""
    return ", ".join(p.replace(" ", "\0") for p in parts)


def wrapped(text: str) -> list[str]:
    lines = textwrap.wrap(text, 80, subsequent_indent="    ")
    return [line.replace("\0", " ") for line in lines]
