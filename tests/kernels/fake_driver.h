// A scripted GPU: the driver API and NVRTC as functions over host memory. Device addresses are host
// addresses, a "cubin" is the source it was made from, and kernels are played by fake_kernels.h.
// A Script counts the driver's calls, and lets them fail.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/script.h"
#include "kernels/compiler.h"
#include "kernels/driver_api.h"
#include "kernels/nvrtc_here.h"

namespace coalprof {

struct FakeFunction {
    std::string name;
    std::string source;
};

struct FakeLaunch {
    const FakeFunction* function = nullptr;
    std::uint64_t grid = 0;
    std::uint32_t block = 0;
    std::uint32_t shared_bytes = 0;
    void** parameters = nullptr;
};

// One at a time: the tables hold plain functions, which find the GPU through a static pointer.
class FakeGpu {
 public:
    FakeGpu() {
        current() = this;
        current_context() = nullptr;
    }
    ~FakeGpu() {
        for (const auto& [address, region] : regions_) munmap(region.whole, region.whole_bytes);
        current() = nullptr;
    }
    FakeGpu(const FakeGpu&) = delete;
    FakeGpu& operator=(const FakeGpu&) = delete;

    // --- the script
    CUresult init_answer = CUDA_SUCCESS;
    int devices = 1;
    bool can_map = true;
    bool aligns_reservations = true;
    bool knows_fetch_limit = true;
    std::uint64_t memory_bytes = 512ull << 20;
    std::map<CUdevice_attribute, int> attributes{
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 20},
    };
    std::function<void(const FakeLaunch&)> play = [](const FakeLaunch&) {};
    std::atomic<nvrtcResult> compile_answer{NVRTC_SUCCESS};  // read by threads that compile ahead
    std::string compile_log = "kernel.cu(1): error: something is wrong";
    std::vector<int> architectures{75, 80, 90};

