"""What the calls of a program do besides giving values: found once, kept at the nodes.

    q.get()           the user's method: it may change `q`, and is called as often
    np.sum(x)         computes its value: it may be left out, moved or called again
    bump(buffer)      writes to `buffer`, as inference saw

Inference knows the object that each call calls. `mark_effects` leaves what follows from
it at the node (`node.effect`), which clones keep, so that it reaches the last pass. A
call without the mark was written by srcjax: there `np`, the helpers and the methods of
arrays and lists mean what they say.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import math
import types as pytypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.arrays import inside
from srcjax.analysis.binding import BoundTo
from srcjax.analysis.containers import load_item
from srcjax.analysis.foreign import is_sparse
from srcjax.analysis.known_values import OPERATORS, UNARY, is_fixed
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Const,
    Dict,
    List,
    Object,
    Other,
    Scalar,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    is_iterator,
    parts,
    type_of,
)
from srcjax.analysis.types import (
    UNKNOWN as UNKNOWN_TYPE,
)
from srcjax.analysis.unfollowed import is_hashable
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.unit import Unit
from srcjax.ops.effects import (
    ELSEWHERE,
    OWNER,
    PURE,
    UNKNOWN,
    Effect,
    effect_of_function,
)
from srcjax.ops.patched import NAMED_MODULES
from srcjax.ops.record import Op

#: Containers by the word that facts call their methods with (`list.append`).
_CONTAINERS = {"list": list, "dict": dict}
_OPERATORS = (
    gast.Attribute, gast.Subscript, gast.BinOp, gast.UnaryOp, gast.Compare,
    gast.AugAssign,
)  # fmt: skip
#: Methods that the user's class may have for what is no operator with a function.
_METHODS = {
    gast.Subscript: ("__getitem__",),
    gast.Compare: ("__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"),
}
#: What builtins and NumPy call to look at an object.
_CONVERSIONS = (
    "__abs__", "__array__", "__bool__", "__complex__", "__float__", "__getitem__",
    "__index__", "__int__", "__iter__", "__len__", "__next__", "__round__",
)  # fmt: skip
#: What asks an object for its truth, and for its items.
_OF_TRUTH = ("__bool__", "__len__")
_OF_ITEMS = ("__iter__", "__next__", "__contains__")
#: A method, and the class of the object that it is asked of.
Method = tuple[Any, Any]
#: Builtins that look at no part of what they are given.
_OF_ITSELF = ("callable", "id", "isinstance", "type")
#: Functions that take all, or some, of what an iterator gives.
TAKING = frozenset(
    [all, any, dict, frozenset, functools.reduce, list, max, min, set, sorted, sum]
    + [tuple, list.extend, str.join, math.fsum, math.prod, np.fromiter]
)
#: What a name is that has no type: a function, a module.
NOTHING = Const(value=None)
#: Expressions that change nothing, unless it is said of them.
_QUIET = frozenset(
    [gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare, gast.Tuple]
)
#: These too: an assignment to one is a statement.
_SILENT = _QUIET | {gast.Attribute, gast.Subscript}
#: Modules that generated code calls by these names.
_MODULES = (*NAMED_MODULES, "scipy")


def effect_of(node: Any) -> Effect:
    """What evaluating the node itself does, apart from what is inside of it."""
    known: Effect | None = getattr(node, "effect", None)
    if known is not None:
        return known
    if isinstance(node, (gast.Await, gast.Yield, gast.YieldFrom, gast.NamedExpr)):
        return ELSEWHERE
    return _of_written(node) if isinstance(node, gast.Call) else PURE


def is_pure(node: Any) -> bool:
    """Whether evaluating the expression has no effect."""
    return all(effect_of(sub).pure for sub in syntax.walk_told(node, _SILENT, "effect"))


def same_value(a: Any, b: Any) -> bool:
    """Whether two expressions are one value: the same text, of which none has effects.

    `tape.pop() + tape.pop()` is the sum of two items.
    """
    return syntax.equal(a, b) and is_pure(a)


def written_bases(stmt: Any) -> set[str]:
    """Names whose objects the statement may change in place."""
    found: set[str] = set()
    for sub in syntax.walk_told(stmt, _QUIET, "effect"):
        if isinstance(sub, gast.AugAssign):
            found |= _bases(sub.target) | written_by(sub)
        elif isinstance(sub, (gast.Subscript, gast.Attribute)) and isinstance(
            sub.ctx, (gast.Store, gast.Del)
        ):
            found |= _bases(sub)
        elif isinstance(sub, gast.expr):
            found |= written_by(sub)
    return found - {""}


def _bases(place: gast.expr) -> set[str]:
    """The names that a place is reached by: of `(a, b)[i][...]` both."""
    base = _base(place)
    return {base} if base else syntax.names_read(place)


def written_by(node: Any) -> set[str]:
    """Names whose objects evaluating the node itself may change."""
    effect = effect_of(node)
    if effect.pure:
        return set()
    found = set(effect.names)
    if effect.to_all:
        found |= syntax.names_read(node)  # `partial(f, x)` holds `x`
        return found
    for operand in written_operands(node):
        found |= {_base(operand)} | syntax.names_read(operand)
    return found


def written_operands(call: gast.Call) -> list[gast.expr]:
    """The owner and the arguments of a call that it may write to."""
    if not isinstance(call, gast.Call):
        return []  # `yield` hands nothing over that it writes to
    places = effect_of(call).writes
    found: list[gast.expr] = []
    if OWNER in places:
        found.append(getattr(call.func, "value", call.func))
    found += [a for k, a in enumerate(call.args) if k in places]
    found += [k.value for k in call.keywords if k.arg in places or k.arg is None]
    return found


def _base(node: Any) -> str:
    return syntax.root_of(node, lambda call: call.func)


def called(call: Any) -> str:
    """The dotted name of what is called: `"np.sum"`, `"len"`; else an empty string.

    A call of the user's has the name only if it means there what it says: `range` may
    be a variable, and `np` an object.
    """
    if not isinstance(call, gast.Call):
        return ""
    if getattr(call, "calls", None) == "":
        return ""
    # Names may be others than when it was marked: `xs_dot.pop()` is made of `xs.pop()`.
    return syntax.dotted(call.func) or ""


def copied(node: Any) -> Any:
    """`x` of `x.copy()`; None of anything else, as a method of the user's."""
    if not isinstance(node, gast.Call) or node.args or node.keywords:
        return None
    if not effect_of(node).pure:
        return None
    method = isinstance(node.func, gast.Attribute) and node.func.attr == "copy"
    return node.func.value if method else None


