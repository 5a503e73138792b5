"""Code beside the differentiated values, that has to run untouched."""

import collections
import datetime
import itertools
import json
import re
import string

import numpy as np

from .registry import normal, program


@program(0.7, "Sin(x) + COS")
def string_handling(x, text):
    words = text.lower().replace("(x)", "").split(" + ")
    title = "-".join(word.title() for word in words)
    if title == "Sin-Cos" and text[:3].isalpha():
        return np.sin(x) * len(words)
    return x


@program(0.7)
def regular_expression(x):
    found = re.match(r"(\w+)=(\d+)", "power=3")
    name, power = found.groups()
    assert name == "power"
    return x ** int(power)


@program(0.7, '{"scale": 2.5, "steps": [1, 2, 3]}')
def settings_from_json(x, text):
    settings = json.loads(text)
    for step in settings["steps"]:
        x = x * settings["scale"] / step
    return x


@program(0.7)
def generator_of_integers(x):
    def primes(limit):
        for n in range(2, limit):
            if all(n % k for k in range(2, n)):
                yield n

    total = 0.0
    for p in primes(12):
        total = total + x**p / p
    return total


@program(0.7)
def class_of_counters(x):
    class Counter:
        def __init__(self):
            self.count = 0

        def __enter__(self):
            self.count += 1
            return self

        def __exit__(self, *_):
            self.count += 10

    with Counter() as counter:
        y = x * counter.count
    return y * counter.count


@program(0.7, ["a", "b", "a", "c", "a"])
def dict_counting(x, names):
    counts = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    most = collections.Counter(names).most_common(1)[0][1]
    return sum(x**count for count in counts.values()) * most


@program(0.7)
def exception_caught(x):
    try:
        int("not a number")
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    try:
        scale = {"a": 1.0}["b"]
    except KeyError:
        scale = 2.0
    return x * len(message) * scale


@program(0.7)
def loop_over_attempts(x):
    value = None
    for candidate in ("one", "2", "3"):
        try:
            value = int(candidate)
            break
        except ValueError:
            continue
    return x**value


@program(normal(6))
def random_with_a_seed(x):
    rng = np.random.default_rng(7)
    noise = rng.normal(size=6)
    order = rng.permutation(6)
    keep = rng.random(6) < 0.8
    return np.sum((x + noise)[order][keep] ** 2)


@program(normal(4), np.array([2, 0, 1, 2, 2, 0]))
def integer_arrays(x, labels):
    counts = np.bincount(labels, minlength=4)
    values, first = np.unique(labels, return_index=True)
    return np.sum(counts * x**2) + x[values] @ x[first % 4]


@program(0.7)
def dates(x):
    start = datetime.date(2024, 2, 27)
    end = start + datetime.timedelta(days=3)
    return x * (end - start).days + x**end.day


@program(0.7)
def product_and_chain(x):
    total = 0.0
    for i, j in itertools.product(range(2), repeat=2):
        total = total + x**i * (j + 1)
    for k in itertools.chain([1, 2], (3,)):
        total = total * x + k
    return total


@program(0.7)
def comprehensions_of_strings(x):
    letters = {c: i for i, c in enumerate(string.ascii_lowercase) if c in "aeiou"}
    vowels = [c for word in ("deep", "sea") for c in word if c in letters]
    return x * len(vowels) + letters["e"] * x**2


@program(normal(5))
def shape_arithmetic(x):
    n = x.shape[0]
    half, rest = divmod(n, 2)
    blocks = [(i, min(i + half, n)) for i in range(0, n, half)]
    total = 0.0
    for start, stop in blocks:
        total = total + np.sum(x[start:stop]) ** 2
    return total + rest


@program(normal(8))
def batches_of_indices(x):
    order = np.arange(8).reshape(4, 2)[::-1]
    mask = np.isin(np.arange(8), [1, 5])
    total = 0.0
    for batch in order:
        total = total * 0.9 + np.prod(x[batch])
    return total + x[mask].sum()


@program(0.7)
def generator_object_with_next(x):
    numbers = iter([3, 4, 5])
    first = next(numbers)
    second = next(numbers)
    rest = [n for n in numbers]
    return x**first + x * second - rest[0] * x


@program(0.7)
def log_of_strings(x):
    log = []
    for k in range(3):
        x = x * 1.5
        log.append(f"step {k}")
    summary = {"steps": len(log), "last": log[-1]}
    return x * summary["steps"] if summary["last"].endswith("2") else x


@program(0.7)
def nested_inactive_functions(x):
    def decode(code):
        table = str.maketrans("abc", "123")
        return int(code.translate(table))

    return x * decode("abc") ** 0.5


@program(1.5)
def else_of_a_try_without_derivatives(x):
    """What it raises is caught by no handler of its own `try`."""
    scale, power = 1.0, 1
    try:
        try:
            count = int("7")
        except ValueError:
            scale = 2.0
        else:
            scale = 3.0
            if count > 5:
                raise ValueError("big")
            scale = 4.0
    except ValueError:
        power = 2
    return scale * x**power


@program(0.7)
def state_of_inactive_arrays(x):
    """The integer array is changed in place; nothing in it is differentiated."""
    visits = np.zeros(3, dtype=int)
    at = 0
    for k in range(7):
        visits[at] += 1
        at = (at + k) % 3
    return x ** visits[0] + visits[1] * x


@program(normal(4))
def sets_and_graph_search(x):
    edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
    seen, queue = set(), [0]
    total = 0.0
    while queue:
        node = queue.pop(0)
        if node in seen:
            continue
        seen.add(node)
        total = total * 0.5 + x[node] ** 2
        queue.extend(edges[node])
    return total
