// parse_size_bytes(): refused with a printable error, or at least a byte.
#include "core/text/size.h"
#include "fuzz/claim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace coalprof;
    try {
        const std::uint64_t bytes = parse_size_bytes(fuzz::text_of(data, size), "--size");
        fuzz::claim(bytes >= 1, "a size is at least 1 byte");
        const std::string plain = std::to_string(bytes);
        fuzz::claim(parse_size_bytes(plain, "--size") == bytes, "plain bytes give the size again");
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
