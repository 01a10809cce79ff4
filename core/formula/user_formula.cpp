#include "core/formula/user_formula.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "core/formula/launch_check.h"
#include "core/formula/operators.h"
#include "core/formula/ranges.h"
#include "core/pattern/formulas.h"

namespace coalprof {
namespace {

// Longer periods are kept as they were proven: walking one of them then costs the model about as
// much as a shorter one would cost to prove.
constexpr std::uint64_t longest_searched = 1u << 18;
// Steps of lanes that one search may take: about a millisecond.
constexpr std::uint64_t work_budget = 1u << 21;

class PeriodSearch {
 public:
    PeriodSearch(const LaneProgram& program, Sequence proven)
        : program_(program), threads_(program.scope().threads), proven_(proven) {}

    Period shortest() {
        Sequence best = proven_;
        if (best.threads <= longest_searched) shorten(best);
        Period period{best.threads, static_cast<std::uint64_t>(best.advance)};
        if (best.threads > warp_lanes && best.threads <= longest_searched)
            find_inner(best.threads, period);
        return period;
    }

 private:
    // Divides the period by its prime factors as long as the access repeats that soon.
    void shorten(Sequence& best) {
        std::uint64_t left = best.threads;  // threads, divided by the factors already tried
        for (std::uint64_t prime = 2; left > 1; ++prime) {
            if (prime * prime > left) prime = left;
            if (left % prime != 0) continue;
            while (best.threads % prime == 0) {
                const std::uint64_t shorter = best.threads / prime;
                const auto advance = advance_over(shorter, best.threads);
                if (!advance) break;
                best = {shorter, *advance};
            }
            while (left % prime == 0) left /= prime;
        }
    }

    void find_inner(std::uint64_t outer, Period& period) {
        for (std::uint64_t inner = 1; inner <= outer / 2; ++inner) {
            if (outer % inner != 0) continue;
            const auto advance = advance_over(inner, outer - inner);
            if (!advance) continue;
            period.inner_threads = inner;
            period.inner_advance = static_cast<std::uint64_t>(*advance);
            return;
        }
    }

    // The a with element(i + step) == element(i) + a for the first `count` threads i, idle lanes
    // matching idle lanes; nothing if there is no such number.
    std::optional<std::int64_t> advance_over(std::uint64_t step, std::uint64_t count) {
        count = std::min(count, threads_ - step);
        std::optional<std::uint64_t> advance;
        std::array<std::uint64_t, warp_lanes> here;
        std::array<std::uint64_t, warp_lanes> there;
        for (std::uint64_t first = 0; first < count; first += warp_lanes) {
            const std::uint64_t work = 2 * warp_lanes * (1 + program_.step_count());
            if (budget_ < work) return std::nullopt;
            budget_ -= work;
            program_.run(first, here.data());
            program_.run(first + step, there.data());
            const std::uint64_t lanes = std::min<std::uint64_t>(warp_lanes, count - first);
            for (std::uint64_t k = 0; k < lanes; ++k) {
                const bool is_idle = here[k] == idle_lane;
                if (is_idle != (there[k] == idle_lane)) return std::nullopt;
                if (is_idle) continue;
                if (!advance) advance = there[k] - here[k];
                if (there[k] - here[k] != *advance) return std::nullopt;
            }
        }
        return static_cast<std::int64_t>(advance.value_or(0));
    }

