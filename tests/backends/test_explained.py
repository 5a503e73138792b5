"""`source(df, explain=True)`: the same code, with words that are true of its lines."""

import ast
import textwrap

import numpy as np
import pytest

import srcjax
from srcjax.api.reverse import module_with_reasons
from srcjax.backends.explained import explain_lines
from srcjax.errors import ArgumentError
from srcjax.ops import words
from srcjax.ops.record import TABLE
from tests.golden.functions import GOLDEN

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

#: A few of each kind; the second stage explains all of the corpus.
READ = ["mlp_looped", "two_function_model", "layer_norm", "square_plus_sine"]


def explained(df, *args, explain=True, **kwargs):
    """The explained text, which has the code of the plain one."""
    text = srcjax.source(df, *args, explain=explain, **kwargs)
    plain = srcjax.source(df, *args, **kwargs)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(plain))
    assert all(len(line) <= 88 for line in text.splitlines())
    return text


def body(text):
    """The text from the first function on."""
    return text[text.index("def ") :]


@pytest.mark.parametrize("name", [n for n in READ if n in GOLDEN])
def test_almost_every_line_of_the_backward_sweep_says_its_rule(name):
    golden = GOLDEN[name]
    df = srcjax.grad(golden.function, argnums=golden.argnums)
    explained(df, *golden.args())
    module = module_with_reasons(df.__srcjax_transform__, golden.args())
    backward = [line for line in explain_lines(module) if line.backward]
    assert backward
    assert sum(bool(line.words) for line in backward) >= 0.95 * len(backward)


def quotient(x, y):
    u = x * y
    v = x**2 + y**2
    return u / v + np.log(v)


# ruff: noqa: E501
def test_rules_have_the_words_of_a_course():
    text = explained(srcjax.grad(quotient, argnums=(0, 1)), 1.0, 2.0)
    assert body(text) == textwrap.dedent(
        '''\
        def grad_quotient(x, y):
            """Gradient of quotient with respect to x and y."""
            # ---- forward: the values, as in your function
            u = x * y
            v = x**2 + y**2
            # ---- backward: from the result to the arguments
            # return u / v + np.log(v)
            du = 1 / v  # quotient rule: d(u / v) = du / v - u dv / v**2
            #   d log(u) = du / u; quotient rule; the parts add up: used more than once
            dv = 1 / v - u / v**2
            # v = x**2 + y**2
            # u = x * y
            #   power rule: d(u**n) = n * u**(n - 1) du; product rule: d(u * v) = v du + u dv;
            #   the parts add up
            dx = 2 * dv * x + du * y
            dy = 2 * dv * y + du * x
            return dx, dy
        '''
    )


def recurrent(w, xs):
    h = 0.0
    for x in xs:
        h = np.tanh(w * h + x)
    return h


def test_loops_say_what_a_tape_is_for():
    text = explained(srcjax.grad(recurrent), 0.5, np.ones(3))
    assert "h_tape = []  # a tape: what each iteration leaves for" in text
    assert "h_tape.append(h)  # kept for the backward sweep" in text
    assert "# as many iterations as there were forward" in text
    assert "summed over the iterations" in text
    assert "# d tanh(u) = (1 - tanh(u)**2) du" in text


def relu_layer(b, x):
    return np.sum(np.maximum(x + b, 0.0))


def test_ties_and_broadcasting_are_explained():
    text = explained(srcjax.grad(relu_layer), np.zeros(3), np.ones((2, 3)))
    assert "at a tie each gets half" in text
    assert "broadcast forward, sum backward" in text


def test_what_is_not_summed_was_not_broadcast():
    text = explained(srcjax.grad(relu_layer), np.zeros(3), np.ones(3))
    assert "broadcast" not in text


def branches(x, y):
    z = np.sin(y)
    if x > 1:
        z = z * z
    return z * x


def test_branches_say_which_way_back():
    text = explained(srcjax.grad(branches, argnums=(0, 1)), 2.0, 1.0)
    assert "if x > 1:  # back through the side that was taken" in text
    assert "z_before = z  # kept for the backward sweep" in text
    assert "z = z_before" in text and "# the value from before that line" in text


def test_tangents_are_explained_too():
    text = explained(srcjax.jvp(quotient), 1.0, 2.0)
    assert "# product rule: d(u * v) = v du + u dv" in text
    assert "backward" not in text


def test_second_derivatives_are_explained():
    second = srcjax.grad(srcjax.grad(recurrent))
    text = explained(second, 0.5, np.ones(3))
    assert "product rule" in text


