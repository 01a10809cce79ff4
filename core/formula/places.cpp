// Pointers, their targets, and the accesses that follow from them.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/formula/facts.h"
#include "core/formula/launch_check.h"
#include "core/formula/ranges.h"
#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

NodeId root_of(const NodeTree& tree) { return static_cast<NodeId>(tree.size() - 1); }

// start + step * i, for files whose numbers are of this form.
struct Progression {
    std::int64_t start = 0;
    std::int64_t step = 0;
};
std::optional<Progression> progression_of(const std::vector<std::int64_t>& values) {
    if (values.size() < 2) return std::nullopt;
    const Progression found{values[0], values[1] - values[0]};
    for (std::size_t k = 1; k < values.size(); ++k)
        if (values[k] - values[k - 1] != found.step) return std::nullopt;
    return found;
}

}  // namespace

ReadValue FormulaReader::data(std::size_t begin, std::size_t end, const UsageError& why) const {
    ReadValue value;
    value.begin = begin;
    value.end = end;
    value.why = std::make_shared<const UsageError>(why);
    return value;
}

const ReadArray* FormulaReader::find_array(std::string_view name) const {
    const auto found = std::ranges::find(arrays_, name, &ReadArray::name);
    return found != arrays_.end() ? &*found : nullptr;
}

// ---- pointers ----

void FormulaReader::require_address(const ReadValue& pointer, std::size_t at) const {
    if (pointer.is(Kind::pointer)) return;
    if (pointer.why) throw *pointer.why;
    const std::string name = shown(text_between(pointer.begin, pointer.end));
    const std::string reason = reason_against_name(name);
    throw error(pointer.begin, fmt::format("'{}' cannot be an array", name),
                reason.empty() ? fmt::format("it is a number (column {})", at + 1)
                               : reason + ": call it a, b, table, ...");
}

std::uint64_t FormulaReader::unit_of(const ReadValue& value) const {
    return value.unit_bytes != 0 ? value.unit_bytes : types_.at(CTypes::usual).size_bytes;
}

ReadValue FormulaReader::moved(ReadValue pointer, const ReadValue& by, NodeKind kind,
                               std::size_t at) {
    NodeTree steps = whole(by);
    const std::uint64_t size = types_.at(pointer.type).size_bytes;
    const std::uint64_t unit = unit_of(pointer);
    if (pointer.type != CTypes::usual || pointer.unit_bytes != 0)
        steps = with_number(NodeKind::multiply, std::move(steps),
                            static_cast<std::int64_t>(size / unit));
    if (pointer.tree.empty() && kind == NodeKind::add) {
        pointer.tree = std::move(steps);
    } else {
        if (pointer.tree.empty()) pointer.tree = leaf(NodeKind::literal, 0, at, at);
        ReadValue left = number(std::move(pointer.tree), pointer.begin, pointer.end);
        OperatorInfo info;
        info.kind = kind;
        pointer.tree = arithmetic(info, at, left, number(std::move(steps), by.begin, by.end)).tree;
    }
    pointer.end = std::max(pointer.end, by.end);
    pointer.index_begin = pointer.index_end = 0;
    pointer.may_be_array = pointer.may_be_array && pointer.why != nullptr;
    return pointer;
}

ReadValue FormulaReader::pointee(const ReadValue& pointer, std::size_t at) {
    require_address(pointer, at);
    ReadValue place = pointer;
    place.kind = Kind::place;
    place.may_be_array = false;
    if (pointer.may_be_array) {
        const std::string reason = reason_against_name(pointer.array);
        if (!reason.empty())
            throw error(pointer.begin, fmt::format("'{}' cannot be an array", shown(pointer.array)),
                        reason + ": call it a, b, table, ...");
    }
    place.why = nullptr;
    if (types_.at(place.type).kind == CType::Kind::array) {  // a row: it points to its elements
        place.kind = Kind::pointer;
        place.type = types_.at(place.type).inner;
    }
    return place;
}

ReadValue FormulaReader::element(ReadValue pointer, ReadValue index, std::size_t at) {
    require_address(pointer, at);
    const bool is_whole_array = pointer.tree.empty();
    const std::size_t begin = pointer.begin;
    ReadValue place = pointee(moved(std::move(pointer), index, NodeKind::add, at), at);
    place.begin = begin;
    if (is_whole_array) {
        place.index_begin = index.begin;
        place.index_end = index.end;
    }
    return place;
}

