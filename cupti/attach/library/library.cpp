// The library that the driver loads into the user's program (CUDA_INJECTION64_PATH), and NVTX where
// launches are chosen by its ranges (NVTX_INJECTION64_PATH): in any order. It subscribes to CUPTI's
// callbacks for launches and counts the chosen ones. Whatever goes wrong is told in the trace; the
// program goes on.
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/device/device.h"
#include "cupti/attach/choice.h"
#include "cupti/attach/launch_counter.h"
#include "cupti/attach/launch_turn.h"
#include "cupti/attach/line_probe.h"
#include "cupti/attach/nvtx_hooks.h"
#include "cupti/attach/orders.h"
#include "cupti/collector.h"
#include "cupti/cupti_api.h"
#include "cupti/failures.h"

namespace coalprof {
namespace {

using Clock = std::chrono::steady_clock;

// After so many launches in a row that nobody wants counted the profiler is switched off.
constexpr std::uint64_t idle_launches = 200;
// A program may end without a word: what was counted is fetched when it has waited for its kernels
// and before it launches more, no more often than this.
constexpr std::chrono::milliseconds least_between_fetches{250};
// The same for the counts of lines, of which each time all are fetched.
constexpr std::chrono::milliseconds least_between_reads{1000};
// Others wait for a launch that is counted. One that takes longer (its PTX is compiled) is not
// counted: the program must never stand still because of us.
constexpr std::chrono::seconds longest_launch{10};

struct CallbackApi {
    decltype(&::cuptiSubscribe) subscribe = nullptr;
    decltype(&::cuptiEnableCallback) enable_callback = nullptr;
    decltype(&::cuptiGetDeviceId) get_device_id = nullptr;
};

CallbackApi callback_api(const std::string& path) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library) throw CountersError("cannot read counters: CUPTI's library has gone");
    CallbackApi api;
    api.subscribe = reinterpret_cast<decltype(api.subscribe)>(::dlsym(library, "cuptiSubscribe"));
    api.enable_callback =
        reinterpret_cast<decltype(api.enable_callback)>(::dlsym(library, "cuptiEnableCallback"));
    api.get_device_id =
        reinterpret_cast<decltype(api.get_device_id)>(::dlsym(library, "cuptiGetDeviceId"));
    if (!api.subscribe || !api.enable_callback || !api.get_device_id)
        throw CountersError("cannot read counters: this CUPTI has no callbacks");
    return api;
}

// What is counted in one context, by its chip.
struct ChipConfig {
    ChipConfig(const CuptiApi& api, const std::string& chip, RunMetrics chosen)
        : metrics(std::move(chosen)), config(api, chip, metrics.names()) {}
    RunMetrics metrics;
    MetricConfig config;
};

// One context of the program.
struct Context {
    std::uint32_t device = 0;
    std::unique_ptr<ChipConfig> chip;
    std::unique_ptr<LaunchCounter> counter;  // none: its set-up failed
};

std::string program_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string("?") : path.string();
}

// Made by whoever comes first, CUDA or NVTX. nullptr: launches are not chosen by ranges.
NvtxRanges* wanted_ranges() {
    static NvtxRanges* const ranges = []() -> NvtxRanges* {
        const auto orders = orders_of_environment();
        return orders && !orders->ranges.empty() ? new NvtxRanges(orders->ranges) : nullptr;
    }();
    return ranges;
}

class Attachment {
 public:
    explicit Attachment(const AttachOrders& orders)
        : orders_(orders),
          process_(::getpid()),
          trace_(orders.folder + '/' + trace_name(static_cast<std::uint64_t>(process_)),
                 {.id = static_cast<std::uint64_t>(process_), .program = program_path()}),
          choice_(orders.first_of_each, orders.kernel, wanted_ranges()) {}

    // Failures are told in the trace.
    void subscribe();
    void launch_begins(const TracedKernel& kernel, CUcontext context);
    void launch_ends(bool was_launched);
    void capture_changes(int by) { captures_ += by; }
    void waited();
    // None: lines are not counted.
    template <typename Work>
    bool with_lines(Work work) {
        const std::lock_guard lock(mutex_);
        return lines() && work(*lines());
    }
    // A new file that holds these bytes; empty: it cannot be written.
    std::string file_for(const std::string& bytes);
    bool counts_lines() const { return orders_.pass == RunPass::lines; }
    void context_ends(CUcontext context);
    void program_ends();

    // A child of fork() shares the trace and must leave it alone.
    bool is_ours() const { return ::getpid() == process_; }

 private:
    using Lock = std::unique_lock<std::mutex>;

