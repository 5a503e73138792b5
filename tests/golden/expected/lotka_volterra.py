import numpy as np

__all__ = ["grad_lotka_volterra"]


def grad_lotka_volterra(prey, predators, dt):
    """Gradient of lotka_volterra with respect to prey and predators."""
    if np.ndim(prey) != 0 or np.ndim(predators) != 0 or np.ndim(dt) != 0:
        raise ValueError("grad_lotka_volterra is for numbers, not for arrays")
    tape = []
    for _ in range(20):
        births = prey * (1.1 - 0.4 * predators)
        deaths = predators * (0.1 * prey - 0.4)
        tape.append((prey, predators))
        prey = prey + dt * births
        predators = predators + dt * deaths
    # return prey + predators
    dprey = 1.0
    dpredators = 1.0
    for prey, predators in reversed(tape):
        # predators = predators + dt * deaths
        ddeaths = dpredators * dt
        # prey = prey + dt * births
        dbirths = dprey * dt
        # deaths = predators * (0.1 * prey - 0.4)
        dpredators += ddeaths * (0.1 * prey - 0.4)
        dprey += 0.1 * ddeaths * predators
        # births = prey * (1.1 - 0.4 * predators)
        dprey += dbirths * (1.1 - 0.4 * predators)
        dpredators -= 0.4 * dbirths * prey
    return dprey, dpredators
