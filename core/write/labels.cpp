#include "core/write/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "core/text/utf8.h"
#include "core/write/columns.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

// The longest end of `text` that takes at most `columns`, in whole characters.
std::string_view end_of(std::string_view text, std::size_t columns) {
    while (terminal_columns(text) > columns) text.remove_prefix(first_utf8_char(text).bytes);
    return text;
}

std::size_t common_beginning(const std::vector<std::string>& texts) {
    std::string_view common = texts.front();
    for (const std::string& text : texts) {
        const auto [a, b] = std::ranges::mismatch(common, text);
        common = common.substr(0, static_cast<std::size_t>(a - common.begin()));
    }
    return common.size();
}

class LabelMaker {
 public:
    LabelMaker(const std::vector<std::string>& texts, std::size_t columns, bool ascii)
        : columns_(columns), ascii_(ascii), mark_(ascii ? "..." : "…") {
        for (const std::string& text : texts) {
            all_.push_back(cell_text(text, std::numeric_limits<std::size_t>::max(), ascii));
            if (is_long(all_.back())) long_.push_back(all_.back());
        }
    }

    std::vector<std::string> labels(bool keeps_ends) const {
        if (auto labels = made([&](const auto& text) { return cell_text(text, columns_, ascii_); });
            !keeps_ends && are_distinct(labels))
            return labels;
        if (auto labels = made([&](const auto& text) { return without_middle(text); });
            are_distinct(labels))
            return labels;
        if (auto labels = made([&](const auto& text) { return without_what_is_common(text); });
            are_distinct(labels))
            return labels;
        return numbered();
    }

 private:
    bool is_long(std::string_view text) const { return terminal_columns(text) > columns_; }
    std::size_t room() const { return columns_ - std::min(columns_, terminal_columns(mark_)); }

    std::string without_middle(std::string_view text) const {
        const std::size_t begin = room() / 3;
        return std::string(beginning(text, begin)).append(mark_) +
               std::string(end_of(text, room() - begin));
    }
    // "A[(b…y)*1024+threadIdx.…": some text before the first difference stays.
    std::string without_what_is_common(std::string_view text) const {
        const std::size_t kept = room() / 5;
        std::string label(beginning(text, kept));
        std::string_view rest = text.substr(0, common_beginning(long_));
        rest = text.substr(rest.size() - end_of(rest, kept).size());
        return label.append(mark_) + cell_text(rest, room() - kept, ascii_);
    }
    std::vector<std::string> numbered() const {
        std::vector<std::string> labels;
        for (const std::string& text : all_) {
            const std::string number = fmt::format("{} ", labels.size() + 1);
            labels.push_back(number +
                             cell_text(text, columns_ - std::min(columns_, number.size()), ascii_));
        }
        return labels;
    }

    std::vector<std::string> made(
        const std::function<std::string(const std::string&)>& shorter) const {
        std::vector<std::string> labels;
        for (const std::string& text : all_) labels.push_back(is_long(text) ? shorter(text) : text);
        return labels;
    }
    static bool are_distinct(const std::vector<std::string>& labels) {
        return std::set<std::string_view>(labels.begin(), labels.end()).size() == labels.size();
    }

    std::size_t columns_;
    bool ascii_;
    std::string_view mark_;
    std::vector<std::string> all_;
    std::vector<std::string> long_;
};

Labels made_labels(const std::vector<std::string>& texts, std::size_t columns, bool ascii,
                   bool keeps_ends) {
    std::vector<std::string> distinct;
    std::set<std::string_view> known;
    for (const std::string& text : texts)
        if (known.insert(text).second) distinct.push_back(text);
    const std::vector<std::string> shown = LabelMaker(distinct, columns, ascii).labels(keeps_ends);
    Labels labels;
    for (std::size_t i = 0; i < shown.size(); ++i) labels.emplace(distinct[i], shown[i]);
    return labels;
}

}  // namespace

Labels distinct_labels(const std::vector<std::string>& texts, std::size_t columns, bool ascii) {
    return made_labels(texts, columns, ascii, false);
}

Labels labels_with_ends(const std::vector<std::string>& texts, std::size_t columns, bool ascii) {
    return made_labels(texts, columns, ascii, true);
}

std::vector<std::string> names_by_what_varies(const std::vector<Point>& points) {
    std::vector<std::string> names(points.size());
    for (const std::string& key : parameter_keys(points)) {
        std::vector<std::string> values;
        for (const Point& point : points) {
            const Value* value = find_value(point.parameters, key);
            values.push_back(value ? text_of(*value) : std::string());
        }
        if (std::ranges::all_of(values, [&](const auto& value) { return value == values.front(); }))
            continue;
        for (std::size_t i = 0; i < points.size(); ++i)
            if (!values[i].empty())
                names[i] += fmt::format("{}{}{}", names[i].empty() ? "" : " ",
                                        key == "formula" ? "" : key + "=", values[i]);
    }
    for (std::size_t i = 0; i < points.size(); ++i)
        if (names[i].empty()) names[i] = points[i].name;
    return names;
}

}  // namespace coalprof
