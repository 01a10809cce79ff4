// Function tables behind the script: every member asks it first, and then calls what the table
// held before.
#pragma once

#include "cupti/cupti_api.h"
#include "cupti/driver.h"
#include "device/script.h"
#include "kernels/compiler.h"
#include "kernels/driver_api.h"

namespace coalprof {

template <auto Member>
struct Trampoline;

template <typename Table, typename Result, typename... Arguments,
          Result (*Table::*Member)(Arguments...)>
struct Trampoline<Member> {
    static void put(Table& table, Library library, const char* name) {
        library_ = library;
        name_ = name;
        original_ = table.*Member;
        table.*Member = call;
    }
    static Result call(Arguments... arguments) {
        return static_cast<Result>(Script::current()->step(
            library_, name_, [&] { return static_cast<int>(original_(arguments...)); }));
    }

 private:
    static inline Library library_ = Library::driver;
    static inline const char* name_ = "";
    static inline Result (*original_)(Arguments...) = nullptr;
};

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
#define COALPROF_SCRIPT(member) Trampoline<&NvrtcApi::member>::put(api, Library::nvrtc, #member);
    Trampoline<&NvrtcApi::create_program>::put(api, Library::nvrtc, "nvrtcCreateProgram");
    Trampoline<&NvrtcApi::destroy_program>::put(api, Library::nvrtc, "nvrtcDestroyProgram");
    COALPROF_SCRIPT(version)
    COALPROF_SCRIPT(architecture_count)
    COALPROF_SCRIPT(architectures)
    COALPROF_SCRIPT(compile_program)
    COALPROF_SCRIPT(log_size)
    COALPROF_SCRIPT(log)
    COALPROF_SCRIPT(cubin_size)
    COALPROF_SCRIPT(cubin)
    COALPROF_SCRIPT(ptx_size)
    COALPROF_SCRIPT(ptx)
#undef COALPROF_SCRIPT
    return library;
}

inline CuptiApi scripted(CuptiApi api) {
#define COALPROF_SCRIPT(member) Trampoline<&CuptiApi::member>::put(api, Library::cupti, #member);
    COALPROF_SCRIPT(get_version)
    COALPROF_SCRIPT(host_get_supported_chips)
    COALPROF_SCRIPT(host_initialize)
    COALPROF_SCRIPT(host_deinitialize)
    COALPROF_SCRIPT(host_get_metric_properties)
    COALPROF_SCRIPT(host_config_add_metrics)
    COALPROF_SCRIPT(host_get_config_image_size)
    COALPROF_SCRIPT(host_get_config_image)
    COALPROF_SCRIPT(host_get_num_of_passes)
    COALPROF_SCRIPT(host_evaluate_to_gpu_values)
    COALPROF_SCRIPT(profiler_initialize)
    COALPROF_SCRIPT(profiler_deinitialize)
    COALPROF_SCRIPT(profiler_device_supported)
    COALPROF_SCRIPT(device_get_chip_name)
    COALPROF_SCRIPT(range_enable)
    COALPROF_SCRIPT(range_disable)
    COALPROF_SCRIPT(range_get_counter_data_size)
    COALPROF_SCRIPT(range_image_initialize)
    COALPROF_SCRIPT(range_set_config)
    COALPROF_SCRIPT(range_start)
    COALPROF_SCRIPT(range_stop)
    COALPROF_SCRIPT(range_push)
    COALPROF_SCRIPT(range_pop)
    COALPROF_SCRIPT(range_decode)
    COALPROF_SCRIPT(range_get_counter_data_info)
    COALPROF_SCRIPT(range_get_range_info)
#undef COALPROF_SCRIPT
    return api;
}

// These are the driver's, asked by the collector: they answer without a usable context too.
inline CounterDriver scripted(CounterDriver driver) {
#define COALPROF_SCRIPT(member) \
    Trampoline<&CounterDriver::member>::put(driver, Library::cupti, "driver_" #member);
    COALPROF_SCRIPT(init)
    COALPROF_SCRIPT(driver_get_version)
    COALPROF_SCRIPT(device_get_count)
    COALPROF_SCRIPT(device_get)
    COALPROF_SCRIPT(context_get_current)
#undef COALPROF_SCRIPT
    return driver;
}

}  // namespace coalprof
