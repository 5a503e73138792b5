"""How much a call of a function does, told from its text before it is called.

What is counted are statements and calls, with the trips of the loops around them. Trips
that the text does not tell are as many as the longest axis of an argument, or the
largest whole number among them. What ends when a value says so, `while` and recursion,
may take as long as it likes; so may all that the text does not tell: functions in
containers, methods of objects. Nor is it known of what is no NumPy whether it runs at
all outside of a transform, as `x.at[i]` does not: of all functions that may be called,
by whatever way, none has that in its text.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np
import optree

from srcjax.analysis.arrays import inside, taking_arrays
from srcjax.analysis.custom import Checkpointed, CustomBatch, CustomRule, CustomTangent
from srcjax.analysis.standard import nested
from srcjax.late import late

if TYPE_CHECKING:
    from srcjax.frontend import locate as locating
    from srcjax.frontend import runnable
    from srcjax.versions import described
else:
    runnable = late("srcjax.frontend.runnable")
    locating = late("srcjax.frontend.locate")
    described = late("srcjax.versions.described")


@dataclass(frozen=True)
class Effort:
    """What is known of a function, and of all that it calls.

    - `size`: the statements and calls in the texts, each counted once.
    - `steps`: those that one run goes through, about; infinite where nothing tells.
    - `trips`: those of its longest nest of loops.
    """

    size: int
    steps: float
    trips: float = 1.0


_LEAVES = (
    *(int, float, complex, str, bytes, slice, range, type(None)),
    *(np.ndarray, np.generic, np.dtype),
)
#: Attributes of what programs compute with.
_PLAIN = frozenset().union(
    *map(dir, (np.ndarray, np.float64, np.random.Generator, np.random.RandomState)),
    *map(dir, (int, float, complex, str, bytes, list, tuple, dict, set, range)),
)
#: What is not looked into: a function of a library, an object.
NOTHING = Effort(0, 0.0)
#: The room of what makes functions of functions, and calls them once for a call.
_MAKERS = "srcjax.api."
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: Loops of srcjax itself go through so many axes, or call a function that it is given.
_AXES = 4.0
#: Functions of loops that go through what they are given.
_THROUGH = (enumerate, zip, reversed, list, tuple, sorted)


def effort_of(function: Callable, longest: int) -> Effort:
    """What a call does.

    Args:
        longest: what `longest` says of its arguments.

    Raises:
        SrcjaxError: a function that it calls has no text.
    """
    found = _Walk(longest)
    own = found.of(function)
    if asks_for_places(function):
        return Effort(found.size, math.inf, math.inf)
    return Effort(found.size, own.steps, own.trips)


def longest(values: Iterable[Any]) -> int | None:
    """The longest axis of arguments, or the largest whole number among them.

    None where they are not numbers, arrays and strings in containers of Python.
    """
    found = 1
    leaves: Any = optree.tree_leaves(cast("Any", tuple(values)), none_is_leaf=True)
    for leaf in leaves:
        if not isinstance(leaf, _LEAVES):
            return None
        if isinstance(leaf, int):
            found = max(found, leaf)
        elif isinstance(leaf, (str, bytes)):
            found = max(found, len(leaf))
        else:
            found = max([found, *getattr(leaf, "shape", ())])
    return max(found, len(leaves))


def written_in_python(value: Any) -> Any:
    """The function, or method, that a call runs, if it is the user's or plain NumPy.

    Of what transforms made it is the function that they were given.
    """
    if isinstance(value, FunctionType):  # other things may raise when they are asked
        transform = getattr(value, "__srcjax_transform__", None)
        if transform is not None:
            return written_in_python(transform.function)
    if isinstance(value, functools.partial):
        return written_in_python(value.func)
    if isinstance(value, (CustomRule, CustomTangent, CustomBatch, Checkpointed)):
        return written_in_python(value.function)
    if isinstance(value, MethodType):
        return value if written_in_python(value.__func__) else None
    if not isinstance(value, FunctionType):
        return None
    if is_of_srcjax(value):
        return None if value.__module__.startswith(_MAKERS) else value
    library = described.is_library_file(value.__code__.co_filename)
    return None if library else value


def is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def is_of_srcjax(value: Any) -> bool:
    """Whether it is a function of srcjax."""
    return str(getattr(value, "__module__", "")).startswith("srcjax.")


def names_around(function: FunctionType | MethodType) -> dict[str, Any]:
    """What the names stand for that a function does not bind itself."""
    code = function.__code__
    found: dict[str, Any] = {}
    plain: Any = getattr(function, "__func__", function)
    for name in all_names(code):
        if name in plain.__globals__:
            found[name] = plain.__globals__[name]
        elif hasattr(builtins, name):
            found[name] = getattr(builtins, name)
    for name in (*code.co_varnames, *code.co_cellvars):
        found.pop(name, None)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is not assigned yet
            found[name] = cell.cell_contents
    if isinstance(function, MethodType) and code.co_argcount:
        found[code.co_varnames[0]] = function.__self__
    return found


def all_names(code: CodeType) -> set[str]:
    """Names of globals and attributes of a function, and of those inside it."""
    return {name for each in nested(code) for name in each.co_names}


def as_called(function: Any) -> Any:
    """The function, as it is called by a text where arrays are NumPy's.

    It is given `Array`s where one that it calls has `x.at[i]`.
    """
    here = runnable.runnable(function)
    return taking_arrays(here) if asks_for_places(here) else here


#: So many objects around a function are looked at.
_MOST = 5000


def asks_for_places(function: Callable) -> bool:
    """Whether a function, or one that it may call, has `x.at[i]` in its text.

    All functions count that are around it: in containers, in objects, as methods. True
    where there is too much to look at.
    """
    seen: dict[int, Any] = {}
    waiting: list[Any] = [function]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, _LEAVES):
            continue
        if len(seen) > _MOST:
            return True
        seen[id(value)] = value
        plain = written_in_python(value)
        if plain is None:
            waiting += parts_of(value)
        elif not is_of_srcjax(plain):
            if "at" in all_names(plain.__code__) and has_places(plain):
                return True
            waiting += names_around(plain).values()
            waiting += [plain.__defaults__, plain.__kwdefaults__]
    return False


def parts_of(value: Any) -> Iterable[Any]:
    """What a container, an object or a module of the user holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        plain = all(issubclass(of, _LEAVES) for of in set(map(type, value)))
        return () if plain else value
    if isinstance(value, (functools.partial, staticmethod, classmethod, property)):
        names = ("func", "args", "keywords", "__func__", "fget")
        return [getattr(value, name, None) for name in names]
    if isinstance(value, type):
        return parts_of(dict(vars(value))) if is_of_user(value) else ()
    if isinstance(value, ModuleType):
        file = vars(value).get("__file__")
        return () if file is None or described.is_library_file(file) else [vars(value)]
    inside = getattr(value, "__dict__", {})
    if not isinstance(inside, Mapping):
        inside = {}  # of what answers to any name, as wrappers of libraries do
    return [dict(inside), *(each for each in type(value).__mro__ if is_of_user(each))]


