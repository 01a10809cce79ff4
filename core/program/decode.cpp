#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/program/array_names.h"
#include "core/program/code.h"
#include "core/program/growth.h"
#include "core/program/opcodes.h"
#include "core/program/statement.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

// Kernels of libraries have some 10,000. These limits keep memory below 500 MB for any text.
constexpr std::size_t most_instructions = 1u << 20;
constexpr std::size_t most_statements = 1u << 20;  // calls of empty functions among them
constexpr std::size_t most_slots = 1u << 22;
constexpr std::uint64_t most_local_bytes = 512u << 10;  // of a thread: CUDA's own limit
constexpr int deepest_call = 64;

// Splits at commas outside brackets, braces and parentheses; also at bars, "%p1|%p2".
std::vector<std::string_view> operands_of(std::string_view text) {
    std::vector<std::string_view> operands;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (c == '[' || c == '{' || c == '(') ++depth;
        if (c == ']' || c == '}' || c == ')') --depth;
        if ((c == ',' || c == '|') && depth == 0) {
            if (const auto one = trimmed(text.substr(begin, i - begin)); !one.empty())
                operands.push_back(one);
            begin = i + 1;
        }
    }
    return operands;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    if (text.ends_with('U')) text.remove_suffix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X") || text.starts_with("0f") ||
        text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D")) {
        text.remove_prefix(2);
        base = 16;
    } else if (text.starts_with("0b")) {
        text.remove_prefix(2);
        base = 2;
    } else if (text.size() > 1 && text.starts_with('0')) {
        base = 8;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return is_negative ? ~value + 1 : value;
}

// A function as it is inlined once: its registers, and the outer names of its parameters.
struct Frame {
    const PtxBody* body = nullptr;
    Frame* caller = nullptr;
    int depth = 0;
    std::map<std::string, std::string, std::less<>> outer_names = {};  // of parameters
    std::vector<std::map<std::string, std::pair<Slot, std::uint32_t>, std::less<>>> registers = {};
    std::map<std::pair<std::string, std::uint64_t>, Slot> cells = {};  // of .param variables
    std::vector<std::map<std::string, std::uint64_t, std::less<>>> variables = {};
    std::map<std::pair<std::uint32_t, std::string_view>, const PtxLabel*> labels = {};  // by scope
    std::vector<std::uint32_t> entry_of_statement = {};
    std::vector<std::size_t> returns = {};
    ArrayNames arrays = ArrayNames({});
};

class Decoder {
 public:
    Decoder(const PtxModule& module, const PtxFunction& kernel) : module_(module) {
        code_.kernel = kernel.name;
        code_.most_threads = kernel.most_threads;
        code_.required_block = kernel.required_block;
        has_clusters_ = kernel.has_clusters;
        lay_out_parameters(kernel);
        Frame frame{.body = &body_of(kernel)};
        std::vector<std::string> names;
        for (const PtxParameter& one : kernel.parameters) names.push_back(one.name);
        frame.arrays = ArrayNames(std::move(names));
        inline_function(frame);
        place_dynamic_shared();
        std::vector<SourceParameter> sources;
        for (const PtxParameter& one : kernel.parameters) sources.push_back(one.source);
        for (PtxSite& site : code_.sites) site.array = array_in_source(site.array, sources);
        add_members();
        emit({.opcode = Opcode::exit});
        for (const std::size_t at : frame.returns)
            code_.instructions[at].target =
                static_cast<std::uint32_t>(code_.instructions.size()) - 1;
    }
    Code take() { return std::move(code_); }

