"""What generating costs grows with the length of a function, and no faster.

Times are not compared here: they depend on what else the machine does. The calls of
functions are counted, those of built-in ones too.
"""

import cProfile
import linecache
import pstats

import numpy as np
import pytest

import srcjax
from srcjax import pipeline

SAMPLE = {"test_work_grows_as_the_length": 2}

X = np.linspace(0.1, 0.5, 5)


def function(lines):
    """A function of these lines, with a source that can be read."""
    body = "".join(f"    {line}\n" for line in lines)
    text = f"import numpy as np\n\n\ndef f(a0):\n{body}"
    filename = f"<lines {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {}
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def chain(n):
    """Each value is used twice for the next."""
    steps = [f"a{i + 1} = np.sin(a{i}) * a{i}" for i in range(n)]
    return function([*steps, f"return np.sum(a{n})"])


def in_place(n):
    """One array changes again and again."""
    steps = [f"y[{i % 5}] = y[{(i + 1) % 5}] * np.cos(y[{i % 5}])" for i in range(n)]
    return function(["y = a0.copy()", *steps, "return np.sum(y)"])


def branches(n):
    """One value takes one of two ways again and again."""
    steps = []
    for i in range(n // 4):
        steps += [f"if s > {i}.0:", f"    s = s * a0[{i % 5}]"]
        steps += ["else:", f"    s = s + np.exp(a0[{i % 5}])"]
    return function(["s = a0[0]", *steps, "return s"])


TRANSFORMS = {
    "grad": lambda f: srcjax.grad(f)(X),
    "jvp": lambda f: srcjax.jvp(f, (X,), (X,)),
    "vmap": lambda f: srcjax.vmap(f)(np.stack([X, X])),
    "hvp": lambda f: srcjax.hvp(f, (X,), (X,)),
}


def calls(transform, f):
    """How many calls the transform of a function takes."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        transform(f)
    finally:
        profile.disable()
    return pstats.Stats(profile).total_calls


@pytest.mark.parametrize(
    ("lines", "name", "short", "long"),
    [
        (chain, "grad", 8, 32),
        (chain, "vmap", 8, 32),
        (chain, "hvp", 10, 60),
        (in_place, "grad", 8, 24),
        (in_place, "jvp", 8, 24),
        (branches, "grad", 8, 32),
        (branches, "jvp", 8, 32),
    ],
)
def test_work_grows_as_the_length(lines, name, short, long, monkeypatch):
    # What is written is inferred again only to check it.
    monkeypatch.setattr(pipeline, "VALIDATE", False)
    transform = TRANSFORMS[name]
    transform(lines(4))  # what is made once only
    fewer, more = calls(transform, lines(short)), calls(transform, lines(long))
    print(f"{fewer} calls for {short} lines, {more} for {long}")
    assert more < 1.1 * long / short * fewer
