# ruff: noqa: E501
"""Random programs with few names, each of which holds one thing after another.

    i = 2
    s = s * x[i]
    for i in range(3):
        e = [i for i in range(4) if i > 1]
        s = s + x[i] * e[0]
    return s * x[i]

A number that a loop visits is read before the loop, in it and after it; comprehensions,
functions inside, branches and `try` bind the same names again; loops go over what their
own variable held.
"""

from __future__ import annotations

from tests.programs.grammar import Writer

NAMES_HEAD = """\
import numpy as np


def places(n):
    i = [i for i in range(n) if i != 1]
    return i


def along(x, i):
    s = 0.0
    for i in range(i):
        s = s + x[i] * (i + 1)
    return s * x[i % len(x)]

"""

#: Names of whole numbers, and of real ones. All of them are bound before they are read.
WHOLE = ("i", "j", "n")
REAL = ("s", "v", "c")


class NamesWriter(Writer):
    """Writes one function from a seed; see the module."""

    def write(self) -> str:
        self.lines: list[str] = []
        for name in WHOLE:
            self.put(f"{name} = {self.r.randint(0, 2)}")
        for name in REAL:
            self.put(f"{name} = {self.real(1)}")
        self.loops = 0
        for _ in range(self.r.randint(2, 5)):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, t):\n" + "\n".join(self.lines) + "\n"

    def whole(self) -> str:
        """A whole number from 0 to 2."""
        r = self.r
        i = r.choice(WHOLE)
        forms = [i, i, i, "2 - {0}", "({0} + 1) % 3", "max({0}, 1)", "{0} // 2"]
        return r.choice(forms).format(i)

    def real(self, depth: int = 0) -> str:
        """A number, of moderate size."""
        r = self.r
        if depth:
            return r.choice([f"x[{self.whole()}]", "t", "0.5", "x[0] * t", "1.0"])
        a, b = (r.choice([*REAL, f"x[{self.whole()}]"]) for _ in range(2))
        forms = [
            f"np.sin({a}) * x[{self.whole()}]",
            f"{a} * x[{self.whole()}]",
            f"{a} + 0.5 * x[{self.whole()}] * {b}",
            f"np.tanh({a} * {b})",
            f"{a} * {b} + t",
            f"np.cos({a}) + {self.whole()}",
            f"along(x, {self.whole()}) * {a}",
            f"{a} * x[{self.whole()}] ** 2",
        ]
        return f"0.9 * ({r.choice(forms)})"

    def statement(self) -> None:
        r = self.r
        whole, real = r.choice(WHOLE), r.choice(REAL)
        kinds = ["real"] * 4 + ["whole"] * 2 + ["comprehension", "branch", "update"]
        if self.depth < 3 and self.loops < 4:
            kinds += ["loop"] * 4 + ["items", "while", "try"]
        kind = r.choice(kinds)
        if kind == "real":
            self.put(f"{real} = {self.real()}")
        elif kind == "update":
            self.put(f"{real} {r.choice(['+=', '*='])} {self.real()}")
        elif kind == "whole":
            self.put(f"{whole} = {self.whole()}")
        elif kind == "comprehension":
            self.comprehension(whole, real)
        elif kind == "branch":
            self.branch()
        elif kind == "try":
            self.attempt(whole)
        else:
            self.loops += 1
            self.loop(kind, whole, real)

    def comprehension(self, whole: str, real: str) -> None:
        r, w, v = self.r, self.r.choice(WHOLE), self.r.choice(REAL)
        forms = [
            f"{whole} = [{w} for {w} in range(3) if {w} > 0][{r.randint(0, 1)}]",
            f"{whole} = max({w} for {w} in range({self.whole()} + 1))",
            f"{whole} = places(3)[{r.randint(0, 1)}]",
            f"{whole} = sum([{w} for {w} in (0, 1)])",
            f"{whole} = {{{w}: 2 - {w} for {w} in range(3)}}[{self.whole()}]",
            f"{real} = sum([{v} * t for {v} in x[:2]])",
            f"{real} = [{v} ** 2 for {v} in x][{self.whole()}]",
            f"{real} = sum(x[{w}] * {w} for {w} in range({self.whole()}))",
            f"{real} = (lambda {v}: {v} * x[{self.whole()}])({self.real()})",
            f"{real} = {real} * any({w} > 1 for {w} in (0, {self.whole()})) + t",
        ]
        self.put(r.choice(forms))

    def branch(self) -> None:
        test = (
            f"{self.whole()} {self.r.choice(['>', '<', '=='])} {self.r.randint(0, 2)}"
        )
        if self.r.random() < 0.5:
            test = f"{self.r.choice(REAL)} > {self.r.choice(['0.2', 't', 'x[1]'])}"
        self.put(f"if {test}:")
        self.inside()
        if self.r.random() < 0.5:
            self.put("else:")
            self.inside()

    def attempt(self, whole: str) -> None:
        self.put("try:")
        self.depth += 1
        self.statement()
        self.put(f"{self.r.choice(REAL)} = x[{self.whole()} + {self.r.randint(0, 3)}]")
        self.depth -= 1
        self.put("except IndexError:")
        self.depth += 1
        self.put(f"{whole} = {self.whole()}")
        self.depth -= 1

    def loop(self, kind: str, whole: str, real: str) -> None:
        r = self.r
        left = r.random() < 0.25
        if kind == "while":
            self.count += 1
            self.put(f"w{self.count} = 3")
            self.put(f"while {whole} > 0 and w{self.count}:")
            self.inside(f"w{self.count} -= 1")
            return
        if kind == "items":
            heads = [
                f"for {real} in x[:{self.whole()}]:",
                f"for {whole}, {real} in enumerate(x[:{r.randint(1, 3)}]):",
                f"for {real}, {r.choice(['w', 'c'])} in zip(x, x[1:]):",
                f"for {whole} in places({r.randint(2, 3)}):",
                f"for {real} in [0.5 * {real} for {real} in x[1:]]:",
            ]
        else:
            heads = [
                f"for {whole} in range({r.randint(1, 3)}):",
                f"for {whole} in range({self.whole()}):",
                f"for {whole} in range({whole}):",
                f"for {whole} in range({self.whole()}, -1, -1):",
                f"for {whole} in reversed(range({r.randint(1, 3)})):",
            ]
        self.put(r.choice(heads))
        if left:
            self.put(
                f"    if {r.choice([f'{self.whole()} > 1', f'{self.real()} > 0.4'])}:"
            )
            self.put(f"        {r.choice(['break', 'break', 'continue'])}")
        self.inside()
        if left and r.random() < 0.4:
            self.put("else:")
            self.inside()

    def inside(self, last: str | None = None) -> None:
        """Statements of a block."""
        self.depth += 1
        for _ in range(self.r.randint(1, 3)):
            self.statement()
        if last is not None:
            self.put(last)
        self.depth -= 1

    def result(self) -> str:
        w, v = self.r.choice(WHOLE), self.r.choice(REAL)
        return self.r.choice(
            [
                f"{v} * x[{w}] + s + c",
                f"s * x[{w}] + np.sin(v)",
                "s + v * c",
                "s + 0.5 * v + 0.25 * c",
            ]
        )
