"""Functions that call themselves with arguments by a star, or with more than named."""

import numpy as np
import optree
import pytest

import srcjax


def product(x, *rest):
    return x * (product(*rest) if rest else 1.0)


def without_a_name(*xs):
    if len(xs) == 1:
        return xs[0]
    return xs[0] * without_a_name(*xs[1:])


def after_another(a, x, *rest):
    if not rest:
        return a * x**2
    return x * after_another(a, *rest)


def horner(s, *rest):
    return horner(s * rest[0] + 1.0, *rest[1:]) if rest else s


def more_each_time(n, *xs):
    if n == 0:
        return sum(x**2 for x in xs)
    return more_each_time(n - 1, xs[-1] * 2.0, *xs)


def with_an_option(n, x, *rest, scale=2.0):
    if not rest:
        return scale * x + n
    return scale * x + with_an_option(n + 1, *rest, scale=scale)


def of_arrays(x, *rest):
    return np.sum(np.tanh(x)) * (of_arrays(*rest) if rest else 1.0)


def with_options(n, x, **options):
    if n == 0:
        return x * options["a"]
    return with_options(n - 1, x * options["b"], **options)


def with_named_options(n, x, **options):
    if n == 0:
        return x * options["a"]
    return with_named_options(n - 1, x * 2.0, a=options["a"] * x)


def by_name_beside_a_star(n, *xs, a=1.0):
    if n == 0:
        return sum(xs) * a
    return by_name_beside_a_star(n - 1, *xs, a=a * xs[0])


def even(x, *rest):
    return x * (odd(*rest) if rest else 1.0)


def odd(x, *rest):
    return x + (even(*rest) if rest else 1.0)


X = np.array([0.1, 0.2])

CASES = {
    "of_a_list": (lambda t: product(*t), ([1.0, 2.0, 3.0],)),
    "of_a_tuple": (lambda t: product(*t), ((1.0, 2.0, 3.0),)),
    "by_names": (lambda a, b, c: product(a, b) + product(b, c), (1.0, 2.0, 3.0)),
    "without_a_name": (lambda t: without_a_name(*t), ([1.0, 2.0, 3.0],)),
    "after_another": (lambda a, t: after_another(a, *t), (2.0, [1.0, 2.0, 3.0])),
    "horner": (lambda a, t: horner(a, *t), (0.5, [1.0, 2.0])),
    "more_each_time": (lambda a, b: more_each_time(2, a, b), (1.0, 2.0)),
    "with_an_option": (lambda a, b: with_an_option(0, a, b), (1.0, 2.0)),
    "of_arrays": (lambda x, t: of_arrays(x, *t), (X, [X[:1] + 1.0, X * 3.0])),
    "with_options": (lambda x, a, b: with_options(2, x, a=a, b=b), (1.5, 2.0, 3.0)),
    "with_named_options": (lambda x, a: with_named_options(2, x, a=a), (1.5, 2.0)),
    "by_name_beside_a_star": (
        lambda x, y, a: by_name_beside_a_star(2, x, y, a=a),
        (1.5, 2.0, 0.5),
    ),
    "in_turn": (lambda a, b, c: even(a, b, c), (1.5, 2.0, 0.5)),
    "first_and_rest": (lambda t: product(t[0], *t[1:]) * t[1], ([1.0, 2.0, 3.0],)),
}


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in optree.tree_leaves(tree)])


def like(args, numbers):
    """The numbers in a tree of the structure and shapes of the arguments."""
    leaves, structure = optree.tree_flatten(args)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])
    pieces = np.split(numbers, ends[:-1])
    made = [
        piece.reshape(leaf.shape) if isinstance(leaf, np.ndarray) else float(piece[0])
        for piece, leaf in zip(pieces, leaves, strict=True)
    ]
    return optree.tree_unflatten(structure, made)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")  # `vmap` has a loop
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, args = CASES[name]
    at = flat(args)
    steps = 1e-6 * np.eye(len(at))
    expected = [(f(*like(args, at + e)) - f(*like(args, at - e))) / 2e-6 for e in steps]
    gradient = srcjax.grad(f, tuple(range(len(args))))
    found = gradient(*args)
    assert optree.tree_structure(found) == optree.tree_structure(args)
    np.testing.assert_allclose(flat(found), expected, rtol=1e-6, atol=1e-8)
    along = [srcjax.jvp(f, args, like(args, e))[1] for e in np.eye(len(at))]
    np.testing.assert_allclose(along, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        flat(srcjax.jit(gradient)(*args)), expected, rtol=1e-6, atol=1e-8
    )
    batch = optree.tree_map(lambda leaf: np.stack([leaf, leaf]), args)
    rows = optree.tree_map(lambda leaf: leaf[1], srcjax.vmap(gradient)(*batch))
    np.testing.assert_allclose(flat(rows), expected, rtol=1e-6, atol=1e-8)


def test_a_star_in_the_middle_is_refused():
    def between(x, *rest):
        return x * (between(*rest[1:], rest[0]) if rest else 1.0)

    with pytest.raises(srcjax.errors.UnsupportedError, match="by stars"):
        srcjax.grad(lambda t: between(*t))([1.0, 2.0, 3.0])
    with pytest.raises(srcjax.errors.UnsupportedError, match="by a star"):
        srcjax.jvp(lambda t: between(*t), ([1.0, 2.0, 3.0],), ([1.0, 0.0, 0.0],))
