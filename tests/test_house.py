"""The recipes of `docs/architecture.md`, followed by a transform made up here."""

import gast
import numpy as np

import srcjax
from srcjax import pipeline, syntax
from srcjax.backends.assembling import assemble
from srcjax.frontend.stage_texts import StageTexts
from srcjax.transforms.callees import Callees
from srcjax.transforms.writer import Writer
from srcjax.transforms.written import Written
from srcjax.versions.callables import Transform, make_callable

# What would be `transforms/plain.py`: the writer.


def written(program, unit, name):
    """The function itself, in core form."""
    node = syntax.clone(unit.node)
    plain = gast.FunctionDef(name, node.args, node.body, [], None, None, [])
    return Written(plain, unit, Writer(program, unit), forward=True)


# What would be added to `pipeline.py`: what it is made of, and its passes.


def plain(request):
    stages = StageTexts()
    program, unit = pipeline.analyse(request, stages)
    entry = f"plain_{unit.name}"
    callees = Callees(program, pipeline.names_around(program, entry), ("plain",))

    def write(key):
        callee, (name,) = callees.wanted[key]
        return written(program, callee, name)

    first, passes = [written(program, unit, entry)], pipeline.FORWARD
    return assemble(
        program, callees, first, entry, stages, write, passes, "plain", request.types
    )


# What would be `api/plain.py`: what users call. Its name goes into `__init__.py`.


class Plain(Transform):
    name = "plain"

    def summary(self):
        return f"{self.shown_name} itself"

    def build(self, types, typed):
        return plain(self.request(types))


def plainly(f):
    return make_callable(Plain(f, 0))


def model(x, w):
    y = x * x
    return np.sum(np.tanh(y @ w))


X, W = np.array([1.0, 2.0]), np.array([0.3, 0.1])


def through_a_function(x, w):
    return 2.0 * plainly(model)(x * x, w)


def test_it_gives_what_the_function_gives():
    assert plainly(model)(X, W) == model(X, W)
    assert "np.tanh(y @ w)" in srcjax.source(plainly(model), X, W)


def test_it_composes():
    wanted = srcjax.grad(model)(X, W)
    np.testing.assert_array_equal(srcjax.grad(plainly(model))(X, W), wanted)
    np.testing.assert_array_equal(plainly(srcjax.grad(model))(X, W), wanted)
    both = srcjax.vmap(plainly(model), in_axes=(0, None))(np.stack([X, W]), W)
    np.testing.assert_allclose(both, [model(X, W), model(W, W)])
    inside = srcjax.grad(through_a_function)(X, W)
    step = 1e-6 * np.eye(2)
    ends = [through_a_function(X + s, W) - through_a_function(X - s, W) for s in step]
    np.testing.assert_allclose(inside, np.array(ends) / 2e-6, rtol=1e-6)


def test_its_stages_are_listed():
    stages = srcjax.stages(plainly(model), X, W)
    assert list(stages)[:4] == ["read", "check", "normalise", "infer"]
    assert "plain" in stages and "simplify" in stages
