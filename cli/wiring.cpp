#include "cli/wiring.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/sweep_options.h"
#include "core/run/device_backend.h"
#include "core/run/device_ceilings.h"
#include "core/runtime/parallel.h"
#include "core/text/name_list.h"

#ifdef COALPROF_HAS_CUDA
#include "cupti/collector.h"
#include "cupti/metric_table.h"
#include "cupti/preflight.h"
#include "kernels/compiler.h"
#include "kernels/gpu.h"
#include "kernels/launcher.h"
#endif

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 4> set_names{"basic", "memory", "all", "none"};

bool names_a_set(const std::string& text) {
    return std::find(set_names.begin(), set_names.end(), text) != set_names.end();
}

}  // namespace

std::vector<Counter> counters_listed(const std::string& text) {
    std::vector<Counter> counters;
    if (text.empty() || names_a_set(text)) return counters;
    std::vector<std::string_view> words(set_names.begin(), set_names.end());
    for (const CounterInfo& counter : all_counters()) words.push_back(counter.key);
    for (const std::string& key : split_list(text, "--counters")) {
        if (names_a_set(key))
            throw UsageError(
                fmt::format("--counters {}: {} is a set, and a set stands alone", text, key),
                fmt::format("use --counters {}, or list keys only", key));
        auto counter = find_counter(key);
        if (!counter) counter = find_nsight_name(key);
        if (!counter)
            throw UsageError(unknown_word("--counters", key, words), hint_for_counter(key));
        counters.push_back(*counter);
    }
    return counters;
}

#ifdef COALPROF_HAS_CUDA

std::future<void> load_counters_ahead(bool wanted) {
    if (!wanted || !may_have_gpu()) return {};
    return in_background(load_cupti_early);
}

DeviceAccess open_device(const DeviceRequest& request) {
    DeviceAccess access;
    access.no_gpu = why_no_gpu();
    if (!access.no_gpu.empty()) return access;
    try {
        access.launcher = make_launcher({.device = request.index,
                                         .ahead = request.ahead,
                                         .compiles_ceilings_ahead = request.wants_ceilings});
    } catch (const NoSuchDeviceError&) {  // the user's mistake, not this machine's
        throw;
    } catch (const Error& error) {
        access.no_gpu = error.what();
        return access;
    }
    if (!request.wants_counters) return access;
    try {
        access.collector =
            make_collector({.device = request.index, .of_lone_warps = request.of_lone_warps});
    } catch (const CountersError& error) {
        access.no_counters = error.what();
    }
    return access;
}

std::vector<Counter> counters_of(const std::string& text, AccessSet accesses) {
    const auto listed = counters_listed(text);
    if (!listed.empty() || text == "none") return listed;
    const CounterSet set = text.empty() ? CounterSet::basic : *find_counter_set(text);
    return counters_of(set, accesses);
}

#else

std::future<void> load_counters_ahead(bool) { return {}; }

DeviceAccess open_device(const DeviceRequest&) {
    DeviceAccess access;
    access.no_gpu = "this coalprof was built without CUDA, so it cannot measure";
    return access;
}

std::vector<Counter> counters_of(const std::string& text, AccessSet) {
    return counters_listed(text);
}

#endif

#ifdef COALPROF_HAS_CUDA

namespace {

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The values that the carveout can have: "0/256, 8/248, ...".
std::string splits_of(const Machine& machine) {
    return joined(machine.rules->l1.splits, [](const L1Split& split) {
        return fmt::format("{}/{}", split.shared_kib, split.l1_kib);
    });
}

Diagnosis driver_diagnosis(const DeviceList& inventory, const PreflightFacts& facts) {
    if (!inventory.problem.empty())
        return {"driver", "problem", inventory.problem,
                !container_sign(facts).empty()
                    ? "in a container, start it with --gpus all (NVIDIA Container Toolkit on the "
                      "host); without a GPU the model still answers: --backend model"
                    : "install NVIDIA's driver, or see that nvidia-smi lists the GPU; without one "
                      "the model still answers: --backend model"};
    return {"driver", "ok",
            fmt::format("{} GPU{}, the driver offers CUDA {}", inventory.devices.size(),
                        inventory.devices.size() == 1 ? "" : "s",
                        version_text(inventory.driver_version)),
            ""};
}

Diagnosis compiler_diagnosis(int driver_version) {
    const NvrtcLibrary compiler = load_nvrtc(driver_version);
    if (!compiler.api)
        return {"compiler (NVRTC)", "problem", compiler.sentence, "install the CUDA toolkit"};
    return {"compiler (NVRTC)", "ok",
            fmt::format("NVRTC {} at {}", version_text(version_of(*compiler.api)), compiler.path),
            ""};
}

// Last, since the other checks load libraries.
Diagnosis libraries_diagnosis() {
    const std::vector<std::string> paths = loaded_cuda_libraries();
    return {"libraries", paths.empty() ? "unknown" : "ok",
            paths.empty() ? "no library of CUDA was loaded"
                          : fmt::format("loaded from {}", joined(paths)),
            ""};
}

Diagnosis diagnosis_of(const Finding& finding) {
    const char* state = finding.state == FindingState::ok        ? "ok"
                        : finding.state == FindingState::problem ? "problem"
                                                                 : "unknown";
    return {finding.name, state, finding.detail, finding.remedy};
}

}  // namespace

