// The library that the driver loads into the user's program (CUDA_INJECTION64_PATH), and NVTX where
// launches are chosen by its ranges (NVTX_INJECTION64_PATH): in any order. It subscribes to CUPTI's
// callbacks, and passes them to the Attachment.
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <cstdlib>
#include <span>

#include "core/device/device.h"
#include "cupti/attach/attachment.h"
#include "cupti/attach/kernel_times.h"
#include "cupti/attach/library/driver_calls.h"
#include "cupti/attach/library/subscription.h"
#include "cupti/attach/linking/hook.h"
#include "cupti/attach/nvtx_ranges.h"
#include "cupti/cupti_api.h"
#include "cupti/driver.h"

namespace coalprof {
namespace {

struct CallbackApi {
    SubscriptionApi subscription;
    decltype(&::cuptiEnableCallback) enable_callback = nullptr;
    decltype(&::cuptiGetDeviceId) get_device_id = nullptr;
};

// Sets function pointers from CUPTI's library, which is loaded.
struct CuptiSymbols {
    void* handle = ::dlopen(loaded_cupti().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    template <typename Function>
    void bind(const char* name, Function& function) const {
        if (handle) function = reinterpret_cast<Function>(::dlsym(handle, name));
    }
};

CallbackApi load_callback_api() {
    const CuptiSymbols cupti;
    if (!cupti.handle)
        throw CountersError(
            "cannot read counters: the process has unloaded the library that reads them");
    CallbackApi api;
    cupti.bind("cuptiSubscribe", api.subscription.subscribe);
    cupti.bind("cuptiSubscribe_v2", api.subscription.subscribe_v2);
    cupti.bind("cuptiGetVersion", api.subscription.get_version);
    cupti.bind("cuptiEnableCallback", api.enable_callback);
    cupti.bind("cuptiGetDeviceId", api.get_device_id);
    if (!api.subscription.subscribe || !api.enable_callback || !api.get_device_id)
        throw CountersError("cannot read counters: this CUPTI has no callbacks");
    return api;
}

ActivityApi activity_api() {
    const CuptiSymbols cupti;
    ActivityApi api;
    cupti.bind("cuptiActivityRegisterCallbacks", api.register_callbacks);
    cupti.bind("cuptiActivityEnable", api.enable);
    cupti.bind("cuptiActivityDisable", api.disable);
    cupti.bind("cuptiActivityGetNextRecord", api.next_record);
    cupti.bind("cuptiActivityFlushAll", api.flush_all);
    cupti.bind("cuptiActivityFlushPeriod", api.flush_period);
    return api;
}

const CallbackApi& callback_api() {
    static const CallbackApi api = load_callback_api();
    return api;
}

std::uint32_t device_of(CUcontext context) {
    std::uint32_t device = 0;
    check_cupti(callback_api().get_device_id(context, &device), "ask which GPU a context is on");
    return device;
}

// Made by the first caller, CUDA or NVTX. nullptr: launches are not chosen by ranges.
NvtxRanges* wanted_ranges() {
    static NvtxRanges* const ranges = []() -> NvtxRanges* {
        const auto orders = orders_of_environment();
        return orders && !orders->ranges.empty() ? new NvtxRanges(orders->ranges) : nullptr;
    }();
    return ranges;
}

Attachment* attachment =
    nullptr;  // lives as long as the program: it may launch in its last exit handler

// True if this thread calls the driver for us; such calls are ignored.
thread_local bool is_inside = false;

// Recording counts as begun before the call: no other stream may be used during it.
void capture_called(const CaptureCall& call, CUcontext context, bool is_entered, bool succeeded) {
    if (is_entered) {
        if (call.is_begin) attachment->capture_begins();
        return;
    }
    attachment->change_captures([&](StreamCaptures& captures) {
        if (call.is_begin)
            captures.has_begun(context, call.stream, succeeded);
        else
            captures.may_have_ended(call.stream);
    });
}

void code_called(const LoadCall& load) {
    attachment->with_code([&](LoadedCode& code) {
        load.is_file ? code.file(static_cast<const char*>(load.code)) : code.image(load.code);
    });
}

void driver_called(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    const bool is_entered = data.callbackSite == CUPTI_API_ENTER;
    const bool succeeded = !is_entered && data.functionReturnValue &&
                           *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
    if (const auto capture = capture_of(call, data))
        return capture_called(*capture, data.context, is_entered, succeeded);
    if (attachment->counts_lines() && attachment->with_lines([&](LineProbe& lines) {
            return loading_called(call, data, succeeded, lines, [](const std::string& bytes) {
                return attachment->file_for(bytes);
            });
        }))
        return;
    if (const auto launch = launch_of(call, data)) {
        if (is_entered)
            attachment->launch_begins(*launch);
        else
            attachment->launch_ends(succeeded);
        return;
    }
    if (const auto load = load_of(call, data)) {
        if (succeeded) code_called(*load);  // checked by the driver
        return;
    }
    if (!is_entered) attachment->waited();
}

// The first process of a PID namespace cannot be distinguished from its parent in any other way.
bool is_forked = false;

// Skipped if this thread is inside already; nothing is thrown: CUPTI and exit handlers are C.
template <typename Work>
void inside(Work work) {
    if (is_forked || !attachment->is_ours() || is_inside) return;
    is_inside = true;
    try {
        work();
    } catch (const std::exception&) {
        // A trace cannot be written any more: the command sees where it ends.
    }
    is_inside = false;
}

// For machine code whose instructions are counted.
void code_is_made_ready(CUpti_CallbackId resource, const CUpti_ResourceData& data) {
    InstructionCounter* const instructions = attachment->instructions();
    if (!instructions) return;
    if (resource == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) instructions->start_profiler();
    if (resource == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
        const auto* module = static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor);
        if (module) instructions->cubins().loaded(module->pCubin, module->cubinSize);
    }
}

void resource_ends(CUpti_CallbackId resource, const CUpti_ResourceData& data) {
    if (resource == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        attachment->context_ends(data.context);
    if (resource == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
        attachment->change_captures(
            [&](StreamCaptures& captures) { captures.stream_ends(data.resourceHandle.stream); });
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId call, const void* data) {
    inside([&] {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
            driver_called(call, *static_cast<const CUpti_CallbackData*>(data));
        else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            code_is_made_ready(call, *static_cast<const CUpti_ResourceData*>(data));
            resource_ends(call, *static_cast<const CUpti_ResourceData*>(data));
        }
    });
}

// The code that NVIDIA's linker links in place of the program's: see linking/library.cpp.
const void* linker_input(const void* data, std::size_t bytes, std::size_t* new_bytes) {
    const std::string* ptx = nullptr;
    inside([&] {
        attachment->with_lines([&](LineProbe& lines) {
            ptx = lines.replacement_of_input({static_cast<const char*>(data), bytes}, false);
            return ptx != nullptr;
        });
    });
    if (ptx) *new_bytes = ptx->size() + 1;
    return ptx ? ptx->c_str() : nullptr;
}

void stand_before_linker() {
    const auto take =
        reinterpret_cast<void (*)(LinkerInput)>(::dlsym(RTLD_DEFAULT, take_linker_input_symbol));
    if (take) take(linker_input);
}

bool tells_of_code() {
    if (!attachment->tells_of_code()) return false;
    try {
        attachment->tell_of_code(module_driver());
        return true;
    } catch (const Error&) {
        return false;  // the driver is old; the second run reports it
    }
}

// 0: not given.
int version_of_driver() {
    try {
        return static_cast<int>(driver_cuda_version(counter_driver()));
    } catch (const Error&) {
        return 0;
    }
}

void subscribe(const CallbackApi& callbacks) {
    CUpti_SubscriberHandle subscriber = nullptr;
    check_cupti(
        subscribe_beside_others(callbacks.subscription, version_of_driver(), called, &subscriber),
        "be told of the program's launches");
    const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId call) {
        check_cupti(callbacks.enable_callback(1, subscriber, domain, call),
                    "be told of the program's launches");
    };
    for (const CUpti_CallbackId call : launch_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
    for (const CUpti_CallbackId call : waiting_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
    const bool counts_lines = attachment->counts_lines();
    if (counts_lines) attachment->count_lines(module_driver());
    if (counts_lines || tells_of_code())
        for (const CUpti_CallbackId call : loading_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
    if (counts_lines)
        for (const auto& calls : {std::span<const CUpti_driver_api_trace_cbid>(unloading_calls),
                                  std::span<const CUpti_driver_api_trace_cbid>(linking_calls)})
            for (const CUpti_CallbackId call : calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
    if (counts_lines) stand_before_linker();
    if (attachment->instructions()) {
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    }
    // An older CUPTI refuses it, but then the call does not exist.
    callbacks.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, synchronize_from_cuda_13);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
}

KernelTimes* times = nullptr;  // as `attachment`

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
    constexpr std::size_t buffer_bytes = 1u << 20;  // some 5,000 kernels
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
    *bytes = *buffer ? buffer_bytes : 0;
    *records = 0;  // the most that fit
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid_bytes) {
    if (!is_forked) times->read(buffer, valid_bytes);
    std::free(buffer);
}

// While traffic is counted the program runs its own code.
KernelTimes* times_of(const AttachOrders& orders) {
    if (orders.pass != RunPass::traffic) return nullptr;
    times = new KernelTimes(activity_api());
    return times;
}

void record_kernels() {
    try {
        if (times) times->start(buffer_requested, buffer_completed);
    } catch (const Error& error) {
        attachment->problem(fmt::format(
            "kernels are not timed one by one, only those that are counted: {}", error.what()));
    }
}

void at_exit() {
    inside([] { attachment->program_ends(); });
}

}  // namespace
}  // namespace coalprof

// Called by the driver when it starts.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    using namespace coalprof;
    try {
        const auto orders = orders_of_environment();
        if (!orders || attachment) return 1;
        attachment = new Attachment({.orders = *orders,
                                     .ranges = wanted_ranges(),
                                     .times = times_of(*orders),
                                     .api = []() -> const CuptiApi& { return loaded_cupti().api; },
                                     .device_of = device_of,
                                     .work = work_driver()});
        try {
            subscribe(callback_api());
            record_kernels();
        } catch (const Error& error) {
            attachment->problem(error.what());
        }
        std::atexit(at_exit);
        ::pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
    } catch (const std::exception&) {
        // Without a trace it cannot be reported: the command says that none came.
    }
    return 1;
}

// Called at the first NVTX call of each library or program that marks ranges.
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
