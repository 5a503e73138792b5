"""The shortest program that still fails: statements and subexpressions taken away."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable, Iterator

from tests.programs.limits import TooLong, at_most

#: Attempts are bounded: each runs a transform.
ATTEMPTS = 400
#: Seconds for all attempts, and for one: without its `i += 1` a loop has no end.
SECONDS = 120.0
SECONDS_OF_ONE = 20.0


def shrink(
    text: str,
    fails: Callable[[str], bool],
    attempts: int = ATTEMPTS,
    seconds: float = SECONDS,
) -> str:
    """A shorter program (the text of one function) for which `fails` holds as well."""
    left, end = attempts, time.monotonic() + seconds
    while True:
        for candidate in smaller(text):
            if left <= 0 or time.monotonic() > end:
                return text
            left -= 1
            if _in_time(fails, candidate):
                text = candidate
                break
        else:
            return text


def _in_time(fails: Callable[[str], bool], text: str) -> bool:
    """Whether the program fails, within the time of one attempt."""
    with contextlib.suppress(TooLong), at_most(SECONDS_OF_ONE):
        return fails(text)
    return False


def smaller(text: str) -> Iterator[str]:
    """Programs with one part less, the largest parts first."""
    tree = ast.parse(text)
    for place in range(_count(tree, _blocks)):
        yield from _without_statement(text, place)
    for place in range(_count(tree, _expressions)):
        yield from _with_operand(text, place)


def _blocks(tree: ast.AST) -> list[tuple[list[ast.stmt], int]]:
    """Each statement as its block and its position, the last ones first."""
    found = []
    for node in ast.walk(tree):
        for key in ("body", "orelse"):
            block = getattr(node, key, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                found += [(block, k) for k in reversed(range(len(block)))]
    return found


def _expressions(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Each place that holds an expression: its owner, field and position."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            continue  # it has texts and fields, and nothing else
        for key, value in ast.iter_fields(node):
            if key == "format_spec":
                continue
            if isinstance(value, ast.expr):
                found.append((node, key, None))
            elif isinstance(value, list):
                found += [
                    (node, key, k)
                    for k, item in enumerate(value)
                    if isinstance(item, ast.expr)
                ]
    return found


def _count(tree: ast.AST, places: Callable[[ast.AST], list]) -> int:
    return len(places(tree))


def _without_statement(text: str, place: int) -> Iterator[str]:
    """The program without a statement; and with the body of it in its place."""
    for unwrap in (False, True):
        tree = ast.parse(text)
        block, k = _blocks(tree)[place]
        inner = getattr(block[k], "body", None)
        if unwrap and not isinstance(inner, list):
            continue
        block[k : k + 1] = inner if unwrap and inner else []
        if not block:
            block.append(ast.Pass())
        yield ast.unparse(tree) + "\n"


def _with_operand(text: str, place: int) -> Iterator[str]:
    """The program with an operand in the place of an expression."""
    owner, key, k = _expressions(ast.parse(text))[place]
    value = getattr(owner, key)
    value = value if k is None else value[k]
    if isinstance(getattr(value, "ctx", ast.Load()), (ast.Store, ast.Del)):
        return
    operands = _operands(value)
    for number in range(len(operands)):
        tree = ast.parse(text)
        owner, key, k = _expressions(tree)[place]
        field = getattr(owner, key)
        value = field if k is None else field[k]
        operands = _operands(value)
        if k is None:
            setattr(owner, key, operands[number])
        else:
            field[k] = operands[number]
        yield ast.unparse(tree) + "\n"


def _operands(value: ast.AST) -> list[ast.expr]:
    """What the expression is made of; of a text with fields, what they show."""
    parts = ast.iter_child_nodes(value)
    if isinstance(value, ast.JoinedStr):
        return [c.value for c in parts if isinstance(c, ast.FormattedValue)]
    return [c for c in parts if isinstance(c, ast.expr)]
