// The regular expression that names kernels: PCRE2's, with Perl's syntax. It runs inside the user's
// program, on a user's thread: it takes heap memory only, and its work is bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;

namespace coalprof {

class KernelPattern {
 public:
    struct Fault {
        std::string sentence;  // "missing closing parenthesis"
        std::size_t at = 0;    // place in the text, in bytes
    };
    // Throws Error for an invalid expression.
    explicit KernelPattern(const std::string& text);

    // None: the search exceeded its limit of steps or memory.
    std::optional<bool> is_found_in(const std::string& name) const;

 private:
    std::shared_ptr<const pcre2_real_code_8> code_;
    std::shared_ptr<pcre2_real_match_context_8> limits_;
};

// The error in the text; nothing if it is a regular expression.
std::optional<KernelPattern::Fault> fault_of_pattern(const std::string& text);

}  // namespace coalprof
