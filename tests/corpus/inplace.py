"""Assignment into arrays: elements, slices, masks, views, aliases, callees."""

import copy

import numpy as np

from .registry import normal, positive, program


@program(normal(4))
def element_assigned(x):
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[1] = np.sin(x[2])
    y[2] = y[0] * y[1] + x[3]
    return y @ y


@program(normal(4))
def element_overwritten(x):
    y = x.copy()
    y[1] = 3.0
    y[2] = y[0] * y[1]
    return np.sum(y**2)


@program(normal(4))
def element_overwritten_with_itself(x):
    y = x * 1.0
    y[0] = np.sin(y[0])
    y[0] = y[0] * y[1]
    y[1] = y[0] ** 2
    return y.sum()


@program(normal(4))
def element_augmented(x):
    y = x.copy()
    y[0] += x[1]
    y[1] *= x[2]
    y[2] -= y[1] * y[0]
    y[3] /= 2 + x[0] ** 2
    y[0] **= 2
    return y


@program(positive(4))
def whole_array_augmented(x):
    y = x.copy()
    y += 1
    y *= x
    y /= x + 2
    y **= 2
    y -= x
    return y


@program(positive(4))
def view_written_before_its_array_is_another(x):
    y = x.copy()
    turned = y[::-1]
    turned[0] *= x[1]
    total = np.sum(turned**2)
    if total > 1:
        y = np.cumsum(y * x)
    last = y[1:]
    last *= x[0]
    for k in range(3):
        part = y[k:]
        part += x[: 4 - k] ** 2
        if k > 1:
            continue
        y = np.tanh(y) * x
    return total + np.sum(y**2)


@program(normal(3))
def views_that_cannot_be_written_to(x):
    y = np.zeros((3, 3))
    y[2] = x
    y[1, 1] = x[0] ** 2
    z = np.broadcast_to(y[:, None], (3, 2, 3))
    return np.sum(z**2) + np.prod(1 + np.diagonal(y)) + np.sum(y.diagonal(1) ** 3)


@program(normal(6))
def slice_assigned(x):
    y = np.empty(6)
    y[:3] = x[3:] ** 2
    y[3:] = x[:3] * y[:3]
    return y @ x


@program(normal(6))
def slice_with_step_assigned(x):
    y = np.ones(6)
    y[::2] = x[::2]
    y[1::2] *= x[1::2] ** 2
    return np.prod(y)


@program(normal(6))
def overlapping_slices(x):
    """NumPy copies first when the two sides overlap."""
    y = x.copy()
    y[1:] = y[:-1] * 2
    y[:-1] += y[1:]
    return y @ x


@program(normal(3), 2.0)
def slice_broadcast(x, value):
    y = np.zeros((4, 3))
    y[1:3] = x
    y[3] = value
    y[:, 0] += value * x[0]
    return y


@program(normal(5))
def mask_assigned(x):
    y = x**2
    y[x < 0] = 0.0
    y[x > 0.3] *= 2
    return y @ x


@program(normal(5))
def mask_assigned_from_values(x):
    y = np.zeros(5)
    positive_part = x > 0
    y[positive_part] = np.log1p(x[positive_part])
    y[~positive_part] = -x[~positive_part]
    return y.sum()


@program(normal(5))
def index_array_assigned(x):
    order = np.array([3, 0, 4])
    y = np.ones(5)
    y[order] = x[:3] * x[2:]
    return y @ x


@program(normal(3))
def repeated_indices_assigned(x):
    """The last one wins."""
    y = np.zeros(2)
    y[[0, 1, 0]] = x
    return y @ np.array([2.0, 3.0])


@program(normal(5))
def repeated_indices_augmented(x):
    """`+=` counts each index once; `np.add.at` counts all of them."""
    where = np.array([0, 1, 0, 2, 1])
    once = np.zeros(3)
    once[where] += x
    each = np.zeros(3)
    np.add.at(each, where, x**2)
    return once @ each


