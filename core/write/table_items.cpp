#include "core/write/table_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

constexpr std::size_t access_counters = access_kinds.size() * access_field_count;

struct FieldHeading {
    AccessField field;
    ItemHeading heading;
    bool is_per_request = false;
};

// In the order of the table's columns: an access's cost compared with its least, then its amounts.
constexpr std::array field_headings{
    FieldHeading{AccessField::sectors_per_request,
                 {"sectors/", "request", "sectors/request", 9, true}},
    FieldHeading{
        AccessField::ideal_sectors, {"", "ideal", "ideal sectors/request", 11, true}, true},
    FieldHeading{AccessField::excess, {"excess", "", "excess over the ideal", 10, true}},
    FieldHeading{AccessField::bytes_per_sector, {"bytes/", "sector", "bytes/sector", 13, true}},
    FieldHeading{AccessField::efficiency, {"efficiency", "", "efficiency", 12, true}},
    FieldHeading{AccessField::transactions, {"", "transactions", "transactions", 13, true}},
    FieldHeading{AccessField::transaction_bytes, {"moved", "", "bytes moved", 14}},
    FieldHeading{AccessField::requests, {"", "requests", "requests", 40}},
    FieldHeading{AccessField::sectors, {"", "sectors", "sectors", 40}},
    FieldHeading{AccessField::lines, {"", "lines", "lines", 41}},
    FieldHeading{AccessField::tag_wavefronts, {"tag", "wavefronts", "tag wavefronts", 42}},
    FieldHeading{AccessField::data_wavefronts, {"data", "wavefronts", "data wavefronts", 43}},
    FieldHeading{AccessField::ideal_sectors, {"ideal", "sectors", "ideal sectors", 50}},
    FieldHeading{AccessField::excess_sectors, {"excess", "sectors", "excess sectors", 50}},
    FieldHeading{AccessField::unique_bytes, {"touched", "", "bytes touched", 51}},
};
static_assert(field_headings.size() == access_field_count + 1, "a field has no heading");

struct CounterHeading {
    Counter counter;
    ItemHeading heading;
};

// Counters of no kind of access, in the order of the table's columns. Words that do not stand here
// are those of the key.
struct HeadingRow {
    Counter counter;
    int importance;
    bool never_hoisted = false;
    std::array<std::string_view, 3> words = {};
};
constexpr std::array heading_rows{
    HeadingRow{Counter::shared_load_conflict_degree,
               10,
               true,
               {"shared load", "passes/req", "shared load passes/request"}},
    HeadingRow{Counter::shared_load_wavefronts, 43},
    HeadingRow{Counter::shared_load_conflicts, 43},
    HeadingRow{Counter::shared_load_requests, 44},
    HeadingRow{Counter::shared_store_conflict_degree,
               10,
               true,
               {"shared store", "passes/req", "shared store passes/request"}},
    HeadingRow{Counter::shared_store_wavefronts, 43},
    HeadingRow{Counter::shared_store_conflicts, 43},
    HeadingRow{Counter::shared_store_requests, 44},
    HeadingRow{Counter::shared_atomic_conflict_degree,
               22,
               false,
               {"shared atomic", "passes/req", "shared atomic passes/request"}},
    HeadingRow{Counter::shared_atomic_wavefronts, 21},
    HeadingRow{Counter::shared_atomic_requests, 15, true},
    HeadingRow{Counter::constant_requests, 15, true, {"constant", "passes", "constant passes"}},
    HeadingRow{Counter::local_load_sectors, 17, true},
    HeadingRow{Counter::local_load_requests, 45},
    HeadingRow{Counter::local_store_sectors, 17, true},
    HeadingRow{Counter::local_store_requests, 45},
    HeadingRow{Counter::texture_sectors, 18, true},
    HeadingRow{Counter::texture_hit_sectors, 32, false, {"texture", "hits", "texture hit sectors"}},
    HeadingRow{Counter::texture_requests, 45},
    HeadingRow{Counter::l1_hit_sectors, 32},
    HeadingRow{Counter::l2_read_sectors, 30},
    HeadingRow{Counter::l2_read_requests, 46},
    HeadingRow{Counter::l2_write_sectors, 33},
    HeadingRow{Counter::l2_write_requests, 47},
    HeadingRow{Counter::l2_atomic_sectors, 35},
    HeadingRow{Counter::l2_atomic_requests, 36},
    HeadingRow{Counter::l2_reduce_sectors, 35},
    HeadingRow{Counter::l2_reduce_requests, 36},
    HeadingRow{Counter::dram_read_bytes, 31, false, {"DRAM read", "", "DRAM read"}},
    HeadingRow{Counter::dram_write_bytes, 34, false, {"DRAM write", "", "DRAM write"}},
    HeadingRow{Counter::useful_bytes, 52, false, {"useful", "", "useful bytes"}},
    HeadingRow{Counter::duration_seconds, 16, true, {"time", "", "time"}},
    HeadingRow{Counter::bandwidth_bytes_per_second, 23, true, {"", "", "bandwidth"}},
    HeadingRow{Counter::bandwidth_share, 22, true, {"% of", "ceiling", "share of the ceiling"}},
    HeadingRow{Counter::cost_share, 7, true, {"cost", "", "cost"}},
};
constexpr int importance_without_row = 45;

