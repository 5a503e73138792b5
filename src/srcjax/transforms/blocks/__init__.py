"""`jit` without a compiler: chains of NumPy calls that go through arrays in blocks.

    e = np.exp(-x)              @in_threads
    p = 1 / (1 + e)             def f_blocks(first, last, step, x, p):
                                    work = np.empty(step)
                                    for start in range(first, last, step):
                          ->            part = slice(start, start + step)
                                        buffer = work[: len(x[part])]
                                        negative = np.negative(x[part], out=buffer)
                                        e = np.exp(negative, out=buffer)
                                        total = np.add(1, e, out=buffer)
                                        np.divide(1, total, out=p[part])

                                p = np.empty(len(x))
                                f_blocks(0, len(x), 32768, x, p)

What stands between two calls stays in the cache: only what is read elsewhere is an
array of its own. `members` says which statements may be in such loops, `chains` which
of them share one, `loops` writes them, and `entry` the function around them, which runs
as it is where arrays are small.
"""
