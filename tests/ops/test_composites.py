"""Operations that are plain NumPy functions: registration, resolution, refusal."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
import types

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError, PerformanceWarning
from srcjax.ops import record
from srcjax.testing import check_grads

X = np.random.default_rng(0).normal(size=(3, 5))


class Curve:
    """Stands for a library's object with methods."""

    def height(self, x, scale=1.0):
        raise AssertionError("the composite is used instead")

    def depth(self, x):
        return 0.0 * x


CURVE = Curve()


def opaque(x, power=2, *, sign=1.0):
    raise AssertionError("the composite is used instead")


@pytest.fixture(autouse=True)
def records():
    """Records made in a test are gone after it."""
    before = dict(record.COMPOSITES), dict(record.LAZY), dict(record.TABLE)
    yield
    for table, old in zip(
        (record.COMPOSITES, record.LAZY, record.TABLE), before, strict=True
    ):
        table.clear()
        table.update(old)


def test_a_call_becomes_a_call_of_the_composite():
    @record.composite(opaque)
    def plain(x, power=2, *, sign=1.0):
        return sign * x**power

    def loss(x):
        return np.sum(opaque(x, 3, sign=2.0))

    np.testing.assert_allclose(srcjax.grad(loss)(X), 6 * X**2)
    assert "opaque" not in srcjax.source(srcjax.grad(loss), X).replace(
        "# return np.sum(opaque", ""
    )


def test_a_large_composite_is_a_function_of_its_own():
    def loss(x):
        return np.sum(np.cov(x) ** 2)

    text = srcjax.source(srcjax.grad(loss), X)
    assert "def cov_forward(" in text
    assert "def cov_backward(saved, dresult):" in text
    check_grads(loss, (X,), modes=("rev",))


def test_a_call_without_differentiated_values_stays():
    def loss(x, data):
        return np.sum(x * np.cov(data)[0, 1])

    text = srcjax.source(srcjax.grad(loss), 2.0, X)
    assert "np.cov(data)" in text
    assert "cov_forward" not in text
    assert srcjax.grad(loss)(2.0, X) == np.cov(X)[0, 1]


def test_both_kinds_of_call_in_one_function():
    def loss(x, data):
        return np.sum(np.cov(x) * np.cov(data))

    text = srcjax.source(srcjax.grad(loss), X, X)
    assert "np.cov(data)" in text and "cov_forward(x)" in text
    check_grads(functools.partial(loss, data=X), (X,), modes=("rev",))


def test_two_calls_with_other_constants():
    def loss(x):
        return np.sum(np.cov(x) ** 2) + np.sum(np.cov(x, rowvar=False, bias=True) ** 3)

    check_grads(loss, (X,), modes=("rev",))


def test_in_a_loop_where_the_value_is_constant_at_first():
    def loss(x):
        state = np.ones((3, 5))
        for _ in range(3):
            state = np.cov(state) @ x + x
        return np.sum(state**2)

    check_grads(loss, (X / 4,), modes=("rev",))


def test_a_user_function_of_the_same_name():
    def cov(x):
        return np.cov(x)[0, 1]

    assert srcjax.grad(cov)(X).shape == X.shape
    check_grads(lambda x: cov(x) ** 2, (X,), modes=("rev",))


def test_without_types():
    def loss(x):
        return np.sum(np.cov(x) ** 2)

    text = srcjax.source(srcjax.grad(loss))
    scope: dict = {}
    exec(text, scope)
    np.testing.assert_allclose(scope["grad_loss"](X), srcjax.grad(loss)(X))


def test_an_argument_that_it_does_not_serve():
    def loss(x):
        return np.sum(np.asarray(x, device="cpu"))

    with pytest.raises(NoRuleError, match="np.asarray.*argument `device`") as caught:
        srcjax.grad(loss)(X)
    assert caught.value.filename == __file__
    assert loss.__code__.co_firstlineno + 1 == caught.value.lineno


@pytest.mark.parametrize("option", ["out", "weights", "interpolation"])
def test_an_argument_that_must_have_its_default(option):
    def loss(x, value):
        return np.sum(np.quantile(x, 0.3, **{option: value}))

    srcjax.grad(loss)(X, None)
    with pytest.raises(NoRuleError, match=f"np.quantile.*argument `{option}`"):
        srcjax.grad(loss)(X, np.ones(X.shape))


