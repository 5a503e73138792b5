"""srcjax beside hand-written NumPy, JAX and autograd, in one run.

`python -m benchmarks` prints the tables; nothing is written unless asked with `--save`.
"""
