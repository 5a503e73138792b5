"""An operation has one home: what follows from it is not written a second time."""

import inspect
from pathlib import Path

import pytest

import srcjax
from srcjax.ops import (
    record,
    registry,  # noqa: F401  (fills the table of operations)
)
from srcjax.ops.elementwise_facts import gives_float, is_elementwise, is_harmless

ROOT = Path(srcjax.__file__).parent


def test_the_rules_of_a_reduction_stand_in_two_files():
    """Rules side by side, and the text of their helpers; other operations use it."""
    mentions = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "logsumexp" in path.read_text(encoding="utf-8")
        and "composites" not in path.parts
        # What users import: it calls the operation.
        and not {"nn", "lax", "scipy"} & set(path.relative_to(ROOT).parts)
    }
    assert mentions == {"ops/special.py", "runtime/reductions.py"}


@pytest.mark.parametrize("name", ["np.log2", "np.arcsinh", "math.erf", "np.sinc"])
def test_results_are_floating_if_the_function_says_so(name):
    assert gives_float(name)


@pytest.mark.parametrize("name", ["np.abs", "np.floor_divide", "math.floor", "np.sum"])
def test_results_may_be_integers(name):
    assert not gives_float(name)


def test_one_argument_keeps_its_shape():
    assert is_elementwise("np.tanh")
    assert not is_elementwise("np.maximum")
    assert not is_elementwise("np.sum")


@pytest.mark.parametrize("name", ["np.sin", "np.arctan2", "np.where", "np.less"])
def test_no_number_upsets_the_function(name):
    assert is_harmless(name)


@pytest.mark.parametrize("name", ["np.log", "np.exp", "np.divide", "np.arccosh", "f"])
def test_a_number_may_upset_the_function(name):
    assert not is_harmless(name)


def test_the_type_of_a_call_is_known_with_all_its_arguments():
    """`np.array(x, copy=True)` has a type: the rule takes what the signature has."""
    left_out = {}
    for op in {id(op): op for op in record.TABLE.values()}.values():
        if op.infer is None:
            continue
        taken = inspect.signature(op.infer).parameters
        if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            continue
        missing = [n for n in op.signature.parameters if n not in taken]
        if missing:
            left_out[op.name] = missing
    assert not left_out