def test_tables_of_quantiles_that_numpy_lays_out_by_chance():
    """Of several axes and a table `q`, NumPy puts an axis of `q` last."""
    q = np.array([[10.0, 20.0], [30.0, 40.0]])

    def table(x):
        return np.nanpercentile(x, q, axis=(0, 1))

    def loss(x):
        return np.sum(table(x)[0])

    batch = np.stack([X, X**2])
    with pytest.warns(PerformanceWarning, match="np.nanpercentile"):
        tables = srcjax.vmap(table)(batch)
    np.testing.assert_array_equal(tables, [table(x) for x in batch])
    with pytest.raises(NoRuleError, match="`q` of two dimensions"):
        srcjax.grad(loss)(X)


def test_an_argument_that_it_does_not_have():
    @record.composite(opaque)
    def plain(x, power=2):
        return x**power

    def loss(x):
        return np.sum(opaque(x, sign=-1.0))

    with pytest.raises(NoRuleError, match="unexpected keyword argument 'sign'"):
        srcjax.grad(loss)(X)


def test_a_refusal_that_depends_on_values_is_raised_when_it_runs():
    @record.composite(opaque)
    def plain(x, power=2):
        if power < 0:
            raise NotImplementedError("negative powers")
        return x**power

    def loss(x, n):
        return np.sum(opaque(x, n))

    np.testing.assert_allclose(srcjax.grad(loss)(X, 3), 3 * X**2)
    with pytest.raises(NotImplementedError, match="negative powers"):
        srcjax.grad(loss)(X, -1)


def test_bound_methods():
    @record.composite(CURVE.height)
    def height(x, scale=1.0):
        return x**2 / scale

    assert record.composite_of(CURVE.height) is height
    assert record.composite_of(CURVE.depth) is None
    assert record.composite_of(Curve().height) is None

    def loss(x):
        return np.sum(CURVE.height(x, scale=2.0))

    np.testing.assert_allclose(srcjax.grad(loss)(X), X)


def test_operations_of_bound_methods():
    op = record.operation(CURVE.height, signature="x, scale=1.0", inert=True)
    assert record.lookup(CURVE.height) is op
    assert record.lookup(Curve().height) is None


def test_records_that_are_made_when_they_are_needed(monkeypatch):
    library = types.ModuleType("slow_library")
    exec("def wave(x):\n    raise AssertionError", vars(library))
    library.wave.__module__ = "slow_library.inner"
    monkeypatch.setitem(sys.modules, "slow_library", library)
    made = []

    import_module = importlib.import_module

    def load(name):
        if name != "records_of_slow_library":
            return import_module(name)
        made.append(name)

        @record.composite(library.wave)
        def wave(x):
            return np.sin(x)

        return None

    record.register_lazily("slow_library", "records_of_slow_library")
    monkeypatch.setattr(record.importlib, "import_module", load)
    record.lookup(np.sin)
    assert record.lookup(np.nonzero.__class__) is None
    assert made == []

    def loss(x):
        return np.sum(library.wave(x))

    np.testing.assert_allclose(srcjax.grad(loss)(X), np.cos(X))
    assert made == ["records_of_slow_library"]


def test_a_module_name_that_only_begins_alike(monkeypatch):
    made = []
    monkeypatch.setattr(record.importlib, "import_module", made.append)
    record.register_lazily("slow", "records_of_slow")

    def other():
        """Stands in a module `slower`."""

    other.__module__ = "slower"
    assert record.lookup(other) is None
    assert made == []


def test_exported_modules_stand_alone(tmp_path):
    def loss(x):
        return np.sum(np.corrcoef(x) ** 2)

    path = srcjax.export(srcjax.grad(loss), tmp_path / "exported.py", X)
    text = path.read_text()
    assert "srcjax" not in text.partition('"""')[2].partition('"""')[2]
    run = (
        "import sys; sys.modules['srcjax'] = None; import numpy as np, exported; "
        "x = np.random.default_rng(0).normal(size=(3, 5)); "
        "print(repr(exported.grad_loss(x).tolist()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", run],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(eval(done.stdout), srcjax.grad(loss)(X))


def test_every_composite_can_be_read():
    """Each is a function with source, in the package of composites."""
    for definition in set(record.COMPOSITES.values()):
        assert definition.__module__.startswith("srcjax.ops.composites.")
        assert srcjax.frontend.read.read(definition).name == definition.__name__