def made_from(new: gast.Call, call: gast.Call) -> gast.Call:
    """The call of a function that a transform makes from the one that is called.

    Its forward function writes what the function writes, its tangent function to the
    tangents too, and its backward function puts contents back. Where the function
    leaves everything alone, so do they.
    """
    effect = effect_of(call)
    new.effect = ELSEWHERE
    if effect.to_all or effect.writes or effect.names:
        new.effect = replace(UNKNOWN, names=effect.names | syntax.names_read(call))
    return new


def _of_written(call: gast.Call) -> Effect:
    """What a call does that srcjax has written, by the names that it writes."""
    chain = syntax.dotted(call.func)
    root, *rest = (chain or "").split(".")
    if root in _MODULES and rest:
        function = _of_module(root, tuple(rest))
    elif chain is not None and not rest:
        function = HELPERS.get(root, getattr(builtins, root, None))
    else:
        method = getattr(call.func, "attr", "")
        owners = (np.ndarray, list, dict)
        found = (getattr(cls, method, None) for cls in owners)
        function = next((f for f in found if f is not None), None)
    if function is None:
        return UNKNOWN
    return of_call(function, call)


def _of_module(root: str, rest: tuple[str, ...]) -> Any:
    """The function that `np.linalg.norm` stands for; None if there is none."""
    found: Any = np if root == "np" else importlib.import_module(root)
    for part in rest:
        found = getattr(found, part, None)
    return found


def of_call(function: Any, call: gast.Call) -> Effect:
    """What the call of a known function does."""
    effect = effect_of_function(function, len(call.args))
    if any(k.arg == "out" for k in call.keywords):
        effect |= Effect(writes=frozenset(["out"]))
    return effect


def mark_effects(program: Program) -> None:
    """Leave at each node of the program what evaluating it does."""
    marking = _Marking(program)
    for unit in program.reached():
        marking.unit(unit)


