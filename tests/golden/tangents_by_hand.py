"""Values and derivatives in a direction, `jvp`, as a good textbook prints them.

Of functions of the other sets, with a tangent for each argument that holds real
numbers; `python -m tests.golden.ratios tangents` counts their statements.
"""

import math

import numpy as np

from . import course, lectures, seminar

#: Where the functions are.
OF = {
    "softplus_regression": seminar,
    "van_der_waals": seminar,
    "residual_network": seminar,
    "ar_garch": seminar,
    "spring_chain": seminar,
    "kepler_anomaly": seminar,
    "batch_norm": course,
    "newton_cube_root": course,
    "huber": course,
    "simpson": course,
    "gaussian_nll": course,
    "cholesky_solve": course,
    "n_body_energy": lectures,
    "sir_euler": lectures,
}


def softplus_regression(w, X, y, w_dot, X_dot, y_dot):
    scores = X @ w
    scores_dot = X_dot @ w + X @ w_dot
    loss = 0.0
    loss_dot = 0.0
    for i in range(len(y)):
        s, s_dot = scores[i], scores_dot[i]
        e = np.exp(s)
        loss += np.log(1 + e) - y[i] * s
        loss_dot += s_dot * e / (1 + e) - y_dot[i] * s - y[i] * s_dot
    return loss / len(y), loss_dot / len(y)


def van_der_waals(volume, temperature, a, b, v_dot, t_dot, a_dot, b_dot):
    density = 1 / volume
    density_dot = -v_dot / volume**2
    free = 1 - b * density
    free_dot = -b_dot * density - b * density_dot
    repulsion = temperature * density / free
    repulsion_dot = (
        t_dot * density + temperature * density_dot - repulsion * free_dot
    ) / free
    attraction = a * density**2
    attraction_dot = a_dot * density**2 + 2 * a * density * density_dot
    pressure = repulsion - attraction
    pressure_dot = repulsion_dot - attraction_dot
    if pressure < 0:
        pressure = 0.1 * pressure
        pressure_dot = 0.1 * pressure_dot
    return pressure, pressure_dot


def residual_network(weights, biases, x, target, weights_dot, biases_dot, x_dot, t_dot):
    h = x
    h_dot = x_dot
    layers = zip(weights, biases, weights_dot, biases_dot, strict=True)
    for W, b, W_dot, b_dot in layers:
        z = W @ h + b
        z_dot = W_dot @ h + W @ h_dot + b_dot
        h = h + np.maximum(z, 0)
        h_dot = h_dot + (z > 0) * z_dot
    error = h - target
    error_dot = h_dot - t_dot
    return 0.5 * error @ error, error @ error_dot


def ar_garch(omega, alpha, beta, returns, omega_dot, alpha_dot, beta_dot, r_dot):
    variance = returns[0] ** 2
    variance_dot = 2 * returns[0] * r_dot[0]
    loglik = 0.0
    loglik_dot = 0.0
    for t in range(1, len(returns)):
        r, last = returns[t], returns[t - 1]
        variance_dot = (
            omega_dot
            + alpha_dot * last**2
            + 2 * alpha * last * r_dot[t - 1]
            + beta_dot * variance
            + beta * variance_dot
        )
        variance = omega + alpha * last**2 + beta * variance
        loglik -= 0.5 * (np.log(variance) + r**2 / variance)
        loglik_dot -= 0.5 * (
            variance_dot / variance
            + 2 * r * r_dot[t] / variance
            - r**2 * variance_dot / variance**2
        )
    return loglik, loglik_dot


def spring_chain(x, stiffness, rest, x_dot, stiffness_dot, rest_dot):
    energy = 0.0
    energy_dot = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i]
        d_dot = x_dot[i + 1] - x_dot[i]
        length = np.linalg.norm(d)
        stretch = length - rest[i]
        stretch_dot = d @ d_dot / length - rest_dot[i]
        energy += 0.5 * stiffness * stretch**2
        energy_dot += (
            0.5 * stiffness_dot * stretch**2 + stiffness * stretch * stretch_dot
        )
    return energy, energy_dot


def kepler_anomaly(mean_anomaly, eccentricity, mean_dot, eccentricity_dot):
    E = mean_anomaly
    E_dot = mean_dot
    for _ in range(10):
        sin_E, cos_E = math.sin(E), math.cos(E)
        slope = 1 - eccentricity * cos_E
        slope_dot = -eccentricity_dot * cos_E + eccentricity * sin_E * E_dot
        delta = (E - eccentricity * sin_E - mean_anomaly) / slope
        residual_dot = slope * E_dot - eccentricity_dot * sin_E - mean_dot
        delta_dot = (residual_dot - delta * slope_dot) / slope
        E -= delta
        E_dot -= delta_dot
        if abs(delta) < 1e-12:
            break
    return math.cos(E) - eccentricity, -math.sin(E) * E_dot - eccentricity_dot


