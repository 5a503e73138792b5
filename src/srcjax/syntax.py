"""Building, copying and searching gast trees: the vocabulary of every pass."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

import gast

from srcjax.process import PARSING

LOAD = gast.Load()
STORE = gast.Store()
#: Expressions with a scope of their own, of which the first iterable is no part.
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def name(id: str, store: bool = False) -> gast.Name:
    """A name read, or written with `store`."""
    return _name(id, STORE if store else LOAD)


def _name(id: str, ctx: Any, annotation: Any = None, comment: Any = None) -> gast.Name:
    """As `gast.Name(...)`, whose general constructor takes several times as long."""
    new = gast.Name.__new__(gast.Name)
    new.__dict__.update(id=id, ctx=ctx, annotation=annotation, type_comment=comment)
    return new


def is_literal(value: Any) -> bool:
    """Whether a value has a text of its own: NaN, infinity and enums have none."""
    if type(value) is float:
        return math.isfinite(value)
    return type(value) in (int, bool, str, type(None))


def const(value: Any) -> gast.Constant:
    """A literal."""
    return gast.Constant(value, None)


def call(function: gast.expr | str, *args: gast.expr, **kw: gast.expr) -> gast.Call:
    """A call; a function given as text such as `np.sum` is parsed."""
    if isinstance(function, str):
        function = expression(function)
    keywords = [gast.keyword(key, value) for key, value in kw.items()]
    return gast.Call(function, list(args), keywords)


def assign(target: gast.expr | str, value: gast.expr) -> gast.Assign:
    """`target = value`."""
    if isinstance(target, str):
        target = name(target, store=True)
    return gast.Assign([as_store(target)], value, None)


def comment(text: str) -> gast.Expr:
    """A comment line, carried as a statement until it is printed."""
    return gast.Expr(const("# " + text))


def is_comment(node: gast.AST) -> bool:
    """Whether the statement is a carried comment or blank line."""
    return (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Constant)
        and isinstance(node.value.value, str)
        and node.value.value.startswith("#")
    )


def gast_of(text: str, mode: str = "exec") -> Any:
    """`gast.parse`, in one thread at a time."""
    with PARSING:
        return gast.parse(text, mode=mode)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> gast.Module:
    return gast_of(text)


def expression(text: str, **holes: gast.expr) -> gast.expr:
    """Parse an expression; names that are keys of `holes` are replaced."""
    body = _parsed(f"({text})").body[0]
    return cast(gast.expr, substitute(body.value, holes))


def statements(text: str, **holes: gast.expr) -> list[gast.stmt]:
    """Parse statements; names that are keys of `holes` are replaced."""
    return [substitute(stmt, holes) for stmt in _parsed(text).body]


def clone(node: Any) -> Any:
    """A deep copy of a tree (locations are kept; contexts and operators are shared)."""
    cls: Any = type(node)
    if cls is list:
        return [clone(item) for item in node]
    parts = _PARTS[cls]
    if parts is None:
        return node
    new = cls.__new__(cls)
    fields = new.__dict__
    fields.update(node.__dict__)
    for key in parts:
        value = fields.get(key)
        if value is not None:
            fields[key] = clone(value)
    return new


def clone_shallow(node: Any) -> Any:
    """A copy of one node; its children are shared."""
    cls: Any = type(node)
    new = cls.__new__(cls)
    new.__dict__.update(node.__dict__)
    return new


def line_behind(stmt: Any) -> Any:
    """The user's line that a statement comes from: file, number, text; None of none.

    Of what stands for none of them, such as a `return`, that of what it took in.
    """
    where = getattr(stmt, "user_line", None) or getattr(stmt, "taken_line", None)
    return where if where is not None and where[1] else None


def take_line(stmt: Any, taken: Any) -> None:
    """A statement has taken in another one: without a line of its own it has that."""
    if getattr(stmt, "taken_line", None) is None:
        stmt.taken_line = line_behind(taken)


def set_apart(tree: Any) -> None:
    """Give a node or list that stands at several places of the tree a copy at each.

    What changes a statement in place would change another one with it.
    """
    seen: set[int] = set()
    stack = [tree]
    pop, push, add = stack.pop, stack.append, seen.add
    while stack:
        current = pop()
        if type(current) is list:
            for k, item in enumerate(current):
                if id(item) in seen and _PARTS[type(item)] is not None:
                    current[k] = item = clone(item)
                add(id(item))
                push(item)
            continue
        parts = _PARTS[type(current)]
        if parts:
            fields = current.__dict__
            for key in parts:
                value = fields.get(key)
                if value is not None:
                    if id(value) in seen and is_tree(value):
                        fields[key] = value = clone(value)
                    add(id(value))
                    push(value)


_Known = TypeVar("_Known")


class ByNode(Generic[_Known]):
    """What is known of nodes, by their identity: they are kept as long as that is.

    A node that is gone leaves its place in memory to others, which would be taken for
    it.
    """

    def __init__(self) -> None:
        self.held: dict[int, tuple[Any, _Known]] = {}

    def get(self, node: Any) -> _Known | None:
        found = self.held.get(id(node))
        return None if found is None else found[1]

    def __setitem__(self, node: Any, known: _Known) -> None:
        self.held[id(node)] = node, known

    def forget(self, node: Any) -> None:
        self.held.pop(id(node), None)

    def clear(self) -> None:
        self.held.clear()

    def values(self) -> list[_Known]:
        return [known for _, known in self.held.values()]


def is_tree(value: Any) -> bool:
    """Whether it is a node with an identity of its own, or a list."""
    return type(value) is list or _PARTS[type(value)] is not None


def shared_nodes(tree: Any) -> list[Any]:
    """The nodes and lists that stand at several places of the tree."""
    counts: Counter[int] = Counter()
    found: dict[int, Any] = {}
    stack = [tree]
    while stack:
        current = stack.pop()
        if not is_tree(current):
            continue
        counts[id(current)] += 1
        found[id(current)] = current
        if counts[id(current)] == 1:
            parts = _PARTS[type(current)] or ()
            values = [current.__dict__.get(key) for key in parts]
            stack += current if type(current) is list else values
    return [found[key] for key, count in counts.items() if count > 1]


def replaced(node: Any, nodes: dict[int, gast.expr]) -> Any:
    """A copy of the tree with some of its nodes, by identity, replaced."""
    if id(node) in nodes:
        return clone(nodes[id(node)])
    if isinstance(node, list):
        return [replaced(n, nodes) for n in node]
    if isinstance(node, gast.AST):
        new = clone_shallow(node)
        for key, value in node.__dict__.items():
            if isinstance(value, (gast.AST, list)):
                new.__dict__[key] = replaced(value, nodes)
        return new
    return node


def substitute(node: Any, holes: dict[str, gast.expr]) -> Any:
    """A copy in which each name in `holes` stands replaced by (a copy of) its tree.

    A name written to is replaced as well, when its replacement can be written to.
    """
    if isinstance(node, gast.Name):
        if node.id in holes:
            if isinstance(node.ctx, gast.Store):
                return as_store(clone(holes[node.id]))
            return as_load(holes[node.id])
        return _name(node.id, node.ctx, node.annotation, node.type_comment)
    cls: Any = type(node)
    if cls is list:
        return [substitute(item, holes) for item in node]
    parts = _PARTS[cls]
    if parts is None:
        return node
    new = cls.__new__(cls)
    fields = new.__dict__
    fields.update(node.__dict__)
    for key in parts:
        value = fields.get(key)
        if value is not None:
            fields[key] = substitute(value, holes)
    return new


def rename_inside(comprehension: Any, names: dict[str, str]) -> None:
    """Rename in the scope of a comprehension, in place.

    What it goes over first is of the scope around.
    """
    first = comprehension.generators[0]
    over, first.iter = first.iter, gast.Constant(None, None)
    rename(comprehension, names)
    first.iter = over


def rename(node: Any, names: dict[str, str]) -> Any:
    """Rename every occurrence of the names, in place.

    Two statements may have one node, as those of `a["x"] = a["y"] = v`: it is renamed
    once, also where a new name is the old one of another.
    """
    done: set[int] = set()
    for sub in walk(node):
        if isinstance(sub, gast.Name) and sub.id in names:
            if id(sub) not in done:
                done.add(id(sub))
                sub.id = names[sub.id]
        elif isinstance(sub, (gast.FunctionDef, gast.ClassDef)) and sub.name in names:
            sub.name = names[sub.name]
        elif isinstance(sub, (gast.Global, gast.Nonlocal)):
            sub.names = [names.get(n, n) for n in sub.names]
        elif isinstance(sub, gast.ExceptHandler) and isinstance(sub.name, str):
            sub.name = names.get(sub.name, sub.name)
        elif isinstance(sub, gast.alias) and (sub.asname or "." not in sub.name):
            bound = str(bound_by(sub))  # `import a.b` binds `a` under no other name
            sub.asname = names.get(bound, sub.asname)
    return node


def beside_calls(node: Any, words: Container[str]) -> list[gast.Name]:
    """The names among `words` that are no functions called and no errors raised."""
    ours = set()
    found = []
    for sub in walk(node):  # what is called comes after its call
        if isinstance(sub, gast.Call):
            ours.add(id(sub.func))
        elif isinstance(sub, gast.Raise):
            ours.add(id(sub.exc))
        elif isinstance(sub, gast.Name) and sub.id in words and id(sub) not in ours:
            found.append(sub)
    return found


def with_words_apart(
    function: gast.FunctionDef, words: Container[str], names: Names
) -> dict[str, str]:
    """Give the own names of a function that are among `words` others, in place.

    It is one that calls and raises nothing else by these words: `added(added, x[i])`
    adds to what a user calls so. What was renamed is returned.
    """
    parts = [function.args, function.body]
    found = beside_calls(parts, words)
    bound = names_written(parts)
    bound |= {n.id for n in walk(function.args) if isinstance(n, gast.Name)}
    renamed: dict[str, str] = {}
    for each in found:
        if each.id in bound:
            if each.id not in renamed:
                renamed[each.id] = names.fresh(each.id)
            each.id = renamed[each.id]
    return renamed


def as_store(target: Any) -> Any:
    """The expression as the target of an assignment."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return type(target)([as_store(e) for e in target.elts], STORE)
    if isinstance(target, gast.Name):
        return _name(target.id, STORE, target.annotation, target.type_comment)
    if isinstance(target, gast.Starred):
        return gast.Starred(as_store(target.value), STORE)
    if isinstance(target, gast.Subscript):
        return gast.Subscript(target.value, target.slice, STORE)
    if isinstance(target, gast.Attribute):
        return gast.Attribute(target.value, target.attr, STORE)
    return target


