"""Priority queues of differentiated values."""

import heapq
import math

import numpy as np
import pytest

import srcjax
from srcjax import testing
from srcjax.runtime import heaps

V = np.array([0.5, 1.7, 0.9, 1.2, 0.8])
W = np.random.default_rng(0).uniform(0.5, 1.5, (4, 4))


def laid_out(items, order):
    return [items[k] for k in order]


@pytest.mark.parametrize("seed", range(5))
def test_items_lie_where_heapq_puts_them(seed):
    rng = np.random.default_rng(seed)
    for size in range(12):
        # Equal items are told apart by their classes.
        items = [
            cls(v)
            for cls, v in zip(
                rng.choice([int, float], size), rng.integers(5, size=size), strict=True
            )
        ]
        heap = items.copy()
        heapq.heapify(heap)
        found = laid_out(items, heaps.heap_order(items))
        assert list(map(repr, found)) == list(map(repr, heap))
        pushed = [*heap, 2]
        found = laid_out(pushed, heaps.pushed_order(pushed))
        expected = heap.copy()
        heapq.heappush(expected, 2)
        assert list(map(repr, found)) == list(map(repr, expected))
        if heap:
            replaced = [3, *heap[1:]]
            found = laid_out(replaced, heaps.replaced_order(replaced))
            expected = heap.copy()
            heapq.heapreplace(expected, 3)
            assert list(map(repr, found)) == list(map(repr, expected))
            found = laid_out(heap, heaps.popped_order(heap))
            heapq.heappop(heap)
            assert list(map(repr, found)) == list(map(repr, heap))


def shortest(w):
    distances = [math.inf] * len(w)
    distances[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distances[u]:
            continue
        for v in range(len(w)):
            if u != v and d + w[u][v] < distances[v]:
                distances[v] = d + w[u][v]
                heapq.heappush(heap, (distances[v], v))
    return sum(distances)


def huffman(p):
    heap = list(p)
    heapq.heapify(heap)
    cost = 0.0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        cost += both**2
        heapq.heappush(heap, both)
    return cost


class Queue:
    def __init__(self):
        self.heap = []

    def push(self, v):
        heapq.heappush(self.heap, v)

    def pop(self):
        return heapq.heappop(self.heap)

    def __len__(self):
        return len(self.heap)


def by_object(p):
    queue = Queue()
    for x in p:
        queue.push(x * x)
    total = 0.0
    while len(queue) > 1:
        total += queue.pop() * queue.pop()
    return total


def in_turn(v):
    heap = sorted(v)
    a = heapq.heapreplace(heap, v[0] * v[1])
    b = heapq.heappushpop(heap, v[2] ** 2)
    c = heapq.heappushpop(heap, -v[1])
    large, small = heapq.nlargest(2, v), heapq.nsmallest(2, v, key=lambda x: -x)
    return a * b * c + large[1] * small[1] + heap[0]


def of_places(v):
    heap = [3, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return v[heapq.heappop(heap)] * len(heap) + v[heap[0]]


@pytest.mark.parametrize(
    ("f", "x"),
    [(shortest, W), (huffman, V), (by_object, V), (in_turn, V), (of_places, V)],
)
def test_gradients(f, x):
    testing.check_grads(f, (x,), order=2)
    assert srcjax.jit(f)(x) == pytest.approx(f(x))
