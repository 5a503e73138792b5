"""Where a leaf is in a tree: keys with JAX's names, which print as Python does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import optree


@dataclass(frozen=True)
class SequenceKey:
    """An item of a list or tuple: `[0]`."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class DictKey:
    """An item of a dict: `['w']`."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey:
    """An attribute of an object: `.w`."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True)
class FlattenedIndexKey:
    """A child of an object of a registered class, by its place."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KEYS = (SequenceKey, DictKey, GetAttrKey, FlattenedIndexKey)
_MAPPINGS = {
    optree.PyTreeKind.DICT,
    optree.PyTreeKind.ORDEREDDICT,
    optree.PyTreeKind.DEFAULTDICT,
}


def key_of(entry: optree.PyTreeEntry) -> Any:
    """The key that stands for a step of optree's."""
    value = entry.entry
    if isinstance(value, KEYS):
        return value
    if entry.kind in _MAPPINGS:
        return DictKey(value)
    if entry.kind in (optree.PyTreeKind.NAMEDTUPLE, optree.PyTreeKind.STRUCTSEQUENCE):
        return GetAttrKey(entry.field)  # type: ignore[attr-defined]
    if entry.kind is optree.PyTreeKind.CUSTOM:
        return FlattenedIndexKey(value)
    return SequenceKey(value)


def keystr(keys: tuple, *, simple: bool = False, separator: str = "") -> str:
    """A path as text: `['layers'][0].w`, or `layers/0/w` with `simple` and `"/"`."""
    if not simple:
        return separator.join(map(str, keys))
    return separator.join(
        str(next(iter(vars(key).values()))) if isinstance(key, KEYS) else str(key)
        for key in keys
    )
