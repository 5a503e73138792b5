"""Programs of objects in lists: layers, bodies, trees, circuits."""

import operator

import numpy as np

XS = np.array([[0.3, -1.2], [0.8, 0.1], [-0.5, 0.4], [1.1, 0.9]])
TARGETS = np.array([[0.2], [-0.4], [0.9], [0.1]])
FIRST = np.array([[0.5, -0.3, 0.8], [0.1, 0.7, -0.6]])
SECOND = np.array([[0.4], [-0.9], [0.3]])
FIVE = np.array([0.3, -0.4, 0.8, 0.5, -0.7])


class Module:
    def __call__(self, x):
        return self.forward(x)


class Linear(Module):
    def __init__(self, w, b):
        self.w, self.b = w, b
        self.dw, self.db = np.zeros_like(w), np.zeros_like(b)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, g):
        self.dw = self.x.T @ g
        self.db = g.sum(axis=0)
        return g @ self.w.T


class Tanh(Module):
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, g):
        return g * (1 - self.y**2)


class Sequential(Module):
    def __init__(self, *layers):
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def backward(self, g):
        for layer in reversed(self.layers):
            g = layer.backward(g)
        return g


def network(p):
    first = Linear(FIRST * p[0], np.zeros(3) + p[1])
    return Sequential(first, Tanh(), Linear(SECOND * p[2], p[3:4]))


def backward_by_hand(p):
    net = network(p)
    y = net(XS)
    net.backward(2 * (y - TARGETS) / len(TARGETS))
    s = p[4] ** 2
    for layer in net.layers:
        if isinstance(layer, Linear):
            s += np.sum(layer.dw**2) + np.sum(layer.db)
    return s


def two_steps(p):
    net = network(p)
    for _ in range(2):
        net.backward(2 * (net(XS) - TARGETS) / len(TARGETS))
        for layer in net.layers:
            if hasattr(layer, "dw"):
                layer.w = layer.w - 0.1 * layer.dw
                layer.b = layer.b - 0.1 * layer.db
    return np.mean((net(XS) - TARGETS) ** 2) + p[4] ** 2


def zipped(p):
    layers = [Linear(FIRST * p[0], np.zeros(3) + p[1]), Linear(SECOND * p[2], p[3:4])]
    h = XS
    for i, (layer, act) in enumerate(zip(layers, [np.tanh, lambda z: z], strict=True)):
        h = act(layer(h)) * (1.0 + 0.1 * i)
    return np.sum(h**2) + p[4]


class Plus(Module):
    def forward(self, x):
        return x + 0.5


class Cube(Module):
    def forward(self, x):
        return x**3 + x


def nested(p):
    return Sequential(Cube(), Sequential(Plus(), Cube()), Plus())(p[0]) * p[1]


class Body:
    def __init__(self, x, v, m=1.0):
        self.x, self.v, self.m = x, v, m

    def kinetic(self):
        return 0.5 * self.m * np.sum(self.v**2)


def bodies_of_arrays(p):
    bodies = [
        Body(np.array([p[0], p[1]]), np.array([0.0, p[2]])),
        Body(np.array([1.0, 0.5]), np.array([p[3], 0.0]), 2.0),
        Body(np.array([-1.0, p[4]]), np.array([0.1, 0.2])),
    ]
    for _ in range(3):
        for a in bodies:
            f = np.zeros(2)
            for b in bodies:
                if b is not a:
                    d = b.x - a.x
                    f = f + b.m * d / (d @ d + 0.1) ** 1.5
            a.v = a.v + 0.1 * f
        for b in bodies:
            b.x += 0.1 * b.v
    return sum(b.kinetic() for b in bodies) + bodies[0].x[0]


def bodies_by_number(p):
    bodies = [Body(p[0], p[1]), Body(p[2], p[3])]
    for _ in range(3):
        f = bodies[1].x - bodies[0].x
        bodies[0].v = bodies[0].v + 0.1 * f
        bodies[1].v = bodies[1].v - 0.1 * f
        bodies[0].x += 0.1 * bodies[0].v
        bodies[1].x += 0.1 * bodies[1].v
    return bodies[0].x ** 2 + bodies[1].v * p[4]


