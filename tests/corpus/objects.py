"""Classes, dataclasses, attributes, methods, properties and callable objects."""

from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from .registry import normal, program


@dataclass
class Spring:
    stiffness: float
    rest: float = 1.0

    def energy(self, length):
        return 0.5 * self.stiffness * (length - self.rest) ** 2


@dataclass(frozen=True)
class State:
    position: float
    velocity: float
    history: tuple = field(default=())

    @property
    def energy(self):
        return 0.5 * self.velocity**2 + self.position**2

    def step(self, dt):
        return replace(
            self,
            position=self.position + dt * self.velocity,
            velocity=self.velocity - dt * np.sin(self.position),
        )


class Layer(NamedTuple):
    weights: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return np.tanh(x @ self.weights + self.bias)


class Polynomial:
    """Coefficients from the highest power down."""

    def __init__(self, *coefficients):
        self.coefficients = list(coefficients)

    def __call__(self, x):
        total = 0.0
        for c in self.coefficients:
            total = total * x + c
        return total

    def derivative(self):
        n = len(self.coefficients) - 1
        pairs = enumerate(self.coefficients[:-1])
        return Polynomial(*[(n - k) * c for k, c in pairs])

    @property
    def degree(self):
        return len(self.coefficients) - 1

    @staticmethod
    def scaled(x):
        return x * 0.5

    @classmethod
    def line(cls, slope):
        return cls(slope, 0.0)


class Model:
    def __init__(self):
        self.weights = normal(3, seed=1)
        self.rate = 0.1
        self.names = {"first": 0}

    def penalty(self, w):
        return self.rate * w @ w

    def loss(self, w):
        return np.sum((w - self.weights) ** 2) + self.penalty(w)

    def __call__(self, x):
        return np.tanh(x @ self.weights) + x[self.names["first"]]


MODEL = Model()

program(normal(3), name="bound_method")(MODEL.loss)
program(normal(3), name="callable_object")(MODEL)


@program(0.6, 1.4)
def dataclass_made_inside(stiffness, length):
    spring = Spring(stiffness, rest=0.5)
    return spring.energy(length) + spring.stiffness * length


@program(0.6)
def dataclass_with_defaults(x):
    spring = Spring(stiffness=x)
    return spring.energy(x * 3)


@program(Spring(2.0), 1.4, argnums=1)
def dataclass_as_inactive_argument(spring, length):
    return spring.energy(length) * spring.rest


@program(0.6, 0.1)
def frozen_dataclass_steps(position, velocity):
    state = State(position, velocity)
    for _ in range(3):
        state = state.step(0.1)
    return state.energy


@program(0.6)
def attribute_assigned(x):
    spring = Spring(1.0)
    spring.stiffness = x * x
    spring.rest += x
    return spring.energy(3.0) + spring.stiffness


@program(0.6)
def attribute_of_an_alias(x):
    spring = Spring(x)
    same = spring
    same.stiffness = x**3
    return spring.stiffness * spring.rest


@program(Layer(normal(2, 3), normal(3, seed=1)), normal(2, seed=2))
def namedtuple_with_methods(layer, x):
    return np.sum(layer(x) ** 2) + layer.bias[0]


@program(0.6)
def object_called(x):
    return Polynomial(1.0, x, 2.0)(x) * 2


@program(0.6)
def object_from_method(x):
    polynomial = Polynomial(x, 1.0, x * x, 3.0)
    return polynomial.derivative()(2.0) + polynomial(x) * polynomial.degree


@program(0.6)
def static_and_class_methods(x):
    return Polynomial.scaled(x) * Polynomial.line(x * x)(3.0)


@program(0.6)
def bound_method_kept(x):
    spring = Spring(x)
    energy = spring.energy
    return energy(2.0) + energy(x)


@program(normal(3))
def attributes_of_a_global_object(x):
    return np.sum(MODEL.weights * x) * MODEL.rate + MODEL.penalty(x)


