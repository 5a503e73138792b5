"""CUDA: kernels, which are Python about numbers, as text that a GPU runs.

    for i in range(len(x)):              extern "C" __global__ void f_y(...) {
        y[i] = np.tanh(x[i]) + 1    ->       for (index i = thread(); i < n_i; ...)
                                                 y(i) = tanh(x(i)) + 1.0;
                                         }

`kinds` finds the type of every name, `expressions` and `statements` write C++ of them,
`parallel` says which loops' iterations may run at once, `launches` writes the kernels
around them, `host` cuts a function into launches and the Python between them, and
`between` is about the functions which that Python calls.
Plain chains are kernels that CuPy makes: `chains` writes them, `elementwise` runs them.
`run` is what else the generated Python calls, with CuPy; the words of the kernels are
in `srcjax.cuh`. All of it is text: no GPU is needed before a kernel is called.
"""
