"""What is known of a container before something else writes to it; classes; arrays without axes."""

# ruff: noqa

import heapq, bisect, random, operator, copy, functools
import numpy as np
from collections import namedtuple, deque
from dataclasses import dataclass, field
from .registry import program

X2 = np.array([1.3, -0.7])
X3 = np.array([0.5, 1.2, -0.8])


# --- known values of containers that unseen code writes
@program(X2)
def kv_heappush(x):
    h = [3, 5]
    heapq.heappush(h, 1)
    return x[0] ** h[0] + len(h) * x[1]


@program(X2)
def kv_insort(x):
    h = [1, 5]
    bisect.insort(h, 0)
    return x[0] ** (h[0] + 2) + len(h) * x[1]


@program(X2)
def kv_shuffle(x):
    h = [1, 2, 3]
    random.Random(3).shuffle(h)
    return x[0] * h[0] + x[1] * h[1]


@program(X2)
def kv_dunder(x):
    h = [1, 2, 3]
    h.__setitem__(0, 5)
    return x[0] * h[0] + x[1] * h[1]


@program(X2)
def kv_opset(x):
    h = [1, 2, 3]
    operator.setitem(h, 0, 5)
    return x[0] * h[0] + x[1] * h[1]


class Opaque:
    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        if name.startswith("bump"):
            return lambda: self.store.__setitem__(0, 7)
        raise AttributeError(name)


@program(X2)
def kv_opaque_obj(x):
    h = [1, 2, 3]
    o = Opaque(h)
    o.bump()
    return x[0] * h[0] + x[1] * h[1]


exec("def hidden_fill(a):\n    a[0] = 9")


@program(X2)
def kv_exec(x):
    h = [1, 2, 3]
    hidden_fill(h)
    return x[0] * h[0] + x[1] * h[1]


@program(X2)
def kv_exec_nested(x):
    h = [[1, 2], [3, 4]]
    hidden_fill(h[1])
    return x[0] * h[1][0] + x[1] * h[0][0]


@program(X2)
def kv_exec_dict(x):
    h = {0: 1, 1: 2}
    hidden_fill(h)
    return x[0] * h[0] + x[1] * h[1]


@program(X2)
def kv_exec_if(x):
    h = [False, 2]
    hidden_fill(h)
    if h[0]:
        return x[0] * x[1]
    return x[1] * 2


@program(X2)
def kv_map_append(x):
    h = []
    list(map(h.append, [2, 3]))
    return x[0] * h[0] + x[1] * len(h)


@program(X2)
def kv_comp_append(x):
    h = [1]
    [h.append(k) for k in (5, 6)]
    return x[0] * h[-1] + x[1] * len(h)


@program(X2)
def kv_lambda_append(x):
    h = [1]
    add = lambda k: h.append(k)
    add(4)
    return x[0] * h[-1] + x[1] * len(h)


@program(X2)
def kv_sort_key(x):
    h = [1]
    sorted([3, 2], key=lambda k: h.append(k) or k)
    return x[0] * h[-1] + x[1] * len(h)


@program(X2)
def kv_iter_list(x):
    h = [1, 2]
    it = iter(h)
    next(it)
    h[1] = 5
    return x[0] * next(it) + x[1]


@program(X2)
def kv_reversed_alias(x):
    h = [1, 2]
    g = h
    g.reverse()
    return x[0] * h[0] + x[1]


@program(X2)
def kv_tuple_alias(x):
    h = [1, 2]
    t = (h, h)
    t[0][0] = 7
    return x[0] * h[0] + x[1] * t[1][0]


@program(X2)
def kv_dict_alias(x):
    h = [1, 2]
    t = {"a": h}
    for k in t:
        t[k][0] += 4
    return x[0] * h[0] + x[1] * t["a"][1]


@program(X2)
def kv_default_arg(x):
    h = [1, 2]

    def bump(a, b=h):
        b[0] += a

    bump(5)
    return x[0] * h[0]


@program(X2)
def kv_star(x):
    h = [1, 2]

    def bump(*a):
        a[0][0] = 8

    bump(h, 3)
    return x[0] * h[0]


