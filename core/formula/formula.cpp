#include "core/formula/formula.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/launch_check.h"
#include "core/formula/lexer.h"
#include "core/formula/user_formula.h"
#include "core/pattern/builder.h"
#include "core/pattern/memory_settings.h"
#include "core/pattern/walk_limit.h"
#include "core/result/counter.h"

namespace coalprof {
namespace {

constexpr std::uint64_t most_threads = 1ull << 48;

class FormulaProgramBuilder {
 public:
    FormulaProgramBuilder(std::shared_ptr<const ParsedFormula> formula, const FormulaLaunch& launch)
        : launch_(launch), scope_(scope_of(*formula, launch)) {
        formula_ = with_thread_index(*formula);
        facts_ = prove_facts(formula_->nodes, scope_);
        program_.threads = scope_.threads;
        program_.block = scope_.block;
    }

    ThreadsWithin threads_within_arrays() const {
        ThreadsWithin least{scope_.threads};
        for (const FormulaAccess& access : formula_->accesses) {
            ThreadsWithin one =
                threads_within(*formula_, access, scope_, facts_, largest_index(width_of(access)));
            if (one.threads < least.threads) least = std::move(one);
        }
        if (!least.is_end) throw *least.left;
        return least;
    }

    Program build() {
        require_walkable();
        const OpParts& parts = parts_of(launch_.op);
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
                contiguous.index_end = contiguous.index_begin;
                add(AccessKind::store, free_name(), contiguous);
            }
        }
        require_shared_memory();
        program_.predicted_only = why_predicted_only();
        program_.useful_bytes =
            useful_global_bytes_ != 0 ? useful_global_bytes_ : useful_shared_bytes_;
        return std::move(program_);
    }

 private:
    std::uint32_t width_of(const FormulaAccess& access) const {
        return bytes_of(access.type.value_or(launch_.type));
    }
    std::int64_t largest_index(std::uint32_t width) const {
        return static_cast<std::int64_t>(launch_.largest_array_bytes / width) - 1;
    }
    std::string_view why_predicted_only() const {
        if (std::ranges::any_of(formula_->nodes,
                                [](const Node& node) { return node.kind == NodeKind::lookup; }))
            return "indices that are read from an array's contents are predicted only";
        if (std::ranges::any_of(program_.instructions,
                                [](const Instruction& one) { return one.width_bytes > 16; }))
            return "accesses of 32 bytes are predicted only";
        return {};
    }

    // Counted before the first warp is evaluated.
    void require_walkable() const {
        std::uint64_t warps = 0;
        for (const FormulaAccess& access : formula_->accesses)
            warps += warps_to_check(*formula_, access, scope_, facts_);
        if (warps > most_walked_warps)
            throw UsageError(too_many_to_walk("--size, --grid", warps), "choose fewer threads");
    }

    // No GPU gives a block more. The limit of each GPU is checked against the program later.
    void require_shared_memory() const {
        const std::uint64_t most_bytes = launch_.shared_bytes_per_block;
        std::uint64_t bytes = 0;
        std::string arrays;
        for (std::uint32_t k = 0; k < program_.arrays.size(); ++k) {
            if (space_of(program_, k) != Space::shared) continue;
            const Array& array = program_.arrays[k];
            bytes += array.bytes();  // at most 16 of them, of at most 2^40 bytes each
            arrays += fmt::format("{}{} {}", arrays.empty() ? "" : ", ", array.name, array.bytes());
        }
        if (bytes <= most_shared_bytes) return;
        const auto first =
            std::find_if(formula_->accesses.begin(), formula_->accesses.end(),
                         [](const FormulaAccess& access) { return access.space == Space::shared; });
        throw formula_error(
            formula_->text, first->begin,
            fmt::format("{} bytes of shared memory ({}), and a block has at most {}", bytes, arrays,
                        most_bytes),
            shared_memory_hint(most_bytes));
    }

    // The size in words of 4 bytes, as banks have them.
    std::string shared_memory_hint(std::uint64_t most_bytes) const {
        const std::uint64_t threads = std::max<std::uint64_t>(program_.block, 1);
        std::string hint = fmt::format(
            "each block has its own: with {} threads at most {} words of 4 bytes for each", threads,
            most_bytes / threads / 4);
        return is_shared_indexed_by_i()
                   ? hint + "; let the index count within the block, by tid rather than i"
                   : hint + "; a smaller --block leaves more";
    }

