"""What stands around a kernel that is all of a function: only containers and objects.

(W, b), (W2, b2) = layers                     what the caller gives, taken apart
dW, db, dW2, db2 = f_kernel(x, W, b, W2, b2)
return [(dW, db), (dW2, db2)]                 what it gets, put together
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Dict,
    List,
    Tuple,
    Type,
    same_shape,
    shape_of,
)
from srcjax.transforms.kernels.accepted import NotCompiled, is_kernel_array
from srcjax.transforms.kernels.attributes import has_item, only_keeps
from srcjax.transforms.kernels.writing import Writing


class Around:
    """The statements of a function, in three: `loads`, `body` and `builds`."""

    def __init__(self, writer: Writing) -> None:
        unit = writer.unit
        *self.body, self.last = unit.node.body
        self.writer = writer
        self.types = writer.types
        #: What takes parts of containers that are given.
        self.loads: list[Any] = []
        #: What makes containers of results.
        self.builds: list[Any] = []
        #: The names of the parts.
        self.loaded: list[str] = []
        bound = syntax.binding_counts(unit.node.body)
        held = set(unit.parameters) - set(bound)
        while self.body:
            self.body[:1] = self.one_by_one(self.body[0], held)
            if not self.is_load(self.body[0], held):
                break
            stmt = self.body.pop(0)
            (target,) = stmt.targets
            if bound[target.id] > 1:
                raise NotCompiled(stmt, "a part of a container under several names")
            held.add(target.id)
            self.loaded.append(target.id)
            self.loads.append(stmt)
        while self.body and self.is_build(self.body[-1]):
            self.builds.insert(0, self.body.pop())
        built = syntax.names_written(self.builds)
        reads = syntax.names_read([*self.builds, self.last])
        names = (n.id for n in syntax.walk(unit.node.body) if isinstance(n, gast.Name))
        #: The names of what the kernel gives.
        read = {n for n in reads - built if n in bound or n in unit.parameters}
        self.results = [n for n in dict.fromkeys(names) if n in read]

    def one_by_one(self, stmt: Any, held: set[str]) -> list[Any]:
        """`W = layer[0]`, `b = layer[1]` for `W, b = layer` of what is given."""
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        name = getattr(stmt.value, "id", "") if target is not None else ""
        if not isinstance(target, gast.Tuple) or name not in held:
            return [stmt]
        t = self.types.get(name, UNKNOWN)
        items = t.items if isinstance(t, (Tuple, List)) else None
        names = [getattr(e, "id", "") for e in target.elts]
        plain = all(names) and len(set(names)) == len(names)
        if items is None or len(items) != len(names) or not plain or name in names:
            return [stmt]
        parts = (syntax.expression(f"{name}[{k}]") for k in range(len(names)))
        return [syntax.assign(n, p) for n, p in zip(names, parts, strict=True)]

    def is_build(self, stmt: Any) -> bool:
        """Whether a statement puts parts together: a display, `State(x, v)`."""
        if is_display(stmt):
            return True
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        if not isinstance(value, gast.Call) or not syntax.is_name(stmt.targets[0]):
            return False
        parts = [*value.args, *(k.value for k in value.keywords)]
        made = getattr(self.writer.type_of(value.func), "value", None)
        return only_keeps(made) and all(map(syntax.is_atom, parts))

    def is_load(self, stmt: Any, held: set[str]) -> bool:
        """Whether a statement takes a part of a container that is given."""
        if not isinstance(stmt, gast.Assign):
            return False
        (target,), value = stmt.targets, stmt.value
        if not isinstance(target, gast.Name):
            return False
        if isinstance(value, gast.Attribute):
            base = getattr(value.value, "id", "")
            return base in held and has_item(self.types.get(base, UNKNOWN), value.attr)
        if not isinstance(value, gast.Subscript):
            return False
        if not isinstance(value.slice, gast.Constant):
            return False
        base = getattr(value.value, "id", "")
        t = self.types.get(base, UNKNOWN) if base in held else UNKNOWN
        return isinstance(t, (Tuple, List, Dict))


def ask_given(writer: Writing, body: list[Any], given: list[str]) -> None:
    """Ask an array that is given for a size, not one that is made, in place.

    `1 / total.size` is `1 / x.size` then, and needs not wait for `total`.
    """
    types = writer.types
    known = {n: types.get(n, UNKNOWN) for n in given}
    shapes = {n: shape_of(t) for n, t in known.items() if is_kernel_array(t)}

    def alike(name: str, axes: slice) -> str:
        """An array that is given with the same sizes of these axes."""
        shape = shape_of(types.get(name, UNKNOWN))
        if name in shapes or not shape:
            return name
        for other, found in shapes.items():
            same = found is not None and same_shape(found[axes], shape[axes])
            if same and (axes != slice(None) or len(found or ()) == len(shape)):
                return other
        return name

    def other(array: Any, axes: slice = slice(None)) -> Any:
        """A name of its own: that of an element may be the same node."""
        if not isinstance(array, gast.Name):
            return array
        return syntax.name(alike(array.id, axes))

    for node in syntax.walk(body):
        if isinstance(node, gast.Attribute) and node.attr == "size":
            node.value = other(node.value)
        elif writer.is_call(node, len):
            node.args[0] = other(node.args[0], slice(0, 1))
        elif isinstance(node, gast.Subscript) and syntax.size_asked(node) is not None:
            axes = slice(node.slice.value, node.slice.value + 1)
            array = other(node.value.value, axes)
            node.value = gast.Attribute(array, "shape", syntax.LOAD)


def is_display(stmt: Any) -> bool:
    """Whether a statement makes a container of its parts."""
    kinds = (gast.Tuple, gast.List, gast.Dict)
    return isinstance(stmt, gast.Assign) and isinstance(stmt.value, kinds)


def nested_once(body: list[Any]) -> list[Any]:
    """A container that is used once stands where it is used."""
    reads = syntax.read_counts(body)
    bound = syntax.binding_counts(body)
    out: list[Any] = []
    for stmt in reversed(body):
        out.insert(0, stmt)
        if not isinstance(stmt, gast.Assign):
            continue
        name = getattr(stmt.targets[0], "id", "")
        if reads[name] != 1 or bound[name] != 1:
            continue
        direct = isinstance(out[1], gast.Return) and syntax.is_name(out[1].value, name)
        if is_display(stmt) or direct:
            del out[0]
            out = syntax.substitute(out, {name: stmt.value})
    return out


def unpacked(loads: list[Any], types: dict[str, Type]) -> list[Any]:
    """`(W, b), (W2, b2) = layers` where all is used, else `W = layers[0][0]`."""
    parts: dict[str, dict[Any, str]] = {}
    attributes = [s for s in loads if isinstance(s.value, gast.Attribute)]
    for stmt in loads:
        if isinstance(stmt.value, gast.Attribute):
            continue
        key = stmt.value.slice.value
        parts.setdefault(stmt.value.value.id, {})[key] = stmt.targets[0].id

    def target(name: str) -> Any:
        """The target that takes all of a container; None where some is not used."""
        t, found = types.get(name, UNKNOWN), parts.get(name)
        if found is None:
            return syntax.name(name, store=True)
        items = t.items if isinstance(t, (Tuple, List)) else None
        if items is None or set(found) != set(range(len(items))):
            return None
        inner = [target(found[k]) for k in range(len(items))]
        return None if None in inner else gast.Tuple(inner, syntax.STORE)

    def taken(name: str, path: gast.expr) -> list[Any]:
        """What takes the parts of a container."""
        whole = target(name)
        if whole is not None and len(whole.elts) > 1:
            return [gast.Assign([whole], path, None)]
        out: list[Any] = []
        for key, part in parts[name].items():
            inner = gast.Subscript(syntax.clone(path), syntax.const(key), syntax.LOAD)
            if part in parts:
                out += taken(part, inner)
            else:
                out.append(syntax.assign(part, inner))
        return out

    inside = {part for found in parts.values() for part in found.values()}
    given = [name for name in parts if name not in inside]
    return [*attributes, *(s for n in given for s in taken(n, syntax.name(n)))]
