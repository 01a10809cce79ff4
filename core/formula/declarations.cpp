// Declarations: structures, variables, pointers and arrays, and the parameters of a kernel.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

// The size that fits the registers of a thread. Larger arrays without __shared__ lie in global
// memory.
constexpr std::uint64_t most_local_bytes = 1024;

bool is_group_type(std::string_view word) {
    return word == "thread_block" || word == "thread_block_tile";
}

}  // namespace

// True if the word can only begin a declaration: "half" may also be a name of the user's.
bool FormulaReader::begins_declaration() const {
    Token word = token_;
    Token after = peek();
    while (after.is("::")) {  // cg::thread_block
        word = next_token(text_, after.end());
        after = next_token(text_, word.end());
    }
    if (word.kind != TokenKind::name || find_variable_of_text(word.text) || is_known(word.text))
        return false;
    if (is_group_type(word.text)) return after.kind == TokenKind::name || after.is("<");
    if (word.at != token_.at || !types_.begins_type(word.text)) return false;
    return after.kind == TokenKind::name || after.is("*") || after.is("**") || after.is("&") ||
           after.is("{") || (token_.text == "void" && after.is("("));
}

FormulaReader::TypeWords FormulaReader::read_type_words() {
    TypeWords words;
    std::string name;
    const std::size_t at = token_.at;
    while (token_.kind == TokenKind::name) {
        while (peek().is("::")) {
            advance();
            advance();
        }
        const std::string_view word = token_.text;
        if (is_group_type(word)) {
            words.is_auto = true;
            advance();
            if (token_.is("<")) skip_template_arguments();
            return words;
        }
        if (word == "__launch_bounds__" || word == "__align__") {
            seek(end_of_group(peek().at));
            continue;
        }
        if (word == "__shared__") words.space = Space::shared;
        words.is_constant = words.is_constant || word == "__constant__";
        words.is_device = words.is_device || word == "__device__";
        if (!is_qualifier(word)) {
            const std::string longer =
                name.empty() ? std::string(word) : fmt::format("{} {}", name, word);
            const bool is_longer = types_.find(longer).has_value() || longer == "unsigned" ||
                                   longer == "signed" || word == "auto";
            if (!is_longer && !name.empty()) break;
            if (!is_longer)
                throw error(token_.at, fmt::format("unknown type '{}'", shown(word)),
                            hint_for_element_type(word));
            words.is_auto = word == "auto";
            name = longer;
        }
        advance();
        if (token_.is("(")) break;
    }
    if (!words.is_auto) {
        const auto type = types_.find(name);
        if (!type)
            throw error(at, fmt::format("unknown type '{}'", shown(name)),
                        hint_for_element_type(name));
        words.type = *type;
    }
    return words;
}

CTypeId FormulaReader::read_stars(CTypeId type) {
    for (;;) {
        if (token_.is("*") || token_.is("**")) {
            if (token_.is("**")) type = types_.pointer_to(type);
            type = types_.pointer_to(type);
            advance();
        } else if (token_.is("&") ||
                   (token_.kind == TokenKind::name && is_qualifier(token_.text))) {
            saw_restrict_ = saw_restrict_ || token_.text.find("restrict") != token_.text.npos;
            advance();
        } else {
            return type;
        }
    }
}

std::int64_t FormulaReader::constant(const ReadValue& value) const {
    const NodeTree tree = whole(value);
    if (tree.size() == 1 && tree.front().kind == NodeKind::literal) return tree.front().value;
    if (launch_.scope == nullptr && decided(tree) != Truth::never) return 1;
    throw error(value.begin, "the extent of an array is a number", "for example float t[32][33]");
}