// "L2 read sectors" of l2_read_sectors.
std::string phrase_of_key(Counter counter) {
    std::string phrase(key_of(counter));
    std::ranges::replace(phrase, '_', ' ');
    for (const std::string_view name : {"L1", "L2", "DRAM"})
        if (std::ranges::equal(std::string_view(phrase).substr(0, name.size()), name, {}, {},
                               ascii_lower))
            phrase.replace(0, name.size(), name);
    return phrase;
}

CounterHeading counter_heading(const HeadingRow& row) {
    static std::deque<std::string> phrases;  // views into them stay
    std::array<std::string_view, 3> words = row.words;
    if (words[2].empty()) {
        words[2] = phrases.emplace_back(phrase_of_key(row.counter));
        const std::size_t blank = std::min(words[2].rfind(' '), words[2].size());
        words[0] = words[2].substr(0, blank);
        words[1] = words[2].substr(std::min(blank + 1, words[2].size()));
    }
    return {row.counter, {words[0], words[1], words[2], row.importance, row.never_hoisted}};
}

const std::vector<CounterHeading>& counter_headings() {
    static const std::vector<CounterHeading> all = [] {
        std::vector<CounterHeading> made;
        for (const HeadingRow& row : heading_rows) made.push_back(counter_heading(row));
        for (const CounterInfo& one : all_counters().subspan(access_counters))
            if (std::ranges::find(heading_rows, one.counter, &HeadingRow::counter) ==
                heading_rows.end())
                made.push_back(counter_heading({one.counter, importance_without_row}));
        return made;
    }();
    return all;
}

// Shared memory's loads and stores, where each point has one of them.
constexpr std::array merged_shared{
    std::pair{
        std::array{Counter::shared_load_conflict_degree, Counter::shared_store_conflict_degree},
        ItemHeading{"shared", "passes/req", "shared passes/request", 10, true}},
    std::pair{std::array{Counter::shared_load_wavefronts, Counter::shared_store_wavefronts},
              ItemHeading{"shared", "wavefronts", "shared wavefronts", 43}},
    std::pair{std::array{Counter::shared_load_conflicts, Counter::shared_store_conflicts},
              ItemHeading{"shared", "conflicts", "shared conflicts", 43}},
    std::pair{std::array{Counter::shared_load_requests, Counter::shared_store_requests},
              ItemHeading{"shared", "requests", "shared requests", 44}},
};

// Beside the sectors of a kernel's lines.
constexpr ItemHeading passes_of_lines{"passes/", "request", "shared passes/request", 9, true};

constexpr std::array<std::string_view, access_kinds.size()> group_names{"loads", "stores",
                                                                        "atomics", "reductions"};

constexpr bool is_shared(Counter counter) {
    return counter >= Counter::shared_load_requests &&
           counter <= Counter::shared_store_conflict_degree;
}

using Present = std::bitset<counter_count>;

bool has(const Present& present, Counter counter) {
    return present[static_cast<std::size_t>(counter)];
}

Present counters_in(const Point& point) {
    Present present;
    const auto mark = [&](Counter counter, const Reading&) {
        present.set(static_cast<std::size_t>(counter));
    };
    point.predicted.each(mark);
    if (point.measured) point.measured->each(mark);
    return present;
}

Kinds kinds_in(const Present& present) {
    Kinds kinds;
    for (std::size_t i = 0; i < access_kinds.size() * access_field_count; ++i)
        if (present[i]) kinds.set(i / access_field_count);
    kinds[access_kinds.size()] = has(present, Counter::shared_load_wavefronts);
    kinds[access_kinds.size() + 1] = has(present, Counter::shared_store_wavefronts);
    return kinds;
}

AccessKind kind_of(Counter counter) {
    return static_cast<AccessKind>(static_cast<std::size_t>(counter) / access_field_count);
}

using Fields = std::bitset<access_field_count>;

