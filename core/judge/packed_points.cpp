#include "core/judge/packed_points.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/json/json_tree.h"

namespace coalprof {
namespace {

enum class Packed : std::uint8_t { none, natural, real };

constexpr std::uint8_t is_measured = 1;
constexpr std::uint8_t is_timed = 2;
constexpr std::uint8_t has_failed = 4;
constexpr std::uint8_t has_estimates = 8;

// Names have lengths of 32 bits: points come from files, and of one no more text than this is read.
static_assert(most_json_bytes <= std::numeric_limits<std::uint32_t>::max() / 64);

template <typename T>
T take(const char*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

void unpack_readings(const char*& at, Readings& readings) {
    const auto count = take<std::uint8_t>(at);
    for (std::uint8_t i = 0; i < count; ++i) {
        Reading& reading = readings[static_cast<Counter>(take<std::uint8_t>(at))];
        switch (take<Packed>(at)) {
            case Packed::natural:
                reading = take<std::uint64_t>(at);
                break;
            case Packed::real:
                reading = take<double>(at);
                break;
            case Packed::none:
                reading = Unavailable{"it could not be had"};
                break;
        }
    }
}

}  // namespace

template <typename T>
void PackedPoints::put(const T& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
}

void PackedPoints::pack(const Readings& readings) {
    static_assert(counter_count <= std::numeric_limits<std::uint8_t>::max());
    const std::size_t count_at = bytes_.size();
    put(std::uint8_t{0});
    std::uint8_t count = 0;
    readings.each([&](Counter counter, const Reading& reading) {
        put(counter);
        if (const auto* natural = std::get_if<std::uint64_t>(&reading)) {
            put(Packed::natural);
            put(*natural);
        } else if (const auto* real = std::get_if<double>(&reading)) {
            put(Packed::real);
            put(*real);
        } else {
            put(Packed::none);
        }
        ++count;
    });
    bytes_[count_at] = static_cast<char>(count);
}

void PackedPoints::add(std::string_view key, const Point& point) {
    const bool has_name = key != point.name;
    places_.push_back({bytes_.size(), static_cast<std::uint32_t>(key.size()),
                       has_name ? static_cast<std::uint32_t>(point.name.size()) : 0});
    bytes_.append(key);
    if (has_name) bytes_.append(point.name);
    put(static_cast<std::uint8_t>(
        (point.measured ? is_measured : 0) | (point.timing ? is_timed : 0) |
        (point.failure.empty() ? 0 : has_failed) | (point.estimates ? has_estimates : 0)));
    pack(point.predicted);
    if (point.measured) pack(*point.measured);
    if (point.estimates) {
        const auto& intervals = point.estimates->intervals;
        put(static_cast<std::uint8_t>(std::min<std::size_t>(intervals.size(), 255)));
        for (std::size_t i = 0; i < std::min<std::size_t>(intervals.size(), 255); ++i)
            put(intervals[i]);
    }
    if (!point.timing) return;
    put(point.timing->repeats);
    for (const double seconds :
         {point.timing->median_seconds, point.timing->low_seconds, point.timing->high_seconds})
        put(seconds);
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
    const auto flags = take<std::uint8_t>(at);
    point.name = name(index);
    point.failure = (flags & has_failed) != 0 ? "it failed" : "";
    point.predicted.clear();
    unpack_readings(at, point.predicted);
    point.measured.reset();
    if ((flags & is_measured) != 0) unpack_readings(at, point.measured.emplace());
    point.estimates.reset();
    if ((flags & has_estimates) != 0) {
        point.estimates.emplace();
        for (auto left = take<std::uint8_t>(at); left > 0; --left)
            point.estimates->intervals.push_back(take<Interval>(at));
    }
    point.timing.reset();
    if ((flags & is_timed) == 0) return;
    Timing& timing = point.timing.emplace();
    timing.repeats = take<std::uint64_t>(at);
    timing.median_seconds = take<double>(at);
    timing.low_seconds = take<double>(at);
    timing.high_seconds = take<double>(at);
}

}  // namespace coalprof
