#include "core/program/kernel_pattern.h"

#include <fmt/format.h>

#include <array>
#include <new>
#include <utility>
#include <variant>

#include "core/text/error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace coalprof {
namespace {

// The library's own limits are 10 million steps and 20 GB. Each kernel's name is searched once; a
// search that ends here took 0.03 s.
constexpr std::uint32_t most_steps = 1'000'000;
constexpr std::uint32_t most_heap_kib = 64 * 1024;
// Each takes stack during compilation; the library's own limit of 250 takes 100 KiB.
constexpr std::uint32_t most_nested_parentheses = 50;

using CompiledName = std::shared_ptr<pcre2_code>;

std::variant<CompiledName, KernelPattern::Fault> compiled(const std::string& text) {
    const std::unique_ptr<pcre2_compile_context, decltype(&::pcre2_compile_context_free)> context(
        ::pcre2_compile_context_create(nullptr), &::pcre2_compile_context_free);
    if (!context) throw std::bad_alloc();
    ::pcre2_set_parens_nest_limit(context.get(), most_nested_parentheses);
    int error = 0;
    std::size_t at = 0;
    // Names are bytes: a pattern must not demand UTF-8, since matching would fail for other names.
    CompiledName code(
        ::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                        PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &error, &at, context.get()),
        &::pcre2_code_free);
    if (code) return code;
    std::array<PCRE2_UCHAR, 256> sentence{};
    ::pcre2_get_error_message(error, sentence.data(), sentence.size());
    return KernelPattern::Fault{reinterpret_cast<const char*>(sentence.data()), at};
}

}  // namespace

KernelPattern::KernelPattern(const std::string& text)
    : limits_(::pcre2_match_context_create(nullptr), &::pcre2_match_context_free) {
    const auto code = compiled(text);
    if (const auto* fault = std::get_if<Fault>(&code))
        throw Error(fmt::format("cannot choose kernels: {}", fault->sentence));
    code_ = std::get<CompiledName>(code);
    if (!limits_) throw std::bad_alloc();
    ::pcre2_set_match_limit(limits_.get(), most_steps);
    ::pcre2_set_heap_limit(limits_.get(), most_heap_kib);
}

std::optional<bool> KernelPattern::is_found_in(const std::string& name) const {
    const std::unique_ptr<pcre2_match_data, decltype(&::pcre2_match_data_free)> found(
        ::pcre2_match_data_create(1, nullptr), &::pcre2_match_data_free);
    if (!found) return std::nullopt;
    const int result = ::pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                                     name.size(), 0, 0, found.get(), limits_.get());
    if (result >= 0) return true;
    return result == PCRE2_ERROR_NOMATCH ? std::optional(false) : std::nullopt;
}

std::optional<KernelPattern::Fault> fault_of_pattern(const std::string& text) {
    const auto code = compiled(text);
    const auto* fault = std::get_if<KernelPattern::Fault>(&code);
    return fault ? std::optional(*fault) : std::nullopt;
}

}  // namespace coalprof
