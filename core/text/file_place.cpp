#include "core/text/file_place.h"

#include <fmt/core.h>

#include "core/text/describe.h"

namespace coalprof {

FilePlace PlaceFinder::at(std::size_t offset) {
    if (offset < line_start_) *this = PlaceFinder(text_);
    for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
        if (text_[counted_] != '\n') continue;
        ++line_;
        line_start_ = counted_ + 1;
    }
    return {line_, static_cast<std::uint32_t>(offset - line_start_ + 1)};
}

std::string text_of(const std::string& file, const FilePlace& place) {
    return fmt::format("{}:{}:{}", shown(file), place.line, place.column);
}

UsageError TextPlace::located(const UsageError& error, std::string_view text) const {
    const bool is_inside = error.text() == text && error.caret() < places.size();
    const FilePlace place = is_inside        ? places[error.caret()]
                            : places.empty() ? FilePlace{}
                                             : places.front();
    return {fmt::format("{}: {}", text_of(file, place), error.what()), error.text(), error.caret(),
            error.hint()};
}

}  // namespace coalprof
