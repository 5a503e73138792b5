"""A kernel cut into launches, and the Python that calls them.

    total = 0.0                              parts = cupy.empty(blocks(len(x)))
    for i in range(len(x)):           ->     f_total[len(x)](x, parts)
        total = added(total, x[i])           root = f_total_end[256](parts, total)
    root = np.sqrt(total)                    y = cupy.empty(len(x))
    y = np.empty(len(x))                     f_y[len(x)](x, root, y)
    for i in range(len(x)): ...

Loops that may run at once, and what needs a number from the device, become kernels;
numbers of the device stay there. What is about whole arrays, and loops in which there
are such loops, is Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.liveness import After
from srcjax.analysis.flow.looking import MAKERS
from srcjax.backends.cuda.between import Between, Known, in_kernels
from srcjax.backends.cuda.chains import Chain
from srcjax.backends.cuda.kinds import (
    BOOL,
    LONG,
    NAMES,
    Elements,
    Kind,
    Kinds,
    NotCuda,
    Tape,
    kind_of,
)
from srcjax.backends.cuda.launches import Around, Kernel, Launch, is_by_rows
from srcjax.backends.cuda.parallel import Nest, Parallel, breaks, is_differs
from srcjax.backends.cuda.sizes import Sizes
from srcjax.backends.cuda.statements import bounds

#: How many threads a block has that makes one value of those of all blocks.
LAST = 256


@dataclass
class Pending:
    """A kernel that is not written yet: a nest, and what one thread does after it."""

    nest: Nest | None
    stmts: list[Any]
    after: list[Any] = field(default_factory=list)

    @property
    def all(self) -> list[Any]:
        return [*self.stmts, *self.after]

    @property
    def takes_more(self) -> bool:
        """Whether numbers may be computed at its end."""
        return self.nest is None or bool(self.nest.folds)


@dataclass
class OnDevice:
    """The kernels of a function, and the function that launches them."""

    kernels: list[gast.FunctionDef]
    function: gast.FunctionDef
    #: Names that the function has from `backends.cuda.run`.
    uses: set[str]


def with_launches(
    kernels: list[Any], driver: gast.FunctionDef, known: Known
) -> tuple[list[gast.FunctionDef], gast.FunctionDef, set[str]]:
    """The functions of kernels on the device, what calls them, and what they call.

    Args:
        known: what a name of the driver stands for.

    Raises:
        NotCuda: one of them has no CUDA.
    """
    names = syntax.Names(syntax.all_names([*kernels, driver]))
    found: list[gast.FunctionDef] = []
    uses: set[str] = set()
    for kernel in kernels:
        named = zip(kernel.args.args, kernel.given, strict=True)
        given = {name.id: kind_of(*what) for name, what in named}
        each = on_device(kernel, given, names)
        found += [*each.kernels, each.function]
        uses |= each.uses
    around = {k.name: k.outside for k in kernels}
    between = Between(known)

    def visit(node: Any) -> Any:
        if isinstance(node, gast.Call):
            path = syntax.dotted(node.func) or ""
            if path in around:
                for k, arg in enumerate(node.args):
                    if getattr(arg, "id", "") in around[path]:
                        node.args[k] = syntax.expression("cupy.asarray(x)", x=arg)
                return node
            if path in _SCALARS and len(node.args) == 1:
                (value,) = node.args
                inner = syntax.dotted(getattr(value, "func", None))
                if inner in around or isinstance(value, gast.Name):
                    return value  # it stays on the device
        return between.visit(node)

    driver.body = [s for s in map_blocks(driver.body, visit) if not is_itself(s)]
    return found, driver, uses | between.uses


#: What makes NumPy's scalars of what a kernel gives.
_SCALARS = {"np.bool", *(f"np.{name}" for name in NAMES.values())}


def map_blocks(stmts: list[Any], visit: Any) -> list[Any]:
    return [syntax.map_expressions(s, visit) for s in stmts]


def is_itself(stmt: Any) -> bool:
    """`x = x`."""
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Name)
        and syntax.is_name(stmt.targets[0], stmt.value.id)
    )


def on_device(
    function: gast.FunctionDef, given: dict[str, Kind], names: syntax.Names
) -> OnDevice:
    """What launches a function's loops as kernels. Raises NotCuda."""
    function = syntax.clone(function)
    checked = any(isinstance(d, gast.Call) for d in function.decorator_list)
    function.decorator_list = []
    kinds = Kinds(function, given)
    for name, kind in kinds.of.items():
        if kind == Tape("") or isinstance(kind, Elements) and kind.rank > 6:
            raise NotCuda(f"`{name}` is nothing that kernels know")
    device: set[str] = set()
    while True:
        own = syntax.Names(names.taken)
        writer = Host(function, kinds, checked, own, set(device))
        found = writer.write()
        if writer.device == device:
            names.taken |= own.taken
            return found
        device = writer.device


