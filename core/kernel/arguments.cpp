#include "core/kernel/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/kernel/contents.h"
#include "core/pattern/array_text.h"
#include "core/program/code.h"
#include "core/program/statement.h"
#include "core/program/thread_bounds.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

// The name in the source, or in PTX where a person gave it one: not "k_param_0". Else its position.
std::string parameter_name(const Code& code, std::size_t at) {
    const std::string& own = code.parameters[at].name;
    if (!code.parameters[at].source.name.empty()) return code.parameters[at].source.name;
    if (at >= code.own_parameters())  // "2+8"
        return parameter_name(code, code.structures[at - code.own_parameters()]) +
               own.substr(own.find('+'));
    const bool is_made_up = own.ends_with(fmt::format("_param_{}", at));
    return is_made_up ? std::to_string(at) : own;
}

std::optional<std::size_t> parameter_named(const Code& code, const std::string& name) {
    for (std::size_t i = 0; i < code.parameters.size(); ++i)
        if (code.parameters[i].name == name || code.parameters[i].source.name == name ||
            (i >= code.own_parameters() && parameter_name(code, i) == name))
            return i;
    return std::nullopt;
}

}  // namespace

std::optional<std::size_t> parameter_of(const Code& code, const std::string& typed) {
    const std::string name = typed.substr(0, typed.find('='));
    if (const auto at = parameter_named(code, name)) return at;
    for (std::size_t i = 0; i < code.own_parameters(); ++i)
        if (name == std::to_string(i)) return i;
    return std::nullopt;
}

namespace {

// The type in the source, else in PTX.
std::string type_text(const Code& code, std::size_t at) {
    const PtxParameter& one = code.parameters[at];
    if (!one.source.type.empty()) return one.source.type;
    if (code.is_address[at]) return "pointer";
    return one.type == "b8" ? fmt::format("{} bytes", one.size_bytes) : one.type;
}

class Binder {
 public:
    Binder(Code& code, const std::vector<std::string>& typed)
        : code_(code), typed_(typed), is_given_(code.parameters.size(), false) {
        bound_.launch.parameters.resize(code.parameter_bytes);
    }

    BoundLaunch bind() {
        for (const bool takes_members : {false, true})  // members of structures come second
            for (const std::string& one : typed_)
                if (is_member(one) == takes_members) take(one);
        add_arrays();
        share_arrays();
        for (std::size_t i = 0; i < code_.variables.size(); ++i) add_variable(i);
        return std::move(bound_);
    }

 private:
    void take(const std::string& typed) {
        option_ = fmt::format("--arg {}", shown(typed));
        const std::size_t equals = typed.find('=');
        if (equals == typed.npos || equals == 0)
            throw UsageError(fmt::format("{}: it is no NAME=VALUE", option_),
                             "for example --arg n=1000, --arg 2=3.5 or --arg x=f32[1048576]");
        const std::size_t at = position_of(typed.substr(0, equals));
        const std::string value = typed.substr(equals + 1);
        if (is_given_[at])
            throw UsageError(
                fmt::format("{}: parameter {} is given twice", option_, printable(name_of(at))));
        is_given_[at] = true;
        if (value.starts_with('@'))
            take_array(at, value);
        else if (value.find('[') != value.npos)
            take_array(at, with_numbers(value));
        else if (const auto other = found(value); other && code_.is_address[at])
            shared_.emplace_back(at, *other);
        else
            take_scalar(at, value);
    }
    bool is_member(const std::string& typed) const {
        return found(typed.substr(0, typed.find('='))) >= code_.own_parameters();
    }
    // "f32[N*K]" with the launch's numbers for N and K.
    std::string with_numbers(const std::string& value) const {
        std::size_t at = value.find('[');
        const std::size_t end = std::min(value.find_first_of("=@", at), value.size());
        std::string text = value.substr(0, at);
        while (at < end) {
            std::size_t next = at;
            while (next < end && is_name_character(value[next])) ++next;
            const std::string word = value.substr(at, next - at);
            if (word.empty())
                text += value[next++];
            else
                text += is_digit(word.front()) ? word : number_named(word);
            at = next;
        }
        return text + value.substr(end);
    }
    std::string number_named(const std::string& name) const {
        const auto at = found(name);
        for (const std::string& one : typed_)
            if (at && !code_.is_address[*at] && one.starts_with(name + '=') &&
                read_count(one.substr(name.size() + 1)))
                return one.substr(name.size() + 1);
        throw UsageError(
            fmt::format("{}: '{}' is neither a number nor an argument that is given one", option_,
                        shown(name)),
            fmt::format("write the number, as in 4096 or 64*64{}",
                        at && !code_.is_address[*at]
                            ? fmt::format("; or add --arg {}=4096", printable(name))
                            : std::string()));
    }
    // "y=x": y gets the base of x, whatever it will be.
    void share_arrays() {
        for (const auto& [at, other] : shared_) {
            if (!code_.is_address[other] ||
                std::ranges::any_of(shared_, [&](const auto& one) { return one.first == other; }))
                throw UsageError(
                    fmt::format("--arg {}={}: {} has no array of its own", name_of(at),
                                name_of(other), name_of(other)),
                    fmt::format("name an array that is none of another parameter's, or its size: "
                                "--arg {}={}",
                                name_of(other), declared(other)));
            put(at, base_of(other), 8);
            code_.shares_array.resize(code_.parameters.size());
            code_.shares_array[at] = static_cast<std::uint32_t>(other) + 1;
        }
        if (!shared_.empty()) mark_needs(code_);
    }

