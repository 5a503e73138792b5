"""What lists, tuples and dicts do, on types.

A `method_*` function returns the type of the result and the container's new type
(None when the method changes nothing).
"""

from __future__ import annotations

from typing import Any, cast

from srcjax.analysis.types import (
    INT,
    UNKNOWN,
    Const,
    Dict,
    List,
    Other,
    Tuple,
    Type,
    Unknown,
    View,
    is_active,
    join,
    join_all,
    parts,
    replace,
)

RETURNS_NONE = Const(value=None)


def element(t: Any) -> Type:
    """The join of all items."""
    return join_all(parts(t)) or UNKNOWN


def bounds_of(index: Any) -> list[Any] | None:
    """What a slice goes from, to, in steps of (`...`: not known); None of an item."""
    if isinstance(index, Tuple) and index.cls is slice:
        return [i.value if isinstance(i, Const) else ... for i in index.items]
    given = getattr(index, "value", None)
    if isinstance(given, slice):
        return [given.start, given.stop, given.step]
    return [..., ..., ...] if getattr(index, "cls", None) is slice else None


def load_item(base: Any, index: Type) -> Type:
    """`base[index]`."""
    if isinstance(base, Dict):
        if base.items is not None and isinstance(index, Const):
            found = dict(base.items).get(index.value)
            return found if found is not None else element(base)
        return element(base)
    items = base.items
    bounds = bounds_of(index)
    if bounds is not None:
        if items is not None and ... not in bounds:
            return replace(base, items=items[slice(*bounds)])
        if isinstance(base, Tuple):
            return List(elem=element(base), cls=tuple)
        return replace(base, items=None, elem=element(base))
    if (
        items is not None
        and isinstance(index, Const)
        and isinstance(index.value, int)
        and -len(items) <= index.value < len(items)
    ):
        return items[index.value]
    return element(base)


def store_item(base: Type, key: Type, value: Type) -> Type:
    """The container after `base[key] = value`."""
    if isinstance(base, Dict):
        if base.items is not None and isinstance(key, Const):
            pairs = dict(base.items)
            pairs[key.value] = value
            return replace(base, items=tuple(pairs.items()))
        return replace(base, items=None, elem=join_all([*parts(base), value]))
    if not isinstance(base, List):
        return base
    bounds = bounds_of(key)
    if bounds is not None:
        return store_items(base, bounds, value)
    if (
        base.items is not None
        and isinstance(key, Const)
        and isinstance(key.value, int)
        and -len(base.items) <= key.value < len(base.items)
    ):
        items = list(base.items)
        items[key.value] = value
        return replace(base, items=tuple(items))
    if base.items is not None:
        return replace(base, items=tuple(join(t, value) for t in base.items))
    return replace(base, elem=join_all([*parts(base), value]))


def store_items(base: List, bounds: list[Any], value: Type) -> Type:
    """The list after `base[a:b] = value`."""
    new = value.items if isinstance(value, (Tuple, List)) else None
    if base.items is not None and new is not None and ... not in bounds:
        items = list(base.items)
        items[slice(*bounds)] = new
        return replace(base, items=tuple(items))
    given = parts(value) or (Unknown(is_active(value)),)
    return replace(base, items=None, elem=join_all([*parts(base), *given]))


def extend(base: List, value: Type) -> List:
    """The list after `base += value`."""
    if (
        base.items is not None
        and isinstance(value, (Tuple, List))
        and value.items is not None
    ):
        return replace(base, items=base.items + value.items)
    inner = parts(value) or (
        (Unknown(active=True),) if is_active(value) else (UNKNOWN,)
    )
    return replace(base, items=None, elem=join_all([*parts(base), *inner]))


