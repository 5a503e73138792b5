"""Values that take a way around: text, bytes, files, queues, objects, exceptions."""

from __future__ import annotations

import ast
import asyncio
import collections
import contextlib
import contextvars
import copy
import ctypes
import decimal
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import operator
import pickle
import queue
import statistics
import struct
import threading
import types
import weakref
from array import array

import numpy as np

from .judge import refused


@refused()
def text_and_back(x):
    return x[0] ** 2 + float(str(x[1])) ** 2


@refused()
def repr_and_back(x):
    return x[0] ** 2 + float(repr(float(x[1])))


@refused()
def formatted_and_back(x):
    text = f"{x[1]:.17g}"
    return x[0] * float(text)


@refused()
def percent_and_back(x):
    text = "%.17g" % x[1]  # noqa: UP031
    return x[0] * float(text)


@refused()
def format_method_and_back(x):
    return x[0] * float("{:.17g}".format(x[1]))  # noqa: UP032


@refused()
def text_in_pieces(x):
    a = str(x[1])
    b = a + "0"
    return x[0] * float(b.strip())


@refused()
def text_of_an_array(x):
    return x[0] * np.fromstring(np.array2string(x, separator=" ")[1:-1], sep=" ").sum()


@refused()
def text_split(x):
    words = " ".join(str(v) for v in x).split()
    return x[0] * sum(float(w) for w in words)


@refused()
def text_to_an_array(x):
    return x[0] * np.array([str(x[1]), str(x[2])]).astype(float).sum()


@refused()
def text_literal(x):
    return x[0] * ast.literal_eval(repr(float(x[1])))


@refused()
def evaluated(x):
    return x[0] * eval("x[1] ** 2")


@refused()
def evaluated_with_names(x):
    return x[0] * eval("v ** 2", {"v": x[1]})


@refused()
def executed(x):
    names = {"v": x[1]}
    exec("w = v ** 2", names)
    return x[0] * names["w"]


@refused()
def hexadecimal(x):
    return x[0] * float.fromhex(float(x[1]).hex())


@refused()
def ratio_of_integers(x):
    a, b = float(x[1]).as_integer_ratio()
    return x[0] * (a / b)


@refused()
def from_json(x):
    return x[0] * json.loads(json.dumps({"v": float(x[1])}))["v"]


@refused()
def from_json_of_a_list(x):
    return x[0] * sum(json.loads(json.dumps(x.tolist())))


@refused()
def pickled(x):
    return np.sum(pickle.loads(pickle.dumps(x)) ** 2) * x[0]


@refused()
def packed(x):
    return x[0] * struct.unpack("d", struct.pack("d", x[1]))[0]


@refused()
def from_bytes(x):
    return x[0] * np.frombuffer(x.tobytes()).sum()


@refused()
def from_bytes_of_a_part(x):
    held = x[1:].tobytes()
    again = np.frombuffer(held, dtype=float)
    return x[0] * again[0]


@refused()
def memory_view(x):
    return x[0] * np.asarray(memoryview(x)).sum()


@refused()
def memory_view_items(x):
    return x[0] * sum(memoryview(x))


@refused()
def data_attribute(x):
    return x[0] * np.asarray(x.data).sum()


@refused()
def interface_attribute(x):
    return x[0] * float(ctypes.c_double.from_address(x.ctypes.data).value)


@refused()
def ctypes_number(x):
    return x[0] * ctypes.c_double(x[1]).value


@refused()
def array_module(x):
    return x[0] * sum(array("d", x))


@refused()
def bits(x):
    return x[0] * x.view(np.int64).view(float).sum()


@refused()
def bits_of_bytes(x):
    return x[0] * np.ndarray((3,), float, bytearray(x.tobytes())).sum()


@refused()
def dumped_and_loaded(x):
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    return x[0] * np.load(file).sum()


@refused()
def text_file(x):
    file = io.StringIO()
    np.savetxt(file, x)
    file.seek(0)
    return x[0] * np.loadtxt(file).sum()


