"""Sizes made of others (slices, parts, joins): short texts, right or loud elsewhere."""

import itertools

import numpy as np
import optree
import pytest

import srcjax
from srcjax.backends.export import export_text
from tests.corpus.harness import assert_close, differences


def entries(*shape):
    return np.sin(1.0 + np.arange(float(np.prod(shape, dtype=int)))).reshape(shape)


def neighbours(x):
    return np.sum(x[1:] * x[:-1] ** 2)


def first_and_next(x):
    return np.sum(x[:3] * np.tanh(x[1:4]))


def ends(x):
    return np.sum(x[2:] * x[:3])


def inner(x, w):
    return np.sum(x[1:-1] * w) + np.sum(w)


def every_other(x):
    return np.sum(x[::2] * x[1::2])


def halves(w, x):
    i, f = np.split(w, 2)
    return np.sum(np.tanh(i * x) * f)


def parts(x, y):
    a, b = np.array_split(x, 2)
    return np.sum(a * y) + np.sum(b**2)


def pieces(x, y):
    a, b, c = np.split(x, [1, 3])
    return np.sum(a * b * c[0]) + np.sum(b * y)


def joined(x, y, w):
    return np.sum(np.concatenate([x, y]) ** 2 * w)


def columns(x, y):
    return np.sum(np.stack([x, y], axis=1)) + np.sum(np.stack([y, x]))


def squeezed(x, y):
    return np.sum(np.squeeze(x[:, None]) ** 2 * np.squeeze(y[None]))


def periodic(x):
    padded = np.concatenate([x[-1:], x, x[:1]])
    return np.sum((padded[2:] - padded[:-2]) ** 2 * x)


def around(x):
    inside = np.concatenate([x[:1], x[1:-1] ** 2, x[-1:]])
    return np.sum(inside * x)


def padded(x):
    return np.sum(np.pad(x[1:-1] ** 2, 1) * x)


def assigned(x):
    y = np.zeros(6)
    y[:3] = x[3:] ** 2
    y[3:] = y[:3] * x[:3]
    return np.sum(y)


def windows(x, kernel):
    total = 0.0
    for i in range(3):
        total = total + np.sum(x[i : i + 2] * kernel) ** 2
    return total


def flat(x, w):
    return np.sum(x.reshape(2, -1) * w)


#: Functions, the sizes they are written for, and how often `unbroadcast` may stand.
CASES = {
    neighbours: (6,),
    first_and_next: (6,),
    ends: (5,),
    inner: (6, 4),
    every_other: (6,),
    halves: (8, 4),
    parts: (7, 4),
    pieces: (5, 2),
    joined: (4, 3, 7),
    columns: (4, 4),
    squeezed: (4, 4),
    periodic: (5,),
    around: (5,),
    padded: (5,),
    assigned: (6,),
    windows: (4, 2),
    flat: (6, 3),
}


def outcome(f, args):
    """The derivatives, or None where they cannot be had."""
    try:
        return optree.tree_map(np.asarray, f(*args))
    except Exception:
        return None


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_gradients(f):
    sizes = CASES[f]
    df = srcjax.grad(f, argnums=tuple(range(len(sizes))))
    args = tuple(map(entries, sizes))
    text = str(srcjax.source(df, *args))
    assert "unbroadcast" not in text
    assert_close(df(*args), differences(f, args, range(len(sizes))))
    namespace: dict = {}
    exec(export_text(df.__srcjax_transform__.module_for(args, {})), namespace)
    written = namespace[namespace["__all__"][0]]
    near = ({0, 1, 2, n - 1, n, n + 1} for n in sizes)
    for other in itertools.product(*near):
        args = tuple(map(entries, other))
        runs = outcome(lambda *a: (f(*a),), args) is not None
        expected = differences(f, args, range(len(sizes))) if runs else None
        found = outcome(written, args)
        assert found is None or runs, other
        if found is not None:
            assert_close(found, expected)
        if runs:
            assert_close(df(*args), expected)


def test_few_versions():
    df = srcjax.grad(around)
    for n in range(2, 20):
        df(entries(n))
    assert len(set(df.__srcjax_transform__.versions.values())) == 1


def of_many(params, x):
    for name in sorted(params):
        x = np.tanh(params[name]["w"] @ x + params[name]["b"])
    return np.sum(x)


def test_many_tests_are_written():
    """A text that is for many arguments tests them all, in a function of its own."""
    params = {f"l{i}": {"w": entries(3, 3), "b": entries(3)} for i in range(9)}
    df = srcjax.grad(of_many)
    namespace: dict = {}
    text = export_text(df.__srcjax_transform__.module_for((params, entries(3)), {}))
    exec(text, namespace)
    written = namespace["grad_of_many"]
    found, expected = written(params, entries(3)), df(params, entries(3))
    assert_close(optree.tree_leaves(found), optree.tree_leaves(expected))
    with pytest.raises(ValueError, match="grad_of_many is for"):
        written(params, 1.0 * entries(3, 1))
    params["l7"]["b"] = entries(3, 1)
    with pytest.raises(ValueError, match="grad_of_many is for"):
        written(params, entries(3))


def weights_and_rows(x, h, w):
    for row in x:
        h = np.tanh(np.concatenate([row, h]) @ w)
    return np.sum(h)


def test_parts_are_cut_by_the_names_of_what_was_joined():
    args = entries(4, 2), entries(3), entries(5, 3)
    df = srcjax.grad(weights_and_rows, argnums=(0, 1, 2))
    text = str(srcjax.source(df, *args))
    assert ": len(row)]" in text
    assert "values" not in text.replace("dvalues", "")
    assert_close(df(*args), differences(weights_and_rows, args, range(3)))


@pytest.mark.parametrize(
    ("f", "longer"),
    [(first_and_next, (1,)), (halves, (2, 1)), (joined, (1, 1, 2)), (around, (1,))],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_one_batch_for_all_sizes(f, longer):
    """A batch rule that compares sizes supposes, and makes no version for each."""
    values, gradients = srcjax.vmap(f), srcjax.vmap(srcjax.grad(f))
    for k in range(3):
        pairs = zip(CASES[f], longer, strict=True)
        args = tuple(entries(n + k * more) for n, more in pairs)
        rows = [args, tuple(-2 * a for a in args)]
        batch = [np.stack(column) for column in zip(*rows, strict=True)]
        assert_close(values(*batch), np.array([f(*row) for row in rows]))
        expected = np.stack([differences(f, row, (0,))[0] for row in rows])
        assert_close(gradients(*batch), expected)
    for transformed in (values, gradients):
        versions = transformed.__srcjax_transform__.versions
        assert len({id(v) for v in versions.values()}) == 1
    assert "unbroadcast" not in str(srcjax.source(gradients, *batch))
