// The one result that a saved file holds, for the commands that read results.
#pragma once

#include <memory>
#include <string>

#include "core/result/result_reader.h"
#include "core/text/byte_source.h"

namespace coalprof {

class SavedResult {
 public:
    // "-" is standard input. `command` is named in messages: "report". Throws Error.
    SavedResult(std::string file, std::string command);

    ByteSource& source() { return *source_; }
    // Passes on the head before the source is read again from its beginning. Throws as read().
    void look(ResultSink& sink);
    // Passes the result on. Throws UsageError where the file holds none or several; Stopped where a
    // signal ends the reading.
    ReadOutcome read(ResultSink& sink);

 private:
    std::string file_;
    std::string command_;
    std::string name_;
    std::unique_ptr<ByteSource> source_;
};

}  // namespace coalprof
