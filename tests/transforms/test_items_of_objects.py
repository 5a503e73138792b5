"""Items of objects (`__iter__`) and of generators among their methods."""

from contextlib import nullcontext

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

X = np.array([0.5, 1.2, 0.8])


class W:
    def __init__(self, x):
        self.x = x
        self.log = []

    def steps(self, n):
        for k in range(n):
            yield self.x * (k + 1)

    def walk(self):
        yield self.x
        yield from self.steps(2)
        yield self.x**2

    def ends(self):
        for k in range(5):
            if k == 3:
                return
            yield self.x**k

    def filtered(self):
        for k in range(4):
            if k % 2:
                continue
            yield self.x + k

    def both(self):
        for k in range(2):
            yield k, self.x * k + 1

    def counted(self):
        v = self.x
        while True:
            yield v
            v *= self.x


def live(x):
    w = W(x[0])
    t = 0.0
    for v in w.steps(3):
        t = t + v
        w.x = w.x * x[1]
    return t


def live_list(x):
    w = W(x[0])
    g = w.steps(3)
    w.x = x[1]
    return sum(g)


def twice(x):
    w = W(x[0])
    g = w.steps(3)
    return sum(g) * 2 + sum(g) * x[1]


def partly(x):
    w = W(x[0])
    g = w.steps(3)
    t = next(g)
    for v in g:
        t = t * 2 + v
    return t


def brk(x):
    t = 0.0
    for v in W(x[0]).steps(5):
        if v > 1.2:
            break
        t = t + v
    return t * x[1]


def brk_infinite(x):
    t = 0.0
    for v in W(x[0]).counted():
        if v < 0.1:
            break
        t = t + v
    return t * x[1]


def ret(x):
    for v in W(x[0]).steps(5):
        if v > 1.2:
            return v * x[1]
    return x[2]


def cont(x):
    t = 0.0
    for k, v in enumerate(W(x[0]).steps(5)):
        if k == 2:
            continue
        t = t + v * k
    return t * x[1]


def walk(x):
    return sum(v * v for v in W(x[0]).walk()) * x[1]


def walk_list(x):
    vs = [v * x[2] for v in W(x[0]).walk()]
    return vs[0] * vs[-1] * len(vs)


def ends(x):
    return sum(W(x[0]).ends()) * x[1]


def filtered(x):
    return sum(W(x[0]).filtered()) * x[1]


def both(x):
    t = 0.0
    for k, v in W(x[0]).both():
        t = t + k * v
    return t * x[1]


def after(x):
    for v in W(x[0]).steps(3):
        y = v * x[1]
    return y * v


def nested(x):
    t = 0.0
    for a in W(x[0]).steps(2):
        for b in W(x[1]).steps(3):
            t = t + a * b**2
    return t


def zipped(x):
    t = 0.0
    for a, b in zip(W(x[0]).steps(3), W(x[1]).steps(3), strict=False):
        t = t + a * b
    return t


class Tree:
    def __init__(self, v, kids=()):
        self.v = v
        self.kids = kids

    def __iter__(self):
        yield self.v
        for k in self.kids:
            yield from k

    def leaves(self):
        if not self.kids:
            yield self.v
        for k in self.kids:
            yield from k.leaves()


def tree(x):
    t = Tree(x[0], (Tree(x[1]), Tree(x[2], (Tree(x[0] * x[1]),))))
    return sum(v**2 for v in t)


def tree_leaves(x):
    t = Tree(x[0], (Tree(x[1]), Tree(x[2], (Tree(x[0] * x[1]),))))
    return sum(v**2 for v in t.leaves())


class Count:
    def __init__(self, x, n):
        self.x = x
        self.n = n
        self.k = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= self.n:
            raise StopIteration
        self.k += 1
        return self.x * self.k


def iterclass(x):
    return sum(v**2 for v in Count(x[0], 3)) * x[1]


class Poly:
    def __init__(self, c):
        self.c = c

    def __iter__(self):
        return iter(self.c)

    def __call__(self, t):
        y = 0.0
        for c in self:
            y = y * t + c
        return y

    def __add__(self, o):
        return Poly([a + b for a, b in zip(self, o, strict=False)])


def poly(x):
    return Poly([x[0], x[1], x[2]])(x[0])


def poly_add(x):
    return (Poly([x[0], x[1]]) + Poly([x[2], x[1]]))(x[0])


def poly_arr(x):
    return Poly(x)(x[0])


def poly_unpack(x):
    a, b, *c = Poly([x[0], x[1], x[2]])
    return a * b + c[0]


def poly_star(x):
    return max(*Poly([x[0], x[1], x[2]])) * x[0]


def poly_np(x):
    return np.sum(np.array(list(Poly([x[0], x[1], x[2]]))) ** 2)


def poly_it(x):
    it = iter(Poly([x[0], x[1], x[2]]))
    a = next(it)
    b = next(it)
    return a * b**2


def poly_twice(x):
    it = iter(Poly([x[0], x[1], x[2]]))
    return sum(it) * x[0] + sum(it) * 7 * x[1]


def mutated(x):
    p = Poly([x[0], x[1], x[2]])
    t = 0.0
    for k, c in enumerate(p):
        t = t + c * k
        if k < 2:
            p.c[k + 1] = p.c[k + 1] * x[0]
    return t


