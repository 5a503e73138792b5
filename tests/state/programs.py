"""Loops whose state carries no derivative, kept in every way that Python has.

Each program multiplies powers of what the state picks from `x`: the backward sweep has
to know the state of each iteration again.
"""
# ruff: noqa: A001, B010, SIM108, UP034, B006, B007, B018, B023, C416, C419, E731, F841, PIE790, PLW0603, SIM105, SIM113, UP031

from __future__ import annotations

import array
import bisect
import collections
import contextlib
import copy
import functools
import heapq
import itertools
import operator
import random
import types

import numpy as np

K = 0


def glob(x):
    global K
    K = 0
    s = 1.0
    for _ in range(3):
        s = s * x[K] ** 2
        K += 1
    return s


def nonloc(x):
    k = 0

    def bump():
        nonlocal k
        k += 1

    s = 1.0
    for _ in range(3):
        s = s * x[k] ** 2
        bump()
    return s


def d_item(x):
    d = {"i": 0}
    s = 1.0
    for _ in range(3):
        s = s * x[d["i"]] ** 2
        d["i"] += 1
    return s


class S:
    i = 0


def attr(x):
    o = S()
    s = 1.0
    for _ in range(3):
        s = s * x[o.i] ** 2
        o.i += 1
    return s


def setat(x):
    o = S()
    s = 1.0
    for k in range(3):
        setattr(o, "i", k)
        s = s * x[o.i] ** 2
    return s


def dunderdict(x):
    o = S()
    s = 1.0
    for k in range(3):
        o.__dict__["i"] = k
        s = s * x[o.i] ** 2
    return s


def varsd(x):
    o = S()
    s = 1.0
    for k in range(3):
        vars(o)["i"] = k
        s = s * x[o.i] ** 2
    return s


def classattr(x):

    class Z:
        i = 0

    s = 1.0
    for k in range(3):
        Z.i = k
        s = s * x[Z.i] ** 2
    return s


def opset(x):
    held = [0]
    s = 1.0
    for k in range(3):
        operator.setitem(held, 0, k)
        s = s * x[held[0]] ** 2
    return s


def slic(x):
    held = [0]
    s = 1.0
    for k in range(3):
        held[:] = [k]
        s = s * x[held[0]] ** 2
    return s


def listadd(x):
    held = []
    s = 1.0
    for k in range(3):
        held += [k]
        s = s * x[held[-1]] ** 2
    return s


def sorts(x):
    held = [2, 0, 1]
    s = 1.0
    for k in range(3):
        held.sort(key=lambda q: (q + k) % 3)
        s = s * x[held[0]] ** (k + 1)
    return s


