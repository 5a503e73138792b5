"""Versions that another process made: their texts, loaded without being written.

The key of an entry is a description of the transform, of the function with all that it
can reach, and of the arguments (`versions.described`). An entry has the text of the
version and of the generated functions that it calls, and tells where the live values
in them were found: by their number in the description. So it is with the guards, which
hold as long as they hold here.

What is no part of this is not kept, and is generated as ever: a version with a value or
a guard that was not found, one that came with a warning, one for rules of the user's
for operations. An array has to have the same contents, unless the text is known to go
by its type alone (`guards.Data`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import threading
import types as pytypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.custom import Rules
from srcjax.analysis.guards import Asked, Data, Fixed, Guard, Items, Seen, Written
from srcjax.backends.load import LINES, is_generated, load, untested
from srcjax.backends.marks import TABLES, TESTED, Part
from srcjax.errors import PerformanceWarning
from srcjax.frontend.stage_texts import is_recording
from srcjax.versions import store
from srcjax.versions.described import Described, NotDescribed, home_of

#: What a module tells of itself, besides its text.
_FACTS = (
    *("consumes", "writes_arguments", "restores", "opinions", "changes_given"),
    *("tested", "stays"),
)
#: Larger arrays are not compared.
MOST_BYTES = 1_000_000

_here = threading.local()


@contextlib.contextmanager
def nothing_kept() -> Iterator[None]:
    """Inside, versions are generated: more is needed of them than they are kept for."""
    before = getattr(_here, "off", False)
    _here.off = True
    try:
        yield
    finally:
        _here.off = before


def is_asked() -> bool:
    """Whether entries serve here."""
    off = getattr(_here, "off", False) or is_recording()
    return store.Setting.on and not off and not Rules.of_users


@dataclass
class Function:
    """A function of a module, by name."""

    name: str


@dataclass
class KeptModule:
    """What is known of a module without what wrote it."""

    text: str
    entry: str
    functions: list[Function]
    guards: list[Guard]
    #: Statements that stay Python: how many.
    python: tuple[None, ...]
    whole: Callable | None
    consumes: bool
    writes_arguments: bool
    restores: bool
    opinions: bool
    changes_given: bool
    tested: bool
    stays: str
    accepts: None = None
    #: What the names of the text stand for.
    values: dict[str, Any] = field(default_factory=dict)

    def shown(self) -> KeptModule:
        """The module with the values there are now, where the text has others."""
        from srcjax.backends.module import text_of_now

        return replace(self, text=text_of_now(self.text, self.values))


class KeptVersion:
    """A version as `callables.Version`, of an entry."""

    kept = True
    tries = was_run = False

    def __init__(self, transform: Any, module: KeptModule, loaded: Any) -> None:
        self.transform = transform
        self.module = module
        self.loaded = loaded
        self.function: Callable = getattr(loaded, module.entry)
        self.call = self.function
        if module.tested:
            self.call = untested(module.text, module.entry, loaded)
        self.guards = module.guards
        self.tried = self.checked = False
        self.calls = 0
        self.rules = Rules.given
        self.types: list[Any] = []
        self.order: list[Any] = []
        self.made: list[Any] = []
        #: Arguments like those that it was found for: their arrays have no contents.
        self.example: list[Any] = []

    def holds(self) -> bool:
        """Whether everything that was resolved still is what it was."""
        return self.rules == Rules.given and all(guard.holds() for guard in self.guards)


class Place:
    """Where the version for some arguments is kept, if there is a description."""

    def __init__(self, transform: Any, values: list[Any], more: Any = ()) -> None:
        self.transform, self.values, self.more = transform, values, more
        self.warnings = PerformanceWarning.given
        asked = transform is not None and is_asked()
        self.described = self.describe() if asked else None

    def describe(self) -> Described | None:
        """The description of what the version is for; None without one."""
        found = Described()
        try:
            found.say(store.environment(), repr(self.more))
            found.transform(self.transform)
            for value in self.values:
                found.argument(value)
        except Exception:  # NotDescribed, or what asking an object raises
            return None
        return found

    def version(self) -> tuple[Any, list[int]] | None:
        """The version that is kept, and the positions of ints that stand for reals."""
        if self.described is None:
            return None
        entry = store.read(self.described.digest)
        if entry is None:
            return None
        try:
            found = Loading(self.transform, self.described, entry).version()
        except Exception:  # it is not what it seems to be: it is written anew
            return None
        found[0].example = list(map(alike, self.values))
        return found

    def keep(self, version: Any, reals: list[int]) -> None:
        """Keep a version that was just made, if all is as it was before."""
        if self.described is None or PerformanceWarning.given != self.warnings:
            return
        if not is_asked() or store.environment_now() != store.environment():
            return
        again = self.describe()
        if again is None or again.digest_of_own != self.described.digest_of_own:
            return
        try:
            entry = Keeping(self.described, version).entry(reals)
        except Exception:  # NotDescribed, or what asking an object raises
            return
        store.write(self.described.digest, entry)


# -- to disk ---------------------------------------------------------------------------


class Keeping:
    """Makes the entry of a version."""

    def __init__(self, described: Described, version: Any) -> None:
        self.described = described
        self.version = version
        #: The generated modules, and their number by the id of their names.
        self.modules: list[Any] = []
        self.known: dict[int, int] = {}

    def entry(self, reals: list[int]) -> dict[str, Any]:
        """The entry, in plain values. Raises NotDescribed."""
        module = self.version.module
        if not self.version.holds():
            raise NotDescribed("what changes")
        self.module(vars(self.version.loaded))
        whole = module.whole
        found = {name: getattr(module, name) for name in _FACTS}
        return found | {
            "entry": module.entry,
            "functions": [each.name for each in module.functions],
            "python": len(module.python),
            "whole": None if whole is None else self.value(whole),
            "guards": self.guards(self.version.guards),
            "exact": self.exact(),
            "modules": self.modules,
            "reals": list(reals),
        }

    def module(self, names: dict[str, Any]) -> int:
        """The number of a generated module, which is kept with all that it calls."""
        if id(names) in self.known:
            return self.known[id(names)]
        number = self.known[id(names)] = len(self.modules)
        self.modules.append(None)
        loader = names["__loader__"]
        values = {name: self.value(names[name]) for name in loader.namespace}
        self.modules[number] = {
            "text": loader.text,
            "name": loader.name.rpartition(".")[2],
            "lines": dict(names[LINES]),
            "values": values,
            "marks": {
                name: self.marks(value)
                for name, value in names.items()
                if isinstance(value, pytypes.FunctionType)
                and value.__globals__ is names
            },
        }
        return number

    def marks(self, function: Any) -> dict[str, Any]:
        """What is known of a generated function. Raises NotDescribed."""
        found = {k: table[function] for k, table in TABLES.items() if function in table}
        return {k: self.mark(k, known) for k, known in found.items()} | {
            "tested": function in TESTED
        }

    def mark(self, kind: str, known: Any) -> Any:
        """One of these, in plain values."""
        match kind:
            case "made" | "adjoints":
                return sorted(known)
            case "counts":
                return dict(known)
            case "kept":
                return [sorted(names) for names in known]
            case "joined":
                return {name: list(map(tuple, parts)) for name, parts in known.items()}
            case "guards":
                return self.guards(known)
        raise NotDescribed(f"the mark `{kind}`")

    def value(self, value: Any) -> tuple[Any, ...]:
        """Where a live value is found. Raises NotDescribed."""
        if is_plain(value):
            return "plain", value
        number = self.described.numbers.get(id(value))
        if number is not None:
            return "object", number
        around: Any = getattr(value, "__globals__", None)
        if is_generated(around) and around.get(value.__name__) is value:
            return "generated", self.module(around), value.__name__
        if type(value) is pytypes.ModuleType and not is_generated(vars(value)):
            return "module", value.__name__
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return "number", value.dtype.str, value.tobytes()
        home = home_of(value)
        if home[0]:
            return "library", *home
        raise NotDescribed(f"a value of {type(value).__name__}")

    def guards(self, guards: list[Guard]) -> list[Any]:
        """Where the guards are found. Raises NotDescribed."""
        return [found for found in map(self.guard, guards) if found is not None]

    def guard(self, guard: Guard) -> tuple[str, int, str] | None:
        """What a guard is about; None if nobody changes it."""
        if isinstance(guard, Asked):
            raise NotDescribed("what a function gives")
        if isinstance(guard, Fixed) or is_generated(guard.holder):
            return None
        if isinstance(guard, Written) and is_generated(guard.holder.__globals__):
            return None
        if isinstance(guard, Written):
            return "code", self.function(guard.holder), ""
        number = self.described.numbers.get(id(guard.holder))
        if number is None:
            raise NotDescribed("a guard of what is out of reach")
        edge = id(guard.holder), guard.key
        by_name = type(guard.holder) in (dict, pytypes.ModuleType) and guard.key
        if by_name and edge not in self.described.edges:
            raise NotDescribed(f"`{guard.key}`")
        return "seen" if isinstance(guard, Seen) else "name", number, guard.key

    def function(self, function: Any) -> int:
        """The number of a function, or of that which it is a copy of."""
        for number, each in enumerate(self.described.objects):
            if each is function or (
                type(each) is pytypes.FunctionType
                and each.__code__ is function.__code__
                and each.__globals__ is function.__globals__
                and each.__defaults__ is function.__defaults__
                and each.__kwdefaults__ is function.__kwdefaults__
                and each.__closure__ == function.__closure__
            ):
                return number
        raise NotDescribed("a function that is out of reach")

    def exact(self) -> list[tuple[int, bytes]]:
        """The arrays of which a text may depend on more than their types."""
        by_type: set[int] = set()
        looked_at: set[int] = set()
        for guard in self.version.guards:
            if isinstance(guard, Data):
                by_type.update(map(id, arrays_in(guard.value)))
            elif type(guard) in (Guard, Fixed):
                looked_at.update(map(id, arrays_in(guard.value)))
        found = []
        for array in self.described.arrays:
            if id(array) in looked_at or id(array) not in by_type:
                number = self.described.numbers[id(array)]
                found.append((number, contents(array)))
        return found


def is_plain(value: Any) -> bool:
    """Whether a value is kept as it is."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


