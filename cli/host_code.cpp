#include "cli/host_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/formula/lexer.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

using Place = std::size_t;

constexpr char directive = '\f';  // stands for the characters of lines of the preprocessor
constexpr const char* blanks = " \t\r\n\f";

// The text with blanks for comments, texts in quotes and lines of the preprocessor.
std::string plain_code(const std::string& cuda) {
    std::string plain = cuda;
    const auto blank = [&](Place from, Place to, char with) {
        for (; from < std::min(to, plain.size()); ++from)
            if (plain[from] != '\n') plain[from] = with;
    };
    for (Place at = 0; at < cuda.size();) {
        const char c = cuda[at];
        Place end = at + 1;
        if (cuda.compare(at, 2, "//") == 0) {
            end = std::min(cuda.find('\n', at), cuda.size());
        } else if (cuda.compare(at, 2, "/*") == 0) {
            end = std::min(cuda.find("*/", at + 2), cuda.size() - 2) + 2;
        } else if (c == '"' || c == '\'') {
            while (end < cuda.size() && cuda[end] != c && cuda[end] != '\n')
                end += cuda[end] == '\\' ? 2 : 1;
            ++end;
        } else if (c == '#') {
            end = std::min(cuda.find('\n', at), cuda.size());
            while (end < cuda.size() && cuda[end - 1] == '\\')
                end = std::min(cuda.find('\n', end + 1), cuda.size());
        }
        if (end > at + 1 || c == '#') blank(at, end, c == '#' ? directive : ' ');
        at = end;
    }
    return plain;
}

struct Statement {
    Place begin = 0, end = 0;  // begins where the statement before it ends
};

class HostCode {
 public:
    explicit HostCode(std::string& cuda) : cuda_(cuda), plain_(plain_code(cuda)) {}

    bool leave_out(Place at) {
        if (const Place mark = cuda_.find_first_not_of(" \t", at); cuda_.compare(mark, 1, "#") == 0)
            return pass_over(mark);
        at = std::min(plain_.find_first_not_of(" \t", at), plain_.size());
        if (std::string_view("\n}").find(plain_[at]) != std::string_view::npos) return false;
        std::vector<Statement> around = statements_around(at);
        std::erase_if(around, [&](const Statement& one) { return is_transparent(text_of(one)); });
        // Braces of a value, as in f({a, b}), hold no statement.
        while (!around.empty() && !is_whole(trimmed(text_of(around.back())))) around.pop_back();
        // A class may have functions of the device beside those of the host.
        const auto is_of_device_at = [&](const Statement& one) {
            const std::string_view all = text_of(one);
            return is_of_device(&one == &around.back() ? all : all.substr(0, all.find('{')));
        };
        if (around.empty() || std::ranges::any_of(around, is_of_device_at)) return false;
        const Statement& one = around.back();
        const std::vector<std::string> names = names_declared_in(text_of(one));
        const Place end_of_scope = around.size() > 1 ? std::prev(around.end(), 2)->end : one.end;
        // Lines of the preprocessor stay.
        bool has_changed = false;
        for (Place i = plain_.find_first_not_of(blanks, one.begin); i < one.end; ++i)
            if (cuda_[i] != '\n' && cuda_[i] != ' ' && plain_[i] != directive) {
                cuda_[i] = plain_[i] = ' ';
                has_changed = true;
            }
        // What uses its names would be an error each of the next round.
        for (const std::string& name : names)
            for (Place use = one.end; (use = plain_.find(name, use)) < end_of_scope; ++use)
                if (!is_name_char(plain_[use - 1]) && !is_name_char(plain_[use + name.size()]))
                    leave_out(use);
        return has_changed;
    }

    std::string instantiations() const {
        std::string all;
        for (Place at = 0; (at = plain_.find("__global__", at)) != plain_.npos; ++at) {
            const std::vector<Statement> around = statements_around(at);
            const Statement& own = around.back();
            const std::string_view text = trimmed(text_of(own));
            const Place kernel = text.find("__global__");
            if (!text.starts_with("template") || kernel == text.npos) continue;
            const std::string name = name_of_kernel(text.substr(kernel));
            const std::string values = template_values(text.substr(0, kernel));
            if (name.empty() || values.empty()) continue;
            std::string spaces;
            for (const Statement& one : around)
                if (&one != &own) spaces += name_of_namespace(one);
            all += fmt::format("static const auto coalprof_{} = &{}{}<{}>;\n", at, spaces, name,
                               values);
        }
        return all;
    }

