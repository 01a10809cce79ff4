// "a, b, c and 12 more": names for a message, of which the first few are told.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coalprof {

class NameList {
 public:
    explicit NameList(std::size_t most) : most_(most) {}

    void add(std::string_view name);
    [[nodiscard]] std::string text() const;

 private:
    std::size_t most_;
    std::size_t count_ = 0;
    std::string told_;
};

}  // namespace coalprof
