"""Expressions as documents for the line breaker, in the layout of `ruff format`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NoReturn

import gast

from . import layout
from .layout import (
    HARD,
    SOFT,
    SPACE,
    Choice,
    Doc,
    Group,
    IfBroken,
    Indent,
    OwnBrackets,
    ParenthesizeToFit,
    block,
    join,
)
from .literal_text import escaped, literal, preferred_quote

# How tightly an expression binds, loosest first. An operand that binds looser than
# its place demands is put in parentheses.
YIELD, NAMED, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND = range(10)
SHIFT, ARITH, TERM, FACTOR, POWER, AWAIT, ATOM = range(10, 17)

_BINARY: dict[type[gast.AST], tuple[str, int]] = {
    gast.Add: ("+", ARITH),
    gast.Sub: ("-", ARITH),
    gast.Mult: ("*", TERM),
    gast.Div: ("/", TERM),
    gast.FloorDiv: ("//", TERM),
    gast.Mod: ("%", TERM),
    gast.MatMult: ("@", TERM),
    gast.Pow: ("**", POWER),
    gast.LShift: ("<<", SHIFT),
    gast.RShift: (">>", SHIFT),
    gast.BitOr: ("|", BIT_OR),
    gast.BitXor: ("^", BIT_XOR),
    gast.BitAnd: ("&", BIT_AND),
}
_COMPARE: dict[type[gast.AST], str] = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}
_UNARY: dict[type[gast.AST], str] = {
    gast.USub: "-",
    gast.UAdd: "+",
    gast.Invert: "~",
    gast.Not: "not ",
}
_BINDS: dict[type[gast.AST], int] = {
    gast.Yield: YIELD,
    gast.YieldFrom: YIELD,
    gast.NamedExpr: NAMED,
    gast.Lambda: TEST,
    gast.IfExp: TEST,
    gast.Compare: COMPARE,
    gast.Await: AWAIT,
}
_STARTS_WITH_TOKEN = (
    gast.UnaryOp,
    gast.Lambda,
    gast.Await,
    gast.Yield,
    gast.YieldFrom,
    gast.Starred,
)
_DISPLAYS = (
    gast.List,
    gast.Set,
    gast.Dict,
    gast.Tuple,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
)


class Wrap(Enum):
    """When an expression that stands in a statement gets parentheses."""

    TO_FIT = "if its operators are broken, or a name fits a line of its own"
    OPERATORS = "if its operators are broken, never around a name or literal"
    BROKEN = "if it is broken in any way, or too long"


class _Parens(Enum):
    """What parentheses can do for an expression that is too long."""

    NEVER = "nothing: it brings its own brackets"
    TO_FIT = "put a name, literal or call on a line of its own"
    TO_SPLIT = "let it be split at its operators"
    ALWAYS = "required by the grammar here"


def unsupported(node: gast.AST, what: str = "") -> NoReturn:
    """Refuses a node, or `what` it holds, that has no Python text."""
    what = what or f"a {type(node).__name__} node"
    raise NotImplementedError(f"no Python text for {what}")


def binds(node: gast.AST) -> int:
    """How tightly the expression binds."""
    if isinstance(node, gast.BinOp):
        return _BINARY[type(node.op)][1]
    if isinstance(node, gast.BoolOp):
        return OR if isinstance(node.op, gast.Or) else AND
    if isinstance(node, gast.UnaryOp):
        return NOT if isinstance(node.op, gast.Not) else FACTOR
    if isinstance(node, gast.Constant):
        return _constant_binds(node.value)
    return _BINDS.get(type(node), ATOM)


def _constant_binds(value: object) -> int:
    if isinstance(value, complex) and value.real:
        return ARITH
    if isinstance(value, (int, float, complex)) and repr(value).startswith("-"):
        return FACTOR
    return ATOM


def operands(node: gast.AST) -> list[tuple[gast.expr, int]]:
    """The operands outside of brackets, and how tightly each has to bind."""
    if isinstance(node, gast.BinOp):
        level = _BINARY[type(node.op)][1]
        if level == POWER:
            return [(node.left, AWAIT), (node.right, FACTOR)]
        return [(node.left, level), (node.right, level + 1)]
    if isinstance(node, gast.BoolOp):
        return [(value, binds(node) + 1) for value in node.values]
    if isinstance(node, gast.Compare):
        return [(item, BIT_OR) for item in (node.left, *node.comparators)]
    if isinstance(node, gast.UnaryOp):
        # Ruff writes -(x**2), though -x**2 is the same.
        power = isinstance(node.operand, gast.BinOp) and binds(node.operand) == POWER
        return [(node.operand, ATOM if power else binds(node))]
    if isinstance(node, gast.IfExp):
        return [(node.body, OR), (node.test, OR), (node.orelse, TEST)]
    if isinstance(node, gast.NamedExpr):
        return [(node.target, ATOM), (node.value, TEST)]
    if isinstance(node, gast.Starred):
        return [(node.value, BIT_OR)]
    if isinstance(node, gast.Await):
        return [(node.value, ATOM)]
    if isinstance(node, gast.Lambda):
        return [(node.body, TEST)]
    if isinstance(node, gast.YieldFrom) or (
        isinstance(node, gast.Yield) and node.value
    ):
        return [(node.value, TEST)]
    if isinstance(node, (gast.Attribute, gast.Subscript, gast.Call)):
        return [(_head(node), ATOM)]
    return []


def _head(node: gast.Attribute | gast.Subscript | gast.Call) -> gast.expr:
    return node.func if isinstance(node, gast.Call) else node.value


def parenthesized(node: gast.AST, least: int) -> bool:
    """Whether the expression gets parentheses where `least` has to be reached."""
    return binds(node) < least


def _number_needs_parentheses(node: gast.expr) -> bool:
    """Whether `node.attr` would read as a number: `1.real`."""
    return isinstance(node, gast.Constant) and type(node.value) in (int, float)


def has_brackets(node: gast.AST) -> bool:
    """Whether the expression ends in brackets of its own, empty or not."""
    return isinstance(node, (*_DISPLAYS, gast.Call, gast.Subscript))


def _has_content(node: gast.AST) -> bool:
    """Whether the expression ends in brackets with something in them."""
    if isinstance(node, gast.Call):
        return bool(node.args or node.keywords)
    if isinstance(node, (gast.List, gast.Set, gast.Tuple)):
        return bool(node.elts)
    if isinstance(node, gast.Dict):
        return bool(node.values)
    return has_brackets(node)


def is_fluent(node: gast.AST) -> bool:
    """Whether it is a chain such as `a.b().c().d()`, broken before its dots."""
    calls = 0
    while isinstance(node, (gast.Attribute, gast.Call, gast.Subscript)):
        head = _head(node)
        wrapped = parenthesized(head, ATOM)
        is_called = wrapped or isinstance(head, (gast.Call, gast.Subscript))
        calls += isinstance(node, gast.Attribute) and is_called
        if wrapped:
            break
        node = head
    return calls >= 2


def parentheses_for(node: gast.AST) -> _Parens:
    """What parentheses around the expression are good for."""
    if isinstance(node, gast.NamedExpr):
        return _Parens.ALWAYS
    if isinstance(node, _DISPLAYS):
        return _Parens.NEVER
    if isinstance(node, (gast.Attribute, gast.Call, gast.Subscript)):
        if is_fluent(node):
            return _Parens.TO_SPLIT
        if parenthesized(_head(node), ATOM):
            return _Parens.NEVER
        inner = parentheses_for(_head(node))
        if isinstance(node, gast.Subscript) and inner is _Parens.TO_FIT:
            return _Parens.NEVER
        return inner
    if isinstance(node, gast.UnaryOp):
        [(operand, least)] = operands(node)
        if parenthesized(operand, least):
            return _Parens.NEVER
        return parentheses_for(operand)
    if isinstance(node, gast.Constant) and binds(node) == ARITH:
        return _Parens.TO_SPLIT
    if isinstance(node, (gast.Name, gast.Constant, gast.JoinedStr)):
        return _Parens.TO_FIT
    return _Parens.TO_SPLIT


class _Outline:
    """An expression seen from outside its brackets: its loosest operators and ends."""

    def __init__(self, node: gast.AST) -> None:
        self.loosest = ATOM + 1
        self.count = 0
        self.any_brackets = False
        self.starts_closed: bool | None = None
        self.ends_closed = False
        self._visit(node)

    def can_break_inside(self) -> bool:
        """Whether breaking inside its brackets reads better than new parentheses."""
        if not self.any_brackets or self.count > 1:
            return False
        return self.loosest >= ATOM or self.ends_closed or bool(self.starts_closed)

    def _operator(self, level: int, count: int = 1) -> None:
        if level < self.loosest:
            self.loosest, self.count = level, count
        elif level == self.loosest:
            self.count += count

    def _operand(self, node: gast.AST, least: int) -> None:
        wrapped = parenthesized(node, least)
        closed = wrapped or (
            _has_content(node) and not isinstance(node, gast.Subscript)
        )
        self.ends_closed = closed
        if wrapped:
            self.any_brackets = True
        else:
            self._visit(node)
        if self.starts_closed is None:
            self.starts_closed = closed

    def _visit(self, node: gast.AST) -> None:
        if isinstance(node, _DISPLAYS):
            self.any_brackets = True
        elif isinstance(node, (gast.Attribute, gast.Call, gast.Subscript)):
            head = _head(node)
            self._operand(head, ATOM)
            if not isinstance(node, gast.Attribute):
                self.any_brackets = True
            elif has_brackets(head) or parenthesized(head, ATOM):
                self._operator(ATOM)
            self.ends_closed = isinstance(node, gast.Call) and _has_content(node)
        else:
            if isinstance(node, gast.BoolOp):
                self._operator(OR, len(node.values) - 1)
            elif isinstance(node, gast.Compare):
                self._operator(COMPARE, len(node.ops))
            elif isinstance(node, gast.IfExp):
                self._operator(TEST, 2)
            elif isinstance(node, gast.BinOp):
                self._operator(binds(node))
            elif isinstance(node, _STARTS_WITH_TOKEN):
                self.starts_closed = bool(self.starts_closed)
                if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
                    self._operator(FACTOR)
            for operand, least in operands(node):
                self._operand(operand, least)


class ExpressionPrinter:
    """Makes the documents of one file's expressions.

    `inside` says where the next expression stands: in brackets, where lines may
    always break; or in parentheses that are only printed if group `inside` breaks;
    or in neither, where it can only break inside brackets of its own.
    """

    BRACKETS = -1
    NOWHERE = 0

    def __init__(self) -> None:
        self.inside = self.NOWHERE
        self.keys = 0
        self.quote = '"'
        self.makers: dict[type[gast.AST], Callable[..., Doc]] = {
            gast.Name: lambda node: node.id,
            gast.Constant: lambda node: literal(node.value, self.quote),
            gast.BinOp: self._operators,
            gast.BoolOp: self._operators,
            gast.Compare: self._operators,
            gast.UnaryOp: self._unary,
            gast.Attribute: self._chain,
            gast.Call: self._chain,
            gast.Subscript: self._chain,
            gast.IfExp: self._ternary,
            gast.Tuple: self._tuple,
            gast.List: lambda node: self._display("[", node.elts, "]"),
            gast.Set: lambda node: self._display("{", node.elts, "}"),
            gast.Dict: self._dict,
            gast.ListComp: lambda node: self._comprehension("[", node, "]"),
            gast.SetComp: lambda node: self._comprehension("{", node, "}"),
            gast.DictComp: lambda node: self._comprehension("{", node, "}"),
            gast.GeneratorExp: lambda node: self._comprehension("(", node, ")"),
            gast.Lambda: self._lambda,
            gast.Starred: lambda node: ["*", self.expression(node.value, BIT_OR)],
            gast.Await: lambda node: ["await ", self.expression(node.value, ATOM)],
            gast.NamedExpr: self._named,
            gast.Yield: self._yield,
            gast.YieldFrom: lambda n: ["yield from ", self.expression(n.value, TEST)],
            gast.JoinedStr: self._fstring,
            gast.Slice: self._slice,
        }

    # Expressions

    def expression(self, node: gast.AST, least: int = TEST) -> Doc:
        """The expression, in parentheses if it binds looser than `least`."""
        if parenthesized(node, least):
            return self.brackets("(", lambda: self._bare(node), ")")
        return self._bare(node)

    def _bare(self, node: gast.AST) -> Doc:
        make = self.makers.get(type(node))
        return make(node) if make else unsupported(node)

    def brackets(self, left: str, content: Callable[[], Doc], right: str) -> Doc:
        """Brackets that may be broken after the left and before the right one."""
        around = self.inside
        self.inside = self.BRACKETS
        group = Group(block(content()))
        self.inside = around
        return [left, OwnBrackets(group, around) if around > 0 else group, right]

    def new_key(self) -> int:
        self.keys += 1
        return self.keys

    def in_optional(self, content: Callable[[], Doc], key: int) -> Doc:
        """The content as it stands in parentheses printed if group `key` breaks."""
        around, self.inside = self.inside, key
        doc = content()
        self.inside = around
        return doc

    def optional_parentheses(self, node: gast.expr, content: Callable[[], Doc]) -> Doc:
        """Parentheses around content that is too long, as suits the expression."""
        if _Outline(node).can_break_inside():
            return self.break_inside_first(content)
        return self.parenthesize_if_broken(content)

    def break_inside_first(self, content: Callable[[], Doc]) -> Doc:
        """Parentheses if the content does not fit after breaking its brackets."""
        key = self.new_key()
        return self._optional_pair(self.in_optional(content, key), key)

    def parenthesize_if_broken(self, content: Callable[[], Doc]) -> Doc:
        """Parentheses if the content does not fit on one line."""
        return self._optional_pair(self.in_optional(content, self.BRACKETS))

    def _optional_pair(self, body: Doc, key: int = 0) -> Doc:
        key = key or self.new_key()
        opening, closing = IfBroken("("), IfBroken(")")
        return Group([opening, Indent([SOFT, body], key), SOFT, closing], key)

    def standing(self, node: gast.expr, wrap: Wrap = Wrap.TO_FIT) -> Doc:
        """An expression that stands alone in a statement: a value, a condition."""

        def bare() -> Doc:
            if isinstance(node, gast.Lambda):
                return self._lambda(node, breaks_first=True)
            return self._bare(node)

        parens = parentheses_for(node)
        if parens is _Parens.ALWAYS:
            return self.brackets("(", bare, ")")
        if self.inside != self.NOWHERE or parens is _Parens.NEVER:
            return bare()
        if parens is _Parens.TO_SPLIT or wrap is Wrap.BROKEN:
            return self.optional_parentheses(node, bare)
        if wrap is Wrap.OPERATORS:
            return bare()
        key = self.new_key()
        return ParenthesizeToFit(self.in_optional(bare, key), key)

    # Operators

    def _line(self, flat: str = " ") -> Doc:
        """A break before an operator, where lines may break."""
        if self.inside == self.BRACKETS:
            return SPACE if flat else SOFT
        if self.inside == self.NOWHERE:
            return flat
        return IfBroken(SPACE if flat else SOFT, flat, self.inside)

    def _group(self, body: Doc) -> Doc:
        """Operators that break together, where lines may break."""
        if self.inside == self.BRACKETS:
            return Group(body)
        return Group(body, only_if=self.inside) if self.inside > 0 else body

    def _operators(self, node: gast.expr) -> Doc:
        parts: list[_Operand | _Operator] = []
        _flatten(node, parts)
        return self._group(self._split(parts))

    def _split(self, parts: list[_Operand | _Operator]) -> Doc:
        """The chain, broken before each of its loosest operators."""
        if len(parts) == 1:
            return self.expression(*parts[0])
        loosest = min(level for _, level in parts[1::2])
        cuts = [i for i in range(1, len(parts), 2) if parts[i][1] == loosest]
        docs: list[Doc] = []
        start = 0
        for cut in [*cuts, len(parts)]:
            side = self._split(parts[start:cut])
            docs.append(side if cut - start == 1 else self._group(side))
            if cut < len(parts):
                symbol = parts[cut][0]
                hugs = symbol == "**" and _hugs(parts[cut - 1], parts[cut + 1])
                docs += [self._line("" if hugs else " "), symbol]
                docs.append(self._if_broken_space() if hugs else " ")
            start = cut + 1
        return docs

    def _if_broken_space(self) -> Doc:
        if self.inside == self.NOWHERE:
            return ""
        return IfBroken(" ", key=max(self.inside, 0))

    def _unary(self, node: gast.UnaryOp) -> Doc:
        [(operand, least)] = operands(node)
        return [_UNARY[type(node.op)], self.expression(operand, least)]

    def _ternary(self, node: gast.IfExp) -> Doc:
        return self._group(self._ternary_parts(node))

    def _ternary_parts(self, node: gast.IfExp) -> Doc:
        orelse = (
            self._ternary_parts(node.orelse)
            if isinstance(node.orelse, gast.IfExp)
            else self._group(self.expression(node.orelse, TEST))
        )
        test, line = self.expression(node.test, OR), self._line()
        body = self.expression(node.body, OR)
        return [body, line, "if ", test, line, "else ", orelse]

    # Calls, subscripts and attributes

    def _chain(self, node: gast.expr) -> Doc:
        fluent = self.inside != self.NOWHERE and is_fluent(node)
        doc = self._links(node, fluent)
        return Group(doc) if fluent else doc

    def _links(self, node: gast.expr, fluent: bool) -> Doc:
        if not isinstance(node, (gast.Attribute, gast.Call, gast.Subscript)):
            return self.expression(node, ATOM)
        head = _head(node)
        wrapped = parenthesized(head, ATOM) or (
            isinstance(node, gast.Attribute) and _number_needs_parentheses(head)
        )
        if wrapped:
            front = self.brackets("(", lambda: self._bare(head), ")")
        else:
            front = self._links(head, fluent)
        if isinstance(node, gast.Call):
            return [front, self.arguments(node)]
        if isinstance(node, gast.Subscript):
            return [front, self.brackets("[", lambda: self._index(node.slice), "]")]
        breaks = fluent and (wrapped or has_brackets(head))
        return [front, SOFT if breaks else "", ".", node.attr]

    def arguments(self, node: gast.Call | gast.ClassDef) -> Doc:
        """The arguments in their parentheses."""
        args = node.args if isinstance(node, gast.Call) else node.bases
        if not args and not node.keywords:
            return "()"
        return self.brackets("(", lambda: self._arguments(args, node.keywords), ")")

    def _arguments(self, args: list[gast.expr], keywords: list[gast.keyword]) -> Doc:
        if len(args) == 1 and not keywords and isinstance(args[0], gast.GeneratorExp):
            return Group(self._generators(args[0]))
        items = [self.expression(arg, NAMED) for arg in args]
        for keyword in keywords:
            sign = f"{keyword.arg}=" if keyword.arg else "**"
            items.append([sign, self.expression(keyword.value)])
        return Group(self.items(items))

    def items(self, items: list[Doc], trailing_from: int = 2) -> list[Doc]:
        """Items between commas, with a last comma when they stand on their own."""
        comma: Doc = IfBroken(",") if len(items) >= trailing_from else ""
        return [*join(items, ",", SPACE), comma]

    def _index(self, node: gast.expr) -> Doc:
        if isinstance(node, gast.Tuple):
            if len(node.elts) > 1:
                return Group(self._elements(node.elts))
            if any(isinstance(element, gast.Slice) for element in node.elts):
                return [*self._elements(node.elts), ","]
        return self.expression(node)

    def _slice(self, node: gast.Slice) -> Doc:
        bounds = [node.lower, node.upper, node.step]
        gap = "" if all(b is None or _is_simple_bound(b) for b in bounds) else " "
        lower, upper, step = (b and self.expression(b) for b in bounds)
        docs: list[Doc] = [lower, gap] if lower else []
        docs += [":", gap, upper] if upper else [":"]
        if step:
            docs += [gap if upper else "", ":", gap, step]
        return docs

    # Displays

    def _elements(self, elements: list[gast.expr]) -> list[Doc]:
        return self.items([self.expression(e) for e in elements])

    def _display(self, left: str, elements: list[gast.expr], right: str) -> Doc:
        if not elements:
            return left + right
        return self.brackets(left, lambda: self._elements(elements), right)

    def _tuple(self, node: gast.Tuple) -> Doc:
        if len(node.elts) == 1:
            return self.brackets("(", lambda: [*self._elements(node.elts), ","], ")")
        return self._display("(", node.elts, ")")

    def open_tuple(self, node: gast.expr, break_inside_first: bool = False) -> Doc:
        """An expression of which the parentheses of a tuple are left out if it fits."""
        if not isinstance(node, gast.Tuple) or len(node.elts) < 2:
            return self.expression(node, YIELD)
        elements = node.elts
        if break_inside_first and self.inside == self.NOWHERE:
            return self.break_inside_first(lambda: self._elements(elements))
        return self.parenthesize_if_broken(lambda: self._elements(elements))

    def _dict(self, node: gast.Dict) -> Doc:
        def pairs() -> list[Doc]:
            docs: list[Doc] = []
            for key, value in zip(node.keys, node.values, strict=True):
                docs.append(Group(self._pair(key, value)))
            return self.items(docs)

        return self.brackets("{", pairs, "}") if node.values else "{}"

    def _pair(self, key: gast.expr | None, value: gast.expr) -> Doc:
        if key is None:
            return ["**", self.expression(value, BIT_OR)]
        return [self.expression(key), ": ", self.expression(value)]

    def _comprehension(self, left: str, node: gast.expr, right: str) -> Doc:
        return self.brackets(left, lambda: Group(self._generators(node)), right)

    def _generators(self, node: gast.expr) -> list[Doc]:
        is_dict = isinstance(node, gast.DictComp)
        element = self._pair(node.key, node.value) if is_dict else None
        docs: list[Doc] = [Group(element or self.expression(node.elt))]
        for generator in node.generators:
            target = self.open_tuple(generator.target, break_inside_first=True)
            source = self.expression(generator.iter, OR)
            start = "async for " if generator.is_async else "for "
            docs += [SPACE, start, target, " in ", source]
            for test in generator.ifs:
                docs += [SPACE, "if ", self.expression(test, OR)]
        return docs

    # Others

    def target(self, node: gast.expr) -> Doc:
        """A target, or an annotation, that gets parentheses if it has to be broken."""
        if has_brackets(node) or _is_attribute_of_brackets(node):
            return self.expression(node)
        return self.optional_parentheses(node, lambda: self._bare(node))

    def symbol(self, operator: gast.operator) -> str:
        """The symbol of a binary operator."""
        return _BINARY[type(operator)][0]

    def signature(self, node: gast.FunctionDef) -> Doc:
        """The parameters and the annotated result of a function."""
        docs: list[Doc] = ["()"]
        around, self.inside = self.inside, self.BRACKETS
        parameters = self.parameters(node.args)
        self.inside = around
        if parameters:
            items: Doc = self.items(parameters, 1)
            docs = ["(", *block(items if len(parameters) == 1 else Group(items)), ")"]
        if node.returns:
            wrap = Wrap.TO_FIT if parameters else Wrap.BROKEN
            docs += [" -> ", self.standing(node.returns, wrap)]
        return Group(docs)

    def walrus(self, node: gast.NamedExpr) -> Doc:
        """A named expression that needs no parentheses: a condition."""
        return self.optional_parentheses(node, lambda: self._named(node))

    def _lambda(self, node: gast.Lambda, breaks_first: bool = False) -> Doc:
        signature = layout.flat(join(self.parameters(node.args), ", "))
        start = f"lambda {signature}: " if signature else "lambda: "
        body = self._lambda_body(node.body)
        return [start, OwnBrackets(body) if breaks_first else body]

    def _lambda_body(self, body: gast.expr) -> Doc:
        wrapped = parenthesized(body, TEST)
        if isinstance(body, (gast.Call, gast.Subscript)) and not is_fluent(body):
            doc = self._bare(body)
            in_parentheses: Doc = ["(", Indent([HARD, doc]), HARD, ")"]
            return Choice([doc, Group(doc, expand=True), in_parentheses])
        if wrapped or has_brackets(body) and not is_fluent(body):
            return self.expression(body)
        return self.parenthesize_if_broken(lambda: self._bare(body))

    def parameters(self, args: gast.arguments) -> list[Doc]:
        """The parameters of a function, each as one document."""
        docs: list[Doc] = []
        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
        for index, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
            docs.append(self._parameter(arg, default))
            if index + 1 == len(args.posonlyargs):
                docs.append("/")
        if args.vararg:
            docs.append(["*", self._parameter(args.vararg, None)])
        elif args.kwonlyargs:
            docs.append("*")
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            docs.append(self._parameter(arg, default))
        if args.kwarg:
            docs.append(["**", self._parameter(args.kwarg, None)])
        return docs

    def _parameter(self, arg: gast.Name, default: gast.expr | None) -> Doc:
        docs: list[Doc] = [arg.id]
        if arg.annotation:
            docs += [": ", self.expression(arg.annotation)]
        if default:
            equals = " = " if arg.annotation else "="
            docs += [equals, self.expression(default)]
        return docs

    def _named(self, node: gast.NamedExpr) -> Doc:
        target, value = self.expression(node.target), self.expression(node.value)
        return Group([target, " := ", value])

    def _yield(self, node: gast.Yield) -> Doc:
        if node.value is None:
            return "yield"
        if isinstance(node.value, gast.Tuple):
            return ["yield ", self.open_tuple(node.value)]
        return ["yield ", self.standing(node.value, Wrap.OPERATORS)]

    # Formatted strings

    def _fstring(self, node: gast.JoinedStr) -> Doc:
        texts = "".join(v.value for v in node.values if isinstance(v, gast.Constant))
        around = self.quote
        quote = preferred_quote(texts, around)
        self.quote = "'" if quote == '"' else '"'
        parts = [self._fstring_part(value, quote) for value in node.values]
        self.quote = around
        fields = [
            part
            for part, value in zip(parts, node.values, strict=True)
            if not isinstance(value, gast.Constant)
        ]
        if any("\\" in field for field in fields):
            unsupported(node, "a backslash inside the braces of an f-string")
        # Before Python 3.12 the quote may not occur inside the braces.
        shown = quote * 3 if any(quote in field for field in fields) else quote
        return f"f{shown}{''.join(parts)}{shown}"

    def _fstring_part(self, node: gast.expr, quote: str) -> str:
        if isinstance(node, gast.Constant):
            return escaped(node.value, quote).replace("{", "{{").replace("}", "}}")
        if not isinstance(node, gast.FormattedValue):
            unsupported(node)
        least = OR if isinstance(node.value, gast.Lambda) else TEST
        text = layout.flat(
            self.in_optional(lambda: self.expression(node.value, least), 0)
        )
        gap = " " if text.startswith("{") else ""  # {{ would be a brace.
        conversion = f"!{chr(node.conversion)}" if node.conversion > 0 else ""
        spec = ""
        if node.format_spec:
            parts = (self._fstring_part(v, quote) for v in node.format_spec.values)
            spec = ":" + "".join(parts)
        return f"{{{gap}{text}{gap}{conversion}{spec}}}"


_Operand = tuple[gast.expr, int]
_Operator = tuple[str, int]


def _flatten(node: gast.expr, parts: list[_Operand | _Operator]) -> None:
    """Operands and operators in the order of the text, ungrouped."""
    symbols: list[_Operator]
    if isinstance(node, gast.BinOp):
        symbols = [_BINARY[type(node.op)]]
    elif isinstance(node, gast.BoolOp):
        # Lines break at `and` and `or` alike.
        symbols = [("or" if binds(node) == OR else "and", OR)] * len(node.values)
    else:
        symbols = [(_COMPARE[type(op)], COMPARE) for op in node.ops]
    for index, (operand, least) in enumerate(operands(node)):
        if index:
            parts.append(symbols[index - 1])
        is_chain = isinstance(operand, (gast.BinOp, gast.BoolOp, gast.Compare))
        if is_chain and not parenthesized(operand, least):
            _flatten(operand, parts)
        else:
            parts.append((operand, least))


def _hugs(*sides: _Operand) -> bool:
    """Whether there is no space around the power of two simple operands."""
    return all(not parenthesized(*side) and _is_simple_power(side[0]) for side in sides)


def _is_simple_power(node: gast.expr) -> bool:
    if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
        return _is_simple_power(node.operand)
    if isinstance(node, gast.Attribute):
        return _is_simple_power(node.value)
    if isinstance(node, gast.Constant):
        return not isinstance(node.value, (str, bytes)) and node.value is not ...
    return isinstance(node, gast.Name)


def _is_attribute_of_brackets(node: gast.expr) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
        if has_brackets(node) or parenthesized(node, ATOM):
            return True
    return False


def is_name_like(node: gast.expr) -> bool:
    """Whether a long value is moved to a line of its own: a name, a literal, a call."""
    if isinstance(node, (gast.Subscript, gast.UnaryOp)):
        return False
    return parentheses_for(node) is _Parens.TO_FIT


def _is_simple_bound(node: gast.expr) -> bool:
    """Whether a slice with this bound is written without spaces."""
    if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
        return _is_simple_bound(node.operand)
    return isinstance(node, (gast.Constant, gast.Name))
