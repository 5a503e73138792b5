"""The table of values of a run, and what differences say of its adjoints."""

import html.parser
import sys

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError


def roll(h, w, n):
    for _ in range(n):
        h = np.tanh(w * h) + 0.1
    return h


def stencil(u):
    u = u.copy()
    for i in range(1, 4):
        u[i] = u[i - 1] * u[i]
    return u.sum()


def branch(x):
    if x > 0:  # noqa: SIM108
        y = x * x
    else:
        y = -x
    return np.sin(y) * y


def predict(params, inputs):
    for W, b in params:
        outputs = inputs @ W + b
        inputs = np.tanh(outputs)
    return outputs


def loss(params, x, y):
    return np.mean((predict(params, x) - y) ** 2)


def helper(z):
    z = z * z
    return np.sqrt(z + 1)


def with_helpers(x):
    a = helper(x)
    b = helper(a * x)
    return a * b


def newton(a):
    x = a
    while abs(x * x - a) > 1e-8:
        x = 0.5 * (x + a / x)
    return x


def through_views(x):
    A = x * 2
    row = A[0]
    row *= 3.0
    A[1] += row
    return np.sum(A * A)


def tied(x):
    m = np.maximum(x, x.copy())
    k = abs(m - x)
    return np.sum(m) + np.sum(k)


def table(lines):
    """By line, name and execution: what was computed and what was measured."""
    return {
        (line.text.strip(), name): [s.values.get(name) for s in line.steps]
        for line in lines
        for name in line.names
    }


def measured(trace):
    """What is right, by the adjoint's name, in the order of the backward sweep."""
    found = {}
    for m in trace.right:
        found.setdefault(m.name, []).append(m.measured)
    return found


def test_values_of_a_loop():
    trace = srcjax.trace(srcjax.grad(roll, (0, 1)), 0.4, 1.2, 3)
    h = [0.4]
    for _ in range(3):
        h.append(np.tanh(1.2 * h[-1]) + 0.1)
    values = table(trace.lines)
    assert values["h = tanh_wh + 0.1", "h"] == h[1:]
    assert values["for _ in range(n):", "_"] == [0, 1, 2]
    assert trace.result == srcjax.grad(roll, (0, 1))(0.4, 1.2, 3)
    step = next(s for s in trace.steps if "h" in s.values and s.iterations == (1,))
    assert step.values["h"] == h[2]
    first = next(line for line in trace.lines if line.backward)
    assert first.text.strip() == "dh = 1.0" and first.place[2] == "return h"
    assert not trace.measured and "measured" not in str(trace)


def test_adjoints_of_a_loop():
    trace = srcjax.trace(srcjax.grad(roll, (0, 1)), 0.4, 1.2, 3, check=True)
    assert not trace.wrong and not trace.unknown
    h = [0.4]
    for _ in range(3):
        h.append(np.tanh(1.2 * h[-1]) + 0.1)
    dh = [1.0]
    for k in (2, 1, 0):
        dh.append(dh[-1] * (1 - np.tanh(1.2 * h[k]) ** 2) * 1.2)
    found = measured(trace)
    np.testing.assert_allclose(found["dh"], dh, rtol=1e-6)
    np.testing.assert_allclose(found["d h"], dh[-1:], rtol=1e-6)
    assert len(found["dw"]) == len(found["d w"]) == 1


def test_arrays_written_in_place():
    trace = srcjax.trace(srcjax.grad(stencil), np.arange(1.0, 6.0) / 3, check=True)
    assert not trace.wrong and not trace.unknown
    assert len(measured(trace)["du"]) == 4
    assert all(m.along for m in trace.right)


@pytest.mark.parametrize("x", [1.3, -0.7])
def test_branches(x):
    trace = srcjax.trace(srcjax.grad(branch), x, check=True)
    assert not trace.wrong and {"dy", "result"} <= measured(trace).keys()
    taken = [line.text.strip() for line in trace.lines]
    assert ("y = x * x" in taken) is (x > 0) and ("y = -x" in taken) is (x < 0)


