"""Numbers that names start from, lists gone through once, and bounds computed again."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.starts import read_starts
from srcjax.transforms.simplify.sugar import go_through_once


def run(transform, before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    transform(node)
    return syntax.text(node)


def started(node):
    read_starts(node.body, lambda name: name.startswith("d"))


def gone_through(node):
    go_through_once(
        node,
        lambda name: name.startswith("items"),
        lambda name: name in ("xs", "ys"),
        lambda name: set(),
    )


CASES = [
    (
        gone_through,  # a part of an array, forward and back
        """
        def f(xs, d):
            items = list(xs[1:])
            for x in items:
                d = d * x
            for x in reversed(items):
                d = d + x
            return d
        """,
        """
        def f(xs, d):
            for x in xs[1:]:
                d = d * x
            for x in reversed(xs[1:]):
                d = d + x
            return d
        """,
    ),
    *(
        (gone_through, kept, kept)
        for kept in [
            # written to, bound again, read otherwise, and no container
            """
            def f(xs, d):
                items = list(xs[1:])
                for x in items:
                    xs[2] = d
                for x in reversed(items):
                    d = d + x
                return d
            """,
            """
            def f(xs, d):
                items = list(xs[1:])
                for x in items:
                    xs = d
                for x in reversed(items):
                    d = d + x
                return d
            """,
            """
            def f(xs, d):
                items = list(xs[1:])
                for x in items:
                    d = d * x
                return (d, items)
            """,
            """
            def f(zs, d):
                items = list(zs[1:])
                for x in items:
                    d = d * x
                for x in reversed(items):
                    d = d + x
                return d
            """,
        ]
    ),
    (
        started,  # both sides read it, up to where it is bound again
        """
        def f(p, x):
            dp = 1.0
            if p < 0:
                dp = 0.1 * dp
                dx = dp * x
            else:
                dx = dp * x
            return dp
        """,
        """
        def f(p, x):
            dp = 1.0
            if p < 0:
                dp = 0.1 * 1.0
                dx = dp * x
            else:
                dx = 1.0 * x
            return dp
        """,
    ),
    (
        started,  # not the user's, not what was bound in between, and not in a loop
        """
        def f(p, x, n):
            y = 1.0
            dp = 1.0
            dz = 1.0
            dz = p
            if p < 0:
                for i in range(n):
                    dp = dp * x
                y = y * x
                dq = dz * x
            return dp
        """,
        None,
    ),
    (
        started,  # not what a loop binds again behind the branch
        """
        def f(p, x, n):
            dp = 1.0
            for i in range(n):
                if p < 0:
                    dx = dp * x
                dp = p
            return dp
        """,
        None,
    ),
    (
        gone_through,
        """
        def f(xs, ys):
            items = list(zip(xs, ys))
            t = 0.0
            for x, y in items:
                t += x * y
            return t
        """,
        """
        def f(xs, ys):
            t = 0.0
            for x, y in zip(xs, ys):
                t += x * y
            return t
        """,
    ),
    (
        gone_through,  # twice: it stays
        """
        def f(xs, ys):
            items = list(zip(xs, ys))
            for x, y in items:
                t = x
            for x, y in reversed(items):
                t = x
            return t
        """,
        None,
    ),
    (
        gone_through,  # the loop changes what it would go through
        """
        def f(xs, ys):
            items = list(zip(xs, ys))
            for x, y in items:
                xs[0] = y
            return xs
        """,
        None,
    ),
    (
        gone_through,  # an iterator
        """
        def f(zs):
            items = list(zs)
            for x in items:
                t = x
            return t
        """,
        None,
    ),
    (
        gone_through,  # the user's list
        """
        def f(xs):
            pairs = list(xs)
            for x in pairs:
                t = x
            return t
        """,
        None,
    ),
    (
        gone_through,  # the name is of something else by then
        """
        def f(xs, ys):
            items = list(xs)
            xs = ys
            for x in items:
                t = x
            return t
        """,
        None,
    ),
]


@pytest.mark.parametrize(("transform", "before", "after"), CASES)
def test_before_and_after(transform, before, after):
    expected = textwrap.dedent(before if after is None else after)
    assert run(transform, before).strip() == expected.strip()


def capped(p):
    q = p**2 - 1
    if q < 0:
        q = 0.1 * q
    return q


def test_a_condition_that_is_read_once_has_no_name():
    text = srcjax.source(srcjax.grad(capped), 0.5)
    assert "condition" not in text
    assert "dq = 0.1\n" in text
    assert np.isclose(srcjax.grad(capped)(0.5), 0.1)
    assert np.isclose(srcjax.grad(capped)(1.5), 3.0)


def appended(x, xs):
    total = 0.0
    for i in range(len(xs)):
        total = total + np.sin(x * xs[i])
        if i == 0:
            xs.append(2.0)
    return total


def counted(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * x
    n += 3
    return y * n


def written(x, n):
    y = x
    for _ in range(n[0], len(n)):
        y = np.sin(y) * x
    m = n
    m[0] = 0
    return y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (appended, lambda: (0.3, [1.0, 1.5])),
        (counted, lambda: (0.3, 2)),
        (written, lambda: (0.3, [1, 2, 3])),
        (written, lambda: (0.3, np.array([1, 2, 3]))),
    ],
)
def test_bounds_of_unknown_types_that_change_are_kept(function, args):
    space: dict = {}
    text = str(srcjax.source(srcjax.grad(function), general=True))
    exec(text, space)
    found = space[f"grad_{function.__name__}"](*args())
    ahead, behind = (function(args()[0] + h, *args()[1:]) for h in (1e-6, -1e-6))
    assert np.isclose(found, (ahead - behind) / 2e-6, rtol=1e-6)


def iterated(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * x
    return y


def test_bounds_of_unknown_types_that_stay_are_written_again():
    text = str(srcjax.source(srcjax.grad(iterated), general=True))
    assert "steps" not in text
    assert "range(n)" in text


def test_items_of_two_axes_are_named_by_both():
    def f(A, x):
        for i in range(2):
            for j in range(2):
                x = np.sin(A[i, j] * x) * A[i, j]
        return x

    text = str(srcjax.source(srcjax.grad(f), general=True))
    assert "A_ij" in text
    assert "A_part" not in text


def over_a_part(w, xs):
    for x in xs[1:]:
        w = np.sin(w * x)
    return w


def over_a_part_that_changes(w, xs):
    ys = xs.copy()
    for k, y in enumerate(ys[:-1]):
        w = np.sin(w * y)
        ys[k] = w * k
    return w + ys[0] * ys[1]


@pytest.mark.parametrize("f", [over_a_part, over_a_part_that_changes])
def test_parts_of_arrays(f):
    args = 0.8, np.array([0.9, 1.3, 0.7, 1.1])
    check_grads(f, args)
    check_grads(lambda w: f(w, args[1]), args[:1])
    text = str(srcjax.source(srcjax.grad(f), *args))
    assert ("reversed(xs[1:])" in text) == (f is over_a_part), text