@program(0.6)
def objects_in_a_list(x):
    springs = [Spring(x * k, rest=0.1 * k) for k in range(1, 4)]
    return sum(spring.energy(2.0) for spring in springs)


@program(0.6)
def getattr_and_isinstance(x):
    state = State(x, x * 2)
    total = 0.0
    for name in ("position", "velocity"):
        total = total + getattr(state, name) ** 2
    if isinstance(state, State) and hasattr(state, "energy"):
        total = total * state.energy
    return total


@program(0.6)
def match_on_class(x):
    match State(x, x * x):
        case State(position=p, velocity=v) if p > v:
            return p - v**2
        case _:
            return x


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, scale):
        return Vector(self.x * scale, self.y * scale)

    def __getitem__(self, i):
        return (self.x, self.y)[i]


@program(0.6, 1.3)
def operators_of_a_class(x, y):
    v = Vector(x, y) + Vector(y, 1.0) * x
    return v[0] * v.y


class Integrator:
    """Keeps its state in attributes, and steps it by a method."""

    def __init__(self, x):
        self.x = x
        self.time = 0.0

    def advance(self, dt):
        self.x = self.x + dt * np.cos(self.x)
        self.time += dt


@program(0.6)
def method_changes_its_object(x):
    integrator = Integrator(x)
    for _ in range(3):
        integrator.advance(0.2)
    return integrator.x * integrator.time


@dataclass
class Particle:
    pos: np.ndarray | float
    vel: np.ndarray | float


@program(normal(2), jax=False, order=1)
def particles_in_a_list_moved(x):
    particles = [Particle(0.0, x[0]), Particle(1.0, x[1])]
    for _ in range(2):
        for p in particles:
            p.vel = p.vel - 0.1 * p.pos * x[0]
            p.pos = p.pos + 0.1 * p.vel
    return particles[0].pos * particles[1].pos


@program(normal(2), jax=False, order=1)
def particles_with_arrays_moved_by_forces(x):
    particles = [Particle(np.zeros(2), x * (i + 1)) for i in range(2)]
    for _ in range(2):
        forces = [p.pos * x[0] for p in particles]
        for p, f in zip(particles, forces):  # noqa: B905
            p.vel = p.vel - 0.1 * f
            p.pos = p.pos + 0.1 * p.vel
    return sum(np.sum(p.pos**2) for p in particles)


@program(normal(2), jax=False, order=1)
def particles_that_act_on_each_other(x):
    particles = [Particle(0.0, x[0]), Particle(1.0, x[1])]
    for i in range(2):
        for j in range(2):
            if i != j:
                force = (particles[j].pos - particles[i].pos) * 0.3
                particles[i].vel += force * x[0]
        for p in particles:
            p.pos += p.vel
    return particles[0].pos * particles[1].pos


@program(normal(2), jax=False, order=1)
def objects_in_a_dict_changed(x):
    held = {"a": Particle(x[0], x[1]), "b": Particle(x[1], 0.5)}
    for _ in range(2):
        for _, p in held.items():
            p.pos = p.pos * p.vel + 0.1
        held["a"].pos += held["b"].pos
    return held["a"].pos * held["b"].pos


class Controller:
    def __init__(self, kp, ki, kd):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.integral = 0.0
        self.last = None

    def step(self, error, dt):
        self.integral += error * dt
        slope = 0.0 if self.last is None else (error - self.last) / dt
        self.last = error
        return self.kp * error + self.ki * self.integral + self.kd * slope


@program(np.array([2.0, 0.5, 0.1]), jax=False, order=1)
def controller_with_memory(gains):
    controller = Controller(*gains)
    x = v = cost = 0.0
    for _ in range(8):
        error = 1.0 - x
        force = np.clip(controller.step(error, 0.1), -3, 3)
        v += (force - 0.5 * v) * 0.1
        x += v * 0.1
        cost += error**2 * 0.1 + 0.01 * force**2
    return cost