def alike(value: Any) -> Any:
    """The value with arrays of one item's memory in the place of its arrays."""
    if type(value) in ARRAYS and value.dtype.kind in "biufc":
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    if type(value) in (list, tuple):
        return type(value)(map(alike, value))
    if type(value) is dict:
        return {key: alike(part) for key, part in value.items()}
    return value


def arrays_in(value: Any) -> list[np.ndarray]:
    """The arrays in a container."""
    if type(value) in ARRAYS:
        return [value]
    if type(value) is dict:
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_in(item)]
    return []


def contents(array: np.ndarray) -> bytes:
    """What the contents of an array are known by. Raises NotDescribed."""
    if array.nbytes > MOST_BYTES:
        raise NotDescribed("a large array")
    return hashlib.sha256(array.tobytes()).digest()


# -- from disk -------------------------------------------------------------------------


class Loading:
    """Makes a version of an entry. May raise NotDescribed, ImportError and others."""

    def __init__(self, transform: Any, described: Described, entry: Any) -> None:
        self.transform = transform
        self.objects = described.objects
        self.entry = entry
        self.loaded: dict[int, pytypes.ModuleType] = {}

    def version(self) -> tuple[Any, list[int]]:
        """The version, and the positions of ints that stand for reals."""
        entry = self.entry
        for number, known in entry["exact"]:
            if contents(self.objects[number]) != known:
                raise NotDescribed("another array")
        loaded = self.module(0)
        module = KeptModule(
            text=entry["modules"][0]["text"],
            entry=entry["entry"],
            functions=list(map(Function, entry["functions"])),
            guards=self.guards(entry["guards"]),
            python=(None,) * entry["python"],
            whole=None if entry["whole"] is None else self.value(entry["whole"]),
            values=vars(loaded),
            **{name: entry[name] for name in _FACTS},
        )
        found = KeptVersion(self.transform, module, loaded)
        if not found.holds():
            raise NotDescribed("what changes")
        return found, entry["reals"]

    def module(self, number: int) -> pytypes.ModuleType:
        """A generated module, loaded."""
        if number not in self.loaded:
            kept = self.entry["modules"][number]
            values = {name: self.value(v) for name, v in kept["values"].items()}
            made = load(kept["text"], kept["name"], values, kept["lines"], False)
            self.loaded[number] = made
            # What the text writes out is the very object: others may take its place.
            vars(made).update(values)
            for name, marks in kept["marks"].items():
                self.mark(getattr(made, name), marks)
        return self.loaded[number]

    def mark(self, function: Any, marks: dict[str, Any]) -> None:
        """Let a function be known for what it is."""
        for kind, kept in marks.items():
            match kind:
                case "tested":
                    if kept:
                        TESTED.add(function)
                case "made" | "adjoints":
                    TABLES[kind][function] = frozenset(kept)
                case "counts":
                    TABLES[kind][function] = dict(kept)
                case "kept":
                    TABLES[kind][function] = tuple(map(frozenset, kept))
                case "joined":
                    TABLES[kind][function] = {
                        name: tuple(Part(*part) for part in parts)
                        for name, parts in kept.items()
                    }
                case "guards":
                    TABLES[kind][function] = self.guards(kept)

    def value(self, where: tuple[Any, ...]) -> Any:
        """What was found there."""
        kind, *place = where
        if kind == "plain":
            return place[0]
        if kind == "object":
            return self.objects[place[0]]
        if kind == "generated":
            return getattr(self.module(place[0]), place[1])
        if kind == "module":
            return importlib.import_module(place[0])
        if kind == "number":
            return np.frombuffer(place[1], np.dtype(place[0]))[0]
        found: Any = importlib.import_module(place[0])
        for part in place[1].split("."):
            found = getattr(found, part)
        return found

    def guards(self, guards: list[Any]) -> list[Guard]:
        return [self.guard(*each) for each in guards]

    def guard(self, kind: str, number: int, key: str) -> Guard:
        """The guard of what is there now."""
        holder = self.objects[number]
        if kind == "code":
            return Written(holder)
        if kind == "seen":
            return Items(holder, key, getattr(holder, key) if key else holder)
        found = Guard(holder, key, None)
        found.value = found.value_in(holder)
        return found