def as_load(target: Any) -> Any:
    """The target of an assignment as an expression (a copy)."""
    new = clone(target)
    todo = [new]
    while todo:
        sub = todo.pop()
        if isinstance(getattr(sub, "ctx", None), (gast.Store, gast.Del)):
            sub.ctx = LOAD
        if isinstance(sub, (gast.Tuple, gast.List)):
            todo += sub.elts  # no further: a comprehension inside binds its targets
        elif isinstance(sub, gast.Starred):
            todo.append(sub.value)
    return new


def walk(node: Any) -> Iterator[gast.AST]:
    """Every node, parents before children, in source order.

    Contexts and operators are no nodes of interest, nor are annotations of names.
    """
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        current = pop()
        cls = type(current)
        if cls is list:
            stack.extend(current[::-1])
            continue
        fields = _CHILDREN[cls]
        if fields is None:
            continue
        yield current
        if fields:
            values = current.__dict__
            for field in fields:
                value = values.get(field)
                if value:
                    push(value)


def walk_told(node: Any, silent: Container[type], mark: str) -> Iterator[gast.AST]:
    """The nodes that `walk` finds, but for those of silent kinds without the mark.

    Most nodes are names and constants, of which there is nothing to say.
    """
    return (n for n in walk(node) if type(n) not in silent or mark in n.__dict__)