class Relaxation:
    """Keeps arrays that its methods change in place, and a list of what it saw."""

    rate = 0.5

    def __init__(self, start):
        self.field = np.zeros(4)
        self.field[1:-1] = start
        self.weights = self.field + 1.0
        self.log = []

    def energy(self):
        return self.field @ self.weights

    def step(self):
        self.field[1:-1] += self.rate * (self.field[2:] - self.field[:-2]) ** 2
        self.weights *= self.field
        self.log.append(self.energy())


@program(normal(2), jax=False, order=1)
def object_with_arrays_and_a_log(start):
    relaxation = Relaxation(start)
    for _ in range(3):
        relaxation.step()
    return sum(relaxation.log) + relaxation.weights[1]


@program(normal(2), jax=False, order=1)
def array_that_an_object_shares(x):
    held = (lambda scale: scale * np.ones(2))(x[0])
    kept = held
    particle = Particle(held, x)
    particle.pos *= x
    held *= x[1]
    return np.sum(kept * particle.vel)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, value):
        self.items.append(value)
        return self

    def pop(self):
        return self.items.pop()


@program(np.array([0.7, 1.3, 0.4]))
def stack_machine(x):
    stack = Stack()
    for token in "0 1 * 2 +".split():
        if token == "*":
            stack.push(stack.pop() * stack.pop())
        elif token == "+":
            stack.push(stack.pop() + stack.pop())
        else:
            stack.push(x[int(token)])
    return stack.push(x[2]).pop() * stack.pop()


@dataclass
class Run:
    rate: float
    scale: InitVar[float] = 2.0
    losses: list = field(default_factory=list)
    steps: int = field(default=0, init=False)

    def __post_init__(self, scale):
        self.rate = self.rate * scale

    @cached_property
    def squared(self):
        return self.rate**2

    def note(self, loss):
        self.losses.append(loss * self.rate)
        self.steps += 1


@program(0.7, 1.3)
def dataclass_with_a_list(x, y):
    first, second = Run(x), Run(y, scale=x, losses=[y])
    first.note(x * y)
    second.note(x)
    first.note(second.squared * second.squared)
    return sum(first.losses) * second.losses[0] * second.losses[1] * first.steps


class Shape:
    def __init__(self, size):
        super().__init__()
        self.size = size

    def area(self):
        return self.size**2

    def __mul__(self, factor):
        return type(self)(self.size * factor)

    __rmul__ = __mul__


class Disc(Shape):
    def area(self):
        return np.pi * super().area()


@program(normal(2), jax=False, order=1)
def shapes_of_several_classes(x):
    total = 0.0
    for shape in [Shape(x[0]), Disc(x[1])]:
        total += shape.area()
    return total + (2.0 * Disc(x[0])).area()


class Law:
    power = 2

    def __init__(self, scale):
        self.scale = scale

    @property
    def strength(self):
        return self.scale * 2.0

    def force(self, r):
        return self.strength / r**self.power


class Screened(Law):
    def __init__(self, scale, length):
        super().__init__(scale * length)
        self.length = length

    @property
    def strength(self):
        return super().strength + 1.0

    def force(self, r):
        return super().force(r) * np.exp(-r / self.length)


@program(0.7, 1.3)
def inherited_methods(x, r):
    return Screened(x, r).force(r) * Screened(2.0, 0.5).force(r) + Law(3.0).force(x)


class Planet:
    def __init__(self, mass, position):
        self.m = mass
        self.pos = np.array(position) * 1.0
        self.vel = np.zeros(2)

    def energy(self):
        return 0.5 * self.m * np.sum(self.vel**2)


class System:
    def __init__(self, bodies):
        self.bodies = bodies

    def step(self, dt):
        for i in range(len(self.bodies)):
            for j in range(i):
                a, b = self.bodies[i], self.bodies[j]
                d = b.pos - a.pos
                force = a.m * b.m * d / (d @ d + 0.1) ** 1.5
                a.vel += dt * force / a.m
                b.vel -= dt * force / b.m
        for b in self.bodies:
            b.pos += dt * b.vel


