#include "core/write/table_item.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

struct Heading {
    std::string_view line1;
    std::string_view line2;
    std::string_view phrase;
    int importance;
    bool never_hoisted = false;
};

struct FieldHeading {
    AccessField field;
    Heading heading;
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
    FieldHeading{AccessField::unique_bytes, {"distinct", "", "distinct bytes", 51}},
};
static_assert(field_headings.size() == access_field_count, "a field has no heading");

struct CounterHeading {
    Counter counter;
    Heading heading;
};

constexpr std::array counter_headings{
    CounterHeading{Counter::shared_load_wavefronts,
                   {"shared load", "wavefronts", "shared load wavefronts", 15, true}},
    CounterHeading{Counter::shared_load_conflicts,
                   {"shared load", "conflicts", "shared load conflicts", 21}},
    CounterHeading{Counter::shared_load_requests,
                   {"shared load", "requests", "shared load requests", 44}},
    CounterHeading{Counter::shared_store_wavefronts,
                   {"shared store", "wavefronts", "shared store wavefronts", 15, true}},
    CounterHeading{Counter::shared_store_conflicts,
                   {"shared store", "conflicts", "shared store conflicts", 21}},
    CounterHeading{Counter::shared_store_requests,
                   {"shared store", "requests", "shared store requests", 44}},
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
    CounterHeading{Counter::duration_seconds, {"time", "", "time", 23, true}},
    CounterHeading{Counter::bandwidth_bytes_per_second, {"", "", "bandwidth", 16, true}},
    CounterHeading{Counter::bandwidth_share, {"% of", "ceiling", "share of the ceiling", 22, true}},
};
static_assert(counter_headings.size() == counter_count - access_kinds.size() * access_field_count,
              "a counter has no heading");

// Shared memory's loads and stores, where each point has one of them.
constexpr std::array merged_shared{
    std::pair{std::array{Counter::shared_load_wavefronts, Counter::shared_store_wavefronts},
              Heading{"shared", "wavefronts", "shared wavefronts", 15, true}},
    std::pair{std::array{Counter::shared_load_conflicts, Counter::shared_store_conflicts},
              Heading{"shared", "conflicts", "shared conflicts", 21}},
    std::pair{std::array{Counter::shared_load_requests, Counter::shared_store_requests},
              Heading{"shared", "requests", "shared requests", 44}},
};

constexpr std::array<std::string_view, access_kinds.size()> group_names{"loads", "stores",
                                                                        "atomics", "reductions"};
constexpr std::string_view alike_group = "loads and stores, each";

constexpr bool is_shared(Counter counter) {
    return counter >= Counter::shared_load_requests && counter <= Counter::shared_store_conflicts;
}

TableItem item_of(std::vector<Counter> counters, Join join, std::string_view group,
                  const Heading& heading) {
    return {std::move(counters),
            join,
            group,
            heading.line1,
            heading.line2,
            heading.phrase,
            heading.importance,
            heading.never_hoisted};
}

bool is_there(Counter counter, const Point& point) {
    return is_present(point.predicted[counter]) ||
           (point.measured && is_present((*point.measured)[counter]));
}

bool is_anywhere(Counter counter, const std::vector<Point>& points) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& point) { return is_there(counter, point); });
}

bool are_alike(AccessField field, const std::vector<Point>& points) {
    const Counter load = access_counter(AccessKind::load, field);
    const Counter store = access_counter(AccessKind::store, field);
    return std::all_of(points.begin(), points.end(), [&](const Point& point) {
        return point.predicted[load] == point.predicted[store] &&
               (!point.measured || (*point.measured)[load] == (*point.measured)[store]);
    });
}

// Loads and stores are shown as one when the numbers that matter are equal: equal requests alone
// would say nothing.
bool loads_and_stores_are_alike(const std::vector<Point>& points, const Kinds& kinds) {
    if (!kinds.seen[0] || !kinds.seen[1]) return false;
    for (const AccessField field :
         {AccessField::requests, AccessField::sectors, AccessField::sectors_per_request,
          AccessField::efficiency, AccessField::transactions})
        if (!are_alike(field, points)) return false;
    return true;
}

// Whether several kinds occur, but never two in one point: a file of unrelated warps.
bool each_point_has_one_kind(const std::vector<Point>& points, const Kinds& all) {
    return all.count() > 1 && std::all_of(points.begin(), points.end(), [](const Point& point) {
               return kinds_of(point).count() <= 1;
           });
}