class _BlockFields(dict[type, tuple[str, ...]]):
    """The fields of a kind of statement that hold blocks, or what has a block."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        fields = getattr(cls, "_fields", ()) if issubclass(cls, _STATEMENTS) else ()
        self[cls] = tuple(f for f in fields if f in _HOLD_BLOCKS)
        return self[cls]


_HOLD_BLOCKS = frozenset(["body", "orelse", "finalbody", "handlers", "cases"])
#: Those of parts with a head and a block of their own.
_HEADED = ("handlers", "cases")
_STATEMENTS = (gast.stmt, ast.stmt)
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_BLOCK_FIELDS = _BlockFields()


def holders(stmt: Any, definitions: bool = False) -> Iterator[tuple[Any, str]]:
    """What holds the blocks of a statement, and the field that each one is in.

    Only blocks with statements, in the order of the text: those of handlers and cases
    too. What stands in a definition is another scope, left out without `definitions`.
    """
    if not definitions and isinstance(stmt, _DEFINITIONS):
        return
    for field in _BLOCK_FIELDS[type(stmt)]:
        inner = getattr(stmt, field, None)
        if not inner:
            continue
        if field in _HEADED:
            yield from ((part, "body") for part in inner if part.body)
        else:
            yield stmt, field


def has_blocks(stmt: Any) -> bool:
    """Whether it is a kind of statement with blocks, such as a definition."""
    return bool(_BLOCK_FIELDS[type(stmt)])


def inner_blocks(stmt: Any, definitions: bool = False) -> list[list[Any]]:
    """The blocks of a statement, as `holders` finds them."""
    return [getattr(node, field) for node, field in holders(stmt, definitions)]


def rewrite_blocks(stmt: Any, rewritten: Callable[[list[Any]], list[Any]]) -> None:
    """Put `rewritten(block)` for each block of a statement, in place.

    A body with nothing left is a `pass`, as is the `finally` that makes a `try` one;
    other blocks go.
    """
    for node, field in holders(stmt):
        new = rewritten(getattr(node, field))
        needed = field == "body" or (field == "finalbody" and not stmt.handlers)
        setattr(node, field, new or ([gast.Pass()] if needed else []))


def rebuilt(stmt: Any, rewritten: Callable[[list[Any]], list[Any]]) -> Any:
    """A copy of a statement with `rewritten(block)` for each of its blocks."""
    new = clone_shallow(stmt)
    for field in _HEADED:
        if getattr(stmt, field, None):
            setattr(new, field, [clone_shallow(part) for part in getattr(stmt, field)])
    rewrite_blocks(new, rewritten)
    return new


def head(stmt: Any) -> list[Any]:
    """What belongs to a statement itself, without the blocks in it: nodes and lists.

    The test of an `if`, target and iterable of a `for`, what handlers catch and cases
    match; the statement, where it has no blocks or is a definition.
    """
    fields = _BLOCK_FIELDS[type(stmt)]
    if not fields or isinstance(stmt, _DEFINITIONS):
        return [stmt]
    held = [p for f in _HEADED if f in fields for p in getattr(stmt, f, ())]
    parts = [
        getattr(node, field, None)
        for node in (stmt, *held)
        for field in node._fields
        if field not in _HOLD_BLOCKS
    ]
    return [part for part in parts if isinstance(part, (gast.AST, list))]


def blocks(body: list[gast.stmt]) -> Iterator[list[gast.stmt]]:
    """The lists of statements, the innermost too, outside of functions and classes."""
    yield body
    for stmt in body:
        for inner in inner_blocks(stmt):
            yield from blocks(inner)


def all_statements(body: list[Any]) -> Iterator[Any]:
    """Every statement, before those in its blocks, in the order of the text.

    Those of nested functions and classes too. Expressions are not looked into.
    """
    for stmt in body:
        yield stmt
        if _BLOCK_FIELDS[type(stmt)]:
            for inner in inner_blocks(stmt, definitions=True):
                yield from all_statements(inner)


def root_of(place: Any, of_call: Callable[[gast.Call], gast.expr] | None = None) -> str:
    """`x` of `x`, `x[i]`, `x.part[i].real`; empty for what is no place of a name.

    `of_call` gives what the result of a call is a part of.
    """
    while True:
        if isinstance(place, (gast.Subscript, gast.Attribute, gast.Starred)):
            place = place.value
        elif isinstance(place, gast.Call) and of_call is not None:
            place = of_call(place)
        else:
            return place.id if isinstance(place, gast.Name) else ""


def names_read(node: Any) -> set[str]:
    """Names that are loaded anywhere inside."""
    return names_of_both_kinds(node)[0]


def names_written(node: Any) -> set[str]:
    """Names that are bound anywhere inside (nested scopes and imports included)."""
    return names_of_both_kinds(node)[1]


def names_of_both_kinds(node: Any) -> tuple[set[str], set[str]]:
    """The names that are loaded and those that are bound: most passes ask for them."""
    loaded: set[str] = set()
    bound: set[str] = set()
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        current = pop()
        cls = type(current)
        if cls is gast.Name:
            ctx = type(current.ctx)
            if ctx is gast.Load:
                loaded.add(current.id)
            elif ctx is gast.Store or ctx is gast.Del:
                bound.add(current.id)
            continue
        if cls is list:
            stack.extend(current)
            continue
        fields = _CHILDREN[cls]
        if fields is None:
            continue
        if cls in BINDERS:
            name = bound_by(current)
            if name is not None:
                bound.add(name)
        if fields:
            values = current.__dict__
            for field in fields:
                value = values.get(field)
                if value:
                    push(value)
    return loaded, bound


def bound_by(node: Any) -> str | None:
    """The name that a definition, import or handler binds."""
    if isinstance(node, gast.alias):
        return str(node.asname or node.name).split(".")[0]
    name = node.name
    return name.id if isinstance(name, gast.Name) else name


BINDERS = frozenset([gast.FunctionDef, gast.ClassDef, gast.alias, gast.ExceptHandler])


def all_names(node: Any) -> set[str]:
    """Every identifier that occurs: read, written or bound."""
    names, bound = occurrences(node)
    return {name.id for name in names}.union(bound)


def names_in(node: Any) -> list[gast.Name]:
    """The names that `walk` finds, in their order: in less than half of the time."""
    return occurrences(node)[0]


def occurrences(node: Any) -> tuple[list[gast.Name], list[str]]:
    """The names inside in their order, and what definitions, imports, handlers bind."""
    found: list[gast.Name] = []
    bound: list[str] = []
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        current = pop()
        cls = type(current)
        if cls is gast.Name:
            found.append(current)
            continue
        if cls is list:
            stack.extend(current[::-1])
            continue
        fields = _CHILDREN[cls]
        if fields is None:
            continue
        if cls in BINDERS:
            name = bound_by(current)
            if name is not None:
                bound.append(name)
        if fields:
            values = current.__dict__
            for field in fields:
                value = values.get(field)
                if value:
                    push(value)
    return found, bound


def size_asked(node: Any) -> tuple[str, int] | None:
    """The array and the axis of `len(x)` and `x.shape[1]`; None for all others."""
    if isinstance(node, gast.Call) and is_name(node.func, "len"):
        return getattr(node.args[0], "id", ""), 0
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant):
        shape = node.value
        if isinstance(shape, gast.Attribute) and shape.attr == "shape":
            axis = node.slice.value
            if isinstance(axis, int) and axis >= 0:
                return getattr(shape.value, "id", ""), axis
    return None


def count_reads(node: Any, id: str) -> int:
    """How often the name is loaded inside."""
    return sum(
        sub.id == id and isinstance(sub.ctx, gast.Load) for sub in names_in(node)
    )


def read_counts(node: Any) -> Counter[str]:
    """How often each name is loaded inside."""
    return Counter(sub.id for sub in names_in(node) if isinstance(sub.ctx, gast.Load))


def updates(node: Any) -> list[gast.AugAssign]:
    """The augmented assignments inside, which only statements have."""
    stmts = node if isinstance(node, list) else [node]
    if all(isinstance(stmt, gast.stmt) for stmt in stmts):
        return [s for s in all_statements(stmts) if isinstance(s, gast.AugAssign)]
    return [sub for sub in walk(node) if isinstance(sub, gast.AugAssign)]


def kinds(node: Any) -> set[type]:
    """The kinds of nodes that are inside, as `walk` finds them."""
    found: set[type] = set()
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        current = pop()
        cls = type(current)
        if cls is list:
            stack.extend(current)
            continue
        fields = _CHILDREN[cls]
        if fields is None:
            continue
        found.add(cls)
        if fields:
            values = current.__dict__
            for field in fields:
                value = values.get(field)
                if value:
                    push(value)
    return found


def use_counts(node: Any) -> Counter[str]:
    """How often the value of each name is used: loaded, or updated by `x += v`."""
    targets = (s.target.id for s in updates(node) if isinstance(s.target, gast.Name))
    return read_counts(node) + Counter(targets)


def count_uses(node: Any, id: str) -> int:
    """How often the value of the name is used inside."""
    return use_counts(node)[id]


def defaults_last(arguments: gast.arguments, scope: Any) -> bool:
    """Whether all defaults mean where a function runs what they did at its start."""
    return all(
        d is None
        or isinstance(d, gast.Constant)
        or (isinstance(d, gast.Name) and count_bindings(scope, d.id) < 2)
        for d in [*arguments.defaults, *arguments.kw_defaults]
    )


def count_bindings(node: Any, id: str) -> int:
    """How often the name is bound; an augmented assignment of a name is no binding."""
    return binding_counts(node)[id]


def binding_counts(node: Any) -> Counter[str]:
    """How often each name is bound, as `count_bindings` counts."""
    updated = {sub.target for sub in updates(node)}
    return Counter(
        sub.id
        for sub in names_in(node)
        if not isinstance(sub.ctx, gast.Load) and sub not in updated
    )


def equal(a: Any, b: Any) -> bool:
    """Whether two trees are the same program text."""
    if a is b:
        return True
    cls: Any = type(a)
    if cls is list:
        return type(b) is list and len(a) == len(b) and all(map(equal, a, b))
    if cls is gast.Constant and type(b) is gast.Constant:
        return type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
    if isinstance(a, gast.AST):
        if type(b) is not cls:
            return False
        mine, others = a.__dict__, b.__dict__
        for field in cls._fields:
            if field not in _NO_TEXT and not equal(mine.get(field), others.get(field)):
                return False
        return True
    return bool(a == b)


#: Fields that say nothing of a program's text.
_NO_TEXT = frozenset(["ctx", "type_comment", "kind"])


def is_name(node: Any, id: str | None = None) -> bool:
    """Whether the node is a name (the given one)."""
    return isinstance(node, gast.Name) and (id is None or node.id == id)


def is_full_slice(node: Any) -> bool:
    """Whether an index is `:`."""
    return isinstance(node, gast.Slice) and (
        node.lower is node.upper is node.step is None
    )


def is_atom(node: Any) -> bool:
    """A name or a number, string, None ... literal (a sign is part of a number)."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
        return isinstance(node, gast.Constant)
    return isinstance(node, (gast.Name, gast.Constant))


