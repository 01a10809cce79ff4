// The driver's calls that load, compile and read code, and its GPU.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

namespace coalprof {

// A plain struct, so that a scripted fake can stand in.
struct ModuleDriver {
    decltype(&::cuCtxGetDevice) context_get_device = nullptr;
    decltype(&::cuDeviceGetCount) device_get_count = nullptr;
    decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&::cuCtxPushCurrent) context_push = nullptr;
    decltype(&::cuCtxPopCurrent) context_pop = nullptr;
    decltype(&::cuLinkCreate) link_create = nullptr;
    decltype(&::cuLinkAddData) link_add_data = nullptr;
    decltype(&::cuLinkComplete) link_complete = nullptr;
    decltype(&::cuLinkDestroy) link_destroy = nullptr;
    decltype(&::cuLibraryGetGlobal) global_of_code = nullptr;
    decltype(&::cuModuleGetGlobal) global_of_module = nullptr;
    decltype(&::cuMemcpyDtoH) copy_to_host = nullptr;
};

// Throws CountersError: no driver, or one that is too old (before CUDA 12).
ModuleDriver module_driver();

// Of the GPU that code is compiled for, 90 is 9.0: that of the current context, or the first.
std::uint32_t capability_of_code(const ModuleDriver& driver);

// True if code for one of them might not fit the others; a library of code serves all.
bool gpus_differ(const ModuleDriver& driver);

// Tests if the program's kernels have ended, without waiting for them. CUPTI waits where a range, a
// pass or the profiler begins or ends, and a kernel that waits for another kernel or for the
// program would then never end: it gets what it waits for only when its launch has returned.

// A plain struct, so that a scripted fake can stand in. nullptr: the driver does not have it.
struct WorkDriver {
    decltype(&::cuCtxPushCurrent) context_push = nullptr;
    decltype(&::cuCtxPopCurrent) context_pop = nullptr;
    decltype(&::cuCtxSynchronize) context_synchronize = nullptr;
    decltype(&::cuStreamQuery) stream_query = nullptr;
    decltype(&::cuStreamIsCapturing) stream_is_capturing = nullptr;
    decltype(&::cuEventCreate) event_create = nullptr;
    decltype(&::cuEventQuery) event_query = nullptr;
    // cuCtxRecordEvent, of CUDA 12.5.
    CUresult (*record_all_work)(CUcontext, CUevent) = nullptr;
};
WorkDriver work_driver();

// Polls, with sleeps in between. Returns true if it came true in time.
bool comes_true(const std::function<bool()>& claim, std::chrono::milliseconds patience);

class RunningWork {
 public:
    explicit RunningWork(const WorkDriver& driver) : driver_(driver) {}

    // True also if the driver cannot say.
    bool has_ended(CUstream stream) const;
    // For all streams. No stream of the context may be capturing: its capture would be spoilt.
    bool ends_within(CUcontext context, std::chrono::milliseconds patience);
    // For calls that require an ended context, when its work has ended.
    void synchronize(CUcontext context);
    void context_ends(CUcontext context) { marks_.erase(context); }

 private:
    bool mark(CUcontext context);

    WorkDriver driver_;
    std::map<CUcontext, CUevent> marks_;  // destroyed with their contexts
};

}  // namespace coalprof
