#include "core/formula/formula_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "core/json/json_stream.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

constexpr std::uint32_t most_per_thread = 64;
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_bytes = 1u << 20;

std::optional<std::int64_t> integer_in(JsonView value) {
    const std::optional<Value> any = value.value();
    const auto* integer = any ? std::get_if<std::int64_t>(&*any) : nullptr;
    return integer ? std::optional(*integer) : std::nullopt;
}

// The kind of a value in plain words.
std::string_view kind_text(JsonView value) {
    if (integer_in(value)) return "an integer";
    if (value.kind() == JsonKind::null) return "null";
    if (value.kind() == JsonKind::flag) return "true or false";
    if (value.kind() == JsonKind::text) return "text";
    if (value.kind() == JsonKind::list) return "a list";
    if (value.kind() == JsonKind::object) return "an object";
    return value.kind() == JsonKind::real ? "a number that is no integer"
                                          : "an integer of more than 63 bits";
}

// The place in the file of each byte of a text's value, and that of its end; `at` is its opening
// quote in a file that was accepted.
std::vector<std::size_t> places_of_text(std::string_view file, std::size_t at) {
    std::vector<std::size_t> places;
    for (++at; file[at] != '"';) {
        std::size_t written = 1;
        std::size_t stands_for = 1;
        if (file[at] == '\\') {
            written = file[at + 1] == 'u' ? 6 : 2;
            if (written == 6) {
                const std::string digits(file.substr(at + 2, 4));
                const unsigned long unit = std::stoul(digits, nullptr, 16);
                const bool is_pair = unit >= 0xD800 && unit <= 0xDFFF;
                if (is_pair) written = 12;
                stands_for = is_pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
            }
        }
        places.insert(places.end(), stands_for, at);
        at += written;
    }
    places.push_back(at);
    return places;
}

class FormulaFileReader {
 public:
    FormulaFileReader(std::string_view text, std::string file)
        : text_(text), places_(text), file_(std::move(file)) {}

    std::vector<SavedFormula> read() const {
        const auto source = bytes_of_text(text_);
        JsonStream stream(*source);
        stream.is_written_by_hand();
        const auto require_step = [&](JsonStream::Step step) {
            const JsonStream::Step found = stream.next();
            if (found == step) return;
            fail_at(stream.bytes(),
                    found == JsonStream::Step::wrong ? stream.problem()
                    : found == JsonStream::Step::value
                        ? "a second document follows the first"
                        : "this is no whole JSON document: it ends too early",
                    "");
        };
        require_step(JsonStream::Step::value);
        std::vector<SavedFormula> formulas = formulas_in(stream.value());
        require_step(JsonStream::Step::end);
        return formulas;
    }

 private:
    std::vector<SavedFormula> formulas_in(JsonView root) const {
        require(root, JsonKind::object, "an object that holds 'formula'");
        std::vector<SavedFormula> formulas;
        std::optional<JsonView> list;
        each_member(root, [&](JsonView member) {
            if (member.name() != "formula")
                fail_key(member, std::array<std::string_view, 1>{"formula"});
            list = member;
        });
        if (!list)
            throw UsageError(fmt::format(
                "{}: no formula: a file looks like {{\"formula\": [{{\"name\": \"row\", "
                "\"expr\": \"i*3\"}}]}}",
                shown(file_)));
        require(*list, JsonKind::list, "a list of formulas");
        const auto count = static_cast<std::size_t>(std::distance(list->begin(), list->end()));
        if (count == 0 || count > max_saved_formulas)
            fail(*list, fmt::format("{} formulas; a file has 1 to {}", count, max_saved_formulas));
        for (const JsonView item : *list) {
            formulas.push_back(read_formula(item));
            const SavedFormula& latest = formulas.back();
            for (std::size_t k = 0; k + 1 < formulas.size(); ++k)
                if (formulas[k].name == latest.name)
                    fail(item, fmt::format("the name '{}' comes twice", shown(latest.name)));
        }
        return formulas;
    }
    // Throws where a name comes twice.
    template <typename Visit>
    void each_member(JsonView object, Visit visit) const {
        std::set<std::string_view> names;
        for (const JsonView member : object) {
            if (!names.insert(member.name()).second)
                fail_at(member.name_at(), fmt::format("'{}' comes twice", shown(member.name())),
                        "");
            visit(member);
        }
    }