def dotted(node: Any) -> str | None:
    """`np.linalg.norm` for the attribute chain, None for anything else."""
    if isinstance(node, gast.Name):
        return node.id
    if isinstance(node, gast.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def text(node: Any) -> str:
    """Plain one-line text of a node, for messages, comments and comparisons."""
    if isinstance(node, list):
        return "\n".join(map(text, node))
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(clone(node))))


def map_expressions(node: Any, f: Callable[[gast.expr], gast.expr]) -> Any:
    """Rebuild a statement or expression with `f` applied to each part, leaves first."""
    cls: Any = type(node)
    if cls is list:
        return [map_expressions(item, f) for item in node]
    parts = _PARTS[cls]
    if parts is None:
        return node
    new = cls.__new__(cls)
    fields = new.__dict__
    fields.update(node.__dict__)
    for key in parts:
        value = fields.get(key)
        if value is not None:
            fields[key] = map_expressions(value, f)
    return f(new) if isinstance(new, gast.expr) else new


def rewritten(node: Any, f: Callable[[gast.expr], gast.expr]) -> Any:
    """The expression with `f` applied to each operation in it, the innermost first.

    Names and constants are none. What stays as it is is shared with the old tree, of
    which `f` changes nothing in place; where a part comes twice it is there twice.
    """
    cls: Any = type(node)
    if cls is list:
        items = [rewritten(item, f) for item in node]
        same = all(new is old for new, old in zip(items, node, strict=True))
        return node if same else items
    parts = _PARTS[cls]
    if parts is None or cls is gast.Name or cls is gast.Constant:
        return node
    fields = node.__dict__
    for key in parts:
        value = fields.get(key)
        if value is not None:
            new = rewritten(value, f)
            if new is not value:
                if fields is node.__dict__:
                    node = clone_shallow(node)
                    fields = node.__dict__
                fields[key] = new
    return f(node) if isinstance(node, gast.expr) else node