    LineProbe* lines() { return lines_ && !has_ended_ ? &*lines_ : nullptr; }
    Context& context_of(CUcontext context);
    void count(const TracedKernel& kernel, CUcontext context);
    void end_counting(bool was_launched);
    void settle(Lock& lock);
    void fetch_if_due();
    void tell_ranges();
    void problem(const std::string& sentence);

    AttachOrders orders_;
    pid_t process_;
    std::mutex mutex_;
    TraceWriter trace_;
    LaunchChoice choice_;
    std::optional<LineProbe> lines_;
    std::optional<StartedProfiler> profiler_;
    CallbackApi callbacks_;
    std::map<CUcontext, Context> contexts_;
    LaunchTurn turn_{longest_launch};
    CUcontext counting_ = nullptr;  // of the launch whose turn it is
    std::thread::id lost_;          // whose turn was ended while it was in its launch
    std::atomic<int> captures_{0};  // streams whose launches are recorded into graphs
    std::uint64_t files_ = 0;       // that were written in place of the program's
    std::uint64_t idle_ = 0;        // launches since the last one that was counted
    Clock::time_point last_fetch_ = Clock::now();
    bool has_ended_ = false;
};

Attachment* attachment =
    nullptr;  // lives as long as the program: it may launch in its last exit handler

void Attachment::problem(const std::string& sentence) {
    try {
        trace_.problem(sentence);
    } catch (const Error&) {
        // Nowhere to tell it; the program goes on.
    }
}

std::string Attachment::file_for(const std::string& bytes) {
    const std::string path = fmt::format("{}/{}-{}.image", orders_.folder, process_, ++files_);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file ? path : std::string();
}

Context& Attachment::context_of(CUcontext handle) {
    const auto [found, is_new] = contexts_.try_emplace(handle);
    Context& context = found->second;
    if (!is_new) return context;
    try {
        const CuptiApi& api = loaded_cupti().api;
        if (!profiler_) profiler_.emplace(api);
        check_cupti(callbacks_.get_device_id(handle, &context.device),
                    "ask which GPU a context is on");
        const std::string chip = chip_of_device(api, static_cast<int>(context.device));
        const ChipMetrics known(api, chip);
        const RunMetrics metrics(orders_.pass, chip,
                                 [&](std::string_view metric) { return known.has(metric); });
        context.chip = std::make_unique<ChipConfig>(api, chip, metrics);
        if (context.chip->config.passes() > 1)
            throw CountersError(fmt::format("cannot read counters: {} needs {} passes for them",
                                            chip, context.chip->config.passes()));
        context.counter = std::make_unique<LaunchCounter>(LaunchCounter::Setup{
            .api = api,
            .context = handle,
            .config = context.chip->config,
            .metrics = context.chip->metrics,
            .deliver = [this](const CountedLaunch& launch) { trace_.counted(launch); },
            .problem = [this](const std::string& sentence) { problem(sentence); }});
    } catch (const Error& error) {
        problem(error.what());
    }
    return context;
}

void Attachment::launch_begins(const TracedKernel& seen, CUcontext handle) {
    Lock lock(mutex_);
    if (counts_lines()) {
        if (has_ended_) return;
        choice_.takes(seen);
        if (lines()) lines()->launched_in(handle);
        return;
    }
    if (turn_.is_mine()) return;  // called by the launch that is counted
    settle(lock);
    // The kernel of a launch that is lost could still come into the next one's range.
    if (has_ended_ || captures_ > 0 || lost_ != std::thread::id()) return;
    fetch_if_due();
    count(seen, handle);
}

void Attachment::count(const TracedKernel& seen, CUcontext handle) {
    Context& context = context_of(handle);
    TracedKernel kernel = seen;
    kernel.device = context.device;
    if (!choice_.takes(kernel)) {
        if (++idle_ == idle_launches && context.counter && context.counter->is_open())
            context.counter->close();
        return;
    }
    idle_ = 0;
    if (!context.counter) return;
    context.counter->begin(choice_.total(), kernel);
    counting_ = handle;
    turn_.take();
}

void Attachment::launch_ends(bool was_launched) {
    const Lock lock(mutex_);
    if (turn_.is_mine()) end_counting(was_launched);
    if (lost_ == std::this_thread::get_id()) lost_ = {};
}

void Attachment::end_counting(bool was_launched) {
    turn_.end();
    contexts_.at(counting_).counter->end(was_launched);
}

// No launch is being counted then.
void Attachment::settle(Lock& lock) {
    if (turn_.wait(lock)) return;
    lost_ = turn_.owner();
    end_counting(false);
    problem("a launch did not return in time: none is counted until it does");
}

