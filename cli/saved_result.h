// The parts of a result's head that every command fills in the same way; and the one result that a
// saved file holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/result/result.h"
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

// Version, command line, time and the environment variables that matter.
ResultHead head_of(const std::vector<std::string>& argv);
MachineFacts describe_machines(const std::vector<Machine>& machines);

}  // namespace coalprof
