"""The statements of a kernel: control flow, numbers, and loops over elements."""

from __future__ import annotations

import builtins
import functools
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import stored_names
from srcjax.analysis.plain import LARGEST_SIZE
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    List,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    dtype_of,
    is_number,
    parts,
    shape_of,
)
from srcjax.ops.record import lookup
from srcjax.transforms.kernels.accepted import (
    is_kernel_array,
    is_kernel_number,
    kind,
    less_one,
    other_shape,
    plus_one,
    stored_number,
)
from srcjax.transforms.kernels.apart import are_apart
from srcjax.transforms.kernels.elsewhere import (
    Elsewhere,
    found_elsewhere,
    is_array,
    looked_up,
)
from srcjax.transforms.kernels.filled import Filled
from srcjax.transforms.kernels.groups import Group, Member, Plain, grouped, is_open
from srcjax.transforms.kernels.loops import Loops
from srcjax.transforms.kernels.operations import Operation
from srcjax.transforms.kernels.places import contraction, seen, with_axis
from srcjax.transforms.kernels.rows import joined
from srcjax.transforms.kernels.spelled import spelled

#: The sum, as operations know it.
SUM: Any = lookup(np.sum)
_FILLS = {np.zeros_like: 0.0, np.ones_like: 1.0}
_CONVERSIONS = {"astype", "numpy.astype"}
#: What gives a copy of an array.
_COPIES = ("numpy.copy", "numpy.array")


