"""Programs of courses, benchmarks and blogs, as people write them down.

Caches in tuples and lists, parameters in dicts, tables in dicts, loops over pixels; the
style is theirs.
"""

# ruff: noqa

import math
import numpy as np

rng = np.random.default_rng(0)


def N(*s):
    return rng.normal(size=s) * 0.5


# Andrew Ng style
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)


def lstm_cell_forward(xt, a_prev, c_prev, parameters):
    Wf = parameters["Wf"]
    bf = parameters["bf"]
    Wi = parameters["Wi"]
    bi = parameters["bi"]
    Wc = parameters["Wc"]
    bc = parameters["bc"]
    Wo = parameters["Wo"]
    bo = parameters["bo"]
    Wy = parameters["Wy"]
    by = parameters["by"]
    n_x, m = xt.shape
    n_y, n_a = Wy.shape
    concat = np.zeros((n_a + n_x, m))
    concat[:n_a, :] = a_prev
    concat[n_a:, :] = xt
    ft = sigmoid(np.dot(Wf, concat) + bf)
    it = sigmoid(np.dot(Wi, concat) + bi)
    cct = np.tanh(np.dot(Wc, concat) + bc)
    c_next = ft * c_prev + it * cct
    ot = sigmoid(np.dot(Wo, concat) + bo)
    a_next = ot * np.tanh(c_next)
    yt_pred = softmax(np.dot(Wy, a_next) + by)
    cache = (a_next, c_next, a_prev, c_prev, ft, it, cct, ot, xt, parameters)
    return a_next, c_next, yt_pred, cache


def lstm_forward(x, a0, parameters):
    caches = []
    Wy = parameters["Wy"]
    n_x, m, T_x = x.shape
    n_y, n_a = Wy.shape
    a = np.zeros((n_a, m, T_x))
    c = np.zeros((n_a, m, T_x))
    y = np.zeros((n_y, m, T_x))
    a_next = a0
    c_next = np.zeros((n_a, m))
    for t in range(T_x):
        xt = x[:, :, t]
        a_next, c_next, yt, cache = lstm_cell_forward(xt, a_next, c_next, parameters)
        a[:, :, t] = a_next
        c[:, :, t] = c_next
        y[:, :, t] = yt
        caches.append(cache)
    caches = (caches, x)
    return a, y, c, caches


def lstm_loss(x, a0, parameters):
    a, y, c, caches = lstm_forward(x, a0, parameters)
    return np.sum(y**2) + np.sum(a * c)


na, nx, ny, m, T = 3, 2, 2, 2, 3
par = {}
for g in "fico":
    par["W" + g] = N(na, na + nx)
    par["b" + g] = N(na, 1)
par["Wy"] = N(ny, na)
par["by"] = N(ny, 1)
LSTM = (lstm_loss, (N(nx, m, T), N(na, m), par))


def zero_pad(X, pad):
    return np.pad(
        X,
        ((0, 0), (pad, pad), (pad, pad), (0, 0)),
        mode="constant",
        constant_values=(0, 0),
    )


def conv_single_step(a_slice_prev, W, b):
    s = a_slice_prev * W
    Z = np.sum(s)
    Z = Z + b[0, 0, 0]
    return Z


def conv_forward(A_prev, W, b, hparameters):
    (m, n_H_prev, n_W_prev, n_C_prev) = A_prev.shape
    (f, f, n_C_prev, n_C) = W.shape
    stride = hparameters["stride"]
    pad = hparameters["pad"]
    n_H = int((n_H_prev - f + 2 * pad) / stride) + 1
    n_W = int((n_W_prev - f + 2 * pad) / stride) + 1
    Z = np.zeros((m, n_H, n_W, n_C))
    A_prev_pad = zero_pad(A_prev, pad)
    for i in range(m):
        a_prev_pad = A_prev_pad[i]
        for h in range(n_H):
            vert_start = stride * h
            vert_end = vert_start + f
            for w in range(n_W):
                horiz_start = stride * w
                horiz_end = horiz_start + f
                for c in range(n_C):
                    a_slice_prev = a_prev_pad[
                        vert_start:vert_end, horiz_start:horiz_end, :
                    ]
                    weights = W[:, :, :, c]
                    biases = b[:, :, :, c]
                    Z[i, h, w, c] = conv_single_step(
                        a_slice_prev, weights, biases.reshape(1, 1, 1)
                    )
    cache = (A_prev, W, b, hparameters)
    return Z, cache


