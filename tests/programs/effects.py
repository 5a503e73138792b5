# ruff: noqa: E501
"""Random programs in which memory is shared, helpers write, and names collide.

Beside all that `grammar` writes: helpers that write to their arguments, inside of loops
too; names and views that are bound again in loops; objects that carry no derivative and
change with each call; containers of arrays that are written through; lists as operands;
classes with operators and properties; and names that NumPy, methods or generated code
have as well.
"""

from __future__ import annotations

from tests.programs.grammar import HEAD, Writer

EFFECTS_HEAD = (
    HEAD
    + '''
class Counter:
    """Counts how often it is asked; carries no derivative."""

    def __init__(self):
        self.n = 0

    def get(self):
        self.n += 1
        return self.n

    def append(self, by):
        self.n += 2

    def mean(self):
        self.n += 1
        return 0.5 * self.n

    def copy(self):
        self.n += 1
        return self.n

    @property
    def size(self):
        self.n += 1
        return self.n


class Pair:
    """Two numbers with operators."""

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Pair(self.a * k, self.b * k)

    def __iadd__(self, other):
        self.a = self.a + other.a
        self.b = self.b * other.b
        return self

    @property
    def norm(self):
        return self.a * self.a + self.b


def bump_forward(v):
    v *= 1.5


def bump_backward(v, s):
    v[0] += s
    return v


def add_into(t, v):
    t += v
    return t


def step(p, v):
    force = np.zeros_like(p)
    force += p
    v += 0.1 * force
    p += 0.1 * v


def fill(w, value):
    w.fill(value)


def pop(v):
    v[0] = v[0] * 2.0
    return v[-1]


def get(d, key):
    d[key] = d[key] * 2.0
    return d[key]


def unbroadcast(v, w):
    return v * 2.0 + w


def zeros_like(v):
    return v + 1.0

'''
)

_ODD = {
    "S": "dx dy saved x_tape y_saved carry total ds lanes batch_size xp x_dot tape el "
    "ef caught pullback result count s_dot operator dz",
    "V": "dA dv out x_old buffer dw x_dot dx_tape np_ xs view el rows lane",
    "M": "B_tape dB dM A_dot matrix",
    "L": "items tape stack list_ dl",
    "D": "get_ params d_ store",
}