@program(normal(7), np.array([0, 1, 0, 2, 2, 1, 0]))
def scatter_add(x, groups):
    sums = np.zeros(3)
    np.add.at(sums, groups, x)
    return np.sum(sums**2)


@program(normal(6))
def index_pairs_assigned(x):
    matrix = np.zeros((3, 3))
    rows, columns = np.triu_indices(3)
    matrix[rows, columns] = x
    matrix[(columns, rows)] += x
    return np.sum(matrix @ matrix)


@program(normal(3, 4))
def column_assigned(x):
    y = x.copy()
    y[:, 1] = y[:, 0] * y[:, 2]
    y[1, :] = 0.0
    y[..., -1] += 1.0
    y[0, 1:3] = y[2, 1:3]
    return np.sum(y**2)


@program(normal(3))
def assigned_with_tuple_target(x):
    y = np.zeros(3)
    y[0], y[1] = x[1], x[0] * x[2]
    y[1], y[2] = y[0], y[1]
    return y @ x


@program(normal(4))
def swap_elements(x):
    y = x.copy()
    y[0], y[3] = y[3], y[0]
    y[[1, 2]] = y[[2, 1]]
    return y @ np.arange(4.0) + y[0] * y[1]


@program(0.3)
def trajectory(x0):
    steps = 8
    xs = np.zeros(steps + 1)
    xs[0] = x0
    for t in range(steps):
        xs[t + 1] = xs[t] + 0.1 * np.sin(xs[t])
    return np.sum(xs**2)


@program(normal(2), normal(2, 2, seed=1))
def trajectory_of_vectors(state, matrix):
    history = np.empty((5, 2))
    for t in range(5):
        history[t] = state
        state = np.tanh(matrix @ state)
    return history


@program(normal(8))
def stencil_1d(u):
    u = u.copy()
    for _ in range(4):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u @ u


@program(normal(8))
def stencil_1d_augmented(u):
    v = u.copy()
    for _ in range(3):
        v[1:-1] += 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    return np.sum(v**3)


@program(normal(5, 5))
def stencil_2d(u):
    u = u.copy()
    for _ in range(3):
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner)
    return np.sum(u**2)


@program(normal(4, 4))
def gauss_seidel_by_elements(u):
    u = u.copy()
    for i in range(1, 3):
        for j in range(1, 3):
            u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    return np.sum(u * u)


