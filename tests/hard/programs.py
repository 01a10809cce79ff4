"""Programs in Python that are hard to count, for scripts/hard-programs: see programs.cu."""
import gc
import importlib.util
import os
import signal
import subprocess
import sys
import threading


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def work(torch):
    x = torch.ones(1 << 16, device="cuda")
    for _ in range(8):
        x = x * 1.5 - 0.5
    return x.sum().item()


def profiles_itself():
    import torch
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as taken:
        value = work(torch)
        torch.cuda.synchronize()
    print(value, "events:", len(taken.key_averages()) > 0)


def sees_its_kernels():
    """What it is told of its own kernels."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as taken:
        work(torch)
        torch.cuda.synchronize()
    print("kernels:", any("elementwise" in one.key for one in taken.key_averages()))


def unloads_modules():
    """Code that is loaded, launched and unloaded, again and again."""
    import ctypes
    cuda = ctypes.CDLL("libcuda.so.1")
    ptx = (b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fill(.param .u64 to)\n{\n"
           b".reg .b64 %d<3>; .reg .b32 %r<3>;\nld.param.u64 %d1, [to];\nmov.u32 %r1, %tid.x;\n"
           b"mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r1;\nret;\n}\n")
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    cuda.cuInit(0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    cuda.cuMemAlloc_v2(ctypes.byref(memory), 4096)
    failed = 0
    for _ in range(50):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        failed |= cuda.cuModuleLoadData(ctypes.byref(module), ptx)
        failed |= cuda.cuModuleGetFunction(ctypes.byref(function), module, b"fill")
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
        failed |= cuda.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, None, arguments, None)
        failed |= cuda.cuCtxSynchronize()
        failed |= cuda.cuModuleUnload(module)
    values = (ctypes.c_uint32 * 256)()
    cuda.cuMemcpyDtoH_v2(values, memory, ctypes.c_size_t(1024))
    print("unloaded", failed, sum(values))


def forgets_its_modules():
    import torch
    value = work(torch)
    for name in [one for one in sys.modules if one.startswith("torch.")]:
        del sys.modules[name]
    del torch
    gc.collect()
    print(value)


def raises():
    import torch
    print(work(torch), flush=True)
    raise RuntimeError("nobody catches it")


def is_interrupted():
    import torch
    print(work(torch), flush=True)
    os.kill(os.getpid(), signal.SIGINT)


def exits_at_once():
    import torch
    print(work(torch), flush=True)
    os._exit(7)


def has_a_thread_that_goes_on():
    import torch
    started = threading.Event()

    def forever():
        while True:
            work(torch)
            started.set()
    threading.Thread(target=forever, daemon=True).start()
    started.wait()
    print("left it behind")


def compiles_with_jax():
    import jax
    x = jax.numpy.arange(1 << 16, dtype="float32").reshape(256, 256)
    turned = jax.jit(lambda x: x.T[::2] * 2)
    print(sum(float(turned(x)[3, 5]) for _ in range(4)))


def has_processes():
    """Each with CUDA of its own."""
    script = "import torch; print((torch.ones(1000, device='cuda') * 3).sum().item(), flush=True)"
    for process in [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]:
        process.wait()
    print("done")


def loads_data_in_forked_workers():
    import torch
    value = work(torch)
    data = torch.utils.data.DataLoader(torch.arange(64), batch_size=8, num_workers=2)
    print(value, sum((batch.cuda() * 2).sum().item() for batch in data))


programs = {"profiles_itself": ["torch"], "sees_its_kernels": ["torch"], "unloads_modules": [],
            "forgets_its_modules": ["torch"], "raises": ["torch"], "is_interrupted": ["torch"],
            "exits_at_once": ["torch"], "has_a_thread_that_goes_on": ["torch"],
            "compiles_with_jax": ["jax"], "has_processes": ["torch"], "loads_data_in_forked_workers": ["torch"]}

if len(sys.argv) == 1:
    print("\n".join(name for name, modules in programs.items() if has(*modules)))
else:
    globals()[sys.argv[1]]()
