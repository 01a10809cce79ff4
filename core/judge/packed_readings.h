// Readings in as few bytes as their numbers take: a point has room for a hundred counters, but some
// twenty readings.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/result/reading.h"

namespace coalprof {

template <typename T>
void put_bytes(std::string& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
}

// Moves `at` past the value.
template <typename T>
T take_bytes(const char*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

void put_readings(std::string& bytes, const Readings& readings);
// Adds them to `readings`.
void take_readings(const char*& at, Readings& readings);

}  // namespace coalprof