@program(normal(6))
def nonlinear_stencil(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return u


@program(normal(5))
def running_total_in_place(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] += y[i - 1]
    return y @ y


@program(normal(5))
def running_product_in_place(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] *= y[i - 1]
    return y.sum()


@program(normal(3), jax=False)
def alias(x):
    a = x * 2
    b = a
    b[0] = 5.0
    return a @ x


@program(normal(3), jax=False)
def alias_augmented(x):
    a = x * 2
    b = a
    b += 1
    b[1] *= x[0]
    return a @ b


@program(normal(3), jax=False)
def alias_of_argument(x):
    x = x * 1.0
    y = x
    y[0] = x[1] * x[2]
    x[1] = y[0]
    return x @ y


@program(normal(3, 4), jax=False)
def row_is_a_view(matrix):
    a = matrix.copy()
    row = a[1]
    row *= 2
    row[0] = 0.0
    return np.sum(a**2)


@program(normal(3, 4), jax=False)
def rows_of_a_loop_are_views(matrix):
    a = matrix * 1.0
    for row in a:
        row -= row.mean()
        row /= np.sqrt(row @ row)
    return a


@program(normal(3, 4), jax=False)
def transposed_view(matrix):
    a = matrix.copy()
    t = a.T
    t[0] = 1.0
    t[1] *= t[2]
    return np.sum(a**3)


@program(normal(6), jax=False)
def reshaped_view(x):
    a = x.copy()
    grid = a.reshape(2, 3)
    grid[0] *= grid[1]
    grid[:, 2] = 0.0
    return a @ x


@program(normal(6), jax=False)
def view_of_a_view(x):
    a = x.copy()
    middle = a[1:5]
    ends = middle[::3]
    ends += 1
    middle *= 2
    return a


@program(normal(6), jax=False)
def view_read_after_the_base_changed(x):
    a = x.copy()
    tail = a[3:]
    a[4] = a[0] ** 2
    return tail @ tail


@program(normal(3, 3), jax=False)
def diagonal_by_flat_view(matrix):
    a = matrix.copy()
    a.ravel()[::4] += 1.0
    a.flat[0] = 2.0
    return np.sum(a**2)


@program(normal(4))
def copies_do_not_alias(x):
    a = x * 2
    b = a.copy()
    c = np.array(a)
    d = copy.deepcopy(a)
    e = +a
    b[0] = 0.0
    c[1] = 0.0
    d[2] = 0.0
    e[3] = 0.0
    return a @ (b + c + d + e)


@program(normal(4))
def gathered_is_not_a_view(x):
    a = x.copy()
    picked = a[[0, 2]]
    picked[0] = 7.0
    masked = a[a > -10]
    masked *= 2
    return a @ a + picked @ masked[:2]


@program(normal(4))
def argument_copied_to_its_own_name(x):
    x = x.copy()
    x[0] = x[1] * x[2]
    x[3] = 0.0
    return x @ x


@program(normal(4), tags="mutates", jax=False)
def argument_is_changed(x):
    """A caller sees the change; a derivative must not write to the argument."""
    x[0] = x[1] * x[2]
    x *= 2
    return x @ x


def _normalise(v):
    v /= np.sqrt(v @ v)


def _add_outer(matrix, left, right):
    for i in range(len(left)):
        matrix[i] += left[i] * right


def _fill_powers(out, x):
    out[0] = 1.0
    for k in range(1, len(out)):
        out[k] = out[k - 1] * x


@program(normal(4), jax=False)
def callee_changes_its_argument(x):
    v = x * 2
    _normalise(v)
    return v @ np.arange(4.0) + x[0]


@program(normal(3, 4), jax=False)
def callee_changes_a_view(matrix):
    a = matrix.copy()
    _normalise(a[0])
    _normalise(a[2])
    return np.sum(a[0] * a[1] * a[2])


@program(normal(2), normal(3, seed=1))
def callee_accumulates(left, right):
    total = np.zeros((2, 3))
    _add_outer(total, left, right)
    _add_outer(total, left**2, right)
    return total


@program(1.3)
def callee_fills_a_buffer(x):
    powers = np.empty(5)
    _fill_powers(powers, x)
    first = powers.sum()
    _fill_powers(powers, x * x)
    return first * powers[2]


def _clear_and_return(v):
    v[0] = 0.0
    return v


@program(normal(3), jax=False)
def callee_changes_and_returns(x):
    a = x**2
    b = _clear_and_return(a)
    b[1] = b[1] * 3
    return a @ x


@program(positive(3), positive(3, seed=1))
def out_argument(x, y):
    buffer = np.empty(3)
    np.multiply(x, y, out=buffer)
    np.exp(buffer, out=buffer)
    np.add(buffer, x, out=buffer)
    return buffer @ y


@program(normal(2, 3), normal(3, 2, seed=1))
def out_argument_of_matmul(a, b):
    product = np.empty((2, 2))
    np.matmul(a, b, out=product)
    total = product.sum(axis=0)
    np.dot(b, a, out=(other := np.empty((3, 3))))
    return total @ total + other[0, 1]


@program(1.5)
def filled(x):
    y = np.empty(3)
    y.fill(x)
    y[1] *= x
    z = np.full(3, x)
    z[0] = 1.0
    return y @ z


@program(normal(4))
def buffer_reused_in_a_loop(x):
    buffer = np.zeros(4)
    total = 0.0
    for k in range(3):
        buffer[:] = x * k
        buffer[k] = total
        total = total + np.sum(buffer**2)
    return total


@program(normal(4))
def accumulated_in_a_cell(x):
    total = np.zeros(1)
    for value in x:
        total[0] += value**2
        total[0] *= 1.1
    return total[0]


@program(normal(4))
def overwritten_in_a_branch(x):
    y = x.copy()
    for i in range(4):
        if y[i] > 0:
            y[i] = y[i] ** 2
        else:
            y[i] = 0.0
    return y @ x


@program(normal(4))
def rebound_after_inplace(x):
    y = x.copy()
    y[0] = 2.0
    y = y * x
    y[1] = 3.0
    return y


@program(normal(3), jax=False)
def arrays_in_a_list_changed(x):
    buffers = [x * 2, x * 3]
    for buffer in buffers:
        buffer[0] = buffer[1] * buffer[2]
    first = buffers[0]
    first += 1
    return buffers[0] @ buffers[1]


@program(normal(3), jax=False)
def arrays_in_a_dict_changed(x):
    state = {"position": x.copy(), "velocity": np.zeros(3)}
    for _ in range(3):
        state["velocity"] -= 0.1 * state["position"]
        state["position"] += state["velocity"]
    return state["position"]


@program(normal(4), jax=False)
def which_is_changed_depends(x):
    a = x * 1.0
    b = x * 2.0
    target = a if x[0] > 0 else b
    target[1] = 0.0
    return a @ b


@program(normal(4), jax=False)
def array_sorted_in_place(x):
    y = x * 2
    y.sort()
    return y @ np.array([1.0, 2.0, 3.0, 4.0])


@program(normal(3, 3))
def elimination_in_place(matrix):
    a = matrix + 4 * np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a[0, 0] * a[1, 1] * a[2, 2]


@program(normal(5))
def copyto_and_put(x):
    y = np.zeros(5)
    np.copyto(y, x)
    y[np.argmax(x)] = 0.0
    np.fill_diagonal(grid := np.outer(y, x), 1.0)
    return np.sum(grid * grid)


@program(normal(2, 3))
def new_axis_and_negative_index(x):
    y = np.zeros((2, 3, 1))
    y[:, :, 0] = x
    y[-1, -2] = x[0, 0] ** 2
    y[0, :, None, 0] += 1.0
    return y


@program(normal(3), normal(3, seed=1))
def assigned_array_changes_later(x, y):
    """The matrix holds what `row` was, not what it becomes."""
    matrix = np.zeros((2, 3))
    row = x * 2
    matrix[0] = row
    row[0] = 9.0
    matrix[1] = row * y
    return np.sum(matrix**2)


@program(normal(5))
def buffers_swapped(u):
    v = u.copy()
    w = np.zeros_like(v)
    for _ in range(4):
        w[1:-1] = v[1:-1] * v[:-2] + 0.1 * v[2:] ** 2
        w[0] = v[0]
        w[-1] = v[-1]
        v, w = w, v
    return np.sum(v * v)


@program(normal(4))
def buffers_swapped_sometimes(u):
    v = u.copy()
    w = u * 2
    for k in range(3):
        for i in range(1, len(u) - 1):
            w[i] = 0.5 * w[i] * v[i - 1] + v[i + 1]
            v[i] += w[i] ** 2 * 0.1
        if k != 1:
            v, w = w, v
        v[0] *= 1.1
    return np.sum(v[:2]) * np.sum(w)


@program(normal(4))
def three_buffers_rotated(u):
    a = u.copy()
    b = u * 2
    c = np.zeros_like(u)
    for _ in range(5):
        c[1:] = a[:-1] * b[1:]
        c[0] = a[0] + b[0]
        a, b, c = b, c, a
    return np.sum(a * b + c)


@program(normal(4))
def buffers_swapped_once(u):
    v = u.copy()
    w = np.zeros_like(v)
    w[:] = v * 2
    v, w = w, v
    v[0] = w[1] * w[1]
    return np.sum(v) * w[0]


@program(normal(4))
def views_of_swapped_buffers(u):
    v = u.copy()
    w = np.zeros_like(v)
    for _ in range(3):
        inner = v[1:-1]
        out = w[1:-1]
        out += inner * v[2:]
        w[0] = inner[0] * v[0]
        v, w = w, v
    return np.sum(v**2)


@program(normal(3))
def matrices_swapped_in_a_while(u):
    a = np.outer(u, u)
    b = np.empty_like(a)
    t = 0.0
    while t < 3:
        b[...] = np.sin(a) @ a
        for i in range(3):
            b[i, i] *= u[i]
        t = t + 1
        a, b = b, a
        if np.sum(a) < -100:
            break
    return np.sum(a * b)


@program(normal(3))
def numbers_swapped(u):
    a, b = u[0], u[1]
    for _ in range(5):
        a, b = b, a + b * u[2]
    a, b = b, a
    return a * a + b


@program(normal(3), jax=False)
def written_through_a_row_and_read_before(u):
    w = np.zeros((3, len(u)))
    total = 0.0
    for k in range(3):
        total += np.sum(w[0] ** 2)
        for i in range(3):
            out = w[i]
            out += u * (k + i + 1)
    return total + np.sum(w)


@program(normal(4))
def adjoints_rotated_that_start_from_an_argument(u):
    a = u.copy()
    b = u * 2
    c = np.zeros_like(u)
    for _ in range(2):
        c[:] = a * b
        a, b, c = b, c, a
    return np.sum(a * u)


@program(normal(4), jax=False)
def reshaped_in_a_loop(u):
    a = u.copy()
    for i in range(3):
        grid = a.reshape(2, -1)
        grid[0] += grid[1] ** 2 * (i + 1) * 0.1
        again = np.reshape(a, (2, 2))
        again[1, 0] *= a[0]
    flat = a.ravel()
    flat *= 2
    return np.sum(a * u)


@program(normal(4), jax=False)
def buffers_in_a_list(u):
    buffers = [u * 2, u * 3, np.zeros_like(u)]
    for k in range(3):
        for buffer in buffers:
            buffer[k] = buffer[k + 1] * buffers[0][0]
    last = buffers[-1]
    last += buffers[1]
    return buffers[0] @ buffers[1] + np.sum(last**2)


@program(normal(4), jax=False)
def view_restored_while_its_base_is_used(x):
    a = x.copy()
    g = a[1:3]
    g *= g[0]
    return a @ x


@program([normal(2), 3.0], jax=False)
def containers_copied(x):
    inner = [x[0] * x[1], {"k": x[1]}]
    deep = copy.deepcopy(inner)
    shallow = copy.copy(inner)
    deep[0][0] = 0.0
    numbers = inner[0].tolist()
    return deep[0][1] * deep[1]["k"] + shallow[1]["k"] * inner[0][0] + numbers[1] ** 2


@program(1.3, jax=False)
def number_added_to_every_element(x):
    total = np.ones(2) * 3
    total += x
    total *= x
    return total.sum() * 2


@program(1.3, jax=False)
def gathered_by_an_index_then_written(x):
    a = np.arange(4.0)
    picked = a[[0, 2]]
    picked[0] = x * 2
    picked += x
    return picked.sum() + a.sum()


@program(1.3, jax=False)
def gathered_by_a_mask_then_written(x):
    a = np.arange(4.0)
    kept = a[a > 0]
    kept[1] *= x
    last = kept[np.array([0, 1])]
    last += x
    return kept.sum() * last.sum()


@program(normal(3), normal(3))
def factor_of_what_is_put_back(w, x):
    y = x * 2
    cubes = np.sum(y**3)
    y[0] = 5.0
    return cubes + np.sum(w * y)


@program(normal(3))
def factor_in_a_dict_of_what_is_put_back(x):
    kept = {"y": x * 2, "w": [x, x * 3]}
    part = kept["y"]
    cubes = np.sum(part**3)
    part[0] = 5.0
    total = cubes + np.sum(kept["w"][0] * kept["y"]) + np.sum(kept["w"][1] * part)
    part[1] = 6.0
    return total + np.sum(part**2)


@program(normal(3), normal(3))
def factor_in_a_loop_of_what_is_put_back(w, x):
    y = x * 2
    z = w
    total = 0.0
    for i in range(3):
        total = total + np.sum(y**3)
        y[i] = y[i] * y[0]
        total = total + np.sum(z * y)
        z = w * i
    return total


@program(normal(3), normal(3))
def factors_that_are_views_of_what_is_put_back(w, x):
    y = np.outer(x, x)
    total = np.sum(y**3)
    y[0] = 5.0
    total += np.sum(w * y[1]) + np.sum(w * y[:, 0]) + np.sum(y.T @ w)
    y[1] = 6.0
    return total + np.sum(y**2)


# --- arrays made anew in each iteration -------------------------------------------


@program(normal(5))
def stencil_of_copies(u):
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u**2)


