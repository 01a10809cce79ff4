#include "core/formula/formula_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/json/json_value.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/range.h"
#include "core/text/size.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

constexpr std::uint32_t most_per_thread = 64;
constexpr std::size_t longest_name = 64;

class FormulaFileReader {
 public:
    FormulaFileReader(std::string_view text, std::string file)
        : places_(text), file_(std::move(file)) {}

    std::vector<SavedFormula> read(const FileValue& root) const {
        require(root, FileValue::Kind::object, "an object that holds 'formula'");
        std::vector<SavedFormula> formulas;
        const FileValue* list = nullptr;
        for (const auto& [key, at, value] : root.members) {
            if (key != "formula") fail_key(at, key, std::array<std::string_view, 1>{"formula"});
            list = &value;
        }
        if (list == nullptr)
            throw UsageError(fmt::format(
                "{}: no formula: a file looks like {{\"formula\": [{{\"name\": \"row\", "
                "\"expr\": \"i*3\"}}]}}",
                shown(file_)));
        require(*list, FileValue::Kind::list, "a list of formulas");
        if (list->items.empty() || list->items.size() > max_saved_formulas)
            fail(*list, fmt::format("{} formulas; a file has 1 to {}", list->items.size(),
                                    max_saved_formulas));
        for (const FileValue& item : list->items) {
            formulas.push_back(read_formula(item));
            const SavedFormula& latest = formulas.back();
            for (std::size_t k = 0; k + 1 < formulas.size(); ++k)
                if (formulas[k].name == latest.name)
                    fail(item, fmt::format("the name '{}' comes twice", shown(latest.name)));
        }
        return formulas;
    }

 private:
    std::string text_at(std::size_t at) const { return text_of(file_, places_.at(at)); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& sentence,
                              const std::string& hint) const {
        throw UsageError(fmt::format("{}: {}", text_at(at), sentence), "", UsageError::no_caret,
                         hint);
    }
    [[noreturn]] void fail(const FileValue& value, const std::string& sentence) const {
        fail_at(value.at, sentence, "");
    }
    [[noreturn]] void fail_key(std::size_t at, std::string_view key,
                               std::span<const std::string_view> known) const {
        const auto near = nearest(key, known);
        std::string list;
        for (const std::string_view word : known)
            list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
        fail_at(at, fmt::format("unknown key '{}'", shown(key)),
                near ? fmt::format("did you mean '{}'?", *near) : fmt::format("keys are {}", list));
    }
    void require(const FileValue& value, FileValue::Kind kind, const char* expected) const {
        if (value.kind != kind)
            fail(value, fmt::format("expected {}, found {}", expected, value.type));
    }

    SavedFormula read_formula(const FileValue& object) const {
        require(object, FileValue::Kind::object, "a formula with name and expr");
        SavedFormula formula;
        const FileValue* expr = nullptr;
        for (const FileMember& member : object.members) {
            if (member.name == "expr") expr = &member.value;
            read_member(member, formula);
        }
        if (formula.name.empty()) fail(object, "a formula needs a name");
        if (expr == nullptr) fail(object, fmt::format("formula '{}' needs an expr", formula.name));
        check(*expr, formula);
        return formula;
    }

