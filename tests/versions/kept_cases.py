"""Programs that are run, edited, and run again: each edit is another function `f`."""

HEAD = "import numpy as np\n"


def edits(text, *pairs):
    """The text, and the same with other words."""
    changed = text
    for old, new in pairs:
        assert old in changed, old
        changed = changed.replace(old, new)
    return {"case": HEAD + text}, {"case": HEAD + changed}


def helped(text, helper, *pairs):
    """The text, and a module `NAME_help` beside it that is edited."""
    changed = helper
    for old, new in pairs:
        assert old in changed, old
        changed = changed.replace(old, new)
    return (
        {"case": HEAD + text, "help": HEAD + helper},
        {"case": HEAD + text, "help": HEAD + changed},
    )


CALLEE = "def g(x):\n    return 2.0 * x * x\n\ndef f(x):\n    return g(x) + x\n"
DEEP = (
    "def a(x):\n    return np.sin(x)\n\ndef b(x):\n    return a(x) * x\n\n"
    "def c(x):\n    return b(x) * 2.0\n\ndef f(x):\n    return c(x)\n"
)
CLASS = (
    "class Base:\n    def rate(self, x):\n        return x * 3.0\n\n"
    "class Model(Base):\n    scale = 2.0\n    def __init__(self):\n"
    "        self.shift = 0.5\n    @property\n    def twice(self):\n"
    "        return self.shift * 2.0\n    def __call__(self, x):\n"
    "        return self.rate(x) * self.scale * x + self.shift * x + self.twice * x\n\n"
    "model = Model()\n\ndef f(x):\n    return model(x)\n"
)
MAKER = (
    "def make(k):\n    def inner(x):\n        return x * x * k\n    return inner\n\n"
    "f = make(3.0)\n"
)
WRAPPED = (
    "import functools\n\ndef twice(g):\n    @functools.wraps(g)\n    def inner(x):\n"
    "        return g(x) * 2.0\n    return inner\n\n@twice\ndef f(x):\n"
    "    return x * x\n"
)
CUSTOM = (
    "import srcjax\n\n@srcjax.custom_vjp\ndef g(x):\n    return x * x\n\n"
    "def back(saved, dy):\n    return (dy * 5.0,)\n\n"
    "g.defvjp(lambda x: (g(x), None), back)\n\ndef f(x):\n    return g(x) * x\n"
)
CELL = (
    "import linecache\n\ntext = '''def f(x):\n    return x * x * 2.0\n'''\n"
    "name = '<cell 1>'\n"
    "linecache.cache[name] = len(text), None, text.splitlines(True), name\n"
    "exec(compile(text, name, 'exec'))\n"
)
DATA = "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    k: float = 2.0\n"