ReadValue FormulaReader::member(ReadValue place, const Token& name) {
    if (place.is(Kind::data) || place.is(Kind::number)) {
        if (place.why) return data(place.begin, name.end(), *place.why);
        throw error(name.at, "a number has no members", "");
    }
    if (!place.is(Kind::place))
        throw error(name.at, fmt::format("a pointer has no member '{}'", shown(name.text)),
                    fmt::format("write ->{}", name.text));
    if (place.type == CTypes::usual) {  // only one structure fits
        const auto found = types_.structure_with(name.text);
        if (!found)
            throw error(name.at,
                        fmt::format("which structure has '{}' is not known", shown(name.text)),
                        "say so: struct P { float x, y, z; }; before it or --struct, and of "
                        "several const P* p; one member of an array of them is also a[i*3 + 1]");
        settle(place, *found);
    }
    const CMember* found = types_.member_of(place.type, name.text);
    if (found == nullptr)
        throw error(
            name.at,
            fmt::format("{} has no member '{}'", types_.at(place.type).name, shown(name.text)), "");
    place = part_at(std::move(place), found->offset_bytes, found->type);
    place.end = name.end();
    place.index_begin = place.index_end = 0;
    if (types_.at(place.type).kind != CType::Kind::array) return place;
    place.kind = Kind::pointer;
    return pointee(place, name.at);
}

ReadValue FormulaReader::part_at(ReadValue place, std::uint64_t offset_bytes, CTypeId type) const {
    const std::uint64_t unit = unit_of(place);
    const std::uint64_t finer = std::gcd(std::gcd(unit, offset_bytes), types_.grain_of(type));
    if (place.tree.empty()) place.tree = leaf(NodeKind::literal, 0, place.begin, place.end);
    place.tree = with_number(NodeKind::add, scaled(std::move(place.tree), unit, finer),
                             static_cast<std::int64_t>(offset_bytes / finer));
    place.unit_bytes = finer;
    place.type = type;
    return place;
}

// One access stays whole; a structure is moved in units of its alignment.
std::vector<ReadValue> FormulaReader::parts_of(const ReadValue& place) const {
    const CType& own = types_.at(place.type);
    if (own.kind != CType::Kind::structure) return {place};
    std::vector<ReadValue> parts;
    const CTypeId unit = types_.unit_of_copy(place.type);
    for (std::uint64_t at = 0; at < own.size_bytes; at += own.align_bytes) {
        parts.push_back(part_at(place, at, unit));
        parts.back().part = static_cast<std::uint16_t>(at / own.align_bytes);
    }
    return parts;
}

// An undeclared array has the type of the variable that takes an element of it. Numbers are
// converted to one another: there --type decides, if it is another one than the usual.
void FormulaReader::settle(ReadValue& place, CTypeId type) {
    const bool is_open = place.is(Kind::place) || place.is(Kind::pointer);
    if (!is_open || place.type != CTypes::usual || place.unit_bytes != 0) return;
    const CType& own = types_.at(type);
    const bool is_value = own.kind == CType::Kind::scalar || own.kind == CType::Kind::structure;
    if (!is_value || type == CTypes::usual || type == CTypes::none) return;
    formula_.is_settled = false;
    if (types_.is_number(type) && launch_.type != ElementType::f32) return;
    const auto known = std::ranges::find(arrays_, place.array, &ReadArray::name);
    if (known == arrays_.end())
        arrays_.push_back({place.array, type});
    else if (known->type == CTypes::usual)
        known->type = type;
    else
        return;  // rows of --type
    place.type = type;
    place.unit_bytes = own.size_bytes;
}

// The value that a variable takes: of a structure only members that the text names later are
// loaded.
ReadValue FormulaReader::taken(ReadValue value, CTypeId type, std::string_view name) {
    settle(value, type);
    if (!value.is(Kind::place) || types_.at(value.type).kind != CType::Kind::structure)
        return loaded(std::move(value));
    for (Token token = token_; token.kind != TokenKind::end; token = next_token(text_, token.end()))
        if (token.kind == TokenKind::name && token.text.substr(0, token.text.find('.')) == name) {
            value.is_copy = true;
            return value;
        }
    return loaded(std::move(value));
}

