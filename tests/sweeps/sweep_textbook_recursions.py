"""Recursions and dynamic programming as textbooks and interview sites write them."""

import functools

import numpy as np
import pytest

import srcjax

X = np.array([0.52, 0.31, 0.93, 0.24])


def knapsack_top_down(values):
    weights = [1, 2, 3, 2]
    memo = {}

    def best(i, room):
        if i == len(weights):
            return 0.0
        if (i, room) in memo:
            return memo[i, room]
        answer = best(i + 1, room)
        if weights[i] <= room:
            answer = max(answer, values[i] ** 2 + best(i + 1, room - weights[i]))
        memo[i, room] = answer
        return answer

    return best(0, 5)


def knapsack_bottom_up(values):
    weights, room = [1, 2, 3, 2], 5
    dp = [[0.0] * (room + 1) for _ in range(len(weights) + 1)]
    for i in range(1, len(weights) + 1):
        for w in range(room + 1):
            dp[i][w] = dp[i - 1][w]
            if weights[i - 1] <= w:
                dp[i][w] = max(
                    dp[i][w], dp[i - 1][w - weights[i - 1]] + values[i - 1] ** 2
                )
    return dp[-1][-1]


def edit_distance(costs):
    a, b = "kitten", "sitting"

    @functools.lru_cache(maxsize=500)
    def distance(i, j):
        if i == 0 or j == 0:
            return i * costs[0] + j * costs[1] * costs[3]
        if a[i - 1] == b[j - 1]:
            return distance(i - 1, j - 1)
        return min(
            distance(i - 1, j) + costs[0],
            distance(i, j - 1) + costs[1],
            distance(i - 1, j - 1) + costs[2] ** 2,
        )

    return distance(len(a), len(b))


def edit_distance_rows(costs):
    a, b = "kitten", "sitting"
    previous = [j * costs[1] for j in range(len(b) + 1)]
    for i, ca in enumerate(a, 1):
        current = [i * costs[0]]
        for j, cb in enumerate(b, 1):
            current.append(
                min(
                    previous[j] + costs[0],
                    current[j - 1] + costs[1],
                    previous[j - 1] + (0.0 if ca == cb else costs[2] ** 2),
                )
            )
        previous = current
    return previous[-1]


def matrix_chain(dims):
    memo = {}

    def cost(i, j):
        if i == j:
            return 0.0
        if (i, j) not in memo:
            memo[i, j] = min(
                cost(i, k) + cost(k + 1, j) + dims[i - 1] * dims[k] * dims[j]
                for k in range(i, j)
            )
        return memo[i, j]

    return cost(1, len(dims) - 1)


def matrix_chain_table(dims):
    n = len(dims) - 1
    table = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            table[i, j] = np.inf
            for k in range(i, j):
                q = table[i, k] + table[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if q < table[i, j]:
                    table[i, j] = q
    return table[0, n - 1]


def catalan_weighted(x):
    memo = {0: 1.0}

    def catalan(n):
        if n not in memo:
            total = 0.0
            for k in range(n):
                total += x[k] * catalan(k) * catalan(n - 1 - k)
            memo[n] = total
        return memo[n]

    return catalan(4)


def bell_numbers(x):
    row = [x[0]]
    for _ in range(4):
        new = [row[-1]]
        for value in row:
            new.append(new[-1] + x[1] * value)
        row = new
    return row[0] * x[2] + x[3]


def bellman_value(rewards, steps=4):
    @functools.cache
    def value(state, left):
        if left == 0:
            return 0.0
        stay = rewards[state] + 0.9 * value(state, left - 1)
        move = np.sin(rewards[state]) + 0.9 * value(
            (state + 1) % len(rewards), left - 1
        )
        return max(stay, move)

    return value(0, steps)


def coin_change(prices, amount=7):
    coins = [1, 3, 4, 5]

    def cheapest(rest, memo=None):
        if memo is None:
            memo = {}
        if rest == 0:
            return 0.0
        if rest in memo:
            return memo[rest]
        best = float("inf")
        for coin, price in zip(coins, prices, strict=True):
            if coin <= rest:
                best = min(best, price + cheapest(rest - coin, memo) * 1.01)
        memo[rest] = best
        return best

    return cheapest(amount)


def coin_change_table(prices, amount=7):
    coins = [1, 3, 4, 5]
    dp = [0.0] + [float("inf")] * amount
    for rest in range(1, amount + 1):
        for k, coin in enumerate(coins):
            if coin <= rest and dp[rest - coin] + prices[k] < dp[rest]:
                dp[rest] = dp[rest - coin] + prices[k]
    return dp[amount]


def longest_path(weights):
    graph = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 3)], 3: []}
    memo = {}

    def dfs(node):
        if node in memo:
            return memo[node]
        best = 0.0
        for child, w in graph[node]:
            best = max(best, weights[w] * 1.5 + dfs(child))
        memo[node] = best
        return best

    return dfs(0)


def minimum_path(grid):
    cells = np.outer(grid, grid + 1.0)
    m, n = cells.shape
    dp = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            if i == 0 and j == 0:
                dp[i, j] = cells[i, j]
            elif i == 0:
                dp[i, j] = dp[i, j - 1] + cells[i, j]
            elif j == 0:
                dp[i, j] = dp[i - 1, j] + cells[i, j]
            else:
                dp[i, j] = min(dp[i - 1, j], dp[i, j - 1]) + cells[i, j]
    return dp[-1, -1]


def forward_algorithm(x):
    start, emit = x[:2], x[2:]

    @functools.cache
    def alpha(t, s):
        if t == 0:
            return start[s] * emit[s]
        return (
            sum(alpha(t - 1, r) * (0.7 if r == s else 0.3) for r in range(2))
            * emit[(s + t) % 2]
        )

    return np.log(alpha(4, 0) + alpha(4, 1))


def partial_sums(x):
    def running(values):
        total = 0.0
        for v in values:
            total += v * v
            yield total

    return sum(np.sqrt(t) for t in running(x))


def ackermann_like(x):
    memo = {}

    def ways(m, n):
        key = (m, n)
        if key in memo:
            return memo[key]
        if m == 0 or n == 0:
            result = x[0]
        else:
            result = (
                x[1] * ways(m - 1, n)
                + x[2] * ways(m, n - 1)
                + x[3] * ways(m - 1, n - 1)
            )
        memo[key] = result
        return result

    return ways(3, 3)


PROGRAMS = [
    knapsack_top_down,
    knapsack_bottom_up,
    edit_distance,
    edit_distance_rows,
    matrix_chain,
    matrix_chain_table,
    catalan_weighted,
    bell_numbers,
    bellman_value,
    coin_change,
    coin_change_table,
    longest_path,
    minimum_path,
    forward_algorithm,
    partial_sums,
    ackermann_like,
]


def slopes(f, step=1e-6):
    places = np.eye(len(X)) * step
    return np.array([(f(X + d) - f(X - d)) / (2 * step) for d in places])


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    np.testing.assert_allclose(srcjax.grad(f)(X), slopes(f), rtol=1e-5, atol=1e-7)
