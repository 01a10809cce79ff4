#include "core/formula/formula.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/complaint.h"
#include "core/formula/launch_check.h"
#include "core/formula/user_formula.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::uint64_t most_threads = 1ull << 48;
constexpr std::uint32_t most_block_threads = 1024;

bool is_atomic_type(ElementType type) {
    return type == ElementType::u32 || type == ElementType::u64 || type == ElementType::f32 ||
           type == ElementType::f64;
}

// The instructions that one access without a prefix becomes; patterned ones use its index.
struct OpParts {
    std::vector<AccessKind> patterned;  // on the access's own array
    bool second_load = false;           // a patterned load of a second array
    bool contiguous_store = false;
};
OpParts parts_of(Op op) {
    switch (op) {
        case Op::load:
            return {{AccessKind::load}};
        case Op::store:
            return {{AccessKind::store}};
        case Op::rmw:
            return {{AccessKind::load, AccessKind::store}};
        case Op::copy:
            return {{AccessKind::load}, false, true};
        case Op::add:
            return {{AccessKind::load}, true, true};
        case Op::atomic:
            return {{AccessKind::atomic}};
        case Op::reduce:
            return {{AccessKind::reduce}};
    }
    return {};
}

class FormulaProgramBuilder {
 public:
    FormulaProgramBuilder(std::shared_ptr<const ParsedFormula> formula, const FormulaLaunch& launch)
        : launch_(launch), scope_(scope_of(*formula, launch)) {
        formula_ = with_thread_index(*formula);
        facts_ = prove_facts(formula_->nodes, scope_);
        program_.threads = scope_.threads;
        program_.block = scope_.block;
    }

    Program build() {
        const OpParts parts = parts_of(launch_.op);
        for (const FormulaAccess& access : formula_->accesses) {
            if (access.kind) {
                add(*access.kind, access.array, access);
                continue;
            }
            if (parts.contiguous_store) require_single_access(access);
            for (const AccessKind kind : parts.patterned) add(kind, access.array, access);
            if (parts.second_load) add(AccessKind::load, free_name(), access);
            if (parts.contiguous_store) {
                FormulaAccess contiguous = access;
                contiguous.index = thread_index_;
                add(AccessKind::store, free_name(), contiguous);
            }
        }
        return std::move(program_);
    }

 private:
    // The formula with one more node, `i`: the index of the contiguous store of copy and add.
    std::shared_ptr<const ParsedFormula> with_thread_index(const ParsedFormula& formula) {
        auto extended = std::make_shared<ParsedFormula>(formula);
        Node node;
        node.kind = NodeKind::variable;
        node.value = static_cast<std::int64_t>(Variable::i);
        thread_index_ = static_cast<NodeId>(extended->nodes.size());
        node.first = thread_index_;
        extended->nodes.push_back(node);
        return extended;
    }

    void require_single_access(const FormulaAccess& access) const {
        if (formula_->accesses.size() == 1) return;
        throw formula_error(
            formula_->text, access.begin,
            fmt::format("--op {} adds a contiguous store to one index, and here are several "
                        "instructions",
                        name_of(launch_.op)),
            "say which is which: load: a[...]; store: b[...]");
    }

    std::string free_name() const {
        for (char letter = 'b';; ++letter) {
            const std::string name(1, letter);
            const bool taken = std::any_of(program_.arrays.begin(), program_.arrays.end(),
                                           [&](const Array& array) { return array.name == name; });
            if (!taken) return name;
        }
    }

    void add(AccessKind kind, const std::string& array, const FormulaAccess& access) {
        const ElementType type = access.type.value_or(launch_.type);
        const std::uint32_t width = bytes_of(type);
        if ((kind == AccessKind::atomic || kind == AccessKind::reduce) && !is_atomic_type(type))
            throw formula_error(
                formula_->text, access.begin,
                fmt::format("an {} works on u32, u64, f32 and f64 only, not on {}",
                            kind == AccessKind::atomic ? "atomic" : "atomic reduce", name_of(type)),
                "choose another --type, or write one: atomic.u32: a[...]");
        const Checked& checked = checked_access(access, width);
        Instruction instruction;
        instruction.kind = kind;
        instruction.width_bytes = width;
        instruction.type = type;
        instruction.array = array_of(array, width, checked.extent.elements, access);
        instruction.formula = checked.formula;
        program_.instructions.push_back(std::move(instruction));
        program_.useful_bytes += checked.extent.active_threads * width;
    }

    // An access is checked once, though an op like rmw makes several instructions of it.
    struct Checked {
        NodeId index = 0;
        std::uint16_t begin = 0;
        std::uint32_t width = 0;
        LaunchExtent extent;
        std::shared_ptr<const UserFormula> formula;
    };
    const Checked& checked_access(const FormulaAccess& access, std::uint32_t width) {
        for (const Checked& known : checked_)
            if (known.index == access.index && known.begin == access.begin && known.width == width)
                return known;
        const auto largest = static_cast<std::int64_t>(largest_formula_array_bytes / width) - 1;
        Checked checked{access.index, access.begin, width, {}, nullptr};
        checked.extent = check_launch(*formula_, access, scope_, facts_, largest);
        checked.formula = std::make_shared<UserFormula>(formula_, access, scope_, facts_);
        checked_.push_back(std::move(checked));
        return checked_.back();
    }

