#include "cupti/attach/library/driver_calls.h"

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
        default:
            return std::nullopt;
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
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
            return capture_call(data, false, false);
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
            return capture_call(data, false, true);
        default:
            return std::nullopt;
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
        default:
            return std::nullopt;
    }
}

}  // namespace coalprof
