"""Threefry-2x32, the generator behind all draws: a hash of a key and a counter.

The n-th number drawn with a key is the hash of the key and n. So a draw has no state,
the same key gives the same numbers, and any part of them can be computed by itself. The
algorithm is the one with 20 rounds of Salmon, Moraes, Dror and Shaw, "Parallel random
numbers: as easy as 1, 2, 3" (SC 2011). The counter of an array's items, in C order, is
64 bits wide, as two words: that is JAX's order with `jax_threefry_partitionable`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax.backends.threads import in_threads

#: How far the second word is rotated in each round; the two rows take turns.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
#: Makes the third word of the key schedule from the two words of the key.
PARITY = np.uint32(0x1BD11BDA)
#: So many counters are hashed at once: what they take stays in a core's second cache.
BLOCK = 1 << 15

#: What becomes of a block: `finish(out, first, second)` writes to `out` what it makes
#: of the two hashed words, which it may overwrite. All are of the same shape.
Finish = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def hash_in_place(
    key0: Any, key1: Any, first: np.ndarray, second: np.ndarray, spare: np.ndarray
) -> None:
    """Replace the words of the counters by those of their hash.

    Args:
        key0: the keys' first words, uint32, of a shape that broadcasts to that of the
            counters.
        key1: the keys' second words.
        first: the counters' high words, uint32, overwritten.
        second: the counters' low words, uint32, overwritten.
        spare: uint32, of the counters' shape, overwritten.
    """
    schedule = (key0, key1, key0 ^ key1 ^ PARITY)
    first += key0
    second += key1
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            first += second
            np.right_shift(second, np.uint32(32 - distance), out=spare)
            np.left_shift(second, np.uint32(distance), out=second)
            second |= spare
            second ^= first
        first += schedule[(group + 1) % 3]
        # The number of the group goes in too; all of it wraps around at 32 bits.
        second += schedule[(group + 2) % 3]
        second += np.uint32(group + 1)


def hashed(
    keys: np.ndarray, high: np.ndarray, low: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two words of the hash of each key and each counter, which broadcast.

    `keys` is uint32 of shape (..., 2), the counters' words are uint32; the results are
    new arrays of the shape that the keys' leading axes and the words broadcast to.
    """
    key0, key1 = keys[..., 0], keys[..., 1]
    shape = np.broadcast_shapes(key0.shape, high.shape, low.shape)
    words = np.empty((3, *shape), np.uint32)
    words[0], words[1] = high, low
    hash_in_place(key0, key1, words[0, ...], words[1, ...], words[2, ...])
    return words[0], words[1]


def fill(out: np.ndarray, keys: np.ndarray, finish: Finish) -> None:
    """Fill `out` with what is made of the hashes of its items' counters, key by key.

    Args:
        out: a contiguous array of shape (number of keys, number of items).
        keys: uint32, (number of keys, 2).
        finish: what becomes of a block.
    """
    count, size = out.shape
    if size >= BLOCK:
        for row in range(count):
            _fill_columns(0, size, BLOCK, out[row], keys[row], finish)
    elif size:
        rows = BLOCK // size
        for start in range(0, count, rows):
            part = slice(start, start + rows)
            _fill_rows(out[part], keys[part], finish)


@in_threads
def _fill_columns(
    first: int, last: int, step: int, out: np.ndarray, key: np.ndarray, finish: Finish
) -> None:
    """Fill one key's items from `first` to `last`, in blocks."""
    key0, key1 = key[0:1], key[1:2]
    counters = np.arange(step, dtype=np.uint32)
    words = np.empty((3, step), np.uint32)
    for start in range(first, last, step):
        part = out[start : min(start + step, last)]
        high, low, spare = words[:, : len(part)]
        high.fill(start >> 32)
        np.add(counters[: len(part)], np.uint32(start & 0xFFFFFFFF), out=low)
        hash_in_place(key0, key1, high, low, spare)
        finish(part, high, low)


def _fill_rows(out: np.ndarray, keys: np.ndarray, finish: Finish) -> None:
    """Fill the few items of each of many keys, at once."""
    high, low, spare = np.zeros((3, *out.shape), np.uint32)
    low += np.arange(out.shape[1], dtype=np.uint32)
    hash_in_place(keys[:, 0:1], keys[:, 1:2], high, low, spare)
    finish(out, high, low)
