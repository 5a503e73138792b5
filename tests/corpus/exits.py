"""`break`, `continue`, early `return`, and `else` on loops."""

import numpy as np

from .registry import normal, program


@program(0.7)
def break_on_value(x):
    y = x
    for _ in range(10):
        y = y * 1.5
        if y > 3:
            break
    return y * x


@program(0.7)
def break_before_update(x):
    y = x
    for k in range(10):
        if y > 2:
            break
        y = y + x * k
    return y


@program(normal(6))
def continue_on_sign(x):
    total = 0.0
    for value in x:
        if value < 0:
            continue
        total = total + value**2
    return total


@program(normal(8))
def break_and_continue(x):
    total = 0.0
    for i, value in enumerate(x):
        if value < -0.5:
            continue
        total = total + value * i
        if total > 3:
            break
        total = total * 1.1
    return total


@program(0.7)
def return_inside_a_loop(x):
    y = x
    for k in range(10):
        y = y * y + 0.5
        if y > 2:
            return y * k
    return y


@program(0.1)
def return_after_a_loop(x):
    y = x
    for k in range(3):
        y = y * y + 0.1
        if y > 2:
            return y * k
    return y - x


@program(normal(3, 4))
def return_inside_nested_loops(matrix):
    total = 0.0
    for row in matrix:
        for value in row:
            total = total + value**2
            if total > 2:
                return total * value
    return total


@program(normal(3, 4))
def break_of_the_inner_loop(matrix):
    total = 0.0
    for row in matrix:
        partial = 1.0
        for value in row:
            if value < -0.3:
                break
            partial = partial * (1 + value)
        total = total + partial
    return total


@program(0.8)
def while_true_with_break(x):
    y = 1.0
    while True:
        y = y + x * y
        if y > 5:
            break
    return y


@program(0.8)
def while_with_continue(x):
    i = 0
    total = 0.0
    while i < 6:
        i += 1
        if i % 3 == 0:
            continue
        total = total + x**i
    return total


@program(0.8)
def loop_else_taken(x):
    y = x
    for _ in range(3):
        y = y * 0.5
        if y > 10:
            break
    else:
        y = y + x**2
    return y


@program(3.0)
def loop_else_skipped(x):
    y = x
    for _ in range(3):
        y = y * 2
        if y > 10:
            break
    else:
        y = y + x**2
    return y * x


@program(2.0)
def while_else(x):
    n = 3
    while n > 0:
        x = x * 1.5
        n -= 1
    else:
        x = x + 1
    return x**2


@program(-0.4)
def guard_clauses(x):
    if x > 1:
        return x
    if x < -1:
        return -x
    y = x * x
    if y > 0.5:
        return y
    return y * y + x


@program(1.4)
def return_in_both_branches(x):
    if x > 1:
        y = np.log(x)
        return y * x
    else:
        y = x**2
        return y - 1


@program(0.9)
def return_after_branch_with_loop(x):
    if x < 1:
        for _ in range(3):
            x = x * 1.3
            if x > 1.2:
                return x**2
    return x


@program(1.6)
def returns_of_different_structure_taken(x):
    total = x
    for k in range(4):
        total = total * x
        if k == 2:
            result = (total, x)
            break
    else:
        result = (total,)
    return result[0] * len(result)


@program(normal(5))
def search_then_use(x):
    found = -1
    for i in range(len(x)):
        if x[i] > 0.3:
            found = i
            break
    if found < 0:
        return 0.0
    return x[found] ** 2


@program(2.4)
def unreachable_after_return(x):
    return x * x
    x = x + 1
    return x


@program(normal(6))
def continue_in_while_with_else(x):
    i = 0
    total = 1.0
    while i < len(x):
        value = x[i]
        i += 1
        if value > 1:
            continue
        total = total * (1 + value * value)
    else:
        total = total - 1
    return total


@program(0.9)
def last_one_before_a_limit(x):
    before = x
    for _ in range(10):
        if x > 8.0:
            return before
        before = x
        if x > 2.0:
            x = x + 1.5
        else:
            x = x * (2.0 if before > 1.0 else 3.0)
    return x
