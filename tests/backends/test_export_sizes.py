"""An exported module is right for other sizes, or says that it is not for them."""

import importlib.util
from typing import Any

import numpy as np
import optree
import pytest

import srcjax
from srcjax.backends.written_for import wrapped
from tests.corpus.harness import assert_close


def entries(*shape):
    return np.sin(1.0 + np.arange(float(np.prod(shape, dtype=int)))).reshape(shape)


def exported(transformed, path, *args) -> Any:
    """The entry point of the exported module."""
    srcjax.export(transformed, path, *args)
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (entry,) = module.__all__
    return getattr(module, entry)


def joined(a, b):
    return np.sum(np.concatenate([a, b]) ** 2)


def residual(w, x, y):
    return np.sum((x @ w - y) ** 2)


def scaled(x, y):
    return np.sum(x * y)


def layers(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x**2)


def stencil(u):
    v = np.zeros_like(u)
    v[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return np.sum(v**2)


def softmax_loss(w, x, labels):
    scores = x @ w
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return np.mean((log_norm - shifted)[np.arange(len(labels)), labels])


def without_ones(x, w):
    return np.sum(np.squeeze(x) @ w)


def taken_apart(pair):
    x, y = pair
    return np.sum(x * y[0])


def by_mode(x, mode="sum", scale=None):
    total = np.sum(x**2) if mode == "sum" else np.max(x)
    return total if scale is None else total * scale


def net(*widths):
    pairs = zip(widths, widths[1:], strict=False)
    return [(entries(m, n), entries(n)) for m, n in pairs]


#: A function, arguments to write for, and others that are served, and that are not.
CASES = {
    joined: (
        (entries(3), entries(2)),
        [(entries(5), entries(4)), (entries(1), entries(3)), (entries(0), entries(2))],
        [(entries(2, 2), entries(2, 2)), ([1.0, 2.0], [3.0])],
    ),
    residual: (
        (entries(3), entries(4, 3), entries(4)),
        [
            (entries(2), entries(5, 2), entries(5)),
            (entries(3), entries(3, 3), entries(3)),
        ],
        [(entries(3), entries(4, 3), entries(1)), (entries(3), entries(4, 3), 1.0)],
    ),
    scaled: (
        (entries(4, 1), entries(4, 3)),
        [(entries(2, 1), entries(2, 5)), (entries(4, 1), entries(4, 1))],
        [
            (entries(4, 3), entries(4, 3)),
            (entries(1, 3), entries(4, 3)),
            (entries(3), entries(4, 3)),
            (1.0, entries(4, 3)),
        ],
    ),
    layers: (
        (net(2, 4, 3, 5), entries(7, 2)),
        [
            (net(2, 4), entries(7, 2)),
            (net(2, 3, 4, 5, 6, 2), entries(3, 2)),
            (net(2, 2, 2, 2), entries(2, 2)),
            (net(2, 3, 4, 3, 4), entries(1, 2)),
        ],
        [(net(2, 4, 3, 5), entries(2)), ([(entries(2, 3), 1.0)] * 3, entries(7, 2))],
    ),
    stencil: (
        (entries(6),),
        [(entries(9),), (entries(3),), (entries(2),)],
        [(entries(3, 3),), (np.arange(5),)],
    ),
    softmax_loss: (
        (entries(3, 4), entries(5, 3), np.array([0, 3, 1, 2, 0])),
        [
            (entries(3, 1), entries(2, 3), np.array([0, 0])),
            (entries(1, 2), entries(1, 1), np.array([1])),
        ],
        [(entries(3), entries(5, 3), np.array([0]))],
    ),
    without_ones: (
        (entries(3, 1, 2), entries(2)),
        [(entries(5, 1, 4), entries(4))],
        [(entries(3, 1, 1), entries(1)), (entries(1, 1, 2), entries(2))],
    ),
    taken_apart: (
        ((entries(3), entries(2)),),
        [((entries(4), entries(1)),)],
        [((entries(4), entries(2), entries(2)),), ((entries(4), entries(2, 4)),)],
    ),
    by_mode: (
        (entries(3),),
        [(entries(5),), (entries(4), "sum")],
        [(entries(3), "max"), (entries(3), "sum", 2.0)],
    ),
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_gradient(f, tmp_path):
    example, served, refused = CASES[f]
    df = srcjax.grad(f)
    written = exported(df, tmp_path / "exported.py", *example)
    for args in (example, *served):
        got, expected = map(optree.tree_leaves, (written(*args), df(*args)))
        assert_close(tuple(got), tuple(expected))
    for args in refused:
        with pytest.raises(
            (ValueError, AttributeError), match="is for|Gradient|has no"
        ):
            written(*args)


@pytest.mark.parametrize("f", [joined, residual, stencil], ids=lambda f: f.__name__)
def test_tangent_and_batch(f, tmp_path):
    example, served, _ = CASES[f]
    tangent = exported(srcjax.jvp(f), tmp_path / "tangent.py", *example)
    batch = exported(
        srcjax.vmap(f), tmp_path / "batch.py", *(np.stack([a] * 3) for a in example)
    )
    for args in (example, *served):
        assert_close(tangent(*args, *args), srcjax.jvp(f, args, args))
        examples = [np.stack([a, 2 * a]) for a in args]
        assert_close(
            batch(*examples), np.array([f(*a) for a in zip(*examples, strict=True)])
        )
    with pytest.raises(ValueError, match="is for"):
        tangent(*example, *(a[:1] for a in example))
    if len(example) > 1:
        with pytest.raises(ValueError, match="is for|gives for"):
            batch(*(np.stack([a] * (3 - i)) for i, a in enumerate(example)))


def test_what_a_text_is_not_for_is_told():
    text = str(srcjax.source(srcjax.grad(without_ones), entries(3, 1, 2), entries(2)))
    assert "For x: (n, 1, m), w: (m,), n != 1, m != 1." in text
    text = str(srcjax.source(srcjax.grad(softmax_loss), *CASES[softmax_loss][0]))
    assert "shape[1] ==" not in text and ", m != 1" not in text


def test_what_is_said_of_sizes_is_on_one_line():
    text = "For " + "layers: (n, m), " * 4 + "targets: (p, k), m + n >= k, k != 1."
    for width in range(40):
        lines = wrapped("x" * width + text)
        assert "m + n >= k" in "|".join(lines) and "k != 1" in "|".join(lines)


def test_the_text_is_one():
    """What `source` shows is what runs, but for the test of the arguments."""
    df = srcjax.grad(residual)
    args = CASES[residual][0]
    df(*args)
    (version,) = set(df.__srcjax_transform__.versions.values())
    assert "raise ValueError" in str(srcjax.source(df, *args))
    assert "written" not in version.call.__code__.co_consts
    with pytest.raises(ValueError, match="is for w"):
        version.function(args[0], args[1], args[2][:1])
    assert version.call.__code__.co_filename == version.function.__code__.co_filename
    assert version.call.__doc__.startswith("Gradient of residual with respect to w")


def in_halves(x, w):
    if len(x) <= 1:
        return np.sum(x * w)
    middle = len(x) // 2
    return in_halves(x[:middle], w) * in_halves(x[middle:], w)


def test_a_function_that_calls_itself_is_tested_too(tmp_path):
    x, w = entries(5), np.array([0.7])
    tangents = (np.cos(x), np.array([0.3]))
    jvp = exported(srcjax.jvp(in_halves), tmp_path / "e.py", entries(3), w)
    expected = srcjax.jvp(in_halves, (x, w), tangents)
    np.testing.assert_allclose(jvp(x, w, *tangents), expected)
    with pytest.raises(ValueError, match=r"jvp_in_halves is for x: \(n,\), w: \(1,\)"):
        jvp(x, entries(3), tangents[0], entries(3))
    with pytest.raises(ValueError, match="is for"):
        jvp(x, w, entries(2), tangents[1])
