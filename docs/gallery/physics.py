"""Simulations: each is differentiated with respect to what one would like to fit."""

import math

import numpy as np
from gallery.entries import Entry


def pendulum(angle, speed, length, dt, steps):
    for _ in range(steps):
        speed = speed - dt * 9.81 / length * math.sin(angle)
        angle = angle + dt * speed
    return angle


def projectile(speed, angle, drag, dt):
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    while y >= 0.0:
        vx, vy = vx - dt * drag * vx, vy - dt * (9.81 + drag * vy)
        x, y = x + dt * vx, y + dt * vy
    return x


def heat(u, conductivity, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += conductivity * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def wave_energy(u, speed, steps):
    previous = u
    for _ in range(steps):
        following = np.zeros_like(u)
        bend = u[2:] - 2 * u[1:-1] + u[:-2]
        following[1:-1] = 2 * u[1:-1] - previous[1:-1] + speed**2 * bend
        previous, u = u, following
    return np.sum(u**2)


def lennard_jones(positions):
    energy = 0.0
    for i in range(len(positions)):
        for j in range(i):
            r2 = np.sum((positions[i] - positions[j]) ** 2)
            energy += 4 * (r2**-6 - r2**-3)
    return energy


def predator_prey(rates, prey, predators, dt, steps):
    birth, hunt, growth, death = rates
    for _ in range(steps):
        eaten = hunt * prey * predators
        prey = prey + dt * (birth * prey - eaten)
        predators = predators + dt * (growth * eaten - death * predators)
    return prey


def lens(surfaces, height):
    slope = 0.0
    for power, distance in surfaces:
        slope = slope - power * height
        height = height + distance * slope
    return height**2


ENTRIES = [
    Entry(
        "A pendulum",
        "Two values that depend on each other, step after step.",
        pendulum,
        (0.5, 0.0, 1.2, 0.01, 20),
        (0, 1, 2),
    ),
    Entry(
        "A thrown ball, with drag",
        "A loop whose end depends on the values: the steps are counted.",
        projectile,
        (12.0, 0.8, 0.1, 0.02),
        (0, 1, 2),
    ),
    Entry(
        "Heat in a rod",
        "An array written in place. With respect to the first temperatures nothing has "
        "to be remembered.",
        heat,
        (np.array([0.0, 1.0, 4.0, 2.0, 0.0, 1.0]), 0.1, 5),
    ),
    Entry(
        "A wave",
        "Three arrays that change places in each step, and so do their adjoints.",
        wave_energy,
        (np.array([0.0, 1.0, 3.0, 1.0, 0.0, 0.0]), 0.4, 5),
    ),
    Entry(
        "Forces between atoms",
        "The gradient of an energy is minus the force, equal and opposite for each "
        "pair.",
        lennard_jones,
        (np.array([[0.0, 0.0], [1.1, 0.1], [0.4, 1.2]]),),
    ),
    Entry(
        "Hunters and hunted",
        "Four rates at once, as a tuple: the gradient is a tuple too.",
        predator_prey,
        ((1.1, 0.4, 0.3, 0.4), 2.0, 1.0, 0.05, 10),
    ),
    Entry(
        "A ray through lenses",
        "A list of pairs: one adjoint for the power and one for the distance of each.",
        lens,
        ([(0.5, 1.0), (-0.2, 0.5), (0.8, 2.0)], 0.3),
    ),
]