    // --- what was seen
    std::vector<std::string> launched;  // names, in order
    std::vector<std::string> compiled;  // sources
    std::vector<std::string> options;   // of all compilations
    std::size_t fetch_limit = 64;
    std::map<CUfunction_attribute, int> function_attributes{
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CU_SHAREDMEM_CARVEOUT_DEFAULT}};
    int settings_made = 0;  // limits of the context, attributes of functions
    int events_over = 0;    // of those that are asked for next; the others are to come
    std::vector<std::uint64_t> asked_for;  // events, by when they were recorded: from 1 in order
    std::uint64_t used_bytes = 0;
    // Of the thread that asks.
    CUcontext& current_context() {
        static thread_local CUcontext context = nullptr;
        return context;
    }
    // Calls on what belongs to a context other than the current one.
    std::vector<std::string> strays;
    int contexts = 0;
    int modules = 0;
    int events = 0;
    int allocations = 0;  // cuMemAlloc
    int handles = 0;      // cuMemCreate
    int managed = 0;      // cuMemAllocManaged, counted among the allocations
    int host_allocations = 0;
    int textures = 0;
    CUDA_RESOURCE_DESC last_texture{};
    int reservations = 0;  // cuMemAddressReserve
    int mappings = 0;
    int live() const {
        return contexts + modules + events + allocations + host_allocations + textures + handles +
               reservations + mappings;
    }

    // Every device has a primary context of its own.
    CUcontext context_of(int device) {
        return reinterpret_cast<CUcontext>(&context_marks_[device]);
    }

    static FakeGpu*& current() {
        static FakeGpu* gpu = nullptr;
        return gpu;
    }
    static DriverApi driver();
    static std::shared_future<NvrtcLibrary> nvrtc();

 private:
    friend struct FakeTable;

    struct Region {
        std::uint64_t bytes = 0;
        void* whole = nullptr;  // as mmap gave it
        std::uint64_t whole_bytes = 0;
    };
    // Addresses without memory, as the driver reserves them too.
    CUdeviceptr reserve(std::uint64_t bytes, std::uint64_t alignment) {
        Region region{.bytes = bytes, .whole = nullptr, .whole_bytes = bytes + alignment};
        region.whole = mmap(nullptr, region.whole_bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        const auto start = reinterpret_cast<std::uint64_t>(region.whole);
        const CUdeviceptr address = (start + alignment - 1) / alignment * alignment;
        regions_[address] = region;
        return address;
    }
    // The same with memory behind it.
    CUdeviceptr reserve_usable(std::uint64_t bytes) {
        const CUdeviceptr address = reserve(bytes, 512);
        mprotect(regions_[address].whole, regions_[address].whole_bytes, PROT_READ | PROT_WRITE);
        return address;
    }
    CUresult allocate(CUdeviceptr* address, std::uint64_t bytes) {
        if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        if (used_bytes + bytes > memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
        *address = reserve_usable(bytes);
        used_bytes += bytes;
        return CUDA_SUCCESS;
    }
    CUresult allocate_counted(CUdeviceptr* address, std::uint64_t bytes) {
        const CUresult status = allocate(address, bytes);
        if (status == CUDA_SUCCESS) ++allocations;
        return status;
    }
    // A module's __device__ array, as its source declares it: "coalprof_array[4096]".
    CUresult load_array(CUmodule module, const std::string& source) {
        const std::size_t at = source.find("coalprof_array[");
        if (at == std::string::npos) return CUDA_SUCCESS;
        CUdeviceptr address = 0;
        const CUresult status = allocate(&address, std::stoull(source.substr(at + 15)));
        if (status == CUDA_SUCCESS) module_arrays_[module] = address;
        return status;
    }
    void unload_array(CUmodule module) {
        const auto found = module_arrays_.find(module);
        if (found == module_arrays_.end()) return;
        int none = 0;
        used_bytes -= regions_[found->second].bytes;
        drop(found->second, none);
        module_arrays_.erase(found);
    }
    CUresult drop(CUdeviceptr address, int& count) {
        const auto found = regions_.find(address);
        if (found == regions_.end()) return CUDA_ERROR_INVALID_VALUE;
        munmap(found->second.whole, found->second.whole_bytes);
        regions_.erase(found);
        --count;
        return CUDA_SUCCESS;
    }

    // Notes what is used outside the context in which it was made.
    void belongs(const void* what, const char* call) {
        const auto found = owners_.find(what);
        if (found != owners_.end() && found->second != current_context()) strays.emplace_back(call);
    }

    std::map<int, char> context_marks_;
    std::map<const void*, CUcontext> owners_;  // of modules and functions
    std::map<CUdeviceptr, Region> regions_;
    std::map<CUmodule, CUdeviceptr> module_arrays_;
    std::map<CUevent, std::uint64_t> recorded_;  // when, counted from 1; 0: not yet
    std::uint64_t records_ = 0;
    std::uint64_t done_records_ = 0;  // when the host last waited
    std::map<CUmemGenericAllocationHandle, std::uint64_t> handle_bytes_;
    CUmemGenericAllocationHandle next_handle_ = 1;
    std::vector<std::unique_ptr<std::string>> sources_;
    std::vector<std::unique_ptr<FakeFunction>> functions_;
    std::map<std::uintptr_t, std::string> programs_;
    std::uintptr_t next_program_ = 1;
    std::uintptr_t next_event_ = 0;
    std::mutex mutex_;
};

struct FakeTable {
    static FakeGpu& gpu() { return *FakeGpu::current(); }
    static void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

    static void fill_start(DriverApi& api);
    static void fill_devices(DriverApi& api);
    static void fill_context(DriverApi& api);
    static void fill_code(DriverApi& api);
    static void fill_memory(DriverApi& api);
    static void fill_mapping(DriverApi& api);
    static void fill_events(DriverApi& api);
    static NvrtcApi compiler();
};

inline void FakeTable::fill_start(DriverApi& api) {
    api.init = [](unsigned) { return gpu().init_answer; };
    api.driver_version = [](int* version) {
        *version = 13000;
        return CUDA_SUCCESS;
    };
    // Naming an error is no call that a script lets fail.
    api.error_name = [](CUresult code, const char** name) {
        static std::map<CUresult, std::string> names;
        *name = (names[code] = "CUDA_ERROR_" + std::to_string(code)).c_str();
        return CUDA_SUCCESS;
    };
    api.error_string = [](CUresult, const char** text) {
        *text = "scripted failure";
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_devices(DriverApi& api) {
    api.device_count = [](int* count) {
        *count = gpu().devices;
        return CUDA_SUCCESS;
    };
    api.device_get = [](CUdevice* device, int index) {
        *device = index;
        return CUDA_SUCCESS;
    };
    api.device_name = [](char* name, int bytes, CUdevice) {
        std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
        return CUDA_SUCCESS;
    };
    api.device_uuid = [](CUuuid* uuid, CUdevice) {
        for (std::size_t k = 0; k < sizeof uuid->bytes; ++k)
            uuid->bytes[k] = static_cast<char>(0xA0 + k);
        return CUDA_SUCCESS;
    };
    api.device_pci_bus_id = [](char* text, int bytes, CUdevice) {
        std::strncpy(text, "0000:1B:00.0", static_cast<std::size_t>(bytes));
        return CUDA_SUCCESS;
    };
    api.device_attribute = [](int* value, CUdevice_attribute which, CUdevice) {
        FakeGpu& g = gpu();
        if (which == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) {
            *value = g.can_map ? 1 : 0;
            return CUDA_SUCCESS;
        }
        const auto found = g.attributes.find(which);
        if (found == g.attributes.end()) return CUDA_ERROR_INVALID_VALUE;
        *value = found->second;
        return CUDA_SUCCESS;
    };
    api.device_memory = [](std::size_t* bytes, CUdevice) {
        *bytes = gpu().memory_bytes;
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_context(DriverApi& api) {
    api.context_retain = [](CUcontext* context, CUdevice device) {
        FakeGpu& g = gpu();
        *context = g.context_of(device);
        ++g.contexts;
        return CUDA_SUCCESS;
    };
    api.context_release = [](CUdevice) {
        --gpu().contexts;
        return CUDA_SUCCESS;
    };
    api.context_set_current = [](CUcontext context) {
        gpu().current_context() = context;
        return CUDA_SUCCESS;
    };
    api.context_synchronize = [] {
        FakeGpu& g = gpu();
        g.done_records_ = g.records_;
        return CUDA_SUCCESS;
    };
    api.context_get_limit = [](std::size_t* value, CUlimit) {
        FakeGpu& g = gpu();
        if (!g.knows_fetch_limit) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        *value = g.fetch_limit;
        return CUDA_SUCCESS;
    };
    api.context_set_limit = [](CUlimit, std::size_t value) {
        FakeGpu& g = gpu();
        ++g.settings_made;
        g.fetch_limit = value;
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_code(DriverApi& api) {
    api.module_load = [](CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
        FakeGpu& g = gpu();
        g.sources_.push_back(std::make_unique<std::string>(static_cast<const char*>(image)));
        *module = reinterpret_cast<CUmodule>(g.sources_.back().get());
        const CUresult status = g.load_array(*module, *g.sources_.back());
        if (status != CUDA_SUCCESS) return status;
        g.owners_[*module] = g.current_context();
        ++g.modules;
        return CUDA_SUCCESS;
    };
    api.module_unload = [](CUmodule module) {
        FakeGpu& g = gpu();
        g.belongs(module, "cuModuleUnload");
        g.unload_array(module);
        --g.modules;
        return CUDA_SUCCESS;
    };
    api.module_function = [](CUfunction* function, CUmodule module, const char* name) {
        FakeGpu& g = gpu();
        g.functions_.push_back(std::make_unique<FakeFunction>(
            FakeFunction{name, *reinterpret_cast<std::string*>(module)}));
        *function = reinterpret_cast<CUfunction>(g.functions_.back().get());
        g.owners_[*function] = g.current_context();
        return CUDA_SUCCESS;
    };
    api.module_global = [](CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char*) {
        FakeGpu& g = gpu();
        const auto found = g.module_arrays_.find(module);
        if (found == g.module_arrays_.end()) return CUDA_ERROR_NOT_FOUND;
        *address = found->second;
        *bytes = g.regions_[found->second].bytes;
        return CUDA_SUCCESS;
    };
    api.function_get_attribute = [](int* value, CUfunction_attribute which, CUfunction) {
        *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 32 : gpu().function_attributes[which];
        return CUDA_SUCCESS;
    };
    api.function_set_attribute = [](CUfunction, CUfunction_attribute which, int value) {
        FakeGpu& g = gpu();
        ++g.settings_made;
        g.function_attributes[which] = value;
        return CUDA_SUCCESS;
    };
    api.occupancy = [](int* blocks, CUfunction, int block, std::size_t) {
        *blocks = 2048 / block;
        return CUDA_SUCCESS;
    };
    api.launch = [](CUfunction function, unsigned grid, unsigned, unsigned, unsigned block,
                    unsigned, unsigned, unsigned shared_bytes, CUstream, void** parameters,
                    void**) {
        FakeGpu& g = gpu();
        const auto* called = reinterpret_cast<const FakeFunction*>(function);
        g.belongs(called, "cuLaunchKernel");
        g.launched.push_back(called->name);
        if (grid == 0 || block == 0) return CUDA_ERROR_INVALID_VALUE;
        g.play({called, grid, block, shared_bytes, parameters});
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_memory(DriverApi& api) {
    api.memory_info = [](std::size_t* free_bytes, std::size_t* total_bytes) {
        FakeGpu& g = gpu();
        *free_bytes = g.memory_bytes - g.used_bytes;
        *total_bytes = g.memory_bytes;
        return CUDA_SUCCESS;
    };
    api.memory_allocate = [](CUdeviceptr* address, std::size_t bytes) {
        return gpu().allocate_counted(address, bytes);
    };
    // The driver gives managed memory beyond what the GPU has: that it is not asked for it is ours.
    api.memory_allocate_managed = [](CUdeviceptr* address, std::size_t bytes, unsigned) {
        FakeGpu& g = gpu();
        *address = g.reserve_usable(bytes);
        g.used_bytes += bytes;
        ++g.allocations;
        ++g.managed;
        return CUDA_SUCCESS;
    };
    api.host_allocate = [](void** address, std::size_t bytes, unsigned) {
        FakeGpu& g = gpu();
        *address = host(g.reserve_usable(bytes));
        ++g.host_allocations;
        return CUDA_SUCCESS;
    };
    api.host_device_pointer = [](CUdeviceptr* address, void* where, unsigned) {
        *address = reinterpret_cast<CUdeviceptr>(where);
        return CUDA_SUCCESS;
    };
    api.host_free = [](void* where) {
        FakeGpu& g = gpu();
        return g.drop(reinterpret_cast<CUdeviceptr>(where), g.host_allocations);
    };
    api.texture_create = [](CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                            const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC*) {
        FakeGpu& g = gpu();
        g.last_texture = *resource;
        *texture = static_cast<CUtexObject>(0x7E0 + ++g.textures);
        return CUDA_SUCCESS;
    };
    api.texture_destroy = [](CUtexObject) {
        --gpu().textures;
        return CUDA_SUCCESS;
    };
    api.memory_allocate_pitch = [](CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                   std::size_t, unsigned) {
        *pitch = (width + 511) / 512 * 512;
        return gpu().allocate_counted(address, *pitch);
    };
    api.memory_free = [](CUdeviceptr address) {
        FakeGpu& g = gpu();
        const auto found = g.regions_.find(address);
        if (found != g.regions_.end()) g.used_bytes -= found->second.bytes;
        return g.drop(address, g.allocations);
    };
    api.copy_to_host = [](void* into, CUdeviceptr from, std::size_t bytes) {
        std::memcpy(into, host(from), bytes);
        return CUDA_SUCCESS;
    };
    api.copy_to_device = [](CUdeviceptr into, const void* from, std::size_t bytes) {
        std::memcpy(host(into), from, bytes);
        return CUDA_SUCCESS;
    };
    api.copy_on_device = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
        return CUDA_SUCCESS;
    };
    api.fill_bytes = [](CUdeviceptr into, unsigned char value, std::size_t bytes, CUstream) {
        // Large buffers are only cleared, and are clear already: fresh pages.
        if (bytes <= 4096) std::memset(host(into), value, bytes);
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_mapping(DriverApi& api) {
    api.memory_granularity = [](std::size_t* bytes, const CUmemAllocationProp*,
                                CUmemAllocationGranularity_flags) {
        *bytes = 2 << 20;
        return CUDA_SUCCESS;
    };
    api.address_reserve = [](CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr, unsigned long long) {
        FakeGpu& g = gpu();
        const bool aligns = g.aligns_reservations && alignment != 0;
        *address = g.reserve(bytes, aligns ? alignment : 2 << 20);
        ++g.reservations;
        return CUDA_SUCCESS;
    };
    api.address_free = [](CUdeviceptr address, std::size_t) {
        return gpu().drop(address, gpu().reservations);
    };
    api.memory_create = [](CUmemGenericAllocationHandle* handle, std::size_t bytes,
                           const CUmemAllocationProp*, unsigned long long) {
        FakeGpu& g = gpu();
        if (g.used_bytes + bytes > g.memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
        *handle = g.next_handle_++;
        g.handle_bytes_[*handle] = bytes;
        g.used_bytes += bytes;
        ++g.handles;
        return CUDA_SUCCESS;
    };
    api.memory_release = [](CUmemGenericAllocationHandle handle) {
        FakeGpu& g = gpu();
        g.used_bytes -= g.handle_bytes_[handle];
        g.handle_bytes_.erase(handle);
        --g.handles;
        return CUDA_SUCCESS;
    };
    api.memory_map = [](CUdeviceptr address, std::size_t bytes, std::size_t,
                        CUmemGenericAllocationHandle, unsigned long long) {
        if (mprotect(host(address), bytes, PROT_READ | PROT_WRITE) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        ++gpu().mappings;
        return CUDA_SUCCESS;
    };
    api.memory_unmap = [](CUdeviceptr address, std::size_t bytes) {
        mprotect(host(address), bytes, PROT_NONE);
        --gpu().mappings;
        return CUDA_SUCCESS;
    };
    api.memory_set_access = [](CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
        return CUDA_SUCCESS;
    };
}

inline void FakeTable::fill_events(DriverApi& api) {
    api.event_create = [](CUevent* event, unsigned) {
        FakeGpu& g = gpu();
        *event = reinterpret_cast<CUevent>(++g.next_event_);
        g.recorded_[*event] = 0;
        ++g.events;
        return CUDA_SUCCESS;
    };
    api.event_destroy = [](CUevent event) {
        FakeGpu& g = gpu();
        if (g.recorded_.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
        --g.events;
        return CUDA_SUCCESS;
    };
    api.event_record = [](CUevent event, CUstream) {
        FakeGpu& g = gpu();
        g.recorded_.at(event) = ++g.records_;
        return CUDA_SUCCESS;
    };
    api.event_query = [](CUevent event) {
        FakeGpu& g = gpu();
        g.asked_for.push_back(g.recorded_.at(event));
        if (g.events_over == 0) return CUDA_ERROR_NOT_READY;
        --g.events_over;
        return CUDA_SUCCESS;
    };
    api.event_elapsed = [](float* milliseconds, CUevent start, CUevent stop) {
        FakeGpu& g = gpu();
        const std::uint64_t from = g.recorded_.at(start);
        const std::uint64_t to = g.recorded_.at(stop);
        if (from == 0 || to == 0) return CUDA_ERROR_INVALID_HANDLE;
        if (std::max(from, to) > g.done_records_) return CUDA_ERROR_NOT_READY;
        *milliseconds = from < to ? 0.5f : -0.5f;
        return CUDA_SUCCESS;
    };
}

// NVRTC is called from other threads: a test that does not ask for it has its calls not counted.
inline NvrtcApi FakeTable::compiler() {
    NvrtcApi api;
    api.version = [](int* major, int* minor) {
        *major = 13;
        *minor = 0;
        return NVRTC_SUCCESS;
    };
    api.error_string = [](nvrtcResult) { return "NVRTC_ERROR_SCRIPTED"; };
    api.architecture_count = [](int* count) {
        *count = static_cast<int>(gpu().architectures.size());
        return NVRTC_SUCCESS;
    };
    api.architectures = [](int* into) {
        std::copy(gpu().architectures.begin(), gpu().architectures.end(), into);
        return NVRTC_SUCCESS;
    };
    api.create_program = [](nvrtcProgram* program, const char* source, const char*, int,
                            const char* const*, const char* const*) {
        const std::lock_guard lock(gpu().mutex_);
        FakeGpu& gpu = *FakeGpu::current();
        gpu.programs_[gpu.next_program_] = source;
        gpu.compiled.emplace_back(source);
        *program = reinterpret_cast<nvrtcProgram>(gpu.next_program_++);
        return NVRTC_SUCCESS;
    };
    api.destroy_program = [](nvrtcProgram*) { return NVRTC_SUCCESS; };
    api.compile_program = [](nvrtcProgram, int count, const char* const* options) {
        const std::lock_guard lock(gpu().mutex_);
        std::vector<std::string>& seen = gpu().options;
        seen.insert(seen.end(), options, options + count);
        return gpu().compile_answer.load();
    };
    api.log_size = [](nvrtcProgram, std::size_t* bytes) {
        *bytes = gpu().compile_log.size();
        return NVRTC_SUCCESS;
    };
    api.log = [](nvrtcProgram, char* into) {
        const std::string& log = gpu().compile_log;
        std::memcpy(into, log.data(), log.size());
        return NVRTC_SUCCESS;
    };
    api.cubin_size = [](nvrtcProgram program, std::size_t* bytes) {
        const std::lock_guard lock(gpu().mutex_);
        *bytes = gpu().programs_[reinterpret_cast<std::uintptr_t>(program)].size() + 1;
        return NVRTC_SUCCESS;
    };
    api.cubin = [](nvrtcProgram program, char* into) {
        const std::lock_guard lock(gpu().mutex_);
        const std::string& text = gpu().programs_[reinterpret_cast<std::uintptr_t>(program)];
        std::memcpy(into, text.c_str(), text.size() + 1);
        return NVRTC_SUCCESS;
    };
    api.ptx_size = api.cubin_size;
    api.ptx = api.cubin;
    return api;
}

// All but the calls that only put a failure into words.
inline DriverApi scripted(DriverApi api) {
    const DriverApi plain = api;
#define COALPROF_SCRIPT(member, symbol) \
    Trampoline<&DriverApi::member>::put(api, Library::driver, #symbol);
    COALPROF_DRIVER_CALLS(COALPROF_SCRIPT)
#undef COALPROF_SCRIPT
    api.error_name = plain.error_name;
    api.error_string = plain.error_string;
    return api;
}

inline NvrtcLibrary scripted(NvrtcLibrary library) {
    NvrtcApi& api = *library.api;
#define COALPROF_SCRIPT(member, symbol) \
    Trampoline<&NvrtcApi::member>::put(api, Library::nvrtc, #symbol);
    COALPROF_NVRTC_CALLS(COALPROF_SCRIPT)
#undef COALPROF_SCRIPT
    return library;
}

inline DriverApi FakeGpu::driver() {
    DriverApi api;
    FakeTable::fill_start(api);
    FakeTable::fill_devices(api);
    FakeTable::fill_context(api);
    FakeTable::fill_code(api);
    FakeTable::fill_memory(api);
    FakeTable::fill_mapping(api);
    FakeTable::fill_events(api);
    return scripted(api);
}

inline std::shared_future<NvrtcLibrary> FakeGpu::nvrtc() {
    return ready({.api = FakeTable::compiler(), .path = "fake", .sentence = {}});
}

}  // namespace coalprof
