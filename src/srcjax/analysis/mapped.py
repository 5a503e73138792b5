"""Which values are different for each example of a batch.

Under `types.mapping`, a type is `active` where the value depends on a mapped argument:
by what it is computed from, and by which branch or how many iterations led to it. Once
each name stands for one value, a name that is mapped anywhere is mapped everywhere:
it holds a batch.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.axes import axis_names
from srcjax.analysis.binding import Env
from srcjax.analysis.effects import Missed
from srcjax.analysis.flow.control import own_breaks
from srcjax.analysis.flow.looking import (
    SHAPE_ATTRIBUTES,
    SHAPE_BUILTINS,
    SHAPE_FUNCTIONS,
)
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.known_values import truth
from srcjax.analysis.program import Facts
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Closure,
    Const,
    Dict,
    Earlier,
    List,
    Object,
    Other,
    Range,
    Scalar,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    is_active,
    parts,
    with_active,
)
from srcjax.analysis.uniform import Uniform, lifted
from srcjax.frontend.collective_calls import uses_collectives
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op, native

_CONTAINERS = (Tuple, List, Dict, Object)
#: Collectives that give each example a value of its own.
OF_EACH = frozenset(
    f"srcjax.{name}"
    for name in ("axis_index", "psum_scatter", "ppermute", "all_to_all")
)
#: Builtins that build or look at containers: their parts tell what is mapped.
_STRUCTURAL = SHAPE_BUILTINS | {
    "range",
    "zip",
    "enumerate",
    "reversed",
    "list",
    "tuple",
    "dict",
    "sorted",
    "getattr",
}


class MappedInterpreter(Interpreter):
    """Infers example types, `active` where values are mapped."""

    #: For each loop around the statement, whether examples may leave it on their own.
    leaves: list[bool]

    remembers = False  # what is in several lanes is noted on the way

    def __init__(self, program: Any) -> None:
        super().__init__(program)
        self.leaves = []
        self.batches: set[tuple[int, str]] = set()
        #: Names that were given what is no batch, as far as was known then.
        self.singles: set[tuple[int, str]] = set()
        self.uniform = Uniform()
        self.outside: dict[int, set[str]] = {}
        #: How often the names of a unit are used, those that statements bind, and the
        #: identities of the nodes that are in them.
        self.everywhere: dict[int, tuple[Any, Counter[str]]] = {}
        self.binding: dict[int, tuple[Any, set[str]]] = {}
        self.nodes_inside: dict[int, tuple[Any, frozenset[int]]] = {}
        #: Types of the operands of the expression at hand, by the id of their node.
        self.types_inside: dict[int, Type] = {}

    def run(self, unit: Unit, arguments: Env) -> Type:
        """Execute the unit until no more names turn out to hold batches."""
        self.outside.clear()
        while True:
            known = self.uniform.size
            self.singles.clear()
            found = super().run(unit, self.given(unit, arguments))
            if not self.settled or self.missing:
                return found
            more = self.batches & self.singles or self.uniform.size != known
            if not self.uniform.learn(self.program) and not more:
                return found
            self.program.facts = self.facts = Facts()
            self.outcomes.clear()
            self.ends.clear()
            self.stack.clear()
            self.provisional.clear()

    def enter(self, unit: Unit, arguments: Env) -> None:
        """A parameter that holds a batch holds one wherever it is assigned again."""
        if self.settled:
            key = id(unit.source.func)
            self.batches |= {(key, n) for n, t in arguments.items() if is_active(t)}

    def given(self, unit: Unit, arguments: Env) -> Env:
        """The arguments of a call: a batch where the parameter holds one anywhere.

        Of a container each part is, or is not, a batch.
        """
        self.enter(unit, arguments)
        key = id(unit.source.func)
        return {
            n: t if parts(t) else self.as_elsewhere((key, n), t)
            for n, t in arguments.items()
        }

    def as_elsewhere(self, key: tuple[int, str], value: Type) -> Type:
        """What a name is given: a batch where it holds one anywhere."""
        if not self.settled or is_active(value) or isinstance(value, (Closure, Other)):
            return value
        if key in self.batches:
            return with_active(value, True)
        self.singles.add(key)
        return value

    def assign(self, stmt: gast.stmt, target: Any, value: Type, env: Env) -> None:
        if isinstance(target, gast.Name) and self.settled:
            key = (id(self.unit.source.func), target.id)
            if is_active(value):
                self.batches.add(key)
            value = self.as_elsewhere(key, value)
            if key in self.uniform.names:
                value = with_active(value, True)
        super().assign(stmt, target, self.uniform.applied(value), env)

    def store(
        self, stmt: gast.stmt, target: gast.Subscript, base: Type, value: Type, env: Env
    ) -> None:
        """What is written at a place of each example differs between examples."""
        places = self.index_types(target.slice, env, self.eval)
        if not isinstance(base, _CONTAINERS) and not isinstance(value, Closure):
            value = self.marked(value, places)
        super().store(stmt, target, base, value, env)

    def update(self, base: Type, env: Env, change: Any) -> list[str]:
        before = dict(env)
        changed = super().update(base, env, change)
        self.take_batches(before, changed, env)
        return changed

    def vary(self, written: Buffers, env: Env) -> list[str]:
        before = dict(env)
        changed = super().vary(written, env)
        self.take_batches(before, changed, env)
        return changed

    def take_batches(self, before: Env, changed: list[str], env: Env) -> None:
        """Note names that came to hold batches when types of some were changed."""
        if not self.settled:
            return
        applied = self.uniform.all_applied(env)
        env.update(applied)
        for name in {*changed, *applied}:
            old = before.get(name)
            if is_active(env[name]) and (old is None or not is_active(old)):
                self.batches.add((id(self.unit.source.func), name))

    def call_unit(self, unit: Unit, arguments: Env) -> Type:
        key = id(unit.source.func)
        if not any(map(is_active, arguments.values())):
            return super().call_unit(unit, arguments)
        arguments = {
            n: with_active(t, True) if (key, n) in self.uniform.names else t
            for n, t in arguments.items()
        }
        found = super().call_unit(unit, self.given(unit, arguments))
        known = self.uniform.results.get(key)
        return found if known is None else lifted(found, known)

    # -- expressions -------------------------------------------------------------------

    def eval(self, node: Any, env: Env) -> Type:
        outer, self.types_inside = self.types_inside, {}
        try:
            outer[id(node)] = found = self.found_of(node, env)
        finally:
            self.types_inside = outer
        return found

    def found_of(self, node: Any, env: Env) -> Type:
        """The type of an expression, mapped if what it is made of is."""
        found = self.uniform.applied(super().eval(node, env))
        if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp)):
            return self.marked(found, self.operand_types(node, env))
        if isinstance(node, gast.Subscript):
            base = self.part(node.value, env)
            index = self.index_types(node.slice, env, self.part)
            if self.settled and isinstance(base, _CONTAINERS) and is_any(node.slice):
                key = id(self.unit.source.func), getattr(node.value, "id", "")
                self.uniform.one_for_all(base, key)
            if not isinstance(base, _CONTAINERS):
                index = [*index, base]
            of = node.value
            if isinstance(of, gast.Attribute) and of.attr in SHAPE_ATTRIBUTES:
                return found
            return self.marked(found, index)
        return found

    def part(self, node: Any, env: Env) -> Type:
        """The type of an operand, which was found on the way to that of the whole."""
        known = self.types_inside.get(id(node))
        return self.eval(node, env) if known is None else known

    def marked(self, t: Type, operands: list[Type]) -> Type:
        """The type, mapped if one of the operands is."""
        if any(map(is_active, operands)) and not isinstance(t, (Closure, Range)):
            return with_active(t, True)
        return t

    def operand_types(self, node: Any, env: Env) -> list[Type]:
        if isinstance(node, gast.BinOp):
            nodes = [node.left, node.right]
        elif isinstance(node, gast.UnaryOp):
            nodes = [node.operand]
        elif isinstance(node, gast.BoolOp):
            nodes = list(node.values)
        else:
            nodes = [node.left, *node.comparators]
            if any(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops):
                return []
            if any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
                nodes = [n for n in nodes if not isinstance(self.part(n, env), Dict)]
        found = [self.part(n, env) for n in nodes]
        if any(isinstance(t, _CONTAINERS) for t in found) and isinstance(
            node, gast.BinOp
        ):
            return [t for t in found if not isinstance(t, _CONTAINERS)]
        return found

    def index_types(self, node: Any, env: Env, of: Callable) -> list[Type]:
        """The types of the places in an index, as `of` tells them."""
        if isinstance(node, gast.Slice):
            bounds = [b for b in (node.lower, node.upper, node.step) if b is not None]
            return [of(b, env) for b in bounds]
        if isinstance(node, gast.Tuple):
            return [t for e in node.elts for t in self.index_types(e, env, of)]
        return [of(node, env)]

    def attribute(self, base: Type, name: str, node: gast.AST | None) -> Type:
        found = super().attribute(base, name, node)
        if isinstance(base, (Array, Scalar, Unknown)) and name not in SHAPE_ATTRIBUTES:
            return self.marked(found, [base])
        return found

    def apply(
        self, op: Op | None, function: Any, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        found = super().apply(op, function, args, kwargs, node)
        if op is not None and op.collective:
            return with_active(found, self.is_own(op, args, kwargs))
        if op is not None and (op.name in SHAPE_FUNCTIONS or isinstance(found, Const)):
            return found  # types tell it, which all examples have
        operands = [*args, *kwargs.values()]
        if any(isinstance(t, _CONTAINERS) for t in (found, *args[:2])) and op is None:
            return found
        return self.marked(found, operands)

    def is_own(self, op: Op, args: list[Type], kwargs: dict) -> bool:
        """Whether each example has its own value of a collective."""
        bound = op.bind(args, kwargs)
        names = axis_names(bound.get("axis_name"))
        if names is not None and self.program.axis_name in names:
            return op.name in OF_EACH
        return any(map(is_active, bound.values()))

    def is_followed(self, function: Any, active: bool) -> bool:
        return active or (self.recording and uses_collectives(function))

    def special(
        self, value: Any, args: list[Type], kwargs: dict, node: Any, env: Env
    ) -> Type | None:
        found = super().special(value, args, kwargs, node, env)
        if found is None:
            return None
        if isinstance(found, Range) and any(map(is_active, args)):
            return Range(True)
        name = getattr(value, "__name__", "")
        structural = name in _STRUCTURAL and value is getattr(builtins, name, None)
        return found if structural else self.marked(found, args)

    def call(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        value = function.value if isinstance(function, Const) else None
        if any(map(is_active, [*args, *kwargs.values()])):
            op = native(value, args, kwargs)
            if op is not None:
                self.callee(node, op)
                return self.apply(op, value, args, kwargs, node)
        found = super().call(function, args, kwargs, node, env)
        if isinstance(value, type) and value in (int, float, bool, complex):
            return self.marked(found, args)
        name = getattr(value, "__name__", "")
        if value is getattr(builtins, name, object()) and name not in _STRUCTURAL:
            return self.marked(found, args)
        return found

    # -- control flow ------------------------------------------------------------------

    def branch(self, stmt: gast.If, env: Env) -> Env | None:
        test = self.eval(stmt.test, env)
        mapped = is_active(test) and truth(test) is None
        end = super().branch(stmt, env)
        if not mapped:
            return end
        if self.leaves and own_breaks([stmt]):
            self.leaves[-1] = True
        return self.depends(stmt, end)

    def depends(self, stmt: Any, end: Env | None) -> Env | None:
        """What the statement may have changed is different for each example."""
        if end is None:
            return None
        end = dict(end)
        written = sorted(self.written_in_blocks(stmt) & end.keys())
        names = [n for n in written if not isinstance(end[n], (Closure, Other))]
        if not self.unit.varying.issuperset(names):
            self.vary_after_all(set(names) - self.unit.varying)
        for name in names:
            end[name] = with_active(end[name], True)
            if self.settled and name in self.read_outside(stmt):
                self.batches.add((id(self.unit.source.func), name))
        memory = self.memory_written_in(stmt)
        if not memory:
            return end
        memory = memory.union(map(Earlier, memory))
        if any(memory_seen(t) & memory for t in end.values()):
            for buffer in memory:  # views of dicts are looked at one by one
                self.update(Dict(buffers=frozenset([buffer])), end, _mapped)
        self.vary(memory, end)
        return end

    def require(self, name: str) -> None:
        """As in other modes, but all names at once: each would take a round."""
        if name not in self.unit.varying:
            self.vary_after_all({name})

    def vary_after_all(self, names: set[str]) -> None:
        """Names that normalisation took to be the same for all examples are not."""
        if self.tentative:
            raise Missed(self.unit, names)
        self.miss(self.unit, names)

    def read_outside(self, stmt: Any) -> set[str]:
        """Names of the unit that are read beyond the statement."""
        found = self.outside.get(id(stmt))
        if found is None:
            unit = self.unit.node
            if id(unit) not in self.everywhere:
                self.everywhere[id(unit)] = unit, syntax.use_counts(unit.body)
            _, everywhere = self.everywhere[id(unit)]
            here = syntax.use_counts(stmt)
            found = {n for n, count in everywhere.items() if count > here[n]}
            self.outside[id(stmt)] = found
        return found

    def memory_written_in(self, stmt: Any) -> Buffers:
        """The memory that a statement with blocks writes to."""
        if not self.facts.writes:
            return NONE
        if id(stmt) not in self.nodes_inside:
            self.nodes_inside[id(stmt)] = stmt, frozenset(map(id, syntax.walk(stmt)))
        _, nodes = self.nodes_inside[id(stmt)]
        places = [b for key, b in self.facts.writes.items() if key in nodes]
        return ageless_buffers(NONE.union(*places))

    def written_in_blocks(self, stmt: Any) -> set[str]:
        """The names that a statement with blocks binds."""
        if id(stmt) not in self.binding:
            self.binding[id(stmt)] = stmt, syntax.names_written(stmt)
        return self.binding[id(stmt)][1]

    def for_loop(self, stmt: gast.For, env: Env) -> Env | None:
        over = self.eval(stmt.iter, env)
        self.leaves.append(isinstance(over, Range) and is_active(over))
        end = super().for_loop(stmt, env)
        return self.depends(stmt, end) if self.leaves.pop() else end

    def while_loop(self, stmt: gast.While, env: Env) -> Env | None:
        self.leaves.append(False)
        end = super().while_loop(stmt, env)
        return self.depends(stmt, end) if self.leaves.pop() else end


def is_any(index: Any) -> bool:
    """Whether the index may be another one each time the code runs."""
    if isinstance(index, gast.UnaryOp):
        index = index.operand
    return not isinstance(index, (gast.Constant, gast.Slice, gast.Tuple))


def memory_seen(t: Type) -> Buffers:
    """The memory of the dict that the type is a view of."""
    view = getattr(t, "view", None)
    return (view.memory if view else None) or NONE


def _mapped(t: Type) -> Type:
    return with_active(t, True)


__all__ = ["MappedInterpreter"]
