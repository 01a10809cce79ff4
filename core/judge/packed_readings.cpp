#include "core/judge/packed_readings.h"

#include <limits>

namespace coalprof {
namespace {

enum class Packed : std::uint8_t { natural, real, unavailable };

}  // namespace

void put_readings(std::string& bytes, const Readings& readings) {
    static_assert(counter_count <= std::numeric_limits<std::uint8_t>::max());
    const std::size_t count_at = bytes.size();
    put_bytes(bytes, std::uint8_t{0});
    std::uint8_t count = 0;
    readings.each([&](Counter counter, const Reading& reading) {
        put_bytes(bytes, counter);
        if (const auto* natural = std::get_if<std::uint64_t>(&reading)) {
            put_bytes(bytes, Packed::natural);
            put_bytes(bytes, *natural);
        } else if (const auto* real = std::get_if<double>(&reading)) {
            put_bytes(bytes, Packed::real);
            put_bytes(bytes, *real);
        } else {
            put_bytes(bytes, Packed::unavailable);
            put_bytes(bytes, std::get<Unavailable>(reading).reason);  // it lives with the program
        }
        ++count;
    });
    bytes[count_at] = static_cast<char>(count);
}

void take_readings(const char*& at, Readings& readings) {
    const auto count = take_bytes<std::uint8_t>(at);
    for (std::uint8_t i = 0; i < count; ++i) {
        Reading& reading = readings[static_cast<Counter>(take_bytes<std::uint8_t>(at))];
        switch (take_bytes<Packed>(at)) {
            case Packed::natural:
                reading = take_bytes<std::uint64_t>(at);
                break;
            case Packed::real:
                reading = take_bytes<double>(at);
                break;
            case Packed::unavailable:
                reading = Unavailable{take_bytes<std::string_view>(at)};
                break;
        }
    }
}

}  // namespace coalprof