@program(X2)
def kv_kwargs(x):
    h = [1, 2]

    def bump(**a):
        a["h"][0] = 8

    bump(h=h)
    return x[0] * h[0]


@program(X2)
def kv_partial(x):
    h = [1, 2]

    def bump(a, b):
        a[0] = b

    functools.partial(bump, h)(8)
    return x[0] * h[0]


@program(X2)
def kv_attr(x):
    class S:
        pass

    s = S()
    s.n = [1, 2]
    t = s
    t.n[0] = 8
    s.n.append(4)
    return x[0] * s.n[0] * len(t.n)


@program(X2)
def kv_swap(x):
    h = [1, 2]
    h[0], h[1] = h[1], h[0]
    return x[0] * h[0] + x[1] * h[1]


@program(X2)
def kv_slice_copy(x):
    h = [1, 2]
    g = h[:]
    g[0] = 9
    return x[0] * h[0] + x[1] * g[0]


@program(X2)
def kv_slice_del(x):
    h = [1, 2, 3, 4]
    del h[::2]
    return x[0] * h[0] + x[1] * len(h)


@program(X2)
def kv_nested_comp(x):
    h = [[k] * 2 for k in (1, 2)]
    g = h[0]
    g[0] = 9
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_mult(x):
    h = [[1]] * 3
    h[1][0] = 9
    return x[0] * h[0][0] + x[1] * h[2][0]


@program(X2)
def kv_copy(x):
    h = [[1], [2]]
    g = copy.copy(h)
    d = copy.deepcopy(h)
    g[0][0] = 9
    d[1][0] = 11
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_list_copy(x):
    h = [[1], [2]]
    g = h.copy()
    g[0][0] = 9
    g[1] = [4]
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_add(x):
    h = [[1], [2]]
    g = h + [[5]]
    g[0][0] = 9
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_extend(x):
    h = [[1], [2]]
    g = []
    g.extend(h)
    g[0][0] = 9
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_unpack(x):
    h = [[1], [2]]
    a, b = h
    a[0] = 9
    return x[0] * h[0][0] + x[1] * h[1][0]


@program(X2)
def kv_star_unpack(x):
    h = [[1], [2], [3]]
    a, *b = h
    b[0][0] = 9
    return x[0] * h[1][0] + x[1] * h[0][0]


@program(X2)
def kv_dict_get(x):
    h = {"a": [1], "b": [2]}
    h.get("a")[0] = 9
    h.setdefault("b", [0])[0] = 5
    return x[0] * h["a"][0] + x[1] * h["b"][0]


@program(X2)
def kv_pop_write(x):
    h = [[1], [2]]
    g = h
    r = h.pop()
    r[0] = 9
    g.append(r)
    return x[0] * h[1][0] + x[1] * h[0][0]


@program(X2)
def kv_np_write(x):
    n = np.array([1.0, 2.0])
    m = n
    m[0] = 9.0
    v = n[1:]
    v[0] = 4.0
    return (x * n).sum()


@program(X2)
def kv_loop_counter(x):
    c = [0]

    def tick():
        c[0] += 1
        return c[0]

    s = 0.0
    for _ in range(3):
        s = s + x[0] * tick()
    return s * c[0]


@program(X2)
def kv_generator(x):
    c = [0]

    def gen():
        while c[0] < 3:
            c[0] += 1
            yield c[0]

    s = 0.0
    for k in gen():
        s = s + x[0] ** k
    return s * c[0]


@program(X2)
def kv_property(x):
    class S:
        def __init__(self):
            self.n = 0

        @property
        def nxt(self):
            self.n += 1
            return self.n

    s = S()
    a = s.nxt * x[0]
    b = s.nxt * x[1]
    return a * b * s.n


class Acc:
    def __init__(self, v):
        self.v = v

    def __iadd__(self, o):
        self.v = self.v + o
        return self


class Add:
    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        return Add(self.v + o)


@program(X2)
def iadd_class(x):
    a = Acc(x[0])
    b = a
    a += x[1] ** 2
    return a.v * b.v


@program(X2)
def add_class(x):
    a = Add(x[0])
    b = a
    a += x[1] ** 2
    return a.v * b.v


