// CUPTI's profiler host: the chips that it knows, the metrics of a chip, the passes of a set of
// them, and the evaluation of collected data. All but the last answer with no GPU and no driver.
// Nothing here shows CUPTI's own types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUpti_Profiler_Host_Object;  // CUPTI's own, opaque

namespace coalprof {

struct CuptiApi;

// The chips known to this libcupti: "GH100" is the H200's. Throws CountersError.
std::vector<std::string> supported_chips(const CuptiApi& api);

// One profiler host object of one chip. About 2 ms to make (CUPTI 13.0, no GPU).
class HostObject {
 public:
    // Throws CountersError: a chip that this libcupti does not know or does not support (GV11B).
    HostObject(const CuptiApi& api, const std::string& chip);
    ~HostObject();
    HostObject(const HostObject&) = delete;
    HostObject& operator=(const HostObject&) = delete;

    const CuptiApi& api() const { return api_; }
    CUpti_Profiler_Host_Object* get() const { return object_; }

 private:
    const CuptiApi& api_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

// Queries about one chip's metrics.
class ChipMetrics {
 public:
    ChipMetrics(const CuptiApi& api, std::string chip)
        : chip_(std::move(chip)), host_(api, chip_) {}

    const std::string& chip() const { return chip_; }
    // True if the chip has the metric; the part after the first '.' (its rollup) is not looked at.
    // Throws CountersError when CUPTI cannot say.
    bool has(std::string_view metric) const;
    // The reason why the metric cannot be collected on this chip, as a sentence; nothing if it can.
    std::optional<std::string> problem_with(const std::string& metric) const;

 private:
    std::string chip_;
    HostObject host_;
};

// A set of metrics of one chip, scheduled into passes.
class MetricConfig {
 public:
    // Throws CountersError naming the metric that the chip refuses. `metrics` is not empty.
    MetricConfig(const CuptiApi& api, const std::string& chip, std::vector<std::string> metrics);

    const std::vector<std::string>& metrics() const { return metrics_; }
    std::span<const std::uint8_t> image() const { return image_; }
    // Launches of each range that the hardware needs.
    std::size_t passes() const { return passes_; }
    // One value per metric, in order, of range `range_index` of a decoded counter data image. A
    // metric that the GPU could not count is NaN. Throws CountersError.
    std::vector<double> evaluate(std::span<const std::uint8_t> counter_data,
                                 std::size_t range_index) const;

 private:
    void add_metrics(const std::string& chip);
    void make_image();

    std::vector<std::string> metrics_;
    HostObject host_;
    std::vector<std::uint8_t> image_;
    std::size_t passes_ = 0;
};

}  // namespace coalprof