    const LaneProgram& program_;
    std::uint64_t threads_;
    Sequence proven_;
    std::uint64_t budget_ = work_budget;
};

Period period_with(const Sequence& inner, const Sequence& outer) {
    const auto periods = static_cast<std::int64_t>(outer.threads / inner.threads);
    const Period within{inner.threads, static_cast<std::uint64_t>(inner.advance)};
    std::int64_t over_all = 0;
    if (!__builtin_mul_overflow(inner.advance, periods, &over_all) && over_all == outer.advance)
        return within;
    return {outer.threads, static_cast<std::uint64_t>(outer.advance), within.threads,
            within.advance};
}

// None where the access is not proven to repeat, or repeats only as the launch ends. `program` is
// the access's, without checks. An index that goes down from period to period has an advance that
// is negative modulo 2^64.
std::optional<Period> find_period(const FormulaAccess& access, const std::vector<NodeFacts>& facts,
                                  const LaneProgram& program) {
    const std::uint64_t threads = program.scope().threads;
    std::optional<Sequence> sequence = facts[access.index].sequence;
    if (!sequence) return std::nullopt;
    if (access.condition && truth_of(facts[*access.condition].range) == Truth::sometimes) {
        const auto& condition = facts[*access.condition].sequence;
        if (!condition || condition->advance != 0) return std::nullopt;
        const auto period = common_multiple(sequence->threads, condition->threads, threads);
        if (!period) return std::nullopt;
        const auto times = static_cast<std::int64_t>(*period / sequence->threads);
        std::int64_t advance = 0;
        if (__builtin_mul_overflow(sequence->advance, times, &advance)) return std::nullopt;
        sequence = Sequence{*period, advance};
    }
    if (sequence->threads >= threads) return std::nullopt;
    if (const auto inner = facts[access.index].inner; inner && !access.condition)
        return period_with(*inner, *sequence);
    return PeriodSearch(program, *sequence).shortest();
}

// True of numbers that 32 bits hold.
bool is_word(std::int64_t value) {
    return value >= 0 && value <= std::numeric_limits<unsigned>::max();
}

// What a value is made of, wherever the launch has other numbers.
enum class Origins : std::uint8_t { launch, parameters, threads };

std::vector<Origins> origins_of(const std::vector<Node>& nodes, const Scope& scope) {
    const auto moves = [&](const Node& node) {
        return part_of(static_cast<Variable>(node.value), scope).counter !=
               VariablePart::Counter::none;
    };
    std::vector<Origins> origins;
    for (const Node& node : nodes) {
        Origins all = Origins::launch;
        if (node.kind == NodeKind::parameter) all = Origins::parameters;
        if (node.kind == NodeKind::lookup || (node.kind == NodeKind::variable && moves(node)))
            all = Origins::threads;
        for (std::size_t k = 0; k < child_count(node.kind); ++k)
            all = std::max(all, origins[node.children[k]]);
        origins.push_back(all);
    }
    return origins;
}

bool is_division(const Node& node) {
    return node.kind == NodeKind::divide || node.kind == NodeKind::remainder;
}

// A pattern's condition that holds everywhere, as of rows of whole warps, is not its kernel's.
FormulaAccess without_needless_condition(const ParsedFormula& formula, FormulaAccess access,
                                         const std::vector<NodeFacts>& facts) {
    if (formula.is_of_catalog && access.condition && !facts[*access.condition].subtree_can_fail &&
        truth_of(facts[*access.condition].range) == Truth::always)
        access.condition.reset();
    return access;
}

}  // namespace

UserFormula::UserFormula(std::shared_ptr<const ParsedFormula> formula, const FormulaAccess& access,
                         const Scope& scope, const std::vector<NodeFacts>& facts)
    : formula_(std::move(formula)),
      access_(without_needless_condition(*formula_, access, facts)),
      is_short_(short_divisions(formula_->nodes, facts)),
      program_(formula_->nodes, facts, scope, access_.index, access_.condition, Checking::off,
               std::numeric_limits<std::int64_t>::max()),
      period_(find_period(access_, facts, program_)) {}

void UserFormula::evaluate(std::uint64_t first, std::uint32_t count,
                           std::uint64_t* elements) const {
    if (count == warp_lanes) {
        program_.run(first, elements);
        return;
    }
    std::array<std::uint64_t, warp_lanes> all;
    program_.run(first, all.data());
    std::copy_n(all.begin(), count, elements);
}

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

template <typename HashAt>
std::uint64_t hash_of(const Node& node, HashAt hash_at) {
    std::uint64_t hash =
        mixed(static_cast<std::uint64_t>(node.kind) + 1, static_cast<std::uint64_t>(node.value));
    for (std::size_t k = 0; k < child_count(node.kind); ++k)
        hash = mixed(hash, hash_at(node.children[k]));
    return hash;
}

}  // namespace

std::optional<std::int64_t> UserFormula::number_of(const Node& node) const {
    if (node.kind == NodeKind::literal) return node.value;
    if (node.kind == NodeKind::parameter)
        return scope().values[static_cast<std::size_t>(node.value)];
    if (node.kind != NodeKind::variable) return std::nullopt;
    const ValueRange range = range_of(static_cast<Variable>(node.value), scope());
    return range.is_single() ? std::optional(range.low) : std::nullopt;
}

