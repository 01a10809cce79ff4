// The driver's calls that the library subscribes to, decoded from CUPTI's callbacks.
#pragma once

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "cupti/attach/attachment.h"
#include "cupti/attach/line_probe.h"

namespace coalprof {

// None: not a launch.
std::optional<SeenLaunch> launch_of(CUpti_CallbackId call, const CUpti_CallbackData& data);

// A call that begins or ends the recording of a stream's launches into a graph.
struct CaptureCall {
    CUstream stream;
    bool is_begin;
};
std::optional<CaptureCall> capture_of(CUpti_CallbackId call, const CUpti_CallbackData& data);

// The arguments of each of `loading_calls`: the place for the handle, then the image, or the name
// of its file.
template <typename Handle>
struct LoadArguments {
    Handle* handle;
    const void* image;
};

// The arguments of each of `linking_calls`, with bytes and with the name of a file.
struct LinkDataArguments {
    CUlinkState state;
    CUjitInputType type;
    void* data;
    std::size_t size;
};
struct LinkFileArguments {
    CUlinkState state;
    CUjitInputType type;
    const char* path;
};

// A call that loads code.
struct LoadCall {
    const void* code;  // or the name of its file
    bool is_file;
};
std::optional<LoadCall> load_of(CUpti_CallbackId call, const CUpti_CallbackData& data);

inline constexpr std::array launch_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};
inline constexpr std::array loading_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,     CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile, CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
};
inline constexpr std::array linking_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLinkAddData,
    CUPTI_DRIVER_TRACE_CBID_cuLinkAddData_v2,
    CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile,
    CUPTI_DRIVER_TRACE_CBID_cuLinkAddFile_v2,
};
inline constexpr std::array unloading_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
    CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
};
inline constexpr std::array waiting_calls{
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,         CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,          CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds,
};
// The call that cudaDeviceSynchronize() makes from CUDA 13 on; older headers have no name for it.
inline constexpr CUpti_CallbackId synchronize_from_cuda_13 = 800;

// Code that the program loads and unloads: replaced by the same code with counting in it.

// Writes these bytes to a new file; empty: not possible.
using WriteImage = std::function<std::string(const std::string& bytes)>;

// Returns true for a call that loads, unloads or links code.
bool loading_called(CUpti_CallbackId call, const CUpti_CallbackData& data, bool succeeded,
                    LineProbe& lines, const WriteImage& file_for);

}  // namespace coalprof