@refused()
def printed_to_a_file(x):
    file = io.StringIO()
    print(float(x[1]), file=file)
    return x[0] * float(file.getvalue())


@refused()
def printed_and_captured(x):
    file = io.StringIO()
    with contextlib.redirect_stdout(file):
        print(float(x[1]))
    return x[0] * float(file.getvalue())


def copied(x):
    return np.sum(copy.copy(x) ** 2) * np.sum(copy.deepcopy(x))


def copied_containers(x):
    held = copy.deepcopy({"a": [x[0], x * 2]})
    return held["a"][0] * np.sum(held["a"][1])


def as_a_list(x):
    return x[0] * sum(x.tolist())


@refused()
def mantissa(x):
    m, e = math.frexp(x[1])
    return x[0] * m * 2.0**e


@refused()
def mantissas(x):
    m, e = np.frexp(x)
    return np.sum(x * np.ldexp(m, e))


@refused()
def fractional_part(x):
    part, whole = math.modf(x[1])
    return x[0] * (part + whole)


@refused()
def fractional_parts(x):
    part, whole = np.modf(x)
    return np.sum(x * part) + np.sum(whole)


def quotient_and_remainder(x):
    q, r = divmod(x[1], 0.5)
    return x[0] * r + q


@refused()
def quotients_and_remainders(x):
    q, r = np.divmod(x, 0.5)
    return np.sum(x * r) + np.sum(q)


@refused()
def fraction(x):
    return x[0] * float(fractions.Fraction(x[1]))


@refused()
def decimal_number(x):
    return x[0] * float(decimal.Decimal(x[1]))


@refused()
def decimal_of_text(x):
    return x[0] * float(decimal.Decimal(str(x[1])))


@refused()
def through_a_queue(x):
    q = queue.Queue()
    q.put(x[1])
    return x[0] * q.get()


@refused()
def through_a_deque(x):
    q = collections.deque()
    q.append(x[1])
    q.append(x[2])
    return x[0] * q.popleft() + q[0]


@refused()
def through_a_deque_made_at_once(x):
    q = collections.deque([x[1], x[2]], maxlen=2)
    return x[0] * sum(q)


