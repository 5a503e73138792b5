"""What rules say in the words of a course: `source(df, explain=True)`.

The words stand with the rule: as the docstring of an adjoint or a tangent, or as `says`
in a row. A row without words says its own formula, which is written there as code:

    elementwise(np.exp, "d * y")        d exp(u) = exp(u) du

Where arguments have words of their own, `says` is a dict of them; `"y"` is then what
the tangent says.

Words are plain text in which formulas stand between backticks, written as Python:
`d(u)` is the differential of u, `d[A]` the adjoint of A. What comes before a colon is
the short form, for lines that several rules are in:

    "product rule: `d(u * v) = v * d(u) + u * d(v)`"
"""

from __future__ import annotations

import ast
import copy
import functools
import re

from srcjax.ops.record import Op, Template

#: What the arguments of an operation are called in a formula.
_SYMBOLS = {"x": "u", "a": "u", "b": "v", "c": "w", "e": "t"}
_LINEAR_TANGENT = "linear: the tangent goes through the same operation"
_LINEAR_ADJOINT = "linear: the adjoint goes through the transposed operation"
#: Words that rules share with those who leave them out where there are others.
SIGN = "the sign turns"
TERM = "a sum passes its adjoint on to each term"
_FORMULA = re.compile(r"`([^`]*)`")


def words_of(op: Op, slot: str, parameter: str) -> str:
    """What the rule of an argument says; empty where nobody has said anything.

    `slot` is `"adjoint"` or `"tangent"`.
    """
    if isinstance(op.says, dict):
        said = op.says.get("y" if slot == "tangent" else parameter)
        said = said or op.says.get(parameter)
        if said:
            return said
    elif op.says:
        return op.says
    template: Template | None = getattr(op, slot)
    if template is not None and template.words:
        return template.words
    alike = {name.lstrip("*") for group in op.linear for name in group}
    if slot == "tangent" and alike and (not parameter or parameter in alike):
        return _LINEAR_TANGENT
    if parameter in op.partials:
        return _formula_of_row(op, parameter)
    return _LINEAR_ADJOINT if slot == "adjoint" and parameter in alike else ""


def short(words: str) -> str:
    """The words without the formula that explains them."""
    name, colon, _ = words.partition(": ")
    return name if colon and name.count("`") % 2 == 0 else words


def as_text(words: str, space: str = " ") -> str:
    """The words for a comment: `d exp(u) = exp(u) du`; `space` is that in formulas."""

    def printed(found: re.Match[str]) -> str:
        return _joined(found[1], formula_text).replace(" ", space)

    return _FORMULA.sub(printed, words)


def as_latex(words: str, space: str = " ") -> str:
    """The words for a notebook, with formulas between dollar signs."""

    def printed(found: re.Match[str]) -> str:
        return f"${_joined(found[1], formula_latex)}$".replace(" ", space)

    return _FORMULA.sub(printed, words)


def _joined(formula: str, printed: object) -> str:
    sides = formula.split(" = ")
    return " = ".join(printed(ast.parse(s, mode="eval").body) for s in sides)  # type: ignore[operator]


def _formula_of_row(op: Op, parameter: str) -> str:
    """What the row of an elementwise operation says of an argument, as a formula."""
    names = list(op.signature.parameters)
    shown = [_SYMBOLS.get(n, n) for n in names if n in (*op.partials, "x", "a", "b")]
    name = op.functions[0].__name__
    result = ast.parse(f"{name}({', '.join(shown)})", mode="eval").body
    to = _SYMBOLS.get(parameter, parameter)
    holes = {n: ast.parse(_SYMBOLS.get(n, n), mode="eval").body for n in names}
    holes |= {"y": result, "d": ast.parse(f"d({to})", mode="eval").body}
    tree = ast.parse(op.partials[parameter], mode="eval").body
    value = _Filled(holes).visit(tree)
    return f"`d({ast.unparse(result)}) = {ast.unparse(differential_last(value))}`"


