"""What random programs found, as short as it got: right or refused in every mode.

Each takes a vector `x`, a matrix `A` and a number `s`, as random programs do, and goes
to the same judges.
"""

import bisect
import dataclasses
import functools

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from tests.plain_kernels import kernels_as_python
from tests.programs.judging import (
    arguments,
    judge,
    judge_float32,
    judge_modes,
    judge_vmap,
)

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_found": 6}


def zeros_like(v):
    return v + 1.0


def helper_of_the_name_of_ours(x, A, s):
    scaled = A.copy()
    for row in scaled:
        row *= zeros_like(1.0)
    return np.sum(A.sum() * x)


def mean_of_a_changed_row(x, A, s):
    m = A.copy()
    m[0] *= x[::-1]
    return s + m.mean()


def changed_without_axes(x, A, s):
    cell = np.empty(())
    cell[()] = s
    cell *= s
    return cell.item()


def bound_inside_a_condition(x, A, s):
    if (v := x * s).sum() > -99:
        v[0] *= s
    assert (u := s * s) > 0
    return np.sum(v) * u


def bound_in_a_branch_of_an_expression(x, A, s):
    v = x
    if (1 if s > 9 else (v := x * s).sum()) > -99:
        v = v * s
    return np.sum(v)


def doubled(v, k):
    if k == 0:
        return v.sum()
    v[0] *= v[-1]
    return doubled(v, k - 1)


def written_by_a_recursion(x, A, s):
    v = x * s
    return doubled(v, 3)


def number_spread_in_branches(x, A, s):
    v = x * s
    if v.sum() > -99:
        v[0] *= s
    return np.sum(v) * s


class Counter:
    def __init__(self):
        self.n = 1

    def ask(self):
        self.n += 1
        return self.n

    def __float__(self):
        self.n += 1
        return float(self.n)


def asked_by_some_examples(x, A, s):
    q = Counter()
    if s > 0.13:
        q.ask()
    return np.sum(x) * s * q.n


def asked_in_a_condition(x, A, s):
    q = Counter()
    y = s * 2 if s > 0.13 and q.ask() > 1 else s
    for _ in range(q.ask()):
        if s > 0.13 or q.ask() > 9:
            break
    return y * q.n * x[0]


def asked_by_a_conversion(x, A, s):
    q = Counter()
    y = s * float(q)
    return y * float(q) * q.n


def part_of_itself_in_a_branch(x, A, s):
    v = x * s
    if s > -99:
        v = v[0]
    return np.sum(v)


def part_of_itself_in_a_loop(x, A, s):
    v = x * s
    for _ in range(2):
        v = v[:2]
    return np.sum(v)


NUMBERS = {"end": 0.5, "begin": 1.0}


def number_of(when):
    if isinstance(when, np.ndarray):
        return when
    try:
        return NUMBERS[when]
    except (KeyError, TypeError):
        return [NUMBERS[w] for w in when]


def due(x, y, when="end"):
    when = number_of(when)
    (x, y, when) = map(np.array, [x, y, when])
    t = (2 + x) * y
    u = np.where(x == 0, 1, x)
    return -(y + t * x) * (1 + u * when) * (t - 1) / (9 + u)


def due_of_numbers(x, y, when="end"):
    when = number_of(when)
    x, y, when = np.broadcast_arrays(x, y, when)
    return due(x, y, when) * x


def converted_once_from_a_string(x, A, s):
    return np.sum(due(x, s, "end") - due_of_numbers(x, s, "end"))


def power_sum(x, n=1, p=1.0):
    p = p * x
    if n == 0:
        return p.sum()
    return power_sum(x, n=n - 1, p=p)


halves = functools.partial(power_sum, p=0.5, n=2)


class Held:
    """An array with items of its own."""

    def __init__(self, v):
        self.v = v

    def __setitem__(self, k, value):
        self.v[k] = value

    def __getitem__(self, k):
        return self.v[k] * 2.0


def items_set_by_a_class(x, A, s):
    v = x.copy()
    held = Held(v)
    held[-1] = 0.3
    held[0] *= s
    held[1:] = held[:-1] * s
    return np.sum(v * x)


def argument_of_another_shape_in_a_loop(x, A, s):
    for _ in range(2):
        x = np.ones(2)
    while s > 9:
        A = np.ones(2)
        s -= 1
    return s * np.sum(x) + np.sum(A)


