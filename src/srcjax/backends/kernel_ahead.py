"""Elementary functions of what a loop does not change are computed ahead of it.

    for i in range(1, n):                  ahead = np.empty(256)
        y[i] = y[i - 1] + tanh(x[i])       for first in range(1, n, 256):
                                               last = min(first + 256, n)
                                               for k in range(last - first):
                                    ->             ahead[k] = x[first + k]
                                               for k in range(last - first):
                                                   ahead[k] = tanh(ahead[k])
                                               for i in range(first, last):
                                                   k = np.uintp(i - first)
                                                   y[i] = y[i - 1] + ahead[k]

A loop of which each iteration needs the one before computes one element at a time; the
loop ahead computes several at once. It does not go far ahead, so that little memory is
enough. An index that may be out of bounds is an error
where it was one: ahead it is only looked at whether it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.looking import MAKERS
from srcjax.backends.kernel_elementary import function_of
from srcjax.backends.kernel_memory import SMALL

#: What ends a trip, or the loop, before it is done.
_LEAVE = (gast.Break, gast.Continue, gast.Return, gast.Raise, gast.Assert, gast.Try)
#: What is computed for some trips only.
_PERHAPS = (gast.IfExp, gast.BoolOp, gast.Lambda)
#: Fewer trips take less time than to set out for two loops more.
FEW = 16
#: So many trips are computed ahead at once: what memory of a call may hold.
FAR = SMALL // 8
#: What may be computed of numbers on the way to an argument.
_PLAIN = (
    *(gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Tuple),
    *(gast.operator, gast.unaryop, gast.expr_context, gast.Call, gast.Attribute),
)
_OF_NUMBERS = ("abs", "float", "int", "len", "beside")


def computed_ahead(
    node: gast.FunctionDef,
    ranks: Sequence[int | None],
    checked: Set[str],
    is_apart: Callable[[list[Any]], bool],
) -> set[str]:
    """Compute ahead of loops what they need, in place; the words that this takes.

    Args:
        node: a kernel in which all numbers are of double precision, or whole.
        ranks: those of the arrays that it is given.
        checked: the arrays of which an index may be out of bounds.
        is_apart: whether a compiler makes vectors of a loop as it is.
    """
    if any(isinstance(getattr(n, "value", 0), complex) for n in syntax.walk(node.body)):
        return set()
    bindings = syntax.binding_counts(node.body)
    known = {
        p.id: rank
        for p, rank in zip(node.args.args, ranks, strict=True)
        if rank is not None and not bindings[p.id]
    }
    made: dict[str, int] = {}
    for stmt in syntax.walk(node.body):
        name = getattr(stmt.targets[0], "id", "") if is_assign(stmt) else ""
        if bindings[name] == 1 and syntax.dotted(getattr(stmt.value, "func", None)) in (
            MAKERS
        ):
            shape = stmt.value.args[0]
            if isinstance(shape, gast.Tuple):
                made[name] = len(shape.elts)
            elif isinstance(shape, (gast.Constant, gast.Call)):
                made[name] = 1  # a number, or `len(x)`: no `x.shape`
    names = syntax.Names(syntax.all_names(node))
    words: set[str] = set()

    def block(body: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in body:
            syntax.rewrite_blocks(stmt, block)
            if is_counted(stmt) and not is_apart(stmt.body):
                loop = Loop(stmt, known, made, checked, names)
                out += loop.written()
                words.update(loop.words)
            else:
                out.append(stmt)
        return out

    node.body = block(node.body)
    return words


def is_assign(stmt: Any) -> bool:
    """Whether it binds one name, or is stored in one place."""
    return isinstance(stmt, gast.Assign) and len(stmt.targets) == 1


def is_counted(stmt: Any) -> bool:
    """Whether it is a loop over `range`, by ones, that goes to its end."""
    if not isinstance(stmt, gast.For) or not isinstance(stmt.target, gast.Name):
        return False
    over = stmt.iter
    if not isinstance(over, gast.Call) or not syntax.is_name(over.func, "range"):
        return False
    if len(over.args) == 3 and step_of(over) is None:
        return False
    spelled = [a.value for a in over.args if isinstance(a, gast.Constant)]
    if len(spelled) == len(over.args) and len(range(*spelled)) < FEW:
        return False
    if any(isinstance(n, _LEAVE) and not is_left(n) for n in syntax.walk(stmt.body)):
        return False
    return stmt.target.id not in syntax.names_written(stmt.body)


def is_left(stmt: Any) -> bool:
    """Whether it leaves the kernel for the function itself, which begins anew."""
    return isinstance(stmt, gast.Raise) and syntax.is_name(stmt.exc, "Differs")


def step_of(over: gast.Call) -> int | None:
    """1 or -1; None for all others."""
    if len(over.args) < 3:
        return 1
    step = over.args[2]
    if isinstance(step, gast.UnaryOp) and isinstance(step.op, gast.USub):
        return -1 if getattr(step.operand, "value", 0) == 1 else None
    return {1: 1, -1: -1}.get(getattr(step, "value", 0))


@dataclass
class Loop:
    """A loop, and what is computed ahead of it."""

    loop: gast.For
    #: The ranks of the arrays that are given, and of those that the kernel makes.
    given: dict[str, int]
    made: dict[str, int]
    checked: Set[str]
    names: syntax.Names
    words: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        body = self.loop.body
        self.index = self.loop.target.id
        self.bindings = syntax.binding_counts(body)
        self.stored = {
            syntax.root_of(n)
            for n in syntax.walk(body)
            if isinstance(n, gast.Subscript) and not isinstance(n.ctx, gast.Load)
        }
        #: Whether a trip may look where the next one would not come to look.
        self.stops = any(map(is_left, syntax.walk(body)))
        #: What each trip binds before it goes on, by name.
        self.bound: dict[str, gast.expr] = {}
        #: What is computed ahead, by its text: the array of it.
        self.found: dict[str, str] = {}
        #: Those arrays, and what fills them in each part.
        self.arrays: list[Any] = []
        self.out: list[Any] = []
        self.first, self.last, self.stop = map(
            self.names.fresh, ("first", "last", "stop")
        )

    def written(self) -> list[Any]:
        """The loop, behind what is computed ahead of it."""
        if not self.stored <= set(self.made) or self.may_write_otherwise():
            return [self.loop]
        for stmt in self.loop.body:
            if not is_assign(stmt):
                continue
            perhaps = {
                id(m)
                for n in syntax.walk(stmt.value)
                if isinstance(n, _PERHAPS)
                for m in syntax.walk(n)
            }
            stmt.value = syntax.rewritten(stmt.value, self.taking(perhaps))
            name = getattr(stmt.targets[0], "id", "")
            if name and self.bindings[name] == 1:
                self.bound[name] = stmt.value
        return self.by_parts() if self.found else [self.loop]

    def by_parts(self) -> list[Any]:
        """The loop part by part, each behind what is computed ahead of it."""
        over = self.loop.iter
        ends = over.args if len(over.args) > 1 else [syntax.const(0), *over.args]
        least, step = ("min", "") if step_of(over) == 1 else ("max", "-")
        text = f"for {self.first} in range(begin, {self.stop}, {step}{FAR}):\n"
        text += f"    {self.last} = {least}({self.first} + {step}{FAR}, {self.stop})"
        (parts,) = syntax.statements(text.replace("+ -", "- "), begin=ends[0])
        by = f", {step}1" if step else ""
        self.loop.iter = syntax.expression(f"range({self.first}, {self.last}{by})")
        parts.body += [*self.out, self.loop]
        return [*self.arrays, syntax.assign(self.stop, ends[1]), parts]

    def taking(self, perhaps: Set[int]) -> Callable[[gast.expr], gast.expr]:
        """Has calls read what is computed ahead, but for those that may not run."""
        return lambda node: node if id(node) in perhaps else self.taken(node)

    def may_write_otherwise(self) -> bool:
        """Whether a call in the loop may write to an array."""
        for node in syntax.walk(self.loop.body):
            if isinstance(node, gast.Expr):
                call = node.value
                path = getattr(getattr(call, "func", None), "attr", "")
                if path != "append":
                    return True
            elif isinstance(node, gast.Call) and any(
                k.arg == "out" for k in node.keywords
            ):
                return True
        return False

    def taken(self, call: gast.expr) -> gast.expr:
        """What stands in the place of a call: an element of what is computed ahead."""
        args = arguments_of(call)
        if args is None or self.index not in self.all_read(call):
            return call
        text = syntax.text(call)
        if text not in self.found:
            if not all(is_factor(a) or self.is_known(a) for a in args):
                return call
            self.found[text] = self.computed(call, args)
        found: gast.expr = syntax.expression(
            f"{self.found[text]}[np.uintp({self.trip()})]"
        )
        for read in self.looked_at(args):  # it may not be there
            self.words.add("beside")
            found = syntax.call("beside", found, syntax.clone(read))
        return found

    def all_read(self, node: Any) -> set[str]:
        """The names that an expression reads, also by names of the trip."""
        found: set[str] = set()
        waiting = list(syntax.names_read(node))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += syntax.names_read(self.bound.get(name, []))
        return found

    def is_known(self, node: Any) -> bool:
        """Whether it is a number that no trip changes for the others."""
        if any(not isinstance(n, _PLAIN) for n in syntax.walk(node)):
            return False
        for part in syntax.walk(node):
            if isinstance(part, gast.Call) and not is_of_numbers(part):
                return False
            if isinstance(part, gast.Subscript) and not self.is_element(part):
                return False
        functions = {"np", "math", *_OF_NUMBERS}
        for name in syntax.names_read(node) - functions - {self.index}:
            if name in self.bound:
                if not self.is_known(self.bound[name]):
                    return False
            elif self.bindings[name] or name in self.stored:
                return False
        return True

    def is_element(self, node: gast.Subscript) -> bool:
        """Whether it is one number of an array that the loop does not change."""
        several = isinstance(node.slice, gast.Tuple)
        items = node.slice.elts if several else [node.slice]
        if isinstance(node.value, gast.Attribute):  # `x.shape[0]`
            return node.value.attr == "shape"
        name = getattr(node.value, "id", "")
        rank = self.given.get(name, self.made.get(name))
        if self.stops and name not in self.checked:
            return False
        return rank == len(items) and name not in self.stored

    def looked_at(self, args: list[Any]) -> list[gast.Subscript]:
        """The elements of checked arrays in expressions, the inner ones first."""
        return [
            n
            for a in args
            for n in reversed(list(syntax.walk(a)))
            if isinstance(n, gast.Subscript) and syntax.root_of(n) in self.checked
            if not isinstance(n.value, gast.Attribute)
        ]

    def trip(self) -> str:
        """Which trip of the part it is."""
        a, b = self.index, self.first
        return f"{a} - {b}" if step_of(self.loop.iter) == 1 else f"{b} - {a}"

    def computed(self, call: Any, args: list[Any]) -> str:
        """Write the loops that compute a function of each trip; the array of it."""
        trip, own = self.names.fresh("trip"), self.names.fresh(self.index)
        arrays: list[str] = []
        sign = "+" if step_of(self.loop.iter) == 1 else "-"
        for arg in args:
            if is_factor(arg):
                arrays.append("")
                continue
            name = self.names.fresh("ahead")
            arrays.append(name)
            self.arrays += syntax.statements(f"{name} = np.empty({FAR})")
            body = syntax.statements(f"{own} = {self.first} {sign} {trip}")
            holes = {self.index: own}
            self.steps(arg, holes, body)
            value = syntax.rename(syntax.clone(arg), holes)
            self.store(body, f"{name}[{trip}]", value)
            self.over(trip, body)
            self.made[name] = 1
        given = [
            syntax.clone(a) if not n else syntax.expression(f"{n}[{trip}]")
            for a, n in zip(args, arrays, strict=True)
        ]
        result = next(filter(None, arrays))
        if isinstance(call, gast.BinOp):
            value = gast.BinOp(given[0], call.op, given[1])
        else:
            value = gast.Call(syntax.clone(call.func), given, [])
        self.over(trip, syntax.statements(f"{result}[{trip}] = value", value=value))
        return result

    def over(self, trip: str, body: list[Any]) -> None:
        """Write a loop over the trips of the part."""
        a, b = self.first, self.last
        count = f"{b} - {a}" if step_of(self.loop.iter) == 1 else f"{a} - {b}"
        over = syntax.expression(f"range({count})")
        self.out.append(gast.For(syntax.name(trip, store=True), over, body, [], None))

    def steps(self, node: Any, holes: dict[str, str], body: list[Any]) -> None:
        """Write what a trip binds on the way to an expression, under other names."""
        for name in sorted(syntax.names_read(node) & set(self.bound)):
            if name in holes:
                continue
            self.steps(self.bound[name], holes, body)
            holes[name] = self.names.fresh(name)
            value = syntax.rename(syntax.clone(self.bound[name]), holes)
            self.store(body, holes[name], value)

    def store(self, body: list[Any], target: str, value: gast.expr) -> None:
        """Bind or store a value, where its elements are there."""
        value = syntax.rewritten(value, without_looking)
        reads = self.looked_at([value])
        (plain,) = syntax.statements(f"{target} = value", value=value)
        if not reads:
            body.append(plain)
            return
        self.words.add("is_there")
        tests: list[gast.expr] = []
        for read in reads:
            several = isinstance(read.slice, gast.Tuple)
            items = read.slice.elts if several else [read.slice]
            for axis, item in enumerate(items):
                array = syntax.clone(read.value)
                text = f"is_there(i, x.shape[{axis}])"
                tests.append(syntax.expression(text, i=syntax.clone(item), x=array))
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        other = syntax.statements(f"{target} = 0.0")
        body.append(gast.If(test, [plain], other))


def arguments_of(call: Any) -> list[Any] | None:
    """The arguments of an elementary function; None if it is none."""
    if isinstance(call, gast.BinOp) and isinstance(call.op, gast.Pow):
        exponent = call.right
        broken = isinstance(exponent, gast.Constant) and isinstance(
            exponent.value, float
        )
        return [call.left, exponent] if broken and exponent.value != 0.5 else None
    if not isinstance(call, gast.Call) or call.keywords:
        return None
    return list(call.args) if is_elementary(call) else None


def is_elementary(call: gast.Call) -> bool:
    """Whether there is a function that vectorises for it."""
    return function_of(syntax.dotted(call.func) or "") is not None


def is_of_numbers(call: gast.Call) -> bool:
    """Whether it is a function of numbers that writes nothing."""
    if isinstance(call.func, gast.Name):
        return call.func.id in _OF_NUMBERS
    path = syntax.dotted(call.func) or ""
    own = getattr(np, path.removeprefix("np."), None)
    return path == "np.uintp" or is_elementary(call) or isinstance(own, np.ufunc)


def without_looking(node: gast.expr) -> gast.expr:
    """An element that was computed ahead, without what is looked at beside it."""
    is_beside = isinstance(node, gast.Call) and syntax.is_name(node.func, "beside")
    return node.args[0] if is_beside else node


def is_factor(node: Any) -> bool:
    """Whether it is a float that stands there."""
    return isinstance(node, gast.Constant) and isinstance(node.value, float)