@refused()
def through_a_heap(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
    return x[0] * heapq.heappop(heap)


@refused()
def largest(x):
    return x[0] * sum(heapq.nlargest(2, x))


@refused()
def default_dict(x):
    d = collections.defaultdict(float)
    d["a"] += x[1]
    d["b"] += x[2]
    return x[0] * (d["a"] + d["b"])


@refused()
def counter(x):
    c = collections.Counter()
    c["a"] += x[1]
    return x[0] * c["a"]


@refused()
def chain_map(x):
    c = collections.ChainMap({"a": x[1]}, {"b": x[2]})
    return x[0] * c["a"] * c["b"]


@refused()
def set_of_values(x):
    return x[0] * sum({x[1], x[2]})


@refused()
def frozen_set(x):
    return x[0] * sum(frozenset(x))


@refused()
def keys_of_a_dict(x):
    d = {float(x[1]): 1}
    return x[0] * list(d)[0]


@refused()
def mapping_proxy(x):
    d = types.MappingProxyType({"a": x[1]})
    return x[0] * d["a"]


@refused()
def context_variable(x):
    held = contextvars.ContextVar("held")
    held.set(x[1])
    return x[0] * held.get()


class _Found(Exception):  # noqa: N818
    def __init__(self, value):
        self.value = value


@refused()
def exception_with_an_attribute(x):
    try:
        raise _Found(x[1] ** 2)
    except _Found as e:
        return x[0] * e.value


@refused()
def exception_with_arguments(x):
    try:
        raise ValueError(x[1] ** 2)
    except ValueError as e:
        return x[0] * e.args[0]


def _throws(v):
    if v > 0:
        raise _Found(v * 2)
    return v


@refused()
def exception_from_a_callee(x):
    try:
        y = _throws(x[1])
    except _Found as e:
        y = e.value
    return x[0] * y


@refused()
def attribute_of_an_exception_alone(x):
    try:
        raise _Found(x[1] ** 2)
    except _Found as e:
        return e.value


@refused()
def exception_with_a_note(x):
    error = _Found(x[1])
    return x[0] * error.value


@refused()
def stopped_generator(x):
    def produce():
        yield 1.0
        return x[1]

    g = produce()
    next(g)
    try:
        next(g)
    except StopIteration as e:
        return x[0] * e.value
    return 0.0


@refused()
def sent_to_a_generator(x):
    def running():
        total = 0.0
        while True:
            total = total + (yield total)

    g = running()
    next(g)
    g.send(x[1])
    return x[0] * g.send(x[2])


def yielded(x):
    def squares():
        for v in x:
            yield v**2

    return sum(squares()) * x[0]


@refused()
def yielded_from(x):
    def inner():
        yield x[1]
        yield x[2]

    def outer():
        yield x[0]
        yield from inner()

    return math.prod(outer())


@refused()
def next_of_a_generator(x):
    g = (v * 2 for v in x)
    return next(g) * next(g)


class _Scope:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        return False


@refused()
def entered(x):
    with _Scope(x[1]) as v:
        return x[0] * v


@contextlib.contextmanager
def _scope(value):
    yield value * 2


@refused()
def entered_generator(x):
    with _scope(x[1]) as v:
        y = v**2
    return x[0] * y


@refused()
def entered_null(x):
    with contextlib.nullcontext(x[1]) as v:
        y = v**2
    return x[0] * y


_STATE = {"v": 0.0}
_ITEMS = []
_HELD = 0.0


@refused()
def through_a_global(x):
    global _HELD
    _HELD = x[1]
    return x[0] * _HELD


@refused()
def through_a_global_dict(x):
    _STATE["v"] = x[1]
    return x[0] * _STATE["v"]


@refused()
def through_a_global_list(x):
    _ITEMS.append(x[1])
    return x[0] * _ITEMS[-1]


def _keep(v):
    global _HELD
    _HELD = v


@refused()
def through_the_global_of_a_helper(x):
    _keep(x[1])
    return x[0] * _HELD


@refused()
def through_names_of_the_module(x):
    globals()["_HELD"] = x[1]
    return x[0] * _HELD


@refused()
def through_local_names(x):
    v = x[1] * 2
    return x[0] * locals()["v"]


def through_nonlocal(x):
    held = 0.0

    def keep(v):
        nonlocal held
        held = v

    keep(x[1])
    return x[0] * held


class _Box:
    shared = 0.0

    def __init__(self, v=0.0):
        self.v = v


def through_an_attribute(x):
    box = _Box()
    box.v = x[1]
    return x[0] * box.v


@refused()
def through_a_class_attribute(x):
    _Box.shared = x[1]
    return x[0] * _Box.shared


@refused()
def through_a_class_attribute_of_an_instance(x):
    _Box.shared = x[1]
    return x[0] * _Box().shared


@refused()
def through_setattr(x):
    box = _Box()
    setattr(box, "v", x[1])  # noqa: B010
    return x[0] * getattr(box, "v")  # noqa: B009


@refused()
def through_instance_dict(x):
    box = _Box()
    box.__dict__["v"] = x[1]
    return x[0] * box.v


@refused()
def through_vars(x):
    box = _Box(x[1])
    return x[0] * vars(box)["v"]


@refused()
def through_vars_written(x):
    box = _Box()
    vars(box).update(v=x[1])
    return x[0] * box.v


@refused()
def through_a_function_attribute(x):
    def helper():
        return helper.v

    helper.v = x[1]
    return x[0] * helper()


@refused()
def through_a_module_attribute(x):
    module = types.ModuleType("held")
    module.v = x[1]
    return x[0] * module.v


def _remember(v, seen=[]):  # noqa: B006
    seen.append(v)
    return seen[-1]


@refused()
def through_a_mutable_default(x):
    return x[0] * _remember(x[1])


@refused()
def through_a_weak_reference(x):
    box = _Box(x[1])
    return x[0] * weakref.ref(box)().v


def through_a_dict_of_dicts(x):
    d = {"a": {"b": {}}}
    d["a"]["b"]["c"] = x[1]
    return x[0] * d["a"]["b"]["c"]


@functools.lru_cache
def _cached(v):
    return v**2


def cached(x):
    return x[0] * _cached(x[1])


@functools.singledispatch
def _dispatched(v):
    return v * 2


@refused()
def dispatched(x):
    return x[0] * _dispatched(x[1])


def reduced(x):
    return x[0] * functools.reduce(operator.mul, x) + functools.reduce(
        lambda a, b: a + b * b, x, 1.0
    )


def mapped(x):
    return x[0] * sum(map(math.sin, x)) + sum(map(lambda a, b: a * b, x, x))


def filtered(x):
    return x[0] * sum(filter(lambda v: v > 0.5, x))


@refused("vmap")
def sorted_values(x):
    return x[0] * sorted(x, key=lambda v: -v)[0] + sorted(x)[0] ** 2


@refused("vmap")
def chosen_by_key(x):
    return x[0] * max(x, key=lambda v: (v - 1) ** 2) * min(range(3), key=lambda i: x[i])


@refused()
def accumulated(x):
    return x[0] * list(itertools.accumulate(x))[-1]


@refused()
def chained(x):
    return x[0] * sum(itertools.chain(x, [x[1]]))


@refused()
def starmapped(x):
    return x[0] * sum(itertools.starmap(operator.mul, [(x[0], x[1])]))


@refused()
def islice(x):
    return x[0] * sum(itertools.islice(x, 2))


@refused()
def pairwise(x):
    return x[0] * sum(a * b for a, b in itertools.pairwise(x))


@refused()
def cycled(x):
    c = itertools.cycle(x)
    return next(c) * next(c)


@refused()
def repeated(x):
    return x[0] * sum(itertools.repeat(x[1], 2))


@refused()
def grouped(x):
    groups = [list(g) for _, g in itertools.groupby(x, key=lambda v: v > 1)]
    return x[0] * sum(groups[0])


@refused()
def operators(x):
    a = operator.add(x[0], x[1]) * operator.sub(x[1], x[2])
    return operator.pow(a, 2) + operator.neg(operator.truediv(x[0], x[1]))


@refused()
def item_getter(x):
    return x[0] * operator.itemgetter(1)(x)


@refused()
def item_getter_of_two(x):
    a, b = operator.itemgetter(1, 2)(x)
    return x[0] * a * b


@refused()
def attribute_getter(x):
    return x[0] * operator.attrgetter("v")(_Box(x[1]))


@refused()
def method_caller(x):
    return x[0] * operator.methodcaller("sum")(x)


@refused()
def operators_of_items(x):
    y = x.copy()
    operator.setitem(y, 0, x[1] ** 2)
    return operator.getitem(y, 0) * x[0]


@refused()
def operators_in_place(x):
    y = x.copy()
    operator.iadd(y, x)
    return np.sum(y * x)


@refused()
def statistics_of_values(x):
    return x[0] * statistics.mean(x) + statistics.fmean(x)


@refused()
def precise_sum(x):
    return x[0] * math.fsum(x)


@refused()
def sum_of_products(x):
    return x[0] * math.dist(x, [1.0, 2.0, 3.0])


@refused()
def in_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x[1] ** 2))
    thread.start()
    thread.join()
    return x[0] * found[0]


