"""Tuples, lists, dicts and sets: built, unpacked, changed, looped over."""

import itertools
import operator
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import NamedTuple

import numpy as np

from .registry import normal, program

Point = namedtuple("Point", ["x", "y"])


@program(0.5, 1.5)
def tuple_built_and_indexed(x, y):
    pair = (x * y, x + y)
    return pair[0] / pair[1] + pair[-1]


@program((0.5, 1.5))
def tuple_argument(pair):
    x, y = pair
    return x * np.sin(y)


@program([0.5, 1.5, 2.5])
def list_argument(values):
    total = 0.0
    for value in values:
        total += value**2
    return total * values[0]


@program({"weight": 0.5, "bias": normal(3)})
def dict_argument(params):
    return np.sum(np.tanh(params["weight"] * params["bias"])) + params["weight"]


@program(
    {"layers": [(normal(2, 3), normal(3)), (normal(3, 1), normal(1))], "gain": 2.0}
)
def nested_argument(params):
    x = np.array([0.3, -0.4])
    for weights, bias in params["layers"]:
        x = np.tanh(x @ weights + bias)
    return params["gain"] * x[0]


@program(Point(0.5, 1.5))
def namedtuple_argument(point):
    return point.x**2 * point.y + point[1]


@program(0.5, 1.5, 2.5)
def starred_unpacking(x, y, z):
    first, *rest = [x, y * 2, z]
    *start, last = rest
    return first * last + start[0] ** 2


@program(0.5, 1.5, 2.5)
def nested_unpacking(x, y, z):
    (a, b), [c, d] = (x, y), [z, x]
    return a * b + c * d


@program(0.5, 1.5)
def tuple_concatenated_and_repeated(x, y):
    values = (x, y) + (x * y,) * 2
    total = 0.0
    for value in values:
        total = total * 2 + value
    return total


@program(0.5, 1.5)
def starred_list_display(x, y):
    pair = [x, y]
    values = [*pair, x * y, *pair]
    return values[2] * sum(values)


@program(normal(4))
def list_comprehension(x):
    squares = [value**2 for value in x]
    return squares[0] * squares[1] + sum(squares)


@program(normal(5))
def comprehension_with_condition(x):
    return sum([value**3 for value in x if value > 0])


@program(normal(3), normal(2, seed=1))
def comprehension_with_two_loops(x, y):
    products = [a * b for a in x for b in y if a != b]
    return sum(p * p for p in products)


@program(normal(3))
def nested_comprehension(x):
    table = [[a * b for a in x] for b in x]
    return table[0][1] + table[2][2] * table[1][0]


@program(0.7)
def dict_comprehension(x):
    powers = {k: x**k for k in range(1, 5)}
    return powers[2] * powers[4] + sum(powers.values())


@program(normal(4))
def generator_expression(x):
    return sum(value * i for i, value in enumerate(x)) ** 2


@program(0.7)
def set_comprehension_of_integers(x):
    powers = {k % 3 for k in range(10)}
    return sum(x**k for k in sorted(powers))


@program(normal(4))
def comprehension_to_array(x):
    return np.array([np.sin(v) * v for v in x]) @ x


@program(0.8)
def list_append(x):
    values = []
    for k in range(4):
        values.append(x**k)
    return values[1] * values[3] + values[2]


@program(0.8)
def list_append_reads_last(x):
    values = [x]
    for _ in range(4):
        values.append(np.sin(values[-1]) * 1.2 + x)
    return values[-1] * values[1]


@program(0.8, 0.3)
def list_extend_and_insert(x, y):
    values = [x, y]
    values.extend([x * y, x + y])
    values.insert(1, y**2)
    values += [x - y]
    return values[1] * values[3] + values[4] * values[5]


@program(0.8, 0.3)
def list_pop(x, y):
    stack = [x, y, x * y]
    top = stack.pop()
    bottom = stack.pop(0)
    return top * bottom + stack[0]


@program(0.8, 0.3)
def list_item_assigned(x, y):
    values = [x, y, 1.0]
    values[0] = values[0] * y
    values[2] += x
    values[1], values[2] = values[2], values[1]
    return values[0] * values[1] - values[2]