_NO_CHILDREN = frozenset(
    [
        "ctx",
        "op",
        "ops",
        "id",
        "attr",
        "kind",
        "type_comment",
        "annotation",
        "returns",
        "n",
        "s",
        "asname",
        "level",
        "arg",
    ]
)


class _Children(dict[type, tuple[str, ...] | None]):
    """The fields with nodes of interest, last one first; None for what is no node."""

    def __missing__(self, cls: type) -> tuple[str, ...] | None:
        found = None
        if issubclass(cls, gast.AST):
            fields = reversed(getattr(cls, "_fields", ()))
            found = tuple(f for f in fields if f not in _NO_CHILDREN)
        self[cls] = found
        return found


#: What a constant holds is no node.
_CHILDREN = _Children({gast.Constant: ()})


class _Parts(dict[type, tuple[str, ...] | None]):
    """The fields that a copy of a node copies as well, by class.

    None for a class whose objects are shared: contexts and operators are alike, and
    what is no node is not changed in place.
    """

    def __missing__(self, cls: type) -> tuple[str, ...] | None:
        found = None
        if issubclass(cls, gast.AST) and not issubclass(cls, _ALIKE):
            found = tuple(
                f for f in getattr(cls, "_fields", ()) if f not in _PLAIN_FIELDS
            )
        self[cls] = found
        return found


