"""Functions of a few real numbers, straight through."""

import math

import numpy as np
from scipy.special import erf, expit, gammaln

from .registry import program


@program(3.0)
def square(x):
    return x * x


@program(1.7)
def cube_plus_line(x):
    return x**3 - 2 * x + 5


@program(0.7, 1.3)
def two_variables(x, y):
    return x * y + np.sin(x) - y**2


@program(0.4)
def sine_of_square(x):
    return math.sin(x * x)


@program(1.2)
def five_operations(x):
    a = x * 2.0
    b = np.sin(a)
    c = b + x
    d = np.exp(c)
    return d / x


@program(0.3)
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@program(0.3)
def sigmoid_of_scipy(x):
    return expit(2 * x)


@program(2.0)
def softplus(x):
    return np.log1p(np.exp(x))


@program(1.5, 2.5)
def power_of_two_variables(x, y):
    return x**y


@program(0.8)
def constant_to_the_power(x):
    return 2.0**x + math.pow(x, 3)


@program(5.0, 2.0)
def division_and_remainder(x, y):
    return x / y + x % y


@program(3.0, 4.0)
def hypotenuse(x, y):
    return math.sqrt(x**2 + y**2)


@program(0.5, 1.5)
def angle(x, y):
    return math.atan2(y, x) + np.hypot(x, y)


@program(0.45)
def inverse_trigonometry(x):
    return np.arcsin(x) + np.arccos(x / 2) * np.arctan(3 * x)


@program(0.6)
def hyperbolic(x):
    return np.sinh(x) * math.cosh(x) - np.tanh(x) + math.asinh(x)


@program(2.5)
def logarithms(x):
    return math.log(x) + np.log2(x) * math.log10(x) + math.log1p(x)


@program(-1.4)
def absolute_value(x):
    return abs(x) * np.abs(x - 1) + math.fabs(x)


@program(0.9)
def same_variable_many_times(x):
    return x * x + x / (x + 1) - x + (-x) * +x


@program(1.1)
def reassigned(x):
    x = x * 2
    x = x + 1
    x = np.sin(x) * x
    return x


@program(1.1)
def augmented(x):
    y = x
    y += 3
    y *= x
    y -= x**2 / 2
    y /= x + 1
    y **= 2
    return y


@program(0.5, 2.0)
def swap(x, y):
    x, y = y, x
    return x - y * y


@program(0.7)
def normal_density(x):
    return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


@program(0.3)
def normal_distribution(x):
    return 0.5 * (1 + erf(x / np.sqrt(2))) + math.erf(x)


@program(2.2)
def log_gamma(x):
    return gammaln(x) + math.lgamma(x + 1)


@program(100.0, 95.0, 0.5, 0.2, 0.01)
def black_scholes_call(spot, strike, years, volatility, rate):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    cdf1 = 0.5 * (1 + erf(d1 / np.sqrt(2)))
    cdf2 = 0.5 * (1 + erf(d2 / np.sqrt(2)))
    return spot * cdf1 - strike * np.exp(-rate * years) * cdf2


@program(0.4, -0.3)
def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


@program(1.0, 0.25, 2.0)
def three_results(mean, slope, x):
    """The value, and two parts that it is made of."""
    linear = mean + slope * x
    quadratic = slope * x**2
    return linear * quadratic, linear, quadratic


@program(0.8, 0.1)
def polar_to_cartesian(radius, angle):
    return radius * math.cos(angle), radius * math.sin(angle)
