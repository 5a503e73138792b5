"""The functions that pick a version, and the versions they pick."""

import inspect
import threading
from dataclasses import dataclass

import numpy as np
import pytest

import srcjax
from srcjax.analysis.program import Guard
from srcjax.errors import SrcjaxError
from srcjax.versions import dispatch, tree
from srcjax.versions.callables import MAX_HOT
from tests.corpus.harness import assert_close


def cube(x):
    return x * x * x


def scaled(x, y=2.0):
    return x * x * y


def hot(df):
    """Versions that are found without a key."""
    return [version for _, _, version in df.__srcjax_transform__.hot]


def without_keys(df, monkeypatch):
    """From here on, a call that computes its key fails."""

    def refuse(values):
        raise AssertionError("the key of a call was computed")

    monkeypatch.setattr(df.__srcjax_transform__, "key", refuse)


# --- the parameters of the function that users get ---


def test_signature_is_that_of_the_function():
    assert str(inspect.signature(srcjax.grad(scaled))) == "(x, y=2.0)"
    assert str(inspect.signature(srcjax.grad(srcjax.grad(scaled)))) == "(x, y=2.0)"

    def f(a, /, b, c=1.0):
        return a * b * c

    assert str(inspect.signature(srcjax.grad(f))) == "(a, /, b, c=1.0)"
    assert srcjax.grad(f, argnums="b")(2.0, b=3.0) == 2.0


def test_method_without_self():
    class Model:
        def loss(self, x, y=3.0):
            return x * y

    df = srcjax.grad(Model().loss)
    assert str(inspect.signature(df)) == "(x, y=3.0)"
    assert df(2.0) == 3.0 and df(2.0, y=5.0) == 5.0


def test_no_plain_parameters():
    def spread(*args):
        return args

    def named(x, *, y):
        return x

    def collected(x, **others):
        return x

    for function in (spread, named, collected, len, object()):
        assert dispatch.plain_parameters(function) is None
    assert dispatch.plain_parameters(cube).names == ("x",)


def test_wrong_arguments():
    df = srcjax.grad(scaled)
    for _ in range(3):
        with pytest.raises(TypeError, match=r"grad_scaled\(\).*'x'"):
            df()
        with pytest.raises(TypeError, match=r"grad_scaled\(\).*3"):
            df(1.0, 2.0, 3.0)
        with pytest.raises(TypeError, match=r"grad_scaled\(\).*'z'"):
            df(1.0, z=2.0)
        assert df(1.0) == 4.0


def test_parameters_named_as_the_dispatchers_own_names():
    def f(type, len, match, hot, function, error, general, annotate, float, holder):
        total = type + len + match + hot + function + error + general
        return total * annotate * float * holder

    df = srcjax.grad(f, argnums=(0, 9))
    for _ in range(3):
        assert df(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0) == (24.0, 42.0)
    assert len(hot(df)) == 1


# --- calls after the first ---


def test_calls_by_name_or_default_need_no_key(monkeypatch):
    df = srcjax.grad(scaled)
    df(1.0)
    df(1.0)
    without_keys(df, monkeypatch)
    assert df(3.0) == df(x=3.0) == df(3.0, y=2.0) == df(y=2.0, x=3.0) == 12.0
    with pytest.raises(AssertionError, match="key"):
        df(np.float64(3.0))


def test_pytrees_need_no_key(monkeypatch):
    @dataclass
    class Model:
        w: np.ndarray
        name: str

    def f(params, options, model):
        total = 0.0
        for w, b in params:
            total = total + np.sum(w * b)
        return total * options["scale"] * np.sum(model.w)

    def arguments(n):
        params = [(np.ones((n, 2)), np.full(2, 2.0)), (np.ones(3), np.ones(3))]
        return params, {"scale": 2.0, "deep": True}, Model(np.ones(2), "m")

    df = srcjax.grad(f)
    df(*arguments(4))
    df(*arguments(4))
    params, options, model = arguments(4)
    with monkeypatch.context() as patched:
        without_keys(df, patched)
        assert_close(df(params, options, model)[0][1], np.full(2, 16.0))
        for other in (
            (params, {**options, "deep": False}, model),
            (params, options, Model(np.ones(2), "other")),
            (params, options, Model(np.ones(1), "m")),
            (tuple(params), options, model),
            (params[:1], options, model),
            ([list(params[0]), params[1]], options, model),
        ):
            with pytest.raises(AssertionError, match="key"):
                df(*other)
        other_size = Model(np.ones(3), "m")
        assert_close(df(params, options, other_size)[0][1], np.full(2, 24.0))


@pytest.mark.parametrize("transform", [srcjax.jit, srcjax.grad], ids=["jit", "grad"])
def test_what_is_mapped_inside_is_told_apart_as_fast(transform, monkeypatch):
    def total(x, y):
        return np.sum(srcjax.vmap(cube)(x) * y)

    mapped = srcjax.vmap(lambda x, y: x * y, in_axes=(0, None))
    f = transform(mapped if transform is srcjax.jit else total)
    x = np.arange(3.0)
    wanted = [f(x, 2.0) for _ in range(3)][-1]
    monkeypatch.setattr(f.__srcjax_transform__, "prepare", None)
    assert_close(f(x, 2.0), wanted)
    assert_close(f(x, y=2.0), wanted)