def pool_forward(A_prev, hparameters, mode="max"):
    (m, n_H_prev, n_W_prev, n_C_prev) = A_prev.shape
    f = hparameters["f"]
    stride = hparameters["stride"]
    n_H = int(1 + (n_H_prev - f) / stride)
    n_W = int(1 + (n_W_prev - f) / stride)
    n_C = n_C_prev
    A = np.zeros((m, n_H, n_W, n_C))
    for i in range(m):
        for h in range(n_H):
            for w in range(n_W):
                for c in range(n_C):
                    a_slice = A_prev[
                        i, h * stride : h * stride + f, w * stride : w * stride + f, c
                    ]
                    if mode == "max":
                        A[i, h, w, c] = np.max(a_slice)
                    elif mode == "average":
                        A[i, h, w, c] = np.mean(a_slice)
    return A


def conv_loss(A, W, b):
    Z, cache = conv_forward(A, W, b, {"pad": 1, "stride": 2})
    P = pool_forward(np.maximum(Z, 0), {"f": 2, "stride": 1})
    Q = pool_forward(Z, {"f": 2, "stride": 1}, mode="average")
    return np.sum(P**2) + np.sum(Q * P)


CONV = (conv_loss, (N(2, 4, 4, 2), N(2, 2, 2, 3), N(1, 1, 1, 3)))


# L-layer network
def linear_activation_forward(A_prev, W, b, activation):
    Z = np.dot(W, A_prev) + b
    linear_cache = (A_prev, W, b)
    if activation == "sigmoid":
        A, activation_cache = 1 / (1 + np.exp(-Z)), Z
    elif activation == "relu":
        A, activation_cache = np.maximum(0, Z), Z
    cache = (linear_cache, activation_cache)
    return A, cache


def L_model(parameters, X, Y, lambd):
    caches = []
    A = X
    L = len(parameters) // 2
    for l in range(1, L):
        A_prev = A
        A, cache = linear_activation_forward(
            A_prev, parameters["W" + str(l)], parameters["b" + str(l)], "relu"
        )
        caches.append(cache)
    AL, cache = linear_activation_forward(
        A, parameters["W" + str(L)], parameters["b" + str(L)], "sigmoid"
    )
    caches.append(cache)
    m = Y.shape[1]
    logprobs = np.multiply(-np.log(AL), Y) + np.multiply(-np.log(1 - AL), 1 - Y)
    cost = 1.0 / m * np.nansum(logprobs)
    reg = 0
    for l in range(1, L + 1):
        reg += np.sum(np.square(parameters[f"W{l}"]))
    return np.squeeze(cost) + lambd / (2 * m) * reg


P3 = {}
sizes = [3, 4, 3, 1]
for i in range(1, 4):
    P3[f"W{i}"] = N(sizes[i], sizes[i - 1])
    P3[f"b{i}"] = N(sizes[i], 1)


def lmodel(p, X):
    return L_model(p, X, YY, 0.7)


YY = np.array([[1, 0, 1, 1, 0.0]])
LMODEL = (lmodel, (P3, N(3, 5)))