def test_formulas_are_typeset_in_a_notebook():
    found = srcjax.source(srcjax.grad(quotient), 1.0, 2.0, explain="latex")
    assert r"$\mathrm{d}(\frac{u}{v}) = \frac{\mathrm{d} u}{v} - " in found
    shown = found._repr_markdown_()
    assert shown.count("```") % 2 == 0
    assert r"- `du`: quotient rule: $\mathrm{d}" in shown
    assert found._repr_html_ is None


def test_a_pullback_is_explained():
    _, pullback = srcjax.vjp(quotient, 1.0, 2.0)
    assert "product rule" in srcjax.source(pullback, explain=True)


def test_users_say_their_rules_in_docstrings():
    def cubed(x):
        return x**3

    @srcjax.adjoint(cubed)
    def _(y, x):
        """Cubes: `d(u**3) = 3 * u**2 * d(u)`."""
        d[x] = d[y] * 3 * x**2  # noqa: F821

    text = explained(srcjax.grad(lambda x: np.sin(cubed(x))), 0.5)
    assert "cubes: d(u**3) = 3 * u**2 du" in text


def explains(x, explain):
    return x * explain


def test_a_parameter_may_be_called_explain():
    text = srcjax.source(srcjax.grad(explains), x=2.0, explain=3.0)
    assert "product rule" not in text


def test_another_wish_is_refused():
    with pytest.raises(ArgumentError, match="explain is 'html'"):
        srcjax.source(srcjax.grad(quotient), 1.0, 2.0, explain="html")


def test_words_of_all_rules_can_be_printed():
    srcjax.source(srcjax.grad(quotient), 1.0, 2.0)
    seen = 0
    for op in TABLE.values():
        for slot in ("adjoint", "tangent"):
            for parameter in op.differentiable if op.adjoint else ():
                said = words.words_of(op, slot, parameter)
                assert "`" not in words.as_text(said)
                assert "`" not in words.as_text(words.short(said))
                assert words.as_latex(said).count("$") % 2 == 0
                seen += bool(said)
    assert seen > 500


def test_formulas_are_texts_and_latex():
    said = "matrix product: `C = A @ B` gives `d[A] = d[C] @ B.T`"
    assert words.as_text(said) == "matrix product: C = A @ B gives dA = dC @ B.T"
    assert words.short(said) == "matrix product"
    assert words.as_latex(said) == (
        r"matrix product: $C = A\,B$ gives $\bar{A} = \bar{C}\,B^{\top}$"
    )
    assert words.as_text("`d(sin(u)) = cos(u) * d(u)`") == "d sin(u) = cos(u) du"


def returning(x, n):
    for _ in range(n):
        x = x * x
        if x > 10:
            return x
        if x < 0.1:
            return -x
    return x + 1


def test_flags_counts_and_zeros_say_what_they_are_for():
    text = explained(srcjax.grad(returning), 1.5, 4)
    assert "returned = False  # remembers which way was taken" in text
    assert "trips += 1        # counts the iterations" in text
    assert "dresult = 0.0  # zero: nothing of it comes this way" in text
    assert "for _ in range(trips):  # as many iterations as there were" in text


def net(params, x):
    for W, b in params:
        x = np.tanh(x @ W + b)
    return np.sum(x)


def test_what_the_first_iteration_leaves_out_is_explained():
    params = [(np.ones((3, 3)), np.ones(3)), (np.ones((3, 3)), np.ones(3))]
    text = explained(srcjax.grad(net), params, np.ones((2, 3)))
    assert "if i > 0:  # not in the first iteration: nothing before it needs" in text


def pooled(x):
    return np.sum(np.max(x, axis=1) ** 2)


def test_maxima_say_what_happens_at_a_tie():
    text = explained(srcjax.grad(pooled), np.ones((2, 3)))
    assert "the adjoint goes to where the extreme is; equal ones share it" in text


def test_what_a_gradient_says_is_said_of_what_is_made_of_it():
    """Of a gradient for each example, and of a second derivative, which has two rules."""
    of_batch = explained(
        srcjax.vmap(srcjax.grad(recurrent), (0, None)), np.ones(2), np.ones(3)
    )
    lines = [" ".join(line.split()) for line in of_batch.splitlines()]
    assert "# ---- backward: from the result to the arguments" in lines
    assert any("# kept for the backward sweep" in line for line in lines)
    assert any("from the tape: what was kept last" in line for line in lines)
    second = explained(srcjax.jvp(srcjax.grad(recurrent)), 0.5, np.ones(3))
    assert "in the first derivative, " in second
    assert "d tanh(u) = (1 - tanh(u)**2) du" in second
    alone = explained(srcjax.vmap(quotient), np.ones(2), np.ones(2))
    assert "backward" not in alone
