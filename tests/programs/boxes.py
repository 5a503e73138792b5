# ruff: noqa: E501
"""Short random programs in which arrays go through containers, and are written in place.

Put into lists, dicts, tuples and objects, also inside of each other; taken out by index,
`pop`, unpacking, loops, `get`, `items`, `zip` and slices, of the container or of a copy
of it; then written under one of their names, as a whole, in part or through a view (of
a view, or one that a function gives back on one of its ways).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.grammar import HEAD, Writer

BOXES_HEAD = (
    HEAD
    + '''
import copy
from dataclasses import dataclass


class Box:
    """Two arrays, and what is done with them."""

    def __init__(self, v, w):
        self.v = v
        self.w = w

    def swap(self):
        self.v, self.w = self.w, self.v

    def grow(self, k):
        self.v *= k
        return self.w

    def both(self):
        return [self.v, self.w]

    @property
    def last(self):
        return self.w


@dataclass
class Node:
    v: np.ndarray
    w: list


def put_in(items, v):
    items.append(v)
    return items[0]


def replace(d, v):
    old = d["a"]
    d["a"] = v
    return old


def pair_of(v, w):
    return v, w


def under(v):
    return {"a": v, "b": v * 2.0}


def scale_all(items, k):
    for v in items:
        v *= k
    return items


def first_of(items):
    return items[0]


def write_to(v, k):
    v[0] = v[1] * k
    return v


def turned(items):
    return [items[-1], *items[:-1]]


def first_above(items, k):
    for v in items:
        for e in v:
            if e > k:
                return v
    return items[0]


def finished(v, k):
    try:
        if k > 0:
            return v[:1]
        v = v[::-1]
    finally:
        v[0] += k
    return v


def keyword_only(*, v, k=2.0):
    v *= k
    return v


'''
)


class BoxesWriter(Writer):
    """Writes one function from a seed; see the module."""

    def __init__(self, seed: int, n: int = 3) -> None:
        super().__init__(seed, 3 if n == 0 else n)
        #: Lists, dicts (of "a" and "b"), tuples and boxes of arrays; lists and dicts of
        #: lists; what arrays are in is not known any more after a loop or branch.
        self.names |= {kind: [] for kind in ("L", "D", "T", "B", "N", "H")}

    def odd_names(self, kind: str) -> list[str]:
        return []

    def number(self) -> str:
        r = self.r
        return r.choice(
            [
                lambda: "s",
                lambda: self.const(),
                lambda: self.pick("S"),
                lambda: f"{self.pick('V')}[{self.index()}]",
                lambda: f"np.sin({self.pick('V')}.sum())",
                lambda: f"x[{self.index()}] * s",
            ]
        )()

    def scalar(self, d: int = 2) -> str:
        return self.number()

    def value(self) -> str:
        """An array, mostly one that something holds."""
        r = self.r
        return r.choice(
            [
                lambda: self.pick("V"),
                lambda: self.pick("V"),
                lambda: self.held(),
                lambda: f"{self.pick('V')} * {self.number()}",
                lambda: f"np.tanh({self.held()})",
                lambda: f"{self.pick('M')}[{self.index()}]",
                lambda: "np.zeros(3)" if self.n == 3 else "np.zeros(1)",
                lambda: f"{self.pick('V')}.copy()",
                lambda: f"x + {self.pick('V')}",
                self.seen_otherwise,
            ]
        )()

    def seen_otherwise(self) -> str:
        """A view of an array, or what a function gives that may be one."""
        v, k = self.pick("V"), self.number
        return self.r.choice(
            [
                lambda: f"{v}[None][0]",
                lambda: f"np.asarray({v})",
                lambda: f"{v}.reshape(1, -1)[0]",
                lambda: f"np.squeeze({v}[None, :, None], axis=(0, 2))",
                lambda: f"{self.pick('M')}.T[{self.index()}]",
                lambda: f"first_above([{self.pick('V')}, {v}], {k()})",
                lambda: f"finished({v}, {k()}) * np.ones({self.n})",
                lambda: f"keyword_only(v={v})",
                lambda: f"keyword_only(k={k()}, v={v})",
                lambda: f"(lambda u, k={k()}: u * k)({v})",
                lambda: f"[w for u in [{v}, x] for w in [u * {k()}]][-1]",
                lambda: f"(u := {v})",
            ]
        )()

    def held(self) -> str:
        """An array as it is taken out of a container."""
        r = self.r
        forms: dict[str, list[str]] = {
            "L": [
                "{0}[0]",
                "{0}[-1]",
                "{0}.pop()",
                "{0}.pop(0)",
                "{0}[:2][-1]",
                "list({0})[0]",
                "{0}.copy()[-1]",
                "first_of({0})",
                "[v * 2.0 for v in {0}][0]",
                "[v for v in {0}][-1]",
                "next(iter({0}))",
                "copy.copy({0})[0]",
                "{0}[::-1][0]",
            ],
            "D": [
                '{0}["a"]',
                '{0}["b"]',
                '{0}.get("a")',
                '{0}.get("c", x)',
                '{0}.setdefault("b", x * 1.0)',
                '{0}.setdefault("c", {v})',
                '{0}.pop("c", {v})',
                "list({0}.values())[0]",
                'dict({0})["b"]',
                '{{**{0}}}["a"]',
                "[v for k, v in {0}.items()][-1]",
                "(lambda b, a, **c: b)(**{0})",
                'copy.copy({0})["a"]',
            ],
            "T": ["{0}[0]", "{0}[1]", "{0}[-1]", "first_of({0})", "(*{0}, x)[1]"],
            "B": [
                "{0}.v",
                "{0}.w",
                "{0}.last",
                "{0}.both()[0]",
                "{0}.grow({k})",
                'getattr({0}, "v")',
            ],
            "N": ["{0}[0][0]", "{0}[0][-1]", '{0}[1]["a"]', "first_of({0}[0])"],
            "H": [
                '{0}["p"][0]',
                '{0}["q"]["a"]',
                '{0}["q"].get("b")',
                '{0}["p"].pop()',
            ],
        }
        kinds = [k for k in forms if self.names[k]]
        if not kinds:
            return self.pick("V")
        kind = r.choice(kinds)
        text = r.choice(forms[kind])
        return text.format(self.pick(kind), v=self.pick("V"), k=self.number())

    # Statements ------------------------------------------------------------

    def array(self) -> None:
        """A new array, or another name for one."""
        forms: list[Callable[[], str]] = [
            lambda: f"x * {self.number()}",
            lambda: "x.copy()",
            lambda: "np.zeros_like(x)",
            self.value,
            self.held,
            lambda: f"{self.pick('M')}[{self.index()}]",
        ]
        text = self.r.choice(forms)()
        name = self.new("V")
        self.put(f"{name} = {text}")
        self.know("V", name)

    def new(self, kind: str) -> str:
        mine = [n for n in self.names[kind] if n not in ("x", "e")]
        if mine and self.r.random() < 0.2:
            return self.r.choice(mine)
        return self.fresh(kind)

    def know(self, kind: str, name: str) -> None:
        if name not in self.names[kind]:
            self.names[kind].append(name)

    def container(self) -> None:
        r = self.r
        kind = r.choice("LLLDDDTBBNH")
        v = self.value
        made: dict[str, list[Callable[[], str]]] = {
            "L": [
                lambda: f"[{v()}, {v()}]",
                lambda: f"[{v()}, {v()}, {v()}]",
                lambda: f"[{v()}] * 2",
                lambda: f"[row for row in {self.pick('M')}]",
                lambda: f"list({self.pick('M')})",
                lambda: f"[{self.pick('V')} * k for k in range(1, 3)]",
                lambda: f"[{self.pick('V')} for k in range(2)]",
                lambda: f"list({self.pair()})",
            ],
            "D": [
                lambda: f'{{"a": {v()}, "b": {v()}}}',
                lambda: f"dict(a={v()}, b={v()})",
                lambda: f"under({v()})",
                lambda: f'dict(zip("ab", [{v()}, {v()}]))',
                lambda: f'{{k: {v()} for k in "ab"}}',
                lambda: f'dict.fromkeys("ab", {v()})',
            ],
            "T": [
                lambda: f"({v()}, {v()})",
                lambda: f"pair_of({v()}, {v()})",
                lambda: f"tuple([{v()}, {v()}])",
            ],
            "B": [lambda: f"Box({v()}, {v()})"],
            "N": [lambda: f'[[{v()}, {v()}], {{"a": {v()}, "b": {v()}}}]'],
            "H": [lambda: f'{{"p": [{v()}, {v()}], "q": {{"a": {v()}, "b": {v()}}}}}'],
        }
        if self.names["L"]:
            made["L"] += [
                lambda: f"{self.pick('L')}",
                lambda: f"{self.pick('L')}[:]",
                lambda: f"list({self.pick('L')})",
                lambda: f"{self.pick('L')} + [{v()}]",
                lambda: f"copy.copy({self.pick('L')})",
                lambda: f"copy.deepcopy({self.pick('L')})",
                lambda: f"turned({self.pick('L')})",
                lambda: f"scale_all({self.pick('L')}, {self.number()})",
                lambda: f"sorted({self.pick('L')}, key=len)",
            ]
            made["T"] += [lambda: f"tuple({self.pick('L')})"]
        if self.names["D"]:
            made["D"] += [
                lambda: f"{self.pick('D')}",
                lambda: f"dict({self.pick('D')})",
                lambda: f"{self.pick('D')}.copy()",
                lambda: f'{{**{self.pick("D")}, "b": {v()}}}',
                lambda: f"{{k: w for k, w in {self.pick('D')}.items()}}",
                lambda: f'{self.pick("D")} | {{"a": {v()}}}',
                lambda: f"copy.deepcopy({self.pick('D')})",
            ]
        if self.names["B"]:
            made["B"] += [
                lambda: f"{self.pick('B')}",
                lambda: f"copy.copy({self.pick('B')})",
            ]
            made["L"] += [lambda: f"{self.pick('B')}.both()"]
        text = r.choice(made[kind])()
        name = self.new(kind)
        self.put(f"{name} = {text}")
        self.know(kind, name)

    def pair(self) -> str:
        return (
            self.pick("T") if self.names["T"] else f"pair_of({self.pick('V')}, x * s)"
        )

    def taken(self) -> None:
        """Names for what is in a container."""
        r = self.r
        forms: list[tuple[str, Callable[[], str]]] = [("{0}, {1}", self.pair)]
        if self.names["L"]:
            k = self.pick("L")
            forms += [
                ("{0}, *_", lambda: k),
                ("*_, {0}", lambda: k),
                ("{0}, {1}", lambda: f"{k}[:2]"),
                ("{0}, {1}", lambda: f"{k}.pop(), {k}[0]"),
                ("{0}, {1}", lambda: f"{k}[0], {k}[-1]"),
                ("{0}, {1}", lambda: f"(w for w in {k}[:2])"),
            ]
        if self.names["D"]:
            d = self.pick("D")
            forms += [
                ("{0}, {1}", lambda: f'{d}["a"], {d}["b"]'),
                ("{0}, {1}", lambda: f'{d}["b"], {d}.pop("c", x)'),
                ("{0}, {1}, *_", lambda: f"{d}.values()"),
                ("(_, {0}), *_", lambda: f"{d}.items()"),
            ]
        if self.names["B"]:
            b = self.pick("B")
            forms += [
                ("{0}, {1}", lambda: f"{b}.both()"),
                ("{0}, {1}", lambda: f"{b}.v, {b}.w"),
            ]
        if self.n == 3:
            m = self.pick("M")
            forms += [("{0}, {1}, _", lambda: m), ("{0}, {1}", lambda: f"{m}[1:]")]
        form, text = r.choice(forms)
        made = text()
        names = [self.new("V"), self.new("V")]
        if names[0] == names[1]:
            names[1] = self.fresh("V")
        self.put(f"{form.format(*names)} = {made}")
        for name in names[: form.count("{")]:
            self.know("V", name)

    def written(self) -> None:
        """An array that is changed in place, under a name or where it is held."""
        v = self.pick("V") if self.r.random() < 0.6 else self.held()
        if v == "x":
            v = self.held()
        self.write_to(v)

    def write_to(self, v: str) -> None:
        r = self.r
        n, i = self.number, self.index
        target = (
            v if v.isidentifier() or v[-1] == "]" or v[-2:] in (".v", ".w") else None
        )
        forms = [
            lambda: f"{v}[{i()}] = {n()}",
            lambda: f"{v}[{i()}] {r.choice(['+=', '*='])} {n()}",
            lambda: f"{v}[:] = {self.value()}",
            lambda: f"{v}[1:] *= {n()}",
            lambda: f"{v}[...] = {self.value()} * {n()}",
            lambda: f"np.multiply({v}, {n()}, out={v})",
            lambda: f"np.copyto({v}, {self.value()})",
            lambda: f"{v}.fill({n()})",
            lambda: f"{v}.sort()",
            lambda: f"np.add.at({v}, [0, 0], {n()})",
            lambda: f"write_to({v}, {n()})",
            lambda: f"{v}[::-1][{i()}] = {n()}",
            lambda: f"{v}.reshape(-1)[{i()}] += {n()}",
        ]
        if target is not None:
            forms += [lambda: f"{v} {r.choice(['+=', '*=', '-='])} {n()}"] * 4
            forms += [lambda: f"{v} += {self.value()}"] * 2
            forms += [lambda: f"{v} = {v} * {n()}"]
        self.put(r.choice(forms)())

    def stored(self) -> None:
        """A container that is changed."""
        r, v = self.r, self.value
        of: dict[str, list[Callable[[str], str]]] = {
            "L": [
                lambda k: f"{k}.append({v()})",
                lambda k: f"{k}[0] = {v()}",
                lambda k: f"{k}[-1] = {k}[0]",
                lambda k: f"{k}[0], {k}[1] = {k}[1], {k}[0]",
                lambda k: f"{k}.insert(0, {v()})",
                lambda k: f"{k}.extend([{v()}, {v()}])",
                lambda k: f"{k} += [{v()}]",
                lambda k: f"{k}.reverse()",
                lambda k: f"put_in({k}, {v()})",
                lambda k: f"{k}[:1] = [{v()}]",
                lambda k: f"{k}.append({k}.pop(0))",
                lambda k: f"scale_all({k}, {self.number()})",
                lambda k: f"del {k}[0]",
            ],
            "D": [
                lambda d: f'{d}["a"] = {v()}',
                lambda d: f'{d}["a"], {d}["b"] = {d}["b"], {d}["a"]',
                lambda d: f'{d}["c"] = {v()}',
                lambda d: f"{d}.update(b={v()})",
                lambda d: f"replace({d}, {v()})",
                lambda d: f'{d}["b"] = {d}["a"]',
                lambda d: f"scale_all({d}.values(), {self.number()})",
            ],
            "B": [
                lambda b: f"{b}.v = {v()}",
                lambda b: f"{b}.swap()",
                lambda b: f"{b}.grow({self.number()})",
                lambda b: f"{b}.w = {b}.v",
            ],
            "N": [
                lambda k: f"{k}[0].append({v()})",
                lambda k: f'{k}[1]["a"] = {k}[0][0]',
                lambda k: f"{k}[0] = [{v()}, {v()}]",
            ],
            "H": [
                lambda h: f'{h}["p"].append({v()})',
                lambda h: f'{h}["q"]["b"] = {h}["p"][0]',
                lambda h: f'{h}["p"] = [{v()}, {v()}]',
            ],
        }
        kinds = [k for k in of if self.names[k]]
        if not kinds:
            return self.container()
        kind = r.choice(kinds)
        return self.put(r.choice(of[kind])(self.pick(kind)))

    def looped(self) -> None:
        """A loop over what is in a container, or one that binds names again."""
        r = self.r
        self.count += 1
        e, i = f"e{self.count}", f"i{self.count}"
        keep = {kind: list(names) for kind, names in self.names.items()}
        forms = [f"for {i} in range({r.randint(1, 3)}):"] * 2
        if self.names["L"]:
            k = self.pick("L")
            forms += [
                f"for {e} in {k}:",
                f"for {e} in {k}[1:]:",
                f"for {i}, {e} in enumerate({k}):",
                f"for {e}, w{e} in zip({k}, {k}[::-1]):",
                f"for {e}, w{e} in zip({k}, {self.pair()}):",
            ]
        if self.names["D"]:
            d = self.pick("D")
            forms += [f"for {e} in {d}.values():", f"for {i}, {e} in {d}.items():"]
        head = r.choice(forms)
        self.put(head)
        if e in head:
            self.names["V"].append(e)
            if f"w{e}" in head:
                self.names["V"].append(f"w{e}")
        self.depth += 1
        if e in head and r.random() < 0.8:
            self.write_to(e)
        for _ in range(r.randint(0 if e in head else 1, 2)):
            self.statement()
        if self.lines[-1].strip() == head:
            self.put(f"s = s + {e}[0]")
        self.depth -= 1
        self.names = keep

    def conditional(self) -> None:
        keep = {kind: list(names) for kind, names in self.names.items()}
        self.put(f"if {self.number()} {self.r.choice('<>')} {self.const()}:")
        self.depth += 1
        self.statement()
        self.names = {kind: list(names) for kind, names in keep.items()}
        self.depth -= 1
        if self.r.random() < 0.6:
            self.put("else:")
            self.depth += 1
            self.statement()
            self.depth -= 1
        self.names = keep

    def exchanged(self) -> None:
        mine = [n for n in self.names["V"] if n != "x"]
        if len(mine) < 2:
            return self.array()
        a, b = self.r.sample(mine, 2)
        return self.put(f"{a}, {b} = {b}, {a}")

    def read(self) -> None:
        name = self.fresh("S")
        self.put(f"{name} = np.sum({self.held()} * {self.pick('V')})")
        self.names["S"].append(name)

    def statement(self) -> None:
        forms = [
            self.array,
            self.taken,
            self.taken,
            self.stored,
            self.stored,
            self.read,
        ]
        forms += [self.written] * 4 + [self.container, self.exchanged]
        if self.depth < 1:
            forms += [self.looped, self.looped, self.conditional]
        self.r.choice(forms)()

    def write(self) -> str:
        self.names["S"] += ["s"]
        self.names["V"] += ["x"]
        self.names["M"] += ["A"]
        self.put("x = x * 1.0")
        if self.r.random() < 0.5:
            self.put(f"m = A * {self.const()}")
            self.names["M"] = ["m"]
        else:
            self.put("A = A.copy()")
        self.array()
        self.container()
        for _ in range(self.r.randint(1, 5)):
            self.statement()
        self.put(f"return {self.result()}")
        return "def f(x, A, s):\n" + "\n".join(self.lines) + "\n"

    def result(self) -> str:
        some = self.names["V"][-3:] + self.r.sample(self.names["V"], 1)
        parts = [
            f"np.sum({v} * W[: len({v})]) * {k + 1}"
            for k, v in enumerate(dict.fromkeys(some))
        ]
        parts += ["s", f"{self.pick('M')}.mean()"]
        parts += [
            f"sum(v.sum() * (k + 1) for k, v in enumerate({k}))"
            for k in self.names["L"]
        ]
        parts += [f'{d}["a"][0] * 1.3 + {d}["b"].sum()' for d in self.names["D"]]
        parts += [f"{b}.v.sum() * 0.7 + {b}.w[-1]" for b in self.names["B"]]
        parts += [f"{t}[0].sum() + {t}[-1][0] * 0.4" for t in self.names["T"]]
        parts += [f'{n}[0][0].sum() - {n}[1]["a"][0]' for n in self.names["N"]]
        parts += [f'{h}["p"][0].sum() - {h}["q"]["b"][0]' for h in self.names["H"]]
        return " + ".join(parts)
