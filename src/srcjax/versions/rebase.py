"""The same text for other values around a function.

A text depends on a number or an array from around by its type alone (`guards.Data`),
and on all else by what it is (`guards.Guard`). So when a global or a variable of the
enclosing function changes, or when the function is made anew in each call,

    for batch in batches:
        step = grad(lambda w: loss(w, batch))(w)

no text is written anew: the functions of the one that is there are loaded again beside
the new values. What was loaded before keeps its own: a pullback may still need them.
"""

from __future__ import annotations

import copy
import functools
import types as pytypes
from typing import Any

from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.guards import (
    Asked,
    Data,
    Guard,
    Seen,
    Whole,
    Written,
    is_data,
    same_kind,
)
from srcjax.backends.load import LINES, is_generated
from srcjax.backends.marks import RESTS_ON, copy_marks


class OtherText(Exception):
    """The text is not one for what is there now."""


class Surroundings:
    """What stands for what, where a text is to serve another place than its own."""

    def __init__(self) -> None:
        #: What was there, and what is now, by the id of what was.
        self.now: dict[int, tuple[Any, Any]] = {}
        #: Cells in place of others.
        self.cells: dict[int, tuple[Any, Any]] = {}

    def of(self, old: Any) -> Any:
        """What stands for an object."""
        found = self.now.get(id(old)) or self.cells.get(id(old))
        return old if found is None else found[1]

    def note(self, old: Any, new: Any) -> None:
        """One thing cannot stand for two. Raises OtherText."""
        known = self.now.setdefault(id(old), (old, new))
        if known[1] is not new:
            raise OtherText

    # -- functions that are made anew ------------------------------------------------

    def pair(self, old: Any, new: Any) -> None:
        """A callable that is made of the same code as another. Raises OtherText."""
        if old is new:
            return
        if type(old) is not type(new):
            raise OtherText
        if id(old) in self.now:
            self.note(old, new)
            return
        match old:
            case pytypes.FunctionType():
                self.note(old, new)
                self.pair_functions(old, new)
            case pytypes.MethodType():
                if old.__self__ is not new.__self__:
                    raise OtherText
                self.pair(old.__func__, new.__func__)
            case functools.partial():
                self.pair(old.func, new.func)
                self.pair_values(old.args, new.args)
                if list(old.keywords) != list(new.keywords):
                    raise OtherText
                self.pair_values(old.keywords.values(), new.keywords.values())
            case _:
                raise OtherText

    def pair_functions(self, old: Any, new: Any) -> None:
        transforms = [getattr(f, "__srcjax_transform__", None) for f in (old, new)]
        if any(transforms):
            mine, theirs = transforms
            if mine is None or theirs is None or not alike(mine, theirs):
                raise OtherText
            self.pair(mine.function, theirs.function)
            return
        if (
            old.__code__ is not new.__code__
            or old.__globals__ is not new.__globals__
            or vars(old)
            or vars(new)
        ):
            raise OtherText
        self.pair_values(old.__defaults__ or (), new.__defaults__ or ())
        options = old.__kwdefaults__ or {}, new.__kwdefaults__ or {}
        if list(options[0]) != list(options[1]):
            raise OtherText
        self.pair_values(options[0].values(), options[1].values())
        cells = zip(old.__closure__ or (), new.__closure__ or (), strict=True)
        for cell, other in cells:
            if cell is other:
                continue
            self.cells[id(cell)] = cell, other
            try:
                before, after = cell.cell_contents, other.cell_contents
            except ValueError:  # the enclosing function has not assigned it
                raise OtherText from None
            if isinstance(before, pytypes.FunctionType) and before is not after:
                self.pair(before, after)

    def pair_values(self, old: Any, new: Any) -> None:
        """Defaults, and what is bound: the same, or arrays of the same kind.

        Numbers are written out where a function is called (`def f(x, n=2)`).
        """
        olds, news = list(old), list(new)
        if len(olds) != len(news):
            raise OtherText
        for a, b in zip(olds, news, strict=True):
            if type(a) not in ARRAYS and a is not b:
                raise OtherText
            if is_data(a):
                if not same_kind(a, b):
                    raise OtherText
                self.note(a, b)

    # -- what the text rests on --------------------------------------------------------

    def moved(self, guards: list[Guard]) -> list[Guard]:
        """The guards of a text for what is there now. Raises OtherText."""
        asked = [g for g in guards if isinstance(g, Asked)]
        if not all(self.of(g.holder) is g.holder and g.holds() for g in asked):
            raise OtherText
        guards = [g for g in guards if not isinstance(g, Asked)]
        inner = [g for g in guards if is_generated(g.holder)]
        names = [
            g
            for g in guards
            if not is_generated(g.holder) and not isinstance(g, (Seen, Written))
        ]
        # Functions first: the names around them are in cells of theirs.
        names.sort(key=lambda guard: not callable(guard.value))
        found = [*asked, *map(self.of_name, names)]
        found += [self.of_function(g) for g in guards if isinstance(g, Written)]
        found += [self.of_object(g) for g in guards if isinstance(g, Seen)]
        # Names in texts that this one was made of: nobody gives them other values.
        for guard in inner:
            if isinstance(guard, Data):
                value = self.of(guard.value)
                self.note(guard.value, value)
                found.append(Data({LINES: {}, guard.key: value}, guard.key, value))
            elif self.of(guard.value) is not guard.value:
                if isinstance(guard, Whole):
                    guard.change()
                raise OtherText
            else:
                found.append(guard)
        return found

    def of_name(self, guard: Guard) -> Guard:
        """The guard of a global or a cell."""
        holder = self.of(guard.holder)
        try:
            value = guard.value_in(holder)
        except (KeyError, ValueError, AttributeError):
            raise OtherText from None
        if isinstance(guard, Data):
            if not same_kind(guard.value, value):
                raise OtherText
            self.note(guard.value, value)
            return Data(holder, guard.key, value)
        if isinstance(guard, Whole):
            if value is not guard.value:
                guard.change()
                raise OtherText
            self.note(value, value)
            return Whole(holder, guard.key, value, guard.code)
        self.pair(self.of(guard.value), value)
        if is_data(value):
            self.note(value, value)
        return Guard(holder, guard.key, value)

    def of_function(self, guard: Written) -> Guard:
        """The guard of the code of a function, and of its defaults."""
        made = Written(self.of(guard.holder))
        if made.value is not guard.value or list(made.options) != list(guard.options):
            raise OtherText
        self.pair_values(guard.defaults or (), made.defaults or ())
        self.pair_values(guard.options.values(), made.options.values())
        return made

    def of_object(self, guard: Seen) -> Guard:
        """The guard of what is in an object."""
        holder = self.of(guard.holder)
        if holder is guard.holder:
            if guard.holds():
                return guard
            raise OtherText
        made = Seen(holder, guard.key, guard.value_in(holder) if guard.key else holder)
        if made.found != guard.found:
            raise OtherText
        return made