class Computes:
    """Whether expressions of a unit do nothing but give their values.

    For passes that run before effects are at the nodes. A function that is followed may
    print; it is taken for one that only computes if it changes nothing. What is known
    of the unit is what it was when it was first asked for.
    """

    def __init__(self, program: Program, unit: Unit) -> None:
        self.unit = unit
        self.marking = _Marking(program)

    @functools.cached_property
    def local(self) -> set[str]:
        return self.marking.local(self.unit)

    def __call__(self, expr: gast.expr) -> bool:
        nodes = list(syntax.walk(expr))
        if not any(isinstance(node, (gast.Call, *_OPERATORS)) for node in nodes):
            return True
        types = self.marking.types_of(self.unit)
        return all(
            self.marking.computes(self.unit, node, types, self.local) for node in nodes
        )


def is_composite(function: Any) -> bool:
    """Whether operations of ours are made of it: it asks, and changes nothing."""
    home = str(getattr(function, "__module__", None) or "")
    return home.split(".")[:3] == ["srcjax", "ops", "composites"]


class _Marking:
    """Finds the effects of calls, those of functions that are followed first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = program.facts
        self.done: set[int] = set()
        #: What functions that are followed do: whether all of it is known, and the
        #: memory that they write to.
        self.summaries: dict[int, tuple[bool, Buffers]] = {}
        #: Functions whose summary is being made, and was asked for meanwhile.
        self.unfinished: dict[int, bool] = {}
        self.types: dict[int, dict[str, Type]] = {}

    def types_of(self, unit: Unit) -> dict[str, Type]:
        """What each name of the unit is; nothing is inferred meanwhile."""
        if id(unit) not in self.types:
            self.types[id(unit)] = self.program.types_of(unit)
        return self.types[id(unit)]

    def changed_around(self, unit: Unit) -> frozenset[str]:
        """Names from around whose contents a unit reads, if the program changes any.

        Which of them a call changes that is not followed is not told apart.
        """
        if not self.facts.set_attributes and not self.facts.set_around:
            return frozenset()
        own = syntax.names_written(unit.node.body) | set(unit.parameters)
        found = {
            syntax.root_of(node)
            for node in syntax.walk(unit.node.body)
            if isinstance(node, (gast.Attribute, gast.Subscript))
        }
        return frozenset(found - own - {"", "np"})

    def unit(self, unit: Unit) -> None:
        """Mark the nodes of one unit."""
        if id(unit) in self.done:
            return
        self.done.add(id(unit))
        types = self.types_of(unit)
        local = self.local(unit)
        known = {**objects_around(self.program, unit, local), **types}
        around = self.changed_around(unit)
        for node in syntax.walk(unit.node.body):
            if isinstance(node, gast.Call):
                node.effect = self.call(unit, node, types, local)
                if around and not node.effect.pure:
                    node.effect = replace(node.effect, names=node.effect.names | around)
                node.calls = self.name(unit, node, local)
                if node.effect.pure and self.converts_own(node, known):
                    node.effect = UNKNOWN
            elif isinstance(node, _OPERATORS) and self.is_own(node, known):
                node.effect = UNKNOWN
            for used_up in taken_from(node):
                if effect_of(used_up).pure and _runs_out(used_up, types):
                    used_up.effect = Effect(to_all=True)
                cls = _class_of(type_at(used_up, known))
                if own_methods(cls, _OF_ITEMS):
                    used_up.effect = UNKNOWN
            for asked in _asked(node):
                cls = _class_of(type_at(asked, known))
                if own_methods(cls, _OF_TRUTH):
                    asked.effect = UNKNOWN

    @staticmethod
    def local(unit: Unit) -> set[str]:
        """The names that the unit binds."""
        given = {n.id for n in syntax.walk(unit.node.args) if syntax.is_name(n)}
        return syntax.names_written(unit.node) | given

    def computes(
        self, unit: Unit, node: Any, types: dict[str, Type], local: set[str]
    ) -> bool:
        """Whether evaluating the node itself only computes."""
        followed = [self.unit_of(t) for t in self.facts.callees.get(id(node), ())]
        if followed and None not in followed and id(node) not in self.facts.unsure:
            return all(self.summary(f) == (True, NONE) for f in followed if f)
        if isinstance(node, gast.Call):
            called = self.facts.callees.get(id(node), ())
            if called and all(map(is_composite, called)):
                return True
            effect = self.call(unit, node, types, local)
            return effect.pure and not self.converts_own(node, types)
        if isinstance(node, _OPERATORS):
            return not self.is_own(node, types)
        return effect_of(node).pure

    def is_own(self, node: Any, types: dict[str, Type]) -> bool:
        """Whether an attribute or operator calls a method of the user's."""
        return id(node) in self.facts.callees or bool(methods_asked(node, types))

    def converts_own(self, call: gast.Call, types: dict[str, Type]) -> bool:
        """Whether `float(q)`, `np.sum(q)` calls a method of the user's to look at q.

        Of objects that are followed, these methods are known.
        """
        if called(call) in _OF_ITSELF:
            return False
        given = [*call.args, *(k.value for k in call.keywords)]
        held = (type_at(operand, types) for operand in given)
        looked_at = (t for t in held if isinstance(t, (Const, Other)))
        classes = [_class_of(t) for t in looked_at if not is_sparse(t)]
        return any(own_methods(cls, _CONVERSIONS) for cls in classes)

    def call(
        self, unit: Unit, call: gast.Call, types: dict[str, Type], local: set[str]
    ) -> Effect:
        """What a call in a unit does."""
        targets = self.facts.callees.get(id(call), [])
        if id(call) in self.facts.unsure:
            targets = [None]
        if targets and None not in targets:
            effect = _joined([self.target(t, call, types) for t in targets])
            found = _method_of_container(targets[0])
        else:
            found = self.named(unit, call, types, local)
            effect = of_call_or_unknown(found, call)
        return effect | _taking(found, call, types)

    def name(self, unit: Unit, call: gast.Call, local: set[str]) -> str:
        """The text of what a call calls, if it means what it says (see `called`)."""
        text = syntax.dotted(call.func) or ""
        root = text.partition(".")[0]
        known = NAMED_MODULES.get(
            root, HELPERS.get(root, getattr(builtins, root, None))
        )
        if known is None:
            return text
        if root in local:
            return ""
        try:
            return text if self.program.look(unit, root) is known else ""
        except KeyError:
            return text

    def named(
        self, unit: Unit, call: gast.Call, types: dict[str, Type], local: set[str]
    ) -> Any:
        """The object that the text of a call names; None if that is not known."""
        parts = (syntax.dotted(call.func) or "").split(".")
        if parts[0] == "" and isinstance(call.func, gast.Attribute):
            return None
        if parts[0] in local:
            cls = _class_of(types.get(parts[0], UNKNOWN_TYPE))
            return getattr(cls, parts[1], None) if cls and len(parts) == 2 else None
        try:
            found = self.program.look(unit, parts[0])
        except KeyError:
            found = getattr(builtins, parts[0], None)
        for part in parts[1:]:
            home = isinstance(found, (pytypes.ModuleType, type, np.ufunc))
            found = getattr(found, part, None) if home else None
        return inside(found)

    def target(self, target: Any, call: gast.Call, types: dict[str, Type]) -> Effect:
        """What a call of one of the things that were found to be called does."""
        target = _method_of_container(target)
        function = target.function if isinstance(target, BoundTo) else target
        function = getattr(function, "__func__", function)
        unit = self.program.units.get(id(function))
        if unit is not None:
            return self.followed(unit, call, types)
        return of_call_or_unknown(target, call)

    def followed(self, unit: Unit, call: gast.Call, types: dict[str, Type]) -> Effect:
        """What a call of a function does that inference has looked into."""
        known, written = self.summary(unit)
        if not known:
            return UNKNOWN
        operands = enumerate([*call.args, *(k.value for k in call.keywords)])
        count = len(call.args)
        places: set[int | str] = {
            k if k < count else call.keywords[k - count].arg or "**"
            for k, operand in operands
            if memory(operand, types) & written
        }
        if memory(call.func, types) & written:
            places.add(OWNER)
        names = frozenset(n for n, t in types.items() if all_buffers(t) & written)
        return Effect(frozenset(places), contained=False, names=names)

    def summary(self, unit: Unit) -> tuple[bool, Buffers]:
        """Whether all is known that the function does, and what it writes to."""
        if id(unit) in self.summaries:
            if id(unit) in self.unfinished:
                self.unfinished[id(unit)] = True
            return self.summaries[id(unit)]
        self.summaries[id(unit)] = True, NONE  # of a function that calls itself
        self.unfinished[id(unit)] = False
        size = -1
        while True:
            found = self._summary(unit)
            itself = self.unfinished[id(unit)]
            if not itself or not found[0] or len(found[1]) == size:
                break
            size = len(found[1])
            self.summaries[id(unit)] = found
        del self.unfinished[id(unit)]
        self.summaries[id(unit)] = found
        return found

    def _summary(self, unit: Unit) -> tuple[bool, Buffers]:
        known, written = True, self.program.writes_of(unit)
        types = self.types_of(unit)
        local = self.local(unit)
        for node in syntax.walk(unit.node.body):
            inner = [
                callee
                for target in self.facts.callees.get(id(node), ())
                if (callee := self.unit_of(target)) is not None
            ]
            for callee in inner:
                more = self.summary(callee)
                known, written = known and more[0], written | more[1]
            if isinstance(node, gast.Call) and not inner:
                effect = self.call(unit, node, types, local)
                known = known and not effect.to_all
            elif isinstance(node, (gast.Global, gast.Nonlocal)):
                known = False
        return known, written

    def unit_of(self, target: Any) -> Unit | None:
        """The unit of a function that was found to be called, if it is followed."""
        function = target.function if isinstance(target, BoundTo) else target
        function = getattr(function, "__func__", function)
        return self.program.units.get(id(function))


