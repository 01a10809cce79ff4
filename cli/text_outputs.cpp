#include "cli/text_outputs.h"

#include <utility>

#include "cli/print.h"

namespace coalprof {

TextOutputs::TextOutputs(std::vector<OutputTarget> targets, const OutputOptions& options)
    : options_(options) {
    for (const bool takes_files : {true, false})
        for (OutputTarget& target : targets)
            if (is_standard_output(target.path) != takes_files)
                targets_.push_back(std::move(target));
    for (const OutputTarget& target : targets_)
        files_.push_back(
            is_standard_output(target.path) ? nullptr : std::make_unique<OutputFile>(target.path));
}

void TextOutputs::write(const std::function<std::string(const OutputTarget&)>& text) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const std::string whole = text(targets_[i]);
        try {
            if (files_[i])
                commit(*files_[i], whole);
            else
                print_out(whole);
        } catch (const Error& error) {
            failures_ += (failures_.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (!failures_.empty()) throw Error(failures_, ExitCode::output);
}

void TextOutputs::commit(OutputFile& file, const std::string& text) {
    file.write(text);
    file.commit();
    if (!file.remark().empty()) options_.note(file.remark());
}

}  // namespace coalprof
