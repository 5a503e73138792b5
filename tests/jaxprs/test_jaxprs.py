"""`make_jaxpr`: JAX's names and notation, and equations that compute what `f` does."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
import srcjax.numpy as snp
from srcjax import ShapeDtypeStruct, lax, make_jaxpr, nn, tree
from srcjax.errors import ArgumentError
from tests.corpus.harness import assert_close

X = np.linspace(0.5, 2.0, 12).reshape(4, 3).astype(np.float32)
V = X[0]

# -- names, beside JAX's ---------------------------------------------------------------


def mlp(np, x, w, b):
    for _ in range(1):
        x = np.tanh(np.dot(x, w) + b)
    return x


STRAIGHT = {
    "log": lambda np, x: np.log(x),
    "arithmetic": lambda np, x: -x * 2.0 + x / 3.0 - 1.0,
    "powers": lambda np, x: x**2 + x**2.5 + np.square(x) + np.sqrt(np.abs(x)),
    "functions": lambda np, x: np.sin(x) + np.exp(np.cos(x)) + np.arctan2(x, x),
    "comparisons": lambda np, x: (x > 1.0) & (x <= 2.0) | ~(x == 0.5),
    "sums": lambda np, x: np.sum(x, axis=0) + np.max(x, axis=0) * np.prod(x, axis=0),
    "mean": lambda np, x: np.mean(x) + np.mean(x, axis=1),
    "kept axes": lambda np, x: x - np.sum(x, axis=1, keepdims=True),
    "ranks": lambda np, x: x * x[0] + x[:, None, 0],
    "slices": lambda np, x: x[1:3, 0] + x[-2:, 2],
    "steps": lambda np, x: x[::2].T,
    "shapes": lambda np, x: np.reshape(x, (3, 4)) @ np.transpose(x).T,
    "joined": lambda np, x: np.concatenate([x, 2.0 * x], axis=1),
    "stacked": lambda np, x: np.stack([x[0], x[1]]),
    "spread": lambda np, x: np.broadcast_to(x[0], (4, 3)) + x,
    "products": lambda np, x: np.dot(x[0], x[1]) + np.tensordot(x, x, axes=2),
    "extremes": lambda np, x: np.maximum(x, 1.0) + np.minimum(x, x[0]),
    "running": lambda np, x: np.cumsum(x, axis=0) + np.sort(x, axis=0)[::-1],
    "dtypes": lambda np, x: x.astype(np.int32) + 1,
    "softmax": lambda np, x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
    "layer": lambda np, x: mlp(np, x, x.T, x[:, 0]),
}


def names(jaxpr):
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def names_inside(jaxpr):
    """JAX's own functions are compiled, and so are equations in theirs."""
    return [
        name
        for eqn in jaxpr.eqns
        for name in (
            names_inside(eqn.params["jaxpr"])
            if eqn.primitive.name == "jit"
            else [eqn.primitive.name]
        )
    ]


@pytest.mark.parametrize("f", STRAIGHT.values(), ids=STRAIGHT)
def test_primitives_of_straight_lines_are_those_of_jax(f):
    with jax.enable_x64(False):
        theirs = jax.make_jaxpr(lambda x: f(jnp, x))(X)
    ours = make_jaxpr(lambda x: f(np, x))(X)
    assert names(ours.jaxpr) == names_inside(theirs.jaxpr)


def test_the_notation_is_that_of_jax():
    def f(x, w):
        y = snp.dot(x, w["w"]) + w["b"]
        return {"loss": snp.sum(snp.tanh(y) ** 2), "x": x}

    def g(x, w):
        y = jnp.dot(x, w["w"]) + w["b"]
        return {"loss": jnp.sum(jnp.tanh(y) ** 2), "x": x}

    w = {"w": X.T, "b": X[:, 0]}
    with jax.enable_x64(False):
        theirs = str(jax.make_jaxpr(g)(X, w)).replace(" out_sharding=None", "")
        single = str(jax.make_jaxpr(lambda x: jnp.log(x))(np.float32(1)))
    assert str(make_jaxpr(f)(X, w)) == theirs
    assert repr(make_jaxpr(np.log)(np.float32(1))) == single
    assert single == "{ lambda ; a:f32[]. let b:f32[] = log a in (b,) }"


