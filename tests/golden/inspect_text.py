"""What the golden tests ask of a generated text: size, dead code, true comments."""

import ast
import inspect
import io
import textwrap
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from types import FunctionType, ModuleType

LIMIT = 1.5

# Methods and functions whose result nothing else has.
FRESH = ("copy", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like")


# --- size --------------------------------------------------------------------


def count_statements(nodes: Iterable[ast.AST]) -> int:
    """Statements in these functions, the `def` lines counted, docstrings not."""
    return sum(
        isinstance(node, ast.stmt) and not is_text(node)
        for root in nodes
        for node in ast.walk(root)
    )


def is_text(node: ast.AST) -> bool:
    """Whether the statement is a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def functions_of(text: str) -> list[ast.FunctionDef]:
    """The functions at the top of a module's text."""
    return [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]


def generated_statements(text: str) -> int:
    """The size of a generated module: its functions, without imports and `__all__`.

    What an entry point says of its arguments and tests of them, a textbook has in the
    text around its formulas.
    """
    return count_statements(map(without_test, functions_of(text)))


def without_test(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function without a docstring and the test of its arguments after it."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    first = body[0]
    if isinstance(first, ast.If) and isinstance(first.body[0], ast.Raise):
        body = body[1:]
    return ast.FunctionDef(**{**vars(function), "body": body})


def textbook_statements(module: ModuleType, name: str) -> int:
    """The size of a textbook gradient, together with the helpers it calls."""
    found = {name: getattr(module, name)}
    todo = [found[name]]
    while todo:
        for called in todo.pop().__code__.co_names:
            helper = vars(module).get(called)
            if isinstance(helper, FunctionType) and called not in found:
                found[called] = helper
                todo.append(helper)
    sources = map(inspect.getsource, found.values())
    return count_statements(ast.parse(textwrap.dedent(source)) for source in sources)


# --- comments ----------------------------------------------------------------


def comments(text: str) -> list[str]:
    """The comments of a text, without the `#`."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        token.string.removeprefix("#").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    ]


def statements_of_source(source: str) -> set[str]:
    """Each statement of the user's source, on one line, in Python's own spelling.

    A compound statement counts by its header: `for W, b in params:`.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.If | ast.While):
            keyword = type(node).__name__.lower()
            found.add(f"{keyword} {ast.unparse(node.test)}:")
            found.add(f"elif {ast.unparse(node.test)}:")
        elif isinstance(node, ast.For):
            header = f"{ast.unparse(node.target)} in {ast.unparse(node.iter)}"
            found.add(f"for {header}:")
        else:
            found.add(ast.unparse(node))
    return found


def in_own_spelling(comment: str) -> str:
    """A comment in the spelling of `statements_of_source`, if it is code at all."""
    if comment.endswith(":"):
        header = comment.replace("elif ", "if ", 1) + " pass"
        try:
            return ast.unparse(ast.parse(header)).partition("\n")[0]
        except SyntaxError:
            return comment
    try:
        return ast.unparse(ast.parse(comment))
    except SyntaxError:
        return comment


def untrue_comments(text: str, sources: Iterable[str]) -> list[str]:
    """Comments that quote no statement and no line of the user's sources."""
    true: set[str] = set()
    for source in sources:
        true |= statements_of_source(source)
        true |= {line.strip() for line in source.splitlines()}
    return [
        c for c in comments(text) if c not in true and in_own_spelling(c) not in true
    ]


# --- statements and terms that do nothing ------------------------------------


def idle_code(text: str) -> list[str]:
    """Statements and terms of a text that do nothing, each with its line."""
    found = []
    for function in functions_of(text):
        for node in ast.walk(function):
            if reason := idle_reason(node):
                line = getattr(node, "lineno", 0)
                found.append(f"{line}: {reason}: {ast.unparse(node)}")
        for line, name in dead_assignments(function):
            found.append(f"{line}: nothing reads this value of {name}")
        found += [f"{line}: only another name: {s}" for line, s in renames(function)]
        found += [f"{line}: zero, and then added to" for line in zeroed(function)]
    return found


def renames(function: ast.FunctionDef) -> list[tuple[int, str]]:
    """Lines `a = b` where neither name ever stands for another value."""
    counts = Counter(a.arg for a in ast.walk(function) if isinstance(a, ast.arg))
    changed: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] += 1
        target = getattr(node, "target", None)
        if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
            changed.add(target.id)
    return [
        (node.lineno, ast.unparse(node))
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Name)
        and isinstance(node.targets[0], ast.Name)
        and counts[node.targets[0].id] == counts[node.value.id] == 1
        and not changed & {node.targets[0].id, node.value.id}
    ]


