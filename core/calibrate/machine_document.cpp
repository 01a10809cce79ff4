#include "core/calibrate/machine_document.h"

#include "core/machine/machine_file.h"

namespace coalprof {
namespace {

constexpr std::string_view kind_of_launch = "launch";

Value number_or_nothing(const Reading& reading) {
    return is_number(reading) ? Value{number_in(reading)} : Value{};
}

ListRow row_of(const FittedRate& rate, const Calibration& calibration) {
    ListRow row{{{"kind", machine_file_rate},
                 {"name", rate.info.key},
                 {"value", rate.value},
                 {"unit", rate.info.unit},
                 {"source", rate.is_measured ? std::string("measured") : calibration.prior},
                 {"doubt", rate.is_measured ? Value{rate.doubt} : Value{}}}};
    std::vector<Value> launches;
    for (const std::size_t at : rate.launches)
        launches.emplace_back(calibration.launches[at].command);
    row.lists = {{"launches", std::move(launches)}};
    return row;
}

ListRow row_of(const TimedProbe& launch) {
    return {{{"kind", kind_of_launch},
             {"name", launch.command},
             {"value", launch.seconds},
             {"unit", "s"},
             {"predicted", launch.predicted_seconds},
             {"repeats", launch.repeats},
             {"spread", launch.spread},
             {"drift", launch.drift},
             {"longest", launch.longest_seconds},
             {"rounds", launch.rounds},
             {"delayed_rounds", launch.delayed_rounds}}};
}

}  // namespace

ListDocument machine_document(const Calibration& calibration) {
    const DeviceFacts& device = calibration.device;
    const bool is_disturbed = !calibration.disturbance.empty();
    ListDocument list{
        .key = std::string(machine_file_key),
        .rows = {},
        .more = {{"machine", device.name},
                 {"compute_capability", text_of(ComputeCapability{device.major, device.minor})},
                 {"multiprocessors", device.multiprocessors},
                 {"peak_bytes_per_second", device.peak_bytes_per_second()},
                 {"l2_bytes", device.l2_bytes},
                 {"uuid", device.uuid},
                 {"driver_version", device.driver_version},
                 {"clock_hz", device.clock_hz},
                 {"read_ceiling", number_or_nothing(calibration.ceilings.read)},
                 {"copy_ceiling", number_or_nothing(calibration.ceilings.copy)},
                 {"warning_code", is_disturbed ? "W-DISTURBED" : ""},
                 {"warning", calibration.disturbance}}};
    for (const FittedRate& rate : calibration.fit.by_rate)
        list.rows.push_back(row_of(rate, calibration));
    for (const TimedProbe& launch : calibration.launches) list.rows.push_back(row_of(launch));
    return list;
}

}  // namespace coalprof
