"""`jit`: typed core form -> loops over elements that a compiler makes fast.

    total = x * w                       sum_value = 0.0
    tanh_total = np.tanh(total)   ->    for i in range(x.shape[0]):
    sum_value = np.sum(tanh_total)          sum_value = added(sum_value, tanh(x[i] * w))

`numbers` writes what is computed for one number, `groups` says which statements share a
loop, `loops` and `rows` write the loops, `statements` what stands around them. What
has no loop of its own over elements is one of others: `elsewhere` knows where elements
come from (`np.roll`, `x[idx]`), `filled` writes loops of another kind (`np.cumsum`,
masks), `displays` names the parts of tuples and lists, `spelled` says `np.std`. What
none of them accepts raises `NotCompiled`, and stays Python: `entry` makes a kernel of
all of a function, `regions` of parts of it. The kernels are Python themselves, and give
the same without a compiler.
"""
