"""Helpers of batched code, where the types do not tell."""

import copy
from enum import Enum

import numpy as np

from srcjax.runtime.basics import of_class, unbroadcast


def over_parts(function, x, *others):
    """The container with `function` applied to each of its parts.

    `others` are containers of the same structure; what is no container there goes to
    every part as it is. Raises ValueError where the structures differ.
    """

    def part(other, key):
        if isinstance(other, dict) != isinstance(x, dict) and isinstance(
            other, (dict, list, tuple)
        ):
            raise ValueError(
                f"a {type(other).__name__} for a {type(x).__name__}; they need the "
                "same structure"
            )
        if isinstance(other, dict):
            if other.keys() != x.keys():
                raise ValueError(
                    f"{list(other)} for {list(x)}; they need the same structure"
                )
            return other[key]
        if isinstance(other, (list, tuple)):
            if len(other) != len(x):
                raise ValueError(
                    f"the examples of a batch give {len(other)} and {len(x)} items; "
                    "they need the same structure"
                )
            return other[key]
        if hasattr(other, "__dict__"):
            return getattr(other, key)
        return other

    if isinstance(x, dict):
        made = {k: function(v, *[part(o, k) for o in others]) for k, v in x.items()}
        return of_class(x, made)
    if isinstance(x, (list, tuple)):
        items = [function(v, *[part(o, k) for o in others]) for k, v in enumerate(x)]
        if type(x) is list:
            return items
        if type(x) is tuple:
            return tuple(items)
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    made = copy.copy(x)
    held = {k: function(v, *[part(o, k) for o in others]) for k, v in vars(x).items()}
    if made is x and any(held[key] is not value for key, value in vars(x).items()):
        raise TypeError(f"{x!r} cannot be of several examples: a copy of it is itself")
    for key, value in held.items():
        object.__setattr__(made, key, value)
    return made


def has_parts(x):
    """Whether the value is a container or object, no array, number or text."""
    function = callable(x) and not (  # a dataclass that is called has parts
        hasattr(x, "__dataclass_fields__") and not isinstance(x, type)
    )
    return isinstance(x, (dict, list, tuple)) or (
        hasattr(x, "__dict__")
        and not function
        and not hasattr(x, "dtype")
        and not isinstance(x, Enum)
    )


def spread_items(x, n):
    """A batch of `n` examples that are all `x`: an array, or a container of arrays.

    What `x` holds twice, the batch holds twice.
    """
    made = {}

    def spread(part):
        if id(part) not in made or not isinstance(part, (dict, list, np.ndarray)):
            if has_parts(part):
                made[id(part)] = over_parts(spread, part)
            elif part is None or isinstance(part, str) or callable(part):
                made[id(part)] = part
            else:
                made[id(part)] = np.broadcast_to(part, (n, *np.shape(part))).copy()
        return made[id(part)]

    return spread(x)


def given_for_all(x, batched, n):
    """What a rule gives for `n` examples; what has no axis is the same for all.

    `batched` tells which parts of `x` have one. Raises ValueError where there are not
    as many examples.
    """
    if x is None or isinstance(x, str) or callable(x):
        return x
    if has_parts(x):
        return over_parts(lambda part, b: given_for_all(part, b, n), x, batched)
    if not batched:
        return np.broadcast_to(x, (n, *np.shape(x))).copy()
    if np.shape(x)[:1] != (n,):
        raise ValueError(
            f"a rule for {n} examples gave an array of shape {np.shape(x)}"
        )
    return x


def sum_of_examples(x):
    """The sum over the examples of a batch: an array, or a container of arrays."""
    if x is None:
        return None
    if has_parts(x):
        return over_parts(sum_of_examples, x)
    return np.sum(x, axis=0)


def one_for_each(x, n):
    """The items of `x`, one for each of `n` examples. Raises ValueError."""
    if len(x) != n:
        raise ValueError(f"psum_scatter: {len(x)} items for {n} examples")
    return x


def permute_items(x, perm):
    """The items of `x` at other places, by pairs (source, target), and zeros.

    Raises ValueError where an item is the source, or the target, of two pairs.
    """
    if min(len({a for a, _ in perm}), len({b for _, b in perm})) < len(perm):
        raise ValueError(f"ppermute: {perm} has a source or a target twice")
    found = np.zeros_like(x)
    for source, target in perm:
        found[target] = x[source]
    return found


def exchange_items(x, split, concat, tiled=False):
    """What the examples of a batch get, if each cuts its axis `split` for all of them.

    The parts that one gets stand along `concat`, or are joined there (`tiled`). Raises
    ValueError for an axis that cannot be cut into a part for each.
    """
    n = len(x)
    if x.shape[split + 1] % n or (not tiled and x.shape[split + 1] != n):
        raise ValueError(f"all_to_all: axis {split} of {x.shape[1:]}, for {n} examples")
    if not tiled:
        return np.moveaxis(x, (split + 1, 0), (0, concat + 1))
    parts = np.stack(np.split(x, n, axis=split + 1), axis=1)
    return np.concatenate(parts, axis=concat + 1)


def expand_examples(x, rank):
    """A batch whose examples have at least `rank` axes: new ones follow the first."""
    return np.expand_dims(x, tuple(range(1, rank + 2 - x.ndim)))


def unbroadcast_examples(d, x):
    """For each example, the adjoint `d` summed where `x` was broadcast."""
    return np.moveaxis(unbroadcast(np.moveaxis(d, 0, -1), np.moveaxis(x, 0, -1)), -1, 0)


