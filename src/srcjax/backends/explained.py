"""`source(df, explain=True)`: why each line of generated text is there.

What the lines say are the words of the rules that they were written by
(`transforms.reasons`, `ops.words`), and what the two sweeps are made of: tapes, the way
back through loops, values that are kept. A line of which nothing is known is not
explained. The text without its comments is the one that `source` gives.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from srcjax import syntax
from srcjax.backends.load import generated_module
from srcjax.backends.marks import TREES_OF
from srcjax.backends.module import Module
from srcjax.ops.words import SIGN, TERM, as_latex, as_text, short
from srcjax.process import tree_of
from srcjax.transforms.batch.lane_loops import LANES
from srcjax.transforms.batch.regions import CHOSEN, GATHERED, TEST
from srcjax.transforms.batch.rules import ALIKE, MOVED
from srcjax.transforms.reasons import (
    AGAIN,
    BROADCAST,
    ITEM,
    MOVES,
    PARTS,
    RECOMPUTED,
    RENAMED,
    RESTORED,
    SEED,
    why,
)

_WIDTH = 88
#: What several rules say in full may be so long; else their names are enough.
_LONG = 160
#: What is not said where there is something else to say.
_WEAK = (
    SEED.said,
    RECOMPUTED.said,
    SIGN,
    RENAMED.said,
    TERM,
    MOVES.said,
    PARTS.said,
    GATHERED.said,
    ITEM.said,
)
#: What is not said where this is.
_SAID_BY = {ALIKE.said: MOVED.said, TEST.said: CHOSEN.said}
#: Before what the line says that a second derivative was made of.
_OF_FIRST = "in the first derivative, "
_SUMMED = "summed over the iterations"


@dataclass
class Explained:
    """A statement, or the head of one, with what there is to say of it."""

    first: int
    last: int
    #: The words of its rules, in the order in which the chain rule goes through them,
    #: with formulas between backticks (`srcjax.ops.words`).
    words: tuple[str, ...] = ()
    backward: bool = False
    #: Whether reverse mode wrote it, or what it was made of, on the way back.
    on_the_way_back: bool = False
    #: Whether it is a `return` of what was computed before.
    is_return: bool = False

    @property
    def text(self) -> str:
        """All of it in one line: names of rules, and formulas where there is room."""
        return as_text(_in_full(self.words))


class _Written(Protocol):
    """Generated functions as trees with reasons, and the text that they are."""

    functions: list[Any]
    backward: frozenset[str]

    @property
    def text(self) -> str: ...


@dataclass
class _Loaded:
    """Those of a module that was loaded."""

    text: str
    functions: list[Any]
    backward: frozenset[str]


class _Below:
    """What the lines say of texts that the explained one was made of."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[int, Explained]] = {}

    def line(self, stmt: Any) -> Explained | None:
        """The line of a generated text that a statement comes from."""
        where = syntax.line_behind(stmt)
        return self.lines(where[0]).get(where[1]) if where is not None else None

    def is_backward(self, stmt: Any) -> bool:
        """Whether a statement comes from the backward sweep of a text."""
        line = self.line(stmt)
        return line is not None and line.on_the_way_back

    def is_no_value(self, stmt: Any) -> bool:
        """Whether a statement comes from no text at all."""
        return self.line(stmt) is None

    def lines(self, name: str) -> dict[int, Explained]:
        """Those of a generated text, by their numbers; none of another file."""
        if name not in self.texts:
            module = generated_module(name)
            trees = None if module is None else TREES_OF.get(module)
            found = []
            if module is not None and trees is not None:
                text = module.__loader__.text  # type: ignore[union-attr]
                found = explain_lines(_Loaded(text, *trees), self)
            self.texts[name] = {line.first: line for line in found}
        return self.texts[name]


def explain_lines(module: _Written, below: _Below | None = None) -> list[Explained]:
    """The statements of generated functions, in the order of their lines.

    `module` has to be one that was transformed now: texts that were kept from another
    process know no rules. What was made of a text that srcjax wrote, such as a second
    derivative, says what that one says.
    """
    below = below or _Below()
    found: list[Explained] = []
    printed = {
        n.name: n for n in tree_of(module.text).body if isinstance(n, ast.FunctionDef)
    }
    tapes = {name for node in module.functions for name in _tapes(node)}
    every = [s for node in module.functions for s in syntax.all_statements(node.body)]
    backward = {r.slot for s in every for r in why(s)} <= {"adjoint"}
    for node in module.functions:
        of_pair = node.name in module.backward
        function = _Function(node, printed[node.name], tapes, backward, of_pair, below)
        found += function.lines()
    return sorted(found, key=lambda line: line.first)


