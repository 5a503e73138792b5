"""A function with its chains in blocks, which runs as it is where arrays are small."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Array, same_size, shape_of
from srcjax.frontend.unit import Unit, passed_on
from srcjax.transforms.blocks.chains import Chain, chained
from srcjax.transforms.blocks.loops import BlockLoop, Untold
from srcjax.transforms.blocks.members import Members
from srcjax.transforms.kernels.accepted import NotCompiled
from srcjax.transforms.kernels.around import ask_given
from srcjax.transforms.kernels.entry import plain_arguments
from srcjax.transforms.kernels.regions import Regions

#: From so many bytes of one array on, blocks are faster than the statements: 1.1 to 4
#: times where the heap keeps memory, 2 to 9 times where it gives it back to the system,
#: so that each statement has new pages (measured from 0.4 to 80 MB).
LARGE = 1 << 21


@dataclass
class Blocked:
    """The function, and what is to be said of its loops."""

    functions: list[gast.FunctionDef]
    loops: list[str]


@dataclass
class Size:
    """How many numbers a loop goes through, as parameters say it."""

    text: str
    least: int


@dataclass
class Found:
    """What has to be asked when the function is called."""

    sizes: list[Size] = field(default_factory=list)
    #: Parameters that are to lie in memory row by row.
    contiguous: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)
    functions: list[gast.FunctionDef] = field(default_factory=list)


class Blocks:
    """Puts loops over blocks in the place of chains, in all blocks of a unit."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.unit = unit
        self.members = Members(program, unit)
        self.found = Found()
        bound = syntax.names_written(unit.node.body)
        given = [p for p in unit.parameters if p not in bound]
        ask_given(self.members, unit.node.body, given)
        self.uses = syntax.use_counts(unit.node.body)

    def block(self, stmts: list[Any]) -> list[Any]:
        """The statements of a block, with loops."""
        out: list[Any] = []
        for each in chained(self.members, stmts):
            if isinstance(each, Chain):
                out += self.loop(each) or [m.stmt for m in each.members]
            elif isinstance(each.stmt, (gast.For, gast.While, gast.If)):
                out.append(syntax.rebuilt(each.stmt, self.block))
            else:
                out.append(each.stmt)
        return out

    def loop(self, chain: Chain) -> list[Any] | None:
        """The loop of a chain; None where nothing is won, or it is not known."""
        inside = syntax.use_counts([m.stmt for m in chain.members])
        outputs = {
            m.name
            for m in chain.members
            if not m.fold and self.uses[m.name] > inside[m.name]
        }
        loop = BlockLoop(self.members, chain, outputs)
        spared = [m for m in chain.members if loop.is_wide(m) and m.name not in outputs]
        if len(spared) < 1 + bool(outputs):  # NumPy's own operators spare as much
            return None
        size = self.size_of(chain)
        if size is None or size.least > self.most(chain):
            return None
        try:
            stmts = loop.write()
        except Untold:
            return None
        self.found.functions.append(loop.function)
        self.found.sizes.append(size)
        self.found.contiguous |= self.members.asked_of(chain.inputs)
        names = ", ".join(m.name for m in chain.members)
        self.found.loops.append(
            f"in blocks of {loop.block}, from {size.least} numbers on: {names}"
        )
        return stmts

    def most(self, chain: Chain) -> float:
        """How many numbers a chain has at most."""
        count = 1
        for dim in chain.shape:
            if not isinstance(dim, int):
                return float("inf")
            count *= dim
        return count

    def size_of(self, chain: Chain) -> Size | None:
        """How many numbers a chain goes through, asked of parameters."""
        least = LARGE // max(m.dtype.itemsize for m in chain.members)
        dims = [self.told(dim) for dim in chain.shape]
        given = {p: shape_of(self.members.types[p]) for p in self.arrays()}
        for name, shape in given.items():
            alike = shape is not None and len(shape) == len(chain.shape)
            if alike and all(map(same_size, shape or (), chain.shape)):
                return Size(f"{name}.size", least)
        if all(dims):
            return Size(" * ".join(d for d in dims if d), least)
        shown = [p for n in chain.inputs for p in self.parameters_behind(n)]
        return Size(f"{min(shown)}.size", least) if shown else None

    def arrays(self) -> list[str]:
        """The parameters that are arrays."""
        return [
            p
            for p in self.unit.parameters
            if isinstance(self.members.types.get(p), Array)
        ]

    def parameters_behind(self, name: str) -> list[str]:
        """The parameters that an array is a part of."""
        t = self.members.types.get(name)
        return [] if t is None else self.members.parameters_of(t)

    def told(self, dim: Any) -> str:
        """A size, as a parameter says it; nothing if none does."""
        if isinstance(dim, int):
            return str(dim)
        for name in self.arrays():
            for axis, each in enumerate(shape_of(self.members.types[name]) or ()):
                if same_size(dim, each):
                    return f"{name}.shape[{axis}]" if axis else f"len({name})"
        return ""


def blocked(program: Program, unit: Unit, entry: str, own: str) -> Blocked:
    """The function with loops over blocks. Raises NotCompiled.

    Args:
        entry: its name.
        own: the name of the function itself, which runs where arrays are small.
    """
    Regions(program, unit, on_cpu=False).check_lengths()
    blocks = Blocks(program, unit)
    body = blocks.block(unit.node.body)
    found = blocks.found
    if not found.loops:
        raise NotCompiled(unit.node, "it has no chain that blocks would make faster")
    arguments = plain_arguments(unit)
    again = gast.Return(
        syntax.expression(f"{own}({', '.join(passed_on(plain_arguments(unit)))})")
    )
    small = gast.If(syntax.expression(smallness(found)), [again], [])
    driver = gast.FunctionDef(entry, arguments, [small, *body], [], None, None, [])
    return Blocked([*found.functions, driver], found.loops)


def smallness(found: Found) -> str:
    """The test whether all arrays are small, or lie otherwise in memory."""
    least: dict[int, list[str]] = {}
    for size in found.sizes:
        texts = least.setdefault(size.least, [])
        if size.text not in texts:
            texts.append(size.text)
    tests = [
        f"{joined(texts, 'max(', ', ')} < {number}"
        for number, texts in sorted(least.items())
    ]
    lies = [f"{p}.flags.c_contiguous" for p in sorted(found.contiguous)]
    if not lies:
        return " and ".join(tests)
    return f"{joined(tests, '(', ' and ')} or not {joined(lies, '(', ' and ')}"


def joined(texts: list[str], opening: str, between: str) -> str:
    """The text, or all of them in parentheses."""
    return texts[0] if len(texts) == 1 else f"{opening}{between.join(texts)})"