@program(0.8, 0.3)
def list_slice_and_delete(x, y):
    values = [x, y, x * y, x + y]
    del values[1]
    tail = values[1:]
    values.reverse()
    return tail[0] * values[0] + tail[1] ** 2


@program(0.8)
def list_alias(x):
    first = [x, 2.0]
    second = first
    second.append(x * x)
    second[0] = 3.0
    return first[0] * first[2]


@program(0.8)
def list_copy_does_not_alias(x):
    first = [x, 2.0]
    second = first[:]
    third = list(first)
    second[0] = 3.0
    third.append(x)
    return first[0] * second[0] + third[2] * first[1]


@program(1.8, 0.3)
def dict_built_and_changed(x, y):
    scores = {"a": x, "b": y}
    scores["c"] = scores["a"] * scores["b"]
    scores["a"] = x**2
    scores["b"] += x
    return scores["a"] + scores["b"] * scores["c"]


@program(1.8, 0.3)
def dict_get_and_setdefault(x, y):
    table = {"x": x}
    first = table.get("y", y)
    second = table.setdefault("z", x * y)
    third = table.get("x", 0.0)
    return first * second + third * table["z"]


@program({"a": 0.4, "b": 1.4, "c": 2.4})
def dict_items(params):
    total = 0.0
    for name, value in params.items():
        if name != "b":
            total = total + value**2
        else:
            total = total * value
    return total


@program({"a": 0.4, "b": 1.4, "c": 2.4})
def dict_values_and_keys(params):
    total = 0.0
    for key in params:
        total = total + params[key] ** 2
    for value in params.values():
        total = total * value
    for key in sorted(params.keys(), reverse=True):
        total = total - params[key]
    return total


@program({"w": 0.4, "b": 1.4}, {"w": 0.1, "b": 0.2})
def dict_mapped_to_dict(params, gradients):
    """One step of gradient descent, with a dict in and a dict out."""
    return {name: params[name] - 0.1 * gradients[name] for name in params}


@program(0.4, 1.4)
def dict_update_and_merge(x, y):
    settings = {"rate": x, "decay": y}
    settings.update(rate=x * y, power=x + y)
    merged = {**settings, "decay": x**2} | {"extra": y}
    return merged["rate"] * merged["decay"] + merged["power"] * merged["extra"]


@program(0.4, 1.4)
def dict_with_tuple_keys(x, y):
    cost = {(0, 0): x, (0, 1): y, (1, 0): x * y}
    cost[1, 1] = cost[0, 1] + cost[1, 0]
    return cost[1, 1] * cost[0, 0]


@program(normal(6))
def dict_of_lists(x):
    groups = {"even": [], "odd": []}
    for i in range(len(x)):
        groups["odd" if i % 2 else "even"].append(x[i] ** 2)
    return sum(groups["even"]) * sum(groups["odd"])


@program(normal(6))
def default_dict_of_sums(x):
    totals = defaultdict(float)
    for i in range(len(x)):
        totals[i % 3] += x[i] * i
    return totals[0] * totals[1] + totals[2]


@program(normal(5))
def window_of_a_deque(x):
    window = deque(maxlen=2)
    total = 0.0
    for value in x:
        window.append(value)
        total += window[0] * window[-1]
    return total


@program([(0.4, 1.4), (0.6, 1.6)])
def list_of_tuples(pairs):
    total = 1.0
    for k, (a, b) in enumerate(pairs):
        total = total * (a * b + k)
    return total


@program([0.4, 1.4], [0.6, 1.6])
def zip_of_lists(left, right):
    return [a * b + a for a, b in zip(left, right, strict=True)]


@program([0.4, 1.4, 2.4])
def unzipped(values):
    pairs = [(value, value**2) for value in values]
    firsts, seconds = zip(*pairs, strict=True)
    return sum(firsts) * seconds[2]


@program([1.4, 0.4, 2.4])
def sorted_and_reversed(values):
    ordered = sorted(values)
    total = 0.0
    for weight, value in zip([1.0, 2.0, 3.0], reversed(ordered), strict=True):
        total += weight * value**2
    return total