// The first of several extents may be left out.
CTypeId FormulaReader::read_extents(CTypeId element) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
    std::vector<std::uint64_t> extents;
    std::uint64_t size_bytes = types_.at(element).size_bytes;
    while (token_.is("[")) {
        const std::size_t open = token_.at;
        advance();
        std::int64_t count = extents.empty() ? 0 : -1;
        if (!token_.is("]")) {
            const ReadValue value = read_whole();
            if (whole(value).back().kind != NodeKind::literal) formula_.is_settled = false;
            count = constant(value);
            if (count == 0) count = -1;
        }
        const auto known = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
        if (count < 0 || known > most_bytes || (size_bytes *= known) > most_bytes)
            throw error(open, "an array has 1 element or more, and 1 TiB at most",
                        "for example float t[32][33]");
        expect("]", "for example float t[32][33]");
        extents.push_back(static_cast<std::uint64_t>(count));
    }
    for (std::size_t k = extents.size(); k-- > 0;) element = types_.array_of(element, extents[k]);
    return element;
}

void FormulaReader::declare_array(std::string_view name, CTypeId type, Space space) {
    ReadArray array{name, type, space};
    // Its name points to its elements, or to its rows.
    if (types_.at(type).kind == CType::Kind::array || types_.at(type).kind == CType::Kind::pointer)
        array.type = types_.at(type).inner;
    array.is_restrict = std::exchange(saw_restrict_, false);
    const std::uint64_t size = types_.at(type).size_bytes;
    array.is_local = types_.at(type).kind == CType::Kind::array && space == Space::global &&
                     size <= most_local_bytes && size != 0;
    for (ReadArray& known : arrays_)
        if (known.name == name) {  // --array gives its content, the text its type
            const DeclaredArray* declared = known.declared;
            known = std::move(array);
            known.declared = declared;
            known.is_local = known.is_local && declared == nullptr;
            return;
        }
    arrays_.push_back(std::move(array));
}

void FormulaReader::declare_arrays(const std::vector<DeclaredArray>& arrays) {
    for (const DeclaredArray& one : arrays) {
        std::optional<CTypeId> known = CTypes::usual;
        if (one.type) known = types_.type_of(*one.type);
        if (!one.structure.empty()) known = types_.find(one.structure);
        if (!known)
            throw UsageError(
                fmt::format("--array {0}={1}: '{1}' is no type", one.name, shown(one.structure)),
                "f32, half2, ..., or a structure: --struct 'struct P { float x, y, z; };'");
        CTypeId type = *known;
        for (std::size_t k = one.extents.size(); k-- > 1;)
            type = types_.array_of(type, one.extents[k]);
        arrays_.push_back({one.name, type, Space::global, false, &one});
        if (one.values || one.rule != DeclaredArray::Rule::none ||
            (!one.type && one.extents.size() > 1))
            formula_.is_settled = false;
    }
}

std::vector<CMember> FormulaReader::read_members() {
    std::vector<CMember> members;
    expect("{", "a structure is written struct P { float x, y; };");
    while (!token_.is("}")) {
        const CTypeId base = read_type_words().type;
        do {
            const CTypeId type = read_stars(base);
            if (token_.kind != TokenKind::name)
                throw error(token_.at, fmt::format("expected a member, found {}", named(token_)),
                            "a structure is written struct P { float x, y; };");
            const std::string name(token_.text);
            advance();
            members.push_back({name, read_extents(type), 0});
        } while (take(","));
        expect(";", "members end with ;");
    }
    advance();
    return members;
}

// struct P { float x, y; }; typedef struct { ... } P; typedef float real; using real = float;
void FormulaReader::read_structure(bool is_typedef) {
    advance();
    if (is_typedef && !is_word("struct")) {
        const CTypeId type = read_type();
        types_.add_alias(std::string(token_.text), type);
        advance();
        return;
    }
    if (is_typedef) advance();
    std::string name;
    // struct __align__(16) P
    while (token_.kind == TokenKind::name) {
        name = token_.text;
        advance();
        if (token_.is("(")) seek(end_of_group(token_.at));
    }
    std::vector<CMember> members = read_members();
    if (token_.kind == TokenKind::name && is_typedef) {
        name = token_.text;
        advance();
    }
    const CTypeId type = types_.add_structure(name, std::move(members));
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
    if (types_.at(type).size_bytes == 0 || types_.at(type).size_bytes > most_bytes)
        throw error(token_.at, "a structure has 1 byte or more, and 1 GiB at most",
                    "struct P { float x, y; };");
}

