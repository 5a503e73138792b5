"""Jacobians of values whose structure is not known when the code is written."""

import numpy as np

from srcjax.runtime.basics import of_class


def unit_tangents(x):
    """Each tangent of `x` that is 1 in one place and 0 elsewhere, as a list."""
    if isinstance(x, (list, tuple, dict)):
        zeros = map_parts(_zeros, x)
        return [
            replace_part(zeros, key, moved)
            for key in _keys(x)
            for moved in unit_tangents(x[key])
        ]
    if x is None:
        return []
    ones = np.eye(np.size(x), dtype=np.asarray(x).dtype)
    return [_number(one.reshape(np.shape(x))) for one in ones]


def stack_columns(columns, x):
    """The Jacobian from its columns, one for each tangent of `unit_tangents(x)`."""
    first = columns[0]
    if isinstance(first, (list, tuple, dict)):
        blocks = {k: stack_columns([c[k] for c in columns], x) for k in _keys(first)}
        return _like(first, blocks)
    return _blocks(iter(columns), x, np.shape(first))


def stack_rows(rows, y):
    """The Jacobian from its rows, one for each adjoint of `unit_tangents(y)`."""
    rows = iter(rows)

    def block(part):
        if isinstance(part, (list, tuple, dict)):
            return map_parts(block, part)
        own = [next(rows) for _ in range(np.size(part))]
        return _stacked(own, np.shape(part))

    return block(y)


def _stacked(rows, shape):
    """The rows of one output, for each part of the input."""
    if isinstance(rows[0], (list, tuple, dict)):
        parts = {k: _stacked([r[k] for r in rows], shape) for k in _keys(rows[0])}
        return _like(rows[0], parts)
    return _number(np.stack(rows).reshape(shape + np.shape(rows[0])))


def _blocks(columns, x, shape):
    """The columns of one output, divided among the parts of the input."""
    if isinstance(x, (list, tuple, dict)):
        return map_parts(lambda part: _blocks(columns, part, shape), x)
    if x is None:
        return None
    own = [next(columns) for _ in range(np.size(x))]
    if not own:
        return np.zeros(shape + np.shape(x))
    return _number(np.stack(own, axis=-1).reshape(shape + np.shape(x)))


def map_parts(f, x):
    """The same list, tuple or dict of `f` of its items."""
    return _like(x, {key: f(x[key]) for key in _keys(x)})


def replace_part(x, key, value):
    """The same list, tuple or dict with another item at `key`."""
    return _like(x, {k: value if k == key else x[k] for k in _keys(x)})


def _keys(x):
    return list(x) if isinstance(x, dict) else range(len(x))


def _like(x, parts):
    """The parts by key as a container like `x`."""
    if isinstance(x, dict):
        return of_class(x, parts)
    if hasattr(x, "_fields"):
        return type(x)(*parts.values())
    return type(x)(parts.values())


def _zeros(x):
    if isinstance(x, (list, tuple, dict)):
        return map_parts(_zeros, x)
    return None if x is None else _number(np.zeros_like(x))


def _number(v):
    """A number as a number, not as an array without axes."""
    return v[()] if np.shape(v) == () and isinstance(v, np.ndarray) else v