class _Filled(ast.NodeTransformer):
    """Names replaced, and functions without their module."""

    def __init__(self, holes: dict[str, ast.expr]) -> None:
        self.holes = holes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.holes.get(node.id, node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(node.attr, ast.Load())


def differential_last(value: ast.expr) -> ast.expr:
    """`exp(u) * d(u)` for `d(u) * exp(u)`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return value
    left = value.left
    if isinstance(left, ast.UnaryOp) and _is_differential(left.operand):
        return ast.BinOp(ast.UnaryOp(left.op, value.right), ast.Mult(), left.operand)
    if _is_differential(left):
        return ast.BinOp(value.right, ast.Mult(), left)
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mult):
        inner = differential_last(left)
        if isinstance(inner, ast.BinOp) and _is_differential(inner.right):
            rest = ast.BinOp(inner.left, ast.Mult(), value.right)
            return ast.BinOp(rest, ast.Mult(), inner.right)
    return value


def _is_differential(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return called and node.func.id == "d"  # type: ignore[attr-defined]


def _is_adjoint(node: ast.AST) -> bool:
    item = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    return item and node.value.id == "d"  # type: ignore[attr-defined]


class _Spelled(ast.NodeTransformer):
    """Differentials and adjoints as names, with what is multiplied by them."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not _is_differential(node):
            return node
        (of,) = node.args
        text = ast.unparse(of)
        spelled = {ast.Name: f"d{text}", ast.Call: f"d {text}"}
        return ast.Name(spelled.get(type(of), f"d({text})"), ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not _is_adjoint(node):
            return node
        return ast.Name(f"d{ast.unparse(node.slice)}", ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        beside = isinstance(node.op, ast.Mult) and _is_differential(node.right)
        self.generic_visit(node)
        if not beside:
            return node
        left = ast.unparse(node.left)
        if isinstance(node.left, ast.BinOp) and isinstance(
            node.left.op, (ast.Add, ast.Sub)
        ):
            left = f"({left})"
        return ast.Name(f"{left} {ast.unparse(node.right)}", ast.Load())


def formula_text(node: ast.expr) -> str:
    """One side of a formula as a comment has it."""
    text = ast.unparse(_Spelled().visit(copy.deepcopy(node)))
    return text.replace(" ** ", "**")


# -- LaTeX ----------------------------------------------------------------------------

_LATEX_FUNCTIONS = {
    **{n: rf"\{n}" for n in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh")},
    **{n: rf"\{n}" for n in ("tanh", "arcsin", "arccos", "arctan", "det", "min")},
    "max": r"\max",
}
_LATEX_NAMES = {
    **{n: rf"\{n}" for n in ("alpha", "beta", "gamma", "lambda", "mu", "sigma", "pi")},
}
_STRENGTH = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Div: 2}


def formula_latex(node: ast.expr) -> str:
    """One side of a formula in LaTeX, without the dollar signs."""
    return _latex(node)[0]


def _latex(node: ast.expr) -> tuple[str, int]:
    """LaTeX, and how strongly its outermost operation binds: 1 sums, 4 atoms."""
    if isinstance(node, ast.Constant):
        return str(node.value), 4
    if isinstance(node, ast.Name):
        plain = node.id if len(node.id) == 1 else rf"\mathrm{{{node.id}}}"
        return _LATEX_NAMES.get(node.id, plain.replace("_", r"\_")), 4
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-{_at_least(node.operand, 2)}", 1
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return f"{_at_least(node.value, 4)}^{{\\top}}", 3
    if isinstance(node, ast.Subscript):
        of, _ = _latex(node.slice)
        if _is_adjoint(node):
            return rf"\bar{{{of}}}", 4
        return f"{_at_least(node.value, 4)}_{{{of}}}", 4
    if isinstance(node, ast.Tuple):
        return ", ".join(_latex(e)[0] for e in node.elts), 4
    if isinstance(node, ast.BinOp):
        return _latex_operation(node)
    if isinstance(node, ast.Call):
        return _latex_call(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        signs = {
            ast.Gt: ">",
            ast.Lt: "<",
            ast.Eq: "=",
            ast.GtE: r"\ge",
            ast.LtE: r"\le",
        }
        sign = signs.get(type(node.ops[0]))
        if sign is not None:
            sides = (node.left, node.comparators[0])
            left, right = (_at_least(side, 1) for side in sides)
            return rf"[{left} {sign} {right}]", 4
    return rf"\texttt{{{_escaped(ast.unparse(node))}}}", 4


def _latex_operation(node: ast.BinOp) -> tuple[str, int]:
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{_latex(node.left)[0]}}}{{{_latex(node.right)[0]}}}", 3
    if isinstance(node.op, ast.Pow):
        power, _ = _latex(node.right)
        called = isinstance(node.left, ast.Call) and not _is_differential(node.left)
        if called and isinstance(node.left.func, ast.Name):  # type: ignore[attr-defined]
            name = _LATEX_FUNCTIONS.get(node.left.func.id)  # type: ignore[attr-defined]
            if name is not None and len(node.left.args) == 1:  # type: ignore[attr-defined]
                return f"{name}^{{{power}}} {_argument(node.left)}", 2  # type: ignore[arg-type]
        return f"{_at_least(node.left, 4)}^{{{power}}}", 3
    strength = _STRENGTH.get(type(node.op))
    if strength is None:
        return rf"\texttt{{{_escaped(ast.unparse(node))}}}", 4
    sign = {ast.Add: " + ", ast.Sub: " - "}.get(type(node.op), r"\,")
    left = _at_least(node.left, strength)
    return f"{left}{sign}{_at_least(node.right, strength + (sign == ' - '))}", strength


def _latex_call(node: ast.Call) -> tuple[str, int]:
    if _is_differential(node):
        (of,) = node.args
        inner, _ = _latex(of)
        apart = isinstance(of, (ast.BinOp, ast.UnaryOp))
        return rf"\mathrm{{d}}({inner})" if apart else rf"\mathrm{{d}} {inner}", 4
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if name == "sqrt":
        return rf"\sqrt{{{_latex(node.args[0])[0]}}}", 4
    if name == "abs":
        return rf"\lvert {_latex(node.args[0])[0]} \rvert", 4
    known = _LATEX_FUNCTIONS.get(name, rf"\operatorname{{{_escaped(name)}}}")
    return f"{known}{_argument(node)}", 4


def _argument(call: ast.Call) -> str:
    return f"({', '.join(_latex(a)[0] for a in call.args)})"


def _at_least(node: ast.expr, strength: int) -> str:
    text, bound = _latex(node)
    return text if bound >= strength else f"({text})"


@functools.cache
def _escaped(text: str) -> str:
    return re.sub(r"([_%&#{}$])", r"\\\1", text)
