"""Heaps of `heapq`: their items are moved as it does, each with its adjoint.

Comparisons alone decide where an item goes, so that the order is no function of what
carries a derivative.
"""

from __future__ import annotations

import heapq

from srcjax.analysis.types import INT, List
from srcjax.ops.record import composite, inert
from srcjax.runtime.heaps import (
    heap_order,
    popped_order,
    pushed_order,
    replaced_order,
)

for _order in (heap_order, popped_order, pushed_order, replaced_order):
    inert(_order, signature="items", infer=lambda **_: List(elem=INT))


@composite(heapq.heappush)
def heappush(heap, item):
    """Put an item in."""
    heap.append(item)
    order = pushed_order(heap)
    heap[:] = [heap[k] for k in order]


@composite(heapq.heappop)
def heappop(heap):
    """Take the smallest item out."""
    item = heap[0]
    order = popped_order(heap)
    heap[:] = [heap[k] for k in order]
    return item


@composite(heapq.heapify)
def heapify(x):
    """Make a list a heap."""
    order = heap_order(x)
    x[:] = [x[k] for k in order]


@composite(heapq.heapreplace)
def heapreplace(heap, item):
    """Take the smallest item out, then put another in."""
    smallest = heap[0]
    heap[0] = item
    order = replaced_order(heap)
    heap[:] = [heap[k] for k in order]
    return smallest


@composite(heapq.heappushpop)
def heappushpop(heap, item):
    """Put an item in, then take the smallest one out."""
    if heap and heap[0] < item:
        smallest = heap[0]
        heap[0] = item
        order = replaced_order(heap)
        heap[:] = [heap[k] for k in order]
        return smallest
    return item


@composite(heapq.nlargest)
def nlargest(n, iterable, key=None):
    """The largest items, the largest first."""
    if key is None:
        return sorted(iterable, reverse=True)[: max(n, 0)]
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@composite(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    """The smallest items, the smallest first."""
    if key is None:
        return sorted(iterable)[: max(n, 0)]
    return sorted(iterable, key=key)[: max(n, 0)]
