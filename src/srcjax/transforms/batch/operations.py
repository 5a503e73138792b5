"""One operation on a batch: by its rule, by its parts, or as a loop over examples."""

from __future__ import annotations

import functools
import types as pytypes
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.axes import axis_names
from srcjax.analysis.binding import signature_of
from srcjax.analysis.counts import fixed_numbers, uncounted
from srcjax.analysis.custom import CustomBatch, CustomRule, CustomTangent
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES, SHAPE_CALLS
from srcjax.analysis.indexing import as_index
from srcjax.analysis.known_values import OPERATORS, UNARY
from srcjax.analysis.mapped import OF_EACH
from srcjax.analysis.references import BATCH_BY_RULE, BATCHED_RULE
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Const,
    Dict,
    List,
    Object,
    OrNone,
    Other,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    dtype_of,
    is_active,
    is_iterator,
    is_number,
    is_text,
    join_all,
    parts,
    present,
    same_shape,
    shape_of,
    tells,
)
from srcjax.errors import (
    ArgumentError,
    PerformanceWarning,
    SrcjaxError,
    UnsupportedError,
)
from srcjax.frontend.collective_calls import uses_collectives
from srcjax.ops.batch_kinds import align, beside_arrays, elementwise
from srcjax.ops.batching import BUILTINS, MappedCall, lift, literal
from srcjax.ops.known import known_value
from srcjax.ops.record import ATTRIBUTES, Op, lookup
from srcjax.transforms.batch.lanes import Lanes, all_active, axes_of_type, is_starred
from srcjax.transforms.call_effects import called, made_from
from srcjax.transforms.layouts import is_told, written_later
from srcjax.transforms.rule_text import flat_arguments

_CONTAINERS = (Tuple, List, Dict, Object)
#: Methods of lists and tuples that look for an item, or compare the items.
_BY_VALUE = frozenset(
    [f"{kind}.{name}" for kind in ("list", "tuple") for name in ("count", "index")]
    + ["list.remove", "list.sort"]
)

#: Functions that take a list of arrays as well as an array.
_MAKE_ARRAYS = frozenset(
    map(id, (np.array, np.asarray, np.asanyarray, np.ascontiguousarray))
)


def is_break(node: Any) -> bool:
    return isinstance(node, gast.Break)


def is_about_none(test: Any) -> bool:
    """Whether it is `x is None`, or `x is not None`."""
    if not isinstance(test, gast.Compare):
        return False
    if not isinstance(test.ops[0], (gast.Is, gast.IsNot)):
        return False
    other = test.comparators[0]
    return isinstance(other, gast.Constant) and other.value is None


#: The classes of numbers and arrays.
_OF_NUMBERS = (bool, int, float, complex, np.bool_, np.int64, np.float64, np.ndarray)
#: Calls that tell something of the class of a value.
_ABOUT_CLASSES = frozenset(["isinstance", "hasattr", "callable", "type"])


