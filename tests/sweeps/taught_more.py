"""More programs of courses, blogs and repositories, as people write them down.

Simulations, estimators and networks with in-place updates, caches in dicts, classes
that hold their state, tables by loops; the style is theirs.
"""

# ruff: noqa

import math
from dataclasses import dataclass, field

import numpy as np

rng = np.random.default_rng(7)


def N(*s):
    return rng.normal(size=s) * 0.5


# CFD Python, 12 steps to Navier-Stokes: cavity flow
def build_up_b(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1
        / dt
        * (
            (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
            + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)
        )
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2
        * (
            (u[2:, 1:-1] - u[0:-2, 1:-1])
            / (2 * dy)
            * (v[1:-1, 2:] - v[1:-1, 0:-2])
            / (2 * dx)
        )
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )
    return b


def pressure_poisson(p, dx, dy, b, nit):
    pn = np.empty_like(p)
    pn = p.copy()
    for q in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2
            + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[
            1:-1, 1:-1
        ]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


def cavity_flow(u, v, p, rho, nu, lid):
    nt, dt, nit = 3, 0.01, 4
    ny, nx = u.shape
    dx = 2 / (nx - 1)
    dy = 2 / (ny - 1)
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros((ny, nx))
    for n in range(nt):
        un = u.copy()
        vn = v.copy()
        b = build_up_b(b, rho, dt, u, v, dx, dy)
        p = pressure_poisson(p, dx, dy, b, nit)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = lid
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return np.sum(u**2) + np.sum(v**2) + 0.1 * np.sum(p)


# Jos Stam, Real-Time Fluid Dynamics for Games
def IX(n, i, j):
    return i + (n + 2) * j


def set_bnd(n, b, x):
    for i in range(1, n + 1):
        x[IX(n, 0, i)] = -x[IX(n, 1, i)] if b == 1 else x[IX(n, 1, i)]
        x[IX(n, n + 1, i)] = -x[IX(n, n, i)] if b == 1 else x[IX(n, n, i)]
        x[IX(n, i, 0)] = -x[IX(n, i, 1)] if b == 2 else x[IX(n, i, 1)]
        x[IX(n, i, n + 1)] = -x[IX(n, i, n)] if b == 2 else x[IX(n, i, n)]
    x[IX(n, 0, 0)] = 0.5 * (x[IX(n, 1, 0)] + x[IX(n, 0, 1)])
    x[IX(n, 0, n + 1)] = 0.5 * (x[IX(n, 1, n + 1)] + x[IX(n, 0, n)])
    x[IX(n, n + 1, 0)] = 0.5 * (x[IX(n, n, 0)] + x[IX(n, n + 1, 1)])
    x[IX(n, n + 1, n + 1)] = 0.5 * (x[IX(n, n, n + 1)] + x[IX(n, n + 1, n)])


def diffuse(n, b, x, x0, diff, dt):
    a = dt * diff * n * n
    for k in range(2):
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                x[IX(n, i, j)] = (
                    x0[IX(n, i, j)]
                    + a
                    * (
                        x[IX(n, i - 1, j)]
                        + x[IX(n, i + 1, j)]
                        + x[IX(n, i, j - 1)]
                        + x[IX(n, i, j + 1)]
                    )
                ) / (1 + 4 * a)
        set_bnd(n, b, x)


def advect(n, b, d, d0, u, v, dt):
    dt0 = dt * n
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            x = i - dt0 * u[IX(n, i, j)]
            y = j - dt0 * v[IX(n, i, j)]
            if x < 0.5:
                x = 0.5
            if x > n + 0.5:
                x = n + 0.5
            i0 = int(x)
            i1 = i0 + 1
            if y < 0.5:
                y = 0.5
            if y > n + 0.5:
                y = n + 0.5
            j0 = int(y)
            j1 = j0 + 1
            s1 = x - i0
            s0 = 1 - s1
            t1 = y - j0
            t0 = 1 - t1
            d[IX(n, i, j)] = s0 * (
                t0 * d0[IX(n, i0, j0)] + t1 * d0[IX(n, i0, j1)]
            ) + s1 * (t0 * d0[IX(n, i1, j0)] + t1 * d0[IX(n, i1, j1)])
    set_bnd(n, b, d)


