#include "core/pattern/builder.h"

#include <fmt/core.h>

#include <array>

#include "core/text/error.h"

namespace coalprof {
namespace {

constexpr std::uint32_t pointer_bytes = 8;

// No GPU of today addresses more than 2^49 bytes (its virtual addresses); the model may go beyond
// what fits a board, but not to where products of sizes overflow.
constexpr std::uint64_t largest_array_bytes = 1ull << 56;

void require_atomic_type(const Plan& plan) {
    if (is_atomic_type(plan.type)) return;
    throw UsageError(fmt::format("--type {}: --op {} adds {} only", name_of(plan.type),
                                 name_of(plan.op), atomic_types));
}

void require_op_of_space(const Plan& plan, Space space) {
    if (space == Space::global || plan.op == Op::load) return;
    if (space != Space::constant && (plan.op == Op::store || plan.op == Op::rmw)) return;
    throw UsageError(fmt::format("--op {}: {} takes {}", name_of(plan.op), plan.pattern,
                                 space == Space::constant ? "load only" : "load, store and rmw"),
                     space == Space::shared && (plan.op == Op::atomic || plan.op == Op::reduce)
                         ? fmt::format("as a formula: coalprof formula 'shared.{}.u32: "
                                       "tile[hash(i, 1024)]'",
                                       name_of(plan.op))
                         : "");
}

class ProgramBuilder {
 public:
    ProgramBuilder(const Plan& plan, const PatternedAccess& access)
        : access_(access), width_bytes_(bytes_of(plan.type)) {
        program_.block = plan.shape.block;
        program_.threads = access.threads;
    }

    // The element array `name` at the pattern's place; through an index table where the pattern has
    // one.
    std::uint32_t patterned_array(const std::string& name) {
        if (access_.table) {
            const std::uint32_t table =
                add_array("table_" + name, pointer_bytes, access_.table_elements);
            program_.arrays[table].rows_of = table + 1;  // the array added next
            program_.instructions.push_back(
                {AccessKind::load, Space::global, pointer_bytes, table, *access_.table});
        }
        return add_array(name, width_bytes_, access_.elements);
    }
    std::uint32_t contiguous_array(const std::string& name) {
        return add_array(name, width_bytes_, access_.active_threads);
    }
    void patterned(AccessKind kind, std::uint32_t array) { add(kind, array, access_.formula); }
    void contiguous(AccessKind kind, std::uint32_t array) { add(kind, array, access_.contiguous); }
    Program finish() { return std::move(program_); }

 private:
    std::uint32_t add_array(std::string name, std::uint32_t element_bytes, std::uint64_t elements) {
        if (checked_product(elements, element_bytes, "the array") > largest_array_bytes)
            throw UsageError(
                fmt::format("the array would take {} bytes; choose a smaller --size or parameter",
                            elements * element_bytes));
        program_.arrays.push_back({std::move(name), element_bytes, elements});
        return static_cast<std::uint32_t>(program_.arrays.size() - 1);
    }
    void add(AccessKind kind, std::uint32_t array, const Formula& formula) {
        program_.instructions.push_back({kind, access_.space, width_bytes_, array, formula});
        program_.useful_bytes += access_.active_threads * width_bytes_;
    }

    Program program_;
    const PatternedAccess& access_;
    std::uint32_t width_bytes_;
};

[[noreturn]] void refuse_overflow(const char* what) {
    throw UsageError(fmt::format(
        "{} would be larger than 2^64 bytes; choose a smaller --size or parameter", what));
}

}  // namespace

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, const char* what) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) refuse_overflow(what);
    return product;
}

std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b, const char* what) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) refuse_overflow(what);
    return sum;
}

std::uint64_t element_count(const Plan& plan) {
    const std::uint64_t count = plan.shape.size_bytes / bytes_of(plan.type);
    if (count == 0)
        throw UsageError(fmt::format("--size {}: smaller than one {} of {} bytes",
                                     size_as_typed(plan.shape), name_of(plan.type),
                                     bytes_of(plan.type)));
    return count;
}

std::uint64_t elements_in(const Plan& plan, std::uint64_t bytes, const char* what) {
    const std::uint32_t width = bytes_of(plan.type);
    if (bytes == 0 || bytes % width != 0)
        throw UsageError(
            fmt::format("{} of {} bytes does not hold whole {} elements: choose a multiple of {}",
                        what, bytes, name_of(plan.type), width));
    return bytes / width;
}

const OpParts& parts_of(Op op) {
    using enum AccessKind;
    static const std::array<OpParts, option_words<Op>.size()> parts{{{{load}},
                                                                     {{store}},
                                                                     {{load, store}},
                                                                     {{load}, false, true},
                                                                     {{load}, true, true},
                                                                     {{atomic}},
                                                                     {{reduce}}}};
    return parts[static_cast<std::size_t>(op)];
}

Program program_of(const Plan& plan, const PatternedAccess& access) {
    require_op_of_space(plan, access.space);
    if (plan.op == Op::atomic || plan.op == Op::reduce) require_atomic_type(plan);
    const OpParts& parts = parts_of(plan.op);
    ProgramBuilder builder(plan, access);
    const std::uint32_t a = builder.patterned_array("a");
    for (const AccessKind kind : parts.patterned) builder.patterned(kind, a);
    if (parts.second_load) builder.patterned(AccessKind::load, builder.patterned_array("b"));
    if (parts.contiguous_store)
        builder.contiguous(AccessKind::store,
                           builder.contiguous_array(parts.second_load ? "c" : "b"));
    return builder.finish();
}

}  // namespace coalprof