@program(normal(3), jax=False, order=1)
def planets_that_attract_each_other(x):
    bodies = [Planet(x[0] + 3.0, [x[1], 0.0]), Planet(1.0, [0.0, x[2]])]
    system = System([*bodies, Planet(2.0, x[:2])])
    for _ in range(2):
        system.step(0.1)
    return sum(b.energy() for b in system.bodies)


@program(normal(3), jax=False)
def namespace_of_state(x):
    state = SimpleNamespace(speed=x[0], path=x * 2.0)
    state.speed = state.speed * state.path[1]
    state.path += x
    state.end = state.speed + 1.0
    return state.end * np.sum(state.path**2)


class Temperature:
    def __init__(self, celsius):
        self._celsius = celsius

    @property
    def fahrenheit(self):
        return self._celsius * 1.8 + 32.0

    @fahrenheit.setter
    def fahrenheit(self, value):
        self._celsius = (value - 32.0) / 1.8


@program(0.6, 1.2)
def setter_of_a_property(x, y):
    t = Temperature(x)
    t.fahrenheit = t.fahrenheit * y
    t.fahrenheit += x
    return t._celsius * t.fahrenheit


class Quantities:
    """What operators and built-in functions of one operand call."""

    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        pairs = zip(self.parts, other.parts, strict=True)
        return Quantities(*(a + b for a, b in pairs))

    def __mul__(self, factor):
        return Quantities(*(a * factor for a in self.parts))

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts, strict=True))

    def __neg__(self):
        return -1 * self

    def __pos__(self):
        return self * (1 / abs(self))

    def __invert__(self):
        return Quantities(-self.parts[1], self.parts[0])

    def __abs__(self):
        return np.sqrt(self @ self)

    def __len__(self):
        return len(self.parts)

    def __float__(self):
        return float(self.parts[0] ** 2)

    def __round__(self, digits=0):
        return self.parts[1] * (3.0 + digits)


@program(normal(2), normal(2), jax=False)
def signs_and_lengths_of_vectors(x, y):
    a, b = Quantities(x[0], x[1]), Quantities(y[0], y[1])
    c = -a + 2.0 * +b + ~a
    return abs(c) * float(c) / len(c) + round(c, 2) + round(b)


class Dense:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        return x @ self.weights


class Rectified:
    def __call__(self, x):
        return np.maximum(x, 0.1 * x)


class Remembering:
    """A layer without parameters, which keeps what it gave."""

    def __call__(self, x):
        self.given = np.tanh(x)
        return self.given


class Network:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@program(normal(2, 3), jax=False)
def network_of_layers_of_several_classes(w):
    network = Network(Dense(w), Rectified(), Dense(w.T))
    return np.sum(network(np.array([[0.3, 0.7], [-0.4, 0.1]])) ** 2)


@program(normal(2, 3), jax=False)
def layers_of_which_one_remembers(w):
    x = np.array([[0.3, 0.7], [-0.4, 0.1]])
    last = Remembering()
    for layer in [Dense(w), Remembering(), Dense(w.T), last]:
        x = layer(x)
    return np.sum(x**2) + np.sum(last.given)


@program(normal(2, 3), jax=False)
def layers_gone_through_backwards(w):
    x = np.array([[0.3, 0.7], [-0.4, 0.1]])
    layers = [Rectified(), Dense(w)]
    for number, layer in enumerate(reversed(layers), 1):
        x = number * layer(x)
    return np.sum(x**2)


@program(normal(3), jax=False)
def layers_without_parameters_in_a_list(x):
    layers = [Remembering() for _ in range(2)]
    for layer in layers:
        x = layer(x)
    return np.sum(x * layers[0].given)