void FormulaReader::read_declaration() {
    const TypeWords words = read_type_words();
    do read_declarator(words);
    while (take(","));
}

void FormulaReader::read_declarator(const TypeWords& words) {
    saw_restrict_ = false;
    CTypeId type = read_stars(words.type);
    const Token name = token_;
    if (name.is("("))
        throw error(name.at, "pointers to functions are not understood",
                    "write what the function does, or give the kernel to `coalprof kernel`");
    if (name.kind != TokenKind::name)
        throw error(name.at, fmt::format("expected a name, found {}", named(name)),
                    "a declaration is written int row = ...; or float t[32][33];");
    advance_past_operand();
    if (token_.is("(") && (words.is_device || !words.is_auto))
        return type == CTypes::none && !words.is_device ? read_parameters()
                                                        : read_function(name.text);
    if (token_.is("[")) {
        type = read_extents(type);
        declare_array(name.text, type, words.space);
        if (words.is_constant)  // it has no sectors
            std::ranges::find(arrays_, name.text, &ReadArray::name)->is_local = true;
    } else if (words.space == Space::shared) {
        declare_array(name.text, types_.array_of(type, 1), words.space);
    } else if (types_.at(type).kind == CType::Kind::pointer && !token_.is("=")) {
        declare_array(name.text, type, words.space);
        return;
    }
    ReadVariable variable{name.text, {}, words.is_auto ? CTypes::none : type, guards_.size(), 0};
    if (find_array(name.text) == nullptr || token_.is("=") || token_.is("{")) {
        read_initializer(variable);
    }
}

// float v = a[i], v{0}, v[2] = {a[i], a[i + 1]}; or no initializer
void FormulaReader::read_initializer(const ReadVariable& variable) {
    const bool is_array = types_.at(variable.type).kind == CType::Kind::array;
    const bool has_value = take("=");
    ReadValue value = data(token_.at, token_.at,
                           error(token_.at, fmt::format("{} has no value", shown(variable.name)),
                                 fmt::format("give it one: --var {}=1024", variable.name)));
    if (token_.is("{")) {
        advance();
        while (!token_.is("}") && token_.kind != TokenKind::end) {
            if (token_.is("{"))
                seek(end_of_group(token_.at));
            else
                loaded(read_whole());
            if (!take(",")) break;
        }
        expect("}", "values stand in { }");
    } else if (has_value) {
        value = taken(read_whole(), variable.type, variable.name);
    } else {  // a parameter of a kernel, or a variable that gets its value later
        for (std::size_t k = 0; k < formula_.parameters.size(); ++k)
            if (formula_.parameters[k] == variable.name) return;
    }
    if (is_array) return;
    const bool is_kept = variable.type == CTypes::none || value.is(Kind::place);
    declare(variable.name,
            is_kept ? std::move(value) : cast(std::move(value), variable.type, token_.at),
            variable.type);
}

// __global__ void f(const float* a, float* b, int n)
void FormulaReader::read_parameters() {
    expect("(", "");
    while (!token_.is(")")) {
        read_declarator(read_type_words());
        if (!take(",")) break;
    }
    expect(")", "the parameters of a kernel end with )");
}

// A function that is called is replaced by its result; the text of others is skipped.
void FormulaReader::read_function(std::string_view name) {
    ReadFunction function{name, {}, 0};
    const std::size_t close = end_of_group(token_.at);
    std::string_view last;
    for (Token token = peek(); token.at < close; token = next_token(text_, token.end())) {
        const bool ends = token.is(",") || token.at + 1 == close;
        if (ends && !last.empty()) function.parameters.push_back(last);
        if (token.kind == TokenKind::name) last = token.text;
    }
    seek(close);
    if (!token_.is("{")) return;  // its body follows elsewhere
    const std::size_t open = token_.at;
    advance();
    if (is_word("return")) {
        function.result_at = token_.end();
        functions_.push_back(std::move(function));
    }
    seek(end_of_group(open));
    ended_function_ = true;
}

