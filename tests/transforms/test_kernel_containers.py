"""`jit` of functions with containers: what the function gives, and does to them."""

import copy
import dataclasses
import re
import warnings
from collections import namedtuple

import numpy as np
import pytest

import srcjax

pytest.importorskip("numba")

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_containers": 3}

RNG = np.random.default_rng(5)
X = RNG.normal(size=4)
PAIRS = [(RNG.normal(size=4), 1.5), (RNG.normal(size=4), -0.5), (X + 1, 2.0)]
Point = namedtuple("Point", "a b")


class Doubled(Point):
    """A namedtuple with more than its items."""

    @property
    def double(self):
        return self.a * 2


@dataclasses.dataclass
class Model:
    W: np.ndarray
    b: float


def stepped(state, x):
    a = [0.9 * m + 0.1 * x for m in state[0].a]
    return Point(a, state[0].b + 1), state[1]


def by_keyword(x):
    p = Point(b=x * 2, a=x + 1)
    return p.a * p.b, p


def as_tuples(x):
    p = Point(x, x * 2)
    first, second = p
    return p[:1], p[-1] * 3, len(p), p + (second - first,)


def one_or_other(x, flag):
    p = Point(x, 1.0)
    if flag:
        p = Point(x * 2, 2.0)
    return p


def in_a_loop(x, n):
    p = Point(x, 0.0)
    for _ in range(n):
        p = Point(p.a * 2, p.b + 1)
    return p


def replaced(x):
    p = Point(x, 1.0)._replace(b=2.0)
    return p.a * p.b


def with_more(x):
    p = Doubled(x, 1.0)
    return p.double + p.a, p


def that_nobody_reads(x):
    held = [x, lambda v: v * 2]
    both = list(held)
    first = both[0]  # noqa: F841
    return held[1](x) + 1


def grown(ps, x):
    out = []
    for w, b in ps:
        out.append(np.tanh(w * x) + b)
    return out


def alias(x):
    a = [x, x + 1]
    b = a
    b[0] = x * 2
    return a[0] + b[1]


def inner_alias(x):
    p = [x]
    q = [p, p]
    q[0][0] = x * 3
    return q[1][0] * 1.0


def kept_before_rebinding(x):
    h = x * 1.0
    tape = []
    for _ in range(3):
        tape.append(h)
        h = h * 2
    return tape[0] + tape[1] + tape[2] + h


def kept_before_update(x):
    h = x.copy()
    tape = [h]
    h += 1
    return tape[0] * 2


def number_kept_before_update(x):
    k = 1.0
    held = [k, x[0]]
    k += 1
    return held[0] + k * held[1]


def of_branches(x):
    p = (x * 2, 3.0) if x[0] > 0 else (x * 5, 7.0)
    return p[0] * p[1]


def changed_in_a_branch(x):
    items = [x, x + 1]
    other = items
    if x[0] > 0:
        items[0] = x * 2
    else:
        items[1] = x * 3
    return other[0] - items[1]


def changed_alike(x):
    a = [x]
    b = a if x[0] > 0 else [x]
    b[0] = x * 2
    return a[0] * 1.0


def carried(x, n):
    p = (x, 0.0)
    for i in range(n):
        p = (p[0] * 0.5 + p[1], p[1] + i)
    return p


def swapped(x, n):
    p = (x, x * 2)
    for _ in range(n):
        p = (p[1], p[0] + 0.1)
    return p[0] - 2 * p[1]


def trained(ps, x):
    for _ in range(40):
        ps = [(w - 0.1 * (w - x), b * 0.9) for w, b in ps]
    return ps


def written_to(ps, x):
    ps[0] = (x * 2, 0.0)
    return ps[0][0] + ps[1][0]


def part_written_to(ps, x):
    ps[0][0][1] = x[0]
    return np.sum(ps[0][0])


def itself(ps, x):
    return ps, np.sum(x * ps[0][0])


def twice(x):
    r = [x * 2]
    return r, r


def first_value(d):
    values = list(d.values())
    return values[0] * 2


def all_keys(d, x):
    total = x * 0
    for k, v in d.items():
        total = total * 2 + v
        d2 = {k: v}
        total = total + d2[k]
    return total


def after_the_loop(ps, x):
    for i, (w, b) in enumerate(ps):  # noqa: B007
        y = w * x + b
    return y * i + w


def by_a_number(ps, k):
    w, b = ps[k]
    return w * b


def long_tape(x):
    tape = []
    for i in range(300):
        tape.append(x[i % 4] * i)
    return sum(tape)