def _tapes(node: Any) -> Iterator[str]:
    """The lists that the forward sweep appends to for the backward sweep."""
    for stmt in syntax.all_statements(node.body):
        call: Any = getattr(stmt, "value", None)
        method = getattr(getattr(call, "func", None), "attr", "")
        if method == "append" and _is_ours(stmt) and not _is_backward(stmt):
            root = syntax.root_of(call.func.value)
            if root:
                yield root


def _is_ours(stmt: Any) -> bool:
    """Whether the statement stands for none of the user's."""
    where = getattr(stmt, "user_line", None)
    return where is None or not where[1]


def _is_backward(stmt: Any) -> bool:
    return bool(getattr(stmt, "backward", False))


@dataclass
class _Function:
    """One generated function: as a tree with marks, and as it is printed."""

    node: Any
    printed: ast.FunctionDef
    tapes: set[str]
    #: Whether reverse mode wrote it.
    has_backward: bool
    #: Whether it is the backward function of a pair.
    follows_forward: bool
    below: _Below
    found: list[Explained] = field(default_factory=list)

    def lines(self) -> list[Explained]:
        statements = list(syntax.all_statements(self.node.body))
        backward = [s for s in statements if _is_backward(s)]
        self.back = syntax.names_read([syntax.head(s) for s in backward])
        self.back |= syntax.names_read(
            [s.target for s in backward if hasattr(s, "op") and hasattr(s, "target")]
        )
        self.block(self.node.body, self.printed.body, ())
        return self.found

    def block(self, ours: list, theirs: list, loops: tuple[Any, ...]) -> None:
        mine = [s for s in ours if not syntax.is_comment(s)]
        for a, b in zip(mine, theirs, strict=True):
            words = tuple(dict.fromkeys(filter(None, self.words(a, loops))))
            last, line = _end_of_head(b), self.below.line(a)
            back = self.has_backward and _is_backward(a)
            if line is not None:
                words = tuple(dict.fromkeys(_with_those_below(a, words, line)))
                back = back or (line.on_the_way_back and not self.has_backward)
            end = isinstance(a, gast.Return) and not _computes(a.value)
            found = Explained(b.lineno, last, words, _is_backward(a), back, end)
            self.found.append(found)
            inside = (*loops, a) if isinstance(b, (ast.For, ast.While)) else loops
            blocks = (syntax.inner_blocks(s, definitions=True) for s in (a, b))
            for inner, shown in zip(*blocks, strict=True):
                behind = shown is getattr(b, "orelse", None)
                self.block(inner, shown, loops if behind else inside)

    # -- what a statement says ---------------------------------------------------------

    def words(self, stmt: Any, loops: tuple[Any, ...]) -> Iterator[str]:
        """What there is to say of a statement."""
        structural = getattr(self, f"of_{type(stmt).__name__}", None)
        if structural is not None and self.has_backward and structural(stmt):
            yield structural(stmt)
        elif not isinstance(stmt, gast.Return) or _computes(stmt.value):
            yield from self.of_rules(stmt, loops)

    def of_rules(self, stmt: Any, loops: tuple[Any, ...]) -> Iterator[str]:
        """The rules of calculus in a statement."""
        reasons = list(why(stmt))
        named = [r for r in reasons if r is not ALIKE and r is not MOVED]
        if named or any(r is LANES for loop in loops for r in why(loop)):
            reasons = named
        every = [_as_words(r.words) for r in reasons]
        every = [w for w in dict.fromkeys(every) if w and self.holds(w, stmt)]
        every = [w for w in every if _SAID_BY.get(w) not in every]
        strong = [w for w in every if w not in _WEAK]
        returned = isinstance(stmt, gast.Return) and not getattr(stmt, "quotes", 0)
        weak = [] if returned else every[-1:]
        only = [w for w in strong if w != AGAIN.said] or weak
        for words in only:
            if words != AGAIN.said:
                yield words
        if AGAIN.said in every:
            yield _SUMMED if self.is_of_passes(stmt, loops) else AGAIN.said

    def holds(self, words: str, stmt: Any) -> bool:
        """Whether what is said is still to be seen in the statement."""
        value = getattr(stmt, "value", None)
        if words == BROADCAST.said:
            return any(_is_sum(n) for n in syntax.walk(value))
        if words == AGAIN.said:
            added = isinstance(stmt, gast.AugAssign)
            return added or isinstance(getattr(value, "op", None), (gast.Add, gast.Sub))
        return True

    def is_of_passes(self, stmt: Any, loops: tuple[Any, ...]) -> bool:
        """Whether a sum goes on from one pass of the loop to the next."""
        if not loops or not isinstance(stmt, gast.AugAssign):
            return False
        name = syntax.root_of(stmt.target)
        inside = syntax.all_statements(loops[-1].body)
        others = [s for s in inside if isinstance(s, gast.Assign)]
        return not any(syntax.is_name(t, name) for s in others for t in s.targets)

    def of_For(self, stmt: Any) -> str:
        if not _is_backward(stmt):
            return ""
        read = syntax.names_read(stmt.iter)
        if read & self.tapes:
            return "the iterations in reverse order, with what the tape kept of each"
        names = {getattr(n, "id", "") for n in syntax.walk(stmt.iter)}
        if "reversed" in names:
            return "the iterations in reverse order"
        return "as many iterations as there were forward"

    def of_While(self, stmt: Any) -> str:
        return "the iterations in reverse order" if _is_backward(stmt) else ""

    def of_If(self, stmt: Any) -> str:
        if not _is_backward(stmt):
            return ""
        if getattr(stmt, "last_iteration", False):
            return "not in the first iteration: nothing before it needs this"
        return "back through the side that was taken"

    def of_Expr(self, stmt: Any) -> str:
        call = stmt.value
        function: Any = getattr(call, "func", None)
        if getattr(function, "attr", "") != "append" or not _is_ours(stmt):
            return ""
        kept = syntax.root_of(function.value) in self.tapes
        return "kept for the backward sweep" if kept and not _is_backward(stmt) else ""

    def of_Assign(self, stmt: Any) -> str:
        names = [t for t in stmt.targets if hasattr(t, "id")]
        value = stmt.value
        if _is_backward(stmt):
            if self.takes_off(value):
                return "from the tape: what was kept last comes first"
            old = not why(stmt) and isinstance(value, gast.Name)
            return RESTORED.said if old else ""
        if _is_ours(stmt) and self.is_saved(stmt):
            return "what the forward function kept"
        if not _is_ours(stmt) or not names:
            return ""
        name = names[0].id
        if name in self.tapes:
            return "a tape: what each iteration leaves for the backward sweep"
        if name in self.back and type(getattr(value, "value", None)) is bool:
            return "remembers which way was taken, for the backward sweep"
        if name in self.back and not isinstance(value, gast.Constant):
            return "kept for the backward sweep"
        return ""

    def is_saved(self, stmt: Any) -> bool:
        """Whether it is `x, y = saved` of a backward function."""
        parameters = [a.arg for a in self.printed.args.args]
        value = getattr(stmt.value, "id", "")
        several = isinstance(stmt.targets[0], gast.Tuple)
        return self.follows_forward and several and parameters[:1] == [value]

    def takes_off(self, value: Any) -> bool:
        """Whether the value is taken off a tape."""
        function: Any = getattr(value, "func", None)
        if getattr(function, "attr", "") != "pop" or value.args:
            return False
        return syntax.root_of(function.value) in self.tapes

    def of_AugAssign(self, stmt: Any) -> str:
        if _is_backward(stmt) or not _is_ours(stmt):
            return ""
        name = getattr(stmt.target, "id", "")
        return (
            "counts the iterations, for the backward sweep" if name in self.back else ""
        )


