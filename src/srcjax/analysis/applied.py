"""Types of what operations give, with the activity and the memory of it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcjax.analysis import containers
from srcjax.analysis.axes import names_of
from srcjax.analysis.known_values import (
    fold_constants,
    sized_number,
)
from srcjax.analysis.nested import NestedTransforms
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Other,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    has_complex,
    is_active,
    is_mapping,
    map_parts,
    parts,
    replace,
    with_active,
)
from srcjax.errors import NoRuleError, error_at
from srcjax.ops.record import (
    Op,
)


class Applied(NestedTransforms):
    """Infers what operations give."""

    def apply(
        self, op: Op | None, function: Any, args: list[Type], kwargs: dict, node: Any
    ) -> Type:
        """The result of an operation."""
        everything = [*args, *kwargs.values()]
        active = any(map(is_active, everything))
        if function is not None and all(_plain(t) for t in everything) and not kwargs:
            folded = fold_constants(function, everything)
            if folded is not None:
                return folded
        if not active and not kwargs:
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
        if any(isinstance(a, Other) for a in args) and op is None:
            return Other(cls=getattr(args[0], "cls", None))
        if op is None:
            return Unknown(active, frozenset().union(*map(all_buffers, everything)))
        from srcjax.ops.infer_rules import infer_elementwise  # rules of `ops`: later

        result: Type = UNKNOWN
        try:
            bound = op.bind(args, kwargs)
        except TypeError:
            return Unknown(active)
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
            if n in op.differentiable
        )
        active = active and not getattr(node, "cancels", False)
        if op.refuses_complex():
            self.check_real(op.name, everything, node)
        return self.finish(result, op, active, everything, node)

    def check_real(self, name: str, operands: list[Type], node: Any) -> None:
        """Refuse complex arguments of what has a derivative for real ones only."""
        if is_mapping() or not any(map(is_active, operands)):
            return
        if any(map(has_complex, operands)):
            raise error_at(
                NoRuleError,
                self.unit.source,
                node if hasattr(node, "lineno") else self.unit.source.node,
                f"`{name}` has no derivative rule for complex arguments",
                "its real and imaginary parts, `srcjax.stop_gradient`, or a function "
                "of your own with a rule (`srcjax.custom_jvp`)",
            )

    def finish(
        self, result: Type, op: Op, active: bool, operands: list[Type], node: Any
    ) -> Type:
        """Add activity and buffers to what an infer rule said."""
        if op.alias == "same" and operands:
            return replace(with_active(result, active), buffers=operands[0].buffers)
        result = with_active(result, active) if not op.inert else result
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
                if alias == "maybe":
                    self.facts.nodes.append(node)
            result = replace(result, buffers=buffers)
        if isinstance(result, (List, Tuple)) and op.alias != "fresh":
            buffers = frozenset().union(*map(all_buffers, operands))
            result = map_parts(result, lambda t: _shares(t, buffers))
        elif isinstance(result, (List, Tuple, Dict, Object)):
            result = _made_at(result, id(node))
        return result


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


def _plain(t: Type) -> bool:
    return isinstance(t, Const) and type(t.value) in (int, float, bool)