def alike(old: Any, new: Any) -> bool:
    """Whether transforms, of functions that may differ, are the same."""
    options = old.options()
    return type(old) is type(new) and options is not None and options == new.options()


def rebased(version: Any, function: Any) -> Any:
    """The version for the function and what is around it now; None if it is no text.

    `version` is one of `version.transform`, of this function or of one that was made of
    the same code.
    """
    around = Surroundings()
    made = copy.copy(version)
    made.tried = False
    try:
        around.pair(version.transform.function, function)
        made.guards = around.moved(version.guards)
        if around.cells or any(old is not new for old, new in around.now.values()):
            load_beside(made, version, around)
    except OtherText:
        return None
    return made


def load_beside(made: Any, version: Any, around: Surroundings) -> None:
    """Give a version functions of its own, beside what is there now."""
    beside = Beside(around)
    beside.guards[id(vars(version.loaded))] = made.guards
    made.loaded = pytypes.ModuleType(version.loaded.__name__, version.loaded.__doc__)
    beside.copy_into(vars(made.loaded), vars(version.loaded))
    made.function, made.call = beside.of(version.function), beside.of(version.call)
    made.module = copy.copy(version.module)
    made.module.values = {n: beside.of(v) for n, v in made.module.values.items()}
    made.module.guards = made.guards
    made.module.whole = beside.of(made.module.whole)
    made.module.loaded = made.module.text, made.loaded


class Beside:
    """Copies of generated functions, beside what is around them now."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        #: The namespaces of copies, and their guards, by the id of what they copy.
        self.spaces: dict[int, dict[str, Any]] = {}
        self.guards: dict[int, list[Guard]] = {}
        self.copies: dict[int, pytypes.FunctionType] = {}

    def copy_into(self, space: dict[str, Any], old: dict[str, Any]) -> None:
        self.spaces[id(old)] = space
        space.update({name: self.of(value) for name, value in old.copy().items()})

    def of(self, value: Any) -> Any:
        """What stands for a value: for a function that rests on something, a copy."""
        if not isinstance(value, pytypes.FunctionType):
            return self.around.of(value)
        old = value.__globals__
        if id(old) not in self.spaces:
            if not is_generated(old) or not RESTS_ON.get(value):
                return self.around.of(value)
            self.guards[id(old)] = self.around.moved(RESTS_ON[value])
            self.copy_into({}, old)
        if id(value) not in self.copies:
            self.copies[id(value)] = self.copied(value)
        return self.copies[id(value)]

    def copied(self, function: pytypes.FunctionType) -> pytypes.FunctionType:
        old = id(function.__globals__)
        defaults = tuple(map(self.around.of, function.__defaults__ or ())) or None
        made = pytypes.FunctionType(
            function.__code__,
            self.spaces[old],
            function.__name__,
            defaults,
            function.__closure__,
        )
        options = function.__kwdefaults__ or {}
        made.__kwdefaults__ = {n: self.around.of(v) for n, v in options.items()} or None
        functools.update_wrapper(made, function)
        del made.__wrapped__  # type: ignore[attr-defined]
        copy_marks(function, made)
        if function in RESTS_ON:
            RESTS_ON[made] = self.guards[old]
        return made
