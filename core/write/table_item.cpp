#include "core/write/table_item.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

struct FieldHeading {
    AccessField field;
    ItemHeading heading;
};

// In the order of the table's columns: how good an access is, then how much of it there was.
constexpr std::array field_headings{
    FieldHeading{AccessField::sectors_per_request,
                 {"sectors/", "request", "sectors/request", 11, true}},
    FieldHeading{AccessField::bytes_per_sector, {"bytes/", "sector", "bytes/sector", 12, true}},
    FieldHeading{AccessField::efficiency, {"efficiency", "", "efficiency", 10, true}},
    FieldHeading{AccessField::transactions, {"", "transactions", "transactions", 13, true}},
    FieldHeading{AccessField::transaction_bytes, {"moved", "", "bytes moved", 14}},
    FieldHeading{AccessField::requests, {"", "requests", "requests", 40}},
    FieldHeading{AccessField::sectors, {"", "sectors", "sectors", 20}},
    FieldHeading{AccessField::lines, {"", "lines", "lines", 41}},
    FieldHeading{AccessField::tag_wavefronts, {"tag", "wavefronts", "tag wavefronts", 42}},
    FieldHeading{AccessField::data_wavefronts, {"data", "wavefronts", "data wavefronts", 43}},
    FieldHeading{AccessField::ideal_sectors, {"ideal", "sectors", "ideal sectors", 50}},
    FieldHeading{AccessField::unique_bytes, {"touched", "", "bytes touched", 51}},
};
static_assert(field_headings.size() == access_field_count, "a field has no heading");

struct CounterHeading {
    Counter counter;
    ItemHeading heading;
};

constexpr std::array counter_headings{
    CounterHeading{Counter::shared_load_conflict_degree,
                   {"shared load", "passes/req", "shared load passes/request", 10, true}},
    CounterHeading{Counter::shared_load_wavefronts,
                   {"shared load", "wavefronts", "shared load wavefronts", 20}},
    CounterHeading{Counter::shared_load_conflicts,
                   {"shared load", "conflicts", "shared load conflicts", 21}},
    CounterHeading{Counter::shared_load_requests,
                   {"shared load", "requests", "shared load requests", 44}},
    CounterHeading{Counter::shared_store_conflict_degree,
                   {"shared store", "passes/req", "shared store passes/request", 10, true}},
    CounterHeading{Counter::shared_store_wavefronts,
                   {"shared store", "wavefronts", "shared store wavefronts", 20}},
    CounterHeading{Counter::shared_store_conflicts,
                   {"shared store", "conflicts", "shared store conflicts", 21}},
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
    CounterHeading{Counter::duration_seconds, {"time", "", "time", 17, true}},
    CounterHeading{Counter::bandwidth_bytes_per_second, {"", "", "bandwidth", 16, true}},
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
              ItemHeading{"shared", "wavefronts", "shared wavefronts", 20}},
    std::pair{std::array{Counter::shared_load_conflicts, Counter::shared_store_conflicts},
              ItemHeading{"shared", "conflicts", "shared conflicts", 21}},
    std::pair{std::array{Counter::shared_load_requests, Counter::shared_store_requests},
              ItemHeading{"shared", "requests", "shared requests", 44}},
};

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

bool is_field(Counter counter, AccessField field) {
    return std::any_of(access_kinds.begin(), access_kinds.end(),
                       [&](AccessKind kind) { return counter == access_counter(kind, field); });
}

bool are_alike(AccessField field, const std::vector<Point>& points) {
    const Counter load = access_counter(AccessKind::load, field);
    const Counter store = access_counter(AccessKind::store, field);
    return std::all_of(points.begin(), points.end(), [&](const Point& point) {
        return point.predicted[load] == point.predicted[store] &&
               (!point.measured || (*point.measured)[load] == (*point.measured)[store]);
    });
}

// Which fields loads and stores share: those that are equal, if the numbers that matter are. Equal
// requests alone would say nothing.
std::bitset<access_field_count> shared_fields(const std::vector<Point>& points) {
    std::bitset<access_field_count> alike;
    for (const FieldHeading& row : field_headings)
        alike[static_cast<std::size_t>(row.field)] = are_alike(row.field, points);
    for (const AccessField field :
         {AccessField::requests, AccessField::sectors, AccessField::sectors_per_request,
          AccessField::efficiency, AccessField::transactions})
        if (!alike[static_cast<std::size_t>(field)]) return {};
    return alike;
}

