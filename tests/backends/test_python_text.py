"""The printer against Ruff: same tree, and nothing left to format or to correct."""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
import sys
from pathlib import Path

import gast
import pytest

from srcjax.backends.python_text import emit

# Each of these prints as it is written.
SHORT = """
x = 1
x = 1e16
x = 1e-5
x = 1e6
x = 0.5
x = 2j**2
x = -1
x = None
x = ...
x = "a"
x = "it's"
x = 'say "hi"'
x = "tab\\tand\\nline"
x = b"bytes"
x = "back\\\\slash"
x = True
x = a
x = -a
x = not a
x = ~a
x = --a
x = +a
x = a + b
x = a - b - c
x = a - (b - c)
x = a - (b + c)
x = (a + b) * c
x = a + b * c
x = a * b / c
x = a / (b * c)
x = a // b % c
x = a @ b @ c
x = a @ (b @ c)
x = a**b
x = a**2
x = a**-2
x = a ** -(b**2)
x = a.b**2
x = f(a) ** 2
x = a[i] ** 2
x = (a + b) ** 2
x = (a * b) ** (c + d)
x = (-a) ** 2
x = -(a**2)
x = -(a ** f(b))
x = -a * b
x = -(a * b)
x = -(a + b)
x = (a**b) ** c
x = a**b**c
x = 2 * a**2
x = 2 ** (n - 1)
x = "ab" * 2
x = a < b
x = a < b <= c
x = a == b
x = a != b
x = a is b
x = a is not b
x = a in b
x = a not in b
x = (a < b) == c
x = a & b | c ^ d
x = a << 1 >> b
x = a and b
x = a or b and c
x = (a or b) and c
x = not (a and b)
x = not a == b
x = a and not b
x = (not a) + b
x = a if b else c
x = a if b else c if d else e
x = (a if b else c) if d else e
x = (a if b else c) + 1
x = a + (b if c else d)
x = lambda: 0
x = lambda a: a + 1
x = lambda a, b=1, *c, d, e=2, **f: a
x = lambda *, a: a
x = lambda a, /, b: a
x = (lambda a: a)(1)
x = [lambda: 0, 1]
x = f()
x = f(a)
x = f(a, b)
x = f(*a, **b)
x = f(a, b=1, c=d)
x = f(a for a in b)
x = f((a for a in b), 1)
x = f(a := 1)
x = f(lambda a: a)
x = f(a)(b)
x = f(a)[b](c)
x = a.b.c
x = a.b().c
x = (a + b).c
x = (-a).c
x = (1).real
x = (1.5).real
x = 2j.real
x = "a".join(b)
x = [1, 2].index(1)
x = a[0]
x = a[-1]
x = a[i, j]
x = a[(i,)]
x = a[...]
x = a[:]
x = a[1:]
x = a[:-1]
x = a[1:-1]
x = a[::2]
x = a[::-1]
x = a[i : i + 1]
x = a[i + 1 :]
x = a[: i + 1]
x = a[f(b) :: 2]
x = a[b.c : d]
x = a[b.c : d : 2]
x = a[:, None]
x = a[..., :, np.newaxis]
x = a[1:, : n - 1]
x = a[b[0]]
x = a[lambda: 0]
x = a[(b, c) : d]
x = a["k"]["m"]
x = ()
x = (a,)
x = (a, b)
x = (a, (b, c))
x = (*a, b)
x = []
x = [a]
x = [a, *b]
x = {a, b}
x = {*a}
x = {}
x = {a: b}
x = {"a": 1, **b}
x = [a for a in b]
x = [a for a in b if c if d]
x = [a for a, b in c for d in e]
x = [(a, b) for a in c]
x = [a for a in (b if c else d)]
x = [a if b else c for a in d]
x = {a for a in b}
x = {a: b for a, b in c.items()}
x = (a for a in b)
x = [(a := 1), a]
x = f"{a}"
x = f"{a!r:>{width}} {{}}"
x = f"{a['k']} and {b + 1:.3f}"
x = f"{(lambda: 0)()}"
x = f"{ {1: 2}[1] }"
x = f'"{a}"'
x = yield
x = yield a
x = y = z
x, y = y, x
x, (y, z) = a
x, *y = a
(x,) = a
[x, y] = a
x.y = a
x[0] = a
x[i, j] += a
x[1:-1] -= a
x **= 2
x @= a
x //= a
x: int = 1
x: list[int]
x.y: int = 1
"""

