"""Types of expressions, by kind of node."""

from __future__ import annotations

import builtins
import inspect
import types as pytypes
from collections import defaultdict
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.applied import is_plain
from srcjax.analysis.array_likes import array_of, is_list
from srcjax.analysis.binding import BoundTo, Env, sized
from srcjax.analysis.calls import Calls
from srcjax.analysis.containers import element
from srcjax.analysis.counts import cut, is_plain_bound, selected
from srcjax.analysis.effects import UNROLLED, Missed
from srcjax.analysis.foreign import (
    PRODUCT,
    as_array,
    is_matrix_product,
    is_sparse,
    is_sparse_dot,
    own_class,
    own_method,
    takes_over,
)
from srcjax.analysis.indexing import entries_of, is_index_array, is_mask, row_count
from srcjax.analysis.known_values import COMPARISONS, OPERATORS, UNARY, compare, truth
from srcjax.analysis.standard import is_standard
from srcjax.analysis.types import (
    BOOL,
    INT,
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Other,
    Range,
    Scalar,
    Stale,
    Told,
    Tuple,
    Type,
    Unknown,
    View,
    aged,
    all_buffers,
    dtype_of,
    is_active,
    is_mapping,
    is_number,
    join,
    join_all,
    rank_of,
    replace,
    shape_of,
)
from srcjax.frontend.unit import parameter_names
from srcjax.ops.record import METHODS, lookup

#: `np.newaxis`.
NOTHING = Const(value=None)


def index_joins(owner: Any) -> bool:
    """Whether it is `np.r_` or `np.c_`."""
    return owner is np.r_ or owner is np.c_


def made_of_items(node: Any) -> set[int]:
    """The lambdas of a comprehension that differ from item to item."""
    targets = set().union(*(syntax.names_written(g.target) for g in node.generators))
    return {
        id(made)
        for made in syntax.walk(node.elt)
        if isinstance(made, gast.Lambda) and targets & taken_from_around(made)
    }


