"""Python text of gast trees, laid out as `ruff format` (line length 88) lays it out.

A comment is the statement `Expr(Constant("# text"))`, a blank line is
`Expr(Constant("#"))`; the blank lines that the style asks for are added by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import gast

from srcjax import syntax

from .expression_text import (
    TEST,
    YIELD,
    ExpressionPrinter,
    Wrap,
    has_brackets,
    is_name_like,
    unsupported,
)
from .layout import (
    HARD,
    INDENT,
    SPACE,
    Choice,
    Doc,
    Group,
    IfBroken,
    Indent,
    join,
    render,
)
from .literal_text import docstring
from .pattern_text import case_pattern

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, gast.ClassDef)
_IMPORTS = (gast.Import, gast.ImportFrom)
_TRIES = (gast.Try, gast.TryStar)


def emit(tree: gast.Module | gast.FunctionDef | list[gast.stmt] | gast.expr) -> str:
    """The Python text of a module, a statement, a list of statements or an expression.

    **Arguments:**

    - `tree`: a gast tree; names are final, comments are statements (see above).

    **Returns:** the text; it ends with a line end, except for an expression.

    **Raises:** `NotImplementedError` for type parameters (PEP 695).
    """
    if isinstance(tree, gast.expr):
        return render(ExpressionPrinter().expression(tree), 0)
    writer = _Writer()
    if isinstance(tree, gast.Module):
        writer.body(tree.body, 0, tree)
    else:
        writer.body(tree if isinstance(tree, list) else [tree], 0, None)
    return "\n".join(writer.lines) + "\n" if writer.lines else ""


class _Writer:
    """Writes statements as lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.printer = ExpressionPrinter()
        self.writers: dict[type[gast.AST], Callable[..., None]] = {
            gast.FunctionDef: self._function,
            gast.AsyncFunctionDef: self._function,
            gast.ClassDef: self._class,
            gast.If: self._if,
            gast.For: self._for,
            gast.AsyncFor: self._for,
            gast.While: self._while,
            gast.With: self._with,
            gast.AsyncWith: self._with,
            gast.Try: self._try,
            gast.TryStar: self._try,
            gast.Match: self._match,
        }

    def line(self, doc: Doc, indent: int) -> None:
        self.lines.append(" " * indent + render(doc, indent))

    # Blocks

    def body(self, body: list[gast.stmt], indent: int, owner: gast.AST | None) -> None:
        """The statements of a block, with the blank lines between them."""
        previous: gast.stmt | None = None
        asked = False
        may_be_docstring = True
        for index, node in enumerate(body):
            if _is_blank(node):
                asked = True
                continue
            blanks = self._blank_lines(previous, body[index:], indent, owner)
            if previous is not None:
                blanks = max(blanks, int(asked))
            self.lines.extend([""] * blanks)
            if may_be_docstring and _is_docstring(node, owner):
                text = docstring(node.value.value, indent)
                self.lines.append(" " * indent + text)
            elif _is_comment(node):
                self.lines.append(" " * indent + node.value.value.rstrip())
            else:
                self.statement(node, indent)
            previous, asked = node, False
            may_be_docstring = may_be_docstring and _is_mark(node)
        if all(map(_is_mark, body)) and owner is not None and indent:
            self.lines.append(" " * indent + "pass")

    def _blank_lines(
        self,
        previous: gast.stmt | None,
        following: list[gast.stmt],
        indent: int,
        owner: gast.AST | None,
    ) -> int:
        """How many blank lines the style asks for before `following[0]`."""
        apart = 1 if indent else 2
        starts = next((n for n in following if not _is_mark(n)), None)
        starts_definition = isinstance(starts, _DEFINITIONS)
        if previous is None:
            opens_block = indent and not isinstance(owner, _DEFINITIONS)
            return 1 if starts_definition and opens_block else 0
        if starts_definition and not _is_comment(previous):
            return apart
        if _ends_in_definition(previous):
            return apart
        if isinstance(previous, _IMPORTS):
            return int(_import_section(previous) != _import_section(following[0]))
        if _is_docstring(previous, owner) and not isinstance(owner, _FUNCTIONS):
            return 1
        return 0

    def _suite(
        self, header: Doc, body: list[gast.stmt], indent: int, owner: gast.AST
    ) -> None:
        self.line([header, ":"], indent)
        self.body(body, indent + INDENT, owner)

    # Statements

    def statement(self, node: gast.stmt, indent: int) -> None:
        write = self.writers.get(type(node))
        if write:
            write(node, indent)
        else:
            self.line(self._simple(node), indent)

    def _simple(self, node: gast.stmt) -> Doc:
        printer = self.printer
        if isinstance(node, gast.Expr):
            return self._expression_statement(node.value)
        if isinstance(node, gast.Assign):
            return self._assign(node)
        if isinstance(node, gast.AugAssign):
            symbol = printer.symbol(node.op) + "="
            return self._assignment(node.target, symbol, node.value)
        if isinstance(node, gast.AnnAssign):
            return self._annotated(node)
        if isinstance(node, gast.Return):
            return self._return(node.value)
        if isinstance(node, gast.Raise):
            return self._raise(node)
        if isinstance(node, gast.Assert):
            docs: list[Doc] = ["assert ", printer.standing(node.test)]
            if node.msg:
                docs += [", ", printer.standing(node.msg, Wrap.BROKEN)]
            return docs
        if isinstance(node, gast.Delete):
            return ["del ", self._deleted(node.targets)]
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            # Long lists of names are continued with backslashes.
            more: Doc = [IfBroken(" \\"), SPACE]
            names = Indent([more, *join(node.names, ",", more)])
            return Group([type(node).__name__.lower(), names])
        if isinstance(node, (gast.Pass, gast.Break, gast.Continue)):
            return type(node).__name__.lower()
        if isinstance(node, gast.Import):
            return ["import ", ", ".join(map(_alias, node.names))]
        if isinstance(node, gast.ImportFrom):
            return self._import_from(node)
        unsupported(node)

    def _expression_statement(self, node: gast.expr) -> Doc:
        if isinstance(node, (gast.BinOp, gast.BoolOp, gast.Compare, gast.UnaryOp)):
            return self.printer.standing(node, Wrap.OPERATORS)
        if isinstance(node, gast.Tuple) and len(node.elts) > 1:
            return self.printer.open_tuple(node)
        least = YIELD if isinstance(node, (gast.Yield, gast.YieldFrom)) else TEST
        return self.printer.expression(node, least)

    def _import_from(self, node: gast.ImportFrom) -> Doc:
        names: list[Doc] = [_alias(alias) for alias in node.names]
        start = f"from {'.' * (node.level or 0)}{node.module or ''} import "
        if names == ["*"]:
            return start + "*"
        items = self.printer.items(names, trailing_from=1)
        return [start, self.printer.parenthesize_if_broken(lambda: items)]

    def _return(self, value: gast.expr | None) -> Doc:
        if value is None:
            return "return"
        if isinstance(value, (gast.Yield, gast.YieldFrom)):
            return ["return ", self.printer.expression(value)]
        return ["return ", self._value(value)]

    def _raise(self, node: gast.Raise) -> Doc:
        if node.exc is None:
            return "raise"
        docs: list[Doc] = ["raise ", self.printer.standing(node.exc, Wrap.OPERATORS)]
        if node.cause:
            docs += [" from ", self.printer.standing(node.cause, Wrap.OPERATORS)]
        return docs

    def _deleted(self, targets: list[gast.expr]) -> Doc:
        if len(targets) == 1:
            return self.printer.standing(targets[0], Wrap.BROKEN)
        printer = self.printer
        return printer.parenthesize_if_broken(
            lambda: printer.items([printer.expression(target) for target in targets])
        )

    # Assignments

    def _assign(self, node: gast.Assign) -> Doc:
        *head, last = node.targets
        value = node.value
        opens = isinstance(value, gast.Tuple) and any(
            isinstance(target, gast.Tuple) for target in node.targets
        )
        docs: list[Doc] = []
        for index, target in enumerate(head):
            shown = self.printer.open_tuple(target)
            docs += [shown if index == 0 else self._target(target), " = "]
        return [*docs, self._assignment(last, "=", value, bool(head), opens)]

    def _assignment(
        self,
        target: gast.expr,
        symbol: str,
        value: gast.expr,
        chained: bool = False,
        opens: bool = True,
    ) -> Doc:
        """The last target and the value."""
        if not chained and not has_brackets(target):
            shown = self.printer.expression(target)
            return [shown, f" {symbol} ", self._value(value, opens)]
        return self._right_first(self._target(target), symbol, value, opens)

    def _target(self, target: gast.expr) -> Doc:
        if isinstance(target, gast.Tuple):
            return self.printer.open_tuple(target)
        return self.printer.target(target)

    def _right_first(
        self, left: Doc, symbol: str, value: gast.expr, opens: bool = True
    ) -> Doc:
        """An assignment whose value is broken before its target."""
        start: Doc = [left, f" {symbol} "]
        if not is_name_like(value):
            return [start, self._value(value, opens)]
        right = self.printer.expression(value)
        in_parentheses: Doc = [start, "(", Indent([HARD, right]), HARD, ")"]
        variants: list[Doc] = [[start, right], in_parentheses, [start, right]]
        if isinstance(value, (gast.Call, gast.Subscript, gast.Attribute)):
            variants.insert(1, [start, Group(right, expand=True)])
        return Choice(variants)

    def _annotated(self, node: gast.AnnAssign) -> Doc:
        target = self.printer.expression(node.target)
        if not node.simple and isinstance(node.target, gast.Name):
            target = ["(", target, ")"]
        if node.value is None:
            return [target, ": ", self.printer.standing(node.annotation)]
        left = [target, ": ", self.printer.target(node.annotation)]
        return self._right_first(left, "=", node.value, opens=False)

    def _value(self, node: gast.expr, opens: bool = True) -> Doc:
        """A value assigned or returned; a tuple without parentheses if it `opens`."""
        if isinstance(node, gast.Tuple) and opens:
            return self.printer.open_tuple(node)
        if isinstance(node, (gast.Yield, gast.YieldFrom)):
            return self.printer.expression(node, YIELD)
        return self.printer.standing(node)

    # Definitions

    def _decorators(self, nodes: list[gast.expr], indent: int) -> None:
        for node in nodes:
            self.line(["@", self.printer.standing(node, Wrap.OPERATORS)], indent)

    def _function(self, node: gast.FunctionDef, indent: int) -> None:
        if getattr(node, "type_params", None):
            unsupported(node)
        self._decorators(node.decorator_list, indent)
        is_async = isinstance(node, gast.AsyncFunctionDef)
        start = f"{'async ' if is_async else ''}def {node.name}"
        docs = self.printer.signature(node)
        self._definition([start, docs], node, indent)

    def _class(self, node: gast.ClassDef, indent: int) -> None:
        if getattr(node, "type_params", None):
            unsupported(node)
        self._decorators(node.decorator_list, indent)
        arguments = self.printer.arguments(node)
        bases = "" if arguments == "()" else arguments
        self._definition([f"class {node.name}", bases], node, indent)

    def _definition(self, header: Doc, node: gast.FunctionDef, indent: int) -> None:
        """A definition; a body that is only `...` stays on the header's line."""
        if len(node.body) == 1 and _is_ellipsis(node.body[0]):
            self.line([header, ": ..."], indent)
        else:
            self._suite(header, node.body, indent, node)

    # Compound statements

    def _if(self, node: gast.If, indent: int) -> None:
        keyword = "if "
        while True:
            self._suite([keyword, self._test(node.test)], node.body, indent, node)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], gast.If):
                break
            node, keyword = node.orelse[0], "elif "
        self._else(node, indent)

    def _else(
        self, node: gast.If | gast.For | gast.While | gast.Try, indent: int
    ) -> None:
        if node.orelse:
            self._suite("else", node.orelse, indent, node)

    def _test(self, node: gast.expr) -> Doc:
        if isinstance(node, gast.NamedExpr):
            return self.printer.walrus(node)
        return self.printer.standing(node)

    def _for(self, node: gast.For, indent: int) -> None:
        start = "async for " if isinstance(node, gast.AsyncFor) else "for "
        target = self.printer.open_tuple(node.target, break_inside_first=True)
        header: list[Doc] = [start, target, " in ", self.printer.standing(node.iter)]
        self._suite(header, node.body, indent, node)
        self._else(node, indent)

    def _while(self, node: gast.While, indent: int) -> None:
        self._suite(["while ", self._test(node.test)], node.body, indent, node)
        self._else(node, indent)

    def _with(self, node: gast.With, indent: int) -> None:
        start = "async with " if isinstance(node, gast.AsyncWith) else "with "
        self._suite([start, self._with_items(node.items)], node.body, indent, node)

    def _with_items(self, items: list[gast.withitem]) -> Doc:
        printer = self.printer
        if len(items) > 1:
            return printer.parenthesize_if_broken(
                lambda: printer.items([self._with_item(item) for item in items])
            )
        if items[0].optional_vars is None:
            return printer.standing(items[0].context_expr)
        return printer.optional_parentheses(
            items[0].context_expr, lambda: self._with_item(items[0])
        )

    def _with_item(self, item: gast.withitem) -> Doc:
        context = self.printer.expression(item.context_expr)
        if item.optional_vars is None:
            return context
        return [context, " as ", self.printer.expression(item.optional_vars)]

    def _try(self, node: gast.Try, indent: int) -> None:
        self._suite("try", node.body, indent, node)
        keyword = "except*" if isinstance(node, gast.TryStar) else "except"
        for handler in node.handlers:
            header: list[Doc] = [keyword]
            if handler.type:
                header += [" ", self.printer.standing(handler.type)]
            if handler.name:
                name = handler.name
                header += [" as ", name if isinstance(name, str) else name.id]
            self._suite(header, handler.body, indent, handler)
        self._else(node, indent)
        if node.finalbody:
            self._suite("finally", node.finalbody, indent, node)

    def _match(self, node: gast.Match, indent: int) -> None:
        self.line(["match ", self._value(node.subject), ":"], indent)
        for case in node.cases:
            header: list[Doc] = ["case ", case_pattern(self.printer, case.pattern)]
            if case.guard:
                header += [" if ", self._test(case.guard)]
            self._suite(header, case.body, indent + INDENT, case)


