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


def numba():
    import numpy
    if not hasattr(numpy, "row_stack"):  # which numba-cuda asks for, and numpy 2.4 lacks
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit(lineinfo=True)
    def column_of(x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = x[i, 0] * 2 + 1

    x = cuda.to_device(matrix())
    y = cuda.device_array(ROWS, dtype=numpy.float32)
    for _ in range(CALLS):
        column_of[ROWS // 256, 256](x, y)
    return y.copy_to_host()


SOURCE = f"""extern "C" __global__ void column(const float* x, float* y) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i * {COLUMNS}] * 2 + 1;
}}"""


def checked(answer):
    if int(answer[0]) != 0:
        raise RuntimeError(str(answer[0]))
    return answer[1] if len(answer) == 2 else answer[1:]


def compiled(kind):
    """By NVRTC, as cuda.core has it."""
    try:
        from cuda.core import Device, Program, ProgramOptions
    except ImportError:
        from cuda.core.experimental import Device, Program, ProgramOptions
    device = Device()
    device.set_current()
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True)).compile(kind)


def launched(code):
    import ctypes
    import numpy
    from cuda.bindings import driver
    image = numpy.frombuffer(bytes(code), dtype=numpy.uint8)
    kernel = checked(driver.cuModuleGetFunction(checked(driver.cuModuleLoadData(image.ctypes.data)), b"column"))
    x, y = matrix(), numpy.zeros(ROWS, dtype=numpy.float32)
    of_x, of_y = checked(driver.cuMemAlloc(x.nbytes)), checked(driver.cuMemAlloc(y.nbytes))
    checked(driver.cuMemcpyHtoD(of_x, x.ctypes.data, x.nbytes))
    for _ in range(CALLS):
        checked(driver.cuLaunchKernel(kernel, ROWS // 256, 1, 1, 256, 1, 1, 0, 0, (
            (int(of_x), int(of_y)), (ctypes.c_void_p, ctypes.c_void_p)), 0))
    checked(driver.cuMemcpyDtoH(y.ctypes.data, of_y, y.nbytes))
    return y


def cuda_core():
    """Which links by nvJitLink."""
    try:
        from cuda.core import Device, Linker, LinkerOptions
    except ImportError:
        from cuda.core.experimental import Device, Linker, LinkerOptions
    linker = Linker(compiled("ptx"), options=LinkerOptions(arch=f"sm_{Device().arch}"))
    return launched(linker.link("cubin").code)


def driver_linker():
    import ctypes
    from cuda.bindings import driver
    text = compiled("ptx").code
    link = checked(driver.cuLinkCreate(0, [], []))
    checked(driver.cuLinkAddData(link, driver.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), b"column", 0, [], []))
    code, size = checked(driver.cuLinkComplete(link))
    return launched(ctypes.string_at(code, size))


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


names = [name for name in ("torch", "cupy", "jax") if has(name)]
names += ["numba"] if has("numba", "numba_cuda") else []
names += ["cuda_core", "driver_linker"] if has("cuda", "cuda.core") else []
if len(sys.argv) == 1:
    print("\n".join(names))
else:
    print(sum(float(value) for value in globals()[sys.argv[1]]()))
