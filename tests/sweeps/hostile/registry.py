"""The register of hostile programs."""

PROGRAMS = []


def program(*args):
    """Note the decorated function down with its arguments; the first varies."""

    def register(function):
        PROGRAMS.append((function, args))
        return function

    return register
