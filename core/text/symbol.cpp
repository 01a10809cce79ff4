#include "core/text/symbol.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

namespace coalprof {

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == -1) throw std::bad_alloc();
    return status == 0 && text ? std::string(text.get()) : name;
}

std::string kernel_name(const std::string& symbol) {
    std::string name = demangled(symbol);
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = name.find(unnamed, at)) != name.npos;)
        name.erase(at, unnamed.size());
    for (std::size_t at = 0; (at = name.find("[abi:", at)) != name.npos;)  // Numba's options
        name.erase(at, std::min(name.find(']', at), name.size() - 1) + 1 - at);
    if (name.starts_with('(')) return name;  // no function's
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        if (c == '<') ++depth;
        if (c == '(' && depth == 0 && !plain.empty()) break;
        if (depth == 0) plain += c;
        if (c == '>') --depth;
    }
    const std::size_t space = plain.rfind(' ');
    if (space != plain.npos && space + 1 < plain.size()) plain.erase(0, space + 1);
    return depth == 0 && !plain.empty() ? plain : name;
}

}  // namespace coalprof
