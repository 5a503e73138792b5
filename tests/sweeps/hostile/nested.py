"""Containers of containers, written through indices that vary and through aliases."""

# ruff: noqa

import ctypes, threading, functools
import numpy as np
from collections import namedtuple
from dataclasses import dataclass
from .registry import program

X2 = np.array([1.3, -0.7])
X3 = np.array([0.5, 1.2, -0.8])
X4 = np.array([0.5, 1.2, -0.8, 2.0])


# --- nested containers written through indices
@program(X2)
def rows_fold(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] + x[j]
    rows[0][0] = 0.0
    return rows[0][1] * 3 + rows[1][1]


@program(X2)
def rows_fold_var(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] + x[j]
    for i in range(2):
        rows[i][i] = 0.0
    return rows[0][1] * 3 + rows[1][1] + rows[1][0] ** 2


@program(X2)
def rows_alias(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        row = rows[i]
        for j in range(2):
            row[j] = x[i] * x[j] ** 2
    return rows[0][1] * 3 + rows[1][0] * rows[1][1]


@program(X2)
def rows_same(x):
    rows = [[0.0] * 2] * 2
    rows[0][0] = x[0] ** 2
    rows[1][1] = x[1] * x[0]
    return rows[1][0] * rows[0][1]


@program(X2)
def rows_same_loop(x):
    rows = [[0.0] * 2] * 2
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] ** 2
    return rows[0][0] + 2 * rows[0][1] + 5 * rows[1][0]


@program(X2)
def dict_of_lists(x):
    d = {"a": [0.0, 0.0], "b": [1.0, 1.0]}
    for k in d:
        for i in range(2):
            d[k][i] += x[i] ** 2
    d["a"][0] = 0.0
    return d["a"][1] * d["b"][0]


@program(X2)
def dict_of_lists_key(x):
    d = {"a": [0.0, 0.0], "b": [1.0, 1.0]}
    for k in ("b", "a"):
        row = d[k]
        row[1] = x[0] * x[1]
        row[0] = 0.0
    return d["a"][1] * d["b"][1] + d["a"][0]


@program(X2)
def list_of_dicts(x):
    ds = [{"v": 0.0, "w": 1.0} for _ in range(2)]
    for i in range(2):
        ds[i]["v"] = x[i] ** 3
    ds[0]["w"] = 0.0
    return ds[0]["v"] + ds[1]["v"] * ds[1]["w"] + ds[0]["w"]


@program(X2)
def tuple_of_lists(x):
    t = ([0.0, 0.0], [0.0, 0.0])
    for i in range(2):
        t[i][1 - i] = x[i] ** 2
    t[0][0] = 0.0
    return t[0][1] * 2 + t[1][0] * 3


def _default(x, store=[0.0, 0.0]):
    store[0] = x[0] ** 2
    return store


@program(X2)
def default_list(x):
    s = _default(x)
    return s[0] * x[1]


@program(X3)
def slice_assigned(x):
    a = [0.0] * 4
    a[1:3] = [x[0] ** 2, x[1] * x[2]]
    return a[1] * a[2] + a[0]


@program(X3)
def slice_assigned_grow(x):
    a = [0.0, 1.0]
    a[1:1] = [x[0] ** 2, x[1] * x[2]]
    return a[1] * a[2] + a[3]


@program(X3)
def del_item(x):
    a = [0.0, x[0] ** 2, x[1], 3.0 * x[2]]
    del a[0]
    return a[0] * a[2]


@program(X3)
def del_in_loop(x):
    a = [0.0, 0.0, 1.0, x[1], x[2] ** 2]
    for _ in range(3):
        del a[0]
    return a[0] * a[1]


@program(X3)
def insert_item(x):
    a = [0.0, 1.0]
    for i in range(3):
        a.insert(0, x[i] ** 2)
    a.insert(1, 0.0)
    return a[0] * a[2] + a[1] + a[3] * 2


@program(X3)
def sort_list(x):
    a = [x[0] ** 2, x[1], x[2] * 2]
    a.sort()
    return a[0] + 2 * a[1] * a[2]


