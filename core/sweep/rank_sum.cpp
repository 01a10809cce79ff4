#include "core/sweep/rank_sum.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/describe.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

void add(Readings& sum, const Readings& one) {
    one.each([&](Counter counter, const Reading& more) {
        const CounterInfo& row = info(counter);
        Reading& all = sum[counter];
        const bool are_numbers = is_number(all) && is_number(more);
        const auto* count = std::get_if<std::uint64_t>(&all);
        const auto* further = std::get_if<std::uint64_t>(&more);
        if (!is_present(all))
            all = more;
        else if (are_numbers && row.unit == Unit::second)
            all = std::max(number_in(all), number_in(more));
        else if (!are_numbers || row.parts || row.unit == Unit::ratio)
            all = Unavailable{"it differs from process to process"};
        else
            all = count && further ? Reading{*count + *further} : number_in(all) + number_in(more);
    });
    derive_ratios(sum);
}

// Settings that differ belong to one process.
void add(NamedValues& sum, const NamedValues& one) {
    std::erase_if(sum, [&](auto& setting) {
        auto& [name, value] = setting;
        const Value* more = find_value(one, name);
        const auto* count = std::get_if<std::int64_t>(&value);
        const auto* further = more ? std::get_if<std::int64_t>(more) : nullptr;
        if (!count || !further || (name != "launches" && name != "counted"))
            return !more || !(*more == value);
        value = static_cast<std::int64_t>(static_cast<std::uint64_t>(*count) +
                                          static_cast<std::uint64_t>(*further));
        return false;
    });
}

}  // namespace

bool RankSum::takes(const ResultHead& head) const {
    return head.sweep.pattern == "run" &&
           (names_.empty() || head.sweep.parameter == head_.sweep.parameter);
}

void RankSum::begin(const ResultHead& head) {
    if (names_.empty()) head_ = head;
    const std::string host = head.device ? text_of(head.device->more, "host") : "";
    names_.push_back(fmt::format("{}: {} on {}, {}\n", shown(file_), shown(head.sweep.file),
                                 host.empty() ? "an unnamed host" : shown(host),
                                 head.device ? shown(head.device->name) : "no GPU"));
}

void RankSum::point(const Point& point) {
    const auto [known, is_new] = by_name_.emplace(point.name, points_.size());
    if (is_new) return points_.push_back(point);
    Point& sum = points_[known->second];
    add(sum.parameters, point.parameters);
    add(sum.predicted, point.predicted);
    if (sum.measured && point.measured) add(*sum.measured, *point.measured);
    sum.timing.reset();
    if (sum.failure.empty()) sum.failure = point.failure;
}

void RankSum::finish(const ResultTail& tail) {
    tail_.status = std::max(tail_.status, tail.status);
    for (const Warning& warning : tail.warnings)
        if (std::ranges::find(tail_.warnings, warning.text, &Warning::text) == tail_.warnings.end())
            tail_.warnings.push_back(warning);
    ranks_.resize(tail_.findings.size());
    for (const LineFinding& finding : tail.findings) {
        const auto known = std::ranges::find_if(tail_.findings, [&](const LineFinding& one) {
            return one.point == finding.point && one.kernel == finding.kernel &&
                   one.cause == finding.cause;
        });
        const auto at = static_cast<std::size_t>(known - tail_.findings.begin());
        if (known == tail_.findings.end()) {
            tail_.findings.push_back(finding);
            ranks_.push_back(0);
        } else if (finding.saves_seconds > known->saves_seconds) {
            *known = finding;
        }
        ++ranks_[at];
    }
}

std::string RankSum::names() const {
    if (names_.empty()) return {};
    return fmt::format("{}\nSum of {} results; times are those of the slowest\n",
                       joined(names_, ""), names_.size());
}

void RankSum::write(ResultSink& sink) {
    sink.begin(head_);
    for (const Point& point : points_) sink.point(point);
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        if (ranks_[i] < names_.size())
            tail_.findings[i].text +=
                fmt::format(" In {} of {} results.", ranks_[i], names_.size());
    std::ranges::sort(tail_.findings, std::ranges::greater(), &LineFinding::saves_seconds);
    sink.finish(tail_);
}

}  // namespace coalprof