def view_bound_again_in_a_loop(x, A, s):
    m = A.copy()
    view = m[0]
    for i in range(len(x)):
        view[i] *= s * x[i]
        view = m[:, len(x) - 1 - i]
    return np.sum(np.concatenate([view, x]) * s) + np.sum(m * A)


def view_of_one_of_two_arrays(x, A, s):
    m, n = A.copy(), A * s
    v = m[0] if s > 0 else n[-1]
    v *= s
    w = v[::-1]
    w[1:] += m[-1, 0] * s
    return np.sum(m * A) + np.sum(n * n) * v[0]


def array_made_anew_in_a_loop(x, A, s):
    v = x * s
    for row in A:
        w = v
        v = v * row
        w[0] += v[-1] * v[0]
        v[-1] *= s
    return np.sum(v * w)


def arrays_in_two_containers(x, A, s):
    v, w = x.copy(), x * s
    box, pair = {"a": v, "b": v}, [v, w]
    box["b"][0] = 2 * s
    pair[-1] *= s
    box["b"] *= pair[1]
    box["a"] = box["a"] + w
    return np.sum(box["b"] * box["a"]) * v[0] + pair[1][0]


def argument_bound_to_what_is_written(x, A, s):
    v = x * s
    w = v
    for _ in range(3):
        v = v * s
        w[0] *= s
        x = w
        w = v
    return np.sum(x * w)


def power(u, k):
    return 1.0 if k == 0 else u * power(u, k - 1)


def taken_off_in_branches(x, A, s):
    s += power(s, 1) - (s if s <= 0.5 else s)
    return s * s


class Found(Exception):
    """Carries a value out of a search."""

    def __init__(self, value):
        super().__init__("found")
        self.value = value


def search(v, least):
    for e in v:
        if e > least:
            raise Found(e * e)
    return least * 0.5


def bound_again_after_an_exception(x, A, s):
    try:
        t = search(x, s)
    except Found as e:
        t = e
    t = x[-1] * s
    return t


def assigned_before_a_break(x, A, s):
    for i in range(len(x)):
        if s > 0 or not s > 2:
            s = x[i] * s
            break
        s = A[i, 0]
    return s * 2


def nothing_but_what_never_is(x, A, s):
    for i in range(3):
        if i > 1:
            if i == 1:
                pass
        else:
            x = np.tanh(x)
    return np.sum(x) * s


class Summed:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b = self.b * other.b
        return self


def loops_that_never_run(x, A, s):
    both = Summed(s * 3, s)
    for _ in range(2, 1, 1):
        both += both
    rows = []
    for row in rows:
        x = x * row
    for k in range(4, 4):
        x[k] = s
    return both.a * both.a + both.b + np.sum(x * s)


def one_item_by_two_indices(x, A, s):
    v = np.concatenate([x, x, x])[:3]
    p = max(v[-1], v[2])
    return np.sum(x * s) + p * p


def store_pair(v, s):
    v[1] = v[0] * s
    v[2] += s


def array_times_a_list_of_constants(x, A, s):
    y = np.array(0.5) * [0.5, 1, 2]
    view = y.copy()
    store_pair(view, s)
    return np.sum(view) + np.sum(x * s)


def unit_vector(v):
    v = np.array(v, dtype=np.float64, copy=True)
    if v.shape[0] == 0:
        raise ValueError("no axis")
    v /= np.sqrt(1.0 + np.sum(v * v))
    return v


def copied_by_a_keyword(x, A, s):
    return np.sum(unit_vector(x * s) * x)


def room(shape):
    return np.empty(shape)


def memory_of_a_helper_for_each_call(x, A, s):
    rows, last = room(A.shape), room(A.shape[1])
    for k in range(len(A)):
        rows[k] = A[k] * s
    for k in range(len(A)):
        row = rows[k]
        last[:] = row
    for k in reversed(range(len(A))):
        row = rows[k] - s * last
        last[:] = row
    return np.sum(last) * x[0]


def arrays_by_the_class_itself(x, A, s):
    rows = np.ndarray(A.shape, dtype=A.dtype)
    for k in range(len(A)):
        rows[k] = A[k] * s
    return np.sum(rows * x[0])


class Cart:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def is_far(self, limit):
        return abs(self.x) > limit

    def step(self, a):
        self.x += self.v * 0.1
        self.v += a * 0.1


