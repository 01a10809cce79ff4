#pragma once

#include <ostream>

#include "core/write/byte_sink.h"

namespace coalprof {

// Bytes into a stream that the caller keeps.
class StreamSink : public ByteSink {
 public:
    explicit StreamSink(std::ostream& stream, bool is_live = false)
        : stream_(stream), is_live_(is_live) {}
    void write(std::string_view bytes) override {
        stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    bool is_live() const override { return is_live_; }

 private:
    std::ostream& stream_;
    bool is_live_;
};

}  // namespace coalprof