def objects_of_a_loop(p):
    made = []
    for i in range(3):
        b = Body(p[i], p[i + 1])
        made.append(b)
        first, last = made[0], made[-1]
        first.v = first.v * 1.5 + b.x
        last.x = last.x * p[4]
    return sum(b.x * b.v for b in made)


def one_twice(p):
    a = Body(p[0], p[1])
    bodies = [a, a, Body(p[2], p[3])]
    for b in bodies:
        b.x = b.x * p[4] + b.v
    return a.x + bodies[1].x * bodies[2].x


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def total(self):
        s = self.value
        if self.left is not None:
            s = s + 0.5 * self.left.total()
        if self.right:
            s = s + 0.25 * self.right.total() ** 2
        return s


def tree(p):
    return Node(p[0], Node(p[1], Node(p[3])), Node(p[2])).total()


class Number:
    def __init__(self, value):
        self.value = value

    def evaluate(self, variables):
        return self.value


class Variable:
    def __init__(self, name):
        self.name = name

    def evaluate(self, variables):
        return variables[self.name]


class Operation:
    BY_SIGN = {"+": operator.add, "*": operator.mul, "-": lambda a, b: a - b}

    def __init__(self, sign, left, right):
        self.sign, self.left, self.right = sign, left, right

    def evaluate(self, variables):
        left, right = self.left.evaluate(variables), self.right.evaluate(variables)
        return self.BY_SIGN[self.sign](left, right)


def expression(p):
    x, y = Variable("x"), Variable("y")
    first = Operation("*", x, Number(p[2]))
    whole = Operation("+", first, Operation("-", y, Operation("*", x, x)))
    return whole.evaluate({"x": p[0], "y": p[1]})


class Money:
    def __init__(self, v):
        self.v = v

    def add(self, other):
        if not isinstance(other, Money):
            return self.add(Money(other))
        return Money(self.v + other.v)


def called_with_another_type(p):
    return Money(p[0]).add(p[1]).add(Money(2.0)).v * p[2]


def item_set_to_another(p):
    a, b = Body(p[0], p[1]), Body(p[1], p[2])
    bodies = [a, b]
    bodies[0] = b
    bodies[0].x = p[2] * 3
    return a.x + b.x * p[0] + p[3] * p[4]


def two_names_of_one(p):
    a = Body(p[0], p[1])
    b = a
    bodies = [a, b]
    bodies[1].x = p[2] ** 2
    bodies[0].x = bodies[0].x + 0.1 * bodies[0].v
    return a.x * p[0] + p[3] * p[4]


def traded_places(p):
    a, b = Body(p[0], p[1]), Body(p[2], p[3])
    bodies = [a, b]
    bodies[0], bodies[1] = bodies[1], bodies[0]
    bodies[0].x = bodies[0].x + 0.3 * bodies[0].v
    bodies[0].v = p[1] ** 2
    bodies[0].x = bodies[0].x + 0.3 * bodies[0].v
    return a.x + 2 * b.x * p[4]


def made_in_each_trip(p):
    total = 0.0
    for k in range(2):
        a, b = Body(p[k], p[1]), Body(p[2], p[3])
        bodies = [a, b]
        for body in bodies:
            body.x = body.x + (0.2 + k) * body.v
        bodies[0].v = 3 * p[4]
        for body in bodies:
            body.x = body.x + 0.2 * body.v
        total = total + a.x * b.x
    return total


OBJECTS = {
    f.__name__: (f, (FIVE,))
    for f in (
        backward_by_hand,
        two_steps,
        zipped,
        nested,
        bodies_of_arrays,
        bodies_by_number,
        objects_of_a_loop,
        one_twice,
        tree,
        expression,
        called_with_another_type,
        item_set_to_another,
        two_names_of_one,
        traded_places,
        made_in_each_trip,
    )
}
