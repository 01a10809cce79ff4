// A saved result, JSON or JSON Lines, in blocks of any size: refused with a printable error, or
// read so that what is written of it is read as the same again.

#include "core/result/result_reader.h"
#include "core/write/formats.h"
#include "fuzz/claim.h"
#include "text_source.h"

namespace {

using namespace coalprof;

class TextSink : public ByteSink {
 public:
    void write(std::string_view bytes) override { text += bytes; }
    std::string text;
};

struct Written {
    std::string text;
    ReadOutcome outcome = ReadOutcome::none;
};

Written written(std::string_view saved, std::size_t block_bytes, const char* format) {
    TextSink sink;
    const auto writer = find_format(format).make(sink, {});
    const auto source = bytes_of_text(saved, block_bytes);
    ResultReader reader(*source, "saved");
    const ReadOutcome outcome = reader.next(*writer);
    return {sink.text, outcome};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view saved = fuzz::text_of(data + 1, size - 1);
    const std::size_t block_bytes = 1 + data[0];
    for (const char* format : {"json", "jsonl"}) {
        try {
            const Written first = written(saved, block_bytes, format);
            const Written again = written(first.text, block_bytes, format);
            fuzz::claim(again.outcome == ReadOutcome::whole, "what was written is whole");
            fuzz::claim(again.text == first.text, "what was written is read as it was");
        } catch (const UsageError& error) {
            fuzz::claim_printable(error);
        }
    }
    return 0;
}
