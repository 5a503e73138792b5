"""Kernels: what each thread does with its share of a nest of loops.

grid      a thread computes elements of a nest; folds end in one value of each block
rows      the threads of a row compute it together: folds inside are theirs
serial    one thread computes all
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed, surely_in
from srcjax.analysis.flow.liveness import After
from srcjax.backends.cuda.expressions import Range
from srcjax.backends.cuda.kinds import BOOL, LONG, Elements, Kinds, NotCuda, Tape
from srcjax.backends.cuda.parallel import (
    IDENTITY,
    Fold,
    Nest,
    Parallel,
    breaks,
    stored_arrays,
)
from srcjax.backends.cuda.sizes import Sizes
from srcjax.backends.cuda.statements import Lines, Statements, bounds

#: What the threads of a row stored is seen by all of them.
SYNC = "row_sync();"


@dataclass
class Kernel:
    """A kernel, and what it is called with."""

    name: str
    text: str
    #: Names that are given, in order, as Python has them.
    given: list[str]
    #: Numbers that it gives, in order.
    results: list[str]
    #: Lists of each thread.
    tapes: dict[str, str] = field(default_factory=dict)
    #: Whether it tells of what goes wrong.
    tells: bool = False
    #: What of `backends.cuda` makes a kernel of the text.
    decorator: str = "cuda"
    #: What is given, where it is not what has the name.
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class Around:
    """What is known around the statements of a kernel."""

    kinds: Kinds
    sizes: Sizes
    after: After
    parallel: Parallel
    checked: bool


class Launch:
    """Writes the text of one kernel."""

    def __init__(self, around: Around, name: str, stmts: list[Any], live: Any) -> None:
        self.around = around
        self.name = name
        self.stmts = stmts
        self.live = live
        #: Loops that were written for this kernel; their ids have to stay theirs.
        self.made: list[gast.For] = []
        self.kinds = around.kinds
        self.writer = Statements(
            around.kinds, around.sizes, around.after, around.checked, True
        )
        self.cxx = self.writer.expressions.name
        arrays = {
            n
            for n in sorted(syntax.all_names(stmts))
            if isinstance(self.kinds.of.get(n), Elements)
        }
        made = {
            t.id
            for s in syntax.walk(stmts)
            if isinstance(s, gast.Assign)
            for t in s.targets
            if isinstance(t, gast.Name) and t.id in arrays
        }
        self.arrays = sorted(arrays - made)
        self.views = made
        self.numbers = sorted(
            n for n in exposed(stmts) if isinstance(self.kinds.of.get(n), str)
        )
        self.written = {
            n
            for n in syntax.names_written(stmts)
            if n not in arrays and n in self.kinds.of
        }

    # -- the three ways --------------------------------------------------------------

    def serial(self) -> Kernel:
        """One thread runs the statements."""
        results = self.results()
        inputs = sorted({*self.numbers, *(results - surely_in(self.stmts))})
        body = self.inputs(inputs)
        body += self.writer.block(self.stmts, self.written - set(inputs))
        body += [f"{self.cxx(n)}_out() = {self.cxx(n)};" for n in sorted(results)]
        return self.kernel(self.name, body, inputs, sorted(results))

    def grid(self, nest: Nest) -> Kernel:
        """Each thread computes elements of a nest."""
        body = self.inputs(self.numbers_given(nest))
        if nest.folds:
            self.writer.leaves = "goto done;"
        loop = self.elements(nest, "thread()", "threads()", self.thread_body)
        return self.kernel(
            self.name, [*body, *self.with_folds(nest, loop)], *self.io(nest)
        )

    def columns(self, nest: Nest) -> Kernel:
        """Each thread folds a share of the places that end in one element."""
        nest, names = self.with_numbers(nest)
        first, *others = nest.rest
        body = self.inputs(self.numbers_given(nest))
        counts = self.starts(nest)
        own = self.written - {loop.target.id for loop in nest.loops} - set(names)
        total = self.total(nest)
        total = f"({total})" if "*" in total else total
        inside = [
            f"const index element = t % {total}, k = t / {total};",
            *self.indices(nest, "element"),
        ]
        for place, by in nest.columns:
            name = names_of(names, place)
            kind = self.kinds.of[name]
            inside.append(f"{kind} {self.cxx(name)} = {identity(by, kind)};")
        inner: list[Any] = nest.stmts
        for loop in reversed(others):
            inner = [self.again(loop, inner)]
        start, stop, by_step = bounds(first)
        known = self.around.sizes.range(start, stop, by_step) or self.wide(first)
        self.writer.expressions.loops[first.target.id] = known
        var, begin = self.cxx(first.target.id), self.writer.bound(start)
        sign = "<" if by_step > 0 else ">"
        share = f"{abs(by_step)} * " if abs(by_step) > 1 else ""
        op = "+" if by_step > 0 else "-"
        shares = f"{self.parts_name(nest)}.n[0]"
        head = (
            f"for (index {var} = {first_of(begin, op, share)}; "
            f"{var} {sign} {self.writer.bound(stop)}; {var} {op}= {share}{shares})"
        )
        inside += self.writer.braced(head, self.writer.block(inner, own))
        for place, _ in nest.columns:
            name = names_of(names, place)
            part = f"{self.cxx(place.value.id)}_parts"
            inside.append(f"{part}(k, element) = {self.cxx(name)};")
        head = f"for (index t = thread(); t < {total} * {shares}; t += threads())"
        body += [*counts, *self.writer.braced(head, inside)]
        parts = [f"{place.value.id}_parts" for place, _ in nest.columns]
        given = self.numbers_given(nest)
        return self.kernel(self.name, body, given, [], parts, 2)

    def columns_end(self, nest: Nest) -> Kernel:
        """Each thread makes one element of what the shares left."""
        body = [*self.inputs(self.numbers_given(nest)), *self.starts(nest)]
        inside = self.indices(nest, "t")
        for place, by in nest.columns:
            part = f"{self.cxx(place.value.id)}_parts"
            element = self.writer.expressions.element(place)
            total = f"{self.cxx(place.value.id)}_all"
            inside += [
                f"{self.kinds.kind(place)} {total} = {element};",
                f"for (index k = 0; k < {part}.n[0]; ++k)",
                f"    {total} = {by}::of({total}, {part}(k, t));",
                f"{element} = {total};",
            ]
        head = f"for (index t = thread(); t < {self.total(nest)}; t += threads())"
        body += self.writer.braced(head, inside)
        parts = [f"{place.value.id}_parts" for place, _ in nest.columns]
        given = self.numbers_given(nest)
        return self.kernel(f"{self.name}_end", body, given, [], parts, 2)

    def with_numbers(self, nest: Nest) -> tuple[Nest, dict[str, str]]:
        """The nest with names in the place of the elements that it folds."""
        names: dict[str, str] = {}
        for place, _ in nest.columns:
            name = self.kinds.names.fresh(f"{place.value.id}_here")
            names[name] = syntax.text(place)
            self.kinds.of[name] = self.kinds.kind(place)

        def visit(node: Any) -> Any:
            if isinstance(node, gast.Subscript):
                text = syntax.text(syntax.as_load(syntax.clone(node)))
                for name, place in names.items():
                    if text == place:
                        return gast.Name(name, node.ctx, None, None)
            return node

        def rewritten(stmts: list[Any]) -> list[Any]:
            return [syntax.map_expressions(syntax.clone(s), visit) for s in stmts]

        found = Nest(nest.loops, rewritten(nest.prelude), rewritten(nest.body))
        found.parallel, found.columns = nest.parallel, nest.columns
        return found, names

    def parts_name(self, nest: Nest) -> str:
        return f"{self.cxx(nest.columns[0][0].value.id)}_parts"

    def again(self, loop: gast.For, body: list[Any]) -> gast.For:
        """The same loop with another body."""
        fresh = gast.For(loop.target, loop.iter, body, [], None)
        self.around.after.of[id(fresh)] = self.around.after.live(loop)
        self.made.append(fresh)
        return fresh

    def rows(self, nest: Nest) -> Kernel:
        """The threads of a row compute it together."""
        self.writer.may_return = False
        body = self.inputs(self.numbers_given(nest))
        loop = self.elements(nest, "row()", "rows()", self.row_body)
        return self.kernel(
            self.name, [*body, *self.with_folds(nest, loop)], *self.io(nest)
        )

    def end(self, folds: list[Fold], after: list[Any]) -> Kernel:
        """One block makes one value of those that the blocks left, and goes on."""
        results = self.results()
        starts = [f.name for f in folds]
        given = sorted({*starts, *self.numbers_of(after, set(starts))})
        given = sorted({*given, *(results - surely_in(after) - set(starts))})
        body: Lines = []
        for fold in folds:
            kind, name = self.kinds.of[fold.name], self.cxx(fold.name)
            body += [
                f"{kind} {name}_all = {identity(fold.by, kind)};",
                f"for (index k = threadIdx.x; k < {name}_parts.n[0]; k += blockDim.x)",
                f"    {name}_all = {fold.by}::of({name}_all, {name}_parts(k));",
                f"{name}_all = {self.of_all('of_block', fold)};",
            ]
        last: Lines = self.inputs(given, set(starts))
        for fold in folds:
            name = self.cxx(fold.name)
            last.append(f"{name} = {fold.by}::of({name}, {name}_all);")
        own = {n for n in syntax.names_written(after) if n in self.kinds.of}
        last += self.writer.block(after, own - set(given) - set(starts))
        last += [f"{self.cxx(n)}_out() = {self.cxx(n)};" for n in sorted(results)]
        body += self.writer.braced("if (threadIdx.x == 0)", last)
        parts = [f"{f.name}_parts" for f in folds]
        return self.kernel(f"{self.name}_end", body, given, sorted(results), parts)

    # -- parts -----------------------------------------------------------------------

    def results(self) -> set[str]:
        """The numbers that others read."""
        return {
            n
            for n in self.written & set(self.live)
            if isinstance(self.kinds.of[n], str)
        }

    def numbers_of(self, stmts: list[Any], bound: set[str]) -> list[str]:
        return sorted(
            n for n in exposed(stmts) - bound if isinstance(self.kinds.of.get(n), str)
        )

    def numbers_given(self, nest: Nest) -> list[str]:
        folded = {f.name for f in nest.folds}
        return [n for n in self.numbers if n not in folded]

    def io(self, nest: Nest) -> tuple[list[str], list[str], list[str]]:
        parts = [f"{f.name}_parts" for f in nest.folds]
        return self.numbers_given(nest), [], parts

    def inputs(self, names: list[str], changed: set[str] | None = None) -> Lines:
        """The numbers that are given, under their own names."""
        lines = []
        changed = (changed or set()) | self.written
        for name in names:
            const = "" if name in changed else "const "
            own = self.cxx(name)
            lines.append(f"{const}{self.kinds.of[name]} {own} = {own}_given;")
        return lines

    def kernel(
        self,
        name: str,
        body: Lines,
        numbers: list[str],
        results: list[str],
        parts: list[str] | None = None,
        rank: int = 1,
    ) -> Kernel:
        """The text of the kernel."""
        shown = "\n".join(body)
        stored = self.stored()
        parameters, given = [], []
        for array in self.arrays:
            if not mentions(shown, self.cxx(array)):
                continue
            kind = self.kinds.of[array]
            assert isinstance(kind, Elements)
            const = "" if array in stored else "const "
            parameters.append(f"array<{const}{kind.of}, {kind.rank}> {self.cxx(array)}")
            given.append(array)
        for part in parts or ():
            whole = self.kinds.of[part.removesuffix("_parts")]
            of = whole.of if isinstance(whole, Elements) else whole
            cxx = self.cxx(part.removesuffix("_parts"))
            parameters.append(f"array<{of}, {rank}> {cxx}_parts")
            given.append(part)
        for number in numbers:
            parameters.append(
                f"number<{self.kinds.of[number]}> {self.cxx(number)}_given"
            )
            given.append(number)
        for tape, of in self.writer.tapes.items():
            parameters.append(f"array<{of}, 2> {self.cxx(tape)}_memory")
        for result in results:
            parameters.append(
                f"array<{self.kinds.of[result]}, 0> {self.cxx(result)}_out"
            )
        tells = self.writer.expressions.tells and mentions(shown, "status")
        if tells:
            parameters.append("int* status")
        lines = [
            f'extern "C" __global__ void {name}(',
            *(f"    {p}{',' if p != parameters[-1] else ''}" for p in parameters),
            ") {",
            *(f"    {line}" for line in body),
            "}",
        ]
        return Kernel(
            name,
            "\n".join(lines),
            given,
            results,
            dict(self.writer.tapes),
            tells,
        )

    def stored(self) -> set[str]:
        """The arrays that are written to, parts of them too."""
        found = stored_arrays(self.stmts)
        parts = self.around.sizes.parts
        while any(parts.get(n, n) not in found for n in found):
            found |= {parts[n] for n in found if n in parts}
        return found

    # -- nests -----------------------------------------------------------------------

    def elements(self, nest: Nest, first: str, step: str, body: Any) -> Lines:
        """The loop of a thread over its elements."""
        own = self.written - {f.name for f in nest.folds}
        own -= {nest.loops[k].target.id for k in nest.parallel}
        lines = self.starts(nest)
        single = self.single(nest)
        counter = single or "t"
        inside = [] if single else self.indices(nest, "t")
        if nest.rest:
            inner: list[Any] = nest.stmts
            for loop in reversed(nest.rest):
                inner = [self.again(loop, inner)]
            inside += self.writer.block(inner, own)
        else:
            inside += body(nest, own)
        head = (
            f"for (index {counter} = {first}; {counter} < {self.total(nest)}; "
            f"{counter} += {step})"
        )
        return [*lines, *self.writer.braced(head, inside)]

    def single(self, nest: Nest) -> str:
        """The variable of a nest of one loop that counts from 0; else nothing."""
        if len(nest.parallel) != 1:
            return ""
        loop = nest.loops[nest.parallel[0]]
        start, _, by = bounds(loop)
        plain = by == 1 and self.writer.bound(start) == "0"
        return self.cxx(loop.target.id) if plain else ""

    def starts(self, nest: Nest) -> Lines:
        """How often each of the loops runs whose iterations run at once."""
        lines = []
        for k in nest.parallel:
            loop = nest.loops[k]
            start, stop, by = bounds(loop)
            known = self.around.sizes.range(start, stop, by) or self.wide(loop)
            self.writer.expressions.loops[loop.target.id] = known
            trips = trips_text(self.writer.bound(start), self.writer.bound(stop), by)
            lines.append(f"const index n_{self.cxx(loop.target.id)} = {trips};")
        return lines

    def total(self, nest: Nest) -> str:
        """How many elements a nest has."""
        return " * ".join(
            f"n_{self.cxx(nest.loops[k].target.id)}" for k in nest.parallel
        )

    def indices(self, nest: Nest, counter: str) -> Lines:
        """The variables of the loops, of the number of an element."""
        lines: Lines = []
        left = counter
        for place, k in reversed(list(enumerate(nest.parallel))):
            loop = nest.loops[k]
            start, _, by = bounds(loop)
            name = self.cxx(loop.target.id)
            at = f"{left} % n_{name}" if place else left
            left = f"{left} / n_{name}"
            begin = self.writer.bound(start)
            if by != 1:
                at = f"({at}) * {by}"
            if begin != "0":
                at = f"{begin} + {at}"
            lines.insert(0, f"const index {name} = {at};")
        return lines

    def wide(self, loop: gast.For) -> Any:
        """The range of a loop whose bounds are numbers."""
        start, _, by = bounds(loop)
        low = getattr(start, "value", None)
        return Range(low if type(low) is int and low >= 0 and by > 0 else None)

    def thread_body(self, nest: Nest, own: set[str]) -> Lines:
        return self.writer.block(nest.stmts, own)

    def with_folds(self, nest: Nest, loop: Lines) -> Lines:
        """The loop, and what it folds: one value of each block."""
        before: Lines = []
        after: Lines = []
        for fold in nest.folds:
            kind, name = self.kinds.of[fold.name], self.cxx(fold.name)
            before.append(f"{kind} {name} = {identity(fold.by, kind)};")
            after.append(f"{name} = {self.of_all('of_block', fold, '')};")
        if after:
            first = "if (threadIdx.x == 0 && threadIdx.y == 0)"
            stores = [
                f"{self.cxx(f.name)}_parts(blockIdx.x) = {self.cxx(f.name)};"
                for f in nest.folds
            ]
            after += self.writer.braced(first, stores)
        # Threads that leave wait for the others all the same.
        label = ["done:"] * any("goto done;" in line for line in loop)
        return [*before, *loop, *label, *after]

    def of_all(self, function: str, fold: Fold, suffix: str = "_all") -> str:
        """`of_block<by_sum>(total)`."""
        name = f"{self.cxx(fold.name)}{suffix}"
        whole = "(int)" if self.kinds.of[fold.name] == BOOL else ""
        return f"{function}<{fold.by}>({whole}{name})"

    # -- rows ------------------------------------------------------------------------

    def row_body(self, nest: Nest, own: set[str]) -> Lines:
        """What all threads of a row do, and what each does with its share."""
        folded = {f.name for f in nest.folds}
        stmts = [s for s in nest.stmts if not syntax.is_comment(s)]
        out: Lines = []
        places = {n: self.writer.mentions(stmts, n) for n in own}
        shared = {n for n in own if len(places[n]) != 1} | {
            n
            for n in own
            if len(places[n]) == 1 and not isinstance(stmts[places[n][0]], gast.For)
        }
        declared: set[str] = set()
        #: What other threads of the row may still read.
        read: set[str] = set()
        for k, stmt in enumerate(stmts):
            out += self.writer.quoted(stmt)
            if stored_arrays([stmt]) & read:
                out.append(SYNC)
                read = set()
            read |= syntax.all_names(stmt)
            if isinstance(stmt, gast.For):
                inner = {n for n in own - shared if places[n] == [k]}
                before = [n for n in sorted(shared - declared) if places[n][0] == k]
                out += [self.writer.declaration(n) for n in before]
                declared |= set(before)
                out += self.shared_loop(stmt, inner, folded, stmts[:k])
                read = set() if out[-1] == SYNC else read
                continue
            first = [n for n in sorted(shared - declared) if places[n][0] == k]
            declared |= set(first)
            here = self.writer.declared_here(stmt, first)
            out += [self.writer.declaration(n) for n in first if n != here]
            (target,) = stmt.targets
            alone = isinstance(target, gast.Subscript) or target.id in folded
            lines = self.writer.statement(stmt, set(), here)
            if alone:
                lines = self.writer.braced("if (threadIdx.x == 0)", lines)
                if isinstance(target, gast.Subscript) and self.is_read(
                    target.value.id, stmts[k + 1 :]
                ):
                    lines.append(SYNC)
                    read = set()
            out += lines
        return out

    def is_read(self, array: str, stmts: list[Any]) -> bool:
        return array in syntax.all_names(stmts)

    def shared_loop(
        self, loop: gast.For, inner: set[str], folded: set[str], before: list[Any]
    ) -> Lines:
        """A loop over a row, of which each thread has its share."""
        nest = Nest([loop], [], loop.body)
        live = self.around.after.live(loop)
        if not self.around.parallel.independent(nest, live, []):
            raise NotCuda("a loop over a row of which the iterations hang together")
        folds = [f for f in nest.folds if f.name not in folded]
        start, stop, by = bounds(loop)
        var = self.cxx(loop.target.id)
        known = self.around.sizes.range(start, stop, by) or self.wide(loop)
        self.writer.expressions.loops[loop.target.id] = known
        begin, last = self.writer.bound(start), self.writer.bound(stop)
        sign, share = ("<", "+") if by > 0 else (">", "-")
        offset = "threadIdx.x" if by == 1 else f"(index)threadIdx.x * {abs(by)}"
        stride = "blockDim.x" if abs(by) == 1 else f"(index)blockDim.x * {abs(by)}"
        if by < 0 and "(index)" not in offset:
            offset = "(index)threadIdx.x"
        first = offset if begin == "0" else f"{begin} {share} {offset}"
        head = (
            f"for (index {var} = {first}; {var} {sign} {last}; {var} {share}= {stride})"
        )
        out: Lines = []
        names = {}
        for fold in folds:
            kind, name = self.kinds.of[fold.name], self.cxx(fold.name)
            names[fold.name] = name
            out.append(f"{kind} {name}_part = {identity(fold.by, kind)};")
            self.writer.expressions.names[fold.name] = f"{name}_part"
        body = self.writer.block(loop.body, inner - {loop.target.id})
        self.writer.expressions.loops.pop(loop.target.id, None)
        out += self.writer.braced(head, body)
        for fold in folds:
            name = names[fold.name]
            self.writer.expressions.names[fold.name] = name
            total = self.of_all("of_row", fold, "_part")
            out.append(f"{name} = {fold.by}::of({name}, {total});")
        if stored_arrays(loop.body):
            out.append(SYNC)
        return out


def is_by_rows(nest: Nest, around: Around) -> bool:
    """Whether the threads of a row can share the loops inside of a nest."""
    if len(nest.parallel) != len(nest.loops) or breaks(nest.body):
        return False
    if not nest.is_sure:
        return False
    stmts = [s for s in nest.stmts if not syntax.is_comment(s)]
    if not any(isinstance(s, gast.For) for s in stmts):
        return False
    for stmt in stmts:
        if isinstance(stmt, gast.Assign) and not isinstance(
            stmt.targets[0], gast.Tuple
        ):
            name = getattr(stmt.targets[0], "id", "")
            if name and not isinstance(around.kinds.of.get(name), str):
                return False
            continue
        if not isinstance(stmt, gast.For):
            return False
        one = Nest([stmt], [], stmt.body)
        try:
            bounds(stmt)
            live = around.after.live(stmt)
            if not around.parallel.independent(one, live, []) or not one.is_sure:
                return False
        except NotCuda:
            return False
        if any(isinstance(s, (gast.While, gast.Raise)) for s in syntax.walk(stmt)):
            return False
    return not any(
        isinstance(around.kinds.of.get(n), Tape) for n in syntax.all_names(stmts)
    )


def names_of(names: dict[str, str], place: gast.Subscript) -> str:
    """The name that stands for an element."""
    text = syntax.text(place)
    return next(name for name, each in names.items() if each == text)


def first_of(begin: str, op: str, share: str) -> str:
    """Where the share of a thread begins."""
    if begin == "0" and op == "+":
        return f"{share}k"
    return f"{begin} {op} {share}k"


def identity(by: str, kind: Any) -> str:
    """What a fold starts from."""
    if kind == LONG and by in ("by_largest", "by_smallest"):
        return (
            "(-9223372036854775807LL - 1)"
            if by == "by_largest"
            else "9223372036854775807LL"
        )
    return IDENTITY[by]


def trips_text(start: str, stop: str, by: int) -> str:
    """How often a loop runs."""
    if by == 1 and start == "0" and ".n[" in stop and stop.endswith("]"):
        return stop
    span = f"{stop} - {start}" if by > 0 else f"{start} - {stop}"
    if start == "0":
        span = stop if by > 0 else f"-({stop})"
    if by not in (1, -1):
        span = f"({span} + {abs(by) - 1}) / {abs(by)}"
    return f"trips({span})"


def mentions(text: str, name: str) -> bool:
    """Whether a text of C++ has a name."""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
