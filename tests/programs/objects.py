# ruff: noqa: E501
"""Short random programs with objects, and with writes that happen out of sight.

Beside all that `effects` writes: classes with items, calls and properties that can be
set; two names for one object; values in objects of a library's; exceptions that carry a
value; generators; functions that are found at run time; `out` and `where` in all their
forms; arrays without axes; and arrays that are exchanged in loops.
"""

from __future__ import annotations

from tests.programs.effects import EFFECTS_HEAD, EffectsWriter

OBJECTS_HEAD = (
    EFFECTS_HEAD
    + '''
import collections
import types


class Found(Exception):
    """Carries a value out of a search."""

    def __init__(self, value):
        super().__init__("found")
        self.value = value


class Vec:
    """An array with operators, items and a property that can be set."""

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Vec(self.v + other.v)

    def __matmul__(self, other):
        return np.dot(self.v, other.v)

    def __imul__(self, k):
        self.v *= k
        return self

    def __getitem__(self, k):
        return self.v[k]

    def __setitem__(self, k, value):
        self.v[k] = value

    def __len__(self):
        return len(self.v)

    def __call__(self, k):
        return self.v.sum() * k

    @property
    def head(self):
        return self.v[0]

    @head.setter
    def head(self, value):
        self.v[0] = value


def into(v, **kwargs):
    out = kwargs.pop("out", None)
    if out is None:
        out = np.zeros_like(v)
    out[...] = v * 2.0
    return out


def repeat(u, n):
    for _ in range(n):
        u = np.sin(u) * 1.1
    return u


def thrice(u, n):
    return u * 3.0 if isinstance(n, int) else u


TABLE = {"repeat": repeat, "thrice": thrice}


def search(v, least):
    for e in v:
        if e > least:
            raise Found(e * e)
    return least * 0.5


def pieces(v):
    for e in v:
        yield e * 1.5


def sweep(p, v, k):
    for j in range(k):
        step(p, v)
        if j == 1:
            p, v = v, p
    return p


def deposit(box, v):
    box["a"] = v
    box["b"] = v * 2.0


def chain(v, s):
    w = bump_backward(v, s)
    u = add_into(w, w)
    return u

'''
)


