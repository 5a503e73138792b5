__all__ = ["grad_lotka_volterra"]


def grad_lotka_volterra(prey, predators, dt):
    prey_tape = []
    predators_tape = []
    difference_tape = []
    difference2_tape = []
    for _ in range(20):
        difference = 1.1 - 0.4 * predators
        births = prey * difference
        difference2 = 0.1 * prey - 0.4
        deaths = predators * difference2
        prey_tape.append(prey)
        prey = prey + dt * births
        predators_tape.append(predators)
        predators = predators + dt * deaths
        difference_tape.append(difference)
        difference2_tape.append(difference2)
    # return prey + predators
    dprey = 1.0
    dpredators = 1.0
    for _ in reversed(range(20)):
        difference = difference_tape.pop()
        difference2 = difference2_tape.pop()
        # predators = predators + dt * deaths
        predators = predators_tape.pop()
        ddeaths = dpredators * dt
        # prey = prey + dt * births
        prey = prey_tape.pop()
        dbirths = dprey * dt
        # deaths = predators * (0.1 * prey - 0.4)
        dpredators += ddeaths * difference2
        dprey += ddeaths * predators * 0.1
        # births = prey * (1.1 - 0.4 * predators)
        dprey += dbirths * difference
        dpredators -= 0.4 * (dbirths * prey)
    return dprey, dpredators
