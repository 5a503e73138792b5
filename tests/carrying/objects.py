"""Classes of the user's own: what their methods do with a differentiated value."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
from typing import NamedTuple

import numpy as np

from .judge import refused


class _Items:
    def __getitem__(self, index):
        a, b = index
        return a * b


_ITEMS = _Items()


@refused()
def index_of_an_object(x):
    return _ITEMS[x[0], x[1]] ** 2


@refused()
def index_of_an_object_made_here(x):
    items = _Items()
    return items[x[0], x[1]] ** 2


class _OneItem:
    def __getitem__(self, index):
        return 2 * index


_ONE = _OneItem()


@refused()
def index_that_is_one_value(x):
    return _ONE[x[1]] * x[0]


@refused()
def index_that_is_a_slice(x):
    class Slices:
        def __getitem__(self, index):
            return index.start * index.stop

    return Slices()[x[0] : x[1]] * x[2]


class _Called:
    def __init__(self, k=2.0):
        self.k = k

    def __call__(self, v):
        return self.k * v**2


_CALLED = _Called(3.0)


def called(x):
    return _CALLED(x[1]) * x[0] + _Called(x[2])(x[1])


class _Scaled:
    def __init__(self, k):
        self.k = k

    def __mul__(self, v):
        return self.k * v**2

    __rmul__ = __mul__

    def __add__(self, v):
        return _Scaled(self.k + v)

    def __sub__(self, v):
        return self.k - v**3

    def __rsub__(self, v):
        return v**3 - self.k

    def __truediv__(self, v):
        return self.k / v**2

    def __pow__(self, v):
        return self.k**v

    def __neg__(self):
        return _Scaled(-self.k)

    def __abs__(self):
        return self.k**2

    def __matmul__(self, v):
        return self.k * (v @ v)

    def __floordiv__(self, v):
        return self.k * v

    def __mod__(self, v):
        return self.k * v

    def __and__(self, v):
        return self.k * v

    def __or__(self, v):
        return self.k * v**2

    def __xor__(self, v):
        return self.k * v**2

    def __lshift__(self, v):
        return self.k * v**2

    def __rlshift__(self, v):
        return self.k * v**2

    def __invert__(self):
        return self.k**2

    def __lt__(self, v):
        return self.k * v**2

    def __eq__(self, v):
        return self.k * v**2

    def __hash__(self):
        return 1

    def __contains__(self, v):
        return v > self.k

    def __float__(self):
        return float(self.k)

    def __bool__(self):
        return True

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([self.k, 2 * self.k])

    def __round__(self, n=None):
        return self.k**2

    def __divmod__(self, v):
        return self.k * v, self.k

    def __iadd__(self, v):
        self.k = self.k + v
        return self


_SCALED = _Scaled(3.0)


@refused()
def product_with_an_object(x):
    return (_SCALED * x[1]) * x[0]


@refused()
def product_with_an_object_on_the_right(x):
    return (float(x[1]) * _SCALED) * x[0]


@refused()
def product_of_an_array_and_an_object(x):
    return np.sum(_SCALED * x)


@refused()
def product_of_an_object_on_the_right_of_an_array(x):
    return np.sum((x * _SCALED).astype(float))


@refused()
def product_with_an_object_made_here(x):
    return (_Scaled(2.0) * x[1]) * x[0]


@refused()
def product_with_an_object_of_the_value(x):
    return (_Scaled(x[1]) * x[2]) * x[0]


@refused()
def difference_with_an_object(x):
    return (_SCALED - x[1]) * x[0]


@refused()
def quotient_with_an_object(x):
    return (_SCALED / x[1]) * x[0]


@refused()
def power_with_an_object(x):
    return (_SCALED ** x[1]) * x[0]


@refused()
def matrix_product_with_an_object(x):
    return (_SCALED @ x) * x[0]


@refused()
def floor_quotient_with_an_object(x):
    return (_SCALED // x[1]) * x[0]


@refused()
def remainder_with_an_object(x):
    return (_SCALED % x[1]) * x[0]


@refused()
def bits_with_an_object(x):
    return (_SCALED & x[1]) * x[0] + (_SCALED | x[1]) + (_SCALED ^ x[2])


@refused()
def shift_with_an_object(x):
    return (_SCALED << x[1]) * x[0]


@refused()
def shift_of_an_object_on_the_right(x):
    return (float(x[1]) << _SCALED) * x[0]


@refused()
def negative_object(x):
    return (-_Scaled(x[1])).k * x[0]


@refused()
def inverted_object(x):
    return ~_Scaled(x[1]) * x[0]


@refused()
def absolute_object(x):
    return abs(_Scaled(x[1])) * x[0]


@refused()
def rounded_object(x):
    return round(_Scaled(x[1])) * x[0]


@refused()
def float_of_an_object(x):
    return float(_Scaled(x[1])) * x[0]


@refused()
def compared_object(x):
    return (_SCALED < x[1]) * x[0]  # noqa: SIM300


@refused()
def compared_object_of_the_value(x):
    return (_Scaled(x[1]) < x[2]) * x[0]


@refused()
def equal_object(x):
    return (_SCALED == x[1]) * x[0]  # noqa: SIM300


@refused()
def iterated_object(x):
    return sum(_Scaled(x[1])) * x[0]


@refused()
def unpacked_object(x):
    a, b = _Scaled(x[1])
    return a * b * x[0]


@refused()
def starred_object(x):
    return max(*_Scaled(x[1])) * x[0]


@refused()
def object_in_an_array(x):
    return np.sum(np.array(list(_Scaled(x[1])))) * x[0]


@refused()
def divmod_of_an_object(x):
    a, b = divmod(_SCALED, x[1])
    return a * b * x[0]


@refused()
def object_added_in_place(x):
    s = _Scaled(x[1])
    s += x[2]
    return s.k * x[0]


@refused()
def object_of_the_module_added_in_place(x):
    s = _Scaled(0.0)
    t = s
    s += x[1]
    return t.k * x[0]


class _Computed:
    scale = 3.0

    def __init__(self, v):
        self._v = v

    @property
    def square(self):
        return self._v**2

    @square.setter
    def square(self, v):
        self._v = v * 2

    @functools.cached_property
    def cube(self):
        return self._v**3

    @staticmethod
    def doubled(v):
        return 2 * v

    @classmethod
    def scaled(cls, v):
        return cls.scale * v

    @classmethod
    def made(cls, v):
        return cls(v * 2)

    def method(self, w, *more, k=1.0, **named):
        return self._v * w * k + sum(more) + sum(named.values())


class _OnDemand:
    def __init__(self, v):
        self._v = v

    def __getattr__(self, name):
        if name == "dynamic":
            return self._v**2
        raise AttributeError(name)


def properties(x):
    c = _Computed(x[1])
    return c.square * c.cube * x[0]


@refused()
def property_set(x):
    c = _Computed(x[1])
    c.square = x[2]
    return c.square * x[0]


def static_and_class_methods(x):
    a = _Computed.doubled(x[1]) + _Computed.scaled(x[2])
    return a * _Computed.made(x[0]).square


def methods(x):
    c = _Computed(x[0])
    return c.method(x[1], x[2], k=x[0], other=x[1])


def bound_method_in_a_name(x):
    f = _Computed(x[0]).method
    return f(x[1]) * x[2]


def method_of_the_class(x):
    return _Computed.method(_Computed(x[0]), x[1])


@refused()
def attribute_made_on_demand(x):
    return _OnDemand(x[1]).dynamic * x[0]


class _Watched:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, cls):
        return getattr(owner, self.name) * 2

    def __set__(self, owner, v):
        setattr(owner, self.name, v**2)


class _Holder:
    v = _Watched()


@refused()
def descriptor(x):
    h = _Holder()
    h.v = x[1]
    return h.v * x[0]


class _Slots:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


@refused()
def slots(x):
    return _Slots(x[1]).v * x[0]


class _Setting:
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v * 3)


@refused()
def attributes_set_otherwise(x):
    s = _Setting()
    s.v = x[1]
    return s.v * x[0]


class _Getting:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 2


@refused()
def attributes_read_otherwise(x):
    return _Getting(x[1]).v * x[0]


class _Made:
    def __new__(cls, v):
        made = object.__new__(cls)
        made.v = v**2
        return made


@refused()
def made_by_new(x):
    return _Made(x[1]).v * x[0]


class _Singleton(type):
    def __call__(cls, v):
        made = super().__call__()
        made.v = v**2
        return made


class _OfSingleton(metaclass=_Singleton):
    pass


@refused()
def made_by_a_metaclass(x):
    return _OfSingleton(x[1]).v * x[0]


class _Base(abc.ABC):
    @abc.abstractmethod
    def value(self): ...

    def twice(self):
        return 2 * self.value()


class _Derived(_Base):
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v**2

    def twice(self):
        return super().twice() * self.v


def inherited(x):
    return _Derived(x[1]).twice() * x[0]


@dataclasses.dataclass
class _Data:
    a: float
    b: float = 2.0
    c: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.c.append(self.a)


def data_class(x):
    d = _Data(x[1])
    return d.a * d.b * d.c[0] * x[0]


@refused()
def data_class_as_a_dict(x):
    return dataclasses.asdict(_Data(x[1]))["a"] * x[0]


@refused()
def data_class_as_a_tuple(x):
    return dataclasses.astuple(_Data(x[1]))[0] * x[0]


@dataclasses.dataclass(frozen=True, order=True)
class _Frozen:
    a: float
    b: float


def frozen(x):
    f = dataclasses.replace(_Frozen(x[0], x[1]), b=x[2])
    return f.a * f.b


@refused()
def ordered(x):
    return max(_Frozen(x[0], x[1]), _Frozen(x[1], x[2])).b * x[0]


class _Pair(NamedTuple):
    a: float
    b: float

    def product(self):
        return self.a * self.b


def named_tuple(x):
    p = _Pair(x[0], x[1])._replace(b=x[2])
    a, b = p
    return p.product() * a + b


@refused()
def named_tuple_as_a_dict(x):
    return _Pair(x[0], x[1])._asdict()["b"] * x[0]


class _Dict(dict):
    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


@refused()
def subclass_of_dict(x):
    d = _Dict(a=x[1])
    return d["a"] * x[0]


class _List(list):
    def append(self, v):
        super().append(2 * v)


@refused()
def subclass_of_list(x):
    a = _List()
    a.append(x[1])
    return a[0] * x[0]


class _Float(float):
    def __mul__(self, other):
        return float(self) * other * 2


@refused()
def subclass_of_float(x):
    return (_Float(x[1]) * 3.0) * x[0]


class _Array(np.ndarray):
    def __mul__(self, other):
        return np.asarray(self) * np.asarray(other) * 2


@refused()
def subclass_of_ndarray(x):
    return np.sum(x.view(_Array) * x)


class _Kind(enum.Enum):
    A = 1
    B = 2


def enumeration(x):
    table = {_Kind.A: x[0], _Kind.B: x[1] * x[2]}
    return table[_Kind.B] * table[_Kind(1)]


class _Ufunc:
    k = 3.0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self.k * [v for v in inputs if v is not self][0] ** 2


@refused()
def array_ufunc(x):
    return np.sum(np.add(_Ufunc(), x)) * x[0]


@refused()
def array_ufunc_of_an_operator(x):
    return np.sum(x * _Ufunc()) * x[0]


class _Function:
    def __array_function__(self, func, types, args, kwargs):
        return args[0][1] ** 2


@refused()
def array_function(x):
    return np.sum(np.concatenate([_Function(), x])) * x[0]


class _AsArray:
    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return np.array([self.v, 2 * self.v])


@refused()
def as_array(x):
    return np.sum(np.asarray(_AsArray(x[1]))) * x[0]


@refused()
def as_array_by_an_operation(x):
    return np.sum(np.exp(_AsArray(x[1]))) * x[0]


@refused()
def as_array_by_an_operator(x):
    return np.sum(np.ones(2) * _AsArray(x[1])) * x[0]


class _Index:
    def __init__(self, v):
        self.v = v

    def __format__(self, spec):
        return str(self.v)

    def __str__(self):
        return repr(float(self.v))


@refused()
def text_of_an_object(x):
    return float(str(_Index(x[1]))) * x[0]


@refused()
def format_of_an_object(x):
    return float(f"{_Index(x[1])}") * x[0]


class _Deleting:
    def __init__(self):
        self.items = {}

    def __setitem__(self, key, v):
        self.items[key] = v**2

    def __getitem__(self, key):
        return self.items[key]

    def __delitem__(self, key):
        del self.items[key]

    def __missing__(self, key):
        return 0.0


@refused()
def items_set(x):
    d = _Deleting()
    d["a"] = x[1]
    return d["a"] * x[0]


@refused()
def class_made_here(x):
    class Local:
        k = 2.0

        def __init__(self, v):
            self.v = v

        def square(self):
            return self.k * self.v**2

    return Local(x[1]).square() * x[0]


@refused()
def class_made_here_with_a_value(x):
    class Local:
        v = x[1]

    return Local.v * x[0]


@refused()
def class_made_here_that_closes_over_a_value(x):
    class Local:
        def square(self):
            return x[1] ** 2

    return Local().square() * x[0]


class _Linked:
    def __init__(self, v, rest=None):
        self.v = v
        self.rest = rest


@refused()
def linked(x):
    node = _Linked(x[0], _Linked(x[1], _Linked(x[2])))
    total = 1.0
    while node is not None:
        total = total * node.v
        node = node.rest
    return total


@refused()
def counted_calls(x):
    class Counter:
        def __init__(self):
            self.total = 0.0

        def add(self, v):
            self.total += v
            return self

    return Counter().add(x[0]).add(x[1]).total * x[2]


class _Registry:
    items: dict = {}  # noqa: RUF012

    @classmethod
    def put(cls, key, v):
        cls.items[key] = v

    @classmethod
    def get(cls, key):
        return cls.items[key]


@refused()
def registry(x):
    _Registry.put("a", x[1])
    return _Registry.get("a") * x[0]


class _Stateful:
    def __init__(self):
        self.v = 0.0

    def keep(self, v):
        self.v = v


_STATEFUL = _Stateful()


@refused()
def state_of_the_module(x):
    _STATEFUL.keep(x[1])
    return _STATEFUL.v * x[0]


@refused()
def state_of_the_module_set(x):
    _STATEFUL.v = x[1]
    return _STATEFUL.v * x[0]


class _Operator:
    __slots__ = ()

    def __radd__(self, v):
        return v**2

    def __rmul__(self, v):
        return v**2

    def __rpow__(self, v):
        return v**3

    def __rtruediv__(self, v):
        return v**4

    def __rmatmul__(self, v):
        return v[1] ** 2

    __array_ufunc__ = None


_OPERATOR = _Operator()


@refused()
def reflected_operators(x):
    return np.sum(x + _OPERATOR) * np.sum(x * _OPERATOR) + (x[1] ** _OPERATOR) * x[0]


@refused()
def reflected_quotient(x):
    return np.sum(x / _OPERATOR) * x[0]


@refused()
def reflected_matrix_product(x):
    return (x @ _OPERATOR) * x[0]


@refused()
def object_in_a_container(x):
    held = {"op": _OPERATOR}
    return np.sum(x * held["op"])


def _with_operator(v, op):
    return np.sum(v * op)


@refused()
def object_given_to_a_helper(x):
    return _with_operator(x, _OPERATOR)


@refused()
def object_updated_in_place(x):
    y = x.copy()
    y = y * _OPERATOR
    y *= 2.0
    return np.sum(y)


@refused()
def array_updated_by_an_object(x):
    y = x[1]
    y *= _OPERATOR
    return y * x[0]