def test_layers_of_a_network():
    r = np.random.default_rng(0)
    params = [(r.normal(size=(3, 4)), r.normal(size=4))]
    params += [(r.normal(size=(4, 2)), r.normal(size=2))]
    x, y = r.normal(size=(5, 3)), r.normal(size=(5, 2))
    trace = srcjax.trace(srcjax.grad(loss), params, x, y, check=True)
    found = measured(trace)
    assert not trace.wrong
    # `dinputs` is of the layer before: the last layer's tanh is used by nobody.
    counts = {name: len(found[name]) for name in ("db", "dW", "doutputs", "dinputs")}
    assert counts == {"db": 2, "dW": 2, "doutputs": 2, "dinputs": 1}
    assert [m.reason for m in trace.unknown] == ["`params` is a list"]
    assert {"d params[0][0]", "d params[1][1]"} <= found.keys()


def test_helpers():
    trace = srcjax.trace(srcjax.grad(with_helpers), 1.3, check=True)
    assert not trace.wrong and {"da", "dz2", "result"} <= measured(trace).keys()


def test_second_derivatives():
    trace = srcjax.trace(srcjax.grad(srcjax.grad(branch)), 1.3, check=True)
    assert not trace.wrong and {"ddy", "dy2", "dx2"} <= measured(trace).keys()


def test_pullbacks_and_values():
    trace = srcjax.trace(srcjax.vjp(branch), 1.3, check=True)
    assert trace.result[1] == (srcjax.grad(branch)(1.3),)
    assert not trace.wrong and "dy" in measured(trace)
    trace = srcjax.trace(srcjax.value_and_grad(branch), 1.3, check=True)
    assert trace.result[0] == branch(1.3) and "dy" in measured(trace)


def test_batches_have_values_and_no_adjoints():
    trace = srcjax.trace(srcjax.vmap(roll, (0, None, None)), np.ones(4), 1.2, 3)
    assert table(trace.lines)["h = np.tanh(w * h) + 0.1", "h"][2].shape == (4,)
    checked = srcjax.trace(srcjax.vmap(branch), np.ones(4), check=True)
    assert not checked.measured and checked.reason.endswith("this is vmap")
    assert "no adjoint was measured" in str(checked)


@srcjax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, d: (2 * d * x**2,))


def with_a_wrong_rule(x):
    y = np.sin(x)
    z = cube(y)
    return z * y


def test_a_wrong_rule_is_found_where_it_is():
    trace = srcjax.trace(srcjax.grad(with_a_wrong_rule), 1.3, check=True)
    assert [m.name for m in trace.right] == ["dz"]
    assert [m.name for m in trace.wrong] == ["dy", "result"]
    y = np.sin(1.3)
    np.testing.assert_allclose(trace.wrong[0].computed, 3 * y**3, rtol=1e-12)
    np.testing.assert_allclose(trace.wrong[0].measured, 4 * y**3, rtol=1e-6)
    text = str(trace)
    assert "2 of 3 measured adjoints differ" in text and "given by hand" in text
    assert 'class="differs"' in trace.html()


def scan(x, n):
    total = 0.0
    for _ in range(n):
        x = cube(x) + 0.5
        total = total + x
    return total


def test_a_wrong_rule_in_a_loop():
    trace = srcjax.trace(srcjax.grad(scan), 0.4, 3, check=True)
    assert trace.wrong
    # The last value is used after the rule only: its adjoint is right.
    assert any(m.name == "dx" and m.measured == pytest.approx(1) for m in trace.right)


def test_what_is_written_through_views():
    trace = srcjax.trace(srcjax.grad(through_views), np.ones((2, 3)), check=True)
    assert not trace.wrong and trace.right


def test_ties_are_not_measured():
    trace = srcjax.trace(srcjax.grad(tied), np.ones(3), check=True)
    assert not trace.wrong
    assert any("a tie" in m.reason for m in trace.unknown)
    assert "not measured (-)" in str(trace)


def test_other_ways_are_not_measured():
    """Moving a late iterate makes one more trip, which puts it right again."""
    trace = srcjax.trace(srcjax.grad(newton), 2.0, check=True)
    assert not trace.wrong
    reasons = {m.reason for m in trace.unknown if m.name == "dx"}
    assert "a little beside it, other lines run" in reasons


def random_noise(x):
    y = x * np.random.default_rng().normal()
    return y * y


def test_noise_is_not_measured():
    trace = srcjax.trace(srcjax.grad(random_noise), 2.0, check=True)
    assert not trace.measured
    assert trace.reason == "the function does not give the same twice"


def counts(x, n):
    k = 2
    k = k * n
    y = x * k
    return y * y


def test_arguments_and_the_world_stay():
    given = np.arange(1.0, 6.0)
    earlier = sys.gettrace()
    srcjax.trace(srcjax.grad(stencil), given, check=True)
    assert np.array_equal(given, np.arange(1.0, 6.0))
    assert sys.gettrace() is earlier


