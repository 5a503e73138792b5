# ruff: noqa: E501
"""Short random programs in which a name has arrays of several shapes and dtypes.

    for k in range(3):
        if k % 2:
            c = c + np.zeros((2, *np.shape(c)))
        else:
            c = c.sum(axis=0)

What a type says of such a name holds for one trip and not for the next: numbers become
arrays, rows become matrices, whole numbers become floats, and what is None becomes one
of them; in loops, in branches, behind attributes, keys and items.
"""

from __future__ import annotations

from tests.programs.grammar import Writer

SHAPES_HEAD = '''\
import numpy as np


class Held:
    """What has an attribute."""

    def __init__(self, c):
        self.c = c


def spread(c):
    return c + np.zeros((2, *np.shape(c)))


def total(c, d=None):
    return np.sum(c) if d is None else np.sum(c) * np.mean(d)


def folded(c):
    if np.ndim(c) == 0:
        return c * 0.5
    return c.sum(axis=0)

'''

#: What a value of any shape becomes: of the same shape, of more axes, of fewer.
SAME = (
    "{c} * 1.3",
    "np.sin({c})",
    "{c} * {s}",
    "{c} + {s}",
    "0.1 - {c}",
    "{c} ** 2",
    "0.5 - {c}",
    "{s} / (2.0 + {c} * {c})",
    "np.tanh({c}) * {c}",
    "np.where({c} > 0.2, {c}, 0.5 * {c})",
    "np.maximum({c}, 0.1)",
    "np.exp(-{c} * {c})",
)
WIDER = (
    "{c} + np.zeros((2, *np.shape({c})))",
    "np.zeros((2, *np.shape({c}))) - {c}",
    "np.ones((2, *np.shape({c}))) * {c}",
    "spread({c})",
    "np.broadcast_to({c}, (2, *np.shape({c})))",
    "np.stack([{c}, 2.0 * {c}])",
    "np.array([{c}, {c} * {c}])",
    "np.multiply.outer(x, {c})",
    "np.maximum({c}, np.full((2, *np.shape({c})), 0.3))",
    "np.hypot({c}, np.ones((2, *np.shape({c}))))",
    "np.where(np.ones((2, *np.shape({c}))) > 0, {c}, 0.0)",
    "np.expand_dims({c}, 0)",
    "{c} * np.arange(1, 3).reshape(2, *[1] * np.ndim({c}))",
    "np.tile({c}, (2, *[1] * np.ndim({c})))",
)
NARROWER = (
    "{c}.sum(axis=0)",
    "{c}.mean(axis=-1)",
    "np.sum({c}, axis=0)",
    "np.mean({c}, axis=0) * {s}",
    "np.max({c}, axis=0)",
    "np.min({c}, axis=-1)",
    "np.prod({c}, axis=0)",
    "{c}[0]",
    "{c}[-1] * 1.5",
    "{c}[..., 0]",
    "folded({c})",
    "np.linalg.norm({c} + 2.0, axis=0)",
    "np.cumsum({c}, axis=0)[-1]",
    "np.squeeze({c}[:1], axis=0)",
    "np.sort({c}, axis=0)[0]",
)
FLAT = (
    "np.ravel({c}) * 0.9",
    "np.concatenate([np.ravel({c}), x])",
    "np.append(np.ravel({c}), {s})",
    "np.reshape({c}, -1)",
    "np.atleast_1d({c})",
    "np.hstack([np.ravel({c}), np.ravel({c}) * 2.0])",
    "np.ravel({c})[::-1]",
    "np.ravel({c})[:2]",
)
#: What a name starts as, where it may be another kind of value in the next trip.
STARTS = (
    "x",
    "x[0]",
    "x[:1]",
    "s",
    "A",
    "A[0]",
    "np.outer(x, x)",
    "0.0",
    "1",
    "np.zeros(3, int)",
    "np.array([1, 2, 3])",
    "x * s",
    "np.sum(x)",
    "[0.5, 0.2]",
    "np.float64(0.7)",
    "(x > 0.3)",
)
TRIPS = ("k % 2", "k == 1", "k < 1", "k > 1", "k", "not k", "x[0] > 0.4", "{s} > 0.5")


