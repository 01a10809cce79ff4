// JSON values that follow each other in a file, one after the other: one of a document, many of
// JSON Lines. A list of any length can be streamed: its items are handed over as they are read and
// forgotten, so that a file of any size costs the same memory. Hostile input is refused before it
// costs more: depth, size and number of values are bounded (json_tree.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/json/json_tree.h"
#include "core/text/byte_source.h"

namespace coalprof {

class JsonStream {
 public:
    // `so_far` is the value being read, as far as it is known.
    using OnItem = std::function<void(JsonView so_far, JsonView item)>;

    // `source` must outlive this. The list that is streamed is the member `streamed` of an object;
    // without `on_item` none is.
    explicit JsonStream(ByteSource& source, std::string_view streamed = {}, OnItem on_item = {});
    ~JsonStream();
    JsonStream(const JsonStream&) = delete;
    JsonStream& operator=(const JsonStream&) = delete;

    enum class Step {
        value,  // one was read: value()
        end,    // the input ends; only blanks were left
        cut,    // the input ends within a value
        wrong,  // no JSON, or too large: see problem()
    };
    Step next();
    // The value; if it is cut or wrong, as far as it was read.
    JsonView value() const;
    const std::string& problem() const { return problem_; }
    // The position of the reader: the line, from 1, and the bytes before.
    std::uint64_t line() const;
    std::uint64_t bytes() const;

    // From here on each line holds one value: an error in one ends with its line.
    void values_are_lines();
    // Continues at the end of the line.
    void skip_line();

 private:
    class Input;
    class Reader;
    std::unique_ptr<Reader> reader_;
    std::string problem_;
};

}  // namespace coalprof