def taken_from_around(node: gast.Lambda) -> set[str]:
    """The names that a lambda reads where it is made, or when it is called."""
    inside = syntax.names_read(node.body) - set(parameter_names(node.args))
    return inside | syntax.names_read(
        [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    )


class Expressions(Calls):
    """Infers the type of each kind of expression."""

    def of_Constant(self, node: gast.Constant, env: Env) -> Type:
        return Const(value=node.value)

    def of_Name(self, node: gast.Name, env: Env) -> Type:
        found = env.get(node.id)
        if isinstance(found, Stale):
            raise self.refuse(
                node,
                f"`{node.id}` is a view of a dict that has changed since",
                "the view where it is used, or a `list(...)` of it",
            )
        if found is not None:
            return found
        try:
            value = self.program.look(self.unit, node.id)
        except KeyError:
            return UNKNOWN
        if isinstance(value, (int, tuple)) and self.program.is_whole(
            self.unit, node.id
        ):
            return sized(value)
        return self.program.type_around(value, node.id)

    def of_Slice(self, node: gast.Slice, env: Env) -> Type:
        parts_ = [
            Const(value=None) if p is None else self.eval(p, env)
            for p in (node.lower, node.upper, node.step)
        ]
        return Tuple(items=tuple(parts_), cls=slice)

    def of_Tuple(self, node: gast.Tuple, env: Env) -> Type:
        items = self.display(node.elts, env)
        if items is None:
            elems = [self.eval(getattr(e, "value", e), env) for e in node.elts]
            elem = join_all(
                self.element(t) if isinstance(e, gast.Starred) else t
                for e, t in zip(node.elts, elems, strict=True)
            )
            return List(elem=elem, cls=tuple)
        return Tuple(items=tuple(items))

    def of_List(self, node: gast.List, env: Env) -> Type:
        as_tuple = self.of_Tuple(node, env)
        buffers = frozenset([id(node)])
        self.facts.nodes.append(node)
        if isinstance(as_tuple, Tuple):
            return List(False, buffers, as_tuple.items)
        return List(False, buffers, None, getattr(as_tuple, "elem", None))

    def rows(self, t: Type) -> list[Type] | None:
        """The items of an array of few, as `f(*x)` passes them; None if not known."""
        count = row_count(t)
        if count is None:
            return None
        return [self.subscript(t, Const(value=i), None) for i in range(count)]

    def display(
        self, nodes: list, env: Env, in_call: bool = False
    ) -> list[Type] | None:
        """Types of the items of a display or argument list; None if not known."""
        items: list[Type] = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                held = self.eval(node.value, env)
                inner = self.iteration(held)
                if inner is None:
                    inner = self.rows(held) if in_call else None
                if inner is None:
                    return None
                items.extend(inner)
            else:
                items.append(self.eval(node, env))
        return items

    def of_Dict(self, node: gast.Dict, env: Env) -> Type:
        self.facts.nodes.append(node)
        buffers = frozenset([id(node)])
        pairs: dict[Any, Type] = {}
        loose: list[Type] = []
        for key, value in zip(node.keys, node.values, strict=True):
            t = self.eval(value, env)
            if key is None:
                if isinstance(t, Dict) and t.items is not None:
                    pairs.update(t.items)
                else:  # the values: `self.element` of a dict is a key of it
                    loose.append(element(t) if isinstance(t, Dict) else self.element(t))
                continue
            k = self.eval(key, env)
            self.check_key(node, k)
            if isinstance(k, Const):
                pairs[k.value] = t
            else:
                loose.append(t)
        if loose:
            return Dict(False, buffers, None, join_all([*loose, *pairs.values()]))
        return Dict(False, buffers, tuple(pairs.items()))

    def of_IfExp(self, node: gast.IfExp, env: Env) -> Type:
        outcome = truth(self.eval(node.test, env))
        self.note_outcome(node, outcome)
        if outcome is True:
            return self.eval(node.body, env)
        if outcome is False:
            return self.eval(node.orelse, env)
        return join(self.maybe(node.body, env), self.maybe(node.orelse, env))

    def note_outcome(self, node: gast.If | gast.IfExp, outcome: bool | None) -> None:
        """What a test was, where it is known."""
        if self.recording:
            self.facts.tests.setdefault(id(node), set()).add(outcome)
            self.facts.nodes.append(node)

    def of_BoolOp(self, node: gast.BoolOp, env: Env) -> Type:
        values: list[Type] = []
        for number, part in enumerate(node.values):
            t = self.maybe(part, env) if number else self.eval(part, env)
            outcome = truth(t)
            if outcome is isinstance(node.op, gast.Or):
                values.append(t)
                break
            if outcome is None or part is node.values[-1]:
                values.append(t)
        return join_all(values) or UNKNOWN

    def of_Compare(self, node: gast.Compare, env: Env) -> Type:
        operands = [self.eval(n, env) for n in (node.left, *node.comparators)]
        results = []
        for op, a, b in zip(node.ops, operands, operands[1:], strict=False):
            self.check_comparison(op, a, b, node)
            results.append(compare(op, a, b))
        if len(results) == 1 and isinstance(results[0], Array):
            self.facts.nodes.append(node)
            return replace(results[0], buffers=frozenset([id(node)]))
        if len(results) == 1:
            return results[0]
        outcomes = [truth(r) for r in results]
        if any(o is False for o in outcomes):
            return Const(value=False)
        return Const(value=True) if all(outcomes) else BOOL

    def check_comparison(self, op: Any, left: Type, right: Type, node: Any) -> None:
        """A comparison gives a truth value, unless a class says otherwise."""
        if type(op) not in COMPARISONS or not any(map(is_active, (left, right))):
            return
        plain = COMPARISONS[type(op)].__name__
        swapped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(plain, plain)
        for owner, name in ((left, plain), (right, swapped)):
            cls = own_class(owner)
            method = own_method(cls, f"__{name}__")
            if method is not None and not is_standard(method):
                raise self.refuse(
                    node,
                    f"`__{name}__` of a {cls.__name__} compares differentiated values, "
                    "and may give more than a truth value",
                    "a method with a name, or a comparison of numbers",
                )

    def of_UnaryOp(self, node: gast.UnaryOp, env: Env) -> Type:
        operand = self.eval(node.operand, env)
        if not isinstance(node.op, gast.Not):
            operand = self.there(operand, node.operand, env)
        function = UNARY[type(node.op)]
        if isinstance(node.op, gast.Not):
            outcome = truth(operand)
            return BOOL if outcome is None else Const(value=not outcome)
        method = self.method_behind(function, [operand])
        if method is not None:
            self.callee(node, method)
            self.check_written(node, [operand])
            return self.call_function(method.function, [operand], {}, node)
        return self.apply(lookup(function), function, [operand], {}, node)

    def of_BinOp(self, node: gast.BinOp, env: Env) -> Type:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        left = self.there(left, node.left, env)
        right = self.there(right, node.right, env)
        function = OPERATORS[type(node.op)]
        if all(type(t) is Array or is_plain(t) for t in (left, right)):
            return self.apply(lookup(function), function, [left, right], {}, node)
        if is_matrix_product(function, left, right):
            return self.matrix_product(left, right, node)
        method = self.operator_method(function, left, right)
        if method is not None:
            other = right if method.owner is left else left
            self.callee(node, method)
            self.check_written(node, [left, right])
            return self.call_function(method.function, [method.owner, other], {}, node)
        types = self.operands(function, [left, right], [node.left, node.right], node)
        return self.apply(lookup(function), function, types, {}, node)

    def matrix_product(self, left: Type, right: Type, node: Any) -> Type:
        """That of a sparse matrix and an array, as of two arrays."""
        if not isinstance(getattr(node, "op", None), gast.MatMult):
            self.callee(node, PRODUCT)
        if isinstance(node, gast.Call):
            nodes = [node.func.value, node.args[0]]
        else:
            nodes = [node.left, node.right]
        types = self.operands(PRODUCT, [left, right], nodes, node)
        return self.apply(
            lookup(PRODUCT), PRODUCT, list(map(as_array, types)), {}, node
        )

    def check_written(self, node: gast.expr, operands: list[Type]) -> None:
        """Raise where an operator calls a method and no call could be written for it.

            total = 0
            for item in items:
                total = total + item     `item.__radd__`, and then `total.__add__`

        Where the iterations are few they may be written out, each with its own.
        """
        if not self.settled or not any(map(is_active, operands)):
            return
        if self.program.request is not None:
            self.program.request.holds_objects = True
        raise self.refuse(
            node,
            f"which method `{syntax.text(node)}` calls is known only when the program "
            "runs",
            "operands of one class on every path: an object to start a sum with",
        )

    def operator_method(self, function: Any, left: Type, right: Type) -> Any:
        """The method of a class that `left op right` calls, bound to its object."""
        plain = function.__name__.strip("_")
        for owner, prefix in ((left, ""), (right, "r")):
            other = right if owner is left else left
            cls: Any = owner.cls if isinstance(owner, (Object, Tuple)) else None
            if cls is None and isinstance(owner, Const) and is_active(other):
                cls = own_class(owner)
            method = own_method(cls, f"__{prefix}{plain}__")
            if method is not None and (owner is left or takes_over(left, cls)):
                self.program.rests_on_method(cls, f"__{prefix}{plain}__")
                return BoundTo(method, owner)
            if cls is not None and hasattr(cls, f"__{plain}__") and owner is left:
                break  # written in C, it comes first
        return None

    def of_NamedExpr(self, node: gast.NamedExpr, env: Env) -> Type:
        value = self.eval(node.value, env)
        env[node.target.id] = value
        return value

    def of_JoinedStr(self, node: gast.JoinedStr, env: Env) -> Type:
        parts = [v.value for v in node.values if isinstance(v, gast.FormattedValue)]
        return self.tell(str, *(self.eval(part, env) for part in parts))

    def of_Lambda(self, node: gast.Lambda, env: Env) -> Type:
        self.facts.nodes.append(node)
        free = syntax.names_read(node.body) - set(parameter_names(node.args))
        active = {n for n in free if is_active(env.get(n, UNKNOWN))}
        if missed := active - self.unit.varying:  # else it gives no derivative
            raise Missed(self.unit, missed)
        if id(node) in self.of_items:  # one of many, each with an item of its own
            return UNKNOWN
        if not syntax.defaults_last(node.args, self.unit.node):
            return UNKNOWN
        return Closure(definition=node, scope=self.unit)

    def of_Starred(self, node: gast.Starred, env: Env) -> Type:
        return self.eval(node.value, env)

    def of_ListComp(self, node: Any, env: Env) -> Type:
        inner = dict(env)
        known: list[Type] | None = None
        self.of_items |= made_of_items(node)
        for generator in node.generators:
            over = self.eval(generator.iter, inner)
            known = self.iteration(over)
            self.assign_quiet(generator.target, self.element(over), inner)
        self.facts.nodes.append(node)
        # It makes other memory each time.
        here = frozenset(map(id, syntax.walk(node.elt)))
        single = len(node.generators) == 1 and not node.generators[0].ifs
        if single and known is not None and len(known) <= UNROLLED:
            items: list[Type] = []
            for item in known:
                self.assign_quiet(node.generators[0].target, item, inner)
                made = self.eval(node.elt, inner)
                items = [*(aged(t, here) for t in items), made]
            return List(False, frozenset([id(node)]), tuple(items))
        elem = self.eval(node.elt, inner)
        return List(False, frozenset([id(node)]), None, join(elem, aged(elem, here)))

    def of_DictComp(self, node: Any, env: Env) -> Type:
        """A comprehension that was left as written: nothing in it is active."""
        reads = syntax.names_read(node) & set(env)
        if any(is_active(env[n]) for n in reads):
            raise Missed(self.unit, reads)
        pairs = gast.Tuple([node.key, node.value], syntax.LOAD)
        made: Any = self.of_ListComp(gast.ListComp(pairs, node.generators), env)
        site = frozenset([id(node)])
        found = made.items if made.items is not None else [made.elem]
        if not all(isinstance(t, Tuple) and len(t.items or ()) == 2 for t in found):
            return Dict(False, site, None, UNKNOWN)
        if made.items is not None and all(isinstance(t.items[0], Const) for t in found):
            items = {t.items[0].value: t.items[1] for t in found}
            return Dict(False, site, tuple(items.items()))
        return Dict(False, site, None, join_all([t.items[1] for t in found]))

    def of_GeneratorExp(self, node: Any, env: Env) -> Type:
        return replace(self.of_ListComp(node, env), cls=tuple, view=View("generator"))

    def assign_quiet(self, target: Any, value: Type, env: Env) -> None:
        """Bind a comprehension's target: nothing is required of its names."""
        if isinstance(target, gast.Name):
            env[target.id] = value
        elif isinstance(target, (gast.Tuple, gast.List)):
            for e, t in zip(
                target.elts, self.items(value, len(target.elts)), strict=True
            ):
                self.assign_quiet(e, t, env)

    def of_Attribute(self, node: gast.Attribute, env: Env) -> Type:
        found = self.attribute(self.owner(node, env), node.attr, node)
        if id(node) in self.inside:
            self.check_inside(node, env)
        return found

    def of_Subscript(self, node: gast.Subscript, env: Env) -> Type:
        base = self.there(self.eval(node.value, env), node.value, env)
        index = self.eval(node.slice, env)
        if isinstance(base, Told) and base.cls is tuple:  # `error.args[0]`
            raise self.read_back(node)
        if isinstance(base, Const) and base.value is np.s_:
            return index
        made = self.item_of_class(base, index, node)
        if made is not None:
            return made
        if isinstance(base, Dict) and base.cls is defaultdict and is_active(base):
            self.check_there(base, index, node)
        found = self.subscript(base, index, node.slice)
        first, *rest = entries_of(index) or [index]
        chosen = (
            node.slice.elts[0]
            if rest and isinstance(node.slice, gast.Tuple)
            else node.slice
        )
        if (
            isinstance(chosen, gast.Name)
            and isinstance(found, Array)
            and is_mask(first)
        ):
            return self.masked(found, rest, chosen.id)
        return self.with_cuts(found, base, node.slice, env)

    def check_there(self, base: Dict, index: Type, node: Any) -> None:
        """Refuse an item that a defaultdict makes: its type does not tell which."""
        known = dict(base.items or ())
        if not isinstance(index, Const) or base.items is None:
            return
        if index.value not in known and isinstance(node.ctx, gast.Load):
            raise self.refuse(
                node,
                f"the item {index.value!r} is made by a defaultdict that was given",
                "one that has the item, or `d.get(key, default)`",
            )

    def item_of_class(self, base: Type, index: Type, node: Any) -> Type | None:
        """`obj[index]` of a class that makes something of the index of its own."""
        owner = base.value if isinstance(base, Const) else None
        cls = getattr(base, "cls", None) if owner is None else type(owner)
        if isinstance(base, (Object, Other, Const)):
            method = getattr(cls, "__getitem__", None)
            own = isinstance(method, pytypes.FunctionType)
            if own and (
                isinstance(base, Object)
                or is_active(index)
                or (owner is not None and not self.program.computing.only(method, cls))
            ):
                if index_joins(owner):
                    return self.joined(owner, index, node)
                self.program.rests_on_method(cls, "__getitem__")
                self.callee(node, BoundTo(method, base))
                self.check_written(node, [base, index])
                return self.call_function(method, [base, index], {}, node)
        if (
            isinstance(base, Object)
            and is_active(base)
            and not hasattr(cls, "__getitem__")
        ):
            raise self.refuse(
                node,
                f"a {getattr(cls, '__name__', 'value')} has no items at places",
                "a list or a tuple of what it gives",
            )
        plain = isinstance(base, (Array, Scalar, Tuple, List, Dict, Range, Told))
        plain |= isinstance(owner, (str, bytes, tuple, list, dict, range, np.ndarray))
        if plain or is_mapping() or not is_active(index) or is_active(base):
            return None
        if self.settled or isinstance(base, Const):
            raise self.refuse(
                node,
                "a differentiated value is the index of what is no array, list or dict",
                "a function of the value",
            )
        return Unknown(True)

    def joined(self, owner: Any, index: Type, node: Any) -> Type:
        """`np.r_[a, b]` and `np.c_[a, b]` of arrays and numbers, by `settle`."""
        items = index.items if isinstance(index, Tuple) and index.cls is None else ()
        ranks = [rank_of(array_of(t) if is_list(t) else t) for t in items or (index,)]
        most = 1 if owner is np.r_ else 2
        if all(rank is not None and rank <= most for rank in ranks):
            self.callee(node, np.concatenate if owner is np.r_ else np.column_stack)
            return Unknown(True)
        if self.settled:
            raise self.refuse(
                node,
                f"`np.{'r' if owner is np.r_ else 'c'}_[...]` of differentiated values "
                "that are not known to be numbers or arrays of one axis",
                "`np.concatenate`, `np.stack` or `np.linspace`",
            )
        return Unknown(True)

    def masked(self, found: Array, rest: list[Type], name: str) -> Type:
        """`x[mask, k]` of a mask that stays as it is takes as many items of every `x`.

        `rest` are the entries of the index after the mask.
        """
        place = self.masks().get(name) if self.settled else None
        if place is None or not found.shape:
            return found
        count = selected(place, name)
        if any(is_index_array(e) and shape_of(e) != (count,) for e in rest):
            return found
        return replace(found, shape=(count, *found.shape[1:]))

    def with_cuts(self, found: Type, base: Type, index: gast.expr, env: Env) -> Type:
        """`x[:k]` takes as many items of every `x` of one size, for the same `k`."""
        if not (self.settled and isinstance(found, Array) and isinstance(base, Array)):
            return found
        if not (found.shape and base.shape and None in found.shape):
            return found
        shape, at, axis = list(found.shape), 0, 0
        for entry in index.elts if isinstance(index, gast.Tuple) else [index]:
            if isinstance(entry, gast.Slice):
                dim = base.shape[axis]
                if shape[at] is None and dim is not None:
                    shape[at] = self.cut_of(dim, entry, env)
                at, axis = at + 1, axis + 1
                continue
            t = self.eval(entry, env)
            if is_number(t):
                axis += 1
            elif t == NOTHING:  # an axis more
                at += 1
            else:
                return found
        return replace(found, shape=tuple(shape))

    def cut_of(self, dim: Any, bounds: gast.Slice, env: Env) -> Any:
        """How many items a slice takes; None where its bounds may be other numbers."""
        ends = [bounds.lower, bounds.upper, bounds.step]
        fixed = self.numbers()
        names = {n.id for n in syntax.names_in(bounds)}
        whole = all(is_whole(env.get(name)) for name in names)
        if not (all(map(is_plain_bound, ends)) and names <= set(fixed) and whole):
            return None
        places = [self.unit.node, *(fixed[name] for name in names)]
        self.facts.nodes += places
        self.counting |= set(map(id, places))
        return cut(dim, bounds, set(map(id, places)))

    def order(self, node: gast.Call, env: Env) -> Type | None:
        """`sorted(range(n), key=...)`: positions, whatever decides their order."""
        if not isinstance(node.func, gast.Name) or node.func.id in env:
            return None
        picks = node.func.id in ("sorted", "max", "min") and len(node.args) == 1
        if not picks or not any(k.arg == "key" for k in node.keywords):
            return None
        if self.eval(node.func, env) != Const(value=getattr(builtins, node.func.id)):
            return None
        if not isinstance(self.eval(node.args[0], env), Range):
            return None
        if not all(self.only_looks(k.value, env) for k in node.keywords):
            raise self.refuse(
                node,
                f"the key of `{node.func.id}` changes something",
                "a loop that changes it, and a key that only tells the order",
            )
        if node.func.id != "sorted":
            return INT
        self.facts.nodes.append(node)
        return List(False, frozenset([id(node)]), None, INT)

    def only_looks(self, key: Any, env: Env) -> bool:
        """Whether a function of one position, as far as it is written here, is pure."""
        if not isinstance(key, gast.Lambda):
            return True
        inner = dict(env) | dict.fromkeys(parameter_names(key.args), INT)
        known, self.facts.writes = self.facts.writes, {}
        try:
            with self.trying():
                self.eval(key.body, inner)
            return not self.facts.writes
        except Missed:
            return True
        finally:
            self.facts.writes = known

    def of_Call(self, node: gast.Call, env: Env) -> Type:
        found = self.result_of(node, env)
        if id(node) in self.inside:
            self.check_inside(node, env)
        return found

    def result_of(self, node: gast.Call, env: Env) -> Type:
        order = self.order(node, env)
        if order is not None:
            return order
        args = self.display(node.args, env, in_call=True)
        kwargs: dict[str, Type] = {}
        loose = args is None
        for keyword in node.keywords:
            t = self.eval(keyword.value, env)
            if keyword.arg is not None:
                kwargs[keyword.arg] = t
            elif isinstance(t, Dict) and t.items is not None:
                kwargs.update(t.items)
            else:
                loose = True
        if loose and (found := self.of_any_number(node, kwargs, env)) is not None:
            return found
        if loose and (found := self.of_any_shape(node, env)) is not None:
            return found
        if loose:
            reads = [env[n] for n in syntax.names_read(node) if n in env]
            self.callee(node, None)
            result = self.opaque_call(None, reads, node)
            return replace(result, active=any(map(is_active, reads)))
        assert args is not None
        if isinstance(node.func, gast.Attribute):
            base = self.owner(node.func, env)
            self.note_out(None, args, kwargs, node)
            if is_sparse_dot(node) and is_sparse(base):
                return self.matrix_product(base, args[0], node)
            found = self.method(base, node.func.attr, args, kwargs, node, env)
            if found is not None:
                return found
            function = self.attribute(base, node.func.attr, None)
        else:
            function = self.eval(node.func, env)
        self.note_out(getattr(function, "value", None), args, kwargs, node)
        return self.unknown_made(node, self.call(function, args, kwargs, node, env))

    def of_any_number(
        self, node: gast.Call, kwargs: dict[str, Type], env: Env
    ) -> Type | None:
        """`backend(*arrays)` of any number of arrays: what it gives of one, and two."""
        starred = [a.value for a in node.args if isinstance(a, gast.Starred)]
        if len(starred) != 1 or len(kwargs) != len(node.keywords):
            return None
        several = self.eval(starred[0], env)
        elem = several.elem if isinstance(several, List) else None
        value = getattr(self.eval(node.func, env), "value", None)
        if elem is None or value is None:
            return None
        found: list[Type | None] = []
        for count in (1, 2, 3):
            args: list[Type] = []
            for a in node.args:
                many = isinstance(a, gast.Starred)
                args += [elem] * count if many else [self.eval(a, env)]
            found.append(self.told_by_types(value, args, kwargs, node))
        return found[0] if all(t == found[0] for t in found) else None

    def of_any_shape(self, node: gast.Call, env: Env) -> Type | None:
        """`x.reshape(n, *shape)` of an array, with any shape: one of its dtype."""
        if not isinstance(node.func, gast.Attribute):
            return None
        base, op = self.eval(node.func.value, env), METHODS.get(node.func.attr)
        if op is None or not isinstance(base, Array):
            return None
        kinds = {p.kind for p in op.signature.parameters.values()}
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            return None
        self.callee(node, op)
        self.facts.nodes.append(node)
        memory = all_buffers(base) | {id(node)}
        return Array(is_active(base), memory, base.dtype, None)

    def unknown_made(self, node: gast.Call, found: Type) -> Type:
        """What a call gives of which nothing is known: it may be written in place."""
        if found != UNKNOWN:
            return found
        self.facts.nodes.append(node)
        self.facts.opaque.add(id(node))
        return Unknown(buffers=frozenset([id(node)]))


def is_whole(t: Type | None) -> bool:
    """Whether a value is a whole number, which nobody changes in place."""
    dtype = dtype_of(t) if t is not None and is_number(t) else None
    return dtype is not None and dtype.kind in "iu"