def unreduce_examples(d, x):
    """For each example, the adjoint `d` of a sum of `x` spread over x's shape."""
    return np.broadcast_to(expand_examples(d, x.ndim - 1), x.shape)


def move_axes(x, source, target):
    """The arrays of a container with the axis `source` moved to `target`.

    One of the two is 0, the other an axis, None, or a container of axes.
    """
    axes = target if source == 0 else source
    if axes is None or x is None or isinstance(x, str):
        return x
    if has_parts(x):
        if source == 0:
            return over_parts(lambda part, axis: move_axes(part, 0, axis), x, axes)
        return over_parts(lambda part, axis: move_axes(part, axis, 0), x, axes)
    return np.moveaxis(x, source, target)


def items_of_each(x):
    """The items of all examples of a batch: of an array along its second axis."""
    return x if has_parts(x) else np.moveaxis(x, 1, 0)


def true_for(x, n):
    """For which of `n` examples `x` is true: a mask, and no index.

    `x` is a batch of numbers, or what all examples have: None, a text, an object.
    """
    if not isinstance(x, np.ndarray) or not x.ndim:
        return np.full(n, bool(x))
    return x.reshape(n) if x.dtype.kind == "b" else x.reshape(n) != 0


def gathered(x, where):
    """The examples of a batch at `where`; of a container, those of its arrays."""
    if has_parts(x):
        return over_parts(lambda part: gathered(part, where), x)
    return x[where] if isinstance(x, np.ndarray) else x


def put_back(x, where, part, n):
    """`x` with the examples at `where` replaced by those of `part`.

    `x` is a batch of `n` examples, or None before any was put in. Raises ValueError if
    the examples have not the same structure or shape.
    """
    if has_parts(part):
        return over_parts(lambda new, old: put_back(old, where, new, n), part, x)
    if not isinstance(part, np.ndarray):
        if not np.arange(n)[where].size:
            return part if x is None else x
        if isinstance(x, np.ndarray) or (x is not None and x != part):
            raise ValueError(f"the examples of a batch give {x!r} and {part!r}")
        return part
    if x is None:
        x = np.zeros((n, *part.shape[1:]), part.dtype)
    elif not len(part):
        return x
    elif x.shape[1:] != part.shape[1:]:
        raise ValueError(
            f"the examples of a batch have the shapes {x.shape[1:]} and "
            f"{part.shape[1:]}; they need the same shape"
        )
    kind = np.result_type(x, part)
    if kind != x.dtype:
        x = x.astype(kind)
    x[where] = part
    return x


def merge_batches(x, n, m, have):
    """`n` batches of `m` examples as one; `have`: which of the two axes `x` has."""
    if has_parts(x):
        return over_parts(lambda part: merge_batches(part, n, m, have), x)
    if x is None or isinstance(x, str) or callable(x):
        return x
    rest = np.shape(x)[sum(have) :]
    if not have[1]:
        x = np.broadcast_to(x[:, None], (n, m, *rest))
    return np.broadcast_to(x, (n, m, *rest)).reshape(n * m, *rest)


def split_batches(x, n, m):
    """One batch as `n` batches of `m` examples."""
    if has_parts(x):
        return over_parts(lambda part: split_batches(part, n, m), x)
    if isinstance(x, np.ndarray):
        return x.reshape(n, m, *x.shape[1:])
    return x


def batch_count(x, axis):
    """The number of examples in an argument."""
    if has_parts(x):
        counts = []
        over_parts(lambda part, a: counts.append(batch_count(part, a)), x, axis)
        return next(count for count in counts if count is not None)
    return None if axis is None else np.shape(x)[axis]


def example(x, axis, k):
    """Example number `k` of an argument."""
    if axis is None or x is None or isinstance(x, str):
        return x
    if has_parts(x):
        return over_parts(lambda part, a: example(part, a, k), x, axis)
    return np.moveaxis(x, axis, 0)[k]


def unstacked(d, examples, axis):
    """The adjoint of each example: the parts of that of `stacked(examples, axis)`."""

    def own(part, along, k):
        if has_parts(part):
            return over_parts(lambda p, a: own(p, a, k), part, along)
        return part if np.ndim(part) == 0 else np.moveaxis(part, along, 0)[k]

    return [own(d, axis, k) for k in range(len(examples))]


def stacked(examples, axis):
    """The results of all examples as one, along a new axis."""
    first = examples[0]
    if axis is None or first is None or isinstance(first, str):
        return first
    if isinstance(first, (dict, list, tuple)):
        keys = first if isinstance(first, dict) else range(len(first))

        def column(key):
            each = axis[key] if isinstance(axis, (dict, list, tuple)) else axis
            return stacked([item[key] for item in examples], each)

        if isinstance(first, dict):
            return of_class(first, {key: column(key) for key in keys})
        items = [column(key) for key in keys]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if not isinstance(first, (np.ndarray, np.generic, int, float, complex, bytes)):
        raise TypeError(
            f"the examples of a batch give a {type(first).__name__}, which has no "
            "items to be put together: return numbers, arrays, lists, tuples or dicts"
        )
    if any(isinstance(item, np.ma.MaskedArray) for item in examples):
        raise TypeError(
            "the examples of a batch give masked arrays, whose masks would be lost: "
            "return `.filled(np.nan)` of them"
        )
    shapes = {np.shape(item): None for item in examples}
    if len(shapes) > 1:
        one, other, *_ = shapes
        raise ValueError(
            f"the examples of a batch give arrays of the shapes {one} and {other}; "
            "they need the same shape"
        )
    if isinstance(first, np.matrix):  # which has two axes, never three
        examples = [np.asarray(item) for item in examples]
    return np.stack(examples, axis)