def test_what_a_jaxpr_tells():
    table = np.arange(3.0, dtype=np.float32)
    shapes = ShapeDtypeStruct((3,), np.float32)
    closed, out = make_jaxpr(lambda x, n: x * table + n, 1, return_shape=True)(
        shapes, 2
    )
    assert str(closed).startswith(
        "{ lambda a:f32[3]; b:f32[3]. let\n    c:f32[3] = mul"
    )
    np.testing.assert_array_equal(closed.consts[0], table)
    assert (closed.in_avals, out) == ([closed.out_avals[0]], shapes)
    eqn = closed.jaxpr.eqns[1]
    assert (eqn.primitive.name, str(eqn.invars[1])) == ("add", "2.0:f32[]")
    assert str(make_jaxpr(lambda x: 2 * x)(1.0)) == (
        "{ lambda ; a:f64[]. let b:f64[] = mul 2.0:f64[] a in (b,) }"
    )
    many = make_jaxpr(lambda xs: sum(xs))([V] * 30)
    assert "ba:f32[3] bb:f32[3]" in str(many)


# -- equations that are run ------------------------------------------------------------

RUN = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "neg": np.negative, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
    "tanh": np.tanh, "max": np.maximum, "min": np.minimum, "abs": np.abs,
    "sqrt": np.sqrt, "square": np.square, "gt": np.greater, "lt": np.less,
    "le": np.less_equal, "ge": np.greater_equal, "eq": np.equal, "not": np.logical_not,
    "and": np.logical_and, "or": np.logical_or, "pow": np.power,
    "integer_pow": lambda x, y: x**y,
    "select_n": lambda which, *cases: np.where(which, cases[1], cases[0]),
    "clamp": lambda low, x, high: np.clip(x, low, high),
    "convert_element_type": lambda x, new_dtype, weak_type: x.astype(new_dtype),
    "reduce_sum": lambda x, axes: np.sum(x, axes),
    "reduce_max": lambda x, axes: np.max(x, axes),
    "squeeze": lambda x, dimensions: np.squeeze(x, dimensions),
    "transpose": lambda x, permutation: np.transpose(x, permutation),
    "reshape": lambda x, dimensions, new_sizes: np.reshape(x, new_sizes),
    "rev": lambda x, dimensions: np.flip(x, dimensions),
    "concatenate": lambda *xs, dimension: np.concatenate(xs, dimension),
    "stop_gradient": lambda x: x,
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "dynamic_slice": lambda x, *starts, slice_sizes: np.array(
        jax.lax.dynamic_slice(x, starts, slice_sizes)
    ),
}  # fmt: skip


def run_eqn(eqn, given):
    name, params = eqn.primitive.name, dict(eqn.params)
    if name == "cond":
        return run(params["branches"][int(given[0])].jaxpr, given[1:])
    if name in ("jit", "custom_jvp_call", "custom_vjp_call", "checkpoint"):
        return run(params.get("jaxpr", params.get("call_jaxpr")).jaxpr, given)
    if name == "while":
        first, second = params["cond_nconsts"], params["body_nconsts"]
        tests, bodies = given[:first], given[first : first + second]
        state = given[first + second :]
        while run(params["cond_jaxpr"].jaxpr, [*tests, *state])[0]:
            state = run(params["body_jaxpr"].jaxpr, [*bodies, *state])
        return state
    if name == "scan":
        first, count = params["num_consts"], params["num_carry"]
        constants, state = given[:first], given[first : first + count]
        rows, found = given[first + count :], []
        steps = range(params["length"])
        for k in reversed(steps) if params["reverse"] else steps:
            both = run(
                params["jaxpr"].jaxpr, [*constants, *state, *(r[k] for r in rows)]
            )
            state = both[:count]
            found.append(both[count:])
        found = found[::-1] if params["reverse"] else found
        return [*state, *(np.stack(each) for each in zip(*found, strict=True))]
    if name == "broadcast_in_dim":
        shape, x = eqn.outvars[0].aval.shape, np.asarray(given[0])
        axes = params.get("broadcast_dimensions", ())
        whole = [1] * len(shape)
        for n, k in zip(x.shape, axes, strict=True):
            whole[k] = n
        return [np.broadcast_to(x.reshape(whole), shape)]
    if name == "slice":
        ends = params["start_indices"], params["limit_indices"]
        strides = params["strides"] or (1,) * len(ends[0])
        return [given[0][tuple(map(slice, *ends, strides))]]
    if name in ("gather", "scatter"):
        x, *places = map(np.copy, given)
        scope = {f"p{k}": p for k, p in enumerate(places)}
        text = params["index"]
        for k in range(text.count("_")):
            text = text.replace("_", f"p{k}", 1)
        if name == "gather":
            return [eval(f"x{text}", {"x": x}, scope)]
        exec(f"x{text} = v", {"x": x, "v": places[-1]}, scope)
        return [x]
    if name == "dot_general":
        numbers = params["dimension_numbers"]
        return [np.asarray(lax.dot_general(*given, numbers))]
    return [RUN[name](*given, **params)]


