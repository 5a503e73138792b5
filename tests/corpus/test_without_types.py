"""The text that knows no types: the numbers of the typed one, or a refusal."""

import pytest

import srcjax
from srcjax.errors import SrcjaxError

from . import Program, scalar_programs
from .harness import assert_close

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_numbers": 18}

# What the text cannot do, but says so when it runs. To be emptied.
RAISES: dict[str, type[Exception]] = {
    # An array that is changed in place by `+=` has several names.
    "inplace.alias_augmented": TypeError,
    "inplace.argument_is_changed": TypeError,
    "inplace.callee_changes_a_view": TypeError,
    "inplace.callee_changes_its_argument": TypeError,
    "inplace.parts_changed_by_helpers": TypeError,
    "inplace.result_of_a_call_changed": TypeError,
    "inplace.row_is_a_view": TypeError,
    "inplace.sum_under_another_name": TypeError,
    "inplace.view_restored_while_its_base_is_used": TypeError,
    "models.k_means_loss": ValueError,
    # How many arguments `*gains` gives is not known.
    "objects.controller_with_memory": SrcjaxError,
    "objects.namespace_of_state": TypeError,
}


@pytest.mark.parametrize("program", scalar_programs(), ids=lambda p: p.name)
def test_numbers(program: Program):
    gradient = srcjax.grad(program.function, argnums=program.argnums)
    try:
        wanted = gradient(*program.args())
    except SrcjaxError:
        pytest.skip("refused with types, too")
    transform = gradient.__srcjax_transform__
    try:
        module = transform.build(transform.hinted_types(), False)
    except SrcjaxError:
        return  # correct or loud
    written = getattr(module.load(), module.entry)
    if program.name in RAISES:
        with pytest.raises(RAISES[program.name]):
            written(*program.args())
        return
    single = any("float32" in str(getattr(a, "dtype", "")) for a in program.args())
    tolerance = (
        {"rtol": 1e-6, "atol": 1e-7} if single else {"rtol": 1e-8, "atol": 1e-10}
    )
    assert_close(written(*program.args()), wanted, **tolerance)


def test_keys_are_not_taken_for_items():
    def keys(table):
        total = 0.0
        for k in table:
            total = total + k * 2.0
        return total

    transform = srcjax.grad(keys).__srcjax_transform__
    module = transform.build(transform.hinted_types(), False)
    with pytest.raises(TypeError, match="`table` is a dict here"):
        getattr(module.load(), module.entry)({0: 1.0, 1: 2.0})


def paired(table, others):
    total, scale = 0.0, 2.0
    for a, b in zip(table, others, strict=False):
        total += scale * a * b
    return total


def of_a_product(A, x):
    total = 0.0
    for y in A @ x:
        total += y**2
    return total


def test_dicts_are_refused_where_a_function_begins():
    """Once for all arguments; and what a product gives is no dict."""
    text = srcjax.source(srcjax.grad(paired, argnums=(0, 1)), general=True)
    assert text.count("raise TypeError") == 1
    world: dict = {}
    exec(text, world)
    with pytest.raises(TypeError, match="one of these is a dict here"):
        world["grad_paired"]([1.0], {0: 1.0})
    assert "dict" not in srcjax.source(srcjax.grad(of_a_product), general=True)
