"""What names stand for in a program that is gone through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from srcjax.jaxprs.forms import Jaxpr
from srcjax.jaxprs.traced import Trace, Traced, Unwritable, flat_traced


class Made:
    """A function that was made in the program."""

    def __init__(self, run: Any, node: Any, scope: dict) -> None:
        self.run, self.node, self.scope = run, node, scope
        self.__name__ = getattr(node, "name", "<lambda>")
        single = isinstance(node, gast.Lambda)
        self.body = [gast.Return(node.body)] if single else node.body
        given = node.args
        positional = [a.id for a in (*given.posonlyargs, *given.args)]
        last = positional[len(positional) - len(given.defaults) :]
        options = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        pairs = [*zip(last, given.defaults, strict=True)]
        pairs += [(a.id, d) for a, d in options if d is not None]
        self.positional = positional
        self.defaults = {n: run.value(d, scope) for n, d in pairs}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        names, given = self.positional, self.node.args
        scope = {**self.defaults, **dict(zip(names, args, strict=False)), **kwargs}
        if given.vararg is not None:
            scope[given.vararg.id] = tuple(args[len(names) :])
        if given.kwarg is not None:
            known = {*names, *(a.id for a in given.kwonlyargs)}
            scope[given.kwarg.id] = {k: v for k, v in kwargs.items() if k not in known}
        return self.run.body(self.body, Inner(scope, self.scope))


class Inner(dict):
    """The names of a part of the program, or of a function in another one, whose names
    it sees."""

    def __init__(
        self, own: dict, outer: dict, copies: list[tuple[Traced, Traced]] | None = None
    ) -> None:
        super().__init__(own)
        self.outer = outer
        #: The arrays that are copies, which a part of the program has, and of which.
        self.copies = copies or []

    def __missing__(self, name: str) -> Any:
        return self.outer[name]


class Rows(list):
    """What a loop appended, as rows of arrays: one, or a structure of them."""

    def __init__(self, rows: Any) -> None:
        super().__init__()
        self.rows = rows

    def __len__(self) -> int:
        return len(next(flat_traced(self.rows)))

    def __getitem__(self, index: Any) -> Any:
        leaves = list(flat_traced(self.rows))
        new = {id(leaf): leaf[index] for leaf in leaves}
        found = replaced(self.rows, new)
        return Rows(found) if isinstance(index, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def pop(self, index: Any = -1) -> Any:
        if index != -1:
            raise not_of_loops()
        last, self.rows = self[-1], self[:-1].rows
        return last

    def append(self, item: Any) -> None:
        raise not_of_loops()

    def _changed(self, *args: Any, **kwargs: Any) -> Any:
        raise not_of_loops()

    extend = insert = remove = clear = sort = reverse = _changed
    __setitem__ = __delitem__ = __iadd__ = _changed


class Popped(list):
    """Rows of which each trip of a loop takes the last one."""

    def __init__(self, rows: Any, row: Any) -> None:
        super().__init__()
        self.rows, self.row, self.taken = rows, row, False

    def pop(self, index: Any = -1) -> Any:
        if self.taken or index != -1:
            raise not_of_loops()
        self.taken = True
        return self.row

    def _other(self, *args: Any) -> Any:
        raise not_of_loops()

    append = __getitem__ = __iter__ = __len__ = _other


class Appended(list):
    """What a trip of a loop puts on a list: it cannot see what other trips did."""

    #: Whether this is a part of the trip, which may come to it or not.
    closed = False

    def append(self, item: Any) -> None:
        if self.closed:
            raise not_of_loops()
        super().append(item)

    def _other(self, *args: Any) -> Any:
        raise not_of_loops()

    __iter__ = __len__ = __contains__ = __reversed__ = _other
    __getitem__: Any = _other
    __setitem__: Any = _other
    __delitem__: Any = _other
    __iadd__: Any = _other
    extend = insert = remove = clear = reverse = _other
    pop: Any = _other
    sort: Any = _other
    index: Any = _other
    count: Any = _other
    __add__: Any = _other
    __eq__: Any = _other

    def items(self) -> list[Any]:
        """What was put on it."""
        return list(super().__iter__())


class Pending:
    """What a name that a loop binds holds after it: computed if it is asked for."""

    def __init__(self, trace: Trace, value: Any, jaxpr: Jaxpr, reverse: bool) -> None:
        self.trace, self.held, self.jaxpr = trace, value, jaxpr
        self.eqn, self.last = trace.eqns[-1], 0 if reverse else -1

    def value(self) -> Any:
        """The values of the last trip."""
        new = {id(leaf): self.last_of(leaf) for leaf in flat_traced(self.held)}
        return replaced(self.held, new)

    def last_of(self, leaf: Traced) -> Traced:
        """The last row of what is given in each trip."""
        first = self.eqn.params["num_carry"]
        rows = self.jaxpr.outvars
        place = next(
            (k for k in range(first, len(rows)) if rows[k] is leaf.var), len(rows)
        )
        if place == len(rows):
            if all(leaf.var not in e.outvars for e in self.jaxpr.eqns):
                raise not_bound("what a loop binds")
            rows.append(variable(leaf))
            shape = self.eqn.params["length"], *leaf.shape
            self.eqn.outvars.append(variable(self.trace.fresh(shape, leaf.dtype)))
        return last_row(Traced(self.trace, self.eqn.outvars[place]), self.last)


class LastRow:
    """The same after a loop that only takes rows of arrays apart."""

    def __init__(self, value: Any, whole: dict[int, Traced]) -> None:
        self.held, self.whole = value, whole

    def value(self) -> Any:
        """The values of the last trip."""
        leaves = list(flat_traced(self.held))
        if any(id(leaf.var) not in self.whole for leaf in leaves):
            raise not_bound("what a loop binds")
        new = {id(leaf): last_row(self.whole[id(leaf.var)], -1) for leaf in leaves}
        return replaced(self.held, new)


def last_row(rows: Traced, place: int) -> Traced:
    """The row of the last trip, which is left out where nothing reads it."""
    trace = rows.trace
    start = len(trace.eqns)
    found: Traced = rows[place]
    trace.spare |= set(map(id, trace.eqns[start:]))
    return found


def not_bound(name: str) -> Unwritable:
    return Unwritable(
        f"make_jaxpr: {name} is read where it may have no value",
        instead="a value before the branch or loop",
    )


def not_of_loops() -> Unwritable:
    return Unwritable(
        "make_jaxpr: a list that a loop made is used as no stack and no array",
        instead="one `append` or one `pop` in each trip",
    )


def is_number(value: Any) -> bool:
    return isinstance(value, (Traced, np.ndarray, np.generic, int, float, complex))


def is_structure(value: Any) -> bool:
    """Whether a value is numbers and arrays, in tuples, lists and dicts.

    What else it is, is the same in all trips: functions, strings and None.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (Rows, Popped)) or is_number(value):
        return True
    if isinstance(value, (tuple, list)):
        return all(map(is_structure, value))
    return value is None or isinstance(value, (Made, str, range, Pending, LastRow))