@program(normal(5))
def stencil_that_multiplies(u):
    steps = 0
    while steps < 3:
        new = np.zeros_like(u)
        new[1:] = u[:-1] ** 2 * 0.3
        new[0] = u[-1] * u[0]
        if steps == 1:
            new[0] = 7.0 * u[1]
        u = new
        steps += 1
    return np.sum(u)


@program(normal(5))
def three_time_levels(u):
    previous = u * 1.0
    for _ in range(4):
        new = np.sin(u) * previous
        new[0] = previous[1] * u[2]
        new[1:] *= u[:-1]
        previous, u = u, new
    return np.sum(u * previous)


@program(normal(5))
def history_of_states(u):
    history = [u]
    for _ in range(3):
        new = history[-1].copy()
        new[1:-1] = history[-1][2:] * history[-1][:-2]
        history.append(new)
    return sum(np.sum(h * h) for h in history)


@program(normal(3, 3))
def relaxed_grid(g):
    for _ in range(2):
        new = g.copy()
        for i in range(1, 2):
            for j in range(3):
                new[i, j] = g[i - 1, j] * g[i + 1, (j + 1) % 3]
        new[0] = g[2] * g[1]
        g = new
    return np.sum(g**2)


@program(normal(5))
def older_of_two_arrays(u):
    w = u
    for _ in range(3):
        new = u * 1.5
        new[:2] = w[1:3] * w[:2]
        w = u
        u = new
    return np.sum(u * w)


