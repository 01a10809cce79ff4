#include "core/sweep/npy_warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/access/npy.h"
#include "core/pattern/plan.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{1} << 29;

class NpyLines : public ByteSource {
 public:
    NpyLines(std::vector<std::int64_t> numbers, std::string op, const NpyWarps& how)
        : numbers_(std::move(numbers)), op_(std::move(op)) {
        width_ = how.type ? bytes_of(*how.type) : 4;
        unit_ = how.type ? width_ : 1;
    }

    std::size_t read(std::span<char> into) override {
        if (at_ == line_.size() && !next_line()) return 0;
        const std::size_t bytes = line_.copy(into.data(), into.size(), at_);
        at_ += bytes;
        return bytes;
    }
    bool can_rewind() const override { return true; }
    void rewind() override {
        warp_ = 0;
        at_ = 0;
        line_.clear();
    }

 private:
    bool next_line() {
        const std::size_t first = warp_ * warp_lanes;
        if (first >= numbers_.size()) return false;
        line_ = fmt::format("{} {} {}", warp_++, op_, width_);
        at_ = 0;
        for (std::size_t k = first; k < first + warp_lanes; ++k) {
            if (k >= numbers_.size() || numbers_[k] < 0)
                line_ += " -";
            else
                fmt::format_to(std::back_inserter(line_), " {}",
                               static_cast<std::uint64_t>(numbers_[k]) * unit_);
        }
        line_ += '\n';
        return true;
    }

    std::vector<std::int64_t> numbers_;
    std::string op_;
    std::uint64_t width_;
    std::uint64_t unit_;
    std::size_t warp_ = 0;
    std::string line_;
    std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> lines_of_npy(std::unique_ptr<ByteSource> source,
                                         const std::string& name, const NpyWarps& how) {
    if (!name.ends_with(".npy")) {
        if (!how.op && !how.type) return source;
        throw UsageError(fmt::format("{}: {} says what the numbers of a .npy file are", shown(name),
                                     how.type ? "--type" : "--op"),
                         {}, UsageError::no_caret,
                         "lines of a warps file have their op and width themselves");
    }
    const auto bytes = read_whole(*source, most_file_bytes);
    if (!bytes)
        throw UsageError(
            fmt::format("{}: it holds more than {} MiB", shown(name), most_file_bytes >> 20), {},
            UsageError::no_caret, "split it");
    if (!is_npy(*bytes))
        throw UsageError(fmt::format("{}: this is no .npy file", shown(name)), {},
                         UsageError::no_caret, "numpy.save() writes one");
    const std::string op = word_of(how.op.value_or(WarpOp{}));
    std::vector<std::int64_t> numbers = integers_in(read_npy(*bytes, name), name);
    const auto is_no_address = [](std::int64_t n) { return n > 0 && n % 4 != 0; };
    if (const auto odd = std::ranges::find_if(numbers, is_no_address);
        !how.type && odd != numbers.end())
        throw UsageError(
            fmt::format("{}: without --type its numbers are addresses of 4 bytes each, and {} is "
                        "no multiple of 4",
                        shown(name), *odd),
            {}, UsageError::no_caret,
            "indices of elements need their type: --type f32, or that of the array");
    return std::make_unique<NpyLines>(std::move(numbers), op, how);
}

}  // namespace coalprof