def numbers_of(value: Any) -> list[Any]:
    """The numbers and arrays in a structure."""
    if is_number(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in numbers_of(part)]
    return []


def with_numbers(value: Any, leaves: Iterator[Any]) -> Any:
    """The structure with other numbers and arrays."""
    if is_number(value):
        return next(leaves)
    if isinstance(value, dict):
        return {k: with_numbers(v, leaves) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [with_numbers(v, leaves) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def small(value: Any) -> Any:
    """A value of the same class."""
    if isinstance(value, Traced):
        one = np.ones((1,) * value.ndim, value.dtype)
        return one.item() if value.python else one[()]
    return value


def has_traced(values: Any) -> bool:
    """Whether a call is about arrays, or gets a function of the program."""
    if isinstance(values, (Traced, Made, Rows, Popped)):
        return True
    if isinstance(values, dict):
        return any(map(has_traced, values.values()))
    return isinstance(values, (tuple, list)) and any(map(has_traced, values))


def is_method_of_traced(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    return isinstance(owner, (Traced, Rows, Popped, Appended))


def replaced(value: Any, new: dict[int, Any]) -> Any:
    """The structure with other values, by identity."""
    if isinstance(value, Traced):
        return new.get(id(value), value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(replaced(v, new) for v in value))
    if isinstance(value, (tuple, list)) and not isinstance(value, (Rows, Popped)):
        return type(value)(replaced(v, new) for v in value)
    if isinstance(value, dict):
        return {k: replaced(v, new) for k, v in value.items()}
    return value


def variable(leaf: Traced) -> Any:
    return leaf.var


def popped(trace: Trace, rows: Rows) -> Popped:
    """Rows, of which a trip gets one."""
    leaves = list(flat_traced(rows.rows))
    fresh = [trace.fresh(leaf.shape[1:], leaf.dtype) for leaf in leaves]
    return Popped(
        rows.rows, replaced(rows.rows, dict(zip(map(id, leaves), fresh, strict=True)))
    )


def row_leaves(item: Any) -> list[Traced]:
    """The arrays in what a loop appends. Raises Unwritable for anything else."""
    if isinstance(item, Traced):
        return [item]
    if isinstance(item, dict):
        item = tuple(item.values())
    if isinstance(item, tuple):
        return [leaf for part in item for leaf in row_leaves(part)]
    raise not_of_loops()


def same(new: Any, old: Any) -> bool:
    """Whether a value is what it was."""
    if isinstance(new, (Popped, Appended)):
        return type(old) is type(new)
    if isinstance(new, Rows) or isinstance(old, Rows):
        both = isinstance(new, Rows) and isinstance(old, Rows)
        return both and same(new.rows, old.rows)
    if isinstance(new, Traced) or isinstance(old, Traced):
        return (
            isinstance(new, Traced) and isinstance(old, Traced) and new.var is old.var
        )
    if isinstance(new, np.ndarray) or isinstance(old, np.ndarray):
        return new is old
    if isinstance(new, (tuple, list)) and type(new) is type(old):
        return len(new) == len(old) and all(map(same, new, old))
    if isinstance(new, dict) and isinstance(old, dict):
        return new.keys() == old.keys() and all(same(new[k], old[k]) for k in new)
    if isinstance(new, (int, float, complex)) and type(new) is type(old):
        return bool(new == old)
    return (
        new is old
        or (isinstance(new, Made) and isinstance(old, Made) and new.node is old.node)
        or (type(new) is type(old) and isinstance(new, (str, range)) and new == old)
    )


def is_appended(new: Any, old: Any) -> bool:
    """Whether an empty list has got items."""
    return isinstance(new, list) and isinstance(old, list) and not old and bool(new)


def copied_scope(scope: dict) -> Inner:
    """The names with values of their own: what is one value stays one."""
    memo: dict[int, Any] = {}
    copies: list[tuple[Traced, Traced]] = []

    def copied(value: Any) -> Any:
        if isinstance(value, (Made, Pending, LastRow)):
            return value
        if isinstance(value, Popped):
            stack = Popped(value.rows, value.row)
            stack.taken = value.taken
            return stack
        if isinstance(value, Rows):
            return Rows(value.rows)
        if isinstance(value, Appended):
            kept = Appended()
            kept.closed = True
            return kept
        if id(value) in memo:
            return memo[id(value)]
        if isinstance(value, Traced):
            new: Any = value.renamed()
            new.shared = value.shared
            memo[id(value)] = new
            copies.append((value, new))
            if value.of is not None:
                new.of = copied(value.of[0]), value.of[1]
        elif isinstance(value, list):
            new = [copied(v) for v in value]
        elif isinstance(value, tuple):
            parts = [copied(v) for v in value]
            new = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        elif type(value) is dict:
            new = {k: copied(v) for k, v in value.items()}
        else:
            return value
        memo[id(value)] = new
        memo[id(new)] = new
        return new

    found = {name: copied(value) for name, value in scope.items()}
    return Inner(found, getattr(scope, "outer", {}), copies)


def written_in(value: Any) -> Iterator[Traced]:
    """The arrays in a structure that may be written to, as no rows of loops may."""
    if isinstance(value, Traced):
        yield value
    elif isinstance(value, dict):
        yield from written_in(list(value.values()))
    elif isinstance(value, (tuple, list)) and not isinstance(
        value, (Rows, Popped, Appended)
    ):
        for part in value:
            yield from written_in(part)


def refuse_shared_writes(own: Inner, scope: dict, given: set[int]) -> None:
    """Raise Unwritable if a part wrote to an array that something else may hold.

    Args:
        own: the names after the part, which were a copy of those of `scope`.
        given: what the function was given, by identity.
    """
    held = Counter(id(leaf) for leaf in written_in(list(scope.values())))
    for old, new in own.copies:
        if new.written and new.ndim and (held[id(old)] > 1 or id(old) in given):
            raise Unwritable(
                "make_jaxpr: an array is written in a branch or loop, and has other "
                "names",
                instead="a copy",
            )


def leaf_pairs(first: Any, second: Any, name: str) -> list[tuple]:
    """What two branches give, number by number."""
    if isinstance(first, (Rows, Popped)) or isinstance(second, (Rows, Popped)):
        if same(first, second):
            return []
        raise not_of_loops()
    if is_number(first) and is_number(second):
        return [(first, second)]
    alike = type(first) is type(second)
    if alike and isinstance(first, (tuple, list)) and len(first) == len(second):
        return [
            pair
            for a, b in zip(first, second, strict=True)
            for pair in leaf_pairs(a, b, name)
        ]
    if alike and isinstance(first, dict) and first.keys() == second.keys():
        return [pair for k in first for pair in leaf_pairs(first[k], second[k], name)]
    if same(first, second):
        return []
    raise Unwritable(
        f"make_jaxpr: `{name}` is of another kind in each branch",
        instead="values of one structure",
    )


def rebuilt(first: Any, second: Any, leaves: Iterator[Traced]) -> Any:
    """The structure of both, with new numbers."""
    if isinstance(first, (Rows, Popped)):
        return first
    if is_number(first) and is_number(second):
        return next(leaves)
    if isinstance(first, (tuple, list)):
        parts = [rebuilt(a, b, leaves) for a, b in zip(first, second, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, dict):
        return {k: rebuilt(first[k], second[k], leaves) for k in first}
    return first
