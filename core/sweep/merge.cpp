#include "core/sweep/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "core/result/head.h"
#include "core/result/result_reader.h"
#include "core/runtime/signal.h"
#include "core/sweep/shard.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

ShardFile shard_file(const std::string& path) {
    const auto source = open_bytes(path);
    if (!source->can_rewind())
        throw UsageError(
            fmt::format("merge {}: shards are read twice, which this cannot be", shown(path)),
            "save each shard in a file");
    ShardFile file{.path = path, .head = read_head(*source, path).value_or(ResultHead{})};
    const NamedValues facts = values_of(file.head.sweep);
    const Value* shard = find_value(facts, "shard");
    const Value* points = find_value(facts, "shard_of_points");
    const std::string text = shard ? text_of(*shard) : "";
    const ReadNumber index = read_integer(text);
    if (index.length < text.size() && text[index.length] == '/') {
        const ReadNumber count = read_integer(std::string_view(text).substr(index.length + 1));
        file.index = index.value;
        file.count = count.value;
    }
    const auto* all = points ? std::get_if<std::int64_t>(points) : nullptr;
    if (!all || *all < 0 || file.index == 0 || file.index > file.count)
        throw UsageError(fmt::format("merge {}: it was not written by --shard", shown(path)),
                         "shards are what a sweep with --shard I/N writes; for several reports: "
                         "coalprof report A B -o both.html");
    file.points = *all;
    return file;
}

void require_same_sweep(const ShardFile& first, const ShardFile& file) {
    std::string text;
    for (const HeadDifference& difference : differences(first.head, file.head))
        text += (text.empty() ? "" : ", ") + difference.text;
    if (!text.empty())
        throw UsageError(fmt::format("merge: {} and {} are of different sweeps: they differ in {}",
                                     shown(first.path), shown(file.path), text));
    if (file.count != first.count || file.points != first.points)
        throw UsageError(fmt::format(
            "merge: {} is one of {} shards of {} points, {} one of {} of {}", shown(first.path),
            first.count, first.points, shown(file.path), file.count, file.points));
}

// The facts that the GPUs of all shards share.
NamedValues common(const NamedValues& one, const NamedValues& other) {
    NamedValues both;
    for (const auto& [name, value] : one)
        if (const Value* same = find_value(other, name); same && *same == value)
            both.emplace_back(name, value);
    return both;
}

void drop_shard(NamedValues& values) {
    std::erase_if(values, [](const auto& value) {
        return value.first == "shard" || value.first == "shard_of_points";
    });
}

// The number of this shard's points where none is missing.
std::uint64_t points_of(const ShardFile& file) {
    const Shard shard{file.index, file.count};
    const auto all = static_cast<std::uint64_t>(file.points);
    return shard.end(all) - shard.first(all);
}

[[noreturn]] void refuse_shard(const ShardFile& file, std::string_view why) {
    throw UsageError(fmt::format("merge {}: {}", shown(file.path), why),
                     "give each shard as its run wrote it");
}

// Passes on the points of one shard, and keeps its end.
class PointsOfShard : public ResultSink {
 public:
    // `seen`: hashes of the points of all shards so far.
    PointsOfShard(const ShardFile& file, ResultSink& next, std::vector<std::size_t>& seen)
        : file_(file), next_(next), seen_(seen), first_(seen.size()) {}
    void begin(const ResultHead&) override {
        if (std::exchange(has_begun_, true)) refuse_shard(file_, "it holds several results");
    }
    void point(const Point& point) override {
        seen_.push_back(std::hash<std::string>{}(point.name));
        next_.point(point);
    }
    void finish(const ResultTail& ended) override { tail = ended; }

    // The number of missing points.
    std::uint64_t lacking() {
        const std::span own(seen_.begin() + static_cast<std::ptrdiff_t>(first_), seen_.end());
        std::ranges::sort(own);
        if (std::ranges::adjacent_find(own) != own.end())
            refuse_shard(file_, "it has a point twice");
        const std::uint64_t all = points_of(file_);
        if (own.size() > all)
            refuse_shard(file_,
                         fmt::format("it has {} points, and shard {}/{} of {} has {}", own.size(),
                                     file_.index, file_.count, file_.points, all));
        return all - own.size();
    }