ReadValue FormulaReader::cast(ReadValue value, CTypeId type, std::size_t at) {
    const CType& to = types_.at(type);
    if (to.kind != CType::Kind::pointer) return converted(loaded(std::move(value)), type);
    if (value.is(Kind::number) && value.may_be_array) {  // x, which is an array here
        value.kind = Kind::pointer;
        value.array = text_between(value.begin, value.end);
        value.tree.clear();
    }
    if (!value.is(Kind::pointer)) {
        if (value.why) return value;
        throw error(at, "a number is no address", "cast a pointer, e.g. (float4*)(&a[i*4])");
    }
    formula_.is_settled = false;
    // (half2*)&h[2*i]: elements of h are halves.
    if (!value.tree.empty()) settle(value, types_.component_of(to.inner));
    if (value.unit_bytes == 0) value.unit_bytes = unit_of(value);
    value.may_be_array = false;
    value.why = nullptr;
    value.type = to.inner;
    // Units are as fine as steps of the new type need.
    const std::uint64_t size = types_.at(to.inner).size_bytes;
    if (size % value.unit_bytes != 0 || value.tree.empty()) {
        value.tree = scaled(std::move(value.tree), value.unit_bytes, size);
        value.unit_bytes = size;
    }
    return value;
}

// ---- accesses ----

std::optional<ElementType> FormulaReader::type_of(const ReadValue& place) const {
    return place.type == CTypes::usual ? std::nullopt : types_.at(place.type).element;
}

// In elements of the access's width.
NodeTree FormulaReader::index_of(const ReadValue& place) const {
    const CType& own = types_.at(place.type);
    if (place.type != CTypes::usual && !own.element)
        throw error(
            place.begin,
            fmt::format("{} is no access: {} bytes are moved in parts", own.name, own.size_bytes),
            "write the members that are used: p[i].x, p[i].y");
    NodeTree index = place.tree;
    if (index.empty()) index = leaf(NodeKind::literal, 0, place.begin, place.end);
    return scaled(std::move(index), unit_of(place), own.size_bytes);
}

void FormulaReader::finish_access(FormulaAccess access, const NodeTree& index, NodeTree condition) {
    const std::size_t most = has_loops_ ? max_unrolled_accesses : max_formula_accesses;
    if (formula_.accesses.size() == most)
        throw error(
            access.begin,
            fmt::format("more than {} {}", most,
                        has_loops_ ? "accesses in all rounds of its loops" : "instructions"),
            has_loops_ ? "fewer rounds show the same; `coalprof kernel` takes whole kernels"
                       : "measure them in several formulas");
    if (const auto doubt = doubt_from(0, Guards::all)) throw *doubt;
    condition = both(condition_from(0, Guards::all), condition);
    access.index = append(index);
    if (!condition.empty()) access.condition = condition_node(condition);
    access.site = access.begin + (std::uint32_t{access.part} << 16);
    formula_.accesses.push_back(std::move(access));
}

// Its place in the text; for a place also its array and type.
FormulaAccess FormulaReader::access_at(const ReadValue& value) const {
    FormulaAccess access;
    const bool has_index = value.index_begin != value.index_end;
    access.begin = static_cast<std::uint16_t>(value.begin);
    access.end = static_cast<std::uint16_t>(value.end);
    access.index_begin = static_cast<std::uint16_t>(has_index ? value.index_begin : value.begin);
    access.index_end = static_cast<std::uint16_t>(has_index ? value.index_end : value.end);
    if (!value.is(Kind::place)) return access;
    access.part = value.part;
    access.is_written_whole = !has_index;
    const ReadArray* array = find_array(value.array);
    access.array = value.array;
    access.space = array != nullptr ? array->space : Space::global;
    access.type = type_of(value);
    access.has_c_type = access.type.has_value();
    return access;
}

std::size_t FormulaReader::add_access(AccessKind kind, const ReadValue& place,
                                      std::optional<ElementType> type) {
    const ReadArray* array = find_array(place.array);
    if (is_dead() || (array != nullptr && array->is_local)) return formula_.accesses.size();
    FormulaAccess access = access_at(place);
    access.kind = kind;
    if (type) access.type = type;
    finish_access(std::move(access), index_of(place), {});
    return formula_.accesses.size() - 1;
}

void FormulaReader::store(const ReadValue& place) {
    if (!place.is_copy)
        std::erase_if(loads_, [&](const KnownLoad& known) {
            return !known.is_copy && may_alias(known.array, place.array);
        });
    for (const ReadValue& part : parts_of(place)) {
        if (!place.is_copy) add_access(AccessKind::store, part);
        remember(part, data(part.begin, part.end,
                            error(part.begin, "what is stored here is not known",
                                  "give the instruction that uses it one of its own")));
    }
}