class ShapesWriter(Writer):
    """Writes one function from a seed; see the module."""

    def write(self) -> str:
        self.lines: list[str] = []
        self.place, start = self.r.choice(
            [
                *[("c", "c = {}")] * 6,
                ("o.c", "o = Held({})"),
                ('h["c"]', 'h = {{"c": {}}}'),
                ("v[0]", "v = [{}]"),
            ]
        )
        begun = self.r.choice(STARTS)
        if begun.startswith("["):
            begun = f"np.array({begun})"
        self.put(start.format(begun))
        if self.place == "c" and self.r.random() < 0.25:
            self.put("d = None")
        else:
            self.put(f"d = {self.r.choice(['x', 's', 'A', self.place])}")
        for _ in range(self.r.randint(1, 3)):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, s):\n" + "\n".join(self.lines) + "\n"

    def step(self, forms: tuple[str, ...] | None = None) -> str:
        """The name's next value, which no shape makes impossible."""
        r = self.r
        kinds = [SAME] * 3 + [WIDER] * 3 + [NARROWER] * 3 + [FLAT]
        forms = r.choice(kinds) if forms is None else forms
        made = r.choice(forms).format(c=self.place, s=r.choice(["s", "0.7", "x[0]"]))
        if forms is WIDER:
            return f"{made} if np.ndim({self.place}) < 3 else {self.place} * 0.9"
        if forms is NARROWER:
            return f"{made} if np.ndim({self.place}) else {self.place} * 1.1"
        return made

    def set(self) -> None:
        r = self.r
        if r.random() < 0.15:
            self.put(
                f"s = s + {r.choice(['np.sum', 'np.mean', 'total'])}({self.place})"
            )
        elif r.random() < 0.2:
            self.beside()
        elif r.random() < 0.2:
            self.put(f"d = {self.place}")
        else:
            self.put(f"{self.place} = {self.step()}")

    def beside(self) -> None:
        """What is computed with an earlier value, where the two fit."""
        c, r = self.place, self.r
        op = r.choice(["+", "*", "-"])
        self.put(f"if d is not None and np.shape(d) == np.shape({c}):")
        self.inside(1, lambda: self.put(f"{c} = {c} {op} d"))
        if r.random() < 0.5:
            self.put("elif d is None:")
            self.inside(1, lambda: self.put(f"d = {c}"))

    def inside(self, count: int | None = None, each=None) -> None:
        """Statements of a block."""
        self.depth += 1
        for _ in range(count or self.r.randint(1, 2)):
            (each or self.set)()
        self.depth -= 1

    def statement(self) -> None:
        r = self.r
        kind = r.choice(["loop", "loop", "loop", "while", "branch", "set"])
        if kind == "set":
            self.set()
        elif kind == "branch":
            self.branch(
                r.choice(["x[0] > 0.3", "s > 0.2", f"np.ndim({self.place}) > 1"])
            )
        elif kind == "while":
            self.put(f"while np.ndim({self.place}) > {r.choice([0, 1])}:")
            self.inside(1, lambda: self.put(f"{self.place} = {self.step(NARROWER)}"))
        else:
            self.put(f"for k in range({r.choice([2, 3, 3, 4])}):")
            if r.random() < 0.7:
                self.depth += 1
                self.branch(r.choice(TRIPS).format(s="s"))
                self.depth -= 1
            else:
                self.inside()

    def branch(self, test: str) -> None:
        c = self.place
        if self.r.random() < 0.4:
            first, second = self.r.sample([SAME, WIDER, NARROWER, FLAT], 2)
            self.put(f"{c} = ({self.step(first)}) if {test} else ({self.step(second)})")
            return
        self.put(f"if {test}:")
        self.inside()
        if self.r.random() < 0.7:
            self.put("else:")
            self.inside()

    def result(self) -> str:
        c = self.place
        forms = [
            f"np.sum({c}) * s",
            f"np.sum({c} ** 2)",
            f"np.mean({c}) + s",
            f"np.sum(np.sin({c})) * np.size({c})",
            f"total({c}, d)",
            f"np.sum({c}) + (0.0 if d is None else np.sum(d) * s)",
        ]
        return self.r.choice(forms)
