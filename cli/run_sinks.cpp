#include "cli/run_sinks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/run/run_points.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

// Outputs that are files in folders which may be written.
std::vector<std::string> journaled(const std::vector<OutputTarget>& targets) {
    std::vector<std::string> paths;
    for (const OutputTarget& target : targets) {
        const std::string& path = target.path;
        if (target.takes_part) return {};  // its points go nowhere else
        if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) continue;
        struct stat old {};
        if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) continue;
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
        if (::access(folder.c_str(), W_OK | X_OK) == 0) paths.push_back(path);
    }
    return paths;
}

}  // namespace

RunSinks::RunSinks(const std::vector<OutputTarget>& targets, const MachineOptions& machine,
                   const OutputOptions& output, std::string_view said_code)
    : note_([&output](std::string_view remark) { output.note(remark); }),
      journaled_(journaled(targets)),
      resumes_(machine.resume) {
    if (resumes_ && journaled_.empty())
        throw UsageError("--resume: there is no file to go on with",
                         "name the file that the earlier run was to write: --output FILE, without "
                         "--partial-in-place");
    outputs_.emplace(
        targets,
        [&output, code = std::string(said_code)](const std::vector<Warning>& warnings) {
            output.note_warnings(warnings, code);
        },
        note_);
    viewed_.emplace(*outputs_, output.view);
    ResultSink* next = &viewed_->sink();
    if (!journaled_.empty()) {
        journal_.emplace(journaled_.front(), *next, note_);
        outputs_->leave_parts_to([this] { return journal_->is_kept(); });
        next = &*journal_;
    }
    budgets_.emplace(machine.budgets, *next);
    progress_.emplace(budgets_->sink(), output);
}

Keeping RunSinks::keeping() {
    if (!journal_) return {};
    return {[this](const ResultHead& head) { return earlier_journal(head); },
            [this](const Point& point, bool is_replayed) { journal_->keep(point, is_replayed); }};
}

// The journal that this run continues; empty: it begins with its first point.
std::string RunSinks::earlier_journal(const ResultHead& head) {
    std::vector<std::string> journals;
    for (const std::string& output : journaled_)
        for (std::string& path : journals_beside(output)) journals.push_back(std::move(path));
    const KeptJournals kept = told_apart(journals, head);
    if (resumes_ && kept.own.empty() && !kept.others.empty())
        throw UsageError(fmt::format("--resume: {} does not fit: {}",
                                     shown(kept.others.front().path), kept.others.front().why),
                         "name another --output; or leave --resume out: then the run begins anew, "
                         "and that file stays");
    for (const auto& other : kept.others)
        note_(fmt::format("{} stays as it is: {}", shown(other.path), other.why));
    journal_->supersede(kept.own);
    if (kept.own.empty()) return {};
    const std::string& own = kept.own.front();
    if (!resumes_) {
        note_(
            fmt::format("{} holds points of an earlier run; this one begins anew (--resume goes "
                        "on)",
                        shown(own)));
        return {};
    }
    if (!journal_->go_on(own))
        throw UsageError(fmt::format("--resume: another run is adding to {} now", shown(own)),
                         "wait for it, or name another --output");
    return own;
}

}  // namespace coalprof