@refused()
def thread_local(x):
    held = threading.local()
    held.v = x[1]
    return x[0] * held.v


@refused()
def thread_arguments(x):
    found = []
    thread = threading.Thread(target=found.append, args=(x[1],))
    thread.start()
    thread.join()
    return x[0] * found[0]


@refused()
def awaited(x):
    async def square(v):
        return v**2

    return x[0] * asyncio.run(square(x[1]))


@refused()
def nditer(x):
    total = 0.0
    for v in np.nditer(x):
        total = total + v * x[0]
    return total


@refused()
def nditer_of_two(x):
    total = 0.0
    for a, b in np.nditer([x, x * 2]):
        total = total + a * b
    return total


@refused()
def nditer_written(x):
    y = x.copy()
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * 2
    return np.sum(y * x)


def ndenumerate(x):
    return sum(v * (i + 1) for (i,), v in np.ndenumerate(x)) * x[0]


@refused()
def ndindex(x):
    return sum(x[i] ** 2 for i in np.ndindex(x.shape)) * x[0]


def flat(x):
    total = x.flat[1] * x[0]
    for v in x.flat:
        total = total + v**2
    return total


@refused()
def flat_written(x):
    y = np.zeros((2, 2))
    y.flat[1] = x[1]
    y.flat[2:] = x[0]
    return np.sum(y) * x[0]