class Operations(Lanes):
    """Writes operations on batches."""

    def __init__(self, program: Any, unit: Any, callees: Any) -> None:
        super().__init__(program, unit, callees)
        #: Names that are None for all examples at a time.
        self.or_none: set[str] = set()
        for name, t in self.examples.items():
            found = None
            if isinstance(t, Unknown) and is_active(t):
                found = self.when_not_none(name)
            if found is not None:
                self.examples[name] = found
                self.or_none.add(name)

    #: How many operations became loops: those do not run for no example at all.
    loops = 0

    @property
    def may_be_none(self) -> set[str]:
        """Names that are None somewhere: nothing is computed with them there."""
        found = {n for n, t in self.examples.items() if isinstance(t, OrNone)}
        return found | self.or_none

    #: How many branches and loops around the code only some examples run.
    apart = 0

    def shapes(self, node: Any) -> Any:
        """The expression with the shapes of batches read as those of examples."""

        def visit(sub: gast.expr) -> gast.expr:
            if isinstance(sub, gast.Attribute) and sub.attr in SHAPE_ATTRIBUTES:
                base = sub.value
                if isinstance(base, gast.Name) and self.is_batch(base):
                    return self.example_shape(base, sub.attr)
            if isinstance(sub, gast.Subscript) and isinstance(
                sub.value, gast.Subscript
            ):
                return merged_shape_index(sub)
            if isinstance(sub, gast.Call) and len(sub.args) in (1, 2):
                chain = called(sub)
                base = sub.args[0]
                if chain in _ABOUT_CLASSES and self.mapped(base):
                    return self.asked_of_class(sub)
                if len(sub.args) == 2:
                    return self.size_along(sub, chain, base)
                if not (isinstance(base, gast.Name) and self.is_batch(base)):
                    return sub
                if chain == "len":
                    return syntax.expression("x.shape[1]", x=base)
                if chain in ("np.shape", "np.ndim", "np.size"):
                    return self.example_shape(base, chain[3:])
            return sub

        return syntax.map_expressions(syntax.clone(node), visit)

    def asked_of_class(self, call: gast.Call) -> gast.expr:
        """`isinstance(x, float)` and its kin, of an example: the batch is an array."""
        outcome = self.typer.type_of(call, self.examples)
        name = getattr(call.args[0], "id", "")
        alone = [
            self.typer.type_of(call, {**self.examples, name: t})
            for t in self.given(name)
        ]
        answer = outcome.value if isinstance(outcome, Const) else None
        if isinstance(answer, bool) and all(each == outcome for each in alone):
            return syntax.const(answer)
        if not isinstance(answer, bool) and isinstance(
            self.example(call.args[0]), _CONTAINERS
        ):
            return call  # the batch is one too
        if called(call) == "isinstance" and self.is_of_containers(call.args[1]):
            return call  # a batch of numbers or arrays is none, as each of them
        raise self.refuse(
            f"`{syntax.text(call)}` looks at the class of a mapped value",
            "`np.ndim(x)`, or an argument that says what `x` is",
        )

    def is_of_containers(self, classes: gast.expr) -> bool:
        """Whether no number and no array is of the classes that are asked for."""
        wanted = known_value(self.typer.type_of(classes, self.examples))
        try:
            return not any(issubclass(each, wanted) for each in _OF_NUMBERS)
        except TypeError:
            return False

    @functools.cached_property
    def example_displays(self) -> dict[str, gast.expr]:
        """Lists and tuples behind names, with the shapes of examples in them."""
        found = {}
        for name, value in self.displays.items():
            try:
                found[name] = self.shapes(value)
            except SrcjaxError:  # then the name is all there is
                continue
        return found

    def size_along(
        self, call: gast.Call, chain: str | None, base: gast.expr
    ) -> gast.expr:
        """`np.size(x, 1)` of an example."""
        if chain != "np.size" or not (
            isinstance(base, gast.Name) and self.is_batch(base)
        ):
            return call
        axis = literal(call.args[1])
        if not isinstance(axis, int):
            raise self.refuse("the size along an axis that is not known", "a number")
        shown = syntax.expression(str(axis if axis < 0 else axis + 1))
        return syntax.expression("x.shape[k]", x=base, k=shown)

    def is_batch(self, node: gast.Name) -> bool:
        """Whether the name holds an array with a batch axis."""
        t = self.example(node)
        if isinstance(t, Other) and is_active(t):
            raise self.refuse(
                f"what is asked of `{node.id}`, which is no array, may differ between "
                "examples",
                "an array",
            )
        return is_active(t) and not isinstance(t, _CONTAINERS)

    def example_shape(self, base: gast.expr, what: str) -> gast.expr:
        if what == "shape":
            return syntax.expression("x.shape[1:]", x=base)
        if what == "ndim":
            rank = self.rank(base)
            if rank is not None:
                return syntax.const(rank)
            return syntax.expression("x.ndim - 1", x=base)
        if what == "size":
            if self.rank(base) == 1:
                return syntax.expression("x.shape[1]", x=base)
            return syntax.expression("x[0].size", x=base)
        return syntax.expression("x.dtype", x=base)

    # -- values ------------------------------------------------------------------------

    def batched(self, value: gast.expr, result: Type) -> gast.expr:
        """The value of the core form on batches.

        Where nothing in it is mapped it stays as it is (and is no batch).
        """
        handler = getattr(self, f"of_{type(value).__name__}", None)
        if handler is None:
            if self.reads_mapped(value):
                raise self.refuse(
                    f"`{syntax.text(value)}` of a mapped value", "plain arithmetic"
                )
            return self.shapes(value)  # of a batch, those of an example
        self.check_atoms(value)
        made: gast.expr = handler(value, result)
        return made

    def check_atoms(self, value: gast.expr) -> None:
        """Each operand has a name: what stands inside another gets no batch axis."""
        for operand in operands_of(value):
            if not syntax.is_atom(operand) and self.reads_mapped(operand):
                raise self.refuse(
                    f"`{syntax.text(operand)}` of mapped values inside an expression",
                    "a name for it",
                )

    def reads_mapped(self, value: Any) -> bool:
        """Whether the expression depends on a mapped value (not only on shapes)."""
        kept = self.shapes(value)
        return any(
            isinstance(n, gast.Name)
            and isinstance(n.ctx, gast.Load)
            and is_active(self.examples.get(n.id, UNKNOWN))
            for n in _outside_shapes(kept, self.is_keyed)
        )

    def is_keyed(self, node: Any) -> bool:
        """Whether the value is a dict: which keys it has is the same for all."""
        return isinstance(node, gast.Name) and isinstance(self.example(node), Dict)

    def of_Name(self, value: gast.Name, _: Type) -> gast.expr:
        return syntax.clone(value)

    def of_Constant(self, value: gast.Constant, _: Type) -> gast.expr:
        return value

    def of_Dict(self, value: Any, _: Type) -> gast.expr:
        kept: gast.expr = self.shapes(value)
        return kept

    def of_Tuple(self, value: Any, result: Type) -> gast.expr:
        value = self.written_out(value)
        if is_starred(value) and is_active(result):
            elem = getattr(result, "elem", None) or UNKNOWN
            elements = [self.one_of_many(e, elem) for e in value.elts]
            value = type(value)(elements, syntax.LOAD)
        kept: gast.expr = self.shapes(value)
        return kept

    of_List = of_Tuple

    def one_of_many(self, element: gast.expr, elem: Type) -> gast.expr:
        """An element of `[a, *xs]`, whose items all are batches of the type."""
        if not isinstance(element, gast.Starred):
            found: gast.expr = self.spread(element, self.example(element), elem, None)
            return found
        t = self.example(element.value)
        if isinstance(t, Array) and is_active(t):
            rows = syntax.expression("np.moveaxis(x, 1, 0)", x=element.value)
            return gast.Starred(rows, syntax.LOAD)
        if isinstance(t, Unknown) or not all_active(t):
            raise self.refuse(
                f"`*{syntax.text(element.value)}` in a container of mapped values",
                "a loop that appends the items",
            )
        return element

    def of_BinOp(self, value: gast.BinOp, result: Type) -> gast.expr:
        operands = [value.left, value.right]
        if not any(map(self.mapped, operands)):
            return self.shapes(value)
        if any(isinstance(self.example(o), _CONTAINERS) for o in operands):
            return syntax.clone(value)
        op = lookup(OPERATORS[type(value.op)])
        assert op is not None
        return self.apply(op, value, operands, {}, result)

    def of_UnaryOp(self, value: gast.UnaryOp, result: Type) -> gast.expr:
        if not self.mapped(value.operand):
            return self.shapes(value)
        if isinstance(value.op, gast.Not):
            return self.negated(value.operand)
        op = lookup(UNARY[type(value.op)])
        assert op is not None
        return self.apply(op, value, [value.operand], {}, result)

    def negated(self, operand: gast.expr) -> gast.expr:
        """`not c` for each example."""
        t = self.example(operand)
        if isinstance(t, Unknown):
            mask = syntax.call("true_for", operand, self.count())
            return gast.UnaryOp(gast.Invert(), mask)
        boolean = getattr(t, "dtype", None) is not None and t.dtype.kind == "b"  # type: ignore[attr-defined]
        text = "~c" if boolean else "np.logical_not(c)"
        return syntax.expression(text, c=operand)

    def of_BoolOp(self, value: gast.BoolOp, result: Type) -> gast.expr:
        if not any(map(self.mapped, value.values)):
            return self.shapes(value)
        self.check_effects(value.values[1:])
        name = "logical_and" if isinstance(value.op, gast.And) else "logical_or"
        total = syntax.clone(value.values[0])
        for other in value.values[1:]:
            total = syntax.call(f"np.{name}", total, syntax.clone(other))
        return total

    def check_effects(self, values: Iterable[Any]) -> None:
        """What is computed for some examples only must not be felt by the others."""
        found = self.felt.first(values)
        if found is not None:
            raise self.felt_by_others(found)

    def felt_by_others(self, node: Any) -> Exception:
        """The error that some examples do what the others feel."""
        what = f"`{syntax.text(node)}` for some of the examples"
        return self.refuse(what, "a call before the branch")

    def of_Compare(self, value: gast.Compare, _: Type) -> gast.expr:
        operands = [value.left, *value.comparators]
        if not self.reads_mapped(value):
            return self.shapes(value)
        if isinstance(value.ops[0], (gast.Is, gast.IsNot)):
            names = [o.id for o in operands if isinstance(o, gast.Name)]
            if is_about_none(value) and len(names) == 1 and names[0] in self.or_none:
                return syntax.clone(value)
            known = self.typer.type_of(value, self.examples)
            if isinstance(known, Const):
                return syntax.const(known.value)
        if isinstance(value.ops[0], (gast.In, gast.NotIn, gast.Is, gast.IsNot)):
            raise self.refuse(
                f"`{syntax.text(value)}` of a mapped value", "a comparison of numbers"
            )
        ranks = [self.rank(o) for o in operands]
        types = [self.example(o) for o in operands]
        if all(isinstance(t, (Tuple, List, Dict)) for t in types):
            raise self.refuse(
                f"`{syntax.text(value)}` compares containers of mapped values",
                "a comparison of numbers",
            )
        if None in ranks:
            aligned = align(list(zip(operands, types, strict=True)))
            vague = any(isinstance(t, Unknown) and is_active(t) for t in types)
            if aligned is None or vague:  # it may be a container of batches
                raise self.refuse("a comparison of values of unknown rank", "an array")
            return gast.Compare(aligned[0], value.ops, aligned[1:])
        highest = max(r for r in ranks if r is not None)
        new = [lift(o, t, highest) for o, t in zip(operands, types, strict=True)]
        new = [
            beside_arrays(n, t, types, np.dtype(bool))
            for n, t in zip(new, types, strict=True)
        ]
        return gast.Compare(new[0], value.ops, new[1:])

    def when_not_none(self, name: str) -> Type | None:
        """The type of a name that is None for all examples at a time, where it is not.

        It is so where no branch or loop that examples leave on their own binds it, and
        all that it is given is surely None, or surely not. None for other names.
        """
        if name in self.bound_apart:
            return None
        given = self.given(name)
        others = [t for t in given if t != Const(value=None)]
        kinds = (Array, Scalar, List, Tuple, Dict, Object)
        known = len(others) < len(given) and all(isinstance(t, kinds) for t in others)
        return join_all(others) if known else None

    def given(self, name: str) -> list[Type]:
        """What each statement that binds the name gives it, for one example."""
        inside = syntax.all_statements(self.unit.node.body)
        binding = [s for s in inside if name in syntax.names_written(syntax.head(s))]
        if name in self.unit.parameters:
            binding.append(self.unit.node)
        variants = [v for stmt in binding for v in self.facts.of(stmt)]
        return [v.after[name] for v in variants if name in v.after]

    @functools.cached_property
    def bound_apart(self) -> set[str]:
        """Names that are bound where the examples go their own ways."""
        found: set[str] = set()
        for stmt in syntax.walk(self.unit.node.body):
            if not isinstance(stmt, (gast.If, gast.While, gast.For)):
                continue
            inside = [s for s in syntax.walk(stmt) if isinstance(s, gast.If)]
            left = [s for s in inside if any(map(is_break, syntax.walk(s)))]
            if any(map(self.may_differ, [stmt, *left])):
                found |= syntax.names_written(stmt)
        return found

    def may_differ(self, stmt: Any) -> bool:
        """Whether examples may go their own ways at the head of a statement."""
        heads = [stmt.test] if isinstance(stmt, (gast.If, gast.While)) else [stmt.iter]
        return any(
            self.reads_mapped(head) and not is_about_none(head) for head in heads
        )

    def of_Attribute(self, value: gast.Attribute, result: Type) -> gast.expr:
        base = value.value
        if not self.mapped(base) or value.attr in SHAPE_ATTRIBUTES:
            return self.shapes(value)
        t = self.example(base)
        if isinstance(t, (Object, Tuple)):
            return syntax.clone(value)
        op = ATTRIBUTES.get(value.attr)
        if op is None:
            raise self.refuse(
                f"attribute `{value.attr}` of a mapped value is not known",
                "a function of NumPy",
            )
        return self.apply(op, value, [base], {}, result)

    # -- items -------------------------------------------------------------------------

    def of_Subscript(self, value: gast.Subscript, _: Type) -> gast.expr:
        base, index = value.value, value.slice
        kept = self.shapes(value)
        if not self.reads_mapped(value):
            return kept
        t = self.example(base)
        if isinstance(t, _CONTAINERS):
            if self.index_mapped(index):
                whole = is_number(self.example(index)) and not self.mapped(base)
                if whole and is_table(t, self.written):
                    return syntax.expression("np.array(v)[i]", v=base, i=index)
                raise self.refuse(
                    "an item of a container at a mapped index", "an array"
                )
            new: gast.expr = syntax.clone(value)
            new.slice = self.shapes(index)
            return new
        if isinstance(t, Unknown):
            raise self.refuse(
                f"whether `{syntax.text(base)}` is an array or a container is not "
                "known",
                "known types",
            )
        found = self.item(base, index)
        if getattr(found, "per_example_mask", False):
            raise self.refuse(
                "how many items a mask takes differs between examples",
                "`np.where` with the mask",
            )
        number = self.typer.type_of(value, self.examples)
        if is_number(number) and t.buffers & self.written:
            copy = syntax.expression("v.copy()", v=found)  # a number, not a view
            copy.of_numbers = True
            return copy
        return found

    def index_mapped(self, index: Any) -> bool:
        """Whether an entry of the index is mapped."""
        if isinstance(index, gast.Slice):
            bounds = [b for b in (index.lower, index.upper, index.step) if b]
            return any(map(self.reads_mapped, bounds))
        if isinstance(index, gast.Tuple):
            return any(map(self.index_mapped, index.elts))
        return self.reads_mapped(index)

    def item(self, base: gast.expr, index: Any, place: bool = False) -> gast.expr:
        """`x[index]` for each example; or the place of an assignment."""
        index = self.spelled(index)
        entries = list(index.elts) if isinstance(index, gast.Tuple) else [index]
        entries = [self.shapes(e) for e in entries]
        mapped_base = self.mapped(base)
        advanced = [self.index_mapped(e) for e in entries]
        if not any(advanced):
            return gast.Subscript(
                syntax.clone(base), self.after_batch(entries), syntax.LOAD
            )
        found = self.gathered(base, entries, mapped_base, advanced)
        if place and isinstance(found, gast.Call):
            raise self.refuse("a store at a mapped index after a slice", "a moved axis")
        return found

    def spelled(self, index: Any) -> Any:
        """`:, i` of a name that is bound to `np.s_[:, i]` alone."""
        t = self.example(index) if isinstance(index, gast.Name) else None
        if not isinstance(t, Tuple) or t.cls is slice:
            return index  # as most are: the whole unit need not be looked at
        given = fixed_numbers(self.unit.node)
        made = getattr(given.get(index.id), "value", None)
        if not isinstance(made, gast.Subscript):
            return index
        if getattr(self.example(made.value), "value", None) is not np.s_:
            return index
        fixed = syntax.names_read(made.slice) <= given.keys()
        return syntax.clone(made.slice) if fixed else index

    def after_batch(self, entries: list[Any]) -> Any:
        """`i, j` as `:, i, j`: NumPy's order of axes has to be the example's."""
        whole = gast.Slice(None, None, None)
        if len(entries) == 1 and self.is_ellipsis(entries[0]):
            return entries[0]
        single = len(entries) == 1 and isinstance(entries[0], gast.Name)
        t = self.example(entries[0]) if single else None
        if isinstance(t, Unknown) or (isinstance(t, List) and t.cls is tuple):
            raise self.refuse("an index that may be a tuple", "known types")
        if isinstance(t, Tuple) and t.cls is not slice:
            self.check_together(list(t.items))
            return syntax.expression("(slice(None), *i)", i=entries[0])
        self.check_together([self.type_of_entry(e) for e in entries])
        return gast.Tuple([whole, *entries], syntax.LOAD)

    def check_together(self, entries: list[Type]) -> None:
        """Index arrays that are apart have their axes in front, also of the batch's."""
        others = [t for t in entries if not keeps_axes(t)]
        arrays = not all(map(is_number, others))
        apart = arrays and not side_by_side([not keeps_axes(t) for t in entries])
        told = all(is_number(t) or isinstance(t, (Array, List, Tuple)) for t in others)
        if apart or (len(others) > 1 and not told):
            raise self.refuse("index arrays on axes that are apart", "one step each")

    def type_of_entry(self, e: Any) -> Type:
        """The type of an entry of an index, for one example."""
        if isinstance(e, gast.Slice):
            return Tuple(cls=slice)
        if isinstance(e, gast.Constant):
            return Const(value=e.value)
        return as_index(self.example(e))

    def is_ellipsis(self, e: Any) -> bool:
        return isinstance(e, gast.Constant) and e.value is ...

    def adjacent(self, entries: list[Any]) -> bool:
        """Whether integers and index arrays stand side by side."""
        return side_by_side([not keeps_axes(self.type_of_entry(e)) for e in entries])

    def gathered(
        self, base: gast.expr, entries: list[Any], mapped_base: bool, advanced: list
    ) -> gast.expr:
        """Items at indices that differ between examples."""
        ranks = []
        joined: dict[int, gast.expr] = {}
        for e, differs in zip(entries, advanced, strict=True):
            if isinstance(e, gast.Slice):
                if differs:
                    raise self.refuse(
                        "a slice whose bounds differ between examples",
                        "an index, or a mask",
                    )
                continue
            if isinstance(e, gast.Constant) and e.value in (None, ...):
                raise self.refuse("`None` or `...` beside a mapped index", "one by one")
            t = self.example(e)
            dtype = dtype_of(t)
            if differs and dtype is not None and dtype.kind == "b":
                return self.masked_item(base, entries, mapped_base)
            rank = rank_of_list(t) if isinstance(t, List) else self.rank(e)
            if isinstance(t, List) and differs:
                joined[id(e)] = self.joined_numbers(e, t)
            if rank is None:
                raise self.refuse("an index of unknown rank", "known types")
            ranks.append(rank)
        highest = max(ranks)
        if joined and highest > 1:
            raise self.refuse("a list beside an index of more axes", "np.array")
        if not self.adjacent(entries):
            raise self.refuse("mapped indices on axes that are apart", "one by one")
        new: list[Any] = []
        for e in entries:
            new.append(
                e
                if isinstance(e, gast.Slice)
                else joined.get(id(e)) or lift(e, self.example(e), highest) or e
            )
        lead = next(k for k, e in enumerate(entries) if not isinstance(e, gast.Slice))
        if not mapped_base:
            key = new[0] if len(new) == 1 else gast.Tuple(new, syntax.LOAD)
            taken = gast.Subscript(syntax.clone(base), key, syntax.LOAD)
            if not lead:
                return taken
            return syntax.expression(f"np.moveaxis(x, {lead}, 0)", x=taken)
        lanes = syntax.expression("np.arange(n)", n=self.count())
        if highest:
            nones = ", ".join(["None"] * highest)
            lanes = syntax.expression(f"r[:, {nones}]", r=lanes)
        taken = gast.Subscript(
            syntax.clone(base), gast.Tuple([lanes, *new], syntax.LOAD), syntax.LOAD
        )
        if not lead or not highest:
            return taken
        # index arrays that a slice parts from `lanes` have their axes in front
        front = tuple(range(1, highest + 1))
        after = tuple(range(lead + 1, lead + highest + 1))
        if highest == 1:
            return syntax.expression(f"np.moveaxis(x, 1, {lead + 1})", x=taken)
        return syntax.expression(f"np.moveaxis(x, {front}, {after})", x=taken)

    def joined_numbers(self, e: Any, t: List) -> gast.expr:
        """`[k, p]` as an array for each example, whichever of the two differ."""
        if t.items is None or not all(map(is_number, t.items)):
            raise self.refuse("a list of arrays as an index", "`np.array` of it")
        parts = e.elts if isinstance(e, gast.List) else [gast.Starred(e, syntax.LOAD)]
        spread = gast.Call(syntax.expression("np.broadcast_arrays"), parts, [])
        return syntax.expression("np.stack(v, axis=1)", v=spread)

    def masked_item(self, base: gast.expr, entries: list, mapped_base: bool) -> Any:
        """`x[mask]` of a mask per example: only as the place of an assignment."""
        whole = len(entries) == 1 and mapped_base
        if not whole or self.rank(base) != self.rank(entries[0]):
            raise self.refuse(
                "how many items a mask takes differs between examples",
                "`np.where` with the mask",
            )
        found = gast.Subscript(syntax.clone(base), entries[0], syntax.LOAD)
        found.per_example_mask = True
        return found

    # -- calls -------------------------------------------------------------------------

    def of_Call(self, value: gast.Call, result: Type) -> gast.expr:
        found = self.facts.callees.get(id(value), [])
        callee = found[0] if len(found) == 1 else None
        if isinstance(callee, str):
            if callee in _BY_VALUE and self.reads_mapped(value):
                raise self.refuse(
                    f"`{syntax.text(value)}` compares mapped values",
                    "a comparison of numbers",
                )
            return self.container_method(value, result)
        operands = [*value.args, *(k.value for k in value.keywords)]
        method = isinstance(value.func, gast.Attribute) and (
            isinstance(value.func.value, gast.Name)
            and value.func.value.id in self.examples
            # of `xp = np` or a known object it is a function that is found there
            and not isinstance(self.examples[value.func.value.id], Const)
        )
        if method:
            operands.append(value.func.value)
        collective = self.is_collective(callee)
        if collective and self.apart:
            raise self.refuse(
                f"`{syntax.text(value.func)}` needs all the examples of the batch, and "
                "only some of them come here: a branch or loop around it depends on "
                "the example",
                "the collective before the branch or loop, for all examples",
            )
        if not collective and not any(map(self.mapped, operands)):
            if self.reads_mapped(value):
                raise self.refuse(
                    f"`{syntax.text(value)}` looks at mapped values", "arrays"
                )
            return self.shapes(value)
        self.check_class(value, callee, result)
        function = called(value)
        if function in ("sorted", "sum", "any", "all", "zip", "map", "filter"):
            raise self.refuse(f"`{function}` of mapped values", "a function of NumPy")
        if function in SHAPE_CALLS or function in _ABOUT_CLASSES:
            return self.shapes(value)
        if isinstance(callee, Op):
            args, keywords = self.operands_of(value, method)
            return self.apply(callee, value, args, keywords, result)
        if isinstance(callee, (pytypes.FunctionType, pytypes.MethodType)):
            batched = self.unit_call(value, callee)
            if batched is not None:
                return batched
        if function in ("list", "tuple", "dict", "object.__new__") or isinstance(
            callee, type
        ):
            return self.structural(value)
        if function in ("int", "float", "bool") and len(value.args) == 1:
            return syntax.expression(
                "x.astype(t)", x=value.args[0], t=syntax.name(function)
            )
        if isinstance(callee, (CustomRule, CustomTangent)):
            return self.with_rule(value, callee)
        if isinstance(callee, CustomBatch):
            return self.by_rule(value, callee)
        return self.looped(value, result)

    def with_rule(
        self, value: gast.Call, callee: CustomRule | CustomTangent
    ) -> gast.expr:
        """A call of a function with a rule of its own, which its batch has as well."""
        value = self.positional(value, callee.function)
        types = [self.example(a) for a in value.args]
        axes = tuple(map(axes_of_type, types))
        try:
            made = BATCHED_RULE.value(callee, types, axes)
        except UnsupportedError as error:
            shown = syntax.text(value.func)
            raise self.refuse(f"`{shown}`: {error}", "`custom_jvp`") from None
        name = self.callees.constant(f"{callee.__name__}_batch", made)
        return gast.Call(syntax.name(name), list(map(self.shapes, value.args)), [])

    def by_rule(self, value: gast.Call, callee: CustomBatch) -> gast.expr:
        """A call of a function with a batched form of its own."""
        if callee.rule is None:
            raise self.refuse(
                f"`{callee.__name__}` was made by custom_vmap but has no rule",
                f"`{callee.__name__}.def_vmap(rule)`",
                ArgumentError,
            )
        value = self.positional(value, callee.function)
        types = [self.example(a) for a in value.args]
        made = BATCH_BY_RULE.value(callee, types)
        name = self.callees.constant(f"{callee.__name__}_batch", made)
        args = list(map(self.shapes, value.args))
        return gast.Call(syntax.name(name), [self.count(), *args], [])

    def check_class(self, value: gast.Call, callee: Any, result: Type) -> None:
        """An object is made of the values of one example, not of a batch of them."""
        home = getattr(callee, "__module__", None) or ""
        masked = home == "numpy.ma" or home.startswith("numpy.ma.")
        plain = (list, tuple, dict)
        made = isinstance(callee, type) and not isinstance(result, _CONTAINERS)
        if masked or (made and callee not in plain):
            raise self.refuse(
                f"`{syntax.text(value.func)}` of mapped values",
                "an array, a tuple, a dict or a dataclass",
            )

    def is_collective(self, callee: Any) -> bool:
        """Whether the call is about all examples: itself, or by what it calls."""
        if isinstance(callee, Op):
            return callee.collective
        function = getattr(callee, "__func__", callee)
        return id(function) in self.program.units and uses_collectives(function)

    def differs(self, value: gast.expr) -> bool:
        """Whether the value of an expression is another one for each example."""
        found = self.facts.callees.get(id(value), [])
        callee = found[0] if len(found) == 1 else None
        part = isinstance(value, (gast.Subscript, gast.Attribute))
        if part and isinstance(self.example(value.value), _CONTAINERS):
            index = getattr(value, "slice", None)
            if index is not None and self.index_mapped(index):
                return True
            return self.mapped(value)  # one part may differ, and another one not
        collective = self.is_collective(callee)
        function = getattr(callee, "__func__", callee)
        batched = function is callee and id(function) in self.program.units
        if not isinstance(callee, Op) and (batched or collective):
            if not (collective or self.reads_mapped(value)):
                return False  # other calls of the function give what differs
            return is_active(self.program.result_of(function) or UNKNOWN)
        if not collective or not isinstance(callee, Op):
            return self.reads_mapped(value)
        keywords = {k.arg: k.value for k in value.keywords}
        bound = flat_arguments(callee.bind(value.args, keywords))
        names = axis_names(self.example(bound["axis_name"]))
        if self.program.axis_name in (names or ()):
            return callee.name in OF_EACH
        return self.reads_mapped(value)

    def structural(self, value: gast.Call) -> gast.expr:
        """`list(xs)`, `Point(x, y)`: the same container of batches."""
        if any(
            self.is_batch(a)
            for a in value.args
            if isinstance(a, gast.Name) and called(value) in ("list", "tuple")
        ):
            a = value.args[0]
            if not isinstance(self.example(a), Array):
                raise self.refuse(
                    f"`{syntax.text(value)}` of what may be an array or a container",
                    "a function for each",
                )
            return syntax.call(
                syntax.clone(value.func), syntax.expression("np.moveaxis(x, 1, 0)", x=a)
            )
        kept: gast.expr = self.shapes(value)
        return kept

    def container_method(self, value: gast.Call, result: Type) -> gast.expr:
        """Containers hold batches; which items there are is the same for all."""
        keys = [a for a in value.args if self.is_key(value, a)]
        if any(map(self.mapped, keys)):
            raise self.refuse("a container with a mapped key", "an array")
        new: gast.Call = syntax.clone(value)
        base = self.example(value.func.value)
        elem = next((p for p in parts_of(base) if is_active(p)), None)
        method = value.func.attr
        absent = method in ("get", "pop") and not is_active(result)
        if elem is not None and method == "extend":
            elem = List(elem=elem)
        if elem is not None and not absent:
            new.args = [
                self.shapes(a)
                if self.is_key(value, a)
                else self.spread(self.shapes(a), self.example(a), elem, None)
                for a in value.args
            ]
        return new

    def is_key(self, value: gast.Call, node: gast.expr) -> bool:
        """Whether an argument of a container method is an index or key."""
        method = value.func.attr
        first = value.args[0] is node
        return first and method in ("insert", "pop", "get", "setdefault")

    def unit_call(self, value: gast.Call, callee: Any) -> gast.expr | None:
        """`g_vmap(...)` of another function."""
        function = getattr(callee, "__func__", callee)
        unit = self.program.units.get(id(function))
        if unit is None or function is not callee:
            return None
        signature = signature_of(unit.node.args, unit.source)
        bound = signature.bind(
            *value.args, **{k.arg: k.value for k in value.keywords}
        ).arguments
        if any(isinstance(v, (tuple, dict)) for v in bound.values()):
            raise self.refuse("`*args` in this call", "write the arguments out")
        wanted = self.callees.active(unit)
        types = self.program.types_of(unit)
        args: list[Any] = []
        for name in unit.parameters:
            given: Any = bound.get(name)
            if given is None:
                default = unit.source.defaults.get(name)
                given = syntax.name(self.callees.constant(f"{name}_default", default))
                if syntax.is_literal(default):
                    given = syntax.const(default)
            if name in wanted:
                want = types.get(name, UNKNOWN)
                have = self.example(given)
                given = self.spread(self.shapes(given), have, want, None)
            args.append(given)
        (name,) = self.callees.names_of(unit)
        call = gast.Call(syntax.name(name), [*args, self.count()], [])
        return made_from(call, value)

    def apply(
        self,
        op: Op,
        value: gast.expr,
        args: list[gast.expr],
        keywords: dict[Any, gast.expr],
        result: Type,
    ) -> gast.expr:
        """An operation on batches, by its batch rule."""
        if op.inert and isinstance(result, Const) and type(result.value) is bool:
            return syntax.const(result.value)  # types tell it
        try:
            bound = flat_arguments(op.bind(args, keywords))
        except TypeError as error:
            if op.collective:
                raise self.refuse(f"`{op.name}`: {error}", "its arguments") from None
            return self.looped(value, result, op)
        bound = {n: v for n, v in bound.items() if v != ()}
        rule = op.batch or (elementwise if op.elementwise else None)
        call = MappedCall(
            op,
            value,
            bound,
            lambda node: self.type_in(op, node),
            result,
            self.count(),
            self.example_displays,
            self.program.axis_name,
            self.is_changed(result, *bound.values()),
        )
        made = rule(call) if rule is not None else None
        if made is None and op.collective:
            raise self.refuse(
                f"`{syntax.text(value)}`: the structure of the value, or the axis, is "
                "not known when the code is written",
                "an array or a container of known items, and a literal axis",
            )
        if made is not None:
            made = self.of_arrays(made, op)
            if op.alias in ("maybe", "view"):
                made = self.of_own_memory(op, made, value, bound, result)
        return self.looped(value, result, op) if made is None else made

    def type_in(self, op: Op, node: Any) -> Type:
        """The type of an operand, which is no None where it is computed with."""
        t = self.type_of_bound(node)
        return present(t) if op.elementwise else t

    def of_own_memory(
        self,
        op: Op,
        made: gast.expr,
        value: gast.expr,
        bound: dict[str, Any],
        result: Type,
    ) -> gast.expr:
        """The batch of what may be a view, and is written to: as for an example.

        What is made of a number is new. Of an array `layouts` has settled what it is.
        """
        stmt = getattr(self.stmt, "origin", self.stmt)
        if hasattr(value, "parted"):
            return made  # nothing but `apart` reads it
        operands = [self.type_of_bound(node) for node in bound.values()]
        memory = all_buffers(result)
        if result == UNKNOWN:
            memory = NONE.union(*map(all_buffers, operands))
        if not written_later(self.program, self.unit, stmt, memory):
            return made
        mapped = list(filter(is_active, operands))
        if all(map(is_number, mapped)):
            return syntax.expression("v.copy()", v=made)
        told = is_told(op, value)
        if (
            told
            or op.alias == "view"
            or not any(all_buffers(t) & memory for t in mapped)
        ):
            return made
        raise self.refuse(
            f"`{syntax.text(value)}` may or may not share memory with an array that is "
            "written in place",
            "copy it first: `.copy()`",
        )

    def is_changed(self, result: Type, *nodes: Any) -> bool:
        """Whether the result or an operand is written in place somewhere."""
        written = self.facts.written()
        types = [result, *map(self.type_of_bound, nodes)]
        return any(all_buffers(t) & written for t in types)

    def of_arrays(self, made: gast.expr, op: Op) -> gast.expr:
        """`math.sin(x)`, `max(a, b)` of batches: NumPy's function of the same value."""
        if not isinstance(made, gast.Call):
            return made
        t = self.typer.type_of(made.func, self.examples)
        called = getattr(t, "value", None)
        if getattr(called, "__module__", "") not in ("math", "builtins", "_operator"):
            return made
        plain = BUILTINS.get(getattr(called, "__name__", ""))
        if plain is not None:
            made.func = syntax.expression(plain)
            return made
        for function in op.functions:
            name = getattr(function, "__name__", "")
            if not isinstance(function, np.ufunc):
                continue
            if getattr(np, name, None) is function:
                made.func = syntax.expression(f"np.{name}")
            else:
                made.func = syntax.name(self.callees.constant(name, function))
            return made
        return made

    def type_of_bound(self, node: Any) -> Type:
        if isinstance(node, tuple):
            return Tuple(items=tuple(map(self.example, node)))
        return self.example(node)

    def looped(self, value: gast.expr, result: Type, op: Op | None = None) -> gast.expr:
        """The operation example by example: right, visible, and slow."""
        names = sorted(
            {
                n.id
                for n in _outside_shapes(value)
                if isinstance(n, gast.Name)
                and is_active(self.examples.get(n.id, UNKNOWN))
            }
        )
        if any(isinstance(self.examples[n], _CONTAINERS) for n in names):
            raise self.refuse(
                f"`{syntax.text(value)}` has no batch rule and takes a container",
                "arrays",
            )
        shown = syntax.text(getattr(value, "func", value))
        if is_text(result) or tells(result):
            raise self.refuse(
                f"`{shown}` makes text of a mapped value", "the text outside of vmap"
            )
        if isinstance(value, gast.Attribute) and not isinstance(
            result, (Array, Scalar)
        ):
            raise self.refuse(f"`{shown}` is about one array", "known types")
        makes_array = op is not None and not _MAKE_ARRAYS.isdisjoint(
            map(id, op.functions)
        )
        if makes_array and any(isinstance(self.examples[n], Unknown) for n in names):
            raise self.refuse(  # the items of a list are no examples
                f"what `{shown}` gets may be an array or a list", "known types"
            )
        base = getattr(getattr(value, "func", None), "value", None)
        unknown = isinstance(base, gast.Name) and isinstance(
            self.examples.get(base.id), Unknown
        )
        if unknown and not hasattr(np.ndarray, value.func.attr):
            raise self.refuse(
                f"whether `{syntax.text(base)}` is a container is not known",
                "known types",
            )
        if op is None and isinstance(result, Unknown):
            raise self.refuse(
                f"whether `{shown}` gives an array or a container is not known",
                "known types",
            )
        if not is_active(result) and not isinstance(result, Unknown) and names:
            # The same for all examples, as inference has it: a size, a class.
            firsts = {n: syntax.expression("x[0]", x=syntax.name(n)) for n in names}
            return syntax.substitute(value, firsts)
        if not self.callees.may_loop:
            refusal = self.refuse(
                f"`{shown}` has no batch rule", "a loop over the examples"
            )
            refusal.asks_for_loop = True
            raise refusal
        if is_of_any_size(uncounted(result)):
            raise self.refuse(
                f"how many items `{shown}` gives may differ between examples",
                "`np.where(condition, x, 0)` in its place",
            )
        memory = self.written & all_buffers(result)
        if op is not None:  # what it gives may have no memory in its type
            memory = self.written if op.alias != "fresh" else NONE
        if any(self.examples[n].buffers & memory for n in names):
            raise self.refuse(
                f"`{shown}` has no batch rule and shares memory that is written to",
                "a copy",
            )
        self.loops += 1
        warnings.warn(
            PerformanceWarning(
                f"vmap: `{shown}` has no batch rule; it runs in a loop over the batch"
            ),
            stacklevel=2,
        )
        items = [self.unit.names.fresh(f"{n}_k") for n in names]
        renamed = {n: syntax.name(i) for n, i in zip(names, items, strict=True)}
        each = syntax.substitute(value, renamed)
        if len(names) == 1:
            target: Any = syntax.name(items[0], store=True)
            over: gast.expr = syntax.name(names[0])
        else:
            stores = [syntax.name(i, store=True) for i in items]
            target = gast.Tuple(stores, syntax.STORE)
            over = syntax.call("zip", *map(syntax.name, names))
        comprehension = gast.ListComp(each, [gast.comprehension(target, over, [], 0)])
        if isinstance(result, Tuple):
            columns = syntax.call("zip", gast.Starred(comprehension, syntax.LOAD))
            return syntax.expression("tuple(map(np.stack, c))", c=columns)
        if isinstance(result, (List, Dict, Object)):
            raise self.refuse(
                f"`{shown}` has no batch rule and gives a container", "arrays"
            )
        return syntax.call("np.stack", comprehension)