// The program has waited for its kernels.
void Attachment::waited() {
    const Lock lock(mutex_);
    fetch_if_due();
}

void Attachment::fetch_if_due() {
    const auto least = counts_lines() ? least_between_reads : least_between_fetches;
    if (!turn_.is_free() || Clock::now() - last_fetch_ < least) return;
    // Copying from the GPU would spoil a graph that is being recorded.
    if (lines() && captures_ == 0) lines()->read(false);
    for (auto& [handle, context] : contexts_)
        if (context.counter && context.counter->pending() > 0) context.counter->drain();
    tell_ranges();
    last_fetch_ = Clock::now();
}

void Attachment::tell_ranges() {
    NvtxRanges* ranges = wanted_ranges();
    if (!ranges) return;
    for (const std::string& name : ranges->new_names()) trace_.range(name);
}

void Attachment::context_ends(CUcontext handle) {
    Lock lock(mutex_);
    settle(lock);
    if (lines()) lines()->context_ends(handle);
    contexts_.erase(handle);
}

void Attachment::program_ends() {
    Lock lock(mutex_);
    settle(lock);
    if (has_ended_) return;
    has_ended_ = true;
    if (lines_) lines_->read(true);
    for (auto& [handle, context] : contexts_)
        if (context.counter) context.counter->close();
    tell_ranges();
    trace_.end(choice_.launches());
}

// --- callbacks -----------------------------------------------------------------------------------

// How the arguments of the driver's calls begin, in the order in which cuda.h has them. CUPTI's
// generated_cuda_meta.h has them too, and types that cuda.h no longer knows.
struct LaunchArguments {  // cuLaunchKernel, cuLaunchCooperativeKernel
    CUfunction function;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
};
struct LaunchExArguments {  // cuLaunchKernelEx
    const CUlaunchConfig* config;
};

template <typename Params>
TracedKernel kernel_of_launch(const char* name, const Params& params) {
    return {.name = name ? name : "(unnamed)",
            .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
            .block = {params.blockDimX, params.blockDimY, params.blockDimZ}};
}

// None: no launch.
std::optional<TracedKernel> kernel_of(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
            return kernel_of_launch(data.symbolName,
                                    *static_cast<const LaunchArguments*>(data.functionParams));
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
            return kernel_of_launch(
                data.symbolName,
                *static_cast<const LaunchExArguments*>(data.functionParams)->config);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
        case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
            return TracedKernel{.name = "(CUDA graph)", .grid = {0, 0, 0}, .block = {0, 0, 0}};
        default:
            return std::nullopt;
    }
}

int capture_change(CUpti_CallbackId call) {
    switch (call) {
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
            return 1;
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
        case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
            return -1;
        default:
            return 0;
    }
}

constexpr std::array launch_calls{
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
constexpr std::array loading_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,     CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary, CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
    CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,        CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
};
constexpr std::array waiting_calls{
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,         CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,          CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds,
};
// What cudaDeviceSynchronize() calls from CUDA 13 on; older headers have no word for it.
constexpr CUpti_CallbackId synchronize_from_cuda_13 = 800;

// Whether this thread calls the driver for us, of which there is nothing to be told.
thread_local bool is_inside = false;

// cuLibraryLoadData, cuModuleLoadData, cuModuleLoadDataEx, cuModuleLoadFatBinary: where the handle
// goes, then what is loaded.
template <typename Handle>
struct LoadArguments {
    Handle* handle;
    const void* image;
};
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
    } else {
        lines.not_loaded();
    }
}

// The name of the file that is loaded in place of the program's; of this thread. No string: code
// is loaded by exit handlers too, when threads' objects are gone.
thread_local std::array<char, PATH_MAX> file_in_place;

// cuModuleLoad, cuLibraryLoadFromFile: a file's name stands where the image does.
template <typename Handle>
void file_load_called(const CUpti_CallbackData& data, bool succeeded, LineProbe& lines) {
    auto* arguments = static_cast<LoadArguments<Handle>*>(const_cast<void*>(data.functionParams));
    if (data.callbackSite == CUPTI_API_ENTER) {
        const std::string* image =
            lines.replacement_of_file(static_cast<const char*>(arguments->image));
        if (!image) return;
        const std::string file = attachment->file_for(*image);
        if (file.empty() || file.size() >= file_in_place.size()) return;
        std::ranges::copy(file, file_in_place.begin());
        file_in_place[file.size()] = '\0';
        arguments->image = file_in_place.data();
        return;
    }
    const bool was_replaced = file_in_place[0] != '\0';
    if (succeeded && was_replaced)
        lines.loaded(*arguments->handle, data.context);
    else
        lines.not_loaded();
    if (was_replaced) ::unlink(file_in_place.data());
    file_in_place[0] = '\0';
}