// The fields that loads and stores share: those that are equal in every point, if the important
// numbers are. Equal requests alone say nothing.
Fields shared_fields(const std::vector<Point>& points) {
    Fields equal;
    for (std::size_t i = 0; i < access_field_count; ++i) {
        const Counter load = access_counter(AccessKind::load, static_cast<AccessField>(i));
        const Counter store = access_counter(AccessKind::store, static_cast<AccessField>(i));
        equal[i] = std::ranges::all_of(points, [&](const Point& point) {
            return point.predicted[load] == point.predicted[store] &&
                   (!point.measured || (*point.measured)[load] == (*point.measured)[store]);
        });
    }
    for (const AccessField field :
         {AccessField::requests, AccessField::sectors, AccessField::sectors_per_request,
          AccessField::efficiency, AccessField::transactions})
        if (!equal[static_cast<std::size_t>(field)]) return {};
    return equal;
}

// Sectors are shown as one of four equivalent numbers: the excess, if every point that has an
// efficiency has one; else the efficiency.
struct Dress {
    const ResultHead& head;
    std::array<bool, access_kinds.size()> has_excess = {};
    bool hides(AccessKind kind, const FieldHeading& row) const {
        if (!head.columns.empty()) return row.is_per_request;
        const Counter counter = access_counter(kind, row.field);
        if (std::ranges::find(head.foremost, counter) != head.foremost.end()) return false;
        if (row.field == AccessField::bytes_per_sector || row.field == AccessField::excess_sectors)
            return true;
        const bool is_excess = has_excess[static_cast<std::size_t>(kind)];
        if (row.field == AccessField::efficiency) return is_excess;
        return (row.is_per_request || row.field == AccessField::excess) && !is_excess;
    }
};

Dress dress_of(const ResultHead& head, const std::vector<Point>& points) {
    Dress dress{.head = head};
    for (const AccessKind kind : access_kinds) {
        const Counter sectors = access_counter(kind, AccessField::sectors);
        const Counter ideal = access_counter(kind, AccessField::ideal_sectors);
        const Counter requests = access_counter(kind, AccessField::requests);
        const Counter efficiency = access_counter(kind, AccessField::efficiency);
        const auto can_tell = [&](const Readings& readings) {
            const bool has_three = is_number(readings[sectors]) && is_number(readings[ideal]) &&
                                   is_number(readings[requests]);
            return has_three || !is_number(readings[efficiency]);
        };
        const auto tells = [&](const Point& point) {
            return is_number(point.predicted[ideal]) ||
                   (point.measured && is_number((*point.measured)[ideal]));
        };
        dress.has_excess[static_cast<std::size_t>(kind)] =
            std::ranges::any_of(points, tells) &&
            std::ranges::all_of(points, [&](const Point& point) {
                return can_tell(point.predicted) && (!point.measured || can_tell(*point.measured));
            });
    }
    return dress;
}

void add_unmerged(std::vector<TableItem>& items, const Dress& dress, const Fields& shared,
                  const Present& present) {
    const auto add = [&](AccessKind kind, const FieldHeading& row, bool is_for_both) {
        const Counter counter = access_counter(kind, row.field);
        if (!has(present, counter) || dress.hides(kind, row)) return;
        TableItem item{{counter}, group_names[static_cast<std::size_t>(kind)], &row.heading};
        if (is_for_both) {
            item.counters.push_back(access_counter(AccessKind::store, row.field));
            item.group = "loads and stores, each";
        }
        item.is_per_request = row.is_per_request;
        items.push_back(std::move(item));
    };
    const auto is_shared_field = [&](const FieldHeading& row) {
        return shared[static_cast<std::size_t>(row.field)];
    };
    for (const FieldHeading& row : field_headings)
        if (is_shared_field(row)) add(AccessKind::load, row, true);
    for (const AccessKind kind : access_kinds)
        for (const FieldHeading& row : field_headings)
            if (kind >= AccessKind::atomic || !is_shared_field(row)) add(kind, row, false);
}

// Loads and stores of shared memory in one column each; under `group` that of the passes first.
void add_merged_shared(std::vector<TableItem>& items, const Present& present,
                       std::string_view group) {
    for (const auto& [counters, heading] : merged_shared) {
        const bool is_passes = &heading == &merged_shared.front().second && !group.empty();
        TableItem item{.counters = {},
                       .group = is_passes ? group : "",
                       .heading = is_passes ? &passes_of_lines : &heading};
        std::ranges::copy_if(counters, std::back_inserter(item.counters),
                             [&](Counter counter) { return has(present, counter); });
        if (!item.counters.empty()) items.push_back(std::move(item));
    }
}

