// Reads saved results, JSON and JSON Lines, and hands them to a sink as they are read: a result of
// any length costs the same memory. Whole points are used, also of a file that is cut or damaged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result/result.h"
#include "core/text/byte_source.h"

namespace coalprof {

enum class ReadOutcome : std::uint8_t {
    whole,    // it ends as it was written; its status says if the run did
    damaged,  // points are missing: the tail has a warning with the place, and is interrupted
    none,     // the file has no further result
};

class ResultReader {
 public:
    // `file` names the source in messages. The source must outlive this.
    ResultReader(ByteSource& source, std::string file);
    ~ResultReader();
    ResultReader(const ResultReader&) = delete;
    ResultReader& operator=(const ResultReader&) = delete;

    // The next result; JSON Lines may hold several. head.points is left open; exceptions of the
    // sink are passed on. Throws UsageError with file and line, before the sink is called, unless
    // it is a result of coalprof with a known schema.
    ReadOutcome next(ResultSink& sink);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

// The head of the source's first result; none where it ends before one. Throws as a reader does.
std::optional<ResultHead> read_head(ByteSource& source, const std::string& file);

}  // namespace coalprof