def is_of_user(cls: type) -> bool:
    """Whether a class has methods that the user wrote."""
    return any(
        isinstance(each, FunctionType) and written_in_python(each) is not None
        for each in vars(cls).values()
    )


def has_places(function: FunctionType | MethodType) -> bool:
    """Whether `at` of something is not only called, as `np.add.at(x, i, y)` is."""
    plain: Any = getattr(function, "__func__", function)
    tree = locating.locate(plain).node
    called = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return any(
        isinstance(n, ast.Attribute) and n.attr == "at" and n not in called
        for n in ast.walk(tree)
    )


class _Walk:
    """Goes through a function and all that it calls."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.size = 0
        self.known: dict[CodeType, Effort] = {}

    def of(self, value: Any) -> Effort:
        """What a call of a value does, as far as it is written in Python."""
        function = written_in_python(value)
        if function is None:
            return NOTHING
        code = function.__code__
        if code not in self.known:
            self.known[code] = Effort(0, math.inf, math.inf)  # if it calls itself
            plain = getattr(function, "__func__", function)
            node = locating.locate(plain).node
            body = node.body if isinstance(node.body, list) else [node.body]
            self.known[code] = _Body(self, function).of(body)
        return self.known[code]


class _Body:
    """Goes through the text of one function."""

    def __init__(self, walk: _Walk, function: FunctionType | MethodType) -> None:
        self.walk = walk
        self.around = names_around(function)
        #: Whether it is the user's; what srcjax has in plain NumPy runs everywhere.
        self.of_user = not is_of_srcjax(function)
        #: Functions that it defines itself.
        self.local: dict[str, list[ast.stmt]] = {}
        #: Names of what loops take out of containers.
        self.items: set[str] = set()
        self.trips = 1.0

    def of(self, body: list[Any]) -> Effort:
        """The effort of its statements, or of the one expression of a lambda."""
        steps = self.steps(body, 1.0)
        return Effort(0, steps, self.trips)

    def steps(self, nodes: Iterable[ast.AST], trips: float) -> float:
        return sum((self.step(node, trips) for node in nodes), 0.0)

    def step(self, node: ast.AST, trips: float) -> float:
        """The steps of a node of which there are so many runs."""
        if isinstance(node, ast.stmt):
            self.walk.size += 1
        own = trips if isinstance(node, (ast.stmt, ast.Call, ast.Lambda)) else 0.0
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.local[node.name] = node.body
            return own
        if isinstance(node, ast.While) or self.is_unknown(node):
            self.trips = math.inf
            return math.inf
        if isinstance(node, (ast.For, ast.AsyncFor)):
            self.items |= {n.id for n in ast.walk(node.target) if is_name(n)}
            inner = self.inside(trips, self.count(node.iter))
            return own + self.step(node.iter, trips) + self.steps(node.body, inner)
        if isinstance(
            node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            inner = trips
            for each in node.generators:
                self.items |= {n.id for n in ast.walk(each.target) if is_name(n)}
                own += self.step(each.iter, inner)
                inner = self.inside(inner, self.count(each.iter))
            parts = [getattr(node, n, None) for n in ("elt", "key", "value")]
            return own + inner + self.steps([p for p in parts if p], inner)
        if isinstance(node, ast.Call):
            return own + self.call(node, trips)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.named(node, trips)
        return own + self.steps(ast.iter_child_nodes(node), trips)

    def is_unknown(self, node: ast.AST) -> bool:
        """Whether it calls what the text does not tell, or asks what NumPy has not."""
        if not self.of_user:
            return False
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
            if isinstance(node, ast.Subscript) or getattr(node, "id", "") in self.items:
                return True
        else:
            return False
        named = isinstance(node, ast.Attribute) and node.attr not in _PLAIN
        return named and self.value(node) is None

    def inside(self, runs: float, count: float) -> float:
        """How often the body of a loop runs, which goes through so many items."""
        if self.of_user:
            self.trips = max(self.trips, runs * count)
            return runs * count
        self.trips = max(self.trips, count)
        return runs * min(count, _AXES)

    def call(self, node: ast.Call, trips: float) -> float:
        """The steps of what is called, and of the functions that it is given."""
        given: list[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
        self.walk.size += 1
        steps = self.step(node.func, trips)
        for each in given:
            runs = self.runs_of(node.func) if self.is_function(each) else 1.0
            steps += self.step(each, trips * runs)
        return steps

    def is_function(self, node: ast.expr) -> bool:
        """Whether an argument is a function that is written in Python."""
        if isinstance(node, ast.Lambda) or getattr(node, "id", None) in self.local:
            return True
        return written_in_python(self.value(node)) is not None

    def runs_of(self, node: ast.expr) -> float:
        """How often what is called calls functions that it is given."""
        callee = self.value(node)
        if callee is None or callee is functools.partial:
            return 1.0
        if str(getattr(callee, "__module__", "")).startswith(_MAKERS):
            return 1.0
        if written_in_python(callee) is not None:
            known = self.of_user or is_of_srcjax(callee)
            return self.walk.of(callee).trips if known else float(self.walk.longest)
        return float(self.walk.longest)

    def named(self, node: ast.Name | ast.Attribute, trips: float) -> float:
        """The steps of a function where its name stands: there it is called."""
        if isinstance(node, ast.Name) and node.id in self.local:
            body = self.local.pop(node.id)  # none if it calls itself
            found = self.steps(body, trips)
            self.local[node.id] = body
            return found
        value = self.value(node)
        if value is None and isinstance(node, ast.Attribute):
            return self.step(node.value, trips)
        if not (self.of_user or is_of_srcjax(value)):
            return 0.0
        called = self.walk.of(value)
        self.trips = max(self.trips, called.trips * (trips if self.of_user else 1.0))
        return called.steps * trips if called.steps and trips else 0.0

    def value(self, node: ast.AST) -> Any:
        """What a name, or a part of a module, stands for; None if that is not known."""
        if isinstance(node, ast.Name):
            return inside(self.around.get(node.id))
        if isinstance(node, ast.Attribute):
            holder = self.value(node.value)
            if isinstance(holder, (ModuleType, type, tuple)):
                return inside(getattr(holder, node.attr, None))
            own = getattr(holder, "__dict__", {})
            if node.attr in own:
                return own[node.attr]
            return getattr(type(holder), node.attr, None)
        return None

    def count(self, node: ast.expr) -> float:
        """How many items a loop goes through, about."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return float(len(node.elts))
        if isinstance(node, ast.Call) and self.value(node.func) is range:
            return max(map(self.bound, node.args[:2]), default=0.0)
        if isinstance(node, ast.Call) and self.goes_through(node.func):
            return min(map(self.count, node.args), default=1.0)
        value = self.value(node)
        if isinstance(value, (list, tuple, dict, range, set, str)):
            return float(len(value))
        return float(self.walk.longest)

    def goes_through(self, node: ast.expr) -> bool:
        """Whether it is a function that gives the items that it is given."""
        value = self.value(node)
        return any(value is each for each in _THROUGH)

    def bound(self, node: ast.expr) -> float:
        """The size of the number that an expression is, about."""
        if isinstance(node, ast.UnaryOp):
            return self.bound(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return abs(float(node.value))
        value = self.value(node)
        if isinstance(value, (int, float)):
            return abs(float(value))
        if isinstance(node, ast.BinOp):
            left, right = self.bound(node.left), self.bound(node.right)
            if isinstance(node.op, (ast.Mult, ast.Pow)):
                return left * right
            if isinstance(node.op, (ast.FloorDiv, ast.Div)):
                return left / max(right, 1.0)
            return left if isinstance(node.op, (ast.Sub, ast.Mod)) else left + right
        return float(self.walk.longest)