@refused()
def broadcast_iterator(x):
    return sum(a * b for a, b in np.broadcast(x, x)) * x[0]


@refused()
def object_array(x):
    held = np.empty(2, dtype=object)
    held[0] = x[1]
    held[1] = x[2]
    return x[0] * held[0] * held[1]


@refused()
def object_array_filled(x):
    held = np.empty(2, dtype=object)
    held[:] = [x, x * 2]
    return np.sum(held[1]) * x[0]


@refused()
def as_objects(x):
    return np.sum(x.astype(object) * 2) * x[0]


@refused()
def object_array_made(x):
    return np.sum(np.array([x[0], x[1]], dtype=object)) * x[0]


@refused()
def object_array_by_name(x):
    return np.sum(np.array([x[0], x[1]], dtype="O")) * np.asarray(x, dtype=object)[0]


@refused()
def structured_array(x):
    held = np.zeros(2, dtype=[("a", float), ("b", float)])
    held["a"] = x[:2]
    return np.sum(held["a"]) * x[0]


@refused()
def structured_array_made(x):
    held = np.array([(x[0], x[1])], dtype=[("a", float), ("b", float)])
    return held["b"][0] * x[0]


@refused()
def structured_view(x):
    held = x.view([("a", float)])
    return np.sum(held["a"]) * x[0]


@refused()
def record_array(x):
    held = np.rec.fromarrays([x, x * 2], names="a,b")
    return np.sum(held.b) * x[0]


@refused()
def masked_array(x):
    held = np.ma.array(x, mask=[0, 1, 0])
    return held.sum() * x[0]


@refused()
def matrix(x):
    m = np.matrix([[x[0], x[1]], [x[1], x[2]]])
    return np.sum(m * m)


@refused()
def polynomial_class(x):
    return np.poly1d(x)(2.0) * x[0]


@refused()
def polynomial_object(x):
    return np.polynomial.Polynomial(x)(2.0) * x[0]


@refused()
def vectorized(x):
    return np.sum(np.vectorize(lambda v: v**2)(x)) * x[0]


@refused()
def from_python_function(x):
    return np.sum(np.frompyfunc(lambda v: v**2, 1, 1)(x)) * x[0]


@refused()
def along_an_axis(x):
    return np.sum(np.apply_along_axis(lambda v: v**2, 0, x)) * x[0]


@refused()
def from_a_function(x):
    return np.sum(np.fromfunction(lambda i: i * x[1], (3,))) * x[0]


@refused()
def from_an_iterator(x):
    return np.fromiter((v**2 for v in x), float).sum() * x[0]


@refused()
def piecewise(x):
    return np.sum(np.piecewise(x, [x > 1], [lambda v: v**2, lambda v: 2 * v])) * x[0]


@refused()
def row_class(x):
    return np.sum(np.r_[x, 2 * x] ** 2)


@refused()
def row_class_with_numbers(x):
    return np.sum(np.r_[x[0], 1.0, x[1:]] * [1, 2, 3, 4])


