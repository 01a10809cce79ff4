"""The same kernel in each framework that compiles in Python, for scripts/framework-lines: column 0 of
a matrix whose rows are 128 bytes, CALLS times."""
import importlib.util
import sys

ROWS, COLUMNS, CALLS = 65536, 32, 4


def matrix():
    import numpy
    return numpy.arange(ROWS * COLUMNS, dtype=numpy.float32).reshape(ROWS, COLUMNS)


def column(x):
    return x[:, 0] * 2 + 1


def jax():
    import jax
    x = jax.device_put(matrix())
    compiled = jax.jit(column)
    for _ in range(CALLS):
        y = compiled(x)
    return jax.device_get(y)


def cupy():
    import cupy
    x = cupy.asarray(matrix())
    compiled = cupy.ElementwiseKernel("raw float32 x", "float32 y", f"y = x[i * {COLUMNS}] * 2 + 1", "column")
    for _ in range(CALLS):
        y = compiled(x, size=ROWS)
    return y.get()


def torch():
    import torch
    x = torch.from_numpy(matrix()).cuda()
    compiled = torch.compile(column)
    for _ in range(CALLS):
        y = compiled(x)
    return y.cpu().numpy()


names = [name for name in ("torch", "cupy", "jax") if importlib.util.find_spec(name)]
if len(sys.argv) == 1:
    print("\n".join(names))
else:
    print(sum(float(value) for value in globals()[sys.argv[1]]()))