class Host:
    """Writes the Python around the kernels of one function."""

    def __init__(
        self,
        function: gast.FunctionDef,
        kinds: Kinds,
        checked: bool,
        names: syntax.Names,
        device: set[str],
    ) -> None:
        self.function = function
        self.kinds = kinds
        after = After(function.body)
        self.around = Around(
            kinds,
            Sizes(function, kinds),
            after,
            Parallel(function, kinds, after),
            checked,
        )
        self.between = Between(in_kernels, only_there=True)
        self.names = syntax.Names({*names.taken, *kinds.of})
        self.outer = names
        #: Numbers that may be on the device.
        self.device = device
        self.kernels: list[Kernel] = []
        self.uses: set[str] = set()
        self.pending: Pending | None = None
        self.nests: dict[int, Nest | None] = {}
        #: Loops that were written to see whether they can be; their ids stay theirs.
        self.trials: list[Launch] = []
        self.status = ""

    def write(self) -> OnDevice:
        body = self.block(self.function.body)
        body = [*self.unbound(body), *body]
        if self.status:
            self.uses.add("settle")
            body = [
                *syntax.statements(f"{self.status} = cupy.zeros(8, np.int32)"),
                *settled(body, self.status),
            ]
        function = gast.FunctionDef(
            self.function.name, self.function.args, body, [], None, None, []
        )
        stubs = [stub(k) for k in self.kernels]
        self.uses |= {k.decorator for k in self.kernels}
        return OnDevice(stubs, function, self.uses | self.between.uses)

    def unbound(self, body: list[Any]) -> list[Any]:
        """Values of numbers that kernels are given, but that no path may have bound."""
        open_ = exposed(body) - set(self.kinds.given)
        values = {BOOL: False, LONG: 0}
        return [
            syntax.assign(name, syntax.const(values.get(str(self.kinds.of[name]), 0.0)))
            for name in sorted(open_)
            if isinstance(self.kinds.of.get(name), str)
        ]

    # -- blocks ----------------------------------------------------------------------

    def block(self, stmts: list[Any]) -> list[Any]:
        out: list[Any] = []
        outer, self.pending = self.pending, None
        for stmt in stmts:
            if syntax.is_comment(stmt):
                continue
            nest = self.nest(stmt)
            if nest is not None:
                out += self.flush()
                self.pending = Pending(nest, [stmt])
            elif self.is_for_device(stmt):
                if self.pending is None or not self.pending.takes_more:
                    out += self.flush()
                    self.pending = Pending(None, [])
                self.pending.after.append(stmt)
            else:
                if self.pending is not None and self.conflicts(stmt, self.pending.all):
                    out += self.flush()
                out += self.python(stmt)
        out += self.flush()
        self.pending = outer
        return out

    def nest(self, stmt: Any) -> Nest | None:
        """The nest of loops that a statement is; None if it is none."""
        if not isinstance(stmt, gast.For):
            return None
        if id(stmt) not in self.nests:
            found = self.around.parallel.nest(stmt)
            if found is not None and (
                self.has_arrays(found.body) or found.folds and not found.is_sure
            ):
                found = None
            if found is not None and not self.has_text(found, stmt):
                found = None
            self.nests[id(stmt)] = found
        return self.nests[id(stmt)]

    def has_text(self, nest: Nest, stmt: gast.For) -> bool:
        """Whether a nest can be a kernel; else the loops inside of it may be."""
        trial = Launch(self.around, "trial", [stmt], self.around.after.live(stmt))
        self.trials.append(trial)
        try:
            if is_by_rows(nest, self.around):
                trial.rows(nest)
            elif not nest.columns:
                trial.grid(nest)
        except NotCuda:
            return False
        return True

    def has_arrays(self, stmts: list[Any]) -> bool:
        """Whether arrays are made."""
        for node in syntax.walk(stmts):
            path = syntax.dotted(getattr(node, "func", None))
            if path in MAKERS or path == "np.dot":
                return True
        return False

    def is_for_device(self, stmt: Any) -> bool:
        """Whether one thread has to run a statement."""
        if breaks([stmt]):
            return False  # it leaves what is around it
        if isinstance(stmt, gast.Assign):
            (target,) = stmt.targets
            if isinstance(target, gast.Subscript):
                return isinstance(self.kinds.kind(target), str)
            for name in syntax.names_written(stmt):
                if not isinstance(self.kinds.of.get(name), str):
                    return False
            if is_taken(stmt.value) or self.has_arrays([stmt]):
                return False
            return self.reads_device(stmt)
        if isinstance(stmt, (gast.For, gast.While, gast.If)):
            if self.is_about_arrays([stmt]):
                return False
            return self.reads_device(stmt) or self.writes_elements(stmt)
        return False

    def reads_device(self, stmt: Any) -> bool:
        """Whether a number is read that may be on the device."""
        if syntax.names_read(stmt) & self.device:
            return True
        return any(
            isinstance(n, gast.Subscript)
            and isinstance(n.value, gast.Name)
            and isinstance(n.ctx, gast.Load)
            and isinstance(self.kinds.kind(n), str)
            for n in syntax.walk(stmt)
        )

    def writes_elements(self, stmt: Any) -> bool:
        return any(
            isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
            for n in syntax.walk(stmt)
        )

    def is_about_arrays(self, stmts: list[Any]) -> bool:
        """Whether statements make arrays, or have loops that are kernels."""
        for stmt in syntax.walk(stmts):
            if isinstance(stmt, gast.For) and self.nest(stmt) is not None:
                return True
            if isinstance(stmt, gast.Raise) and not is_differs(stmt):
                return True
            if isinstance(stmt, gast.Assign):
                for name in syntax.names_written(stmt):
                    whole = isinstance(self.kinds.of.get(name), Elements)
                    if whole and not isinstance(stmt.targets[0], gast.Subscript):
                        return True
                if isinstance(stmt.value, gast.List) or is_taken(stmt.value):
                    return True
        return self.has_arrays(stmts)

    def conflicts(self, stmt: Any, stmts: list[Any]) -> bool:
        """Whether a statement cannot run before others."""
        if not isinstance(stmt, gast.Assign) or is_taken(stmt.value):
            return True
        written, read = syntax.names_written(stmts), syntax.names_read(stmts)
        mine = syntax.names_written(stmt)
        if not isinstance(stmt.targets[0], gast.Name):
            return True
        path = syntax.dotted(getattr(stmt.value, "func", None))
        if path == "np.dot":
            return True
        reads = syntax.names_read(stmt) - self.sizes_read(stmt)
        arrays = {n for n in reads if isinstance(self.kinds.of.get(n), Elements)}
        return bool(written & reads or (written | read) & mine or arrays)

    def sizes_read(self, stmt: Any) -> set[str]:
        """Arrays of which only the sizes are read."""
        counts = syntax.read_counts(stmt)
        for node in syntax.walk(stmt):
            if isinstance(node, gast.Attribute) and node.attr in ("shape", "size"):
                counts[getattr(node.value, "id", "")] -= 1
            if isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
                counts[getattr(node.args[0], "id", "")] -= 1
        return {n for n, count in counts.items() if count == 0}

    # -- Python ----------------------------------------------------------------------

    def python(self, stmt: Any) -> list[Any]:
        """A statement that stays Python, with kernels in its blocks."""
        if isinstance(stmt, (gast.For, gast.While, gast.If)):
            head = syntax.clone_shallow(stmt)
            for holder, key in syntax.holders(head):
                setattr(holder, key, self.block(getattr(holder, key)))
            if isinstance(stmt, gast.For):
                head.iter = self.range_of(stmt)
            return [head]
        if isinstance(stmt, gast.Assign) and is_taken(stmt.value):
            self.device |= {
                n
                for n in syntax.names_written(stmt)
                if isinstance(self.kinds.of.get(n), str)
            }
        return [syntax.map_expressions(stmt, self.on_device)]

    def on_device(self, node: Any) -> Any:
        """What makes arrays, of sizes that CuPy has to have from the device."""
        made = self.between.visit(node)
        if made is not node and made.args:
            made.args[0] = self.with_items(made.args[0])
        return made

    def range_of(self, loop: gast.For) -> Any:
        """The range of a loop; its bounds may be on the device."""
        return self.with_items(loop.iter)

    def with_items(self, node: Any) -> Any:
        """An expression of numbers, which are brought from the device."""
        reads = syntax.names_read(node) & self.device
        if not reads:
            return node
        self.uses.add("item")
        return syntax.map_expressions(
            gast.Expr(syntax.clone(node)),
            lambda n: (
                syntax.call("item", n)
                if isinstance(n, gast.Name) and n.id in reads
                else n
            ),
        ).value

    # -- kernels ---------------------------------------------------------------------

    def flush(self) -> list[Any]:
        """What launches the kernels that are pending."""
        pending, self.pending = self.pending, None
        if pending is None:
            return []
        if pending.nest is None:
            return self.one(pending.after)
        nest = pending.nest
        live = self.around.after.live(pending.stmts[0])
        launch = self.launch(pending.stmts, live)
        if nest.columns:
            return self.by_columns(nest, launch)
        plain = self.plain(nest, launch)
        if plain is not None:
            return plain
        by_rows = is_by_rows(nest, self.around)
        first = launch.rows(nest) if by_rows else launch.grid(nest)
        out: list[Any] = []
        count = self.count(nest)
        if by_rows:
            at = gast.Tuple([count, self.width(nest)], syntax.LOAD)
        else:
            at = self.alone_unless_sure(count, nest)
        blocks = "blocks_of_rows" if by_rows else "blocks"
        for fold in nest.folds:
            self.uses.add(blocks)
            kind = self.kinds.of[fold.name]
            dtype = "" if kind == "double" else f", np.{NAMES[str(kind)]}"
            sizes = at.elts if isinstance(at, gast.Tuple) else [at]
            made = syntax.expression(
                f"cupy.empty(n{dtype})",
                n=syntax.call(blocks, *map(syntax.clone, sizes)),
            )
            out.append(syntax.assign(f"{fold.name}_parts", made))
        out += self.called(first, at)
        if nest.folds:
            last = [*pending.stmts, *pending.after][-1]
            live = self.around.after.live(last)
            ending = Launch(self.around, first.name, pending.after, live)
            ending.written |= {f.name for f in nest.folds}
            end = ending.end(nest.folds, pending.after)
            out += self.called(end, syntax.const(LAST))
        return out

    def plain(self, nest: Nest, launch: Launch) -> list[Any] | None:
        """The kernel that CuPy makes of a plain chain; None where it is none."""
        fresh = Launch(self.around, launch.name, launch.stmts, launch.live)
        try:
            kernel = Chain(fresh, nest).elementwise()
        except NotCuda:
            return None
        trips = [self.trips(loop) for loop in nest.loops]
        at = trips[0] if len(trips) == 1 else gast.Tuple(trips, syntax.LOAD)
        return self.called(kernel, at)

    def by_columns(self, nest: Nest, launch: Launch) -> list[Any]:
        """A fold along outer axes: several threads for each element, then one."""
        self.uses.add("shares")
        count = self.count(nest)
        rows = self.trips(nest.rest[0])
        out: list[Any] = []
        for place, _ in nest.columns:
            kind = self.kinds.kind(place)
            dtype = "" if kind == "double" else f", np.{NAMES[str(kind)]}"
            made = syntax.expression(
                f"cupy.empty((shares(n, m), n){dtype})", n=count, m=rows
            )
            out.append(syntax.assign(f"{place.value.id}_parts", made))
        parts = syntax.expression("x.size", x=syntax.name(out[0].targets[0].id))
        first = launch.columns(nest)
        out += self.called(first, parts)
        ending = Launch(self.around, launch.name, launch.stmts, launch.live)
        return out + self.called(ending.columns_end(nest), syntax.clone(count))

    def one(self, stmts: list[Any]) -> list[Any]:
        """Statements that one thread runs."""
        live = self.around.after.live(stmts[-1])
        return self.called(self.launch(stmts, live).serial(), syntax.const(1))

    def launch(self, stmts: list[Any], live: Any) -> Launch:
        return Launch(self.around, self.kernel_name(stmts, live), stmts, live)

    def kernel_name(self, stmts: list[Any], live: Any) -> str:
        """A name that says what a kernel computes."""
        stored = [
            n.value.id
            for n in syntax.walk(stmts)
            if isinstance(n, gast.Subscript)
            and isinstance(n.ctx, gast.Store)
            and isinstance(n.value, gast.Name)
        ]
        bound = [n for n in sorted(syntax.names_written(stmts)) if n in live]
        what = [*stored[::-1], *bound]
        base = self.function.name.removesuffix("_kernel")
        name = f"{base}_{what[0]}" if what else base
        if not name.isascii():
            name = "kernel"
        return self.outer.fresh(name)

    def called(self, kernel: Kernel, at: Any) -> list[Any]:
        """`total = f_total[n](x)`."""
        self.kernels.append(kernel)
        given: list[Any] = [
            syntax.clone(kernel.arguments.get(n) or syntax.name(n))
            for n in kernel.given
        ]
        memory = [self.names.fresh(f"{t}_memory") for t in kernel.tapes]
        given += [syntax.name(n) for n in memory]
        if kernel.tells:
            self.status = self.status or self.names.fresh("status")
            given.append(syntax.name(self.status))
        launched = gast.Subscript(syntax.name(kernel.name), at, syntax.LOAD)
        call = gast.Call(launched, given, [])
        self.device |= set(kernel.results)
        stmt: Any = gast.Expr(call)
        if len(kernel.results) == 1:
            stmt = syntax.assign(kernel.results[0], call)
        elif kernel.results:
            targets = [syntax.name(n, store=True) for n in kernel.results]
            stmt = gast.Assign([gast.Tuple(targets, syntax.STORE)], call, None)
        if not kernel.tapes:
            return [stmt]
        return self.with_room(kernel, stmt, memory, at)

    def with_room(
        self, kernel: Kernel, stmt: Any, memory: list[str], at: Any
    ) -> list[Any]:
        """The same again with more room for the lists, where there was too little."""
        self.uses |= {"lanes", "is_full"}
        room = self.names.fresh("room")
        body = []
        for name, of in zip(memory, kernel.tapes.values(), strict=True):
            dtype = "" if of == "double" else f", np.{NAMES[of]}"
            text = f"cupy.empty(({room}, lanes(n)){dtype})"
            made = syntax.expression(text, n=syntax.clone(at))
            body.append(syntax.assign(name, made))
        body.append(stmt)
        body += syntax.statements(
            f"if not is_full({self.status}):\n    break\n{room} = {room} * 8"
        )
        return [
            *syntax.statements(f"{room} = 32"),
            gast.While(syntax.const(True), body, []),
        ]

    # -- how many --------------------------------------------------------------------

    def count(self, nest: Nest) -> Any:
        """How many iterations there are that may run at once."""
        count: Any = None
        for k in nest.parallel:
            trips = self.trips(nest.loops[k])
            count = trips if count is None else gast.BinOp(count, gast.Mult(), trips)
        return count

    def width(self, nest: Nest) -> Any:
        """How many threads a row may have."""
        inside = {loop.target.id for loop in nest.loops}
        inside |= syntax.names_written(nest.stmts)
        for stmt in nest.body:
            if isinstance(stmt, gast.For):
                trips = self.trips(stmt)
                if not syntax.names_read(trips) & inside:
                    return trips
        return syntax.const(32)

    def trips(self, loop: gast.For) -> Any:
        """How often a loop runs."""
        start, stop, by = bounds(loop)
        zero = isinstance(start, gast.Constant) and start.value == 0
        if by == 1 and zero:
            plain = isinstance(stop, (gast.Call, gast.Subscript, gast.Constant))
            if plain:
                return syntax.clone(stop)
        return syntax.call("len", syntax.clone(self.range_of(loop)))

    def alone_unless_sure(self, count: Any, nest: Nest) -> Any:
        """One thread where what is written may be read or written by others."""
        if nest.is_sure:
            return count
        self.uses |= {"apart"} if nest.apart else set()
        pairs: dict[str, list[str]] = {}
        for a, b in nest.apart:
            pairs.setdefault(a, []).append(b)
        tests = [
            syntax.call("apart", syntax.name(a), *map(syntax.name, others))
            for a, others in pairs.items()
        ]
        tests += [
            syntax.expression("x >= 0", x=self.with_items(least))
            for least in nest.least
        ]
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return gast.IfExp(test, count, syntax.const(1))