@program([1.4, 0.4, 2.4])
def sorted_by_key(values):
    names = ["a", "b", "c"]
    order = sorted(range(3), key=lambda i: values[i])
    best = max(zip(values, names, strict=True))[0]
    return values[order[0]] * best + values[order[1]] ** 2


@program(0.4, 1.4)
def nested_structure_of_results(x, y):
    return {"sum": x + y, "parts": [x * x, (y, x * y)]}


@program(normal(3))
def tuple_of_arrays_result(x):
    return np.sin(x), [x.sum(), x * x]


@program(0.4, 1.4)
def length_and_membership(x, y):
    values = [x, y, x + y]
    names = ("x", "y")
    total = len(values) * x
    if "y" in names and len(names) == 2:
        total = total * y
    return total


@program(0.4)
def any_and_all_on_lists(x):
    values = [x - 1, x, x + 1]
    if any(v > 1 for v in values) and not all(v > 0 for v in values):
        return values[0] * values[2]
    return values[1]


@program(0.6)
def memo_table(x):
    memo = {0: 1.0, 1: x}
    for n in range(2, 6):
        memo[n] = 2 * x * memo[n - 1] - memo[n - 2]
    return memo[5] + memo[3]


@program(0.6)
def table_of_lists(x):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = x ** (i + j) + (table[i - 1][j] if i else 0.0)
    return table[2][2] + table[1][0] * table[0][2]


@program(normal(3))
def named_tuple_made_inside(x):
    centre = Point(x[0] * 2, y=x[1])
    moved = centre._replace(x=x[2])
    horizontal, vertical = moved
    return horizontal * centre.x + vertical**2


@program([1.1, 2.0, 0.5])
def sorted_with_key_and_reverse(x):
    values = [x[0] * x[1], x[1], x[2] ** 2]
    total = 0.0
    for i, value in enumerate(sorted(values, reverse=True)):
        total = total + (i + 1.0) * value**2
    best = min(values, key=lambda v: -v * x[0])
    return total + best**3 + max((v * 2 for v in values), default=0.0)


@program([1.1, 2.0, 0.5])
def sorted_pairs_unzipped(x):
    pairs = [(value, i) for i, value in enumerate(x)]
    pairs = sorted(pairs, key=lambda p: (p[0], p[1]))
    first, second = zip(*pairs, strict=True)
    largest = max(zip(x, range(3), strict=True))
    weighted = sum(v * k for v, k in zip(first, second, strict=True))
    return first[0] * first[1] ** 2 + weighted + largest[0]


@program([1.1, 2.0, 0.5])
def sorted_dict(x):
    table = {"b": x[0], "a": x[1] * x[0], "c": x[2]}
    total = 0.0
    for i, key in enumerate(sorted(table)):
        total = total + table[key] * (i + 1)
    for i, (_, value) in enumerate(sorted(table.items())):
        total = total + value**2 * (i + 1)
    named = dict(zip(["p", "q"], x))  # noqa: B905
    return total * table[max(table, key=table.get)] + named["p"] * named["q"]


@program([1.1, 2.0, 0.5])
def iterators_in_variables(x):
    squares = map(lambda v: v * v, x)
    pairs = zip(x, [1.0, 2.0, 3.0], strict=True)
    total = sum(squares)
    for a, b in pairs:
        total = total + a * b * total
    large = list(filter(lambda v: v > 0.9, x))
    columns = list(zip(*[(v, v * v) for v in x], strict=True))
    backwards = list(reversed(large))
    return total + sum(large) * columns[1][0] * backwards[0]


@program(normal(2, 4))
def columns_looped_over(x):
    rows = [np.split(part, 2, axis=-1) for part in np.split(x, 2, axis=-1)]
    total = np.zeros((2, 1))
    for i, (a, b) in enumerate(zip(*rows, strict=False)):
        total = total + (i + 1) * a * b
    return [np.sum(p * np.sin(q)) for p, q in zip(*rows, strict=False)], total


AFFINE = {"slope": np.array([0.5, -1.5]), "offset": 0.3}
LIMITS = (0.1, 0.9)


def line(x, offset, slope):
    return slope * x + offset


def clamped(x, low, high):
    return low + (high - low) / (1 + np.exp(-x))