    bool is_shared_indexed_by_i() const {
        return std::ranges::any_of(formula_->accesses, [&](const FormulaAccess& access) {
            const auto first = formula_->nodes.begin() + formula_->nodes[access.index].first;
            return access.space == Space::shared &&
                   std::any_of(first, formula_->nodes.begin() + access.index + 1,
                               [](const Node& node) {
                                   return node.kind == NodeKind::variable &&
                                          node.value == static_cast<std::int64_t>(Variable::i);
                               });
        });
    }

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
        const std::uint32_t width = width_of(access);
        if (width > 16 && access.space == Space::shared)  // PTX: .v8.b32 is of global memory
            throw UsageError(
                fmt::format("{}: lanes of shared memory take at most 16 bytes", name_of(type)),
                "f32x4, u32x4 and f64x2 have 16");
        if (kind == AccessKind::atomic || kind == AccessKind::reduce)
            require_atomic_type(kind, type, access);
        const Checked& checked = checked_access(access, width);
        Instruction instruction;
        instruction.kind = kind;
        instruction.space = access.space;
        instruction.width_bytes = width;
        instruction.type = type;
        instruction.array = array_of(array, width, checked.extent.elements, access);
        instruction.formula = checked.formula;
        instruction.one_lane_sends = is_atomic(instruction) && access.space == Space::global &&
                                     type != ElementType::f32 && type != ElementType::f64 &&
                                     is_uniform(access.index);
        program_.instructions.push_back(std::move(instruction));
        (access.space == Space::shared ? useful_shared_bytes_ : useful_global_bytes_) +=
            checked.extent.active_threads * width;
    }

    // True if ptxas proves that the index is the same in all lanes of a warp: no part of it is a
    // number of the thread.
    bool is_uniform(NodeId index) const {
        const auto nodes = formula_->nodes.begin();
        return std::none_of(nodes + formula_->nodes[index].first, nodes + index + 1,
                            [](const Node& node) {
                                return node.kind == NodeKind::variable &&
                                       is_of_thread(static_cast<Variable>(node.value));
                            });
    }

    void require_atomic_type(AccessKind kind, ElementType type, const FormulaAccess& access) const {
        if (!is_atomic_type(type))
            throw formula_error(formula_->text, access.begin,
                                fmt::format("an {} adds {} only, not {}",
                                            kind == AccessKind::atomic ? "atomic" : "atomic reduce",
                                            atomic_types, name_of(type)),
                                "choose another --type, or write one: atomic.u32: a[...]");
        // ptxas turns other types into a loop of compare and swap, whose rounds depend on timing.
        if (access.space == Space::shared && type != ElementType::u32 && type != ElementType::s32)
            throw formula_error(
                formula_->text, access.begin,
                fmt::format("an atomic on shared memory adds u32 and s32 only, not {}, which is a "
                            "loop of several instructions there",
                            name_of(type)),
                fmt::format("write shared.{}.u32: {}[...]", name_of(kind), access.array));
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
        Checked checked{access.index, access.begin, width, {}, nullptr};
        checked.extent = check_launch(*formula_, access, scope_, facts_, largest_index(width));
        checked.formula = std::make_shared<UserFormula>(formula_, access, scope_, facts_);
        checked_.push_back(std::move(checked));
        return checked_.back();
    }

    // One name is one array.
    std::uint32_t array_of(const std::string& name, std::uint32_t width, std::uint64_t elements,
                           const FormulaAccess& access) {
        elements = std::max<std::uint64_t>(elements, 1);  // an array that no thread touches
        const auto known = std::ranges::find(program_.arrays, name, &Array::name);
        const auto number = static_cast<std::uint32_t>(known - program_.arrays.begin());
        if (known == program_.arrays.end()) {
            program_.arrays.push_back({name, width, elements});
            return number;
        }
        if (const Space other = space_of(program_, number); other != access.space)
            throw formula_error(
                formula_->text, access.begin,
                fmt::format("array '{}' lies in {} memory here and in {} memory before", name,
                            name_of(access.space), name_of(other)),
                "an array lies in one memory: give this one another name");
        if (known->element_bytes != width)
            throw formula_error(
                formula_->text, access.begin,
                fmt::format("array '{}' has elements of {} bytes here and of {} before", name,
                            width, known->element_bytes),
                "an array has one type: give this one another name");
        known->elements = std::max(known->elements, elements);
        return number;
    }

    const FormulaLaunch& launch_;
    Scope scope_;
    NodeId thread_index_ = 0;
    std::shared_ptr<const ParsedFormula> formula_;
    std::vector<NodeFacts> facts_;
    std::vector<Checked> checked_;
    Program program_;
    std::uint64_t useful_global_bytes_ = 0;
    std::uint64_t useful_shared_bytes_ = 0;  // counted where nothing else is touched
};

// The variables that count along the second or third dimension; empty if along neither.
enum class Owner : std::uint8_t { none, block, grid };
Owner owner_of_rows(const Node& node) {
    if (node.kind != NodeKind::variable) return Owner::none;
    switch (static_cast<Variable>(node.value)) {
        case Variable::tid_y:
        case Variable::tid_z:
        case Variable::bdim_y:
        case Variable::bdim_z: return Owner::block;
        case Variable::bid_y:
        case Variable::bid_z:
        case Variable::gdim_y:
        case Variable::gdim_z: return Owner::grid;
        default: return Owner::none;
    }
}

// A block or a grid without a shape, or with one number, has one dimension: tid.y would be 0
// everywhere, which its author does not want. --block 256x1 asks for one row.
class ShapeCheck {
 public:
    ShapeCheck(const ParsedFormula& formula, const LaunchShape& shape)
        : formula_(formula), shape_(shape) {}

