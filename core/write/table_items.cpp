#include "core/write/table_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

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

constexpr std::array counter_headings{
    CounterHeading{Counter::shared_load_conflict_degree,
                   {"shared load", "passes/req", "shared load passes/request", 10, true}},
    CounterHeading{Counter::shared_load_wavefronts,
                   {"shared load", "wavefronts", "shared load wavefronts", 43}},
    CounterHeading{Counter::shared_load_conflicts,
                   {"shared load", "conflicts", "shared load conflicts", 43}},
    CounterHeading{Counter::shared_load_requests,
                   {"shared load", "requests", "shared load requests", 44}},
    CounterHeading{Counter::shared_store_conflict_degree,
                   {"shared store", "passes/req", "shared store passes/request", 10, true}},
    CounterHeading{Counter::shared_store_wavefronts,
                   {"shared store", "wavefronts", "shared store wavefronts", 43}},
    CounterHeading{Counter::shared_store_conflicts,
                   {"shared store", "conflicts", "shared store conflicts", 43}},
    CounterHeading{Counter::shared_store_requests,
                   {"shared store", "requests", "shared store requests", 44}},
    CounterHeading{Counter::shared_atomic_conflict_degree,
                   {"shared atomic", "passes/req", "shared atomic passes/request", 22}},
    CounterHeading{Counter::shared_atomic_wavefronts,
                   {"shared atomic", "wavefronts", "shared atomic wavefronts", 21}},
    CounterHeading{Counter::shared_atomic_requests,
                   {"shared atomic", "requests", "shared atomic requests", 15, true}},
    CounterHeading{Counter::constant_requests,
                   {"constant", "requests", "constant requests", 15, true}},
    CounterHeading{Counter::local_load_sectors,
                   {"local load", "sectors", "local load sectors", 17, true}},
    CounterHeading{Counter::local_load_requests,
                   {"local load", "requests", "local load requests", 45}},
    CounterHeading{Counter::local_store_sectors,
                   {"local store", "sectors", "local store sectors", 17, true}},
    CounterHeading{Counter::local_store_requests,
                   {"local store", "requests", "local store requests", 45}},
    CounterHeading{Counter::texture_sectors, {"texture", "sectors", "texture sectors", 18, true}},
    CounterHeading{Counter::texture_hit_sectors, {"texture", "hits", "texture hit sectors", 32}},
    CounterHeading{Counter::texture_requests, {"texture", "requests", "texture requests", 45}},
    CounterHeading{Counter::l1_hit_sectors, {"L1 hit", "sectors", "L1 hit sectors", 32}},
    CounterHeading{Counter::l2_read_sectors, {"L2 read", "sectors", "L2 read sectors", 30}},
    CounterHeading{Counter::l2_read_requests, {"L2 read", "requests", "L2 read requests", 46}},
    CounterHeading{Counter::l2_write_sectors, {"L2 write", "sectors", "L2 write sectors", 33}},
    CounterHeading{Counter::l2_write_requests, {"L2 write", "requests", "L2 write requests", 47}},
    CounterHeading{Counter::l2_atomic_sectors, {"L2 atomic", "sectors", "L2 atomic sectors", 35}},
    CounterHeading{Counter::l2_atomic_requests,
                   {"L2 atomic", "requests", "L2 atomic requests", 36}},
    CounterHeading{Counter::l2_reduce_sectors, {"L2 reduce", "sectors", "L2 reduce sectors", 35}},
    CounterHeading{Counter::l2_reduce_requests,
                   {"L2 reduce", "requests", "L2 reduce requests", 36}},
    CounterHeading{Counter::dram_read_bytes, {"DRAM read", "", "DRAM read", 31}},
    CounterHeading{Counter::dram_write_bytes, {"DRAM write", "", "DRAM write", 34}},
    CounterHeading{Counter::useful_bytes, {"useful", "", "useful bytes", 52}},
    CounterHeading{Counter::duration_seconds, {"time", "", "time", 16, true}},
    CounterHeading{Counter::bandwidth_bytes_per_second, {"", "", "bandwidth", 23, true}},
    CounterHeading{Counter::bandwidth_share, {"% of", "ceiling", "share of the ceiling", 22, true}},
};
static_assert(counter_headings.size() == counter_count - access_kinds.size() * access_field_count,
              "a counter has no heading");

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

constexpr std::size_t access_counters = access_kinds.size() * access_field_count;

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

std::string joined_by_group(const std::vector<GroupedText>& texts, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        list += texts[i].text;
        const bool is_last = i + 1 == count;
        const bool ends_group = is_last || texts[i + 1].group != texts[i].group;
        if (ends_group && !texts[i].group.empty()) list.append(" (").append(texts[i].group) += ')';
        if (!is_last) list += ends_group ? "; " : ", ";
    }
    return list;
}

}  // namespace

bool is_finite_number(const Reading& reading) {
    return is_number(reading) && std::isfinite(number_in(reading));
}

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
    for (const CounterHeading& row : counter_headings)
        if (row.counter == counter) return std::string(row.heading.phrase);
    const AccessKind kind = kind_of(counter);
    for (const FieldHeading& row : field_headings)
        if (!row.is_per_request && access_counter(kind, row.field) == counter)
            return fmt::format("{} {}", name_of(kind), row.heading.phrase);
    return std::string(key_of(counter));
}

std::string list_by_group(std::string_view begin, const std::vector<GroupedText>& texts,
                          std::string_view end, std::size_t columns) {
    for (std::size_t count = texts.size(); count > 0; --count) {
        const std::string more =
            count == texts.size() ? "" : fmt::format(", and {} more", texts.size() - count);
        std::string line = fmt::format("{}{}{}{}", begin, joined_by_group(texts, count), more, end);
        if (columns == 0 || texts.size() == 1 || terminal_columns(line) <= columns) return line;
    }
    return fmt::format("{}{} counters{}", begin, texts.size(), end);
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
    for (const CounterHeading& row : counter_headings)
        if (has(present, row.counter) &&
            !((all.are_merged || is_of_lines) && is_shared(row.counter)))
            all.items.push_back({{row.counter}, "", &row.heading});
    return all;
}

}  // namespace coalprof