    ResultTail tail;

 private:
    const ShardFile& file_;
    ResultSink& next_;
    bool has_begun_ = false;
    std::vector<std::size_t>& seen_;
    std::size_t first_;  // index of this shard's first hash
};

}  // namespace

ShardMerge::ShardMerge(const std::vector<std::string>& paths, bool allows_missing) {
    for (const std::string& path : paths) {
        files_.push_back(shard_file(path));
        require_same_sweep(files_.front(), files_.back());
    }
    std::ranges::sort(files_, {}, &ShardFile::index);
    for (std::size_t i = 1; i < files_.size(); ++i)
        if (files_[i].index == files_[i - 1].index)
            throw UsageError(
                fmt::format("merge: {} and {} are both shard {} of {}", shown(files_[i - 1].path),
                            shown(files_[i].path), files_[i].index, files_[i].count),
                "give each shard once");
    NameList list(10);
    std::uint64_t expected = 1;
    const auto miss_until = [&](std::uint64_t index) {
        for (; expected < index; ++expected) {
            list.add(fmt::format("{}/{}", expected, files_.front().count));
            missing_.push_back(expected);
        }
    };
    for (const ShardFile& file : files_) {
        miss_until(file.index);
        expected = file.index + 1;
    }
    miss_until(files_.front().count + 1);
    if (!missing_.empty() && !allows_missing)
        throw UsageError(fmt::format("merge: {} of {} shards missing: {}", missing_.size(),
                                     files_.front().count, list.text()),
                         fmt::format("run the same sweep with --shard {}, or merge those that are "
                                     "there with --partial",
                                     list.text()));
}

ResultHead ShardMerge::head() const {
    ResultHead head = files_.front().head;
    // --shard and --resume do not concern the whole.
    head.argv = without_options(head.argv, {"--resume"}, {"--shard"});
    for (NamedValues* list : {&head.sweep.more, &head.sweep.settings}) drop_shard(*list);
    for (const ShardFile& file : files_) {
        head.time_utc = std::min(head.time_utc, file.head.time_utc);
        head.passes = std::max(head.passes, file.head.passes);
        if (head.device && file.head.device)
            head.device =
                device_from(common(values_of(*head.device), values_of(*file.head.device)));
    }
    return head;
}

Status ShardMerge::write(ResultSink& sink) const {
    ResultTail merged;
    const auto warn = [&](const Warning& warning) {
        const auto is_same = [&](const Warning& known) {
            return known.point.empty() && known.code == warning.code && known.text == warning.text;
        };
        // Warnings about the whole run are the same in each shard.
        if (warning.point.empty() &&
            std::any_of(merged.warnings.begin(), merged.warnings.end(), is_same))
            return;
        merged.warnings.push_back(warning);
    };
    const auto lower = [&](Status status) { merged.status = std::max(merged.status, status); };
    sink.begin(head());
    std::vector<std::size_t> seen;
    for (const ShardFile& file : files_) {
        const auto source = open_bytes(file.path);
        PointsOfShard points(file, sink, seen);
        ResultReader reader(*source, file.path);
        while (reader.next(points) != ReadOutcome::none) stop_if_asked();
        if (const std::uint64_t lacking = points.lacking(); lacking > 0) {
            lower(Status::interrupted);
            warn({"W-SHARDS",
                  {},
                  fmt::format("{} lacks {} of the {} points of shard {}/{}", shown(file.path),
                              lacking, points_of(file), file.index, file.count)});
        }
        lower(points.tail.status);
        for (const Warning& warning : points.tail.warnings) warn(warning);
    }
    std::ranges::sort(seen);
    if (std::ranges::adjacent_find(seen) != seen.end())
        throw UsageError("merge: two of the shards have the same point",
                         "give each shard as its run wrote it");
    if (!missing_.empty()) {
        lower(Status::interrupted);
        warn({"W-SHARDS",
              {},
              fmt::format("{} of {} shards are missing", missing_.size(), files_.front().count)});
    }
    sink.finish(merged);
    return merged.status;
}

}  // namespace coalprof