@program(normal(5))
def older_view_squared(u):
    v = u[1:]
    for _ in range(3):
        new = u * 1.5
        new[1:] = v * v
        v = new[:-1]
        u = new
    return np.sum(u[1:] * v)


# -- what a callee has read, and needs when its own backward sweep runs ---------------


def squares_one_by_one(values):
    total = 0.0
    for i in range(len(values)):
        total = total + values[i] ** 2
    return total


@program([0.3, 1.0, 0.5], jax=False)
def changed_after_a_call_has_read_it(x):
    values = np.array(x)
    total = 0.0
    for k in range(3):
        total = total + squares_one_by_one(values)
        values[k] = x[k] * total
    return total


@program([0.3, 1.0, 0.5])
def list_changed_after_a_call_has_read_it(x):
    values = [e for e in x]  # noqa: C416
    total = squares_one_by_one(values)
    values[0] = total
    total = total * squares_one_by_one(values)
    values.pop()
    return total * values[0] * values[1]


@program([[0.3, 1.0], [0.5]])
def inner_list_changed_after_a_call_has_read_it(x):
    rows = [[e * e for e in row] for row in x]
    total = squares_one_by_one(rows[0])
    rows[0][1] = total * x[1][0]
    return total * squares_one_by_one(rows[0])


def exponential_of_a_recurrence(v):
    t = v
    for _ in range(2):
        t = np.sin(t) * v
    return np.exp(t)