    void require() const {
        for (const Node& node : formula_.nodes) {
            const Owner owner = owner_of_rows(node);
            if (!is_missing(owner)) continue;
            throw formula_error(
                formula_.text, node.at,
                fmt::format("the {} has one dimension, and '{}' is of a {} one",
                            owner == Owner::grid ? "grid" : "block", formula_.text_of(node),
                            is_of_layers(node) ? "third" : "second"),
                hint());
        }
    }

 private:
    bool is_missing(Owner owner) const {
        return (owner == Owner::grid &&
                (!shape_.grid || (shape_.grid->is_flat() && !shape_.grid->is_shape))) ||
               (owner == Owner::block && !shape_.block_shape);
    }
    bool is_of_layers(const Node& node) const { return formula_.text_of(node).back() == 'z'; }
    bool has_rows(Owner owner) const {
        return std::ranges::any_of(formula_.nodes,
                                   [&](const Node& node) { return owner_of_rows(node) == owner; });
    }
    bool has_layers(Owner owner) const {
        return std::ranges::any_of(formula_.nodes, [&](const Node& node) {
            return owner_of_rows(node) == owner && is_of_layers(node);
        });
    }
    // Names all missing options at once.
    std::string hint() const {
        std::string options;
        if (is_missing(Owner::block) && has_rows(Owner::block))
            options += has_layers(Owner::block) ? " --block 8x8x4" : " --block 16x16";
        std::string row;
        if (!options.empty()) row += fmt::format(" --block {}x1", shape_.block);
        if (is_missing(Owner::grid) && has_rows(Owner::grid))
            options += has_layers(Owner::grid) ? " --grid 8x8x8" : " --grid 64x64";
        if (is_missing(Owner::grid) && has_rows(Owner::grid) && shape_.grid)
            row += fmt::format(" --grid {}x1", shape_.grid->x);
        return fmt::format("say how many there are each way:{}{}{}", options,
                           row.empty() ? "" : "; of one row:", row);
    }

    const ParsedFormula& formula_;
    const LaunchShape& shape_;
};

// One for each declared array: numbers of arrays without contents are not read.
std::vector<LookupTable> tables_of(const std::vector<DeclaredArray>& arrays) {
    std::vector<LookupTable> tables;
    for (const DeclaredArray& array : arrays) {
        LookupTable& table = tables.emplace_back();
        table.name = array.name;
        table.values = array.values;
        if (!array.values || array.values->empty()) continue;
        const auto [low, high] = std::ranges::minmax(*array.values);
        table.lowest = low;
        table.highest = high;
    }
    return tables;
}

}  // namespace

Scope scope_of(const ParsedFormula& formula, const FormulaLaunch& launch) {
    const LaunchShape shape = settled_shape(launch.shape, launch.size_type());
    if (shape.block == 0 || shape.block > most_block_threads)
        throw UsageError(fmt::format("--block {}: a block has 1 to {} threads", shape.block,
                                     most_block_threads));
    if (shape.block_shape && shape.block_shape->count() != shape.block)
        throw UsageError(fmt::format("--block {}: {} threads, and not {}",
                                     text_of(*shape.block_shape), shape.block_shape->count(),
                                     shape.block));
    if (const std::size_t nodes = formula.nodes.size();
        !formula.is_of_catalog && nodes * shape.per_thread > max_formula_code)
        throw UsageError(
            fmt::format("--per-thread {}: a formula of {} numbers, names and operators takes up to "
                        "{} elements a thread, lest its kernel takes long to compile",
                        shape.per_thread, nodes, max_formula_code / nodes));
    Scope scope;
    scope.threads = shape.size_bytes / bytes_of(launch.size_type());
    if (scope.threads == 0)
        throw UsageError(fmt::format("--size {}: smaller than one {} of {} bytes",
                                     size_as_typed(shape), name_of(launch.size_type()),
                                     bytes_of(launch.size_type())));
    if (scope.threads > most_threads)
        throw UsageError(fmt::format("--size {}: more than 2^48 threads; choose a smaller size",
                                     size_as_typed(shape)));
    ShapeCheck(formula, shape).require();
    scope.block = shape.block;
    scope.block_shape = shape.block_shape.value_or(Dimensions{shape.block});
    scope.grid_shape = shape.grid.value_or(Dimensions{scope.blocks()});
    scope.values = launch.values;
    scope.tables = tables_of(formula.arrays);
    if (scope.values.size() != formula.parameters.size())
        throw Error("the formula's parameters and their values do not match", ExitCode::internal);
    return scope;
}

ThreadsWithin threads_within_arrays(const std::shared_ptr<const ParsedFormula>& formula,
                                    const FormulaLaunch& launch) {
    return FormulaProgramBuilder(formula, launch).threads_within_arrays();
}

Program make_formula_program(const std::shared_ptr<const ParsedFormula>& formula,
                             const FormulaLaunch& launch) {
    return FormulaProgramBuilder(formula, launch).build();
}

}  // namespace coalprof
