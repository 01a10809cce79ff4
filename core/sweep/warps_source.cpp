#include "core/sweep/warps_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "core/access/npy.h"
#include "core/count/set_counts.h"
#include "core/pattern/plan.h"
#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

namespace {

std::unique_ptr<ByteSource> open_warps(const std::string& file, const NpyWarps& npy) {
    auto bytes = open_bytes(file, [] {
        stop_if_asked();  // half a line before it is not used
        return false;
    });
    return lines_of_npy(std::move(bytes), file, npy);
}

std::string name_of(const std::string& file) { return file == "-" ? "standard input" : file; }

}  // namespace

std::vector<WarpOp> ops_in_warps_file(const std::string& file, const NpyWarps& npy) {
    const std::vector<WarpOp> all(warp_ops().begin(), warp_ops().end());
    // A named pipe that is opened and closed again has lost its writer's data.
    std::error_code none;
    if (file != "-" && !std::filesystem::is_regular_file(file, none)) return all;
    const auto bytes = open_warps(file, npy);
    if (!bytes->can_rewind()) return all;
    std::vector<WarpOp> ops;
    try {
        WarpsReader reader(*bytes, name_of(file));
        for (WarpOp op; ops.size() < warp_ops().size() && reader.next_op(op);)
            if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
    } catch (const UsageError&) {
        // The reader of the lines themselves reports it.
    }
    bytes->rewind();
    return ops;
}

WarpsSource::WarpsSource(const std::string& file, const Machine& machine, const NpyWarps& npy)
    : name_(name_of(file)),
      bytes_(open_warps(file, npy)),
      reader_(*bytes_, name_),
      machine_(machine) {}

void WarpsSource::open() {
    if (fetch(Wait::yes)) return;
    throw UsageError(fmt::format("{} holds no warp instruction", shown(name_)),
                     "lines look like NAME OP WIDTH A0 A1 ... A31");
}

bool WarpsSource::fetch(Wait wait) {
    if (has_line_) return true;
    stop_if_asked();
    has_line_ = reader_.next(line_, wait);
    if (has_line_ && line_.access.width_bytes > machine_.rules->abilities.widest_access_bytes)
        throw UsageError(fmt::format("{}:{}: no access of {} has {} bytes a lane", shown(name_),
                                     line_.number, machine_.name, line_.access.width_bytes),
                         "accesses of 32 bytes came with 10.0: --machine b200");
    if (!has_line_ || line_.access.space != Space::shared) return has_line_;
    const auto& limits = machine_.rules->occupancy;
    for (const std::uint64_t address : line_.access.addresses)  // of an idle lane: 0
        if (address + line_.access.width_bytes >
            limits.shared_bytes_per_block + limits.shared_reserved_bytes)
            throw UsageError(
                fmt::format("{}:{}: address {} is outside the {} bytes of a block on {}",
                            shown(name_), line_.number, address, limits.shared_bytes_per_block,
                            machine_.name),
                "addresses of shared memory are bytes from where the block's begins");
    return true;
}

bool WarpsSource::next(PlannedPoint& point) {
    if (!fetch(Wait::yes)) return false;
    has_line_ = false;
    point.number = points_++;
    point.warp = line_.access;
    point.name.assign(line_.name);
    if (point.machine.rules != machine_.rules) point.machine = machine_;  // else it has been here
    return true;
}

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

NpyWarps npy_warps(const std::string& op, const std::string& type) {
    NpyWarps npy;
    if (!op.empty()) npy.op = read_warp_op(op, "--op");
    if (type.empty()) return npy;
    npy.type = find_element_type(type);
    if (!npy.type)
        throw UsageError(fmt::format("--type: unknown type '{}'", shown(type)),
                         hint_for_element_type(type));
    return npy;
}

std::unique_ptr<ByteSource> lines_of_npy(std::unique_ptr<ByteSource> source,
                                         const std::string& name, const NpyWarps& how) {
    if (!name.ends_with(".npy")) {
        if (!how.op && !how.type) return source;
        throw UsageError(fmt::format("{}: {} says what the numbers of a .npy file are", shown(name),
                                     how.type ? "--type" : "--op"),
                         "lines of a warps file have their op and width themselves");
    }
    const auto bytes = read_whole(*source, most_file_bytes);
    if (!bytes)
        throw UsageError(
            fmt::format("{}: it holds more than {} MiB", shown(name), most_file_bytes >> 20),
            "split it");
    if (!is_npy(*bytes))
        throw UsageError(fmt::format("{}: this is no .npy file", shown(name)),
                         "numpy.save() writes one");
    const std::string op = word_of(how.op.value_or(WarpOp{}));
    std::vector<std::int64_t> numbers = integers_in(read_npy(*bytes, name), name);
    const auto is_no_address = [](std::int64_t n) { return n > 0 && n % 4 != 0; };
    if (const auto odd = std::ranges::find_if(numbers, is_no_address);
        !how.type && odd != numbers.end())
        throw UsageError(
            fmt::format("{}: without --type its numbers are addresses of 4 bytes each, and {} is "
                        "no multiple of 4",
                        shown(name), *odd),
            "indices of elements need their type: --type f32, or that of the array");
    return std::make_unique<NpyLines>(std::move(numbers), op, how);
}

namespace {

// The key of a line's bin: its kind, and the cost of one request of it.
struct BinKey {
    std::string_view op;
    std::string_view unit;
    Counter requests;
    Counter taken;
};
constexpr std::array<BinKey, 10> keys{{
    {"load", "sectors", Counter::load_requests, Counter::load_sectors},
    {"store", "sectors", Counter::store_requests, Counter::store_sectors},
    {"atomic", "sectors", Counter::atomic_requests, Counter::atomic_sectors},
    {"reduce", "sectors", Counter::reduce_requests, Counter::reduce_sectors},
    {"load", "transactions", Counter::load_requests, Counter::load_transactions},
    {"store", "transactions", Counter::store_requests, Counter::store_transactions},
    {"atomic", "transactions", Counter::atomic_requests, Counter::atomic_transactions},
    {"reduce", "transactions", Counter::reduce_requests, Counter::reduce_transactions},
    {"shared_load", "passes", Counter::shared_load_requests, Counter::shared_load_wavefronts},
    {"shared_store", "passes", Counter::shared_store_requests, Counter::shared_store_wavefronts},
}};

void add(Point& sum, const Point& line) {
    add_counts(sum.predicted, line.predicted);
    if (!line.measured) return;
    if (!sum.measured) sum.measured.emplace();
    add_counts(*sum.measured, *line.measured);
}

void complete(Point& sum) {
    derive_ratios(sum.predicted);
    if (sum.measured) derive_ratios(*sum.measured);
}

}  // namespace

void WarpTotals::point(const Point& line) {
    add(total_, line);
    for (const BinKey& key : keys) {
        if (!is_number(line.predicted[key.requests]) || !is_number(line.predicted[key.taken]))
            continue;
        const auto taken = static_cast<std::uint64_t>(number_in(line.predicted[key.taken]));
        Point& bin = bins_[{key.op, taken}];
        if (bin.name.empty()) {
            bin.name = fmt::format("{} {} {}", key.op, taken, key.unit);
            bin.parameters = {{"op", key.op}, {std::string(key.unit), taken}};
        }
        add(bin, line);
    }
}

void WarpTotals::finish(const ResultTail& tail) {
    total_.name = "total";
    total_.parameters = {{"op", "all"}};
    complete(total_);
    next_.point(total_);
    for (auto& [key, bin] : bins_) {
        complete(bin);
        next_.point(bin);
    }
    next_.finish(tail);
}

}  // namespace coalprof
