"""Functions found at run time, buffers that are swapped, views that are bound anew."""

# ruff: noqa

import numpy as np
from collections import namedtuple
from dataclasses import dataclass
from .registry import program
import srcjax

X2 = np.array([1.3, -0.7])
X3 = np.array([0.5, 1.2, -0.8])


# ints to functions found at run time
def powr(x, n):
    return x**n if isinstance(n, int) else x * 100.0


def rng(x, n):
    s = 0.0
    for k in range(n):
        s = s + x ** (k + 1)
    return s


def idx(x, n):
    return x * [3.0, 5.0, 7.0][n]


def fdiv(x, n):
    return x * (n // 2) + x * (7 % n)


def strn(x, n):
    return x * len(str(n))


def neg(x, n):
    return x**2 * n


TABLE = {"powr": powr, "rng": rng, "idx": idx, "fdiv": fdiv, "strn": strn, "neg": neg}


def mk(name):
    pass


def pick(names, k):
    return TABLE[names[k]]


@program(X2)
def rt_powr(x):
    names = ["powr", "rng"]
    s = 0.0
    for n in names:
        f = TABLE[n]
        s = s + f(x[0], 2)
    return s


@program(X2)
def rt_list(x):
    fs = [powr, rng, idx, fdiv, strn, neg]
    s = 0.0
    for f in fs:
        s = s + f(x[0], 2)
    return s


@program(X2)
def rt_vary(x):
    fs = [powr, rng, idx, strn]
    s = 0.0
    for k in range(2):
        f = fs[k + (1 if x[0] > 0 else 0)]
        s = s + f(x[0], k + 1)
    return s


@program(X2)
def rt_loop_int(x):
    fs = (powr, rng)
    s = 0.0
    for k in range(1, 3):
        for f in fs:
            s = s + f(x[1], k)
    return s


@program({"f": 1.3, "n": 0.5})
def rt_arg_fn(d):
    g = rng if d["f"] > 0 else powr
    return g(d["f"], 3) * d["n"]


def apply(f, x, n):
    return f(x, n)


@program(X2)
def rt_higher(x):
    s = 0.0
    for f in (powr, rng):
        s = s + apply(f, x[0], 2)
    return s


@program(1.3, 3)
def int_arg(x, n):
    return rng(x, n)


@program(1.3, 3)
def int_isinstance(x, n):
    return powr(x, n)


class Obj:
    def __init__(self, f, n):
        self.f = f
        self.n = n

    def __call__(self, x):
        return self.f(x, self.n)


@program(X2)
def rt_obj(x):
    s = 0.0
    for o in [Obj(powr, 2), Obj(rng, 3)]:
        s = s + o(x[0])
    return s


@program(X2)
def rt_bool(x):
    def flag(v, b):
        return v * 2 if b is True else v * 3

    def flag2(v, b):
        return v * 5 if b is True else v * 7

    s = 0.0
    for f in [flag, flag2]:
        s = s + f(x[0], True)
    return s


@program(X2)
def rt_none(x):
    def a(v, b):
        return v * 2 if b is None else v * 3

    def c(v, b):
        return v * 5 if b is None else v * 7

    s = 0.0
    for f in [a, c]:
        s = s + f(x[0], None) + f(x[1], "s")
    return s


@program(X2)
def rt_tuple(x):
    def a(v, sh):
        return np.ones(sh).sum() * v

    def c(v, sh):
        return np.zeros(sh).size * v

    s = 0.0
    for f in [a, c]:
        s = s + f(x[0], (2, 3))
    return s


def _ro(v):
    v = v.copy()
    v.flags.writeable = False
    return v


@program(X3)
def ro_local(x):
    y = x * 2
    y.flags.writeable = False
    return (y**2).sum()


@program(X3)
def ro_setflags(x):
    y = x * 2
    y.setflags(write=False)
    return (y**2).sum()


# runtime-unknown functions that mutate
def mut(a, b):
    b[0] = a[0] ** 2
    return a[1]


def mut2(a, b):
    b[0] = a[0] ** 3
    return a[1]


@program(X3)
def rt_mutate(x):
    out = np.zeros(3)
    s = 0.0
    for f in [mut, mut2]:
        s = s + f(x, out)
    return s + out[0] * x[1]


@program(X3)
def rt_mutate_expr(x):
    out = np.zeros(3)
    for f in [mut, mut2]:
        f(x, out)
    return out[0] * x[1]


@program(X3)
def rt_mutate_pick(x):
    out = np.zeros(3)
    f = {True: mut, False: mut2}[bool(x[0] > 0)]
    r = f(x, out)
    return out[0] * r


@program(X3)
def rt_mutate_x(x):
    def inc(a):
        a += 1.0
        return a[0]

    def dbl(a):
        a *= 2.0
        return a[1]

    y = x * 1.0
    f = inc if x[0] > 0 else dbl
    r = f(y)
    return (y**2).sum() * r


@program(X3)
def rt_mutate_list(x):
    def inc(a, v):
        a.append(v)
        return v

    def dbl(a, v):
        a.append(2 * v)
        return v

    h = []
    for k in range(3):
        f = inc if x[k] > 0 else dbl
        f(h, x[k] ** 2)
    return h[0] * h[1] + h[2]


# ping-pong & swap buffers
@program(X3)
def pingpong(x):
    a = x.copy()
    b = np.zeros_like(a)
    for _ in range(3):
        b[1:] = a[:-1] * 0.5 + a[1:] ** 2
        b[0] = a[0]
        a, b = b, a
    return (a**2).sum()


@program(X3)
def pingpong_list(x):
    buf = [x.copy(), np.zeros(3)]
    for k in range(3):
        src, dst = buf[k % 2], buf[(k + 1) % 2]
        dst[:] = src * 0.5 + src[0] ** 2
    return (buf[1] ** 2).sum() + buf[0][1]


@program(X3)
def pingpong_2d(x):
    buf = np.zeros((2, 3))
    buf[0] = x
    cur = 0
    for k in range(3):
        nxt = 1 - cur
        buf[nxt] = buf[cur] * 0.5 + buf[cur][::-1] ** 2
        cur = nxt
    return (buf[cur] ** 2).sum()


class Buf:
    def __init__(self, n):
        self.a = np.zeros(n)
        self.b = np.zeros(n)

    def step(self):
        self.b[:] = self.a**2 + 0.1
        self.a, self.b = self.b, self.a


@program(X3)
def pingpong_obj(x):
    s = Buf(3)
    s.a[:] = x
    for _ in range(2):
        s.step()
    return (s.a * x).sum()


@program(X3)
def swap_views(x):
    w = np.zeros(6)
    lo, hi = w[:3], w[3:]
    lo[:] = x
    for _ in range(2):
        hi[:] = lo**2
        lo, hi = hi, lo
    return (w[:3] * 2 + w[3:]).sum()


@program(X3)
def slice_of_slice(x):
    w = np.zeros(8)
    v = w[1:7][::2]
    v[:] = x**2
    v[1:] *= x[:2]
    return (w[:3] * 3).sum() + w[5] * w[3]


@program(X3)
def slice_2d(x):
    w = np.zeros((3, 3))
    w[1:][:, 1:][0] = x[:2] ** 2
    w[1:][1][0] += x[2]
    return (w @ x).sum() * w[1, 2]


@program(X3)
def view_rebound(x):
    w = np.zeros((3, 3))
    row = w[0]
    for i in range(3):
        row = w[i]
        row[i] = x[i] ** 2
        row += x
    return (w**2).sum()


@program(X3)
def view_rebound_while(x):
    w = np.zeros(6)
    v = w
    k = 0
    while k < 3:
        v[0] = x[k] ** 2
        v = v[1:]
        k += 1
    return (w[:3] * x).sum()


@program(X3)
def transpose_write(x):
    w = np.zeros((3, 2))
    t = w.T
    t[0] = x**2
    t[1, 1:] += x[1:]
    return (w[:, 0] * w[:, 1]).sum()


@program(X3)
def reshape_write(x):
    w = np.zeros(6)
    m = w.reshape(2, 3)
    m[1] = x**2
    m[:, 0] += x[:2]
    return (w**2).sum()


@program(X3)
def ravel_write(x):
    w = np.zeros((2, 3))
    r = w.ravel()
    r[1:4] = x**2
    return (w**2)[0].sum() + w[1, 0] * x[1]


@program(X3)
def diag_write(x):
    w = np.zeros((3, 3))
    np.einsum("ii->i", w)[:] = x**2
    return (w @ x).sum()


@program(X3)
def flip_write(x):
    w = np.zeros(3)
    f = w[::-1]
    f[:2] = x[:2] ** 2
    return (w * x).sum()


def accumulate(buf, v):
    buf += v


def scale(buf, s):
    buf *= s
    return buf


@program(X3)
def helper_mutates(x):
    b = np.zeros(3)
    for k in range(3):
        accumulate(b, x * (k + 1))
        scale(b, x[0])
    return (b**2).sum()


@program(X3)
def helper_returns_arg(x):
    b = x.copy()
    c = scale(b, x[1])
    c[0] += 1.0
    b[1] *= x[2]
    return (b * c).sum()


@program(X3)
def helper_two_bufs(x):
    def step(p, v):
        v += 0.1 * p
        p += 0.1 * v

    p, v = x.copy(), x * 0.5
    for _ in range(3):
        step(p, v)
    return (p * v).sum()


@program(X3)
def helper_same_buf(x):
    def step(p, v):
        v += p
        p *= 2.0

    p = x.copy()
    step(p, p)
    return (p**2).sum()


@program(X3)
def helper_overlap(x):
    def step(p, v):
        v += p**2

    p = np.append(x, 1.0)
    step(p[:-1], p[1:])
    return (p**2).sum()


@program(X3)
def self_overlap(x):
    p = x.copy()
    p[1:] += p[:-1]
    p[:-1] *= p[1:]
    return (p**2).sum()


@program(X3)
def closure_buffer(x):
    b = np.zeros(3)

    def put(i, v):
        b[i] += v

    def get():
        return b

    for i in range(3):
        put(i, x[i] ** 2)
    put(0, b[1])
    return (get() ** 2).sum()


@program(X3)
def closure_counter_buffer(x):
    st = {"b": np.zeros(3), "n": 0}

    def push(v):
        st["b"][st["n"]] = v
        st["n"] += 1

    for i in range(3):
        push(x[i] ** 2)
    return (st["b"] * x).sum() * st["n"]


@dataclass
class State:
    p: np.ndarray
    v: np.ndarray
    hist: list


@program(X3)
def dataclass_buffers(x):
    s = State(x.copy(), x * 0.0, [])
    for k in range(3):
        s.v += 0.1 * s.p
        s.p -= 0.2 * s.v
        s.hist.append(s.p.copy())
    return (s.hist[0] * s.p).sum()


@program(X3)
def dataclass_hist_alias(x):
    s = State(x.copy(), x * 0.0, [])
    for k in range(3):
        s.p += 0.2 * x
        s.hist.append(s.p)
    return (s.hist[0] * s.hist[2]).sum()


@program(X3)
def alias_then_copy(x):
    a = x.copy()
    b = a
    a = a + 1.0
    b[0] = x[1] ** 2
    return (a * b).sum()


@program(X3)
def aug_item_alias(x):
    d = {"w": x.copy()}
    w = d["w"]
    d["w"] += x
    d["w"] *= 2
    return (w * x).sum()


@program(X3)
def aug_list_item(x):
    l = [x.copy(), x * 2]
    a = l[0]
    for i in range(2):
        l[i] += x**2
    return (a * l[1]).sum()


@program(X3)
def mask_alias(x):
    a = x.copy()
    b = a
    b[a > 0] *= x[1]
    return (a**2).sum()


@program(X3)
def fancy_write(x):
    a = np.zeros(4)
    i = np.array([0, 2, 0])
    a[i] = x**2
    a[i] += x
    return (a**2).sum()


@program(X3)
def cond_alias(x):
    a = x.copy()
    b = a if x[0] > 0 else a.copy()
    b[1] = x[0] ** 2
    return (a**2).sum()


@program(X3)
def cond_alias_branches(x):
    a = x.copy()
    if x[0] > 0:
        b = a
    else:
        b = a.copy()
    b *= 2
    return (a * b).sum()


@program(X3)
def tuple_swap_elems(x):
    a = x.copy()
    a[0], a[1] = a[1], a[0] ** 2
    a[1:], a[:-1] = a[:-1].copy(), a[1:].copy()
    return (a**2 * np.arange(3)).sum()


@program(X3)
def chained_assign(x):
    a = b = np.zeros(3)
    a[0] = x[0] ** 2
    b[1] = x[1]
    return (a * b).sum()


@program(X3)
def del_name_alias(x):
    a = x.copy()
    b = a
    del a
    b *= 2
    a = b
    b += x
    return (a**2).sum()


@program(X3)
def early_return_alias(x):
    a = x.copy()
    b = a
    for k in range(3):
        b[k] *= 2
        if b[k] > 2:
            return (a**2).sum()
    return a.sum()


@program(X3)
def loop_else_alias(x):
    rows = np.zeros((3, 3))
    for k, r in enumerate(rows):
        r[k:] = x[k:] ** 2
    else:
        rows[0] += x
    return (rows.sum(axis=0) ** 2).sum()


@program(X3)
def zip_views(x):
    a, b = np.zeros((3, 2)), np.ones((3, 2))
    for u, v, w in zip(a, b, x):
        u += w**2
        v *= u
    return (a * b).sum()


@program(X3)
def nonlocal_buf(x):
    buf = np.zeros(3)

    def reset():
        nonlocal buf
        buf = buf + x

    old = buf
    reset()
    buf[0] = x[1] ** 2
    return (old + buf).sum() * buf[0]


@program(X3)
def try_alias(x):
    a = x.copy()
    b = a
    try:
        b[0] = x[1] ** 2
    finally:
        b[1] *= 2
    return (a**2).sum()


@program(X3)
def lambda_buf(x):
    a = np.zeros(3)
    f = lambda i: a[i] * 2
    a[1] = x[0] ** 2
    return f(1) * x[1]


@program(X3)
def gen_buf(x):
    a = np.zeros(3)
    g = (a[i] * 2 for i in range(3))
    a[:] = x**2
    return sum(g)


@program(X3)
def default_buf(x):
    a = x.copy()

    def f(v, b=a):
        b += v
        return b[0]

    s = f(x) * f(x**2)
    return s * a[1]


@program(X3)
def dict_mixed(x):
    st = {"b": np.zeros(3), "n": 0, "s": 0.0}
    c = st["b"]
    for i in range(3):
        st["b"] += x * (i + 1)
        st["n"] += 1
        st["s"] += x[i] ** 2
    return (c * x).sum() * st["n"] + st["s"]


@program(X3)
def dict_mixed_keys(x):
    st = {"b": x * 1.0, "s": 0.0}
    for k in ("b", "s"):
        st[k] += 2.0
    return (st["b"] * x).sum() * st["s"]


@program(X3)
def list_mixed(x):
    st = [x * 1.0, 0.0]
    for k in range(2):
        st[k] += x[0]
        st[k] *= 2.0
    return (st[0] * x).sum() * st[1]


@program(X3)
def list_mixed_index(x):
    st = [x * 1.0, 0.0]
    st[1] += x[0]
    st[0] += x
    st[-1] *= x[1]
    return (st[0] * x).sum() * st[1]


@program(X3)
def dict_lists(x):
    st = {"l": [1.0], "a": x * 1.0, "t": (1.0,)}
    st["l"] += [x[0]]
    st["t"] += (x[1],)
    st["a"] -= 1
    return st["l"][1] * st["t"][1] * st["a"].sum()