def dens_step(x, x0, u, v, diff):
    n, dt = 3, 0.1
    x = x + dt * x0
    x0, x = x, x0.copy()
    diffuse(n, 0, x, x0, diff, dt)
    x0, x = x, x0
    advect(n, 0, x, x0, u, v, dt)
    return np.sum(x * np.arange(x.size)) + np.sum(x0**2)


# Baum and others: a linear-chain CRF
def log_sum_exp(vec):
    max_score = vec[np.argmax(vec)]
    return max_score + np.log(np.sum(np.exp(vec - max_score)))


class CRF:
    def __init__(self, transitions, start, end):
        self.transitions = transitions
        self.start = start
        self.end = end
        self.tagset_size = transitions.shape[0]

    def _forward_alg(self, feats):
        alphas = self.start + feats[0]
        for feat in feats[1:]:
            alphas_t = []
            for next_tag in range(self.tagset_size):
                emit_score = feat[next_tag]
                trans_score = self.transitions[next_tag]
                next_tag_var = alphas + trans_score + emit_score
                alphas_t.append(log_sum_exp(next_tag_var))
            alphas = np.array(alphas_t)
        return log_sum_exp(alphas + self.end)

    def _score_sentence(self, feats, tags):
        score = self.start[tags[0]] + feats[0][tags[0]]
        for i, feat in enumerate(feats[1:]):
            score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return score + self.end[tags[-1]]

    def viterbi(self, feats):
        backpointers = []
        v = self.start + feats[0]
        for feat in feats[1:]:
            scores = v[None, :] + self.transitions
            best = np.argmax(scores, axis=1)
            backpointers.append(best)
            v = scores[np.arange(self.tagset_size), best] + feat
        last = v + self.end
        best_last = int(np.argmax(last))
        path = [best_last]
        for bp in reversed(backpointers):
            path.append(int(bp[path[-1]]))
        path.reverse()
        return last[best_last], path

    def neg_log_likelihood(self, feats, tags):
        return self._forward_alg(feats) - self._score_sentence(feats, tags)


def crf_loss(transitions, start, end, feats):
    crf = CRF(transitions, start, end)
    best, path = crf.viterbi(feats)
    return crf.neg_log_likelihood(feats, [0, 2, 1, 1]) + 0.1 * best


# CTC by Hannun / Graves
def ctc_loss(params, seq, blank=0):
    seqLen = len(seq)
    numphones, T = params.shape
    L = 2 * seqLen + 1
    alphas = np.zeros((L, T))
    params = params - np.max(params, axis=0)
    params = np.exp(params)
    params = params / np.sum(params, axis=0)
    alphas[0, 0] = params[blank, 0]
    alphas[1, 0] = params[seq[0], 0]
    c = np.sum(alphas[:, 0])
    alphas[:, 0] = alphas[:, 0] / c
    llForward = np.log(c)
    for t in range(1, T):
        start = max(0, L - 2 * (T - t))
        end = min(2 * t + 2, L)
        for s in range(start, L):
            l = (s - 1) // 2
            if s % 2 == 0:
                if s == 0:
                    alphas[s, t] = alphas[s, t - 1] * params[blank, t]
                else:
                    alphas[s, t] = (alphas[s, t - 1] + alphas[s - 1, t - 1]) * params[
                        blank, t
                    ]
            elif s == 1 or seq[l] == seq[l - 1]:
                alphas[s, t] = (alphas[s, t - 1] + alphas[s - 1, t - 1]) * params[
                    seq[l], t
                ]
            else:
                alphas[s, t] = (
                    alphas[s, t - 1] + alphas[s - 1, t - 1] + alphas[s - 2, t - 1]
                ) * params[seq[l], t]
        c = np.sum(alphas[start:end, t])
        alphas[start:end, t] = alphas[start:end, t] / c
        llForward += np.log(c)
    return -llForward


def ctc(params):
    return ctc_loss(params, [1, 2, 2])


