"""Algorithms that one writes with loops and in-place assignment."""

import numpy as np
from gallery.entries import Entry

RNG = np.random.default_rng(2)


def solve_triangular(L, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x**2)


def log_determinant(A):
    n = len(A)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            rest = A[i, j] - L[i, :j] @ L[j, :j]
            L[i, j] = np.sqrt(rest) if i == j else rest / L[j, j]
    return 2 * np.sum(np.log(np.diag(L)))


def edit_cost(costs):
    rows, columns = costs.shape
    table = np.zeros((rows + 1, columns + 1))
    table[0, 1:] = 10.0
    table[1:, 0] = 10.0
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            before = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
            table[i, j] = costs[i - 1, j - 1] + before
    return table[rows, columns]


def page_rank(links, steps):
    rank = np.ones(len(links)) / len(links)
    for _ in range(steps):
        rank = 0.15 / len(links) + 0.85 * links @ rank
        rank = rank / np.sum(rank)
    return rank[0]


SQUARE = RNG.normal(size=(4, 4))
POSITIVE = SQUARE @ SQUARE.T + 4 * np.eye(4)

ENTRIES = [
    Entry(
        "Solving a triangular system",
        "Forward substitution, and back: the gradient solves the transposed system.",
        solve_triangular,
        (np.tril(SQUARE) + 3 * np.eye(4), RNG.normal(size=4)),
        (0, 1),
    ),
    Entry(
        "A determinant by Cholesky's method",
        "The gradient is the inverse of the matrix, and no line of the text says so.",
        log_determinant,
        (POSITIVE,),
    ),
    Entry(
        "The cheapest way through a table",
        "Dynamic programming: the gradient marks the way that was taken.",
        edit_cost,
        (RNG.uniform(size=(3, 4)),),
    ),
    Entry(
        "Page rank",
        "A power iteration, with a normalisation in each step.",
        page_rank,
        (RNG.uniform(size=(4, 4)), 6),
    ),
]
