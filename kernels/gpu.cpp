#include "kernels/gpu.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/access/warp_access.h"
#include "core/runtime/steps.h"

namespace coalprof {
namespace {

// "0 NVIDIA H200, 1 NVIDIA H200"
std::string list_of_devices(const DriverApi& api, int count) {
    std::string list;
    for (int index = 0; index < count; ++index) {
        std::array<char, 256> name{};
        CUdevice device = 0;
        const bool is_named =
            api.device_get(&device, index) == CUDA_SUCCESS &&
            api.device_name(name.data(), static_cast<int>(name.size() - 1), device) == CUDA_SUCCESS;
        list += fmt::format("{}{}{}{}", index == 0 ? "" : ", ", index, is_named ? " " : "",
                            name.data());
    }
    return list;
}

class Attributes {
 public:
    Attributes(const DriverApi& api, CUdevice device) : api_(api), device_(device) {}

    std::optional<std::int64_t> find(CUdevice_attribute which) const {
        int value = 0;
        if (api_.device_attribute(&value, which, device_) != CUDA_SUCCESS) return std::nullopt;
        return value;
    }
    template <typename Number>
    void read(CUdevice_attribute which, Number& into, std::int64_t factor = 1) const {
        if (const auto value = find(which)) into = static_cast<Number>(*value * factor);
    }

 private:
    const DriverApi& api_;
    CUdevice device_;
};

std::string uuid_text(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (std::size_t k = 0; k < sizeof uuid.bytes; ++k) {
        if (k == 4 || k == 6 || k == 8 || k == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[k]));
    }
    return text;
}

std::string compute_mode_text(std::int64_t mode) {
    switch (mode) {
        case CU_COMPUTEMODE_DEFAULT: return "default";
        case CU_COMPUTEMODE_PROHIBITED: return "prohibited";
        case CU_COMPUTEMODE_EXCLUSIVE_PROCESS: return "exclusive-process";
        default: return fmt::format("{}", mode);
    }
}

struct NamedAttribute {
    const char* name;
    CUdevice_attribute which;
    bool is_flag;
};

constexpr NamedAttribute numbers[] = {
    {"warp_lanes", CU_DEVICE_ATTRIBUTE_WARP_SIZE, false},
    {"max_blocks_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, false},
    {"max_registers_per_block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, false},
    {"reserved_shared_bytes_per_block", CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
     false},
    {"constant_memory_bytes", CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, false},
    {"max_persisting_l2_bytes", CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, false},
    {"max_pitch_bytes", CU_DEVICE_ATTRIBUTE_MAX_PITCH, false},
    {"texture_alignment_bytes", CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, false},
    {"texture_pitch_alignment_bytes", CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, false},
    {"max_grid_x", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, false},
    {"max_grid_y", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, false},
    {"max_grid_z", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, false},
    {"copy_engines", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, false},
    {"single_to_double_ratio", CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, false},
    {"concurrent_kernels", CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, true},
    {"cooperative_launch", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, true},
    {"unified_addressing", CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, true},
    {"managed_memory", CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, true},
    {"mapped_host_memory", CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, true},
    {"pageable_memory_access", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, true},
    {"virtual_memory_management", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, true},
    {"integrated", CU_DEVICE_ATTRIBUTE_INTEGRATED, true},
    {"kernel_time_limit", CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, true},
};

}  // namespace

CUdevice device_at(const DriverApi& api, const DriverState& state, int index) {
    if (index < 0 || index >= state.devices)
        throw NoSuchDeviceError(
            fmt::format("--device {}: there is no such GPU; this machine has {}", index,
                        list_of_devices(api, state.devices)));
    CUdevice device = 0;
    if (const CUresult status = api.device_get(&device, index); status != CUDA_SUCCESS)
        throw Error(fmt::format("cannot use GPU {}: {}", index, describe(api, status)));
    return device;
}

Gpu::Gpu(const DriverApi& api, CUdevice device) : api_(api), device_(device) {
    const Step step("context made");
    CUresult status = api_.context_retain(&context_, device_);
    if (status != CUDA_SUCCESS)
        throw Error(fmt::format("cannot use the GPU: its context could not be made: {}",
                                describe(api_, status)));
    status = api_.context_set_current(context_);
    if (status == CUDA_SUCCESS) return;
    static_cast<void>(api_.context_release(device_));
    throw Error(fmt::format("cannot use the GPU: its context could not be made current: {}",
                            describe(api_, status)));
}

// Failures here are ignored: the context may be lost already.
Gpu::~Gpu() {
    static_cast<void>(api_.context_set_current(nullptr));
    static_cast<void>(api_.context_release(device_));
}

Gpu::Memory Gpu::memory() const {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(api_.memory_info(&free_bytes, &total_bytes), "ask how much GPU memory is free");
    return {free_bytes, total_bytes};
}

DeviceFacts facts_of(const DriverApi& api, CUdevice device, int index, int driver_version) {
    DeviceFacts facts;
    facts.index = index;
    facts.driver_version = static_cast<std::uint32_t>(driver_version);
    std::array<char, 256> text{};
    if (api.device_name(text.data(), text.size() - 1, device) == CUDA_SUCCESS)
        facts.name = text.data();
    text = {};
    if (api.device_pci_bus_id(text.data(), text.size() - 1, device) == CUDA_SUCCESS)
        facts.pci_bus_id = text.data();
    CUuuid uuid{};
    if (api.device_uuid(&uuid, device) == CUDA_SUCCESS) facts.uuid = uuid_text(uuid);
    std::size_t memory_bytes = 0;
    if (api.device_memory(&memory_bytes, device) == CUDA_SUCCESS) facts.memory_bytes = memory_bytes;

    const Attributes attributes(api, device);
    attributes.read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, facts.major);
    attributes.read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, facts.minor);
    attributes.read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, facts.multiprocessors);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                    facts.max_threads_per_multiprocessor);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, facts.max_threads_per_block);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
                    facts.registers_per_multiprocessor);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                    facts.shared_bytes_per_multiprocessor);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, facts.shared_bytes_per_block);
    attributes.read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                    facts.shared_bytes_per_block_optin);
    attributes.read(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, facts.l2_bytes);
    attributes.read(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, facts.clock_hz, 1000);  // answered in kHz
    attributes.read(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, facts.memory_clock_hz, 1000);
    attributes.read(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, facts.memory_bus_bits);
    facts.ecc = attributes.find(CU_DEVICE_ATTRIBUTE_ECC_ENABLED).value_or(0) != 0;
    facts.global_l1_cache =
        attributes.find(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED).value_or(0) != 0;
    facts.local_l1_cache =
        attributes.find(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED).value_or(0) != 0;
    return facts;
}

