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
    found = [*order]
    while child < len(found):
        right = child + 1
        if right < len(found) and not items[found[child]] < items[found[right]]:
            child = right
        found[place] = found[child]
        place, child = child, 2 * child + 1
    found[place] = order[start]
    return risen(items, found, start, place)


def risen(items, order, start, place):
    """The order where the item at the place has gone up as far as it is smaller."""
    found = [*order]
    moved = order[place]
    while place > start:
        above = (place - 1) // 2
        if not items[moved] < items[found[above]]:
            break
        found[place] = found[above]
        place = above
    found[place] = moved
    return found