def is_taken(value: Any) -> bool:
    """`tape.pop()`."""
    return (
        isinstance(value, gast.Call)
        and isinstance(value.func, gast.Attribute)
        and value.func.attr == "pop"
    )


def settled(body: list[Any], status: str) -> list[Any]:
    """The statements, which look before they return whether all went well."""
    out: list[Any] = []
    settle = syntax.statements(f"settle({status})")
    for stmt in body:
        if isinstance(stmt, gast.Return):
            out += settle
        out.append(stmt)
    if not body or not isinstance(body[-1], gast.Return):
        out += settle
    return out


def stub(kernel: Kernel) -> gast.FunctionDef:
    """The function that stands for a kernel: its text is the docstring."""
    parameters = list(kernel.given)
    parameters += [f"{t}_memory" for t in kernel.tapes]
    if kernel.tells:
        parameters.append("status")
    names = [gast.Name(p, gast.Param(), None, None) for p in dict.fromkeys(parameters)]
    arguments = gast.arguments(names, [], None, [], [], None, [])
    text = gast.Expr(syntax.const(f"\n{kernel.text}\n"))
    decorator = syntax.name(kernel.decorator)
    return gast.FunctionDef(kernel.name, arguments, [text], [decorator], None, None, [])


__all__ = ["Host", "OnDevice", "exposed", "on_device"]