def test_sizes_that_vary_need_no_key(monkeypatch):
    def f(x, w):
        return np.sum((x @ w) ** 2)

    df = srcjax.grad(f)
    for n in (3, 4, 5, 6, 6):
        df(np.ones((n, 2)), np.ones(2))
    without_keys(df, monkeypatch)
    assert_close(df(np.ones((9, 2)), np.ones(2)), np.full((9, 2), 4.0))
    assert_close(df(np.ones((2, 2)), np.ones(2)), np.full((2, 2), 4.0))
    for n, m in ((1, 2), (0, 2), (9, 1)):  # other sizes are 1, or 0
        with pytest.raises(AssertionError, match="key"):
            df(np.ones((n, m)), np.ones(m))


def test_sizes_of_a_matcher():
    """Matched are the shapes for which `generalise` gives the same types."""
    shapes = [(n, m) for n in range(4) for m in range(4)]
    types = {s: [tree.argument_type(np.ones(s), "x", False)] for s in shapes}
    for a in shapes:
        general, common, _ = tree.generalise(types[a], ["x"])
        match = dispatch.matcher(["x"], general, [])
        for b in shapes:
            other = tree.generalise(types[b], ["x"])[1]
            assert match(np.ones(b)) == (other == common)


def test_more_versions_than_are_tried_in_turn():
    def f(x, kind):
        return x * len(kind)

    df = srcjax.grad(f)
    kinds = ["k" * n for n in range(1, MAX_HOT + 4)]
    for _ in range(3):
        for kind in kinds:
            assert df(2.0, kind) == len(kind)
    assert len(hot(df)) == MAX_HOT


def test_too_large_for_a_matcher():
    def f(xs):
        return xs[0] * xs[1]

    df = srcjax.grad(f)
    for n in (dispatch.MOST_TESTS + 1, 3):
        xs = [2.0] * n
        assert [df(xs)[0] for _ in range(3)] == [2.0] * 3
    assert len(hot(df)) == 1


def test_note_on_an_exception_of_a_hot_call():
    def f(x, y):
        return np.sum(x[y])

    df = srcjax.grad(f)
    x = np.ones(3)
    for _ in range(3):
        df(x, np.array([0, 1]))
    assert len(hot(df)) == 1
    with pytest.raises(IndexError) as caught:
        df(x, np.array([0, 7]))
    assert any("test_dispatch.py" in note for note in caught.value.__notes__)


def test_threads():
    df = srcjax.grad(cube)
    wrong = []

    def work(seed):
        for n in range(200):
            x = np.full((), 2.0) if (n + seed) % 3 else 2.0
            if df(x) != 12.0:
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- never stale ---

FACTOR = 2.0


def by_factor(x):
    return x * FACTOR


def test_hot_version_and_a_global_that_changes(monkeypatch):
    df = srcjax.grad(by_factor)
    for factor in (2.0, 5.0, 2.0, 7.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        assert [df(1.0) for _ in range(3)] == [factor] * 3
    monkeypatch.delitem(globals(), "FACTOR")
    with pytest.raises((NameError, SrcjaxError)):
        df(1.0)


def test_hot_version_and_a_cell_that_changes():
    factor = 2.0

    def f(x):
        return x * factor

    df = srcjax.grad(f)
    assert [df(1.0) for _ in range(3)] == [2.0] * 3
    factor = 3.0
    assert [df(1.0) for _ in range(3)] == [3.0] * 3
    assert len(hot(df)) == 1


def test_guards_of_a_matcher():
    names = {"k": cube}
    (cell,) = (lambda: names).__closure__
    guards = [Guard(names, "k", cube), Guard(cell, "names", names)]
    match = dispatch.matcher(["x"], [tree.argument_type(1.0, "x", True)], guards)
    assert match(1.0) and not match(1)
    names["k"] = scaled
    assert not match(1.0)
    del names["k"]
    assert not match(1.0)
    names["k"] = cube
    assert match(1.0)
    del cell.cell_contents
    assert not match(1.0)


def test_numpy_strings_are_known_by_value():
    def f(x, kind):
        return x * 2.0 if kind == "a" else x * 3.0

    df = srcjax.grad(f)
    assert [df(1.0, np.str_(kind)) for kind in "abba"] == [2.0, 3.0, 3.0, 2.0]


def test_ints_in_a_version_made_for_floats():
    """Sizes vary, so that all calls share a version; the last one passes ints."""

    def f(p, a):
        b = np.array([p[0], p[1]])
        b[0] = b[0] * b[1] * 0.5
        return b[0] * np.sum(a)

    df = srcjax.grad(f)
    for n in (2, 3, 4, 5):
        df([3.0, 1.0], np.ones(n))
    for _ in range(2):
        got = df([3, 1], np.ones(7))
        assert got == [3.5, 10.5] and all(g.dtype == float for g in got)


def test_int_fields_of_a_dataclass():
    @dataclass
    class Model:
        x: float
        y: float
        n: int

    def f(m):
        b = np.array([m.x, m.y])
        for _ in range(m.n):
            b[0] = b[0] * b[1] * 0.5
        return b[0]

    df = srcjax.grad(f)
    got = df(Model(3, 1, 1))
    assert (got.x, got.y) == (0.5, 1.5)
    got = df(Model(3.0, 1, 2))
    assert (got.x, got.y) == (0.25, 1.5)


def test_method_that_is_passed_is_not_compiled_again():
    class Model:
        def loss(self, x):
            return x * x

    def f(x, loss):
        return loss(x) * 2.0

    df, model = srcjax.grad(f), Model()
    assert [df(3.0, model.loss) for _ in range(4)] == [12.0] * 4
    assert len(df.__srcjax_transform__.versions) == 1


def test_byte_order_is_told_apart():
    df = srcjax.grad(lambda x: np.sum(x * x))
    for dtype in ("<f8", ">f8", "<f8"):
        assert df(np.ones(2, dtype)).dtype == dtype