 private:
    std::string_view text_of(const Statement& one) const {
        return std::string_view(plain_).substr(one.begin, one.end - one.begin);
    }
    static bool is_whole(std::string_view text) {
        return (text.ends_with(';') || text.ends_with('}')) &&
               std::ranges::count(text, '{') == std::ranges::count(text, '}');
    }
    // "#error", where a build of its own would define a macro; what a kernel is made of it decides.
    bool pass_over(Place at) {
        const std::vector<Statement> around = statements_around(at);
        const bool is_in_kernel = std::ranges::any_of(around, [&](const Statement& one) {
            return !is_transparent(text_of(one)) && is_of_device(text_of(one)) &&
                   plain_.find('{', one.begin) < at;
        });
        if (is_in_kernel || !trimmed(std::string_view(cuda_).substr(at + 1)).starts_with("error"))
            return false;
        for (; at < cuda_.size() && cuda_[at] != '\n'; ++at) cuda_[at] = plain_[at] = ' ';
        return true;
    }
    // "x" and "y" of "T* x = f(a); int y": words behind another one, or the end of a type.
    static std::vector<std::string> names_declared_in(std::string_view text) {
        std::vector<std::string> names;
        bool is_behind_type = false;
        for (Place at = 0, end = 0; at < text.size(); at = std::max(end, at + 1)) {
            end = at;
            while (end < text.size() && is_name_char(text[end])) ++end;
            const std::string word(text.substr(at, end - at));
            const Place next = std::min(text.find_first_not_of(blanks, end), text.size() - 1);
            if (is_behind_type && !word.empty() && text.find_first_of("=;({[,", next) == next)
                names.push_back(word);
            if (std::string_view(blanks).find(text[at]) == std::string_view::npos)
                is_behind_type = word.empty()
                                     ? text[at] == '>' || text[at] == '*' || text[at] == '&'
                                     : word != "return" && !is_digit(word.front());
        }
        return names;
    }
    // All statements and blocks that the place is in, the outermost first.
    std::vector<Statement> statements_around(Place at) const {
        std::vector<Statement> all;
        for (Place begin = 0, end = plain_.size(); begin < end;) {
            const Statement one = statement_at(begin, end);
            if (at >= one.end) {
                begin = one.end;
                continue;
            }
            all.push_back(one);
            const Place brace = std::min(plain_.find('{', one.begin), one.end);
            if (at <= brace) break;
            begin = brace + 1;
            end = one.end - 1;
        }
        return all;
    }
    // It ends with ';', or with its block; "{1, 2};" is no block.
    Statement statement_at(Place begin, Place end) const {
        int depth = 0;
        for (Place at = begin; at < end; ++at) {
            const char c = plain_[at];
            depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
            if (depth > 0 || (c != ';' && c != '}')) continue;
            const Place next = plain_.find_first_not_of(blanks, at + 1);
            if (c == '}' && next < end &&
                (plain_[next] == ';' || plain_[next] == ',' || plain_[next] == ')' ||
                 plain_[next] == '('))
                continue;
            return {begin, at + 1};
        }
        return {begin, end};
    }
    // "a::b::" of "namespace a::b {"; none has no name.
    std::string name_of_namespace(const Statement& one) const {
        const auto head = words_of(
            std::string_view(plain_).substr(one.begin, plain_.find('{', one.begin) - one.begin));
        const bool has_name = head.size() > 1 && *std::prev(head.end(), 2) == "namespace";
        return has_name ? std::string(head.back()) + "::" : std::string();
    }
    // The word before its parameters, behind __launch_bounds__(256).
    static std::string name_of_kernel(std::string_view text) {
        for (Place open = 0; (open = text.find('(', open)) != text.npos; ++open) {
            const std::string_view before = trimmed(text.substr(0, open));
            const auto first = std::find_if_not(before.rbegin(), before.rend(), is_name_char);
            std::string name(first.base(), before.end());
            if (name.empty() || name.find("bounds") == name.npos) return name;
            open = text.find(')', open);
        }
        return {};
    }
    // Empty where a parameter is a template or a pack.
    static std::string template_values(std::string_view text) {
        std::string values;
        const Place begin = text.find('<') + 1, end = text.rfind('>');
        for (Place at = begin; at < end && end != text.npos;) {
            const Place comma = std::min(text.find(',', at), end);
            const std::string_view one = trimmed(text.substr(at, comma - at));
            const auto has = [&](std::string_view word) { return one.find(word) != one.npos; };
            if (has("...") || has("template")) return {};
            if (has("=")) break;
            const Place name = one.find_last_of(" \t\n*&");
            if (!values.empty()) values += ", ";
            if (has("typename") || has("class"))
                values += "float";
            else if (has("int") || has("unsigned") || has("size_t") || has("long"))
                values += "32";
            else
                values +=
                    fmt::format("static_cast<{}>(0)", name == one.npos ? one : one.substr(0, name));
            at = comma + 1;
        }
        return values;
    }
    static bool is_transparent(std::string_view text) {
        text = trimmed(text);
        const bool has_block = text.find('{') != text.npos;
        return has_block && (text.starts_with("namespace") || text.starts_with("extern "));
    }
    static bool is_of_device(std::string_view text) {
        const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
        return has("__global__") || has("__device__") || has("__constant__") || has("__shared__");
    }

    std::string& cuda_;
    std::string plain_;
};

}  // namespace

std::map<std::string, std::vector<std::size_t>> lines_of_errors(std::string_view messages) {
    std::map<std::string, std::vector<std::size_t>> all;
    for (Place at = 0, end = 0; at < messages.size(); at = end + 1) {
        end = std::min(messages.find('\n', at), messages.size());
        const std::string_view text = messages.substr(at, end - at);
        const Place name = std::min(text.find_first_of("(:"), text.size());
        std::size_t line = 0;
        if (text.starts_with('/') && text.find("error", name) != text.npos)
            std::from_chars(text.data() + name + 1, text.data() + text.size(), line);
        std::vector<std::size_t>& lines = all[std::string(text.substr(0, name))];
        if (line > 0 && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
    std::erase_if(all, [](const auto& one) { return one.second.empty(); });
    return all;
}

bool leave_out_host_code(std::string& cuda, const std::vector<std::size_t>& lines) {
    HostCode code(cuda);
    bool has_changed = false;
    for (const std::size_t line : lines) {
        Place at = 0;
        for (std::size_t i = 1; i < line; ++i)
            at = std::min(cuda.find('\n', at), cuda.size() - 1) + 1;
        has_changed |= code.leave_out(at);
    }
    return has_changed;
}

std::string instantiations(const std::string& cuda) {
    std::string copy = cuda;
    return HostCode(copy).instantiations();
}

}  // namespace coalprof