def idxadd(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        s = s * x[idx[0]] ** 2
        idx[0] += 1
    return s


def addat(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        s = s * x[idx[0]] ** 2
        np.add.at(idx, 0, 1)
    return s


def fill(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        idx.fill(k)
        s = s * x[idx[0]] ** 2
    return s


def put(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        idx.put(0, k)
        s = s * x[idx[0]] ** 2
    return s


def flat(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        idx.flat[0] = k
        s = s * x[idx[0]] ** 2
    return s


def tview(x):
    idx = np.array([[0]])
    s = 1.0
    for k in range(3):
        idx.T[0] = k
        s = s * x[idx[0, 0]] ** 2
    return s


def viewv(x):
    idx = np.array([0])
    v = idx.view()
    s = 1.0
    for k in range(3):
        v[0] = k
        s = s * x[idx[0]] ** 2
    return s


def memv(x):
    idx = np.array([0])
    v = memoryview(idx)
    s = 1.0
    for k in range(3):
        v[0] = k
        s = s * x[idx[0]] ** 2
    return s


def npput(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        np.put(idx, 0, k)
        s = s * x[idx[0]] ** 2
    return s


def place(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        np.place(idx, [True], k)
        s = s * x[idx[0]] ** 2
    return s


def putmask(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        np.putmask(idx, [True], k)
        s = s * x[idx[0]] ** 2
    return s


def copyto(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        np.copyto(idx, k)
        s = s * x[idx[0]] ** 2
    return s


def uf_out(x):
    idx = np.array([0])
    s = 1.0
    for k in range(3):
        s = s * x[idx[0]] ** 2
        np.add(idx, 1, idx)
    return s


def fd_(x):
    w = np.zeros((2, 2))
    s = 1.0
    for k in range(3):
        np.fill_diagonal(w, k + 1)
        s = s * np.sum(w * x[k] ** 2)
    return s


def arr(x):
    held = array.array("i", [0])
    s = 1.0
    for k in range(3):
        held[0] = k
        s = s * x[held[0]] ** 2
    return s


def dq(x):
    held = collections.deque([0, 1, 2])
    s = 1.0
    for k in range(3):
        s = s * x[held[0]] ** (k + 1)
        held.rotate(1)
    return s


def hq(x):
    held = [2, 1, 0]
    heapq.heapify(held)
    s = 1.0
    while held:
        s = s * x[heapq.heappop(held)] ** 2
    return s


def bis(x):
    held = []
    s = 1.0
    for k in [2, 0, 1]:
        bisect.insort(held, k)
        s = s * x[held[0]] ** 2
    return s


def cnt(x):
    c = collections.Counter()
    s = 1.0
    for k in [2, 0, 1]:
        c["a"] += 1
        s = s * x[c["a"] - 1] ** 2
    return s


def sets(x):
    c = set()
    s = 1.0
    for k in [2, 0, 1]:
        c.add(k)
        s = s * x[len(c) - 1] ** 2 * min(c) + x[k]
    return s


def ba(x):
    held = bytearray(1)
    s = 1.0
    for k in range(3):
        held[0] = k
        s = s * x[held[0]] ** 2
    return s


def it(x):
    c = itertools.count()
    s = 1.0
    for _ in range(3):
        s = s * x[next(c)] ** 2
    return s


def cyc(x):
    c = itertools.cycle([2, 0])
    s = 1.0
    for _ in range(3):
        j = next(c)
        s = s * x[j] ** 2
    return s


def gen(x):

    def g():
        k = 0
        while True:
            yield k
            k += 1

    c = g()
    s = 1.0
    for _ in range(3):
        s = s * x[next(c)] ** 2
    return s


def rnd(x):
    r = random.Random(0)
    s = 1.0
    for _ in range(3):
        s = s * x[r.randrange(3)] ** 2
    return s


def nprnd(x):
    r = np.random.default_rng(0)
    s = 1.0
    for _ in range(3):
        s = s * x[r.integers(3)] ** 2 * r.normal()
    return s


def lateclosure(x):
    fs = []
    for k in range(3):
        fs.append(lambda: x[k] ** len(fs))
    s = 1.0
    for f in fs:
        s = s * f()
    return s


def exc_as(x):
    s = 1.0
    for k in range(3):
        try:
            raise ValueError(k)
        except ValueError as e:
            j = e.args[0]
        s = s * x[j] ** 2
    return s


def match(x):
    s = 1.0
    for k in range(3):
        match (k, k + 1):
            case [a, b]:
                pass
        s = s * x[a] ** b
    return s


def starred(x):
    s = 1.0
    for k in range(3):
        a, *b = [k, k + 1, 2]
        s = s * x[a] ** b[0]
    return s


def withas(x):
    s = 1.0
    for k in range(3):
        with contextlib.nullcontext(k) as j:
            s = s * x[j] ** 2
    return s


def defin(x):
    s = 1.0
    for k in range(3):

        def f(j=k):
            return j

        s = s * x[f()] ** 2
    return s


def delk(x):
    s = 1.0
    for k in range(3):
        j = k
        s = s * x[j] ** 2
        del j
    return s


def inimport(x):
    s = 1.0
    for k in range(3):
        from math import floor as fl

        s = s * x[fl(k + 0.5)] ** 2
        fl = None
    return s


def popitem(x):
    d = {0: 1, 1: 2, 2: 3}
    s = 1.0
    while d:
        k, v = d.popitem()
        s = s * x[k] ** v
    return s


def partial_state(x):
    held = [0]

    def nxt(held):
        held[0] += 1
        return held[0] - 1

    f = functools.partial(nxt, held)
    s = 1.0
    for k in range(3):
        s = s * x[f()] ** 2
    return s


def default_mutable(x):

    def nxt(held=[0]):
        held[0] += 1
        return (held[0] - 1) % 3

    s = 1.0
    for k in range(3):
        s = s * x[nxt()] ** 2
    return s


def simple_ns(x):
    n = types.SimpleNamespace(i=0)
    s = 1.0
    for k in range(3):
        s = s * x[n.i] ** 2
        n.i += 1
    return s


def aug_tuple(x):
    t = ()
    s = 1.0
    for k in range(3):
        t += (k,)
        s = s * x[t[-1]] ** 2 * len(t)
    return s


def nested_l(x):
    held = [[0], [0]]
    s = 1.0
    m = held[0]
    for k in range(3):
        m[0] = k
        s = s * x[held[0][0]] ** 2
    return s


def whileelse(x):
    k = 0
    s = 1.0
    while k < 3:
        s = s * x[k] ** 2
        k += 1
    else:
        k = 1
    return s * x[k]


def forelse(x):
    s = 1.0
    for a in range(2):
        for k in range(3):
            if k == 1 + a:
                break
        else:
            k = 0
        s = s * x[k] ** 2
    return s


def strk(x):
    t = ""
    s = 1.0
    for k in range(3):
        t += "a"
        s = s * x[len(t) - 1] ** 2
    return s


def aliasd(x):
    d = {}
    e = d
    s = 1.0
    for k in range(3):
        e.setdefault("a", []).append(k)
        s = s * x[d["a"][-1]] ** 2
    return s


def compr_side(x):
    held = []
    s = 1.0
    for k in range(3):
        [held.append(q) for q in range(k)]
        s = s * x[len(held) % 3] ** 2
    return s


def cachef(x):

    @functools.lru_cache
    def f(k):
        return k

    s = 1.0
    for k in range(3):
        s = s * x[f(k)] ** 2
    return s


class T:
    def __init__(self):
        self.table = {}
        self.rows = []
        self.n = 0
        self.idx = np.array([0])

    def put(self, k, v):
        self.table[k] = v

    def step(self):
        self.n += 1
        return self.n - 1

    @property
    def last(self):
        return self.rows[-1]

    def __len__(self):
        return self.n

    def __iter__(self):
        self.n += 1
        return iter([self.n])

    def __call__(self, k):
        self.n = k

    def __enter__(self):
        self.n += 1
        return self.n - 1

    def __exit__(self, *a):
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.table[name]

    def __contains__(self, k):
        self.n = k
        return True


def tab(x):
    o = T()
    s = 1.0
    for k in range(3):
        o.table["i"] = k
        s = s * x[o.table["i"]] ** 2
    return s


def tab2(x):
    o = T()
    s = 1.0
    for k in range(3):
        o.put("i", k)
        s = s * x[o.table["i"]] ** 2
    return s


def rows(x):
    o = T()
    s = 1.0
    for k in range(3):
        o.rows.append(k)
        s = s * x[o.last] ** 2
    return s


def stepm(x):
    o = T()
    s = 1.0
    for k in range(3):
        s = s * x[o.step()] ** 2
    return s


def ln(x):
    o = T()
    s = 1.0
    for k in range(3):
        s = s * x[len(o)] ** 2
        o.step()
    return s


def itr(x):
    o = T()
    s = 1.0
    for k in range(2):
        for j in o:
            s = s * x[j] ** 2
    return s


def cal(x):
    o = T()
    s = 1.0
    for k in range(3):
        o(k)
        s = s * x[o.n] ** 2
    return s


def wth(x):
    o = T()
    s = 1.0
    for k in range(3):
        with o as j:
            s = s * x[j] ** 2
    return s


def wth2(x):
    o = T()
    s = 1.0
    for k in range(3):
        with o:
            s = s * x[o.n - 1] ** 2
    return s


def ga(x):
    o = T()
    s = 1.0
    for k in range(3):
        o.table["foo"] = k
        s = s * x[o.foo] ** 2
    return s


def cont(x):
    o = T()
    s = 1.0
    for k in range(3):
        if k in o:
            s = s * x[o.n] ** 2
    return s


def objidx(x):
    o = T()
    s = 1.0
    for k in range(3):
        s = s * x[o.idx[0]] ** 2
        o.idx[0] += 1
    return s


def objidx2(x):
    o = T()
    s = 1.0
    for k in range(3):
        s = s * x[o.idx[0]] ** 2
        o.idx = o.idx + 1
    return s


def copied_o(x):
    o = T()
    s = 1.0
    for k in range(3):
        q = copy.copy(o)
        q.n = k
        s = s * x[q.n] ** 2 * (o.n + 1)
    return s


def swap(x):
    a, b = ([0], [2])
    s = 1.0
    for k in range(3):
        a, b = (b, a)
        s = s * x[a[0]] ** 2
        a[0] = 1
    return s


def swapi(x):
    held = [0, 1, 2]
    s = 1.0
    for k in range(2):
        held[0], held[k + 1] = (held[k + 1], held[0])
        s = s * x[held[0]] ** (k + 2)
    return s


def dd(x):
    d = collections.defaultdict(list)
    s = 1.0
    for k in range(3):
        d["a"].append(k)
        s = s * x[d["a"][-1]] ** 2 * len(d["b"] + [1])
    return s


def dkeys(x):
    d = {}
    s = 1.0
    for k in range(3):
        d[k] = k
        s = s * x[list(d)[-1]] ** 2 * x[max(d.values())]
    return s


def dview(x):
    d = {}
    v = d.keys()
    s = 1.0
    for k in range(3):
        d[k] = k
        s = s * x[len(v) - 1] ** 2
    return s


def od(x):
    d = collections.OrderedDict(((k, k) for k in range(3)))
    s = 1.0
    for k in range(3):
        d.move_to_end(k)
        s = s * x[next(iter(d))] ** 2
    return s


def permut(x):
    s = 1.0
    idx = np.arange(3)
    for k in range(3):
        idx = np.roll(idx, 1)
        s = s * np.sum(x[idx] * [1, 2, 3])
    return s


def sortin(x):
    s = 1.0
    idx = np.array([2, 1, 0])
    for k in range(2):
        s = s * np.sum(x[idx] * [1, 2, 3])
        idx.sort()
    return s


def shuf(x):
    s = 1.0
    idx = np.array([2, 1, 0])
    r = np.random.RandomState(0)
    for k in range(2):
        s = s * np.sum(x[idx] * [1, 2, 3])
        r.shuffle(idx)
    return s


def shuffled_by_the_module(x):
    s = 1.0
    idx = np.array([2, 1, 0])
    np.random.seed(0)
    for k in range(2):
        s = s * np.sum(x[idx] * [1, 2, 3])
        np.random.shuffle(idx)
    return s


def mask_inpl(x):
    s = 1.0
    m = np.array([True, False, True])
    for k in range(3):
        s = s * np.sum(x[m] ** 2)
        m[k] = ~m[k]
    return s


def logical_out(x):
    s = 1.0
    m = np.array([True, False, True])
    for k in range(3):
        s = s * np.sum(np.where(m, x, 2.0) ** 2)
        np.logical_not(m, out=m)
    return s


def strided(x):
    s = 1.0
    w = np.arange(6.0).reshape(2, 3)
    v = w[::-1]
    for k in range(3):
        s = s * np.sum(v[0] * x**2)
        w[1] += 1
    return s


def walk(x):
    s = 1.0
    w = np.ones((2, 3))
    for k in range(3):
        for row in w:
            row *= 2
        s = s * np.sum(w * x**2)
    return s


def nditer_w(x):
    s = 1.0
    w = np.ones(3)
    for k in range(3):
        for r in np.nditer(w, op_flags=["readwrite"]):
            r[...] = r * 2
        s = s * np.sum(w * x**2)
    return s


def realpart(x):
    s = 1.0
    w = np.ones(3) + 0j
    for k in range(3):
        w.real[k] = 3.0
        s = s * np.sum(w.real * x**2)
    return s


def ravel_w(x):
    s = 1.0
    w = np.ones((1, 3))
    for k in range(3):
        w.ravel()[k] = 3.0
        s = s * np.sum(w * x**2)
    return s


def reshape_w(x):
    s = 1.0
    w = np.ones((1, 3))
    r = w.reshape(-1)
    for k in range(3):
        r[k] += 3.0
        s = s * np.sum(w * x**2)
    return s


def asarray_w(x):
    s = 1.0
    w = np.ones(3)
    r = np.asarray(w)
    for k in range(3):
        r[k] += 3.0
        s = s * np.sum(w * x**2)
    return s


def setter(x):
    s = 1.0
    w = [1.0, 1.0, 1.0]
    put = w.__setitem__
    for k in range(3):
        put(k, 3.0)
        s = s * np.sum(np.array(w) * x**2)
    return s


def app(x):
    s = 1.0
    w = []
    put = w.append
    for k in range(3):
        put(k + 1)
        s = s * np.sum(sum(w) * x**2)
    return s


def mapw(x):
    s = 1.0
    w = []
    for k in range(3):
        list(map(w.append, [k]))
        s = s * np.sum(sum(w) + x**2)
    return s


def redu(x):
    s = 1.0
    w = [1]
    for k in range(3):
        functools.reduce(lambda a, b: (a.append(b), a)[1], [k], w)
        s = s * np.sum(sum(w) + x**2)
    return s


def recursion_state(x):
    st = [0]

    def rec(n, s):
        if n == 0:
            return s
        s = s * x[st[0]] ** 2
        st[0] += 1
        return rec(n - 1, s)

    return rec(3, 1.0)


def memo(x):
    st = {}

    def f(k):
        if k not in st:
            st[k] = x[k] ** 2
        return st[k]

    s = 1.0
    for k in (0, 1, 0, 2, 1):
        s = s * f(k)
    return s


def ctr(x):
    s = 1.0
    c = 0
    for v in x:
        c += 1
        if c % 2:
            s = s * v**c
        else:
            s = s + v**c
    return s


def delitem(x):
    held = [0, 1, 2]
    s = 1.0
    while held:
        s = s * x[held[0]] ** len(held)
        del held[0]
    return s


def dellocal(x):
    s = 1.0
    for k in range(3):
        t = x[k] ** 2
        j = k
        s = s * t * x[j]
        del t, j
    return s


def bar(x):
    held = bytearray(b"\x00")
    s = 1.0
    for k in range(3):
        held[0] = k
        s = s * x[held[0]] ** 2
    return s


def bar2(x):
    held = bytearray()
    s = 1.0
    for k in range(3):
        held.append(k)
        s = s * x[held[-1]] ** 2
    return s


PROGRAMS = [
    glob,
    nonloc,
    d_item,
    attr,
    setat,
    dunderdict,
    varsd,
    classattr,
    opset,
    slic,
    listadd,
    sorts,
    idxadd,
    addat,
    fill,
    put,
    flat,
    tview,
    viewv,
    memv,
    npput,
    place,
    putmask,
    copyto,
    uf_out,
    fd_,
    arr,
    dq,
    hq,
    bis,
    cnt,
    sets,
    ba,
    it,
    cyc,
    gen,
    rnd,
    nprnd,
    lateclosure,
    exc_as,
    match,
    starred,
    withas,
    defin,
    delk,
    inimport,
    popitem,
    partial_state,
    default_mutable,
    simple_ns,
    aug_tuple,
    nested_l,
    whileelse,
    forelse,
    strk,
    aliasd,
    compr_side,
    cachef,
    tab,
    tab2,
    rows,
    stepm,
    ln,
    itr,
    cal,
    wth,
    wth2,
    ga,
    cont,
    objidx,
    objidx2,
    copied_o,
    swap,
    swapi,
    dd,
    dkeys,
    dview,
    od,
    permut,
    sortin,
    shuf,
    shuffled_by_the_module,
    mask_inpl,
    logical_out,
    strided,
    walk,
    nditer_w,
    realpart,
    ravel_w,
    reshape_w,
    asarray_w,
    setter,
    app,
    mapw,
    redu,
    recursion_state,
    memo,
    ctr,
    delitem,
    dellocal,
    bar,
    bar2,
]