void add_fields_apart(std::vector<TableItem>& items, const std::vector<Point>& points,
                      const Kinds& kinds, bool alike) {
    std::vector<TableItem> joined;
    for (std::size_t kind = 0; kind < access_kinds.size(); ++kind) {
        for (const FieldHeading& row : field_headings) {
            const Counter counter = access_counter(static_cast<AccessKind>(kind), row.field);
            if (!kinds.seen[kind] || !is_anywhere(counter, points)) continue;
            if (alike && kind < 2 && are_alike(row.field, points)) {
                if (kind == 0)
                    joined.push_back(
                        item_of({counter, access_counter(AccessKind::store, row.field)},
                                Join::alike, alike_group, row.heading));
            } else {
                items.push_back(item_of({counter}, Join::single, group_names[kind], row.heading));
            }
        }
    }
    items.insert(items.begin(), joined.begin(), joined.end());
}

void add_fields_merged(std::vector<TableItem>& items, const std::vector<Point>& points) {
    for (const FieldHeading& row : field_headings) {
        std::vector<Counter> counters;
        for (const AccessKind kind : access_kinds)
            if (is_anywhere(access_counter(kind, row.field), points))
                counters.push_back(access_counter(kind, row.field));
        if (!counters.empty())
            items.push_back(item_of(std::move(counters), Join::merged, "", row.heading));
    }
}

void add_shared_merged(std::vector<TableItem>& items, const std::vector<Point>& points) {
    for (const auto& [counters, heading] : merged_shared)
        if (is_anywhere(counters[0], points) || is_anywhere(counters[1], points))
            items.push_back(item_of({counters.begin(), counters.end()}, Join::merged, "", heading));
}

}  // namespace

bool is_efficiency(Counter counter) {
    const auto index = static_cast<std::size_t>(counter);
    return index < access_kinds.size() * access_field_count &&
           static_cast<AccessField>(index % access_field_count) == AccessField::efficiency;
}

int Kinds::count() const { return static_cast<int>(std::count(seen.begin(), seen.end(), true)); }

Kinds kinds_of(const Point& point) {
    Kinds kinds;
    for (std::size_t kind = 0; kind < access_kinds.size(); ++kind)
        for (std::size_t field = 0; field < access_field_count && !kinds.seen[kind]; ++field)
            kinds.seen[kind] = is_there(
                access_counter(static_cast<AccessKind>(kind), static_cast<AccessField>(field)),
                point);
    kinds.seen[access_kinds.size()] = is_there(Counter::shared_load_wavefronts, point);
    kinds.seen[access_kinds.size() + 1] = is_there(Counter::shared_store_wavefronts, point);
    return kinds;
}

std::string phrase_of(Counter counter) {
    const auto index = static_cast<std::size_t>(counter);
    constexpr std::size_t access_counters = access_kinds.size() * access_field_count;
    if (index < access_counters) {
        const auto kind = static_cast<AccessKind>(index / access_field_count);
        const auto field = static_cast<AccessField>(index % access_field_count);
        for (const FieldHeading& row : field_headings)
            if (row.field == field)
                return std::string(name_of(kind)).append(" ").append(row.heading.phrase);
    }
    for (const CounterHeading& row : counter_headings)
        if (row.counter == counter) return std::string(row.heading.phrase);
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

const Reading& reading_of(const TableItem& item, const Readings& readings) {
    if (item.join == Join::merged)
        for (const Counter counter : item.counters)
            if (is_present(readings[counter])) return readings[counter];
    return readings[item.counters.front()];
}

std::vector<TableItem> items_of(const std::vector<Point>& points) {
    Kinds all;
    for (const Point& point : points) {
        const Kinds kinds = kinds_of(point);
        for (std::size_t kind = 0; kind < all.seen.size(); ++kind)
            all.seen[kind] |= kinds.seen[kind];
    }
    std::vector<TableItem> items;
    const bool are_merged = each_point_has_one_kind(points, all);
    if (are_merged) {
        add_fields_merged(items, points);
        add_shared_merged(items, points);
    } else {
        add_fields_apart(items, points, all, loads_and_stores_are_alike(points, all));
    }
    for (const CounterHeading& row : counter_headings) {
        if (are_merged && is_shared(row.counter)) continue;
        if (is_anywhere(row.counter, points))
            items.push_back(item_of({row.counter}, Join::single, "", row.heading));
    }
    return items;
}

}  // namespace coalprof