def _alias(node: gast.alias) -> str:
    return f"{node.name} as {node.asname}" if node.asname else node.name


def _import_section(node: gast.stmt) -> int:
    """Which of the groups between blank lines an import belongs to; 0 for none."""
    if not isinstance(node, _IMPORTS):
        return 0
    if isinstance(node, gast.ImportFrom):
        name = node.module or ""
        if node.level:
            return 4
    else:
        name = node.names[0].name
    if name == "__future__":
        return 1
    return 2 if name.partition(".")[0] in sys.stdlib_module_names else 3


def _is_mark(node: gast.AST) -> bool:
    """Whether the statement stands for a comment or a blank line."""
    return (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Constant)
        and isinstance(node.value.value, str)
        and node.value.value.startswith("#")
    )


def _is_blank(node: gast.stmt) -> bool:
    return _is_mark(node) and node.value.value == "#"


def _is_comment(node: gast.stmt) -> bool:
    return _is_mark(node) and not _is_blank(node)


def _is_docstring(node: gast.stmt, owner: gast.AST | None) -> bool:
    """Whether the statement would be the owner's docstring, if it came first."""
    return (
        isinstance(owner, (gast.Module, *_DEFINITIONS))
        and isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Constant)
        and isinstance(node.value.value, str)
        and not _is_mark(node)
    )


def _is_ellipsis(node: gast.stmt) -> bool:
    return (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Constant)
        and node.value.value is ...
    )


def _ends_in_definition(node: gast.stmt) -> bool:
    """Whether the last line of the statement belongs to a definition."""
    if isinstance(node, _DEFINITIONS):
        return True
    blocks = syntax.inner_blocks(node)
    return bool(blocks) and _ends_in_definition(blocks[-1][-1])