def left_early(ps, x):
    for w, b in ps:
        if b < 0:
            return w * x
    return x


def broken_off(ps, x):
    total = x
    for w, b in ps:
        if b < 0:
            break
        total = total + w
    return total


def by_name(d, x):
    for i in range(1, 3):
        x = np.tanh(d[f"W{i}"] * x + d["b" + str(i)])
    return x


def too_far(ps):
    return ps[3][0] * 2


def joined(x):
    a = [x, x + 1]
    a += [x * 2]
    a.extend([x * 3])
    b = (x,) + (x - 1,)
    return sum(a) + b[0] * b[1]


def grid(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j]
    rows[1][1] = 0.0
    return rows[0][0] + 2 * rows[0][1] + 3 * rows[1][0] + 5 * rows[1][1]


def shared_rows(x):
    rows = [[0.0] * 2] * 2
    rows[0][0] = x[0]
    return rows[1][0] + x[1]


def walked(ps, x):
    total = x * 0
    for (w, _), (_, b) in zip(ps, reversed(ps), strict=True):
        total = total + w * b
    return total


def given_to_numpy(ps, x):
    parts = [w * x for w, _ in ps]
    return (
        np.stack(parts),
        np.concatenate([parts[0], parts[-1]]),
        np.array([b for _, b in ps]),
    )


def of_a_tuple(p, x):
    return p.a * x + p.b


def of_a_class(m, x):
    return m.W * x + m.b


def copied(ps, x):
    mine = list(ps)
    mine[0] = (x, 0.0)
    return mine[0][0] + ps[0][0]


def asked(ps, x):
    n = len(ps)
    if n > 2 and ps:
        return x * n
    return x


def updated_item(x):
    items = [x.copy(), 1.0]
    items[0] += 1
    items[1] += x[0]
    first = items[0]
    items[0] *= 2
    return first + items[0] * items[1]


def popped(x):
    stack = [x, x * 2, x * 3]
    a = stack.pop()
    b = stack.pop()
    stack.append(a * b)
    return stack[0] + stack[1]


def one_or_none(x, flag):
    held = None
    if flag:
        held = (x, 2.0)
    if held is None:
        return x
    return held[0] * held[1]


def deeper(tree, x):
    return tree["a"][0]["b"] * x + tree["a"][1] + tree["c"][0][0]


def never(x):
    total = x * 0
    for w in []:
        total = total + w
    return total


D = {"W1": X, "b1": 0.5, "W2": X * 2, "b2": -0.1}
CASES = [
    (grown, (PAIRS, X)), (alias, (X,)), (inner_alias, (X,)),
    (kept_before_rebinding, (X,)), (kept_before_update, (X,)),
    (number_kept_before_update, (X,)), (of_branches, (X,)), (of_branches, (-X,)),
    (changed_in_a_branch, (X,)), (changed_in_a_branch, (-X,)),
    (changed_alike, (X,)), (changed_alike, (-X,)),
    (carried, (X, 5)), (carried, (X, 0)), (swapped, (X, 3)),
    (trained, (PAIRS, X)), (written_to, (PAIRS, X)), (part_written_to, (PAIRS, X)),
    (itself, (PAIRS, X)), (twice, (X,)),
    (first_value, ({"p": X, "q": X * 2},)), (all_keys, ({"p": X, "q": X * 2}, X)),
    (after_the_loop, (PAIRS, X)), (by_a_number, (PAIRS, 1)), (long_tape, (X,)),
    (left_early, (PAIRS, X)), (broken_off, (PAIRS, X)), (by_name, (D, X)),
    (too_far, (PAIRS,)), (joined, (X,)), (grid, (X,)), (shared_rows, (X,)),
    (walked, (PAIRS, X)), (given_to_numpy, (PAIRS, X)),
    (of_a_tuple, (Point(X, 2.0), X)), (of_a_class, (Model(X, 2.0), X)),
    (copied, (PAIRS, X)), (asked, (PAIRS, X)), (updated_item, (X,)), (popped, (X,)),
    (one_or_none, (X, True)), (one_or_none, (X, False)),
    (stepped, ((Point([X, X + 1], 3), ()), X)), (by_keyword, (X,)),
    (as_tuples, (X,)), (one_or_other, (X, True)), (in_a_loop, (X, 3)),
    (replaced, (X,)), (with_more, (X,)), (that_nobody_reads, (X,)),
    (deeper, ({"a": [{"b": X}, 2.0], "c": ((X,),)}, X)), (never, (X,)),
]  # fmt: skip
IDS = [f"{f.__name__}{k}" for k, (f, _) in enumerate(CASES)]


