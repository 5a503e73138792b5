"""Names of the user's that mean something else where NumPy or srcjax uses them.

What a call does is told by what is called: a function may be named like a generated one
and write to what it is given, and a method like one of an array, a list or a dict.
"""

import queue

import numpy as np

from .registry import normal, program


def bump_forward(buffer):
    buffer[0] += 1.0
    return 2.0


def grow_backward(store):
    store.append(2.0 * len(store))
    return 3.0


def pullback(buffer):
    buffer *= 2.0
    return 1.0


def unfold(buffer):
    buffer += 1.0
    return 0.5


class Counter:
    """Each of its methods counts, whatever it is called."""

    def __init__(self):
        self.calls = 0

    def get(self):
        self.calls += 1
        return float(self.calls)

    step = fetch = copy = sum = mean = item = get

    def append(self, value):
        self.calls += value


class Namespace:
    """An object with functions like a module's."""

    def __init__(self):
        self.calls = 0

    def sin(self, value):
        self.calls += 1
        return value * self.calls

    def zeros(self):
        self.calls += 1
        return float(self.calls)


class Account:
    """Adds in place, as a list does."""

    def __init__(self, amount):
        self.amount = amount

    def __iadd__(self, other):
        self.amount = self.amount + other
        return self


class Turnstile:
    """Counts who reads its property, who calls it and who looks for an item."""

    def __init__(self):
        self.passed = 0

    @property
    def value(self):
        self.passed += 1
        return float(self.passed)

    def __getitem__(self, key):
        self.passed += key
        return float(self.passed)

    def __call__(self):
        self.passed += 1
        return float(self.passed)

    def __mul__(self, other):
        self.passed += 1
        return self.passed * other


@program(normal(3), jax=False)
def forward_function_that_writes(x):
    buffer = np.ones(3)
    first = np.sum(x * buffer)
    scale = bump_forward(buffer)
    return first * scale + np.sum(buffer * x**2)


@program(normal(3), jax=False)
def forward_function_that_writes_between(x):
    buffer = np.ones(3)
    a = buffer * x
    bump_forward(buffer)
    b = buffer * x**2
    bump_forward(buffer)
    return np.sum(a * b * buffer)


@program(normal(3), jax=False)
def backward_function_that_appends(x):
    store = [1.0]
    a = x * len(store)
    grow_backward(store)
    b = a * store[-1] * len(store)
    grow_backward(store)
    return np.sum(b * x) * len(store) + store[-1]


@program(normal(3), jax=False)
def function_called_pullback(x):
    buffer = np.ones(3)
    y = x * buffer
    pullback(buffer)
    z = y * buffer
    return np.sum(z) * pullback(buffer) + np.sum(buffer * x)


@program(normal(3), jax=False)
def function_that_begins_like_an_adjoint(x):
    buffer = np.ones(3)
    y = x**2 * buffer
    half = unfold(buffer)
    return np.sum(y * buffer) * half


@program(normal(3), jax=False)
def get_that_counts(x):
    q = Counter()
    a = x * q.get()
    b = x**2 * q.get()
    return np.sum(a + b)


@program(normal(3), jax=False)
def get_that_nothing_reads(x):
    q = Counter()
    unread = q.get()  # noqa: F841
    return np.sum(x * q.get())


@program(normal(3), jax=False)
def methods_of_arrays_that_count(x):
    q = Counter()
    a = x * q.mean()
    b = x**2 * q.sum()
    c = a * q.copy() + b
    return np.sum(c) * q.item()


@program(normal(3), jax=False)
def append_that_is_read_by_another_name(x):
    log = Counter()
    same = [log]
    log.append(1)
    return np.sum(x**2) * same[0].calls


@program(normal(3), jax=False)
def append_of_an_object_of_the_function(x):
    other = Counter()
    log = Counter()
    log.append(2)
    other.append(log.calls)
    return np.sum(x**2) * other.calls


@program(normal(3), jax=False)
def object_called_xp(x):
    xp = Namespace()
    a = x * xp.zeros()
    b = x**2 * xp.zeros()
    return np.sum(a + b) * xp.sin(1.0)