def concatenate(a: Any, b: Any, site: int) -> Type:
    """`a + b` of tuples or lists."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return Tuple(items=a.items + b.items)
    if isinstance(a, List) and isinstance(b, (List, Tuple)):
        return replace(extend(a, b), buffers=frozenset([site]))
    return Unknown(is_active(a) or is_active(b))


def repeat(a: Type, b: Type, site: int) -> Type:
    """`[x] * n`."""
    base, count = (a, b) if isinstance(a, (List, Tuple)) else (b, a)
    if isinstance(count, Const) and not isinstance(count.value, int):
        return UNKNOWN  # raises where it runs
    times = _times(count)
    if isinstance(base, Tuple):
        if times is not None:
            return Tuple(items=base.items * times)
        return List(elem=join_all(base.items), cls=tuple)
    assert isinstance(base, List)
    if base.items is not None and times is not None:
        return List(False, frozenset([site]), base.items * times)
    return List(False, frozenset([site]), None, join_all(parts(base)))


def _times(count: Type) -> int | None:
    """How often something is repeated; None if that is not known, or too often."""
    times = count.value if isinstance(count, Const) else getattr(count, "size", None)
    return times if isinstance(times, int) and times <= 64 else None


def method_append(base: Any, value: Type) -> tuple[Type, Type]:
    if base.items is not None:
        return RETURNS_NONE, replace(base, items=(*base.items, value))
    return RETURNS_NONE, with_element(base, join_all([*parts(base), value]))


def method_extend(base: Any, value: Type) -> tuple[Type, Type]:
    return RETURNS_NONE, extend(base, value)


def method_insert(base: Any, index: Type, value: Type) -> tuple[Type, Type]:
    position = getattr(index, "value", None)
    if base.items is not None and isinstance(position, int):
        items = list(base.items)
        items.insert(position, value)
        return RETURNS_NONE, replace(base, items=tuple(items))
    return RETURNS_NONE, replace(base, items=None, elem=join_all([*parts(base), value]))


def method_pop(
    base: Any, index: Type | None = None, default: Type | None = None
) -> tuple[Type, Type]:
    if isinstance(base, Dict):
        found = load_item(base, index or UNKNOWN)
        if base.items is not None and isinstance(index, Const):
            if default is not None and index.value not in dict(base.items):
                return default, base
            left = tuple((k, v) for k, v in base.items if k != index.value)
            return found, replace(base, items=left)
        if default is not None:
            found = join(found, default)
        return found, replace(base, items=None, elem=element(base))
    position = -1
    if index is not None:
        value = getattr(index, "value", None)
        position = value if isinstance(value, int) else None  # type: ignore[assignment]
    if (
        base.items
        and position is not None
        and -len(base.items) <= position < len(base.items)
    ):
        items = list(base.items)
        found = items.pop(position)
        return found, replace(base, items=tuple(items))
    return element(base), with_element(base, join_all(parts(base)))


def with_element(base: Any, elem: Type | None) -> Type:
    """A list of any length of such items: the same one, where it is that already."""
    if base.items is None and base.elem is elem:
        return cast(Type, base)
    return cast(Type, replace(base, items=None, elem=elem))


def method_reverse(base: Any) -> tuple[Type, Type]:
    if base.items is not None:
        return RETURNS_NONE, replace(base, items=base.items[::-1])
    return RETURNS_NONE, base


def method_sort(base: Any, **_: Type) -> tuple[Type, Type]:
    return RETURNS_NONE, replace(base, items=None, elem=join_all(parts(base)))


def method_clear(base: Any) -> tuple[Type, Type]:
    return RETURNS_NONE, replace(base, items=())


def method_copy(base: Any) -> tuple[Type, None]:
    return replace(base, buffers=frozenset()), None


def method_index(base: Any, *_: Type) -> tuple[Type, None]:
    return INT, None


method_count = method_index


def method_get(base: Any, key: Type, default: Type = RETURNS_NONE) -> tuple[Type, None]:
    if base.items is not None and isinstance(key, Const):
        pairs = dict(base.items)
        return pairs.get(key.value, default), None
    return join(element(base), default), None


def method_setdefault(
    base: Any, key: Type, default: Type = RETURNS_NONE
) -> tuple[Type, Type]:
    if base.items is not None and isinstance(key, Const):
        pairs = dict(base.items)
        if key.value in pairs:
            return pairs[key.value], base
    return join(element(base), default), store_item(base, key, default)


def method_update(base: Any, other: Type | None = None, **kw: Type) -> tuple:
    pairs = list(getattr(other, "items", None) or ()) + list(kw.items())
    if (
        base.items is not None
        and (other is None or isinstance(other, Dict))
        and (other is None or other.items is not None)
    ):
        return RETURNS_NONE, replace(
            base, items=tuple(dict([*base.items, *pairs]).items())
        )
    given = values_of_pairs(other) if other is not None else ()
    held = [*parts(base), *given, *kw.values()]
    return RETURNS_NONE, replace(base, items=None, elem=join_all(held) or UNKNOWN)


def values_of_pairs(t: Type) -> tuple[Type, ...]:
    """The types of the values that `dict.update` takes from a dict or from pairs."""
    if isinstance(t, Dict) and parts(t):
        return parts(t)
    pairs = parts(t) if isinstance(t, (List, Tuple)) else ()
    if pairs and all(isinstance(p, Tuple) and len(p.items) == 2 for p in pairs):
        return tuple(p.items[1] for p in pairs)  # type: ignore[attr-defined]
    return (Unknown(is_active(t)),)


def method_items(base: Any) -> tuple[Type, None]:
    view = View("items", base.buffers)
    if base.items is not None:
        rows = (Tuple(items=(Const(value=k), v)) for k, v in base.items)
        return Tuple(items=tuple(rows), view=view), None
    row = Tuple(items=(UNKNOWN, element(base)))
    return List(elem=row, cls=tuple, view=view), None


def method_values(base: Any) -> tuple[Type, None]:
    view = View("values", base.buffers)
    if base.items is not None:
        return Tuple(items=tuple(v for _, v in base.items), view=view), None
    return List(elem=element(base), cls=tuple, view=view), None


def method_keys(base: Any) -> tuple[Type, None]:
    view = View("keys", base.buffers)
    if base.items is not None:
        keys = tuple(Const(value=k) for k, _ in base.items)
        return Tuple(items=keys, view=view), None
    return List(elem=Other(), cls=tuple, view=view), None
