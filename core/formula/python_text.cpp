
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "core/formula/lexer.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

constexpr std::array dimensions{"x", "y", "z"};

std::string thread_in_grid(std::string_view dimension) {
    return fmt::format("(blockIdx.{0}*blockDim.{0} + threadIdx.{0})", dimension);
}

int depth_after(std::string_view text, int depth = 0) {
    for (const char c : text)
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    return depth;
}

std::vector<std::string> split_outside_groups(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth = depth_after({&c, 1}, depth);
        if (c == separator && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    for (std::string& part : parts) part = std::string(trimmed(part));
    return parts;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

// "cuda.atomic.add(h, i, 1)", in two dimensions (h, (i, j), 1)
void write_atomics(std::string& text) {
    constexpr std::string_view begin = "cuda.atomic.";
    for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
        const std::size_t open = text.find('(', at);
        std::size_t close = open;
        for (int depth = 0; close < text.size(); ++close)
            if ((depth = depth_after({&text[close], 1}, depth)) == 0) break;
        if (close >= text.size() || open == at + begin.size()) return;  // refused when it is read
        std::string name = text.substr(at + begin.size(), open - at - begin.size());
        name.front() = static_cast<char>(name.front() - 'a' + 'A');
        std::vector<std::string> parts =
            split_outside_groups(text.substr(open + 1, close - open - 1), ',');
        if (parts.size() < 3) return;
        if (parts[1].starts_with('(')) parts[1] = parts[1].substr(1, parts[1].size() - 2);
        std::string call = fmt::format("atomic{}(&{}[{}]", name, parts[0], parts[1]);
        for (std::size_t i = 2; i < parts.size(); ++i) call += ", " + parts[i];
        text.replace(at, close - at, call);
    }
}

// Operators written as words, and Numba's names.
std::string expression_in_c(std::string text, const std::vector<DeclaredArray>& arrays) {
    write_atomics(text);
    for (const DeclaredArray& array : arrays)
        for (std::size_t d = 0; d < array.extents.size(); ++d)
            replace_all(text, fmt::format("{}.shape[{}]", array.name, d),
                        std::to_string(array.extents[d]));
    for (std::size_t d = 0; d < dimensions.size(); ++d)
        replace_all(text, fmt::format("cuda.grid({})", d + 1), thread_in_grid(dimensions[d]));
    replace_all(text, "cuda.gridsize(1)", "(gridDim.x*blockDim.x)");
    replace_all(text, "cuda.syncthreads", "__syncthreads");
    replace_all(text, "cuda.laneid", "lane");
    replace_all(text, "cuda.", "");
    replace_all(text, "//", "/");
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_name_char(text[end])) ++end;
        const std::string_view word = std::string_view(text).substr(at, end - at);
        result += word == "and" ? "&&" : word == "or" ? "||" : word == "not" ? "!" : word;
        if (end == at) result += text[end++];
        at = end;
    }
    return result;
}

// "(32, 33), float32" or "shape=(32, 33), dtype=float32" of a tile: "float tile[32][33]"
std::string array_in_c(const std::string& name, std::string_view what) {
    constexpr std::array types{std::pair{"float64", "double"}, std::pair{"int32", "int"},
                               std::pair{"int64", "long long"}, std::pair{"uint8", "unsigned char"},
                               std::pair{"float16", "half"}};
    std::string type = "float", shape;
    for (std::string part : split_outside_groups(what, ',')) {
        part = std::string(trimmed(std::string_view(part).substr(part.find('=') + 1)));
        for (const auto& [python, c] : types)
            if (part.ends_with(python)) type = c;
        if (shape.empty()) shape = part.starts_with('(') ? part.substr(1, part.size() - 2) : part;
    }
    for (const std::string& extent : split_outside_groups(shape, ','))
        if (!extent.empty())
            type += (type.find('[') == type.npos ? " " + name : "") + "[" + extent + "]";
    return type;
}