def _method_of_container(target: Any) -> Any:
    """The function that facts call `"list.append"`; anything else as it is."""
    if not isinstance(target, str):
        return target
    kind, _, name = target.partition(".")
    return getattr(_CONTAINERS[kind], name, None)


def taken_from(node: Any) -> list[gast.expr]:
    """What evaluating the node itself takes the items of, if it is no call."""
    if isinstance(node, gast.For):
        return [node.iter]
    if isinstance(node, gast.Starred) and isinstance(node.ctx, gast.Load):
        return [node.value]
    if isinstance(node, gast.comprehension):
        return [node.iter]
    if isinstance(node, gast.Assign):
        several = isinstance(node.targets[0], (gast.Tuple, gast.List))
        return [node.value] if several else []
    if isinstance(node, gast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return [c for op, c in pairs if isinstance(op, (gast.In, gast.NotIn))]
    return []


def gives_once(t: Type) -> bool:
    """Whether values of the type may be iterators, which give each item once."""
    return is_iterator(t) or (type(t) is Unknown and not t.active)


def _runs_out(node: gast.expr, types: dict[str, Type]) -> bool:
    """Whether it may be an iterator of what others read, or be made of one."""
    if isinstance(node, gast.Call):
        return any(_runs_out(a, types) for a in node.args)
    if isinstance(node, gast.Starred):
        return _runs_out(node.value, types)
    root = syntax.root_of(node)
    t = types.get(root, NOTHING)
    return gives_once(t) or (not syntax.is_name(node) and _holds_iterators(t))


def _holds_iterators(t: Type) -> bool:
    """Whether a part of the value may be an iterator."""
    if type(t) is Other:
        return True
    return any(gives_once(part) or _holds_iterators(part) for part in parts(t))


def _taking(function: Any, call: gast.Call, types: dict[str, Type]) -> Effect:
    """The effect of a call on the iterators that it is given: it uses them up."""
    functions = function.functions if isinstance(function, Op) else [function]
    if not any(is_hashable(f) and f in TAKING for f in functions):
        return PURE
    given = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
    places = [
        place for place, value in given if place is not None and _runs_out(value, types)
    ]
    return Effect(writes=frozenset(places))


def _asked(node: Any) -> list[gast.expr]:
    """The objects whose truth evaluating the node asks for."""
    tests: list[Any] = []
    if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
        tests = [node.test]
    elif isinstance(node, gast.BoolOp):
        tests = node.values
    elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        tests = [node.operand]
    places = (gast.Name, gast.Attribute, gast.Subscript)
    return [test for test in tests if isinstance(test, places)]


def objects_around(program: Program, unit: Unit, local: set[str]) -> dict[str, Type]:
    """The objects of classes of the user's that names from around stand for."""
    found: dict[str, Type] = {}
    for name in syntax.names_read(unit.node.body) - local:
        try:
            value = program.look(unit, name)
        except KeyError:
            continue
        if not is_fixed(value) and not isinstance(value, (np.ndarray, type)):
            found[name] = Const(value=value)
    return found


def methods_asked(node: Any, types: dict[str, Type]) -> list[Method]:
    """The methods of the user's that an attribute or operator itself calls."""
    if isinstance(node, gast.BinOp):
        operands = [node.left, node.right]
    elif isinstance(node, gast.AugAssign):
        operands = [node.target, node.value]
    elif isinstance(node, gast.Compare):
        operands = [node.left, *node.comparators]
    elif isinstance(node, gast.UnaryOp):
        operands = [node.operand]
    else:
        operands = [node.value]
    held = (type_at(operand, types) for operand in operands)
    classes = [_class_of(t) for t in held if not is_sparse(t)]  # SciPy's: they compute
    if isinstance(node, gast.Attribute):
        getters = [(inspect.getattr_static(c, node.attr, None), c) for c in classes]
        return [(f.fget, c) for f, c in getters if isinstance(f, property)]
    names = _METHODS.get(type(node)) or _operator_methods(node)
    return [each for cls in classes for each in own_methods(cls, names)]


def methods_of_place(node: Any, types: dict[str, Type]) -> list[Method]:
    """The methods of the user's that say the truth or the items of an object."""
    return own_methods(_class_of(type_at(node, types)), _OF_TRUTH + _OF_ITEMS)


def own_methods(cls: Any, names: Sequence[str]) -> list[Method]:
    """Those of the methods that are written in Python: the user's, of a known class."""
    methods = (getattr(cls, name, None) for name in names)
    return [(m, cls) for m in methods if isinstance(m, pytypes.FunctionType)]


def type_at(node: Any, types: dict[str, Type]) -> Type:
    """What a name, or `a.b` and `a[0]` of known objects and containers, is."""
    if isinstance(node, gast.Name):
        return types.get(node.id, UNKNOWN_TYPE)
    if not isinstance(node, (gast.Attribute, gast.Subscript)):
        return UNKNOWN_TYPE
    found: Type = UNKNOWN_TYPE
    base = type_at(node.value, types)
    if isinstance(node, gast.Attribute) and isinstance(base, Object):
        found = dict(base.items).get(node.attr, UNKNOWN_TYPE)
    elif isinstance(node, gast.Attribute) and isinstance(base, Const):
        held = getattr(base.value, "__dict__", {})
        found = Const(value=held[node.attr]) if node.attr in held else UNKNOWN_TYPE
    elif isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant):
        if isinstance(base, Const) and type(base.value) in (list, tuple, dict):
            base = type_of(base.value)
        if isinstance(base, (Tuple, List, Dict)):
            found = load_item(base, Const(value=node.slice.value))
    return found