namespace {

NamedValues more_about(const DriverApi& api, CUdevice device, const DeviceFacts& facts) {
    const Attributes attributes(api, device);
    NamedValues values{{"sector_bytes", static_cast<std::int64_t>(sector_bytes)},
                       {"line_bytes", static_cast<std::int64_t>(line_bytes)}};
    if (const double peak = facts.peak_bytes_per_second(); peak > 0)
        values.emplace_back("peak_bytes_per_second", peak);
    for (const NamedAttribute& attribute : numbers) {
        const auto value = attributes.find(attribute.which);
        if (!value) continue;
        values.emplace_back(attribute.name, attribute.is_flag ? Value{*value != 0} : Value{*value});
    }
    if (const auto mode = attributes.find(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE))
        values.emplace_back("compute_mode", compute_mode_text(*mode));
    return values;
}

}  // namespace

DeviceList take_inventory() {
    const DriverLibrary library = load_driver();
    if (!library.api) return {.devices = {}, .problem = library.sentence, .driver_version = 0};
    return list_devices(*library.api);
}

DeviceList list_devices(const DriverApi& api) {
    const DriverState state = start_driver(api);
    DeviceList list{.devices = {}, .problem = state.sentence, .driver_version = state.version};
    if (!state.sentence.empty()) return list;
    for (int index = 0; index < state.devices; ++index) {
        CUdevice device = 0;
        if (api.device_get(&device, index) != CUDA_SUCCESS) continue;
        DeviceReport report{.facts = facts_of(api, device, index, state.version), .more = {}};
        report.more = more_about(api, device, report.facts);
        list.devices.push_back(std::move(report));
    }
    if (list.devices.empty()) list.problem = "no GPU: the NVIDIA driver answers for none";
    return list;
}

}  // namespace coalprof