def same(found, wanted):
    """The same values in containers of the same types."""
    if isinstance(wanted, (list, tuple)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            same(f, w)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key, value in wanted.items():
            same(found[key], value)
    elif dataclasses.is_dataclass(wanted):
        same(vars(found), vars(wanted))
    elif isinstance(wanted, (type, str)):
        assert found == wanted
    else:
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def outcome(f, args):
    """What a call gives, or raises."""
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("f", "args"), CASES, ids=IDS)
def test_containers(f, args):
    given, plain = copy.deepcopy(args), copy.deepcopy(args)
    compiled = srcjax.jit(f)
    found, wanted = outcome(compiled, given), outcome(f, plain)
    same(found, wanted)
    same(given, plain)  # what is written to is the caller's
    if isinstance(wanted, tuple) and f in (twice, itself):
        assert found[0] is (found[1] if f is twice else given[0])


@pytest.mark.parametrize("f", [grown, by_name, carried, of_branches, grid, walked])
def test_gradients(f):
    args = next(a for g, a in CASES if g is f)

    def loss(*args):
        value = f(*args)
        parts = value if isinstance(value, (list, tuple)) else [value]
        return sum(np.sum(p * p) for p in parts)

    d = srcjax.grad(loss)
    same(srcjax.jit(d)(*args), d(*args))


def test_the_order_of_a_dict():
    compiled = srcjax.jit(first_value)
    for d in ({"p": X, "q": X * 2}, {"q": X * 2, "p": X}, {"p": X * 5, "q": X}):
        same(compiled(d), first_value(d))
    compiled = srcjax.jit(all_keys)
    for d in ({"p": X, "q": X * 2}, {"q": X * 2, "p": X}):
        same(compiled(d, X), all_keys(d, X))


def test_other_lengths():
    compiled = srcjax.jit(grown)
    for n in (3, 1, 0, 2, 3):
        same(compiled(PAIRS[:n], X), grown(PAIRS[:n], X))


def test_layers_are_one_kernel():
    def loss(layers, x):
        for w, b in layers:
            x = np.tanh(w * x + b)
        return np.sum(x)

    text = srcjax.source(srcjax.jit(srcjax.grad(loss)), PAIRS, X)
    assert re.search(r"\(w, b\), \(w\d, b\d\), \(w\d, b\d\) = layers", text)
    assert "return [(" in text
    assert text.count("@kernel") == 1


def test_what_holds_a_state_is_one_kernel():
    args = next(a for g, a in CASES if g is stepped)
    text = srcjax.source(srcjax.jit(stepped), *args)
    assert text.count("@kernel") == 1
    assert "value = Point([total, total2], total3)" in text
    text = srcjax.source(srcjax.jit(that_nobody_reads), X)
    assert "lambda" not in text


def test_a_tuple_that_is_not_taken_apart_keeps_its_types():
    def f(x):
        with np.errstate(all="ignore"):  # containers are not followed here
            pair = (x[0], np.sum(x)) if x[0] > 0 else (x[1], np.max(x))
        return pair

    for given in (X, -X):
        found, wanted = srcjax.jit(f)(given), f(given)
        assert list(map(type, found)) == list(map(type, wanted))
        same(found, wanted)


def joined_and_dropped(x, s):
    zeros = np.zeros(3)
    numbers = np.zeros(3)
    for _n, item in zip(numbers, x, strict=False):
        joined = np.concatenate([zeros, [item]])  # noqa: F841
    return s


def test_parts_joined_of_unknown_rank():
    """They stay Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        found = srcjax.jit(srcjax.vmap(joined_and_dropped))(np.ones((2, 3)), np.ones(2))
    np.testing.assert_array_equal(found, [1.0, 1.0])


def follows(x):
    last = None
    total = 0.0
    for i in range(len(x)):
        if last is not None:
            total = total + last[0] * x[i] + last[1]
        last = (x[i], x[i] ** 2)
    return total


def follows_large(x):
    last = None
    total = 0.0
    for value in x:
        if last is not None:
            before, square = last
            total = total + before * value + square
        if value > 0.5:
            last = (value, value**2)
    return total


@pytest.mark.parametrize("f", [follows, follows_large])
def test_a_tuple_that_the_next_trip_reads_is_not_lost(f):
    compiled = srcjax.jit(f)
    for x in (np.full(3, 0.1), np.array([0.7, 0.2, 0.9]), np.linspace(0, 1, 2000)):
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
