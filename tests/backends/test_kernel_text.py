"""What Numba is given for a kernel."""

import numpy as np
import pytest

pytest.importorskip("numba")

from srcjax.backends.kernel_text import file_text  # noqa: E402

KERNEL = """
@kernel
def f_kernel(x):
    m = -np.inf
    for i in range(len(x)):
        x_i = x[i]
        m = x_i if x_i > m or x_i != x_i else m
    y = np.empty(len(x))
    z = np.zeros(len(x), np.float32)
    for i in range(len(x)):
        y[i] = np.exp(x[i]) + m
    return y, z
"""


def test_words():
    text = file_text(KERNEL)
    assert "z.fill(0)" in text and "y = empty(size)" in text  # made before the call
    assert "z = empty(size, np.float32)" in text
    assert "m = larger(m, x_i)" in text
    assert "y[i] = exp_(x[i]) + m" in text


def test_large_pages_are_those_of_new_arrays():
    from srcjax.backends.kernel_words import LARGE, cleared, on_large_pages

    for size in (3, LARGE // 8 - 1, LARGE // 8, LARGE):
        array = np.full(size, np.nan)
        assert on_large_pages(array) is not None and np.isnan(array).all()
        np.testing.assert_array_equal(cleared(array), np.zeros(size))


CHAIN = """
@kernel
def f_kernel(x, w):
    n = len(x)
    y = np.empty((n, 2))
    total = 0.0
    m = -np.inf
    for i in range(n):
        a = np.exp(-x[i])
        b = np.tanh(a * w[i, 0])
        total = added(total, b)
        m = b if b > m or b != b else m
        y[i, 1] = np.log(1.0 + b * b)
        y[i, 0] = a
    return y, total, m
"""


def test_long_loops_go_through_halves():
    text = file_text(CHAIN)
    assert "for i in range(half):" in text and "i2 = np.uintp(i + half)" in text
    assert text.count("exp_(") == 3


@pytest.mark.parametrize(
    "old, new",
    [
        ("y[i, 1]", "w[i, 1]"),  # memory that is given
        ("y[i, 1]", "y[n - 1 - i, 1]"),
        ("y[i, 1]", "y[c[i], 1]"),
        ("a * w[i, 0]", "a * i"),
        ("return y", "return a, y"),  # that of the last iteration
    ],
)
def test_where_order_counts_loops_stay(old, new):
    assert "half" not in file_text(CHAIN.replace(old, new))


@pytest.mark.parametrize("name", ["sin", "power", "erf", "tanh"])
def test_functions_of_any_length_become_vectors(name):
    numba = pytest.importorskip("numba")
    binding = pytest.importorskip("llvmlite.binding")
    if not binding.get_host_cpu_features().get("avx2", False):
        pytest.skip("the machine has no AVX2")
    from srcjax.backends.kernel_words import elementary

    function = elementary(name)
    given = "x[i], 0.3" if name == "power" else "x[i]"
    text = f"def loop(x, y):\n    for i in range(len(x)):\n        y[i] = f({given})\n"
    names = {"f": function}
    exec(text, names)
    loop = numba.njit(error_model="numpy")(names["loop"])
    loop(np.ones(9), np.ones(9))
    assert "x double>" in loop.inspect_llvm(loop.signatures[0])


TAPES = """
@kernel
def f_kernel(x):
    a_tape: list[float] = []
    b_tape: list[np.float32] = []
    c_tape: list[int] = []
    for i in range(len(x)):
        a_tape.append(x[i])
        y = x[i] * 2.0
        b_tape.append(y)
        if y > 3.0:
            break
        c_tape.append(i)
        c_tape.append(i)
    total = 0.0
    for i in range(len(x)):
        a = a_tape.pop()
        b = b_tape.pop()
        total = total + a * b
    return total
"""


def test_tapes():
    text = file_text(TAPES)
    assert "a_tape = of_call(64, np.float64)" in text
    assert "b_tape = of_call(64, np.float32)" in text
    together = """
        if depth == len(a_tape):
            a_tape = longer(a_tape)
            b_tape = longer(b_tape)
        a_tape[depth] = x[i]
        y = x[i] * 2.0
        b_tape[depth] = y
        depth = depth + 1
"""
    assert together in text
    alone = """
        if depth2 == len(c_tape):
            c_tape = longer(c_tape)
        c_tape[depth2] = i
        depth2 = depth2 + 1
        if depth2 == len(c_tape):
"""
    assert alone in text
    assert "a = a_tape[depth]\n        b = b_tape[depth]" in text


@pytest.mark.parametrize("more", ["z = a_tape", "a_tape[0] = 1.0", "g(a_tape)"])
def test_lists_that_are_more_than_tapes_stay(more):
    text = file_text(TAPES.replace("    total = 0.0", f"    {more}\n    total = 0.0"))
    assert "a_tape.append(x[i])" in text
    assert "b_tape[depth] = y" in text


LEAVING = """
@kernel
def f_kernel(x, W):
    n = x.shape[0] - 1
    gone = np.zeros(3)
    half = np.empty(n)
    kept = np.empty((len(x), W.shape[1]))
    part = half[1:]
    h = np.dot(x, W)
    for i in range(n):
        gone[0] = gone[0] + np.sin(x[i])
        for j in range(W.shape[1]):
            other = np.empty(3)
            kept[i, j] = gone[0] + other[0]
    total = gone[0] * h[0]
    return total, part, kept, np.dot(W, W)
"""


def test_results_are_made_before_and_what_is_gone_with_the_call_is_cheap():
    text = file_text(LEAVING, ranks=(1, 2))
    assert "def f_kernel(x, W, kept, result3):" in text
    assert "gone = of_call(3, np.float64)\n    gone.fill(0)" in text
    assert "half = on_large_pages(np.empty(n))" in text  # a part of it is returned
    assert "h = filled(x, W, of_call(shape_of(x, W), x.dtype))" in text
    assert "filled(W, W, result3)\n    return (total, part)" in text
    assert "other = of_call(3, np.float64)" in text
    assert "kept = empty((len(x), size))\n" in text
    assert "result3 = empty((len(W), size))\n" in text
    assert " = compiled(x, W, kept, result3)\n" in text
    assert "product(W, W)" in file_text(LEAVING)  # of which the ranks are not known


def test_arrays_that_may_be_returned_have_memory_of_their_own():
    for last in ("return half if n else kept", "y = half.T\n    return y"):
        text = file_text(LEAVING[: LEAVING.rindex("return")] + last)
        assert "half = on_large_pages(np.empty(n))" in text
    last = "tape.append(half)\n    return total"
    text = file_text(LEAVING[: LEAVING.rindex("return")] + last)
    assert "half = on_large_pages(np.empty(n))" in text
    text = file_text(LEAVING[: LEAVING.rindex("return")] + "return total")
    assert "half = on_large_pages(of_call(n, np.float64))" in text


LOOPS = """
@kernel
def f_kernel(x, W):
    h = np.zeros(len(x))
    for t in range(9):
        total = np.empty(len(x))
        gates = np.zeros((2, 3))
        for i in range(len(x)):
            total[i] = gates[i, 0] + h[i]
        again = np.dot(total, W)
        for i in range(len(x)):
            x[i] = again[i]
        carried = np.empty(len(x))
        row = np.empty((2, 3))
        part = row[0]
        h = carried
    return h[0]
"""


def test_arrays_of_loops_have_the_same_memory_again_where_nothing_is_left_of_them():
    text = file_text(LOOPS)
    assert "total = on_large_pages(of_call(len(x), np.float64))" in text
    assert "gates = of_call((2, 3), np.float64)\n        gates.fill(0)" in text
    assert "again = product(total, W)" in text  # `again[i]` may be a row
    assert "carried = on_large_pages(np.empty(len(x)))" in text
    assert "row = on_large_pages(np.empty((2, 3)))" in text
    text = file_text(LOOPS.replace("again[i]", "again[i, i]"))
    assert "again = filled(total, W, of_call(shape_of(total, W), total.dtype))" in text
    text = file_text(
        LOOPS.replace("np.dot(total", "np.dot(again").replace("[i]", "[i, i]")
    )
    assert "again = product(again, W)" in text


def test_a_shape_of_several_sizes_is_no_size():
    text = file_text(
        "@kernel\ndef f_kernel(x):\n    y = np.zeros(x.shape)\n"
        "    z = np.empty(len(y))\n    for i in range(len(x)):\n"
        "        u = np.empty(x.shape)\n        v = u[i]\n"
        "        z[i] = v[0] + y[i, i]\n"
        "    return z\n"
    )
    assert (
        "def f_kernel(x):" in text and "u = on_large_pages(np.empty(x.shape))" in text
    )
