"""Types of calls: operations, functions, methods, constructors and attributes."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import os
import types as pytypes
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis import containers
from srcjax.analysis.applied import home_of, of_library, without_objects
from srcjax.analysis.array_likes import (
    AN_ARRAY,
    NO_OPERAND,
    NOT_KNOWN,
    array_likes,
    array_of,
    is_list,
    meaning,
)
from srcjax.analysis.binding import (
    BoundTo,
    Env,
    bind_types,
    global_type,
    hiding,
    loosened,
    made_as_method,
    unfolded,
)
from srcjax.analysis.by_types import NotByTypes
from srcjax.analysis.computing import getter_of
from srcjax.analysis.constructing import Constructing
from srcjax.analysis.custom import (
    Checkpointed,
    CustomBatch,
    CustomRule,
    CustomRules,
    CustomTangent,
)
from srcjax.analysis.deep_copies import holds_object, holds_twice, is_another
from srcjax.analysis.effects import Missed, Unreachable
from srcjax.analysis.foreign import BEHIND, own_method
from srcjax.analysis.guards import is_computed
from srcjax.analysis.known_values import (
    class_of,
    fold_spelling,
    has_attribute,
    is_instance,
    length,
    span_of_range,
    tells_ints,
)
from srcjax.analysis.nested import fresh
from srcjax.analysis.skeletons import leaf_test, type_of_structure
from srcjax.analysis.standard import is_installed, is_of_library, is_standard
from srcjax.analysis.structural import calls, is_structural
from srcjax.analysis.told import looks_only
from srcjax.analysis.types import (
    BOOL,
    INT,
    NONE,
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    Leaf,
    List,
    Object,
    OrNone,
    Other,
    Range,
    Scalar,
    Told,
    Transformed,
    Tuple,
    Type,
    Unknown,
    Varies,
    View,
    ageless_buffers,
    all_buffers,
    is_active,
    is_differentiable,
    is_local,
    is_mapping,
    is_number,
    join,
    map_parts,
    replace,
    returned_by,
    varies,
    with_active,
)
from srcjax.analysis.unfollowed import is_hashable, is_method
from srcjax.analysis.wrappers import called_method, compiled_from, function_within
from srcjax.errors import NoRuleError, SrcjaxError
from srcjax.frontend.inherited import for_class
from srcjax.frontend.lift import free_names
from srcjax.frontend.unit import Unit, own_attribute, parameter_names
from srcjax.frontend.used_once import (
    GIVEN_AGAIN,
    USED_AGAIN,
    may_use_again,
    uses_once,
)
from srcjax.ops.helpers import helper_of, result_like
from srcjax.ops.library_writes import FIRST_WRITTEN
from srcjax.ops.patched import is_users
from srcjax.ops.record import (
    ATTRIBUTES,
    LAYOUT,
    METHODS,
    PROPERTIES,
    REAL_COMPOSITES,
    REFUSED,
    WRITTEN_OUT,
    Op,
    composite_of,
    lookup,
)

#: The classes whose methods without a rule are not looked into.
_BUILT_IN: dict[type, type] = {Array: np.ndarray, List: list, Dict: dict}


#: A call that gives the same for all values of its arguments' types.
LOOKS_AT_TYPES = Op("by_types", inspect.Signature(), inert=True)


def not_known(given: Iterable[Type], node: Any) -> Type:
    """What a call gives of which nothing is known: new memory, or that of the given."""
    return Unknown(True, frozenset([id(node)]).union(*map(all_buffers, given)))


class Calls(Constructing):
    """Infers what calls and attributes give."""

    def attribute(self, base: Type, name: str, node: gast.AST | None) -> Type:
        """The type of `base.name`."""
        if isinstance(base, Told):
            return self.part_of_told(base, name, node)
        if isinstance(base, (Object, Tuple)) and base.cls is not None:
            self.check_own(base, name)
        if isinstance(base, Object):
            if own_method(base.cls, "__getattribute__") and is_active(base):
                raise self.refuse(
                    node,
                    f"a {getattr(base.cls, '__name__', '')} reads attributes by "
                    "`__getattribute__`",
                    "a `property` or a method",
                )
            for key, t in base.items:
                if key == name:
                    return t
            return self.class_attribute(base, name, node)
        if isinstance(base, Tuple) and base.cls is not None:
            fields = getattr(base.cls, "_fields", ())
            if name in fields:
                return base.items[fields.index(name)]
            return self.class_attribute(base, name, node)
        getter = PROPERTIES.get(name) if _may_be_array(base) else None
        if getter is not None:
            self.callee(node, getter)
            return self.call_function(getter, [base], {}, node)
        if isinstance(base, Const) and not isinstance(base.value, (int, float)):
            if not self.program.computing.reads(base.value, name):
                return self.asked_for(base, name, node)
            try:
                value = getattr(base.value, name)
            except AttributeError:
                return UNKNOWN
            return self.seen(base.value, name, value)
        if isinstance(base, Other) and isinstance(
            inspect.getattr_static(base.cls, name, None), property
        ):
            self.callee(node, None)
        op = ATTRIBUTES.get(name)
        if op is not None and not isinstance(base, (Closure, Other)):
            return self.apply(op, None, [base], {}, node)
        self.check_attribute(base, name, node)
        return Unknown(is_active(base), all_buffers(base))

    def check_attribute(self, base: Type, name: str, node: Any) -> None:
        """Whether an attribute is none that `base` has, inside of a `try`: an error.

        Only of what is differentiated, which stays no part of the text as it is.
        """
        lacks = not isinstance(base, Object) and has_attribute(base, name) is False
        if self.attempts and is_active(base) and lacks:
            self.facts.lacking.add(id(node))
            self.facts.nodes.append(node)
            raise Unreachable

    def check_own(self, base: Any, name: str) -> None:
        """An object's own `size` or `any` is not that of an array, which is inert."""
        op = ATTRIBUTES.get(name) or METHODS.get(name)
        own = isinstance(base, Object) and name in dict(base.items)
        if op is None or not op.inert or not is_active(base):
            return
        if own or hasattr(base.cls, name):
            mark = own_attribute(name)
            if mark not in self.unit.varying:
                raise Missed(self.unit, {mark})

    def class_attribute(self, base: Type, name: str, node: Any) -> Type:
        """A property (executed) or class constant of a known class."""
        cls: Any = base.cls  # type: ignore[attr-defined]
        static = inspect.getattr_static(cls, name, None)
        self.program.rests_on_method(cls, name)
        getter = None
        if isinstance(static, property):
            getter = for_class(static.fget, cls)
        elif isinstance(static, functools.cached_property):
            getter = for_class(static.func, cls)
            self.must_stay |= ageless_buffers(all_buffers(base))
        if getter is not None:
            self.callee(node, getter)
            return self.call_function(getter, [base], {}, node)
        if isinstance(static, pytypes.FunctionType):
            method = BoundTo(for_class(static, cls), base)
            return Const(is_active(base), value=method)
        if isinstance(static, (staticmethod, classmethod)):
            return Const(value=getattr(cls, name))
        slot = isinstance(static, pytypes.MemberDescriptorType)
        dynamic = hasattr(static, "__get__") or hasattr(cls, "__getattr__")
        if dynamic and not slot and is_active(base):
            raise self.refuse(
                node,
                f"attribute `{name}` of a {cls.__name__} is computed by a descriptor "
                "or `__getattr__`",
                "a `property` or a method",
            )
        if static is None or dynamic:
            return Unknown(is_active(base), all_buffers(base))
        return self.seen(cls, name, getattr(cls, name))

    def asked_for(self, base: Const, name: str, node: Any) -> Type:
        """The type of `base.name` of a live object, which changes something there."""
        getter = getter_of(inspect.getattr_static(base.value, name, None))
        if isinstance(getter, pytypes.FunctionType):
            self.program.rests_on_method(type(base.value), name)
            getter = for_class(getter, type(base.value))
            self.callee(node, getter)
            return self.call_function(getter, [base], {}, node)
        self.callee(node, None)
        return UNKNOWN

    def seen(self, holder: Any, name: str, value: Any) -> Type:
        """The type of an attribute that a live object has now."""
        self.program.read(holder, name, value)
        found = global_type(value, name)
        if name in self.program.changed_attributes:
            return loosened(found)
        modules = isinstance(holder, pytypes.ModuleType)
        return unfolded(found) if not modules and is_computed(holder, name) else found

    def method_made(
        self, method: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A call of a method that a transform made: `@jit` in a class.

        It is written out with its object, `Model.step(model, x)`, and looked at again.
        """
        bound = isinstance(method, BoundTo)
        owner = method.owner if bound else global_type(method.__self__, "self")
        given = [owner, *args, *kwargs.values()]
        active = any(map(is_active, given))
        if not active and varies() is not Varies.RUN_TIME and not bound:
            return self.opaque_call(method, given, node)
        self.callee(node, method)
        self.facts.unseen = True
        return Unknown(active)

    def method_behind(self, function: Any, args: list[Type]) -> Any:
        """The method that `-obj` or `len(obj)` calls, bound to its object."""
        name = BEHIND.get(function) if is_hashable(function) else None
        owner = args[0] if args else None
        if name is None or not isinstance(owner, (Object, Tuple)):
            return None
        method = own_method(owner.cls, name)
        if method is None:
            return None
        self.program.rests_on_method(owner.cls, name)
        return BoundTo(method, owner, behind=name)

    def made_in_text(self, t: Other) -> bool:
        """Have objects made in the text, to follow methods; whether any is not yet."""
        found = [self.facts.objects.get(b) for b in ageless_buffers(t.buffers)]
        missed = [
            (unit, place)
            for unit, place in filter(None, found)
            if place and place not in unit.varying
        ]
        for unit, place in missed:
            self.miss(unit, {place})
        return bool(missed)

    def leave_out(self) -> None:
        """Pass over what raises for the types so far, while those of a loop are sought.

        A stack that a loop fills is empty in front of it: nothing is taken from it yet.
        """
        if not self.recording:
            raise Unreachable

    def method(
        self,
        base: Type,
        name: str,
        args: list[Type],
        kwargs: dict[str, Type],
        node: gast.Call,
        env: Env,
    ) -> Type | None:
        """A method of a container or array; None if it is something else."""
        self.check_attribute(base, name, node.func)
        kind = dict if isinstance(base, Dict) else list
        known = hasattr(kind, name) and hasattr(containers, f"method_{name}")
        if isinstance(base, (List, Dict)) and known:
            self.callee(node, f"{type(base).__name__.lower()}.{name}")
            if name == "pop" and base == List(buffers=base.buffers, items=()):
                self.leave_out()
            result, changed = getattr(containers, f"method_{name}")(
                base, *args, **kwargs
            )
            if changed is not None:
                for argument in [*args, *kwargs.values()]:
                    self.keep_global(node, base, argument)
                stmt = getattr(self, "current", node)
                self.wrote(stmt, base)
                self.wrote(node, base)
                self.update(base, env, lambda t: changed)
            if name == "copy":
                self.facts.nodes.append(node)
                return replace(result, buffers=frozenset([id(node)]))
            return result
        if name == "view" and is_active(base) and args:
            cls: Any = getattr(args[0], "value", None)
            if isinstance(cls, type) and issubclass(cls, np.ndarray):
                raise self.refuse(node, "a view of another class", "the array itself")
        if isinstance(base, Unknown) and _may_be_no_array(base, name, args, kwargs):
            return None
        if name == "__array_namespace__" and isinstance(base, Array):
            return self.by_types(np, node)
        if isinstance(base, (Array, Scalar, Unknown)):
            op = METHODS.get(name)
            op = op and op.as_called([base, *args], kwargs)
            definition = op and op.completed([base, *args], kwargs)
            if definition is not None and any(map(is_active, [base, *args])):
                bound = BoundTo(definition, base)
                function = op.functions[0]  # type: ignore[union-attr]
                return self.call_composite(function, bound, args, kwargs, node)
            if op is not None:
                self.callee(node, op)
                if isinstance(base, Unknown) and not base.active:
                    self.facts.unsure.add(id(node))
                return self.apply(op, None, [base, *args], kwargs, node)
            if name == "fill" and isinstance(base, Array):
                self.wrote(node, base)
                if is_active(args[0]):
                    self.check_cut_off(base, node)
                    self.update(base, env, lambda t: with_active(t, True))
                return Const(value=None)
            if name == "sort" and isinstance(base, Array):  # `settle` writes it out
                self.wrote(node, base)
                return Const(value=None)
        if name == "_replace" and isinstance(base, Tuple) and base.cls is not None:
            return self.replaced(base, kwargs, node)
        active = any(map(is_active, [*args, *kwargs.values()]))
        own = getattr(_BUILT_IN.get(type(base)), name, None)
        if own is not None and (active or is_active(base)):
            self.callee(node, own)
            given = [base, *args, *kwargs.values()]
            return with_active(self.opaque_call(own, given, node), True)
        if not active:
            found = self.drawn(base, name, args, kwargs, node)
            if found is not None:
                return found
        if isinstance(base, Other) and active and self.made_in_text(base):
            return Unknown(True)
        if isinstance(base, Other) and active:
            shown = getattr(base.cls, "__name__", "object")
            raise self.refuse(
                node,
                f"a differentiated value is given to a method of a {shown}",
                "a list, a dict or an array made in the function",
            )
        if isinstance(base, Other) and base.cls is not None:
            static = inspect.getattr_static(base.cls, name, None)
            if isinstance(static, pytypes.FunctionType):
                self.callee(node, None)
                return self.call_function(static, [base, *args], kwargs, node)
        return None

    def call(
        self,
        function: Type,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        """Call a function value."""
        found = self.told_call(function, args, kwargs, node, env)
        if found is not None:
            known = getattr(function, "value", None)
            record = lookup(known) if looks_only(known) else None
            self.callee(node, known if record is None else record)
            return found
        active = any(map(is_active, [*args, *kwargs.values()]))
        method = getattr(function, "value", None)
        if made_as_method(method) is not None:
            return self.method_made(method, args, kwargs, node)
        if isinstance(function, Closure) and function.scope is not self.unit:
            self.called_apart.append(function.definition)
            if active:
                self.put_in_place([function.definition])
            self.facts.unseen = True
            self.callee(node, None)
            given = [function, *args, *kwargs.values()]
            return with_active(not_known(given, node), active or function.active)
        if isinstance(function, Closure):
            self.check_out(node)
            self.callee(node, function)
            self.check_iterators(function.definition, args, node)
            if self.may_act(function, active, env):
                self.acting.add(id(node))
            return self.call_closure(function, args, kwargs, env)
        nested = self.nested(function, args, kwargs, node, env)
        if nested is not None:
            self.beyond += 1
            return nested
        method = getattr(getattr(function, "cls", None), "__call__", None)  # noqa: B004
        if isinstance(function, (Object, Tuple)) and isinstance(
            method, pytypes.FunctionType
        ):
            self.program.rests_on_method(function.cls, "__call__")
            definition = composite_of(method)
            if definition is not None:
                bound = BoundTo(definition, function, itself=True)
                return self.call_composite(method, bound, args, kwargs, node)
            bound = BoundTo(method, function, itself=True)
            self.callee(node, bound)
            return self.call_function(method, [function, *args], kwargs, node)
        if isinstance(function, Other) and active and self.made_in_text(function):
            self.callee(node, None)
            return not_known([function, *args, *kwargs.values()], node)
        if not isinstance(function, Const):
            made_by = getattr(function, "cls", None)
            if active and str(getattr(made_by, "__module__", "")).startswith("numpy"):
                raise self.no_rule(node, made_by, "differentiated values")
            self.callee(node, None)
            if active and self.settled:
                self.check_iterators(None, args, node)
            given = [function, *args, *kwargs.values()]
            if active or is_active(function):
                return not_known(given, node)
            return self.opaque_call(None, given, node)
        value = function.value
        if not isinstance(value, pytypes.FunctionType):
            self.program.rests_on_method(type(value), "__call__")
        if value is object.__new__ and isinstance(args[0], Const):
            self.facts.nodes.append(node)
            return Object(False, frozenset([id(node)]), args[0].value)
        at_run_time = varies() is Varies.RUN_TIME
        if isinstance(value, functools.partial) and (active or at_run_time):
            # The call is written out with all arguments, and looked at again.
            self.callee(node, value)
            self.facts.unseen = True
            return Unknown(active)
        if isinstance(value, functools.partial):
            return self.call(
                Const(value=value.func),
                [*(global_type(a, "") for a in value.args), *args],
                {**{k: global_type(v, k) for k, v in value.keywords.items()}, **kwargs},
                node,
                env,
            )
        if isinstance(value, BoundTo):
            self.callee(node, value)
            return self.call_function(
                value.function, [value.owner, *args], kwargs, node
            )
        behind = self.method_behind(value, args)
        if behind is not None:
            self.callee(node, behind)
            return self.call_function(behind.function, args, kwargs, node)
        special = self.special(value, args, kwargs, node, env)
        if special is not None:
            return special
        if is_structural(value):
            return self.by_structure(value, args, kwargs, node, env)
        by_types = self.told_by_types(value, args, kwargs, node)
        if by_types is not None:
            return by_types
        value = self.without_rule(value, active)
        given = [*args, *kwargs.values()]
        if isinstance(value, Checkpointed) and any(map(hiding, given)):
            value = value.function  # what it saves of objects is not told
        with_rules = (CustomRule, CustomTangent, CustomBatch, Checkpointed)
        if isinstance(value, with_rules):
            self.callee(node, value)
            self.check_constant(value, args, node, env)
            quiet = [with_active(t, False) for t in args]
            named = {k: with_active(t, False) for k, t in kwargs.items()}
            if isinstance(value, CustomRules):
                found = value.result_type(quiet, named)
                return with_active(fresh(found, id(node)), active)
            result = self.call_function(value.function, quiet, named, None)
            return with_active(result, active)
        if of_library(value) and lookup(value) is not None:
            given = without_objects(lookup(value), args, kwargs)
            self.check_foreign(None, value, given, node)
        value = called_method(value, [*args, *kwargs.values()], kwargs)
        args, kwargs = self.as_arrays(value, args, kwargs, node)
        definition = composite_of(value)
        if definition is not None and (active or lookup(value) is None):
            return self.call_composite(value, definition, args, kwargs, node)
        library = home_of(value)
        if (
            library.split(".")[0] in ("numpy", "scipy")
            and lookup(value) is None
            and not isinstance(value, type)
        ):
            self.callee(node, value)
            given = [*args, *kwargs.values()]
            if active:
                self.note_library(value, args, kwargs, node)
                return not_known(given, node)
            return self.library_call(value, args, kwargs, node)
        if isinstance(getattr(value, "__self__", None), np.ufunc) and (
            getattr(value, "__name__", "") == "at"
        ):
            self.callee(node, value)
            self.wrote(node, args[0])
            if active and is_differentiable(args[0]):
                self.update(args[0], env, lambda t: with_active(t, True))
            return Const(value=None)
        op = lookup(value)
        op = op and op.as_called(args, kwargs)
        definition = op and op.completed(args, kwargs)
        if definition is not None and active:
            return self.call_composite(value, definition, args, kwargs, node)
        if op is not None:
            self.callee(node, op)
            written = [kwargs[w] for w in op.writes if w in kwargs]
            written += [t for t, _ in zip(args, op.writes, strict=False)]
            for base in written:
                self.wrote(getattr(self, "current", node), base)
                if active and is_differentiable(base):
                    self.update(base, env, lambda t: with_active(t, True))
            args = self.operands_there(op, args, getattr(node, "args", []), env)
            return self.apply(op, value, args, kwargs, node)
        if isinstance(value, pytypes.FunctionType):
            self.callee(node, value)
            return self.call_function(value, args, kwargs, node)
        given = [*args, *kwargs.values()]
        within = function_within(value, given) if active else None
        if within is not None:
            self.callee(node, within)
            return self.call_function(within, args, kwargs, node)
        if isinstance(value, pytypes.MethodType):
            self.callee(node, value)
            owner = global_type(value.__self__, "self")
            return self.call_function(value.__func__, [owner, *args], kwargs, node)
        if isinstance(value, type):
            return self.construct(value, args, kwargs, node)
        call_method = getattr(type(value), "__call__", None)  # noqa: B004
        if isinstance(call_method, pytypes.FunctionType):
            self.callee(node, pytypes.MethodType(call_method, value))
            owner = Const(value=value)
            return self.call_function(call_method, [owner, *args], kwargs, node)
        self.callee(node, value)
        compiled = compiled_from(value, given) if active else None
        if compiled is not None:  # it stays compiled, and gives what its Python gives
            return with_active(self.call_inert(compiled, args, kwargs, node), True)
        return with_active(self.opaque_call(value, given, node), active)

    def operands_there(
        self, op: Op, args: list[Type], nodes: list[Any], env: Env
    ) -> list[Type]:
        """The types of arguments; those of a ufunc are no None, for which it raises.

        `nodes` are those of the arguments, unless one of them is starred. Of None,
        `np.sum` gives None, and `np.asarray` an array.
        """
        if not any(type(t) is OrNone for t in args) or len(nodes) != len(args):
            return args
        if not op.functions or not all(isinstance(f, np.ufunc) for f in op.functions):
            return args
        return [self.there(t, n, env) for t, n in zip(args, nodes, strict=True)]

    def told_by_types(
        self, value: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type | None:
        """What a function gives that only looks at types: a module, an object.

        Or a method of a known string: another one.
        """
        spelled = None if kwargs else fold_spelling(value, args)
        if spelled is not None:
            self.callee(node, LOOKS_AT_TYPES)
            return spelled
        kinds = (pytypes.FunctionType, pytypes.MethodType, functools.partial)
        if not isinstance(value, (*kinds, functools._lru_cache_wrapper)):
            return None
        home = home_of(value).partition(".")[0]
        if home in ("numpy", "srcjax") or is_standard(value) or lookup(value):
            return None
        try:
            found = self.program.ask(value, args, kwargs)
        except NotByTypes:
            return self.told_later(value, args, kwargs, node)
        return self.by_types(found, node)

    def by_types(self, found: Any, node: Any) -> Type:
        """The type of what a call gives for all values of its arguments' types."""
        self.callee(node, LOOKS_AT_TYPES)
        items = found if type(found) is tuple else None
        if items is None:
            return Const(value=found)
        return Tuple(items=tuple(Const(value=item) for item in items))

    def told_later(
        self, value: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type | None:
        """A call of such a function while types are not known yet: it is let wait."""
        given = [*args, *kwargs.values()]
        unknown = [t for t in given if type(t) is Unknown]
        if self.settled or not any(map(is_active, unknown)):
            return None
        supposed = [Array(dtype=np.dtype(float)) if t in unknown else t for t in args]
        try:
            self.program.ask(value, supposed, kwargs)
        except NotByTypes:
            return None
        self.callee(node, LOOKS_AT_TYPES)
        self.facts.unseen = True
        return UNKNOWN

    def by_structure(
        self,
        value: Any,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type:
        """A function of the structure of containers: `settle` writes the call out.

        Where nothing varies it stays a call, if its type is known all the same.
        """
        given = [*args, *kwargs.values()]
        active = any(self.brings(t, env) for t in given)
        leaf = Unknown(active, NONE.union(*map(all_buffers, given)))
        op = lookup(value) if varies() is Varies.DERIVATIVES else None
        if op is not None and op.inert:  # of an index, say: it is called at the latest
            self.facts.nodes.append(node)
            self.callee(node, value)
            self.facts.unseen = self.facts.structural = True
            return UNKNOWN
        if not active and varies() is not Varies.RUN_TIME:
            self.facts.nodes.append(node)
            self.callee(node, value)
            found = self.structure_of(value, args, kwargs, node, env)
            # It writes to nothing; what it calls is not seen before it is written out.
            if found is None and not (calls(value) and self.settled):
                found = leaf
            return found or self.opaque_call(value, given, node)
        self.callee(node, value)
        if self.settled:
            raise self.refuse(
                node,
                "the structure of a tree is not known here",
                "containers whose keys and lengths are known: arguments of the "
                "function, or made in it",
            )
        if any(isinstance(t, Unknown) and not t.active for t in given):
            self.put_in_place(self.called_apart)  # one of them may have made it
        self.facts.unseen = self.facts.structural = True
        return self.structure_of(value, args, kwargs, node, env) or leaf

    def structure_of(
        self,
        value: Any,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        env: Env,
    ) -> Type | None:
        """The type of what a function of structure gives, as far as it is told.

        What functions give that it calls is supposed, until the calls are written out.
        """
        if self.settled:
            return type_of_structure(value, args, kwargs, id(node))
        many = itertools.count()

        def called(function: Type, leaves: list[Type]) -> Type:
            call = self.leaf_call(node, next(many))
            found = self.call(function, leaves, {}, call, env)
            unseen = type(found) is Unknown and isinstance(function, Closure)
            return Leaf(found.active, found.buffers) if unseen else found

        return type_of_structure(value, args, kwargs, id(node), called, self.asked)

    def leaf_call(self, node: Any, place: int) -> gast.Call:
        """What stands for the call of a function with the leaves at a place of a tree.

        The same one each time: memory is told by where it is made.
        """
        made = node.__dict__.setdefault("leaf_calls", {})
        if place not in made:
            made[place] = gast.copy_location(gast.Call(node.func, [], []), node)
        found: gast.Call = made[place]
        return found

    def asked(self, t: Type) -> Any:
        """The function of the type, which is asked what is a leaf of a tree."""
        return leaf_test(t, self.program, self.unit)

    def brings(self, t: Type, env: Env) -> bool:
        """Whether an argument brings differentiated values, a function in its body."""
        if isinstance(t, Closure):
            free = syntax.names_read(t.definition)
            return t.active or any(is_active(env.get(n, UNKNOWN)) for n in free)
        owner = getattr(getattr(t, "value", None), "owner", None)
        return is_active(t) or (isinstance(owner, Type) and is_active(owner))

    def as_arrays(
        self, value: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> tuple[list[Type], dict[str, Type]]:
        """The arguments of a library's function, its lists of numbers as arrays."""
        op, definition = lookup(value), composite_of(value)
        home = str(getattr(value, "__module__", "") or type(value).__module__)
        if home.split(".")[0] not in ("numpy", "scipy") or (op and op.inert):
            return args, kwargs
        if definition is not None:
            return self.listed(inspect.signature(definition), args, kwargs, node)
        if op is None:
            return args, kwargs
        return self.listed(op.signature, args, kwargs, node, op.taken_as_arrays())

    def listed(
        self,
        signature: inspect.Signature,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
        taken: frozenset[str] = frozenset(),
    ) -> tuple[list[Type], dict[str, Type]]:
        """Take lists as arrays, and remember the nodes that have to be made ones."""
        found = array_likes(signature, args, kwargs, taken)
        nodes: dict[Any, Any] = dict(enumerate(getattr(node, "args", ())))
        if not found or any(isinstance(n, gast.Starred) for n in nodes.values()):
            return args, kwargs
        nodes |= {k.arg: k.value for k in node.keywords}
        if self.recording:
            self.facts.lists |= {id(nodes[key]) for key in found}
            self.facts.nodes += [nodes[key] for key in found]
        args = [array_of(t) if i in found else t for i, t in enumerate(args)]
        kwargs = {k: array_of(t) if k in found else t for k, t in kwargs.items()}
        return args, kwargs

    def stored_array(self, node: Any, base: Type, value: Type) -> Type:
        """What is stored in an array: of `a[i:j] = x, y` the array of both."""
        dtype = base.dtype if isinstance(base, Array) else None
        if dtype is None or dtype.kind not in "fciub":
            return value
        if not is_list(value) or not is_active(value):
            return value
        if self.recording:
            self.facts.lists.add(id(node))
            self.facts.nodes.append(node)
        return array_of(value)

    def operands(
        self, function: Any, types: list[Type], nodes: list[Any], node: Any
    ) -> list[Type]:
        """The operands of an operator, a list as the array that NumPy makes of it.

        `x * [3, 5, 2]` of an array; `n * [0.0]` is a list still.
        """
        found = list(types)
        active = any(map(is_active, types))
        for place, t in enumerate(types):
            if not is_list(t):
                continue
            other = types[1 - place]
            kind = meaning(function, other)
            if not active:
                if kind == AN_ARRAY:
                    found[place] = array_of(t)  # the operator sees to it itself
                continue
            if kind == NOT_KNOWN and self.settled:
                raise self.refuse(
                    node,
                    "a list stands beside an operand that may be a number, an array or "
                    "a list",
                    "`np.array(...)` of it where arrays are meant, `list(...)` of the "
                    "other where lists are",
                )
            if kind == NO_OPERAND:
                raise self.refuse(
                    node,
                    f"a list and a number are operands of "
                    f"`{function.__name__.strip('_')}`, which Python refuses",
                    "`np.array(...)` of the list",
                )
            if kind == AN_ARRAY:
                found[place] = array_of(t)
                if self.recording:
                    self.facts.lists.add(id(nodes[place]))
                    self.facts.nodes.append(nodes[place])
        return found

    def is_whole(self, t: Type) -> bool:
        """Whether the text has all that sets attributes of an object, if it is one."""
        if not isinstance(t, Object):
            return True
        made = all(isinstance(buffer, int) for buffer in t.buffers)
        return self.settled and made and self.facts.constructed.isdisjoint(t.buffers)

    def special(
        self, value: Any, args: list[Type], kwargs: dict, node: Any, env: Env
    ) -> Type | None:
        """Builtins that the type domain itself understands."""
        if value is len and len(args) == 1:
            return length(args[0])
        if value is setattr and len(args) == 3 and isinstance(args[1], Const):
            self.facts.set_attributes.add(str(args[1].value))
            return None  # as any other call
        if (value is copy.deepcopy or value is copy.copy) and len(args) == 1:
            return self.copy_of(value, args[0], node)
        if value is range:
            numbers = [a.value if isinstance(a, Const) else None for a in args]
            if all(isinstance(n, int) for n in numbers):
                values = range(*numbers)  # type: ignore[arg-type]
                return Range(length=len(values), values=values)
            return Range(span=span_of_range(args))
        if value is slice and any(map(is_active, args)):
            if not self.settled:
                return UNKNOWN
            raise self.refuse(
                node, "a slice with a differentiated bound", "whole numbers: `int(...)`"
            )
        if (
            value is next
            and args
            and isinstance(args[0], List)
            and (
                is_active(args[0])
                or (isinstance(node.args[0], gast.Name) and varies() is Varies.RUN_TIME)
            )
        ):
            raise self.refuse(
                node,
                "`next` of a generator that works on differentiated values",
                "a `for` loop over it, or `list(...)` of it",
            )
        if value is slice and 1 <= len(args) <= 3 and not kwargs:
            nothing = Const(value=None)
            bounds = (nothing, *args) if len(args) == 1 else tuple(args)
            return Tuple(items=(*bounds, nothing)[:3], cls=slice)
        if value is callable and len(args) == 1:
            if isinstance(args[0], Const):
                return Const(value=callable(args[0].value))
            if isinstance(args[0], (Array, Scalar, Tuple, List, Dict)):
                return Const(value=False)
            return Const(value=True) if isinstance(args[0], Closure) else BOOL
        if value is hasattr and len(args) == 2:
            name = getattr(args[1], "value", None)
            found = has_attribute(args[0], name) if isinstance(name, str) else None
            if found is False and not self.is_whole(args[0]):
                return BOOL
            return BOOL if found is None else Const(value=found)
        if value is type and len(args) == 1:
            cls = class_of(args[0])
            self.program.asks_for_ints |= is_active(args[0]) and cls is float
            return UNKNOWN if cls is None else Const(value=cls)
        if value is isinstance and len(args) == 2:
            self.program.asks_for_ints |= is_active(args[0]) and tells_ints(*args)
            return is_instance(*args)
        if value in (list, tuple) and len(args) == 1:
            return self.convert(value, args[0], node)
        if value is list and not args:
            self.callee(node, value)
            self.facts.nodes.append(node)
            return List(False, frozenset([id(node)]), ())
        if value in (dict, OrderedDict) and not args:
            self.callee(node, value)
            self.facts.nodes.append(node)
            pairs = tuple(kwargs.items())
            return Dict(False, frozenset([id(node)]), pairs, None, value)
        if (
            value in (dict, OrderedDict)
            and len(args) == 1
            and isinstance(args[0], Dict)
        ):
            self.callee(node, value)
            self.facts.nodes.append(node)
            copied: Type = replace(args[0], buffers=frozenset([id(node)]), cls=value)
            for key, new in kwargs.items():
                copied = containers.store_item(copied, Const(value=key), new)
            return copied
        if value is zip and kwargs.keys() <= {"strict"}:
            known = [self.iteration(a) for a in args]
            if all(k is not None for k in known) and known:
                rows = zip(*known, strict=False)
                items = tuple(Tuple(items=r) for r in rows)
                return Tuple(items=items, view=View("zip"))
            row = Tuple(items=tuple(map(self.element, args)))
            return List(elem=row, cls=tuple, view=View("zip"))
        if value is enumerate and args:
            known_items = self.iteration(args[0])
            if known_items is not None:
                rows_ = [Tuple(items=(INT, t)) for t in known_items]
                return Tuple(items=tuple(rows_), view=View("enumerate"))
            span = span_of_range([length(args[0])])
            row = Tuple(items=(replace(INT, span=span), self.element(args[0])))
            return List(elem=row, cls=tuple, view=View("enumerate"))
        if value is reversed and args:
            known_items = self.iteration(args[0])
            if known_items is not None:
                return Tuple(items=tuple(reversed(known_items)), view=View("reversed"))
            if isinstance(args[0], Range):
                return args[0]
            elem = self.element(args[0])
            return List(elem=elem, cls=tuple, view=View("reversed"))
        if value is sorted and args:
            self.callee(node, value)
            self.facts.nodes.append(node)
            elem = self.element(args[0])
            return List(False, frozenset([id(node)]), None, elem)
        if value in (min, max) and len(args) == 1 and not kwargs:
            return self.element(args[0])
        of_two = value in (min, max) and len(args) == 2 and not kwargs
        if of_two and all(isinstance(t, (Tuple, List)) for t in args):
            self.callee(node, value)
            return join(*args)
        if value is getattr and len(args) == 2 and isinstance(args[1], Const):
            return self.attribute(args[0], str(args[1].value), node)
        if hasattr(value, "__srcjax_keeps__") and args:
            self.callee(node, value)
            if is_local(args[0]):
                return args[0]
            if isinstance(args[0], Const) and callable(args[0].value):
                made = self.program.made_of(value, args[0].value, [], {})
                return Const(value=made)
        if value is dataclasses.replace and isinstance(args[0], Object):
            return self.replaced(args[0], kwargs, node)
        diagonal = value is np.fill_diagonal and len(args) == 2 and not kwargs
        if (value is np.copyto and args) or diagonal:
            self.callee(node, value)
            self.wrote(node, args[0])
            given = [*args[1:], *kwargs.values()]
            if any(map(is_active, given)) and is_differentiable(args[0]):
                self.update(args[0], env, lambda t: with_active(t, True))
            return Const(value=None)
        return None

    def check_iterators(self, definition: Any, args: list[Type], node: Any) -> None:
        """Refuse iterators for what may go through them again: they are lists here."""
        for place in getattr(node, "iterators", ()):
            if isinstance(place, int):  # after what is bound, as `self`
                place += len(args) - len(node.args)
            if not uses_once(definition, place):
                raise self.refuse(node, USED_AGAIN, "a list: `list(...)` of it")

    def call_closure(
        self, closure: Closure, args: list[Type], kwargs: dict, env: Env
    ) -> Type:
        """A function defined inside the program, before it is inlined."""
        self.facts.unseen = True
        self.beyond += 1  # it reads what the statement does not
        definition = closure.definition
        names = parameter_names(definition.args)
        free = syntax.names_read(definition) - set(names)
        active = any(map(is_active, [*args, *kwargs.values()])) or any(
            is_active(env.get(n, UNKNOWN)) for n in free
        )
        reads = [env[n] for n in sorted(free) if n in env]
        result = self.opaque_call(None, [*args, *kwargs.values(), *reads], None)
        return replace(result, active=active)

    def without_rule(self, value: Any, active: bool) -> Any:
        """The function behind one with a rule of its own, where no derivative follows.

        Or what gives the value alone (`__srcjax_alone__`). One that has no text is
        called as it is. `active` is whether an argument varies.
        """
        if isinstance(value, CustomBatch):
            return value if is_mapping() and active else value.function
        is_function = isinstance(value, pytypes.FunctionType)
        alone = getattr(value, "__srcjax_alone__", None) if is_function else None
        rule = isinstance(value, (CustomRule, CustomTangent, Checkpointed))
        if alone is None and (not rule or isinstance(value, CustomRules)):
            return value
        done = is_mapping() and (
            not self.program.keeps_rules or isinstance(value, Checkpointed)
        )
        if not done and varies() is not Varies.RUN_TIME:
            return value
        if alone is not None:
            return alone
        plain = isinstance(value.function, pytypes.FunctionType)
        readable = plain and self.typing_unit(value.function) is not None
        return value.function if readable else value

    def may_act(self, closure: Closure, active: bool, env: Env) -> bool:
        """Whether a function that is defined here may change what varies."""
        definition = closure.definition
        free = syntax.names_read(definition) - set(parameter_names(definition.args))
        if not active and not any(is_active(env.get(n, UNKNOWN)) for n in free):
            return False
        body = list(syntax.walk(definition.body))
        return any(
            isinstance(node, (gast.Nonlocal, gast.Global, gast.Delete, gast.AugAssign))
            or (
                isinstance(node, (gast.Subscript, gast.Attribute))
                and not isinstance(node.ctx, gast.Load)
            )
            or (isinstance(node, gast.Call) and not self.is_pure(node.func, env))
            for node in body
        )

    def check_constant(self, rule: Any, args: list[Type], node: Any, env: Env) -> None:
        """Refuse derivatives that would flow into what a rule has no adjoint for.

        A number in `nondiff_argnums` of a `custom_jvp` function is constant, as in JAX.
        """
        if varies() is not Varies.DERIVATIVES or isinstance(rule, Checkpointed):
            return
        for i in rule.nondiff_argnums:
            t = args[i] if i < len(args) else UNKNOWN
            of_vjp = isinstance(rule, CustomRule) and is_active(t)
            if of_vjp or self.takes_active(t, env):
                raise self.refuse(
                    node,
                    f"argument {i} of `{rule.__name__}` is one of its nondiff_argnums, "
                    "and a derivative would flow into it",
                    "`srcjax.stop_gradient` of it, or an argument that the rule is for",
                )
        for t in args:
            if isinstance(t, (Closure, Transformed)) and is_active(t):
                raise self.refuse(
                    node,
                    "a function of differentiated values is given to "
                    f"`{rule.__name__}`, whose rule has nothing of them",
                    "these values as arguments",
                )

    def takes_active(
        self, t: Type | None, env: Env, seen: frozenset[str] = frozenset()
    ) -> bool:
        """Whether a function defined here takes what is differentiated from around."""
        if not isinstance(t, Closure) or t.scope is not self.unit:
            return False
        names = free_names(t.definition) - seen
        return any(
            is_active(env[n]) or self.takes_active(env[n], env, seen | names)
            for n in names
            if n in env
        )

    def is_pure(self, function: gast.expr, env: Env) -> bool:
        """Whether the function that is called by a name has no effects."""
        chain = syntax.dotted(function)
        if chain is None or chain.partition(".")[0] in env:
            return False
        value = getattr(self.eval(function, env), "value", None)
        return self.only_computes(value, frozenset())

    def is_followed(self, function: Any, active: bool) -> bool:
        """Whether the call is of a unit that takes part in the transform.

        The end of a recursion does too: nothing flows into `total(None)`.
        """
        if varies() is Varies.RUN_TIME:
            return helper_of(function) is None
        if id(function) in WRITTEN_OUT:
            return True
        unit = id(self.program.units.get(id(function)))
        return active or any(key[0] == unit for _, key in self.stack)

    def call_inert(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """What a function gives that runs as it is, whatever it is given."""
        inert = [with_active(t, False) for t in args]
        named = {name: with_active(t, False) for name, t in kwargs.items()}
        given = [*inert, *named.values()]
        unit = self.typing_unit(function)
        if unit is None:
            return self.opaque_call(function, given, node)
        try:
            arguments = bind_types(unit, inert, named)
        except TypeError:  # it takes other arguments, which the call will tell
            return UNKNOWN
        return self.result_alone(unit, arguments, given, node)

    def result_alone(
        self, unit: Unit, arguments: Env, given: list[Type], node: Any
    ) -> Type:
        """The result of a call that is not followed; what it writes to is noted."""
        recording, self.recording = self.recording, False
        facts = self.facts
        results, facts.results = facts.results, {}
        waits = facts.unseen, facts.structural  # nothing is written out in there
        try:
            with self.trying():
                result = with_active(self.call_unit(unit, arguments), False)
        except Missed:
            result = self.opaque_call(unit.source.func, given, node)
        finally:
            self.recording, facts.results = recording, results
            facts.unseen, facts.structural = waits
        self.wrote_in(unit, given, node)
        if node is None:
            return result
        memory = NONE.union(*map(all_buffers, given))
        return returned_by(result, id(node), memory)

    def call_function(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """A call of a user's function, or of a helper of the runtime."""
        found = self.outcome(function, args, kwargs, node)
        if isinstance(found, Array) and found.shape is not None:
            return found
        told = result_like(function, args, kwargs)
        if isinstance(found, (Array, Unknown)) and isinstance(told, Array):
            return replace(told, active=found.active, buffers=found.buffers)
        return found

    def outcome(
        self, function: Any, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """What inference finds where it executes the function in its own unit."""
        self.beyond += 1
        active = any(map(is_active, [*args, *kwargs.values()]))
        if is_users(function):
            self.check_out(node)
        if is_standard(function):  # `re` alone is thousands of lines to look at
            if active and node is not None:
                raise self.no_standard_rule(node, function)
            if not active:
                return self.opaque_call(function, [*args, *kwargs.values()], node)
        followed = self.is_followed(function, active)
        followed = followed or self.is_of_varying(function, args, kwargs, node)
        try:
            if followed:
                unit = self.active_unit(function, args, kwargs)
            else:
                unit = self.typing_unit(function)
            if unit is None:
                given = [*args, *kwargs.values()]
                return with_active(self.opaque_call(function, given, node), active)
            arguments = bind_types(unit, args, kwargs)
        except TypeError:
            return Unknown(active)
        if not is_of_library(function):
            self.check_iterators(unit.source.node, args, node)
            if unit.gives_iterator and may_use_again(node):
                raise self.refuse(node, GIVEN_AGAIN, "a list: `list(...)` of it")
        if not followed:
            given = [*args, *kwargs.values()]
            result = self.result_alone(unit, arguments, given, node)
            if node is None or not self.makes_function(result):
                self.meet_followed(function, args, kwargs, node, followed=False)
                return result
            unit = self.active_unit(function, args, kwargs)
            if unit is None:
                return result
            self.facts.makers.add(id(node))
            arguments = bind_types(unit, args, kwargs)
        if args and is_method(function, args[0]):
            self.stand_apart(node)
        self.meet_followed(function, args, kwargs, node, followed=True)
        try:
            result = self.call_unit(unit, arguments)
            varying = self.varying_later(node, args, kwargs, result)
            if varying is not None:
                result = self.call_unit(unit, bind_types(unit, *varying))
        except SrcjaxError as error:
            raise self.where_library_is_called(error, function, node) from None
        written = self.written_in(unit, [*args, *kwargs.values()])
        self.hidden |= written
        if node is None:
            return result
        if not active:  # it stays as it is, and may write all the same
            self.wrote_parts(written, node)
        elif written and isinstance(node, gast.expr):
            self.wrote(node, Unknown(False, written))
        self.facts.nodes.append(node)
        return self.handed_back(result, [*args, *kwargs.values()], written, node)

    def varying_later(
        self, node: Any, args: list[Type], kwargs: dict[str, Type], result: Type
    ) -> tuple[list[Type], dict[str, Type]] | None:
        """The arguments with those active that vary later, in memory of the result.

            v = first_of(items)     a tangent of `v` is one of an item, though it is
            v += x                  only here that `items` varies

        None where there are none.
        """
        if not isinstance(node, gast.Call) or len(node.args) != len(args):
            return None
        given = all_buffers(result)
        function = id(self.unit.source.func)

        def late(value: Any, t: Type) -> bool:
            if not isinstance(value, gast.Name) or is_active(t):
                return False
            if all_buffers(t).isdisjoint(given):
                return False
            self.given_back.add((function, value.id))
            return (function, value.id) in self.program.filled_later

        def active(t: Type) -> Type:
            t = map_parts(t, active)
            return t if t.buffers.isdisjoint(given) else with_active(t, True)

        named = {k.arg: k.value for k in node.keywords}
        positions = [late(v, t) for v, t in zip(node.args, args, strict=True)]
        keys = {k for k, t in kwargs.items() if late(named.get(k), t)}
        if not (any(positions) or keys):
            return None
        return (
            [
                active(t) if is_late else t
                for is_late, t in zip(positions, args, strict=True)
            ],
            {k: active(t) if k in keys else t for k, t in kwargs.items()},
        )

    def where_library_is_called(
        self, error: SrcjaxError, function: Any, node: Any
    ) -> SrcjaxError:
        """An error about the text of a library, told of the user's call of it.

        Users know their line; they did not write that of the library.
        """
        own = self.unit.source.filename
        there = error.filename or ""
        if not is_installed(there) or is_installed(own) or not hasattr(node, "lineno"):
            return error
        name = getattr(function, "__qualname__", "a function")
        called = syntax.dotted(node.func) if isinstance(node, gast.Call) else None
        instead = "NumPy's functions, of the arrays that it holds"
        if called and called.partition(".")[0] in self.unit.source.globals:
            name, instead = called, f"a rule for it, `@srcjax.adjoint({called})`"
        same = name.rpartition(".")[2]
        if callable(getattr(np, same, None)):
            instead = f"`np.{same}`"
        library = str(getattr(function, "__module__", "")).partition(".")[0]
        return self.refuse(
            node,
            f"`{name}` of {library} is not differentiated: {error.reason} "
            f"({os.path.basename(there)}, line {error.lineno})",
            instead,
        )

    def check_out(self, node: Any) -> None:
        """Refuse a user's function whose `out=` was taken for that of a library's."""
        if getattr(node, "took_out", False):
            raise self.refuse(
                node,
                "`out=` of a function that is only known when it is called",
                "the argument by position",
            )

    def put_in_place(self, definitions: list[Any]) -> None:
        """From now on calls of what makes these functions are put in place."""
        for definition in definitions:
            if id(definition) not in self.program.made:
                self.program.made[id(definition)] = definition
                self.widened = True

    def makes_function(self, t: Type) -> bool:
        """Whether a function is in it that is called with differentiated values.

        What defines it is put in place then: what it does is only known there.
        """
        if isinstance(t, Tuple):
            return any(map(self.makes_function, t.items))
        return isinstance(t, Closure) and id(t.definition) in self.program.made

    def meet_followed(
        self, function: Any, args: list[Type], kwargs: dict, node: Any, followed: bool
    ) -> None:
        """Show the callee all that the call passes, once one visit of it is followed.

        The call is written once: where it passes a differentiated value in one call of
        its unit and a string in another, what is written of the callee gets both.
        """
        if node is None or not self.recording:
            return
        key = id(node), id(function)
        waiting = self.unfollowed.setdefault(key, [])
        if followed:
            self.followed.add(key)
        elif (args, kwargs) not in waiting:
            waiting.append((args, kwargs))
        if key not in self.followed:
            return
        self.unfollowed[key] = []
        for given, named in waiting:
            unit = self.active_unit(function, given, named)
            if unit is not None:
                with contextlib.suppress(Unreachable):
                    self.call_unit(unit, bind_types(unit, given, named))

    def copy_of(self, value: Any, t: Type, node: Any) -> Type:
        """`copy.copy(x)` and `copy.deepcopy(x)` of arrays and containers."""
        # An operation, in all calls: the same one may get a number here and an array
        # there. What no class of the user's has a word in, it copies as it is.
        deep = value is copy.deepcopy
        if node is not None and deep and is_active(t) and holds_twice(t):
            raise self.refuse(
                node,
                "a deep copy of a container that may hold the same array twice",
                "a copy of each array in it",
            )
        whole = deep and not holds_object(t)
        self.callee(node, lookup(value) if whole else value)
        self.facts.nodes.append(node)
        if isinstance(t, Const) and is_another(t):
            return Other(False, frozenset([id(node)]), type(t.value))
        if is_number(t) or isinstance(t, (Const, Other, Range, Closure)):
            return t
        copied = map_parts(t, lambda p: self.copy_of(value, p, None) if deep else p)
        return replace(copied, buffers=frozenset([id(node)]))

    def call_composite(
        self,
        value: Any,
        definition: Any,
        args: list[Type],
        kwargs: dict[str, Type],
        node: Any,
    ) -> Type:
        """A call of a function that a plain NumPy function stands for.

        Where nothing is differentiated, the call stays the user's own.
        """
        active = any(map(is_active, [*args, *kwargs.values()]))
        callee = definition
        if isinstance(definition, pytypes.MethodType):
            args = [global_type(definition.__self__, "self"), *args]
            definition = definition.__func__
        if isinstance(definition, BoundTo):
            args, definition = [definition.owner, *args], definition.function
            active = any(map(is_active, [*args, *kwargs.values()]))
        if not active:
            given = [*args, *kwargs.values()]
            writes = is_hashable(value) and value in FIRST_WRITTEN
            if writes and not all(isinstance(t, (Array, Scalar)) for t in given):
                self.callee(node, None)  # it leaves other items in a list
                return self.opaque_call(value, given, node)
            try:
                inspect.signature(definition).bind(*args, **kwargs)
            except TypeError:  # it knows nothing of `buffer=`, say
                self.callee(node, None)
                return self.opaque_call(value, given, node)
            try:
                return self.call_function(definition, args, kwargs, node)
            except Unreachable:
                return Unknown(buffers=NONE.union(*map(all_buffers, given)))
        self.callee(node, callee)
        if id(definition) in REAL_COMPOSITES:
            name = getattr(value, "__name__", "")
            self.check_real(name, [*args, *kwargs.values()], node)
        signature = inspect.signature(definition)
        without = LAYOUT & (kwargs.keys() - signature.parameters.keys())
        if without and isinstance(node, gast.Call):
            node.keywords = [k for k in node.keywords if k.arg not in without]
            kwargs = {k: t for k, t in kwargs.items() if k not in without}
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise self.no_rule(node, value, f"this call of it: {error}") from None
        for name in REFUSED.get(id(definition), ()):
            default = Const(value=signature.parameters[name].default)
            if bound.get(name, default) != default:
                raise self.no_rule(node, value, f"its argument `{name}`")
        outer, self.refusal = self.refusal, None
        try:
            return self.call_function(definition, args, kwargs, node)
        except Unreachable:
            if self.refusal is None:
                raise
            raise self.no_rule(node, value, self.refusal) from None
        finally:
            self.refusal = outer

    def no_rule(self, node: Any, value: Any, what: str) -> Exception:
        """The error that a composite does not serve a call."""
        called = isinstance(node, gast.Call)
        name = syntax.text(node.func) if called else value.__name__
        return self.refuse(
            node,
            f"`{name}` has no derivative rule for {what}",
            "arguments that are supported, or a function of your own in plain NumPy",
            NoRuleError,
        )

    def no_standard_rule(self, node: Any, function: Any) -> Exception:
        """The error that a function of the standard library has no rule."""
        path = f"{function.__module__}.{function.__qualname__}"
        return self.refuse(
            node,
            f"`{path}` of Python's standard library has no derivative rule",
            f"give it one with `@srcjax.adjoint({path})`, NumPy or plain Python, or "
            "wrap what needs no derivative in `srcjax.stop_gradient`",
            NoRuleError,
        )


def _may_be_no_array(
    base: Unknown, name: str, args: list[Type], kwargs: dict[str, Type]
) -> bool:
    """Whether a method gets what that of an array passes no derivative of.

    The owner of `nx.sum(x)` is hardly an array, whose `sum` takes an axis.
    """
    op = METHODS.get(name)
    if op is None or base.active or not any(map(is_active, [*args, *kwargs.values()])):
        return False
    if op.inert or len(args) + len(kwargs) > 1:
        return True
    try:
        given = op.bind([base, *args], kwargs)
    except TypeError:
        return True
    return any(is_active(t) for n, t in given.items() if n not in op.differentiable)


def _may_be_array(t: Type) -> bool:
    """Whether it is an array, as far as is known."""
    if isinstance(t, Const):
        return isinstance(t.value, np.ndarray)
    return isinstance(t, (Array, Scalar, Unknown))