# picoGPT
def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def psoftmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def layer_norm(x, g, b, eps: float = 1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def linear(x, w, b):
    return x @ w + b


def ffn(x, c_fc, c_proj):
    return linear(gelu(linear(x, **c_fc)), **c_proj)


def attention(q, k, v, mask):
    return psoftmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def mha(x, c_attn, c_proj, n_head):
    x = linear(x, **c_attn)
    qkv_heads = list(
        map(lambda x: np.split(x, n_head, axis=-1), np.split(x, 3, axis=-1))
    )
    causal_mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    out_heads = [attention(q, k, v, causal_mask) for q, k, v in zip(*qkv_heads)]
    x = linear(np.hstack(out_heads), **c_proj)
    return x


def transformer_block(x, mlp, attn, ln_1, ln_2, n_head):
    x = x + mha(layer_norm(x, **ln_1), **attn, n_head=n_head)
    x = x + ffn(layer_norm(x, **ln_2), **mlp)
    return x


def gpt2(inputs, wte, wpe, blocks, ln_f, n_head):
    x = wte[inputs] + wpe[range(len(inputs))]
    for block in blocks:
        x = transformer_block(x, **block, n_head=n_head)
    return layer_norm(x, **ln_f) @ wte.T


def lm_loss(params, inputs, n_head):
    x, y = inputs[:-1], inputs[1:]
    output = gpt2(x, **params, n_head=n_head)
    probs = psoftmax(output)
    loss = np.mean(-np.log(probs[np.arange(len(y)), y]))
    return loss


d = 4


def lin(a, b):
    return {"w": N(a, b), "b": N(b)}


def ln():
    return {"g": 1 + N(d) * 0.1, "b": N(d)}


def blk():
    return {
        "mlp": {"c_fc": lin(d, 2 * d), "c_proj": lin(2 * d, d)},
        "attn": {"c_attn": lin(d, 3 * d), "c_proj": lin(d, d)},
        "ln_1": ln(),
        "ln_2": ln(),
    }


GP = {"wte": N(6, d), "wpe": N(5, d), "blocks": [blk(), blk()], "ln_f": ln()}


def gloss(p):
    return lm_loss(p, [1, 4, 2, 0, 5], 2)


GPT = (gloss, (GP,))


# Nielsen
class Network:
    def __init__(self, weights, biases):
        self.num_layers = len(weights) + 1
        self.weights = weights
        self.biases = biases

    def feedforward(self, a):
        for b, w in zip(self.biases, self.weights):
            a = sigmoid(np.dot(w, a) + b)
        return a


def nielsen(weights, biases, x, y):
    net = Network(weights, biases)
    a = net.feedforward(x)
    return 0.5 * np.linalg.norm(a - y) ** 2


NIE = (nielsen, ([N(3, 2), N(2, 3)], [N(3, 1), N(2, 1)], N(2, 1), N(2, 1)))


# micrograd
class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), "*")

    def __pow__(self, other):
        return Value(self.data**other, (self,), f"**{other}")

    def relu(self):
        return Value(0 if self.data < 0 else self.data, (self,), "ReLU")

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rmul__(self, other):
        return self * other


def micro(x, y):
    a = Value(x)
    b = Value(y)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f * 0.5
    g += 10.0 * f
    return g.data


MICRO = (micro, (-4.0, 2.0))


# n-body (benchmarks game)
def advance(bodies, dt, n):
    pairs = [
        (bodies[i], bodies[j])
        for i in range(len(bodies))
        for j in range(i + 1, len(bodies))
    ]
    for i in range(n):
        for ([x1, y1, z1], v1, m1), ([x2, y2, z2], v2, m2) in pairs:
            dx = x1 - x2
            dy = y1 - y2
            dz = z1 - z2
            mag = dt * ((dx * dx + dy * dy + dz * dz) ** (-1.5))
            b1m = m1 * mag
            b2m = m2 * mag
            v1[0] -= dx * b2m
            v1[1] -= dy * b2m
            v1[2] -= dz * b2m
            v2[0] += dx * b1m
            v2[1] += dy * b1m
            v2[2] += dz * b1m
        for r, [vx, vy, vz], m in bodies:
            r[0] += dt * vx
            r[1] += dt * vy
            r[2] += dt * vz


def energy(bodies):
    e = 0.0
    for i in range(len(bodies)):
        (r, v, m) = bodies[i]
        for j in range(i + 1, len(bodies)):
            (r2, v2, m2) = bodies[j]
            d = [r[k] - r2[k] for k in range(3)]
            e -= (m * m2) / ((d[0] ** 2 + d[1] ** 2 + d[2] ** 2) ** 0.5)
        e += m * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / 2.0
    return e


def nbody(p, q, mass):
    bodies = [
        ([p[0], p[1], p[2]], [q[0], q[1], q[2]], mass),
        ([0.0, 0.0, 0.0], [0.0, 0.1, 0.0], 2.0),
        ([1.5, -1.0, 0.3], [0.2, 0.0, 0.0], 0.5),
    ]
    advance(bodies, 0.05, 3)
    return energy(bodies)


NBODY = (nbody, (N(3) + 1, N(3), 1.3))


