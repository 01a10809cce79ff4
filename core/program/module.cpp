#include "core/program/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "core/program/statement.h"
#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

constexpr std::array<std::pair<std::string_view, PtxState>, 5> states{
    {{".global", PtxState::global},
     {".shared", PtxState::shared},
     {".local", PtxState::local},
     {".const", PtxState::constant},
     {".param", PtxState::param}}};

// PTX that compilers write has far fewer, and a larger number would take too long.
constexpr std::uint64_t most_register_count = 1u << 20;

std::optional<PtxState> state_of(std::string_view word) {
    for (const auto& [name, state] : states)
        if (word == name) return state;
    return std::nullopt;
}

class ModuleReader {
 public:
    ModuleReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

    PtxModule read() {
        bool has_version = false;
        read_files();
        for (skip(); !at_end(); skip()) {
            const std::string_view word = peek_word();
            if (word == ".version") has_version = true;
            if (word == ".address_size" && text_.substr(at_, 16).ends_with("32"))
                fail(
                    "it is PTX of 32-bit addresses, which no GPU of today runs: compile it with "
                    "-m64");
            if (word == ".version") {
                take_word();
                module_.version = peek_word();
                skip_line();
            } else if (word == ".address_size") {
                skip_line();
                module_.address_size_at = at_;
            } else if (word == ".target") {
                read_target();
            } else if (word == ".file") {
                skip_line();
            } else if (word == ".section") {
                has_debug_ = true;
                skip_to('{');
                ++at_;
                skip_body("a section");
            } else if (word == ".pragma" || word == ".alias") {
                skip_to(';');
            } else if (word == "@@DWARF" || text_[at_] == '@') {
                skip_line();
            } else if (!has_version) {
                fail("it is no PTX: it does not begin with .version");
            } else {
                read_declaration();
            }
        }
        if (!has_version) fail("it is no PTX: it does not begin with .version");
        module_.text = text_;
        module_.source = source_;
        for (std::size_t i = 0; i < module_.functions.size(); ++i) {
            const PtxFunction& one = module_.functions[i];
            const auto [known, is_new] = module_.function_numbers.try_emplace(one.name, i);
            if (!is_new && one.has_body) known->second = i;  // declared before
        }
        for (std::size_t i = 0; i < module_.variables.size(); ++i)
            module_.variable_numbers.try_emplace(module_.variables[i].name, i);
        if (has_debug_) take_source_names(module_, text_);
        return std::move(module_);
    }

    PtxBody read_body(const PtxFunction& function, const PtxModule& module) {
        at_ = function.body_at;
        module_.files_of_toolkit = module.files_of_toolkit;
        body_.scopes.push_back({.registers = module.registers});
        std::vector<std::uint32_t> open{0};
        while (!open.empty()) {
            skip();
            if (at_end()) fail(fmt::format("it ends inside {}", function.name));
            if (take('{')) {
                body_.scopes.push_back({.parent = open.back()});
                open.push_back(static_cast<std::uint32_t>(body_.scopes.size() - 1));
            } else if (take('}')) {
                open.pop_back();
            } else {
                read_statement(open.back());
            }
        }
        return std::move(body_);
    }

