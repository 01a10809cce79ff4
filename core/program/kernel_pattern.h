// The regular expression that names kernels: PCRE2's, as Perl has them. It runs inside the user's
// program, on a thread of the user's: it takes memory of the heap only, and its work is bounded.
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
        std::size_t at = 0;    // of the text, in bytes
    };
    // Throws Error where the text is no regular expression.
    explicit KernelPattern(const std::string& text);

    // None: it was not found within the steps and the memory that a search may take.
    std::optional<bool> is_found_in(const std::string& name) const;

 private:
    std::shared_ptr<const pcre2_real_code_8> code_;
    std::shared_ptr<pcre2_real_match_context_8> limits_;
};

// The error in the text; none: it is a regular expression.
std::optional<KernelPattern::Fault> fault_of_pattern(const std::string& text);

}  // namespace coalprof