// As compilers see it: shared memory is no global memory, and __restrict__ arrays overlap nothing.
bool FormulaReader::may_alias(std::string_view a, std::string_view b) const {
    const ReadArray* one = find_array(a);
    const ReadArray* other = find_array(b);
    if (a == b || one == nullptr || other == nullptr) return true;
    return one->space == Space::global && other->space == Space::global && !one->is_restrict &&
           !other->is_restrict;
}

// It is known under the guards that are active now.
void FormulaReader::remember(const ReadValue& place, ReadValue value) {
    if (is_dead()) return;
    std::vector<std::size_t> guards;
    for (const ReadGuard& guard : guards_) guards.push_back(guard.number);
    loads_.push_back({place.array, index_of(place), place.type, std::move(guards), std::move(value),
                      place.is_copy, ++numbers_});
}

// Uses the values that --array gives, if the index follows the array's name.
ReadValue FormulaReader::value_of_load(const ReadValue& place, const NodeTree& index) {
    const ReadArray* array = find_array(place.array);
    const DeclaredArray* declared = array != nullptr ? array->declared : nullptr;
    const std::string name(place.array);
    const auto known = [&](NodeTree tree) {
        formula_.is_settled = false;
        return number(std::move(tree), place.begin, place.end);
    };
    using Rule = DeclaredArray::Rule;
    if (declared != nullptr && declared->rule == Rule::iota) return known(index);
    if (declared != nullptr && declared->rule == Rule::zeros)
        return known(leaf(NodeKind::literal, 0, place.begin, place.end));
    if (declared != nullptr && declared->rule == Rule::random) {
        std::uint64_t count = 1;
        for (const std::uint64_t extent : declared->extents) count *= extent;  // at most 2^40
        const NodeTree buckets =
            leaf(NodeKind::literal, static_cast<std::int64_t>(count), place.begin, place.end);
        const NodeTree seed = leaf(NodeKind::literal, static_cast<std::int64_t>(declared->seed),
                                   place.begin, place.end);
        return known(combined(NodeKind::hash, place.begin, place.begin, place.end,
                              {&index, &buckets, &seed}));
    }
    if (declared != nullptr && declared->values) {
        const auto table = declared - context_.arrays.data();
        const auto line = progression_of(*declared->values);
        if (line && launch_.scope) {
            const ValueRange range = prove_facts(index, *launch_.scope).back().range;
            const auto size = static_cast<std::int64_t>(declared->values->size());
            if (range.low >= 0 && range.high < size)
                return known(with_number(NodeKind::add,
                                         with_number(NodeKind::multiply, index, line->step),
                                         line->start));
        }
        return known(
            combined(NodeKind::lookup, place.begin, place.begin, place.end, {&index}, table));
    }
    return data(
        place.begin, place.end,
        error(place.begin, fmt::format("the value of {}[...] is not known", shown(name)),
              fmt::format("say what it holds: --array {0}=@{0}.npy, or {0}=i32[1000]=random; "
                          "or give it an instruction of its own: load: {0}[i]; "
                          "load: a[i*4]",
                          shown(name))));
}

ReadValue FormulaReader::loaded(ReadValue value) {
    if (!value.is(Kind::place)) return value;
    ++touched_;
    const CType& type = types_.at(value.type);
    if (type.kind == CType::Kind::structure) {
        for (ReadValue& part : parts_of(value)) loaded(std::move(part));
        ReadValue result = data(value.begin, value.end,
                                error(value.begin, fmt::format("a {} is no index", type.name),
                                      "an index is a whole number, e.g. one of its members"));
        result.type = value.type;
        return result;
    }
    const NodeTree index = index_of(value);
    for (const KnownLoad& known : loads_)
        if (known.array == value.array && known.type == value.type &&
            (value.is_copy || !known.is_copy) && known.guards.size() <= guards_.size() &&
            std::ranges::equal(known.guards, std::span(guards_).first(known.guards.size()), {}, {},
                               &ReadGuard::number) &&
            is_same_subtree(known.index, root_of(known.index), index, root_of(index)))
            return known.value;
    add_access(AccessKind::load, value);
    ReadValue result = value_of_load(value, index);
    if (type.kind == CType::Kind::pointer)
        result = data(value.begin, value.end,
                      error(value.begin, "where a pointer that is loaded leads is not known",
                            "give each its instruction: load.u64: rows[y]; load: a[x]"));
    if (result.is(Kind::data)) result.type = value.type;
    remember(value, result);
    return result;
}