@refused()
def row_class_with_a_range(x):
    return np.sum(np.r_[0 : x[0] : 3j]) * x[1]


@refused()
def column_class(x):
    return np.sum(np.c_[x, x**2] @ [1.0, 2.0])


@refused()
def grid_class(x):
    return np.sum(np.mgrid[0 : x[1] : 3j]) * x[0]


@refused()
def open_grid_class(x):
    a, b = np.ogrid[0 : x[1] : 3j, 0:2]
    return np.sum(a) * x[0] + np.sum(b)


def index_class(x):
    return np.sum(x[np.s_[1:]]) * np.sum(np.outer(x, x)[np.ix_([0, 1], [1, 2])])


@refused()
def index_class_with_a_value(x):
    return np.s_[x[1]] * x[0]


@refused()
def real_as_text_key(x):
    table = {str(i): v for i, v in enumerate(x)}
    return table["1"] * x[0]


@refused()
def slice_of_a_value(x):
    return slice(x[1]).stop * x[0]


@refused()
def complex_parts(x):
    z = complex(x[1], x[2])
    return (z * z.conjugate()).real * x[0] + z.imag


@refused()
def date_arithmetic(x):
    import datetime

    return datetime.timedelta(seconds=float(x[1])).total_seconds() * x[0]


@refused()
def number_subclass(x):
    class Meters(float):
        pass

    return Meters(x[1]) * x[0]


@refused()
def random_with_a_value(x):
    return np.random.default_rng(0).normal(x[1], 1.0) * x[0]


@refused()
def simple_namespace(x):
    return types.SimpleNamespace(v=x[1]).v * x[0]


@refused()
def named_by_type(x):
    return type("Made", (), {"v": x[1]}).v * x[0]


@refused()
def rounded_to_text(x):
    return float(format(x[1], ".17g")) * x[0]


@refused()
def property_of_text(x):
    return float(",".join([str(v) for v in x]).split(",")[1]) * x[0]


@refused()
def kept_in_a_tuple_key(x):
    d = {}
    d[("a", 1)] = x[1]
    return d[("a", 1)] * x[0]


@refused()
def slice_assigned_list(x):
    a = [0.0, 0.0, 0.0]
    a[1:] = [x[1], x[2]]
    return a[1] * a[2] * x[0]


@refused()
def memory_of_out(x):
    out = np.empty(3)
    np.multiply(x, x, out)
    np.add(out, x, out=out)
    return np.sum(out) * x[0]


@refused()
def put_in_place(x):
    y = np.zeros(3)
    np.put(y, [0, 1], x[:2])
    np.place(y, y == 0, x[2])
    np.copyto(y, x, where=[True, False, False])
    return np.sum(y) * x[0]


@refused()
def put_along_an_axis(x):
    y = np.zeros(3)
    np.put_along_axis(y, np.array([0, 1]), x[:2], 0)
    return np.sum(y) * x[0]


@refused()
def resized(x):
    y = x.copy()
    y.resize((2, 2))
    return np.sum(y) * x[0]


@refused()
def method_put(x):
    y = np.zeros(3)
    y.put([0, 1], x[1])
    return np.sum(y) * x[0]


@refused()
def method_fill(x):
    y = np.zeros(3)
    y.fill(x[1])
    return np.sum(y) * x[0]


@refused()
def method_setfield(x):
    y = np.zeros(3)
    y.setfield(x, float)
    return np.sum(y) * x[0]


@refused()
def dunder_setitem(x):
    y = np.zeros(3)
    y.__setitem__(0, x[1])
    return np.sum(y) * x[0]


@refused()
def dunder_operators(x):
    return x.__mul__(2.0).__getitem__(1) * x[0] + float(x[1]).__add__(1.0)


@refused()
def list_dunders(x):
    y = [0.0]
    y.__setitem__(0, x[1])
    y.__iadd__([x[2]])
    return sum(y) * x[0]
