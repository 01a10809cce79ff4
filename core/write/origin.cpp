#include "core/write/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/pattern/launch_options.h"
#include "core/write/table_title.h"

namespace coalprof {
namespace {

// Sweeps have them, even if points differ in them; warps of a file and kernels of a program do not.
bool has_launch_options(const SweepFacts& sweep) { return sweep.block || !sweep.settings.empty(); }

std::string text_of_setting(const SweepFacts& sweep, std::string_view key) {
    for (const NamedValues* list : {&sweep.settings, &sweep.more})
        if (const Value* value = find_value(*list, key)) return text_of(*value);
    return {};
}

std::string text_or_none(const std::optional<std::uint64_t>& number) {
    return number ? fmt::to_string(*number) : std::string();
}

class OriginMaker {
 public:
    OriginMaker(const ResultHead& head, const std::vector<std::string>& parameters)
        : head_(head), parameters_(parameters) {}

    std::vector<OriginColumn> columns() && {
        const SweepFacts& sweep = head_.sweep;
        add("name", "");
        if (!sweep.pattern.empty()) {
            add("pattern", sweep.pattern);
            add("formula_name", "");
            add("formula", sweep.formula);
            add("op", sweep.op);
            add("type", sweep.type);
            add("size_bytes", text_or_none(sweep.size_bytes));
            add("machine", head_.machine.name);
        }
        if (has_launch_options(sweep))
            add_launch_options();
        else
            for (const std::string& key : parameters_) add(key, "");
        return std::move(columns_);
    }

 private:
    void add_launch_options() {
        const SweepFacts& sweep = head_.sweep;
        add("grid", grid_text(sweep));
        add("block", block_text(sweep));
        add("per_thread", text_or_none(sweep.per_thread));
        for (const LaunchOption& option : launch_options())
            if (option.group == OptionGroup::memory)
                add(std::string(option.key), text_of_setting(sweep, option.key));
        if (!sweep.parameter.empty()) add(sweep.parameter, "");
        std::map<std::string, std::string> others;  // by key: axes have no fixed order
        for (const std::string& key : parameters_) others.emplace(key, "");
        if (sweep.pattern == "transpose") {
            others.emplace("variant", sweep.variant);
            others.emplace("tile", text_or_none(sweep.tile));
            others.emplace("tile_pitch", "");
        }
        // Files do not keep the list of a value, so that its name decides.
        for (const NamedValues* list : {&sweep.settings, &sweep.more})
            for (const auto& [key, value] : *list)
                if (key.find('.') == std::string::npos && !is_memory_setting(key) &&
                    !key.starts_with("shard"))
                    others.emplace(key, text_of(value));
        if (sweep.repeat) others.emplace("repeat", text_or_none(sweep.repeat));
        if (!sweep.cache.empty()) others.emplace("cache", sweep.cache);
        for (const auto& [key, text] : others) add(key, text);
    }

    void add(const std::string& key, const std::string& same) {
        if (std::ranges::find(columns_, key, &OriginColumn::key) != columns_.end()) return;
        const auto place = std::ranges::find(parameters_, key);
        columns_.push_back({.key = key,
                            .place = static_cast<std::size_t>(place - parameters_.begin()),
                            .same = same});
    }

    const ResultHead& head_;
    const std::vector<std::string>& parameters_;
    std::vector<OriginColumn> columns_;
};

}  // namespace

std::vector<OriginColumn> origin_columns(const ResultHead& head,
                                         const std::vector<std::string>& parameters) {
    return OriginMaker(head, parameters).columns();
}

const Value* text_of_named_formula(const ResultHead& head, const Value& name) {
    // Files do not keep the list of a value.
    for (const NamedValues* list : {&head.sweep.more, &head.sweep.settings})
        if (const Value* text = find_value(*list, "formula." + text_of(name))) return text;
    return nullptr;
}

}  // namespace coalprof