@program(np.array([0.3, 1.0, 0.5]), jax=False)
def result_of_a_call_changed(x):
    y = exponential_of_a_recurrence(x)
    y *= 2.0
    y[0] = y[1] * y[2]
    return np.sum(y * y)


def push_down(v, s):
    for _ in range(2):
        v[1] = v[0] * s
        v[2] += s * v[1]


@program(np.array([0.3, 1.0, 0.5]), jax=False)
def changed_by_one_callee_and_read_by_another(x):
    v = x.copy()
    total = 0.0
    for k in range(3):
        total = total + squares_one_by_one(v)
        push_down(v, x[k])
    return total * squares_one_by_one(v)


@program(np.array([0.3, 1.0, 0.5]), jax=False)
def changed_after_an_unknown_callee(x):
    v = x.copy()
    total = 0.0
    found = [exponential_of_a_recurrence, squares_one_by_one]
    for f in sorted(found, key=lambda f: f.__name__, reverse=True):
        total = total + np.sum(f(v))
        v[0] = total * x[1]
    return total


@program(np.array([0.3, 1.0, 0.5]), 0.7, jax=False)
def slices_written_after_they_were_read(v, s):
    y = v * s
    part = y[0:2]
    total = np.sum(part * part * part)
    for k in range(2):
        total = total + np.sum(y * y * y)
        y[k:] = total
        y[:1] *= s
    return np.sum(y * y * y) * total