def _with_those_below(
    stmt: Any, words: tuple[str, ...], line: Explained
) -> tuple[str, ...]:
    """The words of a statement, and those of the line that it was made of.

    What is done for all examples is what is done for one. A derivative of that line is
    another thing, whose rule comes first.
    """
    if not line.words:
        return words
    if all(r.slot == "batch" or not r.words for r in why(stmt)):
        return (*line.words, *(w for w in words if w != _as_words(ALIKE.said)))
    rules = [r for r in why(stmt) if r.words and r is not MOVES]
    if not rules or all(_as_words(r.words) in _WEAK for r in rules):
        return line.words
    said = (w for w in line.words if w not in words)
    first = next(said, "") if line.backward else ""
    return (*words, f"{_OF_FIRST}{first}", *said) if first else words


def _computes(value: Any) -> bool:
    """Whether there is an operation in what is returned."""
    kinds = (gast.BinOp, gast.UnaryOp, gast.Call)
    return value is not None and any(isinstance(n, kinds) for n in syntax.walk(value))


def _is_sum(node: Any) -> bool:
    function = getattr(node, "func", None)
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in ("sum", "unbroadcast", "sum_keeping")


def _as_words(words: str) -> str:
    """A sentence of a docstring as words of a line."""
    words = words.removesuffix(".")
    plain = len(words) > 1 and words[0].isupper() and words[1].islower()
    named = words.startswith(("Cholesky", "Kronecker"))
    return words[0].lower() + words[1:] if plain and not named else words