    std::uint32_t array_of(const std::string& name, std::uint32_t width, std::uint64_t elements,
                           const FormulaAccess& access) {
        elements = std::max<std::uint64_t>(elements, 1);  // an array that no thread touches
        for (std::size_t k = 0; k < program_.arrays.size(); ++k) {
            Array& array = program_.arrays[k];
            if (array.name != name) continue;
            if (array.element_bytes != width)
                throw formula_error(
                    formula_->text, access.begin,
                    fmt::format("array '{}' has elements of {} bytes here and of {} before", name,
                                width, array.element_bytes),
                    "an array has one type: give this one another name");
            array.elements = std::max(array.elements, elements);
            return static_cast<std::uint32_t>(k);
        }
        program_.arrays.push_back({name, width, elements});
        return static_cast<std::uint32_t>(program_.arrays.size() - 1);
    }

    const FormulaLaunch& launch_;
    Scope scope_;
    NodeId thread_index_ = 0;
    std::shared_ptr<const ParsedFormula> formula_;
    std::vector<NodeFacts> facts_;
    std::vector<Checked> checked_;
    Program program_;
};

// In a grid of one dimension bid.y is 0 everywhere, which is not what its author means.
void require_no_grid_rows(const ParsedFormula& formula) {
    for (const Node& node : formula.nodes) {
        const auto is = [&](Variable variable) {
            return node.kind == NodeKind::variable &&
                   node.value == static_cast<std::int64_t>(variable);
        };
        if (!is(Variable::bid_y) && !is(Variable::gdim_y)) continue;
        std::string along_x(formula.text_of(node));
        along_x.back() = 'x';
        throw formula_error(
            formula.text, node.at,
            fmt::format("the grid has one dimension, and '{}' is of a second one",
                        formula.text_of(node)),
            is(Variable::bid_y)
                ? fmt::format("write {0} / COLUMNS for the row and {0} % COLUMNS for the column, "
                              "COLUMNS being the blocks of a row",
                              along_x)
                : fmt::format("write {} / COLUMNS for the rows, COLUMNS being the blocks of a row",
                              along_x));
    }
}

}  // namespace

Scope scope_of(const ParsedFormula& formula, const FormulaLaunch& launch) {
    const LaunchShape& shape = launch.shape;
    if (shape.block == 0 || shape.block > most_block_threads)
        throw UsageError(fmt::format("--block {}: a block has 1 to {} threads", shape.block,
                                     most_block_threads));
    if (launch.block_x != 0 && shape.block % launch.block_x != 0)
        throw UsageError(fmt::format("--block: {} threads are no whole rows of {}", shape.block,
                                     launch.block_x));
    if (const std::size_t nodes = formula.nodes.size(); nodes * shape.per_thread > max_formula_code)
        throw UsageError(
            fmt::format("--per-thread {}: a formula of {} numbers, names and operators takes up to "
                        "{} elements a thread, lest its kernel takes long to compile",
                        shape.per_thread, nodes, max_formula_code / nodes));
    Scope scope;
    scope.threads = shape.size_bytes / bytes_of(launch.type);
    if (scope.threads == 0)
        throw UsageError(fmt::format("--size {}: smaller than one {} of {} bytes",
                                     size_as_typed(shape), name_of(launch.type),
                                     bytes_of(launch.type)));
    if (scope.threads > most_threads)
        throw UsageError(fmt::format("--size {}: more than 2^48 threads; choose a smaller size",
                                     size_as_typed(shape)));
    if (launch.grid_x == 0) require_no_grid_rows(formula);
    scope.block = shape.block;
    scope.block_x = launch.block_x != 0 ? launch.block_x : shape.block;
    scope.grid_x = launch.grid_x != 0 ? std::min(launch.grid_x, most_threads) : scope.blocks();
    scope.values = launch.values;
    if (scope.values.size() != formula.parameters.size())
        throw Error("the formula's parameters and their values do not match", ExitCode::internal);
    return scope;
}

Program make_formula_program(const std::shared_ptr<const ParsedFormula>& formula,
                             const FormulaLaunch& launch) {
    return FormulaProgramBuilder(formula, launch).build();
}

BlockShape parse_block(std::string_view text, std::string_view option) {
    const auto fail = [&](std::size_t at, const char* expected) {
        return UsageError(fmt::format("{} {}: {}", option, shown(text), expected),
                          std::string(text), at,
                          "blocks look like 256, or 32x8 for two dimensions");
    };
    const ReadNumber width = read_integer(text);
    if (width.status != NumberStatus::ok || width.value == 0 || width.value > most_block_threads)
        throw fail(0, "a block has 1 to 1024 threads");
    BlockShape block{static_cast<std::uint32_t>(width.value),
                     static_cast<std::uint32_t>(width.value)};
    if (width.length == text.size()) return block;
    if (text[width.length] != 'x') throw fail(width.length, "expected 'x' and the height");
    const std::size_t at = width.length + 1;
    const ReadNumber height = read_integer(text.substr(at));
    if (height.status != NumberStatus::ok || at + height.length != text.size())
        throw fail(at, "expected the height behind 'x'");
    if (height.value == 0 || height.value > most_block_threads / width.value)
        throw fail(0, "a block has 1 to 1024 threads");
    block.threads *= static_cast<std::uint32_t>(height.value);
    return block;
}

}  // namespace coalprof