def add_drag(p, v):
    f = np.zeros_like(p)
    f += p
    v += 0.1 * f
    p += 0.1 * v


@program(normal(3), normal(3, seed=1), jax=False)
def helper_that_moves_particles(x, v):
    x, v = x.copy(), v.copy()
    for _ in range(3):
        add_drag(x, v)
    return np.sum(v**2) + x[0]


def add_into(total, x):
    total += x
    return total


@program(normal(3), jax=False)
def helper_that_returns_what_it_changes(x):
    t = np.zeros(3)
    for k in range(3):
        s = add_into(t, k * x)
        s *= 2.0
    return np.sum(t * s)


@program(normal(3), jax=False)
def sum_under_another_name(x):
    t = x * 2.0
    s = t
    s += x**2
    u = add_into(s, x)
    u -= t * x
    t += u
    return np.sum(s**2) * u[1]


@program(normal(4), jax=False)
def parts_changed_by_helpers(x):
    y = x.copy()
    head, tail = y[:2], y[2:]
    for _ in range(2):
        add_drag(head, tail)
        last = add_into(tail, head * x[:2])
        last[0] += y[0]
    return np.sum(y**2) + np.sum(last * tail)


@program(normal(3), normal(2), jax=False)
def steps_of_all_parameters(w, b):
    dw, db = 2 * w * np.sum(b), np.sum(w**2) * np.ones_like(b)
    mw, mb = np.zeros_like(w), np.zeros_like(b)
    w, b = w.copy(), b.copy()
    for gradient in (dw, db):
        np.clip(gradient, -5, 5, out=gradient)
    for p, gradient, memory in zip([w, b], [dw, db], [mw, mb], strict=True):
        memory += gradient * gradient
        p += -0.1 * gradient / np.sqrt(memory + 1e-2)
        p[0] *= 2.0
    return np.sum(np.sin(w)) + np.sum(b**3) * memory[0]


@program(0.5, 1.5, jax=False)
def numbers_of_which_each_is_changed(a, b):
    total = 0.0
    for v in [a, b]:
        v += 1.0
        v *= a
        total += v
    return total * v * b
