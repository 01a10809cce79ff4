#include "cli/host_code.h"

#include <algorithm>
#include <charconv>

#include "core/text/name_list.h"

namespace coalprof {
namespace {

using Place = std::size_t;

// The text with blanks for comments, texts in quotes and lines of the preprocessor.
std::string plain_code(const std::string& cuda) {
    std::string plain = cuda;
    const auto blank = [&](Place from, Place to) {
        for (; from < std::min(to, plain.size()); ++from)
            if (plain[from] != '\n') plain[from] = ' ';
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
        if (end > at + 1 || c == '#') blank(at, end);
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
        at = std::min(plain_.find_first_not_of(" \t\n", at), plain_.size());
        std::vector<Statement> around = statements_around(at);
        const auto text = [&](const Statement& one) {
            return std::string_view(plain_).substr(one.begin, one.end - one.begin);
        };
        std::erase_if(around, [&](const Statement& one) { return is_transparent(text(one)); });
        if (around.empty() || is_of_device(text(around.front()))) return false;
        const Statement& one = around.back();
        // Lines of the preprocessor before it stay.
        for (Place i = plain_.find_first_not_of(" \t\r\n", one.begin); i < one.end; ++i)
            if (cuda_[i] != '\n') cuda_[i] = plain_[i] = ' ';
        return true;
    }

 private:
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
            const Place next = plain_.find_first_not_of(" \t\r\n", at + 1);
            if (c == '}' && next < end &&
                (plain_[next] == ';' || plain_[next] == ',' || plain_[next] == ')' ||
                 plain_[next] == '('))
                continue;
            return {begin, at + 1};
        }
        return {begin, end};
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

std::vector<std::size_t> lines_of_errors(std::string_view messages, const std::string& file) {
    std::vector<std::size_t> lines;
    for (Place at = 0; (at = messages.find(file, at)) != messages.npos;) {
        at += file.size();
        const std::string_view rest =
            messages.substr(at, std::min(messages.find('\n', at), messages.size()) - at);
        std::size_t line = 0;
        if (rest.find("error") != rest.npos)
            std::from_chars(rest.data() + 1, rest.data() + rest.size(), line);
        if (line > 0 && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
    return lines;
}

bool leave_out_host_code(std::string& cuda, const std::vector<std::size_t>& lines) {
    HostCode code(cuda);
    for (const std::size_t line : lines) {
        Place at = 0;
        for (std::size_t i = 1; i < line; ++i)
            at = std::min(cuda.find('\n', at), cuda.size() - 1) + 1;
        if (!code.leave_out(at)) return false;
    }
    return !lines.empty();
}

}  // namespace coalprof
