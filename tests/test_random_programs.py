# ruff: noqa: E501
"""Random small programs: the right number or a loud refusal, never a wrong number.

Each seed gives one program as text (scalars, vectors, matrices, lists, dicts, loops,
branches, early exits, views, in-place updates, helpers, closures). Its gradient is
compared with central differences, its tangent with the gradient, and the second
derivatives of the four nestings of `grad` and `jvp` with each other and with
differences; `vmap` is compared with a loop over examples. `SRCJAX_RANDOM_PROGRAMS=2000`
runs more of them. The nestings and `vmap` are for programs of at most
`SRCJAX_RANDOM_LINES` lines, as they take long.
"""

from __future__ import annotations

import copy
import importlib.util
import math
import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

COUNT = int(os.environ.get("SRCJAX_RANDOM_PROGRAMS", "100"))
FIRST = int(os.environ.get("SRCJAX_RANDOM_FIRST", "0"))
LINES = int(os.environ.get("SRCJAX_RANDOM_LINES", "12"))
BLOCK = 10
REFUSED = 0.15  # the share of programs that may be refused

HEAD = """\
import math
import numpy as np

W = np.array([0.3, -0.7, 1.1])


def small(u, v):
    return np.sin(u) * v + u


def clip(u):
    if u > 0.5:
        return 0.5 + np.tanh(u - 0.5)
    return u


def long(u, k):
    total = 0.0
    for j in range(k):
        if j == 2:
            continue
        total = total + np.sin(u * (j + 1)) * u
        if j > 3:
            break
    return total, u * 0.5


def power(u, k):
    if k == 0:
        return 1.0
    return u * power(u, k - 1)


def scale(v, s):
    out = v.copy()
    for j in range(len(out)):
        out[j] *= s + j
    return out


def deep(items, k):
    if k >= len(items):
        return 0.0
    return np.sin(items[k]) + 0.5 * deep(items, k + 1)


def push(v, s):
    v[1] = v[0] * s
    v[2] += s

"""


