"""Linear algebra, as it is used for real."""

import numpy as np
from numpy.linalg import inv, slogdet

from .registry import normal, program, spd


@program(spd(3), normal(3))
def linear_solve(matrix, b):
    return np.sum(np.linalg.solve(matrix, b) ** 2)


@program(spd(3), normal(3, 2))
def linear_solve_of_columns(matrix, b):
    return np.linalg.solve(matrix, b)


@program(spd(3))
def inverse(matrix):
    return np.sum(inv(matrix) * matrix.T)


@program(spd(3), normal(3))
def quadratic_form_of_inverse(matrix, x):
    return x @ inv(matrix) @ x


@program(spd(3))
def determinant(matrix):
    return np.log(np.linalg.det(matrix))


@program(spd(3))
def log_determinant(matrix):
    sign, value = slogdet(matrix)
    return sign * value


@program(spd(3), jax=False)
def cholesky_factor(matrix):
    factor = np.linalg.cholesky((matrix + matrix.T) / 2)
    return np.sum(factor**3)


@program(normal(3), normal(3, 3, seed=1), normal(3, seed=2))
def gaussian_log_likelihood(mean, root, x):
    covariance = root @ root.T + np.eye(3)
    residual = x - mean
    _, log_determinant = np.linalg.slogdet(covariance)
    distance = residual @ np.linalg.solve(covariance, residual)
    return -0.5 * (distance + log_determinant + 3 * np.log(2 * np.pi))


@program(normal(3), normal(3, 3, seed=1))
def gaussian_log_likelihood_by_cholesky(x, root):
    factor = np.linalg.cholesky(root @ root.T + 2 * np.eye(3))
    z = np.linalg.solve(factor, x)
    return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))


@program(normal(5, 2), normal(5, seed=1))
def normal_equations(features, target):
    gram = features.T @ features
    weights = np.linalg.solve(gram, features.T @ target)
    residual = target - features @ weights
    return residual @ residual


@program(normal(4, 3))
def norms(matrix):
    rows = np.linalg.norm(matrix, axis=1)
    return np.linalg.norm(matrix) + rows @ rows[::-1]


@program(normal(3, 3))
def trace_of_power(matrix):
    return np.trace(np.linalg.matrix_power(matrix, 3))


@program(normal(4, 2, 2) + 3 * np.eye(2), normal(4, 2, seed=1))
def batch_of_solves(matrices, vectors):
    solutions = np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0]
    return np.sum(np.linalg.det(matrices) * solutions.sum(axis=1))


@program(normal(5, 3))
def whitened_covariance(data):
    centred = data - data.mean(axis=0)
    covariance = centred.T @ centred / (len(data) - 1)
    factor = np.linalg.cholesky(covariance + 0.1 * np.eye(3))
    return np.sum(np.linalg.inv(factor) @ covariance)


@program(normal(3, 3, seed=3), jax=False)
def einsum_with_lists(a):
    total = np.einsum(a, [0, 0]) * np.einsum(a, [0, 1], a, [1, 0])
    rows = np.einsum(a, [0, 1], np.ones(3), [1], optimize=True)
    return total + np.sum(np.einsum(a, [..., 0], a, [..., 0], [...]) * rows)


@program(normal(3, 3, seed=4))
def einsum_of_a_diagonal(a):
    return np.sum(np.einsum("ii->i", a) ** 2 * np.einsum("ij,ij->i", a, a))


@program(1.1, np.array([0.0, 0.7, 1.5, 2.6, 3.0]), np.array([0.0, 0.6, 1.0, 0.5, 0.1]))
def natural_cubic_spline(t, x, y):
    n = len(x)
    h = x[1:] - x[:-1]
    M = np.zeros((n, n))
    r = np.zeros(n)
    M[0, 0] = 1.0
    M[n - 1, n - 1] = 1.0
    for i in range(1, n - 1):
        M[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        r[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    m = np.linalg.solve(M, r)
    k = 0
    while k < n - 2 and t > x[k + 1]:
        k += 1
    a, b = (x[k + 1] - t) / h[k], (t - x[k]) / h[k]
    bend = (a**3 - a) * m[k] + (b**3 - b) * m[k + 1]
    return a * y[k] + b * y[k + 1] + bend * h[k] ** 2 / 6


@program(0.8, np.array([0.0, 0.5, 1.0, 2.0]), jax=False)
def tuples_stored_in_slices(t, x):
    out = np.zeros((3, 2))
    out[0] = t, x[1] * t
    out[1, :] = [x[2], t * t]
    out[1:, 1] = x[1], x[3] * t
    i = 0
    while x[i + 1] < t:
        i = i + 1
    w = np.empty(2)
    w[:] = (x[i + 1] - t) / (x[i + 1] - x[i]), (t - x[i]) / (x[i + 1] - x[i])
    return np.sum(out @ w) * w[0]
