"""The statements of a kernel: control flow, numbers, and loops over elements."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    List,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    dtype_of,
    is_number,
    parts,
    rank_of,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.record import lookup
from srcjax.transforms.kernels.accepted import (
    DTYPES,
    NotCompiled,
    array_of,
    is_kernel_array,
    is_kernel_number,
    kind,
    stored_number,
)
from srcjax.transforms.kernels.groups import Group, Member, Plain, grouped
from srcjax.transforms.kernels.loops import Loops
from srcjax.transforms.kernels.numbers import Numbers, literal
from srcjax.transforms.kernels.operations import Operation, Operations, constant
from srcjax.transforms.kernels.places import (
    contraction,
    is_dots,
    is_new_axis,
    is_whole,
    seen,
    with_axis,
)
from srcjax.transforms.kernels.rows import joined
from srcjax.transforms.specialise import Typer

_MADE = {np.zeros: "zeros", np.ones: "ones", np.empty: "empty"}
_LIKE = {np.zeros_like: "zeros", np.ones_like: "ones", np.empty_like: "empty"}
#: The sum, as operations know it.
SUM: Any = lookup(np.sum)
_FILLS = {np.zeros_like: 0.0, np.ones_like: 1.0}
_CONVERSIONS = {"astype", "numpy.astype"}
_PRODUCTS = {"numpy.dot", "numpy.matmul"}


class KernelWriter:
    """Writes statements of a unit in core form as a kernel computes them."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.unit = unit
        self.typer = Typer(program, unit)
        self.types = program.types_of(unit)
        self.bound = syntax.names_written(unit.node.body) | set(unit.parameters)
        self.known: dict[int, tuple[Any, Type]] = {}
        self.operations = Operations(program.facts.callees, self.type_of)
        self.numbers = Numbers(
            self.type_of, self.operations, self.bound.__contains__, self.fresh
        )
        #: How often each name is read, in all of the unit.
        self.reads = syntax.read_counts(unit.node)
        #: Lists that were made in the kernel.
        self.lists: set[str] = set()

    # -- types -----------------------------------------------------------------------

    def type_of(self, node: gast.expr) -> Type:
        """The type of an expression, over all executions."""
        if isinstance(node, gast.Name) and node.id in self.bound:
            return self.types.get(node.id, UNKNOWN)
        found = self.known.get(id(node))
        if found is None:
            found = node, self.typer.type_of(node, self.types)
            self.known[id(node)] = found
        return found[1]

    def fresh(self, base: str) -> str:
        """A new name, which may be nested away again."""
        name = self.unit.names.fresh(base)
        self.bound.add(name)
        self.unit.temps.add(name)
        return name

    def refuse(self, stmt: Any, reason: str) -> NotCompiled:
        return NotCompiled(stmt, reason)

    # -- blocks ----------------------------------------------------------------------

    def block(self, stmts: list[Any]) -> list[gast.stmt]:
        """The statements of a block. Raises NotCompiled."""
        items = [self.item(s) for s in stmts if not syntax.is_comment(s)]
        out: list[gast.stmt] = []
        run: list[Loops] = []
        for each in grouped(items):
            if isinstance(each, Plain):
                out += joined(run)
                run = []
                out += self.plain(each.stmt)
                continue
            loops = Loops(each, self.numbers, self.type_of, self.fresh, self.is_needed)
            for member in each.members:
                loops.nest.before[0].extend(member.before)
            loops.write()
            run.append(loops)
        return out + joined(run)

    def is_needed(self, name: str, group: Group) -> bool:
        """Whether an array is read where its elements are not at hand."""
        inside = sum(
            syntax.count_reads(m.stmt, name) for m in group.members if m.name != name
        )
        return self.reads[name] > inside

    def item(self, stmt: Any) -> Member | Plain:
        """What a statement is, for those that may share a loop with it."""
        found = self.member(stmt)
        if found is not None:
            memory = [self.types.get(n, UNKNOWN) for n in found.reads]
            found.seen = ageless_buffers(NONE.union(*map(all_buffers, memory)))
            found.whole = seen_otherwise(stmt.value)
            return found
        return Plain(
            stmt,
            syntax.names_read(stmt),
            syntax.names_written(stmt),
            not self.only_binds(stmt),
        )

    def only_binds(self, stmt: Any) -> bool:
        """Whether a statement reads and writes nothing in memory: names only."""
        if not isinstance(stmt, gast.Assign):
            return False
        if not isinstance(stmt.targets[0], gast.Name):
            return False
        value = stmt.value
        if is_kernel_array(self.type_of(stmt.targets[0])):
            whole = isinstance(value, gast.Subscript) and not any(
                isinstance(n, gast.Subscript) for n in syntax.walk(value.slice)
            )
            return whole or (isinstance(value, gast.Attribute) and value.attr == "T")
        loads = self.reads_elements(value)
        calls = isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute)
        known = not calls or self.operations.of(value) is not None
        if is_dtype(self.type_of(stmt.targets[0])):
            return True
        return is_number(self.type_of(stmt.targets[0])) and not loads and known

    def reads_elements(self, value: gast.expr) -> bool:
        """Whether an expression reads an array, and not only its sizes."""
        sizes = {
            id(n.value)
            for n in syntax.walk(value)
            if isinstance(n, gast.Attribute) and n.attr in ("shape", "size", "ndim")
        }
        for node in syntax.walk(value):
            if self.is_call(node, len):
                sizes |= set(map(id, node.args))
        return any(
            isinstance(n, gast.Name)
            and id(n) not in sizes
            and isinstance(self.type_of(n), Array)
            for n in syntax.walk(value)
        )

    def member(self, stmt: Any) -> Member | None:
        """The member of a loop that a statement is; None for all others."""
        before: list[gast.stmt] = []
        found = self.member_of(self.with_parts(stmt, before))
        if found is not None:
            found.before += before
        return found

    def with_parts(self, stmt: Any, before: list[gast.stmt]) -> Any:
        """The statement with names for the parts of arrays in its operands."""
        value = getattr(stmt, "value", None)
        computes = isinstance(
            value, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)
        )
        if not computes and not isinstance(stmt, gast.AugAssign):
            return stmt

        def visit(node: gast.expr) -> gast.expr:
            if not isinstance(node, gast.Subscript) or not isinstance(
                node.value, gast.Name
            ):
                return node
            t = self.type_of(node)
            if not is_kernel_array(t) or seen(node, self.rank_of) is not None:
                return node
            name = self.fresh("part")
            self.types[name] = t
            self.reads[name] += 1
            before.extend(self.view(syntax.assign(name, node), node))
            return syntax.name(name)

        new = syntax.map_expressions(value, visit)
        if not before:
            return stmt
        changed = syntax.clone_shallow(stmt)
        changed.value = new
        return changed

    def member_of(self, stmt: Any) -> Member | None:
        """The same for a statement whose operands have names."""
        if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
            (target,) = stmt.targets
            if isinstance(target, gast.Name):
                return self.assigned(stmt, target.id)
            if isinstance(target, gast.Subscript):
                return self.stored(stmt, target)
        if isinstance(stmt, gast.AugAssign):
            return self.updated(stmt)
        return None

    def assigned(self, stmt: Any, name: str) -> Member | None:
        """The member of `y = op(...)`; None if it has no loop."""
        value, t = stmt.value, self.types.get(name, UNKNOWN)
        operation = self.contracted(value)
        if operation is None:
            operation = self.operations.of(self.spelled_out(value))
        reads = syntax.names_read(value)
        if operation is not None and operation.op.fold is not None:
            return self.folded(stmt, name, operation, reads)
        shape = shape_of(t)
        if not isinstance(t, Array) or not shape:
            return None
        if operation is None or operation.op.kernel is None:
            if is_copy(value) and operation is not None:
                (array,) = operation.operands.values()
                return Member(stmt, name, "map", shape, array, reads)
            if operation is not None and is_conversion(operation):
                array = next(iter(operation.operands.values()))
                return Member(stmt, name, "map", shape, array, reads, converts=True)
            return self.filled(stmt, name, t, operation)
        return Member(stmt, name, "map", shape, operation, reads)

    def spelled_out(self, value: gast.expr) -> gast.expr:
        """`np.outer(a, b)` as `a[:, None] * b`; others as they are."""
        operation = self.operations.of(value) if isinstance(value, gast.Call) else None
        if operation is None or operation.op.name != "numpy.outer":
            return value
        a, b = operation.operands["a"], operation.operands["b"]
        if len(operation.operands) > 2 or {self.rank_of(a), self.rank_of(b)} != {1}:
            return value
        return gast.BinOp(with_axis(a, 1, 1), gast.Mult(), b)

    def contracted(self, value: gast.expr) -> Operation | None:
        """`np.einsum("bi,bi->b", x, y)` as the sum of a product of views; else None."""
        operation = self.operations.of(value) if isinstance(value, gast.Call) else None
        if operation is None or operation.op.name != "numpy.einsum":
            return None
        first, *arrays = value.args
        text = self.option(first, None)
        if value.keywords or not isinstance(text, str) or len(arrays) > 2:
            return None
        if not all(is_kernel_array(self.type_of(a)) for a in arrays):
            return None
        found = contraction(text, arrays)
        if found is None:
            return None
        product, axes = found
        if not axes:
            return self.operations.of(product)
        along = syntax.expression(repr(axes))
        return Operation(SUM, {"a": product, "axis": along}, np.sum)

    def rank_of(self, node: gast.expr) -> int | None:
        """How many axes an array has."""
        return rank_of(self.type_of(node))

    def filled(
        self, stmt: Any, name: str, t: Array, operation: Operation | None
    ) -> Member | None:
        """The member of `np.ones_like(x)`, which nobody writes to; else None."""
        if operation is None or operation.function not in _FILLS:
            return None
        given = dict(operation.operands)
        like = given.pop("a", None)
        written = ageless_buffers(self.program.facts.written())
        if given or like is None or ageless_buffers(all_buffers(t)) & written:
            return None
        if kind(t) != "f" or not is_kernel_array(self.type_of(like)):
            return None
        number = syntax.const(_FILLS[operation.function])
        reads, shape = syntax.names_read(stmt.value), shape_of(t) or ()
        return Member(stmt, name, "map", shape, number, reads, like)

    def folded(
        self, stmt: Any, name: str, operation: Operation, reads: set[str]
    ) -> Member | None:
        """The member of a reduction of an array."""
        given = operation.operands
        if not set(given) <= {"a", "axis", "keepdims"} or "a" not in given:
            raise self.refuse(stmt, f"`{operation.op.name}` with other arguments")
        shape = shape_of(self.type_of(given["a"]))
        if not shape:
            return None
        axis = self.option(given.get("axis"), None)
        keepdims = self.option(given.get("keepdims"), False)
        if axis is ... or keepdims is ...:
            raise self.refuse(stmt, "an axis that is not known")
        axes = None
        if axis == ():
            raise self.refuse(stmt, "a reduction along no axis")
        if axis is not None:
            several = axis if isinstance(axis, tuple) else (axis,)
            axes = tuple(sorted(a % len(shape) for a in several))
        fold = Member(stmt, name, "fold", shape, operation, reads)
        fold.axes, fold.keepdims = axes, bool(keepdims)
        return fold

    def option(self, node: gast.expr | None, default: Any) -> Any:
        """The value of an argument, ... if it is not known."""
        if node is None:
            return default
        t = self.type_of(node)
        if isinstance(t, Tuple) and all(isinstance(i, Const) for i in t.items):
            return tuple(constant(i) for i in t.items)
        return constant(t)

    def stored(self, stmt: Any, target: gast.Subscript) -> Member | None:
        """The member of `u[1:-1] = a`; None where one number is stored."""
        if not is_kernel_array(self.type_of(target.value)):
            return None
        place = self.type_of(syntax.as_load(syntax.clone(target)))
        if is_kernel_number(place):
            return None
        return self.in_place(stmt, target, place, stmt.value, None)

    def updated(self, stmt: gast.AugAssign) -> Member | None:
        """The member of `u += a`; None where it is a number."""
        target = stmt.target
        if isinstance(target, gast.Subscript) and not is_kernel_array(
            self.type_of(target.value)
        ):
            raise self.refuse(stmt, "an update of what is no array")
        place = self.type_of(syntax.as_load(syntax.clone(target)))
        if is_kernel_number(place):
            return None
        value = gast.BinOp(syntax.as_load(syntax.clone(target)), stmt.op, stmt.value)
        update = self.operations.of(value)
        if update is None or update.op.kernel is None:
            raise self.refuse(stmt, "an update that has no kernel")
        return self.in_place(stmt, target, place, stmt.value, update)

    def in_place(
        self, stmt: Any, target: Any, place: Type, value: gast.expr, update: Any
    ) -> Member:
        """A store into the elements of an array, or of a part of one."""
        shape = shape_of(place)
        if not is_kernel_array(place) or shape is None:
            raise self.refuse(stmt, "what is written to is not known")
        operation = None if update is not None else self.operations.of(value)
        if operation is not None and operation.op.kernel is None:
            operation = None
        written = ageless_buffers(all_buffers(place))
        otherwise = seen_otherwise(value)
        for node in syntax.walk(value):
            if isinstance(node, gast.Name):
                t = self.type_of(node)
                same = syntax.is_name(target, node.id) and node.id not in otherwise
                shared = ageless_buffers(all_buffers(t)) & written
                if isinstance(t, Array) and shared and not same:
                    raise self.refuse(
                        stmt, "what is read shares memory with the target"
                    )
        reads = syntax.names_read(stmt)
        if isinstance(target, gast.Name):
            name, before = target.id, []
        else:
            name = self.fresh("part")
            part = syntax.as_load(syntax.clone(target))
            self.types[name] = place
            before = self.view(syntax.assign(name, part), part)
        item = Member(
            stmt,
            name,
            "store",
            shape,
            operation or value,
            reads,
            update=update,
            changed=written,
            base=syntax.root_of(target),
            before=before,
        )
        self.reads[name] += 1
        return item

    # -- statements ------------------------------------------------------------------

    def plain(self, stmt: Any) -> list[gast.stmt]:
        """One statement, with what it needs before it."""
        out: list[gast.stmt] = []
        self.numbers.emit = out.append
        writer = getattr(self, f"of_{type(stmt).__name__}", None)
        if writer is None:
            raise self.refuse(stmt, f"`{type(stmt).__name__.lower()}` in a kernel")
        out += writer(stmt)
        return out

    def of_Pass(self, stmt: gast.Pass) -> list[gast.stmt]:
        return [stmt]

    def of_Break(self, stmt: gast.Break) -> list[gast.stmt]:
        return [stmt]

    def of_Expr(self, stmt: gast.Expr) -> list[gast.stmt]:
        """`tape.append(v)`."""
        call = stmt.value
        if (
            isinstance(call, gast.Call)
            and isinstance(call.func, gast.Attribute)
            and call.func.attr == "append"
            and self.is_tape(call.func.value)
        ):
            value = self.kept(call.args[0])
            return [gast.Expr(gast.Call(call.func, [value], []))]
        raise self.refuse(stmt, "a call whose effects a kernel does not have")

    def is_tape(self, node: gast.expr) -> bool:
        """Whether the expression is a list that the kernel made."""
        return isinstance(node, gast.Name) and node.id in self.lists

    def kept(self, node: gast.expr) -> gast.expr:
        """A number or an array, as it is kept in a list."""
        t = self.type_of(node)
        if is_kernel_array(t) and isinstance(node, gast.Name):
            return node
        return self.numbers.number(node)

    def of_Raise(self, stmt: gast.Raise) -> list[gast.stmt]:
        """The function itself says what is wrong."""
        self.numbers.unless("False", stmt.exc or syntax.const(None))
        return []

    def of_Assert(self, stmt: gast.Assert) -> list[gast.stmt]:
        self.numbers.unless("x", stmt.test, x=self.truth(stmt.test))
        return []

    def of_If(self, stmt: gast.If) -> list[gast.stmt]:
        test = self.truth(stmt.test)
        return [gast.If(test, self.block(stmt.body), self.block(stmt.orelse))]

    def of_While(self, stmt: gast.While) -> list[gast.stmt]:
        if stmt.orelse:
            raise self.refuse(stmt, "a loop with an `else`")
        before: list[gast.stmt] = []
        self.numbers.emit = before.append
        test = self.truth(stmt.test)
        if before:  # what the test needs is computed in each iteration
            leave = gast.If(gast.UnaryOp(gast.Not(), test), [gast.Break()], [])
            body = [*before, leave, *self.block(stmt.body)]
            return [gast.While(syntax.const(True), body, [])]
        return [gast.While(test, self.block(stmt.body), [])]

    def truth(self, node: gast.expr) -> gast.expr:
        """The test of a branch or loop."""
        value = self.numbers.number(node)
        if kind(self.type_of(node)) == "b":
            return value
        return syntax.expression("x != 0", x=value)

    def of_For(self, stmt: gast.For) -> list[gast.stmt]:
        if stmt.orelse or not isinstance(stmt.target, gast.Name):
            raise self.refuse(stmt, "a loop over several names, or with an `else`")
        before: list[gast.stmt] = []
        self.numbers.emit = before.append
        over = self.sequence(stmt)
        if kind(self.type_of(stmt.target)) == "i":
            self.numbers.small.add(stmt.target.id)
        body = self.block(stmt.body)
        return [*before, gast.For(stmt.target, over, body, [], None)]

    def sequence(self, stmt: gast.For) -> gast.expr:
        """What a loop goes over: a range, one backwards, or an array."""
        over = stmt.iter
        if is_kernel_array(self.type_of(over)) and isinstance(over, gast.Name):
            return over
        backwards = self.is_call(over, reversed)
        inner = over.args[0] if backwards else over
        if not self.is_call(inner, range):
            raise self.refuse(stmt, f"a loop over `{syntax.text(over)}`")
        bounds = [self.numbers.whole(a) for a in inner.args]
        if not backwards:
            return syntax.call("range", *bounds)
        if len(bounds) == 1:
            bounds = [syntax.const(0), *bounds]
        if len(bounds) == 3:
            raise self.refuse(stmt, "a range with a step, backwards")
        first = less_one(bounds[1])
        return syntax.call("range", first, less_one(bounds[0]), syntax.const(-1))

    def is_call(self, node: Any, function: Any) -> bool:
        """Whether the expression is a call of a builtin."""
        if not isinstance(node, gast.Call) or node.keywords:
            return False
        owner = self.type_of(node.func)
        return isinstance(owner, Const) and owner.value is function

    def of_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """An update of one number."""
        target = stmt.target
        here = syntax.as_load(syntax.clone(target))
        value = gast.BinOp(here, stmt.op, stmt.value)
        found = self.numbers.number(value)
        if isinstance(target, gast.Name):
            return [syntax.assign(target.id, found)]
        t = self.type_of(target.value)
        found = stored_number(found, self.type_of(value), t, stmt)
        index = self.numbers.index(target.slice, target.value)
        return [
            gast.Assign(
                [gast.Subscript(target.value, index, syntax.STORE)], found, None
            )
        ]

    def of_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        (target,) = stmt.targets
        if isinstance(target, gast.Subscript):
            return self.store_number(stmt, target)
        if isinstance(target, gast.Tuple):
            return self.unpacked(stmt, target)
        if not isinstance(target, gast.Name):
            raise self.refuse(stmt, "an attribute is written to")
        return self.bind(target.id, stmt.value, stmt)

    def store_number(
        self, stmt: gast.Assign, target: gast.Subscript
    ) -> list[gast.stmt]:
        base = self.type_of(target.value)
        if not is_kernel_array(base) or not isinstance(target.value, gast.Name):
            raise self.refuse(stmt, "an item of what is no array is written to")
        value = self.numbers.number(stmt.value)
        value = stored_number(value, self.type_of(stmt.value), base, stmt)
        index = self.numbers.index(target.slice, target.value)
        place = gast.Subscript(target.value, index, syntax.STORE)
        return [gast.Assign([place], value, None)]

    def unpacked(self, stmt: gast.Assign, target: gast.Tuple) -> list[gast.stmt]:
        """`a, b = b, a + b`."""
        if not isinstance(stmt.value, gast.Tuple):
            raise self.refuse(stmt, "a tuple that is not spelled out is unpacked")
        if len(stmt.value.elts) != len(target.elts):
            raise self.refuse(stmt, "a tuple is unpacked into fewer names")
        if not all(isinstance(e, gast.Name) for e in target.elts):
            raise self.refuse(stmt, "a tuple is unpacked into other places than names")
        values = [self.kept(v) for v in stmt.value.elts]
        return [gast.Assign([target], gast.Tuple(values, syntax.LOAD), None)]

    def bind(self, name: str, value: gast.expr, stmt: Any) -> list[gast.stmt]:
        """`name = value`."""
        t = self.types.get(name, UNKNOWN)
        if syntax.is_atom(value) and not self.reads[name] or is_dtype(t):
            return []
        if is_kernel_number(t):
            taken = self.taken(value)
            if taken is None:
                operation = self.operations.of(value)
                taken = operation and self.product(operation)
            return [syntax.assign(name, taken or self.numbers.number(value))]
        if isinstance(t, Tuple) and isinstance(value, gast.Tuple):
            kept = [self.kept(v) for v in value.elts]
            return [syntax.assign(name, gast.Tuple(kept, syntax.LOAD))]
        if isinstance(t, List) and isinstance(value, gast.List) and not value.elts:
            elem = t.elem
            if elem is None or not (is_kernel_number(elem) or is_kernel_array(elem)):
                raise self.refuse(stmt, "a list of what kernels have no numbers for")
            self.lists.add(name)
            return [stmt]
        if is_kernel_array(t):
            made = self.array(name, value, t, stmt)
            if made is not None:
                return made
        if is_kernel_array(t) or parts(t):
            raise self.refuse(stmt, f"`{syntax.text(value)}` has no kernel")
        raise self.refuse(stmt, f"`{name}` is no number or array that kernels have")

    # -- arrays as a whole -----------------------------------------------------------

    def array(
        self, name: str, value: gast.expr, t: Type, stmt: Any
    ) -> list[gast.stmt] | None:
        """What makes an array, or looks at one; None if it is neither."""
        assign = syntax.assign(name, value)
        if isinstance(value, gast.Name) and is_kernel_array(self.type_of(value)):
            return [assign]
        if isinstance(value, gast.Subscript) and is_kernel_array(
            self.type_of(value.value)
        ):
            return self.view(assign, value)
        turned = isinstance(value, gast.Attribute) and value.attr == "T"
        if turned and isinstance(value.value, gast.Name):
            return [assign]
        taken = self.taken(value)
        if taken is not None:
            return [syntax.assign(name, taken)]
        operation = self.operations.of(value)
        if operation is None:
            return None
        if operation.op.name == "numpy.expand_dims":
            return self.with_new_axis(assign, operation)
        made = self.made(operation, t)
        if made is None:
            made = self.product(operation)
        return None if made is None else [syntax.assign(name, made)]

    def taken(self, value: gast.expr) -> gast.expr | None:
        """`tape.pop()`."""
        if (
            isinstance(value, gast.Call)
            and isinstance(value.func, gast.Attribute)
            and value.func.attr == "pop"
            and not value.args
            and self.is_tape(value.func.value)
        ):
            return value
        return None

    def view(self, assign: gast.Assign, value: gast.Subscript) -> list[gast.stmt]:
        """`row = A[i]`, `inner = u[1:-1]`."""
        items = (
            value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        )
        if not isinstance(value.value, gast.Name):
            raise self.refuse(assign, "a part of what has no name")
        before: list[gast.stmt] = []
        outer, self.numbers.emit = self.numbers.emit, before.append
        found: list[gast.expr] = []
        for item in items:
            if isinstance(item, gast.Slice):
                ends = [
                    None if e is None else self.numbers.whole(e)
                    for e in (item.lower, item.upper, item.step)
                ]
                found.append(gast.Slice(*ends))
            elif is_new_axis(item):
                found.append(syntax.const(None))
            elif is_dots(item):
                found.append(item)
            else:
                self.numbers.indexes = True
                found.append(self.numbers.whole(item))
        self.numbers.emit = outer
        if all(map(is_whole, found)):
            return [*before, syntax.assign(assign.targets[0].id, value.value)]
        index = found[0] if len(found) == 1 else gast.Tuple(found, syntax.LOAD)
        part = gast.Subscript(value.value, index, syntax.LOAD)
        return [*before, gast.Assign(assign.targets, part, None)]

    def with_new_axis(
        self, assign: gast.Assign, operation: Operation
    ) -> list[gast.stmt] | None:
        """`np.expand_dims(x, 1)` as `x[:, None]`."""
        array, where = operation.operands.values()
        axis, rank = self.option(where, ...), self.rank_of(array)
        if type(axis) is not int or rank is None or not isinstance(array, gast.Name):
            return None
        return self.view(assign, with_axis(array, axis % (rank + 1), rank))

    def made(self, operation: Operation, t: Type) -> gast.expr | None:
        """`np.zeros((n, m))`, `np.zeros_like(x)`, `np.full(n, 1.0)`."""
        function, given = operation.function, operation.operands
        dtype = dtype_of(t)
        if function in _LIKE and set(given) <= {"a", "prototype", "dtype"}:
            like = next(iter(given.values()))
            if not is_kernel_array(self.type_of(like)) or not isinstance(
                like, gast.Name
            ):
                return None
            rank = len(shape_of(self.type_of(like)) or ())
            shape = syntax.expression("len(x)" if rank == 1 else "x.shape", x=like)
            return array_of(_LIKE[function], shape, dtype)
        if function in _MADE and set(given) <= {"shape", "dtype"}:
            return array_of(_MADE[function], self.shape(given["shape"]), dtype)
        if function is np.full and set(given) <= {"shape", "fill_value", "dtype"}:
            shape, fill = self.shape(given["shape"]), given["fill_value"]
            value = stored_number(
                self.numbers.number(fill), self.type_of(fill), t, fill
            )
            return array_of("full", shape, dtype, value)
        return None

    def shape(self, node: gast.expr) -> gast.expr:
        """The shape of an array that is made."""
        if isinstance(node, gast.Tuple):
            return gast.Tuple([self.numbers.whole(e) for e in node.elts], syntax.LOAD)
        t = self.type_of(node)
        if isinstance(t, Tuple) and all(isinstance(i, Const) for i in t.items):
            sizes = [literal(constant(i), node) for i in t.items]
            return gast.Tuple(sizes, syntax.LOAD)
        if isinstance(t, Tuple) and isinstance(node, gast.Name):
            return node
        shape = isinstance(node, gast.Attribute) and node.attr == "shape"
        if shape and is_kernel_array(self.type_of(node.value)):
            return node
        return self.numbers.whole(node)

    def product(self, operation: Operation) -> gast.expr | None:
        """`a @ b` of matrices and vectors."""
        if operation.op.name not in _PRODUCTS or len(operation.operands) != 2:
            return None
        a, b = operation.operands.values()
        types = self.type_of(a), self.type_of(b)
        dtypes = {str(dtype_of(t)) for t in types}
        if len(dtypes) > 1 or not all(map(is_kernel_array, types)):
            return None
        if kind(types[0]) != "f" or any(len(shape_of(t) or ()) > 2 for t in types):
            return None
        if not (isinstance(a, gast.Name) and isinstance(b, gast.Name)):
            return None
        return syntax.call(syntax.expression("np.dot"), a, b)