void add_fields_apart(std::vector<TableItem>& items, const std::vector<Point>& points,
                      const Present& present) {
    const auto alike = shared_fields(points);
    const auto add = [&](AccessKind kind, const FieldHeading& row, bool is_shared) {
        const Counter counter = access_counter(kind, row.field);
        if (!has(present, counter)) return;
        if (is_shared)
            items.push_back({{counter, access_counter(AccessKind::store, row.field)},
                             "loads and stores, each",
                             &row.heading});
        else
            items.push_back({{counter}, group_names[static_cast<std::size_t>(kind)], &row.heading});
    };
    for (const FieldHeading& row : field_headings)
        if (alike[static_cast<std::size_t>(row.field)]) add(AccessKind::load, row, true);
    for (const AccessKind kind : access_kinds)
        for (const FieldHeading& row : field_headings) {
            const bool is_load_or_store = kind == AccessKind::load || kind == AccessKind::store;
            if (!(is_load_or_store && alike[static_cast<std::size_t>(row.field)]))
                add(kind, row, false);
        }
}

void add_merged(std::vector<TableItem>& items, const Present& present) {
    const auto add = [&](const auto& counters, const ItemHeading& heading) {
        std::vector<Counter> there;
        for (const Counter counter : counters)
            if (has(present, counter)) there.push_back(counter);
        if (!there.empty()) items.push_back({std::move(there), "", &heading});
    };
    for (const FieldHeading& row : field_headings) {
        std::array<Counter, access_kinds.size()> counters{};
        std::transform(access_kinds.begin(), access_kinds.end(), counters.begin(),
                       [&](AccessKind kind) { return access_counter(kind, row.field); });
        add(counters, row.heading);
    }
    for (const auto& [counters, heading] : merged_shared) add(counters, heading);
}

// A merged item has at most one of its counters in a point; of others all are equal.
Counter counter_in(const TableItem& item, const Readings& readings) {
    for (const Counter counter : item.counters)
        if (is_present(readings[counter])) return counter;
    return item.counters.front();
}

const Reading& reading_of(const TableItem& item, const Readings& readings) {
    return readings[counter_in(item, readings)];
}

}  // namespace

bool is_efficiency(const TableItem& item) {
    return is_field(item.counters.front(), AccessField::efficiency);
}

bool is_sectors(const TableItem& item) {
    return is_field(item.counters.front(), AccessField::sectors);
}

bool is_ideal_sectors(const TableItem& item) {
    return is_field(item.counters.front(), AccessField::ideal_sectors);
}

bool lacks_efficiency(const Point& point) {
    return !point.measured || std::ranges::none_of(access_kinds, [&](AccessKind kind) {
        return is_number((*point.measured)[access_counter(kind, AccessField::efficiency)]);
    });
}

bool is_sectors_per_request(const TableItem& item) {
    return is_field(item.counters.front(), AccessField::sectors_per_request);
}

const Reading& predicted_reading(const TableItem& item, const Point& point) {
    return reading_of(item, point.predicted);
}

const Reading& measured_reading(const TableItem& item, const Point& point) {
    static const Reading absent;
    return point.measured ? reading_of(item, *point.measured) : absent;
}

const Interval* interval_of(const TableItem& item, const Point& point) {
    return point.estimates ? point.estimates->of(counter_in(item, point.predicted)) : nullptr;
}

Kinds kinds_of(const Point& point) { return kinds_in(counters_in(point)); }

std::string phrase_of(Counter counter) {
    for (const CounterHeading& row : counter_headings)
        if (row.counter == counter) return std::string(row.heading.phrase);
    const auto index = static_cast<std::size_t>(counter);
    const auto kind = static_cast<AccessKind>(index / access_field_count);
    for (const FieldHeading& row : field_headings)
        if (access_counter(kind, row.field) == counter)
            return std::string(name_of(kind)).append(" ").append(row.heading.phrase);
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

TableItems items_of(const std::vector<Point>& points) {
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
    if (all.are_merged)
        add_merged(all.items, present);
    else
        add_fields_apart(all.items, points, present);
    for (const CounterHeading& row : counter_headings)
        if (has(present, row.counter) && !(all.are_merged && is_shared(row.counter)))
            all.items.push_back({{row.counter}, "", &row.heading});
    return all;
}

}  // namespace coalprof