// Children stand before their parents.
Computed UserFormula::computed(ExpressionsSeen& seen) const {
    Computed sum;
    const std::vector<Origins> origins = origins_of(formula_->nodes, scope());
    // Kernels get what follows from parameters as numbers, by which they divide as they stand.
    const auto divides_at_length = [&](const Node& node) {
        if (!is_division(node)) return false;
        if (origins[node.children[1]] != Origins::launch) return true;
        const auto number = number_of(formula_->nodes[node.children[1]]);
        return !number || *number <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*number));
    };
    const auto visit = [&](NodeId root, bool is_address) {
        const NodeId first = formula_->nodes[root].first;
        std::vector<std::uint64_t> hashes;
        const auto hash_at = [&](NodeId id) { return hashes[std::size_t{id} - first]; };
        for (std::size_t id = first; id <= root; ++id) {
            const Node& node = formula_->nodes[id];
            hashes.push_back(hash_of(node, hash_at));
            if (origins[id] != Origins::threads) continue;
            sum.hashes += node.kind == NodeKind::hash;
            sum.divides |=
                is_division(node) && formula_->nodes[node.children[1]].kind != NodeKind::literal;
            if (node.kind <= NodeKind::variable || node.kind == NodeKind::hash) continue;
            if (is_address && id == root && adds_a_number(node)) continue;
            sum.operators += seen.insert(hashes.back()).second;
            if (divides_at_length(node))
                sum.divisions +=
                    seen.insert(~mixed(hash_at(node.children[0]), hash_at(node.children[1])))
                        .second;
        }
        return hashes.back();
    };
    visit(access_.index, true);
    if (access_.condition)
        sum.conditions = seen.insert(mixed(visit(*access_.condition, false), 1)).second;
    return sum;
}

// An access's instruction includes the addition to the address.
bool UserFormula::adds_a_number(const Node& node) const {
    return (node.kind == NodeKind::add || node.kind == NodeKind::subtract) &&
           number_of(formula_->nodes[node.children[1]]);
}

bool UserFormula::is_same_as(const CustomFormula& custom) const {
    const auto* other = dynamic_cast<const UserFormula*>(&custom);
    if (other == nullptr || access_.condition.has_value() != other->access_.condition.has_value())
        return false;
    const auto is_same_root = [&](NodeId own, NodeId others) {
        return is_same_subtree(formula_->nodes, own, other->formula_->nodes, others);
    };
    return is_same_root(access_.index, other->access_.index) &&
           (!access_.condition || is_same_root(*access_.condition, *other->access_.condition)) &&
           scope() == other->scope();
}

// A condition is a choice, too, but not one of the index.
bool UserFormula::has_choices() const {
    const auto chooses = [&](NodeId root) {
        const auto& nodes = formula_->nodes;
        return std::any_of(nodes.begin() + nodes[root].first, nodes.begin() + root + 1,
                           [](const Node& node) { return is_lazy(node.kind); });
    };
    return chooses(access_.index) || (access_.condition && chooses(*access_.condition));
}

std::string UserFormula::text() const {
    if (formula_->is_of_catalog) return {};
    return formula_->text.substr(access_.begin, std::size_t{access_.end} - access_.begin);
}

std::string UserFormula::index_text() const {
    return access_.is_written_whole ? std::string() : written();
}
std::string UserFormula::access_text() const {
    return access_.is_written_whole ? written() : std::string();
}

std::string UserFormula::written() const {
    if (formula_->is_of_catalog) return {};
    const auto part = [&](std::size_t begin, std::size_t end) {
        return formula_->text.substr(begin, end - begin);
    };
    const bool is_written = access_.index_begin != access_.index_end;
    std::string text = is_written ? part(access_.index_begin, access_.index_end) : "i";
    if (access_.condition_begin != 0)
        text += ' ' + part(access_.condition_begin, access_.condition_end);
    return text;
}