def operands_of(value: Any) -> list[gast.expr]:
    """What an operator is applied to; nothing for all else."""
    if isinstance(value, gast.BinOp):
        return [value.left, value.right]
    if isinstance(value, gast.UnaryOp):
        return [value.operand]
    if isinstance(value, gast.Compare):
        return [value.left, *value.comparators]
    return list(value.values) if isinstance(value, gast.BoolOp) else []


def rank_of_list(t: List) -> int | None:
    """The rank of an array of the numbers in a list, and in the lists in it."""
    elements = parts_of(t)
    if not elements:
        return None
    first = elements[0]
    if isinstance(first, List):
        inner = rank_of_list(first)
        return None if inner is None else 1 + inner
    return 1 if all(map(is_number, elements)) else None


def keeps_axes(t: Type) -> bool:
    """Whether an entry of an index is a slice, `None` or `...`."""
    if isinstance(t, Const):
        return t.value is None or t.value is ... or isinstance(t.value, slice)
    return isinstance(t, Tuple) and t.cls is slice


def side_by_side(flags: list[bool]) -> bool:
    """Whether those that are set have none that is not between them."""
    first, last = flags.index(True), len(flags) - flags[::-1].index(True)
    return all(flags[first:last])


def is_of_any_size(t: Type) -> bool:
    """Whether it is an array of a size that no type tells, or holds one."""
    if isinstance(t, Tuple):
        return any(map(is_of_any_size, t.items))
    return isinstance(t, Array) and t.shape is not None and None in t.shape