    std::string text_at(std::size_t at) const { return text_of(file_, places_.at(at)); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& sentence,
                              const std::string& hint) const {
        throw UsageError(fmt::format("{}: {}", text_at(at), sentence), "", UsageError::no_caret,
                         hint);
    }
    [[noreturn]] void fail(JsonView value, const std::string& sentence) const {
        fail_at(value.at(), sentence, "");
    }
    [[noreturn]] void fail_key(JsonView member, std::span<const std::string_view> known) const {
        const std::string_view key = member.name();
        const auto near = nearest(key, known);
        std::string list;
        for (const std::string_view word : known)
            list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
        fail_at(member.name_at(), fmt::format("unknown key '{}'", shown(key)),
                near ? fmt::format("did you mean '{}'?", *near) : fmt::format("keys are {}", list));
    }
    void require(JsonView value, JsonKind kind, const char* expected) const {
        if (value.kind() != kind)
            fail(value, fmt::format("expected {}, found {}", expected, kind_text(value)));
    }

    SavedFormula read_formula(JsonView object) const {
        require(object, JsonKind::object, "a formula with name and expr");
        SavedFormula formula;
        each_member(object, [&](JsonView member) { read_member(member, formula); });
        const auto expr = object.find("expr");
        if (formula.name.empty()) fail(object, "a formula needs a name");
        if (!expr) fail(object, fmt::format("formula '{}' needs an expr", formula.name));
        check(*expr, formula);
        return formula;
    }

    void read_member(JsonView value, SavedFormula& formula) const {
        const std::string_view key = value.name();
        static constexpr std::array<std::string_view, 9> known{
            "name", "expr", "vars", "op", "type", "size", "grid", "block", "per_thread"};
        if (key == "name") {
            formula.name = read_name(value);
        } else if (key == "expr") {
            formula.expr = text_in(value);
            formula.expr_place = place_of(value);
        } else if (key == "vars") {
            read_vars(value, formula);
        } else if (key == "op") {
            formula.op = find_word<Op>(text_in(value));
            if (!formula.op) fail(value, unknown_word("op", text_in(value), word_list<Op>()));
        } else if (key == "type") {
            formula.type = find_element_type(text_in(value));
            if (!formula.type)
                fail(value, unknown_word("type", text_in(value), element_type_list()));
        } else if (key == "size") {
            formula.size_bytes = read_size(value);
        } else if (key == "block") {
            const std::string text = digits_in(value);
            located(value, [&] { formula.block = parse_block(text, "block"); });
        } else if (key == "grid") {
            const std::string text = digits_in(value);
            located(value, [&] { formula.grid = parse_grid(text, "grid"); });
        } else if (key == "per_thread") {
            const auto integer = integer_in(value);
            if (!integer)
                fail(value, fmt::format("expected an integer, found {}", kind_text(value)));
            if (*integer < 1 || *integer > most_per_thread)
                fail(value, fmt::format("per_thread is 1 to {}", most_per_thread));
            formula.per_thread = static_cast<std::uint32_t>(*integer);
        } else {
            fail_key(value, known);
        }
    }

    std::string text_in(JsonView value, const char* expected = "text") const {
        require(value, JsonKind::text, expected);
        return std::string(*value.text());
    }
    // A number may be written with or without quotes.
    std::string digits_in(JsonView value, const char* expected = "an integer or text") const {
        if (const auto integer = integer_in(value)) return fmt::format("{}", *integer);
        return text_in(value, expected);
    }

    std::string read_name(JsonView value) const {
        const std::string name = text_in(value);
        const bool is_printable =
            std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
        if (name.empty() || name.size() > longest_name || !is_printable)
            fail(value, fmt::format("a name is 1 to {} printable ASCII characters", longest_name));
        return name;
    }