class EffectsWriter(Writer):
    """Writes one function from a seed; see the module."""

    def __init__(self, seed: int, n: int = 3) -> None:
        super().__init__(seed, n)
        #: Counters, pairs, and arrays without a derivative.
        self.names |= {"Q": [], "P": [], "W": []}

    def odd_names(self, kind: str) -> list[str]:
        return _ODD.get(kind, "").split()

    def scalar(self, d: int = 2) -> str:
        r = self.r
        if d > 0 and r.random() < 0.12:
            forms = [
                lambda: f"np.sum({self.vector(d - 1)} * [3, 5, 2])",
                lambda: f"(({self.scalar(d - 1)}) * np.sum([1.5, {self.scalar(0)}]))",
                lambda: f"unbroadcast({self.scalar(d - 1)}, {self.scalar(0)})",
                lambda: f"zeros_like({self.scalar(d - 1)})",
            ]
            if self.names["P"]:
                forms += [
                    lambda: f"{self.pick('P')}.norm",
                    lambda: f"({self.pick('P')} * {self.scalar(0)}).a",
                ]
            return r.choice(forms)()
        return super().scalar(d)

    def vector(self, d: int = 2) -> str:
        r = self.r
        if d > 0 and r.random() < 0.1:
            forms = [
                lambda: f"({self.vector(d - 1)} * [0.5, -1, 2])",
                lambda: f"((1, 2, 0.5) * {self.vector(d - 1)})",
                lambda: f"add_into({self.vector(d - 1)}.copy(), {self.vector(d - 1)})",
                lambda: f"np.where({self.vector(d - 1)} > 0, {self.vector(0)}, 0)",
                lambda: f"np.concatenate([{self.vector(0)}[:2], [{self.scalar(0)}]])",
            ]
            if self.names["W"]:
                forms += [lambda: f"({self.vector(d - 1)} * {self.pick('W')})"] * 2
            return r.choice(forms)()
        return super().vector(d)

    def statement(self) -> None:
        if self.r.random() < 0.4:
            self.r.choice(self.effects())()
        else:
            super().statement()

    def effects(self):
        forms = [
            self.alias,
            self.view_again,
            self.called,
            self.counter,
            self.weights,
            self.arrays_in_a_container,
            self.lists_in_a_list,
            self.pair,
            self.given_back,
        ]
        if self.depth < 2:
            forms += [self.steps, self.walk_of_views]
        return forms

    def alias(self) -> None:
        """Another name for an array, and a write to one of the two."""
        v, name = self.own(), self.fresh("V")
        self.put(f"{name} = {v}")
        self.names["V"].append(name)
        self.names["O"].append(name)
        written = self.r.choice([v, name])
        self.put(
            self.r.choice(
                [
                    f"{written} {self.r.choice(['+=', '*='])} {self.scalar(1)}",
                    f"{written}[{self.index()}] = {self.scalar(1)}",
                    f"{written} = {written} * {self.scalar(0)}",
                ]
            )
        )

    def view_again(self) -> None:
        m, view = self.own_matrix(), self.fresh("V")
        self.put(f"{view} = {m}[{self.index()}]")
        self.put(f"{view}[{self.index()}] *= {self.scalar(1)}")
        if self.r.random() < 0.5:
            self.put(f"{view} = {m}[:, {self.index()}]")
            self.put(f"{view} += {self.vector(1)}")
        self.names["V"].append(view)

    def called(self) -> None:
        """A helper that writes to what it is given."""
        v = self.own()
        forms = [
            f"bump_forward({v})",
            f"bump_backward({v}, {self.scalar(1)})",
            f"add_into({v}, {self.vector(1)})",
            f"step({v}, {self.own()})",
            f"{self.pick('S')} = pop({v})",
        ]
        if self.names["D"]:
            forms.append(f'{self.pick("S")} = get({self.pick("D")}, "a")')
        self.put(self.r.choice(forms))

    def given_back(self) -> None:
        """A helper that writes to its argument and gives it back."""
        v, name = self.own(), self.fresh("V")
        form = self.r.choice(
            [
                f"add_into({v}, {self.vector(1)})",
                f"bump_backward({v}, {self.scalar(0)})",
            ]
        )
        self.put(f"{name} = {form}")
        self.names["V"].append(name)
        if self.r.random() < 0.5:
            self.put(f"{self.r.choice([name, v])} *= {self.scalar(0)}")

    def steps(self) -> None:
        """A helper that writes, in a loop."""
        p, v = self.own(), self.own()
        self.count += 1
        self.put(f"for i{self.count} in range({self.r.randint(1, 3)}):")
        self.depth += 1
        self.put(f"step({p}, {v})")
        if self.r.random() < 0.4:
            self.put(f"bump_forward({self.r.choice([p, v])})")
        if self.r.random() < 0.4:
            self.put(f"{self.pick('S')} = {self.scalar(1)}")
        self.depth -= 1

    def walk_of_views(self) -> None:
        """A view that is bound again in each iteration."""
        m, view = self.own_matrix(), self.fresh("V")
        self.count += 1
        i = f"i{self.count}"
        self.put(f"{view} = {m}[0]")
        self.put(f"for {i} in range(3):")
        self.depth += 1
        self.put(f"{view}[{i}] {self.r.choice(['=', '*=', '+='])} {self.scalar(1)}")
        self.put(f"{view} = {m}[{self.r.choice([i, '2 - ' + i, ':, ' + i])}]")
        self.depth -= 1
        self.names["V"].append(view)

    def counter(self) -> None:
        """An object that changes when it is asked."""
        if not self.names["Q"] or self.r.random() < 0.3:
            self.count += 1
            name = self.r.choice(["q", "log", "queue", "random_", "stats"])
            name = f"{name}{self.count}"
            self.put(f"{name} = Counter()")
            self.names["Q"].append(name)
        q, s = self.pick("Q"), self.pick("S")
        asked = self.r.choice([f"{q}.get()", f"{q}.mean()", f"{q}.copy()", f"{q}.size"])
        self.put(
            self.r.choice(
                [
                    f"{s} = {s} * {asked}",
                    f"{s} = {s} * {asked} + {asked}",
                    f"skipped = {asked}",
                    f"{q}.append(1)",
                    f"{s} *= {asked}",
                ]
            )
        )

    def weights(self) -> None:
        """An array that carries no derivative, and is written after it was used."""
        name = f"w{self.count + 1}"
        self.count += 1
        self.put(f"{name} = np.ones(3)")
        self.names["W"].append(name)
        used = self.fresh("V")
        self.put(f"{used} = {name} * {self.vector(1)}")
        self.names["V"].append(used)
        self.put(
            self.r.choice(
                [
                    f"fill({name}, 2.0)",
                    f"{name}[{self.index()}] = 3.0",
                    f"{name} *= 0.5",
                    f"add_into({name}, np.arange(3.0))",
                    f"np.add({name}, 1.0, out={name})",
                ]
            )
        )

    def arrays_in_a_container(self) -> None:
        a, b = self.own(), self.own()
        self.count += 1
        box = f"box{self.count}"
        if self.r.random() < 0.5:
            self.put(f"{box} = [{a}, {b}]")
            item = f"{box}[{self.r.choice(['0', '1', '-1'])}]"
        else:
            self.put(f'{box} = {{"a": {a}, "b": {b}}}')
            item = f'{box}["{self.r.choice("ab")}"]'
        self.put(
            self.r.choice(
                [
                    f"{item} *= {self.scalar(1)}",
                    f"{item}[{self.index()}] = {self.scalar(1)}",
                    f"{item} = {item} + {self.vector(1)}",
                    f"bump_forward({item})",
                ]
            )
        )
        name = self.fresh("V")
        self.put(f"{name} = {item} * {self.scalar(0)}")
        self.names["V"].append(name)

    def lists_in_a_list(self) -> None:
        self.count += 1
        rows, i = f"rows{self.count}", f"i{self.count}"
        start = self.r.choice(["0.0", self.pick("S")])
        self.put(f"{rows} = [[{start}] * 2 for _ in range(2)]")
        self.put(f"for {i} in range(2):")
        self.put(f"    {rows}[{i}][{self.r.choice(['0', '1', i])}] = {self.scalar(1)}")
        if self.r.random() < 0.5:
            self.put(f"{rows}[0][{self.r.randint(0, 1)}] = 0.0")
        name = self.fresh("S")
        self.put(
            f"{name} = {rows}[0][1] + {rows}[1][{self.r.randint(0, 1)}] * {self.scalar(0)}"
        )
        self.names["S"].append(name)

    def pair(self) -> None:
        name = self.fresh("P")
        self.put(f"{name} = Pair({self.scalar(1)}, {self.scalar(0)})")
        self.names["P"].append(name)
        p, q = self.pick("P"), self.pick("P")
        self.put(
            self.r.choice(
                [
                    f"{p} += {q}",
                    f"{p} = {p} + {q} * {self.scalar(0)}",
                    f"{p}.a = {self.scalar(1)}",
                ]
            )
        )

    def result(self) -> str:
        parts = [super().result()]
        if self.names["P"]:
            parts.append(f"{self.pick('P')}.norm")
        if self.names["Q"]:
            parts.append(f"{self.pick('S')} * {self.pick('Q')}.n")
        return " + ".join(parts)
