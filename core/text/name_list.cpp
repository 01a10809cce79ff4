#include "core/text/name_list.h"

#include <fmt/format.h>

namespace coalprof {

void NameList::add(std::string_view name) {
    if (count_++ >= most_) return;
    if (!told_.empty()) told_ += ", ";
    told_ += name;
}

std::string NameList::text() const {
    return count_ > most_ ? fmt::format("{} and {} more", told_, count_ - most_) : told_;
}

}  // namespace coalprof