def seen_otherwise(value: gast.expr) -> set[str]:
    """The names of arrays that an expression does not read element by element."""
    sizes = ("shape", "size", "ndim")
    return {
        syntax.root_of(n)
        for n in syntax.walk(value)
        if isinstance(n, gast.Subscript) or getattr(n, "attr", "") == "T"
        if not any(getattr(m, "attr", "") in sizes for m in syntax.walk(n))
    }


def is_copy(value: Any) -> bool:
    """Whether it is `x.copy()` or `np.copy(x)`."""
    if not isinstance(value, gast.Call) or value.keywords:
        return False
    name = value.func.attr if isinstance(value.func, gast.Attribute) else ""
    method = len(value.args) == 0
    return name == "copy" and (method or len(value.args) == 1)


def is_conversion(operation: Operation) -> bool:
    """Whether it is `x.astype(dtype)`."""
    if operation.op.name not in _CONVERSIONS:
        return False
    return len(operation.operands) == 2 and "dtype" in operation.operands


def is_dtype(t: Type) -> bool:
    """Whether a value is a dtype that kernels have."""
    value = t.value if isinstance(t, Const) else None
    if not isinstance(value, (type, np.dtype)):
        return False
    return value in (float, int, bool) or any(value in (d, d.type) for d in DTYPES)


def less_one(node: gast.expr) -> gast.expr:
    """`n - 1`."""
    if isinstance(node, gast.Constant):
        return syntax.const(node.value - 1)
    return syntax.expression("n - 1", n=node)
