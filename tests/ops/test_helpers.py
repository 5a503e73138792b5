"""Records of the runtime's helpers, which follow from their texts."""

import builtins
import inspect
import types

import numpy as np
import pytest

import srcjax
from srcjax import runtime, syntax
from srcjax.frontend.helper_names import HELPERS as HELPER_NAMES
from srcjax.ops.helpers import helper_of
from srcjax.ops.record import TABLE

HELPERS = [f for f in vars(runtime).values() if isinstance(f, types.FunctionType)]
D = np.arange(1.0, 7.0).reshape(2, 3)
X = np.arange(2.0, 8.0).reshape(2, 3)


def shares(helper):
    return helper_of(helper).shares


@pytest.mark.parametrize("helper", HELPERS, ids=lambda f: f.__name__)
def test_every_helper_has_a_record(helper):
    record = helper_of(helper)
    parameters = set(inspect.signature(helper).parameters)
    assert set(record.shares) | set(record.writes) <= parameters


def test_what_is_no_helper_has_none():
    for other in (np.tanh, len, helper_of, "unbroadcast", None):
        assert helper_of(other) is None


def test_memory_is_followed_through_names_and_helpers():
    assert shares(runtime.unbroadcast) == ("d",)
    assert shares(runtime.clip_adjoint) == ("d",)  # as it is, without bounds
    assert shares(runtime.undo_dtypes) == ("parts", "arrays")
    assert shares(runtime.unconcatenate) == ("d",)
    assert shares(runtime.logsumexp_adjoint) == ("d",)  # by way of `unbroadcast`
    assert shares(runtime.unreduce_extreme) == ()
    assert shares(runtime.unroll) == ()
    assert shares(runtime.copied) == ()


def test_helpers_that_do_more_than_compute():
    doing = {f.__name__ for f in HELPERS if not helper_of(f).pure}
    assert doing == {
        "add_at", "checked_eigh", "contents", "in_place_of", "new_zero", "on_diagonal",
        "put_back", "refuse_in_place", "refuse_number", "refuse_whole_numbers",
        "restore_contents", "single_matrix", "zero_part",
    }  # fmt: skip
    assert helper_of(runtime.put_back).writes == ("x",)
    assert helper_of(runtime.in_place_of).writes == ("x",)
    assert helper_of(runtime.restore_contents).writes == ("found",)


CALLS = [
    (runtime.unbroadcast, D, X[0]),
    (runtime.unbroadcast, D, X),
    (runtime.unreduce, D[0], 0, False, X),
    (runtime.unreshape, D, X.ravel()),
    (runtime.untranspose, D, None),
    (runtime.unrollaxis, D, 1, 0),
    (runtime.unroll, D, 1, 0),
    (runtime.unconcatenate, D, [X[:1], X[1:]]),
    (runtime.unstack, D, 0),
    (runtime.unvstack, D, [X[0], X[1]]),
    (runtime.unhstack, D, [X[:, :1], X[:, 1:]]),
    (runtime.unappend_left, D, X[:1], 0),
    (runtime.unpad, np.pad(D, 1), X, 1),
    (runtime.undiff, D, X, 0),
    (runtime.undiff, np.diff(D), X),
    (runtime.undiag, D[0], np.eye(3)),
    (runtime.undiag, np.eye(3), X[0]),
    (runtime.undiagonal, D[0], np.eye(3)),
    (runtime.in_dtype_of, D, X),
    (runtime.undo_dtype, D, None, X),
    (runtime.undo_dtype, D, float, X),
    (runtime.undo_dtypes, [D, D], None, [X, X]),
    (runtime.clip_adjoint, D, X, None, None),
    (runtime.clip_adjoint, D, X, 0.0, 5.0),
    (runtime.cumsum_adjoint, D, 0, X),
    (runtime.cumprod_adjoint, D, 0, X),
    (runtime.average_adjoint, D, X, 0, X),
    (runtime.logsumexp_adjoint, D, X, X, None, None, True),
    (runtime.norm_adjoint, D, X, 1, 0, True, X),
    (runtime.unreduce_extreme, D[0], X.max(axis=0), 0, False, X),
    (runtime.transposed, D),
    (runtime.hermitian, D),
    (runtime.symmetrised, np.eye(3)),
    (runtime.per_matrix, D, np.eye(3)),
    (runtime.unsort, D, X),
    (runtime.untake, D, np.eye(3), np.array([0, 1]), 0),
    (runtime.untake_along_axis, D, X, np.zeros((2, 3), int), 1),
    (runtime.unmeshgrid, [D[0]], [X[0]]),
    (runtime.unreal, D, X),
    (runtime.unreal, D, X * 1j),
    (runtime.unconjugate, D, X),
    (runtime.add, D, X),
    (runtime.zeros_like, D),
    (runtime.zeros_like, [D, (X,)]),
    (runtime.copied, D),
    (runtime.broadcast_like, D, X),
]


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (list, tuple)):
        return [a for item in value for a in arrays_in(item)]
    return []


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0].__name__)
def test_what_a_result_shares_is_in_the_record(call):
    helper, *args = call
    parameters = helper.__code__.co_varnames[: len(args)]
    made = arrays_in(helper(*args))
    found = {
        p
        for p, arg in zip(parameters, args, strict=True)
        if any(np.shares_memory(a, b) for a in arrays_in(arg) for b in made)
    }
    assert found <= set(shares(helper))


def test_rules_name_only_what_there_is():
    """A rule finds its helpers by name, wherever it stands: a typo shows here."""
    scope = set(HELPER_NAMES) | set(vars(builtins)) | {"np", "math", "scipy", "surely"}
    unknown = set()
    for op in {id(op): op for op in TABLE.values()}.values():
        for template in (op.adjoint, op.tangent):
            if template is None or template.globals["__name__"][:10] != "srcjax.ops":
                continue
            own = {"d", *template.parameters, *syntax.names_written(template.body)}
            if template.globals.get("random") is srcjax.random:
                own.add("random")  # the rules of draws
            unknown |= syntax.names_read(template.body) - own - scope
    assert not unknown
