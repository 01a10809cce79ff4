#include "core/formula/macros.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/formula/complaint.h"
#include "core/formula/lexer.h"

namespace coalprof {
namespace {

struct Macro {
    std::string name;
    std::optional<std::vector<std::string>> parameters;
    std::string body;
};

class MacroExpander {
 public:
    MacroExpander(std::string_view text, std::size_t most_bytes)
        : text_(text), most_bytes_(most_bytes) {}

    std::string expand() {
        std::string code;
        for (std::size_t at = 0; at < text_.size();) {
            std::size_t end = std::min(text_.find('\n', at), text_.size());
            while (end < text_.size() && end > at && text_[end - 1] == '\\')
                end = std::min(text_.find('\n', end + 1), text_.size());
            const std::string_view line = text_.substr(at, end - at);
            const std::size_t first = line.find_first_not_of(" \t");
            if (first != line.npos && line[first] == '#')
                take_directive(line.substr(first), at + first);
            else
                code.append(line).append("\n");
            at = end + 1;
        }
        if (!code.empty()) code.pop_back();
        return replaced(code, 0);
    }

 private:
    UsageError error(std::size_t at, const std::string& sentence, const std::string& hint) const {
        return formula_error(text_, at, sentence, hint);
    }

    void take_directive(std::string_view line, std::size_t at) {
        const Token word = next_token(line, 1);
        if (word.text == "pragma" || word.text == "include" || word.text == "undef") return;
        if (word.text != "define")
            throw error(at, fmt::format("'#{}' is not understood", shown(word.text)),
                        "leave the branch that is compiled, and take the line out");
        const Token name = next_token(line, word.end());
        if (name.kind != TokenKind::name)
            throw error(at, "a macro has a name", "for example #define N 1024");
        Macro macro{std::string(name.text), std::nullopt, {}};
        std::size_t body = name.end();
        if (body < line.size() && line[body] == '(') body = take_parameters(line, body, macro);
        macro.body = line.substr(body);
        macro.body = macro.body.substr(0, std::min(macro.body.find("//"), macro.body.size()));
        std::ranges::replace(macro.body, '\\', ' ');
        std::ranges::replace(macro.body, '\n', ' ');
        macros_.insert(macros_.begin(), std::move(macro));
    }

    static std::size_t take_parameters(std::string_view line, std::size_t open, Macro& macro) {
        macro.parameters.emplace();
        const std::size_t close = std::min(line.find(')', open), line.size());
        for (Token token = next_token(line, open + 1); token.at < close;
             token = next_token(line, token.end()))
            if (token.kind == TokenKind::name) macro.parameters->emplace_back(token.text);
        return std::min(close + 1, line.size());
    }

    // Names of `from`, each with its replacement.
    template <typename Put>
    std::string each_name(std::string_view from, Put put) const {
        std::string result;
        for (std::size_t at = 0; at < from.size();) {
            std::size_t end = at;
            while (end < from.size() && is_name_char(from[end])) ++end;
            if (end == at) {
                result += from[at++];
                continue;
            }
            const std::string_view word = from.substr(at, end - at);
            at = put(word, end, result);
            if (result.size() > most_bytes_)
                throw error(0,
                            fmt::format("longer than {} characters with its macros", most_bytes_),
                            "measure its parts in several formulas");
        }
        return result;
    }

    std::string replaced(std::string_view from, int depth) const {
        constexpr std::size_t most_expansions = 10'000;
        if (macros_.empty()) return std::string(from);
        if (++expansions_ > most_expansions)
            throw error(0, "macros stand for each other too often", "put them in by hand");
        constexpr int most_levels = 16;
        return each_name(from, [&](std::string_view word, std::size_t end, std::string& result) {
            const auto macro = std::ranges::find(macros_, word, &Macro::name);
            const std::size_t open = from.find_first_not_of(" \t\n", end);
            const bool is_called = open != from.npos && from[open] == '(';
            if (macro == macros_.end() || depth == most_levels ||
                (macro->parameters && !is_called)) {
                result += word;
                return end;
            }
            if (!macro->parameters) {
                result += replaced(macro->body, depth + 1);
                return end;
            }
            std::vector<std::string> arguments;
            end = take_arguments(from, open, arguments);
            if (arguments.size() != macro->parameters->size())
                throw error(0,
                            fmt::format("macro {} takes {} arguments, and is given {}", macro->name,
                                        macro->parameters->size(), arguments.size()),
                            "");
            result += replaced(with_arguments(*macro, arguments), depth + 1);
            return end;
        });
    }

    std::string with_arguments(const Macro& macro,
                               const std::vector<std::string>& arguments) const {
        const auto& names = *macro.parameters;
        return each_name(
            macro.body, [&](std::string_view word, std::size_t end, std::string& result) {
                const auto found = std::ranges::find(names, word);
                result += found == names.end()
                              ? std::string(word)
                              : arguments[static_cast<std::size_t>(found - names.begin())];
                return end;
            });
    }

    // After the ')'.
    static std::size_t take_arguments(std::string_view from, std::size_t open,
                                      std::vector<std::string>& arguments) {
        int depth = 0;
        arguments.emplace_back();
        for (std::size_t at = open; at < from.size(); ++at) {
            const char c = from[at];
            if (c == ')' && --depth == 0) return at + 1;
            if (c == ',' && depth == 1) {
                arguments.emplace_back();
                continue;
            }
            if (depth > 0) arguments.back() += c;
            if (c == '(') ++depth;
        }
        return from.size();
    }

    std::string_view text_;
    std::size_t most_bytes_;
    std::vector<Macro> macros_;
    mutable std::size_t expansions_ = 0;
};

}  // namespace

std::string without_macros(std::string_view text, std::size_t most_bytes) {
    if (text.find('#') == text.npos) return std::string(text);
    return MacroExpander(text, most_bytes).expand();
}

}  // namespace coalprof