def object_that_is_asked_and_changed(x, A, s):
    cart = Cart(s, s * s)
    if cart.is_far(99.0):
        return s
    for _ in range(3):
        cart.step(s - cart.v)
    return cart.x * x[0]


def object_that_is_asked_in_a_loop_and_changed(x, A, s):
    cart = Cart(s, s * s)
    seen = []
    for _ in range(3):
        limit = 0
        while cart.is_far(limit):
            limit += 1
        cart.step(x[0] - cart.v)
        seen.append(cart.x)
    return seen[-1] + sum(seen) * cart.v


def between_places(x, A, s):
    places = [0.0, 0.4 + s * s, 2.0 + s * s]
    heights = [s, s * s, x[0]]
    k = bisect.bisect(places, 0.3) - 1
    share = (0.3 - places[k]) / (places[k + 1] - places[k])
    return heights[k] + share * (heights[k + 1] - heights[k])


class Items:
    def __init__(self, v):
        self.v = v

    def __getitem__(self, k):
        return self.v[k]

    def __setitem__(self, k, value):
        self.v[k] = value

    def put(self, k, value):
        self.v[k] = value


def first_twice(v):
    v[0] = v[0] * 2.0
    return v[-1]


def sine_of_first(v):
    if len(v) == 0:
        return 0.0
    part = v
    for k in range(len(v)):
        if k < 1:
            part[k] = np.sin(part[k]) * 2.0 + part[k]
    return part[-1]


def written_through_a_class_that_holds_it(x, A, s):
    v = np.zeros(3)
    items = Items(v)
    for k in range(3):
        first_twice(v)
        items[k] += s
    v[0] += s
    return np.sum(v) * x[0]


def written_through_a_class_with_branches(x, A, s):
    v = np.zeros(3)
    items = Items(v)
    last = 0.0
    for k in range(3):
        last += sine_of_first(v)
        items[k] += s * s
    v[0] += s
    return np.sum(v) * x[0] + last


def written_through_a_method_until_a_break(x, A, s):
    v = np.zeros(3)
    items = Items(v)
    k = 0
    while True:
        first_twice(v)
        items.put(k, v[k] + s)
        k += 1
        if v[0] > 99.0 or k > 2:
            break
    v[0] += s
    return np.sum(v) * x[0]


def written_through_a_class_in_no_iteration(x, A, s):
    v = np.zeros(3)
    items = Items(v)
    for k in range(len(x), len(x)):
        first_twice(v)
        items[k] += s
    first_twice(v)
    v[0] += s
    return np.sum(v) * x[0]


def itself_or_doubled(v):
    if np.sum(v) > 0.5:
        return v * 2.0
    return v


def written_after_some_examples_gave_it_back(x, A, s):
    v = x * s
    w = itself_or_doubled(v)
    v *= s
    w[0] = 3.0 * s
    return [np.sum(w * x), np.sum(v * x)]


def real_parts_of_what_is_written_then(x, A, s):
    v = np.ones(3)
    w = np.real_if_close(v)
    v *= s
    return np.sum(w * x[0])


def popped_in_a_test_that_is_known(x, A, s):
    k = [1.0 + 0.3 * j for j in range(4)]
    if 2 < k.pop(1) <= s:
        s = s * 2
    y = s if k.pop() < 9 else x[0]
    return y + s * sum(k)


def counting():
    n = 0

    def following():
        nonlocal n
        n += 1
        return None if n < 9 else n

    return following


def nothing_from_what_is_not_followed(x, A, s):
    following = counting()
    k = [s for _ in range(3)]
    k[1] = following() or x[0]
    v = following()
    return (k.append(s * 2) or k[-1]) * (v or s) + k[1]


class Pair:
    def __init__(self, v, w):
        self.v = v
        self.w = w

    def both(self):
        return [self.v, self.w]


def updated_in_a_list_that_a_method_gives(x, A, s):
    pair = Pair(x * 1.0, x * 2.0)
    if s < 99:
        pair.both()[0] += x * s
    return pair.v.sum() * pair.v[0]


def two_functions_in_one_line(x, A, s):
    y = x.sum()
    for near in (lambda z: z < 0.5, lambda z: z > 0.5):
        y = y + near(x[0]) * s
    for of in (lambda z: z * z, lambda z: z * s):
        y = y + of(x[0])
    return y