    std::optional<std::size_t> found(const std::string& name) const {
        return parameter_named(code_, name);
    }
    // The parameter that may be meant; empty: none is near.
    std::string hint_for_near(const std::string& word) const {
        std::vector<std::string_view> names;
        for (const PtxParameter& one : code_.parameters)
            if (!one.source.name.empty()) names.push_back(one.source.name);
        const auto meant = nearest(word, names);
        return meant ? fmt::format("did you mean {}?", printable(*meant)) : std::string();
    }
    std::size_t position_of(const std::string& word) const {
        const std::size_t count = code_.own_parameters();
        if (const auto at = found(word)) return *at;
        if (std::ranges::all_of(word, is_digit)) {
            const std::uint64_t number = parse_integer(word, option_);
            if (number < count) return number;
            throw UsageError(fmt::format("{}: {} has {} parameter{}, numbered from 0", option_,
                                         shown(kernel_name(code_.kernel)), count,
                                         count == 1 ? "" : "s"));
        }
        throw UsageError(fmt::format("{}: there is no parameter '{}'; they are {}", option_,
                                     shown(word), describe_parameters(code_)),
                         hint_for_near(word));
    }

    void put(std::size_t at, std::uint64_t value, std::uint32_t bytes) {
        std::memcpy(&bound_.launch.parameters[code_.parameter_offsets[at]], &value,
                    std::min<std::size_t>(bytes, sizeof value));
    }
    static std::uint64_t base_of(std::size_t at) { return first_array + at * array_distance; }
    std::string name_of(std::size_t at) const { return parameter_name(code_, at); }
    const std::string& type_of(std::size_t at) const { return code_.parameters[at].source.type; }
    // The kind of a number, or of a pointer's target; nothing if unknown.
    std::optional<ElementKind> kind_of(std::size_t at) const { return kind_of_type(type_of(at)); }
    // 16 of a float4; 0: the source names no type of numbers.
    std::uint32_t element_bytes(std::size_t at) const {
        const auto type = element_type_of_array(element_of_type(type_of(at)));
        return type ? bytes_of(*type) : 0;
    }