// ---- variables ----

ReadVariable* FormulaReader::find_variable_of_text(std::string_view name) {
    for (std::size_t k = variables_.size(); k-- > 0;)
        if (variables_[k].name == name) return &variables_[k];
    return nullptr;
}

void FormulaReader::declare(std::string_view name, ReadValue value, CTypeId type) {
    variables_.push_back({name, std::move(value), type, guards_.size(), ++numbers_});
}

// An undeclared name exists from the beginning on.
void FormulaReader::declare_first(std::string_view name, ReadValue value) {
    variables_.insert(variables_.begin(), {name, std::move(value), CTypes::none, 0, ++numbers_});
    ++implied_;
}

// Under a condition that does not hold for all threads it keeps its value in the others.
void FormulaReader::assign(ReadVariable& variable, ReadValue value) {
    if (is_dead()) return;
    if (variable.type != CTypes::none) value = cast(std::move(value), variable.type, value.begin);
    const NodeTree condition = condition_from(variable.guards, Guards::of_ifs);
    const auto doubt = doubt_from(variable.guards, Guards::of_ifs);
    const ReadValue& old = variable.value;
    if (value.is(Kind::number) && doubt) {
        value = data(value.begin, value.end, *doubt);
    } else if (value.is(Kind::number) && old.is(Kind::number) && !condition.empty()) {
        const NodeTree then = whole(value);
        const NodeTree otherwise = whole(old);
        value.tree = combined(NodeKind::conditional, value.begin, value.begin, value.end,
                              {&condition, &then, &otherwise});
        value.wraps = false;
    }
    variable.value = std::move(value);
    variable.assigned_at = ++numbers_;
}

ReadValue FormulaReader::converted(ReadValue value, CTypeId id) const {
    const CType& type = types_.at(id);
    if (!value.is(Kind::number)) return value;
    if (!type.is_integer) {
        if (id == CTypes::usual || type.kind != CType::Kind::scalar) return value;
        return data(value.begin, value.end,
                    error(value.begin, fmt::format("a {} is no index", type.name),
                          "an index is a whole number: cast it to int"));
    }
    if (type.size_bytes == 8) {
        value.tree = whole(value);
        value.wraps = false;
        value.arithmetic = Arithmetic::wide;
        return value;
    }
    if (type.size_bytes == 4 && !type.is_signed) {
        value.wraps = value.wraps || value.arithmetic != Arithmetic::word;
        value.arithmetic = Arithmetic::word;
        value.tree = whole(value);
        value.wraps = false;
        return value;
    }
    const bool may_change = type.size_bytes < 4 || value.wraps;
    if (may_change) {
        const auto bits = static_cast<std::uint32_t>(type.size_bytes * 8);
        value.tree = masked(value.tree, bits);
        const std::int64_t sign = std::int64_t{1} << (bits - 1);
        if (type.is_signed)
            value.tree =
                with_number(NodeKind::subtract,
                            with_number(NodeKind::bit_xor, std::move(value.tree), sign), sign);
    }
    value.wraps = false;
    value.arithmetic = Arithmetic::plain;
    return value;
}

bool FormulaReader::is_known(std::string_view name) const {
    return std::ranges::find(formula_.parameters, name) != formula_.parameters.end() ||
           find_variable_of_text(name) != nullptr;
}

std::vector<std::string> FormulaReader::own_names() const {
    std::vector<std::string> names = formula_.parameters;
    for (const ReadVariable& variable : variables_) names.emplace_back(variable.name);
    return names;
}

}  // namespace coalprof
