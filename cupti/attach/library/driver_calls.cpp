#include "cupti/attach/library/driver_calls.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace coalprof {
namespace {

// The first arguments of the driver's calls, in the order in which cuda.h has them. CUPTI's
// generated_cuda_meta.h has them too, and types that cuda.h no longer knows.
struct LaunchArguments {  // cuLaunchKernel, cuLaunchCooperativeKernel
    CUfunction function;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
};
struct LaunchExArguments {  // cuLaunchKernelEx
    const CUlaunchConfig* config;
};
struct GraphArguments {  // cuGraphLaunch
    CUgraphExec graph;
    CUstream hStream;
};

struct CaptureArguments {  // cuStreamBeginCapture, cuStreamEndCapture
    CUstream hStream;
};

// `own`: for calls that use each thread's own stream if none is named.
CUstream stream_of(CUstream named, bool own) {
    if (named) return named;
    return own ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

template <typename Params>
SeenLaunch launch_with(const CUpti_CallbackData& data, const Params& params, bool own) {
    return {.kernel = {.name = data.symbolName ? data.symbolName : "(unnamed)",
                       .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
                       .block = {params.blockDimX, params.blockDimY, params.blockDimZ}},
            .context = data.context,
            .stream = stream_of(params.hStream, own)};
}

template <typename Arguments>
const Arguments& arguments_of(const CUpti_CallbackData& data) {
    return *static_cast<const Arguments*>(data.functionParams);
}

CaptureCall capture_call(const CUpti_CallbackData& data, bool is_begin, bool own) {
    return {.stream = stream_of(arguments_of<CaptureArguments>(data).hStream, own),
            .is_begin = is_begin};
}

}  // namespace

std::optional<SeenLaunch> launch_of(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
            return launch_with(data, arguments_of<LaunchArguments>(data), false);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
            return launch_with(data, arguments_of<LaunchArguments>(data), true);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
            return launch_with(data, *arguments_of<LaunchExArguments>(data).config, false);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
            return launch_with(data, *arguments_of<LaunchExArguments>(data).config, true);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
            return SeenLaunch{
                .kernel = graph_launch(0),
                .context = data.context,
                .stream = stream_of(arguments_of<GraphArguments>(data).hStream,
                                    call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz)};
        default: return std::nullopt;
    }
}

std::optional<CaptureCall> capture_of(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
            return capture_call(data, true, false);
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
            return capture_call(data, true, true);
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture: return capture_call(data, false, false);
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
            return capture_call(data, false, true);
        default: return std::nullopt;
    }
}

std::optional<LoadCall> load_of(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
            return LoadCall{.code = arguments_of<LoadArguments<void>>(data).image,
                            .is_file = false};
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
            return LoadCall{.code = arguments_of<LoadArguments<void>>(data).image, .is_file = true};
        default: return std::nullopt;
    }
}

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
        case CUPTI_DRIVER_TRACE_CBID_cuLinkAddData_v2: data_link_called(data, lines); return true;
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
        default: return false;
    }
}

}  // namespace coalprof
