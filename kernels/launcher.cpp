#include "kernels/launcher.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "core/runtime/parallel.h"
#include "core/runtime/steps.h"
#include "kernels/ceilings.h"
#include "kernels/compiler.h"
#include "kernels/driver_api.h"
#include "kernels/gpu.h"
#include "kernels/plan_launch.h"
#include "kernels/warp_launch.h"
#include "kernels/workbench.h"

namespace coalprof {

namespace {

class GpuLauncher : public KernelLauncher {
 public:
    GpuLauncher(const DriverApi& driver, const DeviceFacts& facts, CUdevice device,
                std::shared_future<NvrtcLibrary> nvrtc, const LauncherOptions& options)
        : compiler_(std::move(nvrtc), facts.major * 10 + facts.minor) {
        compile_ahead(facts, options);
        open(driver, device, facts);
    }

    // Modules and memory must be freed in their context.
    ~GpuLauncher() override {
        if (bench_) static_cast<void>(bench_->gpu.make_current());
    }
    GpuLauncher(const GpuLauncher&) = delete;
    GpuLauncher& operator=(const GpuLauncher&) = delete;

    const DeviceFacts& device() const override { return bench_->facts; }

    void activate() override {
        const Gpu& gpu = bench_->gpu;
        gpu.check(gpu.make_current(), "go on in this context");
    }

    std::uint64_t pitch_bytes(std::uint64_t row_bytes) override {
        if (const auto known = pitches_.find(row_bytes); known != pitches_.end())
            return known->second;
        activate();  // points of an earlier run are planned on another thread
        const Gpu& gpu = bench_->gpu;
        CUdeviceptr row = 0;
        std::size_t pitch = 0;
        const CUresult status =
            gpu.api().memory_allocate_pitch(&row, &pitch, row_bytes, 1, largest_element_bytes);
        if (status == CUDA_ERROR_OUT_OF_MEMORY)
            refuse_memory("one row", row_bytes, gpu.memory().free_bytes);
        gpu.check(status, fmt::format("ask for the pitch of rows of {} bytes", row_bytes));
        static_cast<void>(gpu.api().memory_free(row));
        pitches_[row_bytes] = pitch;
        return pitch;
    }

    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) override {
        return std::make_unique<PlanLaunch>(*bench_, plan);
    }

    std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess& access) override {
        if (!warp_memory_) warp_memory_.emplace(bench_->gpu);
        return std::make_unique<WarpLaunch>(*bench_, *warp_memory_, access);
    }

    void flush_cache() override {
        bench_->cache.flush();
        bench_->gpu.synchronize("empty L2");
    }

    void start_anew() override {
        activate();
        const DriverApi driver = bench_->gpu.api();
        const CUdevice device = bench_->gpu.device();
        const DeviceFacts facts = bench_->facts;
        ceilings_.reset();
        warp_memory_.reset();
        bench_.reset();
        open(driver, device, facts);
    }

    double read_ceiling() override {
        bench_->drop_idle_memory();
        return ceilings_->read();
    }
    double copy_ceiling() override {
        bench_->drop_idle_memory();
        return ceilings_->copy();
    }
    CycleReadings read_cycles() override {
        bench_->drop_idle_memory();
        return CycleClock(*bench_).read();
    }

 private:
    static constexpr unsigned largest_element_bytes = 16;

    void open(const DriverApi& driver, CUdevice device, const DeviceFacts& facts) {
        try {
            bench_.emplace(driver, device, facts, compiler_);
            ceilings_.emplace(*bench_);
            bench_->facts.nvrtc_version = compiler_.version();
            bench_->facts.free_memory_bytes = bench_->gpu.memory().free_bytes;
        } catch (const PointError& error) {  // no single point could fail
            throw Error(error.what());
        }
    }

    void compile_ahead(const DeviceFacts& facts, const LauncherOptions& options) {
        for (const Plan& plan : options.ahead) {
            try {
                for (const CompileRequest& request : compile_requests(plan, block_limits(facts)))
                    compiler_.compile_ahead(request);
            } catch (const PointError&) {  // reported when the plan is prepared
            }
        }
        compiler_.compile_ahead(CacheControl::request());
        if (options.compiles_ceilings_ahead) compiler_.compile_ahead(Ceilings::request());
    }

    // In order of creation: the last one is destroyed first.
    Compiler compiler_;
    std::optional<Workbench> bench_;
    std::optional<WarpMemory> warp_memory_;
    std::optional<Ceilings> ceilings_;
    std::map<std::uint64_t, std::uint64_t> pitches_;
};

}  // namespace

std::unique_ptr<KernelLauncher> make_launcher(const LauncherOptions& options) {
    const DriverLibrary library = load_driver();
    if (!library.api) throw Error(library.sentence);
    // NVRTC takes time to load (100 MB); that happens while the driver starts and makes its
    // context.
    int version = 0;
    static_cast<void>(library.api->driver_version(&version));
    const std::shared_future<NvrtcLibrary> nvrtc = in_background([version] {
                                                       const Step step("NVRTC loaded");
                                                       return load_nvrtc(version);
                                                   }).share();
    return make_launcher(*library.api, nvrtc, options);
}

std::unique_ptr<KernelLauncher> make_launcher(const DriverApi& driver,
                                              std::shared_future<NvrtcLibrary> nvrtc,
                                              const LauncherOptions& options) {
    const DriverState state = start_driver(driver);
    if (!state.sentence.empty()) throw Error(state.sentence);
    const CUdevice device = device_at(driver, state, options.device);
    const DeviceFacts facts = facts_of(driver, device, options.device, state.version);
    if (facts.major == 0 || facts.max_threads_per_block == 0 || facts.multiprocessors == 0)
        throw Error(fmt::format(
            "cannot use GPU {}: its driver does not say what it can do. Is nvidia-smi all right?",
            options.device));
    return std::make_unique<GpuLauncher>(driver, facts, device, std::move(nvrtc), options);
}

bool may_have_gpu() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;  // shows none
    const auto exists = [](const char* path) {
        std::error_code ignored;
        return std::filesystem::exists(path, ignored);
    };
    return (exists("/dev/nvidiactl") || exists("/dev/dxg")) && load_driver().api.has_value();
}

std::string why_no_gpu() {
    const DriverLibrary library = load_driver();
    if (!library.api) return library.sentence;
    return start_driver(*library.api).sentence;
}

}  // namespace coalprof