@program(normal(3), jax=False)
def object_called_operator(x):
    operator = Namespace()
    operator.zeros()
    scipy = operator
    a = x * scipy.zeros()
    unread = operator.sin(2.0)  # noqa: F841
    return np.sum(a * x) * operator.zeros()


@program(normal(3), jax=False)
def queue_that_is_drained(x):
    q = queue.Queue()
    for k in range(3):
        q.put(2.0 + k)
    skipped = q.get()  # noqa: F841
    return np.sum(x**2 * q.get()) * q.get()


@program(normal(3), jax=False)
def iterator_that_is_drained(x):
    items = iter([2.0, 3.0, 4.0])
    next(items)
    a = x * next(items)
    return np.sum(a * x) * next(items)


@program(normal(3), jax=False)
def property_that_counts(x):
    gate = Turnstile()
    a = x * gate.value
    unread = gate.value  # noqa: F841
    b = x**2 * gate.value
    return np.sum(a + b)


@program(normal(3), jax=False)
def items_and_calls_that_count(x):
    gate = Turnstile()
    a = x * gate[1]
    unread = gate[2]  # noqa: F841
    b = x**2 * gate()
    gate()
    return np.sum(a + b) * gate[1]


@program(normal(3), jax=False)
def operator_that_counts(x):
    gate = Turnstile()
    unread = gate * 2.0  # noqa: F841
    return np.sum(x**2) * (gate * 3.0)


@program(normal(3), jax=False)
def sum_in_place_of_a_class(x):
    a = Account(1.0)
    held = a
    a += np.sum(x**2)
    a += 2.0
    return held.amount * a.amount


@program(normal(3), jax=False)
def sum_in_place_without_derivative(x):
    a = Account(1.0)
    held = [a]
    a += 2.0
    y = x * a.amount
    a += 3.0
    return np.sum(y**2) * held[0].amount


@program(normal(3), normal(3, seed=1), jax=False)
def names_like_generated_ones(x, y):
    dx = x * 2.0
    x_dot = dx + y
    saved = np.sin(x_dot)
    x_tape = []
    for lanes in range(3):
        x_tape.append(saved * lanes)
        saved = saved * x + dx
    batch_size = np.sum(saved)
    data = x_tape[1] * batch_size
    dy = data + x_tape[2]
    return np.sum(dy * y)


@program(normal(4), jax=False)
def names_that_begin_like_adjoints(x):
    data = x.copy()
    delta = data
    data += 1.0
    dt = delta * data
    delta *= 2.0
    return np.sum(dt * data)


@program(normal(3), jax=False)
def lanes_that_are_an_index(x):
    lanes = np.array([2, 0])
    batch_size = len(lanes)
    y = x.copy()
    y[lanes] = y[lanes] * 2.0 + batch_size
    if y[0] > 0:
        y[lanes] += x[0]
    return np.sum(y * x)


def size(x):
    return np.sum(x**2)


shape = sum_of = size


def len_of(x):
    return np.sum(x * x)


class Rows:
    """Methods of a list, an array and a dict that do something else with numbers."""

    def __init__(self, scale):
        self.scale = scale

    def index(self, x):
        return self.scale * x**2

    def count(self, x):
        return self.scale * x

    def keys(self, x):
        return np.sin(x) * self.scale

    def exp(self, x):
        return self.scale * x**3

    def sum(self, x):
        return self.scale - x

    def zeros_like(self, x):
        return self.scale * x

    def where(self, c, a, b):
        return self.scale * a * b + c

    def shape(self, x):
        return np.sum(x) * self.scale


@program(normal(3), jax=False)
def functions_called_like_shapes(x):
    return size(x) + shape(x) * x[0] + sum_of(x[:2])


@program(normal(3), jax=False)
def builtin_names_of_the_user(x):
    len = len_of
    range = np.cos
    return len(x) * x[0] + np.sum(range(x))


@program(normal(3), jax=False)
def methods_that_are_known_of_others(x):
    rows = Rows(2.0)
    a = rows.index(x) + rows.count(x) * rows.keys(x)
    return np.sum(a) * rows.shape(x)


@program(normal(3), jax=False)
def object_called_math(x):
    math = Rows(0.5)
    y = math.exp(x) + math.zeros_like(x) * math.sum(x)
    return np.sum(math.where(1.0, y, x) * math.shape(x))


