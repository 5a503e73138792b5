# ruff: noqa: E501
"""Short random programs with several effects in one statement.

What is evaluated before what shows in numbers: stacks that are popped and pushed,
closures and objects that count, generators that are consumed a part at a time, arrays
that are written by what is asked of them, names that are bound inside of expressions;
in operands, arguments, displays, indices, targets, conditions, defaults, decorators,
comprehensions, loops and `try`.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.grammar import HEAD, Writer

ORDER_HEAD = (
    HEAD
    + '''
class Tally:
    """A number that changes when it is asked."""

    def __init__(self, total):
        self.total = total
        self.calls = 0

    def add(self, u):
        self.calls += 1
        self.total = self.total * 0.5 + u
        return self.total

    def count(self):
        self.calls += 1
        return 0.4 * self.calls

    @property
    def following(self):
        self.calls += 1
        self.total = np.sin(self.total) + 0.3
        return self.total

    def __enter__(self):
        self.total = self.total * 1.5
        return self

    def __exit__(self, *_):
        self.total = self.total + 0.2
        return False


def bump(v, u):
    v[0] = v[0] * 0.5 + u
    return v[-1] + 2.0 * v[0]


def written(v, k):
    v *= k
    return v


def put_on(stack, u):
    stack.append(u * 1.5)
    return u * 0.7


def mix(a, b=0.5, *more, c=1.5, **others):
    total = a + 2.0 * b + 3.0 * c
    for k, e in enumerate(more):
        total = total + (k + 4) * e
    for key in others:
        total = total + 0.5 * others[key]
    return total


def rising(u):
    n = u

    def following(k=0.5):
        nonlocal n
        n = np.sin(n) + k
        return n

    return following


def counting():
    n = 0.3

    def following(by=1.0):
        nonlocal n
        n = 0.5 * n + by
        return n

    return following


def places(start):
    k = start

    def place():
        nonlocal k
        k = (k + 1) % 3
        return k

    return place


def halves(u):
    for k in range(9):
        u = u * 0.5 + 0.1 * k
        yield u


def times(k):
    def decorate(g):
        def scaled(u):
            return g(u) * k

        return scaled

    return decorate

'''
)

#: How each kind of state is made of a number; and what it is called.
MADE = {
    "K": "[{0} * (1.0 + 0.3 * k) for k in range(6)]",
    "T": "Tally({0})",
    "C": "rising({0})",
    "Q": "counting()",
    "I": "places({i})",
    "G": "halves({0})",
    "E": "iter([0.4, 0.7, 0.9, 0.5, 1.2, 0.3, 0.8])",
    "D": '{{"a": {0}, "b": 0.5, "c": {0} * {0}}}',
    "V": "x * {0}",
}


class OrderWriter(Writer):
    """Writes one function from a seed; see the module."""

    def __init__(self, seed: int, n: int = 3) -> None:
        super().__init__(seed, n)
        self.names |= {kind: [] for kind in "KTCQIGED"}

    def odd_names(self, kind: str) -> list[str]:
        return []

    # Expressions -----------------------------------------------------------

    def leaf(self) -> str:
        r = self.r
        reads: list[Callable[[], str]] = [
            lambda: self.pick("S"),
            lambda: self.pick("S"),
            lambda: f"x[{self.index()}]",
            self.const,
        ]
        for kind, forms in self.reads().items():
            if self.names[kind]:
                reads += [lambda k=kind, f=forms: r.choice(f).format(self.pick(k))]
        return r.choice(reads)()

    def reads(self) -> dict[str, list[str]]:
        """What shows what effects have left."""
        return {
            "K": ["{0}[-1]", "len({0})", "{0}[0]", "sum({0})"],
            "T": ["{0}.total", "{0}.calls", "{0}.total"],
            "D": ['{0}.get("a", 0.2)', "len({0})"],
            "V": ["{0}[0]", "{0}[-1]", "{0}.sum()", "{0}[1:].sum()"],
        }

    def effect(self, d: int) -> str:
        """A number, and something that is another afterwards."""
        s = lambda: self.scalar(d - 1)  # noqa: E731
        forms: list[Callable[[], str]] = []
        of = {
            "K": [
                lambda n: f"{n}.pop()",
                lambda n: f"{n}.pop(0)",
                lambda n: f"put_on({n}, {s()})",
                lambda n: f"({n}.append({s()}) or {self.leaf()})",
                lambda n: f"{n}.pop({self.r.choice(['-1', '-2', '1'])})",
            ],
            "T": [
                lambda n: f"{n}.add({s()})",
                lambda n: f"{n}.add({s()})",
                lambda n: f"{n}.count()",
                lambda n: f"{n}.following",
            ],
            "C": [
                lambda n: f"{n}()",
                lambda n: f"{n}({s()})",
                lambda n: f"{n}(k={s()})",
            ],
            "Q": [lambda n: f"{n}()", lambda n: f"{n}({self.const()})"],
            "G": [lambda n: f"next({n})", lambda n: f"next({n}, {s()})"],
            "E": [lambda n: f"next({n})"],
            "I": [lambda n: f"x[{n}()]", lambda n: f"A[{n}(), {n}()]"],
            "D": [
                lambda n: f'{n}.pop("{self.key()}", {s()})',
                lambda n: f'{n}.setdefault("{self.key()}", {s()})',
            ],
            "V": [
                lambda n: f"bump({n}, {s()})",
                lambda n: f"written({n}, {s()})[{self.index()}]",
                lambda n: f"{n}[{self.place()}]",
            ],
        }
        for kind, makers in of.items():
            if self.names[kind]:
                forms += [
                    lambda k=kind, m=makers: self.r.choice(m)(self.pick(k))  # type: ignore[misc]
                ] * 2
        if not self.local:
            forms += [lambda: self.walrus(d)]
        return self.r.choice(forms)() if forms else self.leaf()

    def key(self) -> str:
        return self.r.choice("abce")

    def walrus(self, d: int) -> str:
        old = [n for n in self.names["S"] if n not in ("s", "e")]
        if old and self.r.random() < 0.6:
            return f"({self.r.choice(old)} := {self.scalar(d - 1)})"
        value = self.scalar(d - 1)
        name = self.fresh("S")
        if not self.maybe:
            self.names["S"].append(name)
        return f"({name} := {value})"

    #: Inside what is not always evaluated, where a new name may stay unbound.
    maybe = 0

    def perhaps(self, d: int) -> str:
        self.maybe += 1
        try:
            return self.scalar(d)
        finally:
            self.maybe -= 1

    def place(self) -> str:
        """An index, mostly one that counts."""
        if self.names["I"] and self.r.random() < 0.7:
            return f"{self.pick('I')}()"
        return self.index()

    def scalar(self, d: int = 2) -> str:
        r = self.r
        if d <= 0:
            return self.leaf()
        if r.random() < 0.5:
            return self.effect(d)
        s = lambda: self.scalar(d - 1)  # noqa: E731
        m = lambda: self.perhaps(d - 1)  # noqa: E731
        forms = [
            lambda: f"({s()} + {s()})",
            lambda: f"({s()} - {s()})",
            lambda: f"{s()} * ({s()})",
            lambda: f"({s()}) / (2 + ({s()}) ** 2)",
            lambda: f"np.sin({s()})",
            lambda: f"np.tanh({s()} - {s()} * {s()})",
            lambda: f"({m()} if {self.test()} else {m()})",
            lambda: f"({s()} and {m()})",
            lambda: f"({s()} or {m()})",
            lambda: f"({self.test()}) * ({m()})",
            lambda: f"max({s()}, {s()})",
            lambda: f"small({s()}, {s()})",
            lambda: f"mix({self.arguments(d)})",
            lambda: f"[{s()}, {s()}, {s()}][{self.place()}]",
            lambda: f"({s()}, {s()})[{r.choice(['0', '1', '-1'])}]",
            lambda: f'{{"a": {s()}, "b": {s()}, "a": {s()}}}["{r.choice("ab")}"]',
            lambda: f"sum([{s()}, {s()}])",
            lambda: f"sum([{self.inside_of(d)} for e in {self.several(d)}])",
            lambda: f"sum({self.inside_of(d)} for e in {self.several(d)})",
            lambda: f"(lambda u, k={s()}: u * k)({s()})",
            lambda: f"np.array([{s()}, {s()}])[{r.choice(['0', '1', ':'])}].sum()",
            lambda: f"np.dot(np.array([{s()}, {s()}]), [{s()}, {s()}])",
            lambda: self.formatted(s(), s()),
            lambda: f"x[{self.place()} : {self.place()}].sum()",
            lambda: f"float(not {s()})",
            lambda: f"-({s()})",
        ]
        return r.choice(forms)()

    def formatted(self, first: str, second: str) -> str:
        if any(c in first + second for c in "\"'{"):  # no f-string in an f-string
            return f'len("%5.1f%6.1f" % ({first}, {second}))'
        return f'len(f"{{{first}:5.1f}}{{{second}:6.1f}}")'

    def arguments(self, d: int) -> str:
        s = lambda: self.scalar(d - 1)  # noqa: E731
        return self.r.choice(
            [
                lambda: f"{s()}, {s()}",
                lambda: f"{s()}, c={s()}, b={s()}",
                lambda: f"c={s()}, a={s()}",
                lambda: f"*[{s()}, {s()}], {s()}",
                lambda: f"{s()}, *({s()}, {s()}), c={s()}",
                lambda: f'{s()}, **{{"c": {s()}, "b": {s()}}}',
                lambda: f"{s()}, d={s()}, c={s()}, e={s()}",
                lambda: f"{s()}, {s()}, {s()}, {s()}",
            ]
        )()

    def inside_of(self, d: int) -> str:
        """The element of a comprehension."""
        self.local += 1
        try:
            return self.bound("e", lambda: f"e * ({self.scalar(d - 1)})")
        finally:
            self.local -= 1

    def several(self, d: int) -> str:
        self.local += 1
        try:
            s = lambda: self.scalar(d - 1)  # noqa: E731
            forms = [lambda: f"({s()}, {s()})", lambda: "x", lambda: f"[{s()}, {s()}]"]
            if self.names["K"]:
                forms += [lambda: f"{self.pick('K')}[:2]"]
            if self.names["V"]:
                forms += [lambda: self.pick("V")]
            return self.r.choice(forms)()
        finally:
            self.local -= 1

    def vector(self, d: int = 2) -> str:
        s = lambda: self.scalar(d - 1)  # noqa: E731
        forms = [
            lambda: f"x * ({s()})",
            lambda: f"np.array([{s()}, {s()}, {s()}])",
            lambda: f"np.array([{self.inside_of(d)} for e in x])",
            lambda: f"A[{self.place()}] + {s()}",
        ]
        if self.names["V"]:
            forms += [
                lambda: f"written({self.pick('V')}, {s()}) * {s()}",
                lambda: f"{self.pick('V')} * {s()} + {self.pick('V')}",
                lambda: f"{self.pick('V')}[::-1] + {s()}",
            ]
        return self.r.choice(forms)()

    def test(self) -> str:
        s, m = (lambda: self.scalar(1)), (lambda: self.perhaps(1))
        op = lambda: self.r.choice(["<", ">", "<=", ">="])  # noqa: E731
        return self.r.choice(
            [
                lambda: f"{s()} {op()} {self.const()}",
                lambda: f"{s()} {op()} {s()}",
                lambda: f"{s()} {op()} {s()} {op()} {m()}",
                lambda: f"{self.const()} {op()} {s()} {op()} {m()}",
                lambda: f"{s()} {op()} {self.const()} or {m()} {op()} {s()}",
                lambda: (
                    f"{s()} {op()} {self.const()} and not {m()} {op()} {self.const()}"
                ),
            ]
        )()

    # Statements ------------------------------------------------------------

    def state(self, kind: str) -> None:
        self.count += 1
        name = f"{kind.lower()}{self.count}"
        value = self.r.choice([self.pick("S"), self.pick("S"), self.const()])
        if kind == "V":
            value = self.r.choice(["1.0", self.pick("S")])
        self.put(f"{name} = {MADE[kind].format(value, i=self.r.randint(-1, 1))}")
        self.names[kind].append(name)

    def new(self) -> str:
        """The name of a number, mostly a new one; `settle` makes it known."""
        old = [n for n in self.names["S"] if n != "e"]
        return self.r.choice(old) if self.r.random() < 0.35 else self.fresh("S")

    def settle(self, *names: str) -> None:
        self.names["S"] += [n for n in names if n not in self.names["S"]]

    def target(self) -> str:
        """Where a number may be assigned to."""
        forms = [self.new] * 2
        if self.names["V"]:
            forms += [lambda: f"{self.pick('V')}[{self.place()}]"] * 2
        if self.names["K"]:
            forms += [
                lambda: f"{self.pick('K')}[{self.place()}]",
                lambda: f"{self.pick('K')}[-1]",
            ]
        if self.names["D"]:
            forms += [
                lambda: f'{self.pick("D")}["{self.key()}"]',
                lambda: f'{self.pick("D")}["{self.key()}"]',
            ]
        if self.names["T"]:
            forms += [lambda: f"{self.pick('T')}.total"]
        return self.r.choice(forms)()

    def statement(self) -> None:
        forms = [
            self.plain,
            self.plain,
            self.updated,
            self.updated,
            self.at_once,
            self.at_once,
            self.chained,
            self.starred,
            self.vectors,
            self.for_effect,
            self.nested_function,
        ]
        if self.depth < 2:
            forms += [self.conditional, self.conditional, self.looped, self.looped]
            forms += [self.attempted, self.managed] if self.r.random() < 0.3 else []
        self.r.choice(forms)()

    def plain(self) -> None:
        value, target = self.scalar(self.r.choice([2, 2, 3])), self.target()
        self.put(f"{target} = {value}")
        self.settle_target(target)

    def settle_target(self, *targets: str) -> None:
        self.settle(*(t for t in targets if t.isidentifier()))

    def updated(self) -> None:
        target = self.target()
        if target.isidentifier() and target not in self.names["S"]:
            target = self.pick("S")
        self.put(f"{target} {self.r.choice(['+=', '-=', '*='])} {self.scalar(2)}")

    def at_once(self) -> None:
        """`a, v[i()] = ..., ...`"""
        count = self.r.choice([2, 2, 3])
        values = [self.scalar(2) for _ in range(count)]
        targets = [self.target() for _ in range(count)]
        if self.names["I"] and self.names["V"] and self.r.random() < 0.3:
            k = f"k{self.count}"
            targets[:2] = [k, f"{self.pick('V')}[{k}]"]
            values[0] = f"{self.pick('I')}()"
        form = ", ".join(targets)
        if count == 3 and self.r.random() < 0.3:
            form = f"({targets[0]}, {targets[1]}), {targets[2]}"
            self.put(f"{form} = ({values[0]}, {values[1]}), {values[2]}")
        else:
            self.put(f"{form} = {', '.join(values)}")
        self.settle_target(*(t for t in targets if not t.startswith("k")))

    def chained(self) -> None:
        value = self.scalar(2)
        targets = [self.target(), self.target()]
        self.put(f"{' = '.join(targets)} = {value}")
        self.settle_target(*targets)

    def starred(self) -> None:
        values = ", ".join(self.scalar(2) for _ in range(3))
        a, rest = self.fresh("S"), self.fresh("S") + "q"
        form = self.r.choice([f"{a}, *{rest}", f"*{rest}, {a}"])
        self.put(f"{form} = {values}")
        self.put(f"{a} = {a} + {rest}[0] * {rest}[1]")
        self.settle(a)

    def vectors(self) -> None:
        value = self.vector(2)
        if self.names["V"] and self.r.random() < 0.6:
            v = self.pick("V")
            form = self.r.choice(
                [
                    lambda: f"{v} = {value}",
                    lambda: f"{v} += {value}",
                    lambda: f"{v}[:] = {value}",
                    lambda: f"{v}[{self.place()}:] = {self.scalar(2)}",
                    lambda: f"{v}[{self.place()}:] += {self.scalar(2)}",
                    lambda: f"{v}[[{self.place()}, {self.place()}]] = {self.scalar(2)}",
                    lambda: f"np.add({v}, {value}, out={v})",
                    lambda: (
                        f"np.multiply({v}, {self.scalar(2)}, out=written({v}, {self.scalar(1)}))"
                    ),
                ]
            )
            self.put(form())
            return
        name = self.fresh("V")
        self.put(f"{name} = {value}")
        self.names["V"].append(name)

    def for_effect(self) -> None:
        s = lambda: self.scalar(2)  # noqa: E731
        of: dict[str, list[Callable[[str], str]]] = {
            "K": [
                lambda n: f"del {n}[{self.place()}]",
                lambda n: f"{n} += [{s()}, {s()}]",
                lambda n: f"{n}.extend([{s()}, {s()}])",
                lambda n: f"{n}.insert({self.place()}, {s()})",
                lambda n: f"{n}[{self.place()}:2] = [{s()}]",
                lambda n: f"{n}.append({s()})",
                lambda n: f"{n}.reverse()",
            ],
            "D": [
                lambda n: f"{n}.update(a={s()}, e={s()})",
                lambda n: f'{n} = {{**{n}, "b": {s()}}}',
                lambda n: f'{n}["{self.key()}"] = {n}.pop("{self.key()}", {s()})',
            ],
            "T": [lambda n: f"{n}.add({s()})"],
            "C": [lambda n: f"{n}({s()})"],
            "G": [lambda n: f"next({n})"],
            "V": [lambda n: f"bump({n}, {s()})", lambda n: f"written({n}, {s()})"],
        }
        held = [kind for kind in of if self.names[kind]]
        if not held:
            return self.put(f"assert {s()} != 77")
        kind = self.r.choice(held)
        return self.put(self.r.choice(of[kind])(self.pick(kind)))

    def nested_function(self) -> None:
        self.count += 1
        f, s = f"f{self.count}", self.fresh("S")
        kind = self.r.choices([0, 1, 2, 3], [3, 1, 3, 3])[0]
        if kind == 0:
            self.put(f"def {f}(u, k={self.scalar(2)}, *, j={self.scalar(1)}):")
            self.put("    return u * k + j")
            call = f"{f}({self.scalar(1)}) + {f}({self.scalar(1)}, j={self.scalar(1)})"
        elif kind == 1:
            self.put(f"@times({self.scalar(2)})")
            if self.r.random() < 0.5:
                self.put(f"@times({self.scalar(1)})")
            self.put(f"def {f}(u):")
            self.put(f"    return u * {self.const()}")
            call = f"{f}({self.scalar(1)})"
        elif kind == 2:
            self.put(f"{f} = lambda u, k={self.scalar(2)}: u - k")
            self.put(f"{self.pick('S')} = {self.scalar(1)}")
            call = f"{f}({self.scalar(1)}) * {f}({self.scalar(1)})"
        else:
            self.put(f"def {f}(u):")
            self.local += 1
            self.put(f"    return u * {self.scalar(2)}")
            self.local -= 1
            self.put(f"{self.pick('S')} = {self.scalar(1)}")
            call = f"{f}({self.scalar(1)}) - {self.scalar(1)} * {f}({self.scalar(0)})"
        self.put(f"{s} = {call}")
        self.settle(s)

    def conditional(self) -> None:
        self.put(f"if {self.test()}:")
        self.inside(1)
        if self.r.random() < 0.3:
            self.put(f"elif {self.test()}:")
            self.inside(1)
        if self.r.random() < 0.5:
            self.put("else:")
            self.inside(1)

    def inside(self, count: int | None = None) -> None:
        self.maybe += 1
        try:
            super().inside(count or self.r.randint(1, 2))
        finally:
            self.maybe -= 1

    def looped(self) -> None:
        keep = list(self.names["S"])
        ints = list(self.ints)
        self.count += 1
        i = f"i{self.count}"
        kind = self.r.randint(0, 4)
        if kind == 0:
            self.put(f"for {i} in range({self.r.randint(1, 3)}):")
            self.ints.append(i)
        elif kind == 1:
            self.put(f"for {i} in ({self.scalar(2)}, {self.scalar(1)}):")
            self.names["S"].append(i)
        elif kind == 2:
            self.put(f"for {i}, j{i} in zip({self.several(2)}, {self.several(2)}):")
            self.names["S"] += [i, f"j{i}"]
        elif kind == 3 and self.names["K"]:
            self.put(f"{i} = 0")
            test = f"{self.pick('K')}.pop() < {self.perhaps(1)}"
            self.put(f"while {i} < 3 and {test}:")
            self.put(f"    {i} += 1")
        else:
            self.put(f"{i} = 0")
            self.maybe += 1
            test = self.test()
            self.maybe -= 1
            self.put(f"while ({i} := {i} + 1) < {self.r.randint(2, 4)} and ({test}):")
        self.inside(self.r.randint(1, 2))
        self.names["S"], self.ints = keep, ints

    def attempted(self) -> None:
        s = self.pick("S")
        self.put("try:")
        self.inside(1)
        if self.r.random() < 0.5:
            self.maybe += 1
            self.put(f"    {s} = {self.scalar(2)}")
            self.put(f"    if {self.test()}:")
            self.maybe -= 1
            self.put('        raise KeyError("k")')
            self.inside(1)
            self.put("except KeyError:")
            self.inside(1)
        if self.r.random() < 0.5 or self.lines[-1].strip() == "try:":
            self.put("finally:")
            self.inside(1)
        elif not any(line.strip().startswith("except") for line in self.lines[-4:]):
            self.put("finally:")
            self.put(f"    {s} = {self.scalar(2)}")

    def managed(self) -> None:
        if not self.names["T"]:
            return self.plain()
        t = self.pick("T")
        self.put(f"with {t}:")
        self.inside(1)
        return None

    def statements(self) -> int:
        return self.r.randint(1, 3)

    def write(self) -> str:
        self.names["S"] += ["s"]
        self.names["M"] += ["A"]
        self.put("s = np.tanh(s)")
        kinds = [k for k in MADE if k != "G" or self.r.random() < 0.1]  # refused mostly
        for kind in self.r.sample(kinds, self.r.randint(1, 3)):
            self.state(kind)
        for _ in range(self.statements()):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, s):\n" + "\n".join(self.lines) + "\n"

    def result(self) -> str:
        parts = [self.scalar(self.r.choice([1, 2])), "s", f"{self.pick('S')} * 1.7"]
        parts += [f"(sum({k}) + {k}[0] * 0.3)" for k in self.names["K"]]
        parts += [f"{t}.total * 1.3" for t in self.names["T"]]
        parts += [f"np.sum({v} * W[:len({v})])" for v in self.names["V"]]
        parts += [f"sum({d}.values())" for d in self.names["D"]]
        self.r.shuffle(parts)
        return " + ".join(parts)