@program(X2)
def iadd_class_loop(x):
    a = Acc(0.0)
    b = a
    for k in range(2):
        a += x[k] ** 2
    return a.v * b.v


@program(X2)
def iadd_other(x):
    class Vec:
        def __init__(self, d):
            self.d = d

        def __iadd__(self, o):
            self.d += o.d
            return self

    a = Vec(x.copy())
    b = a
    arr = a.d
    a += Vec(x**2)
    return (a.d * b.d).sum() + arr[0]


@program(X2)
def iadd_returns_new(x):
    class W:
        def __init__(self, d):
            self.d = d

        def __iadd__(self, o):
            return W(self.d * o)

    a = W(x[0])
    b = a
    a += x[1]
    return a.d + b.d**2


@program(X2)
def iadd_attr(x):
    class H:
        pass

    h = H()
    h.a = Acc(x[0])
    g = h.a
    h.a += x[1]
    return h.a.v * g.v


@program(X2)
def iadd_item(x):
    l = [Acc(x[0])]
    g = l[0]
    l[0] += x[1]
    return l[0].v * g.v


@program(X2)
def imul_tuple(x):
    t = (x[0], x[1])
    s = t
    t += (x[0] * x[1],)
    return t[2] + s[0]


@program(X2)
def isub_imatmul(x):
    A = np.outer(x, x)
    B = A
    A @= np.array([[1.0, 2.0], [0.0, 1.0]])
    A -= x
    return (B * A).sum()


@program(X2)
def ior_dict(x):
    d = {"a": x[0]}
    e = d
    d |= {"b": x[1] ** 2}
    return e["a"] * e["b"]


@program(X2)
def zero_d(x):
    out = np.empty(())
    out[()] = x[0] ** 2
    return out.item() * x[1]


@program(X2)
def zero_d_iadd(x):
    out = np.zeros(())
    out += x[0] ** 2
    out[...] += x[1]
    return out * x[1]


@program(X2)
def zero_d_alias(x):
    out = np.zeros(())
    b = out
    b[...] = x[0] ** 2
    return out * x[1]


@program(X2)
def zero_d_iadd_alias(x):
    out = np.zeros(())
    b = out
    b += x[0] ** 2
    return out * x[1]


@program(X2)
def zero_d_loop(x):
    s = np.array(0.0)
    for i in range(2):
        s += x[i] ** 2
    return float(s) * x[0]


@program(np.array(1.3))
def zero_d_arg(x):
    y = x.copy()
    y[()] = x * 3
    y += x
    return y[()] ** 2


@program(X2)
def zero_d_view(x):
    a = np.zeros(2)
    v = a[0, ...]
    v[()] = x[0] ** 2
    return a[0] * x[1]


@program(X2)
def zero_d_fill(x):
    out = np.zeros(())
    out.fill(x[0] ** 2)
    return out * x[1]


@program(X2)
def zero_d_out(x):
    out = np.zeros(())
    np.multiply(x[0], x[1], out=out)
    return out * x[1]


@program(X2)
def zero_d_list(x):
    o = [np.zeros(()) for _ in range(2)]
    for i in range(2):
        o[i][...] = x[i] ** 2
    return o[0] * o[1]


def _put_loop(a, v):
    for i in range(len(a)):
        a[i] = v * (i + 1)


@program(X2)
def kvf_if(x):
    h = [0.0, 0.0]
    _put_loop(h, 1.0)
    if h[0]:
        return x[0] * h[1]
    return x[1] * 2


@program(X2)
def kvf_active(x):
    h = [0.0, 0.0]
    _put_loop(h, x[0])
    if h[0]:
        return x[0] * h[1]
    return x[1] * 2


@program(X2)
def kvf_nested(x):
    h = [[0.0, 0.0], [0.0, 0.0]]
    for row in h:
        _put_loop(row, x[0])
    if h[0][0] > 0:
        return x[0] * h[1][1]
    return x[1] * 2


@program(X2)
def kvf_slice_len(x):
    h = [0.0]
    hidden_grow(h)
    s = 0.0
    for v in h:
        s = s + v * x[0]
    a, b, c = h
    return s * x[1] + c * x[0]


exec("def hidden_grow(a):\n    a += [2.0, 3.0]")
