"""The functions that reverse mode gives: gradients, and forward/backward pairs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.containers import element
from srcjax.analysis.program import Program
from srcjax.analysis.registered import node_of, structure_fields
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    dtype_of,
    is_active,
    is_number,
)
from srcjax.analysis.types import parts as parts_of
from srcjax.frontend.unit import Unit
from srcjax.transforms.places import (
    Adjoint,
    all_keys,
    dict_of,
    is_static,
    keyed_parts,
    ordered,
    read_part,
    rebuild,
)
from srcjax.transforms.reads_writes import shape_only_names
from srcjax.transforms.reasons import SEED, because
from srcjax.transforms.reverse.nodes import holds_node, made_anew, shown_parts
from srcjax.transforms.reverse.pairs import Pairs
from srcjax.transforms.reverse.rules import Rules
from srcjax.transforms.reverse.saving import Saver
from srcjax.transforms.reverse.shadows import Unfollowed
from srcjax.transforms.reverse.sweep import Sweep
from srcjax.transforms.signatures import copies_of_written, deep_copy, user_parameters
from srcjax.transforms.unfollowed_calls import check_calls
from srcjax.transforms.written import Written


class Reverse:
    """Reverse mode of one unit."""

    def __init__(
        self,
        program: Program,
        unit: Unit,
        pairs: Pairs,
        entry_types: dict[str, Type] | None = None,
    ) -> None:
        self.program = program
        self.entry_types = entry_types or {}
        self.unit = unit
        self.pairs = pairs
        self.rules = Rules(program, unit, pairs)
        last = unit.node.body[-1]
        assert isinstance(last, gast.Return)
        self.result: Any = last.value
        self.returned = last
        #: Backward code of the `return` itself.
        self.start: list[gast.stmt] = []
        #: Names that the backward sweep leaves bound to something else than it found.
        self.moved_on: set[str] = set()
        #: Buffers whose overwritten parts the backward code puts back.
        self.restored: Buffers = NONE
        #: Arguments whose adjoints the backward function is given, with their names.
        self.carried: dict[str, str] = {}

    def sweeps(
        self, seeds: list[tuple[tuple, str]]
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Forward and backward code; `seeds` are (path, variable) of the result."""
        memory: Buffers = NONE
        while True:
            try:
                return self.both_sweeps(seeds)
            except Unfollowed as fault:
                if fault.memory <= memory:
                    raise fault.error from None
                memory |= fault.memory
                again = Unfollowed(fault.error, memory)
                before = self.rules
                self.rules = Rules(self.program, self.unit, self.pairs, again)
                self.rules.runs_again = before.runs_again
                self.rules.of_number = before.of_number
                self.rules.of_user = before.of_user

    def both_sweeps(
        self, seeds: list[tuple[tuple, str]]
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """The same, or `Unfollowed` where an adjoint is to be made with its array."""
        self.start = []
        rules = self.rules
        check_calls(rules)
        rules.stmt = self.returned
        rules.envs = rules.environments(self.returned)
        if isinstance(self.result, gast.Name):
            for path, variable in seeds:
                if self.result.id in rules.views and not path:
                    rules.code = []
                    rules.contribute(self.result.id, syntax.name(variable))
                    self.start, rules.code = rules.code, []
                    continue
                place = (self.result.id, path)
                rules.places.present[place] = Adjoint(variable, None, False)
                rules.places.name(place, variable)
        for name, variable in self.carried.items():
            rules.places.present[name, ()] = Adjoint(variable, None, True)
            rules.places.name((name, ()), variable)
        nodes = Sweep(rules).block(self.unit.node.body[:-1])
        saver = Saver(rules, nodes)
        forward, backward = saver.write()
        self.restored = saver.restored_buffers()
        self.moved_on = {
            name
            for name, defs in saver.defs.items()
            if any(
                stmt is not self.unit.node
                and name not in saver.plan.overwritten.get(id(stmt), ())
                for _, stmt in defs
            )
        }
        return forward, [*self.start, *backward]

    def sweeps_of_parts(
        self, seeds: list[tuple[tuple, str]]
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """The same for a result whose adjoint has been spread over its parts."""
        try:
            return self.both_sweeps(seeds)
        except Unfollowed as fault:
            raise fault.error from None

    def keep_given(
        self, wrt: list[str], results: list[gast.expr], tail: list[gast.stmt]
    ) -> list[gast.stmt]:
        """Name the arguments whose names mean something else after the backward sweep.

        What their gradients are made like (a zero, a dtype) is the argument.
        """
        moved = [n for n in wrt if n in self.moved_on]
        return self.named_as_given(moved, results, tail)

    def keep_copied(
        self,
        wrt: list[str],
        results: list[gast.expr],
        tail: list[gast.stmt],
        copies: list[gast.Assign],
    ) -> list[gast.stmt]:
        """The same for containers that are copied: the copies may grow."""
        copied = {n for s in copies for n in syntax.names_written(s)}
        types = {n: self.rules.type_of_name(n) for n in copied.intersection(wrt)}
        grown = [n for n in wrt if isinstance(types.get(n), (List, Dict))]
        return self.named_as_given(grown, results, tail)

    def named_as_given(
        self, names: list[str], results: list[gast.expr], tail: list[gast.stmt]
    ) -> list[gast.stmt]:
        """Other names for arguments, which the results read; the statements before."""
        head: list[gast.stmt] = []
        for name in names:
            if name not in syntax.names_read([*tail, *results]):
                continue
            given = self.unit.names.fresh(f"{name}_given")
            self.rules.types[given] = self.rules.type_of_name(name)
            head.append(syntax.assign(given, syntax.name(name)))
            renaming = {name: syntax.name(given)}
            results[:] = [syntax.substitute(r, renaming) for r in results]
            tail[:] = [syntax.substitute(s, renaming) for s in tail]
        return head

    def seeds(self, t: Type, name: str, value: gast.expr) -> list[gast.stmt]:
        """Spread a whole adjoint of the result over its parts."""
        rules = self.rules
        rules.code = []
        if (
            isinstance(self.result, gast.Name)
            and is_active(t)
            and rules.kind(self.result.id) == "split"
            and is_static(t)
        ):
            rules.stmt = self.returned
            rules.envs = rules.environments(self.returned)
            rules.contribute(self.result.id, value)
        code, rules.code = rules.code, []
        return code

    def adjoint_of_parameter(self, name: str) -> gast.expr:
        """The adjoint of a parameter at the start of the program."""
        rules = self.rules
        t = rules.type_of_name(name)
        if not rules.has_adjoint(name):
            return rules.zero(t, syntax.name(name))
        value = rules.adjoint(name)
        dtype = dtype_of(t)
        if dtype is None and is_narrow_float(self.entry_types.get(name)):
            return syntax.call("in_dtype_of", value, syntax.name(name))
        is_complex = dtype is not None and dtype.kind == "c"
        of_numpy = isinstance(t, Array) or (isinstance(t, Scalar) and not t.python)
        if (
            (of_numpy or is_complex)
            and dtype is not None
            and (
                name in rules.mixed
                or self.several_dtypes()
                or self.is_narrow(t)
                or self.is_widened(t)
            )
        ):
            value = syntax.call("in_dtype_of", value, syntax.name(name))
        elif self.has_narrow_parts(name, t):
            value = self.parts_in_dtypes(name, (), t)
        elif dtype is None and (self.program.may_be_complex() or self.is_open(name)):
            value = self.of_kind(value, name)
        given = self.entry_types.get(name)
        if isinstance(given, Array) and given.shape == ():
            value = syntax.expression("np.asarray(d)", d=value)
        if (
            isinstance(t, (Tuple, List))
            and t.cls is tuple
            and (rules.kind(name) == "list")
            or isinstance(t, Tuple)
            and rules.kind(name) == "list"
        ):
            value = syntax.call("tuple", value)
        elif isinstance(t, Dict) and rules.kind(name) == "dict" and self.keys_of(name):
            parts = {}
            for key, part in self.keys_of(name):
                like = syntax.expression(
                    "v[k]", v=syntax.name(name), k=syntax.const(key)
                )
                parts[key] = syntax.expression(
                    "d.get(k, z)",
                    d=value,
                    k=syntax.const(key),
                    z=rules.zero(part, like),
                )
                if is_narrow_float(part) and self.several_dtypes():
                    parts[key] = syntax.call("in_dtype_of", parts[key], like)
            keys = [syntax.const(key) for key in parts]
            value = gast.Dict(keys, list(parts.values()))
        elif isinstance(t, Dict) and rules.kind(name) == "dict":
            value = all_keys(value, t, syntax.name(name), read=True)
        return value

    def as_nodes(self, t: Type, d: gast.expr, primal: gast.expr) -> gast.expr:
        """The adjoint with the objects of registered classes as these are made.

        What belongs to their structure is that of the argument.
        """
        if not is_static(t) or not holds_node(t):
            return d
        own = t if isinstance(t, Dict) and t.cls is not dict else None
        shown_whole = isinstance(d, (gast.Dict, gast.Call))
        if own and not shown_whole and not any(map(holds_node, parts_of(t))):
            return self.of_class(own, d, primal)
        shown = shown_parts(d, t)
        made = {
            key: self.as_nodes(part, shown[key], read_part(t, primal, key))
            for key, part in keyed_parts(t)
        }
        if own:
            return self.of_class(own, dict_of(made), primal)
        node = node_of(t.cls) if isinstance(t, Object) else None
        if node is None or not isinstance(t, Object):
            return self.rules.rebuild(t, list(made.values()))
        fixed = structure_fields(t.cls, tuple(made))
        made |= {key: read_part(t, primal, key) for key in made if key in fixed}
        if node.data or node.meta:
            return self.rules.rebuild(t, list(made.values()))
        return made_anew(self.rules, t, made, fixed)

    def of_class(self, t: Dict, d: gast.expr, primal: gast.expr) -> gast.expr:
        """The dict as one of the class that the argument is of."""
        name = t.cls.__name__
        self.rules.needs[name] = t.cls
        if t.cls is defaultdict:
            return syntax.expression(f"{name}(v.default_factory, d)", v=primal, d=d)
        if isinstance(d, gast.Dict):
            pairs = zip(d.keys, d.values, strict=True)
            return ordered(name, {k.value: v for k, v in pairs})
        return syntax.call(name, d)

    def has_narrow_parts(self, name: str, t: Type) -> bool:
        """Whether parts of a container may get a wider adjoint than they are."""
        if not is_static(t) or name in self.rules.views:
            return False
        if self.rules.kind(name) not in ("split", "list"):
            return False
        written = all_buffers(t) & self.rules.written
        mixed = self.several_dtypes() or self.is_widened(t)
        return not written and holds_narrow(t) and mixed

    def parts_in_dtypes(self, name: str, path: tuple, t: Type) -> gast.expr:
        """The adjoint of a part of a container, in the dtypes of its primals."""
        if is_static(t) and holds_narrow(t):
            parts = [
                self.parts_in_dtypes(name, (*path, key), part)
                for key, part in keyed_parts(t)
            ]
            return rebuild(t, parts)
        value = self.rules.adjoint_at(name, path, t, True)
        if is_narrow_float(t):
            return syntax.call("in_dtype_of", value, self.rules.primal(name, path))
        return value

    def early_zero(self, name: str, head: list[gast.stmt]) -> gast.expr | None:
        """The zero of a list or dict that the function changes, made before it does."""
        rules = self.rules
        t = rules.type_of_name(name)
        if rules.has_adjoint(name) or not isinstance(t, (List, Dict)):
            return None
        if not all_buffers(t) & rules.written:
            return None
        zero = self.unit.names.fresh(syntax.adjoint_name(name))
        head.append(syntax.assign(zero, rules.zero(t, syntax.name(name))))
        return syntax.name(zero)

    def is_open(self, name: str) -> bool:
        """Whether nothing told the dtype of an argument of the gradient."""
        t = self.entry_types.get(name)
        return isinstance(t, (Array, Unknown)) and dtype_of(t) is None

    def of_real_items(self, value: gast.expr, t: Type) -> gast.expr:
        """The adjoint of a list of real numbers, whose own items may be complex."""
        dtype = dtype_of(t)
        if isinstance(t, (Array, Scalar)) and dtype is not None and dtype.kind == "f":
            return syntax.expression("np.real(v)", v=value)
        found = {type(p) for p in parts_of(t)}
        if not isinstance(t, (List, Tuple)) or len(found) != 1:
            return value
        item = self.unit.names.fresh("item")
        real = self.of_real_items(syntax.name(item), element(t))
        if isinstance(real, gast.Name):
            return value
        text = f"[r for {item} in v]"
        if isinstance(t, Tuple):
            text = f"tuple({text})"
        return syntax.expression(text, r=real, v=value)

    def of_kind(self, value: gast.expr, name: str) -> gast.expr:
        """The adjoint of a parameter that gets complex only later, or may be complex.

        A callee may leave an adjoint complex: its caller knows what it wants.
        """
        t = self.entry_types.get(name)
        dtype = None if t is None else dtype_of(t)
        if isinstance(t, (Array, Unknown)) and dtype is None:
            if syntax.count_bindings(self.unit.node, name) > 1:
                return value  # the name means more than the argument
            return syntax.call("in_dtype_of", value, syntax.name(name))
        if isinstance(t, (List, Tuple)):
            return self.of_real_items(value, t)
        if dtype is None:
            return value
        text = "v + 0j" if dtype.kind == "c" else "np.real(v)"
        return syntax.expression(text, v=value)

    def several_dtypes(self) -> bool:
        """Whether floats of several sizes meet in the function."""
        found = {
            t.dtype.char
            for t in self.rules.types.values()
            if isinstance(t, Array) and t.dtype is not None and t.dtype.kind == "f"
        }
        return len(found) > 1

    def is_widened(self, t: Type) -> bool:
        """Whether functions that are called may give the argument a wider adjoint."""
        if not self.entry_types or not holds_narrow(t):
            return False
        program = self.program
        dtypes = {
            dtype_of(other)
            for unit in program.units.values()
            for other in program.types_of(unit).values()
            if isinstance(other, Array)
        }
        floats = {d for d in dtypes if d is not None and d.kind == "f"}
        return len(floats) > 1 or any(d is None for d in dtypes)

    def is_narrow(self, t: Type) -> bool:
        """Whether it is a float of NumPy's that any Python number makes wider."""
        dtype = dtype_of(t)
        return isinstance(t, Scalar) and dtype is not None and dtype != np.dtype(float)

    def given_type(self, name: str) -> Type:
        """The type of an argument as it was given: a dict may have grown since."""
        given = self.entry_types.get(name)
        own = isinstance(given, Dict) and given.cls is not dict
        return given if own and given else self.rules.type_of_name(name)

    def loses_keys(self, name: str) -> bool:
        """Whether a dict that was given may be without some of its items at the end."""
        t = self.rules.type_of_name(name)
        left = dict(t.items or ()) if isinstance(t, Dict) else {}
        return any(key not in left for key, _ in self.keys_of(name))

    def keys_of(self, name: str) -> list[tuple[Any, Type]]:
        """The items of a dict argument as it was given."""
        t = self.entry_types.get(name)
        return list(t.items or ()) if isinstance(t, Dict) else []

    def gradient(
        self,
        name: str,
        wrt: list[str],
        single: bool,
        with_value: bool,
        has_aux: bool,
        holomorphic: bool = False,
    ) -> Written:
        """`grad` or `value_and_grad` as one function."""
        rules = self.rules
        seed = None
        seeds: list[tuple[tuple, str]] = []
        if isinstance(self.result, gast.Name):
            path: tuple = (0,) if has_aux else ()
            t = rules.type_of_name(self.result.id)
            active = is_active(t)
            if has_aux and isinstance(t, Tuple):
                active = is_active(t.items[0])
            if active:
                base = rules.base(self.result.id)
                if self.result.id in self.unit.temps and base not in ("result",):
                    base = "result"
                seed = self.unit.names.fresh(syntax.adjoint_name(base))
                seeds = [(path, seed)]
        rules.of_number = not has_aux
        forward, backward = self.sweeps(seeds)
        rules = self.rules
        rules.code, rules.reasons = [], ()
        rules.stmt = self.returned
        rules.envs = [{}]
        head: list[gast.stmt] = []
        results = [
            self.early_zero(n, head) or self.adjoint_of_parameter(n) for n in wrt
        ]
        results = [
            self.as_nodes(self.given_type(n), d, syntax.name(n))
            for n, d in zip(wrt, results, strict=True)
        ]
        tail, rules.code = rules.code, []
        shrunk = [n for n in wrt if self.loses_keys(n)]
        head += self.keep_copied(shrunk, results, tail, copies_of_written(self.rules))
        head += copies_of_written(self.rules)
        head += self.keep_given(wrt, results, tail)
        head += rules.shadows.start()
        if seed is not None:
            start = syntax.assign(seed, self.seed_of_result(has_aux, holomorphic))
            start.user_line = getattr(self.returned, "user_line", None)
            because(start, SEED)
            backward = [start, *backward]
        gradient = results[0] if single else gast.Tuple(results, syntax.LOAD)
        value = self.result
        if with_value:
            kept = self.unit.names.fresh("value")
            self.unit.temps.add(kept)
            if isinstance(value, gast.Name):
                rules.types[kept] = rules.type_of_name(value.id)
            forward = [*forward, syntax.assign(kept, syntax.clone(value))]
            if isinstance(value, gast.Name) and self.is_buffer(value.id):
                forward[-1].value = syntax.expression("v.copy()", v=value)
            items = [syntax.name(kept), gradient]
            gradient = gast.Tuple(items, syntax.LOAD)
        elif has_aux:
            kept = self.unit.names.fresh("aux")
            forward = [
                *forward,
                syntax.assign(kept, syntax.expression("v[1]", v=value)),
            ]
            gradient = gast.Tuple([gradient, syntax.name(kept)], syntax.LOAD)
        body = [*head, *forward, *backward, *tail, gast.Return(gradient)]
        node = self.definition(name, body)
        for s in [*backward, *tail]:
            s.backward = True
        at = 1 if with_value else 0 if has_aux else -1
        return Written(node, self.unit, rules, wrt=wrt, gradient_at=at)

    def seed_of_result(self, has_aux: bool, holomorphic: bool) -> gast.expr:
        """1, where it is not known: once the result is seen to be no complex number."""
        t = self.rules.type_of_name(self.result.id)
        if has_aux and isinstance(t, Tuple):
            t = t.items[0]
        if holomorphic:
            return syntax.const(1 + 0j)
        if dtype_of(t) is not None or not self.program.may_be_complex():
            return syntax.const(1.0)
        value = syntax.name(self.result.id)
        if has_aux:
            value = syntax.expression("v[0]", v=value)
        return syntax.call("seed_of_real", value)

    def may_use_pair(self, wrt: list[str]) -> bool:
        """Whether the gradient of a recursive function can be had from its own pair.

        Arrays that a backward function returns may be one array, so that only one of
        them may be given to the user.
        """
        arguments = self.unit.node.args
        if arguments.vararg is not None or arguments.kwarg is not None:
            return False
        numbers = all(is_number(self.rules.type_of_name(n)) for n in wrt)
        known = set(wrt) <= set(self.pairs.active(self.unit))
        return (
            known and (numbers or len(wrt) == 1) and not (copies_of_written(self.rules))
        )

    def gradient_by_pair(
        self, name: str, wrt: list[str], single: bool, with_value: bool
    ) -> Written:
        """`grad` or `value_and_grad` of a recursive function: calls of its pair."""
        forward, backward = self.pairs.names_of(self.unit)
        fresh = self.unit.names.fresh
        saved, value = fresh("saved"), fresh("value") if with_value else "_"
        arguments = self.unit.node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        call = syntax.call(
            syntax.name(forward),
            *(syntax.name(a.id) for a in plain),
            **{a.id: syntax.name(a.id) for a in arguments.kwonlyargs},
        )
        both = [syntax.name(value, store=True), syntax.name(saved, store=True)]
        body: list[gast.stmt] = [
            gast.Assign([gast.Tuple(both, syntax.STORE)], call, None)
        ]
        gradient: gast.expr = syntax.call(
            syntax.name(backward), syntax.name(saved), syntax.const(1.0)
        )
        found = self.pairs.active(self.unit)
        if len(found) > 1:
            held = dict.fromkeys(found, "_")
            held |= {n: fresh(syntax.adjoint_name(n)) for n in found if n in wrt}
            targets = [syntax.name(held[n], store=True) for n in found]
            body.append(
                gast.Assign([gast.Tuple(targets, syntax.STORE)], gradient, None)
            )
            results = [syntax.name(held[n]) for n in wrt]
            gradient = results[0] if single else gast.Tuple(results, syntax.LOAD)
        elif not single:
            gradient = gast.Tuple([gradient], syntax.LOAD)
        if with_value:
            gradient = gast.Tuple([syntax.name(value), gradient], syntax.LOAD)
        body.append(gast.Return(gradient))
        node = self.definition(name, body)
        return Written(node, self.unit, self.rules, wrt=wrt)

    def is_buffer(self, name: str) -> bool:
        t = self.rules.type_of_name(name)
        return isinstance(t, Array) and bool(t.buffers & self.rules.written)

    def definition(self, name: str, body: list[gast.stmt]) -> gast.FunctionDef:
        """A function with the user's own parameters."""
        arguments = user_parameters(self.unit, self.rules.needs)
        return gast.FunctionDef(name, arguments, body, [], None, None, [])

    def sweeps_of_pair(self, top: bool) -> tuple[str, list[gast.stmt], list[gast.stmt]]:
        """The adjoint that the backward function is given, and both sweeps."""
        rules = self.rules
        seeds: list[tuple[tuple, str]] = []
        spread: list[gast.stmt] = []
        dy = "dresult"
        if isinstance(self.result, gast.Name):
            t = rules.type_of_name(self.result.id)
            base = rules.base(self.result.id)
            if self.result.id in self.unit.temps:
                base = "result"
            dy = self.unit.names.fresh(syntax.adjoint_name(base))
            if is_active(t):
                if rules.kind(self.result.id) == "split" and is_static(t):
                    spread = self.seeds(t, dy, syntax.name(dy))
                else:
                    seeds = [((), dy)]
        if not top:
            self.carried = {
                n: self.unit.names.fresh(syntax.adjoint_name(rules.base(n)))
                for n in self.pairs.carried(self.unit)
            }
        both = self.sweeps_of_parts if spread else self.sweeps
        forward, backward = both(seeds)
        return dy, forward, [*spread, *backward]

    def read_back(self) -> Buffers:
        """The memory of which the backward function reads what it holds."""
        self.rules.runs_again = True
        _, _, backward = self.sweeps_of_pair(top=False)
        rules = self.rules
        looked_at = shape_only_names(backward)
        read = [
            all_buffers(t)
            for name, count in syntax.read_counts(backward).items()
            if not is_number(t := rules.type_of_name(name))
            and (not isinstance(t, Array) or count > looked_at.get(name, 0))
        ]
        return ageless_buffers(NONE.union(*read))

    def pair(
        self,
        forward_name: str,
        backward_name: str,
        wrt: list[str],
        top: bool = False,
        given_away: bool = False,
    ) -> tuple[Written, Written]:
        """`f_forward(x) -> (y, saved)` and `f_backward(saved, dy) -> dx`.

        At the top, what the function writes to is copied first, unless the arguments
        are given away.
        """
        self.rules.runs_again = True
        self.rules.of_user = top
        saved = self.unit.names.fresh("saved")
        dy, forward, backward = self.sweeps_of_pair(top)
        rules = self.rules
        rules.shadows.refuse_given()
        rules.code = []
        rules.stmt = self.returned
        rules.envs = [{}]
        returned_for = [n for n in wrt if n not in self.carried]
        results = [self.adjoint_of_parameter(n) for n in returned_for]
        if top:
            results = [
                self.as_nodes(self.given_type(n), d, syntax.name(n))
                for n, d in zip(wrt, results, strict=True)
            ]
        tail, rules.code = rules.code, []
        head = copies_of_written(self.rules) if top and not given_away else []
        head = self.keep_copied(wrt, results, tail, head) + head
        head += self.keep_given(wrt, results, tail)
        result = results[0] if len(results) == 1 else gast.Tuple(results, syntax.LOAD)
        if self.carried and not results:
            result = syntax.const(None)
        for s in [*backward, *tail]:
            s.backward = True
        ending = [*backward, *tail, gast.Return(result)]
        returned = syntax.clone(self.result)
        if isinstance(returned, gast.Name):
            held = ageless_buffers(all_buffers(rules.type_of_name(returned.id)))
            restored = bool(held & self.restored)
            if self.is_buffer(returned.id) and (top or restored):
                returned = syntax.expression("v.copy()", v=returned)
            elif restored:
                returned = deep_copy(self.unit, rules.needs, returned)
        first = self.definition(forward_name, [*head, *forward, gast.Return(returned)])
        given = [*map(_argument, (saved, dy, *self.carried.values()))]
        arguments = gast.arguments(given, [], None, [], [], None, [])
        second = gast.FunctionDef(backward_name, arguments, ending, [], None, None, [])
        return (
            Written(first, self.unit, rules, wrt=wrt),
            Written(second, self.unit, rules, wrt=wrt, gradient_at=-1 if top else None),
        )


def pairs_of(program: Program, names: syntax.Names) -> Pairs:
    """The pairs of the functions that the program calls."""
    pairs = Pairs(program, names)
    pairs.read_back = lambda unit: Reverse(program, unit, pairs).read_back()
    return pairs


def is_narrow_float(t: Type | None) -> bool:
    """Whether it is an array or number of NumPy's below double precision."""
    dtype = None if t is None else dtype_of(t)
    return dtype is not None and dtype.char in "efF"


def holds_narrow(t: Type) -> bool:
    """Whether the value or a part of it is below double precision."""
    return is_narrow_float(t) or any(map(holds_narrow, parts_of(t)))


def _argument(name: str) -> gast.Name:
    return gast.Name(name, gast.Param(), None, None)
