"""`segment_sum` and its kin: one item of the result for all items with a number.

`srcjax.ops` has them, as `jax.ops` does.
"""

from __future__ import annotations

import numpy as np

from srcjax.ops.composites.places import rounds
from srcjax.ops.record import written_out
from srcjax.runtime import largest_at, smallest_at


@written_out
def segment_sum(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
):
    """The sum of the items of each segment; 0 where there are none.

    Args:
        data: an array, with an item for each number in `segment_ids` along its first
            axis.
        segment_ids: an array of whole numbers, the segment of each item.
        num_segments: how many segments there are; one more than the largest number.
        indices_are_sorted: accepted, and of no effect.
        unique_indices: accepted, and of no effect.
        bucket_size: accepted, and of no effect.
        mode: what becomes of items with other numbers than those from 0 to
            `num_segments - 1`: "fill", "drop" and None leave them out, "clip" counts
            them to the nearest segment. "promise_in_bounds" says that there are none:
            one that is there raises IndexError, or is counted from the end.

    Returns:
        An array of the dtype of `data`, with an item for each segment along its first
        axis.

    Raises:
        ValueError: the arrays do not fit, or there is no such mode.
    """
    places, count, size = places_of(data, segment_ids, num_segments, mode)
    sums = np.zeros((size, *data.shape[1:]), data.dtype)
    np.add.at(sums, places, data)
    return sums if size == count else sums[:count]


@written_out
def segment_prod(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
):
    """The product of the items of each segment, 1 where there are none.

    The arguments are those of `segment_sum`.
    """
    places, count, size = places_of(data, segment_ids, num_segments, mode)
    products = np.ones((size, *data.shape[1:]), data.dtype)
    for now in rounds(places):
        products[places[now]] *= data[now]
    return products if size == count else products[:count]


@written_out
def segment_max(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
):
    """The largest item of each segment; where there are none, the least of the dtype.

    The arguments are those of `segment_sum`. Of equal items each has a share of the
    derivative.
    """
    places, count, size = places_of(data, segment_ids, num_segments, mode)
    largest = largest_at(data, places, (size, *data.shape[1:]))
    return largest if size == count else largest[:count]


@written_out
def segment_min(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
):
    """The smallest item of each segment; where there are none, the greatest there is.

    The arguments are those of `segment_sum`. Of equal items each has a share of the
    derivative.
    """
    places, count, size = places_of(data, segment_ids, num_segments, mode)
    smallest = smallest_at(data, places, (size, *data.shape[1:]))
    return smallest if size == count else smallest[:count]


@written_out
def places_of(data, segment_ids, num_segments, mode):
    """Where the items go, how many segments there are, and how many places.

    One more place than segments, the last one, is for items that are left out.
    """
    if np.ndim(segment_ids) != 1 or len(data) != len(segment_ids):
        raise ValueError("there is not a segment for each item along the first axis")
    if num_segments is None:
        num_segments = int(np.max(segment_ids, initial=-1)) + 1
    if mode == "promise_in_bounds":
        return segment_ids, num_segments, num_segments
    if mode == "clip":
        return np.clip(segment_ids, 0, num_segments - 1), num_segments, num_segments
    if mode not in (None, "fill", "drop"):
        raise ValueError(f'mode is {mode!r}, not "clip", "drop", "fill" or None')
    inside = (segment_ids >= 0) & (segment_ids < num_segments)
    return np.where(inside, segment_ids, num_segments), num_segments, num_segments + 1