class ObjectsWriter(EffectsWriter):
    """Writes one function from a seed; see the module."""

    def __init__(self, seed: int, n: int = 3) -> None:
        super().__init__(seed, n)
        #: Vectors in a class.
        self.names |= {"X": []}
        self.few = self.r.random() < 0.8

    def scalar(self, d: int = 2) -> str:
        r = self.r
        if d > 0 and r.random() < 0.08:
            v = lambda: self.vector(d - 1)  # noqa: E731
            s = lambda: self.scalar(0)  # noqa: E731
            forms = [
                lambda: (
                    f'TABLE["{r.choice(["repeat", "thrice"])}"]({self.scalar(d - 1)}, {r.randint(0, 3)})'
                ),
                lambda: f"sum(pieces({v()}))",
                lambda: f"np.nansum(np.where({v()} > 0, {self.vector(0)}, np.nan))",
            ]
            if self.names["X"]:
                forms += [
                    lambda: f"{self.pick('X')}({s()})",
                    lambda: f"{self.pick('X')}.head",
                    lambda: f"({self.pick('X')} @ {self.pick('X')})",
                    lambda: f"{self.pick('X')}[{self.index()}]",
                    lambda: f"len({self.pick('X')}) * {s()}",
                ]
            return r.choice(forms)()
        return super().scalar(d)

    def vector(self, d: int = 2) -> str:
        r = self.r
        if d > 0 and r.random() < 0.06:
            v = lambda: self.vector(d - 1)  # noqa: E731
            other = lambda: self.vector(0)  # noqa: E731
            forms = [
                lambda: f"into({v()})",
                lambda: f"into({v()}, out={other()}.copy())",
                lambda: (
                    f"np.divide(1.0, {v()}, out={other()}.copy(), where={other()} > 0.4)"
                ),
                lambda: f"np.array(list(pieces({v()})))",
                lambda: f"chain({v()}.copy(), {self.scalar(0)})",
                lambda: f"np.r_[{v()}[:2], {self.scalar(0)}]",
                lambda: f"np.nan_to_num({v()})",
            ]
            if self.names["X"]:
                forms += [
                    lambda: f"({self.pick('X')} + {self.pick('X')}).v",
                    lambda: f"{self.pick('X')}.v",
                ]
            return r.choice(forms)()
        return super().vector(d)

    def effects(self):
        forms = super().effects()
        if self.walk_of_views in forms and self.r.random() < 0.8:
            forms.remove(self.walk_of_views)  # always refused today
        return [
            *forms,
            self.vec,
            self.search,
            self.of_a_library,
            self.out_of_sight,
            self.same_object,
            self.exchanged,
            self.unread,
            self.boxed,
            self.without_axes,
        ]

    def vec(self) -> None:
        name = self.fresh("X")
        held = self.r.choice([self.own(), self.vector(1) + ".copy()"])
        self.put(f"{name} = Vec({held})")
        self.names["X"].append(name)
        x = self.pick("X")
        self.put(
            self.r.choice(
                [
                    f"{x} *= {self.scalar(1)}",
                    f"{x}.head = {self.scalar(1)}",
                    f"{x}[{self.index()}] = {self.scalar(1)}",
                    f"{x}[{self.index()}] += {self.scalar(1)}",
                    f"{x}.v = {self.vector(1)}",
                ]
            )
        )

    def search(self) -> None:
        """An exception that carries a value."""
        s = self.pick("S")
        self.put("try:")
        self.put(f"    {s} = search({self.vector(1)}, {self.scalar(0)})")
        self.put("except Found as e:")
        self.put(f"    {s} = e.value * {self.scalar(0)}")

    def of_a_library(self) -> None:
        """A value that is put into an object of a library's."""
        self.count += 1
        n, s = f"held{self.count}", self.fresh("S")
        made, put, got = self.r.choice(
            [
                ("types.SimpleNamespace(a=0.0)", ".a = {}", ".a"),
                ("collections.deque()", ".append({})", ".pop()"),
                ("collections.defaultdict(float)", '["a"] += {}', '["a"]'),
                ('dict.fromkeys(["a", "b"], 0.0)', '["b"] = {}', '["b"]'),
                ("np.empty(2, dtype=object)", "[0] = {}", "[0]"),
            ]
        )
        self.put(f"{n} = {made}")
        self.put(n + put.format(self.scalar(1)))
        self.put(f"{s} = {n}{got} * {self.scalar(0)}")
        self.names["S"].append(s)

    def out_of_sight(self) -> None:
        """An array that is written in a call."""
        v = self.own()
        self.put(
            self.r.choice(
                [
                    f"into({self.vector(1)}, out={v})",
                    f"np.multiply({v}, {self.vector(1)}, out={v})",
                    f"np.sin({self.vector(1)}, {v})",
                    f"np.copyto({v}, {self.vector(1)})",
                    f"sweep({v}, {self.own()}, {self.r.randint(0, 3)})",
                    f"{v}.sort()",
                    f"np.add.at({v}, [0, 0], {self.scalar(1)})",
                    f"np.put({v}, [0], {self.scalar(1)})",
                    f"{v}[{v} > 0.3] *= {self.scalar(0)}",
                    f"{v}.fill({self.scalar(0)})",
                ]
            )
        )

    def same_object(self) -> None:
        """Two names for one object, which is changed through one of them."""
        if not self.names["P"]:
            self.pair()
            return
        p, name = self.pick("P"), self.fresh("P")
        self.put(f"{name} = {p}")
        self.names["P"].append(name)
        self.put(
            self.r.choice(
                [
                    f"{name} += {self.pick('P')}",
                    f"{p} += {name}",
                    f"{name}.a = {self.scalar(1)}",
                    f"{p}.b = {p}.a * {self.scalar(0)}",
                ]
            )
        )

    def exchanged(self) -> None:
        """Arrays that change their names in a loop."""
        a, b = self.own(), self.own()
        if a == b:
            return
        self.count += 1
        self.put(f"for i{self.count} in range({self.r.randint(1, 3)}):")
        self.depth += 1
        self.put(f"{a}[{self.index()}] {self.r.choice(['+=', '='])} {self.scalar(1)}")
        self.put(f"{a}, {b} = {b}, {a}")
        self.depth -= 1

    def unread(self) -> None:
        """A call for its effect, of which the result is not read."""
        v = self.own()
        call = self.r.choice(
            [
                f"pop({v})",
                f"add_into({v}, {self.vector(1)})",
                f"chain({v}, {self.scalar(0)})",
            ]
        )
        self.put(f"unread = {call}")

    def boxed(self) -> None:
        """Containers that are filled by a helper, item by item, or hold a number too."""
        self.count += 1
        box, name = f"box{self.count}", self.fresh("V")
        some = self.r.randint(0, 1)
        kind = self.r.randint(0, 3)
        if kind == 0:
            self.put(f"{box} = {{}}")
            self.put(f"deposit({box}, {self.vector(1)})")
            item = f'{box}["{self.r.choice("ab")}"]'
        elif kind == 1:
            self.put(f"{box} = [{self.vector(1)} * 1.0 for _ in range(2)]")
            written = f"{box}[{self.r.randint(0, 1)}][{self.index()}]"
            op = self.r.choice(["=", "+=", "*="])
            self.put(f"{written} {op} {self.scalar(1)}")
            self.put(f"for row in {box}:")
            self.put(f"    row *= {self.scalar(0)}")
            item = f"{box}[{some}]"
        elif kind == 2:
            self.put(f"{box} = ({self.own()}, {self.scalar(1)})")
            self.put(f"{box}[0][{self.index()}] = {box}[1] * 2.0")
            item = f"{box}[0]"
        else:
            self.put(f"{box} = [None] * 2")
            self.put(f"{box}[0] = {self.vector(1)}")
            self.put(f"{box}[1] = {box}[0] * {self.scalar(0)}")
            item = f"{box}[{some}]"
        self.put(f"{name} = {item} * {self.scalar(0)}")
        self.names["V"].append(name)

    def without_axes(self) -> None:
        self.count += 1
        cell, s = f"cell{self.count}", self.fresh("S")
        self.put(f"{cell} = np.empty(())")
        self.put(f"{cell}[()] = {self.scalar(1)}")
        if self.r.random() < 0.5:
            self.put(f"{cell} *= {self.scalar(0)}")
        self.put(f"{s} = {cell}.item() * {self.scalar(0)}")
        self.names["S"].append(s)

    def statement(self) -> None:
        if self.few and self.r.random() < 0.5:
            self.r.choice(self.effects())()
        else:
            super().statement()

    def statements(self) -> int:
        return self.r.randint(1, 3) if self.few else super().statements()