# Each of these, too; a statement that is too long takes more than one line.
LONG = """
value = some_function_name(first_argument, second_argument, third_argument, fourth_one)
#
value = some_function_name(
    first_argument, second_argument, third_argument, fourth_argument
)
#
value = some_function_name(
    first_argument_of_the_call,
    second_argument_of_the_call,
    third_argument_of_the_call,
    keyword=fourth_argument_of_the_call,
)
#
value = outer_function_name(
    inner_function_name(first_argument_of_the_call, second_argument_of_the_call, third)
)
#
value = outer_function_name(
    inner_function_name(
        first_argument_of_the_call, second_argument_of_the_call, third_argument
    ),
    another_argument,
)
#
total = (
    first_summand_of_the_total
    + second_summand_of_the_total
    + third_summand * with_a_factor
    - fourth_summand_of_the_total
)
#
total = first_summand_of_the_total * some_function_name(
    first_argument_of_call, second_argument_of_call
)
#
total = (first_summand + second_summand_of_the_total) * some_function_name(
    first_argument_of_call, second_argument_of_call
)
#
total = (
    first_factor_of_the_total
    * second_factor_of_the_total**2
    * (third_factor_of_the_total + fourth_factor_of_the_total)
)
#
total = (
    some_function_name(first_argument_of_call, second_argument_of_call)
    / another_function[0]
)
#
total = -some_function_name(
    first_argument_of_call, second_argument_of_call, third_argument_of_call
)
#
power = (
    some_long_base_of_a_power_expression
    ** some_long_exponent_of_a_power_expression
    ** another
)
#
choice = (
    the_first_of_two_alternatives
    if the_condition_holds_for(some_argument)
    else the_second_of_two_alternatives
)
#
truth = (
    the_first_of_the_conditions
    and the_second_of_the_conditions
    or the_third_of_the_conditions < 0
)
#
truth = the_first_value_in_a_long_comparison <= the_second_value_in_a_long_comparison[0]
#
truth = (
    the_first_value_in_a_long_comparison
    <= the_second_value_in_a_long_comparison[0]
    < third
)
#
some_array[first_index_of_the_array, second_index] = some_function_name(
    first_argument, second
)
#
some_array[first_index_of_the_array, second_index_of_the_array, third_index] = (
    some_long_value_name
)
#
some_array[first_index_of_the_array, second_index_of_the_array, third_index] += (
    some_long_value + another_value
)
#
some_array[
    first_index_of_the_array_which_is_long : second_index_of_the_array_which_is_long
    + 1,
    third_index_of_the_array_which_is_long,
] = 0
#
first_of_many_targets, second_of_many_targets, third_of_many_targets = (
    some_function_name(first_argument)
)
#
(
    first_of_many_targets_in_a_row,
    second_of_many_targets_in_a_row,
    third_of_many_targets_in_a_row,
) = some_function_name(first_argument)
#
first_of_many_targets, second_of_many_targets = (
    first_of_many_values_in_a_row,
    second_of_many_values_in_a_row,
)
#
some_object.some_attribute.some_other_attribute.yet_another_attribute_of_the_object = (
    some_value
)
#
frame = (
    some_data_frame.some_method(first_argument)
    .another_method(second_argument)
    .last_method(third_argument)
)
#
frame = some_data_frame.some_method_with_a_long_name(
    first_argument, second_argument
).attribute
#
pair = (
    the_first_element_of_a_long_tuple,
    the_second_element_of_a_long_tuple,
    the_third_element,
)
#
table = {
    "the first key of the dict": the_first_value_of_the_dict,
    "the second key of the dict": the_second_value_of_the_dict,
}
#
squares = [
    some_function_name(element_of_the_sequence)
    for element_of_the_sequence in the_sequence
    if element_of_the_sequence > 0
]
#
mapping = {
    key_of_the_mapping: value_of_the_mapping
    for key_of_the_mapping, value_of_the_mapping in items
}
#
total = sum(
    element_of_the_sequence * weight_of_the_element
    for element_of_the_sequence, weight_of_the_element in pairs
)
#
function = some_function_name(
    lambda first_parameter, second_parameter: (
        first_parameter.method(second_parameter) + another_value
    )
)
#
text = "a string that is much too long for one line and cannot be broken anywhere at all by us"
#
text = some_function_name(
    "a string that is much too long for one line and cannot be broken anywhere at all by us"
)
#
text = (
    "a string that just fits on a line of its own but not behind the name of the target"
)
#
text = (
    f"{first_value_in_the_text!r} and {second_value_in_the_text:.3f} and {third_value}"
)
#
name_that_is_rather_long_for_a_target_of_an_assignment: SomeAnnotation[int, str] = (
    some_value
)
#
del (
    the_first_of_many_names_to_be_deleted,
    the_second_of_many_names_to_be_deleted,
    third_name,
)
#
assert the_first_value_of_the_assertion == the_second_value_of_the_assertion, (
    "a message that is long"
)
#
raise ValueError(
    "a message that is long enough for the statement to be split", some_value, another
)
#
from some_package.some_module import (
    first_imported_name,
    second_imported_name,
    third_imported_name,
)
#
def function_name(
    first_parameter, second_parameter=1, *, third_parameter=None, fourth=0
):
    return first_parameter
#
def function_name(
    first_parameter, second_parameter=1, *arguments, third_parameter=None, **keywords
):
    return first_parameter
#
def function_name(
    first_parameter: np.ndarray,
    second_parameter: float = 1.0,
    *,
    third_parameter: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    return (
        the_first_element_of_a_long_result,
        the_second_element_of_a_long_result,
        third_element,
    )
#
def function_name(
    only_parameter_with_a_long_name: SomeAnnotation,
) -> SomeOtherAnnotation[int]:
    return (
        the_first_element_of_a_long_result,
        the_second_element_of_a_long_result,
        third_element,
    )
#
def function_name(x):
    if (
        the_first_of_the_conditions < 0
        and the_second_of_the_conditions
        or the_third_of_the_conditions
    ):
        return (
            the_first_summand_of_the_result
            + the_second_summand_of_the_result
            + the_third_summand
        )
    elif some_function_name(
        the_first_argument_of_the_call, the_second_argument_of_call
    ):
        return some_function_name(
            the_first_argument_of_the_call, the_second_argument_of_the_call
        )
    while not some_function_name(
        the_first_argument_of_the_call, the_second_argument_of_the_call
    ):
        break
    for first_target_of_the_loop, second_target_of_the_loop in some_function_name(
        the_sequence
    ):
        continue
    with some_function_name(the_first_argument_of_the_call, second_argument) as context:
        pass
    with (
        some_function_name(the_first_argument_of_the_call) as the_first_context,
        another_function_name() as another,
    ):
        pass
    return x
"""  # noqa: E501