    // How the pointer's array can be declared: by the type in the source, else by the widest
    // access; a structure's by its bytes.
    std::string declared(std::size_t at) const {
        const auto kind = kind_of(at);
        if (kind && element_bytes(at) > kind->bytes)
            return element_of_type(type_of(at)) + "[COUNT]";
        if (kind) return fmt::format("{}{}[COUNT]", kind->kind, 8 * kind->bytes);
        if (!type_of(at).empty()) return "u8[BYTES]";
        switch (code_.widest_bytes[at]) {
            case 1: return "u8[COUNT]";
            case 2: return "u16[COUNT]";
            case 8: return "f64[COUNT]";
            default: return "f32[COUNT]";
        }
    }
    void take_array(std::size_t at, const std::string& value) {
        const ArrayText text = read_array_text(
            value, option_,
            "for example x=f32[1048576], x=i32[4096]=iota, =random:SEED or =@raw.bin");
        LaunchArray array{
            .name = name_of(at), .declared = declared(at), .base = base_of(at), .is_alone = true};
        require_fitting(at, text);
        if (value.starts_with('@')) {
            const bool is_pointer = code_.parameters[at].size_bytes == 8 && code_.is_address[at];
            ArrayFile file =
                contents_of_file(text.file, is_pointer ? kind_of(at) : std::nullopt, option_);
            if (!is_pointer) {
                take_bytes(at, *file.contents, file.size_bytes);
                return;
            }
            require_width(at, file);
            const auto kind = kind_of(at);
            require_numbers(file, kind ? kind->bytes : code_.widest_bytes[at]);
            array.size_bytes = file.size_bytes;
            array.contents = std::move(file.contents);
        } else {
            describe_array(array, text);
        }
        put(at, array.base, 8);
        bound_.memory.add(std::move(array));
    }
    // An array is of the parameter's type, or of bytes that are nothing else.
    void require_fitting(std::size_t at, const ArrayText& text) const {
        if (text.type.empty()) return;
        const std::string name = printable(name_of(at));
        const std::string of =
            fmt::format("{}: parameter {} is {}", option_, name, printable(type_text(code_, at)));
        if (code_.parameters[at].size_bytes != 8 ||
            (type_of(at).find('*') == std::string::npos && kind_of(at)))
            throw UsageError(of + ", no array", fmt::format("for example --arg {}=1000", name));
        if (!element_type_of_array(text.type) && !type_of(at).empty() && !kind_of(at))
            throw UsageError(
                of + fmt::format(", and '{}' is no type of numbers", shown(text.type)),
                fmt::format("an array of structures is given in bytes: --arg {}=u8[BYTES]", name));
        const auto wanted = kind_of(at), given = kind_of_type(text.type);
        const bool are_bytes = given && given->bytes == 1 && text.rule != ArrayRule::iota &&
                               text.rule != ArrayRule::random;
        if (!wanted || !given || are_bytes ||
            (wanted->bytes == given->bytes && (wanted->kind == 'f') == (given->kind == 'f')))
            return;
        // A word for each uchar4.
        if (element_bytes(at) == given->bytes && given->bytes > wanted->bytes) return;
        throw UsageError(of + fmt::format(", and {} was given", shown(text.type)),
                         fmt::format("--arg {}={}", name, declared(at)));
    }
    // NumPy makes int64 and float64 of numbers without a type, and kernels mostly take 4 bytes.
    // Narrower elements may be loaded several at a time.
    void require_width(std::size_t at, const ArrayFile& file) const {
        const std::uint32_t widest = code_.widest_bytes[at];
        if (!file.kind || kind_of(at) || widest == 0 || file.kind->bytes <= widest) return;
        throw UsageError(
            fmt::format("{}: the file holds {}, and the kernel loads and stores at most {} bytes "
                        "of it at a time",
                        option_, dtype_of(*file.kind), widest),
            fmt::format("say the type of its elements, to which the file is converted: --arg "
                        "{}={}{}[{}]=@FILE",
                        name_of(at), file.kind->kind, 8 * widest,
                        file.size_bytes / file.kind->bytes));
    }
    // Text may be meant where elements are bytes.
    void require_numbers(const ArrayFile& file, std::uint32_t bytes) const {
        if (bytes <= 1) return;
        const bool is_whole = file.size_bytes % bytes == 0;
        if (!file.is_text && is_whole) return;
        throw UsageError(
            fmt::format("{}: elements have {} bytes, and the file holds {}", option_, bytes,
                        file.is_text
                            ? std::string("text, no numbers in binary")
                            : fmt::format("{} bytes, no whole number of them", file.size_bytes)),
            "numpy.save and numpy.ndarray.tofile write what is read here; bytes are "
            "u8[COUNT]=@FILE");
    }
    void describe_array(LaunchArray& array, const ArrayText& text) const {
        const ElementKind kind = read_element_kind(text.type, option_);
        array.size_bytes = text.elements() * kind.bytes;
        if (text.file.empty()) {
            if (text.has_contents())
                array.contents = contents_by_rule(text.rule, text.seed, kind, text.elements());
            return;
        }
        ArrayFile file = contents_of_file(text.file, kind_of_type(text.type), option_);
        require_numbers(file, kind.bytes);
        if (file.size_bytes != array.size_bytes)
            throw UsageError(fmt::format("{}: the file holds {} elements, the array {}", option_,
                                         file.size_bytes / kind.bytes, text.elements()),
                             fmt::format("for all of them: --arg {}={}[{}]=@{}", array.name,
                                         text.type, file.size_bytes / kind.bytes, text.file));
        array.contents = std::move(file.contents);
    }
    // A structure, from a file.
    void take_bytes(std::size_t at, const ArrayContents& contents, std::uint64_t size_bytes) {
        const std::uint32_t wanted = code_.parameters[at].size_bytes;
        if (size_bytes != wanted)
            throw UsageError(fmt::format("{}: parameter {} takes {} bytes, the file holds {}",
                                         option_, name_of(at), wanted, size_bytes));
        for (std::uint32_t i = 0; i < wanted; ++i)
            bound_.launch.parameters[code_.parameter_offsets[at] + i] =
                static_cast<std::uint8_t>(contents.number_at(i, 1));
    }

