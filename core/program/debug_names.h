// What a compiler says of functions' parameters in PTX with debug information (DWARF 2 to 4, in
// sections of numbers): names and types of the source, and the members of structures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct SourceMember {
    std::uint64_t offset = 0;  // place in the structure
    std::string name;          // "size.x", "strides[1]"
    std::string type;
};
struct SourceParameter {
    std::string name;
    std::string type = {};  // type as symbols have it: "float const*"; empty: not known
    std::vector<SourceMember> members = {};
};

// The keys are symbols. Without debug information, or with some that cannot be read: none.
std::map<std::string, std::vector<SourceParameter>, std::less<>> parameters_in_debug(
    std::string_view ptx);

}  // namespace coalprof