def zeroed(function: ast.FunctionDef) -> list[int]:
    """Lines `a[i] = 0` that an `a[i] += ...` follows at once."""
    found = []
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for first, second in pairwise(body):
            if (
                isinstance(first, ast.Assign)
                and is_number(first.value, 0)
                and isinstance(second, ast.AugAssign)
                and ast.unparse(first.targets[0]) == ast.unparse(second.target)
            ):
                found.append(first.lineno)
    return found


def idle_reason(node: ast.AST) -> str | None:
    """Why the statement or expression has no effect, if it has none."""
    match node:
        case ast.Assign(targets=[ast.Name(id=left)], value=ast.Name(id=right)):
            return "assigns a name to itself" if left == right else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            if is_number(left, 0) or is_number(right, 0):
                return "adds zero"
        case ast.BinOp(op=ast.Sub(), right=right) if is_number(right, 0):
            return "subtracts zero"
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            if any(is_number(f, n) for f in (left, right) for n in (0, 1)):
                return "multiplies by one or zero"
        case ast.BinOp(op=ast.Div() | ast.Pow(), right=right) if is_number(right, 1):
            return "divides by one, or takes the first power"
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
            return "adds zero" if is_number(value, 0) else None
        case ast.AugAssign(op=ast.Mult() | ast.Div(), value=value):
            return "multiplies by one" if is_number(value, 1) else None
        case ast.UnaryOp(op=ast.USub(), operand=ast.UnaryOp(op=ast.USub())):
            return "negates twice"
        case ast.If(body=[ast.Pass()]):
            return "has an empty branch"
        case ast.Call(func=ast.Attribute(attr="copy", value=ast.Call(func=called))):
            if isinstance(called, ast.Attribute) and called.attr in FRESH:
                return "copies what is new already"
    return None


def is_number(node: ast.AST, value: float) -> bool:
    """Whether the node is this number, written out."""
    return (
        isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and node.value == value
    )


def dead_assignments(function: ast.FunctionDef) -> list[tuple[int, str]]:
    """Lines that assign a plain name that nothing reads afterwards, and the name.

    Names that start with an underscore are meant not to be read.
    """
    found: dict[int, str] = {}
    live_in_block(function.body, set(), found)
    return sorted(found.items())


def live_in_block(
    body: list[ast.stmt], live: set[str], dead: dict[int, str]
) -> set[str]:
    """Names that are live before the block, given those that are live after it."""
    for statement in reversed(body):
        live = live_before(statement, live, dead)
    return live


def live_before(statement: ast.stmt, live: set[str], dead: dict[int, str]) -> set[str]:
    """Names that are live before one statement; notes dead assignments down."""
    match statement:
        case ast.Return():
            return reads(statement)
        case ast.If(test=test, body=body, orelse=orelse):
            first = live_in_block(body, set(live), dead)
            return reads(test) | first | live_in_block(orelse, set(live), dead)
        case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
            live = live | live_in_block(orelse, set(live), dead)
            around = live_around(body, live | reads(iterated))
            inside = live_in_block(body, set(around), dead)
            return live | reads(iterated) | (inside - writes(target))
        case ast.While(test=test, body=body, orelse=orelse):
            live = live | live_in_block(orelse, set(live), dead)
            around = live_around(body, live | reads(test))
            return live | reads(test) | live_in_block(body, set(around), dead)
        case ast.Assign(targets=targets, value=value):
            written = set().union(*map(writes, targets))
            plain = all(isinstance(target, ast.Name) for target in targets)
            if plain and not written & live:
                dead[statement.lineno] = ", ".join(sorted(written))
            else:
                dead.pop(statement.lineno, None)
            used = set().union(reads(value), *map(reads, targets))
            return (live - written) | used
        case _:
            return live | reads(statement)


def live_around(body: list[ast.stmt], after: set[str]) -> set[str]:
    """Names that are live at the end of a loop's body, the next round included."""
    live = set(after)
    while True:
        more = live | live_in_block(body, set(live), {})
        if more == live:
            return live
        live = more


def reads(node: ast.AST) -> set[str]:
    """Names that the node reads; the name of an augmented assignment is one of them."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.add(each.target.id)
    return found


def writes(node: ast.AST) -> set[str]:
    """Names that the target binds."""
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


# --- the user's own sources --------------------------------------------------


def sources_of(function: Callable) -> list[str]:
    """The source of a function, and of the functions of its module that it calls."""
    module = vars(inspect.getmodule(function))
    found: dict[str, str] = {}
    todo = [function]
    while todo:
        current = todo.pop()
        if current.__qualname__ in found:
            continue
        text = textwrap.dedent(inspect.getsource(current))
        found[current.__qualname__] = text
        for name in current.__code__.co_names:
            if isinstance(module.get(name), FunctionType):
                todo.append(module[name])
    return list(found.values())