 private:
    [[noreturn]] void fail(const std::string& what) const {
        const auto line =
            std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                       '\n') +
            1;
        throw UsageError(fmt::format("{}:{}: {}", source_, line, what));
    }
    bool at_end() const { return at_ >= text_.size(); }
    void skip() { at_ = skip_blanks(text_, at_); }
    void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }
    void skip_to(char c) {
        at_ = text_.find(c, at_);
        if (at_ == text_.npos) fail(fmt::format("it ends where '{}' is expected", c));
        if (c != '{') ++at_;
    }
    static bool is_word(char c) { return is_name_character(c) || c == '.' || c == '@' || c == ':'; }
    std::string_view peek_word() {
        skip();
        std::size_t end = at_;
        while (end < text_.size() && is_word(text_[end]) && text_[end] != ':') ++end;
        return text_.substr(at_, end - at_);
    }
    // ".param" of ".param.u64".
    std::string_view peek_directive() {
        const std::string_view word = peek_word();
        return word.starts_with('.') ? word.substr(0, word.find('.', 1)) : word;
    }
    std::string_view take_directive() {
        const std::string_view word = peek_directive();
        at_ += word.size();
        return word;
    }
    std::string_view take_word() {
        const std::string_view word = peek_word();
        if (word.empty()) fail(at_end() ? "it ends in the middle" : "a word is expected");
        at_ += word.size();
        return word;
    }
    bool take(char c) {
        skip();
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail(fmt::format("'{}' is expected", c));
    }
    std::uint64_t take_number() {
        skip();
        const bool is_hex =
            text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
        if (is_hex) at_ += 2;
        std::uint64_t value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] =
            std::from_chars(begin, text_.data() + text_.size(), value, is_hex ? 16 : 10);
        if (error != std::errc{}) fail("a number is expected");
        at_ += static_cast<std::size_t>(end - begin);
        if (!at_end() && text_[at_] == 'U') ++at_;
        return value;
    }

    void read_target() {
        take_word();
        const std::string_view target = take_word();
        const std::size_t digits = target.find_first_of("0123456789");
        if (digits != target.npos)
            std::from_chars(target.data() + digits, target.data() + target.size(),
                            module_.architecture);
        skip_line();
    }
    // nvcc names its files after the code that refers to them.
    void read_files() {
        constexpr std::string_view word = ".file";
        for (at_ = text_.find(word); at_ < text_.size(); at_ = text_.find(word, at_)) {
            const bool begins_line = at_ == 0 || text_[at_ - 1] == '\n' || text_[at_ - 1] == '\t';
            at_ += word.size();
            if (begins_line) read_file();
        }
        at_ = 0;
    }
    void read_file() {
        const std::uint64_t number = take_number();
        if (!take('"')) return;
        const std::size_t end = std::min(text_.find('"', at_), text_.size());
        std::string& file = module_.files[static_cast<std::uint32_t>(number)];
        file = text_.substr(at_, end - at_);
        if (is_of_toolkit({.file = file, .line = 1}))
            module_.files_of_toolkit.insert(static_cast<std::uint32_t>(number));
        at_ = end;
    }

    // A function or a variable of the module.
    void read_declaration() {
        bool is_entry = false;
        while (true) {
            const std::string_view word = peek_directive();
            if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
                take_word();
            } else if (word == ".entry" || word == ".func") {
                is_entry = take_word() == ".entry";
                read_function(is_entry);
                return;
            } else if (word == ".reg") {
                read_registers(module_.registers);
                return;
            } else if (const auto state = state_of(word)) {
                read_variable(*state, module_.variables);
                return;
            } else {
                fail(fmt::format("'{}' is not expected here", shown_word(word)));
            }
        }
    }
    std::string shown_word(std::string_view word) const {
        return std::string(word.empty() ? text_.substr(at_, 1) : word.substr(0, 40));
    }

    std::vector<PtxParameter> read_parameters() {
        std::vector<PtxParameter> parameters;
        expect('(');
        while (!take(')')) {
            PtxParameter parameter;
            while (peek_directive().starts_with('.')) {
                const std::string_view word = take_directive();
                if (word == ".align") {
                    take_number();
                } else if (word == ".ptr") {
                    parameter.is_pointer = true;
                } else if (const auto bytes = bytes_of_type(word.substr(1))) {
                    parameter.type = word.substr(1);
                    parameter.size_bytes = *bytes;
                }
            }
            parameter.name = take_word();
            constexpr std::uint64_t most_elements = 65536;
            parameter.size_bytes *= static_cast<std::uint32_t>(
                take_extents_of(most_elements, "a parameter is larger than 64 KiB"));
            parameters.push_back(std::move(parameter));
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return parameters;
    }

    void read_function(bool is_entry) {
        PtxFunction function;
        function.is_entry = is_entry;
        skip();
        while (peek_word().starts_with('.')) take_word();  // ".attribute"
        if (!at_end() && text_[at_] == '(') function.returns = read_parameters();
        function.name = take_word();
        skip();
        if (!at_end() && text_[at_] == '(') function.parameters = read_parameters();
        skip();
        while (!at_end() && text_[at_] != '{' && text_[at_] != ';') {
            const std::string_view word = peek_word();
            if (begins_declaration(word)) break;  // nvopencc leaves out the ';'
            const char first = text_[at_];
            if (first != '.' && first != ',' && !is_digit(first))
                fail(fmt::format("'{}' is not expected behind the name of a function",
                                 shown_word(word)));
            at_ += std::max<std::size_t>(1, word.size());
            if (word == ".reqnctapercluster" || word == ".explicitcluster")
                function.has_clusters = true;
            function.limits_registers |=
                word == ".maxntid" || word == ".reqntid" || word == ".maxnreg";
            if (word == ".maxntid") function.most_threads = product_of(take_extents());
            if (word == ".reqntid") function.required_block = take_extents();
            skip();
        }
        if (take('{')) {
            function.has_body = true;
            function.body_at = at_;
            skip_body(function.name);
        } else {
            take(';');
        }
        module_.functions.push_back(std::move(function));
    }

    static bool begins_declaration(std::string_view word) {
        return word == ".visible" || word == ".extern" || word == ".weak" || word == ".entry" ||
               word == ".func" || word == ".reg" || word == ".file" || state_of(word);
    }
    // "128, 1, 1"; those that are not there are 1. Larger ones than a block can have are cut.
    using Extents = std::array<std::uint32_t, 3>;
    Extents take_extents() {
        Extents extents{1, 1, 1};
        std::size_t at = 0;
        do {
            const std::uint64_t number = std::min<std::uint64_t>(take_number(), 1024);
            if (at < extents.size()) extents[at++] = static_cast<std::uint32_t>(number);
        } while (take(','));
        return extents;
    }
    static std::uint32_t product_of(const Extents& extents) {
        return std::min(1024u, std::min(1024u, extents[0] * extents[1]) * extents[2]);
    }

    // Skips past the brace that ends it.
    void skip_body(std::string_view what) {
        for (int depth = 1; depth > 0; ++at_) {
            if (at_end()) fail(fmt::format("it ends inside {}", what));
            const char c = text_[at_];
            if (c == '{') ++depth;
            if (c == '}') --depth;
            if (c == '/' && (text_.substr(at_, 2) == "//" || text_.substr(at_, 2) == "/*"))
                at_ = skip_blanks(text_, at_) - 1;
            if (c == '"') at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1);
        }
    }

    void read_statement(std::uint32_t scope) {
        if (peek_directive() == ".reg") return read_registers(body_.scopes[scope].registers);
        const std::string_view word = peek_word();
        if (word == ".loc") return read_location();
        if (word == ".pragma" || word == ".callprototype") return skip_to(';');
        if (const auto state = state_of(peek_directive()))
            return read_variable(*state, body_.scopes[scope].variables);
        const std::size_t behind = skip_blanks(text_, at_ + word.size());
        const bool is_label = !word.empty() && behind < text_.size() && text_[behind] == ':' &&
                              text_.substr(behind, 2) != "::";
        if (is_label) {
            at_ = behind + 1;
            PtxLabel label{std::string(word), scope, body_.statements.size(), {}};
            if (peek_word() == ".branchtargets") {
                take_word();
                do label.targets.emplace_back(take_word());
                while (take(','));
                expect(';');
            } else if (peek_word() == ".callprototype") {
                skip_to(';');
            }
            body_.labels.push_back(std::move(label));
            return;
        }
        const std::size_t end = text_.find(';', at_);
        if (end == text_.npos) fail("it ends inside a statement");
        body_.statements.push_back(
            {text_.substr(at_, end - at_), scope, source_line_, inlined_at_});
        at_ = end + 1;
    }

    PtxPlace take_place() {
        PtxPlace place;
        place.file = static_cast<std::uint32_t>(take_number());
        place.line = static_cast<std::uint32_t>(take_number());
        take_number();
        return place;
    }
    // ".loc 1 8 5, function_name $L__info_string0, inlined_at 1 20 3"
    void read_location() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        take_word();
        source_line_ = take_place();
        inlined_at_ = {};
        const std::size_t inlined = text_.substr(0, end).find("inlined_at", at_);
        if (inlined < end) {
            at_ = inlined + std::string_view("inlined_at").size();
            inlined_at_ = callers_[{source_line_.file, source_line_.line}] = take_place();
            // CUDA's functions call each other: the user's line is that of the outermost call.
            for (std::size_t depth = 0;
                 depth < callers_.size() && module_.files_of_toolkit.contains(inlined_at_.file);
                 ++depth) {
                const auto outer = callers_.find({inlined_at_.file, inlined_at_.line});
                if (outer == callers_.end()) break;
                inlined_at_ = outer->second;
            }
        }
        at_ = end;
    }

    void read_registers(std::vector<PtxRegister>& registers) {
        take_directive();
        const std::string_view type = take_word();
        const auto bytes = bytes_of_type(type.substr(1));
        if (!bytes) fail(fmt::format("'{}' is not a type", shown_word(type)));
        do {
            PtxRegister one{std::string(take_word()), *bytes == 0 ? 1 : *bytes * 8, 0};
            if (take('<')) {
                one.count =
                    static_cast<std::uint32_t>(std::min(take_number(), most_register_count));
                expect('>');
            }
            registers.push_back(std::move(one));
        } while (take(','));
        expect(';');
    }

    // The number of elements behind the name; 0: "[]".
    std::uint64_t take_extents_of(std::uint64_t most, const char* too_large) {
        std::uint64_t count = 1;
        while (take('[')) {
            skip();
            if (take(']')) {
                count = 0;
                continue;
            }
            count = saturating_product({count, take_number()});
            if (count > most) fail(too_large);
            expect(']');
        }
        return count;
    }

    void read_variable(PtxState state, std::vector<PtxVariable>& variables) {
        take_directive();
        PtxVariable variable;
        variable.state = state;
        std::uint32_t width = 0, elements = 1;
        while (peek_word().starts_with('.')) {
            const std::string_view word = take_directive();
            if (word == ".align")
                variable.align_bytes = static_cast<std::uint32_t>(take_number());
            else if (word == ".attribute")
                skip_to(')');
            else if (word == ".v2" || word == ".v4")
                elements = word == ".v2" ? 2 : 4;
            else if (const auto bytes = bytes_of_type(word.substr(1)); bytes && width != 0)
                fail("a variable has one type");
            else
                width = bytes.value_or(width);
        }
        width = std::max(1u, width) * elements;
        const PtxVariable kind = variable;
        do {
            variable = kind;
            variable.name = take_word();
            constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;
            variable.size_bytes =
                width * take_extents_of(most_bytes / width, "a variable is larger than 4 GiB");
            if (take('=')) read_contents(variable, width);
            variables.push_back(variable);
        } while (take(','));
        expect(';');
    }

    // Numbers; addresses of other variables count as zeros.
    void read_contents(PtxVariable& variable, std::uint32_t width) {
        int depth = 0;
        while (true) {
            skip();
            if (at_end()) fail("it ends inside a variable's contents");
            const char c = text_[at_];
            if (c == ';' || (depth == 0 && c == ',')) return;
            if (c == '{' || c == '}' || c == ',') {
                depth += c == '{' ? 1 : c == '}' ? -1 : 0;
                ++at_;
                continue;
            }
            const std::uint64_t value = take_content();
            for (std::uint32_t byte = 0; byte < width; ++byte)
                variable.contents.push_back(
                    byte < 8 ? static_cast<std::uint8_t>(value >> (8 * byte)) : std::uint8_t{0});
        }
    }
    std::uint64_t take_content() {
        const bool is_negative = take('-');
        skip();
        if (text_.substr(at_).starts_with("0f") || text_.substr(at_).starts_with("0d")) {
            at_ += 2;
            std::uint64_t bits = 0;
            const auto [end, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), bits, 16);
            if (error != std::errc{}) fail("a number is expected");
            at_ = static_cast<std::size_t>(end - text_.data());
            return bits;
        }
        if (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') {
            const std::uint64_t value = take_number();
            return is_negative ? ~value + 1 : value;
        }
        take_word();
        if (take('(')) skip_to(')');
        return 0;
    }

    std::string_view text_;
    const std::string& source_;
    std::size_t at_ = 0;
    PtxModule module_;
    bool has_debug_ = false;
    PtxPlace source_line_;
    PtxPlace inlined_at_;
    PtxBody body_;
    // The places at which functions were inlined, by file and line.
    std::map<std::pair<std::uint32_t, std::uint32_t>, PtxPlace> callers_;
};

}  // namespace

