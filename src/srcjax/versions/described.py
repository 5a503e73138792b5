"""What is around a function, described by content: the same in another process or not.

Guards compare by identity, which ends with the process. Here all that a function can
reach by name is described: its code and the text that it stands in, what globals and
variables of enclosing functions hold, defaults, and so on for functions, classes and
objects that these hold. That is more than any text depends on, never less: names of
attributes and strings in the code count as names too. Libraries (Python's, NumPy,
SciPy, srcjax) go by their version, and each name in them that the code mentions by what
it holds, so that one that was replaced is another one.

Arrays are described by dtype and shape; whether a text depends on more is known of its
guards (`versions.kept`). What has no description raises `NotDescribed`.

The objects that are found are numbered in the order in which they are found. In another
process in which the description is the same each number means the same object.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import linecache
import os
import sys
import types as pytypes
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from opcode import opmap
from typing import Any

import numpy as np

from srcjax.analysis.arrays import ARRAYS, inside
from srcjax.analysis.plain import is_size
from srcjax.analysis.registered import node_of
from srcjax.analysis.standard import nested
from srcjax.backends.load import is_generated

#: More than this is not worth it: generating takes about as long.
MOST = 20_000
#: Kinds of dtypes whose arrays hold values, no objects.
KINDS = frozenset("biufcSUmM")
#: What classes have that says nothing of what they do, or is said elsewhere.
_OF_EVERY_CLASS = frozenset(
    ("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__")
    + ("__annotations__", "__firstlineno__", "__static_attributes__")
)
#: The same of functions with rules of their own, which look like what they are of.
_OF_WRAPPERS = frozenset(("__doc__", "__annotations__", "__wrapped__", "_tangent"))
_PLAIN = (bool, int, float, complex, str, bytes)
_NATIVE = (np.ufunc, pytypes.BuiltinFunctionType, type(np.sum))
_SINGLE = (None, Ellipsis, NotImplemented)


class NotDescribed(Exception):
    """There is something whose content cannot be told."""


class Described:
    """The description of a transform of a function and of arguments."""

    def __init__(self) -> None:
        self._all = hashlib.sha256()
        self._own = hashlib.sha256()
        self._in_library = 0
        self._count = 0
        #: What was found, and its number by id.
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.of_libraries: dict[int, int] = {}
        self._alive: list[Any] = []
        #: Names whose meaning was described: the id of a namespace or object, the name.
        self.edges: set[tuple[int, str]] = set()
        #: Modules, and the names that were asked of them.
        self._asked: set[tuple[int, frozenset[str]]] = set()
        #: Arrays among the objects, and memory that some of them share, by id.
        self.arrays: list[np.ndarray] = []
        self._memory: dict[int, int] = {}

    @property
    def digest(self) -> str:
        """What the whole is known by."""
        return self._all.hexdigest()

    @property
    def digest_of_own(self) -> str:
        """The same without what libraries hold: parts of these are imported late."""
        return self._own.hexdigest()

    def say(self, *words: Any) -> None:
        """Add words of plain values, whose `repr` tells them apart."""
        self._count += 1
        if self._count > MOST:
            raise NotDescribed("too much is around the function")
        said = repr(words).encode("utf-8", "surrogatepass")
        self._all.update(b"%d:" % len(said) + said)
        if not self._in_library:
            self._own.update(b"%d:" % len(said) + said)

    def note(self, value: Any) -> bool:
        """Give an object its number; whether it has one already, which is said then."""
        number = self.numbers.get(id(value), self.of_libraries.get(id(value)))
        if number is not None:
            self.say("again", number)
            return True
        self.give_number(value)
        return False

    def give_number(self, value: Any) -> None:
        """Number an object, if it has no number.

        What is found in libraries is numbered apart: other processes may have imported
        more of these.
        """
        if self._in_library:
            self.of_libraries.setdefault(id(value), -1 - len(self.of_libraries))
            self._alive.append(value)
        elif id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)

    # -- values ------------------------------------------------------------------------

    def visit(self, value: Any, names: frozenset[str] | None = None) -> None:
        """Describe a value; of a module what it holds by these names.

        What may be asked of a module that is in an object or container is not known.
        """
        value = inside(value)
        cls = type(value)
        if any(value is each for each in _SINGLE) or cls in _PLAIN:
            self.say(cls.__name__, value)
        elif cls is pytypes.ModuleType:
            if names is None:
                raise NotDescribed("a module in something else")
            self.module(value, names)
        elif cls is tuple:  # the compiler may make one of two
            self.give_number(value)
            self.say("tuple", len(value))
            self.each(value)
        elif isinstance(value, np.generic) and cls.__module__ == "numpy":
            self.say("number", dtype_word(value.dtype), value.tobytes())
        elif isinstance(value, np.dtype):
            self.say("dtype", dtype_word(value))
        elif not self.note(value):
            self.object(value, cls)

    def each(self, values: Iterable[Any]) -> None:
        for value in values:
            self.visit(value)

    def object(self, value: Any, cls: type) -> None:
        """Describe what has an identity."""
        if cls is pytypes.FunctionType:
            self.function(value)
        elif cls in ARRAYS:
            self.array(value)
        elif cls is list:
            self.say("list", len(value))
            self.each(value)
        elif cls is dict:
            self.say("dict", len(value))
            self.items(value)
        elif cls in (set, frozenset):
            if not all(type(item) in _PLAIN or item is None for item in value):
                raise NotDescribed("a set")
            found = sorted((type(i).__name__, repr(i)) for i in value)
            self.say(cls.__name__, found)
        elif cls in (range, slice):
            self.say(cls.__name__)
            self.each((value.start, value.stop, value.step))
        elif cls is pytypes.MethodType:
            self.say("method")
            self.each((value.__func__, value.__self__))
        elif cls is functools.partial:
            self.say("partial")
            self.each((value.func, value.args, value.keywords, vars(value)))
        elif cls in (staticmethod, classmethod):
            self.say(cls.__name__)
            self.visit(value.__func__)
        elif cls is property:
            self.say("property")
            self.each((value.fget, value.fset, value.fdel))
        elif isinstance(value, type):
            self.a_class(value)
        elif isinstance(value, _NATIVE) and is_of_library(value):
            self.say("library", cls.__name__, *home_of(value))
            inside = getattr(value, "_implementation", None)
            if inside is not None:  # one that NumPy's protocol may give to others
                self.inside(inside)
        else:
            self.instance(value, cls)

    def inside(self, function: Any) -> None:
        """Describe what a function of NumPy runs where no array is of another class."""
        code = getattr(function, "__code__", None)
        if code is None:
            self.say(type(function).__name__, getattr(function, "__name__", ""))
        elif is_library_file(code.co_filename):
            self.code(code)
        else:
            raise NotDescribed("what stands in a function of NumPy")

    def items(self, value: dict) -> None:
        """Describe the items of a dict, in their order."""
        for key, item in value.items():
            self.visit(key)
            self.visit(item)

    def array(self, value: np.ndarray) -> None:
        """Describe an array by what its type tells, and whose memory it has."""
        root: Any = value
        while isinstance(getattr(root, "base", None), np.ndarray):
            root = root.base
        memory = self._memory.setdefault(id(root), len(self._memory))
        flags = value.flags
        self.say("array", dtype_word(value.dtype), value.shape, memory)
        self.say(flags.c_contiguous, flags.f_contiguous, flags.writeable)
        self.arrays.append(value)

    def instance(self, value: Any, cls: type) -> None:
        """Describe an object of a class of the user's, or a function with a rule."""
        if cls.__module__ in ("srcjax.analysis.custom",):
            self.say("rule", cls.__qualname__)
            for key, item in sorted(vars(value).items()):
                if key not in _OF_WRAPPERS:
                    self.say(key)
                    self.visit(item)
            return
        between = [c for c in cls.__mro__ if c not in (object, tuple)]
        if not all(is_of_user(c) for c in between):
            raise NotDescribed(f"an object of {cls.__name__}")
        self.say("object")
        self.visit(cls)
        if isinstance(value, tuple):
            self.say(len(value))
            self.each(tuple.__iter__(value))
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            held = {}
        self.items(held)
        for c in between:
            slots = c.__dict__.get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else slots:
                self.say("slot", name, hasattr(value, name))
                if hasattr(value, name):
                    self.visit(getattr(value, name))

    # -- what is code ------------------------------------------------------------------

    def function(self, function: Any) -> None:
        """Describe a function, and what it can reach."""
        transform = function.__dict__.get("__srcjax_transform__")
        if transform is not None:
            self.transform(transform)
            return
        code, around = function.__code__, function.__globals__
        if is_generated(around):
            loader = around["__loader__"]
            self.say("generated", code.co_qualname, loader.text)
            # Which of the lambdas of a line it is: its file has other names elsewhere.
            self.say(code.co_firstlineno, code.co_code, code.co_linetable)
            names = names_in(code) | set(loader.namespace)
        else:
            self.say("function", function.__module__, function.__qualname__)
            self.code(code)
            library = is_library_file(code.co_filename)
            names = frozenset() if library else names_in(code)
            if not library:
                lines = linecache.getlines(code.co_filename, around)
                self.say(*lines[code.co_firstlineno - 1 : last_line(code)])
            own = code.co_qualname == function.__qualname__
            if library and own and is_of_library(function):
                return  # by its version
        self.each((function.__defaults__, function.__kwdefaults__))
        for name, cell in zip(
            code.co_freevars, function.__closure__ or (), strict=True
        ):
            self.say("variable", name)
            self.cell(cell, names)
        for key, value in sorted(function.__dict__.items()):
            self.say("attribute", key)
            self.visit(value)
        self.note(around)
        for name in sorted(names):
            self.name(around, name, names, function)
        for path in imported_by(code) if names else ():
            for module in imported(path, str(around.get("__package__") or "")):
                self.module(module, names)

    def cell(self, cell: Any, names: frozenset[str]) -> None:
        """Describe a variable of an enclosing function."""
        if self.note(cell) and not is_module_in(cell):
            return
        try:
            held = cell.cell_contents
        except ValueError:
            self.say("nothing")
            return
        self.visit(held, names)

    def name(
        self, around: dict[str, Any], name: str, names: frozenset[str], function: Any
    ) -> None:
        """Describe what a name of the code is as a global, or among the builtins."""
        self.edges.add((id(around), name))
        if name in around:
            self.say("global", name)
            self.visit(around[name], names)
        elif name in function.__builtins__:
            value = function.__builtins__[name]
            if vars(builtins).get(name) is not value:
                raise NotDescribed(f"another `{name}`")
            self.say("builtin", name)
            self.visit(value, names)
        else:
            self.say("no global", name)

    def code(self, code: pytypes.CodeType) -> None:
        """Describe compiled code."""
        self.say(
            *(code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno),
            *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            *(code.co_flags, code.co_stacksize, code.co_nlocals),
            *(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
            *(code.co_code, code.co_linetable, code.co_exceptiontable),
        )
        for const in code.co_consts:
            self.constant(const)

    def constant(self, const: Any) -> None:
        """Describe a constant of code; constants that are the same may be one."""
        if isinstance(const, pytypes.CodeType):
            self.code(const)
        elif type(const) is tuple:
            self.say("tuple", len(const))
            for each in const:
                self.constant(each)
        elif type(const) is frozenset:
            self.say("frozenset", sorted((type(i).__name__, repr(i)) for i in const))
        else:
            self.visit(const)

    def transform(self, transform: Any) -> None:
        """Describe a transform of a function, and the function."""
        options = transform.options()
        cls = type(transform)
        if options is None or not cls.__module__.startswith("srcjax."):
            raise NotDescribed("a transform")
        self.say("transform", cls.__module__, cls.__qualname__, sorted(options.items()))
        self.visit(transform.function)

    def a_class(self, cls: Any) -> None:
        """Describe a class: one of a library, or the user's with all that it has."""
        if is_of_library(cls):
            self.say("class of library", *home_of(cls))
            return
        if not is_of_user(cls):
            raise NotDescribed(f"the class {cls.__name__}")
        self.say("class", cls.__module__, cls.__qualname__)
        self.node(cls)
        self.each(cls.__bases__)
        for name, value in sorted(vars(cls).items()):
            if name in _OF_EVERY_CLASS:
                continue
            self.say("has", name)
            if name == "__dataclass_params__":
                self.say(repr(value))
            elif name == "__dataclass_fields__":
                self.fields(cls)
            elif isinstance(value, pytypes.MemberDescriptorType):
                self.say("slot")
            elif type(value).__name__ == "_tuplegetter":
                self.say("item", value.__reduce__()[1][0])
            else:
                self.visit(value)

    def node(self, cls: Any) -> None:
        """Describe how objects of the class are taken apart, if it is registered."""
        node = node_of(cls)
        if node is None:
            return
        self.say("node", node.data, node.meta)
        if not (node.data or node.meta):
            for function in (node.flatten, node.unflatten):
                if str(getattr(function, "__module__", "")).startswith("srcjax."):
                    raise NotDescribed("a class that is registered with keys")
                self.visit(function)

    def fields(self, cls: Any) -> None:
        """Describe the fields of a dataclass."""
        for each in vars(cls)["__dataclass_fields__"].values():
            kind = each._field_type.name
            self.say(each.name, each.init, each.compare, each.kw_only, kind)
            told = type(each.type) is str
            self.say(each.type if told else repr(each.type), told)
            if isinstance(each.type, type):
                self.visit(each.type)
            for value in (each.default, each.default_factory):
                missing = type(value).__name__ == "_MISSING_TYPE"
                self.say(missing)
                if not missing:
                    self.visit(value)

    # -- modules -----------------------------------------------------------------------

    def module(self, module: pytypes.ModuleType, names: frozenset[str]) -> None:
        """Describe what a module holds by these names, those that are new."""
        if (id(module), names) in self._asked:
            self.say("again", module.__name__)
            return
        self._asked.add((id(module), names))
        library = is_library(module)
        self.say("module", module.__name__, library)
        self.give_number(module)
        held = vars(module)
        if not library and "__getattr__" in held:
            raise NotDescribed(f"`{module.__name__}` computes its attributes")
        if is_generated(held):
            raise NotDescribed("a generated module")
        self._in_library += library
        for name in sorted(names):
            inner = type(held.get(name)) is pytypes.ModuleType
            if (id(module), name) in self.edges and not inner:
                continue
            self.edges.add((id(module), name))
            if name not in held:
                self.say("not there", name)
                continue
            self.say("there", name)
            if library:
                self.of_library(held[name], names)
            else:
                self.visit(held[name], names)
        self._in_library -= library

    def of_library(self, value: Any, names: frozenset[str]) -> None:
        """Describe what stands in a library: the library's own goes by its name."""
        cls = type(value)
        if (
            cls in (*_PLAIN, pytypes.FunctionType, pytypes.ModuleType)
            or isinstance(value, (type, np.dtype, np.generic))
            or is_of_user(cls)
            or (isinstance(value, _NATIVE) and is_of_library(value))
        ):
            self.visit(value, names)
        else:
            self.say("held", cls.__module__, cls.__qualname__)

    # -- arguments ---------------------------------------------------------------------

    def argument(self, value: Any) -> None:
        """Describe what specialisation depends on, as `signature_key` tells it."""
        cls = type(value)
        if cls in (float, complex):
            self.say(cls.__name__)
        elif cls is int:
            self.say("int", is_size(value))
        elif value is None or cls in (bool, str, bytes):
            self.say(cls.__name__, value)
        elif cls in ARRAYS:
            self.say("array", dtype_word(value.dtype), value.shape)
        elif isinstance(value, np.generic) and value.dtype.kind in "biufc":
            self.say("number", cls.__name__, dtype_word(value.dtype))
        elif cls in (list, tuple):
            self.say(cls.__name__, len(value))
            for item in value:
                self.argument(item)
        elif cls is dict:
            self.say("dict", len(value))
            for key, item in value.items():
                if type(key) not in (str, int):
                    raise NotDescribed("a dict")
                self.say(key)
                self.argument(item)
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            self.say("namedtuple", len(value))
            self.visit(cls)
            for item in value:
                self.argument(item)
        elif is_dataclass(value):
            self.say("dataclass")
            self.visit(cls)
            for each in fields(value):
                self.say(each.name)
                self.argument(getattr(value, each.name, None))
        else:
            raise NotDescribed(f"an argument of {cls.__name__}")


# -- words -----------------------------------------------------------------------------


def dtype_word(dtype: np.dtype) -> str:
    """What tells a dtype apart."""
    if dtype.kind not in KINDS or dtype.metadata is not None:
        raise NotDescribed(f"the dtype {dtype}")
    return dtype.str


def is_module_in(cell: Any) -> bool:
    """Whether a variable holds a module, of which others may ask something else."""
    try:
        return type(cell.cell_contents) is pytypes.ModuleType
    except ValueError:
        return False


def names_in(code: pytypes.CodeType) -> frozenset[str]:
    """Names that code may look up somewhere: also those that it has as strings."""
    found: set[str] = set()
    for each in nested(code):
        found.update(each.co_names)
        for const in each.co_consts:
            words = const if type(const) is tuple else (const,)
            found.update(w for w in words if type(w) is str and w.isidentifier())
    return frozenset(found)


def last_line(code: pytypes.CodeType) -> int:
    """The last line that code comes from."""
    ends = [end for each in nested(code) for _, end, _, _ in each.co_positions() if end]
    return max(ends, default=code.co_firstlineno)


def imported_by(code: pytypes.CodeType) -> Iterator[str]:
    """The modules that code imports when it runs."""
    for each in nested(code):
        words, more = each.co_code, 0
        for op, argument in zip(words[::2], words[1::2], strict=True):
            argument |= more
            more = argument << 8 if op == opmap["EXTENDED_ARG"] else 0
            if op == opmap["IMPORT_NAME"]:
                yield each.co_names[argument]


def imported(path: str, package: str) -> list[pytypes.ModuleType]:
    """What an import may mean, from within a package too: modules that are there."""
    first, *more = path.split(".")
    paths = [".".join([first, *more[:k]]) for k in range(len(more) + 1)]
    while package:
        paths += [package, f"{package}.{path}"]
        package = package.rpartition(".")[0]
    found = [sys.modules[each] for each in paths if each in sys.modules]
    named = [m for m in found if f".{m.__name__}".endswith(f".{path}")]
    if not all(type(m) is pytypes.ModuleType for m in found) or (path and not named):
        raise NotDescribed(f"`{path}`, which is not imported")
    return found


# -- libraries -------------------------------------------------------------------------


@functools.cache
def library_folders() -> tuple[str, ...]:
    """The folders of libraries that go by their version."""
    found = [os.path.dirname(os.__file__), os.path.dirname(np.__file__)]
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    scipy = sys.modules.get("scipy")
    beside = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "scipy")
    found += [own, os.path.dirname(scipy.__file__ or "") if scipy else beside]
    return tuple(os.path.realpath(folder) + os.sep for folder in found if folder)