@program(X3)
def reverse_list(x):
    a = [0.0, x[0] ** 2, x[1]]
    a.reverse()
    return a[0] * a[1] + a[2]


@program(X2)
def swap_rows(x):
    rows = [[0.0, 0.0], [1.0, 1.0]]
    rows[0][0] = x[0] ** 2
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][1] = x[1]
    return rows[1][0] * rows[0][1] + rows[0][0]


@program(X2)
def swap_rows_loop(x):
    rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]
    for i in range(2):
        rows[i][i] = x[i] ** 2
        rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return sum(r[0] * 2 + r[1] * r[0] for r in rows) + rows[0][1]


@program(X2)
def list_of_arrays(x):
    a = [np.zeros(2) for _ in range(2)]
    for i in range(2):
        a[i][1] = x[i] ** 2
        a[i] += x * i
    a[0][0] = 0.0
    return a[0][1] * a[1][0] + a[1][1]


@program(X2)
def same_array_list(x):
    a = [np.zeros(2)] * 2
    a[0][0] = x[0] ** 2
    a[1][1] = x[1] * x[0]
    return a[1][0] * a[0][1]


@program(X2)
def zip_rows(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] ** 2 * x[j]
    rows[0][0] = 0.0
    s = 0.0
    for a, b in zip(*rows):
        s += a * 2 + b * b
    return s


