# ruff: noqa: E501
"""A random program from a seed: scalars, vectors, matrices, containers, loops, exits."""

from __future__ import annotations

import random

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

    def __init__(self, seed: int, n: int = 3) -> None:
        self.r = random.Random(seed)
        self.n = n  # the length of the vectors that are given
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
        taken = {name for names in self.names.values() for name in names}
        odd = [name for name in self.odd_names(kind) if name not in taken]
        if odd and self.r.random() < 0.25:
            return self.r.choice(odd)
        return f"{kind.lower()}{self.count}"

    def odd_names(self, kind: str) -> list[str]:
        """Names that generated code might want for itself."""
        return {
            "S": ["dx", "dy", "saved", "x_tape", "y_saved", "carry", "total", "ds"],
            "V": ["dA", "dv", "out", "x_old", "buffer", "dw"],
            "M": ["B_tape", "dB", "dM"],
        }.get(kind, [])

    def pick(self, kind: str) -> str:
        return self.r.choice(self.names[kind])

    def index(self) -> str:
        choices = ["0", "1", "2", "-1"] if self.n == 3 else ["0", "-1"]
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
        for _ in range(self.statements()):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, s):\n" + "\n".join(self.lines) + "\n"

    def statements(self) -> int:
        return self.r.randint(2, 7)

    def result(self) -> str:
        parts = [self.pick("S"), f"np.sum({self.pick('V')} * W)"]
        if self.r.random() < 0.5:
            parts.append(f"{self.pick('M')}.mean()")
        if self.names["L"]:
            parts.append(f"sum({self.pick('L')})")
        return " + ".join(parts)