def _end_of_head(node: Any) -> int:
    """The last line of a statement, or of what stands before its colon."""
    if not hasattr(node, "body"):
        return int(node.end_lineno)
    parts = [getattr(node, n, None) for n in ("test", "iter", "args")]
    ends = [getattr(p, "end_lineno", None) for p in parts]
    return int(max([node.lineno, *(e for e in ends if e)]))


def _in_full(words: tuple[str, ...]) -> str:
    whole = "; ".join(words)
    return whole if len(whole) <= _LONG else "; ".join(_once(list(map(short, words))))


def _once(words: list[str]) -> list[str]:
    """The words without names of rules that stand among them with their formula."""
    full = [short(w) for w in words if short(w) != w]
    return [w for w in dict.fromkeys(words) if w not in full]


# -- the text -------------------------------------------------------------------------

_FORWARD = "# ---- forward: the values, as in your function"
_BACKWARD = "# ---- backward: from the result to the arguments"
#: A space at which no line is broken.
_HELD = "\N{NO-BREAK SPACE}"


def explained_text(module: Module, latex: bool = False) -> str:
    """The text with comments that say why each line is there.

    With `latex`, formulas stand between dollar signs.
    """
    lines = module.text.splitlines()
    after: dict[int, str] = {}
    before: dict[int, list[str]] = {}
    for line, words in _told(module, latex):
        code = lines[line.first - 1]
        indent = code[: len(code) - len(code.lstrip())]
        if line.first == line.last and len(code) + 4 + len(words) <= _WIDTH:
            after[line.first] = words
            continue
        start = f"{indent}#   "
        before[line.first] = textwrap.wrap(
            words,
            _WIDTH,
            initial_indent=start,
            subsequent_indent=start,
            break_long_words=False,
            break_on_hyphens=False,
        )
    out: list[str] = []
    columns, marks = _columns(lines, after), _marks(module, lines)
    for number, code in enumerate(lines, 1):
        out += [*marks.get(number, []), *before.get(number, [])]
        said = after.get(number)
        out.append(f"{code:<{columns[number]}}  # {said}" if said else code)
    return "\n".join(out).replace(_HELD, " ") + "\n"


def _told(module: Module, latex: bool) -> Iterator[tuple[Explained, str]]:
    """The lines of which something is said, with what is said."""
    starts = _functions(module)
    tell = _Teller(latex)
    for line in explain_lines(module):
        if starts and starts[0].lineno <= line.first:
            starts.pop(0)
            tell = _Teller(latex)
        words = tell(line)
        if words:
            yield line, words


def _functions(module: Module) -> list[ast.FunctionDef]:
    body = tree_of(module.text).body
    return [n for n in body if isinstance(n, ast.FunctionDef)]


def _is_guard(printed: ast.stmt) -> bool:
    """Whether it is the docstring, or a test that raises for other arguments."""
    if isinstance(printed, ast.If):
        return isinstance(printed.body[0], ast.Raise)
    return isinstance(printed, ast.Expr) and isinstance(printed.value, ast.Constant)