@program(normal(2))
def keywords_from_around(x):
    return clamped(line(x, **AFFINE), *LIMITS)


@program([1.1, 2.0, 0.5], jax=False)
def iterators_taken_as_they_come(x):
    total = 1.0
    for v, k in zip(x, itertools.count(1)):  # noqa: B905
        total = total + k * v * v
    for k, members in itertools.groupby(range(3), key=lambda i: i // 2):
        total = total * (k + sum(x[i] for i in members))
    places = iter([0, 2, 1, 0])
    for i in places:
        total = total * x[i] + x[next(places)]
    return total


@program([1.1, 2.0, 0.5])
def items_deleted_and_inserted(x):
    values = [v * 1.0 for v in x]
    del values[1]
    values.insert(0, x[1] * x[2])
    last = values.pop(-2)
    del values[0:1]
    values.extend([last, last * 2])
    del values[-1:]
    return sum(v * (i + 1) for i, v in enumerate(values))


@program([1.1, 2.0, 0.5])
def deleted_items_are_needed_again(x):
    values = list(x)
    total = 0.0
    for i in range(3):
        total = total + values[0] * values[-1] * (i + 1)
        values.append(values[0] * values[0])
        del values[0]
    while len(values) > 1:
        total = total * values[0]
        del values[:1]
    return total


@program([1.1, 2.0, 0.5])
def arrays_deleted_from_a_list(x):
    values = [np.array([v, v * v]) for v in x]
    del values[0]
    values.reverse()
    return (values[0] * values[1]).sum()


@program([1.1, 2.0, 0.5])
def list_sorted_in_place(x):
    values = list(x)
    values.sort(reverse=True)
    values.remove(values[1])
    again = values
    again.sort(key=abs)
    table = {}
    table.setdefault("a", x[0])
    table.setdefault("a", x[1])
    return values[0] * again[1] ** 2 * table.setdefault("b", x[2]) * table["a"]


@program([1.1, 2.0, 0.5])
def deque_of_three(x):
    window = deque([x[0], x[1]], maxlen=3)
    total = 0.0
    for i in range(3):
        window.append(window[0] * x[i])
        total = total + sum(window) + len(window) * window[-1]
    window.appendleft(total)
    while len(window) > 1:
        value = window.popleft()
        window[0] = window[0] + value * value * 0.01
    return window.pop()


@program([1.1, 2.0, 0.5])
def default_dicts(x):
    lists = defaultdict(list)
    sums = defaultdict(float)
    for i in range(6):
        lists[i % 2].append(x[i % 3] * i)
        sums[i * i % 3] += x[i % 3] ** 2
    total = sums[7] + 1.0
    for key, values in lists.items():
        total = total + sum(values) * (key + 1)
    for value in sums.values():
        total = total + value**2
    return total * len(sums)


@program([1.1, 2.0, 0.5])
def lists_by_setdefault(x):
    groups = {}
    for i in range(3):
        groups.setdefault(i % 2, []).append(x[i] ** 2)
    return sum(groups[0]) * sum(groups[1])


@program(np.array([1.1, 2.0, 0.5]))
def loop_over_its_own_name(x):
    total = 0.0
    for x in x:  # noqa: B020
        total = total + x**2
    return total * x


@program(normal(3))
def popped_at_both_ends(x):
    xs = []
    for i in range(3):
        xs.append(x[i] * x[i])
    last = xs.pop()
    first = xs.pop(0)
    return last * first


@program(normal(3))
def popped_after_an_item_changed(x):
    rows = []
    for i in range(3):
        rows.append(x * x[i])
    last = rows.pop()
    rows[0] = rows[0] * 2
    return last * rows.pop(0)


@program(normal(3))
def reduced_to_one_by_popping(x):
    rows = []
    for i in range(3):
        rows.append(x * x[i])
    while len(rows) > 1:
        row = rows.pop(0)
        rows[0] = rows[0] * row
    return rows.pop()


@program(1.3)
def counted_in_a_dict(x):
    seen = {}
    for letter in "abracadabra":
        seen[letter] = seen.get(letter, 0.0) * x + 1.0
    return seen["a"] * seen["b"]


@program(1.3, 0.4)
def added_up_in_a_dict(x, y):
    total = {}
    for key, value in (("u", x), ("v", x * y), ("u", y * 3)):
        total[key] = total.get(key, 0.0) + value
    return total["u"] * total["v"]


@program(normal(3), jax=False)
def flows_along_links(x):
    links = {"a": ["b"], "b": ["a", "c"], "c": ["a"]}
    held = {name: x[i] for i, name in enumerate(sorted(links))}
    for _ in range(2):
        new = {name: 0.1 for name in links}
        for name, others in links.items():
            for other in others:
                new[other] += 0.5 * held[name] ** 2 / len(others)
        held = new
    return held["a"] * held["c"]


@program(normal(3))
def dict_copied_with_changes(x):
    held = OrderedDict([("a", x[0] * 2.0), ("b", x[1] ** 2)])
    held["c"] = x[2]
    other = dict(held, b=x[0] * x[2])
    third = dict(other)
    third["a"] = third["a"] * held["b"]
    total = 0.0
    for v in third.values():
        total = total * v + v
    return total * other["a"] * held["b"]


class Interval(NamedTuple):
    low: float
    high: float


@program(normal(3))
def named_tuple_by_field_and_in_a_loop(x):
    q = Interval(x[0], x[1])
    for _ in range(2):
        q = q._replace(low=q.low * q.high, high=q.low + q.high)
    total = q.low * q.high
    for v in q:
        total = total + v * v * x[2]
    return total * sum(Interval(x[2], q.low))


@program(np.array([1.3, -0.7]))
def rows_filled_and_cleared(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] + x[j]
    for i in range(2):
        rows[i][i] = 0.0
    return rows[0][1] * 3 + rows[1][1] + rows[1][0] ** 2


@program(np.array([1.3, -0.7]))
def rows_of_rows(x):
    table = [[[0.0] * 2 for _ in range(2)] for _ in range(2)]
    for i in range(2):
        for j in range(2):
            table[i][j][1] = x[i] * x[j] ** 2
    table[0][0][0] = x[1]
    return table[1][0][1] * table[0][1][1] + table[0][0][0] + table[1][1][0]


@program(np.array([1.3, -0.7]))
def rows_filled_in_branches(x):
    rows = [[1.0] * 2 for _ in range(2)]
    for i in range(2):
        if x[i] > 0:
            rows[i][1] = x[i] ** 2
        else:
            rows[1 - i][0] = x[i] ** 3
    return rows[0][0] * rows[0][1] + rows[1][1]


@program(np.array([0.5, 1.2, -0.8]))
def array_and_counter_in_a_dict(x):
    state = {"buffer": np.zeros(3), "count": 0}

    def push(v):
        state["buffer"][state["count"]] = v
        state["count"] += 1

    for v in x:
        push(v**2)
    return (state["buffer"] * x).sum() * state["count"]


@program(normal(3))
def dict_updated_by_pairs(x):
    kept = {"a": x[0]}
    kept.update([("b", x[1] ** 2)])
    kept |= [("a", x[2])]
    return kept["a"] * kept["b"]


@program(normal(3))
def dict_updated_by_a_dict_of_any_keys(x):
    kept = {"a": x[0]}
    kept |= dict(zip("bc", x[1:], strict=True))
    for i in range(2):
        kept |= {"a": kept["a"] * x[i]}
    return kept["a"] * kept["b"] + kept["c"]


@program(normal(3))
def dict_of_keywords(x):
    first = dict(a=x[0] ** 2, b=1.0)
    second = first | dict(b=x[1])
    return sum(second.values()) ** 2 + dict(first, c=x[2])["c"]


@program(normal(4), jax=False)
def stack_of_a_calculator(x):
    """Nothing is taken from the stack before the loop has put it there."""
    operators = {"+": operator.add, "*": operator.mul, "-": operator.sub}
    stack = []
    for token in "0 1 + 2 * 3 - 0 *".split():
        if token in operators:
            right, left = stack.pop(), stack.pop()
            stack.append(operators[token](left, right))
        else:
            stack.append(x[int(token)])
    return stack.pop()