# Whole programs; "# ..." statements are comments and "#" are blank lines.
PROGRAM = '''
"""What the module does."""

import math

import numpy as np
from numpy import linalg as la

"# A constant."
LIMIT = 3


def outer(x, y=1, *args, key: int = 2, **kwargs):
    """What it does.

    More about it.
    """
    "# A comment above a statement."
    z = x + y
    "#"
    "# A paragraph of its own."
    w = z

    def inner(a):
        global LIMIT
        LIMIT = a
        return a

    "# About the next one."
    @decorated(1)
    def another(a):
        nonlocal w
        w = a

    try:
        for i, j in enumerate(args):
            if i < j:
                continue
            elif i:
                break
            else:
                "# Nothing but a comment."
                pass
        else:
            while True:
                pass
    except (ValueError, TypeError) as error:
        raise RuntimeError("no") from error
    except KeyError:
        raise
    else:
        del w
    finally:
        assert z, "message"
    with open(x) as f, y:
        import os

        return os.path, f
    for k in (1, 2):

        def last():
            return k

    return inner, another


class Thing(Base, metaclass=Meta):
    """A class."""

    a: int = 1

    def method(self): ...

    b = 2

    class Nested:
        pass


class Empty: ...


async def coroutine():
    async with a as b:
        await b
    async for c in b:
        yield c


"# About the condition."
if LIMIT:

    def chosen():
        return 1

else:
    chosen = None
"#"
match LIMIT:
    case 1 | 2:
        pass
    case [a, *rest] if a:
        pass
    case {"k": Point(x=0) as p, **others}:
        pass
    case None | "s":
        pass
    case _:
        pass
'''