# a truss by the direct stiffness method
def truss(nodes_free, areas, load):
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    nodes[2:] = nodes_free
    elements = [(0, 2), (1, 2), (1, 3), (2, 3), (0, 3)]
    E = 10.0
    ndof = 2 * len(nodes)
    K = np.zeros((ndof, ndof))
    for (i, j), A in zip(elements, areas):
        x1, y1 = nodes[i]
        x2, y2 = nodes[j]
        L = math.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
        c, s = (x2 - x1) / L, (y2 - y1) / L
        k = (E * A / L) * np.array(
            [
                [c * c, c * s, -c * c, -c * s],
                [c * s, s * s, -c * s, -s * s],
                [-c * c, -c * s, c * c, c * s],
                [-c * s, -s * s, c * s, s * s],
            ]
        )
        dofs = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
        for a in range(4):
            for b in range(4):
                K[dofs[a], dofs[b]] += k[a, b]
    F = np.zeros(ndof)
    F[4:] = load
    fixed = [0, 1, 2, 3]
    free = [d for d in range(ndof) if d not in fixed]
    U = np.zeros(ndof)
    U[free] = np.linalg.solve(K[np.ix_(free, free)], F[free])
    return F @ U + np.abs(U).max()


# Longstaff-Schwartz
def longstaff_schwartz(S0, K, r, sigma, Z):
    M, I = Z.shape
    dt = 1.0 / M
    df = np.exp(-r * dt)
    S = np.zeros((M + 1, I))
    S[0] = S0
    for t in range(1, M + 1):
        S[t] = S[t - 1] * np.exp(
            (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[t - 1]
        )
    h = np.maximum(K - S, 0)
    V = np.copy(h)
    for t in range(M - 1, 0, -1):
        X = np.vander(S[t] / K, 3)
        beta = np.linalg.solve(X.T @ X, X.T @ (V[t + 1] * df))
        C = X @ beta
        V[t] = np.where(h[t] > C, h[t], V[t + 1] * df)
    return df * np.sum(V[1]) / I


# Kalman filter and RTS smoother, as a class
class KalmanFilter:
    def __init__(self, F, H, Q, R, P, x):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.P, self.x = P, x
        self.log_likelihood = 0.0

    def predict(self):
        self.x = np.dot(self.F, self.x)
        self.P = np.dot(np.dot(self.F, self.P), self.F.T) + self.Q
        return self.x, self.P

    def update(self, z):
        y = z - np.dot(self.H, self.x)
        S = self.R + np.dot(self.H, np.dot(self.P, self.H.T))
        Sinv = np.linalg.inv(S)
        K = np.dot(np.dot(self.P, self.H.T), Sinv)
        self.x = self.x + np.dot(K, y)
        I = np.eye(self.F.shape[1])
        A = I - np.dot(K, self.H)
        self.P = np.dot(np.dot(A, self.P), A.T) + np.dot(np.dot(K, self.R), K.T)
        sign, logdet = np.linalg.slogdet(S)
        self.log_likelihood += -0.5 * (logdet + y @ Sinv @ y)
        return self.x, self.P


def smoother(F, H, q, r, zs):
    n = F.shape[0]
    kf = KalmanFilter(F, H, np.eye(n) * q**2, np.eye(1) * r**2, np.eye(n), np.zeros(n))
    xs, Ps, xp, Pp = [], [], [], []
    for z in zs:
        x, P = kf.predict()
        xp.append(x)
        Pp.append(P)
        x, P = kf.update(z)
        xs.append(x)
        Ps.append(P)
    x_s = [x.copy() for x in xs]
    for k in range(len(zs) - 2, -1, -1):
        C = Ps[k] @ F.T @ np.linalg.inv(Pp[k + 1])
        x_s[k] += C @ (x_s[k + 1] - xp[k + 1])
    return kf.log_likelihood + sum(np.sum(x**2) for x in x_s)


# numerical recipes: LU with partial pivoting, then solve; QR by Householder
def ludcmp(A, b):
    n = len(A)
    LU = A.copy()
    piv = list(range(n))
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(LU[i][k]))
        if p != k:
            LU[[k, p]] = LU[[p, k]]
            piv[k], piv[p] = piv[p], piv[k]
        for i in range(k + 1, n):
            LU[i, k] /= LU[k, k]
            for j in range(k + 1, n):
                LU[i, j] -= LU[i, k] * LU[k, j]
    x = b[piv]
    for i in range(1, n):
        x[i] -= LU[i, :i] @ x[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - LU[i, i + 1 :] @ x[i + 1 :]) / LU[i, i]
    return np.sum(x**2) + np.prod(np.diag(LU))


def householder_qr(A):
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), x[0])
        v = x + e
        v = v / np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return np.sum(R[0] ** 3) + Q[0, 0] * R[1, 1] + np.sum(Q[:, 1] * np.arange(m))


