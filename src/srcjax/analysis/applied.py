"""Types of what operations give, with the activity and the memory of it."""

from __future__ import annotations

import operator
import types as pytypes
from typing import Any

import numpy as np

from srcjax import syntax
from srcjax.analysis import containers
from srcjax.analysis.axes import names_of
from srcjax.analysis.foreign import foreign
from srcjax.analysis.known_values import (
    fold_constants,
    sized_number,
    spanned_number,
)
from srcjax.analysis.nested import NestedTransforms
from srcjax.analysis.told import TextOfValues
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Dict,
    Leaf,
    List,
    Object,
    Other,
    Scalar,
    Tuple,
    Type,
    Unknown,
    Varies,
    all_buffers,
    dtype_of,
    has_complex,
    is_active,
    is_entry,
    is_mapping,
    map_parts,
    parts,
    replace,
    varies,
    with_active,
)
from srcjax.errors import NoRuleError
from srcjax.ops.carry_nothing import is_constant
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import Op

#: Operators of whole numbers, and of containers of all kinds.
_OF_WHOLE_NUMBERS = frozenset(
    [*(operator.or_, operator.and_, operator.xor), operator.lshift, operator.rshift]
)


class Applied(TextOfValues, NestedTransforms):
    """Infers what operations give."""

    def apply(
        self, op: Op | None, function: Any, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        """The result of an operation.

        Of numbers it follows from the types, and where nothing is known of an operand
        from the place, too: loops and calls come to it again and again. Of arrays it
        follows from what is in them, in memory of its own.
        """
        if op is None or kwargs or type(function) not in _BUILT_IN:
            return self.applied(op, function, args, kwargs, node)
        if not (op.elementwise and op.infer is None) or hasattr(node, "cancels"):
            return self.applied(op, function, args, kwargs, node)
        if not all(map(is_plain, args)):
            return self.of_arrays(op, function, args, node)
        key = (function, *[type(t.value) if type(t) is Const else t for t in args])
        found = self.known.get(key)
        if found is not None:
            return found
        here = (id(node), *key)
        found = self.known.get(here)
        if found is None:
            found = self.applied(op, function, args, kwargs, node)
            if is_plain(found) and type(found) is not Const:
                self.known[here if found.buffers else key] = found
        elif found.buffers:
            self.facts.nodes.append(node)
        return found

    def of_arrays(self, op: Op, function: Any, args: list[Type], node: Any) -> Type:
        """The result of an elementwise operation, which is inferred once for all."""
        told = None if op.alias != "fresh" or op.collective else _without_memory(args)
        if told is None:
            return self.applied(op, function, args, {}, node)
        key = (function, *told)
        known = self.known.get(key)
        if known is None:
            found = self.applied(op, function, args, {}, node)
            if type(found) is Array and found.dtype is not None:
                self.known[key] = replace(found, buffers=NONE)
            return found
        self.facts.nodes.append(node)
        return replace(known, buffers=frozenset([id(node)]))

    def applied(
        self, op: Op | None, function: Any, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        """The result of an operation on any types."""
        if op is not None and op.rests_on is not None:
            holder, name = op.rests_on
            self.program.read(holder, name, getattr(holder, name))
        everything = [*args, *kwargs.values()]
        active = any(map(is_active, everything))
        if len(args) == 2 and getattr(function, "__module__", "") == "_operator":
            text = self.told_operands(function, args, node)
            if text is not None:
                return text
        if active and any(map(is_object_dtype, everything)):
            raise self.refuse_objects(node)
        self.check_foreign(op, function, without_objects(op, args, kwargs), node)
        if function is not None and all(map(_folds, everything)) and not kwargs:
            folded = fold_constants(function, everything)
            if folded is not None:
                return folded
        if not active and not kwargs:
            spanned = spanned_number(function, everything)
            if spanned is not None:
                return spanned
            sized = sized_number(function, everything)
            if sized is not None:
                return sized
        if function is operator.or_ and isinstance(args[0], Dict):
            merged = containers.method_update(args[0], args[1])[1]
            self.facts.nodes.append(node)
            return replace(merged, buffers=frozenset([id(node)]))
        if function is operator.add and isinstance(args[0], (Tuple, List)):
            return containers.concatenate(args[0], args[1], id(node))
        if function is operator.mul and any(isinstance(a, (List, Tuple)) for a in args):
            found = containers.repeat(args[0], args[1], id(node))
            self.facts.nodes.append(node)
            return found
        if function in _OF_WHOLE_NUMBERS and not is_mapping():
            self.check_whole_numbers(function, args, node)
        if any(isinstance(a, Other) for a in args) and op is None:
            return Other(cls=getattr(args[0], "cls", None))
        if op is None:
            return Unknown(active, frozenset().union(*map(all_buffers, everything)))
        result: Type = UNKNOWN
        try:
            bound = op.bind(args, kwargs)
        except TypeError:
            return Unknown(active, NONE.union(*map(all_buffers, everything)))
        if op.collective:
            names_of(op, bound.get("axis_name"), self.unit.source, node)
        try:
            if op.infer is not None:
                result = op.infer(**_flatten_bound(op, bound))
            elif op.elementwise:
                result = infer_elementwise(function or op.functions[0], *bound.values())
        except Exception:
            result = UNKNOWN
        active = not op.inert and any(
            is_active(t)
            for n, t in _flatten_bound(op, bound).items()
            if n in op.differentiable or not is_constant(op, n)
        )
        active = active and not getattr(node, "cancels", False)
        if op.refuses_complex():
            self.check_real(op.name, everything, node)
        told = isinstance(bound.get("dtype", Const()), Const)
        if active and not told and not getattr(node, "dtype_is_checked", False):
            self.check_cut_off(result, node)
        if op.writes and args and any(map(is_active, everything)):
            self.check_cut_off(args[0], node)
        return self.finish(result, op, active, everything, node)

    def check_foreign(
        self, op: Op | None, function: Any, operands: list[Type], node: Any
    ) -> None:
        """Refuse operands whose class says itself what the operation does."""
        called = function if function is not None or op is None else op.functions[0]
        if called in _LOOKING or (op is not None and not of_library(called)):
            return
        if not self.settled and any(isinstance(t, Unknown) for t in operands):
            return  # it may be an object, with a method that is followed
        cls = foreign(operands)
        if cls is not None:
            self.require_names(node)  # then its operators are followed
            raise self.refuse(
                node,
                f"a {cls.__name__} and a differentiated value are operands, and what "
                "its class makes of them is not known",
                "a method with a name, or a plain number or array",
            )

    def check_whole_numbers(self, function: Any, args: list[Type], node: Any) -> None:
        """Refuse `d | e` of what holds differentiated values and is no dict for sure.

        These operators carry no derivative for whole numbers and truth values alone.
        """
        if not self.settled:
            return
        if any(is_active(t) and not isinstance(t, (Array, Scalar)) for t in args):
            self.require_names(node)
            raise self.refuse(
                node,
                f"`{function.__name__.strip('_')}` of a differentiated value that is "
                "no dict for sure",
                "`{**a, **b}` of dicts",
            )

    def require_names(self, node: Any) -> None:
        """Let the local names in the expression vary, if one of them does not yet."""
        local = syntax.names_written(self.unit.node.body) | set(self.unit.parameters)
        for name in sorted(syntax.names_read(node) & local):
            self.require(name)

    def refuse_objects(self, node: Any) -> Exception:
        """The error that an array of objects gets differentiated values."""
        return self.refuse(
            node,
            "an array of objects holds differentiated values",
            "an array of floats, or a list",
        )

    def check_cut_off(self, t: Type, node: Any) -> None:
        """Refuse what may make whole numbers of differentiated values, or may not.

        Where the types of the arguments do not tell, no dtype is asked for.
        """
        if not isinstance(t, (Array, Scalar)) or t.dtype is not None:
            return
        own = self.unit.source.func.__module__ or ""  # srcjax's looks at them itself
        asked = self.settled and self.program.knows_dtypes
        asked = asked and own.partition(".")[0] != "srcjax"
        if not asked or varies() is not Varies.DERIVATIVES:
            return
        self.require_names(node)
        raise self.refuse(
            node,
            "whether this makes whole numbers of differentiated values is known only "
            "when the program runs",
            "the same dtype on every path: `np.zeros(n)`, `x.astype(float)`",
        )

    def check_real(self, name: str, operands: list[Type], node: Any) -> None:
        """Refuse complex arguments of what has a derivative for real ones only."""
        if is_mapping() or not any(map(is_active, operands)):
            return
        if any(map(has_complex, operands)):
            raise self.refuse(
                node,
                f"`{name}` has no derivative rule for complex arguments",
                "its real and imaginary parts, `srcjax.stop_gradient`, or a function "
                "of your own with a rule (`srcjax.custom_jvp`)",
                NoRuleError,
            )

    def finish(
        self, result: Type, op: Op, active: bool, operands: list[Type], node: Any
    ) -> Type:
        """Add activity and buffers to what an infer rule said."""
        if op.alias == "same" and operands:
            return replace(with_active(result, active), buffers=operands[0].buffers)
        result = with_active(result, active) if not op.inert else result
        if type(result) is Unknown and not self.settled and _made_of_leaves(operands):
            result = Leaf(result.active)
        alias = op.alias
        if (
            np.einsum in op.functions
            and sum(isinstance(t, Array) for t in operands) > 1
        ):
            alias = "fresh"  # of one array it may be a view, of several a product
        if isinstance(result, (Array, Unknown, List, Dict, Object)):
            if alias == "fresh":
                self.facts.nodes.append(node)
                buffers = frozenset([id(node)])
            else:
                buffers = frozenset().union(*map(all_buffers, operands))
                self.facts.nodes.append(node)
                buffers = buffers or frozenset([id(node)])  # made of numbers
            result = replace(result, buffers=buffers)
        if isinstance(result, (List, Tuple)) and op.alias != "fresh":
            buffers = frozenset().union(*map(all_buffers, operands))
            result = map_parts(result, lambda t: _shares(t, buffers))
        elif isinstance(result, (List, Tuple, Dict, Object)):
            result = _made_at(result, id(node))
        return result


def _made_of_leaves(operands: list[Type]) -> bool:
    """Whether all are arrays, numbers or constants, some of them supposed to be."""
    found = any(isinstance(t, Leaf) for t in operands)
    return found and all(is_entry(t) or isinstance(t, Const) for t in operands)


_LIBRARIES = ("numpy", "scipy", "math", "_operator", "builtins")
#: What looks at an object without asking its class for a number.
_LOOKING = (len, bool, operator.not_, operator.truth, operator.is_, operator.is_not)


def home_of(function: Any) -> str:
    """The module that a function is from.

    `functools.wraps` gives a wrapper the `__module__` of what it is around.
    """
    home = getattr(function, "__module__", None) or type(function).__module__
    if isinstance(function, pytypes.FunctionType):
        home = function.__globals__.get("__name__", home)
    return str(home)


def without_objects(op: Op | None, args: list[Type], kwargs: dict) -> list[Type]:
    """The operands, without constant objects that the function itself takes."""
    everything = [*args, *kwargs.values()]
    if op is None or not op.objects:
        return everything
    try:
        bound = _flatten_bound(op, op.bind(args, kwargs))
    except TypeError:
        return everything
    return [t for n, t in bound.items() if n not in op.objects or is_active(t)]


def of_library(function: Any) -> bool:
    """Whether it is an operation of Python, NumPy or SciPy."""
    home = home_of(function)
    return home.partition(".")[0] in _LIBRARIES


def is_object_dtype(t: Type) -> bool:
    """Whether it is the dtype of Python objects, or an array of that dtype."""
    if isinstance(t, Const):
        value = t.value
        if isinstance(value, str):
            return value in ("O", "object", "|O")
        kind = value.kind if isinstance(value, np.dtype) else ""
        return value is object or value is np.object_ or kind == "O"
    return getattr(dtype_of(t), "kind", "") == "O"


def _made_at(t: Type, site: int, path: tuple = ()) -> Type:
    """A new container with all that is in it: each part has memory of its own."""
    inner = iter(range(len(parts(t))))
    t = map_parts(t, lambda part: _made_at(part, site, (*path, next(inner))))
    return _shares(t, frozenset([(site, path)])) if path else t


def _shares(t: Type, buffers: frozenset) -> Type:
    """A value that may share the memory; a number, which no one writes to, does not."""
    if isinstance(t, (Const, Scalar)):
        return t
    return replace(t, buffers=t.buffers | buffers)


def _flatten_bound(op: Op, bound: dict[str, Any]) -> dict[str, Any]:
    """`*shape` arguments arrive as a Python tuple of types: make it a Tuple type."""
    return {
        n: Tuple(items=v) if isinstance(v, tuple) else v
        for n, v in bound.items()
        if not isinstance(v, dict)
    } | {k: v for d in bound.values() if isinstance(d, dict) for k, v in d.items()}


#: Functions that are known by their identity, and never go.
_BUILT_IN = (type(operator.add), np.ufunc)
_NUMBERS = (bool, int, float, complex)


def is_plain(t: Type) -> bool:
    """Whether it is a number, but no size nor of a class of its own, or not known."""
    if type(t) is Scalar:
        return t.size is None
    return type(t) is Unknown or (type(t) is Const and type(t.value) in _NUMBERS)


def _without_memory(args: list[Type]) -> list[Any] | None:
    """What is known of numbers and arrays but for their memory; None of others.

    None too where the shape of the result is one that may be supposed first.
    """
    told: list[Any] = []
    shapes: set[Any] = set()
    for t in args:
        if type(t) is Array:
            if t.dtype is None or t.shape is None:
                return None
            shapes.add(t.shape)
            told.append((t.active, t.dtype, t.shape))
        elif type(t) is Unknown or not is_plain(t):
            return None
        else:
            told.append(type(t.value) if type(t) is Const else t)
    fixed = len(shapes) == 1 or all(type(n) is int for s in shapes for n in s)
    return told if fixed else None


def _folds(t: Type) -> bool:
    return isinstance(t, Const) and type(t.value) in (int, float, bool)