def run(jaxpr, args, consts=()):
    known = dict(
        zip(map(id, [*jaxpr.constvars, *jaxpr.invars]), [*consts, *args], strict=True)
    )

    def read(atom):
        if hasattr(atom, "val"):
            return np.asarray(atom.val, atom.aval.dtype)[()]
        return known[id(atom)]

    for eqn in jaxpr.eqns:
        found = run_eqn(eqn, list(map(read, eqn.invars)))
        for var, value in zip(eqn.outvars, found, strict=True):
            assert var.aval.shape == np.shape(value), eqn.primitive
            known[id(var)] = np.asarray(value, var.aval.dtype)
    return list(map(read, jaxpr.outvars))


def branch(x):
    if x.sum() > 5:
        y = x * 2
    elif x[0] > 1:
        y = -x
    else:
        return x
    return y + 1


def loop(x):
    total = 0.0
    for k in range(5):
        x = x * 0.5 + k
        total = total + x[0]
    return x, total


def powers(x):
    return np.sum(lax.fori_loop(0, 5, lambda k, v: np.sin(v) * x + k, x))


def rows(x):
    total, seen = 0.0, []
    for row in x:
        total = total + row.sum() * np.mean(x)
        seen.append(total * row)
    return total, np.stack(seen)


def until(x):
    n = 0
    while x.sum() < 40:
        x = x * 2
        n += 1
    return x, n


def left(x):
    count = 0
    while True:
        x = x * 1.5
        count += 1
        if x.sum() > 50:
            break
        if count == 6:
            x = -x
            break
    return x, count


def left_range(x):
    for k in range(10):
        x = x * 2 - k
        if x.sum() > 60:
            break
    return x


def scanned(x):
    def step(h, row):
        h = np.tanh(h + row)
        return h, {"h": h, "two": (h.sum(), h[0])}

    return lax.scan(step, np.zeros(3, np.float32), x)


def backwards(x):
    return lax.scan(lambda c, r: (c * r.sum(), c + r), np.float32(1), x, reverse=True)


def layers(x):
    for w, b in [(x.T, x[:, 0]), (x, x[0])]:
        x = nn.relu(x @ w + b)
    return x


def functional(x):
    y = lax.fori_loop(1, 4, lambda k, v: v * x + k, x)
    y = lax.while_loop(lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1] + x), (0, y))[1]
    y = lax.cond(x[0] > 1, lambda v: v, lambda v: v * 2, y)
    index = (x[0] * 2).astype(int)
    return lax.switch(index, [lambda v: v, lambda v: -v, lambda v: v + x], y)


def written(x):
    y = np.zeros(4)
    y[x > 0] = 2.0
    y *= 3
    return y[::-1] + x


def dynamic(x):
    total = 0.0
    for k in range(3):
        total = total + x[k, -1]
    return total


@srcjax.jit
def doubled(x):
    return np.log(x) * 2


def trees(x):
    p = {"a": x, "b": [x * 2, None]}
    return tree.map(lambda v, w: v - 0.1 * w, p, p)


def by_helpers(x):
    def shifted(v, by=1.0, *, scale=2.0):
        return scale * (v + by)

    return shifted(x) + shifted(x, scale=x[0])


def enumerated(x):
    total = 0.0
    for k, value in enumerate(x):
        total = total + value * k
        if total > 1.5:
            break
    return total


def returned_inside(x):
    total = 1.0
    for k in range(6):
        total = total * x[0]
        if total > 4:
            return total * k
    return -total


def other_structure(x):
    total = x[0]
    for k in range(4):
        total = total * x[1]
        if k == 2:
            found = (total, x[0])
            break
    else:
        found = (total,)
    return found[0] * len(found)


def seen_in_the_loop(x):
    kept, total = [], 0.0
    for value in x:
        kept.append(value)
        total = total + kept[0] * kept[-1]
    return total


def two_names(x):
    w = np.ones(3)
    rows, total = [x * 2.0, w], 0.0
    for k in range(3):
        total = total + np.sum(rows[0] * w)
        rows[1][0] = k + 3.0
    return total


def rows_written(x):
    w = np.zeros((3, 3))
    for k in range(3):
        row = w[k]
        row += x * (k + 1.0)
    return w


def bound_late(x):
    total = x[0]
    inner = (lambda z: z * total) if total > 0 else (lambda z: z)
    for function in [np.sin, np.cos]:
        total = total + function(x[2]) * inner(x[1])
    return total


@dataclasses.dataclass(frozen=True)
class Moving:
    place: float
    speed: float

    def later(self):
        return Moving(self.place + 0.1 * self.speed, self.speed - 0.1 * self.place)


def objects_in_turn(x):
    state = Moving(x[0], x[1])
    for _ in range(3):
        state = state.later()
    return state.place


class Holding:
    def __init__(self):
        self.held = np.ones(3)

    def add(self, value):
        self.held[0] += value
        return self.held