def function_that_compares_and_is_not_called(x, A, s):
    near = lambda z: s <= z  # noqa: E731, F841
    first, *rest = x
    return first * s


WEIGHTS = np.array([0.5, -1.1, 0.8])


class Halving:
    def __init__(self, total):
        self.total = total
        self.calls = 0

    def add(self, u):
        self.calls += 1
        self.total = self.total * 0.5 + u
        return self.total


def one_value_in_two_places(x, A, s):
    d = {"a": s, "b": 0.5, "c": s * s}
    t = Halving(s)
    if t.add(s):
        d["c"] = d["b"] = t.add(x[-1])
    total = np.sum(x * WEIGHTS[: len(x)]) + s * 1.7 + sum(d.values()) + s
    return total + [s, -0.3, 0.7][-1]


def read_before_its_list_grows(x, A, s):
    k = [s for _ in range(4)]
    k[2] *= k.append(1.0) or x.sum()
    return sum(k) + k[2]


def read_after_a_recursion_wrote_it(x, A, s):
    return doubled_and_read(x * s, 3)


def read_behind_the_call(x, A, s):
    v = x * s
    return doubled(v, 3) * v[0]


FOUND = [
    updated_in_a_list_that_a_method_gives,
    two_functions_in_one_line,
    function_that_compares_and_is_not_called,
    popped_in_a_test_that_is_known,
    nothing_from_what_is_not_followed,
    written_through_a_class_that_holds_it,
    written_through_a_class_with_branches,
    written_through_a_method_until_a_break,
    written_through_a_class_in_no_iteration,
    between_places,
    loops_that_never_run,
    one_item_by_two_indices,
    array_times_a_list_of_constants,
    nothing_but_what_never_is,
    assigned_before_a_break,
    bound_again_after_an_exception,
    taken_off_in_branches,
    view_bound_again_in_a_loop,
    view_of_one_of_two_arrays,
    array_made_anew_in_a_loop,
    arrays_in_two_containers,
    argument_bound_to_what_is_written,
    items_set_by_a_class,
    argument_of_another_shape_in_a_loop,
    converted_once_from_a_string,
    part_of_itself_in_a_branch,
    part_of_itself_in_a_loop,
    asked_by_a_conversion,
    number_spread_in_branches,
    asked_by_some_examples,
    asked_in_a_condition,
    bound_inside_a_condition,
    bound_in_a_branch_of_an_expression,
    written_by_a_recursion,
    helper_of_the_name_of_ours,
    mean_of_a_changed_row,
    changed_without_axes,
    copied_by_a_keyword,
    memory_of_a_helper_for_each_call,
    arrays_by_the_class_itself,
    object_that_is_asked_and_changed,
    object_that_is_asked_in_a_loop_and_changed,
    read_after_a_recursion_wrote_it,
    read_behind_the_call,
]


def doubled_and_read(v, k):
    if k == 0:
        return v.sum()
    v[0] *= v[-1]
    return doubled_and_read(v, k - 1) + v[0]


def bound_in_a_comprehension(x, A, s):
    if any((t := e * s) > -99 for e in x):
        return t
    return s