// ---- guards ----

bool FormulaReader::is_dead() const {
    return dead_ != 0 || std::ranges::any_of(guards_, [](const ReadGuard& guard) {
               return guard.tree.size() == 1 && guard.tree.front().kind == NodeKind::literal &&
                      guard.tree.front().value == 0;
           });
}

ReadGuard FormulaReader::guard_of(const ReadValue& test, bool is_met) const {
    ReadGuard guard;
    if (test.is(Kind::pointer) && !test.may_be_array)  // if (p): assumed to be true
        guard.tree = leaf(NodeKind::literal, is_met, test.begin, test.end);
    else if (test.is(Kind::number))
        guard.tree = is_met ? whole(test) : negated(whole(test));
    else if (test.why)
        guard.why = std::make_shared<const UsageError>(
            error(test.begin,
                  fmt::format("which threads fulfil '{}' is not known",
                              shown(text_between(test.begin, test.end))),
                  "it depends on data: say what the array holds, --array a=@a.npy, or leave the "
                  "condition out"));
    else
        guard.why = std::make_shared<const UsageError>(
            error(test.begin, "a pointer is no condition", "leave it out"));
    return guard;
}

void FormulaReader::push_guard(ReadGuard guard) {
    guard.number = ++numbers_;
    guards_.push_back(std::move(guard));
}

// After a statement that threads may have left from.
void FormulaReader::apply_exits(std::size_t from) {
    for (; from < exits_.size(); ++from) {
        const ReadExit& exit = exits_[from];
        ReadGuard stays;
        stays.why = exit.condition.why;
        stays.tree = exit.condition.tree.empty() ? leaf(NodeKind::literal, 0, 0, 0)
                                                 : negated(exit.condition.tree);
        if (stays.why) stays.tree.clear();
        stays.is_of_exit = true;
        push_guard(std::move(stays));
    }
}

bool FormulaReader::counts(const ReadGuard& guard, Guards which) const {
    return which == Guards::all ||
           (!guard.is_of_exit && (which == Guards::of_loops_too || !guard.is_of_loop));
}

NodeTree FormulaReader::condition_from(std::size_t guard, Guards which) const {
    NodeTree condition;
    for (; guard < guards_.size(); ++guard) {
        const ReadGuard& one = guards_[guard];
        if (one.tree.empty() || !counts(one, which)) continue;
        if (one.tree.size() == 1 && one.tree.front().kind == NodeKind::literal &&
            one.tree.front().value != 0)
            continue;
        condition = both(condition, one.tree);
    }
    return condition;
}

std::shared_ptr<const UsageError> FormulaReader::doubt_from(std::size_t guard, Guards which) const {
    for (; guard < guards_.size(); ++guard)
        if (guards_[guard].why && counts(guards_[guard], which)) return guards_[guard].why;
    return nullptr;
}

// Tests if any thread, or every one, fulfils it.
Truth FormulaReader::decided(const NodeTree& test) const {
    if (test.size() == 1 && test.front().kind == NodeKind::literal)
        return test.front().value != 0 ? Truth::always : Truth::never;
    if (launch_.scope == nullptr) return Truth::sometimes;
    const Truth proven = truth_of(prove_facts(test, *launch_.scope).back().range);
    if (proven != Truth::sometimes) return proven;
    ParsedFormula asked;
    asked.text = formula_.text;
    asked.parameters = formula_.parameters;
    asked.nodes = both(condition_from(0, Guards::all), test);
    FormulaAccess access;
    access.condition = static_cast<NodeId>(asked.nodes.size() - 1);
    access.index = static_cast<NodeId>(asked.nodes.size());
    asked.nodes.push_back(leaf(NodeKind::literal, 0, 0, 0).front());
    asked.nodes.back().first = access.index;
    const auto facts = prove_facts(asked.nodes, *launch_.scope);
    // A round without threads counts nothing: where checking takes long, it is counted.
    constexpr std::uint64_t most_warps = 1 << 22;
    walked_warps_ += warps_to_check(access, *launch_.scope, facts);
    if (walked_warps_ > most_warps) return Truth::sometimes;
    const LaunchExtent extent = check_launch(asked, access, *launch_.scope, facts, 0);
    return extent.active_threads == 0 ? Truth::never : Truth::sometimes;
}

}  // namespace coalprof
