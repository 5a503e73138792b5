"""Arrays and containers that are filled out of sight."""

# ruff: noqa

import ctypes, threading, functools, operator, copy, itertools
import numpy as np
import pytest

numba = pytest.importorskip("numba")
from collections import namedtuple, deque, OrderedDict, defaultdict
from dataclasses import dataclass, field
from .registry import program

X2 = np.array([1.3, -0.7])
X3 = np.array([0.5, 1.2, -0.8])
X4 = np.array([0.5, 1.2, -0.8, 2.0])
M22 = np.array([[1.0, 0.5], [0.3, 2.0]])


# ---- filled out of sight
@numba.njit
def nb_fill(x, out):
    for i in range(len(x)):
        out[i] = x[i] ** 2


@numba.njit
def nb_fill_branch(x, out):
    if x[0] > 0:
        out[0] = x[0] * x[1]
    else:
        out[1] = x[0]


@numba.njit
def nb_ret(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@program(X3)
def numba_out(x):
    out = np.zeros(3)
    nb_fill(x, out)
    return (out**2).sum()


@program(X3)
def numba_out_callee(x):
    out = np.zeros(3)

    def go(a, b):
        nb_fill(a, b)

    go(x, out)
    return out.sum()


def _numba_helper(a, out):
    for k in range(2):
        if k == 1:
            nb_fill_branch(a, out)


@program(X3)
def numba_branch_callee(x):
    out = np.zeros(3)
    _numba_helper(x, out)
    return out[0] * 3 + x[1]


@program(X3)
def numba_ret(x):
    return nb_ret(x) * x[0]


def _kw_out(x, **kwargs):
    out = kwargs.pop("out", None)
    if out is None:
        out = np.empty_like(x)
    out[:] = x**2
    return out


@program(X3)
def kwargs_out(x):
    buf = np.zeros(3)
    _kw_out(x, out=buf)
    return (buf * x).sum()


def _kw_out_get(x, **kwargs):
    out = kwargs.get("out")
    np.multiply(x, x, out=out)


@program(X3)
def kwargs_out_get(x):
    buf = np.zeros(3)
    _kw_out_get(x, out=buf)
    return (buf * x).sum()


def _args_out(*args):
    args[-1][...] = args[0] ** 2


@program(X3)
def star_args_out(x):
    buf = np.zeros(3)
    _args_out(x, buf)
    return (buf * x).sum()


@program(X3)
def ufunc_out(x):
    out = np.zeros(3)
    np.multiply(x, x, out=out)
    return (out * x).sum()


@program(X3)
def ufunc_out_pos(x):
    out = np.zeros(3)
    np.multiply(x, x, out)
    return (out * x).sum()


@program(X3)
def ufunc_out_tuple(x):
    out = np.zeros(3)
    np.multiply(x, x, out=(out,))
    return (out * x).sum()


@program(X3)
def ufunc_out_view(x):
    out = np.zeros(5)
    np.multiply(x, x, out=out[1:4])
    return (out[1:4] * x).sum() + out[2]


@program(X3)
def method_out(x):
    out = np.zeros(())
    x.sum(out=out)
    return out * x[0]


@program(X3)
def np_sum_out(x):
    out = np.zeros(2)
    np.sum(np.stack([x, x * 2]), axis=1, out=out)
    return out[0] * out[1]


@program(X3)
def dot_out(x):
    out = np.zeros((3, 3))
    np.dot(x[:, None], x[None, :], out=out)
    return out[0, 1] * 2 + out[2, 2]


@program(X3)
def matmul_out(x):
    out = np.zeros((3, 3))
    np.matmul(x[:, None], x[None, :], out=out)
    return out[0, 1] * 2 + out[2, 2]


@program(X3)
def clip_out(x):
    out = np.zeros(3)
    np.clip(x, -0.5, 1.0, out=out)
    return (out * x).sum()


@program(X3)
def cumsum_out(x):
    out = np.zeros(3)
    np.cumsum(x, out=out)
    return (out * x).sum()


@program(X3)
def concat_out(x):
    out = np.zeros(6)
    np.concatenate([x, x * 2], out=out)
    return (out**2).sum()


@program(X3)
def stack_out(x):
    out = np.zeros((2, 3))
    np.stack([x, x * 2], out=out)
    return (out**2).sum()


@program(X3)
def take_out(x):
    out = np.zeros(2)
    np.take(x, [0, 2], out=out)
    return (out**2).sum()


@program(X3)
def einsum_out(x):
    out = np.zeros((3, 3))
    np.einsum("i,j->ij", x, x, out=out)
    return (out**2)[0].sum()


@program(X3)
def where_out(x):
    r = np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
    return (r * x * 2 + r).sum()


@program(X3)
def copyto(x):
    out = np.zeros(3)
    np.copyto(out, x**2)
    return (out * x).sum()


@program(X3)
def copyto_where(x):
    out = np.ones(3)
    np.copyto(out, x**2, where=x > 0)
    return (out * x).sum()


@program(X3)
def np_put(x):
    out = np.zeros(4)
    np.put(out, [0, 2], x[:2] ** 2)
    return (out[:3] * x).sum()


@program(X3)
def method_put(x):
    out = np.zeros(4)
    out.put([0, 2], x[:2] ** 2)
    return (out[:3] * x).sum()


@program(X3)
def putmask(x):
    out = np.zeros(3)
    np.putmask(out, x > 0, x**2)
    return (out * x).sum()


@program(X3)
def np_place(x):
    out = np.zeros(3)
    np.place(out, x > 0, x**2)
    return (out * x).sum()


@program(X3)
def put_along(x):
    out = np.zeros((2, 3))
    np.put_along_axis(out, np.array([[1], [2]]), x[:2, None] ** 2, axis=1)
    return (out * x).sum()


@program(X3)
def fill_diag(x):
    out = np.zeros((3, 3))
    np.fill_diagonal(out, x**2)
    return (out @ x).sum()


@program(X3)
def ufunc_at(x):
    out = np.zeros(3)
    np.add.at(out, [0, 0, 2], x**2)
    return (out * x).sum()


@program(X3)
def ufunc_sub_at(x):
    out = np.zeros(3)
    np.subtract.at(out, [0, 0, 2], x**2)
    return (out * x).sum()


@program(X3)
def ufunc_mul_at(x):
    out = np.ones(3)
    np.multiply.at(out, [0, 0, 2], x)
    return (out * x).sum()


@program(X3)
def itemset(x):
    out = np.zeros(3)
    out.flat[1] = x[0] ** 2
    return (out * x).sum()


@program(X3)
def flat_slice(x):
    out = np.zeros((2, 3))
    out.flat[1:4] = x**2
    return (out * x).sum()


@program(X3)
def flat_assign(x):
    out = np.zeros((1, 3))
    out.flat = x**2
    return (out * x).sum()


@program(X3)
def setfield(x):
    out = np.zeros(3)
    out.setfield(x**2, np.float64)
    return (out * x).sum()


@program(X3)
def memview(x):
    out = np.zeros(3)
    m = memoryview(out)
    for i in range(3):
        m[i] = x[i] ** 2
    return (out * x).sum()


@program(X3)
def nditer_write(x):
    out = np.zeros(3)
    with np.nditer([x, out], op_flags=[["readonly"], ["readwrite"]]) as it:
        for a, b in it:
            b[...] = a * a
    return (out * x).sum()


@program(X3)
def nditer_simple(x):
    out = x.copy()
    for v in np.nditer(out, op_flags=["readwrite"]):
        v[...] = v * v
    return (out * x).sum()


@program(X3)
def ndenumerate(x):
    out = np.zeros(3)
    for (i,), v in np.ndenumerate(x):
        out[i] = v**2
    return (out * x).sum()


@program(X3)
def threaded(x):
    out = np.zeros(3)

    def work(i):
        out[i] = x[i] ** 2

    ts = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    return (out * x).sum()


@program(X3)
def thread_args(x):
    out = np.zeros(3)

    def work(a, b):
        b[:] = a**2

    t = threading.Thread(target=work, args=(x, out))
    t.start()
    t.join()
    return out.sum()


@program(X3)
def pool_map(x):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as ex:
        r = list(ex.map(lambda v: v**2, x))
    return r[0] + r[1]


@program(X3)
def ctypes_memmove(x):
    out = np.zeros(3)
    y = x**2
    ctypes.memmove(out.ctypes.data, y.ctypes.data, out.nbytes)
    return (out * x).sum()


@program(X3)
def builtin_map_effect(x):
    out = [0.0, 0.0, 0.0]
    list(map(lambda i: out.__setitem__(i, x[i] ** 2), range(3)))
    return out[0] + out[1]


@program(X3)
def dunder_setitem(x):
    out = np.zeros(3)
    out.__setitem__(1, x[0] ** 2)
    return out[1] * x[1]


@program(X3)
def op_setitem(x):
    out = np.zeros(3)
    operator.setitem(out, 1, x[0] ** 2)
    return out[1] * x[1]


@program(X3)
def op_iadd(x):
    out = np.zeros(3)
    r = operator.iadd(out, x**2)
    return out[1] * r[0]


@program(X3)
def dunder_iadd(x):
    out = np.zeros(3)
    out.__iadd__(x**2)
    return out[1] * x[0]


@program(X3)
def reduce_iadd(x):
    out = np.zeros(3)
    functools.reduce(operator.iadd, [x, x * 2], out)
    return out[1] * x[0]


@program(X3)
def apply_along(x):
    out = np.zeros(3)

    def put(row):
        out[0] += row[0] ** 2
        return 0.0

    np.apply_along_axis(put, 0, x)
    return out[0]


@program(X3)
def vectorize_effect(x):
    out = []
    g = np.vectorize(lambda v: out.append(v**2) or 0.0)
    g(x)
    return out[0] + out[-1]


@program(X3)
def frompyfunc(x):
    g = np.frompyfunc(lambda a: a**2, 1, 1)
    return g(x).sum() + x[0]


@program(X3)
def sorted_key_effect(x):
    seen = []
    sorted(range(3), key=lambda i: seen.append(x[i] ** 2) or i)
    return seen[0] + seen[1]


@program(X3)
def fromiter(x):
    return np.fromiter((v**2 for v in x), dtype=float, count=3).sum()


@program(X3)
def fromfunction(x):
    return np.fromfunction(lambda i: x[i.astype(int)] ** 2, (3,)).sum()


@program(X3)
def array_deque(x):
    q = deque([0.0, 0.0], maxlen=2)
    for i in range(3):
        q.append(x[i] ** 2)
    return q[0] * q[1]


@program(X3)
def default_dict(x):
    d = defaultdict(list)
    for i in range(3):
        d[i % 2].append(x[i] ** 2)
    return d[0][1] * d[1][0]


@program(X3)
def default_dict_float(x):
    d = defaultdict(float)
    for i in range(3):
        d[i % 2] += x[i] ** 2
    return d[0] * d[1]


@program(X3)
def ordered_dict(x):
    d = OrderedDict()
    for i in range(3):
        d[i] = x[i] ** 2
    return d[0] * d[1]


@program(X3)
def set_attr(x):
    class A:
        pass

    a = A()
    setattr(a, "v", x[0] ** 2)
    return a.v * x[1]


@program(X3)
def vars_write(x):
    class A:
        pass

    a = A()
    a.v = 0.0
    vars(a)["v"] = x[0] ** 2
    return a.v * x[1]


@program(X3)
def dict_write(x):
    class A:
        pass

    a = A()
    a.v = 0.0
    a.__dict__["v"] = x[0] ** 2
    a.__dict__.update(w=x[1])
    return a.v * a.w


@program(X3)
def struct_array(x):
    out = np.zeros(3, dtype=[("a", float), ("b", float)])
    out["a"] = x**2
    return out["a"].sum()


@program(X3)
def view_dtype(x):
    out = np.zeros(3)
    v = out.view(np.float64)
    v[:] = x**2
    return out.sum()


@program(X3)
def as_strided(x):
    out = np.zeros(3)
    v = np.lib.stride_tricks.as_strided(out, (2,), (8,))
    v[:] = x[:2] ** 2
    return out.sum()


@program(X3)
def sliding(x):
    w = np.lib.stride_tricks.sliding_window_view(x, 2)
    return (w[:, 0] * w[:, 1]).sum()


@program(X3)
def ndarray_sort(x):
    y = x * 2
    y.sort()
    return y[0] * 3 + y[2] ** 2


@program(X3)
def ndarray_partition(x):
    y = x * 2
    y.partition(1)
    return y[0] * 3


@program(X3)
def ndarray_resize(x):
    y = x * 2
    y.resize(5, refcheck=False)
    return y[0] * 3 + y[4]


@program(X3)
def shape_assign(x):
    y = np.zeros((1, 3))
    y.shape = (3,)
    y[:] = x**2
    return y.sum()


@program(X3)
def real_assign(x):
    z = np.zeros(3, complex)
    z.real = x**2
    return np.abs(z).sum()


@program(X3)
def real_view_assign(x):
    z = np.zeros(3, complex)
    z.real[:] = x**2
    z.imag[0] = x[1]
    return (np.abs(z) ** 2).sum()


@program(X3)
def random_shuffle(x):
    y = x**2
    np.random.default_rng(0).shuffle(y)
    return y.sum() + 0 * y[0]


@program(X3)
def masked_array(x):
    m = np.ma.masked_array(x, mask=[0, 1, 0])
    return m.sum()


@program(X3)
def nan_to_num_nocopy(x):
    y = x * 2
    np.nan_to_num(y, copy=False)
    return (y**2).sum()


@program(X3)
def lib_into(x):
    y = np.zeros(3)
    y[...] = x
    np.negative(y, y)
    np.exp(y, out=y)
    return y.sum()
