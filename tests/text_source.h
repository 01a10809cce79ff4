#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/text/byte_source.h"

namespace coalprof {

class TextSource : public ByteSource {
 public:
    TextSource(std::string_view text, std::size_t block_bytes)
        : text_(text), block_bytes_(block_bytes) {}
    std::size_t read(std::span<char> into) override {
        const std::size_t bytes = text_.copy(into.data(), std::min(into.size(), block_bytes_), at_);
        at_ += bytes;
        return bytes;
    }
    bool can_rewind() const override { return true; }
    void rewind() override { at_ = 0; }

 private:
    std::string_view text_;
    std::size_t block_bytes_;
    std::size_t at_ = 0;
};

// Reads `text`, which must outlive the source, as a pipe does: `block_bytes` at a time at most.
inline std::unique_ptr<ByteSource> bytes_of_text(std::string_view text,
                                                 std::size_t block_bytes = std::string_view::npos) {
    return std::make_unique<TextSource>(text, block_bytes);
}

}  // namespace coalprof