REFUSED = {
    bound_in_a_comprehension: "`:=` in a loop inside of an expression",
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_refused(program):
    with pytest.raises(UnsupportedError, match=REFUSED[program]):
        srcjax.grad(program, (0, 1, 2))(*arguments(0, 3))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("program", FOUND, ids=lambda f: f.__name__)
def test_found(program, n):
    verdicts = {"grad": judge(program, 0, n)}
    assert verdicts["grad"][0] == "right", verdicts
    if n > 1:
        verdicts |= judge_modes(program, 0, True, n)
    verdicts["vmap"] = judge_vmap(program, 0, n)
    verdicts["float32"] = judge_float32(program, 0, n)
    assert {v for v, _ in verdicts.values()} <= {"right", "refused"}, verdicts


def test_a_partial_of_a_function_that_calls_itself():
    x = arguments(0, 3)[0]
    np.testing.assert_allclose(srcjax.grad(halves)(x), 1.5 * x**2)
    batch = np.stack([x, 2 * x])
    np.testing.assert_allclose(srcjax.vmap(halves)(batch), [*map(halves, batch)])


class Count:
    n = 1.5


def test_a_tangent_as_large_as_a_value_of_unknown_shape():
    """`np.shape` of a batch, in a value that is the same for all examples."""

    def f(x, s):
        return s + Count().n

    def tangent(x, s):
        return srcjax.jvp(f, (x, s), (np.ones(3), 0.5))[1]

    got = srcjax.vmap(tangent)(np.ones((3, 3)), np.ones(3))
    assert np.array_equal(got, np.full(3, 0.5))


def test_a_pullback_is_called_twice():
    """Adjoints that the forward sweep makes start from zero in each backward sweep."""
    x, A, s = arguments(0, 3)
    expected = srcjax.grad(view_bound_again_in_a_loop, (0, 1, 2))(x, A, s)
    _, pullback = srcjax.vjp(view_bound_again_in_a_loop, x, A, s)
    for _ in range(2):
        for got, want in zip(pullback(1.0), expected, strict=True):
            np.testing.assert_allclose(got, want)


def grad_of_same_name(x):
    return x * 2


def of_same_name(x):
    return np.sum(grad_of_same_name(5.0) * x)


def test_a_function_of_the_users_is_called_as_the_gradient_is():
    gradient = srcjax.grad(of_same_name)
    np.testing.assert_array_equal(gradient(np.ones(2)), [10.0, 10.0])
    inner = lambda z: np.sum(2 * z)  # noqa: E731 (two functions of one name)
    outer = lambda z: np.sum(srcjax.grad(inner)(z) * 3.0)  # noqa: E731
    np.testing.assert_array_equal(srcjax.grad(outer)(np.ones(2)), [0.0, 0.0])


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f", [written_after_some_examples_gave_it_back, real_parts_of_what_is_written_then]
)
def test_what_a_function_gives_back_is_written_by_its_caller(f):
    """For each example it is another array: one that the caller holds, or a new one."""
    x, A, s = arguments(0, 3)
    xs, numbers = np.stack([x, -x, 2 * x]), np.array([s, 0.5, -2.0])
    got = srcjax.vmap(f, (0, None, 0))(xs, A, numbers)
    expected = [f(x, A, s) for x, s in zip(xs, numbers, strict=True)]
    np.testing.assert_allclose(np.transpose(got), expected)


def signed_where_it_is_inside(x):
    value = np.hypot(x, x - 3.0)
    try:
        inside = np.asarray(x < 1.0)
        if inside.any():
            value[inside] = -value[inside]
    except (TypeError, AttributeError):
        value = -value
    return x * 2.0, value


@pytest.mark.parametrize("x", [np.asarray(2.0), np.array([2.0, 0.5])])
def test_the_adjoint_of_an_array_of_any_rank_starts_as_a_number(x):
    """Where the value may be written to on one of the ways to it."""
    f = lambda x: np.sum(signed_where_it_is_inside(np.asarray(x))[1])  # noqa: E731
    step = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.sum(srcjax.grad(f)(x)), step, rtol=1e-6)


def filled(x, value=np.nan):
    y = np.full_like(x, value)
    y[:2] = x[:2] * 2
    return np.nansum(y)


def test_a_default_without_a_text():
    batch = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = srcjax.vmap(lambda x: filled(x) * 2)(batch)
    np.testing.assert_array_equal(found, [12.0, 36.0])
    gradient = srcjax.grad(lambda x: functools.partial(filled, value=np.inf)(x[:2]))
    np.testing.assert_array_equal(gradient(batch[0]), [2.0, 2.0, 0.0])


def written_through_a_display_of_a_dict(x, s):
    m = x * s
    d = {k: m for k in "ab"}
    {**d}["a"][0] = 2.0
    {"c": x, **d}["b"][1:] *= s
    return np.sum(m) + {**d}["a"][0] * s + {"c": x, **d}["b"][-1]


def test_a_display_of_a_dict_holds_what_the_dict_holds():
    """Where no type tells which keys it has."""
    f, x, step = written_through_a_display_of_a_dict, np.array([0.5, -2.0, 1.5]), 1e-6
    slope = (f(x, 1.3 + step) - f(x, 1.3 - step)) / (2 * step)
    value, change = srcjax.jvp(f, (x, 1.3), (np.zeros(3), 1.0))
    np.testing.assert_allclose([value, change], [f(x, 1.3), slope], rtol=1e-8)
    found = srcjax.vmap(f)(np.stack([x, -x]), np.array([1.3, 0.7]))
    np.testing.assert_allclose(found, [f(x, 1.3), f(-x, 0.7)])


