// A ByteSink that keeps what it gets, write by write.
#pragma once

#include <string>
#include <vector>

#include "core/write/byte_sink.h"

namespace coalprof {

class CollectingSink : public ByteSink {
 public:
    explicit CollectingSink(bool is_live = false) : is_live_(is_live) {}
    void write(std::string_view bytes) override { writes.emplace_back(bytes); }
    bool is_live() const override { return is_live_; }

    std::string text() const {
        std::string all;
        for (const std::string& bytes : writes) all += bytes;
        return all;
    }

    std::vector<std::string> writes;

 private:
    bool is_live_;
};

}  // namespace coalprof
