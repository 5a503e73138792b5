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
from srcjax.backends.cuda.parallel import IDENTITY, Fold, Nest, Parallel, breaks
from srcjax.backends.cuda.sizes import Sizes
from srcjax.backends.cuda.statements import Lines, Statements, bounds


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
        loop = self.elements(nest, "thread()", "threads()", self.thread_body)
        return self.kernel(
            self.name, [*body, *self.with_folds(nest, loop)], *self.io(nest)
        )

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
            of = self.kinds.of[part.removesuffix("_parts")]
            cxx = self.cxx(part.removesuffix("_parts"))
            parameters.append(f"array<{of}, 1> {cxx}_parts")
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
        found = {
            n.value.id
            for n in syntax.walk(self.stmts)
            if isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Store)
            and isinstance(n.value, gast.Name)
        }
        parts = self.around.sizes.parts
        while any(parts.get(n, n) not in found for n in found):
            found |= {parts[n] for n in found if n in parts}
        return found

    # -- nests -----------------------------------------------------------------------

    def elements(self, nest: Nest, first: str, step: str, body: Any) -> Lines:
        """The loop of a thread over its elements."""
        loops = [nest.loops[k] for k in nest.parallel]
        rest = [loop for k, loop in enumerate(nest.loops) if k not in nest.parallel]
        own = self.written - {f.name for f in nest.folds}
        lines: Lines = []
        names, trips, plain = [], [], []
        for loop in loops:
            start, stop, by = bounds(loop)
            name = self.cxx(loop.target.id)
            known = self.around.sizes.range(start, stop, by)
            if known is None:  # a number says how many
                known = self.wide(loop)
            self.writer.expressions.loops[loop.target.id] = known
            names.append(name)
            first_text, stop_text = self.writer.bound(start), self.writer.bound(stop)
            is_plain = first_text == "0" and by == 1
            plain.append(is_plain)
            trips.append(trips_text(first_text, stop_text, by))
            own.discard(loop.target.id)
        lines += [
            f"const index n_{n} = {t};" for n, t in zip(names, trips, strict=True)
        ]
        total = " * ".join(f"n_{n}" for n in names)
        single = len(loops) == 1 and plain[0]
        counter = names[0] if single else "t"
        inside: Lines = []
        if not single:
            left = "t"
            for k in reversed(range(len(names))):
                place = f"{left} % n_{names[k]}" if k else left
                if k:
                    left = (
                        f"t / n_{names[k]}" if left == "t" else f"{left} / n_{names[k]}"
                    )
                start, _, by = bounds(loops[k])
                begin = self.writer.bound(start)
                if by != 1:
                    place = f"({place}) * {by}"
                if begin != "0":
                    place = f"{begin} + {place}"
                inside.insert(0, f"const index {names[k]} = {place};")
        if rest:
            inner: list[Any] = nest.stmts
            for loop in reversed(rest):
                fresh = gast.For(loop.target, loop.iter, inner, [], None)
                self.around.after.of[id(fresh)] = self.around.after.live(loop)
                inner = [fresh]
            inside += self.writer.block(inner, own)
        else:
            inside += body(nest, own)
        head = (
            f"for (index {counter} = {first}; {counter} < {total}; {counter} += {step})"
        )
        return [*lines, *self.writer.braced(head, inside)]

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
        return [*before, *loop, *after]

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
        for k, stmt in enumerate(stmts):
            out += self.writer.quoted(stmt)
            if isinstance(stmt, gast.For):
                inner = {n for n in own - shared if places[n] == [k]}
                before = [n for n in sorted(shared - declared) if places[n][0] == k]
                out += [self.writer.declaration(n) for n in before]
                declared |= set(before)
                out += self.shared_loop(stmt, inner, folded, stmts[:k])
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
                    lines.append("row_sync();")
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
        stored = {
            n.value.id
            for n in syntax.walk(loop.body)
            if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
        }
        if stored:
            out.append("row_sync();")
        return out


def is_by_rows(nest: Nest, around: Around) -> bool:
    """Whether the threads of a row can share the loops inside of a nest."""
    if len(nest.parallel) != len(nest.loops) or breaks(nest.body):
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
            if not around.parallel.independent(one, live, []) or one.apart:
                return False
        except NotCuda:
            return False
        if any(isinstance(s, (gast.While, gast.Raise)) for s in syntax.walk(stmt)):
            return False
    return not any(
        isinstance(around.kinds.of.get(n), Tape) for n in syntax.all_names(stmts)
    )


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
