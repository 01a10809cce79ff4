#include "core/text/wrap.h"

#include <algorithm>

namespace coalprof {

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string lines;
    std::size_t column = 0;  // 0: a line is to be begun
    while (!text.empty()) {
        const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find(' '));
        if (word.empty()) break;
        text.remove_prefix(word.size());
        if (column != 0 && column + 1 + word.size() > width) {
            lines += '\n';
            column = 0;
        }
        if (column == 0) {
            lines.append(indent, ' ');
            column = indent;
        } else {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
    }
    if (column != 0) lines += '\n';
    return lines;
}

}  // namespace coalprof