@pytest.mark.parametrize(
    "f",
    [
        # Two statements have one node, `t`, and its new name is another's old one.
        one_value_in_two_places,
        updated_in_a_list_that_a_method_gives,
    ],
)
def test_found_in_kernels(f):
    args = arguments(0, 3)
    with kernels_as_python():
        found = srcjax.jit(f)(*args)
    np.testing.assert_allclose(found, f(*args))


def test_a_call_that_changes_a_list_inside_of_a_derivative_of_a_derivative():
    x, A, s = arguments(0, 3)
    along = lambda s: srcjax.jvp(  # noqa: E731
        lambda s: read_before_its_list_grows(x, A, s), (s,), (1.0,)
    )[1]
    f = lambda s: s * s * along(s)  # noqa: E731
    step = (f(s + 1e-6) - f(s - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(s), step, rtol=1e-6)


def first_above(x, s):
    while True:
        for v in x:
            if v > s:
                return v * s
        s = s * 0.5


def test_a_loop_that_was_left_is_gone_through_backwards_as_often():
    """The index is not read on the way back, so that no range says how often."""
    x, s = np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.2], [0.3, 0.7, 0.6]]), np.ones(3)
    found = srcjax.grad(lambda s: np.sum(srcjax.vmap(first_above)(x, s)))(s * 0.8)
    np.testing.assert_allclose(found, [0.25, 0.9, 0.35])


def without_a_part(x):
    items = [x[0], x[1], x[2], x[0] * x[1]]
    middle = slice(1, 3)
    del items[middle]
    return items[0] * items[1]


def test_a_part_of_a_list_that_is_a_slice_is_deleted():
    found = srcjax.grad(without_a_part)(np.array([2.0, 5.0, 7.0]))
    np.testing.assert_array_equal(found, [20.0, 4.0, 0.0])


def unpacked_from_a_list_of_arrays(x, s):
    pair = Pair(x * s, x * 2.0)
    v, w = pair.both()
    pair.v *= s
    return v.sum() + w[0]


def written_in_a_list_in_a_list(x, s):
    v = x * s
    rows = [[np.tanh(v), v], "name"]
    np.multiply(v, s, out=rows[0][-1])
    return v.sum() + rows[0][0].sum()


def written_in_copies_of_a_list(x, s):
    v = x * s
    rows = [v, v * 2.0]
    rows.copy()[1] *= 2.0
    list(rows)[0][1:] += s
    rows[::-1][-1][0] = s
    tuple(rows)[0][2] *= s
    return v.sum() + rows[1].sum()


def written_in_a_dict_of_pairs(x, s):
    v = x * s
    held = dict(zip("ab", [v, x], strict=True))
    held.get("a")[1] = s * s
    held.copy()["a"][0] *= s
    return v.sum() + held["b"].sum()


def held_twice_after_a_write(x, s):
    v = x * s
    v[0] = 3.0
    total = x[0] * s
    for w in [v, v]:
        total = total + (w * w).sum()
    return total + sum(w.sum() for w in {"a": v, "b": v}.values())


def rows_unpacked_and_written(x, s):
    m = np.array([x, x * s])
    v, w = m
    v[0] = s
    w *= v
    return m.sum()


def times_in_place(v, k):
    v *= k
    return v


def read_before_a_call_that_writes(x, s):
    v = x * s
    v[1] -= times_in_place(v, x * s)[1]
    return v.sum()


@pytest.mark.parametrize(
    "f",
    [
        held_twice_after_a_write,
        read_before_a_call_that_writes,
        rows_unpacked_and_written,
        unpacked_from_a_list_of_arrays,
        written_in_a_list_in_a_list,
        written_in_copies_of_a_list,
        written_in_a_dict_of_pairs,
    ],
)
def test_arrays_in_containers_are_written(f):
    x, s, step = np.array([0.4, -0.7, 1.2]), 1.3, 1e-6
    expected = (f(x, s + step) - f(x, s - step)) / (2 * step)
    np.testing.assert_allclose(srcjax.grad(f, 1)(x, s), expected, rtol=1e-7)
    change = srcjax.jvp(f, (x, s), (np.zeros(3), 1.0))[1]
    np.testing.assert_allclose(change, expected, rtol=1e-7)