def held_by_an_object(x):
    holding = Holding()
    seen = holding.add(0.0)
    first = x * seen
    holding.add(1.0)
    return first * seen


def recursive(x):
    return x if x[0] < 1.0 else recursive(x * 0.5)


def counted_in_a_branch(x):
    holding = Holding()
    if x[0] > 1.0:
        holding.add(1.0)
    return x * holding.held


F = X[:, 0]
PROGRAMS = [
    (branch, F * 4), (branch, F), (branch, F - 0.4), (loop, V), (rows, X), (until, V),
    (left, V), (left, V / 20), (left_range, V), (scanned, X), (backwards, X),
    (layers, X), (functional, V), (functional, V * 2), (written, F - 1), (dynamic, X),
    (returned_inside, V * 2), (returned_inside, V), (two_names, V),
    (seen_in_the_loop, V), (bound_late, V),
    (bound_late, V - 1), (objects_in_turn, V), (held_by_an_object, V),
    (trees, X), (by_helpers, V), (srcjax.grad(lambda x: np.sum(loop(x)[0] ** 2)), V),
    (srcjax.grad(lambda x: rows(x)[0]), X), (srcjax.vmap(lambda x: x.sum() * x), X),
    (srcjax.grad(lambda x: np.sum(layers(x))), X),
    (srcjax.hessian(lambda x: np.sum(np.sin(x) * x)), V),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda f: getattr(f, "__name__", ""))
def test_equations_compute_what_the_function_does(f, x):
    closed = make_jaxpr(f)(x)
    expected = tree.leaves(f(x))
    found = run(closed.jaxpr, [x], closed.consts)
    for ours, wanted in zip(found, expected, strict=True):
        assert_close(ours, np.asarray(wanted), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (rows_written, "shares memory with another"),
        (counted_in_a_branch, "from around the function"),
        (enumerated, "a value ends a loop"),
        (other_structure, "of another kind in each branch"),
        (recursive, "without values"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_no_equation_shows_is_refused(f, why):
    with pytest.raises(ArgumentError, match=why):
        make_jaxpr(f)(V)


def test_loops_and_branches_are_equations():
    assert names(make_jaxpr(loop)(V).jaxpr)[-1] == "scan"
    assert names(make_jaxpr(scanned)(X).jaxpr) == ["broadcast_in_dim", "scan"]
    (eqn,) = make_jaxpr(until)(V).eqns
    assert names(eqn.params["cond_jaxpr"].jaxpr) == ["reduce_sum", "lt"]
    assert names(eqn.params["body_jaxpr"].jaxpr) == ["mul", "add"]
    assert names(make_jaxpr(layers)(X).jaxpr).count("dot_general") == 2
    slopes = make_jaxpr(srcjax.grad(powers))(V).eqns
    scans = [e.params["reverse"] for e in slopes if e.primitive.name == "scan"]
    assert scans == [False, True]


def test_compiled_functions_are_nested():
    closed = make_jaxpr(lambda x: doubled(x) + 1)(V)
    assert names(closed.jaxpr) == ["jit", "add"]
    assert_close(run(closed.jaxpr, [V])[0], np.log(V) * 2 + 1, rtol=1e-5)
    eqn = closed.eqns[0]
    assert eqn.params["name"] == "doubled"
    assert names(eqn.params["jaxpr"].jaxpr) == ["log", "mul"]
    assert "b:f32[3] = jit[\n      name=doubled\n      jaxpr={ lambda ; a" in str(
        closed
    )


def test_functions_without_a_primitive_have_their_own_name():
    assert names(make_jaxpr(lambda x: np.linalg.inv(x) // 2)(np.eye(3)).jaxpr) == [
        "inv",
        "floor_divide",
    ]
    text = str(make_jaxpr(lambda x, i: x.at[i].set(0.0))(V, 1))
    assert "= scatter[index=[_]] a b 0.0:f32[]" in text


def test_what_has_no_notation_is_refused():
    with pytest.raises(ArgumentError, match="a value of an argument decides"):
        make_jaxpr(lambda x: x[x > 1])(V)
    with pytest.raises(ArgumentError, match="gives a str"):
        make_jaxpr(lambda x: "x")(V)

    def stale(x):
        y = x.copy()
        part = y[1:]
        y[1] = 0.0
        return part

    with pytest.raises(ArgumentError, match="read after that was written"):
        make_jaxpr(stale)(V)

    def around(x):
        V[0] = x[1]
        return V

    with pytest.raises(ArgumentError, match="from around the function"):
        make_jaxpr(around)(V)

    def uneven(x):
        return x if x.sum() > 1 else x[1:]

    with pytest.raises(ArgumentError, match="branches give arrays of other shapes"):
        make_jaxpr(uneven)(V)