_ALIKE = (gast.expr_context, gast.operator, gast.unaryop, gast.boolop, gast.cmpop)
#: Fields without nodes, or with nodes that are alike.
_PLAIN_FIELDS = frozenset(["ctx", "op", "id", "attr", "kind", "type_comment"])
_PARTS = _Parts({gast.Constant: ()})


def adjoint_name(base: str) -> str:
    """`dx` for `x`; `d_el` for `el`, as `del` means something else, like `dir`."""
    name = f"d{base}"
    return f"d_{base}" if keyword.iskeyword(name) or hasattr(builtins, name) else name


def numbered(base: str) -> Iterator[str]:
    """`base`, `base2`, `base3` ... (`base_2` where base ends in a digit)."""
    return (numbered_name(base, number) for number in itertools.count(1))


def numbered_name(base: str, number: int) -> str:
    """The name that comes at this place."""
    if number == 1:
        return base
    return f"{base}_{number}" if base[-1:].isdigit() else f"{base}{number}"


class Names:
    """Hands out identifiers that clash with nothing; a clash takes the next number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        #: The names that the user's own text uses.
        self.reserved = frozenset(self.taken)
        #: The base of every name that had to take a number.
        self.numbered: dict[str, str] = {}
        #: By base, the number of the last name that was given.
        self.reached: dict[str, int] = {}
        #: What negated values that have a name are without the minus, by that name.
        self.negated: dict[str, str] = {}
        #: Lists on which the forward sweep keeps values for the backward sweep.
        self.tapes: set[str] = set()

    def fresh(self, base: str) -> str:
        """The first of the names that `numbered` gives which is not taken.

        What keys say is made a name: `params_first_norm` of `params["first norm"]`.
        """
        if not base.isidentifier():
            base = re.sub(r"\W+", "_", base).strip("_") or "item"
            base = base if base.isidentifier() else f"_{base}"
        base = f"{base}_" if keyword.iskeyword(base) else base
        # Names are never given back: those below the last number are taken.
        number = self.reached.get(base, 1)
        while (candidate := numbered_name(base, number)) in self.taken:
            number += 1
        self.reached[base] = number
        self.taken.add(candidate)
        if candidate != base:
            self.numbered[candidate] = base
        return candidate