def test_ints_carry_nothing():
    trace = srcjax.trace(srcjax.grad(counts), 1.5, 3, check=True)
    assert set(measured(trace)) == {"dy", "result"} and not trace.wrong


def single(x):
    y = np.sin(x)
    z = y * y
    return np.sum(z)


def test_single_precision():
    x = np.linspace(0.1, 1, 4, dtype=np.float32)
    trace = srcjax.trace(srcjax.grad(single), x, check=True)
    assert not trace.wrong and measured(trace)


def long_loop(x):
    for _ in range(4000):
        x = x * 0.999
    return x


def test_long_runs_say_what_is_left_out():
    trace = srcjax.trace(srcjax.grad(long_loop), 1.0, check=True)
    assert trace.dropped and len(trace.steps) == 5000
    assert "only the first 5000 executed lines are kept" in str(trace)
    assert trace.reason == "the run is too long" and not trace.right
    assert "..." in str(trace)


class Reading(html.parser.HTMLParser):
    """Checks that elements are closed, and gathers the text."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def test_html_is_whole_and_stands_alone():
    trace = srcjax.trace(srcjax.grad(roll), 0.4, 1.2, 3, check=True)
    text = trace.html()
    assert text == trace._repr_html_()
    reading = Reading()
    reading.feed(text)
    assert not reading.open and "dh" in reading.words
    assert "<script" not in text and "http" not in text and "src=" not in text


def test_text():
    def square(x):
        y = x * x
        return np.sin(y)

    text = str(srcjax.trace(srcjax.grad(square), 0.5, check=True))
    assert "dy        0.9689" in text and "measured  0.9689" in text
    assert text.endswith("2 adjoints were measured, and agree")


def test_what_srcjax_did_not_make():
    with pytest.raises(ArgumentError, match="was not made by srcjax"):
        srcjax.trace(np.sin, 1.0)
    with pytest.raises(ArgumentError, match="missing a required argument"):
        srcjax.trace(srcjax.grad(roll), 1.0)


def powers(h, w):
    for _ in range(3):
        h = np.tanh(w * h) + 0.1
    return h


@pytest.mark.parametrize(
    ("f", "primals", "tangents"),
    [
        (powers, (0.4, 1.2), (1.0, 0.5)),
        (branch, (1.3,), (2.0,)),
        (stencil, (np.arange(1.0, 6.0) / 3,), (np.ones(5),)),
        (with_helpers, (1.3,), (1.0,)),
    ],
)
def test_tangents(f, primals, tangents):
    trace = srcjax.trace(srcjax.jvp(f), primals, tangents, check=True)
    assert not trace.wrong and {m.name for m in trace.right} > {"result"}
    assert "measured" in str(trace)


@srcjax.custom_jvp
def doubled(x):
    return 2.0 * x


doubled.defjvp(lambda primals, tangents: (2.0 * primals[0], 3.0 * tangents[0]))


def with_a_wrong_tangent(x):
    y = np.sin(x)
    z = doubled(y)
    return z * y


def test_a_wrong_tangent_is_found_where_it_is():
    trace = srcjax.trace(srcjax.jvp(with_a_wrong_tangent), (1.3,), (1.0,), check=True)
    assert [m.name for m in trace.right] == ["y_dot"]
    assert {m.name for m in trace.wrong} == {"z_dot", "result"}


def over_nothing(xs):
    total = 1.0
    for x in xs:
        total = total * x
    return total


def test_no_tangents():
    trace = srcjax.trace(srcjax.jvp(over_nothing), ([],), ([],), check=True)
    assert trace.reason == "no argument is moved by its tangent"
    assert "no tangent was measured" in str(trace)


def scaled(x, by=3.0):
    y = x * by
    return y * y


def test_tangents_of_star_arguments():
    def horner(*values):
        total = 1.0
        for value in values:
            total = total * value + 1
        return total

    given = (0.5, 1.5, 2.5), (1.0, 0.5, 0.0)
    assert srcjax.jvp(horner)(*given) == srcjax.jvp(horner, *given)
    trace = srcjax.trace(srcjax.jvp(horner), *given, check=True)
    assert trace.right and not trace.wrong
    trace = srcjax.trace(srcjax.jvp(scaled), (0.5,), (1.0,), check=True)
    assert trace.right and not trace.wrong