DevicesReport report_devices() {
    const DeviceList inventory = take_inventory();
    DevicesReport report{.devices = {}, .problem = inventory.problem};
    for (const DeviceReport& device : inventory.devices) {
        const DeviceFacts& facts = device.facts;
        MeasuredDevice described = describe_device(facts);
        described.nvrtc_version.reset();  // the compiler is not loaded for a list
        NamedValues values = values_of(described);
        values.insert(values.end(),
                      {{"max_threads_per_multiprocessor", facts.max_threads_per_multiprocessor},
                       {"max_threads_per_block", facts.max_threads_per_block},
                       {"registers_per_multiprocessor", facts.registers_per_multiprocessor},
                       {"shared_bytes_per_multiprocessor", facts.shared_bytes_per_multiprocessor},
                       {"shared_bytes_per_block", facts.shared_bytes_per_block},
                       {"shared_bytes_per_block_optin", facts.shared_bytes_per_block_optin},
                       {"global_l1_cache", facts.global_l1_cache},
                       {"local_l1_cache", facts.local_l1_cache}});
        if (const std::string splits = splits_of(machine_of(facts)); !splits.empty())
            values.emplace_back("shared_and_l1_kib", splits);
        values.insert(values.end(), device.more.begin(), device.more.end());
        report.devices.push_back(std::move(values));
    }
    return report;
}

std::vector<Diagnosis> diagnose() {
    const DeviceList inventory = take_inventory();
    PreflightFacts facts = process_facts();
    std::vector<Diagnosis> findings{driver_diagnosis(inventory, facts),
                                    compiler_diagnosis(inventory.driver_version)};
    if (!inventory.devices.empty()) {
        const DeviceFacts& device = inventory.devices.front().facts;
        facts.device_name = device.name;
        facts.device_uuid = device.uuid;
        facts.device_major = device.major;
        facts.device_minor = device.minor;
    }
    for (const Finding& finding : preflight(facts)) findings.push_back(diagnosis_of(finding));
    findings.push_back(diagnosis_of(find_virtual_gpu(facts, load_nvml())));
    if (!inventory.devices.empty()) findings.push_back(diagnosis_of(find_collector(0)));
    findings.push_back(libraries_diagnosis());
    return findings;
}

#else

DevicesReport report_devices() {
    return {.devices = {}, .problem = "this coalprof was built without CUDA, so it asks no driver"};
}

std::vector<Diagnosis> diagnose() {
    return {{"build", "problem", "this coalprof was built without CUDA: the model answers alone",
             "install the CUDA toolkit with CUPTI and build again"}};
}

#endif

namespace {

constexpr std::array<std::string_view, 5> beginnings{"libcuda.", "libnvrtc", "libcupti",
                                                     "libnvperf", "libnvidia-"};

bool is_of_cuda(std::string_view path) {
    path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return path.starts_with(beginning); });
}

}  // namespace

std::vector<std::string> loaded_cuda_libraries() {
    std::vector<std::string> paths;
    const auto visit = [](dl_phdr_info* library, std::size_t, void* found) {
        if (library->dlpi_name && is_of_cuda(library->dlpi_name))
            static_cast<std::vector<std::string>*>(found)->emplace_back(library->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(visit, &paths);
    return paths;
}

namespace {

using Name = std::pair<Counter, std::string_view>;

// Ratios, which we derive and which are separate metrics in Nsight Compute. Source: its list for
// GH100, `ncu --query-metrics --chips gh100`, CUDA 13.0.
constexpr std::array derived{
    Name{Counter::load_sectors_per_request,
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"},
    Name{Counter::store_sectors_per_request,
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
    Name{Counter::load_bytes_per_sector,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"},
    Name{Counter::store_bytes_per_sector,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"},
    Name{Counter::load_efficiency, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"},
    Name{Counter::store_efficiency,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"},
    Name{Counter::duration_seconds, "gpu__time_duration.sum"},
};

}  // namespace

std::string_view nsight_name_of(Counter counter) {
    for (const auto& [known, name] : derived)
        if (known == counter) return name;
#ifdef COALPROF_HAS_CUDA
    return metrics_of(counter).candidates.front();
#else
    return {};
#endif
}

std::optional<Counter> find_nsight_name(std::string_view name) {
    std::optional<Counter> found;
    if (name.empty()) return found;
    for (const CounterInfo& counter : all_counters()) {
        bool is_its_name = nsight_name_of(counter.counter) == name;
#ifdef COALPROF_HAS_CUDA
        const auto& names = metrics_of(counter.counter).candidates;
        is_its_name = is_its_name || std::find(names.begin(), names.end(), name) != names.end();
#endif
        if (!is_its_name) continue;
        if (found) return std::nullopt;
        found = counter.counter;
    }
    return found;
}

}  // namespace coalprof