CASES = {
    "callee": edits(CALLEE, ("2.0 * x", "5.0 * x")),
    "callee of callee of callee": edits(DEEP, ("np.sin", "np.cos")),
    "own text": edits("def f(x):\n    return x * x\n", ("x * x", "x * x * x")),
    "global number": edits("C = 3.0\n\ndef f(x):\n    return C * x\n", ("3.0", "4.0")),
    "another type": edits(
        "C = 1\n\ndef f(x):\n    return x * (3.0 if C is True else 2.0)\n",
        ("C = 1", "C = True"),
    ),
    "a float that is equal": edits(
        "C = 2\n\ndef f(x):\n    return x * (3.0 if isinstance(C, float) else 2.0)\n",
        ("C = 2", "C = 2.0"),
    ),
    "sign of zero": edits(
        "C = 0.0\n\ndef f(x):\n    return x * np.copysign(1.0, C)\n", ("0.0", "-0.0")
    ),
    "no number": edits(
        "C = 1.0\n\ndef f(x):\n    return x * (2.0 if C == C else 3.0)\n",
        ("C = 1.0", "C = float('nan')"),
    ),
    "dtype": edits(
        "C = np.float64(2.0)\n\ndef f(x):\n"
        "    return x * (3.0 if C.dtype == np.float32 else 2.0)\n",
        ("C = np.float64", "C = np.float32"),
    ),
    "string": edits(
        "M = 'a'\n\ndef f(x):\n    return x * 2.0 if M == 'a' else x * 3.0\n",
        ("'a'\n\n", "'b'\n\n"),
    ),
    "tuple": edits(
        "C = (1.0, 2.0)\n\ndef f(x):\n    return C[1] * x\n", ("2.0)", "3.0)")
    ),
    "dict": edits(
        "C = {'n': 2}\n\ndef f(x):\n    y = x\n    for _ in range(C['n']):\n"
        "        y = y * x\n    return y\n",
        ("2}", "3}"),
    ),
    "list": edits(
        "C = [2.0, 3.0]\n\ndef f(x):\n    for c in C:\n        x = x * c\n"
        "    return x\n",
        ("3.0]", "3.0, 4.0]"),
    ),
    "list of functions": edits(
        "C = [np.sin, np.exp]\n\ndef f(x):\n    for c in C:\n        x = c(x)\n"
        "    return x\n",
        ("np.exp", "np.cos"),
    ),
    "array": edits(
        "W = np.array([1.0, 2.0])\n\ndef f(x):\n    return np.sum(W * x)\n",
        ("2.0]", "3.0]"),
    ),
    "size of an array": edits(
        "W = np.ones(2)\n\ndef f(x):\n    return np.sum(W * x)\n", ("(2)", "(3)")
    ),
    "array of sizes": edits(
        "N = np.array([1, 2])\n\ndef f(x):\n    y = x\n    for _ in range(N[1]):\n"
        "        y = y * x\n    return y\n",
        ("2]", "3]"),
    ),
    "flag in an array": edits(
        "N = np.array([True])\n\ndef f(x):\n    return x if N[0] else x * 2.0\n",
        ("True", "False"),
    ),
    "default": edits("def f(x, k=2.0):\n    return k * x\n", ("2.0", "3.0")),
    "default by name": edits("def f(x, *, k=2.0):\n    return k * x\n", ("2.0", "3.0")),
    "default of callee": edits(
        "def g(x, k=2):\n    return x ** k\n\ndef f(x):\n    return g(x)\n",
        ("k=2", "k=3"),
    ),
    "closure": edits(MAKER, ("make(3.0)", "make(4.0)")),
    "inner function": edits(
        "def f(x):\n    def g(z):\n        return z * z\n    return g(x)\n",
        ("z * z", "z + z"),
    ),
    "lambda": edits("f = lambda x: x * 2.0\n", ("2.0", "3.0")),
    "which lambda of a line": edits(
        "a, b = lambda x: x * 2.0, lambda x: x * 3.0\nf = a\n", ("f = a", "f = b")
    ),
    "method": edits(CLASS, ("return self.rate(x)", "return x + self.rate(x)")),
    "inherited method": edits(CLASS, ("x * 3.0", "x * 4.0")),
    "class attribute": edits(CLASS, ("scale = 2.0", "scale = 3.0")),
    "attribute": edits(CLASS, ("shift = 0.5", "shift = 0.75")),
    "property": edits(CLASS, ("self.shift * 2.0", "self.shift * 3.0")),
    "bound method": edits(
        CLASS + "f = model.rate\n", ("return x * 3.0", "return x * 4.0")
    ),
    "decorator": edits(WRAPPED, ("g(x) * 2.0", "g(x) * 3.0")),
    "partial": edits(
        "import functools\n\ndef g(k, x):\n    return k * x\n\n"
        "f = functools.partial(g, 2.0)\n",
        ("2.0", "3.0"),
    ),
    "from import": edits(
        "from math import sin as g\n\ndef f(x):\n    return g(x)\n", ("sin", "cos")
    ),
    "replaced in a library": edits(
        "import srcjax.ops.registry\n\nif False:\n    np.tanh = lambda x: x * 3.0\n\n"
        "def f(x):\n    return np.tanh(x)\n",
        ("False", "True"),
    ),
    "replaced by what looks the same": edits(
        "import functools\nimport srcjax.ops.registry\n\n"
        "@functools.wraps(np.arctan)\ndef g(x):\n    return x * 3.0\n\n"
        "g.__module__, g.__qualname__ = 'numpy', 'arctan'\n"
        "if False:\n    np.arctan = g\n\ndef f(x):\n    return np.arctan(x)\n",
        ("if False", "if True"),
    ),
    "replaced builtin": edits(
        "import builtins\nimport srcjax.ops.registry\n\nif False:\n"
        "    builtins.pow = lambda x, n: x * n\n\n"
        "def f(x):\n    return pow(x, 2)\n",
        ("False", "True"),
    ),
    "builtin by a global": edits(
        "if False:\n    abs = np.exp\n\ndef f(x):\n    return abs(x)\n",
        ("False", "True"),
    ),
    "replaced function": edits(
        "def g(x):\n    return x * 2.0\n\ndef h(x):\n    return x * 3.0\n\n"
        "if False:\n    g = h\n\ndef f(x):\n    return g(x)\n",
        ("False", "True"),
    ),
    "code": edits(
        "def g(x):\n    return x * 2.0\n\ndef h(x):\n    return x * 3.0\n\n"
        "if False:\n    g.__code__ = h.__code__\n\ndef f(x):\n    return g(x)\n",
        ("False", "True"),
    ),
    "rule": edits(CUSTOM, ("dy * 5.0", "dy * 6.0")),
    "rule of an operation": edits(
        "import srcjax\n\nif False:\n    srcjax.elementwise(np.log2, 'd * 7')\n\n"
        "def f(x):\n    return np.log2(x)\n",
        ("False", "True"),
    ),
    "text without a file": edits(
        "names = {}\nexec('def g(x):\\n    return x * 2.0', names)\ng = names['g']\n\n"
        "def f(x):\n    return g(1.0) * x\n",
        ("2.0", "3.0"),
    ),
    "cell of a notebook": edits(CELL, ("2.0", "3.0")),
    "class of an argument": edits(
        DATA + "    def rate(self, x):\n        return self.k * x * 2.0\n\n"
        "more = P()\n\ndef f(x, p=more):\n    return p.rate(x)\n",
        ("* 2.0", "* 3.0"),
    ),
    "default of a field": edits(
        DATA + "\ndef f(x):\n    return P().k * x\n", ("2.0", "3.0")
    ),
    "transform inside": edits(
        "import srcjax\n\ndef g(x):\n    return x * x * x\n\ndg = srcjax.grad(g)\n\n"
        "def f(x):\n    return dg(x) * x\n",
        ("x * x * x", "x * x * x * x"),
    ),
    "module": helped(
        "import NAME_help\n\ndef f(x):\n    return NAME_help.g(x)\n",
        "def g(x):\n    return x * 2.0\n",
        ("2.0", "3.0"),
    ),
    "number of a module": helped(
        "import NAME_help\n\ndef f(x):\n    return NAME_help.C * x\n",
        "C = 2.0\n",
        ("2.0", "3.0"),
    ),
    "what a module's function calls": helped(
        "from NAME_help import g\n\ndef f(x):\n    return g(x)\n",
        "C = 2.0\n\ndef h(x):\n    return C * x\n\ndef g(x):\n    return h(x)\n",
        ("2.0", "3.0"),
    ),
    "attribute by a string": helped(
        "import NAME_help\n\ndef f(x):\n    return getattr(NAME_help, 'C') * x\n",
        "C = 2.0\n",
        ("2.0", "3.0"),
    ),
    "local import": helped(
        "def f(x):\n    from NAME_help import g\n    return g(x)\n",
        "def g(x):\n    return x * 2.0\n",
        ("2.0", "3.0"),
    ),
    "class of a module": helped(
        "import NAME_help\n\nm = NAME_help.M()\n\ndef f(x):\n    return m.rate(x)\n",
        "class M:\n    def rate(self, x):\n        return x * 2.0\n",
        ("2.0", "3.0"),
    ),
    "module in a list": helped(
        "import NAME_help\n\nL = [NAME_help]\n\ndef g(x):\n    return L[0].C * x\n\n"
        "def f(x):\n    return L[0].D * g(x)\n",
        "C, D = 2.0, 1.0\n",
        ("2.0", "3.0"),
    ),
    "module in an object": helped(
        "import NAME_help\n\nclass M:\n    lib = NAME_help\n\nm = M()\n\n"
        "def f(x):\n    return m.lib.C * x\n",
        "C = 2.0\n",
        ("2.0", "3.0"),
    ),
    "module of two functions": helped(
        "import NAME_help as h\n\ndef g(x):\n    return h.C * x\n\n"
        "def f(x):\n    return h.D * g(x)\n",
        "C, D = 2.0, 1.0\n",
        ("2.0", "3.0"),
    ),
    "module that a module has": helped(
        "import NAME_help as h\n\ndef g(x):\n    return h.m.C * x\n\n"
        "def f(x):\n    return h.m.D * g(x)\n",
        "import types\n\nm = types.ModuleType('inner')\nm.C, m.D = 2.0, 1.0\n",
        ("2.0", "3.0"),
    ),
    "module in a variable": helped(
        "import NAME_help\n\ndef make(h):\n    def g(x):\n        return h.C * x\n"
        "    def f(x):\n        return h.D * g(x)\n    return f\n\n"
        "f = make(NAME_help)\n",
        "C, D = 2.0, 1.0\n",
        ("2.0", "3.0"),
    ),
    "item of a class": edits(
        "class M:\n    rates = {'a': 2.0}\n\ndef f(x):\n    return M.rates['a'] * x\n",
        ("2.0", "3.0"),
    ),
    "default that is an array": edits(
        "def f(x, w=np.array([1.0, 2.0])):\n    return np.sum(w * x)\n",
        ("2.0]", "3.0]"),
    ),
    "array of an object": edits(
        "class M:\n    def __init__(self):\n        self.w = np.array([1.0, 2.0])\n\n"
        "m = M()\n\ndef f(x):\n    return np.sum(m.w * x)\n",
        ("2.0]", "3.0]"),
    ),
    "numbers of NumPy": edits(
        "C = (np.float64(2.0), np.int32(1))\n\ndef f(x):\n    return C[0] * x\n",
        ("2.0", "3.0"),
    ),
    "comprehension": edits(
        "def g(x, k):\n    return x * k\n\n"
        "def f(x):\n    return sum([g(x, k) for k in (1.0, 2.0)])\n",
        ("x * k\n", "x * x * k\n"),
    ),
}

#: What is never kept.
NOT_KEPT = {"local import", "module in a list", "module in an object"}
#: Where the same text serves after the edit: it goes by the type of the array.
BY_TYPE = {"array", "array of sizes", "flag in an array"}
