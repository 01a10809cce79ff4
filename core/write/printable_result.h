// A result on its way into a format that shows text unchanged. A saved result may hold any bytes:
// each string is passed through printable() before the format, so that none is forgotten. Without
// line ends no text begins a line, where services that read logs find commands.
#pragma once

#include <memory>
#include <string_view>

#include "core/result/result.h"
#include "core/write/byte_sink.h"

namespace coalprof {

// Keeps `bytes`, the target of the format, as long as the format.
std::unique_ptr<ResultSink> with_printable_text(std::unique_ptr<ResultSink> format,
                                                std::unique_ptr<ByteSink> bytes = nullptr);

// Takes whole lines: see without_commands().
class LogLines : public ByteSink {
 public:
    explicit LogLines(ByteSink& next) : next_(next) {}
    void write(std::string_view bytes) override;
    bool is_live() const override { return next_.is_live(); }

 private:
    ByteSink& next_;
};

}  // namespace coalprof