namespace {

std::string literal(std::int64_t value) {
    // C++ has no negative literals, so the lowest number is written as a difference.
    if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
    return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
}

constexpr std::size_t most_numbers = 8;  // a functor's limit; kernel parameters take 4 KiB

// One statement a node, in the order of the nodes; operands that a lazy operator may leave out are
// in the braces of an `if`. No nesting of parentheses: the compiler sees flat text, whatever the
// tree.
class FunctorWriter {
 public:
    FunctorWriter(const std::vector<Node>& nodes, const Scope& scope,
                  const std::vector<bool>& is_short)
        : nodes_(nodes),
          scope_(scope),
          is_short_(is_short),
          origins_(origins_of(nodes, scope)),
          parent_(nodes.size(), no_parent) {
        for (std::size_t id = 0; id < nodes.size(); ++id)
            for (std::size_t k = 0; k < child_count(nodes[id].kind); ++k)
                parent_[nodes[id].children[k]] = static_cast<NodeId>(id);
    }

    Functor write(const FormulaAccess& access, const std::string& type_name) {
        ++indent_;
        // Not constexpr: expressions that no thread evaluates may divide by 0, which compilers
        // refuse there.
        line("Index operator()(Index thread) const {{");
        ++indent_;
        if (access.condition) {
            write_subtree(*access.condition);
            line("if (v{} == 0) return idle_lane;", *access.condition);
        }
        write_subtree(access.index);
        line("return static_cast<Index>(v{});", access.index);
        --indent_;
        line("}}");
        if (numbers_.empty()) numbers_.push_back(0);  // no argument of a kernel is empty
        return {fmt::format("struct {} {{\n    Index number[{}];\n{}}};\n", type_name,
                            numbers_.size(), out_),
                std::move(numbers_)};
    }

 private:
    static constexpr NodeId no_parent = ~NodeId{0};

    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        out_.append(indent_ * 4, ' ');
        out_ += fmt::format(format, std::forward<Arguments>(arguments)...);
        out_ += '\n';
    }

    void write_subtree(NodeId root) {
        for (NodeId id = nodes_[root].first; id <= root; ++id) {
            if (id != root && is_uniform(parent_[id])) continue;  // a part of one number
            if (is_uniform(id) || !is_lazy(nodes_[id].kind)) write_value(id);
            if (id != root) write_around(id);
        }
    }

    bool is_uniform(NodeId id) const { return origins_[id] != Origins::threads; }

    // A value that is the same in all threads. None of them needs one that cannot be computed.
    std::string uniform(NodeId id) {
        const std::int64_t value = evaluate_thread(nodes_, id, scope_, 0).value;
        const auto slot = slot_of(id, static_cast<Index>(value), Slot::value);
        if (!slot) return literal(value);
        // With fewer bits the compiler multiplies and divides in fewer instructions.
        return fmt::format("static_cast<{}>(number[{}])", is_word(value) ? "unsigned" : "long long",
                           *slot);
    }
    // The number that holds a value of the launch, one for equal expressions; none for literals and
    // where there are too many.
    enum class Slot : std::uint8_t { value, reciprocal };
    std::optional<std::size_t> slot_of(NodeId id, Index number, Slot kind) {
        if (origins_[id] == Origins::launch) return std::nullopt;
        const auto found = std::ranges::find_if(held_, [&](const auto& held) {
            return held.second == kind && is_same_subtree(nodes_, held.first, nodes_, id);
        });
        if (found != held_.end()) return static_cast<std::size_t>(found - held_.begin());
        if (numbers_.size() == most_numbers) return std::nullopt;
        numbers_.push_back(number);
        held_.emplace_back(id, kind);
        return numbers_.size() - 1;
    }

    // Of 32 bits: by a number of the launch it is a multiplication, where a division takes twenty
    // instructions.
    std::string short_division(NodeId id) {
        const Node& node = nodes_[id];
        const std::string dividend = fmt::format("static_cast<unsigned>(v{})", node.children[0]);
        const std::string divisor = fmt::format("static_cast<unsigned>(v{})", node.children[1]);
        const bool is_quotient = node.kind == NodeKind::divide;
        std::optional<std::size_t> slot;
        if (is_uniform(node.children[1])) {
            const auto number =
                static_cast<Index>(evaluate_thread(nodes_, node.children[1], scope_, 0).value);
            if (number != 0) slot = slot_of(node.children[1], ~Index{0} / number, Slot::reciprocal);
        }
        if (!slot) return fmt::format("{} {} {}", dividend, is_quotient ? '/' : '%', divisor);
        const std::string quotient =
            fmt::format("Reciprocal::quotient({}, number[{}])", dividend, *slot);
        return is_quotient ? quotient : fmt::format("{} - {} * {}", dividend, quotient, divisor);
    }

