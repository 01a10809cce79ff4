#include "cupti/attach/library/code_loads.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

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

// The name of the file that is loaded in place of the program's, by this thread. No std::string:
// exit handlers load code too, when threads' objects are destroyed.
thread_local std::array<char, PATH_MAX> file_in_place;

bool put_file_in_place(const std::string& file) {
    if (file.empty() || file.size() >= file_in_place.size()) return false;
    std::ranges::copy(file, file_in_place.begin());
    file_in_place[file.size()] = '\0';
    return true;
}

void remove_file_in_place() {
    if (file_in_place[0] != '\0') ::unlink(file_in_place.data());
    file_in_place[0] = '\0';
}

template <typename Handle>
void file_load_called(const CUpti_CallbackData& data, bool succeeded, LineProbe& lines,
                      const WriteImage& file_for) {
    auto* arguments = static_cast<LoadArguments<Handle>*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite == CUPTI_API_ENTER) {
        const std::string* image =
            lines.replacement_of_file(static_cast<const char*>(arguments->image));
        if (!image) return;
        if (put_file_in_place(file_for(*image))) arguments->image = file_in_place.data();
        return;
    }
    if (succeeded && file_in_place[0] != '\0') lines.loaded(*arguments->handle, data.context);
    remove_file_in_place();
}

template <typename Handle>
void unload_called(const CUpti_CallbackData& data, LineProbe& lines) {
    if (data.callbackSite == CUPTI_API_ENTER)
        lines.unloads(static_cast<const UnloadArguments<Handle>*>(data.functionParams)->handle);
}

bool may_hold_ptx(CUjitInputType type) {
    return type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY;
}

void data_link_called(const CUpti_CallbackData& data, LineProbe& lines) {
    auto* input = static_cast<LinkDataArguments*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite != CUPTI_API_ENTER || !may_hold_ptx(input->type) || !input->data) return;
    const std::string* ptx = lines.replacement_of_input(
        std::string(static_cast<const char*>(input->data), input->size), true);
    if (!ptx) return;
    input->type = CU_JIT_INPUT_PTX;
    input->data = const_cast<char*>(ptx->c_str());
    input->size = ptx->size() + 1;
}

void file_link_called(const CUpti_CallbackData& data, LineProbe& lines,
                      const WriteImage& file_for) {
    auto* input = static_cast<LinkFileArguments*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite != CUPTI_API_ENTER) return remove_file_in_place();
    if (!may_hold_ptx(input->type) || !input->path) return;
    std::ifstream file(input->path, std::ios::binary);
    const std::string* ptx =
        lines.replacement_of_input({std::istreambuf_iterator<char>(file), {}}, true);
    if (!ptx || !put_file_in_place(file_for(*ptx))) return;
    input->type = CU_JIT_INPUT_PTX;
    input->path = file_in_place.data();
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
        case CUPTI_DRIVER_TRACE_CBID_cuLinkAddData:
        case CUPTI_DRIVER_TRACE_CBID_cuLinkAddData_v2:
            data_link_called(data, lines);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile:
        case CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile_v2:
            file_link_called(data, lines, file_for);
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