    void read_member(const FileMember& member, SavedFormula& formula) const {
        const auto& [key, at, value] = member;
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
            formula.op = find_op(text_in(value));
            if (!formula.op) fail(value, unknown_word("op", value.text, op_list()));
        } else if (key == "type") {
            formula.type = find_element_type(text_in(value));
            if (!formula.type) fail(value, unknown_word("type", value.text, element_type_list()));
        } else if (key == "size") {
            formula.size_bytes = read_size(value);
        } else if (key == "block") {
            const std::string text = digits_in(value);
            located(value, [&] { formula.block = parse_block(text, "block"); });
        } else if (key == "grid") {
            const std::string text = digits_in(value);
            located(value, [&] { formula.grid = parse_grid(text, "grid"); });
        } else if (key == "per_thread") {
            require(value, FileValue::Kind::integer, "an integer");
            if (value.integer < 1 || value.integer > most_per_thread)
                fail(value, fmt::format("per_thread is 1 to {}", most_per_thread));
            formula.per_thread = static_cast<std::uint32_t>(value.integer);
        } else {
            fail_key(at, key, known);
        }
    }

    const std::string& text_in(const FileValue& value, const char* expected = "text") const {
        require(value, FileValue::Kind::text, expected);
        return value.text;
    }
    // A number may be written with or without quotes.
    std::string digits_in(const FileValue& value,
                          const char* expected = "an integer or text") const {
        if (value.kind == FileValue::Kind::integer) return fmt::format("{}", value.integer);
        return text_in(value, expected);
    }

    std::string read_name(const FileValue& value) const {
        const std::string& name = text_in(value);
        const bool is_printable =
            std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
        if (name.empty() || name.size() > longest_name || !is_printable)
            fail(value, fmt::format("a name is 1 to {} printable ASCII characters", longest_name));
        return name;
    }

    std::uint64_t read_size(const FileValue& value) const {
        const std::string text = digits_in(value);
        std::uint64_t size = 0;
        located(value, [&] { size = parse_size_bytes(text, "size"); });
        return size;
    }

    void read_vars(const FileValue& value, SavedFormula& formula) const {
        require(value, FileValue::Kind::object, "an object, e.g. {\"k\": \"0..32\"}");
        for (const auto& [name, at, range] : value.members) {
            located_at(at, [&, name = std::string_view(name)] { require_parameter_name(name); });
            const bool is_list = range.kind == FileValue::Kind::list;
            if (is_list && range.items.empty()) fail(range, "a parameter needs a value");
            std::vector<std::int64_t> values;
            for (const FileValue& item : is_list ? range.items : std::vector{range})
                add_values(item, name, values);
            formula.vars.emplace_back(name, std::move(values));
        }
    }

    // 7, "0..32", or an item of a list of the two.
    void add_values(const FileValue& item, std::string_view name,
                    std::vector<std::int64_t>& values) const {
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

    TextPlace place_of(const FileValue& text) const {
        TextPlace place{file_, {}};
        for (const std::uint32_t at : text.text_at) place.places.push_back(places_.at(at));
        return place;
    }

    // Runs a parser that knows nothing of files, and adds the place to what it says.
    template <typename Parse>
    void located(const FileValue& value, Parse parse) const {
        try {
            parse();
        } catch (const UsageError& error) {
            if (value.kind == FileValue::Kind::text)
                throw place_of(value).located(error, value.text);
            throw located_error(value.at, error);
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

    void check(const FileValue& expr, const SavedFormula& formula) const {
        std::vector<std::string> names;
        for (const auto& var : formula.vars) names.push_back(var.first);
        ParsedFormula parsed;
        located(expr, [&] { parsed = parse_formula(formula.expr, names); });
        for (std::size_t k = 0; k < names.size(); ++k)
            if (!parsed.uses_parameter[k])
                fail(expr, fmt::format("'{}' of vars does not occur in the expr", names[k]));
    }

    mutable PlaceFinder places_;  // remembers how far it has read
    std::string file_;
    mutable std::uint64_t values_ = 0;  // of all parameters of all formulas
};

// As files of formulas were before 1.0.
bool is_toml(std::string_view text, std::string_view file) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return (text.starts_with("[[") && !text.starts_with("[[[")) || text.starts_with("#") ||
           (file.ends_with(".toml") && !text.starts_with("{") && !text.starts_with("/"));
}

}  // namespace

std::vector<SavedFormula> parse_formula_file(std::string_view text, const std::string& file) {
    if (is_toml(text, file))
        throw UsageError(
            fmt::format("{}: TOML, and files of formulas are JSON", shown(file)), "",
            UsageError::no_caret,
            "python3 -c 'import json, sys, tomllib; json.dump(tomllib.load(sys.stdin.buffer), "
            "sys.stdout, indent=1)' < set.toml > set.json makes it so");
    return FormulaFileReader(text, file).read(parse_json(text, file));
}

std::vector<SavedFormula> read_formula_file(const std::string& path) {
    const auto source = open_bytes(path);
    // One byte more than is accepted tells a file that is too large, however large it is.
    std::string text(max_config_bytes + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const std::size_t bytes = source->read(std::span(text).subspan(size));
        if (bytes == 0) break;
        size += bytes;
    }
    text.resize(size);
    return parse_formula_file(text, path == "-" ? "standard input" : path);
}

}  // namespace coalprof
