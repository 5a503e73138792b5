"""`try ... except`: what ran before an exception, and what did not."""

import math

import numpy as np

from .registry import program


class Diverged(Exception):
    """Raised by the programs themselves."""


def checked(x):
    if x > 3:
        raise Diverged("too large")
    return x * x


def inverse_or_double(x):
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        y = x * 2
    return np.sum(y * y)


program(np.array([[2.0, 1.0], [1.0, 3.0]]), name="inverted")(inverse_or_double)
program(np.zeros((2, 2)), name="not_inverted", jax=False)(inverse_or_double)


@program(2.0)
@program(4.0, name="returns_from_the_handler")
def returns_from_the_body(x):
    try:
        return checked(x)
    except Diverged:
        return checked(x - 3) * x


@program(np.array([1.0, 0.5, -3.0, 0.7, 0.9]), jax=False)
def several_handlers_in_a_loop(xs):
    total = 0.0
    y = 1.0
    for i in range(len(xs)):
        try:
            if xs[i] < 0:
                raise ValueError("negative")
            y = y * xs[i]
            z = np.sin(y) / (xs[i] - 2.0)
            if i == 3:
                raise KeyError
            total = total + z
        except ValueError:
            total = total + xs[i] ** 2
            continue
        except (KeyError, IndexError):
            total = total * y
        else:
            total = total * 1.5
    return total


@program(2.0, jax=False)
def half_done_names(x):
    y = x
    z = x
    try:
        y = y * 2
        z = math.sqrt(y)
        y = math.sqrt(-z)
        z = y
    except ValueError:
        pass
    return y * z


@program(2.0, jax=False)
def half_done_array(x):
    a = np.zeros(3)
    try:
        for i in range(5):
            a[i] = x * i
    except IndexError:
        a[0] = x * x
    return np.sum(a * a)


@program(2.0)
def half_done_list(x):
    out = []
    for v in [1.0, 0.0, 2.0]:
        try:
            out.append(x * v)
            out.append(x * x / v if v else checked(x * 9))
        except Diverged:
            out.append(x**3)
    return sum(out) * out[-1]


@program(0.5)
@program(2.0, name="raised_again_caught_outside")
def raised_again(x):
    y = x
    try:
        try:
            y = y * x
            if x > 1:
                raise KeyError("first")
            y = y * x
            raise ValueError("second")
        except KeyError:
            y = y * 3
            raise
    except (KeyError, ValueError) as error:
        y = y + len(error.args) * x
    return y


@program(2.0)
def retried_until_it_works(x):
    count = 0
    total = x
    while True:
        try:
            total = total * 1.5
            count += 1
            if total > 20:
                raise StopIteration
            if count == 3:
                continue
            total = total + x / float(4 - count) + checked(x / (4 - count) - 1)
        except ZeroDivisionError:
            total = total - x
        except Diverged:
            total = total * x
        except StopIteration:
            break
        else:
            total = total + x
        finally:
            total = total * 1.01
    return total * x


@program(0.3, jax=False)
@program(0.6, name="damped_until_positive", jax=False)
@program(3.0, name="positive_at_once")
def damped(x):
    step = 1.0
    y = np.zeros((2, 2))
    for _ in range(4):
        try:
            y = np.linalg.cholesky(np.array([[x, 1.0], [1.0, step]]))
            break
        except np.linalg.LinAlgError:
            step = step * 2 * x
    else:
        return x * step
    return np.sum(y)


@program(2.0)
def tapes_of_a_body_left_early(x):
    total = x
    for i in range(4):
        y = x + i
        try:
            for j in range(3):
                y = y * (x + j)
                if i * j == 4:
                    raise Diverged
            total = total * np.sin(y)
        except Diverged:
            total = total + x * i
    return total


@program(4.0)
def exception_with_a_value(x):
    y = x
    try:
        y = checked(y) + checked(1.0)
    except Diverged as problem:
        y = y * len(str(problem))
    return y * x


@program(2.0)
@program(0.5, name="with_falls_through")
def with_returns_sometimes(x):
    with np.errstate(all="ignore"):
        if x > 1:
            return x * 2
    return x * x


@program(2.0)
@program(0.5, name="finally_falls_through")
def finally_returns_sometimes(x):
    try:
        if x > 1:
            return x * 2
    finally:
        x = x + 1
    return x * x


@program(0.7)
@program(4.0, name="finally_breaks")
def finally_in_a_loop(x):
    for i in range(5):
        try:
            if x > 10:
                break
            if i == 2:
                continue
            x = x * 2
        finally:
            x = x * 1.5
        x = x + 1
    return x


@program(0.4)
def only_the_look_up_is_tried(x):
    table = {"scale": 3.0}
    try:
        scale = table["missing"]
    except KeyError:
        scale = table["scale"]
    return scale * x * x


@program(2.0, 1.0)
def both_sides_use_old_values(x, y):
    z = x * y
    try:
        w = z * z
        z = checked(w) * z
    except Diverged:
        z = z * z * x
    return z * y


@program(2.0)
@program(-1.0, name="value_overwritten_where_it_fails", jax=False)
def value_overwritten(x):
    y = x * 3
    try:
        y = math.log(y)
    except ValueError:
        y = y * 2
    return y * x


@program(np.array([1.0, 0.5, 2.0]), jax=False)
def a_bare_except_that_raises_again(x):
    try:
        y = np.sum(x**2)
        if y > 5:
            raise Diverged
    except:  # noqa: E722
        y = np.sum(x)
        if y > 100:
            raise
    return y * x[0]


def _logarithm(x):
    if x < 0:
        raise Diverged
    return np.log(x)


@program(2.0, 3.0)
@program(-2.0, 3.0, name="the_inner_bare_except", jax=False)
@program(-2.0, -3.0, name="the_outer_bare_except", jax=False)
def a_bare_except_inside_another(x, y):
    try:
        try:
            return _logarithm(x) * y
        except:  # noqa: E722
            return _logarithm(y) * x
    except:  # noqa: E722
        return x * y * y