def mutated_zip(x):
    p = Poly([x[0], x[1], x[2]])
    t = 0.0
    for a, b in zip(p, [1.0, 2.0, 3.0], strict=False):
        t = t + a * b
        p.c[2] = p.c[2] * x[0]
    return t


class Gen2:
    def __init__(self, c):
        self.c = c

    def __iter__(self):
        for v in self.c:
            yield v * 2


def mutated_gen_zip(x):
    p = Gen2([x[0], x[1], x[2]])
    t = 0.0
    for a, b in zip(p, [1.0, 2.0, 3.0], strict=False):
        t = t + a * b
        p.c[2] = p.c[2] * x[0]
    return t


def contains(x):
    p = Gen2([x[0], x[1], x[2]])
    return sum(p) * (1.0 if any(v > 1 for v in p) else 2.0)


def dict_of(x):
    d = {k: v for k, v in W(x[0]).both()}
    return d[1] * x[1]


def arr_from(x):
    return np.array([v for v in W(x[0]).steps(3)]).sum() * x[1]


def arr_list(x):
    return np.sum(np.array(list(W(x[0]).steps(3))) * x)


def yields_arrays(x):
    class_ = Batches(x)
    t = 0.0
    for b in class_.batches(2):
        t = t + np.sum(b) ** 2
    return t


class Batches:
    def __init__(self, x):
        self.x = x

    def batches(self, n):
        for i in range(0, len(self.x), n):
            yield self.x[i : i + n]


# -- iterators that methods give ------------------------------------------------------


class Q:
    def __init__(self, c):
        self.c = c

    def get(self):
        return iter(self.c)

    def gen(self):
        for v in self.c:
            yield v * 2

    def __iter__(self):
        return iter(self.c)


def m_loop(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    t = 0.0
    for _k in range(3):
        for v in it:
            t = t * 1.5 + v
    return t


def m_iter_loop(x):
    q = Q([x[0], x[1], x[2]])
    it = q.__iter__()
    t = 0.0
    for _k in range(3):
        for v in it:
            t = t * 1.5 + v
    return t


def g_loop(x):
    q = Q([x[0], x[1], x[2]])
    it = q.gen()
    t = 0.0
    for _k in range(3):
        for v in it:
            t = t * 1.5 + v
    return t


def m_branch(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    t = 0.0
    if x[0] > 0:
        for v in it:
            t = t * 1.5 + v
    else:
        t = sum(it)
    return t


def m_once(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    return sum(it) * x[0]


def m_twice(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    a = sum(it)
    b = sum(it)
    return a * x[0] + b * 7


def m_while(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    t = 0.0
    n = 0
    while n < 3:
        t = t * 1.5 + sum(it)
        n += 1
    return t


def handed_on(x):
    q = Q([x[0], x[1], x[2]])

    def use(it):
        return sum(it) + 10 * sum(it)

    return use(q.get()) * x[0]


def handed_on2(x):
    q = Q([x[0], x[1], x[2]])

    def use(it):
        t = 0.0
        for k in range(2):
            for v in it:
                t = t + v * (k + 1)
        return t

    return use(q.get()) * x[0]


def f_method(x):
    q = Q([x[0], x[1], x[2]])
    m = q.get
    it = m()
    return (sum(it) + 5 * sum(it)) * x[0]


def chained(x):
    q = Q([x[0], x[1], x[2]])
    it = q.get()
    a = it
    t = 0.0
    for _k in range(2):
        b = a
        for v in b:
            t = t * 1.5 + v
    return t


RIGHT = [
    m_once,
    live,
    cont,
    walk,
    walk_list,
    ends,
    filtered,
    both,
    after,
    nested,
    tree,
    tree_leaves,
    poly,
    poly_add,
    poly_arr,
    poly_np,
    mutated,
    mutated_zip,
    dict_of,
    arr_from,
    arr_list,
    yields_arrays,
]
#: What is taken in other ways: by `next`, twice, up to a `break`, beside another one.
ELSEWHERE = [
    live_list,
    twice,
    partly,
    brk,
    brk_infinite,
    ret,
    zipped,
    iterclass,
    poly_unpack,
    poly_star,
    poly_it,
    poly_twice,
    mutated_gen_zip,
    contains,
    m_loop,
    m_iter_loop,
    g_loop,
    m_branch,
    m_twice,
    m_while,
    handed_on,
    handed_on2,
    f_method,
    chained,
]


@pytest.mark.parametrize("f", RIGHT)
def test_all_modes(f):
    srcjax.testing.check_grads(f, (X,), order=2)
    batch = np.stack([X, 1.01 * X])
    loops = pytest.warns(srcjax.errors.PerformanceWarning, match="in a loop")
    with loops if f is tree_leaves else nullcontext():
        found = srcjax.vmap(f)(batch)
    np.testing.assert_allclose(found, [f(x) for x in batch])
    np.testing.assert_allclose(srcjax.jit(f)(X), f(X))


def derivative(f, x):
    step = 1e-6 * np.eye(3)
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in step])


@pytest.mark.parametrize("f", ELSEWHERE)
def test_right_or_refused(f):
    expected = derivative(f, X)
    try:
        found = srcjax.grad(f)(X)
        tangent = srcjax.jvp(f, (X,), (np.ones(3),))[1]
    except SrcjaxError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tangent, expected.sum(), rtol=1e-6, atol=1e-8)
