"""Surface Python and its core form, side by side."""

import textwrap

import gast
import pytest

import srcjax
from srcjax import syntax
from srcjax.backends.load import load
from srcjax.frontend.check import violations
from srcjax.frontend.normalise import normalise
from srcjax.frontend.read import read
from srcjax.frontend.spoken import describe

CASES = {
    "exits: an early return moves what follows into the other branch": (
        "x",
        """
        def f(x):
            if x > 1:
                return x * 2
            x = x + 1
            return x
        """,
        """
        def f(x):
            if x > 1:
                result = x * 2
            else:
                x = x + 1
                result = x
            return result
        """,
    ),
    "exits: a return inside a loop": (
        "x",
        """
        def f(x, n):
            for i in range(n):
                if x > 1:
                    return x
                x = x * 2
            return -x
        """,
        """
        def f(x, n):
            returned = False
            for i in range(n):
                if x > 1:
                    returned = True
                    break
                else:
                    x = x * 2
            if returned:
                result = x
            else:
                result = -x
            return result
        """,
    ),
    "exits: continue and break": (
        "x",
        """
        def f(x, n):
            total = 0.0
            for i in range(n):
                if i == 2:
                    continue
                if total > 9:
                    break
                total = total + x
            return total
        """,
        """
        def f(x, n):
            total = 0.0
            for i in range(n):
                if not i == 2:
                    if total > 9:
                        break
                    else:
                        total = total + x
            return total
        """,
    ),
    "exits: the else of a loop": (
        "x",
        """
        def f(x, n):
            for i in range(n):
                if x > 9:
                    break
            else:
                x = x * 3
            return x
        """,
        """
        def f(x, n):
            broke = False
            for i in range(n):
                if x > 9:
                    broke = True
                    break
            if not broke:
                x = x * 3
            return x
        """,
    ),
    "exits: a branch that leaves on some paths needs a flag": (
        "x",
        """
        def f(x, n):
            for i in range(n):
                if x > 1:
                    if x > 2:
                        break
                    x = x - 1
                x = x * 2
            return x
        """,
        """
        def f(x, n):
            for i in range(n):
                done = False
                if x > 1:
                    if x > 2:
                        done = True
                    if not done:
                        x = x - 1
                if done:
                    break
                else:
                    x = x * 2
            return x
        """,
    ),
    "match becomes if": (
        "x",
        """
        def f(x, kind):
            match kind:
                case "double":
                    x = x * 2
                case (a, b):
                    x = x * a + b
                case None | 0:
                    pass
                case other:
                    x = x + other
            return x
        """,
        """
        def f(x, kind):
            if kind == 'double':
                x = x * 2
            elif isinstance(kind, (list, tuple)) and len(kind) == 2:
                a = kind[0]
                b = kind[1]
                xa = x * a
                x = xa + b
            elif kind is None or kind == 0:
                pass
            else:
                other = kind
                x = x + other
            return x
        """,
    ),
    "one operation a statement; inert code as written": (
        "x",
        """
        def f(x, n):
            scale = max(3 * n, 2) ** 2
            return np.sin(x * 2) + scale * x[n - 1]
        """,
        """
        def f(x, n):
            scale = max(3 * n, 2) ** 2
            two_x = x * 2
            sin_two_x = np.sin(two_x)
            x_previous = x[n - 1]
            product = scale * x_previous
            total = sin_two_x + product
            return total
        """,
    ),
    "a swap reads before it writes": (
        "a",
        """
        def f(a, b):
            a, b = b, a + b
            return a * b
        """,
        """
        def f(a, b):
            value = b
            total = a + b
            a = value
            b = total
            ab = a * b
            return ab
        """,
    ),
    "and / or / ternary / walrus": (
        "x",
        """
        def f(x, flag):
            y = x if flag else x * 2
            z = (w := y * 3) + w
            return z or y
        """,
        """
        def f(x, flag):
            if flag:
                y = x
            else:
                y = x * 2
            w = y * 3
            z = w + w
            value = z
            if not z:
                value = y
            return value
        """,
    ),
    "comprehension and sum": (
        "x",
        """
        def f(x, n):
            squares = [x * k for k in range(n) if k % 2]
            return sum(s * s for s in squares)
        """,
        """
        def f(x, n):
            values = []
            for k2 in range(n):
                if k2 % 2:
                    xk = x * k2
                    values.append(xk)
            squares = values
            total = 0
            for s2 in squares:
                s_squared = s2 * s2
                total = total + s_squared
            return total
        """,
    ),
    "unpacking with a star": (
        "x",
        """
        def f(x):
            first, *rest, last = x
            return first * last
        """,
        """
        def f(x):
            first = x[0]
            x_inner = x[1:-1]
            rest = list(x_inner)
            last = x[-1]
            first_last = first * last
            return first_last
        """,
    ),
    "try: the handler becomes a branch on a flag": (
        "x",
        """
        def f(x):
            try:
                y = np.sqrt(x) * 2
            except FloatingPointError as error:
                y = len(error.args) * x
            else:
                y = y + 1
            return y
        """,
        """
        def f(x):
            caught = False
            try:
                sqrt_x = np.sqrt(x)
                y = sqrt_x * 2
            except FloatingPointError as error2:
                caught = True
                error = error2
            if caught:
                len_value = len(error.args)
                y = len_value * x
            else:
                y = y + 1
            return y
        """,
    ),
    "try: a body that is seen half done is split": (
        "x",
        """
        def f(x):
            y = x
            try:
                y = y * 2
                y = np.sqrt(y)
            except ValueError:
                pass
            return y
        """,
        """
        def f(x):
            y = x
            caught = False
            try:
                y = y * 2
            except ValueError:
                caught = True
            if not caught:
                try:
                    y = np.sqrt(y)
                except ValueError:
                    caught = True
            return y
        """,
    ),
    "a swap stays one statement": (
        "x",
        """
        def f(x):
            a, b = x, x * 2
            a, b = b, a
            return a * b
        """,
        """
        def f(x):
            two_x = x * 2
            a = x
            b = two_x
            a, b = (b, a)
            ab = a * b
            return ab
        """,
    ),
    "inert: an order is a plain sort": (
        "x",
        """
        def f(x):
            y = sorted(x, key=abs)
            return y[0]
        """,
        """
        def f(x):
            list_x = list(x)
            order = sorted(range(len(list_x)), key=lambda i: abs(list_x[i]))
            values = []
            for k in order:
                list_x_k = list_x[k]
                values.append(list_x_k)
            y = values
            y_0 = y[0]
            return y_0
        """,
    ),
    "out= is an assignment, unless it is None": (
        "x",
        """
        def f(x, buffer):
            np.multiply(x, 2, out=buffer)
            return np.sum(buffer)
        """,
        """
        def f(x, buffer):
            if buffer is None:
                value = np.multiply(x, 2)
            else:
                multiply_x = np.multiply(x, 2)
                buffer[...] = multiply_x
                value = buffer
            sum_buffer = np.sum(buffer)
            return sum_buffer
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_core_form(name):
    varying, before, after = CASES[name]
    text = "import numpy as np\n\n" + textwrap.dedent(before)
    unit = normalise(read(load(text, "case").f), [varying])
    assert syntax.text(unit.node) == textwrap.dedent(after).strip()
    assert violations(unit) == []


@pytest.mark.parametrize("name", CASES)
def test_same_value(name):
    """The core form computes what the user's function computes."""
    import numpy as np

    arguments = {
        "x": 0.7,
        "n": 4,
        "a": 2.0,
        "b": 3.0,
        "flag": True,
        "kind": (2, 3),
        "buffer": np.zeros(3),
    }
    if "unpacking" in name or "inert" in name or "out=" in name:
        arguments["x"] = np.array([0.5, 1.5, 2.5])
        arguments["n"] = 2
    _, before, after = CASES[name]
    results = []
    for text in (before, after):
        module = load("import numpy as np\n\n" + textwrap.dedent(text), "case")
        names = module.f.__code__.co_varnames[: module.f.__code__.co_argcount]
        results.append(module.f(*(arguments[n] for n in names)))
    np.testing.assert_array_equal(*results)


def with_an_option(x, **options):
    try:
        silent = options["silent"]
    except KeyError:
        silent = 2.0
    try:
        y = x * x
    except ValueError:
        return silent
    return y


def test_attempts_whose_result_an_exit_hands_on():
    assert srcjax.grad(with_an_option)(3.0) == 6.0
    assert srcjax.grad(lambda x: with_an_option(x, silent=x))(3.0) == 6.0


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ("x[1:]", "x_rest"),
        ("x[:-1]", "x_start"),
        ("x[:n]", "x_start"),
        ("x[2:]", "x_end"),
        ("x[1:-1]", "x_inner"),
        ("x[::-1]", "x_reversed"),
        ("x[::2]", "x_part"),
        ("x[-1]", "x_last"),
        ("x[n + 1]", "x_next"),
        ("x[n - 1]", "x_previous"),
        ("x[n - 2]", "x_part"),
        ("x[:, 0]", "x_column"),
        ("x[:, n]", "x_column"),
        ("x[:, None]", "x_part"),
        ("x[1:, 0]", "x_part"),
    ],
)
def test_parts_are_called_what_they_are_of_the_whole(read, name):
    assert describe(gast.parse(read).body[0].value, {})[0] == name