    void take_scalar(std::size_t at, const std::string& value) {
        const PtxParameter& parameter = code_.parameters[at];
        if (parameter.size_bytes > 8)
            throw UsageError(fmt::format("{}: parameter {} is a structure of {} bytes", option_,
                                         name_of(at), parameter.size_bytes),
                             "give its bytes in a file: NAME=@raw.bin");
        if (code_.is_address[at] && element_type_of_array(value))
            throw UsageError(
                fmt::format("{}: it does not say how many elements the array has", option_),
                fmt::format("for example --arg {}={}[1048576]", printable(name_of(at)), value));
        const std::string near = hint_for_near(value);
        const std::string hint =
            !near.empty() ? near
            : value == "NULL" || value == "nullptr"
                ? fmt::format("the null pointer is 0: --arg {}=0", printable(name_of(at)))
            : code_.is_address[at] ? std::filesystem::exists(value) || value.ends_with(".npy")
                                         ? fmt::format("did you mean --arg {}=@{}?",
                                                       printable(name_of(at)), shown(value))
                                         : fmt::format("an array has a size: --arg {}={}",
                                                       printable(name_of(at)), declared(at))
                                   : hint_for_count(value);
        const bool is_pointer = code_.is_address[at] && at < code_.own_parameters();
        const std::uint64_t bits =
            scalar_of(value, is_pointer ? 'b' : letter_of(at), parameter.size_bytes * 8, hint);
        if (is_pointer && bits != 0)
            throw UsageError(
                fmt::format("{}: parameter {} is a pointer, no number", option_, name_of(at)),
                fmt::format("say what it points to: --arg {}={}; 0 is the null pointer",
                            name_of(at), declared(at)));
        put(at, bits, parameter.size_bytes);
    }
    // f: a real; u, s, i: an integer; b: bits that may be either.
    char letter_of(std::size_t at) const {
        if (code_.is_address[at]) return 'u';
        const auto kind = kind_of(at);
        const bool is_plain = kind && kind->bytes == code_.parameters[at].size_bytes &&
                              (kind->kind != 'f' || kind->bytes >= 4);
        return is_plain ? kind->kind : code_.parameters[at].type.front();
    }
    std::uint64_t scalar_of(const std::string& value, char letter, std::uint32_t bits,
                            const std::string& hint) const {
        const char* end = value.data() + value.size();
        double real = 0;
        const auto [read, error] = std::from_chars(value.data(), end, real);
        const bool is_real = error == std::errc{} && read == end && bits >= 32;
        const std::size_t sign = value.starts_with('-') ? 1 : 0;
        const auto whole = read_count(std::string_view(value).substr(sign));
        // Bits of no type: 1e6 is a real, 1000000 an integer.
        const bool means_real =
            letter == 'b' && is_real && value.find_first_of(".eE") != value.npos;
        if (letter != 'f' && whole && !means_real) {
            const std::uint64_t most =
                bits >= 64 ? largest_integer : (std::uint64_t{1} << bits) - 1;
            // Bits may be typed in hexadecimal whatever the type.
            const bool is_signed =
                (letter == 'i' || letter == 's') && value.find_first_of("xX") == value.npos;
            const std::uint64_t limit = sign != 0 ? most / 2 + 1 : is_signed ? most / 2 : most;
            if (*whole > limit)
                throw UsageError(fmt::format("{}: it does not fit {} of {} bits", option_,
                                             is_signed ? "an integer" : "a number", bits),
                                 fmt::format("{} {}{}", sign != 0 ? "at least" : "at most",
                                             sign != 0 ? "-" : "", limit));
            return sign != 0 ? ~*whole + 1 : *whole;
        }
        if (!is_real)
            throw UsageError(fmt::format("{}: '{}' is no number", option_, shown(value)),
                             hint.empty()
                                 ? "numbers look like 1000, 64*64, 1e6, -2.5 and 0x10; true is 1"
                                 : hint);
        if (letter == 'u' || letter == 's' || letter == 'i')
            throw UsageError(fmt::format("{}: '{}' is no integer, and the kernel takes one",
                                         option_, shown(value)),
                             fmt::format("write {:.0f}", std::trunc(real)));
        return bits == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(real))
                          : std::bit_cast<std::uint64_t>(real);
    }

