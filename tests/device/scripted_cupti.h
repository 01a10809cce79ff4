// CUPTI's function tables behind the script.
#pragma once

#include "cupti/cupti_api.h"
#include "cupti/driver.h"
#include "device/script.h"

namespace coalprof {

inline CuptiApi scripted(CuptiApi api) {
#define COALPROF_SCRIPT(member, symbol) \
    Trampoline<&CuptiApi::member>::put(api, Library::cupti, #member);
    COALPROF_SCRIPT(get_version, cuptiGetVersion)
    COALPROF_CUPTI_HOST_CALLS(COALPROF_SCRIPT)
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_SCRIPT)
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