    std::uint64_t read_size(JsonView value) const {
        const std::string text = digits_in(value);
        std::uint64_t size = 0;
        located(value, [&] { size = parse_size_bytes(text, "size"); });
        return size;
    }

    void read_vars(JsonView value, SavedFormula& formula) const {
        require(value, JsonKind::object, "an object, e.g. {\"k\": \"0..32\"}");
        each_member(value, [&](JsonView range) {
            const std::string_view name = range.name();
            located_at(range.name_at(), [&] { require_parameter_name(name); });
            std::vector<std::int64_t> values;
            if (!range.is_list()) {
                add_values(range, name, values);
            } else {
                for (const JsonView item : range) add_values(item, name, values);
                if (values.empty()) fail(range, "a parameter needs a value");
            }
            formula.vars.emplace_back(name, std::move(values));
        });
    }

    // 7, "0..32", or an item of a list of the two.
    void add_values(JsonView item, std::string_view name, std::vector<std::int64_t>& values) const {
        const std::string text = digits_in(item, "an integer or a range in quotes");
        located(item, [&] {
            const Range range = parse_signed_range(text, fmt::format("vars.{}=", name));
            // Counted before they are made: each is a point of the sweep, or several.
            values_ += range.count();
            if (values_ > most_range_points)
                throw UsageError(
                    fmt::format("more than {} values in this file, which is the most "
                                "points that a sweep has",
                                most_range_points));
            const auto more = range.signed_values();
            values.insert(values.end(), more.begin(), more.end());
        });
    }

    TextPlace place_of(JsonView text) const {
        TextPlace place{file_, {}};
        for (const std::size_t at : places_of_text(text_, text.at()))
            place.places.push_back(places_.at(at));
        return place;
    }

    // Runs a parser that knows nothing of files, and adds the place to its errors.
    template <typename Parse>
    void located(JsonView value, Parse parse) const {
        try {
            parse();
        } catch (const UsageError& error) {
            if (const auto text = value.text()) throw place_of(value).located(error, *text);
            throw located_error(value.at(), error);
        }
    }
    template <typename Parse>
    void located_at(std::size_t at, Parse parse) const {
        try {
            parse();
        } catch (const UsageError& error) {
            throw located_error(at, error);
        }
    }
    UsageError located_error(std::size_t at, const UsageError& error) const {
        return {fmt::format("{}: {}", text_at(at), error.what()), error.text(), error.caret(),
                error.hint()};
    }

    void check(JsonView expr, const SavedFormula& formula) const {
        std::vector<std::string> names;
        for (const auto& var : formula.vars) names.push_back(var.first);
        ParsedFormula parsed;
        located(expr, [&] { parsed = parse_formula(formula.expr, names); });
        for (std::size_t k = 0; k < names.size(); ++k)
            if (!parsed.uses_parameter[k])
                fail(expr, fmt::format("'{}' of vars does not occur in the expr", names[k]));
    }

    std::string_view text_;
    mutable PlaceFinder places_;  // keeps the position of its last search
    std::string file_;
    mutable std::uint64_t values_ = 0;  // of all parameters of all formulas
};

}  // namespace

std::vector<SavedFormula> parse_formula_file(std::string_view text, const std::string& file) {
    if (text.size() > most_bytes)
        throw UsageError(fmt::format("{}: larger than {} bytes", shown(file), most_bytes));
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (!text.starts_with(byte_order_mark)) return FormulaFileReader(text, file).read();
    std::string without_mark(text);  // blanks in its place: positions stay the same
    without_mark.replace(0, byte_order_mark.size(), byte_order_mark.size(), ' ');
    return FormulaFileReader(without_mark, file).read();
}

std::vector<SavedFormula> read_formula_file(const std::string& path) {
    const auto source = open_bytes(path);
    const std::string name = path == "-" ? "standard input" : path;
    const auto text = read_whole(*source, most_bytes);
    if (!text) throw UsageError(fmt::format("{}: larger than {} bytes", shown(name), most_bytes));
    return parse_formula_file(*text, name);
}

}  // namespace coalprof