def parts_of(t: Type) -> tuple[Type, ...]:
    from srcjax.analysis.types import parts

    return parts(t)


def is_table(t: Type, written: Buffers) -> bool:
    """Whether it is a list or tuple of numbers, or of arrays of one shape.

    Those of an array of it are no views of the arrays: nothing is written to them.
    """
    items = parts(t) if isinstance(t, (List, Tuple)) and not is_iterator(t) else ()
    if any(all_buffers(part) & written for part in items):
        return False
    shapes = [() if is_number(part) else shape_of(part) for part in items]
    kinds = {getattr(dtype_of(part), "kind", "") for part in items}
    known = None not in shapes and all(same_shape(shapes[0], s) for s in shapes)
    return bool(items) and known and kinds <= set("iuf")


def merged_shape_index(node: gast.Subscript) -> gast.expr:
    """`x.shape[1:][k]` as `x.shape[k + 1]`."""
    inner: Any = node.value
    is_shape = (
        isinstance(inner.value, gast.Attribute)
        and inner.value.attr == "shape"
        and isinstance(inner.slice, gast.Slice)
        and isinstance(inner.slice.lower, gast.Constant)
        and inner.slice.upper is None
    )
    if not is_shape:
        return node
    offset = inner.slice.lower.value
    key = node.slice
    if isinstance(key, gast.Constant) and isinstance(key.value, int) and key.value >= 0:
        return gast.Subscript(inner.value, syntax.const(key.value + offset), node.ctx)
    negative = isinstance(key, gast.UnaryOp) and isinstance(key.op, gast.USub)
    if negative:
        return gast.Subscript(inner.value, key, node.ctx)
    return node


def _outside_shapes(
    node: Any, is_keyed: Callable[[Any], bool] = lambda node: False
) -> list[Any]:
    """The nodes of an expression that tell more of a value than its structure.

    Left out is what stands below `.shape` and the like, and the dicts whose keys are
    listed or looked for (`is_keyed`).
    """
    found: list[Any] = []

    def visit(sub: Any) -> None:
        if isinstance(sub, gast.Attribute) and sub.attr in SHAPE_ATTRIBUTES:
            return
        if isinstance(sub, gast.Call):
            function = called(sub)
            if function in SHAPE_CALLS:
                return
            listed = function in ("list", "tuple", "sorted") and len(sub.args) == 1
            if listed and not sub.keywords and is_keyed(sub.args[0]):
                return
        within = isinstance(sub, gast.Compare) and isinstance(
            sub.ops[0], (gast.In, gast.NotIn)
        )
        if within and is_keyed(sub.comparators[0]):
            visit(sub.left)
            return
        if isinstance(sub, gast.AST):
            found.append(sub)
            for key, value in sub.__dict__.items():
                if key != "ctx":
                    visit(value)
        elif isinstance(sub, list):
            for item in sub:
                visit(item)

    visit(node)
    return found


__all__ = ["Operations"]