class KernelWriter(Filled):
    """Writes statements of a unit in core form as a kernel computes them."""

    # -- blocks ----------------------------------------------------------------------

    def block(self, stmts: list[Any]) -> list[gast.stmt]:
        """The statements of a block. Raises NotCompiled."""
        out: list[gast.stmt] = []
        run: list[Loops] = []
        for each in grouped(self.items(stmts), self.on_cpu):
            if isinstance(each, Plain):
                out += joined(run, self.on_cpu)
                run = []
                out += of_line(self.plain(each.stmt), each.stmt)
                continue
            apart = self.strided if self.on_cpu else frozenset()
            loops = Loops(
                each, self.numbers, self.type_of, self.fresh, self.is_needed, apart
            )
            for member in each.members:
                loops.nest.before[0].extend(member.before)
            loops.write()
            run.append(loops)
        return out + joined(run, self.on_cpu)

    def items(self, stmts: list[Any]) -> list[Member | Plain]:
        """What the statements are, for those that may share a loop with them."""
        for stmt in stmts:
            self.declare_items(stmt)
        return [
            self.item(each)
            for stmt in stmts
            if not syntax.is_comment(stmt)
            for one in spelled(self, stmt)
            for each in self.apart(one)
        ]

    def is_needed(self, name: str, group: Group) -> bool:
        """Whether an array is read where its elements are not at hand."""
        return self.uses[name] > group.uses_after(name)

    def item(self, stmt: Any) -> Member | Plain:
        """What a statement is, for those that may share a loop with it."""
        found = self.member(stmt)
        if found is not None:
            memory = [self.types.get(n, UNKNOWN) for n in found.reads]
            found.seen = ageless_buffers(NONE.union(*map(all_buffers, memory)))
            found.whole = seen_otherwise(stmt.value)
            if isinstance(found.value, Elsewhere):
                found.whole |= set(found.value.arrays)
            found.open = {n for n in found.reads if self.is_open(n)}
            return found
        return Plain(
            stmt,
            syntax.names_read(stmt),
            syntax.names_written(stmt),
            not self.only_binds(stmt) or self.may_raise(stmt),
        )

    def may_raise(self, stmt: Any) -> bool:
        """Whether what was written before it is seen, where it raises."""
        if self.numbers.may_leave or not isinstance(
            stmt, (gast.Assign, gast.AugAssign)
        ):
            return False
        kinds = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)
        ops = [getattr(n, "op", None) for n in syntax.walk(stmt)]
        return any(isinstance(op, kinds) for op in ops)

    def is_open(self, name: str) -> bool:
        """Whether it is an array of which the size is not known."""
        shape = shape_of(self.types.get(name, UNKNOWN))
        return shape is not None and any(map(is_open, shape))

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
        if self.is_description(self.type_of(stmt.targets[0])):
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
            self.uses[name] += 1
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
            if isinstance(target, gast.Subscript) and not self.is_chosen(target):
                return self.stored(stmt, target)
        if isinstance(stmt, gast.AugAssign) and not self.is_chosen(stmt.target):
            return self.updated(stmt)
        return None

    def is_chosen(self, target: gast.expr) -> bool:
        """Whether a store is to places that a mask or an array of ints tells."""
        if not isinstance(target, gast.Subscript):
            return False
        place = syntax.as_load(syntax.clone(target))
        return self.mask_of(place) is not None or looked_up(self, place) is not None

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
            array = self.copied(stmt, value, operation)
            if array is not None:
                return Member(stmt, name, "map", shape, array, reads)
            if operation is not None and is_conversion(operation):
                array = next(iter(operation.operands.values()))
                return Member(stmt, name, "map", shape, array, reads, converts=True)
            found = found_elsewhere(self, stmt, value, operation, t)
            if found is not None:
                return Member(stmt, name, "map", shape, found, reads)
            return self.filled(stmt, name, t, operation)
        return Member(stmt, name, "map", shape, operation, reads)

    def copied(
        self, stmt: Any, value: gast.expr, operation: Operation | None
    ) -> gast.expr | None:
        """The array that `x.copy()` or `np.array(x)` copies; else None."""
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        array: Any = None
        if is_copy(value) and not value.args:
            array = value.func.value
        elif operation is not None and operation.op.name == "numpy.broadcast_to":
            later = self.changes_later(stmt, self.type_of(value))
            return None if later else operation.operands["x"]
        elif operation is not None and operation.op.name in _COPIES:
            array = next(iter(operation.operands.values()))
        if operation is not None and len(operation.operands) != 1:
            return None
        known = isinstance(array, gast.Name) and is_kernel_array(self.type_of(array))
        return array if known else None

    def apart(self, stmt: Any) -> list[Any]:
        """A store with copies of what it reads in the memory that it writes to."""
        update = isinstance(stmt, gast.AugAssign)
        target = stmt.target if update else None
        if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
            (target,) = stmt.targets
        if not isinstance(target, gast.Subscript) and not update:
            return [stmt]
        place = self.type_of(syntax.as_load(syntax.clone(target)))
        if not is_kernel_array(place):
            return [stmt]
        copies: dict[str, gast.expr] = {}
        out: list[Any] = []
        for name in self.sharing(target, place, stmt.value):
            t = self.type_of(syntax.name(name))
            held = self.made_of(name, replace(t, buffers=NONE))
            copies[name] = syntax.name(held)
            out.append(
                syntax.assign(held, syntax.expression("x.copy()", x=syntax.name(name)))
            )
        if not out:
            return [stmt]
        whole = not update and not are_apart(self, stmt, target, stmt.value)
        if whole and self.goes_otherwise(target, stmt.value):
            raise self.refuse(stmt, "NumPy goes through memory that overlaps in order")
        changed = syntax.clone_shallow(stmt)
        changed.value = syntax.substitute(stmt.value, copies)
        changed.origin = getattr(stmt, "origin", id(stmt))
        for each in out:
            each.origin, each.user_line = (
                changed.origin,
                getattr(stmt, "user_line", None),
            )
        return [*out, changed]

    def sharing(self, target: Any, place: Type, value: gast.expr) -> list[str]:
        """The arrays that a store reads elsewhere in the memory that it writes to."""
        written = ageless_buffers(all_buffers(place))
        otherwise = seen_otherwise(value)
        found = []
        for node in syntax.walk(value):
            if isinstance(node, gast.Name):
                t = self.type_of(node)
                same = syntax.is_name(target, node.id) and node.id not in otherwise
                shared = ageless_buffers(all_buffers(t)) & written
                if is_kernel_array(t) and shared and not same:
                    found.append(node.id)
        return list(dict.fromkeys(found))

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
        self.check_update(stmt, place, self.type_of(value))
        update = self.operations.of(value)
        if update is None or update.op.kernel is None:
            raise self.refuse(stmt, "an update that has no kernel")
        return self.in_place(stmt, target, place, stmt.value, update)

    def check_update(self, stmt: Any, place: Type, new: Type) -> None:
        """Leave what NumPy does not store in place to it: `n += 0.5` of ints."""
        dtype, held = dtype_of(new), dtype_of(place)
        if (
            dtype is None
            or held is None
            or not np.can_cast(dtype, held, casting="same_kind")
        ):
            raise self.refuse(stmt, "NumPy does not store it in an array of this dtype")
        if other_shape(shape_of(new), shape_of(place)):
            raise self.refuse(stmt, "what is stored has another shape")

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
        self.uses[name] += 1
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
            if call.func.value.id in self.descriptions:
                return []
            tree = self.tapes_of.get(call.func.value.id)
            if tree is not None:
                return self.put_on(tree, call.args[0], stmt)
            value = self.kept(call.args[0])
            return [gast.Expr(gast.Call(call.func, [value], []))]
        added = self.added_at(call) if isinstance(call, gast.Call) else None
        if added is not None:
            return added
        raise self.refuse(stmt, "a call whose effects a kernel does not have")

    def rows_as_list(
        self, name: str, value: gast.expr, t: Type
    ) -> list[gast.stmt] | None:
        """`list(x)` of an array: a list of its rows, which look at it."""
        if not isinstance(t, List) or not self.is_call(value, list):
            return None
        if len(value.args) != 1 or not is_array(self, value.args[0]):
            return None
        self.lists.add(name)
        row, array = self.fresh("row"), value.args[0]
        append = syntax.statements(f"{name}.append(x[{row}])", x=array)
        over = syntax.call("range", syntax.call("len", syntax.clone(array)))
        loop = gast.For(syntax.name(row, store=True), over, append, [], None)
        return [syntax.assign(name, gast.List([], syntax.LOAD)), loop]

    def of_Raise(self, stmt: gast.Raise) -> list[gast.stmt]:
        """The function itself says what is wrong, or the kernel, in the same words."""
        value: Any = stmt.exc or syntax.const(None)
        self.numbers.unless("False", value, self.known_error(value))
        return []

    def known_error(self, value: Any) -> Exception | None:
        """The error of `ValueError("...")`."""
        name = getattr(getattr(value, "func", None), "id", "")
        cls = getattr(builtins, name, None)
        if not (isinstance(cls, type) and issubclass(cls, Exception)):
            return None
        if not self.is_call(value, cls) or len(value.args) != 1:
            return None
        text = value.args[0]
        said = isinstance(text, gast.Constant) and isinstance(text.value, str)
        return cls(text.value) if said else None

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
        if self.counts_small(stmt):
            self.numbers.small.add(stmt.target.id)
        body = self.block(stmt.body)
        return [*before, gast.For(stmt.target, over, body, [], None)]

    def counts_small(self, stmt: gast.For) -> bool:
        """Whether a loop counts from a small number on, or down to one from such."""
        backwards = self.is_call(stmt.iter, reversed)
        over = stmt.iter.args[0] if backwards else stmt.iter
        if not self.is_call(over, range) or stmt.target.id in self.bound_outside_loops:
            return False
        first = over.args[:2] if backwards else over.args[:-1][:1]
        return all(map(self.is_small, first))

    @functools.cached_property
    def bound_outside_loops(self) -> set[str]:
        """The names that statements bind, other than loops."""
        found: set[str] = set()
        for stmt in syntax.walk(self.unit.node.body):
            if isinstance(stmt, (gast.Assign, gast.AugAssign)):
                found |= stored_names(getattr(stmt, "targets", None) or stmt.target)
        return found

    def is_small(self, node: gast.expr) -> bool:
        """Whether an int is known to be small: those that add up to it are."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            return self.is_small(node.left) and self.is_small(node.right)
        found = self.numbers.bound(node, self.type_of(node))
        return found is not None and found <= 2 * LARGEST_SIZE

    def sequence(self, stmt: gast.For) -> gast.expr:
        """What a loop goes over: a range, one backwards, or an array."""
        over = stmt.iter
        if is_kernel_array(self.type_of(over)) and isinstance(over, gast.Name):
            return over
        parts = self.displayed(over)
        types = [self.type_of(part) for part in parts or ()]
        if len(set(map(kind, types))) == 1 and all(map(is_kernel_number, types)):
            numbers = [self.numbers.number(part) for part in parts or ()]
            return gast.Tuple(numbers, syntax.LOAD)
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
            return self.backwards(stmt, *bounds)
        first = less_one(bounds[1])
        return syntax.call("range", first, less_one(bounds[0]), syntax.const(-1))

    def backwards(
        self, stmt: gast.For, a: gast.expr, b: gast.expr, step: gast.expr
    ) -> gast.expr:
        """A range with a step, from its last number to its first."""
        by = self.option(stmt.iter.args[0].args[2], ...)
        if type(by) is not int or by == 0:
            raise self.refuse(stmt, "a range with a step that is not known, backwards")
        emit = self.numbers.emit
        last, end = self.fresh("last"), syntax.const(-by)
        if by == -1:
            return syntax.call("range", syntax.expression("b + 1", b=b), plus_one(a))
        count = "(b - a + {0}) // {1}" if by > 0 else "(a - b + {0}) // {1}"
        whole = syntax.expression(count.format(abs(by) - 1, abs(by)), a=a, b=b)
        number = self.numbers.atom(whole, "count")
        text = f"a + (n - 1) * {by} if n > 0 else a - {by}"
        emit(syntax.assign(last, syntax.expression(text, a=a, n=number)))
        stop = syntax.expression(f"a - {by}", a=syntax.clone(a))
        return syntax.call("range", syntax.name(last), stop, end)

    def of_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """An update of one number, or of those that are chosen."""
        target = stmt.target
        if self.is_chosen(target):
            return self.store_in_chosen(stmt, target)
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
            if self.is_chosen(target):
                return self.store_in_chosen(stmt, target)
            return self.store_number(stmt, target)
        if isinstance(target, gast.Tuple):
            return self.unpacked(stmt, target)
        if not isinstance(target, gast.Name):
            raise self.refuse(stmt, "an attribute is written to")
        return self.bind(target.id, stmt.value, stmt)

    def store_in_chosen(self, stmt: Any, target: gast.Subscript) -> list[gast.stmt]:
        """`x[mask] = v`, `x[idx] += v`."""
        if self.shares(target.value, stmt.value):
            raise self.refuse(stmt, "what is read shares memory with the target")
        place = syntax.as_load(syntax.clone(target))
        if isinstance(stmt, gast.AugAssign):
            new = gast.BinOp(syntax.clone(place), stmt.op, stmt.value)
            self.check_update(stmt, self.type_of(place), self.type_of(new))
        mask = self.mask_of(place)
        if mask is not None:
            return self.store_chosen(stmt, target, mask)
        index = looked_up(self, place)
        assert index is not None
        return self.store_places(stmt, target, index)

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
            parts = self.taken_apart(target, stmt.value)
            if parts is None:
                raise self.refuse(stmt, "a tuple that is not spelled out is unpacked")
            if isinstance(stmt.value, gast.Name) and stmt.value.id in self.parts_of:
                return self.bound_one_by_one(target, parts, stmt)
            return self.unpacked(syntax.assign(target, gast.Tuple(parts)), target)
        if len(stmt.value.elts) != len(target.elts):
            raise self.refuse(stmt, "a tuple is unpacked into fewer names")
        if not all(isinstance(e, gast.Name) for e in target.elts):
            raise self.refuse(stmt, "a tuple is unpacked into other places than names")
        values = [self.kept(v) for v in stmt.value.elts]
        return [gast.Assign([target], gast.Tuple(values, syntax.LOAD), None)]

    def bound_one_by_one(
        self, target: gast.Tuple, parts: list[gast.expr], stmt: Any
    ) -> list[gast.stmt]:
        """`a, tape = saved`: parts of displays keep what they are."""
        if not all(isinstance(e, gast.Name) for e in target.elts):
            raise self.refuse(stmt, "a tuple is unpacked into other places than names")
        out: list[gast.stmt] = []
        for name, part in zip(target.elts, parts, strict=True):
            one = syntax.assign(name.id, part)
            one.origin = getattr(stmt, "origin", id(stmt))
            self.numbers.emit = out.append
            out += self.bind(name.id, part, one)
        return out

    def bind(self, name: str, value: gast.expr, stmt: Any) -> list[gast.stmt]:
        """`name = value`."""
        t = self.types.get(name, UNKNOWN)
        if syntax.is_atom(value) and not self.uses[name]:
            return []
        own = self.filled_by_loops(name, stmt, self.operations.of(value), t)
        if own is not None:
            return own
        if is_kernel_number(t):
            taken = self.taken(value)
            if taken is None:
                operation = self.operations.of(value)
                taken = operation and (
                    self.product(operation) or self.solved(operation)
                )
            return [syntax.assign(name, taken or self.numbers.number(value))]
        if self.is_description(t):
            return []
        handed = self.handed_on(name, value, t)
        if handed is not None:
            return handed
        display = self.display(name, value, t)
        if isinstance(t, Tuple) and isinstance(value, gast.Tuple):
            if display is not None and any(map(self.is_kept_apart, value.elts)):
                return display
            kept = [self.kept(v) for v in value.elts]
            whole = syntax.assign(name, gast.Tuple(kept, syntax.LOAD))
            return [*(display or []), whole]
        if display is not None:
            return display
        if isinstance(t, List) and isinstance(value, gast.List) and not value.elts:
            elem = t.elem
            if elem is not None and self.is_description(elem):
                self.descriptions.add(name)
                return []
            if isinstance(elem, (Tuple, List)) and elem.items is not None:
                return self.new_tapes(name, elem, stmt)
            if elem is None or not (is_kernel_number(elem) or is_kernel_array(elem)):
                raise self.refuse(stmt, "a list of what kernels have no numbers for")
            self.lists.add(name)
            return [stmt]
        rows = self.rows_as_list(name, value, t)
        if rows is not None:
            return rows
        if is_kernel_array(t):
            made = self.array(name, value, t, stmt)
            if made is not None:
                return made
        if is_kernel_array(t) or parts(t):
            raise self.refuse(stmt, f"`{syntax.text(value)}` has no kernel")
        raise self.refuse(stmt, f"`{name}` is no number or array that kernels have")


def seen_otherwise(value: gast.expr) -> set[str]:
    """The names of arrays that an expression does not read element by element."""
    sizes = ("shape", "size", "ndim")
    return {
        syntax.root_of(n)
        for n in syntax.walk(value)
        if isinstance(n, gast.Subscript) or getattr(n, "attr", "") == "T"
        if not any(getattr(m, "attr", "") in sizes for m in syntax.walk(n))
    }


def of_line(made: list[gast.stmt], stmt: Any) -> list[gast.stmt]:
    """What a statement became, which comes from the user's line that it comes from."""
    for each in syntax.walk(made):
        if isinstance(each, gast.stmt) and getattr(each, "user_line", None) is None:
            each.user_line = getattr(stmt, "user_line", None)
    return made


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