def _columns(lines: list[str], after: dict[int, str]) -> dict[int, int]:
    """Where the comments of neighbouring lines begin: below each other."""
    found: dict[int, int] = {}
    for number in sorted(after):
        if number in found:
            continue
        group = [number]
        while group[-1] + 1 in after:
            group.append(group[-1] + 1)
        widest = max(len(lines[n - 1]) for n in group)
        fits = all(widest + 4 + len(after[n]) <= _WIDTH for n in group)
        for n in group:
            found[n] = widest if fits else len(lines[n - 1])
    return found


def _marks(module: Module, lines: list[str]) -> dict[int, list[str]]:
    """What stands above the two sweeps of a function that has both."""
    found: dict[int, list[str]] = {}
    below = _Below()
    nodes = {node.name: node for node in module.functions}
    for printed in _functions(module):
        mine = [s for s in nodes[printed.name].body if not syntax.is_comment(s)]
        pairs = list(zip(mine, printed.body, strict=True))
        every = list(syntax.all_statements(mine))
        of_text = any(r.slot != "adjoint" for s in every for r in why(s))
        is_back = below.is_backward if of_text else _is_backward
        is_ours = below.is_no_value if of_text else _is_ours
        users = [b.lineno for a, b in pairs if not (is_ours(a) or is_back(a))]
        begins = [b.lineno for a, b in pairs if not (is_back(a) or _is_guard(b))]
        back = [b.lineno for a, b in pairs if is_back(a)]
        if not users or not back or min(back) < min(users):
            continue
        for number, mark in ((min(begins), _FORWARD), (min(back), _BACKWARD)):
            while lines[number - 2].lstrip().startswith("#"):
                number -= 1
            found[number] = [" " * printed.body[0].col_offset + mark]
    return found


class _Teller:
    """Tells what is said of lines: formulas once, the same only once in a row."""

    def __init__(self, latex: bool) -> None:
        self.printed = as_latex if latex else as_text
        self.said: set[str] = set()
        self.last: tuple[str, ...] = ()

    def __call__(self, line: Explained) -> str:
        """What is said of a line; empty where the line before it said so."""
        words = line.words
        if not words or words == self.last:
            return ""
        self.last = words
        shown = [short(w) if w in self.said else w for w in words]
        if len("; ".join(shown)) > _LONG:
            shown = [short(w) for w in words]
        else:
            self.said |= set(words)
        return "; ".join(self.printed(w, _HELD) for w in _once(shown))


def as_markdown(module: Module) -> str:
    """The text in pieces, with the formulas of each piece typeset below it."""
    lines = module.text.splitlines()
    told = dict((line.first, (line, words)) for line, words in _told(module, True))
    marks = _marks(module, lines)
    ends = {n.lineno - 1 for n in _functions(module)}
    out: list[str] = []
    code: list[str] = []
    below: list[str] = []

    def close() -> None:
        if any(line.strip() for line in code):
            while code and not code[0].strip():
                code.pop(0)
            shown = "\n".join(code).rstrip()
            out.append(f"```python\n{shown}\n```")
            if below:
                out.append("\n".join(below))
        code.clear()
        below.clear()

    for number, text in enumerate(lines, 1):
        quoted = text.lstrip().startswith("#")
        follows = number > 1 and lines[number - 2].lstrip().startswith("#")
        starts_group = quoted and not follows or number in marks or number in ends
        if starts_group and (below or marks.get(number, [""])[0].endswith(_BACKWARD)):
            close()
        code += [*marks.get(number, []), text]
        if number in told:
            line, words = told[number]
            below.append(f"- {_named(line, lines)}{words.replace(_HELD, ' ')}")
    close()
    return "\n\n".join(out) + "\n"


def _named(line: Explained, lines: list[str]) -> str:
    """The target of a line, as the item of a list begins."""
    text = " ".join(lines[line.first - 1 : line.last]).strip()
    target, sign, _ = text.partition(" = ")
    if not sign:
        target, sign, _ = text.partition("= ")
        target = target.rstrip("+-*/ ")
    if not sign or not re.fullmatch(r"[\w.\[\]:, -]+", target):
        head = text.split(" ")[0].split("(")[0]
        return f"`{head}`: "
    return f"`{target}`: "


__all__ = ["Explained", "as_markdown", "explain_lines", "explained_text"]