def scaled(x):
    np = Rows(1.5)
    return np.exp(x) + np.zeros_like(x) * np.sum(x) + np.where(1.0, x, x)


@program(normal(3), jax=False)
def object_called_np(x):
    return np.sum(scaled(x) * x)


@program(normal(3), jax=False)
def variables_called_like_helpers(x):
    copied = x * 2.0
    zeros_like = copied + x
    unbroadcast = zeros_like.sum()
    add = [copied, zeros_like]
    contents = add[0] * add[1]
    return np.sum(contents) * unbroadcast


class Stack:
    """Keeps numbers under the names that lists and arrays use."""

    def __init__(self):
        self.held = np.ones(3)

    def partition(self, value):
        self.held[0] += value
        return self.held

    def put(self, value):
        self.held = self.held * value

    def take(self):
        return self.held


@program(normal(3), jax=False)
def memory_that_an_object_hands_out(x):
    stack = Stack()
    seen = stack.take()
    a = x * seen
    stack.partition(1.0)
    b = a * seen
    stack.put(3.0)
    c = b * stack.take() + seen * x**2
    stack.partition(2.0)
    return np.sum(c * stack.take())


@program(normal(3), jax=False)
def array_changed_by_rare_methods(x):
    w = np.array([3.0, 1.0, 2.0])
    part = w[:2]
    a = x * w
    w.partition(1)
    b = a * part[0] + w * x**2
    w.put([0], [5.0])
    c = b * w
    part.sort()
    return np.sum(c * w)


def run_twice(x, tick):
    tick()
    y = x * tick()
    tick()
    return np.sum(y) * tick()


@program(normal(3), jax=False)
def function_of_a_closure_that_counts(x):
    calls = [0.0]

    def get():
        calls[0] += 1.0
        return calls[0]

    return run_twice(x, get) * calls[0]


@program(normal(4), jax=False)
def branch_on_what_is_called_lanes(x):
    lanes = x[0] > 0.0
    y = x * 2.0
    if lanes:
        y = y + np.ones(4) * x[1]
        y[2] = np.sum(y) * x[0]
    lanes2 = x[1] + x[2]
    while lanes2 < 1.5:
        lanes2 = lanes2 + 0.5 + x[3] ** 2
    return np.sum(y * x) * lanes2


class Table:
    """Pairs that are no items of a dict."""

    def __init__(self):
        self.held = [1.0, 2.0, 3.0]

    def items(self):
        return [(k, 2.0 * v) for k, v in enumerate(self.held)]

    def values(self):
        return [v + 1.0 for v in self.held]

    def keys(self):
        return [3.0, 1.0]

    def copy(self):
        return self

    def mean(self):
        return self.held


@program(normal(3), jax=False)
def items_of_no_dict(x):
    table = Table()
    total = 0.0
    for k, v in table.items():
        total = total + v * x[k] ** 2
    for v in table.values():
        total = total * v + x[0]
    for k in table.keys():
        total = total + k * x[1]
    return total


@program(normal(3), jax=False)
def copies_that_are_none(x):
    table = Table()
    other = table.copy()
    held = table.mean()
    y = x * other.held[0]
    held[0] = 5.0
    z = y * other.held[0]
    table.held.append(2.0)
    return np.sum(z * x) * len(other.mean())


@program(normal(3), np.float64(2.0), jax=False)
def name_with_an_underscore(x, s):
    np_ = x.copy()
    h__before = np_
    np_ *= s
    h = h__before * x
    h__before *= h
    np_ = np_ * s + h
    return np.sum(np_ * h__before)


@program(normal(3), jax=False)
def builtins_as_variables(x):
    len = x * 2.0
    range = [len, x]
    reversed = 0.0
    for list in (1.0, 2.0):
        reversed = reversed + np.sum(range[0] * list) * x[0]
    zip = {"a": reversed, "b": x}
    y = np.array([1.0, 2.0, 3.0])
    for isinstance in y:
        reversed = reversed * isinstance + zip["b"][1]
    return reversed + zip["a"] * np.sum(len)


@program(normal(3), jax=False)
def arrays_called_like_modules(x):
    total = np.sum(x**2)
    math = x * total
    scipy = math[1:] * x[:2]
    math[0] = scipy[0] ** 2
    return total * math.sum() + scipy.prod()
