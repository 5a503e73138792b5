"""The patterns of `match` statements as documents for the line breaker."""

from __future__ import annotations

import gast

from .expression_text import ATOM, ExpressionPrinter, unsupported
from .layout import SPACE, Doc, Group, join


def case_pattern(printer: ExpressionPrinter, node: gast.pattern) -> Doc:
    """The pattern of a `case`; alternatives get parentheses when they are broken."""
    if isinstance(node, gast.MatchOr):
        return printer.parenthesize_if_broken(lambda: _pattern(printer, node, False))
    return _pattern(printer, node, False)


def _pattern(
    printer: ExpressionPrinter, node: gast.pattern, nested: bool = True
) -> Doc:
    """A pattern; alternatives and names for a whole get parentheses if `nested`."""

    def items(patterns: list[gast.pattern]) -> list[Doc]:
        return printer.items([_pattern(printer, item, False) for item in patterns])

    if isinstance(node, gast.MatchValue):
        return printer.expression(node.value)
    if isinstance(node, gast.MatchSingleton):
        return repr(node.value)
    if isinstance(node, gast.MatchStar):
        return f"*{node.name or '_'}"
    if isinstance(node, gast.MatchSequence):
        return printer.brackets("[", lambda: items(node.patterns), "]")
    if isinstance(node, gast.MatchMapping):
        return _mapping(printer, node)
    if isinstance(node, gast.MatchClass):
        return _class(printer, node)
    if isinstance(node, gast.MatchAs) and node.pattern is None:
        return node.name or "_"
    if not isinstance(node, (gast.MatchAs, gast.MatchOr)):
        unsupported(node)
    if nested:
        return printer.brackets("(", lambda: _pattern(printer, node, False), ")")
    if isinstance(node, gast.MatchAs):
        return [
            _pattern(printer, node.pattern, _binds_names(node.pattern)),
            f" as {node.name}",
        ]
    return Group(join([_pattern(printer, p) for p in node.patterns], SPACE, "| "))


def _binds_names(node: gast.pattern) -> bool:
    return isinstance(node, gast.MatchAs)


def _mapping(printer: ExpressionPrinter, node: gast.MatchMapping) -> Doc:
    def pairs() -> list[Doc]:
        docs: list[Doc] = [
            [printer.expression(key), ": ", _pattern(printer, value, False)]
            for key, value in zip(node.keys, node.patterns, strict=True)
        ]
        return printer.items([*docs, f"**{node.rest}"] if node.rest else docs)

    return printer.brackets("{", pairs, "}") if node.keys or node.rest else "{}"


def _class(printer: ExpressionPrinter, node: gast.MatchClass) -> Doc:
    def arguments() -> Doc:
        docs = [_pattern(printer, item, False) for item in node.patterns]
        for name, value in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            docs.append([f"{name}=", _pattern(printer, value, False)])
        return Group(printer.items(docs))

    called = printer.expression(node.cls, ATOM)
    if not node.patterns and not node.kwd_attrs:
        return [called, "()"]
    return [called, printer.brackets("(", arguments, ")")]
