#include "core/kernel/kernel_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/lines/line_points.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

using FaultKind = KernelFault::Kind;

class FaultTexts {
 public:
    FaultTexts(const Code& code, const KernelLaunch& launch, const Machine& machine,
               const ExecutionNotes& notes)
        : code_(code),
          block_bytes_(code.shared_bytes + launch.dynamic_shared_bytes),
          asked_bytes_(notes.shared_bytes),
          most_bytes_(code.shared_bytes + most_dynamic_shared(code, machine)) {}

    LineFinding finding_of(const KernelFault& fault) const {
        const CodeStatement& statement = statement_of(fault);
        const std::string place = place_text(statement.source);
        const Deed deed = deed_of(fault);
        return {.point = place.empty() ? short_kernel_name(code_.kernel) : place,
                .cause = std::string(fault_cause),
                .text = fmt::format("'{}': thread ({}) of block ({}) {}.", name_of(statement),
                                    fmt::join(fault.thread, ", "), fmt::join(fault.block, ", "),
                                    deed.text),
                .fix = deed.fix,
                .like = {}};
    }
    // Unrolled loops have a line's access several times.
    bool are_one(const KernelFault& a, const KernelFault& b) const {
        const CodeStatement& first = statement_of(a);
        const CodeStatement& second = statement_of(b);
        return a.kind == b.kind && a.array == b.array && first.source == second.source &&
               (!first.source.file.empty() || name_of(first) == name_of(second));
    }

 private:
    const CodeStatement& statement_of(const KernelFault& fault) const {
        return code_.statements[code_.instructions[fault.instruction].statement];
    }
    std::int64_t element_bytes(const KernelFault& fault) const {
        return std::max<std::int64_t>(1, code_.instructions[fault.instruction].type.bytes());
    }
    // True if the address minus 2^32 elements, or bytes, is in the array.
    bool has_overflowed(const KernelFault& fault, std::int64_t sign) const {
        const std::int64_t width = code_.instructions[fault.instruction].width_bytes;
        return std::ranges::any_of(
            std::array{width, element_bytes(fault), std::int64_t{1}}, [&](std::int64_t scale) {
                const std::int64_t meant = fault.offset_bytes + sign * (scale << 32);
                const auto size = static_cast<std::int64_t>(fault.array_bytes);
                return sign > 0 ? meant >= 0 && meant < size : meant < 0 && meant >= -size;
            });
    }
    bool is_too_high(const KernelFault& fault) const { return has_overflowed(fault, 1); }
    std::string bounds_text(const KernelFault& fault) const {
        // A float4 is one element of 16 bytes.
        const std::int64_t bytes =
            std::max<std::int64_t>(1, code_.instructions[fault.instruction].width_bytes);
        const std::int64_t element =
            fault.offset_bytes / bytes - (fault.offset_bytes % bytes < 0 ? 1 : 0);
        const char* why = is_too_high(fault)          ? ": its index overflowed 32 bits"
                          : has_overflowed(fault, -1) ? ": its unsigned index went below 0"
                                                      : "";
        return fmt::format(
            "asks for element {} of array {}, which has {}{}{}", element, printable(fault.array),
            fault.array_bytes / static_cast<std::uint64_t>(bytes),
            bytes > element_bytes(fault) ? fmt::format(" of {} bytes", bytes) : std::string(), why);
    }
    // What the thread does, and what to do about it.
    struct Deed {
        std::string text;
        std::string fix;
    };
    Deed deed_of(const KernelFault& fault) const {
        switch (fault.kind) {
            case FaultKind::out_of_bounds:
                return {bounds_text(fault),
                        is_too_high(fault)
                            ? "Compute the index in 64 bits: (size_t)row * columns + column."
                        : fault.declared.empty()
                            ? "Check the index against the array's ends."
                            : fmt::format("Check the index against the array's ends, or give the "
                                          "array its true size: --arg {}={}.",
                                          printable(fault.array), fault.declared)};
            case FaultKind::no_memory:
                return {
                    fmt::format("asks for address {:#x}, which lies in no array: a null "
                                "pointer, or one that was never set",
                                fault.address),
                    "Give the pointer an array (--arg NAME=f32[COUNT]), or test it before it is "
                    "followed."};
            case FaultKind::misaligned:
                return {fmt::format(
                            "asks for address {:#x}, which is no multiple of the {} bytes of the "
                            "access",
                            fault.address, code_.instructions[fault.instruction].width_bytes),
                        "Begin at a multiple of the width, or access narrower elements."};
            case FaultKind::shared_bounds:
                return {fmt::format("asks for byte {} of shared memory, of which a block has {}",
                                    fault.address, block_bytes_),
                        code_.uses_dynamic_shared && asked_bytes_ <= most_bytes_
                            ? fmt::format("Give the block as much as the kernel asks for: "
                                          "--shared {} or more; or check the index.",
                                          asked_bytes_ - code_.shared_bytes)
                            : "Check the index, or declare more shared memory."};
            case FaultKind::trap: break;
        }
        return {"comes to a trap: an assertion that does not hold",
                "Look at what is asserted there."};
    }

    const Code& code_;
    std::uint64_t block_bytes_;
    std::uint64_t asked_bytes_;
    std::uint64_t most_bytes_;
};

}  // namespace

std::string name_of(const CodeStatement& statement) {
    std::string_view name = statement.text;
    if (name.starts_with('@'))  // its guard
        name = trimmed(name.substr(std::min(name.find_first_of(" \t"), name.size())));
    if (!name.starts_with("call"))  // its callee follows
        name = name.substr(0, name.find_first_of(" \t["));
    return printable(name);
}

std::vector<FoundFault> found_faults(const Code& code, const KernelLaunch& launch,
                                     const Machine& machine, const ExecutionNotes& notes) {
    const FaultTexts texts(code, launch, machine, notes);
    std::vector<KernelFault> first;
    for (const KernelFault& fault : notes.faults) {
        const auto known = std::ranges::find_if(
            first, [&](const KernelFault& one) { return texts.are_one(one, fault); });
        if (known == first.end())
            first.push_back(fault);
        else if (fault.is_before(*known))
            *known = fault;
    }
    std::vector<FoundFault> found;
    for (const KernelFault& fault : first) found.push_back({fault, texts.finding_of(fault)});
    return found;
}

std::uint64_t most_dynamic_shared(const Code& code, const Machine& machine) {
    const std::uint64_t all = machine.rules->occupancy.shared_bytes_per_block;
    return all - std::min(all, code.shared_bytes);
}

void require_shared_size(const Code& code, const ExecutionNotes& notes) {
    if (notes.shared_bytes <= code.shared_bytes) return;
    const std::uint64_t bytes = notes.shared_bytes - code.shared_bytes;
    throw UsageError(
        fmt::format("kernel {}: it asks for {} bytes of dynamic shared memory, and its launch does "
                    "not say how much a block has",
                    printable(kernel_name(code.kernel)), bytes),
        fmt::format("add --shared {}, or what the program launches it with", bytes));
}

}  // namespace coalprof