def of_call_or_unknown(function: Any, call: gast.Call) -> Effect:
    """What the call does; anything if it is not known what is called."""
    return UNKNOWN if function is None else of_call(function, call)


def memory(node: Any, types: dict[str, Type]) -> Buffers:
    """The memory of what the names in an expression hold."""
    held = (types.get(n, UNKNOWN_TYPE) for n in syntax.names_read(node))
    return ageless_buffers(NONE.union(*map(all_buffers, held)))


def _class_of(t: Type) -> Any:
    """The class of the values of the type; None if it is not known."""
    if isinstance(t, Const):
        return type(t.value)
    known = {Array: np.ndarray, Scalar: np.generic, List: list, Dict: dict}
    if isinstance(t, Unknown):
        return None
    return getattr(t, "cls", None) or known.get(type(t))


def _operator_methods(node: Any) -> tuple[str, ...]:
    """The methods that `a + b` or `-a` may call."""
    table: dict[Any, Any] = UNARY if isinstance(node, gast.UnaryOp) else OPERATORS
    name = table[type(node.op)].__name__.strip("_")
    return f"__{name}__", f"__r{name}__", f"__i{name}__"


def _joined(effects: list[Effect]) -> Effect:
    found = effects[0] if effects else UNKNOWN
    for effect in effects[1:]:
        found |= effect
    return found


__all__ = [
    "Effect", "called", "effect_of", "is_pure", "mark_effects", "of_call", "made_from",
    "written_bases", "written_by", "written_operands",
]  # fmt: skip
