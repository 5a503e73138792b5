"""Iterators of `itertools`, as the lists of what they give.

Used once, as an iterator can be, a list is the same; `frontend.sequences` refuses what
is used twice.
"""

from __future__ import annotations

import itertools
import operator

from srcjax.ops.record import composite


@composite(itertools.accumulate)
def accumulate(iterable, func=operator.add, *, initial=None):
    """The running totals."""
    items = list(iterable)
    if initial is not None:
        items.insert(0, initial)
    totals = items[:1]
    for item in items[1:]:
        totals.append(func(totals[-1], item))
    return totals


@composite(itertools.chain)
def chain(*iterables):
    """The items of one after those of the other."""
    return [item for items in iterables for item in items]


@composite(itertools.combinations)
def combinations(iterable, r):
    """All choices of so many items, in order."""
    items = list(iterable)
    chosen = list(itertools.combinations(range(len(items)), r))
    return [tuple(items[i] for i in row) for row in chosen]


@composite(itertools.combinations_with_replacement)
def combinations_with_replacement(iterable, r):
    """All choices of so many items, each as often as one likes."""
    items = list(iterable)
    chosen = list(itertools.combinations_with_replacement(range(len(items)), r))
    return [tuple(items[i] for i in row) for row in chosen]


@composite(itertools.permutations)
def permutations(iterable, r=None):
    """All arrangements of so many items."""
    items = list(iterable)
    chosen = list(itertools.permutations(range(len(items)), r))
    return [tuple(items[i] for i in row) for row in chosen]


@composite(itertools.product)
def product(*iterables, repeat=1):
    """All rows of an item from each."""
    pools = [list(items) for items in iterables] * repeat
    chosen = list(itertools.product(*[range(len(pool)) for pool in pools]))
    return [tuple(pools[k][i] for k, i in enumerate(row)) for row in chosen]


@composite(itertools.compress)
def compress(data, selectors):
    """The items that are selected."""
    return [item for item, chosen in zip(data, selectors) if chosen]  # noqa: B905


@composite(itertools.takewhile)
def takewhile(predicate, iterable):
    """The items before the first that fails."""
    items = []
    for item in iterable:
        if not predicate(item):
            break
        items.append(item)
    return items


@composite(itertools.dropwhile)
def dropwhile(predicate, iterable):
    """The items from the first that fails."""
    items = list(iterable)
    start = 0
    while start < len(items) and predicate(items[start]):
        start += 1
    return items[start:]


@composite(itertools.islice)
def islice(iterable, start, *stop_and_step):
    """A slice of the items."""
    items = list(iterable)
    if not stop_and_step:
        return items[:start]
    return items[slice(start, *stop_and_step)]


@composite(itertools.pairwise)
def pairwise(iterable):
    """Each item with the next one."""
    items = list(iterable)
    return [(items[i], items[i + 1]) for i in range(len(items) - 1)]


@composite(itertools.repeat)
def repeat(object, times):
    """The same item several times."""
    return [object for _ in range(times)]


@composite(itertools.starmap)
def starmap(function, iterable):
    """The function of each row of arguments."""
    return [function(*row) for row in iterable]


@composite(itertools.zip_longest)
def zip_longest(*iterables, fillvalue=None):
    """Rows of an item from each, as many as the longest has."""
    pools = [list(items) for items in iterables]
    count = max([len(pool) for pool in pools])
    return [
        tuple(pool[i] if i < len(pool) else fillvalue for pool in pools)
        for i in range(count)
    ]
