#include "core/device/device.h"

#include <dlfcn.h>

namespace coalprof {

void* driver_library() {
    // Global, as CUPTI's libraries need it.
    static void* const library = dlopen(driver_library_name, RTLD_NOW | RTLD_GLOBAL);
    return library;
}

}  // namespace coalprof