def parsed(source: str) -> gast.Module:
    return gast.parse(source)


def plain(text: str) -> str:
    return ast.dump(ast.parse(text))


RUFF = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))


def ruff(*args: str) -> str:
    done = subprocess.run([RUFF, *args], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def assert_formatted(texts: list[str], folder: Path) -> None:
    """Each text is what `ruff format` makes of it."""
    if not Path(RUFF).exists():
        pytest.skip("ruff is not installed")
    for index, text in enumerate(texts):
        (folder / f"case_{index}.py").write_text(text, encoding="utf-8")
    options = ["--isolated", "--line-length=88", "--no-cache", str(folder)]
    assert not ruff("format", "--diff", *options)


@pytest.mark.parametrize("line", SHORT.strip().splitlines())
def test_a_short_statement_prints_as_written(line: str) -> None:
    assert emit(parsed(line)) == line + "\n"


def test_ruff_agrees_with_the_short_statements(tmp_path: Path) -> None:
    assert_formatted(
        [emit(parsed(line)) for line in SHORT.strip().splitlines()], tmp_path
    )


@pytest.mark.parametrize("case", LONG.strip().split("\n#\n"))
def test_a_long_statement_prints_as_written(case: str) -> None:
    assert emit(parsed(case)) == case + "\n"


def test_ruff_agrees_with_the_long_statements(tmp_path: Path) -> None:
    assert_formatted([emit(parsed(case)) for case in LONG.split("\n#\n")], tmp_path)


def test_a_program_prints_as_written() -> None:
    expected = PROGRAM.lstrip()
    for line in PROGRAM.splitlines():
        if line.strip() == '"#"':
            expected = expected.replace(line + "\n", "\n")
        elif line.strip().startswith('"#'):
            expected = expected.replace(line, line.replace('"', ""))
    expected = expected.replace("\n\nelse:", "\nelse:")
    assert emit(parsed(PROGRAM)) == expected


def test_ruff_agrees_with_the_program(tmp_path: Path) -> None:
    assert_formatted([emit(parsed(PROGRAM))], tmp_path)


def test_ruff_finds_nothing_to_correct(tmp_path: Path) -> None:
    module = "import numpy as np\ndef f(x):\n 'Doc.'\n return np.sin(x)\ny = f(1)"
    (tmp_path / "module.py").write_text(emit(parsed(module)))
    options = ["--isolated", "--select=E,F,W,I", "--no-cache", str(tmp_path)]
    assert not ruff("check", *options)


# Random expressions


class Expressions:
    """Random expressions, as text that `ast.unparse` has written."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def name(self) -> ast.expr:
        stems = [
            "x",
            "dy",
            "weights",
            "np",
            "some_longer_name",
            "hidden_state_gradient",
        ]
        return ast.Name(self.random.choice(stems))

    def make(self, depth: int) -> ast.expr:
        if depth <= 0:
            number = ast.Constant(self.random.choice([1, 2.5, 3j, "text", True, None]))
            return self.random.choice([self.name(), self.name(), number])
        kinds = [self.binary, self.binary, self.unary, self.call, self.subscript]
        kinds += [
            self.attribute,
            self.ternary,
            self.boolean,
            self.compare,
            self.display,
        ]
        kinds += [self.comprehension, self.lambda_, self.power]
        return self.random.choice(kinds)(depth - 1)

    def some(self, depth: int, least: int = 0) -> list[ast.expr]:
        return [self.make(depth) for _ in range(self.random.randint(least, 4))]

    def binary(self, depth: int) -> ast.expr:
        kinds = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Mod, ast.BitOr]
        operator = self.random.choice(kinds)()
        return ast.BinOp(self.make(depth), operator, self.make(depth))

    def power(self, depth: int) -> ast.expr:
        return ast.BinOp(self.make(depth), ast.Pow(), self.make(depth))

    def unary(self, depth: int) -> ast.expr:
        operator = self.random.choice([ast.USub, ast.Not, ast.Invert])()
        return ast.UnaryOp(operator, self.make(depth))

    def call(self, depth: int) -> ast.expr:
        keywords = [ast.keyword(self.random.choice(["axis", None]), self.make(depth))]
        keywords = keywords[: self.random.randint(0, 1)]
        return ast.Call(self.make(depth), self.some(depth), keywords)

    def subscript(self, depth: int) -> ast.expr:
        bounds = [self.random.choice([None, self.make(depth)]) for _ in range(3)]
        index = self.random.choice([ast.Slice(*bounds), self.make(depth)])
        items = ast.Tuple([index, self.make(depth)])
        return ast.Subscript(self.make(depth), self.random.choice([index, items]))

    def attribute(self, depth: int) -> ast.expr:
        return ast.Attribute(self.make(depth), self.random.choice(["T", "sum"]))

    def ternary(self, depth: int) -> ast.expr:
        return ast.IfExp(self.make(depth), self.make(depth), self.make(depth))

    def boolean(self, depth: int) -> ast.expr:
        operator = self.random.choice([ast.And, ast.Or])()
        return ast.BoolOp(operator, self.some(depth, 2))

    def compare(self, depth: int) -> ast.expr:
        operators = [self.random.choice([ast.Lt, ast.NotIn, ast.Is])() for _ in "ab"]
        operators = operators[: self.random.randint(1, 2)]
        return ast.Compare(
            self.make(depth), operators, [self.make(depth) for _ in operators]
        )

    def display(self, depth: int) -> ast.expr:
        kind = self.random.choice([ast.Tuple, ast.List, ast.Dict, ast.Set])
        if kind is ast.Dict:
            values = self.some(depth)
            return ast.Dict([self.name() for _ in values], values)
        return kind(self.some(depth, 1))

    def comprehension(self, depth: int) -> ast.expr:
        kind = self.random.choice([ast.ListComp, ast.GeneratorExp, ast.SetComp])
        tests = [self.make(depth)][: self.random.randint(0, 1)]
        generator = ast.comprehension(self.name(), self.make(depth), tests, 0)
        return kind(self.make(depth), [generator])

    def lambda_(self, depth: int) -> ast.expr:
        args = ast.arguments([], [ast.arg("a")], None, [], [], None, [])
        return ast.Lambda(args, self.make(depth))


def random_statements(count: int) -> list[str]:
    expressions = Expressions(seed=20240501)
    statements = []
    for index in range(count):
        target = ["x", "some_longer_name", "x.y", "x[0]", "some_longer_name[x, dy]"]
        node = expressions.make(1 + index % 4)
        statements.append(f"{target[index % 5]} = {ast.unparse(node)}")
    return statements


def test_random_expressions(tmp_path: Path) -> None:
    texts = []
    for statement in random_statements(300):
        text = emit(parsed(statement))
        assert plain(text) == plain(statement)
        texts.append(text)
    assert_formatted(texts, tmp_path)


# Other properties


def test_an_expression_has_no_line_end() -> None:
    assert emit(gast.parse("a + b", mode="eval").body) == "a + b"


def test_statements_print_alone_and_in_lists() -> None:
    body = parsed("x = 1\ny = 2").body
    assert emit(body) == "x = 1\ny = 2\n"
    assert emit(body[0]) == "x = 1\n"


def test_blank_lines_are_never_doubled_nor_at_an_end() -> None:
    source = "def f():\n '#'\n x = 1\n '#'\n '#'\n y = 2\n '#'\n"
    assert emit(parsed(source)) == "def f():\n    x = 1\n\n    y = 2\n"


def test_an_empty_body_gets_a_pass() -> None:
    source = "if x:\n '# Nothing to do.'\n"
    assert emit(parsed(source)) == "if x:\n    # Nothing to do.\n    pass\n"


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="FormattedValue"):
        emit(gast.FormattedValue(gast.parse("x", mode="eval").body, -1, None))
