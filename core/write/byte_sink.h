// Where a format's bytes go: a file, standard output, a string in a test.
#pragma once

#include <ostream>
#include <string_view>

namespace coalprof {

class ByteSink {
 public:
    virtual ~ByteSink() = default;
    // Takes all of the bytes, or throws Error (ExitCode::output) naming the target.
    virtual void write(std::string_view bytes) = 0;
    // True where somebody may be reading along (a terminal, a pipe). Formats that promise it then
    // hand over each point as it is finished.
    virtual bool is_live() const { return false; }
};

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
