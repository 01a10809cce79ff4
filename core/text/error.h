// The two ways a run can end early: Error (it cannot go on) and UsageError (the user's input is
// wrong). Both are finished sentences; they are printed once, in cli/main.cpp.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace coalprof {

// The process's exit codes. docs/exit-codes.md explains them to users.
enum class ExitCode : int {
    done = 0,
    finding = 1,      // a budget was broken, a regression found
    usage = 2,        // command line, formula, file or range wrong
    environment = 3,  // a GPU or its counters were demanded and are not available
    partial = 4,      // some points failed, the rest was delivered
    output = 5,       // an output could not be written
    internal = 70,    // a bug of ours
    interrupted = 130,
    terminated = 143,
};

// Ends the run. `what()` is one sentence: cannot + the action + ": " + the answer (+ a remedy).
class Error : public std::runtime_error {
 public:
    explicit Error(const std::string& sentence, ExitCode code = ExitCode::environment)
        : std::runtime_error(sentence), code_(code) {}
    ExitCode code() const { return code_; }

 private:
    ExitCode code_;
};

// An error in the user's input: a sentence, a hint, and perhaps the offending text with the
// position of a caret below it (npos: no caret). All are shown; see describe().
class UsageError : public Error {
 public:
    static constexpr std::size_t no_caret = std::string_view::npos;

    explicit UsageError(const std::string& sentence, std::string hint = {})
        : Error(sentence, ExitCode::usage), hint_(std::move(hint)) {}
    UsageError(const std::string& sentence, std::string text, std::size_t caret, std::string hint)
        : Error(sentence, ExitCode::usage),
          text_(std::move(text)),
          caret_(caret),
          hint_(std::move(hint)) {}

    const std::string& text() const { return text_; }
    std::size_t caret() const { return caret_; }
    const std::string& hint() const { return hint_; }

 private:
    std::string text_;
    std::size_t caret_ = no_caret;
    std::string hint_;
};

}  // namespace coalprof