template <typename Handle>
void unload_called(const CUpti_CallbackData& data, LineProbe& lines) {
    if (data.callbackSite == CUPTI_API_ENTER)
        lines.unloads(static_cast<const UnloadArguments<Handle>*>(data.functionParams)->handle);
}

// Whether it was a call that loads or unloads code.
bool loading_called(CUpti_CallbackId call, const CUpti_CallbackData& data, bool succeeded,
                    LineProbe& lines) {
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
            file_load_called<CUmodule>(data, succeeded, lines);
            return true;
        case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
            file_load_called<CUlibrary>(data, succeeded, lines);
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

void driver_called(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    const bool is_entered = data.callbackSite == CUPTI_API_ENTER;
    const bool succeeded = !is_entered && data.functionReturnValue &&
                           *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
    if (const int change = capture_change(call); change != 0) {
        if (succeeded) attachment->capture_changes(change);
        return;
    }
    if (attachment->counts_lines() && attachment->with_lines([&](LineProbe& lines) {
            return loading_called(call, data, succeeded, lines);
        }))
        return;
    if (const auto kernel = kernel_of(call, data)) {
        if (is_entered)
            attachment->launch_begins(*kernel, data.context);
        else
            attachment->launch_ends(succeeded);
        return;
    }
    if (!is_entered) attachment->waited();
}

// Not where this thread is inside already, and nothing is thrown: CUPTI and exit handlers are C.
template <typename Work>
void inside(Work work) {
    if (!attachment->is_ours() || is_inside) return;
    is_inside = true;
    try {
        work();
    } catch (const std::exception&) {
        // Only a trace that cannot be written comes here: the command sees where it stops.
    }
    is_inside = false;
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId call, const void* data) {
    inside([&] {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
            driver_called(call, *static_cast<const CUpti_CallbackData*>(data));
        else if (domain == CUPTI_CB_DOMAIN_RESOURCE &&
                 call == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
            attachment->context_ends(static_cast<const CUpti_ResourceData*>(data)->context);
    });
}

void Attachment::subscribe() {
    try {
        const LoadedCupti& cupti = loaded_cupti();
        callbacks_ = callback_api(cupti.path);
        CUpti_SubscriberHandle subscriber = nullptr;
        check_cupti(callbacks_.subscribe(&subscriber, called, nullptr),
                    "be told of the program's launches");
        const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId call) {
            check_cupti(callbacks_.enable_callback(1, subscriber, domain, call),
                        "be told of the program's launches");
        };
        for (const CUpti_CallbackId call : launch_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
        for (const CUpti_CallbackId call : waiting_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
        if (counts_lines()) {
            lines_.emplace(LineProbe::Setup{
                .driver = module_driver(),
                .wants = [this](const std::string& name) { return choice_.wants(name); },
                .deliver = [this](const TracedSite& site) { trace_.site(site); },
                .problem = [this](const std::string& sentence) { problem(sentence); }});
            for (const CUpti_CallbackId call : loading_calls)
                enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
        }
        // An older CUPTI refuses it: there is nothing to be told of.
        callbacks_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                   synchronize_from_cuda_13);
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    } catch (const Error& error) {
        problem(error.what());
    }
}

void at_exit() {
    inside([] { attachment->program_ends(); });
}

}  // namespace
}  // namespace coalprof

// The driver calls it while it starts.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    using namespace coalprof;
    try {
        const auto orders = orders_of_environment();
        if (!orders || attachment) return 1;
        attachment = new Attachment(*orders);
        attachment->subscribe();
        std::atexit(at_exit);
    } catch (const std::exception&) {
        // Without a trace there is nobody to tell: the command says that none came.
    }
    return 1;
}

// NVTX calls it at the first NVTX call of each library or program that marks ranges.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    coalprof::NvtxTables tables) {
    using namespace coalprof;
    try {
        NvtxRanges* ranges = wanted_ranges();
        if (!ranges) return 0;
        static const int registered =
            ::pthread_atfork([] { wanted_ranges()->lock(); }, [] { wanted_ranges()->unlock(); },
                             [] { wanted_ranges()->unlock(); });
        return registered == 0 && install_nvtx_hooks(tables, *ranges) ? 1 : 0;
    } catch (const std::exception&) {
        return 0;
    }
}