const PtxFunction* PtxModule::find(std::string_view name) const {
    const auto found = function_numbers.find(name);
    return found == function_numbers.end() ? nullptr : &functions[found->second];
}

SourceLine PtxModule::line_at(const PtxPlace& place) const {
    const auto file = files.find(place.file);
    return file == files.end() || place.line == 0 ? SourceLine{}
                                                  : SourceLine{file->second, place.line};
}

std::vector<const PtxFunction*> PtxModule::kernels() const {
    std::vector<const PtxFunction*> all;
    for (const PtxFunction& one : functions)
        if (one.is_entry && one.has_body) all.push_back(&one);
    return all;
}

std::optional<std::uint32_t> bytes_of_type(std::string_view type) {
    if (type == "pred") return 0;
    if (type == "f16x2" || type == "bf16x2" || type == "u16x2" || type == "s16x2") return 4;
    if (type == "bf16" || type == "f16") return 2;
    if (type == "tf32") return 4;
    if (type.size() < 2 || (type[0] != 'b' && type[0] != 'u' && type[0] != 's' && type[0] != 'f'))
        return std::nullopt;
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(type.data() + 1, type.data() + type.size(), bits);
    if (error != std::errc{} || end != type.data() + type.size()) return std::nullopt;
    const std::uint32_t least = type[0] == 'f' ? 16 : 8, most = type[0] == 'b' ? 128 : 64;
    if (bits < least || bits > most || !std::has_single_bit(bits)) return std::nullopt;
    return bits / 8;
}

void take_source_names(PtxModule& module, std::string_view debug) {
    auto known = parameters_in_debug(debug);
    for (PtxFunction& function : module.functions) {
        const auto found = known.find(function.name);
        if (found == known.end() || found->second.size() != function.parameters.size()) continue;
        for (std::size_t i = 0; i < function.parameters.size(); ++i)
            function.parameters[i].source = found->second[i];
    }
}

PtxModule read_module(std::string_view text, const std::string& source) {
    return ModuleReader(text, source).read();
}

PtxBody read_body(const PtxModule& module, const PtxFunction& function) {
    return ModuleReader(module.text, module.source).read_body(function, module);
}

}  // namespace coalprof
