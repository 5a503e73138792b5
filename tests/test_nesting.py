"""Transforms of functions that call transforms, in any nesting."""

import functools
import itertools

import numpy as np
import pytest

import srcjax
from srcjax import grad, hessian, jacfwd, jvp, linearize, value_and_grad, vjp
from srcjax.errors import SrcjaxError
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 5

# Each takes the derivative of a function of one number.


def by_grad(f):
    return grad(f)


def by_jvp(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def by_vjp(f):
    def derivative(x):
        _, pullback = vjp(f, x)
        (dx,) = pullback(1.0)
        return dx

    return derivative


WAYS = {"grad": by_grad, "jvp": by_jvp, "vjp": by_vjp}
every_way = pytest.mark.parametrize("way", WAYS)


def slope(f, x):
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


# -- perturbation confusion ----------------------------------------------------------


def sum_by_grad(x):
    return x * grad(lambda y: x + y)(1.0)


def sum_by_jvp(x):
    return x * jvp(lambda y: x + y, (1.0,), (1.0,))[1]


def sum_by_vjp(x):
    return x * vjp(lambda y: x + y, 1.0)[1](1.0)[0]


def product_by_grad(x):
    return x * grad(lambda y: x * y)(2.0)


def product_by_jvp(x):
    return x * jvp(lambda y: x * y, (2.0,), (1.0,))[1]


def product_by_vjp(x):
    return x * vjp(lambda y: x * y, 2.0)[1](1.0)[0]


@every_way
@pytest.mark.parametrize("f", [sum_by_grad, sum_by_jvp, sum_by_vjp])
def test_sum(way, f):
    """d/dx (x * d/dy (x + y)) is 1, not 2."""
    assert WAYS[way](f)(1.0) == 1.0


@every_way
@pytest.mark.parametrize("f", [product_by_grad, product_by_jvp, product_by_vjp])
def test_product(way, f):
    """d/dx (x * d/dy (x * y)) is 2 * x."""
    assert WAYS[way](f)(3.0) == 6.0


# x * d/dy [y * d/dz (x * y * z**2) at z = y] at y = x is 6 * x**4.


def grad_in_grad(x):
    def middle(y):
        return y * grad(lambda z: x * y * z**2)(y)

    return x * grad(middle)(x)


def jvp_in_grad(x):
    def middle(y):
        return y * jvp(lambda z: x * y * z**2, (y,), (1.0,))[1]

    return x * grad(middle)(x)


def grad_in_jvp(x):
    def middle(y):
        return y * grad(lambda z: x * y * z**2)(y)

    return x * jvp(middle, (x,), (1.0,))[1]


def jvp_in_jvp(x):
    def middle(y):
        return y * jvp(lambda z: x * y * z**2, (y,), (1.0,))[1]

    return x * jvp(middle, (x,), (1.0,))[1]


def vjp_in_jvp(x):
    def middle(y):
        _, pullback = vjp(lambda z: x * y * z**2, y)
        return y * pullback(1.0)[0]

    return x * jvp(middle, (x,), (1.0,))[1]


@every_way
@pytest.mark.parametrize(
    "f", [grad_in_grad, jvp_in_grad, grad_in_jvp, jvp_in_jvp, vjp_in_jvp]
)
def test_three_levels(way, f):
    assert f(2.0) == pytest.approx(6 * 2.0**4)
    assert WAYS[way](f)(2.0) == pytest.approx(24 * 2.0**3)
    assert grad(WAYS[way](f))(2.0) == pytest.approx(72 * 2.0**2)


# -- every order of modes ------------------------------------------------------------


def polynomial(x):
    return x**5 * 0.5 + x**4


def looped(x):
    y = x
    for i in range(3):
        y = y * x + i
    return y


def branched(x):
    if x > 1.0:
        return x**5
    return -(x**4)


def growing(x):
    y = x
    while y < 10.0:
        y = y * x
    return y


def with_array(x):
    v = np.array([1.0, 2.0, 3.0]) * x
    return np.sum(v**3) * x


def in_place(x):
    a = np.zeros(3)
    a[0] = x
    for i in range(1, 3):
        a[i] = a[i - 1] * x * x
    a[1:] *= x
    return a[0] * a[1] + a[2]


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def recursive(x):
    return power(x, 5)


def fourth(x, coefficients):
    """The fourth derivative of a polynomial, by the powers of its terms."""
    return sum(
        c * np.prod([n - k for k in range(4)]) * x ** (n - 4)
        for n, c in coefficients.items()
        if n >= 4
    )


TABLE = {"cube": lambda v: np.sum(v**3), "square": lambda v: v[0] * v[0] + v[1]}


def by_name(x):
    v = np.array([x, 0.0])
    total = 1.0
    for name in sorted(TABLE):
        total = total * TABLE[name](v)
        v[1] = total  # after the call has read it
    return total


POLYNOMIALS = {
    by_name: {5: 1.0, 6: 1.0},
    polynomial: {5: 0.5, 4: 1.0},
    looped: {4: 1.0, 1: 1.0, 0: 2.0},
    branched: {5: 1.0},
    growing: {5: 1.0},  # at 1.7
    with_array: {4: 36.0},
    in_place: {5: 1.0, 6: 1.0},
    recursive: {5: 1.0},
}


@pytest.mark.parametrize("f", POLYNOMIALS, ids=lambda f: f.__name__)
def test_the_polynomials(f):
    want = sum(c * 1.7**n for n, c in POLYNOMIALS[f].items())
    assert f(1.7) == pytest.approx(want)


@pytest.mark.parametrize("ways", list(itertools.product(["grad", "jvp"], repeat=4)))
@pytest.mark.parametrize("f", [polynomial, looped], ids=lambda f: f.__name__)
def test_fourth_order(f, ways):
    derivative = functools.reduce(lambda g, way: WAYS[way](g), ways, f)
    assert derivative(1.7) == pytest.approx(fourth(1.7, POLYNOMIALS[f]))


@pytest.mark.parametrize("ways", [("grad",) * 4, ("jvp",) * 4, ("grad", "jvp") * 2])
@pytest.mark.parametrize("f", [branched, growing, with_array], ids=lambda f: f.__name__)
def test_fourth_order_of_others(f, ways):
    derivative = functools.reduce(lambda g, way: WAYS[way](g), ways, f)
    assert derivative(1.7) == pytest.approx(fourth(1.7, POLYNOMIALS[f]))


@pytest.mark.parametrize(
    "ways", list(itertools.product(["grad", "jvp", "vjp"], repeat=2))
)
@pytest.mark.parametrize("f", [in_place, recursive, by_name], ids=lambda f: f.__name__)
def test_second_order(f, ways, request):
    if f is by_name and "jvp" not in ways:
        # What the function gives may be a view of `v`, for all that is known.
        refused = pytest.mark.xfail(strict=True, raises=SrcjaxError)
        request.applymarker(refused)
    derivative = functools.reduce(lambda g, way: WAYS[way](g), ways, f)
    want = sum(c * n * (n - 1) * 1.7 ** (n - 2) for n, c in POLYNOMIALS[f].items())
    assert derivative(1.7) == pytest.approx(want)


def test_list_copied_and_taken_from():
    """What is left in a copy of a list is known after each `pop`."""

    def f(x):
        items = [x, 2 * x, 1.0].copy()
        total = 0.0
        for _ in range(3):
            last = items.pop()
            total = total * x + last
        return total

    assert grad(f)(2.0) == pytest.approx(slope(f, 2.0))
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(slope(f, 2.0))


def restoring(x):
    a = x * np.ones(3)
    a[1:] *= x
    y = np.sum(a**3)
    a[1:] += x * a[0]
    return y + np.sum(a**2)


def test_pullback_is_called_again():
    """Contents that the backward sweep puts back are as before in the next call."""
    for f in (restoring, grad(restoring), in_place, grad(in_place)):
        want = by_jvp(f)(1.7)
        _, pullback = vjp(f, 1.7)
        assert [pullback(1.0)[0] for _ in range(3)] == pytest.approx([want] * 3)


def test_restoring_pullback_inside():
    def once(x):
        _, pullback = vjp(restoring, x)
        return pullback(x)[0]

    def twice(x):
        _, pullback = vjp(restoring, x)
        return pullback(x)[0] + pullback(1.0)[0]

    assert grad(once)(1.7) == pytest.approx(slope(once, 1.7), rel=1e-6)
    refused(twice, "more than once")


# -- what can be written inside ------------------------------------------------------


def pullback_in_a_loop(x):
    total = 0.0
    for i in range(3):
        y, pullback = vjp(lambda y: x * y**3, x + i)
        (dx,) = pullback(2.0)
        total = total + dx * y
    return total


def pullback_twice(x):
    y, pullback = vjp(lambda u, v: (u * v * x, u + v), x, 2.0)
    a, b = pullback((1.0, 0.0))
    c, d = pullback((0.0, 3.0))
    return a * b + c * d * x + y[0]


def tapes_twice(x):
    def h(y):
        for _ in range(3):
            y = np.sin(y) * x
        return y

    _, pullback = vjp(h, x)
    return pullback(1.0)[0] * pullback(x)[0]


def newton(x):
    def residual(y):
        return y**3 - x

    y = 1.0
    for _ in range(6):
        y = y - residual(y) / grad(residual)(y)
    return y


def newton_until(x):
    residual = lambda y: y**3 - x  # noqa: E731
    derivative = grad(residual)
    y = 1.0
    while abs(residual(y)) > 1e-8:
        y = y - residual(y) / derivative(y)
    return y


def captured_array(x):
    a = np.array([1.0, 2.0]) * x

    def h(v):
        return np.sum(v**2 * a)

    return np.sum(grad(h)(a) * a)


def captured_by_reference(x):
    h = lambda y: x * y**2  # noqa: E731
    for _ in range(3):
        x = x + 0.1 * grad(h)(x)
    return x


def captured_and_written(x):
    a = np.zeros(2)
    a[0] = x

    def h(y):
        return a[0] * y * y

    first = grad(h)(2.0)
    a[0] = x * x
    return first + grad(h)(2.0)


def value_too(x):
    value, gradient = value_and_grad(lambda y: np.sin(x * y))(x)
    return value * gradient


def helper(f, x):
    return grad(f)(x)


def passed_on(x):
    return helper(lambda y: x * y * y, x)


def make(a):
    def h(y):
        return a * y * y

    return h


def from_factory(x):
    return grad(make(x))(x)


def positions(x):
    def h(y, z):
        return x * y * y * z

    both = grad(h, argnums=(0, 1))(x, 2.0)
    return grad(grad(h), argnums=1)(x, 3.0) + grad(h, argnums=-1)(x, 2.0) + both[0]


def decorated(x):
    @grad
    def h(y):
        return x * y * y

    @value_and_grad
    @grad
    def k(y):
        return x * y**3

    return h(x) + k(x)[0]


def aux_of_vjp(x):
    y, pullback, aux = vjp(lambda u: (u * x, u + x), x, has_aux=True)
    return pullback(1.0)[0] * y * aux


def aux_of_jvp(x):
    y, y_dot, aux = jvp(lambda u: (u * x, u + x), (x,), (x,), has_aux=True)
    return y_dot * y * aux


def held_constant(x):
    y, y_dot = jvp(lambda u, v: u * v * x, (x, 2 * x), (None, 1))
    return y_dot * y


def inner_jacobian(x):
    return np.sum(jacfwd(lambda v: v * v * x)(np.array([1.0, 2.0]) * x) * x)


def inner_hessian(x):
    return np.linalg.det(hessian(lambda v: np.sum(v**3 * x))(np.array([1.0, 2.0]) * x))


def keyword_only(x):
    def h(y, *, k=2.0, m):
        return y**k * m * x

    return grad(h)(x, m=3.0)


def starred(x):
    def h(*ys):
        return ys[0] * ys[1] * x

    return grad(h, argnums=1)(x, 2.0)


def of_tree(p):
    return p["a"] ** 2 * p["b"]


def tree_argument(x):
    g = grad(of_tree)({"a": x, "b": x * x})
    return g["a"] * g["b"]


class Cube:
    def __init__(self, k):
        self.k = k

    def of(self, y):
        return self.k * y**3


CUBE = Cube(2.0)


def method(x):
    return grad(CUBE.of)(x)


def object_made_inside(x):
    cube = Cube(x)
    return grad(lambda y: cube.of(y))(x)


def partial(x):
    return grad(functools.partial(lambda a, y: a * y * y, x))(x)


def linearized(x):
    y, f_jvp = linearize(lambda u: u * u * x, x)
    return f_jvp(1.0) * y


def curried(x):
    def h(y):
        return x * y**2

    return jvp(h)((x,), (1.0,))[1]


def recursive_inside(x):
    def product(y, k):
        if k == 0:
            return 1.0
        return x * y * product(y, k - 1)

    return grad(product)(2.0, 3)


def calls_another(x):
    def a(y):
        return x * y * y

    def b(z):
        return a(z) * grad(a)(z * x)

    return grad(b)(x)


def same_names(x):
    y = x * x

    def a(z):
        return y * z * z

    def b(y):
        return a(y) * y

    return grad(b)(x)


def derivative_of_derivative(x):
    def h(y):
        return x * y**4

    first = grad(h)
    second = grad(first)
    return second(x) * first(x)


def in_a_comprehension(x):
    h = lambda y: x * y**2  # noqa: E731
    return sum([grad(h)(float(k)) for k in range(3)])


def of_an_operation(x):
    return jvp(np.exp, (x,), (2.0,))[1]


INSIDE = [
    pullback_in_a_loop,
    pullback_twice,
    tapes_twice,
    newton,
    newton_until,
    captured_array,
    captured_by_reference,
    captured_and_written,
    value_too,
    passed_on,
    from_factory,
    positions,
    decorated,
    aux_of_vjp,
    aux_of_jvp,
    held_constant,
    inner_jacobian,
    inner_hessian,
    keyword_only,
    starred,
    tree_argument,
    method,
    object_made_inside,
    partial,
    linearized,
    curried,
    recursive_inside,
    calls_another,
    same_names,
    derivative_of_derivative,
    in_a_comprehension,
    of_an_operation,
]


@pytest.mark.parametrize("f", INSIDE, ids=lambda f: f.__name__)
def test_inside(f):
    """The function runs as it stands; its derivative is its slope."""
    want = slope(f, 1.3)
    assert grad(f)(1.3) == pytest.approx(want, rel=1e-6)
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(want, rel=1e-6)


# -- what is refused -----------------------------------------------------------------


def refused(f, words):
    for derivative in (grad(f), by_jvp(f)):
        with pytest.raises(SrcjaxError, match=words):
            derivative(1.3)


def test_function_chosen_at_run_time():
    def f(x):
        h = (lambda y: x * y**2) if x > 1.0 else (lambda y: x * y**3)
        return grad(h)(x)

    refused(f, "only known when the program runs")


def test_method_of_local_object():
    def f(x):
        return grad(Cube(x).of)(x)

    refused(f, "a transform of a method")


def test_tangents_that_do_not_fit():
    def count(x):
        return jvp(lambda u, v: u * v, (x, x), (1.0,))[1]

    def shape(x):
        return np.sum(jvp(lambda u: u * u, (np.ones(3) * x,), (1.0,))[1])

    refused(count, "2 primals and 1 tangents")
    refused(shape, "a tangent has shape")


def test_arguments_that_do_not_fit():
    def f(x):
        return grad(lambda y: x * y)(x, 2.0)

    refused(f, "too many arguments")


def test_rebinding():
    def f(x):
        count = 0.0

        def h(y):
            nonlocal count
            count = count + y
            return x * count

        return grad(h)(x)

    refused(f, "nonlocal")


# -- the text ------------------------------------------------------------------------


def test_text():
    """Nothing of the inner transform is left but what it computes."""
    text = str(srcjax.source(grad(product_by_grad), 3.0))
    code = [line for line in text.splitlines() if "# " not in line]
    assert not any("lambda" in line or "= grad(" in line for line in code)


def test_redefined_helper(monkeypatch):
    """A function that an inner derivative has used is redefined."""
    assert grad(uses_scale)(2.0) == 12.0
    monkeypatch.setitem(globals(), "scale", lambda y: y**4)
    assert grad(uses_scale)(2.0) == 48.0


def scale(y):
    return y**3


def uses_scale(x):
    return grad(lambda y: scale(y))(x)


def as_arrays(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*map(np.asarray, args), **kwargs)

    return wrapper


@as_arrays
def squares(vector):
    return np.sum(vector**2)


def test_a_decorated_function_takes_what_its_wrapper_takes():
    """`functools.wraps` shows the signature of another function."""
    x = np.array([1.0, 2.0])
    inner = grad(squares)
    np.testing.assert_array_equal(grad(lambda v: np.sum(inner(v)))(x), [2.0, 2.0])
    np.testing.assert_array_equal(jvp(lambda v: inner(v), (x,), (x,))[1], 2 * x)


def counted(x):
    seen = {}
    for letter in "abracadabra":
        seen[letter] = seen.get(letter, 0.0) * x + 1.0
    return seen["a"] * seen["b"]


def test_a_pullback_that_empties_a_dict_is_called_twice():
    def total(x):
        y, pullback = srcjax.vjp(counted, x)
        return y + pullback(2.0)[0] + pullback(1.0)[0]

    step = 1e-6
    expected = (total(1.3 + step) - total(1.3 - step)) / (2 * step)
    assert np.isclose(srcjax.grad(total)(1.3), expected, rtol=1e-7)


# -- functions with a tangent rule of their own --------------------------------------


@srcjax.custom_jvp
def scaled_sine(x, y):
    return np.sin(x) * y


@scaled_sine.defjvp
def _(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return scaled_sine(x, y), np.cos(x) * x_dot * y + np.sin(x) * y_dot


@functools.partial(srcjax.custom_jvp, nondiff_argnums=(1,))
def to_the(x, n):
    return x**n


@to_the.defjvp
def _(n, primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return to_the(x, n), n * x ** (n - 1) * x_dot


def repeated(x):
    y = x
    for _ in range(3):
        y = scaled_sine(y, x)
    return np.sum(y)


@pytest.mark.parametrize("f", [repeated, lambda x: np.sum(to_the(x, 3) * x)])
def test_the_transpose_of_a_tangent_rule_is_differentiated(f):
    x = np.linspace(0.2, 0.8, 3)
    check_grads(f, (x,), order=2, modes=("rev", "fwd"))


def product_of_pullbacks(x):
    _, squared = srcjax.vjp(lambda x: x**2, x)
    _, cubed = srcjax.vjp(lambda x: x**3, x)
    return squared(cubed(1.0)[0])[0]


def slope_of_what_is_passed(f, x):
    return srcjax.grad(lambda x: f(x))(x)  # noqa: PLW0108


def slope_of_a_lambda(x):
    return slope_of_what_is_passed(lambda y: y**3, x)


@pytest.mark.parametrize(
    ("f", "wanted"), [(product_of_pullbacks, 72.0), (slope_of_a_lambda, 12.0)]
)
def test_pullbacks_side_by_side_and_functions_that_are_passed(f, wanted):
    """Both `vjp`s are written at once; the lambda is known once its caller is."""
    assert srcjax.grad(f)(2.0) == wanted


@functools.partial(srcjax.custom_vjp, nondiff_argnums=(0,))
def applied(f, x):
    return f(x)


applied.defvjp(lambda f, x: (f(x), x), lambda f, x, d: (d * srcjax.grad(f)(x),))


def test_what_a_rule_holds_constant_takes_nothing_that_is_differentiated():
    assert srcjax.grad(lambda a: applied(lambda x: 3 * x**2, a))(2.0) == 12.0
    with pytest.raises(srcjax.errors.UnsupportedError, match="argument 0 of `applied`"):
        srcjax.grad(lambda a: applied(lambda x: a * x**2, a))(2.0)


def turned_around(a, b, m, n, turned=False):
    """It calls itself once, with another flag."""
    if m == 1:
        return np.exp(-a * b) if turned else np.exp(-b)
    return turned_around(1 / a, a * b, n, m, turned=True) / a


def test_a_function_that_calls_itself_with_another_flag():
    args = (0.4, 1.1, 2, 1)
    slopes = [
        (turned_around(0.4 + h, 1.1 + k, 2, 1) - turned_around(0.4 - h, 1.1 - k, 2, 1))
        / 2e-6
        for h, k in [(1e-6, 0.0), (0.0, 1e-6)]
    ]
    value, pullback = srcjax.vjp(turned_around, *args)
    assert value == turned_around(*args)
    np.testing.assert_allclose(pullback(1.0)[:2], slopes, rtol=1e-6)
    for k, tangent in enumerate([(1.0, 0.0), (0.0, 1.0)]):
        found = srcjax.jvp(turned_around, args, (*tangent, 0, 0))
        np.testing.assert_allclose(found, (value, slopes[k]), rtol=1e-6)