def list_in_a_dict_replaced_after_it_grew(x):
    d = {"p": [x * 2, x], "q": 1.0}
    d["p"].append(x * x)
    d["p"] = d["p"].pop()
    return d["p"].sum()


def first_and_rest_of_what_gives_items_once(x):
    a, *more = zip(x, x[::-1], strict=True)
    b, *rest = reversed([x[0], x[1] * 2, x[2]])
    c, *others = {"a": x * x, "b": x}.values()
    return a[1] * more[0][0] + b * rest[0] + c[0] * others[0][1]


@pytest.mark.parametrize(
    ("f", "gradient"),
    [
        (list_in_a_dict_replaced_after_it_grew, [4.0, 10.0, 14.0]),
        (first_and_rest_of_what_gives_items_once, [20.0, 7.0 + 14.0 + 4.0, 15.0]),
    ],
)
def test_items_of_containers(f, gradient):
    x = np.array([2.0, 5.0, 7.0])
    np.testing.assert_allclose(srcjax.grad(f)(x), gradient)
    np.testing.assert_allclose(srcjax.jvp(f, (x,), (np.ones(3),))[1], sum(gradient))


@dataclasses.dataclass
class Doubling:
    a: np.ndarray
    b: float = 2.0

    def __post_init__(self):
        self.b = self.b * 2


def replaced_in_what_is_not_only_its_fields(x):
    held = Doubling(x, x[0])
    other = dataclasses.replace(held, a=x * 2)
    return held.b * other.a.sum() + other.b


def test_a_dataclass_with_more_to_do_is_replaced():
    found = srcjax.grad(replaced_in_what_is_not_only_its_fields)(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(found, [4 * 2 + 4 * 5 + 4, 4 * 2])


POLYNOMIAL = np.poly1d([1.0, 2.0])


def test_an_object_of_numpys_is_called():
    """It has no hash, by which functions are looked up."""
    assert srcjax.grad(lambda x: POLYNOMIAL(x) * x)(3.0) == 8.0
    assert srcjax.grad(lambda x: x * POLYNOMIAL(2.0))(1.0) == 4.0


def written_through_a_row_of_names(x):
    pair = (x, x)
    (*pair, 1.0)[1][...] = x * x[0]
    return np.sum(x * x)


def written_as_an_item_of_records(x):
    a = np.zeros(3, dtype=[("place", float), ("speed", float)])
    a["place"] = x
    a[0]["speed"] = x[2]
    for record in a:
        record["place"] += record["speed"]
    return np.sum(a["place"] * a["speed"])


def summed_where_there_are_no_axes(x):
    total = np.array(x[0])
    total += x[1]
    total[...] *= x[2]
    return total.item()


def one_of_two_patterns_that_bind(x):
    def area(shape):
        match shape:
            case ["square", a] | ["of", a, _]:
                return a * a
            case (shape, a):  # the name of what is matched
                return a * len(shape)

    return area(["of", x[0], x[1]]) * area(["square", x[2]]) + area(("rod", x[1]))


@pytest.mark.parametrize(
    "f",
    [
        written_through_a_row_of_names,
        written_as_an_item_of_records,
        summed_where_there_are_no_axes,
        one_of_two_patterns_that_bind,
    ],
)
def test_changes_of_what_names_reach(f):
    x = np.array([2.0, 5.0, 7.0])
    value, change = srcjax.jvp(f, (x.copy(),), (np.ones(3),))
    high, low = f(x + 1e-6), f(x - 1e-6)
    np.testing.assert_allclose(value, f(x.copy()))
    np.testing.assert_allclose(change, (high - low) / 2e-6, rtol=1e-6)


def test_polynomials_side_by_side():
    """`np.polyval(p, 0.3)` has a value for each column of `p`."""

    def f(x):
        return np.polyval(x, 0.3) + np.diff(x, append=x[0]).prod()

    batch = np.array([[2.0, 5.0, 7.0], [3.0, 4.0, 1.0]])
    found = srcjax.vmap(srcjax.grad(f))(batch)
    np.testing.assert_allclose(found, [srcjax.grad(f)(x) for x in batch])
    powers = np.repeat([[0.09], [0.3], [1.0]], 2, axis=1)
    columns = srcjax.grad(lambda p: np.sum(np.polyval(p, 0.3) * 2.0))(batch.T)
    np.testing.assert_allclose(columns, 2 * powers)