class PythonReader {
 public:
    explicit PythonReader(const std::vector<DeclaredArray>& arrays) : arrays_(arrays) {}
    std::string read(std::string_view text) {
        std::string line;
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            std::string_view more = text.substr(at, end - at);
            line += more.substr(0, more.find('#'));
            at = end + 1;
            if (at <= text.size() && depth_after(line) > 0) continue;
            read_line(line);
            line.clear();
        }
        close_to(0);
        return code_;
    }

 private:
    void read_line(std::string_view line) {
        const std::size_t indent = line.find_first_not_of(" \t\r");
        if (indent == line.npos || line[indent] == '@' || line[indent] == '"') return;
        close_to(indent);
        for (const std::string& one : split_outside_groups(line.substr(indent), ';'))
            if (!one.empty() && !read_header(one, indent)) read_simple(one);
    }
    // Ends the blocks whose headers are indented as far as this line, or further.
    void close_to(std::size_t indent) {
        for (; !headers_.empty() && headers_.back() >= indent; headers_.pop_back()) code_ += "} ";
    }
    bool read_header(const std::string& text, std::size_t indent) {
        std::size_t begin = 0;
        while (begin < text.size() && is_name_char(text[begin])) ++begin;
        const std::string word = text.substr(0, begin);
        if (word == "import" || word == "from" || word == "pass") return true;
        if (word != "def" && word != "if" && word != "elif" && word != "else" && word != "for" &&
            word != "while")
            return false;
        const std::vector<std::string> parts = split_outside_groups(text.substr(begin), ':');
        code_ += header_in_c(word, parts.front()) + " { ";
        const std::string body = parts.size() < 2 ? std::string() : parts[1];
        if (body.empty()) {
            headers_.push_back(indent);
        } else {
            read_simple(body);
            code_ += "} ";
        }
        return true;
    }
    std::string header_in_c(const std::string& word, const std::string& test) {
        if (word == "def") return {};
        if (word == "else") return word;
        if (word == "for") return loop_in_c(test);
        return fmt::format("{} ({})", word == "elif" ? "else if" : word, in_c(test));
    }
    // "k in range(0, n, 2)"
    std::string loop_in_c(const std::string& text) {
        const std::size_t in = text.find(" in ");
        const std::size_t open = text.find("range(");
        if (in == text.npos || open == text.npos) return "for (" + text + ")";  // refused there
        const std::string name = text.substr(0, in);
        std::vector<std::string> ends =
            split_outside_groups(text.substr(open + 6, text.rfind(')') - open - 6), ',');
        if (ends.size() == 1) ends.insert(ends.begin(), "0");
        known_.insert(name);
        return fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", name, in_c(ends[0]),
                           in_c(ends[1]), ends.size() > 2 ? in_c(ends[2]) : "1");
    }
    std::string in_c(const std::string& text) const { return expression_in_c(text, arrays_); }
    // Declares the name where the value makes an array in shared or local memory; else false.
    bool read_array(const std::string& name, std::string_view value) {
        for (const std::string_view memory : {"cuda.shared.array(", "cuda.local.array("}) {
            if (!value.starts_with(memory)) continue;
            value = value.substr(memory.size(), value.rfind(')') - memory.size());
            code_ += (memory[5] == 's' ? "__shared__ " : "") + array_in_c(name, value) + "; ";
            return true;
        }
        return false;
    }
    void read_simple(const std::string& text) {
        const std::size_t equals =
            text.find(" = ") != text.npos ? text.find(" = ") + 1 : text.find('=');
        const std::vector<std::string> names =
            split_outside_groups(text.substr(0, std::min(equals, text.size())), ',');
        const bool are_names =
            equals != text.npos && std::ranges::all_of(names, [](const auto& one) {
                return !one.empty() && std::ranges::all_of(one, is_name_char);
            });
        if (!are_names) {
            code_ += in_c(text) + "; ";
            return;
        }
        const std::string value(trimmed(std::string_view(text).substr(equals + 1)));
        if (read_array(names.front(), value)) return;
        const std::vector<std::string> values = split_outside_groups(value, ',');
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string own = names.size() == 1               ? value
                                    : values.size() == names.size() ? values[i]
                                    : i < dimensions.size()         ? thread_in_grid(dimensions[i])
                                                                    : value;
            code_ += fmt::format("{}{} = {}; ", known_.insert(names[i]).second ? "auto " : "",
                                 names[i], in_c(own));
        }
    }

    const std::vector<DeclaredArray>& arrays_;
    std::string code_;
    std::vector<std::size_t> headers_;  // of open headers
    std::set<std::string> known_;       // names that have a value
};

// "a[x, y]"
std::string with_single_subscripts(std::string_view text) {
    std::string result;
    std::vector<char> open;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '(' || c == '[' || c == '{') {
            const bool is_subscript =
                c == '[' && at > 0 && (is_name_char(text[at - 1]) || text[at - 1] == ']');
            open.push_back(c == '[' && !is_subscript ? '(' : c);
        }
        if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
        const bool is_between = c == ',' && !open.empty() && open.back() == '[';
        if (is_between)
            result += "][";
        else
            result += c;
        while (is_between && at + 1 < text.size() && text[at + 1] == ' ') ++at;
    }
    return result;
}

bool is_of_numba(std::string_view text) {
    constexpr std::array<std::string_view, 5> words{"cuda.grid", "cuda.threadIdx", "cuda.blockIdx",
                                                    "cuda.shared", "cuda.atomic"};
    return std::ranges::any_of(words,
                               [&](std::string_view one) { return text.find(one) != text.npos; });
}

}  // namespace

std::string c_of_python(std::string_view text, const std::vector<DeclaredArray>& arrays) {
    return with_single_subscripts(is_of_numba(text) ? PythonReader(arrays).read(text)
                                                    : std::string(text));
}

}  // namespace coalprof