 private:
    [[noreturn]] void refuse(const PtxStatement& statement, std::string_view why) const {
        const SourceLine line = module_.line_at(statement.source);
        const std::string place =
            line.file.empty() ? std::string() : fmt::format("{}:{}: ", line.file, line.line);
        throw UsageError(fmt::format("{}'{}' of {}: {}", place, shown(statement.text),
                                     kernel_name(code_.kernel), why));
    }
    static std::string shown(std::string_view text) {
        std::string line(trimmed(text).substr(0, 80));
        std::ranges::replace_if(
            line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
        return line;
    }

    void lay_out_parameters(const PtxFunction& kernel) {
        std::uint32_t at = 0;
        for (const PtxParameter& one : kernel.parameters) {
            const std::uint32_t align = one.type == "b8" ? 16 : std::max(1u, one.size_bytes);
            at = (at + align - 1) / align * align;
            code_.parameter_offsets.push_back(at);
            at += one.size_bytes;
        }
        code_.parameters = kernel.parameters;
        const std::vector<std::string> types = parameter_types(kernel.name);
        for (std::size_t i = 0; types.size() == code_.parameters.size() && i < types.size(); ++i)
            code_.parameters[i].source.type = types[i];
        code_.parameter_bytes = at;
    }
    void add_members() {
        std::map<std::uint64_t, PtxType> loads;
        for (const PtxInstruction& one : code_.instructions) {
            if (one.opcode != Opcode::load || one.state != PtxState::param) continue;
            const SlotInfo& base = code_.slots[one.inputs.front()];
            if (base.kind != SlotKind::constant) continue;
            for (std::size_t i = 0; i < one.results.size(); ++i)
                loads.try_emplace(
                    base.value + static_cast<std::uint64_t>(one.offset) + i * one.type.bytes(),
                    one.type);
        }
        for (std::uint32_t i = 0, own = static_cast<std::uint32_t>(code_.parameters.size());
             i < own; ++i) {
            if (code_.parameters[i].type != "b8") continue;
            const std::uint64_t begin = code_.parameter_offsets[i];
            for (auto load = loads.lower_bound(begin);
                 load != loads.end() && load->first < begin + code_.parameters[i].size_bytes;
                 ++load) {
                code_.parameters.push_back(
                    {.name = fmt::format("{}+{}", i, load->first - begin),
                     .type = fmt::format("{}{}", load->second.kind, load->second.bits),
                     .size_bytes = load->second.bytes(),
                     .source = source_of_member(code_.parameters[i].source, load->first - begin)});
                code_.parameter_offsets.push_back(static_cast<std::uint32_t>(load->first));
                code_.structures.push_back(i);
            }
        }
    }
    static SourceParameter source_of_member(const SourceParameter& of, std::uint64_t offset) {
        const auto member = std::ranges::find(of.members, offset, &SourceMember::offset);
        if (member == of.members.end()) return {};
        return {.name = fmt::format("{}.{}", of.name, member->name), .type = member->type};
    }
    const PtxBody& body_of(const PtxFunction& function) {
        const auto known = bodies_.find(&function);
        if (known != bodies_.end()) return known->second;
        return bodies_.emplace(&function, read_body(module_, function)).first->second;
    }
    // Variables of the module lie in the order in which the kernel first uses them.
    std::optional<std::uint64_t> address_of_module(std::string_view name) {
        if (const auto known = variables_.find(name); known != variables_.end())
            return known->second;
        const auto found = module_.variable_numbers.find(name);
        if (found == module_.variable_numbers.end()) return std::nullopt;
        const PtxVariable& one = module_.variables[found->second];
        std::uint64_t at = 0;
        if (one.state == PtxState::shared) {
            at = place(code_.shared_bytes, one);
        } else {
            const std::uint64_t align = std::max<std::uint64_t>(256, one.align_bytes);
            at = (variables_end_ + align - 1) / align * align;
            variables_end_ = at + one.size_bytes;
            code_.variables.push_back(one);
            code_.variable_addresses.push_back(at);
        }
        variables_.emplace(name, at);
        return at;
    }
    // "extern __shared__": after all that the kernel declares, which is known at the end.
    bool is_dynamic_shared(std::string_view name) const {
        const auto found = module_.variable_numbers.find(name);
        if (found == module_.variable_numbers.end()) return false;
        const PtxVariable& one = module_.variables[found->second];
        return one.state == PtxState::shared && one.size_bytes == 0;
    }
    void place_dynamic_shared() {
        const std::uint64_t begin = (code_.shared_bytes + 15) / 16 * 16;
        for (const Slot slot : dynamic_shared_) code_.slots[slot].value += begin;
        code_.uses_dynamic_shared = !dynamic_shared_.empty();
        if (code_.uses_dynamic_shared) code_.shared_bytes = begin;
    }
    static std::uint64_t place(std::uint64_t& end, const PtxVariable& variable) {
        const std::uint64_t align = std::max(1u, variable.align_bytes);
        const std::uint64_t begin = (end + align - 1) / align * align;
        end = begin + variable.size_bytes;
        return begin;
    }

    std::size_t emit(PtxInstruction instruction) {
        if (code_.instructions.size() >= most_instructions)
            throw UsageError(
                fmt::format("{} has more than {} instructions once its calls are "
                            "inlined",
                            kernel_name(code_.kernel), most_instructions));
        const bool is_of_barrier =
            std::ranges::any_of(instruction.inputs, [&](Slot slot) { return is_of_grid(slot); });
        for (const Slot slot : instruction.results)
            is_of_barrier ? void(of_grid_.insert(slot)) : void(of_grid_.erase(slot));
        code_.instructions.push_back(std::move(instruction));
        return code_.instructions.size() - 1;
    }
    bool is_of_grid(Slot slot) const {
        return slot != no_slot &&
               (code_.slots[slot].kind == SlotKind::grid_barrier || of_grid_.contains(slot));
    }

    void inline_function(Frame& frame) {
        const PtxBody& function = *frame.body;
        open_scopes(frame);
        for (const PtxLabel& label : function.labels)
            frame.labels.try_emplace({label.scope, label.name}, &label);
        frame.entry_of_statement.resize(function.statements.size() + 1);
        std::vector<std::pair<std::size_t, const PtxStatement*>> branches;
        // All statements first: a rotated loop reads registers that later statements set.
        for (const PtxStatement& one : function.statements) frame.arrays.take(one.text);
        for (std::size_t i = 0; i < function.statements.size(); ++i) {
            frame.entry_of_statement[i] = static_cast<std::uint32_t>(code_.instructions.size());
            const std::size_t first = code_.instructions.size();
            decode(frame, function.statements[i]);
            frame.arrays.take(function.statements[i].text);
            for (std::size_t at = first; at < code_.instructions.size(); ++at)
                if (const Opcode op = code_.instructions[at].opcode;
                    (op == Opcode::branch || op == Opcode::branch_table) &&
                    names_of_targets_.contains(at))
                    branches.emplace_back(at, &function.statements[i]);
        }
        frame.entry_of_statement.back() = static_cast<std::uint32_t>(code_.instructions.size());
        for (const auto& [at, statement] : branches) resolve(frame, at, *statement);
    }
    void resolve(const Frame& frame, std::size_t at, const PtxStatement& statement) {
        PtxInstruction& branch = code_.instructions[at];
        const PtxLabel* label = find_label(frame, names_of_targets_[at], statement.scope);
        names_of_targets_.erase(at);
        if (!label) refuse(statement, "there is no such label");
        if (branch.opcode == Opcode::branch) {
            branch.target = frame.entry_of_statement[label->statement];
            return;
        }
        if (label->targets.empty()) refuse(statement, "its label names no targets");
        for (const std::string& name : label->targets) {
            const PtxLabel* one = find_label(frame, name, statement.scope);
            if (!one) refuse(statement, "there is no such label");
            branch.targets.push_back(frame.entry_of_statement[one->statement]);
        }
    }
    static const PtxLabel* find_label(const Frame& frame, std::string_view name,
                                      std::uint32_t scope) {
        while (true) {
            const auto found = frame.labels.find({scope, name});
            if (found != frame.labels.end()) return found->second;
            if (scope == 0) return nullptr;
            scope = frame.body->scopes[scope].parent;
        }
    }

    void open_scopes(Frame& frame) {
        for (const PtxScope& scope : frame.body->scopes) {
            auto& registers = frame.registers.emplace_back();
            for (const PtxRegister& one : scope.registers) {
                registers[one.name] = {add_slots(one), one.count};
            }
            auto& variables = frame.variables.emplace_back();
            for (const PtxVariable& one : scope.variables)
                if (one.state == PtxState::shared)
                    variables[one.name] = place(code_.shared_bytes, one);
                else if (one.state == PtxState::local)
                    variables[one.name] = place(code_.local_bytes, one);
            if (code_.local_bytes > most_local_bytes)
                throw UsageError(fmt::format("{} has more than {} KiB of local memory a thread",
                                             kernel_name(code_.kernel), most_local_bytes >> 10));
        }
    }
    Slot add_slots(const PtxRegister& one) {
        const auto first = static_cast<Slot>(code_.slots.size());
        if (code_.slots.size() + one.count > most_slots)
            throw UsageError(fmt::format("{} has more than {} registers once its calls are inlined",
                                         kernel_name(code_.kernel), most_slots));
        code_.slots.resize(first + std::max(1u, one.count),
                           {SlotKind::reg, static_cast<std::uint8_t>(one.bits), 0});
        return first;
    }
    Slot add_slot(SlotKind kind, std::uint8_t bits, std::uint64_t value = 0) {
        code_.slots.push_back({kind, bits, value});
        return static_cast<Slot>(code_.slots.size() - 1);
    }
    Slot constant(std::uint64_t value, std::uint8_t bits = 64) {
        const auto [found, is_new] = constants_.try_emplace(value, no_slot);
        if (is_new) found->second = add_slot(SlotKind::constant, bits, value);
        return found->second;
    }
    // A literal of 64 bits as an operand of `bits`: of -1 only these are ones.
    Slot cut(Slot slot, std::uint8_t bits) {
        if (slot == no_slot || code_.slots[slot].kind != SlotKind::constant || bits >= 64 ||
            std::ranges::find(dynamic_shared_, slot) != dynamic_shared_.end())
            return slot;
        return constant(code_.slots[slot].value & mask_of(bits));
    }
    static std::uint8_t bits_of_input(const PtxInstruction& one, std::size_t number) {
        switch (one.opcode) {
            case Opcode::compare:
            case Opcode::convert: return one.from.bits;
            case Opcode::mad_wide:
                return static_cast<std::uint8_t>(number == 2 ? 2 * one.type.bits : one.type.bits);
            default: return one.type.kind == 'p' ? 64 : one.type.bits;
        }
    }
    // All their inputs are as wide as their type, registers too.
    static bool has_one_width(Opcode opcode) {
        switch (opcode) {
            case Opcode::add:
            case Opcode::sub:
            case Opcode::multiply:
            case Opcode::multiply_high:
            case Opcode::multiply_wide:
            case Opcode::mad:
            case Opcode::mad_high:
            case Opcode::mad_wide:
            case Opcode::divide:
            case Opcode::remainder:
            case Opcode::absolute:
            case Opcode::negate:
            case Opcode::minimum:
            case Opcode::maximum: return true;
            default: return false;
        }
    }
    bool fits(Slot slot, std::uint8_t bits) const {
        return code_.slots[slot].kind != SlotKind::reg || code_.slots[slot].bits == bits;
    }
    Slot special(SlotKind kind) {
        const auto [found, is_new] = specials_.try_emplace(kind, no_slot);
        if (is_new) found->second = add_slot(kind, 32);
        return found->second;
    }

    std::optional<Slot> register_named(const Frame& frame, std::uint32_t scope,
                                       std::string_view name) const {
        const std::size_t digits = name.find_last_not_of("0123456789") + 1;
        while (true) {
            const auto& registers = frame.registers[scope];
            if (const auto one = registers.find(name);
                one != registers.end() && one->second.second == 0)
                return one->second.first;
            if (digits > 0 && digits < name.size()) {
                const auto range = registers.find(name.substr(0, digits));
                std::uint32_t number = 0;
                std::from_chars(name.data() + digits, name.data() + name.size(), number);
                if (range != registers.end() && number < range->second.second)
                    return range->second.first + number;
            }
            if (scope == 0) return std::nullopt;
            scope = frame.body->scopes[scope].parent;
        }
    }
    // The address of a variable in its state space.
    std::optional<std::uint64_t> address_named(const Frame& frame, std::uint32_t scope,
                                               std::string_view name) {
        while (true) {
            const auto& variables = frame.variables[scope];
            if (const auto one = variables.find(name); one != variables.end()) return one->second;
            if (scope == 0) break;
            scope = frame.body->scopes[scope].parent;
        }
        if (const auto address = address_of_module(name)) return address;
        for (std::size_t i = 0; i < code_.parameters.size(); ++i)
            if (code_.parameters[i].name == name) return code_.parameter_offsets[i];
        return std::nullopt;
    }

    Slot operand(const Frame& frame, const PtxStatement& statement, std::string_view text) {
        text = trimmed(text);
        if (text == "_") return no_slot;
        if (const auto found = register_named(frame, statement.scope, text)) return *found;
        if (const auto kind = special_register(text)) {
            if (has_clusters_ && text.find("cluster") != text.npos)
                refuse(statement, "clusters of several blocks are not executed here");
            return special(*kind);
        }
        if (const auto value = number_of(text)) return constant(*value);
        std::uint64_t more = 0;
        if (const std::size_t plus = text.find('+'); plus != text.npos) {
            more = number_of(trimmed(text.substr(plus + 1))).value_or(0);
            text = trimmed(text.substr(0, plus));
        }
        if (is_dynamic_shared(text)) {
            dynamic_shared_.push_back(add_slot(SlotKind::constant, 64, more));
            return dynamic_shared_.back();
        }
        if (const auto address = address_named(frame, statement.scope, text))
            return constant(*address + more);
        if (module_.find(text)) return constant(0);  // the address of a function
        refuse(statement, fmt::format("'{}' is not known", text.substr(0, 40)));
    }
    // "{%f1, %f2}" and single ones.
    std::vector<Slot> operand_list(const Frame& frame, const PtxStatement& statement,
                                   std::string_view text) {
        if (!text.starts_with('{')) return {operand(frame, statement, text)};
        std::vector<Slot> slots;
        for (const std::string_view one : operands_of(text.substr(1, text.size() - 2)))
            slots.push_back(operand(frame, statement, one));
        return slots;
    }

    // The same for inputs, which must all exist.
    std::vector<Slot> input_list(const Frame& frame, const PtxStatement& statement,
                                 std::string_view text) {
        std::vector<Slot> slots = operand_list(frame, statement, text);
        if (slots.empty() || std::ranges::find(slots, no_slot) != slots.end())
            refuse(statement, "an operand is empty");
        return slots;
    }

    void decode(Frame& frame, const PtxStatement& statement) {
        std::string_view text = trimmed(statement.text);
        PtxInstruction instruction;
        instruction.statement = static_cast<std::uint32_t>(code_.statements.size());
        if (code_.statements.size() >= most_statements)
            throw UsageError(
                fmt::format("{} has more than {} statements once its calls are inlined",
                            kernel_name(code_.kernel), most_statements));
        code_.statements.push_back({std::string(shown(text)), module_.line_at(statement.source),
                                    static_cast<std::size_t>(text.data() - module_.text.data())});
        if (text.starts_with('@')) {
            text = trimmed(text.substr(1));
            instruction.is_negated = text.starts_with('!');
            if (instruction.is_negated) text = trimmed(text.substr(1));
            const std::size_t end = text.find_first_of(" \t\r\n");
            instruction.guard = operand(frame, statement, text.substr(0, end));
            text = end == text.npos ? std::string_view() : trimmed(text.substr(end));
        }
        std::size_t end = 0;
        while (end < text.size() &&
               (is_name_character(text[end]) || text[end] == '.' || text[end] == ':'))
            ++end;
        const OpcodeWords words(text.substr(0, end));
        const std::vector<std::string_view> operands = operands_of(text.substr(end));
        const std::string_view base = words.base();
        if (base == "call") return decode_call(frame, statement, instruction, text.substr(end));
        if (base == "ret") return decode_return(frame, std::move(instruction));
        if (base == "bra" || base == "brx") {
            if (operands.empty()) refuse(statement, "it names no label");
            instruction.opcode = base == "bra" ? Opcode::branch : Opcode::branch_table;
            if (base == "brx") {
                if (operands.size() < 2) refuse(statement, "it names no targets");
                instruction.inputs = {input_list(frame, statement, operands[0]).front()};
            }
            const std::string name(operands.back());
            names_of_targets_[emit(std::move(instruction))] = name;
            return;
        }
        if (const auto word = words.unknown_word(); !word.empty())
            refuse(statement, fmt::format("PTX has no '.{}' of this instruction", shown(word)));
        if (words.is_memory())
            return decode_memory(frame, statement, std::move(instruction), words, operands);
        decode_arithmetic(frame, statement, std::move(instruction), words, operands);
    }

    void decode_arithmetic(Frame& frame, const PtxStatement& statement, PtxInstruction instruction,
                           const OpcodeWords& words,
                           const std::vector<std::string_view>& operands) {
        words.describe(instruction);
        if (const auto fault = words.fault(instruction);
            instruction.opcode != Opcode::unknown && !fault.empty())
            refuse(statement, fault);
        if (instruction.opcode == Opcode::nothing || instruction.opcode == Opcode::exit ||
            instruction.opcode == Opcode::trap || instruction.opcode == Opcode::warp_barrier) {
            emit(std::move(instruction));
            return;
        }
        if (instruction.opcode == Opcode::barrier)
            return decode_barrier(frame, statement, std::move(instruction), operands);
        std::size_t results = words.results(operands.size());
        for (std::size_t i = 0; i < operands.size(); ++i) {
            std::string_view text = operands[i];
            bool is_inverted = false;
            if (text.starts_with('!')) {
                is_inverted = true;
                text.remove_prefix(1);
            }
            if (instruction.opcode == Opcode::unknown && text.find('.') != text.npos &&
                text.find_first_not_of("+-.0123456789eE") == text.npos)
                continue;                 // a real number, as the share of createpolicy
            if (text.starts_with('[')) {  // an address of uncounted memory, as of mbarrier
                instruction.opcode = Opcode::unknown;
                continue;
            }
            std::vector<Slot> slots = i < results ? operand_list(frame, statement, text)
                                                  : input_list(frame, statement, text);
            if (slots.empty()) refuse(statement, "an operand is empty");
            if (is_inverted) slots = {inverted(slots.front())};
            if (i < results) {
                instruction.results.insert(instruction.results.end(), slots.begin(), slots.end());
                continue;
            }
            for (const Slot slot : slots) {
                const std::uint8_t bits = bits_of_input(instruction, instruction.inputs.size());
                if (has_one_width(instruction.opcode) && !fits(slot, bits))
                    refuse(statement, fmt::format("'{}' has not the width of its type", text));
                instruction.inputs.push_back(cut(slot, bits));
            }
        }
        const auto is_wide = [&](Slot slot) {
            return slot != no_slot && code_.slots[slot].bits > 64;
        };
        if (std::ranges::any_of(instruction.results, is_wide) ||
            std::ranges::any_of(instruction.inputs, is_wide))
            instruction.opcode = Opcode::unknown;
        if (instruction.opcode == Opcode::move && instruction.inputs.size() > 1)
            instruction.opcode = Opcode::pack;
        if (instruction.opcode == Opcode::move && instruction.results.size() > 1)
            instruction.opcode = Opcode::unpack;
        const std::size_t parts = std::max(instruction.inputs.size(), instruction.results.size());
        if ((instruction.opcode == Opcode::pack || instruction.opcode == Opcode::unpack) &&
            parts != 2 && parts != 4)
            refuse(statement, "a vector of two or four is expected");
        if (instruction.opcode != Opcode::unknown &&
            (instruction.inputs.size() < words.least_inputs() || instruction.results.empty()))
            refuse(statement, "it has too few operands");
        if (instruction.opcode != Opcode::unknown && (words.takes_carry() || words.has("cc")))
            return emit_with_carry(instruction, words.takes_carry(), words.has("cc"));
        emit(std::move(instruction));
    }
    // "barrier.red.popc.u32 %r1, 0, %p1": what the block's threads have.
    void decode_barrier(Frame& frame, const PtxStatement& statement, PtxInstruction instruction,
                        const std::vector<std::string_view>& operands) {
        if (instruction.variant != 0) {
            if (operands.size() < 3) refuse(statement, "it has too few operands");
            instruction.results = operand_list(frame, statement, operands.front());
            const bool is_inverted = operands.back().starts_with('!');
            const Slot vote = operand(frame, statement, operands.back().substr(is_inverted));
            instruction.inputs = {is_inverted ? inverted(vote) : vote};
        }
        emit(std::move(instruction));
    }
    // Emits an instruction whose result is a new register of `bits`.
    Slot result_of(PtxInstruction instruction, std::uint8_t bits) {
        const Slot result = add_slot(SlotKind::reg, bits);
        instruction.results = {result};
        emit(std::move(instruction));
        return result;
    }
    // One of several instructions that compute the same as `like`, under its guard.
    Slot make(const PtxInstruction& like, Opcode opcode, PtxType type, std::vector<Slot> inputs) {
        const PtxType own = opcode == Opcode::compare ? PtxType{'p', 1} : type;
        return result_of({.opcode = opcode,
                          .type = own,
                          .from = type,
                          .relation = PtxRelation::lt,
                          .is_negated = like.is_negated,
                          .guard = like.guard,
                          .inputs = std::move(inputs),
                          .statement = like.statement},
                         own.bits);
    }
    // Sums, differences and products of several words: the carry is a register, 0 or 1.
    void emit_with_carry(const PtxInstruction& one, bool takes, bool sets) {
        if (carry_ == no_slot) carry_ = add_slot(SlotKind::reg, 64);
        const PtxType type{'u', one.type.bits};
        Slot left = one.inputs[0], right = one.inputs[1];
        if (one.opcode == Opcode::mad || one.opcode == Opcode::mad_high) {
            const bool is_high = one.opcode == Opcode::mad_high;
            left = make(one, is_high ? Opcode::multiply_high : Opcode::multiply, one.type,
                        {left, right});
            right = one.inputs[2];
        }
        const bool is_difference = one.opcode == Opcode::sub;
        const Opcode opcode = is_difference ? Opcode::sub : Opcode::add;
        const auto carry_of = [&](Slot from, Slot other, Slot result) {
            const Slot overflows = make(
                one, Opcode::compare, type,
                is_difference ? std::vector<Slot>{from, other} : std::vector<Slot>{result, from});
            return make(one, Opcode::select, {'u', 64}, {constant(1), constant(0), overflows});
        };
        Slot result = make(one, opcode, type, {left, right});
        Slot carry = sets ? carry_of(left, right, result) : no_slot;
        if (takes) {
            const Slot before = result;
            result = make(one, opcode, type, {before, carry_});
            if (sets)
                carry =
                    make(one, Opcode::bit_or, {'u', 64}, {carry, carry_of(before, carry_, result)});
        }
        PtxInstruction move = one;
        move.opcode = Opcode::move;
        move.inputs = {result};
        emit(move);
        if (!sets) return;
        move.type = {'u', 64};
        move.results = {carry_};
        move.inputs = {carry};
        emit(std::move(move));
    }
    // The opposite of a predicate, computed before the instruction that reads it.
    Slot inverted(Slot slot) {
        return result_of({.opcode = Opcode::bit_not,
                          .type = {'p', 1},
                          .inputs = {slot},
                          .statement = static_cast<std::uint32_t>(code_.statements.size()) - 1},
                         1);
    }

    void decode_return(Frame& frame, PtxInstruction instruction) {
        instruction.opcode = frame.caller ? Opcode::branch : Opcode::exit;
        const std::size_t at = emit(std::move(instruction));
        if (frame.caller) frame.returns.push_back(at);
    }

    // "(retval0), function, (param0, param1)"
    void decode_call(Frame& frame, const PtxStatement& statement, const PtxInstruction& guard,
                     std::string_view text) {
        std::vector<std::string_view> parts = operands_of(text);
        std::vector<std::string_view> returns;
        if (!parts.empty() && parts.front().starts_with('(')) {
            returns = operands_of(parts.front().substr(1, parts.front().size() - 2));
            parts.erase(parts.begin());
        }
        if (parts.empty()) refuse(statement, "it names no function");
        std::vector<std::string_view> arguments;
        if (parts.size() > 1 && parts[1].starts_with('('))
            arguments = operands_of(parts[1].substr(1, parts[1].size() - 2));
        if (parts.front().starts_with('%')) {
            emit_unknown(guard, frame, returns);
            return;
        }
        const PtxFunction* callee = module_.find(parts.front());
        if (parts.front() == "__assertfail") {
            PtxInstruction trap = guard;
            trap.opcode = Opcode::trap;
            emit(std::move(trap));
            return;
        }
        if (!callee || !callee->has_body) {  // printf: its result decides nothing
            code_.uncounted.push_back(guard.statement);
            emit_unknown(guard, frame, returns);
            return;
        }
        if (frame.depth >= deepest_call)
            refuse(statement,
                   "calls are nested too deep; a kernel that calls itself cannot be "
                   "executed here");
        std::size_t skip = ~std::size_t{0};
        if (guard.guard != no_slot) {
            PtxInstruction around = guard;
            around.opcode = Opcode::branch;
            around.is_negated = !around.is_negated;
            skip = emit(std::move(around));
        }
        Frame inner{.body = &body_of(*callee), .caller = &frame, .depth = frame.depth + 1};
        const auto pass = [&](const std::vector<PtxParameter>& formal,
                              const std::vector<std::string_view>& actual) {
            for (std::size_t i = 0; i < std::min(formal.size(), actual.size()); ++i)
                inner.outer_names[formal[i].name] = std::string(actual[i]);
        };
        pass(callee->parameters, arguments);
        pass(callee->returns, returns);
        inline_function(inner);
        const auto behind = static_cast<std::uint32_t>(code_.instructions.size());
        for (const std::size_t at : inner.returns) code_.instructions[at].target = behind;
        if (skip != ~std::size_t{0}) code_.instructions[skip].target = behind;
    }
    void emit_unknown(const PtxInstruction& guard, Frame& frame,
                      const std::vector<std::string_view>& returns) {
        PtxInstruction call = guard;
        call.opcode = Opcode::unknown;
        for (const std::string_view name : returns) {
            const Slot slot = cell(frame, std::string(name), 0, 32);
            call.results.push_back(slot);
        }
        emit(std::move(call));
    }

    // Parameters of calls are in cells, one for each offset in a .param variable.
    Slot cell(Frame& frame, const std::string& name, std::uint64_t offset, std::uint8_t bits) {
        Frame* owner = &frame;
        std::string outer = name;
        while (owner->caller) {
            const auto found = owner->outer_names.find(outer);
            if (found == owner->outer_names.end()) break;
            outer = found->second;
            owner = owner->caller;
        }
        const auto [found, is_new] = owner->cells.try_emplace({outer, offset}, no_slot);
        if (is_new) found->second = add_slot(SlotKind::reg, bits);
        return found->second;
    }
    bool is_kernel_parameter(const Frame& frame, std::string_view name) const {
        if (frame.caller) return false;
        return std::ranges::any_of(code_.parameters,
                                   [&](const PtxParameter& one) { return one.name == name; });
    }

    // Addresses of the lines of a matrix, for each lane.
    class FragmentAddresses {
     public:
        FragmentAddresses(Decoder& decoder, const Fragment& fragment, std::uint32_t statement,
                          Slot elements, Slot pointer)
            : decoder_(decoder), statement_(statement) {
            const std::uint32_t bits = fragment.element_bits;
            line_bytes_ = bits < 8
                              ? make(Opcode::shift_right, {elements, number(bits == 4 ? 1 : 3)})
                              : make(Opcode::multiply, {elements, number(bits / 8)});
            const Slot first = make(Opcode::mad_wide, {part(fragment.line), line_bytes_, pointer});
            lines_[0] = make(Opcode::mad_wide, {part({fragment.byte.shift, fragment.byte.mask}),
                                                number(fragment.byte.factor), first});
        }
        Slot line(std::uint32_t further) {
            const auto known = lines_.find(further);
            return known != lines_.end()
                       ? known->second
                       : lines_[further] =
                             make(Opcode::mad_wide, {line_bytes_, number(further), lines_[0]});
        }

     private:
        Slot number(std::uint64_t value) { return decoder_.constant(value); }
        Slot part(const LanePart& part) {
            Slot slot = decoder_.special(SlotKind::laneid);
            if (part.shift != 0) slot = make(Opcode::shift_right, {slot, number(part.shift)});
            slot = make(Opcode::bit_and, {slot, number(part.mask)});
            return part.factor == 1 ? slot : make(Opcode::multiply, {slot, number(part.factor)});
        }
        Slot make(Opcode opcode, std::vector<Slot> inputs) {
            return decoder_.result_of({.opcode = opcode,
                                       .type = {'u', 32},
                                       .inputs = std::move(inputs),
                                       .statement = statement_},
                                      opcode == Opcode::mad_wide ? 64 : 32);
        }
        Decoder& decoder_;
        std::uint32_t statement_;
        Slot line_bytes_ = no_slot;
        std::map<std::uint32_t, Slot> lines_;
    };

    struct Address {
        std::string_view base;
        std::int64_t offset = 0;
    };
    Address address_in(const PtxStatement& statement, std::string_view text) const {
        text = trimmed(text);
        if (!text.starts_with('[') || !text.ends_with(']'))
            refuse(statement, "an address is expected");
        text = trimmed(text.substr(1, text.size() - 2));
        Address address{.base = text};
        if (const std::size_t plus = text.find('+'); plus != text.npos) {
            address.base = trimmed(text.substr(0, plus));
            const auto offset = number_of(trimmed(text.substr(plus + 1)));
            if (!offset) refuse(statement, "an offset is expected behind '+'");
            address.offset = static_cast<std::int64_t>(*offset);
        }
        return address;
    }

    void decode_memory(Frame& frame, const PtxStatement& statement, PtxInstruction instruction,
                       const OpcodeWords& words, std::vector<std::string_view> operands) {
        const MemoryWords memory = words.memory();
        if (const auto fault = memory.fault(); words.base() != "wmma" && !fault.empty())
            refuse(statement, fault);
        if (words.has("L2::cache_hint") && !operands.empty()) operands.pop_back();  // its policy
        instruction.opcode = memory.opcode;
        instruction.state = memory.state;
        instruction.type = memory.type;
        instruction.variant = memory.variant;
        instruction.width_bytes = memory.width_bytes;
        instruction.is_transposed = memory.is_transposed;
        instruction.is_copy = memory.is_copy;
        if (memory.is_uncounted) code_.uncounted.push_back(instruction.statement);
        if (memory.opcode == Opcode::nothing || memory.opcode == Opcode::unknown) {
            emit_memory_unknown(frame, statement, std::move(instruction), words, operands);
            return;
        }
        if (words.base() == "wmma")
            return decode_fragment(frame, statement, std::move(instruction), words, operands);
        const bool is_load = memory.opcode == Opcode::load && !memory.is_copy;
        const bool has_result =
            is_load || (memory.opcode == Opcode::atomic && !memory.is_reduction);
        const std::size_t at = memory.is_copy ? 1 : has_result ? 1 : 0;
        if (operands.size() <= at) refuse(statement, "it has too few operands");
        const Address address = address_in(statement, operands[at]);
        instruction.offset = address.offset;
        if (memory.state == PtxState::param && !is_kernel_parameter(frame, address.base) &&
            !register_named(frame, statement.scope, address.base)) {
            if (operands.size() < 2) refuse(statement, "it has too few operands");
            decode_cells(frame, statement, std::move(instruction), address,
                         operands[is_load ? 0 : 1]);
            return;
        }
        instruction.inputs = input_list(frame, statement, address.base);
        if (instruction.inputs.size() != 1) refuse(statement, "an address is expected");
        if (is_of_grid(instruction.inputs.front()))
            return pass_grid_barrier(frame, statement, std::move(instruction), operands);
        if (has_result) instruction.results = operand_list(frame, statement, operands[0]);
        // Numbers of 128 bits are not tracked further.
        if (instruction.type.bits > 64) instruction.results.clear();
        const bool has_values = !memory.is_copy && !is_load && memory.variant != 't';
        for (std::size_t i = at + 1; i < operands.size() && has_values; ++i)
            for (const Slot slot : input_list(frame, statement, operands[i]))
                instruction.inputs.push_back(cut(slot, instruction.type.bits));
        if (memory.is_copy) decode_copy(frame, statement, instruction, operands, words.has("cg"));
        const std::size_t values =
            is_load ? instruction.results.size() : instruction.inputs.size() - 1;
        constexpr std::size_t most_matrices = 4;
        const bool is_vector = is_load || memory.opcode == Opcode::store;
        if (is_vector && !memory.is_copy && memory.variant != 't' && instruction.type.bits <= 64 &&
            (memory.variant == 0 ? values != memory.elements : values > most_matrices))
            refuse(statement, "its vector has another number of elements");
        if (has_values && instruction.inputs.size() < 2)
            refuse(statement, "it has too few operands");
        if (!memory.is_uncounted)
            add_site(statement, instruction, words, memory, frame.arrays.array_at(address.base));
        emit(std::move(instruction));
    }
    // "cp.async [to], [from], 16, size": size 0 reads nothing. The third operand of a bulk
    // copy is its size.
    void decode_copy(const Frame& frame, const PtxStatement& statement, PtxInstruction& instruction,
                     const std::vector<std::string_view>& operands, bool past_l1) {
        const Address to = address_in(statement, operands[0]);
        instruction.inputs.push_back(input_list(frame, statement, to.base).front());
        instruction.target = static_cast<std::uint32_t>(to.offset);
        const std::size_t at = instruction.variant == 'b' ? 2 : 3;
        if (operands.size() > at)
            if (const Slot size = operand(frame, statement, operands[at]);
                size != no_slot && code_.slots[size].bits > 1)
                instruction.inputs.push_back(size);
        if (instruction.variant == 'b') return;
        const std::uint64_t bytes = operands.size() > 2 ? number_of(operands[2]).value_or(0) : 0;
        const bool is_small = (bytes == 4 || bytes == 8) && !past_l1;
        if (bytes != 16 && !is_small)
            refuse(statement, past_l1 ? "it copies 16 bytes" : "it copies 4, 8 or 16 bytes");
        instruction.width_bytes = static_cast<std::uint32_t>(bytes);
    }
    // "wmma.load.a... {%r1, ...}, [%rd1], %r9", "wmma.store.d... [%rd1], {%r1, ...}, %r9": their
    // accesses, and the instructions that compute their addresses.
    void decode_fragment(Frame& frame, const PtxStatement& statement, PtxInstruction instruction,
                         const OpcodeWords& words, const std::vector<std::string_view>& operands) {
        const auto fragment = fragment_of(words);
        const bool is_load = instruction.opcode == Opcode::load;
        if (!fragment) {
            code_.uncounted.push_back(instruction.statement);
            instruction.opcode = is_load ? Opcode::unknown : Opcode::nothing;
            return emit_memory_unknown(frame, statement, std::move(instruction), words, operands);
        }
        if (operands.size() < 2) refuse(statement, "it has too few operands");
        const Address address = address_in(statement, operands[is_load ? 1 : 0]);
        const std::vector<Slot> values = is_load ? operand_list(frame, statement, operands[0])
                                                 : input_list(frame, statement, operands[1]);
        const Slot elements = operands.size() > 2
                                  ? input_list(frame, statement, operands[2]).front()
                                  : constant(fragment->line_elements);
        FragmentAddresses addresses(*this, *fragment, instruction.statement, elements,
                                    input_list(frame, statement, address.base).front());
        instruction.offset = address.offset;
        instruction.width_bytes = fragment->width_bytes;
        instruction.variant = fragment->variant;
        instruction.is_opaque = true;
        const std::size_t count = fragment->accesses.size();
        for (std::size_t i = 0; i < count; ++i) {
            PtxInstruction one = instruction;
            one.inputs = {addresses.line(fragment->accesses[i].lines)};
            one.offset += fragment->accesses[i].bytes;
            for (std::size_t at = i; at < std::max(count, values.size()) && !values.empty();
                 at += count)
                (is_load ? one.results : one.inputs).push_back(values[at % values.size()]);
            add_site(statement, one, words, words.memory(), frame.arrays.array_at(address.base));
            emit(std::move(one));
        }
    }
    void decode_cells(Frame& frame, const PtxStatement& statement, PtxInstruction instruction,
                      const Address& address, std::string_view text) {
        const bool is_load = instruction.opcode == Opcode::load;
        const std::vector<Slot> slots =
            is_load ? operand_list(frame, statement, text) : input_list(frame, statement, text);
        const auto step = static_cast<std::uint64_t>(instruction.type.bytes());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            PtxInstruction copy = instruction;
            copy.opcode = Opcode::move;
            const std::size_t known = code_.slots.size();
            const Slot there =
                cell(frame, std::string(address.base),
                     static_cast<std::uint64_t>(address.offset) + i * step,
                     static_cast<std::uint8_t>(std::max<int>(32, instruction.type.bits)));
            copy.results = {is_load ? slots[i] : there};
            copy.inputs = {is_load ? there : cut(slots[i], instruction.type.bits)};
            // No whole value was stored there: it was composed of parts.
            if (is_load && there >= known) copy.opcode = Opcode::unknown;
            emit(std::move(copy));
        }
    }
    // Blocks add to the word of their barrier, and wait until its highest bit differs from that
    // before. Here each comes to a word that the others have changed.
    void pass_grid_barrier(const Frame& frame, const PtxStatement& statement,
                           PtxInstruction instruction,
                           const std::vector<std::string_view>& operands) {
        if (operands.empty()) refuse(statement, "it has too few operands");
        constexpr std::uint64_t all_came = 0x8000'0000;
        instruction.inputs = {constant(instruction.opcode == Opcode::load ? all_came : 0)};
        if (!operands.front().starts_with('[')) {
            instruction.opcode = Opcode::move;
            instruction.results = operand_list(frame, statement, operands.front());
        } else {
            instruction.opcode = Opcode::nothing;
        }
        emit(std::move(instruction));
    }
    void emit_memory_unknown(const Frame& frame, const PtxStatement& statement,
                             PtxInstruction instruction, const OpcodeWords& words,
                             const std::vector<std::string_view>& operands) {
        if (words.base() == "mbarrier" && (words.has("try_wait") || words.has("test_wait")) &&
            !operands.empty()) {  // the awaited copy has come
            instruction.opcode = Opcode::compare;
            instruction.type = {'p', 1};
            instruction.from = {'u', 64};
            instruction.results = operand_list(frame, statement, operands.front());
            instruction.inputs = {constant(0), constant(0)};
        } else if (instruction.opcode == Opcode::unknown && !operands.empty() &&
                   !operands.front().starts_with('[')) {
            instruction.results = operand_list(frame, statement, operands.front());
            if (words.base() == "tex" || words.base() == "tld4" || words.base() == "suld") {
                instruction.opcode = Opcode::move;
                instruction.inputs = {special(SlotKind::fetched)};
                for (const Slot slot : std::vector(instruction.results)) {
                    instruction.results = {slot};
                    emit(instruction);
                }
                return;
            }
        }
        emit(std::move(instruction));
    }
    void add_site(const PtxStatement& statement, PtxInstruction& instruction,
                  const OpcodeWords& words, const MemoryWords& memory, std::string array) {
        if (instruction.state == PtxState::param || instruction.state == PtxState::constant) return;
        PtxSite site;
        site.function = code_.kernel;
        site.source = module_.line_at(statement.source);
        site.inlined_at = module_.line_at(statement.inlined_at);
        site.instruction = words.text();
        site.kind = memory.kind;
        site.space = instruction.state == PtxState::shared  ? Space::shared
                     : instruction.state == PtxState::local ? Space::local
                                                            : Space::global;
        site.width_bytes = instruction.width_bytes;
        site.array = std::move(array);
        instruction.site = static_cast<std::uint32_t>(code_.sites.size());
        code_.sites.push_back(std::move(site));
    }

    const PtxModule& module_;
    Code code_;
    bool has_clusters_ = false;
    std::set<Slot> of_grid_;  // what is made of the address of the grid's barrier
    std::map<const PtxFunction*, PtxBody> bodies_;
    std::map<std::string, std::uint64_t, std::less<>> variables_;  // of the module, by name
    std::uint64_t variables_end_ = variable_window;
    Slot carry_ = no_slot;
    std::vector<Slot> dynamic_shared_;  // constants that hold addresses in it
    std::map<std::uint64_t, Slot> constants_;
    std::map<SlotKind, Slot> specials_;
    std::map<std::size_t, std::string> names_of_targets_;  // of branches not resolved yet
};

}  // namespace

Code make_code(const PtxModule& module, const PtxFunction& kernel) {
    Code code = Decoder(module, kernel).take();
    mark_needs(code);
    mark_uniform_accesses(code);
    return code;
}

}  // namespace coalprof