@functools.cache
def is_library_file(path: str) -> bool:
    """Whether a file belongs to a library that goes by its version."""
    if path.startswith("<frozen "):
        return True
    real = os.path.realpath(path)
    standard, *others = library_folders()
    if any(map(real.startswith, others)):
        return True
    inside = real.removeprefix(standard)
    return inside != real and not inside.startswith(("site-packages", "dist-packages"))


def is_library(module: pytypes.ModuleType) -> bool:
    """Whether a module belongs to a library that goes by its version."""
    path = getattr(module, "__file__", None)
    if isinstance(path, str):
        return is_library_file(path)
    return module.__name__ in sys.builtin_module_names


def home_of(value: Any) -> tuple[str, str]:
    """The module and the name of what a library has; empty ones for all else."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    holder = getattr(value, "__self__", None)
    path = getattr(value, "__module__", None)
    if isinstance(holder, pytypes.ModuleType):
        path = holder.__name__
    elif isinstance(value, pytypes.BuiltinFunctionType) and isinstance(holder, type):
        path, name = home_of(holder)  # `tuple.__new__`, made anew each time
        same = path and getattr(holder, value.__name__, None) == value
        return (path, f"{name}.{value.__name__}") if same else ("", "")
    if isinstance(value, np.ufunc):
        own = getattr(np, value.__name__, None) is value
        path, name = "numpy" if own else "scipy.special", value.__name__
    if not isinstance(path, str) or not isinstance(name, str):
        return "", ""
    module = sys.modules.get(path)
    if type(module) is not pytypes.ModuleType or not is_library(module):
        return "", ""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return (path, name) if found is value else ("", "")


def is_of_library(value: Any) -> bool:
    """Whether a library has the object by its own name."""
    return bool(home_of(value)[0])


def is_of_user(cls: type) -> bool:
    """Whether a class was written in Python, and no class of its own made it."""
    written = bool(cls.__flags__ & (1 << 9))  # made when the program runs
    return written and type(cls) is type and not is_of_library(cls)
