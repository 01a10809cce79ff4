#include "cupti/attach/library/code_loads.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cupti/attach/library/driver_calls.h"

namespace coalprof {
namespace {

template <typename Handle>
struct UnloadArguments {
    Handle handle;
};

template <typename Handle>
void load_called(const CUpti_CallbackData& data, bool succeeded, LineProbe& lines) {
    auto* arguments = static_cast<LoadArguments<Handle>*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite == CUPTI_API_ENTER) {
        if (const void* image = lines.replacement(arguments->image)) arguments->image = image;
    } else if (succeeded) {
        lines.loaded(*arguments->handle, data.context);
    }
}

// The name of the file that is loaded in place of the program's; of this thread. No string: code
// is loaded by exit handlers too, when threads' objects are gone.
thread_local std::array<char, PATH_MAX> file_in_place;

template <typename Handle>
void file_load_called(const CUpti_CallbackData& data, bool succeeded, LineProbe& lines,
                      const WriteImage& file_for) {
    auto* arguments = static_cast<LoadArguments<Handle>*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite == CUPTI_API_ENTER) {
        const std::string* image =
            lines.replacement_of_file(static_cast<const char*>(arguments->image));
        if (!image) return;
        const std::string file = file_for(*image);
        if (file.empty() || file.size() >= file_in_place.size()) return;
        std::ranges::copy(file, file_in_place.begin());
        file_in_place[file.size()] = '\0';
        arguments->image = file_in_place.data();
        return;
    }
    const bool was_replaced = file_in_place[0] != '\0';
    if (succeeded && was_replaced) lines.loaded(*arguments->handle, data.context);
    if (was_replaced) ::unlink(file_in_place.data());
    file_in_place[0] = '\0';
}

template <typename Handle>
void unload_called(const CUpti_CallbackData& data, LineProbe& lines) {
    if (data.callbackSite == CUPTI_API_ENTER)
        lines.unloads(static_cast<const UnloadArguments<Handle>*>(data.functionParams)->handle);
}

}  // namespace

bool loading_called(CUpti_CallbackId call, const CUpti_CallbackData& data, bool succeeded,
                    LineProbe& lines, const WriteImage& file_for) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
            load_called<CUlibrary>(data, succeeded, lines);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
            load_called<CUmodule>(data, succeeded, lines);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
            file_load_called<CUmodule>(data, succeeded, lines, file_for);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
            file_load_called<CUlibrary>(data, succeeded, lines, file_for);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
            unload_called<CUlibrary>(data, lines);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
            unload_called<CUmodule>(data, lines);
            return true;
        default:
            return false;
    }
}

}  // namespace coalprof