    // Opens and closes the braces of the lazy operator that has the node as an operand.
    void write_around(NodeId id) {
        const NodeId parent = parent_[id];
        const Node& node = nodes_[parent];
        if (!is_lazy(node.kind)) return;
        const bool is_conditional = node.kind == NodeKind::conditional;
        const bool is_or = node.kind == NodeKind::logical_or;
        if (id == node.children[0]) {
            line("long long v{} = {};", parent, is_or ? 1 : 0);
            line("if (v{} {} 0) {{", id, is_or ? "==" : "!=");
            ++indent_;
            return;
        }
        line("v{} = v{}{};", parent, id, is_conditional ? "" : " != 0");
        --indent_;
        if (is_conditional && id == node.children[1]) {
            line("}} else {{");
            ++indent_;
        } else {
            line("}}");
        }
    }

    void write_value(NodeId id) { line("const long long v{} = {};", id, expression(id)); }

    std::string expression(NodeId id) {
        if (is_uniform(id)) return uniform(id);
        if (nodes_[id].kind == NodeKind::variable)
            return variable(static_cast<Variable>(nodes_[id].value));
        return operation(id);
    }

    std::string operation(NodeId id) {
        const Node& node = nodes_[id];
        const auto operand = [&](std::size_t k) { return fmt::format("v{}", node.children[k]); };
        // For display only: kernels have no tables, so such formulas are predicted only.
        if (node.kind == NodeKind::lookup)
            return fmt::format("table{}[{}]", node.value, operand(0));
        const OperatorInfo& info =
            *std::ranges::find(operator_table, node.kind, &OperatorInfo::kind);
        if (!info.source.empty())
            return fmt::format(fmt::runtime(info.source), operand(0), operand(1), operand(2));
        if (child_count(node.kind) == 1) return fmt::format("{}{}", info.name, operand(0));
        if (is_short_[id]) return short_division(id);
        return fmt::format("{} {} {}", operand(0), info.name, operand(1));
    }

    // Unsigned arithmetic on numbers known here: the compiler turns it into shifts and masks, or
    // multiplications, as it does for a block size known at compile time.
    std::string variable(Variable variable) const {
        using Counter = VariablePart::Counter;
        const VariablePart part = part_of(variable, scope_);
        const bool is_short = scope_.threads - 1 <= std::numeric_limits<unsigned>::max();
        std::string value = is_short ? "static_cast<unsigned>(thread)" : "thread";
        const auto then = [&](char sign, std::uint64_t number) {
            value += fmt::format(" {} {}{}", sign, number, is_short ? "u" : "ull");
        };
        if (part.counter == Counter::thread_in_block) then('%', scope_.block);
        if (part.counter == Counter::block) then('/', scope_.block);
        if (part.divisor != 1) then('/', part.divisor);
        if (part.modulus) then('%', *part.modulus);
        return fmt::format("static_cast<long long>({})", value);
    }

    const std::vector<Node>& nodes_;
    const Scope& scope_;
    const std::vector<bool>& is_short_;
    std::vector<Origins> origins_;
    std::vector<NodeId> parent_;
    std::vector<Index> numbers_;
    std::vector<std::pair<NodeId, Slot>> held_;  // by number
    std::string out_;
    std::size_t indent_ = 0;
};

}  // namespace

Functor UserFormula::functor(const std::string& type_name) const {
    return emit_functor(*formula_, access_, scope(), is_short_, type_name);
}

std::vector<bool> short_divisions(const std::vector<Node>& nodes,
                                  const std::vector<NodeFacts>& facts) {
    std::vector<bool> are_short;
    for (const Node& node : nodes) {
        const auto is_word_of = [&](NodeId id) {
            return is_word(facts[id].range.low) && is_word(facts[id].range.high);
        };
        are_short.push_back(is_division(node) && is_word_of(node.children[0]) &&
                            is_word_of(node.children[1]));
    }
    return are_short;
}

Functor emit_functor(const ParsedFormula& formula, const FormulaAccess& access, const Scope& scope,
                     const std::vector<bool>& is_short, const std::string& type_name) {
    return FunctorWriter(formula.nodes, scope, is_short).write(access, type_name);
}

}  // namespace coalprof