    void add_arrays() {
        for (std::size_t i = 0; i < is_given_.size(); ++i)
            if (!is_given_[i] && code_.is_address[i]) add_array(i);
    }
    // Adds an array for a pointer that was not described, or that a structure's bytes contain.
    void add_array(std::size_t at) {
        LaunchArray array{
            .name = name_of(at), .declared = declared(at), .base = base_of(at), .is_alone = true};
        if (is_in_bytes(at)) {
            std::memcpy(&array.base, &bound_.launch.parameters[code_.parameter_offsets[at]], 8);
            array.is_alone = false;
            const bool is_known =
                std::ranges::any_of(bound_.memory.arrays(),
                                    [&](const LaunchArray& one) { return one.base == array.base; });
            if (array.base == 0 || is_known) return;
        }
        put(at, array.base, 8);
        bound_.memory.add(std::move(array));
    }
    bool is_in_bytes(std::size_t at) const {
        return at >= code_.own_parameters() &&
               is_given_[code_.structures[at - code_.own_parameters()]];
    }
    void add_variable(std::size_t at) {
        const PtxVariable& variable = code_.variables[at];
        LaunchArray array{.name = variable.name,
                          .base = code_.variable_addresses[at],
                          .size_bytes = variable.size_bytes};
        if (!variable.contents.empty())
            array.contents =
                contents_of_bytes({variable.contents.begin(), variable.contents.end()});
        bound_.memory.add(std::move(array));
    }
    Code& code_;
    const std::vector<std::string>& typed_;
    BoundLaunch bound_;
    std::vector<bool> is_given_;
    std::vector<std::pair<std::size_t, std::size_t>> shared_;  // parameter, owner of its array
    std::string option_;
};

}  // namespace

namespace {

// Numbers and structures that decide addresses or branches.
std::vector<std::size_t> missing_parameters(const Code& code,
                                            const std::vector<std::string>& all_typed) {
    std::vector<bool> is_given(code.parameters.size(), false);
    for (const std::string& typed : all_typed)
        if (const auto at = parameter_of(code, typed)) is_given[*at] = true;
    for (std::size_t i = code.own_parameters(); i < is_given.size(); ++i)
        if (is_given[code.structures[i - code.own_parameters()]]) is_given[i] = true;
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < is_given.size(); ++i)
        if (!is_given[i] && !code.is_address[i] && code.is_needed[i]) missing.push_back(i);
    return missing;
}

}  // namespace

BoundLaunch bind_arguments(Code& code, const std::vector<std::string>& typed) {
    BoundLaunch bound = Binder(code, typed).bind();
    std::string texts, examples;
    for (const std::size_t i : missing_parameters(code, typed)) {
        const std::string name = parameter_name(code, i);
        texts +=
            fmt::format("{}--arg {} ({})", texts.empty() ? "" : ", ", name, type_text(code, i));
        examples += fmt::format(" --arg {}={}", name,
                                code.parameters[i].size_bytes > 8 ? "@raw.bin" : "1000");
    }
    if (!texts.empty())
        throw UsageError(fmt::format("kernel {}: its launch lacks {}",
                                     printable(kernel_name(code.kernel)), printable(texts)),
                         fmt::format("add, with your own values:{}", printable(examples)));
    return bound;
}

std::vector<std::string> assumed_arguments(const Code& code, const std::vector<std::string>& typed,
                                           const std::array<std::uint64_t, 3>& threads) {
    constexpr std::uint64_t usual_size = 1024;  // of a row, say
    std::vector<std::string> assumed;
    std::vector<std::uint64_t> sizes;
    for (const std::size_t i : missing_parameters(code, typed)) {
        const PtxParameter& one = code.parameters[i];
        if (sizes.empty()) sizes = sizes_by_threads(code, threads);
        // A member without a name that is compared with nothing may be a stride in bytes.
        const bool is_nameless = i >= code.own_parameters() && one.source.name.empty();
        if (one.size_bytes > 8 || (is_nameless && sizes[i] == 0)) continue;
        const bool is_size = one.size_bytes > 1 && !one.type.starts_with('f');
        const std::uint64_t most = one.size_bytes < 4 ? usual_size : 1 << 30;
        assumed.push_back(
            fmt::format("{}={}", parameter_name(code, i),
                        is_size ? std::min(sizes[i] == 0 ? usual_size : sizes[i], most) : 1));
    }
    return assumed;
}

std::string describe_parameters(const Code& code) {
    std::string text;
    for (std::size_t i = 0; i < code.own_parameters(); ++i) {
        std::string members;
        for (std::size_t j = code.own_parameters(); j < code.parameters.size(); ++j)
            if (code.structures[j - code.own_parameters()] == i)
                members += fmt::format("{} {} {}", members.empty() ? ":" : ",",
                                       parameter_name(code, j), type_text(code, j));
        text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", parameter_name(code, i),
                            type_text(code, i), members);
    }
    return text.empty() ? "no parameters" : text;
}

}  // namespace coalprof