def cholesky_loss(A):
    n = A.shape[0]
    A = A @ A.T + n * np.eye(n)
    L = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for k in range(i + 1):
            tmp = sum(L[i][j] * L[k][j] for j in range(k))
            if i == k:
                L[i][k] = math.sqrt(A[i][i] - tmp)
            else:
                L[i][k] = 1.0 / L[k][k] * (A[i][k] - tmp)
    return sum(L[i][i] * (i + 1) + L[n - 1][i] ** 2 for i in range(n))


# cubic splines, Numerical Recipes
def spline(x, y, q):
    n = len(x)
    y2 = [0.0] * n
    u = [0.0] * n
    for i in range(1, n - 1):
        sig = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1])
        p = sig * y2[i - 1] + 2.0
        y2[i] = (sig - 1.0) / p
        u[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (
            x[i] - x[i - 1]
        )
        u[i] = (6.0 * u[i] / (x[i + 1] - x[i - 1]) - sig * u[i - 1]) / p
    for k in range(n - 2, -1, -1):
        y2[k] = y2[k] * y2[k + 1] + u[k]
    out = 0.0
    for xq in q:
        klo, khi = 0, n - 1
        while khi - klo > 1:
            k = (khi + klo) // 2
            if x[k] > xq:
                khi = k
            else:
                klo = k
        h = x[khi] - x[klo]
        a = (x[khi] - xq) / h
        b = (xq - x[klo]) / h
        out += (
            a * y[klo]
            + b * y[khi]
            + ((a**3 - a) * y2[klo] + (b**3 - b) * y2[khi]) * (h * h) / 6.0
        )
    return out


# PageRank over a dict of links
def pagerank(weights, d):
    names = ["a", "b", "c", "d"]
    links = {"a": ["b", "c"], "b": ["c"], "c": ["a", "d"], "d": ["a"]}
    w = dict(zip(names, weights))
    ranks = {n: 1.0 / len(names) for n in names}
    for _ in range(6):
        new = {n: (1 - d) / len(names) for n in names}
        for page, out in links.items():
            total = sum(w[o] for o in out)
            for o in out:
                new[o] += d * ranks[page] * w[o] / total
        ranks = new
    return ranks["a"] * 2 + ranks["d"] ** 2


# generation with a cache of keys and values
class KVCache:
    def __init__(self):
        self.k = None
        self.v = None

    def append(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
        else:
            self.k = np.concatenate([self.k, k], axis=0)
            self.v = np.concatenate([self.v, v], axis=0)
        return self.k, self.v


def decode(x, Wq, Wk, Wv, Wo):
    cache = KVCache()
    outs = []
    h = x[0:1]
    for t in range(3):
        q, k, v = h @ Wq, h @ Wk, h @ Wv
        K, V = cache.append(k, v)
        s = q @ K.T / np.sqrt(q.shape[-1])
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        s /= s.sum(axis=-1, keepdims=True)
        h = np.tanh(s @ V @ Wo + h)
        outs.append(h)
    return np.sum(np.concatenate(outs) ** 2)


# matrix factorisation by SGD
def mf(P, Q, b_u, b_i, R):
    K = P.shape[1]
    alpha, beta = 0.05, 0.02
    samples = [(i, j) for i in range(3) for j in range(4) if (i + j) % 3 != 0]
    mu = np.mean([R[i, j] for i, j in samples])
    for it in range(2):
        for i, j in samples:
            prediction = mu + b_u[i] + b_i[j] + P[i, :].dot(Q[j, :].T)
            e = R[i, j] - prediction
            b_u[i] += alpha * (e - beta * b_u[i])
            b_i[j] += alpha * (e - beta * b_i[j])
            P_i = P[i, :][:]
            P[i, :] += alpha * (e * Q[j, :] - beta * P[i, :])
            Q[j, :] += alpha * (e * P_i - beta * Q[j, :])
    error = 0
    for i, j in samples:
        error += pow(R[i, j] - (mu + b_u[i] + b_i[j] + P[i] @ Q[j]), 2)
    return np.sqrt(error)


# smooth Smith-Waterman
def smith_waterman(sim, gap, temp):
    a, b = sim.shape
    H = np.zeros((a + 1, b + 1))

    def soft_max(*vals):
        vals = np.array(vals)
        m = vals.max()
        return temp * np.log(np.exp((vals - m) / temp).sum()) + m

    for i in range(1, a + 1):
        for j in range(1, b + 1):
            H[i, j] = soft_max(
                0.0,
                H[i - 1, j - 1] + sim[i - 1, j - 1],
                H[i - 1, j] + gap,
                H[i, j - 1] + gap,
            )
    return temp * np.log(np.sum(np.exp(H[1:, 1:] / temp)))


# GMM by EM
@dataclass
class GMM:
    k: int
    means: np.ndarray = None
    variances: np.ndarray = None
    weights: np.ndarray = None
    history: list = field(default_factory=list)

    def _estimate_log_prob(self, X):
        out = []
        for j in range(self.k):
            d = X - self.means[j]
            out.append(
                -0.5 * np.sum(d**2 / self.variances[j], axis=1)
                - 0.5 * np.sum(np.log(2 * np.pi * self.variances[j]))
                + np.log(self.weights[j])
            )
        return np.stack(out, axis=1)

    def fit(self, X, init, iters=3):
        self.means = init.copy()
        self.variances = np.ones_like(init)
        self.weights = np.full(self.k, 1 / self.k)
        for _ in range(iters):
            lp = self._estimate_log_prob(X)
            m = lp.max(axis=1, keepdims=True)
            norm = m + np.log(np.exp(lp - m).sum(axis=1, keepdims=True))
            resp = np.exp(lp - norm)
            nk = resp.sum(axis=0) + 1e-9
            self.weights = nk / len(X)
            self.means = (resp.T @ X) / nk[:, np.newaxis]
            for j in range(self.k):
                diff = X - self.means[j]
                self.variances[j] = (resp[:, j] @ diff**2) / nk[j] + 1e-2
            self.history.append(norm.mean())
        return self


def gmm(X, init):
    model = GMM(2).fit(X, init)
    return model.history[-1] + np.sum(model.means**2) + model.history[0]


# REINFORCE with a baseline, returns computed backwards
def reinforce(theta, rewards):
    states = np.array([[1.0, 0.2], [0.3, -0.5], [0.8, 0.1], [-0.4, 0.9]])
    actions = [0, 1, 1, 0]
    gamma = 0.9
    G, returns = 0.0, []
    for r in rewards[::-1]:
        G = r + gamma * G
        returns.insert(0, G)
    returns = np.array(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    log_probs, entropies = [], []
    for s, a in zip(states, actions):
        logits = s @ theta
        p = np.exp(logits) / sum(np.exp(logits))
        log_probs.append(np.log(p[a]))
        entropies.append(-sum(pi * np.log(pi) for pi in p))
    loss = [-lp * R for lp, R in zip(log_probs, returns)]
    return sum(loss) - 0.01 * sum(entropies)


# logistic regression by IRLS
def irls(X, y):
    w = np.zeros((X.shape[1], 1))
    y = y.reshape(-1, 1)
    ll = []
    for _ in range(3):
        mu = 1 / (1 + np.exp(-X @ w))
        S = np.diag((mu * (1 - mu)).flatten())
        H = X.T @ S @ X + 0.1 * np.eye(X.shape[1])
        w += np.linalg.inv(H) @ (X.T @ (y - mu) - 0.1 * w)
        ll.append((y * np.log(mu) + (1 - y) * np.log(1 - mu)).item(0))
    return (w.T @ w).item() + ll[-1]


# binomial tree, and the wave equation with three time levels
def crr(S, K, T, r, sigma):
    Nt = 5
    dt = T / Nt
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    values = {}
    for m in range(Nt + 1):
        values[(Nt, m)] = max(S * (u ** (2 * m - Nt)) - K, 0)
    for k in range(Nt - 1, -1, -1):
        for m in range(k + 1):
            values[(k, m)] = disc * (
                p * values[(k + 1, m + 1)] + (1 - p) * values[(k + 1, m)]
            )
    return values[(0, 0)]


def wave(u0, c):
    nx, nt = len(u0), 6
    dx, dt = 0.1, 0.05
    r = (c * dt / dx) ** 2
    u_nm1, u_n, u_np1 = u0.copy(), u0.copy(), np.zeros(nx)
    for n in range(nt):
        u_np1[1:-1] = (
            2 * u_n[1:-1] - u_nm1[1:-1] + r * (u_n[2:] - 2 * u_n[1:-1] + u_n[:-2])
        )
        u_np1[0] = u_np1[-1] = 0.0
        u_nm1, u_n, u_np1 = u_n, u_np1, u_nm1
    return u_n @ u_n + u_nm1 @ np.arange(nx)


# Savitzky-Golay from the SciPy cookbook
def savitzky_golay(y, window_size=5, order=2, deriv=0, rate=1):
    window_size = np.abs(int(window_size))
    order = np.abs(int(order))
    order_range = range(order + 1)
    half_window = (window_size - 1) // 2
    b = np.asmatrix(
        [[k**i for i in order_range] for k in range(-half_window, half_window + 1)]
    )
    m = np.linalg.pinv(b).A[deriv] * rate**deriv * math.factorial(deriv)
    firstvals = y[0] - np.abs(y[1 : half_window + 1][::-1] - y[0])
    lastvals = y[-1] + np.abs(y[-half_window - 1 : -1][::-1] - y[-1])
    y = np.concatenate((firstvals, y, lastvals))
    return np.sum(np.convolve(m[::-1], y, mode="valid") ** 2)


# mean field of an Ising grid, sites in turn
def ising(J, h, beta):
    L = h.shape[0]
    m = np.tanh(beta * h)
    for sweep in range(3):
        for i in range(L):
            for j in range(L):
                nb = (
                    m[(i + 1) % L, j]
                    + m[(i - 1) % L, j]
                    + m[i, (j + 1) % L]
                    + m[i, (j - 1) % L]
                )
                m[i, j] = 0.5 * m[i, j] + 0.5 * np.tanh(beta * (J * nb + h[i, j]))
    s = (1 + m) / 2
    entropy = -np.sum(s * np.log(s) + (1 - s) * np.log(1 - s))
    return (
        -J * np.sum(m * np.roll(m, 1, 0) + m * np.roll(m, 1, 1))
        - np.sum(h * m)
        - entropy / beta
    )


MORE = {
    "cavity": (cavity_flow, (N(5, 6), N(5, 6), N(5, 6), 1.0, 0.1, 1.0)),
    "stam": (dens_step, (N(25), N(25), N(25), N(25), 0.1)),
    "crf": (crf_loss, (N(3, 3), N(3), N(3), N(4, 3))),
    "ctc": (ctc, (N(4, 7),)),
    "truss": (
        truss,
        (
            np.array([[0.1, 1.0], [1.1, 1.2]]),
            np.array([1.0, 1.5, 2.0, 0.7, 1.2]),
            np.array([0.3, -1.0, 0.2, -0.5]),
        ),
    ),
    "lsmc": (longstaff_schwartz, (1.0, 1.1, 0.05, 0.3, N(3, 8))),
    "smoother": (
        smoother,
        (
            np.array([[1.0, 0.1], [-0.1, 0.9]]),
            np.array([[1.0, 0.2]]),
            0.5,
            0.7,
            N(4, 1),
        ),
    ),
    "lu": (ludcmp, (N(4, 4), N(4))),
    "qr": (householder_qr, (N(4, 3),)),
    "cholesky": (cholesky_loss, (N(3, 3),)),
    "spline": (
        spline,
        (np.array([0.0, 0.7, 1.5, 2.2, 3.1]), N(5), np.array([0.3, 1.1, 2.9])),
    ),
    "pagerank": (pagerank, (np.array([1.0, 2.0, 1.5, 0.5]), 0.85)),
    "decode": (decode, (N(1, 3), N(3, 3), N(3, 3), N(3, 3), N(3, 3))),
    "mf": (mf, (N(3, 2), N(4, 2), N(3), N(4), N(3, 4) + 2)),
    "waterman": (smith_waterman, (N(3, 4) * 2, -0.5, 0.7)),
    "gmm": (gmm, (N(6, 2) * 3, N(2, 2))),
    "reinforce": (reinforce, (N(2, 2), np.array([1.0, 0.0, 0.5, 2.0]))),
    "irls": (irls, (N(6, 2), np.array([1.0, 0, 1, 1, 0, 0]))),
    "crr": (crr, (1.0, 0.95, 1.0, 0.05, 0.3)),
    "wave": (wave, (N(8), 0.8)),
    "savgol": (savitzky_golay, (N(9),)),
    "ising": (ising, (0.3, N(3, 3), 0.8)),
}
