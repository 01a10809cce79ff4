#include "cli/run_sinks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/describe.h"

namespace coalprof {
namespace {

// Of the first output that becomes a file in a folder which may be written; empty where none does.
std::string journal_for(const std::vector<OutputTarget>& targets) {
    for (const OutputTarget& target : targets) {
        const std::string& path = target.path;
        if (target.takes_part) return {};  // the points are to be there and nowhere else
        if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) continue;
        struct stat old {};
        if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) continue;
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
        if (::access(folder.c_str(), W_OK | X_OK) == 0) return journal_path(path);
    }
    return {};
}

}  // namespace

RunSinks::RunSinks(const std::vector<OutputTarget>& targets, const std::vector<std::string>& inputs,
                   const MachineOptions& machine, const OutputOptions& output,
                   std::string_view said_code) {
    refuse_inputs(targets, inputs);
    const auto note = [&output](std::string_view remark) { output.note(remark); };
    const std::string path = journal_for(targets);
    if (machine.resume && path.empty())
        throw UsageError("--resume: there is no file to go on with", {}, UsageError::no_caret,
                         "name the file that the earlier run was to write: --output FILE, without "
                         "--partial-in-place");
    outputs_.emplace(
        targets,
        [&output, code = std::string(said_code)](const std::vector<Warning>& warnings) {
            output.note_warnings(warnings, code);
        },
        note);
    viewed_.emplace(*outputs_, output.view);
    ResultSink* next = &viewed_->sink();
    if (!path.empty()) {
        refuse_inputs({{path, nullptr, {}}}, inputs);
        journal_.emplace(path, *next, note);
        outputs_->leave_parts_to([this] { return journal_->is_kept(); });
        next = &*journal_;
        if (machine.resume && may_hold_points(path)) resumed_ = path;
    }
    budgets_.emplace(machine.budgets, *next);
    progress_.emplace(budgets_->sink(), output);
}

Keeping RunSinks::keeping() {
    if (!journal_) return {};
    return {resumed_,
            [this](const Point& point, bool is_replayed) { journal_->keep(point, is_replayed); }};
}

}  // namespace coalprof