# HMM forward/backward/viterbi
def hmm(A, B, pi):
    obs = [0, 2, 1, 1, 0]
    alpha = [{}]
    for s in range(2):
        alpha[0][s] = pi[s] * B[s][obs[0]]
    for t in range(1, len(obs)):
        alpha.append({})
        for s in range(2):
            alpha[t][s] = (
                sum(alpha[t - 1][r] * A[r][s] for r in range(2)) * B[s][obs[t]]
            )
    V = [{}]
    for s in range(2):
        V[0][s] = pi[s] * B[s][obs[0]]
    for t in range(1, len(obs)):
        V.append({})
        for s in range(2):
            V[t][s] = max(V[t - 1][r] * A[r][s] for r in range(2)) * B[s][obs[t]]
    return math.log(sum(alpha[-1].values())) + max(V[-1].values())


HMM = (
    hmm,
    (
        np.array([[0.7, 0.3], [0.4, 0.6]]),
        np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
        np.array([0.6, 0.4]),
    ),
)


def heston(S0, v0, kappa, theta, sigma, rho):
    r2 = np.random.default_rng(3)
    S = [S0]
    v = [v0]
    dt = 0.1
    for t in range(6):
        z1 = r2.normal()
        z2 = rho * z1 + np.sqrt(1 - rho**2) * r2.normal()
        v.append(
            abs(v[-1] + kappa * (theta - v[-1]) * dt + sigma * np.sqrt(v[-1] * dt) * z2)
        )
        S.append(S[-1] * np.exp(-0.5 * v[-2] * dt + np.sqrt(v[-2] * dt) * z1))
    return max(S[-1] - 1.0, 0) + sum(S) / len(S)


HESTON = (heston, (1.1, 0.2, 1.5, 0.3, 0.4, -0.6))


def american(S, K, sig, r):
    n = 6
    dt = 1 / n
    u = np.exp(sig * np.sqrt(dt))
    d_ = 1 / u
    p = (np.exp(r * dt) - d_) / (u - d_)
    V = {}
    for j in range(n + 1):
        V[n, j] = max(K - S * u**j * d_ ** (n - j), 0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = np.exp(-r * dt) * (p * V[i + 1, j + 1] + (1 - p) * V[i + 1, j])
            V[i, j] = max(hold, K - S * u**j * d_ ** (i - j))
    return V[0, 0]


AMER = (american, (1.0, 1.1, 0.3, 0.05))


def thomas(a, b, c, d):
    n = len(d)
    cp = [0] * n
    dp = [0] * n
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = [0] * n
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return sum(v**2 for v in x)


THOMAS = (thomas, (N(5), N(5) + 4, N(5), N(5)))


def fib_memo(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        r = x if n < 2 else f(n - 1) * x + f(n - 2)
        memo[n] = r
        return r

    return f(7)


MEMO = (fib_memo, (0.7,))


def romberg(a, b):
    f = lambda x: np.exp(-(x**2)) * np.sin(3 * x)
    R = [[0.0] * 4 for _ in range(4)]
    h = b - a
    R[0][0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, 4):
        h = h / 2
        R[i][0] = 0.5 * R[i - 1][0] + h * sum(
            f(a + (2 * k - 1) * h) for k in range(1, 2 ** (i - 1) + 1)
        )
        for j in range(1, i + 1):
            R[i][j] = R[i][j - 1] + (R[i][j - 1] - R[i - 1][j - 1]) / (4**j - 1)
    return R[3][3]


ROM = (romberg, (0.1, 1.3))


def dtw(a, b):
    n, m = len(a), len(b)
    D = {}
    for i in range(-1, n):
        for j in range(-1, m):
            D[i, j] = float("inf")
    D[-1, -1] = 0
    for i in range(n):
        for j in range(m):
            dist = (a[i] - b[j]) ** 2
            D[i, j] = dist + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return np.sqrt(D[n - 1, m - 1])


DTW = (dtw, (N(4), N(5)))


def fft_power(x):
    def fft(v):
        n = len(v)
        if n == 1:
            return v
        e, o = fft(v[0::2]), fft(v[1::2])
        T = [np.exp(-2j * np.pi * k / n) * o[k] for k in range(n // 2)]
        return [e[k] + T[k] for k in range(n // 2)] + [
            e[k] - T[k] for k in range(n // 2)
        ]

    y = fft(list(x))
    return sum(abs(v) ** 2 * (k + 1) for k, v in enumerate(y))


FFT = (fft_power, (N(8),))

#: The functions and their arguments, by name.
TAUGHT = {
    name.lower(): value
    for name, value in dict(globals()).items()
    if isinstance(value, tuple) and len(value) == 2 and callable(value[0])
}
