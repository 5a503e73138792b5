"""Where items of a heap lie after what `heapq` does with it."""


def pushed_order(items):
    """The order of a heap in which the last item has found its place."""
    return risen(items, list(range(len(items))), 0, len(items) - 1)


def popped_order(items):
    """The order of a heap without the first item."""
    last = len(items) - 1
    return sunk(items, [last, *range(1, last)], 0) if last > 0 else []


def replaced_order(items):
    """The order of a heap in which the first item, a new one, has found its place."""
    return sunk(items, list(range(len(items))), 0)


def heap_order(items):
    """The order in which items are a heap."""
    order = list(range(len(items)))
    for place in reversed(range(len(items) // 2)):
        order = sunk(items, order, place)
    return order


def sunk(items, order, start):
    """The order where the item at the place has gone down, and up to where it fits."""
    place, child = start, 2 * start + 1
    order, moved = list(order), order[start]
    while child < len(order):
        right = child + 1
        if right < len(order) and not items[order[child]] < items[order[right]]:
            child = right
        order[place] = order[child]
        place, child = child, 2 * child + 1
    order[place] = moved
    return risen(items, order, start, place)


def risen(items, order, start, place):
    """The order where the item at the place has gone up as far as it is smaller."""
    order, moved = list(order), order[place]
    while place > start:
        above = (place - 1) // 2
        if not items[moved] < items[order[above]]:
            break
        order[place] = order[above]
        place = above
    order[place] = moved
    return order