def batch_norm(x, gamma, beta, target, x_dot, gamma_dot, beta_dot, target_dot):
    centred = x - x.mean(axis=0)
    centred_dot = x_dot - x_dot.mean(axis=0)
    std = np.sqrt(x.var(axis=0) + 1e-5)
    std_dot = np.mean(centred * x_dot, axis=0) / std
    x_hat = centred / std
    x_hat_dot = (centred_dot - x_hat * std_dot) / std
    error = gamma * x_hat + beta - target
    error_dot = gamma_dot * x_hat + gamma * x_hat_dot + beta_dot - target_dot
    return np.mean(error**2), 2 * np.mean(error * error_dot)


def newton_cube_root(a, a_dot):
    x = a
    x_dot = a_dot
    for _ in range(10):
        f = x**3 - a
        step_dot = x_dot - a_dot / (3 * x**2) - 2 * f * x_dot / (3 * x**3)
        x = x - f / (3 * x**2)
        x_dot = x_dot - step_dot
    return x, x_dot


def huber(w, X, y, delta, w_dot, X_dot, y_dot, delta_dot):
    r = X @ w - y
    r_dot = X_dot @ w + X @ w_dot - y_dot
    small = np.abs(r) <= delta
    outer = delta * (np.abs(r) - 0.5 * delta)
    outer_dot = delta_dot * (np.abs(r) - delta) + delta * np.sign(r) * r_dot
    value = np.sum(np.where(small, 0.5 * r**2, outer))
    return value, np.sum(np.where(small, r * r_dot, outer_dot))


def simpson(a, b, n, a_dot, b_dot):
    h = (b - a) / n
    h_dot = (b_dot - a_dot) / n
    total = np.exp(-(a**2)) + np.exp(-(b**2))
    total_dot = -2 * a * a_dot * np.exp(-(a**2)) - 2 * b * b_dot * np.exp(-(b**2))
    for i in range(1, n):
        weight = 4 if i % 2 == 1 else 2
        x = a + i * h
        x_dot = a_dot + i * h_dot
        total += weight * np.exp(-(x**2))
        total_dot -= 2 * weight * x * x_dot * np.exp(-(x**2))
    return total * h / 3, (total_dot * h + total * h_dot) / 3


def gaussian_nll(mu, Sigma, data, mu_dot, Sigma_dot, data_dot):
    n, d = data.shape
    diff = (data - mu).T
    diff_dot = (data_dot - mu_dot).T
    solved = np.linalg.solve(Sigma, diff)
    quad = np.sum(diff * solved)
    quad_dot = 2 * np.sum(diff_dot * solved) - np.sum(solved * (Sigma_dot @ solved))
    _, logdet = np.linalg.slogdet(Sigma)
    logdet_dot = np.trace(np.linalg.solve(Sigma, Sigma_dot))
    value = 0.5 * (quad + n * logdet + n * d * np.log(2 * np.pi))
    return value, 0.5 * (quad_dot + n * logdet_dot)


def cholesky_solve(A, b, A_dot, b_dot):
    n = len(b)
    L = np.linalg.cholesky(A)
    A_dot = np.tril(A_dot) + np.tril(A_dot, -1).T
    S = np.linalg.solve(L, np.linalg.solve(L, A_dot).T)
    L_dot = L @ (np.tril(S, -1) + np.diag(np.diag(S)) / 2)
    y = np.zeros(n)
    y_dot = np.zeros(n)
    for i in range(n):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
        y_dot[i] = (
            b_dot[i] - L_dot[i, : i + 1] @ y[: i + 1] - L[i, :i] @ y_dot[:i]
        ) / L[i, i]
    return y @ y, 2 * y @ y_dot


def n_body_energy(
    positions, masses, softening, positions_dot, masses_dot, softening_dot
):
    energy = 0.0
    energy_dot = 0.0
    n = len(masses)
    for i in range(n):
        for j in range(i + 1, n):
            r = positions[j] - positions[i]
            r_dot = positions_dot[j] - positions_dot[i]
            distance = np.sqrt(np.sum(r**2) + softening**2)
            distance_dot = (r @ r_dot + softening * softening_dot) / distance
            pair = masses[i] * masses[j]
            pair_dot = masses_dot[i] * masses[j] + masses[i] * masses_dot[j]
            energy -= pair / distance
            energy_dot -= (pair_dot - pair / distance * distance_dot) / distance
    return energy, energy_dot


def sir_euler(beta, gamma, s0, i0, dt, observed, *tangents):
    beta_dot, gamma_dot, s_dot, i_dot, dt_dot, observed_dot = tangents
    s, i = s0, i0
    loss = 0.0
    loss_dot = 0.0
    for y, y_dot in zip(observed, observed_dot, strict=True):
        rate = beta * s * i
        rate_dot = beta_dot * s * i + beta * s_dot * i + beta * s * i_dot
        recovery = gamma * i
        recovery_dot = gamma_dot * i + gamma * i_dot
        s = s - rate * dt
        s_dot = s_dot - rate_dot * dt - rate * dt_dot
        i = i + (rate - recovery) * dt
        i_dot = i_dot + (rate_dot - recovery_dot) * dt + (rate - recovery) * dt_dot
        loss += (i - y) ** 2
        loss_dot += 2 * (i - y) * (i_dot - y_dot)
    return loss, loss_dot
