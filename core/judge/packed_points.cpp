#include "core/judge/packed_points.h"

#include <algorithm>
#include <limits>

#include "core/json/json_tree.h"
#include "core/judge/packed_readings.h"

namespace coalprof {
namespace {

constexpr std::uint8_t is_measured = 1;
constexpr std::uint8_t is_timed = 2;
constexpr std::uint8_t has_failed = 4;
constexpr std::uint8_t has_estimates = 8;

// Names have lengths of 32 bits: points come from files, and of one no more text than this is read.
static_assert(most_json_bytes <= std::numeric_limits<std::uint32_t>::max() / 64);

}  // namespace

void PackedPoints::add(std::string_view key, const Point& point) {
    const bool has_name = key != point.name;
    places_.push_back({bytes_.size(), static_cast<std::uint32_t>(key.size()),
                       has_name ? static_cast<std::uint32_t>(point.name.size()) : 0});
    bytes_.append(key);
    if (has_name) bytes_.append(point.name);
    put_bytes(bytes_, static_cast<std::uint8_t>((point.measured ? is_measured : 0) |
                                                (point.timing ? is_timed : 0) |
                                                (point.failure.empty() ? 0 : has_failed) |
                                                (point.estimates ? has_estimates : 0)));
    put_readings(bytes_, point.predicted, KeptReasons::none);
    if (point.measured) put_readings(bytes_, *point.measured, KeptReasons::none);
    if (point.estimates) {
        const auto& intervals = point.estimates->intervals;
        put_bytes(bytes_, static_cast<std::uint8_t>(std::min<std::size_t>(intervals.size(), 255)));
        for (std::size_t i = 0; i < std::min<std::size_t>(intervals.size(), 255); ++i)
            put_bytes(bytes_, intervals[i]);
    }
    if (!point.timing) return;
    put_bytes(bytes_, point.timing->repeats);
    for (const double seconds :
         {point.timing->median_seconds, point.timing->low_seconds, point.timing->high_seconds})
        put_bytes(bytes_, seconds);
}

std::string_view PackedPoints::key(std::size_t index) const {
    return std::string_view(bytes_).substr(places_[index].at, places_[index].key_bytes);
}

std::string_view PackedPoints::name(std::size_t index) const {
    const Place& place = places_[index];
    if (place.name_bytes == 0) return key(index);
    return std::string_view(bytes_).substr(place.at + place.key_bytes, place.name_bytes);
}

void PackedPoints::unpack(std::size_t index, Point& point) const {
    const Place& place = places_[index];
    const char* at = bytes_.data() + place.at + place.key_bytes + place.name_bytes;
    const auto flags = take_bytes<std::uint8_t>(at);
    point.name = name(index);
    point.failure = (flags & has_failed) != 0 ? "it failed" : "";
    point.predicted.clear();
    take_readings(at, point.predicted);
    point.measured.reset();
    if ((flags & is_measured) != 0) take_readings(at, point.measured.emplace());
    point.estimates.reset();
    if ((flags & has_estimates) != 0) {
        point.estimates.emplace();
        for (auto left = take_bytes<std::uint8_t>(at); left > 0; --left)
            point.estimates->intervals.push_back(take_bytes<Interval>(at));
    }
    point.timing.reset();
    if ((flags & is_timed) == 0) return;
    Timing& timing = point.timing.emplace();
    timing.repeats = take_bytes<std::uint64_t>(at);
    timing.median_seconds = take_bytes<double>(at);
    timing.low_seconds = take_bytes<double>(at);
    timing.high_seconds = take_bytes<double>(at);
}

}  // namespace coalprof