@program(X2)
def comp_rows(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        rows[i][1 - i] = x[i] ** 2
    return sum([r[0] * 3 + r[1] ** 2 for r in rows])


@program(X2)
def np_array_rows(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] ** 2 * x[j]
        rows[i][i] = 0.0
    return (np.array(rows) ** 2).sum()


def _fill(row, v):
    for k in range(len(row)):
        row[k] = v * (k + 1)


@program(X2)
def callee_fills_row(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        _fill(rows[i], x[i])
    return rows[0][0] * rows[1][1]


@program(X2)
def callee_fills_all(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for row in rows:
        _fill(row, x[0] * x[1])
    rows[0][0] = 0.0
    return rows[0][1] * rows[1][1] + rows[0][0]


@program(X2)
def outer_alias(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    other = rows
    for i in range(2):
        other[i][0] = x[i] ** 2
    return rows[0][0] * rows[1][0]


@program(X2)
def shallow_copy(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    other = list(rows)
    other[0][0] = x[0] ** 2
    other[1] = [x[1], x[1]]
    return rows[0][0] * 3 + rows[1][0] + other[1][0] ** 2


@program(X2)
def slice_shares_rows(x):
    rows = [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    part = rows[1:]
    part[0][1] = x[0] * x[1]
    for i in range(2):
        part[i][0] = x[i] ** 2
    return rows[1][1] + rows[2][0] * rows[1][0]


@program(X2)
def while_fill(x):
    rows = [[1.0] * 2 for _ in range(2)]
    i = 0
    while i < 2:
        rows[i][0] = x[i] ** 2
        i += 1
    rows[1][1] = 0.0
    return rows[0][0] * rows[1][0] + rows[1][1]


@program(X2)
def branch_fill(x):
    rows = [[1.0] * 2 for _ in range(2)]
    for i in range(2):
        if x[i] > 0:
            rows[i][1] = x[i] ** 2
        else:
            rows[1 - i][0] = x[i] ** 3
    return rows[0][0] * rows[0][1] + rows[1][1]


@program(X2)
def pascal(x):
    tri = [[1.0]]
    for n in range(3):
        row = [1.0] + [0.0] * n + [1.0]
        for k in range(1, n + 1):
            row[k] = tri[n][k - 1] + tri[n][k] * x[0]
        tri.append(row)
    return tri[3][1] * x[1] + tri[3][2] ** 2


@program(X2)
def dp_table(x):
    n = 3
    T = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            T[i][j] = T[i - 1][j - 1] * x[0] + max(T[i - 1][j], T[i][j - 1]) + x[1] ** 2
    return T[n][n]


@program(X3)
def matmul_lists(x):
    A = [[x[0], 2.0], [x[1], x[2]]]
    C = [[0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                C[i][j] += A[i][k] * A[k][j]
    return C[0][0] + 2 * C[0][1] * C[1][1] + C[1][0]


@program(X2)
def setdefault_lists(x):
    d = {}
    for i in range(3):
        d.setdefault(i % 2, []).append(x[i % 2] ** 2 * (i + 1))
    return d[0][1] * d[1][0] + d[0][0]


@program(X2)
def mult_nested_rebind(x):
    rows = [[0.0] * 2] * 2
    rows[0] = [x[0], x[1]]
    rows[1][0] = x[0] ** 2
    return rows[0][0] * rows[1][0] + rows[1][1]


class Holder:
    def __init__(self):
        self.grid = [[0.0, 0.0], [0.0, 0.0]]

    def put(self, i, j, v):
        self.grid[i][j] = v

    def total(self):
        return self.grid[0][1] * self.grid[1][0] + self.grid[0][0]


@program(X2)
def object_grid(x):
    h = Holder()
    for i in range(2):
        h.put(i, 1 - i, x[i] ** 2)
    h.put(0, 0, 0.0)
    return h.total()


@program(X2)
def closure_grid(x):
    grid = [[0.0, 0.0], [0.0, 0.0]]

    def put(i, j, v):
        grid[i][j] = v

    for i in range(2):
        put(i, i, x[i] ** 2)
    put(0, 1, 0.0)
    return grid[0][0] * grid[1][1] + grid[0][1]


@program(X2)
def extend_pop(x):
    a = [0.0, 1.0]
    a.extend([x[0] ** 2, x[1]])
    a.pop(0)
    v = a.pop()
    return v * a[-1] + a[0]


@program(X2)
def list_iadd_alias(x):
    a = [0.0]
    b = a
    a += [x[0] ** 2]
    b[0] = x[1]
    return a[0] * b[1]


@program(X2)
def list_imul(x):
    a = [[0.0]]
    a *= 2
    a[0][0] = x[0] * x[1]
    return a[1][0] ** 2


@program(X2)
def nested3(x):
    a = [[[0.0] * 2 for _ in range(2)] for _ in range(2)]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                a[i][j][k] = x[i] * x[j] ** 2 + k
    a[0][0][0] = 0.0
    return a[1][0][1] * a[0][1][0] + a[0][0][0]


@program(X2)
def row_var_reused(x):
    rows = []
    row = [0.0, 0.0]
    for i in range(2):
        row[i] = x[i] ** 2
        rows.append(row)
    return rows[0][1] + rows[1][0] * 3


@program(X2)
def row_copy_appended(x):
    rows = []
    row = [0.0, 0.0]
    for i in range(2):
        row[i] = x[i] ** 2
        rows.append(row[:])
    return rows[0][1] + rows[1][0] * 3 + rows[0][0] * rows[1][1]


@program(X2)
def dict_values_lists(x):
    d = {"a": [0.0], "b": [0.0]}
    for v in d.values():
        v[0] = x[0] ** 2 * x[1]
    return d["a"][0] * d["b"][0]


@program(X2)
def enumerate_rows(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for i, row in enumerate(rows):
        row[i] = x[i] ** 2
        row[1 - i] = 0.0
    return rows[0][0] * rows[1][1] + rows[0][1]


@program(X2)
def zip_rows_write(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for row, v in zip(rows, x):
        row[1] = v**2
    return rows[0][1] * rows[1][1] + rows[0][0]


@program(X2)
def ternary_row(x):
    a, b = [0.0, 1.0], [1.0, 0.0]
    r = a if x[0] > 0 else b
    r[0] = x[0] * x[1]
    return a[0] ** 2 + b[0] * x[1]


@program(X2)
def reversed_rows(x):
    rows = [[0.0], [0.0]]
    for k, r in enumerate(reversed(rows)):
        r[0] = x[k] ** (k + 2)
    return rows[0][0] + 2 * rows[1][0]