class Writer:
    """Writes one function from a seed."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.names: dict[str, list[str]] = {
            kind: [] for kind in ("S", "V", "M", "L", "D", "F", "O")
        }
        self.ints: list[str] = []
        self.count = 0
        self.loops = 0
        self.depth = 0
        self.local = 0  # inside a lambda or comprehension: no walrus

    # Names -----------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        self.count += 1
        odd = {
            "S": ["dx", "dy", "saved", "x_tape", "y_saved", "carry", "total", "ds"],
            "V": ["dA", "dv", "out", "x_old", "buffer", "dw"],
            "M": ["B_tape", "dB", "dM"],
        }.get(kind, [])
        taken = {name for names in self.names.values() for name in names}
        odd = [name for name in odd if name not in taken]
        if odd and self.r.random() < 0.25:
            return self.r.choice(odd)
        return f"{kind.lower()}{self.count}"

    def pick(self, kind: str) -> str:
        return self.r.choice(self.names[kind])

    def index(self) -> str:
        choices = ["0", "1", "2", "-1"]
        if self.ints:
            choices += [f"{self.r.choice(self.ints)}"] * 4
        return self.r.choice(choices)

    def const(self) -> str:
        return self.r.choice(["0.5", "1.5", "-0.3", "2", "0.7", "1.0"])

    # Expressions -----------------------------------------------------------

    def scalar(self, d: int = 2) -> str:
        r = self.r
        if d <= 0 or r.random() < 0.15:
            p = r.random()
            if p < 0.6:
                return self.pick("S")
            if p < 0.75:
                return f"{self.pick('V')}[{self.index()}]"
            if p < 0.85 and self.names["L"]:
                return f"{self.pick('L')}[{r.choice(['0', '-1', '1'])}]"
            if p < 0.93 and self.names["D"]:
                return f'{self.pick("D")}["{r.choice("ab")}"]'
            return self.const()
        s = lambda: self.scalar(d - 1)  # noqa: E731
        forms = [
            lambda: f"{s()} + {s()}",
            lambda: f"({s()} - {s()})",
            lambda: f"({s()}) * ({s()})",
            lambda: f"({s()}) * {self.const()}",
            lambda: f"({s()}) / (1 + ({s()}) ** 2)",
            lambda: f"np.sin({s()})",
            lambda: f"np.tanh({s()})",
            lambda: f"np.exp(np.tanh({s()}))",
            lambda: f"math.cos({s()})",
            lambda: f"-({s()})",
            lambda: f"np.sum({self.vector(d - 1)})",
            lambda: f"({self.vector(d - 1)}).mean()",
            lambda: f"np.dot({self.vector(d - 1)}, {self.vector(d - 1)})",
            lambda: f"{self.pick('M')}[{self.index()}, {self.index()}]",
            lambda: f"({s()} if {self.test()} else {s()})",
            lambda: f"small({s()}, {s()})",
            lambda: f"clip({s()})",
            lambda: f"long({s()}, {r.randint(0, 6)})[{r.randint(0, 1)}]",
            lambda: f"power({s()}, {r.randint(0, 3)})",
            lambda: f"deep([{s()}, {s()}], {r.randint(0, 2)})",
            lambda: f"sum([{self.bound('e', s)} for e in {self.pick('V')}])",
            lambda: f"sum(e * {self.const()} for e in {self.pick('V')})",
            lambda: f"max({s()}, {s()})",
        ]
        if self.names["F"]:
            forms += [lambda: f"{self.pick('F')}({s()})"] * 3
        if self.names["L"]:
            forms += [lambda: f"deep({self.pick('L')}, 0)"]
            forms += [lambda: f"sum({self.pick('L')})"]
        return r.choice(forms)()

    def bound(self, name: str, make) -> str:
        self.names["S"].append(name)
        try:
            return make()
        finally:
            self.names["S"].remove(name)

    def vector(self, d: int = 2) -> str:
        r = self.r
        if d <= 0 or r.random() < 0.2:
            return self.pick("V")
        v = lambda: self.vector(d - 1)  # noqa: E731
        s = lambda: self.scalar(d - 1)  # noqa: E731
        return r.choice(
            [
                lambda: f"({v()} + {v()})",
                lambda: f"({v()} * {v()})",
                lambda: f"({v()} * ({s()}))",
                lambda: f"({v()} / (1 + {v()} ** 2))",
                lambda: f"np.sin({v()})",
                lambda: f"np.tanh({v()})",
                lambda: f"{self.pick('M')} @ {v()}",
                lambda: f"{self.pick('M')}[{self.index()}]",
                lambda: f"{self.pick('M')}[:, {self.index()}]",
                lambda: f"{self.pick('M')}.T[{self.index()}]",
                lambda: f"np.array([{s()}, {s()}, {s()}])",
                lambda: f"np.concatenate([{v()}[1:], {v()}[:1]])",
                lambda: f"({v()}[1:] - {v()}[:-1]).sum() * {v()}",
                lambda: f"({v()}[:1] * {v()})",
                lambda: f"{v()}[::-1]",
                lambda: f"np.where({v()} > 0.3, {v()}, {v()})",
                lambda: f"scale({v()}, {s()})",
                lambda: f"small({v()}, {v()})",
                lambda: f"({v()} if {self.test()} else {v()})",
                lambda: f"{self.pick('M')}.sum(axis={r.randint(0, 1)})",
                lambda: f"({v()} * W)",
                lambda: f"np.array([{self.bound('e', s)} for e in {v()}])",
                lambda: f"({v()}[:, None] * {v()}).sum(axis=0)",
            ]
        )()

    def matrix(self) -> str:
        r = self.r
        return r.choice(
            [
                lambda: f"{self.pick('M')} * ({self.scalar(1)})",
                lambda: f"{self.pick('M')} + {self.vector(1)}",
                lambda: f"np.outer({self.vector(1)}, {self.vector(1)})",
                lambda: f"{self.pick('M')} @ {self.pick('M')}",
                lambda: f"np.sin({self.pick('M')}).T",
                lambda: f"{self.pick('M')}.copy()",
                lambda: f"{self.vector(1)}[:, None] * {self.vector(1)}",
                lambda: "np.zeros((3, 3))",
            ]
        )()

    def test(self) -> str:
        left, right = self.pick("S"), self.const()
        op = self.r.choice(["<", ">", "<=", ">="])
        text = f"{left} {op} {right}"
        if self.ints and self.r.random() < 0.4:
            text = f"{self.r.choice(self.ints)} {self.r.choice(['==', '>'])} 1"
        if self.r.random() < 0.15:
            text = f"not ({text}) or {self.pick('S')} > 0"
        return text

    # Statements ------------------------------------------------------------

    def put(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def inside(self, count: int | None = None) -> None:
        keep = {kind: list(names) for kind, names in self.names.items()}
        ints = list(self.ints)
        self.depth += 1
        start = len(self.lines)
        for _ in range(count or self.r.randint(1, 3)):
            self.statement()
        if len(self.lines) == start:
            self.put("pass")
        self.depth -= 1
        self.names, self.ints = keep, ints

    def assign(self) -> None:
        kind = self.r.choice("SSSVVVM")
        text = {"S": self.scalar, "V": self.vector, "M": self.matrix}[kind]()
        owned = [n for n in self.names[kind] if n != "e"]
        if owned and self.r.random() < 0.5:
            name = self.r.choice(owned)
            if name in self.names["O"]:
                text = f"({text}) * 1.0"
            self.put(f"{name} = {text}")
        else:
            name = self.fresh(kind)
            self.put(f"{name} = {text}")
            self.names[kind].append(name)

    def own(self) -> str:
        mine = [n for n in self.names["V"] if n in self.names["O"]]
        if mine and self.r.random() < 0.7:
            return self.r.choice(mine)
        name = self.fresh("V")
        self.put(
            f"{name} = {self.r.choice([self.pick('V') + '.copy()', 'np.zeros(3)'])}"
        )
        self.names["V"].append(name)
        self.names["O"].append(name)
        return name

    def own_matrix(self) -> str:
        mine = [n for n in self.names["M"] if n in self.names["O"]]
        if mine and self.r.random() < 0.7:
            return self.r.choice(mine)
        name = self.fresh("M")
        self.put(f"{name} = {self.pick('M')}.copy()")
        self.names["M"].append(name)
        self.names["O"].append(name)
        return name

    def inplace(self) -> None:
        r = self.r
        k = r.randint(0, 11)
        if k >= 8:
            m = self.own_matrix()
            if k == 8:
                self.put(f"{m}[{self.index()}, {self.index()}] = {self.scalar()}")
            elif k == 9:
                op = r.choice(["=", "+=", "*="])
                self.put(f"{m}[{self.index()}] {op} {self.vector(1)}")
            elif k == 10:
                row = self.fresh("V")
                form = r.choice([f"{m}[{self.index()}]", f"{m}[:, {self.index()}]"])
                self.put(f"{row} = {form}")
                op = r.choice(["*=", "+="])
                self.put(f"{row} {op} {r.choice([self.scalar(1), self.vector(1)])}")
                self.names["V"].append(row)
            else:
                self.put(f"for row in {m}:")
                self.depth += 1
                self.put(f"row *= {self.scalar(1)}")
                self.depth -= 1
            return
        v = self.own()
        if k == 0:
            self.put(f"{v}[{self.index()}] = {self.scalar()}")
        elif k == 1:
            self.put(
                f"{v}[{self.index()}] {r.choice(['+=', '*=', '-='])} {self.scalar()}"
            )
        elif k == 2:
            self.put(f"{v}[1:] = {self.vector(1)}[:-1]")
        elif k == 3:
            self.put(f"{v}[:] = {self.vector(1)}")
        elif k == 4:
            self.put(f"{v} {r.choice(['+=', '*=', '-='])} {self.vector(1)}")
        elif k == 5:
            self.put(f"push({v}, {self.scalar(1)})")
        elif k == 6:
            self.put(f"{v}[0], {v}[1] = {v}[1], {v}[0] * {self.scalar(1)}")
        else:
            view = self.fresh("V") + "w"
            self.put(f"{view} = {v}[::-1]")
            self.put(f"{view}[{self.index()}] *= {self.scalar(1)}")

    def branch(self) -> None:
        self.put(f"if {self.test()}:")
        self.inside()
        if self.r.random() < 0.3:
            self.put(f"elif {self.test()}:")
            self.inside()
        if self.r.random() < 0.6:
            self.put("else:")
            self.inside()

    def loop(self) -> None:
        r = self.r
        kind = r.randint(0, 7)
        keep = {key: list(names) for key, names in self.names.items()}
        ints = list(self.ints)
        self.count += 1
        i = f"i{self.count}"
        if kind <= 2:
            head = r.choice(
                [
                    f"range({r.randint(0, 3)})",
                    "range(1, 3)",
                    "range(2, -1, -1)",
                    "range(len(x))",
                ]
            )
            self.put(f"for {i} in {head}:")
            self.ints.append(i)
        elif kind == 3:
            over = r.choice([n for n in self.names["V"]])
            self.put(f"for {i}, e{i} in enumerate({over}):")
            self.ints.append(i)
            self.names["S"].append(f"e{i}")
        elif kind == 4:
            over = self.pick("V")
            self.put(f"for e{i} in {over}:")
            self.names["S"].append(f"e{i}")
        elif kind == 5 and self.names["L"]:
            over = self.pick("L")
            self.put(f"for e{i} in {over}:")
            self.names["S"].append(f"e{i}")
            self.names["L"] = []
        elif kind == 6:
            self.put(f"for e{i}, g{i} in zip({self.pick('V')}, {self.vector(1)}):")
            self.names["S"] += [f"e{i}", f"g{i}"]
        else:
            self.put(f"{i} = 0")
            head = r.choice([f"{i} < {r.randint(1, 3)}", "True"])
            self.put(f"while {head}:")
            self.depth += 1
            self.put(f"{i} += 1")
            if head == "True" or r.random() < 0.3:
                self.put(
                    f"if {i} > {r.randint(1, 3)}{r.choice(['', ' or ' + self.test()])}:"
                )
                self.put("    break")
            self.depth -= 1
        self.loops += 1
        self.inside(r.randint(1, 4))
        self.loops -= 1
        self.names, self.ints = keep, ints
        if r.random() < 0.1:
            self.put("else:")
            self.inside(1)

    def exit(self) -> None:
        word = f"return {self.scalar()}"
        if self.loops:
            word = self.r.choice(["break", "continue", "break", word])
        self.put(f"if {self.test()}:")
        self.depth += 1
        if self.r.random() < 0.4:
            self.assign_existing()
        self.put(word)
        self.depth -= 1

    def assign_existing(self) -> None:
        self.put(f"{self.pick('S')} = {self.scalar()}")

    def other(self) -> None:
        r = self.r
        k = r.randint(0, 12)
        if k <= 1:
            name = self.fresh("L")
            text = r.choice(
                [
                    lambda: f"[{self.scalar(1)}, {self.scalar(1)}]",
                    lambda: (
                        f"[{self.bound('e', lambda: self.scalar(1))} for e in {self.pick('V')}]"
                    ),
                    lambda: f"[{self.pick('S')} * j for j in range(3)]",
                ]
            )()
            self.put(f"{name} = {text}")
            self.names["L"].append(name)
        elif k <= 3 and self.names["L"]:
            name = self.pick("L")
            if r.random() < 0.6:
                self.put(f"{name}.append({self.scalar()})")
            else:
                self.put(
                    f"{name}[{r.choice(['0', '1', '-1'])}] {r.choice(['=', '+='])} {self.scalar()}"
                )
        elif k == 4:
            name = self.fresh("D")
            self.put(f'{name} = {{"a": {self.scalar(1)}, "b": {self.scalar(1)}}}')
            self.names["D"].append(name)
        elif k == 5 and self.names["D"]:
            self.put(
                f'{self.pick("D")}["{r.choice("ab")}"] {r.choice(["=", "+="])} {self.scalar()}'
            )
        elif k == 6:
            a, b = self.pick("S"), self.pick("S")
            if a != b:
                self.put(f"{a}, {b} = {b}, {a}")
        elif k == 7:
            a, b = self.fresh("S"), self.fresh("S") + "q"
            self.put(f"{a}, {b} = long({self.scalar(1)}, {r.randint(0, 5)})")
            self.names["S"] += [a, b]
        elif k == 8:
            name = self.fresh("F")
            body = self.bound("z", lambda: self.scalar(2))
            self.put(f"{name} = lambda z: {body}")
            self.names["F"].append(name)
        elif k == 9:
            name = self.fresh("F")
            body = self.bound("z", lambda: self.scalar(2))
            test = self.bound("z", self.test)
            self.put(f"def {name}(z):")
            self.put(f"    if {test}:")
            self.put(f"        return {self.scalar(1)}")
            self.put(f"    return {body}")
            self.names["F"].append(name)
        elif k == 10:
            name = self.fresh("S")
            self.put(f"if ({name} := {self.scalar(1)}) > 0.2:")
            self.inside(1)
            self.names["S"].append(name)
        elif k == 11:
            a, b = self.fresh("S"), self.fresh("S") + "q"
            self.put(f"{a}, *{b} = {self.pick('V')}")
            self.put(f"{a} = {a} + {b}[0] * {b}[1]")
            self.names["S"].append(a)
        else:
            a = self.pick("S")
            self.put(f"{a} {r.choice(['+=', '*=', '-='])} {self.scalar()}")

    def statement(self) -> None:
        p = self.r.random()
        deep = self.depth >= 2
        if p < 0.35 or deep and p < 0.5:
            self.assign()
        elif p < 0.55:
            self.inplace()
        elif p < 0.63 and not deep:
            self.branch()
        elif p < 0.77 and not deep:
            self.loop()
        elif p < 0.83 and (self.depth or self.r.random() < 0.5):
            self.exit()
        else:
            self.other()

    def write(self) -> str:
        self.names["S"] += ["s"]
        self.names["V"] += ["x"]
        self.names["M"] += ["A"]
        self.lines = []
        for _ in range(self.r.randint(2, 7)):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, s):\n" + "\n".join(self.lines) + "\n"

    def result(self) -> str:
        parts = [self.pick("S"), f"np.sum({self.pick('V')} * W)"]
        if self.r.random() < 0.5:
            parts.append(f"{self.pick('M')}.mean()")
        if self.names["L"]:
            parts.append(f"sum({self.pick('L')})")
        return " + ".join(parts)


def arguments(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), rng.normal(size=(3, 3)) * 0.6, float(rng.normal())


def load(text: str, path: Path, name: str) -> ModuleType:
    file = path / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def call(f, flat: np.ndarray) -> float:
    return float(f(flat[:3].copy(), flat[3:12].reshape(3, 3).copy(), float(flat[12])))


def differences(f, flat: np.ndarray, step: float) -> np.ndarray:
    out = np.empty(len(flat))
    for k in range(len(flat)):
        up, down = flat.copy(), flat.copy()
        up[k] += step
        down[k] -= step
        out[k] = (call(f, up) - call(f, down)) / (2 * step)
    return out


def judge(f, seed: int) -> tuple[str, str]:
    """One of skip, right, refused, wrong, crash; and what was seen."""
    x, A, s = arguments(seed)
    flat = np.concatenate([x, A.ravel(), [s]])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = call(f, flat)
            coarse = differences(f, flat, 1e-4)
            fine = differences(f, flat, 1e-5)
        except (
            IndexError,
            ValueError,
            OverflowError,
            UnboundLocalError,
            TypeError,
        ) as e:
            return "skip", f"the program itself: {e!r}"
        scale = 1 + np.abs(fine).max()
        if not math.isfinite(value) or not np.isfinite(fine).all() or scale > 1e6:
            return "skip", "large"
        if np.abs(coarse - fine).max() > 1e-5 * scale or abs(value) > 1e7:
            return "skip", "not smooth here"
        try:
            got = srcjax.value_and_grad(f, (0, 1, 2))(x.copy(), A.copy(), s)
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    y, (dx, dA, ds) = got
    flat_got = np.concatenate([np.ravel(dx), np.ravel(dA), np.ravel(ds)])
    if flat_got.shape != fine.shape:
        return "wrong", f"shapes {np.shape(dx)} {np.shape(dA)} {np.shape(ds)}"
    if not np.isclose(y, value, rtol=1e-9, atol=1e-9):
        return "wrong", f"value {y}, not {value}"
    # A comparison of the error with the size of what was summed, as cancellation hurts
    # the differences and not the derivative.
    error = np.abs(flat_got - fine).max() / (scale + abs(value))
    if not error < 2e-5:
        return "wrong", f"{flat_got}\n   not {fine}"
    return "right", ""


# Forward mode, and second derivatives -----------------------------------------


def tangent_along(f, direction):
    """The derivative of `f` along the direction, as a function of its arguments."""

    def tangent(x, A, s):
        return srcjax.jvp(f, (x, A, s), direction)[1]

    return tangent


def projected_gradient(f, direction):
    """The same by reverse mode."""
    gradient = srcjax.grad(f, (0, 1, 2))
    x_dot, A_dot, s_dot = direction

    def projected(x, A, s):
        dx, dA, ds = gradient(x, A, s)
        return np.sum(dx * x_dot) + np.sum(dA * A_dot) + ds * s_dot

    return projected


def project(gradients, direction) -> float:
    return float(sum(np.sum(g * d) for g, d in zip(gradients, direction, strict=True)))


def reverse_over_reverse(f, args, v):
    return project(srcjax.grad(projected_gradient(f, v), (0, 1, 2))(*args), v)


def forward_over_reverse(f, args, v):
    gradient = srcjax.grad(f, (0, 1, 2))
    return project(srcjax.jvp(gradient, args, v)[1], v)


def reverse_over_forward(f, args, v):
    return project(srcjax.grad(tangent_along(f, v), (0, 1, 2))(*args), v)


def forward_over_forward(f, args, v):
    return float(srcjax.jvp(tangent_along(f, v), args, v)[1])


SECOND = {
    each.__name__: each
    for each in (
        forward_over_forward,
        forward_over_reverse,
        reverse_over_forward,
        reverse_over_reverse,
    )
}


def judge_modes(f, seed: int, nested: bool) -> dict[str, tuple[str, str]]:
    """A verdict for the tangent and, if `nested`, each nesting of two derivatives.

    For a program whose gradient was judged right. The tangent is that gradient along a
    direction, to rounding; and all the second derivatives along it are the same number.
    """
    args = arguments(seed)
    rng = np.random.default_rng(seed + 1)
    v = (rng.normal(size=3), rng.normal(size=(3, 3)), float(rng.normal()))
    verdicts: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gradients = srcjax.grad(f, (0, 1, 2))(*args)
        first = project(gradients, v)
        scale = 1 + sum(float(np.sum(np.abs(g))) for g in gradients)
        verdict, seen, found = attempt(lambda: srcjax.jvp(f, args, v)[1])
        if found is not None and not abs(found - first) <= 1e-9 * scale:
            verdict, seen = "wrong", f"{found}, not {first}"
        verdicts["jvp"] = verdict, seen
        numbers = {}
        for name, derivative in SECOND.items() if nested else ():
            verdict, seen, found = attempt(lambda d=derivative: d(f, args, v))
            verdicts[name] = verdict, seen
            if found is not None:
                numbers[name] = found
        if not numbers:
            return verdicts
        expected, trusted = second_difference(f, args, v)
    if not trusted:  # a kink or a pole is near; but the modes have to agree
        expected = sorted(numbers.values())[len(numbers) // 2]
    size = max(map(abs, [expected, first, scale]))
    agreed = sorted(numbers.values())[(len(numbers) - 1) // 2]
    for name, found in numbers.items():
        if trusted and not abs(found - expected) <= 1e-4 * size:
            verdicts[name] = "wrong", f"{found}, by differences {expected}"
        elif math.isfinite(agreed) and not abs(found - agreed) <= 1e-8 * size:
            verdicts[name] = "wrong", f"{found}, but others {agreed}"
    return verdicts


def attempt(derivative) -> tuple[str, str, float | None]:
    try:
        return "right", "", float(derivative())
    except SrcjaxError as error:
        return "refused", str(error), None
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}", None


def second_difference(f, args, v) -> tuple[float, bool]:
    """The second derivative along `v` by differences of gradients; can it be trusted?"""
    gradient = srcjax.grad(f, (0, 1, 2))

    def slope(step: float) -> float:
        up = project(gradient(*(a + step * b for a, b in zip(args, v, strict=True))), v)
        down = project(
            gradient(*(a - step * b for a, b in zip(args, v, strict=True))), v
        )
        return (up - down) / (2 * step)

    try:
        coarse, fine = slope(1e-4), slope(1e-5)
    except Exception:  # another path through the program
        return math.nan, False
    return fine, abs(coarse - fine) <= 1e-5 * (1 + abs(fine))


def judge_vmap(f, seed: int) -> tuple[str, str]:
    """A verdict for a batch of three: the values of a loop over the examples."""
    args = arguments(seed)
    examples = [[a * np.float64(factor) for a in args] for factor in (1.0, 1.3, 0.6)]
    batch = [np.stack(parts) for parts in zip(*examples, strict=True)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = np.array([float(f(*copy.deepcopy(e))) for e in examples])
        except Exception as error:
            return "skip", f"the loop over the examples: {error!r}"
        if not np.isfinite(expected).all() or np.abs(expected).max() > 1e7:
            return "skip", "large"
        try:
            got = srcjax.vmap(f)(*batch)
        except SrcjaxError as error:
            return "refused", str(error)
        except Exception as error:
            return "crash", f"{type(error).__name__}: {error}"
    if np.shape(got) != (3,) or not np.allclose(got, expected, rtol=1e-8, atol=1e-9):
        return "wrong", f"{got}, not {expected}"
    return "right", ""


def program(seed: int) -> str:
    return Writer(seed).write()


def run(seed: int, path: Path) -> tuple[dict[str, tuple[str, str]], str]:
    """The verdicts by mode, and the program."""
    text = program(seed)
    name = f"random_program_{seed}"
    try:
        f = load(HEAD + "\n" + text, path, name).f
        verdicts = {"grad": judge(f, seed)}
        if verdicts["grad"][0] == "right":
            short = text.count("\n") <= LINES
            verdicts |= judge_modes(f, seed, short)
            if short:
                verdicts["vmap"] = judge_vmap(f, seed)
        return verdicts, text
    finally:
        sys.modules.pop(name, None)


TALLY: dict[str, Counter[str]] = {}


@pytest.mark.parametrize("block", range(FIRST // BLOCK, (FIRST + COUNT) // BLOCK))
def test_random_programs(block: int, tmp_path: Path) -> None:
    bad = []
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        verdicts, text = run(seed, tmp_path)
        for mode, (verdict, seen) in verdicts.items():
            TALLY.setdefault(mode, Counter())[verdict] += 1
            if verdict in ("wrong", "crash"):
                bad.append(f"seed {seed}, {mode}: {verdict}: {seen}\n{text}")
    assert not bad, "\n\n".join(bad)


def test_few_programs_are_refused() -> None:
    for mode, tally in TALLY.items():
        judged = sum(n for verdict, n in tally.items() if verdict != "skip")
        if judged < 30:
            pytest.skip("too few programs ran here")
        assert tally["refused"] <= REFUSED * judged, (mode, tally)
