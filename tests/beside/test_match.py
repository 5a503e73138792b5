"""match: lines of a function and of generated source that belong together."""

from textwrap import dedent

from srcjax.beside.match import matched

ORIGINAL = """\
def loss(w, x):
    # comments of the user's are in no group
    y = x@w
    z = np.tanh(
        y,
    )
    if z[0] > 0:
        return z.sum()
    unused = 3
    return y[0]
"""

GENERATED = """\
import numpy as np

__all__ = ["grad_loss"]


def grad_loss(w, x):
    y = x @ w
    z = np.tanh(y)
    if z[0] > 0:
        # return z.sum()
        dz = np.ones_like(
            z
        )
        for _ in range(3):
            # z = np.tanh(
            dy = dz * (1 - z * z)
    else:
        # return y[0]
        dy = other(y)
        # not a line of the user's
        more(dy)
    # y = x@w
    return dy @ x.T
"""


def test_groups():
    left, right = matched(ORIGINAL, GENERATED)
    assert left == [None, None, 0, 1, 1, 1, 2, 3, None, 4]
    groups = dict(zip(GENERATED.splitlines(), right, strict=True))
    expected = {
        "import numpy as np": None,
        "def grad_loss(w, x):": None,
        "    y = x @ w": 0,
        "    z = np.tanh(y)": 1,
        "    if z[0] > 0:": 2,
        "        # return z.sum()": 3,
        "        dz = np.ones_like(": 3,
        "            z": 3,
        "        )": 3,
        "        for _ in range(3):": None,
        "            # z = np.tanh(": 1,
        "            dy = dz * (1 - z * z)": 1,
        "    else:": None,
        "        # return y[0]": 4,
        "        dy = other(y)": 4,
        "        # not a line of the user's": None,
        "        more(dy)": None,
        "    # y = x@w": 0,
        "    return dy @ x.T": 0,
    }
    assert {line: groups[line] for line in expected} == expected


def test_a_last_return_is_in_no_group():
    generated = "def g(x):\n    # y = x * x\n    dx = 2 * x\n    return dx\n"
    _, right = matched("def f(x):\n    y = x * x\n    return y\n", generated)
    assert right == [None, 0, 0, None]


def test_lines_that_read_the_same_are_one_group():
    original = "def f(x):\n    x = x * x\n    x = x * x\n    return x\n"
    left, right = matched(original, "def g(x):\n    # x = x * x\n    dx = 2 * x\n")
    assert left == [None, 0, 0, None]
    assert right == [None, 0, 0]


def test_text_that_does_not_parse():
    left, right = matched(
        "f = [lambda x: x * x,\n", "# f = [lambda x: x * x,\ndx = x\n"
    )
    assert (left, right) == ([0], [0, 0])


def test_statements_of_every_kind():
    original = dedent(
        """\
        def f(x):
            '''Docstring.'''
            match x:
                case 1:
                    y = 2
                case _:
                    y = 3
            try:
                y += 1
            finally:
                y -= 1
            return y
        """
    )
    left, right = matched(original, original)
    assert left == right
    assert len([g for g in left if g is not None]) == 7


def test_nothing():
    assert matched("", "") == ([], [])