void add_merged(std::vector<TableItem>& items, const Dress& dress, const Present& present) {
    for (const FieldHeading& row : field_headings) {
        TableItem item{.counters = {},
                       .group = "",
                       .heading = &row.heading,
                       .is_per_request = row.is_per_request};
        bool is_hidden = false;
        for (const AccessKind kind : access_kinds)
            if (const Counter counter = access_counter(kind, row.field); has(present, counter)) {
                item.counters.push_back(counter);
                is_hidden |= dress.hides(kind, row);
            }
        if (!item.counters.empty() && !is_hidden) items.push_back(std::move(item));
    }
    add_merged_shared(items, present, {});
}

// A merged item has at most one of its counters in a point; otherwise all are equal.
Counter counter_in(const TableItem& item, const Readings& readings) {
    for (const Counter counter : item.counters)
        if (is_present(readings[counter])) return counter;
    return item.counters.front();
}

}  // namespace

Reading TableItem::in(const Readings& readings) const {
    const Counter counter = counter_in(*this, readings);
    // A whole kernel has both of what its lines have one of.
    if (std::ranges::any_of(counters, [&](Counter other) {
            return is_present(readings[other]) && readings[other] != readings[counter];
        }))
        return {};
    if (!is_per_request) return readings[counter];
    const Reading& ideal = readings[counter];
    const Reading& requests = readings[access_counter(kind_of(counter), AccessField::requests)];
    if (!is_number(ideal)) return ideal;
    if (!is_number(requests)) return requests;
    if (number_in(requests) == 0) return Unavailable{"nothing was accessed"};
    return number_in(ideal) / number_in(requests);
}

const Interval* TableItem::interval(const Point& point) const {
    return point.estimates ? point.estimates->of(counter_in(*this, point.predicted)) : nullptr;
}

CounterInfo TableItem::format() const {
    CounterInfo how = info(counters.front());
    if (is_per_request) how.is_integer = false;
    return how;
}

bool TableItem::is(AccessField field) const {
    const auto index = static_cast<std::size_t>(counters.front());
    return index < access_counters && !is_per_request &&
           static_cast<AccessField>(index % access_field_count) == field;
}

Kinds kinds_of(const Point& point) { return kinds_in(counters_in(point)); }

bool uses_shared_memory_alone(const Point& point) {
    const Kinds kinds = kinds_of(point);
    return kinds.any() && (kinds.to_ulong() & ((1ul << access_kinds.size()) - 1)) == 0;
}

std::string phrase_of(Counter counter) {
    for (const CounterHeading& row : counter_headings())
        if (row.counter == counter) return std::string(row.heading.phrase);
    const AccessKind kind = kind_of(counter);
    for (const FieldHeading& row : field_headings)
        if (!row.is_per_request && access_counter(kind, row.field) == counter)
            return fmt::format("{} {}", name_of(kind), row.heading.phrase);
    return std::string(key_of(counter));
}

std::string list_by_group(const std::vector<GroupedText>& texts) {
    std::string list;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        list += texts[i].text;
        const bool is_last = i + 1 == texts.size();
        const bool ends_group = is_last || texts[i + 1].group != texts[i].group;
        if (ends_group && !texts[i].group.empty()) list.append(" (").append(texts[i].group) += ')';
        if (!is_last) list += ends_group ? "; " : ", ";
    }
    return list;
}

TableItems items_of(const ResultHead& head, const std::vector<Point>& points) {
    Present present;
    Kinds kinds;
    bool has_one_kind_each = true;
    for (const Point& point : points) {
        const Present counters = counters_in(point);
        const Kinds of_point = kinds_in(counters);
        present |= counters;
        kinds |= of_point;
        has_one_kind_each &= of_point.count() <= 1;
    }
    TableItems all{.items = {}, .are_merged = kinds.count() > 1 && has_one_kind_each};
    const Dress dress = dress_of(head, points);
    if (all.are_merged)
        add_merged(all.items, dress, present);
    else
        add_unmerged(all.items, dress, shared_fields(points), present);
    const bool is_of_lines = !all.are_merged && head.sweep.pattern == "kernel" &&
                             find_value(points.back().parameters, "line") && head.columns.empty();
    if (is_of_lines) add_merged_shared(all.items, present, "shared");
    for (const CounterHeading& row : counter_headings())
        if (has(present, row.counter) &&
            !((all.are_merged || is_of_lines) && is_shared(row.counter)))
            all.items.insert(
                row.counter == Counter::cost_share ? all.items.begin() : all.items.end(),
                TableItem{{row.counter}, "", &row.heading});
    return all;
}

}  // namespace coalprof
